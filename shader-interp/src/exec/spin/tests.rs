//! Loops that repeat themselves, and loops that do not.

use super::*;

fn strand(pc: u32, value: u32) -> Strand {
    Strand { pc, mask: 0b11, vectors: vec![Lanes([value; LANES])], ..Strand::default() }
}

const NOTHING: Observed = Observed { changed: false, unsettled: false, read: None };

fn look(watch: &mut SpinWatch, strand: &Strand) -> bool {
    watch.step((0, 0, 0), strand, Did::default(), &NOTHING, 100) == WatchResult::Stuck
}

/// After how many steps of `states`, in turn, the watch is sure; `None` within 10,000.
fn sure(states: impl Fn(u64) -> Strand) -> Option<u64> {
    let mut watch = SpinWatch::default();
    (0..10_000).find(|step| look(&mut watch, &states(*step)))
}

#[test]
fn a_loop_that_repeats_is_found_and_one_that_counts_is_not() {
    assert_eq!(sure(|_| strand(5, 1)), Some(199));
    assert!(sure(|step| strand(5 + (step % 7) as u32, 1)).is_some());
    assert!(sure(|step| strand(5, (step % 150) as u32)).is_some(), "a long loop");
    assert_eq!(sure(|step| strand(5, step as u32)), None);
    assert_eq!(sure(|step| Strand { clock: step, ..strand(5, 1) }), None);
}

#[test]
fn other_lanes_do_not_count() {
    let with = |step: u64| {
        let mut strand = strand(5, 1);
        strand.vectors[0].0[7] = step as u32;
        strand
    };
    assert!(sure(with).is_some());
}

#[test]
fn a_change_begins_anew() {
    let mut watch = SpinWatch::default();
    for step in 0..10_000 {
        assert!(!look(&mut watch, &strand(5, 1)));
        if step % 150 == 149 {
            watch.changed();
        }
    }
    assert!(!watch.runs((1, 0, 0)));
}

/// The same, where every step does this and memory sees that.
fn sure_of(did: Did, seen: impl Fn(u64) -> Observed) -> Option<u64> {
    let mut watch = SpinWatch::default();
    let mut once = |step| {
        let seen = if watch.watches() { seen(step) } else { NOTHING };
        watch.step((0, 0, 0), &strand(5, 1), did, &seen, 100) == WatchResult::Stuck
    };
    (0..10_000).find(|step| once(*step))
}

#[test]
fn stores_count_where_they_change_something() {
    let stores = Did { stored: true, ..Did::default() };
    assert_eq!(sure_of(stores, |_| NOTHING), Some(199));
    assert_eq!(sure_of(stores, |_| Observed { changed: true, ..NOTHING }), None);
    assert_eq!(sure_of(stores, |step| Observed { changed: step % 90 == 0, ..NOTHING }), None);
    assert_eq!(sure_of(Did { changed: true, ..Did::default() }, |_| NOTHING), None);
}

#[test]
fn barriers_change_nothing() {
    let arrives = Did { arrived: true, ..Did::default() };
    assert_eq!(sure_of(arrives, |_| NOTHING), Some(199));
}

#[test]
fn old_values_put_it_off() {
    let old_until = |end: u64| move |step| Observed { unsettled: step < end, ..NOTHING };
    assert_eq!(sure_of(Did::default(), old_until(10_000)), None);
    assert_eq!(sure_of(Did::default(), old_until(250)), Some(399 + 400), "the first whole watch after it");
}

#[test]
fn whoever_can_run_must_come_back() {
    let mut watch = SpinWatch::default();
    let mut stuck = 0;
    for step in 0..1000 {
        match watch.step((0, 0, 0), &strand(5, 1), Did::default(), &NOTHING, 100) {
            WatchResult::Begins if step < 399 => watch.expect((1, 0, 0)),
            WatchResult::Stuck => {
                stuck = step;
                break;
            }
            _ => {}
        }
    }
    assert_eq!(stuck, 99 + 100 + 200 + 400, "the one that never ran was expected in the first two watches");
    assert!(watch.repeats((0, 0, 0)) && !watch.repeats((1, 0, 0)) && !watch.runs((1, 0, 0)));
}
