//! Quotients and remainders of integers, and products' high words.

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
        let upper = X86::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        self.asm.registers(wide, wide_t, from_x);
        self.asm.registers(wide, wide_u, from_y);
        self.asm.put(Instruction::with3(divide, wide_t, wide_t, wide_u));
        self.asm.registers(narrow, half_q, wide_t);
        self.asm.put(Instruction::with3(upper, half_t, wide_x, 1u32));
        self.asm.put(Instruction::with3(upper, half_u, wide_y, 1u32));
        self.asm.registers(wide, wide_t, half_t);
        self.asm.registers(wide, wide_u, half_u);
        self.asm.put(Instruction::with3(divide, wide_t, wide_t, wide_u));
        self.asm.registers(narrow, half_t, wide_t);
        let join = X86::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
        self.asm.put(Instruction::with4(join, wide_q, wide_q, half_t, 1u32));
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
}
