//! Accesses to sparse resources of which parts are without memory: there nothing is written, and reads are
//! zero (`residencyNonResidentStrict`). What is without memory shows pages of zeros, so that only writes have
//! to be looked at.

use super::lanes::{Modification, modify_view, store_view};
use crate::access::Access;
use crate::component::each;
use crate::system::{Lanes, Mask, MemoryView};

/// Where lanes access a view: their offsets, and what is added to each.
type To<'a> = (&'a MemoryView<'a>, &'a Lanes, u32);

/// [`store_view`], of each component that has memory if the view is `partly` bound.
#[inline(always)]
pub(super) fn store(partly: bool, to: To<'_>, mask: Mask, access: &Access, value: &[Lanes]) {
    if partly {
        store_partly(to, mask, access, value)
    } else {
        store_view(to.0, to.1, to.2, mask, access, value)
    }
}

#[cold]
fn store_partly((view, offset, immediate): To<'_>, mask: Mask, access: &Access, value: &[Lanes]) {
    let (size, one) = (u32::from(access.size), Access { components: 1, ..*access });
    let mut at = immediate;
    for component in value.chunks(if size == 8 { 2 } else { 1 }).take(access.components.into()) {
        let there = view.resident(offset, at, mask, size.into());
        store_view(view, offset, at, there, &one, component);
        at = at.wrapping_add(size);
    }
}

/// [`modify_view`], of the lanes that have memory if the view is `partly` bound; the others find zero.
#[inline(always)]
pub(super) fn modify(
    partly: bool,
    to: To<'_>,
    mask: Mask,
    access: &Access,
    with: Modification<'_>,
    out: &mut [Lanes],
) {
    let (view, offset, immediate) = to;
    if !partly {
        return modify_view(view, offset, immediate, mask, access, with, out);
    }
    let there = view.resident(offset, immediate, mask, access.size.into());
    if there != 0 {
        modify_view(view, offset, immediate, there, access, with, out);
    }
    for lanes in out {
        each(mask & !there, |lane| lanes.0[lane] = 0);
    }
}
