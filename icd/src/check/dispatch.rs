//! Check mode: dispatches over the modelled memory, and what its detector found.
//!
//! One dispatch of a device runs at a time, on one thread; its schedule depends on the seed and the
//! dispatch's number alone.

use super::explored;
use super::info::{Dispatch, check_info, options, report};
use super::named::Named;
use super::rehearse::{Rehearsals, leave_out_unused, rehearse, same};
use super::watching::Watching;
use crate::config::Mode;
use crate::debugger;
use crate::device::Device;
use pellucid_memory::access::Reference;
use pellucid_memory::commands::{Comb, Runs};
use pellucid_memory::finding::Finding;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::Program;
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions};
use pellucid_shader_interp::ir::Binding;
use std::sync::Arc;

/// Steps of a dispatch from which on its findings are told at once: who watches it, or ends it, need not wait
/// for its end.
const LONG: u64 = 1 << 12;

/// Runs a dispatch over the modelled memory and reports what was found in it: the trap that ended it, if one
/// did, and what it touched. `rehearsals`: what its pipeline has for them.
pub fn dispatch(
    device: &Arc<Device>,
    executed: Dispatch<'_>,
    named: &dyn Fn() -> Named,
    rehearsals: Rehearsals<'_>,
) -> (Result<(), Trap>, Runs) {
    let Some(state) = &device.checked else {
        let gap = Trap::NotImplemented("a modelled program on a device that does not check".into());
        return (Err(gap), Runs::default());
    };
    let mut state = state.lock();
    let config = &device.instance.config;
    let Dispatch { program, grid, resources, .. } = executed;
    let rehearsed = rehearse(device, &mut state.memory, executed, rehearsals);
    let tell = |findings: &[Finding]| report(device, findings, named, None);
    let mut scheduler = Watching::new(config, executed);
    scheduler.tell = Some(&tell);
    let outcome = if config.mode == Mode::Explore {
        explored::dispatch(device, &mut state.memory, executed, named)
    } else if debugger::is_installed() {
        let (named, info) = (named(), check_info(device, executed));
        let memory = &mut state.memory;
        let (outcome, found) = debugger::dispatch(device, memory, executed, info, named.context());
        scheduler.findings = found;
        outcome
    } else {
        state.memory.begin_dispatch(check_info(device, executed));
        let prints = executed.prints;
        let options = ModelledOptions { tell_after: Some(LONG), prints, ..options(device) };
        modelled::dispatch(program, grid, resources, &mut state.memory, &mut scheduler, &options)
    };
    let mut runs = state.memory.footprint();
    for Comb { operand, .. } in runs.combs_mut() {
        operand.reference = operand.reference.map(|r| across_dispatches(program, r));
    }
    let mut findings = state.memory.end_dispatch();
    findings.extend(scheduler.rest());
    let alone: Vec<Finding> =
        rehearsed.into_iter().filter(|other| !findings.iter().any(|f| same(f, other))).collect();
    findings.extend(alone);
    let communications = state.memory.take_communications();
    if config.mode == Mode::Check {
        leave_out_unused(device, &mut state.memory, executed, rehearsals, &mut findings);
    }
    drop(state);
    if !communications.is_empty() {
        device.instance.session.communicate(&communications, &named().context());
    }
    device.instance.session.dispatch_checked();
    if config.mode == Mode::Explore {
        // Each execution was reported.
        findings.clear();
    }
    (report(device, &findings, named, None).and(outcome), runs)
}

/// The binding that a reference of one dispatch belongs to.
fn binding_of(program: &Program, reference: Reference) -> Option<&Binding> {
    if reference == Reference::PHYSICAL {
        None
    } else {
        program.shader.bindings.get((reference.0 >> 16) as usize)
    }
}

/// A reference that means the same in all dispatches: set, binding and element instead of the index in the
/// shader's list.
pub fn across_dispatches(program: &Program, reference: Reference) -> Reference {
    match binding_of(program, reference) {
        Some(b) => Reference((b.set & 0x1f) << 27 | (b.binding & 0x7ff) << 16 | (reference.0 & 0xffff)),
        None => reference,
    }
}
