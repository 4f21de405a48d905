//! Why a shader could not be compiled.

/// Errors of [`crate::compile`]. None of them leaves anything behind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The words are not a SPIR-V module, or one that breaks a rule that execution depends on.
    #[error("invalid SPIR-V: {0}")]
    Invalid(String),
    /// No entry point of that name with the GLCompute execution model.
    #[error("the module has no compute entry point \"{0}\"; it has {1}")]
    NoEntryPoint(String, String),
    /// Valid SPIR-V that this driver does not implement: our gap, not the program's bug.
    #[error("not implemented in Pellucid: {0}")]
    NotImplemented(String),
    /// Over a limit of the implementation.
    #[error("limit exceeded: {0}")]
    Limit(String),
}
