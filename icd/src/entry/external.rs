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

/// Declares entry points that say how payloads are shared: by file descriptors of ours, and in no other way.
macro_rules! payloads {
    ($($(#[$meta:meta])* fn $name:ident($info:ty, $out:ty) { $features:ident: $flags:ident of $types:ident })*) => {
        entries! { $(
            $(#[$meta])*
            fn $name(_device: Arc<PhysicalDevice>, info: &$info, out: &mut $out) {
                if info.handle_type == vk::$types::OPAQUE_FD {
                    out.export_from_imported_handle_types = info.handle_type;
                    out.compatible_handle_types = info.handle_type;
                    out.$features = vk::$flags::EXPORTABLE | vk::$flags::IMPORTABLE;
                } else {
                    out.export_from_imported_handle_types = vk::$types::empty();
                    out.compatible_handle_types = vk::$types::empty();
                    out.$features = vk::$flags::empty();
                }
                Ok(())
            }
        )* }
    };
}

payloads! {
    fn get_physical_device_external_fence_properties(
        vk::PhysicalDeviceExternalFenceInfo<'_>, vk::ExternalFenceProperties<'_>
    ) { external_fence_features: ExternalFenceFeatureFlags of ExternalFenceHandleTypeFlags }

    fn get_physical_device_external_semaphore_properties(
        vk::PhysicalDeviceExternalSemaphoreInfo<'_>, vk::ExternalSemaphoreProperties<'_>
    ) { external_semaphore_features: ExternalSemaphoreFeatureFlags of ExternalSemaphoreHandleTypeFlags }
}

entries! {
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
