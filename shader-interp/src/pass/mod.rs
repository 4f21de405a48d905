//! Passes over the representation. None of them merges, moves or removes an operation that touches shared memory or synchronises, and none
//! duplicates or joins control flow across one.
//!
//! - [`promote`] decides which private objects become values, and where they change;
//! - [`rewrite`] walks the tree once: values for promoted objects, folding, common subexpressions, constant branches, trivial blocks;
//! - [`dead`] removes block results and loop parameters that carry one value or none, and pure operations that nobody uses, numbers values
//!   in the order of their definitions and checks that each is defined before it is used.

pub(crate) mod builder;
mod dead;
pub(crate) mod fold;
mod promote;
mod rewrite;

use crate::CompileError;
use crate::ir::{Label, Shader};
use builder::Builder;

/// Runs all passes on `shader`, whose body the builder wrote; `owners` are the blocks that the private objects live in.
pub(crate) fn run(
    mut shader: Shader,
    builder: Builder,
    owners: &[Option<Label>],
) -> Result<Shader, CompileError> {
    let plan = promote::plan(&mut shader, &builder, owners);
    rewrite::run(&mut shader, builder, &plan)?;
    dead::run(&mut shader)?;
    Ok(shader)
}
