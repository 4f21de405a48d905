//! What a system call writes to mapped memory after it has begun: asynchronous reads of a file past the page
//! cache. The kernel takes the pages as for a write, and their bytes come later, unseen by the page table.

#![allow(clippy::print_stderr)]

use pellucid_memory::device::{Allocation, HostMemory};
use pellucid_memory::heap::Heap;
use pellucid_memory::host::Faults;
use std::fs::{File, OpenOptions};
use std::io::{Error, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

const SIZE: usize = 4 << 20;

/// struct iocb of linux/aio_abi.h.
#[repr(C)]
#[derive(Default)]
struct Request {
    data: u64,
    key: u32,
    flags: u32,
    operation: u16,
    priority: i16,
    file: u32,
    to: u64,
    bytes: u64,
    offset: i64,
    reserved: [u64; 2],
}

/// A read that is under way.
struct Reading {
    context: libc::c_ulong,
    _file: File,
}

impl Reading {
    /// Begins to read all of `path` to `to`.
    ///
    /// # Safety
    /// `to` has as many bytes, until [`Reading::end`].
    unsafe fn begin(path: &std::path::Path, to: *mut u8) -> Result<Reading, Error> {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)?;
        let mut context: libc::c_ulong = 0;
        let mut request = Request {
            file: file.as_raw_fd() as u32,
            to: to as u64,
            bytes: SIZE as u64,
            ..Request::default()
        };
        let list = [&raw mut request];
        let done = |result: libc::c_long| if result < 0 { Err(Error::last_os_error()) } else { Ok(()) };
        // SAFETY: plain system calls on structures that live as long; the caller vouches for the bytes.
        unsafe {
            done(libc::syscall(libc::SYS_io_setup, 1, &raw mut context))?;
            done(libc::syscall(libc::SYS_io_submit, context, 1, list.as_ptr()))?;
        }
        Ok(Reading { context, _file: file })
    }

    fn end(self) {
        let mut event = [0u64; 4];
        let none = std::ptr::null::<libc::timespec>();
        // SAFETY: plain system calls; the event has room.
        let got = unsafe {
            let got = libc::syscall(libc::SYS_io_getevents, self.context, 1, 1, event.as_mut_ptr(), none);
            libc::syscall(libc::SYS_io_destroy, self.context);
            got
        };
        assert_eq!((got, event[2]), (1, SIZE as u64), "one event, all bytes");
    }
}

/// A file of bytes none of which is 0, and memory into which it is being read.
fn reading(kind: HostMemory) -> Option<(Arc<Allocation>, Reading)> {
    let path = std::env::temp_dir().join(format!("pellucid-direct-read-{}-{kind:?}", std::process::id()));
    let mut file = File::create(&path).unwrap();
    file.write_all(&vec![7; SIZE]).unwrap();
    file.sync_all().unwrap();
    let heap = Arc::new(Heap::new(0x1_0000_0000, 1 << 30).unwrap());
    let memory = Allocation::new(&heap, SIZE as u64, kind).unwrap();
    // SAFETY: the memory has that many bytes, and lives longer than the read.
    let reading = unsafe { Reading::begin(&path, memory.map().unwrap()) };
    std::fs::remove_file(&path).unwrap();
    match reading {
        Ok(reading) => Some((memory, reading)),
        Err(error) => {
            eprintln!("skipped: no asynchronous reads past the page cache: {error}");
            None
        }
    }
}

#[test]
fn a_flush_moves_what_arrives_after_a_look() {
    let Some((memory, reading)) = reading(HostMemory::NonCoherent) else { return };
    memory.look(Faults::now());
    memory.note_host_accesses(false);
    reading.end();
    memory.look_at(0, SIZE as u64);
    memory.look(Faults::now());
    memory.note_host_accesses(false);
    memory.flush(0, SIZE as u64);
    let mut bytes = vec![0; SIZE];
    assert!(memory.read(0, &mut bytes));
    assert_eq!(bytes.iter().position(|byte| *byte != 7), None);
}

#[test]
fn what_arrives_after_a_queues_look_is_seen_at_the_next_call() {
    let Some((memory, reading)) = reading(HostMemory::Coherent) else { return };
    memory.look(Faults::now());
    memory.note_host_accesses(true);
    reading.end();
    memory.look(Faults::now());
    memory.note_host_accesses(false);
    let writes = memory.host_accesses().writes;
    assert_eq!(writes.first().zip(writes.last()).map(|(a, b)| (a.start, b.end)), Some((0, SIZE as u64)));
}
