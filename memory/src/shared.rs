//! What several devices, instances and processes share: memory files of their own, and words in them.
//!
//! Guarantees: a file keeps its bytes as long as anybody holds a descriptor of it or maps it, and its size:
//! one that could shrink, under those who map it, is not taken. What others do to the bytes happens at any
//! time; who reads them sees it through [`crate::raw`], as what the host does.

use crate::access::AtomicOp;
use crate::heap::{HeapError, memory_file};
use crate::host::{Mapping, PAGE};
use crate::raw;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;

/// A file of zeros at first, which is in memory alone.
#[derive(Debug)]
pub struct MemoryFile {
    file: OwnedFd,
    size: u64,
}

impl MemoryFile {
    /// A new file of at least `size` bytes, zeroed, sealed against shrinking.
    ///
    /// # Errors
    /// The operating system gives none.
    pub fn new(size: u64) -> Result<MemoryFile, HeapError> {
        let size = size.next_multiple_of(PAGE);
        let file = memory_file(size)?;
        // SAFETY: plain system call on an owned descriptor.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) } != 0 {
            return Err(HeapError::system("seal a memory file"));
        }
        Ok(MemoryFile { file, size })
    }

    /// The file of a descriptor that somebody made by [`MemoryFile::duplicate`].
    ///
    /// # Errors
    /// It is of something else, or of a file that may shrink.
    pub fn import(descriptor: BorrowedFd<'_>) -> Result<MemoryFile, HeapError> {
        let number = descriptor.as_raw_fd();
        // SAFETY: all zeros are a value of this structure of numbers.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: a plain system call, which writes the structure alone.
        let outcome = unsafe { libc::fstat(number, &raw mut status) };
        if outcome != 0 {
            return Err(HeapError::system("look at a descriptor"));
        }
        // SAFETY: as for fstat. Only memory files have seals.
        let seals = unsafe { libc::fcntl(number, libc::F_GET_SEALS) };
        let size = u64::try_from(status.st_size).unwrap_or(0);
        if seals < 0 || size == 0 || !size.is_multiple_of(PAGE) {
            let error = std::io::Error::from(std::io::ErrorKind::InvalidInput);
            return Err(HeapError::System { doing: "import a descriptor", error });
        }
        if seals & libc::F_SEAL_SHRINK == 0 {
            let error = std::io::Error::other("it has no seal F_SEAL_SHRINK");
            return Err(HeapError::System { doing: "import memory that may shrink", error });
        }
        let failed = |error| HeapError::System { doing: "duplicate a descriptor", error };
        Ok(MemoryFile { file: descriptor.try_clone_to_owned().map_err(failed)?, size })
    }

    /// A descriptor of its own for somebody else.
    ///
    /// # Errors
    /// The operating system gives none.
    pub fn duplicate(&self) -> Result<OwnedFd, HeapError> {
        let failed = |error| HeapError::System { doing: "duplicate a descriptor", error };
        self.file.try_clone().map_err(failed)
    }

    /// Bytes: a multiple of the page.
    pub fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// A number that several share, which says what kind of thing it counts for.
#[derive(Debug)]
pub struct SharedWord {
    file: MemoryFile,
    mapping: Mapping,
}

/// The first word of a file begins with this, and ends with the kind.
const MARK: u64 = 0x7065_6c6c_7563_6900;
/// The word's second eight bytes hold the number.
const NUMBER: u64 = 8;

impl SharedWord {
    /// A new one.
    ///
    /// # Errors
    /// The operating system gives no memory file.
    pub fn new(kind: u8, value: u64) -> Result<SharedWord, HeapError> {
        let word = SharedWord::of(MemoryFile::new(PAGE)?)?;
        word.mapping.put_word(NUMBER, value);
        word.mapping.put_word(0, MARK | u64::from(kind));
        Ok(word)
    }

    fn of(file: MemoryFile) -> Result<SharedWord, HeapError> {
        let mapping = Mapping::new(PAGE, Some((file.descriptor(), 0)))?;
        Ok(SharedWord { file, mapping })
    }

    /// That of a descriptor which somebody made by [`SharedWord::duplicate`].
    ///
    /// # Errors
    /// It is of something else.
    pub fn import(kind: u8, descriptor: BorrowedFd<'_>) -> Result<SharedWord, HeapError> {
        let word = SharedWord::of(MemoryFile::import(descriptor)?)?;
        if word.mapping.word(0) == MARK | u64::from(kind) {
            return Ok(word);
        }
        let error = std::io::Error::from(std::io::ErrorKind::InvalidInput);
        Err(HeapError::System { doing: "import a descriptor", error })
    }

    /// A descriptor of it for somebody else.
    ///
    /// # Errors
    /// The operating system gives none.
    pub fn duplicate(&self) -> Result<OwnedFd, HeapError> {
        self.file.duplicate()
    }

    /// The number.
    pub fn get(&self) -> u64 {
        raw::load(&self.mapping.bytes(), NUMBER, 8, Ordering::SeqCst).unwrap_or(0)
    }

    /// Sets the number.
    pub fn set(&self, value: u64) {
        raw::store(&self.mapping.bytes(), NUMBER, 8, value, Ordering::SeqCst);
    }

    /// Sets the number, unless it is larger.
    pub fn raise(&self, value: u64) {
        raw::read_modify_write(&self.mapping.bytes(), NUMBER, 8, AtomicOp::UMax, value, 0);
    }
}

#[cfg(test)]
mod tests;
