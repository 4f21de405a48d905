//! What the present execution has done so far: its graph, what happens before what by conflicts, and who
//! spins.

use super::digest;
use super::{Accessed, Actor, Ready};
use crate::race::Space;
use rustc_hash::FxHashMap;

/// What a step may do that matters to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Effect {
    pub actor: Actor,
    pub space: Space,
    pub word: u64,
    pub bytes: u8,
    pub write: bool,
}

#[derive(Default)]
struct Process {
    actor: Actor,
    /// Per process: 1 + its latest step that happens before what this process does next.
    clock: Vec<u32>,
    /// A digest of all steps.
    chain: u128,
    /// It spins: it takes no further step.
    blocked: bool,
    /// Where it was since it last changed anything.
    visits: Vec<u64>,
    /// What it read since.
    looks: Vec<Look>,
    changed: bool,
}

struct Look {
    place: (Space, u64),
    bytes: u8,
    from: [u64; 4],
}

/// An earlier access to a word.
struct Past {
    step: u32,
    process: usize,
    bytes: u8,
    write: bool,
}

struct Write {
    name: u64,
    bytes: u8,
    /// The write that first wrote these bits, by a chain of updates that changed nothing.
    origin: u64,
}

#[derive(Default)]
struct Word {
    writes: Vec<Write>,
    past: Vec<Past>,
    term: u128,
}

struct Step {
    clock: Vec<u32>,
}

/// The execution so far.
#[derive(Default)]
pub(super) struct Execution {
    processes: Vec<Process>,
    index: FxHashMap<Actor, usize>,
    words: FxHashMap<(Space, u64), Word>,
    names: FxHashMap<u32, u32>,
    steps: Vec<Step>,
    key: u128,
    current: Option<usize>,
    /// The clock of the current process before its step.
    before: Vec<u32>,
    /// Earlier steps that the current one races with: step and process.
    racing: Vec<(u32, usize)>,
    effects: Vec<Effect>,
}

fn at(clock: &[u32], process: usize) -> u32 {
    clock.get(process).copied().unwrap_or(0)
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    clock.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}

fn space_number(space: Space) -> u64 {
    match space {
        Space::Device => 0,
        Space::Workgroup(number) => 1 + u64::from(number),
    }
}

impl Process {
    fn term(&self) -> u128 {
        let Actor { workgroup, subgroup, part } = self.actor;
        let who = u64::from(workgroup) << 32 | u64::from(subgroup) << 8 | u64::from(part);
        digest::of(&[who, self.chain as u64, (self.chain >> 64) as u64])
    }
}

impl Execution {
    /// A digest of the execution graph.
    pub fn key(&self) -> u128 {
        self.key
    }

    fn process(&mut self, actor: Actor) -> usize {
        let next = self.processes.len();
        let number = *self.index.entry(actor).or_insert(next);
        if number == next {
            self.processes.push(Process { actor, ..Process::default() });
        }
        number
    }

    /// Whether the actor spins.
    pub fn blocked(&self, actor: Actor) -> bool {
        self.index.get(&actor).is_some_and(|number| self.processes[*number].blocked)
    }

    /// The actor takes a step, number `step` unless it is silent.
    pub fn enter(&mut self, actor: Actor, step: Option<u32>) {
        let number = self.process(actor);
        let process = &mut self.processes[number];
        self.current = Some(number);
        self.before.clone_from(&process.clock);
        if let Some(step) = step {
            let old = process.term();
            process.chain = digest::mix(process.chain, 0);
            self.key = self.key.wrapping_sub(old).wrapping_add(process.term());
            let own = step + 1;
            if process.clock.len() <= number {
                process.clock.resize(number + 1, 0);
            }
            process.clock[number] = own;
        }
    }

    /// The last step is over: returns who took it and the earlier steps that it races with, those that no
    /// other one of them comes after.
    pub fn leave(&mut self, step: bool, effects: &mut Vec<Effect>) -> Option<(Actor, Vec<u32>)> {
        let number = self.current?;
        effects.append(&mut self.effects);
        if step {
            self.steps.push(Step { clock: self.processes[number].clock.clone() });
        }
        let racing = std::mem::take(&mut self.racing);
        let last = |(index, process): &(u32, usize)| {
            !racing
                .iter()
                .any(|(other, _)| other != index && at(&self.steps[*other as usize].clock, *process) > *index)
        };
        let mut steps: Vec<u32> = racing.iter().filter(|pair| last(pair)).map(|(step, _)| *step).collect();
        steps.sort_unstable();
        steps.dedup();
        Some((self.processes[number].actor, steps))
    }

    /// Sees where the actor that took the last step stands now; blocks it if it was there before and changed
    /// nothing since.
    pub fn settle(&mut self, ready: &[Ready]) {
        let Some(number) = self.current.take() else { return };
        let process = &mut self.processes[number];
        if std::mem::take(&mut process.changed) {
            process.visits.clear();
            process.looks.clear();
        }
        let Some(now) = ready.iter().find(|ready| ready.actor == process.actor) else { return };
        if process.visits.contains(&now.local) {
            process.blocked = true;
        } else {
            process.visits.push(now.local);
        }
    }

    /// Whether what all these actors read since they last changed anything is still the newest.
    pub fn stuck(&self, ready: &[Ready]) -> bool {
        let newest = |look: &Look, byte: usize| {
            let word = self.words.get(&look.place)?;
            let write = word.writes.iter().rev().find(|write| write.bytes >> byte & 1 != 0)?;
            Some(write.origin)
        };
        ready.iter().filter_map(|ready| self.index.get(&ready.actor)).all(|number| {
            self.processes[*number].looks.iter().all(|look| {
                (0..4).all(|byte| {
                    look.bytes >> byte & 1 == 0 || newest(look, byte).unwrap_or(0) == look.from[byte]
                })
            })
        })
    }

    /// An access of the current step. Returns the name of its write.
    pub fn accessed(&mut self, access: &Accessed) -> u64 {
        let count = self.names.entry(access.agent).or_default();
        *count += 1;
        let name = u64::from(access.agent) << 32 | u64::from(*count);
        let Some(number) = self.current else { return name };
        let place = (access.space, access.word);
        let word = self.words.entry(place).or_default();
        let process = &mut self.processes[number];
        // Conflicts.
        let write = access.write.is_some();
        for past in &word.past {
            let conflict = past.process != number && past.bytes & access.bytes != 0 && (past.write || write);
            if !conflict {
                continue;
            }
            if at(&self.before, past.process) <= past.step {
                self.racing.push((past.step, past.process));
            }
            join(&mut process.clock, &self.steps[past.step as usize].clock);
        }
        let step = self.steps.len() as u32;
        word.past.push(Past { step, process: number, bytes: access.bytes, write });
        let Accessed { space, word: number_of_word, bytes, .. } = *access;
        let actor = process.actor;
        self.effects.push(Effect { actor, space, word: number_of_word, bytes, write });
        // What the process saw.
        let origin = |name: u64| match word.writes.iter().find(|write| write.name == name) {
            Some(write) => write.origin,
            None => name,
        };
        let read = access.read.unwrap_or([u64::MAX; 4]);
        let from = read.map(origin);
        if access.read.is_some() {
            process.looks.push(Look { place, bytes: access.bytes, from });
        }
        process.changed |= write && access.changed;
        // The graph.
        let old = process.term();
        let kind = u64::from(access.read.is_some()) << 9 | u64::from(write) << 8 | u64::from(access.bytes);
        for value in [space_number(access.space), access.word, kind, read[0], read[1], read[2], read[3]] {
            process.chain = digest::mix(process.chain, value);
        }
        self.key = self.key.wrapping_sub(old).wrapping_add(process.term());
        if let Some(index) = access.write {
            let first = (0..4).find(|byte| access.bytes >> byte & 1 != 0).unwrap_or(0);
            let same = access.read.is_some() && !access.changed;
            let origin = if same { from[first] } else { name };
            word.writes.insert(index.min(word.writes.len()), Write { name, bytes: access.bytes, origin });
            let start = digest::of(&[space_number(access.space), access.word]);
            let term = word.writes.iter().fold(start, |state, write| digest::mix(state, write.name));
            self.key = self.key.wrapping_sub(word.term).wrapping_add(term);
            word.term = term;
        }
        name
    }

    /// The processes of a workgroup have met at a barrier.
    pub fn joined(&mut self, workgroup: u32) {
        let mut all = Vec::new();
        let members = self.processes.iter_mut().filter(|process| process.actor.workgroup == workgroup);
        let members: Vec<&mut Process> = members.collect();
        for process in &members {
            join(&mut all, &process.clock);
        }
        for process in members {
            process.clock.clone_from(&all);
            process.visits.clear();
            process.looks.clear();
        }
    }

    /// The steps that an effect, which comes some time after what happened so far, may race with.
    pub fn races_of(&self, effect: &Effect) -> Vec<u32> {
        let Some(word) = self.words.get(&(effect.space, effect.word)) else { return Vec::new() };
        let number = self.index.get(&effect.actor).copied();
        let clock = number.map_or(&[][..], |number| &self.processes[number].clock);
        let races = |past: &&Past| {
            Some(past.process) != number
                && past.bytes & effect.bytes != 0
                && (past.write || effect.write)
                && at(clock, past.process) <= past.step
        };
        word.past.iter().filter(races).map(|past| past.step).collect()
    }
}
