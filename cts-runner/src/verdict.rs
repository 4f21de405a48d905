//! Judges results against what was expected.
//!
//! Expectations come in the formats of deqp-runner: a baseline of `name,status` lines, in which a case that
//! is not listed is expected to pass or to be not supported; and expressions that name known flakes. Beside
//! them a set of cases may be given that are allowed to be NotSupported: a gate, so that a feature cannot
//! silently go away.

use crate::error::Error;
use crate::journal::CaseResult;
use crate::pattern::{Expressions, Wildcard};
use crate::select::read_text;
use crate::status::{Class, Status};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How a result compares with what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Verdict {
    /// As expected; also where a failure was expected.
    Expected,
    /// Flaky, or a bad end of a known flake: no regression.
    Flaky,
    /// Better than expected: the baseline should be updated.
    Improvement,
    /// Worse than expected.
    Regression,
}

/// One line of a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The status expected.
    pub status: Status,
    /// The comment lines right above the line, or above the block of lines that it stands in.
    pub reason: String,
}

/// Where expectations are written down.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files of expected results.
    pub baselines: Vec<PathBuf>,
    /// Files of expressions of known flakes.
    pub flakes: Vec<PathBuf>,
    /// Files of the cases that may be NotSupported: names, or patterns with wildcards.
    pub not_supported: Vec<PathBuf>,
}

/// What is expected.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    baseline: BTreeMap<String, Expected>,
    flakes: Expressions,
    gate: Option<Gate>,
}

#[derive(Clone, Debug, Default)]
struct Gate {
    names: BTreeSet<String>,
    patterns: Vec<Wildcard>,
}

impl Gate {
    fn allows(&self, name: &str) -> bool {
        self.names.contains(name) || self.patterns.iter().any(|pattern| pattern.matches(name))
    }
}

impl Expectations {
    /// Reads all of `sources`.
    ///
    /// # Errors
    /// A file that cannot be read or is not of its format, or a case with two different expectations.
    pub fn read(sources: &Sources) -> Result<Expectations, Error> {
        let mut baseline = BTreeMap::new();
        for path in &sources.baselines {
            read_baseline(path, &mut baseline)?;
        }
        let gate =
            if sources.not_supported.is_empty() { None } else { Some(read_gate(&sources.not_supported)?) };
        Ok(Expectations { baseline, flakes: Expressions::read(&sources.flakes)?, gate })
    }

    /// What the baseline says of the case.
    pub fn of(&self, name: &str) -> Option<&Expected> {
        self.baseline.get(name)
    }

    /// Whether it is worth to run the case again that ended so: not when just that is expected.
    pub fn worth_a_retry(&self, name: &str, status: Status) -> bool {
        self.of(name).is_none_or(|expected| expected.status != status)
    }

    /// Judges one result; with the reason where it is not [`Verdict::Expected`], or where a failure was
    /// expected.
    pub fn judge(&self, result: &CaseResult) -> (Verdict, String) {
        let (name, status) = (result.name.as_str(), result.status);
        let expected = self.of(name);
        let told = |text: &str| match expected {
            Some(expected) => format!("{text}: expected {}, got {status}", expected.status),
            None => format!("{text}: {status}"),
        };
        if status.is_bad() && self.flakes.matches(name) {
            return (Verdict::Flaky, told("a known flake"));
        }
        let wanted = expected.map(|expected| expected.status);
        match (status.class(), wanted.map(Status::class)) {
            (Class::Flake, _) => (Verdict::Flaky, told("flaky")),
            (Class::Skip, _) => (Verdict::Expected, String::new()),
            (_, Some(Class::Flake)) if status.class() != Class::NotSupported => {
                (Verdict::Expected, String::new())
            }
            (Class::Good, None | Some(Class::Good)) => match &self.gate {
                Some(gate) if gate.names.contains(name) => {
                    (Verdict::Improvement, format!("newly supported: {status}"))
                }
                _ => (Verdict::Expected, String::new()),
            },
            (Class::Good, Some(_)) => (Verdict::Improvement, told("better")),
            (Class::NotSupported, wanted) => self.judge_not_supported(name, wanted, &told),
            (Class::Failed | Class::Lost, _) if wanted == Some(status) => {
                (Verdict::Expected, expected.map(|expected| expected.reason.clone()).unwrap_or_default())
            }
            (Class::Failed, Some(Class::Lost)) => (Verdict::Improvement, told("better")),
            (Class::Failed | Class::Lost, Some(Class::Failed | Class::Lost)) => {
                (Verdict::Regression, told("changed"))
            }
            (Class::Failed | Class::Lost, _) => (Verdict::Regression, told("worse")),
        }
    }

    fn judge_not_supported(
        &self,
        name: &str,
        wanted: Option<Class>,
        told: &dyn Fn(&str) -> String,
    ) -> (Verdict, String) {
        let allowed = self.gate.as_ref().map(|gate| gate.allows(name));
        match (allowed, wanted) {
            (_, Some(Class::NotSupported | Class::Skip)) => (Verdict::Expected, String::new()),
            (Some(false), _) => (Verdict::Regression, told("no longer supported")),
            (_, None) => (Verdict::Expected, String::new()),
            (Some(true), Some(Class::Failed | Class::Lost)) => {
                (Verdict::Improvement, told("no longer failing"))
            }
            (_, Some(_)) => (Verdict::Regression, told("no longer supported")),
        }
    }
}

/// Reads a baseline: `name,status` lines; empty lines and `#` comments stand between them. A comment holds
/// for the lines below it up to the next empty line or comment.
fn read_baseline(path: &Path, into: &mut BTreeMap<String, Expected>) -> Result<(), Error> {
    let text = read_text(path)?;
    let mut reason: Vec<&str> = Vec::new();
    let mut after_case = false;
    for (index, line) in text.lines().enumerate() {
        let format = |what: String| Error::Format { path: path.to_path_buf(), line: index + 1, what };
        let line = line.trim();
        if line.is_empty() {
            reason.clear();
            continue;
        }
        if let Some(comment) = line.strip_prefix('#') {
            if std::mem::take(&mut after_case) {
                reason.clear();
            }
            reason.push(comment.trim());
            continue;
        }
        after_case = true;
        let (name, status) =
            line.split_once(',').ok_or_else(|| format("expected name,status".to_string()))?;
        // A third column, as in results.csv, is a duration.
        let status = status.split(',').next().unwrap_or_default().trim().parse().map_err(format)?;
        let expected = Expected { status, reason: reason.join(" ") };
        match into.insert(name.trim().to_string(), expected) {
            Some(other) if other.status != status => {
                return Err(format(format!("'{name}' is {status} here and {} elsewhere", other.status)));
            }
            _ => {}
        }
    }
    Ok(())
}

fn read_gate(paths: &[PathBuf]) -> Result<Gate, Error> {
    let mut gate = Gate::default();
    for path in paths {
        for name in crate::select::read_list(path)? {
            if name.contains(['*', '?']) {
                gate.patterns.push(Wildcard::new(&name));
            } else {
                gate.names.insert(name);
            }
        }
    }
    Ok(gate)
}

#[cfg(test)]
mod tests;
