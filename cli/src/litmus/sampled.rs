//! `pellucid litmus --by vulkan` and `--by explore`: what runs of tests as shaders show.
//!
//! A run can show that a state is reachable or that there is a race; no number of runs shows that there is
//! none, unless they are all executions that there are. So a line's answer is 1 or 0 where a run or an
//! exploration that is complete decides it, and `not-seen(N)` where none of the N runs that count does.
//! Behind the line stands `UNEXPECTED` where a run contradicts what was expected, `FORBIDDEN` where it
//! contradicts the axioms, `UNSEEN` where a run was expected that none was.
//!
//! Exit status: 1 where something was contradicted, or did not work; otherwise 3 where something expected was
//! not seen, or a test has no counterpart in Vulkan; otherwise 0.

use super::{LitmusArgs, Questions, SEED, fail, questions};
use crate::status;
use crate::vulkan::answer::{AgainstAxioms, Answer, Verdict};
use crate::vulkan::explored;
use crate::vulkan::report::SampleReport;
use crate::vulkan::sample::{NoSample, Sample, Sampling, Target, sample};
use anyhow::Context as _;
use parking_lot::Mutex;
use pellucid_memory::explore::Bounds;
use pellucid_memory::litmus::Test;
use pellucid_memory::litmus::expect::Expectation;
use pellucid_memory::litmus::program::LitmusProgram;
use pellucid_memory::litmus::run::{self, By};
use pellucid_memory::machine::Machine;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Runs of a test where their number is not given.
const RUNS: u64 = 1000;

/// Exit status where nothing was contradicted and not all was seen.
const OPEN: u8 = 3;

/// Why a `.test` file is refused.
const EXECUTIONS: &str = "of a .test file (it asserts executions, not programs)";

/// Where runs come from.
enum Source {
    /// Samples of what a driver does, in processes of their own.
    Driver(Sampling),
    /// The memory of check mode, in this process.
    Exploration(Bounds),
}

impl Source {
    fn new(args: &LitmusArgs) -> anyhow::Result<Source> {
        if args.by == By::Explore {
            let usual = Bounds::default();
            return Ok(Source::Exploration(Bounds {
                executions: args.executions.unwrap_or(usual.executions),
                steps: args.steps.unwrap_or(usual.steps),
            }));
        }
        if let Some(name) = args.machine.as_deref().filter(|name| Machine::named(name).is_none()) {
            let text = status::text(name.as_ref())?;
            Machine::parse(&text).with_context(|| name.to_owned())?;
        }
        Ok(Source::Driver(Sampling {
            target: Target::find(args.driver.as_deref())?,
            runs: args.runs.unwrap_or(RUNS),
            seed: args.seed.unwrap_or(SEED),
            chains: args.model == "chains",
            threads: args.workers(),
            machine: args.machine.clone(),
        }))
    }

    /// With one thread for each test.
    fn of_many(self) -> Source {
        match self {
            Source::Driver(sampling) => Source::Driver(Sampling { threads: 1, ..sampling }),
            exploration => exploration,
        }
    }

    fn sample(&self, file: &Path, program: &LitmusProgram, chains: bool) -> Result<Sample, NoSample> {
        match self {
            Source::Driver(sampling) => sample(file, program, &Sampling { chains, ..sampling.clone() }),
            Source::Exploration(bounds) => explored::sample(program, chains, *bounds),
        }
    }

    /// What `tests` tests were run as.
    fn text(&self, tests: usize) -> String {
        match self {
            Source::Driver(sampling) => format!("{tests} samples of {} runs", sampling.runs),
            Source::Exploration(_) => format!("{tests} explorations"),
        }
    }
}

/// Something that is refused by name.
fn refused(args: &LitmusArgs, what: &str) -> String {
    format!("not implemented in Pellucid: litmus --by {} {what}", args.by.name())
}

/// Runs the command.
pub(super) fn run(args: &LitmusArgs) -> ExitCode {
    if let Some(what) = not_for_samples(args) {
        return fail(&refused(args, what));
    }
    let source = match Source::new(args) {
        Ok(source) => source,
        Err(error) => return fail(&format!("{error:#}")),
    };
    match args.paths.as_slice() {
        [file] if args.expect.is_none() && file.is_file() => single(args, file, &source),
        _ => directory(args, source),
    }
}

/// Options that runs of shaders have no answer to.
fn not_for_samples(args: &LitmusArgs) -> Option<&'static str> {
    if args.progress.is_some() {
        Some("of termination: runs that end say nothing about those that do not")
    } else if ["dot", "svg"].contains(&args.format.as_str()) {
        Some("as a graph: a run shows its final state, not its execution")
    } else if !args.relation.is_empty() {
        Some("with --relation: a run shows its final state, not its execution")
    } else if args.chain_rule != "specification" {
        Some("with --chain-rule alloy: the driver has the specification's rule")
    } else if args.read_modify_write.as_deref().is_some_and(|name| name != "halves") {
        Some("with --read-modify-write literal: the driver orders them by halves")
    } else {
        None
    }
}

fn single(args: &LitmusArgs, file: &Path, source: &Source) -> ExitCode {
    let program = match run::load(file) {
        Ok(Test::Herd(program)) => program,
        Ok(Test::Khronos(_)) => {
            return fail(&format!("{}: {}", file.display(), refused(args, EXECUTIONS)));
        }
        Err(error) => return fail(&error),
    };
    let seen = match source.sample(file, &program, args.model == "chains") {
        Ok(seen) => seen,
        Err(NoSample::Refused(what)) => {
            return fail(&format!("{}: {}", file.display(), refused(args, &what.0)));
        }
        Err(error) => {
            eprintln!("pellucid: {}: {error}", file.display());
            return ExitCode::FAILURE;
        }
    };
    let report = SampleReport::new(&file.display().to_string(), &program, &args.settings(), &seen);
    match args.format.as_str() {
        "json" => println!("{:#}", report.json()),
        _ => print!("{}", report.text()),
    }
    if report.contradicts() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What there is about one test under one model.
type Sampled = Result<(Sample, AgainstAxioms), NoSample>;

fn directory(args: &LitmusArgs, source: Source) -> ExitCode {
    let start = Instant::now();
    let Questions { tests, rows } = match questions(args) {
        Ok(questions) => questions,
        Err(error) => return fail(&error),
    };
    let mut jobs: BTreeMap<(&Path, bool), &LitmusProgram> = BTreeMap::new();
    for row in &rows {
        if let Some(Ok(Test::Herd(program))) = tests.get(&row.file) {
            jobs.insert((row.file.as_path(), row.chains), program);
        }
    }
    let source = source.of_many();
    let samples = sample_all(args, &jobs, &source);
    let mut total = Total::default();
    for row in &rows {
        let line = match tests.get(&row.file) {
            Some(Ok(Test::Herd(program))) => match samples.get(&(row.file.as_path(), row.chains)) {
                Some((sampled, time)) => Line::of(row, program, sampled, *time),
                None => Line::failed("not sampled"),
            },
            Some(Ok(Test::Khronos(_))) => Line::refused(EXECUTIONS),
            Some(Err(error)) => Line::failed(error),
            None => Line::failed("not loaded"),
        };
        total.add(&line);
        println!("{}", line.text(args, row));
    }
    println!(
        "pellucid: {}, {:.2} s",
        total.text(rows.len(), &source.text(jobs.len())),
        start.elapsed().as_secs_f64()
    );
    total.status()
}

fn sample_all<'a>(
    args: &LitmusArgs,
    jobs: &BTreeMap<(&'a Path, bool), &LitmusProgram>,
    source: &Source,
) -> BTreeMap<(&'a Path, bool), (Sampled, Duration)> {
    let list: Vec<_> = jobs.iter().collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..args.workers().min(list.len().max(1)) {
            scope.spawn(|| {
                while let Some(&(&(file, chains), program)) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let mut settings = args.settings();
                    settings.options.chains = chains;
                    let sampled = source.sample(file, program, chains).map(|seen| {
                        let axioms = AgainstAxioms::new(program, &settings, &seen);
                        (seen, axioms)
                    });
                    let mut done = done.lock();
                    done.insert((file, chains), (sampled, start.elapsed()));
                }
            });
        }
    });
    done.into_inner()
}

/// What a line says.
enum Got {
    Answer { answer: Answer, verdict: Verdict, forbidden: bool },
    Refused(String),
    Failed(String),
}

struct Line {
    got: Got,
    time: Duration,
}

impl Line {
    fn of(row: &Expectation, program: &LitmusProgram, sampled: &Sampled, time: Duration) -> Line {
        let got = match sampled {
            Ok((seen, axioms)) => match Answer::new(program, row.property, seen) {
                Ok(answer) => {
                    let verdict = Verdict::of(answer, row.expected);
                    let forbidden = match row.property {
                        run::Property::RaceFree => axioms.false_race,
                        _ => !axioms.forbidden.is_empty(),
                    };
                    Got::Answer { answer, verdict, forbidden }
                }
                Err(why) => Got::Refused(why),
            },
            Err(NoSample::Refused(refused)) => Got::Refused(refused.0.clone()),
            Err(NoSample::Failed(why)) => Got::Failed(why.clone()),
        };
        Line { got, time }
    }

    fn refused(why: &str) -> Line {
        Line { got: Got::Refused(why.to_owned()), time: Duration::ZERO }
    }

    fn failed(why: &str) -> Line {
        Line { got: Got::Failed(why.to_owned()), time: Duration::ZERO }
    }

    /// `file property model expected got ms`, and what is to be noticed.
    fn text(&self, args: &LitmusArgs, row: &Expectation) -> String {
        let bit = |answer: bool| if answer { "1" } else { "0" };
        let (got, mark) = match &self.got {
            Got::Answer { answer, verdict, forbidden } => {
                let got = match answer {
                    Answer::Seen { holds, .. } | Answer::Exhausted { holds, .. } => bit(*holds).to_owned(),
                    Answer::NotSeen { runs, .. } => format!("not-seen({runs})"),
                };
                let mark = match (verdict, forbidden) {
                    (_, true) => " FORBIDDEN",
                    (Verdict::Contradicted, _) => " UNEXPECTED",
                    (Verdict::Unseen, _) => " UNSEEN",
                    _ => "",
                };
                (got, mark)
            }
            Got::Refused(why) => (format!("refused({})", refused(args, why)), ""),
            Got::Failed(why) => (format!("error({why})"), " UNEXPECTED"),
        };
        format!(
            "{} {} {} {} {got} {:.1}{mark}",
            row.file.file_name().unwrap_or_default().to_string_lossy(),
            row.property,
            if row.chains { "chains" } else { "nochains" },
            row.expected.map_or("-", bit),
            self.time.as_secs_f64() * 1e3
        )
    }
}

/// The lines, counted.
#[derive(Default)]
struct Total {
    shown: usize,
    not_refuted: usize,
    unseen: usize,
    refused: usize,
    contradicted: usize,
    failed: usize,
}

impl Total {
    fn add(&mut self, line: &Line) {
        let slot = match &line.got {
            Got::Answer { forbidden: true, .. } => &mut self.contradicted,
            Got::Answer { verdict, .. } => match verdict {
                Verdict::Shown => &mut self.shown,
                Verdict::NotRefuted | Verdict::Open => &mut self.not_refuted,
                Verdict::Unseen => &mut self.unseen,
                Verdict::Contradicted => &mut self.contradicted,
            },
            Got::Refused(_) => &mut self.refused,
            Got::Failed(_) => &mut self.failed,
        };
        *slot += 1;
    }

    fn text(&self, answers: usize, runs: &str) -> String {
        format!(
            "{answers} answers from {runs}: {} shown, {} without a run against them, {} expected and not seen, {} refused, {} contradicted, {} failed",
            self.shown, self.not_refuted, self.unseen, self.refused, self.contradicted, self.failed
        )
    }

    fn status(&self) -> ExitCode {
        if self.contradicted + self.failed > 0 {
            ExitCode::FAILURE
        } else if self.unseen + self.refused > 0 {
            ExitCode::from(OPEN)
        } else {
            ExitCode::SUCCESS
        }
    }
}
