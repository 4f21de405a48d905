//! Choices: who runs next, and which admissible value a load returns.
//!
//! Everything that a modelled execution leaves open goes through one [`Chooser`], so that an execution is a
//! function of its choices: a seed gives one ([`Seeded`]), a recorded list gives it again ([`Replay`]), and
//! [`Exhaustive`] gives all of them, one execution after the other. Nothing here depends on host threads,
//! addresses or time.

use std::sync::{Arc, Mutex, PoisonError};

/// Decides what the model leaves open.
pub trait Chooser {
    /// One of `0..options`; `options` is at least 1.
    fn choose(&mut self, options: usize) -> usize;
}

/// Choices as a function of a seed and of how many were made.
#[derive(Clone, Debug)]
pub struct Seeded {
    state: u64,
}

impl Seeded {
    /// The choices of `seed`.
    pub fn new(seed: u64) -> Seeded {
        Seeded { state: seed ^ 0x9e37_79b9_7f4a_7c15 }
    }
}

impl Chooser for Seeded {
    fn choose(&mut self, options: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % options.max(1) as u64) as usize
    }
}

/// Recorded choices, then the first option for ever.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    choices: Vec<usize>,
    made: usize,
}

impl Replay {
    /// These choices, in this order.
    pub fn new(choices: Vec<usize>) -> Replay {
        Replay { choices, made: 0 }
    }
}

impl Chooser for Replay {
    fn choose(&mut self, options: usize) -> usize {
        let choice = self.choices.get(self.made).copied().unwrap_or(0);
        self.made += 1;
        choice.min(options.saturating_sub(1))
    }
}

/// Remembers what another chooser chose, for a [`Replay`].
#[derive(Clone, Debug)]
pub struct Recording<C> {
    inner: C,
    /// The choices so far.
    pub choices: Vec<usize>,
}

impl<C: Chooser> Recording<C> {
    /// Records the choices of `inner`.
    pub fn new(inner: C) -> Recording<C> {
        Recording { inner, choices: Vec::new() }
    }
}

impl<C: Chooser> Chooser for Recording<C> {
    fn choose(&mut self, options: usize) -> usize {
        let choice = self.inner.choose(options);
        self.choices.push(choice);
        choice
    }
}

/// All sequences of choices, depth first, by executing again from the start.
///
/// ```
/// use pellucid_memory::schedule::{Chooser, Exhaustive};
///
/// let mut all = Exhaustive::new(100);
/// let mut seen = Vec::new();
/// while all.next_execution() {
///     let first = all.choose(2);
///     seen.push((first, if first == 1 { all.choose(3) } else { 0 }));
/// }
/// assert_eq!(seen, [(0, 0), (1, 0), (1, 1), (1, 2)]);
/// assert!(all.complete());
/// ```
#[derive(Clone, Debug)]
pub struct Exhaustive {
    /// The choice made, and out of how many.
    path: Vec<(usize, usize)>,
    depth: usize,
    executions: u64,
    most: u64,
    ended: bool,
}

impl Exhaustive {
    /// At most `most` executions.
    pub fn new(most: u64) -> Exhaustive {
        Exhaustive { path: Vec::new(), depth: 0, executions: 0, most, ended: false }
    }

    /// Prepares the next execution; false when all were made, or the bound is reached.
    pub fn next_execution(&mut self) -> bool {
        if self.executions > 0 {
            self.path.truncate(self.depth);
            while let Some((choice, options)) = self.path.last_mut() {
                *choice += 1;
                if choice < options {
                    break;
                }
                self.path.pop();
            }
            if self.path.is_empty() {
                self.ended = true;
                return false;
            }
        }
        if self.ended || self.executions >= self.most {
            return false;
        }
        self.depth = 0;
        self.executions += 1;
        true
    }

    /// Executions so far.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Whether every execution was made.
    pub fn complete(&self) -> bool {
        self.ended
    }

    /// The choices of the present execution so far.
    pub fn choices(&self) -> Vec<usize> {
        self.path[..self.depth].iter().map(|(choice, _)| *choice).collect()
    }
}

impl Chooser for Exhaustive {
    fn choose(&mut self, options: usize) -> usize {
        if self.depth == self.path.len() {
            self.path.push((0, options.max(1)));
        }
        let (choice, _) = self.path[self.depth];
        self.depth += 1;
        choice.min(options.saturating_sub(1))
    }
}

/// A chooser that the scheduler and the memory system of one execution share.
#[derive(Debug, Default)]
pub struct Shared<C>(Arc<Mutex<C>>);

impl<C> Clone for Shared<C> {
    fn clone(&self) -> Shared<C> {
        Shared(self.0.clone())
    }
}

impl<C> Shared<C> {
    /// Shares `chooser`.
    pub fn new(chooser: C) -> Shared<C> {
        Shared(Arc::new(Mutex::new(chooser)))
    }

    /// Looks at the chooser.
    pub fn with<T>(&self, look: impl FnOnce(&mut C) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<C: Chooser> Chooser for Shared<C> {
    fn choose(&mut self, options: usize) -> usize {
        self.with(|chooser| chooser.choose(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_replays() {
        let mut recording = Recording::new(Seeded::new(7));
        let first: Vec<usize> = (1..50).map(|options| recording.choose(options)).collect();
        let mut replay = Replay::new(recording.choices);
        let again: Vec<usize> = (1..50).map(|options| replay.choose(options)).collect();
        assert_eq!(first, again);
        assert!(first.iter().enumerate().all(|(index, choice)| *choice <= index));
        assert_eq!(replay.choose(9), 0);
    }

    #[test]
    fn the_bound_is_said() {
        let mut all = Exhaustive::new(3);
        let mut executions = 0;
        while all.next_execution() {
            all.choose(2);
            all.choose(2);
            executions += 1;
        }
        assert_eq!((executions, all.complete()), (3, false));
    }
}
