//! Check mode: dispatches over the modelled memory, and what its detector found.
//!
//! One dispatch of a device runs at a time, on one thread; its schedule depends on the seed and the
//! dispatch's number alone.

use super::explored;
use crate::command::dispatch::Named;
use crate::config::{Config, Mode};
use crate::entry::debug::deliver_report;
use crate::entry::device::Device;
use crate::report::Context;
use pellucid_memory::access::{Reference, Site};
use pellucid_memory::agent::Invocation;
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::commands::{Accesses, Operand, Range};
use pellucid_memory::explore::Choices;
use pellucid_memory::finding::{
    Absence, AccessInfo, AccessKind, Fact, Finding, FindingId, Place, Wait, WaitReason,
};
use pellucid_memory::outline::Outline;
use pellucid_memory::progress::ProgressModel;
use pellucid_memory::scope::StorageClasses;
use pellucid_memory::system::{LANES, Trap};
use pellucid_shader_interp::Program;
use pellucid_shader_interp::exec::modelled::{
    self, Absent, BarrierDivergence, ModelledOptions, Scheduler, Unit, Went,
};
use pellucid_shader_interp::exec::progress::ProgressScheduler;
use pellucid_shader_interp::exec::waiting::{Reason, Waiting};
use pellucid_shader_interp::interface::{Grid, Resources};
use pellucid_shader_interp::ir::{Binding, DescriptorKind};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

/// The modelled memory of a device.
pub struct CheckState {
    memory: CheckedMemory,
}

impl CheckState {
    /// The state of a new device; `None` outside check mode.
    pub fn new(config: &Config) -> Option<CheckState> {
        if !config.mode.modelled() {
            return None;
        }
        let options = CheckOptions {
            values: config.values,
            seed: config.seed,
            stale_budget: config.stale_budget,
            chains: config.chains,
            ..CheckOptions::default()
        };
        Some(CheckState { memory: CheckedMemory::new(options) })
    }
}

/// The seed of one dispatch's schedule: repeated submissions explore different schedules.
fn schedule_seed(seed: u64, number: u32) -> u64 {
    // The finalizer of SplitMix64.
    let mut x = seed.wrapping_add((u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The seeded scheduler of a progress model, which also keeps what the executor tells it.
pub(super) struct Watching<'a> {
    inner: ProgressScheduler,
    program: &'a Program,
    grid: &'a Grid,
    number: u32,
    pub findings: Vec<Finding>,
    /// How many of the findings were told before the dispatch's end, and how to.
    told: usize,
    tell: Option<&'a Tell<'a>>,
}

/// Reports findings; an error where they end the dispatch.
type Tell<'a> = dyn Fn(&[Finding]) -> Result<(), Trap> + 'a;

impl<'a> Watching<'a> {
    pub fn new(config: &Config, program: &'a Program, grid: &'a Grid, number: u32) -> Watching<'a> {
        let inner = ProgressScheduler::new(config.progress, schedule_seed(config.seed, number));
        Watching { inner, program, grid, number, findings: Vec::new(), told: 0, tell: None }
    }

    /// What is left to tell.
    fn rest(self) -> impl Iterator<Item = Finding> {
        let told = self.told;
        let findings = self.findings.into_iter().enumerate();
        findings.filter(move |(k, finding)| *k >= told || finding.count > 0).map(|(_, finding)| finding)
    }
}

impl Watching<'_> {
    fn invocation(&self, workgroup: u32, subgroup: u32, lane: u32) -> Invocation {
        let [x, y, _] = self.grid.groups.map(|n| n.max(1));
        let id = [workgroup % x, workgroup / x % y, workgroup / x / y];
        Invocation {
            dispatch: self.number,
            workgroup: [0, 1, 2].map(|i| id[i] + self.grid.base[i]),
            subgroup,
            local_index: subgroup * self.program.subgroup_size + lane,
        }
    }

    fn stopped_at(&self, site: Site, by: Invocation) -> AccessInfo {
        AccessInfo {
            site,
            kind: AccessKind::Read,
            atomic: None,
            by,
            place: Place {
                class: StorageClasses::empty(),
                reference: Reference(u32::MAX),
                address: 0,
                offset: 0,
                size: 0,
            },
            texel: None,
            returned: None,
            newest: None,
            admissible: Vec::new(),
        }
    }

    fn note(&mut self, id: FindingId, accesses: Vec<AccessInfo>, facts: Vec<Fact>) {
        let same =
            |f: &Finding| f.id == id && f.accesses.iter().map(|a| a.site).eq(accesses.iter().map(|a| a.site));
        match self.findings.iter_mut().find(|f| same(f)) {
            Some(known) => known.count += 1,
            None => self.findings.push(Finding {
                id,
                accesses,
                facts,
                missing: Vec::new(),
                fix: Vec::new(),
                count: 1,
            }),
        }
    }
}

impl Scheduler for Watching<'_> {
    fn priority(&self, unit: &Unit) -> u64 {
        self.inner.priority(unit)
    }

    fn begin(&mut self) {
        self.findings.clear();
    }

    fn pick(&mut self, runnable: &[Unit]) -> usize {
        self.inner.pick(runnable)
    }

    fn barrier_divergence(&mut self, found: &BarrierDivergence) {
        let Some(first) = found.absent.first() else { return };
        let site = match first.went {
            Went::Barrier(site) => site,
            Went::Ended | Went::Past => Site(0),
        };
        let by = self.invocation(found.workgroup, found.subgroup, found.mask.trailing_zeros());
        let missing = self.invocation(found.workgroup, first.subgroup, first.mask.trailing_zeros());
        let accesses = vec![self.stopped_at(found.site, by), self.stopped_at(site, missing)];
        let facts = absences(&found.absent, self.program.subgroup_size);
        self.note(FindingId::BarrierDivergence, accesses, facts);
    }

    fn judged(&mut self, mut findings: Vec<Finding>) -> Result<(), Trap> {
        let Some(tell) = self.tell else { return Ok(()) };
        for own in &mut self.findings[self.told..] {
            findings.push(own.clone());
            own.count = 0;
        }
        self.told = self.findings.len();
        if findings.is_empty() { Ok(()) } else { tell(&findings) }
    }

    fn livelock(&mut self, waiting: &[Waiting], outside: u64) {
        // One of each place comes first: who is to end the others' waiting may wait at another.
        let mut places: BTreeMap<(WaitReason, Site), u32> = BTreeMap::new();
        let mut waits: Vec<Wait> = Vec::new();
        let mut turns: Vec<u32> = Vec::new();
        for wait in waiting.iter().map(|w| self.wait(w)) {
            let turn = places.entry((wait.reason, wait.access.site)).or_default();
            *turn += 1;
            turns.push(*turn);
            waits.push(wait);
        }
        let mut order: Vec<usize> = (0..waits.len()).collect();
        order.sort_by_key(|k| (waits[*k].reason, turns[*k]));
        let waits: Vec<Wait> = order.into_iter().map(|k| waits[k].clone()).collect();
        let Some(first) = waits.first() else { return };
        let mut finding = Finding {
            id: FindingId::Livelock,
            accesses: vec![first.access.clone()],
            facts: Vec::new(),
            missing: Vec::new(),
            fix: Vec::new(),
            count: 1,
        };
        let more = waits.len().saturating_sub(WAITS) as u64;
        finding.facts.extend(waits.into_iter().take(WAITS).map(Fact::Waits));
        if more + outside > 0 {
            finding.facts.push(Fact::MoreWait(more, outside));
        }
        self.findings.push(finding);
    }
}

/// Steps of a dispatch from which on its findings are told at once: who watches it, or ends it, need not wait
/// for its end.
const LONG: u64 = 1 << 12;

/// Waits that a finding tells one by one.
const WAITS: usize = 8;

impl Watching<'_> {
    fn wait(&self, waiting: &Waiting) -> Wait {
        let Waiting { unit, lanes, reason } = *waiting;
        // Who repeats a loop are the running lanes; the parked ones wait for those.
        let lanes = if matches!(reason, Reason::Repeats(_)) { unit.mask } else { lanes };
        let first = lanes.trailing_zeros().min(31);
        let mut access = self.stopped_at(unit.next, self.invocation(unit.workgroup, unit.subgroup, first));
        let reason = match reason {
            Reason::Repeats(operand) => {
                if let Some(operand) = operand {
                    access.kind = operand.kind;
                    access.atomic = operand.atomic;
                    access.place = operand.place;
                }
                WaitReason::Repeats
            }
            Reason::Barrier => WaitReason::Barrier,
            Reason::Starved => WaitReason::Starved,
            Reason::NotStarted => WaitReason::NotStarted,
        };
        Wait { access, lanes: lanes >> first, reason }
    }
}

/// Where the absent invocations are, in runs of LocalInvocationIndex.
fn absences(absent: &[Absent], subgroup_size: u32) -> Vec<Fact> {
    let why = |went: Went| match went {
        Went::Ended => Absence::Ended,
        Went::Past => Absence::Past,
        Went::Barrier(_) => Absence::OtherBarrier,
    };
    let mut facts = Vec::new();
    for absence in [Absence::Ended, Absence::Past, Absence::OtherBarrier] {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for entry in absent.iter().filter(|entry| why(entry.went) == absence) {
            for lane in (0..LANES as u32).filter(|lane| entry.mask >> lane & 1 != 0) {
                let index = entry.subgroup * subgroup_size + lane;
                match runs.last_mut() {
                    Some((_, last)) if *last + 1 == index => *last = index,
                    _ => runs.push((index, index)),
                }
            }
        }
        if !runs.is_empty() {
            facts.push(Fact::Absent(absence, runs));
        }
    }
    facts
}

/// The storage classes of each atomic and barrier of a program.
fn semantics(program: &Program) -> Vec<StorageClasses> {
    let atomics = program.memory.iter().filter(|m| m.access.atomic.is_some());
    let mut classes: Vec<StorageClasses> = atomics
        .flat_map(|m| [m.access.semantics.classes, m.access.unequal.classes])
        .chain(program.barriers.iter().map(|b| b.semantics.classes))
        .filter(|c| !c.is_empty())
        .collect();
    classes.sort();
    classes.dedup();
    classes
}

/// Runs a dispatch over the modelled memory and reports what was found in it: the trap that ended it, if one
/// did, and what it touched.
pub fn dispatch(
    device: &Arc<Device>,
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    number: u32,
    named: &dyn Fn() -> Named,
) -> (Result<(), Trap>, Vec<(Range, Operand)>) {
    let Some(state) = &device.checked else {
        let gap = Trap::NotImplemented("a modelled program on a device that does not check".into());
        return (Err(gap), Vec::new());
    };
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let config = &device.instance.config;
    let tell = |findings: &[Finding]| report(device, findings, named, None);
    let mut scheduler = Watching { tell: Some(&tell), ..Watching::new(config, program, grid, number) };
    let outcome = if config.mode == Mode::Explore {
        explored::dispatch(device, &mut state.memory, program, grid, resources, number, named)
    } else {
        state.memory.begin_dispatch(check_info(device, program, grid, resources, number));
        let options = ModelledOptions {
            widen: config.progress == ProgressModel::Fair,
            spin: u64::from(config.stale_budget).saturating_mul(4).max(ModelledOptions::default().spin),
            watchdog: watchdog(config),
            stop: Some(&device.stop),
            tell_after: Some(LONG),
            ..ModelledOptions::default()
        };
        modelled::dispatch(program, grid, resources, &mut state.memory, &mut scheduler, &options)
    };
    let mut runs = state.memory.footprint();
    for (_, operand) in &mut runs {
        operand.read = read_access(program, operand);
        operand.reference = operand.reference.map(|r| across_dispatches(program, r));
    }
    let mut findings = state.memory.end_dispatch();
    findings.extend(scheduler.rest());
    drop(state);
    device.instance.session.dispatch_checked();
    if config.mode == Mode::Explore {
        // Each execution was reported.
        findings.clear();
    }
    (report(device, &findings, named, None).and(outcome), runs)
}

/// What the modelled memory needs to know of a dispatch.
pub(super) fn check_info(
    device: &Device,
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    number: u32,
) -> DispatchInfo {
    DispatchInfo {
        number,
        base: grid.base,
        groups: grid.groups,
        workgroup_size: program.shader.local_size.iter().product(),
        subgroup_size: program.subgroup_size,
        semantics: semantics(program),
        addresses: resources.addresses.clone(),
        unwritten: device.unwritten().clone(),
        variables: program.shader.workgroup.iter().map(|object| (object.offset, object.size)).collect(),
        outline: program.outline.clone().map(|outline| outline as Arc<dyn Outline>),
    }
}

pub(super) fn watchdog(config: &Config) -> Option<u64> {
    (config.watchdog > 0).then_some(config.watchdog)
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
fn across_dispatches(program: &Program, reference: Reference) -> Reference {
    match binding_of(program, reference) {
        Some(b) => Reference((b.set & 0xf) << 28 | (b.binding & 0xfff) << 16 | (reference.0 & 0xffff)),
        None => reference,
    }
}

/// The access type of a shader's read: that of its descriptor.
fn read_access(program: &Program, operand: &Operand) -> Accesses {
    if operand.read.is_empty() || !operand.write.is_empty() {
        return operand.read;
    }
    let binding = operand.reference.and_then(|r| binding_of(program, r));
    match binding.map(|b| b.kind) {
        Some(DescriptorKind::UniformBuffer) => Accesses::UNIFORM_READ,
        Some(
            DescriptorKind::SampledImage
            | DescriptorKind::CombinedImageSampler
            | DescriptorKind::UniformTexelBuffer,
        ) => Accesses::SHADER_SAMPLED_READ,
        _ => Accesses::SHADER_STORAGE_READ,
    }
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
    let named = named();
    let dispatches = [named.context()];
    let mut halted = None;
    for finding in findings {
        let session = &device.instance.session;
        let verdict = session.report_of(finding, &Context { dispatches: &dispatches }, choices);
        if let Some(message) = &verdict.message {
            deliver_report(device, message);
        }
        if verdict.halt && halted.is_none() {
            halted = Some(Trap::Stopped(format!("halt-on-error: {}", finding.id.name())));
        }
    }
    halted.map_or(Ok(()), Err)
}
