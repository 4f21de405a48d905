//! The candidate executions of one combination of paths: sources of reads, values, and the order of atomic
//! writes.

use std::ops::ControlFlow;

use crate::model::{Candidate, Execution, Matrix, PreExecution, Race, Row, Verdict};

use super::axioms::{Context, Goal};
use super::program::Term;
use super::skeleton::Skeleton;
use super::witness::{self, Witness};

/// Where a read gets its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Initial,
    Write(usize),
}

pub(super) struct Search<'a, 'b, R> {
    pub context: &'a mut Context<'b>,
    pub skeleton: &'a Skeleton,
    pub model: &'a PreExecution<R>,
    /// The writes to the location of each read.
    pub writes: Vec<Vec<usize>>,
    pub source: Vec<Option<Source>>,
    /// Values assumed for reads in value cycles.
    pub guess: Vec<Option<i64>>,
}

impl<R: Row> Search<'_, '_, R> {
    /// The value that a read returns, as far as known.
    fn value(&self, read: usize) -> Option<i64> {
        self.value_within(read, self.source.len() + 1)
    }

    fn value_within(&self, read: usize, depth: usize) -> Option<i64> {
        if let Some(guess) = self.guess[read] {
            return Some(guess);
        }
        match self.source[read]? {
            Source::Initial => {
                Some(self.context.program.initial[self.skeleton.reads[read].location as usize])
            }
            Source::Write(write) => self.written_within(write, depth.checked_sub(1)?),
        }
    }

    fn written_within(&self, write: usize, depth: usize) -> Option<i64> {
        let (thread, expression) = self.skeleton.written[write]?;
        self.skeleton
            .evaluate(self.context.paths, thread, expression, &mut |read| self.value_within(read, depth))
    }

    fn term(&self, term: Term) -> Option<i64> {
        match term {
            Term::Constant(value) => Some(value),
            Term::Register(thread, register) => {
                let expression = self.skeleton.registers[thread][register];
                self.skeleton.evaluate(self.context.paths, thread, expression, &mut |read| self.value(read))
            }
            Term::Memory(_) => None,
        }
    }

    /// Whether what is known rules out that the goal is met: a branch condition fails, or the final state is
    /// not one looked for.
    pub fn impossible(&self) -> bool {
        for assumption in &self.skeleton.assumptions {
            let evaluate = |expression| {
                let thread = assumption.thread;
                self.skeleton.evaluate(self.context.paths, thread, expression, &mut |read| self.value(read))
            };
            let known = (evaluate(assumption.a), evaluate(assumption.b));
            if let (Some(a), Some(b)) = known
                && assumption.comparison.holds(a, b) != assumption.holds
            {
                return true;
            }
        }
        let value = |term| self.term(term);
        let filter = self.context.program.filter.as_ref();
        if filter.is_some_and(|filter| filter.evaluate(&value) == Some(false)) {
            return true;
        }
        match self.context.goal {
            Goal::State(condition, wanted) => condition.evaluate(&value) == Some(!wanted),
            Goal::StateInOrder(condition) => condition.evaluate(&value) == Some(false),
            _ => false,
        }
    }

    pub fn choose_source(&mut self, candidate: &Candidate<R>, verdict: &Verdict<R>) -> ControlFlow<()> {
        let mut best: Option<(usize, Vec<Source>)> = None;
        for read in 0..self.source.len() {
            if self.source[read].is_some() {
                continue;
            }
            let possible = self.possible(read, verdict);
            if possible.is_empty() {
                return ControlFlow::Continue(());
            }
            if best.as_ref().is_none_or(|(_, fewest)| possible.len() < fewest.len()) {
                let decided = possible.len() == 1;
                best = Some((read, possible));
                if decided {
                    break;
                }
            }
        }
        let Some((read, possible)) = best else { return self.values(candidate, verdict) };
        let event = self.skeleton.reads[read].event;
        for source in possible {
            if self.context.found.judged >= self.context.limits.candidates {
                self.context.found.complete = false;
                return ControlFlow::Break(());
            }
            let mut next = candidate.clone();
            match source {
                Source::Initial => next.initial[0] |= R::bit(event),
                Source::Write(write) => {
                    next.reads_from[0].add(write, event);
                    if self.model.write.has(event) && self.model.mutually_ordered.has(write, event) {
                        next.modification.add(write, event);
                    }
                }
            }
            self.source[read] = Some(source);
            self.context.found.judged += 1;
            let judged = Verdict::new(self.model, &next);
            if judged.consistent() {
                self.choose_source(&next, &judged)?;
            }
            self.source[read] = None;
        }
        ControlFlow::Continue(())
    }

    /// The sources that neither values nor the location order known so far rule out.
    fn possible(&mut self, read: usize, verdict: &Verdict<R>) -> Vec<Source> {
        let event = self.skeleton.reads[read].event;
        let ordered = &verdict.location_ordered;
        let mut before = R::default();
        for write in &self.writes[read] {
            if ordered.has(*write, event) {
                before |= R::bit(*write);
            }
        }
        let mut sources = Vec::new();
        if before.is_empty() {
            sources.push(Source::Initial);
        }
        for write in &self.writes[read] {
            let overwritten = !(ordered.row(*write) & before & !R::bit(*write)).is_empty();
            if !overwritten && !ordered.has(event, *write) {
                sources.push(Source::Write(*write));
            }
        }
        sources.retain(|source| {
            self.source[read] = Some(*source);
            let possible = !self.impossible();
            self.source[read] = None;
            possible
        });
        sources
    }

    /// All sources are chosen: fixes the values of read-from cycles.
    fn values(&mut self, candidate: &Candidate<R>, verdict: &Verdict<R>) -> ControlFlow<()> {
        let Some(free) = (0..self.source.len()).find(|read| self.value(*read).is_none()) else {
            let pairs = self.undecided(candidate);
            return self.choose_order(candidate, verdict, &pairs);
        };
        for value in self.context.domain {
            self.guess[free] = Some(*value);
            let returned = match self.source[free] {
                Some(Source::Write(write)) => self.written_within(write, self.source.len() + 1),
                _ => None,
            };
            // A value that does not come back around is none; one that other free values still hide is
            // checked with theirs.
            let kept = returned.is_none_or(|returned| returned == *value) && !self.impossible();
            if kept {
                let flow = self.values(candidate, verdict);
                if flow.is_break() {
                    return flow;
                }
            }
            self.guess[free] = None;
        }
        ControlFlow::Continue(())
    }

    /// The mutually-ordered writes that scoped modification order does not order yet.
    fn undecided(&self, candidate: &Candidate<R>) -> Vec<(usize, usize)> {
        let writes = self.model.atomic & self.model.write;
        let mut pairs = Vec::new();
        for a in writes.members() {
            for b in (self.model.mutually_ordered.row(a) & writes).members() {
                if a < b && !candidate.modification.has(a, b) && !candidate.modification.has(b, a) {
                    pairs.push((a, b));
                }
            }
        }
        pairs
    }

    /// Orders the writes. `verdict` is the one without the order: its location order is part of every
    /// completion's.
    fn choose_order(
        &mut self,
        candidate: &Candidate<R>,
        verdict: &Verdict<R>,
        pairs: &[(usize, usize)],
    ) -> ControlFlow<()> {
        let mut candidate = candidate.clone();
        let mut left: Vec<(usize, usize)> = pairs.to_vec();
        loop {
            let mut union = verdict.location_ordered.clone();
            union.unite(&candidate.reads_from[0]);
            union.unite(&candidate.modification);
            for write in self.model.write.members() {
                let later = candidate.modification.row(write)
                    | (verdict.location_ordered.row(write) & self.model.write);
                for read in candidate.reads_from[0].row(write).members() {
                    *union.row_mut(read) |= later & !R::bit(read);
                }
            }
            for read in candidate.initial[0].members() {
                *union.row_mut(read) |= self.model.overlap.row(read) & self.model.write & !R::bit(read);
            }
            union.close();
            if !union.irreflexive() {
                return ControlFlow::Continue(());
            }
            let before = left.len();
            left.retain(|(a, b)| {
                if union.has(*a, *b) {
                    candidate.modification.add(*a, *b);
                } else if union.has(*b, *a) {
                    candidate.modification.add(*b, *a);
                } else {
                    return true;
                }
                false
            });
            if left.len() == before {
                break;
            }
        }
        let Some(((a, b), rest)) = left.split_first().map(|(first, rest)| (*first, rest)) else {
            return self.judge(&candidate);
        };
        for (first, second) in [(a, b), (b, a)] {
            let mut next = candidate.clone();
            next.modification.add(first, second);
            self.choose_order(&next, verdict, rest)?;
        }
        ControlFlow::Continue(())
    }

    /// A full candidate.
    fn judge(&mut self, candidate: &Candidate<R>) -> ControlFlow<()> {
        if self.context.found.judged >= self.context.limits.candidates {
            self.context.found.complete = false;
            return ControlFlow::Break(());
        }
        self.context.found.judged += 1;
        let verdict = Verdict::new(self.model, candidate);
        if !verdict.consistent() {
            return ControlFlow::Continue(());
        }
        let finals = self.final_values(candidate, &verdict);
        let mut pick = vec![0; finals.len()];
        loop {
            let memory: Vec<i64> = finals.iter().zip(&pick).map(|(values, index)| values[*index]).collect();
            self.final_state(candidate, &verdict, &memory)?;
            if !advance(&mut pick, &finals) {
                return ControlFlow::Continue(());
            }
        }
    }

    /// The possible final values of each location: writes that no other one follows.
    fn final_values(&self, candidate: &Candidate<R>, verdict: &Verdict<R>) -> Vec<Vec<i64>> {
        let locations = self.context.program.initial.len() as u32;
        let mut wanted: Vec<Term> = self.context.observables.clone();
        if matches!(self.context.goal, Goal::Race | Goal::RaceInOrder)
            && self.context.program.filter.is_none()
        {
            wanted.clear();
        }
        (0..locations)
            .map(|location| {
                let initial = self.context.program.initial[location as usize];
                if !wanted.contains(&Term::Memory(location)) {
                    return vec![initial];
                }
                let mut writes = R::default();
                for (index, event) in self.skeleton.events.iter().enumerate() {
                    if event.write && event.locations.is_some_and(|set| set.first == location) {
                        writes |= R::bit(index);
                    }
                }
                let last = |write: &usize| {
                    ((verdict.location_ordered.row(*write) | candidate.modification.row(*write)) & writes)
                        .is_empty()
                };
                let mut values: Vec<i64> = writes
                    .members()
                    .filter(last)
                    .filter_map(|write| self.written_within(write, self.source.len() + 1))
                    .collect();
                values.sort_unstable();
                values.dedup();
                if values.is_empty() { vec![initial] } else { values }
            })
            .collect()
    }

    fn final_state(
        &mut self,
        candidate: &Candidate<R>,
        verdict: &Verdict<R>,
        memory: &[i64],
    ) -> ControlFlow<()> {
        let value = |term| match term {
            Term::Memory(location) => Some(memory[location as usize]),
            other => self.term(other),
        };
        let filter = self.context.program.filter.as_ref();
        if filter.is_some_and(|filter| filter.evaluate(&value) != Some(true)) {
            return ControlFlow::Continue(());
        }
        match self.context.goal {
            Goal::Outcomes => {
                let state = self.context.observables.iter().map(|term| value(*term).unwrap_or(0)).collect();
                self.context.found.outcomes.insert(state);
                return ControlFlow::Continue(());
            }
            Goal::State(condition, wanted) => {
                if condition.evaluate(&value) != Some(*wanted) {
                    return ControlFlow::Continue(());
                }
            }
            Goal::StateInOrder(condition) => {
                if condition.evaluate(&value) != Some(true) || !self.in_order(candidate) {
                    return ControlFlow::Continue(());
                }
            }
            Goal::Race => {
                if verdict.races(self.model).is_empty() {
                    return ControlFlow::Continue(());
                }
            }
            Goal::RaceInOrder => {
                if verdict.races(self.model).is_empty() || !self.in_order(candidate) {
                    return ControlFlow::Continue(());
                }
            }
        }
        let state = self.context.observables.iter().map(|term| (*term, value(*term).unwrap_or(0))).collect();
        self.context.found.witness = Some(self.witness(candidate, verdict, state));
        ControlFlow::Break(())
    }

    /// Whether no read takes its value from a write that comes after it.
    fn in_order(&self, candidate: &Candidate<R>) -> bool {
        let mut order = self.model.program_order.clone();
        order.unite(&candidate.reads_from[0]);
        order.unite(&self.model.system_synchronizes);
        // What is behind a control barrier comes after all who arrived at it.
        for arrival in self.model.barrier.members() {
            for wait in self.model.barrier_order.row(arrival).members() {
                *order.row_mut(arrival) |=
                    self.model.program_order.row(wait) | self.model.system_synchronizes.row(wait);
            }
        }
        order.acyclic()
    }

    fn witness(&self, candidate: &Candidate<R>, verdict: &Verdict<R>, state: Vec<(Term, i64)>) -> Witness {
        let n = self.skeleton.events.len();
        let mut execution = Execution::new();
        for event in &self.skeleton.events {
            execution.push(event.clone());
        }
        for (a, b) in &self.skeleton.system_synchronizes {
            execution.system_synchronizes(*a as u32, *b as u32);
        }
        let mut labels: Vec<_> = self
            .skeleton
            .origin
            .iter()
            .map(|(thread, pc)| witness::label(self.context.program, *thread, *pc))
            .collect();
        let mut reads_from = Vec::new();
        for (index, read) in self.skeleton.reads.iter().enumerate() {
            labels[read.event].read = self.value(index);
            match self.source[index] {
                Some(Source::Write(write)) => {
                    execution.reads_from(write as u32, read.event as u32);
                    reads_from.push((Some(write as u32), read.event as u32));
                }
                _ => reads_from.push((None, read.event as u32)),
            }
        }
        for (event, label) in labels.iter_mut().enumerate() {
            if self.skeleton.written[event].is_some() {
                label.written = self.written_within(event, self.source.len() + 1);
            }
        }
        execution.modification_order(topological(&candidate.modification));
        let mut immediate = candidate.modification.clone();
        immediate.subtract(&candidate.modification.compose(&candidate.modification.closure()));
        let races = verdict.races(self.model);
        let races = (0..n)
            .flat_map(|a| races.row(a).members().map(move |b| (a, b)))
            .filter(|(a, b)| a < b)
            .map(|(first, second)| Race { first: first as u32, second: second as u32 })
            .collect();
        Witness {
            execution,
            options: *self.context.options,
            labels,
            reads_from,
            modification: immediate.pairs().map(|(a, b)| (a as u32, b as u32)).collect(),
            races,
            names: state.iter().map(|(term, _)| self.context.program.term_name(*term)).collect(),
            state,
        }
    }
}

/// The next combination of one element of each list, odometer fashion.
pub(super) fn advance<T>(choice: &mut [usize], lists: &[Vec<T>]) -> bool {
    for (index, list) in choice.iter_mut().zip(lists) {
        *index += 1;
        if *index < list.len() {
            return true;
        }
        *index = 0;
    }
    false
}

/// The events in an order that an acyclic relation allows.
pub(super) fn topological<R: Row>(relation: &Matrix<R>) -> Vec<u32> {
    let before = relation.inverse();
    let mut placed = R::default();
    let mut order = Vec::new();
    while order.len() < relation.len() {
        let next = (0..relation.len())
            .find(|event| !placed.has(*event) && (before.row(*event) & !placed).is_empty());
        let Some(event) = next else { break };
        placed |= R::bit(event);
        order.push(event as u32);
    }
    order
}
