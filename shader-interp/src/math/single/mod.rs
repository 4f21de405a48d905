//! Single precision: the operations of SPIR-V and of GLSL.std.450 on 32-bit floats.

mod basic;
pub(crate) mod exponential;
pub(crate) mod hyperbolic;
pub(crate) mod trigonometric;

pub use basic::*;
pub use exponential::*;
pub use hyperbolic::*;
pub use trigonometric::*;
