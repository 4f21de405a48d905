//! The online race detector: for each access, while it happens, which earlier accesses to its locations are
//! location-ordered before it.
//!
//! It never claims an order that the axioms ([`crate::model`]) do not give. It misses two rare ones, so a
//! pair that it calls unordered is judged once more by the axioms, on a slice of the execution, before
//! anything depends on it.
//!
//! # How
//!
//! Each agent carries [`Clocks`]. Some of them are kept for each set of storage classes (mask):
//!
//! - `before`: the operations that inter-thread-happen-before its next one;
//! - `available`: the writes that are available in its scope instances through operations that happen before;
//! - `imported`: the writes that visibility chains brought into its scope instances;
//! - `made_available` and, of its own writes, `own_available`: what the agent itself made available;
//! - `exported` and `own_exported`: what the agent itself made visible to others of its scope instances.
//!
//! `visible` is what the agent's visibility operations made visible to it, whatever the mask. A release
//! publishes a copy of the clocks; an acquire joins it, for the masks within both semantics. Times advance
//! only at releases, availability and visibility operations and barriers: accesses between two of them are
//! alike.
//!
//! | file | subject |
//! |---|---|
//! | `topology` | which agents share a scope instance: ranges of agent numbers |
//! | `vector_clock` | agent to time, as spans of agents |
//! | `span_tree` | many spans, as a tree that clocks share in parts |
//! | `clocks` | what one agent knows; releases and what is pending |
//! | `release_sequence` | the releases that an atomic write passes on |
//! | `agents` | availability, visibility and taking in a release as changes of clocks |
//! | `blocks` | where the state of agents is kept |
//! | `operations` | fences, barriers and atomics |
//! | `order` | the rules for one pair of accesses |
//! | `around` | the execution around a race, for its picture |
//! | `standing` | how far a write is available and visible, for a debugger |
//! | `histories` | histories of words, by number |
//! | `cell` | what is remembered of a word |
//! | `shadow` | the same of each word of device memory |
//! | `early` | reads before the first write of the dispatch |
//! | `states` | cells without their agents and values, numbered |
//! | `split` | the same of the halves of words, and of bytes |

mod agents;
mod around;
mod blocks;
mod cell;
mod clocks;
mod early;
mod explain;
mod fix;
mod histories;
mod operations;
mod order;
mod release_sequence;
mod shadow;
mod slice;
mod span_tree;
mod split;
mod standing;
mod states;
mod topology;
mod vector_clock;

#[cfg(test)]
pub(crate) mod tests;

pub use agents::{Agents, Operation};
pub use blocks::{Times, WholeBarrier};
pub use cell::{Cell, Dropped, Keep, NOBODY, Nearness};
pub use clocks::{Clocks, Release};
pub use explain::{Case, Explanation, Within};
pub use histories::Histories;
pub use operations::Tangle;
pub use order::{Known, Later, Order, Record, StaticAccess};
pub use release_sequence::ReleaseSequence;
pub use shadow::{CellRun, PAGE_BYTES, PAGE_WORDS, RUN, Shadow};
pub use slice::{Pair, Slice, Space, Trace};
pub use split::{Split, bytes_of, readers, unwritten, writes};
pub use standing::Standing;
pub use states::{
    ELSEWHERE, IN_BYTES, IN_CELL, IN_HALVES, IN_RUN, Next, Parties, Question, Situation, StateList, States,
};
pub use topology::{AgentId, Level, Topology};
pub use vector_clock::{Time, VectorClock};
