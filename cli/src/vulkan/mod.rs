//! Litmus tests through Vulkan: lowered to SPIR-V and dispatched, again and again, on the driver in check
//! mode.
//!
//! - [`lower`]: a program as a shader, made of [`layout`] (where things go), [`phases`] (what becomes of the
//!   system's order between threads), `blocks` (control flow), `shader`, `instruction` and [`lines`] (the
//!   text that findings refer to);
//! - [`device`]: the Vulkan calls;
//! - [`batch`]: some runs in a process of their own, which the command starts: options of the driver are
//!   those of a process, and what happens to one test does not happen to the others;
//! - [`sample`]: all runs of a test, counted;
//! - [`explored`]: every execution instead, in this process, for `--by explore`;
//! - [`answer`]: what a sample says, and what it does not;
//! - [`report`]: that for people and programs.
//!
//! A sample shows what was seen. It never shows that something cannot be seen; an exploration that hit no
//! bound shows that no execution in program order does.

pub mod answer;
pub mod batch;
mod blocks;
pub mod device;
pub mod explored;
mod instruction;
pub mod layout;
pub mod lines;
pub mod lower;
pub mod phases;
pub mod report;
pub mod sample;
mod shader;

/// Why a test cannot run as a shader: what follows `litmus --by vulkan` or `--by explore`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);
