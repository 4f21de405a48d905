//! Which bytes of device memory nothing has written since they were allocated.
//!
//! Only allocations that are followed are looked at: all others count as written. That is meant for memory
//! that only the device reaches; what the host has mapped, it may have written unseen. A byte is written by
//! the first command or shader that stores to it, whatever it stores: a copy of unwritten bytes is a write of
//! its target.
//!
//! A clone shares the pages of the original until either changes: a dispatch takes one and looks at it
//! without a lock.

use crate::system::{LANES, Lanes, Mask};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes that one page describes.
const PAGE: u64 = 1 << 14;
const WORDS: usize = PAGE as usize / 64;

#[derive(Clone, Debug)]
enum Page {
    /// No byte is written.
    Fresh,
    /// All bytes are written.
    Full,
    /// A bit for each byte, and how many are not set yet: written.
    Mixed(Box<[u64; WORDS]>, u32),
}

/// The pages of an allocation of device memory.
#[derive(Clone, Debug)]
struct Extent {
    end: u64,
    pages: Vec<Page>,
    /// Pages that are not full.
    left: usize,
}

/// See the module's page.
#[derive(Clone, Debug, Default)]
pub struct Unwritten {
    /// By their first address; they do not overlap.
    extents: BTreeMap<u64, Arc<Extent>>,
}

/// Sets the bits `from .. to`; returns how many were not set.
fn set(bits: &mut [u64; WORDS], from: u64, to: u64) -> u32 {
    let (mut at, mut new) = (from, 0);
    while at < to {
        let (word, first) = ((at / 64) as usize, at % 64);
        let count = (64 - first).min(to - at);
        let wanted = (u64::MAX >> (64 - count)) << first;
        new += (wanted & !bits[word]).count_ones();
        bits[word] |= wanted;
        at += count;
    }
    new
}

/// Clears the bits `from .. to`; returns how many were set.
fn clear(bits: &mut [u64; WORDS], from: u64, to: u64) -> u32 {
    let before: u32 = bits.iter().map(|word| word.count_ones()).sum();
    for at in from..to {
        bits[(at / 64) as usize] &= !(1 << (at % 64));
    }
    before - bits.iter().map(|word| word.count_ones()).sum::<u32>()
}

/// Whether all of the bits `from .. to` are set.
fn all(bits: &[u64; WORDS], from: u64, to: u64) -> bool {
    let mut at = from;
    while at < to {
        let (word, first) = ((at / 64) as usize, at % 64);
        let count = (64 - first).min(to - at);
        let wanted = (u64::MAX >> (64 - count)) << first;
        if bits[word] & wanted != wanted {
            return false;
        }
        at += count;
    }
    true
}

impl Extent {
    /// Calls `each` with the page of every part of `from .. to` (from the first address) and the part in it.
    fn parts(from: u64, to: u64) -> impl Iterator<Item = (usize, u64, u64)> {
        (from / PAGE..to.div_ceil(PAGE)).map(move |page| {
            let base = page * PAGE;
            (page as usize, from.max(base) - base, to.min(base + PAGE) - base)
        })
    }

    fn write(&mut self, from: u64, to: u64, size: u64) {
        for (index, first, last) in Extent::parts(from, to) {
            let length = (size - index as u64 * PAGE).min(PAGE);
            let page = &mut self.pages[index];
            if let Page::Fresh = page {
                *page = Page::Mixed(Box::new([0; WORDS]), length as u32);
            }
            if let Page::Mixed(bits, left) = page {
                *left -= set(bits, first, last);
                if *left == 0 {
                    *page = Page::Full;
                    self.left -= 1;
                }
            }
        }
    }

    fn discard(&mut self, from: u64, to: u64, size: u64) {
        for (index, first, last) in Extent::parts(from, to) {
            let length = (size - index as u64 * PAGE).min(PAGE);
            let page = &mut self.pages[index];
            if let Page::Full = page {
                let mut bits = Box::new([0; WORDS]);
                set(&mut bits, 0, length);
                *page = Page::Mixed(bits, 0);
                self.left += 1;
            }
            if let Page::Mixed(bits, left) = page {
                *left += clear(bits, first, last);
                if u64::from(*left) == length {
                    *page = Page::Fresh;
                }
            }
        }
    }

    fn written(&self, from: u64, to: u64) -> bool {
        Extent::parts(from, to).all(|(index, first, last)| match &self.pages[index] {
            Page::Fresh => false,
            Page::Full => true,
            Page::Mixed(bits, _) => all(bits, first, last),
        })
    }
}

impl Unwritten {
    /// All bytes of `address .. address + size` are unwritten from now on.
    pub fn allocate(&mut self, address: u64, size: u64) {
        self.forget(address, size);
        let pages = vec![Page::Fresh; size.div_ceil(PAGE) as usize];
        let extent = Extent { end: address + size, left: pages.len(), pages };
        self.extents.insert(address, Arc::new(extent));
    }

    /// Allocations that reach into `address .. address + size` are not followed any more.
    pub fn forget(&mut self, address: u64, size: u64) {
        while let Some((start, _)) = self.extent(address, address + size) {
            self.extents.remove(&start);
        }
    }

    /// No allocation is followed any more: somebody may have written to any.
    pub fn clear(&mut self) {
        self.extents.clear();
    }

    /// Whether no byte is unwritten.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    fn extent(&self, start: u64, end: u64) -> Option<(u64, &Arc<Extent>)> {
        let (first, extent) = self.extents.range(..end).next_back()?;
        (extent.end > start).then_some((*first, extent))
    }

    /// The bytes `start .. end` are written.
    pub fn write(&mut self, start: u64, mut end: u64) {
        while start < end
            && let Some((first, extent)) = self.extent(start, end)
        {
            let (from, to) = (start.max(first), end.min(extent.end));
            if !extent.written(from - first, to - first) {
                let full = self.extents.get_mut(&first).is_some_and(|extent| {
                    let size = extent.end - first;
                    let extent = Arc::make_mut(extent);
                    extent.write(from - first, to - first, size);
                    extent.left == 0
                });
                if full {
                    self.extents.remove(&first);
                }
            }
            end = first;
        }
    }

    /// The bytes `start .. end` of the allocation of `size` bytes at `address` hold nothing any more. It is
    /// followed from now on.
    pub fn discard(&mut self, address: u64, size: u64, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let extent = self.extents.entry(address).or_insert_with(|| {
            let pages = vec![Page::Full; size.div_ceil(PAGE) as usize];
            Arc::new(Extent { end: address + size, pages, left: 0 })
        });
        Arc::make_mut(extent).discard(start - address, end - address, size);
    }

    /// Whether a byte of `start .. end` is unwritten.
    pub fn any(&self, start: u64, mut end: u64) -> bool {
        while start < end
            && let Some((first, extent)) = self.extent(start, end)
        {
            if !extent.written(start.max(first) - first, end.min(extent.end) - first) {
                return true;
            }
            end = first;
        }
        false
    }

    /// The lanes of `mask` none of whose bytes is unwritten: `size` each, from `address` and an offset on.
    pub fn written_lanes(&self, address: u64, offset: &Lanes, mask: Mask, size: u64) -> Mask {
        let mut found: Option<(u64, &Extent)> = None;
        let mut written = 0;
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize % LANES;
            left &= left - 1;
            let start = address + u64::from(offset.0[lane]);
            let end = start + size;
            // Most often all lanes are in one allocation.
            let holds = |(first, extent): &(u64, &Extent)| *first <= start && end <= extent.end;
            if !found.as_ref().is_some_and(holds) {
                found = self.extent(start, end).map(|(first, extent)| (first, &**extent)).filter(holds);
            }
            let is_written = match found {
                Some((first, extent)) => extent.written(start - first, end - first),
                None => !self.any(start, end),
            };
            written |= Mask::from(is_written) << lane;
        }
        written
    }

    /// The unwritten bytes of `start .. end`, as runs in ascending order: the first and the one behind the
    /// last.
    pub fn runs(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        let mut add = |from: u64, to: u64| match runs.last_mut() {
            Some((_, last)) if *last == from => *last = to,
            _ => runs.push((from, to)),
        };
        let overlapping = self.extents.iter().filter(|(first, extent)| **first < end && extent.end > start);
        for (first, extent) in overlapping {
            let (from, to) = (start.max(*first) - first, end.min(extent.end) - first);
            for (index, begin, behind) in Extent::parts(from, to) {
                let base = first + index as u64 * PAGE;
                match &extent.pages[index] {
                    Page::Full => {}
                    Page::Fresh => add(base + begin, base + behind),
                    Page::Mixed(bits, _) => {
                        let unset = |at: &u64| bits[(at / 64) as usize] >> (at % 64) & 1 == 0;
                        (begin..behind).filter(unset).for_each(|at| add(base + at, base + at + 1));
                    }
                }
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests;
