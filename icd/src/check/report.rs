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
use pellucid_memory::commands::Fix;
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
        let mut places = f.hazard.bytes.first().map(|b| places(device, b.start)).unwrap_or_default();
        let place = (!places.is_empty()).then(|| places.remove(0));
        let semaphore = match &f.hazard.fix {
            Fix::ExtendSemaphore(gap) => device.name(vk::ObjectType::SEMAPHORE, gap.semaphore),
            _ => String::new(),
        };
        let barrier = f.barrier.as_ref().map(|b| {
            format!("{} (command {} of submission {} on {})", b.command, b.index, b.submission, b.queue)
        });
        let told = HazardReport {
            hazard: &f.hazard,
            first: side(f.first.as_ref()),
            second: side(f.second.as_ref()),
            barrier,
            semaphore,
            place,
            aliases: places.into_iter().map(|(object, _)| object).collect(),
        };
        let verdict = device.instance.session.api(&told);
        if let Some(message) = &verdict.message {
            device.instance.deliver(&Message::of_report(message));
        }
        if verdict.halt {
            return Err(format!("halt-on-error: {}", f.hazard.id.name()));
        }
    }
    Ok(())
}

/// The buffers, and then the images, that hold a device address, and where they start: several, if they are
/// aliases of one another.
fn places(device: &Device, address: u64) -> Vec<(Object, u64)> {
    let object = |kind: vk::ObjectType, what: &str, handle: u64| Object {
        reference: Reference(u32::MAX),
        what: what.to_owned(),
        handle,
        object_type: kind.as_raw(),
        name: device.name(kind, handle),
        address: 0,
        texels: None,
    };
    let holds = |start: &u64, size: u64| address >= *start && address - start < size;
    let buffers = Buffer::table().all().into_iter().filter_map(|b| {
        let start = b.memory().ok().map(|(memory, base)| memory.bytes().address() + base);
        let start = start.filter(|start| holds(start, b.size))?;
        Some((object(vk::ObjectType::BUFFER, "buffer", b.handle()), start))
    });
    let images = Image::table().all().into_iter().filter_map(|i| {
        let start = i.memory().ok().map(|(memory, base)| memory.bytes().address() + base);
        let start = start.filter(|start| holds(start, i.layout.size))?;
        Some((object(vk::ObjectType::IMAGE, "image", i.handle()), start))
    });
    buffers.chain(images).collect()
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
            place: places(device, first).into_iter().next(),
        };
        let verdict = device.instance.session.api(&told);
        if let Some(message) = &verdict.message {
            device.instance.deliver(&Message::of_report(message));
        }
        if verdict.halt {
            outcome = Err(format!("halt-on-error: {}", hazard.id.name()));
        }
    }
    outcome
}
