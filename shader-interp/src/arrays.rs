//! Arrays that are made element by element.

use pellucid_memory::system::{LANES, Mask};

/// An array by its indices. A loop: the closures of `array::from_fn` and `array::map` are not always compiled
/// for the instructions of the function around them.
#[inline(always)]
pub(crate) fn each<T: Copy + Default, const N: usize>(of: impl Fn(usize) -> T) -> [T; N] {
    let mut all = [T::default(); N];
    for (j, one) in all.iter_mut().enumerate() {
        *one = of(j);
    }
    all
}

/// Of two words for each lane the first one, where the mask has it.
#[inline(always)]
pub(crate) fn blend(mask: Mask, yes: &[u32; LANES], no: &[u32; LANES]) -> [u32; LANES] {
    each(|j| if mask & 1 << j != 0 { yes[j] } else { no[j] })
}
