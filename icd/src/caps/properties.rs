//! Properties.

use super::{
    ALIGNMENT, BOUND_SETS, Caps, DESCRIPTOR_BUFFERS, INLINE_BLOCK, INLINE_BLOCKS, PUSH_DESCRIPTORS,
    SET_ALIGNMENT, UPDATE_AFTER_BIND, later, limits, memory,
};
use crate::descriptor_bytes::{CAPTURE_BYTES, SIZE};
use crate::ffi;
use ash::vk;
use std::ffi::c_char;

pub const DEVICE_NAME: &str = "Pellucid";
pub const DRIVER_NAME: &str = "Pellucid";
pub const DRIVER_INFO: &str =
    concat!("Pellucid ", env!("CARGO_PKG_VERSION"), " (software, Vulkan memory model)");

/// The version of the driver, as VkPhysicalDeviceProperties has it.
pub fn driver_version() -> u32 {
    let part = |text: &str| text.parse::<u32>().unwrap_or(0);
    vk::make_api_version(
        0,
        part(env!("CARGO_PKG_VERSION_MAJOR")),
        part(env!("CARGO_PKG_VERSION_MINOR")),
        part(env!("CARGO_PKG_VERSION_PATCH")),
    )
}

/// A UUID that names the driver's version and `what`.
pub fn uuid(what: &str) -> [u8; vk::UUID_SIZE] {
    let mut out = [0; vk::UUID_SIZE];
    out[..8].copy_from_slice(b"pellucid");
    out[8..12].copy_from_slice(&driver_version().to_le_bytes());
    for (slot, byte) in out[12..].iter_mut().zip(what.bytes()) {
        *slot = byte;
    }
    out
}

/// The layouts in which the host copies images.
const HOST_COPY_LAYOUTS: &[vk::ImageLayout] = &[
    vk::ImageLayout::GENERAL,
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
    vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    vk::ImageLayout::READ_ONLY_OPTIMAL,
    vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL,
    vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::PREINITIALIZED,
];

/// Properties of VK_EXT_descriptor_buffer: a descriptor of every type has the same size, robust or not.
fn descriptor_buffers(heap: u64) -> vk::PhysicalDeviceDescriptorBufferPropertiesEXT<'static> {
    let size = SIZE as usize;
    vk::PhysicalDeviceDescriptorBufferPropertiesEXT {
        combined_image_sampler_descriptor_single_array: vk::TRUE,
        bufferless_push_descriptors: vk::TRUE,
        allow_sampler_image_view_post_submit_creation: vk::TRUE,
        descriptor_buffer_offset_alignment: SET_ALIGNMENT,
        max_descriptor_buffer_bindings: DESCRIPTOR_BUFFERS,
        max_resource_descriptor_buffer_bindings: DESCRIPTOR_BUFFERS,
        max_sampler_descriptor_buffer_bindings: DESCRIPTOR_BUFFERS,
        max_embedded_immutable_sampler_bindings: BOUND_SETS,
        max_embedded_immutable_samplers: limits::SAMPLERS,
        buffer_capture_replay_descriptor_data_size: CAPTURE_BYTES,
        image_capture_replay_descriptor_data_size: CAPTURE_BYTES,
        image_view_capture_replay_descriptor_data_size: CAPTURE_BYTES,
        sampler_capture_replay_descriptor_data_size: CAPTURE_BYTES,
        acceleration_structure_capture_replay_descriptor_data_size: 0,
        sampler_descriptor_size: size,
        combined_image_sampler_descriptor_size: size,
        sampled_image_descriptor_size: size,
        storage_image_descriptor_size: size,
        uniform_texel_buffer_descriptor_size: size,
        robust_uniform_texel_buffer_descriptor_size: size,
        storage_texel_buffer_descriptor_size: size,
        robust_storage_texel_buffer_descriptor_size: size,
        uniform_buffer_descriptor_size: size,
        robust_uniform_buffer_descriptor_size: size,
        storage_buffer_descriptor_size: size,
        robust_storage_buffer_descriptor_size: size,
        input_attachment_descriptor_size: size,
        acceleration_structure_descriptor_size: 0,
        max_sampler_descriptor_buffer_range: heap,
        max_resource_descriptor_buffer_range: heap,
        sampler_descriptor_buffer_address_space_size: heap,
        resource_descriptor_buffer_address_space_size: heap,
        descriptor_buffer_address_space_size: heap,
        ..Default::default()
    }
}

/// Properties of 1.4, without the lists of layouts. Where no feature defines an access outside of its object,
/// it is a mistake. Of lines and vertex attributes these are the least that their features allow.
fn properties14() -> later::PhysicalDeviceVulkan14Properties {
    let buffers = vk::PipelineRobustnessBufferBehaviorEXT::DISABLED;
    later::PhysicalDeviceVulkan14Properties {
        s_type: <later::PhysicalDeviceVulkan14Properties as vk::TaggedStructure>::STRUCTURE_TYPE,
        p_next: std::ptr::null_mut(),
        line_sub_pixel_precision_bits: 4,
        max_vertex_attrib_divisor: (1 << 16) - 1,
        supports_non_zero_first_instance: vk::FALSE,
        max_push_descriptors: PUSH_DESCRIPTORS,
        dynamic_rendering_local_read_depth_stencil_attachments: vk::FALSE,
        dynamic_rendering_local_read_multisampled_attachments: vk::FALSE,
        early_fragment_multisample_coverage_after_sample_counting: vk::FALSE,
        early_fragment_sample_mask_test_before_sample_counting: vk::FALSE,
        depth_stencil_swizzle_one_support: vk::FALSE,
        polygon_mode_point_size: vk::FALSE,
        non_strict_single_pixel_wide_lines_use_parallelogram: vk::FALSE,
        non_strict_wide_lines_use_parallelogram: vk::FALSE,
        block_texel_view_compatible_multiple_layers: vk::FALSE,
        max_combined_image_sampler_descriptor_count: 1,
        fragment_shading_rate_clamp_combiner_inputs: vk::FALSE,
        default_robustness_storage_buffers: buffers,
        default_robustness_uniform_buffers: buffers,
        default_robustness_vertex_inputs: buffers,
        default_robustness_images: vk::PipelineRobustnessImageBehaviorEXT::DISABLED,
        copy_src_layout_count: 0,
        p_copy_src_layouts: std::ptr::null_mut(),
        copy_dst_layout_count: 0,
        p_copy_dst_layouts: std::ptr::null_mut(),
        optimal_tiling_layout_uuid: uuid("rows"),
        identical_memory_type_requirements: vk::TRUE,
    }
}

/// Lists the layouts in which the host copies images.
///
/// # Safety
/// The array is the application's, and as long as `count` says.
unsafe fn list_layouts(count: &mut u32, layouts: *mut vk::ImageLayout) {
    // SAFETY: the contract.
    let _ = unsafe { ffi::enumerate(HOST_COPY_LAYOUTS, count, layouts) };
}

fn text<const N: usize>(text: &str) -> [c_char; N] {
    let mut out = [0; N];
    ffi::put_string(&mut out, text);
    out
}

impl Caps {
    /// VkPhysicalDeviceProperties.
    pub fn properties(&self) -> vk::PhysicalDeviceProperties {
        vk::PhysicalDeviceProperties {
            api_version: self.api_version,
            driver_version: driver_version(),
            vendor_id: 0,
            device_id: 0x9e11,
            device_type: self.device_type,
            device_name: text(DEVICE_NAME),
            pipeline_cache_uuid: uuid("pipe"),
            limits: limits::limits(self),
            sparse_properties: vk::PhysicalDeviceSparseProperties {
                residency_non_resident_strict: vk::TRUE,
                ..Default::default()
            },
        }
    }

    /// Properties of 1.1.
    pub fn properties11(&self) -> vk::PhysicalDeviceVulkan11Properties<'static> {
        use vk::SubgroupFeatureFlags as S;
        vk::PhysicalDeviceVulkan11Properties {
            device_uuid: uuid("dev"),
            driver_uuid: uuid("drv"),
            subgroup_size: self.subgroup_size,
            subgroup_supported_stages: match self.pretend_graphics {
                true => vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT,
                false => vk::ShaderStageFlags::COMPUTE,
            },
            subgroup_supported_operations: S::BASIC
                | S::VOTE
                | S::ARITHMETIC
                | S::BALLOT
                | S::SHUFFLE
                | S::SHUFFLE_RELATIVE
                | S::CLUSTERED
                | S::ROTATE_KHR
                | S::ROTATE_CLUSTERED_KHR
                | S::PARTITIONED_NV
                | S::QUAD,
            subgroup_quad_operations_in_all_stages: vk::FALSE,
            point_clipping_behavior: vk::PointClippingBehavior::ALL_CLIP_PLANES,
            max_multiview_view_count: 6,
            max_multiview_instance_index: (1 << 27) - 1,
            protected_no_fault: vk::FALSE,
            max_per_set_descriptors: UPDATE_AFTER_BIND,
            max_memory_allocation_size: self.heap_size,
            ..Default::default()
        }
    }

    /// Properties of 1.2.
    pub fn properties12(&self) -> vk::PhysicalDeviceVulkan12Properties<'static> {
        vk::PhysicalDeviceVulkan12Properties {
            driver_id: vk::DriverId::from_raw(0),
            driver_name: text(DRIVER_NAME),
            driver_info: text(DRIVER_INFO),
            conformance_version: self.conformance_version,
            denorm_behavior_independence: vk::ShaderFloatControlsIndependence::ALL,
            rounding_mode_independence: vk::ShaderFloatControlsIndependence::ALL,
            shader_signed_zero_inf_nan_preserve_float16: vk::TRUE,
            shader_signed_zero_inf_nan_preserve_float32: vk::TRUE,
            shader_signed_zero_inf_nan_preserve_float64: vk::TRUE,
            shader_denorm_preserve_float16: vk::TRUE,
            shader_denorm_preserve_float32: vk::TRUE,
            shader_denorm_preserve_float64: vk::TRUE,
            shader_denorm_flush_to_zero_float16: vk::FALSE,
            shader_denorm_flush_to_zero_float32: vk::FALSE,
            shader_denorm_flush_to_zero_float64: vk::FALSE,
            shader_rounding_mode_rte_float16: vk::TRUE,
            shader_rounding_mode_rte_float32: vk::TRUE,
            shader_rounding_mode_rte_float64: vk::TRUE,
            shader_rounding_mode_rtz_float16: vk::FALSE,
            shader_rounding_mode_rtz_float32: vk::FALSE,
            shader_rounding_mode_rtz_float64: vk::FALSE,
            max_update_after_bind_descriptors_in_all_pools: UPDATE_AFTER_BIND,
            shader_uniform_buffer_array_non_uniform_indexing_native: vk::TRUE,
            shader_sampled_image_array_non_uniform_indexing_native: vk::TRUE,
            shader_storage_buffer_array_non_uniform_indexing_native: vk::TRUE,
            shader_storage_image_array_non_uniform_indexing_native: vk::TRUE,
            shader_input_attachment_array_non_uniform_indexing_native: vk::FALSE,
            robust_buffer_access_update_after_bind: vk::TRUE,
            quad_divergent_implicit_lod: vk::FALSE,
            max_per_stage_descriptor_update_after_bind_samplers: UPDATE_AFTER_BIND,
            max_per_stage_descriptor_update_after_bind_uniform_buffers: UPDATE_AFTER_BIND,
            max_per_stage_descriptor_update_after_bind_storage_buffers: UPDATE_AFTER_BIND,
            max_per_stage_descriptor_update_after_bind_sampled_images: UPDATE_AFTER_BIND,
            max_per_stage_descriptor_update_after_bind_storage_images: UPDATE_AFTER_BIND,
            max_per_stage_descriptor_update_after_bind_input_attachments: UPDATE_AFTER_BIND,
            max_per_stage_update_after_bind_resources: UPDATE_AFTER_BIND,
            max_descriptor_set_update_after_bind_samplers: UPDATE_AFTER_BIND,
            max_descriptor_set_update_after_bind_uniform_buffers: UPDATE_AFTER_BIND,
            max_descriptor_set_update_after_bind_uniform_buffers_dynamic: 64,
            max_descriptor_set_update_after_bind_storage_buffers: UPDATE_AFTER_BIND,
            max_descriptor_set_update_after_bind_storage_buffers_dynamic: 64,
            max_descriptor_set_update_after_bind_sampled_images: UPDATE_AFTER_BIND,
            max_descriptor_set_update_after_bind_storage_images: UPDATE_AFTER_BIND,
            max_descriptor_set_update_after_bind_input_attachments: UPDATE_AFTER_BIND,
            supported_depth_resolve_modes: vk::ResolveModeFlags::SAMPLE_ZERO,
            supported_stencil_resolve_modes: vk::ResolveModeFlags::SAMPLE_ZERO,
            independent_resolve_none: vk::FALSE,
            independent_resolve: vk::FALSE,
            filter_minmax_single_component_formats: vk::TRUE,
            filter_minmax_image_component_mapping: vk::TRUE,
            max_timeline_semaphore_value_difference: u64::MAX / 2,
            framebuffer_integer_color_sample_counts: vk::SampleCountFlags::TYPE_1,
            ..Default::default()
        }
    }

    /// Properties of 1.3.
    pub fn properties13(&self) -> vk::PhysicalDeviceVulkan13Properties<'static> {
        vk::PhysicalDeviceVulkan13Properties {
            min_subgroup_size: self.subgroup_sizes.0,
            max_subgroup_size: self.subgroup_sizes.1,
            max_compute_workgroup_subgroups: self.workgroup_invocations,
            required_subgroup_size_stages: vk::ShaderStageFlags::COMPUTE,
            max_inline_uniform_block_size: INLINE_BLOCK,
            max_per_stage_descriptor_inline_uniform_blocks: INLINE_BLOCKS,
            max_per_stage_descriptor_update_after_bind_inline_uniform_blocks: INLINE_BLOCKS,
            max_descriptor_set_inline_uniform_blocks: INLINE_BLOCKS,
            max_descriptor_set_update_after_bind_inline_uniform_blocks: INLINE_BLOCKS,
            max_inline_uniform_total_size: INLINE_BLOCK * INLINE_BLOCKS,
            storage_texel_buffer_offset_alignment_bytes: ALIGNMENT,
            storage_texel_buffer_offset_single_texel_alignment: vk::TRUE,
            uniform_texel_buffer_offset_alignment_bytes: ALIGNMENT,
            uniform_texel_buffer_offset_single_texel_alignment: vk::TRUE,
            max_buffer_size: self.heap_size,
            ..Default::default()
        }
    }

    /// Fills the known property structures of an output chain.
    pub(crate) fn fill_properties<'a>(&self, chain: impl Iterator<Item = ffi::LinkMut<'a>>) {
        for mut link in chain {
            self.fill_property(&mut link);
        }
    }

    fn fill_property(&self, link: &mut ffi::LinkMut<'_>) {
        macro_rules! from {
            ($source:expr => $($type:ident { $($field:ident $(: $of:ident)?),* $(,)? })*) => { $(
                if let Some(out) = link.write::<vk::$type>() {
                    let source = $source;
                    $( out.$field = from!(@ source $field $($of)?); )*
                    return;
                }
            )* };
            (@ $source:ident $field:ident) => { $source.$field };
            (@ $source:ident $field:ident $of:ident) => { $source.$of };
        }
        macro_rules! whole {
            ($($type:ident: $source:expr),*) => { $(
                if let Some(out) = link.write::<vk::$type>() {
                    let next = out.p_next;
                    *out = $source;
                    out.p_next = next;
                    return;
                }
            )* };
        }
        whole!(
            PhysicalDeviceVulkan11Properties: self.properties11(),
            PhysicalDeviceVulkan12Properties: self.properties12(),
            PhysicalDeviceVulkan13Properties: self.properties13(),
            PhysicalDeviceCooperativeMatrixPropertiesKHR:
                vk::PhysicalDeviceCooperativeMatrixPropertiesKHR::default()
                    .cooperative_matrix_supported_stages(vk::ShaderStageFlags::COMPUTE),
            PhysicalDeviceShaderObjectPropertiesEXT:
                vk::PhysicalDeviceShaderObjectPropertiesEXT::default().shader_binary_uuid(uuid("code")),
            PhysicalDeviceCustomBorderColorPropertiesEXT:
                vk::PhysicalDeviceCustomBorderColorPropertiesEXT::default()
                    .max_custom_border_color_samplers(limits::SAMPLERS),
            PhysicalDeviceDescriptorBufferPropertiesEXT: descriptor_buffers(self.heap_size)
        );
        from!(properties14() =>
            PhysicalDeviceMaintenance5PropertiesKHR {
                early_fragment_multisample_coverage_after_sample_counting,
                early_fragment_sample_mask_test_before_sample_counting, depth_stencil_swizzle_one_support,
                polygon_mode_point_size, non_strict_single_pixel_wide_lines_use_parallelogram,
                non_strict_wide_lines_use_parallelogram,
            }
            PhysicalDeviceMaintenance6PropertiesKHR {
                block_texel_view_compatible_multiple_layers, max_combined_image_sampler_descriptor_count,
                fragment_shading_rate_clamp_combiner_inputs,
            }
            PhysicalDevicePipelineRobustnessPropertiesEXT {
                default_robustness_storage_buffers, default_robustness_uniform_buffers,
                default_robustness_vertex_inputs, default_robustness_images,
            }
            PhysicalDevicePushDescriptorPropertiesKHR { max_push_descriptors }
        );
        from!(self.properties11() =>
            PhysicalDeviceIDProperties { device_uuid, driver_uuid, device_luid, device_node_mask, device_luid_valid }
            PhysicalDeviceSubgroupProperties {
                subgroup_size, supported_stages: subgroup_supported_stages,
                supported_operations: subgroup_supported_operations,
                quad_operations_in_all_stages: subgroup_quad_operations_in_all_stages,
            }
            PhysicalDevicePointClippingProperties { point_clipping_behavior }
            PhysicalDeviceMultiviewProperties { max_multiview_view_count, max_multiview_instance_index }
            PhysicalDeviceProtectedMemoryProperties { protected_no_fault }
            PhysicalDeviceMaintenance3Properties { max_per_set_descriptors, max_memory_allocation_size }
        );
        from!(self.properties12() =>
            PhysicalDeviceDriverProperties { driver_id, driver_name, driver_info, conformance_version }
            PhysicalDeviceFloatControlsProperties {
                denorm_behavior_independence, rounding_mode_independence,
                shader_signed_zero_inf_nan_preserve_float16, shader_signed_zero_inf_nan_preserve_float32,
                shader_signed_zero_inf_nan_preserve_float64, shader_denorm_preserve_float16,
                shader_denorm_preserve_float32, shader_denorm_preserve_float64, shader_denorm_flush_to_zero_float16,
                shader_denorm_flush_to_zero_float32, shader_denorm_flush_to_zero_float64,
                shader_rounding_mode_rte_float16, shader_rounding_mode_rte_float32, shader_rounding_mode_rte_float64,
                shader_rounding_mode_rtz_float16, shader_rounding_mode_rtz_float32, shader_rounding_mode_rtz_float64,
            }
            PhysicalDeviceDescriptorIndexingProperties {
                max_update_after_bind_descriptors_in_all_pools, shader_uniform_buffer_array_non_uniform_indexing_native,
                shader_sampled_image_array_non_uniform_indexing_native,
                shader_storage_buffer_array_non_uniform_indexing_native,
                shader_storage_image_array_non_uniform_indexing_native,
                shader_input_attachment_array_non_uniform_indexing_native, robust_buffer_access_update_after_bind,
                quad_divergent_implicit_lod, max_per_stage_descriptor_update_after_bind_samplers,
                max_per_stage_descriptor_update_after_bind_uniform_buffers,
                max_per_stage_descriptor_update_after_bind_storage_buffers,
                max_per_stage_descriptor_update_after_bind_sampled_images,
                max_per_stage_descriptor_update_after_bind_storage_images,
                max_per_stage_descriptor_update_after_bind_input_attachments,
                max_per_stage_update_after_bind_resources, max_descriptor_set_update_after_bind_samplers,
                max_descriptor_set_update_after_bind_uniform_buffers,
                max_descriptor_set_update_after_bind_uniform_buffers_dynamic,
                max_descriptor_set_update_after_bind_storage_buffers,
                max_descriptor_set_update_after_bind_storage_buffers_dynamic,
                max_descriptor_set_update_after_bind_sampled_images,
                max_descriptor_set_update_after_bind_storage_images,
                max_descriptor_set_update_after_bind_input_attachments,
            }
            PhysicalDeviceDepthStencilResolveProperties {
                supported_depth_resolve_modes, supported_stencil_resolve_modes, independent_resolve_none,
                independent_resolve,
            }
            PhysicalDeviceSamplerFilterMinmaxProperties {
                filter_minmax_single_component_formats, filter_minmax_image_component_mapping,
            }
            PhysicalDeviceTimelineSemaphoreProperties { max_timeline_semaphore_value_difference }
        );
        from!(self.properties13() =>
            PhysicalDeviceSubgroupSizeControlProperties {
                min_subgroup_size, max_subgroup_size, max_compute_workgroup_subgroups, required_subgroup_size_stages,
            }
            PhysicalDeviceInlineUniformBlockProperties {
                max_inline_uniform_block_size, max_per_stage_descriptor_inline_uniform_blocks,
                max_per_stage_descriptor_update_after_bind_inline_uniform_blocks,
                max_descriptor_set_inline_uniform_blocks, max_descriptor_set_update_after_bind_inline_uniform_blocks,
            }
            PhysicalDeviceTexelBufferAlignmentProperties {
                storage_texel_buffer_offset_alignment_bytes, storage_texel_buffer_offset_single_texel_alignment,
                uniform_texel_buffer_offset_alignment_bytes, uniform_texel_buffer_offset_single_texel_alignment,
            }
            PhysicalDeviceMaintenance4Properties { max_buffer_size }
        );
        if let Some(out) = link.write::<vk::PhysicalDeviceCopyMemoryIndirectPropertiesNV<'_>>() {
            // That of VK_KHR_copy_memory_indirect, too: whatever a queue can do besides, it can do these.
            out.supported_queues =
                vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
            return;
        }
        if let Some(out) = link.write::<vk::PhysicalDeviceExternalMemoryHostPropertiesEXT<'_>>() {
            out.min_imported_host_pointer_alignment = memory::POINTER_ALIGNMENT;
            return;
        }
        if let Some(out) = link.write::<vk::PhysicalDeviceHostImageCopyPropertiesEXT<'_>>() {
            let source = properties14();
            out.optimal_tiling_layout_uuid = source.optimal_tiling_layout_uuid;
            out.identical_memory_type_requirements = source.identical_memory_type_requirements;
            // SAFETY: the arrays are the application's, and as long as it says.
            unsafe {
                list_layouts(&mut out.copy_src_layout_count, out.p_copy_src_layouts);
                list_layouts(&mut out.copy_dst_layout_count, out.p_copy_dst_layouts);
            }
            return;
        }
        if self.has_1_4()
            && let Some(out) = link.write::<later::PhysicalDeviceVulkan14Properties>()
        {
            *out = later::PhysicalDeviceVulkan14Properties {
                p_next: out.p_next,
                copy_src_layout_count: out.copy_src_layout_count,
                p_copy_src_layouts: out.p_copy_src_layouts,
                copy_dst_layout_count: out.copy_dst_layout_count,
                p_copy_dst_layouts: out.p_copy_dst_layouts,
                ..properties14()
            };
            // SAFETY: the arrays are the application's, and as long as it says.
            unsafe {
                list_layouts(&mut out.copy_src_layout_count, out.p_copy_src_layouts);
                list_layouts(&mut out.copy_dst_layout_count, out.p_copy_dst_layouts);
            }
            return;
        }
        if let Some(out) = link.write::<later::PhysicalDeviceMaintenance7PropertiesKHR>() {
            let limits = limits::limits(self);
            let uniform = limits.max_descriptor_set_uniform_buffers_dynamic;
            let storage = limits.max_descriptor_set_storage_buffers_dynamic;
            out.robust_fragment_shading_rate_attachment_access = vk::FALSE;
            out.separate_depth_stencil_attachment_access = vk::FALSE;
            out.max_descriptor_set_total_uniform_buffers_dynamic = uniform;
            out.max_descriptor_set_total_storage_buffers_dynamic = storage;
            out.max_descriptor_set_total_buffers_dynamic = uniform + storage;
            out.max_descriptor_set_update_after_bind_total_uniform_buffers_dynamic = uniform;
            out.max_descriptor_set_update_after_bind_total_storage_buffers_dynamic = storage;
            out.max_descriptor_set_update_after_bind_total_buffers_dynamic = uniform + storage;
            return;
        }
        if let Some(out) = link.write::<later::PhysicalDeviceLayeredApiPropertiesListKHR>() {
            // No other implementation is beneath.
            out.layered_api_count = 0;
            return;
        }
        if let Some(out) = link.write::<later::PhysicalDeviceMaintenance9PropertiesKHR>() {
            (out.image2_d_view_of3_d_sparse, out.default_vertex_attribute_value) = (vk::TRUE, 0);
            return;
        }
        if let Some(out) = link.write::<later::PhysicalDeviceMaintenance10PropertiesKHR>() {
            out.rgba4_opaque_black_swizzled = vk::TRUE;
            out.resolve_srgb_format_applies_transfer_function = vk::TRUE;
            out.resolve_srgb_format_supports_transfer_function_control = vk::FALSE;
            return;
        }
        if let Some(out) = link.write::<later::PhysicalDeviceComputeShaderDerivativesPropertiesKHR>() {
            out.mesh_and_task_shader_derivatives = vk::FALSE;
            return;
        }
        if let Some(out) = link.write::<later::PhysicalDeviceShaderLongVectorPropertiesEXT>() {
            out.max_vector_components = pellucid_shader_interp::spirv::MAX_VECTOR;
            return;
        }
        if let Some(out) = link.write::<vk::PhysicalDeviceRobustness2PropertiesEXT<'_>>() {
            out.robust_storage_buffer_access_size_alignment = 1;
            out.robust_uniform_buffer_access_size_alignment = 1;
            return;
        }
        if let Some(out) = link.write::<vk::PhysicalDeviceShaderIntegerDotProductProperties<'_>>() {
            // Nothing is accelerated.
            let next = out.p_next;
            *out = vk::PhysicalDeviceShaderIntegerDotProductProperties { p_next: next, ..Default::default() };
        }
    }
}
