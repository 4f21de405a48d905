//! Rounding, selection and taking apart: operations whose results are exact or correctly rounded.

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
