//! Litmus programs as SPIR-V compute shaders.
//!
//! Scopes become real ones: a thread of the test is one invocation, at the place in the grid that its
//! subgroup and workgroup numbers ask for. Storage classes become real ones too: storage buffers, storage
//! texel buffers (whose class is ImageMemory) and Workgroup variables. Aliases are descriptors of the same
//! memory. The code of all threads is one state machine, a switch on the next block inside a loop, so that
//! any `goto` is structured control flow. Final registers are written to a result buffer.
//!
//! What a shader cannot express is refused by name, never approximated: several queue families (the device
//! has one), a fourth storage class, named and quorum barriers, system-synchronizes-with that is not a
//! barrier between dispatches.

use super::Refused;
use super::blocks::{Blocks, named};
use super::layout::{Resource, Shape, assign};
use super::lines::Lines;
use super::phases::{Phase, phases};
use super::shader::Shader;
use pellucid_memory::litmus::program::LitmusProgram;

/// A test as a shader and what must stand around it.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module.
    pub words: Vec<u32>,
    /// Descriptors, by binding; binding 0, the results, is not among them.
    pub resources: Vec<Resource>,
    /// `requiredSubgroupSize`.
    pub subgroup_size: u32,
    /// LocalSize.x.
    pub local_size: u32,
    /// Workgroups.
    pub groups: u32,
    /// Dispatches, each with whether a full memory barrier (true) or an execution dependency (false) precedes
    /// it. The push constant is the index of the dispatch.
    pub phases: Vec<Phase>,
    /// Registers per thread; thread `t`'s register `r` is word `t * words_per_thread() + r` of the results.
    pub registers: u32,
    /// The source text that findings refer to.
    pub lines: Lines,
    /// For each thread that executes control barriers, the first of those with which it does.
    barrier_group: Vec<Option<usize>>,
}

/// Lowers a program for devices of that shape.
///
/// # Errors
/// [`Refused`] names what has no counterpart.
pub fn lower(program: &LitmusProgram, shape: Shape) -> Result<Lowered, Refused> {
    fits(program)?;
    let lines = Lines::of(program);
    let (mapped, layout) = assign(program, shape)?;
    let (levels, phases) = phases(&mapped)?;
    let blocks = Blocks::of(&mapped, &lines, shape.fine)?;
    one_dispatch(program, &levels)?;
    let mut shader = Shader::new(&layout, &lines);
    shader.body(&mapped, &layout, &levels, &blocks, shape.stagger || layout.shared_subgroups)?;
    let barrier_group = (0..program.threads.len())
        .map(|thread| {
            let joins = |other: &usize| {
                program.same_instance(thread, *other, 1) && !named(&program.threads[*other]).is_empty()
            };
            (0..=thread).find(joins).filter(|_| !named(&program.threads[thread]).is_empty())
        })
        .collect();
    let resources = layout.resources.values().copied().collect();
    Ok(Lowered {
        words: shader.finish(),
        resources,
        subgroup_size: layout.subgroup_size,
        local_size: layout.local_size,
        groups: layout.groups,
        phases,
        registers: layout.registers,
        lines,
        barrier_group,
    })
}

impl Lowered {
    /// Result words of a thread: its registers, then the trace of its control barriers.
    pub fn words_per_thread(&self) -> usize {
        self.registers as usize + 1
    }

    /// Whether the threads that have barriers in common passed the same ones, in the same order. A shader's
    /// barrier does not wait for invocations that have ended, so that a run in which one of the test's
    /// threads would have waited for ever ends all the same.
    pub fn barriers_agree(&self, results: &[u32]) -> bool {
        let trace = |thread: usize| results.get((thread + 1) * self.words_per_thread() - 1);
        let agrees = |(thread, first): (usize, &Option<usize>)| {
            first.is_none_or(|first| trace(thread) == trace(first))
        };
        self.barrier_group.iter().enumerate().all(agrees)
    }
}

/// Threads of one workgroup are in one dispatch: those of several dispatches are never in one workgroup.
fn one_dispatch(program: &LitmusProgram, levels: &[u32]) -> Result<(), Refused> {
    for (thread, level) in levels.iter().enumerate() {
        let apart = |other: usize| {
            let runs = |t: usize| !program.threads[t].code.is_empty();
            program.same_instance(thread, other, 1) && levels[other] != *level && runs(thread) && runs(other)
        };
        if (0..thread).any(apart) {
            return Err(Refused("with system-synchronizes-with inside a workgroup".to_owned()));
        }
    }
    Ok(())
}

/// Values are 32 bits wide here.
fn fits(program: &LitmusProgram) -> Result<(), Refused> {
    let mut values = program.initial.clone();
    values.extend(program.constants());
    values.extend(program.threads.iter().flat_map(|thread| thread.initial.iter().copied()));
    match values.iter().find(|value| i32::try_from(**value).is_err()) {
        Some(value) => Err(Refused(format!("with the value {value}, which 32 bits do not hold"))),
        None => Ok(()),
    }
}
