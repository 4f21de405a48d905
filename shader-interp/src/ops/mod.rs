//! Operations that work across lanes or go through tables, out of the dispatch loop.

pub mod group;
pub mod image;
pub(crate) mod matrix;
pub(crate) mod memory;
