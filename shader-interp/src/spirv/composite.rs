//! Composites: construction, extraction, insertion, shuffles.

use super::lowerer::{Def, Flat, Lowerer};
use super::types::Type;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Scalar, Value};
use spirv::Op;

impl Lowerer<'_> {
    /// Composite instructions; false if the opcode is none of them.
    pub fn op_composite(&mut self, i: &Instruction<'_>) -> Result<bool, CompileError> {
        match i.op {
            Op::CompositeConstruct => {
                let values = self.constituents(i)?;
                self.set(i, &values)?;
            }
            Op::CompositeExtract => self.extract(i)?,
            Op::CompositeInsert => self.insert(i)?,
            Op::VectorShuffle => self.shuffle(i)?,
            Op::VectorExtractDynamic => {
                let (vector, index) = (self.operand(i, 3)?, self.int_operand(i, 4)?);
                let value = self.pick(&vector, index);
                self.set(i, &[value])?;
            }
            Op::VectorInsertDynamic => {
                let (vector, part) = (self.operand(i, 3)?, self.scalar_operand(i, 4)?);
                let index = self.int_operand(i, 5)?;
                let mut out = Flat::new();
                for (k, &old) in vector.iter().enumerate() {
                    let here = self.equals(index, k as u32);
                    if self.b.scalar(old) != self.b.scalar(part) {
                        return Err(i.invalid("has operands of types that it does not take"));
                    }
                    out.push(self.b.select(here, part, old));
                }
                self.set(i, &out)?;
            }
            Op::CopyObject | Op::ExpectKHR => self.alias(i.id(3)?, i.id(2)?)?,
            Op::CopyLogical => {
                let values = self.operand(i, 3)?;
                self.set(i, &values)?;
            }
            Op::Undef => self.undefined(i)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The scalars of a composite's constituents.
    pub fn constituents(&mut self, i: &Instruction<'_>) -> Result<Flat, CompileError> {
        let ty = i.id(1)?;
        self.check_flat(ty)?;
        // One constituent stands for all components of a cooperative matrix.
        let matrix = matches!(self.types.get(ty)?.kind, Type::CooperativeMatrix(_));
        if matrix && i.len() != 4 {
            return Err(i.invalid("has not one constituent"));
        }
        let times = if matrix || i.replicates() { self.types.parts(ty)? } else { 1 };
        let mut values = Flat::new();
        for k in 3..i.len() {
            let part = self.operand(i, k)?;
            (0..times).for_each(|_| values.extend_from_slice(&part));
        }
        Ok(values)
    }

    /// OpUndef, in functions and among the constants.
    pub fn undefined(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let (ty, id) = (i.id(1)?, i.id(2)?);
        if matches!(self.types.get(ty)?.kind, Type::Void) {
            self.defs[id as usize] = Def::Void;
            return Ok(());
        }
        let info = self.types.get(ty)?;
        let place = matches!(info.kind, Type::Pointer { .. }) && info.flat == 0;
        if place
            || matches!(
                self.types.get(ty)?.kind,
                Type::Image(_) | Type::Sampler | Type::SampledImage { .. } | Type::Array { length: 0, .. }
            )
        {
            // Of no use but to be there: whoever uses it is refused.
            return Ok(());
        }
        let scalars = self.scalars(ty)?;
        let values: Vec<Value> = scalars.into_iter().map(|scalar| self.b.undefined(scalar)).collect();
        self.define(id, &values);
        Ok(())
    }

    /// The type and the scalars that literal indices select.
    fn locate(
        &self,
        i: &Instruction<'_>,
        mut ty: u32,
        indices: &[u32],
    ) -> Result<(usize, usize), CompileError> {
        let mut start = 0;
        for &index in indices {
            let (part, flat) = self.types.part_of_value(ty, index)?;
            start += flat as usize;
            ty = part;
        }
        let _ = i;
        Ok((start, self.types.get(ty)?.flat as usize))
    }

    fn extract(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let composite = i.id(3)?;
        let (start, len) = self.locate(i, self.type_of(composite)?, i.rest(4))?;
        if let Def::Many(first, count) = self.defs[composite as usize]
            && start + len <= count as usize
        {
            let (first, id) = (first as usize + start, i.id(2)?);
            if len == 1 {
                let value = self.arena[first];
                return self.set(i, &[value]);
            }
            if self.types.get(i.id(1)?)?.flat as usize != len {
                return Err(i.invalid("has another result type than its indices lead to"));
            }
            self.defs[id as usize] = Def::Many(first as u32, len as u32);
            return Ok(());
        }
        let values = self.values(composite)?;
        let part =
            values.get(start..start + len).ok_or_else(|| i.invalid("reaches outside its composite"))?;
        let part = Flat::from_slice(part);
        self.set(i, &part)
    }

    fn insert(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let object = self.operand(i, 3)?;
        let mut values = self.operand(i, 4)?;
        let (start, len) = self.locate(i, self.type_of(i.id(4)?)?, i.rest(5))?;
        if len != object.len() || start + len > values.len() {
            return Err(i.invalid("inserts an object of another type"));
        }
        values[start..start + len].copy_from_slice(&object);
        self.set(i, &values)
    }

    fn shuffle(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let mut both = self.operand(i, 3)?;
        both.extend(self.operand(i, 4)?);
        let scalar = self.types.scalar(i.id(1)?)?;
        let mut out = Flat::new();
        for &index in i.rest(5) {
            out.push(match both.get(index as usize) {
                Some(&value) => value,
                None if index == u32::MAX => self.b.undefined(scalar),
                None => return Err(i.invalid(&format!("selects component {index}"))),
            });
        }
        self.set(i, &out)
    }

    /// `index == k`, as a Bool.
    pub fn equals(&mut self, index: Value, k: u32) -> Value {
        let k = self.b.int(k);
        self.b.alu(Alu::IEqual, Scalar::Bool, &[index, k])
    }

    /// `values[index]`; the first value if the index is outside.
    pub fn pick(&mut self, values: &[Value], index: Value) -> Value {
        let Some((&first, rest)) = values.split_first() else { return self.b.undefined(Scalar::I32) };
        let mut chosen = first;
        for (k, &value) in (1..).zip(rest) {
            let here = self.equals(index, k);
            chosen = self.b.select(here, value, chosen);
        }
        chosen
    }
}
