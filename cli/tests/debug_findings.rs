//! The debugger on findings: of an access, of those who wait, and those that it cannot come to.

mod common;

use common::debugger::{root, session, tells};
use std::process::{Command, Stdio};

const FLAG: &str = "tests/planted/message_passing/buffer.no-make-visible.spv";

#[test]
fn a_finding_of_a_report_is_where_the_debugger_stops() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let status = Command::new(env!("CARGO_BIN_EXE_pellucid"))
        .args(["exec", FLAG, "--groups", "2", "--seed", "3", "--report"])
        .arg(&report)
        .current_dir(root())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(66));
    let printed = session(&["--finding", &format!("{}:1", report.display())], "sees data\nfindings 1\n");
    assert!(printed.contains("finding 1 (race-not-visible) is about to happen"), "{printed}");
    assert!(printed.contains("may read 0 or 42 now"), "{printed}");
    assert!(printed.contains("missing: a visibility operation"), "{printed}");
}

/// Findings that are no accesses: the debugger stops with who waits in focus, going back as well.
#[test]
fn who_waits_at_a_barrier_or_for_ever_is_in_focus() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let waits = "invocation 0 of workgroup (0,0,0) waits at the barrier at ";
    for (shader, groups, id, at) in [
        (
            "divergent_barrier",
            "1",
            "barrier-divergence",
            format!("{waits}divergent_barrier.comp:26 in main\n"),
        ),
        ("other_barrier", "1", "barrier-divergence", format!("{waits}other_barrier.comp:26 in main\n")),
        (
            "livelock",
            "2",
            "livelock",
            "invocation 0 of workgroup (0,0,0) at livelock.comp:22 in main\n".into(),
        ),
    ] {
        let shader = format!("tests/planted/dynamic/{shader}.bug.spv");
        let command = ["exec", &shader, "--groups", groups, "--report"];
        let mut exec = Command::new(env!("CARGO_BIN_EXE_pellucid"));
        exec.args(command).arg(&report).current_dir(root()).stderr(Stdio::null()).status().unwrap();
        let about = format!("finding 1 ({id}) is about to happen: this is who waits\n");
        let there = format!("{about}`findings 1` tells all of it\n{at}");
        let commands = "findings 1\ncontinue\nfindings\ncontinue back\n";
        let run = session(&["--run", &shader, "--groups", groups], commands);
        let named = session(&["--finding", &format!("{}:1", report.display())], commands);
        assert_eq!(run, named);
        assert!(run.starts_with(&there), "{run}");
        assert_eq!(run.matches(&there).count(), 2, "{run}");
        tells(
            &run,
            &[&format!("\nerror[{id}]: "), &format!(") findings\n1  {id}: "), "\nthe dispatch has ended"],
        );
        assert!(!run.contains("word 0"), "{run}");
    }
}

/// What cannot be debugged is refused, and what is named instead can be.
#[test]
fn findings_of_rehearsals_and_of_explore_mode_are_refused_with_a_way_round() {
    let folder = tempfile::tempdir().unwrap();
    let shader = "tests/planted/chance/single_look.relaxed.spv";
    let run = |command: &str| {
        let mut words = command.split_whitespace();
        let mut pellucid = common::pellucid();
        pellucid.args(words.by_ref().take(1)).arg("--report").arg(folder.path().join("r.json"));
        pellucid.args(words).arg(shader).args(["--groups", "2"]).current_dir(root());
        let status = pellucid.stderr(Stdio::null()).stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(66), "{command}");
    };
    let finding = format!("{}:1", folder.path().join("r.json").display());
    for (command, what) in [("exec", "debugging a rehearsal; "), ("explore", "debugging explore mode; ")] {
        run(command);
        let mut debug = common::pellucid();
        let output = debug.args(["debug", "--finding", &finding]).current_dir(root()).output().unwrap();
        let text = common::errors(&output);
        assert!(text.starts_with(&format!("pellucid: not implemented in Pellucid: {what}")), "{text}");
        assert!(text.contains("`pellucid hunt --values seeded --report FILE`"), "{text}");
        assert_eq!(output.status.code(), Some(1), "{text}");
    }
    run("hunt --values seeded");
    let printed = session(&["--finding", &finding], "");
    assert!(printed.starts_with("finding 1 (race-unordered) is about to happen"), "{printed}");
}
