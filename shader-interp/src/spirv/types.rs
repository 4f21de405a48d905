//! The type table, and where the scalars of a value lie in memory.
//!
//! A value is the list of its scalars in depth-first order (matrices column by column). In memory, blocks are
//! laid out by their decorations (*explicit*: Offset, ArrayStride, MatrixStride, RowMajor), everything else
//! tightly by scalar alignment (*natural*, Bool as 4 bytes).

mod layout;

pub(crate) use self::layout::{Layout, Leaf};
use super::cooperative_matrix::MatrixType;
use super::decorate::Decorations;
use super::variable_pointer::is_variable;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Component, Scalar};
use crate::stack::MAX_TYPES;
use spirv::{Decoration, StorageClass};
use std::rc::Rc;

/// The most components of a vector (SPV_EXT_long_vector).
pub const MAX_VECTOR: u32 = 1024;

/// In place of the pointee's type: what uses the pointer says.
pub(crate) const UNTYPED: u32 = 0;

/// A member of a structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Type id.
    pub ty: u32,
    /// Offset decoration.
    pub offset: Option<u32>,
    /// Offset in the natural layout.
    pub natural: u32,
    pub matrix_stride: u32,
    pub row_major: bool,
    pub coherent: bool,
    pub volatile: bool,
}

/// OpTypeImage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageType {
    /// Sampled type id.
    pub sampled_type: u32,
    /// Dim, as its number.
    pub dim: u32,
    pub arrayed: bool,
    pub multisampled: bool,
    /// 1 with a sampler, 2 storage.
    pub sampled: u32,
    /// Image format, as its number.
    pub format: u32,
}

/// How a float is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As IEEE 754 has it; of all that is no float, too.
    Plain,
    /// BFloat16KHR.
    Bfloat16,
    /// Float8E4M3EXT.
    E4m3,
    /// Float8E5M2EXT.
    E5m2,
}

/// A type declaration, its operands resolved.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    /// OpTypeVoid.
    Void,
    /// OpTypeBool, OpTypeInt or OpTypeFloat; signed matters for integers.
    Scalar {
        /// Bool, or an integer or float of some width.
        scalar: Scalar,
        /// Signedness.
        signed: bool,
        /// Of a float.
        encoding: Encoding,
    },
    /// OpTypeVector and OpTypeVectorIdEXT.
    Vector {
        /// Component type.
        component: u32,
        /// Components.
        count: u32,
    },
    /// OpTypeMatrix.
    Matrix {
        /// Column type.
        column: u32,
        /// Columns.
        count: u32,
    },
    /// OpTypeCooperativeMatrixKHR.
    CooperativeMatrix(MatrixType),
    /// OpTypeArray; OpTypeRuntimeArray has length 0.
    Array {
        /// Element type.
        element: u32,
        /// Elements.
        length: u32,
        /// ArrayStride decoration.
        stride: Option<u32>,
    },
    /// OpTypeStruct.
    Struct { members: Rc<[Member]> },
    /// OpTypePointer and OpTypeUntypedPointerKHR.
    Pointer {
        /// Storage class.
        class: StorageClass,
        /// Pointee type id (not yet defined for forward pointers); [`UNTYPED`].
        pointee: u32,
        /// ArrayStride decoration.
        stride: Option<u32>,
    },
    /// OpTypeImage.
    Image(ImageType),
    /// OpTypeSampler.
    Sampler,
    /// OpTypeSampledImage.
    SampledImage {
        /// Image type id.
        image: u32,
    },
    /// OpTypeFunction.
    Function,
}

/// A type with what is asked of it often.
#[derive(Clone, Debug)]
pub(crate) struct TypeInfo {
    /// The declaration that made it.
    pub kind: Type,
    /// Scalars of a value (saturating; 0 if there are none).
    pub flat: u32,
    /// The type of all scalars, if they have one type.
    pub scalar: Option<Scalar>,
    /// Bytes in the natural layout.
    pub size: u32,
    /// Alignment in the natural layout.
    pub align: u32,
    /// Bytes of a structure whose members have decorated offsets; else as `size`.
    explicit: u32,
    /// Arrays and structures inside of each other, this one included.
    pub depth: u32,
    /// It is, or holds, a cooperative matrix.
    pub matrix: bool,
}

/// All types by id.
#[derive(Default)]
pub(crate) struct Types {
    /// Vectors may have any number of components (LongVectorEXT).
    long: bool,
    /// Invocations of a subgroup.
    pub(super) lanes: u32,
    /// There are cooperative matrices.
    pub(super) matrices: bool,
    index: Vec<u32>,
    infos: Vec<TypeInfo>,
}

impl Types {
    /// An empty table for ids below `bound`; `long`: of a module that declares LongVectorEXT; `lanes`: the
    /// subgroup size.
    pub fn new(bound: u32, long: bool, lanes: u32) -> Types {
        Types { long, lanes, matrices: false, index: vec![u32::MAX; bound as usize], infos: Vec::new() }
    }

    /// The type of an id.
    pub fn get(&self, id: u32) -> Result<&TypeInfo, CompileError> {
        self.index
            .get(id as usize)
            .and_then(|&index| self.infos.get(index as usize))
            .ok_or_else(|| CompileError::Invalid(format!("id {id} is no type")))
    }

    pub(super) fn insert(
        &mut self,
        id: u32,
        kind: Type,
        flat: u32,
        scalar: Option<Scalar>,
        size: u32,
        align: u32,
    ) {
        let depth_of = |id: u32| self.get(id).map_or(0, |info| info.depth);
        let depth = match &kind {
            Type::Array { element, .. } => 1 + depth_of(*element),
            Type::Struct { members } => 1 + members.iter().map(|m| depth_of(m.ty)).max().unwrap_or(0),
            _ => 0,
        };
        let holds_matrix = |id: u32| self.get(id).is_ok_and(|info| info.matrix);
        let matrix = match &kind {
            Type::CooperativeMatrix(_) => true,
            Type::Array { element, .. } => holds_matrix(*element),
            Type::Struct { members } => members.iter().any(|member| holds_matrix(member.ty)),
            _ => false,
        };
        self.index[id as usize] = self.infos.len() as u32;
        self.infos.push(TypeInfo { kind, flat, scalar, size, align, explicit: size, depth, matrix });
    }

    /// The scalar type of a scalar or of a vector's or matrix's components.
    pub fn scalar(&self, id: u32) -> Result<Scalar, CompileError> {
        self.get(id)?
            .scalar
            .ok_or_else(|| CompileError::Invalid(format!("type {id} is not a scalar, vector or matrix")))
    }

    /// The type of all scalars of a value, if they have one type and signedness.
    pub fn component(&self, id: u32) -> Option<Component> {
        match &self.get(id).ok()?.kind {
            // Bits of other encodings are shown as such.
            Type::Scalar { encoding, .. } if *encoding != Encoding::Plain => None,
            Type::Scalar { scalar, signed, .. } => Some(Component { scalar: *scalar, signed: *signed }),
            Type::Vector { component: part, .. }
            | Type::Matrix { column: part, .. }
            | Type::CooperativeMatrix(MatrixType { component: part, .. })
            | Type::Array { element: part, .. } => self.component(*part),
            Type::Struct { members } => {
                let mut parts = members.iter().map(|member| self.component(member.ty));
                let first = parts.next()?;
                if parts.all(|part| part == first) { first } else { None }
            }
            _ => None,
        }
    }

    /// True for a signed integer type, or a vector of them.
    pub fn signed(&self, id: u32) -> bool {
        match self.get(id).map(|info| &info.kind) {
            Ok(Type::Scalar { signed, .. }) => *signed,
            Ok(Type::Vector { component, .. } | Type::CooperativeMatrix(MatrixType { component, .. })) => {
                self.signed(*component)
            }
            _ => false,
        }
    }

    /// Defines the type of an OpType* instruction. `length` reads the value of an array's length constant.
    pub fn define(
        &mut self,
        i: &Instruction<'_>,
        decorations: &Decorations,
        length: impl Fn(u32) -> Result<u32, CompileError>,
    ) -> Result<(), CompileError> {
        use spirv::Op;
        let id = i.id(1)?;
        let simple = |scalar: Scalar, signed: bool| {
            (Type::Scalar { scalar, signed, encoding: Encoding::Plain }, scalar)
        };
        match i.op {
            Op::TypeVoid => self.insert(id, Type::Void, 0, None, 0, 1),
            Op::TypeBool => {
                let (kind, scalar) = simple(Scalar::Bool, false);
                self.insert(id, kind, 1, Some(scalar), 4, 4);
            }
            Op::TypeFloat if i.len() > 3 => {
                let (width, encoding) = (i.word(2)?, i.word(3)?);
                let (encoding, scalar) = Encoding::of_operand(width, encoding)
                    .ok_or_else(|| i.refuse(&format!("of width {width} and encoding {encoding}")))?;
                let kind = Type::Scalar { scalar, signed: false, encoding };
                self.insert(id, kind, 1, Some(scalar), scalar.bytes(), scalar.bytes());
            }
            Op::TypeInt | Op::TypeFloat => {
                let scalar = match (i.op, i.word(2)?) {
                    (Op::TypeInt, 8) => Scalar::I8,
                    (Op::TypeInt, 16) => Scalar::I16,
                    (Op::TypeInt, 32) => Scalar::I32,
                    (Op::TypeInt, 64) => Scalar::I64,
                    (Op::TypeFloat, 16) => Scalar::F16,
                    (Op::TypeFloat, 32) => Scalar::F32,
                    (Op::TypeFloat, 64) => Scalar::F64,
                    (_, width) => return Err(i.refuse(&format!("of width {width}"))),
                };
                let signed = i.op == Op::TypeInt && i.word(3)? == 1;
                let (kind, scalar) = simple(scalar, signed);
                self.insert(id, kind, 1, Some(scalar), scalar.bytes(), scalar.bytes());
            }
            Op::TypeVector | Op::TypeMatrix => {
                let part = i.id(2)?;
                let count = if i.counts_by_id() { length(i.id(3)?)? } else { i.word(3)? };
                let info = self.get(part)?;
                let fits = match info.kind {
                    Type::Scalar { .. } => i.op == Op::TypeVector,
                    Type::Vector { .. } => i.op == Op::TypeMatrix,
                    _ => false,
                };
                let counts = if self.long && i.op == Op::TypeVector { 1..=MAX_VECTOR } else { 2..=4 };
                let columns = matches!(info.kind, Type::Scalar { .. }) || (2..=4).contains(&info.flat);
                if !fits || !columns || !counts.contains(&count) {
                    return Err(i.invalid("is no vector or matrix"));
                }
                let (flat, scalar, size, align) =
                    (info.flat * count, info.scalar, info.size * count, info.align);
                let kind = if i.op == Op::TypeVector {
                    Type::Vector { component: part, count }
                } else {
                    Type::Matrix { column: part, count }
                };
                self.insert(id, kind, flat, scalar, size, align);
            }
            Op::TypeArray | Op::TypeRuntimeArray => {
                let element = i.id(2)?;
                let length = if i.op == Op::TypeArray { length(i.id(3)?)? } else { 0 };
                if i.op == Op::TypeArray && length == 0 {
                    return Err(i.invalid("has no elements"));
                }
                let info = self.get(element)?;
                let (flat, scalar) = (info.flat.saturating_mul(length), info.scalar);
                let (size, align) = (info.size.saturating_mul(length), info.align);
                let stride = decorations.of(id, Decoration::ArrayStride);
                self.insert(id, Type::Array { element, length, stride }, flat, scalar, size, align);
            }
            Op::TypeCooperativeMatrixKHR => self.cooperative_matrix(i, length)?,
            Op::TypeStruct => self.structure(i, decorations)?,
            Op::TypePointer => {
                let class = StorageClass::from_u32(i.word(2)?)
                    .ok_or_else(|| i.refuse(&format!("storage class {}", i.rest(2)[0])))?;
                let stride = decorations.of(id, Decoration::ArrayStride);
                let physical = class == StorageClass::PhysicalStorageBuffer;
                use StorageClass as C;
                if i.untyped() && [C::Function, C::Private, C::Input, C::Output].contains(&class) {
                    return Err(i.invalid("is of a storage class that untyped pointers do not have"));
                }
                let pointee = if i.untyped() { UNTYPED } else { i.id(3)? };
                let kind = Type::Pointer { class, pointee, stride };
                if physical {
                    self.insert(id, kind, 1, Some(Scalar::I64), 8, 8);
                } else if is_variable(class) {
                    self.insert(id, kind, 2, Some(Scalar::I32), 8, 4);
                } else {
                    self.insert(id, kind, 0, None, 0, 1);
                }
            }
            Op::TypeForwardPointer => {
                let kind =
                    Type::Pointer { class: StorageClass::PhysicalStorageBuffer, pointee: 0, stride: None };
                if i.word(2)? != StorageClass::PhysicalStorageBuffer as u32 {
                    return Err(i.refuse("of a logical pointer"));
                }
                self.insert(id, kind, 1, Some(Scalar::I64), 8, 8);
            }
            Op::TypeImage => {
                let image = ImageType {
                    sampled_type: i.id(2)?,
                    dim: i.word(3)?,
                    arrayed: i.word(5)? == 1,
                    multisampled: i.word(6)? == 1,
                    sampled: i.word(7)?,
                    format: i.word(8)?,
                };
                self.insert(id, Type::Image(image), 0, None, 0, 1);
            }
            Op::TypeSampler => self.insert(id, Type::Sampler, 0, None, 0, 1),
            Op::TypeSampledImage => self.insert(id, Type::SampledImage { image: i.id(2)? }, 0, None, 0, 1),
            Op::TypeFunction => self.insert(id, Type::Function, 0, None, 0, 1),
            _ => return Err(i.refuse("")),
        }
        if self.get(id)?.depth > MAX_TYPES {
            return Err(CompileError::Limit(format!("types nested deeper than {MAX_TYPES}")));
        }
        Ok(())
    }

    fn structure(&mut self, i: &Instruction<'_>, decorations: &Decorations) -> Result<(), CompileError> {
        let id = i.id(1)?;
        let (mut flat, mut size, mut align) = (0u32, 0u32, 1u32);
        let mut scalar = None;
        let mut members = Vec::with_capacity(i.len() - 2);
        for (k, &ty) in i.rest(2).iter().enumerate() {
            let member = k as u32;
            let info = self.get(ty)?;
            let natural = size.checked_next_multiple_of(info.align.max(1)).unwrap_or(u32::MAX);
            scalar = if k == 0 || scalar == info.scalar { info.scalar } else { None };
            flat = flat.saturating_add(info.flat);
            size = natural.saturating_add(info.size);
            align = align.max(info.align);
            members.push(Member {
                ty,
                offset: decorations.of_member(id, member, Decoration::Offset),
                natural,
                matrix_stride: decorations.of_member(id, member, Decoration::MatrixStride).unwrap_or(0),
                row_major: decorations.of_member(id, member, Decoration::RowMajor).is_some(),
                coherent: decorations.of_member(id, member, Decoration::Coherent).is_some(),
                volatile: decorations.of_member(id, member, Decoration::Volatile).is_some(),
            });
        }
        let size = size.checked_next_multiple_of(align).unwrap_or(u32::MAX);
        let mut explicit = 0;
        for member in &members {
            let layout = self.member_layout(member, Layout { explicit: true, ..Layout::default() });
            let offset = member.offset.unwrap_or(member.natural);
            explicit = explicit.max(offset.saturating_add(self.size(member.ty, layout)?));
        }
        self.insert(id, Type::Struct { members: members.into() }, flat, scalar, size, align);
        if let Some(info) = self.infos.last_mut() {
            info.explicit = explicit;
        }
        Ok(())
    }

    /// Number of parts that a composite value has.
    pub fn parts(&self, id: u32) -> Result<u32, CompileError> {
        Ok(match &self.get(id)?.kind {
            Type::Vector { count, .. } | Type::Matrix { count, .. } => *count,
            Type::CooperativeMatrix(matrix) => matrix.count,
            Type::Array { length, .. } => *length,
            Type::Struct { members } => members.len() as u32,
            _ => return Err(CompileError::Invalid(format!("type {id} is no composite"))),
        })
    }

    /// The type of part `index` of a composite value and where its scalars begin.
    pub fn part_of_value(&self, id: u32, index: u32) -> Result<(u32, u32), CompileError> {
        let outside = || CompileError::Invalid(format!("index {index} into type {id}"));
        if index >= self.parts(id)? {
            return Err(outside());
        }
        match &self.get(id)?.kind {
            Type::Struct { members } => {
                let mut flat = 0;
                for member in &members[..index as usize] {
                    flat += self.get(member.ty)?.flat;
                }
                Ok((members[index as usize].ty, flat))
            }
            Type::Vector { component: part, .. }
            | Type::Matrix { column: part, .. }
            | Type::CooperativeMatrix(MatrixType { component: part, .. })
            | Type::Array { element: part, .. } => Ok((*part, self.get(*part)?.flat * index)),
            _ => Err(outside()),
        }
    }

    /// The types of a value's scalars, in order.
    pub fn scalars(&self, id: u32, out: &mut Vec<Scalar>) -> Result<(), CompileError> {
        let info = self.get(id)?;
        if let Some(scalar) = info.scalar {
            out.extend(std::iter::repeat_n(scalar, info.flat as usize));
            return Ok(());
        }
        match &info.kind {
            Type::Array { element, length, .. } => {
                for _ in 0..*length {
                    self.scalars(*element, out)?;
                }
            }
            Type::Struct { members } => {
                for member in members.iter() {
                    self.scalars(member.ty, out)?;
                }
            }
            _ => return Err(CompileError::NotImplemented(format!("values of type {:?}", info.kind))),
        }
        Ok(())
    }
}
