//! Graphics: nothing draws. Graphics pipelines can be created, bound and destroyed, because applications make
//! them unasked, or before they know what they will do; state that is set has no effect; what would draw is
//! refused by name.

use crate::boundary::entries;
use crate::command::buffer::push;
use crate::command::pass::RenderPass;
use crate::device::Device;
use crate::entry::pipeline;
use crate::entry::pipeline_cache::PipelineCache;
use crate::entry::pipeline_layout::PipelineLayout;
use crate::entry::shader::ShaderModule;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use std::sync::Arc;

/// A graphics pipeline: it can be bound, and nothing draws with it. Its shaders are not looked at.
pub struct GraphicsPipeline;

object!(GraphicsPipeline, vk::Pipeline, kind::GRAPHICS_PIPELINE);

/// # Safety
/// `info` is the application's.
unsafe fn create_pipeline(info: &vk::GraphicsPipelineCreateInfo<'_>) -> Outcome<vk::Pipeline> {
    handle::get_optional::<PipelineLayout>(info.layout)?;
    handle::get_optional::<RenderPass>(info.render_pass)?;
    // SAFETY: the contract.
    for stage in unsafe { ffi::slice(info.p_stages, info.stage_count) } {
        handle::get_optional::<ShaderModule>(stage.module)?;
    }
    Ok(handle::insert(Arc::new(GraphicsPipeline)))
}

entries! {
    fn create_graphics_pipelines(
        _device: Arc<Device>,
        cache: vk::PipelineCache,
        count: u32,
        infos: *const vk::GraphicsPipelineCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Pipeline,
    ) -> vk::Result {
        handle::get_optional::<PipelineCache>(cache)?;
        pipeline::create_each(ffi::slice(infos, count), ffi::slice_mut(out, count), |info| create_pipeline(info))
    }
}

/// Commands that set state which nothing reads.
macro_rules! state {
    ($($name:ident = $vk:literal ($($type:ty),*);)*) => { $(
        #[doc = $vk]
        pub(crate) unsafe extern "system" fn $name(buffer: vk::CommandBuffer $(, _: $type)*) {
            crate::boundary::guard(buffer, $vk, move || push(buffer, |_, _| Ok(())))
        }
    )* };
}

/// Commands that poison the command buffer.
macro_rules! refused {
    ($($name:ident = $vk:literal ($($type:ty),*);)*) => { $(
        #[doc = $vk]
        pub(crate) unsafe extern "system" fn $name(buffer: vk::CommandBuffer $(, _: $type)*) {
            crate::boundary::guard(buffer, $vk, move || push(buffer, |_, _| Err(Error::not_implemented($vk))))
        }
    )* };
}

state! {
    cmd_set_viewport = "vkCmdSetViewport" (u32, u32, *const vk::Viewport);
    cmd_set_scissor = "vkCmdSetScissor" (u32, u32, *const vk::Rect2D);
    cmd_set_line_width = "vkCmdSetLineWidth" (f32);
    cmd_set_depth_bias = "vkCmdSetDepthBias" (f32, f32, f32);
    cmd_set_blend_constants = "vkCmdSetBlendConstants" (*const [f32; 4usize]);
    cmd_set_depth_bounds = "vkCmdSetDepthBounds" (f32, f32);
    cmd_set_stencil_compare_mask = "vkCmdSetStencilCompareMask" (vk::StencilFaceFlags, u32);
    cmd_set_stencil_write_mask = "vkCmdSetStencilWriteMask" (vk::StencilFaceFlags, u32);
    cmd_set_stencil_reference = "vkCmdSetStencilReference" (vk::StencilFaceFlags, u32);
    cmd_bind_index_buffer = "vkCmdBindIndexBuffer" (vk::Buffer, vk::DeviceSize, vk::IndexType);
    cmd_bind_index_buffer2 = "vkCmdBindIndexBuffer2" (vk::Buffer, vk::DeviceSize, vk::DeviceSize, vk::IndexType);
    cmd_bind_vertex_buffers = "vkCmdBindVertexBuffers" (u32, u32, *const vk::Buffer, *const vk::DeviceSize);
    cmd_set_cull_mode = "vkCmdSetCullMode" (vk::CullModeFlags);
    cmd_set_front_face = "vkCmdSetFrontFace" (vk::FrontFace);
    cmd_set_primitive_topology = "vkCmdSetPrimitiveTopology" (vk::PrimitiveTopology);
    cmd_set_viewport_with_count = "vkCmdSetViewportWithCount" (u32, *const vk::Viewport);
    cmd_set_scissor_with_count = "vkCmdSetScissorWithCount" (u32, *const vk::Rect2D);
    cmd_bind_vertex_buffers2 = "vkCmdBindVertexBuffers2" (u32, u32, *const vk::Buffer, *const vk::DeviceSize, *const vk::DeviceSize, *const vk::DeviceSize);
    cmd_set_depth_test_enable = "vkCmdSetDepthTestEnable" (vk::Bool32);
    cmd_set_depth_write_enable = "vkCmdSetDepthWriteEnable" (vk::Bool32);
    cmd_set_depth_compare_op = "vkCmdSetDepthCompareOp" (vk::CompareOp);
    cmd_set_depth_bounds_test_enable = "vkCmdSetDepthBoundsTestEnable" (vk::Bool32);
    cmd_set_stencil_test_enable = "vkCmdSetStencilTestEnable" (vk::Bool32);
    cmd_set_stencil_op = "vkCmdSetStencilOp" (vk::StencilFaceFlags, vk::StencilOp, vk::StencilOp, vk::StencilOp, vk::CompareOp);
    cmd_set_rasterizer_discard_enable = "vkCmdSetRasterizerDiscardEnable" (vk::Bool32);
    cmd_set_depth_bias_enable = "vkCmdSetDepthBiasEnable" (vk::Bool32);
    cmd_set_primitive_restart_enable = "vkCmdSetPrimitiveRestartEnable" (vk::Bool32);
    cmd_set_vertex_input = "vkCmdSetVertexInputEXT" (u32, *const vk::VertexInputBindingDescription2EXT<'_>, u32, *const vk::VertexInputAttributeDescription2EXT<'_>);
    cmd_set_patch_control_points = "vkCmdSetPatchControlPointsEXT" (u32);
    cmd_set_logic_op = "vkCmdSetLogicOpEXT" (vk::LogicOp);
    cmd_set_tessellation_domain_origin = "vkCmdSetTessellationDomainOriginEXT" (vk::TessellationDomainOrigin);
    cmd_set_depth_clamp_enable = "vkCmdSetDepthClampEnableEXT" (vk::Bool32);
    cmd_set_polygon_mode = "vkCmdSetPolygonModeEXT" (vk::PolygonMode);
    cmd_set_rasterization_samples = "vkCmdSetRasterizationSamplesEXT" (vk::SampleCountFlags);
    cmd_set_sample_mask = "vkCmdSetSampleMaskEXT" (vk::SampleCountFlags, *const vk::SampleMask);
    cmd_set_alpha_to_coverage_enable = "vkCmdSetAlphaToCoverageEnableEXT" (vk::Bool32);
    cmd_set_alpha_to_one_enable = "vkCmdSetAlphaToOneEnableEXT" (vk::Bool32);
    cmd_set_logic_op_enable = "vkCmdSetLogicOpEnableEXT" (vk::Bool32);
    cmd_set_color_blend_enable = "vkCmdSetColorBlendEnableEXT" (u32, u32, *const vk::Bool32);
    cmd_set_color_blend_equation = "vkCmdSetColorBlendEquationEXT" (u32, u32, *const vk::ColorBlendEquationEXT);
    cmd_set_line_stipple = "vkCmdSetLineStipple" (u32, u16);
    cmd_set_rendering_attachment_locations = "vkCmdSetRenderingAttachmentLocations" (*const vk::RenderingAttachmentLocationInfoKHR<'_>);
    cmd_set_rendering_input_attachment_indices = "vkCmdSetRenderingInputAttachmentIndices" (*const vk::RenderingInputAttachmentIndexInfoKHR<'_>);
    cmd_set_color_write_mask = "vkCmdSetColorWriteMaskEXT" (u32, u32, *const vk::ColorComponentFlags);
}

refused! {
    cmd_draw = "vkCmdDraw" (u32, u32, u32, u32);
    cmd_draw_indexed = "vkCmdDrawIndexed" (u32, u32, u32, i32, u32);
    cmd_draw_indirect = "vkCmdDrawIndirect" (vk::Buffer, vk::DeviceSize, u32, u32);
    cmd_draw_indexed_indirect = "vkCmdDrawIndexedIndirect" (vk::Buffer, vk::DeviceSize, u32, u32);
    cmd_draw_indirect_count = "vkCmdDrawIndirectCount" (vk::Buffer, vk::DeviceSize, vk::Buffer, vk::DeviceSize, u32, u32);
    cmd_draw_indexed_indirect_count = "vkCmdDrawIndexedIndirectCount" (vk::Buffer, vk::DeviceSize, vk::Buffer, vk::DeviceSize, u32, u32);
}
