//! What the host does: to bytes and images that commands access, and what it sees of their end.

use super::super::host::{HostCall, Mapped, addresses};
use super::super::layouts::{Bound, ImageUse, Who};
use super::{Hazards, Subresources};
use ash::vk;
use pellucid_memory::commands::{EventToken, Payload, QueueId, Range, Runs};
use pellucid_memory::device::HostAccesses;
use std::ops::Range as Bytes;
use std::sync::Arc;

impl Hazards {
    /// The host saw a signal that carries `payload`.
    pub fn host_saw(&self, payload: &Payload) {
        self.state.lock().tracker.host_wait(payload);
    }

    /// The host saw a queue idle.
    pub fn host_saw_idle(&self, queue: u32) {
        let mut state = self.state.lock();
        let payload = state.tracker.signal_fence(QueueId(queue));
        state.tracker.host_wait(&payload);
    }

    /// vkSetEvent: what the event carries to those who wait for it.
    pub fn host_event(&self) -> EventToken {
        self.state.lock().tracker.host_event()
    }

    /// The host wrote and read these bytes of memory after its call `since`.
    pub fn host_accessed(&self, memory: &Mapped, accesses: &HostAccesses, since: &HostCall) {
        let at = |bytes: &Bytes<u64>| addresses(&memory.bytes, bytes);
        let writes: Vec<Range> = accesses.writes.iter().map(at).collect();
        let reads: Vec<(Range, bool)> = accesses.reads.iter().map(|(b, unseen)| (at(b), *unseen)).collect();
        let unseen: Vec<Range> = accesses.unseen.iter().map(at).collect();
        if writes.is_empty() && reads.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        let tag = state.call(since);
        for (range, _) in &reads {
            state.bytes(*range, (true, false), None, Who::Host(tag), None);
        }
        for range in &writes {
            state.bytes(*range, (false, true), None, Who::Host(tag), None);
            state.ownership.forget(*range);
        }
        let mut found = state.tracker.host_read(&reads, tag);
        found.extend(state.tracker.host_read_unseen(&unseen, tag));
        if !writes.is_empty() {
            found.extend(state.tracker.host_wrote(&writes, memory.coherent, tag));
        }
        state.keep(found);
    }

    /// Calls `each` with the bytes of a range of which it matters what the host does to them, as far as work
    /// is concerned that has run: something may be found, or an image loses its contents.
    pub fn kept_from_host(&self, range: Range, mut each: impl FnMut(Range)) {
        let state = self.state.lock();
        state.layouts.images_in(range).for_each(&mut each);
        state.tracker.kept_from_host(range, each);
    }

    /// The host copied these parts of images in its call, by which it touched these bytes.
    pub fn host_copied(&self, call: &HostCall, parts: &[ImageUse], runs: &Runs) {
        let mut state = self.state.lock();
        let tag = state.call(call);
        for part in parts {
            let found = state.layouts.access(part, Who::Host(tag));
            state.keep_layouts(found, None);
        }
        let through = |range: &Range| parts.iter().map(|part| &part.image).find(|i| i.holds(*range)).cloned();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (range, operand) in runs.iter() {
            let writing = !operand.write.is_empty();
            state.bytes(range, (!writing, writing), through(&range).as_deref(), Who::Host(tag), None);
            if writing {
                state.ownership.forget(range);
                writes.push(range);
            } else {
                reads.push((range, false));
            }
        }
        let mut found = state.tracker.host_read(&reads, tag);
        found.extend(state.tracker.host_wrote(&writes, true, tag));
        state.keep(found);
    }

    /// The host brought subresources of an image into another layout in its call.
    pub fn host_transitioned(
        &self,
        call: &HostCall,
        image: &Arc<Bound>,
        parts: &Subresources,
        layouts: (vk::ImageLayout, vk::ImageLayout),
    ) {
        let mut state = self.state.lock();
        let by = Who::Host(state.call(call));
        let found = state.layouts.transition(image, parts, layouts, None, by);
        state.keep_layouts(found, None);
    }

    /// The parts of some bytes that the device has written without the host having been told that it is done.
    pub fn in_flight(&self, range: Range) -> Vec<Range> {
        self.state.lock().tracker.in_flight(range)
    }

    /// The host flushed `flushed`, by which it lost what the device wrote to `lost`.
    pub fn host_flushed(&self, flushed: Range, lost: &[Range], call: &HostCall) {
        let mut state = self.state.lock();
        state.tracker.host_flushed(&[flushed]);
        let tag = state.call(call);
        let found = state.tracker.host_lost(lost, tag);
        state.keep(found);
    }

    /// The host invalidated what the device wrote to `seen`, and lost what it itself wrote to `discarded`.
    pub fn host_invalidated(&self, seen: &[Range], discarded: &[Range], call: &HostCall) {
        let mut state = self.state.lock();
        let tag = state.call(call);
        let found = state.tracker.host_invalidated(seen, tag);
        state.tracker.host_discarded(discarded);
        state.keep(found);
    }
}
