//! Exhaustive exploration of one dispatch: all schedules, all reads-from choices, all places of writes in
//! modification order.
//!
//! [`Search`] enumerates executions depth first by executing again from the start. It
//! decides who runs next and which of the admissible alternatives a memory operation takes, and is told what
//! every access did ([`Explorer`]). Three reductions keep small programs small:
//!
//! - *Partial order.* Two steps conflict if they access a common byte and one writes it. Only conflicting
//!   steps are tried in both orders (dynamic partial-order reduction, Flanagan and Godefroid, POPL 2005): a
//!   step whose order cannot matter is taken without an alternative.
//! - *States.* Two prefixes with the same execution graph (who executed what, which write every byte of every
//!   read comes from, and the order of the writes to each word) lead to the same continuations: the second is
//!   cut short. What the continuations of the first accessed is remembered, so that the partial-order
//!   reduction still sees the conflicts with what is cut (Yang, Chen, Gopalakrishnan and Kirby, SPIN 2008).
//!   Graphs are compared by a 128-bit digest.
//! - *Spins.* An actor that comes back to the same instruction with the same registers, having changed
//!   nothing, repeats itself: all it can do from there it could do from its first visit. It waits for ever
//!   then; if others wrote meanwhile what it waits for, the execution in which it looked later is explored
//!   instead, and if nobody did, that is a livelock.
//!
//! Not explored: load buffering and values out of thin air, since every actor executes in program order. What
//! else is left out is said: [`Totals::limits`] names every [`Limit`] that was met, and an exploration
//! without any is complete.

mod choices;
mod digest;
mod execution;
mod search;

pub use choices::{Choices, ChoicesError};
pub use search::Search;

use crate::race::Space;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use strum::IntoStaticStr;

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Executions that are started, those that are cut short included.
    pub executions: u64,
    /// Steps of one execution.
    pub steps: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { executions: 100_000, steps: 20_000 }
    }
}

/// What kept an exploration from being complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Limit {
    /// [`Bounds::executions`].
    Executions,
    /// [`Bounds::steps`]: an execution was cut off.
    Steps,
    /// The time for it was up.
    Time,
    /// An atomic of 8 bytes had a choice: it took the newest value.
    WideAtomics,
    /// A load of bytes from writes of different sizes had a choice: not all combinations of bytes were tried.
    MixedSizes,
    /// The shader has subgroup operations: the invocations of a subgroup executed together.
    Subgroups,
    /// Two writes race. What they leave behind is read in one order by everyone, where the model promises
    /// none.
    Races,
}

impl Limit {
    /// What output calls it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// One sentence about it.
    pub fn explanation(self) -> &'static str {
        match self {
            Limit::Executions => "the number of executions reached its bound",
            Limit::Steps => "an execution reached the bound of steps and was cut off",
            Limit::Time => "its time was up",
            Limit::WideAtomics => "64-bit atomics took the newest value only",
            Limit::MixedSizes => {
                "of bytes written by accesses of different sizes not all combinations were loaded"
            }
            Limit::Subgroups => {
                "the shader has subgroup operations: invocations of one subgroup executed together"
            }
            Limit::Races => "two writes race: all invocations saw them in one order",
        }
    }
}

/// Numbers of an exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Executions that were followed to their end.
    pub executions: u64,
    /// Executions that were cut short: their continuation had been explored.
    pub repeated: u64,
    /// What was left out; empty if nothing was.
    pub limits: BTreeSet<Limit>,
}

impl Totals {
    /// Whether every execution was explored (load buffering excepted).
    pub fn complete(&self) -> bool {
        self.limits.is_empty()
    }
}

/// Who takes steps: the invocations that run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Actor {
    /// Linear number of the workgroup.
    pub workgroup: u32,
    /// Subgroup within it.
    pub subgroup: u32,
    /// Which part of the subgroup.
    pub part: u32,
}

/// An actor that can take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The part of a subgroup that takes the step.
    pub actor: Actor,
    /// A digest of everything that its further execution depends on, apart from memory.
    pub local: u64,
    /// Its next step accesses no memory that others see: it starts, or executes a barrier.
    pub silent: bool,
    /// Invocations of it wait for others of it: what it repeats may end when those go on.
    pub parked: bool,
}

/// What one access to bytes of one word did.
#[derive(Clone, Copy, Debug)]
pub struct Accessed {
    /// The invocation.
    pub agent: u32,
    /// Which memory.
    pub space: Space,
    /// The word's number: its address over 4.
    pub word: u64,
    /// The bytes of the word that were accessed: bit `b` for byte `b`.
    pub bytes: u8,
    /// For a read, per byte, the names of the writes it comes from; 0 for what was there before.
    pub read: Option<[u64; 4]>,
    /// For a write, its place among the word's writes so far.
    pub write: Option<usize>,
    /// A write of other bits than those that its read found.
    pub changed: bool,
}

/// Follows an execution: what the model leaves open is asked, what happens is told.
pub trait Explorer {
    /// One of `0..options`; `options` is at least 1.
    fn choose(&mut self, options: usize) -> usize;

    /// An access was made. Returns the name of its write, unique in the execution and the same in all
    /// executions with this graph.
    fn accessed(&mut self, access: &Accessed) -> u64;

    /// The invocations of a workgroup have passed a workgroup barrier together.
    fn joined(&mut self, workgroup: u32);

    /// Something could not be explored.
    fn limited(&mut self, limit: Limit);
}

/// An explorer that the scheduler and the memory system of one execution share.
#[derive(Debug, Default)]
pub struct Shared<E>(Arc<Mutex<E>>);

impl<E> Clone for Shared<E> {
    fn clone(&self) -> Shared<E> {
        Shared(self.0.clone())
    }
}

impl<E> Shared<E> {
    /// Shares `explorer`.
    pub fn new(explorer: E) -> Shared<E> {
        Shared(Arc::new(Mutex::new(explorer)))
    }

    /// Looks at the explorer.
    pub fn with<T>(&self, look: impl FnOnce(&mut E) -> T) -> T {
        look(&mut self.0.lock())
    }
}

impl<E: Explorer> Explorer for Shared<E> {
    fn choose(&mut self, options: usize) -> usize {
        self.with(|explorer| explorer.choose(options))
    }

    fn accessed(&mut self, access: &Accessed) -> u64 {
        self.with(|explorer| explorer.accessed(access))
    }

    fn joined(&mut self, workgroup: u32) {
        self.with(|explorer| explorer.joined(workgroup));
    }

    fn limited(&mut self, limit: Limit) {
        self.with(|explorer| explorer.limited(limit));
    }
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// It ran on until its actors ended, or a trap.
    #[default]
    Ran,
    /// Its continuation was explored before.
    Repeated,
    /// It reached the bound of steps.
    CutOff,
    /// All actors that are left spin, and nobody wrote what they wait for.
    Livelock,
}
