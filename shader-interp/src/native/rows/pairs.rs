//! Integers of 64 bits: low words in one register, high words in the next one.

use super::*;

impl Part<'_> {
    /// 16 lanes: values of 64 bits as such, those of lanes 0, 1, 4, 5 and so on, and the others.
    pub(super) fn pairs(&mut self, register: u16) -> [u8; 2] {
        self.keep(|part| {
            let (low, high) = (part.read(register), part.read(register + 1));
            let [low, high] = [low, high].map(|k| part.host(k));
            [X86::EVEX_Vpunpckldq_zmm_k1z_zmm_zmmm512b32, X86::EVEX_Vpunpckhdq_zmm_k1z_zmm_zmmm512b32].map(
                |code| {
                    let t = part.temporary();
                    let to = part.host(t);
                    part.asm.put(Instruction::with3(code, to, low, high));
                    t
                },
            )
        })
    }

    /// Words of values of 64 bits as [`Part::pairs`] has them, by what `VSHUFPS` calls them.
    fn words_of(&mut self, to: u8, x: [u8; 2], words: u32) {
        let [to, low, high] = [to, x[0], x[1]].map(|k| self.host(k));
        let code = X86::EVEX_Vshufps_zmm_k1z_zmm_zmmm512b32_imm8;
        self.asm.put(Instruction::with4(code, to, low, high, words));
    }

    /// Their low words, in a new register.
    pub(super) fn low_words(&mut self, x: [u8; 2]) -> u8 {
        let low = self.temporary();
        self.words_of(low, x, 0x88);
        low
    }

    /// Two vector registers are values of 64 bits as [`Part::pairs`] has them.
    pub(super) fn set_pairs(&mut self, to: u16, x: [u8; 2]) {
        let low = self.low_words(x);
        self.words_of(x[0], x, 0xdd);
        self.set(to, low);
        self.set(to + 1, x[0]);
    }

    /// The lesser or the greater of numbers of 64 bits, and other operations of two of them.
    pub(super) fn of_pairs(&mut self, inst: &Inst, code: X86) {
        let (x, y) = (self.pairs(inst.a), self.pairs(inst.b));
        for k in 0..2 {
            let [to, y] = [x[k], y[k]].map(|k| self.host(k));
            self.asm.put(Instruction::with3(code, to, to, y));
        }
        self.set_pairs(inst.dst, x);
    }

    pub(super) fn sum_of_pairs(&mut self, inst: &Inst) {
        let (t, u, x, high) = (self.temporary(), self.temporary(), self.read(inst.a), inst.a + 1);
        let y = self.operand(inst.b);
        self.binary(ADD, t, x, y);
        let carry = self.compare(false, I_LESS, t, Source::Host(x));
        let (x, y) = (self.read(high), self.operand(inst.b + 1));
        self.binary(ADD, u, x, y);
        let more = self.temporary();
        // The carry is 1: all bits set are -1.
        let ones = self.constant_register(Constant::Ones);
        self.binary(SUB, more, u, Source::Host(ones));
        self.choose(u, carry, Source::Host(more), u);
        self.set(inst.dst, t);
        self.set(inst.dst + 1, u);
    }

    pub(super) fn difference_of_pairs(&mut self, inst: &Inst) {
        let (x, y, t, u) = (self.read(inst.a), self.read(inst.b), self.temporary(), self.temporary());
        self.binary(SUB, t, x, Source::Host(y));
        let borrow = self.compare(false, I_LESS, x, Source::Host(y));
        let (x, y) = (self.read(inst.a + 1), self.read(inst.b + 1));
        self.binary(SUB, u, x, Source::Host(y));
        let ones = self.constant_register(Constant::Ones);
        // The borrow is 1: all bits set are -1.
        self.binary(ADD, ones, u, Source::Host(ones));
        self.choose(u, borrow, Source::Host(ones), u);
        self.set(inst.dst, t);
        self.set(inst.dst + 1, u);
    }

    pub(super) fn negated_pair(&mut self, inst: &Inst) {
        let (zero, low, high) = (self.zero(), self.temporary(), self.temporary());
        let (x, x_high) = (self.read(inst.a), self.read(inst.a + 1));
        self.binary(SUB, low, zero, Source::Host(x));
        // All bits of the high words are inverted, and 1 is added where the low words are 0.
        let none = self.compare(true, I_EQUAL, x, Source::Host(zero));
        self.binary(SUB, zero, zero, Source::Host(x_high));
        let ones = self.constant_register(Constant::Ones);
        self.binary(XOR, high, x_high, Source::Host(ones));
        self.choose(high, none, Source::Host(zero), high);
        self.set(inst.dst, low);
        self.set(inst.dst + 1, high);
    }

    /// 8 lanes: products of 64 bits, by words.
    pub(super) fn product_of_pairs(&mut self, inst: &Inst) {
        let (x, y) = (self.read(inst.a), self.read(inst.b));
        let (high, t) = (self.high_product(x, y), self.temporary());
        let y_high = self.operand(inst.b + 1);
        self.binary(MUL, t, x, y_high);
        self.binary(ADD, high, high, Source::Host(t));
        let x_high = self.operand(inst.a + 1);
        self.binary(MUL, t, y, x_high);
        self.binary(ADD, high, high, Source::Host(t));
        self.binary(MUL, t, x, Source::Host(y));
        self.set(inst.dst, t);
        self.set(inst.dst + 1, high);
    }

    /// A shift of 64 bits from the words `near` towards the words `far`: near words, far words. The host
    /// shifts by 32 and more to 0.
    pub(super) fn shifted_pair(&mut self, near: u16, far: u16, by: u16, on: Shift, back: Shift) -> (u8, u8) {
        if let Some(count) = self.known(by) {
            return self.shifted_pair_by(near, far, count & 63, on.1, back.1);
        }
        let (on, back) = (on.0, back.0);
        let (n, t, u, v) = (self.read(by), self.temporary(), self.temporary(), self.temporary());
        let count = self.constant_register(Constant::PairShiftBits);
        self.binary(AND, count, n, Source::Host(count));
        let (near, far) = (self.read(near), self.read(far));
        self.binary(on, t, far, Source::Host(count));
        let word = self.constant_register(Constant::WordBits);
        self.binary(SUB, u, word, Source::Host(count));
        self.binary(back, u, near, Source::Host(u));
        self.binary(OR, t, t, Source::Host(u));
        self.binary(SUB, u, count, Source::Host(word));
        self.binary(on, u, near, Source::Host(u));
        self.binary(OR, t, t, Source::Host(u));
        self.binary(on, v, near, Source::Host(count));
        (v, t)
    }

    /// A shift of signed numbers of 64 bits to the right: low words, high words.
    pub(super) fn shifted_signed_pair(&mut self, inst: &Inst) -> (u8, u8) {
        if let Some(count) = self.known(inst.b).map(|count| count & 63) {
            let (high, t, u) = (self.read(inst.a + 1), self.temporary(), self.temporary());
            self.by(SAR_BY, u, high, count.min(31));
            if count >= 32 {
                self.by(SAR_BY, t, high, count - 32);
                return (t, u);
            }
            let low = self.read(inst.a);
            self.by(SHR_BY, t, low, count);
            let v = self.temporary();
            self.by(SHL_BY, v, high, 32 - count);
            self.binary(OR, t, t, Source::Host(v));
            return (t, u);
        }
        let (n, t, u) = (self.read(inst.b), self.temporary(), self.temporary());
        let count = self.constant_register(Constant::PairShiftBits);
        self.binary(AND, count, n, Source::Host(count));
        let (low, high) = (self.read(inst.a), self.read(inst.a + 1));
        let word = self.constant_register(Constant::WordBits);
        self.binary(SHR, t, low, Source::Host(count));
        self.binary(SUB, u, word, Source::Host(count));
        self.binary(SHL, u, high, Source::Host(u));
        self.binary(OR, t, t, Source::Host(u));
        // From 32 on the low words are bits of the high ones alone.
        let near = self.compare(false, I_LESS, count, Source::Host(word));
        self.binary(SUB, u, count, Source::Host(word));
        self.binary(SAR, u, high, Source::Host(u));
        self.choose(t, near, Source::Host(t), u);
        self.binary(SAR, u, high, Source::Host(count));
        (t, u)
    }

    /// [`Part::shifted_pair`] by one number for all lanes, below 64.
    pub(super) fn shifted_pair_by(
        &mut self,
        near: u16,
        far: u16,
        count: u32,
        on: Operation,
        back: Operation,
    ) -> (u8, u8) {
        let (near, t, u) = (self.read(near), self.temporary(), self.temporary());
        if count >= 32 {
            self.by(on, t, near, count - 32);
            self.binary(XOR, u, u, Source::Host(u));
            return (u, t);
        }
        let far = self.read(far);
        self.by(on, t, far, count);
        // By 32, to 0, if the count is 0.
        self.by(back, u, near, 32 - count);
        self.binary(OR, t, t, Source::Host(u));
        self.by(on, u, near, count);
        (u, t)
    }

    /// Whether values of 64 bits are equal.
    pub(super) fn equal_pairs(&mut self, inst: &Inst) -> u8 {
        let (x, y) = (self.read(inst.a), self.read(inst.b));
        let low = self.compare(true, I_EQUAL, x, Source::Host(y));
        let (x, y) = (self.read(inst.a + 1), self.read(inst.b + 1));
        let equal = self.compare(true, I_EQUAL, x, Source::Host(y));
        self.both(low, equal);
        low
    }

    /// A comparison of numbers of 64 bits: high words are less, or equal and so are low words.
    pub(super) fn compare_pairs(&mut self, inst: &Inst, predicate: u32, signed: bool) -> u8 {
        let (x, y) = (self.read(inst.a), self.read(inst.b));
        let low = self.compare(false, predicate, x, Source::Host(y));
        let (x, y) = (self.read(inst.a + 1), self.read(inst.b + 1));
        let equal = self.compare(true, I_EQUAL, x, Source::Host(y));
        self.both(low, equal);
        let less = self.compare(signed, I_LESS, x, Source::Host(y));
        self.join(low, less, (X86::VEX_Korw_kr_kr_kr, OR));
        low
    }

    /// The condition `to` holds where `other` does as well.
    pub(super) fn both(&mut self, to: u8, other: u8) {
        self.join(to, other, (X86::VEX_Kandw_kr_kr_kr, AND));
    }

    /// The condition `to` becomes that of both: by mask registers of the host, or by vectors.
    fn join(&mut self, to: u8, other: u8, (masks, vectors): (X86, Operation)) {
        if self.form == Form::Avx2 {
            return self.binary(vectors, to, to, Source::Host(other));
        }
        let [to, other] = [to, other].map(|k| Register::K0 + u32::from(k));
        self.asm.put(Instruction::with3(masks, to, to, other));
    }

    /// The condition `k` holds where it did not.
    pub(super) fn invert(&mut self, k: u8) {
        if self.form == Form::Avx2 {
            return self.binary(XOR, k, k, Source::Constant(Constant::Ones));
        }
        let k = Register::K0 + u32::from(k);
        self.asm.registers(X86::VEX_Knotw_kr_kr, k, k);
    }
}
