//! Renders a [`Report`] as files and as text.
//!
//! Everything here is a function of the results: the same results give the same bytes. Durations are part of
//! the results; the conformance page ([`page`]) leaves them out.

pub mod html;
pub mod junit;
pub mod page;
pub mod text;

use crate::error::Error;
use crate::record::{Folder, Report, to_json};
use crate::status::Status;
use serde::Serialize;
use std::collections::BTreeMap;

/// Writes every rendering of `report` into `folder`.
///
/// # Errors
/// A file cannot be written.
pub fn write_all(report: &Report, folder: &Folder) -> Result<(), Error> {
    folder.write("results.csv", &csv(report))?;
    folder.write("results.json", &json(report))?;
    folder.write("junit.xml", &junit::render(report))?;
    folder.write("index.html", &html::render(report))?;
    folder.write("summary.txt", &text::render(report))
}

/// `name,status,seconds`, sorted by name: what deqp-runner writes, and a baseline if one likes.
pub fn csv(report: &Report) -> String {
    let lines = report
        .cases
        .iter()
        .map(|case| format!("{},{},{}\n", case.result.name, case.result.status, seconds(case.result.micros)));
    lines.collect()
}

/// Microseconds as seconds, to the microsecond.
pub fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

#[derive(Serialize)]
struct JsonReport<'a> {
    run: &'a crate::record::RunInfo,
    statuses: BTreeMap<&'static str, usize>,
    verdicts: BTreeMap<String, usize>,
    unfinished: &'a [String],
    notes: &'a [String],
    cases: Vec<JsonCase<'a>>,
}

#[derive(Serialize)]
struct JsonCase<'a> {
    name: &'a str,
    status: Status,
    seconds: f64,
    tries: u32,
    verdict: crate::verdict::Verdict,
    #[serde(skip_serializing_if = "str::is_empty")]
    why: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
}

/// The whole report as JSON.
pub fn json(report: &Report) -> String {
    let cases = report.cases.iter().map(|case| JsonCase {
        name: &case.result.name,
        status: case.result.status,
        seconds: case.result.micros as f64 / 1e6,
        tries: case.result.tries,
        verdict: case.verdict,
        why: &case.why,
        message: &case.result.message,
    });
    to_json(&JsonReport {
        run: &report.info,
        statuses: report.statuses().into_iter().map(|(status, count)| (status.name(), count)).collect(),
        verdicts: report
            .verdicts()
            .into_iter()
            .map(|(verdict, count)| (format!("{verdict:?}"), count))
            .collect(),
        unfinished: &report.unfinished,
        notes: &report.notes,
        cases: cases.collect(),
    })
}

/// A baseline of the results: everything but what passes and what is NotSupported or was skipped. The reasons
/// that stood in the expectations are kept as comments.
pub fn baseline(report: &Report, reason: &dyn Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for case in &report.cases {
        let status = case.result.status;
        if !status.is_bad() && status != Status::Flake {
            continue;
        }
        let why = reason(&case.result.name).unwrap_or_default();
        if why != last {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&if why.is_empty() { String::new() } else { format!("# {why}\n") });
            last = why;
        }
        text.push_str(&format!("{},{status}\n", case.result.name));
    }
    text
}

/// The names of the cases that are NotSupported, one a line.
pub fn not_supported(report: &Report) -> String {
    let cases = report.cases.iter().filter(|case| case.result.status == Status::NotSupported);
    cases.map(|case| case.result.name.clone() + "\n").collect()
}

/// Escapes text for HTML and XML, text and attributes alike. Characters that XML 1.0 cannot hold become
/// U+FFFD.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            c if c < ' ' || c == '\u{fffe}' || c == '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
