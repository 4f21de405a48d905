//! Loops that do the same in every turn, whatever memory answers: what ends a dispatch that would change
//! memory for ever.
//!
//! A strand *waits in a loop* if turn after turn it executes the same instructions on the same operands, and
//! carries nothing from one turn to the next: at the back-edge all registers that are still needed hold what
//! they held. So nothing but what memory answers decides whether it goes on, and nothing of that has a
//! consequence meanwhile: `while (atomicAdd(x, 1) != n);`, a lock that somebody holds, a flag. A loop that
//! counts, adds up, or accesses another element in each turn computes something, and is left alone however
//! long it takes.
//!
//! One such strand is nothing to worry about: who it waits for may be at work. When all that can run have
//! done nothing else for very long, the dispatch ends: Vulkan guarantees no invocation anything then. That
//! rule is here, in [`Spinning`]; [`super::spin`] has the one that needs no patience, where memory does not
//! change either. Both count what is executed, not time.
//!
//! [`Watch`] looks at a strand for a moment, an instruction at a time; executors do so now and then.

use super::context::Context;
use super::granularity::visible;
use super::run::{Control, run_one};
use super::strand::{Step, Strand};
use super::waiting::{self, Operand};
use crate::code::verify::reads_first;
use crate::code::{Code, ElementIndex, Inst, Opcode, OperandKind, Space};
use pellucid_memory::access::Site;
use pellucid_memory::system::{Mask, MemorySystem, Trap};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Instructions that a watch looks at, each half of them for one purpose.
const WINDOW: u32 = 1 << 12;

/// A register that an instruction reads or writes for a lane that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Reads(Register),
    Writes(Register),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    Vector(u32),
    Mask(u32),
}

/// The registers of an instruction, those of its table entry included. Park registers are left out.
fn operands(code: &Code, inst: &Inst, mut each: impl FnMut(Use)) {
    use Use::{Reads, Writes};
    let shape = inst.op.shape();
    let fields = [inst.dst, inst.a, inst.b, inst.c, inst.aux].map(u32::from);
    let parks = goes(inst).parks.is_some() || shape[5] == OperandKind::Target;
    for (n, (kind, field)) in shape.into_iter().zip(fields).enumerate() {
        let operand =
            |register| if n == 0 && !reads_first(inst.op) { Writes(register) } else { Reads(register) };
        match kind {
            OperandKind::Vector(run) => {
                (field..field + u32::from(run)).for_each(|k| each(operand(Register::Vector(k))));
            }
            OperandKind::Mask if n > 0 || !parks => each(operand(Register::Mask(field))),
            _ => {}
        }
    }
    let mut reads =
        |start: u32, run: u32| (start..start + run).for_each(|k| each(Reads(Register::Vector(k))));
    match (shape[5], inst.imm as usize) {
        (OperandKind::Memory, k) => {
            let entry = &code.memory[k];
            reads(entry.offset, if entry.space == Space::Physical { 2 } else { 1 });
            if let Space::Element { element, .. } = entry.space {
                reads(element, 1);
            }
            entry.values.iter().chain(&entry.comparator).for_each(|k| reads(*k, 1));
            let words = u32::from(entry.access.components) * if entry.access.size == 8 { 2 } else { 1 };
            let run = match inst.op {
                Opcode::Load | Opcode::LoadUniform => words,
                Opcode::Atomic if entry.result != 0 => words,
                Opcode::BufferSize => 1,
                _ => 0,
            };
            (entry.result..entry.result + run).for_each(|k| each(Writes(Register::Vector(k))));
        }
        (OperandKind::Image, k) => {
            let entry = &code.images[k];
            entry.arguments.iter().for_each(|k| reads(*k, 1));
            for element in entry.sampler.iter().chain([&entry.element]) {
                if let ElementIndex::Register(k) = element {
                    reads(*k, 1);
                }
            }
            let (start, run) = entry.results;
            (start..start + run).for_each(|k| each(Writes(Register::Vector(k))));
        }
        (OperandKind::Print, k) => code.prints[k].registers.iter().for_each(|k| reads(*k, 1)),
        (OperandKind::Matrix, k) => {
            let entry = &code.matrices[k];
            entry.operands.iter().flatten().for_each(|k| reads(*k, 1));
            entry.results.iter().for_each(|k| each(Writes(Register::Vector(*k))));
        }
        _ => {}
    }
}

/// Where a lane goes on that runs an instruction.
#[derive(Default)]
struct Goes {
    next: bool,
    target: Option<u32>,
    /// To the joins of this park register.
    parks: Option<u16>,
}

fn goes(inst: &Inst) -> Goes {
    let target = Some(inst.imm);
    match inst.op {
        Opcode::Jump | Opcode::Repeat | Opcode::RepeatJoin => Goes { target, ..Goes::default() },
        Opcode::EndLanes | Opcode::Done => Goes::default(),
        Opcode::Park => Goes { parks: Some(inst.dst), ..Goes::default() },
        Opcode::Join => Goes { next: true, ..Goes::default() },
        op if op.empties() => Goes { next: true, target: None, parks: Some(inst.dst) },
        op if op.shape()[5] == OperandKind::Target => Goes { next: true, target, parks: None },
        _ => Goes { next: true, ..Goes::default() },
    }
}

/// A set of registers: vector registers, then mask registers.
type Registers = Vec<u64>;

/// The registers that lanes still need, at the places of a program where lanes may come from elsewhere, and
/// at its back-edges.
pub(crate) struct Live(FxHashMap<u32, Registers>);

impl Live {
    /// Of `code`.
    pub fn new(code: &Code) -> Live {
        let nothing: Registers = vec![0; (code.vectors + code.masks).div_ceil(64) as usize];
        let mut joins: FxHashMap<u16, Vec<u32>> = FxHashMap::default();
        let mut at: FxHashMap<u32, Registers> = FxHashMap::default();
        for (pc, inst) in (0..).zip(&code.code) {
            if matches!(inst.op, Opcode::Join | Opcode::RepeatJoin) {
                joins.entry(inst.dst).or_default().push(pc);
                at.insert(pc, nothing.clone());
            }
            if let Some(target) = goes(inst).target {
                at.insert(target, nothing.clone());
            }
        }
        at.extend(code.back_edges.iter().map(|(pc, _)| (*pc, nothing.clone())));
        let number = |register| match register {
            Register::Vector(k) => k,
            Register::Mask(k) => code.vectors + k,
        };
        loop {
            let mut changed = false;
            let mut live = nothing.clone();
            for (pc, inst) in (0..code.code.len() as u32).zip(&code.code).rev() {
                let goes = goes(inst);
                if !goes.next {
                    live.fill(0);
                }
                let parked = goes.parks.and_then(|park| joins.get(&park)).into_iter().flatten();
                for from in goes.target.iter().chain(parked) {
                    live.iter_mut().zip(&at[from]).for_each(|(live, there)| *live |= there);
                }
                operands(code, inst, |operand| {
                    if let Use::Writes(register) = operand {
                        let k = number(register);
                        live[k as usize / 64] &= !(1 << (k % 64));
                    }
                });
                operands(code, inst, |operand| {
                    if let Use::Reads(register) = operand {
                        let k = number(register);
                        live[k as usize / 64] |= 1 << (k % 64);
                    }
                });
                if let Some(known) = at.get_mut(&pc)
                    && *known != live
                {
                    known.clone_from(&live);
                    changed = true;
                }
            }
            if !changed {
                return Live(at);
            }
        }
    }

    /// A digest of what the lanes of `strand`, which stands at a back-edge, carry to the next turn.
    fn digest(&self, code: &Code, strand: &Strand) -> u64 {
        let mut hasher = FxHasher::default();
        let inst = &code.code[strand.pc as usize];
        let parked = if inst.op == Opcode::RepeatJoin { strand.masks[inst.dst as usize] } else { 0 };
        let lanes = strand.mask | parked;
        (strand.pc, strand.mask, strand.live, strand.clock).hash(&mut hasher);
        strand.masks[..code.parks as usize].hash(&mut hasher);
        let live = self.0.get(&strand.pc);
        let needed = |k: usize| live.is_none_or(|live| live[k / 64] >> (k % 64) & 1 != 0);
        for (k, words) in strand.vectors.iter().enumerate().filter(|(k, _)| needed(*k)) {
            hash_lanes(k, &words.0, lanes, &mut hasher);
        }
        for (k, mask) in strand.masks.iter().enumerate() {
            if needed(strand.vectors.len() + k) {
                (mask & lanes).hash(&mut hasher);
            }
        }
        for (k, words) in strand.private.iter().enumerate() {
            hash_lanes(k, &words.0, lanes, &mut hasher);
        }
        hasher.finish()
    }
}

fn hash_lanes(k: usize, words: &[u32], mask: Mask, hasher: &mut FxHasher) {
    k.hash(hasher);
    words.iter().enumerate().filter(|(j, _)| mask >> j & 1 != 0).for_each(|(_, word)| word.hash(hasher));
}

/// A look at a strand.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    /// Instructions so far.
    executed: u32,
    /// The back-edge whose turns are compared: the last one in the code, the outermost loop's, of those that
    /// the strand came to in the window's first half.
    edge: Option<u32>,
    /// What was done since the strand was there.
    turn: FxHasher,
    /// Whether it has been there in the second half, and the turn before.
    begun: bool,
    before: Option<u64>,
    same: u32,
    other: bool,
    /// What it read last.
    read: Option<(Site, Operand)>,
}

impl Watch {
    /// Whether the strand did nothing but wait in a loop.
    pub fn waits(&self) -> bool {
        self.same > 0 && !self.other
    }

    /// Whether it has seen enough.
    pub fn is_over(&self) -> bool {
        self.executed >= WINDOW
    }

    /// What it waits for: the last read.
    pub fn read(&self) -> Option<(Site, Operand)> {
        self.read
    }

    /// The strand is about to execute an instruction.
    pub fn before(&mut self, context: &Context<'_>, live: &Live, strand: &Strand) {
        let code = context.program;
        self.executed += 1;
        let inst = &code.code[strand.pc as usize];
        let edge = code.back_edges.binary_search_by_key(&strand.pc, |edge| edge.0).is_ok();
        if self.executed < WINDOW / 2 {
            if edge {
                self.edge = self.edge.max(Some(strand.pc));
            }
            return;
        }
        if edge {
            live.digest(code, strand).hash(&mut self.turn);
            if self.edge == Some(strand.pc) {
                let turn = std::mem::take(&mut self.turn).finish();
                if let Some(before) = self.before {
                    self.same += u32::from(turn == before);
                    self.other |= turn != before;
                }
                self.before = self.begun.then_some(turn);
                self.begun = true;
            }
            return;
        }
        let shape = inst.op.shape();
        use OperandKind::{Barrier, Image, Memory};
        if shape[4] == Memory || matches!(shape[5], Memory | Barrier | Image) {
            (strand.pc, strand.mask).hash(&mut self.turn);
            let reads = shape[5] != Memory || !matches!(inst.op, Opcode::Store);
            if let Some(operand) = waiting::operand(context, strand).filter(|_| reads && strand.mask != 0) {
                self.read = Some((waiting::site_at(code, strand.pc), operand));
            }
            operands(code, inst, |operand| {
                if let Use::Reads(Register::Vector(k)) = operand {
                    hash_lanes(k as usize, &strand.vectors[k as usize].0, strand.mask, &mut self.turn);
                }
            });
        }
    }

    /// Runs `strand` to the end of the watch ([`Step::OutOfFuel`]), or as far as [`super::entry::run`] would.
    ///
    /// # Errors
    /// The trap of a memory operation.
    pub fn follow<M: MemorySystem>(
        &mut self,
        context: &Context<'_>,
        live: &Live,
        strand: &mut Strand,
        memory: &mut M,
        control: &Control,
    ) -> Result<Step, Trap> {
        let (fuel, mut granted) = (strand.fuel, strand.granted);
        let step = loop {
            if self.executed >= WINDOW {
                break Step::OutOfFuel;
            }
            if M::MODELLED && visible(context.program, strand.pc) && !std::mem::take(&mut granted) {
                break Step::Yielded;
            }
            self.before(context, live, strand);
            match run_one(context, strand, memory, control)? {
                Step::Yielded => {}
                step => break step,
            }
        };
        (strand.fuel, strand.granted) = (fuel, false);
        Ok(step)
    }
}

/// Times that all strands must be seen to wait when they have done so for long enough: who has a lock when it
/// is looked at may have had it many times in between.
const LOOKS: u32 = 8;

/// For how long nothing was seen but strands that wait in loops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spinning {
    /// What was executed since a strand did something else, or ended.
    pub executed: u64,
    /// Number of that time; it changes, too, when all strands are to be looked at again.
    pub since: u64,
    /// Times since then that all were looked at because all seemed to wait.
    pub looks: u32,
}

impl Spinning {
    /// A strand did something else, or ended.
    pub fn progress(&mut self) {
        *self = Spinning { since: self.since + 1, ..Spinning::default() };
    }

    /// All strands were seen to wait since `since`, and this long is long enough. Whether that was seen often
    /// enough: else they are to be looked at again.
    pub fn all_wait(&mut self) -> bool {
        self.since += 1;
        self.looks += 1;
        self.looks >= LOOKS
    }
}
