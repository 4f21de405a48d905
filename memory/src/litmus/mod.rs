//! Litmus tests: small concurrent programs with a question about the executions that the memory model allows.
pub mod assertion;
pub mod axioms;
mod barrier;
pub mod herd;
pub mod khronos;
mod path;
pub mod predicate;
pub mod program;
pub mod progress;
mod skeleton;
mod syntax;
pub mod text;
pub mod witness;

pub use syntax::{Position, SyntaxError};
