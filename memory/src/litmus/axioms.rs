//! `--by axioms`: enumerates candidate executions and keeps those that the axioms allow.
//!
//! A candidate is a combination of one path for each thread ([`super::path`]), a source for every read and an order of the
//! mutually-ordered atomic writes. Sources are chosen one read at a time, the read with the fewest possibilities first; after each
//! choice the values that are now known are checked against the branch conditions of the paths, and the relations that are now known
//! against the axioms. Location-ordered, reads-from and from-reads only grow as sources are chosen, so a cycle found early stays one.
//!
//! Values that read-from cycles leave free (out of thin air: the axioms allow them) are tried from the constants of the program.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::model::{Candidate, Execution, Matrix, ModelOptions, Program as Model, Race, Row, Verdict, Wide};

use super::barrier::{self, Progress};
use super::path::{End, Path, Paths};
use super::program::{Condition, Instruction, Operand, Program, Term};
use super::skeleton::Skeleton;
use super::witness::{self, Witness};

/// Bounds of a search. Whether one was hit is part of every answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often a loop body is entered.
    pub unroll: usize,
    /// How many partial candidates are judged.
    pub candidates: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { unroll: 4, candidates: 20_000_000 }
    }
}

/// What is looked for.
#[derive(Clone, Debug)]
pub enum Goal<'a> {
    /// A terminated execution whose final state satisfies (true) or violates (false) the condition.
    State(&'a Condition, bool),
    /// A terminated execution whose final state satisfies the condition and in which no read takes its value from a write that, by program
    /// order, reads-from, control barriers and system-synchronizes-with, comes after it.
    StateInOrder(&'a Condition),
    /// Any execution with a data race, terminated or not.
    Race,
    /// All final states of terminated executions.
    Outcomes,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The first execution that meets the goal; for [`Goal::Outcomes`] none.
    pub witness: Option<Witness>,
    /// Values of [`Program::observables`], for [`Goal::Outcomes`].
    pub outcomes: BTreeSet<Vec<i64>>,
    /// Whether the search was exhaustive within the unrolling (an early end on success counts as exhaustive).
    pub complete: bool,
    /// Partial and full candidates judged.
    pub judged: u64,
}

/// Searches the executions of a program.
pub fn search(program: &Program, options: &ModelOptions, limits: &Limits, goal: &Goal<'_>) -> Found {
    let mut found = Found { complete: true, ..Found::default() };
    let domain = constants(program);
    let mut paths = Vec::with_capacity(program.threads.len());
    for thread in 0..program.threads.len() {
        match Paths::explore(program, thread, limits.unroll, &domain) {
            Ok(explored) => paths.push(explored),
            Err(_) => {
                found.complete = false;
                return found;
            }
        }
    }
    let terminated_only = !matches!(goal, Goal::Race);
    let usable: Vec<Vec<usize>> = paths
        .iter()
        .map(|paths| {
            (0..paths.paths.len())
                .filter(|index| !terminated_only || paths.paths[*index].end == End::Terminated)
                .collect()
        })
        .collect();
    let mut context = Context {
        program,
        paths: &paths,
        options,
        limits,
        goal,
        observables: program.observables(),
        domain: &domain,
        found: &mut found,
    };
    let mut seen = BTreeSet::new();
    let mut choice = vec![0; usable.len()];
    if usable.iter().any(Vec::is_empty) {
        return found;
    }
    loop {
        let chosen: Vec<&Path> = choice
            .iter()
            .enumerate()
            .map(|(thread, index)| &paths[thread].paths[usable[thread][*index]])
            .collect();
        let progress = barrier::progress(program, &chosen);
        let stuck = progress.blocked.contains(&true);
        // Paths that part only after a barrier that is never passed are one.
        let fresh = !stuck
            || seen.insert(
                chosen
                    .iter()
                    .zip(&progress.steps)
                    .map(|(path, cut)| signature(path, *cut))
                    .collect::<Vec<_>>(),
            );
        if fresh && !(stuck && terminated_only) && context.combination(&chosen, &progress).is_break() {
            break;
        }
        if !advance(&mut choice, &usable) {
            break;
        }
    }
    found
}

/// The next combination, odometer fashion.
fn advance(choice: &mut [usize], usable: &[Vec<usize>]) -> bool {
    for (index, usable) in choice.iter_mut().zip(usable) {
        *index += 1;
        if *index < usable.len() {
            return true;
        }
        *index = 0;
    }
    false
}

/// What tells the first `cut` steps of a path from those of another.
fn signature(path: &Path, cut: usize) -> Vec<(usize, usize, bool)> {
    let mut signature: Vec<(usize, usize, bool)> = path
        .steps
        .iter()
        .take(cut)
        .enumerate()
        .filter_map(|(index, step)| match step {
            super::path::Step::Assume { holds, b, .. } => Some((index, *b, *holds)),
            _ => None,
        })
        .collect();
    signature.push((cut, 0, false));
    signature
}

/// The constants of the program and its conditions.
fn constants(program: &Program) -> Vec<i64> {
    let mut values: BTreeSet<i64> = program.initial.iter().copied().collect();
    values.extend([0, 1]);
    let mut operand = |operand: &Operand| {
        if let Operand::Constant(value) = operand {
            values.insert(*value);
        }
    };
    for thread in &program.threads {
        for instruction in &thread.code {
            match instruction {
                Instruction::Store(_, value) | Instruction::ReadModifyWrite(_, _, _, value) => operand(value),
                Instruction::Local(_, _, a, b) | Instruction::Branch(_, a, b, _) => {
                    operand(a);
                    operand(b);
                }
                Instruction::ControlBarrier { resource, quorum, .. } => {
                    resource.iter().chain(quorum).for_each(&mut operand);
                }
                _ => {}
            }
        }
    }
    let mut terms = Vec::new();
    if let Some(question) = &program.question {
        question.witness().0.terms(&mut terms);
    }
    if let Some(filter) = &program.filter {
        filter.terms(&mut terms);
    }
    values.extend(terms.iter().filter_map(|term| match term {
        Term::Constant(value) => Some(*value),
        _ => None,
    }));
    values.into_iter().collect()
}

struct Context<'a> {
    program: &'a Program,
    paths: &'a [Paths],
    options: &'a ModelOptions,
    limits: &'a Limits,
    goal: &'a Goal<'a>,
    observables: Vec<Term>,
    domain: &'a [i64],
    found: &'a mut Found,
}

impl Context<'_> {
    /// Explores one combination of paths, for every choice of the arrivals that release its quorum barriers.
    fn combination(&mut self, chosen: &[&Path], progress: &Progress) -> ControlFlow<()> {
        let mut arrivals: Vec<Vec<bool>> = progress
            .passed
            .iter()
            .map(|passed| {
                let count = passed.quorum.unwrap_or(passed.members.len()).min(passed.members.len());
                (0..passed.members.len()).map(|member| member < count).collect()
            })
            .collect();
        loop {
            let skeleton = Skeleton::new(self.program, chosen, progress, &arrivals);
            match skeleton.events.len() {
                0..=64 => self.explore::<u64>(&skeleton)?,
                65..=128 => self.explore::<Wide<2>>(&skeleton)?,
                129..=256 => self.explore::<Wide<4>>(&skeleton)?,
                257..=crate::model::MAX_EVENTS => self.explore::<Wide<16>>(&skeleton)?,
                _ => self.found.complete = false,
            }
            if !arrivals.iter_mut().any(|subset| next_subset(subset)) {
                return ControlFlow::Continue(());
            }
        }
    }

    fn explore<R: Row>(&mut self, skeleton: &Skeleton) -> ControlFlow<()> {
        let n = skeleton.events.len();
        let mut synchronizes = Matrix::empty(n);
        for (a, b) in &skeleton.system_synchronizes {
            synchronizes.add(*a, *b);
        }
        let mut execution = Execution::new();
        for event in &skeleton.events {
            execution.push(event.clone());
        }
        let events = execution.events().iter().map(|event| event.normalised()).collect();
        let model = Model::<R>::new(events, synchronizes, *self.options);
        let candidate = Candidate::undecided(&model);
        let writes: Vec<Vec<usize>> = skeleton
            .reads
            .iter()
            .map(|read| {
                (0..n)
                    .filter(|event| {
                        let at = &skeleton.events[*event];
                        at.write
                            && *event != read.event
                            && at.locations.is_some_and(|set| set.first == read.location)
                    })
                    .collect()
            })
            .collect();
        let mut search = Search {
            context: self,
            skeleton,
            model: &model,
            writes,
            source: vec![None; skeleton.reads.len()],
            guess: vec![None; skeleton.reads.len()],
        };
        if search.impossible() {
            return ControlFlow::Continue(());
        }
        search.context.found.judged += 1;
        let verdict = Verdict::new(&model, &candidate);
        if !verdict.consistent() {
            return ControlFlow::Continue(());
        }
        search.choose_source(&candidate, &verdict)
    }
}

/// The next subset of the same size, in lexicographic order; false (and back to the first) after the last.
fn next_subset(subset: &mut [bool]) -> bool {
    let count = subset.iter().filter(|member| **member).count();
    // Move the last member that can move to the right, and gather those behind it.
    for index in (0..subset.len().saturating_sub(1)).rev() {
        if subset[index] && !subset[index + 1] {
            let behind = subset[index + 2..].iter().filter(|member| **member).count();
            subset[index] = false;
            for (offset, member) in subset[index + 1..].iter_mut().enumerate() {
                *member = offset <= behind;
            }
            return true;
        }
    }
    for (index, member) in subset.iter_mut().enumerate() {
        *member = index < count;
    }
    false
}

/// Where a read gets its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Initial,
    Write(usize),
}

struct Search<'a, 'b, R> {
    context: &'a mut Context<'b>,
    skeleton: &'a Skeleton,
    model: &'a Model<R>,
    /// The writes to the location of each read.
    writes: Vec<Vec<usize>>,
    source: Vec<Option<Source>>,
    /// Values assumed for reads in value cycles.
    guess: Vec<Option<i64>>,
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

    /// Whether what is known rules out that the goal is met: a branch condition fails, or the final state is not one looked for.
    fn impossible(&self) -> bool {
        for assumption in &self.skeleton.assumptions {
            let evaluate = |expression| {
                let thread = assumption.thread;
                self.skeleton.evaluate(self.context.paths, thread, expression, &mut |read| self.value(read))
            };
            if let (Some(a), Some(b)) = (evaluate(assumption.a), evaluate(assumption.b)) {
                if assumption.comparison.holds(a, b) != assumption.holds {
                    return true;
                }
            }
        }
        let value = |term| self.term(term);
        if let Some(filter) = &self.context.program.filter {
            if filter.evaluate(&value) == Some(false) {
                return true;
            }
        }
        match self.context.goal {
            Goal::State(condition, wanted) => condition.evaluate(&value) == Some(!wanted),
            Goal::StateInOrder(condition) => condition.evaluate(&value) == Some(false),
            _ => false,
        }
    }

    fn choose_source(&mut self, candidate: &Candidate<R>, verdict: &Verdict<R>) -> ControlFlow<()> {
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
            // A value that does not come back around is none; one that other free values still hide is checked with theirs.
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

    /// Orders the writes. `verdict` is the one without the order: its location order is part of every completion's.
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
            if !advance_values(&mut pick, &finals) {
                return ControlFlow::Continue(());
            }
        }
    }

    /// The possible final values of each location: writes that no other one follows.
    fn final_values(&self, candidate: &Candidate<R>, verdict: &Verdict<R>) -> Vec<Vec<i64>> {
        let locations = self.context.program.initial.len() as u32;
        let mut wanted: Vec<Term> = self.context.observables.clone();
        if matches!(self.context.goal, Goal::Race) && self.context.program.filter.is_none() {
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
        if let Some(filter) = &self.context.program.filter {
            if filter.evaluate(&value) != Some(true) {
                return ControlFlow::Continue(());
            }
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
                let mut order = self.model.program_order.clone();
                order.unite(&candidate.reads_from[0]);
                order.unite(&self.model.system_synchronizes);
                // What is behind a control barrier comes after all who arrived at it.
                for arrival in self.model.barrier.members() {
                    for wait in self.model.barrier_order.row(arrival).members() {
                        *order.row_mut(arrival) |= self.model.program_order.row(wait);
                    }
                }
                if condition.evaluate(&value) != Some(true) || !order.acyclic() {
                    return ControlFlow::Continue(());
                }
            }
            Goal::Race => {
                if verdict.races(self.model).is_empty() {
                    return ControlFlow::Continue(());
                }
            }
        }
        let state = self.context.observables.iter().map(|term| (*term, value(*term).unwrap_or(0))).collect();
        self.context.found.witness = Some(self.witness(candidate, verdict, state));
        ControlFlow::Break(())
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

fn advance_values(pick: &mut [usize], values: &[Vec<i64>]) -> bool {
    for (index, values) in pick.iter_mut().zip(values) {
        *index += 1;
        if *index < values.len() {
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
