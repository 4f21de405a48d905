//! Kernels at 32 lanes, in the tier that they get by themselves and in the interpreter, beside the same
//! kernels at one lane (subgroups of one invocation: every instruction runs for one invocation only).
//!
//! `cargo bench -p pellucid-shader-interp --bench kernels`

#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_shader_interp::exec::plain::{PlainOptions, dispatch};
use pellucid_shader_interp::interface::{CompileOptions, Descriptor, Grid, Resources};
use pellucid_shader_interp::tier::Tier;
use pellucid_shader_interp::{Program, compile};

struct Kernel {
    name: &'static str,
    spirv: &'static [u8],
    /// Words of each binding.
    buffers: &'static [usize],
    push: [u32; 2],
    groups: u32,
}

const SAXPY: &[u8] = include_bytes!("../tests/exec/shaders/saxpy.spv");
const MANDELBROT: &[u8] = include_bytes!("../tests/exec/shaders/mandelbrot.spv");
const CHAINS: &[u8] = include_bytes!("../tests/exec/shaders/chains.spv");
const REDUCTION: &[u8] = include_bytes!("../tests/exec/shaders/reduction.spv");

fn kernels() -> [Kernel; 4] {
    let two = 2f32.to_bits();
    [
        Kernel { name: "mandelbrot", spirv: MANDELBROT, buffers: &[65536], push: [256, 0], groups: 1024 },
        Kernel { name: "saxpy", spirv: SAXPY, buffers: &[65536, 65536], push: [two, 65536], groups: 1024 },
        Kernel {
            name: "multiply_add_8",
            spirv: CHAINS,
            buffers: &[4096],
            push: [0.999f32.to_bits(), 256],
            groups: 64,
        },
        Kernel {
            name: "workgroup_reduction",
            spirv: REDUCTION,
            buffers: &[64, 16384],
            push: [0, 0],
            groups: 64,
        },
    ]
}

fn program(kernel: &Kernel, subgroup_size: u32) -> Program {
    let words: Vec<u32> = kernel.spirv.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
    let options = CompileOptions { subgroup_size, ..CompileOptions::default() };
    compile(&words, &options).expect("a shader that compiles")
}

fn bench(criterion: &mut Criterion) {
    for kernel in kernels() {
        let mut group = criterion.benchmark_group(kernel.name);
        group.sample_size(10);
        let ways = [(32, Tier::Auto, ""), (32, Tier::Interpreter, ", interpreter"), (1, Tier::Auto, "")];
        for (lanes, tier, which) in ways {
            let program = program(&kernel, lanes);
            let view = |binding: &pellucid_shader_interp::ir::Binding| {
                let words = vec![1; kernel.buffers[binding.binding as usize]];
                let address = 0x1000_0000 * (u64::from(binding.binding) + 1);
                let range = MemoryRange::of_words(&words, address, Reference(binding.binding));
                vec![Descriptor::Buffer(range.expect("memory"))]
            };
            let resources = Resources {
                bindings: program.shader.bindings.iter().map(view).collect(),
                push_constants: kernel.push.iter().flat_map(|w| w.to_le_bytes()).collect(),
                ..Resources::default()
            };
            let grid = Grid { base: [0; 3], groups: [kernel.groups, 1, 1] };
            let invocations = u64::from(kernel.groups) * u64::from(program.shader.local_size[0]);
            group.throughput(Throughput::Elements(invocations));
            group.bench_function(BenchmarkId::from_parameter(format!("{lanes} lanes{which}")), |b| {
                let options = PlainOptions { tier, ..PlainOptions::default() };
                b.iter(|| dispatch(&program, &grid, &resources, &options).expect("a dispatch"));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
