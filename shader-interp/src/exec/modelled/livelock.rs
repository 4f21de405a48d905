//! Whether anything still moves, and who waits for what when nothing does.

use super::super::waiting::{Operand, Reason, Turn, Waiting, loop_site, operand, site_at};
use super::{Changed, Member, Run, Unit};
use pellucid_memory::access::Site;
use pellucid_memory::agent::Invocation;
use pellucid_memory::system::{LANES, MemorySystem, ReadSeen, Trap};
use std::collections::BTreeSet;

/// Turns that are told.
const MOST_TOLD: usize = 12;
/// Turns that are taken to be told: a scheduler may let one unit go on for long.
const MOST_TURNS: u32 = 1 << 12;

/// What is told of a turn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    /// What it read last.
    pub(super) read: Option<ReadSeen>,
    /// The barrier at which it arrived.
    pub(super) barrier: Option<Site>,
}

impl<M: MemorySystem> Run<'_, M> {
    /// Whether all units that can run have done nothing but wait in loops for very long; where more can
    /// become units, for long.
    pub(super) fn spins(&mut self) -> bool {
        let Some(most) = self.options.spins else { return false };
        let others = self.options.widen && self.next_workgroup < self.total;
        let executed = self.spinning.executed;
        if executed < (if others { most / 8 } else { most }) || !executed.is_multiple_of(64) {
            return false;
        }
        let subgroups = self.residents.iter().flat_map(|resident| &resident.subgroups);
        let mut members = subgroups.flat_map(|(_, members, _)| members);
        let waits =
            |member: &Member| member.at_barrier.is_some() || member.waits == Some(self.spinning.since);
        members.all(waits) && self.spinning.all_wait()
    }

    /// Has the parked lanes of every unit become units of their own. False if there are none, or that was
    /// asked for before.
    pub(super) fn part(&mut self) -> bool {
        let parks = self.context.program.parks as usize;
        let subgroups = self.residents.iter_mut().flat_map(|resident| &mut resident.subgroups);
        let mut any = false;
        for member in subgroups.flat_map(|(_, members, _)| members).filter(|m| !m.part) {
            if member.strand.has_parked(parks) {
                member.part = true;
                member.strand.fuel = 1;
                any = true;
            }
        }
        any
    }

    /// Tells the scheduler who waits for what.
    pub(super) fn livelock(&mut self) -> Trap {
        let mut waiting = Vec::new();
        for resident in &self.residents {
            for (identity, members, _) in &resident.subgroups {
                for (k, member) in members.iter().enumerate() {
                    let who = (resident.workgroup, identity.subgroup, k as u32);
                    let program = self.context.program;
                    let waits = member.at_barrier.is_some();
                    let repeats = if waits { self.watch.repeats(who) } else { self.watch.runs(who) }
                        || (!waits && member.waits.is_some());
                    let (reason, next) = if repeats
                        || (self.options.granularity.fine() && member.started && !waits)
                    {
                        // Behind a barrier stands what it does next, not what it waits for.
                        let stands = if waits { None } else { operand(self.context, &member.strand) };
                        match (stands, self.watch.read(who)) {
                            (None, Some(read)) => (Reason::Repeats(Some(Operand::of(&read))), read.site),
                            (None, None) if let Some((site, operand)) = member.read => {
                                (Reason::Repeats(Some(operand)), site)
                            }
                            (operand, _) => (Reason::Repeats(operand), loop_site(program, member.strand.pc)),
                        }
                    } else if waits {
                        (Reason::Barrier, member.next)
                    } else if member.started {
                        (Reason::Starved, loop_site(program, member.strand.pc))
                    } else {
                        (Reason::NotStarted, Site(0))
                    };
                    let unit = Unit { next, ..member.unit(program, who, self.options.granularity) };
                    waiting.push(Waiting { unit, lanes: member.strand.live, reason, wrote: None });
                }
            }
        }
        for k in 0..waiting.len() {
            if let Reason::Repeats(Some(Operand { place, .. })) = waiting[k].reason {
                let workgroup = waiting[k].unit.workgroup;
                let wrote = self.memory.written_last_by(workgroup, &place);
                // Who waits there, too, may have written as the loop does: a lock that is taken by an
                // exchange.
                let waits = |by: &Invocation| {
                    let mut there = waiting.iter().filter(|other| other.repeats_at(workgroup, &place));
                    there.any(|other| self.is_of(by, &other.unit))
                };
                waiting[k].wrote = wrote.filter(|by| !waits(by));
            }
        }
        let outside = self.total - self.next_workgroup;
        let turns = self.last_turns();
        self.scheduler.livelock(&waiting, outside, &turns);
        Trap::Livelock
    }

    /// Whether an invocation is among the running lanes of a unit.
    fn is_of(&self, by: &Invocation, unit: &Unit) -> bool {
        let launch = &self.context.launch;
        let identity = launch.identity(launch.workgroup(unit.workgroup), unit.subgroup);
        let mut lanes = (0..LANES as u32).filter(|lane| unit.mask >> lane & 1 != 0);
        identity.workgroup_id == by.workgroup
            && lanes.any(|lane| identity.local_index(lane) == by.local_index)
    }

    /// Some more turns of a dispatch that makes no progress, until every unit does again what it did in one
    /// of them. None are taken where nobody is told of them; nor under a debugger, in an exploration and
    /// where the shader prints: there every turn counts.
    fn last_turns(&mut self) -> Vec<Turn> {
        let mut turns = Vec::new();
        let prints = self.options.prints.is_some() && !self.context.program.prints.is_empty();
        let counts = self.options.granularity.fine() || self.debugger.is_some() || prints;
        if counts || !self.scheduler.tells_livelocks() {
            return turns;
        }
        let (mut taken, mut again) = (Vec::new(), BTreeSet::new());
        self.telling = Some(Told::default());
        for _ in 0..MOST_TURNS {
            if self.units.is_empty() {
                break;
            }
            let Ok(k) = self.pick() else { break };
            let (r, s, n) = self.slots[k];
            let resident = &self.residents[r];
            let (identity, members, _) = &resident.subgroups[s];
            let strand = &members[n].strand;
            let who = (resident.workgroup, identity.subgroup, n as u32);
            let (lanes, ran) = (strand.live, strand.mask);
            // What it stands before, where memory tells of nothing that it read.
            let before = operand(self.context, strand);
            let site = site_at(self.context.program, strand.pc);
            let Ok(changed) = self.step(k) else { break };
            let told = self.telling.replace(Told::default()).unwrap_or_default();
            let read = told.read.map(|read| (read.site, Some(Operand::of(&read))));
            let arrived = told.barrier.map(|site| (site, None));
            let stands = before.map(|operand| (site, Some(operand)));
            let (site, access) = arrived.or(read).or(stands).unwrap_or((Site(0), None));
            let turn = Turn { who, lanes, ran, site, access };
            // Again the same, without anybody else in between, says nothing more.
            if site != Site(0) && turns.last() != Some(&turn) {
                turns.push(turn);
            }
            if taken.contains(&turn) {
                again.insert(who);
            } else {
                taken.push(turn);
            }
            if matches!(changed, Changed::Ended(_)) || turns.len() == MOST_TOLD {
                break;
            }
            self.relist(k, changed);
            // Everybody is where a turn of its own began.
            if self.units.iter().all(|unit| again.contains(&(unit.workgroup, unit.subgroup, unit.strand))) {
                break;
            }
        }
        self.telling = None;
        turns
    }
}
