//! Which private objects become SSA values: those that are only ever accessed at constant offsets, scalar by
//! scalar of one type each.

use super::builder::Builder;
use super::unroll::Copies;
use crate::ir::{Label, Node, Op, OpKind, Place, PrivateObject, Region, Scalar, Shader};
use rustc_hash::FxHashMap;

/// Bytes of the largest object that is promoted.
pub(super) const MAX_BYTES: u32 = 4096;

/// What the rewriting walk needs to know. A *slot* is a scalar of a promoted object: one number for each of
/// its bytes, of which the first byte's counts.
#[derive(Default)]
pub(crate) struct Plan {
    /// First slot of an object, `None` if it stays in memory.
    pub base: Vec<Option<u32>>,
    /// Objects as they were, by index.
    pub objects: Vec<PrivateObject>,
    /// New index and offset of objects that stay in memory.
    pub moved: Vec<(u32, u32)>,
    /// Types of slots.
    pub slots: Vec<Option<Scalar>>,
    /// Slots that change inside a block or loop and live longer than it, sorted.
    pub changed: FxHashMap<Label, Vec<u32>>,
    /// Leaves and repeats by label.
    pub jumps: FxHashMap<Label, u32>,
    /// Labels that a switch names.
    pub switched: FxHashMap<Label, ()>,
    /// Slots of blocks, which have no value behind them.
    owned: FxHashMap<Label, Vec<u32>>,
    copies: Copies,
}

impl Plan {
    /// The slot of component `k` of an access of `size` bytes each at byte `immediate` of object `object`.
    pub fn slot(&self, object: u32, immediate: u32, size: u32, k: usize) -> Option<u32> {
        let base = self.base[object as usize]?;
        Some(base + immediate - self.objects[object as usize].offset + size * k as u32)
    }

    /// The slots that belong to a block.
    pub fn owned(&self, label: Label) -> &[u32] {
        self.owned.get(&self.original(label)).map_or(&[], Vec::as_slice)
    }

    fn original(&self, label: Label) -> Label {
        self.copies.get(&label).copied().unwrap_or(label)
    }
}

/// Plans promotion, and compacts the objects that stay: the first `kept` ones do. `copies`: of labels that
/// are copies, what they are copies of.
pub(crate) fn plan(
    shader: &mut Shader,
    builder: &Builder,
    owners: &[Option<Label>],
    copies: &Copies,
    kept: usize,
) -> Plan {
    let mut plan = Plan { objects: std::mem::take(&mut shader.private), ..Plan::default() };
    let mut next = 0;
    for (k, object) in plan.objects.iter().enumerate() {
        let promotes = k >= kept && object.size <= MAX_BYTES;
        plan.base.push(promotes.then_some(next));
        if promotes {
            next += object.size;
        }
    }
    plan.slots = vec![None; next as usize];
    let mut loaded = vec![false; next as usize];
    survey(&shader.body, builder, &mut plan, &mut loaded);
    let mut owner = vec![None; next as usize];
    for (object, base) in plan.base.iter().enumerate() {
        if let Some(base) = base {
            let size = plan.objects[object].size;
            owner[*base as usize..(base + size) as usize].fill(owners[object]);
        }
    }
    for (slot, owner) in (0..).zip(&owner).filter(|(slot, _)| loaded[*slot as usize]) {
        owner.iter().for_each(|owner| plan.owned.entry(*owner).or_default().push(slot));
    }
    plan.copies = copies.clone();
    let changes = Changes { loaded: &loaded, owner: &owner };
    changes.region(&shader.body, &mut plan);
    let mut offset = 0;
    for (object, base) in plan.objects.iter().zip(&plan.base) {
        plan.moved.push((shader.private.len() as u32, offset));
        if base.is_none() {
            shader.private.push(PrivateObject { offset, ..object.clone() });
            offset = (offset + object.size).next_multiple_of(8);
        }
    }
    shader.private_bytes = offset;
    plan
}

/// Finds the slots' types and the objects that cannot be promoted; counts jumps.
fn survey(region: &Region, builder: &Builder, plan: &mut Plan, loaded: &mut [bool]) {
    for node in region {
        match node {
            Node::Op(op) => survey_op(op, builder, plan, loaded),
            Node::If { then, otherwise, .. } => {
                survey(then, builder, plan, loaded);
                survey(otherwise, builder, plan, loaded);
            }
            Node::Block { body, .. } | Node::Loop { body, .. } => survey(body, builder, plan, loaded),
            Node::Leave { label, .. } | Node::Repeat { label, .. } => {
                *plan.jumps.entry(*label).or_default() += 1
            }
            Node::Switch { cases, default, .. } => {
                plan.switched.insert(*default, ());
                for (_, label) in cases {
                    plan.switched.insert(*label, ());
                }
            }
            Node::End => {}
        }
    }
}

fn survey_op(op: &Op, builder: &Builder, plan: &mut Plan, loaded: &mut [bool]) {
    let (place, access, values, load) = match &op.kind {
        OpKind::Load { place, access } => (place, access, op.results.as_slice(), true),
        OpKind::Store { place, access } => (place, access, op.arguments.as_slice(), false),
        _ => return,
    };
    let Place::Private { object, offset, immediate } = *place else { return };
    let Some(base) = plan.base[object as usize] else { return };
    let of = &plan.objects[object as usize];
    let relative = immediate.wrapping_sub(of.offset);
    let size = u32::from(access.size);
    let inside = u64::from(relative) + u64::from(size) * values.len() as u64 <= u64::from(of.size);
    let mut fits = offset.is_none() && inside;
    if fits {
        for (k, &value) in values.iter().enumerate() {
            let slot = (base + relative + size * k as u32) as usize;
            let scalar = builder.scalar(value);
            let known = plan.slots[slot].get_or_insert(scalar);
            fits &= *known == scalar;
            loaded[slot] |= load;
        }
    }
    if !fits {
        plan.base[object as usize] = None;
    }
}

/// Collects the slots that change in blocks and loops.
struct Changes<'a> {
    loaded: &'a [bool],
    owner: &'a [Option<Label>],
}

impl Changes<'_> {
    fn region(&self, region: &Region, plan: &mut Plan) -> Vec<u32> {
        let mut changed = Vec::new();
        for node in region {
            match node {
                Node::Op(op) => {
                    if let OpKind::Store { place: Place::Private { object, immediate, .. }, access } =
                        &op.kind
                    {
                        for k in 0..op.arguments.len() {
                            if let Some(slot) = plan.slot(*object, *immediate, u32::from(access.size), k)
                                && self.loaded[slot as usize]
                            {
                                changed.push(slot);
                            }
                        }
                    }
                }
                Node::If { then, otherwise, .. } => {
                    changed.extend(self.region(then, plan));
                    changed.extend(self.region(otherwise, plan));
                }
                Node::Block { label, body, .. } | Node::Loop { label, body, .. } => {
                    let mut inside = self.region(body, plan);
                    let own = Some(plan.original(*label));
                    inside.retain(|&slot| self.owner[slot as usize] != own);
                    inside.sort_unstable();
                    inside.dedup();
                    if !inside.is_empty() {
                        plan.changed.insert(*label, inside.clone());
                    }
                    changed.extend(inside);
                }
                Node::Switch { .. } | Node::Leave { .. } | Node::Repeat { .. } | Node::End => {}
            }
        }
        changed
    }
}
