//! Findings of several runs that are one, and those that are not.

use super::*;
use crate::run::Outcome;
use std::process::{ExitStatus, Output};

/// A run without findings that printed nothing, with these lines in its report.
fn run(lines: &[Value]) -> Run {
    let output = Output { status: ExitStatus::default(), stdout: Vec::new(), stderr: Vec::new() };
    let outcome = Outcome { status: 0, total: json!({ "processes": 1 }), only_unexplored: false };
    let report = lines.iter().map(|line| format!("{line}\n")).collect();
    Run { output, outcome, own_status: 0, report }
}

#[test]
fn a_pair_of_instructions_that_communicates_for_the_first_time_is_news() {
    let side = |line: u32| json!({ "location": format!("a.comp:{line}"), "word": line, "function": "main" });
    let pair = |write: u32, read: u32| json!({ "type": "communication", "shader": "main", "write": side(write), "read": side(read) });
    let mut merged = Merged::default();
    assert!(merged.add(Some(0), &run(&[])), "the first outcome is one");
    assert!(!merged.add(Some(1), &run(&[])));
    assert!(merged.add(Some(2), &run(&[pair(3, 7)])));
    assert!(!merged.add(Some(3), &run(&[pair(3, 7)])));
    assert!(merged.add(Some(4), &run(&[pair(3, 7), pair(4, 7)])));
    assert!(!merged.add(Some(5), &run(&[pair(4, 7)])), "less than before is no news");
    assert_eq!(merged.communications.len(), 2);
    assert_eq!(merged.counted(), 0, "it is no finding");
}

#[test]
fn findings_are_told_apart_by_instructions_and_not_by_invocations() {
    let line = |number: u32, by: u32| {
        json!({
            "type": "finding", "id": "race-unordered", "shader": { "entry": "main" }, "accesses": [
                { "kind": "write", "source": { "file": "a.comp", "line": 3 }, "invocation": by },
                { "kind": "read", "source": { "file": "a.comp", "line": number }, "invocation": 0 },
            ],
        })
    };
    assert_eq!(identity(&line(4, 0)), identity(&line(4, 9)));
    assert_ne!(identity(&line(4, 0)), identity(&line(5, 0)));
}
