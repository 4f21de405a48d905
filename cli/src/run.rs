//! A program on the driver: its environment, the totals of its processes, its exit status; and the same for
//! many seeds.

use crate::child::{self, End};
use crate::driver;
use crate::options::DriverOptions;
use crate::validation;
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use vulkan_pellucid::report::api::ApiFinding as _;
use vulkan_pellucid::report::misuse::{self, Misuse};
use vulkan_pellucid::report::replay::quote;
use vulkan_pellucid::report::session::total_line;

/// The status of a program that ended well but had findings.
pub const FINDINGS: u8 = 66;

/// A program and the options to run it with.
#[derive(Clone, Debug)]
pub struct Job {
    /// Options given as flags.
    pub options: DriverOptions,
    /// The program and its arguments.
    pub command: Vec<std::ffi::OsString>,
    /// What a replay line shows for the command; the command itself where there is none.
    pub shown: Option<String>,
}

/// What became of a program.
#[derive(Debug)]
pub struct Outcome {
    /// The status to exit with.
    pub status: u8,
    /// The sum of its processes' totals.
    pub total: Value,
}

/// Everything of a started job that has to live until it has ended.
struct Prepared {
    command: Command,
    folder: tempfile::TempDir,
    exitcode: u8,
    seed: u64,
    end: End,
    report: Option<PathBuf>,
    replay: String,
}

fn prepare(job: &Job, seed: Option<u64>) -> anyhow::Result<Prepared> {
    let mut options = job.options.clone();
    if let Some(seed) = seed {
        options.set("seed", seed.to_string());
    }
    let config = options.resolve()?;
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let manifest = driver::write_manifest(folder.path())?;
    let totals = folder.path().join("totals");
    std::fs::create_dir(&totals)?;
    let Some((program, arguments)) = job.command.split_first() else { bail!("no program to run") };
    let mut command = Command::new(program);
    command.args(arguments);
    if options.closed {
        for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("PELLUCID_")) {
            command.env_remove(name);
        }
    }
    command.envs(&options.variables);
    command
        .env("VK_ICD_FILENAMES", &manifest)
        .env("VK_DRIVER_FILES", &manifest)
        .env("PELLUCID_SUMMARY", &totals);
    if config.validation {
        command.envs(validation::variables(folder.path(), &driver::library()?)?);
    }
    let shown = job.shown.clone().unwrap_or_else(|| {
        let words: Vec<String> = job.command.iter().map(|w| quote(&w.to_string_lossy())).collect();
        words.join(" ")
    });
    let replay = format!("pellucid run --seed {} -- {shown}", config.seed);
    command.env("PELLUCID_COMMAND", shown);
    let mut written = None;
    if let Some(report) = &config.report {
        let report = report_path(report, seed);
        std::fs::write(&report, "").with_context(|| report.display().to_string())?;
        let report = written.insert(report.canonicalize()?);
        command.env("PELLUCID_REPORT", &*report);
    }
    if let Some(rules) = &config.suppressions {
        let rules = rules.canonicalize().with_context(|| rules.display().to_string())?;
        command.env("PELLUCID_SUPPRESSIONS", rules);
    }
    let own = std::env::current_exe().is_ok_and(|this| this.as_os_str() == program);
    let end = if own { End::Kill } else { End::Ask };
    let (exitcode, seed, report) = (config.exitcode.unwrap_or(FINDINGS), config.seed, written);
    Ok(Prepared { command, folder, exitcode, seed, end, report, replay })
}

/// `report.json`, or `report.7.json` where many seeds run.
fn report_path(path: &Path, seed: Option<u64>) -> PathBuf {
    match (seed, path.extension()) {
        (None, _) => path.to_owned(),
        (Some(seed), Some(extension)) => {
            path.with_extension(format!("{seed}.{}", extension.to_string_lossy()))
        }
        (Some(seed), None) => path.with_extension(seed.to_string()),
    }
}

impl Prepared {
    fn outcome(&self, status: ExitStatus) -> anyhow::Result<Outcome> {
        let total = self.total()?;
        let wrong = ["findings", "traps"].iter().any(|key| total[key].as_u64().is_some_and(|n| n > 0));
        let status = match exit_code(status) {
            0 if wrong => self.exitcode,
            0 if total["incomplete"] == true => 1,
            code => code,
        };
        Ok(Outcome { status, total })
    }

    fn add_to_report(&self, line: &Value) -> anyhow::Result<()> {
        let Some(path) = &self.report else { return Ok(()) };
        let name = || path.display().to_string();
        let mut file = OpenOptions::new().append(true).open(path).with_context(name)?;
        writeln!(file, "{line}").with_context(name)
    }

    /// Adds up what the processes wrote.
    fn total(&self) -> anyhow::Result<Value> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut families: BTreeMap<String, u64> = BTreeMap::new();
        let (mut processes, mut incomplete) = (0, false);
        let mut stuck = Vec::new();
        for entry in std::fs::read_dir(self.folder.path().join("totals"))? {
            let text = std::fs::read_to_string(entry?.path())?;
            let Ok(one) = serde_json::from_str::<Value>(&text) else { continue };
            processes += 1;
            incomplete |= one["incomplete"] == true;
            for key in ["findings", "notes", "suppressed", "dispatches", "traps", "not_implemented"] {
                *counts.entry(key).or_default() += one[key].as_u64().unwrap_or(0);
            }
            // What a process that was killed could not report itself.
            let texts = one["stuck"].as_array().filter(|_| one["ended"] == false);
            for (at, text) in (1..).zip(texts.into_iter().flatten().filter_map(Value::as_str)) {
                let told = Misuse::never_ran(text);
                let rendered = told.render(&self.replay);
                *counts.entry("findings").or_default() += 1;
                *families.entry(misuse::FAMILY.to_owned()).or_default() += 1;
                let number = one["findings"].as_u64().unwrap_or(0) + one["notes"].as_u64().unwrap_or(0) + at;
                self.add_to_report(&told.json(number, self.seed, &self.replay, &rendered))?;
                stuck.push(rendered);
            }
            for (family, count) in one["families"].as_object().into_iter().flatten() {
                *families.entry(family.clone()).or_default() += count.as_u64().unwrap_or(0);
            }
        }
        let mut total = json!({
            "families": families,
            "seed": self.seed,
            "processes": processes,
            "incomplete": incomplete,
            "stuck": stuck,
        });
        for (key, count) in counts {
            total[key] = count.into();
        }
        Ok(total)
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => code.clamp(0, 255) as u8,
        (None, Some(signal)) => (128 + signal).clamp(0, 255) as u8,
        (None, None) => 1,
    }
}

/// Runs a program, its streams being ours.
///
/// # Errors
/// It cannot be started.
pub fn one(job: &Job) -> anyhow::Result<Outcome> {
    let mut prepared = prepare(job, None)?;
    let name = job.command.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let end = prepared.end;
    let status = child::status(&mut prepared.command, end).with_context(|| format!("cannot start {name}"))?;
    prepared.outcome(status)
}

/// The total line of an outcome.
pub fn total(outcome: &Outcome) -> String {
    let stuck = outcome.total["stuck"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut line: String = stuck.map(|text| format!("{text}\n")).collect();
    line.push_str(&format!("pellucid: {}", total_line(&outcome.total)));
    if outcome.total["processes"].as_u64() == Some(0) {
        line.push_str(" (the program did not use this driver)");
    }
    line
}

/// What many seeds came to. Those that failed are printed by ascending seed, each as soon as all before it
/// have ended.
struct Seeds {
    waiting: BTreeMap<u64, anyhow::Result<(Output, Outcome)>>,
    next: u64,
    failing: Vec<String>,
    status: u8,
    error: Option<anyhow::Error>,
}

impl Seeds {
    fn ended(&mut self, seed: u64, result: anyhow::Result<(Output, Outcome)>) {
        self.waiting.insert(seed, result);
        while let Some(result) = self.waiting.remove(&self.next) {
            match result {
                Err(error) => self.error = self.error.take().or(Some(error)),
                Ok((output, outcome)) if outcome.status != 0 && self.error.is_none() => {
                    println!("FAILING SEED: {}", self.next);
                    print!("{}", String::from_utf8_lossy(&output.stdout));
                    eprint!("{}", String::from_utf8_lossy(&output.stderr));
                    eprintln!("{}", total(&outcome));
                    self.status = if self.status == 0 { outcome.status } else { self.status };
                    self.failing.push(self.next.to_string());
                }
                Ok(_) => {}
            }
            self.next += 1;
        }
    }
}

/// Runs a program once for each seed, as many at a time as there are cores, and prints what the failing ones
/// printed, by ascending seed. The status is that of the first failing seed.
///
/// # Errors
/// It cannot be started.
pub fn seeds(job: &Job, seeds: Range<u64>) -> anyhow::Result<u8> {
    let count = seeds.end - seeds.start;
    let next = AtomicU64::new(seeds.start);
    let following = |seed: u64| seed.checked_add(1).filter(|_| seed < seeds.end);
    let results = Mutex::new(Seeds {
        waiting: BTreeMap::new(),
        next: seeds.start,
        failing: Vec::new(),
        status: 0,
        error: None,
    });
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.min(usize::try_from(count).unwrap_or(usize::MAX));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Ok(seed) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, following) {
                    let result = with_seed(job, seed);
                    let Ok(mut results) = results.lock() else { break };
                    results.ended(seed, result);
                    if results.error.is_some() {
                        break;
                    }
                }
            });
        }
    });
    let results = results.into_inner().map_err(|_| anyhow::anyhow!("a worker failed"))?;
    if let Some(error) = results.error {
        return Err(error);
    }
    let failing = results.failing;
    if failing.is_empty() {
        eprintln!("pellucid: seeds {}..{}: all {count} clean", seeds.start, seeds.end);
    } else {
        eprintln!(
            "pellucid: seeds {}..{}: {} of {count} failing: {}",
            seeds.start,
            seeds.end,
            failing.len(),
            failing.join(", ")
        );
    }
    Ok(results.status)
}

fn with_seed(job: &Job, seed: u64) -> anyhow::Result<(Output, Outcome)> {
    let mut prepared = prepare(job, Some(seed))?;
    child::bind(&mut prepared.command, prepared.end);
    let output = prepared.command.stdin(Stdio::null()).output().context("cannot start the program")?;
    let outcome = prepared.outcome(output.status)?;
    Ok((output, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_files_of_many_seeds_have_names_of_their_own() {
        assert_eq!(report_path(Path::new("a/r.json"), None), Path::new("a/r.json"));
        assert_eq!(report_path(Path::new("a/r.json"), Some(7)), Path::new("a/r.7.json"));
        assert_eq!(report_path(Path::new("report"), Some(7)), Path::new("report.7"));
    }
}
