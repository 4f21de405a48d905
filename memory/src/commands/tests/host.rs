//! The host among the operations of the queues.

use super::super::*;
use crate::finding::FindingId;

const Q: QueueId = QueueId(0);
const B: Range = Range { start: 0x1000, end: 0x1100 };

fn read() -> Operand {
    Operand::fixed(Accesses::TRANSFER_READ, Accesses::empty())
}

fn write() -> Operand {
    Operand::fixed(Accesses::empty(), Accesses::TRANSFER_WRITE)
}

fn operate(t: &mut Tracker, operand: Operand) -> Vec<FindingId> {
    let id = t.begin(Q, Stages::COPY, 0, None);
    assert!(t.access(id, B, operand).is_empty());
    t.access_after_host(id, B, operand).iter().map(|h| h.id).collect()
}

fn submit(t: &mut Tracker) {
    let host = t.host_knowledge();
    t.submit(Q, &host);
}

fn wait(t: &mut Tracker) {
    let fence = t.signal_fence(Q);
    t.host_wait(&fence);
}

fn wrote(t: &mut Tracker, coherent: bool) -> Vec<FindingId> {
    t.host_wrote(&[Range::new(0x1010, 4)], coherent, 0).iter().map(|h| h.id).collect()
}

#[test]
fn a_submission_sees_what_the_host_wrote_before() {
    let mut t = Tracker::default();
    assert!(wrote(&mut t, true).is_empty());
    submit(&mut t);
    assert!(operate(&mut t, read()).is_empty());
    assert_eq!(wrote(&mut t, true), [FindingId::HostInFlight], "after the read");
    wait(&mut t);
    assert!(wrote(&mut t, true).is_empty());
}

fn left(t: &Tracker, range: Range) -> bool {
    let mut left = true;
    t.kept_from_host(range, |_| left = false);
    left
}

#[test]
fn bytes_are_left_to_the_host_when_it_was_told_of_their_last_access() {
    let to_host = Dependency::memory(
        Stages::COPY,
        Accesses::TRANSFER_WRITE,
        Stages::HOST,
        Accesses::HOST_READ | Accesses::HOST_WRITE,
    );
    for (operand, barrier, expected) in
        [(read(), false, true), (write(), false, false), (write(), true, true)]
    {
        let mut t = Tracker::default();
        assert!(left(&t, B));
        submit(&mut t);
        operate(&mut t, operand);
        if barrier {
            t.barrier(Q, &to_host, 0);
        }
        assert!(!left(&t, Range { start: 0, end: B.start + 1 }), "nothing was told");
        assert!(left(&t, Range { start: 0, end: B.start }));
        wait(&mut t);
        assert_eq!(left(&t, B), expected, "{operand:?} {barrier}");
    }
}

#[test]
fn a_write_after_the_submission_waits_for_a_signal_of_the_host() {
    let (writes, reads) = (Accesses::HOST_WRITE, Accesses::TRANSFER_READ);
    let from = |stage| Dependency::memory(stage, writes, Stages::COPY, reads);
    for (dependency, expected) in [
        (None, vec![FindingId::HostInFlight]),
        (Some(from(Stages::COMPUTE_SHADER)), vec![FindingId::HostInFlight]),
        (Some(Dependency::execution(Stages::HOST, Stages::COPY)), vec![FindingId::HostNoBarrier]),
        (Some(from(Stages::HOST).on(&[Range::new(0x1000, 8)])), vec![FindingId::HostNoBarrier]),
        (Some(from(Stages::HOST)), vec![]),
    ] {
        let mut t = Tracker::default();
        submit(&mut t);
        wrote(&mut t, true);
        if let Some(dependency) = &dependency {
            let event = t.host_event();
            t.wait_events(Q, &[&event], dependency, 0);
        }
        assert_eq!(operate(&mut t, read()), expected, "{dependency:?}");
    }
}

#[test]
fn behind_a_semaphore_of_the_host_a_barrier_makes_its_writes_available() {
    for barrier in [false, true] {
        let mut t = Tracker::default();
        wrote(&mut t, false);
        t.host_flushed(&[B]);
        submit(&mut t);
        wrote(&mut t, false);
        t.host_flushed(&[B]);
        let signal = t.host_knowledge();
        t.wait_semaphore(Q, &signal, Stages::COPY);
        if barrier {
            let (writes, reads) = (Accesses::HOST_WRITE, Accesses::TRANSFER_READ);
            t.barrier(Q, &Dependency::memory(Stages::HOST, writes, Stages::COPY, reads), 0);
        }
        let found = operate(&mut t, read());
        assert_eq!(found, if barrier { vec![] } else { vec![FindingId::HostNoBarrier] });
    }
}

#[test]
fn a_read_of_the_host_is_before_the_write_of_a_submission_that_comes_later() {
    let half = Range { start: B.start, end: B.start + 0x80 };
    for (after, written, expected) in [(false, B, false), (true, B, true), (true, half, false)] {
        let mut t = Tracker::default();
        if !after {
            t.host_read(&[(B, false)], 0);
        }
        submit(&mut t);
        if after {
            t.host_read(&[(B, false)], 0);
        }
        let id = t.begin(Q, Stages::COPY, 0, None);
        let found = t.access_after_host(id, written, write());
        let found: Vec<_> = found.iter().map(|h| (h.id, h.writes, &h.bytes[..])).collect();
        let wanted = [(FindingId::HostInFlight, false, &[B][..])];
        assert_eq!(found, if expected { &wanted[..] } else { &[] });
    }
}

#[test]
fn a_flush_counts_before_the_submission_only() {
    for (before, after) in [(true, false), (false, true), (false, false)] {
        let mut t = Tracker::default();
        wrote(&mut t, false);
        if before {
            t.host_flushed(&[B]);
        }
        submit(&mut t);
        if after {
            t.host_flushed(&[B]);
        }
        let id = t.begin(Q, Stages::COPY, 0, None);
        let found = t.access_after_host(id, B, read());
        let expected = if before { vec![] } else { vec![(FindingId::HostNotFlushed, after)] };
        assert_eq!(found.iter().map(|h| (h.id, h.late)).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn what_an_invalidate_made_undefined_no_flush_brings_back() {
    for (flushed, again) in [(false, false), (true, false), (true, true)] {
        let mut t = Tracker::default();
        wrote(&mut t, false);
        if flushed {
            t.host_flushed(&[B]);
        }
        t.host_discarded(&[B]);
        t.host_flushed(&[B]);
        if again {
            wrote(&mut t, false);
            t.host_flushed(&[B]);
        }
        submit(&mut t);
        let id = t.begin(Q, Stages::COPY, 0, None);
        let found = t.access_after_host(id, B, read());
        let expected = if flushed { vec![] } else { vec![(FindingId::HostNotFlushed, true)] };
        assert_eq!(found.iter().map(|h| (h.id, h.discarded)).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn what_the_device_overwrites_need_not_be_flushed() {
    let mut t = Tracker::default();
    wrote(&mut t, false);
    submit(&mut t);
    assert!(operate(&mut t, write()).is_empty());
    wait(&mut t);
    submit(&mut t);
    assert!(operate(&mut t, read()).is_empty());
}

#[test]
fn a_write_of_the_device_needs_a_dependency_to_the_host() {
    let (host, all) = (Accesses::HOST_READ, Accesses::MEMORY_READ | Accesses::MEMORY_WRITE);
    let to_host = Dependency::memory(Stages::COPY, Accesses::TRANSFER_WRITE, Stages::HOST, host);
    let full = Dependency::memory(Stages::DEVICE, all, Stages::DEVICE, all);
    let execution = Dependency::execution(Stages::COPY, Stages::HOST);
    for (dependency, expected) in [
        (to_host.clone(), vec![]),
        (to_host.clone().on(&[B]), vec![]),
        (to_host.clone().on(&[Range::new(0x1000, 8)]), vec![FindingId::HostNoBarrier]),
        (full, vec![FindingId::HostNoBarrier]),
        (execution, vec![FindingId::HostNoBarrier]),
    ] {
        let mut t = Tracker::default();
        submit(&mut t);
        operate(&mut t, write());
        t.barrier(Q, &dependency, 0);
        wait(&mut t);
        assert_eq!(wrote(&mut t, true), expected, "{dependency:?}");
        let read: Vec<_> = t.host_read(&[(B, false)], 0).iter().map(|h| h.id).collect();
        let part = dependency.visible.iter().any(|s| s.ranges.as_ref().is_some_and(|r| r[0].end == 0x1008));
        assert_eq!(read, if part { vec![] } else { expected }, "{dependency:?}");
    }
}

#[test]
fn a_barrier_that_lacks_bytes_alone_is_to_be_extended() {
    let part = [Range::new(0x1000, 8)];
    let of = |object: Option<Range>, mut dependency: Dependency| {
        let scopes = dependency.available.iter_mut().chain(&mut dependency.visible);
        scopes.for_each(|scope| scope.resource = object);
        dependency
    };
    let (read, wrote) = (Accesses::HOST_READ, Accesses::HOST_WRITE);
    let transfer = (Accesses::TRANSFER_READ, Accesses::TRANSFER_WRITE);
    let to = |stage, write, accesses| Dependency::memory(stage, write, Stages::HOST, accesses).on(&part);
    let from = |accesses, stage| Dependency::memory(Stages::HOST, accesses, stage, transfer.0).on(&part);
    let (object, other) = (Some(B), Some(Range::new(0x1000, 8)));
    for (dependency, extends) in [
        (of(object, to(Stages::COPY, transfer.1, read)), true),
        (of(other, to(Stages::COPY, transfer.1, read)), false),
        (of(object, to(Stages::CLEAR, transfer.1, read)), false),
        (of(object, to(Stages::COPY, Accesses::empty(), read)), false),
        (of(object, to(Stages::COPY, transfer.1, Accesses::empty())), false),
    ] {
        let mut t = Tracker::default();
        submit(&mut t);
        operate(&mut t, write());
        t.barrier(Q, &dependency, 7);
        wait(&mut t);
        let found = t.host_read(&[(Range::new(0x1010, 4), false)], 0);
        let found: Vec<_> = found.iter().map(|h| (h.id, h.extend)).collect();
        assert_eq!(found, [(FindingId::HostNoBarrier, extends.then_some(7))], "{dependency:?}");
    }
    for (dependency, extends) in [
        (of(object, from(wrote, Stages::COPY)), true),
        (of(other, from(wrote, Stages::COPY)), false),
        (of(object, from(wrote, Stages::COMPUTE_SHADER)), false),
        (of(object, from(read, Stages::COPY)), false),
    ] {
        let mut t = Tracker::default();
        submit(&mut t);
        assert!(t.host_wrote(&[Range::new(0x1010, 4)], true, 0).is_empty());
        let signal = t.host_knowledge();
        t.wait_semaphore(Q, &signal, Stages::COPY);
        t.barrier(Q, &dependency, 7);
        let id = t.begin(Q, Stages::COPY, 0, None);
        let found = t.access_after_host(id, B, Operand::fixed(transfer.0, Accesses::empty()));
        let found: Vec<_> = found.iter().map(|h| (h.id, h.extend)).collect();
        assert_eq!(found, [(FindingId::HostNoBarrier, extends.then_some(7))], "{dependency:?}");
    }
}

#[test]
fn what_the_host_was_not_told_of_is_in_flight() {
    let mut t = Tracker::default();
    let half = Range { start: B.start + 0x80, end: B.end };
    submit(&mut t);
    operate(&mut t, write());
    assert_eq!(t.in_flight(B), [B]);
    assert_eq!(t.in_flight(Range::new(0x1010, 4)), [Range::new(0x1010, 4)]);
    let fence = t.signal_fence(Q);
    assert_eq!(t.in_flight(B), [B], "the signal alone tells nobody");
    t.host_wait(&fence);
    assert!(t.in_flight(B).is_empty());
    submit(&mut t);
    let id = t.begin(Q, Stages::COPY, 0, None);
    t.access(id, B, read());
    assert!(t.in_flight(B).is_empty(), "a read");
    let id = t.begin(Q, Stages::CLEAR, 0, None);
    t.access(id, half, write());
    assert_eq!(t.in_flight(B), [half]);
    wait(&mut t);
    assert!(t.in_flight(B).is_empty());
}

#[test]
fn a_read_is_told_where_all_that_it_may_have_read_is_wrong() {
    let mut t = Tracker::default();
    submit(&mut t);
    operate(&mut t, write());
    let ids = |found: Vec<HostHazard>| found.iter().map(|h| h.id).collect::<Vec<_>>();
    assert_eq!(ids(t.host_read(&[(B, true)], 0)), [FindingId::HostInFlight]);
    assert!(t.host_read(&[(Range { start: B.start, end: B.end + 1 }, true)], 0).is_empty());
    wait(&mut t);
    assert_eq!(ids(t.host_read(&[(B, true)], 0)), [FindingId::HostNotInvalidated]);
}
