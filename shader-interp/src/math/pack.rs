//! Packing of small floats into words (GLSL.std.450 Pack* and Unpack*). Component 0 is in the least
//! significant bits.

use crate::math::convert::{f32_to_i32, f32_to_u32};
use crate::math::half;
use crate::math::single::{f_clamp, round_even};

/// c in [0, 1] to an integer in [0, scale]; NaN gives 0.
#[inline(always)]
pub(crate) fn to_unorm(c: f32, scale: f32) -> u32 {
    f32_to_u32(round_even(f_clamp(c, 0.0, 1.0) * scale))
}

/// c in [-1, 1] to an integer in [-scale, scale]; NaN gives -scale.
#[inline(always)]
pub(crate) fn to_snorm(c: f32, scale: f32) -> i32 {
    f32_to_i32(round_even(f_clamp(c, -1.0, 1.0) * scale))
}

/// An integer in [0, scale] to [0, 1].
#[inline(always)]
pub(crate) fn from_unorm(x: u32, scale: f32) -> f32 {
    x as f32 / scale
}

/// 1/255 in two parts. Machine code has them, too.
pub(crate) const BYTE_PARTS: [f32; 2] = [257.0 / 65536.0, 1.0 / 16_711_680.0];

/// [`from_unorm`] of a byte, by two products: the first one is exact, and of all bytes their sum is what the
/// quotient is rounded to.
#[inline(always)]
pub(crate) fn from_unorm_byte(x: u32) -> f32 {
    let [near, rest] = BYTE_PARTS;
    let x = x as f32;
    x * near + x * rest
}

/// An integer in [-scale - 1, scale] to [-1, 1].
#[inline(always)]
pub(crate) fn from_snorm(x: i32, scale: f32) -> f32 {
    let c = x as f32 / scale;
    if c < -1.0 { -1.0 } else { c }
}

/// PackHalf2x16, rounded to nearest even.
#[inline(always)]
pub fn pack_half_2x16(x: f32, y: f32) -> u32 {
    half::from_f32(x) | (half::from_f32(y) << 16)
}

/// UnpackHalf2x16.
#[inline(always)]
pub fn unpack_half_2x16(word: u32) -> (f32, f32) {
    (half::to_f32(word & 0xffff), half::to_f32(word >> 16))
}

/// PackSnorm4x8.
#[inline(always)]
pub fn pack_snorm_4x8(c: [f32; 4]) -> u32 {
    let byte = |k: usize| (to_snorm(c[k], 127.0) as u32 & 0xff) << (8 * k);
    byte(0) | byte(1) | byte(2) | byte(3)
}

/// PackUnorm4x8.
#[inline(always)]
pub fn pack_unorm_4x8(c: [f32; 4]) -> u32 {
    let byte = |k: usize| to_unorm(c[k], 255.0) << (8 * k);
    byte(0) | byte(1) | byte(2) | byte(3)
}

/// PackSnorm2x16.
#[inline(always)]
pub fn pack_snorm_2x16(c: [f32; 2]) -> u32 {
    (to_snorm(c[0], 32767.0) as u32 & 0xffff) | ((to_snorm(c[1], 32767.0) as u32) << 16)
}

/// PackUnorm2x16.
#[inline(always)]
pub fn pack_unorm_2x16(c: [f32; 2]) -> u32 {
    to_unorm(c[0], 65535.0) | (to_unorm(c[1], 65535.0) << 16)
}

/// UnpackSnorm4x8.
#[inline(always)]
pub fn unpack_snorm_4x8(word: u32) -> [f32; 4] {
    let part = |k: u32| from_snorm((word >> (8 * k)) as i8 as i32, 127.0);
    [part(0), part(1), part(2), part(3)]
}

/// UnpackUnorm4x8.
#[inline(always)]
pub fn unpack_unorm_4x8(word: u32) -> [f32; 4] {
    let part = |k: u32| from_unorm((word >> (8 * k)) & 0xff, 255.0);
    [part(0), part(1), part(2), part(3)]
}

/// UnpackSnorm2x16.
#[inline(always)]
pub fn unpack_snorm_2x16(word: u32) -> [f32; 2] {
    [from_snorm(word as i16 as i32, 32767.0), from_snorm((word >> 16) as i16 as i32, 32767.0)]
}

/// UnpackUnorm2x16.
#[inline(always)]
pub fn unpack_unorm_2x16(word: u32) -> [f32; 2] {
    [from_unorm(word & 0xffff, 65535.0), from_unorm(word >> 16, 65535.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_products_are_the_quotient_of_every_byte() {
        for byte in 0..256 {
            assert_eq!(from_unorm_byte(byte).to_bits(), from_unorm(byte, 255.0).to_bits(), "{byte}");
        }
    }
}
