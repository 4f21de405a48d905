//! Memory of sparse resources: addresses of their own, at which parts of allocations are bound (*Sparse
//! Resources*).
//!
//! A sparse resource is a range of addresses that is mapped all the time: to the pages of what is bound, and
//! elsewhere to private ones. So nobody who accesses it has to ask where its bytes are, and a binding that
//! changes under an access changes which bytes that reaches and nothing else. The private pages are zero
//! (`residencyNonResidentStrict`), as who writes a sparse resource leaves out what is without memory. They
//! stay so as long as bindings change only where nothing writes: a write that asked before its bytes were
//! unbound reaches the private pages.

use super::{Allocation, Bytes, HostMemory, Place};
use crate::component::each;
use crate::heap::{Heap, HeapError, Placement};
use crate::host::{Mapping, PAGE};
use crate::raw::{self, MemoryView};
use crate::system::{Lanes, Mask};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there has been any sparse resource in this process.
static ANY: AtomicBool = AtomicBool::new(false);

/// Whether there may be sparse resources: who would look at many resources need not while this is false.
pub fn is_any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// A part of an allocation that is bound.
#[derive(Debug)]
struct Binding {
    /// Behind its last byte in the resource.
    end: u64,
    memory: Arc<Allocation>,
    /// Its first byte in that.
    offset: u64,
}

/// What is bound to a sparse resource, by the first byte there.
#[derive(Debug, Default)]
pub(super) struct Bindings(RwLock<BTreeMap<u64, Binding>>);

/// Takes `range` out of the bindings.
fn cut(bindings: &mut BTreeMap<u64, Binding>, range: &Range<u64>) {
    while let Some((&start, _)) =
        bindings.range(..range.end).next_back().filter(|(_, binding)| binding.end > range.start)
    {
        let Some(binding) = bindings.remove(&start) else { return };
        if binding.end > range.end {
            let (memory, offset) = (binding.memory.clone(), binding.offset + (range.end - start));
            bindings.insert(range.end, Binding { end: binding.end, memory, offset });
        }
        if start < range.start {
            bindings.insert(start, Binding { end: range.start, ..binding });
        }
    }
}

impl Allocation {
    /// `size` bytes of `addresses` for a sparse resource, with nothing bound. The host cannot map them.
    ///
    /// # Errors
    /// There are too few addresses left, or the operating system refuses.
    pub fn sparse(
        addresses: &Arc<Heap>,
        placement: Placement,
        size: u64,
    ) -> Result<Arc<Allocation>, HeapError> {
        ANY.store(true, Ordering::Relaxed);
        let bytes = Bytes::Sparse(Bindings::default());
        let place = (addresses, placement);
        Allocation::placed(place, size, HostMemory::Flat, bytes, |_| Mapping::new(size, None))
    }

    fn bindings(&self) -> Option<&Bindings> {
        match &self.place {
            Some(Place { bytes: Bytes::Sparse(bindings), .. }) => Some(bindings),
            _ => None,
        }
    }

    /// Binds a part of other memory, from an offset, to `range` of a sparse resource, or unbinds what is
    /// there. In whole pages. False, and nothing done, if a range is not inside its memory or this is no
    /// sparse resource's.
    ///
    /// # Errors
    /// The operating system refuses; what was bound still is.
    pub fn bind(
        &self,
        range: &Range<u64>,
        memory: Option<(&Arc<Allocation>, u64)>,
    ) -> Result<bool, HeapError> {
        let Some(bindings) = self.bindings() else { return Ok(false) };
        let whole = |at: u64| at.is_multiple_of(PAGE);
        let inside = range.start <= range.end && range.end <= self.device.length();
        if !inside || !whole(range.start) || !whole(range.end) {
            return Ok(false);
        }
        let file = match memory {
            None => None,
            Some((memory, offset)) => {
                let end = offset.checked_add(range.end - range.start);
                let fits = end.is_some_and(|end| end <= memory.size.next_multiple_of(PAGE));
                match memory.place.as_ref().and_then(Place::file).filter(|_| fits && whole(offset)) {
                    Some((file, start)) => Some((file, start + offset)),
                    None => return Ok(false),
                }
            }
        };
        let mut all = bindings.0.write();
        self.device.show(range, file)?;
        cut(&mut all, range);
        if let Some((memory, offset)) = memory
            && range.start < range.end
        {
            all.insert(range.start, Binding { end: range.end, memory: memory.clone(), offset });
        }
        Ok(true)
    }

    /// The first bytes of `range` of a sparse resource to which nothing is bound, if there are any.
    pub fn first_unbound(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let all = self.bindings()?.0.read();
        let mut at = range.start;
        let before = all.range(..=at).next_back();
        for (&start, binding) in before.into_iter().chain(all.range(at + 1..range.end.max(at + 1))) {
            if start > at {
                break;
            }
            at = at.max(binding.end);
        }
        let next = all.range(at..).next().map_or(range.end, |(&start, _)| start.min(range.end));
        (at < range.end).then_some(at..next)
    }

    /// Whether this is the memory of a sparse resource.
    pub fn is_sparse(&self) -> bool {
        self.bindings().is_some()
    }

    /// The parts of some bytes to which memory is bound; all of them, if this is no sparse resource's.
    fn bound(&self, bytes: Range<u64>) -> Vec<Range<u64>> {
        let (mut parts, mut at) = (Vec::new(), bytes.start);
        while at < bytes.end {
            let hole = self.first_unbound(&(at..bytes.end)).unwrap_or(bytes.end..bytes.end);
            if at < hole.start {
                parts.push(at..hole.start);
            }
            at = hole.end;
        }
        parts
    }

    /// Copies the bytes of a view to here; false, and nothing copied, if there are not so many.
    pub fn copy_from(&self, offset: u64, from: &MemoryView<'_>) -> bool {
        self.checked(offset, from.size()).is_some_and(|to| copy(from, &to, self))
    }

    /// [`Allocation::write`] to a sparse resource.
    pub(super) fn write_bound(&self, offset: u64, from: &[u8]) -> bool {
        let Some(all) = self.checked(offset, from.len() as u64) else { return false };
        for part in self.bound(offset..offset + all.size()) {
            let (start, end) = (part.start - offset, part.end - offset);
            raw::write(&all, start, &from[start as usize..end as usize]);
        }
        true
    }

    /// Which of these bytes of `memory` are bound to this sparse resource, once for each place there.
    pub fn bound_of(&self, memory: &Arc<Allocation>, bytes: &Range<u64>) -> Vec<Range<u64>> {
        let Some(bindings) = self.bindings() else { return Vec::new() };
        let all = bindings.0.read();
        let of = all.iter().filter(|(_, binding)| Arc::ptr_eq(&binding.memory, memory));
        let parts = of.map(|(start, binding)| {
            let end = binding.offset + (binding.end - start);
            binding.offset.max(bytes.start)..end.min(bytes.end)
        });
        parts.filter(|part| !part.is_empty()).collect()
    }
}

/// Copies the bytes of one view to another one of that size, which is part of `target`, as far as memory is
/// bound there; false, and nothing copied, if the sizes differ. Where they overlap and `target` is sparse, it
/// goes part by part, and a later one may be copied from what an earlier one wrote: Vulkan leaves that
/// undefined.
pub(super) fn copy(from: &MemoryView<'_>, to: &MemoryView<'_>, target: &Allocation) -> bool {
    if !target.is_sparse() || from.size() != to.size() {
        return raw::copy(from, to);
    }
    let start = to.address - target.address;
    target.bound(start..start + to.size()).into_iter().all(|part| {
        let (at, size) = (part.start - start, part.end - part.start);
        raw::copy(&from.part(at, size), &to.part(at, size))
    })
}

/// Fills a view of `target` with a repeated pattern, which is not empty and may be cut at the end, as far as
/// memory is bound there.
pub(super) fn fill(target: &Allocation, to: &MemoryView<'_>, pattern: &[u8]) {
    if !target.is_sparse() {
        return raw::fill(to, pattern);
    }
    let start = to.address - target.address;
    for part in target.bound(start..start + to.size()) {
        let (at, size) = (part.start - start, part.end - part.start);
        let mut pattern = pattern.to_vec();
        let phase = at as usize % pattern.len();
        pattern.rotate_left(phase);
        raw::fill(&to.part(at, size), &pattern);
    }
}

impl MemoryView<'_> {
    /// Copies the bytes of another view of that size, as far as memory is bound here; false, and nothing
    /// copied, if the sizes differ. Views that overlap are copied as Vulkan has it: undefined.
    pub fn copy_from(&self, from: &MemoryView<'_>) -> bool {
        match self.memory() {
            Some(memory) => copy(from, self, memory),
            None => raw::copy(from, self),
        }
    }

    /// Whether memory is bound to all of `size` bytes from an offset that are in the view. Only bytes of
    /// sparse resources may be without. What is outside of the view lacks no memory: it is out of bounds.
    pub fn is_resident(&self, offset: u64, size: u64) -> bool {
        let Some(memory) = self.memory().filter(|memory| memory.is_sparse()) else { return true };
        let (base, end) = (self.address - memory.address, offset.saturating_add(size).min(self.size()));
        offset >= end || memory.first_unbound(&(base + offset..base + end)).is_none()
    }

    /// The lanes of `mask` for whose `size` bytes, from their offset and `immediate` on, that is so.
    pub fn resident(&self, offset: &Lanes, immediate: u32, mask: Mask, size: u64) -> Mask {
        let (mut first, mut last) = (u32::MAX, 0);
        each(mask, |lane| {
            let at = offset.0[lane].wrapping_add(immediate);
            (first, last) = (first.min(at), last.max(at));
        });
        // Mostly memory is bound to all that lies between the lanes, too.
        if mask == 0 || self.is_resident(first.into(), u64::from(last - first) + size) {
            return mask;
        }
        let mut resident = 0;
        each(mask, |lane| {
            let at = offset.0[lane].wrapping_add(immediate);
            resident |= Mask::from(self.is_resident(at.into(), size)) << lane;
        });
        resident
    }
}

#[cfg(test)]
mod tests;
