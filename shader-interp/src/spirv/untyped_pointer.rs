//! SPV_KHR_untyped_pointers: pointers that do not say what they point to. An instruction through one says it
//! itself: an access chain by its Base Type, others by the type of what they load or store, copies of so many
//! bytes as bytes. In all else they are like typed ones.

use super::lowerer::{Flat, Lowerer};
use super::memory::MemoryOperands;
use super::pointer::Pointer;
use super::types::{Layout, Type, UNTYPED};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Node, OpKind, Scalar, Value};
use pellucid_memory::access::Site;
use spirv::{Decoration, Op, StorageClass};

/// Bytes that are copied at a time.
const ROUND: u32 = 16;
/// Most rounds that are no loop.
const ROUNDS: u32 = 16;

/// One of the two sides of a copy.
pub(crate) struct Side {
    pub pointer: Pointer,
    pub operands: MemoryOperands,
    pub site: Site,
}

impl Lowerer<'_> {
    /// True if the id is an untyped pointer.
    pub fn is_untyped(&self, id: u32) -> bool {
        let ty = self.module.result_type.get(id as usize).copied().unwrap_or(0);
        matches!(self.types.get(ty).map(|info| &info.kind), Ok(Type::Pointer { pointee: UNTYPED, .. }))
    }

    /// The pointer that an id is, to a value of type `ty` if it does not say itself.
    pub fn pointer_to(&mut self, id: u32, ty: u32) -> Result<Pointer, CompileError> {
        let mut pointer = self.pointer(id)?;
        if self.is_untyped(id) {
            self.interpret(&mut pointer, ty)?;
        }
        Ok(pointer)
    }

    /// Has a pointer point to a value of type `ty`.
    pub fn interpret(&self, pointer: &mut Pointer, ty: u32) -> Result<(), CompileError> {
        let descriptors = match self.types.get(ty)?.kind {
            Type::Array { element, .. } => match self.types.get(element)?.kind {
                Type::Struct { .. } => self.module.decorations.has(element, Decoration::Block),
                Type::Image(_) | Type::Sampler | Type::SampledImage { .. } => true,
                _ => false,
            },
            _ => false,
        };
        // What is no array of descriptors is the first of them, or is in it.
        pointer.descriptor_array &= descriptors;
        pointer.pointee = ty;
        pointer.layout = Layout { explicit: pointer.layout.explicit, ..Layout::default() };
        Ok(())
    }

    /// The storage class and the type of what OpVariable or OpUntypedVariableKHR allocates.
    pub fn variable_type(&self, i: &Instruction<'_>) -> Result<(StorageClass, u32), CompileError> {
        match self.types.get(i.id(1)?)?.kind {
            Type::Pointer { class, .. } if i.untyped() => {
                if i.len() <= 4 {
                    return Err(i.refuse("without a data type"));
                }
                Ok((class, i.id(4)?))
            }
            Type::Pointer { class, pointee, .. } if pointee != UNTYPED => Ok((class, pointee)),
            _ => Err(i.invalid("is not of pointer type")),
        }
    }

    /// Whether a block in workgroup memory lies over the others: all of them do, in a module with untyped
    /// pointers only those that are decorated so.
    pub fn lies_over_others(&self, variable: u32) -> bool {
        !self.module.untyped_pointers || self.module.decorations.has(variable, Decoration::Aliased)
    }

    /// Keeps the head of workgroup memory for the blocks that lie over each other.
    pub fn reserve_for_blocks(&mut self) -> Result<(), CompileError> {
        if !self.module.untyped_pointers {
            return Ok(());
        }
        let layout = Layout { explicit: true, ..Layout::default() };
        for &word in &self.module.globals {
            let i = self.module.stream.at(word)?;
            if i.op != Op::Variable || !self.module.decorations.has(i.id(2)?, Decoration::Aliased) {
                continue;
            }
            let Ok((StorageClass::Workgroup, ty)) = self.variable_type(&i) else { continue };
            if self.module.decorations.has(ty, Decoration::Block) {
                self.workgroup_bytes = self.workgroup_bytes.max(self.types.size(ty, layout)?);
            }
        }
        Ok(())
    }

    /// OpCopyMemorySized through an untyped pointer: bytes.
    pub fn copy_bytes(&mut self, target: Side, source: Side, bytes: Value) -> Result<(), CompileError> {
        let Some(bytes) = self.b.constant_bits(bytes).map(|bits| bits as u32) else {
            let zero = self.b.int(0);
            let some = self.b.alu(Alu::ULess, Scalar::Bool, &[zero, bytes]);
            self.b.open();
            self.copy_loop(&target, &source, bytes, 1)?;
            let then = self.b.close();
            self.b.push(Node::If { condition: some, then, otherwise: Vec::new() });
            return Ok(());
        };
        let rounds = bytes / ROUND;
        if rounds > ROUNDS {
            let end = self.b.int(rounds * ROUND);
            self.copy_loop(&target, &source, end, ROUND)?;
        } else {
            for round in 0..rounds {
                self.copy_some(&target, &source, None, round * ROUND, ROUND)?;
            }
        }
        self.copy_some(&target, &source, None, rounds * ROUND, bytes % ROUND)
    }

    /// `step` bytes at a time, until `end`, which is more than 0.
    fn copy_loop(&mut self, target: &Side, source: &Side, end: Value, step: u32) -> Result<(), CompileError> {
        let (zero, by) = (self.b.int(0), self.b.int(step));
        let count = self.b.begin_count(zero, by);
        self.copy_some(target, source, Some(count.at), 0, step)?;
        self.b.end_count(count, end);
        Ok(())
    }

    /// `count` bytes, `at` and `by` bytes behind the pointers.
    fn copy_some(
        &mut self,
        target: &Side,
        source: &Side,
        at: Option<Value>,
        by: u32,
        count: u32,
    ) -> Result<(), CompileError> {
        if count == 0 {
            return Ok(());
        }
        self.b.check_size()?;
        let moved = |lowerer: &mut Self, side: &Side| {
            let mut pointer = side.pointer;
            if let Some(at) = at {
                pointer.index(&mut lowerer.b, at, false, 1);
            }
            pointer.advance(&mut lowerer.b, by);
            pointer
        };
        let opaque = || CompileError::Invalid("copy of the bytes of an opaque object".into());
        let types = vec![Scalar::I8; count as usize];
        let from = moved(self, source);
        let bytes = self.at_each_root(&from, &types, &mut |lowerer, pointer| {
            let site = lowerer.site_through(source.site, pointer.variable)?;
            let access = lowerer.access(pointer, source.operands, Scalar::I8, count as usize, false);
            let place = pointer.place(0).ok_or_else(opaque)?;
            Ok(Flat::from_slice(&lowerer.b.op(OpKind::Load { place, access }, &types, &[], site)))
        })?;
        let to = moved(self, target);
        self.at_each_root(&to, &[], &mut |lowerer, pointer| {
            let site = lowerer.site_through(target.site, pointer.variable)?;
            let access = lowerer.access(pointer, target.operands, Scalar::I8, count as usize, true);
            let place = pointer.place(0).ok_or_else(opaque)?;
            lowerer.written(pointer);
            lowerer.b.op(OpKind::Store { place, access }, &[], &bytes, site);
            Ok(Flat::new())
        })?;
        Ok(())
    }
}
