//! The general path: what the lanes of an instruction do, one lane after the other.

use super::CheckedMemory;
use super::caches::Path;
use super::lane::{Cells, Lane, pieces};
use crate::access::{Access, AtomicOp, Reference, Site};
use crate::component::{each as each_lane, get, put};
use crate::device::MemoryRange;
use crate::plain::{Window, address_of};
use crate::race::{ReleaseSequence, Space};
use crate::system::{LANES, Lanes, Mask, MemoryView, Pointers, Trap};

impl CheckedMemory {
    /// Traces the components of lanes that were served without it.
    #[cold]
    pub(super) fn trace(
        &mut self,
        at: Site,
        pointers: &Pointers<'_>,
        mask: Mask,
        kind: u32,
        access: &Access,
    ) -> Result<(), Trap> {
        let bytes = u64::from(access.size) * u64::from(access.components);
        self.lanes(at, pointers, mask, bytes, |lane| {
            for k in 0..usize::from(access.components) {
                lane.trace(access, kind, k);
            }
        })
    }

    /// Calls `each` for every active lane with its agent's first byte: the view and the offset into it.
    fn lanes(
        &mut self,
        at: Site,
        pointers: &Pointers<'_>,
        mask: Mask,
        bytes: u64,
        mut each: impl FnMut(&mut Lane<'_>),
    ) -> Result<(), Trap> {
        let first_lane = self.first_lane;
        let lanes = (0..LANES).filter(|lane| mask >> lane & 1 != 0);
        match pointers {
            Pointers::View { view, offset, immediate } => {
                let undefined = self.core.partly_undefined(view);
                let mut lane = Lane {
                    core: &mut self.core,
                    cells: Cells::Device(&mut self.shadow),
                    view: **view,
                    words: view.whole_words(),
                    offset: 0,
                    lane: 0,
                    agent: 0,
                    undefined,
                    space: Space::Device,
                };
                for index in lanes {
                    lane.lane = index;
                    lane.agent = first_lane + index as u32;
                    lane.offset = u64::from(offset.0[index].wrapping_add(*immediate));
                    each(&mut lane);
                }
            }
            Pointers::Workgroup { offset, immediate, reference } => {
                let Some(group) = self.groups.entered() else { return Ok(()) };
                let (view, words) = group.memory.views(&self.variables, *reference);
                let immediate = immediate.wrapping_sub(view.address as u32);
                let undefined = !group.zeroed;
                let mut lane = Lane {
                    core: &mut self.core,
                    cells: Cells::Workgroup(&mut group.cells),
                    view,
                    words,
                    offset: 0,
                    lane: 0,
                    agent: 0,
                    undefined,
                    space: Space::Workgroup(self.current),
                };
                for index in lanes {
                    lane.lane = index;
                    lane.agent = first_lane + index as u32;
                    lane.offset = u64::from(offset.0[index].wrapping_add(immediate));
                    each(&mut lane);
                }
            }
            Pointers::Physical { low, high, immediate } => {
                for index in lanes {
                    let address = address_of((low, high, *immediate), index);
                    let Some(view) = resolve(&self.addresses, address, bytes) else {
                        return Err(Trap::InvalidAddress { site: at, address, size: bytes as u32 });
                    };
                    let undefined = self.core.partly_undefined(&view);
                    let view = view.through(Reference::PHYSICAL);
                    let mut lane = Lane {
                        core: &mut self.core,
                        cells: Cells::Device(&mut self.shadow),
                        view,
                        words: view.whole_words(),
                        offset: address - view.address,
                        lane: index,
                        agent: first_lane + index as u32,
                        undefined,
                        space: Space::Device,
                    };
                    each(&mut lane);
                }
            }
        }
        Ok(())
    }

    /// Performs a load of the subgroup by one lane after the other, in the order of their numbers.
    #[inline(never)]
    pub(super) fn load_lanes(
        &mut self,
        at: Site,
        from: &Pointers<'_>,
        mask: Mask,
        (kind, access): (u32, &Access),
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let bytes = u64::from(access.size) * u64::from(access.components);
        let (size, components) = (usize::from(access.size), usize::from(access.components));
        self.core.begin_alike();
        self.lanes(at, from, mask, bytes, |lane| {
            lane.unsplit(bytes);
            if access.atomic.is_some() {
                let value = lane.atomic_read(access, kind);
                put(out, 0, size, lane.lane, value);
            } else {
                for k in 0..components {
                    let value = lane.read(access, kind, k);
                    put(out, k, size, lane.lane, value);
                    if access.visible.is_some() {
                        lane.trace(access, kind, k);
                    }
                }
            }
        })
    }

    /// Loads of what the dispatch does not write: the caches of the machine hold it from now on.
    #[cold]
    pub(super) fn fill_caches(
        &mut self,
        (view, offset, immediate): (&MemoryView<'_>, &Lanes, u32),
        mask: Mask,
        access: &Access,
    ) {
        let Some(mut caches) = self.core.caches.take() else { return };
        let (unit, path) = (caches.unit(self.current), Path::of(access, view.reference, false));
        let held = |word: u64| {
            let offset = (4 * word).checked_sub(view.address)?;
            self.core.held(view, Space::Device, offset, 4).map(|word| word as u32)
        };
        each_lane(mask, |lane| {
            let start = view.address + u64::from(offset.0[lane].wrapping_add(immediate));
            for k in 0..u64::from(access.components) {
                for piece in pieces(start + k * u64::from(access.size), access.size) {
                    caches.load(unit, piece.word, piece.bytes, path, &held);
                }
            }
        });
        self.core.caches = Some(caches);
    }

    /// Performs a store of the subgroup by one lane after the other, in the order of their numbers.
    #[inline(never)]
    pub(super) fn store_lanes(
        &mut self,
        at: Site,
        to: &Pointers<'_>,
        mask: Mask,
        (kind, access): (u32, &Access),
        value: &[Lanes],
    ) -> Result<(), Trap> {
        let bytes = u64::from(access.size) * u64::from(access.components);
        let (size, components) = (usize::from(access.size), usize::from(access.components));
        let none = ReleaseSequence::default();
        self.lanes(at, to, mask, bytes, |lane| {
            lane.unsplit(bytes);
            if access.atomic.is_some() {
                lane.atomic_write(access, kind, get(value, 0, size, lane.lane));
            } else {
                for k in 0..components {
                    lane.write(access, kind, k, get(value, k, size, lane.lane), &none);
                    if access.available.is_some() {
                        lane.trace(access, kind, k);
                    }
                }
            }
        })
    }

    /// Reads, modifies and writes lane by lane; of kind `modify`, and where a comparison fails `fail`.
    #[inline(never)]
    pub(super) fn modify_lanes(
        &mut self,
        at: Site,
        to: &Pointers<'_>,
        mask: Mask,
        (modify, fail, access): (u32, u32, &Access),
        (op, value, comparator): (AtomicOp, &[Lanes], Option<&[Lanes]>),
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let size = usize::from(access.size);
        self.lanes(at, to, mask, u64::from(access.size), |lane| {
            lane.unsplit(u64::from(access.size));
            let comparator = comparator.map_or(0, |comparator| get(comparator, 0, size, lane.lane));
            let old = lane.modify(access, (modify, fail), op, get(value, 0, size, lane.lane), comparator);
            put(out, 0, size, lane.lane, old);
        })
    }
}

/// Where lanes with physical addresses access so many bytes each, if that is in one live buffer: its view,
/// and their offsets.
#[inline(never)]
pub(super) fn in_one_buffer<'a>(
    ranges: &'a [MemoryRange],
    pointers: (&Lanes, &Lanes, u32),
    mask: Mask,
    bytes: u64,
) -> Option<(MemoryView<'a>, Lanes)> {
    let first = address_of(pointers, mask.trailing_zeros() as usize % LANES);
    let buffer = resolve(ranges, first, bytes)?;
    let Window { view, offset, group } = Window::around(buffer, first, pointers, mask, bytes);
    // Findings count from the buffer's first byte.
    (group == mask && view.address == buffer.address).then(|| (view.through(Reference::PHYSICAL), offset))
}

/// Of ranges sorted by address: the one that holds the bytes.
pub(super) fn resolve(ranges: &[MemoryRange], address: u64, size: u64) -> Option<MemoryView<'_>> {
    let after = ranges.partition_point(|range| range.address() <= address);
    let range = &ranges[after.checked_sub(1)?];
    let into = address - range.address();
    (into < range.size() && range.size() - into >= size).then(|| range.view())
}
