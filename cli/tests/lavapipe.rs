//! Arithmetic against another driver: random shaders on Pellucid and on lavapipe. Where the specification
//! wants correctly rounded or exact results, the bits are equal; quotients lie within the precision that it
//! asks of both.
//!
//! `LAVAPIPE_SHADERS` says how many shaders, `LAVAPIPE_FIRST` with which seed to begin.

#![allow(clippy::print_stderr)]

use ash::vk;
use pellucid_memory::random::Random;
use pellucid_test_host::{COHERENT, Vulkan};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const LANES: usize = 64;
const INPUTS: usize = 8;
const OPERATIONS: usize = 32;

/// Operations on 32-bit integers: the instruction and what its operands are. `n`: not zero and small, so that
/// no quotient overflows; `p`: not negative, where results are undefined otherwise; `s`: less than 32; `h`:
/// less than 16; `x`: any.
const INTEGER: [(&str, &str); 27] = [
    ("OpIAdd", "xx"),
    ("OpISub", "xx"),
    ("OpIMul", "xx"),
    ("OpUDiv", "xn"),
    ("OpSDiv", "xn"),
    ("OpUMod", "xn"),
    ("OpSRem", "pn"),
    ("OpSMod", "pn"),
    ("OpShiftLeftLogical", "xs"),
    ("OpShiftRightLogical", "xs"),
    ("OpShiftRightArithmetic", "xs"),
    ("OpBitwiseAnd", "xx"),
    ("OpBitwiseOr", "xx"),
    ("OpBitwiseXor", "xx"),
    ("OpNot", "x"),
    ("OpSNegate", "x"),
    ("OpBitReverse", "x"),
    ("OpBitCount", "x"),
    ("OpBitFieldInsert", "xxhh"),
    ("OpBitFieldUExtract", "xhh"),
    ("OpBitFieldSExtract", "xhh"),
    ("FindILsb", "x"),
    ("FindUMsb", "x"),
    ("SAbs", "x"),
    ("UMin", "xx"),
    ("UMax", "xx"),
    ("SMin", "xx"),
];

/// Operations on floats that are exact or correctly rounded, down to the sign of a zero.
const FLOAT: [(&str, usize); 10] = [
    ("OpFAdd", 2),
    ("OpFSub", 2),
    ("OpFMul", 2),
    ("OpFNegate", 1),
    ("FAbs", 1),
    ("FSign", 1),
    ("Floor", 1),
    ("Ceil", 1),
    ("Trunc", 1),
    ("RoundEven", 1),
];

/// An instruction of SPIR-V or of its extended instructions, up to its operands.
fn call(name: &str, kind: &str) -> String {
    match name.starts_with("Op") {
        true => format!("{name} %{kind}"),
        false => format!("OpExtInst %{kind} %glsl {name}"),
    }
}

/// A shader, and for each of its results by how many units in the last place it may be off.
fn shader(seed: u64) -> (String, [u32; OPERATIONS]) {
    let mut random = Random::new(seed);
    let mut decorations = String::new();
    let mut body = String::new();
    let mut integers: Vec<String> = Vec::new();
    // Floats with the number of roundings behind them: few enough that none overflows.
    let mut floats: Vec<(String, u32)> = Vec::new();
    for k in 0..INPUTS {
        let _ = write!(
            body,
            "%at{k} = OpIAdd %uint %in %c{k}\n%from{k} = OpAccessChain %pointer %input %c0 %at{k}\n\
             %i{k} = OpLoad %uint %from{k}\n%f{k} = OpConvertSToF %float %i{k}\n"
        );
        integers.push(format!("%i{k}"));
        floats.push((format!("%f{k}"), 0));
    }
    let mut off = [0; OPERATIONS];
    for (k, off) in off.iter_mut().enumerate() {
        let result = format!("%r{k}");
        let choice = random.below(10);
        let bits = if choice < 5 {
            let (name, operands) = random.pick(&INTEGER);
            let mut line = format!("{result} = {}", call(name, "uint"));
            for (n, kind) in operands.chars().enumerate() {
                let from = &integers[random.below(integers.len())];
                let bound = format!("%b{k}_{n}");
                let operand = match kind {
                    'x' => from.clone(),
                    'n' => {
                        let _ = write!(
                            body,
                            "{bound}a = OpBitwiseAnd %uint {from} %c4095\n{bound} = OpBitwiseOr %uint {bound}a %c1\n"
                        );
                        bound
                    }
                    _ => {
                        let mask = match kind {
                            'p' => "%c2147483647",
                            's' => "%c31",
                            _ => "%c15",
                        };
                        let _ = writeln!(body, "{bound} = OpBitwiseAnd %uint {from} {mask}");
                        bound
                    }
                };
                let _ = write!(line, " {operand}");
            }
            let _ = writeln!(body, "{line}");
            integers.push(result.clone());
            result
        } else if choice < 9 {
            let (name, operands) = random.pick(&FLOAT);
            let mut line = format!("{result} = {}", call(name, "float"));
            let mut depth = 1;
            for _ in 0..operands {
                let shallow: Vec<_> = floats.iter().filter(|(_, depth)| *depth < 3).collect();
                let (from, behind) = shallow[random.below(shallow.len())];
                depth = depth.max(behind + 1);
                let _ = write!(line, " {from}");
            }
            if name.starts_with("OpF") {
                let _ = writeln!(decorations, "OpDecorate {result} NoContraction");
            }
            let _ = writeln!(body, "{line}\n%bits{k} = OpBitcast %uint {result}");
            floats.push((result, depth));
            format!("%bits{k}")
        } else {
            // Not an operand of anything: 2.5 units in the last place on either side.
            *off = 5;
            let (a, b) = (&floats[random.below(INPUTS)].0, &floats[random.below(INPUTS)].0);
            let _ = writeln!(
                body,
                "%d{k} = OpFAdd %float {b} %half\n{result} = OpFDiv %float {a} %d{k}\n\
                 %bits{k} = OpBitcast %uint {result}"
            );
            format!("%bits{k}")
        };
        let _ = write!(
            body,
            "%o{k} = OpIAdd %uint %out %c{k}\n%to{k} = OpAccessChain %pointer %output %c0 %o{k}\nOpStore %to{k} {bits}\n"
        );
    }
    let constants: String =
        (0..64u32).chain([4095, 0x7fff_ffff]).map(|k| format!("%c{k} = OpConstant %uint {k}\n")).collect();
    let text = format!(
        "; Version: 1.5\nOpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\" %id %input %output\nOpExecutionMode %main LocalSize {LANES} 1 1\n\
         OpDecorate %id BuiltIn LocalInvocationIndex\nOpDecorate %array ArrayStride 4\nOpDecorate %block Block\n\
         OpMemberDecorate %block 0 Offset 0\nOpDecorate %input DescriptorSet 0\nOpDecorate %input Binding 0\n\
         OpDecorate %output DescriptorSet 0\nOpDecorate %output Binding 1\n{decorations}\
         %void = OpTypeVoid\n%function = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n\
         %half = OpConstant %float 0.5\n{constants}%array = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %array\n\
         %whole = OpTypePointer StorageBuffer %block\n%pointer = OpTypePointer StorageBuffer %uint\n\
         %one = OpTypePointer Input %uint\n%id = OpVariable %one Input\n%input = OpVariable %whole StorageBuffer\n\
         %output = OpVariable %whole StorageBuffer\n%main = OpFunction %void None %function\n%start = OpLabel\n\
         %lane = OpLoad %uint %id\n%in = OpIMul %uint %lane %c{INPUTS}\n%out = OpIMul %uint %lane %c{OPERATIONS}\n\
         {body}OpReturn\nOpFunctionEnd\n"
    );
    (text, off)
}

/// A device with the two buffers of the shaders.
struct Driver {
    vulkan: Vulkan,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    input: *mut u8,
    output: *mut u8,
}

impl Driver {
    fn open(library: &Path) -> Driver {
        let vulkan = Vulkan::open(library).expect("the driver");
        let d = &vulkan.device;
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let bindings = [0, 1].map(|binding| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        let memory = vulkan.memory_type(!0, COHERENT).expect("memory");
        let words = [INPUTS, OPERATIONS].map(|words| (LANES * words * 4) as u64);
        let buffers = words.map(|bytes| vulkan.buffer(bytes, memory).expect("a buffer"));
        // SAFETY: valid usage.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layouts = [d.create_descriptor_set_layout(&info, None).expect("a layout")];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            let layout = d.create_pipeline_layout(&info, None).expect("a layout");
            let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: 2 }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = d.create_descriptor_pool(&info, None).expect("a pool");
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = d.allocate_descriptor_sets(&info).expect("a set")[0];
            for (binding, (buffer, _, _)) in buffers.iter().enumerate() {
                let info = [vk::DescriptorBufferInfo::default().buffer(*buffer).range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding as u32);
                d.update_descriptor_sets(&[write.descriptor_type(kind).buffer_info(&info)], &[]);
            }
            Driver { layout, set, input: buffers[0].2, output: buffers[1].2, vulkan }
        }
    }

    fn run(&self, words: &[u32], input: &[u32]) -> Vec<u32> {
        let d = &self.vulkan.device;
        let pipeline = self.vulkan.pipeline(words, c"main", self.layout).expect("a pipeline");
        // SAFETY: valid usage; the mapping of the input holds its words, and nothing runs.
        unsafe {
            self.input.cast::<u32>().copy_from_nonoverlapping(input.as_ptr(), input.len());
            let commands = self.vulkan.record(|c| {
                let point = vk::PipelineBindPoint::COMPUTE;
                d.cmd_bind_pipeline(c, point, pipeline);
                d.cmd_bind_descriptor_sets(c, point, self.layout, 0, &[self.set], &[]);
                d.cmd_dispatch(c, 1, 1, 1);
                let barrier = [vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                    .dst_access_mask(vk::AccessFlags::HOST_READ)];
                let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::HOST);
                d.cmd_pipeline_barrier(c, from, to, vk::DependencyFlags::empty(), &barrier, &[], &[]);
            });
            let commands = commands.expect("commands");
            self.vulkan.run(commands).expect("a run");
            d.free_command_buffers(self.vulkan.pool, &[commands]);
            d.destroy_pipeline(pipeline, None);
        }
        self.vulkan.words(self.output, LANES * OPERATIONS)
    }
}

/// Where the manifest of lavapipe says that it is.
fn lavapipe() -> Option<PathBuf> {
    let manifests = std::fs::read_dir("/usr/share/vulkan/icd.d").ok()?;
    let manifest = manifests.flatten().find(|f| f.file_name().to_string_lossy().starts_with("lvp_icd"))?;
    let text = std::fs::read_to_string(manifest.path()).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(PathBuf::from(manifest["ICD"]["library_path"].as_str()?))
}

fn same(ours: u32, theirs: u32, off: u32) -> bool {
    let nan = |bits: u32| f32::from_bits(bits).is_nan();
    ours == theirs || (off > 0 && (nan(ours) && nan(theirs) || ours.abs_diff(theirs) <= off))
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn random_arithmetic_is_that_of_lavapipe() {
    let Some(theirs) = lavapipe() else {
        return pellucid_test_host::skipped("lavapipe (Debian: mesa-vulkan-drivers)");
    };
    let ours = Driver::open(&pellucid::driver::library().expect("the driver"));
    let theirs = Driver::open(&theirs);
    let (first, shaders) = (number("LAVAPIPE_FIRST", 0), number("LAVAPIPE_SHADERS", 60));
    for seed in first..first + shaders {
        let (text, off) = shader(seed);
        let words = pellucid::assemble::assemble(&text).expect("assembly");
        let mut random = Random::new(!seed);
        let input: Vec<u32> = (0..LANES * INPUTS)
            .map(|_| (random.bits() >> (32 + random.below(32))) as u32 ^ random.pick(&[0, 0, !0]))
            .collect();
        let (ours, theirs) = (ours.run(&words, &input), theirs.run(&words, &input));
        for (at, (a, b)) in ours.iter().zip(&theirs).enumerate() {
            let (lane, result) = (at / OPERATIONS, at % OPERATIONS);
            assert!(
                same(*a, *b, off[result]),
                "seed {seed}, lane {lane}: %r{result} is {a:#x}, not {b:#x}\n{text}"
            );
        }
    }
}
