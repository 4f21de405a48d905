//! The state of lowering one entry point, and what its parts share: ids, values, results.

use super::cfg::Cfg;
use super::module::Module;
use super::pointer::Pointer;
use super::site::Sites;
use super::types::Types;
use super::variable_pointer::{Choice, Origins};
use super::words::Instruction;
use crate::CompileError;
use crate::interface::CompileOptions;
use crate::ir::{
    Binding, Call, Convergence, DerivativeGroup, FloatControls, ImageOperand, Label, Scalar, Value,
    ValueName, WorkgroupObject,
};
use crate::pass::builder::Builder;
use crate::printf::{FormatError, PrintFormat};
use pellucid_memory::access::Site;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// Scalars of the largest value that is taken apart.
pub(crate) const MAX_SCALARS: u32 = 16_384;

/// Scalars of a value.
pub(crate) type Flat = SmallVec<[Value; 8]>;

/// What an id stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Def {
    /// Not defined (yet).
    None,
    /// A result of type void.
    Void,
    /// A scalar.
    One(Value),
    /// Scalars in the arena: start and number.
    Many(u32, u32),
    /// A pointer: index into `pointers`.
    Pointer(u32),
    /// A loaded image, sampler or both: index into `handles`.
    Handle(u32),
    /// OpConstantNull of this type, which has more scalars than are taken apart.
    Null(u32),
}

/// A loaded image and / or sampler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    /// The image; for a sampler alone its binding and element only are meant.
    pub image: ImageOperand,
    /// It is a sampler alone.
    pub sampler_only: bool,
    /// The variable that it was loaded from.
    pub variable: u32,
    /// `Coherent` or `Volatile` decorate the variable.
    pub coherent: bool,
    /// See `coherent`.
    pub volatile: bool,
}

/// What OpImageTexelPointer points to.
#[derive(Clone, Debug)]
pub(crate) struct Texel {
    pub image: ImageOperand,
    /// Coordinates, and the sample of a multisampled image.
    pub coordinates: SmallVec<[Value; 4]>,
}

/// A Function or Private variable, before promotion.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Bytes.
    pub size: u32,
    /// Offset in private memory.
    pub offset: u32,
    /// The variable's id, for its name.
    pub variable: u32,
    /// Its type.
    pub ty: u32,
    /// The block of the function instance that it lives in; `None` for Private variables.
    pub owner: Option<Label>,
}

/// Everything that lowering changes.
pub(crate) struct Lowerer<'a> {
    pub module: Module<'a>,
    pub options: &'a CompileOptions,
    pub types: Types,
    pub b: Builder,
    /// With [`CompileOptions::debug`]: what results are made of.
    pub names: Vec<ValueName>,
    pub defs: Vec<Def>,
    pub arena: Vec<Value>,
    pub pointers: Vec<Pointer>,
    /// See [`super::variable_pointer`].
    pub choices: Vec<Choice>,
    pub origins: Option<Origins>,
    pub handles: Vec<Handle>,
    pub texels: Vec<Texel>,
    pub bindings: Vec<Binding>,
    pub binding_of: FxHashMap<u32, u32>,
    pub workgroup: Vec<WorkgroupObject>,
    pub workgroup_bytes: u32,
    pub objects: Vec<Object>,
    pub private_bytes: u32,
    pub push_constant_bytes: u32,
    pub sites: Sites,
    pub cfgs: Vec<Option<Rc<Cfg>>>,
    /// Functions being inlined, outermost first: index, then the label of the instance.
    pub calls: Vec<(usize, Label)>,
    /// The labels of all instances of functions.
    pub functions: Vec<Label>,
    /// With [`CompileOptions::debug`]: all functions that were inlined, with their labels; which of them the
    /// next instruction is in, and which OpFunctionCall is being inlined; else 0. They differ in what a
    /// compiler had inlined before ([`super::scope`]).
    pub inlined: Vec<(Label, Call)>,
    pub call: u32,
    pub instance_call: u32,
    pub scopes: FxHashMap<(u32, u32, u32), u32>,
    /// Types of the values that they return.
    pub expected_returns: Vec<Vec<Scalar>>,
    pub depth: u32,
    pub local_size: [u32; 3],
    pub derivative_group: Option<DerivativeGroup>,
    pub convergence: Convergence,
    pub float_controls: FloatControls,
    /// Id of the constant decorated WorkgroupSize.
    pub workgroup_size: Option<u32>,
    pub prints: Vec<PrintFormat>,
    /// Loads and stores of cooperative matrices so far.
    pub matrix_accesses: u32,
    pub malformed_prints: Vec<(Site, String, FormatError)>,
}

impl<'a> Lowerer<'a> {
    /// The word of an instruction operand as a literal constant: the value of an integer constant id.
    pub fn constant_u32(&self, id: u32) -> Result<u32, CompileError> {
        match self.defs.get(id as usize) {
            Some(Def::One(value)) => match self.b.constant_bits(*value) {
                Some(bits) => Ok(bits as u32),
                None => Err(CompileError::NotImplemented(format!("operand %{id} that is no constant"))),
            },
            _ => Err(CompileError::Invalid(format!("id {id} is no constant"))),
        }
    }

    /// Scalars of an id.
    pub fn values(&mut self, id: u32) -> Result<Flat, CompileError> {
        let undefined = || CompileError::Invalid(format!("id {id} is used before it is defined"));
        let def = *self.defs.get(id as usize).ok_or_else(undefined)?;
        Ok(match def {
            Def::One(value) => SmallVec::from_slice(&[value]),
            Def::Many(start, len) => {
                SmallVec::from_slice(&self.arena[start as usize..(start + len) as usize])
            }
            Def::Void => SmallVec::new(),
            Def::Pointer(_) => self.pointer_values(id)?,
            Def::Handle(handle) => {
                let sampler = self.handles[handle as usize].sampler_only;
                let what = if sampler { "sampler" } else { "image" };
                return Err(CompileError::NotImplemented(format!("{what} %{id} as a value")));
            }
            Def::Null(ty) => return Err(self.check_flat(ty).err().unwrap_or_else(undefined)),
            Def::None => {
                if self.is_global_variable(id) {
                    let pointer = self.pointer(id)?;
                    self.define_pointer(id, pointer);
                    return self.pointer_values(id);
                }
                return Err(undefined());
            }
        })
    }

    /// The scalar of an id.
    pub fn value(&mut self, id: u32) -> Result<Value, CompileError> {
        if let Some(Def::One(value)) = self.defs.get(id as usize) {
            return Ok(*value);
        }
        let values = self.values(id)?;
        match values.as_slice() {
            [value] => Ok(*value),
            other => Err(CompileError::Invalid(format!(
                "id {id} has {} components where 1 is wanted",
                other.len()
            ))),
        }
    }

    /// Scalars of operand `index`.
    pub fn operand(&mut self, i: &Instruction<'_>, index: usize) -> Result<Flat, CompileError> {
        self.values(i.id(index)?)
    }

    /// The one scalar of operand `index`.
    pub fn scalar_operand(&mut self, i: &Instruction<'_>, index: usize) -> Result<Value, CompileError> {
        self.value(i.id(index)?)
    }

    /// Operand `index`, an integer of any width, as I32.
    pub fn int_operand(&mut self, i: &Instruction<'_>, index: usize) -> Result<Value, CompileError> {
        let value = self.scalar_operand(i, index)?;
        Ok(self.int_value(value))
    }

    /// An integer as I32, sign lost.
    pub fn int_value(&mut self, value: Value) -> Value {
        self.b.convert(crate::ir::Conversion::UConvert, Scalar::I32, value)
    }

    /// For debug information: a call has a result, or was given a value, that these scalars are.
    pub fn name_values(&mut self, id: u32, call: Option<u32>, values: &[Value]) {
        let names = values.iter().zip(0..);
        self.names.extend(names.map(|(&value, component)| ValueName { id, component, call, value }));
    }

    /// Makes an id stand for scalars.
    pub fn define(&mut self, id: u32, values: &[Value]) {
        if self.options.debug {
            let call = (!self.calls.is_empty()).then_some(self.instance_call);
            self.name_values(id, call, values);
        }
        self.defs[id as usize] = match values {
            [value] => Def::One(*value),
            _ => {
                let start = self.arena.len() as u32;
                self.arena.extend_from_slice(values);
                Def::Many(start, values.len() as u32)
            }
        };
    }

    /// Makes an instruction's result id stand for scalars, after a check of their number and types against
    /// its result type.
    pub fn set(&mut self, i: &Instruction<'_>, values: &[Value]) -> Result<(), CompileError> {
        let (ty, id) = (i.id(1)?, i.id(2)?);
        self.check(i, ty, values)?;
        self.define(id, values);
        Ok(())
    }

    fn check(&mut self, i: &Instruction<'_>, ty: u32, values: &[Value]) -> Result<(), CompileError> {
        let info = self.types.get(ty)?;
        if info.flat as usize != values.len() {
            return Err(i.invalid(&format!("gives {} scalars for a type of {}", values.len(), info.flat)));
        }
        match info.scalar {
            Some(scalar) => {
                if values.iter().any(|&value| self.b.scalar(value) != scalar) {
                    return Err(i.invalid(&format!("does not give {scalar:?} scalars")));
                }
            }
            None => {
                let mut scalars = Vec::with_capacity(values.len());
                self.types.scalars(ty, &mut scalars)?;
                if values.iter().zip(&scalars).any(|(&value, &scalar)| self.b.scalar(value) != scalar) {
                    return Err(i.invalid("has operands of other types than its result's"));
                }
            }
        }
        Ok(())
    }

    /// The type id of a value.
    pub fn type_of(&self, id: u32) -> Result<u32, CompileError> {
        match self.module.result_type.get(id as usize) {
            Some(&ty) if ty != 0 => Ok(ty),
            _ => Err(CompileError::Invalid(format!("id {id} has no type"))),
        }
    }

    /// Types of the scalars of a value that is to be taken apart.
    pub fn scalars(&self, ty: u32) -> Result<Vec<Scalar>, CompileError> {
        self.check_flat(ty)?;
        let mut scalars = Vec::new();
        self.types.scalars(ty, &mut scalars)?;
        Ok(scalars)
    }

    /// Refuses values of too many scalars.
    pub fn check_flat(&self, ty: u32) -> Result<(), CompileError> {
        let flat = self.types.get(ty)?.flat;
        if flat > MAX_SCALARS {
            return Err(CompileError::Limit(format!("a value of {flat} scalars, more than {MAX_SCALARS}")));
        }
        Ok(())
    }

    /// An instruction depends on which lanes of a subgroup are together.
    pub fn sees_convergence(&mut self) {
        self.convergence = self.convergence.max(Convergence::Seen);
    }

    /// The site of an instruction that touches memory or synchronises; `variable` is the id of the variable
    /// it goes through, or 0.
    pub fn site(&mut self, i: &Instruction<'_>, variable: u32) -> Site {
        let function = self.calls.last().map_or(0, |&(function, _)| self.module.functions[function].id);
        self.sites.get(i, variable, function, self.call)
    }

    /// True if every argument has the type that the first has.
    pub fn same_types(&self, values: &[Value]) -> bool {
        values.windows(2).all(|pair| self.b.scalar(pair[0]) == self.b.scalar(pair[1]))
    }
}
