//! Rounding, selection and taking apart: operations whose results are exact or correctly rounded.

use crate::math::{canonical, double};

/// Magnitudes from here on are integers.
const INTEGERS: f32 = 8_388_608.0;

/// Round to nearest, ties to even, for any float; keeps the sign of zero.
#[inline(always)]
pub fn round_even(x: f32) -> f32 {
    let a = x.abs();
    let r = (a + INTEGERS) - INTEGERS;
    canonical((if a < INTEGERS { r } else { a }).copysign(x))
}

/// GLSL.std.450 Round: ties go to even, one of the two directions that are allowed.
#[inline(always)]
pub fn round(x: f32) -> f32 {
    round_even(x)
}

/// Round toward zero.
#[inline(always)]
pub fn trunc(x: f32) -> f32 {
    let a = x.abs();
    let r = (a + INTEGERS) - INTEGERS;
    let r = r - if r > a { 1.0 } else { 0.0 };
    canonical((if a < INTEGERS { r } else { a }).copysign(x))
}

/// Round toward minus infinity.
#[inline(always)]
pub fn floor(x: f32) -> f32 {
    let r = round_even(x);
    canonical((r - if r > x { 1.0 } else { 0.0 }).copysign(x))
}

/// Round toward plus infinity.
#[inline(always)]
pub fn ceil(x: f32) -> f32 {
    let r = round_even(x);
    canonical((r + if r < x { 1.0 } else { 0.0 }).copysign(x))
}

/// x - floor(x): in [0, 1], and 1 only where that is the correctly rounded result.
#[inline(always)]
pub fn fract(x: f32) -> f32 {
    canonical(x - floor(x))
}

/// 1, 0 or -1; 0 for NaN and both zeros.
#[inline(always)]
pub fn sign(x: f32) -> f32 {
    (if x > 0.0 { 1.0 } else { 0.0 }) - (if x < 0.0 { 1.0 } else { 0.0 })
}

/// 0 if x < edge, else 1.
#[inline(always)]
pub fn step(edge: f32, x: f32) -> f32 {
    if x < edge { 0.0 } else { 1.0 }
}

/// Hermite interpolation between two edges.
#[inline(always)]
pub fn smooth_step(edge0: f32, edge1: f32, x: f32) -> f32 {
    let t = f_clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0);
    canonical(t * t * (3.0 - 2.0 * t))
}

/// x (1 - a) + y a.
#[inline(always)]
pub fn mix(x: f32, y: f32, a: f32) -> f32 {
    canonical(x * (1.0 - a) + y * a)
}

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

/// a b + c with two roundings.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    canonical(a * b + c)
}

/// FMin: the lesser. A NaN is ignored, as by [`n_min`]: one of the results that are allowed.
#[inline(always)]
pub fn f_min(x: f32, y: f32) -> f32 {
    n_min(x, y)
}

/// FMax: the greater. A NaN is ignored, as by [`n_max`]: one of the results that are allowed.
#[inline(always)]
pub fn f_max(x: f32, y: f32) -> f32 {
    n_max(x, y)
}

/// NMin: the lesser, -0 being less than +0; if one is NaN the other.
#[inline(always)]
pub fn n_min(x: f32, y: f32) -> f32 {
    let lesser = if y < x { y } else { x };
    let lesser = if x == y { f32::from_bits(x.to_bits() | y.to_bits()) } else { lesser };
    canonical(if x.is_nan() { y } else { lesser })
}

/// NMax: the greater, +0 being greater than -0; if one is NaN the other.
#[inline(always)]
pub fn n_max(x: f32, y: f32) -> f32 {
    let greater = if y > x { y } else { x };
    let greater = if x == y { f32::from_bits(x.to_bits() & y.to_bits()) } else { greater };
    canonical(if x.is_nan() { y } else { greater })
}

/// FClamp: min(max(x, low), high).
#[inline(always)]
pub fn f_clamp(x: f32, low: f32, high: f32) -> f32 {
    n_clamp(x, low, high)
}

/// NClamp: min(max(x, low), high) with NaN ignored; `low` if x is NaN.
#[inline(always)]
pub fn n_clamp(x: f32, low: f32, high: f32) -> f32 {
    n_min(n_max(x, low), high)
}

/// x 2^exponent, correctly rounded over the full range of both.
#[inline(always)]
pub fn ldexp(x: f32, exponent: i32) -> f32 {
    // From the smallest denormal to infinity it is 278 steps; in double precision nothing is rounded.
    let exponent = if exponent > 300 { 300 } else { exponent };
    let exponent = if exponent < -300 { -300 } else { exponent };
    let power = f64::from_bits(((exponent + 1023) as u32 as u64) << 52);
    canonical((x as f64 * power) as f32)
}

/// x = significand 2^exponent with |significand| in [1/2, 1); zeros, infinities and NaN have exponent 0.
#[inline(always)]
pub fn frexp(x: f32) -> (f32, i32) {
    let wide = x as f64;
    let bits = wide.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    let significand = f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52)) as f32;
    let special = (x == 0.0) | !x.is_finite();
    (canonical(if special { x } else { significand }), if special { 0 } else { exponent })
}

/// Fraction and whole part, both with the sign of x.
#[inline(always)]
pub fn modf(x: f32) -> (f32, f32) {
    let whole = trunc(x);
    let fraction = if x.abs() == f32::INFINITY { 0.0 } else { x - whole };
    (canonical(fraction.copysign(x)), whole)
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
