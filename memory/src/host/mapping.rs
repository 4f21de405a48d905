//! Mappings of memory, and their bytes.
//!
//! The application may write its mapping at any moment, and several mappings show the same pages: bytes are
//! touched here by atomic instructions, or by functions of the C library that the compiler does not see
//! through.

use crate::heap::HeapError;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;

/// One mapping; unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: u64,
}

// SAFETY: a mapping is process-wide memory; how its bytes are accessed is the contract of the functions
// below.
unsafe impl Send for Mapping {}
// SAFETY: as for Send.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `size` bytes of a file from `offset`, or anonymous memory.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn new(size: u64, file: Option<(libc::c_int, u64)>) -> Result<Mapping, HeapError> {
        let length = size.next_multiple_of(PAGE);
        let bytes = usize::try_from(length).map_err(|_| HeapError::system("map memory"))?;
        let (flags, fd, offset) = match file {
            Some((fd, offset)) => (libc::MAP_SHARED, fd, offset),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
        };
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nothing.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                flags | libc::MAP_NORESERVE,
                fd,
                offset as libc::off_t,
            )
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(mapped) if start != libc::MAP_FAILED => Ok(Mapping { start: mapped, length }),
            _ => Err(HeapError::system("map memory")),
        }
    }

    /// The first byte.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Bytes: a multiple of the page.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The address of bytes that have to be inside.
    fn at(&self, offset: u64, size: u64) -> *mut u8 {
        assert!(offset + size <= self.length, "{offset} + {size} of {}", self.length);
        // SAFETY: inside the mapping.
        unsafe { self.start().add(offset as usize) }
    }

    /// A byte.
    pub fn get(&self, offset: u64) -> u8 {
        // SAFETY: inside the mapping, which lives as long as `self`; all accesses are atomic.
        unsafe { AtomicU8::from_ptr(self.at(offset, 1)) }.load(Ordering::Relaxed)
    }

    /// Stores a byte.
    pub fn put(&self, offset: u64, byte: u8) {
        // SAFETY: as for `get`.
        unsafe { AtomicU8::from_ptr(self.at(offset, 1)) }.store(byte, Ordering::Relaxed);
    }

    /// The eight bytes from a multiple of eight, as they lie.
    pub fn word(&self, offset: u64) -> u64 {
        assert!(offset.is_multiple_of(8));
        // SAFETY: as for `get`; mappings begin at pages, so the address is aligned.
        unsafe { AtomicU64::from_ptr(self.at(offset, 8).cast()) }.load(Ordering::Relaxed)
    }

    /// Stores eight bytes at a multiple of eight.
    pub fn put_word(&self, offset: u64, word: u64) {
        assert!(offset.is_multiple_of(8));
        // SAFETY: as for `word`.
        unsafe { AtomicU64::from_ptr(self.at(offset, 8).cast()) }.store(word, Ordering::Relaxed);
    }

    /// Whether both mappings hold the same bytes there.
    pub fn same(&self, other: &Mapping, range: &Range<u64>) -> bool {
        let size = range.end - range.start;
        let (a, b) = (self.at(range.start, size), other.at(range.start, size));
        // SAFETY: both are inside their mappings; the function only reads.
        unsafe { libc::memcmp(a.cast(), b.cast(), size as usize) == 0 }
    }

    /// Copies bytes from the same place of another mapping of other pages.
    pub fn copy_from(&self, other: &Mapping, range: &Range<u64>) {
        let size = range.end - range.start;
        let (to, from) = (self.at(range.start, size), other.at(range.start, size));
        // SAFETY: both are inside their mappings, which hold different memory.
        unsafe { libc::memcpy(to.cast(), from.cast(), size as usize) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows from it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length as usize) };
    }
}
