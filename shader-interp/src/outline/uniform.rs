//! Uniformity for a workgroup: which values all its invocations compute alike, and where they are together.
//! (That of the lanes of a subgroup, by which code is generated, is another question.)
//!
//! Found by walking the shader until nothing changes, from the assumption that everything is uniform. Loads
//! of memory that invocations share count as uniform where their address is: a shader that has a barrier
//! behind a branch on such a value relies on it. This errs to the side of too many places for barriers; a
//! barrier that is really in non-uniform control flow is a finding of its own.

use crate::ir::{self, Label, Node, Op, Region, Shader, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known, and the state of a walk.
#[derive(Debug, Default)]
pub(super) struct Uniform {
    /// Values that may differ between invocations of a workgroup.
    varying: Vec<bool>,
    /// Loops whose iterations not all invocations begin together.
    divergent: FxHashSet<Label>,
    /// Results of blocks and parameters of loops.
    defined: FxHashMap<Label, Vec<Value>>,
    changed: bool,
    /// Surrounding branches and loops that invocations take differently.
    apart: u32,
    /// Who is missing where the walk is.
    missing: Missing,
    /// Who was missing anywhere since, in blocks that have not ended.
    ever: Missing,
    /// Blocks that invocations leave while others are elsewhere.
    split: FxHashSet<Label>,
    /// Blocks that all invocations leave together.
    whole: FxHashSet<Label>,
    /// Blocks that all are taken to leave together.
    together: FxHashSet<Label>,
}

/// Invocations that do not come to a place with the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Missing {
    /// Blocks that some invocations have left and others have not.
    left: Vec<Label>,
    /// Some invocations have ended.
    ended: bool,
}

impl Missing {
    fn is_nobody(&self) -> bool {
        self.left.is_empty() && !self.ended
    }

    fn leave(&mut self, label: Label) {
        if !self.left.contains(&label) {
            self.left.push(label);
        }
    }

    fn join(&mut self, other: &Missing) {
        self.ended |= other.ended;
        other.left.iter().for_each(|label| self.leave(*label));
    }
}

/// Whether nobody goes on behind the node.
fn ends_region(node: &Node) -> bool {
    matches!(node, Node::Switch { .. } | Node::Leave { .. } | Node::Repeat { .. } | Node::End)
}

impl Uniform {
    /// Analyses a shader.
    pub fn find(shader: &Shader) -> Uniform {
        Uniform::found(shader, FxHashSet::default())
    }

    /// Analyses a shader as if no invocation returned from a function before the others do.
    pub fn without_returns(shader: &Shader) -> Uniform {
        Uniform::found(shader, shader.functions.iter().copied().collect())
    }

    fn found(shader: &Shader, together: FxHashSet<Label>) -> Uniform {
        let varying = vec![false; shader.values.len()];
        let mut found = Uniform { varying, together, ..Uniform::default() };
        found.define(&shader.body);
        loop {
            found.changed = false;
            found.walk(&shader.body);
            found.apart = 0;
            (found.missing, found.ever) = (Missing::default(), Missing::default());
            (found.split, found.whole) = (FxHashSet::default(), FxHashSet::default());
            if !found.changed {
                return found;
            }
        }
    }

    /// Whether all invocations of a workgroup have the same value here.
    pub fn value(&self, value: Value) -> bool {
        !self.varying[value.0 as usize]
    }

    /// Whether all invocations of the workgroup, or none, come to where the walk is.
    pub fn together(&self) -> bool {
        self.apart == 0 && self.missing.is_nobody()
    }

    /// The walk enters the first arm of a branch: who is missing in both.
    pub fn branch(&mut self, condition: Value) -> Missing {
        self.apart += u32::from(!self.value(condition));
        self.missing.clone()
    }

    /// It enters the other arm: who is missing behind the first. Where all take the same arm, nobody is
    /// missing in one because of the other.
    pub fn other_arm(&mut self, before: Missing) -> Missing {
        let behind = self.missing.clone();
        if self.apart == 0 && before.is_nobody() {
            self.missing = before;
        }
        behind
    }

    /// And leaves them.
    pub fn join(&mut self, condition: Value, first_arm: &Missing) {
        self.apart -= u32::from(!self.value(condition));
        self.missing.join(first_arm);
    }

    /// Those who left the block are back.
    pub fn end_of_block(&mut self, label: Label, body: &Region) {
        // Others may come there without leaving it.
        let falls = !body.last().is_some_and(ends_region);
        let (split, whole) = (self.split.remove(&label), self.whole.remove(&label));
        self.ever.left.retain(|left| *left != label);
        if split {
            self.missing = self.ever.clone();
        } else if whole && !falls {
            self.missing = Missing::default();
        }
        self.missing.left.retain(|left| *left != label);
    }

    /// The walk enters a loop.
    pub fn begin_loop(&mut self, label: Label) {
        self.apart += u32::from(self.divergent.contains(&label));
    }

    /// And leaves it.
    pub fn end_loop(&mut self, label: Label) {
        self.apart -= u32::from(self.divergent.contains(&label));
    }

    /// A node that ends its region.
    pub fn jump(&mut self, node: &Node) {
        let apart = !self.together();
        match node {
            Node::Leave { label, .. } => self.leave(*label, apart),
            Node::Switch { selector, cases, default } => {
                let apart = apart || !self.value(*selector);
                cases
                    .iter()
                    .map(|(_, label)| label)
                    .chain([default])
                    .for_each(|label| self.leave(*label, apart));
            }
            Node::End if apart => {
                self.missing.ended = true;
                self.ever.ended = true;
            }
            _ => {}
        }
    }

    fn leave(&mut self, label: Label, apart: bool) {
        if !apart {
            self.whole.insert(label);
            return;
        }
        self.split.insert(label);
        if !self.together.contains(&label) {
            self.missing.leave(label);
            self.ever.leave(label);
        }
    }

    fn define(&mut self, nodes: &Region) {
        for node in nodes {
            match node {
                Node::If { then, otherwise, .. } => {
                    self.define(then);
                    self.define(otherwise);
                }
                Node::Block { label, results, body } => {
                    self.defined.insert(*label, results.to_vec());
                    self.define(body);
                }
                Node::Loop { label, parameters, body, .. } => {
                    self.defined.insert(*label, parameters.to_vec());
                    self.define(body);
                }
                _ => {}
            }
        }
    }

    fn vary(&mut self, value: Value) {
        let varying = &mut self.varying[value.0 as usize];
        self.changed |= !*varying;
        *varying = true;
    }

    /// Passes arguments to a block or loop.
    fn pass(&mut self, label: Label, arguments: &[Value], apart: bool) {
        let Some(targets) = self.defined.get(&label) else { return };
        let varying: Vec<Value> = targets
            .iter()
            .zip(arguments)
            .filter(|(_, argument)| apart || !self.value(**argument))
            .map(|(target, _)| *target)
            .collect();
        varying.into_iter().for_each(|target| self.vary(target));
    }

    fn walk(&mut self, nodes: &Region) {
        for node in nodes {
            match node {
                Node::Op(op) => {
                    if !self.uniform_op(op) {
                        op.results.iter().for_each(|result| self.vary(*result));
                    }
                }
                Node::If { condition, then, otherwise } => {
                    // What the arms say about the condition itself counts in the next walk.
                    let apart = !self.value(*condition);
                    let before = self.branch(*condition);
                    self.walk(then);
                    let behind = self.other_arm(before);
                    self.walk(otherwise);
                    self.apart -= u32::from(apart);
                    self.missing.join(&behind);
                }
                Node::Block { label, body, .. } => {
                    self.walk(body);
                    self.end_of_block(*label, body);
                }
                Node::Loop { label, initial, body, .. } => {
                    self.pass(*label, initial, false);
                    let (apart, outer) = (self.divergent.contains(label), self.ever.left.clone());
                    self.apart += u32::from(apart);
                    self.walk(body);
                    self.apart -= u32::from(apart);
                    // Invocations that left it for good are missing in later iterations.
                    if !apart && self.ever.left.iter().any(|label| !outer.contains(label)) {
                        self.diverge(*label);
                    }
                }
                Node::Leave { label, arguments } => {
                    self.pass(*label, arguments, !self.together());
                    self.jump(node);
                }
                Node::Repeat { label, arguments } => {
                    let apart = !self.together();
                    self.pass(*label, arguments, apart);
                    if apart {
                        self.diverge(*label);
                    }
                }
                node => self.jump(node),
            }
        }
    }

    fn diverge(&mut self, label: Label) {
        self.changed |= self.divergent.insert(label);
    }

    fn uniform_op(&self, op: &Op) -> bool {
        let all = op.kind.values().iter().chain(&op.arguments).all(|value| self.value(*value));
        all && op.kind.properties().workgroup != ir::Uniform::Varying
    }
}
