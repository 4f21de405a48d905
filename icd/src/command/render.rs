//! Render passes and dynamic rendering, as far as they write images without drawing: load and store
//! operations, resolves, layout transitions and vkCmdClearAttachments.
//!
//! A render pass instance orders its operations on its attachments by itself (Vulkan 1.3, 8.1 *Render Pass
//! Creation*): to the hazard tracker they are operations of one command. The dependencies of a subpass are
//! taken as one, so that some hazards of attachments are missed, and none is invented.

use super::copy::{self, Touched};
use super::replay::skipped;
use super::state::State;
use super::{Cleared, Dependency, blit};
use crate::check::commands::{self as check, Operation};
use crate::check::dependency::translate;
use crate::check::layouts::ImageUse;
use crate::device::Device;
use crate::entry::image_view::ImageView;
use crate::entry::render_pass::{Framebuffer, RenderPass};
use crate::error::{Error, Outcome};
use crate::queue::Queue;
use ash::vk;
use pellucid_memory::commands::{Accesses, Range, Stages};
use pellucid_memory::device::Allocation;
use std::sync::Arc;

/// Aspects of an attachment.
#[derive(Clone)]
pub struct Target {
    pub view: Arc<ImageView>,
    /// Color, or depth, or stencil, or both of these.
    pub aspects: vk::ImageAspectFlags,
    /// The layout that they are said to be in.
    pub layout: vk::ImageLayout,
}

/// What is done to an attachment.
#[derive(Clone)]
pub enum Does {
    /// VK_ATTACHMENT_LOAD_OP_LOAD.
    Load,
    /// VK_ATTACHMENT_LOAD_OP_CLEAR and vkCmdClearAttachments.
    Clear(Cleared),
    /// VK_ATTACHMENT_LOAD_OP_DONT_CARE.
    Discard,
    /// VK_ATTACHMENT_STORE_OP_STORE.
    Store,
    /// VK_ATTACHMENT_STORE_OP_DONT_CARE.
    Drop,
    /// It becomes what the samples of this one resolve to.
    Resolve(Target),
}

/// An operation on an attachment.
#[derive(Clone)]
pub struct AttachmentUse {
    pub target: Target,
    pub does: Does,
    pub area: vk::Rect2D,
    /// Layers, counted from the view's first.
    pub layers: Arc<[u32]>,
}

/// VkClearAttachment.
#[derive(Clone, Copy)]
pub struct AttachmentClear {
    pub aspects: vk::ImageAspectFlags,
    /// Index of the color attachment.
    pub color: u32,
    /// VkClearValue.
    pub words: [u32; 4],
}

/// What vkCmdClearAttachments writes to.
pub struct Rendering {
    pub colors: Vec<Option<Target>>,
    pub depth: Option<Target>,
    pub stencil: Option<Target>,
    /// The views of multiview rendering; `None` where there is none.
    pub views: Option<Arc<[u32]>>,
}

/// A command that begins or ends a render pass instance, or one of its subpasses.
pub struct Step {
    /// The entry point.
    pub name: &'static str,
    /// What ends the subpass before it.
    pub ends: Vec<AttachmentUse>,
    pub dependency: Option<Dependency>,
    /// What begins the subpass after it.
    pub begins: Vec<AttachmentUse>,
    /// What is rendered to from now on; `None`: the instance ends.
    pub rendering: Option<Arc<Rendering>>,
    /// The objects that it is recorded with.
    pub objects: Option<(Arc<RenderPass>, Arc<Framebuffer>)>,
}

impl Target {
    fn is_color(&self) -> bool {
        self.aspects == vk::ImageAspectFlags::COLOR
    }

    /// Calls `each` with the memory, the first byte of these aspects and the layer of each row of a box.
    fn rows(
        &self,
        layers: &[u32],
        area: vk::Rect2D,
        mut each: impl FnMut(&Allocation, u64, (u32, u32)) -> Outcome<()>,
    ) -> Outcome<()> {
        let (view, extent) = (&self.view, [area.extent.width, area.extent.height, 1]);
        let (skip, _) = copy::part(&view.image, self.aspects);
        let offset = vk::Offset3D { x: area.offset.x, y: area.offset.y, z: 0 };
        for &layer in layers {
            let first = view.layers.start.saturating_add(layer);
            if first >= view.layers.end {
                return Err(Error::usage(format!("layer {layer} of a view that has {}", view.layers.len())));
            }
            let (texels, _) = copy::texels(&view.image, view.levels.start, first, 1, offset, extent)?;
            for y in 0..extent[1] {
                each(texels.memory, texels.start + u64::from(y) * texels.row + skip, (layer, y))?;
            }
        }
        Ok(())
    }

    /// The bytes of these aspects in a row of texels that begins at `start`.
    fn bytes(&self, start: u64, texels: u32) -> impl Iterator<Item = (u64, u64)> {
        let image = &self.view.image;
        let sample = image.layout.texel / u64::from(image.samples);
        let (_, size) = copy::part(image, self.aspects);
        let count = u64::from(texels) * u64::from(image.samples);
        let (times, size) = if size == sample { (1, count * sample) } else { (count, size) };
        (0..times).map(move |n| (start + n * sample, size))
    }
}

impl AttachmentUse {
    /// Load and store operations of color and all resolves execute in COLOR_ATTACHMENT_OUTPUT, those of depth
    /// and stencil in the fragment tests.
    fn stage(&self) -> Stages {
        match self.does {
            Does::Resolve(_) => Stages::COLOR_ATTACHMENT_OUTPUT,
            _ if self.target.is_color() => Stages::COLOR_ATTACHMENT_OUTPUT,
            Does::Store | Does::Drop => Stages::LATE_FRAGMENT_TESTS,
            _ => Stages::EARLY_FRAGMENT_TESTS,
        }
    }

    fn accesses(&self) -> (Accesses, Accesses) {
        if self.stage() == Stages::COLOR_ATTACHMENT_OUTPUT {
            (Accesses::COLOR_ATTACHMENT_READ, Accesses::COLOR_ATTACHMENT_WRITE)
        } else {
            (Accesses::DEPTH_STENCIL_ATTACHMENT_READ, Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE)
        }
    }

    fn stores(&self) -> bool {
        matches!(self.does, Does::Clear(_) | Does::Resolve(_))
    }

    fn images(&self) -> Vec<ImageUse> {
        let part = |target: &Target, layer: u32, writes: bool| {
            let layer = target.view.layers.start.saturating_add(layer);
            Some(ImageUse {
                image: target.view.image.bound()?.clone(),
                aspects: target.aspects,
                levels: target.view.levels.start..target.view.levels.start + 1,
                layers: layer..layer.saturating_add(1).min(target.view.layers.end),
                layout: target.layout,
                writes,
            })
        };
        let source = match &self.does {
            Does::Resolve(from) => Some((from, false)),
            _ => None,
        };
        let targets = source.into_iter().chain([(&self.target, self.stores())]);
        targets
            .flat_map(|(target, writes)| self.layers.iter().filter_map(move |l| part(target, *l, writes)))
            .collect()
    }

    fn run(&self, device: &Device, mut touched: Touched<'_>) -> Outcome<()> {
        let AttachmentUse { target, does, area, layers } = self;
        let (image, width) = (&target.view.image, area.extent.width);
        match does {
            Does::Clear(value) => {
                let bytes = copy::cleared(image, target.view.format, *value, target.aspects)?;
                target.rows(layers, *area, |memory, start, _| {
                    copy::clear_row(image, memory, (start, width), &bytes, &mut touched)
                })
            }
            Does::Resolve(from) => resolve(from, target, layers, *area, touched),
            // Nothing but the checks knows of these.
            Does::Load | Does::Discard | Does::Store | Does::Drop => {
                let Some(touched) = touched else { return Ok(()) };
                let mut all = Vec::new();
                target.rows(layers, *area, |memory, start, _| {
                    for (at, size) in target.bytes(start, width) {
                        let at = memory.address() + at;
                        all.push(Range::new(at, size));
                        if matches!(does, Does::Load) {
                            touched.read(at, size)
                        } else {
                            touched.write(at, size)
                        }
                    }
                    Ok(())
                })?;
                if matches!(does, Does::Discard | Does::Drop) {
                    check::undefined(device, image, &all);
                }
                Ok(())
            }
        }
    }
}

/// Resolves samples: color to their mean, integers, depth and stencil to sample 0.
fn resolve(
    from: &Target,
    to: &Target,
    layers: &[u32],
    area: vk::Rect2D,
    mut touched: Touched<'_>,
) -> Outcome<()> {
    let (source, target) = (&from.view, &to.view);
    if to.is_color() {
        let offset = vk::Offset3D { x: area.offset.x, y: area.offset.y, z: 0 };
        let part = |view: &ImageView, layer: u32| vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: view.levels.start,
            base_array_layer: view.layers.start.saturating_add(layer),
            layer_count: 1,
        };
        let region = |&layer: &u32| vk::ImageResolve {
            src_subresource: part(source, layer),
            src_offset: offset,
            dst_subresource: part(target, layer),
            dst_offset: offset,
            extent: vk::Extent3D { width: area.extent.width, height: area.extent.height, depth: 1 },
        };
        let regions: Vec<_> = layers.iter().map(region).collect();
        return blit::resolve(&source.image, &target.image, &regions, touched);
    }
    let mut reads = Vec::new();
    from.rows(layers, area, |_, start, _| {
        reads.push(start);
        Ok(())
    })?;
    let (memory, _) = source.image.memory()?;
    let (_, size) = copy::part(&target.image, to.aspects);
    let mut reads = reads.into_iter();
    to.rows(layers, area, |allocation, start, _| {
        let Some(read) = reads.next() else { return Ok(()) };
        for x in 0..u64::from(area.extent.width) {
            let read: (&Allocation, u64) = (memory.bytes(), read + x * source.image.layout.texel);
            let write = (allocation, start + x * target.image.layout.texel);
            Allocation::copy(read.0, read.1, write.0, write.1, size);
            copy::moved(&mut touched, read, write, size);
        }
        Ok(())
    })
}

/// Depth and stencil of one view that are treated alike are one use.
pub fn merged(uses: Vec<AttachmentUse>) -> Vec<AttachmentUse> {
    let mut out: Vec<AttachmentUse> = Vec::with_capacity(uses.len());
    for next in uses {
        if let Some(last) = out.last_mut()
            && Arc::ptr_eq(&last.target.view, &next.target.view)
            && last.target.layout == next.target.layout
            && last.target.aspects == vk::ImageAspectFlags::DEPTH
            && next.target.aspects == vk::ImageAspectFlags::STENCIL
        {
            let both = match (&last.does, &next.does) {
                (
                    Does::Clear(Cleared::DepthStencil(depth, _)),
                    Does::Clear(Cleared::DepthStencil(_, stencil)),
                ) => Some(Does::Clear(Cleared::DepthStencil(*depth, *stencil))),
                (Does::Load, Does::Load) => Some(Does::Load),
                (Does::Discard, Does::Discard) => Some(Does::Discard),
                (Does::Store, Does::Store) => Some(Does::Store),
                (Does::Drop, Does::Drop) => Some(Does::Drop),
                _ => None,
            };
            if let Some(does) = both {
                last.does = does;
                last.target.aspects |= next.target.aspects;
                continue;
            }
        }
        out.push(next);
    }
    out
}

impl Rendering {
    fn targets(&self) -> impl Iterator<Item = &Target> {
        self.colors.iter().chain([&self.depth, &self.stencil]).flatten()
    }

    /// What vkCmdClearAttachments does. An attachment that is not there is left out.
    fn clears(&self, attachments: &[AttachmentClear], rects: &[vk::ClearRect]) -> Vec<AttachmentUse> {
        let mut uses = Vec::new();
        for attachment in attachments {
            let color = self.colors.get(attachment.color as usize).and_then(Option::as_ref);
            let all = [
                (vk::ImageAspectFlags::COLOR, color),
                (vk::ImageAspectFlags::DEPTH, self.depth.as_ref()),
                (vk::ImageAspectFlags::STENCIL, self.stencil.as_ref()),
            ];
            for rect in rects {
                let layers = self.views.clone().unwrap_or_else(|| {
                    (rect.base_array_layer..rect.base_array_layer.saturating_add(rect.layer_count)).collect()
                });
                for (_, target) in all.iter().filter(|(aspect, _)| attachment.aspects.contains(*aspect)) {
                    let Some(target) = target else { continue };
                    let does = Does::Clear(clear_value(target.aspects, attachment.words));
                    let (target, layers) = ((*target).clone(), layers.clone());
                    uses.push(AttachmentUse { target, does, area: rect.rect, layers });
                }
            }
        }
        merged(uses)
    }
}

/// A VkClearValue, given as words, for these aspects.
pub fn clear_value(aspects: vk::ImageAspectFlags, words: [u32; 4]) -> Cleared {
    match aspects {
        vk::ImageAspectFlags::COLOR => Cleared::Color(words),
        _ => Cleared::DepthStencil(f32::from_bits(words[0]), words[1]),
    }
}

impl Step {
    /// True if the object at `object` is used.
    pub fn uses(&self, object: *const ()) -> bool {
        let uses = self.ends.iter().chain(&self.begins);
        let used = uses.flat_map(|u| match &u.does {
            Does::Resolve(from) => vec![from, &u.target],
            _ => vec![&u.target],
        });
        let rendered = self.rendering.iter().flat_map(|r| r.targets());
        let through =
            |t: &Target| Arc::as_ptr(&t.view).cast::<()>() == object || t.view.image.is_or_uses(object);
        used.chain(rendered).any(through)
            || self.objects.as_ref().is_some_and(|(pass, framebuffer)| {
                Arc::as_ptr(pass).cast::<()>() == object || Arc::as_ptr(framebuffer).cast::<()>() == object
            })
    }

    /// Runs it.
    ///
    /// # Errors
    /// The text of what loses the device.
    pub fn run(&self, device: &Device, queue: &Queue, state: &mut State<'_>) -> Result<(), String> {
        let tag = begin(device, queue, state, self.name);
        uses(device, queue, state, (self.name, tag), &self.ends)?;
        if let Some((hazards, dependency)) = device.hazards.as_ref().zip(self.dependency.as_ref()) {
            let found = hazards.dependency(queue.index, tag, &translate(dependency));
            check::performed(device, dependency, &found)?;
        }
        if state.rendering.is_none() {
            state.instance = None;
        }
        uses(device, queue, state, (self.name, tag), &self.begins)?;
        state.rendering.clone_from(&self.rendering);
        Ok(())
    }
}

/// vkCmdClearAttachments.
///
/// # Errors
/// The text of what loses the device.
pub fn clear(
    device: &Device,
    queue: &Queue,
    state: &mut State<'_>,
    attachments: &[AttachmentClear],
    rects: &[vk::ClearRect],
) -> Result<(), String> {
    let name = "vkCmdClearAttachments";
    let tag = begin(device, queue, state, name);
    let Some(rendering) = state.rendering.clone() else {
        skipped(device, name, Err(Error::usage("nothing is being rendered")));
        return Ok(());
    };
    uses(device, queue, state, (name, tag), &rendering.clears(attachments, rects))
}

/// In check mode: the tag of the command that begins.
fn begin(device: &Device, queue: &Queue, state: &State<'_>, name: &'static str) -> u64 {
    let standing = || check::standing(device, queue, state);
    device.hazards.as_ref().map_or(0, |hazards| hazards.command(&standing().at(), name, None))
}

fn uses(
    device: &Device,
    queue: &Queue,
    state: &mut State<'_>,
    (name, tag): (&'static str, u64),
    uses: &[AttachmentUse],
) -> Result<(), String> {
    for part in uses {
        let Some(hazards) = &device.hazards else {
            skipped(device, name, part.run(device, None));
            continue;
        };
        let operation = Operation {
            tag,
            stage: part.stage(),
            first: state.instance,
            does: part.accesses(),
            images: part.images(),
            stores: part.stores(),
        };
        let (outcome, id) = check::operation(device, hazards, queue, operation, |t| part.run(device, t))?;
        state.instance.get_or_insert(id);
        skipped(device, name, outcome);
    }
    Ok(())
}
