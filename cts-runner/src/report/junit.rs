//! JUnit's XML, as CI systems read it.
//!
//! A suite per group. A regression is a `failure` (an `error` where the process or the device was lost); a
//! failure that was expected, a case that is not supported and one that was left out are `skipped`; a case
//! without a result is an `error`.

use super::{escape, seconds};
use crate::record::{Judged, Report};
use crate::status::Class;
use crate::verdict::Verdict;
use std::fmt::Write;

/// Renders the report.
pub fn render(report: &Report) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let totals = Totals::of(report.cases.iter());
    let _ = writeln!(
        xml,
        "<testsuites name=\"{}\" {}>",
        escape(&report.info.heading()),
        totals.plus(report.unfinished.len())
    );
    for (group, cases) in report.groups() {
        let name =
            if report.info.variant.is_empty() { group } else { format!("{group} [{}]", report.info.variant) };
        let totals = Totals::of(cases.iter().copied());
        let _ = writeln!(xml, "  <testsuite name=\"{}\" {}>", escape(&name), totals.plus(0));
        for case in cases {
            render_case(&mut xml, case);
        }
        xml.push_str("  </testsuite>\n");
    }
    if !report.unfinished.is_empty() {
        let count = report.unfinished.len();
        let _ = writeln!(
            xml,
            "  <testsuite name=\"without a result\" tests=\"{count}\" failures=\"0\" errors=\"{count}\" skipped=\"0\">"
        );
        for name in &report.unfinished {
            let _ = writeln!(
                xml,
                "    <testcase name=\"{}\" classname=\"unfinished\"><error message=\"no result\"/></testcase>",
                escape(name)
            );
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

#[derive(Clone, Copy, PartialEq)]
enum Element {
    None,
    Skipped,
    Failure,
    Error,
}

fn element(case: &Judged) -> Element {
    let class = case.result.status.class();
    match case.verdict {
        Verdict::Regression if class == Class::Lost => Element::Error,
        Verdict::Regression => Element::Failure,
        _ if case.result.status.is_bad() => Element::Skipped,
        _ if matches!(class, Class::NotSupported | Class::Skip) => Element::Skipped,
        _ => Element::None,
    }
}

#[derive(Default)]
struct Totals {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    micros: u64,
}

impl Totals {
    fn of<'a>(cases: impl Iterator<Item = &'a Judged>) -> Totals {
        let mut totals = Totals::default();
        for case in cases {
            totals.tests += 1;
            totals.micros += case.result.micros;
            match element(case) {
                Element::None => {}
                Element::Skipped => totals.skipped += 1,
                Element::Failure => totals.failures += 1,
                Element::Error => totals.errors += 1,
            }
        }
        totals
    }

    fn plus(&self, unfinished: usize) -> String {
        format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"",
            self.tests + unfinished,
            self.failures,
            self.errors + unfinished,
            self.skipped,
            seconds(self.micros)
        )
    }
}

fn render_case(xml: &mut String, case: &Judged) {
    let result = &case.result;
    let (class, name) = result.name.rsplit_once('.').unwrap_or(("", &result.name));
    let _ = write!(
        xml,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"{}\"",
        escape(name),
        escape(class),
        seconds(result.micros)
    );
    let why = if case.why.is_empty() { result.status.name() } else { &case.why };
    let tag = match element(case) {
        Element::None if case.verdict == Verdict::Expected => {
            xml.push_str("/>\n");
            return;
        }
        Element::None => {
            let _ = writeln!(xml, "><system-out>{}</system-out></testcase>", escape(why));
            return;
        }
        Element::Skipped => "skipped",
        Element::Failure => "failure",
        Element::Error => "error",
    };
    let text = if tag == "skipped" && result.status.is_bad() {
        format!("expected {}: {why}", result.status)
    } else {
        why.to_string()
    };
    let _ = writeln!(
        xml,
        "><{tag} message=\"{}\">{}</{tag}></testcase>",
        escape(&text).replace('\n', " "),
        escape(&result.message)
    );
}
