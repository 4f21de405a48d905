//! Litmus tests: small concurrent programs with a question about the executions that the memory model allows.
//!
//! Two formats are read: [`herd`] (`.litmus`: programs with loops, branches and a condition on final states)
//! and [`khronos`] (`.test`: one execution skeleton with assertions about its consistent executions). A test
//! is decided in independent ways that must agree:
//!
//! - [`axioms`] (and [`assertion`] for `.test` files) enumerates candidate executions and judges each by
//!   [`crate::model`];
//! - [`machine`] explores schedules and reads-from choices over store histories, as the modelled memory does
//!   at run time;
//! - through Vulkan, by the command line's lowering to SPIR-V.
//!
//! [`run`] puts one question to one test; [`expect`] checks directories; [`progress`] decides termination;
//! [`report`] and [`witness`] carry what was found.
//!
//! Every answer says whether a bound was hit before the search was exhaustive.

pub mod assertion;
pub mod axioms;
mod barrier;
mod candidate;
pub mod expect;
mod flags;
pub mod herd;
pub mod khronos;
pub mod machine;
mod path;
pub mod predicate;
pub mod program;
pub mod progress;
pub mod random;
pub mod report;
pub mod run;
mod skeleton;
mod syntax;
pub mod text;
pub mod witness;

pub use syntax::{Position, SyntaxError};

/// A test in either format.
#[derive(Clone, Debug)]
pub enum Test {
    /// The Khronos format.
    Khronos(khronos::KhronosTest),
    /// The herd-style format.
    Herd(program::LitmusProgram),
}
