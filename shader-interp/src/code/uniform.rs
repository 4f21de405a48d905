//! Uniformity and convergence: which values are equal in all active lanes, and where all lanes of a construct
//! run together.
//!
//! A value is *uniform* if all lanes that are active at its definition hold the same one; inactive lanes may
//! hold anything. The running lanes are *full* for a construct if no lane that is inside the construct waits
//! at a join. Constructs are named by their nesting depth: if the running lanes are full for one, they are
//! for all constructs inside it, so one number, the smallest such depth, says it all.
//!
//! Both are found together, by walking the tree until nothing changes, from the assumption that everything is
//! uniform. The walk visits the arms of a divergent `If` in the order in which [`super::lower`] emits them:
//! see [`arm_order`].

use crate::ir::{DescriptorKind, Label, Node, Op, OpKind, Place, Region, Shader, Uniform, Value};
use rustc_hash::FxHashMap;

/// A loop of the shader in the order of their heads; 0 stands for "outside all loops".
pub(super) type LoopId = u32;

/// What the code generator needs to know. `ifs` and `jumps` are indexed by the order in which the walk meets
/// them.
#[derive(Debug, Default)]
pub(super) struct Uniformity {
    pub uniform: Vec<bool>,
    /// The loop in which a value is defined.
    pub loop_of: Vec<LoopId>,
    /// A value used outside a loop that lanes leave at different times, where it is defined: the loop (or 0)
    /// that holds all its uses.
    pub home: Vec<Option<LoopId>>,
    pub loops: Vec<LoopUniformity>,
    /// For each If: its condition differs between lanes.
    pub ifs: Vec<bool>,
    /// For each Leave and Repeat: lanes of its construct may wait elsewhere.
    pub jumps: Vec<bool>,
    pub blocks: FxHashMap<Label, BlockUniformity>,
    pub loop_labels: FxHashMap<Label, LoopId>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopUniformity {
    pub parent: LoopId,
    pub nesting: u32,
    /// Lanes leave it at different times.
    pub divergent: bool,
    /// Lanes reach the end of its body while others repeat it.
    pub partial_end: bool,
    depth: u32,
    head_full: u32,
    repeats: u32,
    partial_repeat: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockUniformity {
    /// Lanes leave it at different times.
    pub partial: bool,
    depth: u32,
    leaves: u32,
    crossed_loop: bool,
    within: LoopId,
}

impl Uniformity {
    /// The loop that all uses so far share, if `value` is used in `at` outside a divergent loop that defines
    /// it.
    pub fn escaped(&self, value: Value, at: LoopId) -> Option<LoopId> {
        let mut from = self.loop_of[value.0 as usize];
        let mut outermost = None;
        while !self.encloses(from, at) {
            let uniformity = &self.loops[from as usize];
            if uniformity.divergent {
                outermost = Some(uniformity.parent);
            }
            from = uniformity.parent;
        }
        outermost
    }

    /// True if `inner` is `outer` or inside it.
    pub fn encloses(&self, outer: LoopId, mut inner: LoopId) -> bool {
        let nesting = self.loops[outer as usize].nesting;
        while self.loops[inner as usize].nesting > nesting {
            inner = self.loops[inner as usize].parent;
        }
        inner == outer
    }

    /// Uniform as seen from loop `at`.
    pub fn uniform_at(&self, value: Value, at: LoopId) -> bool {
        self.uniform[value.0 as usize] && self.escaped(value, at).is_none()
    }
}

/// The order in which the arms of a divergent If run: an arm that no lane leaves at its end comes first, so
/// that the other one runs with all lanes that are left; of two such arms, one that only leaves. True: `then`
/// first.
pub(super) fn arm_order(then: &Region, otherwise: &Region) -> bool {
    if reaches_end(otherwise) {
        return true;
    }
    !reaches_end(then) && (only_leaves(then).is_some() || only_leaves(otherwise).is_none())
}

/// False if no lane gets past the region's end.
pub(super) fn reaches_end(region: &[Node]) -> bool {
    region.iter().all(|node| match node {
        Node::Op(_) | Node::Block { .. } => true,
        Node::If { then, otherwise, .. } => reaches_end(then) || reaches_end(otherwise),
        Node::Loop { body, .. } => reaches_end(body),
        Node::Switch { .. } | Node::Leave { .. } | Node::Repeat { .. } | Node::End => false,
    })
}

/// A region that only leaves a block without arguments.
pub(super) fn only_leaves(region: &Region) -> Option<Label> {
    match region.as_slice() {
        [Node::Leave { label, arguments }] if arguments.is_empty() => Some(*label),
        _ => None,
    }
}

/// Analyses `shader`.
pub(super) fn analyse(shader: &Shader, modelled: bool) -> Uniformity {
    let count = shader.values.len();
    let mut walker = Walker {
        shader,
        modelled,
        uniformity: Uniformity {
            uniform: vec![true; count],
            loop_of: vec![0; count],
            home: vec![None; count],
            loops: vec![LoopUniformity::default()],
            ..Uniformity::default()
        },
        next_if: 0,
        next_jump: 0,
        next_loop: 1,
        current_loop: 0,
        changed: true,
        parameters: FxHashMap::default(),
    };
    while std::mem::take(&mut walker.changed) {
        walker.next_if = 0;
        walker.next_jump = 0;
        walker.next_loop = 1;
        for uniformity in &mut walker.uniformity.loops {
            uniformity.repeats = 0;
        }
        for uniformity in walker.uniformity.blocks.values_mut() {
            uniformity.leaves = 0;
        }
        walker.region(&shader.body, 0, 0, &mut Vec::new());
    }
    walker.uniformity
}

struct Walker<'a> {
    shader: &'a Shader,
    modelled: bool,
    uniformity: Uniformity,
    next_if: usize,
    next_jump: usize,
    next_loop: LoopId,
    current_loop: LoopId,
    changed: bool,
    /// Parameters of loops and results of blocks.
    parameters: FxHashMap<Label, Vec<Value>>,
}

fn set(flag: &mut bool, changed: &mut bool) {
    if !*flag {
        *flag = true;
        *changed = true;
    }
}

impl Walker<'_> {
    /// True if uniform here; notes that the value escapes.
    fn used(&mut self, value: Value) -> bool {
        if let Some(holder) = self.uniformity.escaped(value, self.current_loop) {
            let home = self.uniformity.home[value.0 as usize];
            let nesting = |id: LoopId| self.uniformity.loops[id as usize].nesting;
            if home.is_none_or(|home| nesting(holder) < nesting(home)) {
                self.uniformity.home[value.0 as usize] = Some(holder);
                self.changed = true;
            }
            return false;
        }
        self.uniformity.uniform[value.0 as usize]
    }

    fn vary(&mut self, value: Value) {
        if std::mem::replace(&mut self.uniformity.uniform[value.0 as usize], false) {
            self.changed = true;
        }
    }

    fn define(&mut self, value: Value) {
        self.uniformity.loop_of[value.0 as usize] = self.current_loop;
    }

    /// Walks a region at `depth` with the running lanes full from `full`. Depths of constructs that lanes
    /// left partially are added to `left`. Returns the fullness at the region's end if it can be reached.
    fn region(&mut self, region: &Region, depth: u32, mut full: u32, left: &mut Vec<u32>) -> Option<u32> {
        for node in region {
            full = self.node(node, depth, full, left)?;
        }
        Some(full)
    }

    fn node(&mut self, node: &Node, depth: u32, full: u32, left: &mut Vec<u32>) -> Option<u32> {
        match node {
            Node::Op(op) => {
                let uniform = self.op(op);
                for result in &op.results {
                    self.define(*result);
                    if !uniform {
                        self.vary(*result);
                    }
                }
                Some(full)
            }
            Node::If { condition, then, otherwise } => {
                let divergent = !self.used(*condition);
                let index = self.next_if;
                self.next_if += 1;
                if self.uniformity.ifs.len() <= index {
                    self.uniformity.ifs.push(divergent);
                }
                self.uniformity.ifs[index] = divergent;
                self.selection(divergent, then, otherwise, depth + 1, full, left)
            }
            Node::Block { label, results, body } => {
                let d = depth + 1;
                let entry = self.uniformity.blocks.entry(*label).or_default();
                entry.depth = d;
                entry.within = self.current_loop;
                results.iter().for_each(|v| self.define(*v));
                if !results.is_empty() {
                    self.parameters.entry(*label).or_insert_with(|| results.to_vec());
                }
                let mut inner = Vec::new();
                self.region(body, d, full, &mut inner);
                inner.retain(|l| *l < d);
                let after = inner.iter().copied().fold(full, u32::max);
                left.extend(inner);
                let uniformity = self.uniformity.blocks[label];
                if uniformity.partial && (uniformity.leaves > 1 || uniformity.crossed_loop) {
                    results.iter().for_each(|v| self.vary(*v));
                }
                Some(after)
            }
            Node::Loop { label, parameters, initial, body } => {
                self.repetition(*label, parameters, initial, body, depth + 1, full, left)
            }
            Node::Switch { selector, cases, default } => {
                let divergent = !self.used(*selector);
                for label in cases.iter().map(|c| c.1).chain([*default]) {
                    self.leave(label, divergent, full, left);
                }
                None
            }
            Node::Leave { label, arguments } => {
                let varying: Vec<bool> = arguments.iter().map(|v| !self.used(*v)).collect();
                if let Some(results) = self.parameters.get(label).cloned() {
                    results
                        .iter()
                        .zip(varying)
                        .filter(|(_, varies)| *varies)
                        .for_each(|(v, _)| self.vary(*v));
                }
                let partial = self.leave(*label, false, full, left);
                self.jump(partial);
                None
            }
            Node::Repeat { label, arguments } => {
                let varying: Vec<bool> = arguments.iter().map(|v| !self.used(*v)).collect();
                let parameters = self.parameters.get(label).cloned().unwrap_or_default();
                parameters.iter().zip(varying).filter(|(_, varies)| *varies).for_each(|(v, _)| self.vary(*v));
                let id = self.uniformity.loop_labels[label];
                let depth = self.uniformity.loops[id as usize].depth;
                let partial = full > depth;
                self.exits(depth + 1, full);
                let uniformity = &mut self.uniformity.loops[id as usize];
                uniformity.repeats += 1;
                if partial {
                    left.push(depth + 1);
                    set(&mut uniformity.partial_repeat, &mut self.changed);
                    if uniformity.repeats > 1 || id != self.current_loop {
                        parameters.iter().for_each(|v| self.vary(*v));
                    }
                } else if uniformity.repeats > 1 && uniformity.partial_repeat {
                    parameters.iter().for_each(|v| self.vary(*v));
                }
                self.jump(partial);
                None
            }
            Node::End => None,
        }
    }

    fn jump(&mut self, partial: bool) {
        let index = self.next_jump;
        self.next_jump += 1;
        if self.uniformity.jumps.len() <= index {
            self.uniformity.jumps.push(partial);
        }
        self.uniformity.jumps[index] = partial;
    }

    /// Lanes leave block `label`, only some of the running ones if `divergent`. Returns whether others stay.
    fn leave(&mut self, label: Label, divergent: bool, full: u32, left: &mut Vec<u32>) -> bool {
        let depth = self.uniformity.blocks[&label].depth;
        let partial = divergent || full > depth;
        self.exits(depth, if divergent { u32::MAX } else { full });
        let current = self.current_loop;
        let Some(uniformity) = self.uniformity.blocks.get_mut(&label) else { return partial };
        uniformity.leaves += 1;
        uniformity.crossed_loop |= uniformity.within != current;
        if partial {
            set(&mut uniformity.partial, &mut self.changed);
            left.push(depth);
        }
        partial
    }

    /// Lanes that are full from `full` leave all constructs of `depth` or more.
    fn exits(&mut self, depth: u32, full: u32) {
        let mut id = self.current_loop;
        while id != 0 && self.uniformity.loops[id as usize].depth >= depth {
            let uniformity = &mut self.uniformity.loops[id as usize];
            if full > uniformity.depth {
                set(&mut uniformity.divergent, &mut self.changed);
            }
            id = uniformity.parent;
        }
    }

    fn selection(
        &mut self,
        divergent: bool,
        then: &Region,
        otherwise: &Region,
        d: u32,
        full: u32,
        left: &mut Vec<u32>,
    ) -> Option<u32> {
        let then_first = arm_order(then, otherwise);
        let (first, second) = if then_first { (then, otherwise) } else { (otherwise, then) };
        if !divergent {
            let a = self.region(first, d, full, left);
            let b = self.region(second, d, full, left);
            return a.max(b);
        }
        let mut inner = Vec::new();
        let end = match only_leaves(first) {
            Some(label) => {
                self.leave(label, true, full, &mut inner);
                // One place in `jumps` for the Leave, as when it is walked.
                self.jump(true);
                None
            }
            None => self.region(first, d, d + 1, &mut inner),
        };
        let after_first = inner.iter().copied().fold(full, u32::max);
        let result = if end.is_some() {
            self.region(second, d, d + 1, &mut inner);
            Some(inner.iter().copied().fold(full, u32::max))
        } else {
            self.region(second, d, after_first, &mut inner)
        };
        left.extend(inner);
        result
    }

    #[allow(clippy::too_many_arguments)]
    fn repetition(
        &mut self,
        label: Label,
        parameters: &[Value],
        initial: &[Value],
        body: &Region,
        exit_depth: u32,
        full: u32,
        left: &mut Vec<u32>,
    ) -> Option<u32> {
        for (parameter, value) in parameters.iter().zip(initial) {
            if !self.used(*value) {
                self.vary(*parameter);
            }
        }
        let id = self.next_loop;
        self.next_loop += 1;
        let parent = self.current_loop;
        if self.uniformity.loops.len() as u32 <= id {
            let nesting = self.uniformity.loops[parent as usize].nesting + 1;
            self.uniformity.loops.push(LoopUniformity { parent, nesting, ..LoopUniformity::default() });
            self.uniformity.loop_labels.insert(label, id);
            self.parameters.insert(label, parameters.to_vec());
        }
        let depth = exit_depth + 1;
        self.uniformity.loops[id as usize].depth = depth;
        self.current_loop = id;
        parameters.iter().for_each(|v| self.define(*v));
        let head = full.max(self.uniformity.loops[id as usize].head_full);
        let mut inner = Vec::new();
        let end = self.region(body, depth, head, &mut inner);
        if let Some(end) = end
            && end > depth
        {
            let uniformity = &mut self.uniformity.loops[id as usize];
            set(&mut uniformity.divergent, &mut self.changed);
            set(&mut uniformity.partial_end, &mut self.changed);
        }
        self.current_loop = parent;
        inner.retain(|l| *l < exit_depth);
        let after = inner.iter().copied().fold(full, u32::max);
        let uniformity = &mut self.uniformity.loops[id as usize];
        if after > uniformity.head_full && after > full {
            uniformity.head_full = after;
            self.changed = true;
        }
        left.extend(inner);
        end.map(|_| after)
    }

    /// True if the operation's results are equal in all lanes; marks its operands as used.
    fn op(&mut self, op: &Op) -> bool {
        let mut uniform = true;
        for value in op.arguments.iter().chain(&op.kind.values()) {
            uniform &= self.used(*value);
        }
        match op.kind.properties().subgroup {
            Uniform::Always => true,
            Uniform::WithOperands => uniform && !self.modelled_read(&op.kind),
            Uniform::Varying => false,
        }
    }

    /// Each invocation's read of memory that may change is an event of its own.
    fn modelled_read(&self, kind: &OpKind) -> bool {
        let OpKind::Load { place, .. } = kind else { return false };
        let constant = match place {
            Place::Buffer { binding, .. } => {
                self.shader.bindings[*binding as usize].kind == DescriptorKind::UniformBuffer
            }
            place => matches!(place, Place::PushConstant { .. }),
        };
        self.modelled && !constant
    }
}
