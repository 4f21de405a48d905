//! Running machine code, and the interpreter for what has none.
//!
//! What is `unsafe` about machine code is here and in [`super::executable`]. It rests on four things: the
//! translator emits code for verified programs only, so that registers, masks and targets are in range; a
//! strand's files have the sizes that the verifier knew ([`state`](fn@state) checks it) and nobody else
//! touches them meanwhile; views, workgroup memory and buffers that addresses reach are mapped as long as the
//! strand runs, the code keeps to their bounds, and what it does to their bytes is what the rule of
//! `pellucid_memory::raw` says; and the code is entered on hosts that have its instructions
//! ([`Level`](crate::exec::level::Level) was detected).

use super::NativeCode;
use super::state::{self, State};
use crate::code::{Opcode, Program, Space};
use crate::exec::context::Context;
use crate::exec::entry::{Ran, start_at};
use crate::exec::launch::Workgroup;
use crate::exec::level::Level;
use crate::exec::run::{Control, interpret_at};
use crate::exec::strand::{Step, Strand};
use pellucid_memory::system::{MemorySystem, MemoryView, Trap};
use std::any::Any;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;

/// What the interpreter needs when the code calls it.
struct Visit<'a, 'c, M> {
    level: Level,
    code: &'a NativeCode,
    context: &'a Context<'c>,
    strand: &'a mut Strand,
    memory: &'a mut M,
    control: &'a Control,
    /// Why the strand stopped; a panic must not cross machine code.
    outcome: Option<Result<Result<Step, Trap>, Box<dyn Any + Send>>>,
}

/// Runs `strand` until it ends or has to stop, as [`crate::exec::entry::run`] does.
///
/// # Errors
/// The trap of a memory operation.
pub(crate) fn run<M: MemorySystem>(
    level: Level,
    code: &NativeCode,
    context: &Context<'_>,
    strand: &mut Strand,
    memory: &mut M,
    control: &Control,
) -> Result<Step, Trap> {
    let mut visit = Visit { level, code, context, strand, memory, control, outcome: None };
    let ended = visit.go();
    visit.step(ended)
}

/// Starts the subgroups of a workgroup in `strand`, one after the other, as long as each comes to its end;
/// with so much fuel each. See [`crate::exec::workgroup`].
pub(crate) fn run_each<M: MemorySystem>(
    level: Level,
    code: &NativeCode,
    context: &Context<'_>,
    strand: &mut Strand,
    memory: &mut M,
    control: &Control,
    (workgroup, subgroups, fuel): (Workgroup, Range<u32>, u32),
) -> Ran {
    let mut visit = Visit { level, code, context, strand, memory, control, outcome: None };
    let (mut last, mut turns, mut ended) = (subgroups.start, 0, Ended::DONE);
    for subgroup in subgroups {
        start_at(level, context, visit.strand, &context.launch.identity(workgroup, subgroup));
        visit.strand.fuel = fuel;
        ended = visit.go();
        last = subgroup;
        turns += u64::from(fuel - visit.strand.fuel);
        if ended.how != state::DONE {
            break;
        }
    }
    Ran { last, turns, step: visit.step(ended).map_err(Box::new) }
}

/// How machine code ended.
#[derive(Clone, Copy)]
struct Ended {
    how: u32,
    /// The barrier that it came to.
    barrier: u32,
}

impl Ended {
    const DONE: Ended = Ended { how: state::DONE, barrier: 0 };
}

/// The state of `strand`, for the code of the context's program. It is made at once: what is written twice
/// costs as much as some of the code that a strand runs between two barriers.
#[inline(always)]
fn state(
    code: &NativeCode,
    context: &Context<'_>,
    strand: &mut Strand,
    workgroup: *mut MemoryView<'static>,
    rows: unsafe extern "sysv64" fn(*mut State, u32, u32) -> *const u8,
) -> State {
    let program = context.program;
    assert!(
        strand.vectors.len() == program.vectors as usize
            && strand.masks.len() == program.masks as usize
            && strand.private.len() == (program.shader.private_bytes as usize).div_ceil(4)
            && context.views.len() == program.views.len()
            && context.rasters.len() >= program.images.len()
            && (strand.pc as usize) < code.entries.len()
            && code.entries.len() == program.code.len()
    );
    State {
        scratch: MaybeUninit::uninit(),
        clusters: MaybeUninit::uninit(),
        farthest: MaybeUninit::uninit(),
        vectors: strand.vectors.as_mut_ptr(),
        masks: strand.masks.as_mut_ptr(),
        private: strand.private.as_mut_ptr(),
        views: context.views.as_ptr().cast(),
        rasters: context.rasters.as_ptr().cast(),
        chosen: std::ptr::null(),
        chooses: 0,
        waits: 0,
        reached: std::ptr::null(),
        workgroup,
        rows,
        streams: context.streams,
        changes: 0,
        mask: strand.mask,
        fuel: strand.fuel,
        pc: strand.pc,
        barrier: 0,
        alone: 0,
        visit: null_mut(),
    }
}

/// Runs `strand`, of a modelled program and at one of its marks, up to an instruction that only the
/// interpreter runs: `None`; or until it has to stop before.
#[inline]
pub(crate) fn run_on(code: &NativeCode, context: &Context<'_>, strand: &mut Strand) -> Option<Step> {
    let place = code.place(strand.pc);
    if place.is_null() || code.marked.is_none() {
        return None;
    }
    let mut state = state(code, context, strand, null_mut(), nothing);
    // SAFETY: see the module; the place is one of the code's entries, at which it expects nothing but the
    // state. Code of a modelled program accesses no memory but the strand's files, and calls nobody.
    let how = unsafe { code.function()(&raw mut state, place) };
    (strand.mask, strand.fuel, strand.pc) = (state.mask, state.fuel, state.pc);
    match how {
        state::LEFT => return None,
        state::DONE => strand.live = 0,
        _ => {}
    }
    strand.granted = false;
    Some(if how == state::DONE { Step::Done } else { Step::OutOfFuel })
}

/// In the place of [`rows`], where nobody calls it.
extern "sysv64" fn nothing(_: *mut State, _: u32, _: u32) -> *const u8 {
    std::ptr::null()
}

impl<M: MemorySystem> Visit<'_, '_, M> {
    /// Runs the strand until it ends or has to stop.
    #[inline(always)]
    fn go(&mut self) -> Ended {
        let (code, context, pc) = (self.code, self.context, self.strand.pc);
        let mut own = self.memory.workgroup_memory();
        let mut state = state(code, context, self.strand, (&raw mut own).cast(), rows::<M>);
        (state.alone, state.visit) = (self.control.alone.into(), (&raw mut *self).cast());
        state.reached = self.memory.reached(code.reached).as_ptr().cast();
        let mut place = code.place(pc);
        if place.is_null() {
            // SAFETY: the state is whole, and `visit` of the type that `rows` is for.
            place = unsafe { rows::<M>(&raw mut state, pc, pc + 1) };
        }
        let mut how = state::ENDED;
        if !place.is_null() {
            // SAFETY: see the module; the place is one of the code's entries, at which it expects nothing but
            // the state.
            how = unsafe { code.function()(&raw mut state, place) };
        }
        self.strand.changes += state.changes;
        if how != state::ENDED {
            (self.strand.mask, self.strand.fuel, self.strand.pc) = (state.mask, state.fuel, state.pc);
            self.strand.granted = false;
        }
        if how == state::DONE {
            self.strand.live = 0;
        }
        Ended { how, barrier: state.barrier }
    }

    /// Why the strand stopped, by how machine code ended.
    #[inline(always)]
    fn step(self, ended: Ended) -> Result<Step, Trap> {
        match ended.how {
            state::OUT_OF_FUEL => return Ok(Step::OutOfFuel),
            state::AT_BARRIER => return Ok(Step::AtBarrier(ended.barrier)),
            state::DONE => return Ok(Step::Done),
            _ => {}
        }
        match self.outcome {
            Some(Ok(outcome)) => outcome,
            Some(Err(panic)) => resume_unwind(panic),
            // The code ends where `rows` returned null, which has set it.
            None => Err(Trap::NotImplemented("machine code ended without an outcome".into())),
        }
    }
}

/// Runs the instructions from `from` to before `to`, and on to one at which the code can be entered: its
/// place there. Null: the strand stops, and the outcome says why.
///
/// # Safety
/// `state` is that of a [`Visit`] of the same `M`.
unsafe extern "sysv64" fn rows<M: MemorySystem>(state: *mut State, from: u32, to: u32) -> *const u8 {
    // SAFETY: by the caller; machine code does not run meanwhile.
    let state = unsafe { &mut *state };
    // SAFETY: the same.
    let visit = unsafe { &mut *state.visit.cast::<Visit<'_, '_, M>>() };
    let strand = &mut *visit.strand;
    (strand.mask, strand.fuel, strand.pc) = (state.mask, state.fuel, from);
    let mut to = to;
    loop {
        let (context, memory, control) = (visit.context, &mut *visit.memory, visit.control);
        let mut stopped = None;
        // What is the rule is told by a bit: an outcome is large.
        let run = AssertUnwindSafe(|| {
            let outcome = interpret_at::<M, true>(visit.level, context, strand, memory, control, to, None);
            let goes_on = matches!(outcome, Ok(Step::Yielded));
            if !goes_on {
                stopped = Some(outcome);
            }
            goes_on
        });
        match catch_unwind(run) {
            Ok(true) => {}
            Ok(false) => {
                visit.outcome = stopped.map(Ok);
                return std::ptr::null();
            }
            Err(panic) => {
                visit.outcome = Some(Err(panic));
                return std::ptr::null();
            }
        }
        let place = visit.code.place(strand.pc);
        if !place.is_null() {
            (state.mask, state.fuel) = (strand.mask, strand.fuel);
            if visit.code.reached > 0
                && let Some(number) = physical(context.program, from)
            {
                visit.memory.remember(number);
                state.reached = visit.memory.reached(visit.code.reached).as_ptr().cast();
            }
            // No reference to workgroup memory lives while machine code accesses it.
            // SAFETY: it is where `run` has put the view.
            unsafe { state.workgroup.cast::<MemoryView<'_>>().write(visit.memory.workgroup_memory()) };
            return place;
        }
        to = strand.pc + 1;
    }
}

/// The number of an access by physical addresses in the program's table.
fn physical(program: &Program, row: u32) -> Option<usize> {
    let inst = program.code.get(row as usize)?;
    let listed = matches!(inst.op, Opcode::Load | Opcode::LoadUniform | Opcode::Store | Opcode::Atomic);
    let entry = program.memory.get(inst.imm as usize).filter(|_| listed)?;
    (entry.space == Space::Physical).then_some(inst.imm as usize)
}
