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
mod tests {
    use super::*;
    use crate::access::Reference;
    use crate::device::MemoryRange;

    fn memory() -> (Arc<Allocation>, [Arc<Allocation>; 2]) {
        let heap = Arc::new(Heap::new(0x1_0000_0000, 1 << 22).unwrap());
        let addresses = Arc::new(Heap::new(0x2_0000_0000, 1 << 22).unwrap());
        let ordinary = || Allocation::new(&heap, 4 * PAGE, HostMemory::Flat).unwrap();
        (Allocation::sparse(&addresses, Placement::Anywhere, 8 * PAGE).unwrap(), [ordinary(), ordinary()])
    }

    fn byte(memory: &Allocation, offset: u64) -> u8 {
        let mut byte = [0];
        assert!(memory.read(offset, &mut byte));
        byte[0]
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no memory files")]
    fn what_is_bound_shows_through() {
        let (sparse, [a, b]) = memory();
        assert_eq!(sparse.address(), 0x2_0000_0000);
        assert_eq!(byte(&sparse, 0), 0);
        assert!(sparse.write(5, &[9]), "nothing is bound");
        assert_eq!(byte(&sparse, 5), 0);
        assert!(sparse.bind(&(0..2 * PAGE), Some((&a, PAGE))).unwrap());
        assert!(sparse.bind(&(3 * PAGE..4 * PAGE), Some((&b, 0))).unwrap());
        assert_eq!(byte(&sparse, 5), 0);
        sparse.write(PAGE + 1, &[7]);
        assert_eq!(byte(&a, 2 * PAGE + 1), 7);
        b.write(0, &[8]);
        assert_eq!(byte(&sparse, 3 * PAGE), 8);
        // The same memory elsewhere; the first place keeps showing what is left there.
        assert!(sparse.bind(&(0..PAGE), None).unwrap());
        assert!(sparse.bind(&(6 * PAGE..7 * PAGE), Some((&a, 2 * PAGE))).unwrap());
        assert_eq!((byte(&sparse, 6 * PAGE + 1), byte(&sparse, PAGE + 1), byte(&sparse, 1)), (7, 7, 0));
        drop(sparse);
        assert_eq!(byte(&a, 2 * PAGE + 1), 7);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no memory files")]
    fn bindings_are_cut_where_others_come() {
        let (sparse, [a, b]) = memory();
        sparse.bind(&(0..4 * PAGE), Some((&a, 0))).unwrap();
        sparse.bind(&(PAGE..2 * PAGE), Some((&b, 3 * PAGE))).unwrap();
        assert_eq!(sparse.bound_of(&a, &(0..1)), std::slice::from_ref(&(0..1)));
        assert!(sparse.bound_of(&a, &(PAGE..2 * PAGE)).is_empty());
        assert_eq!(sparse.bound_of(&a, &(0..4 * PAGE)), [0..PAGE, 2 * PAGE..4 * PAGE]);
        assert_eq!(sparse.bound_of(&b, &(0..4 * PAGE)), std::slice::from_ref(&(3 * PAGE..4 * PAGE)));
        assert_eq!(sparse.first_unbound(&(0..4 * PAGE)), None);
        sparse.bind(&(2 * PAGE..3 * PAGE), None).unwrap();
        assert_eq!(sparse.first_unbound(&(0..8 * PAGE)), Some(2 * PAGE..3 * PAGE));
        assert_eq!(sparse.first_unbound(&(3 * PAGE..8 * PAGE)), Some(4 * PAGE..8 * PAGE));
        assert_eq!(sparse.first_unbound(&(0..2 * PAGE)), None);
        let range = |memory, offset| MemoryRange::new(memory, offset, 4 * PAGE, Reference(0));
        let (part, ordinary) = (range(&sparse, PAGE), range(&a, 0));
        assert!(part.view().is_resident(0, PAGE) && part.view().is_resident(2 * PAGE, 4));
        assert!(!part.view().is_resident(PAGE - 1, 2) && !part.view().is_resident(3 * PAGE, 1));
        assert!(part.view().is_resident(4 * PAGE, 4) && part.view().is_resident(u64::MAX, 4));
        let bound = MemoryRange::new(&sparse, 0, 2 * PAGE, Reference(0));
        assert!(bound.view().is_resident(2 * PAGE - 4, 16), "what is not bound is outside");
        let lanes = |offsets: [u64; 4]| Lanes(std::array::from_fn(|n| offsets[n % 4] as u32));
        let offsets = lanes([0, PAGE, 2 * PAGE, 4 * PAGE - 4]);
        assert_eq!(part.view().resident(&offsets, 4, 0b1111, 4), 0b1101);
        assert_eq!(part.view().resident(&offsets, 0, 0b0101, 4), 0b0101);
        assert!(ordinary.view().is_resident(0, 8 * PAGE));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no memory files")]
    fn nothing_is_written_where_nothing_is_bound() {
        let (sparse, [a, b]) = memory();
        sparse.bind(&(PAGE..2 * PAGE), Some((&a, 0))).unwrap();
        sparse.bind(&(3 * PAGE..4 * PAGE), Some((&a, PAGE))).unwrap();
        let all = |memory: &Allocation| {
            let mut bytes = vec![9; 8 * PAGE as usize];
            assert!(memory.read(0, &mut bytes));
            bytes
        };
        let expected = |byte: &dyn Fn(u64) -> u8, start: u64| -> Vec<u8> {
            let bound = |at: u64| matches!(at / PAGE, 1 | 3) && at >= start;
            (0..8 * PAGE).map(|at| if bound(at) { byte(at - start) } else { 0 }).collect()
        };
        // The pattern's phase goes on over what is not there.
        assert!(sparse.fill(3, 8 * PAGE - 3, &[1, 2, 3]));
        assert!(all(&sparse) == expected(&|n| (n % 3) as u8 + 1, 3));
        let bytes: Vec<u8> = (0..6 * PAGE).map(|n| (n % 251) as u8).collect();
        assert!(sparse.write(PAGE / 2, &bytes));
        assert!(all(&sparse) == expected(&|n| (n % 251) as u8, PAGE / 2));
        assert!(b.fill(0, 4 * PAGE, &[7]));
        assert!(Allocation::copy(&b, 0, &sparse, 0, 4 * PAGE));
        assert!(all(&sparse) == expected(&|_| 7, 0));
        assert!(!sparse.write(8 * PAGE - 1, &[1, 2]));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no memory files")]
    fn ranges_are_checked() {
        let (sparse, [a, _]) = memory();
        assert!(!sparse.bind(&(0..5 * PAGE), Some((&a, 0))).unwrap(), "the memory is smaller");
        assert!(!sparse.bind(&(0..PAGE), Some((&a, u64::MAX - 1))).unwrap());
        assert!(!sparse.bind(&(1..PAGE), Some((&a, 0))).unwrap());
        assert!(!sparse.bind(&(8 * PAGE..9 * PAGE), None).unwrap());
        assert!(!a.bind(&(0..PAGE), Some((&sparse, 0))).unwrap());
        assert!(!sparse.bind(&(0..PAGE), Some((&sparse, 0))).unwrap());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no memory files")]
    fn what_is_bound_stays() {
        let (sparse, [a, b]) = memory();
        a.write(0, &[3]);
        sparse.bind(&(0..PAGE), Some((&a, 0))).unwrap();
        drop((a, b));
        assert_eq!(byte(&sparse, 0), 3);
    }
}
