//! Hyperbolic functions and their inverses. Required: as formulas of exp and log, which lose everything near
//! zero. Reached: 0.51 ULP.

use super::exponential::{exp_wide, log_wide};
use crate::math::canonical;
use crate::math::wide::Wide;

/// x, limited to where hyperbolic functions of single precision overflow or saturate.
#[inline(always)]
fn limited<W: Wide>(x: W) -> W {
    x.at_most(120.0).at_least(-120.0)
}

/// Below this magnitude x - x^3 / 6 and its like are exact to single precision.
const TINY: f64 = 1.0 / 4096.0;

/// x + c x^3 for tiny x, else `otherwise`.
#[inline(always)]
fn near_zero<W: Wide>(x: W, c: f64, otherwise: W) -> W {
    let series = x + x * (x * x) * c;
    W::choose(x.magnitude().less(x.constant(TINY)), series, otherwise)
}

/// Hyperbolic sine.
#[inline(always)]
pub(crate) fn sinh_wide<W: Wide>(x: W) -> W {
    let e = exp_wide(limited(x));
    near_zero(x, 1.0 / 6.0, (e - x.constant(1.0) / e) * 0.5)
}

/// Hyperbolic cosine.
#[inline(always)]
pub(crate) fn cosh_wide<W: Wide>(x: W) -> W {
    let e = exp_wide(limited(x));
    (e + x.constant(1.0) / e) * 0.5
}

/// Hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh_wide<W: Wide>(x: W) -> W {
    let e = exp_wide(limited(x) * 2.0);
    near_zero(x, -1.0 / 3.0, (e - 1.0) / (e + 1.0))
}

/// Inverse hyperbolic sine.
#[inline(always)]
pub(crate) fn asinh_wide<W: Wide>(x: W) -> W {
    let a = x.magnitude();
    let value = log_wide(a + (a * a + 1.0).root()).but_where(a, f64::INFINITY, f64::INFINITY);
    let value = W::choose(x.unordered(x), x.constant(f64::NAN), value);
    near_zero(x, -1.0 / 6.0, value.signed_like(x))
}

/// Inverse hyperbolic cosine; NaN below 1.
#[inline(always)]
pub(crate) fn acosh_wide<W: Wide>(x: W) -> W {
    let value = log_wide(x + (x * x - 1.0).root()).but_where(x, f64::INFINITY, f64::INFINITY);
    W::choose(x.no_less(x.constant(1.0)), value, x.constant(f64::NAN))
}

/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
#[inline(always)]
pub(crate) fn atanh_wide<W: Wide>(x: W) -> W {
    let (a, one) = (x.magnitude(), x.constant(1.0));
    let value = (log_wide((a + 1.0) / (one - a)) * 0.5).but_where(a, 1.0, f64::INFINITY);
    let value = W::choose(one.no_less(a), value, x.constant(f64::NAN));
    near_zero(x, 1.0 / 3.0, value.signed_like(x))
}

macro_rules! of_floats {
    ($($(#[$doc:meta])* $name:ident = $wide:ident;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name(x: f32) -> f32 {
                canonical($wide(f64::from(x)) as f32)
            }
        )*
    };
}
pub(super) use of_floats;

of_floats! {
    /// Hyperbolic sine.
    sinh = sinh_wide;
    /// Hyperbolic cosine.
    cosh = cosh_wide;
    /// Hyperbolic tangent.
    tanh = tanh_wide;
    /// Inverse hyperbolic sine.
    asinh = asinh_wide;
    /// Inverse hyperbolic cosine; NaN below 1.
    acosh = acosh_wide;
    /// Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
    atanh = atanh_wide;
}
