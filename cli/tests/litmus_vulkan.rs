//! `pellucid litmus --by vulkan` from the outside: our own tests and those of ../shared on the driver, held
//! against the axioms.

#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What the caches of each machine show of our own tests, and of those of the Dartagnan verifier, is among
/// what the axioms allow.
#[test]
fn caches_stay_within_the_axioms() {
    for folder in ["tests/litmus", "../shared/litmus/herd"] {
        let csv = format!("{folder}/expected.csv");
        if !repository().join(&csv).is_file() {
            println!("skipped: {folder} is not there");
            continue;
        }
        for machine in ["desktop", "tiled", "integrated"] {
            let output = litmus(&[folder, "--expect", &csv, "--machine", machine, "--runs", "60"]);
            let printed = text(&output.stdout);
            let last = printed.lines().last().unwrap_or_default();
            assert!(
                last.contains(" 0 contradicted, 0 failed"),
                "{folder}, {machine}: {printed}{}",
                text(&output.stderr)
            );
        }
    }
}

fn litmus(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pellucid"))
        .arg("litmus")
        .args(arguments)
        .args(["--by", "vulkan"])
        .current_dir(repository())
        .output()
        .expect("the command runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The tests that have no counterpart in a shader, and why.
const REFUSED: [(&str, &str); 3] = [
    ("quorum-barrier-hang", "with named or quorum barriers"),
    ("quorum-barrier", "with named or quorum barriers"),
    ("scope-queue-family", "with several queue families"),
];

/// Tests with an allowed outcome that the driver does not show: loads that take what a later store leads to,
/// writes that land in another order than they were executed in, stale values in a later dispatch.
const NOT_SEEN: [&str; 8] = [
    "alias-private-read-then-write",
    "conflicting-modification-orders",
    "load-buffering",
    "private-system-write-first",
    "private-write-after-read",
    "reference-shader-only",
    "two-plus-two-writes",
    "write-after-write-unavailable",
];

/// Racy tests in which the driver finds no race.
const NO_RACE_FOUND: [&str; 0] = [];

struct Tally {
    seen: usize,
    allowed: usize,
    refused: Vec<(String, String)>,
    unseen: Vec<String>,
    raceless: Vec<String>,
    stopped: Vec<String>,
}

/// Samples every `.litmus` file of a directory. Whatever is seen has to be allowed, and whatever races has to
/// be racy.
fn sample_all(directory: &Path, runs: &str) -> Tally {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the directory")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "litmus"))
        .collect();
    files.sort();
    let mut tally = Tally {
        seen: 0,
        allowed: 0,
        refused: Vec::new(),
        unseen: Vec::new(),
        raceless: Vec::new(),
        stopped: Vec::new(),
    };
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let output = litmus(&[&file.display().to_string(), "--format", "json", "--runs", runs]);
        let printed = text(&output.stderr);
        if output.status.code() == Some(2) {
            let why = printed.trim().rsplit("--by vulkan ").next().unwrap_or_default();
            tally.refused.push((name, why.to_owned()));
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{name}: {}{printed}", text(&output.stdout));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let axioms = &report["axioms"];
        assert_eq!(axioms["contradicted"], false, "{name}: {report:#}");
        assert!(
            report["seen"].as_array().expect("states").iter().all(|state| state["allowed"] == true),
            "{name}"
        );
        if !report["sample"]["stopped"].is_null() {
            tally.stopped.push(name.clone());
        }
        let count = |value: &Value| value.as_array().map_or(0, Vec::len);
        let (allowed, missing) = (count(&axioms["outcomes"]), count(&axioms["not_seen"]));
        println!("{name}: {} of {allowed} outcomes, {}", allowed - missing, report["race_free"]["runs"]);
        tally.allowed += allowed;
        tally.seen += allowed - missing;
        if missing > 0 {
            tally.unseen.push(name.clone());
        }
        if axioms["race_free"] == false && report["race_free"]["holds"] != false {
            tally.raceless.push(name);
        }
    }
    println!(
        "{} of {} allowed outcomes seen; not all: {:?}; racy and no race found: {:?}; refused: {:?}",
        tally.seen, tally.allowed, tally.unseen, tally.raceless, tally.refused
    );
    tally
}

#[test]
fn our_own_tests_stay_within_the_axioms() {
    let tally = sample_all(&repository().join("tests/litmus"), "400");
    let refused: Vec<(&str, &str)> =
        tally.refused.iter().map(|(name, why)| (name.as_str(), why.as_str())).collect();
    assert_eq!(refused, REFUSED);
    assert_eq!(tally.unseen, NOT_SEEN);
    assert_eq!(tally.raceless, NO_RACE_FOUND);
    assert!(tally.stopped.is_empty(), "{:?}", tally.stopped);
}

#[test]
fn the_tests_of_the_dartagnan_verifier_stay_within_the_axioms() {
    let directory = repository().join("../shared/litmus/herd");
    if !directory.is_dir() {
        println!("skipped: ../shared/litmus/herd is not there");
        return;
    }
    let tally = sample_all(&directory, "400");
    assert!(tally.seen * 10 >= tally.allowed * 9, "{} of {}", tally.seen, tally.allowed);
    // A test whose threads never end.
    assert_eq!(tally.stopped, ["cbar-2"]);
    let csv = directory.join("expected.csv").display().to_string();
    let output = litmus(&[&directory.display().to_string(), "--expect", &csv, "--runs", "200"]);
    let printed = text(&output.stdout);
    println!("{printed}");
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(
        printed.lines().last().is_some_and(|line| line.contains(" 0 contradicted, 0 failed")),
        "{printed}"
    );
}

#[test]
fn what_was_not_seen_is_neither_yes_nor_no() {
    let directory = tempfile::tempdir().expect("a directory");
    let expect = |rows: &str| {
        let csv = directory.path().join("expected.csv");
        std::fs::write(&csv, format!("file,property,model,expected\n{rows}")).expect("the file");
        let output = litmus(&["tests/litmus", "--expect", &csv.display().to_string(), "--runs", "100"]);
        (output.status.code(), text(&output.stdout))
    };
    // Seen as expected; nothing against what is expected.
    let (status, printed) =
        expect("store-buffering.litmus,outcome,chains,1\nmessage-passing.litmus,race-free,chains,1\n");
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.starts_with("store-buffering.litmus outcome chains 1 1 "), "{printed}");
    assert!(printed.contains("message-passing.litmus race-free chains 1 not-seen("), "{printed}");
    // A run shows the opposite.
    let (status, printed) = expect("store-buffering.litmus,outcome,chains,0\n");
    assert_eq!(status, Some(1), "{printed}");
    assert!(printed.lines().next().is_some_and(|line| line.ends_with(" UNEXPECTED")), "{printed}");
    // Expected, allowed, and not seen: no contradiction.
    let (status, printed) = expect("load-buffering.litmus,outcome,chains,1\n");
    assert_eq!(status, Some(3), "{printed}");
    let line = printed.lines().next().unwrap_or_default();
    assert!(line.contains(" 1 not-seen(100) ") && line.ends_with(" UNSEEN"), "{printed}");
    // Refused by name, and the others go on.
    let (status, printed) =
        expect("spin-lock.litmus,terminates-fair,chains,1\nstore-buffering.litmus,outcome,chains,1\n");
    assert_eq!(status, Some(3), "{printed}");
    assert!(
        printed.contains(" refused(not implemented in Pellucid: litmus --by vulkan of terminates-fair"),
        "{printed}"
    );
    assert!(printed.contains("store-buffering.litmus outcome chains 1 1 "), "{printed}");
}

#[test]
fn a_single_test_says_that_it_is_a_sample() {
    let file = "tests/litmus/message-passing-plain.litmus";
    let arguments = [file, "--runs", "200", "--seed", "5"];
    let printed = text(&litmus(&arguments).stdout);
    assert!(printed.contains("200 runs, seed 5"), "{printed}");
    assert!(printed.contains("race-free: no: a race in "), "{printed}");
    assert!(
        printed.contains("    P0: st.nonpriv.sc0 data, 1\n    P1: ld.nonpriv.sc0 r1, data\n"),
        "{printed}"
    );
    assert!(printed.contains("complete: false"), "{printed}");
    // The seed decides, not how many batches run at a time.
    let threads = |n| {
        let mut arguments = arguments.to_vec();
        arguments.extend(["--threads", n]);
        text(&litmus(&arguments).stdout)
    };
    assert_eq!(threads("1"), printed);
    assert_eq!(threads("3"), printed);
}

#[test]
fn chains_are_the_devices() {
    let file = "tests/litmus/chain-two-elements.litmus";
    let report = |model| -> Value {
        let output = litmus(&[file, "--format", "json", "--model", model, "--runs", "400"]);
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    assert_eq!(report("chains")["question"]["holds"], Value::Null);
    assert_eq!(report("no-chains")["question"]["holds"], false);
}

#[test]
fn another_driver_shows_outcomes_only() {
    // Ours, through its manifest, in the mode that it has by itself.
    let directory = tempfile::tempdir().expect("a directory");
    let library = pellucid::driver::library().expect("the driver");
    let manifest = pellucid::driver::write_manifest(&library, directory.path()).expect("the manifest");
    let output = litmus(&[
        "tests/litmus/store-buffering.litmus",
        "--runs",
        "20",
        "--driver",
        &manifest.display().to_string(),
    ]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}{}", text(&output.stderr));
    assert!(printed.contains("race-free: this driver tells no races"), "{printed}");
    assert!(printed.contains("20 runs"), "{printed}");
}

#[test]
fn what_a_run_cannot_show_is_refused_by_name() {
    let file = "tests/litmus/store-buffering.litmus";
    for (option, value, word) in [
        ("--progress", "fair", "of termination"),
        ("--format", "dot", "as a graph"),
        ("--relation", "happens-before", "with --relation"),
        ("--chain-rule", "alloy", "with --chain-rule alloy"),
        ("--read-modify-write", "literal", "with --read-modify-write literal"),
    ] {
        let output = litmus(&[file, option, value]);
        assert_eq!(output.status.code(), Some(2));
        let wanted = format!("not implemented in Pellucid: litmus --by vulkan {word}");
        assert!(text(&output.stderr).contains(&wanted), "{}", text(&output.stderr));
    }
    for (machine, wrong) in [("nonsense", "nonsense: "), ("README.md", "README.md: line ")] {
        let output = litmus(&[file, "--machine", machine]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(wrong), "{}", text(&output.stderr));
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("a.test");
    std::fs::write(&file, "st.sc0 x = 1\nSATISFIABLE consistent[X]\n").expect("the file");
    let output = litmus(&[&file.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("litmus --by vulkan of a .test file"), "{}", text(&output.stderr));
}
