//! Images of compressed formats: copies in whole blocks, from and to buffers and images of a block's size,
//! and blits from them.

mod common;

use ash::vk;
use common::{Vulkan, alone};

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const BC1: vk::Format = vk::Format::BC1_RGB_UNORM_BLOCK;

fn extent(width: u32, height: u32) -> vk::Extent3D {
    vk::Extent3D { width, height, depth: 1 }
}

fn offset(x: i32, y: i32) -> vk::Offset3D {
    vk::Offset3D { x, y, z: 0 }
}

fn part(mip_level: u32, base_array_layer: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level,
        base_array_layer,
        layer_count: 1,
    }
}

/// An image in layout GENERAL, as far as run mode cares.
fn image(v: &Vulkan, format: vk::Format, extent: vk::Extent3D, levels: u32, layers: u32) -> vk::Image {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent)
        .mip_levels(levels)
        .array_layers(layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    v.image(&info, 0)
}

fn region(at: u64, row: u32, part: vk::ImageSubresourceLayers, extent: vk::Extent3D) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: at,
        buffer_row_length: row,
        buffer_image_height: 0,
        image_subresource: part,
        image_offset: offset(0, 0),
        image_extent: extent,
    }
}

/// 9 x 5 texels are 3 x 2 blocks, the level after them, of 4 x 2 texels, is one.
#[test]
fn copies_move_blocks() {
    let v = Vulkan::new();
    let (from, _, words) = v.buffer(256, 1);
    let (to, _, result) = v.buffer(512, 1);
    // SAFETY: mapped memory of 64 words.
    (0..64).for_each(|i| unsafe { words.cast::<u32>().add(i).write(100 + i as u32) });
    let compressed = image(&v, BC1, extent(9, 5), 2, 2);
    let plain = image(&v, vk::Format::R32G32_UINT, extent(3, 2), 1, 1);
    let again = image(&v, BC1, extent(12, 8), 1, 1);
    // Rows of 16 texels are 4 blocks, 32 bytes, apart in the buffer.
    let into = [region(0, 16, part(0, 1), extent(9, 5)), region(128, 0, part(1, 0), extent(4, 2))];
    let out = [region(0, 0, part(0, 1), extent(9, 5)), region(64, 0, part(1, 0), extent(4, 2))];
    // One row of blocks of the image whose blocks are copied to texels, and on to blocks.
    let to_texels = vk::ImageCopy {
        src_subresource: part(0, 1),
        src_offset: offset(4, 4),
        dst_subresource: part(0, 0),
        dst_offset: offset(1, 1),
        extent: extent(5, 1),
    };
    let to_blocks = vk::ImageCopy {
        src_subresource: part(0, 0),
        src_offset: offset(1, 1),
        dst_subresource: part(0, 0),
        dst_offset: offset(4, 4),
        extent: extent(2, 1),
    };
    // SAFETY: live handles, complete structures.
    let commands = v.record(|c| unsafe {
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let zero = vk::ClearColorValue { uint32: [0; 4] };
        v.device.cmd_clear_color_image(c, plain, GENERAL, &zero, &[range]);
        v.device.cmd_copy_buffer_to_image(c, from, compressed, GENERAL, &into);
        v.device.cmd_copy_image_to_buffer(c, compressed, GENERAL, to, &out);
        v.device.cmd_copy_image(c, compressed, GENERAL, plain, GENERAL, &[to_texels]);
        v.device.cmd_copy_image_to_buffer(c, plain, GENERAL, to, &[region(128, 0, part(0, 0), extent(3, 2))]);
        v.device.cmd_copy_image(c, plain, GENERAL, again, GENERAL, &[to_blocks]);
        let row =
            vk::BufferImageCopy { image_offset: offset(4, 4), ..region(192, 0, part(0, 0), extent(8, 4)) };
        v.device.cmd_copy_image_to_buffer(c, again, GENERAL, to, &[row]);
    });
    v.run(commands);
    let words = v.words(result, 52);
    assert_eq!(words[..12], [100, 101, 102, 103, 104, 105, 108, 109, 110, 111, 112, 113]);
    assert_eq!(words[16..18], [132, 133]);
    assert_eq!(words[32..44], [0, 0, 0, 0, 0, 0, 0, 0, 110, 111, 112, 113]);
    assert_eq!(words[48..52], [110, 111, 112, 113]);
}

/// A blit decodes: red in the upper left corner, blue elsewhere.
#[test]
fn a_blit_reads_texels() {
    let v = Vulkan::new();
    let (from, _, words) = v.buffer(64, 1);
    let (to, _, result) = v.buffer(64, 1);
    // SAFETY: mapped memory.
    unsafe {
        words.cast::<u32>().write(0x001f_f800);
        words.cast::<u32>().add(1).write(0x5555_5554);
    }
    let compressed = image(&v, BC1, extent(3, 2), 1, 1);
    let plain = image(&v, vk::Format::R8G8B8A8_UNORM, extent(3, 2), 1, 1);
    let corners = [offset(0, 0), vk::Offset3D { x: 3, y: 2, z: 1 }];
    let blit = vk::ImageBlit {
        src_subresource: part(0, 0),
        src_offsets: corners,
        dst_subresource: part(0, 0),
        dst_offsets: corners,
    };
    // SAFETY: live handles, complete structures.
    let commands = v.record(|c| unsafe {
        v.device.cmd_copy_buffer_to_image(
            c,
            from,
            compressed,
            GENERAL,
            &[region(0, 0, part(0, 0), extent(3, 2))],
        );
        v.device.cmd_blit_image(c, compressed, GENERAL, plain, GENERAL, &[blit], vk::Filter::NEAREST);
        v.device.cmd_copy_image_to_buffer(c, plain, GENERAL, to, &[region(0, 0, part(0, 0), extent(3, 2))]);
    });
    v.run(commands);
    let (red, blue) = (0xff00_00ff, 0xffff_0000);
    assert_eq!(v.words(result, 6), [red, blue, blue, blue, blue, blue]);
}

/// What no block can be: a copy that begins inside one, and a clear.
#[test]
fn half_a_block_is_refused() {
    let text = alone("half_a_block_is_refused", &[]);
    let Some(text) = text else {
        let v = Vulkan::new();
        let (from, _, _) = v.buffer(64, 1);
        let compressed = image(&v, BC1, extent(8, 8), 1, 1);
        let inside =
            vk::BufferImageCopy { image_offset: offset(2, 0), ..region(0, 0, part(0, 0), extent(4, 4)) };
        // SAFETY: live handles; that the offset is wrong is what is tested.
        let commands = v.record(|c| unsafe {
            v.device.cmd_copy_buffer_to_image(c, from, compressed, GENERAL, &[inside]);
        });
        v.run(commands);
        return;
    };
    assert!(text.contains("the offset of a region is not a multiple of the texel block's extent"), "{text}");
}
