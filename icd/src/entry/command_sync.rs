//! Commands that synchronise: barriers, events, queries.

use crate::boundary::entries;
use crate::caps::later::TRANSFER_USE_ALL_STAGES;
use crate::caps::queues;
use crate::check::named::OwnershipTransfer;
use crate::check::ownership::Sharing;
use crate::command::buffer::{Recorder, record};
use crate::command::family::Family;
use crate::command::{Barrier, BarrierOf, Command, CopyQueryResults, Dependency, EventWait, Half};
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::event::Event;
use crate::entry::image::Image;
use crate::entry::query::QueryPool;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use ash::vk;
use std::sync::Arc;

pub(crate) fn stages(flags: vk::PipelineStageFlags) -> vk::PipelineStageFlags2 {
    vk::PipelineStageFlags2::from_raw(u64::from(flags.as_raw()))
}

pub(crate) fn accesses(flags: vk::AccessFlags) -> vk::AccessFlags2 {
    vk::AccessFlags2::from_raw(u64::from(flags.as_raw()))
}

/// Reads the dependencies that a command names, and tells of what is wrong with them.
struct Reader<'a> {
    call: &'static str,
    device: &'a Device,
    /// That of the command buffer.
    family: Family,
    /// The command may transfer ownership: it is a pipeline barrier.
    transfers: bool,
    /// Both scopes apply to transfers.
    all_stages: bool,
}

impl<'a> Reader<'a> {
    fn new(call: &'static str, recorder: &Recorder, device: &'a Device) -> Reader<'a> {
        let transfers = call.starts_with("vkCmdPipelineBarrier");
        Reader { call, device, family: recorder.family, transfers, all_stages: false }
    }

    /// The command has these flags.
    fn flags(self, flags: vk::DependencyFlags) -> Reader<'a> {
        Reader { all_stages: flags.contains(TRANSFER_USE_ALL_STAGES), ..self }
    }

    fn misuse(&self, text: &str) {
        self.device.instance.misuse(&format!("{}: {text}", self.call));
    }

    /// The half of an ownership transfer that a barrier between these queue families is. What several share
    /// is transferred to and from external ones alone.
    fn transfer(&self, from: u32, to: u32, of: &BarrierOf) -> Option<OwnershipTransfer> {
        if from == to {
            return None;
        }
        let ours = self.family.index;
        let concurrent = match of {
            BarrierOf::Memory => false,
            BarrierOf::Buffer(buffer, ..) => matches!(buffer.sharing, Sharing::Concurrent(_)),
            BarrierOf::Image(image, ..) => matches!(image.sharing, Sharing::Concurrent(_)),
        };
        if concurrent {
            return match (queues::is_external(from), queues::is_external(to)) {
                (true, false) => Some(OwnershipTransfer { acquires: true, from, to: ours }),
                (false, true) => Some(OwnershipTransfer { acquires: false, from: ours, to }),
                _ => None,
            };
        }
        let mut unknown =
            [from, to].into_iter().filter(|f| queues::count(*f) == 0 && !queues::is_external(*f));
        if let Some(unknown) = unknown.next() {
            self.misuse(&format!("a barrier transfers ownership, and there is no queue family {unknown}"));
            return None;
        }
        if !self.transfers {
            self.misuse("events transfer no ownership between queue families");
            return None;
        }
        if ![from, to].contains(&ours) {
            self.misuse(&format!(
                "a barrier transfers ownership from queue family {from} to {to}, and the command buffer is of {ours}"
            ));
            return None;
        }
        Some(OwnershipTransfer { acquires: to == ours, from, to })
    }

    /// A barrier, or one half of an ownership transfer. The second scopes do not apply to a release, nor the
    /// first scopes to an acquire: those masks are ignored, unless a flag has the stages count.
    fn barrier(&self, (source, destination): (u32, u32), from: Half, to: Half, of: BarrierOf) -> Barrier {
        let transfers = self.transfer(source, destination, &of);
        let ignored = |half: Half| match self.all_stages {
            true => Half { accesses: vk::AccessFlags2::NONE, ..half },
            false => Half::default(),
        };
        Barrier {
            from: if transfers.is_some_and(|t| t.acquires) { ignored(from) } else { from },
            to: if transfers.is_some_and(|t| !t.acquires) { ignored(to) } else { to },
            of,
            transfers,
        }
    }

    fn check_stages(&self, named: vk::PipelineStageFlags2) {
        if let Some(text) = self.family.misused_stages(named) {
            self.misuse(&text);
        }
    }

    /// The dependency of a 1.0 command: one, whose stages all its barriers share.
    fn shared(
        &self,
        (from, to): (vk::PipelineStageFlags, vk::PipelineStageFlags),
        memory: &[vk::MemoryBarrier<'_>],
        buffers: &[vk::BufferMemoryBarrier<'_>],
        images: &[vk::ImageMemoryBarrier<'_>],
    ) -> Outcome<Dependency> {
        let (from, to) = (stages(from), stages(to));
        let halves = |s: vk::AccessFlags, d: vk::AccessFlags| {
            (Half { stages: from, accesses: accesses(s) }, Half { stages: to, accesses: accesses(d) })
        };
        let mut barriers = Vec::with_capacity(memory.len() + buffers.len() + images.len());
        for b in memory {
            let (from, to) = halves(b.src_access_mask, b.dst_access_mask);
            barriers.push(Barrier { from, to, of: BarrierOf::Memory, transfers: None });
        }
        for b in buffers {
            let (from, to) = halves(b.src_access_mask, b.dst_access_mask);
            let of = BarrierOf::Buffer(handle::get::<Buffer>(b.buffer)?, b.offset, b.size);
            barriers.push(self.barrier((b.src_queue_family_index, b.dst_queue_family_index), from, to, of));
        }
        for b in images {
            let (from, to) = halves(b.src_access_mask, b.dst_access_mask);
            let image = handle::get::<Image>(b.image)?;
            let of = BarrierOf::Image(image, b.subresource_range, b.old_layout, b.new_layout);
            barriers.push(self.barrier((b.src_queue_family_index, b.dst_queue_family_index), from, to, of));
        }
        // Of a transfer one of the masks may be the other family's.
        let transfers =
            |acquires| barriers.iter().any(|b| b.transfers.is_some_and(|t| t.acquires == acquires));
        let ignored = |transfers| transfers && !self.all_stages;
        let named = |mask, transfers| if ignored(transfers) { vk::PipelineStageFlags2::NONE } else { mask };
        self.check_stages(named(from, transfers(true)) | named(to, transfers(false)));
        Ok(Dependency { stages: Some((from, to)), barriers })
    }

    /// The dependency of VkDependencyInfo: each barrier names its own stages.
    ///
    /// # Safety
    /// `info` is the application's.
    unsafe fn each(&self, info: &vk::DependencyInfo<'_>) -> Outcome<Dependency> {
        // SAFETY: the contract.
        unsafe {
            let half = |stages, accesses| Half { stages, accesses };
            let mut barriers = Vec::new();
            for b in ffi::slice(info.p_memory_barriers, info.memory_barrier_count) {
                let from = half(b.src_stage_mask, b.src_access_mask);
                let to = half(b.dst_stage_mask, b.dst_access_mask);
                barriers.push(Barrier { from, to, of: BarrierOf::Memory, transfers: None });
            }
            for b in ffi::slice(info.p_buffer_memory_barriers, info.buffer_memory_barrier_count) {
                let from = half(b.src_stage_mask, b.src_access_mask);
                let to = half(b.dst_stage_mask, b.dst_access_mask);
                let of = BarrierOf::Buffer(handle::get::<Buffer>(b.buffer)?, b.offset, b.size);
                let families = (b.src_queue_family_index, b.dst_queue_family_index);
                barriers.push(self.barrier(families, from, to, of));
            }
            for b in ffi::slice(info.p_image_memory_barriers, info.image_memory_barrier_count) {
                let from = half(b.src_stage_mask, b.src_access_mask);
                let to = half(b.dst_stage_mask, b.dst_access_mask);
                let image = handle::get::<Image>(b.image)?;
                let of = BarrierOf::Image(image, b.subresource_range, b.old_layout, b.new_layout);
                let families = (b.src_queue_family_index, b.dst_queue_family_index);
                barriers.push(self.barrier(families, from, to, of));
            }
            let dependency = Dependency { stages: None, barriers };
            self.check_stages(dependency.stages_named());
            Ok(dependency)
        }
    }
}

fn events(list: &[vk::Event]) -> Outcome<Vec<Arc<Event>>> {
    list.iter().map(|e| handle::get::<Event>(*e)).collect()
}

/// Queries of a pool.
fn queries(pool: vk::QueryPool, first: u32, count: u32) -> Outcome<Arc<QueryPool>> {
    let pool = handle::get::<QueryPool>(pool)?;
    pool.queries(first, count)?;
    Ok(pool)
}

fn timestamp(
    buffer: vk::CommandBuffer,
    stages: vk::PipelineStageFlags2,
    pool: vk::QueryPool,
    query: u32,
) -> Outcome<()> {
    record(buffer, |r, device| {
        let pool = queries(pool, query, 1)?;
        Reader::new("vkCmdWriteTimestamp", r, device).check_stages(stages);
        Ok(Command::WriteTimestamp(pool, query, stages))
    })
}

entries! {
    fn cmd_pipeline_barrier(
        buffer: vk::CommandBuffer,
        from: vk::PipelineStageFlags,
        to: vk::PipelineStageFlags,
        flags: vk::DependencyFlags,
        memory: &[vk::MemoryBarrier<'_>],
        buffers: &[vk::BufferMemoryBarrier<'_>],
        images: &[vk::ImageMemoryBarrier<'_>],
    ) {
        record(buffer, |r, device| {
            let reader = Reader::new("vkCmdPipelineBarrier", r, device).flags(flags);
            let d = reader.shared((from, to), memory, buffers, images)?;
            Ok(Command::Barrier(Box::new(d)))
        })
    }

    fn cmd_pipeline_barrier2(buffer: vk::CommandBuffer, info: *const vk::DependencyInfo<'_>) {
        record(buffer, |r, device| {
            let info = ffi::read(info)?;
            let d = Reader::new("vkCmdPipelineBarrier2", r, device).flags(info.dependency_flags).each(info)?;
            Ok(Command::Barrier(Box::new(d)))
        })
    }

    fn cmd_set_event(buffer: vk::CommandBuffer, event: vk::Event, from: vk::PipelineStageFlags) {
        record(buffer, |r, device| {
            let stages = (from, vk::PipelineStageFlags::empty());
            let d = Reader::new("vkCmdSetEvent", r, device).shared(stages, &[], &[], &[])?;
            Ok(Command::SetEvent(handle::get::<Event>(event)?, Box::new(d)))
        })
    }

    fn cmd_set_event2(buffer: vk::CommandBuffer, event: vk::Event, info: *const vk::DependencyInfo<'_>) {
        record(buffer, |r, device| {
            let d = Reader::new("vkCmdSetEvent2", r, device).each(ffi::read(info)?)?;
            Ok(Command::SetEvent(handle::get::<Event>(event)?, Box::new(d)))
        })
    }

    fn cmd_reset_event(buffer: vk::CommandBuffer, event: vk::Event, _stages: vk::PipelineStageFlags) {
        record(buffer, |_, _| Ok(Command::ResetEvent(handle::get::<Event>(event)?)))
    }

    fn cmd_reset_event2(buffer: vk::CommandBuffer, event: vk::Event, _stages: vk::PipelineStageFlags2) {
        record(buffer, |_, _| Ok(Command::ResetEvent(handle::get::<Event>(event)?)))
    }

    fn cmd_wait_events(
        buffer: vk::CommandBuffer,
        list: &[vk::Event],
        from: vk::PipelineStageFlags,
        to: vk::PipelineStageFlags,
        memory: &[vk::MemoryBarrier<'_>],
        buffers: &[vk::BufferMemoryBarrier<'_>],
        images: &[vk::ImageMemoryBarrier<'_>],
    ) {
        record(buffer, |r, device| {
            let reader = Reader::new("vkCmdWaitEvents", r, device);
            let dependency = reader.shared((from, to), memory, buffers, images)?;
            let events = events(list)?;
            Ok(Command::WaitEvents(vec![EventWait { events, dependency }]))
        })
    }

    fn cmd_wait_events2(
        buffer: vk::CommandBuffer,
        count: u32,
        list: *const vk::Event,
        infos: *const vk::DependencyInfo<'_>,
    ) {
        record(buffer, |r, device| {
            let reader = Reader::new("vkCmdWaitEvents2", r, device);
            let each = ffi::slice(list, count).chunks(1).zip(ffi::slice(infos, count));
            let wait = |(event, info): (&[vk::Event], &vk::DependencyInfo<'_>)| {
                Ok(EventWait { events: events(event)?, dependency: reader.each(info)? })
            };
            Ok(Command::WaitEvents(each.map(wait).collect::<Outcome<_>>()?))
        })
    }

    fn cmd_begin_query(
        buffer: vk::CommandBuffer,
        pool: vk::QueryPool,
        query: u32,
        _flags: vk::QueryControlFlags,
    ) {
        record(buffer, |_, _| Ok(Command::BeginQuery(queries(pool, query, 1)?)))
    }

    fn cmd_end_query(buffer: vk::CommandBuffer, pool: vk::QueryPool, query: u32) {
        record(buffer, |_, _| Ok(Command::EndQuery(queries(pool, query, 1)?, query)))
    }

    fn cmd_reset_query_pool(buffer: vk::CommandBuffer, pool: vk::QueryPool, first: u32, count: u32) {
        record(buffer, |_, _| Ok(Command::ResetQueries(queries(pool, first, count)?, first, count)))
    }

    fn cmd_write_timestamp(
        buffer: vk::CommandBuffer,
        stage: vk::PipelineStageFlags,
        pool: vk::QueryPool,
        query: u32,
    ) {
        timestamp(buffer, vk::PipelineStageFlags2::from_raw(stage.as_raw().into()), pool, query)
    }

    fn cmd_write_timestamp2(
        buffer: vk::CommandBuffer,
        stage: vk::PipelineStageFlags2,
        pool: vk::QueryPool,
        query: u32,
    ) {
        timestamp(buffer, stage, pool, query)
    }

    fn cmd_copy_query_pool_results(
        buffer: vk::CommandBuffer,
        pool: vk::QueryPool,
        first: u32,
        count: u32,
        to: vk::Buffer,
        offset: vk::DeviceSize,
        stride: vk::DeviceSize,
        flags: vk::QueryResultFlags,
    ) {
        record(buffer, |_, _| {
            let pool = queries(pool, first, count)?;
            let buffer = handle::get::<Buffer>(to)?;
            if offset >= buffer.size {
                return Err(Error::usage("dstOffset is not inside the buffer"));
            }
            let copy = CopyQueryResults { pool, first, count, buffer, offset, stride, flags };
            Ok(Command::CopyQueryResults(Box::new(copy)))
        })
    }
}
