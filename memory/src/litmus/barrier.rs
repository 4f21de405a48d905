//! Which control barriers of a combination of paths are passed, and who synchronises at them.
//!
//! A control barrier's execution scope is the workgroup. Without a quorum it waits for every thread of the
//! workgroup whose code names the same instance; a named one only for those with the same resource. With a
//! quorum, that many arrivals release everyone: it is these arrivals that happen before what the released do
//! next.

use super::path::{Path, Step};
use super::program::{Instruction, LitmusProgram, Operand};

/// A passed barrier: who executed it.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    /// Thread and step.
    pub members: Vec<(usize, usize)>,
    /// How many arrivals released it; `None` for all members.
    pub quorum: Option<usize>,
}

/// How far each thread gets.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    /// For each thread, how many steps it executes.
    pub steps: Vec<usize>,
    /// For each thread, whether it is stuck at a barrier.
    pub blocked: Vec<bool>,
    pub passed: Vec<Passed>,
}

#[derive(PartialEq, Eq, Clone, Copy)]
struct Key<'a> {
    workgroup: usize,
    instance: &'a str,
    occurrence: usize,
    resource: Option<i64>,
}

struct Arrival<'a> {
    thread: usize,
    step: usize,
    key: Key<'a>,
    quorum: Option<i64>,
}

/// Simulates the barriers of one combination of paths.
pub(super) fn progress(program: &LitmusProgram, paths: &[&Path]) -> Progress {
    let threads = paths.len();
    let workgroup =
        |thread: usize| (0..threads).find(|other| program.same_instance(thread, *other, 1)).unwrap_or(thread);
    let barriers: Vec<Vec<Arrival<'_>>> = paths
        .iter()
        .enumerate()
        .map(|(thread, path)| {
            let at = |(step, kind): (usize, &Step)| match kind {
                Step::Barrier { pc, occurrence, resource, quorum, .. } => {
                    let Instruction::ControlBarrier { instance, .. } = &program.threads[thread].code[*pc]
                    else {
                        return None;
                    };
                    let key = Key {
                        workgroup: workgroup(thread),
                        instance,
                        occurrence: *occurrence,
                        resource: *resource,
                    };
                    Some(Arrival { thread, step, key, quorum: *quorum })
                }
                _ => None,
            };
            path.steps.iter().enumerate().filter_map(at).collect()
        })
        .collect();
    // `next[t]`: the barrier at which thread t stands (it has arrived there).
    let mut next = vec![0; threads];
    loop {
        let arrivals = |key: Key<'_>, thread: usize| {
            barriers[thread].iter().take(next[thread] + 1).filter(|arrival| arrival.key == key).count()
        };
        let opens = |thread: &usize| {
            let Some(here) = barriers[*thread].get(next[*thread]) else { return false };
            match here.quorum {
                Some(quorum) => {
                    let count: usize = (0..threads).map(|other| arrivals(here.key, other)).sum();
                    count as i64 >= quorum
                }
                None => (0..threads)
                    .filter(|other| {
                        workgroup(*other) == here.key.workgroup
                            && names(program, *other, here.key.instance, here.key.resource)
                    })
                    .all(|other| arrivals(here.key, other) > 0),
            }
        };
        let open: Vec<usize> = (0..threads).filter(opens).collect();
        if open.is_empty() {
            break;
        }
        for thread in open {
            next[thread] += 1;
        }
    }
    let mut passed: Vec<(Key<'_>, Passed)> = Vec::new();
    for (thread, list) in barriers.iter().enumerate() {
        for arrival in list.iter().take(next[thread]) {
            let member = (arrival.thread, arrival.step);
            let quorum = arrival.quorum.map(|quorum| usize::try_from(quorum).unwrap_or(0));
            match passed.iter_mut().find(|(key, _)| *key == arrival.key) {
                Some((_, passed)) => {
                    passed.members.push(member);
                    passed.quorum = passed.quorum.max(quorum);
                }
                None => passed.push((arrival.key, Passed { members: vec![member], quorum })),
            }
        }
    }
    let blocked: Vec<bool> = (0..threads).map(|thread| next[thread] < barriers[thread].len()).collect();
    let steps = (0..threads)
        .map(|thread| match barriers[thread].get(next[thread]) {
            Some(arrival) => arrival.step,
            None => paths[thread].steps.len(),
        })
        .collect();
    Progress { steps, blocked, passed: passed.into_iter().map(|(_, passed)| passed).collect() }
}

/// Whether the code of a thread names this barrier.
pub(super) fn names(program: &LitmusProgram, thread: usize, barrier: &str, wanted: Option<i64>) -> bool {
    program.threads[thread].code.iter().any(|instruction| match instruction {
        Instruction::ControlBarrier { instance, resource, .. } => {
            let same = match (resource, wanted) {
                (None, None) => true,
                (Some(Operand::Constant(value)), Some(wanted)) => *value == wanted,
                _ => false,
            };
            same && instance == barrier
        }
        _ => false,
    })
}
