//! Device memory: allocations, their device view and their host view.
//!
//! An allocation is a range of a heap's memory file mapped twice: the **device view**, through which shaders
//! and commands work, and the **host view**, which the application gets from vkMapMemory. Of coherent memory
//! both show the same bytes at once. Of non-coherent memory the host view is a copy: [`Allocation::flush`]
//! and [`Allocation::invalidate`] alone move bytes, in units of [`ATOM`], so that a missing call shows every
//! time. A flush moves only atoms that the host wrote since the last flush or invalidate; an invalidate
//! leaves atoms that the host wrote and did not flush undefined (here: the device's bytes). Mapping does not
//! invalidate; unmapping does not flush.
//!
//! Both views live as long as the allocation; whoever uses it holds a reference to it.

use crate::heap::{Heap, HeapError};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// `nonCoherentAtomSize`, in bytes.
pub const ATOM: u64 = 64;

/// One mapping; unmapped when dropped.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping is process-wide memory; how its bytes are accessed is the contract of the functions
// below.
unsafe impl Send for Mapping {}
// SAFETY: as for Send.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `size` bytes of a file from `offset`, or anonymous memory.
    fn new(size: u64, file: Option<(libc::c_int, u64)>) -> Result<Mapping, HeapError> {
        let length =
            usize::try_from(size.next_multiple_of(4096)).map_err(|_| HeapError::system("map memory"))?;
        let (flags, fd, offset) = match file {
            Some((fd, offset)) => (libc::MAP_SHARED, fd, offset),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
        };
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nothing.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                flags | libc::MAP_NORESERVE,
                fd,
                offset as libc::off_t,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(HeapError::system("map memory"));
        }
        match NonNull::new(start.cast()) {
            Some(start) => Ok(Mapping { start, length }),
            None => Err(HeapError::system("map memory")),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows from it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// The host's side of an allocation, made when it is first mapped.
#[derive(Debug)]
enum HostView {
    /// The same pages as the device view.
    Coherent(Mapping),
    /// The host's own copy, and its bytes at the last flush or invalidate.
    Copy { host: Mapping, synced: Mapping },
}

/// One allocation of device memory.
#[derive(Debug)]
pub struct Allocation {
    heap: Arc<Heap>,
    offset: u64,
    size: u64,
    coherent: bool,
    device: Mapping,
    host: Mutex<Option<HostView>>,
}

impl Allocation {
    /// Allocates `size` bytes, zeroed. `coherent` says what host views will be.
    ///
    /// # Errors
    /// The heap is full, or the operating system refuses.
    pub fn new(heap: &Arc<Heap>, size: u64, coherent: bool) -> Result<Allocation, HeapError> {
        let offset = heap.take(size)?;
        match Mapping::new(size, Some((heap.descriptor(), offset))) {
            Ok(device) => {
                Ok(Allocation { heap: heap.clone(), offset, size, coherent, device, host: Mutex::new(None) })
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
        (offset <= self.size).then(|| unsafe { self.device.start.as_ptr().add(offset as usize) })
    }

    /// The host view, made at the first call and the same ever after.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn map(&self) -> Result<*mut u8, HeapError> {
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        let view = match &mut *host {
            Some(view) => view,
            empty => empty.insert(if self.coherent {
                HostView::Coherent(Mapping::new(self.size, Some((self.heap.descriptor(), self.offset)))?)
            } else {
                HostView::Copy {
                    host: Mapping::new(self.size, None)?,
                    synced: Mapping::new(self.size, None)?,
                }
            }),
        };
        let (HostView::Coherent(mapping) | HostView::Copy { host: mapping, .. }) = view;
        Ok(mapping.start.as_ptr())
    }

    /// vkFlushMappedMemoryRanges: the host's writes in `offset .. offset + size` reach the device view.
    pub fn flush(&self, offset: u64, size: u64) {
        self.each_atom(offset, size, |host, synced, device| {
            if host != synced {
                synced.copy_from_slice(host);
                device.copy_from_slice(host);
            }
        });
    }

    /// vkInvalidateMappedMemoryRanges: the device's writes in `offset .. offset + size` reach the host view.
    pub fn invalidate(&self, offset: u64, size: u64) {
        self.each_atom(offset, size, |host, synced, device| {
            if host != device {
                host.copy_from_slice(device);
            }
            if synced != host {
                synced.copy_from_slice(host);
            }
        });
    }

    fn each_atom(&self, offset: u64, size: u64, mut each: impl FnMut(&mut [u8], &mut [u8], &mut [u8])) {
        let host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(HostView::Copy { host, synced }) = &*host else { return };
        let start = offset / ATOM * ATOM;
        let end =
            offset.saturating_add(size).min(self.size).next_multiple_of(ATOM).min(self.device.length as u64);
        let mut at = start;
        while at < end {
            let n = ATOM as usize;
            // SAFETY: three distinct mappings of one length, a multiple of the atom; `at` is inside. The
            // application and the device do not write these bytes during the call (valid usage: it would be a
            // data race of theirs).
            let (a, b, c) = unsafe {
                (
                    std::slice::from_raw_parts_mut(host.start.as_ptr().add(at as usize), n),
                    std::slice::from_raw_parts_mut(synced.start.as_ptr().add(at as usize), n),
                    std::slice::from_raw_parts_mut(self.device.start.as_ptr().add(at as usize), n),
                )
            };
            each(a, b, c);
            at += ATOM;
        }
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
        let a = Allocation::new(&heap(), 100, true).unwrap();
        host_bytes(&a)[7] = 42;
        let mut byte = [0];
        assert!(a.read(7, &mut byte));
        assert_eq!(byte, [42]);
        assert!(a.write(8, &[43]));
        assert_eq!(host_bytes(&a)[8], 43);
    }

    #[test]
    fn non_coherent_views_differ_until_flushed_or_invalidated() {
        let a = Allocation::new(&heap(), 200, false).unwrap();
        host_bytes(&a)[70] = 1;
        let mut byte = [0];
        a.read(70, &mut byte);
        assert_eq!(byte, [0]);
        a.flush(0, 64);
        a.read(70, &mut byte);
        assert_eq!(byte, [0], "another atom");
        a.flush(65, 1);
        a.read(70, &mut byte);
        assert_eq!(byte, [1], "whole atoms");
        a.write(70, &[2]);
        assert_eq!(host_bytes(&a)[70], 1);
        a.invalidate(64, 64);
        assert_eq!(host_bytes(&a)[70], 2);
    }

    #[test]
    fn a_flush_moves_only_what_the_host_wrote() {
        let a = Allocation::new(&heap(), 256, false).unwrap();
        host_bytes(&a)[0] = 1;
        a.write(128, &[9]);
        a.flush(0, u64::MAX);
        let mut byte = [0];
        a.read(128, &mut byte);
        assert_eq!(byte, [9]);
    }

    #[test]
    fn ranges_are_checked() {
        let a = Allocation::new(&heap(), 100, true).unwrap();
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
            let a = Allocation::new(&heap, 1 << 16, true).unwrap();
            let mut bytes = [1; 16];
            a.read(0, &mut bytes);
            assert_eq!(bytes, [0; 16]);
            a.write(0, &[5; 16]);
            assert!(a.committed() > 0);
        }
    }
}
