//! Loops that are written out where that makes values of private arrays: what they compute is what they
//! compute as loops.

use crate::support::{checked, options, resources, run};
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions, Scheduler, SeededScheduler, Unit};
use pellucid_shader_interp::interface::{CompileOptions, Descriptor, Grid};
use pellucid_shader_interp::{Program, compile};

const GIVEN: [u32; 8] = [3, 1, 4, 1, 5, 9, 2, 6];

fn program(bytes: &[u8], keep_variables: bool, subgroup_size: u32) -> Program {
    compiled(bytes, CompileOptions { keep_variables, ..options(subgroup_size) })
}

fn compiled(bytes: &[u8], options: CompileOptions) -> Program {
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
    compile(&words, &options).expect("a shader that compiles")
}

/// What the program leaves in its first buffer.
fn results(program: &Program) -> Vec<u32> {
    results_of(program, GIVEN)
}

fn results_of(program: &Program, given: [u32; 8]) -> Vec<u32> {
    let mut buffers = [vec![7; 2 * 32 * 8], given.to_vec()];
    run(program, &mut buffers, &[], [2, 1, 1]).expect("a dispatch");
    buffers[0].clone()
}

#[test]
fn loops_that_count_make_values_of_arrays() {
    let bytes = include_bytes!("shaders/unrolled.spv");
    let expected = results(&program(bytes, true, 32));
    for size in [32, 8] {
        let program = program(bytes, false, size);
        assert_eq!(program.shader.private_bytes, 0);
        assert_eq!(results(&program), expected, "subgroups of {size}");
    }
    // One that is easy to compute: `early`.
    for id in 0..32 {
        let mut w: Vec<u32> = (0..6).map(|i| id + i * GIVEN[i as usize]).collect();
        let mut sum = 0;
        for i in 0..6 {
            sum += w[i];
            w[5 - i] = sum;
        }
        assert_eq!(expected[id as usize * 8 + 5], sum);
    }
}

#[test]
fn other_loops_stay_as_they_are() {
    let bytes = include_bytes!("shaders/rolled.spv");
    let expected = results(&program(bytes, true, 32));
    for size in [32, 8] {
        let program = program(bytes, false, size);
        assert!(program.shader.private_bytes >= 4 * 100);
        assert_eq!(results(&program), expected, "subgroups of {size}");
    }
}

/// Who was picked at each step.
struct Picks(SeededScheduler, Vec<(u32, u32, u32)>);

impl Scheduler for Picks {
    fn pick(&mut self, runnable: &[Unit]) -> usize {
        let picked = self.0.pick(runnable);
        let unit = &runnable[picked % runnable.len()];
        self.1.push((unit.workgroup, unit.subgroup, unit.strand));
        picked
    }

    fn priority(&self, unit: &Unit) -> u64 {
        self.0.priority(unit)
    }
}

/// A debugger has the loops, and takes every step that check mode takes without them.
#[test]
fn written_out_or_not_the_schedule_is_the_same() {
    let bytes = include_bytes!("shaders/unrolled.spv");
    // A loop that stays, around one that goes, takes so many turns that others come in between.
    let given = GIVEN.map(|turns| turns * 20);
    let expected = results_of(&program(bytes, true, 8), given);
    let grid = Grid { base: [0; 3], groups: [2, 1, 1] };
    let dispatched = |keep_variables: bool, seed: u64| {
        let program = compiled(bytes, CompileOptions { modelled: true, keep_variables, ..options(8) });
        let resources = resources(&program, &[vec![7; 2 * 32 * 8], given.to_vec()], &[]);
        let mut memory = checked(&program, grid.groups);
        let mut picks = Picks(SeededScheduler::new(seed), Vec::new());
        let options = ModelledOptions::default();
        modelled::dispatch(&program, &grid, &resources, &mut memory, &mut picks, &options)
            .expect("a dispatch");
        let output = program.shader.bindings.iter().position(|binding| binding.binding == 0);
        let Descriptor::Buffer(range) = &resources.bindings[output.expect("binding 0")][0] else {
            panic!("a buffer")
        };
        assert_eq!(range.words(), expected, "kept: {keep_variables}");
        (program, picks.1)
    };
    for seed in 0..8 {
        let ((kept, loops), (checked, without)) = (dispatched(true, seed), dispatched(false, seed));
        let lines = [&kept, &checked].map(|program| program.code.len());
        assert!(!kept.shader.written_out.is_empty(), "{lines:?}");
        assert!(loops.len() > 8, "{} steps of 8 subgroups", loops.len());
        assert_eq!(loops, without, "seed {seed}");
    }
}
