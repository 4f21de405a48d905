//! The GLSL.std.450 extended instruction set.

use super::lowerer::{Flat, Lowerer};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Conversion, OpKind, Scalar, Value};
use pellucid_memory::access::Site;
use spirv::GLOp;

/// Component-wise instructions.
fn simple(op: GLOp) -> Option<(Alu, usize)> {
    use GLOp::*;
    Some(match op {
        Round => (Alu::Round, 1),
        RoundEven => (Alu::RoundEven, 1),
        Trunc => (Alu::Trunc, 1),
        FAbs => (Alu::FAbs, 1),
        SAbs => (Alu::SAbs, 1),
        FSign => (Alu::FSign, 1),
        SSign => (Alu::SSign, 1),
        Floor => (Alu::Floor, 1),
        Ceil => (Alu::Ceil, 1),
        Fract => (Alu::Fract, 1),
        Sin => (Alu::Sin, 1),
        Cos => (Alu::Cos, 1),
        Tan => (Alu::Tan, 1),
        Asin => (Alu::Asin, 1),
        Acos => (Alu::Acos, 1),
        Atan => (Alu::Atan, 1),
        Sinh => (Alu::Sinh, 1),
        Cosh => (Alu::Cosh, 1),
        Tanh => (Alu::Tanh, 1),
        Asinh => (Alu::Asinh, 1),
        Acosh => (Alu::Acosh, 1),
        Atanh => (Alu::Atanh, 1),
        Atan2 => (Alu::Atan2, 2),
        Pow => (Alu::Pow, 2),
        Exp => (Alu::Exp, 1),
        Log => (Alu::Log, 1),
        Exp2 => (Alu::Exp2, 1),
        Log2 => (Alu::Log2, 1),
        Sqrt => (Alu::Sqrt, 1),
        InverseSqrt => (Alu::InverseSqrt, 1),
        FMin => (Alu::FMin, 2),
        UMin => (Alu::UMin, 2),
        SMin => (Alu::SMin, 2),
        FMax => (Alu::FMax, 2),
        UMax => (Alu::UMax, 2),
        SMax => (Alu::SMax, 2),
        FClamp => (Alu::FClamp, 3),
        UClamp => (Alu::UClamp, 3),
        SClamp => (Alu::SClamp, 3),
        FMix => (Alu::FMix, 3),
        Step => (Alu::Step, 2),
        SmoothStep => (Alu::SmoothStep, 3),
        Fma => (Alu::Fma, 3),
        FindILsb => (Alu::FindILsb, 1),
        FindSMsb => (Alu::FindSMsb, 1),
        FindUMsb => (Alu::FindUMsb, 1),
        NMin => (Alu::NMin, 2),
        NMax => (Alu::NMax, 2),
        NClamp => (Alu::NClamp, 3),
        _ => return None,
    })
}

fn takes_integers(op: Alu) -> bool {
    use Alu::*;
    matches!(op, SAbs | SSign | UMin | SMin | UMax | SMax | UClamp | SClamp | FindILsb | FindSMsb | FindUMsb)
}

fn is_float(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::F16 | Scalar::F32 | Scalar::F64)
}

impl Lowerer<'_> {
    /// OpExtInst of GLSL.std.450.
    pub fn op_glsl(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let number = i.word(4)?;
        let op = GLOp::from_u32(number)
            .ok_or_else(|| CompileError::NotImplemented(format!("GLSL.std.450 instruction {number}")))?;
        if let Some((alu, arity)) = simple(op) {
            return self.glsl_simple(i, alu, arity);
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
            PackHalf2x16 => self.packing(i, Alu::PackHalf2x16, 2, 1),
            PackSnorm2x16 => self.packing(i, Alu::PackSnorm2x16, 2, 1),
            PackUnorm2x16 => self.packing(i, Alu::PackUnorm2x16, 2, 1),
            PackSnorm4x8 => self.packing(i, Alu::PackSnorm4x8, 4, 1),
            PackUnorm4x8 => self.packing(i, Alu::PackUnorm4x8, 4, 1),
            UnpackHalf2x16 => self.packing(i, Alu::UnpackHalf2x16, 1, 2),
            UnpackSnorm2x16 => self.packing(i, Alu::UnpackSnorm2x16, 1, 2),
            UnpackUnorm2x16 => self.packing(i, Alu::UnpackUnorm2x16, 1, 2),
            UnpackSnorm4x8 => self.packing(i, Alu::UnpackSnorm4x8, 1, 4),
            UnpackUnorm4x8 => self.packing(i, Alu::UnpackUnorm4x8, 1, 4),
            PackDouble2x32 | UnpackDouble2x32 => {
                let to = if op == PackDouble2x32 { Scalar::F64 } else { Scalar::I32 };
                let values = self.operand(i, 5)?;
                let out = self.bitcast(&values, to);
                self.set(i, &out)
            }
            other => Err(CompileError::NotImplemented(format!("GLSL.std.450 {other:?}"))),
        }
    }

    fn glsl_simple(&mut self, i: &Instruction<'_>, alu: Alu, arity: usize) -> Result<(), CompileError> {
        let result = self.types.scalar(i.id(1)?)?;
        let mut operands: [Flat; 3] = Default::default();
        for (k, operand) in operands.iter_mut().take(arity).enumerate() {
            *operand = self.operand(i, 5 + k)?;
        }
        let n = operands[0].len();
        if operands[..arity].iter().any(|operand| operand.len() != n) {
            return Err(i.invalid("has operands of different sizes"));
        }
        let mut out = Flat::new();
        for k in 0..n {
            let arguments: Vec<Value> = operands[..arity].iter().map(|operand| operand[k]).collect();
            let scalar = self.b.scalar(arguments[0]);
            if takes_integers(alu) == is_float(scalar)
                || scalar == Scalar::Bool
                || !self.same_types(&arguments)
            {
                return Err(i.invalid("has operands of types that it does not take"));
            }
            let value = self.b.alu(alu, scalar, &arguments);
            out.push(self.b.convert(Conversion::Bitcast, result, value));
        }
        self.set(i, &out)
    }

    /// Operand `index`, which must be floats.
    fn floats(&mut self, i: &Instruction<'_>, index: usize) -> Result<Flat, CompileError> {
        let values = self.operand(i, index)?;
        let first = values.first().map(|&value| self.b.scalar(value));
        if !first.is_some_and(is_float) || !self.same_types(&values) {
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
            let scalar = self.b.scalar(x);
            let other = if alu == Alu::Frexp { Scalar::I32 } else { scalar };
            let [one, two] = self.b.alu2(alu, [scalar, other], &[x]);
            first.push(one);
            second.push(two);
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

    fn packing(&mut self, i: &Instruction<'_>, alu: Alu, from: usize, to: usize) -> Result<(), CompileError> {
        let values = self.operand(i, 5)?;
        let scalar = if from == 1 { Scalar::I32 } else { Scalar::F32 };
        if values.len() != from || values.iter().any(|&x| self.b.scalar(x) != scalar) {
            return Err(i.invalid("has operands of types that it does not take"));
        }
        let result = if to == 1 { Scalar::I32 } else { Scalar::F32 };
        let out = self.b.op(OpKind::Alu(alu), &vec![result; to], &values, Site(0));
        self.set(i, &out)
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
