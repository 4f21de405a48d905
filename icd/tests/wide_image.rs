//! 64-bit atomics on images, and rotations in subgroups, through the API; on a slice of an image, too.

mod common;

use ash::vk;
use common::{Vulkan, alone};

const SIDE: [u32; 2] = [32, 3];

/// The texels of an image of 64-bit integers after a dispatch of one workgroup; of a 3D image with this many
/// slices, if there are several, of which the dispatch sees the third.
fn texels(v: &Vulkan, depth: u32) -> Vec<u64> {
    let words: Vec<u32> = include_bytes!("shaders/wide_image.spv")
        .chunks(4)
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    let aspect_mask = vk::ImageAspectFlags::COLOR;
    let range =
        vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: 1, ..Default::default() };
    let part = vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() };
    let extent = vk::Extent3D { width: SIDE[0], height: SIDE[1], depth };
    let (buffer, _, result) = v.buffer(u64::from(SIDE[0] * SIDE[1] * depth * 8), 1);
    let (image_type, flags, base_array_layer) = match depth {
        1 => (vk::ImageType::TYPE_2D, vk::ImageCreateFlags::empty(), 0),
        _ => (vk::ImageType::TYPE_3D, vk::ImageCreateFlags::TYPE_2D_VIEW_COMPATIBLE_EXT, 2),
    };
    // SAFETY: live handles, complete structures.
    unsafe {
        let info = vk::ImageCreateInfo::default()
            .image_type(image_type)
            .flags(flags)
            .format(vk::Format::R64_UINT)
            .extent(extent)
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(
                vk::ImageUsageFlags::STORAGE
                    | vk::ImageUsageFlags::TRANSFER_SRC
                    | vk::ImageUsageFlags::TRANSFER_DST,
            );
        let image = v.image(&info, 0);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R64_UINT)
            .subresource_range(vk::ImageSubresourceRange { base_array_layer, ..range });
        let view = v.device.create_image_view(&info, None).unwrap();
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_IMAGE)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
        let sets = [v.device.create_descriptor_set_layout(&info, None).unwrap()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        let layout = v.device.create_pipeline_layout(&info, None).unwrap();
        let pipeline = v.pipeline(&words, c"main", layout).unwrap();
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_IMAGE, descriptor_count: 1 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = v.device.create_descriptor_pool(&info, None).unwrap();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&sets);
        let set = v.device.allocate_descriptor_sets(&info).unwrap();
        let bound =
            [vk::DescriptorImageInfo::default().image_view(view).image_layout(vk::ImageLayout::GENERAL)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set[0])
            .descriptor_type(vk::DescriptorType::STORAGE_IMAGE)
            .image_info(&bound);
        v.device.update_descriptor_sets(&[write], &[]);
        let barrier = |c, from, to| {
            let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
            let barrier = vk::ImageMemoryBarrier::default()
                .src_access_mask(all)
                .dst_access_mask(all)
                .old_layout(from)
                .new_layout(to)
                .image(image)
                .subresource_range(range);
            let stage = vk::PipelineStageFlags::ALL_COMMANDS;
            v.device.cmd_pipeline_barrier(c, stage, stage, Default::default(), &[], &[], &[barrier]);
        };
        let general = vk::ImageLayout::GENERAL;
        let point = vk::PipelineBindPoint::COMPUTE;
        let out = [vk::BufferImageCopy::default().image_subresource(part).image_extent(extent)];
        let host = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        v.run(v.record(|c| {
            barrier(c, vk::ImageLayout::UNDEFINED, general);
            v.device.cmd_clear_color_image(c, image, general, &vk::ClearColorValue::default(), &[range]);
            barrier(c, general, general);
            v.device.cmd_bind_pipeline(c, point, pipeline);
            v.device.cmd_bind_descriptor_sets(c, point, layout, 0, &set, &[]);
            v.device.cmd_dispatch(c, 1, 1, 1);
            barrier(c, general, general);
            v.device.cmd_copy_image_to_buffer(c, image, general, buffer, &out);
            let (from, to) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
            v.device.cmd_pipeline_barrier(c, from, to, Default::default(), &host, &[], &[]);
        }));
    }
    let words = v.words(result, (SIDE[0] * SIDE[1] * depth * 2) as usize);
    words.chunks(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32).collect()
}

#[test]
fn images_have_64_bit_atomics_and_subgroups_rotate() {
    let name = "images_have_64_bit_atomics_and_subgroups_rotate";
    if let Some(text) = alone(name, &[("PELLUCID_MODE", "check")]) {
        assert!(!text.contains("error[") && !text.contains("warning["), "{text}");
    }
    let v = Vulkan::new();
    let mut atomics = vk::PhysicalDeviceShaderImageAtomicInt64FeaturesEXT::default();
    let mut rotate = vk::PhysicalDeviceShaderSubgroupRotateFeaturesKHR::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut atomics).push_next(&mut rotate);
    // SAFETY: live handles, complete structures.
    unsafe { v.instance.get_physical_device_features2(v.physical, &mut features) };
    assert_eq!((atomics.shader_image_int64_atomics, atomics.sparse_image_int64_atomics), (1, 1));
    assert_eq!((rotate.shader_subgroup_rotate, rotate.shader_subgroup_rotate_clustered), (1, 1));
    check(&texels(&v, 1));
    let slices = texels(&v, 4);
    let one = slices.len() / 4;
    check(&slices[2 * one..3 * one]);
    assert!(slices[..2 * one].iter().chain(&slices[3 * one..]).all(|texel| *texel == 0));
}

fn check(texels: &[u64]) {
    assert_eq!(texels[..6], [8 << 40, 8 << 40, 8 << 40, 8 << 40, 31 << 33, 0]);
    let rotated = |cluster: u64| (0..32).map(move |lane| lane / cluster * cluster + (lane + 3) % cluster);
    assert_eq!(texels[32..64], rotated(32).collect::<Vec<u64>>());
    assert_eq!(texels[64..], rotated(4).collect::<Vec<u64>>());
}
