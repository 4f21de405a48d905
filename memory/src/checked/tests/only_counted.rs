//! Races of one invocation through two references, of which most are only counted.

use super::machine::{Machine, PRIVATE, U, access};
use super::*;

const WORDS: u32 = 1 << 13;

/// What lanes access, and which byte.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Ascending,
    Descending,
    /// In the order of a transposition.
    Transposed,
}

/// How the places are accessed first: by the same components as then, or by one byte.
#[derive(Clone, Copy, Debug, PartialEq)]
enum First {
    Read,
    Write,
    /// This byte of the place is read.
    Byte(u32),
}

/// Every invocation accesses its places through one reference and then writes them through another: what is
/// found, with how often.
fn found(pattern: Pattern, (size, components): (u8, u8), first: First, only_order: bool) -> Vec<u64> {
    let mut machine = Machine::stale();
    machine.memory.core.only_order = only_order;
    let mut words = vec![0u32; WORDS as usize];
    let bytes = u32::from(size) * u32::from(components);
    let places = 4 * WORDS / bytes / 32 * 32;
    let value = [Lanes([7; LANES]); 4];
    let mut out = value;
    for turn in 0..places / 32 {
        machine.enter(32 * (turn % 4));
        let place = |lane: u32| match pattern {
            Pattern::Ascending => 32 * turn + lane,
            Pattern::Descending => 32 * turn + 31 - lane,
            Pattern::Transposed => lane * (places / 32) + turn,
        };
        let offset = Lanes(std::array::from_fn(|lane| bytes * place(lane as u32)));
        let shape = |write: bool| match first {
            First::Byte(_) if !write => Access { size: 1, ..access(PRIVATE, U, write) },
            _ => Access { size, components, ..access(PRIVATE, U, write) },
        };
        let registers = usize::from(components) * if size == 8 { 2 } else { 1 };
        for (site, reference, write) in [(1, 0, first == First::Write), (2, 1, true)] {
            let view = MemoryView::of_words(&mut words).at(0x1000).through(Reference(reference));
            let (immediate, count) = match first {
                First::Byte(byte) if site == 1 => (byte, 1),
                _ => (0, registers),
            };
            let pointers = Pointers::View { view: &view, offset: &offset, immediate };
            let memory = &mut machine.memory;
            match write {
                true => memory.store(Site(site), pointers, Mask::MAX, &shape(true), &value[..count]),
                false => memory.load(Site(site), pointers, Mask::MAX, &shape(false), &mut out[..count]),
            }
            .unwrap();
        }
    }
    let races = machine.end().into_iter().map(|finding| {
        assert_eq!(finding.id, FindingId::RaceSameInvocation);
        finding.count
    });
    races.collect()
}

#[test]
fn they_are_counted_as_the_order_counts_them() {
    for pattern in [Pattern::Ascending, Pattern::Descending, Pattern::Transposed] {
        for shape in [(4, 1), (4, 2), (4, 3), (4, 4), (8, 1), (8, 2), (2, 1), (2, 2), (2, 3)] {
            for first in [First::Read, First::Write, First::Byte(0), First::Byte(1)] {
                let [fast, slow] = [false, true].map(|order| found(pattern, shape, first, order));
                assert_eq!(fast, slow, "{pattern:?} {shape:?} {first:?}");
                let least = match first {
                    First::Byte(_) => u64::from(4 * WORDS) / u64::from(shape.0 * shape.1),
                    _ => u64::from(WORDS),
                };
                assert!(fast.len() == 1 && fast[0] > least * 9 / 10, "{pattern:?} {shape:?} {fast:?}");
            }
        }
    }
}
