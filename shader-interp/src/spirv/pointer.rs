//! Pointers: variables, access chains, and the places that they come to.

use super::lowerer::{Def, Lowerer, Object};
use super::site::variable_name;
use super::types::{Layout, Type, UNTYPED};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{
    Alu, Binding, Conversion, DescriptorKind, Label, MAX_PRIVATE, Place, Scalar, Value, WorkgroupObject,
};
use crate::pass::builder::Builder;
use pellucid_memory::access::Reference;
use pellucid_memory::scope::StorageClasses;
use spirv::{Decoration, Op, StorageClass};

/// Bytes: workgroup variables begin at multiples of a cache line. Rows of their words are then runs that
/// check mode looks at together (`pellucid_memory::race::RUN`).
const WORKGROUP_ALIGNMENT: u32 = 64;

/// What a pointer points into.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Base {
    /// A buffer descriptor.
    Buffer {
        /// Index in the bindings.
        binding: u32,
        /// Array element.
        element: Option<Value>,
    },
    /// An address.
    Physical(Value),
    /// A workgroup variable.
    Workgroup(u32),
    /// A Function or Private variable.
    Private(u32),
    /// The push constant block.
    #[default]
    PushConstant,
    /// A built-in variable, by its number.
    Input(u32),
    /// One of several variables, or none; an index in the table of choices.
    Chosen {
        /// The index.
        choice: u32,
        /// The storage class of them all.
        class: StorageClasses,
    },
    /// An image or sampler variable.
    Resource {
        /// Index in the bindings.
        binding: u32,
        /// Array element.
        element: Option<Value>,
    },
    /// A texel (OpImageTexelPointer), by its index in the table of texels.
    Texel(u32),
}

/// A pointer while it is followed: nothing of it is a value of the shader but its offsets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pointer {
    /// What it points into.
    pub base: Base,
    /// The next index selects an element of a descriptor array.
    pub descriptor_array: bool,
    /// Byte offset, I32.
    pub offset: Option<Value>,
    /// Added to the offset.
    pub immediate: u32,
    /// Pointee type id.
    pub pointee: u32,
    /// Layout of the pointee.
    pub layout: Layout,
    /// The variable at its root, 0 for addresses.
    pub variable: u32,
    /// `Coherent` on the variable, a member on the way, or a parameter.
    pub coherent: bool,
    /// `Volatile`, likewise.
    pub volatile: bool,
}

impl Pointer {
    /// Storage class in the model's terms.
    pub fn class(&self) -> StorageClasses {
        match self.base {
            Base::Buffer { .. } | Base::Physical(_) | Base::PushConstant => StorageClasses::UNIFORM,
            Base::Workgroup(_) => StorageClasses::WORKGROUP,
            Base::Resource { .. } | Base::Texel(_) => StorageClasses::IMAGE,
            Base::Private(_) | Base::Input(_) => StorageClasses::empty(),
            Base::Chosen { class, .. } => class,
        }
    }

    /// Where the byte `extra` after the pointer's is.
    pub fn place(&self, extra: u32) -> Option<Place> {
        let (offset, immediate) = (self.offset, self.immediate.wrapping_add(extra));
        Some(match self.base {
            Base::Buffer { binding, element } => Place::Buffer { binding, element, offset, immediate },
            Base::Physical(address) => Place::Physical { address, immediate },
            Base::Workgroup(object) => Place::Workgroup { object, offset, immediate },
            Base::Private(object) => Place::Private { object, offset, immediate },
            Base::PushConstant => Place::PushConstant { offset, immediate },
            Base::Input(_) | Base::Resource { .. } | Base::Texel(_) | Base::Chosen { .. } => return None,
        })
    }

    /// Moves the pointer by constant bytes.
    pub fn advance(&mut self, b: &mut Builder, bytes: u32) {
        if let Base::Physical(address) = self.base
            && u64::from(self.immediate) + u64::from(bytes) > u64::from(u32::MAX >> 1)
        {
            let by = b.constant(Scalar::I64, u64::from(bytes));
            self.base = Base::Physical(b.add(address, by));
        } else {
            self.immediate = self.immediate.wrapping_add(bytes);
        }
    }

    /// Moves the pointer by `index * stride` bytes; the index is of any integer type.
    pub fn index(&mut self, b: &mut Builder, index: Value, signed: bool, stride: u32) {
        let width = b.scalar(index);
        let narrow = matches!(width, Scalar::I8 | Scalar::I16);
        let widen = if narrow && !signed { Conversion::UConvert } else { Conversion::SConvert };
        if let Base::Physical(address) = self.base {
            let wide = b.convert(widen, Scalar::I64, index);
            match b.constant_bits(wide) {
                Some(k) if k < 1 << 31 && k * u64::from(stride) < 1 << 31 => {
                    self.advance(b, (k * u64::from(stride)) as u32);
                }
                _ => {
                    let bytes = b.scale(wide, u64::from(stride));
                    self.base = Base::Physical(b.add(address, bytes));
                }
            }
            return;
        }
        let index = b.convert(widen, Scalar::I32, index);
        if let Some(k) = b.constant_bits(index) {
            self.immediate = self.immediate.wrapping_add((k as u32).wrapping_mul(stride));
            return;
        }
        let bytes = b.scale(index, u64::from(stride));
        self.offset = Some(match self.offset {
            Some(offset) => b.add(offset, bytes),
            None => bytes,
        });
    }
}

impl Lowerer<'_> {
    /// True if the id is an OpVariable outside functions.
    pub fn is_global_variable(&self, id: u32) -> bool {
        self.module
            .defined
            .get(id as usize)
            .filter(|&&word| word != 0)
            .and_then(|&word| self.module.stream.at(word).ok())
            .is_some_and(|i| {
                i.op == Op::Variable && i.rest(3).first() != Some(&(StorageClass::Function as u32))
            })
    }

    /// The pointer that an id is.
    pub fn pointer(&mut self, id: u32) -> Result<Pointer, CompileError> {
        match self.defs.get(id as usize) {
            Some(Def::Pointer(index)) => Ok(self.pointers[*index as usize]),
            Some(Def::One(address)) => {
                let address = *address;
                self.physical(id, address)
            }
            Some(Def::Many(..)) if let Some(words) = self.words_of(id) => self.pointer_of_words(id, &words),
            Some(Def::None) if self.is_global_variable(id) => {
                let pointer = self.global_variable(id)?;
                self.define_pointer(id, pointer);
                Ok(pointer)
            }
            _ => Err(CompileError::Invalid(format!("id {id} is no pointer that can be used here"))),
        }
    }

    /// Makes an id stand for a pointer.
    pub fn define_pointer(&mut self, id: u32, pointer: Pointer) {
        self.defs[id as usize] = Def::Pointer(self.pointers.len() as u32);
        self.pointers.push(pointer);
    }

    fn physical(&self, id: u32, address: Value) -> Result<Pointer, CompileError> {
        match self.types.get(self.type_of(id)?)?.kind {
            Type::Pointer { class: StorageClass::PhysicalStorageBuffer, pointee, .. } => Ok(Pointer {
                base: Base::Physical(address),
                pointee,
                layout: Layout { explicit: true, ..Layout::default() },
                coherent: self.module.decorations.has(id, Decoration::Coherent),
                volatile: self.module.decorations.has(id, Decoration::Volatile),
                ..Pointer::default()
            }),
            _ => Err(CompileError::Invalid(format!("id {id} is no pointer"))),
        }
    }

    /// A pointer as a value: its address (I64), or for logical pointers the byte offset (I32) in their
    /// variable.
    pub fn pointer_value(&mut self, id: u32) -> Result<Value, CompileError> {
        let pointer = self.pointer(id)?;
        Ok(match pointer.base {
            Base::Physical(address) => {
                let by = self.b.constant(Scalar::I64, u64::from(pointer.immediate));
                self.b.add(address, by)
            }
            _ => {
                let by = self.b.int(pointer.immediate);
                match pointer.offset {
                    Some(offset) => self.b.add(offset, by),
                    None => by,
                }
            }
        })
    }

    /// Blocks of workgroup memory that the entry point names and does not access: their initialisers are
    /// those of the blocks over which they lie, too.
    pub fn zeroed_blocks(&mut self) -> Result<(), CompileError> {
        for id in self.module.interface.clone() {
            if !self.is_global_variable(id) {
                continue;
            }
            let i = self.module.stream.at(self.module.defined[id as usize])?;
            let Ok((class, pointee)) = self.variable_type(&i) else { continue };
            let block = self.module.decorations.has(pointee, Decoration::Block);
            if class == StorageClass::Workgroup && i.initializer().is_some() && block {
                self.pointer(id)?;
            }
        }
        Ok(())
    }

    fn global_variable(&mut self, id: u32) -> Result<Pointer, CompileError> {
        let i = self.module.stream.at(self.module.defined[id as usize])?;
        let (class, pointee) = self.variable_type(&i)?;
        if class != StorageClass::Private && self.types.get(pointee)?.matrix {
            return Err(i.invalid("holds a cooperative matrix, outside of Function and Private storage"));
        }
        let mut pointer = Pointer {
            base: Base::PushConstant,
            pointee,
            variable: id,
            coherent: self.module.decorations.has(id, Decoration::Coherent),
            volatile: self.module.decorations.has(id, Decoration::Volatile),
            ..Pointer::default()
        };
        let explicit = Layout { explicit: true, ..Layout::default() };
        match class {
            StorageClass::Uniform | StorageClass::StorageBuffer => {
                let (binding, array) = self.binding(id, class, pointee)?;
                pointer.base = Base::Buffer { binding, element: None };
                pointer.descriptor_array = array;
                pointer.layout = explicit;
            }
            StorageClass::UniformConstant => {
                let (binding, array) = self.binding(id, class, pointee)?;
                pointer.base = Base::Resource { binding, element: None };
                pointer.descriptor_array = array;
            }
            StorageClass::PushConstant => {
                pointer.layout = explicit;
                let size = self.types.size(pointee, explicit)?;
                self.push_constant_bytes = self.push_constant_bytes.max(size);
            }
            StorageClass::Workgroup => {
                let blocks = self.module.decorations.has(pointee, Decoration::Block);
                if blocks {
                    pointer.layout = explicit;
                }
                let zeroed = i.initializer().is_some();
                let object = self.workgroup_object(id, pointee, pointer.layout, zeroed)?;
                pointer.base = Base::Workgroup(object);
                pointer.immediate = self.workgroup[object as usize].offset;
            }
            StorageClass::Private => {
                pointer.base = Base::Private(self.private_object(id, pointee, None)?);
                let Base::Private(object) = pointer.base else { return Ok(pointer) };
                pointer.immediate = self.objects[object as usize].offset;
            }
            StorageClass::Input => {
                let built_in = self.module.decorations.of(id, Decoration::BuiltIn).ok_or_else(|| {
                    CompileError::NotImplemented("Input variable without BuiltIn in a compute shader".into())
                })?;
                pointer.base = Base::Input(built_in);
            }
            other => return Err(CompileError::NotImplemented(format!("storage class {other:?}"))),
        }
        Ok(pointer)
    }

    /// The binding of a descriptor variable, and whether it is an array of descriptors.
    fn binding(&mut self, id: u32, class: StorageClass, pointee: u32) -> Result<(u32, bool), CompileError> {
        let (element, count, array) = match self.types.get(pointee)?.kind {
            Type::Array { element, length, .. } => (element, length, true),
            _ => (pointee, 1, false),
        };
        if let Some(&binding) = self.binding_of.get(&id) {
            return Ok((binding, array));
        }
        let kind = self.descriptor_kind(class, element)?;
        let decorations = &self.module.decorations;
        let (Some(set), Some(number)) =
            (decorations.of(id, Decoration::DescriptorSet), decorations.of(id, Decoration::Binding))
        else {
            return Err(CompileError::Invalid(format!("variable {id} has no DescriptorSet and Binding")));
        };
        let binding = self.bindings.len() as u32;
        let name = variable_name(&self.module, id);
        self.bindings.push(Binding { set, binding: number, kind, count, name, written: false });
        self.binding_of.insert(id, binding);
        Ok((binding, array))
    }

    fn descriptor_kind(&self, class: StorageClass, ty: u32) -> Result<DescriptorKind, CompileError> {
        const BUFFER: u32 = spirv::Dim::DimBuffer as u32;
        let image = |id: u32| match &self.types.get(id)?.kind {
            Type::Image(image) => Ok(*image),
            _ => Err(CompileError::Invalid(format!("type {id} is no image"))),
        };
        Ok(match (class, &self.types.get(ty)?.kind) {
            (StorageClass::StorageBuffer, Type::Struct { .. }) => DescriptorKind::StorageBuffer,
            (StorageClass::Uniform, Type::Struct { .. }) => {
                if self.module.decorations.has(ty, Decoration::BufferBlock) {
                    DescriptorKind::StorageBuffer
                } else {
                    DescriptorKind::UniformBuffer
                }
            }
            (StorageClass::UniformConstant, Type::Sampler) => DescriptorKind::Sampler,
            (StorageClass::UniformConstant, Type::SampledImage { image: id }) => match image(*id)?.dim {
                BUFFER => DescriptorKind::UniformTexelBuffer,
                _ => DescriptorKind::CombinedImageSampler,
            },
            (StorageClass::UniformConstant, Type::Image(image)) => match (image.dim, image.sampled) {
                (BUFFER, 2) => DescriptorKind::StorageTexelBuffer,
                (BUFFER, _) => DescriptorKind::UniformTexelBuffer,
                (_, 2) => DescriptorKind::StorageImage,
                _ => DescriptorKind::SampledImage,
            },
            (class, kind) => {
                return Err(CompileError::NotImplemented(format!("{class:?} variable of type {kind:?}")));
            }
        })
    }

    fn workgroup_object(
        &mut self,
        id: u32,
        pointee: u32,
        layout: Layout,
        zeroed: bool,
    ) -> Result<u32, CompileError> {
        let size = self.types.size(pointee, layout)?;
        let offset = if layout.explicit && self.lies_over_others(id) {
            0
        } else {
            self.reserve_for_blocks()?;
            self.workgroup_bytes.next_multiple_of(WORKGROUP_ALIGNMENT)
        };
        let end = offset.checked_add(size).filter(|&end| end <= 1 << 24);
        let end = end.ok_or_else(|| CompileError::Limit("more than 16 MiB of workgroup memory".into()))?;
        self.workgroup_bytes = self.workgroup_bytes.max(end);
        let object = self.workgroup.len() as u32;
        let name = variable_name(&self.module, id);
        self.workgroup.push(WorkgroupObject { offset, size, reference: Reference(object), zeroed, name });
        Ok(object)
    }

    /// A new object in private memory.
    pub fn private_object(
        &mut self,
        variable: u32,
        pointee: u32,
        owner: Option<Label>,
    ) -> Result<u32, CompileError> {
        let info = self.types.get(pointee)?;
        if info.flat == 0 && !matches!(info.kind, Type::Struct { .. } | Type::Array { .. }) {
            return Err(CompileError::NotImplemented(format!("variable of type {:?}", info.kind)));
        }
        let offset = self.private_bytes;
        let end = offset.checked_add(info.size).filter(|&end| end <= MAX_PRIVATE);
        let end = end.ok_or_else(|| CompileError::Limit("more than 64 MiB of private memory".into()))?;
        let size = info.size;
        self.private_bytes = end.next_multiple_of(8);
        self.objects.push(Object { size, offset, variable, ty: pointee, owner });
        Ok(self.objects.len() as u32 - 1)
    }

    /// OpAccessChain, OpInBoundsAccessChain, OpPtrAccessChain, OpInBoundsPtrAccessChain.
    pub fn access_chain(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let base = i.id(i.base())?;
        let mut pointer = self.pointer(base)?;
        if i.untyped() {
            self.interpret(&mut pointer, i.id(3)?)?;
            if !pointer.layout.explicit && !self.types.is_natural(pointer.pointee) {
                return Err(i.refuse("with a Base Type of another layout than what it points into"));
            }
        }
        if matches!(i.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain) {
            // What is not laid out explicitly has no strides but its own.
            let stride = match self.types.get(self.type_of(base)?)?.kind {
                Type::Pointer { stride: Some(stride), .. } if pointer.layout.explicit => stride,
                _ => self.types.size(pointer.pointee, pointer.layout)?,
            };
            let at = i.indices() - 1;
            let element = self.scalar_operand(i, at)?;
            let signed = self.types.signed(self.type_of(i.id(at)?)?);
            pointer.index(&mut self.b, element, signed, stride);
        }
        for k in i.indices()..i.len() {
            self.step(&mut pointer, i, k)?;
        }
        let decorations = &self.module.decorations;
        let result = i.id(2)?;
        pointer.coherent |= decorations.has(result, Decoration::Coherent);
        pointer.volatile |= decorations.has(result, Decoration::Volatile);
        if let Type::Pointer { pointee, .. } = self.types.get(i.id(1)?)?.kind
            && pointee != pointer.pointee
            && pointee != UNTYPED
            && self.types.get(pointee)?.flat != self.types.get(pointer.pointee)?.flat
        {
            return Err(i.invalid("has another result type than its indices lead to"));
        }
        self.define_pointer(result, pointer);
        Ok(())
    }

    /// One index of an access chain.
    fn step(&mut self, pointer: &mut Pointer, i: &Instruction<'_>, k: usize) -> Result<(), CompileError> {
        let id = i.id(k)?;
        let index = self.value(id)?;
        if !matches!(self.b.scalar(index), Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64) {
            return Err(i.invalid("has an index that is no integer"));
        }
        if pointer.descriptor_array {
            let Type::Array { element, .. } = self.types.get(pointer.pointee)?.kind else {
                return Err(i.invalid("indexes no array"));
            };
            let index = self.int_value(index);
            let index = if self.b.constant_bits(index) == Some(0) { None } else { Some(index) };
            pointer.base = match pointer.base {
                Base::Buffer { binding, .. } => Base::Buffer { binding, element: index },
                Base::Resource { binding, .. } => Base::Resource { binding, element: index },
                other => other,
            };
            (pointer.descriptor_array, pointer.pointee) = (false, element);
            return Ok(());
        }
        if let Type::Struct { members } = &self.types.get(pointer.pointee)?.kind {
            let members = members.clone();
            let number = self.constant_u32(id)?;
            let (ty, offset, layout) = self.types.part(pointer.pointee, pointer.layout, number)?;
            let member = members.get(number as usize);
            pointer.coherent |= member.is_some_and(|member| member.coherent);
            pointer.volatile |= member.is_some_and(|member| member.volatile);
            pointer.advance(&mut self.b, offset);
            (pointer.pointee, pointer.layout) = (ty, layout);
            return Ok(());
        }
        let (element, stride, layout) = self.types.element(pointer.pointee, pointer.layout)?;
        let signed = self.types.signed(self.type_of(id)?);
        pointer.index(&mut self.b, index, signed, stride);
        (pointer.pointee, pointer.layout) = (element, layout);
        Ok(())
    }

    /// All components of a built-in variable.
    pub fn built_in(&mut self, number: u32) -> Result<Vec<Value>, CompileError> {
        let gap = |name: String| CompileError::NotImplemented(format!("built-in variable {name}"));
        let name = spirv::BuiltIn::from_u32(number).ok_or_else(|| gap(number.to_string()))?;
        if name == spirv::BuiltIn::WorkgroupSize {
            return Ok(self.local_size.map(|size| self.b.int(size)).to_vec());
        }
        let components = self.module.stage.built_in(name).ok_or_else(|| gap(format!("{name:?}")))?;
        Ok(components.iter().map(|&component| self.b.built_in(component)).collect())
    }

    /// Loads from a built-in variable, at the pointer's component.
    pub fn load_built_in(&mut self, number: u32, pointer: &Pointer) -> Result<Vec<Value>, CompileError> {
        let all = self.built_in(number)?;
        let count = self.types.get(pointer.pointee)?.flat as usize;
        if count == all.len() {
            return Ok(all);
        }
        let first = (pointer.immediate / 4) as usize;
        let Some(offset) = pointer.offset else {
            return all.get(first..first + count).map(<[Value]>::to_vec).ok_or_else(|| {
                CompileError::Invalid(format!("built-in variable {number} has no component {first}"))
            });
        };
        let by = self.b.int(pointer.immediate);
        let at = self.b.add(offset, by);
        let mut chosen = all[0];
        for (k, &component) in all.iter().enumerate().skip(1) {
            let here = self.b.int(4 * k as u32);
            let hit = self.b.alu(Alu::IEqual, Scalar::Bool, &[at, here]);
            chosen = self.b.select(hit, component, chosen);
        }
        Ok(vec![chosen])
    }
}
