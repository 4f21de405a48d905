//! Capabilities of external memory, fences and semaphores: there are none to share.

use crate::boundary::entries;
use crate::entry::physical_device::PhysicalDevice;
use crate::ffi;
use crate::handle;
use ash::vk;

entries! {
    /// vkGetPhysicalDeviceExternalBufferProperties.
    fn get_physical_device_external_buffer_properties(
        device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceExternalBufferInfo<'_>,
        out: *mut vk::ExternalBufferProperties<'_>,
    ) {
        handle::dispatchable::<PhysicalDevice>(device)?;
        ffi::read_mut(out)?.external_memory_properties = vk::ExternalMemoryProperties {
            compatible_handle_types: ffi::read(info)?.handle_type,
            ..Default::default()
        };
        Ok(())
    }

    /// vkGetPhysicalDeviceExternalFenceProperties.
    fn get_physical_device_external_fence_properties(
        device: vk::PhysicalDevice,
        _info: *const vk::PhysicalDeviceExternalFenceInfo<'_>,
        out: *mut vk::ExternalFenceProperties<'_>,
    ) {
        handle::dispatchable::<PhysicalDevice>(device)?;
        let out = ffi::read_mut(out)?;
        out.export_from_imported_handle_types = vk::ExternalFenceHandleTypeFlags::empty();
        out.compatible_handle_types = vk::ExternalFenceHandleTypeFlags::empty();
        out.external_fence_features = vk::ExternalFenceFeatureFlags::empty();
        Ok(())
    }

    /// vkGetPhysicalDeviceExternalSemaphoreProperties.
    fn get_physical_device_external_semaphore_properties(
        device: vk::PhysicalDevice,
        _info: *const vk::PhysicalDeviceExternalSemaphoreInfo<'_>,
        out: *mut vk::ExternalSemaphoreProperties<'_>,
    ) {
        handle::dispatchable::<PhysicalDevice>(device)?;
        let out = ffi::read_mut(out)?;
        out.export_from_imported_handle_types = vk::ExternalSemaphoreHandleTypeFlags::empty();
        out.compatible_handle_types = vk::ExternalSemaphoreHandleTypeFlags::empty();
        out.external_semaphore_features = vk::ExternalSemaphoreFeatureFlags::empty();
        Ok(())
    }
}
