//! Drives a VK-GL-CTS binary over a selection of cases, against any driver, and says how the results differ
//! from what was expected.
//!
//! What this crate guarantees:
//!
//! - **Every selected case ends with exactly one result.** The suite's binary runs groups of cases; when it
//!   crashes or hangs, the case in flight gets the blame ([`Status::Crash`], [`Status::Timeout`]) and the
//!   cases that it never reached run in a new process. A case that the binary does not know is
//!   [`Status::Missing`].
//! - **A run that is killed loses nothing.** Each finished case is one line of a [`journal`]; `--resume` runs
//!   only the cases that have none.
//! - **The exit status tells** (see [`verdict::Verdict`] and [`exit`]): 0 as expected, 1 regression,
//!   2 the runner could not do its work, 3 nothing worse and something better.
//! - **Reports are functions of the results**: sorted by name, without times of day, host names or paths in
//!   the order of anything.
//!
//! The way of a run: [`select`] reads lists and patterns, [`shard`] takes one part, [`matrix`] multiplies the
//! driver's options, [`run`] schedules groups on processes ([`process`], [`output`]), [`journal`] remembers,
//! [`verdict`] judges, [`report`] renders.

pub mod cli;
pub mod commands;
pub mod error;
pub mod exit;
pub mod journal;
pub mod logs;
pub mod matrix;
pub mod merge;
pub mod output;
pub mod pattern;
pub mod process;
pub mod progress;
pub mod record;
pub mod report;
pub mod run;
pub mod select;
pub mod shard;
pub mod status;
pub mod verdict;

pub use error::Error;
pub use status::Status;
