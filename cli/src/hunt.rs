//! `pellucid hunt`: many runs of a program, each under another seed, policy, staleness and progress model;
//! every distinct finding is printed once, with in how many runs it came and how to see it again. And the
//! same for seeds alone (`pellucid run --seeds`).

use crate::exec::ExecArgs;
use crate::merged::Merged;
use crate::mistaken;
use crate::options::DriverOptions;
use crate::options::Variation;
use crate::page::Page;
use crate::run::{Job, Reported, UNEXPLORED, in_order, kept, with_part};
use anyhow::bail;
use clap::{Args, FromArgMatches as _};
use pellucid_cts_runner::shard::Shard;
use pellucid_memory::history::ValuePolicy;
use pellucid_memory::progress::ProgressModel;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use vulkan_pellucid::config::Mode;

/// What to hunt in, and for how long.
#[derive(Args)]
pub struct HuntArgs {
    /// Of the driver.
    #[command(flatten)]
    pub options: DriverOptions,
    /// Runs at most
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    /// No run starts after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<u64>,
    /// Ends after so many runs in a row that show nothing new: no finding, no outcome, and no pair of
    /// instructions that communicate, a write and a read of another invocation that reads from it; 0 for
    /// never
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub patience: u64,
    /// Progress models that take turns
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',')]
    pub progress_models: Vec<ProgressModel>,
    /// Explores first, with so many executions at most: where a program's only dispatch is explored
    /// completely, there is nothing to hunt for; 0 for not
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub explore: u64,
    /// Every n-th run, from the k-th: k/n; auto: from SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT, or
    /// JOB_COMPLETION_INDEX and JOB_COMPLETIONS, if they are set; none: all runs
    #[arg(long, value_name = "K/N", default_value = "auto")]
    pub shard: String,
    /// An earlier report: what it tells is not told again, and leaves the exit status alone
    #[arg(long, value_name = "FILE")]
    pub baseline: Vec<PathBuf>,
    /// What was found, as a page.
    #[command(flatten)]
    pub page: Page,
    /// The program and its arguments; or a shader (.spv, .spvasm, .comp, ...) and what `pellucid exec` takes
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Steps of one execution of an exploration: what takes more is not small.
const EXPLORED_STEPS: u64 = 1000;

/// What run `k` varies: its seed, and of every eight runs in three the values that loads prefer, in two the
/// staleness. What the user has chosen stays.
fn variation(k: u64, first: u64, given: &DriverOptions, models: &[ProgressModel]) -> Variation {
    let mut varied: Variation = vec![("seed", first.wrapping_add(k).to_string())];
    let mut vary = |name: &'static str, value: &str| {
        // A machine is a choice of values, too.
        let by_machine = name == "values" && given.has("machine");
        if !given.has(name) && !by_machine {
            varied.push((name, value.to_owned()));
        }
    };
    match k % 8 {
        3 => vary("stale-budget", "4"),
        4 => vary("values", "seeded"),
        5 => vary("values", "latest"),
        6 => vary("values", "stale"),
        7 => vary("stale-budget", "512"),
        _ => {}
    }
    if let Some(model) = models.get((k % models.len().max(1) as u64) as usize) {
        vary("progress", &model.to_string());
    }
    varied
}

/// A shader is run by `exec`.
fn job(mut options: DriverOptions, program: &[OsString]) -> anyhow::Result<Job> {
    let first = program.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    options.variables.remove("PELLUCID_REPORT");
    if !crate::source::is_shader(&first) {
        return Ok(Job { options, command: program.to_vec(), shown: None });
    }
    crate::exec::job(options, program.to_vec())
}

/// What may follow a shader that stands for the program: options of hunt do not.
pub fn of_shader() -> clap::Command {
    ExecArgs::augment_args(clap::Command::new("pellucid exec").no_binary_name(true))
}

/// Whether this is a program; or a shader, and `exec` takes what follows it.
///
/// # Errors
/// It is not.
pub fn check(arguments: &HuntArgs) -> anyhow::Result<()> {
    let shader = arguments.program.first().map(|file| file.to_string_lossy());
    if !shader.is_some_and(|file| crate::source::is_shader(&file)) {
        return Ok(mistaken::program(arguments.program.first())?);
    }
    match of_shader().try_get_matches_from(&arguments.program) {
        Err(error) => Err(error.into()),
        // What no run could read.
        Ok(matches) => crate::exec::check(&ExecArgs::from_arg_matches(&matches)?).map(|_| ()),
    }
}

/// `pellucid hunt`: the exit status.
///
/// # Errors
/// The program cannot be started, or a file cannot be read or written.
pub fn hunt(arguments: HuntArgs) -> anyhow::Result<u8> {
    let HuntArgs { mut options, runs, time, patience, progress_models, baseline, program, explore, .. } =
        arguments;
    let HuntArgs { shard, page, .. } = arguments;
    let config = options.resolve()?;
    let page = page.begin()?;
    let shard = Shard::from_option(&shard, &|name| std::env::var(name).ok())?;
    let mut merged = Merged::default();
    merged.shard = (shard != Shard::WHOLE).then_some(shard);
    for path in &baseline {
        merged.know(path)?;
    }
    let job = job(options.clone(), &program)?;
    let progress = std::io::stderr().is_terminal();
    let models = !progress_models.is_empty() || options.has("progress");
    let checks = config.mode == Mode::Check && config.values == ValuePolicy::Varied;
    let explores = explore > 0 && checks && !models;
    let began = Instant::now();
    let complete = explores && {
        let bounds = [("executions", explore), ("steps", EXPLORED_STEPS)];
        let bounds = bounds.into_iter().filter(|(name, _)| !options.has(name));
        let mut varied: Variation = bounds.map(|(name, bound)| (name, bound.to_string())).collect();
        varied.push(("mode", "explore".to_owned()));
        varied.push(("explore-complete", "1".to_owned()));
        varied.extend(time.map(|seconds| ("explore-time", seconds.to_string())));
        if progress {
            let most = if options.has("executions") { config.executions } else { explore };
            eprint!("hunt: explores first, at most {most} executions");
        }
        merged.explore(&kept(&job, &varied, Reported::Temporary)?)
    };
    let (count, index) = (shard.count as u64, shard.index as u64 - 1);
    let mine = if complete { 0 } else { runs.saturating_sub(index).div_ceil(count) };
    let limit = time.map(Duration::from_secs);
    let (mut quiet, mut last) = (0, 0);
    if progress {
        eprint!("\r\x1b[K");
    }
    let late = || limit.is_some_and(|limit| began.elapsed() >= limit);
    in_order(
        0..mine,
        |j| {
            let (first, k) = (j == 0 || !late(), index + j * count);
            first.then(|| {
                let mut varied = variation(k, config.seed, &options, &progress_models);
                varied.push(("communication", "1".to_owned()));
                kept(&job, &varied, Reported::Temporary)
            })
        },
        |j, run| {
            let k = index + j * count;
            if progress {
                eprint!("\r\x1b[K");
            }
            let Some(run) = run.transpose()? else { return Ok(ControlFlow::Break(())) };
            let fresh = merged.add(Some(k), &run);
            (quiet, last) = if fresh { (0, k) } else { (quiet + 1, last) };
            if progress {
                let found = merged.findings.len();
                let findings = if found == 1 { "finding" } else { "findings" };
                eprint!("hunt: {} of {mine} runs, {found} {findings}, last news in run {last}", j + 1);
                std::io::stderr().flush()?;
            }
            let bored = patience > 0 && quiet >= patience;
            Ok(if bored { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        },
    )?;
    if progress {
        eprint!("\r\x1b[K");
    }
    eprintln!("{}", merged.summary("run"));
    if let Some(path) = &config.report {
        match shard.folder() {
            Some(part) => merged.write(&with_part(path, &part))?,
            None => merged.write(path)?,
        }
    }
    if let Some(page) = page {
        merged.write(page.report())?;
        return Ok(page.finish(merged.exit_status(config.exitcode)));
    }
    Ok(merged.exit_status(config.exitcode))
}

/// What to put together.
#[derive(Args)]
pub struct MergeArgs {
    /// Reports of `pellucid hunt`: all shards of one, or some of several
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<PathBuf>,
    /// Write one report with each finding once
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// An earlier report: what it tells is not told again, and leaves the exit status alone
    #[arg(long, value_name = "FILE")]
    pub baseline: Vec<PathBuf>,
    /// Exit status if there are findings [default: 66]
    #[arg(long, value_name = "N")]
    pub exitcode: Option<u8>,
}

/// `pellucid merge`: the exit status.
///
/// # Errors
/// A file cannot be read or written, reports of different programs, a shard that is missing or there twice.
pub fn merge(arguments: &MergeArgs) -> anyhow::Result<u8> {
    let mut merged = Merged::default();
    for path in &arguments.baseline {
        merged.know(path)?;
    }
    let shards = arguments.reports.iter().map(|path| merged.load(path));
    let mut shards = shards.collect::<anyhow::Result<Vec<Option<Shard>>>>()?;
    shards.sort();
    if let Some(Some(Shard { count, .. })) = shards.last().copied() {
        for index in 1..=count {
            let shard = Shard { index, count };
            match shards.iter().filter(|other| **other == Some(shard)).count() {
                1 => {}
                0 => bail!("shard {shard} is missing"),
                _ => bail!("shard {shard} is there twice"),
            }
        }
        if shards.len() != count {
            bail!("reports of different numbers of shards");
        }
    }
    merged.tell_loaded();
    eprintln!("{}", merged.summary("run"));
    if let Some(path) = &arguments.report {
        merged.write(path)?;
    }
    Ok(merged.exit_status(arguments.exitcode))
}

/// Runs a program once for each seed, and prints by ascending seed which ones fail, and of each what no seed
/// before it has shown. What the reports of `baseline` tell is known, and no seed fails by it. The status is
/// that of the first failing seed; without one 67, if a dispatch was not explored completely.
///
/// # Errors
/// It cannot be started, or a report cannot be read.
pub fn seeds(job: &Job, seeds: Range<u64>, baseline: &[PathBuf]) -> anyhow::Result<u8> {
    let count = seeds.end - seeds.start;
    let (mut merged, mut failing) = (Merged::default(), Vec::new());
    let (mut status, mut unexplored) = (0, 0);
    for path in baseline {
        merged.know(path)?;
    }
    in_order(
        seeds.clone(),
        |seed| kept(job, &vec![("seed", seed.to_string())], Reported::OfSeed(seed)),
        |seed, run| {
            let run = run?;
            if run.outcome.failed() && !merged.knows_all(&run) {
                println!("FAILING SEED: {seed}");
                status = if status == 0 { run.outcome.status } else { status };
                failing.push(seed.to_string());
            }
            // Unless a seed fails, what was not explored completely is the worst that there is to say.
            if !run.outcome.failed() && run.outcome.status != 0 {
                unexplored += 1;
            }
            merged.add(Some(seed), &run);
            Ok(ControlFlow::Continue(()))
        },
    )?;
    let (from, to) = (seeds.start, seeds.end);
    if failing.is_empty() && baseline.is_empty() && unexplored == 0 {
        eprintln!("pellucid: seeds {from}..{to}: all {count} clean");
    } else if failing.is_empty() {
        eprintln!("{}", merged.summary("seed"));
        eprintln!("pellucid: seeds {from}..{to}: none of {count} failing");
    } else {
        eprintln!("{}", merged.summary("seed"));
        let failed = failing.len();
        eprintln!("pellucid: seeds {from}..{to}: {failed} of {count} failing: {}", failing.join(", "));
    }
    if unexplored > 0 {
        eprintln!("pellucid: seeds {from}..{to}: {unexplored} of {count} not explored completely");
    }
    Ok(if status == 0 && unexplored > 0 { UNEXPLORED } else { status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_s_choice_is_not_varied() {
        let mut given = DriverOptions::default();
        given.set("values", "latest");
        for k in 0..16 {
            let varied = variation(k, 5, &given, &[]);
            assert_eq!(varied[0], ("seed", (5 + k).to_string()));
            assert!(varied.iter().all(|(name, _)| !matches!(*name, "values" | "progress")), "{varied:?}");
        }
        let mut machine = DriverOptions::default();
        machine.set("machine", "tiled");
        let varies = |k: u64| variation(k, 5, &machine, &[]).iter().any(|(name, _)| *name == "values");
        assert!(!(0..16).any(varies));
        let models = [ProgressModel::Fair, ProgressModel::Obe];
        let of = |k| variation(k, 0, &given, &models).pop();
        assert_eq!(of(1), Some(("progress", "obe".to_owned())));
    }
}
