//! Accesses of all lanes to one view: together where they follow a pattern, else one after the other.

use crate::access::{Access, AtomicOp};
use crate::component::{each, get, put};
use crate::raw::{self, Component};
use crate::system::{LANES, Lanes, Mask, MemoryView};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// Most words that lanes access together: a mat4 or 16 components of 32 bits.
pub(super) const MOST: usize = 16;

/// Where the lanes' accesses of `stride` bytes begin, and how they lie.
struct Offsets {
    /// Inactive lanes are where the first active one is.
    all: [u32; LANES],
    /// Of the first active lane.
    first: u32,
    /// All active lanes are at the same place.
    equal: bool,
    /// Of lane 0, if active lanes follow one another and there are several.
    start: Option<u32>,
    stride: u32,
}

impl Offsets {
    /// `mask` is not zero.
    #[inline(always)]
    fn new(offset: &Lanes, immediate: u32, mask: Mask, stride: u32) -> Offsets {
        let lane = mask.trailing_zeros() as usize % LANES;
        let first = offset.0[lane].wrapping_add(immediate);
        let start = first.wrapping_sub(stride.wrapping_mul(lane as u32));
        let mut all = [0; LANES];
        let (mut unequal, mut gaps) = (0, 0);
        for (j, to) in all.iter_mut().enumerate() {
            let active = 0u32.wrapping_sub(mask >> j & 1);
            let at = (offset.0[j].wrapping_add(immediate) & active) | (first & !active);
            *to = at;
            unequal |= at ^ first;
            gaps |= (at ^ start.wrapping_add(stride.wrapping_mul(j as u32))) & active;
        }
        let follow = gaps == 0 && mask & (mask - 1) != 0;
        Offsets { all, first, equal: unequal == 0, start: follow.then_some(start), stride }
    }

    /// Where the bytes of all lanes begin, if they follow one another and are all in bounds.
    #[inline(always)]
    fn block(&self, view: &MemoryView<'_>) -> Option<u64> {
        let start = u64::from(self.start?);
        let end = start + u64::from(self.stride) * LANES as u64;
        (end <= view.size() && end <= 1 << 32).then_some(start)
    }
}

/// Calls a function for components of so many bytes.
macro_rules! sized {
    ($size:expr, $function:ident($($argument:expr),*)) => {
        match $size {
            1 => $function::<AtomicU8>($($argument),*),
            2 => $function::<AtomicU16>($($argument),*),
            4 => $function::<AtomicU32>($($argument),*),
            _ => $function::<AtomicU64>($($argument),*),
        }
    };
}

/// Loads for the active lanes. What is out of bounds reads zero.
#[inline(always)]
pub(crate) fn load_view(
    view: &MemoryView<'_>,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    out: &mut [Lanes],
) {
    if mask == 0 {
        return;
    }
    let (size, components) = (usize::from(access.size), usize::from(access.components));
    let at = Offsets::new(offset, immediate, mask, (size * components) as u32);
    let words = size * components / 4;
    if access.atomic.is_none()
        && size >= 4
        && words <= MOST
        && let Some(start) = at.block(view)
    {
        match words {
            1 => _ = raw::copy_words_out(view, start, &mut out[0].0),
            2 => load_pairs(view, start, out),
            _ => load_interleaved(view, start, words, out),
        }
        return;
    }
    if at.equal {
        let ordering = if access.atomic.is_some() { Ordering::Acquire } else { Ordering::Relaxed };
        for k in 0..components {
            let here = u64::from(at.first) + (k * size) as u64;
            let value = raw::load(view, here, access.size, ordering).unwrap_or(0);
            let (low, high) = (Lanes([value as u32; LANES]), Lanes([(value >> 32) as u32; LANES]));
            if size == 8 {
                (out[2 * k], out[2 * k + 1]) = (low, high);
            } else {
                out[k] = low;
            }
        }
        return;
    }
    if access.atomic.is_none() && size == 4 && components == 1 && load_halves(view, &at.all, &mut out[0].0) {
        return;
    }
    for k in 0..components {
        sized!(size, load_component(view, &at.all, k, mask, out));
    }
    if access.atomic.is_some() {
        fence(Ordering::Acquire);
    }
}

/// Where lanes that do not all access consecutive words find theirs: each half of the subgroup may still be
/// consecutive or equal.
#[inline(always)]
fn load_halves(view: &MemoryView<'_>, offsets: &[u32; LANES], out: &mut [u32; LANES]) -> bool {
    const HALF: usize = LANES / 2;
    for (offsets, out) in offsets.as_chunks::<HALF>().0.iter().zip(out.as_chunks_mut::<HALF>().0) {
        let first = offsets[0];
        let (mut unequal, mut gaps) = (0, 0);
        for (j, offset) in offsets.iter().enumerate() {
            unequal |= offset ^ first;
            gaps |= offset ^ first.wrapping_add(4 * j as u32);
        }
        let done = if unequal == 0 {
            let word = raw::load(view, u64::from(first), 4, Ordering::Relaxed);
            *out = [word.unwrap_or(0) as u32; HALF];
            word.is_some()
        } else if gaps == 0 && first <= u32::MAX - 4 * HALF as u32 {
            raw::copy_words_out(view, u64::from(first), out)
        } else if let Some(spots) = raw::spots::<AtomicU32, HALF>(view, offsets, 0) {
            for (j, word) in out.iter_mut().enumerate() {
                *word = spots.at(j).load(Ordering::Relaxed);
            }
            true
        } else {
            false
        };
        if !done {
            return false;
        }
    }
    true
}

/// Loads component `k` of the active lanes, each from its own place.
#[inline(always)]
fn load_component<T: Component>(
    view: &MemoryView<'_>,
    offsets: &[u32; LANES],
    k: usize,
    mask: Mask,
    out: &mut [Lanes],
) {
    let size = size_of::<T>();
    let skip = (k * size) as u32;
    if let Some(spots) = raw::spots::<T, LANES>(view, offsets, skip) {
        for lane in 0..LANES {
            put(out, k, size, lane, spots.at(lane).get(Ordering::Relaxed));
        }
    } else {
        load_outside(view, offsets, (k, size), mask, out);
    }
}

/// Loads a component of which some are out of bounds or not aligned.
#[cold]
fn load_outside(
    view: &MemoryView<'_>,
    offsets: &[u32; LANES],
    (k, size): (usize, usize),
    mask: Mask,
    out: &mut [Lanes],
) {
    each(mask, |lane| {
        let at = u64::from(offsets[lane]) + (k * size) as u64;
        let value = raw::load(view, at, size as u8, Ordering::Relaxed).unwrap_or(0);
        put(out, k, size, lane, value);
    });
}

#[inline(always)]
fn load_pairs(view: &MemoryView<'_>, base: u64, out: &mut [Lanes]) {
    let mut block = [0u32; 2 * LANES];
    if raw::copy_words_out(view, base, &mut block) {
        for i in 0..LANES {
            out[0].0[i] = block[2 * i];
            out[1].0[i] = block[2 * i + 1];
        }
    }
}

#[inline(never)]
fn load_interleaved(view: &MemoryView<'_>, base: u64, n: usize, out: &mut [Lanes]) {
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

#[inline(always)]
fn store_pairs(view: &MemoryView<'_>, base: u64, value: &[Lanes]) {
    let mut block = [0u32; 2 * LANES];
    for i in 0..LANES {
        block[2 * i] = value[0].0[i];
        block[2 * i + 1] = value[1].0[i];
    }
    raw::copy_words_in(view, base, &block);
}

#[inline(never)]
fn store_interleaved(view: &MemoryView<'_>, base: u64, n: usize, value: &[Lanes]) {
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
pub(crate) fn store_view(
    view: &MemoryView<'_>,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    value: &[Lanes],
) {
    if mask == 0 {
        return;
    }
    let (size, components) = (usize::from(access.size), usize::from(access.components));
    let at = Offsets::new(offset, immediate, mask, (size * components) as u32);
    let words = size * components / 4;
    if access.atomic.is_some() {
        fence(Ordering::Release);
    } else if mask == Mask::MAX
        && size >= 4
        && words <= MOST
        && let Some(start) = at.block(view)
    {
        match words {
            1 => _ = raw::copy_words_in(view, start, &value[0].0),
            2 => store_pairs(view, start, value),
            _ => store_interleaved(view, start, words, value),
        }
        return;
    }
    for k in 0..components {
        sized!(size, store_component(view, &at.all, k, mask, value));
    }
}

/// Stores component `k` of the active lanes, each to its own place.
#[inline(always)]
fn store_component<T: Component>(
    view: &MemoryView<'_>,
    offsets: &[u32; LANES],
    k: usize,
    mask: Mask,
    value: &[Lanes],
) {
    let size = size_of::<T>();
    let skip = (k * size) as u32;
    if let Some(spots) = raw::spots::<T, LANES>(view, offsets, skip) {
        if mask == Mask::MAX {
            for lane in 0..LANES {
                spots.at(lane).set(get(value, k, size, lane), Ordering::Relaxed);
            }
        } else {
            each(mask, |lane| spots.at(lane).set(get(value, k, size, lane), Ordering::Relaxed));
        }
    } else {
        store_outside(view, offsets, (k, size), mask, value);
    }
}

/// Stores a component of which some are out of bounds or not aligned.
#[cold]
fn store_outside(
    view: &MemoryView<'_>,
    offsets: &[u32; LANES],
    (k, size): (usize, usize),
    mask: Mask,
    value: &[Lanes],
) {
    each(mask, |lane| {
        let at = u64::from(offsets[lane]) + (k * size) as u64;
        raw::store(view, at, size as u8, get(value, k, size, lane), Ordering::Relaxed);
    });
}

/// What a read-modify-write does.
#[derive(Clone, Copy)]
pub(super) struct Modification<'a> {
    pub op: AtomicOp,
    pub value: &'a [Lanes],
    pub comparator: Option<&'a [Lanes]>,
}

impl Modification<'_> {
    #[inline(always)]
    fn comparator(&self, size: usize, lane: usize) -> u64 {
        self.comparator.map_or(0, |comparator| get(comparator, 0, size, lane))
    }
}

#[inline(always)]
pub(super) fn modify_view(
    view: &MemoryView<'_>,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    with: Modification<'_>,
    out: &mut [Lanes],
) {
    if mask == 0 {
        return;
    }
    let at = Offsets::new(offset, immediate, mask, 0);
    if with.op == AtomicOp::IAdd && access.size == 4 && at.equal {
        // All lanes add to one word: one addition of the sum, and each lane sees what the lanes before it
        // added.
        let mut sum = 0u32;
        let mut before = Lanes::ZERO;
        for i in 0..LANES {
            before.0[i] = sum;
            let active = 0u32.wrapping_sub(mask >> i & 1);
            sum = sum.wrapping_add(with.value[0].0[i] & active);
        }
        let old = raw::read_modify_write(view, u64::from(at.first), 4, with.op, u64::from(sum), 0);
        for i in 0..LANES {
            out[0].0[i] = old.map_or(0, |old| (old as u32).wrapping_add(before.0[i]));
        }
        return;
    }
    sized!(access.size, modify_component(view, &at.all, mask, with, out));
}

#[inline(never)]
fn modify_component<T: Component>(
    view: &MemoryView<'_>,
    offsets: &[u32; LANES],
    mask: Mask,
    with: Modification<'_>,
    out: &mut [Lanes],
) {
    let size = size_of::<T>();
    let spots = raw::spots::<T, LANES>(view, offsets, 0);
    each(mask, |lane| {
        let (value, comparator) = (get(with.value, 0, size, lane), with.comparator(size, lane));
        let old = match &spots {
            Some(spots) => spots.at(lane).modify(with.op, value, comparator),
            None => {
                let at = u64::from(offsets[lane]);
                raw::read_modify_write(view, at, size as u8, with.op, value, comparator).unwrap_or(0)
            }
        };
        put(out, 0, size, lane, old);
    });
}

/// Workgroup memory belongs to one thread: no locked instructions.
#[inline(always)]
pub(super) fn modify_own(
    view: &MemoryView<'_>,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    access: &Access,
    with: Modification<'_>,
    out: &mut [Lanes],
) {
    if mask == 0 {
        return;
    }
    let at = Offsets::new(offset, immediate, mask, 0);
    sized!(access.size, modify_own_component(view, &at.all, mask, with, out));
}

#[inline(never)]
fn modify_own_component<T: Component>(
    view: &MemoryView<'_>,
    offsets: &[u32; LANES],
    mask: Mask,
    with: Modification<'_>,
    out: &mut [Lanes],
) {
    let size = size_of::<T>();
    let Some(spots) = raw::spots::<T, LANES>(view, offsets, 0) else {
        return modify_component::<T>(view, offsets, mask, with, out);
    };
    let changed = |old, value, comparator| raw::apply(with.op, size as u8, old, value, comparator);
    each(mask, |lane| {
        let place = spots.at(lane);
        let old = place.get(Ordering::Relaxed);
        let new = changed(old, get(with.value, 0, size, lane), with.comparator(size, lane));
        place.set(new, Ordering::Relaxed);
        put(out, 0, size, lane, old);
    });
}
