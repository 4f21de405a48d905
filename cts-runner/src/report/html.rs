//! One page that stands alone: no other file, no network.
//!
//! The totals, the groups and the cases that are not as expected are plain HTML; the table of all cases is
//! drawn by the page's script from data that the page carries.

use super::escape;
use crate::record::{Judged, Report};
use crate::status::{Class, Status};
use crate::verdict::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Renders the report.
pub fn render(report: &Report) -> String {
    let mut html = String::new();
    let heading = escape(&report.info.heading());
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<title>{heading}: conformance results</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    header(&mut html, report, &heading);
    verdicts(&mut html, report);
    groups(&mut html, report);
    unexpected(&mut html, report);
    table(&mut html, report);
    let _ = write!(html, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    html
}

fn header(html: &mut String, report: &Report, heading: &str) {
    let info = &report.info;
    let mut facts = vec![format!("{} cases", report.cases.len()), format!("driver {}", escape(&info.driver))];
    if info.shard.count > 1 {
        facts.push(format!("shard {} of a selection of {}", info.shard, info.selected));
    }
    let micros: u64 = report.cases.iter().map(|case| case.result.micros).sum();
    facts.push(format!("{:.1} s in cases", micros as f64 / 1e6));
    let _ = write!(html, "<header>\n<h1>{heading}</h1>\n<p>{}</p>\n", facts.join(" · "));
    bar(html, &report.cases.iter().collect::<Vec<_>>());
    html.push_str("<ul class=\"legend\">");
    for (status, count) in report.statuses() {
        let _ = write!(html, "<li><i class=\"{}\"></i>{count} {status}</li>", colour(status));
    }
    html.push_str("</ul>\n</header>\n");
}

fn verdicts(html: &mut String, report: &Report) {
    let counts = report.verdicts();
    html.push_str("<section class=\"cards\">\n");
    for (verdict, title) in [
        (Verdict::Expected, "as expected"),
        (Verdict::Regression, "worse"),
        (Verdict::Improvement, "better"),
        (Verdict::Flaky, "flaky"),
    ] {
        let count = counts.get(&verdict).copied().unwrap_or(0);
        let class = if count == 0 { "none".to_string() } else { format!("{verdict:?}").to_lowercase() };
        let _ = writeln!(html, "<div class=\"card {class}\"><b>{count}</b><span>{title}</span></div>");
    }
    if !report.unfinished.is_empty() {
        let _ = writeln!(
            html,
            "<div class=\"card regression\"><b>{}</b><span>without a result</span></div>",
            report.unfinished.len()
        );
    }
    html.push_str("</section>\n");
}

fn groups(html: &mut String, report: &Report) {
    html.push_str("<section>\n<h2>Groups</h2>\n<table class=\"groups\">\n");
    for (group, cases) in report.groups() {
        let good = cases.iter().filter(|case| case.result.status.class() == Class::Good).count();
        let _ = write!(
            html,
            "<tr><td><code>{}</code></td><td class=\"number\">{good} / {}</td><td class=\"wide\">",
            escape(&group),
            cases.len()
        );
        bar(html, &cases);
        html.push_str("</td></tr>\n");
    }
    html.push_str("</table>\n</section>\n");
}

/// A bar whose parts are as long as their share of the cases.
fn bar(html: &mut String, cases: &[&Judged]) {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for case in cases {
        *counts.entry(case.result.status).or_default() += 1;
    }
    html.push_str("<div class=\"bar\">");
    for (status, count) in counts {
        let share = count as f64 * 100.0 / cases.len() as f64;
        let _ = write!(
            html,
            "<i class=\"{}\" style=\"width:{share:.4}%\" title=\"{count} {status}\"></i>",
            colour(status)
        );
    }
    html.push_str("</div>\n");
}

fn colour(status: Status) -> &'static str {
    match (status, status.class()) {
        (Status::Pass, _) => "pass",
        (_, Class::Good) => "warn",
        (_, Class::NotSupported | Class::Skip) => "skip",
        (_, Class::Flake) => "flake",
        (_, Class::Failed) => "fail",
        (_, Class::Lost) => "lost",
    }
}

fn unexpected(html: &mut String, report: &Report) {
    let mut cases: Vec<&Judged> =
        report.cases.iter().filter(|case| case.verdict != Verdict::Expected).collect();
    cases.sort_by(|a, b| b.verdict.cmp(&a.verdict).then_with(|| a.result.name.cmp(&b.result.name)));
    const SHOWN: usize = 500;
    if !cases.is_empty() {
        let _ = write!(html, "<section>\n<h2>Not as expected ({})</h2>\n<table>\n", cases.len());
        for case in cases.iter().take(SHOWN) {
            let _ = writeln!(
                html,
                "<tr><td><span class=\"tag {}\">{}</span></td><td><code>{}</code><div class=\"why\">{}</div>{}</td></tr>",
                colour(case.result.status),
                case.result.status,
                escape(&case.result.name),
                escape(&case.why),
                details(&case.result.message)
            );
        }
        html.push_str("</table>\n");
        if cases.len() > SHOWN {
            let _ = writeln!(html, "<p>The first {SHOWN}; all of them are in the table below.</p>");
        }
        html.push_str("</section>\n");
    }
    if !report.notes.is_empty() {
        html.push_str("<section>\n<h2>Noticed beside the results</h2>\n<ul>\n");
        for note in &report.notes {
            let _ = writeln!(html, "<li>{}</li>", escape(note));
        }
        html.push_str("</ul>\n</section>\n");
    }
}

fn details(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!("<pre>{}</pre>", escape(message)) }
}

#[derive(Serialize)]
struct Data<'a> {
    statuses: Vec<(&'static str, &'static str)>,
    /// Name, index of status, microseconds, tries, whether it is as expected, why or message.
    cases: Vec<(&'a str, usize, u64, u32, bool, &'a str)>,
}

fn table(html: &mut String, report: &Report) {
    let present: Vec<Status> = report.statuses().into_keys().collect();
    let cases = report.cases.iter().map(|case| {
        let status = present.iter().position(|status| *status == case.result.status).unwrap_or(0);
        let text = if case.why.is_empty() { &case.result.message } else { &case.why };
        let expected = case.verdict == Verdict::Expected;
        (case.result.name.as_str(), status, case.result.micros, case.result.tries, expected, text.as_str())
    });
    let data = Data {
        statuses: present.iter().map(|status| (status.name(), colour(*status))).collect(),
        cases: cases.collect(),
    };
    // Inside a script element only "<" could end the element.
    let json = serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c");
    let _ = write!(
        html,
        "<section>\n<h2>All cases</h2>\n<div id=\"filter\"><input id=\"text\" type=\"search\" placeholder=\"Filter by name or message; \
         * stands for anything\" aria-label=\"Filter\"><span id=\"chips\"></span><span id=\"shown\"></span></div>\n<table \
         id=\"cases\"><thead><tr><th data-key=\"0\">Case</th><th data-key=\"1\">Status</th><th data-key=\"2\" \
         class=\"number\">Seconds</th></tr></thead><tbody></tbody></table>\n<button id=\"more\" hidden>Show \
         more</button>\n<noscript><p>The table needs a script; results.csv holds the same.</p></noscript>\n</section>\n<script \
         type=\"application/json\" id=\"data\">{json}</script>\n"
    );
}
