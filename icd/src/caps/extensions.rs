//! Extensions: the names that instance and device list.
//!
//! What was promoted into 1.1 to 1.4 and concerns compute is listed by name too, because clients test for
//! names.

use crate::error::{Error, Outcome};
use crate::ffi;
use ash::vk;
use std::ffi::c_char;

/// A device or instance extension, as it is enumerated.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    pub name: &'static str,
    pub revision: u32,
}

const fn e(name: &'static str, revision: u32) -> Extension {
    Extension { name, revision }
}

/// Instance extensions.
pub const INSTANCE: &[Extension] = &[
    e("VK_EXT_debug_utils", 2),
    e("VK_KHR_device_group_creation", 1),
    e("VK_KHR_external_fence_capabilities", 1),
    e("VK_KHR_external_memory_capabilities", 1),
    e("VK_KHR_external_semaphore_capabilities", 1),
    e("VK_KHR_get_physical_device_properties2", 2),
];

/// Device extensions.
pub const DEVICE: &[Extension] = &[
    e("VK_EXT_4444_formats", 1),
    e("VK_EXT_border_color_swizzle", 1),
    e("VK_EXT_calibrated_timestamps", 2),
    e("VK_EXT_conditional_rendering", 2),
    e("VK_EXT_custom_border_color", 12),
    e("VK_EXT_descriptor_buffer", 1),
    e("VK_EXT_descriptor_indexing", 2),
    e("VK_EXT_device_fault", 2),
    e("VK_EXT_external_memory_host", 1),
    e("VK_EXT_host_image_copy", 1),
    e("VK_EXT_host_query_reset", 1),
    e("VK_EXT_image_2d_view_of_3d", 1),
    e("VK_EXT_image_robustness", 1),
    e("VK_EXT_inline_uniform_block", 1),
    e("VK_EXT_memory_budget", 1),
    e("VK_EXT_memory_priority", 1),
    e("VK_EXT_mutable_descriptor_type", 1),
    e("VK_EXT_non_seamless_cube_map", 1),
    e("VK_EXT_pageable_device_local_memory", 1),
    e("VK_EXT_pipeline_creation_cache_control", 3),
    e("VK_EXT_pipeline_creation_feedback", 1),
    e("VK_EXT_pipeline_robustness", 1),
    e("VK_EXT_private_data", 1),
    e("VK_EXT_robustness2", 1),
    e("VK_EXT_sampler_filter_minmax", 2),
    e("VK_EXT_scalar_block_layout", 1),
    e("VK_EXT_separate_stencil_usage", 1),
    e("VK_EXT_shader_atomic_float", 1),
    e("VK_EXT_shader_atomic_float2", 1),
    e("VK_EXT_shader_demote_to_helper_invocation", 1),
    e("VK_EXT_shader_float8", 1),
    e("VK_EXT_shader_image_atomic_int64", 1),
    e("VK_EXT_shader_long_vector", 1),
    e("VK_EXT_shader_object", 1),
    e("VK_EXT_shader_replicated_composites", 1),
    e("VK_EXT_shader_subgroup_ballot", 1),
    e("VK_EXT_shader_subgroup_vote", 1),
    e("VK_EXT_subgroup_size_control", 2),
    e("VK_EXT_texel_buffer_alignment", 1),
    e("VK_EXT_tooling_info", 1),
    e("VK_EXT_ycbcr_2plane_444_formats", 1),
    e("VK_EXT_ycbcr_image_arrays", 1),
    e("VK_EXT_zero_initialize_device_memory", 1),
    e("VK_GOOGLE_decorate_string", 1),
    e("VK_GOOGLE_hlsl_functionality1", 1),
    e("VK_GOOGLE_user_type", 1),
    e("VK_INTEL_shader_integer_functions2", 1),
    e("VK_KHR_16bit_storage", 1),
    e("VK_KHR_8bit_storage", 1),
    e("VK_KHR_bind_memory2", 1),
    e("VK_KHR_buffer_device_address", 1),
    e("VK_KHR_calibrated_timestamps", 1),
    e("VK_KHR_compute_shader_derivatives", 1),
    e("VK_KHR_cooperative_matrix", 2),
    e("VK_KHR_copy_commands2", 1),
    e("VK_KHR_copy_memory_indirect", 1),
    e("VK_KHR_create_renderpass2", 1),
    e("VK_KHR_dedicated_allocation", 3),
    e("VK_KHR_descriptor_update_template", 1),
    e("VK_KHR_device_group", 4),
    e("VK_KHR_driver_properties", 1),
    e("VK_KHR_external_fence", 1),
    e("VK_KHR_external_fence_fd", 1),
    e("VK_KHR_external_memory", 1),
    e("VK_KHR_external_memory_fd", 1),
    e("VK_KHR_external_semaphore", 1),
    e("VK_KHR_external_semaphore_fd", 1),
    e("VK_KHR_format_feature_flags2", 2),
    e("VK_KHR_get_memory_requirements2", 1),
    e("VK_KHR_global_priority", 1),
    e("VK_KHR_image_format_list", 1),
    e("VK_KHR_imageless_framebuffer", 1),
    e("VK_KHR_maintenance1", 2),
    e("VK_KHR_maintenance10", 1),
    e("VK_KHR_maintenance2", 1),
    e("VK_KHR_maintenance3", 1),
    e("VK_KHR_maintenance4", 2),
    e("VK_KHR_maintenance5", 1),
    e("VK_KHR_maintenance6", 1),
    e("VK_KHR_maintenance7", 1),
    e("VK_KHR_maintenance8", 1),
    e("VK_KHR_maintenance9", 1),
    e("VK_KHR_map_memory2", 1),
    e("VK_KHR_pipeline_executable_properties", 1),
    e("VK_KHR_push_descriptor", 2),
    e("VK_KHR_relaxed_block_layout", 1),
    e("VK_KHR_robustness2", 1),
    e("VK_KHR_sampler_mirror_clamp_to_edge", 3),
    e("VK_KHR_sampler_ycbcr_conversion", 14),
    e("VK_KHR_shader_atomic_int64", 1),
    e("VK_KHR_shader_bfloat16", 1),
    e("VK_KHR_shader_clock", 1),
    e("VK_KHR_shader_expect_assume", 1),
    e("VK_KHR_shader_float16_int8", 1),
    e("VK_KHR_shader_float_controls", 4),
    e("VK_KHR_shader_float_controls2", 1),
    e("VK_KHR_shader_integer_dot_product", 1),
    e("VK_KHR_shader_maximal_reconvergence", 1),
    e("VK_KHR_shader_non_semantic_info", 1),
    e("VK_KHR_shader_subgroup_extended_types", 1),
    e("VK_KHR_shader_subgroup_rotate", 2),
    e("VK_KHR_shader_subgroup_uniform_control_flow", 1),
    e("VK_KHR_shader_terminate_invocation", 1),
    e("VK_KHR_shader_untyped_pointers", 1),
    e("VK_KHR_spirv_1_4", 1),
    e("VK_KHR_storage_buffer_storage_class", 1),
    e("VK_KHR_synchronization2", 1),
    e("VK_KHR_timeline_semaphore", 2),
    e("VK_KHR_uniform_buffer_standard_layout", 1),
    e("VK_KHR_variable_pointers", 1),
    e("VK_KHR_vulkan_memory_model", 3),
    e("VK_KHR_workgroup_memory_explicit_layout", 1),
    e("VK_KHR_zero_initialize_workgroup_memory", 1),
    e("VK_NV_compute_shader_derivatives", 1),
    e("VK_NV_copy_memory_indirect", 1),
    e("VK_NV_shader_subgroup_partitioned", 1),
    e("VK_VALVE_mutable_descriptor_type", 1),
];

/// Instance extensions of windows: shown to programs that ask for them and open none.
pub const INSTANCE_SURFACES: &[Extension] = &[e("VK_KHR_surface", 25), e("VK_KHR_xlib_surface", 6)];

/// Device extensions of windows.
pub const DEVICE_SURFACES: &[Extension] = &[e("VK_KHR_swapchain", 70)];

/// Instance extensions; `surfaces`: those of windows, too.
pub fn instance(surfaces: bool) -> Vec<Extension> {
    [INSTANCE, if surfaces { INSTANCE_SURFACES } else { &[] }].concat()
}

/// Device extensions; `surfaces`: those of windows, too.
pub fn device(surfaces: bool) -> Vec<Extension> {
    [DEVICE, if surfaces { DEVICE_SURFACES } else { &[] }].concat()
}

/// The properties of a list of extensions.
pub fn properties(list: &[Extension]) -> Vec<vk::ExtensionProperties> {
    list.iter()
        .map(|extension| {
            let mut out = vk::ExtensionProperties { spec_version: extension.revision, ..Default::default() };
            ffi::put_string(&mut out.extension_name, extension.name);
            out
        })
        .collect()
}

/// The names that an application enables, all of which are to be in the list.
///
/// # Errors
/// One is not.
///
/// # Safety
/// The names are the application's.
pub(crate) unsafe fn enabled(
    list: &[Extension],
    names: *const *const c_char,
    count: u32,
) -> Outcome<Vec<String>> {
    let known = |name: &*const c_char| {
        // SAFETY: the contract.
        let name = unsafe { ffi::string(*name) }.unwrap_or_default();
        if list.iter().any(|e| e.name == name) {
            return Ok(name);
        }
        let text = format!("the extension {name} is not there");
        Err(Error::new(vk::Result::ERROR_EXTENSION_NOT_PRESENT, text))
    };
    // SAFETY: the contract.
    unsafe { ffi::slice(names, count) }.iter().map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_without_repetition() {
        for list in [INSTANCE, DEVICE, INSTANCE_SURFACES, DEVICE_SURFACES] {
            assert!(list.windows(2).all(|w| w[0].name < w[1].name));
        }
    }
}
