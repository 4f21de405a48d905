//! Functions: the entry point, calls, and the dispatch of instructions to their families.

use super::derivative::is_derivative;
use super::image::is_image;
use super::lowerer::{Def, Lowerer};
use super::module::ExtendedSet;
use super::pointer::Base;
use super::shape::Shapes;
use super::site::plain_name;
use super::structure::Frame;
use super::subgroup::is_subgroup;
use super::types::Type;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Call, Node, Parameter, ParameterOf, Region, Scalar, SourcePosition, Values};
use pellucid_memory::access::Site;
use smallvec::SmallVec;
use spirv::Op;

/// Calls within calls that are accepted.
const MAX_CALLS: usize = 100;

impl Lowerer<'_> {
    /// The entry point's function.
    pub fn entry(&mut self) -> Result<Region, CompileError> {
        let entry = self.module.entry;
        let function = self.function_index(entry)?;
        if !self.module.functions[function].parameters.is_empty() {
            return Err(CompileError::Invalid(format!("entry point {entry} has parameters")));
        }
        self.private_initializers()?;
        self.instance(function, &[], Vec::new())?;
        Ok(self.b.take())
    }

    /// Index of a function by its id.
    pub fn function_index(&self, id: u32) -> Result<usize, CompileError> {
        let index = self.module.function_of.get(&id).copied();
        index.ok_or_else(|| CompileError::Invalid(format!("id {id} is no function")))
    }

    /// Writes a function's body as a block whose results are the returned value.
    fn instance(
        &mut self,
        function: usize,
        result: &[Scalar],
        parameters: Vec<Parameter>,
    ) -> Result<Values, CompileError> {
        if self.calls.iter().any(|&(caller, _)| caller == function) {
            let name = self.module.name(self.module.functions[function].id);
            return Err(CompileError::Invalid(format!("function {name} calls itself")));
        }
        if self.calls.len() >= MAX_CALLS {
            return Err(CompileError::Limit(format!("calls nested deeper than {MAX_CALLS}")));
        }
        let cfg = self.cfg(function)?;
        let label = self.b.label();
        self.calls.push((function, label));
        self.functions.push(label);
        let (caller, instance_call) = (self.call, self.instance_call);
        if self.options.debug {
            let name = plain_name(&self.module.name(self.module.functions[function].id));
            let site = if self.inlined.is_empty() { Site(0) } else { self.b.site };
            self.call = self.inlined.len() as u32;
            self.instance_call = self.call;
            let call = Call { function: name, caller, site, before: false, parameters };
            self.inlined.push((label, call));
        }
        self.b.open();
        let mut frame = Frame::new(cfg, label);
        let line = self.sites.line;
        self.emit(&mut frame, 0, SmallVec::new())?;
        self.sites.line = line;
        let body = self.b.close();
        self.calls.pop();
        (self.call, self.instance_call) = (caller, instance_call);
        let results: Values = result.iter().map(|&scalar| self.b.fresh(scalar)).collect();
        self.b.push(Node::Block { label, results: results.clone(), body });
        Ok(results)
    }

    /// OpFunctionCall.
    fn call(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let function = self.function_index(i.id(3)?)?;
        let parameters = self.module.functions[function].parameters.clone();
        if parameters.len() != i.len() - 4 {
            return Err(i.invalid("has another number of arguments than the function has parameters"));
        }
        let mut pointers = Vec::new();
        for (k, &parameter) in parameters.iter().enumerate() {
            self.alias(i.id(4 + k)?, parameter)?;
            if self.options.debug {
                pointers.extend(self.parameter(parameter));
            }
        }
        let (ty, id) = (i.id(1)?, i.id(2)?);
        if self.module.functions[function].result_type != ty {
            return Err(i.invalid("has another type than the function returns"));
        }
        let void = matches!(self.types.get(ty)?.kind, Type::Void);
        let info = self.types.get(ty)?;
        let logical = matches!(info.kind, Type::Pointer { .. }) && info.flat == 0;
        let scalars = match (void, logical) {
            (true, _) => Vec::new(),
            (_, true) => vec![Scalar::I32],
            _ => self.scalars(ty)?,
        };
        self.expected_returns.push(scalars.clone());
        let results = self.instance(function, &scalars, pointers)?;
        self.expected_returns.pop();
        if void {
            self.defs[id as usize] = Def::Void;
            return Ok(());
        }
        match results.first() {
            Some(&offset) if logical => self.define_chosen_pointer(i, offset),
            _ => self.set(i, &results),
        }
    }

    /// For debug information: what the call that comes is given for a parameter. A value gets its name here.
    fn parameter(&mut self, id: u32) -> Option<Parameter> {
        if let Some(Def::One(_) | Def::Many(..)) = self.defs.get(id as usize) {
            let values = self.values(id).ok()?;
            self.name_values(id, Some(self.inlined.len() as u32), &values);
            return None;
        }
        let pointer = self.pointer(id).ok().filter(|pointer| pointer.offset.is_none())?;
        let (of, start) = match pointer.base {
            Base::Private(object) => (ParameterOf::Private(object), self.objects[object as usize].offset),
            Base::Workgroup(object) => {
                (ParameterOf::Workgroup(object), self.workgroup[object as usize].offset)
            }
            _ => return None,
        };
        let byte = pointer.immediate.checked_sub(start)?;
        let shape = self.shape(pointer.pointee, pointer.layout, &mut Shapes::default(), 0);
        Some(Parameter { name: self.module.name(id), ty: pointer.pointee, shape, of, byte })
    }

    /// One instruction inside a block, terminators and phis excepted.
    pub fn instruction(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        use Op::*;
        if self.options.debug {
            self.b.site = self.site(i, 0);
        }
        self.check_encoded(i)?;
        match i.op {
            Load => self.op_load(i),
            Store => self.op_store(i),
            AccessChain | InBoundsAccessChain | PtrAccessChain | InBoundsPtrAccessChain => {
                self.access_chain(i)
            }
            Variable => self.op_variable(i),
            FunctionCall => self.call(i),
            ExtInst => self.extended_instruction(i),
            Phi
            | Nop
            | SelectionMerge
            | LoopMerge
            | LifetimeStart
            | LifetimeStop
            | AssumeTrueKHR
            | DemoteToHelperInvocation => Ok(()),
            Line => {
                let file = self.sites.file(&self.module, i.id(1)?);
                self.sites.line = Some(SourcePosition { file, line: i.word(2)?, column: i.word(3)? });
                Ok(())
            }
            NoLine => {
                self.sites.line = None;
                Ok(())
            }
            ControlBarrier => self.op_control_barrier(i),
            MemoryBarrier => self.op_memory_barrier(i),
            AtomicLoad
            | AtomicStore
            | AtomicExchange
            | AtomicCompareExchange
            | AtomicIIncrement
            | AtomicIDecrement
            | AtomicIAdd
            | AtomicISub
            | AtomicSMin
            | AtomicUMin
            | AtomicSMax
            | AtomicUMax
            | AtomicAnd
            | AtomicOr
            | AtomicXor
            | AtomicFAddEXT
            | AtomicFMinEXT
            | AtomicFMaxEXT => self.op_atomic(i),
            ArrayLength => self.op_array_length(i),
            CopyMemory | CopyMemorySized => self.op_copy_memory(i),
            ReadClockKHR => self.op_read_clock(i),
            CooperativeMatrixLoadKHR => self.op_matrix_load(i),
            CooperativeMatrixStoreKHR => self.op_matrix_store(i),
            CooperativeMatrixMulAddKHR => self.op_matrix_mul_add(i),
            PtrEqual | PtrNotEqual | PtrDiff => self.op_pointer_comparison(i),
            op if is_subgroup(op) => self.op_subgroup(i),
            op if is_image(op) => self.op_image(i),
            op if is_derivative(op) => self.op_derivative(i),
            _ => {
                if self.pure(i)? {
                    Ok(())
                } else {
                    Err(i.refuse(""))
                }
            }
        }
    }

    /// Instructions without side effects, which OpSpecConstantOp may hold too; false if the opcode is none of
    /// them.
    pub fn pure(&mut self, i: &Instruction<'_>) -> Result<bool, CompileError> {
        Ok(self.op_by_component(i)?
            || self.op_composite(i)?
            || self.op_arithmetic(i)?
            || self.op_convert(i)?
            || self.op_matrix_length(i)?)
    }

    fn extended_instruction(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        match self.module.sets.get(&i.id(3)?) {
            Some(ExtendedSet::Glsl) => self.op_glsl(i),
            Some(ExtendedSet::ShaderDebugInfo) => {
                self.defs[i.id(2)? as usize] = Def::Void;
                match i.word(4)? {
                    // DebugLine: source, first and last line, first and last column.
                    103 => {
                        let file = self.sites.debug_file(i.id(5)?);
                        let line = self.constant_u32(i.id(6)?)?;
                        let column = self.constant_u32(i.id(8)?)?;
                        // Lines count from 1: what an optimizer has no line for gets 0.
                        let file = file.filter(|_| line > 0);
                        self.sites.line = file.map(|file| SourcePosition { file, line, column });
                    }
                    // DebugNoLine.
                    104 => self.sites.line = None,
                    23 => self.debug_scope(i)?,
                    // DebugNoScope.
                    24 => self.call = self.instance_call,
                    _ => {}
                }
                Ok(())
            }
            Some(ExtendedSet::DebugPrintf) => self.debug_printf(i),
            Some(ExtendedSet::Ignored) => {
                self.defs[i.id(2)? as usize] = Def::Void;
                Ok(())
            }
            None => Err(i.invalid("names no instruction set")),
        }
    }
}
