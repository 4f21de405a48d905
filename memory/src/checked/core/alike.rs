//! Reads of words that accesses race on, and that stand to these as the read of another lane does, which
//! executes the same instruction: where a barrier is missing, the lanes of a subgroup read a whole tile,
//! every word of it each.

use super::super::conflicts::{Conflicts, Where, Who};
use super::Core;
use crate::history::{Loaded, Position};
use crate::race::{Clocks, Record};
use smallvec::SmallVec;
use std::sync::Arc;

/// A read of such a word, and what decided about it: all agents of the subgroup that know the same, and have
/// no part in the history, stand to the earlier accesses as this one's does.
#[derive(Clone)]
struct Racy {
    history: u32,
    /// The position of the last write then.
    last: Position,
    bytes: u8,
    clocks: Arc<Clocks>,
    racing: SmallVec<[Record; 4]>,
    value: u32,
    /// Two reads of it are remembered: whoever writes later meets one of another lane.
    twice: bool,
}

/// Those of the instruction that is executed.
#[derive(Clone, Default)]
pub(in crate::checked) struct Alike {
    kind: u32,
    /// A word of each component.
    words: SmallVec<[Racy; 4]>,
}

impl Core {
    /// Another instruction is executed.
    #[inline(always)]
    pub fn begin_alike(&mut self) {
        self.alike.words.clear();
    }

    /// What the read gets, if that of another lane tells it; its races are told.
    pub(super) fn read_alike(
        &mut self,
        number: u32,
        who: Who,
        bytes: u8,
        clocks: &Arc<Clocks>,
        place: &Where,
    ) -> Option<u32> {
        if self.alike.words.is_empty() || self.alike.kind != who.kind {
            return None;
        }
        let history = self.histories.peek(number)?;
        let raced = self.alike.words.iter().find(|raced| raced.history == number && raced.twice)?;
        let same = raced.bytes == bytes
            && raced.last == history.last()
            && Arc::ptr_eq(&raced.clocks, clocks)
            && !history.knows(who.agent);
        if !same {
            return None;
        }
        let (value, racing) = (raced.value, raced.racing.clone());
        self.report_races(&racing, who, place, None);
        Some(value)
    }

    /// A read that is not remembered yet, of a word with a history, got this. What the policy draws, and what
    /// atomics read, is each lane's own.
    pub(super) fn note_raced(
        &mut self,
        (number, who, bytes): (u32, Who, u8),
        clocks: &Arc<Clocks>,
        found: &Conflicts,
        loaded: &Loaded,
    ) {
        let Some(history) = self.histories.get(number) else { return };
        history.raced |= !found.racing.is_empty();
        if !history.raced || found.overruled != 0 || history.knows(who.agent) {
            return;
        }
        if self.alike.kind != who.kind {
            self.alike = Alike { kind: who.kind, words: SmallVec::new() };
        }
        let last = history.last();
        let words = &mut self.alike.words;
        let index = words.iter().position(|raced| raced.history == number);
        if let Some(raced) = index.map(|index| &mut words[index])
            && (raced.last, raced.bytes, raced.value) == (last, bytes, loaded.value)
            && Arc::ptr_eq(&raced.clocks, clocks)
            && raced.racing == found.racing
        {
            raced.twice = true;
            return;
        }
        let raced = Racy {
            history: number,
            last,
            bytes,
            clocks: clocks.clone(),
            racing: found.racing.clone(),
            value: loaded.value,
            twice: false,
        };
        match index {
            Some(index) => words[index] = raced,
            None => {
                if words.len() == words.inline_size() {
                    words.remove(0);
                }
                words.push(raced);
            }
        }
    }
}
