//! Double precision: the operations that Vulkan has for 64-bit floats (GLSL.std.450 has no transcendental
//! ones). Each does what its namesake in [`crate::math::single`] does.

use crate::math::canonical_64 as canonical;

/// Magnitudes from here on are integers.
const INTEGERS: f64 = 4_503_599_627_370_496.0;

/// Square root, correctly rounded.
#[inline(always)]
pub fn sqrt(x: f64) -> f64 {
    canonical(x.sqrt())
}

/// 1 / sqrt(x), within 1.5 ULP.
#[inline(always)]
pub fn inverse_sqrt(x: f64) -> f64 {
    canonical(1.0 / x.sqrt())
}

/// Round to nearest, ties to even.
#[inline(always)]
pub fn round_even(x: f64) -> f64 {
    let a = x.abs();
    let r = (a + INTEGERS) - INTEGERS;
    canonical((if a < INTEGERS { r } else { a }).copysign(x))
}

/// GLSL.std.450 Round: ties go to even, one of the two directions that are allowed.
#[inline(always)]
pub fn round(x: f64) -> f64 {
    round_even(x)
}

/// Round toward zero.
#[inline(always)]
pub fn trunc(x: f64) -> f64 {
    let a = x.abs();
    let r = (a + INTEGERS) - INTEGERS;
    let r = r - if r > a { 1.0 } else { 0.0 };
    canonical((if a < INTEGERS { r } else { a }).copysign(x))
}

/// Round toward minus infinity.
#[inline(always)]
pub fn floor(x: f64) -> f64 {
    let r = round_even(x);
    canonical((r - if r > x { 1.0 } else { 0.0 }).copysign(x))
}

/// Round toward plus infinity.
#[inline(always)]
pub fn ceil(x: f64) -> f64 {
    let r = round_even(x);
    canonical((r + if r < x { 1.0 } else { 0.0 }).copysign(x))
}

/// x - floor(x).
#[inline(always)]
pub fn fract(x: f64) -> f64 {
    canonical(x - floor(x))
}

/// 1, 0 or -1; 0 for NaN and both zeros.
#[inline(always)]
pub fn sign(x: f64) -> f64 {
    (if x > 0.0 { 1.0 } else { 0.0 }) - (if x < 0.0 { 1.0 } else { 0.0 })
}

/// 0 if x < edge, else 1.
#[inline(always)]
pub fn step(edge: f64, x: f64) -> f64 {
    if x < edge { 0.0 } else { 1.0 }
}

/// Hermite interpolation between two edges.
#[inline(always)]
pub fn smooth_step(edge0: f64, edge1: f64, x: f64) -> f64 {
    let t = f_clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0);
    canonical(t * t * (3.0 - 2.0 * t))
}

/// x (1 - a) + y a.
#[inline(always)]
pub fn mix(x: f64, y: f64, a: f64) -> f64 {
    canonical(x * (1.0 - a) + y * a)
}

/// OpFMod: x - y floor(x / y).
#[inline(always)]
pub fn fmod(x: f64, y: f64) -> f64 {
    let r = x - y * floor(x / y);
    canonical(if r == 0.0 { r.copysign(y) } else { r })
}

/// OpFRem: x - y trunc(x / y).
#[inline(always)]
pub fn frem(x: f64, y: f64) -> f64 {
    let r = x - y * trunc(x / y);
    canonical(if r == 0.0 { r.copysign(x) } else { r })
}

/// a b + c with two roundings.
#[inline(always)]
pub fn fma(a: f64, b: f64, c: f64) -> f64 {
    canonical(a * b + c)
}

/// FMin: as [`n_min`].
#[inline(always)]
pub fn f_min(x: f64, y: f64) -> f64 {
    n_min(x, y)
}

/// FMax: as [`n_max`].
#[inline(always)]
pub fn f_max(x: f64, y: f64) -> f64 {
    n_max(x, y)
}

/// NMin: the lesser, -0 being less than +0; if one is NaN the other.
#[inline(always)]
pub fn n_min(x: f64, y: f64) -> f64 {
    let lesser = if y < x { y } else { x };
    let lesser = if x == y { f64::from_bits(x.to_bits() | y.to_bits()) } else { lesser };
    canonical(if x.is_nan() { y } else { lesser })
}

/// NMax: the greater, +0 being greater than -0; if one is NaN the other.
#[inline(always)]
pub fn n_max(x: f64, y: f64) -> f64 {
    let greater = if y > x { y } else { x };
    let greater = if x == y { f64::from_bits(x.to_bits() & y.to_bits()) } else { greater };
    canonical(if x.is_nan() { y } else { greater })
}

/// FClamp: as [`n_clamp`].
#[inline(always)]
pub fn f_clamp(x: f64, low: f64, high: f64) -> f64 {
    n_clamp(x, low, high)
}

/// NClamp: min(max(x, low), high) with NaN ignored; `low` if x is NaN.
#[inline(always)]
pub fn n_clamp(x: f64, low: f64, high: f64) -> f64 {
    n_min(n_max(x, low), high)
}

/// 2^n, -1022 <= n <= 1023.
#[inline(always)]
fn power_of_two(n: i64) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// Significand in [1/2, 1) with x's sign, exponent, and whether x is neither (zero, infinity, NaN).
#[inline(always)]
fn take_apart(x: f64) -> (f64, i64, bool) {
    const TWO_54: f64 = 18_014_398_509_481_984.0;
    let denormal = x.abs() < f64::MIN_POSITIVE;
    let bits = (if denormal { x * TWO_54 } else { x }).to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64 - if denormal { 1022 + 54 } else { 1022 };
    let significand = f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52));
    (significand, exponent, (x == 0.0) | !x.is_finite())
}

/// x 2^exponent, correctly rounded over the full range of both.
#[inline(always)]
pub fn ldexp(x: f64, exponent: i32) -> f64 {
    let (significand, own, special) = take_apart(x);
    let sum = own + exponent as i64;
    let sum = if sum > 1100 { 1100 } else { sum };
    let sum = if sum < -1200 { -1200 } else { sum };
    // The first step stays within the normal numbers, so only the second one rounds.
    let first = if sum > 1000 { 1000 } else { sum };
    let first = if first < -1000 { -1000 } else { first };
    let scaled = significand * power_of_two(first) * power_of_two(sum - first);
    canonical(if special { x } else { scaled })
}

/// x = significand 2^exponent with |significand| in [1/2, 1); zeros, infinities and NaN have exponent 0.
#[inline(always)]
pub fn frexp(x: f64) -> (f64, i32) {
    let (significand, exponent, special) = take_apart(x);
    (canonical(if special { x } else { significand }), if special { 0 } else { exponent as i32 })
}

/// Fraction and whole part, both with the sign of x.
#[inline(always)]
pub fn modf(x: f64) -> (f64, f64) {
    let whole = trunc(x);
    let fraction = if x.abs() == f64::INFINITY { 0.0 } else { x - whole };
    (canonical(fraction.copysign(x)), whole)
}

/// A zero of the same sign in place of a denormal.
#[inline(always)]
pub fn flush_denormal(x: f64) -> f64 {
    let bits = x.to_bits();
    f64::from_bits(if bits & (0x7ff << 52) == 0 { bits & (1 << 63) } else { bits })
}
