//! The instruction set: one table, from which the opcodes, their operand shapes, the printer, the verifier
//! and the dispatch loop come.
//!
//! Which of them compute an operation, its row in [`crate::ir`]'s table says; constants fold by the same
//! expressions.
//!
//! - `near` rows run inside the dispatch loop, `far` rows out of line (they are long; a call costs little
//!   beside them).
//! - `test` rows make a mask; each has three fused forms beside it: `Split..` parks the lanes where the test
//!   fails, `Jump..` jumps when it fails in all running lanes, `Repeat..` is a back-edge taken when it holds
//!   in any. `far_test` rows have none.
//! - `special` rows are written out in [`crate::exec::run`]; their operands are listed as `dst a b c aux
//!   imm`, each by its [`OperandKind`].
//!
//! Types of lane operands: 32-bit types are one register, 64-bit types two (low words, high words). Values
//! narrower than 32 bits are kept zero-extended by the code generator.

#[macro_use]
mod define;

use self::define::Bits;
use crate::math::integer::{self, wide};
use crate::math::{convert, double, half, pack, single, small};

/// Calls `$then!` with the table.
macro_rules! instruction_table {
    ($then:ident $($extra:tt)*) => {
        $then! {
            ($($extra)*)
            near {
                Mov(x: u32) -> u32 { x }
                IAdd(x: u32, y: u32) -> u32 { x.wrapping_add(y) }
                ISub(x: u32, y: u32) -> u32 { x.wrapping_sub(y) }
                IMul(x: u32, y: u32) -> u32 { x.wrapping_mul(y) }
                IMulAdd(x: u32, y: u32, z: u32) -> u32 { x.wrapping_mul(y).wrapping_add(z) }
                ShiftAdd(x: u32, y: u32, z: u32) -> u32 { (x << (y & 31)).wrapping_add(z) }
                IAdd3(x: u32, y: u32, z: u32) -> u32 { x.wrapping_add(y).wrapping_add(z) }
                SNegate(x: u32) -> u32 { x.wrapping_neg() }
                And(x: u32, y: u32) -> u32 { x & y }
                Or(x: u32, y: u32) -> u32 { x | y }
                Xor(x: u32, y: u32) -> u32 { x ^ y }
                Xor3(x: u32, y: u32, z: u32) -> u32 { x ^ y ^ z }
                Not(x: u32) -> u32 { !x }
                AndOr(x: u32, y: u32, z: u32) -> u32 { (x & y) | z }
                AndXor(x: u32, y: u32, z: u32) -> u32 { (x & y) ^ z }
                AndNot(x: u32, y: u32) -> u32 { x & !y }
                ShiftLeft(x: u32, y: u32) -> u32 { x << (y & 31) }
                ShiftRightLogical(x: u32, y: u32) -> u32 { x >> (y & 31) }
                ShiftRightArithmetic(x: i32, y: u32) -> i32 { x >> (y & 31) }
                /// Bits rotated left.
                RotateLeft(x: u32, y: u32) -> u32 { (x << (y & 31)) | (x >> (y.wrapping_neg() & 31)) }
                SignExtend8(x: u32) -> u32 { x as u8 as i8 as i32 as u32 }
                SignExtend16(x: u32) -> u32 { x as u16 as i16 as i32 as u32 }
                SMin(x: i32, y: i32) -> i32 { if y < x { y } else { x } }
                SMax(x: i32, y: i32) -> i32 { if y > x { y } else { x } }
                UMin(x: u32, y: u32) -> u32 { if y < x { y } else { x } }
                UMax(x: u32, y: u32) -> u32 { if y > x { y } else { x } }
                SAbs(x: i32) -> i32 { x.wrapping_abs() }
                FAdd(x: f32, y: f32) -> f32 { x + y }
                FSub(x: f32, y: f32) -> f32 { x - y }
                FMul(x: f32, y: f32) -> f32 { x * y }
                FDiv(x: f32, y: f32) -> f32 { x / y }
                /// Two roundings.
                FMulAdd(x: f32, y: f32, z: f32) -> f32 { x * y + z }
                /// Two roundings.
                FMulSub(x: f32, y: f32, z: f32) -> f32 { x * y - z }
                /// Two roundings.
                FNegMulAdd(x: f32, y: f32, z: f32) -> f32 { z - x * y }
                /// x * y + z * w, three roundings.
                FDot2(x: f32, y: f32, z: f32, w: f32) -> f32 { x * y + z * w }
                FAdd3(x: f32, y: f32, z: f32) -> f32 { x + y + z }
                FSubMul(x: f32, y: f32, z: f32) -> f32 { (x - y) * z }
                FMul3(x: f32, y: f32, z: f32) -> f32 { x * y * z }
                FNegate(x: u32) -> u32 { x ^ 0x8000_0000 }
                FAbs(x: u32) -> u32 { x & 0x7fff_ffff }
                FMin(x: f32, y: f32) -> f32 { single::f_min(x, y) }
                FMax(x: f32, y: f32) -> f32 { single::f_max(x, y) }
                Sqrt(x: f32) -> f32 { single::sqrt(x) }
                InverseSqrt(x: f32) -> f32 { single::inverse_sqrt(x) }
                Floor(x: f32) -> f32 { single::floor(x) }
                Fract(x: f32) -> f32 { single::fract(x) }
                FMix(x: f32, y: f32, z: f32) -> f32 { single::mix(x, y, z) }
                U32ToF32(x: u32) -> f32 { convert::u32_to_f32(x) }
                S32ToF32(x: i32) -> f32 { convert::i32_to_f32(x) }
                F32ToU32(x: f32) -> u32 { convert::f32_to_u32(x) }
                F32ToS32(x: f32) -> i32 { convert::f32_to_i32(x) }
                IAdd64(x: u64, y: u64) -> u64 { x.wrapping_add(y) }
            }
            far {
                UDiv(x: u32, y: u32) -> u32 { integer::u_div(x, y) }
                SDiv(x: u32, y: u32) -> u32 { integer::s_div::<32>(x, y) }
                UMod(x: u32, y: u32) -> u32 { integer::u_mod(x, y) }
                SRem(x: u32, y: u32) -> u32 { integer::s_rem::<32>(x, y) }
                SMod(x: u32, y: u32) -> u32 { integer::s_mod::<32>(x, y) }
                AddCarry(x: u32, y: u32) -> u32 { integer::add_carry::<32>(x, y).1 }
                SubBorrow(x: u32, y: u32) -> u32 { integer::sub_borrow::<32>(x, y).1 }
                UMulHigh(x: u32, y: u32) -> u32 { integer::u_mul_extended::<32>(x, y).1 }
                SMulHigh(x: u32, y: u32) -> u32 { integer::s_mul_extended::<32>(x, y).1 }
                BitReverse(x: u32) -> u32 { integer::bit_reverse::<32>(x) }
                BitCount(x: u32) -> u32 { integer::bit_count(x) }
                BitFieldInsert(x: u32, y: u32, z: u32, w: u32) -> u32 { integer::bit_field_insert::<32>(x, y, z, w) }
                BitFieldSExtract(x: u32, y: u32, z: u32) -> u32 { integer::bit_field_s_extract::<32>(x, y, z) }
                BitFieldUExtract(x: u32, y: u32, z: u32) -> u32 { integer::bit_field_u_extract::<32>(x, y, z) }
                FindILsb(x: u32) -> u32 { integer::find_i_lsb(x) }
                FindUMsb(x: u32) -> u32 { integer::find_u_msb(x) }
                FindSMsb(x: u32) -> u32 { integer::find_s_msb::<32>(x) }
                SSign(x: u32) -> u32 { integer::s_sign::<32>(x) }
                SDistance(x: i32, y: i32) -> u32 { x.abs_diff(y) }
                UDistance(x: u32, y: u32) -> u32 { x.abs_diff(y) }
                SAddSat(x: i32, y: i32) -> i32 { x.saturating_add(y) }
                UAddSat(x: u32, y: u32) -> u32 { x.saturating_add(y) }
                SSubSat(x: i32, y: i32) -> i32 { x.saturating_sub(y) }
                USubSat(x: u32, y: u32) -> u32 { x.saturating_sub(y) }
                SAverage(x: i32, y: i32) -> i32 { integer::s_average(x, y) }
                UAverage(x: u32, y: u32) -> u32 { integer::u_average(x, y) }
                SAverageRounded(x: i32, y: i32) -> i32 { integer::s_average_rounded(x, y) }
                UAverageRounded(x: u32, y: u32) -> u32 { integer::u_average_rounded(x, y) }
                SDot4x8(x: u32, y: u32) -> u32 { integer::s_dot_4x8(x, y) }
                UDot4x8(x: u32, y: u32) -> u32 { integer::u_dot_4x8(x, y) }
                SUDot4x8(x: u32, y: u32) -> u32 { integer::su_dot_4x8(x, y) }
                SDotAccSat4x8(x: u32, y: u32, z: u32) -> u32 { integer::s_dot_acc_sat_4x8(x, y, z) }
                UDotAccSat4x8(x: u32, y: u32, z: u32) -> u32 { integer::u_dot_acc_sat_4x8(x, y, z) }
                SUDotAccSat4x8(x: u32, y: u32, z: u32) -> u32 { integer::su_dot_acc_sat_4x8(x, y, z) }
                FRem(x: f32, y: f32) -> f32 { single::frem(x, y) }
                FMod(x: f32, y: f32) -> f32 { single::fmod(x, y) }
                FSign(x: f32) -> f32 { single::sign(x) }
                Ceil(x: f32) -> f32 { single::ceil(x) }
                Trunc(x: f32) -> f32 { single::trunc(x) }
                Round(x: f32) -> f32 { single::round(x) }
                RoundEven(x: f32) -> f32 { single::round_even(x) }
                FClamp(x: f32, y: f32, z: f32) -> f32 { single::f_clamp(x, y, z) }
                NMin(x: f32, y: f32) -> f32 { single::n_min(x, y) }
                NMax(x: f32, y: f32) -> f32 { single::n_max(x, y) }
                NClamp(x: f32, y: f32, z: f32) -> f32 { single::n_clamp(x, y, z) }
                Step(x: f32, y: f32) -> f32 { single::step(x, y) }
                SmoothStep(x: f32, y: f32, z: f32) -> f32 { single::smooth_step(x, y, z) }
                Exp(x: f32) -> f32 { single::exp(x) }
                Exp2(x: f32) -> f32 { single::exp2(x) }
                Log(x: f32) -> f32 { single::log(x) }
                Log2(x: f32) -> f32 { single::log2(x) }
                Pow(x: f32, y: f32) -> f32 { single::pow(x, y) }
                Sin(x: f32) -> f32 { single::sin(x) }
                Cos(x: f32) -> f32 { single::cos(x) }
                Tan(x: f32) -> f32 { single::tan(x) }
                Asin(x: f32) -> f32 { single::asin(x) }
                Acos(x: f32) -> f32 { single::acos(x) }
                Atan(x: f32) -> f32 { single::atan(x) }
                Atan2(x: f32, y: f32) -> f32 { single::atan2(x, y) }
                Sinh(x: f32) -> f32 { single::sinh(x) }
                Cosh(x: f32) -> f32 { single::cosh(x) }
                Tanh(x: f32) -> f32 { single::tanh(x) }
                Asinh(x: f32) -> f32 { single::asinh(x) }
                Acosh(x: f32) -> f32 { single::acosh(x) }
                Atanh(x: f32) -> f32 { single::atanh(x) }
                Ldexp(x: f32, y: i32) -> f32 { single::ldexp(x, y) }
                FrexpSignificand(x: f32) -> f32 { single::frexp(x).0 }
                FrexpExponent(x: f32) -> i32 { single::frexp(x).1 }
                ModfFraction(x: f32) -> f32 { single::modf(x).0 }
                ModfWhole(x: f32) -> f32 { single::modf(x).1 }
                QuantizeToF16(x: f32) -> f32 { single::quantize_to_f16(x) }
                FlushDenormal(x: f32) -> f32 { single::flush_denormal(x) }
                FlushDenormal16(x: u32) -> u32 { half::flush_denormal(x) }
                FlushDenormal64(x: f64) -> f64 { double::flush_denormal(x) }
                PackHalf2x16(x: f32, y: f32) -> u32 { pack::pack_half_2x16(x, y) }
                UnpackHalfLow(x: u32) -> f32 { pack::unpack_half_2x16(x).0 }
                UnpackHalfHigh(x: u32) -> f32 { pack::unpack_half_2x16(x).1 }
                PackSnorm4x8(x: f32, y: f32, z: f32, w: f32) -> u32 { pack::pack_snorm_4x8([x, y, z, w]) }
                PackUnorm4x8(x: f32, y: f32, z: f32, w: f32) -> u32 { pack::pack_unorm_4x8([x, y, z, w]) }
                PackSnorm2x16(x: f32, y: f32) -> u32 { pack::pack_snorm_2x16([x, y]) }
                PackUnorm2x16(x: f32, y: f32) -> u32 { pack::pack_unorm_2x16([x, y]) }
                UnpackSnorm8(x: u32, y: u32) -> f32 { pack::unpack_snorm_4x8(x >> (8 * (y & 3)))[0] }
                UnpackUnorm8(x: u32, y: u32) -> f32 { pack::unpack_unorm_4x8(x >> (8 * (y & 3)))[0] }
                UnpackSnorm16(x: u32, y: u32) -> f32 { pack::unpack_snorm_2x16(x >> (16 * (y & 1)))[0] }
                UnpackUnorm16(x: u32, y: u32) -> f32 { pack::unpack_unorm_2x16(x >> (16 * (y & 1)))[0] }
                F16ToF32(x: u32) -> f32 { half::to_f32(x) }
                F32ToF16(x: f32) -> u32 { half::from_f32(x) }
                F32ToF16Rtz(x: f32) -> u32 { half::from_f32_rtz(x) }
                F16ToF64(x: u32) -> f64 { half::to_f64(x) }
                F64ToF16(x: f64) -> u32 { half::from_f64(x) }
                F64ToF16Rtz(x: f64) -> u32 { half::from_f64_rtz(x) }
                F64ToF32(x: f64) -> f32 { convert::f64_to_f32(x) }
                F64ToF32Rtz(x: f64) -> f32 { convert::f64_to_f32_rtz(x) }
                F32ToF64(x: f32) -> f64 { convert::f32_to_f64(x) }
                F32ToBfloat16(x: f32) -> u32 { small::to_bfloat16(x) }
                F32ToE4m3(x: f32) -> u32 { small::to_e4m3::<false>(x) }
                F32ToE4m3Saturated(x: f32) -> u32 { small::to_e4m3::<true>(x) }
                F32ToE5m2(x: f32) -> u32 { small::to_e5m2::<false>(x) }
                F32ToE5m2Saturated(x: f32) -> u32 { small::to_e5m2::<true>(x) }
                E4m3ToF32(x: u32) -> f32 { small::of_e4m3(x) }
                U32ToF16(x: u32) -> u32 { convert::u32_to_f16(x) }
                S32ToF16(x: i32) -> u32 { convert::i32_to_f16(x) }
                U64ToF16(x: u64) -> u32 { convert::u64_to_f16(x) }
                S64ToF16(x: i64) -> u32 { convert::i64_to_f16(x) }
                U64ToF32(x: u64) -> f32 { convert::u64_to_f32(x) }
                S64ToF32(x: i64) -> f32 { convert::i64_to_f32(x) }
                U32ToF64(x: u32) -> f64 { f64::from(x) }
                S32ToF64(x: i32) -> f64 { f64::from(x) }
                U64ToF64(x: u64) -> f64 { convert::u64_to_f64(x) }
                S64ToF64(x: i64) -> f64 { convert::i64_to_f64(x) }
                F32ToU64(x: f32) -> u64 { convert::f32_to_u64(x) }
                F32ToS64(x: f32) -> i64 { convert::f32_to_i64(x) }
                F64ToU32(x: f64) -> u32 { convert::f64_to_u32(x) }
                F64ToS32(x: f64) -> i32 { convert::f64_to_i32(x) }
                F64ToU64(x: f64) -> u64 { convert::f64_to_u64(x) }
                F64ToS64(x: f64) -> i64 { convert::f64_to_i64(x) }
                ZeroExtend64(x: u32) -> u64 { u64::from(x) }
                SignExtend64(x: i32) -> i64 { i64::from(x) }
                ISub64(x: u64, y: u64) -> u64 { x.wrapping_sub(y) }
                IMul64(x: u64, y: u64) -> u64 { x.wrapping_mul(y) }
                SNegate64(x: u64) -> u64 { x.wrapping_neg() }
                UDiv64(x: u64, y: u64) -> u64 { wide::u_div(x, y) }
                SDiv64(x: u64, y: u64) -> u64 { wide::s_div(x, y) }
                UMod64(x: u64, y: u64) -> u64 { wide::u_mod(x, y) }
                SRem64(x: u64, y: u64) -> u64 { wide::s_rem(x, y) }
                SMod64(x: u64, y: u64) -> u64 { wide::s_mod(x, y) }
                AddCarry64(x: u64, y: u64) -> u64 { wide::add_carry(x, y).1 }
                SubBorrow64(x: u64, y: u64) -> u64 { wide::sub_borrow(x, y).1 }
                UMulHigh64(x: u64, y: u64) -> u64 { wide::u_mul_extended(x, y).1 }
                SMulHigh64(x: u64, y: u64) -> u64 { wide::s_mul_extended(x, y).1 }
                ShiftLeft64(x: u64, y: u32) -> u64 { x << (y & 63) }
                ShiftRightLogical64(x: u64, y: u32) -> u64 { x >> (y & 63) }
                ShiftRightArithmetic64(x: i64, y: u32) -> i64 { x >> (y & 63) }
                BitReverse64(x: u64) -> u64 { wide::bit_reverse(x) }
                BitCount64(x: u64) -> u32 { wide::bit_count(x) }
                BitFieldInsert64(x: u64, y: u64, z: u32, w: u32) -> u64 { wide::bit_field_insert(x, y, z, w) }
                BitFieldSExtract64(x: u64, y: u32, z: u32) -> u64 { wide::bit_field_s_extract(x, y, z) }
                BitFieldUExtract64(x: u64, y: u32, z: u32) -> u64 { wide::bit_field_u_extract(x, y, z) }
                FindILsb64(x: u64) -> u32 { wide::find_i_lsb(x) }
                FindUMsb64(x: u64) -> u32 { wide::find_u_msb(x) }
                FindSMsb64(x: u64) -> u32 { wide::find_s_msb(x) }
                SAbs64(x: u64) -> u64 { wide::s_abs(x) }
                SSign64(x: u64) -> u64 { wide::s_sign(x) }
                SDistance64(x: i64, y: i64) -> u64 { x.abs_diff(y) }
                UDistance64(x: u64, y: u64) -> u64 { x.abs_diff(y) }
                SAddSat64(x: i64, y: i64) -> i64 { x.saturating_add(y) }
                UAddSat64(x: u64, y: u64) -> u64 { x.saturating_add(y) }
                SSubSat64(x: i64, y: i64) -> i64 { x.saturating_sub(y) }
                USubSat64(x: u64, y: u64) -> u64 { x.saturating_sub(y) }
                SAverage64(x: i64, y: i64) -> i64 { wide::s_average(x, y) }
                UAverage64(x: u64, y: u64) -> u64 { wide::u_average(x, y) }
                SAverageRounded64(x: i64, y: i64) -> i64 { wide::s_average_rounded(x, y) }
                UAverageRounded64(x: u64, y: u64) -> u64 { wide::u_average_rounded(x, y) }
                SMin64(x: i64, y: i64) -> i64 { if y < x { y } else { x } }
                SMax64(x: i64, y: i64) -> i64 { if y > x { y } else { x } }
                UMin64(x: u64, y: u64) -> u64 { if y < x { y } else { x } }
                UMax64(x: u64, y: u64) -> u64 { if y > x { y } else { x } }
                FAdd64(x: f64, y: f64) -> f64 { x + y }
                FSub64(x: f64, y: f64) -> f64 { x - y }
                FMul64(x: f64, y: f64) -> f64 { x * y }
                FDiv64(x: f64, y: f64) -> f64 { x / y }
                FMulAdd64(x: f64, y: f64, z: f64) -> f64 { x * y + z }
                FRem64(x: f64, y: f64) -> f64 { double::frem(x, y) }
                FMod64(x: f64, y: f64) -> f64 { double::fmod(x, y) }
                FNegate64(x: u64) -> u64 { x ^ (1 << 63) }
                FAbs64(x: u64) -> u64 { x & !(1 << 63) }
                FSign64(x: f64) -> f64 { double::sign(x) }
                Floor64(x: f64) -> f64 { double::floor(x) }
                Ceil64(x: f64) -> f64 { double::ceil(x) }
                Trunc64(x: f64) -> f64 { double::trunc(x) }
                Round64(x: f64) -> f64 { double::round(x) }
                RoundEven64(x: f64) -> f64 { double::round_even(x) }
                Fract64(x: f64) -> f64 { double::fract(x) }
                FMin64(x: f64, y: f64) -> f64 { double::f_min(x, y) }
                FMax64(x: f64, y: f64) -> f64 { double::f_max(x, y) }
                FClamp64(x: f64, y: f64, z: f64) -> f64 { double::f_clamp(x, y, z) }
                NMin64(x: f64, y: f64) -> f64 { double::n_min(x, y) }
                NMax64(x: f64, y: f64) -> f64 { double::n_max(x, y) }
                NClamp64(x: f64, y: f64, z: f64) -> f64 { double::n_clamp(x, y, z) }
                FMix64(x: f64, y: f64, z: f64) -> f64 { double::mix(x, y, z) }
                Step64(x: f64, y: f64) -> f64 { double::step(x, y) }
                SmoothStep64(x: f64, y: f64, z: f64) -> f64 { double::smooth_step(x, y, z) }
                Sqrt64(x: f64) -> f64 { double::sqrt(x) }
                InverseSqrt64(x: f64) -> f64 { double::inverse_sqrt(x) }
                Ldexp64(x: f64, y: i32) -> f64 { double::ldexp(x, y) }
                FrexpSignificand64(x: f64) -> f64 { double::frexp(x).0 }
                FrexpExponent64(x: f64) -> i32 { double::frexp(x).1 }
                ModfFraction64(x: f64) -> f64 { double::modf(x).0 }
                ModfWhole64(x: f64) -> f64 { double::modf(x).1 }
            }
            test {
                IEqual SplitIEqual JumpIEqual RepeatIEqual (x: u32, y: u32) { x == y }
                INotEqual SplitINotEqual JumpINotEqual RepeatINotEqual (x: u32, y: u32) { x != y }
                ULess SplitULess JumpULess RepeatULess (x: u32, y: u32) { x < y }
                ULessEqual SplitULessEqual JumpULessEqual RepeatULessEqual (x: u32, y: u32) { x <= y }
                SLess SplitSLess JumpSLess RepeatSLess (x: i32, y: i32) { x < y }
                SLessEqual SplitSLessEqual JumpSLessEqual RepeatSLessEqual (x: i32, y: i32) { x <= y }
                FOrdEqual SplitFOrdEqual JumpFOrdEqual RepeatFOrdEqual (x: f32, y: f32) { x == y }
                FOrdLess SplitFOrdLess JumpFOrdLess RepeatFOrdLess (x: f32, y: f32) { x < y }
                FOrdLessEqual SplitFOrdLessEqual JumpFOrdLessEqual RepeatFOrdLessEqual (x: f32, y: f32) { x <= y }
                FUnordNotEqual SplitFUnordNotEqual JumpFUnordNotEqual RepeatFUnordNotEqual (x: f32, y: f32) { x != y }
            }
            far_test {
                FOrdNotEqual(x: f32, y: f32) { x < y || x > y }
                FUnordEqual(x: f32, y: f32) { !(x < y || x > y) }
                FUnordLess(x: f32, y: f32) { !(x >= y) }
                FUnordLessEqual(x: f32, y: f32) { !(x > y) }
                IsNan(x: u32) { (x & 0x7fff_ffff) > 0x7f80_0000 }
                IsInf(x: u32) { (x & 0x7fff_ffff) == 0x7f80_0000 }
                IEqual64(x: u64, y: u64) { x == y }
                INotEqual64(x: u64, y: u64) { x != y }
                ULess64(x: u64, y: u64) { x < y }
                ULessEqual64(x: u64, y: u64) { x <= y }
                SLess64(x: i64, y: i64) { x < y }
                SLessEqual64(x: i64, y: i64) { x <= y }
                FOrdEqual64(x: f64, y: f64) { x == y }
                FOrdNotEqual64(x: f64, y: f64) { x < y || x > y }
                FOrdLess64(x: f64, y: f64) { x < y }
                FOrdLessEqual64(x: f64, y: f64) { x <= y }
                FUnordEqual64(x: f64, y: f64) { !(x < y || x > y) }
                FUnordNotEqual64(x: f64, y: f64) { x != y }
                FUnordLess64(x: f64, y: f64) { !(x >= y) }
                FUnordLessEqual64(x: f64, y: f64) { !(x > y) }
                IsNan64(x: u64) { (x & !(1 << 63)) > 0x7ff0 << 48 }
                IsInf64(x: u64) { (x & !(1 << 63)) == 0x7ff0 << 48 }
            }
            special {
                // Registers under the running mask.
                MovMasked(V, V, -, -, -, -)
                Select(V, M, V, V, -, -)
                Select64(W, M, W, W, -, -)
                // Masks.
                MaskMov(M, M, -, -, -, -)
                MaskMovMasked(M, M, -, -, -, -)
                MaskAnd(M, M, M, -, -, -)
                MaskOr(M, M, M, -, -, -)
                MaskXor(M, M, M, -, -, -)
                MaskNot(M, M, -, -, -, -)
                MaskEqual(M, M, M, -, -, -)
                MaskSelect(M, M, M, M, -, -)
                MaskToInt(V, M, -, -, -, -)
                // Control.
                Jump(-, -, -, -, -, T)
                JumpIf(-, M, -, -, -, T)
                JumpUnless(-, M, -, -, -, T)
                Split(M, M, -, -, -, T)
                SplitNot(M, M, -, -, -, T)
                Park(M, -, -, -, -, T)
                Join(M, -, -, -, -, T)
                Repeat(-, -, -, -, -, T)
                RepeatJoin(M, -, -, -, -, T)
                EndLanes(-, -, -, -, -, T)
                Done(-, -, -, -, -, -)
                // Memory: fast forms of the plain mode (value or result, offset register, view slot or 0,
                // shift, entry, immediate).
                LoadView(V, V, S, L, E, L)
                LoadView2(V2, V, S, L, E, L)
                LoadView3(V3, V, S, L, E, L)
                LoadView4(V4, V, S, L, E, L)
                LoadViewUniform(V, V, S, L, E, L)
                LoadWorkgroup(V, V, -, L, E, L)
                LoadWorkgroup2(V2, V, -, L, E, L)
                LoadWorkgroup3(V3, V, -, L, E, L)
                LoadWorkgroup4(V4, V, -, L, E, L)
                StoreView(V, V, S, L, E, L)
                StoreWorkgroup(V, V, -, L, E, L)
                // Memory: all forms, by entry of the memory table.
                Load(-, -, -, -, -, E)
                LoadUniform(-, -, -, -, -, E)
                Store(-, -, -, -, -, E)
                Atomic(-, -, -, -, -, E)
                LoadPrivate(V, V, -, L, E, L)
                StorePrivate(V, V, -, L, E, L)
                BufferSize(-, -, -, -, -, E)
                // Check mode: the components that the last load of each lane read undefined, as bits.
                ReadUndefined(V, -, -, -, -, -)
                // Check mode: a shadow of a component of the next store; which, as a literal.
                StoreUndefined(-, V, -, -, -, L)
                // Check mode: a shadow; literal 1: partly defined values count.
                CheckDefined(-, V, -, -, -, L)
                // Notes: lanes, number of the finding in `NOTES`, site; an element of descriptors, site.
                NoteWhere(-, M, -, -, L, L)
                NoteDiverging(-, V, -, -, -, L)
                // DebugPrintf, by entry of its table.
                Print(-, -, -, -, -, P)
                // Synchronisation.
                MemoryBarrier(-, -, -, -, -, B)
                ControlBarrier(-, -, -, -, -, B)
                // Subgroups.
                Elect(M, -, -, -, -, -)
                VoteAll(M, M, -, -, -, -)
                VoteAny(M, M, -, -, -, -)
                VoteEqualMask(M, M, -, -, -, -)
                VoteEqual(M, V, -, -, -, -)
                VoteEqualFloat(M, V, -, -, -, -)
                VoteEqual64(M, W, -, -, -, -)
                Ballot(V4, M, -, -, -, -)
                InverseBallot(M, V, -, -, -, -)
                BallotBitExtract(M, V, V, -, -, -)
                BallotBitCount(V, V, -, -, -, L)
                BallotFind(V, V, -, -, -, L)
                // Second operand: lane, mask or delta by the literal (0 shuffle, 1 xor, 2 up, 3 down, 4 quad
                // broadcast, 5.. rotate in clusters of 1 << (imm - 5)).
                Shuffle(V, V, V, -, -, L)
                BroadcastFirst(V, V, -, -, -, -)
                QuadSwap(V, V, -, -, -, L)
                MaskToLanes(V, M, -, -, -, -)
                LanesToMask(M, V, -, -, -, -)
                Group(V, V, -, -, -, L)
                Group64(W, W, -, -, -, L)
                GroupMask(M, M, -, -, -, L)
                MatrixMulAdd(-, -, -, -, -, X)
                ReadClock(W, -, -, -, -, -)
                // Images.
                Image(-, -, -, -, -, I)
                // In place of another instruction: machine code goes on here. No program has it.
                Native(-, -, -, -, -, -)
            }
        }
    };
}
pub(crate) use instruction_table;

/// What an instruction does with the test that it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTest {
    /// The result is a mask.
    Set,
    /// Lanes where it fails are parked.
    Split,
    /// A jump where it fails in all running lanes.
    Jump,
    /// A back-edge where it holds in any.
    Repeat,
}

/// What an operand field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// Nothing.
    None,
    /// This many consecutive vector registers.
    Vector(u16),
    /// A mask register.
    Mask,
    /// A slot of the table of views.
    View,
    /// An entry of the memory table.
    Memory,
    /// An entry of the barrier table.
    Barrier,
    /// An entry of the image table.
    Image,
    /// An entry of the table of DebugPrintf.
    Print,
    /// An entry of the table of products of cooperative matrices.
    Matrix,
    /// The number of an instruction.
    Target,
    /// A number.
    Literal,
}

instruction_table!(define);

/// One instruction: 16 bytes. Fields that an opcode does not use are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Inst {
    /// Which row of the table it is.
    pub op: Opcode,
    /// Result register, or a park register.
    pub dst: u16,
    /// First operand.
    pub a: u16,
    /// Second operand.
    pub b: u16,
    /// Third operand.
    pub c: u16,
    /// Fourth operand.
    pub aux: u16,
    /// Jump target, literal or entry.
    pub imm: u32,
}

impl std::fmt::Display for Inst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.op)?;
        let fields =
            [self.dst.into(), self.a.into(), self.b.into(), self.c.into(), self.aux.into(), self.imm];
        for (kind, field) in self.op.shape().into_iter().zip(fields) {
            match kind {
                OperandKind::None => {}
                OperandKind::Vector(1) => write!(f, " v{field}")?,
                OperandKind::Vector(n) => write!(f, " v{field}..{}", field + u32::from(n) - 1)?,
                OperandKind::Mask => write!(f, " m{field}")?,
                OperandKind::View => write!(f, " view{field}")?,
                OperandKind::Memory => write!(f, " access{field}")?,
                OperandKind::Barrier => write!(f, " barrier{field}")?,
                OperandKind::Image => write!(f, " image{field}")?,
                OperandKind::Print => write!(f, " print{field}")?,
                OperandKind::Matrix => write!(f, " product{field}")?,
                OperandKind::Target => write!(f, " ->{field}")?,
                OperandKind::Literal => write!(f, " #{field}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_16_bytes() {
        assert_eq!(size_of::<Inst>(), 16);
    }
}
