//! Notes: what a shader does that is no error of memory, and that few mean to do. See
//! [`crate::interface::CompileOptions::notes`].

use super::lowerer::Lowerer;
use super::words::Instruction;
use crate::ir::{Alu, Node, Op, OpKind, Place, Region, Scalar, Value};
use crate::math::half;
use crate::pass::builder::node;
use crate::pass::fold;
use pellucid_memory::access::Site;
use pellucid_memory::finding::FindingId;
use smallvec::{SmallVec, smallvec};
use spirv::{Decoration, Op as Opcode};

/// Instructions between an access and its variable that are looked at.
const DEEP: u32 = 8;

impl Lowerer<'_> {
    /// True if notes are wanted.
    pub fn notes(&self) -> bool {
        self.options.notes && self.options.modelled
    }

    /// The result of an integer division by 0 is undefined.
    pub fn note_division(&mut self, i: &Instruction<'_>, divisor: Value) {
        if self.notes() {
            let zero = self.b.constant(self.b.scalar(divisor), 0);
            let by_zero = self.b.alu(Alu::IEqual, Scalar::Bool, &[divisor, zero]);
            self.note(i, FindingId::DivideByZero, by_zero);
        }
    }

    /// So is that of a shift by as many bits as the operand has, or more. The amount counts as unsigned.
    pub fn note_shift(&mut self, i: &Instruction<'_>, operand: Value, amount: Value) {
        if self.notes() {
            let width = fold::width(self.b.scalar(operand));
            let of = self.b.scalar(amount);
            let width = self.b.constant(of, u64::from(width));
            let out_of_range = self.b.alu(Alu::ULessEqual, Scalar::Bool, &[width, amount]);
            self.note(i, FindingId::ShiftOutOfRange, out_of_range);
        }
    }

    /// And that of a conversion of a float that is not in the range of the integer type once it is truncated,
    /// or is no number.
    pub fn note_conversion(&mut self, i: &Instruction<'_>, float: Value, signed: bool, to: Scalar) {
        if self.notes() {
            let of = self.b.scalar(float);
            let width = fold::width(to).cast_signed() - i32::from(signed);
            let digits = match of {
                Scalar::F16 => 11,
                Scalar::F32 => 24,
                _ => 53,
            };
            // Where the type does not have the value below the least integer, that integer is the limit.
            let least = if signed { -(2f64.powi(width)) } else { 0.0 };
            let exact = !signed || width < digits;
            let (below, within) =
                (self.float(of, least - f64::from(u8::from(exact))), self.float(of, 2f64.powi(width)));
            let above = if exact { Alu::FOrdLess } else { Alu::FOrdLessEqual };
            let above = self.b.alu(above, Scalar::Bool, &[below, float]);
            let under = self.b.alu(Alu::FOrdLess, Scalar::Bool, &[float, within]);
            let fits = self.b.alu(Alu::LogicalAnd, Scalar::Bool, &[above, under]);
            let outside = self.b.alu(Alu::LogicalNot, Scalar::Bool, &[fits]);
            self.note(i, FindingId::ConversionOutOfRange, outside);
        }
    }

    /// A constant of a float type, or the infinity next to it.
    fn float(&mut self, of: Scalar, value: f64) -> Value {
        let bits = match of {
            Scalar::F16 => u64::from(half::from_f32(value as f32)),
            Scalar::F32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        self.b.constant(of, bits)
    }

    /// A finding where the condition holds.
    pub fn note(&mut self, i: &Instruction<'_>, id: FindingId, condition: Value) {
        if self.b.constant_bits(condition) != Some(0) {
            let site = self.site(i, 0);
            self.b.op(OpKind::Note(id), &[], &[condition], site);
        }
    }

    /// Puts a note before each access of an element of a descriptor array that no decoration allows to differ
    /// between invocations.
    pub fn note_elements(&self, body: Region) -> Region {
        let mut out = Region::with_capacity(body.len());
        for node in body {
            match node {
                Node::Op(op) => {
                    self.note_elements_of(&op, &mut out);
                    out.push(Node::Op(op));
                }
                Node::If { condition, then, otherwise } => {
                    let (then, otherwise) = (self.note_elements(then), self.note_elements(otherwise));
                    out.push(Node::If { condition, then, otherwise });
                }
                Node::Block { label, results, body } => {
                    out.push(Node::Block { label, results, body: self.note_elements(body) });
                }
                Node::Loop { label, parameters, initial, body } => {
                    let body = self.note_elements(body);
                    out.push(Node::Loop { label, parameters, initial, body });
                }
                other => out.push(other),
            }
        }
        out
    }

    fn note_elements_of(&self, op: &Op, out: &mut Region) {
        let elements = match &op.kind {
            OpKind::Load { place: Place::Buffer { element, .. }, .. }
            | OpKind::Store { place: Place::Buffer { element, .. }, .. }
            | OpKind::Atomic { place: Place::Buffer { element, .. }, .. } => [*element, None],
            kind => match kind.image() {
                Some(image) => [image.element, image.sampler.and_then(|(_, element)| element)],
                None => return,
            },
        };
        for element in elements.into_iter().flatten().filter(|&e| self.b.constant_bits(e).is_none()) {
            if op.site != Site(0) && !self.is_non_uniform(self.sites.word(op.site), DEEP) {
                out.push(node(OpKind::NoteDiverging, SmallVec::new(), smallvec![element], op.site));
            }
        }
    }

    /// True if `NonUniform` decorates the instruction at a word of the module, or what it accesses through:
    /// the pointer, an index, the image.
    fn is_non_uniform(&self, word: u32, deep: u32) -> bool {
        let Ok(i) = self.module.stream.at(word) else { return true };
        i.rest(1).iter().any(|&id| {
            let Some(&defined) = self.module.defined.get(id as usize).filter(|&&word| word != 0) else {
                return false;
            };
            let through = |i: Instruction<'_>| {
                matches!(
                    i.op,
                    Opcode::AccessChain
                        | Opcode::InBoundsAccessChain
                        | Opcode::PtrAccessChain
                        | Opcode::InBoundsPtrAccessChain
                        | Opcode::CopyObject
                        | Opcode::Load
                        | Opcode::Image
                        | Opcode::SampledImage
                        | Opcode::ImageTexelPointer
                )
            };
            self.module.decorations.has(id, Decoration::NonUniform)
                || (deep > 0
                    && defined != word
                    && self.module.stream.at(defined).is_ok_and(through)
                    && self.is_non_uniform(defined, deep - 1))
        })
    }
}
