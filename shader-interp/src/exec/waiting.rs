//! What the report of a shader that does not end says: which invocations make no progress, at which
//! instruction, and which memory they read there.
//!
//! Three find that out: the watchdog of run mode, and in check mode the watchdog and the scheduler, which
//! sees when no invocation can go on. Each hands its [`Waiting`] units to [`facts`], which makes them facts
//! of a finding. The other functions find a strand's instruction and the operands of its access, also for
//! the debugger.

use super::context::Context;
use super::scheduler::Unit;
use super::strand::Strand;
use crate::code::{Inst, MemoryEntry, OperandKind, Program, Space};
use pellucid_memory::access::{Reference, Site};
use pellucid_memory::agent::{Invocation, runs};
use pellucid_memory::finding::{AccessInfo, AccessKind, Fact, Place, Wait, WaitReason};
use pellucid_memory::raw;
use pellucid_memory::scope::{Scope, StorageClasses};
use pellucid_memory::system::{LANES, Mask, MemoryView, ReadSeen, Trap};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// A unit that makes no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Who; `unit.next` is where it stands.
    pub unit: Unit,
    /// Its lanes, running or parked.
    pub lanes: Mask,
    /// What keeps it from making progress.
    pub reason: Reason,
    /// Who wrote last where it looks, if that does not wait there, too.
    pub wrote: Option<Invocation>,
}

/// What a unit did in one of the turns that were taken when nothing could make progress any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who: workgroup, subgroup and strand.
    pub who: (u32, u32, u32),
    /// Its lanes, running or parked.
    pub lanes: Mask,
    /// The lanes that ran.
    pub ran: Mask,
    /// The instruction of its last access, or the barrier at which it arrived.
    pub site: Site,
    /// The access; `None`: it arrived at a barrier of the workgroup.
    pub access: Option<Operand>,
}

/// Why a unit makes no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It repeats the operation at `unit.next`, or a loop around it, and what it reads does not change.
    Repeats(Option<Operand>),
    /// It has taken as many turns of loops as the watchdog allows.
    Turns,
    /// It has arrived at the control barrier at `unit.next`, and others of its workgroup have not.
    Barrier,
    /// It could run, but the scheduler runs others for ever.
    Starved,
    /// So could it, and it has not run at all.
    NotStarted,
}

/// What the operation that a unit stands before accesses, for its first running lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Read, write or read-modify-write.
    pub kind: AccessKind,
    /// The scope of an atomic.
    pub atomic: Option<Scope>,
    /// The memory that it accesses.
    pub place: Place,
    /// What is there, where memory is flat.
    pub value: Option<u64>,
}

impl Operand {
    /// Of a read that memory has seen.
    pub(crate) fn of(read: &ReadSeen) -> Operand {
        Operand { kind: read.kind, atomic: read.atomic, place: read.place, value: None }
    }
}

impl Waiting {
    /// Of a strand over flat memory, which stands at `next`.
    pub(crate) fn new(
        strand: &Strand,
        (workgroup, subgroup, number): (u32, u32, u32),
        next: Site,
        reason: Reason,
    ) -> Waiting {
        let mask = strand.mask;
        let unit = Unit { workgroup, subgroup, strand: number, next, mask, ..Unit::default() };
        Waiting { unit, lanes: strand.live, reason, wrote: None }
    }
}

/// Says who waits: some of `waiting`, the first of each place before others, and how many more. `outside`
/// workgroups have not started.
pub fn facts(
    waiting: &[Waiting],
    outside: u64,
    invocation: impl Fn(u32, u32, u32) -> Invocation,
) -> Vec<Fact> {
    // One of each place comes first: who is to end the others' waiting may wait at another.
    let mut places: BTreeMap<(WaitReason, Site), u32> = BTreeMap::new();
    let mut waits: Vec<(WaitReason, u32, Wait)> = Vec::new();
    for waiting in waiting {
        let wait = waiting.told(&invocation);
        let turn = places.entry((wait.reason, wait.access.site)).or_default();
        *turn += 1;
        waits.push((wait.reason, *turn, wait));
    }
    waits.sort_by_key(|(reason, turn, _)| (*reason, *turn));
    let more = waits.len().saturating_sub(TOLD) as u64;
    let mut facts: Vec<Fact> =
        waits.into_iter().take(TOLD).map(|(.., wait)| Fact::Waits(Box::new(wait))).collect();
    if more + outside > 0 {
        facts.push(Fact::MoreWait(more, outside));
    }
    facts
}

/// The watchdog ends a dispatch in which these wait, and `outside` workgroups have not started.
#[cold]
pub(crate) fn watchdog(context: &Context<'_>, waiting: &[Waiting], outside: u64) -> Trap {
    Trap::Watchdog(facts(waiting, outside, |workgroup, subgroup, lane| {
        let workgroup = context.launch.workgroup(workgroup);
        context.launch.identity(workgroup, subgroup).invocation(0, lane)
    }))
}

/// Waits that are told one by one.
const TOLD: usize = 8;

impl Waiting {
    /// Whether it repeats an access of this place, which an access of `workgroup` goes to.
    pub(crate) fn repeats_at(&self, workgroup: u32, place: &Place) -> bool {
        let Reason::Repeats(Some(Operand { place: own, .. })) = &self.reason else { return false };
        let local = place.class == StorageClasses::WORKGROUP;
        let same = (own.class == StorageClasses::WORKGROUP) == local && own.address == place.address;
        same && (!local || self.unit.workgroup == workgroup)
    }

    fn told(&self, invocation: &impl Fn(u32, u32, u32) -> Invocation) -> Wait {
        let Waiting { unit, lanes, reason, wrote } = *self;
        // Who repeats a loop are the running lanes; the parked ones wait for those.
        let lanes = if matches!(reason, Reason::Repeats(_) | Reason::Turns) { unit.mask } else { lanes };
        let lanes = (0..LANES as u32).filter(|lane| lanes >> lane & 1 != 0);
        let mut who: Vec<Invocation> =
            lanes.map(|lane| invocation(unit.workgroup, unit.subgroup, lane)).collect();
        who.sort_by_key(|one| one.local_index);
        let by = who.first().copied().unwrap_or_else(|| invocation(unit.workgroup, unit.subgroup, 0));
        let mut access = AccessInfo::standing(unit.next, by);
        let reason = match reason {
            Reason::Repeats(operand) => {
                if let Some(operand) = operand {
                    access.kind = operand.kind;
                    access.atomic = operand.atomic;
                    access.place = operand.place;
                    access.returned = operand.value;
                }
                WaitReason::Repeats
            }
            Reason::Turns => WaitReason::Turns,
            Reason::Barrier => WaitReason::Barrier,
            Reason::Starved => WaitReason::Starved,
            Reason::NotStarted => WaitReason::NotStarted,
        };
        Wait { access, invocations: runs(who.iter().map(|one| one.local_index)), reason, wrote }
    }
}

/// The static instruction that a strand stands before; `Site(0)` if that has none.
pub(crate) fn site_at(program: &Program, pc: u32) -> Site {
    let Some(inst) = program.code.get(pc as usize) else { return Site(0) };
    let k = inst.imm as usize;
    let found = match inst.op.shape()[5] {
        OperandKind::Memory => program.memory.get(k).map(|entry| entry.site),
        OperandKind::Barrier => program.barriers.get(k).map(|entry| entry.site),
        OperandKind::Image => program.images.get(k).map(|entry| entry.site),
        _ => None,
    };
    found.unwrap_or(Site(0))
}

/// The instruction of the loop that a strand repeats by which to name it: the one it stands before, else the
/// nearest access before it.
pub(crate) fn loop_site(program: &Program, pc: u32) -> Site {
    let access = |inst: &Inst| match inst.op.shape()[4] {
        OperandKind::Memory => program.memory.get(usize::from(inst.aux)).map(|entry| entry.site),
        _ => None,
    };
    let site = |pc: u32| match site_at(program, pc) {
        Site(0) => program.code.get(pc as usize).and_then(access).unwrap_or(Site(0)),
        site => site,
    };
    (0..=pc).rev().take(256).map(site).find(|site| *site != Site(0)).unwrap_or(Site(0))
}

/// What the memory operation at a strand's position accesses.
pub(crate) fn operand(context: &Context<'_>, strand: &Strand) -> Option<Operand> {
    operand_of(context, strand, strand.mask.trailing_zeros() as usize)
}

/// The memory operation of an instruction; register, shift and immediate of its offset.
pub(crate) fn memory_entry<'p>(
    program: &'p Program,
    inst: &Inst,
) -> Option<(&'p MemoryEntry, (u32, u32, u32))> {
    let shape = inst.op.shape();
    if shape[5] == OperandKind::Memory {
        let entry = program.memory.get(inst.imm as usize)?;
        Some((entry, (entry.offset, entry.shift, entry.immediate)))
    } else if shape[4] == OperandKind::Memory {
        Some((program.memory.get(inst.aux as usize)?, (inst.a.into(), inst.c.into(), inst.imm)))
    } else {
        None
    }
}

/// What the memory operation at a strand's position accesses for one lane.
pub(crate) fn operand_of(context: &Context<'_>, strand: &Strand, lane: usize) -> Option<Operand> {
    let inst = context.program.code.get(strand.pc as usize)?;
    let (entry, offset) = memory_entry(context.program, inst)?;
    let kind = entry.atomic.map_or(AccessKind::Read, AccessKind::ReadModifyWrite);
    let (place, value) = place(context, strand, entry, offset, lane)?;
    Some(Operand { kind, atomic: entry.access.atomic, place, value })
}

/// Where a lane's access goes, and what flat memory holds there.
fn place(
    context: &Context<'_>,
    strand: &Strand,
    entry: &MemoryEntry,
    (register, shift, immediate): (u32, u32, u32),
    lane: usize,
) -> Option<(Place, Option<u64>)> {
    let word = |register: u32| strand.vectors.get(register as usize)?.0.get(lane).copied();
    let low = word(register)? << (shift & 31);
    let offset = u64::from(low.wrapping_add(immediate));
    let of_view = |view: &MemoryView<'_>| {
        let flat = !context.program.modelled;
        let value = flat.then(|| raw::load(view, offset, entry.access.size, Ordering::Relaxed)).flatten();
        (view.reference, view.address + offset, offset, value)
    };
    let (reference, address, offset, value) = match entry.space {
        Space::View(slot) => of_view(context.views.get(slot as usize)?),
        Space::Element { binding, element } => of_view(&context.resources.view(binding, word(element)?)),
        Space::Workgroup(reference) => (reference, offset, offset, None),
        Space::Physical => {
            let address = u64::from(word(register + 1)?) << 32 | u64::from(word(register)?);
            (Reference::PHYSICAL, address.wrapping_add(u64::from(immediate)), 0, None)
        }
        Space::Push | Space::Private { .. } => return None,
    };
    let size = u32::from(entry.access.size) * u32::from(entry.access.components);
    Some((Place { class: entry.access.class, reference, address, offset, size }, value))
}
