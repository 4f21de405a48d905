//! Writes to sparse resources of which parts are without memory: what is written there is dropped, and is no
//! access. Reads need nothing: no write of there is known, and memory shows zero.

use super::CheckedMemory;
use super::by_lane::resolve;
use crate::access::{Access, Site};
use crate::component::each;
use crate::plain::address_of;
use crate::system::{Lanes, Mask, Pointers, Trap};

impl CheckedMemory {
    /// The lanes of `mask` whose `size` bytes all have memory, or are no device memory at all: what is out of
    /// bounds is reported, or traps, as anywhere.
    pub(super) fn resident(&self, to: &Pointers<'_>, mask: Mask, size: u64) -> Mask {
        match to {
            Pointers::View { view, offset, immediate } => view.resident(offset, *immediate, mask, size),
            Pointers::Workgroup { .. } => mask,
            Pointers::Physical { low, high, immediate } => {
                let mut resident = 0;
                each(mask, |lane| {
                    let address = address_of((low, high, *immediate), lane);
                    let bound = resolve(&self.addresses, address, size)
                        .is_none_or(|view| view.is_resident(address - view.address, size));
                    resident |= Mask::from(bound) << lane;
                });
                resident
            }
        }
    }

    /// A store, of each component that has memory.
    #[cold]
    pub(super) fn store_bound(
        &mut self,
        (at, to): (Site, Pointers<'_>),
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Result<(), Trap> {
        let all = u64::from(access.size) * u64::from(access.components);
        let whole = self.resident(&to, mask, all);
        if whole != 0 {
            self.store_all((at, to), whole, access, value)?;
        }
        if whole == mask {
            return Ok(());
        }
        let one = Access { components: 1, ..*access };
        let mut by = 0;
        for component in value.chunks(if access.size == 8 { 2 } else { 1 }).take(access.components.into()) {
            let to = further(&to, by);
            let there = self.resident(&to, mask & !whole, access.size.into());
            if there != 0 {
                self.store_all((at, to), there, &one, component)?;
            }
            by += u32::from(access.size);
        }
        Ok(())
    }

    /// The lanes that have memory to modify; the others find zero.
    #[cold]
    pub(super) fn zero_unbound(
        &self,
        to: &Pointers<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Mask {
        let there = self.resident(to, mask, access.size.into());
        for lanes in out {
            each(mask & !there, |lane| lanes.0[lane] = 0);
        }
        there
    }
}

/// So many bytes behind.
pub(super) fn further<'a>(to: &Pointers<'a>, by: u32) -> Pointers<'a> {
    match *to {
        Pointers::View { view, offset, immediate } => {
            Pointers::View { view, offset, immediate: immediate.wrapping_add(by) }
        }
        Pointers::Workgroup { offset, immediate, reference } => {
            Pointers::Workgroup { offset, immediate: immediate.wrapping_add(by), reference }
        }
        Pointers::Physical { low, high, immediate } => {
            Pointers::Physical { low, high, immediate: immediate.wrapping_add(by) }
        }
    }
}
