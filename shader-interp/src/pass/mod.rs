//! Passes over the representation. None of them merges, moves or removes an operation that touches shared
//! memory or synchronises, and none but [`unroll`] duplicates or joins control flow across one.
//!
//! - in check mode, [`defined`] has the shader follow which variables are written; [`complete`] says which
//!   need it not, and [`constants`] takes out what turns out to be certain;
//! - [`promote`] decides which private objects become values, and where they change;
//! - [`rewrite`] walks the tree once: values for promoted objects, folding, common subexpressions, constant
//!   branches, trivial blocks;
//! - [`unroll`] writes out loops that count, in code for flat memory, where that makes values of more private
//!   objects; [`promote`] and [`rewrite`] run once more then;
//! - [`numbering`] has one operation stand for equal ones, in both passes and in code generation;
//! - [`dead`] removes block results and loop parameters that carry one value or none, and pure operations
//!   that nobody uses, numbers values in the order of their definitions and checks that each is defined
//!   before it is used.

pub(crate) mod builder;
mod complete;
mod constants;
mod dead;
pub(crate) mod defined;
pub(crate) mod fold;
pub(crate) mod numbering;
mod promote;
mod rewrite;
mod unroll;

use crate::CompileError;
use crate::ir::{Label, Shader};
use builder::Builder;
use pellucid_memory::access::Site;
use rustc_hash::FxHashMap;

/// Runs all passes on `shader`, whose body the builder wrote; `owners` are the blocks that the private
/// objects live in. `check`: values that nothing has written are to be noticed where they are used; true:
/// also those of memory that invocations share. The first `kept` private objects do not become values.
pub(crate) fn run(
    mut shader: Shader,
    mut builder: Builder,
    mut owners: Vec<Option<Label>>,
    check: Option<bool>,
    kept: usize,
) -> Result<Shader, CompileError> {
    builder.site = Site(0);
    if let Some(loads) = check {
        defined::instrument(&mut shader, &mut builder, &mut owners, loads);
    }
    let plan = promote::plan(&mut shader, &builder, &owners, kept);
    let mut builder = rewrite::run(&mut shader, builder, &plan)?;
    if check.is_none() && kept == 0 && unroll::run(&mut shader, &mut builder) {
        let stays = |(owner, base): (&Option<Label>, &Option<u32>)| base.is_none().then_some(*owner);
        let owners: Vec<_> = owners.iter().zip(&plan.base).filter_map(stays).collect();
        let plan = promote::plan(&mut shader, &builder, &owners, 0);
        builder = rewrite::run(&mut shader, builder, &plan)?;
    }
    shader.values = builder.values;
    let known = if shader.origins.is_empty() { FxHashMap::default() } else { constants::find(&mut shader) };
    dead::run(&mut shader, &known)?;
    Ok(shader)
}
