//! Render passes and dynamic rendering, as far as they write images without drawing: load and store
//! operations, resolves, layout transitions and vkCmdClearAttachments.
//!
//! A render pass instance orders its operations on its attachments by itself (Vulkan 1.3, 8.1 *Render Pass
//! Creation*): to the hazard tracker they are operations of one command. The dependencies of a subpass are
//! taken as one, so that some hazards of attachments are missed, and none is invented.

use super::attachment::{AttachmentClear, AttachmentUse, Does, Step, Target};
use super::blit;
use super::copy::{self, Touched};
use super::state::State;
use crate::check::commands::{self as check, Operation};
use crate::check::dependency::translate;
use crate::check::layouts::ImageUse;
use crate::device::Device;
use crate::entry::image_view::ImageView;
use crate::error::{Error, Outcome};
use crate::queue::Queue;
use ash::vk;
use pellucid_memory::commands::{Accesses, Range, Stages};
use pellucid_memory::device::Allocation;

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
        let (skip, _) = view.image.part(self.aspects);
        // The texels of a view that is not compressed are the blocks of an image that is.
        let [width, height, _] = view.image.layout.block.map(u32::cast_signed);
        let place = |at: i32, block: i32| at.saturating_mul(block);
        let offset = vk::Offset3D { x: place(area.offset.x, width), y: place(area.offset.y, height), z: 0 };
        if view.shows_slices() {
            return Err(Error::not_implemented("2D views of 3D images as attachments"));
        }
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
        let (_, size) = image.part(self.aspects);
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
    let (_, size) = target.image.part(to.aspects);
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

/// Runs a command that begins or ends rendering.
///
/// # Errors
/// The text of what loses the device.
pub fn step(device: &Device, queue: &Queue, state: &mut State<'_>, step: &Step) -> Result<(), String> {
    let tag = check::tag(device, queue, state, step.name);
    uses(device, queue, state, (step.name, tag), &step.ends)?;
    if let Some((hazards, dependency)) = device.hazards.as_ref().zip(step.dependency.as_ref()) {
        let found = hazards.dependency(queue.index, tag, &translate(dependency));
        check::performed(device, [dependency], &found)?;
    }
    if state.rendering.is_none() {
        state.instance = None;
    }
    uses(device, queue, state, (step.name, tag), &step.begins)?;
    state.rendering.clone_from(&step.rendering);
    Ok(())
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
    let tag = check::tag(device, queue, state, name);
    let Some(rendering) = state.rendering.clone() else {
        device.skipped(name, Err(Error::usage("nothing is being rendered")));
        return Ok(());
    };
    uses(device, queue, state, (name, tag), &rendering.clears(attachments, rects))
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
            device.skipped(name, part.run(device, None));
            continue;
        };
        let operation = Operation {
            tag,
            stage: part.stage(),
            first: state.instance,
            does: part.accesses(),
            images: part.images(),
            buffers: Vec::new(),
            by_address: None,
            stores: part.stores(),
        };
        let (outcome, id) = check::operation(device, hazards, queue, operation, |t| part.run(device, t))?;
        state.instance.get_or_insert(id);
        device.skipped(name, outcome);
    }
    Ok(())
}
