//! Commands that bind, push, dispatch, execute and label.

use crate::boundary::entries;
use crate::caps::PUSH_CONSTANTS;
use crate::command::Command;
use crate::command::buffer::Recorder;
use crate::command::buffer::{CommandBuffer, push, record};
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::descriptor_set::{self, DescriptorSet};
use crate::entry::descriptor_template::DescriptorUpdateTemplate;
use crate::entry::graphics;
use crate::entry::pipeline::Pipeline;
use crate::entry::pipeline_layout::PipelineLayout;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use ash::vk;
use std::ffi::c_void;
use std::sync::Arc;

fn compute(point: vk::PipelineBindPoint) -> Outcome<()> {
    if point == vk::PipelineBindPoint::COMPUTE {
        Ok(())
    } else {
        Err(Error::not_implemented(&format!("the pipeline bind point {point:?}")))
    }
}

/// The set that collects what is pushed to set `number`: a copy of what was pushed before, if the layout is
/// the same.
fn push_set(
    recorder: &mut Recorder,
    device: &Device,
    layout: vk::PipelineLayout,
    number: u32,
) -> Outcome<Arc<DescriptorSet>> {
    let layout = handle::get::<PipelineLayout>(layout)?;
    let set_layout = layout
        .sets
        .get(number as usize)
        .and_then(Option::as_ref)
        .ok_or_else(|| Error::usage(format!("the pipeline layout has no set {number}")))?;
    let set = match recorder.pushed.get(&number) {
        Some(before) if Arc::ptr_eq(&before.layout, set_layout) => before.duplicate(device)?,
        _ => DescriptorSet::new(device, set_layout.clone(), None)?,
    };
    let set = Arc::new(set);
    recorder.pushed.insert(number, set.clone());
    Ok(set)
}

entries! {
    fn cmd_bind_pipeline(buffer: vk::CommandBuffer, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        push(buffer, |r, _| {
            if point == vk::PipelineBindPoint::GRAPHICS {
                // Harmless until something is drawn, which is refused.
                handle::get::<graphics::GraphicsPipeline>(pipeline)?;
                return Ok(());
            }
            compute(point)?;
            r.add(Command::BindPipeline(Some(handle::get::<Pipeline>(pipeline)?)));
            Ok(())
        })
    }

    fn cmd_bind_descriptor_sets(
        buffer: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        first: u32,
        count: u32,
        sets: *const vk::DescriptorSet,
        dynamic_count: u32,
        dynamic: *const u32,
    ) {
        push(buffer, |r, _| {
            if point == vk::PipelineBindPoint::GRAPHICS {
                // As for pipelines.
                return Ok(());
            }
            compute(point)?;
            let layout = handle::get::<PipelineLayout>(layout)?;
            if first.checked_add(count).is_none_or(|end| end as usize > layout.sets.len()) {
                return Err(Error::usage(format!(
                    "{count} sets from number {first} on, for a pipeline layout of {} sets",
                    layout.sets.len()
                )));
            }
            let handles = ffi::slice(sets, count);
            let sets = handles
                .iter()
                .map(|s| handle::get::<DescriptorSet>(*s))
                .collect::<Outcome<Vec<_>>>()?;
            let offsets = ffi::slice(dynamic, dynamic_count).to_vec();
            let needed: u32 = sets.iter().map(|s| s.layout.dynamic_count).sum();
            if needed as usize != offsets.len() {
                return Err(Error::usage(format!("the sets take {needed} dynamic offsets, {} are given", offsets.len())));
            }
            handles.iter().zip(&sets).for_each(|(handle, set)| r.bind(*handle, set));
            r.add(Command::BindSets(first, sets, offsets));
            Ok(())
        })
    }

    /// vkCmdPushDescriptorSetKHR.
    fn cmd_push_descriptor_set(
        buffer: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        number: u32,
        writes: &[vk::WriteDescriptorSet<'_>],
    ) {
        push(buffer, |r, device| {
            if point == vk::PipelineBindPoint::GRAPHICS {
                return Ok(());
            }
            compute(point)?;
            let set = push_set(r, device, layout, number)?;
            for write in writes {
                descriptor_set::apply(&set, write)?;
            }
            r.add(Command::BindSets(number, vec![set], Vec::new()));
            Ok(())
        })
    }

    /// vkCmdPushDescriptorSetWithTemplateKHR.
    fn cmd_push_descriptor_set_with_template(
        buffer: vk::CommandBuffer,
        template: vk::DescriptorUpdateTemplate,
        layout: vk::PipelineLayout,
        number: u32,
        data: *const c_void,
    ) {
        record(buffer, |r, device| {
            let template = handle::get::<DescriptorUpdateTemplate>(template)?;
            let set = push_set(r, device, layout, number)?;
            template.apply(&set, data)?;
            Ok(Command::BindSets(number, vec![set], Vec::new()))
        })
    }

    fn cmd_push_constants(
        buffer: vk::CommandBuffer,
        layout: vk::PipelineLayout,
        _stages: vk::ShaderStageFlags,
        offset: u32,
        size: u32,
        values: *const c_void,
    ) {
        record(buffer, |_, _| {
            handle::get::<PipelineLayout>(layout)?;
            if offset.saturating_add(size) > PUSH_CONSTANTS {
                return Err(Error::usage(format!("push constants past byte {PUSH_CONSTANTS}")));
            }
            Ok(Command::PushConstants(offset, ffi::slice(values.cast::<u8>(), size).to_vec()))
        })
    }

    /// vkCmdBindDescriptorSets2KHR.
    fn cmd_bind_descriptor_sets2(buffer: vk::CommandBuffer, info: &vk::BindDescriptorSetsInfoKHR<'_>) {
        if info.stage_flags.contains(vk::ShaderStageFlags::COMPUTE) {
            cmd_bind_descriptor_sets(
                buffer,
                vk::PipelineBindPoint::COMPUTE,
                info.layout,
                info.first_set,
                info.descriptor_set_count,
                info.p_descriptor_sets,
                info.dynamic_offset_count,
                info.p_dynamic_offsets,
            );
        }
        Ok(())
    }

    /// vkCmdPushConstants2KHR.
    fn cmd_push_constants2(buffer: vk::CommandBuffer, info: &vk::PushConstantsInfoKHR<'_>) {
        cmd_push_constants(buffer, info.layout, info.stage_flags, info.offset, info.size, info.p_values);
        Ok(())
    }

    /// vkCmdPushDescriptorSet2KHR.
    fn cmd_push_descriptor_set2(buffer: vk::CommandBuffer, info: &vk::PushDescriptorSetInfoKHR<'_>) {
        if info.stage_flags.contains(vk::ShaderStageFlags::COMPUTE) {
            cmd_push_descriptor_set(
                buffer,
                vk::PipelineBindPoint::COMPUTE,
                info.layout,
                info.set,
                info.descriptor_write_count,
                info.p_descriptor_writes,
            );
        }
        Ok(())
    }

    /// vkCmdPushDescriptorSetWithTemplate2KHR.
    fn cmd_push_descriptor_set_with_template2(
        buffer: vk::CommandBuffer,
        info: &vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
    ) {
        cmd_push_descriptor_set_with_template(
            buffer,
            info.descriptor_update_template,
            info.layout,
            info.set,
            info.p_data,
        );
        Ok(())
    }

    fn cmd_dispatch(buffer: vk::CommandBuffer, x: u32, y: u32, z: u32) {
        record(buffer, |_, _| Ok(Command::Dispatch([0; 3], [x, y, z])))
    }

    fn cmd_dispatch_base(
        buffer: vk::CommandBuffer,
        base_x: u32,
        base_y: u32,
        base_z: u32,
        x: u32,
        y: u32,
        z: u32,
    ) {
        record(buffer, |_, _| Ok(Command::Dispatch([base_x, base_y, base_z], [x, y, z])))
    }

    fn cmd_dispatch_indirect(buffer: vk::CommandBuffer, parameters: vk::Buffer, offset: vk::DeviceSize) {
        record(buffer, |_, _| {
            let parameters = handle::get::<Buffer>(parameters)?;
            if !offset.is_multiple_of(4) || offset.saturating_add(12) > parameters.size {
                return Err(Error::usage("the parameters of an indirect dispatch are not inside the buffer"));
            }
            Ok(Command::DispatchIndirect(parameters, offset))
        })
    }

    fn cmd_execute_commands(buffer: vk::CommandBuffer, secondaries: &[vk::CommandBuffer]) {
        record(buffer, |r, device| {
            let list = secondaries
                .iter()
                .map(|s| {
                    let secondary = handle::dispatchable::<CommandBuffer>(*s)?;
                    if !Arc::ptr_eq(&secondary.device, device) {
                        return Err(Error::usage("a secondary command buffer is of another VkDevice"));
                    }
                    if secondary.level != vk::CommandBufferLevel::SECONDARY {
                        return Err(Error::usage("vkCmdExecuteCommands takes secondary command buffers"));
                    }
                    let (ours, theirs) = (r.family.index, secondary.family.index);
                    if ours != theirs {
                        return Err(Error::usage(format!(
                            "a secondary command buffer is of queue family {theirs}, the primary one of {ours}"
                        )));
                    }
                    let recorded = secondary.executable()?;
                    if r.conditional && !recorded.conditional {
                        return Err(Error::usage(
                            "a secondary command buffer that does not inherit it, where conditional rendering is \
                             active",
                        ));
                    }
                    Ok(recorded)
                })
                .collect::<Outcome<Vec<_>>>()?;
            Ok(Command::Execute(list))
        })
    }

    /// vkCmdSetDeviceMask: a group of one device has one mask.
    fn cmd_set_device_mask(buffer: vk::CommandBuffer, _mask: u32) {
        push(buffer, |_, _| Ok(()))
    }

    /// vkCmdBeginDebugUtilsLabelEXT.
    fn cmd_begin_debug_utils_label(buffer: vk::CommandBuffer, info: *const vk::DebugUtilsLabelEXT<'_>) {
        record(buffer, |_, _| {
            Ok(Command::BeginLabel(ffi::string(ffi::read(info)?.p_label_name).unwrap_or_default()))
        })
    }

    /// vkCmdEndDebugUtilsLabelEXT.
    fn cmd_end_debug_utils_label(buffer: vk::CommandBuffer) {
        record(buffer, |_, _| Ok(Command::EndLabel))
    }

    /// vkCmdInsertDebugUtilsLabelEXT: a single label marks a point, which no finding names.
    fn cmd_insert_debug_utils_label(buffer: vk::CommandBuffer, _info: *const vk::DebugUtilsLabelEXT<'_>) {
        push(buffer, |_, _| Ok(()))
    }
}
