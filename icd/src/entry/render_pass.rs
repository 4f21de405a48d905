//! VkRenderPass, VkFramebuffer and the commands that begin and end rendering. Nothing draws, but load
//! operations, resolves, layout transitions and vkCmdClearAttachments write images.

use crate::boundary::{creates, destroys, entries};
use crate::caps::later::{RenderingAttachmentFlagsInfoKHR, TRANSFER_FUNCTION};
use crate::command::attachment::{AttachmentClear, AttachmentUse, Does, Rendering, Step, Target, merged};
use crate::command::buffer::{Recorder, push, record};
use crate::command::pass::{
    Attachment, AttachmentReference, Framebuffer, Recording, RenderPass, RenderPassInstance, Subpass,
    SubpassDependency, layers_of, load, resolve, store,
};
use crate::command::{Command, Half};
use crate::device::Device;
use crate::entry::command_sync::{accesses, stages};
use crate::entry::image_view::ImageView;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use ash::vk;
use std::sync::Arc;

/// # Safety
/// The pointer is the application's.
unsafe fn references<T>(
    list: *const T,
    count: u32,
    reference: impl Fn(&T) -> Option<AttachmentReference>,
) -> Vec<Option<AttachmentReference>> {
    // SAFETY: the contract.
    unsafe { ffi::slice(list, count) }.iter().map(reference).collect()
}

impl RenderPass {
    fn checked(self) -> Outcome<RenderPass> {
        let known = |r: &AttachmentReference| r.attachment < self.attachments.len();
        if self.subpasses.is_empty() || !self.subpasses.iter().flat_map(Subpass::references).all(known) {
            return Err(Error::usage("a subpass uses an attachment that the render pass does not have"));
        }
        Ok(self)
    }

    /// # Safety
    /// `info` is the application's.
    unsafe fn new(info: &vk::RenderPassCreateInfo<'_>) -> Outcome<RenderPass> {
        let reference = |r: &vk::AttachmentReference| {
            let used = r.attachment != vk::ATTACHMENT_UNUSED;
            used.then_some(AttachmentReference { attachment: r.attachment as usize, layouts: [r.layout; 2] })
        };
        // SAFETY: the contract.
        unsafe {
            let mut attachments = ffi::slice(info.p_attachments, info.attachment_count).iter();
            no_control(attachments.any(|a| a.flags.intersects(TRANSFER_FUNCTION)))?;
            let attachment = |a: &vk::AttachmentDescription| Attachment {
                load: [a.load_op, a.stencil_load_op],
                store: [a.store_op, a.stencil_store_op],
                initial: [a.initial_layout; 2],
                last: [a.final_layout; 2],
            };
            let multiview = ffi::find::<vk::RenderPassMultiviewCreateInfo<'_>>(info.p_next);
            let views = multiview.map_or(&[][..], |m| ffi::slice(m.p_view_masks, m.subpass_count));
            let subpass = |(index, s): (usize, &vk::SubpassDescription<'_>)| Subpass {
                inputs: references(s.p_input_attachments, s.input_attachment_count, reference),
                colors: references(s.p_color_attachments, s.color_attachment_count, reference),
                resolves: references(s.p_resolve_attachments, s.color_attachment_count, reference),
                depth: ffi::optional(s.p_depth_stencil_attachment).and_then(reference),
                depth_resolve: None,
                views: views.get(index).copied().unwrap_or(0),
            };
            let dependency = |d: &vk::SubpassDependency| SubpassDependency {
                between: (d.src_subpass, d.dst_subpass),
                from: Half { stages: stages(d.src_stage_mask), accesses: accesses(d.src_access_mask) },
                to: Half { stages: stages(d.dst_stage_mask), accesses: accesses(d.dst_access_mask) },
            };
            let subpasses = ffi::slice(info.p_subpasses, info.subpass_count);
            let dependencies = ffi::slice(info.p_dependencies, info.dependency_count);
            let pass = RenderPass {
                attachments: ffi::slice(info.p_attachments, info.attachment_count)
                    .iter()
                    .map(attachment)
                    .collect(),
                subpasses: subpasses.iter().enumerate().map(subpass).collect(),
                dependencies: dependencies.iter().map(dependency).collect(),
            };
            pass.checked()
        }
    }

    /// # Safety
    /// `info` is the application's.
    unsafe fn new2(info: &vk::RenderPassCreateInfo2<'_>) -> Outcome<RenderPass> {
        // SAFETY: the contract.
        unsafe {
            let reference = |r: &vk::AttachmentReference2<'_>| {
                let stencil = ffi::find::<vk::AttachmentReferenceStencilLayout<'_>>(r.p_next);
                let layouts = [r.layout, stencil.map_or(r.layout, |s| s.stencil_layout)];
                let used = r.attachment != vk::ATTACHMENT_UNUSED;
                used.then_some(AttachmentReference { attachment: r.attachment as usize, layouts })
            };
            let mut attachments = ffi::slice(info.p_attachments, info.attachment_count).iter();
            no_control(attachments.any(|a| a.flags.intersects(TRANSFER_FUNCTION)))?;
            let attachment = |a: &vk::AttachmentDescription2<'_>| {
                let stencil = ffi::find::<vk::AttachmentDescriptionStencilLayout<'_>>(a.p_next);
                Attachment {
                    load: [a.load_op, a.stencil_load_op],
                    store: [a.store_op, a.stencil_store_op],
                    initial: [
                        a.initial_layout,
                        stencil.map_or(a.initial_layout, |s| s.stencil_initial_layout),
                    ],
                    last: [a.final_layout, stencil.map_or(a.final_layout, |s| s.stencil_final_layout)],
                }
            };
            let subpass = |s: &vk::SubpassDescription2<'_>| {
                let resolve = ffi::find::<vk::SubpassDescriptionDepthStencilResolve<'_>>(s.p_next);
                let depth_resolve = resolve.and_then(|r| {
                    let to = ffi::optional(r.p_depth_stencil_resolve_attachment).and_then(reference)?;
                    Some((to, [r.depth_resolve_mode, r.stencil_resolve_mode]))
                });
                Subpass {
                    inputs: references(s.p_input_attachments, s.input_attachment_count, reference),
                    colors: references(s.p_color_attachments, s.color_attachment_count, reference),
                    resolves: references(s.p_resolve_attachments, s.color_attachment_count, reference),
                    depth: ffi::optional(s.p_depth_stencil_attachment).and_then(reference),
                    depth_resolve,
                    views: s.view_mask,
                }
            };
            let dependency = |d: &vk::SubpassDependency2<'_>| {
                let between = (d.src_subpass, d.dst_subpass);
                let half = |stages, accesses| Half { stages, accesses };
                match ffi::find::<vk::MemoryBarrier2<'_>>(d.p_next) {
                    Some(b) => SubpassDependency {
                        between,
                        from: half(b.src_stage_mask, b.src_access_mask),
                        to: half(b.dst_stage_mask, b.dst_access_mask),
                    },
                    None => SubpassDependency {
                        between,
                        from: half(stages(d.src_stage_mask), accesses(d.src_access_mask)),
                        to: half(stages(d.dst_stage_mask), accesses(d.dst_access_mask)),
                    },
                }
            };
            let dependencies = ffi::slice(info.p_dependencies, info.dependency_count);
            let pass = RenderPass {
                attachments: ffi::slice(info.p_attachments, info.attachment_count)
                    .iter()
                    .map(attachment)
                    .collect(),
                subpasses: ffi::slice(info.p_subpasses, info.subpass_count).iter().map(subpass).collect(),
                dependencies: dependencies.iter().map(dependency).collect(),
            };
            pass.checked()
        }
    }
}

/// # Safety
/// `info` is the application's.
unsafe fn begin(
    buffer: vk::CommandBuffer,
    name: &'static str,
    info: *const vk::RenderPassBeginInfo<'_>,
) -> Outcome<()> {
    // SAFETY: the contract.
    let (info, clears, named) = unsafe {
        let info = ffi::read(info)?;
        let named = ffi::find::<vk::RenderPassAttachmentBeginInfo<'_>>(info.p_next);
        let named = named.map_or(&[][..], |n| ffi::slice(n.p_attachments, n.attachment_count));
        // All members of the union are words.
        (info, ffi::slice(info.p_clear_values.cast::<[u32; 4]>(), info.clear_value_count).to_vec(), named)
    };
    push(buffer, |r, _| {
        let pass = handle::get::<RenderPass>(info.render_pass)?;
        let framebuffer = handle::get::<Framebuffer>(info.framebuffer)?;
        let mut views = framebuffer.views.clone();
        for view in named {
            views.push(handle::get::<ImageView>(*view)?);
        }
        if views.len() != pass.attachments.len() {
            return Err(Error::usage("the framebuffer has not as many attachments as the render pass"));
        }
        let layouts = pass.attachments.iter().map(|a| a.initial).collect();
        let area = info.render_area;
        let mut instance =
            Box::new(RenderPassInstance { pass, framebuffer, views, area, clears, subpass: 0, layouts });
        r.add(Command::Render(Arc::new(instance.begin(name, Vec::new()))));
        r.rendering = Some(Recording::Pass(instance));
        Ok(())
    })
}

fn next(buffer: vk::CommandBuffer, name: &'static str) -> Outcome<()> {
    record(buffer, |r, _| {
        let Some(Recording::Pass(instance)) = &mut r.rendering else { return Err(outside()) };
        let ends = instance.resolves()?;
        if instance.subpass + 1 >= instance.pass.subpasses.len() {
            return Err(Error::usage("the render pass has no further subpass"));
        }
        instance.subpass += 1;
        let step = instance.begin(name, ends);
        Ok(Command::Render(Arc::new(step)))
    })
}

fn end(buffer: vk::CommandBuffer, name: &'static str) -> Outcome<()> {
    record(buffer, |r, _| {
        let step = match r.rendering.take() {
            Some(Recording::Pass(instance)) => instance.end(name)?,
            Some(Recording::Dynamic(ends)) => Step { name, ends, ..Step::default() },
            None => return Err(outside()),
        };
        Ok(Command::Render(Arc::new(step)))
    })
}

fn outside() -> Error {
    Error::usage("nothing is being rendered")
}

/// Whether sRGB is resolved as linear values is not for the application to say.
///
/// # Errors
/// It wants to.
fn no_control(wanted: bool) -> Outcome<()> {
    let text = "resolveSrgbFormatSupportsTransferFunctionControl is VK_FALSE";
    if wanted { Err(Error::usage(text)) } else { Ok(()) }
}

/// What vkCmdBeginRendering tells of an aspect of an attachment.
struct Told {
    target: Target,
    begins: Option<Does>,
    ends: Vec<(Target, Does)>,
}

/// # Safety
/// The members of `info` are the application's.
unsafe fn dynamic(
    info: &vk::RenderingAttachmentInfo<'_>,
    aspect: vk::ImageAspectFlags,
) -> Outcome<Option<Told>> {
    // SAFETY: the contract.
    let flags = unsafe { ffi::find::<RenderingAttachmentFlagsInfoKHR>(info.p_next) };
    if let Some(flags) = flags.map(|info| info.flags).filter(|flags| *flags != 0) {
        return Err(Error::usage(format!(
            "the flags {flags:#x} of an attachment, which need features that are not there"
        )));
    }
    let Some(view) = handle::get_optional::<ImageView>(info.image_view)? else { return Ok(None) };
    let target = Target { view, aspects: aspect, layout: info.image_layout };
    // SAFETY: every member of the union is made of words.
    let words = unsafe { info.clear_value.color.uint32 };
    let mut ends = Vec::new();
    if info.resolve_mode != vk::ResolveModeFlags::NONE
        && let Some(view) = handle::get_optional::<ImageView>(info.resolve_image_view)?
    {
        let to = Target { view, aspects: aspect, layout: info.resolve_image_layout };
        let does = resolve(target.clone(), &to, info.resolve_mode)?;
        ends.extend(does.map(|does| (to, does)));
    }
    ends.extend(store(info.store_op, &target).map(|does| (target.clone(), does)));
    let begins = load(info.load_op, aspect, words);
    Ok(Some(Told { target, begins, ends }))
}

/// # Safety
/// `info` is the application's.
unsafe fn begin_rendering(r: &mut Recorder, info: &vk::RenderingInfo<'_>) -> Outcome<()> {
    let layers = layers_of(info.view_mask, info.layer_count);
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    let mut add = |info: &vk::RenderingAttachmentInfo<'_>, aspect, area| -> Outcome<Option<Target>> {
        // SAFETY: the contract.
        let Some(told) = (unsafe { dynamic(info, aspect)? }) else { return Ok(None) };
        let Told { target, begins: begin, ends: end } = told;
        let of = |(target, does)| AttachmentUse { target, does, area, layers: layers.clone() };
        begins.extend(begin.map(|does| of((target.clone(), does))));
        ends.extend(end.into_iter().map(of));
        Ok(Some(target))
    };
    // SAFETY: the contract.
    let (colors, depth, stencil) = unsafe {
        let colors = ffi::slice(info.p_color_attachments, info.color_attachment_count);
        (colors, ffi::optional(info.p_depth_attachment), ffi::optional(info.p_stencil_attachment))
    };
    let color = |c| add(c, vk::ImageAspectFlags::COLOR, info.render_area);
    let colors = colors.iter().map(color).collect::<Outcome<Vec<_>>>()?;
    let mut one = |info: Option<&vk::RenderingAttachmentInfo<'_>>, aspect, area| match info {
        Some(info) => add(info, aspect, area),
        None => Ok(None),
    };
    let depth = one(depth, vk::ImageAspectFlags::DEPTH, info.render_area)?;
    let stencil = one(stencil, vk::ImageAspectFlags::STENCIL, info.render_area)?;
    let views = (info.view_mask != 0).then(|| layers.clone());
    let (resumes, suspends) = (
        info.flags.contains(vk::RenderingFlags::RESUMING),
        info.flags.contains(vk::RenderingFlags::SUSPENDING),
    );
    r.add(Command::Render(Arc::new(Step {
        name: "vkCmdBeginRendering",
        begins: if resumes { Vec::new() } else { merged(begins) },
        rendering: Some(Arc::new(Rendering { colors, depth, stencil, views })),
        ..Step::default()
    })));
    r.rendering = Some(Recording::Dynamic(if suspends { Vec::new() } else { merged(ends) }));
    Ok(())
}

creates! {
    fn create_render_pass(_device, info: vk::RenderPassCreateInfo<'_>) -> vk::RenderPass {
        Ok(handle::insert(Arc::new(RenderPass::new(info)?)))
    }

    fn create_render_pass2(_device, info: vk::RenderPassCreateInfo2<'_>) -> vk::RenderPass {
        Ok(handle::insert(Arc::new(RenderPass::new2(info)?)))
    }

    fn create_framebuffer(_device, info: vk::FramebufferCreateInfo<'_>) -> vk::Framebuffer {
        handle::get::<RenderPass>(info.render_pass)?;
        let mut views = Vec::new();
        if !info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS) {
            for view in ffi::slice(info.p_attachments, info.attachment_count) {
                views.push(handle::get::<ImageView>(*view)?);
            }
        }
        Ok(handle::insert(Arc::new(Framebuffer { views, layers: info.layers })))
    }
}

destroys! {
    fn destroy_render_pass(RenderPass) as "vkDestroyRenderPass";

    fn destroy_framebuffer(Framebuffer) as "vkDestroyFramebuffer";
}

entries! {
    fn get_render_area_granularity(_device: Arc<Device>, _pass: Arc<RenderPass>, out: *mut vk::Extent2D) {
        ffi::write(out, vk::Extent2D { width: 1, height: 1 })
    }

    /// vkGetRenderingAreaGranularityKHR.
    fn get_rendering_area_granularity(
        _device: Arc<Device>,
        _info: *const vk::RenderingAreaInfoKHR<'_>,
        out: *mut vk::Extent2D,
    ) {
        ffi::write(out, vk::Extent2D { width: 1, height: 1 })
    }

    fn cmd_begin_render_pass(
        buffer: vk::CommandBuffer,
        info: *const vk::RenderPassBeginInfo<'_>,
        _contents: vk::SubpassContents,
    ) {
        begin(buffer, "vkCmdBeginRenderPass", info)
    }

    fn cmd_begin_render_pass2(
        buffer: vk::CommandBuffer,
        info: *const vk::RenderPassBeginInfo<'_>,
        _subpass: *const vk::SubpassBeginInfo<'_>,
    ) {
        begin(buffer, "vkCmdBeginRenderPass2", info)
    }

    fn cmd_next_subpass(buffer: vk::CommandBuffer, _contents: vk::SubpassContents) {
        next(buffer, "vkCmdNextSubpass")
    }

    fn cmd_next_subpass2(
        buffer: vk::CommandBuffer,
        _begin: *const vk::SubpassBeginInfo<'_>,
        _end: *const vk::SubpassEndInfo<'_>,
    ) {
        next(buffer, "vkCmdNextSubpass2")
    }

    fn cmd_end_render_pass(buffer: vk::CommandBuffer) {
        end(buffer, "vkCmdEndRenderPass")
    }

    fn cmd_end_render_pass2(buffer: vk::CommandBuffer, _end: *const vk::SubpassEndInfo<'_>) {
        end(buffer, "vkCmdEndRenderPass2")
    }

    fn cmd_begin_rendering(buffer: vk::CommandBuffer, info: &vk::RenderingInfo<'_>) {
        push(buffer, |r, _| begin_rendering(r, info))
    }

    fn cmd_end_rendering(buffer: vk::CommandBuffer) {
        end(buffer, "vkCmdEndRendering")
    }

    /// vkCmdEndRendering2KHR.
    fn cmd_end_rendering2(buffer: vk::CommandBuffer, _info: *const vk::BaseInStructure<'_>) {
        end(buffer, "vkCmdEndRendering2")
    }

    fn cmd_clear_attachments(
        buffer: vk::CommandBuffer,
        count: u32,
        attachments: *const vk::ClearAttachment,
        rect_count: u32,
        rects: *const vk::ClearRect,
    ) {
        let clear = |a: &vk::ClearAttachment| AttachmentClear {
            aspects: a.aspect_mask,
            color: a.color_attachment,
            // All members of the union are words.
            words: a.clear_value.color.uint32,
        };
        let attachments = ffi::slice(attachments, count).iter().map(clear).collect();
        let rects = ffi::slice(rects, rect_count).to_vec();
        record(buffer, |_, _| Ok(Command::ClearAttachments(attachments, rects)))
    }
}
