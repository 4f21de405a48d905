//! Loops that are written out where that makes values of private arrays: what they compute is what they
//! compute as loops.

use crate::support::{options, run};
use pellucid_shader_interp::interface::CompileOptions;
use pellucid_shader_interp::{Program, compile};

const GIVEN: [u32; 8] = [3, 1, 4, 1, 5, 9, 2, 6];

fn program(bytes: &[u8], keep_variables: bool, subgroup_size: u32) -> Program {
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
    compile(&words, &CompileOptions { keep_variables, ..options(subgroup_size) })
        .expect("a shader that compiles")
}

/// What the program leaves in its first buffer.
fn results(program: &Program) -> Vec<u32> {
    let mut buffers = [vec![7; 2 * 32 * 8], GIVEN.to_vec()];
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
