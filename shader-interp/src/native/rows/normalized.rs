//! Normalized integers from floats and to floats, as texels and words packed of them have them. With 16 lanes
//! to a host register alone.

use super::*;
use crate::math::format::Numeric;
use crate::math::pack::BYTE_PARTS;

impl Part<'_> {
    /// The word in every lane.
    pub(in crate::native) fn spread_bits(&mut self, to: u8, word: u32) {
        self.general(X86::Mov_r32_imm32, word, Register::EAX);
        self.spread_general(to, Register::EAX);
    }

    /// The floats of normalized integers of so many bits, which are in `to`. `t` and `u` are for its use;
    /// `held` tells which word `u` holds in every lane.
    pub(in crate::native) fn of_normalized(
        &mut self,
        numeric: Numeric,
        width: u32,
        to: u8,
        (t, u): (u8, u8),
        held: &mut Option<u32>,
    ) {
        self.unary(F_FROM_S, to, Source::Host(to));
        if (numeric, width) == (Numeric::Unorm, 8) {
            let [near, rest] = BYTE_PARTS;
            self.with_float(F_MUL, t, to, rest);
            self.with_float(F_MUL, to, to, near);
            return self.binary(F_ADD, to, to, Source::Host(t));
        }
        let largest = (largest(numeric, width) as f32).to_bits();
        if held.replace(largest) != Some(largest) {
            self.spread_bits(u, largest);
        }
        self.binary(F_DIV, to, to, Source::Host(u));
        if numeric == Numeric::Snorm {
            self.spread_bits(t, (-1f32).to_bits());
            self.binary(F_MAX, to, to, Source::Host(t));
        }
    }

    /// The bits of components, of so many bits, in their place in `u`.
    pub(in crate::native) fn encode(
        &mut self,
        numeric: Numeric,
        (width, shift): (u32, u32),
        value: u8,
        (u, v): (u8, u8),
    ) {
        match numeric {
            Numeric::Unorm | Numeric::Snorm => {
                let least: f32 = if numeric == Numeric::Snorm { -1.0 } else { 0.0 };
                self.spread_bits(v, least.to_bits());
                // The least for what is no number: the second operand.
                self.binary(F_MAX, u, value, Source::Host(v));
                self.binary(F_MIN, u, u, Source::Constant(Constant::FloatOne));
                self.spread_bits(v, (largest(numeric, width) as f32).to_bits());
                self.binary(F_MUL, u, u, Source::Host(v));
                let wide = self.host(u);
                self.asm.registers(X86::EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er, wide, wide);
                self.by(SHL_BY, u, u, 32 - width);
            }
            Numeric::Sfloat => {
                self.narrow_half_to(value, u);
                self.by(SHL_BY, u, u, 32 - width);
            }
            _ => self.by(SHL_BY, u, value, 32 - width),
        }
        self.by(SHR_BY, u, u, 32 - width - shift);
    }

    /// The float of a part of a word, whose number is the second operand.
    pub(super) fn unpack(&mut self, inst: &Inst, numeric: Numeric, width: u32) {
        let (x, to, t, u) = (self.read(inst.a), self.temporary(), self.temporary(), self.temporary());
        let last = 32 / width - 1;
        match self.known(inst.b) {
            Some(part) => self.by(SHL_BY, t, x, width * (last - (part & last))),
            None => {
                let part = self.read(inst.b);
                self.spread_bits(u, last);
                self.binary(AND_NOT, t, part, Source::Host(u));
                self.by(SHL_BY, t, t, width.trailing_zeros());
                self.binary(SHL, t, x, Source::Host(t));
            }
        }
        self.by(if numeric == Numeric::Snorm { SAR_BY } else { SHR_BY }, to, t, 32 - width);
        self.of_normalized(numeric, width, to, (t, u), &mut None);
        self.set(inst.dst, to);
    }

    /// A word of as many floats as it has parts.
    pub(super) fn pack(&mut self, inst: &Inst, numeric: Numeric, width: u32) {
        let (word, u, v) = (self.zero(), self.temporary(), self.temporary());
        let parts = [inst.a, inst.b, inst.c, inst.aux].into_iter().zip((0..32).step_by(width as usize));
        for (register, shift) in parts {
            let value = self.read(register);
            self.encode(numeric, (width, shift), value, (u, v));
            self.binary(OR, word, word, Source::Host(u));
        }
        self.set(inst.dst, word);
    }
}

/// What 1 is as a normalized integer of so many bits.
fn largest(numeric: Numeric, width: u32) -> u32 {
    u32::MAX >> (32 - width + u32::from(numeric == Numeric::Snorm))
}
