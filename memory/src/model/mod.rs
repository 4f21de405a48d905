//! The axiomatic engine: decides every relation of the Vulkan memory model for one recorded execution.
//!
//! What it guarantees: given an [`Execution`] (events, system-synchronizes-with, reads-from and scoped
//! modification order), a [`Judgement`] holds exactly the relations that the specification's *Memory Model*
//! appendix defines, under the specification's names ([`RelationName`]): no approximation, no bound on the
//! shape of the program; up to [`MAX_EVENTS`] events. It is the judge of the online detector, of the store
//! histories and of the litmus runs, so it favours closeness to the text over speed; the speed that it has
//! comes from representing each relation as a square bit matrix whose rows are machine words.
//!
//! # From the text to matrices
//!
//! 1. *Scope instances.* Two operations are in scope when they share the instance at the narrower of their
//!    two scopes (both must be in the instance of the other's scope). Potentially-mutually-ordered atomics
//!    also access the same set of locations through the same reference; mutually-ordered ones are both on the
//!    device or both on the host.
//! 2. *Scoped modification order* is a total order per location restricted to mutually-ordered atomic writes.
//!    It is not required to be transitive: A, B and C may have scopes under which A and C are not mutually
//!    ordered.
//! 3. *Release sequences* follow the immediate successors in scoped modification order through
//!    read-modify-writes; for a release barrier the *hypothetical* sequence starts at any atomic write.
//! 4. *Inter-thread-happens-before* is one transitive closure per set of storage classes. Only sets that are
//!    intersections of the semantics that occur can give an order that a larger set does not already give, so
//!    those are the ones closed over. *Happens-before* is their union with program order and is deliberately
//!    neither closed nor required to be acyclic: all members of one control barrier instance happen before
//!    each other.
//! 5. *Availability and visibility chains* raise a write from the domain of one scope to a wider one;
//!    [`ChainRule`] says on what a link is conditioned.
//! 6. *Location-ordered*, per memory location, is the relation that races and visibility are defined by.
//! 7. An execution is *consistent* when location-ordered, reads-from, from-reads and scoped modification
//!    order have no cycle and no plain read returns a write that another one shadows.
//!
//! Choices where the text is silent are options of [`ModelOptions`], each documented there.

pub(crate) mod alloy;
mod event;
mod execution;
mod judgement;
mod location;
mod matrix;
mod options;
mod order;
mod pre_execution;
mod relation;
mod verdict;

pub use event::{
    Agent, BarrierInstance, Covers, Domain, DomainOperation, Event, EventId, Location, LocationSet,
    ReferenceId,
};
pub use execution::{Execution, ModelError};
pub use judgement::{Inconsistency, Judgement, Race, RelationName};
pub use options::{ChainRule, ModelOptions, ReadModifyWrite};
pub use relation::Relation;

pub(crate) use matrix::{Matrix, Row, Wide};
pub(crate) use pre_execution::PreExecution;
pub(crate) use verdict::{Candidate, Verdict};

/// The largest number of events that one execution may have.
pub const MAX_EVENTS: usize = 1024;
