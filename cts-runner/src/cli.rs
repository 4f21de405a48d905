//! The command line.

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

const EXIT_STATUSES: &str = "Exit status:
  0  every result is as expected
  1  a regression: a result is worse than expected (page --check: the page is out of date)
  2  the runner could not do its work: usage, files, shards that do not fit, a suite that does not start
  3  nothing is worse than expected and something is better: update the baseline";

/// Drives a VK-GL-CTS binary over lists of cases and compares the results with what is expected.
#[derive(Debug, Parser)]
#[command(name = "pellucid-cts-runner", version, about, after_help = EXIT_STATUSES, args_override_self = true)]
pub struct Cli {
    /// The subcommand, with its options.
    #[command(subcommand)]
    pub command: Command,
}

/// Subcommands: a run, and what is made of its results.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run cases.
    Run(Box<RunArgs>),
    /// Print the names of the cases that a run would take, one a line.
    List(ListArgs),
    /// Put the results of shards together; refuses if a case is missing or there twice.
    Merge(MergeArgs),
    /// Render and judge results again.
    Report(ReportArgs),
    /// Write the record of finished results into the conformance page, between its markers.
    Page(PageArgs),
}

/// Which cases.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cases")]
pub struct SelectArgs {
    /// The suite's binary (deqp-vk).
    #[arg(long, value_name = "BINARY")]
    pub deqp: Option<PathBuf>,
    /// A file of case names, one a line, plain or .xz; may be repeated. Without any, the binary is asked for
    /// its cases.
    #[arg(long = "list", value_name = "FILE", num_args = 1..)]
    pub lists: Vec<PathBuf>,
    /// Only cases that this pattern covers; * stands for any text, ? for one character; may be repeated.
    #[arg(short = 'n', long = "include", value_name = "PATTERN")]
    pub include: Vec<String>,
    /// No case that this pattern covers; may be repeated.
    #[arg(short = 'x', long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Only N of the cases, evenly spread over them.
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// Part k (from 1) of n: k/n; auto: from SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT, or
    /// JOB_COMPLETION_INDEX and JOB_COMPLETIONS, if they are set; none: everything.
    #[arg(long, value_name = "K/N", default_value = "auto")]
    pub shard: String,
}

/// What is expected.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Expectations")]
pub struct ExpectArgs {
    /// Lines of name,status: cases that do not pass, or all; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub baseline: Vec<PathBuf>,
    /// Regular expressions of cases whose failures are no regression; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub flakes: Vec<PathBuf>,
    /// The cases (or patterns) that may be NotSupported: any other one is a regression; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub not_supported: Vec<PathBuf>,
    /// Write a baseline of the results to this file.
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Write the names of the cases that are NotSupported to this file.
    #[arg(long, value_name = "FILE")]
    pub write_not_supported: Option<PathBuf>,
}

/// The options of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Which cases.
    #[command(flatten)]
    pub select: SelectArgs,
    /// The driver's manifest: sets VK_ICD_FILENAMES and VK_DRIVER_FILES.
    #[arg(long, value_name = "MANIFEST", conflicts_with = "library")]
    pub icd: Option<PathBuf>,
    /// The driver's library, opened by the suite without a loader (--deqp-vk-library-path).
    #[arg(long, value_name = "LIBRARY")]
    pub library: Option<PathBuf>,
    /// An option of Pellucid: mode=check sets PELLUCID_MODE; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// Run once for every combination: mode=run,check seed=0..4 (a..b is without b, a..=b with it).
    #[arg(long, value_name = "NAME=VALUES", num_args = 1..)]
    pub matrix: Vec<String>,
    /// Any other variable for the suite's processes; may be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub environment: Vec<String>,
    /// The folder the suite's processes start in [default: the binary's, where its data is].
    #[arg(long, value_name = "FOLDER")]
    pub cwd: Option<PathBuf>,
    /// The results folder. A combination of the matrix and a shard get a folder of their own in it.
    #[arg(long, value_name = "FOLDER")]
    pub results: PathBuf,
    /// What the results are called in reports [default: the names of the lists].
    #[arg(long)]
    pub title: Option<String>,
    /// Go on with the run that was begun in the results folder: run only the cases without a result.
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,
    /// Throw away the results in the results folder.
    #[arg(long)]
    pub overwrite: bool,
    /// The most cases to a process.
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub group_size: usize,
    /// How many processes at a time [default: the number of cores].
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// The longest time for one case, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub timeout: f64,
    /// How often a case that ended badly is tried again; one that then passes is a Flake.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub retries: u32,
    /// Regular expressions of cases not to run; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub skips: Vec<PathBuf>,
    /// What is expected.
    #[command(flatten)]
    pub expect: ExpectArgs,
    /// Where standard error is no terminal, say how far the run is every so many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub progress_interval: f64,
    /// Keep every process's list, log and standard error, not only the logs of the cases that did not pass.
    #[arg(long)]
    pub keep_work: bool,
    /// Let the suite log images and shaders too.
    #[arg(long)]
    pub full_logs: bool,
    /// Arguments for the suite's binary.
    #[arg(last = true)]
    pub arguments: Vec<OsString>,
}

/// The options of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Which cases.
    #[command(flatten)]
    pub select: SelectArgs,
}

/// The options of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The shards' results folders, or folders that hold them.
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// The results folder to make.
    #[arg(long, value_name = "FOLDER")]
    pub into: PathBuf,
    /// What is expected.
    #[command(flatten)]
    pub expect: ExpectArgs,
}

/// The options of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Results folders, or folders that hold them.
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// What is expected.
    #[command(flatten)]
    pub expect: ExpectArgs,
}

/// The options of `page`.
#[derive(Debug, Args)]
pub struct PageArgs {
    /// Results folders of whole runs, or folders that hold them.
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// The Markdown file that gets the results.
    #[arg(long, value_name = "FILE", default_value = "docs/conformance.md")]
    pub page: PathBuf,
    /// Write nothing; exit with 1 if the page would change.
    #[arg(long)]
    pub check: bool,
    /// What is expected.
    #[command(flatten)]
    pub expect: ExpectArgs,
}
