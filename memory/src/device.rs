//! Device memory: allocations, their device view and their host view.
//!
//! An allocation is a range of a heap's memory file mapped twice: the **device view**, through which shaders
//! and commands work, and the **host view**, which the application gets from vkMapMemory. Where nobody checks
//! the host, both show the same bytes at once, whatever the memory type promises: a flush or an invalidate has
//! nothing to do. Where the host is checked, [`crate::host`] says what the two show.
//!
//! Both views live as long as the allocation; whoever uses it holds a reference to it.

use crate::heap::{Heap, HeapError, data_ranges};
use crate::host::{Flushed, Invalidated, Mapping, PAGE, Spans, View};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// `nonCoherentAtomSize`, in bytes.
pub const ATOM: u64 = 64;

/// The host's side of an allocation, made when it is first mapped.
#[derive(Debug)]
enum HostView {
    /// The same pages as the device view; nobody looks at what the host does to them.
    Flat(Mapping),
    /// The host is watched.
    Checked(View),
}

/// How the host sees an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMemory {
    /// Its mapping is the device view's pages, whatever the memory type promises.
    Flat,
    /// The same, and its writes are looked for.
    Coherent,
    /// It has bytes of its own, which flush and invalidate move.
    NonCoherent,
}

/// One allocation of device memory.
#[derive(Debug)]
pub struct Allocation {
    heap: Arc<Heap>,
    offset: u64,
    size: u64,
    kind: HostMemory,
    device: Mapping,
    host: Mutex<Host>,
}

#[derive(Debug, Default)]
struct Host {
    view: Option<HostView>,
    /// Of non-coherent memory: bytes that the device wrote and the host has not invalidated.
    unseen: Spans,
}

impl Allocation {
    /// Allocates `size` bytes, zeroed.
    ///
    /// # Errors
    /// The heap is full, or the operating system refuses.
    pub fn new(heap: &Arc<Heap>, size: u64, kind: HostMemory) -> Result<Allocation, HeapError> {
        let offset = heap.take(size)?;
        match Mapping::new(size, Some((heap.descriptor(), offset))) {
            Ok(device) => {
                Ok(Allocation { heap: heap.clone(), offset, size, kind, device, host: Mutex::default() })
            }
            Err(error) => {
                heap.give(offset, size);
                Err(error)
            }
        }
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Device address of the first byte.
    pub fn address(&self) -> u64 {
        self.heap.address(self.offset)
    }

    /// Bytes that are committed.
    pub fn committed(&self) -> u64 {
        self.heap.committed(self.offset, self.size)
    }

    /// The device view at `offset`: valid for `size - offset` bytes as long as the allocation lives. `None`
    /// past the end.
    pub fn device_pointer(&self, offset: u64) -> Option<*mut u8> {
        // SAFETY: the offset is inside the mapping.
        (offset <= self.size).then(|| unsafe { self.device.start().add(offset as usize) })
    }

    fn host(&self) -> MutexGuard<'_, Host> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `with` makes of the host's view, if there is one that is checked.
    fn checked_view<T>(&self, with: impl FnOnce(&mut View, &mut Spans) -> T) -> Option<T> {
        match &mut *self.host() {
            Host { view: Some(HostView::Checked(view)), unseen } => Some(with(view, unseen)),
            _ => None,
        }
    }

    fn non_coherent_view<T>(&self, with: impl FnOnce(&mut View, &mut Spans) -> T) -> Option<T> {
        if self.kind == HostMemory::NonCoherent { self.checked_view(with) } else { None }
    }

    /// The host view, made at the first call and the same ever after.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn map(&self) -> Result<*mut u8, HeapError> {
        let mut host = self.host();
        if host.view.is_none() {
            let file = match self.kind {
                HostMemory::NonCoherent => (self.heap.host_copies()?, self.offset),
                HostMemory::Flat | HostMemory::Coherent => (self.heap.descriptor(), self.offset),
            };
            host.view = Some(match self.kind {
                HostMemory::Flat => HostView::Flat(Mapping::new(self.size, Some(file))?),
                kind => {
                    let coherent = kind == HostMemory::Coherent;
                    HostView::Checked(View::new(self.size, file, coherent, &self.device, &host.unseen)?)
                }
            });
        }
        match &host.view {
            Some(HostView::Flat(mapping)) => Ok(mapping.start()),
            Some(HostView::Checked(view)) => Ok(view.start()),
            None => Err(HeapError::system("map memory")),
        }
    }

    /// Takes note of pages that the host has written. True if there are any whose bytes only a device at rest
    /// leaves as the host wrote them.
    pub fn look(&self) -> bool {
        self.checked_view(|view, _| view.look()).unwrap_or(false) && self.kind == HostMemory::Coherent
    }

    /// The bytes that the host wrote since this was last asked, as far as they changed. Of coherent memory
    /// the device must not write any meanwhile.
    pub fn host_writes(&self) -> Vec<Range<u64>> {
        self.checked_view(|view, _| {
            view.look();
            view.writes(&self.device)
        })
        .unwrap_or_default()
    }

    /// A command or shader has written these bytes.
    pub fn device_wrote(&self, range: &Range<u64>) {
        let range = range.start..range.end.min(self.size);
        if range.is_empty() {
            return;
        }
        let mut host = self.host();
        if self.kind == HostMemory::NonCoherent {
            host.unseen.insert(&range);
        }
        if let Some(HostView::Checked(view)) = &mut host.view {
            view.device_wrote(&self.device, &range);
        }
    }

    /// Something that does not say what it writes has run on the device, which is at rest now.
    pub fn device_wrote_somewhere(&self) {
        let start = self.offset;
        for data in data_ranges(self.heap.descriptor(), start..start + self.size) {
            let pages = (data.start - start) / PAGE * PAGE..(data.end - start).next_multiple_of(PAGE);
            let found = self.checked_view(|view, unseen| view.device_wrote_in(&self.device, &pages, unseen));
            // Nobody has mapped it yet: all of it may be new to the host.
            let found =
                found.unwrap_or_else(|| std::iter::once(pages.start..pages.end.min(self.size)).collect());
            found.iter().for_each(|range| self.device_wrote(range));
        }
    }

    /// vkFlushMappedMemoryRanges: the host's writes in `offset .. offset + size` reach the device view.
    pub fn flush(&self, offset: u64, size: u64) -> Flushed {
        let range = self.mapped_range(offset, size);
        self.non_coherent_view(|view, unseen| {
            view.look();
            view.writes(&self.device);
            view.flush(&self.device, &range, unseen)
        })
        .unwrap_or_default()
    }

    /// vkInvalidateMappedMemoryRanges: the device's writes in `offset .. offset + size` reach the host view.
    pub fn invalidate(&self, offset: u64, size: u64) -> Invalidated {
        let range = self.mapped_range(offset, size);
        self.non_coherent_view(|view, unseen| {
            view.look();
            view.writes(&self.device);
            view.invalidate(&self.device, &range, unseen)
        })
        .unwrap_or_default()
    }

    fn mapped_range(&self, offset: u64, size: u64) -> Range<u64> {
        offset.min(self.size)..offset.saturating_add(size).min(self.size)
    }

    fn checked(&self, offset: u64, length: u64) -> Option<*mut u8> {
        (offset.checked_add(length)? <= self.size).then(|| self.device_pointer(offset)).flatten()
    }

    /// Reads device memory; false, and nothing read, if the range is not inside the allocation.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> bool {
        let Some(from) = self.checked(offset, to.len() as u64) else { return false };
        // SAFETY: both ranges are valid for the length; `to` is Rust memory and cannot overlap the mapping.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) };
        true
    }

    /// Writes device memory; false, and nothing written, if the range is not inside the allocation.
    pub fn write(&self, offset: u64, from: &[u8]) -> bool {
        let Some(to) = self.checked(offset, from.len() as u64) else { return false };
        // SAFETY: as for `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        true
    }

    /// Copies between allocations, or inside one (overlap allowed); false, and nothing copied, if a range is
    /// not inside.
    pub fn copy(from: &Allocation, from_offset: u64, to: &Allocation, to_offset: u64, length: u64) -> bool {
        let (Some(source), Some(target)) = (from.checked(from_offset, length), to.checked(to_offset, length))
        else {
            return false;
        };
        // SAFETY: both ranges are inside their mappings.
        unsafe { std::ptr::copy(source, target, length as usize) };
        true
    }

    /// Fills with a repeated pattern; false, and nothing written, if the range is not inside the allocation.
    pub fn fill(&self, offset: u64, length: u64, pattern: &[u8]) -> bool {
        let Some(start) = self.checked(offset, length) else { return false };
        if pattern.is_empty() {
            return false;
        }
        // SAFETY: the range is inside the mapping, and shaders that race with it use atomic accesses.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start, length as usize) };
        if pattern.iter().all(|b| *b == pattern[0]) {
            bytes.fill(pattern[0]);
            return true;
        }
        let head = pattern.len().min(bytes.len());
        bytes[..head].copy_from_slice(&pattern[..head]);
        let mut done = head;
        while done < bytes.len() {
            // Doubling keeps the pattern's phase, because `done` is a multiple of its length; at 64 KiB it
            // stops growing, to stay cached.
            let chunk = done.min(bytes.len() - done).min((65536 / pattern.len()).max(1) * pattern.len());
            bytes.copy_within(..chunk, done);
            done += chunk;
        }
        true
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // The views are unmapped after this, by their own drop; punching the file leaves them mapped to zero
        // pages.
        self.heap.give(self.offset, self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap() -> Arc<Heap> {
        Arc::new(Heap::new(0x1_0000_0000, 1 << 20).unwrap())
    }

    #[allow(clippy::mut_from_ref)]
    fn host_bytes(a: &Allocation) -> &mut [u8] {
        // SAFETY: tests are single-threaded and hold one such slice at a time.
        unsafe { std::slice::from_raw_parts_mut(a.map().unwrap(), a.size() as usize) }
    }

    #[test]
    fn coherent_views_show_the_same_bytes() {
        let a = Allocation::new(&heap(), 100, HostMemory::Flat).unwrap();
        host_bytes(&a)[7] = 42;
        let mut byte = [0];
        assert!(a.read(7, &mut byte));
        assert_eq!(byte, [42]);
        assert!(a.write(8, &[43]));
        assert_eq!(host_bytes(&a)[8], 43);
    }

    #[test]
    fn ranges_are_checked() {
        let a = Allocation::new(&heap(), 100, HostMemory::Flat).unwrap();
        assert!(!a.write(99, &[1, 2]));
        assert!(!a.read(u64::MAX, &mut [0]));
        assert!(!a.fill(0, 101, &[0]));
        assert!(!Allocation::copy(&a, 0, &a, 50, 51));
        assert!(a.fill(1, 9, &[1, 2, 3, 4]));
        let mut bytes = [0; 11];
        a.read(0, &mut bytes);
        assert_eq!(bytes, [0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 0]);
    }

    #[test]
    fn memory_is_zero_when_it_comes_back() {
        let heap = Arc::new(Heap::new(0, 1 << 16).unwrap());
        for _ in 0..40 {
            let a = Allocation::new(&heap, 1 << 16, HostMemory::Flat).unwrap();
            let mut bytes = [1; 16];
            a.read(0, &mut bytes);
            assert_eq!(bytes, [0; 16]);
            a.write(0, &[5; 16]);
            assert!(a.committed() > 0);
        }
    }
}
