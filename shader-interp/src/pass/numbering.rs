//! Value numbering: pure operations of equal operands have equal results. The front end's builder, the passes
//! and the code generator's simplification ask one table.

use crate::ir::{Alu, Conversion, OpKind, Place, Scalar, Value};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// What a pure operation computes: operations with equal keys have equal results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    hash: u64,
    kind: Pure,
    /// Type of the first result.
    result: Scalar,
    /// Arguments, then the value that the kind names.
    pub operands: SmallVec<[Value; 4]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pure {
    Constant(u64),
    Alu(Alu),
    Convert(Conversion),
    Pack64,
    Unpack64,
    PushConstant { immediate: u32, size: u8, components: u8 },
    BufferSize { binding: u32 },
}

impl Key {
    /// The key of an operation whose first result has type `result`; `None` if no other may stand for it.
    pub fn of(kind: &OpKind, result: Scalar, arguments: &[Value]) -> Option<Key> {
        let (kind, named) = match *kind {
            OpKind::Constant(bits) => (Pure::Constant(bits), None),
            OpKind::Alu(alu) => (Pure::Alu(alu), None),
            OpKind::Convert(conversion) => (Pure::Convert(conversion), None),
            OpKind::Pack64 => (Pure::Pack64, None),
            OpKind::Unpack64 => (Pure::Unpack64, None),
            OpKind::Load { place: Place::PushConstant { immediate, offset }, access } => {
                (Pure::PushConstant { immediate, size: access.size, components: access.components }, offset)
            }
            OpKind::BufferSize { binding, element } => (Pure::BufferSize { binding }, element),
            _ => return None,
        };
        let mut operands: SmallVec<[Value; 4]> = SmallVec::from_slice(arguments);
        if let Some(value) = named {
            operands.push(value);
        }
        let mut hasher = FxHasher::default();
        (kind, result).hash(&mut hasher);
        operands.iter().for_each(|value| hasher.write_u32(value.0));
        Some(Key { hash: hasher.finish(), kind, result, operands })
    }
}

/// The results of an operation.
pub(crate) type Results = SmallVec<[Value; 2]>;

/// The pure operations that are in scope.
#[derive(Clone, Default)]
pub(crate) struct Numbering {
    /// Index of the last operation with a hash.
    last: FxHashMap<u64, u32>,
    known: Vec<Known>,
    /// For each open region, the operations to forget at its end.
    open: Vec<Vec<u32>>,
}

#[derive(Clone)]
struct Known {
    key: Key,
    results: Results,
    /// The operation before it with the same hash.
    before: Option<u32>,
}

impl Numbering {
    /// A nested region begins.
    pub fn open(&mut self) {
        self.open.push(Vec::new());
    }

    /// It ends: what it computed is out of scope.
    pub fn close(&mut self) {
        let region = self.open.pop().unwrap_or_default();
        if self.open.is_empty() {
            return self.clear();
        }
        for gone in region {
            let Known { key, before, .. } = &self.known[gone as usize];
            let (hash, before) = (key.hash, *before);
            let mut at = self.last.get(&hash).copied();
            if at == Some(gone) {
                match before {
                    Some(before) => self.last.insert(hash, before),
                    None => self.last.remove(&hash),
                };
                continue;
            }
            while let Some(after) = at.map(|at| &mut self.known[at as usize]) {
                at = after.before;
                if at == Some(gone) {
                    after.before = before;
                    break;
                }
            }
        }
    }

    /// Nothing is in scope.
    pub fn clear(&mut self) {
        self.last.clear();
        self.known.clear();
        self.open.iter_mut().for_each(Vec::clear);
    }

    /// Number of the innermost region.
    pub fn innermost(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    /// The results of an earlier operation.
    pub fn get(&self, key: &Key) -> Option<&Results> {
        let mut at = self.last.get(&key.hash).copied();
        while let Some(known) = at.map(|at| &self.known[at as usize]) {
            if known.key == *key {
                return Some(&known.results);
            }
            at = known.before;
        }
        None
    }

    /// An operation that is not known yet, in scope to the end of region number `region`.
    pub fn insert(&mut self, key: Key, results: Results, region: usize) {
        let number = self.known.len() as u32;
        if let Some(region) = self.open.get_mut(region) {
            region.push(number);
        }
        let before = self.last.insert(key.hash, number);
        self.known.push(Known { key, results, before });
    }
}
