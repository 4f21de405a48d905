//! The paths of one thread: its control flow unrolled, with the values that it reads as unknowns.
//!
//! Paths are followed with a list of those still to walk, not recursively: how long a program is does not
//! matter to the stack.
//!
//! A loop body is entered at most `unroll` times. An iteration that changes nothing (no write, no barrier,
//! the same live registers) is not repeated: the path that would is [`End::Spinning`], and what happens after
//! the loop is covered by the path that leaves it at once.

use rustc_hash::FxHashMap;

use super::program::{Access, Arithmetic, Comparison, Instruction, LitmusProgram, Operand, Pc, Update};

/// Index of an expression of its thread.
pub(super) type ExpressionId = usize;

/// A value in terms of what the thread reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Expression {
    Constant(i64),
    /// The value that the numbered read of the path returns.
    Read(usize),
    Apply(Arithmetic, ExpressionId, ExpressionId),
}

/// What a path does, in program order.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A memory access: the read's number on the path, the value written.
    Access { pc: Pc, access: Access, read: Option<usize>, write: Option<ExpressionId> },
    /// A memory barrier, `avdevice` or `visdevice`.
    Fixed { pc: Pc },
    /// A control barrier: the path's occurrence of its instance; resource and quorum of a named one.
    Barrier {
        pc: Pc,
        occurrence: usize,
        resource: Option<i64>,
        quorum: Option<i64>,
        registers: Vec<ExpressionId>,
    },
    /// A branch condition that the path assumes.
    Assume { comparison: Comparison, a: ExpressionId, b: ExpressionId, holds: bool },
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The thread terminates.
    Terminated,
    /// A loop would be entered once more than the bound.
    Bounded,
    /// An iteration without effect would repeat.
    Spinning,
}

/// One way of a thread through its branches and loops.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub steps: Vec<Step>,
    pub end: End,
    pub registers: Vec<ExpressionId>,
}

/// All paths of one thread; expressions are shared between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    pub expressions: Vec<Expression>,
    pub paths: Vec<Path>,
}

/// More paths, or longer ones, than the search takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyPaths;

const MAX_PATHS: usize = 50_000;

/// How many instructions may be walked for one thread, and how many steps its paths may have together.
const MAX_INSTRUCTIONS: usize = 2_000_000;

/// How many steps one path may have: with as many accesses no execution is judged any more.
const MAX_STEPS: usize = 4 * crate::model::MAX_EVENTS;

impl Paths {
    /// Explores thread `thread`. `domain` holds the values that an unknown barrier resource or quorum may
    /// have.
    pub fn explore(
        program: &LitmusProgram,
        thread: usize,
        unroll: usize,
        domain: &[i64],
    ) -> Result<Paths, TooManyPaths> {
        let code = &program.threads[thread].code;
        let mut heads = vec![false; code.len() + 1];
        for (pc, instruction) in code.iter().enumerate() {
            if let Instruction::Goto(target) | Instruction::Branch(_, _, _, target) = instruction {
                heads[*target] |= *target <= pc;
            }
        }
        let mut explorer = Explorer {
            code,
            heads,
            live: liveness(code, program.threads[thread].registers.len()),
            unroll,
            domain,
            paths: Paths::default(),
            interned: FxHashMap::default(),
            pending: Vec::new(),
            instructions: 0,
        };
        let registers =
            program.threads[thread].initial.iter().map(|value| explorer.constant(*value)).collect::<Vec<_>>();
        explorer.pending.push(Walk { registers, ..Walk::default() });
        while let Some(walk) = explorer.pending.pop() {
            explorer.run(walk)?;
        }
        Ok(explorer.paths)
    }
}

#[derive(Clone, Default)]
struct Walk {
    pc: Pc,
    registers: Vec<ExpressionId>,
    steps: Vec<Step>,
    reads: usize,
    /// How often each backward jump was taken, by its place.
    jumps: Vec<(Pc, usize)>,
    /// The last arrival at each loop head: place, steps so far, registers.
    visits: Vec<(Pc, usize, Vec<ExpressionId>)>,
    /// Occurrences of each barrier instance.
    barriers: Vec<(String, usize)>,
}

struct Explorer<'a> {
    code: &'a [Instruction],
    /// The places that a later instruction branches back to.
    heads: Vec<bool>,
    live: Vec<Vec<bool>>,
    unroll: usize,
    domain: &'a [i64],
    paths: Paths,
    interned: FxHashMap<Expression, ExpressionId>,
    /// Walks that parted from one that was followed first.
    pending: Vec<Walk>,
    instructions: usize,
}

impl Explorer<'_> {
    fn intern(&mut self, expression: Expression) -> ExpressionId {
        let expressions = &mut self.paths.expressions;
        *self.interned.entry(expression).or_insert_with(|| {
            expressions.push(expression);
            expressions.len() - 1
        })
    }

    fn constant(&mut self, value: i64) -> ExpressionId {
        self.intern(Expression::Constant(value))
    }

    fn operand(&mut self, walk: &Walk, operand: Operand) -> ExpressionId {
        match operand {
            Operand::Constant(value) => self.constant(value),
            Operand::Register(register) => walk.registers[register],
        }
    }

    fn apply(&mut self, operation: Arithmetic, a: ExpressionId, b: ExpressionId) -> ExpressionId {
        match (self.paths.expressions[a], self.paths.expressions[b]) {
            (Expression::Constant(a), Expression::Constant(b)) => self.constant(operation.apply(a, b)),
            _ => self.intern(Expression::Apply(operation, a, b)),
        }
    }

    fn known(&self, expression: ExpressionId) -> Option<i64> {
        match self.paths.expressions[expression] {
            Expression::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn finish(&mut self, walk: Walk, end: End) -> Result<(), TooManyPaths> {
        if self.paths.paths.len() >= MAX_PATHS {
            return Err(TooManyPaths);
        }
        self.paths.paths.push(Path { steps: walk.steps, end, registers: walk.registers });
        Ok(())
    }

    /// The walk at `target`, unless a backward jump ends it.
    fn jump(&mut self, mut walk: Walk, target: Pc) -> Result<Option<Walk>, TooManyPaths> {
        let from = walk.pc;
        if target <= from {
            if let Some((_, steps, registers)) = walk.visits.iter().rev().find(|(pc, ..)| *pc == target) {
                let effect = walk.steps[*steps..]
                    .iter()
                    .any(|step| matches!(step, Step::Access { write: Some(_), .. } | Step::Barrier { .. }));
                let same = registers
                    .iter()
                    .zip(&walk.registers)
                    .zip(&self.live[target])
                    .all(|((before, now), live)| !live || before == now);
                if !effect && same {
                    self.finish(walk, End::Spinning)?;
                    return Ok(None);
                }
            }
            walk.jumps.retain(|(pc, _)| *pc >= from || *pc < target);
            match walk.jumps.iter_mut().find(|(pc, _)| *pc == from) {
                Some((_, taken)) => *taken += 1,
                None => walk.jumps.push((from, 1)),
            }
            if walk.jumps.iter().any(|(pc, taken)| *pc == from && *taken >= self.unroll) {
                self.finish(walk, End::Bounded)?;
                return Ok(None);
            }
        }
        walk.pc = target;
        Ok(Some(walk))
    }

    /// Loops over the values that an operand of a barrier can have, assuming each.
    fn resolve(&mut self, walk: &Walk, operand: Option<Operand>) -> Vec<(Walk, Option<i64>)> {
        let Some(operand) = operand else { return vec![(walk.clone(), None)] };
        let expression = self.operand(walk, operand);
        if let Some(value) = self.known(expression) {
            return vec![(walk.clone(), Some(value))];
        }
        let domain = self.domain;
        self.instructions += domain.len() * walk.steps.len();
        domain
            .iter()
            .map(|value| {
                let b = self.constant(*value);
                let mut walk = walk.clone();
                walk.steps.push(Step::Assume {
                    comparison: Comparison::Equal,
                    a: expression,
                    b,
                    holds: true,
                });
                (walk, Some(*value))
            })
            .collect()
    }

    fn run(&mut self, mut walk: Walk) -> Result<(), TooManyPaths> {
        while let Some(instruction) = self.code.get(walk.pc) {
            self.instructions += 1;
            if self.instructions > MAX_INSTRUCTIONS || walk.steps.len() > MAX_STEPS {
                return Err(TooManyPaths);
            }
            let pc = walk.pc;
            match instruction {
                Instruction::Store(access, value) => {
                    let write = Some(self.operand(&walk, *value));
                    walk.steps.push(Step::Access { pc, access: *access, read: None, write });
                }
                Instruction::Load(access, register) => {
                    let read = walk.reads;
                    walk.reads += 1;
                    walk.steps.push(Step::Access { pc, access: *access, read: Some(read), write: None });
                    walk.registers[*register] = self.intern(Expression::Read(read));
                }
                Instruction::ReadModifyWrite(access, register, update, value) => {
                    let read = walk.reads;
                    walk.reads += 1;
                    let operand = self.operand(&walk, *value);
                    let old = self.intern(Expression::Read(read));
                    let write = match update {
                        Update::Exchange => operand,
                        Update::Apply(operation) => self.apply(*operation, old, operand),
                    };
                    walk.steps.push(Step::Access {
                        pc,
                        access: *access,
                        read: Some(read),
                        write: Some(write),
                    });
                    walk.registers[*register] = old;
                }
                Instruction::MemoryBarrier(..)
                | Instruction::AvailableDevice
                | Instruction::VisibleDevice => {
                    walk.steps.push(Step::Fixed { pc });
                }
                Instruction::ControlBarrier { instance, resource, quorum, .. } => {
                    let occurrence = match walk.barriers.iter_mut().find(|(known, _)| known == instance) {
                        Some((_, count)) => {
                            *count += 1;
                            *count
                        }
                        None => {
                            walk.barriers.push((instance.clone(), 0));
                            0
                        }
                    };
                    let mut resolved = Vec::new();
                    for (walk, resource) in self.resolve(&walk, *resource) {
                        for (walk, quorum) in self.resolve(&walk, *quorum) {
                            resolved.push((walk, resource, quorum));
                        }
                    }
                    let mut walks = resolved.into_iter().map(|(mut walk, resource, quorum)| {
                        let registers = walk.registers.clone();
                        walk.steps.push(Step::Barrier { pc, occurrence, resource, quorum, registers });
                        walk.pc += 1;
                        walk
                    });
                    let Some(first) = walks.next() else { return Ok(()) };
                    walk = first;
                    let others = self.pending.len();
                    self.pending.extend(walks);
                    self.pending[others..].reverse();
                    continue;
                }
                Instruction::Local(register, operation, a, b) => {
                    let (a, b) = (self.operand(&walk, *a), self.operand(&walk, *b));
                    walk.registers[*register] = self.apply(*operation, a, b);
                }
                Instruction::Goto(target) => {
                    let Some(there) = self.jump(walk, *target)? else { return Ok(()) };
                    walk = there;
                    continue;
                }
                Instruction::Branch(comparison, a, b, target) => {
                    let (a, b) = (self.operand(&walk, *a), self.operand(&walk, *b));
                    let decided = match (self.known(a), self.known(b)) {
                        (Some(a), Some(b)) => Some(comparison.holds(a, b)),
                        _ => None,
                    };
                    if decided.is_none() {
                        self.instructions += walk.steps.len();
                        let mut passed = walk.clone();
                        passed.steps.push(Step::Assume { comparison: *comparison, a, b, holds: false });
                        passed.pc += 1;
                        self.pending.push(passed);
                        walk.steps.push(Step::Assume { comparison: *comparison, a, b, holds: true });
                    }
                    if decided != Some(false) {
                        let Some(there) = self.jump(walk, *target)? else { return Ok(()) };
                        walk = there;
                        continue;
                    }
                }
                Instruction::Label(_) if !self.heads[pc] => {}
                Instruction::Label(_) => {
                    walk.visits.retain(|(known, ..)| *known != pc);
                    walk.visits.push((pc, walk.steps.len(), walk.registers.clone()));
                }
            }
            walk.pc += 1;
        }
        self.finish(walk, End::Terminated)
    }
}

/// For each place of the code (and its end): the registers that may be read before they are written. At the
/// end all are live: they are the final state.
pub(super) fn liveness(code: &[Instruction], registers: usize) -> Vec<Vec<bool>> {
    let mut live = vec![vec![false; registers]; code.len() + 1];
    live[code.len()] = vec![true; registers];
    loop {
        let mut changed = false;
        for (pc, instruction) in code.iter().enumerate().rev() {
            let mut now = match instruction {
                Instruction::Goto(target) => live[*target].clone(),
                Instruction::Branch(_, _, _, target) => {
                    live[pc + 1].iter().zip(&live[*target]).map(|(a, b)| *a || *b).collect()
                }
                _ => live[pc + 1].clone(),
            };
            let mut reads: Vec<Operand> = Vec::new();
            match instruction {
                Instruction::Store(_, value) => reads.push(*value),
                Instruction::Load(_, register) => now[*register] = false,
                Instruction::ReadModifyWrite(_, register, _, value) => {
                    now[*register] = false;
                    reads.push(*value);
                }
                Instruction::ControlBarrier { resource, quorum, .. } => {
                    reads.extend(resource.iter().chain(quorum.iter()).copied());
                }
                Instruction::Local(register, _, a, b) => {
                    now[*register] = false;
                    reads.extend([*a, *b]);
                }
                Instruction::Branch(_, a, b, _) => reads.extend([*a, *b]),
                _ => {}
            }
            for operand in reads {
                if let Operand::Register(register) = operand {
                    now[register] = true;
                }
            }
            if now != live[pc] {
                live[pc] = now;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}
