//! Locks that many invocations contend for: what an acquisition costs does not depend on how many there were.

use super::*;

/// How a lock synchronises.
#[derive(Clone, Copy, Debug)]
enum Lock {
    /// The releasing operation is a read-modify-write, so that one release sequence goes on and on.
    Exchanged(Scope),
    /// The releasing operation is a store: every release heads a sequence of its own.
    Stored,
    /// Relaxed atomics between fences.
    Fenced,
}

/// Processor time of this thread, in seconds.
fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, and the time is written to a live place.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) }, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Takes the lock `turns` times, by all 64 invocations of a workgroup and all of another one in turn, each
/// time while three others try; returns the seconds that it took.
fn contend(lock: Lock, turns: u32) -> f64 {
    let mut m = Machine::stale();
    let relaxed = Semantics::RELAXED;
    let (acquire, release) = (semantics(true, false, U, true), semantics(false, true, U, true));
    let (scope, taking, trying) = match lock {
        Lock::Exchanged(scope) => (scope, both(U), acquire),
        Lock::Stored => (Scope::Device, acquire, acquire),
        Lock::Fenced => (Scope::Device, relaxed, relaxed),
    };
    let agents = if scope == Scope::Workgroup { 64 } else { 128 };
    let start = now();
    let mut counter = 0;
    for turn in 0..turns {
        for other in 1..4 {
            let agent = (turn * 7 + other) % agents;
            m.compare_exchange(1, agent, 4, scope, (taking, trying), 2, 1);
            if let Lock::Fenced = lock {
                m.fence(2, agent, scope, acquire);
            }
        }
        let agent = turn % agents;
        m.compare_exchange(1, agent, 4, scope, (taking, trying), 0, 1);
        if let Lock::Fenced = lock {
            m.fence(2, agent, scope, acquire);
        }
        counter = m.load(3, agent, U, 0, coherent(Scope::Device));
        m.store(4, agent, U, 0, coherent(Scope::Device), counter + 1);
        match lock {
            Lock::Exchanged(_) => drop(m.exchange(5, agent, 4, scope, release, 0)),
            Lock::Stored => m.atomic_store(5, agent, U, 4, scope, release, 0),
            Lock::Fenced => {
                m.fence(6, agent, scope, release);
                m.atomic_store(5, agent, U, 4, scope, relaxed, 0);
            }
        }
    }
    let time = now() - start;
    assert_eq!(counter + 1, turns, "every one sees what the one before stored");
    time
}

#[test]
fn the_cost_of_a_lock_grows_with_the_turns_alone() {
    let locks =
        [Lock::Exchanged(Scope::Device), Lock::Exchanged(Scope::Workgroup), Lock::Stored, Lock::Fenced];
    for lock in locks {
        let few = contend(lock, 1000).min(contend(lock, 1000));
        let many = contend(lock, 8000);
        assert!(many < 24.0 * few, "{lock:?}: 1,000 turns take {few} s, 8,000 take {many} s");
    }
}
