//! Floats: extremes, rounding, comparisons, and conversions from and to halves and integers.

use super::*;

impl Part<'_> {
    /// The canonical NaN in place of any other.
    pub(in crate::native) fn canonical(&mut self, to: u16, t: u8) {
        let nan = self.compare_floats(UNORDERED, t, Source::Host(t));
        let k = self.result(to);
        self.choose(k, nan, Source::Constant(Constant::Nan), t);
        self.written(to, k);
    }

    /// The lesser or the greater; a NaN is ignored. `of_zeros` joins the bits of equal values.
    pub(super) fn extreme(&mut self, inst: &Inst, operation: Operation, of_zeros: Operation) {
        let (x, y) = (self.read(inst.a), self.read(inst.b));
        let t = self.bound(x, y, operation, of_zeros);
        self.canonical(inst.dst, t);
    }

    /// The same; if both are NaN, any NaN.
    pub(in crate::native) fn bound(&mut self, x: u8, y: u8, operation: Operation, of_zeros: Operation) -> u8 {
        let (t, zero) = (self.temporary(), self.temporary());
        self.binary(operation, t, y, Source::Host(x));
        self.binary(of_zeros, zero, y, Source::Host(x));
        let equal = self.compare_floats(EQUAL, x, Source::Host(y));
        self.choose(t, equal, Source::Host(zero), t);
        let nan = self.compare_floats(UNORDERED, x, Source::Host(x));
        self.choose(t, nan, Source::Host(y), t);
        t
    }

    /// 1, 0 or -1; 0 for what is no number.
    pub(super) fn float_sign(&mut self, inst: &Inst) {
        let (x, zero, t, u) = (self.read(inst.a), self.zero(), self.temporary(), self.temporary());
        let one = Source::Constant(Constant::FloatOne);
        let above = self.compare_floats(LESS, zero, Source::Host(x));
        self.choose(t, above, one, zero);
        let below = self.compare_floats(LESS, x, Source::Host(zero));
        self.choose(u, below, one, zero);
        self.binary(F_SUB, t, t, Source::Host(u));
        self.set(inst.dst, t);
    }

    pub(super) fn smooth_step(&mut self, inst: &Inst) {
        let (low, high, x) = (self.read(inst.a), self.read(inst.b), self.read(inst.c));
        let (t, u) = (self.temporary(), self.temporary());
        self.binary(F_SUB, t, x, Source::Host(low));
        self.binary(F_SUB, u, high, Source::Host(low));
        self.binary(F_DIV, t, t, Source::Host(u));
        let zero = self.zero();
        let t = self.bound(t, zero, F_MAX, AND);
        let one = self.constant_register(Constant::FloatOne);
        let t = self.bound(t, one, F_MIN, OR);
        self.with_float(F_MUL, u, t, 2.0);
        self.spread_float(one, 3.0);
        self.binary(F_SUB, u, one, Source::Host(u));
        self.binary(F_MUL, t, t, Source::Host(t));
        self.binary(F_MUL, t, t, Source::Host(u));
        self.canonical(inst.dst, t);
    }

    pub(super) fn rounded(&mut self, inst: &Inst, mode: u32) {
        let (x, t) = (self.read(inst.a), self.temporary());
        self.by(F_ROUND, t, x, mode);
        self.canonical(inst.dst, t);
    }

    /// The lower half of a host register.
    pub(in crate::native) fn half_register(&self, k: u8) -> Register {
        match self.form {
            Form::Avx2 => Register::XMM0 + u32::from(k),
            Form::Avx512 => Register::YMM0 + u32::from(k),
        }
    }

    /// The low halves of `x` as floats of 32 bits, in `to`.
    pub fn widen_half(&mut self, x: u8, to: u8) {
        let (from, narrow, wide) = (self.host(x), self.half_register(to), self.host(to));
        if self.form == Form::Avx512 {
            self.asm.registers(X86::EVEX_Vpmovdw_ymmm256_k1z_zmm, narrow, from);
            return self.asm.registers(X86::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae, wide, narrow);
        }
        self.binary(AND, to, x, Source::Constant(Constant::LowHalf));
        let upper = self.temporary();
        let upper = self.half_register(upper);
        self.asm.put(Instruction::with3(X86::VEX_Vextracti128_xmmm128_ymm_imm8, upper, wide, 1u32));
        self.asm.put(Instruction::with3(X86::VEX_Vpackusdw_xmm_xmm_xmmm128, narrow, narrow, upper));
        self.asm.registers(X86::VEX_Vcvtph2ps_ymm_xmmm128, wide, narrow);
    }

    /// A float of 16 bits, the canonical one if it is no number.
    pub(super) fn narrow_half(&mut self, a: u16) -> u8 {
        let (x, t) = (self.read(a), self.temporary());
        self.narrow_half_to(x, t);
        t
    }

    /// The same of `x`, in `t`.
    pub fn narrow_half_to(&mut self, x: u8, t: u8) {
        let (from, narrow, wide) = (self.host(x), self.half_register(t), self.host(t));
        let (narrowing, widening) = match self.form {
            Form::Avx512 => {
                (X86::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, X86::EVEX_Vpmovzxwd_zmm_k1z_ymmm256)
            }
            Form::Avx2 => (X86::VEX_Vcvtps2ph_xmmm128_ymm_imm8, X86::VEX_Vpmovzxwd_ymm_xmmm128),
        };
        self.asm.put(Instruction::with3(narrowing, narrow, from, 0u32));
        self.asm.registers(widening, wide, narrow);
        let nan = self.compare_floats(UNORDERED, x, Source::Host(x));
        self.choose(t, nan, Source::Constant(Constant::HalfNan), t);
    }

    pub(super) fn float_of_unsigned(&mut self, inst: &Inst) {
        if self.form == Form::Avx512 {
            let x = self.read(inst.a);
            let k = self.result(inst.dst);
            let (to, from) = (self.host(k), self.host(x));
            self.asm.registers(X86::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er, to, from);
            return self.written(inst.dst, k);
        }
        // Both halves as floats with exponents of their own, exactly; one rounding when they are added.
        let (x, low, high) = (self.read(inst.a), self.temporary(), self.temporary());
        self.binary(AND, low, x, Source::Constant(Constant::LowHalf));
        self.binary(OR, low, low, Source::Constant(Constant::Low));
        self.by(SHR_BY, high, x, 16);
        self.binary(OR, high, high, Source::Constant(Constant::High));
        self.binary(F_SUB, high, high, Source::Constant(Constant::Surplus));
        self.last(inst.dst, F_ADD, high, Source::Host(low));
    }

    /// Floats as signed integers, in `to`: beyond all of these the nearest one, for what is no number 0.
    pub(in crate::native) fn integers_of(&mut self, x: u8, to: u8) {
        self.unary(F_TO_S, to, Source::Host(x));
        self.for_a_while(|part| {
            let above = part.compare_floats(GREATER_EQUAL, x, Source::Constant(Constant::TwoTo31));
            part.choose(to, above, Source::Constant(Constant::Magnitude), to);
            let nan = part.compare_floats(UNORDERED, x, Source::Host(x));
            let zero = part.zero();
            part.choose(to, nan, Source::Host(zero), to);
        });
    }

    pub(super) fn unsigned_of_float(&mut self, inst: &Inst) {
        let (x, t, u, zero) = (self.read(inst.a), self.temporary(), self.temporary(), self.zero());
        // NaN and all below 0 become 0.
        self.binary(F_MAX, t, x, Source::Host(zero));
        if self.form == Form::Avx512 {
            // All beyond become the greatest.
            let (to, from) = (self.host(u), self.host(t));
            self.asm.registers(X86::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae, to, from);
            return self.set(inst.dst, u);
        }
        let upper = self.compare_floats(GREATER_EQUAL, t, Source::Constant(Constant::TwoTo31));
        self.binary(F_SUB, u, t, Source::Constant(Constant::TwoTo31));
        self.choose(t, upper, Source::Host(u), t);
        self.unary(F_TO_S, u, Source::Host(t));
        self.choose(zero, upper, Source::Constant(Constant::Sign), zero);
        self.binary(XOR, u, u, Source::Host(zero));
        let beyond = self.compare_floats(GREATER_EQUAL, t, Source::Constant(Constant::TwoTo31));
        self.choose(u, beyond, Source::Constant(Constant::Ones), u);
        self.set(inst.dst, u);
    }

    pub(super) fn float_test(&mut self, inst: &Inst, predicate: u32) -> u8 {
        let (x, y) = (self.read(inst.a), self.operand(inst.b));
        self.compare_floats(predicate, x, y)
    }

    pub fn compare_floats(&mut self, predicate: u32, x: u8, y: Source) -> u8 {
        let code = self.instruction(F_COMPARE);
        let (k, to) = match self.form {
            Form::Avx512 => {
                let k = self.host_mask();
                (k, Register::K0 + u32::from(k))
            }
            Form::Avx2 => {
                let k = self.temporary();
                (k, self.host(k))
            }
        };
        self.compare_with(code, to, x, y, predicate);
        k
    }
}
