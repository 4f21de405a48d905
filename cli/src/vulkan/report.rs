//! A sample of one test for people and for programs.
//!
//! # The JSON
//!
//! One object, with the fields of [`pellucid_memory::litmus::report`] where they mean the same, `by` being
//! `vulkan` and `complete` always false:
//!
//! - `file`, `test`, `format`, `model`, `by`, `complete`: as there
//! - `sample`: `device`, `seed`, `asked` and `runs` (that came to an end), `filtered` and `blocked` (runs
//!   among them that do not count), `stopped` (why there are fewer runs than asked for, or null)
//! - `question`: `text`; `holds`: an answer that a run shows, null if none does; `runs` that show it
//! - `outcomes`: the final states that were seen, as there
//! - `seen`: for each of them `state`, `runs`, `first` (a run, from 0) and `allowed` by the axioms (null if
//!   they hit a bound)
//! - `race_free`: `holds`: false where a race was found, otherwise null; `runs` with one; `race` (`run`,
//!   `id`, `title`, `accesses`); the field is null where the driver tells no races
//! - `axioms`: `complete`, `outcomes` that they allow, `not_seen` among them, `forbidden` ones that were
//!   seen, `race_free` (null if undecided), `contradicted`

use super::answer::{AgainstAxioms, Answer};
use super::sample::Sample;
use pellucid_memory::litmus::program::{Program, Question};
use pellucid_memory::litmus::run::Settings;
use pellucid_memory::litmus::text;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// What was seen of one test.
pub struct SampleReport<'a> {
    file: String,
    program: &'a Program,
    chains: bool,
    sample: &'a Sample,
    question: Option<(String, Answer)>,
    axioms: AgainstAxioms,
}

impl<'a> SampleReport<'a> {
    /// Compares a sample with the axioms and prepares its report.
    pub fn new(
        file: &str,
        program: &'a Program,
        settings: &Settings,
        sample: &'a Sample,
    ) -> SampleReport<'a> {
        let question = program.question.as_ref().map(|question| {
            let word = match question {
                Question::Exists(_) => "exists",
                Question::NotExists(_) => "~exists",
                Question::ForAll(_) => "forall",
            };
            let text = format!("{word} {}", text::condition(program, question.witness().0));
            (text, Answer::question(program, question, sample))
        });
        SampleReport {
            file: file.to_owned(),
            program,
            chains: settings.options.chains,
            sample,
            question,
            axioms: AgainstAxioms::new(program, settings, sample),
        }
    }

    /// Whether the driver did something that the axioms forbid.
    pub fn contradicts(&self) -> bool {
        self.axioms.contradicts()
    }

    fn model(&self) -> &'static str {
        if self.chains { "chains" } else { "no-chains" }
    }

    fn state(&self, values: &[i64]) -> Value {
        let terms = self.program.observables();
        let pairs = terms.iter().zip(values);
        let map: Map<String, Value> =
            pairs.map(|(term, value)| (self.program.term_name(*term), json!(value))).collect();
        map.into()
    }

    fn state_line(&self, values: &[i64]) -> String {
        let state = self.state(values);
        let pairs = state.as_object().into_iter().flatten();
        pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    /// The report for programs.
    pub fn json(&self) -> Value {
        let sample = self.sample;
        let states = |list: &[Vec<i64>]| list.iter().map(|state| self.state(state)).collect::<Vec<_>>();
        let seen = sample.seen.iter().map(|(state, (runs, first))| {
            json!({ "state": self.state(state), "runs": runs, "first": first, "allowed": self.axioms.allows(state) })
        });
        let race = sample.race.as_ref().map(
            |race| json!({ "run": race.run, "id": race.id, "title": race.title, "accesses": race.accesses }),
        );
        let mut report = json!({
            "file": self.file,
            "test": self.program.name,
            "format": "herd",
            "model": self.model(),
            "by": "vulkan",
            "complete": false,
            "sample": {
                "device": sample.device,
                "seed": sample.seed,
                "asked": sample.asked,
                "runs": sample.runs,
                "filtered": sample.filtered,
                "blocked": sample.blocked,
                "stopped": sample.stopped,
            },
            "outcomes": sample.seen.keys().map(|state| self.state(state)).collect::<Vec<_>>(),
            "seen": seen.collect::<Vec<_>>(),
            "race_free": sample.racy.map(|racy| {
                json!({ "holds": (racy > 0).then_some(false), "runs": racy, "race": race })
            }),
            "axioms": {
                "complete": self.axioms.complete,
                "outcomes": self.axioms.allowed.iter().map(|state| self.state(state)).collect::<Vec<_>>(),
                "not_seen": states(&self.axioms.not_seen),
                "forbidden": states(&self.axioms.forbidden),
                "race_free": self.axioms.race_free,
                "contradicted": self.axioms.contradicts(),
            },
        });
        if let Some((text, answer)) = &self.question {
            let runs = match answer {
                Answer::Seen { runs, .. } => *runs,
                Answer::NotSeen { .. } => 0,
            };
            report["question"] = json!({ "text": text, "holds": answer.holds(), "runs": runs });
        }
        report
    }

    /// The report for people.
    pub fn text(&self) -> String {
        let sample = self.sample;
        let mut text = String::new();
        let _ = writeln!(text, "test {} ({}, by vulkan)", self.program.name, self.model());
        let _ = writeln!(text, "{}: {} runs, seed {}", sample.device, sample.runs, sample.seed);
        if let Some(why) = &sample.stopped {
            let _ = writeln!(text, "  {} were asked for: {why}", sample.asked);
        }
        for (runs, why) in [
            (sample.filtered, "that the filter leaves out"),
            (sample.blocked, "in which a thread of the test would wait for ever at a control barrier"),
        ] {
            if runs > 0 {
                let _ = writeln!(text, "  not counted: {runs} {why}");
            }
        }
        let _ = writeln!(text, "outcomes seen: {}", sample.seen.len());
        for (state, (runs, first)) in &sample.seen {
            let _ = write!(text, "  {}  in {runs} runs, first in run {first}", self.state_line(state));
            let mark = match self.axioms.allows(state) {
                Some(true) => "",
                Some(false) => "  FORBIDDEN by the axioms",
                None => "  (the axioms hit a bound before they reached it)",
            };
            let _ = writeln!(text, "{mark}");
        }
        if let Some((question, answer)) = &self.question {
            let _ = writeln!(text, "{question}: {}", question_words(*answer));
        }
        match (sample.racy, &sample.race) {
            (None, _) => {
                let _ = writeln!(text, "race-free: this driver tells no races");
            }
            (Some(racy), Some(race)) => {
                let _ = writeln!(text, "race-free: no: a race in {racy} runs, first in run {}", race.run);
                let _ = writeln!(text, "  {}: {}", race.id, race.title);
                for access in &race.accesses {
                    let _ = writeln!(text, "    {access}");
                }
            }
            (Some(_), None) => {
                let counted = sample.counted();
                let _ = writeln!(text, "race-free: no race found in {counted} runs, which does not prove it");
            }
        }
        text.push_str(&self.axioms_text());
        let _ = writeln!(text, "complete: false, as of any sample");
        text
    }

    fn axioms_text(&self) -> String {
        let axioms = &self.axioms;
        let mut text = String::new();
        let (allowed, not_seen) = (axioms.allowed.len(), axioms.not_seen.len());
        let bound = if axioms.complete { "" } else { " (within a bound)" };
        let seen = allowed - not_seen;
        let _ = writeln!(text, "against the axioms: {seen} of {allowed} allowed outcomes seen{bound}");
        for state in &axioms.not_seen {
            let _ = writeln!(text, "  allowed, not seen: {}", self.state_line(state));
        }
        if !axioms.forbidden.is_empty() {
            let _ = writeln!(text, "  CONTRADICTED: {} outcomes that they forbid", axioms.forbidden.len());
        }
        match (axioms.race_free, self.sample.racy) {
            (_, None) => {}
            (Some(true), Some(1..)) => {
                let _ = writeln!(text, "  CONTRADICTED: a race, and the axioms say race-free");
            }
            (Some(false), Some(0)) => {
                let _ = writeln!(text, "  a race is possible, none was found");
            }
            (Some(race_free), _) => {
                let _ = writeln!(text, "  race-free: {}", if race_free { "yes" } else { "no" });
            }
            (None, _) => {
                let _ = writeln!(text, "  race-free: undecided: a bound was hit");
            }
        }
        text
    }
}

fn question_words(answer: Answer) -> String {
    match answer {
        Answer::Seen { holds: true, runs } => format!("yes, seen in {runs} runs"),
        Answer::Seen { holds: false, runs } => format!("no, {runs} runs show the opposite"),
        Answer::NotSeen { sought: true, runs } => {
            format!("not seen in {runs} runs, which does not say that it is forbidden")
        }
        Answer::NotSeen { sought: false, runs } => {
            format!("nothing against it in {runs} runs, which does not prove it")
        }
    }
}
