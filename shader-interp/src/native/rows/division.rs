//! Quotients and remainders of integers, and products' high words.

use super::functions::{BELOW_ONE, spread};
use super::*;

impl Part<'_> {
    /// The quotient of unsigned numbers, 0 where the divisor is; both operands.
    pub(super) fn divided(&mut self, a: u16, b: u16) -> (u8, u8, u8) {
        let (x, y) = (self.read(a), self.read(b));
        (self.quotient(x, y), x, y)
    }

    /// In double precision: a rounded quotient never reaches an integer above the exact one.
    pub(super) fn quotient(&mut self, x: u8, y: u8) -> u8 {
        let (q, t, u) = (self.temporary(), self.temporary(), self.temporary());
        match self.form {
            Form::Avx512 => self.quotient_of_16(x, y, [q, t, u]),
            Form::Avx2 => self.quotient_of_8(x, y, [q, t, u]),
        }
        self.binary(XOR, t, t, Source::Host(t));
        let nothing = self.compare(true, I_EQUAL, y, Source::Host(t));
        self.choose(q, nothing, Source::Host(t), q);
        q
    }

    fn quotient_of_16(&mut self, x: u8, y: u8, [q, t, u]: [u8; 3]) {
        let [from_x, from_y, half_q, half_t, half_u] = [x, y, q, t, u].map(|k| self.half_register(k));
        let [wide_x, wide_y, wide_q, wide_t, wide_u] = [x, y, q, t, u].map(|k| self.host(k));
        let wide = X86::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er;
        let narrow = X86::EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae;
        let divide = X86::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
        self.asm.registers(wide, wide_t, from_x);
        self.asm.registers(wide, wide_u, from_y);
        self.asm.put(Instruction::with3(divide, wide_t, wide_t, wide_u));
        self.asm.registers(narrow, half_q, wide_t);
        self.asm.put(Instruction::with3(UPPER, half_t, wide_x, 1u32));
        self.asm.put(Instruction::with3(UPPER, half_u, wide_y, 1u32));
        self.asm.registers(wide, wide_t, half_t);
        self.asm.registers(wide, wide_u, half_u);
        self.asm.put(Instruction::with3(divide, wide_t, wide_t, wide_u));
        self.asm.registers(narrow, half_t, wide_t);
        self.asm.put(Instruction::with4(JOIN, wide_q, wide_q, half_t, 1u32));
    }

    /// Words in the place of the fraction of 2^52 are that much more than themselves.
    fn quotient_of_8(&mut self, x: u8, y: u8, [q, t, u]: [u8; 3]) {
        let base = self.constant(Constant::TwoTo52);
        let (add, sub, divide) = (
            X86::VEX_Vaddpd_ymm_ymm_ymmm256,
            X86::VEX_Vsubpd_ymm_ymm_ymmm256,
            X86::VEX_Vdivpd_ymm_ymm_ymmm256,
        );
        for (half, to) in [(0u32, q), (1, t)] {
            for (from, to) in [(x, to), (y, u)] {
                let (from, narrow, wide) = (self.host(from), self.half_register(to), self.host(to));
                let part = X86::VEX_Vextracti128_xmmm128_ymm_imm8;
                self.asm.put(Instruction::with3(part, narrow, from, half));
                self.asm.registers(X86::VEX_Vpmovzxdq_ymm_xmmm128, wide, narrow);
                self.binary(OR, to, to, Source::Constant(Constant::TwoTo52));
                self.asm.put(Instruction::with3(sub, wide, wide, base));
            }
            let [wide, divisor] = [to, u].map(|k| self.host(k));
            self.asm.put(Instruction::with3(divide, wide, wide, divisor));
            self.asm.put(Instruction::with3(X86::VEX_Vroundpd_ymm_ymmm256_imm8, wide, wide, TO_ZERO));
            self.asm.put(Instruction::with3(add, wide, wide, base));
        }
        let [q, t] = [q, t].map(|k| self.host(k));
        self.asm.put(Instruction::with4(X86::VEX_Vshufps_ymm_ymm_ymmm256_imm8, q, q, t, 0x88u32));
        self.asm.put(Instruction::with3(X86::VEX_Vpermq_ymm_ymmm256_imm8, q, q, 0xd8u32));
    }

    /// `x - q * y`, in `q`; 0 where `y` is.
    pub(super) fn rest(&mut self, q: u8, x: u8, y: u8) -> u8 {
        self.binary(MUL, q, q, Source::Host(y));
        self.binary(SUB, q, x, Source::Host(q));
        let zero = self.zero();
        let nothing = self.compare(true, I_EQUAL, y, Source::Host(zero));
        self.choose(q, nothing, Source::Host(zero), q);
        q
    }

    pub(super) fn remainder(&mut self, inst: &Inst) -> (u8, u8, u8) {
        let (q, x, y) = self.divided(inst.a, inst.b);
        (self.rest(q, x, y), x, y)
    }

    pub(super) fn signed_quotient(&mut self, inst: &Inst) -> (u8, u8, u8) {
        let (x, y, t, u) = (self.read(inst.a), self.read(inst.b), self.temporary(), self.temporary());
        self.unary(ABS, t, Source::Host(x));
        self.unary(ABS, u, Source::Host(y));
        let q = self.quotient(t, u);
        self.binary(XOR, t, x, Source::Host(y));
        self.binary(XOR, u, u, Source::Host(u));
        let negative = self.compare(true, I_LESS, t, Source::Host(u));
        self.binary(SUB, u, u, Source::Host(q));
        self.choose(q, negative, Source::Host(u), q);
        (q, x, y)
    }

    /// And the divisor.
    pub(super) fn signed_remainder(&mut self, inst: &Inst) -> (u8, u8) {
        let (q, x, y) = self.signed_quotient(inst);
        (self.rest(q, x, y), y)
    }

    /// The high words of products of unsigned numbers.
    pub(super) fn high_product(&mut self, x: u8, y: u8) -> u8 {
        let (t, u, v) = (self.temporary(), self.temporary(), self.temporary());
        let [x, y] = [x, y].map(|k| self.host(k));
        let [even, odd, other] = [t, u, v].map(|k| self.host(k));
        let (product, down) = match self.form {
            Form::Avx512 => {
                (X86::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64, X86::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8)
            }
            Form::Avx2 => (X86::VEX_Vpmuludq_ymm_ymm_ymmm256, X86::VEX_Vpsrlq_ymm_ymm_imm8),
        };
        self.asm.put(Instruction::with3(down, odd, x, 32u32));
        self.asm.put(Instruction::with3(down, other, y, 32u32));
        self.asm.put(Instruction::with3(product, odd, odd, other));
        self.asm.put(Instruction::with3(product, even, x, y));
        self.asm.put(Instruction::with3(down, even, even, 32u32));
        self.binary(AND, u, u, Source::Constant(Constant::OddOnes));
        self.binary(OR, t, t, Source::Host(u));
        t
    }

    /// A division of integers of 64 bits: 0 where the divisor is.
    pub(super) fn division_of_pairs(&mut self, inst: &Inst, signed: bool, of: Of) {
        let (x, y) = (self.pairs(inst.a), self.pairs(inst.b));
        for (x, y) in x.into_iter().zip(y) {
            self.for_a_while(|part| part.divide_eight(x, y, signed, of));
        }
        self.set_pairs(inst.dst, x);
    }

    /// The same of eight lanes; the result is in `x`. A quotient in double precision, made less by more than
    /// its error, leaves a remainder that is no more than 2^16 divisors; the quotient of that is at most 1
    /// too small.
    fn divide_eight(&mut self, x: u8, y: u8, signed: bool, of: Of) {
        let [d, e, q, r, n, m] = std::array::from_fn(|_| self.temporary());
        let [wide_x, wide_y] = [x, y].map(|k| self.host(k));
        let (to_n, to_m) = (self.host(n), self.host(m));
        let magnitude = if signed { X86::EVEX_Vpabsq_zmm_k1z_zmmm512b64 } else { COPY };
        self.asm.registers(magnitude, to_n, wide_x);
        self.asm.registers(magnitude, to_m, wide_y);
        let [wide_d, wide_e, wide_q] = [d, e, q].map(|k| self.host(k));
        self.asm.registers(DOUBLES_OF, wide_e, to_m);
        self.lower_quotient(q, n, e);
        self.double(MUL_PAIRS, d, q, m);
        self.double(SUB_PAIRS, r, n, d);
        self.lower_quotient(d, r, e);
        self.double(ADD_PAIRS, q, q, d);
        self.double(MUL_PAIRS, d, d, m);
        self.double(SUB_PAIRS, r, r, d);
        let (one_more, wide_r) = (self.host_mask(), self.host(r));
        let compare = X86::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8;
        let to = Register::K0 + u32::from(one_more);
        self.asm.put(Instruction::with4(compare, to, wide_r, to_m, I_NOT_LESS));
        self.masked(one_more, Instruction::with3(SUB_PAIRS, wide_r, wide_r, to_m));
        let ones = self.constant(Constant::Ones);
        self.masked(one_more, Instruction::with3(SUB_PAIRS, wide_q, wide_q, ones));
        let result = if of == Of::Quotient { q } else { r };
        if signed {
            match of {
                Of::Quotient => self.double(XOR_PAIRS, d, x, y),
                _ => self.asm.registers(COPY, wide_d, wide_x),
            }
            let sign = X86::EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8;
            self.asm.put(Instruction::with3(sign, wide_d, wide_d, 63u32));
            self.double(XOR_PAIRS, result, result, d);
            self.double(SUB_PAIRS, result, result, d);
        }
        if of == Of::Modulo {
            // Where the remainder's sign is not the divisor's, one more divisor.
            let (some, other) = (self.host_mask(), self.host_mask());
            let [of_some, of_other] = [some, other].map(|k| Register::K0 + u32::from(k));
            self.asm.put(Instruction::with3(ANY_OF_PAIRS, of_some, wide_r, wide_r));
            self.double(XOR_PAIRS, d, r, y);
            self.zero_register(e);
            let compare = X86::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8;
            self.masked(some, Instruction::with4(compare, of_other, wide_d, wide_e, I_LESS));
            self.masked(other, Instruction::with3(ADD_PAIRS, wide_r, wide_r, wide_y));
        }
        let (divides, result) = (self.host_mask(), self.host(result));
        let to = Register::K0 + u32::from(divides);
        self.asm.put(Instruction::with3(ANY_OF_PAIRS, to, wide_y, wide_y));
        self.masked_zero(divides, Instruction::with2(COPY, wide_x, result));
    }

    /// `to` is no more than the unsigned `n` over the double `divisor`, and less by 2^-49 of it at most.
    fn lower_quotient(&mut self, to: u8, n: u8, divisor: u8) {
        let [wide, from] = [to, n].map(|k| self.host(k));
        self.asm.registers(DOUBLES_OF, wide, from);
        self.double(DIV_DOUBLES, to, to, divisor);
        let below = self.place_of_double(BELOW_ONE.to_bits());
        self.asm.put(spread(Instruction::with3(MUL_DOUBLES, wide, wide, below)));
        self.asm.registers(X86::EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae, wide, wide);
    }
}

const COPY: X86 = X86::EVEX_Vmovdqa64_zmm_k1z_zmmm512;
const DOUBLES_OF: X86 = X86::EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er;
const MUL_PAIRS: X86 = X86::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64;
const ADD_PAIRS: X86 = X86::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
const SUB_PAIRS: X86 = X86::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64;
const XOR_PAIRS: X86 = X86::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64;
const ANY_OF_PAIRS: X86 = X86::EVEX_Vptestmq_kr_k1_zmm_zmmm512b64;
