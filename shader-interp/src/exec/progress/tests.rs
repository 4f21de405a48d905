//! Schedules of few units, by progress model.

use super::*;
use pellucid_memory::access::Site;

fn units(groups: &[(u32, u32)]) -> Vec<Unit> {
    let unit = |(workgroup, subgroup): &(u32, u32)| Unit {
        workgroup: *workgroup,
        subgroup: *subgroup,
        strand: 0,
        step: 0,
        priority: mix(u64::from(*workgroup) << 32 | u64::from(*subgroup)),
        next: Site(0),
        mask: 1,
        silent: false,
        parked: false,
        local: 0,
    };
    groups.iter().map(unit).collect()
}

/// The workgroups that still run after many turns.
fn survivors(model: ProgressModel, seed: u64, workgroups: u32) -> Vec<u32> {
    let runnable = units(&(0..workgroups).map(|w| (w, 0)).collect::<Vec<_>>());
    let mut scheduler = ProgressScheduler::new(model, seed);
    for _ in 0..20_000 {
        scheduler.pick(&runnable);
    }
    let mut last: Vec<u32> = (0..1000).map(|_| runnable[scheduler.pick(&runnable)].workgroup).collect();
    last.sort_unstable();
    last.dedup();
    last
}

#[test]
fn each_model_keeps_what_it_guarantees_running() {
    for seed in 0..50 {
        assert_eq!(survivors(ProgressModel::Fair, seed, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(survivors(ProgressModel::Hsa, seed, 6), [0]);
        assert!(survivors(ProgressModel::HsaObe, seed, 6).contains(&0));
        let linear = survivors(ProgressModel::Lobe, seed, 6);
        assert!(linear.iter().copied().eq(0..linear.len() as u32), "{linear:?}");
    }
    let some = |model| (0..50).map(|seed| survivors(model, seed, 6)).collect::<Vec<_>>();
    assert!(some(ProgressModel::Obe).iter().any(|s| !s.contains(&0)), "the first need not start");
    assert!(some(ProgressModel::Lobe).iter().any(|s| s.len() < 6), "the last need not start");
}

#[test]
fn what_has_started_keeps_running_under_obe() {
    for seed in 0..50 {
        let runnable = units(&[(0, 0), (1, 0), (2, 0)]);
        let mut scheduler = ProgressScheduler::new(ProgressModel::Obe, seed);
        let first: Vec<usize> = (0..2000).map(|_| scheduler.pick(&runnable)).collect();
        let later: Vec<usize> = (0..2000).map(|_| scheduler.pick(&runnable)).collect();
        assert!(first.iter().all(|k| later.contains(k)), "seed {seed}");
    }
}

#[test]
fn subgroups_are_starved_like_workgroups() {
    let runnable = units(&[(0, 0), (0, 1), (1, 0), (1, 1)]);
    let mut scheduler = ProgressScheduler::new(ProgressModel::Hsa, 3);
    for _ in 0..20_000 {
        scheduler.pick(&runnable);
    }
    assert!((0..100).all(|_| scheduler.pick(&runnable) == 0));
    // The others go on when the first ones have ended.
    assert!((0..5000).any(|_| scheduler.pick(&runnable[1..]) == 0));
    assert!((0..5000).any(|_| scheduler.pick(&runnable[3..]) == 0));
}
