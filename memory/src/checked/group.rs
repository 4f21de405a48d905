//! A workgroup that is running: its memory, and who has arrived at its barrier.

use super::core::{Core, class_indices};
use super::words::workgroup::WorkgroupCells;
use crate::access::Reference;
use crate::component::each as each_lane;
use crate::race::{AgentId, Operation, Record, Tangle, Time, WholeBarrier};
use crate::scope::StorageClasses;
use crate::system::{Mask, MemoryView};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

#[derive(Clone, Default)]
pub(super) struct WorkgroupMemory {
    words: Vec<u64>,
    bytes: u32,
}

impl WorkgroupMemory {
    /// The variable that a reference stands for; its address is the first byte's offset in workgroup memory.
    #[inline(always)]
    pub fn view(&mut self, variables: &[(u32, u32)], reference: Reference) -> MemoryView<'_> {
        self.views(variables, reference).0
    }

    /// The variable, and whole words of all of workgroup memory: another may lie over it and end elsewhere.
    #[inline(always)]
    pub fn views(
        &mut self,
        variables: &[(u32, u32)],
        reference: Reference,
    ) -> (MemoryView<'_>, MemoryView<'_>) {
        let (start, size) = *variables.get(reference.0 as usize).unwrap_or(&(0, self.bytes));
        let words = MemoryView::of_words(&mut self.words);
        let all = words.part(0, u64::from(self.bytes));
        (all.part(u64::from(start), u64::from(size)).through(reference), words)
    }
}

/// Lanes of a subgroup at the barrier of their workgroup.
#[derive(Clone)]
struct Arrived {
    first: AgentId,
    mask: Mask,
    /// The memory barriers that they have executed directly before it, of which their clocks tell nothing.
    before: SmallVec<[Operation; 1]>,
    /// Those that they execute directly behind it: they happen as it completes.
    behind: SmallVec<[Operation; 1]>,
}

/// Agents that are lanes of a subgroup, ascending; `first` is its lane 0.
pub(super) fn members(first: AgentId, mask: Mask) -> SmallVec<[AgentId; 32]> {
    let mut members = SmallVec::new();
    each_lane(mask, |lane| members.push(first + lane as u32));
    members
}

impl Arrived {
    /// The memory barriers before happen.
    fn complete(&mut self, core: &mut Core) {
        let members = members(self.first, self.mask);
        self.before.drain(..).for_each(|fence| core.agents.fence(Tangle::Listed(&members), &fence));
    }
}

/// A workgroup that is running, or the buffers of one that has ended.
#[derive(Clone, Default)]
pub(super) struct Group {
    pub memory: WorkgroupMemory,
    pub zeroed: bool,
    pub cells: WorkgroupCells,
    /// The subgroups that arrived.
    arrived: Vec<Arrived>,
    pub arrival: Option<Operation>,
    /// Those whose next operation is the barrier, as far as they execute memory barriers before it.
    arriving: Vec<Arrived>,
    pub barriers: Barriers,
    /// Of the subgroups, by their numbers, as far as they have passed some of their own.
    pub of_subgroups: Vec<Barriers>,
}

/// What the barriers of a workgroup, or of a subgroup, that all of it has passed order, per class:
/// non-private accesses of its agents up to these times, before everything that they do now through the same
/// reference.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Barriers {
    /// Every such access.
    pub full: [Time; 4],
    /// Those that need no more than to happen before. No less than `full`.
    pub alone: [Time; 4],
}

/// The agents of a workgroup or subgroup: the first one, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Members {
    pub first: AgentId,
    pub count: u32,
}

impl Members {
    #[inline(always)]
    pub fn contains(self, agent: AgentId) -> bool {
        agent.wrapping_sub(self.first) < self.count
    }

    /// Whether a barrier of all of them orders an access of one before all of theirs of a later kind.
    /// `shared` and `until` depend on the two kinds: whether [the earlier one shares] its reference with the
    /// later one, and [until when](Barriers::until) barriers order it.
    ///
    /// [the earlier one shares]: crate::race::StaticAccess::shares
    #[inline(always)]
    pub fn passed(self, earlier: &Record, shared: bool, until: Time) -> bool {
        shared && earlier.time <= until && self.contains(earlier.agent)
    }
}

impl Barriers {
    /// Until when accesses to this class are ordered; `alone`: those that [`needs_order_alone`].
    ///
    /// [`needs_order_alone`]: crate::race::StaticAccess::needs_order_alone
    #[inline(always)]
    pub fn until(&self, class: StorageClasses, alone: bool) -> Time {
        let times = if alone { &self.alone } else { &self.full };
        times[(class.bits().trailing_zeros() & 3) as usize]
    }

    /// Whether any was passed that orders something.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.alone != [0; 4]
    }

    /// A barrier by all agents was passed at this time, which is at least this one's execution scope wide.
    /// What one of its operations releases another one acquires.
    fn pass(&mut self, barrier: &WholeBarrier, level: u8, time: Time) {
        let reaches = |operation: &&Operation| operation.level >= Some(level);
        let releases = || barrier.before.iter().chain([&barrier.operation]).filter(reaches);
        let acquires = || [&barrier.operation].into_iter().chain(&barrier.behind).filter(reaches);
        for release in releases().filter(|operation| operation.semantics.release) {
            for acquire in acquires().filter(|operation| operation.semantics.acquire) {
                for class in class_indices(release.semantics.classes & acquire.semantics.classes) {
                    self.alone[class] = time;
                    if release.semantics.make_available && acquire.semantics.make_visible {
                        self.full[class] = time;
                    }
                }
            }
        }
    }
}

/// The workgroups that run, by their numbers in the dispatch.
#[derive(Clone, Default)]
pub(super) struct Groups {
    /// Those that run, and buffers of some that have ended.
    groups: Vec<Group>,
    /// Where in `groups` a running workgroup is.
    index: FxHashMap<u32, usize>,
    /// The places of those that have ended.
    free: Vec<usize>,
    /// The place of the entered one: most accesses ask for it.
    entered: usize,
    /// The number in the dispatch of the one entered last, whether or not it runs.
    number: Option<u32>,
    /// How many dispatches have begun.
    dispatches: u64,
}

impl Groups {
    /// None runs any more: a dispatch begins.
    pub fn clear(&mut self) {
        self.dispatches += 1;
        self.free.extend(self.index.drain().map(|(_, place)| place));
        self.entered = usize::MAX;
    }

    /// A workgroup that runs.
    pub fn get_mut(&mut self, workgroup: u32) -> Option<&mut Group> {
        self.groups.get_mut(*self.index.get(&workgroup)?)
    }

    /// Whether a workgroup runs.
    pub fn runs(&self, workgroup: u32) -> bool {
        self.index.contains_key(&workgroup)
    }

    /// From now on [`Groups::entered`] is this workgroup.
    pub fn enter(&mut self, workgroup: u32) {
        if self.number == Some(workgroup) && self.entered != usize::MAX {
            return;
        }
        self.number = Some(workgroup);
        self.entered = self.index.get(&workgroup).copied().unwrap_or(usize::MAX);
    }

    /// The workgroup that was entered last, if it runs.
    #[inline(always)]
    pub fn entered(&mut self) -> Option<&mut Group> {
        self.groups.get_mut(self.entered)
    }

    /// A workgroup begins that has so many bytes of memory. `zeroed`: they are initialised.
    pub fn begin(&mut self, workgroup: u32, bytes: u32, zeroed: bool) {
        let place = self.free.pop().unwrap_or(self.groups.len());
        if place == self.groups.len() {
            self.groups.push(Group::default());
        }
        self.groups[place].begin(self.dispatches, bytes, zeroed);
        self.index.insert(workgroup, place);
    }

    /// A workgroup has ended. Its cells can be looked at until another one begins.
    pub fn end(&mut self, workgroup: u32) -> Option<&Group> {
        let place = self.index.remove(&workgroup)?;
        self.free.push(place);
        if self.entered == place {
            self.entered = usize::MAX;
        }
        self.groups.get(place)
    }
}

impl Group {
    /// A new workgroup begins that has so many bytes of memory. `zeroed`: they were initialised.
    pub fn begin(&mut self, dispatch: u64, bytes: u32, zeroed: bool) {
        self.memory.words.clear();
        self.memory.words.resize((bytes as usize).div_ceil(8), 0);
        self.memory.bytes = bytes;
        self.zeroed = zeroed;
        self.cells.begin(dispatch, (bytes as usize).div_ceil(4).max(1));
        self.arrived.clear();
        self.arriving.clear();
        self.arrival = None;
        self.barriers = Barriers::default();
        self.of_subgroups.clear();
    }

    /// All agents of a subgroup have passed a barrier of their own at this time.
    pub fn pass_subgroup_barrier(&mut self, subgroup: u32, operation: &Operation, time: Time) -> Barriers {
        let number = subgroup as usize;
        if self.of_subgroups.len() <= number {
            self.of_subgroups.resize(number + 1, Barriers::default());
        }
        self.of_subgroups[number].pass(&WholeBarrier::of(*operation), 0, time);
        self.of_subgroups[number]
    }

    /// Where these lanes are in `arriving`.
    fn place(&mut self, first: AgentId, mask: Mask) -> usize {
        let same = |known: &Arrived| (known.first, known.mask) == (first, mask);
        let place = self.arriving.iter().position(same).unwrap_or(self.arriving.len());
        if place == self.arriving.len() {
            self.arriving.push(Arrived { first, mask, before: SmallVec::new(), behind: SmallVec::new() });
        }
        place
    }

    /// Lanes of a subgroup execute a memory barrier whose next operation is the workgroup's barrier. It
    /// happens when that completes, or when somebody looks at their clocks. Returns how many of these they
    /// have executed before.
    pub fn fence_before(&mut self, first: AgentId, mask: Mask, operation: Operation) -> Time {
        let place = self.place(first, mask);
        let before = &mut self.arriving[place].before;
        before.push(operation);
        before.len() as Time - 1
    }

    /// Lanes of a subgroup, which arrive now at the workgroup's barrier, will execute a memory barrier
    /// directly behind it. It happens when the barrier completes.
    pub fn fence_behind(&mut self, first: AgentId, mask: Mask, operation: Operation) {
        let place = self.place(first, mask);
        self.arriving[place].behind.push(operation);
    }

    /// Lanes of a subgroup have arrived at the workgroup's barrier.
    pub fn arrive(&mut self, first: AgentId, mask: Mask, operation: Operation) {
        let place = self.place(first, mask);
        self.arrived.push(self.arriving.swap_remove(place));
        self.arrival.get_or_insert(operation);
    }

    /// Has the clocks of all tell of the memory barriers that they have executed.
    pub fn complete_fences(&mut self, core: &mut Core) {
        self.arriving.drain(..).for_each(|mut some| some.complete(core));
        self.arrived.iter_mut().for_each(|some| some.complete(core));
    }

    /// All live invocations of the workgroup, which has `size` of them, have arrived at their barrier.
    pub fn pass_barrier(&mut self, core: &mut Core, workgroup: u32, size: u32) {
        let Some(operation) = self.arrival.take() else { return };
        let first = workgroup.saturating_mul(size);
        let arrived: u32 = self.arrived.iter().map(|some| some.mask.count_ones()).sum();
        let instance = core.trace.instance();
        let mut barrier = WholeBarrier::of(operation);
        if let Some(some) = self.arrived.first() {
            (barrier.before, barrier.behind) = (some.before.clone(), some.behind.clone());
        }
        let like = |some: &Arrived| (&some.before, &some.behind) == (&barrier.before, &barrier.behind);
        let alike = arrived == size && self.arriving.is_empty() && self.arrived.iter().all(like);
        if alike {
            if !core.agents.whole_barrier(workgroup, &barrier) {
                core.agents.pass_all(workgroup, &barrier);
            }
            let time = core.agents.time(first) - barrier.behind.len() as Time - 1;
            core.trace.whole_barrier(workgroup, first, size, time, instance, &operation);
            self.arrived.clear();
            self.barriers.pass(&barrier, 1, time);
            return;
        }
        self.complete_fences(core);
        let of = |some: &Arrived| members(some.first, some.mask);
        let mut members: Vec<AgentId> = self.arrived.iter().flat_map(of).collect();
        members.sort_unstable();
        members.dedup();
        let time = members.iter().map(|agent| core.agents.time(*agent)).max().unwrap_or(0);
        for lanes in members.chunk_by(|a, b| a / 32 == b / 32) {
            let mask = lanes.iter().fold(0, |mask, agent| mask | 1 << (agent - lanes[0]));
            core.trace.barrier(workgroup, lanes[0], mask, time, 1, instance, &operation);
        }
        core.agents.barrier(Tangle::Listed(&members), 1, &operation);
        for some in self.arrived.drain(..) {
            some.behind.iter().for_each(|fence| core.agents.fence(Tangle::Listed(&of(&some)), fence));
        }
        if members.len() == size as usize {
            self.barriers.pass(&WholeBarrier::of(operation), 1, time);
        }
    }
}
