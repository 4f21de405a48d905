//! The encodings: what the rows of the instruction set that are compiled do, on the lanes of one part.
//!
//! Each computes the bits that its expression in [`crate::code::isa`] computes: operands of additions and
//! products stand in the expression's order, as the host passes on the first NaN.

mod bits;
mod common;
mod division;
mod dots;
pub(super) mod doubles;
mod floats;
mod functions;
mod graph;
mod integers;
mod masks;
mod normalized;
mod pairs;
mod wide;

use super::image::ImageAccess;
use super::memory::Access;
use super::operation::*;
use super::registers::{Part, RUNNING, RUNNING_MASK, Source};
use crate::code::{Inst, Opcode};
use crate::math::format::Numeric;
use iced_x86::{Code as X86, Instruction, Register};

pub(super) use functions::table as function_table;

/// Whether an encoding needs many host registers for itself.
pub(super) fn needs_many(op: Opcode) -> bool {
    use Opcode::*;
    let doubles = matches!(op, FMulAdd64 | FMin64 | NMin64 | FMax64 | NMax64 | FClamp64 | NClamp64 | FMix64);
    let dots = matches!(op, SDotAccSat4x8 | SUDotAccSat4x8);
    let others = matches!(op, SMod | Sin | Cos | FMod | FRem | SmoothStep | BitFieldSExtract);
    doubles || dots || others || divides_pairs(op) || graph::is_function(op)
}

/// Whether a row is a division of integers of 64 bits.
fn divides_pairs(op: Opcode) -> bool {
    use Opcode::*;
    matches!(op, UDiv64 | UMod64 | SDiv64 | SRem64 | SMod64)
}

/// Whether an encoding takes tens of host instructions, each of which waits for the one before.
pub(super) fn is_long(op: Opcode) -> bool {
    use Opcode::*;
    matches!(op, Exp | Exp2 | Log | Log2 | Sin | Cos) || graph::is_function(op)
}

/// Whether a row or test has its encoding for 16 lanes alone.
pub(super) fn is_wide_alone(op: Opcode) -> bool {
    use Opcode::*;
    let op = op.test().map_or(op, |(test, _)| test);
    let bits = matches!(op, BitReverse | BitCount | BitFieldInsert | BitFieldSExtract | BitFieldUExtract);
    let places = matches!(op, FindILsb | FindUMsb | FindSMsb)
        || matches!(op, BallotBitCount | BallotFind | InverseBallot | BallotBitExtract);
    let pairs = matches!(op, SMin64 | SMax64 | UMin64 | UMax64 | SAbs64) || divides_pairs(op);
    let of_double = matches!(op, FAdd64 | FSub64 | FMul64 | FDiv64 | FMulAdd64 | FMix64)
        || matches!(
            op,
            Floor64 | Ceil64 | Trunc64 | Round64 | RoundEven64 | Fract64 | Sqrt64 | InverseSqrt64
        )
        || matches!(op, FMin64 | NMin64 | FMax64 | NMax64 | FClamp64 | NClamp64)
        || matches!(op, FOrdEqual64 | FOrdNotEqual64 | FOrdLess64 | FOrdLessEqual64)
        || matches!(op, FUnordEqual64 | FUnordNotEqual64 | FUnordLess64 | FUnordLessEqual64);
    let conversion = matches!(op, F32ToF64 | S32ToF64 | U32ToF64 | U64ToF64 | S64ToF64)
        || matches!(op, F64ToF32 | U64ToF32 | S64ToF32);
    let by_doubles = matches!(op, FMod | FRem | SmoothStep);
    let packed = matches!(op, PackSnorm4x8 | PackUnorm4x8 | PackSnorm2x16 | PackUnorm2x16)
        || matches!(op, UnpackSnorm8 | UnpackUnorm8 | UnpackSnorm16 | UnpackUnorm16);
    is_long(op) || bits || places || pairs || of_double || conversion || by_doubles || packed
}

/// What of a division is the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Quotient,
    Remainder,
    Modulo,
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
        Pow | Tan | Asin | Acos | Atan | Atan2 | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh => {
            self.function(inst);
        };
        Ldexp | FrexpSignificand | FrexpExponent => self.function(inst);
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
            self.integers_of(x, t);
            self.set(inst.dst, t);
        };
        F32ToU32 => self.unsigned_of_float(inst);
        IAdd64 => self.sum_of_pairs(inst);
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
        Round | RoundEven => self.rounded(inst, TO_EVEN);
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
        ISub64 => self.difference_of_pairs(inst);
        IMul64 => match self.form {
            Form::Avx2 => self.product_of_pairs(inst),
            Form::Avx512 => self.of_pairs(inst, X86::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64),
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
        UDiv64 => self.division_of_pairs(inst, false, Of::Quotient);
        UMod64 => self.division_of_pairs(inst, false, Of::Remainder);
        SDiv64 => self.division_of_pairs(inst, true, Of::Quotient);
        SRem64 => self.division_of_pairs(inst, true, Of::Remainder);
        SMod64 => self.division_of_pairs(inst, true, Of::Modulo);
        SNegate64 => self.negated_pair(inst);
        SMin64 => self.of_pairs(inst, X86::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64);
        SMax64 => self.of_pairs(inst, X86::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64);
        UMin64 => self.of_pairs(inst, X86::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64);
        UMax64 => self.of_pairs(inst, X86::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64);
        SAbs64 => self.doubles_alone(inst, X86::EVEX_Vpabsq_zmm_k1z_zmmm512b64);
        AddCarry => {
            let (x, y, t) = (self.read(inst.a), self.read(inst.b), self.temporary());
            self.binary(ADD, t, x, Source::Host(y));
            let carry = self.compare(false, I_LESS, t, Source::Host(x));
            self.one_where(inst.dst, carry);
        };
        SubBorrow => {
            let borrow = self.compare_integers(inst, false, I_LESS);
            self.one_where(inst.dst, borrow);
        };
        SMulHigh => self.signed_high_product(inst);
        SDot4x8 => self.dot(inst, [true; 2]);
        UDot4x8 => self.dot(inst, [false; 2]);
        SUDot4x8 => self.dot(inst, [true, false]);
        SDotAccSat4x8 => self.dot_added(inst, [true; 2]);
        SUDotAccSat4x8 => self.dot_added(inst, [true, false]);
        UDotAccSat4x8 => self.unsigned_dot_added(inst);
        BitReverse => self.reverse_bits(inst);
        BitCount => {
            let x = self.read(inst.a);
            let t = self.count_bits(x);
            self.set(inst.dst, t);
        };
        BitFieldInsert => self.insert_field(inst);
        BitFieldSExtract => self.extract_signed_field(inst);
        BitFieldUExtract => self.extract_field(inst);
        FindILsb => {
            let x = self.read(inst.a);
            let t = self.lowest(x);
            self.highest(t);
            self.set(inst.dst, t);
        };
        FindUMsb => {
            let (x, t) = (self.read(inst.a), self.temporary());
            self.unary(LOAD, t, Source::Host(x));
            self.highest(t);
            self.set(inst.dst, t);
        };
        FindSMsb => {
            let (x, t) = (self.read(inst.a), self.temporary());
            self.by(SAR_BY, t, x, 31);
            self.binary(XOR, t, t, Source::Host(x));
            self.highest(t);
            self.set(inst.dst, t);
        };
        BallotBitCount => self.count_ballot(inst);
        BallotFind => {
            let t = self.ballot(inst.a);
            let t = if inst.imm == 0 { self.lowest(t) } else { t };
            self.highest(t);
            self.set(inst.dst, t);
        };
        InverseBallot => {
            let (x, own) = (self.read(inst.a), self.own_bits());
            let set = self.test_bits(x, own);
            self.set_mask(inst.dst, set);
        };
        BallotBitExtract => {
            let (x, index, t) = (self.read(inst.a), self.read(inst.b), self.temporary());
            // The host shifts by 32 and more to 0.
            self.binary(SHR, t, x, Source::Host(index));
            let one = self.constant_register(Constant::One);
            let set = self.test_bits(t, one);
            self.set_mask(inst.dst, set);
        };
        QuadSwap => {
            let x = self.read(inst.a);
            let k = self.result(inst.dst);
            // Each word's place within a quad, two bits each.
            let places = [0xe4, 0xb1, 0x4e, 0x1b][inst.imm.wrapping_add(1) as usize & 3];
            self.by(WORDS_OF_FOUR, k, x, places);
            self.written(inst.dst, k);
        };
        SSign => {
            let (x, t) = (self.read(inst.a), self.temporary());
            self.binary(S_MAX, t, x, Source::Constant(Constant::Ones));
            self.last(inst.dst, S_MIN, t, Source::Constant(Constant::One));
        };
        FSign => self.float_sign(inst);
        Step => {
            let (edge, x, zero) = (self.operand(inst.a), self.read(inst.b), self.zero());
            let below = self.compare_floats(LESS, x, edge);
            let one = self.constant_register(Constant::FloatOne);
            self.choose(one, below, Source::Host(zero), one);
            self.set(inst.dst, one);
        };
        SmoothStep => self.smooth_step(inst);
        PackSnorm4x8 => self.pack(inst, Numeric::Snorm, 8);
        PackUnorm4x8 => self.pack(inst, Numeric::Unorm, 8);
        PackSnorm2x16 => self.pack(inst, Numeric::Snorm, 16);
        PackUnorm2x16 => self.pack(inst, Numeric::Unorm, 16);
        UnpackSnorm8 => self.unpack(inst, Numeric::Snorm, 8);
        UnpackUnorm8 => self.unpack(inst, Numeric::Unorm, 8);
        UnpackSnorm16 => self.unpack(inst, Numeric::Snorm, 16);
        UnpackUnorm16 => self.unpack(inst, Numeric::Unorm, 16);
        FMod => self.modulo(inst, DOWN, inst.b);
        FRem => self.modulo(inst, TO_ZERO, inst.a);
        FAdd64 => self.doubles(inst, ADD_DOUBLES);
        FSub64 => self.doubles(inst, SUB_DOUBLES);
        FMul64 => self.doubles(inst, MUL_DOUBLES);
        FDiv64 => self.doubles(inst, DIV_DOUBLES);
        FMulAdd64 => self.double_mul_add(inst);
        FNegate64 => self.high_word(inst, XOR, Constant::Sign);
        FAbs64 => self.high_word(inst, AND, Constant::Magnitude);
        Floor64 => self.doubles_rounded(inst, DOWN, false);
        Ceil64 => self.doubles_rounded(inst, UP, false);
        Trunc64 => self.doubles_rounded(inst, TO_ZERO, false);
        Round64 | RoundEven64 => self.doubles_rounded(inst, TO_EVEN, false);
        Fract64 => self.doubles_rounded(inst, DOWN, true);
        FMin64 | NMin64 => self.extreme_doubles(inst, true);
        FMax64 | NMax64 => self.extreme_doubles(inst, false);
        FClamp64 | NClamp64 => self.clamp_doubles(inst);
        FMix64 => self.mix_doubles(inst);
        Sqrt64 => self.double_roots(inst, false);
        InverseSqrt64 => self.double_roots(inst, true);
        F32ToF64 => self.double_of_float(inst);
        S32ToF64 => self.double_of_word(inst, X86::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er);
        U32ToF64 => self.double_of_word(inst, X86::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er);
        F64ToF32 => self.float_of_double(inst);
        U64ToF64 => self.doubles_alone(inst, X86::EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er);
        S64ToF64 => self.doubles_alone(inst, X86::EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er);
        U64ToF32 => self.float_of_pairs(inst, X86::EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er);
        S64ToF32 => self.float_of_pairs(inst, X86::EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er);
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
        FOrdEqual64 => self.test_doubles(inst, EQUAL);
        FOrdNotEqual64 => self.test_doubles(inst, ORDERED_NOT_EQUAL);
        FOrdLess64 => self.test_doubles(inst, LESS);
        FOrdLessEqual64 => self.test_doubles(inst, LESS_EQUAL);
        FUnordEqual64 => self.test_doubles(inst, EQUAL_OR_UNORDERED);
        FUnordNotEqual64 => self.test_doubles(inst, NOT_EQUAL);
        FUnordLess64 => self.test_doubles(inst, NOT_GREATER_EQUAL);
        FUnordLessEqual64 => self.test_doubles(inst, NOT_GREATER);
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
    pub fn lanes(&mut self, inst: &Inst, image: Option<&ImageAccess>) {
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
}
