//! The Pellucid Vulkan driver.

pub mod config;
