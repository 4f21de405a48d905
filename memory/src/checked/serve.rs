//! How accesses of a subgroup are served: what the dispatch does not write and the common case together, the
//! rest lane by lane.

use super::CheckedMemory;
use super::access_table::Role;
use super::lanes::{LaneOperation, common_case};
use super::words::Place;
use crate::access::{Access, AtomicOp, Reference, Site};
use crate::plain;
use crate::system::{Lanes, Mask, Pointers, Trap};

impl CheckedMemory {
    /// Serves the lanes that are in the common case ([`super::lanes`]); returns those that are not.
    #[inline(always)]
    fn fast_path(
        &mut self,
        to: &Pointers<'_>,
        mask: Mask,
        kind: u32,
        access: &Access,
        does: LaneOperation<'_>,
    ) -> Mask {
        if !self.core.may_be_fast(kind, access) {
            return mask;
        }
        let executed = (access, kind, self.current, self.first_lane);
        match to {
            Pointers::View { view, offset, immediate } => {
                let undefined = self.core.partly_undefined(view);
                let place = Place { view, offset, immediate: *immediate, undefined, device: true };
                let (core, cells) = (&self.core, &mut self.shadow);
                match core.subgroup.1.any() {
                    true => common_case::<_, true>(core, executed, cells, &place, mask, does),
                    false => common_case::<_, false>(core, executed, cells, &place, mask, does),
                }
            }
            Pointers::Workgroup { offset, immediate, reference } => {
                let Some(group) = self.groups.entered() else { return mask };
                let view = group.memory.view(&self.variables, *reference);
                let immediate = immediate.wrapping_sub(view.address as u32);
                let place = Place { view: &view, offset, immediate, undefined: !group.zeroed, device: false };
                common_case::<_, true>(&self.core, executed, &mut group.cells, &place, mask, does)
            }
            Pointers::Physical { .. } => mask,
        }
    }

    /// Loads for the lanes that read what the dispatch does not write; returns the others.
    #[inline(always)]
    fn load_read_only(
        &mut self,
        from: &Pointers<'_>,
        mask: Mask,
        kind: u32,
        access: &Access,
        out: &mut [Lanes],
    ) -> Mask {
        let Pointers::View { view, offset, immediate } = from else { return mask };
        if access.atomic.is_some() || !self.read_only.covers(view) || self.core.exploring.is_some() {
            return mask;
        }
        let bytes = u32::from(access.size) * u32::from(access.components);
        let at = (*view, *offset, *immediate);
        let defined = self.core.defined_lanes(at, mask, bytes);
        if defined == 0 {
            return mask;
        }
        let kind = (kind, self.core.kinds.get(kind));
        let read = self.read_only.read(kind, at, defined, bytes, self.first_lane);
        plain::load_view(view, offset, *immediate, read, access, out);
        if self.core.caches.is_some() {
            self.fill_caches((view, offset, *immediate), read, access);
        }
        mask & !read
    }

    /// A load of all these lanes, none of them of memory that resources share, unless by its own address.
    #[inline(always)]
    pub(super) fn load_all(
        &mut self,
        (at, from): (Site, Pointers<'_>),
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let kind = self.core.kinds.number(at, access, reference(&from), Role::Read);
        if self.core.report.followed.is_some() {
            self.load_copies(at, &from, mask, access);
        }
        let left = self.load_read_only(&from, mask, kind, access, out);
        if left != mask && self.core.explains(kind, access) {
            self.trace(at, &from, mask & !left, kind, access)?;
        }
        let mask = left;
        if mask == 0 {
            return Ok(());
        }
        let left = self.fast_path(&from, mask, kind, access, LaneOperation::Load(out));
        if left != mask && self.core.traces {
            self.trace(at, &from, mask & !left, kind, access)?;
        }
        if left != 0 { self.load_lanes(at, &from, left, (kind, access), out) } else { Ok(()) }
    }

    /// A read-modify-write of all these lanes, none of them where no memory is bound.
    #[inline(always)]
    pub(super) fn modify_all(
        &mut self,
        (at, to): (Site, Pointers<'_>),
        mask: Mask,
        access: &Access,
        (op, value, comparator): (AtomicOp, &[Lanes], Option<&[Lanes]>),
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        if self.core.report.followed.is_some() {
            self.load_copies(at, &to, mask, access);
            self.store_copies(&to, mask, access);
        }
        let through = reference(&to);
        let modify = self.core.kinds.number(at, access, through, Role::Modify);
        let fail = if op == AtomicOp::CompareExchange {
            self.core.kinds.number(at, access, through, Role::Fail)
        } else {
            modify
        };
        if modify != self.last_modify {
            self.last_modify = modify;
            self.core.report.operations.insert(at, op);
            self.core.agents.note_write(self.core.kinds.get(modify));
        }
        let mask = match op {
            AtomicOp::CompareExchange => mask,
            _ => self.fast_path(&to, mask, modify, access, LaneOperation::Modify(op, value, out)),
        };
        if mask == 0 {
            return Ok(());
        }
        self.modify_lanes(at, &to, mask, (modify, fail, access), (op, value, comparator), out)
    }

    /// A store of all these lanes, none of them where no memory is bound.
    #[inline(always)]
    pub(super) fn store_all(
        &mut self,
        (at, to): (Site, Pointers<'_>),
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Result<(), Trap> {
        if self.observing && !self.holds(&to, mask, access, value) {
            self.core.observed.changed = true;
        }
        if self.core.report.followed.is_some() {
            self.store_copies(&to, mask, access);
        }
        let kind = self.core.kinds.number(at, access, reference(&to), Role::Write);
        self.core.agents.note_write(self.core.kinds.get(kind));
        let left = self.fast_path(&to, mask, kind, access, LaneOperation::Store(value));
        if left != mask && self.core.traces {
            self.trace(at, &to, mask & !left, kind, access)?;
        }
        if left != 0 { self.store_lanes(at, &to, left, (kind, access), value) } else { Ok(()) }
    }
}

/// The reference that accesses by these pointers have.
fn reference(pointers: &Pointers<'_>) -> Reference {
    match pointers {
        Pointers::View { view, .. } => view.reference,
        Pointers::Workgroup { reference, .. } => *reference,
        Pointers::Physical { .. } => Reference::PHYSICAL,
    }
}
