//! Shaders that write to a sparse resource of which a part is without memory: nothing arrives there, in both
//! memory systems, by descriptors and by addresses.
#![cfg(not(miri))]

use pellucid_memory::access::{Access, AtomicOp, Reference, Site};
use pellucid_memory::agent::{Placement, SubgroupIdentity};
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::device::{Allocation, HostMemory, MemoryRange};
use pellucid_memory::finding::FindingId;
use pellucid_memory::heap::{Heap, Placement as At};
use pellucid_memory::plain::PlainMemory;
use pellucid_memory::scope::{Scope, StorageClasses};
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, MemorySystem, MemoryView, Pointers, Trap};
use std::sync::Arc;

const PAGE: u64 = 4096;

/// Two pages, of which the first has memory.
fn half() -> Arc<Allocation> {
    let heap = Arc::new(Heap::new(0x1_0000_0000, 1 << 20).unwrap());
    let addresses = Arc::new(Heap::new(0x2_0000_0000, 1 << 20).unwrap());
    let memory = Allocation::new(&heap, PAGE, HostMemory::Flat).unwrap();
    let sparse = Allocation::sparse(&addresses, At::Anywhere, 2 * PAGE).unwrap();
    assert!(sparse.bind(&(0..PAGE), Some((&memory, 0))).unwrap());
    sparse
}

fn word(memory: &Allocation, at: u64) -> u32 {
    let mut bytes = [0; 4];
    assert!(memory.read(at, &mut bytes));
    u32::from_le_bytes(bytes)
}

fn access(size: u8, components: u8) -> Access {
    Access { components, ..Access::plain(StorageClasses::UNIFORM, size, 1) }
}

/// Stores and modifies, by a descriptor or by address.
fn writes<M: MemorySystem>(
    memory: &mut M,
    sparse: &Allocation,
    (by_address, view): (bool, &MemoryView<'_>),
    base: u64,
) {
    let offsets = |some: [u64; 3]| {
        let at = |lane: usize| base + some.get(lane).copied().unwrap_or(0);
        [0, 32].map(|shift| Lanes(std::array::from_fn(|lane| (at(lane) >> shift) as u32)))
    };
    let lanes = |k: u32| Lanes(std::array::from_fn(|lane| 10 * k + lane as u32 + 1));
    // Lane 0 begins where there is memory and ends where there is none.
    let (at, vector) = (offsets([PAGE - 8, PAGE + 16, 0]), [0, 1, 2, 3].map(lanes));
    memory.store(Site(1), pointers(by_address, view, &at), 0b111, &access(4, 4), &vector).unwrap();
    let there = [PAGE - 12, PAGE - 8, PAGE - 4, PAGE, PAGE + 4, PAGE + 16, PAGE + 20, 0, 4, 8, 12];
    assert_eq!(there.map(|at| word(sparse, at)), [0, 1, 11, 0, 0, 0, 0, 3, 13, 23, 33]);
    let mut read = [Lanes::ZERO; 4];
    memory.load(Site(2), pointers(by_address, view, &at), 0b111, &access(4, 4), &mut read).unwrap();
    let of = |lane: usize| read.map(|component| component.0[lane]);
    assert_eq!([of(0), of(1), of(2)], [[1, 11, 0, 0], [0; 4], [3, 13, 23, 33]]);
    // Components of 64 bits.
    let at = offsets([PAGE - 8, 0, 0]);
    memory.store(Site(3), pointers(by_address, view, &at), 0b001, &access(8, 2), &vector).unwrap();
    assert_eq!([PAGE - 8, PAGE - 4, PAGE, PAGE + 4].map(|at| word(sparse, at)), [1, 11, 0, 0]);
    let at = offsets([PAGE, 0, 4]);
    let add = Access { atomic: Some(Scope::Device), ..access(4, 1) };
    let mut original = [Lanes([9; LANES])];
    let five = [Lanes([5; LANES])];
    memory
        .read_modify_write(
            Site(4),
            AtomicOp::IAdd,
            pointers(by_address, view, &at),
            0b101,
            &add,
            &five,
            None,
            &mut original,
        )
        .unwrap();
    assert_eq!([original[0].0[0], original[0].0[2]], [0, 13]);
    assert_eq!([word(sparse, PAGE), word(sparse, 4)], [0, 18]);
}

fn pointers<'a>(by_address: bool, view: &'a MemoryView<'a>, at: &'a [Lanes; 2]) -> Pointers<'a> {
    let [low, high] = at;
    match by_address {
        true => Pointers::Physical { low, high, immediate: 0 },
        false => Pointers::View { view, offset: low, immediate: 0 },
    }
}

fn identity() -> SubgroupIdentity {
    SubgroupIdentity {
        workgroup: 0,
        workgroup_id: [0; 3],
        subgroup: 0,
        lanes: 32,
        placement: Placement::in_order(32),
    }
}

/// By a descriptor, then by address: the memory, its range, and what lanes' offsets begin at.
fn each(mut run: impl FnMut(bool, &Allocation, MemoryRange, u64)) {
    for by_address in [false, true] {
        let sparse = half();
        let range = MemoryRange::new(&sparse, 0, 2 * PAGE, Reference(1));
        run(by_address, &sparse, range, if by_address { sparse.address() } else { 0 });
    }
}

#[test]
fn flat_memory_writes_what_is_there() {
    each(|by_address, sparse, range, base| {
        let (view, ranges) = (range.view(), [range.clone()]);
        let mut memory = PlainMemory::new(&ranges).partly_bound(true);
        memory.enter_subgroup(&identity());
        writes(&mut memory, sparse, (by_address, &view), base);
    });
}

/// Modelled memory in a dispatch that may access a part without memory.
fn modelled(range: &MemoryRange) -> CheckedMemory {
    let mut memory = CheckedMemory::new(CheckOptions::default());
    memory.begin_dispatch(DispatchInfo {
        groups: [1; 3],
        workgroup_size: 32,
        placement: Placement::in_order(32),
        addresses: Arc::new(vec![range.clone()]),
        partly_bound: true,
        ..DispatchInfo::default()
    });
    memory.workgroup_begin(0, 0, false);
    memory.enter_subgroup(&identity());
    memory
}

/// All lanes at one place.
fn all_at(at: u64) -> [Lanes; 2] {
    [0, 32].map(|shift| Lanes([(at >> shift) as u32; LANES]))
}

/// Adds one; returns what lane 0 found.
fn increment(memory: &mut impl MemorySystem, to: Pointers<'_>, mask: u32) -> Result<u32, Trap> {
    let add = Access { atomic: Some(Scope::Device), ..access(4, 1) };
    let (value, mut out) = ([Lanes([1; LANES])], [Lanes([9; LANES])]);
    memory.read_modify_write(Site(7), AtomicOp::IAdd, to, mask, &add, &value, None, &mut out)?;
    Ok(out[0].0[0])
}

#[test]
fn modelled_memory_writes_what_is_there() {
    each(|by_address, sparse, range, base| {
        let view = range.view();
        let mut memory = modelled(&range);
        writes(&mut memory, sparse, (by_address, &view), base);
        // No two lanes write where there is memory, and elsewhere nobody does.
        let at = all_at(base + PAGE);
        let value = [Lanes([1; LANES])];
        memory.store(Site(5), pointers(by_address, &view, &at), 0b1111, &access(4, 1), &value).unwrap();
        memory.workgroup_end(0);
        let found = memory.end_dispatch();
        assert!(found.is_empty(), "{found:?}");
    });
}

#[test]
fn what_is_out_of_bounds_is_found_beside_what_is_not_bound() {
    let sparse = half();
    // The first of these ends where memory does, the second behind bytes without memory.
    for size in [PAGE, 2 * PAGE] {
        let range = MemoryRange::new(&sparse, 0, size, Reference(1));
        let view = range.view();
        let found = |run: &dyn Fn(&mut CheckedMemory)| {
            let mut memory = modelled(&range);
            run(&mut memory);
            memory.workgroup_end(0);
            memory.end_dispatch().iter().map(|finding| finding.id).collect::<Vec<_>>()
        };
        for at in [size, size + PAGE, 1 << 31].map(all_at) {
            let to = || pointers(false, &view, &at);
            let stored = found(&|memory| {
                memory.store(Site(1), to(), 1, &access(4, 4), &[Lanes([3; LANES]); 4]).unwrap();
            });
            assert_eq!(stored[0], FindingId::OutOfBounds);
            let modified = found(&|memory| assert_eq!(increment(memory, to(), 1), Ok(0)));
            assert_eq!(modified, [FindingId::OutOfBounds]);
        }
    }
}

#[test]
fn wild_addresses_trap_beside_what_is_not_bound() {
    let sparse = half();
    let range = MemoryRange::new(&sparse, 0, 2 * PAGE, Reference(1));
    let (view, base) = (range.view(), sparse.address());
    for wild in [base + 2 * PAGE, base + 2 * PAGE - 2, base + (1 << 30), base - 4, 8] {
        let at = all_at(wild);
        let to = || pointers(true, &view, &at);
        let trap = Err(Trap::InvalidAddress { site: Site(1), address: wild, size: 4 });
        let stored = modelled(&range).store(Site(1), to(), 1, &access(4, 1), &[Lanes([3; LANES])]);
        assert_eq!(stored, trap, "{wild:#x}");
        let modified = increment(&mut modelled(&range), to(), 1);
        assert_eq!(modified, Err(Trap::InvalidAddress { site: Site(7), address: wild, size: 4 }));
    }
}

#[test]
fn modifications_where_nothing_is_bound_are_not_observed() {
    each(|by_address, _, range, base| {
        let (view, mut memory) = (range.view(), modelled(&range));
        let read = |memory: &mut CheckedMemory, at| {
            memory.observe(true);
            increment(memory, pointers(by_address, &view, &all_at(base + at)), 0b11).unwrap();
            memory.observed().read.is_some()
        };
        assert_eq!([read(&mut memory, PAGE), read(&mut memory, 0)], [false, true]);
    });
}
