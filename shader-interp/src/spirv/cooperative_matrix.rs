//! SPV_KHR_cooperative_matrix: loads, stores, products and the length of matrices. What else is done to them
//! is done component by component, as to vectors.

use super::lowerer::{Flat, Lowerer};
use super::memory::MemoryOperands;
use super::pointer::{Base, Pointer};
use super::types::{Encoding, Type, TypeInfo, Types};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{
    Alu, BuiltIn, Component, ComponentType, Conversion, MatrixComponents, MatrixMulAdd, OfferedProduct,
    OpKind, Scalar, Value, offered_products,
};
use pellucid_memory::access::Site;
use pellucid_memory::finding::FindingId;
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
        let of = self.component_type(component, false);
        let offered = offered_products().any(|OfferedProduct { size: [m, n, k], a, b, sum, .. }| {
            let matrix = [(m, k, a), (k, n, b), (m, n, sum)].get(matrix_use as usize).copied();
            matrix.is_some_and(|(m, n, scalar)| (m, n, Some(scalar.unsigned())) == (rows, columns, of))
        });
        if !offered {
            return Err(
                i.refuse(&format!("of {rows} rows and {columns} columns, use {matrix_use}: {UNOFFERED}"))
            );
        }
        let count = rows * columns / self.lanes;
        let matrix = MatrixType { component, rows, columns, matrix_use, count };
        self.matrices = true;
        self.insert(i.id(1)?, Type::CooperativeMatrix(matrix), count, scalar, size * count, align);
        Ok(())
    }

    /// The type of a matrix' components; of integers without what `unsigned` leaves out, unless they are
    /// `signed`, which says nothing of floats.
    fn component_type(&self, component: u32, signed: bool) -> Option<ComponentType> {
        let scalar = self.scalar(component).ok()?;
        Some(match self.encoding(component) {
            Encoding::Plain if scalar.is_float() => ComponentType::Float(scalar.bytes() * 8),
            Encoding::Plain if signed => ComponentType::Sint(scalar.bytes() * 8),
            Encoding::Plain => ComponentType::Uint(scalar.bytes() * 8),
            Encoding::Bfloat16 => ComponentType::Bfloat16,
            Encoding::E4m3 => ComponentType::FloatE4m3,
            Encoding::E5m2 => ComponentType::FloatE5m2,
        })
    }

    /// The cooperative matrix that a type is.
    pub fn matrix(&self, id: u32) -> Result<MatrixType, CompileError> {
        match self.get(id)?.kind {
            Type::CooperativeMatrix(matrix) => Ok(matrix),
            _ => Err(CompileError::Invalid(format!("type {id} is no cooperative matrix"))),
        }
    }
}

/// VUID-RuntimeSpirv-OpTypeCooperativeMatrixKHR-10163, VUID-RuntimeSpirv-OpCooperativeMatrixMulAddKHR-10060.
const UNOFFERED: &str = "no VkCooperativeMatrixPropertiesKHR of this device has it";

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

    /// VUID-VkPipelineShaderStageCreateInfo-module-08987: without it, components would be missing.
    pub fn check_matrix_workgroup(&self) -> Result<(), CompileError> {
        let size = self.options.subgroup_size;
        if self.types.matrices && !self.local_size[0].is_multiple_of(size) {
            return Err(CompileError::Invalid(format!(
                "a workgroup of {} invocations in X, which is no multiple of the subgroup size {size}, uses \
                 cooperative matrices of scope Subgroup (VUID-VkPipelineShaderStageCreateInfo-module-08987)",
                self.local_size[0]
            )));
        }
        Ok(())
    }

    /// Finds an instruction that not all invocations of the subgroup execute, or with other operands.
    fn check_matrix_uniform(&mut self, i: &Instruction<'_>, operands: &[Value]) {
        if !self.options.modelled {
            return;
        }
        let site = self.site(i, 0);
        let (_, active) = self.active(site);
        let whole = self.b.int(u32::MAX >> (32 - self.options.subgroup_size));
        let mut differs = self.b.alu(Alu::INotEqual, Scalar::Bool, &[active, whole]);
        for &value in operands {
            let scalar = self.b.scalar(value);
            let first = self.b.one(OpKind::BroadcastFirst, scalar, &[value], site);
            let here = self.b.alu(Alu::INotEqual, Scalar::Bool, &[first, value]);
            differs = self.b.alu(Alu::LogicalOr, Scalar::Bool, &[differs, here]);
        }
        self.note(i, FindingId::CooperativeMatrixDivergence, differs);
    }

    /// The invocation whose components each invocation accesses in the next load or store, and the one that
    /// accesses its own. The specification leaves it to the implementation who accesses what (Memory Model:
    /// Cooperative Matrix Memory Access), so that a model of all implementations has others in every
    /// instruction: what one stores and the next loads meets in two invocations. `None`: the invocation
    /// itself.
    fn matrix_lanes(&mut self) -> Option<(Value, Value)> {
        let lanes = self.options.subgroup_size;
        // Never each invocation its own: shaders fill tiles so, and would seem to need no barrier.
        let by = match lanes {
            0..=2 => self.matrix_accesses % lanes.max(1),
            _ => 1 + self.matrix_accesses % (lanes - 1),
        };
        self.matrix_accesses += 1;
        self.sees_convergence();
        if !self.options.modelled || by == 0 {
            return None;
        }
        let lane = self.b.built_in(BuiltIn::SubgroupLocalInvocationId);
        let last = self.b.int(lanes - 1);
        let [after, before] = [by, lanes - by].map(|by| {
            let by = self.b.int(by);
            let lane = self.b.add(lane, by);
            self.b.alu(Alu::And, Scalar::I32, &[lane, last])
        });
        Some((after, before))
    }

    /// Values of another invocation.
    fn shuffled(&mut self, values: &[Value], lane: Value, site: Site) -> Flat {
        let of = |&value: &Value| {
            let scalar = self.b.scalar(value);
            self.b.one(OpKind::Shuffle, scalar, &[value, lane], site)
        };
        values.iter().map(of).collect()
    }

    /// Row and column of component `k` of each lane.
    fn row_and_column(&mut self, matrix: &MatrixType, lane: Value, k: u32) -> (Place, Place) {
        let lanes = self.options.subgroup_size;
        let columns = self.b.int(matrix.columns);
        if lanes.is_multiple_of(matrix.columns) {
            let row = self.b.alu(Alu::UDiv, Scalar::I32, &[lane, columns]);
            let column = self.b.alu(Alu::UMod, Scalar::I32, &[lane, columns]);
            ((Some(row), k * (lanes / matrix.columns)), (Some(column), 0))
        } else {
            let first = k * lanes;
            ((None, first / matrix.columns), (Some(lane), first % matrix.columns))
        }
    }

    /// Pointers to the components of invocation `lane` of a matrix at `pointer`.
    fn matrix_elements(
        &mut self,
        pointer: &Pointer,
        matrix: &MatrixType,
        layout: MatrixLayout,
        lane: Value,
    ) -> Result<Vec<Pointer>, CompileError> {
        let size = self.types.get(matrix.component)?.size;
        let physical = matches!(pointer.base, Base::Physical(_));
        let index = if physical { Scalar::I64 } else { Scalar::I32 };
        let widen = if layout.signed { Conversion::SConvert } else { Conversion::UConvert };
        let stride = self.b.convert(widen, index, layout.stride);
        let mut elements = Vec::with_capacity(matrix.count as usize);
        for k in 0..matrix.count {
            let (row, column) = self.row_and_column(matrix, lane, k);
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

    /// [`Self::check_matrix_uniform`] of a load or store.
    fn check_matrix_access(&mut self, i: &Instruction<'_>, pointer: &Pointer, layout: MatrixLayout) {
        let base = match pointer.base {
            Base::Buffer { element, .. } => element,
            Base::Physical(address) => Some(address),
            _ => None,
        };
        let operands: Flat = [base, pointer.offset, Some(layout.stride)].into_iter().flatten().collect();
        self.check_matrix_uniform(i, &operands);
    }

    /// The invocation whose components are accessed: see [`Self::matrix_lanes`].
    fn accessing(&mut self, lanes: Option<(Value, Value)>) -> Value {
        lanes.map_or_else(|| self.b.built_in(BuiltIn::SubgroupLocalInvocationId), |(of, _)| of)
    }

    /// OpCooperativeMatrixLoadKHR.
    pub fn op_matrix_load(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let matrix = self.types.matrix(i.id(1)?)?;
        let pointer = self.pointer_to(i.id(3)?, matrix.component)?;
        self.check_matrix_pointer(i, &pointer)?;
        let unit = self.stride_unit(i.id(3)?, &pointer)?;
        let layout = self.matrix_layout(i, 4, unit)?;
        let (operands, _) = self.memory_operands(i, 6)?;
        let operands = MemoryOperands { dealt: true, ..operands };
        let site = self.site(i, pointer.variable);
        let scalars = self.scalars(i.id(1)?)?;
        let lanes = self.matrix_lanes();
        let mut values = self.at_each_root(&pointer, &scalars, &mut |lowerer, pointer| {
            lowerer.check_matrix_access(i, pointer, layout);
            let site = lowerer.site_through(site, pointer.variable)?;
            let lane = lowerer.accessing(lanes);
            let mut values = Flat::new();
            for element in lowerer.matrix_elements(pointer, &matrix, layout, lane)? {
                values.extend(lowerer.load(&element, operands, site)?);
            }
            Ok(values)
        })?;
        if let Some((_, by)) = lanes {
            values = self.shuffled(&values, by, site);
        }
        self.set(i, &values)
    }

    /// OpCooperativeMatrixStoreKHR.
    pub fn op_matrix_store(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let matrix = self.types.matrix(self.type_of(i.id(2)?)?)?;
        let pointer = self.pointer_to(i.id(1)?, matrix.component)?;
        self.check_matrix_pointer(i, &pointer)?;
        let mut values = self.operand(i, 2)?;
        let unit = self.stride_unit(i.id(1)?, &pointer)?;
        let layout = self.matrix_layout(i, 3, unit)?;
        let (operands, _) = self.memory_operands(i, 5)?;
        let operands = MemoryOperands { dealt: true, ..operands };
        let site = self.site(i, pointer.variable);
        let lanes = self.matrix_lanes();
        if let Some((of, _)) = lanes {
            values = self.shuffled(&values, of, site);
        }
        self.at_each_root(&pointer, &[], &mut |lowerer, pointer| {
            lowerer.check_matrix_access(i, pointer, layout);
            let site = lowerer.site_through(site, pointer.variable)?;
            let lane = lowerer.accessing(lanes);
            let elements = lowerer.matrix_elements(pointer, &matrix, layout, lane)?;
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
        let signed = |bit: u32| operands & bit != 0;
        let types = [(a, 1), (b, 2), (c, 4), (result, 8)]
            .map(|(matrix, bit)| self.types.component_type(matrix.component, signed(bit)));
        let [of_a, of_b, of_c, of_result] = types;
        let saturating = signed(0x10);
        let offered = offered_products().any(|offered| {
            let found = (Some(offered.a), Some(offered.b), Some(offered.sum), Some(offered.sum));
            found == (of_a, of_b, of_c, of_result)
                && (offered.size, offered.saturating) == ([m, n, k], saturating)
        });
        if !offered {
            let name = |of: Option<ComponentType>| of.map_or_else(String::new, |of| of.to_string());
            let with = if saturating { ", with SaturatingAccumulationKHR" } else { "" };
            let of = types.map(name).join(", ");
            return Err(i.refuse(&format!("of {m}x{n}x{k} of {of}{with}: {UNOFFERED}")));
        }
        // Floats of other encodings are multiplied as F32.
        let component = |matrix: &MatrixType, bit: u32| {
            let scalar = match self.types.encoding(matrix.component) {
                Encoding::Plain => self.types.scalar(matrix.component)?,
                _ => Scalar::F32,
            };
            Ok::<_, CompileError>(Component { scalar, signed: signed(bit) })
        };
        let numbers = MatrixComponents::Numbers {
            a: component(&a, 1)?,
            b: component(&b, 2)?,
            c: component(&c, 4)?,
            result: component(&result, 8)?,
            saturating,
        };
        let product = MatrixMulAdd { m, n, k, of: numbers };
        self.check_matrix_uniform(i, &[]);
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
