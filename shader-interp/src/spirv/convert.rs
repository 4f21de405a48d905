//! Conversions between types.

use super::lowerer::{Flat, Lowerer};
use super::types::Encoding;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Conversion, Scalar, Value};
use crate::pass::fold::width;
use spirv::{Decoration, Op};

impl Lowerer<'_> {
    /// Conversion instructions; false if the opcode is none of them.
    pub fn op_convert(&mut self, i: &Instruction<'_>) -> Result<bool, CompileError> {
        let conversion = match i.op {
            Op::ConvertFToU => Conversion::FToU,
            Op::ConvertFToS => Conversion::FToS,
            Op::ConvertSToF => Conversion::SToF,
            Op::ConvertUToF => Conversion::UToF,
            Op::UConvert => Conversion::UConvert,
            Op::SConvert => Conversion::SConvert,
            Op::FConvert => self.float_conversion(i)?,
            Op::Bitcast | Op::ConvertPtrToU | Op::ConvertUToPtr => {
                self.reinterpret(i)?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let (from, to) = (self.encoding_of(i.id(3)?), self.types.encoding(i.id(1)?));
        if (from, to) != (Encoding::Plain, Encoding::Plain) {
            self.convert_encoded(i, conversion, from, to)?;
            return Ok(true);
        }
        let result = self.types.scalar(i.id(1)?)?;
        let values = self.operand(i, 3)?;
        let mut out = Flat::new();
        for &x in &values {
            let from = self.b.scalar(x);
            let float = Scalar::is_float;
            let fits = match conversion {
                Conversion::FToU | Conversion::FToS => float(from) && !float(result),
                Conversion::SToF | Conversion::UToF => !float(from) && float(result),
                Conversion::FConvert | Conversion::FConvertRtz => float(from) && float(result),
                _ => !float(from) && !float(result),
            };
            if !fits || from == Scalar::Bool || result == Scalar::Bool {
                return Err(i.invalid("has operands of types that it does not take"));
            }
            if matches!(conversion, Conversion::FToU | Conversion::FToS) {
                self.note_conversion(i, x, conversion == Conversion::FToS, result);
            }
            out.push(self.b.convert(conversion, result, x));
        }
        self.set(i, &out)?;
        Ok(true)
    }

    /// OpFConvert by its FPRoundingMode, or the entry point's rounding mode for the result's width.
    fn float_conversion(&self, i: &Instruction<'_>) -> Result<Conversion, CompileError> {
        match self.module.decorations.of(i.id(2)?, Decoration::FPRoundingMode) {
            Some(0) => Ok(Conversion::FConvert),
            Some(1) => Ok(Conversion::FConvertRtz),
            Some(other) => Err(i.refuse(&format!("with FPRoundingMode {other}"))),
            None if self.types.encoding(i.id(1)?) != Encoding::Plain => Ok(Conversion::FConvert),
            None => {
                let of = match self.types.scalar(i.id(1)?)? {
                    Scalar::F16 => 0,
                    Scalar::F32 => 1,
                    _ => 2,
                };
                let toward_zero = self.float_controls.rounding_rtz[of];
                Ok(if toward_zero { Conversion::FConvertRtz } else { Conversion::FConvert })
            }
        }
    }

    /// OpBitcast and pointer conversions: the same bits as other scalars.
    fn reinterpret(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let info = self.types.get(i.id(1)?)?;
        let Some(to) = info.scalar else { return Err(i.refuse("to a logical pointer")) };
        let count = info.flat as usize;
        let values = self.operand(i, 3)?;
        if values.iter().any(|&x| self.b.scalar(x) == Scalar::Bool) || to == Scalar::Bool {
            return Err(i.invalid("of booleans"));
        }
        let out = if i.op == Op::Bitcast {
            self.bitcast(&values, to)
        } else {
            values.iter().map(|&x| self.b.convert(Conversion::UConvert, to, x)).collect()
        };
        if out.len() != count {
            return Err(i.invalid("changes the number of bits"));
        }
        self.set(i, &out)
    }

    /// The bits of `values` as scalars of type `to`, the first ones in the low bits.
    pub fn bitcast(&mut self, values: &[Value], to: Scalar) -> Flat {
        let Some(&first) = values.first() else { return Flat::new() };
        let from = self.b.scalar(first);
        let (a, b) = (width(from), width(to));
        if a == b {
            return values.iter().map(|&x| self.b.convert(Conversion::Bitcast, to, x)).collect();
        }
        if (a, b) == (32, 64) {
            let words: Flat =
                values.iter().map(|&x| self.b.convert(Conversion::Bitcast, Scalar::I32, x)).collect();
            return words.chunks_exact(2).map(|pair| self.b.pack([pair[0], pair[1]], to)).collect();
        }
        if (a, b) == (64, 32) {
            let mut out = Flat::new();
            for &x in values {
                for word in self.b.unpack(x) {
                    out.push(self.b.convert(Conversion::Bitcast, to, word));
                }
            }
            return out;
        }
        let int = |width: u32| match width {
            8 => Scalar::I8,
            16 => Scalar::I16,
            32 => Scalar::I32,
            _ => Scalar::I64,
        };
        let mut out = Flat::new();
        if a > b {
            for &x in values {
                let bits = self.b.convert(Conversion::Bitcast, int(a), x);
                for k in 0..a / b {
                    let amount = self.b.int(k * b);
                    let part = self.b.alu(Alu::ShiftRightLogical, int(a), &[bits, amount]);
                    let part = self.b.convert(Conversion::UConvert, int(b), part);
                    out.push(self.b.convert(Conversion::Bitcast, to, part));
                }
            }
            return out;
        }
        for group in values.chunks_exact((b / a) as usize) {
            let mut whole = self.b.constant(int(b), 0);
            for (k, &x) in group.iter().enumerate() {
                let bits = self.b.convert(Conversion::Bitcast, int(a), x);
                let bits = self.b.convert(Conversion::UConvert, int(b), bits);
                let amount = self.b.int(k as u32 * a);
                let shifted = self.b.alu(Alu::ShiftLeft, int(b), &[bits, amount]);
                whole = self.b.alu(Alu::Or, int(b), &[whole, shifted]);
            }
            out.push(self.b.convert(Conversion::Bitcast, to, whole));
        }
        out
    }
}
