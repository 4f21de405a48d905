//! Integers of 32 bits: shifts, rotations, comparisons.

use super::*;

impl Part<'_> {
    /// A shift of the first operand by the second, to the register that `to` gives.
    pub(super) fn shift(
        &mut self,
        inst: &Inst,
        (by_lanes, by): Shift,
        to: impl FnOnce(&mut Self) -> u8,
    ) -> u8 {
        let x = self.read(inst.a);
        if let Some(count) = self.known(inst.b) {
            let to = to(self);
            self.by(by, to, x, count & 31);
            return to;
        }
        let (y, t) = (self.read(inst.b), self.temporary());
        self.binary(AND, t, y, Source::Constant(Constant::ShiftBits));
        let to = to(self);
        self.binary(by_lanes, to, x, Source::Host(t));
        to
    }

    pub(super) fn shifted(&mut self, inst: &Inst, shift: Shift) {
        let k = self.shift(inst, shift, |part| part.result(inst.dst));
        self.written(inst.dst, k);
    }

    pub(super) fn rotate(&mut self, inst: &Inst) {
        let x = self.read(inst.a);
        let known = self.known(inst.b).map(|count| count & 31);
        if self.form == Form::Avx512 {
            let y = if known.is_none() { self.read(inst.b) } else { x };
            let k = self.result(inst.dst);
            let (to, x, y) = (self.host(k), self.host(x), self.host(y));
            self.asm.put(match known {
                Some(count) => Instruction::with3(X86::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8, to, x, count),
                None => Instruction::with3(X86::EVEX_Vprolvd_zmm_k1z_zmm_zmmm512b32, to, x, y),
            });
            return self.written(inst.dst, k);
        }
        let t = self.temporary();
        match known {
            Some(count) => {
                let u = self.temporary();
                self.by(SHL_BY, t, x, count);
                self.by(SHR_BY, u, x, 32 - count);
                self.binary(OR, t, t, Source::Host(u));
            }
            None => {
                let (y, u, zero) = (self.read(inst.b), self.temporary(), self.zero());
                self.binary(AND, u, y, Source::Constant(Constant::ShiftBits));
                self.binary(SHL, t, x, Source::Host(u));
                self.binary(SUB, u, zero, Source::Host(u));
                self.binary(AND, u, u, Source::Constant(Constant::ShiftBits));
                self.binary(SHR, u, x, Source::Host(u));
                self.binary(OR, t, t, Source::Host(u));
            }
        }
        self.set(inst.dst, t);
    }

    pub(super) fn sign_extend(&mut self, inst: &Inst, bits: u32) {
        let (x, t) = (self.read(inst.a), self.temporary());
        self.by(SHL_BY, t, x, bits);
        self.by(SAR_BY, t, t, bits);
        self.set(inst.dst, t);
    }

    pub(super) fn compare_integers(&mut self, inst: &Inst, signed: bool, predicate: u32) -> u8 {
        let (x, y) = (self.read(inst.a), self.operand(inst.b));
        self.compare(signed, predicate, x, y)
    }

    pub(in crate::native) fn compare(&mut self, signed: bool, predicate: u32, x: u8, y: Source) -> u8 {
        if self.form == Form::Avx512 {
            let k = self.host_mask();
            let code = match signed {
                true => X86::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
                false => X86::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
            };
            self.compare_with(code, Register::K0 + u32::from(k), x, y, predicate);
            return k;
        }
        let equal = Operation(X86::INVALID, X86::VEX_Vpcmpeqd_ymm_ymm_ymmm256);
        let greater = Operation(X86::INVALID, X86::VEX_Vpcmpgtd_ymm_ymm_ymmm256);
        let t = self.temporary();
        let inverted = match (signed, predicate) {
            (_, I_EQUAL | I_NOT_EQUAL) => {
                self.binary(equal, t, x, y);
                predicate == I_NOT_EQUAL
            }
            // x <= y is not x > y; x < y is not y <= x.
            (true, I_LESS_EQUAL) => {
                self.binary(greater, t, x, y);
                true
            }
            (true, _) => {
                self.unary(LOAD, t, y);
                self.binary(greater, t, t, Source::Host(x));
                false
            }
            (false, I_LESS_EQUAL) => {
                self.binary(U_MIN, t, x, y);
                self.binary(equal, t, x, Source::Host(t));
                false
            }
            (false, _) => {
                self.binary(U_MAX, t, x, y);
                self.binary(equal, t, x, Source::Host(t));
                true
            }
        };
        if inverted {
            self.binary(XOR, t, t, Source::Constant(Constant::Ones));
        }
        t
    }
}
