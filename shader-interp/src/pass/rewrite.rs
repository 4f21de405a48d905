//! One walk over the tree that rebuilds it: loads and stores of promoted objects become values, which blocks
//! and loops pass along; pure operations fold or repeat an earlier one; branches on constants and blocks that
//! are left once, at their end, dissolve.

use super::builder::Builder;
use super::promote::Plan;
use crate::CompileError;
use crate::ir::{Alu, Conversion, Label, Node, Op, OpKind, Place, Region, Scalar, Shader, Value, Values};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

const UNSET: Value = Value(u32::MAX);

struct Rewriter<'a> {
    plan: &'a Plan,
    b: Builder,
    /// What old values became.
    renamed: Vec<Value>,
    /// What slots hold now.
    current: Vec<Value>,
    /// Slots that were overwritten, with what they held.
    log: Vec<(u32, Value)>,
    /// For open labels: how many jumps were written, and the values of the last one.
    exits: FxHashMap<Label, (u32, Values)>,
}

/// Rebuilds the shader's body. Gives back the builder, which knows its values.
pub(crate) fn run(shader: &mut Shader, mut b: Builder, plan: &Plan) -> Result<Builder, CompileError> {
    let body = std::mem::take(&mut shader.body);
    let renamed = (0..b.values.len() as u32).map(Value).collect();
    b.open();
    let current = vec![UNSET; plan.slots.len()];
    let mut rewriter = Rewriter { plan, b, renamed, current, log: Vec::new(), exits: FxHashMap::default() };
    rewriter.region(body)?;
    for name in &mut shader.names {
        name.value = rewriter.get(name.value);
    }
    let mut b = rewriter.b;
    let body = b.close();
    shader.body = std::mem::take(&mut b.prologue);
    shader.body.extend(body);
    Ok(b)
}

impl Rewriter<'_> {
    fn get(&self, value: Value) -> Value {
        self.renamed.get(value.0 as usize).copied().unwrap_or(value)
    }

    fn rename(&mut self, old: Value, new: Value) {
        self.renamed[old.0 as usize] = new;
    }

    /// Writes the nodes to the current region; false if their end is never reached.
    fn region(&mut self, nodes: Region) -> Result<bool, CompileError> {
        for node in nodes {
            if !self.node(node)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn nested(&mut self, nodes: Region) -> Result<(Region, bool), CompileError> {
        self.b.open();
        let falls = self.region(nodes)?;
        Ok((self.b.close(), falls))
    }

    fn node(&mut self, node: Node) -> Result<bool, CompileError> {
        match node {
            Node::Op(op) => {
                self.op(op)?;
                Ok(true)
            }
            Node::If { condition, then, otherwise } => {
                let condition = self.get(condition);
                if let Some(bits) = self.b.constant_bits(condition) {
                    return self.region(if bits != 0 { then } else { otherwise });
                }
                let mark = self.log.len();
                let (then, first) = self.nested(then)?;
                let changed = first && self.log.len() > mark;
                self.roll_back(mark);
                let (otherwise, second) = self.nested(otherwise)?;
                if changed || (first && self.log.len() > mark) {
                    return Err(CompileError::Invalid(
                        "a private variable changes in an arm that falls through".into(),
                    ));
                }
                if !second {
                    self.roll_back(mark);
                }
                self.b.push(Node::If { condition, then, otherwise });
                Ok(first || second)
            }
            Node::Block { label, results, body } => self.block(label, results, body),
            Node::Loop { label, parameters, initial, body } => {
                self.repeated(label, parameters, initial, body)
            }
            Node::Switch { selector, cases, default } => self.switch(selector, cases, default),
            Node::Leave { label, arguments } => {
                let values = self.carried(label, &arguments);
                let single = self.is_single(label);
                let exit = self.exits.entry(label).or_default();
                *exit = (exit.0 + 1, values.clone());
                let arguments = if single { Values::new() } else { values };
                self.b.push(Node::Leave { label, arguments });
                Ok(false)
            }
            Node::Repeat { label, arguments } => {
                let arguments = self.carried(label, &arguments);
                self.exits.entry(label).or_default().0 += 1;
                self.b.push(Node::Repeat { label, arguments });
                Ok(false)
            }
            Node::End => {
                self.b.push(Node::End);
                Ok(false)
            }
        }
    }

    /// One jump at most leads to the end of the block: its values need no results.
    fn is_single(&self, label: Label) -> bool {
        self.plan.switched.contains_key(&label) || self.plan.jumps.get(&label).is_none_or(|&jumps| jumps <= 1)
    }

    /// Arguments of a jump, and what the changed slots hold.
    fn carried(&mut self, label: Label, arguments: &[Value]) -> Values {
        let mut values: Values = arguments.iter().map(|&value| self.get(value)).collect();
        if let Some(slots) = self.plan.changed.get(&label) {
            for &slot in slots {
                values.push(self.slot(slot));
            }
        }
        values
    }

    fn slot(&mut self, slot: u32) -> Value {
        match self.current[slot as usize] {
            UNSET => self.b.undefined(self.plan.slots[slot as usize].unwrap_or(Scalar::I32)),
            value => value,
        }
    }

    fn set_slot(&mut self, slot: u32, value: Value) {
        let old = std::mem::replace(&mut self.current[slot as usize], value);
        self.log.push((slot, old));
    }

    fn roll_back(&mut self, mark: usize) {
        while self.log.len() > mark {
            if let Some((slot, old)) = self.log.pop() {
                self.current[slot as usize] = old;
            }
        }
    }

    /// Slots that a block or loop changes.
    fn changed(&self, label: Label) -> Vec<u32> {
        self.plan.changed.get(&label).cloned().unwrap_or_default()
    }

    fn block(&mut self, label: Label, results: Values, mut body: Region) -> Result<bool, CompileError> {
        let jumps = self.plan.jumps.get(&label).copied().unwrap_or(0);
        let switched = self.plan.switched.contains_key(&label);
        let at_end = matches!(body.last(), Some(Node::Leave { label: to, .. }) if *to == label);
        if !switched && (jumps == 0 || (jumps == 1 && at_end)) {
            // Nothing meets here: the body goes on in the surrounding region.
            let last = if at_end { body.pop() } else { None };
            if !self.region(body)? {
                return Ok(false);
            }
            // What is called again begins anew.
            self.plan.owned(label).iter().for_each(|slot| self.set_slot(*slot, UNSET));
            if let Some(Node::Leave { arguments, .. }) = last {
                for (&result, &argument) in results.iter().zip(&arguments) {
                    let value = self.get(argument);
                    self.rename(result, value);
                }
            }
            return Ok(true);
        }
        let mark = self.log.len();
        let (mut body, falls) = self.nested(body)?;
        let (mut written, mut values) = self.exits.remove(&label).unwrap_or_default();
        if falls {
            let arguments = self.carried(label, &[]);
            if !results.is_empty() {
                return Err(CompileError::Invalid("a block with results falls through".into()));
            }
            written += 1;
            values = arguments.clone();
            let arguments = if self.is_single(label) && written == 1 { Values::new() } else { arguments };
            body.push(Node::Leave { label, arguments });
        }
        self.roll_back(mark);
        let slots = self.changed(label);
        if written == 0 {
            self.b.push(Node::Block { label, results: Values::new(), body });
            return Ok(false);
        }
        if self.is_single(label) {
            for (&result, &value) in results.iter().zip(&values) {
                self.rename(result, value);
            }
            for (&slot, &value) in slots.iter().zip(&values[results.len()..]) {
                self.set_slot(slot, value);
            }
            self.b.push(Node::Block { label, results: Values::new(), body });
            return Ok(true);
        }
        let mut all = results;
        for slot in slots {
            let value = self.b.fresh(self.plan.slots[slot as usize].unwrap_or(Scalar::I32));
            self.set_slot(slot, value);
            all.push(value);
        }
        self.b.push(Node::Block { label, results: all, body });
        Ok(true)
    }

    fn repeated(
        &mut self,
        label: Label,
        mut parameters: Values,
        initial: Values,
        body: Region,
    ) -> Result<bool, CompileError> {
        if !self.plan.jumps.contains_key(&label) {
            for (&parameter, &value) in parameters.iter().zip(&initial) {
                let value = self.get(value);
                self.rename(parameter, value);
            }
            return self.region(body);
        }
        let initial = self.carried(label, &initial);
        let mark = self.log.len();
        for slot in self.changed(label) {
            let value = self.b.fresh(self.plan.slots[slot as usize].unwrap_or(Scalar::I32));
            self.set_slot(slot, value);
            parameters.push(value);
        }
        let (body, falls) = self.nested(body)?;
        if !falls {
            self.roll_back(mark);
        }
        self.exits.remove(&label);
        self.b.push(Node::Loop { label, parameters, initial, body });
        Ok(falls)
    }

    fn switch(
        &mut self,
        selector: Value,
        cases: Vec<(u64, Label)>,
        default: Label,
    ) -> Result<bool, CompileError> {
        let selector = self.get(selector);
        let chosen = match self.b.constant_bits(selector) {
            Some(bits) => {
                Some(cases.iter().find(|(literal, _)| *literal == bits).map_or(default, |&(_, label)| label))
            }
            None if cases.iter().all(|&(_, label)| label == default) => Some(default),
            None => None,
        };
        if let Some(label) = chosen {
            let values = self.carried(label, &[]);
            self.exits.insert(label, (1, values));
            self.b.push(Node::Leave { label, arguments: Values::new() });
            return Ok(false);
        }
        for label in cases.iter().map(|&(_, label)| label).chain([default]) {
            if !self.exits.contains_key(&label) {
                let values = self.carried(label, &[]);
                self.exits.insert(label, (1, values));
            }
        }
        self.b.push(Node::Switch { selector, cases, default });
        Ok(false)
    }

    fn op(&mut self, op: Op) -> Result<(), CompileError> {
        self.b.site = op.site;
        let arguments: SmallVec<[Value; 4]> = op.arguments.iter().map(|&value| self.get(value)).collect();
        let result = |b: &Builder, k: usize| b.scalar(op.results[k]);
        match op.kind {
            OpKind::Alu(alu) => {
                if let &[to] = op.results.as_slice() {
                    let value = self.b.alu(alu, result(&self.b, 0), &arguments);
                    self.rename(to, value);
                    return Ok(());
                }
                for (&result, value) in op.results.iter().zip(self.b.alu_all(alu, &arguments)) {
                    self.renamed[result.0 as usize] = value;
                }
            }
            OpKind::Convert(conversion) => {
                let scalar = result(&self.b, 0);
                let value = self.b.convert(conversion, scalar, arguments[0]);
                self.rename(op.results[0], value);
            }
            OpKind::Pack64 => {
                let scalar = result(&self.b, 0);
                let value = self.b.pack([arguments[0], arguments[1]], scalar);
                self.rename(op.results[0], value);
            }
            OpKind::Unpack64 => {
                let values = self.b.unpack(arguments[0]);
                self.rename(op.results[0], values[0]);
                self.rename(op.results[1], values[1]);
            }
            OpKind::Load { place: place @ Place::Private { .. }, access } => {
                self.load_private(&op.results, place, access, op.site);
            }
            OpKind::Store { place: place @ Place::Private { .. }, access } => {
                self.store_private(&arguments, place, access, op.site);
            }
            kind => {
                let kind = self.kind(kind);
                self.b.push(Node::Op(Op { kind, results: op.results, arguments, site: op.site }));
            }
        }
        Ok(())
    }

    fn load_private(
        &mut self,
        results: &[Value],
        place: Place,
        access: pellucid_memory::access::Access,
        site: pellucid_memory::access::Site,
    ) {
        let Place::Private { object, immediate, .. } = place else { return };
        if self.plan.base[object as usize].is_some() {
            for (k, &result) in results.iter().enumerate() {
                if let Some(slot) = self.plan.slot(object, immediate, u32::from(access.size), k) {
                    let value = self.slot(slot);
                    self.rename(result, value);
                }
            }
            return;
        }
        let place = self.place(place);
        let bools = self.b.scalar(results[0]) == Scalar::Bool;
        if !bools {
            let node = Op {
                kind: OpKind::Load { place, access },
                results: results.iter().copied().collect(),
                arguments: SmallVec::new(),
                site,
            };
            self.b.push(Node::Op(node));
            return;
        }
        let words = vec![Scalar::I32; results.len()];
        let loaded = self.b.op(OpKind::Load { place, access }, &words, &[], site);
        for (&result, word) in results.iter().zip(loaded) {
            let zero = self.b.int(0);
            let value = self.b.alu(Alu::INotEqual, Scalar::Bool, &[word, zero]);
            self.rename(result, value);
        }
    }

    fn store_private(
        &mut self,
        arguments: &[Value],
        place: Place,
        access: pellucid_memory::access::Access,
        site: pellucid_memory::access::Site,
    ) {
        let Place::Private { object, immediate, .. } = place else { return };
        if self.plan.base[object as usize].is_some() {
            for (k, &value) in arguments.iter().enumerate() {
                if let Some(slot) = self.plan.slot(object, immediate, u32::from(access.size), k) {
                    self.set_slot(slot, value);
                }
            }
            return;
        }
        let place = self.place(place);
        let mut words: SmallVec<[Value; 16]> = SmallVec::new();
        for &value in arguments {
            let bool = self.b.scalar(value) == Scalar::Bool;
            words.push(if bool { self.b.convert(Conversion::BoolToInt, Scalar::I32, value) } else { value });
        }
        self.b.op(OpKind::Store { place, access }, &[], &words, site);
    }

    /// The place of an object that stays in memory, on renamed values.
    fn place(&self, mut place: Place) -> Place {
        if let Place::Private { object, offset, immediate } = &mut place {
            let before = self.plan.objects[*object as usize].offset;
            let (moved, at) = self.plan.moved[*object as usize];
            *object = moved;
            *offset = offset.map(|value| self.get(value));
            *immediate = immediate.wrapping_sub(before).wrapping_add(at);
        }
        place.folded(&self.b)
    }

    /// The same operation on renamed values.
    fn kind(&self, mut kind: OpKind) -> OpKind {
        kind.for_each_value_mut(|value| *value = self.get(*value));
        if let Some(place) = kind.place_mut() {
            *place = place.folded(&self.b);
        }
        kind
    }
}

impl Place {
    /// Constant offsets, known only after promotion, go into the immediate.
    pub(super) fn folded(mut self, b: &Builder) -> Place {
        match &mut self {
            Place::Buffer { offset, immediate, .. }
            | Place::Workgroup { offset, immediate, .. }
            | Place::Private { offset, immediate, .. }
            | Place::PushConstant { offset, immediate } => {
                if let Some(bits) = offset.and_then(|value| b.constant_bits(value)) {
                    *offset = None;
                    *immediate = immediate.wrapping_add(bits as u32);
                }
            }
            Place::Physical { .. } => {}
        }
        self
    }
}
