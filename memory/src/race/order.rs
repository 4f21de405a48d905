//! Whether an earlier access is location-ordered before a later one (Vulkan memory model,
//! *Location-Ordered*), decided from what the later one's agent knows.

use super::agents::{Agents, Operation, class_index, member};
use super::clocks::{Clocks, Key};
use super::release_sequence::ReleaseSequence;
use super::topology::{AgentId, Level, Topology};
use super::vector_clock::Time;
use crate::access::{AccessFlags, ShaderRead, Site};
use crate::model::ReadModifyWrite;
use crate::scope::{Semantics, StorageClasses};

/// What is the same for all executions of one access: by whom and where is in [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StaticAccess {
    /// The instruction that makes it.
    pub site: Site,
    /// Of the location: one bit.
    pub class: StorageClasses,
    /// The variable, descriptor or address through which it goes ([`crate::access::Reference`]).
    pub reference: u32,
    /// The same as findings name it: of workgroup variables that share one reference, which one.
    pub variable: u32,
    /// Loads, and read-modify-writes.
    pub read: bool,
    /// Stores, and read-modify-writes.
    pub write: bool,
    /// By an atomic instruction.
    pub atomic: bool,
    /// It is non-private (also where that is implied).
    pub non_private: bool,
    /// It has a per-instruction availability operation (also where that is implied).
    pub available: bool,
    /// It has a per-instruction visibility operation (also where that is implied).
    pub visible: bool,
    /// Level of the scope of the atomic, or of the availability or visibility operation.
    pub level: Option<Level>,
    /// Memory semantics of an atomic.
    pub semantics: Semantics,
    /// Bytes that the access covers together; distinguishes atomics of different widths.
    pub size: u8,
    /// What a read goes through. Accesses to one descriptor may differ in it
    /// (VK_EXT_mutable_descriptor_type).
    pub read_as: ShaderRead,
    /// Any invocation of the subgroup may make it: see [`crate::access::Access::dealt`].
    pub dealt: bool,
}

impl StaticAccess {
    /// Whether an access like this one differs from another in nothing but its instruction and what that is
    /// told by: what is ordered after one is, with the same agent and time, ordered after the other.
    pub fn is_like(&self, other: &StaticAccess) -> bool {
        let StaticAccess { site, variable, size, .. } = *other;
        StaticAccess { site, variable, size, ..*self } == *other
    }

    /// A private, non-atomic read or write.
    pub fn plain(site: Site, class: StorageClasses, reference: u32, write: bool) -> StaticAccess {
        StaticAccess {
            site,
            class,
            reference,
            variable: reference,
            read: !write,
            write,
            atomic: false,
            non_private: false,
            available: false,
            visible: false,
            level: None,
            semantics: Semantics::RELAXED,
            size: 4,
            read_as: ShaderRead::Storage,
            dealt: false,
        }
    }

    /// Adds what the flags imply (`AccessFlags::with_implied`).
    #[must_use]
    pub fn normalised(self) -> StaticAccess {
        let StaticAccess { read, write, atomic, available, visible, non_private, .. } = self;
        let AccessFlags { available, visible, non_private } =
            AccessFlags { available, visible, non_private }.with_implied(read, write, atomic);
        StaticAccess { available, visible, non_private, ..self }
    }

    /// Level of the write's own availability; -1 if none.
    #[inline]
    pub fn own(&self) -> i8 {
        match self.level {
            Some(level) if self.available => level as i8,
            _ => -1,
        }
    }

    /// Whether this access is location-ordered before a later one, of another agent of its workgroup and
    /// through the same reference, as soon as it happens before it: they are plain and non-private, and what
    /// has to be available and visible the instructions make so themselves.
    pub fn needs_order_alone(&self, later: &StaticAccess) -> bool {
        let available = !self.write || self.own() >= 1;
        let visible = !self.write || later.write || (later.visible && later.level >= Some(1));
        let plain = !self.atomic && !later.atomic;
        plain && self.non_private && later.non_private && available && visible
    }

    /// Whether this access is location-ordered before a later one of the same agent, whatever lies between
    /// them: both go through one reference, or this one only reads and neither is private.
    #[inline(always)]
    pub fn precedes_own(&self, later: &StaticAccess) -> bool {
        self.reference == later.reference || (!self.write && self.non_private && later.non_private)
    }

    /// Whether the two may be ordered by what happens between them alone: they are non-private and go through
    /// the same reference.
    #[inline(always)]
    pub fn shares(&self, later: &StaticAccess) -> bool {
        self.reference == later.reference && self.non_private && later.non_private
    }

    /// Whether what is ordered after the later access may race with this one all the same: a private access
    /// by the same agent.
    #[inline(always)]
    pub fn hidden_by(&self, later: &StaticAccess) -> bool {
        later.non_private && !self.non_private
    }

    /// Whether other atomics that need no order after the atomic `later` may race with this access, though it
    /// is ordered before `later`: some that are mutually ordered with `later` are not with this one.
    #[inline(always)]
    pub fn outlasts(&self, later: &StaticAccess) -> bool {
        // All that can reach the location is in one instance of the wider scopes.
        let widest = if later.class == StorageClasses::WORKGROUP { 1 } else { 2 };
        let reach = |access: &StaticAccess| access.level.map(|level| level.min(widest));
        let as_mutual = self.atomic
            && self.reference == later.reference
            && self.size == later.size
            && reach(self) >= reach(later);
        later.atomic && !as_mutual
    }

    /// The synchronising part.
    #[inline]
    pub fn operation(&self) -> Operation {
        Operation { site: self.site, class: self.class, level: self.level, semantics: self.semantics }
    }
}

/// One executed access to one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The agent that made it.
    pub agent: AgentId,
    /// When: the agent's own time, which advances with its synchronising operations.
    pub time: Time,
    /// Index of its [`StaticAccess`] in the table of the dispatch; 0 stands for no access.
    pub kind: u32,
}

/// The later access of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Later<'a> {
    /// The agent that makes it.
    pub agent: AgentId,
    /// What its agent knows, after the acquire effect of the access.
    pub clocks: &'a Clocks,
    /// The instruction: atomicity, scope, and availability and visibility operations.
    pub kind: &'a StaticAccess,
}

/// What the later access's agent knows of an earlier access that is not location-ordered before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The earlier access inter-thread-happens-before the later one.
    pub before: bool,
    /// The earlier access is a write that is available in an instance of both agents.
    pub available: bool,
}

/// Decides location order for one pair.
pub struct Order<'a> {
    /// The vector clocks of all agents.
    pub agents: &'a Agents,
    /// How read-modify-writes are ordered.
    pub read_modify_write: ReadModifyWrite,
}

impl Order<'_> {
    /// Whether two atomics are mutually ordered, given that they access the same set of locations.
    #[inline]
    pub fn mutual(
        &self,
        earlier: &Record,
        kind: &StaticAccess,
        agent: AgentId,
        later: &StaticAccess,
    ) -> bool {
        if !(kind.atomic && later.atomic && kind.reference == later.reference && kind.size == later.size) {
            return false;
        }
        match (kind.level, later.level) {
            (Some(a), Some(b)) => self.agents.topology().same(earlier.agent, agent, a.min(b)),
            _ => earlier.agent == agent,
        }
    }

    /// Whether an access of this kind by another agent inter-thread-happens-before the later one.
    #[inline]
    pub fn before(&self, earlier: &Record, kind: &StaticAccess, later: &Later<'_>) -> bool {
        let operation = later.kind.operation();
        self.agents.masks().iter().enumerate().any(|(index, mask)| {
            member(kind.class, kind.semantics.classes, *mask)
                && operation.member(*mask)
                && self
                    .agents
                    .before(later.clocks, index)
                    .is_some_and(|before| before.get(earlier.agent) >= earlier.time)
        })
    }

    /// How far the earlier access is on its way to being ordered before the later one.
    pub fn known(&self, earlier: &Record, kind: &StaticAccess, later: &Later<'_>) -> Known {
        Known {
            before: self.before(earlier, kind, later),
            available: kind.write && self.write_before_write(earlier, kind, later),
        }
    }

    /// Whether the write is available in the later agent's instance of `level` by an operation that happens
    /// before the later access.
    pub(super) fn available_at(
        &self,
        write: &Record,
        kind: &StaticAccess,
        later: &Later<'_>,
        level: Level,
    ) -> bool {
        if kind.own() >= level as i8 && self.before(write, kind, later) {
            return true;
        }
        let key = Key::new(class_index(kind.class), level, kind.own());
        let known = |keyed: &super::clocks::Keyed| {
            keyed.get(key).is_some_and(|clock| clock.get(write.agent) >= write.time)
        };
        if known(&later.clocks.made_available) {
            return true;
        }
        let operation = later.kind.operation();
        self.agents.masks().iter().enumerate().any(|(index, mask)| {
            operation.member(*mask)
                && self.agents.mask_clocks(later.clocks, index).is_some_and(|clocks| known(&clocks.available))
        })
    }

    /// Write-after-write.
    fn write_before_write(&self, write: &Record, kind: &StaticAccess, later: &Later<'_>) -> bool {
        (0..4).any(|level| {
            self.agents.topology().same(write.agent, later.agent, level)
                && self.available_at(write, kind, later, level)
        })
    }

    /// Whether the later access's own visibility operation sees the write.
    pub fn sees(&self, write: &Record, kind: &StaticAccess, later: &Later<'_>) -> bool {
        let Some(scope) = later.kind.level else { return false };
        if !later.kind.visible {
            return false;
        }
        (0..=scope).any(|level| {
            (self.agents.topology().same(write.agent, later.agent, level)
                && self.available_at(write, kind, later, level))
                || {
                    let key = Key::new(class_index(kind.class), level, kind.own());
                    let operation = later.kind.operation();
                    self.agents.imported_in(later.clocks, &operation, key).get(write.agent) >= write.time
                }
        })
    }

    /// Read-after-write.
    pub(super) fn write_before_read(&self, write: &Record, kind: &StaticAccess, later: &Later<'_>) -> bool {
        let key = Key::new(class_index(kind.class), 0, kind.own());
        let visible = later.clocks.visible.get(key);
        visible.is_some_and(|clock| clock.get(write.agent) >= write.time) || self.sees(write, kind, later)
    }

    /// Whether the earlier access is location-ordered before the later one.
    pub fn ordered(&self, earlier: &Record, kind: &StaticAccess, later: &Later<'_>) -> bool {
        let same_agent = earlier.agent == later.agent;
        let same_reference = kind.reference == later.kind.reference;
        if same_agent && kind.precedes_own(later.kind) {
            return true;
        }
        let non_private = kind.non_private && later.kind.non_private;
        let halves = self.read_modify_write == ReadModifyWrite::ByHalves;
        if kind.read
            && !(halves && kind.write)
            && non_private
            && (same_agent || self.before(earlier, kind, later))
        {
            return true;
        }
        if !kind.write || !non_private || !same_reference {
            return false;
        }
        if later.kind.write && later.kind.read && halves {
            return self.write_before_write(earlier, kind, later)
                && self.write_before_read(earlier, kind, later);
        }
        (later.kind.write && self.write_before_write(earlier, kind, later))
            || (later.kind.read && self.write_before_read(earlier, kind, later))
    }

    /// The release sequences of the immediate predecessors, in scoped modification order, of a new atomic
    /// write behind these writes to exactly its locations, oldest first.
    pub fn predecessors(
        &self,
        writes: &[(Record, &StaticAccess, &ReleaseSequence)],
        agent: AgentId,
        kind: &StaticAccess,
    ) -> Vec<ReleaseSequence> {
        let follows = |index: usize, agent: AgentId, kind: &StaticAccess| {
            self.mutual(&writes[index].0, writes[index].1, agent, kind)
        };
        if let Some((last, (_, last_kind, release_sequence))) = writes.iter().enumerate().next_back()
            && follows(last, agent, kind)
        {
            // Atomics of queue family or device scope all share their instance: the last one is the only
            // immediate predecessor.
            let wide = |kind: &StaticAccess| kind.level >= Some(2);
            let dispatch = matches!(self.agents.topology(), Topology::Dispatch { .. });
            if dispatch && wide(kind) && wide(last_kind) && writes.iter().all(|(_, kind, _)| wide(kind)) {
                return vec![(*release_sequence).clone()];
            }
        }
        let later = |a: usize, b: usize| follows(a, writes[b].0.agent, writes[b].1);
        let direct: Vec<bool> = (0..writes.len()).map(|index| follows(index, agent, kind)).collect();
        let mut before = direct.clone();
        for index in (0..writes.len()).rev() {
            before[index] |= (index + 1..writes.len()).any(|next| before[next] && later(index, next));
        }
        let hidden = |index: usize| (index + 1..writes.len()).any(|next| before[next] && later(index, next));
        let immediate = (0..writes.len()).filter(|index| direct[*index] && !hidden(*index));
        immediate.map(|index| writes[index].2.clone()).collect()
    }
}
