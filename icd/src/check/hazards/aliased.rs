//! Memory that sparse resources share: the tracker knows it by its place in memory, everyone else by that in
//! the resource.

use super::{Hazards, State, Told, Translated};
use pellucid_memory::aliases::{Piece, SparseAliases, shown};
use pellucid_memory::commands::{Comb, Hazard, Operand, Range, Runs};
use pellucid_memory::device::Allocation;
use std::sync::Arc;

/// Accesses of memory, and the pieces that they are of resources.
type InMemory = (Runs, Vec<Piece>);

impl Hazards {
    /// What sparse resources share now.
    pub fn aliases(&self) -> Arc<SparseAliases> {
        self.state.lock().aliases.clone()
    }

    /// A part of memory, from an offset on, is bound to bytes of a resource with SPARSE_ALIASED, or nothing
    /// is any more.
    pub fn alias(&self, bytes: Range, memory: Option<(&Arc<Allocation>, u64)>) {
        self.state.lock().alias(bytes, memory);
    }
}

impl State {
    pub(super) fn alias(&mut self, bytes: Range, memory: Option<(&Arc<Allocation>, u64)>) {
        if memory.is_some() || self.aliases.touch(bytes) {
            Arc::make_mut(&mut self.aliases).bind(bytes, memory);
        }
    }

    /// Accesses of bytes of resources, as those of memory, and how these are pieces of each other; nothing if
    /// resources share none of them.
    pub(super) fn in_memory(&self, accesses: &Runs) -> Option<InMemory> {
        let aliases = &self.aliases;
        if aliases.is_empty() {
            return None;
        }
        let touched = || accesses.combs().flat_map(Comb::ranges).filter(|range| aliases.touch(*range));
        touched().next()?;
        let of = |(range, operand): (Range, Operand)| {
            aliases.in_memory(&[range]).into_iter().map(move |range| (range, operand))
        };
        let pieces = touched().flat_map(|range| aliases.pieces(range)).collect();
        Some((accesses.iter().flat_map(of).collect(), pieces))
    }

    /// What these dependencies transition of memory that resources share.
    pub(super) fn pieces_of(&self, dependencies: &[&Translated]) -> Vec<Piece> {
        let transitions = dependencies.iter().flat_map(|d| &d.list).flat_map(|told| &told.transitions);
        let ranges = transitions.flat_map(|transition| &transition.ranges);
        let touched = ranges.filter(|range| self.aliases.touch(**range));
        touched.flat_map(|range| self.aliases.pieces(*range)).collect()
    }
}

/// The bytes of hazards by their places in the resources that were accessed.
pub(super) fn show(hazards: &mut [Hazard], pieces: &[Piece]) {
    if !pieces.is_empty() {
        hazards.iter_mut().for_each(|hazard| hazard.bytes = shown(pieces, &hazard.bytes));
    }
}

/// The ranges of a dependency, as those of memory.
pub(super) fn to_memory(aliases: &SparseAliases, told: &mut Told) {
    for scope in told.available.iter_mut().chain(&mut told.visible) {
        if let Some(ranges) = &mut scope.ranges {
            *ranges = aliases.in_memory(ranges);
        }
        // Of a resource whose bytes do not lie together those of the barrier are known.
        scope.resource = match scope.resource.map(|resource| aliases.in_memory(&[resource])) {
            Some(all) if let [whole] = all[..] => Some(whole),
            _ => None,
        };
    }
    for transition in &mut told.transitions {
        transition.ranges = aliases.in_memory(&transition.ranges);
    }
}
