//! Strands: converged sets of lanes of a subgroup, with registers of their own.

use super::context::Context;
use pellucid_memory::agent::SubgroupIdentity;
use pellucid_memory::system::{Lanes, Mask};
use std::hash::{Hash, Hasher};

/// Why [`super::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All lanes have ended.
    Done,
    /// The running lanes have arrived at the workgroup control barrier of this number.
    AtBarrier(u32),
    /// Modelled mode: stopped before a visible operation.
    Yielded,
    /// The fuel is spent: time to look at the watchdog, or to let others run.
    OutOfFuel,
}

/// Registers and position of a strand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strand {
    pub vectors: Vec<Lanes>,
    pub masks: Vec<Mask>,
    pub private: Vec<Lanes>,
    pub pc: u32,
    pub mask: Mask,
    /// Lanes of the strand, running or parked, that have not ended.
    pub live: Mask,
    /// The operation at `pc` was yielded before; it runs now.
    pub granted: bool,
    /// Visible operations so far.
    pub step: u64,
    /// Read-modify-writes so far that changed memory.
    pub changes: u64,
    /// Stores so far.
    pub stores: u64,
    /// Loop back-edges before [`Step::OutOfFuel`].
    pub fuel: u32,
    /// Counts for ReadClock.
    pub clock: u64,
}

impl Strand {
    /// Room for the registers of `context`'s program, the pinned ones set.
    pub fn prepare(&mut self, context: &Context<'_>) {
        let program = context.program;
        self.vectors.clear();
        self.vectors.resize(program.vectors as usize, Lanes::ZERO);
        self.masks.clear();
        self.masks.resize(program.masks as usize, 0);
        self.masks[program.parks as usize + 1] = Mask::MAX;
        self.private.clear();
        self.private.resize((program.shader.private_bytes as usize).div_ceil(4), Lanes::ZERO);
        context.pin_constants(&mut self.vectors);
    }

    /// Starts the lanes of `identity` at the first instruction.
    #[inline]
    pub fn start(&mut self, context: &Context<'_>, identity: &SubgroupIdentity) {
        context.pin_identity(identity, &mut self.vectors);
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
    pub fn has_parked(&self, parks: usize) -> bool {
        self.masks[..parks].iter().any(|park| *park != 0)
    }

    /// Takes the parked lanes, which go on at `join`, as a strand of their own. `None` if no lane is parked.
    pub fn split(&mut self, context: &Context<'_>, join: u32) -> Option<Strand> {
        let parks = context.program.parks as usize;
        if !self.has_parked(parks) {
            return None;
        }
        let mut other = self.clone();
        other.mask = 0;
        other.live &= !self.mask;
        other.pc = join;
        self.live = self.mask;
        self.masks[..parks].fill(0);
        Some(other)
    }

    /// Of the lanes that have started only those of `lanes` are in this strand.
    pub fn restrict(&mut self, lanes: Mask) {
        self.mask &= lanes;
        self.live &= lanes;
    }

    /// A digest of everything that further execution depends on, memory excepted.
    pub fn digest(&self) -> u64 {
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
    pub fn merge(&mut self, other: &Strand, parks: usize) {
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
