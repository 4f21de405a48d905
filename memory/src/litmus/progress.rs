//! Termination under a progress model.
//!
//! A program fails to terminate when some execution runs for ever, or is stuck at a control barrier, although every thread to which the
//! progress model guarantees progress keeps being scheduled and every write eventually becomes visible. The search builds the graph of
//! reachable states of a relaxed machine (each location has a bounded window of past values, each thread a position in it) and looks for
//! a cycle that is *fair*: in it every read returns the newest value, and the threads that do not move are terminated, blocked, or not
//! guaranteed progress.
//!
//! The machine ignores synchronisation, so it can be too weak but not too strong: "terminates" holds as far as the windows reach, and a
//! cycle that starts from stale values is confirmed by the axioms before it counts.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use crate::model::{Execution, ModelOptions};

use super::program::{Instruction, Operand, Program, Update};
use super::skeleton::{access_event, barrier_event, fixed_event};

/// To which threads progress is guaranteed, at every level of the scope hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProgressModel {
    /// Every thread.
    Fair,
    /// Occupancy-bound execution: every thread that has started.
    Obe,
    /// Linear occupancy-bound execution: every thread that has started, and those with a lower number.
    Lobe,
    /// Heterogeneous system architecture: the thread with the lowest number among those that can run.
    Hsa,
    /// Both of the last guarantees: `hsa` and `obe`.
    HsaObe,
}

impl ProgressModel {
    /// Every model.
    pub const ALL: [ProgressModel; 5] = [
        ProgressModel::Fair,
        ProgressModel::Obe,
        ProgressModel::Lobe,
        ProgressModel::Hsa,
        ProgressModel::HsaObe,
    ];

    /// How the command line and expectations spell it.
    pub fn name(self) -> &'static str {
        match self {
            ProgressModel::Fair => "fair",
            ProgressModel::Obe => "obe",
            ProgressModel::Lobe => "lobe",
            ProgressModel::Hsa => "hsa",
            ProgressModel::HsaObe => "hsa-obe",
        }
    }
}

impl fmt::Display for ProgressModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no progress model has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no progress model is called `{0}`; the models are fair, obe, lobe, hsa, hsa-obe")]
pub struct UnknownProgressModel(pub String);

impl FromStr for ProgressModel {
    type Err = UnknownProgressModel;

    fn from_str(name: &str) -> Result<ProgressModel, UnknownProgressModel> {
        let spelled = name.replace('_', "-");
        let found = ProgressModel::ALL.into_iter().find(|model| model.name() == spelled);
        found.ok_or_else(|| UnknownProgressModel(name.to_owned()))
    }
}

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Values of a location that a thread may lag behind.
    pub window: usize,
    /// States.
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
    /// States visited.
    pub states: usize,
}

/// Whether every execution terminates.
pub fn terminates(
    program: &Program,
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
fn synchronises(program: &Program) -> bool {
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

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct ThreadState {
    pc: usize,
    registers: Vec<i64>,
    started: bool,
    /// Waits at the control barrier at `pc`.
    waiting: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    threads: Vec<ThreadState>,
    /// Per location: the values still of interest, oldest first.
    values: Vec<Vec<i64>>,
    /// Per location and thread: how many of the newest values it may not go back behind (0: only the newest).
    lag: Vec<Vec<usize>>,
    /// Arrivals at quorum barriers so far, by barrier.
    arrivals: Vec<(usize, i64)>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    thread: usize,
    pc: usize,
    /// How far behind the newest value the step read, if it read.
    behind: usize,
    to: usize,
}

struct Graph {
    states: Vec<State>,
    edges: Vec<Vec<Edge>>,
    /// How each state was first reached.
    parent: Vec<Option<(usize, Edge)>>,
    complete: bool,
}

/// The instances of named barriers with a quorum, by workgroup: how `State::arrivals` names them.
fn barrier_key(
    program: &Program,
    thread: usize,
    pc: usize,
    registers: &[i64],
) -> (usize, String, Option<i64>, Option<i64>) {
    let workgroup =
        (0..program.threads.len()).find(|other| program.same_instance(thread, *other, 1)).unwrap_or(thread);
    match &program.threads[thread].code[pc] {
        Instruction::ControlBarrier { instance, resource, quorum, .. } => {
            let value = |operand: &Operand| operand_value(*operand, registers);
            (workgroup, instance.clone(), resource.as_ref().map(value), quorum.as_ref().map(value))
        }
        _ => (workgroup, String::new(), None, None),
    }
}

fn operand_value(operand: Operand, registers: &[i64]) -> i64 {
    match operand {
        Operand::Constant(value) => value,
        Operand::Register(register) => registers[register],
    }
}

impl Graph {
    fn explore(program: &Program, bounds: &Bounds) -> Graph {
        let threads: Vec<ThreadState> = program
            .threads
            .iter()
            .map(|thread| ThreadState {
                pc: 0,
                registers: thread.initial.clone(),
                started: false,
                waiting: false,
            })
            .collect();
        let count = threads.len();
        let initial = State {
            threads,
            values: program.initial.iter().map(|value| vec![*value]).collect(),
            lag: vec![vec![0; count]; program.initial.len()],
            arrivals: Vec::new(),
        };
        let mut known: HashMap<State, usize, rustc_hash::FxBuildHasher> = HashMap::default();
        known.insert(initial.clone(), 0);
        let mut graph =
            Graph { states: vec![initial], edges: Vec::new(), parent: vec![None], complete: true };
        let mut next = 0;
        while next < graph.states.len() {
            let mut edges = Vec::new();
            for thread in 0..count {
                for (mut edge, state) in graph.states[next].successors(program, thread, bounds.window) {
                    let to = match known.get(&state) {
                        Some(to) => *to,
                        None if graph.states.len() >= bounds.states => {
                            graph.complete = false;
                            continue;
                        }
                        None => {
                            let to = graph.states.len();
                            known.insert(state.clone(), to);
                            graph.states.push(state);
                            graph.parent.push(Some((next, Edge { to, ..edge })));
                            to
                        }
                    };
                    edge.to = to;
                    edges.push(edge);
                }
            }
            graph.edges.push(edges);
            next += 1;
        }
        graph
    }

    fn path(&self, mut state: usize) -> Vec<Edge> {
        let mut path = Vec::new();
        while let Some((from, edge)) = self.parent[state] {
            path.push(edge);
            state = from;
        }
        path.reverse();
        path
    }

    fn stuck(
        &self,
        program: &Program,
        model: ProgressModel,
        confirm: &dyn Fn(&[Edge]) -> bool,
    ) -> Option<Stuck> {
        let threads = program.threads.len();
        let blocked = |state: &State| (0..threads).filter(|t| state.threads[*t].waiting).collect::<Vec<_>>();
        for (index, state) in self.states.iter().enumerate() {
            let stays = (0..threads).all(|t| state.ended(program, t) || state.threads[t].waiting);
            if stays && !blocked(state).is_empty() {
                let path = self.path(index);
                if confirm(&path) {
                    return Some(Stuck {
                        prefix: path.iter().map(|edge| (edge.thread, edge.pc)).collect(),
                        running: Vec::new(),
                        blocked: blocked(state),
                        stopped: Vec::new(),
                    });
                }
            }
        }
        // Few threads first: they make the clearest witnesses.
        let mut subsets: Vec<u32> = (1..1u32 << threads.min(16)).collect();
        subsets.sort_by_key(|subset| (subset.count_ones(), *subset));
        for subset in subsets {
            for component in self.components(subset) {
                let members: std::collections::HashSet<usize, rustc_hash::FxBuildHasher> =
                    component.iter().copied().collect();
                let mut moves = 0u32;
                for state in &component {
                    for edge in &self.edges[*state] {
                        if edge.behind == 0 && subset >> edge.thread & 1 != 0 && members.contains(&edge.to) {
                            moves |= 1 << edge.thread;
                        }
                    }
                }
                if moves != subset {
                    continue;
                }
                let state = &self.states[component[0]];
                let running: Vec<usize> = (0..threads).filter(|t| subset >> t & 1 != 0).collect();
                let stopped: Vec<usize> = (0..threads)
                    .filter(|t| {
                        subset >> t & 1 == 0 && !state.ended(program, *t) && !state.threads[*t].waiting
                    })
                    .collect();
                if !permitted(program, model, state, &running, &stopped) {
                    continue;
                }
                let path = self.path(component[0]);
                if confirm(&path) {
                    return Some(Stuck {
                        prefix: path.iter().map(|edge| (edge.thread, edge.pc)).collect(),
                        running,
                        blocked: blocked(state),
                        stopped,
                    });
                }
            }
        }
        None
    }

    /// The strongly connected components of the graph of fresh steps of the threads in `subset`, without single states that do not
    /// lead to themselves. Earliest reached state first in each.
    fn components(&self, subset: u32) -> Vec<Vec<usize>> {
        let n = self.states.len();
        let follow = |state: usize| {
            self.edges[state].iter().filter(|e| e.behind == 0 && subset >> e.thread & 1 != 0).map(|e| e.to)
        };
        let (mut index, mut low) = (vec![usize::MAX; n], vec![0usize; n]);
        let mut on_stack = vec![false; n];
        let (mut stack, mut counter, mut components) = (Vec::new(), 0, Vec::new());
        for root in 0..n {
            if index[root] != usize::MAX {
                continue;
            }
            let mut work: Vec<(usize, Vec<usize>)> = vec![(root, follow(root).collect())];
            index[root] = counter;
            low[root] = counter;
            counter += 1;
            stack.push(root);
            on_stack[root] = true;
            while let Some((state, successors)) = work.last_mut() {
                let state = *state;
                if let Some(to) = successors.pop() {
                    if index[to] == usize::MAX {
                        index[to] = counter;
                        low[to] = counter;
                        counter += 1;
                        stack.push(to);
                        on_stack[to] = true;
                        work.push((to, follow(to).collect()));
                    } else if on_stack[to] {
                        low[state] = low[state].min(index[to]);
                    }
                    continue;
                }
                work.pop();
                if let Some((parent, _)) = work.last() {
                    low[*parent] = low[*parent].min(low[state]);
                }
                if low[state] == index[state] {
                    let mut component = Vec::new();
                    while let Some(member) = stack.pop() {
                        on_stack[member] = false;
                        component.push(member);
                        if member == state {
                            break;
                        }
                    }
                    if component.len() > 1 || follow(state).any(|to| to == state) {
                        component.sort_unstable();
                        components.push(component);
                    }
                }
            }
        }
        components
    }
}

impl State {
    fn ended(&self, program: &Program, thread: usize) -> bool {
        self.threads[thread].pc >= program.threads[thread].code.len()
    }

    /// The states after one step of a thread: one instruction that others can see, and the local ones after it.
    fn successors(&self, program: &Program, thread: usize, window: usize) -> Vec<(Edge, State)> {
        if self.ended(program, thread) || self.threads[thread].waiting {
            return Vec::new();
        }
        let code = &program.threads[thread].code;
        let pc = self.threads[thread].pc;
        let edge = Edge { thread, pc, behind: 0, to: 0 };
        let mut next = self.clone();
        next.threads[thread].started = true;
        let operand = |operand: &Operand| operand_value(*operand, &self.threads[thread].registers);
        match &code[pc] {
            Instruction::Load(access, register) => {
                let location = program.variables[access.variable].location as usize;
                (0..=self.lag[location][thread])
                    .map(|behind| {
                        let mut next = next.clone();
                        let newest = self.values[location].len() - 1;
                        next.threads[thread].registers[*register] = self.values[location][newest - behind];
                        next.lag[location][thread] = behind;
                        next.trim(location, window);
                        next.threads[thread].pc += 1;
                        next.run_local(program, thread);
                        (Edge { behind, ..edge }, next)
                    })
                    .collect()
            }
            Instruction::Store(access, value) => {
                let location = program.variables[access.variable].location as usize;
                next.append(location, thread, operand(value), window);
                next.threads[thread].pc += 1;
                next.run_local(program, thread);
                vec![(edge, next)]
            }
            Instruction::ReadModifyWrite(access, register, update, value) => {
                let location = program.variables[access.variable].location as usize;
                let old = *self.values[location].last().unwrap_or(&0);
                let new = match update {
                    Update::Exchange => operand(value),
                    Update::Apply(operation) => operation.apply(old, operand(value)),
                };
                next.append(location, thread, new, window);
                next.threads[thread].registers[*register] = old;
                next.threads[thread].pc += 1;
                next.run_local(program, thread);
                vec![(edge, next)]
            }
            Instruction::ControlBarrier { .. } => {
                next.threads[thread].waiting = true;
                next.arrive(program, thread);
                vec![(edge, next)]
            }
            Instruction::MemoryBarrier(..) | Instruction::AvailableDevice | Instruction::VisibleDevice => {
                next.threads[thread].pc += 1;
                next.run_local(program, thread);
                vec![(edge, next)]
            }
            _ => {
                next.run_local(program, thread);
                vec![(edge, next)]
            }
        }
    }

    /// Appends a write: other threads may still read what they could before.
    fn append(&mut self, location: usize, thread: usize, value: i64, window: usize) {
        self.values[location].push(value);
        for (other, lag) in self.lag[location].iter_mut().enumerate() {
            *lag = if other == thread { 0 } else { *lag + 1 };
        }
        self.trim(location, window);
    }

    fn trim(&mut self, location: usize, window: usize) {
        for lag in &mut self.lag[location] {
            *lag = (*lag).min(window - 1);
        }
        let keep = 1 + self.lag[location].iter().max().copied().unwrap_or(0);
        let values = &mut self.values[location];
        if values.len() > keep {
            values.drain(..values.len() - keep);
        }
    }

    /// Runs instructions that no other thread can see, up to a bound (an endless local loop is a step that leads nowhere new).
    fn run_local(&mut self, program: &Program, thread: usize) {
        let code = &program.threads[thread].code;
        let state = &mut self.threads[thread];
        for _ in 0..4 * code.len() + 16 {
            match code.get(state.pc) {
                Some(Instruction::Local(register, operation, a, b)) => {
                    let (a, b) = (operand_value(*a, &state.registers), operand_value(*b, &state.registers));
                    state.registers[*register] = operation.apply(a, b);
                    state.pc += 1;
                }
                Some(Instruction::Goto(target)) => state.pc = *target,
                Some(Instruction::Branch(comparison, a, b, target)) => {
                    let (a, b) = (operand_value(*a, &state.registers), operand_value(*b, &state.registers));
                    state.pc = if comparison.holds(a, b) { *target } else { state.pc + 1 };
                }
                Some(Instruction::Label(_)) => state.pc += 1,
                _ => return,
            }
        }
    }

    /// Releases the barrier that `thread` arrived at, if it was the last one needed.
    fn arrive(&mut self, program: &Program, thread: usize) {
        let key = |state: &State, t: usize| {
            barrier_key(program, t, state.threads[t].pc, &state.threads[t].registers)
        };
        let here = key(self, thread);
        let waiting: Vec<usize> = (0..program.threads.len())
            .filter(|t| self.threads[*t].waiting && key(self, *t) == here)
            .collect();
        let released = match here.3 {
            Some(quorum) => {
                // Named by the first thread and instruction of the instance; arrivals count for good.
                let name = here.0 * 1_000_003
                    + here.1.bytes().fold(0usize, |hash, b| hash * 31 + b as usize)
                    + here.2.unwrap_or(0) as usize * 7919;
                match self.arrivals.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, count)) => *count = (*count + 1).min(quorum),
                    None => {
                        self.arrivals.push((name, 1.min(quorum)));
                        self.arrivals.sort_unstable();
                    }
                }
                self.arrivals.iter().any(|(known, count)| *known == name && *count >= quorum)
            }
            None => (0..program.threads.len())
                .filter(|t| program.same_instance(thread, *t, 1))
                .filter(|t| {
                    program.threads[*t].code.iter().any(|instruction| match instruction {
                        Instruction::ControlBarrier { instance, resource, .. } => {
                            *instance == here.1
                                && match (resource, here.2) {
                                    (None, None) => true,
                                    (Some(Operand::Constant(value)), Some(wanted)) => *value == wanted,
                                    _ => false,
                                }
                        }
                        _ => false,
                    })
                })
                .all(|t| waiting.contains(&t)),
        };
        if released {
            for t in waiting {
                self.threads[t].waiting = false;
                self.threads[t].pc += 1;
                self.run_local(program, t);
            }
        }
    }
}

/// Whether the progress model lets exactly `running` run for ever while `stopped` could run and never does.
fn permitted(
    program: &Program,
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
    fn new(program: &Program, threads: &[usize], level: usize) -> Group {
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
fn allowed(program: &Program, options: &ModelOptions, path: &[Edge]) -> bool {
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
