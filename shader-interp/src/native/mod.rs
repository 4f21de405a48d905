//! The compiled tier: machine code for programs that run long, x86-64 with AVX2 or AVX-512.
//!
//! A program begins in the interpreter ([`crate::exec`]), which counts what it executes; when that is worth
//! it, [`translate`] makes machine code of the verified instructions, once, and strands run there from then
//! on. Rows without an encoding, and whatever stops a strand, stay with the interpreter: both work on the
//! same register file and hand over to each other at any instruction at which a line of code begins. All
//! values are bit for bit those of the interpreter.
//!
//! In modelled mode every access to memory that invocations share, every barrier and every note is the
//! interpreter's: machine code is what lies between them. The interpreter finds marks
//! ([`Opcode::Native`](crate::code::Opcode)) where enough of it follows, and takes over where it ends.
//!
//! Stages: [`translate`] (lines, regions, loops of clusters of lanes, control), [`registers`] (values in host
//! registers), [`rows`], [`memory`], [`image`], [`sample`] and [`across`] (the encodings), [`operation`]
//! (vector instructions for 8 and for 16 lanes), [`assembler`], [`executable`], and [`enter`], which runs it.

mod across;
mod assembler;
pub(crate) mod enter;
mod executable;
mod image;
mod memory;
mod operation;
mod registers;
mod rows;
mod sample;
mod state;
#[cfg(test)]
mod tests;
mod translate;

use crate::code::{Marked, Program, Space};
use crate::exec::level::{Level, Set};
use crate::ops::image::kind::Kind;
use crate::tier::Tier;
use executable::{Executable, Function};
use operation::Form;
use std::sync::OnceLock;

/// Machine code of a program.
#[derive(Debug)]
pub(crate) struct NativeCode {
    memory: Executable,
    enter: u32,
    /// Places in the code by instruction; 0 where it cannot be entered.
    entries: Vec<u32>,
    /// How many accesses the program's table has, if some are by physical addresses; else 0.
    reached: usize,
    /// Of a modelled program: its instructions with marks where the code goes on.
    marked: Option<Marked>,
}

impl NativeCode {
    /// Compiles `program`, whose images mostly are of these kinds; `None` if it is not worth while, or cannot
    /// be.
    pub fn new(program: &Program, images: Vec<Kind>, level: Level, tier: Tier) -> Option<NativeCode> {
        let form = match level.set() {
            Set::Avx512 => Form::Avx512,
            Set::Avx2 => Form::Avx2,
            Set::Baseline => return None,
        };
        // Encodings are tested for all rows and both forms; one that failed would leave the interpreter.
        let translation = translate::translate(program, images, form, tier == Tier::Compiled).ok()??;
        let entered = |k: usize| translation.marks[k] && translation.entries[k] != 0;
        let marked = program.modelled.then(|| program.marked(entered));
        match Executable::new(&translation.bytes) {
            Ok(memory) => {
                let (enter, entries) = (translation.enter, translation.entries);
                let physical = program.memory.iter().any(|entry| entry.space == Space::Physical);
                let reached = if physical { program.memory.len() } else { 0 };
                Some(NativeCode { memory, enter, entries, reached, marked })
            }
            Err(error) => {
                _ = REFUSED.set(error.to_string());
                None
            }
        }
    }

    /// Of a modelled program: its instructions, with marks where the code goes on.
    #[inline(always)]
    pub fn marked(&self) -> Option<&Marked> {
        self.marked.as_ref()
    }

    fn function(&self) -> Function {
        self.memory.function(self.enter)
    }

    /// The code's place for an instruction; null where it cannot be entered.
    fn place(&self, pc: u32) -> *const u8 {
        match self.entries[pc as usize] {
            0 => std::ptr::null(),
            place => self.memory.at(place),
        }
    }
}

/// Orders what machine code has stored past the caches before all stores that follow.
pub(crate) fn fence() {
    // SAFETY: the instruction is part of every x86-64.
    unsafe { std::arch::x86_64::_mm_sfence() }
}

/// Why the host refused executable memory, if it has.
static REFUSED: OnceLock<String> = OnceLock::new();

/// Why the host refused executable memory, if it has: programs stay in the interpreter then.
pub(crate) fn refused() -> Option<&'static str> {
    REFUSED.get().map(String::as_str)
}
