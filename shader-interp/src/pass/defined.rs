//! Check mode: follows which components of Function and Private variables, and of push constants, are
//! written, and checks before a value is used that it comes from none that are not.
//!
//! Each followed object gets a *shadow object* of the same size, and values that may be undefined a *shadow*
//! of type I32. A shadow is 0 for a defined value; for an undefined one it names the component that a load
//! read and nothing had written ([`number`], [`Origins`]). Copies are no uses: stores to followed objects,
//! phis and selections carry the shadow along, arithmetic hands on its arguments'. A [`OpKind::CheckDefined`]
//! stands before branches, switches, addresses and descriptor elements, atomics, images, and stores to memory
//! that invocations share. Where loads of shared memory are followed, stores to workgroup memory are copies,
//! too: memory itself keeps what they make undefined ([`OpKind::StoreUndefined`]).
//!
//! **Silent on purpose**, so that there is no false alarm: a component that a load of several components read
//! along with defined ones and that is stored as it is or packed into a word (padding, vectors filled
//! component by component); bits that `OpBitwiseAnd` or `OpBitFieldInsert` may have replaced; votes and
//! ballots, and reductions that one lane may decide (and, or), whose results count as defined; what OpUndef
//! gives; accesses out of bounds, which are findings of their own. An object in memory is not undefined again
//! when its function is called again in a loop.

use super::builder::Builder;
use super::complete;
use crate::interface::PUSH_UNSET;
use crate::ir::{
    Alu, GroupFold, GroupKind, Label, MAX_PRIVATE, Mark, MatrixComponents, MatrixMulAdd, Node, Op, OpKind,
    Origin, Origins, Place, PrivateObject, Region, Scalar, Shader, Undefined, Value, Values,
};
use pellucid_memory::access::{Access, Site};
use pellucid_memory::scope::StorageClasses;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Bytes of the largest object that is followed.
pub(super) const FOLLOWED: u32 = 1 << 16;
/// Most bytes of push constants that are followed.
const PUSH_BYTES: u32 = 1 << 12;
/// Components of a load that are looked at to know whether all are undefined; loads of more count as partly
/// defined.
const LOOKED_AT: usize = 64;

/// A component that nothing has written, before the load that reads it is known.
const NEVER: u32 = 1;
/// Other components of the same load were defined.
pub(crate) const PARTLY: u32 = 2;

/// The shadow of the component with this number, which a load found undefined.
fn word(number: u32) -> u32 {
    (number + 1) << 2
}

/// The number of the component that a shadow which is not 0 names, in [`Shader::origins`].
pub(crate) fn number(shadow: u32) -> u32 {
    (shadow >> 2).wrapping_sub(1)
}

/// An object that is followed.
#[derive(Clone, Copy)]
struct Followed {
    /// Its first byte.
    offset: u32,
    /// Its bytes.
    size: u32,
    /// The shadow object.
    shadow: u32,
    /// How far that lies behind it.
    delta: u32,
}

/// Instruments the shader's body, and numbers what shadows may name. `loads`: plain loads of memory that
/// invocations share are followed, too.
pub(super) fn instrument(shader: &mut Shader, b: &mut Builder, owners: &mut Vec<Option<Label>>, loads: bool) {
    let complete = complete::find(shader, b);
    let mut objects = Vec::new();
    let mut end = shader.private_bytes;
    for k in 0..complete.len() {
        let PrivateObject { offset, size, .. } = shader.private[k];
        let follow = !complete[k] && size > 0 && size <= FOLLOWED && end + size <= MAX_PRIVATE;
        let (shadow, delta) = (shader.private.len() as u32, end.wrapping_sub(offset));
        objects.push(follow.then_some(Followed { offset, size, shadow, delta }));
        if follow {
            shader.private.push(PrivateObject {
                offset: end,
                size,
                name: String::new(),
                variable: 0,
                call: None,
            });
            owners.push(owners[k]);
            end = (end + size).next_multiple_of(8);
        }
    }
    shader.private_bytes = end;
    let push = shader.push_variable;
    if objects.iter().all(Option::is_none) && push.is_none() && !loads {
        return;
    }
    let body = std::mem::take(&mut shader.body);
    let mut walk = Walk {
        b,
        objects,
        push,
        loads: loads.then(Vec::new),
        shadows: FxHashMap::default(),
        origins: Origins::default(),
    };
    shader.body = walk.region(body);
    shader.origins = walk.origins;
    shader.followed_loads = walk.loads.unwrap_or_default();
}

struct Walk<'a> {
    b: &'a mut Builder,
    objects: Vec<Option<Followed>>,
    /// The number of the push constant block as a variable, if it is followed.
    push: Option<u32>,
    /// The loads of shared memory that are followed, if such are.
    loads: Option<Vec<Site>>,
    /// Of values that may be undefined.
    shadows: FxHashMap<Value, Value>,
    origins: Origins,
}

impl Walk<'_> {
    /// A load from a Function or Private variable, or from push constants or shared memory that are followed.
    fn load_of(&self, node: &Node) -> Option<Site> {
        let Node::Op(Op { kind: OpKind::Load { place, access }, site, .. }) = node else { return None };
        match place {
            Place::Private { .. } => Some(*site),
            Place::PushConstant { .. } => self.push.map(|_| *site),
            _ => self.loads.as_ref().filter(|_| access.atomic.is_none()).map(|_| *site),
        }
    }

    fn region(&mut self, nodes: Region) -> Region {
        self.b.open();
        // Loads by one instruction that are not in a row copy an object part by part, if no block is between
        // them.
        let mut parts: FxHashMap<(usize, Site), u32> = FxHashMap::default();
        let (mut last, mut blocks) = (None, 0);
        for node in &nodes {
            blocks += usize::from(!matches!(node, Node::Op(_)));
            let site = self.load_of(node).map(|site| (blocks, site));
            if let Some(site) = site.filter(|_| site != last) {
                *parts.entry(site).or_default() += 1;
            }
            last = site;
        }
        let mut nodes = nodes.into_iter().peekable();
        blocks = 0;
        while let Some(node) = nodes.next() {
            blocks += usize::from(!matches!(node, Node::Op(_)));
            let Some(site) = self.load_of(&node) else {
                self.node(node);
                continue;
            };
            let mut group = vec![node];
            while let Some(next) = nodes.next_if(|next| self.load_of(next) == Some(site)) {
                group.push(next);
            }
            self.loads(group, site, parts.get(&(blocks, site)).is_some_and(|&count| count > 1));
        }
        self.b.close()
    }

    fn node(&mut self, node: Node) {
        match node {
            Node::Op(op) => self.op(op),
            Node::If { condition, then, otherwise } => {
                self.check(condition, true, Site(0));
                let (then, otherwise) = (self.region(then), self.region(otherwise));
                self.b.push(Node::If { condition, then, otherwise });
            }
            Node::Block { label, results, body } => {
                let body = self.region(body);
                let results = self.with_shadows(results);
                self.b.push(Node::Block { label, results, body });
            }
            Node::Loop { label, parameters, initial, body } => {
                let initial = self.carried(initial);
                let parameters = self.with_shadows(parameters);
                let body = self.region(body);
                self.b.push(Node::Loop { label, parameters, initial, body });
            }
            Node::Switch { selector, cases, default } => {
                self.check(selector, true, Site(0));
                self.b.push(Node::Switch { selector, cases, default });
            }
            Node::Leave { label, arguments } => {
                let arguments = self.carried(arguments);
                self.b.push(Node::Leave { label, arguments });
            }
            Node::Repeat { label, arguments } => {
                let arguments = self.carried(arguments);
                self.b.push(Node::Repeat { label, arguments });
            }
            Node::End => self.b.push(Node::End),
        }
    }

    /// Results or parameters, and then their shadows.
    fn with_shadows(&mut self, mut values: Values) -> Values {
        for k in 0..values.len() {
            let shadow = self.b.fresh(Scalar::I32);
            self.shadows.insert(values[k], shadow);
            values.push(shadow);
        }
        values
    }

    /// Arguments of a jump, and then their shadows.
    fn carried(&mut self, mut values: Values) -> Values {
        for k in 0..values.len() {
            let shadow = self.shadow(values[k]);
            values.push(shadow);
        }
        values
    }

    fn shadow(&mut self, value: Value) -> Value {
        match self.shadows.get(&value) {
            Some(&shadow) => shadow,
            None => self.b.int(0),
        }
    }

    /// The shadow of a value, unless it is defined for certain.
    fn suspect(&self, value: Value) -> Option<Value> {
        self.shadows.get(&value).copied().filter(|&shadow| self.b.constant_bits(shadow) != Some(0))
    }

    fn set(&mut self, value: Value, shadow: Value) {
        if self.b.constant_bits(shadow) != Some(0) {
            self.shadows.insert(value, shadow);
        }
    }

    /// The value is used by the instruction at `site`; `whole`: even if it was loaded along with others.
    fn check(&mut self, value: Value, whole: bool, site: Site) {
        if let Some(shadow) = self.suspect(value) {
            self.b.op(OpKind::CheckDefined { whole }, &[], &[shadow], site);
        }
    }

    fn check_all(&mut self, values: &[Value], whole: bool, site: Site) {
        values.iter().for_each(|&value| self.check(value, whole, site));
    }

    /// The values that an operation's kind names: addresses, elements.
    fn check_kind(&mut self, kind: &OpKind, site: Site) {
        kind.for_each_value(|value| self.check(value, true, site));
    }

    fn op(&mut self, op: Op) {
        let shadow = match op.kind.properties().undefined {
            Undefined::Dropped => None,
            Undefined::Computed(alu) => self.alu(alu, &op.arguments),
            Undefined::Copied => self.any(&op.arguments),
            Undefined::Moved => self.moved(&op),
            Undefined::Reduced(fold, kind) => self.folded(fold, kind, &op.arguments),
            Undefined::Multiplied(product) => {
                self.multiplied(&op, product);
                None
            }
            Undefined::Checked { whole } => {
                self.check_kind(&op.kind, op.site);
                match &op.kind {
                    OpKind::Store { place: Place::Private { object, offset, immediate }, access } => {
                        self.store_shadows(&op.arguments, (*object, *offset, *immediate), access.size);
                    }
                    OpKind::Store { place: Place::Workgroup { .. }, access }
                        if self.loads.is_some() && access.atomic.is_none() =>
                    {
                        self.shared_store(&op.arguments);
                    }
                    _ => self.check_all(&op.arguments, whole, op.site),
                }
                None
            }
        };
        if let Some(shadow) = shadow {
            op.results.iter().for_each(|&result| self.set(result, shadow));
        }
        self.b.push(Node::Op(op));
    }

    /// A store to workgroup memory, which keeps what of it is undefined.
    fn shared_store(&mut self, values: &[Value]) {
        for (component, &value) in (0..).zip(values) {
            if let Some(shadow) = self.suspect(value) {
                self.b.op(OpKind::StoreUndefined { component }, &[], &[shadow], Site(0));
            }
        }
    }

    /// A store to a private object.
    fn store_shadows(&mut self, values: &[Value], to: (u32, Option<Value>, u32), size: u8) {
        let (object, offset, immediate) = to;
        let Some(Followed { shadow, delta, .. }) = self.objects[object as usize] else { return };
        for (k, &value) in values.iter().enumerate() {
            let immediate = immediate.wrapping_add(k as u32 * u32::from(size)).wrapping_add(delta);
            self.store_shadow(Place::Private { object: shadow, offset, immediate }, value, size);
        }
    }

    /// The shadow of a value that comes from another lane: that lane's, or that of which lane it is.
    fn moved(&mut self, op: &Op) -> Option<Value> {
        let (&value, others) = op.arguments.split_first()?;
        let Some(shadow) = self.suspect(value) else { return self.any(others) };
        // A lane that is not active has no value, and what it holds here is arbitrary: each lane folded alone
        // leaves 0 there.
        let alone = OpKind::Group(GroupFold::UMax, GroupKind::Clustered(1));
        let mut arguments = op.arguments.clone();
        arguments[0] = self.b.one(alone, Scalar::I32, &[shadow], Site(0));
        let moved = self.b.one(op.kind.clone(), Scalar::I32, &arguments, Site(0));
        let Some(which) = self.any(others) else { return Some(moved) };
        let defined = self.is(which, 0);
        Some(self.b.select(defined, moved, which))
    }

    /// The shadow of a reduction or scan: any of the lanes' that take part.
    fn folded(&mut self, fold: GroupFold, kind: GroupKind, arguments: &[Value]) -> Option<Value> {
        use GroupFold::*;
        if matches!(fold, And | Or | LogicalAnd | LogicalOr) {
            return None;
        }
        let shadow = self.any(arguments)?;
        let all = self.b.one(OpKind::Group(UMax, kind), Scalar::I32, &[shadow], Site(0));
        let whole = self.b.int(!PARTLY);
        Some(self.b.alu(Alu::And, Scalar::I32, &[all, whole]))
    }

    /// The shadows of a product of cooperative matrices.
    fn multiplied(&mut self, op: &Op, product: MatrixMulAdd) {
        if self.any(&op.arguments).is_none() {
            return;
        }
        let shadows: SmallVec<[Value; 4]> = op.arguments.iter().map(|&value| self.shadow(value)).collect();
        let kind = OpKind::MatrixMulAdd(MatrixMulAdd { of: MatrixComponents::Shadows, ..product });
        let types = vec![Scalar::I32; op.results.len()];
        let found = self.b.op(kind, &types, &shadows, Site(0));
        let whole = self.b.int(!PARTLY);
        for (&result, &shadow) in op.results.iter().zip(&found) {
            let shadow = self.b.alu(Alu::And, Scalar::I32, &[shadow, whole]);
            self.set(result, shadow);
        }
    }

    /// The first shadow that is not 0.
    fn any(&mut self, values: &[Value]) -> Option<Value> {
        let mut all: Option<Value> = None;
        for &value in values {
            let Some(shadow) = self.suspect(value) else { continue };
            all = Some(match all {
                Some(before) => {
                    let defined = self.is(before, 0);
                    self.b.select(defined, shadow, before)
                }
                None => shadow,
            });
        }
        all
    }

    fn is(&mut self, shadow: Value, bits: u32) -> Value {
        let bits = self.b.int(bits);
        self.b.alu(Alu::IEqual, Scalar::Bool, &[shadow, bits])
    }

    /// The shadow of the results.
    fn alu(&mut self, alu: Alu, arguments: &[Value]) -> Option<Value> {
        if alu.has(Mark::Masks) {
            return None;
        }
        let all = self.any(arguments)?;
        let zero = self.b.int(0);
        match (alu, arguments) {
            (Alu::Select, &[condition, yes, no]) => {
                let (yes, no) = (self.shadow(yes), self.shadow(no));
                let chosen = self.b.select(condition, yes, no);
                let Some(condition) = self.suspect(condition) else { return Some(chosen) };
                let defined = self.is(condition, 0);
                Some(self.b.select(defined, chosen, condition))
            }
            // A defined operand may decide alone.
            (Alu::LogicalAnd | Alu::LogicalOr, &[x, y]) => {
                let (of_x, of_y) = (self.shadow(x), self.shadow(y));
                let decided = |walk: &mut Self, by: Value, other: Value| match alu {
                    Alu::LogicalAnd => walk.b.select(by, other, zero),
                    _ => walk.b.select(by, zero, other),
                };
                let (by_x, by_y) = (decided(self, x, of_y), decided(self, y, of_x));
                let (x_defined, y_defined) = (self.is(of_x, 0), self.is(of_y, 0));
                let neither = self.b.select(y_defined, by_y, of_x);
                Some(self.b.select(x_defined, by_x, neither))
            }
            (alu, _) if alu.has(Mark::Packs) => Some(all),
            // It is more than a copy.
            _ => {
                let whole = self.b.int(!PARTLY);
                Some(self.b.alu(Alu::And, Scalar::I32, &[all, whole]))
            }
        }
    }

    /// Stores the shadow of a component: memory starts as zeros, so there it is written with the bit
    /// [`NEVER`] inverted.
    fn store_shadow(&mut self, place: Place, value: Value, size: u8) {
        let shadow = self.shadow(value);
        let one = self.b.int(NEVER);
        let stored = if size < 4 {
            // Too narrow for an origin.
            let (defined, zero) = (self.is(shadow, 0), self.b.int(0));
            self.b.select(defined, one, zero)
        } else {
            self.b.alu(Alu::Xor, Scalar::I32, &[shadow, one])
        };
        let access = Access::plain(StorageClasses::empty(), size.min(4), 1);
        self.b.op(OpKind::Store { place, access }, &[], &[stored], Site(0));
    }

    /// The loads by which one instruction reads a value from a followed object. `part`: and it reads more
    /// elsewhere.
    fn loads(&mut self, group: Vec<Node>, site: Site, part: bool) {
        // Of each component: the value, its shadow in memory, and the shadow that names it.
        let mut found: Vec<(Value, Value, Value)> = Vec::new();
        for node in group {
            let Node::Op(op) = node else { continue };
            let OpKind::Load { place, access } = op.kind else { continue };
            self.check_kind(&op.kind, site);
            let results = op.results.clone();
            self.b.push(Node::Op(op));
            if !matches!(place, Place::Private { .. } | Place::PushConstant { .. }) {
                self.shared_load(&results, site);
                continue;
            }
            let Some(here) = self.named(&place, access.size, results.len() as u32, site) else { continue };
            for (k, &result) in results.iter().enumerate() {
                let shadow = self.stored_shadow(&place, k as u32 * u32::from(access.size), access.size);
                found.push((result, shadow, here[k]));
            }
        }
        if found.is_empty() {
            return;
        }
        let zero = self.b.int(0);
        let partly = self.b.int(PARTLY);
        let flag = if part || found.len() > LOOKED_AT {
            partly
        } else if found.len() > 1 {
            let least = found[1..].iter().fold(found[0].1, |least, &(_, shadow, _)| {
                self.b.alu(Alu::UMin, Scalar::I32, &[least, shadow])
            });
            let some_defined = self.is(least, 0);
            self.b.select(some_defined, partly, zero)
        } else {
            zero
        };
        // What was copied along with something defined is named where it is read alone.
        let mask = self.b.int(NEVER | PARTLY);
        for (result, shadow, here) in found {
            let here = self.b.alu(Alu::Or, Scalar::I32, &[here, flag]);
            let named = self.b.alu(Alu::And, Scalar::I32, &[shadow, mask]);
            let named = self.is(named, 0);
            let shadow = self.b.select(named, shadow, here);
            self.set(result, shadow);
        }
    }

    /// A load of shared memory, which says itself of which components it read what nothing had written.
    fn shared_load(&mut self, results: &[Value], site: Site) {
        if let Some(loads) = self.loads.as_mut().filter(|loads| !loads.contains(&site)) {
            loads.push(site);
        }
        let (number, _) = self.origins.add(Origin { site, variable: u32::MAX, offset: 0, bytes: 0 }, 1);
        let undefined = self.b.one(OpKind::ReadUndefined, Scalar::I32, &[], Site(0));
        let (zero, named) = (self.b.int(0), self.b.int(word(number)));
        for (k, &result) in results.iter().enumerate() {
            let component = self.b.int(1 << k.min(31));
            let undefined = self.b.alu(Alu::And, Scalar::I32, &[undefined, component]);
            let defined = self.is(undefined, 0);
            let shadow = self.b.select(defined, zero, named);
            self.set(result, shadow);
        }
    }

    /// What memory says of the component at byte `by` of a place that is followed: 0, a shadow, or [`NEVER`].
    fn stored_shadow(&mut self, place: &Place, by: u32, size: u8) -> Value {
        let access = Access::plain(StorageClasses::empty(), size.min(4), 1);
        let mut load = |place| self.b.one(OpKind::Load { place, access }, Scalar::I32, &[], Site(0));
        match *place {
            Place::Private { object, offset, immediate } => {
                let (shadow, delta) =
                    self.objects[object as usize].map_or((object, 0), |of| (of.shadow, of.delta));
                let immediate = immediate.wrapping_add(by).wrapping_add(delta);
                let stored = load(Place::Private { object: shadow, offset, immediate });
                let one = self.b.int(NEVER);
                self.b.alu(Alu::Xor, Scalar::I32, &[stored, one])
            }
            Place::PushConstant { offset, immediate } => {
                let immediate = immediate.wrapping_add(by).wrapping_add(PUSH_UNSET);
                let mut unset = load(Place::PushConstant { offset, immediate });
                if size == 8 {
                    let high = load(Place::PushConstant { offset, immediate: immediate.wrapping_add(4) });
                    unset = self.b.alu(Alu::Or, Scalar::I32, &[unset, high]);
                }
                let (set, zero, one) = (self.is(unset, 0), self.b.int(0), self.b.int(NEVER));
                self.b.select(set, zero, one)
            }
            _ => self.b.int(0),
        }
    }

    /// The shadows that name the components of a load, should they be undefined; `None` if what it loads is
    /// not followed.
    fn named(&mut self, place: &Place, size: u8, count: u32, site: Site) -> Option<SmallVec<[Value; 4]>> {
        let (variable, start, bytes, offset, immediate) = match *place {
            Place::Private { object, offset, immediate } => {
                let of = self.objects[object as usize]?;
                (object, of.offset, of.size, offset, immediate)
            }
            Place::PushConstant { offset, immediate } => (self.push?, 0, PUSH_BYTES, offset, immediate),
            _ => return None,
        };
        let relative = immediate.wrapping_sub(start);
        let first = |offset: u32| Origin { site, variable, offset, bytes: size };
        let constant = offset.map_or(Some(0), |offset| self.b.constant_bits(offset).map(|bits| bits as u32));
        if let Some(constant) = constant {
            let (number, step) = self.origins.add(first(relative.wrapping_add(constant)), count);
            return Some((0..count).map(|k| self.b.int(word(number + step * k))).collect());
        }
        // One number for each component of the object: which it is shows when the offset is known.
        let (number, step) = self.origins.add(first(0), bytes / u32::from(size.max(1)));
        let (mut at, mut first) = (self.b.int(0), word(number));
        if let Some(offset) = offset.filter(|_| step == 1) {
            // Numbers stand at bit 2: four times the index, which for components of a word is the offset
            // itself.
            at = match size {
                8 => {
                    let (relative, one) = (self.b.int(relative), self.b.int(1));
                    let bytes = self.b.add(offset, relative);
                    self.b.alu(Alu::ShiftRightLogical, Scalar::I32, &[bytes, one])
                }
                _ => {
                    let shift = 2 - u32::from(size).trailing_zeros().min(2);
                    first = first.wrapping_add(relative << shift);
                    let shift = self.b.int(shift);
                    self.b.alu(Alu::ShiftLeft, Scalar::I32, &[offset, shift])
                }
            };
        }
        let next = |walk: &mut Self, k: u32| {
            let by = walk.b.int(first.wrapping_add((k * step) << 2));
            walk.b.add(at, by)
        };
        Some((0..count).map(|k| next(self, k)).collect())
    }
}
