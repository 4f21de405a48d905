//! A 32-lane interpreter for SPIR-V compute shaders.
//!
//! SPIR-V words are parsed and specialized into the structured representation of [`ir`], lowered to fixed-size instructions ([`code`]) and run
//! a subgroup at a time ([`exec`]) over a [`pellucid_memory::system::MemorySystem`]. This crate knows no Vulkan objects: descriptors reach
//! it as [`interface::Descriptor`]s.
//!
//! Anything that the interpreter does not implement fails [`compile`] with [`CompileError::NotImplemented`], which names it.

pub mod error;
pub mod interface;
pub mod ir;
pub mod math;

pub use error::CompileError;
