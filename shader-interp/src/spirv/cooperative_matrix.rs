//! SPV_KHR_cooperative_matrix: loads, stores, products and the length of matrices. What else is done to them
//! is done component by component, as to vectors.

use super::lowerer::{Flat, Lowerer, MAX_SCALARS};
use super::memory::MemoryOperands;
use super::pointer::{Base, Pointer};
use super::types::{Encoding, Type, TypeInfo, Types};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, BuiltIn, Component, Conversion, MatrixComponents, MatrixMulAdd, OpKind, Scalar, Value};
use pellucid_memory::access::Site;
use smallvec::SmallVec;
use spirv::Op;

/// OpTypeCooperativeMatrixKHR of the scope Subgroup. See [`crate::ir::MatrixMulAdd`] for where its scalars
/// are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatrixType {
    /// Component type id.
    pub component: u32,
    pub rows: u32,
    pub columns: u32,
    /// Cooperative Matrix Use, as its number: A, B or accumulator.
    pub matrix_use: u32,
    /// Components of an invocation.
    pub count: u32,
}

impl Types {
    /// Defines the type of an OpTypeCooperativeMatrixKHR. `constant` reads the value of a constant.
    pub fn cooperative_matrix(
        &mut self,
        i: &Instruction<'_>,
        constant: impl Fn(u32) -> Result<u32, CompileError>,
    ) -> Result<(), CompileError> {
        let component = i.id(2)?;
        let &TypeInfo { ref kind, size, align, scalar, .. } = self.get(component)?;
        if !matches!(kind, Type::Scalar { .. }) || scalar == Some(Scalar::Bool) {
            return Err(i.invalid("has components that are no numbers"));
        }
        let (scope, rows, columns, matrix_use) =
            (constant(i.id(3)?)?, constant(i.id(4)?)?, constant(i.id(5)?)?, constant(i.id(6)?)?);
        if scope != spirv::Scope::Subgroup as u32 {
            return Err(i.refuse(&format!("of scope {scope}, which is not Subgroup")));
        }
        let scalars = rows.checked_mul(columns).filter(|&scalars| scalars > 0 && matrix_use <= 2);
        let scalars = scalars.ok_or_else(|| i.invalid("has no such size or use"))?;
        let lanes = self.lanes;
        if !scalars.is_multiple_of(lanes) {
            let size = format!("of {rows} rows and {columns} columns in subgroups of {lanes} invocations");
            return Err(i.refuse(&size));
        }
        let count = scalars / lanes;
        if count > MAX_SCALARS {
            return Err(CompileError::Limit(format!("a matrix of {rows} rows and {columns} columns")));
        }
        let matrix = MatrixType { component, rows, columns, matrix_use, count };
        self.insert(i.id(1)?, Type::CooperativeMatrix(matrix), count, scalar, size * count, align);
        Ok(())
    }

    /// The cooperative matrix that a type is.
    pub fn matrix(&self, id: u32) -> Result<MatrixType, CompileError> {
        match self.get(id)?.kind {
            Type::CooperativeMatrix(matrix) => Ok(matrix),
            _ => Err(CompileError::Invalid(format!("type {id} is no cooperative matrix"))),
        }
    }
}

/// A row or column of a component: what it is in each lane, and what is added.
type Place = (Option<Value>, u32);

/// How a matrix lies in memory.
#[derive(Clone, Copy)]
struct MatrixLayout {
    column_major: bool,
    /// From one row, or column, to the next, in units; an integer.
    stride: Value,
    /// Bytes of a unit.
    unit: u32,
    /// It is a signed integer.
    signed: bool,
}

impl Lowerer<'_> {
    /// MemoryLayout and Stride, from word `at` on.
    fn matrix_layout(
        &mut self,
        i: &Instruction<'_>,
        at: usize,
        unit: u32,
    ) -> Result<MatrixLayout, CompileError> {
        let column_major = match self.constant_u32(i.id(at)?)? {
            0 => false,
            1 => true,
            other => return Err(i.refuse(&format!("with memory layout {other}"))),
        };
        if i.len() <= at + 1 {
            return Err(i.invalid("has no stride"));
        }
        let stride = self.scalar_operand(i, at + 1)?;
        if self.b.scalar(stride).is_float() || self.b.scalar(stride) == Scalar::Bool {
            return Err(i.invalid("has a stride that is no integer"));
        }
        let signed = self.types.signed(self.type_of(i.id(at + 1)?)?);
        Ok(MatrixLayout { column_major, stride, unit, signed })
    }

    /// Row and column of component `k` of each lane.
    fn row_and_column(&mut self, matrix: &MatrixType, k: u32) -> (Place, Place) {
        let lanes = self.options.subgroup_size;
        let lane = self.b.built_in(BuiltIn::SubgroupLocalInvocationId);
        let columns = self.b.int(matrix.columns);
        let of = |lowerer: &mut Self, scalar: Value| {
            let row = lowerer.b.alu(Alu::UDiv, Scalar::I32, &[scalar, columns]);
            let column = lowerer.b.alu(Alu::UMod, Scalar::I32, &[scalar, columns]);
            (Some(row), Some(column))
        };
        if lanes.is_multiple_of(matrix.columns) {
            let (row, column) = of(self, lane);
            ((row, k * (lanes / matrix.columns)), (column, 0))
        } else if matrix.columns.is_multiple_of(lanes) {
            let first = k * lanes;
            ((None, first / matrix.columns), (Some(lane), first % matrix.columns))
        } else {
            let first = self.b.int(k * lanes);
            let scalar = self.b.add(lane, first);
            let (row, column) = of(self, scalar);
            ((row, 0), (column, 0))
        }
    }

    /// Pointers to the lane's components of a matrix at `pointer`.
    fn matrix_elements(
        &mut self,
        pointer: &Pointer,
        matrix: &MatrixType,
        layout: MatrixLayout,
    ) -> Result<Vec<Pointer>, CompileError> {
        let size = self.types.get(matrix.component)?.size;
        let physical = matches!(pointer.base, Base::Physical(_));
        let index = if physical { Scalar::I64 } else { Scalar::I32 };
        let widen = if layout.signed { Conversion::SConvert } else { Conversion::UConvert };
        let stride = self.b.convert(widen, index, layout.stride);
        let mut elements = Vec::with_capacity(matrix.count as usize);
        for k in 0..matrix.count {
            let (row, column) = self.row_and_column(matrix, k);
            let (major, minor) = if layout.column_major { (column, row) } else { (row, column) };
            let mut element = *pointer;
            if let Some(lane) = major.0 {
                let lane = self.b.convert(Conversion::UConvert, index, lane);
                let by = self.b.alu(Alu::IMul, index, &[lane, stride]);
                element.index(&mut self.b, by, true, layout.unit);
            }
            if let Some(lane) = minor.0 {
                element.index(&mut self.b, lane, false, size);
            }
            if major.1 != 0 {
                let by = self.b.scale(stride, u64::from(major.1));
                element.index(&mut self.b, by, true, layout.unit);
            }
            element.advance(&mut self.b, minor.1 * size);
            element.pointee = matrix.component;
            element.layout.component_stride = 0;
            elements.push(element);
        }
        Ok(elements)
    }

    /// Bytes of what a stride counts: pointees, or bytes where the pointer is untyped.
    fn stride_unit(&self, id: u32, pointer: &Pointer) -> Result<u32, CompileError> {
        if self.is_untyped(id) { Ok(1) } else { self.types.size(pointer.pointee, pointer.layout) }
    }

    fn check_matrix_pointer(&self, i: &Instruction<'_>, pointer: &Pointer) -> Result<(), CompileError> {
        let shared = matches!(
            pointer.base,
            Base::Buffer { .. } | Base::Physical(_) | Base::Workgroup(_) | Base::Chosen { .. }
        );
        if shared && !pointer.descriptor_array {
            return Ok(());
        }
        Err(i.invalid("is of a matrix that is not in a storage buffer, nor in workgroup memory"))
    }

    /// OpCooperativeMatrixLoadKHR.
    pub fn op_matrix_load(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let matrix = self.types.matrix(i.id(1)?)?;
        let pointer = self.pointer_to(i.id(3)?, matrix.component)?;
        self.check_matrix_pointer(i, &pointer)?;
        let unit = self.stride_unit(i.id(3)?, &pointer)?;
        let layout = self.matrix_layout(i, 4, unit)?;
        let (operands, _) = self.memory_operands(i, 6)?;
        let site = self.site(i, pointer.variable);
        let scalars = self.scalars(i.id(1)?)?;
        let values = self.at_each_root(&pointer, &scalars, &mut |lowerer, pointer| {
            let site = lowerer.site_through(site, pointer.variable)?;
            lowerer.load_matrix(pointer, &matrix, layout, operands, site)
        })?;
        self.set(i, &values)
    }

    fn load_matrix(
        &mut self,
        pointer: &Pointer,
        matrix: &MatrixType,
        layout: MatrixLayout,
        operands: MemoryOperands,
        site: Site,
    ) -> Result<Flat, CompileError> {
        let mut values = Flat::new();
        for element in self.matrix_elements(pointer, matrix, layout)? {
            values.extend(self.load(&element, operands, site)?);
        }
        Ok(values)
    }

    /// OpCooperativeMatrixStoreKHR.
    pub fn op_matrix_store(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let matrix = self.types.matrix(self.type_of(i.id(2)?)?)?;
        let pointer = self.pointer_to(i.id(1)?, matrix.component)?;
        self.check_matrix_pointer(i, &pointer)?;
        let values = self.operand(i, 2)?;
        let unit = self.stride_unit(i.id(1)?, &pointer)?;
        let layout = self.matrix_layout(i, 3, unit)?;
        let (operands, _) = self.memory_operands(i, 5)?;
        let site = self.site(i, pointer.variable);
        self.at_each_root(&pointer, &[], &mut |lowerer, pointer| {
            let site = lowerer.site_through(site, pointer.variable)?;
            let elements = lowerer.matrix_elements(pointer, &matrix, layout)?;
            for (element, &value) in elements.iter().zip(&values) {
                lowerer.store(element, &[value], operands, site)?;
            }
            Ok(Flat::new())
        })?;
        Ok(())
    }

    /// OpCooperativeMatrixMulAddKHR.
    pub fn op_matrix_mul_add(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let result = self.types.matrix(i.id(1)?)?;
        let mut of = [result; 3];
        for (k, of) in of.iter_mut().enumerate() {
            *of = self.types.matrix(self.type_of(i.id(3 + k)?)?)?;
        }
        let [a, b, c] = of;
        let shape = |matrix: &MatrixType| (matrix.rows, matrix.columns, matrix.matrix_use);
        let (m, n, k) = (result.rows, result.columns, a.columns);
        if [a, b, c, result].map(|matrix| shape(&matrix)) != [(m, k, 0), (k, n, 1), (m, n, 2), (m, n, 2)] {
            return Err(i.invalid("has matrices of other sizes or uses than it takes"));
        }
        let operands = i.rest(6).first().copied().unwrap_or(0);
        if operands & !0x1f != 0 {
            return Err(i.refuse(&format!("with cooperative matrix operands {operands:#x}")));
        }
        // Floats of other encodings are multiplied as F32.
        let component = |matrix: &MatrixType, bit: u32| {
            let scalar = match self.types.encoding(matrix.component) {
                Encoding::Plain => self.types.scalar(matrix.component)?,
                _ => Scalar::F32,
            };
            let signed = operands & bit != 0;
            if signed && scalar.is_float() {
                return Err(i.invalid("has signed components that are floats"));
            }
            Ok(Component { scalar, signed })
        };
        let numbers = MatrixComponents::Numbers {
            a: component(&a, 1)?,
            b: component(&b, 2)?,
            c: component(&c, 4)?,
            result: component(&result, 8)?,
            saturating: operands & 0x10 != 0,
        };
        let product = MatrixMulAdd { m, n, k, of: numbers };
        let floats = product.scalars().map(Scalar::is_float);
        if floats != [floats[3]; 4] {
            return Err(i.refuse("of integers and floats"));
        }
        let mut arguments: SmallVec<[Value; 32]> = SmallVec::new();
        for (k, matrix) in (3..).zip(&of) {
            let encoding = self.types.encoding(matrix.component);
            for value in self.operand(i, k)? {
                arguments.push(self.decoded(encoding, value));
            }
        }
        let site = self.site(i, 0);
        let results = vec![product.scalars()[3]; result.count as usize];
        let values = self.b.op(OpKind::MatrixMulAdd(product), &results, &arguments, site);
        let encoding = self.types.encoding(result.component);
        let values: Flat = values.iter().map(|&value| self.encoded(encoding, false, value)).collect();
        self.set(i, &values)
    }

    /// OpCooperativeMatrixLengthKHR, among the constants, too; false if the opcode is another.
    pub fn op_matrix_length(&mut self, i: &Instruction<'_>) -> Result<bool, CompileError> {
        if i.op != Op::CooperativeMatrixLengthKHR {
            return Ok(false);
        }
        let length = self.types.matrix(i.id(3)?)?.count;
        let length = self.b.int(length);
        self.set(i, &[length])?;
        Ok(true)
    }
}
