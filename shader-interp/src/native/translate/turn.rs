//! What a turn of a loop costs: which values should be in host registers, and of how many parts at once.

use super::super::registers::{Part, vector_operands};
use crate::code::isa::AfterTest;
use crate::code::{Inst, Opcode, OperandKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// How a loop uses a vector register.
#[derive(Clone, Copy, Default)]
pub(super) struct Used {
    weight: u32,
    pub(super) written: bool,
    /// A turn reads what the turn before has written.
    carried: bool,
}

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    Vector(u16),
    Mask(u16),
}

/// A turn of a loop, for one part of the lanes.
pub(super) struct Turn {
    used: FxHashMap<u16, Used>,
    /// Host registers that hold values for the whole loop.
    left: usize,
    parts: usize,
    /// Host instructions.
    instructions: u32,
    /// Cycles from a value of one turn to what becomes of it in the next.
    chain: u32,
}

/// Host instructions in a cycle.
const WIDTH: u32 = 4;
/// Cycles from storing a vector to its being loaded.
const FORWARD: u32 = 6;
/// Cycles, times two, that a value takes which is loaded and stored in each turn.
const IN_MEMORY: u32 = 3;

impl Turn {
    /// A turn of these instructions of `trial`'s code, all of which have encodings.
    pub(super) fn of(trial: &mut Part<'_>, rows: &[Inst]) -> Turn {
        let form = trial.form;
        trial.most = 0;
        let steps: Vec<Step> = rows.iter().map(|inst| Step::of(trial, inst)).collect();
        let mut used: FxHashMap<u16, Used> = FxHashMap::default();
        for (name, reads, writes) in steps.iter().flat_map(|step| &step.names) {
            let Name::Vector(register) = name else { continue };
            let used = used.entry(*register).or_default();
            // What is read only can be an operand in memory.
            used.weight += u32::from(*reads) + 2 * u32::from(*writes);
            used.carried |= *reads && !used.written;
            used.written |= *writes;
        }
        // What is never written is not carried, either.
        used.values_mut().for_each(|used| used.carried &= used.written);
        let mut ready = FxHashMap::default();
        steps.iter().for_each(|step| step.run(&mut ready));
        let first = ready.clone();
        steps.iter().for_each(|step| step.run(&mut ready));
        let carried = used.iter().filter(|(_, used)| used.carried).map(|(k, _)| Name::Vector(*k));
        let chain = carried.map(|name| ready[&name] - first[&name]).max().unwrap_or(0);
        // Two masks in registers and their result, which no trial sees; and one more than needed, so that
        // what the next instruction needs is not always what goes.
        let left = usize::from(form.registers()).saturating_sub(trial.most.max(3) as usize + 1);
        let instructions = steps.iter().map(|step| step.instructions).sum();
        Turn { used, left, parts: form.parts(), instructions, chain }
    }

    /// How many parts should run together.
    pub(super) fn together(&self) -> usize {
        // A loop that is entered for each cluster is worth while from some turns on, and this is an estimate.
        let fewer = (1..self.parts).filter(|together| self.parts.is_multiple_of(*together));
        let best = fewer.min_by_key(|together| self.cycles(*together));
        best.filter(|together| self.cycles(*together) * 5 < self.cycles(self.parts) * 4).unwrap_or(self.parts)
    }

    /// Cycles of a turn of all parts, if so many run together.
    fn cycles(&self, together: usize) -> u32 {
        let carried = self.used.values().filter(|used| used.carried).count();
        let outside = carried.saturating_sub(self.left / together) as u32;
        // In half cycles, then in whole ones.
        let part = (self.instructions * 2 / WIDTH + outside * IN_MEMORY) / 2;
        let chain = self.chain + if outside > 0 { FORWARD } else { 0 };
        (self.parts / together) as u32 * chain.max(together as u32 * part)
    }

    /// The registers whose values stay in host registers, if so many parts run together.
    pub(super) fn registers(&self, together: usize) -> Vec<(u16, Used)> {
        let mut order: Vec<(u16, Used)> = self.used.iter().map(|(k, used)| (*k, *used)).collect();
        order.sort_by_key(|(register, used)| (!used.carried, u32::MAX - used.weight, *register));
        order.truncate(self.left / together);
        order
    }
}

/// An instruction of a turn.
struct Step {
    /// Its registers, whether it reads and whether it writes them.
    names: SmallVec<[(Name, bool, bool); 8]>,
    /// Host instructions.
    instructions: u32,
    /// Cycles from its operands to its result.
    latency: u32,
}

impl Step {
    /// What making its code with `trial` shows, all of its operands being in the file.
    fn of(trial: &mut Part<'_>, inst: &Inst) -> Step {
        let before = trial.asm.count();
        let operands = vector_operands(trial.code, inst);
        trial.begin_line(0);
        // Each has another use, so that it is loaded.
        trial.begin_row(&operands.iter().map(|(register, ..)| (*register, 0)).collect());
        match inst.op.test() {
            Some((test, after)) if after != AfterTest::Set => _ = trial.test(test, inst),
            _ => trial.lanes(inst, None),
        }
        trial.end_row();
        let instructions = trial.asm.count() - before;
        trial.end_line();
        let loads = operands.iter().filter(|(_, reads, _)| *reads).count() as u32;
        let keeps = inst.op == Opcode::MaskMovMasked;
        let fields = [inst.dst, inst.a, inst.b, inst.c, inst.aux];
        let masks = inst.op.shape().into_iter().zip(fields).enumerate();
        let masks = masks.filter(|(_, (kind, _))| *kind == OperandKind::Mask);
        let masks = masks.map(|(n, (_, mask))| (Name::Mask(mask), n > 0 || keeps, n == 0));
        let vectors = operands.into_iter().map(|(k, reads, writes)| (Name::Vector(k), reads, writes));
        Step {
            names: vectors.chain(masks).collect(),
            instructions,
            latency: latency(inst.op, instructions.saturating_sub(loads)),
        }
    }

    /// Runs it once its operands are there: `ready` says when each register is.
    fn run(&self, ready: &mut FxHashMap<Name, u32>) {
        let begins = self.names.iter().filter(|(_, reads, _)| *reads);
        let begins = begins.filter_map(|(name, ..)| ready.get(name)).max().copied().unwrap_or(0);
        for (name, ..) in self.names.iter().filter(|(.., writes)| *writes) {
            ready.insert(*name, begins + self.latency);
        }
    }
}

/// Cycles from the operands of an instruction to its result, which takes so many host instructions.
fn latency(op: Opcode, instructions: u32) -> u32 {
    use Opcode::*;
    match op {
        FAdd | FSub | FMul | IMul => 4,
        FMulAdd | FMulSub | FNegMulAdd | FDot2 | FAdd3 | FSubMul | FMul3 => 8,
        FDiv => 12,
        Sqrt => 18,
        InverseSqrt => 30,
        _ => instructions,
    }
}
