//! Messages, and the application's debug messengers that hear them.

use crate::handle::{kind, object};
use crate::report;
use ash::vk;
use pellucid_memory::finding::Severity;
use std::ffi::{CString, c_void};
use std::sync::Arc;

/// An object that a message is about.
#[derive(Clone, Debug)]
pub struct About {
    /// Its type.
    pub kind: vk::ObjectType,
    pub handle: u64,
    /// Its debug name, or "".
    pub name: String,
}

/// A message for debug messengers.
#[derive(Clone, Debug)]
pub struct Message {
    pub severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    /// Type.
    pub kind: vk::DebugUtilsMessageTypeFlagsEXT,
    /// `pMessageIdName`.
    pub id: String,
    /// `messageIdNumber`.
    pub number: i32,
    /// `pMessage`.
    pub text: String,
    /// Objects, the first one the most concerned.
    pub about: Vec<About>,
}

impl Message {
    /// Something failed.
    pub fn error(text: &str) -> Message {
        Message {
            severity: vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            kind: vk::DebugUtilsMessageTypeFlagsEXT::GENERAL,
            id: "pellucid".into(),
            number: 0,
            text: text.to_owned(),
            about: Vec::new(),
        }
    }

    /// Something is not as good as it could be.
    pub fn warning(text: &str) -> Message {
        let severity = vk::DebugUtilsMessageSeverityFlagsEXT::WARNING;
        Message { severity, ..Message::error(text) }
    }

    /// A report's message.
    pub fn of_report(message: &report::ReportMessage) -> Message {
        let about = message.objects.iter().map(|o| About {
            kind: vk::ObjectType::from_raw(o.object_type),
            handle: o.handle,
            name: o.name.clone(),
        });
        Message {
            severity: match message.severity {
                Severity::Note => vk::DebugUtilsMessageSeverityFlagsEXT::INFO,
                Severity::Warning => vk::DebugUtilsMessageSeverityFlagsEXT::WARNING,
                Severity::Error => vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            },
            kind: vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
            id: message.id_name.to_owned(),
            number: message.id_number,
            text: message.text.clone(),
            about: about.collect(),
        }
    }
}

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
    /// The messenger that the application describes.
    pub fn new(info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> DebugUtilsMessengerEXT {
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

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Hands a message to those messengers that want it.
pub fn deliver(messengers: &[Arc<DebugUtilsMessengerEXT>], message: &Message) {
    if messengers.is_empty() {
        return;
    }
    let (id, text) = (c_string(&message.id), c_string(&message.text));
    let names: Vec<CString> = message.about.iter().map(|a| c_string(&a.name)).collect();
    let objects: Vec<vk::DebugUtilsObjectNameInfoEXT<'_>> = message
        .about
        .iter()
        .zip(&names)
        .map(|(about, name)| vk::DebugUtilsObjectNameInfoEXT {
            object_type: about.kind,
            object_handle: about.handle,
            p_object_name: if about.name.is_empty() { std::ptr::null() } else { name.as_ptr() },
            ..Default::default()
        })
        .collect();
    let data = vk::DebugUtilsMessengerCallbackDataEXT {
        p_message_id_name: id.as_ptr(),
        message_id_number: message.number,
        p_message: text.as_ptr(),
        object_count: objects.len() as u32,
        p_objects: objects.as_ptr(),
        ..Default::default()
    };
    for messenger in messengers {
        messenger.call(message.severity, message.kind, &data);
    }
}
