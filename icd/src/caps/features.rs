//! Features.

use super::later;
use crate::ffi;
use ash::vk;

/// The features of the core versions.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Vulkan 1.0.
    pub v10: vk::PhysicalDeviceFeatures,
    /// Vulkan 1.1.
    pub v11: vk::PhysicalDeviceVulkan11Features<'static>,
    /// Vulkan 1.2.
    pub v12: vk::PhysicalDeviceVulkan12Features<'static>,
    /// Vulkan 1.3.
    pub v13: vk::PhysicalDeviceVulkan13Features<'static>,
    /// Vulkan 1.4.
    pub v14: later::PhysicalDeviceVulkan14Features,
    /// The minor version of Vulkan that the device shows.
    minor: u32,
}

// SAFETY: the chains of these structures are null, and nothing else in them is a pointer.
unsafe impl Send for Features {}
// SAFETY: as for Send.
unsafe impl Sync for Features {}

/// Sets the named members to true.
macro_rules! all_true {
    ($type:ty { $($field:ident),* $(,)? }) => { {
        let mut features = <$type>::default();
        $( features.$field = vk::TRUE; )*
        features
    } };
}

impl Features {
    /// All that a device of Vulkan 1.`minor` has; `chains`: availability and visibility chains too;
    /// `graphics`: what clients ask of a queue family with graphics, and Vulkan 1.4 requires of graphics
    /// implementations (*Feature Requirements*).
    pub fn new(chains: bool, graphics: bool, minor: u32) -> Features {
        let mut v10 = all_true!(vk::PhysicalDeviceFeatures {
            robust_buffer_access,
            image_cube_array,
            sampler_anisotropy,
            shader_image_gather_extended,
            shader_storage_image_extended_formats,
            shader_storage_image_multisample,
            shader_storage_image_read_without_format,
            shader_storage_image_write_without_format,
            shader_uniform_buffer_array_dynamic_indexing,
            shader_sampled_image_array_dynamic_indexing,
            shader_storage_buffer_array_dynamic_indexing,
            shader_storage_image_array_dynamic_indexing,
            shader_float64,
            shader_int64,
            shader_int16,
            texture_compression_bc,
            shader_resource_min_lod,
            sparse_binding,
            sparse_residency_buffer,
            sparse_residency_image2_d,
            sparse_residency_image3_d,
            sparse_residency_aliased,
            shader_resource_residency,
        });
        if graphics {
            v10.depth_bias_clamp = vk::TRUE;
            v10.fragment_stores_and_atomics = vk::TRUE;
            v10.full_draw_index_uint32 = vk::TRUE;
            v10.independent_blend = vk::TRUE;
            v10.sample_rate_shading = vk::TRUE;
        }
        if graphics && minor >= 4 {
            v10.depth_clamp = vk::TRUE;
            v10.draw_indirect_first_instance = vk::TRUE;
            v10.large_points = vk::TRUE;
        }
        let mut v11 = all_true!(vk::PhysicalDeviceVulkan11Features {
            storage_buffer16_bit_access,
            uniform_and_storage_buffer16_bit_access,
            storage_push_constant16,
            multiview,
            variable_pointers_storage_buffer,
            variable_pointers,
            sampler_ycbcr_conversion,
        });
        v11.shader_draw_parameters = graphics.into();
        let mut v12 = all_true!(vk::PhysicalDeviceVulkan12Features {
            sampler_mirror_clamp_to_edge,
            storage_buffer8_bit_access,
            uniform_and_storage_buffer8_bit_access,
            storage_push_constant8,
            shader_buffer_int64_atomics,
            shader_shared_int64_atomics,
            shader_float16,
            shader_int8,
            descriptor_indexing,
            shader_uniform_texel_buffer_array_dynamic_indexing,
            shader_storage_texel_buffer_array_dynamic_indexing,
            shader_uniform_buffer_array_non_uniform_indexing,
            shader_sampled_image_array_non_uniform_indexing,
            shader_storage_buffer_array_non_uniform_indexing,
            shader_storage_image_array_non_uniform_indexing,
            shader_uniform_texel_buffer_array_non_uniform_indexing,
            shader_storage_texel_buffer_array_non_uniform_indexing,
            descriptor_binding_uniform_buffer_update_after_bind,
            descriptor_binding_sampled_image_update_after_bind,
            descriptor_binding_storage_image_update_after_bind,
            descriptor_binding_storage_buffer_update_after_bind,
            descriptor_binding_uniform_texel_buffer_update_after_bind,
            descriptor_binding_storage_texel_buffer_update_after_bind,
            descriptor_binding_update_unused_while_pending,
            descriptor_binding_partially_bound,
            descriptor_binding_variable_descriptor_count,
            runtime_descriptor_array,
            sampler_filter_minmax,
            scalar_block_layout,
            imageless_framebuffer,
            uniform_buffer_standard_layout,
            shader_subgroup_extended_types,
            separate_depth_stencil_layouts,
            host_query_reset,
            timeline_semaphore,
            buffer_device_address,
            buffer_device_address_capture_replay,
            vulkan_memory_model,
            vulkan_memory_model_device_scope,
            vulkan_memory_model_availability_visibility_chains,
            subgroup_broadcast_dynamic_id,
        });
        v12.vulkan_memory_model_availability_visibility_chains = chains.into();
        let v13 = all_true!(vk::PhysicalDeviceVulkan13Features {
            robust_image_access,
            inline_uniform_block,
            descriptor_binding_inline_uniform_block_update_after_bind,
            pipeline_creation_cache_control,
            private_data,
            shader_demote_to_helper_invocation,
            shader_terminate_invocation,
            subgroup_size_control,
            compute_full_subgroups,
            synchronization2,
            shader_zero_initialize_workgroup_memory,
            dynamic_rendering,
            shader_integer_dot_product,
            maintenance4,
        });
        let mut v14 = all_true!(later::PhysicalDeviceVulkan14Features {
            global_priority_query,
            shader_subgroup_rotate,
            shader_subgroup_rotate_clustered,
            shader_float_controls2,
            shader_expect_assume,
            maintenance5,
            maintenance6,
            pipeline_robustness,
            host_image_copy,
            push_descriptor,
        });
        if graphics {
            v14.bresenham_lines = vk::TRUE;
            v14.vertex_attribute_instance_rate_divisor = vk::TRUE;
            v14.index_type_uint8 = vk::TRUE;
            v14.dynamic_rendering_local_read = vk::TRUE;
        }
        Features { v10, v11, v12, v13, v14, minor }
    }

    /// The structures that the device knows.
    pub fn rows(&self) -> impl Iterator<Item = &'static FeatureStructure> + use<> {
        let newest = if self.minor >= 4 { CORE_1_4 } else { &[] };
        CORE.iter().chain(EXTENSIONS).chain(newest)
    }
}

/// One feature structure that may extend VkPhysicalDeviceFeatures2 or VkDeviceCreateInfo.
pub struct FeatureStructure {
    /// Its `sType`.
    pub kind: vk::StructureType,
    /// The names of its VkBool32 members, as Rust writes them, in order.
    pub members: &'static [&'static str],
    /// Fills the members of the structure, which is of this kind.
    pub(crate) fill: fn(&Features, &mut ffi::LinkMut<'_>),
    /// The values of the members, in order.
    pub values: fn(&Features) -> Vec<vk::Bool32>,
}

/// The structures of the headers, and younger ones.
mod all {
    pub(super) use super::super::later::*;
    pub(super) use ash::vk::*;
}

macro_rules! rows {
    ($( $type:ident { $($field:ident: $value:expr),* $(,)? } )*) => {
        &[ $( FeatureStructure {
            kind: <all::$type as vk::TaggedStructure>::STRUCTURE_TYPE,
            members: &[$(stringify!($field)),*],
            fill: |f, link| {
                let Some(out) = link.write::<all::$type>() else { return };
                $( out.$field = { const VALUE: fn(&Features) -> vk::Bool32 = $value; VALUE(f) }; )*
            },
            values: |f| vec![$( { const VALUE: fn(&Features) -> vk::Bool32 = $value; VALUE(f) } ),*],
        } ),* ]
    };
}

/// A row's members, copied from a core version's structure of the same member names.
macro_rules! copied {
    ($( $type:ident from $version:ident { $($field:ident),* $(,)? } )*) => {
        rows! { $( $type { $($field: |f| f.$version.$field),* } )* }
    };
}

/// Rows of the core versions and of what was promoted into them.
const CORE: &[FeatureStructure] = copied! {
    PhysicalDeviceVulkan11Features from v11 {
        storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access, storage_push_constant16,
        storage_input_output16, multiview, multiview_geometry_shader, multiview_tessellation_shader,
        variable_pointers_storage_buffer, variable_pointers, protected_memory, sampler_ycbcr_conversion,
        shader_draw_parameters,
    }
    PhysicalDevice16BitStorageFeatures from v11 {
        storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access, storage_push_constant16,
        storage_input_output16,
    }
    PhysicalDeviceMultiviewFeatures from v11 { multiview, multiview_geometry_shader, multiview_tessellation_shader }
    PhysicalDeviceVariablePointersFeatures from v11 { variable_pointers_storage_buffer, variable_pointers }
    PhysicalDeviceProtectedMemoryFeatures from v11 { protected_memory }
    PhysicalDeviceSamplerYcbcrConversionFeatures from v11 { sampler_ycbcr_conversion }
    PhysicalDeviceShaderDrawParametersFeatures from v11 { shader_draw_parameters }
    PhysicalDeviceVulkan12Features from v12 {
        sampler_mirror_clamp_to_edge, draw_indirect_count, storage_buffer8_bit_access,
        uniform_and_storage_buffer8_bit_access, storage_push_constant8, shader_buffer_int64_atomics,
        shader_shared_int64_atomics, shader_float16, shader_int8, descriptor_indexing,
        shader_input_attachment_array_dynamic_indexing, shader_uniform_texel_buffer_array_dynamic_indexing,
        shader_storage_texel_buffer_array_dynamic_indexing, shader_uniform_buffer_array_non_uniform_indexing,
        shader_sampled_image_array_non_uniform_indexing, shader_storage_buffer_array_non_uniform_indexing,
        shader_storage_image_array_non_uniform_indexing, shader_input_attachment_array_non_uniform_indexing,
        shader_uniform_texel_buffer_array_non_uniform_indexing,
        shader_storage_texel_buffer_array_non_uniform_indexing,
        descriptor_binding_uniform_buffer_update_after_bind, descriptor_binding_sampled_image_update_after_bind,
        descriptor_binding_storage_image_update_after_bind, descriptor_binding_storage_buffer_update_after_bind,
        descriptor_binding_uniform_texel_buffer_update_after_bind,
        descriptor_binding_storage_texel_buffer_update_after_bind, descriptor_binding_update_unused_while_pending,
        descriptor_binding_partially_bound, descriptor_binding_variable_descriptor_count, runtime_descriptor_array,
        sampler_filter_minmax, scalar_block_layout, imageless_framebuffer, uniform_buffer_standard_layout,
        shader_subgroup_extended_types, separate_depth_stencil_layouts, host_query_reset, timeline_semaphore,
        buffer_device_address, buffer_device_address_capture_replay, buffer_device_address_multi_device,
        vulkan_memory_model, vulkan_memory_model_device_scope, vulkan_memory_model_availability_visibility_chains,
        shader_output_viewport_index, shader_output_layer, subgroup_broadcast_dynamic_id,
    }
    PhysicalDevice8BitStorageFeatures from v12 {
        storage_buffer8_bit_access, uniform_and_storage_buffer8_bit_access, storage_push_constant8,
    }
    PhysicalDeviceShaderAtomicInt64Features from v12 { shader_buffer_int64_atomics, shader_shared_int64_atomics }
    PhysicalDeviceShaderFloat16Int8Features from v12 { shader_float16, shader_int8 }
    PhysicalDeviceDescriptorIndexingFeatures from v12 {
        shader_input_attachment_array_dynamic_indexing, shader_uniform_texel_buffer_array_dynamic_indexing,
        shader_storage_texel_buffer_array_dynamic_indexing, shader_uniform_buffer_array_non_uniform_indexing,
        shader_sampled_image_array_non_uniform_indexing, shader_storage_buffer_array_non_uniform_indexing,
        shader_storage_image_array_non_uniform_indexing, shader_input_attachment_array_non_uniform_indexing,
        shader_uniform_texel_buffer_array_non_uniform_indexing,
        shader_storage_texel_buffer_array_non_uniform_indexing,
        descriptor_binding_uniform_buffer_update_after_bind, descriptor_binding_sampled_image_update_after_bind,
        descriptor_binding_storage_image_update_after_bind, descriptor_binding_storage_buffer_update_after_bind,
        descriptor_binding_uniform_texel_buffer_update_after_bind,
        descriptor_binding_storage_texel_buffer_update_after_bind, descriptor_binding_update_unused_while_pending,
        descriptor_binding_partially_bound, descriptor_binding_variable_descriptor_count, runtime_descriptor_array,
    }
    PhysicalDeviceScalarBlockLayoutFeatures from v12 { scalar_block_layout }
    PhysicalDeviceImagelessFramebufferFeatures from v12 { imageless_framebuffer }
    PhysicalDeviceUniformBufferStandardLayoutFeatures from v12 { uniform_buffer_standard_layout }
    PhysicalDeviceShaderSubgroupExtendedTypesFeatures from v12 { shader_subgroup_extended_types }
    PhysicalDeviceSeparateDepthStencilLayoutsFeatures from v12 { separate_depth_stencil_layouts }
    PhysicalDeviceHostQueryResetFeatures from v12 { host_query_reset }
    PhysicalDeviceTimelineSemaphoreFeatures from v12 { timeline_semaphore }
    PhysicalDeviceBufferDeviceAddressFeatures from v12 {
        buffer_device_address, buffer_device_address_capture_replay, buffer_device_address_multi_device,
    }
    PhysicalDeviceVulkanMemoryModelFeatures from v12 {
        vulkan_memory_model, vulkan_memory_model_device_scope, vulkan_memory_model_availability_visibility_chains,
    }
    PhysicalDeviceVulkan13Features from v13 {
        robust_image_access, inline_uniform_block, descriptor_binding_inline_uniform_block_update_after_bind,
        pipeline_creation_cache_control, private_data, shader_demote_to_helper_invocation,
        shader_terminate_invocation, subgroup_size_control, compute_full_subgroups, synchronization2,
        texture_compression_astc_hdr, shader_zero_initialize_workgroup_memory, dynamic_rendering,
        shader_integer_dot_product, maintenance4,
    }
    PhysicalDeviceImageRobustnessFeatures from v13 { robust_image_access }
    PhysicalDeviceInlineUniformBlockFeatures from v13 {
        inline_uniform_block, descriptor_binding_inline_uniform_block_update_after_bind,
    }
    PhysicalDevicePipelineCreationCacheControlFeatures from v13 { pipeline_creation_cache_control }
    PhysicalDevicePrivateDataFeatures from v13 { private_data }
    PhysicalDeviceShaderDemoteToHelperInvocationFeatures from v13 { shader_demote_to_helper_invocation }
    PhysicalDeviceShaderTerminateInvocationFeatures from v13 { shader_terminate_invocation }
    PhysicalDeviceSubgroupSizeControlFeatures from v13 { subgroup_size_control, compute_full_subgroups }
    PhysicalDeviceSynchronization2Features from v13 { synchronization2 }
    PhysicalDeviceTextureCompressionASTCHDRFeatures from v13 { texture_compression_astc_hdr }
    PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures from v13 { shader_zero_initialize_workgroup_memory }
    PhysicalDeviceDynamicRenderingFeatures from v13 { dynamic_rendering }
    PhysicalDeviceShaderIntegerDotProductFeatures from v13 { shader_integer_dot_product }
    PhysicalDeviceMaintenance4Features from v13 { maintenance4 }
    PhysicalDeviceGlobalPriorityQueryFeaturesKHR from v14 { global_priority_query }
    PhysicalDeviceHostImageCopyFeaturesEXT from v14 { host_image_copy }
    PhysicalDeviceMaintenance5FeaturesKHR from v14 { maintenance5 }
    PhysicalDeviceMaintenance6FeaturesKHR from v14 { maintenance6 }
    PhysicalDevicePipelineRobustnessFeaturesEXT from v14 { pipeline_robustness }
    PhysicalDeviceShaderExpectAssumeFeaturesKHR from v14 { shader_expect_assume }
    PhysicalDeviceShaderFloatControls2FeaturesKHR from v14 { shader_float_controls2 }
    PhysicalDeviceShaderSubgroupRotateFeaturesKHR from v14 {
        shader_subgroup_rotate, shader_subgroup_rotate_clustered,
    }
};

/// Rows of Vulkan 1.4, and of what was promoted into it and is not listed as an extension.
const CORE_1_4: &[FeatureStructure] = copied! {
    PhysicalDeviceVulkan14Features from v14 {
        global_priority_query, shader_subgroup_rotate, shader_subgroup_rotate_clustered, shader_float_controls2,
        shader_expect_assume, rectangular_lines, bresenham_lines, smooth_lines, stippled_rectangular_lines,
        stippled_bresenham_lines, stippled_smooth_lines, vertex_attribute_instance_rate_divisor,
        vertex_attribute_instance_rate_zero_divisor, index_type_uint8, dynamic_rendering_local_read, maintenance5,
        maintenance6, pipeline_protected_access, pipeline_robustness, host_image_copy, push_descriptor,
    }
    PhysicalDeviceLineRasterizationFeaturesKHR from v14 {
        rectangular_lines, bresenham_lines, smooth_lines, stippled_rectangular_lines, stippled_bresenham_lines,
        stippled_smooth_lines,
    }
    PhysicalDeviceVertexAttributeDivisorFeaturesKHR from v14 {
        vertex_attribute_instance_rate_divisor, vertex_attribute_instance_rate_zero_divisor,
    }
    PhysicalDeviceIndexTypeUint8FeaturesKHR from v14 { index_type_uint8 }
    PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR from v14 { dynamic_rendering_local_read }
    PhysicalDevicePipelineProtectedAccessFeaturesEXT from v14 { pipeline_protected_access }
};

/// Rows whose members are true, unless they are said to be false.
macro_rules! given {
    ($( $type:ident { $($field:ident $(= $value:ident)?),* $(,)? } )*) => {
        rows! { $( $type { $($field: |_| given!(@ $($value)?)),* } )* }
    };
    (@) => { vk::TRUE };
    (@ FALSE) => { vk::FALSE };
}

/// Rows of extensions that are in no core version.
const EXTENSIONS: &[FeatureStructure] = given! {
    PhysicalDeviceShaderAtomicFloatFeaturesEXT {
        shader_buffer_float32_atomics, shader_buffer_float32_atomic_add, shader_buffer_float64_atomics,
        shader_buffer_float64_atomic_add, shader_shared_float32_atomics, shader_shared_float32_atomic_add,
        shader_shared_float64_atomics, shader_shared_float64_atomic_add, shader_image_float32_atomics,
        shader_image_float32_atomic_add, sparse_image_float32_atomics, sparse_image_float32_atomic_add,
    }
    PhysicalDeviceShaderAtomicFloat2FeaturesEXT {
        shader_buffer_float16_atomics, shader_buffer_float16_atomic_add, shader_buffer_float16_atomic_min_max,
        shader_buffer_float32_atomic_min_max, shader_buffer_float64_atomic_min_max,
        shader_shared_float16_atomics, shader_shared_float16_atomic_add, shader_shared_float16_atomic_min_max,
        shader_shared_float32_atomic_min_max, shader_shared_float64_atomic_min_max,
        shader_image_float32_atomic_min_max, sparse_image_float32_atomic_min_max,
    }
    PhysicalDeviceBorderColorSwizzleFeaturesEXT { border_color_swizzle, border_color_swizzle_from_image }
    PhysicalDeviceComputeShaderDerivativesFeaturesNV {
        compute_derivative_group_quads, compute_derivative_group_linear,
    }
    PhysicalDeviceConditionalRenderingFeaturesEXT { conditional_rendering, inherited_conditional_rendering }
    PhysicalDeviceCooperativeMatrixFeaturesKHR { cooperative_matrix, cooperative_matrix_robust_buffer_access }
    PhysicalDeviceCopyMemoryIndirectFeaturesKHR { indirect_memory_copy, indirect_memory_to_image_copy }
    PhysicalDeviceCopyMemoryIndirectFeaturesNV { indirect_copy }
    PhysicalDevice4444FormatsFeaturesEXT { format_a4r4g4b4, format_a4b4g4r4 }
    PhysicalDeviceCustomBorderColorFeaturesEXT { custom_border_colors, custom_border_color_without_format }
    PhysicalDeviceDescriptorBufferFeaturesEXT {
        descriptor_buffer, descriptor_buffer_capture_replay, descriptor_buffer_image_layout_ignored,
        descriptor_buffer_push_descriptors,
    }
    PhysicalDeviceFaultFeaturesEXT { device_fault, device_fault_vendor_binary = FALSE }
    PhysicalDeviceImage2DViewOf3DFeaturesEXT { image2_d_view_of3_d, sampler2_d_view_of3_d }
    PhysicalDeviceMaintenance10FeaturesKHR { maintenance10 }
    PhysicalDeviceMaintenance7FeaturesKHR { maintenance7 }
    PhysicalDeviceMaintenance8FeaturesKHR { maintenance8 }
    PhysicalDeviceMaintenance9FeaturesKHR { maintenance9 }
    PhysicalDeviceMemoryPriorityFeaturesEXT { memory_priority }
    PhysicalDeviceMutableDescriptorTypeFeaturesEXT { mutable_descriptor_type }
    PhysicalDeviceNonSeamlessCubeMapFeaturesEXT { non_seamless_cube_map }
    PhysicalDevicePageableDeviceLocalMemoryFeaturesEXT { pageable_device_local_memory }
    PhysicalDevicePipelineExecutablePropertiesFeaturesKHR { pipeline_executable_info }
    PhysicalDeviceRobustness2FeaturesEXT { robust_buffer_access2, robust_image_access2, null_descriptor }
    PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR {
        workgroup_memory_explicit_layout, workgroup_memory_explicit_layout_scalar_block_layout,
        workgroup_memory_explicit_layout8_bit_access, workgroup_memory_explicit_layout16_bit_access,
    }
    PhysicalDeviceShaderBfloat16FeaturesKHR {
        shader_b_float16_type, shader_b_float16_dot_product, shader_b_float16_cooperative_matrix,
    }
    PhysicalDeviceShaderFloat8FeaturesEXT { shader_float8, shader_float8_cooperative_matrix }
    PhysicalDeviceShaderClockFeaturesKHR { shader_subgroup_clock, shader_device_clock }
    PhysicalDeviceShaderIntegerFunctions2FeaturesINTEL { shader_integer_functions2 }
    PhysicalDeviceShaderImageAtomicInt64FeaturesEXT { shader_image_int64_atomics, sparse_image_int64_atomics }
    PhysicalDeviceShaderLongVectorFeaturesEXT { long_vector }
    PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR { shader_maximal_reconvergence }
    PhysicalDeviceShaderObjectFeaturesEXT { shader_object }
    PhysicalDeviceShaderReplicatedCompositesFeaturesEXT { shader_replicated_composites }
    PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR { shader_subgroup_uniform_control_flow }
    PhysicalDeviceShaderUntypedPointersFeaturesKHR { shader_untyped_pointers }
    PhysicalDeviceTexelBufferAlignmentFeaturesEXT { texel_buffer_alignment }
    PhysicalDeviceYcbcr2Plane444FormatsFeaturesEXT { ycbcr2plane444_formats }
    PhysicalDeviceYcbcrImageArraysFeaturesEXT { ycbcr_image_arrays }
    PhysicalDeviceZeroInitializeDeviceMemoryFeaturesEXT { zero_initialize_device_memory }
};

/// The members of VkPhysicalDeviceFeatures, in order.
pub fn bools_v10(features: &vk::PhysicalDeviceFeatures) -> &[vk::Bool32] {
    // SAFETY: the structure has VkBool32 members only.
    unsafe { ffi::slice(std::ptr::from_ref(features).cast(), size_of::<vk::PhysicalDeviceFeatures>() / 4) }
}

/// Fills the known feature structures of an output chain.
pub(crate) fn fill_chain<'a>(features: &Features, chain: impl Iterator<Item = ffi::LinkMut<'a>>) {
    for mut link in chain {
        if let Some(row) = features.rows().find(|r| r.kind == link.kind) {
            (row.fill)(features, &mut link);
        }
    }
}

/// The place of the first feature that `requested` asks for and `supported` lacks.
pub fn first_refused(requested: &[vk::Bool32], supported: &[vk::Bool32]) -> Option<usize> {
    requested.iter().zip(supported).position(|(r, s)| *r != vk::FALSE && *s != vk::TRUE)
}

/// The names of the members of VkPhysicalDeviceFeatures, as Rust writes them, in order.
pub fn names_v10() -> Vec<String> {
    let shown = format!("{:?}", vk::PhysicalDeviceFeatures::default());
    let members = shown.trim_end_matches(" }").split_once("{ ").map_or("", |(_, members)| members);
    members.split(", ").filter_map(|member| Some(member.split_once(':')?.0.to_owned())).collect()
}

/// A member's name as the Vulkan header writes it.
pub fn header_name(member: &str) -> String {
    let mut name = String::new();
    for (n, word) in member.split('_').enumerate() {
        let (first, rest) = word.split_at(usize::from(n > 0 && !word.is_empty()));
        name.push_str(&first.to_uppercase());
        name.push_str(rest);
    }
    name
}

#[cfg(test)]
mod tests;
