//! Graphics: there is none. State that is set has no effect; what would draw, and objects that only graphics
//! uses, are refused by name. They all resolve, because some applications call them unasked.

use crate::boundary::entries;
use crate::command::buffer::push;
use crate::device::Device;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use ash::vk;

/// # Safety
/// `out` is the application's.
unsafe fn refuse<T: Default>(device: vk::Device, name: &str, count: u32, out: *mut T) -> Outcome<()> {
    // SAFETY: the contract.
    unsafe {
        handle::dispatchable::<Device>(device)?;
        ffi::slice_mut(out, count).fill_with(T::default);
        Err(Error::not_implemented(name))
    }
}

entries! {
    /// vkCreateGraphicsPipelines.
    fn create_graphics_pipelines(
        device: vk::Device,
        _cache: vk::PipelineCache,
        count: u32,
        _infos: *const vk::GraphicsPipelineCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Pipeline,
    ) -> vk::Result {
        refuse(device, "graphics pipelines", count, out)
    }

    /// vkCreateRenderPass.
    fn create_render_pass(
        device: vk::Device,
        _info: *const vk::RenderPassCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::RenderPass,
    ) -> vk::Result {
        refuse(device, "render passes", 1, out)
    }

    /// vkCreateRenderPass2.
    fn create_render_pass2(
        device: vk::Device,
        _info: *const vk::RenderPassCreateInfo2<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::RenderPass,
    ) -> vk::Result {
        refuse(device, "render passes", 1, out)
    }

    /// vkDestroyRenderPass: there is none to destroy.
    fn destroy_render_pass(
        device: vk::Device,
        _pass: vk::RenderPass,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::dispatchable::<Device>(device)?;
        Ok(())
    }

    /// vkCreateFramebuffer.
    fn create_framebuffer(
        device: vk::Device,
        _info: *const vk::FramebufferCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Framebuffer,
    ) -> vk::Result {
        refuse(device, "framebuffers", 1, out)
    }

    /// vkDestroyFramebuffer: there is none to destroy.
    fn destroy_framebuffer(
        device: vk::Device,
        _framebuffer: vk::Framebuffer,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::dispatchable::<Device>(device)?;
        Ok(())
    }

    /// vkGetRenderAreaGranularity.
    fn get_render_area_granularity(device: vk::Device, _pass: vk::RenderPass, out: *mut vk::Extent2D) {
        handle::dispatchable::<Device>(device)?;
        ffi::write(out, vk::Extent2D { width: 1, height: 1 })
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
}

refused! {
    cmd_draw = "vkCmdDraw" (u32, u32, u32, u32);
    cmd_draw_indexed = "vkCmdDrawIndexed" (u32, u32, u32, i32, u32);
    cmd_draw_indirect = "vkCmdDrawIndirect" (vk::Buffer, vk::DeviceSize, u32, u32);
    cmd_draw_indexed_indirect = "vkCmdDrawIndexedIndirect" (vk::Buffer, vk::DeviceSize, u32, u32);
    cmd_clear_depth_stencil_image = "vkCmdClearDepthStencilImage" (vk::Image, vk::ImageLayout, *const vk::ClearDepthStencilValue, u32, *const vk::ImageSubresourceRange);
    cmd_clear_attachments = "vkCmdClearAttachments" (u32, *const vk::ClearAttachment, u32, *const vk::ClearRect);
    cmd_begin_render_pass = "vkCmdBeginRenderPass" (*const vk::RenderPassBeginInfo<'_>, vk::SubpassContents);
    cmd_next_subpass = "vkCmdNextSubpass" (vk::SubpassContents);
    cmd_end_render_pass = "vkCmdEndRenderPass" ();
    cmd_draw_indirect_count = "vkCmdDrawIndirectCount" (vk::Buffer, vk::DeviceSize, vk::Buffer, vk::DeviceSize, u32, u32);
    cmd_draw_indexed_indirect_count = "vkCmdDrawIndexedIndirectCount" (vk::Buffer, vk::DeviceSize, vk::Buffer, vk::DeviceSize, u32, u32);
    cmd_begin_render_pass2 = "vkCmdBeginRenderPass2" (*const vk::RenderPassBeginInfo<'_>, *const vk::SubpassBeginInfo<'_>);
    cmd_next_subpass2 = "vkCmdNextSubpass2" (*const vk::SubpassBeginInfo<'_>, *const vk::SubpassEndInfo<'_>);
    cmd_end_render_pass2 = "vkCmdEndRenderPass2" (*const vk::SubpassEndInfo<'_>);
    cmd_begin_rendering = "vkCmdBeginRendering" (*const vk::RenderingInfo<'_>);
    cmd_end_rendering = "vkCmdEndRendering" ();
}
