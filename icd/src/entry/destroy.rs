//! The end of an object's handle, and what is said if submitted work still uses the object. Its bytes stay
//! until that work has ended.

use crate::described;
use crate::device::Device;
use crate::ended::Ended;
use crate::error::Outcome;
use crate::handle::{self, Object};
use crate::message::Message;
use crate::queue::Submission;
use crate::queue::fence::Fence;
use crate::queue::submission::Use;
use crate::report::FreedReport;
use ash::vk::{self, Handle as _};
use pellucid_memory::commands::Range;
use pellucid_memory::finding::FindingId;
use std::any::Any;
use std::sync::{Arc, Weak};

/// Ends a handle that no report is about, with what the device knows by it; null is nothing.
///
/// # Errors
/// The handle is neither null nor live.
pub fn end<T: Object>(device: &Device, handle: T::Handle) -> Outcome<Option<Arc<T>>> {
    let object = handle::take::<T>(handle)?;
    if object.is_some() {
        device.handle_ended(T::Handle::TYPE, handle.as_raw(), false);
    }
    Ok(object)
}

/// Ends a handle for the entry point `call`, as [`end`] does, and reports it if submitted work uses the
/// object.
///
/// # Errors
/// The handle is neither null nor live.
pub fn destroy<T: Object>(device: &Device, handle: T::Handle, call: &'static str) -> Outcome<Option<Arc<T>>> {
    let object = handle::take::<T>(handle)?;
    if let Some(object) = &object {
        ended(device, call, (T::NAME, T::Handle::TYPE, handle.as_raw()), object);
        device.handle_ended(T::Handle::TYPE, handle.as_raw(), true);
    }
    Ok(object)
}

/// Ends the handle of an object that descriptors in memory may name.
///
/// # Errors
/// The handle is neither null nor live.
pub fn destroy_described<T: Object>(
    device: &Arc<Device>,
    handle: T::Handle,
    call: &'static str,
) -> Outcome<Option<Arc<T>>> {
    let number = device.described.remove(handle);
    let object = destroy::<T>(device, handle, call)?;
    if let (Some(object), Some(number)) = (&object, number) {
        bytes_ended(device, call, handle, object, described::place(number));
    }
    Ok(object)
}

/// Takes note of the end of an object, and reports it if a submission uses it which the host has not seen
/// complete. The object is named by its type's name, its VkObjectType and its handle.
pub fn ended<T: Send + Sync + 'static>(
    device: &Device,
    call: &'static str,
    (type_name, kind, raw): (&str, vk::ObjectType, u64),
    object: &Arc<T>,
) {
    // The caller holds one reference; whatever uses the object holds another.
    if Arc::strong_count(object) == 1 || device.is_lost() {
        return;
    }
    // Of other types, what mentions them needs them no more.
    let matters = [
        vk::ObjectType::BUFFER,
        vk::ObjectType::BUFFER_VIEW,
        vk::ObjectType::COMMAND_BUFFER,
        vk::ObjectType::DESCRIPTOR_SET,
        vk::ObjectType::DEVICE_MEMORY,
        vk::ObjectType::EVENT,
        vk::ObjectType::IMAGE,
        vk::ObjectType::IMAGE_VIEW,
        vk::ObjectType::PIPELINE,
        vk::ObjectType::QUERY_POOL,
        vk::ObjectType::SAMPLER,
        vk::ObjectType::SHADER_EXT,
    ];
    if !matters.contains(&kind) {
        return changed(device, call, (type_name, kind, raw), object);
    }
    device.ended.add(Ended {
        object: Arc::downgrade(object) as Weak<dyn Any + Send + Sync>,
        called: called(device, (type_name, kind, raw)),
        call,
    });
    changed(device, call, (type_name, kind, raw), object);
}

/// An object's type and its name or number, as messages say it.
pub fn called(device: &Device, (type_name, kind, raw): (&str, vk::ObjectType, u64)) -> String {
    match (device.name(kind, raw).as_str(), handle::number(raw)) {
        ("", Some(number)) => format!("{type_name} {number}"),
        ("", None) => format!("{type_name} {raw:#x}"),
        (name, _) => format!("{type_name} \"{name}\""),
    }
}

/// Reports the change or the end of an object that a submission uses which the host has not seen complete.
pub fn changed<T>(
    device: &Device,
    call: &'static str,
    (type_name, kind, raw): (&str, vk::ObjectType, u64),
    object: &Arc<T>,
) {
    if let Some((used, submission)) = device.completion.use_of(Arc::as_ptr(object).cast()) {
        report(device, call, (type_name, kind, raw), used, &submission);
    }
}

/// Reports the end of bytes that a submission reaches by address which the host has not seen complete: in
/// check mode, when it is seen. The object is named by its type's name, its VkObjectType and its handle.
pub fn bytes_ended<T: Object>(
    device: &Arc<Device>,
    call: &'static str,
    handle: T::Handle,
    object: &Arc<T>,
    bytes: Range,
) {
    let known = device.completion.use_of(Arc::as_ptr(object).cast()).is_some();
    if known || device.hazards.is_none() || device.is_lost() {
        return;
    }
    let (raw, weak) = (handle.as_raw(), Arc::downgrade(device));
    let late = move |used: Use, submission: &Submission| {
        if let Some(device) = weak.upgrade() {
            report(&device, call, (T::NAME, T::Handle::TYPE, raw), used, submission);
        }
    };
    device.completion.ended(bytes, Box::new(late));
}

/// Reports that a fence is reset or submitted again while a submission uses it which the host has not seen
/// complete. True if that is so.
pub fn fence_in_use(device: &Device, call: &'static str, handle: vk::Fence, fence: &Arc<Fence>) -> bool {
    let used = device.completion.use_of(Arc::as_ptr(fence).cast());
    if let Some((used, submission)) = used.as_ref().filter(|_| !device.is_lost()) {
        report(device, call, (Fence::NAME, vk::ObjectType::FENCE, handle.as_raw()), *used, submission);
    }
    used.is_some()
}

/// Reports the end of a device whose submissions the host has not seen complete.
pub fn device_ended(device: &Device, raw: u64) {
    if let Some(submission) = device.completion.unseen() {
        let used = Use { command: "vkQueueSubmit", index: None };
        report(device, "vkDestroyDevice", ("VkDevice", vk::ObjectType::DEVICE, raw), used, &submission);
    }
}

fn report(
    device: &Device,
    call: &'static str,
    (type_name, kind, raw): (&str, vk::ObjectType, u64),
    used: Use,
    submission: &Submission,
) {
    let queue = submission.queue.as_ref().map_or("a queue".to_owned(), |queue| device.queue_called(queue));
    let report = FreedReport {
        call,
        object: device.object(kind, type_name, raw),
        number: handle::number(raw),
        command: used.command,
        index: used.index,
        submission: submission.serial,
        queue,
    };
    let verdict = device.instance.session.api(&report);
    if let Some(message) = &verdict.message {
        device.instance.deliver(&Message::of_report(message));
    }
    if verdict.halt {
        device.lose(&device.instance.session.halted(FindingId::FreedInUse));
    }
}
