//! Which earlier accesses come before one: by few comparisons, by the vector clocks, and by the axioms.

use super::super::conflicts::{Conflicts, Told, Where, Who};
use super::super::group::{Barriers, Members};
use super::super::report::AxiomContext;
use super::Core;
use crate::history::{Entry, Load, Loaded, Position};
use crate::race::{
    AgentId, Cell, Clocks, Dropped, Later, Nearness, Order, Pair, Record, ReleaseSequence, StaticAccess,
};
use crate::scope::StorageClasses;

/// How an earlier reader stands to one that is the same agent: before it, if times tell.
#[inline(always)]
fn nearness_of_own(earlier: &Record, reader: &Record) -> Nearness {
    if earlier.time < reader.time { Nearness::Ordered } else { Nearness::Subgroup }
}

impl Core {
    /// A cache of [`Order::ordered`], decided by a few comparisons: the same agent, or the same workgroup
    /// with a barrier in between that orders them. (The other cache is
    /// [`FastPath`](super::super::lanes::FastPath); `tests/fast_paths.rs` compares both with the order.)
    #[inline(always)]
    pub(super) fn quick(&self, earlier: &Record, who: Who, kind: &StaticAccess) -> bool {
        if self.only_order() {
            return false;
        }
        let own = earlier.agent == who.agent && self.kinds.get(earlier.kind).precedes_own(kind);
        own || self.passed(earlier, kind) || self.passed_near(earlier, kind)
    }

    /// The agents of the entered workgroup.
    #[inline(always)]
    pub(in crate::checked) fn members(&self) -> Members {
        Members { first: self.first_agent, count: self.group_agents }
    }

    /// Whether a barrier of the workgroup orders the earlier access before all of the workgroup's of this
    /// kind that follow.
    #[inline(always)]
    fn passed(&self, earlier: &Record, kind: &StaticAccess) -> bool {
        self.passed_by((self.members(), self.barriers), earlier, kind)
    }

    /// Whether a barrier of the subgroup orders the earlier access before those of its agents that follow.
    #[inline(always)]
    fn passed_near(&self, earlier: &Record, kind: &StaticAccess) -> bool {
        self.passed_by(self.subgroup, earlier, kind)
    }

    #[inline(always)]
    fn passed_by(
        &self,
        (members, barriers): (Members, Barriers),
        earlier: &Record,
        kind: &StaticAccess,
    ) -> bool {
        let earlier_kind = self.kinds.get(earlier.kind);
        let until = barriers.until(kind.class, earlier_kind.needs_order_alone(kind));
        members.passed(earlier, earlier_kind.shares(kind), until)
    }

    /// Which reader of a word is not remembered when this one reads, if two are.
    #[inline(always)]
    pub(in crate::checked) fn dropped(&self, cell: &Cell, reader: &Record) -> Dropped {
        let [first, latest] = &cell.readers;
        if latest.kind == 0 {
            return Dropped::Latest;
        }
        let enough = self.say_enough(cell, reader);
        Dropped::of(self.nearness(first, reader), self.nearness(latest, reader), enough)
    }

    /// Whether the readers of a word say as much as all of the workgroup of one that reads now: two by the
    /// same instruction since the last barrier, or by ones like it where nobody else can write and barriers
    /// alone order.
    #[inline(always)]
    pub(in crate::checked) fn say_enough(&self, cell: &Cell, reader: &Record) -> bool {
        let kind = self.kinds.get(reader.kind);
        let by_barriers = kind.class == StorageClasses::WORKGROUP && self.barriers_alone;
        let like = |known: &Record| {
            known.kind == reader.kind || (by_barriers && self.kinds.get(known.kind).is_like(kind))
        };
        let as_good =
            |known: &Record| known.time == reader.time && self.members().contains(known.agent) && like(known);
        let [first, latest] = &cell.readers;
        cell.reader_bytes == [15; 2]
            && !kind.atomic
            && as_good(first)
            && as_good(latest)
            && self.stand_for_all(first.agent, latest.agent)
    }

    /// The number of the subgroup of a reader in the workgroup, if it is of this one.
    #[inline(always)]
    pub(in crate::checked) fn subgroup_of(&self, agent: AgentId) -> u32 {
        agent.wrapping_sub(self.first_agent) >> self.subgroup_bits
    }

    #[inline(always)]
    fn nearness(&self, earlier: &Record, reader: &Record) -> Nearness {
        if earlier.agent == reader.agent {
            return nearness_of_own(earlier, reader);
        }
        if !self.members().contains(earlier.agent) {
            return Nearness::Elsewhere;
        }
        let ordered = match self.by_subgroups {
            // Of two readers of one workgroup the one before a barrier says less than the one after it.
            false => earlier.time < reader.time,
            true => self.ordered_by_barriers(*earlier, *reader),
        };
        if ordered {
            Nearness::Ordered
        } else if self.subgroup.0.contains(earlier.agent) {
            Nearness::Subgroup
        } else {
            Nearness::Workgroup
        }
    }

    /// The same where times of two subgroups say nothing.
    #[cold]
    #[inline(never)]
    fn ordered_by_barriers(&self, earlier: Record, reader: Record) -> bool {
        let kind = self.kinds.get(reader.kind);
        self.passed(&earlier, kind) || self.passed_near(&earlier, kind)
    }

    /// Whether two readers of the workgroup at one time say as much as all of it: what is ordered after both
    /// is ordered after all. Where more than barriers orders, that is likely of two in different subgroups.
    #[inline(always)]
    pub(in crate::checked) fn stand_for_all(&self, first: AgentId, latest: AgentId) -> bool {
        first != latest && (self.any_two || self.subgroup_of(first) != self.subgroup_of(latest))
    }

    /// Whether the earlier access is a write of the same agent and time that is more available than one of
    /// this kind: then times must tell that this one is later, as it is not covered by the other's
    /// availability operation.
    #[inline(always)]
    pub(super) fn is_more_available(&self, earlier: &Record, who: Who, kind: &StaticAccess) -> bool {
        earlier.agent == who.agent
            && earlier.kind != 0
            && self.kinds.get(earlier.kind).own() > kind.own()
            && earlier.time == self.agents.time(who.agent)
    }

    /// Whether an access of this kind [hides](StaticAccess::hidden_by) the earlier one.
    #[inline(always)]
    pub(super) fn hides(&self, earlier: &Record, kind: &StaticAccess) -> bool {
        earlier.kind != 0 && self.kinds.get(earlier.kind).hidden_by(kind)
    }

    /// Whether what need not be ordered after the later access may race with the earlier one all the same: it
    /// [outlasts](StaticAccess::outlasts) it, and no barrier between the two orders all who can reach it.
    #[inline(always)]
    pub(super) fn outlasts(&self, earlier: &Record, kind: &StaticAccess) -> bool {
        earlier.kind != 0
            && self.kinds.get(earlier.kind).outlasts(kind)
            && !(kind.class == StorageClasses::WORKGROUP && self.passed(earlier, kind))
    }

    /// Whether an earlier access to the same bytes is ordered before an access by someone who knows `clocks`.
    pub(super) fn ordered(&self, earlier: &Record, who: Who, kind: &StaticAccess, clocks: &Clocks) -> bool {
        self.quick(earlier, who, kind) || {
            let later = Later { agent: who.agent, clocks, kind };
            self.order().ordered(earlier, self.kinds.get(earlier.kind), &later)
        }
    }

    /// Judges an access against earlier ones, each with its position in the history: absent ones are passed
    /// over. What the detector calls a race goes to the axioms, and is an order if they do not confirm it.
    pub fn conflicts(
        &mut self,
        earlier: &[(Record, Position)],
        who: Who,
        clocks: &Clocks,
        place: &Where,
        told: Told,
    ) -> Conflicts {
        let kind = *self.kinds.get(who.kind);
        let mut found = Conflicts::default();
        for (index, (earlier, position)) in earlier.iter().enumerate() {
            if earlier.kind == 0 {
                continue;
            }
            if self.ordered(earlier, who, &kind, clocks) {
                found.floor = found.floor.max(*position);
                continue;
            }
            if self.order().mutual(earlier, self.kinds.get(earlier.kind), who.agent, &kind) {
                found.mutual.push(index);
                continue;
            }
            found.doubted = true;
            let (trace, kinds, options) = (&self.trace, self.kinds.list(), self.options);
            let order = Order { agents: &self.agents, read_modify_write: options.read_modify_write };
            let axioms = AxiomContext { trace, kinds, order, clocks, options };
            let pair = Pair {
                earlier: *earlier,
                earlier_kind: self.kinds.get(earlier.kind),
                later: Record { agent: who.agent, time: self.agents.time(who.agent), kind: who.kind },
                later_kind: &kind,
                space: place.space,
                address: place.address,
            };
            if !self.report.confirm(&axioms, &pair, self.exploring.is_some()) {
                found.overruled = found.overruled.max(*position);
            } else if let Told::AtOnce { same } = told {
                self.report.race(&pair, None, 0, place, same);
                if self.report.is_told(&pair) {
                    self.kinds.only_count(who.kind, earlier.kind);
                }
            } else {
                found.racing.push(*earlier);
            }
        }
        found
    }

    /// Tells the report of races that were only counted.
    pub(in crate::checked) fn tell_counted(&mut self) {
        for (kinds, times) in self.kinds.take_counted() {
            self.report.occurred(kinds, times);
        }
    }

    /// Reports races with these accesses; `loaded`: what the later access got, and what is newest.
    pub fn report_races(
        &mut self,
        racing: &[Record],
        who: Who,
        place: &Where,
        loaded: Option<(&Loaded, u32)>,
    ) {
        let later = self.record(who);
        for earlier in racing {
            let pair = Pair {
                earlier: *earlier,
                earlier_kind: self.kinds.get(earlier.kind),
                later,
                later_kind: self.kinds.get(who.kind),
                space: place.space,
                address: place.address,
            };
            let newest = loaded.map_or(0, |(_, newest)| newest);
            self.report.race(&pair, loaded.map(|(loaded, _)| loaded), newest, place, false);
        }
    }

    /// The release sequence that an atomic read of the entry with this index meets.
    pub fn release_sequence_read(
        &self,
        history: u32,
        index: Option<usize>,
        agent: AgentId,
        kind: &StaticAccess,
        bytes: u8,
    ) -> ReleaseSequence {
        let entry = index.and_then(|index| self.histories.peek(history)?.entries().get(index));
        let met = |entry: &&Entry| {
            kind.atomic
                && entry.bytes == bytes
                && self.order().mutual(&entry.record, self.kinds.get(entry.record.kind), agent, kind)
        };
        entry.filter(met).map_or_else(ReleaseSequence::default, |entry| entry.release_sequence.clone())
    }

    /// The release sequence of a new atomic write.
    pub fn release_sequence_of_write(&mut self, cell: &Cell, who: Who, bytes: u8) -> ReleaseSequence {
        let kind = *self.kinds.get(who.kind);
        let mut predecessors = Vec::new();
        if kind.read
            && let Some(history) = self.histories.peek(cell.history)
        {
            predecessors = history.predecessors(&self.order(), self.kinds.list(), who.agent, &kind, bytes);
        }
        self.agents.release_sequence_of_write(who.agent, &kind.operation(), &predecessors)
    }

    /// Per byte, the least position in a history that a load may read if it reads the entry with this index.
    /// `clocks` are those of its agent before.
    pub fn floors(
        &self,
        number: u32,
        load: &Load,
        who: Who,
        index: Option<usize>,
        clocks: &Clocks,
    ) -> [Position; 4] {
        let kind = self.kinds.get(who.kind);
        let history = self.histories.peek(number).unwrap_or(&self.no_history);
        let floors = |clocks: &Clocks| {
            let (order, later) = (self.order(), Later { agent: who.agent, clocks, kind });
            history.floors(load, |record| order.ordered(record, self.kinds.get(record.kind), &later))
        };
        if !load.acquires {
            return floors(clocks);
        }
        let release_sequence = self.release_sequence_read(number, index, who.agent, kind, load.bytes);
        floors(&self.agents.after_reading(who.agent, &kind.operation(), &release_sequence))
    }

    /// Whether an atomic access of this kind may learn something from what it reads.
    pub fn acquires(&self, number: u32, kind: &StaticAccess, bytes: u8) -> bool {
        let history = self.histories.peek(number);
        kind.atomic && kind.semantics.acquire && history.is_some_and(|history| history.synchronizes(bytes))
    }
}
