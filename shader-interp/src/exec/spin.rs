//! Finds out that nothing will ever change: every unit that runs comes back to a state that it was in, and memory has not changed meanwhile.
//!
//! A unit's state is where it stands and the registers of its running lanes. Between two looks at the same state it has read only, for nothing
//! has changed memory since the watch began; so it will read the same again, once the staleness budget has brought every reader to the newest
//! values. A loop that counts its turns never comes back: it ends some day, or the watchdog ends it.

use super::strand::Strand;
use pellucid_memory::system::{LANES, Lanes, Mask};
use std::collections::{BTreeMap, BTreeSet};

/// Who: workgroup, subgroup, strand.
type Who = (u32, u32, u32);

/// What a unit does next depends on this and on memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    pc: u32,
    mask: Mask,
    masks: Vec<Mask>,
    vectors: Vec<Lanes>,
    private: Vec<Lanes>,
}

impl State {
    fn of(strand: &Strand) -> State {
        let active = |file: &[Lanes]| -> Vec<Lanes> {
            let kept = |lanes: &Lanes| {
                Lanes(std::array::from_fn(|j| lanes.0[j] & (strand.mask >> (j % LANES) & 1).wrapping_neg()))
            };
            file.iter().map(kept).collect()
        };
        State {
            pc: strand.pc,
            mask: strand.mask,
            masks: strand.masks.clone(),
            vectors: active(&strand.vectors),
            private: active(&strand.private),
        }
    }
}

/// Watches the units of a dispatch for as long as nothing changes.
#[derive(Debug, Default)]
pub(crate) struct SpinWatch {
    /// Steps in which nothing changed.
    quiet: u64,
    /// The watch's length so far, and when it ends.
    span: u64,
    until: u64,
    /// The first state of each unit since the watch began, and whether it came back.
    states: BTreeMap<Who, (State, bool)>,
    /// Who ran in the watch before.
    before: BTreeSet<Who>,
}

impl SpinWatch {
    /// Something has changed.
    pub fn changed(&mut self) {
        if self.quiet > 0 {
            self.quiet = 0;
            self.until = 0;
            self.states.clear();
            self.before.clear();
        }
    }

    /// A unit has run up to a visible operation and nothing has changed; `span` steps in a row make a watch worth while. True if no unit that
    /// runs can do anything else any more.
    pub fn unchanged(&mut self, who: Who, strand: &Strand, span: u64) -> bool {
        self.quiet += 1;
        if self.until == 0 {
            if self.quiet >= span {
                self.span = span;
                self.until = self.quiet + span;
            }
            return false;
        }
        match self.states.get_mut(&who) {
            None => drop(self.states.insert(who, (State::of(strand), false))),
            Some((state, back)) if !*back && state.pc == strand.pc => *back = *state == State::of(strand),
            Some(_) => {}
        }
        if self.quiet < self.until {
            return false;
        }
        if self.states.values().all(|(_, back)| *back) {
            return true;
        }
        // Longer loops, or loops that count.
        self.before = std::mem::take(&mut self.states).into_keys().collect();
        self.span *= 2;
        self.until = self.quiet + self.span;
        false
    }

    /// Steps in which nothing changed.
    pub fn quiet(&self) -> u64 {
        self.quiet
    }

    /// Whether a unit ran since the watch began, or in the one before.
    pub fn runs(&self, who: Who) -> bool {
        self.states.contains_key(&who) || self.before.contains(&who)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strand(pc: u32, value: u32) -> Strand {
        Strand { pc, mask: 0b11, vectors: vec![Lanes([value; LANES])], ..Strand::default() }
    }

    /// After how many steps of `states`, in turn, the watch is sure; `None` within 10,000.
    fn sure(states: impl Fn(u64) -> Strand) -> Option<u64> {
        let mut watch = SpinWatch::default();
        (0..10_000).find(|step| watch.unchanged((0, 0, 0), &states(*step), 100))
    }

    #[test]
    fn a_loop_that_repeats_is_found_and_one_that_counts_is_not() {
        assert_eq!(sure(|_| strand(5, 1)), Some(199));
        assert!(sure(|step| strand(5 + (step % 7) as u32, 1)).is_some());
        assert!(sure(|step| strand(5, (step % 150) as u32)).is_some(), "a long loop");
        assert_eq!(sure(|step| strand(5, step as u32)), None);
    }

    #[test]
    fn other_lanes_do_not_count() {
        let with = |step: u64| {
            let mut strand = strand(5, 1);
            strand.vectors[0].0[7] = step as u32;
            strand
        };
        assert!(sure(with).is_some());
    }

    #[test]
    fn a_change_begins_anew() {
        let mut watch = SpinWatch::default();
        for step in 0..10_000 {
            assert!(!watch.unchanged((0, 0, 0), &strand(5, 1), 100));
            if step % 150 == 149 {
                watch.changed();
            }
        }
        assert!(!watch.runs((1, 0, 0)));
    }
}
