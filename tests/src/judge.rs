//! Runs a case in a child process and compares its report with what the test file says.

use crate::corpus::{Case, Expected, Test};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which value a load returns among those that the model allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// The oldest.
    Stale,
    /// The newest.
    Latest,
    /// By the seed.
    Seeded,
    /// By the seed, for atomics.
    Varied,
    /// What the caches of the machine of this name hold.
    Caches(&'static str),
}

impl Values {
    /// Every way to choose values that a case is run with.
    pub const ALL: [Values; 7] = [
        Values::Varied,
        Values::Stale,
        Values::Latest,
        Values::Seeded,
        Values::Caches("tiled"),
        Values::Caches("desktop"),
        Values::Caches("integrated"),
    ];

    /// As the driver's option has it.
    pub fn name(self) -> &'static str {
        match self {
            Values::Stale => "stale",
            Values::Latest => "latest",
            Values::Seeded => "seeded",
            Values::Varied => "varied",
            Values::Caches(_) => "caches",
        }
    }
}

/// Options of the driver for one run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Of the schedule.
    pub seed: u64,
    /// Of loads.
    pub values: Values,
    /// Host threads, if not the driver's choice.
    pub threads: Option<u32>,
    /// Working directory, if not this process's.
    pub directory: Option<PathBuf>,
}

impl Options {
    /// A seed and a policy, all else by default.
    pub fn new(seed: u64, values: Values) -> Options {
        Options { seed, values, threads: None, directory: None }
    }
}

/// One finding of a report.
#[derive(Clone, Debug)]
pub struct Found {
    /// As `docs/report.md` lists it.
    pub id: String,
    /// Line and opcode of each access.
    pub accesses: Vec<(Option<u32>, String)>,
    /// Names of what is missing.
    pub missing: BTreeSet<String>,
    /// Names of the edits.
    pub fix: BTreeSet<String>,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Run {
    /// Standard error: the diagnostics.
    pub text: String,
    /// Standard output: why the program failed.
    pub output: String,
    /// The program's own exit status; `None` if it was killed.
    pub status: Option<i32>,
    /// The report file as it is.
    pub report: String,
    /// Findings in the order of the report.
    pub findings: Vec<Found>,
    /// What Pellucid does not implement.
    pub not_implemented: Vec<String>,
}

/// Runs a case in a process of its own; `program` is the `planted` executable.
///
/// # Errors
/// The process cannot be started, or its report is no report.
pub fn run(program: &Path, test: &Test, case: &Case, options: &Options) -> Result<Run> {
    let folder = tempfile::tempdir()?;
    let report = folder.path().join("report");
    let mut command = Command::new(program);
    command.args(["run", &test.file, &case.name]).stdin(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("PELLUCID_")) {
        command.env_remove(name);
    }
    command
        .env("PELLUCID_MODE", "check")
        .env("PELLUCID_SEED", options.seed.to_string())
        .env("PELLUCID_VALUES", options.values.name())
        .env("PELLUCID_REPORT", &report)
        .env("PELLUCID_WATCHDOG", "2000000")
        .env("PELLUCID_COMMAND", format!("planted run {} {}", test.file, case.name));
    if let Values::Caches(machine) = options.values {
        command.env("PELLUCID_MACHINE", machine);
    }
    if case.notes {
        command.env("PELLUCID_NOTES", "on");
    }
    if let Some(threads) = options.threads {
        command.env("PELLUCID_THREADS", threads.to_string());
    }
    if let Some(directory) = &options.directory {
        command.current_dir(directory);
    }
    let output = command.output().context("the planted executable")?;
    let report = std::fs::read_to_string(&report).unwrap_or_default();
    let mut run = Run {
        text: String::from_utf8_lossy(&output.stderr).into_owned(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        status: output.status.code(),
        findings: Vec::new(),
        not_implemented: Vec::new(),
        report,
    };
    for line in run.report.lines() {
        let line: Value = serde_json::from_str(line).context("the report is not JSON lines")?;
        match line["type"].as_str() {
            Some("finding") => run.findings.push(found(&line)),
            Some("not-implemented") => {
                run.not_implemented.push(line["message"].as_str().unwrap_or("").to_owned());
            }
            _ => {}
        }
    }
    Ok(run)
}

/// The name of an enum's variant, with or without fields.
fn variant(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(name.clone()),
        Value::Object(fields) => fields.keys().next().cloned(),
        _ => None,
    }
}

fn found(line: &Value) -> Found {
    let names = |list: &Value| list.as_array().into_iter().flatten().filter_map(variant).collect();
    let list = |key: &str| line[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let mut out = Found {
        id: text(&line["id"]),
        accesses: list("accesses")
            .iter()
            .map(|a| {
                let opcode = a["instruction"].as_str().unwrap_or("").split_whitespace();
                let opcode = opcode.into_iter().find(|w| w.starts_with("Op")).unwrap_or("").to_owned();
                (a["source"]["line"].as_u64().map(|l| l as u32), opcode)
            })
            .collect(),
        missing: names(&line["finding"]["missing"]),
        fix: names(&line["finding"]["fix"]),
    };
    // A hazard has commands; a dispatch among them names the line of its access.
    out.accesses.extend(list("commands").iter().map(|c| {
        let line = c["location"].as_str().and_then(|l| l.rsplit(':').next()?.parse().ok());
        (line, text(&c["command"]))
    }));
    out.fix.extend(variant(&line["hazard"]["fix"]));
    out
}

fn is_access(test: &Test, wanted: &str, access: &(Option<u32>, String)) -> bool {
    if wanted == "-" {
        return *access == (None, String::new());
    }
    match wanted.parse::<u32>() {
        Ok(marker) => {
            access.0.is_some_and(|line| test.markers.get(&marker).is_some_and(|lines| lines.contains(&line)))
        }
        Err(_) => access.1 == wanted,
    }
}

/// Whether a finding is the expected one, its accesses in either order: which comes first depends on the
/// schedule.
pub fn matches(test: &Test, expected: &Expected, found: &Found) -> bool {
    let same = |wanted: &[String], names: &BTreeSet<String>| {
        wanted.is_empty() || wanted.iter().cloned().collect::<BTreeSet<_>>() == *names
    };
    let accesses = |order: &[usize]| {
        expected.accesses.len() == order.len()
            && expected.accesses.iter().zip(order).all(|(w, i)| is_access(test, w, &found.accesses[*i]))
    };
    let forward: Vec<usize> = (0..found.accesses.len()).collect();
    let backward: Vec<usize> = forward.iter().rev().copied().collect();
    expected.id == found.id
        && (expected.accesses.is_empty() || accesses(&forward) || accesses(&backward))
        && same(&expected.missing, &found.missing)
        && same(&expected.fix, &found.fix)
}

fn describe(found: &Found) -> String {
    let accesses: Vec<String> = found
        .accesses
        .iter()
        .map(|(line, op)| line.map_or(op.clone(), |line| format!("line {line}")))
        .collect();
    let names = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
    format!(
        "{} at {} (missing {}; fix {})",
        found.id,
        accesses.join(" and "),
        names(&found.missing),
        names(&found.fix)
    )
}

/// The first of so many seeds under which a bug is found, all of its findings; nothing if none is.
///
/// # Errors
/// As [`run`].
pub fn first_seed(
    program: &Path,
    test: &Test,
    case: &Case,
    seeds: u64,
    values: Values,
) -> Result<Option<u64>> {
    for seed in 0..seeds {
        let run = run(program, test, case, &Options::new(seed, values))?;
        if case.expected.iter().all(|e| run.findings.iter().any(|f| matches(test, e, f))) {
            return Ok(Some(seed));
        }
    }
    Ok(None)
}

/// What is wrong with a run; nothing if it shows what the case says: every expected finding at least once,
/// nothing else, and the expected memory.
pub fn problems(test: &Test, case: &Case, run: &Run) -> Vec<String> {
    let mut problems: Vec<String> = run.not_implemented.clone();
    if run.status.is_none() {
        problems.push("the program was killed".to_owned());
    }
    let failed = run.status != Some(0);
    if failed != case.lost {
        problems.push(match failed {
            true => format!("the program failed: {}", run.output.trim()),
            false => "the device was not lost".to_owned(),
        });
    }
    for expected in case.expected.iter().filter(|e| !run.findings.iter().any(|f| matches(test, e, f))) {
        problems.push(format!(
            "not found: {} at {} (missing {}; fix {})",
            expected.id,
            expected.accesses.join(" and "),
            expected.missing.join(" "),
            expected.fix.join(" ")
        ));
    }
    let known = |found: &Found| case.expected.iter().chain(&case.allowed).any(|e| matches(test, e, found));
    for found in run.findings.iter().filter(|f| !known(f)) {
        problems.push(format!("not expected: {}", describe(found)));
    }
    for text in case.says.iter().filter(|text| !run.text.contains(*text)) {
        problems.push(format!("does not say \"{text}\""));
    }
    problems
}
