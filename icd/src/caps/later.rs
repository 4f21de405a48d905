//! Structures of versions and extensions that are younger than the `ash` crate. They are found in chains and
//! filled like those that it has; their layout is asserted below.

use ash::vk;
use std::ffi::c_void;

macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident $number:literal { $($field:ident: $type:ty),* })*) => { $(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)]
        pub struct $name {
            pub s_type: vk::StructureType,
            pub p_next: *mut c_void,
            $(pub $field: $type),*
        }

        // SAFETY: the structure begins with sType and pNext, and the number is that of the registry.
        unsafe impl vk::TaggedStructure for $name {
            const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw($number);
        }

        impl Default for $name {
            fn default() -> $name {
                let s_type = <$name as vk::TaggedStructure>::STRUCTURE_TYPE;
                $name { s_type, p_next: std::ptr::null_mut(), $($field: Default::default()),* }
            }
        }

        // The members are words, one after the other, behind a header of 16 bytes.
        const _: () = {
            let members = [$(size_of::<$type>()),*];
            let mut k = 0;
            while k < members.len() {
                assert!(members[k] == 4);
                k += 1;
            }
            assert!(size_of::<$name>() == (16 + 4 * members.len()).next_multiple_of(8));
        };
    )* };
}

structures! {
    /// VkPhysicalDeviceVulkan14Features.
    PhysicalDeviceVulkan14Features 55 {
        global_priority_query: vk::Bool32, shader_subgroup_rotate: vk::Bool32,
        shader_subgroup_rotate_clustered: vk::Bool32, shader_float_controls2: vk::Bool32,
        shader_expect_assume: vk::Bool32, rectangular_lines: vk::Bool32, bresenham_lines: vk::Bool32,
        smooth_lines: vk::Bool32, stippled_rectangular_lines: vk::Bool32, stippled_bresenham_lines: vk::Bool32,
        stippled_smooth_lines: vk::Bool32, vertex_attribute_instance_rate_divisor: vk::Bool32,
        vertex_attribute_instance_rate_zero_divisor: vk::Bool32, index_type_uint8: vk::Bool32,
        dynamic_rendering_local_read: vk::Bool32, maintenance5: vk::Bool32, maintenance6: vk::Bool32,
        pipeline_protected_access: vk::Bool32, pipeline_robustness: vk::Bool32, host_image_copy: vk::Bool32,
        push_descriptor: vk::Bool32
    }
    /// VkPhysicalDeviceShaderBfloat16FeaturesKHR.
    PhysicalDeviceShaderBfloat16FeaturesKHR 1000141000 {
        shader_b_float16_type: vk::Bool32, shader_b_float16_dot_product: vk::Bool32,
        shader_b_float16_cooperative_matrix: vk::Bool32
    }
    /// VkPhysicalDeviceShaderUntypedPointersFeaturesKHR.
    PhysicalDeviceShaderUntypedPointersFeaturesKHR 1000387000 { shader_untyped_pointers: vk::Bool32 }
    /// VkPhysicalDeviceShaderReplicatedCompositesFeaturesEXT.
    PhysicalDeviceShaderReplicatedCompositesFeaturesEXT 1000564000 { shader_replicated_composites: vk::Bool32 }
    /// VkPhysicalDeviceShaderFloat8FeaturesEXT.
    PhysicalDeviceShaderFloat8FeaturesEXT 1000567000 {
        shader_float8: vk::Bool32, shader_float8_cooperative_matrix: vk::Bool32
    }
    /// VkPhysicalDeviceMaintenance10FeaturesKHR.
    PhysicalDeviceMaintenance10FeaturesKHR 1000630000 { maintenance10: vk::Bool32 }
    /// VkPhysicalDeviceMaintenance10PropertiesKHR.
    PhysicalDeviceMaintenance10PropertiesKHR 1000630001 {
        rgba4_opaque_black_swizzled: vk::Bool32,
        resolve_srgb_format_applies_transfer_function: vk::Bool32,
        resolve_srgb_format_supports_transfer_function_control: vk::Bool32
    }
    /// VkRenderingAttachmentFlagsInfoKHR.
    RenderingAttachmentFlagsInfoKHR 1000630002 { flags: vk::Flags }
    /// VkResolveImageModeInfoKHR.
    ResolveImageModeInfoKHR 1000630004 {
        flags: vk::Flags, resolve_mode: vk::ResolveModeFlags, stencil_resolve_mode: vk::ResolveModeFlags
    }
    /// VkPhysicalDeviceMaintenance9FeaturesKHR.
    PhysicalDeviceMaintenance9FeaturesKHR 1000584000 { maintenance9: vk::Bool32 }
    /// VkPhysicalDeviceMaintenance9PropertiesKHR.
    PhysicalDeviceMaintenance9PropertiesKHR 1000584001 {
        image2_d_view_of3_d_sparse: vk::Bool32, default_vertex_attribute_value: i32
    }
    /// VkQueueFamilyOwnershipTransferPropertiesKHR.
    QueueFamilyOwnershipTransferPropertiesKHR 1000584002 { optimal_image_transfer_to_queue_families: u32 }
    /// VkPhysicalDeviceMaintenance7FeaturesKHR.
    PhysicalDeviceMaintenance7FeaturesKHR 1000562000 { maintenance7: vk::Bool32 }
    /// VkPhysicalDeviceMaintenance7PropertiesKHR.
    PhysicalDeviceMaintenance7PropertiesKHR 1000562001 {
        robust_fragment_shading_rate_attachment_access: vk::Bool32,
        separate_depth_stencil_attachment_access: vk::Bool32,
        max_descriptor_set_total_uniform_buffers_dynamic: u32,
        max_descriptor_set_total_storage_buffers_dynamic: u32,
        max_descriptor_set_total_buffers_dynamic: u32,
        max_descriptor_set_update_after_bind_total_uniform_buffers_dynamic: u32,
        max_descriptor_set_update_after_bind_total_storage_buffers_dynamic: u32,
        max_descriptor_set_update_after_bind_total_buffers_dynamic: u32
    }
    /// VkPhysicalDeviceLayeredApiPropertiesListKHR, as far as nothing is written behind its pointer.
    PhysicalDeviceLayeredApiPropertiesListKHR 1000562002 { layered_api_count: u32 }
    /// VkPhysicalDeviceMaintenance8FeaturesKHR.
    PhysicalDeviceMaintenance8FeaturesKHR 1000574000 { maintenance8: vk::Bool32 }
    /// VkPhysicalDeviceComputeShaderDerivativesPropertiesKHR.
    PhysicalDeviceComputeShaderDerivativesPropertiesKHR 1000511000 {
        mesh_and_task_shader_derivatives: vk::Bool32
    }
    /// VkPhysicalDeviceCopyMemoryIndirectFeaturesKHR.
    PhysicalDeviceCopyMemoryIndirectFeaturesKHR 1000549000 {
        indirect_memory_copy: vk::Bool32, indirect_memory_to_image_copy: vk::Bool32
    }
    /// VkPhysicalDeviceZeroInitializeDeviceMemoryFeaturesEXT.
    PhysicalDeviceZeroInitializeDeviceMemoryFeaturesEXT 1000620000 {
        zero_initialize_device_memory: vk::Bool32
    }
    /// VkPhysicalDeviceShaderLongVectorFeaturesEXT.
    PhysicalDeviceShaderLongVectorFeaturesEXT 1000635000 { long_vector: vk::Bool32 }
    /// VkPhysicalDeviceShaderLongVectorPropertiesEXT.
    PhysicalDeviceShaderLongVectorPropertiesEXT 1000635001 { max_vector_components: u32 }
}

/// VkPhysicalDeviceVulkan14Properties.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct PhysicalDeviceVulkan14Properties {
    pub s_type: vk::StructureType,
    pub p_next: *mut c_void,
    pub line_sub_pixel_precision_bits: u32,
    pub max_vertex_attrib_divisor: u32,
    pub supports_non_zero_first_instance: vk::Bool32,
    pub max_push_descriptors: u32,
    pub dynamic_rendering_local_read_depth_stencil_attachments: vk::Bool32,
    pub dynamic_rendering_local_read_multisampled_attachments: vk::Bool32,
    pub early_fragment_multisample_coverage_after_sample_counting: vk::Bool32,
    pub early_fragment_sample_mask_test_before_sample_counting: vk::Bool32,
    pub depth_stencil_swizzle_one_support: vk::Bool32,
    pub polygon_mode_point_size: vk::Bool32,
    pub non_strict_single_pixel_wide_lines_use_parallelogram: vk::Bool32,
    pub non_strict_wide_lines_use_parallelogram: vk::Bool32,
    pub block_texel_view_compatible_multiple_layers: vk::Bool32,
    pub max_combined_image_sampler_descriptor_count: u32,
    pub fragment_shading_rate_clamp_combiner_inputs: vk::Bool32,
    pub default_robustness_storage_buffers: vk::PipelineRobustnessBufferBehaviorEXT,
    pub default_robustness_uniform_buffers: vk::PipelineRobustnessBufferBehaviorEXT,
    pub default_robustness_vertex_inputs: vk::PipelineRobustnessBufferBehaviorEXT,
    pub default_robustness_images: vk::PipelineRobustnessImageBehaviorEXT,
    pub copy_src_layout_count: u32,
    pub p_copy_src_layouts: *mut vk::ImageLayout,
    pub copy_dst_layout_count: u32,
    pub p_copy_dst_layouts: *mut vk::ImageLayout,
    pub optimal_tiling_layout_uuid: [u8; vk::UUID_SIZE],
    pub identical_memory_type_requirements: vk::Bool32,
}

// SAFETY: the structure begins with sType and pNext, and the number is that of the registry.
unsafe impl vk::TaggedStructure for PhysicalDeviceVulkan14Properties {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(56);
}

// Twenty words behind the header of 16 bytes; a pointer, a word and its padding, a pointer; the UUID; a word
// and its padding.
const _: () = {
    assert!(std::mem::offset_of!(PhysicalDeviceVulkan14Properties, p_copy_src_layouts) == 16 + 20 * 4);
    assert!(std::mem::offset_of!(PhysicalDeviceVulkan14Properties, optimal_tiling_layout_uuid) == 96 + 24);
    assert!(size_of::<PhysicalDeviceVulkan14Properties>() == 120 + 16 + 8);
};

/// VK_COMPONENT_TYPE_BFLOAT16_KHR.
pub const BFLOAT16: vk::ComponentTypeKHR = vk::ComponentTypeKHR::from_raw(1_000_141_000);
/// VK_COMPONENT_TYPE_FLOAT8_E4M3_EXT.
pub const E4M3: vk::ComponentTypeKHR = vk::ComponentTypeKHR::from_raw(1_000_491_002);
/// VK_COMPONENT_TYPE_FLOAT8_E5M2_EXT.
pub const E5M2: vk::ComponentTypeKHR = vk::ComponentTypeKHR::from_raw(1_000_491_003);
/// VkStridedDeviceAddressRangeKHR.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct StridedDeviceAddressRangeKHR {
    pub address: vk::DeviceAddress,
    pub size: vk::DeviceSize,
    pub stride: vk::DeviceSize,
}

/// VkCopyMemoryIndirectInfoKHR.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CopyMemoryIndirectInfoKHR {
    pub s_type: vk::StructureType,
    pub p_next: *const c_void,
    pub src_copy_flags: vk::Flags,
    pub dst_copy_flags: vk::Flags,
    pub copy_count: u32,
    pub copy_address_range: StridedDeviceAddressRangeKHR,
}

/// VkCopyMemoryToImageIndirectInfoKHR.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CopyMemoryToImageIndirectInfoKHR {
    pub s_type: vk::StructureType,
    pub p_next: *const c_void,
    pub src_copy_flags: vk::Flags,
    pub copy_count: u32,
    pub copy_address_range: StridedDeviceAddressRangeKHR,
    pub dst_image: vk::Image,
    pub dst_image_layout: vk::ImageLayout,
    pub p_image_subresources: *const vk::ImageSubresourceLayers,
}

// As the C compiler lays them out.
const _: () = {
    assert!(size_of::<CopyMemoryIndirectInfoKHR>() == 56);
    assert!(size_of::<CopyMemoryToImageIndirectInfoKHR>() == 72);
};

/// The type of vkCmdCopyMemoryIndirectKHR.
#[allow(non_camel_case_types)]
pub type PFN_vkCmdCopyMemoryIndirectKHR =
    unsafe extern "system" fn(vk::CommandBuffer, *const CopyMemoryIndirectInfoKHR);
/// The type of vkCmdCopyMemoryToImageIndirectKHR.
#[allow(non_camel_case_types)]
pub type PFN_vkCmdCopyMemoryToImageIndirectKHR =
    unsafe extern "system" fn(vk::CommandBuffer, *const CopyMemoryToImageIndirectInfoKHR);

/// The type of vkCmdEndRendering2KHR: VkRenderingEndInfoKHR is a header alone.
#[allow(non_camel_case_types)]
pub type PFN_vkCmdEndRendering2KHR =
    unsafe extern "system" fn(vk::CommandBuffer, *const vk::BaseInStructure<'_>);

/// VK_FORMAT_FEATURE_2_DEPTH_COPY_ON_COMPUTE_QUEUE_BIT_KHR and _TRANSFER_QUEUE_.
pub const DEPTH_COPY: vk::FormatFeatureFlags2 = vk::FormatFeatureFlags2::from_raw(3 << 52);
/// VK_FORMAT_FEATURE_2_STENCIL_COPY_ON_COMPUTE_QUEUE_BIT_KHR and _TRANSFER_QUEUE_.
pub const STENCIL_COPY: vk::FormatFeatureFlags2 = vk::FormatFeatureFlags2::from_raw(3 << 54);
/// VK_ATTACHMENT_DESCRIPTION_RESOLVE_SKIP_TRANSFER_FUNCTION_BIT_KHR and _ENABLE_.
pub const TRANSFER_FUNCTION: vk::AttachmentDescriptionFlags = vk::AttachmentDescriptionFlags::from_raw(6);
/// VK_DEPENDENCY_QUEUE_FAMILY_OWNERSHIP_TRANSFER_USE_ALL_STAGES_BIT_KHR.
pub const TRANSFER_USE_ALL_STAGES: vk::DependencyFlags = vk::DependencyFlags::from_raw(0x20);
/// VK_PIPELINE_STAGE_2_COPY_INDIRECT_BIT_KHR.
pub const COPY_INDIRECT: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::from_raw(1 << 46);
/// VK_FORMAT_FEATURE_2_COPY_IMAGE_INDIRECT_DST_BIT_KHR.
pub const COPY_IMAGE_INDIRECT_DST: vk::FormatFeatureFlags2 = vk::FormatFeatureFlags2::from_raw(1 << 59);
/// VK_MEMORY_ALLOCATE_ZERO_INITIALIZE_BIT_EXT.
pub const ZERO_INITIALIZE: vk::MemoryAllocateFlags = vk::MemoryAllocateFlags::from_raw(8);
/// VK_IMAGE_LAYOUT_ZERO_INITIALIZED_EXT.
pub const ZERO_INITIALIZED: vk::ImageLayout = vk::ImageLayout::from_raw(1_000_620_000);

/// The name of an image layout, without its prefix.
pub fn layout_name(layout: vk::ImageLayout) -> String {
    if layout == ZERO_INITIALIZED { "ZERO_INITIALIZED_EXT".to_owned() } else { format!("{layout:?}") }
}
