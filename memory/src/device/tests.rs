//! Ranges of allocations, inside and outside.

use super::*;

fn heap() -> Arc<Heap> {
    Arc::new(Heap::new(0x1_0000_0000, 1 << 20).unwrap())
}

#[allow(clippy::mut_from_ref)]
fn host_bytes(a: &Allocation) -> &mut [u8] {
    // SAFETY: tests are single-threaded and hold one such slice at a time.
    unsafe { std::slice::from_raw_parts_mut(a.map().unwrap(), a.size() as usize) }
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn coherent_views_show_the_same_bytes() {
    let a = Allocation::new(&heap(), 100, HostMemory::Flat).unwrap();
    host_bytes(&a)[7] = 42;
    let mut byte = [0];
    assert!(a.read(7, &mut byte));
    assert_eq!(byte, [42]);
    assert!(a.write(8, &[43]));
    assert_eq!(host_bytes(&a)[8], 43);
}

#[test]
fn ranges_are_checked() {
    let a = Allocation::private(0x1000, 100).unwrap();
    assert!(!a.write(99, &[1, 2]));
    assert!(!a.read(u64::MAX, &mut [0]));
    assert!(!a.fill(0, 101, &[0]));
    assert!(!Allocation::copy(&a, 0, &a, 50, 51));
    assert!(a.fill(1, 9, &[1, 2, 3, 4]));
    let mut bytes = [0; 11];
    a.read(0, &mut bytes);
    assert_eq!(bytes, [0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 0]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn memory_is_zero_when_it_comes_back() {
    let heap = Arc::new(Heap::new(0, 1 << 16).unwrap());
    for _ in 0..40 {
        let a = Allocation::new(&heap, 1 << 16, HostMemory::Flat).unwrap();
        let mut bytes = [1; 16];
        a.read(0, &mut bytes);
        assert_eq!(bytes, [0; 16]);
        a.write(0, &[5; 16]);
        assert!(a.committed() > 0);
    }
}
