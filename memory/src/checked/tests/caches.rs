//! What the caches of a machine show, and that the model has the last word.

use super::*;
use crate::access::ShaderRead;
use crate::agent::Placement;
use crate::history::ValuePolicy;
use crate::host::{HostBytes, HostLines};
use crate::machine::{CacheKind, Machine as Shape};

fn on(machine: &str, seed: u64) -> Machine {
    let machine = Shape::named(machine).or_else(|| Shape::parse(machine).ok()).expect("a machine");
    Machine::new(CheckOptions { values: ValuePolicy::Caches, machine, seed, ..CheckOptions::default() })
}

const STILL: &str = "units 2\nfirst write-back line 16 lines 8";

/// Data at `data`, the flag at 128. The reader has looked at the data before, at byte `near`.
fn message(m: &mut Machine, (near, data): (u32, u32), available: bool, visible: bool) -> u32 {
    m.load(5, 64, U, near, SHARED);
    m.store(1, 0, U, data, SHARED, 17);
    m.atomic_store(2, 0, U, 128, Scope::Device, semantics(false, true, U, available), 1);
    assert_eq!(m.atomic_load(3, 64, U, 128, Scope::Device, semantics(true, false, U, visible)), 1);
    m.load(4, 64, U, data, SHARED)
}

#[test]
fn what_is_missing_shows_where_a_cache_depends_on_it() {
    // Whether the value is old without the availability operation, and without the visibility operation.
    for (machine, old) in [
        (STILL, (true, true)),
        ("units 2\nfirst write-through line 16 lines 8", (false, true)),
        ("units 2\nfirst coherent line 16 lines 8", (false, false)),
        ("units 1\nfirst write-back line 16 lines 8", (false, false)),
        (
            "units 2\nfirst write-through line 16 lines 8\nsecond write-back line 64 lines 8 units 1",
            (true, true),
        ),
    ] {
        let value = |old: bool| if old { 0 } else { 17 };
        assert_eq!(message(&mut on(machine, 1), (0, 0), false, true), value(old.0), "{machine}");
        assert_eq!(message(&mut on(machine, 1), (0, 0), true, false), value(old.1), "{machine}");
        let mut right = on(machine, 1);
        assert_eq!(message(&mut right, (0, 0), true, true), 17, "{machine}");
        let word = inspect::Word { workgroup: None, address: 0x1000, newest: 17 };
        assert_eq!(right.memory.cached(&word, 1).expect("caches").overruled, 0, "{machine}");
    }
}

#[test]
fn a_neighbour_brings_an_old_value_along() {
    // The reader has loaded another word: of the same line, then of another one.
    assert_eq!(message(&mut on(STILL, 1), (4, 0), true, false), 0);
    assert_eq!(message(&mut on(STILL, 1), (16, 0), true, false), 17);
    // A write back takes the neighbour's bytes along, which nobody made available.
    let mut m = on(STILL, 1);
    m.store(1, 0, U, 0, SHARED, 17);
    m.store(2, 1, U, 4, coherent(Scope::Device), 18);
    assert_eq!(m.load(3, 64, U, 0, SHARED), 17);
    let mut m = on(STILL, 1);
    m.store(1, 0, U, 0, SHARED, 17);
    m.store(2, 1, U, 16, coherent(Scope::Device), 18);
    assert_eq!(m.load(3, 64, U, 0, SHARED), 0);
    // What two units store to one line does not get lost.
    let mut m = on(STILL, 1);
    m.store(1, 0, U, 0, coherent(Scope::Device), 17);
    m.store(2, 64, U, 4, coherent(Scope::Device), 18);
    assert_eq!(
        (m.load(3, 0, U, 4, coherent(Scope::Device)), m.load(4, 64, U, 0, coherent(Scope::Device))),
        (18, 17)
    );
    // Parts of a word, too.
    let half = How { size: 2, ..SHARED };
    let mut m = on(STILL, 1);
    m.store(1, 0, U, 0, half, 17);
    m.store(2, 64, U, 2, half, 18);
    assert_eq!((m.load(3, 0, U, 0, half), m.load(4, 64, U, 2, half)), (17, 18));
}

const I: StorageClasses = StorageClasses::IMAGE;

const APART: &str =
    "units 2\nfirst write-back line 16 lines 8\ntexture line 16 lines 8\nconstant line 16 lines 8";

/// Invocation 0 has read the word at 0 as `how` of `class` says, and writes it as `by` of `of` says. Then it
/// makes that available at device scope and visible to this class, if `visible` says so, and reads it again.
fn changed(machine: &str, read: (StorageClasses, How), write: (StorageClasses, How), visible: bool) -> u32 {
    let mut m = on(machine, 1);
    assert_eq!(m.load(1, 0, read.0, 0, read.1), 0);
    m.store(2, 0, write.0, 0, write.1, 17);
    if visible {
        m.fence(3, 0, Scope::Device, both(read.0 | write.0));
    }
    m.load(4, 0, read.0, 0, read.1)
}

#[test]
fn textures_and_constants_are_not_coherent_with_stores_through_others() {
    let through = |reference| How { reference, ..SHARED };
    let constant = How { read_as: ShaderRead::Uniform, ..through(1) };
    for (machine, old) in [(APART, 0), (STILL, 17), ("tiled", 0), ("integrated", 0)] {
        // A store to a buffer, or to an image through another descriptor, is in the first level; what was
        // read before is in the cache of images, or that of constants.
        for (read, write) in
            [((I, through(1)), (U, SHARED)), ((I, through(1)), (I, SHARED)), ((U, constant), (U, SHARED))]
        {
            assert_eq!(changed(machine, read, write, false), old, "{machine}");
            assert_eq!(changed(machine, read, write, true), 17, "{machine}");
        }
        // Through one descriptor, an invocation sees what it wrote.
        assert_eq!(changed(machine, (I, SHARED), (I, SHARED), false), 17, "{machine}");
    }
    // Images are read through the first level where no other cache is for them.
    assert_eq!(changed("desktop", (I, through(1)), (I, SHARED), false), 17);
    assert_eq!(changed("desktop", (U, constant), (U, SHARED), false), 0);
    // A visibility operation of another storage class leaves the line alone, and so does a narrow one.
    for (scope, class) in [(Scope::Device, U), (Scope::Workgroup, I)] {
        let mut m = on(APART, 1);
        m.load(1, 0, I, 0, through(1));
        m.store(2, 0, U, 0, SHARED, 17);
        m.fence(3, 0, scope, both(class));
        assert_eq!(m.load(4, 0, I, 0, through(1)), 0);
    }
}

#[test]
fn a_unit_sees_what_goes_through_one_descriptor_and_others_what_is_visible() {
    // What another invocation of the unit wrote through the descriptor is seen with a workgroup barrier; what
    // it wrote through another one is not.
    for (reference, seen) in [(0, 17), (1, 0)] {
        let mut m = on(APART, 1);
        m.load(1, 1, I, 0, SHARED);
        m.store(2, 0, I, 0, How { reference, ..SHARED }, 17);
        m.barrier(3, 0, Scope::Workgroup, both(I));
        assert_eq!(m.load(4, 1, I, 0, SHARED), seen);
        let word = inspect::Word { workgroup: None, address: 0x1000, newest: 17 };
        let cached = m.memory.cached(&word, 0).expect("caches");
        let held: Vec<_> = cached.copies.iter().map(|copy| (copy.kind, copy.through, copy.value)).collect();
        let texture = (CacheKind::Texture, Some(Reference(0)), seen);
        assert_eq!(held, [(CacheKind::First, None, 17), texture]);
        assert_eq!((cached.coherent, cached.overruled), (if seen == 17 { 17 } else { 0 }, 0));
    }
    // Another unit, with what is missing, and with all.
    for (available, visible, seen) in [(true, true, 17), (false, true, 0), (true, false, 0)] {
        let mut m = on(APART, 1);
        m.load(1, 64, I, 0, SHARED);
        m.store(2, 0, I, 0, SHARED, 17);
        m.atomic_store(3, 0, U, 128, Scope::Device, semantics(false, true, U | I, available), 1);
        m.atomic_load(4, 64, U, 128, Scope::Device, semantics(true, false, U | I, visible));
        assert_eq!(m.load(5, 64, I, 0, SHARED), seen, "{available} {visible}");
    }
}

#[test]
fn what_the_dispatch_does_not_write_is_held_as_well() {
    let mut m = on("tiled", 1);
    m.memory.begin_dispatch(DispatchInfo {
        groups: [2, 1, 1],
        workgroup_size: 64,
        placement: Placement::in_order(32),
        written: Some(Vec::new()),
        ..DispatchInfo::default()
    });
    m.words[1] = 5;
    assert_eq!(m.load(1, 64, U, 4, How { read_as: ShaderRead::Uniform, ..SHARED }), 5);
    let word = inspect::Word { workgroup: None, address: 0x1004, newest: 5 };
    let cached = m.memory.cached(&word, 1).expect("caches");
    let held: Vec<_> = cached.copies.iter().map(|copy| (copy.kind, copy.units, copy.value)).collect();
    assert_eq!(held, [(CacheKind::Constant, (0, 2), 5)]);
}

#[test]
fn the_hosts_cache_holds_what_it_held_when_the_dispatch_began() {
    let host = HostLines {
        held: vec![(0x1000, 0x1008)],
        differing: vec![HostBytes { address: 0x1005, bytes: vec![7, 8], dirty: true }],
    };
    let mut m = on("tiled", 1);
    m.memory.begin_dispatch(DispatchInfo {
        groups: [2, 1, 1],
        workgroup_size: 64,
        placement: Placement::in_order(32),
        host: Arc::new(host),
        ..DispatchInfo::default()
    });
    m.words[0] = 5;
    m.words[1] = 0x0101_0101;
    m.store(1, 0, U, 0, coherent(Scope::Device), 17);
    let held = |m: &Machine, address, newest| {
        let cached = m.memory.cached(&inspect::Word { workgroup: None, address, newest }, 1).expect("caches");
        let copies = cached.copies.iter().filter(|copy| copy.kind == CacheKind::Host);
        copies.map(|copy| (copy.value, copy.held, copy.dirty)).collect::<Vec<_>>()
    };
    assert_eq!(held(&m, 0x1000, 17), [(5, 15, 0)], "what was there before the store");
    assert_eq!(held(&m, 0x1004, 0x0101_0101), [(0x0108_0701, 15, 0b110)], "what the host has not flushed");
    assert_eq!(held(&m, 0x1008, 0), []);
}

#[test]
fn the_model_has_the_last_word() {
    // Workgroup memory is no part of the caches.
    let mut m = on(STILL, 1);
    m.store(1, 0, W, 0, SHARED, 17);
    assert_eq!(m.load(2, 1, W, 0, SHARED), 17);
    // An invocation that has seen a new value does not see an older one, whatever the caches hold: here
    // another unit's store was evicted by the load of a third line.
    let mut m = on("units 2\nfirst write-back line 16 lines 1", 1);
    m.store(1, 0, U, 0, SHARED, 17);
    assert_eq!(m.load(2, 64, U, 0, SHARED), 0);
    m.load(3, 0, U, 32, SHARED);
    assert_eq!(m.load(2, 64, U, 0, SHARED), 0, "it is in the reader's cache");
    m.load(4, 64, U, 32, SHARED);
    assert_eq!(m.load(2, 64, U, 0, SHARED), 17);
}

#[test]
fn equal_seeds_evict_alike() {
    let busy = "units 2\nfirst write-back line 16 lines 8\ntraffic 2";
    let run = |seed: u64| -> Vec<u32> {
        let mut m = on(busy, seed);
        let mut seen = Vec::new();
        for k in 1..40 {
            m.store(1, 0, U, 0, SHARED, k);
            seen.push(m.load(2, 64, U, 0, SHARED));
        }
        seen
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
    assert!(run(3).is_sorted());
}
