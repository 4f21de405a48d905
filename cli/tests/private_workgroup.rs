//! Modules whose compiler left NonPrivatePointer out of workgroup memory: one thing to mend, and what is told
//! where it is taken as if it were there.

mod common;

use common::{dumped, errors, exec};

const SHADER: &str = "private_workgroup.spvasm";
const BUFFER: &str = "--groups 1 --buffer 0:0=u32x64 --dump 0:0";

#[test]
fn what_a_compiler_left_out_is_one_fix() {
    let errors = errors(&exec(SHADER, &["--mode", "check"], BUFFER));
    let count = |what: &str| errors.matches(what).count();
    assert!(count("error[race-private]") > 2, "{errors}");
    assert_eq!(count("left it out of all 4 (--workgroup-memory coherent"), count("error["), "{errors}");
    assert_eq!(count("the same fix as above"), count("error[race-private]") - 1, "{errors}");
}

#[test]
fn coherent_workgroup_memory_is_as_in_other_modules() {
    let expected: Vec<u32> = (0..64).map(|i| (i + 2) % 64).collect();
    for options in [&["--mode", "check", "--workgroup-memory", "coherent"][..], &["--mode", "run"]] {
        let output = exec(SHADER, options, BUFFER);
        assert_eq!(output.status.code(), Some(0), "{options:?}:\n{}", errors(&output));
        assert_eq!(dumped::<u32>(&output), expected, "{options:?}");
    }
}
