//! The execution around a race, and which instructions communicate.

use super::*;
use crate::around::{Arrow, Does, Leads, Reach};
use std::collections::BTreeSet;

fn around(findings: &[Finding]) -> &crate::around::Around {
    only(findings);
    findings[0].around.as_deref().expect("a race was judged")
}

fn bare(semantics: Semantics) -> Semantics {
    Semantics { make_available: false, make_visible: false, ..semantics }
}

#[test]
fn what_was_made_available_but_not_visible_is_told_with_its_domain() {
    let release = semantics(false, true, U, true);
    let (_, findings) = message(SHARED, release, bare(semantics(true, false, U, true)), Scope::Device);
    let around = around(&findings);
    let sites: Vec<u32> = around.steps.iter().map(|step| step.site.0).collect();
    assert_eq!(
        sites,
        [1, 2, 3, 3, 4],
        "data, flag, its reads (the old value, the new one), data: {around:#?}"
    );
    let numbers: Vec<Option<u8>> = around.steps.iter().map(|step| step.access).collect();
    assert_eq!(numbers, [Some(1), None, None, None, Some(2)]);
    let workgroups: Vec<u32> = around.steps.iter().map(|step| step.by.workgroup[0]).collect();
    assert_eq!(workgroups, [0, 0, 1, 1, 1]);
    // The release made the write available to the whole device; nothing made that visible to the reader.
    let needed = Scope::QueueFamily;
    assert_eq!(around.available, Some(Reach { domain: Scope::Device, by: Some(1), needed }));
    assert_eq!(around.visible, Some(Reach { domain: Scope::Invocation, by: None, needed }));
    let arrow = |from, to, leads| Arrow { from, to, leads };
    for wanted in [
        arrow(0, 1, Leads::ProgramOrder),
        arrow(1, 3, Leads::SynchronizesWith),
        arrow(1, 3, Leads::ReadsFrom),
        arrow(3, 4, Leads::ProgramOrder),
    ] {
        assert!(around.arrows.contains(&wanted), "{wanted:?} of {around:#?}");
    }
    assert!(!around.arrows.contains(&arrow(1, 2, Leads::SynchronizesWith)), "it read the old value");
    assert!(around.arrows.is_sorted());
}

#[test]
fn what_was_not_made_available_stays_with_its_invocation() {
    let release = bare(semantics(false, true, U, true));
    let (_, findings) = message(SHARED, release, semantics(true, false, U, true), Scope::Device);
    let around = around(&findings);
    assert_eq!(around.available.map(|reach| reach.domain), Some(Scope::Invocation));
    assert_eq!(around.visible.map(|reach| reach.domain), Some(Scope::Device));
}

#[test]
fn the_members_of_a_barrier_are_of_one_instance() {
    let (_, findings) = through_barrier(SHARED, |m| {
        m.barrier(2, 0, Scope::Workgroup, semantics(true, true, W, false));
    });
    let around = around(&findings);
    let barriers: Vec<_> = around
        .steps
        .iter()
        .filter_map(|step| match step.does {
            Does::ControlBarrier { instance, execution } => Some((instance, step.by.local_index, execution)),
            _ => None,
        })
        .collect();
    assert_eq!(barriers.len(), 2, "one for each of the pair: {around:#?}");
    assert_eq!(barriers[0].0, barriers[1].0);
    let by: BTreeSet<u32> = barriers.iter().map(|(_, by, _)| *by).collect();
    assert_eq!(by, BTreeSet::from([0, 40]));
    assert!(barriers.iter().all(|(.., joins)| *joins == Scope::Workgroup), "{barriers:?}");
    // They synchronize, both ways; nothing is available to anybody else.
    assert_eq!(around.arrows.iter().filter(|arrow| arrow.leads == Leads::SynchronizesWith).count(), 2);
    assert_eq!(
        around.available.map(|reach| (reach.domain, reach.needed)),
        Some((Scope::Invocation, Scope::Workgroup))
    );
    assert_eq!(around.steps.last().and_then(|step| step.access), Some(2));
}

#[test]
fn instructions_that_read_from_others_are_noted_if_that_is_asked_for() {
    for communication in [false, true] {
        let mut m = Machine::new(CheckOptions {
            communication,
            values: ValuePolicy::Latest,
            ..CheckOptions::default()
        });
        let relaxed = Semantics::RELAXED;
        // Nobody wrote it; its own write; that of another one.
        m.atomic_load(1, 64, U, 4, Scope::Device, relaxed);
        m.atomic_store(2, 0, U, 4, Scope::Device, relaxed, 1);
        m.atomic_load(3, 0, U, 4, Scope::Device, relaxed);
        m.atomic_load(4, 64, U, 4, Scope::Device, relaxed);
        assert_eq!(m.memory.end_dispatch(), Vec::new());
        let pairs = m.memory.take_communications();
        let wanted = if communication { vec![(Site(2), Site(4))] } else { Vec::new() };
        assert_eq!(pairs.into_iter().collect::<Vec<_>>(), wanted);
        assert!(m.memory.take_communications().is_empty());
    }
}

#[test]
fn what_is_read_behind_a_full_barrier_is_noted_as_well() {
    let mut m = Machine::new(CheckOptions { communication: true, ..CheckOptions::default() });
    for lane in 0..64 {
        m.store(1, lane, W, 4 * lane, SHARED, lane);
    }
    m.barrier(2, 0, Scope::Workgroup, both(W));
    // Its own element; that of another one of its subgroup; that of another subgroup.
    for (site, from) in [(3, 0), (4, 1), (5, 32)] {
        for lane in 0..64 {
            assert_eq!(m.load(site, lane, W, 4 * (lane ^ from), SHARED), lane ^ from);
        }
    }
    assert_eq!(m.memory.end_dispatch(), Vec::new());
    let pairs: Vec<_> = m.memory.take_communications().into_iter().collect();
    assert_eq!(pairs, [(Site(1), Site(4)), (Site(1), Site(5))]);
}
