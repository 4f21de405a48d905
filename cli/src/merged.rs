//! What many runs of one program have shown: each distinct finding once, with the runs that had it.

use crate::report::Report;
use crate::run::Run;
use anyhow::Context as _;
use pellucid_memory::input;
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
    if sides.is_empty() {
        let rendered = text(&line["text"]);
        sides.extend(rendered.lines().filter(|l| !l.contains("= replay:")).map(str::to_owned));
    }
    let kind = line["id"].as_str().unwrap_or_else(|| line["type"].as_str().unwrap_or_default());
    format!("{kind} in {}: {}", text(&line["shader"]["entry"]), sides.join(" | "))
}

/// The lines of a report that tell of something wrong.
fn findings(report: &str) -> impl Iterator<Item = Value> {
    let lines = report.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| matches!(line["type"].as_str(), Some("finding" | "trap")))
}

/// A finding, and the runs that had it.
#[derive(Debug)]
pub(crate) struct Distinct {
    /// As the first of them reported it.
    line: Value,
    runs: u64,
    first: u64,
    known: bool,
}

impl Distinct {
    fn is_note(&self) -> bool {
        self.line["level"].as_str().is_some_and(|level| level != "error")
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

/// What runs of one program have shown, in the order of the runs.
#[derive(Debug, Default)]
pub struct Merged {
    pub(crate) findings: Vec<Distinct>,
    index: BTreeMap<String, usize>,
    known: BTreeSet<String>,
    /// How the runs ended and what they printed, and how many did.
    outcomes: BTreeMap<(u8, Vec<u8>), u64>,
    runs: u64,
    /// The `run` line of the first report.
    head: Option<Value>,
    processes: u64,
}

impl Merged {
    /// Takes what an earlier report tells for known.
    pub fn know(&mut self, path: &Path) -> anyhow::Result<()> {
        let text = input::text(path).with_context(|| path.display().to_string())?;
        Report::parse(&text).with_context(|| path.display().to_string())?;
        self.known.extend(findings(&text).map(|line| identity(&line)));
        Ok(())
    }

    /// Adds run `k`; prints what is new in it. Whether it showed anything new.
    pub fn add(&mut self, k: u64, run: &Run) -> bool {
        self.runs += 1;
        self.processes += run.outcome.total["processes"].as_u64().unwrap_or(0);
        let mut fresh = false;
        let mut here = BTreeSet::new();
        for line in findings(&run.report) {
            let identity = identity(&line);
            if !here.insert(identity.clone()) {
                continue;
            }
            if let Some(known) = self.index.get(&identity) {
                self.findings[*known].runs += 1;
                continue;
            }
            fresh = true;
            let known = self.known.contains(&identity);
            if !known {
                eprintln!("{}", line["text"].as_str().unwrap_or_default());
            }
            self.index.insert(identity, self.findings.len());
            self.findings.push(Distinct { line, runs: 1, first: k, known });
        }
        if self.head.is_none() {
            let lines = run.report.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            self.head = lines.into_iter().find(|line| line["type"] == "run");
        }
        let ended = self.outcomes.entry((run.own_status, run.output.stdout.clone())).or_default();
        *ended += 1;
        // A program that fails without a finding is worth its own words.
        if *ended == 1 && here.is_empty() && run.outcome.status != 0 {
            print!("{}", String::from_utf8_lossy(&run.output.stdout));
            eprint!("{}", String::from_utf8_lossy(&run.output.stderr));
        }
        fresh || *ended == 1
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
            text.push_str(&format!(
                "pellucid: {}: in {} of {}, first in {run} {}{known}\n",
                finding.title(),
                finding.runs,
                plural(self.runs, run),
                finding.first
            ));
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
        text.push_str(&format!(
            "pellucid: {}: {}{baseline}",
            plural(self.runs, run),
            plural(self.counted() as u64, "distinct finding"),
        ));
        if self.processes == 0 {
            text.push_str(" (the program did not use this driver)");
        }
        text
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
        line(&json!({
            "type": "total",
            "findings": families.values().sum::<u64>(),
            "families": families,
            "suppressed": 0,
            "seed": head["seed"],
            "runs": self.runs,
            "outcomes": self.outcomes.len(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_told_apart_by_instructions_and_not_by_invocations() {
        let line = |number: u32, by: u32| {
            json!({
                "type": "finding", "id": "race-unordered", "shader": { "entry": "main" }, "accesses": [
                    { "kind": "write", "source": { "file": "a.comp", "line": 3 }, "invocation": by },
                    { "kind": "read", "source": { "file": "a.comp", "line": number }, "invocation": 0 },
                ],
            })
        };
        assert_eq!(identity(&line(4, 0)), identity(&line(4, 9)));
        assert_ne!(identity(&line(4, 0)), identity(&line(5, 0)));
    }
}
