//! A 32-lane interpreter for SPIR-V compute shaders.
//!
//! SPIR-V words are parsed and specialized into the structured representation of [`ir`], lowered to
//! fixed-size instructions ([`code`]) and run a subgroup at a time ([`exec`]) over a
//! [`pellucid_memory::system::MemorySystem`]. This crate knows no Vulkan objects: descriptors reach it as
//! [`interface::Descriptor`]s.
//!
//! Anything that the interpreter does not implement fails [`compile`] with [`CompileError::NotImplemented`],
//! which names it.

mod arrays;
pub mod code;
pub mod error;
pub mod exec;
pub mod interface;
pub mod ir;
pub mod math;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod native;
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[path = "native_absent.rs"]
mod native;
pub mod ops;
pub mod outline;
mod pass;
pub mod printf;
pub mod spirv;
mod stack;
pub mod tier;

pub use code::Program;
pub use error::CompileError;
pub use interface::CompileOptions;

/// Compiles the entry point `options.entry_point` of the SPIR-V module `words` for execution.
///
/// # Errors
/// [`CompileError`]: the module is invalid, lacks the entry point, or needs something that Pellucid does not
/// implement.
pub fn compile(words: &[u32], options: &CompileOptions) -> Result<Program, CompileError> {
    stack::with_room(words, || code::generate(spirv::lower(words, options)?, options))
}
