//! Loads and stores that belong together: updates of one location.

use crate::ir::{Alu, Label, Node, Op, OpKind, Place, Region, Scalar, Shader, Value};
use pellucid_memory::access::{AtomicOp, Site};
use rustc_hash::{FxHashMap, FxHashSet};

/// The read-modify-write that does what `alu` does.
fn atomic(alu: Alu, float: bool) -> Option<AtomicOp> {
    Some(match alu {
        Alu::IAdd => AtomicOp::IAdd,
        Alu::ISub => AtomicOp::ISub,
        Alu::And => AtomicOp::And,
        Alu::Or => AtomicOp::Or,
        Alu::Xor => AtomicOp::Xor,
        Alu::SMin => AtomicOp::SMin,
        Alu::UMin => AtomicOp::UMin,
        Alu::SMax => AtomicOp::SMax,
        Alu::UMax => AtomicOp::UMax,
        Alu::FAdd if float => AtomicOp::FAdd,
        Alu::FMin | Alu::NMin if float => AtomicOp::FMin,
        Alu::FMax | Alu::NMax if float => AtomicOp::FMax,
        _ => return None,
    })
}

fn shared(place: &Place) -> bool {
    matches!(place, Place::Buffer { .. } | Place::Physical { .. } | Place::Workgroup { .. })
}

/// What a load and a store of one place are together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Update {
    /// The read-modify-write that does the same; a compare-exchange in a loop does whatever else a scalar
    /// needs. `None` for what is no scalar of 32 or 64 bits.
    pub operation: Option<AtomicOp>,
    /// The place is computed from what memory holds, as in a histogram.
    pub scattered: bool,
}

/// Updates such as `count[i] += 1`: loads and stores of one place where what is stored, or whether, depends
/// on what is loaded.
pub(super) fn find(shader: &Shader) -> FxHashMap<(Site, Site), Update> {
    let mut finder = Finder {
        shader,
        defined: FxHashMap::default(),
        targets: FxHashMap::default(),
        passed: FxHashMap::default(),
        loads: Vec::new(),
        conditions: Vec::new(),
        found: FxHashMap::default(),
    };
    finder.region(&shader.body);
    finder.found
}

/// A condition, and whether it holds.
type Held = (Value, bool);

struct Finder<'a> {
    shader: &'a Shader,
    defined: FxHashMap<Value, &'a Op>,
    targets: FxHashMap<Label, &'a [Value]>,
    /// What the results of blocks may be, each with the condition under which it is.
    passed: FxHashMap<Value, Vec<(Value, Option<Held>)>>,
    /// Loads since the last barrier, with the conditions around them.
    loads: Vec<(&'a Op, Vec<(Value, bool)>)>,
    /// Conditions of the branches around, and whether they hold there.
    conditions: Vec<(Value, bool)>,
    found: FxHashMap<(Site, Site), Update>,
}

/// How deep expressions are compared.
const DEPTH: u32 = 8;
/// How many values that one value comes from are looked at.
const MOST_VALUES: usize = 256;
/// How many loads before a store are.
const MOST_LOADS: usize = 256;

impl<'a> Finder<'a> {
    fn region(&mut self, nodes: &'a Region) {
        for node in nodes {
            match node {
                Node::Op(op) => {
                    for result in &op.results {
                        self.defined.insert(*result, op);
                    }
                    match &op.kind {
                        OpKind::Load { place, access } if shared(place) && access.atomic.is_none() => {
                            self.loads.push((op, self.conditions.clone()))
                        }
                        // What is read before a barrier and written after it is ordered by that.
                        OpKind::ControlBarrier { .. } => self.loads.clear(),
                        _ => self.store(op),
                    }
                }
                Node::If { condition, then, otherwise } => {
                    for (arm, holds) in [(then, true), (otherwise, false)] {
                        self.conditions.push((*condition, holds));
                        self.region(arm);
                        self.conditions.pop();
                    }
                }
                Node::Block { label, results, body } => {
                    self.targets.insert(*label, results);
                    self.region(body);
                }
                Node::Loop { body, .. } => self.region(body),
                Node::Leave { label, arguments } => {
                    let condition = self.conditions.last().copied();
                    for (target, argument) in
                        self.targets.get(label).copied().unwrap_or_default().iter().zip(arguments)
                    {
                        self.passed.entry(*target).or_default().push((*argument, condition));
                    }
                }
                _ => {}
            }
        }
    }

    fn store(&mut self, store: &'a Op) {
        let (values, scalar, place) = match &store.kind {
            OpKind::Store { place, access } if shared(place) => {
                let scalar = access.components == 1 && access.size >= 4;
                (&store.arguments[..], scalar, Some(*place))
            }
            OpKind::ImageWrite { .. } if store.arguments.len() >= 4 => {
                (&store.arguments[store.arguments.len() - 4..], true, None)
            }
            _ => return,
        };
        let mut loads = Vec::new();
        for value in values {
            self.reads(*value, &mut loads);
        }
        let mut decided = Vec::new();
        for (condition, _) in &self.conditions {
            self.reads(*condition, &mut decided);
        }
        let decided_by_itself = decided.iter().any(|load| self.same_place(load, store));
        loads.extend(decided);
        let scattered = place.is_some_and(|place| self.scattered(&place));
        // One address for all: whoever reads it before writing it means to exchange, whatever is written; or
        // to do what is done with a load beside it, whose result this is then.
        let fixed = matches!(
            place,
            Some(Place::Buffer { element: None, offset: None, .. } | Place::Workgroup { offset: None, .. })
        );
        let exchanged = self.loads.iter().rev().take(MOST_LOADS).filter(|(load, conditions)| {
            fixed && *conditions == self.conditions && !loads.iter().any(|known| known.site == load.site)
        });
        let beside = loads.iter().find(|load| self.same_place(load, store)).map(|load| {
            self.operation(load, values[0], decided_by_itself).unwrap_or(AtomicOp::CompareExchange)
        });
        for (load, _) in exchanged {
            if self.same_place(load, store) {
                let operation = Some(beside.unwrap_or(AtomicOp::Exchange)).filter(|_| scalar);
                self.found.entry((load.site, store.site)).or_insert(Update { operation, scattered });
            }
        }
        for load in loads {
            if load.site == store.site || !self.same_place(load, store) {
                continue;
            }
            let direct = self.operation(load, values[0], decided_by_itself);
            let operation = direct.or(Some(AtomicOp::CompareExchange)).filter(|_| scalar);
            let update = self.found.entry((load.site, store.site)).or_insert(Update { operation, scattered });
            if direct.is_some() && scalar {
                update.operation = direct;
            }
        }
    }

    /// The operation between the load and the value that is stored.
    fn operation(&self, load: &Op, value: Value, decided: bool) -> Option<AtomicOp> {
        let of_load = |operand: Value| {
            self.defined
                .get(&operand)
                .is_some_and(|op| op.site == load.site && op.results.first() == Some(&operand))
                || self.defined.get(&operand).is_some_and(|op| same_load(op, load))
        };
        // if (x > m) m = x
        for (condition, holds) in &self.conditions {
            if let Some(found) = self.least_or_most(*condition, *holds, value, &of_load) {
                return Some(found);
            }
        }
        // m += x where m decides whether that happens
        if decided {
            return None;
        }
        // m = x > m ? x : m
        if let Some([(one, Some((condition, holds))), (other, _)]) =
            self.passed.get(&value).map(Vec::as_slice)
        {
            let (one, other, holds) =
                if of_load(*one) { (*other, *one, !*holds) } else { (*one, *other, *holds) };
            return if of_load(other) { self.least_or_most(*condition, holds, one, &of_load) } else { None };
        }
        let op = self.defined.get(&value)?;
        let OpKind::Alu(alu) = op.kind else { return None };
        if alu == Alu::Select {
            let [condition, yes, no] = op.arguments[..] else { return None };
            if of_load(no) {
                return self.least_or_most(condition, true, yes, &of_load);
            }
            return if of_load(yes) { self.least_or_most(condition, false, no, &of_load) } else { None };
        }
        let float = self.shader.values[value.0 as usize] == Scalar::F32;
        let operands = if alu == Alu::ISub { &op.arguments[..1] } else { &op.arguments[..] };
        atomic(alu, float).filter(|_| operands.iter().any(|operand| of_load(*operand)))
    }

    /// The minimum or maximum that storing `value` under a comparison of it with the loaded value is.
    fn least_or_most(
        &self,
        condition: Value,
        holds: bool,
        value: Value,
        of_load: &impl Fn(Value) -> bool,
    ) -> Option<AtomicOp> {
        let op = self.defined.get(&condition)?;
        let OpKind::Alu(alu) = op.kind else { return None };
        let signed = match alu {
            Alu::ULess | Alu::ULessEqual => false,
            Alu::SLess | Alu::SLessEqual => true,
            _ => return None,
        };
        let [low, high] = op.arguments[..] else { return None };
        let most = if of_load(low) && self.equal(high, value, DEPTH) {
            holds
        } else if self.equal(low, value, DEPTH) && of_load(high) {
            !holds
        } else {
            return None;
        };
        Some(match (most, signed) {
            (true, false) => AtomicOp::UMax,
            (true, true) => AtomicOp::SMax,
            (false, false) => AtomicOp::UMin,
            (false, true) => AtomicOp::SMin,
        })
    }

    /// The loads that a value comes from.
    fn reads(&self, value: Value, found: &mut Vec<&'a Op>) {
        let mut open = vec![value];
        let mut seen = FxHashSet::default();
        while let Some(value) = open.pop() {
            if seen.len() >= MOST_VALUES || !seen.insert(value) {
                continue;
            }
            match self.defined.get(&value) {
                Some(op) if matches!(op.kind, OpKind::Load { .. } | OpKind::ImageRead { .. }) => {
                    found.push(op)
                }
                Some(op) => open.extend(&op.arguments),
                None => {
                    for (value, held) in self.passed.get(&value).into_iter().flatten() {
                        open.push(*value);
                        open.extend(held.map(|(condition, _)| condition));
                    }
                }
            }
        }
    }

    fn scattered(&self, place: &Place) -> bool {
        let mut loads = Vec::new();
        let mut operand = |value: &Option<Value>| {
            if let Some(value) = value {
                self.reads(*value, &mut loads);
            }
        };
        match place {
            Place::Buffer { element, offset, .. } => {
                operand(element);
                operand(offset);
            }
            Place::Workgroup { offset, .. } => operand(offset),
            _ => {}
        }
        loads.iter().any(|load| !matches!(load.kind, OpKind::Load { place: Place::PushConstant { .. }, .. }))
    }

    /// Whether `load` reads from where `store` writes.
    fn same_place(&self, load: &Op, store: &Op) -> bool {
        match (&load.kind, &store.kind) {
            (OpKind::Load { place: from, .. }, OpKind::Store { place: to, .. }) => {
                self.equal_places(from, to)
            }
            (OpKind::ImageRead { image: from, .. }, OpKind::ImageWrite { image: to, .. }) => {
                let coordinates = &store.arguments[..store.arguments.len() - 4];
                from.binding == to.binding
                    && from.element == to.element
                    && load.arguments.len() == coordinates.len()
                    && load.arguments.iter().zip(coordinates).all(|(a, b)| self.equal(*a, *b, DEPTH))
            }
            _ => false,
        }
    }

    fn equal_places(&self, a: &Place, b: &Place) -> bool {
        let same = |a: &Option<Value>, b: &Option<Value>| match (a, b) {
            (Some(a), Some(b)) => self.equal(*a, *b, DEPTH),
            (None, None) => true,
            _ => false,
        };
        match (a, b) {
            (
                Place::Buffer { binding: a, element: c, offset: e, immediate: g },
                Place::Buffer { binding: b, element: d, offset: f, immediate: h },
            ) => a == b && g == h && same(c, d) && same(e, f),
            (
                Place::Workgroup { object: a, offset: c, immediate: e },
                Place::Workgroup { object: b, offset: d, immediate: f },
            ) => a == b && e == f && same(c, d),
            (Place::Physical { .. }, Place::Physical { .. }) => a == b,
            _ => false,
        }
    }

    /// Whether two values are the same: one value, or the same pure operation on the same values, where
    /// memory that nobody writes is read.
    fn equal(&self, a: Value, b: Value, depth: u32) -> bool {
        if a == b {
            return true;
        }
        let (Some(x), Some(y)) = (self.defined.get(&a), self.defined.get(&b)) else { return false };
        let index = |op: &Op, value| op.results.iter().position(|result| *result == value);
        if depth == 0 || index(x, a) != index(y, b) || x.arguments.len() != y.arguments.len() {
            return false;
        }
        let pure = match (&x.kind, &y.kind) {
            (OpKind::Load { place: from, .. }, OpKind::Load { place: to, .. }) => match from {
                Place::Buffer { binding, .. } => {
                    !self.shader.bindings[*binding as usize].written && self.equal_places(from, to)
                }
                _ => false,
            },
            (OpKind::Alu(_) | OpKind::Convert(_) | OpKind::Pack64 | OpKind::Unpack64, _) => x.kind == y.kind,
            _ => false,
        };
        pure && x.arguments.iter().zip(&y.arguments).all(|(a, b)| self.equal(*a, *b, depth - 1))
    }
}

/// Two loads of one place, as the text has it.
fn same_load(a: &Op, b: &Op) -> bool {
    matches!((&a.kind, &b.kind), (OpKind::Load { place: a, .. }, OpKind::Load { place: b, .. }) if a == b)
}
