//! Numbers and files beyond all measure, with 8 GB of address space: each is refused with a sentence, or done
//! bit by bit, and nothing aborts.

use std::path::Path;
use std::process::{Command, Output};

fn pellucid(arguments: &[&str]) -> (Output, String) {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(env!("CARGO_BIN_EXE_pellucid"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let limit = libc::rlimit { rlim_cur: 8 << 30, rlim_max: 8 << 30 };
    // SAFETY: setrlimit may be called between fork and exec, and `limit` is a valid structure.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_AS, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let output = command.output().expect("pellucid starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, errors)
}

#[track_caller]
fn refused(arguments: &[&str], status: i32, why: &str) {
    let (output, errors) = pellucid(arguments);
    assert_eq!(output.status.code(), Some(status), "{errors}");
    assert!(errors.contains(why), "{errors}");
}

const SAXPY: &str = "cli/tests/compute/saxpy.spv";

/// A shader that does nothing, with a buffer in this set, and the arguments that execute it.
fn shader_of_set(set: u32, test: impl Fn(&[&str])) {
    let text = format!(
        "OpCapability Shader
         OpMemoryModel Logical GLSL450
         OpEntryPoint GLCompute %main \"main\"
         OpExecutionMode %main LocalSize 1 1 1
         OpDecorate %buffer DescriptorSet {set}
         OpDecorate %buffer Binding 0
         OpDecorate %block Block
         OpMemberDecorate %block 0 Offset 0
         %void = OpTypeVoid
         %function = OpTypeFunction %void
         %uint = OpTypeInt 32 0
         %block = OpTypeStruct %uint
         %pointer = OpTypePointer StorageBuffer %block
         %buffer = OpVariable %pointer StorageBuffer
         %main = OpFunction %void None %function
         %start = OpLabel
         OpReturn
         OpFunctionEnd"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shader.spvasm");
    std::fs::write(&file, text).unwrap();
    let buffer = format!("{set}:0=u32x1");
    test(&["exec", file.to_str().unwrap(), "--groups", "1", "--buffer", &buffer]);
}

#[test]
fn all_seeds_are_not_counted_up_beforehand() {
    refused(
        &["run", "--seeds", "0..18446744073709551615", "--", "/nonexistent/program"],
        1,
        "cannot start /nonexistent/program",
    );
    let (output, errors) =
        pellucid(&["run", "--seeds", "18446744073709551613..18446744073709551615", "--", "true"]);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("seeds 18446744073709551613..18446744073709551615: all 2 clean"), "{errors}");
}

#[test]
fn all_runs_of_a_litmus_test_are_not_counted_up_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two-families.litmus");
    let test = "VULKAN two-families\n{ x=0; }\n P0@sg 0, wg 0, qf 0 | P1@sg 0, wg 0, qf 1 ;\n \
                st.av.dv.sc0 x, 1 | st.av.dv.sc0 x, 2 ;\nexists ([x] == 1)\n";
    std::fs::write(&file, test).unwrap();
    let most = "18446744073709551615";
    refused(
        &["litmus", file.to_str().unwrap(), "--by", "vulkan", "--runs", most, "--threads", most],
        2,
        "not implemented in Pellucid: litmus --by vulkan",
    );
}

#[test]
fn files_without_end_are_refused() {
    let long = "longer than";
    for device in ["/dev/zero", "/dev/urandom"] {
        refused(&["exec", device, "--groups", "1"], 2, long);
        refused(&["report", device], 2, long);
        refused(&["replay", device], 2, long);
        refused(&["litmus", "tests/litmus", "--expect", device], 2, long);
        let folder = tempfile::tempdir().unwrap();
        for name in ["endless.litmus", "endless.test"] {
            let file = folder.path().join(name);
            std::os::unix::fs::symlink(device, &file).unwrap();
            let (output, errors) = pellucid(&["litmus", file.to_str().unwrap()]);
            assert_eq!(output.status.code(), Some(1), "{errors}");
            assert!(String::from_utf8_lossy(&output.stdout).contains(long), "{errors}");
        }
    }
    for buffer in ["0:0=u32x4=file:/dev/urandom", "0:0=u8x4294967295=file:/dev/zero"] {
        let (output, errors) = pellucid(&["exec", SAXPY, "--groups", "1", "--buffer", buffer]);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(long) || errors.contains("out of memory"), "{errors}");
    }
    shader_of_set(0, |shader| {
        refused(&[shader, &["--suppressions", "/dev/full"]].concat(), 2, long);
    });
}

#[test]
fn a_set_beyond_the_limit_is_refused() {
    for set in [32, u32::MAX] {
        shader_of_set(set, |shader| refused(shader, 1, "maxBoundDescriptorSets"));
    }
    shader_of_set(31, |shader| assert_eq!(pellucid(shader).0.status.code(), Some(0)));
}

#[test]
fn more_threads_than_a_process_can_have_are_refused() {
    shader_of_set(0, |shader| {
        refused(&[shader, &["--threads", "4294967295"]].concat(), 2, "valid: 0 to 1024");
    });
}

#[test]
fn repetitions_are_recorded_some_at_a_time() {
    shader_of_set(0, |shader| {
        let (output, errors) = pellucid(&[shader, &["--repeat", "10000"]].concat());
        assert_eq!(output.status.code(), Some(0), "{errors}");
        assert!(errors.contains("10000 dispatches checked"), "{errors}");
    });
}
