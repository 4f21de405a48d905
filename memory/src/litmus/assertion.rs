//! Deciding the assertions of a `.test` file: enumerates reads-from and scoped modification order for its one
//! skeleton.

use std::ops::ControlFlow;

use crate::model::{Candidate, Execution, Matrix, ModelOptions, PreExecution, Race, Row, Verdict, Wide};

use super::axioms::Limits;
use super::khronos::{Assertion, KhronosTest};
use super::predicate::JudgedExecution;
use super::witness::{Label, Witness};

/// Whether executions satisfy the predicate of an assertion, and how many were looked at.
#[derive(Clone, Debug)]
pub struct AssertionAnswer {
    /// An execution that satisfies the predicate, if there is one.
    pub witness: Option<Witness>,
    /// Candidates judged.
    pub judged: u64,
    /// Whether all were judged, or one that satisfies the predicate was found.
    pub complete: bool,
}

/// Why an assertion cannot be decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssertionError {
    /// The predicate joins what cannot be joined.
    #[error("line {line}: {why}")]
    Predicate {
        /// The line of the assertion.
        line: u32,
        /// What is wrong.
        why: &'static str,
    },
    /// More instructions than the engine takes.
    #[error("a test of {0} instructions: the axiomatic engine takes {max}", max = crate::model::MAX_EVENTS)]
    TooLarge(usize),
}

/// Looks for an execution that satisfies the assertion's predicate. `options.chains` is the assertion's own;
/// of the limits only that of candidates means something here.
pub fn decide(
    test: &KhronosTest,
    assertion: &Assertion,
    options: &ModelOptions,
    limits: &Limits,
) -> Result<AssertionAnswer, AssertionError> {
    let options = ModelOptions { chains: assertion.chains, ..*options };
    let answer = AssertionAnswer { witness: None, judged: 0, complete: true };
    if test.ill_formed.is_some() {
        return Ok(answer);
    }
    match test.instructions.len() {
        0..=64 => decide_with::<u64>(test, assertion, &options, limits, answer),
        65..=128 => decide_with::<Wide<2>>(test, assertion, &options, limits, answer),
        129..=256 => decide_with::<Wide<4>>(test, assertion, &options, limits, answer),
        257..=crate::model::MAX_EVENTS => decide_with::<Wide<16>>(test, assertion, &options, limits, answer),
        n => Err(AssertionError::TooLarge(n)),
    }
}

fn decide_with<R: Row>(
    test: &KhronosTest,
    assertion: &Assertion,
    options: &ModelOptions,
    limits: &Limits,
    answer: AssertionAnswer,
) -> Result<AssertionAnswer, AssertionError> {
    let n = test.instructions.len();
    let mut synchronizes = Matrix::<R>::empty(n);
    for (first, second) in &test.system_synchronizes {
        for (a, from) in test.instructions.iter().enumerate() {
            for (b, to) in test.instructions.iter().enumerate() {
                if from.thread == *first && to.thread == *second {
                    synchronizes.add(a, b);
                }
            }
        }
    }
    let events = test.instructions.iter().map(|i| i.event.normalised()).collect();
    let model = PreExecution::new(events, synchronizes.clone(), *options);
    let Some(sources) = sources(test) else { return Ok(answer) };
    let mut search = Search {
        test,
        assertion,
        model: &model,
        synchronizes: &synchronizes,
        consistent_only: assertion.predicate.demands_consistency(),
        candidates: limits.candidates,
        answer,
        error: None,
    };
    let candidate = Candidate::undecided(&model);
    let _ = search.choose_source(&candidate, &sources);
    match search.error {
        Some(why) => Err(AssertionError::Predicate { line: assertion.line, why }),
        None => Ok(search.answer),
    }
}

/// The possible sources of each read (`None` among them: the initial value), or `None` where one read has
/// none.
fn sources(test: &KhronosTest) -> Option<Vec<(usize, Vec<Option<usize>>)>> {
    let mut all = Vec::new();
    for (r, read) in test.instructions.iter().enumerate() {
        if !read.event.read {
            continue;
        }
        let mut forced: Vec<Option<usize>> = test
            .instructions
            .iter()
            .enumerate()
            .filter(|(_, w)| {
                w.event.write && w.event.reference == read.event.reference && w.written == read.read
            })
            .map(|(w, _)| Some(w))
            .collect();
        if read.read == 0 && !(read.event.write && read.written == 0) {
            forced.push(None);
        }
        let possible = match forced.as_slice() {
            [] => {
                let same = |w: &usize| {
                    let event = &test.instructions[*w].event;
                    *w != r && event.write && event.locations == read.event.locations
                };
                let writes = (0..test.instructions.len()).filter(same).map(Some);
                std::iter::once(None).chain(writes).collect()
            }
            [source] if *source != Some(r) => vec![*source],
            // Two sources are forced, or a read-modify-write reads itself: no execution.
            _ => return None,
        };
        all.push((r, possible));
    }
    all.sort_by_key(|(_, possible)| possible.len());
    Some(all)
}

struct Search<'a, R> {
    test: &'a KhronosTest,
    assertion: &'a Assertion,
    model: &'a PreExecution<R>,
    synchronizes: &'a Matrix<R>,
    consistent_only: bool,
    /// How many to judge at most.
    candidates: u64,
    answer: AssertionAnswer,
    error: Option<&'static str>,
}

impl<R: Row> Search<'_, R> {
    fn choose_source(
        &mut self,
        candidate: &Candidate<R>,
        reads: &[(usize, Vec<Option<usize>>)],
    ) -> ControlFlow<()> {
        let Some(((read, possible), rest)) = reads.split_first() else {
            let writes = self.model.atomic & self.model.write;
            let mut pairs = Vec::new();
            for a in writes.members() {
                for b in (self.model.mutually_ordered.row(a) & writes).members() {
                    if a < b {
                        pairs.push((a, b));
                    }
                }
            }
            return self.choose_order(candidate, &pairs);
        };
        for source in possible {
            let mut next = candidate.clone();
            match source {
                Some(write) => next.reads_from[0].add(*write, *read),
                None => next.initial[0] |= R::bit(*read),
            }
            if self.consistent_only && possible.len() > 1 {
                self.count()?;
                if !Verdict::new(self.model, &next).consistent() {
                    continue;
                }
            }
            self.choose_source(&next, rest)?;
        }
        ControlFlow::Continue(())
    }

    fn choose_order(&mut self, candidate: &Candidate<R>, pairs: &[(usize, usize)]) -> ControlFlow<()> {
        let Some(((a, b), rest)) = pairs.split_first().map(|(first, rest)| (*first, rest)) else {
            return self.judge(candidate);
        };
        for (first, second) in [(a, b), (b, a)] {
            let mut next = candidate.clone();
            next.modification.add(first, second);
            if next.modification.acyclic() {
                self.choose_order(&next, rest)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Counts one more candidate, unless there were enough.
    fn count(&mut self) -> ControlFlow<()> {
        if self.answer.judged >= self.candidates {
            self.answer.complete = false;
            return ControlFlow::Break(());
        }
        self.answer.judged += 1;
        ControlFlow::Continue(())
    }

    fn judge(&mut self, candidate: &Candidate<R>) -> ControlFlow<()> {
        self.count()?;
        let verdict = Verdict::new(self.model, candidate);
        if self.consistent_only && !verdict.consistent() {
            return ControlFlow::Continue(());
        }
        let judged = JudgedExecution { model: self.model, candidate, verdict: &verdict };
        match self.assertion.predicate.holds(&judged) {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => {
                self.answer.witness = Some(self.witness(candidate, &verdict));
                ControlFlow::Break(())
            }
            Err(why) => {
                self.error = Some(why);
                ControlFlow::Break(())
            }
        }
    }

    fn witness(&self, candidate: &Candidate<R>, verdict: &Verdict<R>) -> Witness {
        let mut execution = Execution::new();
        let mut labels = Vec::new();
        for (pc, instruction) in self.test.instructions.iter().enumerate() {
            execution.push(instruction.event.clone());
            let event = &instruction.event;
            labels.push(Label {
                thread: instruction.thread,
                agent: format!("P{}", instruction.thread),
                instruction: instruction.text.clone(),
                pc,
                variable: event.locations.map(|_| self.test.variables[event.reference as usize].clone()),
                read: (event.read && instruction.read >= 0).then_some(instruction.read),
                written: (event.write && instruction.written >= 0).then_some(instruction.written),
            });
        }
        for (a, b) in self.synchronizes.pairs() {
            execution.system_synchronizes(a as u32, b as u32);
        }
        let mut reads_from: Vec<(Option<u32>, u32)> =
            candidate.initial[0].members().map(|read| (None, read as u32)).collect();
        for (write, read) in candidate.reads_from[0].pairs() {
            execution.reads_from(write as u32, read as u32);
            reads_from.push((Some(write as u32), read as u32));
        }
        reads_from.sort_by_key(|(_, read)| *read);
        execution.modification_order(super::candidate::topological(&candidate.modification));
        let mut immediate = candidate.modification.clone();
        immediate.subtract(&candidate.modification.compose(&candidate.modification.closure()));
        let races = verdict.races(self.model);
        Witness {
            execution,
            options: self.model.options,
            labels,
            reads_from,
            modification: immediate.pairs().map(|(a, b)| (a as u32, b as u32)).collect(),
            races: races
                .pairs()
                .filter(|(a, b)| a < b)
                .map(|(first, second)| Race { first: first as u32, second: second as u32 })
                .collect(),
            state: Vec::new(),
            names: Vec::new(),
        }
    }
}
