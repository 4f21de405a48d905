//! What check mode costs: time on one thread beside run mode, both in both tiers, and memory beside the
//! bytes that a program touches.
//!
//! `cargo bench -p pellucid-shader-interp --bench check_cost` prints one table. Time is what the thread
//! had of a processor during the dispatch alone, in milliseconds: the least of several on one device; of
//! the first in check mode, which allocates the shadow memory. Check mode's time is also given as a
//! multiple of run mode's in the same tier. Memory is the most that the heap held above what it held
//! before the checked dispatch, over the bytes of the buffers, all of which the kernels touch. Arguments
//! choose kernels by parts of their names; `--long` adds the largest sizes, and `--short` measures each
//! kernel once.

#![allow(missing_docs, clippy::print_stdout)]

use pellucid_memory::access::Reference;
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::device::MemoryRange;
use pellucid_memory::raw;
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions, SeededScheduler};
use pellucid_shader_interp::exec::plain::{self, PlainOptions};
use pellucid_shader_interp::interface::{CompileOptions, Descriptor, Grid, Resources};
use pellucid_shader_interp::tier::Tier;
use pellucid_shader_interp::{Program, compile};
use rustix::time::{ClockId, clock_gettime};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which counts.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls go to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

macro_rules! shader {
    ($path:literal) => {
        include_bytes!(concat!($path, ".spv"))
    };
}

#[derive(Clone, Copy)]
enum Fill {
    Zero,
    Integers,
    Floats,
}
use Fill::{Floats, Integers, Zero};

impl Fill {
    fn word(self, k: usize) -> u32 {
        match self {
            Zero => 0,
            Integers => k as u32 % 13,
            Floats => ((k % 13) as f32).to_bits(),
        }
    }
}

struct Kernel {
    name: &'static str,
    spirv: &'static [u8],
    /// Words of each binding, and what is in them.
    buffers: Vec<(usize, Fill)>,
    push: Vec<u32>,
    groups: [u32; 3],
    /// One of the largest sizes.
    long: bool,
}

const SAXPY: &[u8] = shader!("../tests/exec/shaders/saxpy");
const MANDELBROT: &[u8] = shader!("../tests/exec/shaders/mandelbrot");
const REDUCTION: &[u8] = shader!("../tests/exec/shaders/reduction");
const MATRIX: &[u8] = shader!("shaders/matrix_product");
const REGISTER_TILE: &[u8] = shader!("shaders/register_tile");
const STRUCTURES: &[u8] = shader!("shaders/structures");
const GLOBAL: &[u8] = shader!("shaders/histogram_global");
const WORKGROUP: &[u8] = shader!("shaders/histogram_workgroup");
const LAST_BLOCK: &[u8] = shader!("shaders/last_block");
const LOOK_BACK: &[u8] = shader!("shaders/look_back");

fn saxpy(elements: u32, long: bool) -> Kernel {
    Kernel {
        name: "saxpy",
        spirv: SAXPY,
        buffers: vec![(elements as usize, Floats); 2],
        push: vec![2f32.to_bits(), elements],
        groups: [elements.div_ceil(64), 1, 1],
        long,
    }
}

fn look_back(elements: u32, long: bool) -> Kernel {
    let tiles = elements.div_ceil(256);
    let words = tiles as usize * 256;
    Kernel {
        name: "look-back scan",
        spirv: LOOK_BACK,
        buffers: vec![(words, Integers), (words, Zero), (tiles as usize + 1, Zero)],
        push: Vec::new(),
        groups: [tiles, 1, 1],
        long,
    }
}

fn last_block(groups: u32) -> Kernel {
    Kernel {
        name: "last block",
        spirv: LAST_BLOCK,
        buffers: vec![(2 + groups as usize, Zero), (64 * groups as usize, Integers)],
        push: Vec::new(),
        groups: [groups, 1, 1],
        long: false,
    }
}

fn kernels() -> Vec<Kernel> {
    let one = |name, spirv, buffers, push, groups| Kernel { name, spirv, buffers, push, groups, long: false };
    let (million, words) = (1 << 20, 1 << 20);
    let square = 256 * 256;
    let product = |name, spirv, tile: u32| {
        let buffers = vec![(square, Zero), (square, Floats), (square, Floats)];
        one(name, spirv, buffers, vec![256], [256 / tile, 256 / tile, 1])
    };
    vec![
        saxpy(10_000, false),
        saxpy(100_000, false),
        saxpy(1_000_000, false),
        saxpy(10_000_000, true),
        product("matrix product", MATRIX, 16),
        product("register tile", REGISTER_TILE, 64),
        one("structures", STRUCTURES, vec![(12 * 100_032, Floats)], vec![], [1563, 1, 1]),
        one("mandelbrot", MANDELBROT, vec![(square, Zero)], vec![256], [square as u32 / 64, 1, 1]),
        one("reduction", REDUCTION, vec![(4096, Zero), (words, Integers)], vec![], [million / 256, 1, 1]),
        one("histogram, global", GLOBAL, vec![(256, Zero), (words, Integers)], vec![], [million / 256, 1, 1]),
        one(
            "histogram, workgroup",
            WORKGROUP,
            vec![(256, Zero), (words, Integers)],
            vec![],
            [million / 256, 1, 1],
        ),
        last_block(256),
        last_block(4096),
        look_back(10_000, false),
        look_back(100_000, false),
        look_back(1_000_000, false),
        look_back(10_000_000, true),
    ]
}

fn program(kernel: &Kernel, modelled: bool) -> Program {
    let words: Vec<u32> = kernel.spirv.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
    let options = CompileOptions { modelled, ..CompileOptions::default() };
    compile(&words, &options).expect("a shader that compiles")
}

/// Word by word: what is measured is what check mode has on the heap.
fn fill(kernel: &Kernel, buffers: &[MemoryRange]) {
    for (buffer, (words, fill)) in buffers.iter().zip(&kernel.buffers) {
        let view = buffer.view();
        for k in 0..*words {
            raw::store(&view, 4 * k as u64, 4, fill.word(k).into(), Ordering::Relaxed);
        }
    }
}

/// The memory of each buffer.
fn memory(kernel: &Kernel) -> Vec<MemoryRange> {
    let range = |(number, (words, _)): (u64, &(usize, Fill))| {
        let address = 0x1_0000_0000 * (number + 1);
        MemoryRange::of_words(&vec![0; *words], address, Reference(0)).expect("memory")
    };
    (0..).zip(&kernel.buffers).map(range).collect()
}

fn resources(program: &Program, kernel: &Kernel, buffers: &[MemoryRange]) -> Resources {
    let view = |(index, binding): (usize, &pellucid_shader_interp::ir::Binding)| {
        let reference = Reference((index as u32) << 16);
        vec![Descriptor::Buffer(buffers[binding.binding as usize].through(reference))]
    };
    Resources {
        bindings: program.shader.bindings.iter().enumerate().map(view).collect(),
        push_constants: kernel.push.iter().flat_map(|word| word.to_le_bytes()).collect(),
        ..Resources::default()
    }
}

/// Milliseconds that this thread had of a processor.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The least time of several runs, and that of the first.
#[derive(Clone, Copy)]
struct Taken {
    least: f64,
    first: f64,
}

fn best(buffers: &[MemoryRange], kernel: &Kernel, once: bool, mut run: impl FnMut()) -> Taken {
    let mut taken = Taken { least: f64::MAX, first: 0.0 };
    let mut spent = 0.0;
    for round in 0.. {
        fill(kernel, buffers);
        let start = processor_time();
        run();
        let took = processor_time() - start;
        taken.least = taken.least.min(took);
        if round == 0 {
            taken.first = took;
        }
        spent += took;
        if spent > 700.0 || round > 100 || once {
            break;
        }
    }
    taken
}

struct Cost {
    /// In the interpreter, and with machine code.
    plain: [Taken; 2],
    checked: [Taken; 2],
    touched: usize,
    held: usize,
    findings: usize,
}

fn measure(kernel: &Kernel, once: bool) -> Cost {
    let buffers = memory(kernel);
    let touched = 4 * kernel.buffers.iter().map(|(words, _)| words).sum::<usize>();
    let grid = Grid { base: [0; 3], groups: kernel.groups };

    let code = program(kernel, false);
    let with = resources(&code, kernel, &buffers);
    let plain = [Tier::Interpreter, Tier::Compiled].map(|tier| {
        best(&buffers, kernel, once, || {
            let options = PlainOptions { tier, ..PlainOptions::default() };
            plain::dispatch(&code, &grid, &with, &options).expect("a dispatch");
        })
    });
    let contents = || buffers.iter().map(MemoryRange::words).collect::<Vec<_>>();
    let expected = contents();

    let code = program(kernel, true);
    let with = resources(&code, kernel, &buffers);
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let mut findings = 0;
    let checked = [Tier::Interpreter, Tier::Auto].map(|tier| {
        // A device keeps its shadow memory from one dispatch to the next.
        let mut memory = CheckedMemory::new(CheckOptions { stale_budget: 64, ..CheckOptions::default() });
        best(&buffers, kernel, once, || {
            memory.begin_dispatch(DispatchInfo {
                groups: kernel.groups,
                workgroup_size: code.shader.local_size.iter().product(),
                placement: code.placement(),
                semantics: code.semantics(),
                subgroup_barriers: code.has_subgroup_barriers(),
                barriers_alone: code.barriers_alone(),
                non_private_workgroup: code.has_no_private_workgroup(),
                variables: code.shader.workgroup.iter().map(|object| (object.offset, object.size)).collect(),
                written: with.written_by(&code),
                ..DispatchInfo::default()
            });
            let mut scheduler = SeededScheduler::new(0);
            let options = ModelledOptions { tier, ..ModelledOptions::default() };
            modelled::dispatch(&code, &grid, &with, &mut memory, &mut scheduler, &options)
                .expect("a dispatch");
            memory.footprint();
            findings = memory.end_dispatch().len();
        })
    });
    let held = PEAK.load(Ordering::Relaxed) - before;
    assert!(contents() == expected, "{}: both modes compute the same", kernel.name);
    Cost { plain, checked, touched, held, findings }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let given = |option: &str| arguments.iter().any(|argument| argument == option);
    let (long, once) = (given("--long"), given("--short"));
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    println!(
        "{:22} {:>11} {:>11} {:>13} {:>13} {:>9} {:>9} {:>7} {:>9} {:>7} {:>7} {:>6} {:>8}",
        "kernel",
        "invocations",
        "run, interp",
        "run, compiled",
        "check, interp",
        "check",
        "first",
        "/interp",
        "/compiled",
        "MiB",
        "shadow",
        "B/B",
        "findings"
    );
    for kernel in kernels() {
        let chosen = names.is_empty() || names.iter().any(|name| kernel.name.contains(name.as_str()));
        if !chosen || (kernel.long && !long) {
            continue;
        }
        let local = program(&kernel, false).shader.local_size;
        let invocations: u64 = kernel.groups.iter().chain(&local).map(|n| u64::from(*n)).product();
        let cost = measure(&kernel, once);
        let [interpreted, compiled] = cost.plain.map(|taken| taken.least);
        let [check_interpreted, checked] = cost.checked.map(|taken| taken.least);
        let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
        println!(
            "{:22} {:>11} {:>11.3} {:>13.3} {:>13.2} {:>9.2} {:>9.2} {:>7.1} {:>9.1} {:>7.2} {:>7.2} {:>6.1} {:>8}",
            kernel.name,
            invocations,
            interpreted,
            compiled,
            check_interpreted,
            checked,
            cost.checked[1].first,
            check_interpreted / interpreted,
            checked / compiled,
            mib(cost.touched),
            mib(cost.held),
            cost.held as f64 / cost.touched as f64,
            cost.findings
        );
    }
}
