//! Modules whose compiler left NonPrivatePointer out of all accesses of workgroup memory, or Coherent off all
//! storage buffers: one thing to mend, and what is told where it is taken as if it were there.

mod common;

use common::{dumped, errors, exec};

/// The shader, its buffers and the one that is looked at, what is said to be left out, and the option.
const CASES: [(&str, &str, &str, [&str; 2]); 2] = [
    (
        "private_workgroup.spvasm",
        "--groups 1 --buffer 0:0=u32x64 --dump 0:0",
        "left it out of all 4 (--workgroup-memory coherent",
        ["--workgroup-memory", "coherent"],
    ),
    (
        "private_storage.spvasm",
        "--groups 1 --buffer 0:0=u32x64 --buffer 0:1=u32x64 --dump 0:1",
        "none that the 5 loads and stores of this module reach is (--storage-memory coherent",
        ["--storage-memory", "coherent"],
    ),
];

#[test]
fn what_a_compiler_left_out_is_one_fix() {
    for (shader, buffers, fix, _) in CASES {
        let errors = errors(&exec(shader, &["--mode", "check"], buffers));
        let count = |what: &str| errors.matches(what).count();
        assert!(count("error[race-private]") > 2, "{errors}");
        assert_eq!(count(fix), count("error["), "{errors}");
        assert_eq!(count("the same fix as above"), count("error[race-private]") - 1, "{errors}");
    }
}

#[test]
fn memory_that_is_taken_as_coherent_is_as_the_program_means_it() {
    let expected: Vec<u32> = (0..64).map(|i| (i + 2) % 64).collect();
    for (shader, buffers, _, option) in CASES {
        for options in [&["--mode", "check", option[0], option[1]][..], &["--mode", "run"]] {
            let output = exec(shader, options, buffers);
            assert_eq!(output.status.code(), Some(0), "{options:?}:\n{}", errors(&output));
            assert_eq!(dumped::<u32>(&output), expected, "{options:?}");
        }
    }
}

/// Taken as coherent, what nothing orders is found as before: here by a barrier that orders workgroup memory.
#[test]
fn memory_that_is_taken_as_coherent_has_to_be_ordered() {
    let (_, buffers, _, option) = CASES[1];
    let folder = tempfile::tempdir().expect("a folder");
    let shader = include_str!("compute/private_storage.spvasm");
    let path = folder.path().join("unordered.spvasm");
    std::fs::write(&path, shader.replace("OpConstant %uint 72", "OpConstant %uint 264")).expect("a file");
    let options = ["--mode", "check", option[0], option[1]];
    let errors = errors(&exec(path.to_str().expect("a name"), &options, buffers));
    assert!(errors.contains("error[race-storage-class]"), "{errors}");
}
