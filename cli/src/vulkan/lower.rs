//! Litmus programs as SPIR-V compute shaders.
//!
//! Scopes become real ones: a thread of the test is one invocation, at the place in the grid that its subgroup and workgroup numbers ask for.
//! Storage classes become real ones too: storage buffers, storage texel buffers (whose class is ImageMemory) and Workgroup variables. Aliases are descriptors of the same memory. The code of all threads is one state machine, a switch on the next block inside a
//! loop, so that any `goto` is structured control flow. Final registers are written to a result buffer.
//!
//! What a shader cannot express is refused by name, never approximated: several queue families (the device has one), a fourth storage class, named and quorum
//! barriers, system-synchronizes-with that is not a barrier between dispatches.

use pellucid_memory::litmus::program::{
    Access, Arithmetic, Comparison, Instruction, Operand, Program, Term, Update,
};
use pellucid_memory::scope::{Scope, Semantics, StorageClasses};
use rspirv::dr::{Builder, Operand as Word};
use rspirv::spirv::{self, Word as Id};
use std::collections::BTreeMap;

/// Why a test cannot run through Vulkan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not implemented in Pellucid: litmus --by vulkan {0}")]
pub struct Refused(pub String);

/// One descriptor of the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Binding number in set 0; binding 0 is the result buffer.
    pub binding: u32,
    /// The location that it refers to: bytes `location * STRIDE ..` of the data buffer.
    pub location: u32,
    /// A storage texel buffer instead of a storage buffer.
    pub texel: bool,
}

/// Bytes from one location to the next in the data buffer: whole cache lines and any offset alignment.
pub const STRIDE: u64 = 256;

/// A test as a shader and what must stand around it.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module.
    pub words: Vec<u32>,
    /// Descriptors, by binding; binding 0, the results, is not among them.
    pub resources: Vec<Resource>,
    /// `requiredSubgroupSize`.
    pub subgroup_size: u32,
    /// LocalSize.x.
    pub local_size: u32,
    /// Workgroups.
    pub groups: u32,
    /// Dispatches, each with whether a full memory barrier (true) or an execution dependency (false) precedes it. The push constant is the
    /// index of the dispatch.
    pub phases: Vec<Phase>,
    /// Result words per thread: thread `t`'s register `r` is word `t * registers + r`.
    pub registers: u32,
}

/// What stands between a dispatch and the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The first.
    First,
    /// An execution dependency: system-synchronizes-with alone.
    Execution,
    /// With availability in the device domain.
    Available,
    /// With visibility from the device domain.
    Visible,
    /// With both.
    Memory,
}

/// `Pc` of a thread that has ended.
const DONE: u32 = u32::MAX;

/// Lowers a program. `fine` makes every instruction a block of its own, so that threads of one subgroup take turns at each.
///
/// # Errors
/// [`Refused`] names what has no counterpart.
pub fn lower(program: &Program, fine: bool) -> Result<Lowered, Refused> {
    let (program, layout) = assign(program)?;
    let (levels, phases) = phases(&program)?;
    let mut shader = Shader::new(&layout)?;
    shader.body(&program, &layout, &levels, fine)?;
    let registers = layout.registers;
    let resources = layout.resources.values().copied().collect();
    Ok(Lowered {
        words: shader.finish(),
        resources,
        subgroup_size: layout.subgroup_size,
        local_size: layout.local_size,
        groups: layout.groups,
        phases,
        registers,
    })
}

/// Gives each storage class of the test a real one. The model treats all classes alike, so any assignment that has room for the variables is as
/// good as another: the first that has is taken, and the reason why the last one failed is told if none has.
fn assign(program: &Program) -> Result<(Program, Layout), Refused> {
    const REAL: [[StorageClasses; 4]; 4] = {
        const U: StorageClasses = StorageClasses::UNIFORM;
        const W: StorageClasses = StorageClasses::WORKGROUP;
        const I: StorageClasses = StorageClasses::IMAGE;
        const O: StorageClasses = StorageClasses::OUTPUT;
        [[U, W, I, O], [U, I, W, O], [W, I, U, O], [U, I, O, W]]
    };
    let mut reason = None;
    for real in REAL {
        let map = |from: StorageClasses| {
            let mut to = StorageClasses::empty();
            for (bit, class) in real.into_iter().enumerate() {
                if from.bits() >> bit & 1 != 0 {
                    to |= class;
                }
            }
            to
        };
        let mut mapped = program.clone();
        for instruction in mapped.threads.iter_mut().flat_map(|t| &mut t.code) {
            match instruction {
                Instruction::Store(a, _) | Instruction::Load(a, _) | Instruction::ReadModifyWrite(a, ..) => {
                    a.class = map(a.class);
                    a.semantics.classes = map(a.semantics.classes);
                }
                Instruction::MemoryBarrier(_, semantics) | Instruction::ControlBarrier { semantics, .. } => {
                    semantics.classes = map(semantics.classes);
                }
                _ => {}
            }
        }
        match Layout::of(&mapped) {
            Ok(layout) => return Ok((mapped, layout)),
            Err(refused) => reason = reason.or(Some(refused)),
        }
    }
    Err(reason.expect("at least one assignment was tried"))
}

/// Where threads and variables go.
struct Layout {
    subgroup_size: u32,
    local_size: u32,
    groups: u32,
    registers: u32,
    /// Workgroup and local index of each thread.
    place: Vec<(u32, u32)>,
    /// By variable and class.
    resources: BTreeMap<(usize, StorageClasses), Resource>,
    /// Locations in workgroup memory.
    workgroup: BTreeMap<u32, ()>,
}

impl Layout {
    fn of(program: &Program) -> Result<Layout, Refused> {
        let refuse = |what: &str| Err(Refused(what.to_owned()));
        if program.threads.windows(2).any(|w| w[0].queue_family != w[1].queue_family) {
            return refuse("with several queue families");
        }
        let mut groups: BTreeMap<u32, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
        for (index, thread) in program.threads.iter().enumerate() {
            groups.entry(thread.workgroup).or_default().entry(thread.subgroup).or_default().push(index);
        }
        let widest = groups.values().flat_map(BTreeMap::values).map(Vec::len).max().unwrap_or(1);
        let subgroup_size = (widest as u32).next_power_of_two();
        if subgroup_size > 32 {
            return refuse("with more than 32 threads in a subgroup");
        }
        let subgroups = groups.values().map(BTreeMap::len).max().unwrap_or(1) as u32;
        let mut place = vec![(0, 0); program.threads.len()];
        for (g, members) in groups.values().enumerate() {
            for (s, lanes) in members.values().enumerate() {
                for (lane, &thread) in lanes.iter().enumerate() {
                    place[thread] = (g as u32, s as u32 * subgroup_size + lane as u32);
                }
            }
        }
        let mut resources = BTreeMap::new();
        let mut workgroup = BTreeMap::new();
        let mut classes: BTreeMap<u32, (StorageClasses, Vec<usize>)> = BTreeMap::new();
        for (index, thread) in program.threads.iter().enumerate() {
            for access in thread.code.iter().filter_map(access_of) {
                let location = program.variables[access.variable].location;
                let entry = classes.entry(location).or_insert((StorageClasses::empty(), Vec::new()));
                entry.0 |= access.class;
                entry.1.push(index);
                let texel = match access.class {
                    StorageClasses::UNIFORM => false,
                    StorageClasses::IMAGE => true,
                    StorageClasses::WORKGROUP => {
                        workgroup.insert(location, ());
                        continue;
                    }
                    _ => return refuse("with four storage classes"),
                };
                let binding = resources.len() as u32 + 1;
                let key = (access.variable, access.class);
                resources.entry(key).or_insert(Resource { binding, location, texel });
            }
        }
        for &location in workgroup.keys() {
            let (used, threads) = &classes[&location];
            let name = program.location_name(location);
            if *used != StorageClasses::WORKGROUP {
                return refuse(&format!("with {name} in workgroup memory and elsewhere"));
            }
            if threads.iter().any(|&t| place[t].0 != place[threads[0]].0) {
                return refuse(&format!("with {name} in the workgroup memory of several workgroups"));
            }
            if program.initial.get(location as usize).is_some_and(|&v| v != 0) {
                return refuse(&format!("with an initial value of {name} in workgroup memory"));
            }
            if program.observables().contains(&Term::Memory(location)) {
                return refuse(&format!("with the final value of {name} in workgroup memory"));
            }
        }
        let registers = program.threads.iter().map(|t| t.registers.len()).max().unwrap_or(0).max(1) as u32;
        Ok(Layout {
            subgroup_size,
            local_size: subgroups * subgroup_size,
            groups: groups.len() as u32,
            registers,
            place,
            resources,
            workgroup,
        })
    }
}

fn access_of(instruction: &Instruction) -> Option<&Access> {
    match instruction {
        Instruction::Store(a, _) | Instruction::Load(a, _) | Instruction::ReadModifyWrite(a, ..) => Some(a),
        _ => None,
    }
}

/// The dispatch that each thread runs in, and what stands between them.
fn phases(program: &Program) -> Result<(Vec<u32>, Vec<Phase>), Refused> {
    let refuse = |what: &str| Err(Refused(what.to_owned()));
    let n = program.threads.len();
    let pairs = &program.system_synchronizes;
    let mut level = vec![0u32; n];
    for round in 0..=n {
        let mut changed = false;
        for &(a, b) in pairs {
            if level[b] <= level[a] {
                level[b] = level[a] + 1;
                changed = true;
            }
        }
        if changed && round == n {
            return refuse("with a cycle of system-synchronizes-with");
        }
    }
    let reaches = |a: usize, b: usize| {
        let mut seen = vec![a];
        let mut next = 0;
        while next < seen.len() {
            for &(from, to) in pairs {
                if from == seen[next] && !seen.contains(&to) {
                    seen.push(to);
                }
            }
            next += 1;
        }
        seen.contains(&b)
    };
    for a in 0..n {
        for b in 0..n {
            if level[a] < level[b] && !reaches(a, b) {
                return refuse("with system-synchronizes-with that is not a barrier between dispatches");
            }
        }
    }
    let depth = level.iter().max().map_or(1, |l| l + 1);
    let is_domain = |i: &Instruction| matches!(i, Instruction::AvailableDevice | Instruction::VisibleDevice);
    let mut dispatch = vec![0u32; n];
    let mut phases: Vec<Phase> = Vec::new();
    let (mut available, mut visible) = (false, false);
    for l in 0..depth {
        let members: Vec<usize> = (0..n).filter(|&t| level[t] == l).collect();
        let mut edges = None;
        let mut barrier_only = 0;
        for &t in &members {
            let code = &program.threads[t].code;
            let head: Vec<_> = code.iter().take_while(|i| is_domain(i)).collect();
            barrier_only += usize::from(head.len() == code.len() && !code.is_empty());
            let tail = code[head.len()..].iter().rev().take_while(|i| is_domain(i)).collect::<Vec<_>>();
            if code[head.len()..code.len() - tail.len()].iter().any(is_domain) {
                return refuse("with a domain operation inside a dispatch");
            }
            let tail: Vec<_> = tail.into_iter().rev().collect();
            if *edges.get_or_insert_with(|| (head.clone(), tail.clone())) != (head, tail) {
                return refuse("with domain operations of some threads only");
            }
        }
        let (head, tail) = edges.unwrap_or_default();
        if barrier_only != 0 && barrier_only != members.len() {
            return refuse("with domain operations of some threads only");
        }
        pass(&head, &mut available, &mut visible)?;
        if barrier_only == 0 {
            for &t in &members {
                dispatch[t] = phases.len() as u32;
            }
            let first = phases.is_empty();
            phases.push(match (available, visible) {
                (false, false) if first => Phase::First,
                _ if first => return refuse("with a domain operation before the first dispatch"),
                (false, false) => Phase::Execution,
                (true, false) => Phase::Available,
                (false, true) => Phase::Visible,
                (true, true) => Phase::Memory,
            });
            (available, visible) = (false, false);
            pass(&tail, &mut available, &mut visible)?;
        }
    }
    Ok((dispatch, phases))
}

/// Adds domain operations to the barrier that is being put together.
fn pass(operations: &[&Instruction], available: &mut bool, visible: &mut bool) -> Result<(), Refused> {
    for operation in operations {
        match operation {
            Instruction::AvailableDevice if *visible => {
                return Err(Refused(
                    "with an availability operation after a visibility operation".to_owned(),
                ));
            }
            Instruction::AvailableDevice => *available = true,
            _ => *visible = true,
        }
    }
    Ok(())
}

/// The module under construction.
struct Shader {
    b: Builder,
    u32_type: Id,
    bool_type: Id,
    constants: BTreeMap<u32, Id>,
    pointer_uniform: Id,
    pointer_function: Id,
    pointer_image: Id,
    image_type: Id,
    vec4: Id,
    result: Id,
    push: Id,
    pointer_push: Id,
    workgroup_id: Id,
    local_index: Id,
    vec3: Id,
    resources: BTreeMap<(usize, StorageClasses), Id>,
    shared: BTreeMap<u32, Id>,
    void: Id,
    interface: Vec<Id>,
    local_size: u32,
}

impl Shader {
    fn new(layout: &Layout) -> Result<Shader, Refused> {
        use spirv::{BuiltIn, Capability, Decoration, StorageClass};
        let mut b = Builder::new();
        b.set_version(1, 5);
        b.capability(Capability::Shader);
        b.capability(Capability::VulkanMemoryModel);
        b.capability(Capability::VulkanMemoryModelDeviceScope);
        let texels = layout.resources.values().any(|r| r.texel);
        if texels {
            b.capability(Capability::ImageBuffer);
        }
        b.memory_model(spirv::AddressingModel::Logical, spirv::MemoryModel::Vulkan);
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
        let push_block = b.type_struct([u32_type]);
        b.decorate(push_block, Decoration::Block, []);
        b.member_decorate(push_block, 0, Decoration::Offset, [Word::LiteralBit32(0)]);
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
        let local_index = b.variable(pointer_input, None, StorageClass::Input, None);
        b.decorate(local_index, Decoration::BuiltIn, [Word::BuiltIn(BuiltIn::LocalInvocationIndex)]);
        interface.extend([workgroup_id, local_index]);
        Ok(Shader {
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
            local_index,
            vec3,
            resources,
            shared,
            void,
            interface,
            local_size: layout.local_size,
        })
    }

    fn constant(&mut self, value: u32) -> Id {
        if let Some(&id) = self.constants.get(&value) {
            return id;
        }
        let id = self.b.constant_bit32(self.u32_type, value);
        self.constants.insert(value, id);
        id
    }

    fn finish(mut self) -> Vec<u32> {
        use rspirv::binary::Assemble;
        std::mem::take(&mut self.b).module().assemble()
    }

    fn body(
        &mut self,
        program: &Program,
        layout: &Layout,
        levels: &[u32],
        fine: bool,
    ) -> Result<(), Refused> {
        let blocks = Blocks::of(program, fine)?;
        let function_type = self.b.type_function(self.void, []);
        let main =
            built(self.b.begin_function(self.void, None, spirv::FunctionControl::NONE, function_type))?;
        built(self.b.begin_block(None))?;
        let pc = self.b.variable(self.pointer_function, None, spirv::StorageClass::Function, None);
        let after = self.b.variable(self.pointer_function, None, spirv::StorageClass::Function, None);
        let registers: Vec<Id> = (0..layout.registers)
            .map(|_| self.b.variable(self.pointer_function, None, spirv::StorageClass::Function, None))
            .collect();
        let zero = self.constant(0);
        let group = built(self.b.load(self.vec3, None, self.workgroup_id, None, []))?;
        let group = built(self.b.composite_extract(self.u32_type, None, group, [0]))?;
        let index = built(self.b.load(self.u32_type, None, self.local_index, None, []))?;
        let phase = built(self.b.access_chain(self.pointer_push, None, self.push, [zero]))?;
        let phase = built(self.b.load(self.u32_type, None, phase, None, []))?;
        let mut start = self.constant(DONE);
        let mut number = self.constant(DONE);
        let mut initial = vec![zero; layout.registers as usize];
        for (t, thread) in program.threads.iter().enumerate() {
            let mut here = None;
            let (g, l) = layout.place[t];
            for (value, expected) in [(group, g), (index, l), (phase, levels[t])] {
                let expected = self.constant(expected);
                let equal = built(self.b.i_equal(self.bool_type, None, value, expected))?;
                here = Some(match here {
                    None => equal,
                    Some(before) => built(self.b.logical_and(self.bool_type, None, before, equal))?,
                });
            }
            let here = here.expect("three conditions");
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
        built(self.b.store(pc, start, None, []))?;
        for (&register, value) in registers.iter().zip(initial) {
            built(self.b.store(register, value, None, []))?;
        }
        let (header, body, merge, next, end) =
            (self.b.id(), self.b.id(), self.b.id(), self.b.id(), self.b.id());
        built(self.b.branch(header))?;
        built(self.b.begin_block(Some(header)))?;
        let at = built(self.b.load(self.u32_type, None, pc, None, []))?;
        let done = self.constant(DONE);
        let finished = built(self.b.i_equal(self.bool_type, None, at, done))?;
        built(self.b.loop_merge(end, next, spirv::LoopControl::NONE, []))?;
        built(self.b.branch_conditional(finished, end, body, []))?;
        built(self.b.begin_block(Some(body)))?;
        built(self.b.selection_merge(merge, spirv::SelectionControl::NONE))?;
        let labels: Vec<Id> = blocks.list.iter().map(|_| self.b.id()).collect();
        let targets: Vec<(Word, Id)> =
            labels.iter().enumerate().map(|(i, &id)| (Word::LiteralBit32(i as u32), id)).collect();
        built(self.b.switch(at, merge, targets))?;
        for (block, &label) in blocks.list.iter().zip(&labels) {
            built(self.b.begin_block(Some(label)))?;
            for instruction in &block.instructions {
                self.instruction(program, instruction, &registers)?;
            }
            let following = match &block.end {
                End::To(block) => self.constant(*block),
                End::Barrier(block, following) => {
                    let following = self.constant(*following);
                    built(self.b.store(after, following, None, []))?;
                    self.constant(*block)
                }
                End::After => built(self.b.load(self.u32_type, None, after, None, []))?,
                End::Branch(comparison, a, b, yes, no) => {
                    let a = self.operand(a, &registers)?;
                    let b = self.operand(b, &registers)?;
                    let holds = self.compare(*comparison, a, b)?;
                    let (yes, no) = (self.constant(*yes), self.constant(*no));
                    built(self.b.select(self.u32_type, None, holds, yes, no))?
                }
            };
            built(self.b.store(pc, following, None, []))?;
            built(self.b.branch(merge))?;
        }
        built(self.b.begin_block(Some(merge)))?;
        built(self.b.branch(next))?;
        built(self.b.begin_block(Some(next)))?;
        built(self.b.branch(header))?;
        built(self.b.begin_block(Some(end)))?;
        let (store, ret) = (self.b.id(), self.b.id());
        let idle = built(self.b.i_equal(self.bool_type, None, number, done))?;
        built(self.b.selection_merge(ret, spirv::SelectionControl::NONE))?;
        built(self.b.branch_conditional(idle, ret, store, []))?;
        built(self.b.begin_block(Some(store)))?;
        let per_thread = self.constant(layout.registers);
        let base = built(self.b.i_mul(self.u32_type, None, number, per_thread))?;
        for (r, &register) in registers.iter().enumerate() {
            let r = self.constant(r as u32);
            let word = built(self.b.i_add(self.u32_type, None, base, r))?;
            let to = built(self.b.access_chain(self.pointer_uniform, None, self.result, [zero, word]))?;
            let value = built(self.b.load(self.u32_type, None, register, None, []))?;
            built(self.b.store(to, value, None, []))?;
        }
        built(self.b.branch(ret))?;
        built(self.b.begin_block(Some(ret)))?;
        built(self.b.ret())?;
        built(self.b.end_function())?;
        let interface = std::mem::take(&mut self.interface);
        self.b.entry_point(spirv::ExecutionModel::GLCompute, main, "main", interface);
        self.b.execution_mode(main, spirv::ExecutionMode::LocalSize, [self.local_size, 1, 1]);
        Ok(())
    }

    fn operand(&mut self, operand: &Operand, registers: &[Id]) -> Result<Id, Refused> {
        match operand {
            Operand::Constant(value) => Ok(self.constant(*value as u32)),
            Operand::Register(r) => built(self.b.load(self.u32_type, None, registers[*r], None, [])),
        }
    }

    fn compare(&mut self, comparison: Comparison, a: Id, b: Id) -> Result<Id, Refused> {
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

    fn pointer(&mut self, program: &Program, access: &Access) -> Result<Id, Refused> {
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

    fn instruction(
        &mut self,
        program: &Program,
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
                let old = built(match update {
                    Update::Exchange => self.b.atomic_exchange(t, None, pointer, scope, semantics, value),
                    Update::Apply(Arithmetic::Add) => {
                        self.b.atomic_i_add(t, None, pointer, scope, semantics, value)
                    }
                    Update::Apply(Arithmetic::Sub) => {
                        self.b.atomic_i_sub(t, None, pointer, scope, semantics, value)
                    }
                    Update::Apply(Arithmetic::And) => {
                        self.b.atomic_and(t, None, pointer, scope, semantics, value)
                    }
                    Update::Apply(Arithmetic::Or) => {
                        self.b.atomic_or(t, None, pointer, scope, semantics, value)
                    }
                    Update::Apply(Arithmetic::Xor) => {
                        self.b.atomic_xor(t, None, pointer, scope, semantics, value)
                    }
                    Update::Apply(Arithmetic::Mul | Arithmetic::Div) => {
                        return Err(Refused("with an atomic multiplication or division".to_owned()));
                    }
                })?;
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
                    Arithmetic::Div => self.b.s_div(t, None, a, b),
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

    fn memory_operands(&mut self, access: &Access) -> (Option<spirv::MemoryAccess>, Vec<Word>) {
        let mut bits = spirv::MemoryAccess::NONE;
        let mut words = Vec::new();
        let scope = self.scope(access.scope);
        if access.available {
            bits |= spirv::MemoryAccess::MAKE_POINTER_AVAILABLE;
            words.push(Word::IdScope(scope));
        }
        if access.visible {
            bits |= spirv::MemoryAccess::MAKE_POINTER_VISIBLE;
            words.push(Word::IdScope(scope));
        }
        if access.non_private || access.available || access.visible {
            bits |= spirv::MemoryAccess::NON_PRIVATE_POINTER;
        }
        (Some(bits), words)
    }

    fn image_operands(&mut self, access: &Access) -> (Option<spirv::ImageOperands>, Vec<Word>) {
        let mut bits = spirv::ImageOperands::NONE;
        let mut words = Vec::new();
        let scope = self.scope(access.scope);
        if access.available {
            bits |= spirv::ImageOperands::MAKE_TEXEL_AVAILABLE;
            words.push(Word::IdScope(scope));
        }
        if access.visible {
            bits |= spirv::ImageOperands::MAKE_TEXEL_VISIBLE;
            words.push(Word::IdScope(scope));
        }
        if access.non_private || access.available || access.visible {
            bits |= spirv::ImageOperands::NON_PRIVATE_TEXEL;
        }
        (if bits.is_empty() { None } else { Some(bits) }, words)
    }
}

fn built<T>(result: Result<T, rspirv::dr::Error>) -> Result<T, Refused> {
    result.map_err(|e| Refused(format!("(building the shader: {e})")))
}

/// The code of all threads as basic blocks.
struct Blocks {
    list: Vec<Block>,
    /// First block of each thread.
    entry: Vec<u32>,
}

struct Block {
    instructions: Vec<Instruction>,
    end: End,
}

enum End {
    To(u32),
    /// To the block of a shared barrier, and from there to the second.
    Barrier(u32, u32),
    /// From a shared barrier to where each thread goes on.
    After,
    Branch(Comparison, Operand, Operand, u32, u32),
}

impl Blocks {
    fn of(program: &Program, fine: bool) -> Result<Blocks, Refused> {
        let mut list: Vec<Block> = Vec::new();
        let mut entry = Vec::new();
        // A barrier instance is one static instruction: all threads of a workgroup reach it through one block, and go on by their own.
        let mut barriers: BTreeMap<(u32, String), (u32, Instruction)> = BTreeMap::new();
        for thread in &program.threads {
            for instruction in &thread.code {
                if let Instruction::ControlBarrier { instance, .. } = instruction {
                    let key = (thread.workgroup, instance.clone());
                    let fresh = (list.len() as u32, instruction.clone());
                    let (block, known) = barriers.entry(key).or_insert(fresh);
                    if known != instruction {
                        return Err(Refused(
                            "with a barrier whose threads name different semantics".to_owned(),
                        ));
                    }
                    if *block == list.len() as u32 {
                        list.push(Block { instructions: vec![instruction.clone()], end: End::After });
                    }
                }
            }
        }
        for thread in &program.threads {
            let n = thread.code.len();
            let mut leader = vec![fine; n + 1];
            leader[0] = true;
            for (pc, instruction) in thread.code.iter().enumerate() {
                match instruction {
                    Instruction::Goto(to) | Instruction::Branch(_, _, _, to) => {
                        leader[*to] = true;
                        leader[pc + 1] = true;
                    }
                    Instruction::ControlBarrier { .. } => {
                        leader[pc] = true;
                        leader[pc + 1] = true;
                    }
                    _ => {}
                }
            }
            let base = list.len() as u32;
            let starts: Vec<usize> = (0..n).filter(|&pc| leader[pc]).collect();
            let block_at = |pc: usize| {
                if pc >= n { DONE } else { base + starts.partition_point(|&s| s < pc) as u32 }
            };
            entry.push(block_at(0));
            for (i, &start) in starts.iter().enumerate() {
                let stop = starts.get(i + 1).copied().unwrap_or(n);
                let mut instructions = thread.code[start..stop].to_vec();
                let end = match instructions.last() {
                    Some(Instruction::Goto(to)) => End::To(block_at(*to)),
                    Some(Instruction::Branch(comparison, a, b, to)) => {
                        End::Branch(*comparison, *a, *b, block_at(*to), block_at(stop))
                    }
                    Some(Instruction::ControlBarrier { instance, .. }) => {
                        End::Barrier(barriers[&(thread.workgroup, instance.clone())].0, block_at(stop))
                    }
                    _ => End::To(block_at(stop)),
                };
                instructions
                    .retain(|i| !matches!(i, Instruction::Label(_) | Instruction::ControlBarrier { .. }));
                list.push(Block { instructions, end });
            }
        }
        Ok(Blocks { list, entry })
    }
}
