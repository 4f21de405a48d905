//! The common case of a plain access: whole aligned words that the lane itself, or its workgroup before a
//! full barrier, accessed last.
//!
//! Everything that is the same for all lanes is decided once. A lane that is not in the common case is left
//! to the general path.

use super::core::Core;
use crate::access::{Access, AtomicOp};
use crate::race::{AgentId, Cell, CellRun, Level, RUN, Record, Shadow, StaticAccess, Time};
use crate::raw;
use crate::system::{LANES, Lanes, Mask, MemoryView};
use std::sync::atomic::Ordering;

/// Executions of an atomic, or of an access with an availability or visibility operation, per kind, that take
/// the general path and so can be part of explanations.
const EXPLAINED: u32 = 2048;

/// Cells by the number of their word.
pub(super) trait Words {
    fn cell(&mut self, word: u64) -> &mut Cell;

    /// The same for a word that is about to be written.
    #[inline(always)]
    fn cell_to_write(&mut self, word: u64) -> &mut Cell {
        self.cell(word)
    }

    /// The run that begins with this word, where cells are in runs.
    #[inline(always)]
    fn run(&mut self, word: u64) -> Option<&mut CellRun> {
        let _ = word;
        None
    }

    /// The same for one that is about to be written.
    #[inline(always)]
    fn run_to_write(&mut self, word: u64) -> Option<&mut CellRun> {
        self.run(word)
    }
}

impl Words for Shadow {
    #[inline(always)]
    fn cell(&mut self, word: u64) -> &mut Cell {
        Shadow::cell(self, word)
    }

    #[inline(always)]
    fn cell_to_write(&mut self, word: u64) -> &mut Cell {
        Shadow::cell_to_write(self, word)
    }

    #[inline(always)]
    fn run(&mut self, word: u64) -> Option<&mut CellRun> {
        word.is_multiple_of(RUN as u64).then(|| Shadow::run(self, word))
    }

    #[inline(always)]
    fn run_to_write(&mut self, word: u64) -> Option<&mut CellRun> {
        word.is_multiple_of(RUN as u64).then(|| Shadow::run_to_write(self, word))
    }
}

impl Words for Vec<Cell> {
    #[inline(always)]
    fn cell(&mut self, word: u64) -> &mut Cell {
        // Accesses are in bounds, and there is a cell for each word.
        let last = self.len() - 1;
        &mut self[(word as usize).min(last)]
    }
}

/// Where the lanes access.
pub(super) struct Place<'a> {
    pub view: &'a MemoryView<'a>,
    pub offset: &'a Lanes,
    pub immediate: u32,
    /// Words that nobody wrote in this dispatch are undefined; of device memory: those that nobody had
    /// written before, either.
    pub undefined: bool,
    /// The view is one of device memory.
    pub device: bool,
}

/// What the lanes do.
pub(super) enum LaneOperation<'a> {
    Load(&'a mut [Lanes]),
    Store(&'a [Lanes]),
    Modify(AtomicOp, &'a [Lanes], &'a mut [Lanes]),
}

/// Most words of one access: 16 components of 8 bytes.
const MOST_WORDS: usize = 32;

/// The whole words that an access has if it is aligned to them: of 64-bit components two for each, of two
/// 16-bit components one. 0: it may have parts of words.
#[inline(always)]
fn words(access: &Access) -> u64 {
    let components = u64::from(access.components);
    match access.size {
        4 => components,
        8 if access.atomic.is_none() => 2 * components,
        2 if components % 2 == 0 => components / 2,
        _ => 0,
    }
}

/// Word `k` of a lane's value.
#[inline(always)]
fn word(value: &[Lanes], halves: bool, k: usize, lane: usize) -> u32 {
    if halves { value[2 * k].0[lane] & 0xffff | value[2 * k + 1].0[lane] << 16 } else { value[k].0[lane] }
}

impl Core {
    /// Whether an instruction may be in the common case at all.
    #[inline(always)]
    pub fn may_be_fast(&mut self, kind: u32, access: &Access) -> bool {
        self.traces = false;
        let followed = self.exploring.is_some() || self.overlay.is_some() || self.caches.is_some();
        if words(access) == 0 || followed || self.only_order() {
            return false;
        }
        let kind_of = self.kinds.get(kind);
        let atomic = access.atomic.is_some();
        if atomic && (!kind_of.read || !kind_of.write || kind_of.operation().synchronises()) {
            return false;
        }
        // The general path takes words apart, and keeps them so: only whole components go there to be traced.
        let explains = self.explains(kind, access);
        self.traces = explains && access.size != 4;
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
pub(super) fn serve<C: Words>(
    mut fast: FastPath,
    core: &Core,
    cells: &mut C,
    place: &Place<'_>,
    mask: Mask,
    access: &Access,
    mut does: LaneOperation<'_>,
) -> Mask {
    let kinds = core.kinds.list();
    let (words, halves) = (words(access), access.size == 2);
    let view = place.view;
    if !view.address.is_multiple_of(4) || view.size() < 4 * words {
        return mask;
    }
    let last = view.size() - 4 * words;
    let mut todo = match &mut does {
        _ if words != 1 || halves || access.atomic.is_some() || !fast.alike => mask,
        LaneOperation::Load(out) => fast.load_runs(core, cells, place, mask, &mut out[0]),
        LaneOperation::Store(value) => fast.store_runs(core, cells, place, mask, &value[0]),
        LaneOperation::Modify(..) => mask,
    };
    let mut left = 0;
    while todo != 0 {
        let lane = todo.trailing_zeros() as usize;
        let offset = u64::from(place.offset.0[lane].wrapping_add(place.immediate));
        let mut served = offset <= last && offset % 4 == 0;
        if served {
            let first = (view.address + offset) / 4;
            let mut kept = [[false; 3]; MOST_WORDS];
            for k in 0..words {
                let cell = match does {
                    LaneOperation::Load(_) => cells.cell(first + k),
                    _ => cells.cell_to_write(first + k),
                };
                let at = offset + 4 * k;
                let old = raw::load(view, at, 4, Ordering::Relaxed).unwrap_or(0) as u32;
                let address = view.address + at;
                let undefined = place.undefined
                    && cell.write.kind == 0
                    && (!place.device || core.unwritten.any(address, address + 4));
                served &= match &mut does {
                    LaneOperation::Load(out) => {
                        if halves {
                            out[2 * k as usize].0[lane] = old & 0xffff;
                            out[2 * k as usize + 1].0[lane] = old >> 16;
                        } else {
                            out[k as usize].0[lane] = old;
                        }
                        fast.read(kinds, cell, lane, undefined)
                    }
                    LaneOperation::Store(value) => match fast.keeps(kinds, cell, lane) {
                        Some(keep) if words == 1 => {
                            cell.overwrite(fast.record(lane), old, keep);
                            let new = word(value, halves, 0, lane);
                            raw::store(view, at, 4, u64::from(new), Ordering::Relaxed);
                            true
                        }
                        Some(keep) => {
                            kept[k as usize % MOST_WORDS] = keep;
                            true
                        }
                        None => false,
                    },
                    LaneOperation::Modify(op, value, out) => {
                        let pending = || core.agents.has_pending(fast.first_lane + lane as u32);
                        let keep = if undefined || pending() { None } else { fast.keeps(kinds, cell, lane) };
                        if let Some(keep) = keep {
                            cell.overwrite(fast.record(lane), old, keep);
                            let new = raw::apply(*op, 4, u64::from(old), u64::from(value[0].0[lane]), 0);
                            raw::store(view, at, 4, new, Ordering::Relaxed);
                            out[0].0[lane] = old;
                        }
                        keep.is_some()
                    }
                };
            }
            // Several words are written together or not at all.
            if let LaneOperation::Store(value) = &does
                && served
                && words > 1
            {
                for (k, keep) in (0..words).zip(kept) {
                    let at = offset + 4 * k;
                    let old = raw::load(view, at, 4, Ordering::Relaxed).unwrap_or(0) as u32;
                    cells.cell(first + k).overwrite(fast.record(lane), old, keep);
                    let new = word(value, halves, k as usize, lane);
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
    }
    left
}

/// Lanes that access a run together.
const RUN_LANES: Mask = ((1u64 << RUN) - 1) as Mask;

impl FastPath {
    /// The word and offset of the run that the lanes from `lane` access word after word, if they do.
    #[inline(always)]
    fn run_of(&self, place: &Place<'_>, mask: Mask, lane: usize) -> Option<(u64, u64)> {
        if mask >> lane & RUN_LANES != RUN_LANES {
            return None;
        }
        let offsets: &[u32; RUN] = place.offset.0[lane..].first_chunk()?;
        let gaps = (0..RUN).fold(0, |gaps, j| gaps | (offsets[j] ^ offsets[0].wrapping_add(4 * j as u32)));
        let offset = u64::from(offsets[0].wrapping_add(place.immediate));
        let bytes = 4 * RUN as u64;
        let address = place.view.address.checked_add(offset)?;
        (gaps == 0 && address.is_multiple_of(bytes) && offset.checked_add(bytes)? <= place.view.size())
            .then_some((address / 4, offset))
    }

    #[inline(always)]
    fn load_runs<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        out: &mut Lanes,
    ) -> Mask {
        let mut left = mask;
        for lane in (0..LANES).step_by(RUN) {
            let Some((word, offset)) = self.run_of(place, mask, lane) else { continue };
            let Some(cell) = cells.run(word).and_then(CellRun::whole) else { continue };
            let end = 4 * (word + RUN as u64);
            let undefined = place.undefined && cell.write.kind == 0 && core.unwritten.any(4 * word, end);
            if self.read(core.kinds.list(), cell, lane, undefined)
                && raw::copy_words_out(place.view, offset, &mut out.0[lane..lane + RUN])
            {
                left &= !(RUN_LANES << lane);
            }
        }
        left
    }

    #[inline(always)]
    fn store_runs<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        value: &Lanes,
    ) -> Mask {
        let mut left = mask;
        for lane in (0..LANES).step_by(RUN) {
            // Lanes write in ascending order.
            let Some((word, offset)) = self.run_of(place, mask, lane) else { break };
            let Some(run) = cells.run_to_write(word) else { break };
            let Some(cell) = run.whole() else { break };
            let Some(keep) = self.keeps(core.kinds.list(), cell, lane) else { break };
            cell.overwrite(self.record(lane), 0, keep);
            raw::copy_words_out(place.view, offset, run.before());
            raw::copy_words_in(place.view, offset, &value.0[lane..lane + RUN]);
            left &= !(RUN_LANES << lane);
        }
        left
    }
}

/// What is decided once per instruction.
pub(super) struct FastPath {
    kind: u32,
    reference: u32,
    non_private: bool,
    atomic: bool,
    level: Option<Level>,
    own: i8,
    size: u8,
    first_agent: AgentId,
    group_agents: u32,
    full: Time,
    first_lane: AgentId,
    times: [Time; LANES],
    /// All lanes have one time.
    alike: bool,
    /// The earlier kind looked at last, and whether it has this reference, is non-private too, and is a
    /// mutually ordered atomic.
    last: u32,
    last_same: bool,
    last_atomic: bool,
    last_shared: bool,
    last_mutual: bool,
    /// It is private, and this one is not; or it is more available: then times are looked at.
    last_hidden: bool,
    /// Mutually ordered within the workgroup.
    last_local: bool,
}

impl FastPath {
    #[inline(always)]
    pub fn new(core: &Core, kind: u32, workgroup: u32, first_lane: AgentId) -> FastPath {
        let own = core.kinds.get(kind);
        let (times, alike) = core.agents.times(workgroup, (first_lane - core.first_agent) as usize);
        FastPath {
            kind,
            reference: own.reference,
            non_private: own.non_private,
            atomic: own.atomic,
            level: own.level,
            own: own.own(),
            size: own.size,
            first_agent: core.first_agent,
            group_agents: core.group_agents,
            full: core.full[(own.class.bits().trailing_zeros() & 3) as usize],
            first_lane,
            alike,
            times,
            last: u32::MAX,
            last_same: false,
            last_atomic: false,
            last_shared: false,
            last_mutual: false,
            last_hidden: false,
            last_local: false,
        }
    }

    #[cold]
    fn look(&mut self, kinds: &[StaticAccess], number: u32) {
        let kind = &kinds[number as usize];
        self.last = number;
        self.last_same = kind.reference == self.reference;
        self.last_atomic = kind.atomic;
        self.last_shared = self.last_same && kind.non_private && self.non_private;
        self.last_hidden = (self.non_private && !kind.non_private) || kind.own() > self.own;
        // Queue family and device scope: one instance in a dispatch.
        self.last_mutual = self.last_same
            && self.atomic
            && kind.atomic
            && kind.size == self.size
            && self.level.min(kind.level) >= Some(2);
        self.last_local = self.last_same
            && self.atomic
            && kind.atomic
            && kind.size == self.size
            && self.level.min(kind.level) == Some(1);
    }

    /// Whether the earlier access is ordered before one by `agent` now, or else mutually ordered with it: a
    /// cache of [`crate::race::Order`].
    #[inline(always)]
    fn order(&mut self, kinds: &[StaticAccess], earlier: &Record, agent: AgentId) -> (bool, bool) {
        if earlier.kind != self.last {
            self.look(kinds, earlier.kind);
        }
        let local = earlier.agent.wrapping_sub(self.first_agent) < self.group_agents;
        let ordered = (self.last_same && earlier.agent == agent)
            || (self.last_shared && earlier.time <= self.full && local);
        (ordered, self.last_mutual || (self.last_local && local))
    }

    #[inline(always)]
    fn record(&self, lane: usize) -> Record {
        Record { agent: self.first_lane + lane as u32, time: self.times[lane], kind: self.kind }
    }

    /// Lane `lane` reads the word; false, and nothing done, if it is not the common case. `undefined`: a word
    /// that nobody wrote is not.
    #[inline(always)]
    pub fn read(&mut self, kinds: &[StaticAccess], cell: &mut Cell, lane: usize, undefined: bool) -> bool {
        let record = self.record(lane);
        if cell.history != 0 {
            return false;
        }
        if cell.write.kind == 0 {
            if undefined {
                return false;
            }
        } else if !self.order(kinds, &cell.write, record.agent).0 || self.last_atomic {
            return false;
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
            && first.agent.wrapping_sub(self.first_agent) < self.group_agents
            && latest.agent.wrapping_sub(self.first_agent) < self.group_agents;
        if enough {
            cell.forgot |= first.agent != record.agent && latest.agent != record.agent;
        } else {
            if cell.forgets(&record, 15) {
                return false;
            }
            cell.read(record, 15);
        }
        true
    }

    /// Which accesses of the cell stay when lane `lane` writes the word (see [`Cell::overwrite`]); nothing if
    /// that is not the common case.
    #[inline(always)]
    fn keeps(&mut self, kinds: &[StaticAccess], cell: &Cell, lane: usize) -> Option<[bool; 3]> {
        let agent = self.first_lane + lane as u32;
        if cell.history != 0 {
            return None;
        }
        let mut keep = [false; 3];
        for (keep, earlier) in keep.iter_mut().zip([cell.readers[0], cell.readers[1], cell.write]) {
            if earlier.kind != 0 {
                let (ordered, mutual) = self.order(kinds, &earlier, agent);
                if (!ordered && !mutual) || self.last_hidden {
                    return None;
                }
                *keep = !ordered;
            }
        }
        Some(keep)
    }
}
