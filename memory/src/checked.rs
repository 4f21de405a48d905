//! The modelled memory system: what shaders access is the Vulkan memory model, and what the model does not
//! order is found.
//!
//! It guarantees, for one order of execution: a race is reported only if the axioms confirm it on the
//! retained part of the execution; a load that the program orders after the newest write returns that write;
//! other loads return, deterministically for a seed, a value that a device may return ([`crate::history`]).
//! Lanes access in ascending order. Accesses of earlier dispatches are ordered before those of later ones:
//! what happens between commands is judged elsewhere ([`crate::commands`]).

mod access_table;
mod aliased;
mod by_lane;
mod caches;
mod conflicts;
mod core;
mod explore;
mod footprint;
mod group;
pub mod inspect;
mod lane;
mod lanes;
mod observe;
mod options;
mod partly;
mod read_only;
mod rehearsal;
mod report;
mod serve;
mod shown;
mod superseded;
mod words;

pub use self::options::{CheckOptions, DispatchInfo, Robustness};
pub use self::rehearsal::FollowedReads;

use self::access_table::AccessTable;
use self::caches::Caches;
use self::core::Core;
use self::explore::Followed;
use self::group::{Barriers, Groups, Members};
use self::read_only::ReadOnly;
use self::report::Report;
use crate::access::{Access, AtomicOp, Site};
use crate::agent::{Invocation, Numbering, SubgroupIdentity};
use crate::aliases::SparseAliases;
use crate::component::each as each_lane;
use crate::device::MemoryRange;
use crate::finding::{self, AccessKind, Finding};
use crate::history::{History, ValuePolicy};
use crate::model::{ModelOptions, ReadModifyWrite};
use crate::race::{AgentId, Agents, Histories, Operation, Shadow, Tangle, Time, Topology, Trace};
use crate::random::mix_all;
use crate::scope::{Scope, Semantics, StorageClasses};
use crate::system::{LaneAccesses, Lanes, Mask, MemorySystem, Notice, Observed, Pointers, Trap};
use crate::unwritten::Unwritten;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Memory under the model; see the module's page. A copy goes on as it does, followed by no exploration.
#[derive(Clone)]
pub struct CheckedMemory {
    options: CheckOptions,
    core: Core,
    shadow: Shadow,
    read_only: ReadOnly,
    groups: Groups,
    current: u32,
    first_lane: AgentId,
    /// The number in its workgroup of the entered one.
    subgroup: u32,
    workgroup_size: u32,
    addresses: Arc<Vec<MemoryRange>>,
    variables: Vec<(u32, u32)>,
    last_modify: u32,
    partly_bound: bool,
    /// What resources share, if the dispatch reaches any of it.
    aliases: Option<Arc<SparseAliases>>,
    observing: bool,
    /// Pairs of instructions that communicated.
    communications: BTreeSet<(Site, Site)>,
}

fn no_agents(chains: bool) -> Agents {
    Agents::new(Topology::Dispatch { workgroup: 1, subgroup: 1, agents: 0 }, chains)
}

impl CheckedMemory {
    /// Memory in which no dispatch runs.
    pub fn new(options: CheckOptions) -> CheckedMemory {
        CheckedMemory {
            options,
            core: Core {
                agents: no_agents(options.chains),
                kinds: AccessTable::new(&[]),
                histories: Histories::default(),
                report: Report::new(options.max_findings),
                values: options.values,
                stale_budget: options.stale_budget.max(1),
                seed: options.seed,
                exploring: Followed::default(),
                overlay: None,
                no_history: History::default(),
                trace: Trace::default(),
                options: ModelOptions {
                    chains: options.chains,
                    read_modify_write: ReadModifyWrite::ByHalves,
                    ..ModelOptions::default()
                },
                executed: Vec::new(),
                traces: false,
                read_from: None,
                first_agent: 0,
                group_agents: 1,
                barriers: Barriers::default(),
                by_subgroups: false,
                barriers_alone: false,
                workgroup_passes: false,
                any_two: false,
                subgroup_bits: 0,
                subgroup: Default::default(),
                alike: Default::default(),
                draws: 0,
                sequence: 0,
                fresh: FxHashMap::default(),
                communicated: options.communication.then(RefCell::default),
                unwritten: Unwritten::default(),
                suspect: None,
                partly: ((0, 0), false),
                views: FxHashMap::default(),
                observed: Observed::default(),
                choices: Vec::new(),
                superseded: None,
                caches: (options.values == ValuePolicy::Caches)
                    .then(|| Box::new(Caches::new(options.machine))),
                proposed: 0,
                #[cfg(test)]
                only_order: false,
            },
            partly_bound: false,
            aliases: None,
            observing: false,
            communications: BTreeSet::new(),
            shadow: Shadow::default(),
            read_only: ReadOnly::default(),
            groups: Groups::default(),
            current: 0,
            first_lane: 0,
            subgroup: 0,
            workgroup_size: 1,
            addresses: Arc::default(),
            variables: Vec::new(),
            last_modify: 0,
        }
    }

    /// A dispatch begins. Everything that was accessed before is ordered before it.
    pub fn begin_dispatch(&mut self, info: DispatchInfo) {
        let workgroup = info.workgroup_size.max(1);
        let groups = info.groups.iter().fold(1u32, |all, n| all.saturating_mul(*n));
        let agents = groups.saturating_mul(workgroup);
        let placement = info.placement;
        let subgroup = placement.subgroup_size.max(1);
        self.workgroup_size = workgroup;
        self.core.agents =
            Agents::new(Topology::Dispatch { workgroup, subgroup, agents }, self.options.chains);
        if self.core.exploring.is_none() {
            self.core.agents.defer_barriers();
        }
        for classes in &info.semantics {
            self.core.agents.note_semantics(*classes);
        }
        self.core.kinds = AccessTable::new(&info.variables);
        self.observe(false);
        self.last_modify = 0;
        self.core.histories.clear();
        if let Some(superseded) = &mut self.core.superseded {
            superseded.clear();
        }
        self.core.trace.clear();
        self.core.executed.clear();
        self.core.group_agents = workgroup;
        self.core.barriers_alone = info.barriers_alone;
        self.core.workgroup_passes = info.barriers_alone && info.non_private_workgroup;
        self.core.any_two = info.barriers_alone || workgroup <= subgroup;
        self.core.by_subgroups = info.subgroup_barriers && workgroup > subgroup;
        self.core.subgroup_bits = subgroup.trailing_zeros();
        self.core.draws = 0;
        self.core.sequence = 0;
        self.core.fresh.clear();
        let seed = mix_all(&[self.options.seed, u64::from(info.number)]);
        let rehearsal = self.core.overlay.as_ref().map(|overlay| overlay.number).filter(|number| *number > 0);
        self.core.seed = rehearsal.map_or(seed, |number| mix_all(&[seed, u64::from(number)]));
        if let Some(caches) = &mut self.core.caches {
            caches.begin(self.core.seed, info.host);
        }
        self.core.report.numbering =
            Numbering { dispatch: info.number, base: info.base, groups: info.groups, workgroup, placement };
        self.core.report.outline = info.outline;
        self.core.report.robust = info.robust;
        self.shadow.forget();
        self.aliases = info.aliases;
        self.read_only = ReadOnly::new(info.written.map(|written| self.written_in_memory(written)));
        self.groups.clear();
        self.addresses = info.addresses;
        self.partly_bound = info.partly_bound;
        self.variables = info.variables;
        self.core.begin_undefined(info.unwritten);
    }

    /// The dispatch has ended, in whatever way. Returns what was found in it, in the order in which it was
    /// found; of what was handed out before, what occurred since.
    pub fn end_dispatch(&mut self) -> Vec<Finding> {
        self.core.agents = no_agents(self.options.chains);
        self.core.histories.clear();
        self.core.trace.clear();
        self.core.fresh.clear();
        let kinds = &self.core.kinds;
        if let Some(communicated) = &mut self.core.communicated {
            let sites = communicated
                .get_mut()
                .drain()
                .map(|(write, read)| (kinds.get(write).site, kinds.get(read).site));
            self.communications.extend(sites);
        }
        self.core.begin_undefined(Unwritten::default());
        // Memory that is freed from here on is free.
        self.addresses = Arc::default();
        self.aliases = None;
        self.groups = Groups::default();
        self.read_only = ReadOnly::default();
        self.shadow.shrink();
        self.core.tell_counted();
        self.core.report.take()
    }

    /// The pairs of a write and of a read of another agent that read from it, in the dispatches that have
    /// ended since this was last asked: empty unless [`CheckOptions::communication`] is set.
    pub fn take_communications(&mut self) -> BTreeSet<(Site, Site)> {
        std::mem::take(&mut self.communications)
    }

    /// The lanes of the mask, by their times.
    fn times(&self, mask: Mask) -> Vec<(Mask, Time)> {
        let mut groups: Vec<(Mask, Time)> = Vec::new();
        each_lane(mask, |lane| {
            let time = self.core.agents.time(self.first_lane + lane as u32);
            match groups.iter_mut().find(|(_, other)| *other == time) {
                Some((lanes, _)) => *lanes |= 1 << lane,
                None => groups.push((1 << lane, time)),
            }
        });
        groups
    }

    /// A fence's or barrier's availability and visibility operations in the caches of a machine.
    fn synchronise_caches(
        &mut self,
        workgroup: u32,
        scope: Scope,
        semantics: &Semantics,
        available: bool,
        visible: bool,
    ) {
        let Some(caches) = &mut self.core.caches else { return };
        let unit = caches.unit(workgroup);
        if available {
            caches.make_available(unit, scope, semantics);
        }
        if visible {
            caches.make_visible(unit, scope, semantics);
        }
    }

    fn members(&self, mask: Mask) -> smallvec::SmallVec<[AgentId; 32]> {
        group::members(self.first_lane, mask)
    }

    /// A memory barrier, in the trace and in the caches of a machine. `at`: the time when it happens, by the
    /// lanes' present one.
    fn trace_fence(&mut self, mask: Mask, operation: &Operation, at: impl Fn(Time) -> Time) {
        for (mask, time) in self.times(mask) {
            self.core.trace.fence(self.current, self.first_lane, mask, at(time), operation);
        }
        let scope = Scope::of_level(operation.level);
        self.synchronise_caches(self.current, scope, &operation.semantics, true, true);
    }

    /// The workgroup that was entered, if a memory barrier beside its control barrier happens with that.
    /// Those who explore look at clocks at any time.
    fn joins_barrier(&mut self, operation: &Operation) -> Option<&mut group::Group> {
        let joins = self.core.exploring.is_none() && operation.synchronises();
        self.groups.entered().filter(|_| joins)
    }
}

#[cfg(test)]
mod tests;

/// Binds `$pointers` to themselves; to a view and offsets, if they are physical addresses in one buffer.
macro_rules! physical_as_view {
    ($memory:ident, $pointers:ident, $mask:expr, $access:expr) => {
        let (addresses, found);
        let $pointers = match $pointers {
            Pointers::Physical { low, high, immediate } if !$memory.core.only_order() => {
                let bytes = u64::from($access.size) * u64::from($access.components);
                addresses = $memory.addresses.clone();
                found = by_lane::in_one_buffer(&addresses, (low, high, immediate), $mask, bytes);
                match &found {
                    Some((view, offset)) => Pointers::View { view, offset, immediate: 0 },
                    None => $pointers,
                }
            }
            other => other,
        };
    };
}

impl LaneAccesses for CheckedMemory {
    const MODELLED: bool = true;

    // Inline: the common case is then compiled for what the interpreter runs on.
    #[inline(always)]
    fn load(
        &mut self,
        at: Site,
        from: Pointers<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        if self.aliases.is_some() {
            return self.load_aliased((at, from), mask, access, out);
        }
        physical_as_view!(self, from, mask, access);
        if self.observing {
            self.observe_read(at, &from, mask, access, AccessKind::Read);
        }
        self.load_all((at, from), mask, access, out)
    }

    #[inline(always)]
    fn store(
        &mut self,
        at: Site,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Result<(), Trap> {
        if self.aliases.is_some() {
            return self.store_aliased((at, to), mask, access, value);
        }
        physical_as_view!(self, to, mask, access);
        if self.partly_bound {
            self.store_bound((at, to), mask, access, value)
        } else {
            self.store_all((at, to), mask, access, value)
        }
    }

    #[inline(always)]
    fn read_modify_write(
        &mut self,
        at: Site,
        op: AtomicOp,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
        comparator: Option<&[Lanes]>,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        if self.aliases.is_some() {
            return self.modify_aliased((at, to), mask, access, (op, value, comparator), out);
        }
        physical_as_view!(self, to, mask, access);
        let mask = if self.partly_bound { self.zero_unbound(&to, mask, access, out) } else { mask };
        if mask == 0 {
            return Ok(());
        }
        if self.observing {
            self.observe_read(at, &to, mask, access, AccessKind::ReadModifyWrite(op));
        }
        self.modify_all((at, to), mask, access, (op, value, comparator), out)
    }

    fn notice(&mut self, at: Site, mask: Mask, notice: &Notice<'_>) {
        each_lane(mask, |lane| self.core.report.notice(at, self.first_lane + lane as u32, lane, notice));
    }
}

impl MemorySystem for CheckedMemory {
    const EACH_INSTRUCTION_SET: bool = true;

    fn enter_subgroup(&mut self, identity: &SubgroupIdentity) {
        self.current = identity.workgroup;
        self.core.first_agent = identity.workgroup.saturating_mul(self.workgroup_size);
        self.first_lane = self.core.first_agent + identity.placement.place(identity.subgroup, 0);
        self.groups.enter(identity.workgroup);
        let group = self.groups.entered();
        let own =
            group.as_ref().and_then(|group| group.of_subgroups.get(identity.subgroup as usize).copied());
        self.core.barriers = group.map(|group| group.barriers).unwrap_or_default();
        self.core.subgroup =
            (Members { first: self.first_lane, count: identity.lanes }, own.unwrap_or_default());
        self.subgroup = identity.subgroup;
    }

    fn fence(&mut self, at: Site, mask: Mask, scope: Scope, semantics: &Semantics) {
        let operation = operation(at, scope, semantics);
        self.trace_fence(mask, &operation, |time| time);
        self.core.agents.fence(Tangle::Listed(&self.members(mask)), &operation);
    }

    fn fence_before_barrier(&mut self, at: Site, mask: Mask, scope: Scope, semantics: &Semantics) {
        let (operation, first) = (operation(at, scope, semantics), self.first_lane);
        match self.joins_barrier(&operation) {
            Some(group) => {
                let before = group.fence_before(first, mask, operation);
                self.trace_fence(mask, &operation, |time| time + before);
            }
            None => self.fence(at, mask, scope, semantics),
        }
    }

    fn announce_fence(&mut self, at: Site, mask: Mask, scope: Scope, semantics: &Semantics) {
        let (operation, first) = (operation(at, scope, semantics), self.first_lane);
        if let Some(group) = self.joins_barrier(&operation) {
            group.fence_behind(first, mask, operation);
        }
    }

    fn fence_behind_barrier(&mut self, at: Site, mask: Mask, scope: Scope, semantics: &Semantics) {
        let operation = operation(at, scope, semantics);
        match self.joins_barrier(&operation) {
            // Clocks and times tell of it already.
            Some(_) => self.trace_fence(mask, &operation, |time| time - 1),
            None => self.fence(at, mask, scope, semantics),
        }
    }

    fn barrier_arrive(
        &mut self,
        at: Site,
        mask: Mask,
        execution: Scope,
        memory: Scope,
        semantics: &Semantics,
    ) {
        let operation = operation(at, memory, semantics);
        self.synchronise_caches(self.current, memory, semantics, true, execution != Scope::Workgroup);
        if execution == Scope::Workgroup {
            if let Some(group) = self.groups.entered() {
                group.arrive(self.first_lane, mask, operation);
            }
        } else if let Some(level) = execution.level() {
            let members = self.members(mask);
            let instance = self.core.trace.instance();
            let times = self.times(mask);
            let last = times.iter().map(|(_, time)| *time).max().unwrap_or(0);
            for (mask, time) in times {
                self.core.trace.barrier(
                    self.current,
                    self.first_lane,
                    mask,
                    time,
                    level as u8,
                    instance,
                    &operation,
                );
            }
            self.core.agents.barrier(Tangle::Listed(&members), level as u8, &operation);
            let all = members.len() == self.core.subgroup.0.count as usize;
            if let Some(group) = self.groups.entered().filter(|_| all && execution == Scope::Subgroup) {
                self.core.subgroup.1 = group.pass_subgroup_barrier(self.subgroup, &operation, last);
            }
        }
    }

    fn observe(&mut self, on: bool) {
        self.observing = on;
        self.core.observed = Observed::default();
    }

    fn observed(&mut self) -> Observed {
        std::mem::take(&mut self.core.observed)
    }

    fn written_last_by(&mut self, workgroup: u32, place: &finding::Place) -> Option<Invocation> {
        self.writer_of(workgroup, place)
    }

    fn new_findings(&mut self) -> Vec<Finding> {
        self.core.tell_counted();
        self.core.report.new_findings()
    }

    #[cold]
    fn store_undefined(&mut self, mask: Mask, component: u32, loads: &Lanes) {
        self.core.report.store_undefined(self.first_lane, mask, component, loads);
    }

    #[cold]
    fn read_undefined(&mut self) -> Lanes {
        self.core.report.read_undefined(self.first_lane)
    }

    fn barrier_complete(&mut self, workgroup: u32) {
        if let Some(exploring) = &mut *self.core.exploring {
            exploring.explorer.joined(workgroup);
        }
        if self.core.caches.is_some()
            && let Some(arrival) = self.groups.get_mut(workgroup).and_then(|group| group.arrival)
        {
            let scope = Scope::of_level(arrival.level);
            self.synchronise_caches(workgroup, scope, &arrival.semantics, false, true);
        }
        let Some(group) = self.groups.get_mut(workgroup) else { return };
        group.pass_barrier(&mut self.core, workgroup, self.workgroup_size);
        if workgroup == self.current {
            self.core.barriers = group.barriers;
        }
    }

    fn workgroup_begin(&mut self, workgroup: u32, bytes: u32, zeroed: bool) {
        self.core.agents.open(workgroup);
        self.groups.begin(workgroup, bytes, zeroed);
    }

    fn workgroup_end(&mut self, workgroup: u32) {
        self.core.agents.close(workgroup);
        self.core.trace.end(workgroup);
        self.core.report.forget_copies(workgroup);
        let first = workgroup.saturating_mul(self.workgroup_size);
        let ended = first..first.saturating_add(self.workgroup_size);
        if !self.core.fresh.is_empty() {
            self.core.fresh.retain(|(agent, _), _| !ended.contains(agent));
        }
        if let Some(group) = self.groups.end(workgroup) {
            for cell in group.cells.expanded().filter(|cell| cell.history != 0 && !cell.is_split()) {
                self.core.histories.remove(cell.history);
            }
        }
    }
}

fn operation(at: Site, scope: Scope, semantics: &Semantics) -> Operation {
    Operation {
        site: at,
        class: StorageClasses::empty(),
        level: scope.level().map(|level| level as u8),
        semantics: *semantics,
    }
}
