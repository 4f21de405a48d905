//! `pellucid hunt` and `run --seeds`: each distinct finding once, with its runs; baselines, merged reports,
//! ends.

mod common;

use common::errors;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BUFFERS: &str = "--groups 1 --buffer 0:0=u32x64=iota --buffer 0:1=u32x64 --buffer 0:2=u32x1";

fn shader(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo").join(name)
}

fn pellucid(folder: &Path, arguments: &str) -> Output {
    let mut command = common::pellucid();
    command.current_dir(folder).args(arguments.split_whitespace()).output().expect("it starts")
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a report");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_finding_of_many_runs_is_told_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let hunt =
        format!("hunt --explore 0 --runs 12 --report r.json {} {BUFFERS}", shader("reduce.spv").display());
    let output = pellucid(folder, &hunt);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{text}");
    assert_eq!(text.matches("error[race-").count(), 1, "{text}");
    assert!(text.contains(": in 12 of 12 runs, first in run 0\n"), "{text}");
    assert!(text.ends_with("pellucid: 12 runs: 1 distinct finding\n"), "{text}");
    assert!(text.contains("replay: pellucid exec --seed 0 "), "{text}");

    let report = lines(&folder.join("r.json"));
    let kinds: Vec<&str> = report.iter().filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(kinds, ["run", "finding", "total"]);
    assert_eq!(report[1]["runs"]["with"], 12);
    assert_eq!(report[2]["findings"], 1);
    let shown = pellucid(folder, "report r.json --format sarif");
    assert!(shown.status.success() && String::from_utf8_lossy(&shown.stdout).contains("race-not-"));

    // What is known does not count.
    let again = pellucid(folder, &hunt.replace("--report r.json", "--baseline r.json"));
    let text = errors(&again);
    assert_eq!(again.status.code(), Some(0), "{text}");
    assert!(!text.contains("error[") && text.contains("(in the baseline)"), "{text}");
    assert!(text.ends_with("pellucid: 12 runs: 0 distinct findings, 1 in the baseline\n"), "{text}");
}

#[test]
fn a_shader_that_cannot_be_read_is_not_hunted_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let missing = pellucid(folder, "hunt nowhere.spv");
    assert_eq!(errors(&missing), "pellucid: nowhere.spv: No such file or directory (os error 2)\n");
    assert_eq!(missing.status.code(), Some(2));
    let missing = pellucid(folder, "hunt -- ./nowhere");
    assert!(errors(&missing).contains("cannot start ./nowhere: "), "{}", errors(&missing));
}

#[test]
fn a_hunt_can_make_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let shader = shader("reduce.spv");
    let output = pellucid(
        folder,
        &format!("hunt --explore 0 --runs 2 --html found.html {} {BUFFERS}", shader.display()),
    );
    assert_eq!(output.status.code(), Some(66), "{}", errors(&output));
    assert!(errors(&output).ends_with("\npellucid: page: found.html\n"), "{}", errors(&output));
    let page = std::fs::read_to_string(folder.join("found.html")).expect("a page");
    assert!(page.contains("race-not-") && page.contains("class=\"picture run\""));
}

#[test]
fn a_hunt_ends_when_nothing_new_comes() {
    let folder = tempfile::tempdir().expect("a folder");
    let shader = shader("reduce_fixed.spv");
    let hunt = format!("hunt --explore 0 --patience 3 {} {BUFFERS}", shader.display());
    let output = pellucid(folder.path(), &hunt);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(errors(&output), "pellucid: 4 runs: 0 distinct findings\n");
    let timed = pellucid(folder.path(), &hunt.replace("--patience 3", "--time 0"));
    assert!(errors(&timed).starts_with("pellucid: 1 run: "), "{}", errors(&timed));
}

#[test]
fn outcomes_of_the_program_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    // Every run but the first finds the file.
    std::fs::write(folder.path().join("app"), "mkdir seen 2>/dev/null || exit 5\n").expect("a script");
    let output = pellucid(folder.path(), "hunt --explore 0 --runs 6 -- sh app");
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(
        text.contains("2 outcomes of the program itself: status 0 in 1 run; status 5 in 5 runs"),
        "{text}"
    );
    assert!(text.ends_with("0 distinct findings (the program did not use this driver)\n"), "{text}");
    let nothing = pellucid(folder.path(), "hunt --runs 2 -- /nonexistent/program");
    assert_eq!(nothing.status.code(), Some(1));
    assert!(errors(&nothing).contains("cannot start /nonexistent/program"), "{}", errors(&nothing));
    let bad = pellucid(folder.path(), "hunt --baseline app -- true");
    assert!(errors(&bad).contains("app"), "{}", errors(&bad));
}

#[test]
fn seeds_print_a_finding_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let shader = shader("reduce.spv");
    let program = format!("{} exec-here {} {BUFFERS}", env!("CARGO_BIN_EXE_pellucid"), shader.display());
    let output = pellucid(folder.path(), &format!("run --seeds 0..4 -- {program}"));
    let text = errors(&output);
    assert_eq!(text.matches("error[race-").count(), 1, "{text}");
    assert!(text.contains(": in 4 of 4 seeds, first in seed 0\n"), "{text}");
    assert!(!text.contains("did not use this driver"), "{text}");
    assert!(text.ends_with("pellucid: seeds 0..4: 4 of 4 failing: 0, 1, 2, 3\n"), "{text}");
}

const POLL: &str = include_str!("poll.spvasm");

/// Shards have the runs of the whole between them, and their reports make its report.
#[test]
fn shards_are_put_together_and_must_be_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let hunt =
        format!("hunt --explore 0 --runs 7 --report r.json {} {BUFFERS}", shader("reduce.spv").display());
    let whole = pellucid(folder, &hunt);
    assert_eq!(whole.status.code(), Some(66), "{}", errors(&whole));
    for k in 1..=3 {
        let part = pellucid(folder, &hunt.replace("--runs", &format!("--shard {k}/3 --runs")));
        assert_eq!(part.status.code(), Some(66));
        let runs = [3, 2, 2][k - 1];
        assert!(errors(&part).ends_with(&format!("pellucid: {runs} runs: 1 distinct finding\n")));
    }
    let part = |k| format!("r.shard-000{k}-of-0003.json");
    let merge = format!("merge {} {} {}", part(3), part(1), part(2));
    let merged = pellucid(folder, &format!("{merge} --report m.json"));
    assert_eq!(merged.status.code(), Some(66), "{}", errors(&merged));
    assert_eq!(errors(&merged), errors(&whole));
    let last = |file: &str| lines(&folder.join(file)).pop().expect("a total");
    assert_eq!(last("m.json"), last("r.json"));
    let known = pellucid(folder, &format!("{merge} --baseline r.json"));
    assert_eq!(known.status.code(), Some(0), "{}", errors(&known));

    for (reports, expected) in [
        (format!("{} {}", part(1), part(3)), "shard 2/3 is missing"),
        (format!("{} {} {} {}", part(1), part(2), part(3), part(1)), "shard 1/3 is there twice"),
        (format!("{} {} {} r.json", part(1), part(2), part(3)), "reports of different numbers of shards"),
    ] {
        let wrong = pellucid(folder, &format!("merge {reports}"));
        assert_eq!(wrong.status.code(), Some(1));
        assert!(errors(&wrong).contains(expected), "{}", errors(&wrong));
    }
    let task = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut command = Command::new(env!("CARGO_BIN_EXE_pellucid"));
    command.envs([task("JOB_COMPLETION_INDEX", "1"), task("JOB_COMPLETIONS", "3")]);
    let pod = command.current_dir(folder).args(hunt.split_whitespace()).output().expect("it starts");
    assert!(errors(&pod).ends_with("pellucid: 2 runs: 1 distinct finding\n"), "{}", errors(&pod));
}

/// Alone, in a job array, and as a shard that is asked for: the findings come out, and no file stays.
#[test]
fn the_script_for_code_hosts_has_the_findings_of_a_shard_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let temporary = folder.join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packages/hunt.sh");
    let reduce = shader("reduce.spv").display().to_string();
    let none: &[(&str, &str)] = &[];
    let slurm: &[(&str, &str)] = &[("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "2")];
    let pod: &[(&str, &str)] = &[("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "2")];
    for (variables, options) in
        [(none, ""), (slurm, ""), (pod, ""), (slurm, "--shard none"), (none, "--shard 2/2")]
    {
        let mut command = common::pellucid_as("bash".as_ref());
        command.arg(&script).arg("found.sarif").args(["--explore", "0", "--runs", "4"]);
        command.args(options.split_whitespace()).arg("--").arg(&reduce).args(BUFFERS.split_whitespace());
        command.env("PELLUCID", env!("CARGO_BIN_EXE_pellucid")).env("TMPDIR", &temporary);
        let output = command.envs(variables.iter().copied()).current_dir(folder).output().expect("bash");
        assert_eq!(output.status.code(), Some(66), "{variables:?} {options}: {}", errors(&output));
        let sarif = std::fs::read_to_string(folder.join("found.sarif")).expect("SARIF");
        let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
        assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(1), "{variables:?} {options}");
        let left = std::fs::read_dir(&temporary).expect("a folder").count();
        assert_eq!(left, 0, "{variables:?} {options}");
    }
}

/// A dispatch of two workgroups, one of which looks once whether the other has written: all of its executions
/// are made, and nothing is left to hunt for.
#[test]
fn what_is_small_is_explored_and_said_to_be_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("poll.spvasm"), POLL).expect("a shader");
    let hunt = "hunt --report r.json poll.spvasm --groups 2 --buffer 0:0=u32x3";
    let output = pellucid(folder.path(), hunt);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with("pellucid: the only dispatch was explored completely, "), "{text}");
    assert!(text.ends_with(" outcomes: 0 distinct findings\n"), "{text}");
    let total = lines(&folder.path().join("r.json")).pop().expect("a total");
    assert_eq!(total["runs"], 0);
    assert!(total["explored"]["executions"].as_u64() > Some(1));
    let bounded = pellucid(folder.path(), &hunt.replace("hunt", "hunt --explore 1 --runs 3"));
    assert!(errors(&bounded).contains("pellucid: 3 runs: "), "{}", errors(&bounded));
    let programs = pellucid(folder.path(), "hunt --runs 2 -- true");
    assert!(errors(&programs).contains("pellucid: 2 runs: "), "{}", errors(&programs));
}

#[test]
fn what_every_run_would_refuse_is_refused_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let hunt = format!("hunt {} --runs 8 {BUFFERS}", shader("reduce.spv").display());
    let output = pellucid(folder.path(), &hunt);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.matches("unexpected argument '--runs'").count(), 1, "{text}");
    assert!(text.contains("options of hunt, such as --runs, come before the shader"), "{text}");
    assert!(!text.contains(" runs: "), "nothing was run: {text}");
}

#[test]
fn a_machine_that_nobody_asks_is_a_usage_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let reduce = shader("reduce.spv").display().to_string();
    for (options, why) in [
        (
            "exec --machine tiled --values stale",
            "values come either from the caches of a machine or by another",
        ),
        (
            "hunt --machine tiled --values latest",
            "values come either from the caches of a machine or by another",
        ),
        ("exec --mode run --machine tiled", "run mode has one value for each location"),
        ("exec --mode explore --machine tiled", "explore mode reads every value"),
    ] {
        let output = pellucid(folder.path(), &format!("{options} {reduce}"));
        let text = errors(&output);
        assert!(text.starts_with(&format!("pellucid: {why}")), "{options}: {text}");
        assert_eq!((output.status.code(), text.lines().count()), (Some(2), 1), "{options}: {text}");
    }
}

/// The status of findings may be that of a usage error, too.
#[test]
fn findings_are_no_usage_error_whatever_their_status() {
    let folder = tempfile::tempdir().expect("a folder");
    let hunt = format!("hunt --explore 0 --runs 2 --exitcode 2 {} {BUFFERS}", shader("reduce.spv").display());
    let output = pellucid(folder.path(), &hunt);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.ends_with("pellucid: 2 runs: 1 distinct finding\n"), "{text}");
}

#[test]
fn no_seed_fails_by_what_a_baseline_tells() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let exec = format!("exec --seeds 0..4 {} {BUFFERS}", shader("reduce.spv").display());
    let report = exec.replace("--seeds 0..4", "--report known.json");
    assert_eq!(pellucid(folder, &report).status.code(), Some(66));
    assert_eq!(pellucid(folder, &exec).status.code(), Some(66));
    let known = pellucid(folder, &exec.replace("--seeds", "--baseline known.json --seeds"));
    let text = errors(&known);
    assert_eq!((known.status.code(), known.stdout.as_slice()), (Some(0), &b""[..]), "{text}");
    assert!(text.contains("(in the baseline)") && !text.contains("error["), "{text}");
    assert!(text.ends_with("pellucid: seeds 0..4: none of 4 failing\n"), "{text}");
    let alone = pellucid(folder, &exec.replace("--seeds 0..4", "--baseline known.json"));
    assert_eq!(alone.status.code(), Some(2), "{}", errors(&alone));
}

/// A livelock is a finding whichever command makes the run: the shader's process ends with no status of its
/// own because the device was lost.
#[test]
fn a_livelock_has_the_status_of_findings_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let planted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/planted/dynamic/livelock.bug.spv");
    std::fs::copy(planted, folder.join("a.spv")).expect("a copy");
    for (command, status) in [
        ("exec --report known.json a.spv", 66),
        ("exec --seeds 0..2 a.spv", 66),
        ("exec --exitcode 5 a.spv", 5),
        ("exec --exitcode 0 a.spv", 0),
        ("exec --seeds 0..2 --baseline known.json a.spv", 0),
        ("explore a.spv", 66),
        ("hunt --explore 0 --runs 2 --baseline known.json a.spv", 0),
        ("hunt --explore 0 --runs 2 a.spv", 66),
        ("hunt --runs 2 a.spv", 66),
        ("replay known.json", 66),
    ] {
        let groups = if command.ends_with("a.spv") { " --groups 2" } else { "" };
        let output = pellucid(folder, &format!("{command}{groups}"));
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(status), "{command}: {text}");
        assert!(text.contains("livelock"), "{command}: {text}");
    }
    // What is no finding is still an error.
    let run = pellucid(folder, "exec --mode run --spins 4096 a.spv --groups 2");
    assert_eq!(run.status.code(), Some(1), "{}", errors(&run));
}

/// A hunt whose first run finds nothing, alone and in shards that are put together: each finding has its own
/// run's seed and options, by which it is replayed and debugged.
#[test]
fn findings_of_a_hunt_are_replayed_and_debugged_by_their_own_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let planted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/planted/chance");
    for (from, to) in [("single_look.relaxed.spv", "look.spv"), ("shared_poll.relaxed.spv", "poll.spv")] {
        std::fs::copy(planted.join(from), folder.join(to)).expect("a copy");
    }
    let replayed = |report: &str, count: usize| {
        let output = pellucid(folder, &format!("replay {report}"));
        assert_eq!(output.status.code(), Some(66), "{}", errors(&output));
        let all = if count == 1 { "finding 1 (".to_owned() } else { format!("all {count} findings") };
        assert!(errors(&output).contains(&format!("replay: {all}")), "{}", errors(&output));
        assert!(errors(&output).ends_with(" came again, byte for byte\n"), "{}", errors(&output));
    };
    let hunt = "hunt --explore 0 --rehearsals 0 --runs 16 --report r.json look.spv --groups 2";
    let output = pellucid(folder, hunt);
    assert_eq!(output.status.code(), Some(66), "{}", errors(&output));
    let report = lines(&folder.join("r.json"));
    let found: Vec<&Value> = report.iter().filter(|line| line["type"] == "finding").collect();
    assert!(found.iter().all(|line| line["runs"]["first"].as_u64() > Some(0)), "{found:?}");
    assert_eq!(report[0]["seed"], 0);
    for k in 1..=2 {
        pellucid(folder, &hunt.replace("--runs", &format!("--shard {k}/2 --runs")));
    }
    let merged =
        pellucid(folder, "merge r.shard-0001-of-0002.json r.shard-0002-of-0002.json --report m.json");
    assert_eq!(merged.status.code(), Some(66), "{}", errors(&merged));
    for report in ["r.json", "m.json"] {
        replayed(report, found.len());
        for line in &found {
            let number = &line["number"];
            let debugged = pellucid(folder, &format!("debug --finding {report}:{number}"));
            let text = String::from_utf8_lossy(&debugged.stdout);
            assert!(text.starts_with("finding "), "{line}\n{text}");
            assert!(text.contains(line["id"].as_str().expect("an id")), "{line}\n{text}");
        }
    }

    // Of several runs, each in its turn; their reports are no one report.
    let several = "hunt --explore 0 --rehearsals 0 --runs 8 --report s.json poll.spv --groups 2";
    assert_eq!(pellucid(folder, several).status.code(), Some(66));
    let report = lines(&folder.join("s.json"));
    let found = report.iter().filter(|line| line["type"] == "finding");
    let seeds: Vec<&Value> = found.map(|line| &line["seed"]).collect();
    assert!(seeds.iter().any(|seed| *seed != seeds[0]), "{seeds:?}");
    replayed("s.json", seeds.len());
    let kept = pellucid(folder, "replay s.json --report again.json");
    assert_eq!(kept.status.code(), Some(2), "{}", errors(&kept));
    assert!(errors(&kept).contains("--report goes with --finding N"), "{}", errors(&kept));
    let one = pellucid(folder, &format!("replay s.json --finding {} --report again.json", seeds.len()));
    assert!(errors(&one).ends_with(" came again, byte for byte\n"), "{}", errors(&one));

    // A device that was lost is no finding by itself.
    std::fs::copy(planted.join("../dynamic/livelock.bug.spv"), folder.join("wait.spv")).expect("a copy");
    let lost = "hunt --mode run --spins 4096 --runs 2 --report t.json wait.spv --groups 2";
    assert_eq!(pellucid(folder, lost).status.code(), Some(66));
    let again = pellucid(folder, "replay t.json");
    assert!(
        errors(&again).ends_with("replay: the lost device came again, byte for byte\n"),
        "{}",
        errors(&again)
    );

    // What an exploration found.
    let explored = pellucid(folder, "hunt --report e.json look.spv --groups 2");
    assert_eq!(explored.status.code(), Some(66), "{}", errors(&explored));
    let report = lines(&folder.join("e.json"));
    let found = report.iter().filter(|line| line["type"] == "finding").count();
    replayed("e.json", found);
}
