//! Words that two mappings of one file share.

use super::*;
use std::os::fd::{AsFd, FromRawFd};

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn a_word_is_shared_and_knows_its_kind() {
    let word = SharedWord::new(2, 7).unwrap();
    let other = word.duplicate().unwrap();
    assert!(SharedWord::import(3, other.as_fd()).is_err(), "of another kind");
    let other = SharedWord::import(2, other.as_fd()).unwrap();
    other.raise(5);
    assert_eq!(word.get(), 7);
    other.raise(9);
    assert_eq!(word.get(), 9);
    word.set(0);
    assert_eq!(other.get(), 0);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn what_is_no_memory_file_is_refused() {
    let pipe = std::io::pipe().unwrap().0;
    assert!(MemoryFile::import(pipe.as_fd()).is_err());
    let file = MemoryFile::new(5000).unwrap();
    let handed = file.duplicate().unwrap();
    let again = MemoryFile::import(handed.as_fd()).unwrap();
    assert_eq!((file.size(), again.size()), (8192, 8192));
    drop(again);
    // SAFETY: the descriptor is open.
    assert_ne!(unsafe { libc::ftruncate(handed.as_raw_fd(), 0) }, 0, "it is sealed");
    // SAFETY: the name is a null-terminated string.
    let unsealed = unsafe { libc::memfd_create(c"unsealed".as_ptr(), libc::MFD_ALLOW_SEALING) };
    // SAFETY: the descriptor is new.
    let unsealed = unsafe { OwnedFd::from_raw_fd(unsealed) };
    // SAFETY: it is open.
    assert_eq!(unsafe { libc::ftruncate(unsealed.as_raw_fd(), 8192) }, 0);
    let refused = MemoryFile::import(unsealed.as_fd()).unwrap_err().to_string();
    assert!(refused.contains("F_SEAL_SHRINK"), "{refused}");
    // It was the caller's all the time.
    drop(MemoryFile::import(handed.as_fd()).unwrap());
}
