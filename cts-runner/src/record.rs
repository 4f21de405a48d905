//! The results folder of one run on the disk, and what a report is made of.
//!
//! | file | |
//! |---|---|
//! | `run.json` | what was asked: [`RunInfo`] |
//! | `cases.txt` | the cases of this run (of this shard), in order |
//! | `journal.jsonl` | one line per finished case ([`crate::journal`]) |
//! | `notes.txt` | what the runner noticed beside the cases' results |
//! | `logs/` | the suite's log of each case that did not pass |
//! | `results.csv`, `results.json`, `junit.xml`, `index.html`, `summary.txt` | [`crate::report`] |

use crate::error::Error;
use crate::journal::{self, CaseResult};
use crate::shard::Shard;
use crate::status::Status;
use crate::verdict::{Expectations, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// What a run was asked to do; enough to tell whether two folders are parts of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// A name for people: the group of cases, say.
    pub title: String,
    /// The driver's options ([`crate::matrix::Variant::name`]); empty without.
    pub variant: String,
    /// The driver's manifest or library, its file name only.
    pub driver: String,
    /// Which part of the selection.
    pub shard: Shard,
    /// How many cases the whole selection has.
    pub selected: usize,
    /// The digest of the whole selection ([`crate::select::digest`]).
    pub digest: String,
}

impl RunInfo {
    /// The title with the variant.
    pub fn heading(&self) -> String {
        if self.variant.is_empty() {
            self.title.clone()
        } else {
            format!("{} [{}]", self.title, self.variant)
        }
    }
}

/// A results folder.
#[derive(Clone, Debug)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// The path of one file of the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// One line of JSON for each case that has ended.
    pub fn journal(&self) -> PathBuf {
        self.file("journal.jsonl")
    }

    /// Whether a run has begun here.
    pub fn is_begun(&self) -> bool {
        self.file("run.json").exists()
    }

    /// Begins a run: creates the folder with `run.json` and `cases.txt`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn begin(&self, info: &RunInfo, cases: &[String]) -> Result<(), Error> {
        fs::create_dir_all(&self.0).map_err(Error::io(&self.0))?;
        let mut text = cases.join("\n");
        text.push('\n');
        self.write("cases.txt", text.trim_start_matches('\n'))?;
        // Last: with it, the folder counts as begun.
        self.write("run.json", &to_json(info))
    }

    /// Writes a file of the folder whole: it is never seen half written.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let (path, part) = (self.file(name), self.file(&format!("{name}.part")));
        fs::write(&part, text).map_err(Error::io(&part))?;
        fs::rename(&part, &path).map_err(Error::io(&path))
    }

    /// What the run was asked.
    ///
    /// # Errors
    /// `run.json` cannot be read or is not of its format.
    pub fn info(&self) -> Result<RunInfo, Error> {
        let path = self.file("run.json");
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        serde_json::from_str(&text).map_err(|error| Error::Format {
            path,
            line: error.line(),
            what: error.to_string(),
        })
    }

    /// The cases of the run.
    ///
    /// # Errors
    /// `cases.txt` cannot be read.
    pub fn cases(&self) -> Result<Vec<String>, Error> {
        crate::select::read_list(&self.file("cases.txt"))
    }

    /// The final results so far.
    ///
    /// # Errors
    /// The journal cannot be read, or holds a case twice.
    pub fn results(&self) -> Result<BTreeMap<String, CaseResult>, Error> {
        let path = self.journal();
        let lines = if path.exists() { journal::read(&path)? } else { Vec::new() };
        let mut results = BTreeMap::new();
        for result in lines {
            if let Some(other) = results.insert(result.name.clone(), result) {
                return Err(Error::Format { path, line: 0, what: format!("two results of {}", other.name) });
            }
        }
        Ok(results)
    }

    /// What was noticed beside the results: each text once, with how often.
    pub fn notes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.file("notes.txt")).unwrap_or_default();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            *counts.entry(line).or_default() += 1;
        }
        let told = |(text, count): (&str, usize)| {
            if count == 1 { text.to_string() } else { format!("{text} ({count} times)") }
        };
        counts.into_iter().map(told).collect()
    }

    /// Judges everything in the folder.
    ///
    /// # Errors
    /// A file of the folder cannot be read or is not of its format.
    pub fn report(&self, expectations: &Expectations) -> Result<Report, Error> {
        let info = self.info()?;
        let results = self.results()?;
        let known: BTreeSet<String> = self.cases()?.into_iter().collect();
        if let Some(name) = results.keys().find(|name| !known.contains(*name)) {
            let what = format!("a result of {name}, which is not in cases.txt");
            return Err(Error::Format { path: self.journal(), line: 0, what });
        }
        let unfinished = known.iter().filter(|name| !results.contains_key(*name)).cloned().collect();
        let judge = |result: CaseResult| {
            let (verdict, why) = expectations.judge(&result);
            Judged { result, verdict, why }
        };
        let cases = results.into_values().map(judge).collect();
        Ok(Report { info, cases, unfinished, notes: self.notes() })
    }
}

/// Pretty JSON with a line end.
pub fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

/// A result with its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What the suite said.
    pub result: CaseResult,
    /// How it compares with what was expected.
    pub verdict: Verdict,
    /// Why; empty where there is nothing to say.
    pub why: String,
}

/// Everything that a report shows.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was asked.
    pub info: RunInfo,
    /// The results, sorted by name.
    pub cases: Vec<Judged>,
    /// The cases without a result: the run is not at its end.
    pub unfinished: Vec<String>,
    /// What was noticed beside the results.
    pub notes: Vec<String>,
}

impl Report {
    /// How many cases have each status.
    pub fn statuses(&self) -> BTreeMap<Status, usize> {
        count(self.cases.iter().map(|case| case.result.status))
    }

    /// How many cases have each verdict.
    pub fn verdicts(&self) -> BTreeMap<Verdict, usize> {
        count(self.cases.iter().map(|case| case.verdict))
    }

    /// The cases with the verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Judged> {
        self.cases.iter().filter(move |case| case.verdict == verdict)
    }

    /// The exit status that the results ask for.
    pub fn exit(&self) -> u8 {
        if !self.unfinished.is_empty() {
            crate::exit::INFRASTRUCTURE
        } else if self.with(Verdict::Regression).next().is_some() {
            crate::exit::REGRESSION
        } else if self.with(Verdict::Improvement).next().is_some() {
            crate::exit::IMPROVEMENT
        } else {
            crate::exit::AS_EXPECTED
        }
    }

    /// The cases by group: the shortest prefix of their names that splits them, so that a report of one
    /// module shows that module's own groups. The keys are the prefixes.
    pub fn groups(&self) -> BTreeMap<String, Vec<&Judged>> {
        let mut depth = 2;
        loop {
            let mut groups: BTreeMap<String, Vec<&Judged>> = BTreeMap::new();
            for case in &self.cases {
                groups.entry(prefix(&case.result.name, depth)).or_default().push(case);
            }
            let deepest = self.cases.iter().all(|case| case.result.name.split('.').count() <= depth);
            if groups.len() != 1 || deepest {
                return groups;
            }
            depth += 1;
        }
    }
}

fn count<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts
}

/// The first `depth` components of `name`, but never its last one.
pub fn prefix(name: &str, depth: usize) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    let depth = depth.min(parts.len().saturating_sub(1)).max(1);
    parts[..depth.min(parts.len())].join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_go_as_deep_as_needed() {
        assert_eq!(prefix("dEQP-VK.info.build", 2), "dEQP-VK.info");
        assert_eq!(prefix("dEQP-VK.info.build", 9), "dEQP-VK.info");
        assert_eq!(prefix("x", 2), "x");
    }
}
