//! States of the machine: threads, what they did, and the histories of all locations.

use std::collections::BTreeSet;

use crate::history::History;
use crate::litmus::program::{Access, Instruction, LitmusProgram, Operand};
use crate::model::{Event, Execution};

/// Where a read took its value: `None` is the initial value.
pub(super) type Source = Option<usize>;

#[derive(Clone, Debug)]
pub(super) struct Done {
    pub event: Event,
    pub thread: usize,
    pub pc: usize,
    /// The place of the event in its thread.
    pub index: usize,
    pub source: Option<Source>,
    pub read: Option<i64>,
    pub written: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ThreadState {
    pub pc: usize,
    pub registers: Vec<i64>,
    pub events: usize,
    /// The barrier at which the thread waits.
    pub waiting: Option<BarrierKey>,
    /// Repeats an iteration without effect, or reached the bound of a loop.
    pub parked: bool,
    pub jumps: Vec<(usize, usize)>,
    pub visits: Vec<(usize, usize, Vec<i64>)>,
    pub barriers: Vec<(String, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BarrierKey {
    pub workgroup: usize,
    pub instance: String,
    pub occurrence: usize,
    pub resource: Option<i64>,
}

/// A barrier that was released, or the arrivals at a quorum barrier.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    pub key: BarrierKey,
    pub number: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub threads: Vec<ThreadState>,
    pub events: Vec<Done>,
    /// Per location. Records in them are events, by their numbers.
    pub histories: Vec<History>,
    /// Released quorum barriers.
    pub arrivals: Vec<Arrivals>,
    pub instances: u32,
}

impl State {
    pub fn ended(&self, program: &LitmusProgram, thread: usize) -> bool {
        self.threads[thread].pc >= program.threads[thread].code.len()
    }

    /// What tells execution graphs apart, whatever order they were built in.
    pub fn key(&self) -> Vec<u32> {
        let name = |event: usize| {
            let done = &self.events[event];
            (done.thread as u32) << 16 | done.index as u32
        };
        let mut key = Vec::new();
        for (index, thread) in self.threads.iter().enumerate() {
            key.extend([u32::MAX, thread.pc as u32, thread.events as u32]);
            key.push(u32::from(thread.parked) | u32::from(thread.waiting.is_some()) << 1);
            for event in self.events.iter().filter(|done| done.thread == index) {
                if let Some(source) = event.source {
                    key.push(source.map_or(u32::MAX - 1, name));
                }
                if let Some(barrier) = event.event.barrier {
                    key.push(u32::from(barrier.arrives));
                }
            }
        }
        for history in &self.histories {
            key.push(u32::MAX);
            key.extend(history.entries().iter().map(|entry| name(super::event(entry))));
        }
        key
    }

    pub fn execution(&self, program: &LitmusProgram) -> Execution {
        let mut execution = Execution::new();
        for done in &self.events {
            execution.push(done.event.clone());
        }
        for (number, done) in self.events.iter().enumerate() {
            if let Some(Some(write)) = done.source {
                execution.reads_from(write as u32, number as u32);
            }
        }
        for (first, second) in &program.system_synchronizes {
            for (a, from) in self.events.iter().enumerate() {
                for (b, to) in self.events.iter().enumerate() {
                    if from.thread == *first && to.thread == *second {
                        execution.system_synchronizes(a as u32, b as u32);
                    }
                }
            }
        }
        let entries = self.histories.iter().flat_map(History::entries);
        execution.modification_order(entries.map(|entry| super::event(entry) as u32).collect());
        execution
    }

    pub fn push(&mut self, thread: usize, event: Event) -> usize {
        let own = &mut self.threads[thread];
        let (pc, index) = (own.pc, own.events);
        own.events += 1;
        self.events.push(Done { event, thread, pc, index, source: None, read: None, written: None });
        self.events.len() - 1
    }
}

/// What the code from some place on may access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Future {
    pub reads: BTreeSet<u32>,
    pub writes: BTreeSet<u32>,
}

pub(super) fn future(program: &LitmusProgram, code: &[Instruction]) -> Vec<Future> {
    let mut all = vec![Future::default(); code.len() + 1];
    loop {
        let before = all.clone();
        for (pc, instruction) in code.iter().enumerate().rev() {
            let location = |access: &Access| program.variables[access.variable].location;
            let mut now = match instruction {
                Instruction::Goto(target) => all[*target].clone(),
                _ => all[pc + 1].clone(),
            };
            match instruction {
                Instruction::Branch(_, _, _, target) => {
                    now.reads.extend(all[*target].reads.iter());
                    now.writes.extend(all[*target].writes.iter());
                }
                Instruction::Load(access, _) => {
                    now.reads.insert(location(access));
                }
                Instruction::Store(access, _) => {
                    now.writes.insert(location(access));
                }
                Instruction::ReadModifyWrite(access, ..) => {
                    now.reads.insert(location(access));
                    now.writes.insert(location(access));
                }
                _ => {}
            }
            all[pc] = now;
        }
        if all == before {
            return all;
        }
    }
}

pub(super) fn value(operand: Operand, registers: &[i64]) -> i64 {
    match operand {
        Operand::Constant(value) => value,
        Operand::Register(register) => registers[register],
    }
}
