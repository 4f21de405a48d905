//! Arithmetic on constants: exactly what execution would compute, or nothing.
//!
//! Integers and booleans fold always. Floats fold only where every conforming execution gives the same bits:
//! no denormals, no NaN, and, when the caller says that a rounding mode other than to-nearest may apply, not
//! at all.

use crate::CompileError;
use crate::code::Opcode;
use crate::code::select::{Select, select};
use crate::ir::{Alu, Conversion, Gives, Mark, Scalar};
use crate::math::half;
use smallvec::{SmallVec, smallvec};

/// The bits of each result, zero-extended.
pub(crate) type Bits = SmallVec<[u64; 4]>;

/// Bits in a value of the type.
pub(crate) fn width(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Bool => 1,
        other => other.bytes() * 8,
    }
}

/// The low `width` bits.
pub(crate) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Sign-extends the low `width` bits.
pub(crate) fn signed(bits: u64, width: u32) -> i64 {
    if width >= 64 { bits as i64 } else { ((bits << (64 - width)) as i64) >> (64 - width) }
}

/// Constants are computed by the instructions that would be selected to run.
struct Constants;

impl Select for Constants {
    type Value = u64;

    fn compute(&mut self, opcode: Opcode, _run: u16, operands: &[u64]) -> Result<u64, CompileError> {
        opcode.evaluate(operands).ok_or_else(|| CompileError::NotImplemented(format!("constant {opcode:?}")))
    }

    fn by_words(&mut self, opcode: Opcode, operands: &[u64]) -> Result<u64, CompileError> {
        let mut word = |shift: u32| {
            let words: SmallVec<[u64; 4]> = operands.iter().map(|bits| bits >> shift & mask(32)).collect();
            self.compute(opcode, 1, &words)
        };
        Ok(word(0)? | word(32)? << 32)
    }

    fn constant(&mut self, word: u32) -> u64 {
        u64::from(word)
    }
}

/// Folds an operation on constants of type `scalar` (the type of the first argument).
pub(crate) fn alu(op: Alu, scalar: Scalar, a: &[u64], floats: bool) -> Option<Bits> {
    if a.len() < op.row().operands {
        return None;
    }
    if op == Alu::Select {
        return Some(smallvec![if a[0] != 0 { a[1] } else { a[2] }]);
    }
    match scalar {
        Scalar::Bool => logical(op, a),
        Scalar::F16 => None,
        // Which NaN may be any; of all else the specification leaves one value, but for the rounding.
        Scalar::F32 if op == Alu::QuantizeToF16 => compute(op, scalar, a),
        Scalar::F32 | Scalar::F64 => {
            let float = |bits: u64| {
                if scalar == Scalar::F32 {
                    f64::from(f32::from_bits(bits as u32))
                } else {
                    f64::from_bits(bits)
                }
            };
            let certain = floats && op.has(Mark::Exact) && a.iter().all(|&bits| plain(float(bits), scalar));
            let results = certain.then(|| compute(op, scalar, a)).flatten()?;
            let exact =
                op.row().results == [Gives::Bool] || results.iter().all(|&bits| plain(float(bits), scalar));
            exact.then_some(results)
        }
        _ => compute(op, scalar, a),
    }
}

fn compute(op: Alu, scalar: Scalar, a: &[u64]) -> Option<Bits> {
    let results = select(&mut Constants, op, scalar, a, |_| true).ok()?;
    results.into_iter().collect()
}

fn logical(op: Alu, a: &[u64]) -> Option<Bits> {
    let result = match (op, a) {
        (Alu::LogicalAnd, &[x, y]) => x & y,
        (Alu::LogicalOr, &[x, y]) => x | y,
        (Alu::LogicalNot, &[x]) => x ^ 1,
        (Alu::LogicalEqual, &[x, y]) => x ^ y ^ 1,
        (Alu::LogicalNotEqual, &[x, y]) => x ^ y,
        _ => return None,
    };
    Some(smallvec![result])
}

/// Zero, normal and infinite values have one representation everywhere.
fn plain(x: f64, scalar: Scalar) -> bool {
    let smallest = if scalar == Scalar::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    x == 0.0 || (x.is_finite() && x.abs() >= smallest)
}

/// The reciprocal of a power of two, if both are normal: multiplying by it rounds the same number as dividing
/// by the power of two, and so gives the same bits in every rounding mode, denormals included.
pub(crate) fn reciprocal(scalar: Scalar, bits: u64) -> Option<u64> {
    // Bits of the significand, and the greatest exponent of a finite value.
    let (significand, most) = match scalar {
        Scalar::F16 => (10, 0x1e),
        Scalar::F32 => (23, 0xfe),
        Scalar::F64 => (52, 0x7fe),
        _ => return None,
    };
    let exponent = bits >> significand & (most | 1);
    let sign = bits >> (width(scalar) - 1) << (width(scalar) - 1);
    let normal = bits & mask(significand) == 0 && (1..most).contains(&exponent);
    normal.then(|| sign | (most - exponent) << significand)
}

/// A half that is zero or normal.
fn normal_half(bits: u32) -> bool {
    let exponent = bits & 0x7c00;
    (exponent != 0 && exponent != 0x7c00) || bits & 0x7fff == 0
}

/// Folds a conversion of a constant.
pub(crate) fn convert(op: Conversion, from: Scalar, to: Scalar, bits: u64) -> Option<u64> {
    let (w, m) = (width(from), mask(width(to)));
    match op {
        Conversion::UConvert | Conversion::BoolToInt => Some(bits & m),
        Conversion::SConvert => Some(signed(bits, w) as u64 & m),
        Conversion::Bitcast => Some(bits),
        Conversion::UToF | Conversion::SToF => {
            let exact = bits < 1 << 24;
            match to {
                Scalar::F32 if exact && w >= 25 => Some(u64::from((bits as f32).to_bits())),
                Scalar::F64 if exact && w >= 25 => Some((bits as f64).to_bits()),
                _ => None,
            }
        }
        Conversion::FConvert | Conversion::FConvertRtz if from == Scalar::F32 && to == Scalar::F64 => {
            let x = f64::from(f32::from_bits(bits as u32));
            plain(x, Scalar::F32).then(|| x.to_bits())
        }
        Conversion::FConvert if from == Scalar::F64 && to == Scalar::F32 => {
            let x = f64::from_bits(bits) as f32;
            plain(f64::from(x), Scalar::F32).then(|| u64::from(x.to_bits()))
        }
        Conversion::FConvert | Conversion::FConvertRtz if to == Scalar::F16 && from != Scalar::F16 => {
            let half = match (from, op) {
                (Scalar::F64, Conversion::FConvertRtz) => half::from_f64_rtz(f64::from_bits(bits)),
                (Scalar::F64, _) => half::from_f64(f64::from_bits(bits)),
                (_, Conversion::FConvertRtz) => half::from_f32_rtz(f32::from_bits(bits as u32)),
                _ => half::from_f32(f32::from_bits(bits as u32)),
            };
            normal_half(half).then(|| u64::from(half))
        }
        Conversion::FConvertRtz if from == Scalar::F64 && to == Scalar::F32 => {
            let x = crate::math::convert::f64_to_f32_rtz(f64::from_bits(bits));
            plain(f64::from(x), Scalar::F32).then(|| u64::from(x.to_bits()))
        }
        Conversion::FConvert | Conversion::FConvertRtz if from == Scalar::F16 => {
            let x = half::to_f32(bits as u32);
            let wide = if to == Scalar::F64 { f64::from(x).to_bits() } else { u64::from(x.to_bits()) };
            normal_half(bits as u32).then_some(wide)
        }
        Conversion::FToS | Conversion::FToU if matches!(from, Scalar::F32 | Scalar::F64) => {
            let x = if from == Scalar::F32 {
                f64::from(f32::from_bits(bits as u32))
            } else {
                f64::from_bits(bits)
            };
            // In range for every integer type that is at least 32 bits wide.
            let fits = (0.0..2_147_483_648.0).contains(&x) && width(to) >= 32;
            fits.then_some(x as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
