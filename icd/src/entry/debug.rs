//! VK_EXT_debug_utils: messengers, object names, labels on queues. Labels in command buffers are recorded
//! like other commands.

use crate::boundary::entries;
use crate::entry::device::Device;
use crate::entry::instance::Instance;
use crate::entry::kind;
use crate::ffi;
use crate::handle::{self, object};
use crate::message::{self, Message};
use crate::queue::Queue;
use ash::vk;
use std::ffi::c_void;
use std::sync::Arc;

/// A debug messenger: whom to call, and for what.
pub struct DebugUtilsMessengerEXT {
    severities: vk::DebugUtilsMessageSeverityFlagsEXT,
    kinds: vk::DebugUtilsMessageTypeFlagsEXT,
    callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    user_data: *mut c_void,
}

// SAFETY: the user data is only handed back to the application, which the specification asks to expect calls
// from any thread.
unsafe impl Send for DebugUtilsMessengerEXT {}
// SAFETY: as for Send.
unsafe impl Sync for DebugUtilsMessengerEXT {}

object!(DebugUtilsMessengerEXT, vk::DebugUtilsMessengerEXT, kind::MESSENGER);

impl DebugUtilsMessengerEXT {
    fn new(info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> DebugUtilsMessengerEXT {
        DebugUtilsMessengerEXT {
            severities: info.message_severity,
            kinds: info.message_type,
            callback: info.pfn_user_callback,
            user_data: info.p_user_data,
        }
    }

    /// Calls the application, if it wants messages of this kind. What the callback returns concerns layers
    /// only.
    pub fn call(
        &self,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        kind: vk::DebugUtilsMessageTypeFlagsEXT,
        data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ) {
        if let Some(callback) = self.callback
            && self.severities.contains(severity)
            && self.kinds.intersects(kind)
        {
            // SAFETY: the application gave this function for this purpose, and `data` lives until it returns.
            unsafe { callback(severity, kind, data, self.user_data) };
        }
    }
}

entries! {
    /// vkCreateDebugUtilsMessengerEXT.
    fn create_debug_utils_messenger(
        instance: vk::Instance,
        info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DebugUtilsMessengerEXT,
    ) -> vk::Result {
        let instance = handle::dispatchable::<Instance>(instance)?;
        let messenger = Arc::new(DebugUtilsMessengerEXT::new(ffi::read(info)?));
        instance.add_messenger(messenger.clone());
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

/// Hands a report's message to the instance's messengers.
pub fn deliver_report(device: &Device, message: &crate::report::Message) {
    let about = message
        .objects
        .iter()
        .map(|o| message::About {
            kind: vk::ObjectType::from_raw(o.object_type),
            handle: o.handle,
            name: o.name.clone(),
        })
        .collect();
    message::deliver(
        &device.instance,
        &Message {
            severity: if message.note {
                vk::DebugUtilsMessageSeverityFlagsEXT::INFO
            } else {
                vk::DebugUtilsMessageSeverityFlagsEXT::ERROR
            },
            kind: vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
            id: message.id_name.to_owned(),
            number: message.id_number,
            text: message.text.clone(),
            about,
        },
    );
}
