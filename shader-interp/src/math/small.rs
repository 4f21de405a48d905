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
mod tests {
    use super::*;
    use crate::math::half;

    /// The value of a number by its fields.
    fn value(bits: u32, significand: u32, bias: i32) -> f64 {
        let (exponent, fraction) = (bits >> significand, bits & ((1 << significand) - 1));
        let fraction = f64::from(fraction) / f64::from(1 << significand);
        let scale = |exponent: i32| 2f64.powi(exponent - bias);
        if exponent == 0 { fraction * scale(1) } else { (1.0 + fraction) * scale(exponent as i32) }
    }

    /// The nearest of `numbers`, the even one of two; none where the next beyond the last would be nearer.
    fn nearest(x: f64, numbers: &[f64]) -> Option<u32> {
        let last = numbers.len() - 1;
        let beyond = 2.0 * numbers[last] - numbers[last - 1];
        let mut best = 0;
        for (k, number) in numbers.iter().chain([&beyond]).enumerate() {
            let (there, here) = ((x - number).abs(), (x - numbers.get(best).unwrap_or(&beyond)).abs());
            if there < here || (there == here && k % 2 == 0) {
                best = k;
            }
        }
        (best <= last && x.is_finite()).then_some(best as u32)
    }

    fn samples() -> impl Iterator<Item = f32> {
        // All exponents near the formats', with significands on, between and beside their numbers.
        (100u32..150).flat_map(|exponent| {
            let parts =
                (0..64u32).flat_map(|k| [k << 17, (k << 17) + 1, (k << 17).wrapping_sub(1) & 0x7f_ffff]);
            parts.map(move |part| f32::from_bits(exponent << 23 | part))
        })
    }

    #[test]
    fn all_numbers_of_8_bits_come_back() {
        for bits in 0..=0x7eu32 {
            assert_eq!(f64::from(of_e4m3(bits)), value(bits, 3, 7), "{bits:#x}");
            assert_eq!(of_e4m3(bits | 0x80), -of_e4m3(bits));
            assert_eq!(to_e4m3::<false>(of_e4m3(bits)), bits);
            assert_eq!(to_e4m3::<true>(-of_e4m3(bits)), bits | 0x80);
        }
        for bits in 0..=E5M2_INFINITY {
            let x = half::to_f32(bits << 8);
            assert!(bits == E5M2_INFINITY || f64::from(x) == value(bits, 2, 15));
            assert_eq!(to_e5m2::<false>(x), bits);
        }
        assert!(of_e4m3(E4M3_NAN).is_nan() && of_e4m3(E4M3_NAN | 0x80).is_nan());
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        let e4m3: Vec<f64> = (0..=E4M3_LARGEST).map(|bits| value(bits, 3, 7)).collect();
        let e5m2: Vec<f64> = (0..=E5M2_LARGEST).map(|bits| value(bits, 2, 15)).collect();
        for x in samples() {
            let (a, b) = (nearest(x.into(), &e4m3), nearest(x.into(), &e5m2));
            assert_eq!(to_e4m3::<false>(x), a.unwrap_or(E4M3_NAN), "{x}");
            assert_eq!(to_e4m3::<true>(-x), 0x80 | a.unwrap_or(E4M3_LARGEST), "{x}");
            assert_eq!(to_e5m2::<false>(-x), 0x80 | b.unwrap_or(E5M2_INFINITY), "{x}");
            assert_eq!(to_e5m2::<true>(x), b.unwrap_or(E5M2_LARGEST), "{x}");
        }
        for infinite in [f32::INFINITY, f32::MAX] {
            assert_eq!(
                [to_e4m3::<false>(infinite), to_e4m3::<true>(-infinite)],
                [E4M3_NAN, 0x80 | E4M3_LARGEST]
            );
            assert_eq!(
                [to_e5m2::<false>(infinite), to_e5m2::<true>(-infinite)],
                [E5M2_INFINITY, 0x80 | E5M2_LARGEST]
            );
        }
        assert_eq!([to_e4m3::<true>(f32::NAN), to_e5m2::<true>(f32::NAN)], [E4M3_NAN, E5M2_NAN]);
    }

    #[test]
    fn bfloat16_is_the_high_half() {
        for (x, bits) in [
            (1.0, 0x3f80),
            (f32::from_bits(0x3f80_8000), 0x3f80),
            (f32::from_bits(0x3f81_8000), 0x3f82),
            (f32::from_bits(0x3f80_8001), 0x3f81),
            (f32::MAX, 0x7f80),
            (f32::NEG_INFINITY, 0xff80),
            (f32::from_bits(0x8000_8001), 0x8001),
            (f32::from_bits(0x7f80_0001), 0x7fc0),
        ] {
            assert_eq!(to_bfloat16(x), bits, "{x}");
        }
    }
}
