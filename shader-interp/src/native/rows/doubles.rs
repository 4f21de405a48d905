//! Floats of 64 bits: low words in one register, high words in the next one. With 16 lanes to a host register
//! alone, eight values of which are in one: [`Part::pairs`].

use super::*;

const ROUND_DOUBLES: X86 = X86::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
const NARROW: X86 = X86::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er;

impl Part<'_> {
    /// `to = code(x, y)`.
    pub(in crate::native) fn double(&mut self, code: X86, to: u8, x: u8, y: u8) {
        let [to, x, y] = [to, x, y].map(|k| self.host(k));
        self.asm.put(Instruction::with3(code, to, x, y));
    }

    /// The result is `code(a, b)` of values of 64 bits.
    pub(super) fn doubles(&mut self, inst: &Inst, code: X86) {
        let (x, y) = (self.pairs(inst.a), self.pairs(inst.b));
        (0..2).for_each(|k| self.double(code, x[k], x[k], y[k]));
        self.set_pairs(inst.dst, x);
    }

    /// `a * b + c`, rounded twice.
    pub(super) fn double_mul_add(&mut self, inst: &Inst) {
        let (x, y) = (self.pairs(inst.a), self.pairs(inst.b));
        (0..2).for_each(|k| self.double(MUL_DOUBLES, x[k], x[k], y[k]));
        let z = self.pairs(inst.c);
        (0..2).for_each(|k| self.double(ADD_DOUBLES, x[k], x[k], z[k]));
        self.set_pairs(inst.dst, x);
    }

    /// The result is `code(a)` of values of 64 bits.
    pub(super) fn doubles_alone(&mut self, inst: &Inst, code: X86) {
        let x = self.pairs(inst.a);
        for k in x.map(|k| self.host(k)) {
            self.asm.registers(code, k, k);
        }
        self.set_pairs(inst.dst, x);
    }

    /// Where values of eight lanes compare so.
    pub(in crate::native) fn compare_doubles(&mut self, predicate: u32, x: u8, y: u8) -> u8 {
        let k = self.host_mask();
        let [x, y] = [x, y].map(|k| self.host(k));
        let code = X86::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
        self.asm.put(Instruction::with4(code, Register::K0 + u32::from(k), x, y, predicate));
        k
    }

    /// `to = yes` where the condition holds, else `no`.
    pub(in crate::native) fn choose_doubles(&mut self, to: u8, condition: u8, yes: u8, no: u8) {
        let [to, yes, no] = [to, yes, no].map(|k| self.host(k));
        self.masked(condition, Instruction::with3(X86::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64, to, no, yes));
    }

    /// The canonical NaN in place of any other.
    fn canonical_doubles(&mut self, x: [u8; 2]) {
        let nan = self.temporary();
        self.spread_double(nan, f64::NAN);
        for x in x {
            let unordered = self.compare_doubles(UNORDERED, x, x);
            self.choose_doubles(x, unordered, nan, x);
        }
    }

    pub(super) fn double_roots(&mut self, inst: &Inst, inverse: bool) {
        let x = self.pairs(inst.a);
        let one = self.temporary();
        self.spread_double(one, 1.0);
        for k in x {
            let wide = self.host(k);
            self.asm.registers(X86::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er, wide, wide);
            if inverse {
                self.double(DIV_DOUBLES, k, one, k);
            }
        }
        self.canonical_doubles(x);
        self.set_pairs(inst.dst, x);
    }

    /// `to` is `x` rounded.
    pub(in crate::native) fn round_doubles(&mut self, to: u8, x: u8, mode: u32) {
        let [to, x] = [to, x].map(|k| self.host(k));
        self.asm.put(Instruction::with3(ROUND_DOUBLES, to, x, mode));
    }

    /// Rounded, or if `rest` what is left then.
    pub(super) fn doubles_rounded(&mut self, inst: &Inst, mode: u32, rest: bool) {
        let (x, t) = (self.pairs(inst.a), self.temporary());
        for k in x {
            self.round_doubles(t, k, mode);
            if rest {
                self.double(SUB_DOUBLES, k, k, t);
            } else {
                let [to, from] = [k, t].map(|k| self.host(k));
                self.asm.registers(LOAD.0, to, from);
            }
        }
        self.canonical_doubles(x);
        self.set_pairs(inst.dst, x);
    }

    /// The lesser or the greater of `x` and `y`, in `x`; a NaN is ignored; if both are, any NaN.
    pub(in crate::native) fn bound_doubles(&mut self, x: u8, y: u8, least: bool) {
        self.for_a_while(|part| {
            let (t, zeros) = (part.temporary(), part.temporary());
            part.double(if least { MIN_DOUBLES } else { MAX_DOUBLES }, t, y, x);
            part.binary(if least { OR } else { AND }, zeros, y, Source::Host(x));
            let equal = part.compare_doubles(EQUAL, x, y);
            part.choose_doubles(t, equal, zeros, t);
            let nan = part.compare_doubles(UNORDERED, x, x);
            part.choose_doubles(x, nan, y, t);
        });
    }

    pub(super) fn extreme_doubles(&mut self, inst: &Inst, least: bool) {
        let (x, y) = (self.pairs(inst.a), self.pairs(inst.b));
        (0..2).for_each(|k| self.bound_doubles(x[k], y[k], least));
        self.canonical_doubles(x);
        self.set_pairs(inst.dst, x);
    }

    pub(super) fn clamp_doubles(&mut self, inst: &Inst) {
        let x = self.pairs(inst.a);
        for (bound, least) in [(inst.b, false), (inst.c, true)] {
            self.for_a_while(|part| {
                let y = part.pairs(bound);
                (0..2).for_each(|k| part.bound_doubles(x[k], y[k], least));
            });
        }
        self.canonical_doubles(x);
        self.set_pairs(inst.dst, x);
    }

    /// `a * (1 - c) + b * c`.
    pub(super) fn mix_doubles(&mut self, inst: &Inst) {
        let (x, y, z) = (self.pairs(inst.a), self.pairs(inst.b), self.pairs(inst.c));
        let (one, t) = (self.temporary(), self.temporary());
        self.spread_double(one, 1.0);
        for k in 0..2 {
            self.double(SUB_DOUBLES, t, one, z[k]);
            self.double(MUL_DOUBLES, x[k], x[k], t);
            self.double(MUL_DOUBLES, y[k], y[k], z[k]);
            self.double(ADD_DOUBLES, x[k], x[k], y[k]);
        }
        self.canonical_doubles(x);
        self.set_pairs(inst.dst, x);
    }

    /// Operates on the high words alone.
    pub(super) fn high_word(&mut self, inst: &Inst, operation: Operation, constant: Constant) {
        let (low, high, t, u) =
            (self.read(inst.a), self.read(inst.a + 1), self.temporary(), self.temporary());
        self.unary(LOAD, t, Source::Host(low));
        self.binary(operation, u, high, Source::Constant(constant));
        self.set(inst.dst, t);
        self.set(inst.dst + 1, u);
    }

    /// Eight lanes in each register, in their order, from words of 32 bits by this conversion.
    fn widened(&mut self, register: u16, code: X86) -> [u8; 2] {
        let (x, to) = (self.read(register), [self.temporary(), self.temporary()]);
        (0..2).for_each(|half| self.widen_half_of(code, to[half], x, half));
        to
    }

    /// Eight lanes of `from` in double precision, by this conversion.
    pub(in crate::native) fn widen_half_of(&mut self, code: X86, to: u8, from: u8, half: usize) {
        let (wide, mut narrow) = (self.host(to), self.half_register(from));
        if half == 1 {
            narrow = self.half_register(to);
            let from = self.host(from);
            self.asm.put(Instruction::with3(UPPER, narrow, from, 1u32));
        }
        self.asm.registers(code, wide, narrow);
    }

    /// Two times eight lanes as floats of 32 bits, all in the first register.
    pub(in crate::native) fn narrow_both(&mut self, x: [u8; 2]) {
        self.join_halves(NARROW, x);
    }

    /// Two times eight words by this conversion, all in the first register.
    pub(in crate::native) fn join_halves(&mut self, code: X86, x: [u8; 2]) {
        for k in x {
            let (narrow, wide) = (self.half_register(k), self.host(k));
            self.asm.registers(code, narrow, wide);
        }
        let (wide, upper) = (self.host(x[0]), self.half_register(x[1]));
        self.asm.put(Instruction::with4(JOIN, wide, wide, upper, 1u32));
    }

    pub(super) fn double_of_word(&mut self, inst: &Inst, code: X86) {
        let x = self.widened(inst.a, code);
        if code == WIDEN {
            self.canonical_doubles(x);
        }
        let (t, u) = (self.temporary(), self.temporary());
        for (to, words) in [(t, Constant::Even), (u, Constant::Odd)] {
            self.unary(LOAD, to, Source::Constant(words));
            let [to, low, high] = [to, x[0], x[1]].map(|k| self.host(k));
            self.asm.put(Instruction::with3(X86::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32, to, low, high));
        }
        self.set(inst.dst, t);
        self.set(inst.dst + 1, u);
    }

    pub(super) fn double_of_float(&mut self, inst: &Inst) {
        self.double_of_word(inst, WIDEN);
    }

    /// Values of 64 bits to floats of 32 bits by this conversion.
    pub(super) fn float_of_pairs(&mut self, inst: &Inst, code: X86) {
        let x = self.pairs(inst.a);
        for k in x {
            let (narrow, wide) = (self.half_register(k), self.host(k));
            self.asm.registers(code, narrow, wide);
        }
        let t = self.temporary();
        self.unary(LOAD, t, Source::Constant(Constant::QuadsLow));
        let [to, low, high] = [t, x[0], x[1]].map(|k| self.host(k));
        self.asm.put(Instruction::with3(X86::EVEX_Vpermi2q_zmm_k1z_zmm_zmmm512b64, to, low, high));
        self.canonical(inst.dst, t);
    }

    pub(super) fn float_of_double(&mut self, inst: &Inst) {
        self.float_of_pairs(inst, NARROW);
    }

    /// Where values of 64 bits compare so.
    pub(super) fn test_doubles(&mut self, inst: &Inst, predicate: u32) -> u8 {
        let (x, y) = (self.pairs(inst.a), self.pairs(inst.b));
        let ones = self.constant_register(Constant::Ones);
        for k in 0..2 {
            let holds = self.compare_doubles(predicate, x[k], y[k]);
            let [to, from] = [x[k], ones].map(|k| self.host(k));
            let spread = Instruction::with2(X86::EVEX_Vmovdqa64_zmm_k1z_zmmm512, to, from);
            self.masked_zero(holds, spread);
        }
        let low = self.low_words(x);
        let (k, words) = (self.host_mask(), self.host(low));
        let code = X86::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32;
        self.asm.put(Instruction::with3(code, Register::K0 + u32::from(k), words, words));
        k
    }

    /// `x - y f(x / y)` in double precision, with the sign of `x` or of `y` if it is zero.
    pub(super) fn modulo(&mut self, inst: &Inst, mode: u32, sign_of: u16) {
        let (x, y) = (self.widened(inst.a, WIDEN), self.widened(inst.b, WIDEN));
        let q = self.temporary();
        for k in 0..2 {
            self.double(DIV_DOUBLES, q, x[k], y[k]);
            self.round_doubles(q, q, mode);
            self.double(MUL_DOUBLES, q, y[k], q);
            self.double(SUB_DOUBLES, x[k], x[k], q);
        }
        self.narrow_both(x);
        let (t, zero, sign) = (x[0], self.zero(), self.read(sign_of));
        let nothing = self.compare_floats(EQUAL, t, Source::Host(zero));
        self.binary(AND, zero, sign, Source::Constant(Constant::Sign));
        self.choose(t, nothing, Source::Host(zero), t);
        self.canonical(inst.dst, t);
    }
}
