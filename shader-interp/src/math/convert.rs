//! Conversions between integers and floats. Float to integer truncates and saturates (NaN gives 0), where
//! SPIR-V leaves the result undefined. Everything else is correctly rounded: to nearest even, or toward zero
//! in the functions called `_rtz`.

use crate::math::{canonical, canonical_64, half};

macro_rules! float_to_integer {
    ($($name:ident: $from:ty => $to:ty),* $(,)?) => {
        $(
            /// Truncated and saturated; NaN gives 0.
            #[inline(always)]
            pub fn $name(x: $from) -> $to {
                x as $to
            }
        )*
    };
}

float_to_integer! {
    f32_to_u64: f32 => u64, f32_to_i64: f32 => i64,
    f64_to_u32: f64 => u32, f64_to_i32: f64 => i32, f64_to_u64: f64 => u64, f64_to_i64: f64 => i64,
}

/// Truncated, for |x| <= 2^31 but 2^31 itself, which saturates to the largest float below; NaN gives 0.
#[inline(always)]
fn truncate_to_i32(x: f32) -> i32 {
    const LEAST: f32 = -2_147_483_648.0;
    const GREATEST: f32 = 2_147_483_520.0;
    let x = if x > GREATEST { GREATEST } else { x };
    let x = if x < LEAST { LEAST } else { x };
    let x = if x.is_nan() { 0.0 } else { x };
    // SAFETY: x is a number and, truncated, an i32. (`x as i32` does not become vector code.)
    unsafe { x.to_int_unchecked() }
}

/// Truncated and saturated; NaN gives 0.
#[inline(always)]
pub fn f32_to_i32(x: f32) -> i32 {
    let inside = truncate_to_i32(x);
    if x >= 2_147_483_648.0 { i32::MAX } else { inside }
}

/// Truncated and saturated; NaN gives 0.
#[inline(always)]
pub fn f32_to_u32(x: f32) -> u32 {
    const HALF: f32 = 2_147_483_648.0;
    let upper = x >= HALF;
    let x = if x < 0.0 { 0.0 } else { x };
    let low = truncate_to_i32(if upper { x - HALF } else { x }) as u32;
    let inside = low.wrapping_add(if upper { 1 << 31 } else { 0 });
    if x >= 4_294_967_296.0 { u32::MAX } else { inside }
}

macro_rules! integer_to_float {
    ($($name:ident: $from:ty => $to:ty),* $(,)?) => {
        $(
            /// Rounded to nearest even.
            #[inline(always)]
            pub fn $name(x: $from) -> $to {
                x as $to
            }
        )*
    };
}

integer_to_float! {
    u32_to_f32: u32 => f32, i32_to_f32: i32 => f32, u64_to_f32: u64 => f32, i64_to_f32: i64 => f32,
    u32_to_f64: u32 => f64, i32_to_f64: i32 => f64, u64_to_f64: u64 => f64, i64_to_f64: i64 => f64,
}

/// Rounded to nearest even.
#[inline(always)]
pub fn f64_to_f32(x: f64) -> f32 {
    canonical(x as f32)
}

/// The value, exactly.
#[inline(always)]
pub fn f32_to_f64(x: f32) -> f64 {
    canonical_64(x as f64)
}

/// Bits of x rounded toward zero, and whether that lost anything.
#[inline(always)]
fn truncate(x: f64) -> (u32, bool) {
    let nearest = x as f32;
    let back = nearest as f64;
    let bits = nearest.to_bits();
    // One less in magnitude; from infinity to the largest finite number.
    (if back.abs() > x.abs() { bits.wrapping_sub(1) } else { bits }, (back < x) | (back > x))
}

/// Rounded toward zero: overflow gives the largest finite number.
#[inline(always)]
pub fn f64_to_f32_rtz(x: f64) -> f32 {
    canonical(f32::from_bits(truncate(x).0))
}

/// Rounded to odd: if inexact, the neighbour whose last bit is 1. Rounding that once more to a format with 22
/// bits or fewer gives what rounding x itself gives.
#[inline(always)]
pub(super) fn f64_to_f32_odd(x: f64) -> f32 {
    let (bits, inexact) = truncate(x);
    canonical(f32::from_bits(if inexact { bits | 1 } else { bits }))
}

/// To the bits of a 16-bit float, rounded to nearest even.
#[inline(always)]
pub fn u64_to_f16(x: u64) -> u32 {
    // Everything from 65520 on is infinite; below, single precision is exact.
    half::from_f32((if x > 1 << 20 { 1 << 20 } else { x as u32 }) as f32)
}

/// To the bits of a 16-bit float, rounded to nearest even.
#[inline(always)]
pub fn i64_to_f16(x: i64) -> u32 {
    u64_to_f16(x.unsigned_abs()) | if x < 0 { 0x8000 } else { 0 }
}

/// To the bits of a 16-bit float, rounded to nearest even.
#[inline(always)]
pub fn u32_to_f16(x: u32) -> u32 {
    half::from_f32((if x > 1 << 20 { 1 << 20 } else { x }) as f32)
}

/// To the bits of a 16-bit float, rounded to nearest even.
#[inline(always)]
pub fn i32_to_f16(x: i32) -> u32 {
    u32_to_f16(x.unsigned_abs()) | if x < 0 { 0x8000 } else { 0 }
}
