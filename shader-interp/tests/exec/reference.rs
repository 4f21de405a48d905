//! The meaning of the representation, written down as directly as possible: one invocation, values in a map.

use pellucid_shader_interp::ir::*;
use std::collections::HashMap;

enum Flow {
    Next,
    Leave(Label),
    Repeat(Label),
    End,
}

/// One invocation of a shader that stores words to buffer 0 and reads words of buffer 1.
pub struct Invocation<'a> {
    pub shader: &'a Shader,
    pub id: u32,
    pub input: &'a [u32],
    pub output: &'a mut [u32],
    values: HashMap<Value, u64>,
    carried: HashMap<Label, Vec<Value>>,
}

impl<'a> Invocation<'a> {
    pub fn run(shader: &'a Shader, id: u32, input: &'a [u32], output: &'a mut [u32]) {
        let mut this =
            Invocation { shader, id, input, output, values: HashMap::new(), carried: HashMap::new() };
        this.region(&shader.body);
    }

    fn get(&self, value: Value) -> u64 {
        self.values[&value]
    }

    fn pass(&mut self, to: &[Value], from: &[Value]) {
        let bits: Vec<u64> = from.iter().map(|v| self.get(*v)).collect();
        self.values.extend(to.iter().copied().zip(bits));
    }

    fn region(&mut self, region: &Region) -> Flow {
        for node in region {
            let flow = match node {
                Node::Op(op) => {
                    self.op(op);
                    Flow::Next
                }
                Node::If { condition, then, otherwise } => {
                    self.region(if self.get(*condition) != 0 { then } else { otherwise })
                }
                Node::Block { label, results, body } => {
                    self.carried.insert(*label, results.to_vec());
                    match self.region(body) {
                        Flow::Leave(to) if to == *label => Flow::Next,
                        other => other,
                    }
                }
                Node::Loop { label, parameters, initial, body } => {
                    self.carried.insert(*label, parameters.to_vec());
                    self.pass(parameters, initial);
                    loop {
                        match self.region(body) {
                            Flow::Repeat(to) if to == *label => {}
                            other => break other,
                        }
                    }
                }
                Node::Switch { selector, cases, default } => {
                    let selector = self.get(*selector);
                    Flow::Leave(cases.iter().find(|c| c.0 == selector).map_or(*default, |c| c.1))
                }
                Node::Leave { label, arguments } => {
                    self.pass(&self.carried[label].clone(), arguments);
                    Flow::Leave(*label)
                }
                Node::Repeat { label, arguments } => {
                    self.pass(&self.carried[label].clone(), arguments);
                    Flow::Repeat(*label)
                }
                Node::End => Flow::End,
            };
            if !matches!(flow, Flow::Next) {
                return flow;
            }
        }
        Flow::Next
    }

    fn op(&mut self, op: &Op) {
        let a: Vec<u64> = op.arguments.iter().map(|v| self.get(*v)).collect();
        let word = |k: usize| a[k] as u32;
        let float = |k: usize| f32::from_bits(a[k] as u32);
        let bits: u64 = match &op.kind {
            OpKind::Constant(bits) => *bits,
            OpKind::BuiltIn(BuiltIn::GlobalInvocationId(0)) => self.id.into(),
            OpKind::Store { place: Place::Buffer { offset, immediate, .. }, .. } => {
                let at = offset.map_or(0, |v| self.get(v) as u32).wrapping_add(*immediate) as usize / 4;
                for (k, value) in a.iter().enumerate() {
                    if let Some(cell) = self.output.get_mut(at + k) {
                        *cell = *value as u32;
                    }
                }
                return;
            }
            OpKind::Load { place: Place::Buffer { offset, immediate, .. }, .. } => {
                let at = offset.map_or(0, |v| self.get(v) as u32).wrapping_add(*immediate);
                for (k, result) in op.results.iter().enumerate() {
                    let word = if at % 4 == 0 {
                        self.input.get(at as usize / 4 + k).copied().unwrap_or(0)
                    } else {
                        0
                    };
                    self.values.insert(*result, word.into());
                }
                return;
            }
            OpKind::Alu(alu) => match alu {
                Alu::IAdd => word(0).wrapping_add(word(1)).into(),
                Alu::ISub => word(0).wrapping_sub(word(1)).into(),
                Alu::IMul => word(0).wrapping_mul(word(1)).into(),
                Alu::And => a[0] & a[1],
                Alu::Or => a[0] | a[1],
                Alu::Xor => a[0] ^ a[1],
                Alu::Not => (!word(0)).into(),
                Alu::ShiftLeft => (word(0) << (word(1) & 31)).into(),
                Alu::ShiftRightLogical => (word(0) >> (word(1) & 31)).into(),
                Alu::ShiftRightArithmetic => (((word(0) as i32) >> (word(1) & 31)) as u32).into(),
                Alu::UMin => word(0).min(word(1)).into(),
                Alu::SMax => ((word(0) as i32).max(word(1) as i32) as u32).into(),
                Alu::UDiv => word(0).checked_div(word(1)).unwrap_or(0).into(),
                Alu::IEqual => (word(0) == word(1)).into(),
                Alu::INotEqual => (word(0) != word(1)).into(),
                Alu::ULess => (word(0) < word(1)).into(),
                Alu::SLess => ((word(0) as i32) < word(1) as i32).into(),
                Alu::SLessEqual => ((word(0) as i32) <= word(1) as i32).into(),
                Alu::LogicalAnd => a[0] & a[1],
                Alu::LogicalOr => a[0] | a[1],
                Alu::LogicalNot => a[0] ^ 1,
                Alu::Select => a[if a[0] != 0 { 1 } else { 2 }],
                Alu::FAdd => (float(0) + float(1)).to_bits().into(),
                Alu::FSub => (float(0) - float(1)).to_bits().into(),
                Alu::FMul => (float(0) * float(1)).to_bits().into(),
                other => unreachable!("{other:?} is not generated"),
            },
            OpKind::Convert(Conversion::UToF) => (word(0) as f32).to_bits().into(),
            other => unreachable!("{other:?} is not generated"),
        };
        self.values.insert(op.results[0], bits);
        let _ = self.shader;
    }
}
