//! 16-bit floats (IEEE 754 binary16), held as their bits in the low half of a word.
//!
//! Conversions are correctly rounded from either wider format in one step, and keep denormals. Arithmetic is
//! done in single precision and rounded with [`from_f32`], which is correct rounding for one addition,
//! subtraction, multiplication, division or square root, because 24 bits are at least 2 * 11 + 2.

use crate::math::convert;

const SIGN: u32 = 0x8000;
const INFINITY: u32 = 0x7c00;
const LARGEST: u32 = 0x7bff;
const NAN: u32 = 0x7e00;

/// The value, exactly. NaN becomes the canonical NaN.
#[inline(always)]
pub fn to_f32(h: u32) -> f32 {
    let sign = (h & SIGN) << 16;
    let magnitude = (h & 0x7fff) << 13;
    // A normal number's exponent is rebiased by 127 - 15. A denormal is made the fraction of 2^-14, which is
    // subtracted again.
    const SMALLEST_NORMAL: u32 = 113 << 23;
    let normal = magnitude.wrapping_add(112 << 23);
    let denormal =
        (f32::from_bits(magnitude.wrapping_add(SMALLEST_NORMAL)) - f32::from_bits(SMALLEST_NORMAL)).to_bits();
    let finite = if magnitude < 0x0080_0000 { denormal } else { normal };
    let number = if magnitude >= INFINITY << 13 { 0x7f80_0000 } else { finite };
    f32::from_bits(if magnitude > INFINITY << 13 { 0x7fc0_0000 } else { number | sign })
}

/// Rounded to nearest, ties to even; infinity from 65520 on.
#[inline(always)]
pub fn from_f32(x: f32) -> u32 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let sign = (bits >> 16) & SIGN;
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude.wrapping_add(0xfff + odd).wrapping_sub(112 << 23) >> 13;
    // The unit in the last place of 1/2 is that of 16-bit denormals: the addition rounds.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let finite = if magnitude < 113 << 23 { denormal } else { normal };
    let number = if magnitude >= 0x477f_f000 { INFINITY } else { finite };
    if magnitude > 0x7f80_0000 { NAN } else { number | sign }
}

/// Rounded toward zero: overflow gives the largest finite number, infinity stays.
#[inline(always)]
pub fn from_f32_rtz(x: f32) -> u32 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let sign = (bits >> 16) & SIGN;
    let normal = magnitude.wrapping_sub(112 << 23) >> 13;
    let rounded = f32::from_bits(magnitude) + 0.5;
    let denormal = rounded.to_bits().wrapping_sub(0.5f32.to_bits());
    let up = (rounded - 0.5) > f32::from_bits(magnitude);
    let denormal = if up { denormal.wrapping_sub(1) } else { denormal };
    let finite = if magnitude < 113 << 23 { denormal } else { normal };
    let number = if magnitude >= 0x4780_0000 { LARGEST } else { finite };
    let number = if magnitude == 0x7f80_0000 { INFINITY } else { number };
    if magnitude > 0x7f80_0000 { NAN } else { number | sign }
}

/// The value, exactly.
#[inline(always)]
pub fn to_f64(h: u32) -> f64 {
    to_f32(h) as f64
}

/// Rounded once to nearest, ties to even.
#[inline(always)]
pub fn from_f64(x: f64) -> u32 {
    from_f32(convert::f64_to_f32_odd(x))
}

/// Rounded toward zero.
#[inline(always)]
pub fn from_f64_rtz(x: f64) -> u32 {
    from_f32_rtz(convert::f64_to_f32_rtz(x))
}

/// A zero of the same sign in place of a denormal.
#[inline(always)]
pub fn flush_denormal(h: u32) -> u32 {
    if h & INFINITY == 0 { h & SIGN } else { h }
}
