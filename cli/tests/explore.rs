//! Explore mode as people use it: outcomes, completeness, bounds, and replays that repeat byte for byte.

mod common;

use common::errors;
use pellucid::vulkan::layout::Shape;
use pellucid::vulkan::lower::{Lowered, lower};
use pellucid_memory::litmus::{Test, run};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// A test as a shader, and its number of threads.
fn lowered(name: &str) -> (Lowered, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/litmus").join(name);
    let Test::Herd(program) = run::load(&path).expect("a test") else { panic!("a .litmus file") };
    let shape = Shape { smallest: 1, largest: 32, fine: false, stagger: false, alone: true };
    (lower(&program, shape).expect("a test for one dispatch"), program.threads.len())
}

/// The arguments of `pellucid exec` for a litmus test whose shader is written to `folder`.
fn arguments(name: &str, folder: &Path) -> Vec<String> {
    let (lowered, threads) = lowered(name);
    let file = folder.join("test.spv");
    let bytes: Vec<u8> = lowered.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&file, bytes).expect("a file");
    let mut arguments = vec![
        "exec".to_owned(),
        "--mode".to_owned(),
        "explore".to_owned(),
        "--subgroup-size".to_owned(),
        lowered.subgroup_size.to_string(),
        file.display().to_string(),
        "--groups".to_owned(),
        lowered.groups.to_string(),
        "--push".to_owned(),
        "0=u32:0".to_owned(),
        "--buffer".to_owned(),
        format!("0:0=u32x{}", lowered.words_per_thread() * threads),
        "--dump".to_owned(),
        "0:0".to_owned(),
    ];
    for resource in &lowered.resources {
        arguments.extend(["--buffer".to_owned(), format!("0:{}=u32x1", resource.binding)]);
    }
    arguments
}

fn pellucid(arguments: &[String]) -> Output {
    let mut command = common::pellucid();
    command.args(arguments).output().expect("pellucid starts")
}

/// The arguments of a replay line.
fn words(line: &str) -> Vec<String> {
    let line = line.strip_prefix("pellucid ").expect("a command");
    vulkan_pellucid::report::replay::words(line).expect("quoted words")
}

/// `pellucid hunt` explores so: it has no use for what is not complete.
#[test]
fn an_exploration_that_is_for_all_executions_ends_where_it_cannot_have_them() {
    let shader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/poll.spvasm");
    let line = "--groups 2 --buffer 0:0=u32x3 --steps 6 --executions 3";
    let explored = |complete: &str| {
        let mut command = common::pellucid();
        command.args(["explore", shader]).args(line.split(' ')).env("PELLUCID_EXPLORE_COMPLETE", complete);
        let output = command.output().expect("pellucid starts");
        assert_eq!(output.status.code(), Some(67), "{}", errors(&output));
        errors(&output)
    };
    let all = explored("0");
    assert!(all.contains("bound: steps: ") && all.contains("bound: executions: "), "{all}");
    let whole = explored("1");
    assert!(whole.contains("bound: steps: ") && !whole.contains("bound: executions: "), "{whole}");
}

#[test]
fn racing_outcomes_replay_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let mut arguments = arguments("message-passing-plain.litmus", folder.path());
    arguments.extend(["--report".to_owned(), report.display().to_string()]);
    let output = pellucid(&arguments);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{text}");
    // A read races with a write: whatever it may return is tried.
    assert!(text.contains("explored: dispatch 0\n   = complete: true; "), "{text}");
    let lines = std::fs::read_to_string(&report).expect("a report");
    let lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let explored = lines.iter().find(|line| line["type"] == "explored").expect("an exploration");
    let outcomes = explored["outcomes"].as_array().expect("outcomes");
    assert!(outcomes.len() >= 2, "{text}");
    for outcome in outcomes {
        let replay = outcome["all"]["replay"].as_str().expect("a replay");
        let again = pellucid(&words(replay));
        let values: Vec<&str> =
            outcome["buffers"]["0:0"].as_array().expect("values").iter().filter_map(Value::as_str).collect();
        let printed = String::from_utf8_lossy(&again.stdout).into_owned();
        assert!(printed.contains(&values.join(" ")), "{replay}: {printed} is not {values:?}");
    }
    let findings: Vec<&Value> = lines.iter().filter(|line| line["type"] == "finding").collect();
    assert!(!findings.is_empty(), "{text}");
    for finding in findings {
        let again = pellucid(&words(finding["replay"].as_str().expect("a replay")));
        let shown = finding["text"].as_str().expect("a text");
        assert!(errors(&again).contains(shown), "{shown}\n{}", errors(&again));
        assert_eq!(again.status.code(), Some(66));
    }
    // The same bytes again.
    assert_eq!(errors(&pellucid(&arguments)), text);
}

#[test]
fn a_bound_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut arguments = arguments("independent-reads.litmus", folder.path());
    let complete = pellucid(&arguments);
    assert!(errors(&complete).contains("= complete: true; "), "{}", errors(&complete));
    assert!(errors(&complete).contains("= outcomes: 16\n"), "{}", errors(&complete));
    assert_eq!(complete.status.code(), Some(0));
    arguments.extend(["--executions".to_owned(), "3".to_owned()]);
    let bound = pellucid(&arguments);
    let text = errors(&bound);
    assert!(text.contains("= complete: false; 3 executions"), "{text}");
    assert!(text.contains("= bound: executions: "), "{text}");
    assert!(text.ends_with(", 1 dispatch checked, 1 not explored completely\n"), "{text}");
    assert_eq!(bound.status.code(), Some(67), "{text}");
    let text = errors(&pellucid(&self::arguments("modification-order-not-transitive.litmus", folder.path())));
    assert!(text.contains("explored: dispatch 0\n   = complete: false; "), "{text}");
    assert!(text.contains("\n   = bound: races: two writes race"), "{text}");
}

#[test]
fn what_has_no_end_is_said_to_be_large_and_ends() {
    let shader = common::compute().join("count.spv");
    let explore = |options: &[&str]| {
        let mut command = common::pellucid();
        command.arg("explore").args(options).arg(&shader).output().expect("pellucid starts")
    };
    // One execution is made in any case.
    let output = explore(&["--time", "0"]);
    let text = errors(&output);
    assert!(text.contains("= complete: false; 1 execution, "), "{text}");
    assert!(text.contains("= bound: time: its time was up\n"), "{text}");
    assert_eq!(output.status.code(), Some(67), "{text}");
    // No terminal: no line of progress.
    assert!(!text.contains('\r'), "{text}");
    let output = explore(&["--executions", "800"]);
    let text = errors(&output);
    let large =
        "pellucid: dispatch 0 is large: 64 invocations, and 782 executions have begun, of at most 800 (";
    assert_eq!(text.matches(large).count(), 1, "{text}");
    // Outcomes are told as findings are: so many, and that there are more.
    assert_eq!(text.matches("       replay: ").count(), 100, "{text}");
    let more = " more outcomes: the JSON of --report has them all; --max-reports 0 prints them\n";
    assert!(text.contains(more), "{text}");
    assert_eq!(output.status.code(), Some(67), "{text}");
    // How much of them is shown changes nothing in a report.
    let folder = tempfile::tempdir().expect("a folder");
    let line = |most: &str| {
        let report = folder.path().join(format!("{most}.json"));
        let bounds = ["--executions", "800", "--max-reports", most, "--report"];
        explore(&[&bounds[..], &[report.to_str().expect("a path")]].concat());
        let text = std::fs::read_to_string(report).expect("a report");
        text.lines().find(|line| line.contains("\"type\":\"explored\"")).expect("an exploration").to_owned()
    };
    let page = folder.path().join("found.html");
    explore(&["--executions", "800", "--html", page.to_str().expect("a path")]);
    let page = std::fs::read_to_string(page).expect("a page");
    for told in
        ["<h2>explored: dispatch 0", "<p>complete: false; ", "<p>bound: executions: ", "<p>outcomes: "]
    {
        assert!(page.contains(told), "{told:?} is not in the page");
    }
    let all = line("0");
    assert!(all.matches("       replay: ").count() > 100 && all == line("1"));
    // What is small is not called large.
    let folder = tempfile::tempdir().expect("a folder");
    let small = errors(&pellucid(&arguments("independent-reads.litmus", folder.path())));
    assert!(!small.contains("is large"), "{small}");
}

#[test]
fn an_incomplete_exploration_is_no_failing_seed() {
    let shader = common::compute().join("count.spv");
    let seeds = |options: &[&str]| {
        let mut command = common::pellucid();
        command.args(["exec", "--mode", "explore", "--seeds", "0..2"]).args(options).arg(&shader);
        command.output().expect("pellucid starts")
    };
    let output = seeds(&["--executions", "1"]);
    assert_eq!(output.status.code(), Some(67), "{}", errors(&output));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("FAILING SEED"));
    let told = "pellucid: seeds 0..2: 2 of 2 not explored completely\n";
    // The shader's path may contain any word.
    let text = errors(&output);
    let clean = text.lines().any(|line| line.starts_with("pellucid: ") && line.contains("clean"));
    assert!(text.ends_with(told) && !clean, "{text}");
}

#[test]
fn that_caches_choose_no_values_of_an_exploration_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut arguments = arguments("independent-reads.litmus", folder.path());
    arguments.extend(["--machine".to_owned(), "tiled".to_owned()]);
    let output = pellucid(&arguments);
    let text = errors(&output);
    let why = "pellucid: explore mode reads every value that the memory model allows, ";
    assert!(
        text.starts_with(why) && text.contains("pellucid hunt, or pellucid exec --seeds 0..64"),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(2), "{text}");
}

#[test]
fn the_command_is_the_mode() {
    let folder = tempfile::tempdir().expect("a folder");
    let by_mode = arguments("independent-reads.litmus", folder.path());
    assert_eq!(by_mode[..3], ["exec", "--mode", "explore"]);
    let mut by_command = vec!["explore".to_owned()];
    by_command.extend_from_slice(&by_mode[3..]);
    let (one, other) = (pellucid(&by_mode), pellucid(&by_command));
    assert!(errors(&one).contains("= outcomes: 16\n"), "{}", errors(&one));
    assert_eq!((errors(&one), one.status.code()), (errors(&other), other.status.code()));
    by_command.extend(["--mode".to_owned(), "run".to_owned()]);
    let refused = pellucid(&by_command);
    assert_eq!(refused.status.code(), Some(2), "{}", errors(&refused));
    assert!(errors(&refused).contains("explore has its own mode, not run"), "{}", errors(&refused));
}

#[test]
fn a_livelock_is_an_execution_that_fails() {
    let shader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/compute/endless.spv");
    let arguments =
        ["exec", shader, "--mode", "explore", "--groups", "1", "--buffer", "0:0=u32x1", "--dump", "0:0"];
    let text = errors(&pellucid(&arguments.map(str::to_owned)));
    assert!(text.contains("error[livelock]: "), "{text}");
    assert!(text.contains("= complete: true; 1 execution, "), "{text}");
    let failing = text.split("= failing: no invocation can make progress (1 execution)\n").nth(1);
    let replay = failing.and_then(|rest| rest.trim_start().strip_prefix("replay: ")?.lines().next());
    let again = errors(&pellucid(&words(replay.expect("a replay"))));
    assert!(again.contains("error[livelock]: "), "{again}");
}
