//! Finds out that nothing will ever change: every unit that runs comes back to a state that it was in, and
//! memory has not changed meanwhile.
//!
//! A unit's state is where it stands and the registers of its running lanes. Between two looks at the same
//! state it has changed nothing (a store or an atomic may have left the value that was there), and read only
//! newest values: a load that staleness made return an old one puts the decision off. So what it does next is
//! what it did before, and the same again. Barriers do not matter to that: they have units wait for others,
//! and all that run come back. Only strands that merge there begin anew. A loop that counts its turns never
//! comes back: it ends some day, or the watchdog ends it.

use super::strand::Strand;
use pellucid_memory::system::{LANES, Lanes, Mask, Observed, ReadSeen};
use std::collections::BTreeMap;

/// Who: workgroup, subgroup, strand.
type Who = (u32, u32, u32);

/// What a unit does next depends on this and on memory.
#[derive(Clone, Debug)]
struct State {
    pc: u32,
    mask: Mask,
    masks: Vec<Mask>,
    vectors: Vec<Lanes>,
    private: Vec<Lanes>,
    clock: u64,
}

impl State {
    fn of(strand: &Strand) -> State {
        let active =
            |file: &[Lanes]| -> Vec<Lanes> { file.iter().map(|lanes| kept(lanes, strand)).collect() };
        State {
            pc: strand.pc,
            mask: strand.mask,
            masks: strand.masks.clone(),
            vectors: active(&strand.vectors),
            private: active(&strand.private),
            clock: strand.clock,
        }
    }

    /// Whether `strand` is in this state. `likely`: a vector register that may tell; the one that does is
    /// put there, which in a loop that counts is the same in each turn.
    fn is_of(&self, strand: &Strand, likely: &mut usize) -> bool {
        let differs =
            |k: usize| self.vectors.get(k) != strand.vectors.get(k).map(|v| kept(v, strand)).as_ref();
        if (self.pc, self.mask, self.clock) != (strand.pc, strand.mask, strand.clock)
            || differs(*likely)
            || self.masks != strand.masks
        {
            return false;
        }
        if let Some(k) = (0..self.vectors.len().max(strand.vectors.len())).find(|k| differs(*k)) {
            *likely = k;
            return false;
        }
        self.private.len() == strand.private.len()
            && self.private.iter().zip(&strand.private).all(|(a, b)| *a == kept(b, strand))
    }
}

/// What running lanes hold in a register.
fn kept(lanes: &Lanes, strand: &Strand) -> Lanes {
    Lanes(std::array::from_fn(|j| lanes.0[j] & (strand.mask >> (j % LANES) & 1).wrapping_neg()))
}

/// What a unit did in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Did {
    /// It changed memory for certain, or ended.
    pub changed: bool,
    /// It stored, maybe what was there already.
    pub stored: bool,
    /// It arrived at a workgroup barrier.
    pub arrived: bool,
}

/// What follows from a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchResult {
    /// Nothing yet.
    Goes,
    /// A watch begins: memory is to be observed, and units that can run may be expected to come back.
    Begins,
    /// No unit that runs can do anything else any more.
    Stuck,
}

/// A unit in a watch.
#[derive(Clone, Debug, Default)]
struct Watched {
    /// Its first state in the watch.
    state: Option<State>,
    /// It was in that state again.
    back: bool,
    /// What it read last.
    read: Option<ReadSeen>,
    /// The register that told its state from the first one last.
    differs: usize,
}

/// Watches the units of a dispatch for as long as nothing changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpinWatch {
    /// Steps without a change for certain; during a watch: without any.
    quiet: u64,
    /// Steps without a change, a store or a barrier.
    idle: u64,
    /// The watch's length so far, and when it ends.
    span: u64,
    until: u64,
    units: BTreeMap<Who, Watched>,
    /// An old value was read in the watch.
    unsettled: bool,
    /// Who ran in the watch before.
    before: BTreeMap<Who, Option<ReadSeen>>,
}

impl SpinWatch {
    /// Something has changed.
    pub fn changed(&mut self) {
        self.idle = 0;
        self.quiet = 0;
        if self.until > 0 {
            self.until = 0;
            self.unsettled = false;
            self.units.clear();
            self.before.clear();
        }
    }

    /// Whether a watch goes on: what memory observes is wanted.
    pub fn watches(&self) -> bool {
        self.until > 0
    }

    /// A unit has run up to a visible operation, a back-edge, a barrier or its end; `seen` is what memory
    /// observed, if a watch goes on. `span` steps in a row without a change make a watch worth while.
    pub fn step(&mut self, who: Who, strand: &Strand, did: Did, seen: &Observed, span: u64) -> WatchResult {
        if did.changed || (did.stored && self.watches() && seen.changed) {
            self.changed();
            return WatchResult::Goes;
        }
        self.idle = if did.stored || did.arrived { 0 } else { self.idle + 1 };
        self.quiet += 1;
        if !self.watches() {
            if self.quiet < span {
                return WatchResult::Goes;
            }
            self.span = span;
            self.until = self.quiet + span;
            return WatchResult::Begins;
        }
        self.unsettled |= seen.unsettled;
        let unit = self.units.entry(who).or_default();
        unit.read = seen.read.or(unit.read);
        match &unit.state {
            None => unit.state = Some(State::of(strand)),
            Some(state) if !unit.back => unit.back = state.is_of(strand, &mut unit.differs),
            Some(_) => {}
        }
        if self.quiet < self.until {
            return WatchResult::Goes;
        }
        if !self.unsettled && self.units.values().all(|unit| unit.back) {
            return WatchResult::Stuck;
        }
        // Longer loops, loops that count, or old values.
        let ran = std::mem::take(&mut self.units).into_iter().filter(|(_, unit)| unit.state.is_some());
        self.before = ran.map(|(who, unit)| (who, unit.read)).collect();
        self.unsettled = false;
        self.span *= 2;
        self.until = self.quiet + self.span;
        WatchResult::Begins
    }

    /// A unit that can run: it must come back in this watch.
    pub fn expect(&mut self, who: Who) {
        if self.watches() {
            self.units.entry(who).or_default();
        }
    }

    /// Steps without a change, a store or a barrier.
    pub fn idle(&self) -> u64 {
        self.idle
    }

    /// Whether a unit ran since the watch began, or in the one before.
    pub fn runs(&self, who: Who) -> bool {
        self.units.get(&who).is_some_and(|unit| unit.state.is_some()) || self.before.contains_key(&who)
    }

    /// Whether a unit has come back to its state since the watch began.
    pub fn repeats(&self, who: Who) -> bool {
        self.units.get(&who).is_some_and(|unit| unit.back)
    }

    /// What a unit read last.
    pub fn read(&self, who: Who) -> Option<ReadSeen> {
        self.units.get(&who).and_then(|unit| unit.read).or_else(|| self.before.get(&who).copied().flatten())
    }
}

#[cfg(test)]
mod tests;
