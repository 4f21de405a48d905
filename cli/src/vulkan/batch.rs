//! Some runs of one test in this process: `pellucid litmus-here`, which `pellucid litmus --by vulkan` starts.
//!
//! The driver is told what to do by the environment (seed, policy, report file). After each run the lines
//! that the driver added to its report file say whether it found a race in that run.

use super::device::{Device, Prepared};
use super::layout::Shape;
use super::lower::{Lowered, lower};
use anyhow::{Context as _, anyhow, bail};
use pellucid_memory::litmus::Test;
use pellucid_memory::litmus::program::{Condition, LitmusProgram, Term};
use pellucid_memory::litmus::run;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

/// One batch of runs.
#[derive(clap::Args, Clone, Debug)]
pub struct BatchArgs {
    /// The test
    pub file: PathBuf,
    /// The driver's library
    #[arg(long)]
    pub library: PathBuf,
    /// How many runs
    #[arg(long)]
    pub runs: u64,
    /// Seed of the pauses between instructions
    #[arg(long)]
    pub seed: u64,
    /// Basic blocks instead of single instructions take turns
    #[arg(long)]
    pub coarse: bool,
    /// Threads pause now and then
    #[arg(long)]
    pub stagger: bool,
    /// A device without availability and visibility chains will do
    #[arg(long)]
    pub no_chains: bool,
}

/// A race that the driver found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Race {
    /// The run, from 0.
    pub run: u64,
    /// The finding's id.
    pub id: String,
    /// What that means.
    pub title: String,
    /// The instructions, with their threads.
    pub accesses: Vec<String>,
}

/// Final states that were seen: values of [`LitmusProgram::observables`], how often, and in which run first.
pub type Seen = BTreeMap<Vec<i64>, (u64, u64)>;

/// What became of a batch, as the child prints it and the parent reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The device's name.
    pub device: String,
    /// Runs that came to an end.
    pub runs: u64,
    /// Runs among them whose final state the filter leaves out.
    pub filtered: u64,
    /// Runs among them in which threads passed different control barriers: some thread of the test would wait
    /// for ever.
    pub blocked: u64,
    /// What the others ended with.
    #[serde(with = "listed")]
    pub seen: Seen,
    /// Runs among the others in which a race was found.
    pub racy: u64,
    /// The first race.
    pub race: Option<Race>,
    /// Why the batch ended early: the run after the last one did not end.
    pub lost: Option<String>,
}

/// Runs a batch and prints what became of it as one JSON object.
///
/// # Errors
/// The test cannot be read, the device cannot be used, or the driver reports something that is no race.
pub fn run(args: &BatchArgs) -> anyhow::Result<()> {
    let Test::Herd(program) = run::load(&args.file)? else { bail!("not a program") };
    let device = Device::open(&args.library, !args.no_chains)?;
    let (smallest, largest) = device.subgroup_sizes;
    let shape =
        Shape { smallest, largest: largest.min(32), fine: !args.coarse, stagger: args.stagger, alone: false };
    let lowered = match lower(&program, shape) {
        Ok(lowered) => lowered,
        Err(refused) => {
            println!("{}", json!({ "refused": refused.0 }));
            return Ok(());
        }
    };
    let prepared = device.prepare(&lowered, program.threads.len(), program.initial.len())?;
    let mut batch = Batch { device: device.name.clone(), ..Batch::default() };
    let mut report = Report::open(&lowered)?;
    for run in 0..args.runs {
        if let Err(error) = one(&program, &prepared, &lowered, args.seed, run, &mut report, &mut batch) {
            if !report.lost {
                return Err(error);
            }
            batch.lost = Some(format!("{error:#}"));
            break;
        }
    }
    println!("{}", serde_json::to_string(&batch)?);
    if batch.lost.is_some() {
        // A lost device may have work that never ends: nothing waits for it.
        std::process::exit(0);
    }
    Ok(())
}

fn one(
    program: &LitmusProgram,
    prepared: &Prepared<'_>,
    lowered: &Lowered,
    seed: u64,
    run: u64,
    report: &mut Report<'_>,
    batch: &mut Batch,
) -> anyhow::Result<()> {
    let salt = (seed ^ run).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32) as u32;
    let end = prepared.run(&program.initial, salt).inspect_err(|_| report.lost = true)?;
    let race = report.race_of(run)?;
    batch.runs += 1;
    if report.blocked || !lowered.barriers_agree(&end.results) {
        report.blocked = false;
        batch.blocked += 1;
        return Ok(());
    }
    let value = |of: Term| match of {
        Term::Constant(value) => Some(value),
        Term::Register(thread, register) => {
            end.results.get(thread * lowered.words_per_thread() + register).copied().map(signed)
        }
        Term::Memory(location) => end.memory.get(location as usize).copied().map(signed),
    };
    let holds = |condition: &Condition| condition.evaluate(&value) == Some(true);
    if program.filter.as_ref().is_some_and(|filter| !holds(filter)) {
        batch.filtered += 1;
        return Ok(());
    }
    let state = program.observables().into_iter().map(|of| value(of).unwrap_or(0)).collect();
    batch.seen.entry(state).or_insert((0, run)).0 += 1;
    if let Some(race) = race {
        batch.racy += 1;
        batch.race.get_or_insert(race);
    }
    Ok(())
}

fn signed(word: u32) -> i64 {
    i64::from(word.cast_signed())
}

/// The driver's report file, if it writes one.
struct Report<'a> {
    lowered: &'a Lowered,
    file: Option<File>,
    /// The end of what was read: a line whose end is not there yet.
    rest: String,
    /// By number.
    races: BTreeMap<u64, Race>,
    /// The present run has threads that waited for ever.
    blocked: bool,
    lost: bool,
}

impl<'a> Report<'a> {
    fn open(lowered: &'a Lowered) -> anyhow::Result<Report<'a>> {
        let open = |path: OsString| File::open(&path).with_context(|| path.display().to_string());
        let file = std::env::var_os("PELLUCID_REPORT").map(open).transpose()?;
        Ok(Report { lowered, file, rest: String::new(), races: BTreeMap::new(), blocked: false, lost: false })
    }

    /// The first race among the lines that are new.
    fn race_of(&mut self, run: u64) -> anyhow::Result<Option<Race>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        file.read_to_string(&mut self.rest)?;
        let mut found = None;
        while let Some((line, rest)) = self.rest.split_once('\n') {
            let line: Value = serde_json::from_str(line).context("the driver's report")?;
            self.rest = rest.to_owned();
            let number = line["number"].as_u64().unwrap_or(0);
            match line["type"].as_str() {
                Some("finding") => match line["family"].as_str() {
                    Some("race" | "hazard") => {
                        let race = self.race(run, &line);
                        self.races.insert(number, race);
                    }
                    _ if matches!(line["id"].as_str(), Some("barrier-divergence" | "livelock")) => {
                        self.blocked = true;
                    }
                    _ => bail!("the driver reports of the lowered test: {}", line["text"]),
                },
                Some("not-implemented") => return Err(anyhow!("{}", line["message"])),
                Some("occurrence") => {}
                _ => continue,
            }
            match self.races.get(&number) {
                Some(race) => {
                    found.get_or_insert(Race { run, ..race.clone() });
                }
                None => self.blocked = true,
            }
        }
        Ok(found)
    }

    fn race(&self, run: u64, line: &Value) -> Race {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let sides = line["accesses"].as_array().or_else(|| line["commands"].as_array());
        let accesses = sides
            .into_iter()
            .flatten()
            .map(|side| {
                let at = side["location"].as_str().and_then(|location| location.rsplit(':').nth(1));
                let at = side["source"]["line"].as_u64().or_else(|| at.and_then(|at| at.parse().ok()));
                let known = at.and_then(|at| self.lowered.lines.line(u32::try_from(at).ok()?));
                known.map_or_else(|| text(&side["title"]), str::to_owned)
            })
            .collect();
        Race { run, id: text(&line["id"]), title: text(&line["title"]), accesses }
    }
}

/// [`Seen`] as data: a list of states, each with how often and in which run first.
mod listed {
    use super::Seen;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(seen: &Seen, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(seen)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Seen, D::Error> {
        Vec::deserialize(from).map(|list| list.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_survives_the_way_to_the_parent() {
        let batch = Batch {
            device: "a device".to_owned(),
            runs: 9,
            filtered: 2,
            blocked: 1,
            seen: [(vec![-1, 2], (5, 0)), (vec![], (1, 3))].into_iter().collect(),
            racy: 2,
            race: Some(Race {
                run: 3,
                id: "race-private".to_owned(),
                title: "a race".to_owned(),
                accesses: vec!["P0: st.sc0 x, 1".to_owned()],
            }),
            lost: Some("vkQueueSubmit".to_owned()),
        };
        let told = serde_json::to_string(&batch).unwrap();
        assert_eq!(serde_json::from_str::<Batch>(&told).unwrap(), batch);
        assert!(serde_json::from_value::<Batch>(json!({ "refused": "x" })).is_err());
    }
}
