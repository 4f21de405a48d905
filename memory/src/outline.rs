//! What the text of a shader says about its instructions.
//!
//! The memory system sees instructions when they are executed. Where a new instruction could stand, and which
//! two belong together, is in the text, which the interpreter knows. Explanations of races ask it here, so
//! that a fix is one that can be written.

use crate::access::{AtomicOp, Site};
use crate::scope::Scope;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Where a control barrier goes to separate two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarrierPlace {
    /// Between the two accesses, in the order of the shader.
    Between,
    /// At the end of the innermost loop that holds both.
    LoopEnd,
    /// Two barriers: between them, and at the end of the loop.
    BetweenAndLoopEnd,
    /// Between two calls of functions that hold the accesses, one of which is called more than once.
    BetweenCalls,
}

/// A place for a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The access that comes first in the shader.
    pub before: Site,
    /// The access that comes later in the shader.
    pub after: Site,
    /// At which point of the control flow around both.
    pub place: BarrierPlace,
    /// Invocations that have returned do not come here: a barrier can stand here only once they do.
    pub early_return: bool,
}

/// A shader's text, as far as it decides which edits make sense.
pub trait Outline: Debug + Send + Sync {
    /// Where all invocations of an instance of `execution` that execute the two instructions pass together,
    /// between an execution of one and an execution of the other, and no barrier of that scope stands yet.
    /// For a workgroup, if there is no such place: where they would, if none of them returned before.
    /// `None`: nowhere. For a scope wider than workgroup: where a dispatch could be cut in two.
    fn gap(&self, first: Site, second: Site, execution: Scope) -> Option<Gap>;

    /// Whether in every workgroup all invocations that execute the one or the other instruction are of one
    /// subgroup.
    fn one_subgroup(&self, first: Site, second: Site) -> bool;

    /// What a read-modify-write would do in place of the two instructions, if they are the load and the store
    /// of one update of a location, such as `count[i] += 1`.
    fn update(&self, load: Site, store: Site) -> Option<AtomicOp>;

    /// The store of an update, by its load, and the other way round.
    fn partner(&self, access: Site) -> Option<Site>;

    /// Whether an atomic instruction can make the access: it is of one scalar of 32 or 64 bits.
    fn scalar(&self, access: Site) -> bool;

    /// Whether no invocation executes the first instruction after the second one.
    fn precedes(&self, first: Site, second: Site) -> bool;

    /// Whether a loop ends by what the instruction, which is in it, reads.
    fn waits(&self, load: Site) -> bool;

    /// Whether what the atomic instruction reads decides what its invocation, or its workgroup, does next.
    /// Synchronising with others by an instruction whose result nobody looks at is a matter of luck.
    fn decides(&self, atomic: Site) -> bool;

    /// Whether there is an atomic instruction that [`Outline::decides`].
    fn any_decides(&self) -> bool;

    /// Whether the instruction stores a constant.
    fn stores_constant(&self, store: Site) -> bool;

    /// Whether the source language has no way to say the semantics and scopes of single instructions: GLSL
    /// without GL_KHR_memory_scope_semantics.
    fn fixed_semantics(&self) -> bool;
}
