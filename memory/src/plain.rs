//! Flat, coherent memory: the plain mode.
//!
//! **Guarantee.** Every access goes straight to the bytes that all agents share, and atomics are the host's
//! own, with acquire and release order. A real device is allowed to behave like this, always: every write is
//! available and visible at once. Out-of-bounds components of a view or of workgroup memory read zero and
//! write nothing; an address in no live buffer traps.
//!
//! Lanes are served together where they can be: full subgroups that access consecutive components (also
//! interleaved ones, such as vec4 arrays), and lanes that all read one address.

use crate::access::{Access, AtomicOp, Site};
use crate::agent::SubgroupIdentity;
use crate::component::each;
use crate::device::MemoryRange;
use crate::scope::{Scope, Semantics};
use crate::system::{LANES, LaneAccesses, Lanes, Mask, MemorySystem, MemoryView, Pointers, Trap};
use std::sync::atomic::{Ordering, fence};

mod lanes;
mod partly;
use lanes::{MOST, Modification, modify_own};
pub(crate) use lanes::{load_view, store_view};

/// The plain memory system of one worker: workgroup memory is its own, the rest is shared.
pub struct PlainMemory<'a> {
    addresses: &'a [MemoryRange],
    last: usize,
    /// Workgroup memory, of `shared_bytes` bytes.
    shared: Vec<u64>,
    shared_bytes: u64,
    /// Some of what may be accessed is without memory, and not written.
    partly_bound: bool,
    /// The first 4 GiB of the buffers of accesses by physical addresses.
    reached: Vec<MemoryView<'a>>,
}

impl<'a> PlainMemory<'a> {
    /// `addresses`: live buffers with device addresses, sorted, not overlapping.
    pub fn new(addresses: &'a [MemoryRange]) -> PlainMemory<'a> {
        let (shared, reached) = (Vec::new(), Vec::new());
        PlainMemory { addresses, last: 0, shared, shared_bytes: 0, partly_bound: false, reached }
    }

    /// The same; `partly_bound`: what is accessed may be bytes of sparse resources to which no memory is
    /// bound. These are zero, whatever is written to them (`residencyNonResidentStrict`).
    pub fn partly_bound(self, partly_bound: bool) -> PlainMemory<'a> {
        PlainMemory { partly_bound, ..self }
    }

    /// The live buffer that holds the whole range.
    #[inline(always)]
    fn resolve(&mut self, address: u64, size: u64) -> Option<MemoryView<'a>> {
        let holds = |r: &MemoryRange| {
            let into = address.wrapping_sub(r.address());
            into < r.size() && r.size() - into >= size
        };
        if let Some(range) = self.addresses.get(self.last)
            && holds(range)
        {
            return Some(range.view());
        }
        let after = self.addresses.partition_point(|range| range.address() <= address);
        let index = after.checked_sub(1)?;
        let range = &self.addresses[index];
        holds(range).then(|| {
            self.last = index;
            range.view()
        })
    }
}

/// The address of a lane's physical pointer: low and high words, and what is added.
#[inline(always)]
pub(crate) fn address_of((low, high, immediate): (&Lanes, &Lanes, u32), lane: usize) -> u64 {
    (u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32).wrapping_add(u64::from(immediate))
}

/// Lanes with addresses in one live buffer.
pub(crate) struct Window<'a> {
    pub view: MemoryView<'a>,
    /// Into the view.
    pub offset: Lanes,
    /// The lanes, of those that were asked for.
    pub group: Mask,
}

impl<'a> Window<'a> {
    /// The lanes of `mask` that access `size` bytes each in a live buffer, which is that of an access at
    /// `first`, less than 2 GiB before it and 2 GiB behind it.
    #[inline(always)]
    pub fn around(
        buffer: MemoryView<'a>,
        first: u64,
        (low, high, immediate): (&Lanes, &Lanes, u32),
        mask: Mask,
        size: u64,
    ) -> Window<'a> {
        // A window of less than 4 GiB around the first lane, so that offsets fit.
        let into = first - buffer.address;
        let start = into.saturating_sub(1 << 31);
        let view = buffer.part(start, u64::from(u32::MAX));
        // Distances from the window's start, in halves of 32 bits; the first lane's access fits, so the last
        // place for one is there.
        let base = view.address.wrapping_sub(u64::from(immediate));
        let (base_low, base_high) = (base as u32, (base >> 32) as u32);
        let last = (view.size() - size) as u32;
        let (mut offset, mut inside) = (Lanes::ZERO, Lanes::ZERO);
        for lane in 0..LANES {
            let borrow = u32::from(low.0[lane] < base_low);
            let far = high.0[lane].wrapping_sub(base_high).wrapping_sub(borrow);
            let distance = low.0[lane].wrapping_sub(base_low);
            offset.0[lane] = distance;
            inside.0[lane] = if far == 0 && distance <= last { u32::MAX } else { 0 };
        }
        let group = mask & (0..LANES).fold(0, |group, lane| group | (inside.0[lane] & 1 << lane));
        Window { view, offset, group }
    }
}

impl<'a> PlainMemory<'a> {
    /// The lanes of `mask` (not zero) that share a live buffer with the first of them. Accesses are of `size`
    /// bytes.
    #[inline(always)]
    fn window(
        &mut self,
        at: Site,
        addresses: (&Lanes, &Lanes, u32),
        mask: Mask,
        size: u64,
    ) -> Result<Window<'a>, Trap> {
        let first = address_of(addresses, mask.trailing_zeros() as usize % LANES);
        let Some(view) = self.resolve(first, size) else {
            return Err(Trap::InvalidAddress { site: at, address: first, size: size as u32 });
        };
        Ok(Window::around(view, first, addresses, mask, size))
    }

    /// Serves lanes of several buffers, group by group, the first of which was found. Results are kept apart:
    /// other lanes keep what they have.
    #[cold]
    fn groups(
        &mut self,
        at: Site,
        (addresses, mask, size): ((&Lanes, &Lanes, u32), Mask, u64),
        mut window: Window<'a>,
        out: &mut [Lanes],
        serve: &mut dyn FnMut(&Window<'_>, &mut [Lanes]),
    ) -> Result<(), Trap> {
        let mut left = mask;
        loop {
            let mut part = [Lanes::ZERO; 2 * MOST];
            let part = &mut part[..out.len()];
            serve(&window, part);
            for (lanes, part) in out.iter_mut().zip(part) {
                each(window.group, |lane| lanes.0[lane] = part.0[lane]);
            }
            left &= !window.group;
            if left == 0 {
                return Ok(());
            }
            window = self.window(at, addresses, left, size)?;
        }
    }
}

fn size(access: &Access) -> u64 {
    u64::from(access.size) * u64::from(access.components)
}

impl LaneAccesses for PlainMemory<'_> {
    const MODELLED: bool = false;

    #[inline(always)]
    fn load(
        &mut self,
        at: Site,
        from: Pointers<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        if mask == 0 {
            return Ok(());
        }
        let (window, own);
        let (view, offset, immediate) = match from {
            Pointers::View { view, offset, immediate } => (view, offset, immediate),
            Pointers::Workgroup { offset, immediate, .. } => {
                own = self.workgroup_memory();
                (&own, offset, immediate)
            }
            Pointers::Physical { low, high, immediate } => {
                let addresses = (low, high, immediate);
                window = self.window(at, addresses, mask, size(access))?;
                if window.group != mask {
                    let asked = (addresses, mask, size(access));
                    return self.groups(at, asked, window, out, &mut |here, part| {
                        load_view(&here.view, &here.offset, 0, here.group, access, part);
                    });
                }
                (&window.view, &window.offset, 0)
            }
        };
        load_view(view, offset, immediate, mask, access, out);
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
        if mask == 0 {
            return Ok(());
        }
        let partly_bound = self.partly_bound;
        let (window, own);
        let (view, offset, immediate) = match to {
            Pointers::View { view, offset, immediate } => (view, offset, immediate),
            Pointers::Workgroup { offset, immediate, .. } => {
                own = self.workgroup_memory();
                (&own, offset, immediate)
            }
            Pointers::Physical { low, high, immediate } => {
                let addresses = (low, high, immediate);
                window = self.window(at, addresses, mask, size(access))?;
                if window.group != mask {
                    let asked = (addresses, mask, size(access));
                    return self.groups(at, asked, window, &mut [], &mut |here, _| {
                        partly::store(partly_bound, (&here.view, &here.offset, 0), here.group, access, value);
                    });
                }
                (&window.view, &window.offset, 0)
            }
        };
        partly::store(partly_bound, (view, offset, immediate), mask, access, value);
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
        if mask == 0 {
            return Ok(());
        }
        let (partly_bound, with) = (self.partly_bound, Modification { op, value, comparator });
        match to {
            Pointers::View { view, offset, immediate } => {
                partly::modify(partly_bound, (view, offset, immediate), mask, access, with, out);
            }
            Pointers::Workgroup { offset, immediate, .. } => {
                modify_own(&self.workgroup_memory(), offset, immediate, mask, access, with, out);
            }
            Pointers::Physical { low, high, immediate } => {
                let addresses = (low, high, immediate);
                let window = self.window(at, addresses, mask, size(access))?;
                if window.group != mask {
                    let asked = (addresses, mask, size(access));
                    return self.groups(at, asked, window, out, &mut |here, part| {
                        let to = (&here.view, &here.offset, 0);
                        partly::modify(partly_bound, to, here.group, access, with, part);
                    });
                }
                let to = (&window.view, &window.offset, 0);
                partly::modify(partly_bound, to, mask, access, with, out);
            }
        }
        Ok(())
    }
}

impl MemorySystem for PlainMemory<'_> {
    const EACH_INSTRUCTION_SET: bool = true;

    #[inline(always)]
    fn enter_subgroup(&mut self, _: &SubgroupIdentity) {}

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
        // Undefined contents are zero as well: a value of the workgroup before would depend on the host's
        // threads.
        self.shared.clear();
        self.shared.resize((bytes as usize).div_ceil(8), 0);
        self.shared_bytes = u64::from(bytes);
    }

    #[inline(always)]
    fn workgroup_memory(&mut self) -> MemoryView<'_> {
        MemoryView::of_words(&mut self.shared).part(0, self.shared_bytes)
    }

    #[inline(always)]
    fn reached(&mut self, count: usize) -> &[MemoryView<'_>] {
        if self.reached.len() < count {
            self.reached.resize(count, MemoryView::NULL);
        }
        &self.reached
    }

    fn remember(&mut self, number: usize) {
        if let (Some(range), Some(reached)) = (self.addresses.get(self.last), self.reached.get_mut(number)) {
            *reached = range.view().part(0, u32::MAX.into());
        }
    }

    #[inline(always)]
    fn workgroup_end(&mut self, _: u32) {}
}

#[cfg(test)]
mod tests;
