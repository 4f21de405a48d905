//! The caches of a machine ([`crate::machine`]), as the value policy `caches` has them: they propose what a
//! load of device memory returns, and the model decides whether it may.
//!
//! Lines travel whole, and a line remembers which of its bytes it holds and which of them are not yet
//! written back, so that no store is lost. An availability operation of queue family scope or wider writes
//! back what the invocation's compute unit holds; a visibility operation drops what is clean. Narrower ones
//! do nothing: a compute unit is coherent in itself. Atomics of those scopes are done at the point of
//! coherency, narrower ones in the first level. When a dispatch begins, all caches are empty.

use crate::access::Access;
use crate::history::bits;
use crate::machine::{Level, Machine, WritePolicy};
use crate::random::nth;
use crate::scope::{Scope, Semantics, StorageClasses};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// One word of a line.
#[derive(Clone, Copy, Default)]
struct Slot {
    value: u32,
    /// Which bytes are held: bit `b` for byte `b`.
    held: u8,
    /// Which of these are not written back.
    dirty: u8,
}

impl Slot {
    fn put(&mut self, bytes: u8, value: u32) {
        self.value = self.value & !bits(bytes) | value & bits(bytes);
        self.held |= bytes;
    }
}

type Line = Vec<Slot>;

/// What a cache holds of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedCopy {
    /// 0 for a first level.
    pub level: usize,
    /// The first compute unit that has it, and how many share it.
    pub units: (u32, u32),
    /// The word's bits, where `held` says so.
    pub value: u32,
    /// Which bytes: bit `b` for byte `b`.
    pub held: u8,
    /// Which of these are not written back.
    pub dirty: u8,
}

/// What a machine holds of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// The compute unit of the reader.
    pub unit: u32,
    /// The caches that hold some of it.
    pub copies: Vec<CachedCopy>,
    /// What the point of coherency holds.
    pub coherent: u32,
    /// Loads for which the caches had a value that the model forbids.
    pub overruled: u64,
}

/// How an access goes through the caches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// From the first level on.
    Cached,
    /// With an availability or visibility operation on its line.
    Line,
    /// At the point of coherency.
    Coherent,
}

/// Whether an operation of this scope reaches beyond a compute unit.
pub(super) fn is_wide(scope: Option<Scope>) -> bool {
    scope >= Some(Scope::QueueFamily)
}

impl Path {
    pub fn of(access: &Access, write: bool) -> Path {
        match access.atomic {
            Some(scope) if is_wide(Some(scope)) => Path::Coherent,
            Some(_) => Path::Cached,
            None if is_wide(if write { access.available } else { access.visible }) => Path::Line,
            None => Path::Cached,
        }
    }
}

/// All caches of a machine.
#[derive(Clone)]
pub(super) struct Caches {
    machine: Machine,
    seed: u64,
    /// Per level and group of units: lines, by their number.
    caches: BTreeMap<(usize, u32), BTreeMap<u64, Line>>,
    /// What the point of coherency holds of words that were stored to.
    coherent: FxHashMap<u64, u32>,
    accesses: u64,
    overruled: u64,
}

impl Caches {
    pub fn new(machine: Machine) -> Caches {
        Caches {
            machine,
            seed: 0,
            caches: BTreeMap::new(),
            coherent: FxHashMap::default(),
            accesses: 0,
            overruled: 0,
        }
    }

    /// A dispatch begins.
    pub fn begin(&mut self, seed: u64) {
        *self = Caches { seed, ..Caches::new(self.machine) };
    }

    /// The compute unit of a workgroup.
    pub fn unit(&self, workgroup: u32) -> u32 {
        workgroup % self.machine.units.max(1)
    }

    fn level(&self, level: usize) -> Option<Level> {
        self.machine.levels.get(level).copied().flatten()
    }

    fn cache(&mut self, level: usize, shape: Level, unit: u32) -> &mut BTreeMap<u64, Line> {
        self.caches.entry((level, unit / shape.units.max(1))).or_default()
    }

    /// What a load of these bytes gets. `held`: what memory has of words that nothing has stored to.
    pub fn load(
        &mut self,
        unit: u32,
        word: u64,
        bytes: u8,
        path: Path,
        held: &dyn Fn(u64) -> Option<u32>,
    ) -> Option<u32> {
        self.disturb(unit);
        if path != Path::Cached {
            self.write_back_line(unit, word);
            self.drop_line(unit, word);
        }
        let level = if path == Path::Coherent { usize::MAX } else { 0 };
        self.fetch(level, unit, word, bytes, held)
    }

    fn fetch(
        &mut self,
        level: usize,
        unit: u32,
        word: u64,
        bytes: u8,
        held: &dyn Fn(u64) -> Option<u32>,
    ) -> Option<u32> {
        let Some(shape) = self.level(level) else {
            return self.coherent.get(&word).copied().or_else(|| held(word));
        };
        let words = u64::from(shape.line / 4);
        let (number, place) = (word / words, (word % words) as usize);
        let here = self.cache(level, shape, unit).get(&number).map(|line| line[place]);
        if let Some(slot) = here.filter(|slot| slot.held & bytes == bytes) {
            return Some(slot.value);
        }
        self.make_room(level, shape, unit, number);
        for k in 0..words {
            let value = self.fetch(level + 1, unit, number * words + k, 15, held);
            let line = self.cache(level, shape, unit).entry(number);
            let slot = &mut line.or_insert_with(|| vec![Slot::default(); words as usize])[k as usize];
            if let Some(value) = value {
                slot.put(15 & !slot.held, value);
            }
        }
        self.cache(level, shape, unit).get(&number).map(|line| line[place].value)
    }

    /// The model says that a load gets `value`, where the caches had `proposed`.
    pub fn settle(&mut self, unit: u32, word: u64, bytes: u8, proposed: u32, value: u32) {
        if (proposed ^ value) & bits(bytes) == 0 {
            return;
        }
        self.overruled += 1;
        for level in 0..self.machine.levels.len() {
            let Some(shape) = self.level(level) else { break };
            let words = u64::from(shape.line / 4);
            if let Some(line) = self.cache(level, shape, unit).get_mut(&(word / words)) {
                line[(word % words) as usize].put(bytes, value);
            }
        }
    }

    /// A store of these bytes; `old`: what memory had of the word.
    pub fn store(&mut self, unit: u32, word: u64, bytes: u8, value: u32, old: u32, path: Path) {
        self.disturb(unit);
        self.coherent.entry(word).or_insert(old);
        if path == Path::Coherent {
            self.write_back_line(unit, word);
            self.drop_line(unit, word);
            for level in 0..self.machine.levels.len() {
                let Some(shape) = self.level(level) else { break };
                self.take(level, shape, word / u64::from(shape.line / 4), None);
            }
            return self.put(usize::MAX, unit, word, bytes, value);
        }
        self.put(0, unit, word, bytes, value);
        if path == Path::Line {
            self.write_back_line(unit, word);
        }
    }

    fn put(&mut self, level: usize, unit: u32, word: u64, bytes: u8, value: u32) {
        let Some(shape) = self.level(level) else {
            let held = self.coherent.entry(word).or_default();
            *held = *held & !bits(bytes) | value & bits(bytes);
            return;
        };
        let words = u64::from(shape.line / 4);
        let (number, place) = (word / words, (word % words) as usize);
        if shape.writes == WritePolicy::Back {
            self.make_room(level, shape, unit, number);
            let line = self.cache(level, shape, unit).entry(number);
            let slot = &mut line.or_insert_with(|| vec![Slot::default(); words as usize])[place];
            slot.put(bytes, value);
            slot.dirty |= bytes;
            return;
        }
        self.take(level, shape, number, Some(unit / shape.units.max(1)));
        if let Some(line) = self.cache(level, shape, unit).get_mut(&number) {
            line[place].put(bytes, value);
        }
        self.put(level + 1, unit, word, bytes, value);
    }

    /// Of a coherent level: all caches but this one drop a line that is stored to.
    fn take(&mut self, level: usize, shape: Level, number: u64, own: Option<u32>) {
        if shape.writes == WritePolicy::Coherent {
            let others = self.caches.iter_mut().filter(|((l, group), _)| *l == level && Some(*group) != own);
            others.for_each(|(_, cache)| drop(cache.remove(&number)));
        }
    }

    /// Evicts a line where there is no room for another one.
    fn make_room(&mut self, level: usize, shape: Level, unit: u32, number: u64) {
        let cache = self.cache(level, shape, unit);
        if cache.len() >= shape.lines as usize && !cache.contains_key(&number) {
            self.evict(level, shape, unit);
        }
    }

    fn evict(&mut self, level: usize, shape: Level, unit: u32) {
        let dice = nth(self.seed ^ u64::from(unit) ^ (level as u64) << 32, self.accesses);
        let cache = self.cache(level, shape, unit);
        let Some(nth) = dice.checked_rem(cache.len() as u64) else { return };
        let Some(number) = cache.keys().nth(nth as usize).copied() else { return };
        self.clean(level, shape, unit, number);
        self.cache(level, shape, unit).remove(&number);
    }

    /// What else runs on the machine evicts a line at times.
    fn disturb(&mut self, unit: u32) {
        self.accesses += 1;
        let traffic = u64::from(self.machine.traffic);
        if nth(self.seed, self.accesses).checked_rem(traffic) == Some(0)
            && let Some(shape) = self.level(0)
        {
            self.evict(0, shape, unit);
        }
    }

    /// Writes a line back to the next level.
    fn clean(&mut self, level: usize, shape: Level, unit: u32, number: u64) {
        let Some(line) = self.cache(level, shape, unit).get_mut(&number) else { return };
        let words = line.len() as u64;
        let dirty = line.iter_mut().enumerate().filter(|(_, slot)| slot.dirty != 0);
        let dirty: Vec<(u64, Slot)> = dirty
            .map(|(k, slot)| {
                (number * words + k as u64, Slot { dirty: std::mem::take(&mut slot.dirty), ..*slot })
            })
            .collect();
        for (word, slot) in dirty {
            self.put(level + 1, unit, word, slot.dirty, slot.value);
        }
    }

    fn write_back_line(&mut self, unit: u32, word: u64) {
        for level in 0..self.machine.levels.len() {
            let Some(shape) = self.level(level) else { break };
            self.clean(level, shape, unit, word / u64::from(shape.line / 4));
        }
    }

    fn drop_line(&mut self, unit: u32, word: u64) {
        for level in 0..self.machine.levels.len() {
            let Some(shape) = self.level(level) else { break };
            self.cache(level, shape, unit).remove(&(word / u64::from(shape.line / 4)));
        }
    }

    /// The availability operation of a release.
    pub fn make_available(&mut self, unit: u32, scope: Scope, semantics: &Semantics) {
        if !semantics.make_available || !reaches(scope, semantics) {
            return;
        }
        for level in 0..self.machine.levels.len() {
            let Some(shape) = self.level(level) else { break };
            let lines: Vec<u64> = self.cache(level, shape, unit).keys().copied().collect();
            for number in lines {
                self.clean(level, shape, unit, number);
            }
        }
    }

    /// The visibility operation of an acquire.
    pub fn make_visible(&mut self, unit: u32, scope: Scope, semantics: &Semantics) {
        if !semantics.make_visible || !reaches(scope, semantics) {
            return;
        }
        for level in 0..self.machine.levels.len() {
            let Some(shape) = self.level(level) else { break };
            self.cache(level, shape, unit).retain(|_, line| {
                for slot in line.iter_mut() {
                    slot.held = slot.dirty;
                }
                line.iter().any(|slot| slot.dirty != 0)
            });
        }
    }

    /// What the machine holds of a word, for a reader on this unit; `newest`: what memory holds.
    pub fn look(&self, unit: u32, word: u64, newest: u32) -> Cached {
        let copies = self.caches.iter().filter_map(|((level, group), cache)| {
            let shape = self.level(*level)?;
            let words = u64::from(shape.line / 4);
            let slot = cache.get(&(word / words))?[(word % words) as usize];
            let units = (group * shape.units, shape.units);
            let copy =
                CachedCopy { level: *level, units, value: slot.value, held: slot.held, dirty: slot.dirty };
            (slot.held != 0).then_some(copy)
        });
        Cached {
            unit,
            copies: copies.collect(),
            coherent: self.coherent.get(&word).copied().unwrap_or(newest),
            overruled: self.overruled,
        }
    }
}

/// Whether availability and visibility of this scope and semantics concern device memory beyond a unit.
fn reaches(scope: Scope, semantics: &Semantics) -> bool {
    is_wide(Some(scope)) && semantics.classes.intersects(StorageClasses::UNIFORM | StorageClasses::IMAGE)
}
