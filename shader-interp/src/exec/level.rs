//! Which instruction sets the loop is there for.

pub(crate) use pellucid_memory::instructions::{Level, Set};
use pellucid_memory::system::MemorySystem;

/// Whether the loop over this memory is there for the least that hosts have alone, which is quicker to build:
/// the crate's unit tests compare machine code with the plain loop of its instruction set.
pub(crate) const fn has_one_loop<M: MemorySystem>() -> bool {
    !M::EACH_INSTRUCTION_SET || cfg!(one_instruction_set) || (M::MODELLED && cfg!(test))
}
