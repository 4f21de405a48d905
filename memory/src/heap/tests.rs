//! Ranges that are allocated, freed and taken again.

use super::*;

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn the_budget_holds_and_comes_back() {
    let heap = Heap::new(0x1000_0000, 1 << 20).unwrap();
    let a = heap.take(600 << 10, Placement::Anywhere).unwrap();
    assert!(matches!(heap.take(600 << 10, Placement::Anywhere), Err(HeapError::OutOfMemory { .. })));
    assert_eq!(heap.ranges.lock().used, 600 << 10);
    heap.give(a, 600 << 10);
    assert_eq!(heap.ranges.lock().used, 0);
    let b = heap.take(1 << 20, Placement::Anywhere).unwrap();
    assert_ne!(a, b, "freed ranges rest");
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn addresses_depend_on_the_order_alone() {
    let run = || {
        let heap = Heap::new(0x1000_0000, 1 << 20).unwrap();
        let a = heap.take(100, Placement::Anywhere).unwrap();
        let b = heap.take(70_000, Placement::Anywhere).unwrap();
        heap.give(a, 100);
        let c = heap.take(5, Placement::Anywhere).unwrap();
        [a, b, c]
    };
    assert_eq!(run(), run());
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn all_ranges_merge_again() {
    let heap = Heap::new(0, 1 << 20).unwrap();
    let taken: Vec<u64> = (0..10).map(|i| heap.take(i * 1000 + 1, Placement::Anywhere).unwrap()).collect();
    for i in [3, 1, 2, 9, 0, 4, 8, 6, 5, 7] {
        heap.give(taken[i], i as u64 * 1000 + 1);
    }
    assert_eq!(heap.ranges.lock().free.len(), 1);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn captured_ranges_are_found_again() {
    let heap = || Heap::new(0x1000_0000, 1 << 20).unwrap();
    let (one, two) = (heap(), heap());
    let captured = one.take(100, Placement::Captured).unwrap();
    let other = one.take(100, Placement::Captured).unwrap();
    for _ in 0..9 {
        two.take(100, Placement::Anywhere).unwrap();
    }
    assert_ne!(captured, other);
    for offset in [other, captured] {
        assert_eq!(two.take(100, Placement::At(two.address(offset))).unwrap(), offset);
    }
    for address in [two.address(captured), two.address(captured) + 8, 0, u64::MAX] {
        let taken = two.take(100, Placement::At(address));
        assert!(matches!(taken, Err(HeapError::Taken { .. })), "{address:#x}");
    }
}
