//! The host's side of the device's memory, in check mode: which allocations the host can see, what commands
//! write to them, and what the host itself did before each call that orders it with the device.
//!
//! A call that may tell either side something (a submission, a wait, a status, a signal, a flush, an
//! invalidate, an unmapping) first looks at what the host wrote and read since the last one
//! ([`super::calls`]); only then what it tells counts. A queue looks as well before it works, so that it
//! overwrites nothing unseen, but what it sees is judged at that call. Coherent memory is looked at while no
//! command writes: where the host has written some, who looks waits for the command that runs.

use super::hazards::Hazards;
use crate::report::{Caller, say};
use parking_lot::{Condvar, Mutex};
use pellucid_memory::commands::{ByteSet, Range};
use pellucid_memory::device::Allocation;
use pellucid_memory::host::{self, Faults};
use std::collections::BTreeMap;
use std::ops::Range as Bytes;
use std::sync::{Arc, Once, Weak};

/// Memory that the host can map.
#[derive(Clone)]
pub struct Mappable<T> {
    pub bytes: T,
    /// The handle of its VkDeviceMemory.
    pub handle: u64,
    /// Its type is HOST_COHERENT.
    pub coherent: bool,
    /// What nobody has written is promised to be zero.
    pub zeroed: bool,
}

impl Mappable<Weak<Allocation>> {
    fn live(&self) -> Option<Mappable<Arc<Allocation>>> {
        let Mappable { handle, coherent, zeroed, .. } = *self;
        self.bytes.upgrade().map(|bytes| Mappable { bytes, handle, coherent, zeroed })
    }
}

/// Memory that the host can map, alive.
pub type Mapped = Mappable<Arc<Allocation>>;

impl Mapped {
    /// Its device addresses.
    pub fn all(&self) -> Range {
        addresses(&self.bytes, &(0..self.bytes.size()))
    }

    fn holds(&self, address: u64) -> bool {
        let Range { start, end } = self.all();
        (start..end).contains(&address)
    }

    /// The part of a range of addresses that is in it.
    fn part(&self, range: Range) -> Bytes<u64> {
        let Range { start, end } = self.all();
        range.start.clamp(start, end) - start..range.end.clamp(start, end) - start
    }
}

/// The memory of a device that the host can map.
#[derive(Default)]
pub struct MappableMemory {
    /// By device address.
    memories: Mutex<BTreeMap<u64, Mappable<Weak<Allocation>>>>,
    /// The call since which the host has not been looked at.
    since: Mutex<HostCall>,
    rest: Mutex<Rest>,
    changed: Condvar,
    left: Mutex<Left>,
}

/// Where the host is left alone, and when that cannot begin.
#[derive(Default)]
struct Left {
    /// It was somewhere.
    ever: bool,
    /// So many calls are handing in work.
    handing_in: u32,
}

/// A call of the host's, and who made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostCall {
    /// The entry point; "" before the first one.
    pub call: &'static str,
    /// Its thread and stack, where it is known.
    pub caller: Option<Arc<Caller>>,
}

/// Bytes from which on it is worth a question whether it matters what the host has written.
const MUCH: u64 = 256 << 10;

/// Parts of memory that matter from which on it is not worth its cost to leave the others alone.
const PARTS: usize = 1 << 10;

/// Whether a command runs, and how many calls wait for its end.
#[derive(Default)]
struct Rest {
    busy: bool,
    waiting: u32,
}

/// A command that runs.
pub struct RunningCommand<'a>(&'a MappableMemory);

impl Drop for RunningCommand<'_> {
    fn drop(&mut self) {
        self.0.rest.lock().busy = false;
        self.0.changed.notify_all();
    }
}

/// A call that hands in work.
pub struct HandingIn<'a>(&'a MappableMemory);

impl Drop for HandingIn<'_> {
    fn drop(&mut self) {
        self.0.left.lock().handing_in -= 1;
    }
}

impl MappableMemory {
    /// A command begins, after the calls that wait for rest.
    pub fn busy(&self) -> RunningCommand<'_> {
        let mut rest = self.rest.lock();
        self.changed.wait_while(&mut rest, |rest| rest.waiting > 0 || rest.busy);
        rest.busy = true;
        RunningCommand(self)
    }

    /// Does something while no command runs.
    pub fn at_rest<T>(&self, something: impl FnOnce() -> T) -> T {
        let mut rest = self.rest.lock();
        rest.waiting += 1;
        self.changed.wait_while(&mut rest, |rest| rest.busy);
        let out = something();
        rest.waiting -= 1;
        drop(rest);
        self.changed.notify_all();
        out
    }

    /// The host can map this memory.
    pub fn allocated(&self, memory: Mappable<&Arc<Allocation>>) {
        static SAID: Once = Once::new();
        if let Some(error) = host::refusal() {
            SAID.call_once(|| {
                say(&format!(
                    "the kernel does not track writes ({error}): host writes are found by comparing all bytes, host reads are not seen"
                ));
            });
        }
        let Mappable { bytes, handle, coherent, zeroed } = memory;
        let address = bytes.address();
        let mut memories = self.memories.lock();
        memories.retain(|_, memory| memory.bytes.strong_count() > 0);
        let bytes = Arc::downgrade(bytes);
        memories.insert(address, Mappable { bytes, handle, coherent, zeroed });
    }

    fn all(&self) -> Vec<Mappable<Arc<Allocation>>> {
        self.memories.lock().values().filter_map(Mappable::live).collect()
    }

    /// The memory of which the host's cache of a machine may hold what memory does not.
    pub fn differing_in_cache(&self) -> Vec<Mapped> {
        self.all().into_iter().filter(|memory| memory.bytes.evicts()).collect()
    }

    /// The memory that holds a device address, if any does.
    pub fn at(&self, address: u64) -> Option<Mapped> {
        let memories = self.memories.lock();
        let memory = memories.range(..=address).next_back().and_then(|(_, memory)| memory.live())?;
        memory.holds(address).then_some(memory)
    }

    /// A command has written these bytes.
    pub fn device_wrote(&self, written: &ByteSet) {
        let mut ranges = written.ranges().peekable();
        while let Some(first) = ranges.next() {
            let Some(memory) = self.at(first.start) else { continue };
            let mut parts = vec![memory.part(first)];
            while let Some(range) = ranges.next_if(|range| memory.holds(range.start)) {
                parts.push(memory.part(range));
            }
            memory.bytes.device_wrote(parts);
        }
    }

    /// Something that does not say what it writes has run.
    pub fn device_wrote_somewhere(&self) {
        self.all().iter().for_each(|memory| memory.bytes.device_wrote_somewhere());
    }

    /// The call since which the host has not been looked at.
    pub fn since(&self) -> HostCall {
        self.since.lock().clone()
    }

    /// Work was submitted that may write what the host reads from now on.
    pub fn watch_again(&self) {
        self.all().iter().for_each(|memory| memory.bytes.watch_again());
    }

    /// The host goes on after a wait.
    pub fn goes_on(&self) {
        self.all().iter().for_each(|memory| memory.bytes.expect_writes());
    }

    /// Work is handed in, until what is returned ends, that may use the bytes which `used` says: from now on
    /// what the host writes to them is followed.
    pub fn hand_in(&self, used: impl Fn(&Mapped, &mut dyn FnMut(Range))) -> HandingIn<'_> {
        let ever = {
            let mut left = self.left.lock();
            left.handing_in += 1;
            left.ever
        };
        let all = if ever { self.all() } else { Vec::new() };
        for memory in all.iter().filter(|memory| !memory.bytes.is_followed()) {
            used(memory, &mut |range| memory.bytes.follow_host(&memory.part(range)));
        }
        HandingIn(self)
    }

    /// From now on what the host writes to these bytes is followed.
    pub fn follow(&self, range: Range) {
        if let Some(memory) = self.at(range.start) {
            memory.bytes.follow_host(&memory.part(range));
        }
    }

    /// Leaves the host alone where it has written much to this memory, but for bytes that are `used` by
    /// pending work or otherwise matter. True if there is still something to be looked at.
    fn leave(&self, memory: &Mapped, used: &impl Fn(&Mapped, &mut dyn FnMut(Range))) -> bool {
        let mut left = self.left.lock();
        if left.handing_in > 0 || memory.bytes.to_be_noted() < MUCH {
            return true;
        }
        let mut kept: Vec<Bytes<u64>> = Vec::new();
        used(memory, &mut |range| {
            let part = memory.part(range);
            match kept.last_mut().filter(|last| last.start <= part.start && part.start <= last.end) {
                Some(last) => last.end = last.end.max(part.end),
                None => kept.push(part),
            }
        });
        if kept.len() > PARTS {
            return true;
        }
        left.ever = true;
        memory.bytes.leave_host(&kept)
    }

    /// Looks at what the host did since the last look; but where it has written much, only at bytes that are
    /// `used`. `again`: it may be just doing it, and the next look takes in the same pages. True if there is
    /// something to be judged.
    pub fn look(&self, again: bool, used: impl Fn(&Mapped, &mut dyn FnMut(Range))) -> bool {
        let (memories, faults) = (self.all(), Faults::now());
        // All are looked at.
        let mut written = false;
        for memory in &memories {
            written |= memory.bytes.look(faults) && self.leave(memory, &used);
        }
        let note = || memories.iter().filter(|memory| memory.bytes.note_host_accesses(again)).count() > 0;
        if written { self.at_rest(note) } else { note() }
    }

    /// Judges what was seen of the host since its last call.
    pub fn judge(&self, hazards: &Hazards) {
        let since = self.since.lock();
        for memory in self.all() {
            let mut accesses = memory.bytes.host_accesses();
            if memory.zeroed {
                // Who reads there may read zeros.
                accesses.unseen.clear();
            }
            hazards.host_accessed(&memory, &accesses, &since);
        }
    }

    /// The host makes a call that orders it with the device.
    pub fn calls(&self, call: &'static str) {
        let call = HostCall { call, caller: Some(Arc::new(Caller::here())) };
        *self.since.lock() = call;
    }
}

/// Device addresses of bytes of memory.
pub fn addresses(memory: &Allocation, bytes: &Bytes<u64>) -> Range {
    let base = memory.address();
    Range { start: base + bytes.start, end: base + bytes.end }
}
