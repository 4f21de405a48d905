//! What an observer is told, and that whoever waits moves on.

use super::*;
use crate::finding::AccessKind;

#[test]
fn however_many_wait_for_a_flag_each_moves_on() {
    let mut m = Machine::new(CheckOptions { stale_budget: 5, ..CheckOptions::default() });
    let relaxed = Semantics::RELAXED;
    m.atomic_store(1, 0, U, 4, Scope::Device, relaxed, 1);
    for turn in 0..8 {
        for agent in 1..128 {
            let seen = m.atomic_load(2, agent, U, 4, Scope::Device, relaxed);
            assert!(turn < 6 || seen == 1, "invocation {agent} reads the old value in turn {turn}");
            assert!(turn >= 5 || seen == 0, "invocation {agent} has not spent its budget in turn {turn}");
        }
    }
}

#[test]
fn a_store_of_what_is_there_changes_nothing() {
    let mut m = Machine::stale();
    m.store(1, 0, U, 8, SHARED, 5);
    m.store(1, 0, W, 8, SHARED, 5);
    m.memory.observe(true);
    for class in [U, W] {
        m.store(2, 0, class, 8, SHARED, 5);
        assert!(!m.memory.observed().changed);
        m.store(2, 0, class, 8, SHARED, 6);
        assert!(m.memory.observed().changed);
        assert!(!m.memory.observed().changed, "told once");
        m.store(2, 0, class, 8, How { size: 1, ..SHARED }, 6);
        assert!(!m.memory.observed().changed);
        m.store(2, 0, class, 9, How { size: 1, ..SHARED }, 1);
        assert!(m.memory.observed().changed);
    }
}

#[test]
fn an_old_value_is_not_the_last_word() {
    let mut m = Machine::new(CheckOptions { stale_budget: 5, ..CheckOptions::default() });
    let relaxed = Semantics::RELAXED;
    m.atomic_store(1, 0, U, 4, Scope::Device, relaxed, 1);
    m.memory.observe(true);
    let mut told = Vec::new();
    for _ in 0..8 {
        let seen = m.atomic_load(2, 64, U, 4, Scope::Device, relaxed);
        let observed = m.memory.observed();
        assert_eq!(observed.unsettled, seen == 0);
        told.push(seen);
        let read = observed.read.unwrap();
        assert_eq!((read.site, read.kind, read.atomic), (Site(2), AccessKind::Read, Some(Scope::Device)));
        assert_eq!((read.place.offset, read.place.size), (4, 4));
    }
    assert_eq!(told, [0, 0, 0, 0, 0, 0, 1, 1]);
    // An old entry with the same value is as good as the newest, unless there is another value in between.
    for (first, second, settled) in [(1, 1, true), (2, 1, false)] {
        m.atomic_store(1, 0, U, 4, Scope::Device, relaxed, first);
        m.atomic_store(1, 0, U, 4, Scope::Device, relaxed, second);
        m.memory.observed();
        assert_eq!(m.atomic_load(2, 64, U, 4, Scope::Device, relaxed), 1);
        assert_eq!(m.memory.observed().unsettled, !settled);
    }
}
