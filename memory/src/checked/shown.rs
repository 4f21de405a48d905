//! Where in resources the memory is that they share, and that instructions accessed.

use crate::access::{Reference, Site};
use crate::commands::{Range, RangeMap};
use crate::race::StaticAccess;
use std::collections::BTreeMap;

/// Bytes of memory as a resource has them: what to add to their address, wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// For the address in the resource.
    pub shown: u64,
    /// For the offset into the view.
    pub offset: u64,
}

/// Where instructions have accessed memory that resources share: by site and reference, and the bytes of
/// memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown(BTreeMap<(Site, u32), RangeMap<Part>>);

impl Shown {
    /// An instruction accesses memory by these bytes of a resource; what was there is told so from now on.
    pub fn note(&mut self, (site, reference): (Site, Reference), memory: Range, part: Part) {
        let known = self.0.entry((site, reference.0)).or_default();
        if known.around(memory.start).is_none_or(|(range, of)| *of != part || range.end < memory.end) {
            known.take(memory);
            known.insert(memory, part);
        }
    }

    fn part(&self, kind: &StaticAccess, address: u64) -> Option<(Range, &Part)> {
        self.0.get(&(kind.site, kind.variable))?.around(address)
    }

    /// The address in the resource, and the offset in the view, of a byte of memory that an instruction
    /// accessed; nothing if it is shown as it is.
    pub fn place(&self, kind: &StaticAccess, address: u64) -> Option<(u64, u64)> {
        let (_, part) = self.part(kind, address)?;
        Some((address.wrapping_add(part.shown), address.wrapping_add(part.offset)))
    }

    /// Calls `each` for the bytes of resources that an instruction accessed, by the bytes of memory.
    #[inline(always)]
    pub fn ranges(&self, kind: &StaticAccess, bytes: Range, mut each: impl FnMut(Range)) {
        if self.0.is_empty() {
            return each(bytes);
        }
        let mut at = bytes.start;
        let parts = self.0.get(&(kind.site, kind.variable)).map(|parts| parts.within(bytes));
        for (Range { start, end }, part) in parts.into_iter().flatten() {
            if at < start {
                each(Range { start: at, end: start });
            }
            each(Range::new(start.wrapping_add(part.shown), end - start));
            at = end;
        }
        if at < bytes.end {
            each(Range { start: at, ..bytes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::StorageClasses;

    #[test]
    fn what_lies_around_bytes_that_resources_share_is_told_as_it_is() {
        let mut shown = Shown::default();
        let kind = StaticAccess::plain(Site(3), StorageClasses::UNIFORM, 7, true);
        let told = |shown: &Shown, start, end| {
            let mut all = Vec::new();
            shown.ranges(&kind, Range { start, end }, |range| all.push((range.start, range.end)));
            all
        };
        assert_eq!(told(&shown, 0, 1000), [(0, 1000)]);
        for (start, place) in [(256, 0x9000), (512, 0x7000)] {
            let part = Part { shown: place - start, offset: 0 };
            shown.note((Site(3), Reference(7)), Range::new(start, 64), part);
        }
        let expected = [(200, 256), (0x9000, 0x9040), (320, 512), (0x7000, 0x7040), (576, 600)];
        assert_eq!(told(&shown, 200, 600), expected);
        assert_eq!(told(&shown, 300, 310), [(0x902c, 0x9036)]);
        // Another instruction's are its own.
        let other = StaticAccess { site: Site(4), ..kind };
        let mut all = Vec::new();
        shown.ranges(&other, Range { start: 200, end: 600 }, |range| all.push(range));
        assert_eq!(all, [Range { start: 200, end: 600 }]);
    }
}
