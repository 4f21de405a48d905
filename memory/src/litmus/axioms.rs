//! `--by axioms`: enumerates candidate executions and keeps those that the axioms allow.
//!
//! A candidate is a combination of one path for each thread ([`super::path`]), a source for every read and an
//! order of the mutually-ordered atomic writes. Sources are chosen one read at a time, the read with the
//! fewest possibilities first; after each choice the values that are now known are checked against the branch
//! conditions of the paths, and the relations that are now known against the axioms. Location-ordered,
//! reads-from and from-reads only grow as sources are chosen, so a cycle found early stays one.
//!
//! Values that read-from cycles leave free (out of thin air: the axioms allow them) are tried from the
//! constants of the program.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::model::{Candidate, Execution, Matrix, ModelOptions, PreExecution, Row, Verdict, Wide};

use super::barrier::{self, Progress};
use super::candidate::{Search, advance};
use super::path::{End, Path, Paths};
use super::program::{Condition, LitmusProgram, Term};
use super::skeleton::Skeleton;
use super::witness::Witness;

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
    /// A terminated execution whose final state satisfies the condition and in which no read takes its value
    /// from a write that, by program order, reads-from, control barriers and system-synchronizes-with, comes
    /// after it.
    StateInOrder(&'a Condition),
    /// Any execution with a data race, terminated or not.
    Race,
    /// The same in which no read takes its value from a write that comes after it, as for
    /// [`Goal::StateInOrder`].
    RaceInOrder,
    /// All final states of terminated executions.
    Outcomes,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The first execution that meets the goal; for [`Goal::Outcomes`] none.
    pub witness: Option<Witness>,
    /// Values of [`LitmusProgram::observables`], for [`Goal::Outcomes`].
    pub outcomes: BTreeSet<Vec<i64>>,
    /// Whether the search was exhaustive within the unrolling (an early end on success counts as exhaustive).
    pub complete: bool,
    /// Whether the unrolling cut a loop whose next round would not have been a mere repetition: there are
    /// longer executions.
    pub cut: bool,
    /// Partial and full candidates judged.
    pub judged: u64,
}

impl Found {
    /// Whether the absence of a witness or of an outcome is final: no bound was hit, that of the unrolling
    /// included.
    pub fn exhaustive(&self) -> bool {
        self.complete && !self.cut
    }
}

/// Searches the executions of a program.
pub fn search(program: &LitmusProgram, options: &ModelOptions, limits: &Limits, goal: &Goal<'_>) -> Found {
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
    found.cut = paths.iter().any(|paths| paths.paths.iter().any(|path| path.end == End::Bounded));
    let terminated_only = !matches!(goal, Goal::Race | Goal::RaceInOrder);
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
fn constants(program: &LitmusProgram) -> Vec<i64> {
    let mut values: BTreeSet<i64> = program.initial.iter().copied().collect();
    values.extend([0, 1]);
    values.extend(program.constants());
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

pub(super) struct Context<'a> {
    pub program: &'a LitmusProgram,
    pub paths: &'a [Paths],
    pub options: &'a ModelOptions,
    pub limits: &'a Limits,
    pub goal: &'a Goal<'a>,
    pub observables: Vec<Term>,
    pub domain: &'a [i64],
    pub found: &'a mut Found,
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
        let model = PreExecution::<R>::new(events, synchronizes, *self.options);
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
