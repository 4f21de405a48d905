//! Render passes and framebuffers, and the instance of a render pass that is being recorded: what each of its
//! subpasses does to its attachments.

use super::attachment::{AttachmentUse, Does, Rendering, Step, Target, clear_value, merged};
use super::{Barrier, BarrierOf, Dependency, Half};
use crate::caps::formats;
use crate::entry::image_view::ImageView;
use crate::error::{Error, Outcome};
use crate::handle::{kind, object};
use ash::vk;
use pellucid_shader_interp::math::format::Aspect;
use std::sync::Arc;

/// Of color or depth, and of stencil.
pub type Both<T> = [T; 2];

/// An attachment of a render pass.
pub struct Attachment {
    pub load: Both<vk::AttachmentLoadOp>,
    pub store: Both<vk::AttachmentStoreOp>,
    pub initial: Both<vk::ImageLayout>,
    pub last: Both<vk::ImageLayout>,
}

/// An attachment as a subpass uses it.
#[derive(Clone, Copy)]
pub struct AttachmentReference {
    pub attachment: usize,
    pub layouts: Both<vk::ImageLayout>,
}

pub struct Subpass {
    pub inputs: Vec<Option<AttachmentReference>>,
    pub colors: Vec<Option<AttachmentReference>>,
    pub resolves: Vec<Option<AttachmentReference>>,
    pub depth: Option<AttachmentReference>,
    pub depth_resolve: Option<(AttachmentReference, Both<vk::ResolveModeFlags>)>,
    /// The views of multiview rendering; 0 where there is none.
    pub views: u32,
}

impl Subpass {
    pub fn references(&self) -> impl Iterator<Item = &AttachmentReference> {
        let lists = self.inputs.iter().chain(&self.colors).chain(&self.resolves);
        lists.chain([&self.depth]).flatten().chain(self.depth_resolve.as_ref().map(|(r, _)| r))
    }

    fn of(&self, attachment: usize) -> Option<&AttachmentReference> {
        self.references().find(|r| r.attachment == attachment)
    }
}

pub struct SubpassDependency {
    /// Subpasses; VK_SUBPASS_EXTERNAL.
    pub between: (u32, u32),
    pub from: Half,
    pub to: Half,
}

/// Attachments, the subpasses that use them, and what orders these.
pub struct RenderPass {
    pub attachments: Vec<Attachment>,
    pub subpasses: Vec<Subpass>,
    pub dependencies: Vec<SubpassDependency>,
}

object!(RenderPass, vk::RenderPass, kind::RENDER_PASS);

/// The views that are attached, and how much of them is rendered to.
pub struct Framebuffer {
    /// Empty where the command that begins the render pass names them.
    pub views: Vec<Arc<ImageView>>,
    pub layers: u32,
}

object!(Framebuffer, vk::Framebuffer, kind::FRAMEBUFFER);

impl RenderPass {
    /// The subpasses that use an attachment.
    fn users(&self, attachment: usize) -> impl DoubleEndedIterator<Item = (usize, &Subpass)> {
        self.subpasses.iter().enumerate().filter(move |(_, s)| s.of(attachment).is_some())
    }
}

/// The layers of a mask of views; of `layers` layers where there is none.
pub fn layers_of(views: u32, layers: u32) -> Arc<[u32]> {
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
pub fn load(op: vk::AttachmentLoadOp, aspects: vk::ImageAspectFlags, words: [u32; 4]) -> Option<Does> {
    match op {
        vk::AttachmentLoadOp::CLEAR => Some(Does::Clear(clear_value(aspects, words))),
        vk::AttachmentLoadOp::LOAD => Some(Does::Load),
        vk::AttachmentLoadOp::DONT_CARE => Some(Does::Discard),
        _ => None,
    }
}

/// What a store operation does: nothing where the layout lets nothing be written.
pub fn store(op: vk::AttachmentStoreOp, target: &Target) -> Option<Does> {
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
pub fn resolve(from: Target, to: &Target, mode: vk::ResolveModeFlags) -> Outcome<Option<Does>> {
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
pub struct RenderPassInstance {
    pub pass: Arc<RenderPass>,
    pub framebuffer: Arc<Framebuffer>,
    pub views: Vec<Arc<ImageView>>,
    pub area: vk::Rect2D,
    /// VkClearValue.
    pub clears: Vec<[u32; 4]>,
    pub subpass: usize,
    /// The layouts of the attachments now.
    pub layouts: Vec<Both<vk::ImageLayout>>,
}

/// What is being rendered while a command buffer is recorded.
pub enum Recording {
    /// Attachments, the subpasses that use them, and what orders these.
    Pass(Box<RenderPassInstance>),
    /// vkCmdBeginRendering: what ends it.
    Dynamic(Vec<AttachmentUse>),
}

impl RenderPassInstance {
    /// The aspects of a reference's attachment.
    fn targets(&self, reference: AttachmentReference) -> impl Iterator<Item = (usize, Target)> {
        let view = &self.views[reference.attachment];
        aspects(view).iter().map(move |&(index, aspects)| {
            (index, Target { view: view.clone(), aspects, layout: reference.layouts[index] })
        })
    }

    fn target(&self, reference: AttachmentReference, aspect: vk::ImageAspectFlags) -> Option<Target> {
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
            barriers.push(Barrier { from: Half::default(), to: Half::default(), of, transfers: None });
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
        let memory = |(from, to)| Barrier { from, to, of: BarrierOf::Memory, transfers: None };
        let barriers = halves.into_iter().map(memory).chain(transitions).collect();
        Some(Dependency { stages: Some(stages), barriers })
    }

    /// What the subpass does at its end: resolves.
    pub fn resolves(&self) -> Outcome<Vec<AttachmentUse>> {
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
    pub fn begin(&mut self, name: &'static str, ends: Vec<AttachmentUse>) -> Step {
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
        let color =
            |r: &Option<AttachmentReference>| r.and_then(|r| self.target(r, vk::ImageAspectFlags::COLOR));
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
            objects: vec![self.pass.clone(), self.framebuffer.clone()],
        }
    }

    /// Ends the render pass.
    pub fn end(mut self, name: &'static str) -> Outcome<Step> {
        let pass = self.pass.clone();
        let mut ends = self.resolves()?;
        let mut transitions = Vec::new();
        let mut needed = false;
        let external = |subpass: usize| (subpass as u32, vk::SUBPASS_EXTERNAL);
        let mut stores = Vec::new();
        for (attachment, description) in pass.attachments.iter().enumerate() {
            let last = pass.users(attachment).next_back();
            if last.is_some() {
                let reference = AttachmentReference { attachment, layouts: self.layouts[attachment] };
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
            objects: vec![self.pass, self.framebuffer],
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
