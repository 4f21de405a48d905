//! Hazards between commands: the device-side half of the model's API level.
//!
//! A *queue operation* is one stage of one command (the parameter read of an indirect dispatch, the
//! invocations of a dispatch, a copy) and is an agent of its own. Memory dependencies, semaphores, fences and
//! submissions relate operations by system-synchronizes-with and hold the availability and visibility
//! operations of the device domain. Because every synchronization scope is a prefix of a queue in submission
//! order, per stage, what an operation knows is a clock keyed by queue and stage, joined by maximum; nothing
//! is ever searched.
//!
//! [`Tracker`] takes the commands of all queues in an order in which they may execute, with the byte ranges
//! that each operation really accessed, and answers with one [`Hazard`] for each pair that is not
//! location-ordered, together with the fewest bits whose addition to one barrier would order it. It never
//! takes a pair as ordered that the appendix does not order.
//!
//! Image layout transitions and queue family ownership transfers are operations of no stage, inside the
//! dependency that performs them: after what it makes available, before what it makes visible
//! (`transition.rs`).
//!
//! What is deliberately literal: a source scope of TOP_OF_PIPE and a destination scope of BOTTOM_OF_PIPE hold
//! no stages; scopes take in the logically earlier and later stages, access scopes do not; a write after a
//! read needs an execution dependency only; a write after a write needs availability only; elements of one
//! vkCmdPipelineBarrier are one dependency, elements of one VkDependencyInfo are several.
//!
//! Sparse bindings are operations that nothing but semaphores, fences and the host order with others
//! (`binding.rs`).
//!
//! The host is an agent as well (`host.rs`): a submission makes visible what it wrote and made available
//! before.

mod binding;
mod byte_map;
mod byte_set;
mod clock;
mod comb;
mod dependency;
mod event;
mod explain;
mod footprint;
mod host;
mod id;
mod lack;
mod past;
mod places;
mod range;
mod runs;
mod shadow;
mod tracker;
mod transition;

pub use byte_set::ByteSet;
pub use comb::{Comb, Runs};
pub use dependency::{AccessScope, Accesses, Dependency, Stages, Transition};
pub use event::EventToken;
pub use explain::{BarrierGap, Between, Fix, Hazard, SemaphoreGap, SemaphoreUse};
pub use footprint::Footprint;
pub use host::HostHazard;
pub use id::{OperationId, QueueId};
pub(crate) use places::Gathered;
pub use range::{Range, RangeMap};
pub use shadow::Operand;
pub use tracker::{Payload, Tracker};

#[cfg(test)]
mod tests;
