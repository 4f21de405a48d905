//! Reads that are remembered, against every byte that was read.

use super::*;
use crate::access::Site;
use crate::random::Random;
use crate::scope::StorageClasses;
use std::collections::BTreeMap;

fn access(reference: u32) -> StaticAccess {
    StaticAccess::plain(Site(1), StorageClasses::UNIFORM, reference, false)
}

/// Reads at random against a map of bytes: the runs have every byte that was read, and begin with who
/// read their first byte first.
#[test]
fn every_byte_that_was_read_is_in_a_run_of_who_read_its_first() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut words = vec![0u32; 4096];
        let view = MemoryView::of_words(&mut words).at(0x1_0fc0);
        let mut read_only = ReadOnly::new(Some(vec![(0, 0x1_0fc0), (0x2_0000, 0x3_0000)]));
        assert!(read_only.covers(&view));
        let mut readers: BTreeMap<u64, AgentId> = BTreeMap::new();
        for turn in 0..random.below(40) {
            let bytes = random.pick(&[1, 2, 4, 8, 12, 16]);
            let (from, step) = (4 * random.below(500), random.pick(&[0, bytes, 2 * bytes, 24]));
            let reversed = random.below(4) == 0;
            let offset = Lanes(std::array::from_fn(|lane| {
                let lane = lane as u32;
                from + step * if reversed { 31 - lane } else { lane }
            }));
            let mask = random.pick(&[Mask::MAX, 0xff, 0x8000_0001]);
            let at = (&view, &offset, 0);
            assert_eq!(read_only.read((1, &access(0)), at, mask, bytes, 32 * turn), mask);
            crate::component::each(mask, |lane| {
                let start = view.address + u64::from(offset.0[lane]);
                for byte in start..start + u64::from(bytes) {
                    readers.entry(byte).or_insert(32 * turn + lane as u32);
                }
            });
        }
        let mut told = 0;
        read_only.runs(|kind, start, end, agent| {
            assert_eq!((kind, Some(&agent)), (1, readers.get(&start)), "seed {seed}, {start:#x}");
            assert!((start..end).all(|byte| readers.contains_key(&byte)));
            told += end - start;
        });
        assert_eq!(told, readers.len() as u64, "seed {seed}");
    }
}

#[test]
fn two_kinds_of_a_class_stand_for_all_that_read_a_byte() {
    let mut words = vec![0u32; 64];
    let view = MemoryView::of_words(&mut words).at(0x1000);
    let mut read_only = ReadOnly::new(Some(Vec::new()));
    let offset = Lanes(std::array::from_fn(|lane| 4 * lane as u32));
    // The last is through another descriptor: another access type, if that is a uniform buffer.
    let reads = [(1, 0xf, 0), (2, 0xff, 0), (3, 0xfff, 0), (4, 0xf, 0), (1, 0xfff, 0), (5, 0x3, 1)];
    for (kind, lanes, reference) in reads {
        let kind_of = (kind, &access(reference));
        assert_eq!(read_only.read(kind_of, (&view, &offset, 0), lanes, 4, 10 * kind), lanes);
    }
    let mut told = Vec::new();
    read_only.runs(|kind, start, end, agent| told.push((kind, start - 0x1000, end - 0x1000, agent)));
    let expected = [(1, 0, 16, 10), (1, 32, 48, 18), (2, 0, 32, 20), (3, 16, 48, 34), (5, 0, 8, 50)];
    assert_eq!(told, expected);
}

#[test]
fn what_is_written_in_part_is_not_covered_and_what_is_outside_is_not_read() {
    let mut words = vec![0u32; 16];
    let view = MemoryView::of_words(&mut words).at(0x100);
    assert!(!ReadOnly::new(None).covers(&view));
    assert!(!ReadOnly::new(Some(vec![(0x13f, 0x180)])).covers(&view));
    let mut read_only = ReadOnly::new(Some(vec![(0x140, 0x180), (0xf0, 0x100)]));
    assert!(read_only.covers(&view));
    let offset = Lanes(std::array::from_fn(|lane| 4 * lane as u32));
    let kind = (1, &access(0));
    assert_eq!(read_only.read(kind, (&view, &offset, 0), Mask::MAX, 8, 0), 0x7fff);
}
