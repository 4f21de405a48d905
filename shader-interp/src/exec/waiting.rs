//! Who waits for what, when nothing moves any more.

use super::context::Context;
use super::modelled::Unit;
use super::strand::Strand;
use crate::code::{MemoryEntry, OperandKind, Program, Space};
use pellucid_memory::access::Reference;
use pellucid_memory::access::Site;
use pellucid_memory::finding::{AccessKind, Place};
use pellucid_memory::scope::Scope;
use pellucid_memory::system::{Mask, ReadSeen};

/// A unit that makes no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Who; `unit.next` is where it stands.
    pub unit: Unit,
    /// Its lanes, running or parked.
    pub lanes: Mask,
    /// Why.
    pub reason: Reason,
}

/// Why a unit makes no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It repeats the operation at `unit.next`, or a loop around it, and what it reads does not change.
    Repeats(Option<Operand>),
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
    /// How.
    pub kind: AccessKind,
    /// The scope of an atomic.
    pub atomic: Option<Scope>,
    /// Where.
    pub place: Place,
}

impl Operand {
    /// Of a read that memory has seen.
    pub(crate) fn of(read: &ReadSeen) -> Operand {
        Operand { kind: read.kind, atomic: read.atomic, place: read.place }
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
    let mut before = (0..=pc).rev().take(256).map(|pc| site_at(program, pc));
    before.find(|site| *site != Site(0)).unwrap_or(Site(0))
}

/// What the memory operation at a strand's position accesses.
pub(crate) fn operand(context: &Context<'_>, strand: &Strand) -> Option<Operand> {
    let program = context.program;
    let inst = program.code.get(strand.pc as usize)?;
    if inst.op.shape()[5] != OperandKind::Memory {
        return None;
    }
    let entry = program.memory.get(inst.imm as usize)?;
    let kind = entry.atomic.map_or(AccessKind::Read, AccessKind::ReadModifyWrite);
    Some(Operand { kind, atomic: entry.access.atomic, place: place(context, strand, entry)? })
}

fn place(context: &Context<'_>, strand: &Strand, entry: &MemoryEntry) -> Option<Place> {
    let lane = strand.mask.trailing_zeros() as usize;
    let word = |register: u32| strand.vectors.get(register as usize)?.0.get(lane).copied();
    let low = word(entry.offset)? << (entry.shift & 31);
    let offset = u64::from(low.wrapping_add(entry.immediate));
    let (reference, address, offset) = match entry.space {
        Space::View(slot) => {
            let view = context.views.get(slot as usize)?;
            (view.reference, view.address + offset, offset)
        }
        Space::Element { binding, element } => {
            let view = context.view(binding, word(element)?);
            (view.reference, view.address + offset, offset)
        }
        Space::Workgroup(reference) => (reference, offset, offset),
        Space::Physical => {
            let address = u64::from(word(entry.offset + 1)?) << 32 | u64::from(word(entry.offset)?);
            (Reference::PHYSICAL, address.wrapping_add(u64::from(entry.immediate)), 0)
        }
        Space::Push | Space::Private { .. } => return None,
    };
    let size = u32::from(entry.access.size) * u32::from(entry.access.components);
    Some(Place { class: entry.access.class, reference, address, offset, size })
}
