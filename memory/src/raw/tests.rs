//! Accesses of every size and at every offset against arithmetic on bytes, and accesses that race.

use super::*;

/// Bytes that differ from their neighbours.
fn bytes(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 37 + i / 251) as u8).collect()
}

fn held(view: &MemoryView<'_>) -> Vec<u8> {
    let mut out = vec![0; view.size() as usize];
    assert!(read(view, 0, &mut out));
    out
}

/// Lengths around the sizes at which copies change their ways.
fn lengths() -> Vec<u64> {
    let long: &[u64] = if cfg!(miri) { &[100] } else { &[511, 512, 513, 1500] };
    (0..=17).chain([31, 32, 33, 63, 64, 65]).chain(long.iter().copied()).collect()
}

#[test]
fn ranges_are_read_and_written_at_every_offset() {
    for length in lengths() {
        for offset in 0..9 {
            let mut words = vec![0u64; (length as usize + 16).div_ceil(8) + 1];
            let view = MemoryView::of_words(&mut words);
            let from = bytes(length as usize);
            assert!(write(&view, offset, &from));
            let mut all = held(&view);
            let written: Vec<u8> = all.drain(offset as usize..(offset + length) as usize).collect();
            assert_eq!(written, from, "{length} bytes at {offset}");
            assert!(all.iter().all(|byte| *byte == 0), "{length} bytes at {offset}: others too");
            let mut out = vec![0; length as usize];
            assert!(read(&view, offset, &mut out));
            assert_eq!(out, from);
        }
    }
}

#[test]
fn components_have_1_2_4_or_8_bytes() {
    let mut words = [0u64; 2];
    let view = MemoryView::of_words(&mut words);
    for size in 0..=16 {
        let known = [1, 2, 4, 8].contains(&size);
        assert_eq!(load(&view, 0, size, Ordering::Relaxed).is_some(), known);
        assert_eq!(store(&view, 0, size, 7, Ordering::Relaxed), known);
        assert_eq!(read_modify_write(&view, 0, size, AtomicOp::IAdd, 1, 0).is_some(), known);
        assert_eq!(load(&MemoryView::NULL, 0, size, Ordering::Relaxed), None);
    }
}

#[test]
fn copies_may_overlap() {
    let apart = if cfg!(miri) { vec![-33i64, -1, 0, 1, 8, 33] } else { (-70i64..70).collect() };
    for length in lengths() {
        for apart in &apart {
            let mut words = vec![0u64; (length as usize + 160).div_ceil(8)];
            let view = MemoryView::of_words(&mut words);
            let mut expected = bytes(view.size() as usize);
            write(&view, 0, &expected);
            let (from, to) = (72, 72u64.wrapping_add_signed(*apart));
            assert!(copy(&view.part(from, length), &view.part(to, length)));
            expected.copy_within(from as usize..(from + length) as usize, to as usize);
            assert_eq!(held(&view), expected, "{length} bytes, {apart} apart");
        }
    }
    let (mut a, mut b) = ([0u32; 2], [0u32; 3]);
    assert!(!copy(&MemoryView::of_words(&mut a), &MemoryView::of_words(&mut b)), "sizes differ");
}

#[test]
fn fills_repeat_their_pattern_from_the_first_byte() {
    for pattern in
        [&[7u8][..], &[1, 2], &[1, 2, 3], &[1, 2, 3, 4], &[9; 5], &bytes(8), &bytes(12), &bytes(16)]
    {
        for length in lengths() {
            for offset in [0, 1, 4, 7] {
                let mut words = vec![0u64; (length as usize + 16).div_ceil(8)];
                let view = MemoryView::of_words(&mut words);
                fill(&view.part(offset, length), pattern);
                let mut expected = vec![0; view.size() as usize];
                for i in 0..length as usize {
                    expected[offset as usize + i] = pattern[i % pattern.len()];
                }
                assert_eq!(held(&view), expected, "{pattern:?}, {length} bytes at {offset}");
            }
        }
    }
    let mut words = vec![0u64; 2000];
    let view = MemoryView::of_words(&mut words);
    fill(&view, &bytes(1000));
    assert_eq!(held(&view), bytes(1000).repeat(16));
    fill(&view, &bytes(6000));
    assert_eq!(held(&view)[..], [bytes(6000), bytes(6000), bytes(4000)].concat());
}

#[test]
fn components_at_every_offset_are_little_endian_bytes() {
    let mut words = [0u64; 4];
    let view = MemoryView::of_words(&mut words);
    write(&view, 0, &bytes(32));
    for size in [1u8, 2, 4, 8] {
        for offset in 0..=32 {
            let inside = offset + u64::from(size) <= 32;
            let expected = |at: u64| {
                (0..u64::from(size)).fold(0, |v, i| v | u64::from(bytes(32)[(at + i) as usize]) << (8 * i))
            };
            let value = load(&view, offset, size, Ordering::Relaxed);
            assert_eq!(value, inside.then(|| expected(offset)), "{size} bytes at {offset}");
            if let Some(value) = value {
                assert!(store(&view, offset, size, !value, Ordering::Relaxed));
                assert_eq!(load(&view, offset, 1, Ordering::Relaxed), Some(!value & 0xff));
                assert!(store(&view, offset, size, value, Ordering::Relaxed));
            } else {
                assert!(!store(&view, offset, size, 0, Ordering::Relaxed));
            }
        }
    }
    assert_eq!(held(&view), bytes(32));
}

#[test]
fn parts_are_cut_to_the_view() {
    let mut words = [0u32; 4];
    let view = MemoryView::of_words(&mut words).at(0x100);
    let part = view.part(4, 8);
    assert_eq!((part.address, part.size()), (0x104, 8));
    assert_eq!(view.part(4, u64::MAX).size(), 12);
    assert_eq!(view.part(100, 4).size(), 0);
    assert!(!write(&part, 1, &[0; 8]) && !read(&part, u64::MAX, &mut [0; 2]));
    assert_eq!(load(&MemoryView::NULL, 0, 1, Ordering::Relaxed), None);
    assert!(read(&MemoryView::NULL, 0, &mut []));
}

#[test]
fn threads_race_without_losing_additions() {
    let turns = if cfg!(miri) { 20 } else { 20_000 };
    let mut words = [0u32; 2];
    let view = MemoryView::of_words(&mut words);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for turn in 0..turns {
                    read_modify_write(&view, 0, 4, AtomicOp::IAdd, 1, 0);
                    store(&view, 4, 4, turn, Ordering::Relaxed);
                    assert!(load(&view, 4, 4, Ordering::Relaxed).is_some_and(|word| word < turns));
                }
            });
        }
        if !cfg!(miri) {
            // Of another size: see the rule.
            scope.spawn(|| {
                for _ in 0..turns {
                    assert!(held(&view)[3] == 0, "no byte that was never there");
                }
            });
        }
    });
    assert_eq!(u64::from(words[0]), 3 * turns);
}

#[test]
fn an_update_says_which_bytes_it_changed() {
    let [mut from, mut to] = [[0u64; 24]; 2];
    let (source, target) = (MemoryView::of_words(&mut from), MemoryView::of_words(&mut to));
    let update = || {
        let mut blocks = Vec::new();
        assert!(update(&source, &target, |at, changed| blocks.push((at, changed))));
        assert!(same(&source, &target));
        blocks
    };
    assert!(update().is_empty());
    for at in [3, 4, 63, 64, 100, 191] {
        assert!(write(&source, at, &[7]));
    }
    assert_eq!(update(), [(0, 1 << 63 | 0b11 << 3), (64, 1 | 1 << 36), (128, 1 << 63)]);
    assert!(update().is_empty());
    assert!(write(&source, 60, &[9; 80]));
    assert_eq!(update(), [(0, 0xf << 60), (64, u64::MAX), (128, 0xfff)]);
    assert!(!super::update(&source.part(0, 63), &target.part(0, 63), |_, _| ()), "no multiple of 64");
    assert!(!super::update(&source.part(0, 128), &source.part(64, 128), |_, _| ()), "overlap");
}
