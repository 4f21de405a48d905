//! The GLSL.std.450 extended instruction set.

use super::lowerer::{Flat, Lowerer};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Conversion, Scalar, Value, alu_table};
use spirv::GLOp;

macro_rules! define {
    ($($(#[$doc:meta])* $name:ident $takes:ident $operands:literal -> $($result:ident)+ [$($mark:ident)*]
        ($($code:ident)*) ($($code_64:ident)*) $(op $op:ident)? $(swapped $swapped:ident)? $(glsl $glsl:ident)?;
    )*) => {
        /// The operation that an instruction is, component by component.
        fn by_component(op: GLOp) -> Option<Alu> {
            match op {
                $($(GLOp::$glsl => Some(Alu::$name),)?)*
                _ => None,
            }
        }
    };
}
alu_table!(define);

impl Lowerer<'_> {
    /// OpExtInst of GLSL.std.450.
    pub fn op_glsl(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let number = i.word(4)?;
        let op = GLOp::from_u32(number)
            .ok_or_else(|| CompileError::NotImplemented(format!("GLSL.std.450 instruction {number}")))?;
        if let Some(alu) = by_component(op) {
            return self.by_component(i, alu, 5, false);
        }
        use GLOp::*;
        match op {
            Radians | Degrees => {
                let factor = std::f64::consts::PI / 180.0;
                let factor = if op == Radians { factor } else { 1.0 / factor };
                let a = self.floats(i, 5)?;
                let out: Flat = a
                    .iter()
                    .map(|&x| {
                        let factor = self.b.float(self.b.scalar(x), factor);
                        self.multiply(x, factor)
                    })
                    .collect();
                self.set(i, &out)
            }
            Length => {
                let a = self.floats(i, 5)?;
                let value = self.length(&a);
                self.set(i, &[value])
            }
            Distance => {
                let (a, b) = (self.floats(i, 5)?, self.floats(i, 6)?);
                let difference = self.zip(i, Alu::FSub, &a, &b)?;
                let value = self.length(&difference);
                self.set(i, &[value])
            }
            Normalize => {
                let a = self.floats(i, 5)?;
                let length = self.length(&a);
                let scalar = self.b.scalar(length);
                let out: Flat = a.iter().map(|&x| self.b.alu(Alu::FDiv, scalar, &[x, length])).collect();
                self.set(i, &out)
            }
            Cross => {
                let (a, b) = (self.floats(i, 5)?, self.floats(i, 6)?);
                if a.len() != 3 || b.len() != 3 {
                    return Err(i.invalid("of vectors that have not 3 components"));
                }
                let out: Flat = [(1, 2), (2, 0), (0, 1)]
                    .into_iter()
                    .map(|(p, q)| {
                        let (x, y) = (self.multiply(a[p], b[q]), self.multiply(a[q], b[p]));
                        self.sub(x, y)
                    })
                    .collect();
                self.set(i, &out)
            }
            FaceForward => {
                let (n, incident, reference) = (self.floats(i, 5)?, self.floats(i, 6)?, self.floats(i, 7)?);
                let dot = self.dot(&reference, &incident);
                let scalar = self.b.scalar(dot);
                let zero = self.b.float(scalar, 0.0);
                let front = self.b.alu(Alu::FOrdLess, Scalar::Bool, &[dot, zero]);
                let out: Flat = n
                    .iter()
                    .map(|&x| {
                        let back = self.b.alu(Alu::FNegate, scalar, &[x]);
                        self.b.select(front, x, back)
                    })
                    .collect();
                self.set(i, &out)
            }
            Reflect => {
                let (incident, n) = (self.floats(i, 5)?, self.floats(i, 6)?);
                let dot = self.dot(&n, &incident);
                let two = self.b.float(self.b.scalar(dot), 2.0);
                let factor = self.multiply(two, dot);
                let scaled: Flat = n.iter().map(|&x| self.multiply(factor, x)).collect();
                let out = self.zip(i, Alu::FSub, &incident, &scaled)?;
                self.set(i, &out)
            }
            Refract => self.refract(i),
            Modf | ModfStruct => self.two_results(i, Alu::Modf, op == ModfStruct),
            Frexp | FrexpStruct => self.two_results(i, Alu::Frexp, op == FrexpStruct),
            Ldexp => {
                let (a, e) = (self.floats(i, 5)?, self.operand(i, 6)?);
                if a.len() != e.len() {
                    return Err(i.invalid("has operands of different sizes"));
                }
                let mut out = Flat::new();
                for (&x, &e) in a.iter().zip(&e) {
                    let scalar = self.b.scalar(x);
                    let e = self.exponent(e);
                    out.push(self.b.alu(Alu::Ldexp, scalar, &[x, e]));
                }
                self.set(i, &out)
            }
            Determinant => {
                let m = self.floats(i, 5)?;
                let (n, _) = self.matrix_shape(self.type_of(i.id(5)?)?)?;
                let value = self.determinant(&m, n);
                self.set(i, &[value])
            }
            MatrixInverse => {
                let m = self.floats(i, 5)?;
                let (n, _) = self.matrix_shape(self.type_of(i.id(5)?)?)?;
                let out = self.inverse(&m, n);
                self.set(i, &out)
            }
            PackDouble2x32 | UnpackDouble2x32 => {
                let to = if op == PackDouble2x32 { Scalar::F64 } else { Scalar::I32 };
                let values = self.operand(i, 5)?;
                let out = self.bitcast(&values, to);
                self.set(i, &out)
            }
            other => Err(CompileError::NotImplemented(format!("GLSL.std.450 {other:?}"))),
        }
    }

    /// Operand `index`, which must be floats.
    fn floats(&mut self, i: &Instruction<'_>, index: usize) -> Result<Flat, CompileError> {
        let values = self.operand(i, index)?;
        let first = values.first().map(|&value| self.b.scalar(value));
        if !first.is_some_and(Scalar::is_float) || !self.same_types(&values) {
            return Err(i.invalid("has operands of types that it does not take"));
        }
        Ok(values)
    }

    fn zip(&mut self, i: &Instruction<'_>, alu: Alu, a: &[Value], b: &[Value]) -> Result<Flat, CompileError> {
        if a.len() != b.len() {
            return Err(i.invalid("has operands of different sizes"));
        }
        Ok(a.iter()
            .zip(b)
            .map(|(&x, &y)| {
                let scalar = self.b.scalar(x);
                self.b.alu(alu, scalar, &[x, y])
            })
            .collect())
    }

    fn sub(&mut self, x: Value, y: Value) -> Value {
        let scalar = self.b.scalar(x);
        self.b.alu(Alu::FSub, scalar, &[x, y])
    }

    fn length(&mut self, a: &[Value]) -> Value {
        let scalar = self.b.scalar(a[0]);
        if let [x] = a {
            return self.b.alu(Alu::FAbs, scalar, &[*x]);
        }
        let square = self.dot(a, a);
        self.b.alu(Alu::Sqrt, scalar, &[square])
    }

    /// `k = 1 - eta^2 (1 - dot(N, I)^2)`; zero if k < 0, else `eta I - (eta dot(N, I) + sqrt(k)) N`.
    fn refract(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let (incident, n) = (self.floats(i, 5)?, self.floats(i, 6)?);
        let eta = self.scalar_operand(i, 7)?;
        let scalar = self.b.scalar(incident[0]);
        let eta = self.b.convert(Conversion::FConvert, scalar, eta);
        let dot = self.dot(&n, &incident);
        let one = self.b.float(scalar, 1.0);
        let zero = self.b.float(scalar, 0.0);
        let square = self.multiply(dot, dot);
        let sine = self.sub(one, square);
        let eta2 = self.multiply(eta, eta);
        let bent = self.multiply(eta2, sine);
        let k = self.sub(one, bent);
        let total = self.b.alu(Alu::FOrdLess, Scalar::Bool, &[k, zero]);
        let root = self.b.alu(Alu::Sqrt, scalar, &[k]);
        let along = self.multiply(eta, dot);
        let factor = self.b.alu(Alu::FAdd, scalar, &[along, root]);
        let scaled: Flat = n.iter().map(|&x| self.multiply(factor, x)).collect();
        let straight: Flat = incident.iter().map(|&x| self.multiply(eta, x)).collect();
        let through = self.zip(i, Alu::FSub, &straight, &scaled)?;
        let out: Flat = through.iter().map(|&x| self.b.select(total, zero, x)).collect();
        self.set(i, &out)
    }

    /// Modf and Frexp: the second result goes to memory or into a structure.
    fn two_results(&mut self, i: &Instruction<'_>, alu: Alu, structure: bool) -> Result<(), CompileError> {
        let a = self.floats(i, 5)?;
        let (mut first, mut second) = (Flat::new(), Flat::new());
        for &x in &a {
            let parts = self.b.alu_all(alu, &[x]);
            first.push(parts[0]);
            second.push(parts[1]);
        }
        if structure {
            if alu == Alu::Frexp {
                let scalars = self.scalars(i.id(1)?)?;
                let to = scalars.last().copied().unwrap_or(Scalar::I32);
                second = second.iter().map(|&x| self.b.convert(Conversion::SConvert, to, x)).collect();
            }
            first.extend(second);
            return self.set(i, &first);
        }
        let pointer = self.pointer(i.id(6)?)?;
        if alu == Alu::Frexp {
            let to = self.types.scalar(pointer.pointee)?;
            second = second.iter().map(|&x| self.b.convert(Conversion::SConvert, to, x)).collect();
        }
        let site = self.site(i, pointer.variable);
        self.store(&pointer, &second, Default::default(), site)?;
        self.set(i, &first)
    }

    /// An exponent of Ldexp as 32 bits; one beyond any float's range stays beyond it.
    fn exponent(&mut self, e: Value) -> Value {
        let wide = self.b.scalar(e);
        if wide != Scalar::I64 {
            return self.b.convert(Conversion::SConvert, Scalar::I32, e);
        }
        let [low, high] = [-0x1_0000i64, 0x1_0000].map(|bound| self.b.constant(wide, bound as u64));
        let e = self.b.alu(Alu::SClamp, wide, &[e, low, high]);
        self.b.convert(Conversion::SConvert, Scalar::I32, e)
    }

    /// Determinant of an n x n matrix by its first column.
    fn determinant(&mut self, m: &[Value], n: usize) -> Value {
        if n == 1 {
            return m[0];
        }
        let mut sum: Option<Value> = None;
        for row in 0..n {
            let minor = self.minor(m, n, 0, row);
            let minor = self.determinant(&minor, n - 1);
            let term = self.multiply(m[row], minor);
            let scalar = self.b.scalar(term);
            sum = Some(match sum {
                None => term,
                Some(sum) => {
                    let alu = if row % 2 == 1 { Alu::FSub } else { Alu::FAdd };
                    self.b.alu(alu, scalar, &[sum, term])
                }
            });
        }
        sum.unwrap_or(m[0])
    }

    /// The matrix without one column and one row.
    fn minor(&self, m: &[Value], n: usize, column: usize, row: usize) -> Vec<Value> {
        (0..n * n).filter(|k| k / n != column && k % n != row).map(|k| m[k]).collect()
    }

    /// Adjugate over determinant.
    fn inverse(&mut self, m: &[Value], n: usize) -> Flat {
        let determinant = self.determinant(m, n);
        let scalar = self.b.scalar(determinant);
        let mut out = Flat::new();
        for column in 0..n {
            for row in 0..n {
                // Element (row, column) of the inverse is the cofactor of (column, row).
                let minor = self.minor(m, n, row, column);
                let mut cofactor = self.determinant(&minor, n - 1);
                if (row + column) % 2 == 1 {
                    cofactor = self.b.alu(Alu::FNegate, scalar, &[cofactor]);
                }
                out.push(self.b.alu(Alu::FDiv, scalar, &[cofactor, determinant]));
            }
        }
        out
    }
}
