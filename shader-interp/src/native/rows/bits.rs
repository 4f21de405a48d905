//! Bits of integers of 32 bits: fields, counts, places. With 16 lanes to a host register alone.

use super::*;

/// Every second bit, pair and so on, and one bit of each byte.
pub(super) const PATTERNS: [u32; 5] = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0x0101_0101];

impl Part<'_> {
    /// How many bits are 1, by sums of neighbours, in a new register.
    pub(super) fn count_bits(&mut self, x: u8) -> u8 {
        let (t, u) = (self.temporary(), self.temporary());
        let [pairs, fours, eights, _, ones] = PATTERNS;
        self.by(SHR_BY, t, x, 1);
        self.with_word(AND, t, t, pairs);
        self.binary(SUB, t, x, Source::Host(t));
        self.by(SHR_BY, u, t, 2);
        self.with_word(AND, u, u, fours);
        self.with_word(AND, t, t, fours);
        self.binary(ADD, t, t, Source::Host(u));
        self.by(SHR_BY, u, t, 4);
        self.binary(ADD, t, t, Source::Host(u));
        self.with_word(AND, t, t, eights);
        self.with_word(MUL, t, t, ones);
        self.by(SHR_BY, t, t, 24);
        t
    }

    pub(super) fn reverse_bits(&mut self, inst: &Inst) {
        let (x, t, u) = (self.read(inst.a), self.temporary(), self.temporary());
        let mut from = x;
        for (pattern, by) in PATTERNS.into_iter().zip([1, 2, 4]) {
            self.by(SHR_BY, u, from, by);
            self.with_word(AND, u, u, pattern);
            self.with_word(AND, t, from, pattern);
            self.by(SHL_BY, t, t, by);
            self.binary(OR, t, t, Source::Host(u));
            from = t;
        }
        // Bytes: those of odd numbers by one rotation, the others by the other.
        let (to, other) = (self.host(t), self.host(u));
        self.asm.put(Instruction::with3(X86::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8, other, to, 8u32));
        self.asm.put(Instruction::with3(X86::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8, to, to, 24u32));
        let odd = PATTERNS[3];
        self.with_word(AND, u, u, odd);
        let v = self.temporary();
        self.spread_word(v, odd);
        self.binary(AND_NOT, t, v, Source::Host(t));
        self.binary(OR, t, t, Source::Host(u));
        self.set(inst.dst, t);
    }

    /// The number of the highest 1 of `t`, which becomes that; -1 if there is none.
    pub(super) fn highest(&mut self, t: u8) {
        let u = self.temporary();
        let (zeros, from) = (self.host(u), self.host(t));
        self.asm.registers(X86::EVEX_Vplzcntd_zmm_k1z_zmmm512b32, zeros, from);
        let top = self.constant_register(Constant::ShiftBits);
        self.binary(SUB, t, top, Source::Host(u));
    }

    /// The lowest 1 of `x` alone, in a new register.
    pub(super) fn lowest(&mut self, x: u8) -> u8 {
        let t = self.zero();
        self.binary(SUB, t, t, Source::Host(x));
        self.binary(AND, t, t, Source::Host(x));
        t
    }

    /// So many 1 in the low bits, in a new register. The host shifts by 32 and more to 0.
    pub(super) fn low_bits(&mut self, count: u8) -> u8 {
        let t = self.constant_register(Constant::One);
        self.binary(SHL, t, t, Source::Host(count));
        self.binary(ADD, t, t, Source::Constant(Constant::Ones));
        t
    }

    pub(super) fn extract_field(&mut self, inst: &Inst) {
        let (x, offset, count) = (self.read(inst.a), self.read(inst.b), self.read(inst.c));
        let (mask, t) = (self.low_bits(count), self.temporary());
        self.binary(SHR, t, x, Source::Host(offset));
        self.binary(AND, t, t, Source::Host(mask));
        self.set(inst.dst, t);
    }

    pub(super) fn extract_signed_field(&mut self, inst: &Inst) {
        let (x, offset, count) = (self.read(inst.a), self.read(inst.b), self.read(inst.c));
        let (up, down, n, t) = (self.temporary(), self.temporary(), self.temporary(), self.zero());
        let word = self.constant_register(Constant::WordBits);
        // Cut at the word's end.
        self.binary(U_MIN, up, offset, Source::Host(word));
        self.binary(SUB, up, word, Source::Host(up));
        self.binary(U_MIN, n, count, Source::Host(up));
        self.binary(SUB, up, up, Source::Host(n));
        self.binary(SUB, down, word, Source::Host(n));
        let nothing = self.compare(true, I_EQUAL, n, Source::Host(t));
        // The field's top bit to the word's, and back.
        self.binary(SHL, up, x, Source::Host(up));
        self.binary(SAR, up, up, Source::Host(down));
        self.choose(t, nothing, Source::Host(t), up);
        self.set(inst.dst, t);
    }

    pub(super) fn insert_field(&mut self, inst: &Inst) {
        let (offset, count) = (self.read(inst.c), self.read(inst.aux));
        let (field, t) = (self.low_bits(count), self.temporary());
        self.binary(SHL, field, field, Source::Host(offset));
        let (x, y) = (self.read(inst.a), self.read(inst.b));
        self.binary(SHL, t, y, Source::Host(offset));
        // Where the field is the inserted bits, else those of the base.
        let (to, inserted, base) = (self.host(field), self.host(t), self.host(x));
        let code = X86::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8;
        self.asm.put(Instruction::with4(code, to, inserted, base, 0xcau32));
        self.set(inst.dst, field);
    }

    /// The high words of products of signed numbers.
    pub(super) fn signed_high_product(&mut self, inst: &Inst) {
        let (x, y) = (self.read(inst.a), self.read(inst.b));
        let (t, u) = (self.high_product(x, y), self.temporary());
        for (sign, other) in [(x, y), (y, x)] {
            self.by(SAR_BY, u, sign, 31);
            self.binary(AND, u, u, Source::Host(other));
            self.binary(SUB, t, t, Source::Host(u));
        }
        self.set(inst.dst, t);
    }

    /// A ballot's bits of the lanes that a subgroup has, in a new register.
    pub(super) fn ballot(&mut self, ballot: u16) -> u8 {
        let (x, t) = (self.read(ballot), self.temporary());
        let lanes = crate::ops::group::lanes_below(self.code.subgroup_size);
        self.spread_bits(t, lanes);
        self.binary(AND, t, t, Source::Host(x));
        t
    }

    /// Of each lane the bit of its number, in a new register.
    pub(super) fn own_bits(&mut self) -> u8 {
        let (t, lanes) = (self.constant_register(Constant::One), self.temporary());
        let numbers = if self.part == 0 { Constant::Steps1 } else { Constant::UpperLanes };
        self.unary(LOAD, lanes, Source::Constant(numbers));
        self.binary(SHL, t, t, Source::Host(lanes));
        t
    }

    /// Where words have bits in common.
    pub(super) fn test_bits(&mut self, x: u8, y: u8) -> u8 {
        let (k, x, y) = (self.host_mask(), self.host(x), self.host(y));
        let code = X86::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32;
        self.asm.put(Instruction::with3(code, Register::K0 + u32::from(k), x, y));
        k
    }

    pub(super) fn count_ballot(&mut self, inst: &Inst) {
        let t = self.ballot(inst.a);
        if inst.imm > 0 {
            // 1: up to the own lane, else before it.
            let below = self.own_bits();
            if inst.imm == 1 {
                self.binary(ADD, below, below, Source::Host(below));
            }
            self.binary(ADD, below, below, Source::Constant(Constant::Ones));
            self.binary(AND, t, t, Source::Host(below));
        }
        let count = self.count_bits(t);
        self.set(inst.dst, count);
    }

    /// 1 where the condition holds, else 0.
    pub(super) fn one_where(&mut self, to: u16, condition: u8) {
        let zero = self.zero();
        self.choose(zero, condition, Source::Constant(Constant::One), zero);
        self.set(to, zero);
    }
}
