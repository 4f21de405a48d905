//! Ways into the tiers: a strand that goes on, and subgroups that start.

use super::context::Context;
use super::launch::Workgroup;
use super::level::{Level, Set};
use super::run::{Control, interpret_at, run_next};
use super::strand::{Step, Strand};
use crate::code::Marked;
use crate::native::{self, NativeCode};
use crate::tier::Tier;
use pellucid_memory::agent::SubgroupIdentity;
use pellucid_memory::system::{MemorySystem, Trap};
use std::ops::Range;

/// Runs `strand` until it ends or has to stop.
///
/// # Errors
/// The trap of a memory operation.
#[inline]
pub(crate) fn run<M: MemorySystem>(
    level: Level,
    context: &Context<'_>,
    strand: &mut Strand,
    memory: &mut M,
    control: &Control,
) -> Result<Step, Trap> {
    if context.tier != Tier::Interpreter
        && let Some(code) = context.progress.code()
    {
        return match code.marked() {
            Some(marked) => run_marked(level, (code, marked), context, strand, memory, control),
            None => native::enter::run(level, code, context, strand, memory, control),
        };
    }
    interpret_at::<M, false>(level, context, strand, memory, control, 0, None)
}

/// The same in modelled mode: in the interpreter up to a mark, from there in machine code up to what only the
/// interpreter runs, and so on.
fn run_marked<M: MemorySystem>(
    level: Level,
    (code, marked): (&NativeCode, &Marked),
    context: &Context<'_>,
    strand: &mut Strand,
    memory: &mut M,
    control: &Control,
) -> Result<Step, Trap> {
    loop {
        let step = interpret_at::<M, false>(level, context, strand, memory, control, 0, Some(marked))?;
        // No visible operation is a mark.
        if step != Step::Yielded || !marked.is_mark(strand.pc) {
            return Ok(step);
        }
        if let Some(step) = native::enter::run_on(code, context, strand) {
            return Ok(step);
        }
        if marked.is_mark(strand.pc) {
            // Machine code makes no accesses outside of private variables.
            let step = run_next(context, strand, memory, control)?;
            strand.granted = false;
            if step != Step::Yielded {
                return Ok(step);
            }
        }
    }
}

/// What came of subgroups that were started and ran one after the other.
pub(crate) struct Ran {
    /// The number of the last one in its workgroup.
    pub last: u32,
    /// Turns of loops that all of them took.
    pub turns: u64,
    /// How the last one stopped; those before it have ended.
    pub step: Result<Step, Box<Trap>>,
}

/// Starts subgroups of a workgroup in `strand`, each with so much fuel, and runs them: the first, and in
/// machine code others after it, as long as each comes to its end.
#[inline(always)]
pub(crate) fn run_each<M: MemorySystem>(
    level: Level,
    context: &Context<'_>,
    strand: &mut Strand,
    memory: &mut M,
    control: &Control,
    (workgroup, subgroups, fuel): (Workgroup, Range<u32>, u32),
) -> Ran {
    // Where there are barriers, few come to their ends.
    let batch = !M::MODELLED && context.tier != Tier::Interpreter && !context.program.workgroup_barriers;
    if batch && let Some(code) = context.progress.code() {
        let which = (workgroup, subgroups, fuel);
        return native::enter::run_each(level, code, context, strand, memory, control, which);
    }
    let last = subgroups.start;
    start_at(level, context, strand, &context.launch.identity(workgroup, last));
    strand.fuel = fuel;
    let step = run(level, context, strand, memory, control).map_err(Box::new);
    Ran { last, turns: u64::from(fuel - strand.fuel), step }
}

/// Starts the lanes of `identity` at the first instruction, in vector instructions of `level`.
#[inline(always)]
pub(crate) fn start_at(
    level: Level,
    context: &Context<'_>,
    strand: &mut Strand,
    identity: &SubgroupIdentity,
) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn start_avx512(context: &Context<'_>, strand: &mut Strand, identity: &SubgroupIdentity) {
        strand.start(context, identity);
    }
    match level.set() {
        // SAFETY: detected.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { start_avx512(context, strand, identity) },
        _ => strand.start(context, identity),
    }
}
