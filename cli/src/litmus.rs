//! `pellucid litmus`: memory-model tests, one at a time or a directory against its expectations.
//!
//! A single file prints what was found (text, JSON, Graphviz or SVG). A directory, or any number of files
//! with `--expect`, prints one line for each answer, `file property model expected got ms`, and a total;
//! the exit status is 0 when all is as expected and 1 otherwise. Tests that run as shaders have the answers
//! and statuses of [`sampled`].

mod picture;
pub mod sampled;

use crate::status;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use pellucid_memory::litmus::Test;
use pellucid_memory::litmus::axioms::Limits;
use pellucid_memory::litmus::expect::{self, Checked, Expectation};
use pellucid_memory::litmus::random::{self, Comparisons};
use pellucid_memory::litmus::report::{Report, Wanted};
use pellucid_memory::litmus::run::{self, By, Property, Settings};
use pellucid_memory::model::{ChainRule, ModelOptions, ReadModifyWrite, RelationName};
use pellucid_memory::progress::ProgressModel;

/// Most threads that decide tests, or processes that run them, at the same time.
const MOST_WORKERS: usize = 256;

/// The seed where none is given.
const SEED: u64 = 1;

/// Decide litmus tests: outcomes, data races, termination
#[derive(clap::Args, Debug)]
pub struct LitmusArgs {
    /// Tests (.litmus, .test) or directories of them
    #[arg(value_name = "FILE|DIR", required_unless_present = "fuzz")]
    paths: Vec<PathBuf>,
    /// Whether the implementation has availability and visibility chains
    #[arg(long, default_value = "chains", value_parser = ["chains", "no-chains", "nochains"])]
    model: String,
    /// Who decides: axioms, machine (store histories and schedules), explore (every execution as a shader on
    /// the memory of check mode) or vulkan (runs on the driver: a sample); the assertions of .test files are
    /// the axioms' business in a directory, and refused by explore and vulkan
    #[arg(long, default_value = "axioms", value_parser = |name: &str| name.parse::<By>())]
    by: By,
    /// Decide termination under this progress model: fair, obe, lobe, hsa, hsa-obe
    #[arg(long, value_name = "MODEL", value_parser = |name: &str| name.parse::<ProgressModel>())]
    progress: Option<ProgressModel>,
    /// Check against a CSV file with the columns file,property,model,expected
    #[arg(long, value_name = "CSV")]
    expect: Option<PathBuf>,
    /// How a single test's report is printed; dot (Graphviz) and svg draw the executions that answers rest on
    #[arg(long, default_value = "text", value_parser = ["text", "json", "dot", "svg"])]
    format: String,
    /// Print this relation of each execution shown, by the specification's name (repeatable)
    #[arg(long, value_name = "NAME", value_parser = |name: &str| name.parse::<RelationName>())]
    relation: Vec<RelationName>,
    /// On what a link of an availability or visibility chain is conditioned
    #[arg(long, default_value = "specification", value_parser = ["specification", "alloy"])]
    chain_rule: String,
    /// How a read-modify-write is ordered [default: literal in .test files, halves in .litmus files]
    #[arg(long, value_parser = ["halves", "literal"])]
    read_modify_write: Option<String>,
    /// How often a loop body is entered
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    unroll: u32,
    /// How many partial executions a search judges before it gives up
    #[arg(long, default_value_t = Limits::default().candidates)]
    max_candidates: u64,
    /// Tests decided at the same time [default: all processors]
    #[arg(long)]
    threads: Option<usize>,
    /// Compare the machine with the axioms on this many random programs
    #[arg(long, value_name = "N", conflicts_with_all = ["expect", "paths"])]
    fuzz: Option<u64>,
    /// The seed of the first random program, or of the runs through Vulkan [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Runs of each test through Vulkan [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// Executions of a test that an exploration starts at most [default: 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    executions: Option<u64>,
    /// Steps of one execution of an exploration at most [default: 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Another driver to run through, a manifest (.json) or a library: outcomes only, no races [default:
    /// Pellucid's]
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
    /// Take the values of runs through Vulkan from the caches of a machine: desktop, tiled, integrated, or a
    /// file that describes one
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "driver")]
    machine: Option<String>,
    /// Events of a random program
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=14), requires = "fuzz")]
    events: u32,
}

impl LitmusArgs {
    fn settings(&self) -> Settings {
        let options = ModelOptions {
            chains: self.model == "chains",
            chain_rule: if self.chain_rule == "alloy" { ChainRule::Alloy } else { ChainRule::Specification },
            ..ModelOptions::default()
        };
        let read_modify_write = self.read_modify_write.as_deref().map(|name| match name {
            "literal" => ReadModifyWrite::Literal,
            _ => ReadModifyWrite::ByHalves,
        });
        let limits = Limits { unroll: self.unroll as usize, candidates: self.max_candidates };
        Settings { options, read_modify_write, limits, by: self.by }
    }

    fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(cores).clamp(1, MOST_WORKERS)
    }
}

/// Runs the command.
#[must_use]
pub fn run(args: &LitmusArgs) -> ExitCode {
    if let Some(programs) = args.fuzz {
        return fuzz(args, programs);
    }
    for (given, option, by) in [
        (args.seed.is_some(), "--seed", By::Vulkan),
        (args.runs.is_some(), "--runs", By::Vulkan),
        (args.driver.is_some(), "--driver", By::Vulkan),
        (args.machine.is_some(), "--machine", By::Vulkan),
        (args.executions.is_some(), "--executions", By::Explore),
        (args.steps.is_some(), "--steps", By::Explore),
    ] {
        if given && args.by != by {
            let or_fuzz = if option == "--seed" { " or --fuzz" } else { "" };
            return fail(&format!("{option} needs --by {}{or_fuzz}", by.name()));
        }
    }
    if let By::Explore | By::Vulkan = args.by {
        return sampled::run(args);
    }
    match args.paths.as_slice() {
        [file] if args.expect.is_none() && file.is_file() => single(args, file),
        _ => directory(args),
    }
}

fn fail(message: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("pellucid: {message}");
    ExitCode::from(status::USAGE)
}

fn single(args: &LitmusArgs, file: &Path) -> ExitCode {
    let test = match run::load(file) {
        Ok(test) => test,
        Err(error) => return fail(&error),
    };
    let wanted = Wanted { progress: args.progress, relations: args.relation.clone() };
    let report = match Report::new(&file.display().to_string(), &test, &args.settings(), &wanted) {
        Ok(report) => report,
        Err(error) => return fail(&format!("{}: {error}", file.display())),
    };
    match args.format.as_str() {
        "json" => match serde_json::to_string_pretty(&report) {
            Ok(json) => println!("{json}"),
            Err(error) => return fail(&error),
        },
        "dot" => print!("{}", report.graph()),
        "svg" => print!("{}", picture::picture(&report)),
        _ => print!("{}", report.text()),
    }
    if report.as_asserted() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a directory, or several files, or expectations ask.
struct Questions {
    tests: BTreeMap<PathBuf, Result<Test, String>>,
    rows: Vec<Expectation>,
}

fn questions(args: &LitmusArgs) -> Result<Questions, String> {
    let mut files = Vec::new();
    for path in &args.paths {
        files.extend(expect::tests_below(path).map_err(|error| error.to_string())?);
    }
    let settings = args.settings();
    let mut rows = Vec::new();
    if let Some(csv) = &args.expect {
        let name = csv.display().to_string();
        let text = status::text(csv).map_err(|error| format!("{error:#}"))?;
        let directory = args.paths.first().map_or(Path::new("."), PathBuf::as_path);
        let found = expect::expectations(&name, &text, directory, &files);
        rows = found.map_err(|error| error.to_string())?;
    }
    for row in &rows {
        if !files.contains(&row.file) {
            files.push(row.file.clone());
        }
    }
    let tests = expect::load_all(&files);
    let mut open = Vec::new();
    if args.expect.is_none() {
        open.extend([Property::Outcome, Property::RaceFree]);
        open.extend(args.progress.map(Property::Terminates));
    }
    let own: Vec<PathBuf> = if args.expect.is_some() {
        files.iter().filter(|file| file.extension().is_some_and(|end| end == "test")).cloned().collect()
    } else {
        files.clone()
    };
    rows.extend(expect::own_expectations(&own, &tests, &open, settings.options.chains));
    Ok(Questions { tests, rows })
}

fn directory(args: &LitmusArgs) -> ExitCode {
    let start = Instant::now();
    let Questions { tests, rows } = match questions(args) {
        Ok(questions) => questions,
        Err(error) => return fail(&error),
    };
    let checked = expect::check(&rows, &tests, &args.settings(), args.workers());
    let mut wrong = 0;
    for line in &checked {
        wrong += usize::from(!line.as_expected());
        println!("{}{}", line.line(), if line.as_expected() { "" } else { " UNEXPECTED" });
    }
    let time = start.elapsed().as_secs_f64();
    let decided = checked.iter().filter(|line: &&Checked| line.got.is_ok()).count();
    println!(
        "pellucid: {} answers from {} files, {decided} decided, {wrong} not as expected, {time:.2} s",
        checked.len(),
        tests.len(),
    );
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn fuzz(args: &LitmusArgs, programs: u64) -> ExitCode {
    let settings = args.settings();
    let limits = Limits { candidates: args.max_candidates.min(200_000), ..settings.limits };
    let workers = args.workers() as u64;
    let first = args.seed.unwrap_or(SEED);
    let start = Instant::now();
    let batch = |worker: u64| {
        let mut all = Comparisons::default();
        for seed in (first..first.saturating_add(programs)).filter(|seed| seed % workers == worker) {
            // Both models, in turn.
            let chains = settings.options.chains && seed % 4 != 0;
            let options = ModelOptions { chains, ..settings.options };
            all.merge(random::compare(seed, args.events as usize, &options, &limits));
        }
        all
    };
    let mut all = Comparisons::default();
    std::thread::scope(|scope| {
        let batch = &batch;
        let spawned: Vec<_> = (0..workers).map(|worker| scope.spawn(move || batch(worker))).collect();
        for worker in spawned {
            if let Ok(found) = worker.join() {
                all.merge(found);
            }
        }
    });
    all.forbidden.sort();
    for (seed, outcome) in &all.forbidden {
        println!("FORBIDDEN outcome {outcome:?} reached by the machine: seed {seed}");
        println!("{}", pellucid_memory::litmus::text::program(&random::program(*seed, args.events as usize)));
    }
    println!("pellucid: {}, {:.1} s", all.line(), start.elapsed().as_secs_f64());
    if all.forbidden.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
