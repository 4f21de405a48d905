//! Which function a name stands for, and who may ask for it (*Command Function Pointers*).

mod table;

use crate::boundary::entries;
use crate::caps;
use crate::device::Device;
use crate::entry::instance::Instance;
use crate::ffi;
use crate::handle;
use ash::vk;
use std::ffi::c_char;
use table::TABLE;

/// What an entry point is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nothing.
    Global,
    /// VkInstance.
    Instance,
    /// VkPhysicalDevice.
    PhysicalDevice,
    /// VkDevice, VkQueue or VkCommandBuffer.
    Device,
}

/// When an entry point is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// From Vulkan 1.n on.
    Core(u32),
    /// When the instance enabled the extension.
    InstanceExtension(&'static str),
    /// When the device enabled the extension.
    DeviceExtension(&'static str),
}

/// One entry point.
pub(crate) struct Row {
    name: &'static str,
    level: Level,
    /// What brings it. Of two the first is the extension that it was promoted from, which brings it under its
    /// name with the extension's vendor at the end.
    gates: &'static [Gate],
    function: vk::PFN_vkVoidFunction,
}

fn row(name: &str) -> Option<&'static Row> {
    TABLE.binary_search_by_key(&name, |r| r.name).ok().map(|i| &TABLE[i])
}

/// The entry point of a name, and what brings it under that name.
///
/// # Safety
/// The pointer is the application's.
unsafe fn find(name: *const c_char) -> Option<(&'static Row, Gate)> {
    // SAFETY: the contract.
    let name = unsafe { ffi::string(name)? };
    if let Some(row) = row(&name) {
        return Some((row, *row.gates.last()?));
    }
    let (base, vendor) = name.split_at_checked(name.len().checked_sub("KHR".len())?)?;
    let row = row(base)?;
    match row.gates {
        [gate @ (Gate::InstanceExtension(extension) | Gate::DeviceExtension(extension)), _] => {
            (extension.split('_').nth(1) == Some(vendor)).then_some((row, *gate))
        }
        _ => None,
    }
}

/// vkGetPhysicalDeviceProcAddr of the loader's interface: functions on VkPhysicalDevice alone.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn physical_device_function(name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract.
    unsafe { find(name).filter(|(row, _)| row.level == Level::PhysicalDevice)?.0.function }
}

entries! {
    /// vkGetInstanceProcAddr. Without an instance: global functions only.
    fn get_instance_proc_addr(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
        let Some((row, gate)) = find(name) else { return Ok(None) };
        if instance == vk::Instance::null() {
            return Ok(row.function.filter(|_| row.level == Level::Global));
        }
        let instance = handle::dispatchable::<Instance>(instance)?;
        let there = match gate {
            Gate::InstanceExtension(name) => instance.extensions.iter().any(|e| e == name),
            Gate::Core(minor) => minor <= vk::api_version_minor(caps::api_version(&instance.config)),
            // All device extensions that have functions are available.
            Gate::DeviceExtension(_) => true,
        };
        Ok(row.function.filter(|_| there))
    }

    /// vkGetDeviceProcAddr: functions on VkDevice and below, of the versions and extensions that the device
    /// has enabled.
    fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
        let device = handle::dispatchable::<Device>(device)?;
        let Some((row, gate)) = find(name) else { return Ok(None) };
        let there = row.level == Level::Device
            && match gate {
                Gate::Core(minor) => {
                    let shown = device.instance.api_version.min(device.caps.api_version);
                    minor <= vk::api_version_minor(shown)
                }
                Gate::InstanceExtension(name) => device.instance.extensions.iter().any(|e| e == name),
                Gate::DeviceExtension(name) => device.extensions.iter().any(|e| e == name),
            };
        Ok(row.function.filter(|_| there))
    }
}

#[cfg(test)]
mod tests;
