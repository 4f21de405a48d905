//! Whole shaders, from SPIR-V. The .spv files are made by `glslangValidator -V --target-env vulkan1.3` from
//! the sources beside them.

use crate::support::{checked, options, resources, run, tier, with_resources};
use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::plain::PlainMemory;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::code::Opcode;
use pellucid_shader_interp::code::debug::{Register, Resume};
use pellucid_shader_interp::exec::modelled::{ModelledOptions, SeededScheduler};
use pellucid_shader_interp::exec::plain::PlainOptions;
use pellucid_shader_interp::exec::step::{Stepped, Stepper};
use pellucid_shader_interp::exec::{modelled, plain};
use pellucid_shader_interp::interface::{CompileOptions, Descriptor, Grid, Resources};
use pellucid_shader_interp::ir::Binding;
use pellucid_shader_interp::tier::Tier;
use pellucid_shader_interp::{Program, compile};

fn compiled(bytes: &[u8], options: &CompileOptions) -> Program {
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
    compile(&words, options).expect("a shader that compiles")
}

fn program(bytes: &[u8], subgroup_size: u32) -> Program {
    compiled(bytes, &options(subgroup_size))
}

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("shaders/", $name, ".spv"))
    };
}

#[test]
fn a_reduction_waits_at_barriers() {
    for size in [32, 16, 4] {
        let program = program(shader!("reduction"), size);
        let words: Vec<u32> = (0..1024).map(|k| k * k).collect();
        let mut buffers = [vec![0; 4], words.clone()];
        run(&program, &mut buffers, &[], [4, 1, 1]).expect("a dispatch");
        let expected: Vec<u32> = words.chunks(256).map(|c| c.iter().sum()).collect();
        assert_eq!(buffers[0], expected);
    }
}

#[test]
fn what_does_not_fit_into_caches_is_stored_whole() {
    // y = 2 x + y; more bytes than dispatches store by way of the caches.
    let program = program(shader!("saxpy"), 32);
    let words = (9 << 20) + 37;
    let x: Vec<u32> = (0..words as u32).map(|k| (k as f32).to_bits()).collect();
    let ones = vec![1f32.to_bits(); words + 16];
    let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    for offset in [0, 4, 64] {
        let mut resources = resources(&program, &[vec![], x.clone()], &[2f32.to_bits(), words as u32]);
        let whole = MemoryRange::of_words(&ones, 1 << 32, Reference(0)).expect("memory");
        let memory = whole.allocation().expect("an allocation");
        let part = MemoryRange::new(memory, offset, memory.size() - offset, Reference(0));
        let y = program.shader.bindings.iter().position(|binding| binding.binding == 0).expect("a buffer");
        resources.bindings[y] = vec![Descriptor::Buffer(part)];
        let groups = [words.div_ceil(64) as u32, 1, 1];
        let options = PlainOptions { threads: Some(&pool), tier: Tier::Compiled, ..PlainOptions::default() };
        plain::dispatch(&program, &Grid { base: [0; 3], groups }, &resources, &options).expect("a dispatch");
        let first = offset as usize / 4;
        for (k, word) in whole.words().into_iter().enumerate() {
            let inside = (first..first + words).contains(&k);
            let expected = if inside { 2.0 * (k - first) as f32 + 1.0 } else { 1.0 };
            assert_eq!(f32::from_bits(word), expected, "word {k} from byte {offset}");
        }
    }
}

/// Runs the workgroups one after the other, their subgroups an instruction each in turn.
fn step(program: &Program, resources: &Resources, groups: u32) -> u64 {
    let mut memory = PlainMemory::new(&resources.addresses);
    let grid = Grid { base: [0; 3], groups: [groups, 1, 1] };
    let mut stepper = Stepper::new(program, &grid, resources, &mut memory).expect("a dispatch");
    let mut steps = 0;
    for workgroup in 0..groups {
        stepper.begin_workgroup(workgroup);
        let mut strands: Vec<_> = (0..stepper.subgroups())
            .map(|subgroup| {
                let identity = stepper.identity(workgroup, subgroup);
                (identity, stepper.start(&identity), Stepped::On)
            })
            .collect();
        while strands.iter().any(|(.., state)| *state != Stepped::Ended) {
            if strands.iter().all(|(.., state)| *state != Stepped::On) {
                stepper.complete_barrier(workgroup);
                let waiting = strands.iter_mut().filter(|(.., state)| *state != Stepped::Ended);
                waiting.for_each(|(.., state)| *state = Stepped::On);
            }
            for (identity, strand, state) in strands.iter_mut().filter(|(.., state)| *state == Stepped::On) {
                assert!((strand.pc() as usize) < program.code.len() && strand.mask() & !strand.live() == 0);
                *state = stepper.step(identity, strand).expect("an instruction");
                steps += 1;
            }
        }
        stepper.end_workgroup(workgroup);
    }
    steps
}

/// A shader, its push constants, workgroups and the words of its buffers.
type Case<'a> = (&'a [u8], &'a [u32], u32, &'a [usize]);

#[test]
fn stepping_is_running() {
    let cases: [Case<'_>; 4] = [
        (&shader!("reduction")[..], &[], 4, &[4, 1024]),
        (&shader!("subgroup")[..], &[], 1, &[320]),
        (&shader!("saxpy")[..], &[0x4000_0000, 77], 2, &[128, 128]),
        (&shader!("mandelbrot")[..], &[16], 4, &[256]),
    ];
    for (shader, push, groups, sizes) in cases {
        for size in [32, 8] {
            let program = program(shader, size);
            let fresh = || sizes.iter().map(|n| (0..*n as u32).collect()).collect::<Vec<Vec<u32>>>();
            let (mut ran, mut stepped) = (fresh(), fresh());
            run(&program, &mut ran, push, [groups, 1, 1]).expect("a dispatch");
            let steps =
                with_resources(&program, &mut stepped, push, |resources| step(&program, resources, groups));
            assert_eq!(ran, stepped);
            assert!(steps > program.code.len() as u64 / 2);
        }
    }
}

#[test]
fn check_mode_is_the_same_in_both_tiers() {
    let cases: [Case<'_>; 6] = [
        (&shader!("reduction")[..], &[], 40, &[40, 10240]),
        (&shader!("subgroup")[..], &[], 1, &[320]),
        (&shader!("saxpy")[..], &[0x4000_0000, 777], 13, &[900, 900]),
        (&shader!("mandelbrot")[..], &[100], 157, &[10048]),
        (&shader!("chains")[..], &[0x3f7f_0000, 300], 3, &[192]),
        (&shader!("atomics")[..], &[], 8, &[4096, 4096]),
    ];
    for (shader, push, groups, sizes) in cases {
        for size in [32, 8] {
            let program = compiled(shader, &CompileOptions { modelled: true, ..options(size) });
            let words: Vec<Vec<u32>> = sizes.iter().map(|n| (0..*n as u32).collect()).collect();
            let check = |tier| {
                let resources = resources(&program, &words, push);
                let mut memory = checked(&program, [groups, 1, 1]);
                let grid = Grid { base: [0; 3], groups: [groups, 1, 1] };
                let options = ModelledOptions { tier, ..ModelledOptions::default() };
                let mut scheduler = SeededScheduler::new(3);
                let ended =
                    modelled::dispatch(&program, &grid, &resources, &mut memory, &mut scheduler, &options);
                let buffers = resources.bindings.iter().flatten().map(|descriptor| match descriptor {
                    Descriptor::Buffer(range) => range.words(),
                    _ => Vec::new(),
                });
                let buffers: Vec<Vec<u32>> = buffers.collect();
                (ended, format!("{:?}", memory.end_dispatch()), buffers)
            };
            assert_eq!(check(Tier::Interpreter), check(Tier::Compiled));
        }
    }
}

fn with_debug_info(bytes: &[u8]) -> Program {
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
    compile(&words, &CompileOptions { debug: true, ..options(32) }).expect("a shader that compiles")
}

#[test]
fn debug_information_costs_no_code_and_knows_where_programs_stop() {
    for shader in [&shader!("reduction")[..], shader!("saxpy"), shader!("mandelbrot"), shader!("subgroup")] {
        let (plain, debug) = (program(shader, 32), with_debug_info(shader));
        assert_eq!(plain.code, debug.code);
        assert_eq!((plain.vectors, plain.masks, &plain.pins), (debug.vectors, debug.masks, &debug.pins));
        assert!(plain.debug.is_none() && debug.debug.is_some());
        let points = debug.resume_points();
        assert_eq!(points[0], (0, Resume::Start));
        let edges = points.iter().filter(|(_, why)| matches!(why, Resume::BackEdge { .. })).count();
        assert_eq!(edges, debug.back_edges.len());
        let barriers = points.iter().filter(|(_, why)| matches!(why, Resume::Barrier(_))).count();
        assert_eq!(barriers > 0, debug.workgroup_barriers);
    }
}

#[test]
fn debug_information_finds_what_is_stored() {
    let program = with_debug_info(shader!("saxpy"));
    let debug = program.debug.as_ref().expect("debug information");
    let y: Vec<u32> = (0..128).map(|k| (k as f32).to_bits()).collect();
    let resources = resources(&program, &[vec![1f32.to_bits(); 128], y], &[2f32.to_bits(), 128]);
    let mut memory = PlainMemory::new(&resources.addresses);
    let grid = Grid { base: [0; 3], groups: [1; 3] };
    let mut stepper = Stepper::new(&program, &grid, &resources, &mut memory).expect("a dispatch");
    stepper.begin_workgroup(0);
    let identity = stepper.identity(0, 0);
    let mut strand = stepper.start(&identity);
    let mut stores = 0;
    loop {
        let pc = strand.pc();
        let text = &program.shader.sites[debug.site(pc).0 as usize].instruction;
        if matches!(program.code[pc as usize].op, Opcode::StoreView) {
            assert!(text.starts_with("OpStore "), "{text} stores");
            let id: u32 = text.rsplit('%').next().and_then(|id| id.parse().ok()).expect("an id");
            let found = debug.locations_at(pc).find(|at| at.id == id).expect("a stored value");
            let Register::Vector(register) = found.register else { panic!("{found:?}") };
            for (lane, word) in strand.vectors()[register as usize].0.iter().enumerate() {
                assert_eq!(f32::from_bits(*word), 2.0 * lane as f32 + 1.0);
            }
            stores += 1;
        }
        if stepper.step(&identity, &mut strand).expect("an instruction") == Stepped::Ended {
            break;
        }
    }
    assert_eq!(stores, 1);
}

#[test]
fn threads_do_not_change_results() {
    let program = program(shader!("mandelbrot"), 32);
    let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    let mut results = Vec::new();
    for threads in [None, Some(&pool)] {
        let mut buffers = [vec![0u32; 128 * 128]];
        let grid = Grid { base: [0; 3], groups: [128 * 128 / 64, 1, 1] };
        let options = plain::PlainOptions { threads, tier: tier(), ..Default::default() };
        with_resources(&program, &mut buffers, &[128], |resources| {
            plain::dispatch(&program, &grid, resources, &options).expect("a dispatch");
        });
        results.push(buffers);
    }
    assert_eq!(results[0], results[1]);
    for (i, count) in results[0][0].iter().enumerate().step_by(97) {
        let at = |x: usize, shift: f32| (x as f32 / 128.0 - shift) * 2.5;
        let (cx, cy) = (at(i % 128, 0.7), at(i / 128, 0.5));
        let (mut x, mut y, mut k) = (0f32, 0f32, 0u32);
        while k < 256 && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            k += 1;
        }
        assert_eq!(*count, k, "point {i}");
    }
}

#[test]
fn a_partial_subgroup_and_a_bound_are_respected() {
    let program = program(shader!("saxpy"), 32);
    let mut buffers = [vec![1f32.to_bits(); 128], (0..128).map(|k| (k as f32).to_bits()).collect()];
    run(&program, &mut buffers, &[2f32.to_bits(), 77], [2, 1, 1]).expect("a dispatch");
    for (k, y) in buffers[0].iter().enumerate() {
        let expected = if k < 77 { 2.0 * k as f32 + 1.0 } else { 1.0 };
        assert_eq!(f32::from_bits(*y), expected, "element {k}");
    }
}

#[test]
fn lanes_that_wait_for_each_other_get_on() {
    let program = program(shader!("spin"), 32);
    let mut buffers = [vec![0; 32], vec![0]];
    let grid = Grid { base: [0; 3], groups: [1; 3] };
    with_resources(&program, &mut buffers, &[], |resources| {
        plain::dispatch(&program, &grid, resources, &plain::PlainOptions::default()).expect("a dispatch");
    });
    assert!(buffers[0].iter().enumerate().all(|(k, o)| *o == 1 + (k as u32 & 1)));
}

#[test]
fn the_watchdog_ends_what_does_not_end() {
    for endless in [&shader!("endless")[..], &shader!("endless_barrier")[..]] {
        let program = program(endless, 32);
        let mut buffers = [vec![0; 4]];
        let ended = run(&program, &mut buffers, &[], [1; 3]);
        assert!(matches!(ended, Err(Trap::Watchdog(_))), "{ended:?}");
    }
}

#[test]
fn subgroup_operations_leave_inactive_lanes_out() {
    let program = program(shader!("subgroup"), 32);
    let mut buffers = [vec![0; 40 * 8]];
    run(&program, &mut buffers, &[], [1; 3]).expect("a dispatch");
    for (first, count) in [(0u32, 32u32), (32, 8)] {
        let active: Vec<u32> = (0..count).filter(|l| l % 3 != 0).collect();
        for l in 0..count {
            let o = &buffers[0][((first + l) * 8) as usize..][..8];
            if l % 3 == 0 {
                assert_eq!(o, [0; 8]);
                continue;
            }
            assert_eq!(o[0], active.iter().sum::<u32>());
            assert_eq!(o[1], active.iter().filter(|k| **k < l).count() as u32);
            assert_eq!(o[2], u32::from(l == 1));
            assert_eq!(o[3], active.iter().filter(|k| **k & 1 == 1).fold(0, |m, k| m | 1 << k));
            if (l ^ 3) % 3 != 0 {
                assert_eq!(o[4], l ^ 3);
            }
            assert_eq!(o[5], 101);
            assert_eq!(o[6], active.iter().copied().filter(|k| k / 4 == l / 4).max().unwrap_or(0));
            assert_eq!(o[7], 3 + 32 * 4);
        }
    }
}

#[test]
fn atomics_count_every_lane_once() {
    let program = program(shader!("atomics"), 32);
    let mut buffers = [vec![0; 68], vec![0; 4]];
    buffers[0][1] = u32::MAX;
    run(&program, &mut buffers, &[], [1, 1, 1]).expect("a dispatch");
    assert_eq!(buffers[0][..4], [64, 5, 63, 1]);
    assert!(buffers[0][4..].iter().all(|ticket| *ticket == 64));
    assert_eq!(buffers[1][..2], [0, 63 * 64 / 2]);
    assert_eq!(i64::from(buffers[1][2]) | i64::from(buffers[1][3]) << 32, -63);
}

#[test]
fn the_scheduler_does_not_change_a_race_free_result() {
    let program = compiled(shader!("reduction"), &CompileOptions { modelled: true, ..options(32) });
    let words: Vec<u32> = (0..4096).collect();
    for seed in 0..8 {
        let mut buffers = [vec![0; 16], words.clone()];
        let grid = Grid { base: [0; 3], groups: [16, 1, 1] };
        let mut memory = checked(&program, grid.groups);
        let mut scheduler = SeededScheduler::new(seed);
        let options = ModelledOptions::default();
        with_resources(&program, &mut buffers, &[], |resources| {
            modelled::dispatch(&program, &grid, resources, &mut memory, &mut scheduler, &options)
                .expect("a dispatch");
        });
        assert_eq!(memory.end_dispatch(), [], "seed {seed}");
        let expected: Vec<u32> = words.chunks(256).map(|c| c.iter().sum()).collect();
        assert_eq!(buffers[0], expected, "seed {seed}");
    }
}

#[test]
fn accesses_through_a_descriptor_index_that_differs_between_lanes_go_lane_by_lane() {
    // Counters k: count, owner, wide, wide_owner, stored[32 + k].
    let counters = |k: u32| {
        let mut words = vec![100 * k, 1000 + k, 7 * k, k, 5, k << 8];
        words.extend((0..32 + k).map(|j| 5000 * (k + 1) + j));
        words
    };
    let mut expected: Vec<Vec<u32>> = (0..3).map(counters).collect();
    let mut results = vec![0u32; 32 * 8];
    for i in 16..32u32 {
        let k = i % 3;
        let words = &mut expected[k as usize];
        let o = &mut results[8 * i as usize..][..8];
        o[..6].copy_from_slice(&words[..6]);
        words[0] += i;
        words[1] = if words[1] == 1000 + k { i } else { words[1] };
        (words[2], words[3]) = (words[2] + 1, words[3] + i);
        if words[4..6] == [5, k << 8] {
            (words[4], words[5]) = (i, 0);
        }
        words[6 + i as usize] = i * i;
        o[6] = words[6 + (i / 3 - k) as usize];
        o[7] = 32 + k;
    }

    let program = program(shader!("descriptor_array"), 32);
    let buffers: Vec<Vec<u32>> = [vec![0; 32 * 8]].into_iter().chain((0..3).map(counters)).collect();
    let range = |(words, k): (&Vec<u32>, u32)| {
        MemoryRange::of_words(words, 0x1000 * u64::from(k), Reference(k)).expect("memory")
    };
    let ranges: Vec<MemoryRange> = buffers.iter().zip(0..).map(range).collect();
    let views: Vec<Descriptor> = ranges.iter().cloned().map(Descriptor::Buffer).collect();
    let of = |binding: &Binding| if binding.count == 1 { views[..1].to_vec() } else { views[1..].to_vec() };
    let bindings = program.shader.bindings.iter().map(of).collect();
    let resources = Resources { bindings, ..Resources::default() };
    let grid = Grid { base: [0; 3], groups: [1; 3] };
    plain::dispatch(&program, &grid, &resources, &plain::PlainOptions::default()).expect("a dispatch");
    let buffers: Vec<Vec<u32>> = ranges.iter().map(MemoryRange::words).collect();
    assert_eq!(buffers[0], results);
    assert_eq!(buffers[1..], expected[..]);
}

/// The lowest one that traps is told, however many threads there are, and not who waits for it.
#[test]
fn what_traps_is_told_and_not_who_stops_for_it() {
    let program = program(shader!("traps"), 32);
    for threads in [1, 2, 3] {
        let pool = rayon_core::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        for _ in 0..3 {
            let buffers = [vec![0u32; 512]];
            let resources = resources(&program, &buffers, &[]);
            let grid = Grid { base: [0; 3], groups: [512, 1, 1] };
            let options = plain::PlainOptions { threads: Some(&pool), tier: tier(), ..Default::default() };
            let trap = plain::dispatch(&program, &grid, &resources, &options).expect_err("it traps");
            assert!(
                matches!(trap, Trap::InvalidAddress { address, .. } if address == 0x1_0000_0000 + 16 * 37),
                "{trap}"
            );
        }
    }
}
