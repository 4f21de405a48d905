//! The encodings: what the rows of the instruction set that are compiled do, on the lanes of one part.
//!
//! Each computes the bits that its expression in [`crate::code::isa`] computes: operands of additions and
//! products stand in the expression's order, as the host passes on the first NaN.

mod division;
mod floats;
mod functions;
mod integers;
mod masks;
mod pairs;

use super::image::TexelAccess;
use super::memory::Access;
use super::operation::*;
use super::registers::{Part, RUNNING, RUNNING_MASK, Source};
use crate::code::{Inst, Opcode};
use iced_x86::{Code as X86, Instruction, Register};

/// Predicates of comparisons of floats.
const EQUAL: u32 = 0x00;
pub(super) const UNORDERED: u32 = 0x03;
const NOT_EQUAL: u32 = 0x04;
const EQUAL_OR_UNORDERED: u32 = 0x08;
const ORDERED_NOT_EQUAL: u32 = 0x0c;
const GREATER_EQUAL: u32 = 0x1d;
const LESS: u32 = 0x11;
const LESS_EQUAL: u32 = 0x12;
const NOT_GREATER_EQUAL: u32 = 0x19;
const NOT_GREATER: u32 = 0x1a;
/// Predicates of comparisons of integers.
const I_EQUAL: u32 = 0;
const I_LESS: u32 = 1;
const I_LESS_EQUAL: u32 = 2;
const I_NOT_EQUAL: u32 = 4;
/// Rounding, nothing told.
const TO_EVEN: u32 = 8;
const DOWN: u32 = 9;
const UP: u32 = 10;
const TO_ZERO: u32 = 11;

pub(super) use functions::table as function_table;

/// Whether an encoding needs many host registers for itself.
pub(super) fn needs_many(op: Opcode) -> bool {
    matches!(op, Opcode::SMod | Opcode::Sin | Opcode::Cos)
}

/// Whether an encoding takes tens of host instructions, each of which waits for the one before. These have
/// one for 16 lanes only.
pub(super) fn is_long(op: Opcode) -> bool {
    use Opcode::*;
    matches!(op, Exp | Exp2 | Log | Log2 | Sin | Cos)
}

/// A shift by lanes, and by a number.
type Shift = (Operation, Operation);

macro_rules! rows {
    (
        lanes($self:ident, $inst:ident) { $($($row:ident)|+ => $body:expr;)* }
        tests($this:ident, $test:ident) { $($($made:ident)|+ => $condition:expr;)* }
    ) => {
        /// Whether a row of lanes or masks has an encoding.
        pub(super) fn has_encoding(op: Opcode) -> bool {
            matches!(op, $($(Opcode::$row)|+)|*)
        }

        /// Whether a test has an encoding.
        pub(super) fn test_has_encoding(op: Opcode) -> bool {
            matches!(op, $($(Opcode::$made)|+)|*)
        }

        impl Part<'_> {
            /// A row of lanes or masks.
            pub fn row(&mut $self, $inst: &Inst) {
                match $inst.op {
                    $($(Opcode::$row)|+ => $body,)*
                    _ => {}
                }
            }

            /// A test: where it holds.
            pub fn test(&mut $this, op: Opcode, $test: &Inst) -> u8 {
                match op {
                    $($(Opcode::$made)|+ => $condition,)*
                    _ => 0,
                }
            }
        }
    };
}

rows! {
    lanes(self, inst) {
        Mov => self.mov(inst);
        IAdd => self.simple(inst, ADD);
        ISub => self.simple(inst, SUB);
        IMul => self.simple(inst, MUL);
        IMulAdd => self.chain(inst, MUL, ADD);
        IAdd3 => self.chain(inst, ADD, ADD);
        ShiftAdd => {
            let t = self.shift(inst, (SHL, SHL_BY), Part::temporary);
            self.finish(inst.dst, ADD, t, inst.c);
        };
        SNegate => {
            let (x, t) = (self.read(inst.a), self.zero());
            self.last(inst.dst, SUB, t, Source::Host(x));
        };
        And => self.simple(inst, AND);
        Or => self.simple(inst, OR);
        Xor => self.simple(inst, XOR);
        Xor3 => self.three(inst, (XOR, XOR), 0x96);
        Not => self.with(inst, XOR, Constant::Ones);
        AndOr => self.three(inst, (AND, OR), 0xea);
        AndXor => self.three(inst, (AND, XOR), 0x6a);
        AndNot => {
            let y = self.read(inst.b);
            self.finish(inst.dst, AND_NOT, y, inst.a);
        };
        ShiftLeft => self.shifted(inst, (SHL, SHL_BY));
        ShiftRightLogical => self.shifted(inst, (SHR, SHR_BY));
        ShiftRightArithmetic => self.shifted(inst, (SAR, SAR_BY));
        RotateLeft => self.rotate(inst);
        SignExtend8 => self.sign_extend(inst, 24);
        SignExtend16 => self.sign_extend(inst, 16);
        SMin => self.simple(inst, S_MIN);
        SMax => self.simple(inst, S_MAX);
        UMin => self.simple(inst, U_MIN);
        UMax => self.simple(inst, U_MAX);
        SAbs => self.alone(inst, ABS);
        FAdd => self.simple(inst, F_ADD);
        FSub => self.simple(inst, F_SUB);
        FMul => self.simple(inst, F_MUL);
        FDiv => self.simple(inst, F_DIV);
        FMulAdd => self.chain(inst, F_MUL, F_ADD);
        FMulSub => self.chain(inst, F_MUL, F_SUB);
        FNegMulAdd => {
            let t = self.product(inst.a, inst.b);
            let z = self.read(inst.c);
            self.last(inst.dst, F_SUB, z, Source::Host(t));
        };
        FDot2 => {
            let t = self.product(inst.a, inst.b);
            let u = self.product(inst.c, inst.aux);
            self.last(inst.dst, F_ADD, t, Source::Host(u));
        };
        FAdd3 => self.chain(inst, F_ADD, F_ADD);
        FSubMul => self.chain(inst, F_SUB, F_MUL);
        FMul3 => self.chain(inst, F_MUL, F_MUL);
        FNegate => self.with(inst, XOR, Constant::Sign);
        FAbs => self.with(inst, AND, Constant::Magnitude);
        FMin => self.extreme(inst, F_MIN, OR);
        FMax => self.extreme(inst, F_MAX, AND);
        Sqrt => {
            let (x, t) = (self.operand(inst.a), self.temporary());
            self.unary(F_SQRT, t, x);
            self.canonical(inst.dst, t);
        };
        InverseSqrt => {
            let (x, t) = (self.operand(inst.a), self.temporary());
            self.unary(F_SQRT, t, x);
            let one = self.constant_register(Constant::FloatOne);
            self.binary(F_DIV, t, one, Source::Host(t));
            self.canonical(inst.dst, t);
        };
        Exp => self.exp(inst);
        Exp2 => self.exp2(inst);
        Log => self.log(inst);
        Log2 => self.log2(inst);
        Sin => self.circle(inst, false);
        Cos => self.circle(inst, true);
        Floor => self.rounded(inst, DOWN);
        Fract => {
            let (x, t) = (self.read(inst.a), self.temporary());
            self.by(F_ROUND, t, x, DOWN);
            self.binary(F_SUB, t, x, Source::Host(t));
            self.canonical(inst.dst, t);
        };
        FMix => {
            let z = self.read(inst.c);
            let one = self.constant_register(Constant::FloatOne);
            self.binary(F_SUB, one, one, Source::Host(z));
            let x = self.read(inst.a);
            self.binary(F_MUL, one, x, Source::Host(one));
            let t = self.product(inst.b, inst.c);
            self.binary(F_ADD, t, one, Source::Host(t));
            self.canonical(inst.dst, t);
        };
        S32ToF32 => self.alone(inst, F_FROM_S);
        U32ToF32 => self.float_of_unsigned(inst);
        F32ToS32 => {
            let (x, t) = (self.read(inst.a), self.temporary());
            self.unary(F_TO_S, t, Source::Host(x));
            let above = self.compare_floats(GREATER_EQUAL, x, Source::Constant(Constant::TwoTo31));
            self.choose(t, above, Source::Constant(Constant::Magnitude), t);
            let nan = self.compare_floats(UNORDERED, x, Source::Host(x));
            let zero = self.zero();
            let to = self.result(inst.dst);
            self.choose(to, nan, Source::Host(zero), t);
            self.written(inst.dst, to);
        };
        F32ToU32 => self.unsigned_of_float(inst);
        IAdd64 => {
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
        };
        UDiv => {
            let (q, _, _) = self.divided(inst.a, inst.b);
            self.set(inst.dst, q);
        };
        UMod => {
            let (r, ..) = self.remainder(inst);
            self.set(inst.dst, r);
        };
        SDiv => {
            let (q, _, _) = self.signed_quotient(inst);
            self.set(inst.dst, q);
        };
        SRem => {
            let (r, _) = self.signed_remainder(inst);
            self.set(inst.dst, r);
        };
        SMod => {
            // Where the remainder's sign is not the divisor's, one more divisor.
            let (r, y) = self.signed_remainder(inst);
            let (t, zero) = (self.temporary(), self.zero());
            self.binary(XOR, t, r, Source::Host(y));
            let other = self.compare(true, I_LESS, t, Source::Host(zero));
            self.binary(ADD, t, r, Source::Host(y));
            self.choose(t, other, Source::Host(t), r);
            let none = self.compare(true, I_EQUAL, r, Source::Host(zero));
            self.choose(t, none, Source::Host(r), t);
            self.set(inst.dst, t);
        };
        UMulHigh => {
            let (x, y) = (self.read(inst.a), self.read(inst.b));
            let t = self.high_product(x, y);
            self.set(inst.dst, t);
        };
        Ceil => self.rounded(inst, UP);
        Trunc => self.rounded(inst, TO_ZERO);
        RoundEven => self.rounded(inst, TO_EVEN);
        NMin => self.extreme(inst, F_MIN, OR);
        NMax => self.extreme(inst, F_MAX, AND);
        FClamp | NClamp => {
            let (x, y) = (self.read(inst.a), self.read(inst.b));
            let t = self.bound(x, y, F_MAX, AND);
            let z = self.read(inst.c);
            let t = self.bound(t, z, F_MIN, OR);
            self.canonical(inst.dst, t);
        };
        F16ToF32 | UnpackHalfLow => {
            let (x, t) = (self.read(inst.a), self.temporary());
            self.widen_half(x, t);
            self.canonical(inst.dst, t);
        };
        UnpackHalfHigh => {
            let (x, t) = (self.read(inst.a), self.temporary());
            self.by(SHR_BY, t, x, 16);
            self.widen_half(t, t);
            self.canonical(inst.dst, t);
        };
        F32ToF16 => {
            let t = self.narrow_half(inst.a);
            self.set(inst.dst, t);
        };
        PackHalf2x16 => {
            let (low, high) = (self.narrow_half(inst.a), self.narrow_half(inst.b));
            self.by(SHL_BY, high, high, 16);
            self.binary(OR, low, low, Source::Host(high));
            self.set(inst.dst, low);
        };
        ZeroExtend64 => {
            let (x, t, zero) = (self.read(inst.a), self.temporary(), self.zero());
            self.unary(LOAD, t, Source::Host(x));
            self.set(inst.dst, t);
            self.set(inst.dst + 1, zero);
        };
        SignExtend64 => {
            let (x, t, u) = (self.read(inst.a), self.temporary(), self.temporary());
            self.unary(LOAD, t, Source::Host(x));
            self.by(SAR_BY, u, x, 31);
            self.set(inst.dst, t);
            self.set(inst.dst + 1, u);
        };
        ISub64 => {
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
        };
        IMul64 => {
            if self.form == Form::Avx2 {
                return self.product_of_pairs(inst);
            }
            // As pairs of words, two registers of eight: the order within them is undone with the halves.
            let (x, y) = (self.pairs(inst.a), self.pairs(inst.b));
            for k in 0..2 {
                let (product, y) = (self.host(x[k]), self.host(y[k]));
                let code = X86::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64;
                self.asm.put(Instruction::with3(code, product, product, y));
            }
            let [low, high] = y;
            for (to, words) in [(low, 0x88u32), (high, 0xdd)] {
                let [to, x, y] = [to, x[0], x[1]].map(|k| self.host(k));
                let code = X86::EVEX_Vshufps_zmm_k1z_zmm_zmmm512b32_imm8;
                self.asm.put(Instruction::with4(code, to, x, y, words));
            }
            self.set(inst.dst, low);
            self.set(inst.dst + 1, high);
        };
        ShiftLeft64 => {
            let (low, high) = self.shifted_pair(inst.a, inst.a + 1, inst.b, (SHL, SHL_BY), (SHR, SHR_BY));
            self.set(inst.dst, low);
            self.set(inst.dst + 1, high);
        };
        ShiftRightLogical64 => {
            let (high, low) = self.shifted_pair(inst.a + 1, inst.a, inst.b, (SHR, SHR_BY), (SHL, SHL_BY));
            self.set(inst.dst, low);
            self.set(inst.dst + 1, high);
        };
        ShiftRightArithmetic64 => {
            let (low, high) = self.shifted_signed_pair(inst);
            self.set(inst.dst, low);
            self.set(inst.dst + 1, high);
        };
        SNegate64 => {
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
        };
        Select => self.select(inst.a.into(), inst.dst, inst.b, inst.c);
        Select64 => {
            // The first result may be one of the operands of the second.
            let condition = self.condition(inst.a.into());
            let (yes, no, low, high) =
                (self.operand(inst.b), self.read(inst.c), self.temporary(), self.temporary());
            self.choose(low, condition, yes, no);
            let (yes, no) = (self.operand(inst.b + 1), self.read(inst.c + 1));
            self.choose(high, condition, yes, no);
            self.set(inst.dst, low);
            self.set(inst.dst + 1, high);
        };
        MovMasked => self.select(RUNNING_MASK, inst.dst, inst.a, inst.dst);
        MaskToInt => self.spread(inst, Constant::One);
        MaskToLanes => self.spread(inst, Constant::Ones);
        MaskMov => {
            self.bits_of_mask(inst.a, Register::EAX);
            self.mask_result(inst.dst);
        };
        MaskMovMasked => {
            self.bits_of_mask(inst.dst, Register::EAX);
            self.bits_of_mask(inst.a, Register::EDX);
            self.asm.registers(X86::Xor_r32_rm32, Register::EDX, Register::EAX);
            self.asm.registers(X86::Mov_r32_rm32, Register::R8D, RUNNING);
            let before = self.part * 32 / self.form.parts();
            self.asm.immediate(X86::Shr_rm32_imm8, Register::R8D, before as i32);
            self.asm.registers(X86::And_r32_rm32, Register::EDX, Register::R8D);
            self.asm.registers(X86::Xor_r32_rm32, Register::EAX, Register::EDX);
            self.mask_result(inst.dst);
        };
        MaskSelect => {
            self.bits_of_mask(inst.c, Register::EAX);
            self.bits_of_mask(inst.b, Register::EDX);
            self.bits_of_mask(inst.a, Register::R8D);
            self.asm.registers(X86::Xor_r32_rm32, Register::EDX, Register::EAX);
            self.asm.registers(X86::And_r32_rm32, Register::EDX, Register::R8D);
            self.asm.registers(X86::Xor_r32_rm32, Register::EAX, Register::EDX);
            self.mask_result(inst.dst);
        };
        MaskAnd => self.mask_pair(inst, (X86::And_r32_rm32, AND));
        MaskOr => self.mask_pair(inst, (X86::Or_r32_rm32, OR));
        MaskXor => self.mask_pair(inst, (X86::Xor_r32_rm32, XOR));
        MaskNot => {
            self.bits_of_mask(inst.a, Register::EAX);
            self.asm.put(Instruction::with1(X86::Not_rm32, Register::EAX));
            self.mask_result(inst.dst);
        };
        MaskEqual => {
            self.bits_of_mask(inst.a, Register::EAX);
            self.bits_of_mask(inst.b, Register::EDX);
            self.asm.registers(X86::Xor_r32_rm32, Register::EAX, Register::EDX);
            self.asm.put(Instruction::with1(X86::Not_rm32, Register::EAX));
            self.mask_result(inst.dst);
        };
    }
    tests(self, inst) {
        IEqual => self.compare_integers(inst, true, I_EQUAL);
        INotEqual => self.compare_integers(inst, true, I_NOT_EQUAL);
        ULess => self.compare_integers(inst, false, I_LESS);
        ULessEqual => self.compare_integers(inst, false, I_LESS_EQUAL);
        SLess => self.compare_integers(inst, true, I_LESS);
        SLessEqual => self.compare_integers(inst, true, I_LESS_EQUAL);
        FOrdEqual => self.float_test(inst, EQUAL);
        FOrdLess => self.float_test(inst, LESS);
        FOrdLessEqual => self.float_test(inst, LESS_EQUAL);
        FUnordNotEqual => self.float_test(inst, NOT_EQUAL);
        FOrdNotEqual => self.float_test(inst, ORDERED_NOT_EQUAL);
        FUnordEqual => self.float_test(inst, EQUAL_OR_UNORDERED);
        FUnordLess => self.float_test(inst, NOT_GREATER_EQUAL);
        FUnordLessEqual => self.float_test(inst, NOT_GREATER);
        IEqual64 => self.equal_pairs(inst);
        INotEqual64 => {
            let equal = self.equal_pairs(inst);
            self.invert(equal);
            equal
        };
        ULess64 => self.compare_pairs(inst, I_LESS, false);
        ULessEqual64 => self.compare_pairs(inst, I_LESS_EQUAL, false);
        SLess64 => self.compare_pairs(inst, I_LESS, true);
        SLessEqual64 => self.compare_pairs(inst, I_LESS_EQUAL, true);
        IsNan => {
            let x = self.read(inst.a);
            self.compare_floats(UNORDERED, x, Source::Host(x))
        };
        IsInf => {
            let (x, t) = (self.read(inst.a), self.temporary());
            self.binary(AND, t, x, Source::Constant(Constant::Magnitude));
            self.compare(true, I_EQUAL, t, Source::Constant(Constant::Infinity))
        };
    }
}

impl Part<'_> {
    /// An instruction of a line; `image` is what one of images accesses.
    pub fn lanes(&mut self, inst: &Inst, image: Option<&TexelAccess>) {
        match inst.op.test() {
            Some((test, _)) => {
                let condition = self.test(test, inst);
                self.set_mask(inst.dst, condition);
            }
            None => match (Access::of(self.code, inst), image) {
                (Some(access), _) => self.access(&access),
                (_, Some(image)) => self.image(image),
                _ => self.row(inst),
            },
        }
    }

    /// The last host instruction of a row.
    fn last(&mut self, to: u16, operation: Operation, a: u8, b: Source) {
        let k = self.result(to);
        self.binary(operation, k, a, b);
        self.written(to, k);
    }

    /// The same; the second operand is a vector register.
    fn finish(&mut self, to: u16, operation: Operation, a: u8, b: u16) {
        let b = self.operand(b);
        self.last(to, operation, a, b);
    }

    /// A vector register is what the temporary register `k` holds.
    pub fn set(&mut self, to: u16, k: u8) {
        let result = self.pinned_to(to).unwrap_or(k);
        if result != k {
            self.unary(LOAD, result, Source::Host(k));
        }
        self.written(to, result);
    }

    fn mov(&mut self, inst: &Inst) {
        let x = self.operand(inst.a);
        let k = self.result(inst.dst);
        self.unary(LOAD, k, x);
        self.written(inst.dst, k);
    }

    fn simple(&mut self, inst: &Inst, operation: Operation) {
        let x = self.read(inst.a);
        self.finish(inst.dst, operation, x, inst.b);
    }

    fn alone(&mut self, inst: &Inst, operation: Operation) {
        let x = self.operand(inst.a);
        let k = self.result(inst.dst);
        self.unary(operation, k, x);
        self.written(inst.dst, k);
    }

    fn with(&mut self, inst: &Inst, operation: Operation, constant: Constant) {
        let x = self.read(inst.a);
        self.last(inst.dst, operation, x, Source::Constant(constant));
    }

    /// `second(first(a, b), c)`.
    fn chain(&mut self, inst: &Inst, first: Operation, second: Operation) {
        let (x, y, t) = (self.read(inst.a), self.operand(inst.b), self.temporary());
        self.binary(first, t, x, y);
        self.finish(inst.dst, second, t, inst.c);
    }

    /// A chain of two logical operations; 16 lanes: one instruction with this truth table.
    fn three(&mut self, inst: &Inst, (first, second): (Operation, Operation), table: u32) {
        if self.form == Form::Avx2 {
            return self.chain(inst, first, second);
        }
        let (x, y, z) = (self.read(inst.a), self.read(inst.b), self.read(inst.c));
        let mut k = self.result(inst.dst);
        if k == y || k == z {
            k = self.temporary();
        }
        if k != x {
            self.unary(LOAD, k, Source::Host(x));
        }
        let (to, y, z) = (self.host(k), self.host(y), self.host(z));
        let code = X86::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8;
        self.asm.put(Instruction::with4(code, to, y, z, table));
        self.set(inst.dst, k);
    }

    fn product(&mut self, a: u16, b: u16) -> u8 {
        let (x, y, t) = (self.read(a), self.operand(b), self.temporary());
        self.binary(F_MUL, t, x, y);
        t
    }

    fn zero(&mut self) -> u8 {
        let t = self.temporary();
        self.binary(XOR, t, t, Source::Host(t));
        t
    }

    fn constant_register(&mut self, constant: Constant) -> u8 {
        let t = self.temporary();
        self.unary(LOAD, t, Source::Constant(constant));
        t
    }

    fn select(&mut self, condition: u32, to: u16, yes: u16, no: u16) {
        let condition = self.condition(condition);
        let (yes, no) = (self.operand(yes), self.read(no));
        let k = self.result(to);
        self.choose(k, condition, yes, no);
        self.written(to, k);
    }

    fn spread(&mut self, inst: &Inst, yes: Constant) {
        let (condition, zero) = (self.condition(inst.a.into()), self.zero());
        let k = self.result(inst.dst);
        self.choose(k, condition, Source::Constant(yes), zero);
        self.written(inst.dst, k);
    }

    fn compare_with(&mut self, code: X86, to: Register, x: u8, y: Source, predicate: u32) {
        let x = self.host(x);
        self.asm.put(match y {
            Source::Host(k) => Instruction::with4(code, to, x, self.host(k), predicate),
            Source::File(register) => Instruction::with4(code, to, x, self.file(register), predicate),
            Source::Constant(constant) => Instruction::with4(code, to, x, self.constant(constant), predicate),
        });
    }
}
