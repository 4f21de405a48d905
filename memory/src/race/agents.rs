//! The agents' side of the detector: how synchronisation changes what each agent knows.
//!
//! Operations that several agents execute together (the lanes of a subgroup, the members of a barrier) are computed once for all agents
//! whose state is one shared copy.

use super::facts::{
    Agents as AgentSet, Facts, Heads, Key, Keyed, MaskFacts, Pending, Release, extend, intersect,
};
use super::horizon::{Horizon, Time};
use super::topology::{AgentId, Level, Topology};
use crate::access::Site;
use crate::scope::{Semantics, StorageClasses};
use smallvec::SmallVec;
use std::sync::Arc;

/// The part of an instruction that synchronises: an atomic, a fence or a control barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The instruction.
    pub site: Site,
    /// Storage class of the location; empty for what accesses none.
    pub class: StorageClasses,
    /// Level of the memory scope; `None` is invocation scope, which reaches nobody.
    pub level: Option<Level>,
    /// Memory semantics.
    pub semantics: Semantics,
}

impl Operation {
    /// Whether inter-thread-happens-before of the mask applies to this operation.
    #[inline]
    pub(super) fn member(&self, mask: StorageClasses) -> bool {
        member(self.class, self.semantics.classes, mask)
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

/// What is stored of an agent; no facts stand for those at the start.
#[derive(Clone, Debug, Default)]
struct Stored {
    facts: Option<Arc<Facts>>,
    pending: Option<Arc<Pending>>,
    time: Time,
}

impl Stored {
    fn shared_with(&self, state: &State, start: &Arc<Facts>) -> bool {
        let pending = match (&self.pending, &state.pending) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        pending && self.time == state.time && Arc::ptr_eq(self.facts.as_ref().unwrap_or(start), &state.facts)
    }
}

#[derive(Clone, Debug)]
struct State {
    facts: Arc<Facts>,
    pending: Option<Arc<Pending>>,
    time: Time,
}

/// Agents of one subgroup that have one state.
struct Group {
    agents: SmallVec<[AgentId; 32]>,
    state: State,
    records: Vec<Release>,
}

impl Group {
    fn set(&self) -> AgentSet {
        let mut set = AgentSet::new();
        for agent in &self.agents {
            extend(&mut set, *agent, agent + 1);
        }
        set
    }
}

/// What every agent knows.
#[derive(Clone, Debug)]
pub struct Agents {
    topology: Topology,
    chains: bool,
    masks: SmallVec<[StorageClasses; 4]>,
    larger: SmallVec<[Option<u8>; 4]>,
    own_levels: [u8; 4],
    per_block: u32,
    blocks: Vec<Option<Box<[Stored]>>>,
    start: Arc<Facts>,
    stranger: Stored,
}

impl Agents {
    /// Agents of this topology that know nothing. With `chains` false, availability and visibility chains have one element.
    ///
    /// Agents live in blocks of one workgroup (for a listed topology: one block of all, which is open from the start).
    pub fn new(topology: Topology, chains: bool) -> Agents {
        let stranger = Stored { facts: None, pending: None, time: 1 };
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
            per_block,
            blocks: vec![None; count.div_ceil(per_block) as usize],
            start: Arc::default(),
            stranger,
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
        if let Some(slot) = self.blocks.get_mut(block as usize) {
            *slot = Some(vec![self.stranger.clone(); self.per_block as usize].into());
        }
    }

    /// The agents of workgroup `block` have ended; their state is dropped.
    pub fn close(&mut self, block: u32) {
        if let Some(slot) = self.blocks.get_mut(block as usize) {
            *slot = None;
        }
    }

    #[inline]
    fn stored(&self, agent: AgentId) -> &Stored {
        match self.blocks.get((agent / self.per_block) as usize) {
            Some(Some(block)) => &block[(agent % self.per_block) as usize],
            _ => &self.stranger,
        }
    }

    fn state(&self, agent: AgentId) -> State {
        let stored = self.stored(agent);
        State { facts: self.facts(agent).clone(), pending: stored.pending.clone(), time: stored.time }
    }

    fn state_mut(&mut self, agent: AgentId) -> Option<&mut Stored> {
        self.blocks
            .get_mut((agent / self.per_block) as usize)?
            .as_mut()?
            .get_mut((agent % self.per_block) as usize)
    }

    /// The present times of up to 32 agents of one workgroup, from `first`.
    #[inline]
    pub fn times(&self, first: AgentId) -> [Time; 32] {
        let mut times = [1; 32];
        if let Some(Some(block)) = self.blocks.get((first / self.per_block) as usize) {
            let from = (first % self.per_block) as usize;
            for (time, stored) in times.iter_mut().zip(&block[from..]) {
                *time = stored.time;
            }
        }
        times
    }

    /// Whether nothing has been declared or executed that orders agents.
    #[inline]
    pub fn untracked(&self) -> bool {
        self.masks.is_empty()
    }

    /// Whether release fences of the agent wait for its next atomic write.
    #[inline]
    pub fn has_pending(&self, agent: AgentId) -> bool {
        self.stored(agent).pending.is_some()
    }

    /// The agent's present time: accesses are recorded with it.
    #[inline]
    pub fn time(&self, agent: AgentId) -> Time {
        self.stored(agent).time
    }

    /// What the agent knows.
    #[inline]
    pub fn facts(&self, agent: AgentId) -> &Arc<Facts> {
        self.stored(agent).facts.as_ref().unwrap_or(&self.start)
    }

    /// The sites of release fences that wait for an atomic write, and of heads that wait for an acquire.
    pub fn pending_sites(&self, agent: AgentId) -> (Vec<Site>, Vec<Site>) {
        let Some(pending) = &self.stored(agent).pending else { return (Vec::new(), Vec::new()) };
        let fences = pending.fences.iter().map(Release::site).collect();
        let heads = pending.heads.iter().flat_map(|(_, heads)| heads.sites(4)).collect();
        (fences, heads)
    }

    /// Says that accesses of this class, whose own availability reaches `own` (-1: none), occur.
    #[inline]
    pub(super) fn note_write(&mut self, class: StorageClasses, own: i8) {
        self.own_levels[class_index(class) as usize] |= 1 << (own + 1);
    }

    /// Says that writes of this kind occur; needed before the first of them.
    #[inline]
    pub fn note_write_of(&mut self, kind: &super::order::Kind) {
        self.note_write(kind.class, kind.own());
    }

    fn own_levels(&self, class: u8) -> impl Iterator<Item = i8> + use<> {
        let levels = self.own_levels[class as usize];
        (-1..4).filter(move |own| levels >> (own + 1) & 1 != 0)
    }

    /// The masks that inter-thread-happens-before is tracked for.
    pub(super) fn masks(&self) -> &[StorageClasses] {
        &self.masks
    }

    /// Begins to track the semantics `classes` and its intersections with those known. Every operation does so; semantics that are declared
    /// before anything is executed are tracked without loss.
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
            // Until now every operation of a larger mask was one of the smallest larger mask: what happens before by it happens before by
            // the new mask. Availability does not carry over: an atomic may be a member of the larger one by its class alone.
            let smallest = known
                .iter()
                .enumerate()
                .filter(|(_, larger)| larger.contains(mask))
                .min_by_key(|(_, larger)| larger.bits().count_ones())
                .map(|(index, _)| index as u8);
            self.masks.push(mask);
            self.larger.push(smallest);
        }
    }

    /// The facts of the mask with this index.
    #[inline]
    pub(super) fn mask_facts<'f>(&self, facts: &'f Facts, index: usize) -> Option<&'f MaskFacts> {
        facts.masks.get(index)
    }

    /// What happens before by the mask with this index.
    #[inline]
    pub(super) fn before<'f>(&self, facts: &'f Facts, mut index: usize) -> Option<&'f Horizon> {
        while index >= facts.masks.len() {
            index = self.larger[index]? as usize;
        }
        Some(&facts.masks[index].before)
    }

    fn mask_facts_mut<'f>(&self, facts: &'f mut Facts, index: usize) -> &'f mut MaskFacts {
        while facts.masks.len() <= index {
            let before = self.before(facts, facts.masks.len()).cloned().unwrap_or_default();
            facts.masks.push(MaskFacts { before, ..MaskFacts::default() });
        }
        &mut facts.masks[index]
    }

    /// Writes of others, of this class and own level, that are available in `agent`'s instance of `level` before the operation.
    pub(super) fn available_in(
        &self,
        agent: AgentId,
        facts: &Facts,
        operation: &Operation,
        class: u8,
        level: Level,
        own: i8,
    ) -> Horizon {
        let key = Key::new(class, level, own);
        let mut horizon = Horizon::default();
        for (index, mask) in self.masks.iter().enumerate() {
            if !operation.member(*mask) {
                continue;
            }
            if own >= level as i8
                && mask.contains(class_of(class))
                && let Some(before) = self.before(facts, index)
            {
                horizon.join(before);
            }
            let Some(known) = self.mask_facts(facts, index) else { continue };
            if let Some(available) = known.available.get(key) {
                horizon.join(available);
            }
        }
        if let Some(made) = facts.made_available.get(key) {
            horizon.join(made);
        }
        horizon.within(&self.topology.range(agent, level))
    }

    /// Writes that visibility chains brought into `agent`'s instance of `level` before the operation.
    pub(super) fn imported_in(&self, facts: &Facts, operation: &Operation, key: Key) -> Horizon {
        let mut horizon = Horizon::default();
        for (index, mask) in self.masks.iter().enumerate() {
            if operation.member(*mask)
                && let Some(imported) =
                    self.mask_facts(facts, index).and_then(|known| known.imported.get(key))
            {
                horizon.join(imported);
            }
        }
        if let Some(exported) = facts.exported.get(key) {
            horizon.join(exported);
        }
        horizon
    }

    fn make_available(&self, agent: AgentId, facts: &mut Facts, time: Time, operation: &Operation) {
        let Some(scope) = operation.level else { return };
        let members: SmallVec<[usize; 4]> = self
            .masks
            .iter()
            .enumerate()
            .filter(|(_, mask)| operation.member(**mask))
            .map(|(index, _)| index)
            .collect();
        for class in 0..4 {
            if !operation.semantics.classes.contains(class_of(class)) || self.own_levels[class as usize] == 0
            {
                continue;
            }
            for level in 0..=scope {
                let key = Key::any(class, level);
                facts.own_available.raise(key, time);
                for index in &members {
                    self.mask_facts_mut(facts, *index).own_available.raise(key, time);
                }
                if !self.chains || level == 0 {
                    continue;
                }
                for own in self.own_levels(class) {
                    let key = key.with_own(own);
                    let mut passed_on = Horizon::default();
                    for narrower in 0..level {
                        passed_on.join(&self.available_in(agent, facts, operation, class, narrower, own));
                    }
                    if passed_on.is_empty() {
                        continue;
                    }
                    // What is known to be available at this level anyway need not be remembered: it keeps facts equal across agents.
                    let known_anyway = |mask: usize| {
                        self.mask_facts(facts, mask)
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
                        facts.made_available.join(key, &passed_on);
                    }
                    for index in news {
                        self.mask_facts_mut(facts, index).made_available.join(key, &passed_on);
                    }
                }
            }
        }
    }

    fn make_visible(&self, agent: AgentId, facts: &mut Facts, time: Time, operation: &Operation) {
        let Some(scope) = operation.level else { return };
        let members: SmallVec<[usize; 4]> = self
            .masks
            .iter()
            .enumerate()
            .filter(|(_, mask)| operation.member(**mask))
            .map(|(index, _)| index)
            .collect();
        let mut exports: SmallVec<[(Key, Horizon, Time); 8]> = SmallVec::new();
        for class in 0..4 {
            if !operation.semantics.classes.contains(class_of(class)) {
                continue;
            }
            for own in self.own_levels(class) {
                let mut visible = Horizon::default();
                for level in 0..=scope {
                    let key = Key::new(class, level, own);
                    let mut source = self.available_in(agent, facts, operation, class, level, own);
                    let published = facts.own_available.get(Key::any(class, level)).min(time);
                    let mut mine = if own >= level as i8 { time } else { published };
                    if self.chains {
                        source.join(&self.imported_in(facts, operation, key));
                        mine = mine.max(facts.own_exported.get(key));
                        for narrower in 0..level {
                            exports.push((Key::new(class, narrower, own), source.clone(), mine));
                        }
                    }
                    visible.join(&source);
                }
                facts.visible.join(Key::new(class, 0, own), &visible);
            }
        }
        for (key, source, mine) in exports {
            facts.exported.join(key, &source);
            facts.own_exported.raise(key, mine);
            for index in &members {
                let known = self.mask_facts_mut(facts, *index);
                known.exported.join(key, &source);
                known.own_exported.raise(key, mine);
            }
        }
    }

    /// `agent` takes in a release by an acquire of these semantics.
    fn join(&self, agent: AgentId, facts: &mut Facts, release: &Release, operation: &Operation) {
        let Some(level) = operation.level else { return };
        let reach = self.topology.range(agent, level.min(release.level));
        let publishers = intersect(&release.agents, &reach);
        if publishers.is_empty() {
            return;
        }
        let sharing: [AgentSet; 4] =
            std::array::from_fn(|l| intersect(&publishers, &self.topology.range(agent, l as u8)));
        let shares = |key: Key| !sharing[key.level() as usize].is_empty();
        for (index, mask) in self.masks.iter().enumerate() {
            if !release.classes.contains(*mask) || !operation.semantics.classes.contains(*mask) {
                continue;
            }
            let theirs = self.mask_facts(&release.facts, index);
            let ours = self.mask_facts_mut(facts, index);
            for (first, end) in &publishers {
                ours.before.join_range(*first..*end, release.time);
            }
            if let Some(before) = self.before(&release.facts, index) {
                ours.before.join(before);
            }
            let Some(theirs) = theirs else { continue };
            let join = |into: &mut Keyed, from: &Keyed| {
                for (key, horizon) in from.iter().filter(|(key, _)| shares(*key)) {
                    into.join(key, horizon);
                }
            };
            join(&mut ours.available, &theirs.available);
            join(&mut ours.available, &theirs.made_available);
            join(&mut ours.imported, &theirs.imported);
            join(&mut ours.imported, &theirs.exported);
            for (key, time) in theirs.own_available.iter() {
                for own in self.own_levels(key.class()) {
                    for (first, end) in &sharing[key.level() as usize] {
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

    /// The effect of an acquire fence on what is pending.
    fn acquire_pending(&self, agent: AgentId, facts: &mut Facts, pending: &Pending, operation: &Operation) {
        for (class, heads) in &pending.heads {
            if operation.semantics.classes.contains(*class) {
                for release in heads.iter() {
                    self.join(agent, facts, release, operation);
                }
            }
        }
        for release in &pending.barriers {
            self.join(agent, facts, release, operation);
        }
    }

    fn groups(&self, members: &[AgentId]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for agent in members {
            let stored = self.stored(*agent);
            let fits = |group: &&mut Group| {
                stored.shared_with(&group.state, &self.start)
                    && self.topology.same(group.agents[0], *agent, 0)
            };
            match groups.iter_mut().rev().find(fits) {
                Some(group) => group.agents.push(*agent),
                None => groups.push(Group {
                    agents: SmallVec::from_slice(&[*agent]),
                    state: self.state(*agent),
                    records: Vec::new(),
                }),
            }
        }
        groups
    }

    fn adopt(&mut self, groups: Vec<Group>) {
        for group in groups {
            for agent in group.agents {
                let State { facts, pending, time } = group.state.clone();
                if let Some(stored) = self.state_mut(agent) {
                    *stored = Stored { facts: Some(facts), pending, time };
                }
            }
        }
    }

    /// A memory barrier by each of `members` (ascending).
    pub fn fence(&mut self, members: &[AgentId], operation: &Operation) {
        self.note_semantics(operation.semantics.classes);
        if !operation.synchronises() {
            return;
        }
        let mut groups = self.groups(members);
        for group in &mut groups {
            let agent = group.agents[0];
            let mut facts = (*group.state.facts).clone();
            let mut pending = group.state.pending.as_deref().cloned().unwrap_or_default();
            let time = group.state.time;
            if operation.semantics.acquire {
                self.acquire_pending(agent, &mut facts, &pending, operation);
            }
            if operation.semantics.make_available {
                self.make_available(agent, &mut facts, time, operation);
            }
            let mut facts = Arc::new(facts);
            if operation.semantics.release
                && let Some(level) = operation.level
            {
                pending.fence(Release {
                    level,
                    classes: operation.semantics.classes,
                    agents: AgentSet::new(),
                    time,
                    facts: facts.clone(),
                    site: operation.site,
                });
            }
            if operation.semantics.make_visible {
                self.make_visible(agent, Arc::make_mut(&mut facts), time, operation);
            }
            let pending = if pending.is_empty() { None } else { Some(Arc::new(pending)) };
            group.state = State { facts, pending, time: time + 1 };
        }
        self.adopt(groups);
    }

    /// One dynamic instance of a control barrier by `members` (ascending), whose execution scope has the level `execution`.
    pub fn barrier(&mut self, members: &[AgentId], execution: Level, operation: &Operation) {
        self.note_semantics(operation.semantics.classes);
        let semantics = &operation.semantics;
        let mut groups = self.groups(members);
        let time = groups.iter().map(|group| group.state.time).max().unwrap_or(1);
        for group in &mut groups {
            if semantics.make_available {
                let facts = Arc::make_mut(&mut group.state.facts);
                self.make_available(group.agents[0], facts, time, operation);
            }
        }
        share_equal_facts(&mut groups);
        let mut sent: Vec<Release> = Vec::new();
        for group in &mut groups {
            let mut records: Vec<Release> =
                group.state.pending.iter().flat_map(|pending| pending.fences.iter().cloned()).collect();
            if semantics.release
                && let Some(level) = operation.level
            {
                let own = Release {
                    level,
                    classes: semantics.classes,
                    agents: AgentSet::new(),
                    time,
                    facts: group.state.facts.clone(),
                    site: operation.site,
                };
                records.retain(|fence| !(fence.level == level && fence.classes == semantics.classes));
                records.push(own.clone());
                group.records.push(own);
            }
            let set = group.set();
            for mut record in records {
                let alike = |other: &&mut Release| {
                    other.level == record.level
                        && other.classes == record.classes
                        && other.time == record.time
                        && Arc::ptr_eq(&other.facts, &record.facts)
                };
                match sent.iter_mut().find(alike) {
                    Some(other) => {
                        set.iter().for_each(|(first, end)| extend(&mut other.agents, *first, *end))
                    }
                    None => {
                        record.agents = set.clone();
                        sent.push(record);
                    }
                }
            }
        }
        for release in &mut sent {
            release.agents.sort_unstable();
        }
        for group in &mut groups {
            let agent = group.agents[0];
            let mut pending = group.state.pending.as_deref().cloned().unwrap_or_default();
            let facts = Arc::make_mut(&mut group.state.facts);
            if semantics.acquire {
                for release in &sent {
                    self.join(agent, facts, release, operation);
                }
                self.acquire_pending(agent, facts, &pending, operation);
            }
            for release in &sent {
                let taken_in = semantics.acquire
                    && semantics.classes.contains(release.classes)
                    && operation.level.is_some_and(|level| level >= release.level || level >= execution);
                let only_own = group.agents.len() == 1 && release.agents[..] == [(agent, agent + 1)];
                if !taken_in && !only_own {
                    pending.delivered(release);
                }
            }
            for own in group.records.drain(..) {
                pending.fence(own);
            }
            if semantics.make_visible {
                self.make_visible(agent, facts, time, operation);
            }
            group.state.time = time + 1;
            group.state.pending = if pending.is_empty() { None } else { Some(Arc::new(pending)) };
        }
        share_equal_facts(&mut groups);
        share_equal_pending(&mut groups);
        self.adopt(groups);
    }

    /// Begins an atomic access: what the agent did before is set apart from the access itself.
    pub fn begin_atomic(&mut self, agent: AgentId, operation: &Operation) {
        self.note_semantics(operation.semantics.classes);
        if operation.synchronises()
            && let Some(state) = self.state_mut(agent)
        {
            state.time += 1;
        }
    }

    /// What `agent` would know after an atomic read of a mutually ordered write with these heads.
    pub fn after_reading(&self, agent: AgentId, operation: &Operation, heads: &Heads) -> Arc<Facts> {
        let known = self.facts(agent);
        if heads.is_empty() || !operation.semantics.acquire {
            return known.clone();
        }
        let mut facts = (**known).clone();
        for release in heads.iter() {
            self.join(agent, &mut facts, release, operation);
        }
        if facts == **known { known.clone() } else { Arc::new(facts) }
    }

    /// `agent` reads, atomically, a mutually ordered write with these heads; `facts` come from [`Agents::after_reading`].
    pub fn read_atomic(&mut self, agent: AgentId, operation: &Operation, heads: &Heads, facts: Arc<Facts>) {
        let Some(state) = self.state_mut(agent) else { return };
        state.facts = Some(facts);
        if !heads.is_empty() {
            let mut pending = state.pending.as_deref().cloned().unwrap_or_default();
            pending.read(operation.class, heads);
            state.pending = Some(Arc::new(pending));
        }
    }

    /// The availability operation of an atomic, before its access.
    pub fn make_available_before(&mut self, agent: AgentId, operation: &Operation) {
        if operation.semantics.make_available {
            let mut facts = (**self.facts(agent)).clone();
            self.make_available(agent, &mut facts, self.time(agent), operation);
            if let Some(state) = self.state_mut(agent) {
                state.facts = Some(Arc::new(facts));
            }
        }
    }

    /// The heads of an atomic write: those of its immediate predecessors (for a read-modify-write), pending release fences that name its
    /// class, and the write itself if it releases.
    pub fn write_heads(&mut self, agent: AgentId, operation: &Operation, predecessors: &[Heads]) -> Heads {
        let mut heads = predecessors.first().cloned().unwrap_or_default();
        for other in predecessors.iter().skip(1) {
            for release in other.iter() {
                heads.push(release.clone());
            }
        }
        let state = self.stored(agent);
        let own = AgentSet::from_slice(&[(agent, agent + 1)]);
        if let Some(pending) = &state.pending {
            for fence in pending.fences.iter().filter(|fence| fence.classes.contains(operation.class)) {
                heads.push(Release { agents: own.clone(), ..fence.clone() });
            }
        }
        if operation.semantics.release
            && let Some(level) = operation.level
        {
            heads.push(Release {
                level,
                classes: operation.semantics.classes,
                agents: own,
                time: state.time,
                facts: self.facts(agent).clone(),
                site: operation.site,
            });
        }
        heads
    }

    /// Ends an atomic access: its visibility operation, and a new time.
    pub fn end_atomic(&mut self, agent: AgentId, operation: &Operation) {
        if !operation.synchronises() {
            return;
        }
        let time = self.time(agent);
        let facts = operation.semantics.make_visible.then(|| {
            let mut facts = (**self.facts(agent)).clone();
            self.make_visible(agent, &mut facts, time - 1, operation);
            Arc::new(facts)
        });
        if let Some(state) = self.state_mut(agent) {
            state.time += 1;
            if facts.is_some() {
                state.facts = facts;
            }
        }
    }
}

fn share_equal_facts(groups: &mut [Group]) {
    for index in 1..groups.len() {
        let (earlier, rest) = groups.split_at_mut(index);
        let own = &mut rest[0].state.facts;
        // Comparing with the first and the previous group finds the usual case, all alike, in linear time.
        for other in [&earlier[0], &earlier[index - 1]] {
            if Arc::ptr_eq(&other.state.facts, own) || other.state.facts == *own {
                *own = other.state.facts.clone();
                break;
            }
        }
    }
}

fn share_equal_pending(groups: &mut [Group]) {
    for index in 1..groups.len() {
        let (earlier, rest) = groups.split_at_mut(index);
        let own = &mut rest[0].state.pending;
        for other in [&earlier[0], &earlier[index - 1]] {
            if let (Some(a), Some(b)) = (&other.state.pending, &*own)
                && a.same(b)
            {
                *own = other.state.pending.clone();
                break;
            }
        }
    }
}
