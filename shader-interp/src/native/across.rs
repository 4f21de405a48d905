//! Operations between lanes, for all 32 at once: each is a line of its own, whose operands are in the
//! register file or pinned. With 16 lanes to a host register alone.

use super::memory::ALIGN;
use super::operation::*;
use super::registers::{MASKS, Part, RUNNING, Source};
use crate::code::{Code, Inst, Opcode};
use crate::ir::{GroupFold, GroupKind, Scalar};
use crate::ops::group;
use iced_x86::{Code as X86, Instruction, MemoryOperand, Register};

/// Words of two registers by their numbers in the third, which is the result.
const PERMUTE_BY: X86 = X86::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32;
const SHUFFLE: X86 = X86::EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8;
const SHUFFLE_FOURS: X86 = X86::EVEX_Vshufi32x4_zmm_k1z_zmm_zmmm512b32_imm8;

/// Both parts of the lanes in host registers.
type Both = [u8; 2];

/// What folds two values.
#[derive(Clone, Copy)]
enum Fold {
    /// One instruction, which commutes.
    Integers(Operation),
    Floats(Operation),
    /// The lesser or the greater float; the second operation joins the bits of equal ones.
    Extreme(Operation, Operation),
}

fn fold(of: GroupFold, scalar: Scalar) -> Option<Fold> {
    use GroupFold::*;
    Some(match (of, scalar) {
        (IAdd, Scalar::I32) => Fold::Integers(ADD),
        (IMul, Scalar::I32) => Fold::Integers(MUL),
        (And, Scalar::I32) => Fold::Integers(AND),
        (Or, Scalar::I32) => Fold::Integers(OR),
        (Xor, Scalar::I32) => Fold::Integers(XOR),
        (UMin, Scalar::I32) => Fold::Integers(U_MIN),
        (UMax, Scalar::I32) => Fold::Integers(U_MAX),
        (SMin, Scalar::I32) => Fold::Integers(S_MIN),
        (SMax, Scalar::I32) => Fold::Integers(S_MAX),
        (FAdd, Scalar::F32) => Fold::Floats(F_ADD),
        (FMul, Scalar::F32) => Fold::Floats(F_MUL),
        (FMin, Scalar::F32) => Fold::Extreme(F_MIN, OR),
        (FMax, Scalar::F32) => Fold::Extreme(F_MAX, AND),
        _ => return None,
    })
}

/// Whether `inst` is an operation between lanes that has an encoding.
pub(super) fn is_across(code: &Code, inst: &Inst) -> bool {
    use Opcode::*;
    match inst.op {
        Elect | VoteAll | VoteAny | VoteEqualMask | VoteEqual | VoteEqualFloat | VoteEqual64 | Ballot
        | Shuffle | BroadcastFirst => true,
        Group => {
            let Some((of, kind, scalar)) = code.groups.get(inst.imm as usize).copied() else { return false };
            match (fold(of, scalar), kind) {
                (None, _) => false,
                (Some(_), GroupKind::Reduce | GroupKind::Clustered(_)) => true,
                // Floats are added in the order of lanes.
                (Some(fold), _) => matches!(fold, Fold::Integers(_)),
            }
        }
        _ => false,
    }
}

/// A mask register of the program.
fn mask(k: u16) -> MemoryOperand {
    MemoryOperand::with_base_displ(MASKS, i64::from(k) * 4)
}

impl Part<'_> {
    /// An operation between lanes, as a line of its own.
    pub fn across(&mut self, inst: &Inst) {
        use Opcode::*;
        self.begin_line(0);
        self.begin_row(&Default::default());
        match inst.op {
            Elect => {
                self.asm.registers(X86::Mov_r32_rm32, Register::EAX, RUNNING);
                self.asm.put(Instruction::with1(X86::Neg_rm32, Register::EAX));
                self.asm.registers(X86::And_r32_rm32, Register::EAX, RUNNING);
                self.asm.store(X86::Mov_rm32_r32, mask(inst.dst), Register::EAX);
            }
            VoteAll => {
                self.asm.load(X86::Mov_r32_rm32, Register::EAX, mask(inst.a));
                self.asm.put(Instruction::with1(X86::Not_rm32, Register::EAX));
                self.asm.registers(X86::And_r32_rm32, Register::EAX, RUNNING);
                self.if_zero(Register::EAX);
                self.asm.store(X86::Mov_rm32_r32, mask(inst.dst), Register::EAX);
            }
            VoteAny => {
                self.asm.load(X86::Mov_r32_rm32, Register::EAX, mask(inst.a));
                self.asm.registers(X86::And_r32_rm32, Register::EAX, RUNNING);
                self.if_zero(Register::EAX);
                self.asm.put(Instruction::with1(X86::Not_rm32, Register::EAX));
                self.asm.store(X86::Mov_rm32_r32, mask(inst.dst), Register::EAX);
            }
            VoteEqualMask => {
                self.asm.load(X86::Mov_r32_rm32, Register::EAX, mask(inst.a));
                self.asm.registers(X86::And_r32_rm32, Register::EAX, RUNNING);
                self.asm.registers(X86::Mov_r32_rm32, Register::EDX, Register::EAX);
                self.asm.registers(X86::Xor_r32_rm32, Register::EDX, RUNNING);
                self.if_zero(Register::EAX);
                self.if_zero(Register::EDX);
                self.asm.registers(X86::Or_r32_rm32, Register::EAX, Register::EDX);
                self.asm.store(X86::Mov_rm32_r32, mask(inst.dst), Register::EAX);
            }
            VoteEqual | VoteEqualFloat => self.vote_equal(inst, 1),
            VoteEqual64 => self.vote_equal(inst, 2),
            Ballot => {
                let (bits, zero) = (self.temporary(), self.temporary());
                self.asm.load(X86::Mov_r32_rm32, Register::EAX, mask(inst.a));
                self.asm.registers(X86::And_r32_rm32, Register::EAX, RUNNING);
                self.spread_general(bits, Register::EAX);
                self.zero_register(zero);
                self.give(inst.dst, [bits; 2]);
                (1..4).for_each(|k| self.give(inst.dst + k, [zero; 2]));
            }
            Shuffle => self.shuffle(inst),
            BroadcastFirst => {
                let value = self.taken(inst.a);
                let first = self.first_of(value);
                self.give(inst.dst, [first; 2]);
            }
            Group => self.group(inst),
            _ => {}
        }
        self.end_row();
        self.end_line();
    }

    /// What all lanes have in a vector register, between lines: where it is pinned, or loaded into `to`.
    fn take(&mut self, register: u16, to: [u8; 2]) -> [u8; 2] {
        let index = self.pinned.iter().position(|pinned| *pinned == register);
        std::array::from_fn(|part| {
            self.part = part;
            match index {
                Some(index) => self.pinned_at(index, part),
                None => {
                    let (code, to_host, from) =
                        (self.instruction(LOAD), self.host(to[part]), self.file(register));
                    self.asm.load(code, to_host, from);
                    to[part]
                }
            }
        })
    }

    /// A vector register is what two host registers hold, between lines.
    fn give(&mut self, register: u16, from: [u8; 2]) {
        let index = self.pinned.iter().position(|pinned| *pinned == register);
        for (part, from) in from.into_iter().enumerate() {
            self.part = part;
            let from = self.host(from);
            match index {
                Some(index) => {
                    let (code, to) = (self.instruction(LOAD), self.host(self.pinned_at(index, part)));
                    self.asm.registers(code, to, from);
                }
                None => {
                    let (code, to) = (self.instruction(STORE), self.file(register));
                    self.asm.store(code, to, from);
                }
            }
        }
    }

    /// What all lanes have in a vector register.
    fn taken(&mut self, register: u16) -> Both {
        let to = [self.temporary(), self.temporary()];
        self.take(register, to)
    }

    /// All bits set if a register of 32 bits is zero, none if it is not.
    fn if_zero(&mut self, register: Register) {
        self.asm.put(Instruction::with2(X86::Cmp_rm32_imm8, register, 1));
        self.asm.registers(X86::Sbb_r32_rm32, register, register);
    }

    /// The value of the first running lane in all lanes.
    fn first_of(&mut self, value: Both) -> u8 {
        let first = self.temporary();
        self.asm.registers(X86::Tzcnt_r32_rm32, Register::EAX, RUNNING);
        self.spread_general(first, Register::EAX);
        let [to, low, high] = [first, value[0], value[1]].map(|k| self.host(k));
        self.asm.put(Instruction::with3(PERMUTE_BY, to, low, high));
        first
    }

    /// The running lanes as masks of the host, of both parts.
    fn running(&mut self) -> Both {
        let low = self.host_mask();
        let high = self.host_mask();
        self.asm.registers(X86::VEX_Kmovw_kr_r32, Register::K0 + u32::from(low), RUNNING);
        self.asm.registers(X86::Mov_r32_rm32, Register::EAX, RUNNING);
        self.asm.immediate(X86::Shr_rm32_imm8, Register::EAX, 16);
        self.asm.registers(X86::VEX_Kmovw_kr_r32, Register::K0 + u32::from(high), Register::EAX);
        [low, high]
    }

    /// Whether all running lanes have the same in so many vector registers.
    fn vote_equal(&mut self, inst: &Inst, words: u16) {
        let running = self.running();
        let differs = self.host_mask();
        for word in 0..words {
            let value = self.taken(inst.a + word);
            let first = self.first_of(value);
            for part in 0..2 {
                let (x, y) = (self.host(value[part]), self.host(first));
                let (code, predicate) = match inst.op {
                    Opcode::VoteEqualFloat => (F_COMPARE.0, NOT_EQUAL),
                    _ => (X86::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, I_NOT_EQUAL),
                };
                let to = Register::K0 + u32::from(differs);
                self.masked(running[part], Instruction::with4(code, to, x, y, predicate));
                let bits = if word == 0 && part == 0 { Register::EDX } else { Register::EAX };
                self.bits(differs, bits);
                if bits == Register::EAX {
                    self.asm.registers(X86::Or_r32_rm32, Register::EDX, Register::EAX);
                }
            }
        }
        self.if_zero(Register::EDX);
        self.asm.store(X86::Mov_rm32_r32, mask(inst.dst), Register::EDX);
    }

    /// [`Opcode::Shuffle`]: of each lane first the number of the lane whose value it takes.
    fn shuffle(&mut self, inst: &Inst) {
        let (value, by) = (self.taken(inst.a), self.taken(inst.b));
        let lanes = [self.temporary(), self.temporary()];
        self.unary(LOAD, lanes[0], Source::Constant(Constant::Steps1));
        self.unary(LOAD, lanes[1], Source::Constant(Constant::UpperLanes));
        let (from, within) = ([self.temporary(), self.temporary()], self.temporary());
        if inst.imm >= 4 {
            let cluster = match inst.imm {
                4 => 4,
                k => (1 << (k - 5).min(5)).min(self.code.subgroup_size),
            };
            self.asm.immediate(X86::Mov_r32_imm32, Register::EAX, cluster.wrapping_sub(1) as i32);
            self.spread_general(within, Register::EAX);
        }
        for part in 0..2 {
            let (from, by, lane) = (from[part], by[part], lanes[part]);
            match inst.imm {
                0 => self.unary(LOAD, from, Source::Host(by)),
                1 => self.binary(XOR, from, lane, Source::Host(by)),
                2 => self.binary(SUB, from, lane, Source::Host(by)),
                3 => self.binary(ADD, from, lane, Source::Host(by)),
                // Within a quad or a cluster.
                how => {
                    match how {
                        4 => self.binary(AND, from, by, Source::Host(within)),
                        _ => {
                            self.binary(ADD, from, lane, Source::Host(by));
                            self.binary(AND, from, from, Source::Host(within));
                        }
                    }
                    self.binary(AND_NOT, lane, within, Source::Host(lane));
                    self.binary(OR, from, from, Source::Host(lane));
                }
            }
            let there = self.host_mask();
            let limit = self.constant(Constant::WordBits);
            let (k, index) = (Register::K0 + u32::from(there), self.host(from));
            let compare = X86::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
            self.asm.put(Instruction::with4(compare, k, index, limit, I_LESS));
            let [low, high] = value.map(|k| self.host(k));
            self.masked_zero(there, Instruction::with3(PERMUTE_BY, index, low, high));
        }
        self.give(inst.dst, from);
    }

    /// [`Opcode::Group`], in the order of [`group::fold`].
    fn group(&mut self, inst: &Inst) {
        let (of, kind, scalar) = self.code.groups[inst.imm as usize];
        let Some(how) = fold(of, scalar) else { return };
        let neutral = self.temporary();
        let word = group::identity(of, scalar) as u32;
        self.asm.immediate(X86::Mov_r32_imm32, Register::EAX, word as i32);
        self.spread_general(neutral, Register::EAX);
        let (value, running) = (self.taken(inst.a), self.running());
        let mut now = [self.temporary(), self.temporary()];
        for part in 0..2 {
            self.choose(now[part], running[part], Source::Host(value[part]), neutral);
        }
        match (kind, how) {
            (GroupKind::Reduce, _) => self.butterfly(how, &mut now, 32),
            (GroupKind::Clustered(cluster), _) => self.butterfly(how, &mut now, cluster),
            (_, Fold::Integers(operation)) => {
                self.scan(operation, now, neutral, kind == GroupKind::ExclusiveScan);
                for part in 0..2 {
                    let sums = self.host(now[part]);
                    self.masked_zero(running[part], Instruction::with2(LOAD.0, sums, sums));
                }
            }
            _ => {}
        }
        self.give(inst.dst, now);
    }

    /// Folds within clusters of so many lanes: all of them have the result.
    fn butterfly(&mut self, how: Fold, now: &mut Both, cluster: u32) {
        let [x, y] = [self.temporary(), self.temporary()];
        for distance in [1, 2, 4, 8].into_iter().filter(|distance| *distance < cluster) {
            let code = if distance < 4 { SHUFFLE } else { SHUFFLE_FOURS };
            // The lower lane comes first, so that all lanes of a cluster compute the same bits.
            let [swapped, lower, upper] = match distance {
                1 | 4 => [0xb1u32, 0xa0, 0xf5],
                _ => [0x4e, 0x44, 0xee],
            };
            let moved = |part: &mut Self, to: u8, from: u8, lanes: u32| {
                let (to, from) = (part.host(to), part.host(from));
                part.asm.put(match code {
                    SHUFFLE => Instruction::with3(code, to, from, lanes),
                    _ => Instruction::with4(code, to, from, from, lanes),
                });
            };
            for now in *now {
                match how {
                    Fold::Integers(operation) => {
                        moved(self, x, now, swapped);
                        self.binary(operation, now, now, Source::Host(x));
                    }
                    _ => {
                        moved(self, x, now, lower);
                        moved(self, y, now, upper);
                        self.folded(how, now, x, y);
                    }
                }
            }
        }
        if cluster > 16 {
            let [low, high] = *now;
            self.folded(how, x, low, high);
            *now = [x; 2];
        }
    }

    /// `to = how(x, y)`.
    fn folded(&mut self, how: Fold, to: u8, x: u8, y: u8) {
        match how {
            Fold::Integers(operation) | Fold::Floats(operation) => {
                self.binary(operation, to, x, Source::Host(y));
            }
            Fold::Extreme(operation, of_zeros) => {
                self.for_a_while(|part| {
                    let t = part.bound(x, y, operation, of_zeros);
                    let nan = part.compare_floats(UNORDERED, t, Source::Host(t));
                    part.choose(to, nan, Source::Constant(Constant::Nan), t);
                });
            }
        }
    }

    /// Each lane gets what it and those before it fold to, or without its own.
    fn scan(&mut self, operation: Operation, now: Both, neutral: u8, exclusive: bool) {
        let moved = self.temporary();
        // What the lanes have that are so many before those of `from`; those before these are in `before`.
        let shift = |part: &mut Self, to: u8, from: u8, before: u8, by: u32| {
            let [to, from, before] = [to, from, before].map(|k| part.host(k));
            part.asm.put(Instruction::with4(ALIGN, to, from, before, 16 - by));
        };
        let [low, high] = now;
        for by in [1, 2, 4, 8] {
            shift(self, moved, high, low, by);
            self.binary(operation, high, high, Source::Host(moved));
            shift(self, moved, low, neutral, by);
            self.binary(operation, low, low, Source::Host(moved));
        }
        self.binary(operation, high, high, Source::Host(low));
        if exclusive {
            shift(self, high, high, low, 1);
            shift(self, low, low, neutral, 1);
        }
    }
}
