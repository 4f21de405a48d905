//! Strands: converged sets of lanes of a subgroup, with registers of their own.

use super::context::Context;
use crate::code::Program;
use pellucid_memory::agent::SubgroupIdentity;
use pellucid_memory::system::{Lanes, Mask};
use std::hash::{Hash, Hasher};

/// Why a strand stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All lanes have ended.
    Done,
    /// The running lanes have arrived at the workgroup control barrier of this number.
    AtBarrier(u32),
    /// Modelled mode: stopped before a visible operation; in the loop also at a mark.
    Yielded,
    /// The fuel is spent: time to look at the watchdog, or to let others run.
    OutOfFuel,
}

/// Registers and position of a strand: a converged set of lanes of a subgroup.
#[derive(Clone, Debug, Default)]
pub struct Strand {
    pub(crate) vectors: Vec<Lanes>,
    pub(crate) masks: Vec<Mask>,
    pub(crate) private: Vec<Lanes>,
    pub(crate) pc: u32,
    pub(crate) mask: Mask,
    /// Lanes of the strand, running or parked, that have not ended.
    pub(crate) live: Mask,
    /// The operation at `pc` was yielded before; it runs now.
    pub(crate) granted: bool,
    /// Visible operations so far.
    pub(crate) step: u64,
    /// Read-modify-writes so far that changed memory.
    pub(crate) changes: u64,
    /// Stores so far.
    pub(crate) stores: u64,
    /// Loop back-edges before [`Step::OutOfFuel`].
    pub(crate) fuel: u32,
    /// Counts for ReadClock.
    pub(crate) clock: u64,
}

/// What can be looked at between two instructions.
impl Strand {
    /// The instruction that runs next: an index into [`Code::code`](crate::code::Code).
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// The lanes that run it.
    pub fn mask(&self) -> Mask {
        self.mask
    }

    /// The lanes of the strand, running or parked, that have not ended.
    pub fn live(&self) -> Mask {
        self.live
    }

    /// The vector registers, a word for each lane: [`Code::vectors`](crate::code::Code) of them. Lanes that
    /// do not run may hold anything.
    pub fn vectors(&self) -> &[Lanes] {
        &self.vectors
    }

    /// The mask registers, a bit for each lane: [`Code::masks`](crate::code::Code) of them, the park
    /// registers first.
    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// Private memory of the lanes, a word of each lane in a row.
    pub fn private(&self) -> &[Lanes] {
        &self.private
    }

    /// Private memory, to be changed between two instructions.
    pub fn private_mut(&mut self) -> &mut [Lanes] {
        &mut self.private
    }
}

impl Strand {
    /// Room for the registers of `context`'s program, the pinned ones set.
    pub(crate) fn prepare(&mut self, context: &Context<'_>) {
        let program = context.program;
        self.vectors.clear();
        self.vectors.resize(program.vectors as usize, Lanes::ZERO);
        self.masks.clear();
        self.masks.resize(program.masks as usize, 0);
        self.masks[program.parks as usize + 1] = Mask::MAX;
        self.private.clear();
        self.private.resize((program.shader.private_bytes as usize).div_ceil(4), Lanes::ZERO);
        context.launch.pin_constants(context, &mut self.vectors);
    }

    /// Starts the lanes of `identity` at the first instruction.
    #[inline(always)]
    pub(crate) fn start(&mut self, context: &Context<'_>, identity: &SubgroupIdentity) {
        context.launch.pin_identity(identity, &mut self.vectors);
        self.private.fill(Lanes::ZERO);
        self.pc = 0;
        self.mask = Mask::MAX >> (32 - identity.lanes);
        self.live = self.mask;
        self.granted = false;
        self.step = 0;
        self.changes = 0;
        self.stores = 0;
        self.clock = 0;
    }

    /// Whether lanes are parked, for the running ones to leave a loop or a branch.
    pub(crate) fn has_parked(&self, parks: usize) -> bool {
        self.masks[..parks].iter().any(|park| *park != 0)
    }

    /// Takes the parked lanes of a strand that stands at a back-edge as a strand of their own, which goes on
    /// at the edge's join. `None` if no lane is parked.
    pub(crate) fn split(&mut self, program: &Program) -> Option<Strand> {
        let parks = program.parks as usize;
        if !self.has_parked(parks) {
            return None;
        }
        let edge = program.back_edges.binary_search_by_key(&self.pc, |edge| edge.0);
        let join = edge.map_or(program.code.len() as u32 - 1, |k| program.back_edges[k].1);
        let mut other = self.clone();
        other.mask = 0;
        other.live &= !self.mask;
        other.pc = join;
        self.live = self.mask;
        self.masks[..parks].fill(0);
        Some(other)
    }

    /// Of the lanes that have started only those of `lanes` are in this strand.
    pub(crate) fn restrict(&mut self, lanes: Mask) {
        self.mask &= lanes;
        self.live &= lanes;
    }

    /// A digest of everything that further execution depends on, memory excepted.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        (self.pc, self.mask, self.live, self.clock).hash(&mut hasher);
        self.masks.iter().for_each(|mask| (mask & self.live).hash(&mut hasher));
        for lanes in self.vectors.iter().chain(&self.private) {
            let mut left = self.live;
            while left != 0 {
                lanes.0[left.trailing_zeros() as usize].hash(&mut hasher);
                left &= left - 1;
            }
        }
        hasher.finish()
    }

    /// Takes in a strand that stands at the same instruction.
    fn merge(&mut self, other: &Strand, parks: usize) {
        let theirs = other.live;
        for (mine, other) in
            self.vectors.iter_mut().zip(&other.vectors).chain(self.private.iter_mut().zip(&other.private))
        {
            for j in 0..32 {
                if theirs >> j & 1 == 1 {
                    mine.0[j] = other.0[j];
                }
            }
        }
        for (k, (mine, other)) in self.masks.iter_mut().zip(&other.masks).enumerate() {
            *mine = if k < parks { *mine | *other } else { (*mine & !theirs) | (*other & theirs) };
        }
        self.mask |= other.mask;
        self.live |= theirs;
    }
}

/// Of a subgroup's strands, those that stand at the same barrier become one. Whether any did.
pub(crate) fn merge_at_barriers<T>(
    strands: &mut Vec<T>,
    program: &Program,
    strand: impl Fn(&mut T) -> &mut Strand,
) -> bool {
    let count = strands.len();
    let mut k = 1;
    while k < strands.len() {
        let pc = strand(&mut strands[k]).pc;
        match (0..k).find(|j| strand(&mut strands[*j]).pc == pc) {
            Some(j) => {
                let mut other = strands.remove(k);
                strand(&mut strands[j]).merge(strand(&mut other), program.parks as usize);
            }
            None => k += 1,
        }
    }
    strands.len() < count
}

/// Strands that have ended, whose register files are used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct StrandPool(Vec<Strand>);

impl StrandPool {
    /// A strand of all lanes of a subgroup, at the first instruction. It stays in the pool until it is taken:
    /// most end where they are.
    #[inline(always)]
    pub fn start(&mut self, context: &Context<'_>, identity: &SubgroupIdentity) -> &mut Strand {
        let strand = self.ready(context);
        strand.start(context, identity);
        strand
    }

    /// A strand to be started. It stays in the pool as well.
    #[inline(always)]
    pub fn ready(&mut self, context: &Context<'_>) -> &mut Strand {
        if self.0.is_empty() {
            self.add(context);
        }
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Takes the strand that was started last out of the pool.
    pub fn take(&mut self) -> Strand {
        self.0.pop().unwrap_or_default()
    }

    /// A strand that has ended.
    pub fn put_back(&mut self, strand: Strand) {
        self.0.push(strand);
    }

    #[cold]
    fn add(&mut self, context: &Context<'_>) {
        let mut strand = Strand::default();
        strand.prepare(context);
        self.0.push(strand);
    }
}
