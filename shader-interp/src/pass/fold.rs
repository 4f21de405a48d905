//! Arithmetic on constants: exactly what execution would compute, or nothing.
//!
//! Integers and booleans fold always. Floats fold only where every conforming execution gives the same bits:
//! no denormals, no NaN, and, when the caller says that a rounding mode other than to-nearest may apply, not
//! at all.

use crate::ir::{Alu, Conversion, Scalar};
use crate::math::half;
use smallvec::{SmallVec, smallvec};

/// Result bits, zero-extended; two for operations with two results.
pub(crate) type Bits = SmallVec<[u64; 2]>;

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

/// Folds an operation on constants of type `scalar` (the type of the first argument, for Select that of the
/// second).
pub(crate) fn alu(op: Alu, scalar: Scalar, a: &[u64], floats: bool) -> Option<Bits> {
    match scalar {
        Scalar::F32 | Scalar::F64 if op != Alu::Select => floats.then(|| float(op, scalar, a)).flatten(),
        Scalar::F16 if op != Alu::Select => None,
        _ => integer(op, width(scalar), a),
    }
}

fn integer(op: Alu, w: u32, a: &[u64]) -> Option<Bits> {
    let m = mask(w);
    let arg = |k: usize| a.get(k).copied().unwrap_or(0);
    let (x, y) = (arg(0), arg(1));
    let (sx, sy) = (signed(x, w), signed(y, w));
    let amount = (y as u32) & (w.max(1) - 1);
    let one = |v: u64| -> Option<Bits> { Some(smallvec![v & m]) };
    let bool = |v: bool| -> Option<Bits> { Some(smallvec![u64::from(v)]) };
    match op {
        Alu::IAdd => one(x.wrapping_add(y)),
        Alu::ISub => one(x.wrapping_sub(y)),
        Alu::IMul => one(x.wrapping_mul(y)),
        Alu::SNegate => one(x.wrapping_neg()),
        Alu::UDiv => one(x.checked_div(y).unwrap_or(0)),
        Alu::SDiv => one(if sy == 0 { 0 } else { sx.wrapping_div(sy) as u64 }),
        Alu::UMod => one(x.checked_rem(y).unwrap_or(0)),
        Alu::SRem => one(if sy == 0 { 0 } else { sx.wrapping_rem(sy) as u64 }),
        Alu::SMod => one(if sy == 0 {
            0
        } else {
            let r = sx.wrapping_rem(sy);
            (if r != 0 && (r < 0) != (sy < 0) { r.wrapping_add(sy) } else { r }) as u64
        }),
        Alu::IAddCarry => {
            let sum = x as u128 + y as u128;
            Some(smallvec![sum as u64 & m, (sum >> w) as u64 & 1])
        }
        Alu::ISubBorrow => Some(smallvec![x.wrapping_sub(y) & m, u64::from(x < y)]),
        Alu::UMulExtended => {
            let product = x as u128 * y as u128;
            Some(smallvec![product as u64 & m, (product >> w) as u64 & m])
        }
        Alu::SMulExtended => {
            let product = sx as i128 * sy as i128;
            Some(smallvec![product as u64 & m, (product >> w) as u64 & m])
        }
        Alu::And => one(x & y),
        Alu::Or => one(x | y),
        Alu::Xor => one(x ^ y),
        Alu::Not => one(!x),
        Alu::ShiftLeft => one(x << amount),
        Alu::ShiftRightLogical => one(x >> amount),
        Alu::ShiftRightArithmetic => one((sx >> amount) as u64),
        Alu::BitReverse => one(x.reverse_bits() >> (64 - w)),
        Alu::BitCount => Some(smallvec![u64::from(x.count_ones())]),
        Alu::SAbs => one(sx.wrapping_abs() as u64),
        Alu::SSign => one(sx.signum() as u64),
        Alu::SMin => one(sx.min(sy) as u64),
        Alu::UMin => one(x.min(y)),
        Alu::SMax => one(sx.max(sy) as u64),
        Alu::UMax => one(x.max(y)),
        Alu::SClamp => one(sx.max(sy).min(signed(arg(2), w)) as u64),
        Alu::UClamp => one(x.max(y).min(arg(2))),
        Alu::IEqual | Alu::LogicalEqual => bool(x == y),
        Alu::INotEqual | Alu::LogicalNotEqual => bool(x != y),
        Alu::ULess => bool(x < y),
        Alu::ULessEqual => bool(x <= y),
        Alu::SLess => bool(sx < sy),
        Alu::SLessEqual => bool(sx <= sy),
        Alu::LogicalAnd => one(x & y),
        Alu::LogicalOr => one(x | y),
        Alu::LogicalNot => one(x ^ 1),
        Alu::Select => Some(smallvec![if x != 0 { y } else { arg(2) }]),
        _ => None,
    }
}

/// Zero, normal and infinite values have one representation everywhere.
fn plain(x: f64, scalar: Scalar) -> bool {
    let smallest = if scalar == Scalar::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    x == 0.0 || (x.is_finite() && x.abs() >= smallest)
}

/// A half that is zero or normal.
fn normal_half(bits: u32) -> bool {
    let exponent = bits & 0x7c00;
    (exponent != 0 && exponent != 0x7c00) || bits & 0x7fff == 0
}

fn float(op: Alu, scalar: Scalar, a: &[u64]) -> Option<Bits> {
    let value = |k: usize| -> f64 {
        let bits = a.get(k).copied().unwrap_or(0);
        if scalar == Scalar::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
    };
    let (x, y) = (value(0), value(1));
    if !plain(x, scalar) || !plain(y, scalar) {
        return None;
    }
    let bool = |v: bool| -> Option<Bits> { Some(smallvec![u64::from(v)]) };
    let one = |v: f64| -> Option<Bits> {
        // Sums, products and quotients of f32 values, computed in f64 and rounded once more, are the f32
        // results (53 >= 2 * 24 + 2).
        let rounded = if scalar == Scalar::F32 { f64::from(v as f32) } else { v };
        let bits = if scalar == Scalar::F32 { u64::from((v as f32).to_bits()) } else { v.to_bits() };
        (plain(rounded, scalar) && (v == 0.0) == (rounded == 0.0)).then(|| smallvec![bits])
    };
    match op {
        Alu::FAdd => one(x + y),
        Alu::FSub => one(x - y),
        Alu::FMul => one(x * y),
        Alu::FDiv if y != 0.0 => one(x / y),
        Alu::FNegate => one(-x),
        Alu::FAbs => one(x.abs()),
        Alu::QuantizeToF16 => {
            let half = half::from_f32(x as f32);
            normal_half(half).then(|| smallvec![u64::from(half::to_f32(half).to_bits())])
        }
        Alu::FOrdEqual | Alu::FUnordEqual => bool(x == y),
        Alu::FOrdNotEqual | Alu::FUnordNotEqual => bool(x != y),
        Alu::FOrdLess | Alu::FUnordLess => bool(x < y),
        Alu::FOrdLessEqual | Alu::FUnordLessEqual => bool(x <= y),
        _ => None,
    }
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
