//! Reports that are the same bytes everywhere, and `pellucid replay`, which makes a report's findings come
//! again.

mod common;

use common::errors;
use std::path::{Path, PathBuf};
use std::process::Output;

const REDUCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/demo/reduce.spv");
const FIXED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/demo/reduce_fixed.spv");
const BUFFERS: &str = "--groups 1 --buffer 0:0=u32x64=iota --buffer 0:1=u32x64 --buffer 0:2=u32x1 --dump 0:2";

/// Runs the command in a folder, with these variables of the driver and no others.
fn pellucid(folder: &Path, variables: &[(&str, &str)], arguments: &str) -> Output {
    let mut command = common::pellucid();
    command.current_dir(folder).envs(variables.iter().copied()).args(arguments.split_whitespace());
    command.output().expect("pellucid starts")
}

/// A folder with the shaders of the demonstration.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(REDUCE, folder.path().join("reduce.spv")).unwrap();
    std::fs::copy(FIXED, folder.path().join("fixed.spv")).unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

fn check(output: &Output, status: i32, text: &str) {
    assert_eq!(output.status.code(), Some(status), "{}", errors(output));
    assert!(errors(output).contains(text), "no \"{text}\" in:\n{}", errors(output));
}

#[test]
fn the_bytes_of_a_report_depend_on_no_thread_and_no_folder() {
    let mut reports = Vec::new();
    for threads in [1, 2, 8, 1] {
        let (_keep, folder) = folder();
        let options = format!("--report r{threads}.json --threads {threads} --max-reports {threads}");
        let output = pellucid(&folder, &[], &format!("exec reduce.spv {BUFFERS} {options}"));
        check(&output, 66, "error[race-not-");
        reports.push((
            std::fs::read_to_string(folder.join(format!("r{threads}.json"))).unwrap(),
            errors(&output),
        ));
    }
    for report in &reports[1..] {
        assert_eq!(*report, reports[0]);
    }
    assert!(reports[0].0.lines().count() >= 3);
}

#[test]
fn a_report_of_exec_says_all_that_a_replay_needs() {
    let (_keep, folder) = folder();
    let options = "--seed 3 --values seeded --subgroup-size 8 --report r.json";
    check(&pellucid(&folder, &[], &format!("exec reduce.spv {BUFFERS} {options}")), 66, "1 finding");
    // What the environment asks for now does not count.
    let variables = [("PELLUCID_SEED", "9"), ("PELLUCID_VALUES", "latest"), ("PELLUCID_MODE", "run")];
    let output = pellucid(&folder, &variables, "replay r.json --report again.json --threads 2");
    check(&output, 66, "pellucid: replay: finding 1 (race-not-");
    check(&output, 66, ") came again, byte for byte\n");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("again.json"), read("r.json"));
    // The findings of another program are others.
    std::fs::copy(FIXED, folder.join("reduce.spv")).unwrap();
    let output = pellucid(&folder, &[], "replay r.json");
    check(&output, 1, ") did not come again\npellucid: replay: 0 of 1 came again\n");
}

#[test]
fn the_program_of_a_run_has_to_be_named_again() {
    let (_keep, folder) = folder();
    let program = format!("{} exec-here reduce.spv {BUFFERS}", env!("CARGO_BIN_EXE_pellucid"));
    check(&pellucid(&folder, &[], &format!("run --seed 5 --report r.json -- {program}")), 66, "1 finding");
    let named = format!("a program has to be named: pellucid replay r.json -- {program}");
    check(&pellucid(&folder, &[], "replay r.json"), 2, &named);
    let output = pellucid(&folder, &[], &format!("replay r.json -- {program}"));
    check(&output, 66, "came again, byte for byte");
    check(&output, 66, "seed 5");
    // Another path to the same program changes no byte.
    let other = folder.join("pellucid");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pellucid"), &other).unwrap();
    let output =
        pellucid(&folder, &[], &format!("replay r.json -- ./pellucid exec-here reduce.spv {BUFFERS}"));
    check(&output, 66, "came again, byte for byte");
    let output = pellucid(&folder, &[], "replay r.json -- true");
    check(&output, 1, "did not come again");
}

#[test]
fn a_report_keeps_the_rules_of_suppression() {
    let (_keep, folder) = folder();
    std::fs::write(folder.join("rules"), "hazard:nothing # but this\n").unwrap();
    let options = "--suppressions rules --report r.json";
    check(&pellucid(&folder, &[], &format!("exec reduce.spv {BUFFERS} {options}")), 66, "1 finding");
    std::fs::remove_file(folder.join("rules")).unwrap();
    let output = pellucid(&folder, &[], "replay r.json");
    check(&output, 66, "unused suppression: hazard:nothing");
    check(&output, 66, "came again, byte for byte");
}

#[test]
fn every_seeds_report_replays_with_its_seed() {
    let (_keep, folder) = folder();
    let program = format!("{} exec-here reduce.spv {BUFFERS}", env!("CARGO_BIN_EXE_pellucid"));
    check(
        &pellucid(&folder, &[], &format!("run --seeds 6..8 --report r.json -- {program}")),
        66,
        "2 of 2 failing",
    );
    let output = pellucid(&folder, &[], &format!("replay r.7.json -- {program}"));
    check(&output, 66, "seed 7");
    check(&output, 66, "came again, byte for byte");
}

#[test]
fn what_cannot_be_replayed_is_said() {
    let (_keep, folder) = folder();
    check(&pellucid(&folder, &[], &format!("exec fixed.spv {BUFFERS} --report clean.json")), 0, "0 findings");
    check(&pellucid(&folder, &[], "replay clean.json"), 2, "clean.json: no findings to replay");
    check(&pellucid(&folder, &[], &format!("exec reduce.spv {BUFFERS} --report r.json")), 66, "");
    check(&pellucid(&folder, &[], "replay r.json --finding 7"), 2, "r.json: no finding 7");
    check(&pellucid(&folder, &[], "replay r.json --finding 1"), 66, "came again, byte for byte");
    check(&pellucid(&folder, &[], "replay reduce.spv"), 2, "reduce.spv");
}
