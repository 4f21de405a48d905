//! What the host and the device see of memory that is checked, case by case, and in random programs.

#![allow(clippy::single_range_in_vec_init, clippy::print_stderr)]

mod host_cache;
mod random_programs;

use pellucid_memory::device::{Allocation, HostMemory};
use pellucid_memory::heap::Heap;
use pellucid_memory::host::{Faults, HostBytes, Invalidated};
use pellucid_memory::machine::{HostCache, WritePolicy};
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const SIZE: u64 = 5 * 4096 + 200;

fn heap() -> Arc<Heap> {
    Arc::new(Heap::new(0x1_0000_0000, 1 << 30).unwrap())
}

/// An allocation, and its bytes as the application sees them.
struct Mapped {
    memory: Arc<Allocation>,
    start: *mut u8,
}

impl Mapped {
    fn new(kind: HostMemory) -> Mapped {
        Mapped::of(SIZE, kind)
    }

    /// What the host is seen to have read since this was last asked, and whether it could not see it.
    fn reads(&self) -> Vec<(Range<u64>, bool)> {
        self.look();
        self.memory.host_accesses().reads
    }

    fn look(&self) {
        self.memory.look(Faults::now());
        self.memory.note_host_accesses(false);
    }

    fn of(size: u64, kind: HostMemory) -> Mapped {
        let memory = Allocation::new(&heap(), size, kind).unwrap();
        let start = memory.map().unwrap();
        Mapped { memory, start }
    }

    fn put(&self, at: u64, byte: u8) {
        // SAFETY: inside the mapping; one thread.
        unsafe { self.start.add(at as usize).write_volatile(byte) };
    }

    fn get(&self, at: u64) -> u8 {
        // SAFETY: as for `put`.
        unsafe { self.start.add(at as usize).read_volatile() }
    }

    fn device_writes(&self, at: u64, bytes: &[u8]) {
        assert!(self.memory.write(at, bytes));
        self.memory.device_wrote([at..at + bytes.len() as u64]);
    }

    /// The host was told of all that the device wrote.
    fn invalidate(&self, offset: u64, size: u64) -> Invalidated {
        self.memory.invalidate(offset, size, |_| Vec::new())
    }

    fn writes(&self) -> Vec<Range<u64>> {
        self.look();
        self.memory.host_accesses().writes
    }

    fn device(&self, at: u64) -> u8 {
        let mut byte = [0];
        assert!(self.memory.read(at, &mut byte));
        byte[0]
    }
}

#[test]
fn a_value_that_was_there_before_is_written_again() {
    let m = Mapped::new(HostMemory::NonCoherent);
    for _ in 0..3 {
        (0..4).for_each(|i| m.put(i, 0));
        m.memory.flush(0, u64::MAX);
        assert_eq!((0..4).map(|i| m.device(i)).collect::<Vec<_>>(), [0; 4]);
        m.device_writes(0, &64u32.to_le_bytes());
    }
    m.invalidate(0, 4);
    assert_eq!(m.get(0), 64);
}

#[test]
fn a_read_of_a_page_that_has_nothing_else_is_one_of_what_is_unseen() {
    if pellucid_memory::host::refusal().is_some() {
        eprintln!("skipped: the kernel does not track writes");
        return;
    }
    let told = |m: &Mapped| {
        m.look();
        m.memory.host_accesses().unseen
    };
    let m = Mapped::new(HostMemory::NonCoherent);
    m.device_writes(100, &[1; 4]);
    assert_eq!(told(&m), [], "nobody has read");
    m.get(100);
    assert_eq!(told(&m), [100..104]);
    m.device_writes(4096 + 64, &[2; 4]);
    m.device_writes(4096 + 96, &[2; 4]);
    m.get(4096);
    assert_eq!(told(&m), [4160..4196], "from the first to the last");
    // Each time, and once it is written again.
    m.get(200);
    assert_eq!(told(&m), [100..104]);
    m.device_writes(100, &[3; 4]);
    m.get(101);
    assert_eq!(told(&m), [100..104]);
    // Nothing of who writes there before anybody asks.
    m.get(100);
    m.look();
    m.put(300, 5);
    assert_eq!(told(&m), []);
    // A store of what is there is no read, and may be the host's own byte from then on.
    m.device_writes(2 * 4096, &[1; 4]);
    m.put(2 * 4096 + 8, 0);
    assert_eq!(told(&m), []);
    m.device_writes(2 * 4096, &[2; 4]);
    m.get(2 * 4096 + 8);
    assert_eq!(told(&m), []);
    // Who was shown something there may read that.
    m.device_writes(3 * 4096, &[1; 4]);
    m.invalidate(3 * 4096, 4);
    m.device_writes(3 * 4096 + 8, &[1; 4]);
    m.get(3 * 4096);
    assert_eq!(told(&m), []);
}

#[test]
fn nothing_moves_without_a_call() {
    let m = Mapped::new(HostMemory::NonCoherent);
    m.put(70, 1);
    assert_eq!(m.device(70), 0);
    assert!(m.memory.flush(0, 64).moved.is_empty(), "another atom");
    assert_eq!(m.memory.flush(65, 1).moved, [70..71], "whole atoms");
    assert_eq!(m.device(70), 1);
    m.device_writes(70, &[2, 2, 2, 2]);
    assert!(![1, 2].contains(&m.get(70)), "what nobody may read is neither");
    assert_eq!(m.invalidate(64, 64).seen, [70..74]);
    assert_eq!(m.get(70), 2);
}

#[test]
fn a_flush_leaves_what_the_device_wrote_in_other_atoms() {
    let m = Mapped::new(HostMemory::NonCoherent);
    m.put(0, 1);
    m.device_writes(128, &[9; 8]);
    let flushed = m.memory.flush(0, u64::MAX);
    assert!(flushed.lost.is_empty());
    assert_eq!((m.device(0), m.device(128)), (1, 9));
}

#[test]
fn updates_that_an_atom_loses_are_told() {
    let m = Mapped::new(HostMemory::NonCoherent);
    m.device_writes(32, &[9; 8]);
    m.put(0, 1);
    assert_eq!(m.memory.flush(0, u64::MAX).lost, [32..40]);
}

#[test]
fn an_invalidate_discards_what_was_not_flushed() {
    let m = Mapped::new(HostMemory::NonCoherent);
    m.put(5, 1);
    assert_eq!(m.invalidate(0, 1).discarded, [5..6]);
    assert_eq!(m.get(5), 0);
}

#[test]
fn an_invalidate_leaves_what_is_in_flight() {
    let m = Mapped::new(HostMemory::NonCoherent);
    m.device_writes(0, &[9; 256]);
    let hidden = m.get(128);
    let last = |bytes: &Range<u64>| vec![bytes.start.max(128)..bytes.end];
    assert_eq!(m.memory.invalidate(0, u64::MAX, last).seen, [0..128]);
    assert_eq!((m.get(127), m.get(128)), (9, hidden));
    m.put(130, 4);
    m.put(300, 4);
    let again = m.memory.invalidate(0, u64::MAX, last);
    assert_eq!((again.seen, again.discarded), (vec![], vec![130..131, 300..301]));
    assert!(![4, 9].contains(&m.get(130)), "nobody may read it");
    assert_eq!(m.get(300), 0);
    assert!(m.memory.flush(0, u64::MAX).moved.is_empty());
    assert_eq!(m.invalidate(0, u64::MAX).seen, [128..256]);
    assert_eq!((m.get(128), m.get(130)), (9, 9));
}

#[test]
fn host_writes_are_found_to_the_byte() {
    for kind in [HostMemory::Coherent, HostMemory::NonCoherent] {
        let m = Mapped::new(kind);
        m.put(3, 7);
        m.put(4, 7);
        m.put(9000, 1);
        assert_eq!(m.writes(), [3..5, 9000..9001]);
        assert!(m.writes().is_empty());
        m.device_writes(9000, &[5, 5]);
        m.put(9003, 1);
        assert_eq!(m.writes(), [9003..9004], "{kind:?}");
    }
}

#[test]
fn reads_of_what_the_device_wrote_are_seen_by_the_page() {
    if pellucid_memory::host::refusal().is_some() {
        eprintln!("skipped: the kernel does not track writes");
        return;
    }
    for (kind, unseen) in [(HostMemory::Coherent, false), (HostMemory::NonCoherent, true)] {
        let m = Mapped::new(kind);
        let reads = || m.reads();
        m.device_writes(100, &[1; 9000]);
        assert!(reads().is_empty());
        m.get(4096 + 7);
        m.get(8192 + 7);
        let first = (8192..12288, false);
        assert_eq!(reads(), [(4096..8192, unseen), first.clone()], "{kind:?}: whoever wrote the page");
        m.get(4096 + 7);
        assert!(reads().is_empty());
        m.memory.watch_again();
        m.get(8192 + 7);
        assert_eq!(reads().len(), 1, "{kind:?}: the first submission may be the first to write the page");
        m.memory.watch_again();
        m.get(8192 + 7);
        // Other memory has nothing else there for the host: see the next test.
        let again = if unseen { vec![first] } else { Vec::new() };
        assert_eq!(reads(), again, "{kind:?}: the page is not all the device's");
        m.device_writes(16384, &[1; 4096]);
        m.device_writes(20480, &[1; 200]);
        m.put(16384, 0);
        m.get(20480);
        assert_eq!(reads(), [(20480..20680, unseen)], "{kind:?}: one page was written");
    }
}

#[test]
fn reads_of_pages_far_apart_are_seen_where_one_command_wrote_them() {
    if pellucid_memory::host::refusal().is_some() {
        eprintln!("skipped: the kernel does not track writes");
        return;
    }
    let m = Mapped::of(4 << 20, HostMemory::Coherent);
    let written = [0..4096, 8192..12288, 3 << 20..(3 << 20) + 4096];
    m.memory.watch_again();
    (0..4 << 20).step_by(4096).for_each(|at| _ = m.get(at));
    m.reads();
    m.memory.device_wrote(written.clone());
    written.iter().for_each(|page| _ = m.get(page.start));
    assert_eq!(m.reads(), written.map(|page| (page, false)));
}

#[test]
fn reads_are_seen_again_after_a_submission_and_before_the_next_write() {
    if pellucid_memory::host::refusal().is_some() {
        eprintln!("skipped: the kernel does not track writes");
        return;
    }
    for (kind, unseen) in [(HostMemory::Coherent, false), (HostMemory::NonCoherent, true)] {
        let m = Mapped::new(kind);
        let reads = || m.reads();
        let page = [(4096..8192, unseen)];
        m.device_writes(0, &[1; 12288]);
        m.get(5000);
        assert_eq!(reads(), page);
        m.memory.watch_again();
        assert!(reads().is_empty());
        m.get(5000);
        assert_eq!(reads(), page, "{kind:?}: once more");
        m.memory.watch_again();
        m.get(5000);
        m.device_writes(0, &[2; 12288]);
        assert_eq!(reads(), page, "{kind:?}: before the write");
        assert!(reads().is_empty());
        m.get(5000);
        assert_eq!(reads(), page, "{kind:?}: after it");
        m.memory.watch_again();
        m.put(4096, 3);
        assert!(reads().is_empty(), "{kind:?}: a write");
    }
}

#[test]
fn pages_that_are_expected_to_be_written_count_as_what_is_done_to_them() {
    for (kind, unseen) in [(HostMemory::Coherent, false), (HostMemory::NonCoherent, true)] {
        let m = Mapped::new(kind);
        let accesses = || {
            m.memory.look(Faults::now());
            m.memory.note_host_accesses(false);
            let accesses = m.memory.host_accesses();
            (accesses.writes, accesses.reads)
        };
        for round in 1..4 {
            (0..16384).for_each(|at| m.put(at, round));
            assert_eq!(accesses(), (vec![0..16384], vec![]), "{kind:?}, round {round}");
            m.memory.expect_writes();
        }
        m.put(5, 9);
        m.put(8192, 9);
        assert_eq!(accesses(), (vec![5..6, 8192..8193], vec![]), "{kind:?}");
        m.memory.expect_writes();
        assert_eq!(accesses(), (vec![], vec![]), "{kind:?}: nothing was done");
        (0..16384).for_each(|at| m.put(at, 4));
        assert_eq!(accesses().0.iter().map(|run| run.end - run.start).sum::<u64>(), 16384, "{kind:?}");
        m.device_writes(4096, &[1; 4096]);
        (0..100).for_each(|_| m.memory.expect_writes());
        assert_eq!(accesses(), (vec![], vec![]), "{kind:?}: expecting a write is no access");
        m.get(4096);
        if pellucid_memory::host::refusal().is_none() {
            assert_eq!(accesses(), (vec![], vec![(4096..8192, unseen)]), "{kind:?}");
        }
    }
}

#[test]
fn what_several_threads_compare_is_one_run() {
    let m = Mapped::of(40 << 20, HostMemory::Coherent);
    for value in 1..3 {
        let end = (39 << 20) + 100;
        // SAFETY: inside the mapping; one thread.
        unsafe { m.start.add(77).write_bytes(value, end - 77) };
        assert_eq!(m.writes(), [77..end as u64]);
        m.memory.expect_writes();
    }
}

#[test]
fn pages_that_are_admitted_at_once_can_be_used_meanwhile() {
    const PAGES: usize = 512;
    let m = Mapped::of(2 * 4096 * PAGES as u64, HostMemory::Coherent);
    let start = m.start as usize;
    let counter = |page: usize| {
        let at = (start + 4096 * (PAGES + page)) as *const AtomicU32;
        // SAFETY: inside the mapping, which lives as long as this function, and aligned.
        unsafe { &*at }
    };
    let (done, mut told) = (AtomicBool::new(false), vec![false; PAGES]);
    std::thread::scope(|scope| {
        let count = scope.spawn(|| {
            let mut count = 0;
            while count < 1000 || !done.load(Ordering::Relaxed) {
                count += 1;
                (0..PAGES).for_each(|page| _ = counter(page).fetch_add(1, Ordering::Relaxed));
            }
            count
        });
        scope.spawn(|| {
            // SAFETY: a name that ends in zero; the result is checked, and the descriptor ours.
            let file = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"copy".as_ptr(), 0)) };
            while !done.load(Ordering::Relaxed) {
                let size = 2 * 4096 * PAGES;
                // SAFETY: the system call reads bytes of the mapping.
                let written = unsafe { libc::pwrite(file.as_raw_fd(), start as *const _, size, 0) };
                assert_eq!(written, size as isize);
            }
        });
        let mut tell = || {
            for run in m.writes() {
                let page = |at: u64| (at as usize / 4096).saturating_sub(PAGES);
                told[page(run.start)..page(run.end - 1) + 1].fill(true);
            }
        };
        for round in 0..100 {
            (0..4096 * PAGES).step_by(4096).for_each(|at| m.put(at as u64, round));
            tell();
            m.memory.expect_writes();
        }
        done.store(true, Ordering::Relaxed);
        let count = count.join().unwrap();
        tell();
        assert!((0..PAGES).all(|page| counter(page).load(Ordering::Relaxed) == count));
        assert!((0..PAGES).all(|page| m.device(4096 * (PAGES + page) as u64) == count as u8));
    });
    assert!(told.iter().all(|told| *told));
}

#[test]
fn numbers_that_change_in_most_of_their_bytes_are_runs() {
    for kind in [HostMemory::Coherent, HostMemory::NonCoherent] {
        let m = Mapped::of(1 << 20, kind);
        let words = |value: u32| {
            // SAFETY: inside the mapping, aligned; one thread.
            unsafe { std::slice::from_raw_parts_mut(m.start.cast::<u32>(), 1 << 18) }.fill(value);
            m.writes()
        };
        assert_eq!(words(0x3f01_0101), [0..1 << 20]);
        let writes = words(0x3f02_0202);
        assert!(writes.len() < 1000 && writes[0] == (0..3) && writes.last().unwrap().end == (1 << 20) - 1);
        m.memory.flush(0, u64::MAX);
        m.device_writes(0x8_0003, &[5]);
        let exact = words(0x3f03_0303).len() > 1 << 17;
        assert_eq!(exact, kind == HostMemory::NonCoherent, "the device's bytes between are not the host's");
    }
}

#[test]
fn what_was_written_before_the_first_mapping_is_there() {
    let memory = Allocation::new(&heap(), SIZE, HostMemory::Coherent).unwrap();
    assert!(memory.write(4097, &[3]));
    memory.device_wrote([4097..4098]);
    let m = Mapped { start: memory.map().unwrap(), memory };
    assert!(m.writes().is_empty());
    let memory = Allocation::new(&heap(), SIZE, HostMemory::NonCoherent).unwrap();
    assert!(memory.write(4096, &[3; 4]));
    memory.device_wrote([4096..4100]);
    let m = Mapped { start: memory.map().unwrap(), memory };
    assert_eq!(m.invalidate(0, u64::MAX).seen, [4096..4100]);
    assert_eq!(m.get(4096), 3);
}

#[test]
fn an_invalidate_of_untouched_memory_commits_nothing() {
    let resident = || {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    let heap = Arc::new(Heap::new(0, 1 << 30).unwrap());
    let memory = Allocation::new(&heap, 512 << 20, HostMemory::NonCoherent).unwrap();
    memory.map().unwrap();
    let before = resident();
    let start = std::time::Instant::now();
    for _ in 0..10 {
        memory.invalidate(0, u64::MAX, |_| Vec::new());
        memory.flush(0, u64::MAX);
    }
    assert!(start.elapsed().as_millis() < 100, "{:?}", start.elapsed());
    assert!(resident() < before + (16 << 20));
}

/// Memory behind the host's cache of a machine.
fn cached(writes: WritePolicy, line: u32) -> HostMemory {
    HostMemory::Cached(HostCache { writes, line })
}
