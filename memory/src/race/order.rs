//! Whether an earlier access is location-ordered before a later one (Vulkan memory model,
//! *Location-Ordered*), decided from what the later one's agent knows.

use super::agents::{Agents, Operation, class_index, member};
use super::facts::{Facts, Key};
use super::horizon::Time;
use super::topology::{AgentId, Level};
use crate::access::Site;
use crate::model::ReadModifyWrite;
use crate::scope::{Semantics, StorageClasses};

/// What is the same for all executions of one access: by whom and where is in [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The instruction.
    pub site: Site,
    /// Storage class.
    pub class: StorageClasses,
    /// Reference.
    pub reference: u32,
    /// It reads.
    pub read: bool,
    /// It writes.
    pub write: bool,
    /// It is atomic.
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
}

impl Kind {
    /// A private, non-atomic read or write.
    pub fn plain(site: Site, class: StorageClasses, reference: u32, write: bool) -> Kind {
        Kind {
            site,
            class,
            reference,
            read: !write,
            write,
            atomic: false,
            non_private: false,
            available: false,
            visible: false,
            level: None,
            semantics: Semantics::RELAXED,
            size: 4,
        }
    }

    /// Adds what the flags imply: atomics are available, visible and non-private; availability and visibility
    /// are non-private.
    #[must_use]
    pub fn normalised(mut self) -> Kind {
        if self.atomic {
            self.available = self.write;
            self.visible = self.read;
        }
        self.non_private |= self.atomic || self.available || self.visible;
        self
    }

    /// Level of the write's own availability; -1 if none.
    #[inline]
    pub fn own(&self) -> i8 {
        match self.level {
            Some(level) if self.available => level as i8,
            _ => -1,
        }
    }

    /// The synchronising part.
    #[inline]
    pub fn operation(&self) -> Operation {
        Operation { site: self.site, class: self.class, level: self.level, semantics: self.semantics }
    }
}

/// One executed access to one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Who.
    pub agent: AgentId,
    /// When, in the agent's time.
    pub time: Time,
    /// Index of the kind in its table.
    pub kind: u32,
}

/// The later access of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Later<'a> {
    /// Who.
    pub agent: AgentId,
    /// What its agent knows, after the acquire effect of the access.
    pub facts: &'a Facts,
    /// What it does.
    pub kind: &'a Kind,
}

/// What the detector remembers of the location besides the pair: other accesses to it.
pub trait Surroundings {
    /// Whether `holds` for a later (or the same) available write by the author of `write` through the same
    /// reference.
    fn later_available_write(&self, write: &Record, holds: &mut dyn FnMut(&Record, &Kind) -> bool) -> bool;
    /// Whether an earlier visible read by `agent` through this reference saw the write.
    fn already_seen(&self, write: &Record, agent: AgentId, reference: u32) -> bool;
}

/// Nothing else is remembered.
pub struct Nothing;

impl Surroundings for Nothing {
    fn later_available_write(&self, _: &Record, _: &mut dyn FnMut(&Record, &Kind) -> bool) -> bool {
        false
    }

    fn already_seen(&self, _: &Record, _: AgentId, _: u32) -> bool {
        false
    }
}

/// Decides location order for one pair.
pub struct Order<'a> {
    /// Whose knowledge.
    pub agents: &'a Agents,
    /// How read-modify-writes are ordered.
    pub read_modify_write: ReadModifyWrite,
}

impl Order<'_> {
    /// Whether two atomics are mutually ordered, given that they access the same set of locations.
    #[inline]
    pub fn mutual(&self, earlier: &Record, kind: &Kind, agent: AgentId, later: &Kind) -> bool {
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
    pub fn before(&self, earlier: &Record, kind: &Kind, later: &Later<'_>) -> bool {
        let operation = later.kind.operation();
        self.agents.masks().iter().enumerate().any(|(index, mask)| {
            member(kind.class, kind.semantics.classes, *mask)
                && operation.member(*mask)
                && self
                    .agents
                    .before(later.facts, index)
                    .is_some_and(|before| before.get(earlier.agent) >= earlier.time)
        })
    }

    /// Whether the write is available in the later agent's instance of `level` by an operation that happens
    /// before the later access.
    fn available_at(
        &self,
        write: &Record,
        kind: &Kind,
        around: &dyn Surroundings,
        later: &Later<'_>,
        level: Level,
    ) -> bool {
        let covers =
            |record: &Record, own: &Kind| own.own() >= level as i8 && self.before(record, own, later);
        if covers(write, kind) {
            return true;
        }
        let key = Key::new(class_index(kind.class), level, kind.own());
        let known = |keyed: &super::facts::Keyed| {
            keyed.get(key).is_some_and(|horizon| horizon.get(write.agent) >= write.time)
        };
        if known(&later.facts.made_available) {
            return true;
        }
        let operation = later.kind.operation();
        let by_mask = self.agents.masks().iter().enumerate().any(|(index, mask)| {
            operation.member(*mask)
                && self.agents.mask_facts(later.facts, index).is_some_and(|facts| known(&facts.available))
        });
        by_mask || around.later_available_write(write, &mut |record, own| covers(record, own))
    }

    /// Whether the write is available in some instance that both agents share, by an operation that happens
    /// before the later access.
    pub fn available(
        &self,
        write: &Record,
        kind: &Kind,
        around: &dyn Surroundings,
        later: &Later<'_>,
    ) -> bool {
        self.write_before_write(write, kind, around, later)
    }

    /// Write-after-write.
    fn write_before_write(
        &self,
        write: &Record,
        kind: &Kind,
        around: &dyn Surroundings,
        later: &Later<'_>,
    ) -> bool {
        (0..4).any(|level| {
            self.agents.topology().same(write.agent, later.agent, level)
                && self.available_at(write, kind, around, later, level)
        })
    }

    /// Whether the later access's own visibility operation sees the write.
    pub fn sees(&self, write: &Record, kind: &Kind, around: &dyn Surroundings, later: &Later<'_>) -> bool {
        let Some(scope) = later.kind.level else { return false };
        if !later.kind.visible {
            return false;
        }
        (0..=scope).any(|level| {
            (self.agents.topology().same(write.agent, later.agent, level)
                && self.available_at(write, kind, around, later, level))
                || {
                    let key = Key::new(class_index(kind.class), level, kind.own());
                    let operation = later.kind.operation();
                    self.agents.imported_in(later.facts, &operation, key).get(write.agent) >= write.time
                }
        })
    }

    /// Read-after-write.
    fn write_before_read(
        &self,
        write: &Record,
        kind: &Kind,
        around: &dyn Surroundings,
        later: &Later<'_>,
    ) -> bool {
        let class = class_index(kind.class);
        let visible = |record: &Record, own: i8| {
            later
                .facts
                .visible
                .get(Key::new(class, 0, own))
                .is_some_and(|horizon| horizon.get(record.agent) >= record.time)
        };
        visible(write, kind.own())
            || self.sees(write, kind, around, later)
            || around.later_available_write(write, &mut |record, own| visible(record, own.own()))
            || around.already_seen(write, later.agent, later.kind.reference)
    }

    /// Whether the earlier access is location-ordered before the later one.
    pub fn ordered(
        &self,
        earlier: &Record,
        kind: &Kind,
        around: &dyn Surroundings,
        later: &Later<'_>,
    ) -> bool {
        let same_agent = earlier.agent == later.agent;
        let same_reference = kind.reference == later.kind.reference;
        if same_agent && same_reference {
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
            return self.write_before_write(earlier, kind, around, later)
                && self.write_before_read(earlier, kind, around, later);
        }
        (later.kind.write && self.write_before_write(earlier, kind, around, later))
            || (later.kind.read && self.write_before_read(earlier, kind, around, later))
    }
}
