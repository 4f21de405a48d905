//! Termination under a progress model.
//!
//! A program fails to terminate when some execution runs for ever, or is stuck at a control barrier, although
//! every thread to which the progress model guarantees progress keeps being scheduled and every write
//! eventually becomes visible. The search builds the graph of reachable states of a relaxed machine (each
//! location has a bounded window of past values, each thread a position in it) and looks for a cycle that is
//! *fair*: in it every read returns the newest value, and the threads that do not move are terminated,
//! blocked, or not guaranteed progress.
//!
//! The machine ignores synchronisation, so it can be too weak but not too strong: "terminates" holds as far
//! as the windows reach, and a cycle that starts from stale values is confirmed by the axioms before it
//! counts.

use std::collections::HashMap;

use crate::model::{Execution, ModelOptions};
use crate::progress::ProgressModel;

use super::program::{Instruction, LitmusProgram, Operand};
use super::skeleton::{access_event, barrier_event, fixed_event};

mod graph;

use graph::{Edge, Graph, State};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Values of a location that a thread may lag behind.
    pub window: usize,
    /// States of a program that are visited before the search gives up.
    pub states: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { window: 4, states: 400_000 }
    }
}

/// A way not to terminate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The steps to the repeating part: thread number and instruction.
    pub prefix: Vec<(usize, usize)>,
    /// The threads that run for ever (empty for a deadlock).
    pub running: Vec<usize>,
    /// The threads stuck at a control barrier.
    pub blocked: Vec<usize>,
    /// The threads that are never scheduled again although they could run.
    pub stopped: Vec<usize>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Termination {
    /// Not to terminate, if possible.
    pub stuck: Option<Stuck>,
    /// Whether the whole state graph was searched.
    pub complete: bool,
    /// How many different states of the program were visited.
    pub states: usize,
}

/// Whether every execution terminates.
pub fn terminates(
    program: &LitmusProgram,
    model: ProgressModel,
    options: &ModelOptions,
    bounds: &Bounds,
) -> Termination {
    let strong = Graph::explore(program, &Bounds { window: 1, ..*bounds });
    if let Some(stuck) = strong.stuck(program, model, &|_| true) {
        return Termination { stuck: Some(stuck), complete: true, states: strong.states.len() };
    }
    if bounds.window <= 1 {
        return Termination { stuck: None, complete: strong.complete, states: strong.states.len() };
    }
    let weak = Graph::explore(program, bounds);
    let synchronised = synchronises(program);
    let refuted = std::cell::Cell::new(false);
    let confirm = |path: &[Edge]| {
        let allowed = !synchronised || allowed(program, options, path);
        refuted.set(refuted.get() || !allowed);
        allowed
    };
    let stuck = weak.stuck(program, model, &confirm);
    let complete = weak.complete && strong.complete && (stuck.is_some() || !refuted.get());
    Termination { stuck, complete, states: weak.states.len() }
}

/// Whether the program has anything that the relaxed machine ignores.
fn synchronises(program: &LitmusProgram) -> bool {
    !program.system_synchronizes.is_empty()
        || program.threads.iter().flat_map(|thread| &thread.code).any(|instruction| match instruction {
            Instruction::Store(access, _)
            | Instruction::Load(access, _)
            | Instruction::ReadModifyWrite(access, ..) => {
                access.semantics.acquire || access.semantics.release
            }
            Instruction::MemoryBarrier(..) | Instruction::ControlBarrier { .. } => true,
            _ => false,
        })
}

/// Whether the progress model lets exactly `running` run for ever while `stopped` could run and never does.
fn permitted(
    program: &LitmusProgram,
    model: ProgressModel,
    state: &State,
    running: &[usize],
    stopped: &[usize],
) -> bool {
    let root = Group::new(program, &(0..program.threads.len()).collect::<Vec<_>>(), 3);
    root.permits(model, state, running, stopped)
}

/// The scope hierarchy: queue families, workgroups, subgroups, threads.
struct Group {
    id: u32,
    threads: Vec<usize>,
    children: Vec<Group>,
}

impl Group {
    fn new(program: &LitmusProgram, threads: &[usize], level: usize) -> Group {
        let number = |thread: usize| {
            let thread = &program.threads[thread];
            match level {
                3 => thread.queue_family,
                2 => thread.workgroup,
                1 => thread.subgroup,
                _ => thread.id,
            }
        };
        let mut ids: Vec<u32> = threads.iter().map(|t| number(*t)).collect();
        ids.sort_unstable();
        ids.dedup();
        let children = ids
            .into_iter()
            .map(|id| {
                let members: Vec<usize> = threads.iter().copied().filter(|t| number(*t) == id).collect();
                match level {
                    0 => Group { id, threads: members, children: Vec::new() },
                    _ => Group { id, ..Group::new(program, &members, level - 1) },
                }
            })
            .collect();
        Group { id: 0, threads: threads.to_vec(), children }
    }

    fn permits(&self, model: ProgressModel, state: &State, running: &[usize], stopped: &[usize]) -> bool {
        let runs = |group: &Group| group.threads.iter().any(|t| running.contains(t));
        let schedulable =
            |group: &Group| group.threads.iter().any(|t| running.contains(t) || stopped.contains(t));
        let started = |group: &Group| group.threads.iter().any(|t| state.threads[*t].started);
        let mut any = false;
        for (index, child) in self.children.iter().enumerate() {
            let obe = started(child);
            let hsa = !self.children[..index].iter().any(schedulable);
            let guaranteed = match model {
                ProgressModel::Fair => true,
                ProgressModel::Obe => obe,
                ProgressModel::Hsa => hsa,
                ProgressModel::HsaObe => obe || hsa,
                ProgressModel::Lobe => self.children[index..].iter().any(started),
            };
            let progress = guaranteed || runs(child);
            if progress && schedulable(child) {
                any = true;
                let allowed = match child.children.is_empty() {
                    true => runs(child),
                    false => child.permits(model, state, running, stopped),
                };
                if !allowed {
                    return false;
                }
            }
        }
        debug_assert!(self.children.windows(2).all(|pair| pair[0].id < pair[1].id));
        // A group that progresses and can be scheduled has a member that progresses.
        any || !schedulable(self)
    }
}

/// Whether the axioms allow the execution along a path of the graph.
fn allowed(program: &LitmusProgram, options: &ModelOptions, path: &[Edge]) -> bool {
    let mut execution = Execution::new();
    // Per location, the writes in the order of the path; a step's staleness counts back from the newest.
    let mut writes: Vec<Vec<Option<u32>>> = vec![vec![None]; program.initial.len()];
    let mut instances: HashMap<(usize, String, Option<i64>, usize), u32, rustc_hash::FxBuildHasher> =
        HashMap::default();
    let mut occurrences: HashMap<(usize, String), usize, rustc_hash::FxBuildHasher> = HashMap::default();
    let mut threads: Vec<Vec<u32>> = vec![Vec::new(); program.threads.len()];
    for edge in path {
        let thread = edge.thread;
        let event = match &program.threads[thread].code[edge.pc] {
            Instruction::Load(access, _) => access_event(program, thread, access, true, false),
            Instruction::Store(access, _) => access_event(program, thread, access, false, true),
            Instruction::ReadModifyWrite(access, ..) => access_event(program, thread, access, true, true),
            Instruction::ControlBarrier { instance, resource, .. } => {
                let occurrence = occurrences.entry((thread, instance.clone())).or_insert(0);
                let resource = match resource {
                    Some(Operand::Constant(value)) => Some(*value),
                    _ => None,
                };
                let group = (0..program.threads.len())
                    .find(|o| program.same_instance(thread, *o, 1))
                    .unwrap_or(thread);
                let fresh = instances.len() as u32;
                let number =
                    *instances.entry((group, instance.clone(), resource, *occurrence)).or_insert(fresh);
                *occurrence += 1;
                let Some(event) = barrier_event(program, thread, edge.pc, number, true) else { continue };
                event
            }
            _ => match fixed_event(program, thread, edge.pc) {
                Some(event) => event,
                None => continue,
            },
        };
        let (read, write, location) =
            (event.read, event.write, event.locations.map(|set| set.first as usize));
        let number = execution.push(event);
        threads[thread].push(number);
        let Some(location) = location else { continue };
        if read {
            let newest = writes[location].len() - 1;
            if let Some(source) = writes[location][newest.saturating_sub(edge.behind)] {
                execution.reads_from(source, number);
            }
        }
        if write {
            writes[location].push(Some(number));
        }
    }
    for (first, second) in &program.system_synchronizes {
        for a in &threads[*first] {
            for b in &threads[*second] {
                execution.system_synchronizes(*a, *b);
            }
        }
    }
    // A path too long to judge is taken at its word.
    execution.judge(options).map_or(true, |judgement| judgement.consistent())
}
