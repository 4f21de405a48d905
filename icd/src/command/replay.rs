//! Replay: a queue's worker runs the commands of a command buffer, in order, each to its end.

use super::dispatch::{self, State};
use super::{Command, CopyQueryResults, Recorded, copy, query};
use crate::boundary::Error;
use crate::entry::buffer::Buffer;
use crate::entry::device::Device;
use crate::queue::Queue;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Runs a submitted command buffer.
///
/// # Errors
/// The text of what loses the device.
pub fn run(device: &Arc<Device>, queue: &Queue, labels: &[String], recorded: &Recorded) -> Result<(), String> {
    let mut state = State::new(labels);
    replay(device, queue, &mut state, recorded)
}

fn replay(device: &Arc<Device>, queue: &Queue, state: &mut State, recorded: &Recorded) -> Result<(), String> {
    for command in &recorded.commands {
        if device.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        step(device, queue, state, command)?;
    }
    Ok(())
}

/// A command that the application's mistake made impossible: said, not run, and the device goes on.
fn skipped(device: &Device, what: &str, outcome: Result<(), Error>) {
    if let Err(Error { message: Some(text), .. }) = outcome {
        crate::message::error(Some(&device.instance), &format!("{what}: {text}"));
    }
}

fn step(device: &Arc<Device>, queue: &Queue, state: &mut State, command: &Command) -> Result<(), String> {
    match command {
        Command::BindPipeline(pipeline) => state.bind_pipeline(pipeline.clone()),
        Command::BindSets(first, sets, dynamic) => state.bind_sets(*first, sets, dynamic),
        Command::PushConstants(offset, bytes) => state.push_constants(*offset, bytes),
        Command::Dispatch(base, groups) => dispatch::run(device, queue, state, *base, *groups)?,
        Command::DispatchIndirect(buffer, offset) => {
            let groups = indirect(device, buffer, *offset);
            dispatch::run(device, queue, state, [0; 3], groups)?;
        }
        Command::CopyBuffer(from, to, regions) => {
            skipped(device, "vkCmdCopyBuffer", copy::buffers(from, to, regions));
        }
        Command::FillBuffer(to, offset, size, data) => {
            skipped(device, "vkCmdFillBuffer", copy::fill(to, *offset, *size, *data));
        }
        Command::UpdateBuffer(to, offset, bytes) => {
            skipped(device, "vkCmdUpdateBuffer", copy::update(to, *offset, bytes));
        }
        Command::CopyImage(from, to, regions) => {
            skipped(device, "vkCmdCopyImage", copy::images(from, to, regions));
        }
        Command::CopyBufferToImage(from, to, regions) => {
            skipped(device, "vkCmdCopyBufferToImage", copy::buffer_to_image(from, to, regions));
        }
        Command::CopyImageToBuffer(from, to, regions) => {
            skipped(device, "vkCmdCopyImageToBuffer", copy::image_to_buffer(from, to, regions));
        }
        Command::ClearColor(image, color, ranges) => {
            skipped(device, "vkCmdClearColorImage", copy::clear(image, *color, ranges));
        }
        // Commands run to their end one after another: execution is ordered already, and memory is coherent in run mode.
        Command::Barrier(_) => {}
        Command::SetEvent(event, _) => {
            event.put(true);
            device.progress.notify();
        }
        Command::ResetEvent(event) => {
            event.put(false);
            device.progress.notify();
        }
        Command::WaitEvents(events, _) => {
            device.progress.wait(None, || {
                device.stop.load(Ordering::Relaxed) || events.iter().all(|e| e.is_set())
            });
        }
        Command::ResetQueries(pool, first, count) => {
            skipped(device, "vkCmdResetQueryPool", pool.queries(*first, *count).map(|q| q.iter().for_each(|q| q.reset())));
        }
        Command::BeginQuery(..) => {}
        Command::EndQuery(pool, query) => {
            skipped(device, "vkCmdEndQuery", pool.queries(*query, 1).map(|q| q[0].put(0)));
            device.progress.notify();
        }
        Command::WriteTimestamp(pool, query) => {
            let now = device.epoch.elapsed().as_nanos() as u64;
            skipped(device, "vkCmdWriteTimestamp", pool.queries(*query, 1).map(|q| q[0].put(now)));
            device.progress.notify();
        }
        Command::CopyQueryResults(info) => copy_results(device, info),
        Command::Execute(list) => {
            for secondary in list {
                let mut inner = State::new(&state.labels);
                replay(device, queue, &mut inner, secondary)?;
            }
        }
        Command::BeginLabel(label) => state.labels.push(label.clone()),
        Command::EndLabel => {
            state.labels.pop();
        }
    }
    Ok(())
}

fn indirect(device: &Device, buffer: &Buffer, offset: u64) -> [u32; 3] {
    let mut bytes = [0u8; 12];
    match buffer.memory() {
        Ok((memory, base)) => {
            memory.bytes().read(base + offset, &mut bytes);
        }
        Err(error) => skipped(device, "vkCmdDispatchIndirect", Err(error)),
    }
    std::array::from_fn(|i| u32::from_le_bytes([bytes[i * 4], bytes[i * 4 + 1], bytes[i * 4 + 2], bytes[i * 4 + 3]]))
}

fn copy_results(device: &Device, info: &CopyQueryResults) {
    let outcome = (|| {
        let queries = info.pool.queries(info.first, info.count)?;
        if info.flags.contains(ash::vk::QueryResultFlags::WAIT) {
            device.progress.wait(None, || {
                device.stop.load(Ordering::Relaxed) || queries.iter().all(|q| q.get().is_some())
            });
        }
        for (index, q) in queries.iter().enumerate() {
            for (offset, part) in query::encode(q, info.flags) {
                let at = info.offset + index as u64 * info.stride + offset as u64;
                copy::update(&info.buffer, at, &part)?;
            }
        }
        Ok(())
    })();
    skipped(device, "vkCmdCopyQueryPoolResults", outcome);
}
