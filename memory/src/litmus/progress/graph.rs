//! The graph of reachable states of the relaxed machine.

use std::collections::HashMap;

use super::{Bounds, ProgressModel, Stuck, permitted};
use crate::litmus::program::{Instruction, LitmusProgram, Operand, Update};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct ThreadState {
    pub pc: usize,
    pub registers: Vec<i64>,
    pub started: bool,
    /// Waits at the control barrier at `pc`.
    pub waiting: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct State {
    pub threads: Vec<ThreadState>,
    /// Per location: the values still of interest, oldest first.
    pub values: Vec<Vec<i64>>,
    /// Per location and thread: how many of the newest values it may not go back behind (0: only the newest).
    pub lag: Vec<Vec<usize>>,
    /// Arrivals at quorum barriers so far, by barrier.
    pub arrivals: Vec<(BarrierName, i64)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub thread: usize,
    pub pc: usize,
    /// How far behind the newest value the step read, if it read.
    pub behind: usize,
    pub to: usize,
}

pub(super) struct Graph {
    pub states: Vec<State>,
    pub edges: Vec<Vec<Edge>>,
    /// How each state was first reached.
    pub parent: Vec<Option<(usize, Edge)>>,
    pub complete: bool,
}

/// A control barrier at which threads meet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct BarrierName {
    /// The first thread of the workgroup.
    workgroup: usize,
    instance: String,
    resource: Option<i64>,
}

/// The barrier at `pc`, and its quorum.
fn barrier_name(
    program: &LitmusProgram,
    thread: usize,
    pc: usize,
    registers: &[i64],
) -> (BarrierName, Option<i64>) {
    let workgroup =
        (0..program.threads.len()).find(|other| program.same_instance(thread, *other, 1)).unwrap_or(thread);
    let (instance, resource, quorum) = match &program.threads[thread].code[pc] {
        Instruction::ControlBarrier { instance, resource, quorum, .. } => {
            let value = |operand: &Operand| operand_value(*operand, registers);
            (instance.clone(), resource.as_ref().map(value), quorum.as_ref().map(value))
        }
        _ => (String::new(), None, None),
    };
    (BarrierName { workgroup, instance, resource }, quorum)
}

pub(super) fn operand_value(operand: Operand, registers: &[i64]) -> i64 {
    match operand {
        Operand::Constant(value) => value,
        Operand::Register(register) => registers[register],
    }
}

impl Graph {
    pub fn explore(program: &LitmusProgram, bounds: &Bounds) -> Graph {
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

    pub fn path(&self, mut state: usize) -> Vec<Edge> {
        let mut path = Vec::new();
        while let Some((from, edge)) = self.parent[state] {
            path.push(edge);
            state = from;
        }
        path.reverse();
        path
    }

    pub fn stuck(
        &self,
        program: &LitmusProgram,
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

    /// The strongly connected components of the graph of fresh steps of the threads in `subset`, without
    /// single states that do not lead to themselves. Earliest reached state first in each.
    pub fn components(&self, subset: u32) -> Vec<Vec<usize>> {
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
    pub fn ended(&self, program: &LitmusProgram, thread: usize) -> bool {
        self.threads[thread].pc >= program.threads[thread].code.len()
    }

    /// The states after one step of a thread: one instruction that others can see, and the local ones after
    /// it.
    pub fn successors(&self, program: &LitmusProgram, thread: usize, window: usize) -> Vec<(Edge, State)> {
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
    pub fn append(&mut self, location: usize, thread: usize, value: i64, window: usize) {
        self.values[location].push(value);
        for (other, lag) in self.lag[location].iter_mut().enumerate() {
            *lag = if other == thread { 0 } else { *lag + 1 };
        }
        self.trim(location, window);
    }

    pub fn trim(&mut self, location: usize, window: usize) {
        for lag in &mut self.lag[location] {
            *lag = (*lag).min(window - 1);
        }
        let keep = 1 + self.lag[location].iter().max().copied().unwrap_or(0);
        let values = &mut self.values[location];
        if values.len() > keep {
            values.drain(..values.len() - keep);
        }
    }

    /// Runs instructions that no other thread can see, up to a bound (an endless local loop is a step that
    /// leads nowhere new).
    pub fn run_local(&mut self, program: &LitmusProgram, thread: usize) {
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
    pub fn arrive(&mut self, program: &LitmusProgram, thread: usize) {
        let name = |state: &State, t: usize| {
            barrier_name(program, t, state.threads[t].pc, &state.threads[t].registers)
        };
        let (here, quorum) = name(self, thread);
        let waiting: Vec<usize> = (0..program.threads.len())
            .filter(|t| self.threads[*t].waiting && name(self, *t).0 == here)
            .collect();
        let released = match quorum {
            Some(quorum) => {
                // Arrivals count for good: who comes later passes at once.
                let count = match self.arrivals.iter_mut().find(|(known, _)| *known == here) {
                    Some((_, count)) => {
                        *count = (*count + 1).min(quorum);
                        *count
                    }
                    None => {
                        self.arrivals.push((here, 1.min(quorum)));
                        self.arrivals.sort_unstable();
                        1
                    }
                };
                count >= quorum
            }
            None => (0..program.threads.len())
                .filter(|t| program.same_instance(thread, *t, 1))
                .filter(|t| {
                    program.threads[*t].code.iter().any(|instruction| match instruction {
                        Instruction::ControlBarrier { instance, resource, .. } => {
                            *instance == here.instance
                                && match (resource, here.resource) {
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
