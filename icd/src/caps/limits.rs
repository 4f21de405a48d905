//! Limits.

use super::memory;
use super::{ALIGNMENT, BOUND_SETS, Caps, DESCRIPTORS, PUSH_CONSTANTS, SHARED_MEMORY};
use ash::vk;
use vk::SampleCountFlags as Samples;

/// Largest width and height of an image.
pub const IMAGE_SIZE: u32 = 16384;
/// Largest width, height and depth of a 3D image.
pub const IMAGE_SIZE_3D: u32 = 2048;
/// Largest number of array layers.
pub const IMAGE_LAYERS: u32 = 2048;
/// `maxMemoryAllocationCount`.
pub const ALLOCATIONS: u32 = 16384;
/// `maxSamplerAllocationCount`.
pub const SAMPLERS: u32 = 65536;
/// `maxStorageBufferRange`, in bytes.
pub const STORAGE_RANGE: u32 = 1 << 31;

/// VkPhysicalDeviceLimits. What belongs to graphics has the smallest value that the specification allows
/// (*Required Limits*), or the one that clients ask of a queue family with graphics.
pub fn limits(caps: &Caps) -> vk::PhysicalDeviceLimits {
    let graphics = |without: u32, with: u32| if caps.pretend_graphics { with } else { without };
    let interpolation = if caps.pretend_graphics { 0.5 } else { 0.0 };
    let points = caps.pretend_graphics && caps.has_1_4();
    let point_granularity = if points { 0.125 } else { 0.0 };
    let ms = Samples::TYPE_1 | Samples::TYPE_4;
    vk::PhysicalDeviceLimits {
        max_image_dimension1_d: IMAGE_SIZE,
        max_image_dimension2_d: IMAGE_SIZE,
        max_image_dimension3_d: IMAGE_SIZE_3D,
        max_image_dimension_cube: IMAGE_SIZE,
        max_image_array_layers: IMAGE_LAYERS,
        max_texel_buffer_elements: 1 << 27,
        max_uniform_buffer_range: 65536,
        max_storage_buffer_range: STORAGE_RANGE,
        max_push_constants_size: PUSH_CONSTANTS,
        max_memory_allocation_count: ALLOCATIONS,
        max_sampler_allocation_count: SAMPLERS,
        buffer_image_granularity: 1,
        sparse_address_space_size: memory::SPARSE_ADDRESS_SPACE,
        max_bound_descriptor_sets: BOUND_SETS,
        max_per_stage_descriptor_samplers: DESCRIPTORS,
        max_per_stage_descriptor_uniform_buffers: DESCRIPTORS,
        max_per_stage_descriptor_storage_buffers: DESCRIPTORS,
        max_per_stage_descriptor_sampled_images: DESCRIPTORS,
        max_per_stage_descriptor_storage_images: DESCRIPTORS,
        max_per_stage_descriptor_input_attachments: DESCRIPTORS,
        max_per_stage_resources: DESCRIPTORS * 8,
        max_descriptor_set_samplers: DESCRIPTORS,
        max_descriptor_set_uniform_buffers: DESCRIPTORS,
        max_descriptor_set_uniform_buffers_dynamic: 64,
        max_descriptor_set_storage_buffers: DESCRIPTORS,
        max_descriptor_set_storage_buffers_dynamic: 64,
        max_descriptor_set_sampled_images: DESCRIPTORS,
        max_descriptor_set_storage_images: DESCRIPTORS,
        max_descriptor_set_input_attachments: DESCRIPTORS,
        max_vertex_input_attributes: 16,
        max_vertex_input_bindings: 16,
        max_vertex_input_attribute_offset: 2047,
        max_vertex_input_binding_stride: 2048,
        max_vertex_output_components: graphics(64, 128),
        max_tessellation_generation_level: 0,
        max_tessellation_patch_size: 0,
        max_tessellation_control_per_vertex_input_components: 0,
        max_tessellation_control_per_vertex_output_components: 0,
        max_tessellation_control_per_patch_output_components: 0,
        max_tessellation_control_total_output_components: 0,
        max_tessellation_evaluation_input_components: 0,
        max_tessellation_evaluation_output_components: 0,
        max_geometry_shader_invocations: 0,
        max_geometry_input_components: 0,
        max_geometry_output_components: 0,
        max_geometry_output_vertices: 0,
        max_geometry_total_output_components: 0,
        max_fragment_input_components: graphics(64, 128),
        max_fragment_output_attachments: graphics(4, 8),
        max_fragment_dual_src_attachments: 0,
        max_fragment_combined_output_resources: DESCRIPTORS,
        max_compute_shared_memory_size: SHARED_MEMORY,
        max_compute_work_group_count: [65535; 3],
        max_compute_work_group_invocations: caps.workgroup_invocations,
        max_compute_work_group_size: [caps.workgroup_invocations, caps.workgroup_invocations, 64],
        sub_pixel_precision_bits: 4,
        sub_texel_precision_bits: 8,
        mipmap_precision_bits: 8,
        max_draw_indexed_index_value: graphics((1 << 24) - 1, u32::MAX),
        max_draw_indirect_count: 1,
        max_sampler_lod_bias: 16.0,
        max_sampler_anisotropy: 16.0,
        max_viewports: 1,
        max_viewport_dimensions: [IMAGE_SIZE; 2],
        viewport_bounds_range: [-2.0 * IMAGE_SIZE as f32, 2.0 * IMAGE_SIZE as f32 - 1.0],
        viewport_sub_pixel_bits: 0,
        min_memory_map_alignment: 4096,
        min_texel_buffer_offset_alignment: ALIGNMENT,
        min_uniform_buffer_offset_alignment: ALIGNMENT,
        min_storage_buffer_offset_alignment: ALIGNMENT,
        min_texel_offset: -8,
        max_texel_offset: 7,
        min_texel_gather_offset: -8,
        max_texel_gather_offset: 7,
        min_interpolation_offset: -interpolation,
        max_interpolation_offset: interpolation,
        sub_pixel_interpolation_offset_bits: graphics(0, 4),
        max_framebuffer_width: IMAGE_SIZE,
        max_framebuffer_height: IMAGE_SIZE,
        max_framebuffer_layers: 256,
        framebuffer_color_sample_counts: ms,
        framebuffer_depth_sample_counts: ms,
        framebuffer_stencil_sample_counts: ms,
        framebuffer_no_attachments_sample_counts: ms,
        max_color_attachments: if caps.pretend_graphics || caps.has_1_4() { 8 } else { 4 },
        sampled_image_color_sample_counts: ms,
        sampled_image_integer_sample_counts: ms,
        sampled_image_depth_sample_counts: ms,
        sampled_image_stencil_sample_counts: ms,
        storage_image_sample_counts: ms,
        max_sample_mask_words: 1,
        timestamp_compute_and_graphics: vk::TRUE,
        timestamp_period: 1.0,
        max_clip_distances: 0,
        max_cull_distances: 0,
        max_combined_clip_and_cull_distances: 0,
        discrete_queue_priorities: 2,
        point_size_range: [1.0, if points { 256.0 - point_granularity } else { 1.0 }],
        line_width_range: [1.0; 2],
        point_size_granularity: point_granularity,
        line_width_granularity: 0.0,
        strict_lines: vk::FALSE,
        standard_sample_locations: vk::TRUE,
        optimal_buffer_copy_offset_alignment: ALIGNMENT,
        optimal_buffer_copy_row_pitch_alignment: ALIGNMENT,
        non_coherent_atom_size: pellucid_memory::device::ATOM,
    }
}
