//! Where the state of agents is kept: per workgroup one copy while all its agents are alike, else one per
//! agent.

use super::agents::Operation;
use super::facts::{Facts, Pending};
use super::horizon::Time;
use super::topology::AgentId;
use std::sync::Arc;

/// The state of an agent. No facts stand for those at the start.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub facts: Option<Arc<Facts>>,
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
        self.time == other.time && same(&self.facts, &other.facts) && same(&self.pending, &other.pending)
    }
}

/// Control barriers of a whole workgroup that its facts do not tell of yet: only their times have passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferred {
    /// One of them: all have its scope and semantics.
    pub operation: Operation,
    pub count: u32,
}

#[derive(Clone, Debug)]
enum Block {
    /// The agents of this workgroup are not running.
    Closed,
    Alike(Stored, Option<Deferred>),
    Each(Box<[Stored]>),
}

/// The state of all agents.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    size: u32,
    blocks: Vec<Block>,
    stranger: Stored,
}

impl Blocks {
    /// `agents` agents in closed blocks of `size`.
    pub fn new(agents: u32, size: u32) -> Blocks {
        let size = size.max(1);
        Blocks {
            size,
            blocks: vec![Block::Closed; agents.div_ceil(size) as usize],
            stranger: Stored { facts: None, pending: None, time: 1 },
        }
    }

    pub fn open(&mut self, block: u32) {
        if let Some(slot) = self.blocks.get_mut(block as usize) {
            *slot = Block::Alike(self.stranger.clone(), None);
        }
    }

    pub fn close(&mut self, block: u32) {
        if let Some(slot) = self.blocks.get_mut(block as usize) {
            *slot = Block::Closed;
        }
    }

    #[inline]
    pub fn get(&self, agent: AgentId) -> &Stored {
        match self.blocks.get((agent / self.size) as usize) {
            Some(Block::Alike(stored, _)) => stored,
            Some(Block::Each(stored)) => &stored[(agent % self.size) as usize],
            _ => &self.stranger,
        }
    }

    /// The agent's state, to be changed for it alone; nothing if it does not run.
    pub fn get_mut(&mut self, agent: AgentId) -> Option<&mut Stored> {
        let block = self.blocks.get_mut((agent / self.size) as usize)?;
        if let Block::Alike(stored, deferred) = block {
            debug_assert!(deferred.is_none(), "the facts are complete");
            *block = Block::Each(vec![stored.clone(); self.size as usize].into());
        }
        match block {
            Block::Each(stored) => stored.get_mut((agent % self.size) as usize),
            _ => None,
        }
    }

    /// The one state of all agents of a block, if they are alike, and the barriers that its facts leave out.
    pub fn alike(&mut self, block: u32) -> Option<(&mut Stored, &mut Option<Deferred>)> {
        match self.blocks.get_mut(block as usize)? {
            Block::Alike(stored, deferred) => Some((stored, deferred)),
            _ => None,
        }
    }

    /// Whether the facts of an agent tell of all barriers.
    #[inline]
    pub fn complete(&self, agent: AgentId) -> bool {
        !matches!(self.blocks.get((agent / self.size) as usize), Some(Block::Alike(_, Some(_))))
    }

    /// Notices that all agents of a block have become alike.
    pub fn settle(&mut self, block: u32) {
        if let Some(slot) = self.blocks.get_mut(block as usize)
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

    /// Agents of one block.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The present times of up to 32 agents of one workgroup, from `first`.
    #[inline]
    pub fn times(&self, first: AgentId) -> [Time; 32] {
        let mut times = [1; 32];
        match self.blocks.get((first / self.size) as usize) {
            Some(Block::Alike(stored, _)) => times = [stored.time; 32],
            Some(Block::Each(stored)) => {
                let from = (first % self.size) as usize;
                for (time, stored) in times.iter_mut().zip(&stored[from..]) {
                    *time = stored.time;
                }
            }
            _ => {}
        }
        times
    }
}
