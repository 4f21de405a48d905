//! `--by machine`: explores what the modelled memory can do at run time, schedule by schedule.
//!
//! Every location has a [`History`], the same that check mode keeps: which entries a load or a
//! read-modify-write may read and where a write enters are decided there. What differs is who says what is
//! ordered: the axioms, on the whole execution so far, where check mode has its vector clocks. One
//! instruction executes at a time; which of the admissible entries it takes is a choice, and all are
//! explored.
//!
//! The positions in the histories are an order in which location-ordered, reads-from, from-reads and scoped
//! modification order all agree, so whatever the machine does the axioms allow: that is the property that
//! tests hold against [`super::axioms`]. What it does not do: instructions execute in program order, so load
//! buffering (a load that takes what a later store of its own thread leads to) and values out of thin air are
//! never seen.
//!
//! An instruction that no other thread's remaining code can interfere with executes at once, without an
//! alternative. Two schedules that lead to the same execution graph are one: states are remembered by their
//! reads-from and histories, not by the order in which they were reached.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::history::{Entry, History, Load, Position};
use crate::model::{Judgement, MAX_EVENTS, ModelOptions, RelationName};
use crate::race::{Record, ReleaseSequence};

use super::axioms::{Found, Goal, Limits};
use super::barrier::names;
use super::path::liveness;
use super::program::{Access, Condition, Instruction, LitmusProgram, Term, Update};
use super::skeleton::{access_event, barrier_event, fixed_event};
use super::witness::{self, Witness};

mod state;

use state::{Arrivals, BarrierKey, Future, State, ThreadState, future, value};

/// Explores the program.
pub fn search(program: &LitmusProgram, options: &ModelOptions, limits: &Limits, goal: &Goal<'_>) -> Found {
    let mut machine = Machine {
        program,
        options,
        limits,
        goal,
        observables: program.observables(),
        live: program.threads.iter().map(|thread| liveness(&thread.code, thread.registers.len())).collect(),
        future: program.threads.iter().map(|thread| future(program, &thread.code)).collect(),
        seen: HashSet::default(),
        found: Found { complete: true, ..Found::default() },
    };
    let mut state = State {
        threads: program
            .threads
            .iter()
            .map(|thread| ThreadState { registers: thread.initial.clone(), ..ThreadState::default() })
            .collect(),
        histories: vec![History::whole(); program.initial.len()],
        ..State::default()
    };
    for thread in 0..program.threads.len() {
        machine.run_local(&mut state, thread);
    }
    let _ = machine.explore(&state);
    machine.found
}

struct Machine<'a> {
    program: &'a LitmusProgram,
    options: &'a ModelOptions,
    limits: &'a Limits,
    goal: &'a Goal<'a>,
    observables: Vec<Term>,
    live: Vec<Vec<Vec<bool>>>,
    /// Per thread and place: what the code from there on may access.
    future: Vec<Vec<Future>>,
    seen: HashSet<Vec<u32>, rustc_hash::FxBuildHasher>,
    found: Found,
}

/// Event `number`, as histories name accesses: each event is of a kind of its own.
fn record(number: usize) -> Record {
    Record { agent: 0, time: 0, kind: number as u32 }
}

/// The write of event `number`; `takes`: it is a read-modify-write.
fn entry(number: usize, takes: bool) -> Entry {
    Entry {
        record: record(number),
        bytes: 1,
        value: number as u32,
        position: 0,
        release_sequence: ReleaseSequence::default(),
        name: 0,
        takes,
        sequence: 0,
    }
}

/// The event that made an entry.
fn event(entry: &Entry) -> usize {
    entry.record.kind as usize
}

/// The least position at the location that event `number` may read or come directly behind.
fn floors(state: &State, location: usize, number: usize, judgement: &Judgement) -> [Position; 4] {
    let load = Load::explored(0, 1, true, true);
    let ordered = |earlier: &Record| judgement.location_ordered(earlier.kind, number as u32);
    state.histories[location].floors(&load, ordered)
}

/// Whether writes are mutually ordered with each other, and with event `number`.
fn mutual(judgement: &Judgement, number: usize) -> impl Fn(&Entry, Option<&Entry>) -> bool {
    let mutual = judgement.relation(RelationName::MutuallyOrdered);
    move |a, b| mutual.contains(event(a) as u32, b.map_or(number, event) as u32)
}

impl Machine<'_> {
    fn explore(&mut self, state: &State) -> ControlFlow<()> {
        if !self.seen.insert(state.key()) {
            return ControlFlow::Continue(());
        }
        if self.found.judged >= self.limits.candidates || state.events.len() > MAX_EVENTS {
            self.found.complete = false;
            return ControlFlow::Break(());
        }
        let parked = state.threads.iter().any(|thread| thread.parked);
        if parked && !matches!(self.goal, Goal::Race | Goal::RaceInOrder) {
            return ControlFlow::Continue(());
        }
        let mut ready = Vec::new();
        for thread in 0..state.threads.len() {
            let waits = self.program.system_synchronizes.iter().any(|(first, second)| {
                *second == thread
                    && *first != thread
                    && !state.ended(self.program, *first)
                    && !state.threads[*first].parked
            });
            let own = &state.threads[thread];
            if state.ended(self.program, thread) || own.waiting.is_some() || own.parked || waits {
                continue;
            }
            ready.push(thread);
        }
        if ready.is_empty() {
            return self.finish(state);
        }
        if let Some(alone) = ready.iter().find(|thread| self.independent(state, **thread)) {
            return self.step(state, *alone);
        }
        for thread in ready {
            self.step(state, thread)?;
        }
        ControlFlow::Continue(())
    }

    /// Whether nothing that other threads may still do interferes with the next instruction of this one.
    fn independent(&self, state: &State, thread: usize) -> bool {
        let others = |interferes: &dyn Fn(&Future) -> bool| {
            (0..state.threads.len())
                .filter(|other| *other != thread && !state.threads[*other].parked)
                .any(|other| interferes(&self.future[other][state.threads[other].pc]))
        };
        let code = &self.program.threads[thread].code;
        match &code[state.threads[thread].pc] {
            Instruction::Load(access, _) => {
                let location = self.program.variables[access.variable].location;
                !others(&|future| future.writes.contains(&location))
            }
            Instruction::Store(access, _) | Instruction::ReadModifyWrite(access, ..) => {
                let location = self.program.variables[access.variable].location;
                !others(&|future| future.writes.contains(&location) || future.reads.contains(&location))
            }
            Instruction::ControlBarrier { quorum, .. } => quorum.is_none(),
            _ => true,
        }
    }

    /// One instruction of a thread, in every way that memory allows.
    fn step(&mut self, state: &State, thread: usize) -> ControlFlow<()> {
        let program = self.program;
        let pc = state.threads[thread].pc;
        match &program.threads[thread].code[pc] {
            Instruction::Store(access, operand) => {
                let written = value(*operand, &state.threads[thread].registers);
                self.store(state, thread, access, written)
            }
            Instruction::Load(access, register) => self.load(state, thread, access, *register, None),
            Instruction::ReadModifyWrite(access, register, update, operand) => {
                let operand = value(*operand, &state.threads[thread].registers);
                self.load(state, thread, access, *register, Some((*update, operand)))
            }
            Instruction::ControlBarrier { .. } => {
                let mut next = state.clone();
                self.arrive(&mut next, thread);
                self.explore(&next)
            }
            _ => {
                let mut next = state.clone();
                if let Some(event) = fixed_event(program, thread, pc) {
                    next.push(thread, event);
                    next.threads[thread].pc += 1;
                }
                self.run_local(&mut next, thread);
                self.explore(&next)
            }
        }
    }

    fn judge(&mut self, state: &State) -> Option<Judgement> {
        self.found.judged += 1;
        let judged = state.execution(self.program).judge(self.options);
        if judged.is_err() {
            self.found.complete = false;
        }
        judged.ok()
    }

    fn store(&mut self, state: &State, thread: usize, access: &Access, written: i64) -> ControlFlow<()> {
        let location = self.program.variables[access.variable].location as usize;
        let mut next = state.clone();
        let number = next.push(thread, access_event(self.program, thread, access, false, true));
        next.events[number].written = Some(written);
        next.threads[thread].pc += 1;
        let places = if next.histories[location].entries().is_empty() {
            [0].into_iter().collect()
        } else {
            let Some(judgement) = self.judge(&next) else { return ControlFlow::Continue(()) };
            let [floor, ..] = floors(&next, location, number, &judgement);
            next.histories[location].places(1, floor, &mutual(&judgement, number))
        };
        for place in places.into_iter().rev() {
            let mut placed = next.clone();
            placed.histories[location].insert(place, entry(number, false), 0);
            self.run_local(&mut placed, thread);
            self.explore(&placed)?;
        }
        ControlFlow::Continue(())
    }

    /// The execution so far in which the access that comes next, event `number`, reads `source`.
    fn reading(&self, next: &State, number: usize, location: usize, source: Option<usize>) -> State {
        let mut next = next.clone();
        let write = source.map(|index| event(&next.histories[location].entries()[index]));
        next.events[number].source = Some(write);
        next.events[number].read = Some(match write {
            Some(write) => next.events[write].written.unwrap_or(0),
            None => self.program.initial[location],
        });
        next
    }

    /// A load, or with `update` a read-modify-write.
    fn load(
        &mut self,
        state: &State,
        thread: usize,
        access: &Access,
        register: usize,
        update: Option<(Update, i64)>,
    ) -> ControlFlow<()> {
        let location = self.program.variables[access.variable].location as usize;
        let mut next = state.clone();
        let number = next.push(thread, access_event(self.program, thread, access, true, update.is_some()));
        next.threads[thread].pc += 1;
        let acquires = access.atomic && access.semantics.acquire;
        let history = state.histories[location].clone();
        // What the access is ordered after does not depend on what it reads, unless it acquires.
        let mut judged: Option<Option<Judgement>> = None;
        let mut judge = |machine: &mut Self, source: Option<usize>| {
            if acquires || judged.is_none() {
                judged = Some(machine.judge(&machine.reading(&next, number, location, source)));
            }
            match judged.as_ref().and_then(Option::as_ref) {
                Some(judgement) => floors(&next, location, number, judgement),
                None => [Position::MAX; 4],
            }
        };
        let sources: Vec<(Option<usize>, Position)> = if history.entries().is_empty() {
            vec![(None, 0)]
        } else if update.is_some() {
            let Some(judgement) = self.judge(&next) else { return ControlFlow::Continue(()) };
            let mutual = mutual(&judgement, number);
            let mut floors = |source: Option<usize>, _| judge(self, source);
            let updates = history.updates(1, 0, &|_| true, &mut floors, &mutual);
            updates.iter().rev().map(|update| (update.from, update.place as Position)).collect()
        } else {
            let load = Load::explored(thread as u32, 1, access.atomic, acquires);
            let loaded = history.candidates(&load, 0, &mut |source| judge(self, source));
            loaded.iter().map(|loaded| (loaded.from, loaded.saw)).collect()
        };
        for (source, position) in sources {
            let mut next = self.reading(&next, number, location, source);
            let old = next.events[number].read.unwrap_or(0);
            match update {
                Some((update, operand)) => {
                    next.events[number].written = Some(match update {
                        Update::Exchange => operand,
                        Update::Apply(operation) => operation.apply(old, operand),
                    });
                    next.histories[location].insert(position as usize, entry(number, true), 0);
                }
                None => next.histories[location].read(record(number), 1, position, false),
            }
            next.threads[thread].registers[register] = old;
            self.run_local(&mut next, thread);
            self.explore(&next)?;
        }
        ControlFlow::Continue(())
    }

    /// A thread arrives at a control barrier; the last one needed releases it.
    fn arrive(&mut self, state: &mut State, thread: usize) {
        let program = self.program;
        let pc = state.threads[thread].pc;
        let Instruction::ControlBarrier { instance, resource, quorum, .. } =
            &program.threads[thread].code[pc]
        else {
            return;
        };
        let own = &mut state.threads[thread];
        let occurrence = match own.barriers.iter_mut().find(|(known, _)| known == instance) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                own.barriers.push((instance.clone(), 0));
                0
            }
        };
        let resource = resource.map(|operand| value(operand, &own.registers));
        let quorum = quorum.map(|operand| value(operand, &own.registers));
        let count = program.threads.len();
        let workgroup = (0..count).find(|other| program.same_instance(thread, *other, 1)).unwrap_or(thread);
        let key = BarrierKey { workgroup, instance: instance.clone(), occurrence, resource };
        if let Some(open) = state.arrivals.iter().find(|arrivals| arrivals.key == key) {
            let number = open.number;
            self.pass(state, thread, number, false);
            return;
        }
        state.threads[thread].waiting = Some(key.clone());
        let waiting: Vec<usize> =
            (0..count).filter(|other| state.threads[*other].waiting.as_ref() == Some(&key)).collect();
        let released = match quorum {
            Some(quorum) => waiting.len() as i64 >= quorum,
            None => (0..count)
                .filter(|other| {
                    program.same_instance(thread, *other, 1)
                        && names(program, *other, &key.instance, key.resource)
                })
                .all(|other| waiting.contains(&other)),
        };
        if released {
            let number = state.instances;
            state.instances += 1;
            if quorum.is_some() {
                state.arrivals.push(Arrivals { key, number });
            }
            for member in waiting {
                state.threads[member].waiting = None;
                self.pass(state, member, number, true);
            }
        }
    }

    fn pass(&mut self, state: &mut State, thread: usize, number: u32, arrives: bool) {
        let pc = state.threads[thread].pc;
        if let Some(event) = barrier_event(self.program, thread, pc, number, arrives) {
            state.push(thread, event);
        }
        state.threads[thread].pc += 1;
        self.run_local(state, thread);
    }

    /// Runs what no other thread can see, judging backward jumps.
    fn run_local(&mut self, state: &mut State, thread: usize) {
        let code = &self.program.threads[thread].code;
        loop {
            let events = state.threads[thread].events;
            let effect_since = |state: &State, since: usize| {
                let mut own = state.events.iter().filter(|done| done.thread == thread && done.index >= since);
                own.any(|done| done.event.write || done.event.barrier.is_some())
            };
            let own = &mut state.threads[thread];
            let pc = own.pc;
            let target = match code.get(pc) {
                Some(Instruction::Local(register, operation, a, b)) => {
                    own.registers[*register] =
                        operation.apply(value(*a, &own.registers), value(*b, &own.registers));
                    own.pc += 1;
                    continue;
                }
                Some(Instruction::Label(_)) => {
                    own.visits.retain(|(known, ..)| *known != pc);
                    let registers = own.registers.clone();
                    own.visits.push((pc, events, registers));
                    own.pc += 1;
                    continue;
                }
                Some(Instruction::Goto(target)) => *target,
                Some(Instruction::Branch(comparison, a, b, target)) => {
                    if !comparison.holds(value(*a, &own.registers), value(*b, &own.registers)) {
                        own.pc += 1;
                        continue;
                    }
                    *target
                }
                _ => return,
            };
            own.pc = target;
            if target > pc {
                continue;
            }
            let live = &self.live[thread][target];
            let visit = own.visits.iter().find(|(known, ..)| *known == target).cloned();
            own.jumps.retain(|(known, _)| *known >= pc || *known < target);
            let taken = match own.jumps.iter_mut().find(|(known, _)| *known == pc) {
                Some((_, taken)) => {
                    *taken += 1;
                    *taken
                }
                None => {
                    own.jumps.push((pc, 1));
                    1
                }
            };
            let idle = visit.is_some_and(|(_, since, registers)| {
                let own = &state.threads[thread].registers;
                let same =
                    registers.iter().zip(own).zip(live).all(|((before, now), live)| !live || before == now);
                same && !effect_since(state, since)
            });
            if idle || taken >= self.limits.unroll {
                self.found.cut |= !idle;
                state.threads[thread].parked = true;
                return;
            }
        }
    }

    /// Nothing can move.
    fn finish(&mut self, state: &State) -> ControlFlow<()> {
        let terminated =
            (0..state.threads.len()).all(|t| state.ended(self.program, t) && !state.threads[t].parked);
        if !terminated && !matches!(self.goal, Goal::Race | Goal::RaceInOrder) {
            return ControlFlow::Continue(());
        }
        let term = |term: Term| match term {
            Term::Constant(value) => Some(value),
            Term::Register(thread, register) => Some(state.threads[thread].registers[register]),
            Term::Memory(location) => Some(match state.histories[location as usize].entries().last() {
                Some(write) => state.events[event(write)].written.unwrap_or(0),
                None => self.program.initial[location as usize],
            }),
        };
        let holds = |condition: &Condition| condition.evaluate(&term) == Some(true);
        if self.program.filter.as_ref().is_some_and(|filter| !holds(filter)) {
            return ControlFlow::Continue(());
        }
        let values: Vec<i64> = self.observables.iter().map(|of| term(*of).unwrap_or(0)).collect();
        match self.goal {
            Goal::Outcomes => {
                self.found.outcomes.insert(values);
                return ControlFlow::Continue(());
            }
            Goal::State(condition, wanted) => {
                if holds(condition) != *wanted {
                    return ControlFlow::Continue(());
                }
            }
            Goal::StateInOrder(condition) => {
                if !holds(condition) {
                    return ControlFlow::Continue(());
                }
            }
            Goal::Race | Goal::RaceInOrder => {}
        }
        let Some(judgement) = self.judge(state) else { return ControlFlow::Continue(()) };
        let races = judgement.races();
        if matches!(self.goal, Goal::Race | Goal::RaceInOrder) && races.is_empty() {
            return ControlFlow::Continue(());
        }
        let labels = state
            .events
            .iter()
            .map(|done| {
                let mut label = witness::label(self.program, done.thread, done.pc);
                label.read = done.read;
                label.written = done.written;
                label
            })
            .collect();
        let mut reads_from = Vec::new();
        for (number, done) in state.events.iter().enumerate() {
            if let Some(source) = done.source {
                reads_from.push((source.map(|write| write as u32), number as u32));
            }
        }
        let order = judgement.relation(RelationName::ScopedModificationOrder);
        let modification = order
            .pairs()
            .filter(|(a, b)| {
                !(0..order.events() as u32).any(|c| order.contains(*a, c) && order.contains(c, *b))
            })
            .collect();
        self.found.witness = Some(Witness {
            execution: state.execution(self.program),
            options: *self.options,
            labels,
            reads_from,
            modification,
            races,
            names: self.observables.iter().map(|of| self.program.term_name(*of)).collect(),
            state: self.observables.iter().copied().zip(values).collect(),
        });
        ControlFlow::Break(())
    }
}
