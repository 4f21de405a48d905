//! Trigonometric functions and their inverses. Required: sin and cos 2^-11 absolute in [-pi, pi], atan 4096
//! ULP, the others as formulas of them. Reached: sin and cos less than 1 ULP, the others 0.51, for arguments
//! up to 2^27 in magnitude.

pub(crate) use crate::math::SHIFT;
use crate::math::{canonical, estrin, polynomial, round_to_word};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI};

/// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 of z = r^2 for |r| <= pi/4. Machine code has them,
/// too.
pub(crate) const SINE: [f32; 3] = [-0.166_666_55, 0.008_332_181, -0.000_195_175_26];
pub(crate) const COSINE: [f32; 3] = [0.041_666_647, -0.001_388_737_7, 2.443_942_7e-5];

/// Angles beyond are taken as 0.
pub(crate) const LIMIT: f32 = 134_217_728.0;
pub(crate) const TWO_OVER_PI: f64 = FRAC_2_PI;
/// pi/2 in three parts; the first two have 26 bits, so that their products with n are exact.
pub(crate) const PI_HALVES: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5000_0000),
    f64::from_bits(0x3e51_10b4_6000_0000),
    f64::from_bits(0x3c91_a626_3314_5c07),
];

/// x - n * pi/2 with |result| <= pi/4, and a word whose low two bits are those of n.
#[inline(always)]
fn reduce(x: f32) -> (f64, u64) {
    // Infinities make NaN.
    let x = if x.abs() > LIMIT { x * 0.0 } else { x } as f64;
    let (n, word) = round_to_word(x * TWO_OVER_PI);
    let [high, middle, low] = PI_HALVES;
    (((x - n * high) - n * middle) - n * low, word)
}

/// sin(r) for |r| <= pi/4.
#[inline(always)]
fn sin_reduced(r: f64) -> f64 {
    const TAIL: [f64; 4] =
        [-0.16666666641586997, 0.008333329381219556, -0.00019839333311917327, 2.718296790757185e-06];
    let z = r * r;
    r * (1.0 + z * polynomial(z, TAIL))
}

/// cos(r) for |r| <= pi/4.
#[inline(always)]
fn cos_reduced(r: f64) -> f64 {
    const TAIL: [f64; 4] =
        [0.04166666662275826, -0.0013888883747285071, 2.4799518367282713e-05, -2.7210100287266235e-07];
    let z = r * r;
    (1.0 - 0.5 * z) + (z * z) * polynomial(z, TAIL)
}

/// The sine (`odd`: the cosine) of a reduced angle, but for what the quadrant does to its sign.
#[inline(always)]
fn circle(r: f64, odd: bool) -> f32 {
    let near = r as f32;
    let rest = (r - near as f64) as f32;
    let z = near * near;
    let sine = rest + (near * z) * estrin(z, SINE);
    let half = 0.5 * z;
    let most = 1.0 - half;
    // What the difference has lost comes with the smaller terms.
    let cosine = ((1.0 - most) - half) + ((z * z) * estrin(z, COSINE) - near * rest);
    let base = if odd { most } else { near };
    // The sine of -0 is -0.
    (base + if odd { cosine } else { sine }).copysign(base)
}

/// `x` with its sign flipped if bit 1 of `word` is set.
#[inline(always)]
fn flipped(x: f32, word: u32) -> f32 {
    f32::from_bits(x.to_bits() ^ ((word & 2) << 30))
}

/// Sine.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    let (r, n) = reduce(x);
    canonical(flipped(circle(r, n & 1 == 1), n as u32))
}

/// Cosine.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    let (r, n) = reduce(x);
    canonical(flipped(circle(r, n & 1 == 0), n.wrapping_add(n & 1) as u32))
}

/// Tangent.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let (r, n) = reduce(x);
    let (s, c) = (sin_reduced(r), cos_reduced(r));
    let even = n & 1 == 0;
    let quotient = (if even { s } else { -c }) / (if even { c } else { s });
    canonical(quotient as f32)
}

/// asin(x) / x - 1 for z = x * x <= 1/4, over z.
#[inline(always)]
fn asin_tail(z: f64) -> f64 {
    const TAIL: [f64; 8] = [
        0.16666666626724078,
        0.07500005042112914,
        0.04464068769785953,
        0.030426842812647164,
        0.021863000753865686,
        0.020659073642634675,
        0.0019483705990789692,
        0.03294183595363028,
    ];
    polynomial(z, TAIL)
}

/// asin(|x|) if |x| <= 1/2, else (pi/2 - asin(|x|)) / 2; and which.
#[inline(always)]
fn asin_part(a: f64) -> (f64, bool) {
    let outer = a > 0.5;
    // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))
    let z = if outer { 0.5 * (1.0 - a) } else { a * a };
    let s = if outer { z.sqrt() } else { a };
    (s * (1.0 + z * asin_tail(z)), outer)
}

/// Arc sine; NaN outside [-1, 1].
#[inline(always)]
pub fn asin(x: f32) -> f32 {
    let (part, outer) = asin_part(x.abs() as f64);
    let value = if outer { FRAC_PI_2 - 2.0 * part } else { part };
    canonical((value as f32).copysign(x))
}

/// Arc cosine; NaN outside [-1, 1].
#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let (part, outer) = asin_part(x.abs() as f64);
    let inner_value = FRAC_PI_2 - if x < 0.0 { -part } else { part };
    let outer_value = if x < 0.0 { PI - 2.0 * part } else { 2.0 * part };
    canonical((if outer { outer_value } else { inner_value }) as f32)
}

/// atan(y / x) for finite 0 <= y, 0 <= x, not both 0, in [0, pi/2].
#[inline(always)]
fn atan_quotient(y: f64, x: f64) -> f64 {
    const TAIL: [f64; 7] = [
        -0.3333333329636525,
        0.19999994397414184,
        -0.14285426254664707,
        0.11104048700361746,
        -0.08997225918410179,
        0.0699284990262887,
        -0.037951312552307805,
    ];
    const TAN_PI_8: f64 = 0.414_213_562_373_095_05;
    let swapped = y > x;
    let low = if swapped { x } else { y };
    let high = if swapped { y } else { x };
    // Above pi/8: atan(q) = pi/4 + atan((q - 1) / (q + 1)).
    let shifted = low > TAN_PI_8 * high;
    let numerator = if shifted { low - high } else { low };
    let denominator = if shifted { low + high } else { high };
    let t = numerator / denominator;
    let z = t * t;
    let angle = t * (1.0 + z * polynomial(z, TAIL));
    let angle = if shifted { FRAC_PI_4 + angle } else { angle };
    if swapped { FRAC_PI_2 - angle } else { angle }
}

/// Arc tangent, in [-pi/2, pi/2].
#[inline(always)]
pub fn atan(x: f32) -> f32 {
    // Beyond 2^100 the result does not change; infinity would make a NaN.
    const LIMIT: f64 = 1.267_650_600_228_229_4e30;
    let a = x.abs() as f64;
    let a = if a > LIMIT { LIMIT } else { a };
    canonical((atan_quotient(a, 1.0) as f32).copysign(x))
}

/// The angle of the vector (x, y), in [-pi, pi]. Where GLSL leaves it undefined it is that of IEEE 754:
/// `atan2(+-0, +0)` is +-0, `atan2(+-0, -0)` is +-pi, infinities give multiples of pi/4.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    let bound = |v: f32| -> f64 {
        // An infinity is as far beyond every float as the largest float is beyond the smallest.
        if v.abs() == f32::INFINITY { 1.0e200 } else { v.abs() as f64 }
    };
    let (ya, xa) = (bound(y), bound(x));
    let zero = (ya == 0.0) & (xa == 0.0);
    let angle = atan_quotient(ya, if zero { 1.0 } else { xa });
    let angle = if x.is_sign_negative() { PI - angle } else { angle };
    let angle = if x.is_nan() | y.is_nan() { f64::NAN } else { angle };
    canonical((angle as f32).copysign(y))
}
