//! Bytes of device memory that were undefined when the dispatch began.

use super::{Core, Space, Where, Who};
use crate::system::{Lanes, Mask, MemoryView};
use crate::unwritten::Unwritten;

impl Core {
    /// A new dispatch begins, in which these bytes of device memory are undefined.
    pub fn begin_undefined(&mut self, unwritten: Unwritten) {
        self.unwritten = unwritten;
        self.partly = ((0, 0), false);
        self.views.clear();
    }

    /// Whether bytes of a view were undefined when the dispatch began.
    #[inline(always)]
    pub fn partly_undefined(&mut self, view: &MemoryView<'_>) -> bool {
        if self.unwritten.is_empty() {
            return false;
        }
        let key = (view.address, view.size());
        if self.partly.0 != key {
            self.partly = (key, self.look_for_undefined(key));
        }
        self.partly.1
    }

    /// The lanes of `mask` whose bytes, `size` each at their offsets into the view, were all defined when the
    /// dispatch began.
    #[inline(always)]
    pub fn defined_lanes(
        &mut self,
        (view, offset, immediate): (&MemoryView<'_>, &Lanes, u32),
        mask: Mask,
        size: u32,
    ) -> Mask {
        if !self.partly_undefined(view) {
            return mask;
        }
        let mut at = *offset;
        at.0.iter_mut().for_each(|at| *at = at.wrapping_add(immediate));
        self.unwritten.written_lanes(view.address, &at, mask, size.into())
    }

    #[inline(never)]
    fn look_for_undefined(&mut self, (address, size): (u64, u64)) -> bool {
        let unwritten = &self.unwritten;
        *self
            .views
            .entry((address, size))
            .or_insert_with(|| unwritten.any(address, address.saturating_add(size)))
    }

    /// Reports a read of these bytes of a word, which this dispatch has not written, if they are undefined.
    /// Of device memory it is a suspect only, see [`super::lane::Lane`].
    #[cold]
    pub fn undefined(&mut self, who: Who, place: &Where, bytes: u8) {
        if place.space != Space::Device {
            return self.report.undefined(who, self.kinds.get(who.kind), place);
        }
        let byte = |k: u64| bytes >> k & 1 != 0 && self.unwritten.any(place.word + k, place.word + k + 1);
        if (0..4).any(byte) {
            self.suspect = Some((who, *place));
        }
    }

    /// Whether all bytes of the device memory `start .. end` were undefined when the dispatch began.
    pub fn wholly_undefined(&self, start: u64, end: u64) -> bool {
        (start..end).all(|byte| self.unwritten.any(byte, byte + 1))
    }
}
