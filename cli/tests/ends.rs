//! How runs end that do not end by themselves: what was found is told, and no process stays behind.

mod common;

use common::errors;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The command, with the signals as a terminal has them: whoever runs the tests may ignore some, and programs
/// inherit that. Where `env` cannot do that, they are left as they are.
fn pellucid() -> Command {
    let program = env!("CARGO_BIN_EXE_pellucid");
    let defaults = ["--default-signal=INT,TERM,HUP"];
    let can = Command::new("env").args(defaults).arg("true").stderr(Stdio::null()).status();
    let mut command = match can {
        Ok(status) if status.success() => {
            let mut command = Command::new("env");
            command.args(defaults).arg(program);
            command
        }
        _ => Command::new(program),
    };
    for (variable, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("PELLUCID_")) {
        command.env_remove(variable);
    }
    command
}

fn exec(way: u32, arguments: &str) -> Command {
    let mut command = pellucid();
    let shader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compute/barrier_loop.spv");
    let fixed =
        format!("--groups 2 --buffer 0:0=u32x3 --buffer 0:1=u32x128 --spec 1=64 --spec 0={way} {arguments}");
    command.arg("exec").arg(shader).args(fixed.split_whitespace());
    command
}

/// Everything else on standard error after a line that begins so.
fn read_until(child: &mut Child, begins: &str) -> BufReader<std::process::ChildStderr> {
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
    loop {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).expect("text") > 0, "it ended before \"{begins}\"");
        if line.starts_with(begins) {
            return lines;
        }
    }
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status();
    assert!(sent.expect("sh starts").success());
}

/// The fields of /proc/PROCESS/stat behind the name: state and parent.
fn stat(process: u32) -> Option<(String, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn children(process: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("/proc");
    let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|number| stat(*number).is_some_and(|(_, parent)| parent == process)).collect()
}

fn within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn all_gone(processes: &[u32]) {
    let gone = |process: &u32| stat(*process).is_none_or(|(state, _)| state == "Z" || state == "X");
    within(Duration::from_secs(10), "a process stays behind", || processes.iter().all(gone));
}

#[test]
fn a_signal_loses_no_findings() {
    for (name, status) in [("TERM", 143), ("INT", 130)] {
        let mut child = exec(20, "--watchdog 0").stderr(Stdio::piped()).spawn().expect("it starts");
        let mut rest = read_until(&mut child, "error[race-");
        let below = children(child.id());
        assert_eq!(below.len(), 1);
        signal(name, child.id());
        assert_eq!(child.wait().expect("it ends").code(), Some(status));
        let mut text = String::new();
        rest.read_to_string(&mut text).expect("text");
        assert!(
            text.contains("pellucid: 1 finding (1 race), 0 suppressed, seed 0, 0 dispatches checked"),
            "{text}"
        );
        all_gone(&below);
    }
}

#[test]
fn a_program_without_the_command_loses_none() {
    let shader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compute/barrier_loop.spv");
    let mut program = pellucid();
    program.env("PELLUCID_MODE", "check").env("PELLUCID_WATCHDOG", "0").arg("exec-here").arg(shader);
    program.args(
        "--groups 2 --buffer 0:0=u32x3 --buffer 0:1=u32x128 --spec 0=20 --spec 1=64".split_whitespace(),
    );
    let mut child = program.stderr(Stdio::piped()).spawn().expect("it starts");
    let rest = read_until(&mut child, "error[race-");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    drop(rest);
}

#[test]
fn the_watchdog_and_a_livelock_lose_none() {
    let output = exec(20, "--watchdog 100000").output().expect("it starts");
    let errors = errors(&output);
    assert!(errors.contains("error[race-") && errors.contains("within the watchdog's budget"), "{errors}");
    let texts = [1, 2, 8].map(|threads| {
        let output = exec(21, &format!("--threads {threads}")).output().expect("it starts");
        let errors = self::errors(&output);
        assert!(errors.contains("2 findings (1 livelock, 1 race)"), "{errors}");
        let race = errors.find("error[race-").expect("a race");
        assert!(race < errors.find("error[livelock]").expect("a livelock"), "{errors}");
        errors.lines().filter(|line| !line.contains("replay:")).collect::<Vec<_>>().join("\n")
    });
    assert!(texts.iter().all(|text| *text == texts[0]));
}

#[test]
fn what_is_told_early_is_counted_to_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report");
    let options = format!("--watchdog 100000 --report {}", report.display());
    exec(20, &options).output().expect("it starts");
    let text = std::fs::read_to_string(report).expect("a report");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let count = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
    assert_eq!((count("finding"), count("trap"), count("total")), (1, 1, 1));
    let told = &lines.iter().find(|line| line["type"] == "finding").expect("one")["finding"]["count"];
    assert_eq!(lines.last().expect("a total")["occurrences"], serde_json::json!([told]));
}

#[test]
fn no_shader_outlives_the_command() {
    let mut child = exec(20, "--watchdog 0").stderr(Stdio::piped()).spawn().expect("it starts");
    let rest = read_until(&mut child, "error[race-");
    let below = children(child.id());
    assert_eq!(below.len(), 1);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    all_gone(&below);
    drop(rest);
}

#[test]
fn no_seed_outlives_the_command() {
    let shader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compute/barrier_loop.spv");
    let mut run = pellucid();
    run.args([
        "run",
        "--watchdog",
        "0",
        "--seeds",
        "0..4",
        "--",
        env!("CARGO_BIN_EXE_pellucid"),
        "exec-here",
    ]);
    run.arg(shader).args("--groups 2 --buffer 0:0=u32x3 --buffer 0:1=u32x128 --spec 0=20".split_whitespace());
    let mut child = run.stderr(Stdio::null()).spawn().expect("it starts");
    within(Duration::from_secs(20), "nothing runs", || !children(child.id()).is_empty());
    let below = children(child.id());
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    all_gone(&below);
}

#[test]
fn a_program_gets_the_signals() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, killed) in [("TERM", false), ("INT", false), ("HUP", false), ("TERM", true)] {
        let told = folder.path().join(format!("{name}{killed}"));
        let script = format!(
            "trap 'echo got > {}; exit 7' {name}; echo ready >&2; while :; do sleep 0.02; done",
            told.display()
        );
        let mut run = pellucid();
        let mut child =
            run.args(["run", "--", "sh", "-c", &script]).stderr(Stdio::piped()).spawn().expect("it starts");
        let rest = read_until(&mut child, "ready");
        let below = children(child.id());
        signal(if killed { "KILL" } else { name }, child.id());
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), if killed { None } else { Some(7) }, "{name}");
        all_gone(&below);
        assert_eq!(std::fs::read_to_string(&told).ok().as_deref(), Some("got\n"), "{name}");
        drop(rest);
    }
}
