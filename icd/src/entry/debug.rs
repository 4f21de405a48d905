//! VK_EXT_debug_utils: messengers, object names, labels on queues. Labels in command buffers are recorded
//! like other commands.

use crate::boundary::entries;
use crate::device::Device;
use crate::entry::instance::Instance;
use crate::ffi;
use crate::handle;
use crate::layer;
use crate::message::DebugUtilsMessengerEXT;
use crate::queue::Queue;
use ash::vk;
use std::sync::Arc;

entries! {
    /// vkCreateDebugUtilsMessengerEXT.
    fn create_debug_utils_messenger(
        instance: vk::Instance,
        info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DebugUtilsMessengerEXT,
    ) -> vk::Result {
        let instance = handle::dispatchable::<Instance>(instance)?;
        let info = ffi::read(info)?;
        let messenger = Arc::new(DebugUtilsMessengerEXT::new(info));
        if !layer::has_created(info) {
            instance.add_messenger(messenger.clone());
        }
        ffi::write(out, handle::insert(messenger))
    }

    /// vkDestroyDebugUtilsMessengerEXT.
    fn destroy_debug_utils_messenger(
        instance: vk::Instance,
        messenger: vk::DebugUtilsMessengerEXT,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        let instance = handle::dispatchable::<Instance>(instance)?;
        if let Some(messenger) = handle::take::<DebugUtilsMessengerEXT>(messenger)? {
            instance.remove_messenger(&messenger);
        }
        Ok(())
    }

    /// vkSubmitDebugUtilsMessageEXT.
    fn submit_debug_utils_message(
        instance: vk::Instance,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        kinds: vk::DebugUtilsMessageTypeFlagsEXT,
        data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ) {
        let instance = handle::dispatchable::<Instance>(instance)?;
        let data = ffi::read(data)?;
        for messenger in instance.messengers() {
            messenger.call(severity, kinds, data);
        }
        Ok(())
    }

    /// vkSetDebugUtilsObjectNameEXT.
    fn set_debug_utils_object_name(
        device: vk::Device,
        info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
    ) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        device.set_name(info.object_type, info.object_handle, ffi::string(info.p_object_name));
        Ok(())
    }

    /// vkSetDebugUtilsObjectTagEXT: tags are for tools between the application and the driver.
    fn set_debug_utils_object_tag(
        device: vk::Device,
        _info: *const vk::DebugUtilsObjectTagInfoEXT<'_>,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        Ok(())
    }

    /// vkQueueBeginDebugUtilsLabelEXT.
    fn queue_begin_debug_utils_label(queue: vk::Queue, info: *const vk::DebugUtilsLabelEXT<'_>) {
        let label = ffi::string(ffi::read(info)?.p_label_name).unwrap_or_default();
        handle::dispatchable::<Queue>(queue)?.labels().push(label);
        Ok(())
    }

    /// vkQueueEndDebugUtilsLabelEXT.
    fn queue_end_debug_utils_label(queue: vk::Queue) {
        handle::dispatchable::<Queue>(queue)?.labels().pop();
        Ok(())
    }

    /// vkQueueInsertDebugUtilsLabelEXT: a single label marks a point, which no finding names.
    fn queue_insert_debug_utils_label(queue: vk::Queue, _info: *const vk::DebugUtilsLabelEXT<'_>) {
        handle::dispatchable::<Queue>(queue)?;
        Ok(())
    }
}
