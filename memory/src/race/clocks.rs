//! What one agent knows: clocks per storage-class mask, and synchronisation that is not yet taken in.
//!
//! Everything about the agent's own operations is kept relative to the agent (a time, not a clock), so
//! agents of one workgroup that passed the same barrier have equal clocks and share one copy.

use super::agents::Operation;
use super::release_sequence::ReleaseSequence;
use super::topology::{AgentId, Level};
use super::vector_clock::{Time, VectorClock};
use crate::access::Site;
use crate::scope::StorageClasses;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Storage class index 0 to 3, instance level 0 to 3, and the level of a write's own per-instruction
/// availability, -1 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u8);

impl Key {
    pub(super) fn new(class: u8, level: Level, own: i8) -> Key {
        Key(class << 5 | level << 3 | (own + 1) as u8)
    }

    /// For what does not depend on the write's own availability.
    pub(super) fn any(class: u8, level: Level) -> Key {
        Key::new(class, level, -1)
    }

    pub(super) fn class(self) -> u8 {
        self.0 >> 5
    }

    pub(super) fn level(self) -> Level {
        self.0 >> 3 & 3
    }

    pub(super) fn with_own(self, own: i8) -> Key {
        Key::new(self.class(), self.level(), own)
    }
}

/// Vector clocks by key; absent keys are empty ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Keyed(SmallVec<[(Key, VectorClock); 4]>);

impl Keyed {
    pub(super) fn get(&self, key: Key) -> Option<&VectorClock> {
        self.0.iter().find(|(k, _)| *k == key).map(|(_, clock)| clock)
    }

    fn slot(&mut self, key: Key) -> &mut VectorClock {
        let index = self.0.partition_point(|(k, _)| *k < key);
        if self.0.get(index).is_none_or(|(k, _)| *k != key) {
            self.0.insert(index, (key, VectorClock::default()));
        }
        &mut self.0[index].1
    }

    pub(super) fn join(&mut self, key: Key, clock: &VectorClock) {
        if !clock.is_empty() {
            self.slot(key).join(clock);
        }
    }

    pub(super) fn join_range(&mut self, key: Key, agents: Range<AgentId>, time: Time) {
        if time != 0 && !agents.is_empty() {
            self.slot(key).join_range(agents, time);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, &VectorClock)> {
        self.0.iter().map(|(key, clock)| (*key, clock))
    }
}

/// Times of the agent itself by key; absent keys are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OwnTimes(SmallVec<[(Key, Time); 4]>);

impl OwnTimes {
    pub(super) fn get(&self, key: Key) -> Time {
        self.0.iter().find(|(k, _)| *k == key).map_or(0, |(_, time)| *time)
    }

    pub(super) fn raise(&mut self, key: Key, time: Time) {
        if time == 0 {
            return;
        }
        let index = self.0.partition_point(|(k, _)| *k < key);
        match self.0.get_mut(index) {
            Some((k, known)) if *k == key => *known = time.max(*known),
            _ => self.0.insert(index, (key, time)),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, Time)> {
        self.0.iter().copied()
    }
}

/// What is known through chains of happens-before whose operations all have one set of storage classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MaskClocks {
    /// Operations that inter-thread-happen-before the next member operation.
    pub before: VectorClock,
    /// Non-private writes available in this agent's instance of the key's level, through an operation that
    /// happens before.
    pub available: Keyed,
    /// Writes that visibility chains imported into this agent's instance of the key's level.
    pub imported: Keyed,
    /// Writes of others that this agent itself made available.
    pub made_available: Keyed,
    /// Those of its own writes that this agent itself made available.
    pub own_available: OwnTimes,
    /// Writes of others that this agent itself made visible in its instance of the key's level.
    pub exported: Keyed,
    /// Those of its own writes that this agent itself made visible in its instance of the key's level.
    pub own_exported: OwnTimes,
}

/// All that an agent knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clocks {
    pub(super) masks: SmallVec<[MaskClocks; 1]>,
    /// What this agent itself made available and visible, whatever the mask; as in [`MaskClocks`].
    pub(super) made_available: Keyed,
    pub(super) own_available: OwnTimes,
    pub(super) exported: Keyed,
    pub(super) own_exported: OwnTimes,
    /// What past visibility operations of this agent made visible to it, by class and the write's own
    /// level.
    pub(super) visible: Keyed,
}

/// What a release publishes: the clocks of the agents that released together, at that moment.
#[derive(Clone, Debug)]
pub struct Release {
    /// Level of the memory scope.
    pub(super) level: Level,
    /// Storage classes of the semantics.
    pub(super) classes: StorageClasses,
    /// The agents that release together.
    pub(super) agents: AgentRanges,
    /// Their time: everything up to it is covered.
    pub(super) time: Time,
    pub(super) clocks: Arc<Clocks>,
    /// The releasing instruction, for explanations.
    pub(super) site: Site,
}

impl Release {
    /// The instruction that releases.
    pub fn site(&self) -> Site {
        self.site
    }

    /// Whether this one says everything that `other` does.
    pub(super) fn replaces(&self, other: &Release) -> bool {
        self.level == other.level
            && self.classes == other.classes
            && self.agents == other.agents
            && self.time >= other.time
    }
}

/// A set of agents, as ascending ranges.
pub(super) type AgentRanges = SmallVec<[(AgentId, AgentId); 1]>;

/// The members of a set within a range.
pub(super) fn intersect(agents: &AgentRanges, range: &Range<AgentId>) -> AgentRanges {
    agents
        .iter()
        .map(|(first, end)| ((*first).max(range.start), (*end).min(range.end)))
        .filter(|(first, end)| first < end)
        .collect()
}

/// Adds a range that is not before the last one.
pub(super) fn extend(agents: &mut AgentRanges, first: AgentId, end: AgentId) {
    match agents.last_mut() {
        Some(last) if last.1 == first => last.1 = end,
        _ => agents.push((first, end)),
    }
}

/// Synchronisation that an agent has started and not taken in.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    /// Release fences, for the atomic writes and control barriers that follow; one per (level, classes).
    pub(super) fences: SmallVec<[Release; 2]>,
    /// Of the writes that atomic reads have met, with the atomic's class, for the acquire fences that follow.
    pub(super) release_sequences: Vec<(StorageClasses, ReleaseSequence)>,
    /// Releases that control barriers delivered.
    pub(super) barriers: Vec<Release>,
}

impl Pending {
    pub(super) fn fence(&mut self, release: Release) {
        self.fences.retain(|fence| !(fence.level == release.level && fence.classes == release.classes));
        self.fences.push(release);
    }

    /// Of the write that an atomic read has met; `taken_in`: nobody can take in more of it than the read did.
    pub(super) fn read(&mut self, class: StorageClasses, release_sequence: &ReleaseSequence, taken_in: bool) {
        if taken_in {
            return self.release_sequences.retain(|(_, known)| !release_sequence.ends_with(known));
        }
        if release_sequence.is_empty()
            || self
                .release_sequences
                .iter()
                .any(|(c, known)| *c == class && known.ends_with(release_sequence))
        {
            return;
        }
        self.release_sequences.retain(|(c, known)| !(*c == class && release_sequence.ends_with(known)));
        self.release_sequences.push((class, release_sequence.clone()));
    }

    /// Forgets what nobody can take in more of than an acquire of these semantics has just done. Returns all
    /// lists that it took in.
    pub(super) fn acquired(&mut self, operation: &Operation) -> Vec<ReleaseSequence> {
        let classes = operation.semantics.classes;
        let taken_in = self.release_sequences.iter().filter(|(class, _)| classes.contains(*class));
        let taken_in = taken_in.map(|(_, release_sequence)| release_sequence.clone()).collect();
        self.release_sequences.retain(|(class, release_sequence)| {
            !(classes.contains(*class) && release_sequence.exhausted_by(operation))
        });
        self.barriers.retain(|known| !classes.contains(known.classes) || operation.level < Some(known.level));
        taken_in
    }

    pub(super) fn delivered(&mut self, release: &Release) {
        if self.barriers.iter().any(|known| known.replaces(release)) {
            return;
        }
        self.barriers.retain(|known| !release.replaces(known));
        self.barriers.push(release.clone());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fences.is_empty() && self.release_sequences.is_empty() && self.barriers.is_empty()
    }
}

impl Pending {
    /// Whether the two say the same, by the identity of what they share.
    pub(super) fn same(&self, other: &Pending) -> bool {
        self.same_by(other, Arc::ptr_eq)
    }

    /// Whether the two say the same, copies or not.
    #[cfg(debug_assertions)]
    pub(super) fn says(&self, other: &Pending) -> bool {
        self.same_by(other, |own, other| own == other)
    }

    fn same_by(&self, other: &Pending, clocks: impl Fn(&Arc<Clocks>, &Arc<Clocks>) -> bool) -> bool {
        let release = |own: &Release, other: &Release| {
            own.level == other.level
                && own.classes == other.classes
                && own.agents == other.agents
                && own.time == other.time
                && clocks(&own.clocks, &other.clocks)
        };
        let releases =
            |a: &[Release], b: &[Release]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| release(a, b));
        releases(&self.fences, &other.fences)
            && releases(&self.barriers, &other.barriers)
            && self.release_sequences.len() == other.release_sequences.len()
            && self.release_sequences.iter().zip(&other.release_sequences).all(|((c, a), (d, b))| {
                c == d
                    && match (&a.0, &b.0) {
                        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                        (None, None) => true,
                        _ => false,
                    }
            })
    }
}
