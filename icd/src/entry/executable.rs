//! What pipelines execute (VK_KHR_pipeline_executable_properties): one executable for a compute pipeline, the
//! interpreter's instructions, and none for a graphics pipeline.

use crate::boundary::entries;
use crate::device::Device;
use crate::entry::graphics;
use crate::entry::pipeline::Pipeline;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use ash::vk;
use std::sync::Arc;

fn get(device: vk::Device, pipeline: vk::Pipeline) -> Outcome<Option<Arc<Pipeline>>> {
    handle::dispatchable::<Device>(device)?;
    if handle::get::<graphics::GraphicsPipeline>(pipeline).is_ok() {
        return Ok(None);
    }
    handle::get::<Pipeline>(pipeline).map(Some)
}

/// # Safety
/// `info` is the application's.
unsafe fn executable(
    device: vk::Device,
    info: *const vk::PipelineExecutableInfoKHR<'_>,
) -> Outcome<Arc<Pipeline>> {
    // SAFETY: the contract.
    let info = unsafe { ffi::read(info)? };
    let found = get(device, info.pipeline)?.filter(|_| info.executable_index == 0);
    found.ok_or_else(|| Error::usage(format!("the pipeline has no executable {}", info.executable_index)))
}

entries! {
    /// vkGetPipelineExecutablePropertiesKHR.
    fn get_pipeline_executable_properties(
        device: vk::Device,
        info: &vk::PipelineInfoKHR<'_>,
        count: *mut u32,
        out: *mut vk::PipelineExecutablePropertiesKHR<'_>,
    ) -> vk::Result {
        let pipeline = get(device, info.pipeline)?;
        ffi::enumerate_with(usize::from(pipeline.is_some()), count, out, |_, slot| {
            let Some(pipeline) = &pipeline else { return };
            slot.stages = vk::ShaderStageFlags::COMPUTE;
            ffi::put_string(&mut slot.name, "instructions");
            ffi::put_string(&mut slot.description, "The instructions of the interpreter, a subgroup at a time");
            slot.subgroup_size = pipeline.created().subgroup_size;
        })
    }

    /// vkGetPipelineExecutableStatisticsKHR.
    fn get_pipeline_executable_statistics(
        device: vk::Device,
        info: *const vk::PipelineExecutableInfoKHR<'_>,
        count: *mut u32,
        out: *mut vk::PipelineExecutableStatisticKHR<'_>,
    ) -> vk::Result {
        let pipeline = executable(device, info)?;
        let code = pipeline.created();
        let statistics = [
            ("Instructions", "Instructions of the program", code.code.len() as u64),
            ("Memory operations", "Instructions that access memory", code.memory.len() as u64),
            ("Vector registers", "Registers of a subgroup with a value for each invocation", code.vectors.into()),
            ("Mask registers", "Registers of a subgroup with a bit for each invocation", code.masks.into()),
        ];
        ffi::enumerate_with(statistics.len(), count, out, |n, slot| {
            let (name, description, value) = statistics[n];
            ffi::put_string(&mut slot.name, name);
            ffi::put_string(&mut slot.description, description);
            slot.format = vk::PipelineExecutableStatisticFormatKHR::UINT64;
            slot.value = vk::PipelineExecutableStatisticValueKHR { u64: value };
        })
    }

    /// vkGetPipelineExecutableInternalRepresentationsKHR: the listing of the instructions.
    fn get_pipeline_executable_internal_representations(
        device: vk::Device,
        info: *const vk::PipelineExecutableInfoKHR<'_>,
        count: *mut u32,
        out: *mut vk::PipelineExecutableInternalRepresentationKHR<'_>,
    ) -> vk::Result {
        let pipeline = executable(device, info)?;
        let mut cut = false;
        let result = ffi::enumerate_with(1, count, out, |_, slot| {
            ffi::put_string(&mut slot.name, "instructions");
            ffi::put_string(&mut slot.description, "The listing of the interpreter's instructions");
            slot.is_text = vk::TRUE;
            let text = pipeline.created().to_string();
            if slot.p_data.is_null() {
                slot.data_size = text.len() + 1;
                return;
            }
            // The last byte is null, however much fits.
            let room = ffi::slice_mut(slot.p_data.cast::<u8>(), slot.data_size.min(text.len() + 1));
            cut = room.len() <= text.len();
            slot.data_size = room.len();
            if let Some((last, bytes)) = room.split_last_mut() {
                bytes.copy_from_slice(&text.as_bytes()[..bytes.len()]);
                *last = 0;
            }
        })?;
        Ok(if cut { vk::Result::INCOMPLETE } else { result })
    }
}
