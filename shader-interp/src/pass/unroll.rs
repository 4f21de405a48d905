//! Unrolling: loops that count a known number of turns are written out where that makes values of private
//! objects.
//!
//! An object stays in memory if a single access to it is at an offset that is no constant, such as one by the
//! variable of a loop. Where all such offsets are made of variables of loops that count, and the loops do
//! nothing that others could tell apart from what is written out, those loops go. The objects become values
//! when the tree is rewritten once more.
//!
//! A loop that goes is left in one place, by a condition that decides before anything else does, and repeated
//! at its end. So each turn but the last is the loop's body without both, and the last one is what comes
//! before the condition. Lanes meet where they met before: at the ends of blocks.

use super::builder::Builder;
use super::{fold, promote};
use crate::ir::{Label, Node, Op, OpKind, Place, Region, Shader, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};

/// Most turns of a loop that is written out.
const TURNS: u64 = 64;
/// Most operations that loops are written out to.
const OPERATIONS: u64 = 4096;
/// Most objects that are looked at.
const OBJECTS: usize = 64;
/// Most operations that an offset or a condition may hang on.
const STEPS: u32 = 256;

/// Loops by label.
type Labels = FxHashSet<Label>;

/// A loop that counts.
struct Counted {
    /// Turns of its body but the one that leaves it.
    turns: u64,
    /// It is left where its condition holds.
    leaves: bool,
    initial: Values,
    /// Its parameters in the next turn.
    next: Values,
}

/// Of labels of what was written several times: what it is a copy of.
pub(crate) type Copies = FxHashMap<Label, Label>;

/// Loops that go.
#[derive(Default)]
pub(crate) struct Chosen {
    /// In ascending order, with their turns, and whether they are left where their condition holds.
    loops: Vec<(Label, u64, bool)>,
    /// The objects that are to become values.
    pub objects: Vec<usize>,
}

impl Chosen {
    /// The loops' labels, in ascending order.
    pub fn labels(&self) -> Vec<Label> {
        self.loops.iter().map(|(label, ..)| *label).collect()
    }

    /// There are none that are worth it.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }
}

/// What the walk over the tree has found.
struct Found<'a> {
    b: &'a Builder,
    operations: FxHashMap<Value, &'a Op>,
    /// Of loops: which parameter a value is.
    parameters: FxHashMap<Value, (Label, usize)>,
    counted: FxHashMap<Label, Counted>,
    /// The loops that must go before an object becomes a value; `None` if it does not.
    objects: Vec<Option<Labels>>,
}

/// Chooses loops, where all values are values that can be.
pub(crate) fn choose(shader: &Shader, builder: &Builder) -> Chosen {
    if shader.private.len() > OBJECTS {
        return Chosen::default();
    }
    let small = |size: u32| (size <= promote::MAX_BYTES).then(Labels::default);
    let mut found = Found {
        b: builder,
        operations: FxHashMap::default(),
        parameters: FxHashMap::default(),
        counted: FxHashMap::default(),
        objects: shader.private.iter().map(|object| small(object.size)).collect(),
    };
    found.region(&shader.body);
    found.accesses(&shader.body);
    let gone = found.choose(&shader.body);
    let turns = |label: &Label| {
        let counted = found.counted.get(label)?;
        Some((*label, counted.turns, counted.leaves))
    };
    let mut loops: Vec<_> = gone.iter().filter_map(turns).collect();
    loops.sort_unstable();
    let hangs = |loops: &Option<Labels>| {
        loops.as_ref().is_some_and(|loops| !loops.is_empty() && loops.is_subset(&gone))
    };
    let objects = (0..found.objects.len()).filter(|k| hangs(&found.objects[*k])).collect();
    Chosen { loops, objects }
}

/// Writes out loops that were chosen in this tree, or in one that was made of it; `None` if they are not
/// built here as they were there, and the tree is to be forgotten.
pub(crate) fn write(shader: &mut Shader, builder: &mut Builder, chosen: &Chosen) -> Option<Copies> {
    let body = std::mem::take(&mut shader.body);
    let mut writer = Writer {
        turns: chosen.loops.iter().map(|&(label, turns, leaves)| (label, (turns, leaves))).collect(),
        renamed: (0..builder.values.len() as u32).map(Value).collect(),
        labels: FxHashMap::default(),
        copies: Copies::default(),
        as_chosen: true,
        b: builder,
    };
    writer.write(&body, false, &mut shader.body);
    for name in &mut shader.names {
        name.value = writer.get(name.value);
    }
    writer.as_chosen.then_some(writer.copies)
}

/// Of a loop that ends with its repetition, and has one more way out of its body: what it is left by.
fn way_out(label: Label, body: &Region) -> Option<(Value, bool)> {
    let mut ways = Ways::default();
    ways.region(body);
    let outside = ways.jumps.iter().filter(|to| !ways.inside.contains(to)).count();
    let repeats = matches!(body.last(), Some(Node::Repeat { label: to, .. }) if *to == label);
    if !repeats || outside != 2 || ways.fixed {
        return None;
    }
    exit(body, &ways.inside)
}

impl<'a> Found<'a> {
    fn region(&mut self, region: &'a Region) {
        for node in region {
            match node {
                Node::Op(op) => {
                    if let (OpKind::Alu(_) | OpKind::Convert(_), &[result]) =
                        (&op.kind, op.results.as_slice())
                    {
                        self.operations.insert(result, op);
                    }
                }
                Node::If { then, otherwise, .. } => {
                    self.region(then);
                    self.region(otherwise);
                }
                Node::Block { body, .. } => self.region(body),
                Node::Loop { label, parameters, initial, body } => {
                    let numbered = parameters.iter().enumerate();
                    self.parameters.extend(numbered.map(|(k, value)| (*value, (*label, k))));
                    self.region(body);
                    if let Some(counted) = self.count(*label, parameters, initial, body) {
                        self.counted.insert(*label, counted);
                    }
                }
                Node::Switch { .. } | Node::Leave { .. } | Node::Repeat { .. } | Node::End => {}
            }
        }
    }

    /// How a loop counts, if it does and may go.
    fn count(&self, label: Label, parameters: &[Value], initial: &Values, body: &Region) -> Option<Counted> {
        let Some(Node::Repeat { arguments: next, .. }) = body.last() else { return None };
        let (condition, leaves) = way_out(label, body)?;
        (0..parameters.len()).find_map(|k| {
            let mut at = self.b.constant_bits(initial[k])?;
            for turns in 0..=TURNS {
                let of = (parameters[k], at);
                if (self.bits(condition, of, &mut 0)? != 0) == leaves {
                    return Some(Counted { turns, leaves, initial: initial.clone(), next: next.clone() });
                }
                at = self.bits(next[k], of, &mut 0)?;
            }
            None
        })
    }

    /// What a value is where `of` is what it says, if it hangs on nothing else.
    fn bits(&self, value: Value, of: (Value, u64), steps: &mut u32) -> Option<u64> {
        *steps += 1;
        if value == of.0 {
            return Some(of.1);
        }
        if let Some(bits) = self.b.constant_bits(value) {
            return Some(bits);
        }
        let op = self.operations.get(&value).filter(|_| *steps < STEPS)?;
        let mut operands = fold::Bits::new();
        for argument in &op.arguments {
            operands.push(self.bits(*argument, of, steps)?);
        }
        let from = self.b.scalar(*op.arguments.first()?);
        match op.kind {
            OpKind::Alu(alu) => fold::alu(alu, from, &operands, false)?.first().copied(),
            OpKind::Convert(to) => fold::convert(to, from, self.b.scalar(value), operands[0]),
            _ => None,
        }
    }

    /// Whether a value is a constant where loops are gone that count, which are added to `loops`.
    fn hangs_on(&self, value: Value, loops: &mut Labels, seen: &mut FxHashSet<Value>) -> bool {
        if self.b.constant_bits(value).is_some() || !seen.insert(value) {
            return true;
        }
        if seen.len() > STEPS as usize {
            return false;
        }
        if let Some((label, k)) = self.parameters.get(&value) {
            let Some(counted) = self.counted.get(label) else { return false };
            loops.insert(*label);
            return [counted.initial[*k], counted.next[*k]]
                .iter()
                .all(|value| self.hangs_on(*value, loops, seen));
        }
        let op = self.operations.get(&value);
        op.is_some_and(|op| op.arguments.iter().all(|argument| self.hangs_on(*argument, loops, seen)))
    }

    /// Finds out which loops the objects hang on.
    fn accesses(&mut self, region: &Region) {
        for node in region {
            match node {
                Node::Op(op) => {
                    let (OpKind::Load { place, .. } | OpKind::Store { place, .. }) = &op.kind else {
                        continue;
                    };
                    let Place::Private { object, offset: Some(offset), .. } = place else { continue };
                    let Some(mut loops) = self.objects[*object as usize].take() else { continue };
                    let constant = self.hangs_on(*offset, &mut loops, &mut FxHashSet::default());
                    self.objects[*object as usize] = constant.then_some(loops);
                }
                Node::If { then, otherwise, .. } => {
                    self.accesses(then);
                    self.accesses(otherwise);
                }
                Node::Block { body, .. } | Node::Loop { body, .. } => self.accesses(body),
                Node::Switch { .. } | Node::Leave { .. } | Node::Repeat { .. } | Node::End => {}
            }
        }
    }

    /// The loops that go: those of as many objects as there is room for.
    fn choose(&self, body: &Region) -> Labels {
        let mut gone = Labels::default();
        for loops in self.objects.iter().flatten().filter(|loops| !loops.is_empty()) {
            let more: Labels = gone.union(loops).copied().collect();
            if self.size(body, &more, false) <= OPERATIONS {
                gone = more;
            }
        }
        gone
    }

    /// About how many operations there are where these loops were, once what folds has folded.
    fn size(&self, region: &Region, gone: &Labels, inside: bool) -> u64 {
        let of = |node: &Node| match node {
            Node::Op(op) => {
                let private = |place: &Place| match place {
                    Place::Private { object, .. } => {
                        let loops = self.objects[*object as usize].as_ref();
                        loops.is_some_and(|loops| loops.is_subset(gone))
                    }
                    _ => false,
                };
                let goes = match &op.kind {
                    OpKind::Load { place, .. } | OpKind::Store { place, .. } => private(place),
                    _ => op.results.iter().all(|value| {
                        let mut loops = Labels::default();
                        self.hangs_on(*value, &mut loops, &mut FxHashSet::default()) && loops.is_subset(gone)
                    }),
                };
                u64::from(inside && !goes)
            }
            Node::If { then, otherwise, .. } => {
                u64::from(inside) + self.size(then, gone, inside) + self.size(otherwise, gone, inside)
            }
            Node::Block { body, .. } => self.size(body, gone, inside),
            Node::Loop { label, body, .. } => {
                match self.counted.get(label).filter(|_| gone.contains(label)) {
                    Some(counted) => self.size(body, gone, true).saturating_mul(counted.turns),
                    None => u64::from(inside) + self.size(body, gone, inside),
                }
            }
            Node::Switch { .. } | Node::Leave { .. } | Node::Repeat { .. } | Node::End => 0,
        };
        region.iter().map(of).fold(0, u64::saturating_add)
    }
}

/// Ways through a loop.
#[derive(Default)]
struct Ways {
    /// Blocks and loops that begin and end within the loop.
    inside: Labels,
    /// Where jumps lead.
    jumps: Vec<Label>,
    /// It does what may not be done elsewhere, or by several instructions.
    fixed: bool,
}

impl Ways {
    fn region(&mut self, region: &Region) {
        for node in region {
            match node {
                Node::Op(op) => self.fixed |= !may_repeat(&op.kind),
                Node::If { then, otherwise, .. } => {
                    self.region(then);
                    self.region(otherwise);
                }
                Node::Block { label, body, .. } | Node::Loop { label, body, .. } => {
                    self.inside.insert(*label);
                    self.region(body);
                }
                Node::Switch { cases, default, .. } => {
                    self.jumps.extend(cases.iter().map(|(_, label)| *label));
                    self.jumps.push(*default);
                }
                Node::Leave { label, .. } | Node::Repeat { label, .. } => self.jumps.push(*label),
                Node::End => self.fixed = true,
            }
        }
    }
}

/// Whether an operation may be written several times: it neither synchronises nor tells lanes apart.
fn may_repeat(kind: &OpKind) -> bool {
    match kind {
        OpKind::Load { access, .. } | OpKind::Store { access, .. } => {
            access.atomic.is_none() && !access.volatile
        }
        OpKind::ImageFetch { .. } | OpKind::ImageSample { .. } => true,
        kind => kind.is_droppable(),
    }
}

/// The condition that the body of a loop begins with, and whether the loop is left where it holds.
fn exit(body: &Region, inside: &Labels) -> Option<(Value, bool)> {
    for node in body {
        match node {
            Node::Op(_) => {}
            Node::Block { body, .. } => return exit(body, inside),
            Node::If { condition, then, otherwise } => {
                return match (leaves(then, inside), leaves(otherwise, inside)) {
                    (true, false) => Some((*condition, true)),
                    (false, true) => Some((*condition, false)),
                    _ => None,
                };
            }
            _ => return None,
        }
    }
    None
}

/// Whether an arm does nothing but leave the loop.
fn leaves(arm: &Region, inside: &Labels) -> bool {
    let Some((Node::Leave { label, .. }, before)) = arm.split_last() else { return false };
    !inside.contains(label) && before.iter().all(|node| matches!(node, Node::Op(_)))
}

/// Writes the tree anew.
struct Writer<'a> {
    b: &'a mut Builder,
    /// Of the loops that go: their turns, and whether they are left where their condition holds.
    turns: FxHashMap<Label, (u64, bool)>,
    /// What values are in the turn that is written.
    renamed: Vec<Value>,
    labels: FxHashMap<Label, Label>,
    copies: Copies,
    /// The loops that go are built as they were where they were chosen.
    as_chosen: bool,
}

impl Writer<'_> {
    fn get(&self, value: Value) -> Value {
        self.renamed.get(value.0 as usize).copied().unwrap_or(value)
    }

    fn values(&self, values: &[Value]) -> Values {
        values.iter().map(|value| self.get(*value)).collect()
    }

    /// The result of an operation on constants: offsets are to be constants before objects are looked at.
    fn folded(&self, op: &Op) -> Option<u64> {
        let (&[result], Some(first)) = (op.results.as_slice(), op.arguments.first()) else { return None };
        let operands = op.arguments.iter().map(|value| self.b.constant_bits(*value));
        let operands = operands.collect::<Option<fold::Bits>>()?;
        match op.kind {
            OpKind::Alu(alu) => fold::alu(alu, self.b.scalar(*first), &operands, false)?.first().copied(),
            OpKind::Convert(to) => {
                fold::convert(to, self.b.scalar(*first), self.b.scalar(result), operands[0])
            }
            _ => None,
        }
    }

    /// What a value or label is called where it is defined.
    fn define(&mut self, value: Value, anew: bool) -> Value {
        if anew {
            self.renamed[value.0 as usize] = self.b.fresh(self.b.scalar(value));
        }
        self.get(value)
    }

    fn label(&mut self, label: Label, anew: bool) -> Label {
        if anew {
            let new = self.b.label();
            self.labels.insert(label, new);
            self.copies.insert(new, label);
        }
        self.to(label)
    }

    fn to(&self, label: Label) -> Label {
        self.labels.get(&label).copied().unwrap_or(label)
    }

    /// Writes nodes; what they define is called something else each time, if `anew`.
    fn write(&mut self, nodes: &[Node], anew: bool, out: &mut Region) {
        for node in nodes {
            self.node(node, anew, out);
        }
    }

    fn nested(&mut self, nodes: &[Node], anew: bool) -> Region {
        let mut out = Region::new();
        self.write(nodes, anew, &mut out);
        out
    }

    fn node(&mut self, node: &Node, anew: bool, out: &mut Region) {
        out.push(match node {
            Node::Op(op) => {
                let mut op = op.clone();
                op.kind.for_each_value_mut(|value| *value = self.get(*value));
                op.arguments.iter_mut().for_each(|value| *value = self.get(*value));
                if let Some(bits) = self.folded(&op) {
                    let result = op.results[0];
                    self.renamed[result.0 as usize] = self.b.constant(self.b.scalar(result), bits);
                    return;
                }
                if let Some(place) = op.kind.place_mut() {
                    *place = place.folded(self.b);
                }
                for result in &mut op.results {
                    *result = self.define(*result, anew);
                }
                Node::Op(op)
            }
            Node::If { condition, then, otherwise } => {
                let condition = self.get(*condition);
                let (then, otherwise) = (self.nested(then, anew), self.nested(otherwise, anew));
                Node::If { condition, then, otherwise }
            }
            Node::Block { label, results, body } => {
                let label = self.label(*label, anew);
                let body = self.nested(body, anew);
                let results = results.iter().map(|result| self.define(*result, anew)).collect();
                Node::Block { label, results, body }
            }
            Node::Loop { label, parameters, initial, body } => {
                let mut values = self.values(initial);
                if let Some(&(turns, leaves)) = self.turns.get(label) {
                    self.as_chosen &= way_out(*label, body).is_some_and(|way| way.1 == leaves);
                    for turn in 0..=turns {
                        // Each turn's instructions are executed anew: nothing takes two for one.
                        if turn > 0 {
                            let label = self.b.label();
                            out.push(Node::Block { label, results: Values::new(), body: Region::new() });
                        }
                        for (parameter, value) in parameters.iter().zip(values) {
                            self.renamed[parameter.0 as usize] = value;
                        }
                        self.turn(body, leaves, turn == turns, out);
                        values = match body.last() {
                            Some(Node::Repeat { arguments, .. }) if turn < turns => self.values(arguments),
                            _ => Values::new(),
                        };
                    }
                    return;
                }
                let label = self.label(*label, anew);
                let parameters = parameters.iter().map(|value| self.define(*value, anew)).collect();
                Node::Loop { label, parameters, initial: values, body: self.nested(body, anew) }
            }
            Node::Switch { selector, cases, default } => Node::Switch {
                selector: self.get(*selector),
                cases: cases.iter().map(|(literal, label)| (*literal, self.to(*label))).collect(),
                default: self.to(*default),
            },
            Node::Leave { label, arguments } => {
                Node::Leave { label: self.to(*label), arguments: self.values(arguments) }
            }
            Node::Repeat { label, .. } if self.turns.contains_key(label) => return,
            Node::Repeat { label, arguments } => {
                Node::Repeat { label: self.to(*label), arguments: self.values(arguments) }
            }
            Node::End => Node::End,
        });
    }

    /// One turn of a loop that goes: what comes before its condition; in the last turn the way out, else the
    /// other arm and the rest.
    fn turn(&mut self, body: &[Node], leaves: bool, last: bool, out: &mut Region) {
        let Some(at) = body.iter().position(|node| !matches!(node, Node::Op(_))) else { return };
        self.write(&body[..at], true, out);
        match &body[at] {
            // Nothing comes to the end of the block.
            Node::Block { body, .. } if last => return self.turn(body, leaves, true, out),
            Node::Block { label, results, body } => {
                let label = self.label(*label, true);
                let mut inside = Region::new();
                self.turn(body, leaves, false, &mut inside);
                let results = results.iter().map(|result| self.define(*result, true)).collect();
                out.push(Node::Block { label, results, body: inside });
            }
            Node::If { then, otherwise, .. } => {
                let (out_of, stay) = if leaves { (then, otherwise) } else { (otherwise, then) };
                if last {
                    return self.write(out_of, true, out);
                }
                self.write(stay, true, out);
                let jumps = |node: &Node| {
                    matches!(node, Node::Leave { .. } | Node::Repeat { .. } | Node::Switch { .. } | Node::End)
                };
                if stay.last().is_some_and(jumps) {
                    return;
                }
            }
            _ => {}
        }
        self.write(&body[at + 1..], true, out);
    }
}
