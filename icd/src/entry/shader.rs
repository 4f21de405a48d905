//! VkShaderModule.

use crate::boundary::entries;
use crate::device::Device;
use crate::error::Error;
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use std::sync::Arc;

/// A shader module: its words. They are looked at when a pipeline is created.
pub struct ShaderModule {
    /// SPIR-V.
    pub words: Arc<[u32]>,
}

object!(ShaderModule, vk::ShaderModule, kind::SHADER);

entries! {
    /// vkCreateShaderModule.
    fn create_shader_module(
        device: vk::Device,
        info: *const vk::ShaderModuleCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::ShaderModule,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        if info.code_size % 4 != 0 || info.code_size == 0 {
            return Err(Error::usage("codeSize is not a positive multiple of 4"));
        }
        let words = ffi::slice(info.p_code, info.code_size / 4).into();
        ffi::write(out, handle::insert(Arc::new(ShaderModule { words })))
    }

    /// vkDestroyShaderModule.
    fn destroy_shader_module(
        device: vk::Device,
        module: vk::ShaderModule,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::dispatchable::<Device>(device)?;
        handle::take::<ShaderModule>(module)?;
        Ok(())
    }
}
