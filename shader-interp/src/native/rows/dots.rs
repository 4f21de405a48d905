//! Dot products of four bytes: as pairs of 16-bit integers, products of which a host instruction adds.

use super::*;

/// Whether the bytes of the first and of the second operand are signed.
type Signs = [bool; 2];

impl Part<'_> {
    /// The bytes of even and of odd numbers, 16 bits each.
    fn halves_of_bytes(&mut self, x: u8, signed: bool) -> [u8; 2] {
        let (even, odd) = (self.temporary(), self.temporary());
        let right = if signed { SAR_HALVES_BY } else { SHR_HALVES_BY };
        self.by(SHL_HALVES_BY, even, x, 8);
        self.by(right, even, even, 8);
        self.by(right, odd, x, 8);
        [even, odd]
    }

    /// In a new register.
    fn dot_of(&mut self, inst: &Inst, signs: Signs) -> u8 {
        let (x, y) = (self.read(inst.a), self.read(inst.b));
        let ([even, odd], others) = (self.halves_of_bytes(x, signs[0]), self.halves_of_bytes(y, signs[1]));
        self.binary(MUL_ADD_HALVES, even, even, Source::Host(others[0]));
        self.binary(MUL_ADD_HALVES, odd, odd, Source::Host(others[1]));
        self.binary(ADD, even, even, Source::Host(odd));
        even
    }

    pub(super) fn dot(&mut self, inst: &Inst, signs: Signs) {
        let t = self.dot_of(inst, signs);
        self.set(inst.dst, t);
    }

    /// Added to `c`, where it is signed: at the ends of its range if it is beyond.
    pub(super) fn dot_added(&mut self, inst: &Inst, signs: Signs) {
        let t = self.dot_of(inst, signs);
        let (z, sum, beyond, zero) = (self.read(inst.c), self.temporary(), self.temporary(), self.zero());
        self.binary(ADD, sum, z, Source::Host(t));
        // Its sign is neither that of the one nor that of the other.
        self.binary(XOR, beyond, z, Source::Host(sum));
        self.binary(XOR, t, t, Source::Host(sum));
        self.binary(AND, beyond, beyond, Source::Host(t));
        let beyond = self.compare(true, I_LESS, beyond, Source::Host(zero));
        self.by(SAR_BY, t, z, 31);
        self.binary(XOR, t, t, Source::Constant(Constant::Magnitude));
        self.choose(sum, beyond, Source::Host(t), sum);
        self.set(inst.dst, sum);
    }

    /// The same without signs.
    pub(super) fn unsigned_dot_added(&mut self, inst: &Inst) {
        let t = self.dot_of(inst, [false; 2]);
        let z = self.read(inst.c);
        self.binary(ADD, t, z, Source::Host(t));
        let beyond = self.compare(false, I_LESS, t, Source::Host(z));
        self.choose(t, beyond, Source::Constant(Constant::Ones), t);
        self.set(inst.dst, t);
    }
}
