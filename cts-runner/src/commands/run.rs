//! `run`: every variant of the matrix over this shard's cases.

use super::{Selection, Streams, absolute, conclude, expectations, one_if_written, plain_launch, selection};
use crate::cli::RunArgs;
use crate::error::Error;
use crate::exit;
use crate::journal::{CaseResult, Journal};
use crate::matrix::{Variant, variants};
use crate::pattern::Expressions;
use crate::process::Launch;
use crate::progress::Progress;
use crate::record::{Folder, Report, RunInfo};
use crate::run::{News, Plan, execute};
use crate::select::digest;
use crate::status::Status;
use crate::verdict::Expectations;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The files of a results folder that `--overwrite` removes, and the folders.
const FILES: [&str; 9] = [
    "run.json",
    "cases.txt",
    "journal.jsonl",
    "notes.txt",
    "results.csv",
    "results.json",
    "junit.xml",
    "index.html",
    "summary.txt",
];
const FOLDERS: [&str; 2] = ["logs", "work"];

pub(super) fn run(arguments: &RunArgs, streams: &mut Streams<'_>) -> Result<u8, Error> {
    let variants = variants(&arguments.settings, &arguments.matrix)?;
    one_if_written(&arguments.expect, variants.len())?;
    let expectations = expectations(&arguments.expect)?;
    let skips = Expressions::read(&arguments.skips)?;
    let launch = launch(arguments)?;
    let selection = selection(&arguments.select, Some(&launch))?;
    let mut status = exit::AS_EXPECTED;
    let mut reports = Vec::new();
    for (index, variant) in variants.iter().enumerate() {
        let mut folder = arguments.results.clone();
        if !variant.0.is_empty() {
            folder.push(variant.name());
        }
        folder.extend(selection.shard.folder());
        let one = OneRun {
            arguments,
            expectations: &expectations,
            skips: &skips,
            launch: &launch,
            selection: &selection,
            variant,
            folder: Folder(folder),
            label: label(variant, index, variants.len()),
        };
        let report = one.run(streams)?;
        status = exit::worst(status, report.exit());
        reports.push(report);
    }
    if reports.len() > 1 {
        let text = compare(&reports);
        let name =
            selection.shard.folder().map_or("matrix.txt".to_string(), |shard| format!("matrix-{shard}.txt"));
        let path = arguments.results.join(name);
        fs::write(&path, &text).map_err(Error::io(&path))?;
        streams.say(&text);
    }
    Ok(status)
}

fn label(variant: &Variant, index: usize, count: usize) -> String {
    match (variant.0.is_empty(), count) {
        (true, _) => String::new(),
        (false, 1) => format!("[{}] ", variant.name()),
        (false, _) => format!("[{}/{count} {}] ", index + 1, variant.name()),
    }
}

fn duration(seconds: f64, option: &str) -> Result<Duration, Error> {
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| Error::usage(format!("{option} {seconds}: expected a time greater than 0")))
}

/// How to start the binary, but for the variant's options.
fn launch(arguments: &RunArgs) -> Result<Launch, Error> {
    let binary = arguments.select.deqp.as_deref().ok_or_else(|| Error::usage("which binary? (--deqp)"))?;
    let mut launch = plain_launch(binary)?;
    if let Some(folder) = &arguments.cwd {
        launch.folder = absolute(folder)?;
    }
    launch.timeout = duration(arguments.timeout, "--timeout")?;
    for setting in &arguments.environment {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| Error::usage(format!("--env '{setting}': expected NAME=VALUE")))?;
        launch.environment.push((name.into(), value.into()));
    }
    if let Some(manifest) = &arguments.icd {
        let manifest = absolute(manifest)?;
        for name in ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"] {
            launch.environment.push((name.into(), manifest.clone().into()));
        }
    }
    if let Some(library) = &arguments.library {
        let mut option = OsString::from("--deqp-vk-library-path=");
        option.push(absolute(library)?);
        launch.arguments.push(option);
    }
    if !arguments.full_logs {
        launch.arguments.push("--deqp-log-images=disable".into());
        launch.arguments.push("--deqp-log-shader-sources=disable".into());
    }
    launch.arguments.extend(arguments.arguments.iter().cloned());
    Ok(launch)
}

struct OneRun<'a> {
    arguments: &'a RunArgs,
    expectations: &'a Expectations,
    skips: &'a Expressions,
    launch: &'a Launch,
    selection: &'a Selection,
    variant: &'a Variant,
    folder: Folder,
    label: String,
}

impl OneRun<'_> {
    fn info(&self) -> RunInfo {
        let file_name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let driver = self.arguments.icd.as_ref().or(self.arguments.library.as_ref()).and_then(file_name);
        let stem = |path: &PathBuf| {
            let name = file_name(path).unwrap_or_default();
            name.split('.').next().unwrap_or_default().to_string()
        };
        let select = &self.arguments.select;
        let lists: Vec<String> = select.lists.iter().map(stem).collect();
        let title = if lists.is_empty() { select.include.join(" ") } else { lists.join(" ") };
        RunInfo {
            title: self.arguments.title.clone().unwrap_or(if title.is_empty() {
                "all cases".into()
            } else {
                title
            }),
            variant: self.variant.name(),
            driver: driver.unwrap_or_else(|| "of the system".to_string()),
            shard: self.selection.shard,
            selected: self.selection.all.len(),
            digest: digest(self.selection.all.iter().map(String::as_str)),
        }
    }

    /// Begins the folder, or goes on in it; returns the journal and what it holds.
    fn open(&self) -> Result<(Journal, BTreeMap<String, CaseResult>), Error> {
        let info = self.info();
        let folder = &self.folder;
        if folder.is_begun() && self.arguments.overwrite {
            clear(&folder.0)?;
        }
        if folder.is_begun() {
            let path = folder.0.display();
            if !self.arguments.resume {
                let text = format!(
                    "{path} holds a run already: --resume goes on with it, --overwrite throws it away"
                );
                return Err(Error::usage(text));
            }
            if folder.info()? != info || folder.cases()? != self.selection.part {
                let text = format!("{path} holds another run: other cases, options, driver, title or shard");
                return Err(Error::usage(text));
            }
        } else {
            folder.begin(&info, &self.selection.part)?;
        }
        let (journal, _) = Journal::open(&folder.journal())?;
        Ok((journal, folder.results()?))
    }

    fn run(&self, streams: &mut Streams<'_>) -> Result<Report, Error> {
        let (mut journal, held) = self.open()?;
        let (skipped, cases): (Vec<String>, Vec<String>) = self
            .selection
            .part
            .iter()
            .filter(|name| !held.contains_key(*name))
            .cloned()
            .partition(|name| self.skips.matches(name));
        for name in skipped {
            let message = "named by a skip file".to_string();
            journal.append(&CaseResult { name, status: Status::Skip, micros: 0, tries: 0, message })?;
        }
        let work = absolute(&self.folder.0)?.join("work");
        if work.exists() {
            // Left by a run that was killed; the suite must not find another process's files.
            fs::remove_dir_all(&work).map_err(Error::io(&work))?;
        }
        let mut launch = self.launch.clone();
        let options = self.variant.environment();
        launch.environment.extend(options.into_iter().map(|(name, value)| (name.into(), value.into())));
        let total = self.selection.part.len();
        let plan = Plan {
            launch,
            group_size: self.arguments.group_size,
            jobs: match self.arguments.jobs {
                Some(jobs) => jobs,
                None => std::thread::available_parallelism().map_or(1, usize::from),
            },
            retries: self.arguments.retries,
            retry: &|name, status| self.expectations.worth_a_retry(name, status),
            work: work.clone(),
            logs: self.folder.file("logs"),
            keep: self.arguments.keep_work,
            cases,
        };
        let interval = duration(self.arguments.progress_interval, "--progress-interval")?;
        let held = total - plan.cases.len();
        let mut progress = Progress::new(streams.err, streams.terminal, interval, &self.label, total, held);
        let notes = self.folder.file("notes.txt");
        let outcome = execute(&plan, Duration::from_millis(200), &mut |news| {
            match news {
                News::Result(result) => {
                    journal.append(&result)?;
                    progress.add(&result);
                }
                News::Note(text) => append_line(&notes, &text)?,
                News::Tick => progress.tick(),
            }
            Ok(())
        });
        progress.finish();
        outcome?;
        if !self.arguments.keep_work {
            let _ = fs::remove_dir_all(&work);
        }
        conclude(&self.folder, &self.arguments.expect, self.expectations, streams)
    }
}

fn clear(folder: &Path) -> Result<(), Error> {
    for name in FILES {
        let path = folder.join(name);
        if path.exists() {
            fs::remove_file(&path).map_err(Error::io(&path))?;
        }
    }
    for name in FOLDERS {
        let path = folder.join(name);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(Error::io(&path))?;
        }
    }
    Ok(())
}

fn append_line(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(Error::io(path))?;
    file.write_all(format!("{}\n", text.replace('\n', " ")).as_bytes()).map_err(Error::io(path))
}

/// The variants side by side: their totals, and the cases that do not end alike in all of them.
fn compare(reports: &[Report]) -> String {
    let mut text = String::from("The matrix\n");
    let mut by_case: BTreeMap<&str, Vec<Status>> = BTreeMap::new();
    for report in reports {
        let counts: Vec<String> =
            report.statuses().iter().map(|(status, count)| format!("{count} {status}")).collect();
        text.push_str(&format!("  {}: {}\n", report.info.variant, counts.join(", ")));
        for case in &report.cases {
            by_case.entry(&case.result.name).or_default().push(case.result.status);
        }
    }
    by_case.retain(|_, statuses| statuses.windows(2).any(|pair| pair[0] != pair[1]));
    if by_case.is_empty() {
        text.push_str("Every case ends alike in all of them.\n");
    } else {
        text.push_str(&format!(
            "Cases that do not end alike in all of them, in that order: {}\n",
            by_case.len()
        ));
        for (name, statuses) in by_case {
            let statuses: Vec<&str> = statuses.into_iter().map(Status::name).collect();
            text.push_str(&format!("  {name}: {}\n", statuses.join(", ")));
        }
    }
    text
}
