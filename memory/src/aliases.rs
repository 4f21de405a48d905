//! Memory that sparse resources share (*Sparse Memory Aliasing*).
//!
//! A byte of a resource with SPARSE_ALIASED is the byte of the memory that is bound there: two resources, or
//! two places of one, may be the same memory. So it is known by its address in the memory, for values, races
//! and hazards. Bytes of other resources are known by their addresses as they are.

use crate::commands::{Range, RangeMap};
use crate::device::Allocation;
use std::sync::Arc;

/// Where bytes of a resource are.
#[derive(Clone, Debug)]
struct Bound {
    memory: Arc<Allocation>,
    /// What to add to an address in the resource for that in the memory, wrapping.
    distance: u64,
}

impl PartialEq for Bound {
    fn eq(&self, other: &Bound) -> bool {
        Arc::ptr_eq(&self.memory, &other.memory) && self.distance == other.distance
    }
}

/// See the module's page. A clone is what is bound at a time.
#[derive(Clone, Debug, Default)]
pub struct SparseAliases(RangeMap<Bound>);

/// Bytes of a resource, and of the memory that they are.
pub type Piece = (Range, Range);

impl SparseAliases {
    /// Whether nothing is bound to a resource with SPARSE_ALIASED.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A part of an allocation, from an offset on, is bound to bytes of a resource with SPARSE_ALIASED, or
    /// nothing is any more.
    pub fn bind(&mut self, bytes: Range, memory: Option<(&Arc<Allocation>, u64)>) {
        self.0.take(bytes);
        if let Some((memory, offset)) = memory
            && bytes.start < bytes.end
        {
            let distance = (memory.address() + offset).wrapping_sub(bytes.start);
            self.0.insert(bytes, Bound { memory: memory.clone(), distance });
            self.0.join(bytes);
        }
    }

    /// Whether some of these bytes are of such memory.
    pub fn touch(&self, bytes: Range) -> bool {
        self.0.within(bytes).next().is_some()
    }

    /// These bytes, by address, in parts that lie together in memory as well. What is not of such memory is
    /// where it is.
    pub fn pieces(&self, bytes: Range) -> Vec<Piece> {
        let (mut pieces, mut at) = (Vec::new(), bytes.start);
        let mut add = |from: &mut u64, to: u64, distance: u64| {
            if *from < to {
                let [start, end] = [*from, to].map(|address| address.wrapping_add(distance));
                pieces.push((Range { start: *from, end: to }, Range { start, end }));
                *from = to;
            }
        };
        for (run, bound) in self.0.within(bytes) {
            add(&mut at, run.start, 0);
            add(&mut at, run.end, bound.distance);
        }
        add(&mut at, bytes.end, 0);
        pieces
    }

    /// The bytes of memory that these are, ascending, adjacent ones merged.
    pub fn in_memory(&self, bytes: &[Range]) -> Vec<Range> {
        if !bytes.iter().any(|range| self.touch(*range)) {
            return bytes.to_vec();
        }
        let pieces = bytes.iter().flat_map(|range| self.pieces(*range));
        merged(pieces.map(|(_, memory)| memory).collect())
    }

    /// The address in memory of a byte.
    pub fn address(&self, address: u64) -> u64 {
        self.at(address).map_or(address, |(_, _, memory)| memory)
    }

    /// The other addresses of a byte: in its memory, and in resources.
    pub fn others(&self, address: u64) -> Vec<u64> {
        let memory = self.address(address);
        let in_run = |(run, bound): (Range, &Bound)| {
            let there = memory.wrapping_sub(bound.distance);
            (run.start <= there && there < run.end).then_some(there)
        };
        let runs = self.0.within(Range { start: 0, end: u64::MAX });
        let known = std::iter::once(memory).chain(runs.filter_map(in_run));
        known.filter(|other| *other != address).collect()
    }

    /// The run of a resource around a byte that lies together in memory, the memory, and the byte's address
    /// there.
    pub(crate) fn at(&self, address: u64) -> Option<(Range, &Arc<Allocation>, u64)> {
        let (run, bound) = self.0.around(address)?;
        Some((run, &bound.memory, address.wrapping_add(bound.distance)))
    }
}

/// The bytes of a resource that these bytes of memory are, by pieces of what was accessed: those whose first
/// piece holds them. What is in none stays as it is.
pub fn shown(pieces: &[Piece], memory: &[Range]) -> Vec<Range> {
    let mut all = Vec::new();
    for range in memory {
        let mut at = range.start;
        while at < range.end {
            let holds = |(_, held): &&Piece| held.start <= at && at < held.end;
            let (start, end) = match pieces.iter().find(holds) {
                Some((bytes, held)) => (bytes.start + (at - held.start), held.end.min(range.end)),
                None => (
                    at,
                    pieces.iter().map(|(_, held)| held.start).filter(|s| *s > at).min().unwrap_or(range.end),
                ),
            };
            let end = end.min(range.end);
            all.push(Range::new(start, end - at));
            at = end;
        }
    }
    merged(all)
}

fn merged(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let meet = next.start <= last.end;
        if meet {
            last.end = last.end.max(next.end);
        }
        meet
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::HostMemory;
    use crate::heap::Heap;

    fn range(start: u64, end: u64) -> Range {
        Range { start, end }
    }

    /// Two resources, `0x10_0000` with two blocks of a memory in turn and `0x20_0000` with the first of them.
    fn two() -> (SparseAliases, u64) {
        let heap = Arc::new(Heap::new(0x1_0000_0000, 1 << 20).unwrap());
        let memory = Allocation::new(&heap, 0x2_0000, HostMemory::Flat).unwrap();
        let mut aliases = SparseAliases::default();
        aliases.bind(range(0x10_0000, 0x11_0000), Some((&memory, 0x1_0000)));
        aliases.bind(range(0x11_0000, 0x12_0000), Some((&memory, 0)));
        aliases.bind(range(0x20_0000, 0x21_0000), Some((&memory, 0)));
        (aliases, memory.address())
    }

    #[test]
    fn bytes_are_where_their_memory_is() {
        let (aliases, memory) = two();
        assert_eq!(aliases.address(0x11_0004), memory + 4);
        assert_eq!(aliases.address(0x20_0004), memory + 4);
        assert_eq!(aliases.address(0x30_0000), 0x30_0000);
        assert_eq!(aliases.others(0x11_0004), [memory + 4, 0x20_0004]);
        assert_eq!(aliases.others(0x10_0004), [memory + 0x1_0004]);
        assert!(aliases.others(0x30_0000).is_empty());
        let pieces = aliases.pieces(range(0x10_fff0, 0x12_0010));
        let memory_of = |from: u64, to: u64| range(memory + from, memory + to);
        assert_eq!(
            pieces,
            [
                (range(0x10_fff0, 0x11_0000), memory_of(0x1_fff0, 0x2_0000)),
                (range(0x11_0000, 0x12_0000), memory_of(0, 0x1_0000)),
                (range(0x12_0000, 0x12_0010), range(0x12_0000, 0x12_0010)),
            ]
        );
        assert_eq!(aliases.in_memory(&[range(0x10_0000, 0x12_0000)]), [memory_of(0, 0x2_0000)]);
        assert_eq!(aliases.in_memory(&[range(0x1000, 0x2000)]), [range(0x1000, 0x2000)]);
    }

    #[test]
    fn bytes_of_memory_are_shown_where_they_were_accessed() {
        let (aliases, memory) = two();
        let of = [range(memory + 0xfff0, memory + 0x1_0010)];
        let first = aliases.pieces(range(0x10_0000, 0x12_0000));
        assert_eq!(shown(&first, &of), [range(0x10_0000, 0x10_0010), range(0x11_fff0, 0x12_0000)]);
        let second = aliases.pieces(range(0x20_0000, 0x21_0000));
        assert_eq!(
            shown(&second, &of),
            [range(0x20_fff0, 0x21_0000), range(memory + 0x1_0000, memory + 0x1_0010)]
        );
    }

    #[test]
    fn what_is_unbound_is_nowhere_else() {
        let (mut aliases, memory) = two();
        aliases.bind(range(0x11_0000, 0x12_0000), None);
        assert!(!aliases.touch(range(0x11_0000, 0x12_0000)));
        assert_eq!(aliases.address(0x11_0004), 0x11_0004);
        assert_eq!(aliases.address(0x10_0004), memory + 0x1_0004);
        aliases.bind(range(0x10_0000, 0x30_0000), None);
        assert!(aliases.is_empty());
    }
}
