//! VkRenderPass, VkFramebuffer and the commands that begin and end rendering. Nothing draws, but load
//! operations, resolves, layout transitions and vkCmdClearAttachments write images.

use crate::boundary::entries;
use crate::caps::formats;
use crate::command::buffer::{Recorder, push};
use crate::command::render::{
    AttachmentClear, AttachmentUse, Does, Rendering, Step, Target, clear_value, merged,
};
use crate::command::{Barrier, BarrierOf, Command, Dependency, Half};
use crate::device::Device;
use crate::entry::command_sync::{accesses, stages};
use crate::entry::destroy::destroy;
use crate::entry::image_view::ImageView;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use pellucid_shader_interp::math::format::Aspect;
use std::sync::Arc;

/// Of color or depth, and of stencil.
type Both<T> = [T; 2];

/// An attachment of a render pass.
struct Attachment {
    load: Both<vk::AttachmentLoadOp>,
    store: Both<vk::AttachmentStoreOp>,
    initial: Both<vk::ImageLayout>,
    last: Both<vk::ImageLayout>,
}

/// An attachment as a subpass uses it.
#[derive(Clone, Copy)]
struct Reference {
    attachment: usize,
    layouts: Both<vk::ImageLayout>,
}

struct Subpass {
    inputs: Vec<Option<Reference>>,
    colors: Vec<Option<Reference>>,
    resolves: Vec<Option<Reference>>,
    depth: Option<Reference>,
    depth_resolve: Option<(Reference, Both<vk::ResolveModeFlags>)>,
    /// The views of multiview rendering; 0 where there is none.
    views: u32,
}

impl Subpass {
    fn references(&self) -> impl Iterator<Item = &Reference> {
        let lists = self.inputs.iter().chain(&self.colors).chain(&self.resolves);
        lists.chain([&self.depth]).flatten().chain(self.depth_resolve.as_ref().map(|(r, _)| r))
    }

    fn of(&self, attachment: usize) -> Option<&Reference> {
        self.references().find(|r| r.attachment == attachment)
    }
}

struct SubpassDependency {
    /// Subpasses; VK_SUBPASS_EXTERNAL.
    between: (u32, u32),
    from: Half,
    to: Half,
}

/// Attachments, the subpasses that use them, and what orders these.
pub struct RenderPass {
    attachments: Vec<Attachment>,
    subpasses: Vec<Subpass>,
    dependencies: Vec<SubpassDependency>,
}

object!(RenderPass, vk::RenderPass, kind::RENDER_PASS);

/// The views that are attached, and how much of them is rendered to.
pub struct Framebuffer {
    /// Empty where the command that begins the render pass names them.
    views: Vec<Arc<ImageView>>,
    layers: u32,
}

object!(Framebuffer, vk::Framebuffer, kind::FRAMEBUFFER);

/// # Safety
/// The pointer is the application's.
unsafe fn references<T>(
    list: *const T,
    count: u32,
    reference: impl Fn(&T) -> Option<Reference>,
) -> Vec<Option<Reference>> {
    // SAFETY: the contract.
    unsafe { ffi::slice(list, count) }.iter().map(reference).collect()
}

impl RenderPass {
    fn checked(self) -> Outcome<RenderPass> {
        let known = |r: &Reference| r.attachment < self.attachments.len();
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
            used.then_some(Reference { attachment: r.attachment as usize, layouts: [r.layout; 2] })
        };
        // SAFETY: the contract.
        unsafe {
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
                used.then_some(Reference { attachment: r.attachment as usize, layouts })
            };
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

    /// The subpasses that use an attachment.
    fn users(&self, attachment: usize) -> impl DoubleEndedIterator<Item = (usize, &Subpass)> {
        self.subpasses.iter().enumerate().filter(move |(_, s)| s.of(attachment).is_some())
    }
}

/// The layers of a mask of views; of `layers` layers where there is none.
fn layers_of(views: u32, layers: u32) -> Arc<[u32]> {
    match views {
        0 => (0..layers).collect(),
        views => (0..u32::BITS).filter(|view| views >> view & 1 == 1).collect(),
    }
}

/// The aspects of a view, and which of [`Both`] each is.
fn aspects(view: &ImageView) -> &'static [(usize, vk::ImageAspectFlags)] {
    const DEPTH: (usize, vk::ImageAspectFlags) = (0, vk::ImageAspectFlags::DEPTH);
    const STENCIL: (usize, vk::ImageAspectFlags) = (1, vk::ImageAspectFlags::STENCIL);
    match formats::info(view.format).map(|info| info.aspect) {
        Some(Aspect::Depth) => &[DEPTH],
        Some(Aspect::Stencil) => &[STENCIL],
        Some(Aspect::DepthStencil) => &[DEPTH, STENCIL],
        _ => &[(0, vk::ImageAspectFlags::COLOR)],
    }
}

/// What an attachment operation does.
fn load(op: vk::AttachmentLoadOp, aspects: vk::ImageAspectFlags, words: [u32; 4]) -> Option<Does> {
    match op {
        vk::AttachmentLoadOp::CLEAR => Some(Does::Clear(clear_value(aspects, words))),
        vk::AttachmentLoadOp::LOAD => Some(Does::Load),
        vk::AttachmentLoadOp::DONT_CARE => Some(Does::Discard),
        _ => None,
    }
}

/// What a store operation does: nothing where the layout lets nothing be written.
fn store(op: vk::AttachmentStoreOp, target: &Target) -> Option<Does> {
    use vk::ImageLayout as L;
    let read_only = match target.layout {
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL | L::DEPTH_READ_ONLY_OPTIMAL | L::STENCIL_READ_ONLY_OPTIMAL => {
            true
        }
        L::SHADER_READ_ONLY_OPTIMAL | L::READ_ONLY_OPTIMAL => true,
        L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL => target.aspects == vk::ImageAspectFlags::DEPTH,
        L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL => target.aspects == vk::ImageAspectFlags::STENCIL,
        _ => false,
    };
    match op {
        _ if read_only => None,
        vk::AttachmentStoreOp::STORE => Some(Does::Store),
        vk::AttachmentStoreOp::DONT_CARE => Some(Does::Drop),
        _ => None,
    }
}

/// The resolve of aspects of an attachment.
fn resolve(from: Target, to: &Target, mode: vk::ResolveModeFlags) -> Outcome<Option<Does>> {
    use vk::ResolveModeFlags as Mode;
    let color = to.aspects == vk::ImageAspectFlags::COLOR;
    let integer = formats::info(to.view.format).is_some_and(|info| info.numeric.is_integer());
    let known = match mode {
        Mode::NONE => return Ok(None),
        Mode::SAMPLE_ZERO => !color || integer,
        Mode::AVERAGE => color && !integer,
        _ => false,
    };
    let plain = |target: &Target| target.view.format == target.view.image.format;
    if !known {
        return Err(Error::not_implemented(&format!("resolves by {mode:?}")));
    }
    if !plain(&from) || !plain(to) {
        return Err(Error::not_implemented("resolves through views of another format than their image's"));
    }
    Ok(Some(Does::Resolve(from)))
}

/// A render pass instance that is being recorded.
pub struct Instance {
    pass: Arc<RenderPass>,
    framebuffer: Arc<Framebuffer>,
    views: Vec<Arc<ImageView>>,
    area: vk::Rect2D,
    /// VkClearValue.
    clears: Vec<[u32; 4]>,
    subpass: usize,
    /// The layouts of the attachments now.
    layouts: Vec<Both<vk::ImageLayout>>,
}

/// What is being rendered while a command buffer is recorded.
pub enum Recording {
    /// Attachments, the subpasses that use them, and what orders these.
    Pass(Box<Instance>),
    /// vkCmdBeginRendering: what ends it.
    Dynamic(Vec<AttachmentUse>),
}

impl Instance {
    /// The aspects of a reference's attachment.
    fn targets(&self, reference: Reference) -> impl Iterator<Item = (usize, Target)> {
        let view = &self.views[reference.attachment];
        aspects(view).iter().map(move |&(index, aspects)| {
            (index, Target { view: view.clone(), aspects, layout: reference.layouts[index] })
        })
    }

    fn target(&self, reference: Reference, aspect: vk::ImageAspectFlags) -> Option<Target> {
        self.targets(reference).map(|(_, target)| target).find(|target| target.aspects == aspect)
    }

    /// The layers of an attachment that anything is done to.
    fn layers(&self, attachment: usize) -> Arc<[u32]> {
        let views = self.pass.users(attachment).fold(0, |all, (_, subpass)| all | subpass.views);
        layers_of(views, self.framebuffer.layers)
    }

    /// Transitions of an attachment to other layouts.
    fn transition(&mut self, attachment: usize, to: Both<vk::ImageLayout>, barriers: &mut Vec<Barrier>) {
        let (view, from) = (self.views[attachment].clone(), self.layouts[attachment]);
        let mut changes: Vec<(vk::ImageAspectFlags, vk::ImageLayout, vk::ImageLayout)> = Vec::new();
        for &(index, aspect) in aspects(&view) {
            match changes.first_mut() {
                Some((all, old, new)) if (*old, *new) == (from[index], to[index]) => *all |= aspect,
                _ => changes.push((aspect, from[index], to[index])),
            }
        }
        for (aspect_mask, old, new) in changes.into_iter().filter(|(_, old, new)| old != new) {
            let range = vk::ImageSubresourceRange {
                aspect_mask,
                base_mip_level: view.levels.start,
                level_count: view.levels.len() as u32,
                base_array_layer: view.layers.start,
                layer_count: view.layers.len() as u32,
            };
            let of = BarrierOf::Image(view.image.clone(), range, old, new);
            barriers.push(Barrier { from: Half::default(), to: Half::default(), of, transfers: false });
        }
        self.layouts[attachment] = to;
    }

    /// The dependencies `which`, as one, with these transitions; with the implicit one if it is needed.
    fn dependency(
        &self,
        which: impl Fn((u32, u32)) -> bool,
        transitions: Vec<Barrier>,
        implicit: Option<(Half, Half)>,
    ) -> Option<Dependency> {
        let told = self.pass.dependencies.iter().filter(|d| which(d.between)).map(|d| (d.from, d.to));
        let halves: Vec<(Half, Half)> = told.chain(implicit).collect();
        if halves.is_empty() && transitions.is_empty() {
            return None;
        }
        let stages = halves
            .iter()
            .fold(Default::default(), |(s, d): (_, _), (from, to)| (s | from.stages, d | to.stages));
        let memory = |(from, to)| Barrier { from, to, of: BarrierOf::Memory, transfers: false };
        let barriers = halves.into_iter().map(memory).chain(transitions).collect();
        Some(Dependency { stages: Some(stages), barriers })
    }

    /// What the subpass does at its end: resolves.
    fn resolves(&self) -> Outcome<Vec<AttachmentUse>> {
        let pass = self.pass.clone();
        let subpass = &pass.subpasses[self.subpass];
        let layers = layers_of(subpass.views, self.framebuffer.layers);
        let mut uses = Vec::new();
        let mut add = |from: Option<Target>, target: Target, mode| -> Outcome<()> {
            let Some(from) = from else { return Ok(()) };
            let does = resolve(from, &target, mode)?;
            let (area, layers) = (self.area, layers.clone());
            uses.extend(does.map(|does| AttachmentUse { target, does, area, layers }));
            Ok(())
        };
        for (from, to) in subpass.colors.iter().zip(&subpass.resolves) {
            let (Some(from), Some(to)) = (from, to) else { continue };
            for (_, target) in self.targets(*to) {
                let integer = formats::info(target.view.format).is_some_and(|f| f.numeric.is_integer());
                let mode =
                    if integer { vk::ResolveModeFlags::SAMPLE_ZERO } else { vk::ResolveModeFlags::AVERAGE };
                add(self.target(*from, target.aspects), target, mode)?;
            }
        }
        if let Some(((to, modes), from)) = subpass.depth_resolve.zip(subpass.depth) {
            for (index, target) in self.targets(to) {
                add(self.target(from, target.aspects), target, modes[index])?;
            }
        }
        Ok(uses)
    }

    /// Begins the subpass, after `ends`.
    fn begin(&mut self, name: &'static str, ends: Vec<AttachmentUse>) -> Step {
        let pass = self.pass.clone();
        let (subpass, number) = (&pass.subpasses[self.subpass], self.subpass as u32);
        let mut transitions = Vec::new();
        let mut begins = Vec::new();
        let mut initial = false;
        for attachment in 0..pass.attachments.len() {
            let Some(reference) = subpass.of(attachment).copied() else { continue };
            let before = transitions.len();
            self.transition(attachment, reference.layouts, &mut transitions);
            if pass.users(attachment).next().is_some_and(|(first, _)| first == self.subpass) {
                initial |= transitions.len() > before;
                let words = self.clears.get(attachment).copied().unwrap_or_default();
                for (index, target) in self.targets(reference) {
                    let does = load(pass.attachments[attachment].load[index], target.aspects, words);
                    let (area, layers) = (self.area, self.layers(attachment));
                    begins.extend(does.map(|does| AttachmentUse { target, does, area, layers }));
                }
            }
        }
        let told = |between| between == (vk::SUBPASS_EXTERNAL, number);
        let needed = initial && !pass.dependencies.iter().any(|d| told(d.between));
        let implicit = needed.then(|| {
            (Half::default(), Half { stages: vk::PipelineStageFlags2::ALL_COMMANDS, accesses: attached() })
        });
        let into = |(from, to): (u32, u32)| to == number && from != number;
        let depth = |aspect| subpass.depth.and_then(|depth| self.target(depth, aspect));
        let color = |r: &Option<Reference>| r.and_then(|r| self.target(r, vk::ImageAspectFlags::COLOR));
        let rendering = Rendering {
            colors: subpass.colors.iter().map(color).collect(),
            depth: depth(vk::ImageAspectFlags::DEPTH),
            stencil: depth(vk::ImageAspectFlags::STENCIL),
            views: (subpass.views != 0).then(|| layers_of(subpass.views, 0)),
        };
        Step {
            name,
            ends,
            dependency: self.dependency(into, transitions, implicit),
            begins: merged(begins),
            rendering: Some(Arc::new(rendering)),
            objects: Some((self.pass.clone(), self.framebuffer.clone())),
        }
    }

    /// Ends the render pass.
    fn end(mut self, name: &'static str) -> Outcome<Step> {
        let pass = self.pass.clone();
        let mut ends = self.resolves()?;
        let mut transitions = Vec::new();
        let mut needed = false;
        let external = |subpass: usize| (subpass as u32, vk::SUBPASS_EXTERNAL);
        let mut stores = Vec::new();
        for (attachment, description) in pass.attachments.iter().enumerate() {
            let last = pass.users(attachment).next_back();
            if last.is_some() {
                let reference = Reference { attachment, layouts: self.layouts[attachment] };
                for (index, target) in self.targets(reference) {
                    let does = store(description.store[index], &target);
                    let (area, layers) = (self.area, self.layers(attachment));
                    stores.extend(does.map(|does| AttachmentUse { target, does, area, layers }));
                }
            }
            let before = transitions.len();
            self.transition(attachment, description.last, &mut transitions);
            let told = last.is_some_and(|(s, _)| pass.dependencies.iter().any(|d| d.between == external(s)));
            needed |= transitions.len() > before && !told;
        }
        ends.extend(merged(stores));
        let implicit = needed.then(|| {
            (Half { stages: vk::PipelineStageFlags2::ALL_COMMANDS, accesses: attached() }, Half::default())
        });
        let out = |(_, to): (u32, u32)| to == vk::SUBPASS_EXTERNAL;
        Ok(Step {
            name,
            ends,
            dependency: self.dependency(out, transitions, implicit),
            begins: Vec::new(),
            rendering: None,
            objects: Some((self.pass, self.framebuffer)),
        })
    }
}

/// The accesses of the implicit subpass dependencies.
fn attached() -> vk::AccessFlags2 {
    vk::AccessFlags2::INPUT_ATTACHMENT_READ
        | vk::AccessFlags2::COLOR_ATTACHMENT_READ
        | vk::AccessFlags2::COLOR_ATTACHMENT_WRITE
        | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ
        | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE
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
        let mut instance = Box::new(Instance { pass, framebuffer, views, area, clears, subpass: 0, layouts });
        r.add(Command::Render(Arc::new(instance.begin(name, Vec::new()))));
        r.rendering = Some(Recording::Pass(instance));
        Ok(())
    })
}

fn next(buffer: vk::CommandBuffer, name: &'static str) -> Outcome<()> {
    push(buffer, |r, _| {
        let Some(Recording::Pass(instance)) = &mut r.rendering else { return Err(outside()) };
        let ends = instance.resolves()?;
        if instance.subpass + 1 >= instance.pass.subpasses.len() {
            return Err(Error::usage("the render pass has no further subpass"));
        }
        instance.subpass += 1;
        let step = instance.begin(name, ends);
        r.add(Command::Render(Arc::new(step)));
        Ok(())
    })
}

fn end(buffer: vk::CommandBuffer, name: &'static str) -> Outcome<()> {
    push(buffer, |r, _| {
        let step = match r.rendering.take() {
            Some(Recording::Pass(instance)) => instance.end(name)?,
            Some(Recording::Dynamic(ends)) => {
                Step { name, ends, dependency: None, begins: Vec::new(), rendering: None, objects: None }
            }
            None => return Err(outside()),
        };
        r.add(Command::Render(Arc::new(step)));
        Ok(())
    })
}

fn outside() -> Error {
    Error::usage("nothing is being rendered")
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
        ends: Vec::new(),
        dependency: None,
        begins: if resumes { Vec::new() } else { merged(begins) },
        rendering: Some(Arc::new(Rendering { colors, depth, stencil, views })),
        objects: None,
    })));
    r.rendering = Some(Recording::Dynamic(if suspends { Vec::new() } else { merged(ends) }));
    Ok(())
}

entries! {
    /// vkCreateRenderPass.
    fn create_render_pass(
        device: vk::Device,
        info: *const vk::RenderPassCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::RenderPass,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        ffi::write(out, handle::insert(Arc::new(RenderPass::new(ffi::read(info)?)?)))
    }

    /// vkCreateRenderPass2.
    fn create_render_pass2(
        device: vk::Device,
        info: *const vk::RenderPassCreateInfo2<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::RenderPass,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        ffi::write(out, handle::insert(Arc::new(RenderPass::new2(ffi::read(info)?)?)))
    }

    /// vkDestroyRenderPass.
    fn destroy_render_pass(
        device: vk::Device,
        pass: vk::RenderPass,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<RenderPass>(device, pass, "vkDestroyRenderPass")?;
        Ok(())
    }

    /// vkCreateFramebuffer.
    fn create_framebuffer(
        device: vk::Device,
        info: *const vk::FramebufferCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Framebuffer,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        handle::get::<RenderPass>(info.render_pass)?;
        let mut views = Vec::new();
        if !info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS) {
            for view in ffi::slice(info.p_attachments, info.attachment_count) {
                views.push(handle::get::<ImageView>(*view)?);
            }
        }
        ffi::write(out, handle::insert(Arc::new(Framebuffer { views, layers: info.layers })))
    }

    /// vkDestroyFramebuffer.
    fn destroy_framebuffer(
        device: vk::Device,
        framebuffer: vk::Framebuffer,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<Framebuffer>(device, framebuffer, "vkDestroyFramebuffer")?;
        Ok(())
    }

    /// vkGetRenderAreaGranularity.
    fn get_render_area_granularity(device: vk::Device, pass: vk::RenderPass, out: *mut vk::Extent2D) {
        handle::dispatchable::<Device>(device)?;
        handle::get::<RenderPass>(pass)?;
        ffi::write(out, vk::Extent2D { width: 1, height: 1 })
    }

    /// vkCmdBeginRenderPass.
    fn cmd_begin_render_pass(
        buffer: vk::CommandBuffer,
        info: *const vk::RenderPassBeginInfo<'_>,
        _contents: vk::SubpassContents,
    ) {
        begin(buffer, "vkCmdBeginRenderPass", info)
    }

    /// vkCmdBeginRenderPass2.
    fn cmd_begin_render_pass2(
        buffer: vk::CommandBuffer,
        info: *const vk::RenderPassBeginInfo<'_>,
        _subpass: *const vk::SubpassBeginInfo<'_>,
    ) {
        begin(buffer, "vkCmdBeginRenderPass2", info)
    }

    /// vkCmdNextSubpass.
    fn cmd_next_subpass(buffer: vk::CommandBuffer, _contents: vk::SubpassContents) {
        next(buffer, "vkCmdNextSubpass")
    }

    /// vkCmdNextSubpass2.
    fn cmd_next_subpass2(
        buffer: vk::CommandBuffer,
        _begin: *const vk::SubpassBeginInfo<'_>,
        _end: *const vk::SubpassEndInfo<'_>,
    ) {
        next(buffer, "vkCmdNextSubpass2")
    }

    /// vkCmdEndRenderPass.
    fn cmd_end_render_pass(buffer: vk::CommandBuffer) {
        end(buffer, "vkCmdEndRenderPass")
    }

    /// vkCmdEndRenderPass2.
    fn cmd_end_render_pass2(buffer: vk::CommandBuffer, _end: *const vk::SubpassEndInfo<'_>) {
        end(buffer, "vkCmdEndRenderPass2")
    }

    /// vkCmdBeginRendering.
    fn cmd_begin_rendering(buffer: vk::CommandBuffer, info: *const vk::RenderingInfo<'_>) {
        let info = ffi::read(info)?;
        push(buffer, |r, _| begin_rendering(r, info))
    }

    /// vkCmdEndRendering.
    fn cmd_end_rendering(buffer: vk::CommandBuffer) {
        end(buffer, "vkCmdEndRendering")
    }

    /// vkCmdClearAttachments.
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
        push(buffer, |r, _| {
            r.add(Command::ClearAttachments(attachments, rects));
            Ok(())
        })
    }
}
