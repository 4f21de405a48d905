//! Every number of 8 bits, and roundings between them.

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
        let parts = (0..64u32).flat_map(|k| [k << 17, (k << 17) + 1, (k << 17).wrapping_sub(1) & 0x7f_ffff]);
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
        assert_eq!([to_e4m3::<false>(infinite), to_e4m3::<true>(-infinite)], [E4M3_NAN, 0x80 | E4M3_LARGEST]);
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
