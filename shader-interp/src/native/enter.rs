//! Running machine code, and the interpreter for what has none.
//!
//! `unsafe` is here and in [`super::executable`] alone. It rests on four things: the translator emits code
//! for verified programs only, so that registers, masks and targets are in range; a strand's files have the
//! sizes that the verifier knew ([`Visit::state`] checks it) and nobody else touches them meanwhile; views
//! and workgroup memory are mapped as long as the strand runs, the code keeps to their bounds, and what it
//! does to their bytes is what the rule of `pellucid_memory::raw` says; and the code is entered on hosts that
//! have its instructions ([`Level`](crate::exec::level::Level) was detected).

use super::NativeCode;
use super::state::{self, State};
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
    let mut own = visit.memory.workgroup_memory();
    let own = (&raw mut own).cast();
    let mut state = visit.state(own);
    let ended = visit.go(&mut state);
    visit.step(&state, ended)
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
    let mut own = visit.memory.workgroup_memory();
    let own = (&raw mut own).cast();
    let mut state = visit.state(own);
    let (mut last, mut turns, mut ended) = (subgroups.start, 0, state::DONE);
    for subgroup in subgroups {
        start_at(level, context, visit.strand, &context.launch.identity(workgroup, subgroup));
        visit.strand.fuel = fuel;
        ended = visit.go(&mut state);
        last = subgroup;
        turns += u64::from(fuel - visit.strand.fuel);
        if ended != state::DONE {
            break;
        }
    }
    Ran { last, turns, step: visit.step(&state, ended).map_err(Box::new) }
}

impl<M: MemorySystem> Visit<'_, '_, M> {
    /// The state of the visit's strand before it is entered, with the place of the view of workgroup memory.
    #[inline(always)]
    fn state(&mut self, workgroup: *mut MemoryView<'static>) -> State {
        let (program, strand, context) = (self.context.program, &mut *self.strand, self.context);
        let code = self.code;
        assert!(
            strand.vectors.len() == program.vectors as usize
                && strand.masks.len() == program.masks as usize
                && strand.private.len() == (program.shader.private_bytes as usize).div_ceil(4)
                && context.views.len() == program.views.len()
                && context.planes.len() == program.images.len()
                && code.entries.len() == program.code.len()
        );
        State {
            scratch: MaybeUninit::uninit(),
            vectors: std::ptr::null_mut(),
            masks: std::ptr::null_mut(),
            private: std::ptr::null_mut(),
            views: context.views.as_ptr().cast(),
            planes: context.planes.as_ptr().cast(),
            workgroup,
            rows: rows::<M>,
            streams: context.streams,
            changes: 0,
            mask: 0,
            fuel: 0,
            pc: 0,
            barrier: 0,
            alone: self.control.alone.into(),
            visit: std::ptr::null_mut(),
        }
    }

    /// Runs the strand, whose files have the sizes that [`Visit::state`] found, until it ends or has to stop:
    /// how machine code ended.
    #[inline(always)]
    fn go(&mut self, state: &mut State) -> u32 {
        let pc = self.strand.pc;
        let mut place = self.code.place(pc);
        state.vectors = self.strand.vectors.as_mut_ptr();
        state.masks = self.strand.masks.as_mut_ptr();
        state.private = self.strand.private.as_mut_ptr();
        (state.mask, state.fuel, state.pc, state.changes) = (self.strand.mask, self.strand.fuel, pc, 0);
        state.visit = (&raw mut *self).cast();
        let state = &raw mut *state;
        if place.is_null() {
            // SAFETY: the state is whole, and `visit` of the type that `rows` is for.
            place = unsafe { rows::<M>(state, pc, pc + 1) };
        }
        let mut ended = state::ENDED;
        if !place.is_null() {
            // SAFETY: see the module; the place is one of the code's entries, at which it expects nothing but
            // the state.
            ended = unsafe { self.code.function()(state, place) };
        }
        // SAFETY: it is the caller's, and machine code does not run any more.
        let state = unsafe { &*state };
        self.strand.changes += state.changes;
        if ended != state::ENDED {
            (self.strand.mask, self.strand.fuel, self.strand.pc) = (state.mask, state.fuel, state.pc);
            self.strand.granted = false;
        }
        if ended == state::DONE {
            self.strand.live = 0;
        }
        ended
    }

    /// Why the strand stopped, by how machine code ended.
    #[inline(always)]
    fn step(&mut self, state: &State, ended: u32) -> Result<Step, Trap> {
        match ended {
            state::OUT_OF_FUEL => return Ok(Step::OutOfFuel),
            state::AT_BARRIER => return Ok(Step::AtBarrier(state.barrier)),
            state::DONE => return Ok(Step::Done),
            _ => {}
        }
        match self.outcome.take() {
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
/// `state` is that of a [`run`] with the same `M`.
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
            let outcome = interpret_at::<M, true>(visit.level, context, strand, memory, control, to);
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
            // No reference to workgroup memory lives while machine code accesses it.
            // SAFETY: it is where `run` has put the view.
            unsafe { state.workgroup.cast::<MemoryView<'_>>().write(visit.memory.workgroup_memory()) };
            return place;
        }
        to = strand.pc + 1;
    }
}
