//! Which opcodes compute an arithmetic operation: directly on 32 and 64 bits; on 8 and 16 bits by way of 32.

use super::isa::Opcode;
use super::lower::{Lowerer, Name, Result, not_implemented, words};
use crate::ir::{Alu, Conversion, Op, OpKind, Scalar};
use smallvec::SmallVec;

/// The test for a comparison of 32-bit values.
pub(super) fn test(alu: Alu, scalar: Scalar) -> Option<Opcode> {
    if !matches!(scalar, Scalar::I32 | Scalar::F32) {
        return None;
    }
    Some(match alu {
        Alu::IEqual => Opcode::IEqual,
        Alu::INotEqual => Opcode::INotEqual,
        Alu::ULess => Opcode::ULess,
        Alu::ULessEqual => Opcode::ULessEqual,
        Alu::SLess => Opcode::SLess,
        Alu::SLessEqual => Opcode::SLessEqual,
        Alu::FOrdEqual => Opcode::FOrdEqual,
        Alu::FOrdNotEqual => Opcode::FOrdNotEqual,
        Alu::FOrdLess => Opcode::FOrdLess,
        Alu::FOrdLessEqual => Opcode::FOrdLessEqual,
        Alu::FUnordEqual => Opcode::FUnordEqual,
        Alu::FUnordNotEqual => Opcode::FUnordNotEqual,
        Alu::FUnordLess => Opcode::FUnordLess,
        Alu::FUnordLessEqual => Opcode::FUnordLessEqual,
        Alu::IsNan => Opcode::IsNan,
        Alu::IsInf => Opcode::IsInf,
        _ => return None,
    })
}

fn test_64(alu: Alu) -> Option<Opcode> {
    Some(match alu {
        Alu::IEqual => Opcode::IEqual64,
        Alu::INotEqual => Opcode::INotEqual64,
        Alu::ULess => Opcode::ULess64,
        Alu::ULessEqual => Opcode::ULessEqual64,
        Alu::SLess => Opcode::SLess64,
        Alu::SLessEqual => Opcode::SLessEqual64,
        Alu::FOrdEqual => Opcode::FOrdEqual64,
        Alu::FOrdNotEqual => Opcode::FOrdNotEqual64,
        Alu::FOrdLess => Opcode::FOrdLess64,
        Alu::FOrdLessEqual => Opcode::FOrdLessEqual64,
        Alu::FUnordEqual => Opcode::FUnordEqual64,
        Alu::FUnordNotEqual => Opcode::FUnordNotEqual64,
        Alu::FUnordLess => Opcode::FUnordLess64,
        Alu::FUnordLessEqual => Opcode::FUnordLessEqual64,
        Alu::IsNan => Opcode::IsNan64,
        Alu::IsInf => Opcode::IsInf64,
        _ => return None,
    })
}

/// Operations on 32 bits with one result.
fn direct(alu: Alu) -> Option<Opcode> {
    Some(match alu {
        Alu::IAdd => Opcode::IAdd,
        Alu::ISub => Opcode::ISub,
        Alu::IMul => Opcode::IMul,
        Alu::SNegate => Opcode::SNegate,
        Alu::UDiv => Opcode::UDiv,
        Alu::SDiv => Opcode::SDiv,
        Alu::UMod => Opcode::UMod,
        Alu::SRem => Opcode::SRem,
        Alu::SMod => Opcode::SMod,
        Alu::And => Opcode::And,
        Alu::Or => Opcode::Or,
        Alu::Xor => Opcode::Xor,
        Alu::Not => Opcode::Not,
        Alu::ShiftLeft => Opcode::ShiftLeft,
        Alu::ShiftRightLogical => Opcode::ShiftRightLogical,
        Alu::ShiftRightArithmetic => Opcode::ShiftRightArithmetic,
        Alu::BitReverse => Opcode::BitReverse,
        Alu::BitCount => Opcode::BitCount,
        Alu::BitFieldInsert => Opcode::BitFieldInsert,
        Alu::BitFieldSExtract => Opcode::BitFieldSExtract,
        Alu::BitFieldUExtract => Opcode::BitFieldUExtract,
        Alu::FindILsb => Opcode::FindILsb,
        Alu::FindSMsb => Opcode::FindSMsb,
        Alu::FindUMsb => Opcode::FindUMsb,
        Alu::SAbs => Opcode::SAbs,
        Alu::SSign => Opcode::SSign,
        Alu::SMin => Opcode::SMin,
        Alu::UMin => Opcode::UMin,
        Alu::SMax => Opcode::SMax,
        Alu::UMax => Opcode::UMax,
        Alu::FAdd => Opcode::FAdd,
        Alu::FSub => Opcode::FSub,
        Alu::FMul => Opcode::FMul,
        Alu::FDiv => Opcode::FDiv,
        Alu::FRem => Opcode::FRem,
        Alu::FMod => Opcode::FMod,
        Alu::FNegate => Opcode::FNegate,
        Alu::Fma => Opcode::FMulAdd,
        Alu::FAbs => Opcode::FAbs,
        Alu::FSign => Opcode::FSign,
        Alu::Floor => Opcode::Floor,
        Alu::Ceil => Opcode::Ceil,
        Alu::Trunc => Opcode::Trunc,
        Alu::Round => Opcode::Round,
        Alu::RoundEven => Opcode::RoundEven,
        Alu::Fract => Opcode::Fract,
        Alu::FMin => Opcode::FMin,
        Alu::FMax => Opcode::FMax,
        Alu::FClamp => Opcode::FClamp,
        Alu::NMin => Opcode::NMin,
        Alu::NMax => Opcode::NMax,
        Alu::NClamp => Opcode::NClamp,
        Alu::FMix => Opcode::FMix,
        Alu::Step => Opcode::Step,
        Alu::SmoothStep => Opcode::SmoothStep,
        Alu::Sqrt => Opcode::Sqrt,
        Alu::InverseSqrt => Opcode::InverseSqrt,
        Alu::Exp => Opcode::Exp,
        Alu::Exp2 => Opcode::Exp2,
        Alu::Log => Opcode::Log,
        Alu::Log2 => Opcode::Log2,
        Alu::Pow => Opcode::Pow,
        Alu::Sin => Opcode::Sin,
        Alu::Cos => Opcode::Cos,
        Alu::Tan => Opcode::Tan,
        Alu::Asin => Opcode::Asin,
        Alu::Acos => Opcode::Acos,
        Alu::Atan => Opcode::Atan,
        Alu::Atan2 => Opcode::Atan2,
        Alu::Sinh => Opcode::Sinh,
        Alu::Cosh => Opcode::Cosh,
        Alu::Tanh => Opcode::Tanh,
        Alu::Asinh => Opcode::Asinh,
        Alu::Acosh => Opcode::Acosh,
        Alu::Atanh => Opcode::Atanh,
        Alu::Ldexp => Opcode::Ldexp,
        Alu::QuantizeToF16 => Opcode::QuantizeToF16,
        Alu::PackHalf2x16 => Opcode::PackHalf2x16,
        Alu::PackSnorm4x8 => Opcode::PackSnorm4x8,
        Alu::PackUnorm4x8 => Opcode::PackUnorm4x8,
        Alu::PackSnorm2x16 => Opcode::PackSnorm2x16,
        Alu::PackUnorm2x16 => Opcode::PackUnorm2x16,
        Alu::SDot4x8 => Opcode::SDot4x8,
        Alu::UDot4x8 => Opcode::UDot4x8,
        Alu::SUDot4x8 => Opcode::SUDot4x8,
        Alu::SDotAccSat4x8 => Opcode::SDotAccSat4x8,
        Alu::UDotAccSat4x8 => Opcode::UDotAccSat4x8,
        Alu::SUDotAccSat4x8 => Opcode::SUDotAccSat4x8,
        _ => return None,
    })
}

fn direct_64(alu: Alu) -> Option<Opcode> {
    Some(match alu {
        Alu::IAdd => Opcode::IAdd64,
        Alu::ISub => Opcode::ISub64,
        Alu::IMul => Opcode::IMul64,
        Alu::SNegate => Opcode::SNegate64,
        Alu::UDiv => Opcode::UDiv64,
        Alu::SDiv => Opcode::SDiv64,
        Alu::UMod => Opcode::UMod64,
        Alu::SRem => Opcode::SRem64,
        Alu::SMod => Opcode::SMod64,
        Alu::ShiftLeft => Opcode::ShiftLeft64,
        Alu::ShiftRightLogical => Opcode::ShiftRightLogical64,
        Alu::ShiftRightArithmetic => Opcode::ShiftRightArithmetic64,
        Alu::BitReverse => Opcode::BitReverse64,
        Alu::BitCount => Opcode::BitCount64,
        Alu::BitFieldInsert => Opcode::BitFieldInsert64,
        Alu::BitFieldSExtract => Opcode::BitFieldSExtract64,
        Alu::BitFieldUExtract => Opcode::BitFieldUExtract64,
        Alu::FindILsb => Opcode::FindILsb64,
        Alu::FindSMsb => Opcode::FindSMsb64,
        Alu::FindUMsb => Opcode::FindUMsb64,
        Alu::SAbs => Opcode::SAbs64,
        Alu::SSign => Opcode::SSign64,
        Alu::SMin => Opcode::SMin64,
        Alu::UMin => Opcode::UMin64,
        Alu::SMax => Opcode::SMax64,
        Alu::UMax => Opcode::UMax64,
        Alu::FAdd => Opcode::FAdd64,
        Alu::FSub => Opcode::FSub64,
        Alu::FMul => Opcode::FMul64,
        Alu::FDiv => Opcode::FDiv64,
        Alu::FRem => Opcode::FRem64,
        Alu::FMod => Opcode::FMod64,
        Alu::FNegate => Opcode::FNegate64,
        Alu::Fma => Opcode::FMulAdd64,
        Alu::FAbs => Opcode::FAbs64,
        Alu::FSign => Opcode::FSign64,
        Alu::Floor => Opcode::Floor64,
        Alu::Ceil => Opcode::Ceil64,
        Alu::Trunc => Opcode::Trunc64,
        Alu::Round => Opcode::Round64,
        Alu::RoundEven => Opcode::RoundEven64,
        Alu::Fract => Opcode::Fract64,
        Alu::FMin => Opcode::FMin64,
        Alu::FMax => Opcode::FMax64,
        Alu::FClamp => Opcode::FClamp64,
        Alu::NMin => Opcode::NMin64,
        Alu::NMax => Opcode::NMax64,
        Alu::NClamp => Opcode::NClamp64,
        Alu::FMix => Opcode::FMix64,
        Alu::Step => Opcode::Step64,
        Alu::SmoothStep => Opcode::SmoothStep64,
        Alu::Sqrt => Opcode::Sqrt64,
        Alu::InverseSqrt => Opcode::InverseSqrt64,
        Alu::Ldexp => Opcode::Ldexp64,
        _ => return None,
    })
}

/// The arguments are signed integers.
fn signed(alu: Alu) -> bool {
    matches!(
        alu,
        Alu::SDiv
            | Alu::SRem
            | Alu::SMod
            | Alu::SMulExtended
            | Alu::ShiftRightArithmetic
            | Alu::FindSMsb
            | Alu::SAbs
            | Alu::SSign
            | Alu::SMin
            | Alu::SMax
            | Alu::SLess
            | Alu::SLessEqual
    )
}

fn is_float(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::F16 | Scalar::F32 | Scalar::F64)
}

fn width_index(scalar: Scalar) -> usize {
    match scalar.bytes() {
        2 => 0,
        4 => 1,
        _ => 2,
    }
}

type Names = SmallVec<[Name; 4]>;

impl Lowerer<'_> {
    /// An operation without side effects.
    pub(super) fn pure(&mut self, op: &Op) -> Result<()> {
        let mut a = Names::new();
        for argument in &op.arguments {
            a.push(self.value(*argument)?);
        }
        let to = self.scalar(op.results[0]);
        match &op.kind {
            OpKind::Alu(alu) => {
                let from = self.scalar(op.arguments[0]);
                self.alu(op, *alu, from, to, &mut a)
            }
            OpKind::Convert(conversion) => {
                let from = self.scalar(op.arguments[0]);
                let name = self.conversion(*conversion, from, to, a[0])?;
                let name = if is_float(to) && *conversion == Conversion::FConvert {
                    self.flushed(to, name)?
                } else {
                    name
                };
                self.define(op.results[0], name)
            }
            OpKind::Pack64 => {
                let pair = self.fresh(2);
                self.emit(Opcode::Mov, pair, &[a[0]])?;
                self.emit(Opcode::Mov, pair.part(1), &[a[1]])?;
                self.define(op.results[0], pair)
            }
            _ => {
                for (k, result) in op.results.iter().enumerate() {
                    self.define(*result, a[0].part(k as u16))?;
                }
                Ok(())
            }
        }
    }

    /// A float result under the denormal mode of the shader.
    fn flushed(&mut self, scalar: Scalar, name: Name) -> Result<Name> {
        if !self.shader.float_controls.denorm_flush_to_zero[width_index(scalar)] {
            return Ok(name);
        }
        match scalar {
            Scalar::F16 => self.compute(Opcode::FlushDenormal16, 1, &[name]),
            Scalar::F32 => self.compute(Opcode::FlushDenormal, 1, &[name]),
            _ => self.compute(Opcode::FlushDenormal64, 2, &[name]),
        }
    }

    fn alu(&mut self, op: &Op, alu: Alu, from: Scalar, to: Scalar, a: &mut Names) -> Result<()> {
        let result = op.results[0];
        if let Some(opcode) = mask_operation(alu, to) {
            let name = self.compute(opcode, 0, a)?;
            return self.define(result, name);
        }
        if alu == Alu::Select {
            let opcode = if words(to) == 2 { Opcode::Select64 } else { Opcode::Select };
            let name = self.compute(opcode, words(to), a)?;
            return self.define(result, name);
        }
        let flushes = is_float(from)
            && self.shader.float_controls.denorm_flush_to_zero[width_index(from)]
            && !matches!(alu, Alu::IsNan | Alu::IsInf);
        if flushes {
            for (name, value) in a.iter_mut().zip(&op.arguments) {
                if is_float(self.shader.values[value.0 as usize]) {
                    *name = self.flushed(from, *name)?;
                }
            }
        }
        match from {
            Scalar::I32 | Scalar::F32 => self.alu_32(op, alu, to, a),
            Scalar::I64 | Scalar::F64 => self.alu_64(op, alu, to, a),
            Scalar::I8 | Scalar::I16 => self.alu_narrow(op, alu, from, a),
            Scalar::F16 => self.alu_half(op, alu, a),
            Scalar::Bool => not_implemented(format!("{alu:?} on booleans")),
        }
    }

    fn alu_32(&mut self, op: &Op, alu: Alu, to: Scalar, a: &Names) -> Result<()> {
        if let Some(opcode) = test(alu, Scalar::I32) {
            let name = self.compute(opcode, 0, a)?;
            return self.define(op.results[0], name);
        }
        if let Some(opcode) = direct(alu) {
            let name = self.compute(opcode, 1, a)?;
            let name = if is_float(to) { self.flushed(to, name)? } else { name };
            return self.define(op.results[0], name);
        }
        let parts = match alu {
            Alu::IAddCarry => [Opcode::IAdd, Opcode::AddCarry],
            Alu::ISubBorrow => [Opcode::ISub, Opcode::SubBorrow],
            Alu::UMulExtended => [Opcode::IMul, Opcode::UMulHigh],
            Alu::SMulExtended => [Opcode::IMul, Opcode::SMulHigh],
            Alu::Frexp => [Opcode::FrexpSignificand, Opcode::FrexpExponent],
            Alu::Modf => [Opcode::ModfFraction, Opcode::ModfWhole],
            Alu::UnpackHalf2x16 => [Opcode::UnpackHalfLow, Opcode::UnpackHalfHigh],
            Alu::SClamp => return self.clamp(op, Opcode::SMax, Opcode::SMin, a),
            Alu::UClamp => return self.clamp(op, Opcode::UMax, Opcode::UMin, a),
            Alu::UnpackSnorm4x8 => return self.unpack(op, Opcode::UnpackSnorm8, a[0]),
            Alu::UnpackUnorm4x8 => return self.unpack(op, Opcode::UnpackUnorm8, a[0]),
            Alu::UnpackSnorm2x16 => return self.unpack(op, Opcode::UnpackSnorm16, a[0]),
            Alu::UnpackUnorm2x16 => return self.unpack(op, Opcode::UnpackUnorm16, a[0]),
            _ => return not_implemented(format!("{alu:?} on 32 bits")),
        };
        self.each(op, &parts, a)
    }

    fn each(&mut self, op: &Op, parts: &[Opcode], a: &Names) -> Result<()> {
        for (opcode, result) in parts.iter().zip(&op.results) {
            if self.plan.uses[result.0 as usize] > 0 {
                let name = self.compute(*opcode, words(self.scalar(*result)), a)?;
                self.define(*result, name)?;
            }
        }
        Ok(())
    }

    fn unpack(&mut self, op: &Op, opcode: Opcode, word: Name) -> Result<()> {
        for (k, result) in op.results.iter().enumerate() {
            let k = self.constant(k as u32);
            let name = self.compute(opcode, 1, &[word, k])?;
            self.define(*result, name)?;
        }
        Ok(())
    }

    fn clamp(&mut self, op: &Op, max: Opcode, min: Opcode, a: &Names) -> Result<()> {
        let run = words(self.scalar(op.results[0]));
        let low = self.compute(max, run, &[a[0], a[1]])?;
        let name = self.compute(min, run, &[low, a[2]])?;
        self.define(op.results[0], name)
    }

    fn alu_64(&mut self, op: &Op, alu: Alu, to: Scalar, a: &Names) -> Result<()> {
        if let Some(opcode) = test_64(alu) {
            let name = self.compute(opcode, 0, a)?;
            return self.define(op.results[0], name);
        }
        if let Some(opcode) = direct_64(alu) {
            let name = self.compute(opcode, words(to), a)?;
            let name = if is_float(to) { self.flushed(to, name)? } else { name };
            return self.define(op.results[0], name);
        }
        let parts = match alu {
            Alu::And | Alu::Or | Alu::Xor | Alu::Not => {
                let opcode = direct(alu).unwrap_or(Opcode::Not);
                let pair = self.fresh(2);
                for k in 0..2 {
                    let parts: Names = a.iter().map(|name| name.part(k)).collect();
                    self.emit(opcode, pair.part(k), &parts)?;
                }
                return self.define(op.results[0], pair);
            }
            Alu::IAddCarry => [Opcode::IAdd64, Opcode::AddCarry64],
            Alu::ISubBorrow => [Opcode::ISub64, Opcode::SubBorrow64],
            Alu::UMulExtended => [Opcode::IMul64, Opcode::UMulHigh64],
            Alu::SMulExtended => [Opcode::IMul64, Opcode::SMulHigh64],
            Alu::Frexp => [Opcode::FrexpSignificand64, Opcode::FrexpExponent64],
            Alu::Modf => [Opcode::ModfFraction64, Opcode::ModfWhole64],
            Alu::SClamp => return self.clamp(op, Opcode::SMax64, Opcode::SMin64, a),
            Alu::UClamp => return self.clamp(op, Opcode::UMax64, Opcode::UMin64, a),
            _ => return not_implemented(format!("{alu:?} on 64 bits")),
        };
        self.each(op, &parts, a)
    }

    /// 8 and 16 bits: sign-extended if need be, computed on 32 bits, cut off.
    fn alu_narrow(&mut self, op: &Op, alu: Alu, from: Scalar, a: &mut Names) -> Result<()> {
        let width = from.bytes() * 8;
        let limit = self.constant((1 << width) - 1);
        if signed(alu) || alu == Alu::SClamp {
            let count = if alu == Alu::ShiftRightArithmetic { 1 } else { a.len() };
            for name in a.iter_mut().take(count) {
                *name = self.conversion(Conversion::SConvert, from, Scalar::I32, *name)?;
            }
        }
        if matches!(alu, Alu::ShiftLeft | Alu::ShiftRightLogical | Alu::ShiftRightArithmetic) {
            let amount_limit = self.constant(width - 1);
            a[1] = self.compute(Opcode::And, 1, &[a[1], amount_limit])?;
        }
        if let Some(opcode) = test(alu, Scalar::I32) {
            let name = self.compute(opcode, 0, a)?;
            return self.define(op.results[0], name);
        }
        let shift = self.constant(width);
        let mut results: SmallVec<[Name; 2]> = SmallVec::new();
        match alu {
            Alu::IAddCarry | Alu::UMulExtended | Alu::SMulExtended => {
                let opcode = if alu == Alu::IAddCarry { Opcode::IAdd } else { Opcode::IMul };
                let whole = self.compute(opcode, 1, a)?;
                results.push(whole);
                results.push(self.compute(Opcode::ShiftRightLogical, 1, &[whole, shift])?);
            }
            Alu::ISubBorrow => {
                results.push(self.compute(Opcode::ISub, 1, a)?);
                results.push(self.compute(Opcode::SubBorrow, 1, a)?);
            }
            Alu::BitReverse => {
                let up = self.constant(32 - width);
                let whole = self.compute(Opcode::BitReverse, 1, a)?;
                results.push(self.compute(Opcode::ShiftRightLogical, 1, &[whole, up])?);
            }
            Alu::SClamp | Alu::UClamp => {
                let (max, min) = if alu == Alu::SClamp {
                    (Opcode::SMax, Opcode::SMin)
                } else {
                    (Opcode::UMax, Opcode::UMin)
                };
                let low = self.compute(max, 1, &[a[0], a[1]])?;
                results.push(self.compute(min, 1, &[low, a[2]])?);
            }
            _ => match direct(alu) {
                Some(opcode) => results.push(self.compute(opcode, 1, a)?),
                None => return not_implemented(format!("{alu:?} on {width} bits")),
            },
        }
        for (result, name) in op.results.iter().zip(results) {
            let narrow = self.scalar(*result).bytes() < 4;
            let name = if narrow { self.compute(Opcode::And, 1, &[name, limit])? } else { name };
            self.define(*result, name)?;
        }
        Ok(())
    }

    /// 16-bit floats: computed in 32 bits and rounded.
    fn alu_half(&mut self, op: &Op, alu: Alu, a: &mut Names) -> Result<()> {
        match alu {
            Alu::FNegate | Alu::FAbs => {
                let (opcode, bits) =
                    if alu == Alu::FNegate { (Opcode::Xor, 0x8000) } else { (Opcode::And, 0x7fff) };
                let bits = self.constant(bits);
                let name = self.compute(opcode, 1, &[a[0], bits])?;
                return self.define(op.results[0], name);
            }
            _ => {}
        }
        for (name, value) in a.iter_mut().zip(&op.arguments) {
            if self.shader.values[value.0 as usize] == Scalar::F16 {
                *name = self.compute(Opcode::F16ToF32, 1, &[*name])?;
            }
        }
        if let Some(opcode) = test(alu, Scalar::F32) {
            let name = self.compute(opcode, 0, a)?;
            return self.define(op.results[0], name);
        }
        let parts: SmallVec<[Opcode; 2]> = match alu {
            Alu::Frexp => SmallVec::from_slice(&[Opcode::FrexpSignificand, Opcode::FrexpExponent]),
            Alu::Modf => SmallVec::from_slice(&[Opcode::ModfFraction, Opcode::ModfWhole]),
            _ => match direct(alu) {
                Some(opcode) => SmallVec::from_slice(&[opcode]),
                None => return not_implemented(format!("{alu:?} on 16-bit floats")),
            },
        };
        for (opcode, result) in parts.iter().zip(&op.results) {
            let mut name = self.compute(*opcode, 1, a)?;
            if self.scalar(*result) == Scalar::F16 {
                name = self.compute(Opcode::F32ToF16, 1, &[name])?;
                name = self.flushed(Scalar::F16, name)?;
            }
            self.define(*result, name)?;
        }
        Ok(())
    }

    fn conversion(&mut self, conversion: Conversion, from: Scalar, to: Scalar, x: Name) -> Result<Name> {
        use Scalar::{Bool, F16, F32, F64, I8, I16, I32, I64};
        let narrow = |s: Scalar| matches!(s, I8 | I16);
        match (conversion, from, to) {
            (Conversion::Bitcast, ..) => Ok(x),
            (Conversion::BoolToInt, Bool, I64) => {
                let bit = self.compute(Opcode::MaskToInt, 1, &[x])?;
                self.compute(Opcode::ZeroExtend64, 2, &[bit])
            }
            (Conversion::BoolToInt, Bool, _) => self.compute(Opcode::MaskToInt, 1, &[x]),
            (Conversion::UConvert | Conversion::SConvert, I64, _) if to != I64 => {
                self.conversion(Conversion::UConvert, I32, to, x)
            }
            (Conversion::UConvert, _, I64) if from != I64 => self.compute(Opcode::ZeroExtend64, 2, &[x]),
            (Conversion::SConvert, _, I64) if from != I64 => {
                let word = self.conversion(Conversion::SConvert, from, I32, x)?;
                self.compute(Opcode::SignExtend64, 2, &[word])
            }
            (Conversion::SConvert, I8, I32) => self.compute(Opcode::SignExtend8, 1, &[x]),
            (Conversion::SConvert, I16, I32) => self.compute(Opcode::SignExtend16, 1, &[x]),
            (Conversion::SConvert, I8, I16) => {
                let word = self.compute(Opcode::SignExtend8, 1, &[x])?;
                let limit = self.constant(0xffff);
                self.compute(Opcode::And, 1, &[word, limit])
            }
            (Conversion::UConvert | Conversion::SConvert, ..) => {
                if to.bytes() < from.bytes() {
                    let limit = self.constant(if to == I8 { 0xff } else { 0xffff });
                    self.compute(Opcode::And, 1, &[x, limit])
                } else {
                    Ok(x)
                }
            }
            (Conversion::FConvert, F16, F32) => self.compute(Opcode::F16ToF32, 1, &[x]),
            (Conversion::FConvert, F16, F64) => self.compute(Opcode::F16ToF64, 2, &[x]),
            (Conversion::FConvert, F32, F16) => self.compute(Opcode::F32ToF16, 1, &[x]),
            (Conversion::FConvert, F32, F64) => self.compute(Opcode::F32ToF64, 2, &[x]),
            (Conversion::FConvert, F64, F16) => self.compute(Opcode::F64ToF16, 1, &[x]),
            (Conversion::FConvert, F64, F32) => self.compute(Opcode::F64ToF32, 1, &[x]),
            (Conversion::FConvertRtz, F32, F16) => self.compute(Opcode::F32ToF16Rtz, 1, &[x]),
            (Conversion::FConvertRtz, F64, F16) => self.compute(Opcode::F64ToF16Rtz, 1, &[x]),
            (Conversion::FConvertRtz, F64, F32) => self.compute(Opcode::F64ToF32Rtz, 1, &[x]),
            (Conversion::FConvertRtz, ..) if from.bytes() < to.bytes() => {
                self.conversion(Conversion::FConvert, from, to, x)
            }
            (Conversion::FConvert | Conversion::FConvertRtz, ..) if from == to => Ok(x),
            (Conversion::FToU | Conversion::FToS, F16, _) => {
                let wide = self.compute(Opcode::F16ToF32, 1, &[x])?;
                self.conversion(conversion, F32, to, wide)
            }
            (Conversion::FToU | Conversion::FToS, ..) if narrow(to) => {
                let word = self.conversion(conversion, from, I32, x)?;
                let limit = self.constant(if to == I8 { 0xff } else { 0xffff });
                self.compute(Opcode::And, 1, &[word, limit])
            }
            (Conversion::FToU, F32, I32) => self.compute(Opcode::F32ToU32, 1, &[x]),
            (Conversion::FToS, F32, I32) => self.compute(Opcode::F32ToS32, 1, &[x]),
            (Conversion::FToU, F32, I64) => self.compute(Opcode::F32ToU64, 2, &[x]),
            (Conversion::FToS, F32, I64) => self.compute(Opcode::F32ToS64, 2, &[x]),
            (Conversion::FToU, F64, I32) => self.compute(Opcode::F64ToU32, 1, &[x]),
            (Conversion::FToS, F64, I32) => self.compute(Opcode::F64ToS32, 1, &[x]),
            (Conversion::FToU, F64, I64) => self.compute(Opcode::F64ToU64, 2, &[x]),
            (Conversion::FToS, F64, I64) => self.compute(Opcode::F64ToS64, 2, &[x]),
            (Conversion::UToF, ..) if narrow(from) => self.conversion(conversion, I32, to, x),
            (Conversion::SToF, ..) if narrow(from) => {
                let word = self.conversion(Conversion::SConvert, from, I32, x)?;
                self.conversion(conversion, I32, to, word)
            }
            (Conversion::UToF, I32, F16) => self.compute(Opcode::U32ToF16, 1, &[x]),
            (Conversion::SToF, I32, F16) => self.compute(Opcode::S32ToF16, 1, &[x]),
            (Conversion::UToF, I64, F16) => self.compute(Opcode::U64ToF16, 1, &[x]),
            (Conversion::SToF, I64, F16) => self.compute(Opcode::S64ToF16, 1, &[x]),
            (Conversion::UToF, I32, F32) => self.compute(Opcode::U32ToF32, 1, &[x]),
            (Conversion::SToF, I32, F32) => self.compute(Opcode::S32ToF32, 1, &[x]),
            (Conversion::UToF, I64, F32) => self.compute(Opcode::U64ToF32, 1, &[x]),
            (Conversion::SToF, I64, F32) => self.compute(Opcode::S64ToF32, 1, &[x]),
            (Conversion::UToF, I32, F64) => self.compute(Opcode::U32ToF64, 2, &[x]),
            (Conversion::SToF, I32, F64) => self.compute(Opcode::S32ToF64, 2, &[x]),
            (Conversion::UToF, I64, F64) => self.compute(Opcode::U64ToF64, 2, &[x]),
            (Conversion::SToF, I64, F64) => self.compute(Opcode::S64ToF64, 2, &[x]),
            _ => not_implemented(format!("{conversion:?} from {from:?} to {to:?}")),
        }
    }
}

fn mask_operation(alu: Alu, to: Scalar) -> Option<Opcode> {
    Some(match alu {
        Alu::LogicalAnd => Opcode::MaskAnd,
        Alu::LogicalOr => Opcode::MaskOr,
        Alu::LogicalNot => Opcode::MaskNot,
        Alu::LogicalEqual => Opcode::MaskEqual,
        Alu::LogicalNotEqual => Opcode::MaskXor,
        Alu::Select if to == Scalar::Bool => Opcode::MaskSelect,
        _ => return None,
    })
}
