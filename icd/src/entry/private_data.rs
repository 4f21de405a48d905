//! VkPrivateDataSlot.

use crate::boundary::entries;
use crate::device::Device;
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use std::sync::{Arc, PoisonError};

/// A slot; its data is kept by the device, by object.
pub struct PrivateDataSlot;

object!(PrivateDataSlot, vk::PrivateDataSlot, kind::PRIVATE_DATA);

entries! {
    /// vkCreatePrivateDataSlot.
    fn create_private_data_slot(
        device: vk::Device,
        _info: *const vk::PrivateDataSlotCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::PrivateDataSlot,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        ffi::write(out, handle::insert(Arc::new(PrivateDataSlot)))
    }

    /// vkDestroyPrivateDataSlot.
    fn destroy_private_data_slot(
        device: vk::Device,
        slot: vk::PrivateDataSlot,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        let device = handle::dispatchable::<Device>(device)?;
        if handle::take::<PrivateDataSlot>(slot)?.is_some() {
            let slot = vk::Handle::as_raw(slot);
            let mut data = device.private_data.lock().unwrap_or_else(PoisonError::into_inner);
            data.retain(|(_, _, of), _| *of != slot);
        }
        Ok(())
    }

    /// vkSetPrivateData.
    fn set_private_data(
        device: vk::Device,
        object_type: vk::ObjectType,
        object: u64,
        slot: vk::PrivateDataSlot,
        value: u64,
    ) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        handle::get::<PrivateDataSlot>(slot)?;
        let key = (object_type.as_raw(), object, vk::Handle::as_raw(slot));
        device.private_data.lock().unwrap_or_else(PoisonError::into_inner).insert(key, value);
        Ok(())
    }

    /// vkGetPrivateData.
    fn get_private_data(
        device: vk::Device,
        object_type: vk::ObjectType,
        object: u64,
        slot: vk::PrivateDataSlot,
        out: *mut u64,
    ) {
        let device = handle::dispatchable::<Device>(device)?;
        handle::get::<PrivateDataSlot>(slot)?;
        let key = (object_type.as_raw(), object, vk::Handle::as_raw(slot));
        let data = device.private_data.lock().unwrap_or_else(PoisonError::into_inner);
        ffi::write(out, data.get(&key).copied().unwrap_or(0))
    }
}
