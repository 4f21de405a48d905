//! How the components of an access lie in words.

use crate::access::Access;
use crate::system::Lanes;

/// The whole words that an access has if it is aligned to them: of 64-bit components two for each, of two
/// 16-bit components, or four bytes, one. 0: it has parts of words.
#[inline(always)]
pub(super) fn words(access: &Access) -> u64 {
    let (components, plain) = (u64::from(access.components), access.atomic.is_none());
    match access.size {
        4 => components,
        8 => 2 * components,
        1 | 2 if plain && components.is_multiple_of(per_word(access) as u64) => {
            components / per_word(access) as u64
        }
        _ => 0,
    }
}

/// How many components of an access, one at least, share a word if it is aligned to words.
#[inline(always)]
pub(super) fn per_word(access: &Access) -> usize {
    (4 / usize::from(access.size)).max(1)
}

/// Whether the parts of the words that an access has are told apart: its components do not fill words.
#[inline(always)]
pub(super) fn by_parts(access: &Access) -> bool {
    access.size <= 2 && access.atomic.is_none() && words(access) == 0
}

/// Word `k` of a lane's value, that has so many components for each.
#[inline(always)]
pub(super) fn word(value: &[Lanes], per_word: usize, k: usize, lane: usize) -> u32 {
    match per_word {
        2 => value[2 * k].0[lane] & 0xffff | value[2 * k + 1].0[lane] << 16,
        4 => u32::from_le_bytes(std::array::from_fn(|byte| value[4 * k + byte].0[lane] as u8)),
        _ => value[k].0[lane],
    }
}
