//! Mappings of memory.
//!
//! The application may write its mapping at any moment, and several mappings show the same pages: the bytes
//! are touched by [`raw`] alone.

use crate::heap::HeapError;
use crate::raw::{self, MemoryView};
use memmap2::{MmapMut, MmapOptions, MmapRaw};
use std::ops::Range;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering;

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;

/// The pages that hold the bytes.
pub(super) fn pages(range: &Range<u64>) -> Range<u64> {
    range.start / PAGE * PAGE..range.end.next_multiple_of(PAGE)
}

/// The pages of a run, one by one.
pub(super) fn pages_of(run: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    run.step_by(PAGE as usize).map(|page| page..page + PAGE)
}

/// One mapping, of whole pages; unmapped when dropped, unless it is borrowed.
#[derive(Debug)]
pub(crate) struct Mapping(Pages);

#[derive(Debug)]
enum Pages {
    Mapped(MmapRaw),
    /// The first byte, and how many there are.
    Borrowed(*mut u8, usize),
}

// SAFETY: the bytes are accessed as those of a mapping are, which several threads may have.
unsafe impl Send for Pages {}
// SAFETY: as for Send.
unsafe impl Sync for Pages {}

impl Mapping {
    /// Maps `size` bytes of a file from `offset`, or private memory, zeroed.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn new(size: u64, file: Option<(RawFd, u64)>) -> Result<Mapping, HeapError> {
        let failed = |error| HeapError::System { doing: "map memory", error };
        let length = usize::try_from(size.next_multiple_of(PAGE)).map_err(std::io::Error::other);
        let mut options = MmapOptions::new();
        options.len(length.map_err(failed)?);
        let mapped = match file {
            Some((file, offset)) => options.offset(offset).map_raw(file),
            None if cfg!(miri) => options.map_anon().map(MmapMut::into),
            None => options.no_reserve_swap().map_anon().map(MmapMut::into),
        };
        mapped.map(|pages| Mapping(Pages::Mapped(pages))).map_err(failed)
    }

    /// The application's own bytes.
    ///
    /// # Safety
    /// They are there, to be read and written, as long as the mapping.
    pub unsafe fn borrow(start: *mut u8, size: u64) -> Mapping {
        Mapping(Pages::Borrowed(start, usize::try_from(size).unwrap_or(0)))
    }

    /// Shows the pages of a file from `offset` at `range` instead, or new private ones, zeroed. Multiples of
    /// the page, inside the mapping.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn show(&self, range: &Range<u64>, file: Option<(RawFd, u64)>) -> Result<(), HeapError> {
        let (size, offset) = (range.end.saturating_sub(range.start), file.map_or(0, |(_, offset)| offset));
        assert!(
            range.end <= self.length() && [range.start, size, offset].iter().all(|n| n.is_multiple_of(PAGE))
        );
        assert!(matches!(self.0, Pages::Mapped(_)), "the application's own memory");
        if size == 0 {
            return Ok(());
        }
        let kind = match file {
            Some(_) => libc::MAP_SHARED,
            None => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        };
        // SAFETY: the pages are inside a mapping that is ours as long as `self`, and no reference points to
        // any: they are accessed by the rule of `raw`, whatever they hold. At no time are they not mapped.
        let shown = unsafe {
            libc::mmap(
                self.start().add(range.start as usize).cast(),
                size as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                kind | libc::MAP_FIXED,
                file.map_or(-1, |(file, _)| file),
                offset as libc::off_t,
            )
        };
        if shown == libc::MAP_FAILED { Err(HeapError::system("bind memory")) } else { Ok(()) }
    }

    /// The first byte.
    pub fn start(&self) -> *mut u8 {
        match &self.0 {
            Pages::Mapped(pages) => pages.as_mut_ptr(),
            Pages::Borrowed(start, _) => *start,
        }
    }

    /// Bytes: a multiple of the page.
    pub fn length(&self) -> u64 {
        match &self.0 {
            Pages::Mapped(pages) => pages.len() as u64,
            Pages::Borrowed(_, size) => *size as u64,
        }
    }

    /// A view of all of it, for as long as it is borrowed.
    pub fn bytes(&self) -> MemoryView<'_> {
        // SAFETY: the mapping is borrowed for as long.
        unsafe { self.view() }
    }

    /// Its bytes, for any time.
    ///
    /// # Safety
    /// The mapping outlives the view.
    pub unsafe fn view<'a>(&self) -> MemoryView<'a> {
        // SAFETY: the mapping is readable, writable and lives as long as the view, as the caller promises.
        // No Rust code of this library accesses it but through views; what the application does through the
        // pointer of vkMapMemory is no access of this library's.
        unsafe { MemoryView::of_mapping(self.start(), self.length()) }
    }

    fn load(&self, offset: u64, size: u8) -> u64 {
        let value = raw::load(&self.bytes(), offset, size, Ordering::Relaxed);
        value.unwrap_or_else(|| panic!("{offset} + {size} of {}", self.length()))
    }

    fn store(&self, offset: u64, size: u8, value: u64) {
        let inside = raw::store(&self.bytes(), offset, size, value, Ordering::Relaxed);
        assert!(inside, "{offset} + {size} of {}", self.length());
    }

    /// A byte.
    pub fn get(&self, offset: u64) -> u8 {
        self.load(offset, 1) as u8
    }

    /// Stores a byte.
    pub fn put(&self, offset: u64, byte: u8) {
        self.store(offset, 1, u64::from(byte));
    }

    /// The eight bytes from a multiple of eight, as they lie.
    pub fn word(&self, offset: u64) -> u64 {
        self.load(offset, 8)
    }

    /// Stores eight bytes at a multiple of eight.
    pub fn put_word(&self, offset: u64, word: u64) {
        self.store(offset, 8, word);
    }

    fn part(&self, range: &Range<u64>) -> MemoryView<'_> {
        assert!(range.end <= self.length(), "{range:?} of {}", self.length());
        self.bytes().part(range.start, range.end - range.start)
    }

    /// Whether both mappings hold the same bytes there.
    pub fn same(&self, other: &Mapping, range: &Range<u64>) -> bool {
        raw::same(&self.part(range), &other.part(range))
    }

    /// Copies whole pages from the same place of another mapping of other pages. Calls `each` with the start
    /// of each 64 bytes of which some changed, in order, and a bit for each of them.
    pub fn update(&self, other: &Mapping, pages: &Range<u64>, mut each: impl FnMut(u64, u64)) {
        raw::update(&other.part(pages), &self.part(pages), |at, changed| each(pages.start + at, changed));
    }

    /// Copies bytes from the same place of another mapping of other pages.
    pub fn copy_from(&self, other: &Mapping, range: &Range<u64>) {
        raw::copy(&other.part(range), &self.part(range));
    }
}
