//! Which opcodes compute an arithmetic operation: directly on 32 and 64 bits; on 8 and 16 bits by way of 32.

use super::isa::Opcode;
use super::lower::{Generator, Name, Result, not_implemented, words};
use crate::error::CompileError;
use crate::ir::{Alu, Conversion, Gives, Mark, Op, OpKind, Operands, Scalar, alu_table};
use smallvec::{SmallVec, smallvec};

macro_rules! define {
    ($($(#[$doc:meta])* $name:ident $takes:ident $operands:literal -> $($result:ident)+ [$($mark:ident)*]
        ($($code:ident)*) ($($code_64:ident)*) $(op $op:ident)? $(swapped $swapped:ident)? $(glsl $glsl:ident)?;
    )*) => {
        /// The instructions that compute each operation on 32 and on 64 bits.
        static CODES: &[[&[Opcode]; 2]] = &[$([&[$(Opcode::$code),*], &[$(Opcode::$code_64),*]],)*];
    };
}
alu_table!(define);

/// The instructions that compute an operation on 32 and on 64 bits.
#[cfg(test)]
pub(crate) fn instructions(alu: Alu) -> [&'static [Opcode]; 2] {
    CODES[alu as usize]
}

/// The test for a comparison of 32-bit values.
pub(super) fn test(alu: Alu, scalar: Scalar) -> Option<Opcode> {
    let compares = matches!(scalar, Scalar::I32 | Scalar::F32)
        && alu.row().takes != Operands::Logical
        && alu.row().results == [Gives::Bool];
    compares.then(|| CODES[alu as usize][0].first().copied()).flatten()
}

/// What instructions are selected for: to be emitted, or to compute constants at once.
pub(crate) trait Select {
    /// An operand or a result.
    type Value: Copy;

    /// The result of an instruction: this many vector registers, or a mask (0).
    fn compute(&mut self, opcode: Opcode, run: u16, operands: &[Self::Value]) -> Result<Self::Value>;

    /// An instruction for each word of operands of 64 bits.
    fn by_words(&mut self, opcode: Opcode, operands: &[Self::Value]) -> Result<Self::Value>;

    /// A constant word.
    fn constant(&mut self, word: u32) -> Self::Value;
}

/// Computes an operation whose first operand has type `from`: any but Bool and F16. `wanted` says which
/// results are used; the others may be left out.
pub(crate) fn select<S: Select>(
    to: &mut S,
    alu: Alu,
    from: Scalar,
    operands: &[S::Value],
    wanted: impl Fn(usize) -> bool,
) -> Result<SmallVec<[Option<S::Value>; 4]>> {
    if matches!(from, Scalar::I8 | Scalar::I16) {
        return narrow(to, alu, from, operands, wanted);
    }
    let row = alu.row();
    let width = usize::from(words(from) == 2);
    let codes = CODES[alu as usize][width];
    let run = |k: usize| match row.results[k] {
        Gives::Same => words(from),
        Gives::Bool => 0,
        Gives::Word | Gives::Single | Gives::Chosen => 1,
    };
    if width == 1 && alu.has(Mark::Bitwise) {
        return Ok(smallvec![Some(to.by_words(CODES[alu as usize][0][0], operands)?)]);
    }
    let mut results = SmallVec::new();
    match *codes {
        [] => return not_implemented(format!("{alu:?} on {} bits", 8 * from.bytes())),
        [first, second] if alu.has(Mark::Chained) => {
            let (last, before) = operands.split_last().ok_or_else(malformed)?;
            let chained = to.compute(first, run(0), before)?;
            results.push(Some(to.compute(second, run(0), &[chained, *last])?));
        }
        [code] if alu.has(Mark::Numbered) => {
            for k in 0..row.results.len() {
                let number = to.constant(k as u32);
                results.push(Some(to.compute(code, run(k), &[operands[0], number])?));
            }
        }
        _ => {
            for (k, code) in codes.iter().enumerate() {
                let result = wanted(k).then(|| to.compute(*code, run(k), operands)).transpose()?;
                results.push(result);
            }
        }
    }
    Ok(results)
}

/// 8 and 16 bits: sign-extended if need be, computed on 32 bits, cut off.
fn narrow<S: Select>(
    to: &mut S,
    alu: Alu,
    from: Scalar,
    operands: &[S::Value],
    wanted: impl Fn(usize) -> bool,
) -> Result<SmallVec<[Option<S::Value>; 4]>> {
    let width = from.bytes() * 8;
    let limit = to.constant((1 << width) - 1);
    let mut a: SmallVec<[S::Value; 4]> = SmallVec::from_slice(operands);
    if alu.has(Mark::Signed) {
        let extend = if from == Scalar::I8 { Opcode::SignExtend8 } else { Opcode::SignExtend16 };
        let values = if alu.has(Mark::Shifts) { 1 } else { a.len() };
        for value in a.iter_mut().take(values) {
            *value = to.compute(extend, 1, &[*value])?;
        }
    }
    if alu.has(Mark::Shifts) {
        let amount_limit = to.constant(width - 1);
        a[1] = to.compute(Opcode::And, 1, &[a[1], amount_limit])?;
    }
    let top = to.constant(32 - width);
    if alu.has(Mark::AtTop) {
        for value in &mut a {
            *value = to.compute(Opcode::ShiftLeft, 1, &[*value, top])?;
        }
    }
    let mut results = if alu.has(Mark::High) {
        let whole = to.compute(CODES[alu as usize][0][0], 1, &a)?;
        let shift = to.constant(width);
        let high = to.compute(Opcode::ShiftRightLogical, 1, &[whole, shift])?;
        smallvec![Some(whole), Some(high)]
    } else {
        select(to, alu, Scalar::I32, &a, wanted)?
    };
    if (alu.has(Mark::FromTop) || alu.has(Mark::AtTop))
        && let Some(result) = &mut results[0]
    {
        *result = to.compute(Opcode::ShiftRightLogical, 1, &[*result, top])?;
    }
    for (result, gives) in results.iter_mut().zip(alu.row().results) {
        if let (Some(value), Gives::Same) = (result, gives) {
            *value = to.compute(Opcode::And, 1, &[*value, limit])?;
        }
    }
    Ok(results)
}

fn malformed() -> CompileError {
    CompileError::Invalid("an operation has too few operands".into())
}

fn width_index(scalar: Scalar) -> usize {
    match scalar.bytes() {
        2 => 0,
        4 => 1,
        _ => 2,
    }
}

type Names = SmallVec<[Name; 4]>;

impl Select for Generator<'_> {
    type Value = Name;

    fn compute(&mut self, opcode: Opcode, run: u16, operands: &[Name]) -> Result<Name> {
        Generator::compute(self, opcode, run, operands)
    }

    fn by_words(&mut self, opcode: Opcode, operands: &[Name]) -> Result<Name> {
        let pair = self.fresh(2);
        for k in 0..2 {
            let words: Names = operands.iter().map(|name| name.part(k)).collect();
            self.emit(opcode, pair.part(k), &words)?;
        }
        Ok(pair)
    }

    fn constant(&mut self, word: u32) -> Name {
        Generator::constant(self, word)
    }
}

impl Generator<'_> {
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
                let name = if to.is_float() && *conversion == Conversion::FConvert {
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
        if alu == Alu::Select {
            let opcode = match words(to) {
                0 => Opcode::MaskSelect,
                1 => Opcode::Select,
                _ => Opcode::Select64,
            };
            let name = self.compute(opcode, words(to), a)?;
            return self.define(result, name);
        }
        let flushes = from.is_float()
            && self.shader.float_controls.denorm_flush_to_zero[width_index(from)]
            && !alu.has(Mark::Raw);
        if flushes {
            for (name, value) in a.iter_mut().zip(&op.arguments) {
                if self.scalar(*value).is_float() {
                    *name = self.flushed(from, *name)?;
                }
            }
        }
        match from {
            Scalar::F16 => return self.alu_half(op, alu, a),
            Scalar::Bool if alu.row().takes != Operands::Logical => {
                return not_implemented(format!("{alu:?} on booleans"));
            }
            _ => {}
        }
        let plan = self.plan;
        let wanted = |k: usize| op.results.len() == 1 || plan.uses[op.results[k].0 as usize] > 0;
        let names = select(self, alu, from, a, wanted)?;
        for (result, name) in op.results.iter().zip(names) {
            let Some(name) = name else { continue };
            let to = self.scalar(*result);
            let flushes = to.is_float() && op.results.len() == 1;
            let name = if flushes { self.flushed(to, name)? } else { name };
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
        let names = select(self, alu, Scalar::F32, a, |_| true)?;
        for (result, name) in op.results.iter().zip(names) {
            let Some(mut name) = name else { continue };
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
