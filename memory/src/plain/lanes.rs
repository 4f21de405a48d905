//! Accesses of all lanes to one view: together where they follow a pattern, else one after the other.

use crate::access::{Access, AtomicOp};
use crate::raw;
use crate::system::{LANES, Lanes, Mask, MemoryView};
use std::sync::atomic::Ordering;

/// Whether lane `i` is at `offset[0] + i * stride` for all lanes.
#[inline(always)]
fn strided(offset: &Lanes, stride: u32) -> bool {
    let first = offset.0[0];
    let mut differs = 0;
    for i in 0..LANES {
        differs |= offset.0[i] ^ first.wrapping_add(stride.wrapping_mul(i as u32));
    }
    differs == 0
}

/// Whether the active lanes are all at `offset`.
#[inline(always)]
fn same(offset: &Lanes, first: u32, mask: Mask) -> bool {
    let mut differs = 0;
    for i in 0..LANES {
        let active = 0u32.wrapping_sub(mask >> i & 1);
        differs |= (offset.0[i] ^ first) & active;
    }
    differs == 0
}

/// Calls `f` for each active lane in ascending order.
#[inline(always)]
pub(super) fn each(mask: Mask, mut f: impl FnMut(usize)) {
    let mut left = mask;
    while left != 0 {
        f(left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

#[inline(always)]
fn component(out: &mut [Lanes], k: usize, size: u8, lane: usize, value: u64) {
    if size == 8 {
        out[2 * k].0[lane] = value as u32;
        out[2 * k + 1].0[lane] = (value >> 32) as u32;
    } else {
        out[k].0[lane] = value as u32;
    }
}

#[inline(always)]
pub(super) fn component_of(value: &[Lanes], k: usize, size: u8, lane: usize) -> u64 {
    if size == 8 {
        u64::from(value[2 * k].0[lane]) | u64::from(value[2 * k + 1].0[lane]) << 32
    } else {
        u64::from(value[k].0[lane])
    }
}

/// Words of a lane's access where all components are made of words.
#[inline(always)]
fn words(access: &Access) -> Option<usize> {
    match access.size {
        4 => Some(usize::from(access.components)),
        8 => Some(2 * usize::from(access.components)),
        _ => None,
    }
}

/// Most words that lanes load together: a mat4 or 16 components of 32 bits.
pub(super) const MOST: usize = 16;

/// Where lanes that do not all access consecutive words find theirs: each half of the subgroup may still be consecutive or equal.
#[inline(always)]
fn load_halves(view: &MemoryView, effective: &[u32; LANES], out: &mut [u32; LANES]) -> bool {
    const HALF: usize = LANES / 2;
    for (offsets, out) in effective.as_chunks::<HALF>().0.iter().zip(out.as_chunks_mut::<HALF>().0) {
        let first = offsets[0];
        let (mut unequal, mut gaps) = (0, 0);
        for (j, offset) in offsets.iter().enumerate() {
            unequal |= offset ^ first;
            gaps |= offset ^ first.wrapping_add(4 * j as u32);
        }
        let done = if unequal == 0 {
            raw::load(view, u64::from(first), 4, Ordering::Relaxed)
                .map(|word| out.fill(word as u32))
                .is_some()
        } else if gaps == 0 && first <= u32::MAX - 4 * HALF as u32 {
            raw::copy_words_out(view, u64::from(first), out)
        } else {
            raw::gather_words(view, offsets, out)
        };
        if !done {
            return false;
        }
    }
    true
}

/// Loads of 32-bit components; false if some are out of bounds or not aligned.
#[inline(always)]
fn load_words(
    view: &MemoryView,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    components: usize,
    out: &mut [Lanes],
) -> bool {
    let first = mask.trailing_zeros() as usize % LANES;
    let stride = 4 * components as u32;
    let origin = offset.0[first].wrapping_add(immediate);
    let start = origin.wrapping_sub(stride.wrapping_mul(first as u32));
    // Inactive lanes do as the first active one does.
    let mut effective = [0; LANES];
    let (mut unequal, mut gaps) = (0, 0);
    for j in 0..LANES {
        let active = 0u32.wrapping_sub(mask >> j & 1);
        let at = (offset.0[j].wrapping_add(immediate) & active) | (origin & !active);
        effective[j] = at;
        unequal |= at ^ origin;
        gaps |= (at ^ start.wrapping_add(stride.wrapping_mul(j as u32))) & active;
    }
    if gaps == 0 && mask & (mask - 1) != 0 {
        let end = u64::from(start) + u64::from(stride) * LANES as u64;
        if end <= view.size && end <= 1 << 32 {
            if components == 1 {
                return raw::copy_words_out(view, u64::from(start), &mut out[0].0);
            }
            load_interleaved(view, u64::from(start), components, out);
            return true;
        }
    }
    if unequal == 0 {
        for (k, lanes) in out.iter_mut().enumerate().take(components) {
            let word = raw::load(view, u64::from(origin) + 4 * k as u64, 4, Ordering::Relaxed);
            *lanes = Lanes([word.unwrap_or(0) as u32; LANES]);
        }
        return true;
    }
    for (k, lanes) in out.iter_mut().enumerate().take(components) {
        if k > 0 {
            // No component of a lane wraps around: it would be out of bounds.
            if effective.iter().any(|at| *at > u32::MAX - 4) {
                return false;
            }
            effective.iter_mut().for_each(|at| *at += 4);
        }
        let done = if components == 1 {
            load_halves(view, &effective, &mut lanes.0)
        } else {
            raw::gather_words(view, &effective, &mut lanes.0)
        };
        if !done {
            return false;
        }
    }
    true
}

#[inline(always)]
pub(super) fn load_view(
    view: &MemoryView,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    out: &mut [Lanes],
) {
    if access.atomic.is_none() && access.size == 4 && mask != 0 {
        if load_words(view, offset, immediate, mask, usize::from(access.components), out) {
            return;
        }
    } else if access.atomic.is_none()
        && let Some(n) = words(access)
    {
        let base = u64::from(offset.0[0].wrapping_add(immediate));
        if n <= MOST && mask == Mask::MAX && strided(offset, 4 * n as u32) {
            let end = base + 4 * (n * LANES) as u64;
            if end <= view.size && end <= 1 << 32 {
                if n == 1 {
                    raw::copy_words_out(view, base, &mut out[0].0);
                } else {
                    load_interleaved(view, base, n, out);
                }
                return;
            }
        }
        let first = offset.0[mask.trailing_zeros() as usize % LANES];
        if same(offset, first, mask) {
            let at = first.wrapping_add(immediate);
            for (k, lanes) in out.iter_mut().enumerate().take(n) {
                let word = u64::from(at) + 4 * k as u64;
                // A component is in bounds as a whole.
                let size = u64::from(access.size);
                let start = u64::from(at) + (4 * k as u64) / size * size;
                let inside = start + size <= view.size;
                let value = if inside { raw::load(view, word, 4, Ordering::Relaxed) } else { None };
                *lanes = Lanes([value.unwrap_or(0) as u32; LANES]);
            }
            return;
        }
    }
    load_each(view, offset, immediate, mask, access, out);
}

#[inline(never)]
fn load_each(
    view: &MemoryView,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    out: &mut [Lanes],
) {
    let ordering = if access.atomic.is_some() { Ordering::Acquire } else { Ordering::Relaxed };
    each(mask, |lane| {
        let at = offset.0[lane].wrapping_add(immediate);
        for k in 0..usize::from(access.components) {
            let at = u64::from(at) + k as u64 * u64::from(access.size);
            let value = raw::load(view, at, access.size, ordering).unwrap_or(0);
            component(out, k, access.size, lane, value);
        }
    });
}

#[inline(never)]
fn load_interleaved(view: &MemoryView, base: u64, n: usize, out: &mut [Lanes]) {
    let mut block = [0u32; MOST * LANES];
    let block = &mut block[..n * LANES];
    if raw::copy_words_out(view, base, block) {
        for (k, lanes) in out.iter_mut().enumerate().take(n) {
            for i in 0..LANES {
                lanes.0[i] = block[i * n + k];
            }
        }
    }
}

#[inline(never)]
fn store_interleaved(view: &MemoryView, base: u64, n: usize, value: &[Lanes]) {
    let mut block = [0u32; MOST * LANES];
    let block = &mut block[..n * LANES];
    for (k, lanes) in value.iter().enumerate().take(n) {
        for i in 0..LANES {
            block[i * n + k] = lanes.0[i];
        }
    }
    raw::copy_words_in(view, base, block);
}

#[inline(always)]
pub(super) fn store_view(
    view: &MemoryView,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    value: &[Lanes],
) {
    if access.atomic.is_none()
        && mask == Mask::MAX
        && let Some(n) = words(access)
        && n <= MOST
        && strided(offset, 4 * n as u32)
    {
        let base = u64::from(offset.0[0].wrapping_add(immediate));
        let end = base + 4 * (n * LANES) as u64;
        if end <= view.size && end <= 1 << 32 {
            if n == 1 {
                raw::copy_words_in(view, base, &value[0].0);
            } else {
                store_interleaved(view, base, n, value);
            }
            return;
        }
    }
    if access.atomic.is_none() && mask == Mask::MAX && access.size == 4 && access.components == 1 {
        let effective = offset.0.map(|at| at.wrapping_add(immediate));
        if raw::scatter_words(view, &effective, &value[0].0) {
            return;
        }
    }
    store_each(view, offset, immediate, mask, access, value);
}

#[inline(never)]
fn store_each(
    view: &MemoryView,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    value: &[Lanes],
) {
    let ordering = if access.atomic.is_some() { Ordering::Release } else { Ordering::Relaxed };
    each(mask, |lane| {
        let at = offset.0[lane].wrapping_add(immediate);
        for k in 0..usize::from(access.components) {
            let at = u64::from(at) + k as u64 * u64::from(access.size);
            raw::store(view, at, access.size, component_of(value, k, access.size, lane), ordering);
        }
    });
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn modify_view(
    view: &MemoryView,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    op: AtomicOp,
    value: &[Lanes],
    comparator: Option<&[Lanes]>,
    out: &mut [Lanes],
) {
    let first = offset.0[mask.trailing_zeros() as usize % LANES];
    if op == AtomicOp::IAdd && access.size == 4 && same(offset, first, mask) {
        // All lanes add to one word: one addition of the sum, and each lane sees what the lanes before it added.
        let mut sum = 0u32;
        let mut before = Lanes::ZERO;
        for i in 0..LANES {
            before.0[i] = sum;
            let active = 0u32.wrapping_sub(mask >> i & 1);
            sum = sum.wrapping_add(value[0].0[i] & active);
        }
        let at = u64::from(first.wrapping_add(immediate));
        let old = raw::read_modify_write(view, at, 4, op, u64::from(sum), 0);
        for i in 0..LANES {
            out[0].0[i] = old.map_or(0, |old| (old as u32).wrapping_add(before.0[i]));
        }
        return;
    }
    each(mask, |lane| {
        let at = u64::from(offset.0[lane].wrapping_add(immediate));
        let operand = component_of(value, 0, access.size, lane);
        let expected = comparator.map_or(0, |c| component_of(c, 0, access.size, lane));
        let old = raw::read_modify_write(view, at, access.size, op, operand, expected).unwrap_or(0);
        component(out, 0, access.size, lane, old);
    });
}

/// Workgroup memory belongs to one thread: no locked instructions.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn modify_own(
    view: &MemoryView,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    op: AtomicOp,
    value: &[Lanes],
    comparator: Option<&[Lanes]>,
    out: &mut [Lanes],
) {
    let size = access.size;
    each(mask, |lane| {
        let at = u64::from(offset.0[lane].wrapping_add(immediate));
        let old = raw::load(view, at, size, Ordering::Relaxed);
        if let Some(old) = old {
            let operand = component_of(value, 0, size, lane);
            let expected = comparator.map_or(0, |c| component_of(c, 0, size, lane));
            raw::store(view, at, size, raw::apply(op, size, old, operand, expected), Ordering::Relaxed);
        }
        component(out, 0, size, lane, old.unwrap_or(0));
    });
}
