//! Transfers, synchronisation and queues, without shaders.

mod common;

use ash::vk;
use common::Vulkan;

#[test]
fn buffers_are_filled_updated_and_copied() {
    let v = Vulkan::new();
    let (a, _, _) = v.buffer(64, 0);
    let (b, _, result) = v.buffer(64, 1);
    let commands = v.record(|c| {
        // SAFETY: live handles.
        unsafe {
            v.device.cmd_fill_buffer(c, a, 0, vk::WHOLE_SIZE, 0x0102_0304);
            v.device.cmd_update_buffer(c, a, 8, &7u32.to_le_bytes());
            v.device.cmd_copy_buffer(c, a, b, &[vk::BufferCopy { src_offset: 4, dst_offset: 0, size: 60 }]);
        }
    });
    v.run(commands);
    v.run(commands);
    assert_eq!(v.words(result, 3), [0x0102_0304, 7, 0x0102_0304]);
}

#[test]
fn large_copies_and_fills_are_whole_whoever_does_them() {
    const SIZE: u64 = 9 << 20;
    let v = Vulkan::new();
    let (a, _, bytes) = v.buffer(SIZE, 1);
    let (b, _, result) = v.buffer(SIZE, 1);
    // SAFETY: mapped memory of that size, which no work uses.
    let (bytes, result) = unsafe {
        let slice = |at| std::slice::from_raw_parts_mut::<u8>(at, SIZE as usize);
        (slice(bytes), slice(result))
    };
    bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i % 251) as u8);
    let before = bytes.to_vec();
    // Neither offsets nor the size are multiples of anything.
    let region = vk::BufferCopy { src_offset: 3, dst_offset: 70_001, size: SIZE - 1_000_001 };
    // SAFETY: live handles, and regions inside of the buffers.
    let copy = v.record(|c| unsafe { v.device.cmd_copy_buffer(c, a, b, &[region]) });
    v.run(copy);
    let (from, to, size) = (3, 70_001, region.size as usize);
    assert!(result[to..to + size] == before[from..from + size]);
    assert!(result[..to].iter().chain(&result[to + size..]).all(|byte| *byte == 0));
    // Two ranges of one buffer that meet.
    let half = vk::BufferCopy { src_offset: 0, dst_offset: SIZE / 2, size: SIZE / 2 };
    // SAFETY: as above.
    let halves = v.record(|c| unsafe { v.device.cmd_copy_buffer(c, a, a, &[half]) });
    v.run(halves);
    let middle = SIZE as usize / 2;
    assert!(bytes[middle..] == before[..middle] && bytes[..middle] == before[..middle]);
    // SAFETY: as above.
    let fill = v.record(|c| unsafe { v.device.cmd_fill_buffer(c, a, 4, SIZE - 12, 0x0102_0304) });
    v.run(fill);
    assert!(bytes[4..SIZE as usize - 8].chunks(4).all(|word| word == [4, 3, 2, 1]));
    assert!(bytes[..4] == before[..4] && bytes[SIZE as usize - 8..] == before[middle - 8..middle]);
}

#[test]
fn non_coherent_memory_is_flat_in_run_mode() {
    let v = Vulkan::new();
    let (cached, _, mapped) = v.buffer(256, 3);
    let (coherent, _, result) = v.buffer(256, 1);
    let all = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 256 }];
    // SAFETY: live handles; mapped memory. That nothing is flushed or invalidated is what is tested.
    unsafe {
        let read = v.record(|c| v.device.cmd_copy_buffer(c, cached, coherent, &all));
        let write = v.record(|c| v.device.cmd_fill_buffer(c, cached, 0, 256, 9));
        mapped.cast::<u32>().write(5);
        v.run(read);
        assert_eq!(v.words(result, 1), [5]);
        v.run(write);
        assert_eq!(v.words(mapped, 2), [9, 9]);
    }
}

#[test]
fn images_are_cleared_and_copied() {
    let v = Vulkan::new();
    // SAFETY: live handles, complete structures.
    unsafe {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R32_UINT)
            .extent(vk::Extent3D { width: 5, height: 3, depth: 1 })
            .mip_levels(2)
            .array_layers(2)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(
                vk::ImageUsageFlags::TRANSFER_SRC
                    | vk::ImageUsageFlags::TRANSFER_DST
                    | vk::ImageUsageFlags::STORAGE,
            );
        let image = v.image(&info, 0);
        let (from, _, words) = v.buffer(256, 1);
        let (to, _, result) = v.buffer(256, 1);
        for i in 0..64 {
            words.cast::<u32>().add(i).write(100 + i as u32);
        }
        let aspect = vk::ImageAspectFlags::COLOR;
        let range = vk::ImageSubresourceRange {
            aspect_mask: aspect,
            base_mip_level: 0,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 0,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        };
        let layer = |mip_level, base_array_layer| vk::ImageSubresourceLayers {
            aspect_mask: aspect,
            mip_level,
            base_array_layer,
            layer_count: 1,
        };
        let general = vk::ImageLayout::GENERAL;
        let commands = v.record(|c| {
            let color = vk::ClearColorValue { uint32: [42, 0, 0, 0] };
            v.device.cmd_clear_color_image(c, image, general, &color, &[range]);
            let into = vk::BufferImageCopy {
                buffer_offset: 0,
                buffer_row_length: 8,
                buffer_image_height: 0,
                image_subresource: layer(0, 1),
                image_offset: vk::Offset3D { x: 1, y: 1, z: 0 },
                image_extent: vk::Extent3D { width: 2, height: 2, depth: 1 },
            };
            v.device.cmd_copy_buffer_to_image(c, from, image, general, &[into]);
            let copy = vk::ImageCopy {
                src_subresource: layer(0, 1),
                src_offset: vk::Offset3D { x: 2, y: 2, z: 0 },
                dst_subresource: layer(1, 0),
                dst_offset: vk::Offset3D::default(),
                extent: vk::Extent3D { width: 1, height: 1, depth: 1 },
            };
            v.device.cmd_copy_image(c, image, general, image, general, &[copy]);
            let whole = |mip, l, buffer_offset, width, height| vk::BufferImageCopy {
                buffer_offset,
                image_subresource: layer(mip, l),
                image_extent: vk::Extent3D { width, height, depth: 1 },
                ..Default::default()
            };
            let out = [whole(0, 1, 0, 5, 3), whole(1, 0, 60, 2, 1)];
            v.device.cmd_copy_image_to_buffer(c, image, general, to, &out);
        });
        v.run(commands);
        let expected = [42, 42, 42, 42, 42, 42, 100, 101, 42, 42, 42, 108, 109, 42, 42, 109, 42];
        assert_eq!(v.words(result, 17), expected);
    }
}

/// An image of one texel in layout GENERAL, as far as run mode cares.
fn texel(v: &Vulkan, format: vk::Format) -> vk::Image {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: 1, height: 1, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    v.image(&info, 0)
}

/// Clears the one image, blits it to the other, and hands back two words of that.
fn blitted(v: &Vulkan, from: vk::Image, to: vk::Image, color: [u32; 4]) -> Vec<u32> {
    let (buffer, _, result) = v.buffer(64, 1);
    let (aspect_mask, general) = (vk::ImageAspectFlags::COLOR, vk::ImageLayout::GENERAL);
    let range =
        vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: 1, ..Default::default() };
    let part = vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() };
    let corners = [vk::Offset3D::default(), vk::Offset3D { x: 1, y: 1, z: 1 }];
    let blit = [vk::ImageBlit::default()
        .src_subresource(part)
        .dst_subresource(part)
        .src_offsets(corners)
        .dst_offsets(corners)];
    let extent = vk::Extent3D { width: 1, height: 1, depth: 1 };
    let out = [vk::BufferImageCopy::default().image_subresource(part).image_extent(extent)];
    // SAFETY: live handles, complete structures.
    v.run(v.record(|c| unsafe {
        let color = vk::ClearColorValue { uint32: color };
        v.device.cmd_clear_color_image(c, from, general, &color, &[range]);
        if from != to {
            v.device.cmd_blit_image(c, from, general, to, general, &blit, vk::Filter::NEAREST);
        }
        v.device.cmd_copy_image_to_buffer(c, to, general, buffer, &out);
    }));
    v.words(result, 2)
}

/// Clears the aspects of an image one by one or together, copies it whole to another one, and hands back what
/// is left of a depth and a stencil value.
fn depth_and_stencil(
    v: &Vulkan,
    format: vk::Format,
    clears: &[(vk::ImageAspectFlags, f32, u32)],
) -> [u32; 2] {
    use vk::ImageAspectFlags as A;
    let aspects = match format {
        vk::Format::S8_UINT => A::STENCIL,
        vk::Format::D32_SFLOAT_S8_UINT => A::DEPTH | A::STENCIL,
        _ => A::DEPTH,
    };
    let (image, copied) = (texel(v, format), texel(v, format));
    let (buffer, _, result) = v.buffer(64, 1);
    let general = vk::ImageLayout::GENERAL;
    let part = |aspect_mask| vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() };
    let extent = vk::Extent3D { width: 1, height: 1, depth: 1 };
    let copy = [vk::ImageCopy::default()
        .src_subresource(part(aspects))
        .dst_subresource(part(aspects))
        .extent(extent)];
    // SAFETY: live handles, complete structures.
    v.run(v.record(|c| unsafe {
        v.device.cmd_fill_buffer(c, buffer, 0, 64, 0xeeee_eeee);
        for (aspect_mask, depth, stencil) in clears.iter().copied() {
            let value = vk::ClearDepthStencilValue { depth, stencil };
            let range = vk::ImageSubresourceRange {
                aspect_mask,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            v.device.cmd_clear_depth_stencil_image(c, image, general, &value, &[range]);
        }
        v.device.cmd_copy_image(c, image, general, copied, general, &copy);
        for (aspect, offset) in [(A::DEPTH, 0), (A::STENCIL, 4)] {
            let out = vk::BufferImageCopy::default().buffer_offset(offset);
            let out = out.image_subresource(part(aspect)).image_extent(extent);
            if aspects.contains(aspect) {
                v.device.cmd_copy_image_to_buffer(c, copied, general, buffer, &[out]);
            }
        }
    }));
    let words = v.words(result, 2);
    [words[0], words[1]]
}

#[test]
fn depth_and_stencil_are_cleared_and_copied_aspect_by_aspect() {
    use vk::ImageAspectFlags as A;
    let v = Vulkan::new();
    let both = A::DEPTH | A::STENCIL;
    let (quarter, half) = (0.25f32.to_bits(), 0.5f32.to_bits());
    for (format, clears, expected) in [
        (vk::Format::D16_UNORM, &[(A::DEPTH, 1.0, 9)][..], [0xeeee_ffff, 0xeeee_eeee]),
        (vk::Format::D32_SFLOAT, &[(A::DEPTH, 0.5, 9)], [half, 0xeeee_eeee]),
        (vk::Format::S8_UINT, &[(A::STENCIL, 0.5, 0x109)], [0xeeee_eeee, 0xeeee_ee09]),
        (vk::Format::D32_SFLOAT_S8_UINT, &[(both, 0.5, 7)], [half, 0xeeee_ee07]),
        (vk::Format::D32_SFLOAT_S8_UINT, &[(both, 0.5, 7), (A::DEPTH, 0.25, 8)], [quarter, 0xeeee_ee07]),
        (vk::Format::D32_SFLOAT_S8_UINT, &[(both, 0.5, 7), (A::STENCIL, 0.25, 8)], [half, 0xeeee_ee08]),
    ] {
        assert_eq!(depth_and_stencil(&v, format, clears), expected, "{format:?} {clears:?}");
    }
}

#[test]
fn a_blit_clamps_integers_to_what_the_format_can_hold() {
    let v = Vulkan::new();
    let minus = |n: i32| n.cast_unsigned();
    for (from, to, color, expected) in [
        (vk::Format::R32G32_SINT, vk::Format::R8G8_SINT, [minus(-1000), 1000, 0, 0], 0x7f80),
        (vk::Format::R32G32_UINT, vk::Format::R8G8_UINT, [u32::MAX, 7, 0, 0], 0x07ff),
        (vk::Format::R64_UINT, vk::Format::R8G8_UINT, [7, 1, 0, 0], 0x00ff),
        (vk::Format::R64_SINT, vk::Format::R8G8_SINT, [7, u32::MAX, 0, 0], 0x0080),
        (vk::Format::R64_UINT, vk::Format::R16_UINT, [7, 0, 0, 0], 7),
    ] {
        let word = blitted(&v, texel(&v, from), texel(&v, to), color)[0];
        assert_eq!(word & 0xffff, expected, "{from:?} to {to:?}");
    }
    for (from, to, color, expected) in [
        (vk::Format::R64_UINT, vk::Format::R64_UINT, [1, 2, 3, 4], [1, 2]),
        (vk::Format::R64_SINT, vk::Format::R64_SINT, [1, minus(-2), 3, 4], [1, minus(-2)]),
        (vk::Format::R16_SINT, vk::Format::R64_SINT, [minus(-3), 0, 0, 0], [minus(-3), u32::MAX]),
        (vk::Format::R32_UINT, vk::Format::R64_UINT, [u32::MAX, 9, 0, 0], [u32::MAX, 0]),
    ] {
        assert_eq!(blitted(&v, texel(&v, from), texel(&v, to), color), expected, "{from:?} to {to:?}");
    }
}

#[test]
fn the_color_of_a_64_bit_format_has_two_words_for_each_component() {
    let v = Vulkan::new();
    for format in [vk::Format::R64_UINT, vk::Format::R64_SINT] {
        let image = texel(&v, format);
        assert_eq!(blitted(&v, image, image, [0x7fff_ffff, 0xffff_ffff, 3, 4]), [0x7fff_ffff, 0xffff_ffff]);
    }
}

#[test]
fn a_timeline_semaphore_may_be_waited_for_before_it_is_signaled() {
    let v = Vulkan::new();
    let (buffer, _, result) = v.buffer(64, 1);
    // SAFETY: live handles, complete structures.
    unsafe {
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let semaphore = v
            .device
            .create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None)
            .unwrap();
        let second = v.record(|c| v.device.cmd_fill_buffer(c, buffer, 0, 4, 2));
        let first = v.record(|c| v.device.cmd_fill_buffer(c, buffer, 0, 64, 1));
        let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
        let operation =
            |value| [vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(value).stage_mask(stage)];
        let buffers = |c| [vk::CommandBufferSubmitInfo::default().command_buffer(c)];
        let (wait, done, a) = (operation(1), operation(2), buffers(second));
        let info = vk::SubmitInfo2::default()
            .wait_semaphore_infos(&wait)
            .signal_semaphore_infos(&done)
            .command_buffer_infos(&a);
        v.device.queue_submit2(v.queues[1], &[info], vk::Fence::null()).unwrap();
        assert_eq!(v.device.get_semaphore_counter_value(semaphore).unwrap(), 0);
        let (signal, b) = (operation(1), buffers(first));
        let info = vk::SubmitInfo2::default().signal_semaphore_infos(&signal).command_buffer_infos(&b);
        v.device.queue_submit2(v.queues[0], &[info], vk::Fence::null()).unwrap();
        let (semaphores, values) = ([semaphore], [2]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        v.device.wait_semaphores(&info, u64::MAX).unwrap();
        assert_eq!(v.words(result, 2), [2, 1]);
    }
}

#[test]
fn waits_time_out() {
    let v = Vulkan::new();
    // SAFETY: live handles.
    unsafe {
        let fence = v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        assert_eq!(v.device.wait_for_fences(&[fence], true, 1_000_000), Err(vk::Result::TIMEOUT));
        assert!(!v.device.get_fence_status(fence).unwrap());
        v.device.queue_submit(v.queues[2], &[], fence).unwrap();
        v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        assert!(v.device.get_fence_status(fence).unwrap());
    }
}

#[test]
fn secondary_command_buffers_run_inside_primaries() {
    let v = Vulkan::new();
    let (buffer, _, result) = v.buffer(64, 1);
    // SAFETY: live handles.
    unsafe {
        let secondary = v.commands(vk::CommandBufferLevel::SECONDARY);
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)
            .inheritance_info(&inheritance);
        v.device.begin_command_buffer(secondary, &begin).unwrap();
        v.device.cmd_fill_buffer(secondary, buffer, 0, 32, 3);
        v.device.end_command_buffer(secondary).unwrap();
        let primary = v.record(|c| {
            v.device.cmd_fill_buffer(c, buffer, 0, 64, 1);
            v.device.cmd_execute_commands(c, &[secondary]);
        });
        v.run(primary);
        assert_eq!(v.words(result, 9)[7..], [3, 1]);
    }
}

#[test]
fn timestamps_grow_and_are_copied() {
    let v = Vulkan::new();
    let (buffer, _, result) = v.buffer(64, 1);
    // SAFETY: live handles.
    unsafe {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(3);
        let pool = v.device.create_query_pool(&info, None).unwrap();
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        let flags = vk::QueryResultFlags::WITH_AVAILABILITY;
        let commands = v.record(|c| {
            v.device.cmd_reset_query_pool(c, pool, 0, 3);
            v.device.cmd_write_timestamp(c, stage, pool, 0);
            v.device.cmd_write_timestamp(c, stage, pool, 1);
            v.device.cmd_copy_query_pool_results(c, pool, 0, 3, buffer, 0, 8, flags);
        });
        v.run(commands);
        let mut stamps = [0u64; 2];
        v.device.get_query_pool_results(pool, 0, &mut stamps, vk::QueryResultFlags::TYPE_64).unwrap();
        assert!(stamps[0] <= stamps[1] && stamps[1] > 0);
        let words = v.words(result, 6);
        assert_eq!([words[1], words[3], words[5]], [1, 1, 0]);
        v.device.reset_query_pool(pool, 0, 3);
        let pending = v.device.get_query_pool_results(pool, 0, &mut stamps, vk::QueryResultFlags::TYPE_64);
        assert_eq!(pending, Err(vk::Result::NOT_READY));
    }
}

#[test]
fn a_destroyed_device_stops_its_queues() {
    let v = Vulkan::new();
    // SAFETY: the event is never set; destroying the device must not wait for it.
    unsafe {
        let event = v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        let commands = v.record(|c| {
            let (host, transfer) = (vk::PipelineStageFlags::HOST, vk::PipelineStageFlags::TRANSFER);
            v.device.cmd_wait_events(c, &[event], host, transfer, &[], &[], &[]);
        });
        let list = [commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&list)];
        v.device.queue_submit(v.queues[0], &submit, vk::Fence::null()).unwrap();
    }
    drop(v);
}
