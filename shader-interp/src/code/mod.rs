//! Code: fixed-size instructions and the generator that makes them of the intermediate representation.

use crate::error::CompileError;
use crate::interface::CompileOptions;
use crate::ir::Shader;

/// A compiled entry point: its metadata and its code. Immutable, shared between threads.
#[derive(Debug)]
pub struct Program {
    /// Metadata (bindings, workgroup objects, sites, local size ...); the body is empty.
    pub shader: Shader,
    /// Subgroup size: a power of two, 1 to 32.
    pub subgroup_size: u32,
    /// Generated for a modelled memory system.
    pub modelled: bool,
}

/// Generates code for `shader`.
///
/// # Errors
/// [`CompileError::NotImplemented`] names an operation that there is no code for.
pub fn generate(shader: Shader, options: &CompileOptions) -> Result<Program, CompileError> {
    let _ = (shader, options);
    Err(CompileError::NotImplemented("code generation".into()))
}
