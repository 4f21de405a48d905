//! Value numbering: pure operations of equal operands have equal results. The front end's builder, the passes
//! and the code generator's simplification ask one table.

use crate::ir::{Alu, Conversion, OpKind, Place, Scalar, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What a pure operation computes: operations with equal keys have equal results.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    kind: Pure,
    /// Type of the first result.
    result: Scalar,
    /// Arguments, and the values that the kind names.
    operands: SmallVec<[Value; 4]>,
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
        let pure = match *kind {
            OpKind::Constant(bits) => Pure::Constant(bits),
            OpKind::Alu(alu) => Pure::Alu(alu),
            OpKind::Convert(conversion) => Pure::Convert(conversion),
            OpKind::Pack64 => Pure::Pack64,
            OpKind::Unpack64 => Pure::Unpack64,
            OpKind::Load { place: Place::PushConstant { immediate, .. }, access } => {
                Pure::PushConstant { immediate, size: access.size, components: access.components }
            }
            OpKind::BufferSize { binding, .. } => Pure::BufferSize { binding },
            _ => return None,
        };
        let mut operands = SmallVec::from_slice(arguments);
        kind.for_each_value(|value| operands.push(value));
        Some(Key { kind: pure, result, operands })
    }
}

/// The results of an operation.
pub(crate) type Results = SmallVec<[Value; 2]>;

/// The pure operations that are in scope.
#[derive(Default)]
pub(crate) struct Numbering {
    known: FxHashMap<Key, Results>,
    /// For each open region, the keys to forget at its end.
    open: Vec<Vec<Key>>,
}

impl Numbering {
    /// A nested region begins.
    pub fn open(&mut self) {
        self.open.push(Vec::new());
    }

    /// It ends: what it computed is out of scope.
    pub fn close(&mut self) {
        for key in self.open.pop().unwrap_or_default() {
            self.known.remove(&key);
        }
    }

    /// Nothing is in scope.
    pub fn clear(&mut self) {
        self.known.clear();
        self.open.iter_mut().for_each(Vec::clear);
    }

    /// Number of the innermost region.
    pub fn innermost(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    /// The results of an earlier operation.
    pub fn get(&self, key: &Key) -> Option<&Results> {
        self.known.get(key)
    }

    /// An operation that is in scope to the end of region number `region`.
    pub fn insert(&mut self, key: Key, results: Results, region: usize) {
        if let Some(keys) = self.open.get_mut(region) {
            keys.push(key.clone());
        }
        self.known.insert(key, results);
    }
}
