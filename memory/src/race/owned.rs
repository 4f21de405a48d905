//! Words that one agent alone has accessed, by plain accesses: the elements of structures, of vectors and of
//! chunks that invocations have to themselves.
//!
//! Of such a word all that its cell remembers is the same for thousands of words but the agent and the value
//! before. So what is remembered of it is the agent, the value, and the number of a *state*: a cell without
//! both. What an access makes of a state is found out once.

use super::cell::{Cell, NOBODY};
use super::order::Record;
use super::topology::AgentId;
use super::vector_clock::Time;
use rustc_hash::FxHashMap;

/// What is remembered of one word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owned {
    /// Who alone has accessed it, in a state that is not 0.
    pub owner: AgentId,
    /// A number among the [`States`]; 0: nobody has accessed it.
    pub state: u32,
    /// The word's value before the last write.
    pub before: u32,
}

/// A plain access by the owner: its kind, its time, and whether it writes.
pub type OwnAccess = (u32, Time, bool);

/// Most states that are told apart.
const STATES: usize = 1 << 16;

/// Places for what was asked last.
const RECENT: usize = 16;

/// What has a number, and what accesses make of it.
#[derive(Clone)]
pub struct States {
    /// Cells in which all accesses are agent 0's and the value before is 0.
    list: Vec<Cell>,
    numbers: FxHashMap<[Record; 3], Vec<u32>>,
    next: FxHashMap<(u32, OwnAccess), Option<u32>>,
    recent: [((u32, OwnAccess), Option<u32>); RECENT],
    /// Under which version of what accesses make the answers were found.
    version: u32,
}

/// No state has this number.
const NO_QUESTION: ((u32, OwnAccess), Option<u32>) = ((u32::MAX, (0, 0, false)), None);

impl Default for States {
    fn default() -> States {
        States {
            list: vec![Cell::EMPTY],
            numbers: FxHashMap::default(),
            next: FxHashMap::default(),
            recent: [NO_QUESTION; RECENT],
            version: 0,
        }
    }
}

impl States {
    /// All numbers but 0 are forgotten.
    pub fn clear(&mut self) {
        self.list.truncate(1);
        self.numbers.clear();
        self.begin(0);
    }

    /// What accesses make of states is to be asked again.
    #[cold]
    fn begin(&mut self, version: u32) {
        self.next.clear();
        self.recent = [NO_QUESTION; RECENT];
        self.version = version;
    }

    /// The cell of this number.
    #[inline]
    pub fn get(&self, state: u32) -> &Cell {
        &self.list[state as usize]
    }

    /// The cell that stands for a word.
    #[inline]
    pub fn cell(&self, word: &Owned) -> Cell {
        let of = self.get(word.state);
        let by = |record: &Record| match record.kind {
            0 => NOBODY,
            _ => Record { agent: word.owner, ..*record },
        };
        Cell {
            write: by(&of.write),
            readers: [by(&of.readers[0]), by(&of.readers[1])],
            before: word.before,
            ..*of
        }
    }

    /// The number of a cell, of whatever agent; nothing if it has more than one, or more than a state tells.
    pub fn number(&mut self, cell: &Cell) -> Option<(AgentId, u32)> {
        let [first, latest] = cell.readers;
        let mut owners = [cell.write, first, latest].into_iter().filter(|record| record.kind != 0);
        let Some(Record { agent: owner, .. }) = owners.next() else {
            return (cell.history == 0).then_some((0, 0));
        };
        if cell.history != 0 || owners.any(|record| record.agent != owner) {
            return None;
        }
        let of_nobody =
            |record: Record| if record.kind == 0 { NOBODY } else { Record { agent: 0, ..record } };
        let records = [cell.write, first, latest].map(of_nobody);
        let [write, first, latest] = records;
        let state = Cell { write, readers: [first, latest], before: 0, ..*cell };
        let known = self.numbers.entry(records).or_default();
        let alike = |number: &&u32| {
            let of = &self.list[**number as usize];
            (of.reader_bytes, of.forgot, of.forgot_writes)
                == (state.reader_bytes, state.forgot, state.forgot_writes)
        };
        if let Some(number) = known.iter().find(alike) {
            return Some((owner, *number));
        }
        let next = self.list.len() as u32;
        if self.list.len() >= STATES {
            return None;
        }
        known.push(next);
        self.list.push(state);
        Some((owner, next))
    }

    /// The state after an access; nothing if `made`, which gets the state's cell and is asked once in each
    /// `version` of what it makes, makes nothing of it.
    #[inline(always)]
    pub fn follow(
        &mut self,
        state: u32,
        access: OwnAccess,
        version: u32,
        made: impl FnOnce(&Cell) -> Option<Cell>,
    ) -> Option<u32> {
        if self.version != version {
            self.begin(version);
        }
        let place = (access.0 ^ state) as usize % RECENT;
        let (question, answer) = &self.recent[place];
        if *question == (state, access) {
            return *answer;
        }
        self.ask(state, access, made)
    }

    #[cold]
    #[inline(never)]
    fn ask(
        &mut self,
        state: u32,
        access: OwnAccess,
        made: impl FnOnce(&Cell) -> Option<Cell>,
    ) -> Option<u32> {
        let answer = match self.next.get(&(state, access)) {
            Some(known) => *known,
            None => {
                let made = made(self.get(state));
                let number = made.and_then(|cell| self.number(&cell)).map(|(_, number)| number);
                self.next.insert((state, access), number);
                number
            }
        };
        self.recent[(access.0 ^ state) as usize % RECENT] = ((state, access), answer);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::Nearness;
    use super::*;

    #[test]
    fn a_state_is_a_cell_of_whatever_agent() {
        let mut states = States::default();
        let by = |agent, time, kind| Record { agent, time, kind };
        let cell = |agent| {
            let mut cell = Cell::EMPTY;
            cell.read(by(agent, 1, 5), 15, [Nearness::Elsewhere; 2]);
            cell.overwrite(by(agent, 2, 6), 0);
            cell
        };
        let (owner, number) = states.number(&cell(7)).unwrap();
        assert_eq!((owner, states.number(&cell(9))), (7, Some((9, number))));
        let word = Owned { owner: 9, state: number, before: 3 };
        let back = states.cell(&word);
        assert_eq!((back.write, back.before, back.readers), (by(9, 2, 6), 3, [NOBODY; 2]));
        // Another that differs in who has been forgotten, and one of two agents.
        assert_ne!(states.number(&Cell { forgot: true, ..cell(7) }).unwrap().1, number);
        let mut shared = cell(7);
        shared.read(by(8, 2, 5), 15, [Nearness::Elsewhere; 2]);
        assert_eq!(states.number(&shared), None);
        assert_eq!(states.number(&Cell::EMPTY), Some((0, 0)));
    }

    #[test]
    fn what_an_access_makes_of_a_state_is_asked_once() {
        let mut states = States::default();
        let write = Record { agent: 0, time: 4, kind: 3 };
        let mut asked = 0;
        for _ in 0..3 {
            let next = states.follow(0, (3, 4, true), 0, |cell| {
                asked += 1;
                let mut cell = *cell;
                cell.overwrite(write, 0);
                Some(cell)
            });
            assert_eq!(states.get(next.unwrap()).write, write);
            // So many others that it is not among the recent ones.
            (0..64).for_each(|kind| assert_eq!(states.follow(0, (100 + kind, 4, false), 0, |_| None), None));
        }
        assert_eq!(asked, 1);
    }
}
