//! Replay: a queue's worker runs the commands of a command buffer, in order, each to its end.

use super::indirect::word;
use super::state::State;
use super::{Command, CopyQueryResults, Recorded, blit, copy, dispatch, render};
use crate::check::commands as check;
use crate::check::dependency::signaled;
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::destroy::called;
use crate::entry::query;
use crate::error::{Error, Outcome};
use crate::queue::Queue;
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Runs a submitted command buffer.
///
/// # Errors
/// The text of what loses the device.
pub fn run<'a>(
    device: &Arc<Device>,
    queue: &Queue,
    state: &mut State<'a>,
    recorded: &'a Recorded,
) -> Result<(), String> {
    for command in &recorded.commands {
        if device.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let writes = !matches!(command, Command::WaitEvents(..) | Command::Execute(_))
            && !matches!(command, Command::CopyQueryResults(copy) if copy.flags.contains(ash::vk::QueryResultFlags::WAIT));
        let _busy = device.host.as_ref().filter(|_| writes).map(|host| host.busy());
        step(device, queue, state, command)?;
    }
    Ok(())
}

fn step<'a>(
    device: &Arc<Device>,
    queue: &Queue,
    state: &mut State<'a>,
    command: &'a Command,
) -> Result<(), String> {
    match command {
        Command::BindPipeline(pipeline) => state.bind_pipeline(pipeline.as_deref()),
        Command::BindSets(first, sets, dynamic) => state.bind_sets(*first, sets, dynamic),
        Command::BindDescriptorBuffers(addresses) => state.bind_descriptor_buffers(addresses),
        Command::SetDescriptorBufferOffsets(first, sets) => state.set_descriptor_buffer_offsets(*first, sets),
        Command::BindEmbeddedSamplers(number, layout) => state.bind_embedded_samplers(*number, layout),
        Command::PushConstants(offset, bytes) => state.push_constants(*offset, bytes),
        Command::Dispatch(..) | Command::DispatchIndirect(..) | Command::ClearAttachments(..)
            if state.discards =>
        {
            check::tag(device, queue, state, command.name());
        }
        Command::BeginConditional(predicate) => {
            let word: [u8; 4] = parameters(device, command.name(), &predicate.buffer, predicate.offset);
            state.discards = (word == [0; 4]) != predicate.inverted;
            check::predicate(device, queue, state, predicate)?;
        }
        Command::EndConditional => state.discards = false,
        Command::Dispatch(base, groups) => dispatch::run(device, queue, state, *base, *groups, None)?,
        Command::DispatchIndirect(buffer, offset) => {
            let bytes: [u8; 12] = parameters(device, command.name(), buffer, *offset);
            let groups = std::array::from_fn(|k| word(&bytes, 4 * k));
            dispatch::run(device, queue, state, [0; 3], groups, Some((buffer, *offset)))?;
        }
        // Commands run to their end one after another: execution is ordered already, and memory is coherent
        // in run mode.
        Command::Barrier(dependency) => {
            check::barrier(device, queue, state, dependency)?;
        }
        Command::Render(step) => render::step(device, queue, state, step)?,
        Command::ClearAttachments(attachments, rects) => {
            render::clear(device, queue, state, attachments, rects)?;
        }
        // Of one that is set nothing is signaled, and no dependency begins.
        Command::SetEvent(event, _) if event.is_set() => {}
        Command::SetEvent(event, dependency) => {
            let standing = || check::standing(device, queue, state);
            let set = device.hazards.as_ref().map(|h| h.set_event(&standing().at(), &signaled(dependency)));
            let (tokens, payload) = set.unzip();
            event.set(device.told(queue.index, payload), tokens.unwrap_or_default());
            device.progress.notify();
        }
        Command::ResetEvent(event) => {
            event.reset();
            device.progress.notify();
        }
        Command::WaitEvents(waits) => {
            let events = || waits.iter().flat_map(|wait| &wait.events);
            let set = || events().all(|e| e.is_set());
            if !set() {
                let unset: Vec<String> = events()
                    .filter(|event| !event.is_set())
                    .map(|e| called(device, ("VkEvent", vk::ObjectType::EVENT, e.handle())))
                    .collect();
                *queue.blocked.lock() = Some(unset.join(" and "));
                device.progress.notify();
                device.progress.wait(None, || device.stop.load(Ordering::Relaxed) || set());
                *queue.blocked.lock() = None;
            }
            check::wait_events(device, queue, state, waits)?;
        }
        Command::ResetQueries(pool, first, count) => {
            device.skipped(
                "vkCmdResetQueryPool",
                pool.queries(*first, *count).map(|q| q.iter().for_each(|q| q.reset())),
            );
        }
        Command::BeginQuery(..) => {}
        Command::EndQuery(pool, query) => {
            let payload = device.hazards.as_ref().map(|h| h.signal_fence(queue.index));
            let told = device.told(queue.index, payload);
            device.skipped("vkCmdEndQuery", pool.queries(*query, 1).map(|q| q[0].put(0, told)));
            device.progress.notify();
        }
        Command::WriteTimestamp(pool, query, stages) => {
            let now = device.epoch.elapsed().as_nanos() as u64;
            let payload = device.hazards.as_ref().map(|h| h.signal_semaphore(queue.index, Some(*stages)));
            let told = device.told(queue.index, payload);
            let done = pool.queries(*query, 1).map(|q| q[0].put(now, told));
            device.skipped("vkCmdWriteTimestamp", done);
            device.progress.notify();
        }
        Command::Execute(list) => {
            for secondary in list {
                run(device, queue, &mut state.of_secondary(), secondary)?;
            }
        }
        Command::BeginLabel(label) => state.labels.push(label.clone()),
        Command::EndLabel => {
            state.labels.pop();
        }
        Command::CopyIndirect(copy) => {
            let addresses = state.reach.addresses_now(device);
            let done =
                check::copy_indirect(device, queue, state, (copy, &addresses), |t| copy.run(&addresses, t))?;
            device.skipped(copy.name(), done);
        }
        _ => {
            let done = check::transfer(device, queue, state, command, |t| transfer(device, command, t))?;
            device.skipped(command.name(), done);
        }
    }
    Ok(())
}

/// A command that moves bytes; in check mode it says which.
fn transfer(device: &Device, command: &Command, t: copy::Touched<'_>) -> Outcome<()> {
    match command {
        Command::CopyBuffer(from, to, regions) => copy::buffers(device, from, to, regions, t),
        Command::FillBuffer(to, offset, size, data) => copy::fill(device, to, *offset, *size, *data, t),
        Command::UpdateBuffer(to, offset, bytes) => copy::update(to, *offset, bytes, t),
        Command::CopyImage(from, to, regions) => copy::images(from, to, regions, t),
        Command::CopyBufferToImage(from, to, regions) => copy::buffer_to_image(from, to, regions, t),
        Command::CopyImageToBuffer(from, to, regions) => copy::image_to_buffer(from, to, regions, t),
        Command::BlitImage(from, to, regions, filter) => blit::blit(from, to, regions, *filter, t),
        Command::ResolveImage(from, to, regions) => blit::resolve(from, to, regions, t),
        Command::Clear(image, value, ranges) => copy::clear(image, *value, ranges, t),
        Command::CopyQueryResults(info) => copy_results(device, info, t),
        other => Err(Error::not_implemented(other.name())),
    }
}

/// What a command reads in a buffer before it does anything else; zeros, and a message, if there is no
/// memory.
fn parameters<const N: usize>(device: &Device, command: &str, buffer: &Buffer, offset: u64) -> [u8; N] {
    let mut bytes = [0; N];
    match buffer.memory() {
        Ok((memory, base)) => {
            memory.bytes().read(base + offset, &mut bytes);
        }
        Err(error) => device.skipped(command, Err(error)),
    }
    bytes
}

fn copy_results(device: &Device, info: &CopyQueryResults, mut touched: copy::Touched<'_>) -> Outcome<()> {
    let queries = info.pool.queries(info.first, info.count)?;
    if info.flags.contains(ash::vk::QueryResultFlags::WAIT) {
        device
            .progress
            .wait(None, || device.stop.load(Ordering::Relaxed) || queries.iter().all(|q| q.get().is_some()));
    }
    for (index, q) in queries.iter().enumerate() {
        for (offset, part) in query::encode(q.get().as_ref(), info.flags) {
            let at = (index as u64).saturating_mul(info.stride).saturating_add(offset as u64);
            let at = at.saturating_add(info.offset);
            copy::update(&info.buffer, at, &part, touched.as_deref_mut())?;
        }
    }
    Ok(())
}
