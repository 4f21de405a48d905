//! The verdict on one candidate: location order, from-reads, consistency and data races.

use super::location::location_ordered;
use super::matrix::{Matrix, Row};
use super::order::InterThreadOrder;
use super::pre_execution::PreExecution;

/// A choice of reads-from and scoped modification order for a [`PreExecution`].
#[derive(Clone, Debug)]
pub(crate) struct Candidate<R> {
    /// Reads-from, per cell; one matrix for all when the program is undivided.
    pub reads_from: Vec<Matrix<R>>,
    /// The reads that return the initial value, likewise.
    pub initial: Vec<R>,
    /// Scoped modification order: a subset of a total order per location, within mutually-ordered.
    pub modification: Matrix<R>,
}

/// Everything that the model says of one candidate.
#[derive(Clone, Debug)]
pub(crate) struct Verdict<R> {
    pub order: InterThreadOrder<R>,
    /// Location-ordered for every common location.
    pub location_ordered: Matrix<R>,
    /// The same per cell, where accesses are divided.
    pub per_cell: Vec<Matrix<R>>,
    pub from_reads: Matrix<R>,
    /// The cell (index) in which the union of the four relations has a cycle.
    pub cycle: Option<usize>,
    /// A plain read of a write that another write shadows.
    pub shadowed: Option<(usize, usize)>,
}

impl<R: Row> Candidate<R> {
    /// A candidate without choices made: no read reads, no write is ordered.
    pub fn undecided(program: &PreExecution<R>) -> Candidate<R> {
        let cells = if program.undivided { 1 } else { program.cells.len() };
        Candidate {
            reads_from: vec![Matrix::empty(program.len()); cells],
            initial: vec![R::default(); cells],
            modification: Matrix::empty(program.len()),
        }
    }

    /// Reads-from at any location.
    pub fn reads_from_anywhere(&self, program: &PreExecution<R>) -> Matrix<R> {
        let mut all = Matrix::empty(program.len());
        for matrix in &self.reads_from {
            all.unite(matrix);
        }
        all
    }
}

impl<R: Row> Verdict<R> {
    /// Judges a candidate. A candidate with undecided reads is judged as far as it goes: what is a cycle now
    /// stays one.
    pub fn new(program: &PreExecution<R>, candidate: &Candidate<R>) -> Verdict<R> {
        let n = program.len();
        let order = if program.undivided {
            InterThreadOrder::new(program, &candidate.reads_from[0], &candidate.modification)
        } else {
            InterThreadOrder::new(program, &candidate.reads_from_anywhere(program), &candidate.modification)
        };
        let mut verdict = Verdict {
            order,
            location_ordered: Matrix::empty(n),
            per_cell: Vec::new(),
            from_reads: Matrix::empty(n),
            cycle: None,
            shadowed: None,
        };
        if program.undivided {
            if program.cells.is_empty() {
                return verdict;
            }
            verdict.location_ordered = location_ordered(program, &verdict.order, &program.overlap);
            let ordered = verdict.location_ordered.clone();
            verdict.check(program, candidate, 0, &ordered, &program.overlap);
            return verdict;
        }
        let mut everywhere = program.overlap.clone();
        for (index, cell) in program.cells.iter().enumerate() {
            let mut same_location = Matrix::empty(n);
            for access in cell.accesses.members() {
                *same_location.row_mut(access) = cell.accesses;
            }
            let ordered = location_ordered(program, &verdict.order, &same_location);
            for access in cell.accesses.members() {
                *everywhere.row_mut(access) &= ordered.row(access) | !cell.accesses;
            }
            verdict.check(program, candidate, index, &ordered, &same_location);
            verdict.per_cell.push(ordered);
        }
        verdict.location_ordered = everywhere;
        verdict
    }

    /// *Acyclicity* and *Visible-To* at the locations of one cell.
    fn check(
        &mut self,
        program: &PreExecution<R>,
        candidate: &Candidate<R>,
        cell: usize,
        ordered: &Matrix<R>,
        same_location: &Matrix<R>,
    ) {
        let PreExecution { read, write, atomic, .. } = *program;
        let reads_from = &candidate.reads_from[cell];
        let initial = candidate.initial[cell];
        let mut from_reads = Matrix::empty(program.len());
        for w in write.members() {
            let readers = reads_from.row(w);
            if readers.is_empty() {
                continue;
            }
            let later = (ordered.row(w) & write) | (candidate.modification.row(w) & same_location.row(w));
            for r in readers.members() {
                *from_reads.row_mut(r) |= later & !R::bit(r);
            }
        }
        for r in initial.members() {
            *from_reads.row_mut(r) |= same_location.row(r) & write & !R::bit(r);
        }
        let mut union = ordered.clone();
        union.unite(reads_from);
        union.unite(&from_reads);
        for a in (atomic & write).members() {
            *union.row_mut(a) |= candidate.modification.row(a) & same_location.row(a);
        }
        if self.cycle.is_none() && !union.acyclic() {
            self.cycle = Some(cell);
        }
        self.from_reads.unite(&from_reads);
        if self.shadowed.is_none() {
            self.shadowed = shadowed(program, reads_from, ordered, read & !atomic);
        }
    }

    /// Whether the specification allows the execution.
    pub fn consistent(&self) -> bool {
        self.cycle.is_none() && self.shadowed.is_none()
    }

    /// The pairs that race, as a symmetric relation.
    pub fn races(&self, program: &PreExecution<R>) -> Matrix<R> {
        let n = program.len();
        let mut races = Matrix::empty(n);
        let mut judge = |ordered: &Matrix<R>, accesses: R, same_location: &dyn Fn(usize) -> R| {
            let either = {
                let mut either = ordered.inverse();
                either.unite(ordered);
                either
            };
            for x in accesses.members() {
                let with = if program.write.has(x) { accesses } else { accesses & program.write };
                *races.row_mut(x) |=
                    with & same_location(x) & !either.row(x) & !program.mutually_ordered.row(x) & !R::bit(x);
            }
        };
        if program.undivided {
            judge(&self.location_ordered, program.read | program.write, &|x| program.overlap.row(x));
        } else {
            for (cell, ordered) in program.cells.iter().zip(&self.per_cell) {
                judge(ordered, cell.accesses, &|_| cell.accesses);
            }
        }
        races
    }

    /// *Visible-To*: location-ordered writes to reads with no write between.
    pub fn visible_to(&self, program: &PreExecution<R>) -> Matrix<R> {
        let cells: Vec<&Matrix<R>> =
            if program.undivided { vec![&self.location_ordered] } else { self.per_cell.iter().collect() };
        let mut visible = Matrix::empty(program.len());
        for ordered in cells {
            for w in program.write.members() {
                let between = ordered.image(ordered.row(w) & program.write);
                *visible.row_mut(w) |= ordered.row(w) & program.read & !between;
            }
        }
        visible
    }
}

/// A plain read of a write that is followed, in location order, by another write and then the read.
fn shadowed<R: Row>(
    program: &PreExecution<R>,
    reads_from: &Matrix<R>,
    ordered: &Matrix<R>,
    plain: R,
) -> Option<(usize, usize)> {
    for w in program.write.members() {
        let readers = reads_from.row(w) & plain;
        if readers.is_empty() {
            continue;
        }
        let mut reached = ordered.row(w) & program.write;
        loop {
            let more = reached | (ordered.image(reached) & program.write);
            if more == reached {
                break;
            }
            reached = more;
        }
        if let Some(r) = (ordered.image(reached) & readers).first() {
            return Some((w, r));
        }
    }
    None
}
