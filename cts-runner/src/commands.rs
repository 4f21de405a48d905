//! The subcommands but `run`, and what they share.

use crate::cli::{Command, ExpectArgs, ListArgs, MergeArgs, PageArgs, ReportArgs, SelectArgs};
use crate::error::Error;
use crate::exit;
use crate::merge;
use crate::pattern::Wildcard;
use crate::process::Launch;
use crate::record::{Folder, Report};
use crate::report;
use crate::select::{self, Filter};
use crate::shard::Shard;
use crate::verdict::{Expectations, Sources};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

mod run;

/// Where a command writes: its answer, and its progress.
pub struct Streams<'a> {
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error.
    pub err: &'a mut dyn Write,
    /// Whether `err` is a terminal.
    pub terminal: bool,
}

impl Streams<'_> {
    fn say(&mut self, text: &str) {
        // A reader that went away is no reason to stop a run.
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
    }
}

/// Does what the command line asks; returns the exit status.
///
/// # Errors
/// Whatever keeps the command from its work: exit status [`exit::INFRASTRUCTURE`].
pub fn execute(command: Command, streams: &mut Streams<'_>) -> Result<u8, Error> {
    match command {
        Command::Run(arguments) => run::run(&arguments, streams),
        Command::List(arguments) => list(&arguments, streams),
        Command::Merge(arguments) => merge(&arguments, streams),
        Command::Report(arguments) => report(&arguments, streams),
        Command::Page(arguments) => page(&arguments, streams),
    }
}

/// A selection of cases: all of them, and the part that is this shard's.
struct Selection {
    all: Vec<String>,
    shard: Shard,
    part: Vec<String>,
}

fn selection(arguments: &SelectArgs, launch: Option<&Launch>) -> Result<Selection, Error> {
    let filter = Filter {
        include: Wildcard::list(&arguments.include),
        exclude: Wildcard::list(&arguments.exclude),
        sample: arguments.sample,
    };
    let mut names = Vec::new();
    if arguments.lists.is_empty() {
        let launch =
            launch.ok_or_else(|| Error::usage("give a case list (--list) or the suite's binary (--deqp)"))?;
        if filter.include.is_empty() {
            names = launch.list("*")?;
        }
        for pattern in &filter.include {
            names.extend(launch.list(pattern.as_str())?);
        }
    }
    for path in &arguments.lists {
        names.extend(select::read_list(path)?);
    }
    let all = select::select(names, &filter)?;
    let shard = Shard::from_option(&arguments.shard, &|name| std::env::var(name).ok())?;
    let part = shard.part(&all);
    Ok(Selection { all, shard, part })
}

/// A launch of the binary as it is, for asking it for its cases.
fn plain_launch(binary: &Path) -> Result<Launch, Error> {
    let binary = absolute(binary)?;
    let folder = binary.parent().unwrap_or(Path::new("/")).to_path_buf();
    Ok(Launch { binary, folder, environment: Vec::new(), arguments: Vec::new(), timeout: Duration::MAX })
}

/// The path as processes with another current folder see it.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(Error::io(path))
}

fn list(arguments: &ListArgs, streams: &mut Streams<'_>) -> Result<u8, Error> {
    let launch = arguments.select.deqp.as_deref().map(plain_launch).transpose()?;
    let selection = selection(&arguments.select, launch.as_ref())?;
    for name in &selection.part {
        streams.say(&format!("{name}\n"));
    }
    Ok(exit::AS_EXPECTED)
}

fn expectations(arguments: &ExpectArgs) -> Result<Expectations, Error> {
    Expectations::read(&Sources {
        baselines: arguments.baseline.clone(),
        flakes: arguments.flakes.clone(),
        not_supported: arguments.not_supported.clone(),
    })
}

/// Judges a folder, writes its reports and, where asked, expectations; says the summary; returns the report.
fn conclude(
    folder: &Folder,
    arguments: &ExpectArgs,
    expectations: &Expectations,
    streams: &mut Streams<'_>,
) -> Result<Report, Error> {
    let report = folder.report(expectations)?;
    report::write_all(&report, folder)?;
    if let Some(path) = &arguments.write_baseline {
        let reason = |name: &str| expectations.of(name).map(|expected| expected.reason.clone());
        fs::write(path, report::baseline(&report, &reason)).map_err(Error::io(path))?;
    }
    if let Some(path) = &arguments.write_not_supported {
        fs::write(path, report::not_supported(&report)).map_err(Error::io(path))?;
    }
    streams.say(&report::text::render(&report));
    Ok(report)
}

/// Expectations are written from one results folder: of several, which one?
fn one_if_written(arguments: &ExpectArgs, count: usize) -> Result<(), Error> {
    if count > 1 && (arguments.write_baseline.is_some() || arguments.write_not_supported.is_some()) {
        return Err(Error::usage(format!(
            "expectations are written from one results folder, and there are {count}"
        )));
    }
    Ok(())
}

fn conclude_all(folders: &[Folder], arguments: &ExpectArgs, streams: &mut Streams<'_>) -> Result<u8, Error> {
    one_if_written(arguments, folders.len())?;
    let expectations = expectations(arguments)?;
    let mut status = exit::AS_EXPECTED;
    for folder in folders {
        status = exit::worst(status, conclude(folder, arguments, &expectations, streams)?.exit());
    }
    Ok(status)
}

fn merge(arguments: &MergeArgs, streams: &mut Streams<'_>) -> Result<u8, Error> {
    let folders = merge::find(&arguments.folders)?;
    let made = merge::merge(&folders, &arguments.into)?;
    conclude_all(&made, &arguments.expect, streams)
}

fn found(roots: &[PathBuf]) -> Result<Vec<Folder>, Error> {
    let folders = merge::find(roots)?;
    if folders.is_empty() {
        return Err(Error::usage("no results folder found (one has a run.json)"));
    }
    Ok(folders)
}

fn report(arguments: &ReportArgs, streams: &mut Streams<'_>) -> Result<u8, Error> {
    conclude_all(&found(&arguments.folders)?, &arguments.expect, streams)
}

fn page(arguments: &PageArgs, streams: &mut Streams<'_>) -> Result<u8, Error> {
    let expectations = expectations(&arguments.expect)?;
    let before = fs::read_to_string(&arguments.page).map_err(Error::io(&arguments.page))?;
    let mut text = before.clone();
    for folder in found(&arguments.folders)? {
        text = report::page::update(&text, &folder.report(&expectations)?, &expectations)?;
    }
    if text == before {
        streams.say(&format!("{} is up to date\n", arguments.page.display()));
        return Ok(exit::AS_EXPECTED);
    }
    if arguments.check {
        streams.say(&format!("{} is out of date\n", arguments.page.display()));
        return Ok(exit::REGRESSION);
    }
    fs::write(&arguments.page, text).map_err(Error::io(&arguments.page))?;
    streams.say(&format!("{} written\n", arguments.page.display()));
    Ok(exit::AS_EXPECTED)
}
