//! Exponentials, logarithms and powers. Required: exp and exp2 3 + 2|x| ULP, log and log2 3 ULP (absolute
//! 2^-21 in [0.5, 2]), pow as exp2(y * log2(x)). Reached: less than 1 ULP; pow 0.53.

use crate::math::wide::{Wide, Word, polynomial, power_of_two, round_to_word};
use crate::math::{canonical, estrin};
use std::f64::consts::{LN_2, LOG2_E};

/// What exponentials and logarithms in single precision are made of. Machine code has the same steps with the
/// same constants.
pub(crate) mod constants {
    /// Adding it leaves no bits for a fraction, and the integer in the low bits.
    pub const SHIFT: f32 = 12_582_912.0;
    pub const LOG2_E: f32 = std::f32::consts::LOG2_E;
    /// ln(2) in two parts; the first has 10 bits, so that its product with an exponent is exact.
    pub const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    pub const LN_2_NEAR: f32 = std::f32::consts::LN_2;
    /// 1 / ln(2) in two parts; the first has 12 bits.
    pub const LOG2_E_PARTS: [f32; 2] = [1.442_871_1, -1.760_528_6e-4];
    /// Where e^x and 2^x are infinite and zero.
    pub const EXP_RANGE: [f32; 2] = [-105.0, 89.0];
    pub const EXP2_RANGE: [f32; 2] = [-151.0, 129.0];
    /// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
    pub const EXP: [f32; 5] = [0.499_999_94, 0.166_665_21, 0.041_668_348, 0.008_368_71, 0.001_381_674_8];
    /// (2^r - 1 - r ln(2)) / r^2 for |r| <= 1 / 2.
    pub const EXP2: [f32; 5] = [0.240_226_5, 0.055_503_614, 0.009_618_022, 0.001_339_049_9, 0.000_154_718_89];
    /// (ln(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) <= 1 + f < sqrt(2).
    pub const LOG: [f32; 8] = [
        0.333_333_3,
        -0.250_008_08,
        0.200_012_7,
        -0.166_238_08,
        0.142_013_28,
        -0.131_559_22,
        0.127_621_58,
        -0.076_452_19,
    ];
    /// The bits of sqrt(1/2), and those of a float below the exponent.
    pub const SQRT_HALF: u32 = 0x3f35_04f3;
    pub const FRACTION: u32 = 0x007f_ffff;
    /// The least normal float, and what makes denormals normal.
    pub const NORMAL: f32 = f32::MIN_POSITIVE;
    pub const UP: f32 = 33_554_432.0;
    pub const UP_BITS: f32 = 25.0;
    /// Of a float's bits, those of a number that a product with one of 12 bits leaves exact.
    pub const HIGH_BITS: u32 = 0xffff_f000;
}
use constants as c;

/// 2^t for finite t, in double precision with a relative error of 2^-34; t is limited to where single
/// precision still tells results apart.
#[inline(always)]
fn exp2_wide<W: Wide>(t: W) -> W {
    let t = t.at_most(200.0).at_least(-200.0);
    let (whole, word) = round_to_word(t);
    natural_power((t - whole) * LN_2) * power_of_two(word)
}

/// e^r for |r| <= ln(2) / 2. Near r = 0 the error of `e^r - 1` is relative to r too.
#[inline(always)]
fn natural_power<W: Wide>(r: W) -> W {
    const TAIL: [f64; 6] = [
        0.5000000067722097,
        0.16666665868474534,
        0.04166629480002733,
        0.008333497137413434,
        0.0013944670709582065,
        0.00019790332545931518,
    ];
    (r + (r * r) * polynomial(r, TAIL)) + 1.0
}

/// e^x in double precision for |x| < 1000.
#[inline(always)]
pub(super) fn exp_wide<W: Wide>(x: W) -> W {
    let (whole, word) = round_to_word(x * LOG2_E);
    natural_power(x - whole * LN_2) * power_of_two(word)
}

/// The exponent k and ln(m) of x = 2^k * m, sqrt(1/2) <= m < sqrt(2), for positive, normal, finite x. ln(m)
/// is accurate relative to itself.
#[inline(always)]
fn exponent_and_log<W: Wide>(x: W) -> (W, W) {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const FRACTION: u64 = (1 << 52) - 1;
    // 2^52 and a small integer in its low bits.
    const INTEGER: u64 = 0x4330_0000_0000_0000;
    const INTEGER_AND_BIAS: f64 = 4_503_599_627_370_496.0 + 1023.0;
    let above = x.word().plus((1023u64 << 52).wrapping_sub(SQRT_HALF));
    let exponent = above.right(52).or(INTEGER).wide() - INTEGER_AND_BIAS;
    let m = above.and(FRACTION).plus(SQRT_HALF).wide();

    // ln(m) = 2 atanh(s), s = (m - 1) / (m + 1).
    const TAIL: [f64; 5] = [
        0.6666666667581854,
        0.39999995615376255,
        0.28572109890797975,
        0.22176156195979793,
        0.19584645361778583,
    ];
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    (exponent, s * (z * polynomial(z, TAIL) + 2.0))
}

/// ln(x) of a positive normal double.
#[inline(always)]
pub(super) fn log_wide<W: Wide>(x: W) -> W {
    let (exponent, log) = exponent_and_log(x);
    exponent * LN_2 + log
}

/// log2 of any float, in double precision: -infinity at zero, NaN below, infinity at infinity.
#[inline(always)]
fn log2_wide<W: Wide>(x: W) -> W {
    let (exponent, log) = exponent_and_log(x);
    let inside = exponent + log * LOG2_E;
    let edges = inside.but_where(x, 0.0, f64::NEG_INFINITY).but_where(x, f64::INFINITY, f64::INFINITY);
    W::choose(x.no_less(x.constant(0.0)), edges, x.constant(f64::NAN))
}

/// `x` within a range; NaN stays.
#[inline(always)]
fn within(x: f32, [low, high]: [f32; 2]) -> f32 {
    let x = if high < x { high } else { x };
    if low > x { low } else { x }
}

/// x 2^n, rounded once, for 1/2 < x < 2 and the integer n, -160 < n < 160, in the low bits of `shifted`.
#[inline(always)]
fn scaled(x: f32, shifted: f32) -> f32 {
    let n = shifted.to_bits().wrapping_sub(c::SHIFT.to_bits()) as i32;
    let power = |n: i32| f32::from_bits(((n + 127) << 23) as u32);
    x * power(n >> 1) * power(n - (n >> 1))
}

/// e^x.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = within(x, c::EXP_RANGE);
    let shifted = x * c::LOG2_E + c::SHIFT;
    let n = shifted - c::SHIFT;
    let r = (x - n * c::LN_2[0]) - n * c::LN_2[1];
    canonical(scaled(power(r, (r * r) * estrin(r, c::EXP)), shifted))
}

/// 2^x; exact at integers.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    let x = within(x, c::EXP2_RANGE);
    let shifted = x + c::SHIFT;
    let r = x - (shifted - c::SHIFT);
    canonical(scaled(power(r * c::LN_2_NEAR, (r * r) * estrin(r, c::EXP2)), shifted))
}

/// 1 + `first` + `rest`, where the rest is small.
#[inline(always)]
fn power(first: f32, rest: f32) -> f32 {
    let sum = 1.0 + first;
    // What the sum has lost comes with the smaller terms.
    sum + (rest + (first - (sum - 1.0)))
}

/// The exponent k of x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for positive finite x; f, which is exact;
/// and ln(1 + f) - f.
#[inline(always)]
fn parts(x: f32) -> (f32, f32, f32) {
    let small = x < c::NORMAL;
    let above = (if small { x * c::UP } else { x }).to_bits().wrapping_sub(c::SQRT_HALF);
    let k = ((above as i32) >> 23) as f32;
    let f = f32::from_bits((above & c::FRACTION).wrapping_add(c::SQRT_HALF)) - 1.0;
    (if small { k - c::UP_BITS } else { k }, f, (f * f) * (f * estrin(f, c::LOG) - 0.5))
}

/// What logarithms give at the edges of their domain: -infinity at zero, NaN below, infinity at infinity.
#[inline(always)]
fn edges(x: f32, inside: f32) -> f32 {
    let r = if x == 0.0 { f32::NEG_INFINITY } else { inside };
    let r = if x == f32::INFINITY { x } else { r };
    if x >= 0.0 { r } else { f32::NAN }
}

/// Natural logarithm; NaN for x < 0, -infinity at zeros.
#[inline(always)]
pub fn log(x: f32) -> f32 {
    let (k, f, rest) = parts(x);
    canonical(edges(x, k * c::LN_2[0] + (f + (k * c::LN_2[1] + rest))))
}

/// Logarithm to base 2; exact at powers of two; NaN for x < 0, -infinity at zeros.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    let (k, f, rest) = parts(x);
    let high = f32::from_bits((f + rest).to_bits() & c::HIGH_BITS);
    let low = (f - high) + rest;
    let [first, second] = c::LOG2_E_PARTS;
    canonical(edges(x, (((low + high) * second + low * first) + high * first) + k))
}

/// x^y of floats; NaN for x < 0. Where GLSL leaves it undefined: 1 for y = 0, infinity for x = 0 and y < 0.
#[inline(always)]
pub(crate) fn pow_wide<W: Wide>(x: W, y: W) -> W {
    let zero = x.constant(0.0);
    let power = exp2_wide(y * log2_wide(x));
    W::choose(y.equals(zero) & x.no_less(zero), x.constant(1.0), power)
}

/// x^y.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    canonical(pow_wide(f64::from(x), f64::from(y)) as f32)
}

/// 1 / sqrt(x), within 1.5 ULP (2 are allowed).
#[inline(always)]
pub fn inverse_sqrt(x: f32) -> f32 {
    canonical(1.0 / x.sqrt())
}

/// Square root, correctly rounded.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    canonical(x.sqrt())
}
