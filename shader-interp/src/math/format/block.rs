//! Compressed formats: blocks of 4 x 4 texels, decoded one block at a time (*Compressed Image Formats*;
//! Khronos Data Format Specification, *S3TC*, *RGTC* and *BPTC Compressed Texture Image Formats*).

use super::codec::{from_byte, srgb_bytes};
use super::{FormatInfo, Numeric};
use crate::math::half;

/// Texels along each side of a block.
pub const SIDE: u32 = 4;
/// Texels of a block.
pub const TEXELS: usize = 16;

/// How a block is compressed.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Bc1,
    Bc2,
    Bc3,
    Bc4,
    Bc5,
    Bc6h,
    Bc7,
}

/// The index of a texel in its block.
#[inline(always)]
pub fn within([x, y]: [u32; 2]) -> u32 {
    y % SIDE * SIDE + x % SIDE
}

impl FormatInfo {
    /// Texels of a block along each axis (*texel block extent*); one if the format is not compressed.
    pub fn block(&self) -> [u32; 3] {
        if self.compression.is_some() { [SIDE, SIDE, 1] } else { [1; 3] }
    }

    /// Red, green, blue and alpha of a texel ([`within`]) of the block in `words`, as
    /// [`FormatInfo::decode_words`] has them; the texel in `words`, if the format is not compressed.
    pub fn decode_texel(&self, words: [u32; 4], within: u32) -> [u32; 4] {
        match self.compression {
            Some(compression) => self.decode_block(compression, words)[within as usize % TEXELS],
            None => self.decode_words(words),
        }
    }

    /// All texels of a block, row by row.
    pub fn decode_block(&self, compression: Compression, words: [u32; 4]) -> [[u32; 4]; TEXELS] {
        let mut block = [0; 16];
        for (bytes, word) in block.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let mut texels = [std::array::from_fn(|k| self.missing(k)); TEXELS];
        let signed = matches!(self.numeric, Numeric::Snorm | Numeric::Sfloat);
        match compression {
            Compression::Bc4 | Compression::Bc5 => {
                let count = usize::from(self.components);
                let mut values = [0f32; 2 * TEXELS];
                match count {
                    1 => bcdec_rs::bc4_float(&block, &mut values, SIDE as usize, signed),
                    _ => bcdec_rs::bc5_float(&block, &mut values, 2 * SIDE as usize, signed),
                }
                for (texel, from) in texels.iter_mut().zip(values.chunks_exact(count)) {
                    texel.iter_mut().zip(from).for_each(|(to, value)| *to = value.to_bits());
                }
            }
            Compression::Bc6h => {
                let mut values = [0u16; 3 * TEXELS];
                bcdec_rs::bc6h_half(&block, &mut values, 3 * SIDE as usize, signed);
                for (texel, from) in texels.iter_mut().zip(values.chunks_exact(3)) {
                    let floats = from.iter().map(|bits| half::to_f32(u32::from(*bits)).to_bits());
                    texel.iter_mut().zip(floats).for_each(|(to, value)| *to = value);
                }
            }
            Compression::Bc1 | Compression::Bc2 | Compression::Bc3 | Compression::Bc7 => {
                let mut values = [0u8; 4 * TEXELS];
                let decode = match compression {
                    Compression::Bc1 => bcdec_rs::bc1,
                    Compression::Bc2 => bcdec_rs::bc2,
                    Compression::Bc3 => bcdec_rs::bc3,
                    _ => bcdec_rs::bc7,
                };
                decode(&block, &mut values, 4 * SIDE as usize);
                let srgb = self.numeric == Numeric::Srgb;
                for (texel, from) in texels.iter_mut().zip(values.chunks_exact(4)) {
                    for k in (0..4).filter(|k| self.fields[*k].width > 0) {
                        let value = match srgb && k < 3 {
                            true => srgb_bytes()[usize::from(from[k])],
                            false => from_byte(from[k]),
                        };
                        texel[k] = value.to_bits();
                    }
                }
            }
        }
        texels
    }
}
