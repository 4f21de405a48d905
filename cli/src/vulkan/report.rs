//! A sample of one test for people and for programs.
//!
//! # The JSON
//!
//! One object, with the fields of [`pellucid_memory::litmus::report`] where they mean the same, `by` being
//! `vulkan` or `explore`, and `complete` false of every sample:
//!
//! - `file`, `test`, `format`, `model`, `by`, `complete`: as there
//! - `sample`: `device`, `seed`, `machine` (whose caches values come from, or null), `asked` and `runs`
//!   (that came to an end; of an exploration: executions, and at most how many), `filtered` and `blocked`
//!   (runs among them that do not count), `stopped` (why there are fewer runs than asked for, or which
//!   bounds an exploration hit; or null)
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
use pellucid_memory::litmus::program::{LitmusProgram, Question};
use pellucid_memory::litmus::run::{By, Settings};
use pellucid_memory::litmus::text;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// What was seen of one test.
pub struct SampleReport<'a> {
    file: String,
    program: &'a LitmusProgram,
    chains: bool,
    by: By,
    sample: &'a Sample,
    question: Option<(String, Answer)>,
    axioms: AgainstAxioms,
}

impl<'a> SampleReport<'a> {
    /// Compares a sample with the axioms and prepares its report.
    pub fn new(
        file: &str,
        program: &'a LitmusProgram,
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
            by: settings.by,
            sample,
            question,
            axioms: AgainstAxioms::new(program, settings, sample),
        }
    }

    /// Whether the driver did something that the axioms forbid.
    pub fn contradicts(&self) -> bool {
        self.axioms.contradicts()
    }

    /// What one run is called.
    fn run(&self) -> &'static str {
        if self.by == By::Explore { "execution" } else { "run" }
    }

    /// So many runs.
    fn runs(&self, count: u64) -> String {
        format!("{count} {}{}", self.run(), if count == 1 { "" } else { "s" })
    }

    fn question_words(&self, answer: Answer) -> String {
        match answer {
            Answer::Exhausted { holds: true, runs } => format!("yes, in each of {}", self.runs(runs)),
            Answer::Exhausted { holds: false, runs } => format!("no, in none of {}", self.runs(runs)),
            Answer::Seen { holds: true, runs } => format!("yes, seen in {}", self.runs(runs)),
            Answer::Seen { holds: false, runs } => format!("no, {} show the opposite", self.runs(runs)),
            Answer::NotSeen { sought: true, runs } => {
                format!("not seen in {}, which does not say that it is forbidden", self.runs(runs))
            }
            Answer::NotSeen { sought: false, runs } => {
                format!("nothing against it in {}, which does not prove it", self.runs(runs))
            }
        }
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
            "by": self.by.name(),
            "complete": sample.all_states,
            "sample": {
                "device": sample.device,
                "seed": sample.seed,
                "machine": sample.machine,
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
                Answer::Exhausted { .. } | Answer::NotSeen { .. } => 0,
            };
            report["question"] = json!({ "text": text, "holds": answer.holds(), "runs": runs });
        }
        report
    }

    /// The report for people.
    pub fn text(&self) -> String {
        let sample = self.sample;
        let mut text = String::new();
        let run = self.run();
        let _ = writeln!(text, "test {} ({}, by {})", self.program.name, self.model(), self.by.name());
        let _ = match self.by {
            By::Explore => writeln!(text, "{}: {}", sample.device, self.runs(sample.runs)),
            _ => {
                let machine = sample.machine.as_ref();
                let values =
                    machine.map_or(String::new(), |name| format!(", values from the caches of {name}"));
                writeln!(text, "{}: {} runs, seed {}{values}", sample.device, sample.runs, sample.seed)
            }
        };
        if let Some(why) = &sample.stopped {
            let _ = match self.by {
                By::Explore => writeln!(text, "  not all of them: {why}"),
                _ => writeln!(text, "  {} were asked for: {why}", sample.asked),
            };
        }
        for (left_out, why) in [
            (sample.filtered, "that the filter leaves out"),
            (sample.blocked, "in which a thread of the test would wait for ever at a control barrier"),
        ] {
            if left_out > 0 {
                let _ = writeln!(text, "  not counted: {left_out} {why}");
            }
        }
        let _ = writeln!(text, "outcomes seen: {}", sample.seen.len());
        for (state, (count, first)) in &sample.seen {
            let (state_line, runs) = (self.state_line(state), self.runs(*count));
            let _ = write!(text, "  {state_line}  in {runs}, first in {run} {first}");
            let mark = match self.axioms.allows(state) {
                Some(true) => "",
                Some(false) => "  FORBIDDEN by the axioms",
                None => "  (the axioms hit a bound before they reached it)",
            };
            let _ = writeln!(text, "{mark}");
        }
        if let Some((question, answer)) = &self.question {
            let _ = writeln!(text, "{question}: {}", self.question_words(*answer));
        }
        match (sample.racy, &sample.race) {
            (None, _) => {
                let _ = writeln!(text, "race-free: this driver tells no races");
            }
            (Some(racy), Some(race)) => {
                let (runs, first) = (self.runs(racy), race.run);
                let _ = writeln!(text, "race-free: no: a race in {runs}, first in {run} {first}");
                let _ = writeln!(text, "  {}: {}", race.id, race.title);
                for access in &race.accesses {
                    let _ = writeln!(text, "    {access}");
                }
            }
            (Some(_), None) => {
                let runs = self.runs(sample.counted());
                let _ = match sample.all_races {
                    true => writeln!(text, "race-free: yes, no race in {runs}"),
                    false => writeln!(text, "race-free: no race found in {runs}, which does not prove it"),
                };
            }
        }
        text.push_str(&self.axioms_text());
        let _ = match self.by {
            By::Explore => writeln!(text, "complete: {}", sample.all_states),
            _ => writeln!(text, "complete: false, as of any sample"),
        };
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
