//! What an observer is told, and that whoever waits moves on.

use super::*;
use crate::device::{Allocation, MemoryRange};
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
fn a_range_that_ends_inside_of_a_word_says_nothing_about_the_rest_of_it() {
    let memory = Allocation::private(0x1000, 8).unwrap();
    let whole = MemoryRange::new(&memory, 0, 8, Reference(0));
    let five = MemoryRange::new(&memory, 0, 5, Reference(1));
    let mut m = Machine::stale();
    m.enter(0);
    let word = Access::plain(U, 4, 1);
    let byte = Access::plain(U, 1, 1);
    let at = Lanes([4; LANES]);
    let (whole, five) = (whole.view(), five.view());
    let whole = Pointers::View { view: &whole, offset: &at, immediate: 0 };
    let five = Pointers::View { view: &five, offset: &at, immediate: 0 };
    let load = |m: &mut Machine, site: u32, from: &Pointers<'_>, access: &Access| {
        let mut out = [Lanes::ZERO];
        m.memory.load(Site(site), *from, 1, access, &mut out).unwrap();
        out[0].0[0]
    };
    m.memory.store(Site(1), whole, 1, &word, &[Lanes([0x0102_0304; LANES])]).unwrap();
    load(&mut m, 2, &five, &byte);
    assert_eq!(load(&mut m, 3, &whole, &word), 0x0102_0304);
    m.memory.store(Site(4), five, 1, &byte, &[Lanes([9; LANES])]).unwrap();
    assert_eq!(load(&mut m, 5, &whole, &word) >> 8, 0x01_0203);
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
