//! `pellucid litmus` from the outside: what it prints and how it exits.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn litmus(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pellucid"))
        .arg("litmus")
        .args(arguments)
        .current_dir(repository())
        .output()
        .expect("the command runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_directory_as_expected_exits_with_0_and_a_total() {
    let output = litmus(&["tests/litmus", "--expect", "tests/litmus/expected.csv"]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.starts_with("message-passing.litmus outcome chains 1 1 "), "{printed}");
    assert!(printed.lines().last().is_some_and(|line| line.contains("0 not as expected")), "{printed}");
}

#[test]
fn a_directory_not_as_expected_exits_with_1() {
    let directory = tempfile::tempdir().expect("a directory");
    let csv = directory.path().join("expected.csv");
    std::fs::write(&csv, "file,property,model,expected\nmessage-passing.litmus,race-free,chains,0\n")
        .expect("the file");
    let output = litmus(&["tests/litmus", "--expect", &csv.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("message-passing.litmus race-free chains 0 1 "));
}

#[test]
fn an_exploration_decides_what_is_one_dispatch() {
    let output = litmus(&["tests/litmus", "--expect", "tests/litmus/expected.csv", "--by", "explore"]);
    let printed = text(&output.stdout);
    // Load buffering is not seen, and several dispatches and termination are refused: some is open.
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.starts_with("message-passing.litmus outcome chains 1 1 "), "{printed}");
    let unseen: Vec<&str> = printed.lines().filter(|line| line.ends_with("UNSEEN")).collect();
    assert!(matches!(unseen[..], [line] if line.starts_with("load-buffering.litmus outcome")), "{unseen:?}");
    let total = printed.lines().last().expect("a total");
    assert!(total.contains(" 96 shown,") && total.contains(" 0 contradicted, 0 failed"), "{total}");

    let output = litmus(&["tests/litmus/load-buffering.litmus", "--by", "explore"]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    for line in [
        "the memory of check mode: 5 executions",
        "exists (P0:r0 == 1 /\\ P1:r0 == 1): no, in none of 5 executions",
        "race-free: yes, no race in 5 executions",
        "against the axioms: 3 of 4 allowed outcomes seen",
        "complete: true",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}\n{printed}");
    }
    let output = litmus(&["tests/litmus/load-buffering.litmus", "--by", "explore", "--executions", "2"]);
    let printed = text(&output.stdout);
    assert!(printed.contains("  not all of them: executions\n"), "{printed}");
    assert!(
        printed.contains(": not seen in 2 executions, which does not say that it is forbidden"),
        "{printed}"
    );
}

#[test]
fn expectations_with_errors_name_the_place() {
    let directory = tempfile::tempdir().expect("a directory");
    let csv = directory.path().join("expected.csv");
    std::fs::write(&csv, "file,property,model,expected\nmessage-passing.litmus,terminate,chains,0\n")
        .expect("the file");
    let output = litmus(&["tests/litmus", "--expect", &csv.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("expected.csv:2:24: expected outcome, race-free or terminates-"));
}

#[test]
fn what_is_no_litmus_test_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let empty = directory.path().display().to_string();
    let test = "tests/litmus/message-passing.litmus";
    let cases: [(&[&str], &str); 5] = [
        (&["README.md"], "README.md: a litmus test's name ends in"),
        (&["README.md", test], "README.md: a litmus test's name ends in"),
        (&["/dev/null"], "/dev/null: a litmus test's name ends in"),
        (&[&empty], "no litmus test (.litmus, .test) below it"),
        (&["README.md", "--by", "vulkan"], "README.md: a litmus test's name ends in"),
    ];
    for (arguments, said) in cases {
        let output = litmus(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(said), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn one_test_prints_text_json_or_a_graph() {
    let file = "tests/litmus/message-passing-plain.litmus";
    let printed = text(&litmus(&[file, "--relation", "happens-before"]).stdout);
    assert!(printed.contains("data-race: e0 with e3"), "{printed}");
    assert!(printed.contains("happens-before: e0 -> e1"), "{printed}");
    let json: serde_json::Value =
        serde_json::from_slice(&litmus(&[file, "--format", "json", "--progress", "fair"]).stdout)
            .expect("JSON");
    assert_eq!(json["race_free"]["holds"], false);
    assert_eq!(json["race_free"]["witness"]["races"], serde_json::json!([[0, 3]]));
    assert_eq!(json["terminates"]["holds"], true);
    assert_eq!(json["complete"], true);
    let graph = text(&litmus(&[file, "--format", "dot"]).stdout);
    assert!(graph.starts_with("digraph execution0 {") && graph.contains("data race"), "{graph}");
}

#[test]
fn errors_are_usage_errors_with_their_place() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("bad.litmus");
    std::fs::write(&file, "VULKAN bad\n{ x=0; }\nP0@sg 0,wg 0,qf 0;\n store x ;\n").expect("the file");
    let output = litmus(&[&file.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("bad.litmus:4:2: expected an instruction"),
        "{}",
        text(&output.stderr)
    );
    let output = litmus(&["tests/litmus/message-passing.litmus", "--relation", "order"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no relation is called `order`"));
}

#[test]
fn random_programs_agree() {
    let output = litmus(&["--fuzz", "50", "--seed", "7", "--events", "6"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("0 forbidden outcomes reached"));
}
