//! What transcendental functions are computed with: they are stated once, over a trait. The interpreter
//! computes them with doubles; machine code is made from the expressions that they are for eight lanes.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Sub};

const SIGN: u64 = 1 << 63;

/// A number in double precision.
pub(crate) trait Wide:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// What a comparison gives.
    type Condition: Copy + BitAnd<Output = Self::Condition> + BitOr<Output = Self::Condition>;
    /// The 64 bits of a number.
    type Word: Word<Wide = Self, Condition = Self::Condition>;

    /// A constant, of the kind that `self` is.
    fn constant(self, x: f64) -> Self;
    /// Its bits.
    fn word(self) -> Self::Word;
    /// Square root, correctly rounded.
    fn root(self) -> Self;
    /// Whether it is less; not if either is NaN.
    fn less(self, than: Self) -> Self::Condition;
    /// Whether it is as great or greater; not if either is NaN.
    fn no_less(self, than: Self) -> Self::Condition;
    /// Whether both are equal; not if either is NaN.
    fn equals(self, other: Self) -> Self::Condition;
    /// Whether either is NaN.
    fn unordered(self, other: Self) -> Self::Condition;
    /// One of two.
    fn choose(condition: Self::Condition, yes: Self, no: Self) -> Self;

    /// Without its sign.
    #[inline(always)]
    fn magnitude(self) -> Self {
        self.word().and(!SIGN).wide()
    }

    /// With the other sign.
    #[inline(always)]
    fn negated(self) -> Self {
        self.word().flip(SIGN).wide()
    }

    /// With the sign of another.
    #[inline(always)]
    fn signed_like(self, sign: Self) -> Self {
        self.word().and(!SIGN).or_word(sign.word().and(SIGN)).wide()
    }

    /// Not below `least`; NaN stays.
    #[inline(always)]
    fn at_least(self, least: f64) -> Self {
        Self::choose(self.less(self.constant(least)), self.constant(least), self)
    }

    /// Not above `most`; NaN stays.
    #[inline(always)]
    fn at_most(self, most: f64) -> Self {
        Self::choose(self.constant(most).less(self), self.constant(most), self)
    }

    /// `x` where `value` equals `other`.
    #[inline(always)]
    fn but_where(self, value: Self, other: f64, x: f64) -> Self {
        Self::choose(value.equals(value.constant(other)), value.constant(x), self)
    }
}

/// The bits of a number, or an integer in two's complement.
pub(crate) trait Word: Copy {
    /// What has these bits.
    type Wide: Wide<Word = Self, Condition = Self::Condition>;
    /// What a test gives.
    type Condition;

    /// The number that has these bits.
    fn wide(self) -> Self::Wide;
    /// The bits that are in `mask`, too.
    fn and(self, mask: u64) -> Self;
    /// These bits and those.
    fn or(self, bits: u64) -> Self;
    /// These bits and those.
    fn or_word(self, bits: Self) -> Self;
    /// The other ones of these bits.
    fn flip(self, bits: u64) -> Self;
    /// Sum, modulo 2^64.
    fn plus(self, number: u64) -> Self;
    /// Shifted left.
    fn left(self, by: u32) -> Self;
    /// Shifted right, zeros from the left.
    fn right(self, by: u32) -> Self;
    /// Signed, not below `least` and not above `most`.
    fn within(self, least: i64, most: i64) -> Self;
    /// Whether one of these bits is set.
    fn has(self, bits: u64) -> Self::Condition;
    /// One of two.
    fn choose(condition: Self::Condition, yes: Self, no: Self) -> Self;
}

impl Wide for f64 {
    type Condition = bool;
    type Word = u64;

    #[inline(always)]
    fn constant(self, x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn word(self) -> u64 {
        self.to_bits()
    }
    #[inline(always)]
    fn root(self) -> f64 {
        self.sqrt()
    }
    #[inline(always)]
    fn less(self, than: f64) -> bool {
        self < than
    }
    #[inline(always)]
    fn no_less(self, than: f64) -> bool {
        self >= than
    }
    #[inline(always)]
    fn equals(self, other: f64) -> bool {
        self == other
    }
    #[inline(always)]
    fn unordered(self, other: f64) -> bool {
        self.is_nan() | other.is_nan()
    }
    #[inline(always)]
    fn choose(condition: bool, yes: f64, no: f64) -> f64 {
        if condition { yes } else { no }
    }
}

impl Word for u64 {
    type Wide = f64;
    type Condition = bool;

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from_bits(self)
    }
    #[inline(always)]
    fn and(self, mask: u64) -> u64 {
        self & mask
    }
    #[inline(always)]
    fn or(self, bits: u64) -> u64 {
        self | bits
    }
    #[inline(always)]
    fn or_word(self, bits: u64) -> u64 {
        self | bits
    }
    #[inline(always)]
    fn flip(self, bits: u64) -> u64 {
        self ^ bits
    }
    #[inline(always)]
    fn plus(self, number: u64) -> u64 {
        self.wrapping_add(number)
    }
    #[inline(always)]
    fn left(self, by: u32) -> u64 {
        self << (by & 63)
    }
    #[inline(always)]
    fn right(self, by: u32) -> u64 {
        self >> (by & 63)
    }
    #[inline(always)]
    fn within(self, least: i64, most: i64) -> u64 {
        self.cast_signed().max(least).min(most).cast_unsigned()
    }
    #[inline(always)]
    fn has(self, bits: u64) -> bool {
        self & bits != 0
    }
    #[inline(always)]
    fn choose(condition: bool, yes: u64, no: u64) -> u64 {
        if condition { yes } else { no }
    }
}

/// Horner's scheme: the polynomial with these coefficients, constant term first.
#[inline(always)]
pub(crate) fn polynomial<W: Wide, const N: usize>(x: W, coefficients: [f64; N]) -> W {
    let mut sum = x * coefficients[N - 1] + coefficients[N - 2];
    for k in (0..N - 2).rev() {
        sum = sum * x + coefficients[k];
    }
    sum
}

/// 1.5 * 2^52: adding it leaves no bits for a fraction, and the sum's low mantissa bits are the integer in
/// two's complement.
pub(crate) const SHIFT: f64 = 6_755_399_441_055_744.0;

/// `x` rounded to the nearest integer (ties to even) for |x| < 2^51, and that integer modulo 2^12 in the low
/// bits of a word whose bit 12 to bit 50 are those of the integer too: shifted left by 52 it is the exponent
/// field of 2^n without its bias.
#[inline(always)]
pub(crate) fn round_to_word<W: Wide>(x: W) -> (W, W::Word) {
    let shifted = x + SHIFT;
    (shifted - SHIFT, shifted.word())
}

/// 2^n for the integer n in `word`'s low 12 bits (two's complement), -1022 <= n <= 1023.
#[inline(always)]
pub(crate) fn power_of_two<W: Word>(word: W) -> W::Wide {
    word.left(52).plus(1023 << 52).wide()
}
