//! Messages of the driver itself: to the application's debug messengers, and one line on standard error.

use crate::entry::instance::Instance;
use crate::report;
use ash::vk;
use std::ffi::CString;

/// An object that a message is about.
#[derive(Clone, Debug)]
pub struct About {
    /// Its type.
    pub kind: vk::ObjectType,
    /// Its handle.
    pub handle: u64,
    /// Its debug name, or "".
    pub name: String,
}

/// A message for debug messengers.
#[derive(Clone, Debug)]
pub struct Message {
    /// Severity.
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

/// Says that something failed.
pub fn error(instance: Option<&Instance>, text: &str) {
    report::say(text);
    if let Some(instance) = instance {
        deliver(
            instance,
            &Message {
                severity: vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
                kind: vk::DebugUtilsMessageTypeFlagsEXT::GENERAL,
                id: "pellucid".into(),
                number: 0,
                text: text.to_owned(),
                about: Vec::new(),
            },
        );
    }
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Hands a message to the messengers of an instance that want it.
pub fn deliver(instance: &Instance, message: &Message) {
    let messengers = instance.messengers();
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
