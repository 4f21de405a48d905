//! Stores of a rehearsal: read by those that take part, seen by nobody else.

use super::*;
use crate::agent::Placement;

#[test]
fn a_rehearsal_reads_its_own_stores_and_leaves_memory_alone() {
    let mut m = Machine::stale();
    m.words[0] = 0x0403_0201;
    m.memory.rehearse(Some((1, ValuePolicy::Latest)));
    let byte = How { size: 1, ..SHARED };
    let half = How { size: 2, ..SHARED };
    m.store(1, 0, U, 1, byte, 0xaa);
    assert_eq!(m.load(2, 0, U, 0, SHARED), 0x0403_aa01, "the stored byte, and memory's others");
    assert_eq!(m.load(3, 0, U, 1, half), 0x03aa);
    m.store(4, 0, U, 0, SHARED, 7);
    m.store(5, 0, U, 2, half, 0x1234);
    assert_eq!(m.load(6, 0, U, 0, SHARED), 0x1234_0007);
    let relaxed = semantics(false, false, U, false);
    assert_eq!(m.add(7, 0, U, 8, Scope::Device, relaxed, 5), 0);
    assert_eq!(m.add(8, 64, U, 8, Scope::Device, relaxed, 5), 5, "others take part in it, too");
    assert_eq!(m.atomic_load(9, 64, U, 8, Scope::Device, relaxed), 10);
    m.store(10, 0, W, 4, SHARED, 9);
    assert_eq!(m.load(11, 0, W, 4, SHARED), 9, "workgroup memory ends with the workgroup");
    assert_eq!(m.memory.end_dispatch().len(), 0);
    assert_eq!(m.words[..3], [0x0403_0201, 0, 0]);
}

#[test]
fn what_a_rehearsal_stored_is_gone_after_it() {
    let mut m = Machine::stale();
    m.memory.rehearse(Some((1, ValuePolicy::Latest)));
    m.store(1, 0, U, 0, SHARED, 7);
    m.memory.end_dispatch();
    m.memory.rehearse(None);
    m.memory.begin_dispatch(DispatchInfo {
        groups: [2, 1, 1],
        workgroup_size: 64,
        placement: Placement::in_order(32),
        ..DispatchInfo::default()
    });
    assert_eq!(m.load(2, 0, U, 0, SHARED), 0);
    m.store(3, 0, U, 0, SHARED, 8);
    assert_eq!(m.words[0], 8);
}
