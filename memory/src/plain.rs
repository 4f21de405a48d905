//! Flat, coherent memory: the plain mode.
//!
//! **Guarantee.** Every access goes straight to the bytes that all agents share, and atomics are the host's own, with acquire and release order.
//! A real device is allowed to behave like this, always: every write is available and visible at once. Out-of-bounds components of a view
//! or of workgroup memory read zero and write nothing; an address in no live buffer traps.
//!
//! Lanes are served together where they can be: full subgroups that access consecutive components (also interleaved ones, such as vec4
//! arrays), and lanes that all read one address.

use crate::access::{Access, AtomicOp, Reference, Site};
use crate::agent::SubgroupIdentity;
use crate::raw;
use crate::scope::{Scope, Semantics};
use crate::system::{LANES, Lanes, Mask, MemorySystem, MemoryView, Pointers, Trap};
use std::sync::atomic::{Ordering, fence};

/// The plain memory system of one worker: workgroup memory is its own, the rest is shared.
pub struct PlainMemory<'a> {
    addresses: &'a [MemoryView],
    last: usize,
    shared: Vec<u64>,
    workgroup: MemoryView,
}

impl<'a> PlainMemory<'a> {
    /// `addresses`: live buffers with device addresses, sorted, not overlapping.
    pub fn new(addresses: &'a [MemoryView]) -> PlainMemory<'a> {
        PlainMemory { addresses, last: 0, shared: Vec::new(), workgroup: MemoryView::NULL }
    }

    /// The live buffer that holds the whole range.
    #[inline(always)]
    fn resolve(&mut self, address: u64, size: u64) -> Option<MemoryView> {
        let holds = |v: &MemoryView| {
            address >= v.address && address - v.address < v.size && v.size - (address - v.address) >= size
        };
        if let Some(view) = self.addresses.get(self.last)
            && holds(view)
        {
            return Some(*view);
        }
        let after = self.addresses.partition_point(|v| v.address <= address);
        let index = after.checked_sub(1)?;
        let view = self.addresses[index];
        holds(&view).then(|| {
            self.last = index;
            view
        })
    }
}

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
fn each(mask: Mask, mut f: impl FnMut(usize)) {
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
fn component_of(value: &[Lanes], k: usize, size: u8, lane: usize) -> u64 {
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
const MOST: usize = 16;

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
fn load_view(
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
fn store_view(
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
fn modify_view(
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
fn modify_own(
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

impl PlainMemory<'_> {
    /// Serves lanes with addresses: those that share a live buffer go together, by their offsets into it.
    #[inline(always)]
    fn physical(
        &mut self,
        at: Site,
        (low, high, immediate): (&Lanes, &Lanes, u32),
        mask: Mask,
        access: &Access,
        mut serve: impl FnMut(&MemoryView, &Lanes, Mask),
    ) -> Result<(), Trap> {
        let size = u64::from(access.size) * u64::from(access.components);
        let address = |lane: usize| {
            (u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32).wrapping_add(u64::from(immediate))
        };
        let mut left = mask;
        while left != 0 {
            let first = address(left.trailing_zeros() as usize);
            let Some(view) = self.resolve(first, size) else {
                return Err(Trap::InvalidAddress { site: at, address: first, size: size as u32 });
            };
            // A window of less than 4 GiB around the first lane, so that offsets fit.
            let into = first - view.address;
            let start = into.saturating_sub(1 << 31);
            let window = MemoryView {
                host: view.host.wrapping_add(start as usize),
                address: view.address + start,
                size: (view.size - start).min(u64::from(u32::MAX)),
                reference: view.reference,
            };
            // Distances from the window's start, in halves of 32 bits; the first lane's access fits, so the last place for one is there.
            let base = window.address.wrapping_sub(u64::from(immediate));
            let (base_low, base_high) = (base as u32, (base >> 32) as u32);
            let last = (window.size - size) as u32;
            let (mut offset, mut inside) = (Lanes::ZERO, Lanes::ZERO);
            for lane in 0..LANES {
                let borrow = u32::from(low.0[lane] < base_low);
                let far = high.0[lane].wrapping_sub(base_high).wrapping_sub(borrow);
                let distance = low.0[lane].wrapping_sub(base_low);
                offset.0[lane] = distance;
                inside.0[lane] = if far == 0 && distance <= last { u32::MAX } else { 0 };
            }
            let group = left & (0..LANES).fold(0, |group, lane| group | (inside.0[lane] & 1 << lane));
            serve(&window, &offset, group);
            left &= !group;
        }
        Ok(())
    }
}

impl MemorySystem for PlainMemory<'_> {
    const MODELLED: bool = false;

    #[inline(always)]
    fn enter_subgroup(&mut self, _: &SubgroupIdentity) {}

    #[inline(always)]
    fn load(
        &mut self,
        at: Site,
        from: Pointers<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        match from {
            Pointers::View { view, offset, immediate } => {
                load_view(view, offset, immediate, mask, access, out)
            }
            Pointers::Workgroup { offset, immediate, .. } => {
                load_view(&self.workgroup, offset, immediate, mask, access, out);
            }
            Pointers::Physical { low, high, immediate } => {
                return self.physical(at, (low, high, immediate), mask, access, |view, offset, group| {
                    if group == mask {
                        load_view(view, offset, 0, group, access, out);
                    } else {
                        // Lanes of other buffers keep what they have.
                        let mut part = [Lanes::ZERO; 2 * MOST];
                        let part = &mut part[..out.len()];
                        load_view(view, offset, 0, group, access, part);
                        for (lanes, part) in out.iter_mut().zip(part) {
                            each(group, |lane| lanes.0[lane] = part.0[lane]);
                        }
                    }
                });
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn store(
        &mut self,
        at: Site,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Result<(), Trap> {
        match to {
            Pointers::View { view, offset, immediate } => {
                store_view(view, offset, immediate, mask, access, value)
            }
            Pointers::Workgroup { offset, immediate, .. } => {
                store_view(&self.workgroup, offset, immediate, mask, access, value);
            }
            Pointers::Physical { low, high, immediate } => {
                return self.physical(at, (low, high, immediate), mask, access, |view, offset, mask| {
                    store_view(view, offset, 0, mask, access, value);
                });
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn read_modify_write(
        &mut self,
        at: Site,
        op: AtomicOp,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
        comparator: Option<&[Lanes]>,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        match to {
            Pointers::View { view, offset, immediate } => {
                modify_view(view, offset, immediate, mask, access, op, value, comparator, out);
            }
            Pointers::Workgroup { offset, immediate, .. } => {
                modify_own(&self.workgroup, offset, immediate, mask, access, op, value, comparator, out);
            }
            Pointers::Physical { low, high, immediate } => {
                return self.physical(at, (low, high, immediate), mask, access, |view, offset, group| {
                    if group == mask {
                        modify_view(view, offset, 0, group, access, op, value, comparator, out);
                    } else {
                        let mut part = [Lanes::ZERO; 2];
                        let part = &mut part[..out.len()];
                        modify_view(view, offset, 0, group, access, op, value, comparator, part);
                        for (lanes, part) in out.iter_mut().zip(part) {
                            each(group, |lane| lanes.0[lane] = part.0[lane]);
                        }
                    }
                });
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn fence(&mut self, _: Site, _: Mask, _: Scope, _: &Semantics) {
        fence(Ordering::AcqRel);
    }

    #[inline(always)]
    fn barrier_arrive(&mut self, _: Site, _: Mask, _: Scope, _: Scope, _: &Semantics) {
        fence(Ordering::AcqRel);
    }

    #[inline(always)]
    fn barrier_complete(&mut self, _: u32) {}

    fn workgroup_begin(&mut self, _: u32, bytes: u32, _: bool) {
        // Undefined contents are zero as well: a value of the workgroup before would depend on the host's threads.
        self.shared.clear();
        self.shared.resize((bytes as usize).div_ceil(8), 0);
        self.workgroup = MemoryView {
            host: self.shared.as_mut_ptr().cast(),
            address: 0,
            size: u64::from(bytes),
            reference: Reference(u32::MAX),
        };
    }

    #[inline(always)]
    fn workgroup_end(&mut self, _: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::StorageClasses;

    fn view(words: &mut [u32]) -> MemoryView {
        MemoryView {
            host: words.as_mut_ptr().cast(),
            address: 0x10000,
            size: 4 * words.len() as u64,
            reference: Reference(0),
        }
    }

    fn access(size: u8, components: u8) -> Access {
        Access::plain(StorageClasses::UNIFORM, size, components)
    }

    fn offsets(f: impl Fn(u32) -> u32) -> Lanes {
        Lanes(std::array::from_fn(|i| f(i as u32)))
    }

    fn load_all(data: &mut [u32], offset: &Lanes, immediate: u32, mask: Mask, access: &Access) -> Vec<Lanes> {
        let view = view(data);
        let mut memory = PlainMemory::new(&[]);
        let mut out = vec![Lanes([0xdead; LANES]); 32];
        let pointers = Pointers::View { view: &view, offset, immediate };
        memory.load(Site(1), pointers, mask, access, &mut out).expect("views do not trap");
        out
    }

    /// One component, one byte at a time.
    fn expected(data: &[u32], at: u64, size: u8) -> u64 {
        let bytes: Vec<u8> = data.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut value = 0;
        if at + u64::from(size) <= bytes.len() as u64 {
            for i in 0..u64::from(size) {
                value |= u64::from(bytes[(at + i) as usize]) << (8 * i);
            }
        }
        value
    }

    #[test]
    fn all_shapes_of_loads_agree_with_bytes() {
        let mut data: Vec<u32> = (0..600u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let shapes: [fn(u32) -> u32; 8] = [
            |i| 4 * i,
            |i| 16 * i,
            |_| 64,
            |i| 4 * (31 - i),
            |i| 8 * i + 1,
            |i| 2304 + 4 * i,
            |i| 0xffff_ff80u32.wrapping_add(4 * i),
            |i| 12 * i,
        ];
        for shape in shapes {
            for mask in [Mask::MAX, 1, 0x8000_0000, 0x0f0f_1234] {
                for size in [1u8, 2, 4, 8] {
                    for components in [1u8, 2, 3, 4] {
                        for immediate in [0, 4, 0x40] {
                            let offset = offsets(shape);
                            let out =
                                load_all(&mut data, &offset, immediate, mask, &access(size, components));
                            each(mask, |lane| {
                                for k in 0..usize::from(components) {
                                    let at = u64::from(offset.0[lane].wrapping_add(immediate))
                                        + k as u64 * u64::from(size);
                                    let got = component_of(&out, k, size, lane);
                                    assert_eq!(
                                        got,
                                        expected(&data, at, size),
                                        "lane {lane} at {at} size {size}"
                                    );
                                }
                            });
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn stores_write_what_loads_read_and_nothing_else() {
        for (stride, mask) in [(4u32, Mask::MAX), (16, Mask::MAX), (4, 0x1234_5678), (20, 0xffff_0000)] {
            for (size, components) in [(4u8, 1u8), (4, 4), (8, 2), (2, 1), (1, 3)] {
                if u32::from(size) * u32::from(components) > stride {
                    continue;
                }
                let mut data = vec![0x5555_5555u32; 200];
                let view = view(&mut data);
                let offset = offsets(|i| stride * i);
                let value: Vec<Lanes> =
                    (0..8).map(|k| Lanes(std::array::from_fn(|i| (k * 1000 + i as u32) & 0xff))).collect();
                let mut memory = PlainMemory::new(&[]);
                let pointers = Pointers::View { view: &view, offset: &offset, immediate: 0 };
                memory.store(Site(1), pointers, mask, &access(size, components), &value).expect("no trap");
                let mut bytes = vec![0x55u8; 800];
                each(mask, |lane| {
                    for k in 0..usize::from(components) {
                        let v = component_of(&value, k, size, lane);
                        for b in 0..usize::from(size) {
                            let at = stride as usize * lane + k * usize::from(size) + b;
                            if at < bytes.len() {
                                bytes[at] = (v >> (8 * b)) as u8;
                            }
                        }
                    }
                });
                let got: Vec<u8> = data.iter().flat_map(|w| w.to_le_bytes()).collect();
                assert_eq!(got, bytes, "stride {stride} size {size} components {components}");
            }
        }
    }

    #[test]
    fn additions_to_one_word_are_as_if_lane_by_lane() {
        let mut data = vec![100u32; 4];
        let view = view(&mut data);
        let mut memory = PlainMemory::new(&[]);
        let mut out = [Lanes::ZERO; 1];
        let mut a = access(4, 1);
        a.atomic = Some(Scope::Device);
        let pointers = Pointers::View { view: &view, offset: &Lanes([4; LANES]), immediate: 0 };
        let value = [Lanes(std::array::from_fn(|i| i as u32))];
        memory
            .read_modify_write(Site(1), AtomicOp::IAdd, pointers, 0b1011, &a, &value, None, &mut out)
            .expect("no trap");
        assert_eq!((out[0].0[0], out[0].0[1], out[0].0[3]), (100, 100, 101));
        assert_eq!(data, [100, 104, 100, 100]);
    }

    #[test]
    fn addresses_reach_their_buffers_and_trap_elsewhere() {
        let (mut a, mut b) = (vec![7u32; 8], vec![9u32; 8]);
        let (mut va, mut vb) = (view(&mut a), view(&mut b));
        va.address = 0x1_0000_0000;
        vb.address = 0x2_0000_0000;
        let views = [va, vb];
        let mut memory = PlainMemory::new(&views);
        let low = offsets(|i| 4 * (i % 8));
        let high = offsets(|i| 1 + i % 2);
        let mut out = [Lanes::ZERO; 1];
        let pointers = Pointers::Physical { low: &low, high: &high, immediate: 0 };
        memory.load(Site(3), pointers, Mask::MAX, &access(4, 1), &mut out).expect("both are live");
        assert_eq!(out[0], offsets(|i| if i % 2 == 0 { 7 } else { 9 }));
        let pointers = Pointers::Physical { low: &low, high: &high, immediate: 0x20 };
        let trap = memory.load(Site(3), pointers, 1, &access(4, 1), &mut out);
        assert_eq!(trap, Err(Trap::InvalidAddress { site: Site(3), address: 0x1_0000_0020, size: 4 }));
    }

    #[test]
    fn every_operation_matches_its_meaning() {
        use AtomicOp::*;
        let f = |x: f32| u64::from(x.to_bits());
        for (op, old, value, new) in [
            (Exchange, 1, 2, 2),
            (IAdd, u64::from(u32::MAX), 2, 1),
            (ISub, 1, 2, 0xffff_ffff),
            (SMin, 0xffff_fffe, 1, 0xffff_fffe),
            (SMax, 0xffff_fffe, 1, 1),
            (UMin, 0xffff_fffe, 1, 1),
            (UMax, 0xffff_fffe, 1, 0xffff_fffe),
            (And, 6, 3, 2),
            (Or, 6, 3, 7),
            (Xor, 6, 3, 5),
            (FAdd, f(1.5), f(2.25), f(3.75)),
            (FMin, f(1.5), f(-2.0), f(-2.0)),
            (FMax, f(1.5), f(-2.0), f(1.5)),
        ] {
            let mut data = vec![old as u32];
            let view = view(&mut data);
            assert_eq!(raw::read_modify_write(&view, 0, 4, op, value, 0), Some(old), "{op:?}");
            assert_eq!(u64::from(data[0]), new, "{op:?}");
            assert_eq!(apply_again(op, old, value), new);
        }
    }

    fn apply_again(op: AtomicOp, old: u64, value: u64) -> u64 {
        raw::apply(op, 4, old, value, 0)
    }
}
