//! The execution around a race, as data: what the axioms judged, in the order in which it was executed; and
//! the last turns of a livelock. The page of a report draws it.

use crate::access::Site;
use crate::agent::Invocation;
use crate::finding::{AccessKind, Place};
use crate::scope::{Scope, Semantics, StorageClasses};
use serde::{Deserialize, Serialize};

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// It accesses memory.
    Access(AccessKind),
    /// It orders its own agent's accesses (OpMemoryBarrier).
    MemoryBarrier,
    /// It waits for the others of a scope (OpControlBarrier).
    ControlBarrier {
        /// Steps of one number are of one dynamic instance.
        instance: u32,
        /// Its execution scope: the invocations that it joins are those of one instance of this scope.
        execution: Scope,
    },
}

/// One operation of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step {
    /// The static instruction.
    pub site: Site,
    /// The invocation that executed the instruction.
    pub by: Invocation,
    /// An access, a barrier, a fence or an atomic, and its semantics.
    pub does: Does,
    /// The access takes part in *Mutually-Ordered*.
    pub atomic: bool,
    /// The memory scope of a barrier or atomic, or of the access's own availability or visibility operation.
    pub scope: Scope,
    /// Acquire, release, and what is made available and visible.
    pub semantics: Semantics,
    /// The storage class of an access; empty for a barrier.
    pub class: StorageClasses,
    /// The memory of an access; of workgroup memory its address is what counts.
    #[serde(default)]
    pub place: Option<Place>,
    /// The access makes its own write available (MakePointerAvailable, MakeTexelAvailable, atomic writes).
    pub available: bool,
    /// The access is a visibility operation for itself (MakePointerVisible, MakeTexelVisible, atomic reads).
    pub visible: bool,
    /// Which access of the finding it is, from 1.
    pub access: Option<u8>,
    /// So many more invocations of the subgroup do it at once, as far as that is told.
    #[serde(default)]
    pub with: u32,
}

/// Why one step is drawn before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leads {
    /// *Program-Order*: the next step of the same agent.
    ProgramOrder,
    /// *Synchronizes-With*: of a release and an acquire, or of two barriers of one instance.
    SynchronizesWith,
    /// *Reads-From*: an atomic reads the value that this write wrote.
    ReadsFrom,
    /// Of a livelock: its agent waits for a change that the other one could make: it wrote there last, or has
    /// not reached the barrier.
    WaitsFor,
}

/// One arrow, from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Arrow {
    /// Index of a step.
    pub from: u32,
    /// Index of a step.
    pub to: u32,
    /// The relation that the arrow stands for.
    pub leads: Leads,
}

/// How far the write of a race is available, or in how wide a domain what is available is visible to its
/// read (*Availability and Visibility*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reach {
    /// The instance of this scope that the agent is in; invocation: no operation has reached further.
    pub domain: Scope,
    /// The step whose operation reached there, unless it is not told.
    pub by: Option<u32>,
    /// The narrowest instance that both agents are in: so far it has to reach.
    pub needed: Scope,
}

/// The execution around a race, or the last turns of a livelock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Around {
    /// What was executed, in this order. The first step of access 1 comes before all others of its agent,
    /// access 2 is the last.
    pub steps: Vec<Step>,
    /// What leads from one to another, ascending.
    pub arrows: Vec<Arrow>,
    /// Of a write that comes first: how far it is available when the later access is made.
    pub available: Option<Reach>,
    /// Of a read that comes second, after a write: from where memory is visible to it.
    pub visible: Option<Reach>,
    /// Steps that the axioms judged and that are not told: they lead from neither to the other.
    pub left_out: u32,
}
