//! Commands: recorded as data, replayed by a queue's worker ([`replay`]).
//!
//! This file defines a [`Command`] and what its variants hold, and a list of them that can be submitted
//! ([`Recorded`]). The entry points record them in a command buffer, which is in [`buffer`].
//!
//! | file | subject |
//! |---|---|
//! | [`buffer`] | the command buffer while and after it is recorded |
//! | [`family`] | what a queue family lets be recorded |
//! | [`pass`] | the render pass that is being recorded |
//! | [`batch`] | the command buffers of a submission |
//! | [`reach`] | the memory that a submission may access |
//! | [`replay`] | execution, command after command |
//! | [`state`] | what is bound while commands execute |
//! | [`dispatch`] | dispatches |
//! | [`copy`], [`indirect`], [`blit`] | transfers |
//! | [`render`], [`attachment`] | render passes without drawing, and clears |
//! | [`uses`] | a command's name, and the objects that it uses |
//!
//! Guarantees: a command refers to objects, not to handles, so nothing that the application destroys is
//! pulled from under it; an error while recording poisons the command buffer, whose vkEndCommandBuffer then
//! fails.

pub mod attachment;
pub mod batch;
pub mod blit;
pub mod buffer;
pub mod copy;
pub mod dispatch;
pub mod family;
pub mod in_memory;
pub mod indirect;
pub mod pass;
pub mod reach;
pub mod render;
pub mod replay;
pub mod state;
pub mod uses;

use crate::check::named::{Changes, OwnershipTransfer};
use crate::entry::buffer::Buffer;
use crate::entry::descriptor_layout::DescriptorSetLayout;
use crate::entry::descriptor_set::DescriptorSet;
use crate::entry::event::Event;
use crate::entry::image::Image;
use crate::entry::pipeline::Pipeline;
use crate::entry::query::QueryPool;
use crate::queue::told::Completed;
use ash::vk;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One side of a dependency: stages and accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half {
    pub stages: vk::PipelineStageFlags2,
    pub accesses: vk::AccessFlags2,
}

/// A memory barrier: global, of a buffer range, or of image subresources.
#[derive(Clone)]
pub struct Barrier {
    /// What comes before.
    pub from: Half,
    /// What comes after.
    pub to: Half,
    /// The memory that it covers.
    pub of: BarrierOf,
    /// The half of a queue family ownership transfer of its range that it is, if it is one.
    pub transfers: Option<OwnershipTransfer>,
}

impl Barrier {
    /// What it does to the memory that it is for, if anything: reads and writes of all of it.
    pub fn transition(&self) -> Option<Changes> {
        match self.of {
            BarrierOf::Image(_, _, from, to) if from != to => Some(Changes::Layout(from, to)),
            _ => self.transfers.map(|_| Changes::Ownership),
        }
    }
}

/// What a barrier covers.
#[derive(Clone)]
pub enum BarrierOf {
    /// All memory.
    Memory,
    /// A range of a buffer, which may be VK_WHOLE_SIZE.
    Buffer(Arc<Buffer>, u64, u64),
    /// Subresources of an image, and the layouts of a transition.
    Image(Arc<Image>, vk::ImageSubresourceRange, vk::ImageLayout, vk::ImageLayout),
}

/// A dependency: the execution dependency of a 1.0 command, and barriers.
#[derive(Clone, Default)]
pub struct Dependency {
    /// The stages of a 1.0 command; `None` if each barrier names its own.
    pub stages: Option<(vk::PipelineStageFlags2, vk::PipelineStageFlags2)>,
    pub barriers: Vec<Barrier>,
}

/// Events that a command waits for, and the dependency that they are the first halves of: all of
/// vkCmdWaitEvents, or one of vkCmdWaitEvents2.
#[derive(Clone)]
pub struct EventWait {
    pub events: Vec<Arc<Event>>,
    pub dependency: Dependency,
}

/// An image as a command uses it: in the layout that it names.
#[derive(Clone)]
pub struct ImageIn {
    pub image: Arc<Image>,
    /// The layout that its subresources are said to be in.
    pub layout: vk::ImageLayout,
}

impl std::ops::Deref for ImageIn {
    type Target = Arc<Image>;

    fn deref(&self) -> &Arc<Image> {
        &self.image
    }
}

/// What the texels of a cleared image become.
#[derive(Clone, Copy, Debug)]
pub enum Cleared {
    /// The raw components of a VkClearColorValue.
    Color([u32; 4]),
    /// A depth and a stencil value.
    DepthStencil(f32, u32),
}

/// A region between a buffer and an image.
pub type BufferImageRegions = Vec<vk::BufferImageCopy>;

/// One recorded command.
#[derive(Clone)]
pub enum Command {
    /// vkCmdBindPipeline and vkCmdBindShadersEXT, which may leave none bound.
    BindPipeline(Option<Arc<Pipeline>>),
    /// vkCmdBindDescriptorSets and vkCmdPushDescriptorSetKHR: first set number, sets, dynamic offsets.
    BindSets(u32, Vec<Arc<DescriptorSet>>, Vec<u32>),
    /// vkCmdBindDescriptorBuffersEXT: their device addresses.
    BindDescriptorBuffers(Vec<u64>),
    /// vkCmdSetDescriptorBufferOffsetsEXT: first set number; for each set its layout, the descriptor buffer
    /// that it is in, and where.
    SetDescriptorBufferOffsets(u32, Vec<(Arc<DescriptorSetLayout>, u32, u64)>),
    /// vkCmdBindDescriptorBufferEmbeddedSamplersEXT: set number and layout.
    BindEmbeddedSamplers(u32, Arc<DescriptorSetLayout>),
    /// vkCmdPushConstants: offset and bytes.
    PushConstants(u32, Vec<u8>),
    /// vkCmdDispatch and vkCmdDispatchBase.
    Dispatch([u32; 3], [u32; 3]),
    /// vkCmdDispatchIndirect.
    DispatchIndirect(Arc<Buffer>, u64),
    /// vkCmdCopyBuffer.
    CopyBuffer(Arc<Buffer>, Arc<Buffer>, Vec<vk::BufferCopy>),
    /// vkCmdFillBuffer: offset, size, pattern.
    FillBuffer(Arc<Buffer>, u64, u64, u32),
    /// vkCmdUpdateBuffer.
    UpdateBuffer(Arc<Buffer>, u64, Vec<u8>),
    /// vkCmdCopyImage.
    CopyImage(ImageIn, ImageIn, Vec<vk::ImageCopy>),
    /// vkCmdCopyBufferToImage.
    CopyBufferToImage(Arc<Buffer>, ImageIn, BufferImageRegions),
    /// vkCmdCopyImageToBuffer.
    CopyImageToBuffer(ImageIn, Arc<Buffer>, BufferImageRegions),
    /// vkCmdCopyMemoryIndirectKHR and vkCmdCopyMemoryToImageIndirectKHR.
    CopyIndirect(Box<indirect::CopyIndirect>),
    /// vkCmdBlitImage.
    BlitImage(ImageIn, ImageIn, Vec<vk::ImageBlit>, vk::Filter),
    /// vkCmdResolveImage.
    ResolveImage(ImageIn, ImageIn, Vec<vk::ImageResolve>),
    /// vkCmdClearColorImage and vkCmdClearDepthStencilImage.
    Clear(ImageIn, Cleared, Vec<vk::ImageSubresourceRange>),
    /// The beginning and the end of a render pass instance, or of a subpass.
    Render(Arc<attachment::Step>),
    /// vkCmdClearAttachments.
    ClearAttachments(Vec<attachment::AttachmentClear>, Vec<vk::ClearRect>),
    /// vkCmdPipelineBarrier and vkCmdPipelineBarrier2.
    Barrier(Box<Dependency>),
    /// vkCmdSetEvent and vkCmdSetEvent2.
    SetEvent(Arc<Event>, Box<Dependency>),
    /// vkCmdResetEvent and vkCmdResetEvent2.
    ResetEvent(Arc<Event>),
    /// vkCmdWaitEvents and vkCmdWaitEvents2.
    WaitEvents(Vec<EventWait>),
    /// vkCmdResetQueryPool: first and count.
    ResetQueries(Arc<QueryPool>, u32, u32),
    /// vkCmdBeginQuery.
    BeginQuery(Arc<QueryPool>),
    /// vkCmdEndQuery.
    EndQuery(Arc<QueryPool>, u32),
    /// vkCmdWriteTimestamp and vkCmdWriteTimestamp2: after what these stages have done.
    WriteTimestamp(Arc<QueryPool>, u32, vk::PipelineStageFlags2),
    /// vkCmdCopyQueryPoolResults.
    CopyQueryResults(Box<CopyQueryResults>),
    /// vkCmdExecuteCommands.
    Execute(Vec<Arc<Recorded>>),
    /// vkCmdBeginConditionalRenderingEXT.
    BeginConditional(Box<Predicate>),
    /// vkCmdEndConditionalRenderingEXT.
    EndConditional,
    /// vkCmdBeginDebugUtilsLabelEXT.
    BeginLabel(String),
    /// vkCmdEndDebugUtilsLabelEXT.
    EndLabel,
}

/// VkConditionalRenderingBeginInfoEXT.
#[derive(Clone)]
pub struct Predicate {
    /// Where its word is, which has to be in memory when the command executes.
    pub buffer: Arc<Buffer>,
    /// Bytes from the start of the buffer to the word.
    pub offset: u64,
    /// Commands are discarded if the word is not zero, instead of if it is.
    pub inverted: bool,
}

/// vkCmdCopyQueryPoolResults.
#[derive(Clone)]
pub struct CopyQueryResults {
    /// The query pool whose results are copied.
    pub pool: Arc<QueryPool>,
    /// First query.
    pub first: u32,
    /// Queries.
    pub count: u32,
    /// The destination buffer.
    pub buffer: Arc<Buffer>,
    /// Bytes from the start of the buffer to the first result.
    pub offset: u64,
    /// Bytes from one query's result to the next.
    pub stride: u64,
    /// VkQueryResultFlags.
    pub flags: vk::QueryResultFlags,
}

/// A set that a command buffer binds.
pub struct BoundSet {
    /// What the application calls it.
    pub handle: vk::DescriptorSet,
    /// What it is bound as: the object outlives its handle.
    pub set: Arc<DescriptorSet>,
    /// How often it had been updated when it was bound.
    pub updates: u64,
}

/// What of a command buffer is pending and may not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// The command buffer that is submitted.
    Itself,
    /// A secondary command buffer that it executes.
    Secondary,
}

/// The commands of an executable command buffer.
pub struct Recorded {
    /// The commands, in order.
    pub commands: Vec<Command>,
    flags: vk::CommandBufferUsageFlags,
    /// The queue that it was last submitted to, and the number of that submission there.
    submitted: Mutex<Option<(u32, u64)>>,
    /// The descriptor sets that it binds, those of its secondary command buffers included, sorted by their
    /// place in memory.
    pub sets: Vec<Arc<DescriptorSet>>,
    bound: Vec<BoundSet>,
    /// It may access memory by its address: it dispatches, or copies indirectly, or a secondary command
    /// buffer does.
    pub by_address: bool,
    /// It reads descriptors in memory, or a secondary command buffer does.
    pub described: bool,
    /// It accesses memory, or a secondary command buffer does.
    pub accesses: bool,
    /// A secondary command buffer that may be executed where conditional rendering is active
    /// (VkCommandBufferInheritanceConditionalRenderingInfoEXT).
    pub conditional: bool,
}

impl Recorded {
    /// An executable list of commands.
    pub fn new(
        commands: Vec<Command>,
        bound_sets: Vec<BoundSet>,
        flags: vk::CommandBufferUsageFlags,
        conditional: bool,
    ) -> Recorded {
        let mut sets = BTreeMap::new();
        let (mut by_address, mut described, mut accesses) = (false, false, false);
        let mut bound = |list: &[Arc<DescriptorSet>]| {
            sets.extend(list.iter().map(|set| (Arc::as_ptr(set), set.clone())));
        };
        for command in &commands {
            match command {
                Command::BindSets(_, list, _) => bound(list),
                Command::Dispatch(..) | Command::DispatchIndirect(..) | Command::CopyIndirect(_) => {
                    by_address = true;
                }
                Command::Execute(secondaries) => {
                    secondaries.iter().for_each(|s| bound(&s.sets));
                    by_address |= secondaries.iter().any(|s| s.by_address);
                    described |= secondaries.iter().any(|s| s.described);
                    accesses |= secondaries.iter().any(|s| s.accesses);
                }
                Command::SetDescriptorBufferOffsets(..) => described = true,
                Command::BindPipeline(_)
                | Command::BindDescriptorBuffers(_)
                | Command::BindEmbeddedSamplers(..)
                | Command::PushConstants(..)
                | Command::Barrier(_)
                | Command::SetEvent(..)
                | Command::ResetEvent(_)
                | Command::WaitEvents(..)
                | Command::EndConditional
                | Command::BeginLabel(_)
                | Command::EndLabel => {}
                _ => accesses = true,
            }
        }
        Recorded {
            commands,
            flags,
            submitted: Mutex::default(),
            sets: sets.into_values().collect(),
            bound: bound_sets,
            by_address,
            described,
            accesses: accesses || by_address,
            conditional,
        }
    }

    /// It may be submitted once, and no more.
    pub fn is_one_time(&self) -> bool {
        self.flags.contains(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)
    }

    /// The secondary command buffers that it executes.
    fn secondaries(&self) -> impl Iterator<Item = &Arc<Recorded>> {
        let lists = self.commands.iter().filter_map(|command| match command {
            Command::Execute(secondaries) => Some(secondaries),
            _ => None,
        });
        lists.flatten()
    }

    /// It is part of a submission to a queue, by its number there.
    pub fn submit(&self, queue: u32, serial: u64) {
        *self.submitted.lock() = Some((queue, serial));
        self.secondaries().for_each(|secondary| secondary.submit(queue, serial));
    }

    /// Whether it is pending, as far as the host knows which submissions have completed, and may not be
    /// submitted beside itself.
    fn is_busy(&self, host: Completed) -> bool {
        let pending = self.submitted.lock().is_some_and(|(queue, serial)| !host.covers(queue, serial));
        pending && !self.is_simultaneous()
    }

    /// What of it is pending and may not be: it, or a secondary command buffer that it executes.
    pub fn busy(&self, host: Completed) -> Option<Busy> {
        let secondary = || self.secondaries().any(|secondary| secondary.busy(host).is_some());
        match self.is_busy(host) {
            true => Some(Busy::Itself),
            false => secondary().then_some(Busy::Secondary),
        }
    }

    /// It may be submitted while it is pending.
    pub fn is_simultaneous(&self) -> bool {
        self.flags.contains(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)
    }

    /// A set that was updated after it was bound here or in a secondary command buffer, which makes the
    /// command buffer invalid.
    pub fn updated(&self) -> Option<vk::DescriptorSet> {
        let mut updated = self.bound.iter().filter(|bound| bound.set.updates() != bound.updates);
        let inside = || self.secondaries().find_map(|secondary| secondary.updated());
        updated.next().map(|bound| bound.handle).or_else(inside)
    }
}
