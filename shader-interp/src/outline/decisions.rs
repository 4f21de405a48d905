//! Reads on which it depends what an invocation does next.

use crate::ir::{Label, Node, Op, OpKind, Place, Region, Shader, Value};
use pellucid_memory::access::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What reads decide.
#[derive(Default)]
pub(super) struct Decisions {
    /// Reads in a loop on which it depends whether the loop goes on.
    pub waits: FxHashSet<Site>,
    /// Reads on which the path of an invocation depends, or what it tells its workgroup.
    pub decides: FxHashSet<Site>,
    /// Some read on which a path depends is an atomic.
    pub by_atomics: bool,
}

impl Decisions {
    pub fn find(shader: &Shader) -> Decisions {
        let mut walk = Walk::default();
        walk.region(&shader.body);
        let mut found = Decisions::default();
        for (condition, within) in std::mem::take(&mut walk.exits) {
            walk.reads(vec![condition], |op, inside| {
                if inside.contains(&within) {
                    found.waits.insert(op.site);
                }
            });
        }
        let conditions = std::mem::take(&mut walk.conditions);
        walk.reads(conditions, |op, _| {
            found.by_atomics |= match &op.kind {
                OpKind::Load { access, .. } => access.atomic.is_some(),
                OpKind::Atomic { .. } | OpKind::ImageAtomic { .. } | OpKind::ImageAtomicLoad { .. } => true,
                _ => false,
            };
            found.decides.insert(op.site);
        });
        found
    }
}

#[derive(Default)]
struct Walk<'a> {
    /// Operations by their results, with the loops around them.
    defined: FxHashMap<Value, (&'a Op, Rc<[Label]>)>,
    /// What is passed for results of blocks and parameters of loops.
    passed: FxHashMap<Value, Vec<Value>>,
    targets: FxHashMap<Label, &'a [Value]>,
    loops: Rc<[Label]>,
    /// Conditions by which a loop goes on or not.
    exits: Vec<(Value, Label)>,
    /// All conditions, and what is stored for the workgroup to read.
    conditions: Vec<Value>,
    /// Blocks around the innermost loop and further out, by how many loops are around them.
    blocks: FxHashMap<Label, usize>,
}

impl<'a> Walk<'a> {
    /// The reads that values come from, with the loops around these.
    fn reads(&self, mut open: Vec<Value>, mut found: impl FnMut(&Op, &[Label])) {
        let mut seen = FxHashSet::default();
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.defined.get(&value) {
                Some((op, inside))
                    if matches!(op.kind, OpKind::Load { .. } | OpKind::Atomic { .. })
                        || op.kind.image().is_some() =>
                {
                    found(op, inside);
                }
                Some((op, _)) => open.extend(&op.arguments),
                None => open.extend(self.passed.get(&value).into_iter().flatten()),
            }
        }
    }

    fn region(&mut self, nodes: &'a Region) {
        for node in nodes {
            match node {
                Node::Op(op) => {
                    for result in &op.results {
                        self.defined.insert(*result, (op, self.loops.clone()));
                    }
                    if let OpKind::Store { place: Place::Workgroup { .. }, .. } = &op.kind {
                        self.conditions.extend(&op.arguments);
                    }
                }
                Node::If { condition, then, otherwise } => {
                    self.conditions.push(*condition);
                    if let Some(innermost) = self.loops.last().copied()
                        && [then, otherwise].iter().any(|arm| self.decides(arm, innermost))
                    {
                        self.exits.push((*condition, innermost));
                    }
                    self.region(then);
                    self.region(otherwise);
                }
                Node::Block { label, results, body } => {
                    self.blocks.insert(*label, self.loops.len());
                    self.targets.insert(*label, results);
                    self.region(body);
                }
                Node::Loop { label, parameters, initial, body } => {
                    self.targets.insert(*label, parameters);
                    self.pass(*label, initial);
                    let inner = self.loops.iter().chain([label]).copied().collect();
                    let outer = std::mem::replace(&mut self.loops, inner);
                    self.region(body);
                    self.loops = outer;
                }
                Node::Leave { label, arguments } | Node::Repeat { label, arguments } => {
                    self.pass(*label, arguments);
                }
                Node::Switch { selector, .. } => self.conditions.push(*selector),
                Node::End => {}
            }
        }
    }

    /// Whether the arm ends by leaving the innermost loop or by repeating it.
    fn decides(&self, arm: &Region, innermost: Label) -> bool {
        match arm.last() {
            Some(Node::Leave { label, .. }) => {
                self.blocks.get(label).is_some_and(|around| *around < self.loops.len())
            }
            Some(Node::Repeat { label, .. }) => *label == innermost,
            Some(Node::End) => true,
            _ => false,
        }
    }

    fn pass(&mut self, label: Label, arguments: &[Value]) {
        for (target, argument) in self.targets.get(&label).copied().unwrap_or_default().iter().zip(arguments)
        {
            self.passed.entry(*target).or_default().push(*argument);
        }
    }
}
