//! What a turn of a loop costs: which values should be in host registers, and of how many parts at once.

use super::super::memory::Access;
use super::super::registers::{Part, vector_operands};
use crate::code::{Inst, Opcode, OperandKind};
use rustc_hash::FxHashMap;

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
        let (code, form) = (trial.code, trial.form);
        trial.most = 0;
        let mut used: FxHashMap<u16, Used> = FxHashMap::default();
        // When the values are there that registers and masks hold: after the first turn, and now.
        let mut ready: [FxHashMap<Name, u32>; 2] = Default::default();
        let mut instructions = 0;
        for turn in 0..2 {
            for inst in rows {
                let operands = vector_operands(code, inst);
                let took = trial_of(trial, inst);
                let loads = operands.iter().filter(|(_, reads, _)| *reads).count() as u32;
                let names = || {
                    let vectors =
                        operands.iter().map(|(k, reads, writes)| (Name::Vector(*k), *reads, *writes));
                    vectors.chain(masks(inst))
                };
                let begins = names().filter(|(_, reads, _)| *reads);
                let begins = begins.filter_map(|(name, ..)| ready[1].get(&name)).max().copied();
                let ends = begins.unwrap_or(0) + latency(inst.op, took.saturating_sub(loads));
                for (name, ..) in names().filter(|(.., writes)| *writes) {
                    ready[1].insert(name, ends);
                }
                if turn == 1 {
                    continue;
                }
                for (register, reads, writes) in operands {
                    let used = used.entry(register).or_default();
                    // What is read only can be an operand in memory.
                    used.weight += u32::from(reads) + 2 * u32::from(writes);
                    used.carried |= reads && !used.written;
                    used.written |= writes;
                }
                instructions += took;
            }
            if turn == 0 {
                ready[0] = ready[1].clone();
            }
        }
        // What is read before it is written, or is never written, is carried only if it is written.
        used.values_mut().for_each(|used| used.carried &= used.written);
        let carried = used.iter().filter(|(_, used)| used.carried).map(|(k, _)| Name::Vector(*k));
        let chain = carried.map(|name| ready[1][&name] - ready[0][&name]).max().unwrap_or(0);
        // Two masks in registers and their result, which no trial sees; and one more than needed, so that
        // what the next instruction needs is not always what goes.
        let left = usize::from(form.registers()).saturating_sub(trial.most.max(3) as usize + 1);
        Turn { used, left, parts: form.parts(), instructions, chain }
    }

    /// The parts that should run together, and the cycles that a turn of all parts takes then.
    pub(super) fn together(&self) -> (usize, u32) {
        let all = (self.parts, self.cycles(self.parts));
        // A loop that is entered for each group is worth while from some turns on, and this is an estimate.
        let fewer = (1..self.parts).filter(|together| self.parts.is_multiple_of(*together));
        let best = fewer.map(|together| (together, self.cycles(together))).min_by_key(|(_, cycles)| *cycles);
        best.filter(|(_, cycles)| *cycles * 5 < all.1 * 4).unwrap_or(all)
    }

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

/// The mask registers of an instruction: whether it is read, whether it is written.
fn masks(inst: &Inst) -> impl Iterator<Item = (Name, bool, bool)> {
    let keeps = inst.op == Opcode::MaskMovMasked;
    let fields = [inst.dst, inst.a, inst.b, inst.c, inst.aux];
    let fields = inst.op.shape().into_iter().zip(fields).enumerate();
    fields
        .filter(|(_, (kind, _))| *kind == OperandKind::Mask)
        .map(move |(n, (_, field))| (Name::Mask(field), n > 0 || keeps, n == 0))
}

/// Makes the code of one instruction, all of whose operands are in the file: the number of host instructions.
fn trial_of(trial: &mut Part<'_>, inst: &Inst) -> u32 {
    let before = trial.asm.count();
    let operands = vector_operands(trial.code, inst);
    trial.begin_line(0);
    // Each has another use, so that it is loaded.
    trial.begin_row(&operands.iter().map(|(register, ..)| (*register, 0)).collect());
    match inst.op.test() {
        Some((test, _)) => _ = trial.test(test, inst),
        None => match Access::of(trial.code, inst) {
            Some(access) => trial.access(&access),
            None => trial.row(inst),
        },
    }
    let took = trial.asm.count() - before;
    trial.end_row();
    trial.end_line();
    took
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
