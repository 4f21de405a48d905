//! `pellucid replay`: runs a program as a report's findings were found, and says whether they came again.
//!
//! A report file begins with what decides its findings: options, seed, rules of suppression, and the command
//! line that its texts show. The program runs with exactly these, whatever the environment says, and writes a
//! report of its own; the lines of the findings are compared byte for byte. Each finding of a hunt has the
//! seed and the options of its own run, and each of these runs is made again. A report of `pellucid exec`
//! needs no program: its command line says all, and a shader on the driver can do no harm. The program of any
//! other report has to be named again.

use crate::options::DriverOptions;
use crate::report::Report;
use crate::run::{self, Job};
use anyhow::{Context as _, bail};
use clap::Args;
use pellucid_memory::input;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use vulkan_pellucid::config::find;
use vulkan_pellucid::report::replay::words;

/// The status where a finding did not come again.
const DIFFERS: u8 = 1;

/// Options of a replay: the report, the finding of it, and the program.
#[derive(Args)]
pub struct ReplayArgs {
    /// A file that --report wrote
    file: PathBuf,
    /// Compare this finding only, by its number
    #[arg(long, value_name = "N")]
    finding: Option<u64>,
    /// Keep the report of the replay
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Host threads for shaders, 0 for one per core
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// The program and its arguments; not needed for a report of `pellucid exec`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// What a report asks for, ready to run.
#[derive(Debug)]
pub struct Replay {
    runs: Vec<Again>,
    written_by: String,
    /// Holds the new reports and the rules of suppression.
    folder: tempfile::TempDir,
}

/// A run that is made again, and what it has to show.
#[derive(Debug)]
struct Again {
    job: Job,
    expected: Vec<Line>,
    report: PathBuf,
}

/// A line of a report that tells of a finding or of a lost device.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    text: String,
    value: Value,
}

/// How an expected line came again.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Came {
    Exactly,
    /// Under another number.
    As(u64),
    /// The same kind at the same instructions, with other contents of these fields.
    Differs(Vec<String>),
    No,
}

/// The fields of a finding that say which run it is of, and depend on what else was found, and in which runs.
const BESIDE: [&str; 4] = ["number", "runs", "seed", "options"];

/// Writes into the line of a finding from which run it is: that with this head.
pub fn keep_run(line: &mut Value, head: &Value) {
    for name in ["seed", "options"] {
        line[name] = head[name].clone();
    }
}

/// The head of the run that a finding is of, in a report that begins with `head`.
pub fn head_of(line: &Value, head: &Value) -> Value {
    let mut head = head.clone();
    if line["options"].is_object() {
        keep_run(&mut head, line);
    }
    head
}

/// The findings and traps of a report file's text.
fn lines(text: &str) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for text in text.lines() {
        let value: Value = serde_json::from_str(text)?;
        if matches!(value["type"].as_str(), Some("finding" | "trap")) {
            lines.push(Line { text: text.to_owned(), value });
        }
    }
    Ok(lines)
}

impl Line {
    fn name(&self) -> String {
        match (self.value["number"].as_u64(), self.value["id"].as_str()) {
            (Some(number), Some(id)) => format!("finding {number} ({id})"),
            _ => "the lost device".to_owned(),
        }
    }

    /// What makes two findings the same although their contents differ: the id and where it is.
    fn subject(&self) -> Vec<Value> {
        let sides = ["accesses", "commands"].into_iter().flat_map(|name| self.value[name].as_array());
        let places = sides
            .flatten()
            .flat_map(|side| ["source", "word", "command", "location"].map(|n| side[n].clone()));
        [self.value["type"].clone(), self.value["id"].clone()].into_iter().chain(places).collect()
    }

    /// What is told of the finding itself.
    fn contents(&self) -> Value {
        let mut value = self.value.clone();
        if let Some(object) = value.as_object_mut() {
            object.retain(|name, _| !BESIDE.contains(&name.as_str()));
        }
        value
    }

    fn again(&self, new: &[Line]) -> Came {
        if new.iter().any(|line| line.text == self.text) {
            return Came::Exactly;
        }
        let contents = self.contents();
        if let Some(line) = new.iter().find(|line| line.contents() == contents) {
            let number = &line.value["number"];
            return number
                .as_u64()
                .filter(|_| *number != self.value["number"])
                .map_or(Came::Exactly, Came::As);
        }
        let Some(line) = new.iter().find(|line| line.subject() == self.subject()) else { return Came::No };
        let fields = contents.as_object().into_iter().flatten();
        let differing = fields.filter(|(name, value)| line.value[name.as_str()] != **value);
        Came::Differs(differing.map(|(name, _)| name.clone()).collect())
    }
}

impl Replay {
    /// Reads the report and prepares the program.
    ///
    /// # Errors
    /// The file is no report, there is nothing in it to replay, or a program has to be named.
    pub fn new(arguments: &ReplayArgs) -> anyhow::Result<Replay> {
        let name = arguments.file.display().to_string();
        let (report, text) = Report::read(&arguments.file)?;
        let mut expected = lines(&text)?;
        if let Some(number) = arguments.finding {
            expected.retain(|line| line.value["number"].as_u64() == Some(number));
            if expected.is_empty() {
                bail!("{name}: no finding {number}");
            }
        }
        if expected.is_empty() {
            bail!("{name}: no findings to replay");
        }
        let head = report.of_type("run").next().with_context(|| format!("{name}: no run"))?;
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let recorded = head["command"].as_str().unwrap_or_default();
        let command = match recorded.strip_prefix("pellucid exec ") {
            _ if !arguments.program.is_empty() => arguments.program.clone(),
            Some(rest) => {
                let words = words(rest).with_context(|| format!("{name}: bad command {recorded}"))?;
                let own = [std::env::current_exe()?.into_os_string(), "exec-here".into()];
                own.into_iter().chain(words.into_iter().map(OsString::from)).collect()
            }
            None => bail!(
                "a program has to be named: pellucid replay {name} -- {recorded}",
                recorded = if recorded.is_empty() { "PROGRAM" } else { recorded }
            ),
        };
        let mut heads: Vec<(Value, Vec<Line>)> = Vec::new();
        for line in expected {
            let head = head_of(&line.value, head);
            match heads.iter_mut().find(|(known, _)| *known == head) {
                Some((_, lines)) => lines.push(line),
                None => heads.push((head, vec![line])),
            }
        }
        if heads.len() > 1 && arguments.report.is_some() {
            bail!("{name}: its findings are of {} runs: --report goes with --finding N", heads.len());
        }
        let mut runs = Vec::new();
        for (number, (head, expected)) in heads.into_iter().enumerate() {
            let folder = folder.path().join(number.to_string());
            std::fs::create_dir(&folder)?;
            let report = arguments.report.clone().unwrap_or_else(|| folder.join("report.json"));
            let mut options = restored(&head, &folder).with_context(|| name.clone())?;
            options.set("report", report.to_string_lossy());
            if let Some(threads) = arguments.threads {
                options.set("threads", threads.to_string());
            }
            let job = Job { options, command: command.clone(), shown: Some(recorded.to_owned()) };
            runs.push(Again { job, expected, report });
        }
        let written_by = head["pellucid"].as_str().unwrap_or_default().to_owned();
        Ok(Replay { runs, written_by, folder })
    }

    /// Runs the program and compares. The status is the program's, with findings 66; 1 where a finding did
    /// not come again.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn run(self) -> anyhow::Result<u8> {
        let Replay { runs, written_by, folder } = self;
        let (mut all, mut again, mut status) = (Vec::new(), 0, 0);
        for run in runs {
            let outcome = run::one(&run.job)?;
            eprintln!("{}", run::total(&outcome));
            let text = input::text(&run.report).with_context(|| run.report.display().to_string())?;
            again += run.compared(&lines(&text)?);
            status = if status == 0 { outcome.status } else { status };
            all.extend(run.expected);
        }
        drop(folder);
        if again == all.len() {
            let which = match all.as_slice() {
                [one] => one.name(),
                all => format!("all {} findings", all.len()),
            };
            eprintln!("pellucid: replay: {which} came again, byte for byte");
            return Ok(status);
        }
        eprintln!("pellucid: replay: {again} of {} came again", all.len());
        if written_by != env!("CARGO_PKG_VERSION") {
            eprintln!("pellucid: replay: the report was written by version {written_by}");
        }
        Ok(DIFFERS)
    }
}

impl Again {
    /// Says what did not come again among these lines, or otherwise. How many came.
    fn compared(&self, new: &[Line]) -> usize {
        let mut again = 0;
        for line in &self.expected {
            match line.again(new) {
                Came::Exactly => again += 1,
                Came::As(number) => {
                    again += 1;
                    eprintln!("pellucid: replay: {} came again, as finding {number}", line.name());
                }
                Came::Differs(fields) => {
                    let fields = fields.join(", ");
                    eprintln!("pellucid: replay: {} came again, but differs in: {fields}", line.name());
                }
                Came::No => eprintln!("pellucid: replay: {} did not come again", line.name()),
            }
        }
        again
    }
}

/// The options of a report's run, and nothing of the environment's.
pub fn restored(head: &Value, folder: &Path) -> anyhow::Result<DriverOptions> {
    let mut options = DriverOptions { closed: true, ..DriverOptions::default() };
    options.set("mode", "run");
    options.set("seed", head["seed"].to_string());
    for (name, value) in head["options"].as_object().into_iter().flatten() {
        let Some(spec) = find(name) else { bail!("option {name}: not one of this version's") };
        options.set(spec.name, value.as_str().unwrap_or_default());
    }
    let rules: Vec<&str> =
        head["suppressions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !rules.is_empty() {
        let path = folder.join("suppressions");
        std::fs::write(&path, rules.join("\n") + "\n")?;
        options.set("suppressions", path.to_string_lossy());
    }
    options.resolve()?;
    Ok(options)
}

#[cfg(test)]
mod tests;
