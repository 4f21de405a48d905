//! Fusion: which pure operations are computed as part of the operation that uses them. A fused instruction
//! rounds exactly as the two it stands for.

use super::isa::Opcode;
use super::uniform::{LoopId, Uniformity};
use crate::ir::{Alu, Node, Op, OpKind, Place, Region, Scalar, Shader, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Decisions, by result value.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Operations replaced by a fused instruction.
    pub fused: FxHashMap<Value, (Opcode, SmallVec<[Value; 4]>)>,
    /// Tests that are fused with the only If that uses them: opcode of the test and its arguments.
    pub branches: FxHashMap<Value, (Opcode, [Value; 2])>,
    /// Uses that are left; operations without any are not emitted.
    pub uses: Vec<u32>,
    /// Offsets taken apart: by the offset value.
    pub offsets: FxHashMap<(Value, LoopId), Offset>,
    /// Constants by value.
    pub constants: FxHashMap<Value, u64>,
}

impl Plan {
    /// True if one of the results has a use that is left.
    pub fn uses_results(&self, op: &Op) -> bool {
        op.results.iter().any(|v| self.uses[v.0 as usize] > 0)
    }
}

/// `(base << shift) + immediate`, wrapping at 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    pub base: Option<Value>,
    pub shift: u32,
    pub immediate: u32,
}

enum Item<'a> {
    Op(&'a Op, LoopId),
    Branch(Value, LoopId),
    Use(Value),
}

struct Planner<'a> {
    shader: &'a Shader,
    uniformity: &'a Uniformity,
    definitions: Vec<Option<&'a Op>>,
    total: Vec<u32>,
    items: Vec<Item<'a>>,
    plan: Plan,
    current_loop: LoopId,
}

/// Plans the whole shader.
pub(super) fn plan(shader: &Shader, uniformity: &Uniformity) -> Plan {
    let count = shader.values.len();
    let mut planner = Planner {
        shader,
        uniformity,
        definitions: vec![None; count],
        total: vec![0; count],
        items: Vec::new(),
        plan: Plan { uses: vec![0; count], ..Plan::default() },
        current_loop: 0,
    };
    planner.collect(&shader.body);
    for item in std::mem::take(&mut planner.items).iter().rev() {
        match item {
            Item::Op(op, at) => planner.op(op, *at),
            Item::Branch(condition, at) => planner.branch(*condition, *at),
            Item::Use(value) => planner.plan.uses[value.0 as usize] += 1,
        }
    }
    planner.plan
}

impl<'a> Planner<'a> {
    fn collect(&mut self, region: &'a Region) {
        for node in region {
            match node {
                Node::Op(op) => {
                    if let OpKind::Constant(bits) = op.kind {
                        self.plan.constants.insert(op.results[0], bits);
                    }
                    for result in &op.results {
                        self.definitions[result.0 as usize] = Some(op);
                    }
                    for value in op.kind.values().iter().chain(&op.arguments) {
                        self.total[value.0 as usize] += 1;
                    }
                    self.items.push(Item::Op(op, self.current_loop));
                }
                Node::If { condition, then, otherwise } => {
                    self.total[condition.0 as usize] += 1;
                    self.items.push(Item::Branch(*condition, self.current_loop));
                    self.collect(then);
                    self.collect(otherwise);
                }
                Node::Block { body, .. } => self.collect(body),
                Node::Loop { label, initial, body, .. } => {
                    self.carry(initial);
                    let outer = self.current_loop;
                    self.current_loop = self.uniformity.loop_labels[label];
                    self.collect(body);
                    self.current_loop = outer;
                }
                Node::Switch { selector, .. } => self.carry(&[*selector]),
                Node::Leave { arguments, .. } | Node::Repeat { arguments, .. } => self.carry(arguments),
                Node::End => {}
            }
        }
    }

    fn carry(&mut self, values: &[Value]) {
        for value in values {
            self.total[value.0 as usize] += 1;
            self.items.push(Item::Use(*value));
        }
    }

    fn count(&mut self, values: &[Value]) {
        values.iter().for_each(|v| self.plan.uses[v.0 as usize] += 1);
    }

    fn scalar(&self, value: Value) -> Scalar {
        self.shader.values[value.0 as usize]
    }

    /// The arguments of the operation that defines `value`, if it is `alu` on 32-bit values, used only once,
    /// and of the same loop.
    fn only(&self, value: Value, alu: Alu, at: LoopId) -> Option<SmallVec<[Value; 4]>> {
        let op = self.definitions[value.0 as usize]?;
        (op.kind == OpKind::Alu(alu)
            && self.total[value.0 as usize] == 1
            && matches!(self.scalar(value), Scalar::I32 | Scalar::F32)
            && self.uniformity.loop_of[value.0 as usize] == at)
            .then(|| op.arguments.clone())
    }

    fn op(&mut self, op: &Op, at: LoopId) {
        if let OpKind::Alu(_) | OpKind::Convert(_) | OpKind::Pack64 | OpKind::Unpack64 = op.kind
            && !self.plan.uses_results(op)
        {
            return;
        }
        if let OpKind::Alu(alu) = op.kind
            && matches!(self.scalar(op.results[0]), Scalar::I32 | Scalar::F32)
            && let Some((opcode, arguments)) = self.fuse(alu, &op.arguments, at)
        {
            self.count(&arguments);
            self.plan.fused.insert(op.results[0], (opcode, arguments));
            return;
        }
        self.count(&op.arguments);
        let offset = match &op.kind {
            OpKind::Load { place, .. } | OpKind::Store { place, .. } | OpKind::Atomic { place, .. } => {
                match place {
                    Place::Buffer { offset, .. }
                    | Place::Workgroup { offset, .. }
                    | Place::Private { offset, .. } => *offset,
                    _ => None,
                }
            }
            _ => None,
        };
        let mut operands = op.kind.values();
        if let Some(offset) = offset {
            if let Some(k) = operands.iter().position(|v| *v == offset) {
                operands.remove(k);
            }
            let apart = self.take_apart(offset, at);
            operands.extend(apart.base);
            self.plan.offsets.insert((offset, at), apart);
        }
        self.count(&operands);
    }

    /// `offset` as `(base << shift) + immediate`.
    fn take_apart(&self, offset: Value, at: LoopId) -> Offset {
        let mut result = Offset { base: Some(offset), shift: 0, immediate: 0 };
        while let Some(value) = result.base {
            if let Some(bits) = self.plan.constants.get(&value) {
                result.immediate = result.immediate.wrapping_add((*bits as u32) << result.shift);
                result.base = None;
                result.shift = 0;
                break;
            }
            let Some(op) = self.definitions[value.0 as usize] else { break };
            if self.scalar(value) != Scalar::I32
                || !self.uniformity.encloses(self.uniformity.loop_of[value.0 as usize], at)
            {
                break;
            }
            let constant = |k: usize| self.plan.constants.get(&op.arguments[k]).map(|bits| *bits as u32);
            match op.kind {
                OpKind::Alu(Alu::IAdd) => {
                    let (base, bits) = match (constant(0), constant(1)) {
                        (_, Some(bits)) => (op.arguments[0], bits),
                        (Some(bits), _) => (op.arguments[1], bits),
                        _ => break,
                    };
                    result.immediate = result.immediate.wrapping_add(bits << result.shift);
                    result.base = Some(base);
                }
                OpKind::Alu(Alu::ShiftLeft) if result.shift == 0 => {
                    let Some(bits) = constant(1) else { break };
                    if bits > 31 {
                        break;
                    }
                    result.shift = bits;
                    result.base = Some(op.arguments[0]);
                }
                _ => break,
            }
        }
        result
    }

    fn fuse(&self, alu: Alu, a: &[Value], at: LoopId) -> Option<(Opcode, SmallVec<[Value; 4]>)> {
        let float = self.scalar(*a.first()?) == Scalar::F32;
        if float && self.shader.float_controls.denorm_flush_to_zero[1] {
            return None;
        }
        match alu {
            Alu::FAdd if float => {
                match (self.only(a[0], Alu::FMul, at), self.only(a[1], Alu::FMul, at)) {
                    (Some(x), Some(y)) if a[0] != a[1] => {
                        return Some((Opcode::FDot2, smallvec![x[0], x[1], y[0], y[1]]));
                    }
                    (Some(x), None) => return Some((Opcode::FMulAdd, smallvec![x[0], x[1], a[1]])),
                    (None, Some(y)) => return Some((Opcode::FMulAdd, smallvec![y[0], y[1], a[0]])),
                    _ => {}
                }
                for (k, other) in [(0, 1), (1, 0)] {
                    if let Some(x) = self.only(a[k], Alu::FAdd, at) {
                        return Some((Opcode::FAdd3, smallvec![x[0], x[1], a[other]]));
                    }
                }
                None
            }
            Alu::FSub if float => {
                if let Some(x) = self.only(a[0], Alu::FMul, at) {
                    return Some((Opcode::FMulSub, smallvec![x[0], x[1], a[1]]));
                }
                self.only(a[1], Alu::FMul, at).map(|y| (Opcode::FNegMulAdd, smallvec![y[0], y[1], a[0]]))
            }
            Alu::Fma if float => Some((Opcode::FMulAdd, a.iter().copied().collect())),
            Alu::FMul if float => {
                for (k, other) in [(0, 1), (1, 0)] {
                    if let Some(x) = self.only(a[k], Alu::FMul, at) {
                        return Some((Opcode::FMul3, smallvec![x[0], x[1], a[other]]));
                    }
                    if let Some(x) = self.only(a[k], Alu::FSub, at) {
                        return Some((Opcode::FSubMul, smallvec![x[0], x[1], a[other]]));
                    }
                }
                None
            }
            Alu::IAdd => {
                for (inner, opcode) in [
                    (Alu::IMul, Opcode::IMulAdd),
                    (Alu::ShiftLeft, Opcode::ShiftAdd),
                    (Alu::IAdd, Opcode::IAdd3),
                ] {
                    for (k, other) in [(0, 1), (1, 0)] {
                        if let Some(x) = self.only(a[k], inner, at) {
                            return Some((opcode, smallvec![x[0], x[1], a[other]]));
                        }
                    }
                }
                None
            }
            Alu::Or => {
                if let (Some(l), Some(r)) =
                    (self.only(a[0], Alu::ShiftLeft, at), self.only(a[1], Alu::ShiftRightLogical, at))
                    && let Some(amount) = self.rotation(&l, &r)
                {
                    return Some((Opcode::RotateLeft, smallvec![l[0], amount]));
                }
                if let (Some(r), Some(l)) =
                    (self.only(a[0], Alu::ShiftRightLogical, at), self.only(a[1], Alu::ShiftLeft, at))
                    && let Some(amount) = self.rotation(&l, &r)
                {
                    return Some((Opcode::RotateLeft, smallvec![l[0], amount]));
                }
                self.pair(a, Alu::And, Opcode::AndOr, at)
            }
            Alu::Xor => self
                .pair(a, Alu::And, Opcode::AndXor, at)
                .or_else(|| self.pair(a, Alu::Xor, Opcode::Xor3, at)),
            Alu::And => [(0, 1), (1, 0)].into_iter().find_map(|(k, other)| {
                let x = self.only(a[k], Alu::Not, at)?;
                Some((Opcode::AndNot, smallvec![a[other], x[0]]))
            }),
            _ => None,
        }
    }

    fn pair(
        &self,
        a: &[Value],
        inner: Alu,
        opcode: Opcode,
        at: LoopId,
    ) -> Option<(Opcode, SmallVec<[Value; 4]>)> {
        [(0, 1), (1, 0)].into_iter().find_map(|(k, other)| {
            let x = self.only(a[k], inner, at)?;
            Some((opcode, smallvec![x[0], x[1], a[other]]))
        })
    }

    /// The amount by which `left | right` rotates one word to the left.
    fn rotation(&self, left: &[Value], right: &[Value]) -> Option<Value> {
        let (l, r) = (self.plan.constants.get(&left[1])?, self.plan.constants.get(&right[1])?);
        (left[0] == right[0] && *l + *r == 32 && *l > 0 && *r > 0).then_some(left[1])
    }

    fn branch(&mut self, condition: Value, at: LoopId) {
        let fusable = || {
            let op = self.definitions[condition.0 as usize]?;
            if self.total[condition.0 as usize] != 1 || self.uniformity.loop_of[condition.0 as usize] != at {
                return None;
            }
            let OpKind::Alu(alu) = op.kind else { return None };
            let opcode = super::select::test(alu, self.scalar(*op.arguments.first()?))?;
            opcode.fused()?;
            Some((opcode, [op.arguments[0], op.arguments[1]]))
        };
        match fusable() {
            Some((opcode, arguments)) => {
                self.count(&arguments);
                self.plan.branches.insert(condition, (opcode, arguments));
            }
            None => self.count(&[condition]),
        }
    }
}
