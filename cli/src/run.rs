//! A program on the driver: its environment, the totals of its processes, its exit status; and the same for
//! many seeds.

use crate::child::{self, End};
use crate::driver;
use crate::options::{DriverOptions, Variation};
use crate::status;
use crate::validation;
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use vulkan_pellucid::report::api::ApiFinding as _;
use vulkan_pellucid::report::misuse::{self, Misuse};
use vulkan_pellucid::report::replay::quote;
use vulkan_pellucid::report::session::ReportError;
use vulkan_pellucid::report::suppress::Suppressions;
use vulkan_pellucid::report::total::total_line;

/// The status of a program that ended well but had findings.
pub const FINDINGS: u8 = 66;

/// The status of one that ended well, had no findings, and of which a dispatch was not explored completely.
pub const UNEXPLORED: u8 = 67;

/// The status with which the process of a shader of `pellucid exec` says that the device was lost.
pub const LOST: u8 = 3;

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
    /// The status says that a dispatch was not explored completely, and nothing worse.
    pub only_unexplored: bool,
}

impl Outcome {
    /// Whether something went wrong: that not everything was explored is no failure.
    pub fn failed(&self) -> bool {
        self.status != 0 && !self.only_unexplored
    }
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

/// Which file gets the report of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reported {
    /// The one that the options name, if any.
    Named,
    /// One of this seed's own, after the one that the options name.
    OfSeed(u64),
    /// One that goes with the run.
    Temporary,
}

/// Reads a file of rules of suppression as the driver will, which can only refuse the instance: a program
/// that goes on without one would look clean.
///
/// # Errors
/// It cannot be read, or has a line that is no rule; which are the caller's.
pub fn check_rules(path: &Path) -> anyhow::Result<()> {
    let rules = Suppressions::parse(&status::text(path)?);
    let bad = |message| ReportError::Suppressions { path: path.to_owned(), message };
    status::usage(rules.map_err(|message| bad(message).into())).map(|_| ())
}

fn prepare(job: &Job, varied: &Variation, reported: Reported) -> anyhow::Result<Prepared> {
    let mut options = job.options.clone();
    for (name, value) in varied {
        options.set(name, value.clone());
    }
    let config = options.resolve()?;
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let manifest = driver::write_manifest(&driver::library()?, folder.path())?;
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
    let named = config.report.as_deref();
    let report = match reported {
        Reported::Named => named.map(Path::to_owned),
        Reported::OfSeed(seed) if named.is_some() => named.map(|path| with_part(path, &seed.to_string())),
        Reported::OfSeed(_) | Reported::Temporary => Some(folder.path().join("report.json")),
    };
    if let Some(report) = report {
        std::fs::write(&report, "").with_context(|| report.display().to_string())?;
        let report = written.insert(report.canonicalize()?);
        command.env("PELLUCID_REPORT", &*report);
    }
    if let Some(rules) = &config.suppressions {
        check_rules(rules)?;
        let rules = rules.canonicalize().with_context(|| rules.display().to_string())?;
        command.env("PELLUCID_SUPPRESSIONS", rules);
    }
    let own = std::env::current_exe().is_ok_and(|this| this.as_os_str() == program);
    let end = if own { End::Kill } else { End::Ask };
    let (exitcode, seed, report) = (config.exitcode.unwrap_or(FINDINGS), config.seed, written);
    Ok(Prepared { command, folder, exitcode, seed, end, report, replay })
}

/// `report.7.json` for `report.json` and the part `7`.
pub fn with_part(path: &Path, part: &str) -> PathBuf {
    match path.extension() {
        Some(extension) => path.with_extension(format!("{part}.{}", extension.to_string_lossy())),
        None => path.with_extension(part),
    }
}

impl Prepared {
    /// The program's own status: a shader of `pellucid exec` has none, so that a device lost by what is a
    /// finding, such as a livelock, counts as a program that ended well.
    fn own_status(&self, status: ExitStatus, total: &Value) -> u8 {
        match exit_code(status) {
            LOST if self.end == End::Kill && total["findings"].as_u64() > Some(0) => 0,
            LOST if self.end == End::Kill => 1,
            code => code,
        }
    }

    fn outcome(&self, status: ExitStatus) -> anyhow::Result<Outcome> {
        let total = self.total()?;
        let wrong = ["findings", "traps"].iter().any(|key| total[key].as_u64().is_some_and(|n| n > 0));
        let own = self.own_status(status, &total);
        let status = match own {
            0 if wrong => self.exitcode,
            0 if total["incomplete"] == true => 1,
            0 if total["unexplored"].as_u64().is_some_and(|n| n > 0) => UNEXPLORED,
            code => code,
        };
        let only_unexplored = own == 0 && !wrong && status == UNEXPLORED;
        Ok(Outcome { status, total, only_unexplored })
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
        let (mut devices, mut advice) = (0, BTreeSet::new());
        for entry in std::fs::read_dir(self.folder.path().join("totals"))? {
            let text = std::fs::read_to_string(entry?.path())?;
            let Ok(one) = serde_json::from_str::<Value>(&text) else { continue };
            processes += 1;
            incomplete |= one["incomplete"] == true;
            devices += one["devices"].as_u64().unwrap_or(0);
            advice.extend(one["advice"].as_str().map(str::to_owned));
            let keys = ["findings", "notes", "suppressed", "dispatches", "traps", "unexplored"];
            for key in keys.into_iter().chain(["not_implemented"]) {
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
            "devices": devices,
            "advice": if devices == 0 { advice } else { BTreeSet::new() },
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

/// That a program does not start, and what may have been meant.
fn cannot_start(job: &Job) -> String {
    let name = job.command.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let meant = if crate::source::is_shader(&name) {
        format!(" (a shader alone is run by `pellucid exec {name}`)")
    } else if !name.contains('/') && Path::new(&name).is_file() {
        format!(" (is ./{name} meant? A name without a slash is looked for where PATH says)")
    } else {
        String::new()
    };
    format!("cannot start {name}{meant}")
}

/// Runs a program, its streams being ours.
///
/// # Errors
/// It cannot be started.
pub fn one(job: &Job) -> anyhow::Result<Outcome> {
    let mut prepared = prepare(job, &Variation::new(), Reported::Named)?;
    let end = prepared.end;
    let status = child::status(&mut prepared.command, end).with_context(|| cannot_start(job))?;
    prepared.outcome(status)
}

/// A program that runs, for a debugger.
pub struct Started {
    prepared: Prepared,
    /// Its process. It is killed when this one ends.
    pub child: Child,
}

/// Starts a program in a process group of its own, without standard input; `piped`: its output is read from
/// the child.
///
/// # Errors
/// It cannot be started.
pub fn start(job: &Job, piped: bool) -> anyhow::Result<Started> {
    use std::os::unix::process::CommandExt as _;
    let mut prepared = prepare(job, &Variation::new(), Reported::Named)?;
    child::bind(&mut prepared.command, End::Kill);
    prepared.command.stdin(Stdio::null()).process_group(0);
    if piped {
        prepared.command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let child = prepared.command.spawn().with_context(|| cannot_start(job))?;
    Ok(Started { prepared, child })
}

impl Started {
    /// What became of it.
    ///
    /// # Errors
    /// Its totals cannot be read.
    pub fn outcome(&self, status: ExitStatus) -> anyhow::Result<Outcome> {
        self.prepared.outcome(status)
    }

    /// The folder that goes with the run.
    pub fn folder(&self) -> &Path {
        self.prepared.folder.path()
    }
}

/// The total line of an outcome.
pub fn total(outcome: &Outcome) -> String {
    let stuck = outcome.total["stuck"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut line: String = stuck.map(|text| format!("{text}\n")).collect();
    line.push_str(&format!("pellucid: {}", total_line(&outcome.total)));
    if outcome.total["processes"].as_u64() == Some(0) {
        line.push_str(" (the program did not use this driver)");
        if outcome.status != 0 {
            line.push_str(
                "\npellucid: if it asked for a VkInstance, the Vulkan loader refused it: VK_LOADER_DEBUG=error \
                 says why; --surfaces pretend shows the extensions of windows, which some programs ask for",
            );
        }
    }
    for advice in outcome.total["advice"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        line.push_str(&format!("\npellucid: {advice}"));
    }
    line
}

/// A run whose streams were kept.
pub struct Run {
    /// What it printed.
    pub output: Output,
    /// What became of it.
    pub outcome: Outcome,
    /// The program's own exit status.
    pub own_status: u8,
    /// Its report file.
    pub report: String,
}

/// Runs a program with these options instead of its own, and keeps what it prints and reports.
///
/// # Errors
/// It cannot be started.
pub fn kept(job: &Job, varied: &Variation, reported: Reported) -> anyhow::Result<Run> {
    let mut prepared = prepare(job, varied, reported)?;
    child::bind(&mut prepared.command, prepared.end);
    let output = prepared.command.stdin(Stdio::null()).output().with_context(|| cannot_start(job))?;
    let outcome = prepared.outcome(output.status)?;
    let report = prepared.report.as_deref().map(std::fs::read_to_string).transpose()?.unwrap_or_default();
    Ok(Run { own_status: prepared.own_status(output.status, &outcome.total), output, outcome, report })
}

/// Does `work` for every number of a range, as many at a time as there are cores, and hands the results to
/// `each` in ascending order, until that breaks: what it sees does not depend on the cores.
///
/// # Errors
/// The first of `each`.
pub fn in_order<T: Send>(
    range: Range<u64>,
    work: impl Fn(u64) -> T + Sync,
    each: impl FnMut(u64, T) -> anyhow::Result<ControlFlow<()>> + Send,
) -> anyhow::Result<()> {
    struct Waiting<T, F> {
        results: BTreeMap<u64, T>,
        next: u64,
        each: F,
        ended: Option<anyhow::Result<()>>,
    }
    let next = AtomicU64::new(range.start);
    let following = |number: u64| number.checked_add(1).filter(|_| number < range.end);
    let state = Mutex::new(Waiting { results: BTreeMap::new(), next: range.start, each, ended: None });
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.min(usize::try_from(range.end - range.start).unwrap_or(usize::MAX));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Ok(number) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, following) {
                    let result = work(number);
                    let Ok(mut state) = state.lock() else { break };
                    let Waiting { results, next, each, ended } = &mut *state;
                    results.insert(number, result);
                    while let Some(result) = results.remove(next).filter(|_| ended.is_none()) {
                        match each(*next, result) {
                            Ok(ControlFlow::Continue(())) => *next += 1,
                            Ok(ControlFlow::Break(())) => *ended = Some(Ok(())),
                            Err(error) => *ended = Some(Err(error)),
                        }
                    }
                    if ended.is_some() {
                        break;
                    }
                }
            });
        }
    });
    let state = state.into_inner().map_err(|_| anyhow::anyhow!("a worker failed"))?;
    state.ended.unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_files_of_many_seeds_have_names_of_their_own() {
        assert_eq!(with_part(Path::new("a/r.json"), "7"), Path::new("a/r.7.json"));
        assert_eq!(with_part(Path::new("report"), "7"), Path::new("report.7"));
    }
}
