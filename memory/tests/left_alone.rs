//! Coherent memory in which the host is left alone where it has written much: what it writes there is past
//! when it is followed again, and what it writes where it is followed is known to the byte.

#![allow(clippy::single_range_in_vec_init)]

use pellucid_memory::device::{Allocation, HostMemory};
use pellucid_memory::heap::Heap;
use pellucid_memory::host::Faults;
use pellucid_memory::random::Random;
use std::ops::Range;
use std::sync::Arc;

const PAGE: u64 = 4096;

/// An allocation, and its bytes as the application sees them.
struct Mapped {
    memory: Arc<Allocation>,
    start: *mut u8,
    size: u64,
}

impl Mapped {
    fn of(size: u64, kind: HostMemory) -> Mapped {
        let heap = Arc::new(Heap::new(0x1_0000_0000, 1 << 30).unwrap());
        let memory = Allocation::new(&heap, size, kind).unwrap();
        let start = memory.map().unwrap();
        Mapped { memory, start, size }
    }

    fn put(&self, at: u64, byte: u8) {
        // SAFETY: inside the mapping; one thread.
        unsafe { self.start.add(at as usize).write_volatile(byte) };
    }

    fn put_all(&self, value: u8) {
        // SAFETY: inside the mapping; one thread.
        unsafe { self.start.write_bytes(value, self.size as usize) };
    }

    fn device_writes(&self, at: u64, bytes: &[u8]) {
        assert!(self.memory.write(at, bytes));
        self.memory.device_wrote([at..at + bytes.len() as u64]);
    }

    fn leave(&self, kept: &[Range<u64>]) -> bool {
        self.memory.look(Faults::now());
        self.memory.leave_host(kept)
    }

    fn writes(&self) -> Vec<Range<u64>> {
        self.memory.look(Faults::now());
        self.memory.note_host_accesses(false);
        self.memory.host_accesses().writes
    }
}

#[test]
fn what_the_host_writes_while_it_is_left_alone_is_past() {
    for size in [20 * 4096 + 200, 20 << 20] {
        let m = Mapped::of(size, HostMemory::Coherent);
        let (last, half) = (size - 1, size / 2 / 4096 * 4096);
        let last_page = [last / 4096 * 4096..size];
        for round in 1..6 {
            m.put_all(round);
            assert!(m.leave(&[last..size]) && !m.memory.is_followed(), "round {round}");
            assert_eq!(m.writes(), last_page, "round {round}: the page that is kept");
            m.put_all(round + 2);
            assert_eq!(m.writes(), last_page, "round {round}");
            m.memory.follow_host(&(half..half + 1));
            m.put(half + 1, round + 3);
            m.put(5, round + 3);
            assert_eq!(m.writes(), [half + 1..half + 2], "round {round}: one page is followed again");
            m.memory.follow_host(&(0..size));
            assert!(m.memory.is_followed() && m.writes().is_empty(), "round {round}");
            m.put(5, round + 4);
            m.put(6, round + 3);
            m.put(last, 78);
            assert_eq!(m.writes(), [5..7, last..size], "round {round}: the bytes that it changed since");
            m.device_writes(4096, &[round + 50; 100]);
            m.put(4195, round);
            assert_eq!(m.writes(), [4195..4196], "round {round}");
            m.memory.expect_writes();
        }
    }
}

#[test]
fn where_the_device_writes_the_host_is_followed() {
    let all = |kind| {
        let m = Mapped::of(1 << 20, kind);
        m.put_all(1);
        m.leave(&[]);
        m
    };
    let m = all(HostMemory::Coherent);
    m.memory.note_host_accesses(false);
    assert!(m.memory.host_accesses().reads.is_empty(), "nor are its reads followed");
    m.put(3, 2);
    m.device_writes(8, &[1; 4]);
    assert!(m.writes().is_empty());
    m.put(4, 2);
    m.put(5000, 2);
    assert_eq!(m.writes(), [4..5]);
    let m = all(HostMemory::NonCoherent);
    assert_eq!(m.writes(), [0..1 << 20], "memory that is not coherent is never left alone");
}

/// Runs random programs that do so many things in all. A reference knows the bytes when they were last looked
/// at, and where the host is followed.
fn random_programs(operations: u64) {
    const PAGES: u64 = 72;
    const SIZE: u64 = PAGES * PAGE - 100;
    let (mut done, mut found, mut left) = (0, 0, 0);
    for seed in 1.. {
        let (m, mut c) = (Mapped::of(SIZE, HostMemory::Coherent), Random::new(seed));
        let mut bytes = vec![0; SIZE as usize];
        let mut before = bytes.clone();
        let mut followed = [true; PAGES as usize];
        for _ in 0..500 {
            let most = [1, 100, 5000, 40 * PAGE][c.below(4) as usize];
            let start = c.below(SIZE);
            let range = start..(start + 1 + c.below(most)).min(SIZE);
            let pages = (range.start / PAGE) as usize..range.end.div_ceil(PAGE) as usize;
            let value = c.below(256) as u8;
            match c.below(8) {
                0..3 => {
                    for at in range {
                        m.put(at, value);
                        bytes[at as usize] = value;
                    }
                }
                3 => {
                    let run = range.start as usize..range.end as usize;
                    bytes[run.clone()].fill(value);
                    before[run.clone()].fill(value);
                    // What the host wrote there until now is past.
                    for page in pages.filter(|page| !std::mem::replace(&mut followed[*page], true)) {
                        let page = page * PAGE as usize..((page + 1) * PAGE as usize).min(SIZE as usize);
                        before[page.clone()].copy_from_slice(&bytes[page]);
                    }
                    m.device_writes(range.start, &bytes[run]);
                }
                4 => {
                    m.writes();
                    before.copy_from_slice(&bytes);
                    m.put_all(value);
                    bytes.fill(value);
                    m.leave(&[range]);
                    left += u64::from(!m.memory.is_followed());
                    // Written are all pages; runs of 16 are worth it.
                    let free = |page: &usize| followed[*page] && !pages.contains(page);
                    let free: Vec<bool> = (0..followed.len()).map(|page| free(&page)).collect();
                    let mut at = 0;
                    for run in free.chunk_by(|a, b| a == b) {
                        if run[0] && run.len() >= 16 {
                            followed[at..at + run.len()].fill(false);
                        }
                        at += run.len();
                    }
                }
                5 => {
                    m.memory.follow_host(&range);
                    for page in pages.filter(|page| !std::mem::replace(&mut followed[*page], true)) {
                        let page = page * PAGE as usize..((page + 1) * PAGE as usize).min(SIZE as usize);
                        before[page.clone()].copy_from_slice(&bytes[page]);
                    }
                }
                6 => m.memory.expect_writes(),
                _ => {
                    let mut told = vec![false; SIZE as usize];
                    for run in m.writes() {
                        found += run.end - run.start;
                        told[run.start as usize..run.end as usize].fill(true);
                    }
                    for (at, told) in told.into_iter().enumerate() {
                        let known = bytes[at] != before[at] && followed[at / PAGE as usize];
                        assert_eq!(told, known, "seed {seed}: byte {at}");
                    }
                    before.copy_from_slice(&bytes);
                }
            }
        }
        done += 500;
        if done >= operations {
            assert!(found > operations && left > operations / 50, "too tame: {found} {left}");
            return;
        }
    }
}

#[test]
fn what_the_host_writes_where_it_is_followed_is_known_to_the_byte() {
    random_programs(5000);
}

#[test]
#[ignore = "run it by name after a change to the rules"]
fn what_the_host_writes_is_known_to_the_byte_in_many_programs() {
    random_programs(200_000);
}
