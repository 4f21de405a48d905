//! The summary for a terminal and for a CI log.

use crate::record::{Judged, Report};
use crate::verdict::Verdict;
use std::fmt::Write;

/// How many cases of one verdict are listed by name.
const LISTED: usize = 50;

/// Renders the report: the totals, what is not as expected by name, and one greppable last line.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    let info = &report.info;
    let _ = writeln!(text, "{}", info.heading());
    if info.shard.count > 1 {
        let _ = writeln!(text, "shard {} of a selection of {}", info.shard, info.selected);
    }
    let width = report.groups().keys().map(String::len).max().unwrap_or(0).clamp(10, 70);
    for (group, cases) in report.groups() {
        let mut counts = std::collections::BTreeMap::new();
        for case in &cases {
            *counts.entry(case.result.status).or_insert(0_usize) += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        let _ = writeln!(text, "  {group:width$}  {:>6}  {}", cases.len(), counts.join(", "));
    }
    for (verdict, title) in [
        (Verdict::Regression, "Worse than expected"),
        (Verdict::Improvement, "Better than expected (update the baseline)"),
        (Verdict::Flaky, "Flaky"),
    ] {
        list(&mut text, title, &report.with(verdict).collect::<Vec<_>>());
    }
    if !report.unfinished.is_empty() {
        let _ = writeln!(text, "\nWithout a result: {}", report.unfinished.len());
        for name in report.unfinished.iter().take(LISTED) {
            let _ = writeln!(text, "  {name}");
        }
    }
    if !report.notes.is_empty() {
        let _ = writeln!(text, "\nNoticed beside the results:");
        for note in &report.notes {
            let _ = writeln!(text, "  {note}");
        }
    }
    text.push('\n');
    text.push_str(&last_line(report));
    text
}

fn list(text: &mut String, title: &str, cases: &[&Judged]) {
    if cases.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}: {}", cases.len());
    for case in cases.iter().take(LISTED) {
        let message = case.result.message.lines().next().unwrap_or_default();
        let message = if message.is_empty() { String::new() } else { format!("  ({message})") };
        let _ = writeln!(text, "  {}  {}{message}", case.result.name, case.why);
    }
    if cases.len() > LISTED {
        let _ = writeln!(text, "  ... and {} more, in results.json", cases.len() - LISTED);
    }
}

/// `pellucid-cts-runner: 300 cases, 298 Pass, 2 Fail; 1 regression, 0 improvements, 0 flaky`.
pub fn last_line(report: &Report) -> String {
    let verdicts = report.verdicts();
    let count = |verdict| verdicts.get(&verdict).copied().unwrap_or(0);
    let statuses: Vec<String> =
        report.statuses().iter().map(|(status, count)| format!("{count} {status}")).collect();
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    format!(
        "pellucid-cts-runner: {}, {}; {}, {}, {} flaky{}\n",
        plural(report.cases.len(), "case"),
        if statuses.is_empty() { "none run".to_string() } else { statuses.join(", ") },
        plural(count(Verdict::Regression), "regression"),
        plural(count(Verdict::Improvement), "improvement"),
        count(Verdict::Flaky),
        if report.unfinished.is_empty() {
            String::new()
        } else {
            format!("; {} without a result", report.unfinished.len())
        },
    )
}
