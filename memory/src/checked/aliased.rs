//! Accesses to sparse resources that share memory ([`SparseAliases`]): what they access is known by where it
//! is in memory, and told by where it is in the resource.

use super::CheckedMemory;
use super::by_lane::resolve;
use super::partly::further;
use super::shown::Part;
use crate::access::{Access, AtomicOp, Reference, Site};
use crate::aliases::SparseAliases;
use crate::commands::Range;
use crate::component::each;
use crate::device::MemoryRange;
use crate::finding::AccessKind;
use crate::plain::address_of;
use crate::raw::MemoryView;
use crate::system::{Lanes, Mask, Pointers, Trap};
use std::sync::Arc;

/// What a lane accesses: the view, and the offset into it.
fn lane_at<'a>(
    memory: &'a [MemoryRange],
    to: &Pointers<'a>,
    lane: usize,
    bytes: u64,
) -> Option<(MemoryView<'a>, u64)> {
    match *to {
        Pointers::View { view, offset, immediate } => {
            Some((*view, u64::from(offset.0[lane].wrapping_add(immediate))))
        }
        Pointers::Workgroup { .. } => None,
        Pointers::Physical { low, high, immediate } => {
            let address = address_of((low, high, immediate), lane);
            let view = resolve(memory, address, bytes)?.through(Reference::PHYSICAL);
            Some((view, address - view.address))
        }
    }
}

/// Makes an access of some lanes: of a vector, or of a component of it by its number.
type Serve<'a> =
    dyn FnMut(&mut CheckedMemory, Pointers<'_>, Mask, &Access, Option<usize>) -> Result<(), Trap> + 'a;

/// Lanes that are left.
#[derive(Default)]
struct Left {
    /// Whatever their bytes are.
    all: Mask,
    /// Of them those with bytes that resources share, which do not lie together.
    apart: Mask,
}

impl CheckedMemory {
    /// What the dispatch may write (first bytes and those behind the last), by its place in memory.
    pub(super) fn written_in_memory(&self, written: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        let Some(aliases) = &self.aliases else { return written };
        let ranges: Vec<Range> = written.into_iter().map(|(start, end)| Range { start, end }).collect();
        aliases.in_memory(&ranges).into_iter().map(|range| (range.start, range.end)).collect()
    }

    /// Calls `does` for the lanes of `mask` whose `bytes` bytes lie together in memory that resources share,
    /// with pointers there, in ascending order. Returns the others.
    fn in_memory(
        &mut self,
        (site, to): (Site, &Pointers<'_>),
        mask: Mask,
        bytes: u64,
        does: &mut dyn FnMut(&mut CheckedMemory, Pointers<'_>, Mask) -> Result<(), Trap>,
    ) -> Result<Left, Trap> {
        let (aliases, addresses) = (self.aliases.clone().unwrap_or_default(), self.addresses.clone());
        let (mut left, mut todo) = (Left::default(), mask);
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            let bit = todo & todo.wrapping_neg();
            let Some((view, offset)) = lane_at(&addresses, to, lane, bytes) else {
                (left.all, todo) = (left.all | bit, todo & !bit);
                continue;
            };
            let first = view.address.wrapping_add(offset);
            let Some((window, memory)) = window(&aliases, &view, offset, bytes) else {
                let inside =
                    Range { start: first, end: first.saturating_add(bytes).min(view.address + view.size()) };
                if offset < view.size() && aliases.touch(inside) {
                    left.apart |= bit;
                }
                (left.all, todo) = (left.all | bit, todo & !bit);
                continue;
            };
            let (mut group, mut offsets) = (0, Lanes::ZERO);
            while todo != 0 {
                let lane = todo.trailing_zeros() as usize;
                let here =
                    lane_at(&addresses, to, lane, bytes).filter(|(other, _)| other.address == view.address);
                let start = here
                    .map(|(_, offset)| view.address.wrapping_add(offset))
                    .filter(|start| *start >= window.start && start.saturating_add(bytes) <= window.end);
                let Some(start) = start else { break };
                offsets.0[lane] = (start - window.start) as u32;
                group |= todo & todo.wrapping_neg();
                todo &= todo - 1;
            }
            let there = Range::new(memory.address, memory.size());
            let shown = window.start.wrapping_sub(there.start);
            let offset = shown.wrapping_sub(view.address);
            self.core.report.shown.note((site, view.reference), there, Part { shown, offset });
            does(self, Pointers::View { view: &memory, offset: &offsets, immediate: 0 }, group)?;
        }
        Ok(left)
    }

    /// Makes an access of the lanes of `mask`: of those whose bytes lie together in shared memory there, of
    /// those whose bytes resources share and do not lie together component by component, of the others as
    /// anywhere.
    fn serve_aliased(
        &mut self,
        (at, to): (Site, Pointers<'_>),
        mask: Mask,
        access: &Access,
        does: &mut Serve<'_>,
    ) -> Result<(), Trap> {
        let size = u64::from(access.size);
        let all = size * u64::from(access.components);
        let left = self
            .in_memory((at, &to), mask, all, &mut |memory, to, mask| does(memory, to, mask, access, None))?;
        let whole = left.all & !left.apart;
        if whole != 0 {
            does(self, to, whole, access, None)?;
        }
        if left.apart == 0 {
            return Ok(());
        }
        let one = Access { components: 1, ..*access };
        for k in 0..usize::from(access.components) {
            let to = further(&to, k as u32 * u32::from(access.size));
            let rest = self.in_memory((at, &to), left.apart, size, &mut |memory, to, mask| {
                does(memory, to, mask, &one, Some(k))
            })?;
            if rest.all != 0 {
                does(self, to, rest.all, &one, Some(k))?;
            }
        }
        Ok(())
    }

    /// [`crate::system::MemorySystem::load`].
    #[cold]
    pub(super) fn load_aliased(
        &mut self,
        (at, from): (Site, Pointers<'_>),
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        if self.observing {
            self.observe_read(at, &from, mask, access, AccessKind::Read);
        }
        self.serve_aliased((at, from), mask, access, &mut |memory, from, mask, access, k| {
            let all = out.len();
            let out = &mut out[registers(access, k, all)];
            put(out, mask, |there| memory.load_all((at, from), mask, access, there))
        })
    }

    /// [`crate::system::MemorySystem::store`].
    #[cold]
    pub(super) fn store_aliased(
        &mut self,
        (at, to): (Site, Pointers<'_>),
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Result<(), Trap> {
        self.serve_aliased((at, to), mask, access, &mut |memory, to, mask, access, k| {
            let value = &value[registers(access, k, value.len())];
            memory.store_bound((at, to), mask, access, value)
        })
    }

    /// [`crate::system::MemorySystem::read_modify_write`].
    #[cold]
    pub(super) fn modify_aliased(
        &mut self,
        (at, to): (Site, Pointers<'_>),
        mask: Mask,
        access: &Access,
        does: (AtomicOp, &[Lanes], Option<&[Lanes]>),
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        if self.observing {
            self.observe_read(at, &to, mask, access, AccessKind::ReadModifyWrite(does.0));
        }
        self.serve_aliased((at, to), mask, access, &mut |memory, to, mask, access, _| {
            let bound = memory.zero_unbound(&to, mask, access, out);
            if bound == 0 {
                return Ok(());
            }
            put(out, bound, |there| memory.modify_all((at, to), bound, access, does, there))
        })
    }
}

/// Loads for these lanes, and leaves what the others have loaded.
fn put(
    out: &mut [Lanes],
    mask: Mask,
    loads: impl FnOnce(&mut [Lanes]) -> Result<(), Trap>,
) -> Result<(), Trap> {
    let mut there = vec![Lanes::ZERO; out.len()];
    loads(&mut there)?;
    out.iter_mut().zip(&there).for_each(|(out, there)| each(mask, |lane| out.0[lane] = there.0[lane]));
    Ok(())
}

/// The registers of component `k`, or of all, of so many.
fn registers(access: &Access, k: Option<usize>, all: usize) -> std::ops::Range<usize> {
    let each = if access.size == 8 { 2 } else { 1 };
    k.map_or(0..all, |k| k * each..(k + 1) * each)
}

/// The bytes of a view that lie together in shared memory around those accessed, by the addresses of the
/// resource, and the memory.
fn window<'a>(
    aliases: &'a Arc<SparseAliases>,
    view: &MemoryView<'_>,
    offset: u64,
    bytes: u64,
) -> Option<(Range, MemoryView<'a>)> {
    if offset.checked_add(bytes)? > view.size() {
        return None;
    }
    let first = view.address + offset;
    let (run, memory, address) = aliases.at(first)?;
    let window = Range { start: run.start.max(view.address), end: run.end.min(view.address + view.size()) };
    if first + bytes > window.end {
        return None;
    }
    let start = address - (first - window.start) - memory.address();
    let there = memory.bytes().of_allocation(Some(memory)).part(start, window.end - window.start);
    Some((window, there.through(view.reference)))
}
