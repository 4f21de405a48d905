//! All runs of a test, in batches: each a process of its own, with a seed, a value policy and a granularity
//! of its own.
//!
//! What a sample holds depends on the test, the driver, the seed and the number of runs; not on how many
//! batches run at a time.

use super::Refused;
use super::batch::{Batch, Race, Seen};
use crate::child::{self, End};
use crate::driver;
use crate::status;
use anyhow::Context as _;
use pellucid_memory::litmus::program::LitmusProgram;
use pellucid_memory::random;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs of a batch, at most.
const BATCH: u64 = 250;

/// Batches that may end early before a test is given up.
const LOST: u32 = 4;

/// Whose driver runs the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Pellucid's own, in check mode.
    Pellucid(PathBuf),
    /// Another one: outcomes only.
    Other(PathBuf),
}

impl Target {
    /// Pellucid's driver as `pellucid run` finds it, or the one that a manifest (`.json`) or a path to a
    /// library names.
    ///
    /// # Errors
    /// It is not there, or the manifest names no library.
    pub fn find(given: Option<&Path>) -> anyhow::Result<Target> {
        let Some(path) = given else { return Ok(Target::Pellucid(driver::library()?)) };
        if path.extension().is_none_or(|end| end != "json") {
            anyhow::ensure!(path.is_file(), "{}: no such file", path.display());
            return Ok(Target::Other(path.canonicalize()?));
        }
        let text = status::text(path)?;
        let manifest: Value = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        let library = manifest["ICD"]["library_path"]
            .as_str()
            .with_context(|| format!("{}: no library_path in ICD", path.display()))?;
        // The loader's rule: a bare name is looked for where libraries are, a relative path beside the
        // manifest.
        let beside = path.parent().unwrap_or(Path::new(".")).join(library);
        Ok(Target::Other(if library.contains('/') { beside } else { PathBuf::from(library) }))
    }

    fn library(&self) -> &Path {
        let (Target::Pellucid(library) | Target::Other(library)) = self;
        library
    }

    /// Whether it tells races.
    pub fn tells_races(&self) -> bool {
        matches!(self, Target::Pellucid(_))
    }
}

/// How to sample.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Whose driver.
    pub target: Target,
    /// How many runs.
    pub runs: u64,
    /// The seed of all of them.
    pub seed: u64,
    /// Whether the device is to have availability and visibility chains.
    pub chains: bool,
    /// Batches at a time.
    pub threads: usize,
    /// The machine whose caches values come from, in place of the policies that take turns.
    pub machine: Option<String>,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The device's name.
    pub device: String,
    /// What decided the schedules of all runs.
    pub seed: u64,
    /// The machine whose caches values came from.
    pub machine: Option<String>,
    /// Runs that were asked for.
    pub asked: u64,
    /// Runs that came to an end.
    pub runs: u64,
    /// Runs among them whose final state the filter leaves out.
    pub filtered: u64,
    /// Runs among them in which some thread of the test would wait for ever at a control barrier.
    pub blocked: u64,
    /// Final states of the others: how often, and the run in which they were first seen.
    pub seen: Seen,
    /// Runs among the others with a race; `None` where the driver does not tell.
    pub racy: Option<u64>,
    /// The first race.
    pub race: Option<Race>,
    /// Why there are fewer runs than were asked for; of an exploration, which bounds it hit.
    pub stopped: Option<String>,
    /// The runs have every final state of an execution in program order.
    pub all_states: bool,
    /// The runs have a race if any execution in program order has.
    pub all_races: bool,
}

impl Sample {
    /// Runs that count: they ended, and the filter keeps them.
    pub fn counted(&self) -> u64 {
        self.runs - self.filtered - self.blocked
    }
}

/// Why there is no sample.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSample {
    /// The test has no counterpart in Vulkan.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It did not work.
    #[error("{0}")]
    Failed(String),
}

/// Samples a test.
///
/// # Errors
/// The test cannot be lowered, or a batch did not do its work.
pub fn sample(file: &Path, program: &LitmusProgram, how: &Sampling) -> Result<Sample, NoSample> {
    let mut sample = Sample {
        seed: how.seed,
        machine: how.machine.clone(),
        asked: how.runs,
        racy: how.target.tells_races().then_some(0),
        ..Sample::default()
    };
    let size = how.runs.div_ceil(4).clamp(1, BATCH);
    let mut batches = (0..how.runs.div_ceil(size))
        .map(|number| (number, number * size, size.min(how.runs - number * size)))
        .peekable();
    let mut lost = 0;
    while batches.peek().is_some() {
        let wave: Vec<(u64, u64, u64)> = batches.by_ref().take(how.threads.max(1)).collect();
        let done: Vec<Result<Batch, NoSample>> = std::thread::scope(|scope| {
            let start =
                |&(number, _, runs): &(u64, u64, u64)| scope.spawn(move || batch(file, how, number, runs));
            let started: Vec<_> = wave.iter().map(start).collect();
            let failed = || NoSample::Failed("a thread of the command failed".to_owned());
            started.into_iter().map(|one| one.join().unwrap_or_else(|_| Err(failed()))).collect()
        });
        for (done, &(_, first, _)) in done.into_iter().zip(&wave) {
            let done = done?;
            if done.lost.is_some() {
                lost += 1;
            }
            let why = done.lost.clone();
            add(&mut sample, done, first);
            if lost == LOST {
                sample.stopped = why;
                return Ok(sample);
            }
        }
    }
    if sample.runs < sample.asked {
        sample.stopped = Some(format!("some runs of {} did not end", program.name));
    }
    Ok(sample)
}

fn add(sample: &mut Sample, batch: Batch, first: u64) {
    sample.device = batch.device;
    sample.runs += batch.runs;
    sample.filtered += batch.filtered;
    sample.blocked += batch.blocked;
    for (state, (runs, run)) in batch.seen {
        sample.seen.entry(state).or_insert((0, first + run)).0 += runs;
    }
    if let Some(racy) = &mut sample.racy {
        *racy += batch.racy;
    }
    if sample.race.is_none() {
        sample.race = batch.race.map(|race| Race { run: first + race.run, ..race });
    }
}

/// Runs one batch in a process of its own.
fn batch(file: &Path, how: &Sampling, number: u64, runs: u64) -> Result<Batch, NoSample> {
    let failed = |error: &dyn std::fmt::Display| NoSample::Failed(error.to_string());
    let seed = random::nth(how.seed, number);
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let executable = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(executable);
    command.arg("litmus-here").arg(file).arg("--library").arg(how.target.library());
    command.args(["--runs", &runs.to_string(), "--seed", &seed.to_string()]);
    if !how.chains {
        command.arg("--no-chains");
    }
    if number / 2 % 2 == 1 {
        command.arg("--coarse");
    }
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PELLUCID_") {
            command.env_remove(name);
        }
    }
    if how.target.tells_races() {
        let report = folder.path().join("report");
        std::fs::write(&report, "").map_err(|error| failed(&error))?;
        command
            .env("PELLUCID_MODE", "check")
            .env("PELLUCID_SEED", seed.to_string())
            .env("PELLUCID_VALUES", if number.is_multiple_of(2) { "seeded" } else { "stale" })
            .env("PELLUCID_NO_CHAINS", if how.chains { "0" } else { "1" })
            .env("PELLUCID_REPORT", report)
            .env("PELLUCID_OCCURRENCES", "1")
            .env("PELLUCID_MAX_REPORTS", "1")
            .env("PELLUCID_WATCHDOG", "200000")
            .env("PELLUCID_COMMAND", "pellucid litmus --by vulkan");
        if let Some(machine) = &how.machine {
            command.env("PELLUCID_MACHINE", machine).env("PELLUCID_VALUES", "caches");
        }
    } else {
        command.arg("--stagger");
    }
    child::bind(&mut command, End::Kill);
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(&error))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let value: Value = serde_json::from_str(printed.trim()).unwrap_or(Value::Null);
    if let Some(refused) = value["refused"].as_str() {
        return Err(Refused(refused.to_owned()).into());
    }
    serde_json::from_value(value).map_err(|_| {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        let last = last.trim_start_matches("pellucid: ");
        NoSample::Failed(format!("a batch of runs ended with {}: {last}", output.status))
    })
}
