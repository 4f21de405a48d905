//! What a sample says about a property, and what it does not: a state that was seen is reachable, a race that
//! was found is one; what was not seen is just that.

use super::sample::Sample;
use pellucid_memory::litmus::Test;
use pellucid_memory::litmus::axioms::{self, Goal, Limits};
use pellucid_memory::litmus::program::{Comparison, Condition, Instruction, LitmusProgram, Question, Term};
use pellucid_memory::litmus::run::{self, By, Evidence, Property, Settings};
use std::collections::BTreeSet;

/// How far loops are unrolled before a state of a looping program counts as one that the axioms do not reach.
const DEEP: usize = 16;

/// The answer of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Decided, by so many runs that show it.
    Seen {
        /// The answer.
        holds: bool,
        /// Among those that count.
        runs: u64,
    },
    /// Decided, as far as execution in program order goes: all executions that there are show no opposite.
    Exhausted {
        /// The answer.
        holds: bool,
        /// The executions that count.
        runs: u64,
    },
    /// Undecided: no run shows what would decide it.
    NotSeen {
        /// The answer that a run would have given.
        sought: bool,
        /// The runs that count.
        runs: u64,
    },
}

impl Answer {
    fn of(runs: u64, sample: &Sample, exhaustive: bool, sought: bool) -> Answer {
        let counted = sample.counted();
        match runs {
            0 if exhaustive => Answer::Exhausted { holds: !sought, runs: counted },
            0 => Answer::NotSeen { sought, runs: counted },
            runs => Answer::Seen { holds: sought, runs },
        }
    }

    /// The answer to a property; why there is none where the property cannot be sampled.
    pub fn new(program: &LitmusProgram, property: Property, sample: &Sample) -> Result<Answer, String> {
        match property {
            Property::Outcome => match &program.question {
                Some(question) => Ok(Answer::question(program, question, sample)),
                None => Err(run::RunError::NoQuestion.to_string()),
            },
            Property::RaceFree => match sample.racy {
                Some(racy) => Ok(Answer::of(racy, sample, sample.all_races, false)),
                None => Err("of race-free: this driver tells no races".to_owned()),
            },
            other => Err(format!("of {other}: runs that end say nothing about those that do not")),
        }
    }

    /// The answer to the test's own question.
    pub fn question(program: &LitmusProgram, question: &Question, sample: &Sample) -> Answer {
        let terms = program.observables();
        let (condition, wanted) = question.witness();
        let decides = |state: &[i64]| {
            let value =
                |of: Term| terms.iter().zip(state).find(|(term, _)| **term == of).map(|(_, value)| *value);
            condition.evaluate(&value) == Some(wanted)
        };
        let runs = sample.seen.iter().filter(|(state, _)| decides(state)).map(|(_, (runs, _))| runs).sum();
        Answer::of(runs, sample, sample.all_states, question.answer(true))
    }

    /// The answer as far as it is one.
    pub fn holds(self) -> Option<bool> {
        match self {
            Answer::Seen { holds, .. } | Answer::Exhausted { holds, .. } => Some(holds),
            Answer::NotSeen { .. } => None,
        }
    }
}

/// An answer beside what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A run shows what was expected, or what nothing was expected of.
    Shown,
    /// A run shows the opposite.
    Contradicted,
    /// Nothing that was seen speaks against what was expected.
    NotRefuted,
    /// What was expected to be reachable was not seen.
    Unseen,
    /// Nothing was expected, and no run decides it.
    Open,
}

impl Verdict {
    /// The verdict on an answer.
    pub fn of(answer: Answer, expected: Option<bool>) -> Verdict {
        match (answer, expected) {
            (Answer::Seen { .. } | Answer::Exhausted { .. }, None) => Verdict::Shown,
            (Answer::NotSeen { .. }, None) => Verdict::Open,
            (Answer::Seen { holds, .. } | Answer::Exhausted { holds, .. }, Some(expected))
                if holds == expected =>
            {
                Verdict::Shown
            }
            (Answer::Exhausted { .. }, Some(_)) => Verdict::Unseen,
            (Answer::Seen { .. }, Some(_)) => Verdict::Contradicted,
            (Answer::NotSeen { sought, .. }, Some(expected)) if sought == expected => Verdict::Unseen,
            (Answer::NotSeen { .. }, Some(_)) => Verdict::NotRefuted,
        }
    }
}

/// A sample beside the axioms.
#[derive(Clone, Debug, Default)]
pub struct AgainstAxioms {
    /// Final states that the axioms allow.
    pub allowed: BTreeSet<Vec<i64>>,
    /// States among them that were not seen.
    pub not_seen: Vec<Vec<i64>>,
    /// States that were seen and that the axioms forbid.
    pub forbidden: Vec<Vec<i64>>,
    /// States that were seen and that the axioms did not reach within a bound.
    pub unknown: Vec<Vec<i64>>,
    /// Whether the axioms call the test race-free, if they decided.
    pub race_free: Option<bool>,
    /// Whether the axioms' search was exhaustive.
    pub complete: bool,
    /// A race was found in a test without one.
    pub false_race: bool,
}

impl AgainstAxioms {
    /// Compares a sample with the axioms.
    pub fn new(program: &LitmusProgram, settings: &Settings, sample: &Sample) -> AgainstAxioms {
        let settings = Settings { by: By::Axioms, ..*settings };
        let found = run::outcomes(program, &settings);
        let test = Test::Herd(program.clone());
        let race_free = run::run(&test, Property::RaceFree, &settings).ok().and_then(|answer| {
            let cut = matches!(&answer.evidence, Evidence::Executions(found) if found.cut);
            answer.holds.filter(|holds| !holds || !cut)
        });
        let complete = found.exhaustive();
        let (mut forbidden, mut unknown) = (Vec::new(), Vec::new());
        for state in sample.seen.keys().filter(|state| !found.outcomes.contains(*state)) {
            match reached(program, &settings, state, complete) {
                Some(true) => {}
                Some(false) => forbidden.push(state.clone()),
                None => unknown.push(state.clone()),
            }
        }
        AgainstAxioms {
            not_seen: found.outcomes.iter().filter(|s| !sample.seen.contains_key(*s)).cloned().collect(),
            allowed: found.outcomes,
            forbidden,
            unknown,
            race_free,
            complete,
            false_race: sample.race.is_some() && race_free == Some(true),
        }
    }

    /// Whether the driver did something that the axioms forbid.
    pub fn contradicts(&self) -> bool {
        !self.forbidden.is_empty() || self.false_race
    }

    /// Whether the axioms allow a state; `None` where a bound was hit.
    pub fn allows(&self, state: &[i64]) -> Option<bool> {
        let among = |list: &[Vec<i64>]| list.iter().any(|known| known == state);
        if among(&self.unknown) { None } else { Some(!among(&self.forbidden)) }
    }
}

/// Whether the axioms reach a state that is not among the outcomes of a search; a looping program is unrolled
/// further.
fn reached(program: &LitmusProgram, settings: &Settings, state: &[i64], complete: bool) -> Option<bool> {
    let backwards = |thread: &pellucid_memory::litmus::program::Thread| {
        thread.code.iter().enumerate().any(|(pc, instruction)| match instruction {
            Instruction::Goto(to) | Instruction::Branch(_, _, _, to) => *to <= pc,
            _ => false,
        })
    };
    if !program.threads.iter().any(backwards) {
        return complete.then_some(false);
    }
    let terms = program.observables();
    let equals = terms
        .iter()
        .zip(state)
        .map(|(term, value)| Condition::Compare(Comparison::Equal, *term, Term::Constant(*value)));
    let condition = equals.reduce(|a, b| Condition::And(Box::new(a), Box::new(b)))?;
    let limits = Limits { unroll: settings.limits.unroll.max(DEEP), ..settings.limits };
    let options = settings.options(&Test::Herd(program.clone()));
    let found = axioms::search(program, &options, &limits, &Goal::State(&condition, true));
    if found.witness.is_some() { Some(true) } else { None }
}

#[cfg(test)]
mod tests;
