//! Texels to components and back.

use super::{FormatInfo, Numeric};
use crate::math::{half, pack, single};
use std::sync::LazyLock;

/// The largest unsigned integer of `width` bits.
#[inline(always)]
fn largest(width: u8) -> u32 {
    u32::MAX >> (32 - width as u32)
}

/// The bits of component `k` in the texel's words.
#[inline(always)]
fn field(info: &FormatInfo, words: &[u32; 4], k: usize) -> u32 {
    let f = info.fields[k];
    (words[f.offset as usize / 32] >> (f.offset % 32)) & largest(f.width)
}

#[inline(always)]
fn signed(bits: u32, width: u8) -> i32 {
    let unused = 32 - width as u32;
    ((bits << unused) as i32) >> unused
}

/// sRGB to linear, c in [0, 1].
fn srgb_to_linear(c: f32) -> f32 {
    if c <= 0.04045 { c / 12.92 } else { single::pow((c + 0.055) / 1.055, 2.4) }
}

/// A byte as an unsigned normalized value.
pub(super) fn from_byte(byte: u8) -> f32 {
    pack::from_unorm(u32::from(byte), 255.0)
}

/// [`srgb_to_linear`] of every byte.
pub(crate) fn srgb_bytes() -> &'static [f32; 256] {
    static TABLE: LazyLock<[f32; 256]> =
        LazyLock::new(|| std::array::from_fn(|byte| srgb_to_linear(from_byte(byte as u8))));
    &TABLE
}

/// Linear to sRGB; the argument is limited to [0, 1].
fn linear_to_srgb(c: f32) -> f32 {
    let c = single::f_clamp(c, 0.0, 1.0);
    if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * single::pow(c, 1.0 / 2.4) - 0.055 }
}

/// The integer nearest to a number, limited to a range; 0 for a NaN.
fn scaled(x: f32, low: f32, high: f32) -> i32 {
    if x.is_nan() { 0 } else { single::round_even(single::f_clamp(x, low, high)) as i32 }
}

/// A float to `fraction` bits of fraction and 5 of exponent without a sign, rounded to nearest even; negative
/// numbers become 0.
fn to_ufloat(x: f32, fraction: u32) -> u32 {
    if x.is_nan() {
        return (0x1f << fraction) | (1 << (fraction - 1));
    }
    if x <= 0.0 {
        return 0;
    }
    let shift = 23 - fraction;
    let bits = x.to_bits();
    let infinity = 0x1f << fraction;
    if bits < 113 << 23 {
        // A denormal: whole multiples of 2^(-14 - fraction).
        return single::round_even(single::ldexp(x, 14 + fraction as i32)) as u32;
    }
    let odd = (bits >> shift) & 1;
    let rounded = (bits as u64 + (1 << (shift - 1)) - 1 + odd as u64 - (112 << 23)) >> shift;
    if x == f32::INFINITY { infinity } else { (rounded as u32).min(infinity) }
}

/// E5B9G9R9: three fractions of 9 bits and a common exponent, bias 15 (*RGB to Shared Exponent Conversion*).
fn to_shared_exponent(c: [f32; 3]) -> u32 {
    // (2^9 - 1) / 2^9 * 2^(31 - 15)
    const LARGEST: f32 = 65408.0;
    let c = c.map(|x| single::f_clamp(if x.is_nan() { 0.0 } else { x }, 0.0, LARGEST));
    let highest = c[0].max(c[1]).max(c[2]);
    let floor_log2 = single::frexp(highest).1 - 1;
    let preliminary = if highest == 0.0 { 0 } else { (floor_log2 + 16).max(0) };
    let whole = |x: f32, exponent: i32| single::floor(single::ldexp(x, 15 + 9 - exponent) + 0.5) as u32;
    let exponent = if whole(highest, preliminary) == 512 { preliminary + 1 } else { preliminary };
    whole(c[0], exponent)
        | (whole(c[1], exponent) << 9)
        | (whole(c[2], exponent) << 18)
        | ((exponent as u32) << 27)
}

impl FormatInfo {
    /// The word that component `k` (0 red .. 3 alpha) reads as if the format lacks it.
    #[inline(always)]
    pub fn missing(&self, k: usize) -> u32 {
        let one = if self.numeric.is_integer() { 1 } else { 1.0f32.to_bits() };
        if k == 3 { one } else { 0 }
    }

    /// Component `k` of the texel in `words`: bits of a 32-bit float, or an integer (sign-extended). Not for
    /// 64-bit formats.
    #[inline(always)]
    pub fn component(&self, words: &[u32; 4], k: usize) -> u32 {
        let width = self.fields[k].width;
        if width == 0 {
            return self.missing(k);
        }
        let bits = field(self, words, k);
        let value = match self.numeric {
            Numeric::Uint => return bits,
            Numeric::Sint => return signed(bits, width) as u32,
            Numeric::Sfloat if width == 32 => return bits,
            Numeric::Sfloat => half::to_f32(bits),
            Numeric::Uscaled => bits as f32,
            Numeric::Sscaled => signed(bits, width) as f32,
            Numeric::Unorm => pack::from_unorm(bits, largest(width) as f32),
            Numeric::Snorm => pack::from_snorm(signed(bits, width), largest(width - 1) as f32),
            Numeric::Ufloat => half::to_f32(bits << (15 - width)),
            // Bias 15, 9 bits of fraction.
            Numeric::SharedExponent => single::ldexp(bits as f32, (words[0] >> 27) as i32 - 24),
            Numeric::Srgb if k == 3 => pack::from_unorm(bits, 255.0),
            Numeric::Srgb => srgb_bytes()[bits as usize & 0xff],
        };
        value.to_bits()
    }

    /// Red, green, blue and alpha of the texel in `words` (its bytes, least significant first). For 64-bit
    /// formats the two words of red, then zeros. Not for compressed formats ([`FormatInfo::decode_texel`]).
    pub fn decode_words(&self, words: [u32; 4]) -> [u32; 4] {
        if self.is_64_bit() {
            return [words[0], words[1], 0, 0];
        }
        [
            self.component(&words, 0),
            self.component(&words, 1),
            self.component(&words, 2),
            self.component(&words, 3),
        ]
    }

    /// Inverse of [`FormatInfo::decode_words`], rounded to nearest; integers keep their low bits. Bits that
    /// the format does not use are 0. Not for compressed formats: no feature
    /// of theirs writes texels.
    pub fn encode_words(&self, value: [u32; 4]) -> [u32; 4] {
        if self.is_64_bit() {
            return [value[0], value[1], 0, 0];
        }
        let number = |k: usize| f32::from_bits(value[k]);
        if self.numeric == Numeric::SharedExponent {
            return [to_shared_exponent([number(0), number(1), number(2)]), 0, 0, 0];
        }
        let mut words = [0; 4];
        for (k, f) in self.fields.into_iter().enumerate() {
            if f.width == 0 {
                continue;
            }
            let bits = match self.numeric {
                Numeric::Uint | Numeric::Sint => value[k],
                Numeric::Sfloat if f.width == 32 => value[k],
                Numeric::Sfloat => half::from_f32(number(k)),
                Numeric::Snorm => pack::to_snorm(number(k), largest(f.width - 1) as f32) as u32,
                Numeric::Uscaled => scaled(number(k), 0.0, largest(f.width) as f32) as u32,
                Numeric::Sscaled => {
                    let high = largest(f.width - 1) as f32;
                    scaled(number(k), -high - 1.0, high) as u32
                }
                Numeric::Ufloat => to_ufloat(number(k), f.width as u32 - 5),
                Numeric::Srgb if k < 3 => pack::to_unorm(linear_to_srgb(number(k)), 255.0),
                Numeric::Unorm | Numeric::Srgb | Numeric::SharedExponent => {
                    pack::to_unorm(number(k), largest(f.width) as f32)
                }
            };
            words[f.offset as usize / 32] |= (bits & largest(f.width)) << (f.offset % 32);
        }
        words
    }

    /// [`FormatInfo::decode_texel`] of a texel's or block's bytes; bytes that are not there are 0.
    pub fn decode(&self, bytes: &[u8], within: u32) -> [u32; 4] {
        let mut words = [0; 4];
        for (index, &byte) in bytes.iter().take(self.texel_bytes as usize).enumerate() {
            words[index / 4] |= (byte as u32) << (index % 4 * 8);
        }
        self.decode_texel(words, within)
    }

    /// [`FormatInfo::encode_words`] as bytes: the first [`FormatInfo::texel_bytes`] of the array.
    pub fn encode(&self, value: [u32; 4]) -> [u8; 16] {
        let words = self.encode_words(value);
        let mut bytes = [0; 16];
        for (index, byte) in bytes.iter_mut().take(self.texel_bytes as usize).enumerate() {
            *byte = (words[index / 4] >> (index % 4 * 8)) as u8;
        }
        bytes
    }
}
