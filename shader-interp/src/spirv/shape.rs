//! The parts of variables, by their types and names: for findings.

use super::lowerer::Lowerer;
use super::pointer::Base;
use super::types::{Layout, Type};
use crate::ir::{Part, Scalar, Shape, Variable};
use rustc_hash::FxHashMap;
use spirv::Decoration;
use std::sync::Arc;

/// Types inside of each other that are looked into.
const DEEPEST: u32 = 64;

/// Shapes that are known already, by type and layout.
pub(crate) type Shapes = FxHashMap<(u32, Layout), Arc<Shape>>;

/// The variables that findings name the parts of.
#[derive(Default)]
pub(crate) struct NamedVariables {
    /// Function and Private variables, as objects are numbered, then the push constant block, if it is
    /// followed.
    pub variables: Vec<Variable>,
    /// Which of these is the push constant block.
    pub push: Option<u32>,
    /// Workgroup variables.
    pub shared: Vec<Variable>,
    /// Blocks of buffers, by binding.
    pub blocks: Vec<Option<Variable>>,
}

impl Lowerer<'_> {
    /// What findings name; nothing where the code is not for the model.
    pub fn named_variables(&self) -> NamedVariables {
        if !self.options.modelled {
            return NamedVariables::default();
        }
        let mut known = Shapes::default();
        let natural = Layout::default();
        let explicit = Layout { explicit: true, ..natural };
        let objects = self.objects.iter();
        let mut variables: Vec<Variable> = objects
            .map(|object| self.named_variable(object.variable, object.ty, natural, &mut known))
            .collect();
        let root = |base: Base| self.pointers.iter().find(|pointer| pointer.base == base);
        let mut of =
            |id: u32, layout: Layout| Some(self.named_variable(id, self.pointee_of(id)?, layout, &mut known));
        let push = root(Base::PushConstant).filter(|_| self.options.push_unset);
        let push = push.and_then(|pointer| {
            variables.push(of(pointer.variable, explicit)?);
            Some(variables.len() as u32 - 1)
        });
        let shared = (0..self.workgroup.len() as u32).map(|k| {
            let variable = root(Base::Workgroup(k)).and_then(|pointer| {
                let block =
                    self.module.decorations.has(self.pointee_of(pointer.variable)?, Decoration::Block);
                of(pointer.variable, if block { explicit } else { natural })
            });
            variable.unwrap_or_default()
        });
        let shared = shared.collect();
        let mut blocks = vec![None; self.bindings.len()];
        for (&id, &binding) in &self.binding_of {
            let Some(mut ty) = self.pointee_of(id) else { continue };
            if let Ok(Type::Array { element, .. }) = self.types.get(ty).map(|info| &info.kind) {
                ty = *element;
            }
            if matches!(self.types.get(ty).map(|info| &info.kind), Ok(Type::Struct { .. })) {
                blocks[binding as usize] = Some(self.named_variable(id, ty, explicit, &mut known));
            }
        }
        NamedVariables { variables, push, shared, blocks }
    }

    fn named_variable(&self, id: u32, ty: u32, layout: Layout, known: &mut Shapes) -> Variable {
        Variable { name: self.module.name(id), shape: self.shape(ty, layout, known, 0) }
    }

    /// The type that a module's variable is of.
    fn pointee_of(&self, id: u32) -> Option<u32> {
        let i = self.module.stream.at(*self.module.defined.get(id as usize)?).ok()?;
        Some(self.variable_type(&i).ok()?.1)
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
            Type::CooperativeMatrix(matrix) => {
                Shape::Array { length: matrix.count, stride: part(1)?.1, element: Arc::new(Shape::Whole) }
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
