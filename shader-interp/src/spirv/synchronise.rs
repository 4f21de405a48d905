//! Atomics, barriers and the shader clock: scopes and memory semantics (SPIR-V 3.25, 3.27).
//!
//! A module without the Vulkan memory model gets what its upgrade would have: Device scope becomes
//! QueueFamily, a release also makes available and an acquire also makes visible, and SequentiallyConsistent
//! is AcquireRelease, as the Vulkan environment treats it.

use super::lowerer::{Flat, Lowerer};
use super::memory::storage_classes;
use super::pointer::{Base, Pointer};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Conversion, OpKind, Scalar, Value};
use pellucid_memory::access::{Access, AtomicOp};
use pellucid_memory::scope::{Scope, Semantics};
use spirv::Op;

/// The opcode's operation and whether it has a value operand of its own.
fn atomic_op(op: Op) -> Option<AtomicOp> {
    Some(match op {
        Op::AtomicExchange => AtomicOp::Exchange,
        Op::AtomicCompareExchange => AtomicOp::CompareExchange,
        Op::AtomicIIncrement | Op::AtomicIAdd => AtomicOp::IAdd,
        Op::AtomicIDecrement | Op::AtomicISub => AtomicOp::ISub,
        Op::AtomicSMin => AtomicOp::SMin,
        Op::AtomicUMin => AtomicOp::UMin,
        Op::AtomicSMax => AtomicOp::SMax,
        Op::AtomicUMax => AtomicOp::UMax,
        Op::AtomicAnd => AtomicOp::And,
        Op::AtomicOr => AtomicOp::Or,
        Op::AtomicXor => AtomicOp::Xor,
        Op::AtomicFAddEXT => AtomicOp::FAdd,
        Op::AtomicFMinEXT => AtomicOp::FMin,
        Op::AtomicFMaxEXT => AtomicOp::FMax,
        _ => return None,
    })
}

impl Lowerer<'_> {
    /// Memory semantics of an id.
    pub fn semantics(&self, i: &Instruction<'_>, index: usize) -> Result<Semantics, CompileError> {
        let bits = self.constant_u32(i.id(index)?)?;
        let known = 0x2
            | 0x4
            | 0x8
            | 0x10
            | 0x40
            | 0x80
            | 0x100
            | 0x200
            | 0x400
            | 0x800
            | 0x1000
            | 0x2000
            | 0x4000
            | 0x8000;
        if bits & !known != 0 {
            return Err(i.refuse(&format!("with memory semantics {bits:#x}")));
        }
        if bits & 0x10 != 0 && self.module.vulkan_memory_model {
            return Err(i.invalid("has SequentiallyConsistent semantics in the Vulkan memory model"));
        }
        let acquire = bits & (0x2 | 0x8 | 0x10) != 0;
        let release = bits & (0x4 | 0x8 | 0x10) != 0;
        let implied = !self.module.vulkan_memory_model;
        Ok(Semantics {
            acquire,
            release,
            classes: storage_classes(bits),
            make_available: bits & 0x2000 != 0 || (implied && release),
            make_visible: bits & 0x4000 != 0 || (implied && acquire),
            volatile: bits & 0x8000 != 0,
        })
    }

    /// Atomic instructions: through buffer and workgroup pointers here, through texel pointers in `image`.
    pub fn op_atomic(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let store = i.op == Op::AtomicStore;
        let at = if store { 1 } else { 3 };
        let of = if store { self.type_of(i.id(4)?)? } else { i.id(1)? };
        let pointer = self.pointer_to(i.id(at)?, of)?;
        let scalar = self.types.scalar(pointer.pointee)?;
        let results = if store { &[][..] } else { &[scalar] };
        let values =
            self.at_each_root(&pointer, results, &mut |lowerer, pointer| lowerer.atomic_at(i, pointer, at))?;
        if store { Ok(()) } else { self.set(i, &values) }
    }

    /// An atomic instruction whose pointer is operand `at`, through that pointer.
    fn atomic_at(&mut self, i: &Instruction<'_>, pointer: &Pointer, at: usize) -> Result<Flat, CompileError> {
        let scope = self.scope(i.id(at + 1)?)?;
        let semantics = self.semantics(i, at + 2)?;
        let scalar = self.types.scalar(pointer.pointee)?;
        let access = self.atomic_access(i, pointer, scalar, scope, semantics)?;
        if i.op != Op::AtomicLoad {
            self.written(pointer);
        }
        let site = self.site(i, pointer.variable);
        let texel = match pointer.base {
            Base::Texel(texel) => Some(self.texels[texel as usize].clone()),
            _ => None,
        };
        let place = pointer.place(0);
        if i.op == Op::AtomicLoad {
            let value = match (texel, place) {
                (Some(texel), _) => {
                    let kind = OpKind::ImageAtomicLoad { image: texel.image, access };
                    self.b.one(kind, scalar, &texel.coordinates, site)
                }
                (None, Some(place)) => self.b.one(OpKind::Load { place, access }, scalar, &[], site),
                _ => return Err(i.invalid("is through a pointer to an opaque object")),
            };
            return Ok(Flat::from_slice(&[value]));
        }
        if i.op == Op::AtomicStore {
            let value = self.scalar_operand(i, 4)?;
            self.same_scalar(i, value, scalar)?;
            match (texel, place) {
                (Some(texel), _) => {
                    let mut arguments = texel.coordinates.clone();
                    arguments.push(value);
                    self.b.op(OpKind::ImageAtomicStore { image: texel.image, access }, &[], &arguments, site);
                }
                (None, Some(place)) => {
                    self.b.op(OpKind::Store { place, access }, &[], &[value], site);
                }
                _ => return Err(i.invalid("is through a pointer to an opaque object")),
            }
            return Ok(Flat::new());
        }
        let op = atomic_op(i.op).ok_or_else(|| i.refuse(""))?;
        let (access, arguments) = self.atomic_operands(i, op, access, scalar)?;
        let value = match (texel, place) {
            (Some(texel), _) => {
                let mut all = texel.coordinates.clone();
                all.extend(arguments);
                self.b.one(OpKind::ImageAtomic { op, image: texel.image, access }, scalar, &all, site)
            }
            (None, Some(place)) => self.b.one(OpKind::Atomic { op, place, access }, scalar, &arguments, site),
            _ => return Err(i.invalid("is through a pointer to an opaque object")),
        };
        Ok(Flat::from_slice(&[value]))
    }

    fn atomic_operands(
        &mut self,
        i: &Instruction<'_>,
        op: AtomicOp,
        mut access: Access,
        scalar: Scalar,
    ) -> Result<(Access, Vec<Value>), CompileError> {
        let arguments = match i.op {
            Op::AtomicIIncrement | Op::AtomicIDecrement => vec![self.b.constant(scalar, 1)],
            _ if op == AtomicOp::CompareExchange => {
                access.unequal = self.semantics(i, 6)?;
                vec![self.scalar_operand(i, 7)?, self.scalar_operand(i, 8)?]
            }
            _ => vec![self.scalar_operand(i, 6)?],
        };
        for &value in &arguments {
            self.same_scalar(i, value, scalar)?;
        }
        Ok((access, arguments))
    }

    fn same_scalar(&self, i: &Instruction<'_>, value: Value, scalar: Scalar) -> Result<(), CompileError> {
        if self.b.scalar(value) == scalar {
            Ok(())
        } else {
            Err(i.invalid("has a value of another type than the pointee's"))
        }
    }

    fn atomic_access(
        &self,
        i: &Instruction<'_>,
        pointer: &Pointer,
        scalar: Scalar,
        scope: Scope,
        semantics: Semantics,
    ) -> Result<Access, CompileError> {
        if pointer.class().is_empty() || scalar == Scalar::Bool || pointer.base == Base::PushConstant {
            return Err(i.refuse("through a pointer of this storage class or type"));
        }
        let mut access = Access::plain(pointer.class(), scalar.bytes() as u8, 1);
        access.non_private = true;
        access.atomic = Some(scope);
        access.semantics = semantics;
        access.volatile = semantics.volatile || (!self.module.vulkan_memory_model && pointer.volatile);
        Ok(access)
    }

    pub fn op_control_barrier(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let execution = self.scope(i.id(1)?)?;
        if !matches!(execution, Scope::Workgroup | Scope::Subgroup) {
            return Err(i.refuse(&format!("at execution scope {execution:?}")));
        }
        if execution == Scope::Subgroup {
            self.sees_convergence();
        }
        let memory = self.scope(i.id(2)?)?;
        let semantics = self.semantics(i, 3)?;
        let site = self.site(i, 0);
        self.b.op(OpKind::ControlBarrier { execution, memory, semantics }, &[], &[], site);
        Ok(())
    }

    pub fn op_memory_barrier(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let scope = self.scope(i.id(1)?)?;
        let semantics = self.semantics(i, 2)?;
        let site = self.site(i, 0);
        self.b.op(OpKind::MemoryBarrier { scope, semantics }, &[], &[], site);
        Ok(())
    }

    /// OpReadClockKHR: a 64-bit integer or a vector of two.
    pub fn op_read_clock(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let scope = self.scope(i.id(3)?)?;
        let site = self.site(i, 0);
        let clock = self.b.one(OpKind::ReadClock(scope), Scalar::I64, &[], site);
        if self.types.get(i.id(1)?)?.flat == 2 {
            let words = self.b.op(OpKind::Unpack64, &[Scalar::I32, Scalar::I32], &[clock], site);
            return self.set(i, &words);
        }
        self.set(i, &[clock])
    }

    /// Bool as I32 0 or 1, for operations on lanes' words; other values as they are.
    pub fn word(&mut self, value: Value) -> Value {
        if self.b.scalar(value) == Scalar::Bool {
            self.b.convert(Conversion::BoolToInt, Scalar::I32, value)
        } else {
            value
        }
    }
}
