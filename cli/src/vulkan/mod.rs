//! Litmus tests through Vulkan: lowered to SPIR-V and dispatched on the driver in check mode.

pub mod device;
pub mod lower;
