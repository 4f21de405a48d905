//! Shaders made by hand, and their execution.

use pellucid_memory::access::{Access, Reference, Site};
use pellucid_memory::agent::Placement;
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::device::MemoryRange;
use pellucid_memory::scope::StorageClasses;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::code::{Program, generate};
use pellucid_shader_interp::exec::plain::{PlainOptions, dispatch};
use pellucid_shader_interp::interface::{CompileOptions, Descriptor, Grid, Resources};
use pellucid_shader_interp::ir::*;
use pellucid_shader_interp::tier::Tier;
use smallvec::SmallVec;

/// Builds values and operations.
#[derive(Default)]
pub struct Builder {
    pub values: Vec<Scalar>,
    labels: u32,
}

impl Builder {
    pub fn value(&mut self, scalar: Scalar) -> Value {
        self.values.push(scalar);
        Value(self.values.len() as u32 - 1)
    }

    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    pub fn op(&mut self, region: &mut Region, kind: OpKind, arguments: &[Value], result: Scalar) -> Value {
        let value = self.value(result);
        region.push(Node::Op(Op {
            kind,
            results: SmallVec::from_slice(&[value]),
            arguments: arguments.iter().copied().collect(),
            site: Site(0),
        }));
        value
    }

    pub fn alu(&mut self, region: &mut Region, alu: Alu, arguments: &[Value], result: Scalar) -> Value {
        self.op(region, OpKind::Alu(alu), arguments, result)
    }

    pub fn constant(&mut self, region: &mut Region, bits: u64, scalar: Scalar) -> Value {
        self.op(region, OpKind::Constant(bits), &[], scalar)
    }

    pub fn builtin(&mut self, region: &mut Region, builtin: BuiltIn) -> Value {
        self.op(region, OpKind::BuiltIn(builtin), &[], Scalar::I32)
    }
}

pub fn buffer(binding: u32, offset: Option<Value>, immediate: u32) -> Place {
    Place::Buffer { binding, element: None, offset, immediate }
}

pub fn plain(components: u8) -> Access {
    Access::plain(StorageClasses::UNIFORM, 4, components)
}

/// A store of words.
pub fn store(region: &mut Region, place: Place, values: &[Value]) {
    region.push(Node::Op(Op {
        kind: OpKind::Store { place, access: plain(values.len() as u8) },
        results: SmallVec::new(),
        arguments: values.iter().copied().collect(),
        site: Site(0),
    }));
}

/// A shader with storage buffers.
pub fn shader(values: Vec<Scalar>, body: Region, buffers: u32, local: u32) -> Shader {
    let binding = |binding| Binding {
        set: 0,
        binding,
        kind: DescriptorKind::StorageBuffer,
        count: 1,
        name: String::new(),
        written: true,
    };
    Shader {
        name: "main".into(),
        values,
        body,
        bindings: (0..buffers).map(binding).collect(),
        local_size: [local, 1, 1],
        vulkan_memory_model: true,
        sites: vec![SiteInfo::default()],
        ..Shader::default()
    }
}

pub fn options(subgroup_size: u32) -> CompileOptions {
    CompileOptions { subgroup_size, ..CompileOptions::default() }
}

pub fn compile(shader: Shader, subgroup_size: u32) -> Program {
    generate(shader, &options(subgroup_size)).expect("code for the shader")
}

/// Buffer `k` is what the shader calls binding `k`; what the shader writes stays in the resources.
pub fn resources(program: &Program, buffers: &[Vec<u32>], push_constants: &[u32]) -> Resources {
    let range = |binding: &Binding| {
        let address = 0x1000_0000 * (u64::from(binding.binding) + 1);
        let words = &buffers[binding.binding as usize];
        let range = MemoryRange::of_words(words, address, Reference(binding.binding));
        vec![Descriptor::Buffer(range.expect("memory"))]
    };
    Resources {
        bindings: program.shader.bindings.iter().map(range).collect(),
        push_constants: push_constants.iter().flat_map(|w| w.to_le_bytes()).collect(),
        ..Resources::default()
    }
}

/// The same; the buffers then hold what `act` left there.
pub fn with_resources<T>(
    program: &Program,
    buffers: &mut [Vec<u32>],
    push_constants: &[u32],
    act: impl FnOnce(&Resources) -> T,
) -> T {
    let resources = resources(program, buffers, push_constants);
    let result = act(&resources);
    for (binding, descriptors) in program.shader.bindings.iter().zip(&resources.bindings) {
        if let Some(Descriptor::Buffer(range)) = descriptors.first() {
            buffers[binding.binding as usize] = range.words();
        }
    }
    result
}

/// Memory of the model for a dispatch of `groups` workgroups, which has begun.
pub fn checked(program: &Program, groups: [u32; 3]) -> CheckedMemory {
    let mut memory = CheckedMemory::new(CheckOptions::default());
    memory.begin_dispatch(DispatchInfo {
        groups,
        workgroup_size: program.shader.local_size.iter().product(),
        placement: Placement::in_order(program.subgroup_size),
        ..DispatchInfo::default()
    });
    memory
}

/// The tier that `PELLUCID_TIER` names, for runs of all tests in each.
pub fn tier() -> Tier {
    match std::env::var("PELLUCID_TIER").as_deref() {
        Ok("interpreter") => Tier::Interpreter,
        Ok("compiled") => Tier::Compiled,
        _ => Tier::Auto,
    }
}

pub fn run(program: &Program, buffers: &mut [Vec<u32>], push: &[u32], groups: [u32; 3]) -> Result<(), Trap> {
    let grid = Grid { base: [0; 3], groups };
    let options = PlainOptions { watchdog: Some(1 << 22), tier: tier(), ..PlainOptions::default() };
    with_resources(program, buffers, push, |resources| dispatch(program, &grid, resources, &options))
}
