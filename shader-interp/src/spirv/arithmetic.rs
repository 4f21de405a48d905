//! Arithmetic, logic, comparisons and linear algebra, component by component.

use super::lowerer::{Flat, Lowerer};
use super::types::Type;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Conversion, Scalar, Value};
use spirv::Op;

/// How a component-wise opcode maps: its operation, and whether the operands are swapped.
fn simple(op: Op) -> Option<(Alu, usize, bool)> {
    use Op::*;
    Some(match op {
        SNegate => (Alu::SNegate, 1, false),
        FNegate => (Alu::FNegate, 1, false),
        IAdd => (Alu::IAdd, 2, false),
        FAdd => (Alu::FAdd, 2, false),
        ISub => (Alu::ISub, 2, false),
        FSub => (Alu::FSub, 2, false),
        IMul => (Alu::IMul, 2, false),
        FMul => (Alu::FMul, 2, false),
        UDiv => (Alu::UDiv, 2, false),
        SDiv => (Alu::SDiv, 2, false),
        FDiv => (Alu::FDiv, 2, false),
        UMod => (Alu::UMod, 2, false),
        SRem => (Alu::SRem, 2, false),
        SMod => (Alu::SMod, 2, false),
        FRem => (Alu::FRem, 2, false),
        FMod => (Alu::FMod, 2, false),
        BitwiseOr => (Alu::Or, 2, false),
        BitwiseXor => (Alu::Xor, 2, false),
        BitwiseAnd => (Alu::And, 2, false),
        Not => (Alu::Not, 1, false),
        BitReverse => (Alu::BitReverse, 1, false),
        IsNan => (Alu::IsNan, 1, false),
        IsInf => (Alu::IsInf, 1, false),
        LogicalEqual => (Alu::LogicalEqual, 2, false),
        LogicalNotEqual => (Alu::LogicalNotEqual, 2, false),
        LogicalOr => (Alu::LogicalOr, 2, false),
        LogicalAnd => (Alu::LogicalAnd, 2, false),
        LogicalNot => (Alu::LogicalNot, 1, false),
        IEqual => (Alu::IEqual, 2, false),
        INotEqual => (Alu::INotEqual, 2, false),
        ULessThan => (Alu::ULess, 2, false),
        SLessThan => (Alu::SLess, 2, false),
        ULessThanEqual => (Alu::ULessEqual, 2, false),
        SLessThanEqual => (Alu::SLessEqual, 2, false),
        UGreaterThan => (Alu::ULess, 2, true),
        SGreaterThan => (Alu::SLess, 2, true),
        UGreaterThanEqual => (Alu::ULessEqual, 2, true),
        SGreaterThanEqual => (Alu::SLessEqual, 2, true),
        FOrdEqual => (Alu::FOrdEqual, 2, false),
        FUnordEqual => (Alu::FUnordEqual, 2, false),
        FOrdNotEqual => (Alu::FOrdNotEqual, 2, false),
        FUnordNotEqual => (Alu::FUnordNotEqual, 2, false),
        FOrdLessThan => (Alu::FOrdLess, 2, false),
        FUnordLessThan => (Alu::FUnordLess, 2, false),
        FOrdLessThanEqual => (Alu::FOrdLessEqual, 2, false),
        FUnordLessThanEqual => (Alu::FUnordLessEqual, 2, false),
        FOrdGreaterThan => (Alu::FOrdLess, 2, true),
        FUnordGreaterThan => (Alu::FUnordLess, 2, true),
        FOrdGreaterThanEqual => (Alu::FOrdLessEqual, 2, true),
        FUnordGreaterThanEqual => (Alu::FUnordLessEqual, 2, true),
        _ => return None,
    })
}

/// The scalar types that an operation takes.
fn takes(op: Alu, scalar: Scalar) -> bool {
    use Alu::*;
    let float = matches!(scalar, Scalar::F16 | Scalar::F32 | Scalar::F64);
    match op {
        LogicalAnd | LogicalOr | LogicalNot | LogicalEqual | LogicalNotEqual => scalar == Scalar::Bool,
        FAdd | FSub | FMul | FDiv | FRem | FMod | FNegate | IsNan | IsInf | FOrdEqual | FOrdNotEqual
        | FOrdLess | FOrdLessEqual | FUnordEqual | FUnordNotEqual | FUnordLess | FUnordLessEqual => float,
        _ => !float && scalar != Scalar::Bool,
    }
}

impl Lowerer<'_> {
    /// Component-wise instructions with a row in the table; false if the opcode has none.
    pub fn op_simple(&mut self, i: &Instruction<'_>) -> Result<bool, CompileError> {
        let Some((alu, arity, swapped)) = simple(i.op) else { return Ok(false) };
        let result = self.types.scalar(i.id(1)?)?;
        let a = self.operand(i, 3)?;
        let mut out = Flat::new();
        if arity == 1 {
            for &x in &a {
                self.check_takes(i, alu, &[x])?;
                out.push(self.b.alu(alu, result, &[x]));
            }
        } else {
            let b = self.operand(i, 4)?;
            if a.len() != b.len() {
                return Err(i.invalid("has operands of different sizes"));
            }
            for (&x, &y) in a.iter().zip(&b) {
                let arguments = if swapped { [y, x] } else { [x, y] };
                self.check_takes(i, alu, &arguments)?;
                if matches!(alu, Alu::UDiv | Alu::SDiv | Alu::UMod | Alu::SRem | Alu::SMod) {
                    self.note_division(i, y);
                }
                out.push(self.b.alu(alu, result, &arguments));
            }
        }
        self.set(i, &out)?;
        Ok(true)
    }

    fn check_takes(&self, i: &Instruction<'_>, alu: Alu, arguments: &[Value]) -> Result<(), CompileError> {
        if arguments.first().is_some_and(|&x| takes(alu, self.b.scalar(x))) && self.same_types(arguments) {
            return Ok(());
        }
        Err(i.invalid("has operands of types that it does not take"))
    }

    /// The other arithmetic instructions; false if the opcode is none of them.
    pub fn op_arithmetic(&mut self, i: &Instruction<'_>) -> Result<bool, CompileError> {
        use Op::*;
        match i.op {
            ShiftRightLogical => self.shift(i, Alu::ShiftRightLogical)?,
            ShiftRightArithmetic => self.shift(i, Alu::ShiftRightArithmetic)?,
            ShiftLeftLogical => self.shift(i, Alu::ShiftLeft)?,
            BitFieldInsert => self.bit_field(i, Alu::BitFieldInsert, 2)?,
            BitFieldSExtract => self.bit_field(i, Alu::BitFieldSExtract, 1)?,
            BitFieldUExtract => self.bit_field(i, Alu::BitFieldUExtract, 1)?,
            BitCount => {
                let first = self.operand(i, 3)?;
                self.check_takes(i, Alu::BitCount, &first)?;
                let result = self.types.scalar(i.id(1)?)?;
                let out: Flat = self
                    .operand(i, 3)?
                    .iter()
                    .map(|&x| {
                        let count = self.b.alu(Alu::BitCount, Scalar::I32, &[x]);
                        self.b.convert(Conversion::UConvert, result, count)
                    })
                    .collect();
                self.set(i, &out)?;
            }
            IAddCarry => self.extended(i, Alu::IAddCarry)?,
            ISubBorrow => self.extended(i, Alu::ISubBorrow)?,
            UMulExtended => self.extended(i, Alu::UMulExtended)?,
            SMulExtended => self.extended(i, Alu::SMulExtended)?,
            Any | All => {
                let alu = if i.op == Any { Alu::LogicalOr } else { Alu::LogicalAnd };
                let parts = self.operand(i, 3)?;
                self.check_takes(i, alu, &parts)?;
                let value = self.fold(alu, &parts);
                self.set(i, &[value])?;
            }
            Select => self.select(i)?,
            VectorTimesScalar | MatrixTimesScalar => {
                let (a, s) = (self.operand(i, 3)?, self.scalar_operand(i, 4)?);
                let out: Flat = a.iter().map(|&x| self.multiply(x, s)).collect();
                self.set(i, &out)?;
            }
            VectorTimesMatrix => {
                let (v, m) = (self.operand(i, 3)?, self.operand(i, 4)?);
                let rows = v.len().max(1);
                let out: Flat = m.chunks(rows).map(|column| self.dot(&v, column)).collect();
                self.set(i, &out)?;
            }
            MatrixTimesVector => {
                let (m, v) = (self.operand(i, 3)?, self.operand(i, 4)?);
                let out = self.matrix_times(i, &m, &v)?;
                self.set(i, &out)?;
            }
            MatrixTimesMatrix => {
                let (a, b) = (self.operand(i, 3)?, self.operand(i, 4)?);
                let (columns, _) = self.matrix_shape(self.type_of(i.id(3)?)?)?;
                let mut out = Flat::new();
                for column in b.chunks(columns) {
                    out.extend(self.matrix_times(i, &a, column)?);
                }
                self.set(i, &out)?;
            }
            OuterProduct => {
                let (a, b) = (self.operand(i, 3)?, self.operand(i, 4)?);
                let mut out = Flat::new();
                for &y in &b {
                    for &x in &a {
                        out.push(self.multiply(x, y));
                    }
                }
                self.set(i, &out)?;
            }
            Transpose => {
                let m = self.operand(i, 3)?;
                let (columns, rows) = self.matrix_shape(self.type_of(i.id(3)?)?)?;
                let at = |k: usize| m[(k % columns) * rows + k / columns];
                let out: Flat = (0..m.len()).map(at).collect();
                self.set(i, &out)?;
            }
            Dot => {
                let (a, b) = (self.operand(i, 3)?, self.operand(i, 4)?);
                if a.len() != b.len() {
                    return Err(i.invalid("has operands of different sizes"));
                }
                let value = self.dot(&a, &b);
                self.set(i, &[value])?;
            }
            SDot | UDot | SUDot | SDotAccSat | UDotAccSat | SUDotAccSat => self.integer_dot(i)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn shift(&mut self, i: &Instruction<'_>, alu: Alu) -> Result<(), CompileError> {
        let (a, amounts) = (self.operand(i, 3)?, self.operand(i, 4)?);
        if a.len() != amounts.len() {
            return Err(i.invalid("has operands of different sizes"));
        }
        let mut out = Flat::new();
        for (&x, &amount) in a.iter().zip(&amounts) {
            self.check_takes(i, alu, &[x])?;
            self.check_takes(i, alu, &[amount])?;
            self.note_shift(i, x, amount);
            let amount = self.int_value(amount);
            let scalar = self.b.scalar(x);
            out.push(self.b.alu(alu, scalar, &[x, amount]));
        }
        self.set(i, &out)
    }

    /// `values` vectors, then offset and count.
    fn bit_field(&mut self, i: &Instruction<'_>, alu: Alu, values: usize) -> Result<(), CompileError> {
        let base = self.operand(i, 3)?;
        let insert = if values == 2 { self.operand(i, 4)? } else { Flat::new() };
        let offset = self.int_operand(i, 3 + values)?;
        let count = self.int_operand(i, 4 + values)?;
        let mut out = Flat::new();
        for (k, &x) in base.iter().enumerate() {
            self.check_takes(i, alu, &[x, insert.get(k).copied().unwrap_or(x)])?;
            let scalar = self.b.scalar(x);
            let mut arguments = vec![x];
            if values == 2 {
                let y = insert.get(k).ok_or_else(|| i.invalid("has operands of different sizes"))?;
                arguments.push(*y);
            }
            arguments.extend([offset, count]);
            out.push(self.b.alu(alu, scalar, &arguments));
        }
        self.set(i, &out)
    }

    /// Operations with a structure of two results.
    fn extended(&mut self, i: &Instruction<'_>, alu: Alu) -> Result<(), CompileError> {
        let (a, b) = (self.operand(i, 3)?, self.operand(i, 4)?);
        if a.len() != b.len() {
            return Err(i.invalid("has operands of different sizes"));
        }
        let (mut low, mut high) = (Flat::new(), Flat::new());
        for (&x, &y) in a.iter().zip(&b) {
            self.check_takes(i, alu, &[x, y])?;
            let scalar = self.b.scalar(x);
            let [l, h] = self.b.alu2(alu, [scalar, scalar], &[x, y]);
            low.push(l);
            high.push(h);
        }
        low.extend(high);
        self.set(i, &low)
    }

    /// OpSelect: one condition for all components or one for each.
    fn select(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let conditions = self.operand(i, 3)?;
        if self.select_pointer(i, &conditions)? {
            return Ok(());
        }
        let (yes, no) = (self.operand(i, 4)?, self.operand(i, 5)?);
        if yes.len() != no.len() || (conditions.len() != 1 && conditions.len() != yes.len()) {
            return Err(i.invalid("has operands of different sizes"));
        }
        let mut out = Flat::new();
        for (k, (&x, &y)) in yes.iter().zip(&no).enumerate() {
            let condition = if conditions.len() == 1 { conditions[0] } else { conditions[k] };
            if self.b.scalar(condition) != Scalar::Bool || self.b.scalar(x) != self.b.scalar(y) {
                return Err(i.invalid("has operands of types that it does not take"));
            }
            out.push(self.b.select(condition, x, y));
        }
        self.set(i, &out)
    }

    /// `x op y op z ...`, from the left.
    pub fn fold(&mut self, alu: Alu, parts: &[Value]) -> Value {
        let Some((&first, rest)) = parts.split_first() else { return self.b.undefined(Scalar::I32) };
        let mut value = first;
        for &part in rest {
            let scalar = self.b.scalar(value);
            value = self.b.alu(alu, scalar, &[value, part]);
        }
        value
    }

    /// Product of two floats.
    pub fn multiply(&mut self, x: Value, y: Value) -> Value {
        let scalar = self.b.scalar(x);
        self.b.alu(Alu::FMul, scalar, &[x, y])
    }

    /// Dot product of float vectors.
    pub fn dot(&mut self, a: &[Value], b: &[Value]) -> Value {
        let products: Flat = a.iter().zip(b).map(|(&x, &y)| self.multiply(x, y)).collect();
        self.fold(Alu::FAdd, &products)
    }

    fn matrix_times(&mut self, i: &Instruction<'_>, m: &[Value], v: &[Value]) -> Result<Flat, CompileError> {
        if v.is_empty() || !m.len().is_multiple_of(v.len()) {
            return Err(i.invalid("has operands of different sizes"));
        }
        let rows = m.len() / v.len();
        let mut out = Flat::new();
        for row in 0..rows {
            let of_row: Flat = (0..v.len()).map(|column| m[column * rows + row]).collect();
            out.push(self.dot(&of_row, v));
        }
        Ok(out)
    }

    /// Columns and rows of a matrix type.
    pub fn matrix_shape(&self, ty: u32) -> Result<(usize, usize), CompileError> {
        match self.types.get(ty)?.kind {
            Type::Matrix { column, count } => Ok((count as usize, self.types.get(column)?.flat as usize)),
            _ => Err(CompileError::Invalid(format!("type {ty} is no matrix"))),
        }
    }

    /// OpSDot and its family: packed words, or vectors of integers.
    fn integer_dot(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        use Op::*;
        let result = self.types.scalar(i.id(1)?)?;
        let accumulate = matches!(i.op, SDotAccSat | UDotAccSat | SUDotAccSat);
        let left_signed = !matches!(i.op, UDot | UDotAccSat);
        let right_signed = matches!(i.op, SDot | SDotAccSat);
        let (a, b) = (self.operand(i, 3)?, self.operand(i, 4)?);
        let accumulator = if accumulate { Some(self.scalar_operand(i, 5)?) } else { None };
        let format_at = if accumulate { 6 } else { 5 };
        let (mut left, mut right) = (a.to_vec(), b.to_vec());
        if a.len() == 1 {
            if i.rest(format_at).first().copied().unwrap_or(0) != 0 {
                return Err(i.refuse("with another packed format"));
            }
            if result == Scalar::I32 {
                let alu = match i.op {
                    SDot => Alu::SDot4x8,
                    UDot => Alu::UDot4x8,
                    SUDot => Alu::SUDot4x8,
                    SDotAccSat => Alu::SDotAccSat4x8,
                    UDotAccSat => Alu::UDotAccSat4x8,
                    _ => Alu::SUDotAccSat4x8,
                };
                let mut arguments = vec![a[0], b[0]];
                arguments.extend(accumulator);
                let value = self.b.alu(alu, result, &arguments);
                return self.set(i, &[value]);
            }
            (left, right) = (self.bytes_of(a[0]), self.bytes_of(b[0]));
        }
        if left.len() != right.len() {
            return Err(i.invalid("has operands of different sizes"));
        }
        // Products of two values of up to 32 bits and sums of four of them fit 64 bits well enough: only
        // 32-bit inputs with a 64-bit result can wrap, and wrapping is what they shall do.
        let wide = Scalar::I64;
        let widen = |signed: bool| if signed { Conversion::SConvert } else { Conversion::UConvert };
        let mut sum: Option<Value> = None;
        for (&x, &y) in left.iter().zip(&right) {
            let x = self.b.convert(widen(left_signed), wide, x);
            let y = self.b.convert(widen(right_signed), wide, y);
            let product = self.b.alu(Alu::IMul, wide, &[x, y]);
            sum = Some(match sum {
                Some(sum) => self.b.add(sum, product),
                None => product,
            });
        }
        let sum = sum.ok_or_else(|| i.invalid("has no components"))?;
        let value = match accumulator {
            None => self.b.convert(Conversion::SConvert, result, sum),
            Some(accumulator) => self.saturating_add(sum, accumulator, left_signed, result)?,
        };
        self.set(i, &[value])
    }

    fn bytes_of(&mut self, word: Value) -> Vec<Value> {
        (0..4)
            .map(|k| {
                let amount = self.b.int(8 * k);
                let part = self.b.alu(Alu::ShiftRightLogical, Scalar::I32, &[word, amount]);
                self.b.convert(Conversion::UConvert, Scalar::I8, part)
            })
            .collect()
    }

    /// `sum` (I64, exact) plus `accumulator`, saturated to the result type.
    fn saturating_add(
        &mut self,
        sum: Value,
        accumulator: Value,
        signed: bool,
        result: Scalar,
    ) -> Result<Value, CompileError> {
        let widen = if signed { Conversion::SConvert } else { Conversion::UConvert };
        let wide = self.b.convert(widen, Scalar::I64, accumulator);
        let total = self.b.add(sum, wide);
        if result == Scalar::I64 {
            if !signed {
                let over = self.b.alu(Alu::ULess, Scalar::Bool, &[total, wide]);
                let top = self.b.constant(Scalar::I64, u64::MAX);
                return Ok(self.b.select(over, top, total));
            }
            // Overflow when both addends have the sign that the total has not.
            let a = self.b.alu(Alu::Xor, Scalar::I64, &[total, sum]);
            let b = self.b.alu(Alu::Xor, Scalar::I64, &[total, wide]);
            let both = self.b.alu(Alu::And, Scalar::I64, &[a, b]);
            let zero = self.b.constant(Scalar::I64, 0);
            let over = self.b.alu(Alu::SLess, Scalar::Bool, &[both, zero]);
            let negative = self.b.alu(Alu::SLess, Scalar::Bool, &[sum, zero]);
            let low = self.b.constant(Scalar::I64, i64::MIN as u64);
            let high = self.b.constant(Scalar::I64, i64::MAX as u64);
            let limit = self.b.select(negative, low, high);
            return Ok(self.b.select(over, limit, total));
        }
        let width = result.bytes() * 8;
        let (alu, low, high) = if signed {
            (Alu::SClamp, (-1i64 << (width - 1)) as u64, (1u64 << (width - 1)) - 1)
        } else {
            (Alu::UClamp, 0, (1u64 << width) - 1)
        };
        let (low, high) = (self.b.constant(Scalar::I64, low), self.b.constant(Scalar::I64, high));
        let clamped = self.b.alu(alu, Scalar::I64, &[total, low, high]);
        Ok(self.b.convert(Conversion::UConvert, result, clamped))
    }
}
