//! Types, constants, specialization and execution modes.

use super::lowerer::{Def, Lowerer, MAX_SCALARS};
use super::memory::MemoryOperands;
use super::module::ExtendedSet;
use super::types::Type;
use super::words::{Instruction, declares_type};
use crate::CompileError;
use crate::ir::{Convergence, DerivativeGroup, Scalar, Value};
use pellucid_memory::access::Site;
use spirv::{Decoration, Op, StorageClass};

impl Lowerer<'_> {
    /// Takes up types, constants and global extended instructions in order.
    pub fn globals(&mut self) -> Result<(), CompileError> {
        self.read_float_controls()?;
        for index in 0..self.module.globals.len() {
            let i = self.module.stream.at(self.module.globals[index])?;
            self.global(&i)?;
        }
        Ok(())
    }

    fn global(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        use Op::*;
        match i.op {
            op if declares_type(op) || op == TypeForwardPointer => {
                let Lowerer { types, module, defs, b, .. } = self;
                let length = |id: u32| match defs.get(id as usize) {
                    Some(Def::One(value)) => match b.constant_bits(*value) {
                        Some(bits) => u32::try_from(bits)
                            .map_err(|_| CompileError::Limit(format!("array of {bits} elements"))),
                        None => Err(i.refuse("whose length is no constant")),
                    },
                    _ => Err(i.invalid("has no constant as its length")),
                };
                types.define(i, &module.decorations, length)
            }
            // Types of other stages are of no use here; whoever uses them is refused.
            TypeOpaque | TypeRayQueryKHR | TypeAccelerationStructureKHR => Err(i.refuse("")),
            ConstantTrue | ConstantFalse => {
                let value = self.b.constant(Scalar::Bool, u64::from(i.op == ConstantTrue));
                self.set(i, &[value])
            }
            SpecConstantTrue | SpecConstantFalse => {
                let default = u64::from(i.op == SpecConstantTrue);
                let bits = self.specialized(i, 4)?.map_or(default, |bits| u64::from(bits != 0));
                let value = self.b.constant(Scalar::Bool, bits);
                self.set(i, &[value])
            }
            Constant | SpecConstant => self.number(i),
            ConstantComposite | SpecConstantComposite => {
                let (values, id) = (self.constituents(i)?, i.id(2)?);
                if self.module.decorations.of(id, Decoration::BuiltIn)
                    == Some(spirv::BuiltIn::WorkgroupSize as u32)
                {
                    self.workgroup_size = Some(id);
                }
                self.set(i, &values)
            }
            ConstantNull => self.null(i),
            SpecConstantOp => self.specialized_operation(i),
            Undef => self.undefined(i),
            Variable => Ok(()),
            ExtInst => self.global_extended(i),
            _ => Err(i.refuse("")),
        }
    }

    fn number(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let scalar = self.types.scalar(i.id(1)?)?;
        if self.types.get(i.id(1)?)?.flat != 1 || scalar == Scalar::Bool {
            return Err(i.invalid("is of no number type"));
        }
        let mut bits = u64::from(i.word(3)?);
        if scalar.bytes() == 8 {
            bits |= u64::from(i.word(4)?) << 32;
        }
        if i.op == Op::SpecConstant {
            bits = self.specialized(i, scalar.bytes() as usize)?.unwrap_or(bits);
        }
        let value = self.b.constant(scalar, bits);
        self.set(i, &[value])
    }

    /// The bytes that the application gives for the constant's SpecId.
    fn specialized(&self, i: &Instruction<'_>, size: usize) -> Result<Option<u64>, CompileError> {
        let Some(number) = self.module.decorations.of(i.id(2)?, Decoration::SpecId) else { return Ok(None) };
        let Some(bytes) = self.options.specialization.get(&number) else { return Ok(None) };
        if bytes.len() != size {
            return Err(CompileError::Invalid(format!(
                "specialization constant {number} has {size} bytes, {} were given",
                bytes.len()
            )));
        }
        Ok(Some(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))))
    }

    fn null(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let ty = i.id(1)?;
        let info = self.types.get(ty)?;
        if info.flat > MAX_SCALARS {
            // Of use for setting variables to zero.
            self.defs[i.id(2)? as usize] = Def::Null(ty);
            return Ok(());
        }
        if info.flat == 0 {
            return if matches!(info.kind, Type::Pointer { .. }) { Ok(()) } else { self.set(i, &[]) };
        }
        let scalars = self.scalars(ty)?;
        let values: Vec<Value> = scalars.into_iter().map(|scalar| self.b.constant(scalar, 0)).collect();
        self.set(i, &values)
    }

    /// OpSpecConstantOp: lowered as the instruction that it holds, whose result must come out constant.
    fn specialized_operation(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let inner = i.inner()?;
        let done = match inner.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                false
            }
            _ => self.pure(&inner.view())?,
        };
        if !done {
            return Err(i.refuse(&format!("Op{:?}", inner.op)));
        }
        // Components that a shuffle does not select are undefined, and may stay so.
        let known = |value| self.b.constant_bits(value).is_some() || self.b.is_undefined(value);
        let constant = match self.defs[i.id(2)? as usize] {
            Def::One(value) => known(value),
            Def::Many(start, len) => {
                self.arena[start as usize..(start + len) as usize].iter().all(|&value| known(value))
            }
            _ => false,
        };
        if constant { Ok(()) } else { Err(i.refuse(&format!("Op{:?} that does not fold", inner.op))) }
    }

    fn global_extended(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        self.defs[i.id(2)? as usize] = Def::Void;
        if self.module.sets.get(&i.id(3)?) != Some(&ExtendedSet::ShaderDebugInfo) {
            return Ok(());
        }
        match i.word(4)? {
            35 => {
                let text = if i.len() > 6 { Some(i.id(6)?) } else { None };
                self.sites.debug_source(&self.module, i.id(2)?, i.id(5)?, text);
            }
            102 => self.sites.debug_source_continued(&self.module, i.id(5)?),
            _ => {}
        }
        Ok(())
    }

    /// LocalSize, LocalSizeId, WorkgroupSize.
    pub fn execution_modes(&mut self) -> Result<(), CompileError> {
        use spirv::ExecutionMode as M;
        for index in 0..self.module.modes.len() {
            let i = self.module.stream.at(self.module.modes[index])?;
            let mode = i.word(2)?;
            match M::from_u32(mode) {
                Some(M::LocalSize) => self.local_size = [i.word(3)?, i.word(4)?, i.word(5)?],
                Some(M::LocalSizeId) => {
                    for k in 0..3 {
                        self.local_size[k] = self.constant_u32(i.id(3 + k)?)?;
                    }
                }
                Some(
                    M::LocalSizeHint
                    | M::DenormPreserve
                    | M::DenormFlushToZero
                    | M::SignedZeroInfNanPreserve
                    | M::RoundingModeRTE
                    | M::RoundingModeRTZ,
                ) => {}
                Some(M::SubgroupUniformControlFlowKHR) => self.convergence = Convergence::Promised,
                Some(M::DerivativeGroupQuadsNV) => self.derivative_group = Some(DerivativeGroup::Quads),
                Some(M::DerivativeGroupLinearNV) => self.derivative_group = Some(DerivativeGroup::Linear),
                // MaximallyReconvergesKHR.
                None if mode == 6023 => self.convergence = Convergence::Promised,
                // FPFastMathDefault: what is always done.
                None if mode == 6028 => {}
                Some(other) => return Err(CompileError::NotImplemented(format!("execution mode {other:?}"))),
                None => return Err(CompileError::NotImplemented(format!("execution mode {mode}"))),
            }
        }
        if let Some(id) = self.workgroup_size {
            let size = self.values(id)?;
            if size.len() != 3 {
                return Err(CompileError::Invalid("WorkgroupSize has not 3 components".into()));
            }
            for (k, &value) in size.iter().enumerate() {
                self.local_size[k] = self.b.constant_bits(value).unwrap_or(1) as u32;
            }
        }
        let product = self.local_size.iter().try_fold(1u32, |product, &n| product.checked_mul(n));
        match product {
            Some(0) => Err(CompileError::Invalid("a workgroup without invocations".into())),
            Some(n) if n <= 1 << 16 => self.check_derivative_group(n),
            _ => Err(CompileError::Limit(format!("workgroup of {:?} invocations", self.local_size))),
        }
    }

    /// Whether derivative groups divide the workgroup, and subgroups hold them.
    fn check_derivative_group(&self, invocations: u32) -> Result<(), CompileError> {
        let Some(group) = self.derivative_group else { return Ok(()) };
        let [width, height, _] = self.local_size;
        let divided = match group {
            DerivativeGroup::Linear => invocations.is_multiple_of(4),
            DerivativeGroup::Quads => width.is_multiple_of(2) && height.is_multiple_of(2),
        };
        if !divided {
            let size = self.local_size;
            return Err(CompileError::Invalid(format!(
                "DerivativeGroup{group:?}KHR and a workgroup of {size:?}"
            )));
        }
        match self.options.subgroup_size {
            size @ ..4 => Err(CompileError::Invalid(format!("derivative groups in subgroups of {size}"))),
            _ => Ok(()),
        }
    }

    fn read_float_controls(&mut self) -> Result<(), CompileError> {
        use spirv::ExecutionMode as M;
        for &word in &self.module.modes {
            let i = self.module.stream.at(word)?;
            let controls = &mut self.float_controls;
            let which = match M::from_u32(i.word(2)?) {
                Some(M::DenormPreserve) => &mut controls.denorm_preserve,
                Some(M::DenormFlushToZero) => &mut controls.denorm_flush_to_zero,
                Some(M::SignedZeroInfNanPreserve) => &mut controls.signed_zero_inf_nan_preserve,
                Some(M::RoundingModeRTE) => &mut controls.rounding_rte,
                Some(M::RoundingModeRTZ) => &mut controls.rounding_rtz,
                _ => continue,
            };
            match i.word(3)? {
                16 => which[0] = true,
                32 => which[1] = true,
                64 => which[2] = true,
                other => return Err(i.refuse(&format!("for width {other}"))),
            }
        }
        self.b.fold_floats = self.float_controls.rounding_rtz == [false; 3];
        Ok(())
    }

    /// Stores the initializers of Private variables at the head of the entry point.
    pub fn private_initializers(&mut self) -> Result<(), CompileError> {
        for index in 0..self.module.globals.len() {
            let i = self.module.stream.at(self.module.globals[index])?;
            if i.op != Op::Variable || i.word(3)? != StorageClass::Private as u32 {
                continue;
            }
            let Some(initializer) = i.initializer() else { continue };
            let pointer = self.pointer(i.id(2)?)?;
            self.store_operand(&pointer, &i, initializer, MemoryOperands::default(), Site(0))?;
        }
        Ok(())
    }
}
