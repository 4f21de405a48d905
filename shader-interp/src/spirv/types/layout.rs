//! How values lie in memory: sizes, strides, offsets of parts, and where the scalars of a value are.

use super::{Member, Type, Types};
use crate::CompileError;
use crate::ir::Scalar;

/// How the pointee of a pointer lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Layout {
    /// By decorations.
    pub explicit: bool,
    /// MatrixStride that the pointee's matrices have.
    pub matrix_stride: u32,
    pub row_major: bool,
    /// Bytes between the components of a vector that is a column of a row-major matrix, else 0.
    pub component_stride: u32,
}

/// A scalar of a value in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// Byte offset.
    pub offset: u32,
    /// Its type.
    pub scalar: Scalar,
    /// Its place in the value.
    pub flat: u32,
}

impl Types {
    /// Bytes of a value in memory. A runtime array counts as empty.
    pub fn size(&self, id: u32, layout: Layout) -> Result<u32, CompileError> {
        let info = self.get(id)?;
        if !layout.explicit {
            return Ok(info.size);
        }
        Ok(match &info.kind {
            Type::Matrix { column, count } if layout.matrix_stride != 0 => {
                let rows = self.get(*column)?.flat;
                layout.matrix_stride.saturating_mul(if layout.row_major { rows } else { *count })
            }
            Type::Array { length, .. } => self.stride(id, layout)?.saturating_mul(*length),
            _ => info.explicit,
        })
    }

    /// True if a type has the same layout whether its decorations count or not.
    pub fn is_natural(&self, id: u32) -> bool {
        let explicit = Layout { explicit: true, ..Layout::default() };
        let size = |id: u32, layout: Layout| self.size(id, layout).ok();
        match self.get(id).map(|info| &info.kind) {
            Ok(Type::Struct { members }) => members.iter().all(|member| {
                let layout = self.member_layout(member, explicit);
                member.offset.is_none_or(|offset| offset == member.natural)
                    && !member.row_major
                    && size(member.ty, layout) == size(member.ty, Layout::default())
                    && self.is_natural(member.ty)
            }),
            Ok(Type::Array { element, .. }) => {
                self.stride(id, explicit).ok() == size(*element, Layout::default())
                    && self.is_natural(*element)
            }
            _ => true,
        }
    }

    /// Bytes from one element of an array to the next.
    pub fn stride(&self, id: u32, layout: Layout) -> Result<u32, CompileError> {
        match &self.get(id)?.kind {
            Type::Array { stride: Some(stride), .. } if layout.explicit => Ok(*stride),
            Type::Array { element, .. } => self.size(*element, layout),
            _ => Err(CompileError::Invalid(format!("type {id} is no array"))),
        }
    }

    pub fn member_layout(&self, member: &Member, layout: Layout) -> Layout {
        Layout {
            explicit: layout.explicit,
            matrix_stride: member.matrix_stride,
            row_major: member.row_major,
            component_stride: 0,
        }
    }

    /// Part `index` of a composite: its type, byte offset and layout.
    pub fn part(&self, id: u32, layout: Layout, index: u32) -> Result<(u32, u32, Layout), CompileError> {
        let outside = || CompileError::Invalid(format!("index {index} into type {id}"));
        match &self.get(id)?.kind {
            Type::Struct { members } => {
                let member = members.get(index as usize).ok_or_else(outside)?;
                let offset =
                    if layout.explicit { member.offset.unwrap_or(member.natural) } else { member.natural };
                Ok((member.ty, offset, self.member_layout(member, layout)))
            }
            _ => {
                let (ty, stride, inner) = self.element(id, layout)?;
                Ok((ty, stride.wrapping_mul(index), inner))
            }
        }
    }

    /// The element type of a vector, matrix or array, the bytes from one element to the next, and the
    /// elements' layout.
    pub fn element(&self, id: u32, layout: Layout) -> Result<(u32, u32, Layout), CompileError> {
        match &self.get(id)?.kind {
            Type::Vector { component, .. } => {
                let tight = self.get(*component)?.size;
                let stride = if layout.component_stride != 0 { layout.component_stride } else { tight };
                Ok((*component, stride, Layout { explicit: layout.explicit, ..Layout::default() }))
            }
            Type::Matrix { column, .. } => {
                let info = self.get(*column)?;
                let component = info.scalar.map_or(4, Scalar::bytes);
                let inner = Layout { explicit: layout.explicit, ..Layout::default() };
                Ok(match (layout.explicit && layout.matrix_stride != 0, layout.row_major) {
                    (true, true) => {
                        (*column, component, Layout { component_stride: layout.matrix_stride, ..inner })
                    }
                    (true, false) => (*column, layout.matrix_stride, inner),
                    (false, _) => (*column, info.size, inner),
                })
            }
            Type::CooperativeMatrix(matrix) => {
                let component = self.get(matrix.component)?;
                Ok((matrix.component, component.size, Layout::default()))
            }
            Type::Array { element, .. } => Ok((*element, self.stride(id, layout)?, layout)),
            _ => Err(CompileError::Invalid(format!("type {id} has no elements"))),
        }
    }
}

impl Types {
    /// Where the scalars of a value lie, from byte `offset` on.
    pub fn leaves(
        &self,
        id: u32,
        layout: Layout,
        offset: u32,
        out: &mut Vec<Leaf>,
    ) -> Result<(), CompileError> {
        let info = self.get(id)?;
        let (count, stride) = match &info.kind {
            Type::Scalar { scalar, .. } => {
                out.push(Leaf { offset, scalar: *scalar, flat: out.len() as u32 });
                return Ok(());
            }
            Type::Pointer { .. } if info.flat == 2 => {
                for word in 0..2 {
                    out.push(Leaf { offset: offset + 4 * word, scalar: Scalar::I32, flat: out.len() as u32 });
                }
                return Ok(());
            }
            Type::Pointer { .. } if info.flat == 1 => {
                out.push(Leaf { offset, scalar: Scalar::I64, flat: out.len() as u32 });
                return Ok(());
            }
            Type::Struct { members } => {
                for member in members.iter() {
                    let at = if layout.explicit {
                        member.offset.unwrap_or(member.natural)
                    } else {
                        member.natural
                    };
                    let inner = self.member_layout(member, layout);
                    self.leaves(member.ty, inner, offset.wrapping_add(at), out)?;
                }
                return Ok(());
            }
            Type::Vector { .. } | Type::Matrix { .. } | Type::CooperativeMatrix(_) | Type::Array { .. } => {
                (self.parts(id)?, self.element(id, layout)?)
            }
            _ => {
                return Err(CompileError::NotImplemented(format!(
                    "values of type {:?} in memory",
                    info.kind
                )));
            }
        };
        let (element, stride, inner) = stride;
        for k in 0..count {
            self.leaves(element, inner, offset.wrapping_add(stride.wrapping_mul(k)), out)?;
        }
        Ok(())
    }
}
