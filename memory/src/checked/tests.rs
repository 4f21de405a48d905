//! Planted bugs, each beside its fixed twin, driven lane by lane.

use super::*;
use crate::access::Reference;
use crate::agent::Placement;
use crate::finding::{Edit, Fact, FindingId, Missing};
use crate::outline::BarrierPlace;
use crate::system::{LANES, MemoryView};

mod aliased;
mod around;
mod caches;
mod fast_paths;
mod locks;
mod machine;
mod observed;
mod only_counted;
mod random;
mod rehearsal;
mod remembered;
mod superseded;
use machine::*;

/// Data at word 0 and flag at word 1, from invocation 0 of workgroup 0 to invocation 0 of workgroup 1.
fn message(data: How, release: Semantics, acquire: Semantics, scope: Scope) -> (u32, Vec<Finding>) {
    let mut m = Machine::stale();
    m.store(1, 0, U, 0, How { coherent: data.coherent, ..data }, 17);
    m.atomic_store(2, 0, U, 4, scope, release, 1);
    let mut spins = 0;
    while m.atomic_load(3, 64, U, 4, scope, acquire) == 0 && spins < 40 {
        spins += 1;
    }
    let got = m.load(4, 64, U, 0, data);
    (got, m.end())
}

fn only(findings: &[Finding]) -> FindingId {
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings[0].id
}

#[test]
fn message_passing_between_workgroups() {
    let release = semantics(false, true, U, true);
    let acquire = semantics(true, false, U, true);
    let (got, findings) = message(SHARED, release, acquire, Scope::Device);
    assert_eq!((got, findings.len()), (17, 0), "{findings:#?}");
    // Per-instruction operations do as well.
    let bare = |semantics: Semantics| Semantics { make_available: false, make_visible: false, ..semantics };
    let (got, findings) = message(coherent(Scope::Device), bare(release), bare(acquire), Scope::Device);
    assert_eq!((got, findings.len()), (17, 0), "{findings:#?}");

    let (got, findings) = message(SHARED, release, bare(acquire), Scope::Device);
    assert_eq!((got, only(&findings)), (0, FindingId::RaceNotVisible));
    assert_eq!((findings[0].accesses[1].returned, findings[0].accesses[1].newest), (Some(0), Some(17)));
    assert_eq!(findings[0].accesses[1].admissible, [0, 17]);
    assert_eq!(findings[0].accesses[0].by.workgroup, [0, 0, 0]);
    assert_eq!(findings[0].accesses[1].by.workgroup, [1, 0, 0]);
    let (got, findings) = message(SHARED, bare(release), acquire, Scope::Device);
    assert_eq!((got, only(&findings)), (0, FindingId::RaceNotAvailable));
    let (got, findings) = message(PRIVATE, release, acquire, Scope::Device);
    assert_eq!((got, only(&findings)), (0, FindingId::RacePrivate));
    let (_, findings) = message(SHARED, semantics(false, false, U, false), acquire, Scope::Device);
    assert_eq!(only(&findings), FindingId::RaceUnordered);
    // The atomics are not in each other's scope: they race themselves.
    let (_, findings) = message(SHARED, release, acquire, Scope::Workgroup);
    assert!(findings.iter().any(|finding| finding.id == FindingId::RaceMixedScopeAtomics), "{findings:#?}");
}

#[test]
fn a_flag_is_read_stale_until_the_budget_is_spent_and_never_goes_back() {
    let mut m = Machine::new(CheckOptions { stale_budget: 5, ..CheckOptions::default() });
    let relaxed = Semantics::RELAXED;
    m.atomic_store(1, 0, U, 4, Scope::Device, relaxed, 1);
    let seen: Vec<u32> = (0..8).map(|_| m.atomic_load(2, 64, U, 4, Scope::Device, relaxed)).collect();
    assert_eq!(seen, [0, 0, 0, 0, 0, 0, 1, 1]);
    assert_eq!(m.ids(), []);
    let mut m = Machine::new(CheckOptions { values: ValuePolicy::Latest, ..CheckOptions::default() });
    m.atomic_store(1, 0, U, 4, Scope::Device, relaxed, 1);
    assert_eq!(m.atomic_load(2, 64, U, 4, Scope::Device, relaxed), 1);
    for seed in 0..8 {
        let mut m =
            Machine::new(CheckOptions { values: ValuePolicy::Seeded, seed, ..CheckOptions::default() });
        for value in 1..6 {
            m.atomic_store(1, 0, U, 4, Scope::Device, relaxed, value);
        }
        let seen: Vec<u32> = (0..12).map(|_| m.atomic_load(2, 64, U, 4, Scope::Device, relaxed)).collect();
        assert!(seen.is_sorted(), "{seen:?}");
    }
}

#[test]
fn whoever_has_spent_the_budget_sees_what_was_written_until_then() {
    let mut m = Machine::new(CheckOptions { stale_budget: 5, ..CheckOptions::default() });
    let relaxed = Semantics::RELAXED;
    for flag in 0..3 {
        m.atomic_store(1, flag, U, 4 * flag, Scope::Device, relaxed, 1);
    }
    // Once each flag was read its writes are kept apart; the later ones are written after the first.
    for flag in 0..3 {
        assert_eq!(m.atomic_load(3, 96, U, 4 * flag, Scope::Device, relaxed), 0);
    }
    let seen: Vec<u32> = (0..7).map(|_| m.atomic_load(2, 64, U, 8, Scope::Device, relaxed)).collect();
    assert_eq!(seen, [0, 0, 0, 0, 0, 0, 1]);
    // The same instruction does not wait for older ones once more; another one, or another invocation, may.
    assert_eq!(m.atomic_load(2, 64, U, 4, Scope::Device, relaxed), 1);
    assert_eq!(m.atomic_load(4, 64, U, 0, Scope::Device, relaxed), 0);
    assert_eq!(m.atomic_load(2, 65, U, 0, Scope::Device, relaxed), 0);
    assert_eq!(m.atomic_load(2, 64, U, 0, Scope::Device, relaxed), 1);
    m.atomic_store(1, 0, U, 4, Scope::Device, relaxed, 2);
    assert_eq!(m.atomic_load(2, 64, U, 4, Scope::Device, relaxed), 1, "what came later may be missed");
    assert_eq!(m.ids(), []);
}

/// Invocation 0 writes workgroup memory, `between`, invocation 40 reads it.
fn through_barrier(how: How, between: impl FnOnce(&mut Machine)) -> (u32, Vec<Finding>) {
    let mut m = Machine::stale();
    m.store(1, 0, W, 8, how, 5);
    between(&mut m);
    let got = m.load(3, 40, W, 8, how);
    (got, m.end())
}

#[test]
fn workgroup_memory_through_a_barrier() {
    let (got, findings) = through_barrier(SHARED, |m| m.barrier(2, 0, Scope::Workgroup, both(W)));
    assert_eq!((got, findings.len()), (5, 0), "{findings:#?}");
    let (got, findings) = through_barrier(SHARED, |_| {});
    assert_eq!((got, only(&findings)), (0, FindingId::RaceUnordered));
    let (got, findings) = through_barrier(SHARED, |m| m.barrier(2, 0, Scope::Workgroup, both(U)));
    assert_eq!((got, only(&findings)), (0, FindingId::RaceStorageClass));
    let (_, findings) = through_barrier(SHARED, |m| m.barrier(2, 0, Scope::Workgroup, Semantics::RELAXED));
    assert_eq!(only(&findings), FindingId::RaceUnordered);
    let (_, findings) =
        through_barrier(SHARED, |m| m.barrier(2, 0, Scope::Workgroup, semantics(true, true, W, false)));
    assert_eq!(only(&findings), FindingId::RaceNotAvailable);
    let (_, findings) = through_barrier(PRIVATE, |m| m.barrier(2, 0, Scope::Workgroup, both(W)));
    assert_eq!(only(&findings), FindingId::RacePrivate);
    // Fences around a barrier without semantics do.
    let (got, findings) = through_barrier(SHARED, |m| {
        for lane in 0..64 {
            m.fence(4, lane, Scope::Workgroup, semantics(false, true, W, true));
        }
        m.barrier(2, 0, Scope::Workgroup, Semantics::RELAXED);
        for lane in 0..64 {
            m.fence(5, lane, Scope::Workgroup, semantics(true, false, W, true));
        }
    });
    assert_eq!((got, findings.len()), (5, 0), "{findings:#?}");
}

/// However many barriers come between, which is more than a slice has room for.
#[test]
fn what_is_missing_behind_many_barriers() {
    let without = |flag: fn(&mut Semantics)| {
        let mut semantics = both(W);
        flag(&mut semantics);
        let many = |m: &mut Machine| (0..10_000).for_each(|_| m.barrier(2, 0, Scope::Workgroup, semantics));
        through_barrier(SHARED, many).1
    };
    let findings = without(|semantics| semantics.make_available = false);
    assert_eq!(only(&findings), FindingId::RaceNotAvailable);
    assert_eq!(findings[0].missing, [Missing::Availability(Scope::Workgroup)]);
    let findings = without(|semantics| semantics.make_visible = false);
    assert_eq!(only(&findings), FindingId::RaceNotVisible);
    assert_eq!(findings[0].missing, [Missing::Visibility(Scope::Workgroup)]);
    let findings = without(|semantics| semantics.acquire = false);
    assert_eq!(only(&findings), FindingId::RaceUnordered);
}

#[test]
fn subgroup_scope_is_too_narrow_for_a_workgroup() {
    let (_, findings) = through_barrier(SHARED, |m| m.barrier(2, 0, Scope::Subgroup, both(W)));
    assert_eq!(only(&findings), FindingId::RaceScope);
}

#[test]
fn reads_are_overwritten_only_after_a_barrier() {
    for fixed in [false, true] {
        let mut m = Machine::stale();
        m.store(1, 0, W, 8, SHARED, 5);
        m.barrier(2, 0, Scope::Workgroup, both(W));
        for lane in 0..64 {
            assert_eq!(m.load(3, lane, W, 8, SHARED), 5);
        }
        if fixed {
            m.barrier(4, 0, Scope::Workgroup, both(W));
        }
        m.store(5, 63, W, 8, SHARED, 6);
        let ids = m.ids();
        assert_eq!(ids, if fixed { vec![] } else { vec![FindingId::RaceUnordered] });
    }
}

#[test]
fn writes_of_several_invocations_to_one_word() {
    let mut m = Machine::stale();
    m.store(1, 0, U, 0, SHARED, 1);
    m.store(1, 1, U, 0, SHARED, 2);
    m.store(1, 64, U, 0, SHARED, 2);
    let findings = m.end();
    assert_eq!(only(&findings), FindingId::RaceUnordered);
    assert_eq!(findings[0].count, 2);
    let mut m = Machine::stale();
    for lane in [0, 1, 64] {
        m.add(1, lane, U, 0, Scope::Device, Semantics::RELAXED, 1);
    }
    assert_eq!(m.words[0], 3);
    assert_eq!(m.ids(), []);
    // One of them is not atomic, or does not reach the other workgroup.
    let mut m = Machine::stale();
    m.add(1, 0, U, 0, Scope::Device, Semantics::RELAXED, 1);
    m.store(2, 64, U, 0, SHARED, 2);
    assert_eq!(m.ids(), [FindingId::RaceUnordered]);
    let mut m = Machine::stale();
    m.add(1, 0, U, 0, Scope::Workgroup, Semantics::RELAXED, 1);
    m.add(2, 64, U, 0, Scope::Device, Semantics::RELAXED, 1);
    assert_eq!(m.ids(), [FindingId::RaceMixedScopeAtomics]);
}

/// Whether a race is one of equal values is known when the dispatch ends; one that is not is told at once.
#[test]
fn races_of_equal_values_are_told_at_the_end() {
    let mut m = Machine::stale();
    m.store(1, 0, U, 0, SHARED, 7);
    m.store(1, 64, U, 0, SHARED, 7);
    m.store(2, 0, U, 8, SHARED, 1);
    m.store(2, 64, U, 8, SHARED, 2);
    let sites = |findings: &[Finding]| findings.iter().map(|f| f.accesses[0].site.0).collect::<Vec<_>>();
    assert_eq!(sites(&m.memory.new_findings()), [2]);
    assert!(m.memory.new_findings().is_empty());
    m.store(1, 65, U, 0, SHARED, 7);
    let findings = m.end();
    assert_eq!(sites(&findings), [1]);
    assert!(findings[0].facts.contains(&Fact::SameValue) && findings[0].count == 2, "{findings:?}");
}

#[test]
fn an_atomic_that_its_like_superseded_still_races_with_a_plain_access() {
    for plain_write in [false, true] {
        let mut m = Machine::stale();
        m.add(1, 0, U, 0, Scope::Device, Semantics::RELAXED, 1);
        m.add(2, 64, U, 0, Scope::Device, Semantics::RELAXED, 1);
        // Ordered after the invocation's own addition, not after the other one.
        if plain_write {
            m.store(3, 64, U, 0, SHARED, 9);
        } else {
            assert_eq!(m.load(3, 64, U, 0, SHARED), 2);
        }
        assert_eq!(m.ids(), [FindingId::RaceUnordered]);
    }
}

#[test]
fn two_descriptors_of_one_buffer() {
    for (second, expected) in [(0, vec![]), (1, vec![FindingId::RaceSameInvocation])] {
        let mut m = Machine::stale();
        m.store(1, 0, U, 0, SHARED, 3);
        m.barrier(2, 0, Scope::Device, both(U));
        m.load(3, 0, U, 0, How { reference: second, ..SHARED });
        assert_eq!(m.ids(), expected);
    }
}

#[test]
fn bytes_of_one_word_are_separate_locations() {
    let byte = How { size: 1, ..SHARED };
    let mut m = Machine::stale();
    for lane in 0..4 {
        m.store(1, lane, U, lane, byte, 0x10 + lane);
    }
    for lane in 0..4 {
        assert_eq!(m.load(2, lane, U, lane, byte), 0x10 + lane);
    }
    assert_eq!(m.words[0], 0x1312_1110);
    m.barrier(3, 0, Scope::Workgroup, both(U));
    assert_eq!(m.load(4, 50, U, 0, SHARED), 0x1312_1110);
    assert_eq!(m.ids(), []);
    // A half word over a byte, without and with a barrier.
    for fixed in [false, true] {
        let mut m = Machine::stale();
        m.store(1, 0, U, 1, byte, 0x11);
        if fixed {
            m.barrier(2, 0, Scope::Workgroup, both(U));
        }
        m.store(3, 1, U, 0, How { size: 2, ..SHARED }, 0x2222);
        assert_eq!(m.ids(), if fixed { vec![] } else { vec![FindingId::RaceUnordered] });
    }
}

#[test]
fn undefined_and_outside() {
    let mut m = Machine::stale();
    m.load(1, 0, W, 12, SHARED);
    m.load(2, 0, U, 256, SHARED);
    m.store(3, 0, U, 300, SHARED, 1);
    let findings = m.end();
    let ids: Vec<_> = findings.iter().map(|finding| (finding.id, finding.accesses[0].place.offset)).collect();
    assert_eq!(
        ids,
        [(FindingId::UninitialisedRead, 12), (FindingId::OutOfBounds, 256), (FindingId::OutOfBounds, 300)]
    );
    let mut m = Machine::stale();
    m.store(1, 0, W, 12, SHARED, 1);
    m.load(2, 0, W, 12, SHARED);
    m.add(3, 0, W, 12, Scope::Workgroup, Semantics::RELAXED, 1);
    assert_eq!(m.ids(), []);
    let mut m = Machine::stale();
    m.add(3, 0, W, 12, Scope::Workgroup, Semantics::RELAXED, 1);
    assert_eq!(m.ids(), [FindingId::UninitialisedRead]);
}

/// Nothing depends on what an exchange without a use of its result reads; other operations make the new value
/// of it.
#[test]
fn an_exchange_initialises() {
    for (op, result_used, read) in [
        (AtomicOp::Exchange, false, false),
        (AtomicOp::Exchange, true, true),
        (AtomicOp::Or, false, true),
        (AtomicOp::CompareExchange, false, true),
    ] {
        let mut m = Machine::stale();
        let atomic = m.atomic(W, Scope::Workgroup, Semantics::RELAXED);
        m.update((1, 0), op, &Access { result_used, ..atomic }, 12, 7, 0);
        m.load(2, 0, W, 12, SHARED);
        let expected: &[FindingId] = if read { &[FindingId::UninitialisedRead] } else { &[] };
        assert_eq!(m.ids(), expected, "{op:?}, result used: {result_used}");
    }
}

#[test]
fn dispatches_are_apart() {
    let mut m = Machine::stale();
    m.store(1, 0, U, 0, SHARED, 9);
    m.memory.end_dispatch();
    m.memory.begin_dispatch(DispatchInfo {
        number: 8,
        groups: [2, 1, 1],
        workgroup_size: 64,
        placement: Placement::in_order(32),
        ..DispatchInfo::default()
    });
    for group in 0..2 {
        m.memory.workgroup_begin(group, 256, false);
    }
    assert_eq!(m.load(2, 64, U, 0, SHARED), 9);
    assert_eq!(m.ids(), []);
}

#[test]
fn available_at_the_workgroup_does_not_reach_another_without_chains() {
    for chains in [true, false] {
        let mut m = Machine::new(CheckOptions { chains, ..CheckOptions::default() });
        m.store(1, 0, U, 0, SHARED, 4);
        m.barrier(2, 0, Scope::Workgroup, both(U));
        m.atomic_store(3, 5, U, 4, Scope::Device, semantics(false, true, U, true), 1);
        while m.atomic_load(4, 64, U, 4, Scope::Device, semantics(true, false, U, true)) == 0 {}
        let got = m.load(5, 64, U, 0, SHARED);
        if chains {
            assert_eq!((got, m.ids()), (4, vec![]));
        } else {
            assert_eq!((got, m.ids()), (0, vec![FindingId::RaceNotAvailable]));
        }
    }
}

/// What is missing and the fix of the only finding.
fn explained((_, findings): (u32, Vec<Finding>)) -> (Vec<Missing>, Vec<Edit>) {
    only(&findings);
    (findings[0].missing.clone(), findings[0].fix.clone())
}

#[test]
fn explanations_name_the_missing_element_and_the_smallest_fix() {
    use Edit::*;
    let release = semantics(false, true, U, true);
    let acquire = semantics(true, false, U, true);
    let bare = |semantics: Semantics| Semantics { make_available: false, make_visible: false, ..semantics };
    let all = Scope::QueueFamily;
    assert_eq!(
        explained(message(SHARED, release, bare(acquire), Scope::Device)),
        (vec![Missing::Visibility(all)], vec![MakeVisible(Site(3))])
    );
    assert_eq!(
        explained(message(SHARED, bare(release), acquire, Scope::Device)),
        (vec![Missing::Availability(all)], vec![MakeAvailable(Site(2))])
    );
    assert_eq!(
        explained(message(SHARED, bare(release), bare(acquire), Scope::Device)),
        (
            vec![Missing::Availability(all), Missing::Visibility(all)],
            vec![MakeAvailable(Site(2)), MakeVisible(Site(3))]
        )
    );
    assert_eq!(
        explained(message(PRIVATE, release, acquire, Scope::Device)),
        (
            vec![Missing::NonPrivate(Site(1)), Missing::NonPrivate(Site(4))],
            vec![NonPrivate(Site(1)), NonPrivate(Site(4))]
        )
    );
    assert_eq!(
        explained(message(SHARED, semantics(false, false, U, false), acquire, Scope::Device)),
        (vec![Missing::HappensBefore], vec![Release(Site(2)), MakeAvailable(Site(2))])
    );
    let (_, findings) = message(SHARED, release, acquire, Scope::Workgroup);
    for finding in findings {
        assert_eq!(finding.fix, [Widen(Site(2), all), Widen(Site(3), all)], "{finding:#?}");
    }
    let barrier = |semantics: Semantics, scope| {
        explained(through_barrier(SHARED, |m| m.barrier(2, 0, scope, semantics)))
    };
    let insert = vec![InsertBarrier {
        before: Site(1),
        after: Site(3),
        place: BarrierPlace::Between,
        scope: Scope::Workgroup,
        classes: W,
        early_return: false,
    }];
    assert_eq!(explained(through_barrier(SHARED, |_| {})), (vec![Missing::HappensBefore], insert.clone()));
    assert_eq!(barrier(Semantics::RELAXED, Scope::Workgroup), (vec![Missing::HappensBefore], insert));
    assert_eq!(
        barrier(both(U), Scope::Workgroup),
        (vec![Missing::StorageClass(Site(2), W)], vec![AddClasses(Site(2), W)])
    );
    assert_eq!(
        barrier(both(W), Scope::Subgroup),
        (vec![Missing::WiderScope(Site(2), Scope::Workgroup)], vec![Widen(Site(2), Scope::Workgroup)])
    );
    assert_eq!(
        barrier(semantics(true, true, W, false), Scope::Workgroup),
        (
            vec![Missing::Availability(Scope::Workgroup), Missing::Visibility(Scope::Workgroup)],
            vec![MakeAvailable(Site(2)), MakeVisible(Site(2))]
        )
    );
}

#[test]
fn lanes_write_in_ascending_order_whichever_path_serves_them() {
    let mut m = Machine::stale();
    let one = m.atomic(U, Scope::Device, Semantics::RELAXED);
    let add = |m: &mut Machine, site: u32, lane: u32, mask: Mask| {
        m.with(lane, U, 0, 0, |memory, to, _| {
            let (value, mut out) = ([Lanes([1; LANES])], [Lanes::ZERO]);
            memory
                .read_modify_write(Site(site), AtomicOp::IAdd, to, mask, &one, &value, None, &mut out)
                .unwrap();
            out[0]
        })
    };
    // Lane 5 stores plainly: it alone is in order with its own atomic, so lanes before it are left to the
    // general path.
    m.store(1, 5, U, 0, SHARED, 100);
    let old = add(&mut m, 2, 0, 0xff);
    assert_eq!(old.0[..8], [100, 101, 102, 103, 104, 105, 106, 107]);
    let findings = m.end();
    assert_eq!(only(&findings), FindingId::RaceUnordered);
    assert_eq!(findings[0].accesses[1].by.local_index, 0);
}

#[test]
fn device_memory_is_undefined_until_it_is_written() {
    let begin = || {
        let mut m = Machine::stale();
        m.memory.end_dispatch();
        let mut unwritten = Unwritten::default();
        unwritten.allocate(0x1000, 256);
        unwritten.write(0x1000, 0x1000 + 36);
        m.memory.begin_dispatch(DispatchInfo {
            number: 8,
            groups: [2, 1, 1],
            workgroup_size: 64,
            placement: Placement::in_order(32),
            unwritten,
            ..DispatchInfo::default()
        });
        (0..2).for_each(|group| m.memory.workgroup_begin(group, 256, false));
        m
    };
    let mut m = begin();
    m.load(1, 0, U, 32, SHARED);
    m.load(2, 0, U, 44, SHARED);
    assert_eq!(m.ids(), [], "the rest of a vector that is written in part");
    let mut m = begin();
    m.load(1, 0, U, 48, SHARED);
    m.store(2, 0, U, 64, SHARED, 1);
    m.load(3, 0, U, 64, SHARED);
    m.load(4, 0, U, 68, SHARED);
    m.load(5, 0, U, 80, How { size: 2, ..SHARED });
    m.add(6, 0, U, 96, Scope::Device, Semantics::RELAXED, 1);
    m.add(7, 0, U, 96, Scope::Device, Semantics::RELAXED, 1);
    let sites: Vec<_> = m.end().iter().map(|f| (f.id, f.accesses[0].site.0)).collect();
    let id = FindingId::UninitialisedRead;
    assert_eq!(sites, [(id, 1), (id, 5), (id, 6)]);
}

/// This test starts itself again with 8 GB of memory.
#[cfg(unix)]
#[test]
fn a_dispatch_takes_memory_for_the_workgroups_that_run() {
    const CHILD: &str = "PELLUCID_TEST_LIMITED";
    if std::env::var_os(CHILD).is_none() {
        let program = std::env::current_exe().unwrap();
        let name = "checked::tests::a_dispatch_takes_memory_for_the_workgroups_that_run";
        let run =
            std::process::Command::new(program).args([name, "--exact"]).env(CHILD, "1").output().unwrap();
        return assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    let most = libc::rlimit { rlim_cur: 8_000_000_000, rlim_max: 8_000_000_000 };
    // SAFETY: a call without preconditions, with a live argument.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &most) }, 0);
    let mut m = Machine::stale();
    let groups = [65535, 65535, 1];
    m.memory.begin_dispatch(DispatchInfo { groups, workgroup_size: 1, ..DispatchInfo::default() });
    let last = 65535 * 65535 - 1;
    m.open = vec![0, last];
    for workgroup in [0, last] {
        m.memory.workgroup_begin(workgroup, 0, false);
        m.memory.enter_subgroup(&SubgroupIdentity {
            workgroup,
            workgroup_id: [0; 3],
            subgroup: 0,
            lanes: 1,
            placement: Placement::default(),
        });
        let view = MemoryView::of_words(&mut m.words).at(0x1000);
        let to = Pointers::View { view: &view, offset: &Lanes([0; LANES]), immediate: 0 };
        m.memory.store(Site(1), to, 1, &access(SHARED, U, true), &[Lanes([1; LANES])]).unwrap();
    }
    assert_eq!(m.ids(), [FindingId::RaceUnordered]);
}
