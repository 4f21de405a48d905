//! Floats of 16 and 8 bits that are not those of IEEE 754, held as their bits in the low part of a word:
//! bfloat16 (SPV_KHR_bfloat16), and E4M3 and E5M2 (SPV_EXT_float8). Conversions round to nearest, ties to
//! even, and keep denormals. E5M2 is the high byte of a 16-bit float.

/// E4M3 has no infinity, and one NaN of either sign.
const E4M3_NAN: u32 = 0x7f;
const E4M3_LARGEST: u32 = 0x7e;
const E5M2_NAN: u32 = 0x7e;
const E5M2_INFINITY: u32 = 0x7c;
const E5M2_LARGEST: u32 = 0x7b;

/// The nearest bfloat16, ties to even.
#[inline(always)]
pub fn to_bfloat16(x: f32) -> u32 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fc0 } else { rounded }
}

/// To `M` bits of significand with an exponent biased by `BIAS`; no number is too large. `ONE` is the power
/// of two whose unit in the last place is that of the format's denormals: adding it rounds.
#[inline(always)]
fn rounded<const M: u32, const BIAS: u32>(magnitude: u32, one: f32) -> u32 {
    let shift = 23 - M;
    let odd = magnitude >> shift & 1;
    let normal =
        magnitude.wrapping_add((1 << (shift - 1)) - 1 + odd).wrapping_sub((127 - BIAS) << 23) >> shift;
    let denormal = (f32::from_bits(magnitude) + one).to_bits().wrapping_sub(one.to_bits());
    if magnitude < (128 - BIAS) << 23 { denormal } else { normal }
}

/// To E4M3; `SATURATING`: numbers that are too large, and infinity, become the largest, else NaN.
#[inline(always)]
pub fn to_e4m3<const SATURATING: bool>(x: f32) -> u32 {
    let (bits, magnitude) = (x.to_bits(), x.to_bits() & 0x7fff_ffff);
    let sign = bits >> 24 & 0x80;
    let number = rounded::<3, 7>(magnitude, 16384.0);
    // 464 lies between the largest number and what would be the next, and rounds to the even one.
    let large = magnitude > 464f32.to_bits();
    let signed = sign | if large { E4M3_LARGEST } else { number };
    let nan = magnitude > 0x7f80_0000 || (large && !SATURATING);
    if nan { E4M3_NAN } else { signed }
}

/// To E5M2; `SATURATING`: numbers that are too large, and infinity, become the largest, else infinity.
#[inline(always)]
pub fn to_e5m2<const SATURATING: bool>(x: f32) -> u32 {
    let (bits, magnitude) = (x.to_bits(), x.to_bits() & 0x7fff_ffff);
    let sign = bits >> 24 & 0x80;
    let number = rounded::<2, 15>(magnitude, 128.0);
    let most = if SATURATING { E5M2_LARGEST } else { E5M2_INFINITY };
    // 61440 lies between the largest number and what would be the next, and rounds to the even one.
    let signed = sign | if magnitude >= 61440f32.to_bits() { most } else { number };
    if magnitude > 0x7f80_0000 { E5M2_NAN } else { signed }
}

/// Of E4M3, exactly.
#[inline(always)]
pub fn of_e4m3(h: u32) -> f32 {
    const SMALLEST_NORMAL: u32 = 121 << 23;
    let sign = (h & 0x80) << 24;
    let magnitude = (h & 0x7f) << 20;
    let denormal = (f32::from_bits(magnitude + SMALLEST_NORMAL) - f32::from_bits(SMALLEST_NORMAL)).to_bits();
    let number = if magnitude < 1 << 23 { denormal } else { magnitude + (120 << 23) };
    f32::from_bits(if h & 0x7f == E4M3_NAN { 0x7fc0_0000 } else { number | sign })
}

#[cfg(test)]
mod tests;
