//! Hazards between commands, and between them and the host, go to the reports with what names their sides.

use super::found::{CommandName, Found, HostFound, WhoName};
use super::host::Mappable;
use super::layouts::{Mismatch, Since, WrongLayout};
use super::named::Changes;
use super::ownership::{Differs, WrongOwner};
use crate::caps::later::layout_name;
use crate::caps::queues::{self, family_called};
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::image::Image;
use crate::entry::memory::DeviceMemory;
use crate::handle::Object as _;
use crate::message::Message;
use crate::report::api::ApiFinding;
use crate::report::hazard::stages;
use crate::report::layout::{self as report, By, LayoutReport};
use crate::report::ownership::{self as owned, OwnershipReport};
use crate::report::timeline::{CommandEntry, HostEntry, Semaphores, Timeline};
use crate::report::{FixPlace, HazardReport, HostReport, InCache, Object, Side};
use ash::vk;
use pellucid_memory::commands::{Fix, Range, SemaphoreUse};
use pellucid_memory::device::Allocation;
use std::sync::Arc;

/// A command, as reports name it.
fn side<'a>(name: Option<&'a Arc<CommandName>>) -> Side<'a> {
    match name {
        Some(n) => Side {
            command: n.command,
            position: n.position(),
            labels: &n.labels,
            dispatch: n.dispatch.as_ref().map(|d| d.context()),
            transition: n.transition.map(|changes| match changes {
                Changes::Layout(from, to) => {
                    format!("layout transition from {} to {}", layout_name(from), layout_name(to))
                }
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
        let barrier = f.barrier.as_ref().map(|b| b.told());
        let told = HazardReport {
            hazard: &f.hazard,
            device: device.ordinal,
            first: side(f.first.as_ref()),
            second: side(f.second.as_ref()),
            barrier,
            fix_place: fix_place(device.ordinal, f),
            semaphore,
            place,
            aliases: places.into_iter().map(|(object, _)| object).collect(),
            timeline: timeline(device, f),
        };
        tell(device, &told)?;
    }
    Ok(())
}

/// The barrier that the fix of a hazard extends, or the commands between which it has something inserted.
fn fix_place(device: u64, found: &Found) -> Option<FixPlace> {
    let place = |name: &Option<Arc<CommandName>>| name.as_ref().map(|name| name.place(device));
    match found.hazard.fix {
        Fix::Extend(_) => place(&found.barrier).map(FixPlace::Command),
        Fix::Insert { .. } | Fix::ExtendSemaphore(_) | Fix::Semaphore { .. } => {
            Some(FixPlace::Between(place(&found.first)?, place(&found.second)?))
        }
    }
}

/// What was executed from the one command of a hazard to the other.
fn timeline<'a>(device: &Device, found: &'a Found) -> Timeline<'a> {
    let last = found.passed.len().wrapping_sub(1);
    let entry = |(k, (tag, name)): (usize, &'a (u64, Arc<CommandName>))| CommandEntry {
        side: side(Some(name)),
        queue: &name.queue,
        submission: name.submission,
        buffer: name.buffer,
        index: name.index,
        number: if k == 0 { Some(1) } else { (k == last).then_some(2) },
        barrier: found.hazard.barriers.iter().find(|barrier| barrier.tag == *tag),
    };
    let semaphores = found.semaphores.iter().filter_map(|of| {
        let same = |name: &CommandName| (name.at, name.submission) == (of.at, of.submission);
        let queue = found.passed.iter().find(|(_, name)| same(name)).map(|(_, name)| name.queue.clone())?;
        let told = |uses: &[SemaphoreUse]| uses.iter().map(|one| semaphore(device, one)).collect();
        let (waits, signals) = (told(&of.waits), told(&of.signals));
        Some(Semaphores { queue, submission: of.submission, waits, signals })
    });
    let queue = |at: u32| found.passed.iter().find(|(_, name)| name.at == at).map(|(_, name)| &*name.queue);
    let host = found.host.iter().map(|step| HostEntry {
        call: step.call,
        handed_in: step.handed_in.iter().filter_map(|(at, n)| Some((queue(*at)?, *n))).collect(),
    });
    Timeline {
        host: host.collect(),
        host_left_out: found.host_left_out,
        entries: found.passed.iter().enumerate().map(entry).collect(),
        left_out: found.left_out,
        semaphores: semaphores.collect(),
    }
}

/// `semaphore "done", value 3, COMPUTE_SHADER`.
fn semaphore(device: &Device, one: &SemaphoreUse) -> String {
    let name = match device.name(vk::ObjectType::SEMAPHORE, one.semaphore) {
        name if name.is_empty() => "a semaphore".to_owned(),
        name => format!("semaphore \"{name}\""),
    };
    let value = one.value.map(|value| format!(", value {value}")).unwrap_or_default();
    let stages = one.stages.map(|mask| format!(", {}", stages(mask))).unwrap_or_default();
    format!("{name}{value}{stages}")
}

/// The buffers, and then the images, that hold a device address, and where they start: several, if they are
/// aliases of one another.
fn places(device: &Device, address: u64) -> Vec<(Object, u64)> {
    let mut all = places_at(device, address);
    for other in device.aliases().others(address) {
        for (object, start) in places_at(device, other) {
            if !all.iter().any(|(known, _)| *known == object) {
                all.push((object, start));
            }
        }
    }
    all
}

/// Those that hold a byte at this address.
fn places_at(device: &Device, address: u64) -> Vec<(Object, u64)> {
    let holds = |start: &u64, size: u64| address >= *start && address - start < size;
    let buffers = Buffer::table().all().into_iter().filter_map(|b| {
        let start = b.memory().ok().map(|(memory, base)| memory.bytes().address() + base);
        let start = start.filter(|start| holds(start, b.size))?;
        Some((device.object(vk::ObjectType::BUFFER, "buffer", b.handle()), start))
    });
    let images = Image::table().all().into_iter().filter_map(|i| {
        let part = |part: &Image| {
            let start = part.memory().ok().map(|(memory, base)| memory.bytes().address() + base);
            start.filter(|start| holds(start, part.layout.size))
        };
        let start = i.parts(vk::ImageAspectFlags::empty()).find_map(part)?;
        Some((device.object(vk::ObjectType::IMAGE, "image", i.handle()), start))
    });
    buffers.chain(images).collect()
}

/// Reports what was found between the host and the device since this was last called.
///
/// # Errors
/// The text of what loses the device.
pub fn of_host(device: &Device) -> Result<(), String> {
    let Some(hazards) = &device.hazards else { return Ok(()) };
    let mut outcome = Ok(());
    for HostFound { hazard, command, barrier, since } in hazards.take_host_found() {
        let Some(host) = &device.host else { continue };
        let Some(first) = hazard.bytes.first().map(|b| b.start) else { continue };
        // What the host copies itself may be memory that it cannot map.
        let unmapped = || {
            let all = DeviceMemory::table().all().into_iter();
            let mut holding = all.filter(|memory| {
                let bytes = memory.bytes();
                bytes.address() <= first && first - bytes.address() < bytes.size()
            });
            let memory = holding.next()?;
            Some((memory.bytes().clone(), memory.handle()))
        };
        let mapped = host.at(first).map(|Mappable { bytes, handle, .. }| (bytes, handle));
        let Some((bytes, handle)) = mapped.or_else(unmapped) else { continue };
        let told = HostReport {
            hazard: &hazard,
            since: since.call,
            caller: since.caller.as_deref(),
            command: side(command.as_ref()),
            barrier: barrier.as_ref().map(|b| b.told()),
            memory: device.object(vk::ObjectType::DEVICE_MEMORY, DeviceMemory::NAME, handle),
            extent: (bytes.address(), bytes.size()),
            place: places(device, first).into_iter().next(),
            cache: in_cache(&bytes, &hazard.bytes),
        };
        outcome = tell(device, &told).and(outcome);
    }
    outcome
}

/// Bytes of an access that are told, at most.
const TOLD: u64 = 16;

/// What the host's cache of the machine, if it has one, holds from the first of these bytes on, by words.
fn in_cache(memory: &Allocation, bytes: &[Range]) -> Option<InCache> {
    let offset = (bytes.first()?.start - memory.address()) & !3;
    let end = (bytes.last()?.end - memory.address()).next_multiple_of(4);
    let size = end.min(memory.size()).min(offset + TOLD) - offset;
    let start = memory.address() + offset;
    let lines = memory.host_lines(offset, size)?;
    let mut there = vec![0; size as usize];
    memory.read(offset, &mut there);
    let held = (!lines.differing().is_empty()).then(|| {
        let dirty = lines.differing().iter().any(|run| run.dirty);
        let mut held = there.clone();
        for run in lines.differing() {
            let at = (run.address - start) as usize;
            held[at..at + run.bytes.len()].copy_from_slice(&run.bytes);
        }
        (held, dirty)
    });
    Some(InCache { bytes: Range { start, end: start + size }, memory: there, held })
}

fn by(who: &WhoName) -> By<'_> {
    match who {
        WhoName::Command(name) => By::Command(Box::new(side(name.as_ref()))),
        WhoName::Host(since) => By::Host(since),
    }
}

/// Reports the uses of buffers and images by queue families that do not own them.
fn owners(device: &Device) -> Result<(), String> {
    let Some(hazards) = &device.hazards else { return Ok(()) };
    let mut outcome = Ok(());
    for found in hazards.take_ownership_found() {
        let differs = |differs: Differs| match differs {
            Differs::Families(from, to) => {
                format!("from {} to {}", family_called(from), family_called(to))
            }
            Differs::Layouts(from, to) => format!("from {} to {}", layout_name(from), layout_name(to)),
            Differs::Part => "with another range".to_owned(),
        };
        let wrong = match found.wrong {
            WrongOwner::NotReleased(owner, _) => owned::OwnershipMistake::NotReleased(family_called(owner)),
            WrongOwner::NotAcquired(to, _) => {
                owned::OwnershipMistake::NotAcquired(family_called(to), queues::is_external(to))
            }
            WrongOwner::NoRelease(near) => {
                owned::OwnershipMistake::NoRelease(near.map(|(one, _)| differs(one)))
            }
            WrongOwner::Modified(_) => owned::OwnershipMistake::Modified,
            WrongOwner::NotShared => owned::OwnershipMistake::NotShared,
        };
        let (kind, handle) = (found.resource.kind, found.resource.handle);
        let is_buffer = kind == vk::ObjectType::BUFFER;
        let what = if is_buffer { "buffer" } else { "image" };
        let told = OwnershipReport {
            resource: device.object(kind, what, handle),
            is_buffer,
            wrong,
            family: found.family,
            by: side(found.by.as_ref()),
            operand: found.operand,
            before: found.wrong.before().map(|_| side(found.before.as_ref())),
        };
        outcome = tell(device, &told).and(outcome);
    }
    outcome
}

/// Reports the uses of images that were not right, by their layouts or their owners.
///
/// # Errors
/// The text of what loses the device.
pub fn layouts(device: &Device) -> Result<(), String> {
    let Some(hazards) = &device.hazards else { return Ok(()) };
    let mut outcome = owners(device);
    for found in hazards.take_layouts_found() {
        let Mismatch { image, level, layer, wrong, layout, since, .. } = &found.mismatch;
        let told = LayoutReport {
            image: device.object(vk::ObjectType::IMAGE, "image", image.handle),
            subresource: (*level, *layer),
            plane: image.plane,
            wrong: match wrong {
                WrongLayout::Access(layout) => report::LayoutMistake::Access(layout_name(*layout)),
                WrongLayout::OldLayout(from, _) => report::LayoutMistake::OldLayout(layout_name(*from)),
                WrongLayout::Read => {
                    report::LayoutMistake::Read { linear: image.tiling == vk::ImageTiling::LINEAR }
                }
            },
            by: by(&found.by),
            operand: found.operand,
            layout: layout_name(*layout),
            since: found.since.as_ref().map(by),
            overwritten: matches!(since, Since::Overwritten(_)),
        };
        outcome = tell(device, &told).and(outcome);
    }
    outcome
}

fn tell(device: &Device, finding: &impl ApiFinding) -> Result<(), String> {
    let verdict = device.instance.session.api(finding);
    if let Some(message) = &verdict.message {
        device.instance.deliver(&Message::of_report(message));
    }
    if verdict.halt { Err(device.instance.session.halted(finding.id())) } else { Ok(()) }
}
