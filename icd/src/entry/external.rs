//! Memory, fences and semaphores that are shared with other devices, instances and processes: what can be,
//! and the file descriptors of memory.

use crate::boundary::entries;
use crate::caps::external::{APPLICATION, memory_of};
use crate::caps::memory as types;
use crate::device::Device;
use crate::entry::memory::DeviceMemory;
use crate::entry::physical_device::PhysicalDevice;
use crate::error::Error;
use crate::ffi;
use crate::handle;
use ash::vk;
use std::ffi::c_void;
use vk::ExternalMemoryHandleTypeFlags as Types;

/// The handle types that payloads of a fence or semaphore are shared by, and what can be done with them,
/// where `ours` is the one handle type that there is: nothing for any other one.
fn payloads<T: Default + PartialEq, F: Default>(asked: T, ours: T, features: F) -> (T, F) {
    if asked == ours { (ours, features) } else { Default::default() }
}

entries! {
    /// vkGetPhysicalDeviceExternalBufferProperties.
    fn get_physical_device_external_buffer_properties(
        _device: Arc<PhysicalDevice>,
        info: &vk::PhysicalDeviceExternalBufferInfo<'_>,
        out: *mut vk::ExternalBufferProperties<'_>,
    ) {
        let handle_type = info.handle_type;
        let none = vk::ExternalMemoryProperties { compatible_handle_types: handle_type, ..Default::default() };
        ffi::read_mut(out)?.external_memory_properties = memory_of(handle_type).unwrap_or(none);
        Ok(())
    }

    /// vkGetPhysicalDeviceExternalFenceProperties.
    fn get_physical_device_external_fence_properties(
        _device: Arc<PhysicalDevice>,
        info: &vk::PhysicalDeviceExternalFenceInfo<'_>,
        out: *mut vk::ExternalFenceProperties<'_>,
    ) {
        use vk::ExternalFenceFeatureFlags as Features;
        use vk::ExternalFenceHandleTypeFlags as Types;
        let both = Features::EXPORTABLE | Features::IMPORTABLE;
        let (types, features) = payloads(info.handle_type, Types::OPAQUE_FD, both);
        let out = ffi::read_mut(out)?;
        out.export_from_imported_handle_types = types;
        out.compatible_handle_types = types;
        out.external_fence_features = features;
        Ok(())
    }

    /// vkGetPhysicalDeviceExternalSemaphoreProperties.
    fn get_physical_device_external_semaphore_properties(
        _device: Arc<PhysicalDevice>,
        info: &vk::PhysicalDeviceExternalSemaphoreInfo<'_>,
        out: *mut vk::ExternalSemaphoreProperties<'_>,
    ) {
        use vk::ExternalSemaphoreFeatureFlags as Features;
        use vk::ExternalSemaphoreHandleTypeFlags as Types;
        let both = Features::EXPORTABLE | Features::IMPORTABLE;
        let (types, features) = payloads(info.handle_type, Types::OPAQUE_FD, both);
        let out = ffi::read_mut(out)?;
        out.export_from_imported_handle_types = types;
        out.compatible_handle_types = types;
        out.external_semaphore_features = features;
        Ok(())
    }

    /// vkGetMemoryFdKHR.
    fn get_memory_fd(_device: Arc<Device>, info: &vk::MemoryGetFdInfoKHR<'_>, out: *mut i32) -> vk::Result {
        if info.handle_type != Types::OPAQUE_FD {
            return Err(Error::not_implemented(&format!("memory that is exported as {:?}", info.handle_type)));
        }
        ffi::write(out, handle::get::<DeviceMemory>(info.memory)?.export()?)
    }

    /// vkGetMemoryFdPropertiesKHR: nothing is known of descriptors but of opaque ones, which may not be asked
    /// about.
    fn get_memory_fd_properties(
        _device: Arc<Device>,
        handle_type: Types,
        _fd: i32,
        _out: *mut vk::MemoryFdPropertiesKHR<'_>,
    ) -> vk::Result {
        let text = format!("not implemented in Pellucid: memory that is imported as {handle_type:?}");
        Err::<(), _>(Error::new(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, text))
    }

    /// vkGetMemoryHostPointerPropertiesEXT.
    fn get_memory_host_pointer_properties(
        _device: Arc<Device>,
        handle_type: Types,
        pointer: *const c_void,
        out: *mut vk::MemoryHostPointerPropertiesEXT<'_>,
    ) -> vk::Result {
        let aligned = (pointer as u64).is_multiple_of(types::POINTER_ALIGNMENT);
        if !APPLICATION.contains(handle_type) || handle_type.is_empty() || !aligned {
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE.into());
        }
        ffi::read_mut(out)?.memory_type_bits = types::APPLICATION;
        Ok(())
    }
}
