//! The common case of an access: aligned words, halves or bytes that the lane itself, or its workgroup before
//! a barrier, accessed last.
//!
//! What is remembered of them is asked in this order: runs (`runs.rs`), states (`by_state.rs`), cells
//! (`by_cell.rs`), cells of parts (`parts.rs`).
//!
//! Everything that is the same for all lanes is decided once. A lane that is not in the common case is left
//! to the general path.

mod by_cell;
mod by_state;
mod parts;
mod runs;
mod sets;
mod shape;

pub(super) use self::sets::common_case;
use self::shape::{by_parts, per_word, word, words};
use super::access_table::Looked;
use super::conflicts::Who;
use super::core::Core;
use super::group::Members;
use super::words::{Place, Words};
use crate::access::{Access, AtomicOp};
use crate::plain;
use crate::race::{AgentId, Cell, Keep, Record, StaticAccess, Time, Times};
use crate::scope::StorageClasses;
use crate::system::{LANES, Lanes, Mask};

/// Executions of an atomic, or of an access with an availability or visibility operation, per kind, that take
/// the general path and so can be part of explanations.
const EXPLAINED: u32 = 2048;

/// A memory operation of a subgroup, with the registers that it reads and writes.
pub(super) enum LaneOperation<'a> {
    Load(&'a mut [Lanes]),
    Store(&'a [Lanes]),
    Modify(AtomicOp, &'a [Lanes], &'a mut [Lanes]),
}

impl Core {
    /// Whether an instruction may be in the common case at all.
    #[inline(always)]
    pub fn may_be_fast(&mut self, kind: u32, access: &Access) -> bool {
        self.traces = false;
        // What a rehearsal stores to the memory of workgroups is nobody else's anyway.
        let rehearsed = self.overlay.is_some() && access.class != StorageClasses::WORKGROUP;
        let followed = self.exploring.is_some() || rehearsed || self.caches.is_some();
        if (words(access) == 0 && !by_parts(access)) || followed || self.only_order() {
            return false;
        }
        let kind_of = self.kinds.get(kind);
        let atomic = access.atomic.is_some();
        if atomic && (!kind_of.read || !kind_of.write || kind_of.operation().synchronises()) {
            return false;
        }
        // The general path takes words apart, and keeps them so: atomics alone go there to be traced.
        let explains = self.explains(kind, access);
        self.traces = explains && !atomic;
        !explains || self.traces
    }

    /// Whether explanations may need to see this execution of an instruction. Counts it.
    #[inline(always)]
    pub fn explains(&mut self, kind: u32, access: &Access) -> bool {
        if access.atomic.is_none() && access.available.is_none() && access.visible.is_none() {
            return false;
        }
        let slot = kind as usize;
        if self.executed.len() <= slot {
            self.executed.resize(slot + 1, 0);
        }
        self.executed[slot] += 1;
        if self.executed[slot] > EXPLAINED / LANES as u32 {
            return false;
        }
        // Atomics may be meant to synchronise where the result of one decides something.
        let decides = || self.report.outline.as_ref().is_some_and(|outline| outline.any_decides());
        !self.agents.untracked() || (access.atomic.is_some() && decides())
    }
}

/// Serves the lanes that are in the common case; returns the others.
#[inline(always)]
fn serve<C: Words, const NEAR: bool>(
    mut fast: FastPath<'_, NEAR>,
    core: &Core,
    cells: &mut C,
    place: &Place<'_>,
    mask: Mask,
    access: &Access,
    does: LaneOperation<'_>,
) -> Mask {
    match does {
        LaneOperation::Load(out) => {
            let left = fast.load(core, cells, place, mask, access);
            // All at once: registers of others are not kept.
            plain::load_view(place.view, place.offset, place.immediate, mask & !left, access, out);
            left
        }
        LaneOperation::Store(value) => fast.store(core, cells, place, mask, (access, value)),
        LaneOperation::Modify(op, value, out) => {
            fast.modify_cells(core, cells, place, mask, access, (op, value, out))
        }
    }
}

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// Lanes read, but for the values; returns those that are left.
    #[inline(always)]
    fn load<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
    ) -> Mask {
        let mut left = mask;
        if C::HAS_RUNS && self.alike {
            left = match (by_parts(access), access.size) {
                (false, _) => self.load_steps(core, cells, place, left, words(access)),
                (true, 1) => self.load_run_of_parts::<C, 1>(core, cells, place, left, access),
                (true, _) => self.load_run_of_parts::<C, 2>(core, cells, place, left, access),
            };
        }
        if left != 0 {
            left = self.load_by_state(core, cells, place, left, access);
        }
        if left == 0 {
            return 0;
        }
        match (by_parts(access), access.size) {
            (false, _) => self.load_cells(core, cells, place, left, access),
            (true, 1) => self.load_parts::<C, 1>(core, cells, place, left, access),
            (true, _) => self.load_parts::<C, 2>(core, cells, place, left, access),
        }
    }

    /// Lanes store, of the same words in ascending order; returns those that are left.
    #[inline(always)]
    fn store<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        (access, value): (&Access, &[Lanes]),
    ) -> Mask {
        let mut left = mask;
        if C::HAS_RUNS && self.alike {
            let shape = (words(access), per_word(access));
            left = match (by_parts(access), access.size) {
                (false, _) => self.store_steps(core, cells, place, left, shape, value),
                (true, 1) => self.store_run_of_parts::<C, 1>(core, cells, place, left, (access, value)),
                (true, _) => self.store_run_of_parts::<C, 2>(core, cells, place, left, (access, value)),
            };
        }
        if left != 0 {
            left = self.store_by_state(core, cells, place, left, (access, value));
        }
        if left == 0 {
            return 0;
        }
        match (by_parts(access), access.size) {
            (false, _) => self.store_cells(core, cells, place, left, (access, value)),
            (true, 1) => self.store_parts::<C, 1>(core, cells, place, left, access, value),
            (true, _) => self.store_parts::<C, 2>(core, cells, place, left, access, value),
        }
    }
}

/// What is decided once per instruction.
struct FastPath<'a, const NEAR: bool> {
    kind: u32,
    members: Members,
    /// Of its class: [`Barriers`](super::group::Barriers).
    full: Time,
    alone: Time,
    /// The subgroup, and the same of it: looked at with `NEAR` alone, as few shaders have such barriers.
    subgroup: Members,
    near: [Time; 2],
    first_lane: AgentId,
    times: Times<'a>,
    /// All lanes have one time.
    alike: bool,
    /// Release fences of some lanes wait for their atomic writes.
    any_pending: bool,
    /// Of the workgroup's memory.
    in_workgroup: bool,
    /// Somebody asks which instructions communicate.
    tells: bool,
    /// Some races of one agent are [only counted](super::access_table::AccessTable::only_count).
    counts: bool,
    /// The earlier kind looked at last, and what is known of it beside this one.
    last: u32,
    looked: Looked,
    /// Until when accesses of that kind by the workgroup are ordered before this one, if they are shared.
    until: Time,
}

impl<'a, const NEAR: bool> FastPath<'a, NEAR> {
    #[inline(always)]
    pub fn new(core: &'a Core, kind: u32, workgroup: u32, first_lane: AgentId) -> FastPath<'a, NEAR> {
        let StaticAccess { class, atomic, .. } = *core.kinds.get(kind);
        let from = (first_lane - core.first_agent) as usize;
        let times = core.agents.times(workgroup, from, LANES);
        FastPath {
            kind,
            members: core.members(),
            full: core.barriers.until(class, false),
            alone: core.barriers.until(class, true),
            subgroup: core.subgroup.0,
            near: [false, true].map(|alone| core.subgroup.1.until(class, alone)),
            first_lane,
            alike: times.alike().is_some(),
            any_pending: atomic && core.agents.any_pending(workgroup, from, LANES),
            in_workgroup: class == StorageClasses::WORKGROUP,
            times,
            tells: core.communicated.is_some(),
            counts: core.kinds.only_counted() > 0,
            last: u32::MAX,
            looked: Looked::empty(),
            until: 0,
        }
    }

    /// Whether the earlier access is ordered before one by `agent` now, or else mutually ordered with it: a
    /// cache of [`crate::race::Order`].
    #[inline(always)]
    fn order(&mut self, core: &Core, earlier: &Record, agent: AgentId) -> (bool, bool) {
        if earlier.kind != self.last {
            (self.last, self.looked) = (earlier.kind, core.kinds.beside(self.kind, earlier.kind));
            self.until = if self.looked.contains(Looked::PASSED) { self.alone } else { self.full };
        }
        let local = self.is_local(earlier.agent);
        let ordered = (self.looked.contains(Looked::OWN) && earlier.agent == agent)
            || self.passed(earlier)
            || (NEAR && self.subgroup.contains(agent) && self.passed_near(earlier));
        (ordered, self.looked.contains(Looked::MUTUAL) || (self.looked.contains(Looked::LOCAL) && local))
    }

    /// Whether a barrier of the workgroup orders the earlier access, which was looked at last, before all of
    /// the workgroup's that follow.
    #[inline(always)]
    fn passed(&self, earlier: &Record) -> bool {
        self.members.passed(earlier, self.looked.contains(Looked::SHARED), self.until)
    }

    /// The same of a barrier of the subgroup, and of those of its agents.
    #[inline(always)]
    fn passed_near(&self, earlier: &Record) -> bool {
        let until = self.near[usize::from(self.looked.contains(Looked::PASSED))];
        self.subgroup.passed(earlier, self.looked.contains(Looked::SHARED), until)
    }

    /// What [`Core::outlasts`] says of the earlier access, which was looked at last.
    #[inline(always)]
    fn outlasts(&self, earlier: &Record) -> bool {
        self.looked.contains(Looked::OUTLASTS) && !(self.in_workgroup && self.passed(earlier))
    }

    /// Whether this agent is one of the workgroup.
    #[inline(always)]
    fn is_local(&self, agent: AgentId) -> bool {
        self.members.contains(agent)
    }

    #[inline(always)]
    fn record(&self, lane: usize) -> Record {
        Record { agent: self.first_lane + lane as u32, time: self.times.of(lane), kind: self.kind }
    }

    /// A lane reads from this write.
    #[cold]
    fn tell(&self, core: &Core, write: Record, agent: AgentId) {
        core.communicates(Some(write), Who { agent, kind: self.kind });
    }

    /// Lane `lane` reads the word; false, and nothing done, if it is not the common case. `undefined`: a word
    /// that nobody wrote is not.
    #[inline(always)]
    pub fn read(&mut self, core: &Core, cell: &mut Cell, lane: usize, undefined: bool) -> bool {
        let reads = self.reads(core, cell, lane, undefined);
        if reads && self.tells {
            self.tell(core, cell.write, self.record(lane).agent);
        }
        reads
    }

    #[inline(always)]
    fn reads(&mut self, core: &Core, cell: &mut Cell, lane: usize, undefined: bool) -> bool {
        let record = self.record(lane);
        if cell.history != 0 {
            return false;
        }
        if cell.write.kind == 0 {
            if undefined {
                return false;
            }
        } else {
            if !self.order(core, &cell.write, record.agent).0 {
                return false;
            }
            // Other atomic writes that it superseded may be among the readers.
            if self.looked.contains(Looked::ATOMIC) {
                for earlier in cell.readers {
                    if earlier.kind != 0 && !self.order(core, &earlier, record.agent).0 {
                        return false;
                    }
                }
            }
        }
        if cell.readers[0].kind == 0 {
            cell.readers[0] = record;
            cell.reader_bytes[0] = 15;
            return true;
        }
        let dropped = core.dropped(cell, &record);
        if cell.forgets(&record, 15, dropped) {
            return false;
        }
        cell.read(record, 15, dropped);
        true
    }

    /// Whether a read at this time, whoever of the workgroup reads, is ordered and changes nothing of a cell:
    /// its readers say enough, and others are forgotten.
    #[inline(always)]
    fn settles(&mut self, core: &Core, cell: &Cell) -> bool {
        self.alike
            && cell.forgot
            && core.say_enough(cell, &self.record(0))
            && (cell.write.kind == 0 || self.order(core, &cell.write, AgentId::MAX).0)
    }

    /// Whether the earlier access, which was looked at last, and a write by this agent race and are counted
    /// when it writes.
    #[inline(always)]
    fn only_counts(&self, earlier: &Record, agent: AgentId) -> bool {
        self.counts && self.looked.contains(Looked::TOLD) && earlier.agent == agent
    }

    /// Lane `lane` writes so many words with this cell, of so many components each, which is the common case:
    /// counts races.
    #[inline(always)]
    fn count(&self, core: &Core, cell: &Cell, lane: usize, words: (u64, usize)) {
        if self.counts {
            core.kinds.count(self.kind, cell, self.first_lane + lane as u32, words);
        }
    }

    /// Whether a plain store by lane `lane` to the word is the common case. Nothing of the cell stays then:
    /// only atomics are mutually ordered.
    #[inline(always)]
    fn overwrites(&mut self, core: &Core, cell: &Cell, lane: usize) -> bool {
        self.keeps::<false>(core, cell, lane).is_some()
    }

    /// Which accesses of the cell stay when lane `lane` writes the word, by an atomic or by none (see
    /// [`Cell::overwrite_keeping`]); nothing if that is not the common case.
    #[inline(always)]
    fn keeps<const ATOMIC: bool>(&mut self, core: &Core, cell: &Cell, lane: usize) -> Option<[Keep; 3]> {
        let agent = self.first_lane + lane as u32;
        if cell.history != 0 {
            return None;
        }
        let mut keep = [Keep::No; 3];
        for (keep, earlier) in keep.iter_mut().zip([cell.readers[0], cell.readers[1], cell.write]) {
            if earlier.kind != 0 {
                let (ordered, mutual) = self.order(core, &earlier, agent);
                let ordered = ordered || self.only_counts(&earlier, agent);
                // Atomics that are less available take the general path: to ask would cost all of them.
                let other = !ATOMIC && (earlier.agent != agent || earlier.time != self.times.of(lane));
                if (!ordered && !mutual)
                    || self.looked.contains(Looked::HIDDEN)
                    || (self.looked.contains(Looked::MORE_AVAILABLE) && !other)
                {
                    return None;
                }
                *keep = if !ordered {
                    Keep::Mutual
                } else if ATOMIC && self.outlasts(&earlier) {
                    Keep::Outlasts
                } else {
                    Keep::No
                };
            }
        }
        // What is kept is noted with what it stored, where somebody asks.
        (keep == [Keep::No; 3] || core.superseded.is_none()).then_some(keep)
    }
}
