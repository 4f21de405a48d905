//! Double precision: the operations that Vulkan has for 64-bit floats (GLSL.std.450 has no transcendental
//! ones). Each does what its namesake in [`crate::math::single`] does.

use crate::math::canonical_64 as canonical;

crate::math::operations::operations!(f64, canonical, 4_503_599_627_370_496.0);

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

/// A zero of the same sign in place of a denormal.
#[inline(always)]
pub fn flush_denormal(x: f64) -> f64 {
    let bits = x.to_bits();
    f64::from_bits(if bits & (0x7ff << 52) == 0 { bits & (1 << 63) } else { bits })
}
