//! What many runs of one program have shown: each distinct finding once, with the runs that had it.

use crate::replay;
use crate::report::Report;
use crate::run::Run;
use crate::status::usage;
use anyhow::{Context as _, anyhow, bail};
use pellucid_cts_runner::shard::Shard;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;

/// What tells findings apart across runs: the kind, and the instructions or commands; not who executed them.
fn identity(line: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |key: &str| line[key].as_array().cloned().unwrap_or_default();
    let place = |access: &Value| {
        let source = &access["source"];
        match source["line"].as_u64() {
            Some(number) => format!("{}:{number} {}", text(&source["file"]), text(&access["kind"])),
            None => format!("{} {} {}", text(&access["function"]), access["word"], text(&access["kind"])),
        }
    };
    let mut sides: Vec<String> = list("accesses").iter().map(place).collect();
    sides
        .extend(list("commands").iter().map(|c| format!("{} {}", text(&c["command"]), text(&c["position"]))));
    sides.sort();
    if sides.is_empty() && line["type"] == "trap" {
        sides.push(text(&line["text"]));
    } else if sides.is_empty() {
        sides.push(text(&line["title"]));
        sides.extend(list("notes").iter().map(text));
    }
    let kind = line["id"].as_str().unwrap_or_else(|| line["type"].as_str().unwrap_or_default());
    format!("{kind} in {}: {}", text(&line["shader"]["entry"]), sides.join(" | "))
}

/// The lines of a report that tell of something wrong.
fn findings(report: &str) -> impl Iterator<Item = Value> {
    let lines = report.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| matches!(line["type"].as_str(), Some("finding" | "trap")))
}

/// The pairs of instructions that communicated, by the lines of a report that tell of them.
fn communications(report: &str) -> impl Iterator<Item = String> {
    let lines = report.lines().filter(|line| line.contains("\"communication\""));
    let lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["type"] == "communication").map(|line| {
        let side = |side: &Value| match side["location"].as_str() {
            Some(location) if !location.is_empty() => format!("{location} (word {})", side["word"]),
            _ => format!("word {}", side["word"]),
        };
        let shader = line["shader"].as_str().unwrap_or_default();
        format!("{shader}: {} -> {}", side(&line["write"]), side(&line["read"]))
    })
}

/// A finding, and the runs that had it.
#[derive(Debug)]
pub(crate) struct Distinct {
    /// As the first of them reported it.
    line: Value,
    runs: u64,
    /// `None`: the exploration.
    first: Option<u64>,
    known: bool,
}

/// Whether the line of a finding is that of a note.
fn is_note(line: &Value) -> bool {
    line["level"].as_str().is_some_and(|level| level != "error")
}

impl Distinct {
    fn is_note(&self) -> bool {
        is_note(&self.line)
    }

    fn title(&self) -> String {
        let id = self.line["id"].as_str().unwrap_or("trap");
        let source = |access: &Value| {
            let source = &access["source"];
            Some(format!("{}:{}", source["file"].as_str()?, source["line"]))
        };
        let mut places: Vec<String> =
            self.line["accesses"].as_array().into_iter().flatten().filter_map(source).collect();
        places.dedup();
        let at = if places.is_empty() { String::new() } else { format!(" at {}", places.join(" and ")) };
        format!("{id}{at}")
    }
}

/// FNV-1a, 64 bits.
fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// What runs of one program have shown, in the order of the runs.
#[derive(Debug, Default)]
pub struct Merged {
    pub(crate) findings: Vec<Distinct>,
    index: BTreeMap<String, usize>,
    known: BTreeSet<String>,
    /// How the runs ended and the digest of what they printed, and how many did.
    outcomes: BTreeMap<(u64, u64), u64>,
    runs: u64,
    /// The first run in which the program itself ended with another status than 0, and that status.
    failed: Option<(u64, u8)>,
    /// What its exploration came to, if there was one.
    explored: Option<Value>,
    /// Pairs of a write and of a read of another agent that read from it: shader and places.
    communications: BTreeSet<String>,
    /// The part of the runs that these are.
    pub shard: Option<Shard>,
    /// The `run` line of the first report.
    head: Option<Value>,
    /// The most findings of one run that were suppressed.
    suppressed: u64,
    processes: u64,
}

impl Merged {
    /// Takes what an earlier report tells for known.
    pub fn know(&mut self, path: &Path) -> anyhow::Result<()> {
        let (_, text) = Report::read(path)?;
        self.known.extend(findings(&text).map(|line| identity(&line)));
        Ok(())
    }

    /// Whether a run ended well but for findings that were known before.
    pub fn knows_all(&self, run: &Run) -> bool {
        let mut found = findings(&run.report).peekable();
        run.own_status == 0
            && found.peek().is_some()
            && found.all(|line| is_note(&line) || self.known.contains(&identity(&line)))
    }

    /// Takes up a finding of so many more runs. Whether it is new.
    fn found(&mut self, line: Value, runs: u64, first: Option<u64>) -> bool {
        let identity = identity(&line);
        if let Some(index) = self.index.get(&identity) {
            let finding = &mut self.findings[*index];
            finding.runs += runs;
            if first < finding.first {
                (finding.line, finding.first) = (line, first);
            }
            return false;
        }
        let known = self.known.contains(&identity);
        self.index.insert(identity, self.findings.len());
        self.findings.push(Distinct { line, runs, first, known });
        true
    }

    /// Adds run `k`, or the exploration; prints what is new in it. Whether it showed anything new.
    pub fn add(&mut self, k: Option<u64>, run: &Run) -> bool {
        let (counts, before) = (u64::from(k.is_some()), self.findings.len());
        self.runs += counts;
        let total = &run.outcome.total;
        self.processes += total["processes"].as_u64().unwrap_or(0);
        self.suppressed = self.suppressed.max(total["suppressed"].as_u64().unwrap_or(0));
        let lines = run.report.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let head = lines.into_iter().find(|line| line["type"] == "run");
        let mut here = BTreeSet::new();
        for mut line in findings(&run.report) {
            if here.insert(identity(&line)) {
                if let Some(head) = &head {
                    replay::keep_run(&mut line, head);
                }
                self.found(line, counts, k);
            }
        }
        let communicated = self.communications.len();
        self.communications.extend(communications(&run.report));
        let communicated = self.communications.len() > communicated;
        self.tell(before);
        if self.head.is_none() {
            self.head = head;
        }
        let fresh = self.findings.len() > before;
        let Some(k) = k else { return fresh };
        if run.own_status != 0 {
            self.failed.get_or_insert((k, run.own_status));
        }
        let outcome = (u64::from(run.own_status), digest(&run.output.stdout));
        let ended = self.outcomes.entry(outcome).or_default();
        *ended += 1;
        // A program that fails without a finding is worth its own words.
        if *ended == 1 && here.is_empty() && run.outcome.status != 0 {
            print!("{}", String::from_utf8_lossy(&run.output.stdout));
            eprint!("{}", String::from_utf8_lossy(&run.output.stderr));
        }
        fresh || communicated || *ended == 1
    }

    /// Prints the findings from this one on.
    fn tell(&self, first: usize) {
        for finding in self.findings[first..].iter().filter(|finding| !finding.known) {
            eprintln!("{}", finding.line["text"].as_str().unwrap_or_default());
        }
    }

    /// Adds the exploration of a program, which did not count as a run. Whether it saw every execution: that
    /// program has one dispatch, and that was explored completely.
    pub fn explore(&mut self, run: &Run) -> bool {
        let lines = run.report.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let lines: Vec<Value> =
            lines.filter(|line| matches!(line["type"].as_str(), Some("explored" | "trap"))).collect();
        let [only] = lines.as_slice() else { return false };
        if only["complete"] != true {
            return false;
        }
        let number = |value: &Value| value.as_array().map_or(0, Vec::len);
        let outcomes = number(&only["outcomes"]) + number(&only["failing"]);
        self.explored = Some(json!({ "executions": only["executions"], "outcomes": outcomes }));
        self.add(None, run);
        true
    }

    /// Adds a merged report: that of a shard, or of another hunt of the same program.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn load(&mut self, path: &Path) -> anyhow::Result<Option<Shard>> {
        let name = || path.display().to_string();
        let (report, text) = Report::read(path)?;
        let head = report.of_type("run").next();
        let Some(total) = report.of_type("total").last().filter(|total| total["ends"].is_array()) else {
            return usage(Err(anyhow!("{}: not a report of pellucid hunt", name())));
        };
        let shard: Option<Shard> = serde_json::from_value(total["shard"].clone()).with_context(name)?;
        let leads = shard.is_some_and(|shard| shard.index == 1);
        match (&self.head, head) {
            (Some(known), Some(head)) if known["command"] != head["command"] => {
                bail!("{}: of another program: {}", name(), head["command"]);
            }
            (Some(_), _) if !leads => {}
            (_, head) => self.head = head.cloned(),
        }
        for line in findings(&text) {
            let (runs, first) = (line["runs"]["with"].as_u64().unwrap_or(0), line["runs"]["first"].as_u64());
            self.found(line, runs, first);
        }
        let number = |key: &str| total[key].as_u64().unwrap_or(0);
        let pairs = total["communications"].as_array().into_iter().flatten().filter_map(Value::as_str);
        self.communications.extend(pairs.map(str::to_owned));
        for end in total["ends"].as_array().into_iter().flatten() {
            let number = |key: &str| end[key].as_u64().unwrap_or(0);
            *self.outcomes.entry((number("status"), number("output"))).or_default() += number("runs");
        }
        self.runs += number("runs");
        self.processes += number("processes");
        self.suppressed = self.suppressed.max(number("suppressed"));
        let failed = &total["failed"];
        if let (Some(run), Some(status)) = (failed["run"].as_u64(), failed["status"].as_u64())
            && self.failed.is_none_or(|(first, _)| run < first)
        {
            self.failed = Some((run, status as u8));
        }
        if total["explored"].is_object() {
            self.explored = Some(total["explored"].clone());
        }
        Ok(shard)
    }

    /// Prints what was loaded, in the order of the runs.
    pub fn tell_loaded(&mut self) {
        self.findings.sort_by_key(|finding| finding.first);
        self.tell(0);
    }

    /// The findings that count: neither known before nor notes.
    pub fn counted(&self) -> usize {
        self.findings.iter().filter(|finding| !finding.known && !finding.is_note()).count()
    }

    /// A line for each finding, the outcomes if there are several, and the total; a run is called `run`.
    pub fn summary(&self, run: &str) -> String {
        let plural = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let mut text = String::new();
        for finding in &self.findings {
            let known = if finding.known { " (in the baseline)" } else { "" };
            let came = format!("in {} of {}", finding.runs, plural(self.runs, run));
            let when = match finding.first {
                Some(first) => format!("{came}, first in {run} {first}"),
                None => "in the exploration".to_owned(),
            };
            text.push_str(&format!("pellucid: {}: {when}{known}\n", finding.title()));
        }
        if self.outcomes.len() > 1 {
            text.push_str(&format!("pellucid: {} outcomes of the program itself:", self.outcomes.len()));
            for ((status, _), runs) in &self.outcomes {
                text.push_str(&format!(" status {status} in {};", plural(*runs, run)));
            }
            text.pop();
            text.push_str(" (by exit status and standard output)\n");
        }
        let known = self.findings.iter().filter(|finding| finding.known).count() as u64;
        let baseline = if known > 0 { format!(", {known} in the baseline") } else { String::new() };
        let made = match &self.explored {
            Some(explored) => format!(
                "the only dispatch was explored completely, {}, {}",
                plural(explored["executions"].as_u64().unwrap_or(0), "execution"),
                plural(explored["outcomes"].as_u64().unwrap_or(0), "outcome"),
            ),
            None => plural(self.runs, run),
        };
        let notes = match self.findings.iter().filter(|finding| finding.is_note()).count() as u64 {
            0 => String::new(),
            notes => format!(", {}", plural(notes, "note")),
        };
        text.push_str(&format!(
            "pellucid: {made}: {}{notes}{baseline}",
            plural(self.counted() as u64, "distinct finding"),
        ));
        if self.processes == 0 {
            text.push_str(" (the program did not use this driver)");
        }
        text
    }

    /// The exit status: that of findings where some count, else the program's own.
    pub fn exit_status(&self, findings: Option<u8>) -> u8 {
        match self.counted() {
            0 => self.failed.map_or(0, |(_, status)| status),
            _ => findings.unwrap_or(crate::run::FINDINGS),
        }
    }

    /// The merged report: the first run's head, each finding as it was first reported, a total.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let name = || path.display().to_string();
        let mut file = std::fs::File::create(path).with_context(name)?;
        let mut line = |value: &Value| writeln!(file, "{value}").with_context(name);
        let Some(head) = &self.head else { return Ok(()) };
        line(head)?;
        let mut families: BTreeMap<&str, u64> = BTreeMap::new();
        for (number, finding) in (1..).zip(&self.findings) {
            let mut told = finding.line.clone();
            told["number"] = json!(number);
            told["runs"] = json!({ "with": finding.runs, "of": self.runs, "first": finding.first });
            line(&told)?;
            if !finding.is_note() {
                *families.entry(finding.line["family"].as_str().unwrap_or("trap")).or_default() += 1;
            }
        }
        let ends = self
            .outcomes
            .iter()
            .map(|((status, output), runs)| json!({ "status": status, "output": output, "runs": runs }));
        line(&json!({
            "type": "total",
            "findings": families.values().sum::<u64>(),
            "families": families,
            "suppressed": self.suppressed,
            "seed": head["seed"],
            "runs": self.runs,
            "outcomes": self.outcomes.len(),
            "communications": self.communications,
            "ends": ends.collect::<Vec<_>>(),
            "failed": self.failed.map(|(run, status)| json!({ "run": run, "status": status })),
            "processes": self.processes,
            "explored": self.explored,
            "shard": self.shard,
        }))
    }
}

#[cfg(test)]
mod tests;
