//! One instruction of a litmus test as SPIR-V.

use super::Refused;
use super::shader::{Shader, built};
use pellucid_memory::litmus::program::{
    Access, Arithmetic, Comparison, Instruction, LitmusProgram, Operand, Update,
};
use pellucid_memory::scope::{Scope, Semantics, StorageClasses};
use rspirv::dr::{Builder, Operand as Word};
use rspirv::spirv::{self, Word as Id};

impl Shader {
    pub(super) fn operand(&mut self, operand: &Operand, registers: &[Id]) -> Result<Id, Refused> {
        match operand {
            Operand::Constant(value) => Ok(self.constant(*value as u32)),
            Operand::Register(r) => built(self.b.load(self.u32_type, None, registers[*r], None, [])),
        }
    }

    pub(super) fn compare(&mut self, comparison: Comparison, a: Id, b: Id) -> Result<Id, Refused> {
        let t = self.bool_type;
        built(match comparison {
            Comparison::Equal => self.b.i_equal(t, None, a, b),
            Comparison::NotEqual => self.b.i_not_equal(t, None, a, b),
            Comparison::Less => self.b.s_less_than(t, None, a, b),
            Comparison::LessEqual => self.b.s_less_than_equal(t, None, a, b),
            Comparison::Greater => self.b.s_greater_than(t, None, a, b),
            Comparison::GreaterEqual => self.b.s_greater_than_equal(t, None, a, b),
        })
    }

    fn pointer(&mut self, program: &LitmusProgram, access: &Access) -> Result<Id, Refused> {
        let zero = self.constant(0);
        match access.class {
            StorageClasses::WORKGROUP => Ok(self.shared[&program.variables[access.variable].location]),
            StorageClasses::IMAGE => {
                let image = self.resources[&(access.variable, access.class)];
                built(self.b.image_texel_pointer(self.pointer_image, None, image, zero, zero))
            }
            _ => {
                let buffer = self.resources[&(access.variable, access.class)];
                built(self.b.access_chain(self.pointer_uniform, None, buffer, [zero, zero]))
            }
        }
    }

    fn scope(&mut self, scope: Scope) -> Id {
        let value = match scope {
            Scope::Device => 1,
            Scope::Workgroup => 2,
            Scope::Subgroup => 3,
            Scope::Invocation => 4,
            Scope::QueueFamily => 5,
        };
        self.constant(value)
    }

    fn semantics(&mut self, s: &Semantics) -> Id {
        let mut bits = match (s.acquire, s.release) {
            (true, true) => 8,
            (true, false) => 2,
            (false, true) => 4,
            (false, false) => 0,
        };
        if bits != 0 {
            for (class, bit) in [
                (StorageClasses::UNIFORM, 0x40),
                (StorageClasses::WORKGROUP, 0x100),
                (StorageClasses::IMAGE, 0x800),
                (StorageClasses::OUTPUT, 0x1000),
            ] {
                if s.classes.contains(class) {
                    bits |= bit;
                }
            }
            bits |= if s.make_available { 0x2000 } else { 0 };
            bits |= if s.make_visible { 0x4000 } else { 0 };
        }
        self.constant(bits)
    }

    pub(super) fn instruction(
        &mut self,
        program: &LitmusProgram,
        instruction: &Instruction,
        registers: &[Id],
    ) -> Result<(), Refused> {
        let t = self.u32_type;
        match instruction {
            Instruction::Store(access, value) => {
                let value = self.operand(value, registers)?;
                if access.class == StorageClasses::IMAGE && !access.atomic {
                    let image = self.resources[&(access.variable, access.class)];
                    let image = built(self.b.load(self.image_type, None, image, None, []))?;
                    let zero = self.constant(0);
                    let texel =
                        built(self.b.composite_construct(self.vec4, None, [value, zero, zero, zero]))?;
                    let (operands, words) = self.image_operands(access);
                    return built(self.b.image_write(image, zero, texel, operands, words));
                }
                let pointer = self.pointer(program, access)?;
                if access.atomic {
                    let scope = self.scope(access.scope);
                    let semantics = self.semantics(&access.semantics);
                    built(self.b.atomic_store(pointer, scope, semantics, value))
                } else {
                    let (operands, words) = self.memory_operands(access);
                    built(self.b.store(pointer, value, operands, words))
                }
            }
            Instruction::Load(access, register) => {
                let value = if access.class == StorageClasses::IMAGE && !access.atomic {
                    let image = self.resources[&(access.variable, access.class)];
                    let image = built(self.b.load(self.image_type, None, image, None, []))?;
                    let zero = self.constant(0);
                    let (operands, words) = self.image_operands(access);
                    let texel = built(self.b.image_read(self.vec4, None, image, zero, operands, words))?;
                    built(self.b.composite_extract(t, None, texel, [0]))?
                } else {
                    let pointer = self.pointer(program, access)?;
                    if access.atomic {
                        let scope = self.scope(access.scope);
                        let semantics = self.semantics(&access.semantics);
                        built(self.b.atomic_load(t, None, pointer, scope, semantics))?
                    } else {
                        let (operands, words) = self.memory_operands(access);
                        built(self.b.load(t, None, pointer, operands, words))?
                    }
                };
                built(self.b.store(registers[*register], value, None, []))
            }
            Instruction::ReadModifyWrite(access, register, update, operand) => {
                let value = self.operand(operand, registers)?;
                let pointer = self.pointer(program, access)?;
                let scope = self.scope(access.scope);
                let semantics = self.semantics(&access.semantics);
                let modify = match update {
                    Update::Exchange => Builder::atomic_exchange,
                    Update::Apply(Arithmetic::Add) => Builder::atomic_i_add,
                    Update::Apply(Arithmetic::Sub) => Builder::atomic_i_sub,
                    Update::Apply(Arithmetic::And) => Builder::atomic_and,
                    Update::Apply(Arithmetic::Or) => Builder::atomic_or,
                    Update::Apply(Arithmetic::Xor) => Builder::atomic_xor,
                    Update::Apply(Arithmetic::Mul | Arithmetic::Div) => {
                        return Err(Refused("with an atomic multiplication or division".to_owned()));
                    }
                };
                let old = built(modify(&mut self.b, t, None, pointer, scope, semantics, value))?;
                built(self.b.store(registers[*register], old, None, []))
            }
            Instruction::MemoryBarrier(scope, semantics) => {
                let scope = self.scope(*scope);
                let semantics = self.semantics(semantics);
                built(self.b.memory_barrier(scope, semantics))
            }
            Instruction::ControlBarrier { scope, semantics, quorum, resource, .. } => {
                if quorum.is_some() || resource.is_some() {
                    return Err(Refused("with named or quorum barriers".to_owned()));
                }
                let execution = self.scope(Scope::Workgroup);
                let memory = self.scope(*scope);
                let semantics = self.semantics(semantics);
                built(self.b.control_barrier(execution, memory, semantics))
            }
            Instruction::Local(register, operation, a, b) => {
                let a = self.operand(a, registers)?;
                let b = self.operand(b, registers)?;
                let value = built(match operation {
                    Arithmetic::Add => self.b.i_add(t, None, a, b),
                    Arithmetic::Sub => self.b.i_sub(t, None, a, b),
                    Arithmetic::Mul => self.b.i_mul(t, None, a, b),
                    Arithmetic::Div => Ok(self.quotient(a, b)?),
                    Arithmetic::And => self.b.bitwise_and(t, None, a, b),
                    Arithmetic::Or => self.b.bitwise_or(t, None, a, b),
                    Arithmetic::Xor => self.b.bitwise_xor(t, None, a, b),
                })?;
                built(self.b.store(registers[*register], value, None, []))
            }
            // Domain operations are the barriers between dispatches; the rest ends blocks.
            Instruction::AvailableDevice
            | Instruction::VisibleDevice
            | Instruction::Goto(_)
            | Instruction::Branch(..)
            | Instruction::Label(_) => Ok(()),
        }
    }

    /// The quotient as litmus tests have it: 0 where the divisor is 0, and nothing undefined.
    fn quotient(&mut self, a: Id, b: Id) -> Result<Id, Refused> {
        let t = self.u32_type;
        let [zero, one, minus] = [0, 1, u32::MAX].map(|value| self.constant(value));
        let by_zero = built(self.b.i_equal(self.bool_type, None, b, zero))?;
        let by_minus = built(self.b.i_equal(self.bool_type, None, b, minus))?;
        let special = built(self.b.logical_or(self.bool_type, None, by_zero, by_minus))?;
        let divisor = built(self.b.select(t, None, special, one, b))?;
        let quotient = built(self.b.s_div(t, None, a, divisor))?;
        let negated = built(self.b.i_sub(t, None, zero, a))?;
        let quotient = built(self.b.select(t, None, by_minus, negated, quotient))?;
        built(self.b.select(t, None, by_zero, zero, quotient))
    }

    /// The scopes of the availability and visibility operations of an access that is not atomic, and whether
    /// it makes something available, visible, and is not private.
    fn chained(&mut self, access: &Access) -> (Vec<Word>, [bool; 3]) {
        let scope = Word::IdScope(self.scope(access.scope));
        let made = [access.available, access.visible];
        let words = made.iter().filter(|made| **made).map(|_| scope.clone()).collect();
        let [available, visible] = made;
        (words, [available, visible, access.non_private || available || visible])
    }

    fn memory_operands(&mut self, access: &Access) -> (Option<spirv::MemoryAccess>, Vec<Word>) {
        use spirv::MemoryAccess as M;
        let (words, has) = self.chained(access);
        let bits = [M::MAKE_POINTER_AVAILABLE, M::MAKE_POINTER_VISIBLE, M::NON_PRIVATE_POINTER];
        (Some(bits.into_iter().zip(has).filter(|(_, has)| *has).map(|(bit, _)| bit).collect()), words)
    }

    fn image_operands(&mut self, access: &Access) -> (Option<spirv::ImageOperands>, Vec<Word>) {
        use spirv::ImageOperands as I;
        let (words, has) = self.chained(access);
        let bits = [I::MAKE_TEXEL_AVAILABLE, I::MAKE_TEXEL_VISIBLE, I::NON_PRIVATE_TEXEL];
        let bits: I = bits.into_iter().zip(has).filter(|(_, has)| *has).map(|(bit, _)| bit).collect();
        (if bits.is_empty() { None } else { Some(bits) }, words)
    }
}
