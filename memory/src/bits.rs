//! Words of bits.

/// The runs of bits that are set, in order: the first, and the one behind the last.
#[inline(always)]
pub(crate) fn runs(mut bits: u64) -> impl Iterator<Item = (u32, u32)> {
    std::iter::from_fn(move || {
        let start = bits.trailing_zeros();
        let end = start + bits.checked_shr(start)?.trailing_ones();
        bits &= u64::MAX.unbounded_shl(end);
        Some((start, end))
    })
}
