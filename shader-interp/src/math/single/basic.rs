//! Rounding, selection and taking apart: operations whose results are exact or correctly rounded.

use crate::math::wide::{Wide, Word, power_of_two};
use crate::math::{canonical, double};

crate::math::operations::operations!(f32, canonical, 8_388_608.0);

/// OpFMod: x - y floor(x / y), exact while |x / y| < 2^29; the sign is y's.
#[inline(always)]
pub fn fmod(x: f32, y: f32) -> f32 {
    let (a, b) = (x as f64, y as f64);
    let r = (a - b * double::floor(a / b)) as f32;
    canonical(if r == 0.0 { r.copysign(y) } else { r })
}

/// OpFRem: x - y trunc(x / y), exact while |x / y| < 2^29; the sign is x's.
#[inline(always)]
pub fn frem(x: f32, y: f32) -> f32 {
    let (a, b) = (x as f64, y as f64);
    let r = (a - b * double::trunc(a / b)) as f32;
    canonical(if r == 0.0 { r.copysign(x) } else { r })
}

/// x 2^exponent. From the smallest denormal to infinity it is 278 steps; in double precision nothing is
/// rounded.
#[inline(always)]
pub(crate) fn ldexp_wide<W: Wide>(x: W, exponent: W::Word) -> W {
    x * power_of_two(exponent.within(-300, 300))
}

/// x 2^exponent, correctly rounded over the full range of both.
#[inline(always)]
pub fn ldexp(x: f32, exponent: i32) -> f32 {
    canonical(ldexp_wide(f64::from(x), i64::from(exponent).cast_unsigned()) as f32)
}

/// Zeros, infinities and NaN, which have no significand.
#[inline(always)]
fn is_special<W: Wide>(x: W) -> W::Condition {
    let (magnitude, infinity) = (x.magnitude(), x.constant(f64::INFINITY));
    x.equals(x.constant(0.0)) | magnitude.equals(infinity) | x.unordered(x)
}

/// x = significand 2^exponent with |significand| in [1/2, 1); zeros, infinities and NaN are their own.
#[inline(always)]
pub(crate) fn significand_wide<W: Wide>(x: W) -> W {
    let significand = x.word().and(!(0x7ff << 52)).or(1022 << 52).wide();
    W::choose(is_special(x), x, significand)
}

/// The exponent for [`significand_wide`]; zeros, infinities and NaN have 0.
#[inline(always)]
pub(crate) fn exponent_wide<W: Wide>(x: W) -> W::Word {
    let exponent = x.word().right(52).and(0x7ff).plus(-1022i64 as u64);
    W::Word::choose(is_special(x), x.constant(0.0).word(), exponent)
}

/// x = significand 2^exponent with |significand| in [1/2, 1); zeros, infinities and NaN have exponent 0.
#[inline(always)]
pub fn frexp(x: f32) -> (f32, i32) {
    let wide = f64::from(x);
    (canonical(significand_wide(wide) as f32), exponent_wide(wide) as i32)
}

/// A zero of the same sign in place of a denormal.
#[inline(always)]
pub fn flush_denormal(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// OpQuantizeToF16: to a 16-bit float and back; infinity on overflow, denormals of 16 bits become zero.
#[inline(always)]
pub fn quantize_to_f16(x: f32) -> f32 {
    use crate::math::half;
    half::to_f32(half::flush_denormal(half::from_f32(x)))
}
