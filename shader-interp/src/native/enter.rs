//! Running machine code, and the interpreter for what has none.
//!
//! `unsafe` is here and in [`super::executable`] alone. It rests on three things: the translator emits code
//! for verified programs only, so that registers, masks and targets are in range; a strand's files have the
//! sizes that the verifier knew ([`run`] checks it) and nobody else touches them meanwhile; and the code is
//! entered on hosts that have its instructions ([`Level`](crate::exec::level::Level) was detected).

use super::NativeCode;
use super::state::State;
use crate::exec::context::Context;
use crate::exec::level::Level;
use crate::exec::run::{Control, interpret_at};
use crate::exec::strand::{Step, Strand};
use pellucid_memory::system::{MemorySystem, Trap};
use std::any::Any;
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

/// Runs `strand` until it ends or has to stop, as [`crate::exec::run::run`] does.
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
    let program = context.program;
    assert!(
        strand.vectors.len() == program.vectors as usize
            && strand.masks.len() == program.masks as usize
            && (strand.pc as usize) < code.entries.len()
            && code.entries.len() == program.code.len()
    );
    let (vectors, masks) = (strand.vectors.as_mut_ptr(), strand.masks.as_mut_ptr());
    let (mask, fuel, pc) = (strand.mask, strand.fuel, strand.pc);
    let mut visit = Visit { level, code, context, strand, memory, control, outcome: None };
    let visit_at = (&raw mut visit).cast();
    let mut state = State { vectors, masks, rows: rows::<M>, mask, fuel, pc, visit: visit_at };
    let mut place = code.place(pc);
    if place.is_null() {
        // SAFETY: the state is whole, and `visit` of the type that `rows` is for.
        place = unsafe { rows::<M>(&raw mut state, pc, pc + 1) };
    }
    if !place.is_null() {
        // SAFETY: see the module; the place is one of the code's entries, at which it expects nothing but
        // the state.
        let spent = unsafe { code.function()(&raw mut state, place) };
        if spent != 0 {
            (visit.strand.mask, visit.strand.fuel, visit.strand.pc) = (state.mask, state.fuel, state.pc);
            visit.strand.granted = false;
            return Ok(Step::OutOfFuel);
        }
    }
    match visit.outcome {
        Some(Ok(outcome)) => outcome,
        Some(Err(panic)) => resume_unwind(panic),
        // The code ends where `rows` returned null, which has set it.
        None => Err(Trap::NotImplemented("machine code ended without an outcome".into())),
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
        let run =
            AssertUnwindSafe(|| interpret_at::<M, true>(visit.level, context, strand, memory, control, to));
        match catch_unwind(run) {
            Ok(Ok(Step::Yielded)) => {}
            outcome => {
                visit.outcome = Some(outcome);
                return std::ptr::null();
            }
        }
        let place = visit.code.place(strand.pc);
        if !place.is_null() {
            (state.mask, state.fuel) = (strand.mask, strand.fuel);
            return place;
        }
        to = strand.pc + 1;
    }
}
