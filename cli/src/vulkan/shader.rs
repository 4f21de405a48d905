//! The module around the blocks: types, descriptors, the state machine, and the final registers.

use super::Refused;
use super::blocks::{Blocks, DONE, End};
use super::layout::Layout;
use super::lines::Lines;
use pellucid_memory::litmus::program::LitmusProgram;
use pellucid_memory::scope::StorageClasses;
use rspirv::dr::{Builder, Operand as Word};
use rspirv::spirv::{self, Word as Id};
use std::collections::BTreeMap;

/// The module under construction.
pub(super) struct Shader {
    pub b: Builder,
    pub u32_type: Id,
    pub bool_type: Id,
    constants: BTreeMap<u32, Id>,
    pub pointer_uniform: Id,
    pointer_function: Id,
    pub pointer_image: Id,
    pub image_type: Id,
    pub vec4: Id,
    result: Id,
    push: Id,
    pointer_push: Id,
    workgroup_id: Id,
    subgroup_id: Id,
    lane: Id,
    vec3: Id,
    pub resources: BTreeMap<(usize, StorageClasses), Id>,
    pub shared: BTreeMap<u32, Id>,
    void: Id,
    interface: Vec<Id>,
    local_size: u32,
    file: Id,
}

impl Shader {
    pub fn new(layout: &Layout, lines: &Lines) -> Shader {
        use spirv::{BuiltIn, Capability, Decoration, StorageClass};
        let mut b = Builder::new();
        b.set_version(1, 5);
        b.capability(Capability::Shader);
        b.capability(Capability::VulkanMemoryModel);
        b.capability(Capability::VulkanMemoryModelDeviceScope);
        b.capability(Capability::GroupNonUniform);
        if layout.shared_subgroups {
            b.capability(Capability::GroupNonUniformVote);
        }
        let texels = layout.resources.values().any(|r| r.texel);
        if texels {
            b.capability(Capability::ImageBuffer);
        }
        b.memory_model(spirv::AddressingModel::Logical, spirv::MemoryModel::Vulkan);
        let file = b.string(lines.file.as_str());
        b.source(spirv::SourceLanguage::Unknown, 0, Some(file), Some(lines.text()));
        let void = b.type_void();
        let bool_type = b.type_bool();
        let u32_type = b.type_int(32, 0);
        let vec3 = b.type_vector(u32_type, 3);
        let vec4 = b.type_vector(u32_type, 4);
        let array = b.type_runtime_array(u32_type);
        b.decorate(array, Decoration::ArrayStride, [Word::LiteralBit32(4)]);
        let block = b.type_struct([array]);
        b.decorate(block, Decoration::Block, []);
        b.member_decorate(block, 0, Decoration::Offset, [Word::LiteralBit32(0)]);
        let push_block = b.type_struct([u32_type, u32_type]);
        b.decorate(push_block, Decoration::Block, []);
        b.member_decorate(push_block, 0, Decoration::Offset, [Word::LiteralBit32(0)]);
        b.member_decorate(push_block, 1, Decoration::Offset, [Word::LiteralBit32(4)]);
        let pointer_block = b.type_pointer(None, StorageClass::StorageBuffer, block);
        let pointer_uniform = b.type_pointer(None, StorageClass::StorageBuffer, u32_type);
        let pointer_workgroup = b.type_pointer(None, StorageClass::Workgroup, u32_type);
        let pointer_function = b.type_pointer(None, StorageClass::Function, u32_type);
        let pointer_image = b.type_pointer(None, StorageClass::Image, u32_type);
        let pointer_push_block = b.type_pointer(None, StorageClass::PushConstant, push_block);
        let pointer_push = b.type_pointer(None, StorageClass::PushConstant, u32_type);
        // Declared only where it is used: the type needs a capability.
        let (mut image_type, mut pointer_texels) = (0, 0);
        if texels {
            let format = spirv::ImageFormat::R32ui;
            image_type = b.type_image(u32_type, spirv::Dim::DimBuffer, 0, 0, 0, 2, format, None);
            pointer_texels = b.type_pointer(None, StorageClass::UniformConstant, image_type);
        }
        let mut interface = Vec::new();
        let mut descriptor = |b: &mut Builder, pointer, class, binding: u32| {
            let id = b.variable(pointer, None, class, None);
            b.decorate(id, Decoration::DescriptorSet, [Word::LiteralBit32(0)]);
            b.decorate(id, Decoration::Binding, [Word::LiteralBit32(binding)]);
            interface.push(id);
            id
        };
        let result = descriptor(&mut b, pointer_block, StorageClass::StorageBuffer, 0);
        let mut resources = BTreeMap::new();
        for (&key, resource) in &layout.resources {
            let id = if resource.texel {
                descriptor(&mut b, pointer_texels, StorageClass::UniformConstant, resource.binding)
            } else {
                descriptor(&mut b, pointer_block, StorageClass::StorageBuffer, resource.binding)
            };
            resources.insert(key, id);
        }
        let push = b.variable(pointer_push_block, None, StorageClass::PushConstant, None);
        interface.push(push);
        let null = b.constant_null(u32_type);
        let mut shared = BTreeMap::new();
        for &location in layout.workgroup.keys() {
            let id = b.variable(pointer_workgroup, None, StorageClass::Workgroup, Some(null));
            interface.push(id);
            shared.insert(location, id);
        }
        let pointer_vec3 = b.type_pointer(None, StorageClass::Input, vec3);
        let pointer_input = b.type_pointer(None, StorageClass::Input, u32_type);
        let workgroup_id = b.variable(pointer_vec3, None, StorageClass::Input, None);
        b.decorate(workgroup_id, Decoration::BuiltIn, [Word::BuiltIn(BuiltIn::WorkgroupId)]);
        let subgroup_id = b.variable(pointer_input, None, StorageClass::Input, None);
        b.decorate(subgroup_id, Decoration::BuiltIn, [Word::BuiltIn(BuiltIn::SubgroupId)]);
        let lane = b.variable(pointer_input, None, StorageClass::Input, None);
        b.decorate(lane, Decoration::BuiltIn, [Word::BuiltIn(BuiltIn::SubgroupLocalInvocationId)]);
        interface.extend([workgroup_id, subgroup_id, lane]);
        Shader {
            b,
            u32_type,
            bool_type,
            constants: BTreeMap::new(),
            pointer_uniform,
            pointer_function,
            pointer_image,
            image_type,
            vec4,
            result,
            push,
            pointer_push,
            workgroup_id,
            subgroup_id,
            lane,
            vec3,
            resources,
            shared,
            void,
            interface,
            local_size: layout.local_size,
            file,
        }
    }

    pub fn constant(&mut self, value: u32) -> Id {
        if let Some(&id) = self.constants.get(&value) {
            return id;
        }
        let id = self.b.constant_bit32(self.u32_type, value);
        self.constants.insert(value, id);
        id
    }

    pub fn finish(mut self) -> Vec<u32> {
        use rspirv::binary::Assemble;
        std::mem::take(&mut self.b).module().assemble()
    }

    /// The main function. Every invocation finds its thread, runs blocks until the thread has ended, and
    /// writes its registers.
    pub fn body(
        &mut self,
        program: &LitmusProgram,
        layout: &Layout,
        levels: &[u32],
        blocks: &Blocks,
        stagger: bool,
    ) -> Result<(), Refused> {
        let function_type = self.b.type_function(self.void, []);
        let main =
            built(self.b.begin_function(self.void, None, spirv::FunctionControl::NONE, function_type))?;
        built(self.b.begin_block(None))?;
        let state = State {
            pc: self.local(),
            after: self.local(),
            trace: self.local(),
            turn: self.local(),
            registers: (0..layout.registers).map(|_| self.local()).collect(),
        };
        let zero = self.constant(0);
        let number = self.find_thread(program, layout, levels, blocks, &state)?;
        for variable in [state.after, state.trace, state.turn] {
            built(self.b.store(variable, zero, None, []))?;
        }
        let [header, body, leave, go, merge, next, end] = [(); 7].map(|()| self.b.id());
        built(self.b.branch(header))?;
        built(self.b.begin_block(Some(header)))?;
        let at = built(self.b.load(self.u32_type, None, state.pc, None, []))?;
        let done = self.constant(DONE);
        let finished = built(self.b.i_equal(self.bool_type, None, at, done))?;
        let at = self.held_back(layout, blocks, at)?;
        let at = if stagger { self.staggered(&state, blocks, at, number)? } else { at };
        built(self.b.loop_merge(end, next, spirv::LoopControl::NONE, []))?;
        built(self.b.branch(body))?;
        built(self.b.begin_block(Some(body)))?;
        built(self.b.selection_merge(go, spirv::SelectionControl::NONE))?;
        built(self.b.branch_conditional(finished, leave, go, []))?;
        built(self.b.begin_block(Some(leave)))?;
        self.write_results(layout, number, &state)?;
        built(self.b.begin_block(Some(go)))?;
        built(self.b.selection_merge(merge, spirv::SelectionControl::NONE))?;
        let labels: Vec<Id> = blocks.list.iter().map(|_| self.b.id()).collect();
        let targets: Vec<(Word, Id)> =
            labels.iter().enumerate().map(|(i, &id)| (Word::LiteralBit32(i as u32), id)).collect();
        built(self.b.switch(at, merge, targets))?;
        for (block, &label) in blocks.list.iter().zip(&labels) {
            built(self.b.begin_block(Some(label)))?;
            for (line, instruction) in &block.instructions {
                self.b.line(self.file, *line, 1);
                self.instruction(program, instruction, &state.registers)?;
            }
            let following = self.following(&block.end, &state)?;
            built(self.b.store(state.pc, following, None, []))?;
            built(self.b.branch(merge))?;
        }
        built(self.b.begin_block(Some(merge)))?;
        built(self.b.branch(next))?;
        built(self.b.begin_block(Some(next)))?;
        built(self.b.branch(header))?;
        built(self.b.begin_block(Some(end)))?;
        built(self.b.unreachable())?;
        built(self.b.end_function())?;
        let interface = std::mem::take(&mut self.interface);
        self.b.entry_point(spirv::ExecutionModel::GLCompute, main, "main", interface);
        self.b.execution_mode(main, spirv::ExecutionMode::LocalSize, [self.local_size, 1, 1]);
        Ok(())
    }

    fn local(&mut self) -> Id {
        self.b.variable(self.pointer_function, None, spirv::StorageClass::Function, None)
    }

    /// The number of the thread that this invocation is in this dispatch, [`DONE`] for none; sets its first
    /// block and registers.
    fn find_thread(
        &mut self,
        program: &LitmusProgram,
        layout: &Layout,
        levels: &[u32],
        blocks: &Blocks,
        state: &State,
    ) -> Result<Id, Refused> {
        let zero = self.constant(0);
        let group = built(self.b.load(self.vec3, None, self.workgroup_id, None, []))?;
        let group = built(self.b.composite_extract(self.u32_type, None, group, [0]))?;
        let subgroup = built(self.b.load(self.u32_type, None, self.subgroup_id, None, []))?;
        let lane = built(self.b.load(self.u32_type, None, self.lane, None, []))?;
        let phase = built(self.b.access_chain(self.pointer_push, None, self.push, [zero]))?;
        let phase = built(self.b.load(self.u32_type, None, phase, None, []))?;
        let mut start = self.constant(DONE);
        let mut number = self.constant(DONE);
        let mut initial = vec![zero; layout.registers as usize];
        for (t, thread) in program.threads.iter().enumerate() {
            let mut here = None;
            let [g, s, l] = layout.place[t];
            for (value, expected) in [(group, g), (subgroup, s), (lane, l), (phase, levels[t])] {
                let expected = self.constant(expected);
                let equal = built(self.b.i_equal(self.bool_type, None, value, expected))?;
                here = Some(match here {
                    None => equal,
                    Some(before) => built(self.b.logical_and(self.bool_type, None, before, equal))?,
                });
            }
            let here = here.expect("four conditions");
            let first = self.constant(blocks.entry[t]);
            start = built(self.b.select(self.u32_type, None, here, first, start))?;
            let t_id = self.constant(t as u32);
            number = built(self.b.select(self.u32_type, None, here, t_id, number))?;
            for (r, &value) in thread.initial.iter().enumerate() {
                if value != 0 {
                    let value = self.constant(value as u32);
                    initial[r] = built(self.b.select(self.u32_type, None, here, value, initial[r]))?;
                }
            }
        }
        built(self.b.store(state.pc, start, None, []))?;
        for (&register, value) in state.registers.iter().zip(initial) {
            built(self.b.store(register, value, None, []))?;
        }
        Ok(number)
    }

    /// The next block, or none for a thread that stands before a control barrier while others of its subgroup
    /// are elsewhere: barriers are executed by all of them together.
    fn held_back(&mut self, layout: &Layout, blocks: &Blocks, at: Id) -> Result<Id, Refused> {
        if !layout.shared_subgroups || blocks.barriers == 0 {
            return Ok(at);
        }
        let subgroup = self.constant(3);
        let together = built(self.b.group_non_uniform_all_equal(self.bool_type, None, subgroup, at))?;
        let barriers = self.constant(blocks.barriers);
        let beyond = built(self.b.u_greater_than_equal(self.bool_type, None, at, barriers))?;
        let go = built(self.b.logical_or(self.bool_type, None, together, beyond))?;
        let nothing = self.constant(DONE);
        built(self.b.select(self.u32_type, None, go, at, nothing))
    }

    /// The next block, or none in half of the turns, as a hash of salt, turn and thread has it. Barriers are
    /// never skipped.
    fn staggered(&mut self, state: &State, blocks: &Blocks, at: Id, number: Id) -> Result<Id, Refused> {
        let t = self.u32_type;
        let one = self.constant(1);
        let salt = built(self.b.access_chain(self.pointer_push, None, self.push, [one]))?;
        let salt = built(self.b.load(t, None, salt, None, []))?;
        let turn = built(self.b.load(t, None, state.turn, None, []))?;
        let turn = built(self.b.i_add(t, None, turn, one))?;
        built(self.b.store(state.turn, turn, None, []))?;
        let mut hash = salt;
        for (value, factor) in [(turn, 0x9e37_79b1), (number, 0x85eb_ca77)] {
            let factor = self.constant(factor);
            let value = built(self.b.i_mul(t, None, value, factor))?;
            hash = built(self.b.bitwise_xor(t, None, hash, value))?;
            let shift = self.constant(15);
            let high = built(self.b.shift_right_logical(t, None, hash, shift))?;
            hash = built(self.b.bitwise_xor(t, None, hash, high))?;
            let odd = self.constant(0x2c1b_3c6d);
            hash = built(self.b.i_mul(t, None, hash, odd))?;
        }
        let top = self.constant(31);
        let bit = built(self.b.shift_right_logical(t, None, hash, top))?;
        let zero = self.constant(0);
        let mut go = built(self.b.i_equal(self.bool_type, None, bit, zero))?;
        if blocks.barriers > 0 {
            let barriers = self.constant(blocks.barriers);
            let barrier = built(self.b.u_less_than(self.bool_type, None, at, barriers))?;
            go = built(self.b.logical_or(self.bool_type, None, go, barrier))?;
        }
        let nothing = self.constant(DONE);
        built(self.b.select(t, None, go, at, nothing))
    }

    /// Writes registers and trace of a thread that has ended, and returns.
    fn write_results(&mut self, layout: &Layout, number: Id, state: &State) -> Result<(), Refused> {
        let zero = self.constant(0);
        let done = self.constant(DONE);
        let (store, ret) = (self.b.id(), self.b.id());
        let idle = built(self.b.i_equal(self.bool_type, None, number, done))?;
        built(self.b.selection_merge(ret, spirv::SelectionControl::NONE))?;
        built(self.b.branch_conditional(idle, ret, store, []))?;
        built(self.b.begin_block(Some(store)))?;
        let per_thread = self.constant(layout.registers + 1);
        let base = built(self.b.i_mul(self.u32_type, None, number, per_thread))?;
        for (r, &variable) in state.registers.iter().chain([&state.trace]).enumerate() {
            let r = self.constant(r as u32);
            let word = built(self.b.i_add(self.u32_type, None, base, r))?;
            let to = built(self.b.access_chain(self.pointer_uniform, None, self.result, [zero, word]))?;
            let value = built(self.b.load(self.u32_type, None, variable, None, []))?;
            built(self.b.store(to, value, None, []))?;
        }
        built(self.b.branch(ret))?;
        built(self.b.begin_block(Some(ret)))?;
        built(self.b.ret())
    }

    /// The block after one that ends so.
    fn following(&mut self, end: &End, state: &State) -> Result<Id, Refused> {
        match end {
            End::To(block) => Ok(self.constant(*block)),
            End::Barrier(block, following) => {
                let following = self.constant(*following);
                built(self.b.store(state.after, following, None, []))?;
                // The barriers passed, in order, as digits.
                let trace = built(self.b.load(self.u32_type, None, state.trace, None, []))?;
                let base = self.constant(TRACE_BASE);
                let trace = built(self.b.i_mul(self.u32_type, None, trace, base))?;
                let digit = self.constant(block + 1);
                let trace = built(self.b.i_add(self.u32_type, None, trace, digit))?;
                built(self.b.store(state.trace, trace, None, []))?;
                Ok(self.constant(*block))
            }
            End::After => built(self.b.load(self.u32_type, None, state.after, None, [])),
            End::Branch(comparison, a, b, yes, no) => {
                let a = self.operand(a, &state.registers)?;
                let b = self.operand(b, &state.registers)?;
                let holds = self.compare(*comparison, a, b)?;
                let (yes, no) = (self.constant(*yes), self.constant(*no));
                built(self.b.select(self.u32_type, None, holds, yes, no))
            }
        }
    }
}

/// An odd number: equal traces of a few dozen barriers mean equal barriers.
const TRACE_BASE: u32 = 0x9e37_79b1;

/// The variables of an invocation.
struct State {
    /// The next block.
    pc: Id,
    /// The block after the barrier that is being executed.
    after: Id,
    /// The barriers arrived at.
    trace: Id,
    /// Times round the loop.
    turn: Id,
    registers: Vec<Id>,
}

pub(super) fn built<T>(result: Result<T, rspirv::dr::Error>) -> Result<T, Refused> {
    result.map_err(|e| Refused(format!("(building the shader: {e})")))
}
