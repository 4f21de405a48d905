//! What agents know, and the three ways in which it grows: availability, visibility, and taking in a release.

use super::blocks::{Blocks, Times};
use super::clocks::{AgentRanges, Clocks, Key, MaskClocks, Pending, Release, intersect};
use super::release_sequence::{ReleaseSequence, TakenIn};
use super::topology::{AgentId, Level, Topology};
use super::vector_clock::{Time, VectorClock};
use crate::access::Site;
use crate::scope::{Semantics, StorageClasses};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The part of an instruction that synchronises: an atomic, a fence or a control barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The instruction, by which explanations name it.
    pub site: Site,
    /// Storage class of the location; empty for what accesses none.
    pub class: StorageClasses,
    /// Level of the memory scope; `None` is invocation scope, which reaches nobody.
    pub level: Option<Level>,
    /// What it orders, and of which storage classes.
    pub semantics: Semantics,
}

impl Operation {
    /// Whether inter-thread-happens-before of the mask applies to this operation.
    #[inline]
    pub(super) fn member(&self, mask: StorageClasses) -> bool {
        member(self.class, self.semantics.classes, mask)
    }

    /// Whether another one by the same agents does the same.
    pub(super) fn is_like(&self, other: &Operation) -> bool {
        self.class == other.class && self.level == other.level && self.semantics == other.semantics
    }

    /// Whether it orders anything at all.
    #[inline]
    pub fn synchronises(&self) -> bool {
        self.semantics.acquire
            || self.semantics.release
            || self.semantics.make_available
            || self.semantics.make_visible
    }
}

#[inline]
pub(super) fn member(class: StorageClasses, semantics: StorageClasses, mask: StorageClasses) -> bool {
    (!class.is_empty() && mask.contains(class)) || (!semantics.is_empty() && semantics.contains(mask))
}

pub(super) fn class_index(class: StorageClasses) -> u8 {
    class.bits().trailing_zeros().min(3) as u8
}

fn class_of(index: u8) -> StorageClasses {
    StorageClasses::from_bits_truncate(1 << index)
}

/// What every agent knows.
#[derive(Clone, Debug)]
pub struct Agents {
    topology: Topology,
    chains: bool,
    masks: SmallVec<[StorageClasses; 4]>,
    larger: SmallVec<[Option<u8>; 4]>,
    own_levels: [u8; 4],
    pub(super) blocks: Blocks,
    start: Arc<Clocks>,
    /// Barriers of whole workgroups are put into clocks when these are looked at: see [`Agents::complete`].
    pub(super) defers: bool,
    /// Releases that atomic writes have passed on so far.
    published: u64,
    /// Of the running workgroups that made some of them: the first one.
    since: FxHashMap<u32, u64>,
    pub(super) taken_in: TakenIn,
}

impl Agents {
    /// Agents of this topology that know nothing. With `chains` false, availability and visibility chains
    /// have one element.
    ///
    /// Agents live in blocks of one workgroup (for a listed topology: one block of all, which is open from
    /// the start).
    pub fn new(topology: Topology, chains: bool) -> Agents {
        let count = topology.agents();
        let (per_block, listed) = match &topology {
            Topology::Dispatch { workgroup, .. } => (*workgroup, false),
            Topology::Listed(_) => (count.max(1), true),
        };
        let mut agents = Agents {
            topology,
            chains,
            masks: SmallVec::new(),
            larger: SmallVec::new(),
            own_levels: [0; 4],
            blocks: Blocks::new(per_block),
            start: Arc::default(),
            defers: false,
            published: 0,
            since: FxHashMap::default(),
            taken_in: TakenIn::default(),
        };
        if listed {
            agents.open(0);
        }
        agents
    }

    /// Who shares what.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The agents of workgroup `block` start.
    pub fn open(&mut self, block: u32) {
        self.blocks.open(block);
    }

    /// The agents of workgroup `block` have ended; their state is dropped.
    pub fn close(&mut self, block: u32) {
        self.blocks.close(block);
        self.since.remove(&block);
        self.taken_in.close(block);
    }

    /// The number of a release that an atomic write of `agent` passes on.
    pub(super) fn publish(&mut self, agent: AgentId) -> u64 {
        self.published += 1;
        self.since.entry(self.blocks.block(agent)).or_insert(self.published);
        self.published
    }

    /// The first release that the agent's workgroup has published.
    pub(super) fn published_since(&self, agent: AgentId) -> Option<u64> {
        self.since.get(&self.blocks.block(agent)).copied()
    }

    /// The first release that a running workgroup has published.
    pub(super) fn oldest_published(&self) -> u64 {
        self.since.values().copied().min().unwrap_or(self.published + 1)
    }

    /// The present times of up to `count` agents of a workgroup, from the one with number `from` in it.
    #[inline(always)]
    pub fn times(&self, workgroup: u32, from: usize, count: usize) -> Times<'_> {
        self.blocks.times(workgroup, from, count)
    }

    /// Whether [`Agents::has_pending`] of one of up to `count` agents of a workgroup, from the one with
    /// number `from` in it.
    #[inline(always)]
    pub fn any_pending(&self, workgroup: u32, from: usize, count: usize) -> bool {
        self.blocks.any_pending(workgroup, from, count)
    }

    /// Whether nothing has been declared or executed that orders agents.
    #[inline]
    pub fn untracked(&self) -> bool {
        self.masks.is_empty()
    }

    /// Whether release fences of the agent wait for its next atomic write.
    #[inline]
    pub fn has_pending(&self, agent: AgentId) -> bool {
        self.blocks.fenced(self.blocks.block(agent)) || self.blocks.get(agent).pending.is_some()
    }

    /// The agent's present time: accesses are recorded with it.
    #[inline]
    pub fn time(&self, agent: AgentId) -> Time {
        self.blocks.get(agent).time
    }

    /// From now on whoever looks at clocks calls [`Agents::complete`] first.
    pub fn defer_barriers(&mut self) {
        self.defers = true;
    }

    pub(super) fn start(&self) -> Arc<Clocks> {
        self.start.clone()
    }

    /// What the agent knows.
    #[inline]
    pub fn clocks(&self, agent: AgentId) -> &Arc<Clocks> {
        debug_assert!(self.blocks.complete(agent), "the clocks are complete");
        self.blocks.get(agent).clocks.as_ref().unwrap_or(&self.start)
    }

    /// Says that accesses of this kind occur; needed before the first of them.
    #[inline]
    pub fn note_write(&mut self, kind: &super::order::StaticAccess) {
        if kind.write && kind.non_private {
            self.own_levels[class_index(kind.class) as usize] |= 1 << (kind.own() + 1);
        }
    }

    fn own_levels(&self, class: u8) -> impl Iterator<Item = i8> + use<> {
        let levels = self.own_levels[class as usize];
        (-1..4).filter(move |own| levels >> (own + 1) & 1 != 0)
    }

    /// The masks that inter-thread-happens-before is tracked for.
    pub(super) fn masks(&self) -> &[StorageClasses] {
        &self.masks
    }

    /// Begins to track the semantics `classes` and its intersections with those known. Every operation does
    /// so; semantics that are declared before anything is executed are tracked without loss.
    pub fn note_semantics(&mut self, classes: StorageClasses) {
        if classes.is_empty() || self.masks.contains(&classes) {
            return;
        }
        let known = self.masks.clone();
        let mut added: SmallVec<[StorageClasses; 8]> = SmallVec::new();
        for mask in known.iter().map(|mask| *mask & classes).chain([classes]) {
            if !mask.is_empty() && !known.contains(&mask) && !added.contains(&mask) {
                added.push(mask);
            }
        }
        for mask in added {
            // Until now every operation of a larger mask was one of the smallest larger mask: what happens
            // before by it happens before by the new mask. Availability does not carry over: an atomic may be
            // a member of the larger one by its class alone.
            let smallest = known
                .iter()
                .enumerate()
                .filter(|(_, larger)| larger.contains(mask))
                .min_by_key(|(_, larger)| larger.bits().count_ones())
                .map(|(index, _)| index as u8);
            self.taken_in.clear();
            self.masks.push(mask);
            self.larger.push(smallest);
        }
    }

    /// The clocks of the mask with this index.
    #[inline]
    pub(super) fn mask_clocks<'f>(&self, clocks: &'f Clocks, index: usize) -> Option<&'f MaskClocks> {
        clocks.masks.get(index)
    }

    /// What happens before by the mask with this index.
    #[inline]
    pub(super) fn before<'f>(&self, clocks: &'f Clocks, mut index: usize) -> Option<&'f VectorClock> {
        while index >= clocks.masks.len() {
            index = self.larger[index]? as usize;
        }
        Some(&clocks.masks[index].before)
    }

    fn mask_clocks_mut<'f>(&self, clocks: &'f mut Clocks, index: usize) -> &'f mut MaskClocks {
        while clocks.masks.len() <= index {
            let before = self.before(clocks, clocks.masks.len()).cloned().unwrap_or_default();
            clocks.masks.push(MaskClocks { before, ..MaskClocks::default() });
        }
        &mut clocks.masks[index]
    }

    /// Writes of others, of this class and own level, that are available in `agent`'s instance of `level`
    /// before the operation.
    pub(super) fn available_in(
        &self,
        agent: AgentId,
        clocks: &Clocks,
        operation: &Operation,
        class: u8,
        level: Level,
        own: i8,
    ) -> VectorClock {
        let key = Key::new(class, level, own);
        let mut clock = VectorClock::default();
        for (index, mask) in self.masks.iter().enumerate() {
            if !operation.member(*mask) {
                continue;
            }
            if own >= level as i8
                && mask.contains(class_of(class))
                && let Some(before) = self.before(clocks, index)
            {
                clock.join(before);
            }
            let Some(known) = self.mask_clocks(clocks, index) else { continue };
            if let Some(available) = known.available.get(key) {
                clock.join(available);
            }
        }
        if let Some(made) = clocks.made_available.get(key) {
            clock.join(made);
        }
        clock.within(&self.topology.range(agent, level))
    }

    /// Writes that visibility chains brought into `agent`'s instance of `level` before the operation.
    pub(super) fn imported_in(&self, clocks: &Clocks, operation: &Operation, key: Key) -> VectorClock {
        let mut clock = VectorClock::default();
        for (index, mask) in self.masks.iter().enumerate() {
            if operation.member(*mask)
                && let Some(imported) =
                    self.mask_clocks(clocks, index).and_then(|known| known.imported.get(key))
            {
                clock.join(imported);
            }
        }
        if let Some(exported) = clocks.exported.get(key) {
            clock.join(exported);
        }
        clock
    }

    /// The part of an availability operation that concerns the agent's own writes.
    pub(super) fn make_own_available(&self, clocks: &mut Clocks, time: Time, operation: &Operation) {
        let Some(scope) = operation.level else { return };
        for class in 0..4 {
            if !operation.semantics.classes.contains(class_of(class)) || self.own_levels[class as usize] == 0
            {
                continue;
            }
            for level in 0..=scope {
                let key = Key::any(class, level);
                clocks.own_available.raise(key, time);
                for (index, mask) in self.masks.iter().enumerate() {
                    if operation.member(*mask) {
                        self.mask_clocks_mut(clocks, index).own_available.raise(key, time);
                    }
                }
            }
        }
    }

    /// The masks whose inter-thread-happens-before applies to the operation.
    fn members(&self, operation: &Operation) -> SmallVec<[usize; 4]> {
        let masks = self.masks.iter().enumerate();
        masks.filter(|(_, mask)| operation.member(**mask)).map(|(index, _)| index).collect()
    }

    /// An availability operation by `agent` at `time`.
    pub(super) fn make_available(
        &self,
        agent: AgentId,
        clocks: &mut Clocks,
        time: Time,
        operation: &Operation,
    ) {
        self.make_own_available(clocks, time, operation);
        let Some(scope) = operation.level else { return };
        let members = self.members(operation);
        for class in 0..4 {
            if !operation.semantics.classes.contains(class_of(class)) || self.own_levels[class as usize] == 0
            {
                continue;
            }
            for own in self.own_levels(class).filter(|_| self.chains) {
                let mut passed_on = VectorClock::default();
                for level in 1..=scope {
                    let key = Key::new(class, level, own);
                    passed_on.join(&self.available_in(agent, clocks, operation, class, level - 1, own));
                    if passed_on.is_empty() {
                        continue;
                    }
                    // What is known to be available at this level anyway need not be remembered: it keeps
                    // clocks equal across agents.
                    let known_anyway = |mask: usize| {
                        self.mask_clocks(clocks, mask)
                            .and_then(|known| known.available.get(key))
                            .is_some_and(|available| available.includes(&passed_on))
                    };
                    let news: SmallVec<[usize; 4]> =
                        members.iter().copied().filter(|mask| !known_anyway(*mask)).collect();
                    let covered = self
                        .masks
                        .iter()
                        .enumerate()
                        .any(|(index, mask)| mask.contains(class_of(class)) && known_anyway(index));
                    if !covered {
                        clocks.made_available.join(key, &passed_on);
                    }
                    for index in news {
                        self.mask_clocks_mut(clocks, index).made_available.join(key, &passed_on);
                    }
                }
            }
        }
    }

    /// A visibility operation by `agent`, after everything up to `time`.
    pub(super) fn make_visible(
        &self,
        agent: AgentId,
        clocks: &mut Clocks,
        time: Time,
        operation: &Operation,
    ) {
        let Some(scope) = operation.level else { return };
        let members = self.members(operation);
        let mut exports: SmallVec<[(Key, VectorClock, Time); 8]> = SmallVec::new();
        for class in 0..4 {
            if !operation.semantics.classes.contains(class_of(class)) {
                continue;
            }
            for own in self.own_levels(class) {
                // What the levels from the widest one down say; each passes on what wider ones do.
                let (mut visible, mut latest) = (VectorClock::default(), 0);
                for level in (0..=scope).rev() {
                    let key = Key::new(class, level, own);
                    let mut source = self.available_in(agent, clocks, operation, class, level, own);
                    let published = clocks.own_available.get(Key::any(class, level)).min(time);
                    let mut mine = if own >= level as i8 { time } else { published };
                    if self.chains {
                        source.join(&self.imported_in(clocks, operation, key));
                        mine = mine.max(clocks.own_exported.get(key));
                        if level < scope {
                            exports.push((key, visible.clone(), latest));
                        }
                    }
                    latest = mine.max(latest);
                    visible.join(&source);
                }
                clocks.visible.join(Key::new(class, 0, own), &visible);
            }
        }
        for (key, source, mine) in exports {
            clocks.exported.join(key, &source);
            clocks.own_exported.raise(key, mine);
            for index in &members {
                let known = self.mask_clocks_mut(clocks, *index);
                known.exported.join(key, &source);
                known.own_exported.raise(key, mine);
            }
        }
    }

    /// `agent` takes in a release by an acquire of these semantics.
    pub(super) fn join(&self, agent: AgentId, clocks: &mut Clocks, release: &Release, operation: &Operation) {
        let Some(level) = operation.level else { return };
        let reach = self.topology.range(agent, level.min(release.level));
        let publishers = intersect(&release.agents, &reach);
        if publishers.is_empty() {
            return;
        }
        let sharing: [AgentRanges; 4] =
            std::array::from_fn(|l| intersect(&publishers, &self.topology.range(agent, l as u8)));
        self.add(clocks, release, operation.semantics.classes, &publishers, &sharing);
    }

    /// Adds to `clocks` what a release of queue family or device scope says to agents of other workgroups of
    /// the dispatch.
    pub(super) fn gather(&self, clocks: &mut Clocks, release: &Release) {
        let nobody = AgentRanges::new;
        let sharing = [nobody(), nobody(), release.agents.clone(), release.agents.clone()];
        self.add(clocks, release, StorageClasses::all(), &release.agents, &sharing);
    }

    /// Adds what a release by `publishers` says through these classes. `sharing`: per level, those of them
    /// that share the instance of that level with whom the clocks are of.
    fn add(
        &self,
        clocks: &mut Clocks,
        release: &Release,
        classes: StorageClasses,
        publishers: &AgentRanges,
        sharing: &[AgentRanges; 4],
    ) {
        let shares = |key: Key| !sharing[key.level() as usize].is_empty();
        // Availability in another subgroup's instance is of no use, and never used; taking it in keeps the
        // clocks of a workgroup equal.
        let with_whom = |key: Key| &sharing[key.level().max(1) as usize];
        for (index, mask) in self.masks.iter().enumerate() {
            if !release.classes.contains(*mask) || !classes.contains(*mask) {
                continue;
            }
            let theirs = self.mask_clocks(&release.clocks, index);
            let ours = self.mask_clocks_mut(clocks, index);
            for (first, end) in publishers {
                ours.before.join_range(*first..*end, release.time);
            }
            if let Some(before) = self.before(&release.clocks, index) {
                ours.before.join(before);
            }
            let Some(theirs) = theirs else { continue };
            for keyed in [&theirs.available, &theirs.made_available] {
                for (key, clock) in keyed.iter().filter(|(key, _)| !with_whom(*key).is_empty()) {
                    ours.available.join(key, clock);
                }
            }
            for keyed in [&theirs.imported, &theirs.exported] {
                for (key, clock) in keyed.iter().filter(|(key, _)| shares(*key)) {
                    ours.imported.join(key, clock);
                }
            }
            for (key, time) in theirs.own_available.iter() {
                for own in self.own_levels(key.class()) {
                    for (first, end) in with_whom(key) {
                        ours.available.join_range(key.with_own(own), *first..*end, time);
                    }
                }
            }
            for (key, time) in theirs.own_exported.iter() {
                for (first, end) in &sharing[key.level() as usize] {
                    ours.imported.join_range(key, *first..*end, time);
                }
            }
        }
    }

    /// The effect of an acquire by `agent` on what is pending. Returns the lists that were taken in.
    pub(super) fn acquire_pending(
        &self,
        agent: AgentId,
        clocks: &mut Clocks,
        pending: &mut Pending,
        operation: &Operation,
    ) -> Vec<ReleaseSequence> {
        for (class, release_sequence) in &pending.release_sequences {
            if operation.semantics.classes.contains(*class) {
                self.join_release_sequence(agent, clocks, release_sequence, operation);
            }
        }
        for release in &pending.barriers {
            self.join(agent, clocks, release, operation);
        }
        pending.acquired(operation)
    }
}
