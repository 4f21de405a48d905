//! Variable pointers (SPV_KHR_variable_pointers): OpSelect and OpPhi between logical pointers into one
//! variable. Such a pointer is the variable and a byte offset; which variable it is must be known when the
//! shader is compiled.

use super::lowerer::{Def, Lowerer};
use super::pointer::{Base, Pointer};
use super::types::{Layout, Type, UNTYPED};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Scalar, Value};
use spirv::Op;

impl Lowerer<'_> {
    /// OpSelect between logical pointers; false if the operands are something else.
    pub fn select_pointer(
        &mut self,
        i: &Instruction<'_>,
        conditions: &[Value],
    ) -> Result<bool, CompileError> {
        let info = self.types.get(i.id(1)?)?;
        if info.flat != 0 || !matches!(info.kind, Type::Pointer { .. }) {
            return Ok(false);
        }
        let (yes, no) = (self.value(i.id(4)?)?, self.value(i.id(5)?)?);
        if conditions.len() != 1 || self.b.scalar(conditions[0]) != Scalar::Bool {
            return Err(i.invalid("has a condition that is no boolean"));
        }
        let offset = self.b.select(conditions[0], yes, no);
        self.define_chosen_pointer(i, offset)?;
        Ok(true)
    }

    /// Makes the result of an instruction a pointer at a byte offset of the variable that all its operands
    /// point into.
    pub fn define_chosen_pointer(&mut self, i: &Instruction<'_>, offset: Value) -> Result<(), CompileError> {
        let mut seen = Vec::new();
        let mut root: Option<Pointer> = None;
        self.find_root(i.id(2)?, i, &mut root, &mut seen)?;
        let root = root.ok_or_else(|| i.refuse("of pointers without a variable"))?;
        let Type::Pointer { pointee, .. } = self.types.get(i.id(1)?)?.kind else {
            return Err(i.invalid("is not of pointer type"));
        };
        // Matrices lie in memory as the structure that holds them says: any operand that is known by now
        // tells.
        let known = i.rest(3).iter().find_map(|&id| match self.defs.get(id as usize) {
            Some(Def::Pointer(index)) => Some(self.pointers[*index as usize].layout),
            _ => None,
        });
        let matrix = pointee != UNTYPED && matches!(self.types.get(pointee)?.kind, Type::Matrix { .. });
        if known.is_none() && matrix {
            return Err(i.refuse("of pointers to matrices"));
        }
        let plain = Layout { explicit: root.layout.explicit, ..Layout::default() };
        let layout = known.unwrap_or(plain);
        let pointer = Pointer { offset: Some(offset), immediate: 0, pointee, layout, ..root };
        self.define_pointer(i.id(2)?, pointer);
        Ok(())
    }

    /// Follows a pointer's definition to its variable.
    fn find_root(
        &mut self,
        id: u32,
        at: &Instruction<'_>,
        root: &mut Option<Pointer>,
        seen: &mut Vec<u32>,
    ) -> Result<(), CompileError> {
        if seen.contains(&id) {
            return Ok(());
        }
        seen.push(id);
        if seen.len() > 256 {
            return Err(CompileError::Limit("too many pointers to choose from".into()));
        }
        let word = self.module.defined.get(id as usize).copied().unwrap_or(0);
        let i = self.module.stream.at(word)?;
        match i.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                self.find_root(i.id(i.base())?, at, root, seen)
            }
            Op::CopyObject => self.find_root(i.id(3)?, at, root, seen),
            Op::Select => {
                self.find_root(i.id(4)?, at, root, seen)?;
                self.find_root(i.id(5)?, at, root, seen)
            }
            Op::Phi => {
                for pair in i.rest(3).chunks_exact(2) {
                    self.find_root(pair[0], at, root, seen)?;
                }
                Ok(())
            }
            Op::FunctionCall => {
                let function = self.function_index(i.id(3)?)?;
                let (mut word, end) =
                    (self.module.functions[function].body, self.module.functions[function].end);
                while word < end {
                    let inner = self.module.stream.at(word)?;
                    if inner.op == Op::ReturnValue {
                        self.find_root(inner.id(1)?, at, root, seen)?;
                    }
                    word = inner.next();
                }
                Ok(())
            }
            Op::Variable | Op::FunctionParameter => {
                let pointer = self.pointer(id)?;
                let whole = match pointer.base {
                    Base::Buffer { .. } | Base::Workgroup(_) | Base::Private(_) => !pointer.descriptor_array,
                    _ => false,
                };
                let same = root.is_none_or(|known| known.base == pointer.base);
                if !whole || !same {
                    return Err(at.refuse("of pointers into different variables or descriptors"));
                }
                *root = Some(pointer);
                Ok(())
            }
            _ => Err(at.refuse("of pointers without a variable")),
        }
    }

    /// OpPtrEqual, OpPtrNotEqual, OpPtrDiff.
    pub fn op_pointer_comparison(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let (a, b) = (i.id(3)?, i.id(4)?);
        if self.is_variable_pointer(a) {
            return self.compare_variable_pointers(i);
        }
        let logical =
            |lowerer: &Self, id: u32| matches!(lowerer.defs.get(id as usize), Some(Def::Pointer(_)));
        if logical(self, a) && logical(self, b) {
            let (p, q) = (self.pointer(a)?, self.pointer(b)?);
            if p.base != q.base && !matches!((p.base, q.base), (Base::Physical(_), Base::Physical(_))) {
                return Err(i.refuse("of pointers into different variables or descriptors"));
            }
        }
        let (x, y) = (self.value(a)?, self.value(b)?);
        if self.b.scalar(x) != self.b.scalar(y) {
            return Err(i.invalid("has operands of types that it does not take"));
        }
        let value = match i.op {
            Op::PtrEqual => self.b.alu(Alu::IEqual, Scalar::Bool, &[x, y]),
            Op::PtrNotEqual => self.b.alu(Alu::INotEqual, Scalar::Bool, &[x, y]),
            _ => {
                let ty = self.type_of(a)?;
                let Type::Pointer { pointee, stride, .. } = self.types.get(ty)?.kind else {
                    return Err(i.invalid("has operands of types that it does not take"));
                };
                let layout = Layout { explicit: true, ..Layout::default() };
                // Untyped pointers count bytes.
                let stride = match (pointee, stride) {
                    (UNTYPED, _) => 1,
                    (_, Some(stride)) => stride.max(1),
                    _ => self.types.size(pointee, layout)?.max(1),
                };
                let scalar = self.b.scalar(x);
                let bytes = self.b.alu(Alu::ISub, scalar, &[x, y]);
                let stride = self.b.constant(scalar, u64::from(stride));
                let elements = self.b.alu(Alu::SDiv, scalar, &[bytes, stride]);
                let result = self.types.scalar(i.id(1)?)?;
                self.b.convert(crate::ir::Conversion::SConvert, result, elements)
            }
        };
        self.set(i, &[value])
    }
}
