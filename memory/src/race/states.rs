//! Cells without their agents and values, numbered.
//!
//! Of thousands of words all that their cells remember is the same but for who it was and the value before:
//! which instructions accessed them, when, and what is forgotten. This is a *state*. What an access makes of
//! it depends on how those who accessed the word before stand to the one who does now, and on nothing else of
//! the word. It is found out once.

use super::cell::{Cell, NOBODY};
use super::order::Record;
use super::topology::AgentId;
use super::vector_clock::Time;
use rustc_hash::FxHashMap;

/// The agents of a cell: who wrote, and the first and the latest reader. Those of absent records mean
/// nothing.
pub type Parties = [AgentId; 3];

/// What an access makes of a state hangs on, beside it and its agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Situation {
    /// The kind of the access.
    pub kind: u32,
    /// Whether it writes.
    pub write: bool,
    /// When all its agents are.
    pub time: Time,
    /// Until when barriers order what came before.
    pub until: [Time; 4],
    /// Words that nobody wrote are undefined.
    pub undefined: bool,
    /// Of what is known of kinds.
    pub version: u32,
}

/// A situation, a state, and how the state's agents stand to the one who accesses. Its numbers are the
/// asker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The number of a [`Situation`].
    pub situation: u32,
    /// The number of a state.
    pub state: u32,
    /// Everything that matters of the agents.
    pub stands: u32,
}

impl Question {
    /// Where it is among the recent ones.
    #[inline(always)]
    fn place(&self) -> usize {
        let mixed = self.situation.wrapping_mul(0x9e37_79b9)
            ^ self.state.wrapping_mul(0x85eb_ca6b)
            ^ self.stands.wrapping_mul(0xc2b2_ae35);
        (mixed >> 16) as usize % RECENT
    }
}

/// What an access makes of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The state after it.
    pub state: u32,
    /// Of each of its [`Parties`]: which of those before it is, or [`Next::SELF`].
    pub from: [u8; 3],
}

impl Next {
    /// The one who accesses.
    pub const SELF: u8 = 3;
    /// Another one who does at once.
    pub const SECOND: u8 = 4;

    /// The same agents in this state.
    pub fn same(state: u32) -> Next {
        Next { state, from: [0, 1, 2] }
    }
}

/// Most states that are told apart.
const STATES: usize = 1 << 16;
/// Most situations and answers that are kept.
const ANSWERS: usize = 1 << 16;
/// Places for what was asked last.
const RECENT: usize = 256;

/// All that a state is: its records, of agent 0; the bytes that its readers read; whether others who read,
/// and who wrote, are forgotten, and whether its readers stand for all.
type State = ([Record; 3], [u8; 2], [bool; 3]);

type Answer = (Question, Option<Next>);

/// No state has this number.
const NO_ANSWER: Answer = (Question { situation: 0, state: u32::MAX, stands: 0 }, None);

/// What has a number, and what accesses make of it.
#[derive(Clone)]
pub struct States {
    /// Cells in which all agents and the value before are 0.
    list: Vec<Cell>,
    numbers: FxHashMap<State, u32>,
    situations: FxHashMap<Situation, u32>,
    /// Of each kind of access the situation that was asked for last.
    last: Vec<Option<(Situation, u32)>>,
    /// Situations so far: none gets the number of one that was forgotten.
    numbered: u32,
    answers: FxHashMap<Question, Option<Next>>,
    recent: Box<[Answer; RECENT]>,
}

impl Default for States {
    fn default() -> States {
        States {
            list: vec![Cell::EMPTY],
            numbers: FxHashMap::default(),
            situations: FxHashMap::default(),
            last: Vec::new(),
            numbered: 0,
            answers: FxHashMap::default(),
            recent: Box::new([NO_ANSWER; RECENT]),
        }
    }
}

/// A record of whatever agent.
fn of_anybody(record: Record) -> Record {
    if record.kind == 0 { NOBODY } else { Record { agent: 0, ..record } }
}

impl States {
    /// Forgets all but the state of a word that nobody accessed, which is 0.
    pub fn clear(&mut self) {
        self.forget_answers();
        self.list.truncate(1);
        self.numbers.clear();
    }

    fn forget_answers(&mut self) {
        self.situations.clear();
        self.last.clear();
        self.answers.clear();
        self.recent.fill(NO_ANSWER);
    }

    /// Whether more states than may be told apart are not far.
    #[inline(always)]
    pub fn crowded(&self) -> bool {
        self.list.len() > STATES / 2
    }

    /// The cell of this number, of agent 0.
    #[inline(always)]
    pub fn get(&self, state: u32) -> &Cell {
        &self.list[state as usize]
    }

    /// The cell of a word in this state.
    #[inline]
    pub fn cell(&self, state: u32, [write, first, latest]: Parties, before: u32) -> Cell {
        let of = self.get(state);
        let by = |record: &Record, agent| match record.kind {
            0 => NOBODY,
            _ => Record { agent, ..*record },
        };
        let readers = [by(&of.readers[0], first), by(&of.readers[1], latest)];
        Cell { write: by(&of.write, write), readers, before, ..*of }
    }

    /// Which of its agents a word in this state has.
    #[inline(always)]
    pub fn there(&self, state: u32) -> [bool; 3] {
        let Cell { write, readers: [first, latest], .. } = self.get(state);
        [write.kind != 0, first.kind != 0, latest.kind != 0]
    }

    /// Those of the agents that a word in this state has; in place of others nobody.
    pub fn parties(&self, state: u32, mut parties: Parties) -> Parties {
        for (party, there) in parties.iter_mut().zip(self.there(state)) {
            *party = if there { *party } else { AgentId::MAX };
        }
        parties
    }

    /// The number of a cell, of whatever agents; nothing if it has more than a state tells, or there are too
    /// many. `stand_for_all`: its two readers do; that is said of them beside the cell.
    pub fn number(&mut self, cell: &Cell, stand_for_all: bool) -> Option<u32> {
        if cell.history != 0 {
            return None;
        }
        let records = [cell.write, cell.readers[0], cell.readers[1]].map(of_anybody);
        let key = (records, cell.reader_bytes, [cell.forgot, cell.forgot_writes, stand_for_all]);
        let [write, first, latest] = records;
        let state = Cell { write, readers: [first, latest], before: 0, ..*cell };
        if state.is_empty() && !cell.forgot && !cell.forgot_writes && cell.reader_bytes == [0, 0] {
            return Some(0);
        }
        if let Some(number) = self.numbers.get(&key) {
            return Some(*number);
        }
        let next = self.list.len() as u32;
        if self.list.len() >= STATES {
            return None;
        }
        self.numbers.insert(key, next);
        self.list.push(state);
        Some(next)
    }

    /// The number of a situation.
    #[inline(always)]
    pub fn situation(&mut self, situation: &Situation) -> u32 {
        match self.last.get(situation.kind as usize) {
            Some(Some((last, number))) if last == situation => *number,
            _ => self.find_situation(situation),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_situation(&mut self, situation: &Situation) -> u32 {
        if self.answers.len() > ANSWERS || self.situations.len() > ANSWERS {
            self.forget_answers();
        }
        let number = *self.situations.entry(*situation).or_insert_with(|| {
            self.numbered += 1;
            self.numbered
        });
        let kind = situation.kind as usize;
        if self.last.len() <= kind {
            self.last.resize(kind + 1, None);
        }
        self.last[kind] = Some((*situation, number));
        number
    }

    /// What the access makes of the state; nothing if `made`, which is asked once, makes nothing of it.
    #[inline(always)]
    pub fn next(
        &mut self,
        question: Question,
        made: impl FnOnce(&mut States) -> Option<Next>,
    ) -> Option<Next> {
        let place = question.place();
        let (known, answer) = &self.recent[place];
        if *known == question {
            return *answer;
        }
        self.ask(place, question, made)
    }

    #[cold]
    #[inline(never)]
    fn ask(
        &mut self,
        place: usize,
        question: Question,
        made: impl FnOnce(&mut States) -> Option<Next>,
    ) -> Option<Next> {
        let answer = match self.answers.get(&question) {
            Some(known) => *known,
            None => {
                let made = made(self);
                self.answers.insert(question, made);
                made
            }
        };
        self.recent[place] = (question, answer);
        answer
    }
}

/// In place of the number of a state: the word has a cell.
pub const IN_CELL: u32 = u32::MAX;
/// The same: its halves have states.
pub const IN_HALVES: u32 = u32::MAX - 1;
/// The same: its bytes have.
pub const IN_BYTES: u32 = u32::MAX - 2;
/// The same: the run that it is in is to be asked.
pub const IN_RUN: u32 = u32::MAX - 3;
/// The least of these.
pub const ELSEWHERE: u32 = IN_RUN;

/// What is remembered of consecutive words, or of consecutive parts of words.
#[derive(Clone, Default)]
pub struct StateList {
    /// A number among the [`States`].
    pub states: Vec<u32>,
    /// The value before the last write, as a [`Cell`] has it.
    pub before: Vec<u32>,
    /// The agents.
    pub parties: [Vec<AgentId>; 3],
}

impl StateList {
    /// There are so many of them at least, of which nothing is known.
    pub fn grow(&mut self, units: usize) {
        if self.states.len() < units {
            let [write, first, latest] = &mut self.parties;
            for list in [&mut self.states, &mut self.before, write, first, latest] {
                list.resize(units, 0);
            }
        }
    }

    /// The same, without room for many more.
    pub fn grow_exactly(&mut self, units: usize) {
        let more = units.saturating_sub(self.states.len());
        if more > self.states.capacity() - self.states.len() {
            let [write, first, latest] = &mut self.parties;
            for list in [&mut self.states, &mut self.before, write, first, latest] {
                list.reserve_exact(more.max(list.len() / 4));
            }
        }
        self.grow(units);
    }

    /// Gives back the memory of those behind so many.
    pub fn shrink(&mut self, units: usize) {
        let [write, first, latest] = &mut self.parties;
        for list in [&mut self.states, &mut self.before, write, first, latest] {
            list.truncate(units);
            list.shrink_to_fit();
        }
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        5 * size_of_val(&self.states[..])
    }

    /// Whether the one with this index and the next one are alike but for their values, and have states.
    pub fn is_like_next(&self, states: &States, index: usize) -> bool {
        let state = self.states[index];
        let parties = |index| states.parties(state, self.parties(index));
        state < ELSEWHERE && state == self.states[index + 1] && parties(index) == parties(index + 1)
    }

    /// The agents of the one with this index.
    #[inline(always)]
    pub fn parties(&self, index: usize) -> Parties {
        [self.parties[0][index], self.parties[1][index], self.parties[2][index]]
    }

    /// The cell of the one with this index.
    pub fn cell(&self, states: &States, index: usize) -> Cell {
        states.cell(self.states[index], self.parties(index), self.before[index])
    }

    /// The one with an index here becomes what one of another list is.
    pub fn copy(&mut self, index: usize, other: &StateList, from: usize) {
        self.states[index] = other.states[from];
        self.before[index] = other.before[from];
        for (own, other) in self.parties.iter_mut().zip(&other.parties) {
            own[index] = other[from];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::Dropped;
    use super::*;

    fn by(agent: AgentId, time: Time, kind: u32) -> Record {
        Record { agent, time, kind }
    }

    /// A word that one agent has read and then another has written.
    fn cell(reader: AgentId, writer: AgentId) -> Cell {
        let mut cell = Cell::EMPTY;
        cell.read(by(reader, 1, 5), 15, Dropped::Latest);
        cell.overwrite(by(writer, 2, 6), 3);
        cell.read(by(reader, 3, 5), 15, Dropped::Latest);
        cell
    }

    #[test]
    fn a_state_is_a_cell_of_whatever_agents() {
        let mut states = States::default();
        let number = states.number(&cell(7, 8), false).unwrap();
        assert_eq!(states.number(&cell(9, 2), false), Some(number));
        let back = states.cell(number, [2, 9, 77], 3);
        assert_eq!((back.write, back.before), (by(2, 2, 6), 3));
        assert_eq!(back.readers, [by(9, 3, 5), NOBODY]);
        // Another that differs in who has been forgotten, and none.
        assert_ne!(states.number(&Cell { forgot: true, ..cell(7, 8) }, false).unwrap(), number);
        assert_ne!(states.number(&cell(7, 8), true), Some(number));
        assert_eq!(states.number(&Cell::EMPTY, false), Some(0));
        assert_eq!(states.number(&Cell { history: 4, ..Cell::EMPTY }, false), None);
    }

    #[test]
    fn what_an_access_makes_of_a_state_is_asked_once() {
        let mut states = States::default();
        let situation =
            |time| Situation { kind: 3, write: true, time, until: [0; 4], undefined: false, version: 0 };
        let mut asked = 0;
        for _ in 0..3 {
            let number = states.situation(&situation(4));
            let question = Question { situation: number, state: 0, stands: 0 };
            let next = states.next(question, |states| {
                asked += 1;
                Some(Next { state: states.number(&cell(1, 1), false)?, from: [Next::SELF; 3] })
            });
            assert_eq!(states.get(next.unwrap().state).write, by(0, 2, 6));
            // So many others that it is not among the recent ones.
            for stands in 1..=2 * RECENT as u32 {
                assert_eq!(states.next(Question { stands, ..question }, |_| None), None);
            }
            assert_ne!(states.situation(&situation(5)), number);
        }
        assert_eq!(asked, 1);
    }
}
