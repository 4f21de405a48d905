//! What the modelled memory is told of a dispatch, and where its findings go.

use super::named::Named;
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::message::Message;
use crate::report::{Context, DispatchContext, Object};
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::checked::{DispatchInfo, Robustness};
use pellucid_memory::commands::Range;
use pellucid_memory::device::{MemoryRange, host_lines};
use pellucid_memory::explore::Choices;
use pellucid_memory::finding::{Finding, Place};
use pellucid_memory::host::HostLines;
use pellucid_memory::outline::Outline;
use pellucid_memory::progress::ProgressModel;
use pellucid_memory::system::Trap;
use pellucid_memory::unwritten::Unwritten;
use pellucid_shader_interp::Program;
use pellucid_shader_interp::code::Space;
use pellucid_shader_interp::exec::modelled::ModelledOptions;
use pellucid_shader_interp::exec::prints::PrintLog;
use pellucid_shader_interp::interface::{Descriptor, Grid, Resources};
use std::sync::Arc;

/// A dispatch of a device: what executes, and its number.
#[derive(Clone, Copy)]
pub struct Dispatch<'a> {
    /// The modelled program.
    pub program: &'a Program,
    /// Its workgroups.
    pub grid: &'a Grid,
    /// What it is bound to.
    pub resources: &'a Resources,
    /// Among the device's dispatches.
    pub number: u32,
    /// Where DebugPrintf goes.
    pub prints: Option<&'a PrintLog>,
    /// What accesses outside of their object are defined.
    pub robust: Robustness,
}

impl<'a> Dispatch<'a> {
    /// The buffers with addresses, if it may reach them: they are many, and few shaders do.
    pub fn addresses(&self) -> &'a [MemoryRange] {
        let physical = self.program.memory.iter().any(|entry| matches!(entry.space, Space::Physical));
        if physical { self.resources.addresses.as_slice() } else { &[] }
    }

    /// The memory that it may reach: that of its descriptors, and by address.
    pub fn memory(&self) -> impl Iterator<Item = &'a MemoryRange> {
        self.resources.bindings.iter().flatten().flat_map(Descriptor::memory).chain(self.addresses())
    }
}

/// What the modelled memory needs to know of a dispatch.
pub(super) fn check_info(device: &Device, dispatch: Dispatch<'_>) -> DispatchInfo {
    let host = match device.instance.config.host_cache() {
        Some(_) => host_lines(dispatch.memory()),
        None => HostLines::default(),
    };
    let aliases = device.aliases();
    let reaches = |memory: &MemoryRange| aliases.touch(Range::new(memory.address(), memory.size()));
    let aliased = !aliases.is_empty() && dispatch.memory().any(reaches);
    let info = told(dispatch, device.unwritten.lock().clone(), host);
    DispatchInfo { aliases: aliased.then(|| aliases.clone()), ..info }
}

/// The same where resources share no memory, these bytes are undefined, and the host's cache of a machine
/// holds this.
pub fn told(
    Dispatch { program, grid, resources, number, robust, .. }: Dispatch<'_>,
    unwritten: Unwritten,
    host: HostLines,
) -> DispatchInfo {
    DispatchInfo {
        number,
        base: grid.base,
        groups: grid.groups,
        workgroup_size: program.shader.local_size.iter().product(),
        placement: program.placement(),
        semantics: program.semantics(),
        subgroup_barriers: program.has_subgroup_barriers(),
        barriers_alone: program.barriers_alone(),
        non_private_workgroup: program.has_no_private_workgroup(),
        addresses: resources.addresses.clone(),
        unwritten,
        host: Arc::new(host),
        variables: program.shader.workgroup.iter().map(|object| (object.offset, object.size)).collect(),
        written: resources.written_by(program),
        partly_bound: resources.is_partly_bound(program),
        robust,
        aliases: None,
        outline: program.outline.clone().map(|outline| outline as Arc<dyn Outline>),
    }
}

/// How executions in check mode go.
pub fn options(device: &Device) -> ModelledOptions<'_> {
    let config = &device.instance.config;
    ModelledOptions {
        widen: config.progress == ProgressModel::Fair,
        spin: u64::from(config.stale_budget).saturating_mul(4).max(ModelledOptions::default().spin),
        watchdog: config.watchdog(),
        spins: (config.spins > 0).then_some(config.spins),
        stop: Some(&device.stop),
        tier: config.tier,
        ..ModelledOptions::default()
    }
}

/// The buffers that findings reach by device address, by what they reach.
fn addressed(device: &Device, findings: &[Finding]) -> Vec<(Range, Object)> {
    let mut all: Vec<(Range, Object)> = Vec::new();
    for Place { reference, address, size, .. } in findings.iter().flat_map(|f| &f.accesses).map(|a| a.place) {
        let bytes = Range::new(address, size.into());
        if reference == Reference::PHYSICAL
            && !all.iter().any(|(known, _)| *known == bytes)
            && let Some(buffer) = Buffer::at(device, bytes)
        {
            let start = buffer.bytes.start;
            let what = format!("device address {start:#x}");
            let object = device.object(vk::ObjectType::BUFFER, &what, buffer.resource.handle);
            all.push((bytes, Object { reference, address: start, ..object }));
        }
    }
    all
}

/// Reports what was found in an execution; in explore mode the one with these choices.
///
/// # Errors
/// `halt-on-error` and a finding.
pub(super) fn report(
    device: &Device,
    findings: &[Finding],
    named: &dyn Fn() -> Named,
    choices: Option<&Choices>,
) -> Result<(), Trap> {
    if findings.is_empty() {
        return Ok(());
    }
    let (named, addressed) = (named(), addressed(device, findings));
    let dispatches = [DispatchContext { addressed: &addressed, ..named.context() }];
    let mut halted = None;
    for finding in findings {
        let session = &device.instance.session;
        let verdict = session.report(finding, &Context { dispatches: &dispatches }, choices);
        if let Some(message) = &verdict.message {
            device.instance.deliver(&Message::of_report(message));
        }
        if verdict.halt && halted.is_none() {
            halted = Some(Trap::Stopped(session.halted(finding.id)));
        }
    }
    halted.map_or(Ok(()), Err)
}
