//! Reports: what a run found, as serialisable data, as text and as Graphviz.
//!
//! # The JSON
//!
//! A report is one object:
//!
//! | field | meaning |
//! |---|---|
//! | `file`, `test` | the file and the name in it |
//! | `format` | `herd` or `khronos` |
//! | `model` | `chains` or `no-chains` |
//! | `by` | `axioms` or `machine` |
//! | `complete` | false if a bound was hit before some answer was exhaustive |
//! | `question` | the test's own question: `text`, `holds` (null if undecided), `witness` |
//! | `outcomes` | the final states of terminated executions: objects from observed name to value |
//! | `race_free` | `holds`, `witness` (a racy execution) |
//! | `terminates` | for the progress model asked for: `progress`, `holds`; its threads |
//! | `assertions` | of a `.test` file: `line`, `text`, `holds`, `witness` |
//! | `example` | some consistent execution, if relations were asked for and no answer has a witness |
//!
//! The threads of `terminates` are `running`, `blocked` and `stopped`: lists of their names.
//!
//! A witness is one execution: `events` (`id`, `thread`, `instruction`, `read`, `written`), `reads_from`
//! (`write`, null for the initial value, and `read`), `scoped_modification_order` (immediate pairs), `races`
//! (pairs), `state`, and `relations`: for each relation asked for by name, its pairs.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::model::RelationName;

use super::Test;
use super::run::{Answer, Evidence, Property, RunError, Settings};
use super::text;
use super::witness::Witness;
use crate::progress::ProgressModel;

/// What a run of one test found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The path of the test, as it was given.
    pub file: String,
    /// The name in the file.
    pub test: String,
    /// `herd` or `khronos`.
    pub format: &'static str,
    /// `chains` or `no-chains`.
    pub model: &'static str,
    /// `axioms` or `machine`.
    pub by: &'static str,
    /// Whether every answer is exhaustive.
    pub complete: bool,
    /// The test's own question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<AnswerReport>,
    /// The question about final states that the file asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Vec<BTreeMap<String, i64>>>,
    /// Whether no execution has a data race.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub race_free: Option<AnswerReport>,
    /// Whether all threads end, under each progress model asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminates: Option<TerminationReport>,
    /// Assertions of a `.test` file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<AnswerReport>,
    /// Some consistent execution, where relations were asked for and no answer rests on an execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<WitnessReport>,
}

/// The answer to an assertion or a question about a test.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerReport {
    /// The line in the file, for assertions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What was asked.
    pub text: String,
    /// The answer; null if a bound was hit first.
    pub holds: Option<bool>,
    /// How often a loop body was entered at most, where the answer rests on the absence of an execution and
    /// longer ones exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<usize>,
    /// The execution that it rests on.
    pub witness: Option<WitnessReport>,
}

/// An answer about termination.
#[derive(Clone, Debug, Serialize)]
pub struct TerminationReport {
    /// The progress model.
    pub progress: &'static str,
    /// The answer; null if a bound was hit first.
    pub holds: Option<bool>,
    /// Threads that can run for ever.
    pub running: Vec<String>,
    /// Threads then stuck at a control barrier.
    pub blocked: Vec<String>,
    /// Threads then never scheduled again.
    pub stopped: Vec<String>,
}

/// An execution that an answer rests on: its events, their relations and the final state.
#[derive(Clone, Debug, Serialize)]
pub struct WitnessReport {
    /// In the order of their numbers.
    pub events: Vec<EventReport>,
    /// Where the value of each read comes from.
    pub reads_from: Vec<ReadsFromReport>,
    /// Scoped modification order, immediate pairs.
    pub scoped_modification_order: Vec<(u32, u32)>,
    /// Data races.
    pub races: Vec<(u32, u32)>,
    /// The final state.
    pub state: BTreeMap<String, i64>,
    /// The relations asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub relations: BTreeMap<&'static str, Vec<(u32, u32)>>,
}

/// A memory operation, fence or barrier of an execution, and who executes it.
#[derive(Clone, Debug, Serialize)]
pub struct EventReport {
    /// Its number, which relations refer to.
    pub id: u32,
    /// Who executes it.
    pub thread: String,
    /// The instruction's text.
    pub instruction: String,
    /// The value read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<i64>,
    /// The value written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<i64>,
}

/// One pair of reads-from.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReadsFromReport {
    /// The write; null for the initial value.
    pub write: Option<u32>,
    /// The number of the event that reads.
    pub read: u32,
}

/// What to report beside the test's own question.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Termination under this model.
    pub progress: Option<ProgressModel>,
    /// Relations of each witness.
    pub relations: Vec<RelationName>,
}

impl Report {
    /// Runs everything that a report of a test holds.
    pub fn new(file: &str, test: &Test, settings: &Settings, wanted: &Wanted) -> Result<Report, RunError> {
        let mut report = Report {
            file: file.to_owned(),
            format: "khronos",
            model: if settings.options.chains { "chains" } else { "no-chains" },
            by: settings.by.name(),
            complete: true,
            ..Report::default()
        };
        match test {
            Test::Khronos(khronos) => {
                for (index, assertion) in khronos.assertions.iter().enumerate() {
                    let answer = super::run::run(test, Property::Assertion(index), settings)?;
                    report.complete &= answer.holds.is_some();
                    report.assertions.push(AnswerReport {
                        line: Some(assertion.line),
                        text: assertion.text.clone(),
                        ..AnswerReport::new(&answer, String::new(), wanted)
                    });
                }
            }
            Test::Herd(program) => {
                report.format = "herd";
                report.test = program.name.clone();
                if let Some(question) = &program.question {
                    let answer = super::run::run(test, Property::Outcome, settings)?;
                    let (condition, _) = question.witness();
                    let word = match question {
                        super::program::Question::Exists(_) => "exists",
                        super::program::Question::NotExists(_) => "~exists",
                        super::program::Question::ForAll(_) => "forall",
                    };
                    let text = format!("{word} {}", text::condition(program, condition));
                    let asked = AnswerReport::new(&answer, text, wanted).within(&answer, settings);
                    report.complete &= answer.holds.is_some() && asked.rounds.is_none();
                    report.question = Some(asked);
                }
                let found = super::run::outcomes(program, settings);
                let names: Vec<String> =
                    program.observables().into_iter().map(|term| program.term_name(term)).collect();
                report.complete &= found.exhaustive();
                report.outcomes = Some(
                    found
                        .outcomes
                        .iter()
                        .map(|state| names.iter().cloned().zip(state.iter().copied()).collect())
                        .collect(),
                );
                let answer = super::run::run(test, Property::RaceFree, settings)?;
                let asked =
                    AnswerReport::new(&answer, "race-free".to_owned(), wanted).within(&answer, settings);
                report.complete &= answer.holds.is_some() && asked.rounds.is_none();
                report.race_free = Some(asked);
                if let Some(model) = wanted.progress {
                    let answer = super::run::run(test, Property::Terminates(model), settings)?;
                    report.complete &= answer.holds.is_some();
                    let names = |threads: &[usize]| {
                        threads.iter().map(|thread| format!("P{}", program.threads[*thread].id)).collect()
                    };
                    let stuck = match &answer.evidence {
                        Evidence::Termination(found) => found.stuck.as_ref(),
                        _ => None,
                    };
                    report.terminates = Some(TerminationReport {
                        progress: model.name(),
                        holds: answer.holds,
                        running: stuck.map_or_else(Vec::new, |stuck| names(&stuck.running)),
                        blocked: stuck.map_or_else(Vec::new, |stuck| names(&stuck.blocked)),
                        stopped: stuck.map_or_else(Vec::new, |stuck| names(&stuck.stopped)),
                    });
                }
            }
        }
        if !wanted.relations.is_empty() && report.witnesses().next().is_none() {
            let example = super::run::example(test, settings)?;
            report.example = example.map(|witness| WitnessReport::new(&witness, &wanted.relations));
        }
        Ok(report)
    }

    /// Whether every assertion holds (a `.litmus` file asserts nothing).
    pub fn as_asserted(&self) -> bool {
        self.assertions.iter().all(|assertion| assertion.holds == Some(true))
    }

    /// The executions that the report shows.
    pub fn witnesses(&self) -> impl Iterator<Item = (&str, &WitnessReport)> {
        self.question
            .iter()
            .chain(&self.race_free)
            .chain(&self.assertions)
            .filter_map(|answer| answer.witness.as_ref().map(|witness| (answer.text.as_str(), witness)))
    }

    /// The report for people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let name = if self.test.is_empty() { &self.file } else { &self.test };
        let _ = writeln!(text, "test {name} ({}, by {})", self.model, self.by);
        if let Some(outcomes) = &self.outcomes {
            let _ = writeln!(text, "outcomes: {}", outcomes.len());
            for state in outcomes {
                let _ = writeln!(text, "  {}", state_line(state));
            }
        }
        if let Some(question) = &self.question {
            let _ = writeln!(text, "{}: {}", question.text, question.word());
        }
        if let Some(race_free) = &self.race_free {
            let _ = writeln!(text, "race-free: {}", race_free.word());
            if let Some(witness) = &race_free.witness {
                text.push_str(&witness.text("  "));
            }
        }
        if let Some(terminates) = &self.terminates {
            let _ =
                write!(text, "terminates under {}: {}", terminates.progress, answer_word(terminates.holds));
            for (verb, threads) in [
                ("runs for ever", &terminates.running),
                ("stuck at a control barrier", &terminates.blocked),
                ("never scheduled", &terminates.stopped),
            ] {
                if !threads.is_empty() {
                    let _ = write!(text, "; {verb}: {}", threads.join(", "));
                }
            }
            text.push('\n');
        }
        for assertion in &self.assertions {
            let _ = writeln!(
                text,
                "line {}: {}: {}",
                assertion.line.unwrap_or(0),
                assertion.text,
                match assertion.holds {
                    Some(true) => "as asserted",
                    Some(false) => "NOT as asserted",
                    None => "undecided",
                }
            );
            if let Some(witness) = &assertion.witness {
                text.push_str(&witness.text("  "));
            }
        }
        if let Some(witness) = self.question.as_ref().and_then(|question| question.witness.as_ref()) {
            let shown = witness.text("  ");
            if text.contains(&shown) {
                let _ = writeln!(text, "witness of the question: the execution above");
            } else {
                let _ = write!(text, "witness of the question:\n{shown}");
            }
        }
        if let Some(witness) = &self.example {
            let _ = writeln!(text, "an execution:");
            text.push_str(&witness.text("  "));
        }
        let _ = writeln!(text, "complete: {}", self.complete);
        text
    }

    /// The executions as Graphviz digraphs, one after another.
    pub fn graph(&self) -> String {
        self.witnesses().enumerate().map(|(index, (title, witness))| witness.graph(index, title)).collect()
    }
}

fn answer_word(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "undecided: a bound was hit",
    }
}

fn state_line(state: &BTreeMap<String, i64>) -> String {
    state.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

impl AnswerReport {
    /// Notes the unrolling if the answer is one about executions no longer than it.
    fn within(self, answer: &Answer, settings: &Settings) -> AnswerReport {
        let cut =
            matches!(&answer.evidence, Evidence::Executions(found) if found.cut && found.witness.is_none());
        AnswerReport { rounds: (cut && self.holds.is_some()).then_some(settings.limits.unroll), ..self }
    }

    fn word(&self) -> String {
        let word = answer_word(self.holds);
        match self.rounds {
            Some(rounds) => format!("{word}, as far as {rounds} rounds of each loop show"),
            None => word.to_owned(),
        }
    }

    fn new(answer: &Answer, text: String, wanted: &Wanted) -> AnswerReport {
        AnswerReport {
            line: None,
            text,
            holds: answer.holds,
            rounds: None,
            witness: answer.witness().map(|witness| WitnessReport::new(witness, &wanted.relations)),
        }
    }
}

impl WitnessReport {
    /// The execution, with the relations of these names.
    pub fn new(witness: &Witness, relations: &[RelationName]) -> WitnessReport {
        let judgement = witness.execution.judge(&witness.options);
        let relations = relations
            .iter()
            .filter_map(|name| {
                let judgement = judgement.as_ref().ok()?;
                Some((name.name(), judgement.relation(*name).pairs().collect()))
            })
            .collect();
        WitnessReport {
            events: witness
                .labels
                .iter()
                .enumerate()
                .map(|(id, label)| EventReport {
                    id: id as u32,
                    thread: label.agent.clone(),
                    instruction: label.instruction.clone(),
                    read: label.read,
                    written: label.written,
                })
                .collect(),
            reads_from: witness
                .reads_from
                .iter()
                .map(|(write, read)| ReadsFromReport { write: *write, read: *read })
                .collect(),
            scoped_modification_order: witness.modification.clone(),
            races: witness.races.iter().map(|race| (race.first, race.second)).collect(),
            state: witness.names.iter().cloned().zip(witness.state.iter().map(|(_, value)| *value)).collect(),
            relations,
        }
    }

    fn pair(&self, pair: (u32, u32)) -> String {
        format!("e{} -> e{}", pair.0, pair.1)
    }

    /// The execution for people, each line behind `indent`.
    pub fn text(&self, indent: &str) -> String {
        let mut text = String::new();
        for event in &self.events {
            let _ = write!(text, "{indent}e{:<3} {}: {}", event.id, event.thread, event.instruction);
            if let Some(value) = event.read {
                let _ = write!(text, "  reads {value}");
            }
            if let (Some(value), Some(_)) = (event.written, event.read) {
                let _ = write!(text, ", writes {value}");
            }
            text.push('\n');
        }
        let pairs =
            |pairs: &[(u32, u32)]| pairs.iter().map(|pair| self.pair(*pair)).collect::<Vec<_>>().join(", ");
        let sources: Vec<String> = self
            .reads_from
            .iter()
            .map(|pair| match pair.write {
                Some(write) => self.pair((write, pair.read)),
                None => format!("initial -> e{}", pair.read),
            })
            .collect();
        for (name, line) in [
            ("reads-from", sources.join(", ")),
            ("scoped-modification-order", pairs(&self.scoped_modification_order)),
            (
                "data-race",
                self.races.iter().map(|(a, b)| format!("e{a} with e{b}")).collect::<Vec<_>>().join(", "),
            ),
            ("final state", state_line(&self.state)),
        ] {
            if !line.is_empty() {
                let _ = writeln!(text, "{indent}{name}: {line}");
            }
        }
        for (name, relation) in &self.relations {
            let _ = writeln!(text, "{indent}{name}: {}", pairs(relation));
        }
        text
    }

    /// The execution as a Graphviz digraph: one cluster for each thread.
    pub fn graph(&self, index: usize, title: &str) -> String {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut graph =
            format!("digraph execution{index} {{\n  label=\"{}\";\n  node [shape=box];\n", escape(title));
        let mut threads: Vec<&str> = self.events.iter().map(|event| event.thread.as_str()).collect();
        threads.dedup();
        for (cluster, thread) in threads.iter().enumerate() {
            let _ = writeln!(graph, "  subgraph cluster{cluster} {{\n    label=\"{}\";", escape(thread));
            let own: Vec<&EventReport> = self.events.iter().filter(|event| event.thread == *thread).collect();
            for event in &own {
                let value = event.read.map_or(String::new(), |value| format!(" = {value}"));
                let text = escape(&format!("e{}: {}{value}", event.id, event.instruction));
                let _ = writeln!(graph, "    e{} [label=\"{text}\"];", event.id);
            }
            for pair in own.windows(2) {
                let _ = writeln!(graph, "    e{} -> e{} [label=\"po\", color=gray];", pair[0].id, pair[1].id);
            }
            graph.push_str("  }\n");
        }
        for (index, pair) in self.reads_from.iter().enumerate() {
            match pair.write {
                Some(write) => {
                    let _ = writeln!(graph, "  e{write} -> e{} [label=\"rf\", color=darkgreen];", pair.read);
                }
                None => {
                    let _ = writeln!(graph, "  i{index} [label=\"initial\", shape=plaintext];");
                    let _ = writeln!(graph, "  i{index} -> e{} [label=\"rf\", color=darkgreen];", pair.read);
                }
            }
        }
        for (a, b) in &self.scoped_modification_order {
            let _ = writeln!(graph, "  e{a} -> e{b} [label=\"asmo\", color=blue];");
        }
        for (a, b) in &self.races {
            let _ = writeln!(graph, "  e{a} -> e{b} [label=\"data race\", color=red, dir=none, style=bold];");
        }
        for (name, pairs) in &self.relations {
            for (a, b) in pairs {
                let _ = writeln!(graph, "  e{a} -> e{b} [label=\"{name}\", style=dashed];");
            }
        }
        graph.push_str("}\n");
        graph
    }
}
