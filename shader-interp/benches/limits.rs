//! Kernels beside what the same cores do without a shader: multiplications and additions beside a loop
//! written by hand for AVX-512, accesses to memory beside `memcpy` on as many threads.
//!
//! `cargo bench -p pellucid-shader-interp --bench limits` prints one table: the best of some rounds, in each
//! of which everything runs once after the other. `-- copy saxpy` runs these cases and their limits.

#![allow(missing_docs, clippy::print_stdout)]

use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_shader_interp::exec::plain::{PlainOptions, dispatch};
use pellucid_shader_interp::interface::{CompileOptions, Descriptor, Grid, Resources};
use pellucid_shader_interp::{Program, compile};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const CHAINS: &[u8] = include_bytes!("../tests/exec/shaders/chains.spv");
const SAXPY: &[u8] = include_bytes!("../tests/exec/shaders/saxpy.spv");
const COPY: &[u8] = include_bytes!("shaders/copy.spv");

/// Words of a buffer: more than the caches hold.
const WORDS: usize = 1 << 26;
const INVOCATIONS: usize = 1 << 18;
/// Turns of the loop, in each of which an invocation does 8 multiplications and 8 additions.
const TURNS: u32 = 1024;
const ROUNDS: usize = 7;

struct Kernel {
    program: Program,
    resources: Resources,
    grid: Grid,
}

impl Kernel {
    fn new(spirv: &[u8], buffers: &[usize], push: [u32; 2], groups: usize) -> Kernel {
        let words: Vec<u32> = spirv.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
        let options = CompileOptions::default();
        let program = compile(&words, &options).expect("a shader that compiles");
        let buffer = |binding: &pellucid_shader_interp::ir::Binding| {
            // Ones: sums of denormal numbers take a processor ten times as long.
            let words = vec![1f32.to_bits(); buffers[binding.binding as usize]];
            let address = 0x1_0000_0000 * (u64::from(binding.binding) + 1);
            let range = MemoryRange::of_words(&words, address, Reference(binding.binding));
            vec![Descriptor::Buffer(range.expect("memory"))]
        };
        let resources = Resources {
            bindings: program.shader.bindings.iter().map(buffer).collect(),
            push_constants: push.iter().flat_map(|word| word.to_le_bytes()).collect(),
            ..Resources::default()
        };
        Kernel { program, resources, grid: Grid { base: [0; 3], groups: [groups as u32, 1, 1] } }
    }

    fn run(&self, pool: &ThreadPool) {
        let options = PlainOptions { threads: Some(pool), ..PlainOptions::default() };
        dispatch(&self.program, &self.grid, &self.resources, &options).expect("a dispatch");
    }
}

/// What the kernel of multiplications and additions does, for 32 invocations at a time.
#[cfg(target_arch = "x86_64")]
mod by_hand {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f")]
    fn chains<const ONE_ROUNDING: bool>(a: f32, turns: u32) -> f32 {
        let (a, b) = (_mm512_set1_ps(a), _mm512_set1_ps(0.25));
        let mut chains: [__m512; 16] = std::array::from_fn(|k| _mm512_set1_ps(k as f32));
        for _ in 0..turns {
            for c in &mut chains {
                *c = match ONE_ROUNDING {
                    true => _mm512_fmadd_ps(*c, a, b),
                    false => _mm512_add_ps(_mm512_mul_ps(*c, a), b),
                };
            }
        }
        chains.into_iter().map(|chain| _mm512_reduce_add_ps(chain)).sum()
    }

    /// `None` without AVX-512.
    pub fn run(one_rounding: bool, a: f32, turns: u32) -> Option<f32> {
        if !is_x86_feature_detected!("avx512f") {
            return None;
        }
        // SAFETY: the processor has AVX-512.
        Some(unsafe { if one_rounding { chains::<true>(a, turns) } else { chains::<false>(a, turns) } })
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod by_hand {
    pub fn run(_one_rounding: bool, _a: f32, _turns: u32) -> Option<f32> {
        None
    }
}

/// All threads of the pool do what that many invocations do.
fn loop_by_hand(pool: &ThreadPool, one_rounding: bool) {
    let each = INVOCATIONS / 32 / pool.current_num_threads();
    pool.broadcast(|_| {
        for _ in 0..each {
            black_box(by_hand::run(one_rounding, black_box(0.999), black_box(TURNS)));
        }
    });
}

/// Each thread copies its part of the words.
fn memcpy(pool: &ThreadPool, to: &mut [u32], from: &[u32]) {
    let part = to.len().div_ceil(pool.current_num_threads());
    let parts: Vec<_> =
        to.chunks_mut(part).zip(from.chunks(part)).map(|parts| Mutex::new(Some(parts))).collect();
    pool.broadcast(|thread| {
        let taken = parts.get(thread.index()).and_then(|part| part.lock().expect("no panic").take());
        if let Some((to, from)) = taken {
            to.copy_from_slice(from);
        }
    });
}

fn main() {
    let pool = ThreadPoolBuilder::new().build().expect("threads");
    let chains = Kernel::new(CHAINS, &[INVOCATIONS], [0.999f32.to_bits(), TURNS], INVOCATIONS / 64);
    let saxpy = Kernel::new(SAXPY, &[WORDS, WORDS], [2f32.to_bits(), WORDS as u32], WORDS / 64);
    let copy = Kernel::new(COPY, &[WORDS, WORDS], [0; 2], WORDS / 256);
    let (mut to, from) = (vec![1; WORDS], vec![2; WORDS]);
    let operations = 16.0 * f64::from(TURNS) * INVOCATIONS as f64;
    let bytes = 4.0 * WORDS as f64;
    // What is measured, its unit, its work, and the number of the case that is its limit.
    type Case<'a> = (&'a str, &'a str, f64, usize, Box<dyn FnMut() + 'a>);
    let mut cases: Vec<Case<'_>> = vec![
        ("by hand, one rounding", "GFLOP/s", operations, 0, Box::new(|| loop_by_hand(&pool, true))),
        ("by hand, two roundings", "GFLOP/s", operations, 0, Box::new(|| loop_by_hand(&pool, false))),
        ("multiply and add, 8 chains", "GFLOP/s", operations, 1, Box::new(|| chains.run(&pool))),
        ("memcpy", "GB/s", 2.0 * bytes, 3, Box::new(|| memcpy(&pool, &mut to, &from))),
        ("copy", "GB/s", 2.0 * bytes, 3, Box::new(|| copy.run(&pool))),
        ("saxpy", "GB/s", 3.0 * bytes, 3, Box::new(|| saxpy.run(&pool))),
    ];
    let names: Vec<String> = std::env::args().skip(1).filter(|name| name != "--bench").collect();
    let asked = |k: usize| names.is_empty() || names.iter().any(|name| name == cases[k].0);
    let chosen: Vec<bool> =
        (0..cases.len()).map(|k| (0..cases.len()).any(|j| asked(j) && (j == k || cases[j].3 == k))).collect();
    let mut best = vec![Duration::MAX; cases.len()];
    for _ in 0..ROUNDS {
        let chosen = cases.iter_mut().zip(&mut best).zip(&chosen).filter(|(_, chosen)| **chosen);
        for (((.., run), best), _) in chosen {
            let start = Instant::now();
            run();
            *best = start.elapsed().min(*best);
        }
    }
    println!("{} threads, best of {ROUNDS} rounds", pool.current_num_threads());
    let rate = |k: usize| cases[k].2 / best[k].as_secs_f64() / 1e9;
    for (k, (name, unit, _, limit, _)) in cases.iter().enumerate().filter(|(k, _)| chosen[*k]) {
        println!(
            "{name:28} {:>8.1} {unit:8} {:>6.2} of {}",
            rate(k),
            rate(k) / rate(*limit),
            cases[*limit].0
        );
    }
}
