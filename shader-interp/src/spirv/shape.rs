//! The parts of variables, by their types and names: for findings.

use super::lowerer::Lowerer;
use super::pointer::Base;
use super::types::{Layout, Type};
use crate::ir::{Part, Scalar, Shape, Variable};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Types inside of each other that are looked into.
const DEEPEST: u32 = 64;

/// Shapes that are known already, by type and layout.
pub(crate) type Shapes = FxHashMap<(u32, Layout), Arc<Shape>>;

impl Lowerer<'_> {
    /// What findings name: the Function and Private variables, as objects are numbered, then the push constant block, and its number if it is
    /// followed. Nothing where the code is not for the model.
    pub fn variables(&self) -> (Vec<Variable>, Option<u32>) {
        if !self.options.modelled {
            return (Vec::new(), None);
        }
        let mut shapes = Shapes::default();
        let variable = |shapes: &mut Shapes, id, ty, layout| Variable {
            name: self.module.name(id),
            shape: self.shape(ty, layout, shapes, 0),
        };
        let objects = self.objects.iter();
        let natural = Layout::default();
        let mut variables: Vec<Variable> =
            objects.map(|object| variable(&mut shapes, object.variable, object.ty, natural)).collect();
        let push = self.pointers.iter().find(|pointer| pointer.base == Base::PushConstant);
        let followed = push.filter(|_| self.options.push_unset).and_then(|pointer| {
            let i = self.module.stream.at(*self.module.defined.get(pointer.variable as usize)?).ok()?;
            let Type::Pointer { pointee, .. } = self.types.get(i.id(1).ok()?).ok()?.kind else { return None };
            let explicit = Layout { explicit: true, ..natural };
            variables.push(variable(&mut shapes, pointer.variable, pointee, explicit));
            Some(variables.len() as u32 - 1)
        });
        (variables, followed)
    }

    /// The parts of a type in memory.
    pub fn shape(&self, ty: u32, layout: Layout, known: &mut Shapes, depth: u32) -> Arc<Shape> {
        if let Some(shape) = known.get(&(ty, layout)) {
            return shape.clone();
        }
        let shape = Arc::new(self.new_shape(ty, layout, known, depth).unwrap_or(Shape::Whole));
        known.insert((ty, layout), shape.clone());
        shape
    }

    fn new_shape(&self, ty: u32, layout: Layout, known: &mut Shapes, depth: u32) -> Option<Shape> {
        if depth > DEEPEST {
            return None;
        }
        let info = self.types.get(ty).ok()?;
        let part = |index| self.types.part(ty, layout, index).ok();
        Some(match &info.kind {
            Type::Vector { count, .. } => Shape::Vector { count: *count, stride: part(1)?.1 },
            Type::Matrix { column, .. } => {
                let (_, stride, inner) = part(1)?;
                let component = info.scalar.map_or(4, Scalar::bytes);
                let row = self.types.part(*column, inner, 1).map_or(component, |(_, row, _)| row);
                Shape::Matrix { column: stride, row }
            }
            Type::Array { element, length, .. } => {
                let stride = self.types.stride(ty, layout).ok()?;
                Shape::Array {
                    length: *length,
                    stride,
                    element: self.shape(*element, layout, known, depth + 1),
                }
            }
            Type::Struct { members } => {
                let mut parts = Vec::new();
                for k in 0..members.len() as u32 {
                    let (member, offset, inner) = part(k)?;
                    parts.push(Part {
                        name: self.module.member_name(ty, k),
                        offset,
                        size: self.types.size(member, inner).ok()?,
                        shape: self.shape(member, inner, known, depth + 1),
                    });
                }
                Shape::Struct(parts)
            }
            _ => Shape::Whole,
        })
    }
}
