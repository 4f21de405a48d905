//! VkShaderEXT: shader objects. That of a compute shader is bound as a pipeline is; those of other stages can
//! be created and bound, because drawing with them is what is refused.

use crate::boundary::{destroys, entries};
use crate::caps::properties::uuid;
use crate::command::Command;
use crate::command::buffer::push;
use crate::device::Device;
use crate::entry::descriptor_layout::DescriptorSetLayout;
use crate::entry::destroy::ended;
use crate::entry::pipeline::{self, Pipeline};
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk::{self, Handle as _};
use std::ffi::c_void;
use std::sync::Arc;

/// VkShaderEXT: the code, and what it was compiled to.
pub struct ShaderObject {
    words: Arc<[u32]>,
    /// Of a compute shader: what a dispatch runs.
    compute: Option<Arc<Pipeline>>,
}

object!(ShaderObject, vk::ShaderEXT, kind::SHADER_OBJECT);

/// The binary's first bytes; the SPIR-V words follow.
fn header() -> [u8; vk::UUID_SIZE] {
    uuid("code")
}

/// # Safety
/// `info` is the application's.
unsafe fn words(info: &vk::ShaderCreateInfoEXT<'_>) -> Outcome<Arc<[u32]>> {
    // SAFETY: the contract.
    unsafe {
        if info.code_type == vk::ShaderCodeTypeEXT::SPIRV {
            return Ok(ffi::slice(info.p_code.cast(), info.code_size / 4).into());
        }
        match ffi::slice(info.p_code.cast::<u8>(), info.code_size).strip_prefix(&header()) {
            Some(code) => {
                Ok(code.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect())
            }
            None => Err(vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT.into()),
        }
    }
}

/// # Safety
/// `info` is the application's.
unsafe fn create(device: &Device, info: &vk::ShaderCreateInfoEXT<'_>) -> Outcome<vk::ShaderEXT> {
    // SAFETY: the contract.
    let (words, layouts) = unsafe { (words(info)?, ffi::slice(info.p_set_layouts, info.set_layout_count)) };
    for layout in layouts {
        handle::get_optional::<DescriptorSetLayout>(*layout)?;
    }
    let mut compute = None;
    if info.stage == vk::ShaderStageFlags::COMPUTE {
        let stage = vk::PipelineShaderStageCreateInfo {
            p_next: info.p_next,
            p_name: info.p_name,
            p_specialization_info: info.p_specialization_info,
            ..Default::default()
        };
        // SAFETY: the contract.
        let key = unsafe { pipeline::key(device, words.clone(), &stage)? };
        let program = pipeline::program(device, &key, "vkCreateShadersEXT")?;
        compute = Some(Pipeline::new(program, key, vk::ObjectType::SHADER_EXT, device.robust));
    }
    let handle = handle::insert(Arc::new(ShaderObject { words, compute: compute.clone() }));
    if let Some(pipeline) = compute {
        pipeline.set_handle(handle);
    }
    Ok(handle)
}

destroys! {
    /// vkDestroyShaderEXT.
    fn destroy_shader(device, shader: vk::ShaderEXT) {
        let Some(object) = handle::take::<ShaderObject>(shader)? else { return Ok(()) };
        let pipeline = object.compute.clone();
        drop(object);
        // Command buffers hold the pipeline.
        if let Some(pipeline) = pipeline {
            let named = ("VkShaderEXT", vk::ObjectType::SHADER_EXT, shader.as_raw());
            ended(&device, "vkDestroyShaderEXT", named, &pipeline);
        }
        device.handle_ended(vk::ObjectType::SHADER_EXT, shader.as_raw(), true);
        Ok(())
    }
}

entries! {
    /// vkCreateShadersEXT: what follows the first that fails is null.
    fn create_shaders(
        device: Arc<Device>,
        count: u32,
        infos: *const vk::ShaderCreateInfoEXT<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::ShaderEXT,
    ) -> vk::Result {
        let out = ffi::slice_mut(out, count);
        out.fill(vk::ShaderEXT::null());
        for (info, slot) in ffi::slice(infos, count).iter().zip(out) {
            *slot = create(&device, info)?;
        }
        Ok(())
    }

    /// vkGetShaderBinaryDataEXT: all of it or nothing.
    fn get_shader_binary_data(
        _device: Arc<Device>,
        shader: Arc<ShaderObject>,
        size: *mut usize,
        out: *mut c_void,
    ) -> vk::Result {
        let mut data = header().to_vec();
        data.extend(shader.words.iter().flat_map(|word| word.to_le_bytes()));
        ffi::enumerate_bytes(&data, size, out)
    }

    /// vkCmdBindShadersEXT: without an array, or with a null handle, nothing is bound to the stage.
    fn cmd_bind_shaders(
        buffer: vk::CommandBuffer,
        count: u32,
        stages: *const vk::ShaderStageFlags,
        shaders: *const vk::ShaderEXT,
    ) {
        push(buffer, |r, _| {
            let shaders = ffi::slice(shaders, count);
            for (n, stage) in ffi::slice(stages, count).iter().enumerate() {
                let shader = handle::get_optional::<ShaderObject>(shaders.get(n).copied().unwrap_or_default())?;
                if *stage == vk::ShaderStageFlags::COMPUTE {
                    let pipeline = shader.map(|s| s.compute.clone().ok_or("no compute shader"));
                    r.add(Command::BindPipeline(pipeline.transpose().map_err(Error::usage)?));
                }
            }
            Ok(())
        })
    }
}
