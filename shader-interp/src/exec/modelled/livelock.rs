//! Whether anything still moves, and who waits for what when nothing does.

use super::super::waiting::{Operand, Reason, Waiting, loop_site, operand};
use super::{Member, Run, Unit};
use pellucid_memory::access::Site;
use pellucid_memory::system::{MemorySystem, Trap};

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
                    waiting.push(Waiting { unit, lanes: member.strand.live, reason });
                }
            }
        }
        self.scheduler.livelock(&waiting, self.total - self.next_workgroup);
        Trap::Livelock
    }
}
