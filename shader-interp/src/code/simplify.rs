//! Simplification before code generation: equal pure operations are merged, pure operations are moved out of
//! loops, multiplications by powers of two become shifts, and what nobody uses is dropped. Memory operations
//! are neither merged nor moved nor removed: in the modelled mode each is an event of its own. Reads of push
//! constants are no events.

use crate::ir::{Alu, Conversion, Label, Node, Op, OpKind, Place, Region, Scalar, Shader, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Rewrites `shader.body` to an equivalent one.
pub(super) fn simplify(shader: &mut Shader) {
    let body = choices(std::mem::take(&mut shader.body));
    let count = shader.values.len();
    let mut merger = Merger {
        types: &shader.values,
        replaced: (0..count as u32).map(Value).collect(),
        depth_of: vec![0; count],
        constants: FxHashMap::default(),
        constant_of: FxHashMap::default(),
        table: FxHashMap::default(),
        undo: Vec::new(),
        hoisted: Vec::new(),
        loop_regions: Vec::new(),
    };
    let mut body = merger.region(body);
    prune(&mut body);
    shader.body = sweep(body, count);
}

/// What a pure operation computes: two operations with equal keys have equal results.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Constant(u64, Scalar),
    Alu(Alu, Scalar, SmallVec<[Value; 4]>),
    Convert(Conversion, Scalar, Value),
    Pack(Scalar, SmallVec<[Value; 4]>),
    Unpack(Value),
    Push(Option<Value>, u32, u8, usize, Scalar),
    BufferSize(u32, Option<Value>),
}

struct Merger<'a> {
    types: &'a [Scalar],
    replaced: Vec<Value>,
    /// Loop depth at which a value is defined.
    depth_of: Vec<u32>,
    constants: FxHashMap<Value, u64>,
    constant_of: FxHashMap<(u64, Scalar), Value>,
    table: FxHashMap<Key, SmallVec<[Value; 2]>>,
    /// Keys to forget at the end of each open region.
    undo: Vec<Vec<Key>>,
    /// Operations to put before the loop, for each open loop.
    hoisted: Vec<Vec<Node>>,
    /// For each open loop, the index in `undo` of the region that holds it.
    loop_regions: Vec<usize>,
}

impl Merger<'_> {
    fn depth(&self) -> u32 {
        self.hoisted.len() as u32
    }

    fn region(&mut self, region: Region) -> Region {
        self.undo.push(Vec::new());
        let mut out = Region::with_capacity(region.len());
        for node in region {
            self.node(node, &mut out);
        }
        for key in self.undo.pop().unwrap_or_default() {
            self.table.remove(&key);
        }
        out
    }

    fn resolve(&self, value: &mut Value) {
        *value = self.replaced[value.0 as usize];
    }

    fn node(&mut self, node: Node, out: &mut Region) {
        match node {
            Node::Op(op) => self.op(op, out),
            Node::If { mut condition, then, otherwise } => {
                self.resolve(&mut condition);
                match self.constants.get(&condition) {
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
                self.loop_regions.push(self.undo.len() - 1);
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
        visit_operands(&mut op.kind, &mut |v| self.resolve(v));
        if let OpKind::Constant(bits) = op.kind {
            let scalar = self.types[op.results[0].0 as usize];
            self.constants.insert(op.results[0], bits);
            self.constant_of.entry((bits, scalar)).or_insert(op.results[0]);
        }
        self.reduce(&mut op);
        let Some(key) = self.key(&op) else {
            for result in &op.results {
                self.depth_of[result.0 as usize] = self.depth();
            }
            out.push(Node::Op(op));
            return;
        };
        if let Some(known) = self.table.get(&key) {
            for (result, known) in op.results.iter().zip(known.clone()) {
                self.replaced[result.0 as usize] = known;
            }
            return;
        }
        let mut depth = 0;
        for value in operands(&op.kind).iter().chain(&op.arguments) {
            depth = depth.max(self.depth_of[value.0 as usize]);
        }
        let depth = depth.min(self.depth());
        for result in &op.results {
            self.depth_of[result.0 as usize] = depth;
        }
        self.table.insert(key.clone(), op.results.iter().copied().collect());
        if depth < self.depth() {
            let region = self.loop_regions[depth as usize];
            self.undo[region].push(key);
            self.hoisted[depth as usize].push(Node::Op(op));
        } else {
            if let Some(keys) = self.undo.last_mut() {
                keys.push(key);
            }
            out.push(Node::Op(op));
        }
    }

    /// Cheaper forms, and one order for the arguments of commutative operations.
    fn reduce(&mut self, op: &mut Op) {
        let OpKind::Alu(alu) = &mut op.kind else { return };
        if *alu == Alu::Select && self.types[op.results[0].0 as usize] == Scalar::Bool {
            let (condition, yes, no) = (op.arguments[0], op.arguments[1], op.arguments[2]);
            if no == condition || self.constants.get(&no) == Some(&0) {
                *alu = Alu::LogicalAnd;
                op.arguments = SmallVec::from_slice(&[condition, yes]);
            } else if yes == condition || self.constants.get(&yes) == Some(&1) {
                *alu = Alu::LogicalOr;
                op.arguments = SmallVec::from_slice(&[condition, no]);
            }
            return;
        }
        if matches!(
            alu,
            Alu::IAdd
                | Alu::IMul
                | Alu::And
                | Alu::Or
                | Alu::Xor
                | Alu::FAdd
                | Alu::FMul
                | Alu::IEqual
                | Alu::INotEqual
        ) && op.arguments[0] > op.arguments[1]
        {
            op.arguments.swap(0, 1);
        }
        if *alu == Alu::IMul && self.types[op.results[0].0 as usize] == Scalar::I32 {
            for (k, other) in [(0, 1), (1, 0)] {
                let Some(bits) = self.constants.get(&op.arguments[k]) else { continue };
                let Some(&amount) = (*bits as u32)
                    .is_power_of_two()
                    .then(|| self.constant_of.get(&(u64::from((*bits as u32).trailing_zeros()), Scalar::I32)))
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

    fn key(&self, op: &Op) -> Option<Key> {
        let scalar = self.types[op.results.first()?.0 as usize];
        Some(match &op.kind {
            OpKind::Constant(bits) => Key::Constant(*bits, scalar),
            OpKind::Alu(alu) => Key::Alu(*alu, scalar, op.arguments.clone()),
            OpKind::Convert(conversion) => Key::Convert(*conversion, scalar, op.arguments[0]),
            OpKind::Pack64 => Key::Pack(scalar, op.arguments.clone()),
            OpKind::Unpack64 => Key::Unpack(op.arguments[0]),
            OpKind::Load { place: Place::PushConstant { offset, immediate }, access } => {
                Key::Push(*offset, *immediate, access.size, op.results.len(), scalar)
            }
            OpKind::BufferSize { binding, element } => Key::BufferSize(*binding, *element),
            _ => return None,
        })
    }
}

/// Calls `f` for the values inside the operation's kind (offsets, addresses, descriptor elements).
fn visit_operands(kind: &mut OpKind, f: &mut dyn FnMut(&mut Value)) {
    let mut some = |value: &mut Option<Value>| {
        if let Some(value) = value {
            f(value);
        }
    };
    match kind {
        OpKind::Load { place, .. } | OpKind::Store { place, .. } | OpKind::Atomic { place, .. } => {
            match place {
                Place::Buffer { element, offset, .. } => {
                    some(element);
                    some(offset);
                }
                Place::Physical { address, .. } => f(address),
                Place::Workgroup { offset, .. }
                | Place::Private { offset, .. }
                | Place::PushConstant { offset, .. } => some(offset),
            }
        }
        OpKind::BufferSize { element, .. } => some(element),
        kind => {
            if let Some(image) = kind.image_mut() {
                some(&mut image.element);
                if let Some((_, element)) = &mut image.sampler {
                    some(element);
                }
            }
        }
    }
}

/// The values inside the operation's kind.
pub(crate) fn operands(kind: &OpKind) -> SmallVec<[Value; 4]> {
    let mut found = SmallVec::new();
    visit_operands(&mut kind.clone(), &mut |value| found.push(*value));
    found
}

/// A block that only chooses between values that are cheap to compute: both are computed, without a branch.
fn choose(label: Label, results: &[Value], mut body: Region) -> Result<Region, Region> {
    let cheap = |nodes: &[Node]| {
        nodes.len() <= CHEAP
            && nodes.iter().all(|node| {
                matches!(node, Node::Op(op) if droppable(&op.kind) && !matches!(op.kind, OpKind::Load { .. }) && !is_long(&op.kind))
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

/// Drops what comes after the end of a region that no lane gets past.
fn prune(region: &mut Region) {
    if let Some(last) =
        region.iter().position(|node| !super::uniform::reaches_end(std::slice::from_ref(node)))
    {
        region.truncate(last + 1);
    }
    for node in region {
        match node {
            Node::If { then, otherwise, .. } => {
                prune(then);
                prune(otherwise);
            }
            Node::Block { body, .. } | Node::Loop { body, .. } => prune(body),
            _ => {}
        }
    }
}

/// Makes choices of blocks, the innermost first.
fn choices(region: Region) -> Region {
    let mut out = Region::with_capacity(region.len());
    for node in region {
        match node {
            Node::If { condition, then, otherwise } => {
                out.push(Node::If { condition, then: choices(then), otherwise: choices(otherwise) });
            }
            Node::Loop { label, parameters, initial, body } => {
                out.push(Node::Loop { label, parameters, initial, body: choices(body) });
            }
            Node::Block { label, results, body } => match choose(label, &results, choices(body)) {
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

/// An operation that takes much longer than a branch.
fn is_long(kind: &OpKind) -> bool {
    match kind {
        OpKind::Alu(alu) => !matches!(
            alu,
            Alu::IAdd
                | Alu::ISub
                | Alu::IMul
                | Alu::SNegate
                | Alu::And
                | Alu::Or
                | Alu::Xor
                | Alu::Not
                | Alu::ShiftLeft
                | Alu::ShiftRightLogical
                | Alu::ShiftRightArithmetic
                | Alu::SMin
                | Alu::UMin
                | Alu::SMax
                | Alu::UMax
                | Alu::IEqual
                | Alu::INotEqual
                | Alu::ULess
                | Alu::ULessEqual
                | Alu::SLess
                | Alu::SLessEqual
                | Alu::FAdd
                | Alu::FSub
                | Alu::FMul
                | Alu::FNegate
                | Alu::FAbs
                | Alu::FOrdEqual
                | Alu::FOrdLess
                | Alu::FOrdLessEqual
                | Alu::FUnordNotEqual
                | Alu::LogicalAnd
                | Alu::LogicalOr
                | Alu::LogicalNot
                | Alu::LogicalEqual
                | Alu::LogicalNotEqual
                | Alu::Select
        ),
        OpKind::Convert(_) => false,
        _ => false,
    }
}

/// True if the operation can be dropped when its results are not used.
fn droppable(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Constant(_)
            | OpKind::Undef
            | OpKind::BuiltIn(_)
            | OpKind::Alu(_)
            | OpKind::Convert(_)
            | OpKind::Pack64
            | OpKind::Unpack64
            | OpKind::BufferSize { .. }
            | OpKind::Load { place: Place::PushConstant { .. } | Place::Private { .. }, .. }
    )
}

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
                    inputs.extend(operands(&op.kind));
                    if droppable(&op.kind) {
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
fn sweep(mut body: Region, count: usize) -> Region {
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
        Node::Op(op) => !droppable(&op.kind) || op.results.iter().any(alive),
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
