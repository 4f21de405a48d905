//! Addresses at which parts of allocations are bound, and bound again.

use super::*;
use crate::access::Reference;
use crate::device::MemoryRange;

fn memory() -> (Arc<Allocation>, [Arc<Allocation>; 2]) {
    let heap = Arc::new(Heap::new(0x1_0000_0000, 1 << 22).unwrap());
    let addresses = Arc::new(Heap::new(0x2_0000_0000, 1 << 22).unwrap());
    let ordinary = || Allocation::new(&heap, 4 * PAGE, HostMemory::Flat).unwrap();
    (Allocation::sparse(&addresses, Placement::Anywhere, 8 * PAGE).unwrap(), [ordinary(), ordinary()])
}

fn byte(memory: &Allocation, offset: u64) -> u8 {
    let mut byte = [0];
    assert!(memory.read(offset, &mut byte));
    byte[0]
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn what_is_bound_shows_through() {
    let (sparse, [a, b]) = memory();
    assert_eq!(sparse.address(), 0x2_0000_0000);
    assert_eq!(byte(&sparse, 0), 0);
    assert!(sparse.write(5, &[9]), "nothing is bound");
    assert_eq!(byte(&sparse, 5), 0);
    assert!(sparse.bind(&(0..2 * PAGE), Some((&a, PAGE))).unwrap());
    assert!(sparse.bind(&(3 * PAGE..4 * PAGE), Some((&b, 0))).unwrap());
    assert_eq!(byte(&sparse, 5), 0);
    sparse.write(PAGE + 1, &[7]);
    assert_eq!(byte(&a, 2 * PAGE + 1), 7);
    b.write(0, &[8]);
    assert_eq!(byte(&sparse, 3 * PAGE), 8);
    // The same memory elsewhere; the first place keeps showing what is left there.
    assert!(sparse.bind(&(0..PAGE), None).unwrap());
    assert!(sparse.bind(&(6 * PAGE..7 * PAGE), Some((&a, 2 * PAGE))).unwrap());
    assert_eq!((byte(&sparse, 6 * PAGE + 1), byte(&sparse, PAGE + 1), byte(&sparse, 1)), (7, 7, 0));
    drop(sparse);
    assert_eq!(byte(&a, 2 * PAGE + 1), 7);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn bindings_are_cut_where_others_come() {
    let (sparse, [a, b]) = memory();
    sparse.bind(&(0..4 * PAGE), Some((&a, 0))).unwrap();
    sparse.bind(&(PAGE..2 * PAGE), Some((&b, 3 * PAGE))).unwrap();
    assert_eq!(sparse.bound_of(&a, &(0..1)), std::slice::from_ref(&(0..1)));
    assert!(sparse.bound_of(&a, &(PAGE..2 * PAGE)).is_empty());
    assert_eq!(sparse.bound_of(&a, &(0..4 * PAGE)), [0..PAGE, 2 * PAGE..4 * PAGE]);
    assert_eq!(sparse.bound_of(&b, &(0..4 * PAGE)), std::slice::from_ref(&(3 * PAGE..4 * PAGE)));
    assert_eq!(sparse.first_unbound(&(0..4 * PAGE)), None);
    sparse.bind(&(2 * PAGE..3 * PAGE), None).unwrap();
    assert_eq!(sparse.first_unbound(&(0..8 * PAGE)), Some(2 * PAGE..3 * PAGE));
    assert_eq!(sparse.first_unbound(&(3 * PAGE..8 * PAGE)), Some(4 * PAGE..8 * PAGE));
    assert_eq!(sparse.first_unbound(&(0..2 * PAGE)), None);
    let range = |memory, offset| MemoryRange::new(memory, offset, 4 * PAGE, Reference(0));
    let (part, ordinary) = (range(&sparse, PAGE), range(&a, 0));
    assert!(part.view().is_resident(0, PAGE) && part.view().is_resident(2 * PAGE, 4));
    assert!(!part.view().is_resident(PAGE - 1, 2) && !part.view().is_resident(3 * PAGE, 1));
    assert!(part.view().is_resident(4 * PAGE, 4) && part.view().is_resident(u64::MAX, 4));
    let bound = MemoryRange::new(&sparse, 0, 2 * PAGE, Reference(0));
    assert!(bound.view().is_resident(2 * PAGE - 4, 16), "what is not bound is outside");
    let lanes = |offsets: [u64; 4]| Lanes(std::array::from_fn(|n| offsets[n % 4] as u32));
    let offsets = lanes([0, PAGE, 2 * PAGE, 4 * PAGE - 4]);
    assert_eq!(part.view().resident(&offsets, 4, 0b1111, 4), 0b1101);
    assert_eq!(part.view().resident(&offsets, 0, 0b0101, 4), 0b0101);
    assert!(ordinary.view().is_resident(0, 8 * PAGE));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn nothing_is_written_where_nothing_is_bound() {
    let (sparse, [a, b]) = memory();
    sparse.bind(&(PAGE..2 * PAGE), Some((&a, 0))).unwrap();
    sparse.bind(&(3 * PAGE..4 * PAGE), Some((&a, PAGE))).unwrap();
    let all = |memory: &Allocation| {
        let mut bytes = vec![9; 8 * PAGE as usize];
        assert!(memory.read(0, &mut bytes));
        bytes
    };
    let expected = |byte: &dyn Fn(u64) -> u8, start: u64| -> Vec<u8> {
        let bound = |at: u64| matches!(at / PAGE, 1 | 3) && at >= start;
        (0..8 * PAGE).map(|at| if bound(at) { byte(at - start) } else { 0 }).collect()
    };
    // The pattern's phase goes on over what is not there.
    assert!(sparse.fill(3, 8 * PAGE - 3, &[1, 2, 3]));
    assert!(all(&sparse) == expected(&|n| (n % 3) as u8 + 1, 3));
    let bytes: Vec<u8> = (0..6 * PAGE).map(|n| (n % 251) as u8).collect();
    assert!(sparse.write(PAGE / 2, &bytes));
    assert!(all(&sparse) == expected(&|n| (n % 251) as u8, PAGE / 2));
    assert!(b.fill(0, 4 * PAGE, &[7]));
    assert!(Allocation::copy(&b, 0, &sparse, 0, 4 * PAGE));
    assert!(all(&sparse) == expected(&|_| 7, 0));
    assert!(!sparse.write(8 * PAGE - 1, &[1, 2]));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn ranges_are_checked() {
    let (sparse, [a, _]) = memory();
    assert!(!sparse.bind(&(0..5 * PAGE), Some((&a, 0))).unwrap(), "the memory is smaller");
    assert!(!sparse.bind(&(0..PAGE), Some((&a, u64::MAX - 1))).unwrap());
    assert!(!sparse.bind(&(1..PAGE), Some((&a, 0))).unwrap());
    assert!(!sparse.bind(&(8 * PAGE..9 * PAGE), None).unwrap());
    assert!(!a.bind(&(0..PAGE), Some((&sparse, 0))).unwrap());
    assert!(!sparse.bind(&(0..PAGE), Some((&sparse, 0))).unwrap());
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn what_is_bound_stays() {
    let (sparse, [a, b]) = memory();
    a.write(0, &[3]);
    sparse.bind(&(0..PAGE), Some((&a, 0))).unwrap();
    drop((a, b));
    assert_eq!(byte(&sparse, 0), 3);
}
