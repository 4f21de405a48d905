//! What an observer is told: whether stores change anything, and what was read last.

use super::CheckedMemory;
use super::by_lane::resolve;
use crate::access::{Access, Reference, Site};
use crate::component::get;
use crate::finding::{AccessKind, Place};
use crate::plain::address_of;
use crate::race::Space;
use crate::system::{LANES, Lanes, Mask, MemoryView, Pointers, ReadSeen};

impl CheckedMemory {
    /// Remembers a read by the first of these lanes.
    #[cold]
    pub(super) fn observe_read(
        &mut self,
        site: Site,
        from: &Pointers<'_>,
        mask: Mask,
        access: &Access,
        kind: AccessKind,
    ) {
        let lane = mask.trailing_zeros() as usize % LANES;
        let (reference, address, offset) = match *from {
            Pointers::View { view, offset, immediate } => {
                let offset = u64::from(offset.0[lane].wrapping_add(immediate));
                let address = view.address.wrapping_add(offset);
                // An address has no offset, whichever buffer it is in.
                (view.reference, address, if view.reference == Reference::PHYSICAL { 0 } else { offset })
            }
            Pointers::Workgroup { offset, immediate, reference } => {
                let offset = u64::from(offset.0[lane].wrapping_add(immediate));
                (reference, offset, offset)
            }
            Pointers::Physical { low, high, immediate } => {
                (Reference::PHYSICAL, address_of((low, high, immediate), lane), 0)
            }
        };
        let size = u32::from(access.size) * u32::from(access.components);
        let place = Place { class: access.class, reference, address, offset, size };
        self.core.observed.read = Some(ReadSeen { site, kind, atomic: access.atomic, place });
    }

    /// Whether memory holds already what these lanes store. Lanes that store nothing, for being out of
    /// bounds, change nothing.
    #[cold]
    pub(super) fn holds(&mut self, to: &Pointers<'_>, mask: Mask, access: &Access, value: &[Lanes]) -> bool {
        let (group, space) = match *to {
            Pointers::Workgroup { reference, .. } => {
                let group = self.groups.entered();
                let view = group.map(|group| group.memory.view(&self.variables, reference));
                (view.unwrap_or(MemoryView::NULL), Space::Workgroup(self.current))
            }
            _ => (MemoryView::NULL, Space::Device),
        };
        let size = u64::from(access.size);
        let bits = if size == 8 { u64::MAX } else { (1 << (8 * size)) - 1 };
        (0..LANES).filter(|lane| mask >> lane & 1 != 0).all(|lane| {
            let (view, offset) = match *to {
                Pointers::View { view, offset, immediate } => {
                    (*view, u64::from(offset.0[lane].wrapping_add(immediate)))
                }
                Pointers::Workgroup { offset, immediate, .. } => {
                    let immediate = immediate.wrapping_sub(group.address as u32);
                    (group, u64::from(offset.0[lane].wrapping_add(immediate)))
                }
                Pointers::Physical { low, high, immediate } => {
                    let address = address_of((low, high, immediate), lane);
                    let view = resolve(&self.addresses, address, size * u64::from(access.components));
                    view.map_or((MemoryView::NULL, 0), |view| (view, address - view.address))
                }
            };
            (0..usize::from(access.components)).all(|k| {
                let held = self.core.held(&view, space, offset + k as u64 * size, access.size);
                held.is_none_or(|held| (held ^ get(value, k, usize::from(access.size), lane)) & bits == 0)
            })
        })
    }
}
