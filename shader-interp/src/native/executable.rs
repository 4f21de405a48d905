//! Memory that holds machine code: written, then executable, never both.

use super::state::State;
use memmap2::{Mmap, MmapMut};
use std::io;

/// The function at the beginning of the code: the state, and the place to go on at; how it
/// ended, as [`state`](super::state) numbers it.
pub(super) type Function = unsafe extern "sysv64" fn(*mut State, *const u8) -> u32;

/// Machine code that can run.
#[derive(Debug)]
pub(super) struct Executable(Mmap);

impl Executable {
    /// # Errors
    /// The host refuses executable memory.
    pub fn new(bytes: &[u8]) -> io::Result<Executable> {
        let mut memory = MmapMut::map_anon(bytes.len())?;
        memory.copy_from_slice(bytes);
        Ok(Executable(memory.make_exec()?))
    }

    /// The byte at `place`.
    pub fn at(&self, place: u32) -> *const u8 {
        self.0[place as usize..].as_ptr()
    }

    /// The function that begins at `place`.
    pub fn function(&self, place: u32) -> Function {
        // SAFETY: the translator put a function of this type there; whoever calls it answers for the rest.
        unsafe { std::mem::transmute::<*const u8, Function>(self.at(place)) }
    }
}
