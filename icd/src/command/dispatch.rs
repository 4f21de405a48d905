//! Dispatches: in run mode on all cores, in check mode over the modelled memory.

use super::state::State;
use crate::caps::queues;
use crate::capture;
use crate::check::info::Dispatch;
use crate::check::named::Named;
use crate::check::rehearse::Rehearsals;
use crate::check::{commands as check, dispatch as checked};
use crate::config::{Config, Mode};
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::error::Error;
use crate::message::Message;
use crate::printf;
use crate::queue::Queue;
use crate::report::Context;
use pellucid_memory::commands::Runs;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::exec::plain::{self, PlainOptions};
use pellucid_shader_interp::interface::Grid;
use pellucid_shader_interp::tier;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Runs a dispatch. `indirect` is the buffer and offset that an indirect dispatch read its size from.
///
/// # Errors
/// The text of what loses the device.
pub fn run(
    device: &Arc<Device>,
    queue: &Queue,
    state: &mut State<'_>,
    base: [u32; 3],
    groups: [u32; 3],
    indirect: Option<(&Buffer, u64)>,
) -> Result<(), String> {
    let number = device.dispatches.fetch_add(1, Ordering::Relaxed);
    let Some(pipeline) = state.pipeline else {
        let error = Error::usage("neither a compute pipeline nor a compute shader is bound");
        return Err(format!("vkCmdDispatch: {}", error.message.unwrap_or_default()));
    };
    let program = pipeline.program(device, &state.push_unset)?;
    let later = state.reach.later_addresses(device);
    let current = state.ready.as_ref().is_some_and(|ready| ready.is_current(device, state.reach));
    if !current || later.is_some() {
        let addresses = later.unwrap_or_else(|| state.reach.addresses().clone());
        state.ready = Some(state.gather(device, program, addresses));
    }
    let named = || Named {
        number,
        program: program.clone(),
        pipeline: pipeline.name(device),
        labels: state.labels.clone(),
        queue: match device.queue_name(queue).as_str() {
            "" => queues::called(queue.index),
            name => name.to_owned(),
        },
        objects: state.objects(device, program).into(),
        pushed: state.pushed(),
    };
    let parameters = || {
        let (buffer, offset) = indirect?;
        Some((check::range(buffer, offset, 12)?, buffer.place().map(|place| place.resource)))
    };
    if groups.contains(&0) {
        capture::refuse(device, number, &format!("dispatch {number} has no workgroups"));
        // The size is read all the same.
        if program.modelled && indirect.is_some() {
            let touches = check::Touches { runs: Runs::default(), parameters: parameters() };
            check::dispatch(device, queue, state, named(), touches)?;
        }
        return Ok(());
    }
    let Some(ready) = &state.ready else { return Ok(()) };
    let grid = Grid { base, groups };
    let log = printf::log(device, program);
    let outcome = if program.modelled {
        let prints = log.as_ref();
        let (resources, robust) = (&ready.resources, pipeline.robust);
        let executed = Dispatch { program, grid: &grid, resources, number, prints, robust };
        capture::take(device, executed, &|| pipeline.followed(&state.push_unset), &named);
        let rehearsals = Rehearsals { rehearsed: &pipeline.rehearsed, following: &|| pipeline.following() };
        let (outcome, runs) = checked::dispatch(device, executed, &named, rehearsals);
        let touches = check::Touches { runs, parameters: parameters() };
        check::dispatch(device, queue, state, named(), touches)?;
        outcome
    } else {
        capture::refuse(
            device,
            number,
            &format!("the shader of dispatch {number} is left out of the checks"),
        );
        if device.checked.is_some() {
            // A shader that is left out of the checks: nobody sees what it writes.
            device.unwritten.lock().clear();
        }
        let config = &device.instance.config;
        let &Config { spins, tier: which, .. } = config;
        let options = PlainOptions {
            threads: device.pool(),
            watchdog: config.watchdog(),
            spins: (spins > 0).then_some(spins.saturating_mul(64)),
            stop: Some(&device.stop),
            prints: log.as_ref(),
            tier: which,
        };
        plain::dispatch(program, &grid, &ready.resources, &options)
    };
    if let Some(why) = tier::refusal() {
        let text = format!("shaders stay in the interpreter: the host refuses executable memory: {why}");
        device.instance.deliver(&Message::warning(&text));
    }
    if let Some(log) = log {
        printf::print(device, log, number);
    }
    let told = program.modelled && device.instance.config.mode != Mode::Explore;
    if let Some(host) = device.host.as_ref().filter(|_| !told) {
        host.device_wrote_somewhere();
    }
    outcome.or_else(|trap| trapped(device, &trap, &named()))
}

/// A trap is reported and loses the device, unless the device is on its way out anyway.
fn trapped(device: &Device, trap: &Trap, named: &Named) -> Result<(), String> {
    if matches!(trap, Trap::Stopped(_)) && device.stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let context = named.context();
    let dispatches = [context];
    let verdict = device.instance.session.trap(trap, &Context { dispatches: &dispatches });
    if let Some(message) = &verdict.message {
        device.instance.deliver(&Message::of_report(message));
    }
    Err(format!("{}: {trap}", named.context().title()))
}
