//! Bytes that are allocated, written, discarded and forgotten.

use super::*;

#[test]
fn bytes_are_told_apart() {
    let mut unwritten = Unwritten::default();
    assert!(!unwritten.any(0, u64::MAX));
    unwritten.allocate(0x1_0000, 3 * PAGE + 100);
    assert!(unwritten.any(0x1_0000, 0x1_0001));
    assert!(!unwritten.any(0xffff, 0x1_0000), "memory that is not followed");
    unwritten.write(0x1_0000 + 61, 0x1_0000 + PAGE + 5);
    assert!(unwritten.any(0x1_0000 + 60, 0x1_0000 + 62));
    assert!(!unwritten.any(0x1_0000 + 61, 0x1_0000 + PAGE + 5));
    assert!(unwritten.any(0x1_0000 + 61, 0x1_0000 + PAGE + 6));
    let before = unwritten.clone();
    unwritten.write(0, u64::MAX);
    assert!(unwritten.is_empty());
    assert!(before.any(0x1_0000, 0x1_0001), "a clone keeps what it knew");
}

#[test]
fn lanes_are_told_apart_as_bytes_are() {
    let mut unwritten = Unwritten::default();
    unwritten.allocate(0x1_0000, 2 * PAGE);
    unwritten.allocate(0x1_0000 + 2 * PAGE, 64);
    for row in 0..300 {
        unwritten.write(0x1_0000 + 128 * row, 0x1_0000 + 128 * row + 64);
    }
    for (size, step) in [(1, 1), (4, 4), (4, 60), (8, 31), (16, 1100), (16, 4099)] {
        let offset = Lanes(std::array::from_fn(|lane| 50 + step * lane as u32));
        let written = unwritten.written_lanes(0xffd0, &offset, 0xffff_fffb, size);
        for lane in 0..LANES {
            let start = 0xffd0 + u64::from(offset.0[lane]);
            let should = lane != 2 && !unwritten.any(start, start + size);
            assert_eq!(written >> lane & 1 != 0, should, "lane {lane}, {size} bytes at {start:#x}");
        }
    }
}

#[test]
fn discarded_bytes_are_unwritten_and_no_others() {
    let mut unwritten = Unwritten::default();
    let size = 2 * PAGE + 10;
    unwritten.discard(4096, size, 5000, 5100);
    assert!(unwritten.any(5000, 5001) && unwritten.any(5099, 5100));
    assert!(!unwritten.any(4096, 5000) && !unwritten.any(5100, 4096 + size));
    unwritten.discard(4096, size, 4096 + PAGE, 4096 + size);
    assert!(!unwritten.any(5100, 4096 + PAGE) && unwritten.any(4096 + size - 1, 4096 + size));
    unwritten.write(5000, 5050);
    assert!(!unwritten.any(5000, 5050) && unwritten.any(5050, 5100));
    unwritten.write(0, u64::MAX);
    assert!(unwritten.is_empty());
}

#[test]
fn an_address_that_comes_back_is_unwritten_again() {
    let mut unwritten = Unwritten::default();
    unwritten.allocate(4096, 4096);
    unwritten.write(4096, 8000);
    unwritten.allocate(4096, 64);
    assert!(unwritten.any(4096, 4097));
    assert!(!unwritten.any(4096 + 64, 8192));
    unwritten.allocate(8192, 64);
    unwritten.forget(4100, 1);
    assert!(!unwritten.any(4096, 4160));
    assert!(unwritten.any(0, 8193));
    unwritten.clear();
    assert!(unwritten.is_empty());
}

#[test]
fn runs_are_the_bytes_that_are_unwritten() {
    let mut unwritten = Unwritten::default();
    assert!(unwritten.runs(0, u64::MAX).is_empty());
    unwritten.allocate(0x1_0000, 2 * PAGE + 100);
    unwritten.allocate(0x10_0000, 64);
    unwritten.write(0x1_0000 + 10, 0x1_0000 + 12);
    unwritten.write(0x1_0000 + PAGE - 1, 0x1_0000 + 2 * PAGE + 1);
    let all = [(0x1_0000, 0x1_000a), (0x1_000c, 0x1_0000 + PAGE - 1)];
    let last = (0x1_0001 + 2 * PAGE, 0x1_0064 + 2 * PAGE);
    assert_eq!(unwritten.runs(0, u64::MAX), [all[0], all[1], last, (0x10_0000, 0x10_0040)]);
    assert_eq!(unwritten.runs(0x1_0005, 0x1_000d), [(0x1_0005, 0x1_000a), (0x1_000c, 0x1_000d)]);
    for byte in 0x1_0000 - 1..0x1_0000 + 2 * PAGE + 101 {
        let within = unwritten.runs(byte, byte + 1) == [(byte, byte + 1)];
        assert_eq!(within, unwritten.any(byte, byte + 1), "{byte:#x}");
    }
}

#[test]
fn a_write_may_cross_allocations() {
    let mut unwritten = Unwritten::default();
    unwritten.allocate(0, 64);
    unwritten.allocate(64, 64);
    unwritten.write(60, 70);
    assert!(unwritten.any(0, 60) && !unwritten.any(60, 70) && unwritten.any(70, 128));
    assert!(unwritten.any(59, 61) && unwritten.any(60, 71));
}
