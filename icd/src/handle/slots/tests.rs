//! Handles whose objects have ended, or are of another kind.

use super::*;

#[test]
fn stale_and_foreign_handles_find_nothing() {
    let numbers: Table<u32> = Table::new(1);
    let others: Table<u32> = Table::new(2);
    let a = numbers.insert(Arc::new(7), 5);
    assert_ne!(a, 0);
    assert_eq!(numbers.get(a).as_deref(), Some(&7));
    assert_eq!(others.get(a), None);
    assert_eq!(numbers.remove(a).as_deref(), Some(&7));
    assert_eq!(numbers.get(a), None);
    assert_eq!(numbers.remove(a), None);
    let b = numbers.insert(Arc::new(8), 63);
    assert_ne!(a, b);
    assert_eq!(numbers.get(a), None);
    assert_eq!(numbers.get(b).as_deref(), Some(&8));
    assert_eq!((device_of(a), device_of(b)), (5, 63));
    assert_eq!(numbers.get(b).as_deref(), Some(&8));
    assert_eq!(numbers.get(u64::MAX), None);
    assert_eq!(numbers.get(0), None);
    let c = numbers.insert(Arc::new(9), 5);
    assert_eq!(numbers.remove_of(5), [Arc::new(9)]);
    assert_eq!((numbers.get(c), numbers.get(b).as_deref()), (None, Some(&8)));
    assert!(numbers.remove_of(5).is_empty());
}
