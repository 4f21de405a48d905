//! What exploration of a dispatch found, as text and JSON: whether it is complete, the outcomes, and how to
//! see each again.

use super::element::Element;
use pellucid_memory::explore::{Choices, Totals};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A buffer whose contents are part of each outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownBuffer {
    /// Where the shader finds it: `0:1`.
    pub place: String,
    /// How its elements are shown.
    pub element: Element,
}

/// How often something occurred, and the first execution in which it did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// Executions.
    pub count: u64,
    /// The choices that lead to the first execution in which it occurred.
    pub first: Choices,
}

impl Occurrences {
    /// One more.
    pub fn add(&mut self, choices: &Choices) {
        if self.count == 0 {
            self.first = choices.clone();
        }
        self.count += 1;
    }
}

/// The executions with one outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// With or without findings.
    pub all: Occurrences,
    /// Those in which something was found.
    pub found: Occurrences,
}

/// What was explored of one dispatch.
#[derive(Clone, Debug)]
pub struct Explored<'a> {
    /// The dispatch.
    pub title: String,
    /// Its number on its device.
    pub dispatch: u32,
    /// Numbers and limits.
    pub totals: &'a Totals,
    /// The buffers of the outcomes.
    pub buffers: &'a [ShownBuffer],
    /// By the contents of those buffers; of executions that ended without a trap.
    pub outcomes: &'a BTreeMap<Vec<Vec<u8>>, Outcome>,
    /// Executions that ended in a trap, by its message.
    pub failing: &'a BTreeMap<String, Occurrences>,
    /// Only one execution was asked for.
    pub replayed: bool,
}

/// Elements up to which an outcome shows all instead of those that differ.
const FEW: usize = 16;

fn plural(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

impl Explored<'_> {
    fn found(&self) -> u64 {
        self.outcomes.values().map(|outcome| outcome.found.count).sum()
    }

    /// Per buffer, the elements that an outcome shows.
    fn shown(&self) -> Vec<Vec<usize>> {
        let buffers = self.buffers.iter().enumerate().map(|(b, buffer)| {
            let values: Vec<&[u8]> = self.outcomes.keys().map(|contents| &contents[b][..]).collect();
            let size = buffer.element.size();
            let count = values.first().map_or(0, |bytes| bytes.len().div_ceil(size));
            let element = |bytes: &[u8], i: usize| bytes.chunks(size).nth(i).map(<[u8]>::to_vec);
            let differs = |i: &usize| {
                count <= FEW || values.windows(2).any(|two| element(two[0], *i) != element(two[1], *i))
            };
            (0..count).filter(differs).collect()
        });
        buffers.collect()
    }

    fn contents(&self, contents: &[Vec<u8>], shown: &[Vec<usize>]) -> String {
        let mut parts = Vec::new();
        for ((buffer, bytes), elements) in self.buffers.iter().zip(contents).zip(shown) {
            let values = buffer.element.values(bytes);
            if elements.len() == values.len() {
                parts.push(format!("{} = {}", buffer.place, values.join(" ")));
            } else {
                parts.extend(elements.iter().map(|i| format!("{}[{i}] = {}", buffer.place, values[*i])));
            }
        }
        if parts.is_empty() { "nothing differs".to_owned() } else { parts.join(", ") }
    }

    /// The text, with so many outcomes at most (0: all). `replay` gives the command for an execution.
    pub fn render(&self, most: usize, replay: &dyn Fn(&Choices) -> String) -> String {
        let totals = self.totals;
        let verb = if self.replayed { "replayed" } else { "explored" };
        let mut text = format!("{verb}: {}\n", self.title);
        let repeats = plural(totals.repeated, "repeat");
        text.push_str(&format!(
            "   = complete: {}; {}, {repeats} cut short, {} with findings\n",
            totals.complete() && !self.replayed,
            plural(totals.executions, "execution"),
            self.found(),
        ));
        for limit in &totals.limits {
            text.push_str(&format!("   = bound: {}: {}\n", limit.name(), limit.explanation()));
        }
        text.push_str(&format!("   = outcomes: {}\n", self.outcomes.len()));
        let shown = self.shown();
        let most = if most == 0 { usize::MAX } else { most };
        for (contents, outcome) in self.outcomes.iter().take(most) {
            let found = match outcome.found.count {
                0 => "",
                n if n == outcome.all.count => ", all with findings",
                _ => ", some with findings",
            };
            text.push_str(&format!(
                "     {}   ({}{found})\n",
                self.contents(contents, &shown),
                plural(outcome.all.count, "execution")
            ));
            text.push_str(&format!("       replay: {}\n", replay(&outcome.all.first)));
            if outcome.found.count > 0 && outcome.found.first != outcome.all.first {
                text.push_str(&format!("       replay with findings: {}\n", replay(&outcome.found.first)));
            }
        }
        if self.outcomes.len() > most {
            let more = plural((self.outcomes.len() - most) as u64, "more outcome");
            text.push_str(&format!(
                "     {more}: the JSON of --report has them all; --max-reports 0 prints them\n"
            ));
        }
        for (message, failing) in self.failing {
            text.push_str(&format!("   = failing: {message} ({})\n", plural(failing.count, "execution")));
            text.push_str(&format!("       replay: {}\n", replay(&failing.first)));
        }
        text
    }

    /// The line of the report file.
    pub fn json(&self, replay: &dyn Fn(&Choices) -> String, rendered: &str) -> Value {
        let occurrences = |of: &Occurrences| match of.count {
            0 => Value::Null,
            count => json!({
                "executions": count,
                "choices": of.first.to_string(),
                "replay": replay(&of.first),
            }),
        };
        let outcomes: Vec<Value> = self
            .outcomes
            .iter()
            .map(|(contents, outcome)| {
                let buffers: BTreeMap<&str, Vec<String>> = self
                    .buffers
                    .iter()
                    .zip(contents)
                    .map(|(buffer, bytes)| (buffer.place.as_str(), buffer.element.values(bytes)))
                    .collect();
                json!({
                    "buffers": buffers,
                    "all": occurrences(&outcome.all),
                    "with_findings": occurrences(&outcome.found),
                })
            })
            .collect();
        let failing: Vec<Value> = self
            .failing
            .iter()
            .map(|(message, failing)| json!({ "message": message, "all": occurrences(failing) }))
            .collect();
        json!({
            "type": "explored",
            "dispatch": self.dispatch,
            "complete": self.totals.complete() && !self.replayed,
            "bounds": self.totals.limits.iter().map(|limit| limit.name()).collect::<Vec<_>>(),
            "executions": self.totals.executions,
            "repeated": self.totals.repeated,
            "with_findings": self.found(),
            "outcomes": outcomes,
            "failing": failing,
            "text": rendered,
        })
    }
}
