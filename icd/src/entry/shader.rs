//! VkShaderModule.

use crate::boundary::{creates, destroys};
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

creates! {
    fn create_shader_module(_device, info: vk::ShaderModuleCreateInfo<'_>) -> vk::ShaderModule {
        if info.code_size % 4 != 0 || info.code_size == 0 {
            return Err(Error::usage("codeSize is not a positive multiple of 4"));
        }
        let words = ffi::slice(info.p_code, info.code_size / 4).into();
        Ok(handle::insert(Arc::new(ShaderModule { words })))
    }
}

destroys! {
    fn destroy_shader_module(ShaderModule);
}
