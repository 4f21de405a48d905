//! Where the state of agents is kept: per running workgroup one copy while all its agents are alike, else one
//! per agent. Workgroups that do not run take no memory, however many a dispatch has.

use super::agents::Operation;
use super::clocks::{Clocks, Pending};
use super::topology::AgentId;
use super::vector_clock::Time;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// The state of an agent. No clocks stand for those at the start.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub clocks: Option<Arc<Clocks>>,
    pub pending: Option<Arc<Pending>>,
    pub time: Time,
}

impl Stored {
    /// Whether the two are one shared copy.
    #[inline]
    pub fn is(&self, other: &Stored) -> bool {
        fn same<T>(a: &Option<Arc<T>>, b: &Option<Arc<T>>) -> bool {
            match (a, b) {
                (None, None) => true,
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                _ => false,
            }
        }
        self.time == other.time && same(&self.clocks, &other.clocks) && same(&self.pending, &other.pending)
    }

    /// Whether the two say the same, copies or not.
    #[cfg(debug_assertions)]
    pub fn says(&self, other: &Stored) -> bool {
        let pending = match (&self.pending, &other.pending) {
            (Some(own), Some(other)) => own.says(other),
            (None, None) => true,
            _ => false,
        };
        pending && self.time == other.time && self.clocks == other.clocks
    }
}

/// The present times of agents that follow one another.
#[derive(Clone, Copy, Debug)]
pub struct Times<'a> {
    /// That of the first agent, and of all if they have one time.
    first: Time,
    /// Of each agent, if their times differ.
    each: &'a [Stored],
}

impl Times<'_> {
    /// The time of the agent with this number among them.
    #[inline(always)]
    pub fn of(&self, number: usize) -> Time {
        self.each.get(number).map_or(self.first, |stored| stored.time)
    }

    /// The one time that all of them have, if it is one.
    #[inline(always)]
    pub fn alike(&self) -> Option<Time> {
        self.each.is_empty().then_some(self.first)
    }
}

/// A control barrier of a whole workgroup, and the memory barriers around it that every invocation executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeBarrier {
    /// The control barrier.
    pub operation: Operation,
    /// The memory barriers directly before it, in their order.
    pub before: SmallVec<[Operation; 1]>,
    /// Those directly behind it.
    pub behind: SmallVec<[Operation; 1]>,
}

impl WholeBarrier {
    /// A control barrier alone.
    pub fn of(operation: Operation) -> WholeBarrier {
        WholeBarrier { operation, before: SmallVec::new(), behind: SmallVec::new() }
    }

    /// Whether the other one does the same.
    pub(super) fn is_like(&self, other: &WholeBarrier) -> bool {
        let like = |own: &[Operation], others: &[Operation]| {
            own.len() == others.len() && own.iter().zip(others).all(|(own, other)| own.is_like(other))
        };
        self.operation.is_like(&other.operation)
            && like(&self.before, &other.before)
            && like(&self.behind, &other.behind)
    }

    /// Whether the control barrier orders, makes available and visible in its workgroup all that it does at
    /// all; and in no more than that if there are memory barriers.
    pub(super) fn is_full(&self) -> bool {
        let semantics = &self.operation.semantics;
        let full =
            semantics.acquire && semantics.release && semantics.make_available && semantics.make_visible;
        full && (self.operation.level == Some(1) || self.is_alone() && self.operation.level > Some(1))
    }

    /// Whether there is no memory barrier.
    fn is_alone(&self) -> bool {
        self.before.is_empty() && self.behind.is_empty()
    }

    /// Whether it orders nothing but accesses of its workgroup, among each other.
    pub(super) fn is_local(&self) -> bool {
        self.is_alone() && self.operation.level <= Some(1)
    }

    /// Times that pass with it.
    pub fn times(&self) -> Time {
        self.before.len() as Time + 1 + self.behind.len() as Time
    }

    /// All in their order.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.before.iter().chain([&self.operation]).chain(&self.behind)
    }
}

/// Control barriers of a whole workgroup that its clocks do not tell of yet: only their times have passed.
#[derive(Clone, Debug)]
pub(super) struct Deferred {
    /// The last of them, which all are like.
    pub barrier: WholeBarrier,
    pub count: u32,
}

#[derive(Clone, Debug)]
enum Block {
    Alike(Stored, Option<Deferred>),
    Each(Box<[Stored]>),
}

/// The state of all agents that run.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    size: u32,
    blocks: Vec<Block>,
    /// Where in `blocks` that of a running workgroup is.
    index: FxHashMap<u32, u32>,
    /// Unused places in `blocks`.
    free: Vec<u32>,
    /// The workgroup looked for last, and its place.
    last: Cell<(u32, u32)>,
    stranger: Stored,
}

/// The place of a workgroup that does not run.
const NOWHERE: u32 = u32::MAX;

impl Blocks {
    /// Blocks of `size` agents, none of which runs.
    pub fn new(size: u32) -> Blocks {
        Blocks {
            size: size.max(1),
            blocks: Vec::new(),
            index: FxHashMap::default(),
            free: Vec::new(),
            last: Cell::new((0, NOWHERE)),
            stranger: Stored { clocks: None, pending: None, time: 1 },
        }
    }

    pub fn open(&mut self, block: u32) {
        let fresh = Block::Alike(self.stranger.clone(), None);
        let next = self.free.last().copied().unwrap_or(self.blocks.len() as u32);
        let place = *self.index.entry(block).or_insert(next);
        if place == next && self.free.pop().is_none() {
            self.blocks.push(fresh);
        } else {
            self.blocks[place as usize] = fresh;
        }
        self.last.set((block, place));
    }

    pub fn close(&mut self, block: u32) {
        if let Some(place) = self.index.remove(&block) {
            self.blocks[place as usize] = Block::Alike(self.stranger.clone(), None);
            self.free.push(place);
        }
        self.last.set((block, NOWHERE));
    }

    /// The place of a block; one that no block has if it does not run.
    #[inline]
    fn place(&self, block: u32) -> usize {
        let (last, place) = self.last.get();
        if last == block { place as usize } else { self.look(block) }
    }

    #[inline(never)]
    fn look(&self, block: u32) -> usize {
        let place = self.index.get(&block).copied().unwrap_or(NOWHERE);
        self.last.set((block, place));
        place as usize
    }

    #[inline]
    pub fn get(&self, agent: AgentId) -> &Stored {
        match self.blocks.get(self.place(agent / self.size)) {
            Some(Block::Alike(stored, _)) => stored,
            Some(Block::Each(stored)) => &stored[(agent % self.size) as usize],
            None => &self.stranger,
        }
    }

    /// The agent's state, to be changed for it alone; nothing if it does not run.
    pub fn get_mut(&mut self, agent: AgentId) -> Option<&mut Stored> {
        let place = self.place(agent / self.size);
        let block = self.blocks.get_mut(place)?;
        if let Block::Alike(stored, deferred) = block {
            debug_assert!(deferred.is_none(), "the clocks are complete");
            *block = Block::Each(vec![stored.clone(); self.size as usize].into());
        }
        match block {
            Block::Each(stored) => stored.get_mut((agent % self.size) as usize),
            Block::Alike(..) => None,
        }
    }

    /// The one state of all agents of a block, if they are alike, and the barriers that its clocks leave out.
    pub fn alike(&mut self, block: u32) -> Option<(&mut Stored, &mut Option<Deferred>)> {
        let place = self.place(block);
        match self.blocks.get_mut(place)? {
            Block::Alike(stored, deferred) => Some((stored, deferred)),
            Block::Each(_) => None,
        }
    }

    /// Whether the clocks of an agent tell of all barriers.
    #[inline]
    pub fn complete(&self, agent: AgentId) -> bool {
        !matches!(self.blocks.get(self.place(agent / self.size)), Some(Block::Alike(_, Some(_))))
    }

    /// Notices that all agents of a block have become alike.
    pub fn settle(&mut self, block: u32) {
        let place = self.place(block);
        if let Some(slot) = self.blocks.get_mut(place)
            && let Block::Each(stored) = slot
            && let [first, rest @ ..] = &stored[..]
            && rest.iter().all(|other| other.is(first))
        {
            *slot = Block::Alike(first.clone(), None);
        }
    }

    /// The block of an agent.
    pub fn block(&self, agent: AgentId) -> u32 {
        agent / self.size
    }

    /// The agents of a block.
    pub fn agents(&self, block: u32) -> Range<AgentId> {
        block * self.size..(block + 1) * self.size
    }

    /// All agents of a block have this state.
    pub fn set(&mut self, block: u32, state: Stored) {
        let place = self.place(block);
        if let Some(slot) = self.blocks.get_mut(place) {
            *slot = Block::Alike(state, None);
        }
    }

    /// The state of up to `count` agents of a block, from the one with number `from` in it: of each, or one
    /// for all that are alike.
    #[inline(always)]
    fn some(&self, block: u32, from: usize, count: usize) -> &[Stored] {
        match self.blocks.get(self.place(block)) {
            Some(Block::Alike(stored, _)) => std::slice::from_ref(stored),
            Some(Block::Each(stored)) => &stored[from..stored.len().min(from + count)],
            None => &[],
        }
    }

    /// The present times of up to `count` agents of a block, from the one with number `from` in it.
    #[inline(always)]
    pub fn times(&self, block: u32, from: usize, count: usize) -> Times<'_> {
        let each = self.some(block, from, count);
        let first = each.first().map_or(self.stranger.time, |stored| stored.time);
        let alike = each.iter().all(|stored| stored.time == first);
        Times { first, each: if alike { &[] } else { each } }
    }

    /// Whether release fences of one of these agents wait for its next atomic write.
    #[inline(always)]
    pub fn any_pending(&self, block: u32, from: usize, count: usize) -> bool {
        self.fenced(block) || self.some(block, from, count).iter().any(|stored| stored.pending.is_some())
    }

    /// Whether there are release fences of all agents of a block that its clocks do not tell of yet.
    #[inline(always)]
    pub fn fenced(&self, block: u32) -> bool {
        let deferred = |deferred: &Deferred| !deferred.barrier.is_local();
        matches!(self.blocks.get(self.place(block)), Some(Block::Alike(_, Some(some))) if deferred(some))
    }
}
