//! The Pellucid Vulkan driver: a compute-only Vulkan 1.4 device on the CPU, whose memory can be the Vulkan
//! memory model itself.
//!
//! This page has the modules and the exported symbols. A call goes from [`proc_addr`] (names) to `entry` (one
//! file for each kind of object) under the guard of [`boundary`]; commands are recorded and replayed by
//! `command` on the threads of `queue`; what the device claims is in `caps`. The driver holds no semantics of
//! its own: shaders are the interpreter's, memory and findings are the memory crate's.

mod addresses;
pub mod boundary;
mod caps;
pub mod capture;
mod check;
mod command;
pub mod config;
pub mod debugger;
mod described;
mod descriptor_bytes;
mod device;
mod ended;
mod entry;
mod error;
mod ffi;
mod forks;
mod handle;
mod layer;
mod loader;
mod message;
mod printf;
mod proc_addr;
mod queue;
pub mod report;

use ash::vk;
use std::ffi::c_char;

/// The loader asks first which version of the interface to speak.
///
/// # Safety
/// `version` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    // SAFETY: the contract.
    unsafe { loader::negotiate(version) }
}

/// The loader's way to all functions.
///
/// # Safety
/// `name` is null or a null-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract.
    unsafe { loader::instance_function(instance, name) }
}

/// The loader's way to functions on physical devices that it does not know.
///
/// # Safety
/// `name` is null or a null-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    _instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract.
    unsafe { proc_addr::physical_device_function(name) }
}

/// For applications that open the driver without a loader.
///
/// # Safety
/// `name` is null or a null-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract.
    unsafe { loader::instance_function(instance, name) }
}

/// The loader's way to this library as a layer: between an application and the validation layer.
///
/// # Safety
/// `negotiation` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    negotiation: *mut layer::Negotiation,
) -> vk::Result {
    // SAFETY: the contract.
    unsafe { layer::negotiate(negotiation) }
}
