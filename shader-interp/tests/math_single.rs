//! Single-precision functions against double precision, over all exponents, and against the precision table
//! of the Vulkan environment for SPIR-V.

use pellucid_shader_interp::math::{double, single};

/// Floats of all exponents and both signs, with infinities, denormals and NaN among them.
fn samples() -> impl Iterator<Item = f32> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        f32::from_bits(1),
        std::f32::consts::PI,
        -std::f32::consts::PI,
        std::f32::consts::FRAC_PI_2,
        0.9999999,
        1.0000001,
        2.0,
        10.0,
    ];
    special.into_iter().chain((0..u32::MAX).step_by(12_347).map(f32::from_bits))
}

/// Floats evenly spaced in [low, high].
fn between(low: f32, high: f32) -> impl Iterator<Item = f32> {
    (0..=200_000).map(move |k| low + (high - low) * (k as f32 / 200_000.0))
}

/// Distance of two neighbouring floats around x (*ULP*, Vulkan specification).
fn ulp(x: f64) -> f64 {
    let least = 2f64.powi(-149);
    if x.abs() < 2f64.powi(-125) {
        return least;
    }
    2f64.powi((x.abs().log2().floor() as i32).min(127) - 23)
}

/// The error in ULP of `got` for a result that is `exact` in double precision.
fn error(got: f32, exact: f64) -> f64 {
    if exact.is_nan() {
        return if got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if exact.abs() > f32::MAX as f64 * (1.0 + 2f64.powi(-25)) {
        return if got as f64 == exact.signum() * f64::INFINITY { 0.0 } else { f64::INFINITY };
    }
    if got.is_infinite() && exact.abs() > f32::MAX as f64 {
        return 0.0;
    }
    let e = (got as f64 - exact).abs() / ulp(exact);
    if e.is_nan() { f64::INFINITY } else { e }
}

#[track_caller]
fn assert_unary(
    name: &str,
    arguments: impl Iterator<Item = f32>,
    f: fn(f32) -> f32,
    exact: fn(f64) -> f64,
    bound: f64,
) {
    let mut worst = (0.0, 0.0f32);
    for x in arguments {
        let e = error(f(x), exact(x as f64));
        if e > worst.0 {
            worst = (e, x);
        }
    }
    let (e, x) = worst;
    assert!(e <= bound, "{name}({x:e}) = {:e}, exact {:e}: {e} ULP > {bound}", f(x), exact(x as f64));
}

/// Half a unit is the least that is possible.
const NEAR: f64 = 0.51;
/// One of the two floats beside the exact value.
const FAITHFUL: f64 = 0.9999;

#[test]
fn exponentials_and_logarithms_are_faithfully_rounded() {
    assert_unary("exp", samples(), single::exp, f64::exp, FAITHFUL);
    assert_unary("exp", between(-104.0, 89.0), single::exp, f64::exp, FAITHFUL);
    assert_unary("exp2", samples(), single::exp2, f64::exp2, FAITHFUL);
    assert_unary("exp2", between(-150.0, 128.0), single::exp2, f64::exp2, FAITHFUL);
    assert_unary("log", samples(), single::log, f64::ln, FAITHFUL);
    assert_unary("log", between(0.5, 2.0), single::log, f64::ln, FAITHFUL);
    assert_unary("log2", samples(), single::log2, f64::log2, FAITHFUL);
    assert_unary("log2", between(0.5, 2.0), single::log2, f64::log2, FAITHFUL);
}

#[test]
fn powers_of_two_are_exact() {
    for n in -149..=127 {
        let power = f64::powi(2.0, n) as f32;
        assert_eq!(single::exp2(n as f32), power);
        assert_eq!(single::log2(power), n as f32);
        assert_eq!(single::pow(2.0, n as f32), power);
    }
    assert_eq!(single::log(1.0).to_bits(), 0);
    assert_eq!(single::exp(0.0), 1.0);
}

#[test]
fn pow_is_nearly_correctly_rounded() {
    let bases: Vec<f32> =
        samples().filter(|x| *x > 0.0).step_by(97).chain(between(0.9, 1.1).step_by(997)).collect();
    let exponents: Vec<f32> =
        samples().step_by(1013).chain(between(-40.0, 40.0).step_by(1999)).filter(|y| y.is_finite()).collect();
    let mut worst = (0.0, 0.0, 0.0);
    for &x in &bases {
        for &y in &exponents {
            if x == 1.0 || x == f32::INFINITY {
                continue;
            }
            let e = error(single::pow(x, y), (x as f64).powf(y as f64));
            if e > worst.0 {
                worst = (e, x, y);
            }
        }
    }
    assert!(worst.0 <= 0.53, "pow({:e}, {:e}): {} ULP", worst.1, worst.2, worst.0);
    assert_eq!(single::pow(0.0, 2.5), 0.0);
    assert_eq!(single::pow(0.0, -2.5), f32::INFINITY);
    assert_eq!(single::pow(0.0, 0.0), 1.0);
    assert!(single::pow(-2.0, 2.0).is_nan());
}

#[test]
fn roots_meet_the_table() {
    assert_unary("sqrt", samples(), single::sqrt, f64::sqrt, 0.5);
    // The square root of -0 is -0, and so its inverse -infinity.
    assert_unary(
        "inverse_sqrt",
        samples().filter(|x| *x != 0.0),
        single::inverse_sqrt,
        |x| 1.0 / x.sqrt(),
        1.5,
    );
    assert_eq!(single::inverse_sqrt(0.0), f32::INFINITY);
}

#[test]
fn trigonometric_functions_are_faithfully_rounded() {
    let angles = || samples().filter(|x| x.abs() <= 134_217_728.0 || !x.is_finite());
    for (name, f, exact, bound) in [
        ("sin", single::sin as fn(f32) -> f32, f64::sin as fn(f64) -> f64, FAITHFUL),
        ("cos", single::cos, f64::cos, FAITHFUL),
        ("tan", single::tan, f64::tan, NEAR),
    ] {
        assert_unary(name, angles(), f, exact, bound);
        assert_unary(name, between(-std::f32::consts::PI, std::f32::consts::PI), f, exact, bound);
        assert_unary(name, between(-1.0e6, 1.0e6), f, exact, bound);
    }
    assert_eq!(single::sin(-0.0).to_bits(), (-0.0f32).to_bits());
    // Close to multiples of pi/2, where reduction loses most.
    for k in 1..200_000u32 {
        let x = (k as f64 * std::f64::consts::FRAC_PI_2) as f32;
        assert!(error(single::sin(x), (x as f64).sin()) <= FAITHFUL, "sin({x:e})");
        assert!(error(single::cos(x), (x as f64).cos()) <= FAITHFUL, "cos({x:e})");
    }
    // Beyond, results are still of the circle.
    for x in samples().filter(|x| x.is_finite()) {
        assert!(single::sin(x).abs() <= 1.0 && single::cos(x).abs() <= 1.0);
    }
}

#[test]
fn inverse_trigonometric_functions_are_nearly_correctly_rounded() {
    assert_unary("asin", samples(), single::asin, f64::asin, NEAR);
    assert_unary("asin", between(-1.0, 1.0), single::asin, f64::asin, NEAR);
    assert_unary("acos", samples(), single::acos, f64::acos, NEAR);
    assert_unary("acos", between(-1.0, 1.0), single::acos, f64::acos, NEAR);
    assert_unary("atan", samples(), single::atan, f64::atan, NEAR);
    assert_unary("atan", between(-8.0, 8.0), single::atan, f64::atan, NEAR);
    let parts: Vec<f32> = samples().step_by(331).chain(between(-2.0, 2.0).step_by(1999)).collect();
    for &y in &parts {
        for &x in &parts {
            let (got, exact) = (single::atan2(y, x), (y as f64).atan2(x as f64));
            assert!(error(got, exact) <= NEAR, "atan2({y:e}, {x:e}) = {got:e}, exact {exact:e}");
        }
    }
}

#[test]
fn hyperbolic_functions_are_nearly_correctly_rounded() {
    // The reference of sinh and tanh near zero needs no library: x + x^3/6 and x - x^3/3 are exact to double
    // precision there.
    assert_unary("sinh", samples(), single::sinh, f64::sinh, NEAR);
    assert_unary("sinh", between(-90.0, 90.0), single::sinh, f64::sinh, NEAR);
    assert_unary("sinh", between(-1.0, 1.0), single::sinh, f64::sinh, NEAR);
    assert_unary("cosh", samples(), single::cosh, f64::cosh, NEAR);
    assert_unary("cosh", between(-90.0, 90.0), single::cosh, f64::cosh, NEAR);
    assert_unary("tanh", samples(), single::tanh, f64::tanh, NEAR);
    assert_unary("tanh", between(-10.0, 10.0), single::tanh, f64::tanh, NEAR);
    assert_unary("asinh", samples().filter(|x| x.abs() > 1e-3), single::asinh, f64::asinh, NEAR);
    assert_unary(
        "asinh",
        between(-0.01, 0.01),
        single::asinh,
        |x| x - x * x * x / 6.0 + 0.075 * x.powi(5),
        NEAR,
    );
    assert_unary("acosh", samples(), single::acosh, f64::acosh, NEAR);
    assert_unary("acosh", between(1.0, 10.0), single::acosh, f64::acosh, NEAR);
    assert_unary("atanh", samples().filter(|x| x.abs() > 1e-3), single::atanh, f64::atanh, NEAR);
    assert_unary(
        "atanh",
        between(-0.01, 0.01),
        single::atanh,
        |x| x + x * x * x / 3.0 + 0.2 * x.powi(5),
        NEAR,
    );
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn rounding_is_exact() {
    let halves = (-40..=40).map(|k| k as f32 * 0.5);
    let around_two_23 = (-9..=9).map(|k| 8_388_608.0 + k as f32 * 0.5);
    for x in samples().chain(halves).chain(around_two_23) {
        assert!(same(single::round_even(x), x.round_ties_even()), "round_even({x:e})");
        assert!(same(single::trunc(x), x.trunc()), "trunc({x:e})");
        assert!(same(single::floor(x), x.floor()), "floor({x:e}) {:e}", single::floor(x));
        assert!(same(single::ceil(x), x.ceil()), "ceil({x:e})");
        let (fraction, whole) = single::modf(x);
        assert!(same(whole, x.trunc()), "modf({x:e})");
        if x.is_finite() {
            assert_eq!(fraction, x.fract(), "modf({x:e})");
            assert_eq!(single::fract(x), x - x.floor(), "fract({x:e})");
        }
        assert!(single::round(x) == x.round_ties_even() || single::round(x) == x.round() || x.is_nan());
    }
}

#[test]
fn scaling_by_powers_of_two_is_correctly_rounded() {
    for x in samples().step_by(7) {
        for e in [
            -400,
            -300,
            -278,
            -200,
            -150,
            -149,
            -126,
            -24,
            -3,
            0,
            1,
            23,
            100,
            127,
            128,
            254,
            277,
            300,
            i32::MAX,
            i32::MIN,
        ] {
            // In double precision the product is exact, so the conversion is the only rounding.
            let exact = (x as f64 * 2f64.powi(e.clamp(-400, 400))) as f32;
            assert!(same(single::ldexp(x, e), exact), "ldexp({x:e}, {e})");
        }
        let (significand, exponent) = single::frexp(x);
        if x.is_finite() {
            assert_eq!(single::ldexp(significand, exponent), x);
            assert!(x == 0.0 || (0.5..1.0).contains(&significand.abs()), "frexp({x:e})");
        }
    }
}

#[test]
fn remainders_are_exact_and_have_the_right_sign() {
    let xs: Vec<f32> =
        samples().filter(|x| x.is_finite()).step_by(541).chain(between(-50.0, 50.0).step_by(3001)).collect();
    for &x in &xs {
        for &y in &xs {
            let q = x as f64 / y as f64;
            if y == 0.0 || q.abs() > 2f64.powi(28) {
                continue;
            }
            // Exact by the host's fmod, which is exact in double precision; the sum may have to be rounded
            // once.
            let rem = x as f64 % y as f64;
            assert_eq!(single::frem(x, y), rem as f32, "frem({x:e}, {y:e})");
            let expected = if rem != 0.0 && (rem < 0.0) != (y < 0.0) { rem + y as f64 } else { rem };
            let got = single::fmod(x, y);
            assert!(error(got, expected) <= 0.51, "fmod({x:e}, {y:e}) = {got:e}, not {expected:e}");
            assert!(got == 0.0 || (got < 0.0) == (y < 0.0), "fmod({x:e}, {y:e}) = {got:e}");
        }
    }
    assert_eq!(single::fmod(0.3, 0.3), 0.0);
    assert!(single::fmod(1.0, 0.0).is_nan());
}

#[test]
fn minimum_and_maximum_ignore_nan() {
    assert_eq!(single::n_min(f32::NAN, 1.0), 1.0);
    assert_eq!(single::n_min(1.0, f32::NAN), 1.0);
    assert_eq!(single::n_max(f32::NAN, -1.0), -1.0);
    assert_eq!(single::n_max(-1.0, f32::NAN), -1.0);
    assert_eq!(single::n_min(1.0, 2.0), 1.0);
    assert_eq!(single::n_max(1.0, 2.0), 2.0);
    assert_eq!(single::n_min(f32::NAN, f32::NAN).to_bits(), 0x7fc0_0000);
    assert_eq!(single::f_clamp(5.0, 0.0, 1.0), 1.0);
    assert_eq!(single::f_clamp(-5.0, 0.0, 1.0), 0.0);
    assert_eq!(single::n_clamp(f32::NAN, 0.0, 1.0), 0.0);
    for (x, y) in [(0.0, -0.0), (-0.0, 0.0)] {
        assert!(single::n_min(x, y).is_sign_negative() && single::n_max(x, y).is_sign_positive());
        let (x, y) = (f64::from(x), f64::from(y));
        assert!(double::n_min(x, y).is_sign_negative() && double::n_max(x, y).is_sign_positive());
    }
    let denormal = f32::from_bits(3);
    assert_eq!(single::n_min(denormal, 1.0).to_bits(), 3);
    assert_eq!(single::n_max(denormal, -denormal).to_bits(), 3);
}

#[test]
fn small_functions_have_their_values() {
    assert_eq!([-2.0, -0.0, 0.0, 7.0, 1e-40].map(single::sign), [-1.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(single::step(1.0, 0.999), 0.0);
    assert_eq!(single::step(1.0, 1.0), 1.0);
    assert_eq!(
        [-1.0, 0.0, 0.5, 1.0, 3.0].map(|x| single::smooth_step(0.0, 1.0, x)),
        [0.0, 0.0, 0.5, 1.0, 1.0]
    );
    assert_eq!(single::mix(2.0, 4.0, 0.25), 2.5);
    assert_eq!(single::flush_denormal(f32::from_bits(0x8000_0001)).to_bits(), 0x8000_0000);
    assert_eq!(single::flush_denormal(f32::MIN_POSITIVE), f32::MIN_POSITIVE);
    assert_eq!(single::quantize_to_f16(65520.0), f32::INFINITY);
    assert_eq!(single::quantize_to_f16(65519.0), 65504.0);
    assert_eq!(single::quantize_to_f16(1.0 / 3.0), 0.33325195);
    assert_eq!(single::quantize_to_f16(-1.0e-5).to_bits(), 0x8000_0000);
}
