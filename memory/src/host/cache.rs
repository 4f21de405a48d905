//! The host's cache of a machine, in front of memory that is not coherent.
//!
//! The application's loads and stores are its own: known are the bytes that it changes and the pages that it
//! accesses. So the cache holds the lines of all pages that the host has accessed, since then; a line that is
//! evicted is fetched again. What the device writes to a line that is held, the host does not see: the cache
//! holds what was there before. Of other lines the host gets what the device wrote, as if it had invalidated
//! them. What the host writes is in memory at once, where the cache passes it on, or when its line is flushed
//! or evicted.
//!
//! Of bytes that the cache holds as they were before the device wrote them, the application's mapping shows
//! neither what was there nor what the device wrote, as it does without a cache: a store of what was there
//! could not be told from none. What the cache holds of them, findings tell.
//!
//! Bytes that were fetched may be stored again without a change. So where the host writes to their page, they
//! count as seen: a finding may be missed on such a machine, and none is wrong.
//!
//! Nothing of this makes an access right or wrong: what is flushed and what is seen stays what the calls say.

use super::spans::Spans;
use crate::machine::{CacheKind, CachedCopy, HostCache, WritePolicy};
use crate::random::nth;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What the host's cache of a machine holds of device memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLines {
    /// Runs of device addresses, in order: first bytes and those behind the last.
    pub(crate) held: Vec<(u64, u64)>,
    /// Those of their bytes that memory does not have.
    pub(crate) differing: Vec<HostBytes>,
}

/// Bytes that the host's cache holds and memory does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostBytes {
    /// The device address of the first one.
    pub address: u64,
    /// What the cache holds.
    pub bytes: Vec<u8>,
    /// The host wrote them, and they are not written back. Else the device has written memory since.
    pub dirty: bool,
}

impl HostBytes {
    fn end(&self) -> u64 {
        self.address + self.bytes.len() as u64
    }
}

impl HostLines {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Bytes that it holds and memory does not, in order.
    pub fn differing(&self) -> &[HostBytes] {
        &self.differing
    }

    /// Has what another one holds, of memory behind all that this one holds.
    pub fn append(&mut self, other: HostLines) {
        self.held.extend(other.held);
        self.differing.extend(other.differing);
    }

    /// What it holds of the word at an address, where memory had `memory`.
    pub fn copy(&self, address: u64, memory: u32) -> Option<CachedCopy> {
        let next = self.held.partition_point(|(_, end)| *end <= address);
        let (start, end) = *self.held.get(next)?;
        let inside = |byte: &u64| (start..end).contains(&(address + byte));
        let held = (0..4).filter(inside).fold(0, |held, byte| held | 1 << byte);
        let (mut bytes, mut dirty) = (memory.to_le_bytes(), 0);
        let first = self.differing.partition_point(|run| run.end() <= address);
        for run in self.differing[first..].iter().take_while(|run| run.address < address + 4) {
            let inside =
                (run.address..).zip(&run.bytes).filter(|(at, _)| (address..address + 4).contains(at));
            for (at, byte) in inside {
                bytes[(at - address) as usize] = *byte;
                dirty |= u8::from(run.dirty) << (at - address);
            }
        }
        let value = u32::from_le_bytes(bytes);
        Some(CachedCopy { kind: CacheKind::Host, through: None, units: (0, 0), value, held, dirty })
    }
}

/// The cache, as far as one allocation is concerned: which bytes it holds, and how. The view copies them.
#[derive(Debug)]
pub(super) struct Cache {
    shape: HostCache,
    /// Pages that the host has accessed.
    accessed: Spans,
    /// Unseen bytes that the cache holds as they were.
    stale: Spans,
    /// Bytes that were not flushed, and that memory has all the same.
    written_back: Spans,
    evictions: u64,
}

/// What becomes of bytes that the device has written.
#[derive(Default)]
pub(super) struct Overtaken {
    /// The cache holds them as they were known to the host, from now on.
    pub kept: Vec<Range<u64>>,
    /// It holds them as they were, now or before.
    pub hidden: Vec<Range<u64>>,
    /// The host gets them as the device wrote them.
    pub fetched: Vec<Range<u64>>,
}

impl Cache {
    pub fn new(shape: HostCache) -> Cache {
        let [accessed, stale, written_back] = Default::default();
        Cache { shape, accessed, stale, written_back, evictions: 0 }
    }

    /// The lines that hold the bytes.
    pub fn lines(&self, range: &Range<u64>) -> Range<u64> {
        let line = u64::from(self.shape.line);
        range.start / line * line..range.end.next_multiple_of(line)
    }

    /// The host has accessed these pages.
    pub fn access(&mut self, pages: &Range<u64>) {
        self.accessed.insert(pages);
    }

    /// Bytes of `unseen` in a range that the host gets as they are in memory.
    pub fn fetched(&self, unseen: &Spans, range: &Range<u64>) -> Vec<Range<u64>> {
        unseen.within(range).iter().flat_map(|run| self.stale.between(run)).collect()
    }

    /// Unseen bytes that it holds as they were.
    pub fn stale(&self) -> &Spans {
        &self.stale
    }

    /// The host has written these bytes: from now on they are not stale. True if they go to memory at once.
    pub fn host_wrote(&mut self, range: &Range<u64>) -> bool {
        self.moved(range);
        let passes_on = self.shape.writes != WritePolicy::Back;
        if passes_on {
            self.written_back.insert(range);
        }
        passes_on
    }

    /// The device has written these bytes.
    pub fn device_wrote(&mut self, range: &Range<u64>) -> Overtaken {
        self.written_back.remove(range);
        let mut out = Overtaken::default();
        if self.shape.writes != WritePolicy::Coherent {
            out.hidden = self.accessed.within(range);
            out.kept = out.hidden.iter().flat_map(|part| self.stale.between(part)).collect();
        }
        self.stale.remove(range);
        out.hidden.iter().for_each(|part| self.stale.insert(part));
        out.fetched = self.stale.between(range).collect();
        out
    }

    /// The calls have moved these bytes, in one direction or the other: memory and the host have the same.
    pub fn moved(&mut self, range: &Range<u64>) {
        self.stale.remove(range);
        self.written_back.remove(range);
    }

    /// Bytes in the lines of `range` that the host has written and memory does not have.
    pub fn dirty(&self, unflushed: &Spans, range: &Range<u64>) -> Vec<Range<u64>> {
        let unflushed = unflushed.within(&self.lines(range));
        unflushed.iter().flat_map(|run| self.written_back.between(run)).collect()
    }

    /// What is dirty in the lines of `range` goes to memory: these bytes.
    pub fn write_back(&mut self, unflushed: &Spans, range: &Range<u64>) -> Vec<Range<u64>> {
        let dirty = self.dirty(unflushed, range);
        dirty.iter().for_each(|run| self.written_back.insert(run));
        dirty
    }

    /// Drops what is stale in the lines of `range`, but for `left`: the host gets these bytes as they are in
    /// memory now.
    pub fn drop_lines(&mut self, range: &Range<u64>, left: &Spans) -> Vec<Range<u64>> {
        let stale = self.stale.within(&self.lines(range));
        let dropped: Vec<_> = stale.iter().flat_map(|run| left.between(run)).collect();
        dropped.iter().for_each(|run| self.stale.remove(run));
        dropped
    }

    /// What else the host does evicts one in `traffic` of the lines that memory, of so many bytes, does not
    /// have as they are: these. `base`: the device address of the first byte.
    pub fn evicted(
        &mut self,
        unflushed: &Spans,
        (seed, traffic): (u64, u32),
        (base, size): (u64, u64),
    ) -> Vec<Range<u64>> {
        self.evictions += 1;
        let line = u64::from(self.shape.line);
        let mut lines = Spans::default();
        let dirty = self.dirty(unflushed, &(0..size));
        dirty.iter().cloned().chain(self.stale.iter()).for_each(|run| lines.insert(&self.lines(&run)));
        let all = lines.iter().flat_map(|run| run.step_by(line as usize));
        let dice = |at: &u64| nth(nth(seed, base + at), self.evictions).checked_rem(u64::from(traffic));
        all.filter(|at| dice(at) == Some(0)).map(|at| at..at + line).collect()
    }

    /// The bytes of a range that it holds; nothing, where it always has what memory has.
    pub fn held(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        match self.shape.writes {
            WritePolicy::Coherent => Vec::new(),
            _ => self.accessed.within(range),
        }
    }
}
