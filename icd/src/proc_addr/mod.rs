//! Which function a name stands for, and who may ask for it (*Command Function Pointers*).

mod table;

use crate::boundary::entries;
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
    gate: Gate,
    function: vk::PFN_vkVoidFunction,
}

/// # Safety
/// The pointer is the application's.
unsafe fn find(name: *const c_char) -> Option<&'static Row> {
    // SAFETY: the contract.
    unsafe {
        let name = ffi::string(name)?;
        TABLE.binary_search_by_key(&name.as_str(), |r| r.name).ok().map(|i| &TABLE[i])
    }
}

/// vkGetPhysicalDeviceProcAddr of the loader's interface: functions on VkPhysicalDevice alone.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn physical_device_function(name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract.
    unsafe { find(name).filter(|r| r.level == Level::PhysicalDevice)?.function }
}

entries! {
    /// vkGetInstanceProcAddr. Without an instance: global functions only.
    fn get_instance_proc_addr(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
        let Some(row) = find(name) else { return Ok(None) };
        if instance == vk::Instance::null() {
            return Ok(row.function.filter(|_| row.level == Level::Global));
        }
        let instance = handle::dispatchable::<Instance>(instance)?;
        let there = match row.gate {
            Gate::InstanceExtension(name) => instance.extensions.iter().any(|e| e == name),
            // All device extensions that have functions are available.
            Gate::Core(_) | Gate::DeviceExtension(_) => true,
        };
        Ok(row.function.filter(|_| there))
    }

    /// vkGetDeviceProcAddr: functions on VkDevice and below, of the versions and extensions that the device
    /// has enabled.
    fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
        let device = handle::dispatchable::<Device>(device)?;
        let Some(row) = find(name) else { return Ok(None) };
        let there = row.level == Level::Device
            && match row.gate {
                Gate::Core(minor) => minor <= vk::api_version_minor(device.instance.api_version),
                Gate::InstanceExtension(name) => device.instance.extensions.iter().any(|e| e == name),
                Gate::DeviceExtension(name) => device.extensions.iter().any(|e| e == name),
            };
        Ok(row.function.filter(|_| there))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_complete() {
        assert!(TABLE.windows(2).all(|w| w[0].name < w[1].name));
        let core = TABLE.iter().filter(|r| matches!(r.gate, Gate::Core(_))).count();
        assert_eq!(core, 215, "entry points of Vulkan 1.0 to 1.3");
        assert!(TABLE.iter().all(|r| r.function.is_some()));
    }
}
