//! Rounding and selection, in single and in double precision: the same expressions on another type.

/// Defines them for a float type: its canonical NaN in place of any other, and from which magnitude on it has
/// integers only.
macro_rules! operations {
    ($float:ident, $canonical:ident, $integers:literal) => {
        /// Round to nearest, ties to even, for any float; keeps the sign of zero.
        #[inline(always)]
        pub fn round_even(x: $float) -> $float {
            let a = x.abs();
            let r = (a + $integers) - $integers;
            $canonical((if a < $integers { r } else { a }).copysign(x))
        }

        /// GLSL.std.450 Round: ties go to even, one of the two directions that are allowed.
        #[inline(always)]
        pub fn round(x: $float) -> $float {
            round_even(x)
        }

        /// Round toward zero.
        #[inline(always)]
        pub fn trunc(x: $float) -> $float {
            let a = x.abs();
            let r = (a + $integers) - $integers;
            let r = r - if r > a { 1.0 } else { 0.0 };
            $canonical((if a < $integers { r } else { a }).copysign(x))
        }

        /// Round toward minus infinity.
        #[inline(always)]
        pub fn floor(x: $float) -> $float {
            let r = round_even(x);
            $canonical((r - if r > x { 1.0 } else { 0.0 }).copysign(x))
        }

        /// Round toward plus infinity.
        #[inline(always)]
        pub fn ceil(x: $float) -> $float {
            let r = round_even(x);
            $canonical((r + if r < x { 1.0 } else { 0.0 }).copysign(x))
        }

        /// x - floor(x): in [0, 1], and 1 only where that is the correctly rounded result.
        #[inline(always)]
        pub fn fract(x: $float) -> $float {
            $canonical(x - floor(x))
        }

        /// 1, 0 or -1; 0 for NaN and both zeros.
        #[inline(always)]
        pub fn sign(x: $float) -> $float {
            (if x > 0.0 { 1.0 } else { 0.0 }) - (if x < 0.0 { 1.0 } else { 0.0 })
        }

        /// 0 if x < edge, else 1.
        #[inline(always)]
        pub fn step(edge: $float, x: $float) -> $float {
            if x < edge { 0.0 } else { 1.0 }
        }

        /// Hermite interpolation between two edges.
        #[inline(always)]
        pub fn smooth_step(edge0: $float, edge1: $float, x: $float) -> $float {
            let t = f_clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0);
            $canonical(t * t * (3.0 - 2.0 * t))
        }

        /// x (1 - a) + y a.
        #[inline(always)]
        pub fn mix(x: $float, y: $float, a: $float) -> $float {
            $canonical(x * (1.0 - a) + y * a)
        }

        /// FMin: the lesser. A NaN is ignored, as by [`n_min`]: one of the results that are allowed.
        #[inline(always)]
        pub fn f_min(x: $float, y: $float) -> $float {
            n_min(x, y)
        }

        /// FMax: the greater. A NaN is ignored, as by [`n_max`]: one of the results that are allowed.
        #[inline(always)]
        pub fn f_max(x: $float, y: $float) -> $float {
            n_max(x, y)
        }

        /// NMin: the lesser, -0 being less than +0; if one is NaN the other.
        #[inline(always)]
        pub fn n_min(x: $float, y: $float) -> $float {
            let lesser = if y < x { y } else { x };
            let lesser = if x == y { $float::from_bits(x.to_bits() | y.to_bits()) } else { lesser };
            $canonical(if x.is_nan() { y } else { lesser })
        }

        /// NMax: the greater, +0 being greater than -0; if one is NaN the other.
        #[inline(always)]
        pub fn n_max(x: $float, y: $float) -> $float {
            let greater = if y > x { y } else { x };
            let greater = if x == y { $float::from_bits(x.to_bits() & y.to_bits()) } else { greater };
            $canonical(if x.is_nan() { y } else { greater })
        }

        /// FClamp: min(max(x, low), high).
        #[inline(always)]
        pub fn f_clamp(x: $float, low: $float, high: $float) -> $float {
            n_clamp(x, low, high)
        }

        /// NClamp: min(max(x, low), high) with NaN ignored; `low` if x is NaN.
        #[inline(always)]
        pub fn n_clamp(x: $float, low: $float, high: $float) -> $float {
            n_min(n_max(x, low), high)
        }

        /// Fraction and whole part, both with the sign of x.
        #[inline(always)]
        pub fn modf(x: $float) -> ($float, $float) {
            let whole = trunc(x);
            let fraction = if x.abs() == $float::INFINITY { 0.0 } else { x - whole };
            ($canonical(fraction.copysign(x)), whole)
        }
    };
}
pub(crate) use operations;
