//! The common case of a plain access: whole aligned words that the lane itself, or its workgroup before a
//! full barrier, accessed last.
//!
//! Everything that is the same for all lanes is decided once. A lane that is not in the common case is left
//! to the general path.

mod owned;
mod parts;
mod runs;
mod shape;

use self::shape::{by_parts, per_word, word, words};
use super::access_table::Looked;
use super::conflicts::Who;
use super::core::Core;
use super::group::Members;
use super::words::{Place, Words};
use crate::access::{Access, AtomicOp};
use crate::component::{get, put};
use crate::history::bits;
use crate::plain;
use crate::race::{AgentId, Cell, Keep, RUN, Record, StaticAccess, Time, Times, bytes_of};
use crate::raw;
use crate::scope::StorageClasses;
use crate::system::{LANES, Lanes, Mask};
use std::sync::atomic::Ordering;

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
        // What a rehearsal stores to a workgroup's memory is nobody else's in any case.
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
        // The general path takes words apart, and keeps them so: only whole components go there to be traced.
        let explains = self.explains(kind, access);
        self.traces = explains && access.size != 4 && !atomic;
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
pub(super) fn serve<C: Words, const NEAR: bool>(
    mut fast: FastPath<'_, NEAR>,
    core: &Core,
    cells: &mut C,
    place: &Place<'_>,
    mask: Mask,
    access: &Access,
    mut does: LaneOperation<'_>,
) -> Mask {
    if by_parts(access) {
        return match (does, access.size) {
            (LaneOperation::Load(out), 1) => fast.load_parts::<C, 1>(core, cells, place, mask, access, out),
            (LaneOperation::Load(out), _) => fast.load_parts::<C, 2>(core, cells, place, mask, access, out),
            (LaneOperation::Store(value), 1) => {
                fast.store_parts::<C, 1>(core, cells, place, mask, access, value)
            }
            (LaneOperation::Store(value), _) => {
                fast.store_parts::<C, 2>(core, cells, place, mask, access, value)
            }
            (LaneOperation::Modify(..), _) => mask,
        };
    }
    let (words, per_word) = (words(access), per_word(access));
    let view = place.view;
    if !view.address.is_multiple_of(4) || view.size() < 4 * words {
        return mask;
    }
    if words == 1 && per_word == 1 {
        match &mut does {
            LaneOperation::Load(out) if access.atomic.is_none() => {
                return fast.load_words(core, cells, place, mask, access, out);
            }
            LaneOperation::Store(value) => return fast.store_words(core, cells, place, mask, access, value),
            _ => {}
        }
    }
    let last = view.size() - 4 * words;
    let stamp = fast.stamp().filter(|_| access.atomic.is_none());
    let mut todo = mask;
    let (alike, may_own) = (fast.alike && access.atomic.is_none(), fast.may_own::<C>(words, access));
    match &mut does {
        LaneOperation::Load(out) => {
            if let Some(stamp) = stamp {
                todo &= !cells.settled(stamp, place, mask, words);
            }
            if alike {
                todo = fast.load_steps(core, cells, place, todo, words, stamp);
            }
            if may_own {
                todo = fast.load_owned(core, cells, place, todo, words);
            }
            plain::load_view(view, place.offset, place.immediate, mask & !todo, access, out);
        }
        LaneOperation::Store(value) => {
            if alike {
                todo = fast.store_steps(core, cells, place, todo, (words, per_word), value);
            }
            if may_own {
                todo = fast.store_owned(core, cells, place, todo, (words, per_word), value);
            }
        }
        LaneOperation::Modify(..) => {}
    }
    let whole = access.atomic.is_some() && words == 2;
    let mut left = 0;
    while todo != 0 {
        let lane = todo.trailing_zeros() as usize;
        let offset = place.offset(lane);
        let aligned =
            if whole { (view.address + offset).is_multiple_of(8) } else { offset.is_multiple_of(4) };
        let mut served = offset <= last && aligned;
        let (mut settles, mut keeps) = (true, [[Keep::No; 3]; 2]);
        if served {
            let first = (view.address + offset) / 4;
            for k in 0..words {
                let cell = match does {
                    LaneOperation::Load(_) => cells.cell(first + k),
                    _ => cells.cell_to_write(first + k),
                };
                let at = offset + 4 * k;
                let old = raw::load(view, at, 4, Ordering::Relaxed).unwrap_or(0) as u32;
                let address = view.address + at;
                let undefined = place.is_undefined(&core.unwritten, cell, address..address + 4);
                let split = cell.is_split();
                served &= match &mut does {
                    LaneOperation::Load(out) => {
                        let components = out[per_word * k as usize..].iter_mut().take(per_word);
                        for (to, bytes) in components.zip(bytes_of(per_word)) {
                            to.0[lane] = (old & bits(*bytes)) >> (8 * bytes.trailing_zeros());
                        }
                        let read = fast.read(core, cell, lane, undefined);
                        match stamp {
                            Some(stamp) if read && fast.settles(core, cell) => cells.settle(first + k, stamp),
                            _ => settles = false,
                        }
                        read || (split && fast.read_split(core, cells, place, first + k, lane))
                    }
                    LaneOperation::Store(_) => {
                        fast.overwrites(core, cell, lane)
                            || (split && fast.joins(core, cells, first + k, lane))
                    }
                    LaneOperation::Modify(op, value, out) => {
                        let agent = fast.first_lane + lane as u32;
                        let pending = || fast.any_pending && core.agents.has_pending(agent);
                        let keep =
                            if undefined || pending() { None } else { fast.keeps::<true>(core, cell, lane) };
                        if let Some(keep) = keep {
                            if fast.tells {
                                fast.tell(core, cell.write, agent);
                            }
                            keeps[k as usize % 2] = keep;
                            if words == 1 {
                                cell.overwrite_keeping(fast.record(lane), old, keep);
                                let by = u64::from(value[0].0[lane]);
                                let new = raw::apply(*op, 4, u64::from(old), by, 0);
                                raw::store(view, at, 4, new, Ordering::Relaxed);
                                out[0].0[lane] = old;
                            }
                        }
                        keep.is_some()
                    }
                };
            }
            // Several words are written together or not at all.
            if let LaneOperation::Modify(op, value, out) = &mut does
                && served
                && words == 2
            {
                let old = raw::load(view, offset, 8, Ordering::Relaxed).unwrap_or(0);
                for (k, keep) in (0..words).zip(keeps) {
                    let old = (old >> (32 * k)) as u32;
                    cells.cell_to_write(first + k).overwrite_keeping(fast.record(lane), old, keep);
                }
                let new = raw::apply(*op, 8, old, get(value, 0, 8, lane), 0);
                raw::store(view, offset, 8, new, Ordering::Relaxed);
                put(out, 0, 8, lane, old);
            }
            if let LaneOperation::Store(value) = &does
                && served
            {
                for k in 0..words {
                    let at = offset + 4 * k;
                    let old = raw::load(view, at, 4, Ordering::Relaxed).unwrap_or(0) as u32;
                    let cell = cells.joined(first + k);
                    fast.count(core, cell, lane, (1, per_word));
                    cell.overwrite(fast.record(lane), old);
                    let new = word(value, per_word, k as usize, lane);
                    raw::store(view, at, 4, u64::from(new), Ordering::Relaxed);
                }
            }
        }
        if !served {
            if !matches!(does, LaneOperation::Load(_)) {
                // Lanes write in ascending order: behind one that is left, all are.
                return left | todo;
            }
            left |= 1 << lane;
        }
        todo &= todo - 1;
        if let LaneOperation::Load(out) = &mut does
            && served
            && settles
        {
            // The others that read the same.
            let same = place.same(lane, todo) & todo;
            for value in out.iter_mut() {
                crate::component::each(same, |other| value.0[other] = value.0[lane]);
            }
            todo &= !same;
        }
    }
    left
}

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// Loads a word for each lane; returns the lanes that are left for the general path.
    #[inline(always)]
    fn load_words<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Mask {
        let inside = place.aligned(1) & mask;
        plain::load_view(place.view, place.offset, place.immediate, inside, access, out);
        let mut todo = inside;
        let stamp = self.stamp();
        if let Some(stamp) = stamp {
            todo &= !cells.settled(stamp, place, todo, 1);
        }
        if self.alike {
            todo = self.load_runs::<C, 1, RUN>(core, cells, place, todo, stamp);
        }
        if self.may_own::<C>(1, access) {
            todo = self.load_owned(core, cells, place, todo, 1);
        }
        let mut left = mask & !inside;
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            todo &= todo - 1;
            let address = place.view.address + place.offset(lane);
            let cell = cells.cell(address / 4);
            let undefined = place.is_undefined(&core.unwritten, cell, address..address + 4);
            if cell.is_split() {
                left |= Mask::from(!self.read_split(core, cells, place, address / 4, lane)) << lane;
            } else if !self.read(core, cell, lane, undefined) {
                left |= 1 << lane;
            } else if let Some(stamp) = stamp
                && self.settles(core, cell)
            {
                cells.settle(address / 4, stamp);
                todo &= !place.same(lane, todo);
            }
        }
        left
    }

    /// Stores of one word. Lanes write in ascending order: behind one that is left, all are.
    #[inline(always)]
    fn store_words<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Mask {
        let mask_left = match self.alike {
            true => self.store_runs::<C, 1, RUN>(core, cells, place, mask, 1, value),
            false => mask,
        };
        let mask_left = match self.may_own::<C>(1, access) {
            true => self.store_owned(core, cells, place, mask_left, (1, 1), value),
            false => mask_left,
        };
        let outside = mask_left & !place.aligned(1);
        let inside = mask_left & (outside & outside.wrapping_neg()).wrapping_sub(1);
        let mut old = [Lanes::ZERO];
        plain::load_view(place.view, place.offset, place.immediate, inside, access, &mut old);
        let mut todo = inside;
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            let address = place.view.address + place.offset(lane);
            let cell = cells.cell_to_write(address / 4);
            let cell = if self.overwrites(core, cell, lane) {
                cell
            } else if cell.is_split() && self.joins(core, cells, address / 4, lane) {
                cells.joined(address / 4)
            } else {
                break;
            };
            self.count(core, cell, lane, (1, 1));
            cell.overwrite(self.record(lane), old[0].0[lane]);
            todo &= todo - 1;
        }
        let done = inside & !todo;
        plain::store_view(place.view, place.offset, place.immediate, done, access, value);
        mask_left & !done
    }
}

/// What is decided once per instruction.
pub(super) struct FastPath<'a, const NEAR: bool> {
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
        let [first, latest] = &cell.readers;
        if first.kind == 0 {
            cell.readers[0] = record;
            cell.reader_bytes[0] = 15;
            return true;
        }
        // Two readers of this instruction since the last barrier say as much as three.
        let enough = latest.kind == record.kind
            && first.kind == record.kind
            && latest.time == record.time
            && first.time == record.time
            && cell.reader_bytes == [15, 15]
            && self.is_local(first.agent)
            && self.is_local(latest.agent)
            && core.stand_for_all(&cell.readers);
        if enough {
            cell.forgot |= first.agent != record.agent && latest.agent != record.agent;
        } else {
            let near = core.near(cell, &record);
            if cell.forgets(&record, 15, near) {
                return false;
            }
            cell.read(record, 15, near);
        }
        true
    }

    /// What a word is settled under for this access: the kind and the time, if they fit and all lanes have
    /// one time.
    #[inline(always)]
    fn stamp(&self) -> Option<u32> {
        let time = self.times.alike()?;
        (self.kind < 1 << 12 && time < 1 << 20).then_some(self.kind << 20 | time)
    }

    /// Whether a read by this kind at this time, whoever of the workgroup reads, is ordered and changes
    /// nothing of a cell that was read so: it then holds two such readers, and others are forgotten.
    #[inline(always)]
    fn settles(&mut self, core: &Core, cell: &Cell) -> bool {
        let known = |reader: &Record| {
            reader.kind == self.kind && reader.time == self.times.of(0) && self.is_local(reader.agent)
        };
        cell.forgot
            && cell.reader_bytes == [15, 15]
            && cell.readers.iter().all(known)
            && core.stand_for_all(&cell.readers)
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
