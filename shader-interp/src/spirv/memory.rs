//! Loads, stores and copies, with memory operands (SPIR-V 3.26 *Memory Operands*).
//!
//! A module without the Vulkan memory model is given the accesses that an upgrade to it would give:
//! `Coherent` means NonPrivatePointer with availability and visibility at QueueFamily scope, Workgroup memory
//! has them at Workgroup scope, and `Volatile` is kept.

use super::lowerer::{Def, Flat, Lowerer};
use super::pointer::{Base, Pointer};
use super::types::{Layout, Leaf, Type};
use super::untyped_pointer::Side;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Conversion, OpKind, Scalar, Value};
use pellucid_memory::access::{Access, Site};
use pellucid_memory::scope::{Scope, StorageClasses};
use smallvec::SmallVec;
use spirv::{Decoration, Op, StorageClass};

/// Components of one load or store.
const MAX_COMPONENTS: usize = 16;

/// Memory operands of one access.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemoryOperands {
    /// NonPrivatePointer, or implied.
    pub non_private: bool,
    pub volatile: bool,
    /// MakePointerAvailable.
    pub available: Option<Scope>,
    /// MakePointerVisible.
    pub visible: Option<Scope>,
    /// Of a cooperative matrix: see [`Access::dealt`].
    pub dealt: bool,
}

/// A run of leaves: the first one's byte offset, its type, and the places of its components in the value.
struct Run {
    offset: u32,
    scalar: Scalar,
    flat: SmallVec<[u32; 16]>,
}

fn runs(mut leaves: Vec<Leaf>) -> SmallVec<[Run; 1]> {
    leaves.sort_by_key(|leaf| leaf.offset);
    let mut runs: SmallVec<[Run; 1]> = SmallVec::new();
    for leaf in leaves {
        let size = bytes(leaf.scalar);
        match runs.last_mut() {
            Some(run)
                if run.scalar == leaf.scalar
                    && run.flat.len() < MAX_COMPONENTS
                    && run.offset.wrapping_add(size * run.flat.len() as u32) == leaf.offset =>
            {
                run.flat.push(leaf.flat);
            }
            _ => {
                let flat = SmallVec::from_slice(&[leaf.flat]);
                runs.push(Run { offset: leaf.offset, scalar: leaf.scalar, flat });
            }
        }
    }
    runs
}

/// Bytes in memory; Bool is kept as 4.
fn bytes(scalar: Scalar) -> u32 {
    if scalar == Scalar::Bool { 4 } else { scalar.bytes() }
}

impl Lowerer<'_> {
    /// A scope id, in the terms of the model.
    pub fn scope(&self, id: u32) -> Result<Scope, CompileError> {
        Ok(match self.constant_u32(id)? {
            1 if self.module.vulkan_memory_model => Scope::Device,
            // Without the Vulkan memory model, Device is lowered to QueueFamily.
            1 | 5 => Scope::QueueFamily,
            2 => Scope::Workgroup,
            3 => Scope::Subgroup,
            4 => Scope::Invocation,
            other => return Err(CompileError::NotImplemented(format!("scope {other}"))),
        })
    }

    /// Memory operands from word `at` on, and the index of the word after them.
    pub fn memory_operands(
        &self,
        i: &Instruction<'_>,
        at: usize,
    ) -> Result<(MemoryOperands, usize), CompileError> {
        let mut operands = MemoryOperands::default();
        let Some(&mask) = i.rest(at).first() else { return Ok((operands, at)) };
        let mut next = at + 1;
        if mask & !0x3f != 0 {
            return Err(i.refuse(&format!("with memory operands {mask:#x}")));
        }
        operands.volatile = mask & 1 != 0;
        if mask & 2 != 0 {
            i.word(next)?;
            next += 1;
        }
        if mask & 8 != 0 {
            operands.available = Some(self.scope(i.id(next)?)?);
            next += 1;
        }
        if mask & 0x10 != 0 {
            operands.visible = Some(self.scope(i.id(next)?)?);
            next += 1;
        }
        operands.non_private = mask & 0x20 != 0 || mask & 0x18 != 0;
        Ok((operands, next))
    }

    /// How a plain access goes.
    pub fn access(
        &self,
        pointer: &Pointer,
        operands: MemoryOperands,
        scalar: Scalar,
        components: usize,
        write: bool,
    ) -> Access {
        let mut access = Access::plain(pointer.class(), bytes(scalar) as u8, components as u8);
        if let Base::Buffer { binding, .. } = pointer.base {
            access.read_as = self.bindings[binding as usize].kind.read_as();
        }
        access.dealt = operands.dealt;
        let (scope, volatile) = match pointer.base {
            Base::Workgroup(_) => (Some(Scope::Workgroup), false),
            Base::Buffer { .. } | Base::Physical(_) => {
                ((pointer.coherent || pointer.volatile).then_some(Scope::QueueFamily), pointer.volatile)
            }
            _ => (None, pointer.volatile),
        };
        self.declare(&mut access, &operands, write, (scope, volatile));
        access
    }

    /// What an access is by its memory or image operands; or, where the module does not declare the Vulkan
    /// memory model, also by what decorates its memory: the scope at which that is coherent, and Volatile.
    /// Memory counts as decorated where the
    /// [options](crate::interface::CompileOptions::coherent_workgroup) say so.
    pub(super) fn declare(
        &self,
        access: &mut Access,
        operands: &MemoryOperands,
        write: bool,
        (scope, volatile): (Option<Scope>, bool),
    ) {
        let decorated = !self.module.vulkan_memory_model;
        let taken = match access.class {
            StorageClasses::WORKGROUP => self.options.coherent_workgroup,
            _ => self.options.coherent_storage && access.is_of_storage() && !operands.non_private,
        };
        let scope = scope.filter(|_| decorated).or(taken.then_some(Scope::Workgroup));
        access.non_private = operands.non_private || scope.is_some();
        access.volatile = operands.volatile || (decorated && volatile);
        if write {
            access.available = scope.or(operands.available);
        } else {
            access.visible = scope.or(operands.visible);
        }
    }

    /// The runs of a value in memory.
    fn runs(&self, pointee: u32, layout: Layout) -> Result<SmallVec<[Run; 1]>, CompileError> {
        let info = self.types.get(pointee)?;
        if let (Type::Scalar { .. } | Type::Vector { .. } | Type::Pointer { .. }, Some(scalar)) =
            (&info.kind, info.scalar)
            && layout.component_stride == 0
            && info.flat as usize <= MAX_COMPONENTS
        {
            let flat = (0..info.flat).collect();
            return Ok(SmallVec::from_buf([Run { offset: 0, scalar, flat }]));
        }
        self.check_flat(pointee)?;
        let mut leaves = Vec::new();
        self.types.leaves(pointee, layout, 0, &mut leaves)?;
        Ok(runs(leaves))
    }

    /// Loads the pointee, scalars in the value's order.
    pub fn load(
        &mut self,
        pointer: &Pointer,
        operands: MemoryOperands,
        site: Site,
    ) -> Result<Flat, CompileError> {
        if let Base::Input(number) = pointer.base {
            return Ok(Flat::from_vec(self.load_built_in(number, pointer)?));
        }
        if let Base::Chosen { .. } = pointer.base {
            let scalars = self.scalars(pointer.pointee)?;
            return self.at_each_root(pointer, &scalars, &mut |lowerer, pointer| {
                let site = lowerer.site_through(site, pointer.variable)?;
                lowerer.load(pointer, operands, site)
            });
        }
        if pointer.descriptor_array {
            return Err(CompileError::NotImplemented("load of an array of descriptors".into()));
        }
        let runs = self.runs(pointer.pointee, pointer.layout)?;
        let count = runs.iter().map(|run| run.flat.len()).sum();
        let mut values = Flat::from_elem(Value(u32::MAX), count);
        for run in runs {
            let Some(place) = pointer.place(run.offset) else {
                return Err(CompileError::Invalid("load through a pointer to an opaque object".into()));
            };
            let access = self.access(pointer, operands, run.scalar, run.flat.len(), false);
            // Booleans are words in memory that invocations share; promotion does the same for those of
            // private memory.
            let word = run.scalar == Scalar::Bool && !matches!(pointer.base, Base::Private(_));
            let stored = if word { Scalar::I32 } else { run.scalar };
            let results: SmallVec<[Scalar; 16]> = run.flat.iter().map(|_| stored).collect();
            let loaded = self.b.op(OpKind::Load { place, access }, &results, &[], site);
            for (&flat, &value) in run.flat.iter().zip(&loaded) {
                values[flat as usize] = if word {
                    let zero = self.b.int(0);
                    self.b.alu(Alu::INotEqual, Scalar::Bool, &[value, zero])
                } else {
                    value
                };
            }
        }
        Ok(values)
    }

    /// Stores scalars to the pointee.
    pub fn store(
        &mut self,
        pointer: &Pointer,
        values: &[Value],
        operands: MemoryOperands,
        site: Site,
    ) -> Result<(), CompileError> {
        if let Base::Chosen { .. } = pointer.base {
            self.at_each_root(pointer, &[], &mut |lowerer, pointer| {
                let site = lowerer.site_through(site, pointer.variable)?;
                lowerer.store(pointer, values, operands, site)?;
                Ok(Flat::new())
            })?;
            return Ok(());
        }
        let runs = self.runs(pointer.pointee, pointer.layout)?;
        if runs.iter().map(|run| run.flat.len()).sum::<usize>() != values.len() || pointer.descriptor_array {
            return Err(CompileError::Invalid("store of a value of another type than the pointee's".into()));
        }
        self.written(pointer);
        for run in runs {
            let Some(place) = pointer.place(run.offset) else {
                return Err(CompileError::Invalid(
                    "store through a pointer to an object that is read only".into(),
                ));
            };
            let access = self.access(pointer, operands, run.scalar, run.flat.len(), true);
            let word = run.scalar == Scalar::Bool && !matches!(pointer.base, Base::Private(_));
            let mut stored: SmallVec<[Value; 16]> = SmallVec::new();
            for &flat in &run.flat {
                let value = values[flat as usize];
                if self.b.scalar(value) != run.scalar {
                    return Err(CompileError::Invalid(
                        "store of a value of another type than the pointee's".into(),
                    ));
                }
                stored.push(if word {
                    self.b.convert(Conversion::BoolToInt, Scalar::I32, value)
                } else {
                    value
                });
            }
            self.b.op(OpKind::Store { place, access }, &[], &stored, site);
        }
        Ok(())
    }

    /// Notes that the shader writes through a descriptor.
    pub fn written(&mut self, pointer: &Pointer) {
        if let Base::Buffer { binding, .. } | Base::Resource { binding, .. } = pointer.base {
            self.bindings[binding as usize].written = true;
        }
    }

    pub fn op_load(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let pointer = self.pointer_to(i.id(3)?, i.id(1)?)?;
        if let Base::Resource { .. } = pointer.base {
            return self.load_handle(i, &pointer);
        }
        let (operands, _) = self.memory_operands(i, 4)?;
        let site = self.site(i, pointer.variable);
        let values = self.load(&pointer, operands, site)?;
        self.set(i, &values)
    }

    pub fn op_store(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let pointer = self.pointer_to(i.id(1)?, self.type_of(i.id(2)?)?)?;
        let (operands, _) = self.memory_operands(i, 3)?;
        let site = self.site(i, pointer.variable);
        self.store_operand(&pointer, i, 2, operands, site)
    }

    /// Stores operand `index` to the pointee.
    pub fn store_operand(
        &mut self,
        pointer: &Pointer,
        i: &Instruction<'_>,
        index: usize,
        operands: MemoryOperands,
        site: Site,
    ) -> Result<(), CompileError> {
        if let (Some(Def::Null(ty)), Base::Private(_)) = (self.defs.get(i.id(index)? as usize), pointer.base)
            && *ty == pointer.pointee
        {
            return self.clear(pointer, site);
        }
        let values = self.operand(i, index)?;
        self.store(pointer, &values, operands, site)
    }

    /// Sets a pointee in private memory to zero in a loop.
    fn clear(&mut self, pointer: &Pointer, site: Site) -> Result<(), CompileError> {
        /// Bytes of a round.
        const ROUND: u32 = 64;
        let size = self.types.get(pointer.pointee)?.size;
        let (zero, round, end) = (self.b.int(0), self.b.int(ROUND), self.b.int(size / ROUND * ROUND));
        let count = self.b.begin_count(zero, round);
        let mut part = *pointer;
        part.index(&mut self.b, count.at, false, 1);
        self.store_zeros(&part, Scalar::I32, ROUND / 4, site)?;
        self.b.end_count(count, end);
        let mut rest = *pointer;
        rest.advance(&mut self.b, size / ROUND * ROUND);
        self.store_zeros(&rest, Scalar::I32, size % ROUND / 4, site)?;
        rest.advance(&mut self.b, size % ROUND / 4 * 4);
        self.store_zeros(&rest, Scalar::I8, size % 4, site)
    }

    fn store_zeros(
        &mut self,
        pointer: &Pointer,
        scalar: Scalar,
        count: u32,
        site: Site,
    ) -> Result<(), CompileError> {
        let Some(place) = pointer.place(0).filter(|_| count > 0) else { return Ok(()) };
        let access = self.access(pointer, MemoryOperands::default(), scalar, count as usize, true);
        let zeros = vec![self.b.constant(scalar, 0); count as usize];
        self.b.op(OpKind::Store { place, access }, &[], &zeros, site);
        Ok(())
    }

    /// OpCopyMemory and OpCopyMemorySized. A second group of memory operands is for the source.
    pub fn op_copy_memory(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let sized = i.op == Op::CopyMemorySized;
        let mut target = self.pointer(i.id(1)?)?;
        let mut source = self.pointer(i.id(2)?)?;
        let untyped = [self.is_untyped(i.id(1)?), self.is_untyped(i.id(2)?)];
        match untyped {
            [true, true] if !sized => return Err(i.invalid("is between untyped pointers")),
            [true, false] if !sized => self.interpret(&mut target, source.pointee)?,
            [false, true] if !sized => self.interpret(&mut source, target.pointee)?,
            _ => {}
        }
        let first = if sized { 4 } else { 3 };
        let (to, next) = self.memory_operands(i, first)?;
        let from = if i.len() > next { self.memory_operands(i, next)?.0 } else { to };
        let site = self.site(i, target.variable);
        let from_site = self.site(i, source.variable);
        if sized && untyped != [false; 2] {
            let bytes = self.int_operand(i, 3)?;
            let target = Side { pointer: target, operands: to, site };
            let source = Side { pointer: source, operands: from, site: from_site };
            return self.copy_bytes(target, source, bytes);
        }
        if sized {
            let bytes = self.constant_u32(i.id(3)?)?;
            let whole =
                |lowerer: &Self, p: &Pointer| lowerer.types.size(p.pointee, p.layout).ok() == Some(bytes);
            if !whole(self, &target) || !whole(self, &source) {
                return Err(i.refuse("of a part of an object"));
            }
        }
        self.copy(&mut target, &mut source, to, from, site, from_site)
    }

    /// Copies part by part while the value is too large to be in registers at once.
    fn copy(
        &mut self,
        target: &mut Pointer,
        source: &mut Pointer,
        to: MemoryOperands,
        from: MemoryOperands,
        site: Site,
        from_site: Site,
    ) -> Result<(), CompileError> {
        self.b.check_size()?;
        let info = self.types.get(source.pointee)?;
        if info.flat <= 64 || !matches!(info.kind, Type::Array { .. } | Type::Struct { .. }) {
            let values = self.load(source, from, from_site)?;
            return self.store(target, &values, to, site);
        }
        if info.flat > 1 << 20 {
            return Err(CompileError::Limit(format!("copy of {} scalars", info.flat)));
        }
        for k in 0..self.types.parts(source.pointee)? {
            let (mut t, mut s) = (*target, *source);
            for pointer in [&mut t, &mut s] {
                let (ty, offset, layout) = self.types.part(pointer.pointee, pointer.layout, k)?;
                pointer.advance(&mut self.b, offset);
                (pointer.pointee, pointer.layout) = (ty, layout);
            }
            self.copy(&mut t, &mut s, to, from, site, from_site)?;
        }
        Ok(())
    }

    /// OpVariable in a function.
    pub fn op_variable(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        if i.word(3)? != StorageClass::Function as u32 {
            return Err(i.invalid("in a function is not of class Function"));
        }
        let (_, pointee) = self.variable_type(i)?;
        let owner = self.calls.last().map(|&(_, label)| label);
        let id = i.id(2)?;
        let object = self.private_object(id, pointee, owner)?;
        let pointer = self.private_pointer(id, object, pointee);
        self.define_pointer(id, pointer);
        if let Some(initializer) = i.initializer() {
            self.store_operand(&pointer, i, initializer, MemoryOperands::default(), Site(0))?;
        }
        Ok(())
    }

    /// A pointer to a whole private object.
    pub fn private_pointer(&self, variable: u32, object: u32, pointee: u32) -> Pointer {
        let immediate = self.objects[object as usize].offset;
        Pointer { base: Base::Private(object), immediate, pointee, variable, ..Pointer::default() }
    }

    /// OpArrayLength: how many whole elements the descriptor's range holds after the array's offset.
    pub fn op_array_length(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let mut pointer = self.pointer(i.id(i.base())?)?;
        if i.untyped() {
            self.interpret(&mut pointer, i.id(3)?)?;
        }
        let chosen = matches!(pointer.base, Base::Chosen { .. });
        let count = self.at_each_root(&pointer, &[Scalar::I32], &mut |lowerer, pointer| {
            let nowhere = chosen && matches!(pointer.base, Base::Physical(_));
            let count = if nowhere { lowerer.b.int(0) } else { lowerer.array_length(i, pointer)? };
            Ok(Flat::from_slice(&[count]))
        })?;
        self.set(i, &count)
    }

    fn array_length(&mut self, i: &Instruction<'_>, pointer: &Pointer) -> Result<Value, CompileError> {
        let Base::Buffer { binding, element } = pointer.base else {
            return Err(i.refuse("of an array that is in no buffer descriptor"));
        };
        let (ty, offset, layout) = self.types.part(pointer.pointee, pointer.layout, i.word(i.base() + 1)?)?;
        let stride = self.types.stride(ty, layout)?;
        if stride == 0 {
            return Err(i.invalid("of an array without ArrayStride"));
        }
        let site = self.site(i, pointer.variable);
        let size = self.b.one(OpKind::BufferSize { binding, element }, Scalar::I32, &[], site);
        let offset = self.b.int(offset);
        let rest = self.b.alu(Alu::ISub, Scalar::I32, &[size, offset]);
        let short = self.b.alu(Alu::ULess, Scalar::Bool, &[size, offset]);
        let zero = self.b.int(0);
        let rest = self.b.select(short, zero, rest);
        Ok(if stride.is_power_of_two() {
            let amount = self.b.int(stride.trailing_zeros());
            self.b.alu(Alu::ShiftRightLogical, Scalar::I32, &[rest, amount])
        } else {
            let stride = self.b.int(stride);
            self.b.alu(Alu::UDiv, Scalar::I32, &[rest, stride])
        })
    }

    /// Copies a definition to another id, as OpCopyObject and calls do; decorations of the new id count too.
    pub fn alias(&mut self, from: u32, to: u32) -> Result<(), CompileError> {
        if let Ok(pointer) = self.logical_pointer(from) {
            let mut pointer = pointer;
            pointer.coherent |= self.module.decorations.has(to, Decoration::Coherent);
            pointer.volatile |= self.module.decorations.has(to, Decoration::Volatile);
            self.define_pointer(to, pointer);
            return Ok(());
        }
        match self.defs[from as usize] {
            Def::None if self.is_no_place(from) => {
                self.defs[to as usize] = Def::None;
                Ok(())
            }
            Def::None => Err(CompileError::Invalid(format!("id {from} is used before it is defined"))),
            def => {
                let (a, b) = (self.type_of(from)?, self.type_of(to)?);
                if a != b && self.types.get(a)?.flat != self.types.get(b)?.flat {
                    return Err(CompileError::Invalid(format!("ids {from} and {to} have different types")));
                }
                self.defs[to as usize] = def;
                Ok(())
            }
        }
    }

    /// An undefined or null pointer that is no value: it may be handed on, but not be used.
    fn is_no_place(&self, id: u32) -> bool {
        let word = self.module.defined.get(id as usize).copied().unwrap_or(0);
        self.module.stream.at(word).is_ok_and(|i| matches!(i.op, Op::Undef | Op::ConstantNull))
    }

    /// The pointer that an id is, if it is one that is no mere address.
    fn logical_pointer(&mut self, id: u32) -> Result<Pointer, CompileError> {
        match self.defs.get(id as usize) {
            Some(Def::Pointer(_) | Def::None) => self.pointer(id),
            _ => Err(CompileError::Invalid(format!("id {id} is no pointer"))),
        }
    }
}

/// Storage classes named by semantics bits (SPIR-V 3.25).
pub(crate) fn storage_classes(bits: u32) -> StorageClasses {
    let mut classes = StorageClasses::empty();
    for (bit, class) in [
        (0x40, StorageClasses::UNIFORM),
        (0x100, StorageClasses::WORKGROUP),
        (0x800, StorageClasses::IMAGE),
        (0x1000, StorageClasses::OUTPUT),
    ] {
        if bits & bit != 0 {
            classes |= class;
        }
    }
    classes
}
