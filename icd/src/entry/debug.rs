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
        instance: Arc<Instance>,
        info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DebugUtilsMessengerEXT,
    ) -> vk::Result {
        let messenger = Arc::new(DebugUtilsMessengerEXT::new(info));
        if !layer::has_created(info) {
            instance.add_messenger(messenger.clone());
        }
        ffi::write(out, handle::insert(messenger))
    }

    /// vkDestroyDebugUtilsMessengerEXT.
    fn destroy_debug_utils_messenger(
        instance: Arc<Instance>,
        messenger: vk::DebugUtilsMessengerEXT,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        if let Some(messenger) = handle::take::<DebugUtilsMessengerEXT>(messenger)? {
            instance.remove_messenger(&messenger);
        }
        Ok(())
    }

    /// vkSubmitDebugUtilsMessageEXT.
    fn submit_debug_utils_message(
        instance: Arc<Instance>,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        kinds: vk::DebugUtilsMessageTypeFlagsEXT,
        data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ) {
        for messenger in instance.messengers() {
            messenger.call(severity, kinds, data);
        }
        Ok(())
    }

    /// vkSetDebugUtilsObjectNameEXT.
    fn set_debug_utils_object_name(
        device: Arc<Device>,
        info: &vk::DebugUtilsObjectNameInfoEXT<'_>,
    ) -> vk::Result {
        device.set_name(info.object_type, info.object_handle, ffi::string(info.p_object_name));
        Ok(())
    }

    /// vkSetDebugUtilsObjectTagEXT: tags are for tools between the application and the driver.
    fn set_debug_utils_object_tag(
        _device: Arc<Device>,
        _info: *const vk::DebugUtilsObjectTagInfoEXT<'_>,
    ) -> vk::Result {
        Ok(())
    }

    /// vkQueueBeginDebugUtilsLabelEXT.
    fn queue_begin_debug_utils_label(queue: vk::Queue, info: *const vk::DebugUtilsLabelEXT<'_>) {
        let label = ffi::string(ffi::read(info)?.p_label_name).unwrap_or_default();
        handle::dispatchable::<Queue>(queue)?.labels.lock().push(label);
        Ok(())
    }

    /// vkQueueEndDebugUtilsLabelEXT.
    fn queue_end_debug_utils_label(queue: vk::Queue) {
        handle::dispatchable::<Queue>(queue)?.labels.lock().pop();
        Ok(())
    }

    /// vkQueueInsertDebugUtilsLabelEXT: a single label marks a point, which no finding names.
    fn queue_insert_debug_utils_label(_queue: Arc<Queue>, _info: *const vk::DebugUtilsLabelEXT<'_>) {
        Ok(())
    }
}
