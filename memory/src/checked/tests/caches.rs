//! What the caches of a machine show, and that the model has the last word.

use super::*;
use crate::history::ValuePolicy;
use crate::machine::Machine as Shape;

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
