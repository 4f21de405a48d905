//! Parts of allocations, as descriptors and device addresses reach them.

use super::Allocation;
use crate::access::Reference;
use crate::heap::HeapError;
use crate::host::HostLines;
use crate::raw::{self, MemoryView};
use std::sync::Arc;

/// A part of an allocation that a descriptor or a device address reaches. Keeps the allocation alive.
#[derive(Clone, Debug)]
pub struct MemoryRange {
    /// Its bytes; handed out no longer than `memory` is borrowed.
    view: MemoryView<'static>,
    /// `None`: a range of nothing.
    memory: Option<Arc<Allocation>>,
}

impl MemoryRange {
    /// Nothing: every access is out of bounds.
    pub const NULL: MemoryRange = MemoryRange { view: MemoryView::NULL, memory: None };

    /// Up to `size` bytes of an allocation from `offset` on; nothing past its end.
    pub fn new(memory: &Arc<Allocation>, offset: u64, size: u64, reference: Reference) -> MemoryRange {
        // SAFETY: the range keeps the allocation.
        let all: MemoryView<'static> = unsafe { memory.device.view() };
        let view = all.part(0, memory.size).at(memory.address).part(offset, size).through(reference);
        MemoryRange { view, memory: Some(memory.clone()) }
    }

    /// Memory of its own that holds these words.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn of_words(words: &[u32], address: u64, reference: Reference) -> Result<MemoryRange, HeapError> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let memory = Allocation::private(address, bytes.len() as u64)?;
        memory.write(0, &bytes);
        Ok(MemoryRange::new(&memory, 0, bytes.len() as u64, reference))
    }

    /// The bytes.
    #[inline(always)]
    pub fn view(&self) -> MemoryView<'_> {
        self.view.of_allocation(self.memory.as_ref())
    }

    /// Device address of the first byte; 0 if there is none.
    #[inline(always)]
    pub fn address(&self) -> u64 {
        self.view.address
    }

    /// Bytes.
    #[inline(always)]
    pub fn size(&self) -> u64 {
        self.view.size()
    }

    /// What it is a part of; `None` if of nothing.
    pub fn allocation(&self) -> Option<&Arc<Allocation>> {
        self.memory.as_ref()
    }

    /// The bytes as 32-bit words.
    pub fn words(&self) -> Vec<u32> {
        let mut bytes = vec![0; self.size() as usize];
        raw::read(&self.view, 0, &mut bytes);
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    /// The same bytes through a reference.
    pub fn through(&self, reference: Reference) -> MemoryRange {
        MemoryRange { view: self.view.through(reference), memory: self.memory.clone() }
    }

    /// The part of an allocation that a view shows; `None` if it is one of none.
    pub fn of(view: &MemoryView<'_>) -> Option<MemoryRange> {
        let memory = view.memory()?;
        Some(MemoryRange::new(memory, view.address - memory.address, view.size(), view.reference))
    }

    /// Goes on to the end of another range of the same allocation, which begins inside of this one or right
    /// behind it; false if it does not.
    pub fn join(&mut self, next: &MemoryRange) -> bool {
        let (Some(memory), Some(other)) = (&self.memory, &next.memory) else { return false };
        let (start, end) = (self.address(), self.address() + self.size());
        let joins = Arc::ptr_eq(memory, other) && (start..=end).contains(&next.address());
        if joins {
            let size = end.max(next.address() + next.size()) - start;
            *self = MemoryRange::new(memory, start - memory.address, size, self.view.reference);
        }
        joins
    }
}

/// What the host's cache of a machine holds of these ranges, whole words of them.
pub fn host_lines<'a>(ranges: impl Iterator<Item = &'a MemoryRange>) -> HostLines {
    let part = |range: &'a MemoryRange| {
        let memory = range.allocation()?;
        let end = (range.address() + range.size()).next_multiple_of(4).min(memory.address + memory.size);
        Some((range.address() & !3, end, memory))
    };
    let mut parts: Vec<(u64, u64, &Arc<Allocation>)> = ranges.filter_map(part).collect();
    parts.sort_by_key(|(start, end, _)| (*start, *end));
    let (mut all, mut at) = (HostLines::default(), 0);
    for (start, end, memory) in parts {
        let start = start.max(at);
        if start < end {
            all.append(memory.host_lines(start - memory.address, end - start).unwrap_or_default());
            at = end;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_what_they_show() {
        let mut range = MemoryRange::of_words(&[1, 2, 3, 4], 0x1000, Reference(7)).unwrap();
        let part = MemoryRange::of(&range.view().part(4, 8)).unwrap();
        let other = MemoryRange::of_words(&[5], 0x1010, Reference(7)).unwrap();
        assert!(!range.join(&other) && MemoryRange::of(&MemoryView::of_words(&mut [0u32])).is_none());
        range = MemoryRange::of(&range.view().part(0, 4)).unwrap();
        assert!(range.join(&part));
        assert_eq!((range.address(), range.words()), (0x1000, vec![1, 2, 3]));
        drop(range);
        assert_eq!((part.address(), part.words(), part.view().reference), (0x1004, vec![2, 3], Reference(7)));
    }
}
