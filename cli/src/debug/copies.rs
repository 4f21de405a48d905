//! Copies of an execution, from which going back begins instead of from the dispatch's first turn.
//!
//! When copies are made depends on the time that executing takes, and on nothing that anybody sees: from
//! whichever one a run begins, it makes the same accesses.

use super::stop::{Count, Edit, Position, Session};
use pellucid_memory::checked::CheckedMemory;
use pellucid_memory::device::MemoryRange;
use pellucid_shader_interp::exec::modelled::debugged::Snapshot;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};
use vulkan_pellucid::debugger::Kept;

/// Copies that are kept.
const MOST: usize = 32;
/// Those that were made last, which are not thinned out: they are near to where one is.
const NEWEST: usize = 8;
/// Bytes that they may take.
const MOST_BYTES: usize = 1 << 30;
/// Execution between two of them, at least.
const APART: Duration = Duration::from_millis(100);
/// The same as a multiple of what a copy costs.
const COST: u32 = 4;

/// A copy, and under what it was made.
pub struct Copy {
    /// The execution.
    pub kept: Rc<Kept>,
    /// Findings by then.
    pub found: Count,
    /// What executing the dispatch up to it took.
    spent: Duration,
    /// How many were made before it.
    made: u64,
    edits: BTreeMap<Position, Vec<Edit>>,
    turns: BTreeMap<Position, (u64, (u32, u32))>,
}

/// The copies of one dispatch, in the order of their turns.
pub struct Copies {
    /// What a copy has of device memory; `None`: there are no copies of this dispatch.
    written: Option<Vec<MemoryRange>>,
    all: Vec<Copy>,
    made: u64,
    cost: Duration,
    /// Of the present run: what executing has taken, and when that was looked at.
    spent: Duration,
    looked: Instant,
}

impl Copy {
    /// The turn that comes next.
    pub fn turn(&self) -> u64 {
        self.kept.execution().turn()
    }

    /// Whether nothing that was changed since makes it another execution.
    fn holds(&self, session: &Session) -> bool {
        let end = Position { turn: self.turn(), index: 0 };
        session.edits.range(..end).eq(self.edits.iter()) && session.turns.range(..end).eq(self.turns.iter())
    }
}

impl Copies {
    /// None yet, of a dispatch that writes these ranges.
    pub fn new(written: Option<Vec<MemoryRange>>) -> Copies {
        let (cost, spent) = (Duration::ZERO, Duration::ZERO);
        Copies { written, all: Vec::new(), made: 0, cost, spent, looked: Instant::now() }
    }

    /// The last copy before a position that still holds, and that `fits`.
    pub fn before(&self, at: Position, session: &Session, fits: impl Fn(&Copy) -> bool) -> Option<&Copy> {
        let comes = |copy: &&Copy| Position { turn: copy.turn(), index: 0 } < at;
        self.all.iter().rev().filter(comes).find(|copy| copy.holds(session) && fits(copy))
    }

    /// A run begins, from a copy if so.
    pub fn run(&mut self, from: Option<u64>) {
        let copy = from.and_then(|turn| self.all.iter().find(|copy| copy.turn() == turn));
        self.spent = copy.map_or(Duration::ZERO, |copy| copy.spent);
        self.looked = Instant::now();
    }

    /// The run goes on after a pause, which is no execution.
    pub fn go_on(&mut self) {
        self.looked = Instant::now();
    }

    /// Whether a copy is worth its cost before this turn.
    pub fn wanted(&mut self, turn: u64, session: &Session) -> bool {
        if self.written.is_none() {
            return false;
        }
        let now = Instant::now();
        self.spent += now - self.looked;
        self.looked = now;
        let apart = APART.max(self.cost * COST);
        if self.spent < apart {
            return false;
        }
        let end = Position { turn: turn + 1, index: 0 };
        let last = self.before(end, session, |_| true).map_or(Duration::ZERO, |copy| copy.spent);
        self.spent.saturating_sub(last) >= apart
    }

    /// Keeps a copy.
    pub fn keep(&mut self, execution: Snapshot, memory: &CheckedMemory, found: Count, session: &Session) {
        let Some(written) = &self.written else { return };
        let kept = Kept::new(execution, memory, written);
        let end = Position { turn: kept.execution().turn(), index: 0 };
        let edits = session.edits.range(..end).map(|(at, edits)| (*at, edits.clone())).collect();
        let turns = session.turns.range(..end).map(|(at, turn)| (*at, *turn)).collect();
        let (kept, spent) = (Rc::new(kept), self.spent);
        let copy = Copy { kept, found, spent, made: self.made, edits, turns };
        self.made += 1;
        self.all.retain(|other| other.holds(session) && other.turn() != copy.turn());
        let place = self.all.partition_point(|other| other.turn() < copy.turn());
        self.all.insert(place, copy);
        while self.all.len() > MOST || self.weight() > MOST_BYTES {
            self.thin();
        }
        let now = Instant::now();
        self.cost = self.cost.max(now - self.looked);
        self.looked = now;
    }

    fn weight(&self) -> usize {
        self.all.iter().map(|copy| copy.kept.weight()).sum()
    }

    /// Drops the copy whose neighbours are closest, of those that were not made last; of few, the oldest.
    fn thin(&mut self) {
        let spent = |k: usize| self.all.get(k).map_or(Duration::MAX, |copy| copy.spent);
        let before = |k: usize| if k == 0 { Duration::ZERO } else { spent(k - 1) };
        let mut made: Vec<u64> = self.all.iter().map(|copy| copy.made).collect();
        made.sort_unstable();
        let newest = made.len().checked_sub(NEWEST).map_or(0, |k| made[k]);
        let old = (0..self.all.len()).filter(|k| self.all[*k].made < newest);
        let drop = old.min_by_key(|k| spent(k + 1).saturating_sub(before(*k))).unwrap_or(0);
        self.all.remove(drop);
    }
}
