//! The interface between the Vulkan loader and its drivers (*Loader and Driver Interface*), which ash does
//! not declare.

use crate::ffi;
use crate::proc_addr;
use ash::vk;
use std::ffi::c_char;
use std::panic::catch_unwind;

/// The newest version of the interface that this driver speaks. 7: the four functions below are found by
/// vk_icdGetInstanceProcAddr too.
const NEWEST: u32 = 7;
/// Below version 2 there is no negotiation of physical device functions.
const OLDEST: u32 = 2;

/// Agrees on a version of the interface.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn negotiate(version: *mut u32) -> vk::Result {
    // SAFETY: the contract.
    unsafe {
        catch_unwind(|| match ffi::read(version) {
            Ok(asked) if *asked >= OLDEST => {
                let agreed = (*asked).min(NEWEST);
                match ffi::write(version, agreed) {
                    Ok(()) => vk::Result::SUCCESS,
                    Err(error) => error.code,
                }
            }
            Ok(_) => vk::Result::ERROR_INCOMPATIBLE_DRIVER,
            Err(error) => error.code,
        })
        .unwrap_or(vk::Result::ERROR_UNKNOWN)
    }
}

/// The function that a name stands for; the interface's own names included.
///
/// # Safety
/// `name` is the application's.
pub(crate) unsafe fn instance_function(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract. Only the static type is lost; callers restore the type that the name stands for.
    unsafe {
        match ffi::string(name)?.as_str() {
            "vk_icdNegotiateLoaderICDInterfaceVersion" => {
                Some(std::mem::transmute::<
                    unsafe extern "system" fn(*mut u32) -> vk::Result,
                    unsafe extern "system" fn(),
                >(crate::vk_icdNegotiateLoaderICDInterfaceVersion))
            }
            "vk_icdGetPhysicalDeviceProcAddr" => Some(std::mem::transmute::<
                unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction,
                unsafe extern "system" fn(),
            >(crate::vk_icdGetPhysicalDeviceProcAddr)),
            "vk_icdGetInstanceProcAddr" => Some(std::mem::transmute::<
                unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction,
                unsafe extern "system" fn(),
            >(crate::vk_icdGetInstanceProcAddr)),
            _ => proc_addr::get_instance_proc_addr(instance, name),
        }
    }
}
