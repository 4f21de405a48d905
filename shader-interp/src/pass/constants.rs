//! Which integers and booleans are constant whatever path leads to them: optimistically, so that loops do not
//! hide it.
//!
//! What `super::defined` writes is for the most part constant: a variable that is written on all paths before
//! it is read.

use super::fold;
use crate::ir::{Alu, Label, Node, Op, OpKind, Region, Scalar, Shader, Value, Values};
use pellucid_memory::access::Site;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// Nothing has been seen to define it yet.
    Unseen,
    Bits(u64),
    Any,
}

impl Known {
    fn meet(self, other: Known) -> Known {
        match (self, other) {
            (Known::Unseen, known) | (known, Known::Unseen) => known,
            (a, b) if a == b => a,
            _ => Known::Any,
        }
    }
}

enum Definition {
    Alu(Alu, SmallVec<[Value; 4]>),
    Phi(Values),
}

struct Search<'a> {
    scalars: &'a [Scalar],
    known: Vec<Known>,
    definitions: FxHashMap<Value, Definition>,
    users: FxHashMap<Value, Vec<Value>>,
    carried: FxHashMap<Label, Values>,
    /// Constants that have a value already.
    constants: FxHashMap<(Scalar, u64), Value>,
}

/// For each value that is always the same constant, the value that is that constant. Checks of what is always
/// defined go.
pub(super) fn find(shader: &mut Shader) -> FxHashMap<Value, Value> {
    let mut search = Search {
        scalars: &shader.values,
        known: vec![Known::Any; shader.values.len()],
        definitions: FxHashMap::default(),
        users: FxHashMap::default(),
        carried: FxHashMap::default(),
        constants: FxHashMap::default(),
    };
    search.region(&shader.body);
    search.solve();
    let Search { known, definitions, mut constants, .. } = search;
    let mut found: Vec<(Value, u64)> = Vec::new();
    for &value in definitions.keys() {
        if let Known::Bits(bits) = known[value.0 as usize] {
            found.push((value, bits));
        }
    }
    found.sort_unstable();
    let mut same = FxHashMap::default();
    let mut head = Region::new();
    for (value, bits) in found {
        let scalar = shader.values[value.0 as usize];
        let constant = *constants.entry((scalar, bits)).or_insert_with(|| {
            let constant = Value(shader.values.len() as u32);
            shader.values.push(scalar);
            let (results, arguments) = (smallvec![constant], SmallVec::new());
            head.push(Node::Op(Op { kind: OpKind::Constant(bits), results, arguments, site: Site(0) }));
            constant
        });
        same.insert(value, constant);
    }
    retain_checks(&mut shader.body, &|value| known[value.0 as usize] == Known::Bits(0));
    head.append(&mut shader.body);
    shader.body = head;
    same
}

fn retain_checks(region: &mut Region, defined: &dyn Fn(Value) -> bool) {
    region.retain_mut(|node| match node {
        Node::Op(op) => !matches!(op.kind, OpKind::CheckDefined { .. }) || !defined(op.arguments[0]),
        Node::If { then, otherwise, .. } => {
            retain_checks(then, defined);
            retain_checks(otherwise, defined);
            true
        }
        Node::Block { body, .. } | Node::Loop { body, .. } => {
            retain_checks(body, defined);
            true
        }
        _ => true,
    });
}

impl Search<'_> {
    fn small(&self, value: Value) -> bool {
        matches!(self.scalars[value.0 as usize], Scalar::I32 | Scalar::Bool)
    }

    fn define(&mut self, value: Value, definition: Definition) {
        self.known[value.0 as usize] = Known::Unseen;
        self.definitions.insert(value, definition);
    }

    fn phis(&mut self, label: Label, values: &Values) {
        for &value in values {
            if self.small(value) {
                self.define(value, Definition::Phi(Values::new()));
            }
        }
        self.carried.insert(label, values.clone());
    }

    fn carry(&mut self, label: Label, arguments: &[Value]) {
        let Some(targets) = self.carried.get(&label) else { return };
        for (target, argument) in targets.iter().zip(arguments) {
            if let Some(Definition::Phi(incoming)) = self.definitions.get_mut(target) {
                incoming.push(*argument);
                self.users.entry(*argument).or_default().push(*target);
            }
        }
    }

    fn region(&mut self, region: &Region) {
        for node in region {
            match node {
                Node::Op(op) => self.op(op),
                Node::If { then, otherwise, .. } => {
                    self.region(then);
                    self.region(otherwise);
                }
                Node::Block { label, results, body } => {
                    self.phis(*label, results);
                    self.region(body);
                }
                Node::Loop { label, parameters, initial, body } => {
                    self.phis(*label, parameters);
                    self.carry(*label, initial);
                    self.region(body);
                }
                Node::Leave { label, arguments } | Node::Repeat { label, arguments } => {
                    self.carry(*label, arguments);
                }
                Node::Switch { .. } | Node::End => {}
            }
        }
    }

    fn op(&mut self, op: &Op) {
        let &[result] = op.results.as_slice() else { return };
        if !self.small(result) {
            return;
        }
        match op.kind {
            OpKind::Constant(bits) => {
                self.known[result.0 as usize] = Known::Bits(bits);
                self.constants.entry((self.scalars[result.0 as usize], bits)).or_insert(result);
            }
            // Pellucid gives 0.
            OpKind::Undef => self.known[result.0 as usize] = Known::Bits(0),
            OpKind::Alu(alu) if op.arguments.iter().all(|&value| self.small(value)) => {
                for &argument in &op.arguments {
                    self.users.entry(argument).or_default().push(result);
                }
                self.define(result, Definition::Alu(alu, op.arguments.clone()));
            }
            _ => {}
        }
    }

    fn get(&self, value: Value) -> Known {
        self.known[value.0 as usize]
    }

    fn solve(&mut self) {
        let mut work: Vec<Value> = self.definitions.keys().copied().collect();
        work.sort_unstable_by(|a, b| b.cmp(a));
        while let Some(value) = work.pop() {
            let new = match &self.definitions[&value] {
                Definition::Phi(incoming) => {
                    incoming.iter().fold(Known::Unseen, |known, &value| known.meet(self.get(value)))
                }
                Definition::Alu(alu, arguments) => self.evaluate(*alu, arguments),
            };
            if new != self.get(value) {
                self.known[value.0 as usize] = new;
                work.extend(self.users.get(&value).into_iter().flatten());
            }
        }
    }

    fn evaluate(&self, alu: Alu, arguments: &[Value]) -> Known {
        if let (Alu::Select, &[condition, yes, no]) = (alu, arguments) {
            return match self.get(condition) {
                Known::Unseen => Known::Unseen,
                Known::Bits(0) => self.get(no),
                Known::Bits(_) => self.get(yes),
                Known::Any => self.get(yes).meet(self.get(no)),
            };
        }
        let mut bits: SmallVec<[u64; 4]> = SmallVec::new();
        for &argument in arguments {
            match self.get(argument) {
                Known::Unseen => return Known::Unseen,
                Known::Bits(known) => bits.push(known),
                Known::Any => return Known::Any,
            }
        }
        let Some(&first) = arguments.first() else { return Known::Any };
        match fold::alu(alu, self.scalars[first.0 as usize], &bits, false).as_deref() {
            Some(&[result]) => Known::Bits(result),
            _ => Known::Any,
        }
    }
}
