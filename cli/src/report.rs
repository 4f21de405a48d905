//! Report files, as `--report` writes them, in other forms.

mod html;
mod last_turns;
mod markup;
mod picture;
mod sarif;
mod specification;
mod timeline;

use crate::status;
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::path::{Path, PathBuf};
use vulkan_pellucid::report::json::SCHEMA;
use vulkan_pellucid::report::total::total_line;

/// What to show, and how.
#[derive(Args)]
pub struct ReportArgs {
    /// A file that --report wrote
    file: PathBuf,
    /// The form, to standard output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// How a report is shown.
#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    /// As the run printed it.
    Text,
    /// For code hosts and editors.
    Sarif,
    /// One page.
    Html,
}

/// The lines of a report file.
pub struct Report {
    lines: Vec<Value>,
}

impl Report {
    /// Reads a report file: it, and its text.
    ///
    /// # Errors
    /// The file cannot be read or is no report, which is the caller's error.
    pub fn read(path: &Path) -> anyhow::Result<(Report, String)> {
        let text = status::text(path)?;
        let report = Report::parse(&text).with_context(|| path.display().to_string());
        Ok((status::usage(report)?, text))
    }

    /// Reads the text of a report file.
    ///
    /// # Errors
    /// It is no report.
    pub fn parse(text: &str) -> anyhow::Result<Report> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let value: Value = serde_json::from_str(line).with_context(|| match lines.len() {
                0 => format!(
                    "not a report, which --report FILE of run, exec, explore and hunt writes: line {number} is no JSON"
                ),
                // A program that was killed may have left half a line.
                _ => format!("line {number} is no JSON"),
            })?;
            if value["type"] == "run" && value["schema"] != SCHEMA {
                bail!("line {number}: schema {}; this version reads {SCHEMA}", value["schema"]);
            }
            lines.push(value);
        }
        if lines.first().is_none_or(|first| first["type"] != "run") {
            bail!("not a report: the first line is not a run");
        }
        Ok(Report { lines })
    }

    /// Its lines of one type.
    pub fn of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.lines.iter().filter(move |line| line["type"] == kind)
    }

    /// The report in one of the formats.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn shown(&self, format: Format) -> anyhow::Result<String> {
        Ok(match format {
            Format::Text => self.text(),
            Format::Sarif => serde_json::to_string_pretty(&sarif::render(self))? + "\n",
            Format::Html => html::render(self),
        })
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for line in &self.lines {
            match line["type"].as_str() {
                Some("finding" | "trap" | "explored") => {
                    out.push_str(&format!("{}\n", line["text"].as_str().unwrap_or_default()))
                }
                Some("not-implemented") => {
                    out.push_str(&format!("pellucid: {}\n\n", line["message"].as_str().unwrap_or_default()));
                }
                Some("total") => out.push_str(&format!("pellucid: {}\n", total(line))),
                _ => {}
            }
        }
        out
    }
}

/// The last line of what a report tells; that of a hunt is of all its runs.
fn total(line: &Value) -> String {
    let number = |key: &str| line[key].as_u64().unwrap_or(0);
    let plural = |n: u64, noun: &str| if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") };
    match line["runs"].as_u64() {
        Some(runs) => {
            let [runs, findings] =
                [(runs, "run"), (number("findings"), "distinct finding")].map(|(n, noun)| plural(n, noun));
            format!("{runs}: {findings}, {} suppressed", number("suppressed"))
        }
        None => total_line(line),
    }
}

/// The page of a report file.
///
/// # Errors
/// The file cannot be read or is no report.
pub fn page(path: &Path) -> anyhow::Result<String> {
    Report::read(path)?.0.shown(Format::Html)
}

/// `pellucid report`.
///
/// # Errors
/// The file cannot be read or is no report.
pub fn run(arguments: &ReportArgs) -> anyhow::Result<()> {
    let (report, _) = Report::read(&arguments.file)?;
    print!("{}", report.shown(arguments.format)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const LINES: &str = r#"{"type":"run","schema":1,"pellucid":"0.1.0","seed":0,"options":{},"replay":"pellucid run --seed 0 -- app"}
{"type":"finding","id":"race-not-visible","number":1,"title":"a read may miss a write that happens before it","help":["add <it>"],"notes":[],"replay":"pellucid run --seed 0 -- app","text":"error[race-not-visible]: ...\n","accesses":[{"label":"(1) written","source":{"file":"a.comp","line":6,"column":5}},{"label":"(2) read","source":{"file":"a.comp","line":12,"column":18}}]}
{"type":"total","findings":1,"families":{"race":1},"suppressed":0,"seed":0,"dispatches":1,"traps":0}
"#;

    #[test]
    fn text_is_what_the_run_printed() {
        expect![[r#"
            error[race-not-visible]: ...

            pellucid: 1 finding (1 race), 0 suppressed, seed 0, 1 dispatch checked
        "#]]
        .assert_eq(&Report::parse(LINES).unwrap().text());
    }

    #[test]
    fn sarif_has_a_rule_a_location_and_a_related_location() {
        let sarif = sarif::render(&Report::parse(LINES).unwrap());
        let run = &sarif["runs"][0];
        assert_eq!(sarif["version"], "2.1.0");
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "race-not-visible");
        let result = &run["results"][0];
        assert_eq!(result["ruleId"], "race-not-visible");
        assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 12);
        assert_eq!(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 6);
    }

    #[test]
    fn sarif_says_where_the_commands_of_a_hazard_are() {
        let line = r#"{"type":"finding","number":1,"id":"hazard-read-after-write","family":"hazard","title":"t","text":"","commands":[{"command":"vkCmdCopyBuffer","position":"command 1 of submission 1 on queue 0","title":"vkCmdCopyBuffer (command 1 of submission 1 on queue 0)","source":null},{"command":"vkCmdDispatch","position":"command 2 of submission 1 on queue 0","title":"dispatch 0","source":{"file":"a.comp","line":9,"column":5}}],"notes":[],"help":["h"],"replay":"r"}"#;
        let lines = LINES.lines().next().unwrap().to_owned() + "\n" + line + "\n";
        let sarif = sarif::render(&Report::parse(&lines).unwrap());
        let result = &sarif["runs"][0]["results"][0];
        let (second, first) = (&result["locations"][0], &result["relatedLocations"][0]);
        assert_eq!(second["physicalLocation"]["region"]["startLine"], 9);
        assert_eq!(second["physicalLocation"]["artifactLocation"]["uri"], "a.comp");
        assert_eq!(second["message"]["text"], "dispatch 0");
        let name = "command 1 of submission 1 on queue 0";
        assert_eq!(first["logicalLocations"][0]["fullyQualifiedName"], name);
        assert!(first.get("physicalLocation").is_none());
    }

    #[test]
    fn sarif_names_files_by_uri_references() {
        let lines = LINES.replace("a.comp", "my dir/b:#l%20ü.comp");
        let sarif = sarif::render(&Report::parse(&lines).unwrap());
        let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "my%20dir/b%3A%23l%2520%C3%BC.comp");
    }

    #[test]
    fn sarif_has_a_text_for_every_location() {
        let commands = [
            (r#"{"command":"vkCmdCopyBuffer","position":"command 2"}"#, "vkCmdCopyBuffer", true),
            (r#"{"host":{"after":"vkQueueSubmit"}}"#, "the host, after vkQueueSubmit", false),
        ];
        for (command, text, named) in commands {
            let line = format!(r#"{{"type":"finding","id":"host-in-flight","commands":[{command}]}}"#);
            let lines = LINES.lines().next().unwrap().to_owned() + "\n" + &line + "\n";
            let sarif = sarif::render(&Report::parse(&lines).unwrap());
            let location = &sarif["runs"][0]["results"][0]["locations"][0];
            assert_eq!(location["message"]["text"], text);
            assert_eq!(location.get("logicalLocations").is_some(), named);
        }
    }

    #[test]
    fn html_escapes_what_it_shows() {
        let html = html::render(&Report::parse(LINES).unwrap());
        assert!(html.starts_with("<!DOCTYPE html>"));
        assert!(
            html.contains("race-not-visible") && html.contains("add &lt;it&gt;") && !html.contains("<it>")
        );
    }

    /// A race whose notes and help have these words, and, where there are some, these kinds.
    fn page_of(words: [&str; 3], kinds: Option<[&str; 3]>) -> String {
        let (head, finding) = LINES.split_once('\n').unwrap();
        let mut finding: Value = serde_json::from_str(finding.lines().next().unwrap()).unwrap();
        finding["notes"] = words[..2].into();
        finding["help"] = words[2..].into();
        if let Some(kinds) = kinds {
            finding["note_kinds"] = kinds[..2].into();
            finding["help_kinds"] = kinds[2..].into();
        }
        html::render(&Report::parse(&format!("{head}\n{finding}\n")).unwrap())
    }

    /// What the picture has between the two accesses: class, section of the specification, and text.
    fn between(page: &str) -> String {
        let (_, way) = page.split_once("<div class=\"way\"").unwrap();
        let (way, _) = way.split_once("</ul>").unwrap();
        let item = |item: &str| {
            let (attributes, text) = item.split_once("</li>").unwrap().0.rsplit_once('>').unwrap();
            let section =
                attributes.split_once("\n(").map_or("-", |(_, section)| &section[..section.len() - 2]);
            format!("{} | {section} | {text}\n", attributes.split_once('"').unwrap().0)
        };
        way.split("<li class=\"").skip(1).map(item).collect()
    }

    #[test]
    fn kinds_decide_what_a_page_shows_of_notes_and_help() {
        let kinds = ["missing-availability", "happens-before", "control-barrier"];
        expect![[r#"
            has | Memory Model: Happens-Before | in a buffer
            lacks | Memory Model: Availability and Visibility | nothing of a scope
            fix | Memory Model: Barriers; Synchronizes-With; Availability and Visibility Semantics | fix: an atomic
        "#]]
        .assert_eq(&between(&page_of(["nothing of a scope", "in a buffer", "an atomic"], Some(kinds))));
    }

    #[test]
    fn a_report_without_kinds_has_a_page_without_what_they_decide() {
        let words = ["missing: a scope", "(1) happens before (2)", "add MakeAvailable"];
        let title = "lacks | Memory Model: Availability and Visibility | a read may miss a write that happens before it";
        assert_eq!(between(&page_of(words, None)), format!("{title}\nfix | - | fix: add MakeAvailable\n"));
        let unknown = page_of(words, Some(["of-a-later-version"; 3]));
        assert_eq!(between(&unknown), between(&page_of(words, None)));
    }

    #[test]
    fn what_is_no_report_is_refused() {
        assert!(Report::parse("{}").is_err());
        assert!(Report::parse("not json").is_err());
        assert!(Report::parse(r#"{"type":"run","schema":99}"#).is_err());
    }
}
