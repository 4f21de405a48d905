//! Lanes one at a time, and their components: values of up to 32 bits in one register, those of 64 bits as
//! low and high word in two.

use crate::system::{Lanes, Mask};

/// Calls `f` for each active lane in ascending order.
#[inline(always)]
pub(crate) fn each(mask: Mask, mut f: impl FnMut(usize)) {
    let mut left = mask;
    while left != 0 {
        f(left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

/// Gives a lane its component `k` of `size` bytes.
#[inline(always)]
pub(crate) fn put(out: &mut [Lanes], k: usize, size: usize, lane: usize, value: u64) {
    if size == 8 {
        out[2 * k].0[lane] = value as u32;
        out[2 * k + 1].0[lane] = (value >> 32) as u32;
    } else {
        out[k].0[lane] = value as u32;
    }
}

/// A lane's component `k` of `size` bytes.
#[inline(always)]
pub(crate) fn get(value: &[Lanes], k: usize, size: usize, lane: usize) -> u64 {
    if size == 8 {
        u64::from(value[2 * k].0[lane]) | u64::from(value[2 * k + 1].0[lane]) << 32
    } else {
        u64::from(value[k].0[lane])
    }
}
