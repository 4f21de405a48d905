//! Simplification before code generation: equal pure operations are merged, pure operations are moved out of
//! loops, multiplications by powers of two become shifts, and what nobody uses is dropped. Memory operations
//! are neither merged nor moved nor removed: in the modelled mode each is an event of its own. Reads of push
//! constants are no events.

use crate::ir::{Alu, Label, Mark, Node, Op, OpKind, Region, Scalar, Shader, Value};
use crate::pass::numbering::{Key, Numbering};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Rewrites `shader.body` to an equivalent one.
pub(super) fn simplify(shader: &mut Shader) {
    let body = choices(std::mem::take(&mut shader.body));
    let count = shader.values.len();
    let mut merger = Merger {
        types: &shader.values,
        replaced: (0..count as u32).map(Value).collect(),
        depth_of: vec![0; count],
        constants: vec![None; count],
        constant_of: FxHashMap::default(),
        numbering: Numbering::default(),
        hoisted: Vec::new(),
        loop_regions: Vec::new(),
    };
    let mut body = merger.region(body);
    for name in &mut shader.names {
        merger.resolve(&mut name.value);
    }
    prune(&mut body, &mut FxHashSet::default());
    shader.body = drop_unused(body, count);
}

struct Merger<'a> {
    types: &'a [Scalar],
    replaced: Vec<Value>,
    /// Loop depth at which a value is defined.
    depth_of: Vec<u32>,
    /// The bits of values that are constant.
    constants: Vec<Option<u64>>,
    constant_of: FxHashMap<(u64, Scalar), Value>,
    numbering: Numbering,
    /// Operations to put before the loop, for each open loop.
    hoisted: Vec<Vec<Node>>,
    /// For each open loop, the region that holds it.
    loop_regions: Vec<usize>,
}

impl Merger<'_> {
    fn depth(&self) -> u32 {
        self.hoisted.len() as u32
    }

    fn region(&mut self, region: Region) -> Region {
        self.numbering.open();
        let mut out = Region::with_capacity(region.len());
        for node in region {
            self.node(node, &mut out);
        }
        self.numbering.close();
        out
    }

    fn constant(&self, value: Value) -> Option<u64> {
        self.constants[value.0 as usize]
    }

    fn resolve(&self, value: &mut Value) {
        *value = self.replaced[value.0 as usize];
    }

    fn node(&mut self, node: Node, out: &mut Region) {
        match node {
            Node::Op(op) => self.op(op, out),
            Node::If { mut condition, then, otherwise } => {
                self.resolve(&mut condition);
                match self.constant(condition) {
                    Some(0) => return self.inline(otherwise, out),
                    Some(_) => return self.inline(then, out),
                    None => {}
                }
                let (then, otherwise) = (self.region(then), self.region(otherwise));
                out.push(Node::If { condition, then, otherwise });
            }
            Node::Block { label, results, body } => {
                for result in &results {
                    self.depth_of[result.0 as usize] = self.depth();
                }
                let body = self.region(body);
                out.push(Node::Block { label, results, body });
            }
            Node::Loop { label, parameters, mut initial, body } => {
                initial.iter_mut().for_each(|v| self.resolve(v));
                self.loop_regions.push(self.numbering.innermost());
                self.hoisted.push(Vec::new());
                for parameter in &parameters {
                    self.depth_of[parameter.0 as usize] = self.depth();
                }
                let body = self.region(body);
                out.extend(self.hoisted.pop().unwrap_or_default());
                self.loop_regions.pop();
                out.push(Node::Loop { label, parameters, initial, body });
            }
            Node::Switch { mut selector, cases, default } => {
                self.resolve(&mut selector);
                out.push(Node::Switch { selector, cases, default });
            }
            Node::Leave { label, mut arguments } => {
                arguments.iter_mut().for_each(|v| self.resolve(v));
                out.push(Node::Leave { label, arguments });
            }
            Node::Repeat { label, mut arguments } => {
                arguments.iter_mut().for_each(|v| self.resolve(v));
                out.push(Node::Repeat { label, arguments });
            }
            Node::End => out.push(Node::End),
        }
    }

    /// A region that all lanes of its surroundings run.
    fn inline(&mut self, region: Region, out: &mut Region) {
        for node in region {
            self.node(node, out);
        }
    }

    fn op(&mut self, mut op: Op, out: &mut Region) {
        op.arguments.iter_mut().for_each(|v| self.resolve(v));
        op.kind.for_each_value_mut(|v| self.resolve(v));
        if let OpKind::Constant(bits) = op.kind {
            let scalar = self.types[op.results[0].0 as usize];
            self.constants[op.results[0].0 as usize] = Some(bits);
            self.constant_of.entry((bits, scalar)).or_insert(op.results[0]);
        }
        self.reduce(&mut op);
        let first = op.results.first().map(|result| self.types[result.0 as usize]);
        let Some(key) = first.and_then(|first| Key::of(&op.kind, first, &op.arguments)) else {
            for result in &op.results {
                self.depth_of[result.0 as usize] = self.depth();
            }
            out.push(Node::Op(op));
            return;
        };
        if let Some(known) = self.numbering.get(&key) {
            for (result, known) in op.results.iter().zip(known) {
                self.replaced[result.0 as usize] = *known;
            }
            return;
        }
        let depths = key.operands.iter().map(|value| self.depth_of[value.0 as usize]);
        let depth = depths.max().unwrap_or(0).min(self.depth());
        for result in &op.results {
            self.depth_of[result.0 as usize] = depth;
        }
        let hoisted = depth < self.depth();
        let region = if hoisted { self.loop_regions[depth as usize] } else { self.numbering.innermost() };
        self.numbering.insert(key, SmallVec::from_slice(&op.results), region);
        let out = if hoisted { &mut self.hoisted[depth as usize] } else { out };
        out.push(Node::Op(op));
    }

    /// Cheaper forms, and one order for the arguments of commutative operations.
    fn reduce(&mut self, op: &mut Op) {
        let OpKind::Alu(alu) = &mut op.kind else { return };
        if *alu == Alu::Select && self.types[op.results[0].0 as usize] == Scalar::Bool {
            let (condition, yes, no) = (op.arguments[0], op.arguments[1], op.arguments[2]);
            if no == condition || self.constant(no) == Some(0) {
                *alu = Alu::LogicalAnd;
                op.arguments = SmallVec::from_slice(&[condition, yes]);
            } else if yes == condition || self.constant(yes) == Some(1) {
                *alu = Alu::LogicalOr;
                op.arguments = SmallVec::from_slice(&[condition, no]);
            }
            return;
        }
        if alu.has(Mark::Commutes) && op.arguments[0] > op.arguments[1] {
            op.arguments.swap(0, 1);
        }
        if *alu == Alu::IMul && self.types[op.results[0].0 as usize] == Scalar::I32 {
            for (k, other) in [(0, 1), (1, 0)] {
                let Some(bits) = self.constant(op.arguments[k]) else { continue };
                let Some(&amount) = (bits as u32)
                    .is_power_of_two()
                    .then(|| self.constant_of.get(&(u64::from((bits as u32).trailing_zeros()), Scalar::I32)))
                    .flatten()
                else {
                    continue;
                };
                let x = op.arguments[other];
                *alu = Alu::ShiftLeft;
                op.arguments = SmallVec::from_slice(&[x, amount]);
                return;
            }
        }
    }
}

/// A block that only chooses between values that are cheap to compute: both are computed, without a branch.
fn choose(label: Label, results: &[Value], mut body: Region) -> Result<Region, Region> {
    let cheap = |nodes: &[Node]| {
        nodes.len() <= CHEAP
            && nodes.iter().all(|node| {
                let Node::Op(Op { kind, .. }) = node else { return false };
                match kind {
                    OpKind::Alu(alu) => alu.has(Mark::Cheap),
                    OpKind::Load { .. } => false,
                    kind => kind.is_droppable(),
                }
            })
    };
    let leaves = |region: &Region| matches!(region.split_last(), Some((Node::Leave { label: to, .. }, before)) if *to == label && cheap(before));
    let straight = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Op(_)));
    let fits = match body.split_last() {
        Some((Node::If { then, otherwise, .. }, before)) => {
            straight(before) && leaves(then) && leaves(otherwise) && results.len() <= 4
        }
        _ => false,
    };
    if !fits {
        return Err(body);
    }
    let Some(Node::If { condition, mut then, mut otherwise }) = body.pop() else { return Err(body) };
    let (Some(Node::Leave { arguments: yes, .. }), Some(Node::Leave { arguments: no, .. })) =
        (then.pop(), otherwise.pop())
    else {
        return Err(body);
    };
    body.extend(then);
    body.extend(otherwise);
    for ((result, yes), no) in results.iter().zip(yes).zip(no) {
        body.push(Node::Op(Op {
            kind: OpKind::Alu(Alu::Select),
            results: SmallVec::from_slice(&[*result]),
            arguments: SmallVec::from_slice(&[condition, yes, no]),
            site: pellucid_memory::access::Site(0),
        }));
    }
    Ok(body)
}

/// Drops what comes after a node that no lane gets past. Whether lanes get past the region's end; `left` are
/// the labels of blocks that lanes leave.
fn prune(region: &mut Region, left: &mut FxHashSet<Label>) -> bool {
    let last = region.iter_mut().position(|node| match node {
        Node::Op(_) => false,
        Node::If { then, otherwise, .. } => !(prune(then, left) | prune(otherwise, left)),
        Node::Block { label, body, .. } => !(prune(body, left) | left.contains(label)),
        Node::Loop { body, .. } => !prune(body, left),
        Node::Switch { cases, default, .. } => {
            left.extend(cases.iter().map(|case| case.1).chain([*default]));
            true
        }
        Node::Leave { label, .. } => {
            left.insert(*label);
            true
        }
        Node::Repeat { .. } | Node::End => true,
    });
    region.truncate(last.map_or(region.len(), |last| last + 1));
    last.is_none()
}

/// Makes choices of blocks, the innermost first.
fn choices(mut region: Region) -> Region {
    for node in &mut region {
        match node {
            Node::If { then, otherwise, .. } => {
                *then = choices(std::mem::take(then));
                *otherwise = choices(std::mem::take(otherwise));
            }
            Node::Loop { body, .. } | Node::Block { body, .. } => *body = choices(std::mem::take(body)),
            _ => {}
        }
    }
    if !region.iter().any(|node| matches!(node, Node::Block { .. })) {
        return region;
    }
    let mut out = Region::with_capacity(region.len());
    for node in region {
        match node {
            Node::Block { label, results, body } => match choose(label, &results, body) {
                Ok(nodes) => out.extend(nodes),
                Err(body) => out.push(Node::Block { label, results, body }),
            },
            other => out.push(other),
        }
    }
    out
}

/// Operations that a choice computes at most on either side rather than branch.
const CHEAP: usize = 6;

/// Who needs whom.
struct Uses {
    /// For each value, the values that its definition needs.
    needs: Vec<SmallVec<[Value; 4]>>,
    live: Vec<bool>,
    work: Vec<Value>,
    carried: FxHashMap<Label, Vec<Value>>,
}

impl Uses {
    fn root(&mut self, value: Value) {
        if !std::mem::replace(&mut self.live[value.0 as usize], true) {
            self.work.push(value);
        }
    }

    fn region(&mut self, region: &Region) {
        for node in region {
            match node {
                Node::Op(op) => {
                    let mut inputs: SmallVec<[Value; 4]> = op.arguments.clone();
                    op.kind.for_each_value(|value| inputs.push(value));
                    if op.kind.is_droppable() {
                        for result in &op.results {
                            self.needs[result.0 as usize].extend(inputs.iter().copied());
                        }
                    } else {
                        inputs.into_iter().for_each(|v| self.root(v));
                    }
                }
                Node::If { condition, then, otherwise } => {
                    self.root(*condition);
                    self.region(then);
                    self.region(otherwise);
                }
                Node::Block { label, results, body } => {
                    self.carried.insert(*label, results.to_vec());
                    self.region(body);
                }
                Node::Loop { label, parameters, initial, body } => {
                    self.carried.insert(*label, parameters.to_vec());
                    self.carry(*label, initial);
                    self.region(body);
                }
                Node::Switch { selector, .. } => self.root(*selector),
                Node::Leave { label, arguments } | Node::Repeat { label, arguments } => {
                    self.carry(*label, arguments)
                }
                Node::End => {}
            }
        }
    }

    fn carry(&mut self, label: Label, arguments: &[Value]) {
        let Some(targets) = self.carried.get(&label) else { return };
        for (target, argument) in targets.iter().zip(arguments) {
            self.needs[target.0 as usize].push(*argument);
        }
    }
}

/// Drops what nobody uses.
fn drop_unused(mut body: Region, count: usize) -> Region {
    let mut uses = Uses {
        needs: vec![SmallVec::new(); count],
        live: vec![false; count],
        work: Vec::new(),
        carried: FxHashMap::default(),
    };
    uses.region(&body);
    while let Some(value) = uses.work.pop() {
        for needed in std::mem::take(&mut uses.needs[value.0 as usize]) {
            uses.root(needed);
        }
    }
    drop_dead(&mut body, &uses.live, &uses.carried);
    body
}

fn drop_dead(region: &mut Region, live: &[bool], carried: &FxHashMap<Label, Vec<Value>>) {
    let alive = |v: &Value| live[v.0 as usize];
    let filter = |label: &Label, values: &mut SmallVec<[Value; 4]>| {
        let Some(targets) = carried.get(label) else { return };
        let mut k = 0;
        values.retain(|_| {
            k += 1;
            targets.get(k - 1).is_some_and(alive)
        });
    };
    region.retain_mut(|node| match node {
        Node::Op(op) => !op.kind.is_droppable() || op.results.iter().any(alive),
        Node::If { then, otherwise, .. } => {
            drop_dead(then, live, carried);
            drop_dead(otherwise, live, carried);
            true
        }
        Node::Block { results, body, .. } => {
            results.retain(|v| alive(v));
            drop_dead(body, live, carried);
            true
        }
        Node::Loop { label, parameters, initial, body } => {
            filter(label, initial);
            parameters.retain(|v| alive(v));
            drop_dead(body, live, carried);
            true
        }
        Node::Leave { label, arguments } | Node::Repeat { label, arguments } => {
            filter(label, arguments);
            true
        }
        Node::Switch { .. } | Node::End => true,
    });
}
