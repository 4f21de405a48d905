//! The caches of a machine ([`crate::machine`]), as the value policy `caches` has them: they propose what a
//! load of device memory returns, and the model decides whether it may.
//!
//! Lines travel whole, and a line remembers which of its bytes it holds and which of them are not yet
//! written back, so that no store is lost. An availability operation of queue family scope or wider writes
//! back what the invocation's compute unit holds; a visibility operation drops what is clean. Narrower ones
//! do nothing: a compute unit is coherent in itself. Atomics of those scopes are done at the point of
//! coherency, narrower ones in the first level. When a dispatch begins, all caches of the units are empty.
//! What the host's holds then ([`crate::host`]) it holds as long as the dispatch runs, and no load gets it.
//!
//! **Textures and constants.** Where a machine has caches for them, images and uniform buffers are read
//! through these, and written beside them: what they hold stays until a visibility operation of queue family
//! scope or wider and of their storage class drops it. The cache of images finds its lines by descriptor; a
//! store drops the line of the descriptor through which it goes from the unit's own. So a unit is coherent in
//! itself for each descriptor, and what goes through two of them depends on the operations: as the model
//! says of references. Where the cache of images misses, the unit's first level writes back what it has of
//! the line; where that of constants does, it does not.

use crate::access::{Access, Reference, ShaderRead};
use crate::history::bits;
use crate::host::HostLines;
use crate::machine::{CacheKind, Cached, CachedCopy, Level, Machine, WritePolicy};
use crate::random::nth;
use crate::scope::{Scope, Semantics, StorageClasses};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

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

/// Where a line is found in its cache: its number, and in that of images the reference.
type Tag = (u64, Option<Reference>);

/// How far an access goes into the caches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To the nearest one that has it.
    Cached,
    /// With an availability or visibility operation on its line.
    Line,
    /// To the point of coherency.
    Coherent,
}

/// How an access goes through the caches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Path {
    reach: Reach,
    /// The nearest cache, where the machine has such.
    nearest: CacheKind,
    /// Through what an image is accessed.
    image: Option<Reference>,
}

/// Whether an operation of this scope reaches beyond a compute unit.
pub(super) fn is_wide(scope: Option<Scope>) -> bool {
    scope >= Some(Scope::QueueFamily)
}

impl Path {
    pub fn of(access: &Access, reference: Reference, write: bool) -> Path {
        let image = access.class.contains(StorageClasses::IMAGE);
        let reach = match access.atomic {
            Some(scope) if is_wide(Some(scope)) => Reach::Coherent,
            Some(_) => Reach::Cached,
            None if is_wide(if write { access.available } else { access.visible }) => Reach::Line,
            None => Reach::Cached,
        };
        let nearest = match access.atomic {
            None if !write && image => CacheKind::Texture,
            None if !write && access.read_as == ShaderRead::Uniform => CacheKind::Constant,
            _ => CacheKind::First,
        };
        Path { reach, nearest, image: image.then_some(reference) }
    }

    fn tag(&self, kind: CacheKind, number: u64) -> Tag {
        (number, self.image.filter(|_| kind == CacheKind::Texture))
    }
}

/// All caches of a machine.
#[derive(Clone, Default)]
pub(super) struct Caches {
    machine: Machine,
    seed: u64,
    /// By kind and group of units.
    caches: BTreeMap<(CacheKind, u32), BTreeMap<Tag, Line>>,
    /// What the point of coherency holds of words that were stored to.
    coherent: FxHashMap<u64, u32>,
    /// What the host's cache held when the dispatch began, and memory, of words that were stored to.
    host: Arc<HostLines>,
    begun: FxHashMap<u64, u32>,
    accesses: u64,
    overruled: u64,
}

impl Caches {
    pub fn new(machine: Machine) -> Caches {
        Caches { machine, ..Caches::default() }
    }

    /// A dispatch begins; `host`: what the host's cache holds.
    pub fn begin(&mut self, seed: u64, host: Arc<HostLines>) {
        *self = Caches { seed, host, ..Caches::new(self.machine) };
    }

    /// The compute unit of a workgroup.
    pub fn unit(&self, workgroup: u32) -> u32 {
        workgroup % self.machine.units.max(1)
    }

    fn cache(&mut self, kind: CacheKind, shape: Level, unit: u32) -> &mut BTreeMap<Tag, Line> {
        self.caches.entry((kind, unit / shape.units.max(1))).or_default()
    }

    /// What a cache is filled from, and writes back to: the point of coherency, if there is no second level.
    fn behind(&self, kind: CacheKind) -> Option<CacheKind> {
        let second = self.machine.level(CacheKind::Second);
        (kind != CacheKind::Second && second.is_some()).then_some(CacheKind::Second)
    }

    /// The nearest cache of an access.
    fn nearest(&self, path: Path) -> Option<CacheKind> {
        match path.reach {
            Reach::Coherent => None,
            _ if self.machine.level(path.nearest).is_some() => Some(path.nearest),
            _ => Some(CacheKind::First),
        }
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
        if path.reach != Reach::Cached {
            self.write_back_line(unit, word);
            self.drop_line(unit, word, path);
        }
        self.fetch(self.nearest(path), unit, (word, path), bytes, held)
    }

    fn fetch(
        &mut self,
        from: Option<CacheKind>,
        unit: u32,
        (word, path): (u64, Path),
        bytes: u8,
        held: &dyn Fn(u64) -> Option<u32>,
    ) -> Option<u32> {
        let Some((kind, shape)) = from.and_then(|kind| Some((kind, self.machine.level(kind)?))) else {
            return self.coherent.get(&word).copied().or_else(|| held(word));
        };
        let words = u64::from(shape.line / 4);
        let (number, place) = (word / words, (word % words) as usize);
        let tag = path.tag(kind, number);
        let here = self.cache(kind, shape, unit).get(&tag).map(|line| line[place]);
        if let Some(slot) = here.filter(|slot| slot.held & bytes == bytes) {
            return Some(slot.value);
        }
        self.make_room(kind, shape, unit, tag);
        let behind = self.behind(kind);
        for k in 0..words {
            let word = number * words + k;
            if kind == CacheKind::Texture {
                self.write_back(CacheKind::First, unit, word);
            }
            let value = self.fetch(behind, unit, (word, path), 15, held);
            let line = self.cache(kind, shape, unit).entry(tag);
            let slot = &mut line.or_insert_with(|| vec![Slot::default(); words as usize])[k as usize];
            if let Some(value) = value {
                slot.put(15 & !slot.held, value);
            }
        }
        self.cache(kind, shape, unit).get(&tag).map(|line| line[place].value)
    }

    /// The model says that a load gets `value`, where the caches had `proposed`.
    pub fn settle(&mut self, unit: u32, word: u64, bytes: u8, path: Path, proposed: u32, value: u32) {
        if (proposed ^ value) & bits(bytes) == 0 {
            return;
        }
        self.overruled += 1;
        for kind in self.nearest(path).into_iter().flat_map(|kind| [kind, CacheKind::Second]) {
            let Some(shape) = self.machine.level(kind) else { continue };
            let words = u64::from(shape.line / 4);
            if let Some(line) = self.cache(kind, shape, unit).get_mut(&path.tag(kind, word / words)) {
                line[(word % words) as usize].put(bytes, value);
            }
        }
    }

    /// A store of these bytes; `old`: what memory had of the word.
    pub fn store(&mut self, unit: u32, word: u64, bytes: u8, value: u32, old: u32, path: Path) {
        self.disturb(unit);
        self.coherent.entry(word).or_insert(old);
        if !self.host.is_empty() {
            self.begun.entry(word).or_insert(old);
        }
        if path.image.is_some() {
            self.drop_of(CacheKind::Texture, unit, word, path);
        }
        if path.reach == Reach::Coherent {
            self.write_back_line(unit, word);
            self.drop_line(unit, word, path);
            for kind in [CacheKind::First, CacheKind::Second] {
                let Some(shape) = self.machine.level(kind) else { break };
                self.take(kind, shape, word / u64::from(shape.line / 4), None);
            }
            return self.put(None, unit, word, bytes, value);
        }
        self.put(Some(CacheKind::First), unit, word, bytes, value);
        if path.reach == Reach::Line {
            self.write_back_line(unit, word);
        }
    }

    fn put(&mut self, to: Option<CacheKind>, unit: u32, word: u64, bytes: u8, value: u32) {
        let Some((kind, shape)) = to.and_then(|kind| Some((kind, self.machine.level(kind)?))) else {
            let held = self.coherent.entry(word).or_default();
            *held = *held & !bits(bytes) | value & bits(bytes);
            return;
        };
        let words = u64::from(shape.line / 4);
        let (tag, place) = ((word / words, None), (word % words) as usize);
        if shape.writes == WritePolicy::Back {
            self.make_room(kind, shape, unit, tag);
            let line = self.cache(kind, shape, unit).entry(tag);
            let slot = &mut line.or_insert_with(|| vec![Slot::default(); words as usize])[place];
            slot.put(bytes, value);
            slot.dirty |= bytes;
            return;
        }
        self.take(kind, shape, tag.0, Some(unit / shape.units.max(1)));
        if let Some(line) = self.cache(kind, shape, unit).get_mut(&tag) {
            line[place].put(bytes, value);
        }
        self.put(self.behind(kind), unit, word, bytes, value);
    }

    /// Of a coherent level: all caches but this one drop a line that is stored to.
    fn take(&mut self, kind: CacheKind, shape: Level, number: u64, own: Option<u32>) {
        if shape.writes == WritePolicy::Coherent {
            let others = self.caches.iter_mut().filter(|((k, group), _)| *k == kind && Some(*group) != own);
            others.for_each(|(_, cache)| drop(cache.remove(&(number, None))));
        }
    }

    /// Evicts a line where there is no room for another one.
    fn make_room(&mut self, kind: CacheKind, shape: Level, unit: u32, tag: Tag) {
        let cache = self.cache(kind, shape, unit);
        if cache.len() >= shape.lines as usize && !cache.contains_key(&tag) {
            self.evict(kind, shape, unit);
        }
    }

    fn evict(&mut self, kind: CacheKind, shape: Level, unit: u32) {
        let dice = nth(self.seed ^ u64::from(unit) ^ (kind as u64) << 32, self.accesses);
        let cache = self.cache(kind, shape, unit);
        let Some(nth) = dice.checked_rem(cache.len() as u64) else { return };
        let Some(tag) = cache.keys().nth(nth as usize).copied() else { return };
        self.clean(kind, shape, unit, tag);
        self.cache(kind, shape, unit).remove(&tag);
    }

    /// What else runs on the machine evicts a line at times.
    fn disturb(&mut self, unit: u32) {
        self.accesses += 1;
        let traffic = u64::from(self.machine.traffic);
        let dice = nth(self.seed, self.accesses);
        if dice.checked_rem(traffic) == Some(0) {
            let near = [CacheKind::First, CacheKind::Texture, CacheKind::Constant];
            let near = near.iter().filter_map(|kind| Some((*kind, self.machine.level(*kind)?)));
            let near: Vec<(CacheKind, Level)> = near.collect();
            let which = (dice / traffic).checked_rem(near.len() as u64);
            if let Some((kind, shape)) = which.and_then(|which| near.get(which as usize)) {
                self.evict(*kind, *shape, unit);
            }
        }
    }

    /// Writes a line back to what is behind its cache.
    fn clean(&mut self, kind: CacheKind, shape: Level, unit: u32, tag: Tag) {
        let Some(line) = self.cache(kind, shape, unit).get_mut(&tag) else { return };
        let words = line.len() as u64;
        let dirty = line.iter_mut().enumerate().filter(|(_, slot)| slot.dirty != 0);
        let dirty: Vec<(u64, Slot)> = dirty
            .map(|(k, slot)| {
                (tag.0 * words + k as u64, Slot { dirty: std::mem::take(&mut slot.dirty), ..*slot })
            })
            .collect();
        for (word, slot) in dirty {
            self.put(self.behind(kind), unit, word, slot.dirty, slot.value);
        }
    }

    fn write_back(&mut self, kind: CacheKind, unit: u32, word: u64) {
        if let Some(shape) = self.machine.level(kind) {
            self.clean(kind, shape, unit, (word / u64::from(shape.line / 4), None));
        }
    }

    fn write_back_line(&mut self, unit: u32, word: u64) {
        self.write_back(CacheKind::First, unit, word);
        self.write_back(CacheKind::Second, unit, word);
    }

    fn drop_of(&mut self, kind: CacheKind, unit: u32, word: u64, path: Path) {
        if let Some(shape) = self.machine.level(kind) {
            let tag = path.tag(kind, word / u64::from(shape.line / 4));
            self.cache(kind, shape, unit).remove(&tag);
        }
    }

    fn drop_line(&mut self, unit: u32, word: u64, path: Path) {
        for kind in [CacheKind::First, CacheKind::Second, path.nearest] {
            self.drop_of(kind, unit, word, path);
        }
    }

    /// The availability operation of a release.
    pub fn make_available(&mut self, unit: u32, scope: Scope, semantics: &Semantics) {
        if !semantics.make_available || !reaches(scope, semantics) {
            return;
        }
        for kind in [CacheKind::First, CacheKind::Second] {
            let Some(shape) = self.machine.level(kind) else { break };
            let lines: Vec<Tag> = self.cache(kind, shape, unit).keys().copied().collect();
            for tag in lines {
                self.clean(kind, shape, unit, tag);
            }
        }
    }

    /// The visibility operation of an acquire.
    pub fn make_visible(&mut self, unit: u32, scope: Scope, semantics: &Semantics) {
        if !semantics.make_visible || !reaches(scope, semantics) {
            return;
        }
        for kind in CacheKind::OF_UNITS {
            let concerned = match kind {
                CacheKind::Texture => semantics.classes.contains(StorageClasses::IMAGE),
                CacheKind::Constant => semantics.classes.contains(StorageClasses::UNIFORM),
                CacheKind::First | CacheKind::Second => true,
                CacheKind::Host => false,
            };
            let Some(shape) = self.machine.level(kind).filter(|_| concerned) else { continue };
            self.cache(kind, shape, unit).retain(|_, line| {
                for slot in line.iter_mut() {
                    slot.held = slot.dirty;
                }
                line.iter().any(|slot| slot.dirty != 0)
            });
        }
    }

    /// What the machine holds of a word, for a reader on this unit; `newest`: what memory holds.
    pub fn look(&self, unit: u32, word: u64, newest: u32) -> Cached {
        let mut copies = Vec::new();
        for ((kind, group), cache) in &self.caches {
            let Some(shape) = self.machine.level(*kind) else { continue };
            let words = u64::from(shape.line / 4);
            let all = (word / words, None)..=(word / words, Some(Reference(u32::MAX)));
            for ((_, through), line) in cache.range(all) {
                let slot = line[(word % words) as usize];
                copies.push(CachedCopy {
                    kind: *kind,
                    through: *through,
                    units: (group * shape.units, shape.units),
                    value: slot.value,
                    held: slot.held,
                    dirty: slot.dirty,
                });
            }
        }
        copies.extend(self.host.copy(4 * word, self.begun.get(&word).copied().unwrap_or(newest)));
        copies.retain(|copy| copy.held != 0);
        Cached {
            unit,
            copies,
            coherent: self.coherent.get(&word).copied().unwrap_or(newest),
            overruled: self.overruled,
        }
    }
}

/// Whether availability and visibility of this scope and semantics concern device memory beyond a unit.
fn reaches(scope: Scope, semantics: &Semantics) -> bool {
    is_wide(Some(scope)) && semantics.classes.intersects(StorageClasses::UNIFORM | StorageClasses::IMAGE)
}
