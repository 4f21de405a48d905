//! Builds the tree of nodes: the current region, interned constants, and pure operations that fold, or repeat
//! an earlier one of a surrounding region, as they are written.

use super::fold;
use super::numbering::{Key, Numbering, Results};
use crate::CompileError;
use crate::ir::{Alu, BuiltIn, Conversion, Gives, Label, Node, Op, OpKind, Region, Scalar, Value};
use crate::stack::MAX_REGIONS;
use pellucid_memory::access::Site;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Values that may be created before the shader is refused: inlining can multiply code without bound.
const MAX_VALUES: usize = 8_000_000;

/// The state of the output while it is written.
#[derive(Clone, Default)]
pub(crate) struct Builder {
    /// Types of all values.
    pub values: Vec<Scalar>,
    /// The bits of constants.
    pub constants: Vec<Option<u64>>,
    /// Constants, undefined values and built-in variables, at the head of the shader.
    pub prologue: Region,
    /// The instruction that pure operations come from, for debug information.
    pub site: Site,
    /// Fold floating-point arithmetic.
    pub fold_floats: bool,
    interned: FxHashMap<(Scalar, u64), Value>,
    undefined: FxHashMap<Scalar, Value>,
    built_ins: FxHashMap<BuiltIn, Value>,
    region: Region,
    stack: Vec<Region>,
    labels: u32,
    numbering: Numbering,
}

/// A loop that counts, whose body is being written.
pub(crate) struct Count {
    label: Label,
    /// The count in the round that runs, an I32.
    pub at: Value,
    first: Value,
    step: Value,
}

impl Builder {
    /// A value of the type.
    pub fn fresh(&mut self, scalar: Scalar) -> Value {
        let value = Value(self.values.len() as u32);
        self.values.push(scalar);
        self.constants.push(None);
        value
    }

    /// A new one.
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Refuses shaders that grow without bound, or are nested too deeply.
    pub fn check_size(&self) -> Result<(), CompileError> {
        if self.values.len() > MAX_VALUES {
            return Err(CompileError::Limit(format!("more than {MAX_VALUES} values after inlining")));
        }
        if self.stack.len() > MAX_REGIONS {
            return Err(CompileError::Limit(format!(
                "control flow nested deeper than {MAX_REGIONS} regions"
            )));
        }
        Ok(())
    }

    /// Starts a nested region.
    pub fn open(&mut self) {
        self.numbering.open();
        self.stack.push(std::mem::take(&mut self.region));
    }

    /// Ends the nested region and gives it.
    pub fn close(&mut self) -> Region {
        self.numbering.close();
        let outer = self.stack.pop().unwrap_or_default();
        std::mem::replace(&mut self.region, outer)
    }

    /// Begins a loop that counts: up to [`Builder::end_count`], `Count::at` is `first` in the first round and
    /// `step` more in each one that follows.
    pub fn begin_count(&mut self, first: Value, step: Value) -> Count {
        let (label, at) = (self.label(), self.fresh(Scalar::I32));
        self.open();
        Count { label, at, first, step }
    }

    /// Ends a loop that counts: there are rounds as long as `at` is less than `end`, and one in any case.
    pub fn end_count(&mut self, count: Count, end: Value) {
        let Count { label, at, first, step } = count;
        let next = self.add(at, step);
        let more = self.alu(Alu::ULess, Scalar::Bool, &[next, end]);
        self.open();
        self.push(Node::Repeat { label, arguments: smallvec![next] });
        let then = self.close();
        self.push(Node::If { condition: more, then, otherwise: Vec::new() });
        let body = self.close();
        self.push(Node::Loop { label, parameters: smallvec![at], initial: smallvec![first], body });
    }

    /// The outermost region, which starts again empty.
    pub fn take(&mut self) -> Region {
        self.numbering.clear();
        std::mem::take(&mut self.region)
    }

    /// A pure operation: an earlier one in scope, or a new one.
    fn pure(&mut self, kind: OpKind, results: &[Scalar], arguments: &[Value]) -> Results {
        let key = Key::of(&kind, results[0], arguments);
        if let Some(known) = key.as_ref().and_then(|key| self.numbering.get(key)) {
            return known.clone();
        }
        let defined: Results = results.iter().map(|&scalar| self.fresh(scalar)).collect();
        let copy = || SmallVec::from_slice(&defined);
        self.region.push(node(kind, copy(), SmallVec::from_slice(arguments), self.site));
        if let Some(key) = key {
            self.numbering.insert(key, copy(), self.numbering.innermost());
        }
        defined
    }

    /// I64 or F64 from two I32.
    pub fn pack(&mut self, words: [Value; 2], to: Scalar) -> Value {
        if let (Some(low), Some(high)) = (self.constant_bits(words[0]), self.constant_bits(words[1])) {
            return self.constant(to, low | high << 32);
        }
        self.pure(OpKind::Pack64, &[to], &words)[0]
    }

    /// Two I32 from I64 or F64.
    pub fn unpack(&mut self, value: Value) -> [Value; 2] {
        if let Some(bits) = self.constant_bits(value) {
            return [self.constant(Scalar::I32, bits), self.constant(Scalar::I32, bits >> 32)];
        }
        let words = self.pure(OpKind::Unpack64, &[Scalar::I32, Scalar::I32], &[value]);
        [words[0], words[1]]
    }

    /// Appends a node.
    pub fn push(&mut self, node: Node) {
        self.region.push(node);
    }

    /// Type of a value.
    pub fn scalar(&self, value: Value) -> Scalar {
        self.values[value.0 as usize]
    }

    /// If it is one.
    pub fn constant_bits(&self, value: Value) -> Option<u64> {
        self.constants[value.0 as usize]
    }

    /// The constant of these bits.
    pub fn constant(&mut self, scalar: Scalar, bits: u64) -> Value {
        let bits = bits & fold::mask(fold::width(scalar));
        if let Some(&value) = self.interned.get(&(scalar, bits)) {
            return value;
        }
        let value = self.fresh(scalar);
        self.constants[value.0 as usize] = Some(bits);
        self.interned.insert((scalar, bits), value);
        self.prologue.push(node(OpKind::Constant(bits), smallvec![value], SmallVec::new(), Site(0)));
        value
    }

    /// An I32 constant.
    pub fn int(&mut self, value: u32) -> Value {
        self.constant(Scalar::I32, u64::from(value))
    }

    /// An F32, F64 or F16 constant, rounded from `value`.
    pub fn float(&mut self, scalar: Scalar, value: f64) -> Value {
        let bits = match scalar {
            Scalar::F64 => value.to_bits(),
            Scalar::F16 => u64::from(half_bits(value)),
            _ => u64::from((value as f32).to_bits()),
        };
        self.constant(scalar, bits)
    }

    /// The undefined value of a type.
    pub fn undefined(&mut self, scalar: Scalar) -> Value {
        if let Some(&value) = self.undefined.get(&scalar) {
            return value;
        }
        let value = self.fresh(scalar);
        self.undefined.insert(scalar, value);
        self.prologue.push(node(OpKind::Undef, smallvec![value], SmallVec::new(), Site(0)));
        value
    }

    /// Whether the value is one that [`Builder::undefined`] gave.
    pub fn is_undefined(&self, value: Value) -> bool {
        self.undefined.values().any(|undefined| *undefined == value)
    }

    /// A built-in variable's component.
    pub fn built_in(&mut self, which: BuiltIn) -> Value {
        if let Some(&value) = self.built_ins.get(&which) {
            return value;
        }
        let value = self.fresh(Scalar::I32);
        self.built_ins.insert(which, value);
        self.prologue.push(node(OpKind::BuiltIn(which), smallvec![value], SmallVec::new(), Site(0)));
        value
    }

    /// Appends an operation without folding.
    pub fn op(
        &mut self,
        kind: OpKind,
        results: &[Scalar],
        arguments: &[Value],
        site: Site,
    ) -> SmallVec<[Value; 4]> {
        let defined: SmallVec<[Value; 4]> = results.iter().map(|&scalar| self.fresh(scalar)).collect();
        let node = node(kind, SmallVec::from_slice(&defined), SmallVec::from_slice(arguments), site);
        self.region.push(node);
        defined
    }

    /// An operation with one result.
    pub fn one(&mut self, kind: OpKind, result: Scalar, arguments: &[Value], site: Site) -> Value {
        let value = self.fresh(result);
        self.region.push(node(kind, smallvec![value], SmallVec::from_slice(arguments), site));
        value
    }

    /// Arithmetic with one result of type `result`.
    pub fn alu(&mut self, op: Alu, result: Scalar, arguments: &[Value]) -> Value {
        if let Some(bits) = self.folded(op, arguments) {
            return self.constant(result, bits[0]);
        }
        if let Some(value) = self.identity(op, arguments) {
            return value;
        }
        if let (Alu::FDiv, &[x, by]) = (op, arguments)
            && let Some(bits) = self.constant_bits(by).and_then(|bits| fold::reciprocal(result, bits))
        {
            let factor = self.constant(result, bits);
            return self.alu(Alu::FMul, result, &[x, factor]);
        }
        self.pure(OpKind::Alu(op), &[result], arguments)[0]
    }

    /// Arithmetic with results of the types that its row says.
    pub fn alu_all(&mut self, op: Alu, arguments: &[Value]) -> Results {
        let row = op.row();
        let types: SmallVec<[Scalar; 4]> = row
            .results
            .iter()
            .map(|gives| match gives {
                Gives::Same => self.scalar(arguments[0]),
                Gives::Chosen => self.scalar(arguments[arguments.len() - 1]),
                Gives::Bool => Scalar::Bool,
                Gives::Word => Scalar::I32,
                Gives::Single => Scalar::F32,
            })
            .collect();
        if let &[result] = types.as_slice() {
            return smallvec![self.alu(op, result, arguments)];
        }
        if let Some(bits) = self.folded(op, arguments) {
            return types.iter().zip(bits).map(|(&scalar, bits)| self.constant(scalar, bits)).collect();
        }
        self.pure(OpKind::Alu(op), &types, arguments)
    }

    fn folded(&self, op: Alu, arguments: &[Value]) -> Option<fold::Bits> {
        let bits: Option<SmallVec<[u64; 4]>> =
            arguments.iter().map(|&value| self.constant_bits(value)).collect();
        fold::alu(op, self.scalar(*arguments.first()?), &bits?, self.fold_floats)
    }

    /// Operations that give one of their arguments.
    fn identity(&mut self, op: Alu, a: &[Value]) -> Option<Value> {
        let second = a.get(1).and_then(|&value| self.constant_bits(value));
        let first = a.first().and_then(|&value| self.constant_bits(value));
        match op {
            Alu::IAdd | Alu::Or | Alu::Xor if first == Some(0) => Some(a[1]),
            Alu::IAdd | Alu::ISub | Alu::Or | Alu::Xor | Alu::ShiftLeft | Alu::ShiftRightLogical
                if second == Some(0) =>
            {
                Some(a[0])
            }
            Alu::IMul if second == Some(1) => Some(a[0]),
            Alu::IMul if first == Some(1) => Some(a[1]),
            Alu::Select if a[1] == a[2] => Some(a[1]),
            Alu::Select => first.map(|bits| if bits != 0 { a[1] } else { a[2] }),
            _ => None,
        }
    }

    /// A conversion to `result`.
    pub fn convert(&mut self, op: Conversion, result: Scalar, value: Value) -> Value {
        let from = self.scalar(value);
        if from == result && !matches!(op, Conversion::FConvertRtz) {
            return value;
        }
        if let Some(bits) = self.constant_bits(value).and_then(|bits| fold::convert(op, from, result, bits)) {
            return self.constant(result, bits);
        }
        self.pure(OpKind::Convert(op), &[result], &[value])[0]
    }

    /// `Select` between values of one type.
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let scalar = self.scalar(yes);
        self.alu(Alu::Select, scalar, &[condition, yes, no])
    }

    /// `a + b` on integers.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        let scalar = self.scalar(a);
        self.alu(Alu::IAdd, scalar, &[a, b])
    }

    /// `a * factor` on integers.
    pub fn scale(&mut self, a: Value, factor: u64) -> Value {
        let scalar = self.scalar(a);
        if factor.is_power_of_two() {
            let amount = self.int(factor.trailing_zeros());
            return self.alu(Alu::ShiftLeft, scalar, &[a, amount]);
        }
        let factor = self.constant(scalar, factor);
        self.alu(Alu::IMul, scalar, &[a, factor])
    }
}

/// A node that holds an operation.
pub(crate) fn node(
    kind: OpKind,
    results: SmallVec<[Value; 2]>,
    arguments: SmallVec<[Value; 4]>,
    site: Site,
) -> Node {
    Node::Op(Op { kind, results, arguments, site })
}

/// The f16 bits of a value that f16 represents exactly, as the constants of the front end are, or the nearest
/// toward zero.
fn half_bits(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 63) as u16) << 15;
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let fraction = ((bits >> 42) & 0x3ff) as u16;
    match exponent {
        ..=-15 => sign,
        -14..=15 => sign | (((exponent + 15) as u16) << 10) | fraction,
        _ => sign | 0x7c00,
    }
}
