//! VkPrivateDataSlot.

use crate::boundary::{creates, destroys, entries};
use crate::device::Device;
use crate::entry::destroy::end;
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use std::sync::Arc;

/// A slot; its data is kept by the device, by object.
pub struct PrivateDataSlot;

object!(PrivateDataSlot, vk::PrivateDataSlot, kind::PRIVATE_DATA);

creates! {
    fn create_private_data_slot(_device, _info: vk::PrivateDataSlotCreateInfo<'_>) -> vk::PrivateDataSlot {
        Ok(handle::insert(Arc::new(PrivateDataSlot)))
    }
}

destroys! {
    fn destroy_private_data_slot(device, slot: vk::PrivateDataSlot) {
        if end::<PrivateDataSlot>(&device, slot)?.is_some() {
            let slot = vk::Handle::as_raw(slot);
            let mut data = device.private_data.lock();
            data.retain(|(_, _, of), _| *of != slot);
        }
        Ok(())
    }
}

entries! {
    fn set_private_data(
        device: Arc<Device>,
        object_type: vk::ObjectType,
        object: u64,
        slot: vk::PrivateDataSlot,
        value: u64,
    ) -> vk::Result {
        handle::get::<PrivateDataSlot>(slot)?;
        let key = (object_type.as_raw(), object, vk::Handle::as_raw(slot));
        device.private_data.lock().insert(key, value);
        Ok(())
    }

    fn get_private_data(
        device: Arc<Device>,
        object_type: vk::ObjectType,
        object: u64,
        slot: vk::PrivateDataSlot,
        out: *mut u64,
    ) {
        handle::get::<PrivateDataSlot>(slot)?;
        let key = (object_type.as_raw(), object, vk::Handle::as_raw(slot));
        let data = device.private_data.lock();
        ffi::write(out, data.get(&key).copied().unwrap_or(0))
    }
}
