//! Fences, control barriers and atomics: how they change what agents know.
//!
//! Operations that several agents execute together (the lanes of a subgroup, the members of a barrier) are
//! computed once for all agents whose state is one shared copy.

use super::agents::{Agents, Operation};
use super::blocks::{Deferred, Stored, WholeBarrier};
use super::clocks::{AgentRanges, Clocks, Pending, Release, extend};
use super::release_sequence::ReleaseSequence;
use super::topology::{AgentId, Level};
use super::vector_clock::Time;
use smallvec::SmallVec;
use std::sync::Arc;

/// Like barriers in a row that say what more of the same would, whatever memory barriers are around them:
/// what one delivers the next one takes in and passes on, by one level of scope at a time.
const SAYS_ALL: u32 = 5;

struct State {
    clocks: Arc<Clocks>,
    pending: Option<Arc<Pending>>,
    time: Time,
}

/// Agents that execute one dynamic instance of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Tangle<'a> {
    /// These, ascending.
    Listed(&'a [AgentId]),
    /// All of this workgroup.
    Workgroup(u32),
}

/// Agents of one subgroup that have one state.
struct Group {
    agents: AgentRanges,
    was: Stored,
    state: State,
    records: Vec<Release>,
    /// The release sequences that they have just taken in.
    taken_in: Vec<ReleaseSequence>,
}

impl Group {
    /// Who stands for all of them.
    fn first(&self) -> AgentId {
        self.agents.first().map_or(0, |(first, _)| *first)
    }
}

impl Agents {
    /// The groups of a tangle; the clocks of its agents become complete.
    fn groups(&mut self, tangle: Tangle<'_>) -> Vec<Group> {
        match tangle {
            Tangle::Listed(agents) => {
                agents.iter().for_each(|agent| self.complete(*agent));
                self.groups_of(agents.iter().copied())
            }
            Tangle::Workgroup(block) => {
                let agents = self.blocks.agents(block);
                self.complete(agents.start);
                if self.blocks.alike(block).is_none() {
                    return self.groups_of(agents);
                }
                let next = |agent: &AgentId| {
                    Some(self.topology().range(*agent, 0).end).filter(|next| *next < agents.end)
                };
                let firsts = std::iter::successors(Some(agents.start), next);
                firsts.map(|first| self.group(first, self.topology().range(first, 0).end)).collect()
            }
        }
    }

    fn groups_of(&self, agents: impl Iterator<Item = AgentId>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for agent in agents {
            let stored = self.blocks.get(agent);
            let fits =
                |group: &&mut Group| group.was.is(stored) && self.topology().same(group.first(), agent, 0);
            match groups.iter_mut().rev().find(fits) {
                Some(group) => extend(&mut group.agents, agent, agent + 1),
                None => groups.push(self.group(agent, agent + 1)),
            }
        }
        groups
    }

    /// The agents from `first` to the one before `end`, which have one state.
    fn group(&self, first: AgentId, end: AgentId) -> Group {
        let stored = self.blocks.get(first);
        Group {
            agents: AgentRanges::from_slice(&[(first, end)]),
            was: stored.clone(),
            state: State {
                clocks: self.clocks(first).clone(),
                pending: stored.pending.clone(),
                time: stored.time,
            },
            records: Vec::new(),
            taken_in: Vec::new(),
        }
    }

    fn adopt(&mut self, groups: Vec<Group>, tangle: Tangle<'_>, operation: &Operation) {
        let states = groups.into_iter().map(
            |Group { agents, state: State { clocks, pending, time }, taken_in, .. }| {
                (agents, Stored { clocks: Some(clocks), pending, time }, taken_in)
            },
        );
        let states: SmallVec<[_; 2]> = states.collect();
        for (agents, _, taken_in) in &states {
            for release_sequence in taken_in {
                for agent in agents.iter().flat_map(|(first, end)| *first..*end) {
                    self.taken_in.note(self.blocks.block(agent), agent, release_sequence, operation);
                }
            }
        }
        if let (Tangle::Workgroup(block), [(_, first, _), rest @ ..]) = (tangle, &states[..])
            && rest.iter().all(|(_, state, _)| state.is(first))
        {
            return self.blocks.set(block, first.clone());
        }
        for (agents, state, _) in states {
            for agent in agents.iter().flat_map(|(first, end)| *first..*end) {
                if let Some(stored) = self.blocks.get_mut(agent) {
                    stored.clone_from(&state);
                }
            }
        }
    }

    /// A memory barrier by each agent of a tangle.
    pub fn fence(&mut self, tangle: Tangle<'_>, operation: &Operation) {
        self.note_semantics(operation.semantics.classes);
        if !operation.synchronises() {
            return;
        }
        let mut groups = self.groups(tangle);
        let mut released: Option<Arc<Clocks>> = None;
        for group in &mut groups {
            let agent = group.first();
            let mut clocks = (*group.state.clocks).clone();
            let mut pending = group.state.pending.as_deref().cloned().unwrap_or_default();
            let time = group.state.time;
            if operation.semantics.acquire {
                group.taken_in = self.acquire_pending(agent, &mut clocks, &mut pending, operation);
            }
            if operation.semantics.make_available {
                self.make_available(agent, &mut clocks, time, operation);
            }
            let mut clocks = Arc::new(clocks);
            if operation.semantics.release
                && let Some(level) = operation.level
            {
                if let Some(before) = released.filter(|before| **before == *clocks) {
                    clocks = before;
                }
                released = Some(clocks.clone());
                pending.fence(Release {
                    level,
                    classes: operation.semantics.classes,
                    agents: AgentRanges::new(),
                    time,
                    clocks: clocks.clone(),
                    site: operation.site,
                });
            }
            if operation.semantics.make_visible {
                self.make_visible(agent, Arc::make_mut(&mut clocks), time, operation);
            }
            let pending = if pending.is_empty() { None } else { Some(Arc::new(pending)) };
            group.state = State { clocks, pending, time: time + 1 };
        }
        share_equal_clocks(&mut groups);
        share_equal_pending(&mut groups);
        self.adopt(groups, tangle, operation);
    }

    /// One dynamic instance of a control barrier by all agents of workgroup `block`, and the memory barriers
    /// around it. Returns whether it could be done once for all of them; if not, nothing has happened.
    pub fn whole_barrier(&mut self, block: u32, barrier: &WholeBarrier) -> bool {
        // Of others in a row no number says what more would.
        if !barrier.is_full() {
            return false;
        }
        barrier.operations().for_each(|operation| self.note_semantics(operation.semantics.classes));
        let Some((stored, deferred)) = self.blocks.alike(block) else { return false };
        let count = match deferred {
            Some(earlier) if earlier.barrier.is_like(barrier) => earlier.count + 1,
            Some(_) => {
                self.complete_block(block);
                return self.whole_barrier(block, barrier);
            }
            None if barrier.is_local() && stored.pending.is_some() => return false,
            None => 1,
        };
        stored.time += barrier.times();
        *deferred = Some(Deferred { barrier: barrier.clone(), count });
        if !self.defers {
            self.complete_block(block);
        }
        true
    }

    /// Has the clocks of an agent tell of all barriers that it has passed. To be called before anything looks
    /// at them.
    #[inline]
    pub fn complete(&mut self, agent: AgentId) {
        if !self.blocks.complete(agent) {
            self.complete_block(self.blocks.block(agent));
        }
    }

    #[inline(never)]
    fn complete_block(&mut self, block: u32) {
        let Some((stored, deferred)) = self.blocks.alike(block) else { return };
        let Some(passed) = deferred.take() else { return };
        if !passed.barrier.is_local() {
            return self.complete_in_steps(block, &passed);
        }
        let Deferred { barrier: WholeBarrier { operation, .. }, count } = passed;
        let after = stored.time;
        let known = stored.clocks.take();
        let mut clocks = known.unwrap_or_else(|| self.start());
        // What the second of two like barriers adds to what the first one did, all later ones add: only times
        // advance.
        #[cfg(debug_assertions)]
        let one_by_one = {
            let mut clocks = clocks.clone();
            (1..=count)
                .rev()
                .for_each(|k| self.pass(block, Arc::make_mut(&mut clocks), after - k, &operation));
            clocks
        };
        for k in (1..=count.min(2)).rev() {
            self.pass(block, Arc::make_mut(&mut clocks), after - k, &operation);
        }
        #[cfg(debug_assertions)]
        assert!(clocks == one_by_one, "two barriers say what {count} do: {clocks:?}\n{one_by_one:?}");
        if let Some((stored, _)) = self.blocks.alike(block) {
            stored.clocks = Some(clocks);
        }
    }

    /// Barriers with memory barriers around them, or of wider scope: the times have passed.
    fn complete_in_steps(&mut self, block: u32, passed: &Deferred) {
        let steps = passed.count.min(SAYS_ALL);
        #[cfg(debug_assertions)]
        let one_by_one = {
            let mut all = self.clone();
            all.pass_last(block, &passed.barrier, passed.count);
            all
        };
        self.pass_last(block, &passed.barrier, steps);
        #[cfg(debug_assertions)]
        for agent in self.blocks.agents(block) {
            let (all, last) = (one_by_one.blocks.get(agent), self.blocks.get(agent));
            assert!(all.says(last), "the last {steps} barriers say what {} do", passed.count);
        }
    }

    /// The last `count` of these barriers.
    fn pass_last(&mut self, block: u32, barrier: &WholeBarrier, count: u32) {
        if let Some((stored, _)) = self.blocks.alike(block) {
            stored.time -= count * barrier.times();
        }
        (0..count).for_each(|_| self.pass_all(block, barrier));
    }

    /// One dynamic instance of a control barrier by all agents of workgroup `block`, and the memory barriers
    /// around it.
    pub fn pass_all(&mut self, block: u32, barrier: &WholeBarrier) {
        let tangle = Tangle::Workgroup(block);
        barrier.before.iter().for_each(|fence| self.fence(tangle, fence));
        self.barrier(tangle, 1, &barrier.operation);
        barrier.behind.iter().for_each(|fence| self.fence(tangle, fence));
    }

    /// What a full barrier of workgroup `block` at `time` adds to the clocks of its agents.
    fn pass(&self, block: u32, clocks: &mut Clocks, time: Time, operation: &Operation) {
        let agents = self.blocks.agents(block);
        let agent = agents.start;
        self.make_own_available(clocks, time, operation);
        let release = Release {
            level: 1,
            classes: operation.semantics.classes,
            agents: AgentRanges::from_slice(&[(agents.start, agents.end)]),
            time,
            clocks: Arc::new(clocks.clone()),
            site: operation.site,
        };
        self.join(agent, clocks, &release, operation);
        self.make_visible(agent, clocks, time, operation);
    }

    /// One dynamic instance of a control barrier by a tangle, whose execution scope has the level
    /// `execution`.
    pub fn barrier(&mut self, tangle: Tangle<'_>, execution: Level, operation: &Operation) {
        self.note_semantics(operation.semantics.classes);
        let semantics = &operation.semantics;
        let (first, count) = match tangle {
            Tangle::Listed([]) => return,
            Tangle::Listed(agents) => (agents[0], agents.len()),
            Tangle::Workgroup(block) => (self.blocks.agents(block).start, self.blocks.agents(block).len()),
        };
        let whole = self.topology().range(first, execution).len() == count;
        let mut groups = self.groups(tangle);
        let time = groups.iter().map(|group| group.state.time).max().unwrap_or(1);
        for group in &mut groups {
            if semantics.make_available {
                let agent = group.first();
                let clocks = Arc::make_mut(&mut group.state.clocks);
                self.make_available(agent, clocks, time, operation);
            }
        }
        share_equal_clocks(&mut groups);
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
                    agents: AgentRanges::new(),
                    time,
                    clocks: group.state.clocks.clone(),
                    site: operation.site,
                };
                records.retain(|fence| !(fence.level == level && fence.classes == semantics.classes));
                records.push(own.clone());
                group.records.push(own);
            }
            let set = &group.agents;
            for mut record in records {
                let alike = |other: &&mut Release| {
                    other.level == record.level
                        && other.classes == record.classes
                        && other.time == record.time
                        && Arc::ptr_eq(&other.clocks, &record.clocks)
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
            let agent = group.first();
            let mut pending = group.state.pending.as_deref().cloned().unwrap_or_default();
            let clocks = Arc::make_mut(&mut group.state.clocks);
            if semantics.acquire {
                for release in &sent {
                    self.join(agent, clocks, release, operation);
                }
                group.taken_in = self.acquire_pending(agent, clocks, &mut pending, operation);
            }
            for release in &sent {
                let taken_in = semantics.acquire
                    && semantics.classes.contains(release.classes)
                    && operation.level.is_some_and(|level| level >= release.level || level >= execution);
                let only_own = release.agents == group.agents && release.agents[..] == [(agent, agent + 1)];
                if !taken_in && !only_own {
                    pending.delivered(release);
                }
            }
            // A release that reaches no further than those who have just taken it in orders nothing more.
            let done = |release: &Release| {
                whole
                    && semantics.acquire
                    && release.level <= execution
                    && semantics.classes.contains(release.classes)
                    && operation.level.is_some_and(|level| level >= release.level || level >= execution)
            };
            for own in group.records.drain(..) {
                pending.fence(own);
            }
            pending.fences.retain(|fence| !done(fence));
            if semantics.make_visible {
                self.make_visible(agent, clocks, time, operation);
            }
            group.state.time = time + 1;
            group.state.pending = if pending.is_empty() { None } else { Some(Arc::new(pending)) };
        }
        share_equal_clocks(&mut groups);
        share_equal_pending(&mut groups);
        self.adopt(groups, tangle, operation);
        if whole {
            self.blocks.settle(self.blocks.block(first));
        }
    }

    /// Begins an atomic access: what the agent did before is set apart from the access itself.
    pub fn begin_atomic(&mut self, agent: AgentId, operation: &Operation) {
        self.note_semantics(operation.semantics.classes);
        self.complete(agent);
        if operation.synchronises()
            && let Some(state) = self.blocks.get_mut(agent)
        {
            state.time += 1;
        }
    }

    /// What `agent` would know after an atomic read of a mutually ordered write of this release sequence.
    pub fn after_reading(
        &self,
        agent: AgentId,
        operation: &Operation,
        release_sequence: &ReleaseSequence,
    ) -> Arc<Clocks> {
        let known = self.clocks(agent);
        if release_sequence.is_empty() || !operation.semantics.acquire {
            return known.clone();
        }
        let mut clocks = (**known).clone();
        self.join_release_sequence(agent, &mut clocks, release_sequence, operation);
        if clocks == **known { known.clone() } else { Arc::new(clocks) }
    }

    /// `agent` reads, atomically, a mutually ordered write of this release sequence; `clocks` come from
    /// [`Agents::after_reading`].
    pub fn read_atomic(
        &mut self,
        agent: AgentId,
        operation: &Operation,
        release_sequence: &ReleaseSequence,
        clocks: Arc<Clocks>,
    ) {
        let Some(state) = self.blocks.get_mut(agent) else { return };
        state.clocks = Some(clocks);
        if release_sequence.is_empty() {
            return;
        }
        let acquires = operation.semantics.acquire;
        let taken_in = acquires && release_sequence.exhausted_by(operation);
        if !taken_in || state.pending.is_some() {
            let mut pending = state.pending.as_deref().cloned().unwrap_or_default();
            pending.read(operation.class, release_sequence, taken_in);
            state.pending = if pending.is_empty() { None } else { Some(Arc::new(pending)) };
        }
        if acquires {
            self.taken_in.note(self.blocks.block(agent), agent, release_sequence, operation);
        }
    }

    /// The availability operation of an atomic, before its access.
    pub fn make_available_before(&mut self, agent: AgentId, operation: &Operation) {
        if operation.semantics.make_available {
            let mut clocks = (**self.clocks(agent)).clone();
            self.make_available(agent, &mut clocks, self.time(agent), operation);
            if let Some(state) = self.blocks.get_mut(agent) {
                state.clocks = Some(Arc::new(clocks));
            }
        }
    }

    /// The release sequence of an atomic write: those of its immediate predecessors (for a
    /// read-modify-write), pending release fences that name its class, and the write itself if it releases.
    pub fn release_sequence_of_write(
        &mut self,
        agent: AgentId,
        operation: &Operation,
        predecessors: &[ReleaseSequence],
    ) -> ReleaseSequence {
        let mut release_sequence = predecessors.first().cloned().unwrap_or_default();
        for other in predecessors.iter().skip(1) {
            for node in other.nodes() {
                release_sequence.push(node.release.clone(), node.sequence, false);
            }
        }
        let own = AgentRanges::from_slice(&[(agent, agent + 1)]);
        let pending = self.blocks.get(agent).pending.clone();
        if let Some(pending) = &pending {
            for fence in pending.fences.iter().filter(|fence| fence.classes.contains(operation.class)) {
                let sequence = self.publish(agent);
                release_sequence.push(Release { agents: own.clone(), ..fence.clone() }, sequence, false);
            }
        }
        let semantics = &operation.semantics;
        if semantics.release
            && let Some(level) = operation.level
        {
            let release = Release {
                level,
                classes: semantics.classes,
                agents: own,
                time: self.blocks.get(agent).time,
                clocks: self.clocks(agent).clone(),
                site: operation.site,
            };
            let caught_up = match predecessors {
                [ReleaseSequence(Some(only))] => {
                    let like = only.release.classes == semantics.classes && only.release.level == level;
                    only.uniform && like && self.has_taken_in(agent, only, operation)
                }
                _ => false,
            };
            let sequence = self.publish(agent);
            release_sequence.push(release, sequence, caught_up);
        }
        self.shorten(&mut release_sequence);
        release_sequence
    }

    /// Ends an atomic access: its visibility operation, and a new time.
    pub fn end_atomic(&mut self, agent: AgentId, operation: &Operation) {
        if !operation.synchronises() {
            return;
        }
        let time = self.time(agent);
        let clocks = operation.semantics.make_visible.then(|| {
            let mut clocks = (**self.clocks(agent)).clone();
            self.make_visible(agent, &mut clocks, time - 1, operation);
            Arc::new(clocks)
        });
        if let Some(state) = self.blocks.get_mut(agent) {
            state.time += 1;
            if clocks.is_some() {
                state.clocks = clocks;
            }
        }
    }
}

impl Agents {
    /// What the agent does from now on is later than what it did, though nothing was released.
    pub fn tick(&mut self, agent: AgentId) {
        if let Some(state) = self.blocks.get_mut(agent) {
            state.time += 1;
        }
    }
}

fn share_equal_clocks(groups: &mut [Group]) {
    for index in 1..groups.len() {
        let (earlier, rest) = groups.split_at_mut(index);
        let own = &mut rest[0].state.clocks;
        // Comparing with the first and the previous group finds the usual case, all alike, in linear time.
        for other in [&earlier[0], &earlier[index - 1]] {
            if Arc::ptr_eq(&other.state.clocks, own) || other.state.clocks == *own {
                *own = other.state.clocks.clone();
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
