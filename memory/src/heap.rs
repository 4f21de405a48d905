//! Heaps: memory files, and who owns which range of them.
//!
//! A heap is one memory file, sparse and much larger than the heap's budget; an allocation is a range of it,
//! mapped where it is needed ([`crate::device`]). A device address is the heap's base plus the offset in the
//! file, so addresses depend on the order of allocations and on nothing else. Ranges are separated by an
//! unused gap and not handed out again before the rest of the file has been, so that an address from a freed
//! allocation rarely points into a live one. Pages are committed when first touched, given back when the
//! range is freed, and zero before their first write. Where the host is checked, a second file holds its
//! copies of non-coherent memory, at the same offsets.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

/// Alignment of allocations and the gap after each, in bytes.
pub const GRANULE: u64 = 0x1_0000;

/// Why an allocation failed.
#[derive(Debug, thiserror::Error)]
pub enum HeapError {
    /// Over the heap's size: `VK_ERROR_OUT_OF_DEVICE_MEMORY`.
    #[error("the heap has {left} bytes left, {asked} were asked for")]
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes of the budget not in use.
        left: u64,
    },
    /// No free range of the heap is at a device address: `VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS`.
    #[error("the heap has no {asked} free bytes at device address {address:#x}")]
    Taken {
        /// Where the memory was wanted, which other memory has.
        address: u64,
        /// Bytes asked for.
        asked: u64,
    },
    /// The operating system refused.
    #[error("cannot {doing}: {error}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the operating system says.
        error: std::io::Error,
    },
}

impl HeapError {
    pub(crate) fn system(doing: &'static str) -> HeapError {
        HeapError::System { doing, error: std::io::Error::last_os_error() }
    }
}

/// Where in its heap an allocation is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// At the heap's cursor, as all memory whose address nobody asks for again.
    #[default]
    Anywhere,
    /// Apart from the others, so that its address is free in another process that wants it again.
    Captured,
    /// At a device address.
    At(u64),
}

/// The memory of a heap: one file of its size, of which allocations are ranges.
#[derive(Debug)]
pub struct Heap {
    file: OwnedFd,
    host_copies: OnceLock<OwnedFd>,
    base: u64,
    size: u64,
    ranges: Mutex<Ranges>,
}

#[derive(Debug)]
struct Ranges {
    /// Offset to length; neighbours are merged.
    free: BTreeMap<u64, u64>,
    cursor: u64,
    /// The cursor of allocations that are captured, in the upper half of the file.
    captured: u64,
    used: u64,
}

impl Ranges {
    /// The first free range for `span` bytes at or behind `from`, and at or behind `around` after that; its
    /// start, its length and where in it to begin.
    fn find(&self, span: u64, from: u64, around: u64) -> Option<(u64, u64, u64)> {
        // Neighbours merge when they are freed, so the range that a cursor points into may begin before it.
        let at = |start: u64| {
            let within =
                self.free.range(..start).next_back().map(|(offset, length)| (*offset, *length, start));
            let behind = self.free.range(start..).map(|(offset, length)| (*offset, *length, *offset));
            let mut all = within.into_iter().chain(behind);
            all.find(|(offset, length, start)| offset + length >= start.saturating_add(span))
        };
        at(from).or_else(|| at(around))
    }
}

impl Heap {
    /// A heap of `size` bytes whose device addresses start at `base`.
    ///
    /// # Errors
    /// The operating system gives no memory file.
    pub fn new(base: u64, size: u64) -> Result<Heap, HeapError> {
        let span = size.saturating_mul(16).next_multiple_of(GRANULE);
        let file = memory_file(span)?;
        let ranges = Ranges { free: BTreeMap::from([(0, span)]), cursor: 0, captured: span / 2, used: 0 };
        Ok(Heap { file, host_copies: OnceLock::new(), base, size, ranges: Mutex::new(ranges) })
    }

    pub(crate) fn address(&self, offset: u64) -> u64 {
        self.base + offset
    }

    pub(crate) fn descriptor(&self) -> libc::c_int {
        self.file.as_raw_fd()
    }

    /// The file of the host's copies.
    ///
    /// # Errors
    /// The operating system gives no memory file.
    pub(crate) fn host_copies(&self) -> Result<libc::c_int, HeapError> {
        if self.host_copies.get().is_none() {
            // Another thread may have been first: then its file stays.
            let _ = self.host_copies.set(memory_file(self.span())?);
        }
        Ok(self.host_copies.get().map_or(-1, AsRawFd::as_raw_fd))
    }

    /// Bytes of the file.
    fn span(&self) -> u64 {
        (self.size.saturating_mul(16)).next_multiple_of(GRANULE)
    }

    /// Takes a range for `size` bytes; its offset in the file.
    pub(crate) fn take(&self, size: u64, placement: Placement) -> Result<u64, HeapError> {
        let mut ranges = self.ranges.lock();
        let left = self.size - ranges.used;
        let out = HeapError::OutOfMemory { asked: size, left };
        if size > left {
            return Err(out);
        }
        let span = span_of(size);
        let found = match placement {
            Placement::Anywhere => ranges.find(span, ranges.cursor, 0).ok_or(out)?,
            Placement::Captured => ranges.find(span, ranges.captured, self.span() / 2).ok_or(out)?,
            Placement::At(address) => {
                let offset = address.checked_sub(self.base).filter(|at| at.is_multiple_of(GRANULE));
                let found =
                    offset.and_then(|at| ranges.find(span, at, at)).filter(|(.., at)| Some(*at) == offset);
                found.ok_or(HeapError::Taken { address, asked: size })?
            }
        };
        let (start, length, offset) = found;
        ranges.free.remove(&start);
        if offset > start {
            ranges.free.insert(start, offset - start);
        }
        let after = start + length - (offset + span);
        if after > 0 {
            ranges.free.insert(offset + span, after);
        }
        match placement {
            Placement::Anywhere => ranges.cursor = offset + span,
            Placement::Captured => ranges.captured = offset + span,
            Placement::At(_) => {}
        }
        ranges.used += size;
        Ok(offset)
    }

    /// Gives a range back; its bytes are zero from here on.
    pub(crate) fn give(&self, offset: u64, size: u64) {
        let span = span_of(size);
        for file in std::iter::once(&self.file).chain(self.host_copies.get()) {
            // SAFETY: plain system call on an owned descriptor; the range is ours until it is inserted below.
            unsafe {
                libc::fallocate(
                    file.as_raw_fd(),
                    libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
                    offset as libc::off_t,
                    span as libc::off_t,
                );
            }
        }
        let mut ranges = self.ranges.lock();
        ranges.used -= size;
        let (mut offset, mut span) = (offset, span);
        if let Some((&before, &length)) = ranges.free.range(..offset).next_back()
            && before + length == offset
        {
            ranges.free.remove(&before);
            (offset, span) = (before, length + span);
        }
        if let Some(length) = ranges.free.remove(&(offset + span)) {
            span += length;
        }
        ranges.free.insert(offset, span);
    }

    /// Bytes of the range that are committed.
    pub(crate) fn committed(&self, offset: u64, size: u64) -> u64 {
        data_ranges(self.descriptor(), offset..offset + size).iter().map(|r| r.end - r.start).sum()
    }
}

/// A memory file of `size` bytes, sparse, which may be sealed.
pub(crate) fn memory_file(size: u64) -> Result<OwnedFd, HeapError> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a null-terminated string; the call has no other precondition.
    let fd = unsafe { libc::memfd_create(c"pellucid-heap".as_ptr(), flags) };
    if fd < 0 {
        return Err(HeapError::system("create a memory file"));
    }
    // SAFETY: the descriptor was just created and belongs to nobody else.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: plain system call on an owned descriptor.
    if unsafe { libc::ftruncate(file.as_raw_fd(), size as libc::off_t) } != 0 {
        return Err(HeapError::system("size a memory file"));
    }
    Ok(file)
}

/// The parts of a memory file that hold data.
pub(crate) fn data_ranges(file: libc::c_int, range: Range<u64>) -> Vec<Range<u64>> {
    let seek = |at: u64, whence| {
        // SAFETY: plain system call on an open descriptor.
        let found = unsafe { libc::lseek(file, at as libc::off_t, whence) };
        u64::try_from(found).unwrap_or(range.end).min(range.end)
    };
    let (mut at, mut found) = (range.start, Vec::new());
    while at < range.end {
        let data = seek(at, libc::SEEK_DATA);
        if data >= range.end {
            break;
        }
        at = seek(data, libc::SEEK_HOLE);
        found.push(data..at);
    }
    found
}

fn span_of(size: u64) -> u64 {
    size.next_multiple_of(GRANULE) + GRANULE
}

#[cfg(test)]
mod tests;
