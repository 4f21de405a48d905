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
use crate::scope::{Scope, Semantics};
use crate::system::{LANES, Lanes, Mask, MemorySystem, MemoryView, Pointers, Trap};
use std::sync::atomic::{Ordering, fence};

mod lanes;
use lanes::{MOST, each, load_view, modify_own, modify_view, store_view};

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
mod tests;
