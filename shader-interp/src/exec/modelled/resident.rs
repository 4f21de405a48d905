//! The workgroups that run, and the list of their units that can take a step.

use super::super::granularity::{Stop, stop_at};
use super::super::strand::Strand;
use super::super::turns::Watch;
use super::super::waiting::Operand;
use super::{FUEL, Granularity, Run, Unit};
use crate::code::Program;
use pellucid_memory::access::Site;
use pellucid_memory::agent::SubgroupIdentity;
use pellucid_memory::system::MemorySystem;
use std::ops::Range;

#[derive(Clone)]
pub(super) struct Member {
    pub(super) strand: Strand,
    /// The barrier that the strand waits at.
    pub(super) at_barrier: Option<u32>,
    pub(super) looks: u32,
    pub(super) steps_at_look: u64,
    pub(super) next: Site,
    pub(super) started: bool,
    /// The parked lanes are to become a unit.
    pub(super) part: bool,
    /// Its number in the subgroup, which it keeps.
    pub(super) number: u32,
    pub(super) watch: Option<Box<Watch>>,
    /// When it was watched last, or started: steps of all units, and [`Spinning::looks`].
    pub(super) watched: (u64, u32),
    /// The time since which it is known to wait in a loop; see [`Spinning::since`].
    pub(super) waits: Option<u64>,
    /// What it read last before that was known.
    pub(super) read: Option<(Site, Operand)>,
}

/// Who a subgroup is, its strands, and the loop back-edges that it has taken.
pub(super) type Subgroup = (SubgroupIdentity, Vec<Member>, u64);

#[derive(Clone)]
pub(super) struct Resident {
    pub(super) workgroup: u32,
    pub(super) subgroups: Vec<Subgroup>,
}

/// Where a unit is: resident, subgroup, member.
pub(super) type Slot = (usize, usize, usize);

impl Member {
    pub(super) fn new(mut strand: Strand, number: u32) -> Member {
        strand.fuel = FUEL;
        let steps_at_look = strand.step;
        Member {
            strand,
            at_barrier: None,
            looks: 0,
            steps_at_look,
            next: Site(0),
            started: false,
            part: false,
            number,
            watch: None,
            watched: (0, 0),
            waits: None,
            read: None,
        }
    }

    /// What the scheduler sees of it.
    pub(super) fn unit(
        &self,
        program: &Program,
        (workgroup, subgroup, strand): (u32, u32, u32),
        granularity: Granularity,
    ) -> Unit {
        let fine = granularity.fine();
        Unit {
            workgroup,
            subgroup,
            strand,
            step: self.strand.step,
            priority: 0,
            next: self.next,
            mask: self.strand.mask,
            silent: fine && stop_at(program, self.strand.pc) != Some(Stop::Access),
            parked: fine && self.strand.has_parked(program.parks as usize),
            local: if fine { self.strand.digest() } else { 0 },
        }
    }
}

impl<M: MemorySystem> Run<'_, M> {
    /// Starts workgroups until the window is full.
    pub(super) fn admit(&mut self) {
        while self.residents.len() < self.window && self.next_workgroup < self.total {
            let workgroup = self.next_workgroup as u32;
            self.next_workgroup += 1;
            self.context.begin_workgroup(self.memory, workgroup);
            let which = self.context.launch.workgroup(workgroup);
            let mut subgroups = self.spare.pop().unwrap_or_default();
            for subgroup in 0..self.context.launch.subgroups() {
                let identity = self.context.launch.identity(which, subgroup);
                let slot = subgroup as usize;
                if slot == subgroups.len() {
                    subgroups.push((identity, Vec::new(), 0));
                }
                let (who, members, turns) = &mut subgroups[slot];
                (*who, *turns) = (identity, 0);
                match self.options.granularity {
                    Granularity::Invocations => {
                        for lane in 0..identity.lanes {
                            self.pool.start(self.context, &identity).restrict(1 << lane);
                            members.push(Member::new(self.pool.take(), lane));
                        }
                    }
                    _ => {
                        self.pool.start(self.context, &identity);
                        members.push(Member::new(self.pool.take(), 0));
                    }
                }
            }
            self.residents.push(Resident { workgroup, subgroups });
        }
    }

    /// Lists the units that can run.
    pub(super) fn list(&mut self) {
        self.units.clear();
        self.slots.clear();
        for r in 0..self.residents.len() {
            self.list_resident(r);
        }
    }

    /// Lists the units of one resident again.
    pub(super) fn list_again(&mut self, r: usize) {
        let listed = self.units.len();
        self.list_resident(r);
        let (of, new) = (self.listed(r, listed), self.units.len() - listed);
        self.units[of.end..].rotate_right(new);
        self.slots[of.end..].rotate_right(new);
        self.units.drain(of.clone());
        self.slots.drain(of);
    }

    /// Where, of the first units listed, those of a resident are.
    fn listed(&self, r: usize, first: usize) -> Range<usize> {
        let slots = &self.slots[..first];
        slots.partition_point(|slot| slot.0 < r)..slots.partition_point(|slot| slot.0 <= r)
    }

    /// Takes the units of a resident, which has ended, off the list.
    pub(super) fn unlist(&mut self, r: usize) {
        let of = self.listed(r, self.slots.len());
        self.slots[of.end..].iter_mut().for_each(|slot| slot.0 -= 1);
        self.units.drain(of.clone());
        self.slots.drain(of);
    }

    pub(super) fn list_resident(&mut self, r: usize) {
        let (granularity, program) = (self.options.granularity, self.context.program);
        let resident = &self.residents[r];
        for (s, (identity, members, _)) in resident.subgroups.iter().enumerate() {
            for (k, member) in members.iter().enumerate().filter(|(_, member)| member.at_barrier.is_none()) {
                let strand = if granularity.fine() { member.number } else { k as u32 };
                let who = (resident.workgroup, identity.subgroup, strand);
                self.units.push(member.unit(program, who, granularity));
                if let Some(unit) = self.units.last_mut() {
                    unit.priority = self.scheduler.priority(unit);
                }
                self.slots.push((r, s, k));
            }
        }
    }
}
