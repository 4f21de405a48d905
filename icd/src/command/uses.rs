//! What a recorded command is called and what it uses: asked when it executes in check mode, and when the
//! application destroys an object.

use super::indirect;
use super::reach::Reach;
use super::{Barrier, BarrierOf, Cleared, Command, Dependency, ImageIn, Recorded};
use crate::check::layouts::ImageUse;
use crate::entry::buffer::Buffer;
use crate::entry::descriptor_set::DescriptorSet;
use crate::entry::pipeline::Pipeline;
use crate::queue::submission::Use;
use ash::vk;
use pellucid_memory::commands::{Range, Stages};
use std::collections::BTreeMap;
use std::sync::Arc;

fn is<T>(part: &Arc<T>, object: *const ()) -> bool {
    Arc::as_ptr(part).cast::<()>() == object
}

/// What a [`Command::BeginConditional`] is called.
pub const BEGIN_CONDITIONAL: &str = "vkCmdBeginConditionalRenderingEXT";

impl Command {
    /// The entry point that records it, if the command counts where a submission's commands are numbered:
    /// state commands do not.
    fn counted(&self) -> Option<&'static str> {
        Some(match self {
            Command::Dispatch(..) => "vkCmdDispatch",
            Command::DispatchIndirect(..) => "vkCmdDispatchIndirect",
            Command::CopyBuffer(..) => "vkCmdCopyBuffer",
            Command::FillBuffer(..) => "vkCmdFillBuffer",
            Command::UpdateBuffer(..) => "vkCmdUpdateBuffer",
            Command::CopyImage(..) => "vkCmdCopyImage",
            Command::CopyBufferToImage(..) => "vkCmdCopyBufferToImage",
            Command::CopyImageToBuffer(..) => "vkCmdCopyImageToBuffer",
            Command::CopyIndirect(copy) => copy.name(),
            Command::BlitImage(..) => "vkCmdBlitImage",
            Command::ResolveImage(..) => "vkCmdResolveImage",
            Command::Clear(_, Cleared::Color(_), _) => "vkCmdClearColorImage",
            Command::Clear(_, Cleared::DepthStencil(..), _) => "vkCmdClearDepthStencilImage",
            Command::Render(step) => step.name,
            Command::ClearAttachments(..) => "vkCmdClearAttachments",
            Command::Barrier(_) => "vkCmdPipelineBarrier",
            Command::SetEvent(..) => "vkCmdSetEvent",
            Command::WaitEvents(..) => "vkCmdWaitEvents",
            Command::CopyQueryResults(_) => "vkCmdCopyQueryPoolResults",
            Command::BeginConditional(_) => BEGIN_CONDITIONAL,
            _ => return None,
        })
    }

    /// The entry point that records a command that is not counted.
    fn uncounted(&self) -> &'static str {
        match self {
            Command::BindPipeline(_) => "vkCmdBindPipeline",
            Command::BindSets(..) => "vkCmdBindDescriptorSets",
            Command::BindDescriptorBuffers(_) => "vkCmdBindDescriptorBuffersEXT",
            Command::SetDescriptorBufferOffsets(..) => "vkCmdSetDescriptorBufferOffsetsEXT",
            Command::BindEmbeddedSamplers(..) => "vkCmdBindDescriptorBufferEmbeddedSamplersEXT",
            Command::ResetEvent(_) => "vkCmdResetEvent",
            Command::ResetQueries(..) => "vkCmdResetQueryPool",
            Command::BeginQuery(..) => "vkCmdBeginQuery",
            Command::EndQuery(..) => "vkCmdEndQuery",
            Command::WriteTimestamp(..) => "vkCmdWriteTimestamp",
            _ => "a command",
        }
    }

    /// The entry point that records it.
    pub fn name(&self) -> &'static str {
        self.counted().unwrap_or_else(|| self.uncounted())
    }

    /// The stage that a command which moves bytes executes in.
    pub fn transfer_stage(&self) -> Stages {
        match self {
            Command::FillBuffer(..) | Command::UpdateBuffer(..) | Command::Clear(..) => Stages::CLEAR,
            Command::BlitImage(..) => Stages::BLIT,
            Command::ResolveImage(..) => Stages::RESOLVE,
            _ => Stages::COPY,
        }
    }

    /// The image subresources that a command which moves bytes reads and writes.
    pub fn images(&self) -> Vec<ImageUse> {
        let part = |image: &ImageIn, part: &vk::ImageSubresourceLayers, writes: bool| {
            let first = part.base_array_layer;
            let layers = first..first.saturating_add(part.layer_count).min(image.layers);
            Some(ImageUse {
                image: image.part_of(part.aspect_mask).ok()?.bound()?.clone(),
                aspects: part.aspect_mask,
                levels: part.mip_level..part.mip_level.saturating_add(1),
                layers,
                layout: image.layout,
                writes,
            })
        };
        // Regions of three types have these members.
        macro_rules! both {
            ($from:ident, $to:ident, $regions:ident) => {{
                let parts = $regions.iter().flat_map(|r| {
                    [part($from, &r.src_subresource, false), part($to, &r.dst_subresource, true)]
                });
                parts.flatten().collect()
            }};
        }
        match self {
            Command::CopyImage(from, to, regions) => both!(from, to, regions),
            Command::BlitImage(from, to, regions, _) => both!(from, to, regions),
            Command::ResolveImage(from, to, regions) => both!(from, to, regions),
            Command::CopyBufferToImage(_, to, regions) => {
                regions.iter().filter_map(|r| part(to, &r.image_subresource, true)).collect()
            }
            Command::CopyImageToBuffer(from, _, regions) => {
                regions.iter().filter_map(|r| part(from, &r.image_subresource, false)).collect()
            }
            Command::CopyIndirect(copy) => {
                let parts = copy.image.iter().flat_map(|(to, parts)| parts.iter().map(move |p| (to, p)));
                parts.filter_map(|(to, p)| part(to, &indirect::layers(to, p), true)).collect()
            }
            Command::Clear(to, _, ranges) => {
                let Some(bound) = to.bound() else { return Vec::new() };
                let of = |(aspects, (levels, layers))| ImageUse {
                    image: bound.clone(),
                    aspects,
                    levels,
                    layers,
                    layout: to.layout,
                    writes: true,
                };
                let parts =
                    ranges.iter().filter_map(|range| Some((range.aspect_mask, to.range(range).ok()?)));
                parts.map(of).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The buffers that a command which moves bytes reads and writes.
    pub fn buffers(&self) -> Vec<&Buffer> {
        match self {
            Command::FillBuffer(buffer, ..)
            | Command::UpdateBuffer(buffer, ..)
            | Command::CopyBufferToImage(buffer, ..)
            | Command::CopyImageToBuffer(_, buffer, _) => vec![buffer],
            Command::CopyBuffer(from, to, _) => vec![from, to],
            Command::CopyQueryResults(copy) => vec![&copy.buffer],
            _ => Vec::new(),
        }
    }

    /// True if the command itself is about, or uses, the object at `object`. Secondary command buffers are
    /// not looked into.
    fn uses(&self, object: *const (), reach: &Reach) -> bool {
        match self {
            Command::BindPipeline(pipeline) => pipeline.as_ref().is_some_and(|of| is(of, object)),
            Command::BindSets(_, sets, _) => {
                sets.iter().any(|s| is(s, object) || s.layout.mentions(reach.slots(s), object))
            }
            Command::BeginConditional(predicate) => predicate.buffer.is_or_uses(object),
            Command::DispatchIndirect(buffer, _)
            | Command::FillBuffer(buffer, ..)
            | Command::UpdateBuffer(buffer, ..) => buffer.is_or_uses(object),
            Command::CopyBuffer(from, to, _) => from.is_or_uses(object) || to.is_or_uses(object),
            Command::BlitImage(from, to, ..)
            | Command::ResolveImage(from, to, _)
            | Command::CopyImage(from, to, _) => from.is_or_uses(object) || to.is_or_uses(object),
            Command::CopyBufferToImage(buffer, image, _) | Command::CopyImageToBuffer(image, buffer, _) => {
                buffer.is_or_uses(object) || image.is_or_uses(object)
            }
            Command::CopyIndirect(copy) => copy.image.iter().any(|(image, _)| image.is_or_uses(object)),
            Command::Clear(image, ..) => image.is_or_uses(object),
            Command::Render(step) => step.uses(object),
            Command::SetEvent(event, _) | Command::ResetEvent(event) => is(event, object),
            Command::WaitEvents(waits) => waits.iter().flat_map(|w| &w.events).any(|e| is(e, object)),
            Command::ResetQueries(pool, ..)
            | Command::BeginQuery(pool)
            | Command::EndQuery(pool, _)
            | Command::WriteTimestamp(pool, ..) => is(pool, object),
            Command::CopyQueryResults(copy) => is(&copy.pool, object) || copy.buffer.is_or_uses(object),
            Command::Execute(secondaries) => secondaries.iter().any(|s| is(s, object)),
            Command::PushConstants(..)
            | Command::BindDescriptorBuffers(_)
            | Command::SetDescriptorBufferOffsets(..)
            | Command::BindEmbeddedSamplers(..)
            | Command::Dispatch(..)
            | Command::ClearAttachments(..)
            | Command::Barrier(_)
            | Command::EndConditional
            | Command::BeginLabel(_)
            | Command::EndLabel => false,
        }
    }
}

impl Dependency {
    /// True if it does something to the memory at `object` itself: a transition or a transfer of ownership.
    fn changes(&self, object: *const ()) -> bool {
        let of = |barrier: &Barrier| match &barrier.of {
            BarrierOf::Memory => false,
            BarrierOf::Buffer(buffer, ..) => buffer.is_or_uses(object),
            BarrierOf::Image(image, ..) => image.is_or_uses(object),
        };
        self.barriers.iter().any(|barrier| barrier.transition().is_some() && of(barrier))
    }
}

impl Command {
    /// Calls `each` with bytes of the memory at `object` that the command may use, but for those of
    /// descriptors and addresses; `all` are the memory's.
    fn bytes_used(&self, object: *const (), all: Range, reach: &Reach, each: &mut dyn FnMut(Range)) {
        let mut part = |buffer: &Buffer, offset, size| {
            buffer.bytes_of(object, offset, size).into_iter().for_each(&mut *each);
        };
        match self {
            Command::CopyBuffer(from, to, regions) => {
                for region in regions {
                    part(from, region.src_offset, region.size);
                    part(to, region.dst_offset, region.size);
                }
            }
            Command::FillBuffer(to, offset, size, _) => part(to, *offset, *size),
            Command::UpdateBuffer(to, offset, bytes) => part(to, *offset, bytes.len() as u64),
            Command::DispatchIndirect(buffer, offset) => part(buffer, *offset, 12),
            Command::BeginConditional(predicate) => part(&predicate.buffer, predicate.offset, 4),
            Command::BindSets(..) => {}
            Command::Barrier(dependency) if dependency.changes(object) => each(all),
            Command::WaitEvents(waits) if waits.iter().any(|w| w.dependency.changes(object)) => each(all),
            Command::Execute(secondaries) => {
                secondaries.iter().for_each(|s| s.bytes_used(object, all, reach, each));
            }
            _ if self.uses(object, reach) => each(all),
            _ => {}
        }
    }
}

impl Recorded {
    /// Calls `each` with bytes of the memory at `object` that its commands may use, but for those of
    /// descriptors and addresses; `all` are the memory's.
    pub fn bytes_used(&self, object: *const (), all: Range, reach: &Reach, each: &mut dyn FnMut(Range)) {
        self.commands.iter().for_each(|command| command.bytes_used(object, all, reach, each));
    }

    /// The first use of the object at `object` in this command buffer; `counted` commands precede it in the
    /// submission, and are counted on. What is bound is used by the next dispatch.
    pub fn use_of(&self, object: *const (), reach: &Reach, counted: &mut u32) -> Option<Use> {
        let mut bound: Option<&'static str> = None;
        for command in &self.commands {
            let name = command.counted();
            *counted += u32::from(name.is_some());
            let dispatch = matches!(command, Command::Dispatch(..) | Command::DispatchIndirect(..));
            match name {
                Some(name) if command.uses(object, reach) || (dispatch && bound.is_some()) => {
                    return Some(Use { command: name, index: Some(*counted) });
                }
                None if command.uses(object, reach) => match command {
                    Command::BindPipeline(_) | Command::BindSets(..) => bound = Some(command.uncounted()),
                    _ => return Some(Use { command: command.uncounted(), index: None }),
                },
                _ => {}
            }
            if let Command::Execute(secondaries) = command
                && let Some(found) = secondaries.iter().find_map(|s| s.use_of(object, reach, counted))
            {
                return Some(found);
            }
        }
        bound.map(|command| Use { command, index: None })
    }

    /// The first use of an object whose handle has ended: by a command that is recorded with it, or by a
    /// dispatch whose pipeline uses a descriptor of it. `counted` commands precede it in the submission, and
    /// are counted on.
    pub fn use_of_ended(&self, object: *const (), reach: &Reach, counted: &mut u32) -> Option<Use> {
        let mut pipeline: Option<&Arc<Pipeline>> = None;
        let mut bound: BTreeMap<u32, &Arc<DescriptorSet>> = BTreeMap::new();
        for command in &self.commands {
            let name = command.counted();
            *counted += u32::from(name.is_some());
            let used = match command {
                Command::BindPipeline(of) => {
                    pipeline = of.as_ref();
                    pipeline.is_some_and(|of| is(of, object))
                }
                Command::BindSets(first, sets, _) => {
                    bound.extend((*first..).zip(sets));
                    sets.iter().any(|set| is(set, object))
                }
                Command::Dispatch(..) | Command::DispatchIndirect(..) => {
                    let bindings = pipeline.map_or(&[][..], |pipeline| pipeline.bindings());
                    command.uses(object, reach)
                        || bindings.iter().any(|binding| {
                            let set = bound.get(&binding.set);
                            set.is_some_and(|set| {
                                set.layout.mentions_in(binding.binding, reach.slots(set), object)
                            })
                        })
                }
                Command::Execute(secondaries) => {
                    let mut inside = secondaries.iter();
                    match inside.find_map(|s| s.use_of_ended(object, reach, counted)) {
                        Some(used) => return Some(used),
                        None => command.uses(object, reach),
                    }
                }
                _ => command.uses(object, reach),
            };
            if used {
                let index = name.map(|_| *counted);
                return Some(Use { command: name.unwrap_or_else(|| command.uncounted()), index });
            }
        }
        None
    }
}
