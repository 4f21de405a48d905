//! Random programs against a reference that knows every byte.
//!
//! The host side of the test says what it writes and reads; the reference holds what a correct program sees.
//! Programs are random, and correct: they invalidate before they read what the device wrote, flush before the
//! device reads what the host wrote, and write part of an atom only where they have seen the rest.

use super::*;
use pellucid_memory::device::ATOM;
use pellucid_memory::random::Random;

/// What a correct program knows of one byte.
#[derive(Clone, Copy, Default)]
struct Byte {
    host: u8,
    device: u8,
    /// The host wrote it and has not flushed it.
    dirty: bool,
    /// The device wrote it and the host has not invalidated it.
    unseen: bool,
}

fn atoms(range: &Range<u64>) -> Range<u64> {
    range.start / ATOM * ATOM..range.end.next_multiple_of(ATOM).min(SIZE)
}

struct Program {
    m: Mapped,
    bytes: Vec<Byte>,
    random: Random,
}

impl Program {
    fn range(&mut self) -> Range<u64> {
        let most = [1, 4, 16, 200, 5000][self.random.below(5) as usize];
        let start = self.random.below(SIZE);
        start..(start + 1 + self.random.below(most)).min(SIZE)
    }

    fn all(&self, range: &Range<u64>, is: impl Fn(&Byte) -> bool) -> bool {
        self.bytes[range.start as usize..range.end as usize].iter().all(is)
    }

    fn each(&mut self, range: &Range<u64>, mut with: impl FnMut(u64, &mut Byte, &Mapped)) {
        for at in range.clone() {
            with(at, &mut self.bytes[at as usize], &self.m);
        }
    }

    fn flush(&mut self, range: &Range<u64>) {
        let flushed = self.m.memory.flush(range.start, range.end - range.start);
        assert!(flushed.lost.is_empty(), "{flushed:?}");
        self.each(&atoms(range), |_, byte, _| {
            if std::mem::take(&mut byte.dirty) {
                *byte = Byte { device: byte.host, unseen: false, ..*byte };
            }
        });
    }

    fn invalidate(&mut self, range: &Range<u64>) {
        let done = self.m.invalidate(range.start, range.end - range.start);
        assert!(done.discarded.is_empty(), "{done:?}");
        self.each(&atoms(range), |_, byte, _| {
            if std::mem::take(&mut byte.unseen) {
                byte.host = byte.device;
            }
        });
    }

    /// Writes, after what a correct program does first.
    fn write(&mut self, range: &Range<u64>) {
        for edge in [range.start, range.end - 1].map(|at| atoms(&(at..at + 1))) {
            let outside = edge.clone().filter(|at| !range.contains(at));
            if outside.map(|at| self.bytes[at as usize]).any(|b| b.unseen) {
                if !self.all(&edge, |b| !b.dirty) {
                    self.flush(&edge);
                }
                self.invalidate(&edge);
            }
        }
        let same = self.random.below(3);
        let value = self.random.below(256) as u8;
        for at in range.clone() {
            let byte = self.bytes[at as usize];
            let value = match same {
                0 => byte.host,
                1 => value,
                _ => self.random.below(256) as u8,
            };
            self.m.put(at, value);
            self.bytes[at as usize] = Byte { host: value, dirty: true, ..byte };
        }
    }

    fn read(&mut self, range: &Range<u64>) {
        if !self.all(&atoms(range), |b| !b.unseen) {
            if !self.all(&atoms(range), |b| !b.dirty) {
                self.flush(range);
            }
            self.invalidate(range);
        }
        self.each(range, |at, byte, m| assert_eq!(m.get(at), byte.host, "byte {at}, to the host"));
    }

    /// The device writes whole words, in atoms that the host has flushed.
    fn device_write(&mut self, range: &Range<u64>) {
        let range = range.start / 4 * 4..range.end.next_multiple_of(4).min(SIZE);
        if !self.all(&atoms(&range), |b| !b.dirty) {
            self.flush(&range);
        }
        let fill = self.random.below(256) as u8;
        let bytes: Vec<u8> = match self.random.below(2) {
            0 => vec![fill; (range.end - range.start) as usize],
            _ => range.clone().map(|_| self.random.below(256) as u8).collect(),
        };
        self.m.device_writes(range.start, &bytes);
        self.each(&range, |at, byte, _| {
            *byte = Byte { device: bytes[(at - range.start) as usize], unseen: true, ..*byte };
        });
    }

    fn device_read(&mut self, range: &Range<u64>) {
        if !self.all(range, |b| !b.dirty) {
            self.flush(range);
        }
        self.each(range, |at, byte, m| assert_eq!(m.device(at), byte.device, "byte {at}, to the device"));
    }
}

/// Runs random programs that make so many calls and accesses in all. One in 4 has memory without a host's
/// cache.
fn random_programs(operations: u64) {
    let mut done = 0;
    for seed in 1.. {
        let mut random = Random::new(seed);
        let line = 4 << random.below(9);
        let m = Mapped::new(match seed % 4 {
            0 => cached(WritePolicy::Back, line),
            1 => HostMemory::NonCoherent,
            2 => cached(WritePolicy::Through, line),
            _ => cached(WritePolicy::Coherent, line),
        });
        let mut program = Program { m, bytes: vec![Byte::default(); SIZE as usize], random };
        for _ in 0..2000 {
            let range = program.range();
            match program.random.below(12) {
                0..3 => program.write(&range),
                3..5 => program.read(&range),
                5..7 => program.device_write(&range),
                7 => program.device_read(&range),
                8 if program.random.below(2) == 0 => program.flush(&(0..SIZE)),
                8 => program.flush(&range),
                9 => program.m.memory.expect_writes(),
                10 => program.m.memory.evict(seed, 1 + program.random.below(8)),
                _ if program.all(&atoms(&range), |b| !b.dirty) => program.invalidate(&range),
                _ => {}
            }
        }
        program.device_read(&(0..SIZE));
        program.read(&(0..SIZE));
        done += 2002;
        if done >= operations {
            return;
        }
    }
}

#[test]
fn correct_programs_see_no_wrong_byte() {
    random_programs(20_000);
}

#[test]
#[ignore = "a million operations: run it by name after a change to the rules"]
fn a_million_operations_see_no_wrong_byte() {
    random_programs(1_000_000);
}
