//! A program with a mistake, for docs/debug.md: its second dispatch blurs a picture in place, where each
//! invocation reads what its neighbour writes.

#![allow(clippy::print_stdout)]

use anyhow::{Context as _, Result};
use ash::vk;
use pellucid_test_host::{COHERENT, Vulkan};
use std::path::PathBuf;

const SIZE: vk::Extent3D = vk::Extent3D { width: 8, height: 4, depth: 1 };
const TEXELS: usize = (SIZE.width * SIZE.height) as usize;

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The driver that the Vulkan loader would take.
fn driver() -> Result<PathBuf> {
    let manifest = std::env::var_os("VK_DRIVER_FILES").context("VK_DRIVER_FILES is not set: pellucid run")?;
    let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(manifest)?)?;
    Ok(manifest["ICD"]["library_path"].as_str().context("no library_path")?.into())
}

fn main() -> Result<()> {
    let vulkan = Vulkan::open(&driver()?)?;
    let device = &vulkan.device;
    let (buffer, _, mapped) = vulkan.buffer(4 * TEXELS as u64, vulkan.memory_type(u32::MAX, COHERENT)?)?;
    // SAFETY: one thread, which waits for its only submission; all objects live until the process ends.
    unsafe {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R32_UINT)
            .extent(SIZE)
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC);
        let image = device.create_image(&info, None)?;
        vulkan.name(image, "picture");
        let needs = device.get_image_memory_requirements(image);
        let kind = vulkan.memory_type(needs.memory_type_bits, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        device.bind_image_memory(image, device.allocate_memory(&info, None)?, 0)?;
        let whole = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .level_count(1)
            .layer_count(1);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R32_UINT)
            .subresource_range(whole);
        let view = device.create_image_view(&info, None)?;

        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_IMAGE)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layouts = [device.create_descriptor_set_layout(&info, None)?];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        let layout = device.create_pipeline_layout(&info, None)?;
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_IMAGE, descriptor_count: 1 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None)?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let sets = device.allocate_descriptor_sets(&info)?;
        let general = vk::ImageLayout::GENERAL;
        let bound = [vk::DescriptorImageInfo::default().image_view(view).image_layout(general)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(sets[0])
            .descriptor_type(vk::DescriptorType::STORAGE_IMAGE)
            .image_info(&bound);
        device.update_descriptor_sets(&[write], &[]);

        let fill = vulkan.pipeline(&words(include_bytes!("fill.spv")), c"main", layout)?;
        let blur = vulkan.pipeline(&words(include_bytes!("blur.spv")), c"main", layout)?;
        vulkan.name(blur, "blur");
        let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
        let none = vk::DependencyFlags::empty();
        let (read, write) = (vk::AccessFlags::SHADER_READ, vk::AccessFlags::SHADER_WRITE);
        let commands = vulkan.record(|c| {
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_descriptor_sets(c, point, layout, 0, &sets, &[]);
            let defined = vk::ImageMemoryBarrier::default()
                .dst_access_mask(write)
                .new_layout(general)
                .image(image)
                .subresource_range(whole);
            let top = vk::PipelineStageFlags::TOP_OF_PIPE;
            device.cmd_pipeline_barrier(c, top, compute, none, &[], &[], &[defined]);
            device.cmd_bind_pipeline(c, point, fill);
            device.cmd_dispatch(c, 1, 1, 1);
            let filled = vk::MemoryBarrier::default().src_access_mask(write).dst_access_mask(read | write);
            device.cmd_pipeline_barrier(c, compute, compute, none, &[filled], &[], &[]);
            device.cmd_bind_pipeline(c, point, blur);
            device.cmd_dispatch(c, 1, 1, 1);
            let transfer = vk::PipelineStageFlags::TRANSFER;
            let copied = vk::AccessFlags::TRANSFER_READ;
            let blurred = vk::MemoryBarrier::default().src_access_mask(write).dst_access_mask(copied);
            device.cmd_pipeline_barrier(c, compute, transfer, none, &[blurred], &[], &[]);
            let part =
                vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
            let copy = vk::BufferImageCopy::default().image_subresource(part).image_extent(SIZE);
            device.cmd_copy_image_to_buffer(c, image, general, buffer, &[copy]);
            let written = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            let host = vk::PipelineStageFlags::HOST;
            device.cmd_pipeline_barrier(c, transfer, host, none, &[written], &[], &[]);
        })?;
        vulkan.run(commands)?;
    }
    for row in vulkan.words(mapped, TEXELS).chunks(SIZE.width as usize) {
        println!("{row:?}");
    }
    Ok(())
}
