//! Texels of all lanes to components and back: [`FormatInfo::component`] and [`FormatInfo::encode_words`]
//! with the choice of the conversion outside the loop over lanes.

use crate::math::format::block::Compression;
use crate::math::format::{self, FormatInfo, Numeric};
use crate::math::{half, pack, single};
use pellucid_memory::system::{LANES, Lanes};

/// Registers that a texel's words fill: 64-bit words fill two.
#[inline(always)]
pub(super) fn word_count(info: &FormatInfo) -> usize {
    if info.is_64_bit() { 2 } else { info.units() as usize }
}

/// Words that were loaded one for each [`FormatInfo::unit`] to the words of texels.
#[inline(always)]
pub(super) fn join(info: &FormatInfo, words: &mut [Lanes; 4]) {
    if info.units() == 1 || info.unit >= 4 {
        return;
    }
    let units = std::mem::replace(words, [Lanes::ZERO; 4]);
    let unit = usize::from(info.unit);
    for (k, from) in units.iter().enumerate().take(info.units().into()) {
        let at = k * unit;
        for lane in 0..LANES {
            words[at / 4].0[lane] |= from.0[lane] << (at % 4 * 8);
        }
    }
}

#[inline(always)]
fn each(from: &Lanes, to: &mut Lanes, f: impl Fn(u32) -> u32) {
    for lane in 0..LANES {
        to.0[lane] = f(from.0[lane]);
    }
}

/// Component `k` of the texels in `words`, whose format is not compressed.
#[inline(always)]
pub(super) fn decode(info: &FormatInfo, words: &[Lanes; 4], k: usize, out: &mut Lanes) {
    let field = info.fields[k];
    if field.width == 0 {
        *out = Lanes([info.missing(k); LANES]);
        return;
    }
    let word = &words[field.offset as usize / 32];
    let shift = field.offset as u32 % 32;
    let unused = 32 - (field.width as u32).min(32);
    let bits = move |w: u32| (w >> shift) & (u32::MAX >> unused);
    let signed = move |w: u32| ((w << (unused - shift)) as i32) >> unused;
    match info.numeric {
        Numeric::Uint => each(word, out, bits),
        Numeric::Sint => each(word, out, |w| signed(w) as u32),
        Numeric::Sfloat if field.width == 32 => *out = *word,
        Numeric::Sfloat => each(word, out, |w| half::to_f32(bits(w)).to_bits()),
        Numeric::Unorm if field.width == 8 => {
            each(word, out, |w| pack::from_unorm_byte(bits(w)).to_bits());
        }
        Numeric::Unorm => {
            let largest = (u32::MAX >> unused) as f32;
            each(word, out, |w| pack::from_unorm(bits(w), largest).to_bits());
        }
        Numeric::Snorm => {
            let largest = (u32::MAX >> (unused + 1)) as f32;
            each(word, out, |w| pack::from_snorm(signed(w), largest).to_bits());
        }
        Numeric::Uscaled => each(word, out, |w| (bits(w) as f32).to_bits()),
        Numeric::Sscaled => each(word, out, |w| (signed(w) as f32).to_bits()),
        Numeric::Ufloat => {
            let up = 15 - field.width as u32;
            each(word, out, |w| half::to_f32(bits(w) << up).to_bits());
        }
        Numeric::Srgb if k == 3 => each(word, out, |w| pack::from_unorm(bits(w), 255.0).to_bits()),
        Numeric::Srgb => {
            let table = format::srgb_bytes();
            each(word, out, |w| table[bits(w) as usize & 0xff].to_bits());
        }
        Numeric::SharedExponent => {
            each(word, out, |w| single::ldexp(bits(w) as f32, (w >> 27) as i32 - 24).to_bits());
        }
    }
}

/// The components of a texel of each lane, of the compressed blocks in `words`; `within` says which texel.
pub(super) fn decode_blocks(
    info: &FormatInfo,
    compression: Compression,
    words: &[Lanes; 4],
    within: &Lanes,
    out: &mut [Lanes; 4],
) {
    let block = |lane: usize| words.map(|word| word.0[lane]);
    let mut texels = info.decode_block(compression, block(0));
    for lane in 0..LANES {
        // Texels side by side have most often one block.
        if lane > 0 && block(lane) != block(lane - 1) {
            texels = info.decode_block(compression, block(lane));
        }
        let texel = texels[within.0[lane] as usize % texels.len()];
        for (to, component) in out.iter_mut().zip(texel) {
            to.0[lane] = component;
        }
    }
}

/// The words of texels with these components; components that are not given are 0.
pub(super) fn encode(info: &FormatInfo, components: &[&Lanes], words: &mut [Lanes; 4]) {
    if info.is_64_bit() {
        for k in 0..2 {
            words[k] = components.get(k).map_or(Lanes::ZERO, |lanes| **lanes);
        }
        return;
    }
    let alone = [Numeric::SharedExponent, Numeric::Srgb, Numeric::Ufloat, Numeric::Uscaled, Numeric::Sscaled];
    if alone.contains(&info.numeric) {
        for lane in 0..LANES {
            let value = std::array::from_fn(|k| components.get(k).map_or(0, |lanes| lanes.0[lane]));
            let texel = info.encode_words(value);
            for k in 0..4 {
                words[k].0[lane] = texel[k];
            }
        }
        return;
    }
    for (field, component) in info.fields.iter().zip(components) {
        if field.width == 0 {
            continue;
        }
        let word = &mut words[field.offset as usize / 32];
        let shift = field.offset as u32 % 32;
        let ones = u32::MAX >> (32 - field.width as u32);
        let mut bits = Lanes::ZERO;
        match info.numeric {
            Numeric::Uint | Numeric::Sint => each(component, &mut bits, |c| c & ones),
            Numeric::Sfloat if field.width == 32 => bits = **component,
            Numeric::Sfloat => each(component, &mut bits, |c| half::from_f32(f32::from_bits(c))),
            Numeric::Snorm => {
                let largest = (ones >> 1) as f32;
                each(component, &mut bits, |c| pack::to_snorm(f32::from_bits(c), largest) as u32 & ones);
            }
            _ => {
                let largest = ones as f32;
                each(component, &mut bits, |c| pack::to_unorm(f32::from_bits(c), largest));
            }
        }
        for lane in 0..LANES {
            word.0[lane] |= bits.0[lane] << shift;
        }
    }
}
