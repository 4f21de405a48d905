//! Arithmetic, logic, comparisons and linear algebra, component by component.

use super::lowerer::{Flat, Lowerer};
use super::types::Type;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Conversion, Gives, Mark, Scalar, Value, alu_table};
use smallvec::SmallVec;
use spirv::Op;

macro_rules! define {
    ($($(#[$doc:meta])* $name:ident $takes:ident $operands:literal -> $($result:ident)+ [$($mark:ident)*]
        ($($code:ident)*) ($($code_64:ident)*) $(op $op:ident)? $(swapped $swapped:ident)? $(glsl $glsl:ident)?;
    )*) => {
        /// The operation that an instruction is, component by component, and whether its operands are
        /// swapped.
        fn by_component(op: Op) -> Option<(Alu, bool)> {
            match op {
                $($(Op::$op => Some((Alu::$name, false)),)?)*
                $($(Op::$swapped => Some((Alu::$name, true)),)?)*
                _ => None,
            }
        }
    };
}
alu_table!(define);

impl Lowerer<'_> {
    /// Instructions that a row of the table names; false if none does.
    pub fn op_by_component(&mut self, i: &Instruction<'_>) -> Result<bool, CompileError> {
        let Some((alu, swapped)) = by_component(i.op) else { return Ok(false) };
        let alu = self.of_bools(i, alu)?;
        self.by_component(i, alu, 3, swapped)?;
        Ok(true)
    }

    /// Bitwise operations on Booleans are the logical ones. They are not valid, but taichi writes them, and
    /// drivers take them.
    fn of_bools(&mut self, i: &Instruction<'_>, alu: Alu) -> Result<Alu, CompileError> {
        let logical = match alu {
            Alu::And => Alu::LogicalAnd,
            Alu::Or => Alu::LogicalOr,
            Alu::Xor => Alu::LogicalNotEqual,
            Alu::Not => Alu::LogicalNot,
            _ => return Ok(alu),
        };
        let bools = self.operand(i, 3)?.iter().all(|&value| self.b.scalar(value) == Scalar::Bool);
        Ok(if bools { logical } else { alu })
    }

    /// An operation on each component of the operands from word `first` on.
    pub fn by_component(
        &mut self,
        i: &Instruction<'_>,
        alu: Alu,
        first: usize,
        swapped: bool,
    ) -> Result<(), CompileError> {
        let row = alu.row();
        let mut operands: [Flat; 4] = Default::default();
        if alu.has(Mark::Vector) {
            let vector = self.operand(i, first)?;
            if vector.len() != row.operands {
                return Err(i.invalid("has operands of types that it does not take"));
            }
            for (operand, &component) in operands.iter_mut().zip(&vector) {
                operand.push(component);
            }
        } else {
            for (k, operand) in operands.iter_mut().take(row.operands).enumerate() {
                *operand = self.operand(i, first + k)?;
            }
        }
        if swapped {
            operands.swap(0, 1);
        }
        let operands = &operands[..row.operands];
        let components = operands[0].len();
        if operands.iter().any(|operand| operand.len() != components) {
            return Err(i.invalid("has operands of different sizes"));
        }
        let converted = match row.results {
            [Gives::Word] => Some(self.types.scalar(i.id(1)?)?),
            _ => None,
        };
        let mut results: [Flat; 4] = Default::default();
        for k in 0..components {
            let arguments: SmallVec<[Value; 4]> = operands.iter().map(|operand| operand[k]).collect();
            self.check_takes(i, alu, &arguments)?;
            if alu.has(Mark::Divides) {
                self.note_division(i, arguments[1]);
            }
            for (k, mut value) in self.b.alu_all(alu, &arguments).into_iter().enumerate() {
                if let Some(to) = converted.filter(|to| !to.is_float() && *to != Scalar::Bool) {
                    value = self.b.convert(Conversion::SConvert, to, value);
                }
                results[k].push(value);
            }
        }
        self.set(i, &results.concat())
    }

    fn check_takes(&self, i: &Instruction<'_>, alu: Alu, arguments: &[Value]) -> Result<(), CompileError> {
        let takes = alu.row().takes;
        if arguments.first().is_some_and(|&x| takes.take(self.b.scalar(x))) && self.same_types(arguments) {
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
                // Cooperative matrices may be of integers.
                let alu = if self.b.scalar(s).is_float() { Alu::FMul } else { Alu::IMul };
                let mut out = Flat::new();
                for &x in &a {
                    self.check_takes(i, alu, &[x, s])?;
                    let scalar = self.b.scalar(x);
                    out.push(self.b.alu(alu, scalar, &[x, s]));
                }
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
                let encoding = self.encoding_of(i.id(3)?);
                let a: Flat = a.iter().map(|&x| self.decoded(encoding, x)).collect();
                let b: Flat = b.iter().map(|&x| self.decoded(encoding, x)).collect();
                let value = self.dot(&a, &b);
                let value = self.encoded(encoding, false, value);
                self.set(i, &[value])?;
            }
            UCountLeadingZerosINTEL | UCountTrailingZerosINTEL => self.count_zeros(i)?,
            IMul32x16INTEL => self.multiply_by_half(i, Conversion::SConvert)?,
            UMul32x16INTEL => self.multiply_by_half(i, Conversion::UConvert)?,
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

    /// Zeros before the first one from either end; the width if there is none.
    fn count_zeros(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let leading = i.op == Op::UCountLeadingZerosINTEL;
        let alu = if leading { Alu::FindUMsb } else { Alu::FindILsb };
        let mut out = Flat::new();
        for x in self.operand(i, 3)? {
            self.check_takes(i, alu, &[x])?;
            let scalar = self.b.scalar(x);
            let width = scalar.bytes() * 8;
            // Its number; -1 if there is none.
            let one = self.b.alu(alu, Scalar::I32, &[x]);
            let count = if leading {
                let last = self.b.int(width - 1);
                self.b.alu(Alu::ISub, Scalar::I32, &[last, one])
            } else {
                let width = self.b.int(width);
                self.b.alu(Alu::UMin, Scalar::I32, &[one, width])
            };
            out.push(self.b.convert(Conversion::UConvert, scalar, count));
        }
        self.set(i, &out)
    }

    /// 32 bits by the low 16 bits of the second operand, extended by `extend`.
    fn multiply_by_half(&mut self, i: &Instruction<'_>, extend: Conversion) -> Result<(), CompileError> {
        let (a, b) = (self.operand(i, 3)?, self.operand(i, 4)?);
        if a.len() != b.len() {
            return Err(i.invalid("has operands of different sizes"));
        }
        let mut out = Flat::new();
        for (&x, &y) in a.iter().zip(&b) {
            self.check_takes(i, Alu::IMul, &[x, y])?;
            let scalar = self.b.scalar(x);
            let half = self.b.convert(Conversion::UConvert, Scalar::I16, y);
            let half = self.b.convert(extend, scalar, half);
            out.push(self.b.alu(Alu::IMul, scalar, &[x, half]));
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
        if matches!(self.types.get(self.type_of(i.id(3)?)?)?.kind, Type::Scalar { .. }) {
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
