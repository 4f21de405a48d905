//! Passes over the representation. None of them merges, moves or removes an operation that touches shared
//! memory or synchronises, and none but [`unroll`] duplicates or joins control flow across one.
//!
//! - in check mode, [`defined`] has the shader follow which variables are written; [`complete`] says which
//!   need it not, and [`constants`] takes out what turns out to be certain;
//! - [`promote`] decides which private objects become values, and where they change;
//! - [`rewrite`] walks the tree once: values for promoted objects, folding, common subexpressions, constant
//!   branches, trivial blocks;
//! - [`unroll`] writes out loops that count, where that makes values of more private objects; [`promote`] and
//!   [`rewrite`] run once more then. In check mode it runs before [`defined`], on loops that it has chosen in
//!   a copy;
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
use promote::Plan;
use rustc_hash::FxHashMap;
use unroll::Copies;

/// Runs all passes on `shader`, whose body the builder wrote; `owners` are the blocks that the private
/// objects belong to: at the end of its block an object has no value any more. The first `kept` objects stay
/// in memory. `check`: in check mode, and whether loads of memory that invocations share are followed.
pub(crate) fn run(
    mut shader: Shader,
    builder: Builder,
    owners: Vec<Option<Label>>,
    check: Option<bool>,
    kept: usize,
) -> Result<Shader, CompileError> {
    let written = check.and_then(|_| write_out(&shader, &builder, &owners));
    let as_it_is = Source { builder, owners: owners.clone(), ..Source::default() };
    match written {
        Some((written, of)) if kept == 0 => {
            let rolled = passes(shader, as_it_is, check, kept)?;
            let written = passes(written, Source { owners, ..of }, check, kept)?;
            Ok(Shader { rolled: Some(Box::new(rolled)), ..written })
        }
        written => {
            shader.written_out = written.map(|(_, of)| of.gone).unwrap_or_default();
            passes(shader, as_it_is, check, kept)
        }
    }
}

/// What a shader's body was written with.
#[derive(Default)]
struct Source {
    builder: Builder,
    owners: Vec<Option<Label>>,
    /// The loops that are gone, in ascending order.
    gone: Vec<Label>,
    copies: Copies,
}

fn passes(mut shader: Shader, of: Source, check: Option<bool>, kept: usize) -> Result<Shader, CompileError> {
    let Source { mut builder, mut owners, gone, mut copies } = of;
    builder.site = Site(0);
    if let Some(loads) = check {
        defined::instrument(&mut shader, &mut builder, &mut owners, loads);
    }
    let plan = promote::plan(&mut shader, &builder, &owners, &copies, kept);
    let mut builder = rewrite::run(&mut shader, builder, &plan)?;
    let mut again = !gone.is_empty();
    if check.is_none() && kept == 0 {
        let chosen = unroll::choose(&shader, &builder);
        if !chosen.is_empty() {
            copies = unroll::write(&mut shader, &mut builder, &chosen).unwrap_or_default();
            again = true;
        }
    }
    if again {
        let plan = promote::plan(&mut shader, &builder, &rest(&owners, &plan), &copies, 0);
        builder = rewrite::run(&mut shader, builder, &plan)?;
    }
    shader.values = builder.values;
    let known = if shader.origins.is_empty() { FxHashMap::default() } else { constants::find(&mut shader) };
    dead::run(&mut shader, &known)?;
    Ok(shader)
}

/// The owners of the objects that stay in memory.
fn rest(owners: &[Option<Label>], plan: &Plan) -> Vec<Option<Label>> {
    let stays = |(owner, base): (&Option<Label>, &Option<u32>)| base.is_none().then_some(*owner);
    owners.iter().zip(&plan.base).filter_map(stays).collect()
}

/// In check mode, before anything is followed and folded: the shader with the loops written out that count,
/// where that makes values of objects which stay in memory otherwise. Which these are shows in a copy, all
/// values of which are values that can be; there they are written out for a trial. `None`: it would not help.
fn write_out(shader: &Shader, builder: &Builder, owners: &[Option<Label>]) -> Option<(Shader, Source)> {
    let none = Copies::default();
    let mut trial = shader.clone();
    let plan = promote::plan(&mut trial, builder, owners, &none, 0);
    if trial.private.is_empty() {
        return None;
    }
    let mut b = rewrite::run(&mut trial, builder.clone(), &plan).ok()?;
    let chosen = unroll::choose(&trial, &b);
    if chosen.is_empty() {
        return None;
    }
    unroll::write(&mut trial, &mut b, &chosen)?;
    let plan = promote::plan(&mut trial, &b, &rest(owners, &plan), &none, 0);
    if chosen.objects.iter().any(|object| plan.base[*object].is_none()) {
        return None;
    }
    let (mut written, mut b) = (shader.clone(), builder.clone());
    let copies = unroll::write(&mut written, &mut b, &chosen)?;
    let of = Source { builder: b, gone: chosen.labels(), copies, ..Source::default() };
    (!complete::too_many(&written, &of.builder)).then_some((written, of))
}
