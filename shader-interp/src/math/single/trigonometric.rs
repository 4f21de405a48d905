//! Trigonometric functions and their inverses. Required: sin and cos 2^-11 absolute in [-pi, pi], atan 4096
//! ULP, the others as formulas of them. Reached: sin and cos less than 1 ULP, the others 0.51, for arguments
//! up to 2^27 in magnitude.

use super::hyperbolic::of_floats;
pub(crate) use crate::math::wide::SHIFT;
use crate::math::wide::{Wide, Word, polynomial, round_to_word};
use crate::math::{canonical, estrin};
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
fn reduce<W: Wide>(x: W) -> (W, W::Word) {
    // Infinities make NaN.
    let x = W::choose(x.constant(LIMIT.into()).less(x.magnitude()), x * 0.0, x);
    let (n, word) = round_to_word(x * TWO_OVER_PI);
    let [high, middle, low] = PI_HALVES;
    (((x - n * high) - n * middle) - n * low, word)
}

/// sin(r) for |r| <= pi/4.
#[inline(always)]
fn sin_reduced<W: Wide>(r: W) -> W {
    const TAIL: [f64; 4] =
        [-0.16666666641586997, 0.008333329381219556, -0.00019839333311917327, 2.718296790757185e-06];
    let z = r * r;
    r * (z * polynomial(z, TAIL) + 1.0)
}

/// cos(r) for |r| <= pi/4.
#[inline(always)]
fn cos_reduced<W: Wide>(r: W) -> W {
    const TAIL: [f64; 4] =
        [0.04166666662275826, -0.0013888883747285071, 2.4799518367282713e-05, -2.7210100287266235e-07];
    let z = r * r;
    (r.constant(1.0) - z * 0.5) + (z * z) * polynomial(z, TAIL)
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
    let (r, n) = reduce(f64::from(x));
    canonical(flipped(circle(r, n & 1 == 1), n as u32))
}

/// Cosine.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    let (r, n) = reduce(f64::from(x));
    canonical(flipped(circle(r, n & 1 == 0), n.wrapping_add(n & 1) as u32))
}

/// Tangent.
#[inline(always)]
pub(crate) fn tan_wide<W: Wide>(x: W) -> W {
    let (r, n) = reduce(x);
    let (s, c, odd) = (sin_reduced(r), cos_reduced(r), n.has(1));
    W::choose(odd, c.negated(), s) / W::choose(odd, s, c)
}

/// asin(x) / x - 1 for z = x * x <= 1/4, over z.
#[inline(always)]
fn asin_tail<W: Wide>(z: W) -> W {
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
fn asin_part<W: Wide>(a: W) -> (W, W::Condition) {
    let outer = a.constant(0.5).less(a);
    // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))
    let z = W::choose(outer, (a.constant(1.0) - a) * 0.5, a * a);
    let s = W::choose(outer, z.root(), a);
    (s * (z * asin_tail(z) + 1.0), outer)
}

/// Arc sine; NaN outside [-1, 1].
#[inline(always)]
pub(crate) fn asin_wide<W: Wide>(x: W) -> W {
    let (part, outer) = asin_part(x.magnitude());
    W::choose(outer, x.constant(FRAC_PI_2) - part * 2.0, part).signed_like(x)
}

/// Arc cosine; NaN outside [-1, 1].
#[inline(always)]
pub(crate) fn acos_wide<W: Wide>(x: W) -> W {
    let (part, outer) = asin_part(x.magnitude());
    let (below, twice) = (x.less(x.constant(0.0)), part * 2.0);
    let inner_value = x.constant(FRAC_PI_2) - W::choose(below, part.negated(), part);
    W::choose(outer, W::choose(below, x.constant(PI) - twice, twice), inner_value)
}

/// atan(y / x) for finite 0 <= y, 0 <= x, not both 0, in [0, pi/2].
#[inline(always)]
fn atan_quotient<W: Wide>(y: W, x: W) -> W {
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
    let swapped = x.less(y);
    let low = W::choose(swapped, x, y);
    let high = W::choose(swapped, y, x);
    // Above pi/8: atan(q) = pi/4 + atan((q - 1) / (q + 1)).
    let shifted = (high * TAN_PI_8).less(low);
    let numerator = W::choose(shifted, low - high, low);
    let denominator = W::choose(shifted, low + high, high);
    let t = numerator / denominator;
    let z = t * t;
    let angle = t * (z * polynomial(z, TAIL) + 1.0);
    let angle = W::choose(shifted, angle + FRAC_PI_4, angle);
    W::choose(swapped, x.constant(FRAC_PI_2) - angle, angle)
}

/// Arc tangent, in [-pi/2, pi/2].
#[inline(always)]
pub(crate) fn atan_wide<W: Wide>(x: W) -> W {
    // Beyond 2^100 the result does not change; infinity would make a NaN.
    const LIMIT: f64 = 1.267_650_600_228_229_4e30;
    atan_quotient(x.magnitude().at_most(LIMIT), x.constant(1.0)).signed_like(x)
}

/// The angle of the vector (x, y), in [-pi, pi]. Where GLSL leaves it undefined it is that of IEEE 754:
/// `atan2(+-0, +0)` is +-0, `atan2(+-0, -0)` is +-pi, infinities give multiples of pi/4.
#[inline(always)]
pub(crate) fn atan2_wide<W: Wide>(y: W, x: W) -> W {
    // An infinity is as far beyond every float as the largest float is beyond the smallest.
    let (ya, xa) = (y.magnitude().at_most(1.0e200), x.magnitude().at_most(1.0e200));
    let zero = x.constant(0.0);
    let angle = atan_quotient(ya, W::choose(ya.equals(zero) & xa.equals(zero), x.constant(1.0), xa));
    let angle = W::choose(x.word().has(1 << 63), x.constant(PI) - angle, angle);
    W::choose(x.unordered(y), x.constant(f64::NAN), angle).signed_like(y)
}

of_floats! {
    /// Tangent.
    tan = tan_wide;
    /// Arc sine; NaN outside [-1, 1].
    asin = asin_wide;
    /// Arc cosine; NaN outside [-1, 1].
    acos = acos_wide;
    /// Arc tangent, in [-pi/2, pi/2].
    atan = atan_wide;
}

/// The angle of the vector (x, y), in [-pi, pi].
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    canonical(atan2_wide(f64::from(y), f64::from(x)) as f32)
}
