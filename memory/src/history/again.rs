//! Reads that repeat the agent's last one.

use super::{Entry, History, Position, Read};
use crate::race::{Record, StaticAccess};

/// What the agent's last read of the location got, and gets again.
pub struct Again {
    /// The word's bits, where the load's bytes are.
    pub value: u32,
    /// The position read.
    pub saw: Position,
    /// The write read; nothing if that is forgotten, or none.
    pub from: Option<Record>,
}

impl History {
    /// A load by which its agent repeats its last read of the location, when nothing that decides about it
    /// has changed: no write since, no new knowledge (its time is the same), nothing that races, and the
    /// staleness budget is not spent. It gets the same value; the read is remembered as made now.
    pub fn again(&mut self, record: Record, kind: &StaticAccess, bytes: u8, budget: u32) -> Option<Again> {
        if !kind.atomic {
            return None;
        }
        let index = self.reads.iter().rposition(|read| read.record.agent == record.agent)?;
        let Read { record: earlier, bytes: read, saw, at, repeats, quiet } = self.reads[index];
        if earlier != record || read != bytes || at != self.next || !quiet || saw < self.floor {
            return None;
        }
        let newest = self.entries.last()?;
        let stale = newest.position > saw;
        if stale && repeats >= budget {
            return None;
        }
        if self.entries.iter().any(|entry| entry.bytes != bytes) {
            return None;
        }
        let again = self.entry_at(saw).map_or_else(
            || (saw == self.before_position).then_some(Again { value: self.before, saw, from: None }),
            |entry| Some(Again { value: entry.value, saw, from: Some(entry.record) }),
        )?;
        self.reads[index].repeats += u32::from(stale);
        self.reads[index..].rotate_left(1);
        Some(again)
    }

    /// The entry at a position, if it is not forgotten.
    pub fn entry_at(&self, position: Position) -> Option<&Entry> {
        let first = self.entries.first()?.position;
        self.entries.get(position.checked_sub(first)? as usize)
    }

    /// Whether the next read of the bytes by this agent moves on for having read an old entry too often.
    pub fn spent(&self, agent: u32, bytes: u8, budget: u32) -> bool {
        self.spent_on(agent, budget).any(|(read, _)| read == bytes)
    }
}
