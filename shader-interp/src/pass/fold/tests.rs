//! Constants that fold, and those that do not.

use super::*;

#[test]
fn quantizing_to_16_bits_folds_whatever_the_value() {
    let quantized = |x: f32| {
        let bits = alu(Alu::QuantizeToF16, Scalar::F32, &[x.to_bits().into()], false).expect("folds");
        f32::from_bits(bits[0] as u32)
    };
    assert_eq!(quantized(1.000_1), 1.0);
    for sign in [1.0, -1.0] {
        assert_eq!(quantized(sign * f32::INFINITY), sign * f32::INFINITY);
        assert_eq!(quantized(sign * 1e6), sign * f32::INFINITY);
        // A denormal number of 16 bits, and one of 32.
        for small in [1e-7, 1e-40] {
            assert_eq!(quantized(sign * small).to_bits(), (sign * 0.0f32).to_bits());
        }
    }
    assert!(quantized(f32::NAN).is_nan());
}

#[test]
fn reciprocals_of_powers_of_two_divide() {
    for exponent in -126..=127 {
        for sign in [1.0, -1.0] {
            let by = sign * 2f32.powi(exponent);
            let factor = reciprocal(Scalar::F32, by.to_bits().into());
            if exponent == 127 {
                assert_eq!(factor, None);
                continue;
            }
            let factor = f32::from_bits(factor.expect("a normal reciprocal") as u32);
            let smallest = f32::from_bits(1);
            let values = [1.0, 3.1, f32::MAX, f32::MIN_POSITIVE, 5e-39, smallest, -0.0, f32::INFINITY];
            for x in values {
                assert_eq!((x / by).to_bits(), (x * factor).to_bits(), "{x} / {by}");
            }
        }
    }
    assert_eq!(reciprocal(Scalar::F32, 3f32.to_bits().into()), None);
    assert_eq!(reciprocal(Scalar::F32, 0), None);
    assert_eq!(reciprocal(Scalar::F32, f32::INFINITY.to_bits().into()), None);
    assert_eq!(reciprocal(Scalar::F64, 8f64.to_bits()), Some(0.125f64.to_bits()));
    // 4 and a quarter as halves.
    assert_eq!(reciprocal(Scalar::F16, 0x4400), Some(0x3400));
    assert_eq!(reciprocal(Scalar::I32, 4), None);
}
