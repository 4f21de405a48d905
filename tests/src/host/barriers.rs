//! Barriers of a case, in both forms of the API.

use super::resource::Resources;
use crate::corpus::step::Dependency;
use anyhow::Result;
use ash::vk;

/// Stages of the 1.0 commands.
pub fn old(stages: vk::PipelineStageFlags2) -> vk::PipelineStageFlags {
    vk::PipelineStageFlags::from_raw(stages.as_raw() as u32)
}

fn old_access(accesses: vk::AccessFlags2) -> vk::AccessFlags {
    vk::AccessFlags::from_raw(accesses.as_raw() as u32)
}

/// Layouts of a barrier that performs no transition are ignored.
fn layouts(dependency: &Dependency) -> (vk::ImageLayout, vk::ImageLayout) {
    dependency.layouts.unwrap_or((vk::ImageLayout::GENERAL, vk::ImageLayout::GENERAL))
}

const COLOUR: vk::ImageSubresourceRange = super::resource::COLOUR;
const IGNORED: u32 = vk::QUEUE_FAMILY_IGNORED;

/// vkCmdPipelineBarrier2.
///
/// # Errors
/// There is no such resource.
pub fn cmd2(
    d: &ash::Device,
    command: vk::CommandBuffer,
    elements: &[Dependency],
    resources: &Resources,
) -> Result<()> {
    let (mut memory, mut buffers, mut images) = (Vec::new(), Vec::new(), Vec::new());
    for e in elements {
        let Some(name) = &e.on else {
            memory.push(
                vk::MemoryBarrier2::default()
                    .src_stage_mask(e.source)
                    .src_access_mask(e.available)
                    .dst_stage_mask(e.destination)
                    .dst_access_mask(e.visible),
            );
            continue;
        };
        let object = resources.get(name)?;
        if object.image == vk::Image::null() {
            buffers.push(
                vk::BufferMemoryBarrier2::default()
                    .src_stage_mask(e.source)
                    .src_access_mask(e.available)
                    .dst_stage_mask(e.destination)
                    .dst_access_mask(e.visible)
                    .src_queue_family_index(IGNORED)
                    .dst_queue_family_index(IGNORED)
                    .buffer(object.buffer)
                    .size(vk::WHOLE_SIZE),
            );
        } else {
            let (from, to) = layouts(e);
            images.push(
                vk::ImageMemoryBarrier2::default()
                    .src_stage_mask(e.source)
                    .src_access_mask(e.available)
                    .dst_stage_mask(e.destination)
                    .dst_access_mask(e.visible)
                    .old_layout(from)
                    .new_layout(to)
                    .src_queue_family_index(IGNORED)
                    .dst_queue_family_index(IGNORED)
                    .image(object.image)
                    .subresource_range(COLOUR),
            );
        }
    }
    let info = vk::DependencyInfo::default()
        .memory_barriers(&memory)
        .buffer_memory_barriers(&buffers)
        .image_memory_barriers(&images);
    // SAFETY: the command buffer is being recorded and the resources are live.
    unsafe { d.cmd_pipeline_barrier2(command, &info) };
    Ok(())
}

/// vkCmdPipelineBarrier, or vkCmdWaitEvents for an event.
///
/// # Errors
/// There is no such resource.
pub fn cmd1(
    d: &ash::Device,
    command: vk::CommandBuffer,
    elements: &[Dependency],
    event: Option<vk::Event>,
    resources: &Resources,
) -> Result<()> {
    let (mut memory, mut buffers, mut images) = (Vec::new(), Vec::new(), Vec::new());
    for e in elements {
        let (available, visible) = (old_access(e.available), old_access(e.visible));
        let Some(name) = &e.on else {
            memory.push(vk::MemoryBarrier::default().src_access_mask(available).dst_access_mask(visible));
            continue;
        };
        let object = resources.get(name)?;
        if object.image == vk::Image::null() {
            buffers.push(
                vk::BufferMemoryBarrier::default()
                    .src_access_mask(available)
                    .dst_access_mask(visible)
                    .src_queue_family_index(IGNORED)
                    .dst_queue_family_index(IGNORED)
                    .buffer(object.buffer)
                    .size(vk::WHOLE_SIZE),
            );
        } else {
            let (from, to) = layouts(e);
            images.push(
                vk::ImageMemoryBarrier::default()
                    .src_access_mask(available)
                    .dst_access_mask(visible)
                    .old_layout(from)
                    .new_layout(to)
                    .src_queue_family_index(IGNORED)
                    .dst_queue_family_index(IGNORED)
                    .image(object.image)
                    .subresource_range(COLOUR),
            );
        }
    }
    let stage = |of: fn(&Dependency) -> vk::PipelineStageFlags2| {
        old(elements.iter().fold(vk::PipelineStageFlags2::NONE, |all, e| all | of(e)))
    };
    let (source, destination) = (stage(|e| e.source), stage(|e| e.destination));
    // SAFETY: the command buffer is being recorded, and the event and the resources are live.
    unsafe {
        match event {
            Some(event) => {
                d.cmd_wait_events(command, &[event], source, destination, &memory, &buffers, &images)
            }
            None => {
                let none = vk::DependencyFlags::empty();
                d.cmd_pipeline_barrier(command, source, destination, none, &memory, &buffers, &images);
            }
        }
    }
    Ok(())
}
