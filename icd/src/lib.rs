//! The Pellucid Vulkan driver.

pub mod config;
pub mod report;
