//! What is remembered of words whose parts several accesses share, and of accesses that later ones stand for.
//! Random programs found these.

use super::*;
use crate::random::Random;

#[test]
fn parts_of_a_word_do_not_change_what_else_was_in_it() {
    let byte = How { size: 1, ..SHARED };
    for store in [true, false] {
        let mut m = Machine::stale();
        let relaxed = Semantics::RELAXED;
        m.atomic_store(1, 0, U, 4, Scope::Device, relaxed, 0x0403_0201);
        // Both race with the atomic, and make it a history.
        if store {
            m.store(2, 64, U, 4, byte, 9);
        } else {
            m.load(2, 64, U, 4, byte);
        }
        let expected = if store { 0x0403_0209 } else { 0x0403_0201 };
        let got = m.atomic_load(3, 0, U, 4, Scope::Device, relaxed);
        assert!(got == expected || got == 0x0403_0201, "{got:#x}");
    }
}

#[test]
fn every_component_of_a_vector_is_an_access_of_its_own_place() {
    // A vector whose components are made available one by one, and an atomic of another invocation in the
    // place of the second one.
    for component in [0, 4] {
        let mut m = Machine::stale();
        let pair = Access {
            non_private: true,
            available: Some(Scope::Device),
            ..Access::plain(StorageClasses::UNIFORM, 4, 2)
        };
        m.with(0, U, 0, 0, |memory, to, mask| {
            memory.store(Site(1), to, mask, &pair, &[Lanes([1; LANES]), Lanes([2; LANES])]).unwrap();
        });
        m.atomic_store(2, 64, U, component, Scope::Device, Semantics::RELAXED, 7);
        assert_eq!(only(&m.end()), FindingId::RaceUnordered, "the component at {component}");
    }
}

#[test]
fn a_private_access_is_not_hidden_by_a_later_one_of_its_invocation() {
    for read in [true, false] {
        for wide in [true, false] {
            let mut m = Machine::stale();
            let size = if wide { 4 } else { 2 };
            if read {
                m.load(1, 0, W, 8, How { size, ..PRIVATE });
            } else {
                m.store(1, 0, W, 8, How { size, ..PRIVATE }, 1);
            }
            m.store(2, 0, W, 8, How { size, ..SHARED }, 2);
            m.barrier(3, 0, Scope::Workgroup, both(W));
            let later = How { size, ..SHARED };
            if read {
                m.store(4, 40, W, 8, later, 3);
            } else {
                assert_eq!(m.load(4, 40, W, 8, later), 2);
            }
            let findings: Vec<FindingId> = m.ids();
            assert!(findings.contains(&FindingId::RacePrivate), "read {read}, wide {wide}: {findings:?}");
        }
    }
}

#[test]
fn an_availability_operation_does_not_cover_a_later_write() {
    for order in [[Some(Scope::Device), None], [None, Some(Scope::Device)]] {
        let mut m = Machine::stale();
        for (k, at) in order.into_iter().enumerate() {
            m.store(1 + k as u32, 0, U, 0, How { coherent: at, ..SHARED }, 1);
        }
        m.atomic_store(3, 0, U, 4, Scope::Device, semantics(false, true, U, false), 1);
        m.memory.core.values = ValuePolicy::Latest;
        assert_eq!(m.atomic_load(4, 64, U, 4, Scope::Device, semantics(true, false, U, true)), 1);
        m.load(5, 64, U, 0, coherent(Scope::Device));
        let ids = m.ids();
        if order[1].is_some() {
            assert_eq!(ids, []);
        } else {
            assert_eq!(ids, [FindingId::RaceNotAvailable]);
        }
    }
}

#[test]
fn an_update_synchronizes_with_the_atomic_that_it_reads_in_part() {
    let mut m = Machine::new(CheckOptions { values: ValuePolicy::Latest, ..CheckOptions::default() });
    let whole = semantics(true, true, U, false);
    m.add(1, 0, U, 8, Scope::Device, whole, 1);
    m.store(2, 0, U, 9, How { size: 1, ..coherent(Scope::Device) }, 1);
    m.add(3, 64, U, 8, Scope::Device, whole, 1);
    m.store(4, 64, U, 9, How { size: 1, ..coherent(Scope::Device) }, 1);
    let pairs: Vec<_> = m.end().iter().map(|f| [f.accesses[0].site.0, f.accesses[1].site.0]).collect();
    assert!(pairs.contains(&[2, 3]) && !pairs.contains(&[1, 4]), "{pairs:?}");
}

#[test]
fn readers_of_different_bytes_are_all_remembered() {
    for overwritten in 0..4 {
        let mut m = Machine::stale();
        let byte = How { size: 1, ..SHARED };
        for k in 0..4 {
            m.load(1 + k, k, U, 8 + k, byte);
        }
        m.store(9, 64, U, 8 + overwritten, byte, 1);
        let findings = m.end();
        assert_eq!(only(&findings), FindingId::RaceUnordered);
        assert_eq!(findings[0].accesses[0].site, Site(1 + overwritten));
    }
}

#[test]
fn who_comes_after_a_read_sees_no_less() {
    // The write is private, so that it races; but its invocation reads it, and others come after that read,
    // whatever it reads later.
    let mut m = Machine::stale();
    m.store(1, 0, W, 8, PRIVATE, 1);
    m.load(2, 0, W, 8, SHARED);
    assert_eq!(m.load(3, 40, W, 8, SHARED), 0);
    m.barrier(4, 0, Scope::Workgroup, both(W));
    m.store(1, 0, W, 8, PRIVATE, 2);
    m.load(2, 0, W, 8, SHARED);
    assert_eq!(m.load(5, 40, W, 8, SHARED), 1);

    // Of three invocations that read atomically, each reads plainly what it saw, or something newer.
    let mut m = Machine::new(CheckOptions { values: ValuePolicy::Latest, ..CheckOptions::default() });
    m.atomic_store(1, 64, U, 8, Scope::Device, Semantics::RELAXED, 7);
    for lane in 0..3 {
        assert_eq!(m.atomic_load(2, lane, U, 8, Scope::Device, Semantics::RELAXED), 7);
    }
    m.memory.core.values = ValuePolicy::Stale;
    for lane in 0..3 {
        assert_eq!(m.load(3, lane, U, 8, SHARED), 7);
    }
}

#[test]
fn a_private_read_races_although_a_visible_one_before_it_saw_the_write() {
    for size in [4, 2] {
        for twin in [PRIVATE, SHARED] {
            let mut m = Machine::stale();
            m.store(1, 0, U, 8, How { size, ..SHARED }, 7);
            m.barrier(2, 0, Scope::Workgroup, both(U | W));
            assert_eq!(m.load(3, 40, U, 8, How { size, ..coherent(Scope::Subgroup) }), 7);
            m.load(4, 40, U, 8, How { size, ..twin });
            let expected: &[FindingId] = if twin.non_private { &[] } else { &[FindingId::RacePrivate] };
            assert_eq!(m.ids(), expected, "{size}");
        }
    }
}

#[test]
fn readers_that_are_not_remembered_take_no_old_values_from_others() {
    // The first reader reads again, and there are no more readers than a word remembers.
    let mut m = Machine::stale();
    m.store(1, 0, U, 8, SHARED, 7);
    m.barrier(2, 0, Scope::Workgroup, both(U | W));
    for lane in [0, 40, 0] {
        assert_eq!(m.load(3, lane, U, 8, SHARED), 7);
    }
    assert_eq!(m.load(3, 64, U, 8, SHARED), 0);
    // One has seen the newest value, and then more read the old one than a history remembers.
    let mut m = Machine::stale();
    m.store(1, 0, U, 8, SHARED, 7);
    assert_eq!(m.load(2, 0, U, 8, SHARED), 7);
    for site in [3, 4] {
        for lane in 64..128 {
            assert_eq!(m.load(site, lane, U, 8, SHARED), 0, "invocation {lane} at {site}");
        }
    }
}

/// What comes before the write of a word.
#[derive(Clone, Copy)]
enum Before {
    Read(u32),
    /// Of this workgroup.
    Barrier(u32),
    /// Of this subgroup, counted across workgroups.
    Near(u32),
}

#[test]
fn whoever_read_before_a_write_that_is_not_ordered_after_it_is_not_forgotten() {
    let (mut racing, mut ordered) = (0, 0);
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let lane = |random: &mut Random| 32 * random.below(4) + random.below(3);
        let steps: Vec<Before> = (0..2 + random.below(12))
            .map(|_| match random.below(8) {
                0..=2 => Before::Barrier(random.below(2)),
                3 | 4 => Before::Near(random.below(4)),
                _ => Before::Read(lane(&mut random)),
            })
            .collect();
        let (writer, sites) = (lane(&mut random), 1 + random.below(2));
        let races = steps.iter().enumerate().any(|(at, step)| {
            let Before::Read(reader) = *step else { return false };
            let orders = |later: &Before| match *later {
                Before::Barrier(group) => [reader / 64, writer / 64] == [group; 2],
                Before::Near(subgroup) => [reader / 32, writer / 32] == [subgroup; 2],
                Before::Read(_) => false,
            };
            reader != writer && !steps[at..].iter().any(orders)
        });
        let mut m = Machine::stale();
        for (at, step) in steps.iter().enumerate() {
            match *step {
                Before::Read(lane) => {
                    m.load(1 + at as u32 % sites, lane, U, 0, SHARED);
                }
                Before::Barrier(group) => m.barrier(3, group, Scope::Workgroup, both(U)),
                Before::Near(subgroup) => {
                    m.enter(32 * subgroup);
                    m.memory.barrier_arrive(Site(4), Mask::MAX, Scope::Subgroup, Scope::Workgroup, &both(U));
                }
            }
        }
        m.store(5, writer, U, 0, SHARED, 1);
        assert_eq!(!m.ids().is_empty(), races, "seed {seed}");
        *if races { &mut racing } else { &mut ordered } += 1;
    }
    assert!(racing > 1000 && ordered > 400, "{racing} {ordered}");
}
