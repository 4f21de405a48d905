//! Runs of bytes that the application changed, from the bits of those that are not as they were.

use std::ops::Range;

/// Bytes that did not change and count as written then, at most.
pub(super) const BETWEEN: u64 = 3;

/// The bits, and those of up to [`BETWEEN`] in a row that lie between them.
pub(super) fn filled(bits: u64) -> u64 {
    let near = bits | bits << 1 | bits << 2 | bits << 3;
    bits | (near & near >> 1 & near >> 2 & near >> 3)
}

/// Adds a run behind those that are there; to the last one, where so few bytes or less are between them.
pub(super) fn append(runs: &mut Vec<Range<u64>>, run: Range<u64>, between: u64) {
    match runs.last_mut() {
        Some(last) if last.end + between >= run.start => last.end = last.end.max(run.end),
        _ => runs.push(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::runs;

    #[test]
    fn less_than_a_word_between_bits_is_filled() {
        for (bits, expected) in [
            (0, 0),
            (1, 1),
            (u64::MAX, u64::MAX),
            (0x7777_7777_7777_7777, u64::MAX >> 1),
            (0x0707_0707_0707_0707, 0x0707_0707_0707_0707),
            (0b1_0001, 0b1_1111),
            (0b10_0001, 0b10_0001),
            // What is behind the last bit is not known here.
            (1 << 63 | 1 << 60, 1 << 63 | 1 << 60),
        ] {
            assert_eq!(filled(bits), expected, "{bits:#x}");
            assert!(runs(bits).all(|(start, end)| end <= 64 && bits >> start & 1 != 0), "{bits:#x}");
            let set: u32 = runs(bits).map(|(start, end)| end - start).sum();
            assert_eq!(set, bits.count_ones(), "{bits:#x}");
        }
    }
}
