//! Events of one combination of paths: everything that is fixed before reads-from is chosen.

use crate::model::{BarrierInstance, Covers, Domain, DomainOperation, Event, LocationSet};
use crate::scope::Scope;

use super::barrier::{Passed, Progress};
use super::path::{Expression, ExpressionId, Path, Paths, Step};
use super::program::{Access, Comparison, Instruction, LitmusProgram, Pc};

/// A read whose source is to be chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadSlot {
    pub event: usize,
    pub location: u32,
}

/// A branch condition that must hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assumption {
    pub thread: usize,
    pub comparison: Comparison,
    pub a: ExpressionId,
    pub b: ExpressionId,
    pub holds: bool,
}

/// The events of one combination of paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Skeleton {
    pub events: Vec<Event>,
    /// Thread and instruction of each event.
    pub origin: Vec<(usize, Pc)>,
    /// What each event writes.
    pub written: Vec<Option<(usize, ExpressionId)>>,
    pub reads: Vec<ReadSlot>,
    /// The read (index into `reads`) that is the n-th of a thread.
    pub read_of: Vec<Vec<usize>>,
    pub assumptions: Vec<Assumption>,
    /// The registers where each thread stopped.
    pub registers: Vec<Vec<ExpressionId>>,
    pub system_synchronizes: Vec<(usize, usize)>,
}

pub(super) fn access_event(
    program: &LitmusProgram,
    thread: usize,
    access: &Access,
    read: bool,
    write: bool,
) -> Event {
    let variable = &program.variables[access.variable];
    let locations = LocationSet::one(variable.location);
    let blank = Event::read(program.agent(thread), locations, access.variable as u32, access.class);
    Event {
        read,
        write,
        atomic: access.atomic,
        non_private: access.non_private,
        available: access.available,
        visible: access.visible,
        scope: access.scope,
        semantics: access.semantics,
        ..blank
    }
}

/// The event of a memory barrier or of a device-domain operation.
pub(super) fn fixed_event(program: &LitmusProgram, thread: usize, pc: Pc) -> Option<Event> {
    let agent = program.agent(thread);
    Some(match &program.threads[thread].code[pc] {
        Instruction::MemoryBarrier(scope, semantics) => Event::fence(agent, *scope, *semantics),
        Instruction::AvailableDevice => {
            Event::domain(agent, DomainOperation::Availability(Domain::Device, Covers::All))
        }
        Instruction::VisibleDevice => {
            Event::domain(agent, DomainOperation::Visibility(Domain::Device, Covers::All))
        }
        _ => return None,
    })
}

/// The event of a control barrier.
pub(super) fn barrier_event(
    program: &LitmusProgram,
    thread: usize,
    pc: Pc,
    instance: u32,
    arrives: bool,
) -> Option<Event> {
    let Instruction::ControlBarrier { scope, semantics, .. } = &program.threads[thread].code[pc] else {
        return None;
    };
    let barrier = BarrierInstance { instance, execution: Scope::Workgroup, arrives, waits: true };
    Some(Event::barrier(program.agent(thread), barrier, *scope, *semantics))
}

impl Skeleton {
    /// The events of `paths` as far as `progress` lets them run. `arrivals` holds, for each passed barrier,
    /// which members count as arrivals.
    pub fn new(
        program: &LitmusProgram,
        paths: &[&Path],
        progress: &Progress,
        arrivals: &[Vec<bool>],
    ) -> Skeleton {
        let mut skeleton = Skeleton::default();
        for (thread, path) in paths.iter().enumerate() {
            let mut reads = Vec::new();
            for (index, step) in path.steps.iter().take(progress.steps[thread]).enumerate() {
                match step {
                    Step::Access { pc, access, read, write } => {
                        if read.is_some() {
                            let location = program.variables[access.variable].location;
                            reads.push(skeleton.reads.len());
                            skeleton.reads.push(ReadSlot { event: skeleton.events.len(), location });
                        }
                        let event = access_event(program, thread, access, read.is_some(), write.is_some());
                        skeleton.push(event, thread, *pc, write.map(|written| (thread, written)));
                    }
                    Step::Fixed { pc } => {
                        if let Some(event) = fixed_event(program, thread, *pc) {
                            skeleton.push(event, thread, *pc, None);
                        }
                    }
                    Step::Barrier { pc, .. } => {
                        let (instance, arrives) = membership(&progress.passed, arrivals, thread, index);
                        if let Some(event) = barrier_event(program, thread, *pc, instance, arrives) {
                            skeleton.push(event, thread, *pc, None);
                        }
                    }
                    Step::Assume { comparison, a, b, holds } => skeleton.assumptions.push(Assumption {
                        thread,
                        comparison: *comparison,
                        a: *a,
                        b: *b,
                        holds: *holds,
                    }),
                }
            }
            let registers = match path.steps.get(progress.steps[thread]) {
                Some(Step::Barrier { registers, .. }) => registers,
                _ => &path.registers,
            };
            skeleton.registers.push(registers.clone());
            skeleton.read_of.push(reads);
        }
        for (first, second) in &program.system_synchronizes {
            for (a, from) in skeleton.origin.iter().enumerate() {
                for (b, to) in skeleton.origin.iter().enumerate() {
                    if from.0 == *first && to.0 == *second {
                        skeleton.system_synchronizes.push((a, b));
                    }
                }
            }
        }
        skeleton
    }

    fn push(&mut self, event: Event, thread: usize, pc: Pc, written: Option<(usize, ExpressionId)>) {
        self.events.push(event);
        self.origin.push((thread, pc));
        self.written.push(written);
    }

    /// Evaluates an expression of a thread, given the values of reads.
    pub fn evaluate(
        &self,
        paths: &[Paths],
        thread: usize,
        expression: ExpressionId,
        read: &mut dyn FnMut(usize) -> Option<i64>,
    ) -> Option<i64> {
        let expressions = &paths[thread].expressions;
        let mut leaf = |expression: ExpressionId| match expressions[expression] {
            Expression::Constant(value) => Some(Some(value)),
            Expression::Read(local) => Some(self.read_of[thread].get(local).and_then(|index| read(*index))),
            Expression::Apply(..) => None,
        };
        let Expression::Apply(operation, a, b) = expressions[expression] else { return leaf(expression)? };
        let applied = |expression: ExpressionId| matches!(expressions[expression], Expression::Apply(..));
        if a != b && !applied(a) && !applied(b) {
            return Some(operation.apply(leaf(a)??, leaf(b)??));
        }
        // Operands have smaller numbers: what is needed is found downwards and evaluated upwards, each
        // expression once.
        let mut needed = vec![false; expression + 1];
        needed[expression] = true;
        for index in (0..=expression).rev() {
            if let (true, Expression::Apply(_, a, b)) = (needed[index], expressions[index]) {
                (needed[a], needed[b]) = (true, true);
            }
        }
        let mut values = vec![0; expression + 1];
        for index in (0..=expression).filter(|index| needed[*index]) {
            values[index] = match expressions[index] {
                Expression::Apply(operation, a, b) => operation.apply(values[a], values[b]),
                _ => leaf(index)??,
            };
        }
        Some(values[expression])
    }
}

fn membership(passed: &[Passed], arrivals: &[Vec<bool>], thread: usize, step: usize) -> (u32, bool) {
    for (index, passed) in passed.iter().enumerate() {
        if let Some(member) = passed.members.iter().position(|member| *member == (thread, step)) {
            return (index as u32, arrivals[index][member]);
        }
    }
    (u32::MAX, true)
}
