//! The calls that order the host with the device, in check mode: what the host did before each is looked at
//! first, and only then what the call tells counts.

use super::hazards::Subresources;
use super::host::{HandingIn, MappableMemory, Mapped, addresses};
use super::layouts::{Bound, ImageUse};
use super::{report, written};
use crate::device::Device;
use crate::entry::memory::DeviceMemory;
use crate::handle;
use crate::queue::Submission;
use crate::queue::status::settle_all;
use ash::vk::{self, Handle as _};
use pellucid_memory::commands::{Range, Runs};
use pellucid_memory::device::ATOM;
use pellucid_memory::host::Invalidated;
use std::ops::Range as Bytes;
use std::sync::Arc;

/// Looks at what the host did since its last call, and judges it once the device has come as far as it can:
/// so it does not matter how far it was when the host did it. `call` is the call that is made, if any is.
fn judge(device: &Device, call: Option<&'static str>) {
    let (Some(host), Some(hazards)) = (&device.host, &device.hazards) else { return };
    let used = |memory: &Mapped, each: &mut dyn FnMut(Range)| used(device, memory, each);
    if device.alive().is_ok() && host.look(false, used) && call.is_some() {
        settle_all(device);
        if device.alive().is_ok() {
            host.look(false, used);
        }
    }
    host.judge(hazards);
    if let Some(call) = call {
        hazards.host_calls(call);
        host.calls(call);
    }
}

/// What work is asked by for the bytes of some memory that it may use: the address of its object.
fn object(memory: &Mapped) -> Option<*const ()> {
    let object = handle::get::<DeviceMemory>(vk::DeviceMemory::from_raw(memory.handle));
    object.ok().map(|object| Arc::as_ptr(&object).cast())
}

/// Calls `each` with the bytes of some memory of which it matters what the host does to them now: those that
/// work may use of which the host was not told that it has completed, and those for which what other work did
/// matters.
fn used(device: &Device, memory: &Mapped, each: &mut dyn FnMut(Range)) {
    let all = memory.all();
    match (object(memory), &device.hazards) {
        (Some(object), Some(hazards)) => {
            device.completion.bytes_used(object, all, each);
            hazards.kept_from_host(all, each);
        }
        // The application has freed it.
        _ => each(all),
    }
}

/// The host hands in this work, until what is returned ends: what it writes later to bytes that the work may
/// use is followed.
pub fn hand_in<'a>(device: &'a Device, list: &[Submission]) -> Option<HandingIn<'a>> {
    let used = |memory: &Mapped, each: &mut dyn FnMut(Range)| match object(memory) {
        Some(object) => list.iter().for_each(|s| s.bytes_used(object, memory.all(), each)),
        None => each(memory.all()),
    };
    device.host.as_ref().map(|host| host.hand_in(used))
}

/// Tells what was found.
fn report(device: &Device) {
    let outcome = report::layouts(device);
    or_lose(device, report::of_host(device).and(outcome));
}

fn or_lose(device: &Device, outcome: Result<(), String>) {
    if let Err(text) = outcome {
        device.lose(&text);
    }
}

/// The host makes a call that orders it with the device: looks at what it did before.
pub fn synchronize(device: &Device, call: &'static str) {
    judge(device, Some(call));
    report(device);
}

/// vkMapMemory or vkMapMemory2 of bytes of memory: what the host writes to them nobody says, so they count as
/// written. Work that was submitted before and may use the memory comes as far as it can first: it has seen
/// no write of the host's, unless it waits for the host.
pub fn map(device: &Device, call: &'static str, memory: &DeviceMemory, bytes: &Bytes<u64>) {
    synchronize(device, call);
    if device.hazards.is_none() {
        return;
    }
    let all = Range::new(memory.bytes().address(), memory.bytes().size());
    let mapped = addresses(memory.bytes(), bytes);
    if !memory.is_written_unseen() || device.unwritten.lock().any(mapped.start, mapped.end) {
        let (mut used, object) = (false, std::ptr::from_ref(memory).cast());
        device.completion.bytes_used(object, all, &mut |part| used |= part.meets(mapped));
        if used {
            settle_all(device);
        }
        memory.note_mapped();
        device.unwritten.lock().write(mapped.start, mapped.end);
    }
}

/// vkQueueSubmit or vkQueueSubmit2: as the others; what the host reads after it, work may overwrite.
pub fn submit(device: &Device, call: &'static str) {
    synchronize(device, call);
    if let Some(host) = &device.host {
        evict(device, host);
        host.watch_again();
    }
}

/// What else the host does until it submits evicts lines of its cache, where the machine has one.
fn evict(device: &Device, host: &MappableMemory) {
    let config = &device.instance.config;
    let memories = host.differing_in_cache();
    if !memories.is_empty() && config.host_cache().is_some() {
        settle_all(device);
        memories.iter().for_each(|memory| memory.bytes.evict(config.seed, config.machine.traffic));
    }
}

/// The host has waited for the device: as [`synchronize`].
pub fn waited(device: &Device, call: &'static str) {
    synchronize(device, call);
    if let Some(host) = &device.host {
        host.goes_on();
    }
}

/// The process ends: what the host did since its last call, if it knew then that all work has completed. Here
/// nobody waits for work that goes on.
pub fn ended(device: &Device) {
    if device.completion.unseen().is_none() {
        judge(device, None);
    }
    report(device);
}

/// The device fails, and the host may make no more calls: tells what is known of it.
pub fn tell(device: &Device) {
    if let (Some(host), Some(hazards)) = (&device.host, &device.hazards) {
        host.judge(hazards);
    }
    report(device);
}

/// A queue begins to work: what the host did until now is looked at before commands change the bytes.
pub fn before_work(device: &Device) {
    if let Some(host) = device.host.as_ref().filter(|_| device.alive().is_ok()) {
        host.look(true, |memory, each| each(memory.all()));
    }
}

/// vkFlushMappedMemoryRanges of a range of memory. Work that was submitted before it does not see what it
/// moves, however far the device has come.
pub fn flush(device: &Device, memory: &DeviceMemory, (offset, size): (u64, u64)) {
    memory.bytes().look_at(offset, size);
    synchronize(device, "vkFlushMappedMemoryRanges");
    if memory.bytes().flush_moves(offset, size) {
        settle_all(device);
    }
    let flushed = memory.bytes().flush(offset, size);
    if let (Some(host), Some(hazards), false) = (&device.host, &device.hazards, memory.coherent) {
        let (start, end) = (offset / ATOM * ATOM, offset.saturating_add(size).next_multiple_of(ATOM));
        let range = addresses(memory.bytes(), &(start..end.min(memory.bytes().size())));
        let lost: Vec<Range> = flushed.lost.iter().map(|b| addresses(memory.bytes(), b)).collect();
        hazards.host_flushed(range, &lost, &host.since());
        or_lose(device, report::of_host(device));
    }
}

/// vkInvalidateMappedMemoryRanges of a range of memory. It counts for what the host was told of, however far
/// the device has come.
pub fn invalidate(device: &Device, memory: &DeviceMemory, (offset, size): (u64, u64)) {
    synchronize(device, "vkInvalidateMappedMemoryRanges");
    if memory.bytes().invalidate_moves(offset, size) {
        settle_all(device);
    }
    let in_flight = |bytes: &Bytes<u64>| {
        let base = memory.bytes().address();
        let list = device.hazards.as_ref().map(|h| h.in_flight(addresses(memory.bytes(), bytes)));
        list.into_iter().flatten().map(|range| range.start - base..range.end - base).collect()
    };
    let done = memory.bytes().invalidate(offset, size, in_flight);
    invalidated(device, memory, &done);
}

fn invalidated(device: &Device, memory: &DeviceMemory, invalidated: &Invalidated) {
    if let (Some(host), Some(hazards)) = (&device.host, &device.hazards) {
        let [seen, discarded] = [&invalidated.seen, &invalidated.discarded]
            .map(|list| list.iter().map(|b| addresses(memory.bytes(), b)).collect::<Vec<Range>>());
        hazards.host_invalidated(&seen, &discarded, &host.since());
        or_lose(device, report::of_host(device));
    }
}

/// Does something to bytes of the device while no command runs.
pub fn at_rest<T>(device: &Device, something: impl FnOnce() -> T) -> T {
    match &device.host {
        Some(host) => host.at_rest(something),
        None => something(),
    }
}

/// The host has copied parts of images itself, in the call that it made last: it touched these bytes.
pub fn copied(device: &Device, parts: &[ImageUse], runs: &Runs) {
    if let (Some(host), Some(hazards)) = (&device.host, &device.hazards) {
        written::note(device, runs);
        hazards.host_copied(&host.since(), parts, runs);
        or_lose(device, report::layouts(device).and(report::of_host(device)));
    }
}

/// The host has brought subresources of an image into another layout itself, in the call that it made last.
pub fn transitioned(
    device: &Device,
    image: &Arc<Bound>,
    parts: &Subresources,
    layouts: (vk::ImageLayout, vk::ImageLayout),
) {
    if let (Some(host), Some(hazards)) = (&device.host, &device.hazards) {
        host.follow(image.bytes);
        hazards.host_transitioned(&host.since(), image, parts, layouts);
        or_lose(device, report::layouts(device));
    }
}
