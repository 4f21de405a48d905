//! Double-precision functions against the host's, which are exact for these.

use pellucid_shader_interp::math::double;

/// Doubles of all exponents and both signs.
fn samples() -> impl Iterator<Item = f64> {
    let special =
        [0.0, -0.0, 1.0, -0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::MAX];
    let halves = (-40..=40).map(|k| k as f64 * 0.5);
    let around_two_52 = (-9..=9).map(|k| 4_503_599_627_370_496.0 + k as f64 * 0.5);
    let all = (0..400_000u64).map(|k| f64::from_bits(k.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    special.into_iter().chain(halves).chain(around_two_52).chain(all)
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn rounding_is_exact() {
    for x in samples() {
        assert!(same(double::round_even(x), x.round_ties_even()), "round_even({x:e})");
        assert!(same(double::trunc(x), x.trunc()), "trunc({x:e})");
        assert!(same(double::floor(x), x.floor()), "floor({x:e})");
        assert!(same(double::ceil(x), x.ceil()), "ceil({x:e})");
        assert!(same(double::modf(x).1, x.trunc()), "modf({x:e})");
        assert!(same(double::sqrt(x), x.sqrt()), "sqrt({x:e})");
        if x.is_finite() {
            assert_eq!(double::fract(x), x - x.floor());
        }
    }
}

#[test]
fn scaling_by_powers_of_two_is_correctly_rounded() {
    // Exact where neither end is denormal; there, halving integers tells how ties go.
    for x in samples().filter(|x| x.is_normal()) {
        let (significand, exponent) = double::frexp(x);
        assert!((0.5..1.0).contains(&significand.abs()), "frexp({x:e})");
        assert!(same(double::ldexp(significand, exponent), x), "ldexp(frexp({x:e}))");
    }
    let least = f64::from_bits(1);
    for k in 1..200u64 {
        let denormal = f64::from_bits(k);
        assert_eq!(double::ldexp(k as f64, -1074), denormal);
        assert_eq!(double::ldexp(denormal, 1074), k as f64);
        let (significand, exponent) = double::frexp(denormal);
        assert_eq!(double::ldexp(significand, exponent), denormal);
        // k/4 rounded to even.
        let quarter = (k as f64 / 4.0).round_ties_even() as u64;
        assert_eq!(double::ldexp(k as f64, -1076).to_bits(), quarter);
        assert_eq!(double::ldexp(denormal, -2).to_bits(), quarter);
    }
    // Rounding twice would give the even neighbour of a number just above a tie.
    assert_eq!(double::ldexp(1.0 + f64::EPSILON, -1075), least);
    assert_eq!(double::ldexp(1.0, -1075), 0.0);
    assert_eq!(double::ldexp(1.5, i32::MAX), f64::INFINITY);
    assert_eq!(double::ldexp(-1.5, i32::MIN).to_bits(), 1 << 63);
    assert_eq!(double::ldexp(least, 2097), 2f64.powi(1023));
}

#[test]
fn the_rest_does_what_single_precision_does() {
    assert_eq!(double::fmod(-7.5, 2.0), 0.5);
    assert_eq!(double::frem(-7.5, 2.0), -1.5);
    assert_eq!(double::inverse_sqrt(4.0), 0.5);
    assert_eq!(double::n_min(f64::NAN, 1.0), 1.0);
    assert_eq!(double::n_max(1.0, f64::NAN), 1.0);
    assert_eq!(double::n_clamp(3.0, 0.0, 1.0), 1.0);
    assert_eq!(double::smooth_step(0.0, 2.0, 1.0), 0.5);
    assert_eq!(double::mix(2.0, 4.0, 0.25), 2.5);
    assert_eq!(double::step(1.0, 1.0), 1.0);
    assert_eq!([-2.0, -0.0, 5.0].map(double::sign), [-1.0, 0.0, 1.0]);
    assert_eq!(double::flush_denormal(-f64::from_bits(7)).to_bits(), 1 << 63);
    assert_eq!(double::sqrt(-1.0).to_bits(), 0x7ff8_0000_0000_0000);
}
