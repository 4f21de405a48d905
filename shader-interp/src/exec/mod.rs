//! Execution of programs: [`plain::dispatch`] over flat memory on host threads, [`modelled::dispatch`] over
//! the modelled memory under a scheduler, [`explore::explore`] over the modelled memory in every way that the
//! memory model allows, [`step::Stepper`] one instruction at a time.
//!
//! A subgroup runs as a *strand* until it ends, arrives at a workgroup barrier, or (modelled mode) stands
//! before a visible operation. Lanes that a divergent spin waits for are in park registers; when a strand has
//! taken very many back-edges with lanes parked, those lanes become a strand of their own, so that both go on
//! in turn. Strands merge at barriers. No host stack is kept for anything that waits.

mod apart;
mod calls;
pub(crate) mod context;
mod divergence;
pub(crate) mod entry;
pub mod explore;
// Unordered comparisons are negations of ordered ones: that is what they mean, NaN included.
#[allow(clippy::neg_cmp_op_on_partial_ord, clippy::double_comparisons)]
mod far;
mod flat;
mod granularity;
mod host_thread;
mod lane;
pub(crate) mod launch;
pub(crate) mod level;
mod limits;
pub mod modelled;
pub mod plain;
pub mod prints;
pub mod progress;
// As above.
#[allow(clippy::neg_cmp_op_on_partial_ord, clippy::double_comparisons)]
pub(crate) mod run;
mod scheduler;
mod shared;
mod spin;
pub mod step;
pub(crate) mod strand;
pub(crate) mod target;
mod turns;
pub mod waiting;
mod workgroup;

/// What [`shared`] is made of: its tests run under a scheduler that tries interleavings.
mod sync {
    pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    pub use std::sync::{Mutex, MutexGuard};
}
