//! Floats of other encodings than those of IEEE 754 (SPV_KHR_bfloat16, SPV_EXT_float8). A value is an integer
//! that holds its bits: nothing but conversions, dot products and products of matrices computes with it.

use super::lowerer::{Flat, Lowerer};
use super::module::ExtendedSet;
use super::types::{Encoding, Type, Types};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Conversion, Scalar, Value};
use spirv::{Decoration, Op};

/// SaturatedToLargestFloat8NormalConversionEXT.
const SATURATED: u32 = 4216;

impl Encoding {
    /// That of an FP Encoding operand, with its width and the scalar that holds it.
    pub fn of_operand(width: u32, encoding: u32) -> Option<(Encoding, Scalar)> {
        match (width, encoding) {
            (16, 0) => Some((Encoding::Bfloat16, Scalar::I16)),
            (8, 4214) => Some((Encoding::E4m3, Scalar::I8)),
            (8, 4215) => Some((Encoding::E5m2, Scalar::I8)),
            _ => None,
        }
    }
}

impl Types {
    /// The encoding of a scalar, or of a vector's or cooperative matrix's components.
    pub fn encoding(&self, id: u32) -> Encoding {
        match self.get(id).map(|info| &info.kind) {
            Ok(Type::Scalar { encoding, .. }) => *encoding,
            Ok(Type::Vector { component, .. }) => self.encoding(*component),
            Ok(Type::CooperativeMatrix(matrix)) => self.encoding(matrix.component),
            _ => Encoding::Plain,
        }
    }
}

impl Lowerer<'_> {
    /// The encoding of an id's scalars.
    pub fn encoding_of(&self, id: u32) -> Encoding {
        self.types.encoding(self.module.result_type.get(id as usize).copied().unwrap_or(0))
    }

    /// A value as F32, exactly; one that is plain as it is.
    pub fn decoded(&mut self, encoding: Encoding, value: Value) -> Value {
        match encoding {
            Encoding::Plain => value,
            Encoding::Bfloat16 => {
                let word = self.b.convert(Conversion::UConvert, Scalar::I32, value);
                let by = self.b.int(16);
                let word = self.b.alu(Alu::ShiftLeft, Scalar::I32, &[word, by]);
                self.b.convert(Conversion::Bitcast, Scalar::F32, word)
            }
            Encoding::E4m3 => {
                let word = self.b.convert(Conversion::UConvert, Scalar::I32, value);
                self.b.alu(Alu::E4m3ToSingle, Scalar::F32, &[word])
            }
            Encoding::E5m2 => {
                let half = self.b.convert(Conversion::UConvert, Scalar::I16, value);
                let by = self.b.int(8);
                let half = self.b.alu(Alu::ShiftLeft, Scalar::I16, &[half, by]);
                let half = self.b.convert(Conversion::Bitcast, Scalar::F16, half);
                self.b.convert(Conversion::FConvert, Scalar::F32, half)
            }
        }
    }

    /// An F32 rounded to an encoding, to nearest; one that is plain as it is.
    pub fn encoded(&mut self, encoding: Encoding, saturated: bool, value: Value) -> Value {
        let (alu, scalar) = match (encoding, saturated) {
            (Encoding::Plain, _) => return value,
            (Encoding::Bfloat16, _) => (Alu::RoundToBfloat16, Scalar::I16),
            (Encoding::E4m3, false) => (Alu::RoundToE4m3, Scalar::I8),
            (Encoding::E4m3, true) => (Alu::SaturateToE4m3, Scalar::I8),
            (Encoding::E5m2, false) => (Alu::RoundToE5m2, Scalar::I8),
            (Encoding::E5m2, true) => (Alu::SaturateToE5m2, Scalar::I8),
        };
        let word = self.b.alu(alu, Scalar::I32, &[value]);
        self.b.convert(Conversion::UConvert, scalar, word)
    }

    /// Refuses what computes with values of encodings that are not plain as if they were integers: of
    /// arithmetic, the extensions have conversions, products of cooperative matrices and, of bfloat16, OpDot.
    pub fn check_encoded(&self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let of = |k: usize| i.id(k).map_or(Encoding::Plain, |id| self.encoding_of(id));
        let encoded = |k: usize| of(k) != Encoding::Plain;
        let wrong = match (i.op, i.op as u32) {
            (Op::Select, _) => false,
            (Op::Dot, _) => (encoded(3) || encoded(4)) && [of(3), of(4)] != [Encoding::Bfloat16; 2],
            (Op::ExtInst, _) => {
                matches!(self.module.sets.get(&i.id(3)?), Some(ExtendedSet::Glsl))
                    && (5..i.len()).any(encoded)
            }
            (Op::GroupNonUniformAllEqual | Op::AtomicStore, _) => encoded(4),
            // Arithmetic, bits, relations: all operands are ids.
            (_, 126..=205) => (3..i.len()).any(encoded),
            // Atomics, and reductions and scans of a subgroup.
            (_, 227..=242 | 349..=364 | 5614 | 5615 | 6035) => {
                self.types.encoding(i.id(1)?) != Encoding::Plain
            }
            _ => false,
        };
        if wrong { Err(i.invalid("of floats of this encoding")) } else { Ok(()) }
    }

    /// OpFConvert, OpConvertFToU and their likes from or to an encoding that is not plain.
    pub fn convert_encoded(
        &mut self,
        i: &Instruction<'_>,
        conversion: Conversion,
        from: Encoding,
        to: Encoding,
    ) -> Result<(), CompileError> {
        use Conversion::{FConvert, FConvertRtz, FToS, FToU, SToF, UToF};
        if matches!(self.module.decorations.of(i.id(2)?, Decoration::FPRoundingMode), Some(mode) if mode != 0)
        {
            return Err(i.refuse("with an FPRoundingMode, of this encoding"));
        }
        let saturated = self.module.decorations.has_number(i.id(2)?, SATURATED);
        let result = self.types.scalar(i.id(1)?)?;
        let mut out = Flat::new();
        for value in self.operand(i, 3)? {
            let value = self.decoded(from, value);
            let scalar = self.b.scalar(value);
            let fits = match conversion {
                FConvert | FConvertRtz => scalar.is_float() && (to != Encoding::Plain || result.is_float()),
                FToU | FToS => scalar.is_float() && !result.is_float() && to == Encoding::Plain,
                SToF | UToF => !scalar.is_float() && from == Encoding::Plain && to != Encoding::Plain,
                _ => false,
            };
            if !fits || scalar == Scalar::Bool {
                return Err(i.invalid("has operands of types that it does not take"));
            }
            out.push(match (conversion, to) {
                (FConvert | FConvertRtz, Encoding::Plain) => self.b.convert(conversion, result, value),
                (_, Encoding::Plain) => {
                    self.note_conversion(i, value, conversion == FToS, result);
                    self.b.convert(conversion, result, value)
                }
                _ => {
                    let single = match conversion {
                        SToF | UToF => self.b.convert(conversion, Scalar::F32, value),
                        // To bfloat16 by way of the nearest F32, as the extension has it.
                        _ if to == Encoding::Bfloat16 => self.b.convert(FConvert, Scalar::F32, value),
                        _ => self.single_to_odd(value),
                    };
                    self.encoded(to, saturated, single)
                }
            });
        }
        self.set(i, &out)
    }

    /// A float as F32, such that rounding it to fewer bits rounds once: what is cut off shows in the last
    /// bit.
    fn single_to_odd(&mut self, value: Value) -> Value {
        if self.b.scalar(value) != Scalar::F64 {
            return self.b.convert(Conversion::FConvert, Scalar::F32, value);
        }
        let cut = self.b.convert(Conversion::FConvertRtz, Scalar::F32, value);
        let back = self.b.convert(Conversion::FConvert, Scalar::F64, cut);
        let inexact = self.b.alu(Alu::FOrdNotEqual, Scalar::Bool, &[back, value]);
        let inexact = self.b.convert(Conversion::BoolToInt, Scalar::I32, inexact);
        let bits = self.b.convert(Conversion::Bitcast, Scalar::I32, cut);
        let bits = self.b.alu(Alu::Or, Scalar::I32, &[bits, inexact]);
        self.b.convert(Conversion::Bitcast, Scalar::F32, bits)
    }
}
