//! Whatever a process of the suite does, every case gets exactly one result, and the right one.

mod common;

use common::{Bench, STAND_IN};
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn every_status_is_read() {
    let cases = [
        "pass.1",
        "fail.1",
        "not_supported.1",
        "quality_warning.1",
        "resource_error.1",
        "unheard_of.1",
        "noise.1",
        "pass.2",
    ];
    let bench = Bench::new(&cases);
    bench.run(&[]).expect(1);
    let expected = [
        ("fail.1", "Fail"),
        ("noise.1", "Pass"),
        ("not_supported.1", "NotSupported"),
        ("pass.1", "Pass"),
        ("pass.2", "Pass"),
        ("quality_warning.1", "QualityWarning"),
        ("resource_error.1", "ResourceError"),
        ("unheard_of.1", "Unknown"),
    ];
    let expected: BTreeMap<_, _> =
        expected.map(|(name, status)| (name.to_string(), status.to_string())).into();
    assert_eq!(bench.statuses("results"), expected);
    assert!(bench.counts("begun.txt").values().all(|count| *count == 1));
    assert_eq!(bench.message("results", "unheard_of.1"), "Splendid (?)");
    // The suite exits with 1 where a case failed: not worth a word.
    assert!(!bench.read("results/summary.txt").contains("the process"));
}

#[test]
fn a_crash_costs_one_case() {
    let bench = Bench::new(&["pass.1", "crash.1", "pass.2", "exit.1", "crash.2", "pass.3"]);
    bench.run(&["--jobs", "1"]).expect(1);
    for (name, status) in [
        ("pass.1", "Pass"),
        ("crash.1", "Crash"),
        ("pass.2", "Pass"),
        ("exit.1", "Crash"),
        ("crash.2", "Crash"),
        ("pass.3", "Pass"),
    ] {
        assert_eq!(bench.status("results", name), status, "{name}");
    }
    assert!(bench.counts("begun.txt").values().all(|count| *count == 1), "{:?}", bench.counts("begun.txt"));
    let message = bench.message("results", "crash.1");
    assert!(message.contains("SIGABRT") && message.contains("about to crash"), "{message}");
    assert!(bench.message("results", "exit.1").contains("exited with status 1"));
}

#[test]
fn a_hang_costs_one_case_and_the_time_limit() {
    let bench = Bench::new(&["pass.1", "hang.1", "pass.2", "babble.1", "pass.3"]);
    let begun = Instant::now();
    bench.run(&["--jobs", "1", "--timeout", "0.5"]).expect(1);
    assert!(begun.elapsed() < Duration::from_secs(20));
    for (name, status) in [
        ("pass.1", "Pass"),
        ("hang.1", "Timeout"),
        ("pass.2", "Pass"),
        ("babble.1", "Timeout"),
        ("pass.3", "Pass"),
    ] {
        assert_eq!(bench.status("results", name), status, "{name}");
    }
    assert!(bench.counts("begun.txt").values().all(|count| *count == 1));
}

#[test]
fn a_process_that_dies_between_cases_loses_none() {
    let bench =
        Bench::new(&["pass.1", "crash_behind.1", "pass.2", "abort_session.1", "pass.3", "crash_behind.2"]);
    bench.run(&["--jobs", "1"]).expect(0);
    assert!(bench.statuses("results").values().all(|status| status == "Pass"));
    let summary = bench.read("results/summary.txt");
    assert!(summary.contains("between two cases, the process ended by SIGABRT"), "{summary}");
    assert!(summary.contains("after its last case, the process ended by SIGABRT"), "{summary}");
}

#[test]
fn a_case_that_the_binary_does_not_know_is_missing() {
    let bench = Bench::new(&["unknown.1", "pass.1", "unknown.2"]);
    bench.run(&["--jobs", "1"]).expect(1);
    assert_eq!(bench.status("results", "unknown.1"), "Missing");
    assert_eq!(bench.status("results", "unknown.2"), "Missing");
    assert_eq!(bench.status("results", "pass.1"), "Pass");
}

#[test]
fn a_flaky_case_is_tried_again_and_said_to_be_so() {
    let bench = Bench::new(&["flaky.1", "fail.1", "pass.1", "crash.1"]);
    bench.run(&["--retries", "2", "--jobs", "1"]).expect(1);
    assert_eq!(bench.status("results", "flaky.1"), "Flake");
    assert_eq!(bench.status("results", "fail.1"), "Fail");
    assert_eq!(bench.status("results", "crash.1"), "Crash");
    let begun = bench.counts("begun.txt");
    assert_eq!((begun["flaky.1"], begun["fail.1"], begun["crash.1"], begun["pass.1"]), (2, 3, 3, 1));
    assert_eq!(bench.message("results", "flaky.1"), "Fail (flaked), then Pass");

    // What is expected to fail is not tried again.
    let bench = Bench::new(&["flaky.1", "fail.1"]);
    let baseline = bench.write("baseline.csv", "dEQP-VK.stand_in.fail.1,Fail\n");
    bench.run(&["--retries", "2", "--baseline", baseline.to_str().unwrap()]).expect(0);
    assert_eq!(bench.counts("begun.txt")["fail.1"], 1);
}

#[test]
fn a_driver_that_does_not_start_ends_the_run() {
    let bench = Bench::new(&["pass.1", "pass.2", "pass.3", "pass.4", "pass.5"]);
    let ended = bench.run_command(&[]).env("STAND_IN_BROKEN", "1").output().unwrap();
    let ended = common::Ended::from(ended).expect(2);
    assert!(ended.err.contains("no driver here"), "{}", ended.err);
    let ended =
        bench.call(&["run", "--deqp", "/nonexistent", "--list", "cases.txt", "--results", "other"]).expect(2);
    assert!(ended.err.contains("/nonexistent"), "{}", ended.err);
}

#[test]
fn processes_are_small_groups_side_by_side() {
    let names: Vec<String> = (0..40).map(|index| format!("slow.{index}.50")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bench = Bench::new(&names);
    let begun = Instant::now();
    bench.run(&["--jobs", "8", "--group-size", "3", "--keep-work"]).expect(0);
    let time = begun.elapsed();
    assert!(time < Duration::from_millis(40 * 50), "the jobs did not run side by side: {time:?}");
    let processes: Vec<_> =
        fs::read_dir(bench.path("results/work")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(processes.len(), 14);
    for process in processes {
        assert!(fs::read_to_string(process.join("cases.txt")).unwrap().lines().count() <= 3);
        assert!(process.join("log.qpa").is_file() && !process.join("shadercache.bin").exists());
    }
}

#[test]
fn the_log_of_a_case_that_did_not_pass_is_kept() {
    let bench = Bench::new(&["pass.1", "fail.1", "crash.1", "pass.2"]);
    bench.run(&[]).expect(1);
    assert!(!bench.path("results/work").exists());
    let mut logs: Vec<_> =
        fs::read_dir(bench.path("results/logs")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    logs.sort();
    assert_eq!(logs, ["dEQP-VK.stand_in.crash.1.qpa", "dEQP-VK.stand_in.fail.1.qpa"]);
}

#[test]
fn a_manifest_and_options_reach_the_driver() {
    let bench = Bench::new(&["manifest.1", "option.mode.check", "option.max_workgroup_invocations.256"]);
    bench.write("driver.json", "{}");
    bench
        .run(&["--icd", "driver.json", "--set", "mode=check", "--set", "max-workgroup-invocations=256"])
        .expect(0);
    // The variant names the folder.
    let statuses = bench.statuses("results/mode=check,max-workgroup-invocations=256");
    assert!(statuses.values().all(|status| status == "Pass"), "{statuses:?}");
    let ended = bench.run(&["--icd", "absent.json"]).expect(2);
    assert!(ended.err.contains("absent.json"), "{}", ended.err);
}

#[test]
fn the_binary_can_be_asked_for_its_cases() {
    let bench = Bench::new(&[]);
    let ended = bench.call(&["list", "--deqp", STAND_IN, "-n", "*.pass.*,*.slow.1", "-x", "*.9"]).expect(0);
    assert_eq!(ended.out.lines().count(), 10, "{}", ended.out);
    bench.call(&["run", "--deqp", STAND_IN, "-n", "dEQP-VK.stand_in.pass.*", "--results", "r"]).expect(0);
    assert_eq!(bench.statuses("r").len(), 10);
}
