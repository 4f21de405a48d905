//! What accesses make of states: what [`FastPath`] makes of their cells.

use super::super::super::access_table::Looked;
use super::super::super::core::Core;
use super::super::FastPath;
use crate::race::{AgentId, Cell, NOBODY, Next, Parties, StateList, States};

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// What a read by this lane makes of the unit with this index, if one by any other of the workgroup makes
    /// the same of units in its state.
    #[cold]
    #[inline(never)]
    pub(super) fn after_any_read(
        &mut self,
        core: &Core,
        states: &mut States,
        (list, index): (&StateList, usize),
        lane: usize,
        undefined: bool,
    ) -> Option<Next> {
        let mut cell = list.cell(states, index);
        if self.settles(core, &cell) {
            return Some(Next::same(list.states[index]));
        }
        if !self.forget_passed(core, &mut cell) {
            return None;
        }
        let [write, ..] = states.parties(list.states[index], list.parties(index));
        self.reads_cell(core, states, [write, AgentId::MAX, AgentId::MAX], (cell, lane), undefined)
    }

    /// What the reads by so many lanes and more make of the unit with this index.
    #[cold]
    #[inline(never)]
    pub(super) fn after_crowd_read(
        &mut self,
        core: &Core,
        states: &mut States,
        (list, index): (&StateList, usize),
        [first, second, third]: [usize; 3],
        undefined: bool,
    ) -> Option<Next> {
        let mut cell = list.cell(states, index);
        if !self.forget_passed(core, &mut cell) {
            return None;
        }
        let undefined = undefined && cell.write.kind == 0;
        for lane in [first, second, third] {
            if !self.reads(core, &mut cell, lane, undefined) {
                return None;
            }
        }
        let by = |lane: usize| self.first_lane + lane as AgentId;
        let expected = cell.readers[0].agent == by(first) && cell.readers[1].agent == by(second);
        if !expected || !cell.forgot || !core.say_enough(&cell, &self.record(first)) {
            return None;
        }
        self.same_time(core, &mut cell);
        Some(Next { state: self.number(core, states, &cell)?, from: [0, Next::SELF, Next::SECOND] })
    }

    /// Whether all accesses of the cell are ordered before those of the whole workgroup that follow: then its
    /// readers are forgotten, who say nothing more. Private writes may race with them all the same, and who
    /// reads after them may be who writes then.
    fn forget_passed(&mut self, core: &Core, cell: &mut Cell) -> bool {
        if cell.readers[0].kind != 0 && !core.workgroup_passes {
            return false;
        }
        for earlier in [&cell.write, &cell.readers[0], &cell.readers[1]] {
            if earlier.kind != 0 && !self.order(core, earlier, AgentId::MAX).0 {
                return false;
            }
        }
        cell.forgot |= cell.readers[0].kind != 0;
        (cell.readers, cell.reader_bytes) = ([NOBODY; 2], [0; 2]);
        true
    }

    /// When something that no explanation needs happened to the memory of a workgroup before the last barrier
    /// of all says nothing more: one time stands for all.
    fn same_time(&self, core: &Core, cell: &mut Cell) {
        if !self.in_workgroup {
            return;
        }
        let [first, latest] = &mut cell.readers;
        for record in [&mut cell.write, first, latest] {
            let kind = core.kinds.get(record.kind);
            let traced = kind.atomic || (!core.workgroup_passes && (kind.available || kind.visible));
            if record.kind != 0 && record.time < self.full && !traced {
                record.time = self.full;
            }
        }
    }

    /// The same of a write.
    #[cold]
    #[inline(never)]
    pub(super) fn after_any_write(
        &mut self,
        core: &Core,
        states: &mut States,
        (list, index): (&StateList, usize),
        lane: usize,
    ) -> Option<Next> {
        let mut cell = list.cell(states, index);
        for earlier in [&cell.readers[0], &cell.readers[1], &cell.write] {
            let is_there = earlier.kind != 0;
            if is_there
                && (!self.order(core, earlier, AgentId::MAX).0
                    || self.looked.intersects(Looked::HIDDEN | Looked::MORE_AVAILABLE))
            {
                return None;
            }
        }
        if !self.overwrites(core, &cell, lane) {
            return None;
        }
        cell.overwrite(self.record(lane), 0);
        // Who wrote before may be who writes now, and is another one for other units.
        self.next_of(core, states, &cell, [AgentId::MAX; 3], lane)
    }

    /// What a read by this lane makes of the unit with this index.
    #[cold]
    #[inline(never)]
    pub(super) fn after_read(
        &mut self,
        core: &Core,
        states: &mut States,
        (list, index): (&StateList, usize),
        lane: usize,
        undefined: bool,
    ) -> Option<Next> {
        let cell = list.cell(states, index);
        let parties = states.parties(list.states[index], list.parties(index));
        self.reads_cell(core, states, parties, (cell, lane), undefined)
    }

    /// The same where so much is known of the unit.
    fn reads_cell(
        &mut self,
        core: &Core,
        states: &mut States,
        parties: Parties,
        (mut cell, lane): (Cell, usize),
        undefined: bool,
    ) -> Option<Next> {
        let undefined = undefined && cell.write.kind == 0;
        if !self.reads(core, &mut cell, lane, undefined) {
            return None;
        }
        self.same_time(core, &mut cell);
        self.next_of(core, states, &cell, parties, lane)
    }

    /// What a write by this lane makes of the unit with this index.
    #[cold]
    #[inline(never)]
    pub(super) fn after_write(
        &mut self,
        core: &Core,
        states: &mut States,
        (list, index): (&StateList, usize),
        lane: usize,
    ) -> Option<Next> {
        let mut cell = list.cell(states, index);
        if !self.overwrites(core, &cell, lane) {
            return None;
        }
        cell.overwrite(self.record(lane), 0);
        let parties = states.parties(list.states[index], list.parties(index));
        self.next_of(core, states, &cell, parties, lane)
    }

    /// What an access by this lane makes of a unit with these agents, which has this cell after it.
    #[cold]
    fn next_of(
        &self,
        core: &Core,
        states: &mut States,
        cell: &Cell,
        parties: Parties,
        lane: usize,
    ) -> Option<Next> {
        let own = self.record(lane).agent;
        let mut from = [0, 1, 2];
        for (i, (from, record)) in
            from.iter_mut().zip([cell.write, cell.readers[0], cell.readers[1]]).enumerate()
        {
            if record.kind != 0 && record.agent != parties[i] {
                *from = match parties.iter().position(|agent| *agent == record.agent) {
                    _ if record.agent == own => Next::SELF,
                    Some(party) => party as u8,
                    None => return None,
                };
            }
        }
        Some(Next { state: self.number(core, states, cell)?, from })
    }

    /// The number of the state of a unit with this cell.
    fn number(&self, core: &Core, states: &mut States, cell: &Cell) -> Option<u32> {
        let [first, latest] = &cell.readers;
        let two = self.in_workgroup && first.kind != 0 && latest.kind != 0;
        states.number(cell, two && core.stand_for_all(first.agent, latest.agent))
    }
}
