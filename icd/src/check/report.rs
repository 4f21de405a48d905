//! Hazards between commands, and between them and the host, go to the reports with what names their sides.

use super::hazards::{CommandName, Found, HostFound};
use super::host::Mappable;
use super::named::Changes;
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::image::Image;
use crate::entry::memory::DeviceMemory;
use crate::handle::Object as _;
use crate::message::Message;
use crate::report::{HazardReport, HostReport, Object, Side};
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::finding::FindingId;
use std::sync::Arc;

/// A command, as reports name it.
fn side<'a>(name: Option<&'a Arc<CommandName>>) -> Side<'a> {
    match name {
        Some(n) => Side {
            command: n.command,
            position: format!("command {} of submission {} on {}", n.index, n.submission, n.queue),
            labels: &n.labels,
            dispatch: n.dispatch.as_ref().map(|d| d.context()),
            transition: n.transition.map(|changes| match changes {
                Changes::Layout(from, to) => format!("layout transition from {from:?} to {to:?}"),
                Changes::Ownership => "queue family ownership transfer".to_owned(),
            }),
        },
        None => Side {
            command: "a command",
            position: "too long ago to be named".to_owned(),
            labels: &[],
            dispatch: None,
            transition: None,
        },
    }
}

/// Reports what was found between commands.
///
/// # Errors
/// The text of what loses the device.
pub fn hazards(device: &Device, found: &[Found]) -> Result<(), String> {
    for f in found {
        let place = f.hazard.bytes.first().and_then(|bytes| place(device, bytes.start));
        let barrier = f.barrier.as_ref().map(|b| {
            format!("{} (command {} of submission {} on {})", b.command, b.index, b.submission, b.queue)
        });
        let told = HazardReport {
            hazard: &f.hazard,
            first: side(f.first.as_ref()),
            second: side(f.second.as_ref()),
            barrier,
            place,
        };
        let verdict = device.instance.session.hazard(&told);
        if let Some(message) = &verdict.message {
            device.instance.deliver(&Message::of_report(message));
        }
        if verdict.halt {
            return Err(format!("halt-on-error: {}", f.hazard.id.name()));
        }
    }
    Ok(())
}

/// The buffer or image that holds a device address, and where it starts.
fn place(device: &Device, address: u64) -> Option<(Object, u64)> {
    let holds = |start: u64, size: u64| address >= start && address - start < size;
    let bound = |b: &Buffer| b.memory().ok().map(|(memory, base)| memory.bytes().address() + base);
    let object = |kind: vk::ObjectType, what: &str, handle: u64| Object {
        reference: Reference(u32::MAX),
        what: what.to_owned(),
        handle,
        object_type: kind.as_raw(),
        name: device.name(kind, handle),
        address: 0,
        texels: None,
    };
    if let Some(buffer) = Buffer::table().find(|b| bound(b).is_some_and(|start| holds(start, b.size))) {
        return Some((object(vk::ObjectType::BUFFER, "buffer", buffer.handle()), bound(&buffer)?));
    }
    let start_of = |i: &Image| i.memory().ok().map(|(memory, base)| memory.bytes().address() + base);
    let image = Image::table().find(|i| start_of(i).is_some_and(|start| holds(start, i.layout.size)))?;
    Some((object(vk::ObjectType::IMAGE, "image", image.handle()), start_of(&image)?))
}

/// Reports what was found between the host and the device.
///
/// # Errors
/// The text of what loses the device.
pub fn host(device: &Device) -> Result<(), String> {
    let Some(hazards) = &device.hazards else { return Ok(()) };
    let mut outcome = Ok(());
    for HostFound { hazard, command, since } in hazards.take_host_found() {
        let Some(host) = &device.host else { continue };
        let submission = command.as_ref().map_or(u64::MAX, |command| command.submission);
        // Events and queries tell as well, and need no dependency.
        let completed = device.completion.host().covers(hazard.at.0.0, submission);
        if hazard.id == FindingId::HostInFlight && completed {
            continue;
        }
        let Some(first) = hazard.bytes.first().map(|b| b.start) else { continue };
        let Some(Mappable { bytes, handle, .. }) = host.at(first) else { continue };
        let told = HostReport {
            hazard: &hazard,
            since,
            command: side(command.as_ref()),
            memory: Object {
                reference: Reference(u32::MAX),
                what: DeviceMemory::NAME.to_owned(),
                handle,
                object_type: vk::ObjectType::DEVICE_MEMORY.as_raw(),
                name: device.name(vk::ObjectType::DEVICE_MEMORY, handle),
                address: 0,
                texels: None,
            },
            extent: (bytes.address(), bytes.size()),
            place: place(device, first),
        };
        let verdict = device.instance.session.host(&told);
        if let Some(message) = &verdict.message {
            device.instance.deliver(&Message::of_report(message));
        }
        if verdict.halt {
            outcome = Err(format!("halt-on-error: {}", hazard.id.name()));
        }
    }
    outcome
}
