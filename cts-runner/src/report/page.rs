//! Keeps the table of `docs/conformance.md` true: the text between two markers is written from results, and
//! from nothing else.
//!
//! The text is a list of records, each from one run, told apart by its title and options; a new run replaces
//! its own record and leaves the others as they are. Nothing in it depends on the time or the machine.

use crate::error::Error;
use crate::record::Report;
use crate::status::{Class, Status};
use crate::verdict::{Expectations, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The line before the records.
pub const BEGIN: &str = "<!-- conformance: begin, written by pellucid-cts-runner page -->";
/// The line behind the records.
pub const END: &str = "<!-- conformance: end -->";
/// What stands between the markers before the first record.
pub const EMPTY: &str = "No results are recorded yet.";
const RECORD: &str = "<!-- record: ";

/// How many cases of a record that do not pass are listed by name.
const LISTED: usize = 60;

/// `text` with the record of `report` in the place of its former one.
///
/// # Errors
/// A text without the markers, or a run that is not at its end: a page tells of whole runs only.
pub fn update(text: &str, report: &Report, expectations: &Expectations) -> Result<String, Error> {
    if !report.unfinished.is_empty() {
        return Err(Error::usage(format!("{} cases have no result yet", report.unfinished.len())));
    }
    if report.info.shard.count > 1 {
        return Err(Error::usage(format!("shard {} alone: merge the shards first", report.info.shard)));
    }
    let markers = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)));
    let (before, (inside, after)) =
        markers.ok_or_else(|| Error::usage(format!("the page lacks the lines\n{BEGIN}\n{END}")))?;
    let mut records = BTreeMap::new();
    for record in inside.split(RECORD).skip(1) {
        let Some((title, body)) = record.split_once(" -->") else { continue };
        records.insert(title.to_string(), body.trim().to_string());
    }
    let title = report.info.heading().replace("-->", "");
    records.insert(title.clone(), record(report, &title, expectations));
    let mut page = format!("{before}{BEGIN}\n");
    for (title, body) in records {
        let _ = write!(page, "\n{RECORD}{title} -->\n\n{body}\n");
    }
    let _ = write!(page, "\n{END}{after}");
    Ok(page)
}

fn record(report: &Report, title: &str, expectations: &Expectations) -> String {
    let mut text = format!("### {title}\n\n");
    text.push_str("| group | cases | pass | warning or waiver | not supported | skipped | flaky | fail | crash, timeout, lost |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    let groups = report.groups();
    for (group, cases) in &groups {
        row(&mut text, &format!("`{group}`"), cases.iter().map(|case| case.result.status));
    }
    if groups.len() > 1 {
        row(&mut text, "all", report.cases.iter().map(|case| case.result.status));
    }
    let failing: Vec<_> = report.cases.iter().filter(|case| case.result.status.is_bad()).collect();
    if !failing.is_empty() {
        text.push_str("\n| case that does not pass | status | why |\n|---|---|---|\n");
        for case in failing.iter().take(LISTED) {
            let reason = expectations
                .of(&case.result.name)
                .map(|expected| expected.reason.clone())
                .unwrap_or_default();
            let reason = match (case.verdict, reason.is_empty()) {
                (Verdict::Regression, _) => "**not expected**".to_string(),
                (_, true) => "not yet explained".to_string(),
                (_, false) => reason,
            };
            let _ = writeln!(
                text,
                "| `{}` | {} | {} |",
                case.result.name,
                case.result.status,
                reason.replace('|', "\\|").replace('\n', " ")
            );
        }
        if failing.len() > LISTED {
            let _ = writeln!(text, "| and {} more | | |", failing.len() - LISTED);
        }
    }
    text.trim_end().to_string()
}

fn row(text: &mut String, name: &str, statuses: impl Iterator<Item = Status>) {
    let mut counts = [0_usize; 8];
    for status in statuses {
        counts[0] += 1;
        let column = match (status, status.class()) {
            (Status::Pass, _) => 1,
            (_, Class::Good) => 2,
            (_, Class::NotSupported) => 3,
            (_, Class::Skip) => 4,
            (_, Class::Flake) => 5,
            (_, Class::Failed) => 6,
            (_, Class::Lost) => 7,
        };
        counts[column] += 1;
    }
    let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
    let _ = writeln!(text, "| {name} | {} |", counts.join(" | "));
}
