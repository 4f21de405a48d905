//! Exponentials, logarithms and powers. Required: exp and exp2 3 + 2|x| ULP, log and log2 3 ULP (absolute
//! 2^-21 in [0.5, 2]), pow as exp2(y * log2(x)). Reached: 0.51 ULP.

use crate::math::{canonical, polynomial, power_of_two, round_to_word};
use std::f64::consts::{LN_2, LOG2_E};

/// 2^t for finite t, in double precision with a relative error of 2^-34; t is limited to where single
/// precision still tells results apart.
#[inline(always)]
fn exp2_wide(t: f64) -> f64 {
    let t = if t > 200.0 { 200.0 } else { t };
    let t = if t < -200.0 { -200.0 } else { t };
    let (whole, word) = round_to_word(t);
    natural_power((t - whole) * LN_2) * power_of_two(word)
}

/// e^r for |r| <= ln(2) / 2. Near r = 0 the error of `e^r - 1` is relative to r too.
#[inline(always)]
fn natural_power(r: f64) -> f64 {
    const TAIL: [f64; 6] = [
        0.5000000067722097,
        0.16666665868474534,
        0.04166629480002733,
        0.008333497137413434,
        0.0013944670709582065,
        0.00019790332545931518,
    ];
    1.0 + (r + (r * r) * polynomial(r, TAIL))
}

/// e^x in double precision for |x| < 1000.
#[inline(always)]
pub(super) fn exp_wide(x: f64) -> f64 {
    let (whole, word) = round_to_word(x * LOG2_E);
    natural_power(x - whole * LN_2) * power_of_two(word)
}

/// The exponent k and ln(m) of x = 2^k * m, sqrt(1/2) <= m < sqrt(2), for positive, normal, finite x. ln(m)
/// is accurate relative to itself.
#[inline(always)]
fn exponent_and_log(x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const FRACTION: u64 = (1 << 52) - 1;
    // 2^52 and a small integer in its low bits.
    const INTEGER: u64 = 0x4330_0000_0000_0000;
    const INTEGER_AND_BIAS: f64 = 4_503_599_627_370_496.0 + 1023.0;
    let above = x.to_bits().wrapping_sub(SQRT_HALF).wrapping_add(1023 << 52);
    let exponent = f64::from_bits((above >> 52) | INTEGER) - INTEGER_AND_BIAS;
    let m = f64::from_bits((above & FRACTION).wrapping_add(SQRT_HALF));

    // ln(m) = 2 atanh(s), s = (m - 1) / (m + 1).
    const TAIL: [f64; 5] = [
        0.6666666667581854,
        0.39999995615376255,
        0.28572109890797975,
        0.22176156195979793,
        0.19584645361778583,
    ];
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    (exponent, s * (2.0 + z * polynomial(z, TAIL)))
}

/// ln(x) of a positive normal double.
#[inline(always)]
pub(super) fn log_wide(x: f64) -> f64 {
    let (exponent, log) = exponent_and_log(x);
    exponent * LN_2 + log
}

/// What logarithms give at the edges of their domain: -infinity at zero, NaN below, infinity at infinity.
#[inline(always)]
fn log_edges(x: f64, inside: f64) -> f64 {
    let r = if x == 0.0 { f64::NEG_INFINITY } else { inside };
    let r = if x == f64::INFINITY { f64::INFINITY } else { r };
    if x >= 0.0 { r } else { f64::NAN }
}

/// log2 of any float, in double precision.
#[inline(always)]
fn log2_wide(x: f64) -> f64 {
    let (exponent, log) = exponent_and_log(x);
    log_edges(x, exponent + log * LOG2_E)
}

/// e^x.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    canonical(exp2_wide(x as f64 * LOG2_E) as f32)
}

/// 2^x; exact at integers.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    canonical(exp2_wide(x as f64) as f32)
}

/// Natural logarithm; NaN for x < 0, -infinity at zeros.
#[inline(always)]
pub fn log(x: f32) -> f32 {
    let x = x as f64;
    canonical(log_edges(x, log_wide(x)) as f32)
}

/// Logarithm to base 2; exact at powers of two; NaN for x < 0, -infinity at zeros.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    canonical(log2_wide(x as f64) as f32)
}

/// x^y; NaN for x < 0. Where GLSL leaves it undefined: 1 for y = 0, infinity for x = 0 and y < 0.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    let power = exp2_wide(y as f64 * log2_wide(x as f64)) as f32;
    canonical(if (y == 0.0) & (x >= 0.0) { 1.0 } else { power })
}

/// 1 / sqrt(x), within 1.5 ULP (2 are allowed).
#[inline(always)]
pub fn inverse_sqrt(x: f32) -> f32 {
    canonical(1.0 / x.sqrt())
}

/// Square root, correctly rounded.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    canonical(x.sqrt())
}
