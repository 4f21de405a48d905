//! The host's side of the device's memory, in check mode: which allocations the host can see, what commands
//! write to them, and what the host itself did before each call that orders it with the device.
//!
//! A call that may tell either side something (a submission, a wait, a status, a signal, a flush, an
//! invalidate, an unmapping) first looks at what the host wrote and read since the last one
//! ([`synchronize`]); only then what it tells counts. Coherent memory is looked at while no command writes:
//! where the host has written some, the call waits for the command that runs.

use super::hazards::HostFound;
use crate::command::check::{place, side};
use crate::entry::debug::deliver_report;
use crate::entry::device::Device;
use crate::entry::memory::DeviceMemory;
use crate::handle::Object as _;
use crate::message;
use crate::report::{HostReport, Object, say};
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::commands::{Operand, Range};
use pellucid_memory::device::ATOM;
use pellucid_memory::finding::FindingId;
use pellucid_memory::host::{self, Flushed, Invalidated};
use std::collections::BTreeMap;
use std::ops::Range as Bytes;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError, Weak};

/// The memory of a device that the host can map.
#[derive(Default)]
pub struct HostMemory {
    /// By device address.
    memories: Mutex<BTreeMap<u64, Weak<DeviceMemory>>>,
    /// The call since which the host has not been looked at.
    since: Mutex<&'static str>,
    rest: Mutex<Rest>,
    changed: Condvar,
}

/// Whether a command runs, and how many calls wait for its end.
#[derive(Default)]
struct Rest {
    busy: bool,
    waiting: u32,
}

/// A command that runs.
pub struct Busy<'a>(&'a HostMemory);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.rest().busy = false;
        self.0.changed.notify_all();
    }
}

impl HostMemory {
    fn memories(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<DeviceMemory>>> {
        self.memories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, rest: MutexGuard<'a, Rest>, busy: impl Fn(&Rest) -> bool) -> MutexGuard<'a, Rest> {
        self.changed.wait_while(rest, |rest| busy(rest)).unwrap_or_else(PoisonError::into_inner)
    }

    /// A command begins, after the calls that wait for rest.
    pub fn busy(&self) -> Busy<'_> {
        let mut rest = self.wait(self.rest(), |rest| rest.waiting > 0 || rest.busy);
        rest.busy = true;
        Busy(self)
    }

    /// Does something while no command runs.
    fn at_rest<T>(&self, something: impl FnOnce() -> T) -> T {
        let mut rest = self.rest();
        rest.waiting += 1;
        let mut rest = self.wait(rest, |rest| rest.busy);
        let out = something();
        rest.waiting -= 1;
        drop(rest);
        self.changed.notify_all();
        out
    }

    /// The host can map this memory.
    pub fn allocated(&self, memory: &Arc<DeviceMemory>) {
        static SAID: Once = Once::new();
        if let Some(error) = host::refusal() {
            SAID.call_once(|| {
                say(&format!(
                    "the kernel does not track writes (userfaultfd: {error}): host writes are found by comparing all bytes"
                ));
            });
        }
        let mut memories = self.memories();
        memories.retain(|_, memory| memory.strong_count() > 0);
        memories.insert(memory.bytes().address(), Arc::downgrade(memory));
    }

    fn all(&self) -> Vec<Arc<DeviceMemory>> {
        self.memories().values().filter_map(Weak::upgrade).collect()
    }

    /// A command has written what these runs say.
    pub fn device_wrote(&self, runs: &[(Range, Operand)]) {
        let memories = self.memories();
        for (range, _) in runs.iter().filter(|(_, operand)| !operand.write.is_empty()) {
            let Some((address, memory)) = memories.range(..=range.start).next_back() else { continue };
            if let Some(memory) = memory.upgrade().filter(|m| range.start - address < m.bytes().size()) {
                memory.bytes().device_wrote(&(range.start - address..range.end - address));
            }
        }
    }

    /// Something that does not say what it writes has run.
    pub fn device_wrote_somewhere(&self) {
        self.all().iter().for_each(|memory| memory.bytes().device_wrote_somewhere());
    }

    /// Looks at what the host did since the last call, and tells the hazards of it. `call` is the call that
    /// is made; none where a queue looks.
    fn look(&self, device: &Device, call: Option<&'static str>) {
        let Some(hazards) = device.hazards.as_ref().filter(|_| device.alive().is_ok()) else { return };
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let memories = self.all();
        // All are looked at.
        let written = memories.iter().filter(|memory| memory.bytes().look()).count();
        let tell = || {
            for memory in &memories {
                let bytes = memory.bytes();
                let at = |b: &Bytes<u64>| addresses(memory, b);
                let accesses = bytes.host_accesses();
                let writes: Vec<Range> = accesses.writes.iter().map(at).collect();
                let reads: Vec<(Range, bool)> =
                    accesses.reads.iter().map(|(b, unseen)| (at(b), *unseen)).collect();
                hazards.host_accessed(&writes, &reads, memory.coherent, *since);
            }
        };
        if written > 0 {
            self.at_rest(tell)
        } else {
            tell()
        }
        if let Some(call) = call {
            *since = call;
        }
        drop(since);
        if let Err(text) = report(device) {
            device.lose(&text);
        }
    }
}

/// The host makes a call that orders it with the device: looks at what it did before.
pub fn synchronize(device: &Device, call: &'static str) {
    if let Some(host) = &device.host {
        host.look(device, Some(call));
    }
}

/// A queue begins a submission: what the host did until now is looked at before commands change the bytes.
pub fn before_submission(device: &Device) {
    if let Some(host) = &device.host {
        host.look(device, None);
    }
}

/// vkFlushMappedMemoryRanges did this to a range of memory.
pub fn flushed(device: &Device, memory: &DeviceMemory, (offset, size): (u64, u64), flushed: &Flushed) {
    if let (Some(hazards), false) = (&device.hazards, memory.coherent) {
        let (start, end) = (offset / ATOM * ATOM, offset.saturating_add(size).next_multiple_of(ATOM));
        let range = addresses(memory, &(start..end.min(memory.bytes().size())));
        let lost: Vec<Range> = flushed.lost.iter().map(|b| addresses(memory, b)).collect();
        hazards.host_flushed(range, &lost);
        if let Err(text) = report(device) {
            device.lose(&text);
        }
    }
}

/// vkInvalidateMappedMemoryRanges did this to memory.
pub fn invalidated(device: &Device, memory: &DeviceMemory, invalidated: &Invalidated) {
    if let Some(hazards) = &device.hazards {
        let [seen, discarded] = [&invalidated.seen, &invalidated.discarded]
            .map(|list| list.iter().map(|b| addresses(memory, b)).collect::<Vec<Range>>());
        hazards.host_invalidated(&seen, &discarded);
        if let Some(first) = invalidated.discarded.first() {
            let text = format!(
                "vkInvalidateMappedMemoryRanges: the host wrote bytes {}..{} of VkDeviceMemory {:#x} and did not flush them: they are lost",
                first.start,
                first.end,
                memory.handle()
            );
            message::error(Some(&device.instance), &text);
        }
        if let Err(text) = report(device) {
            device.lose(&text);
        }
    }
}

/// Device addresses of bytes of memory.
fn addresses(memory: &DeviceMemory, bytes: &Bytes<u64>) -> Range {
    let base = memory.bytes().address();
    Range { start: base + bytes.start, end: base + bytes.end }
}

/// Reports what was found between the host and the device.
///
/// # Errors
/// The text of what loses the device.
pub fn report(device: &Device) -> Result<(), String> {
    let Some(hazards) = &device.hazards else { return Ok(()) };
    let mut outcome = Ok(());
    for HostFound { hazard, command, since } in hazards.take_host_found() {
        let Some(host) = &device.host else { continue };
        let submission = command.as_ref().map_or(u64::MAX, |command| command.submission);
        // Events and queries tell as well, and need no dependency.
        let completed = device.completion.host().covers(hazard.at.0.0, submission);
        if hazard.id == FindingId::HostInFlight && completed {
            continue;
        }
        let Some(first) = hazard.bytes.first().map(|b| b.start) else { continue };
        let memory = host.memories().range(..=first).next_back().and_then(|(_, memory)| memory.upgrade());
        let Some(memory) = memory else { continue };
        let handle = memory.handle();
        let told = HostReport {
            hazard: &hazard,
            since,
            command: side(command.as_ref()),
            memory: Object {
                reference: Reference(u32::MAX),
                what: DeviceMemory::NAME.to_owned(),
                handle,
                object_type: vk::ObjectType::DEVICE_MEMORY.as_raw(),
                name: device.name(vk::ObjectType::DEVICE_MEMORY, handle),
                address: 0,
                texels: None,
            },
            extent: (memory.bytes().address(), memory.bytes().size()),
            place: place(device, first),
        };
        let verdict = device.instance.session.host(&told);
        if let Some(message) = &verdict.message {
            deliver_report(device, message);
        }
        if verdict.halt {
            outcome = Err(format!("halt-on-error: {}", hazard.id.name()));
        }
    }
    outcome
}
