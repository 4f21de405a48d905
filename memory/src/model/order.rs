//! Release sequences, synchronizes-with, inter-thread-happens-before and happens-before.

use super::matrix::{Matrix, Row};
use super::pre_execution::PreExecution;

/// What orders operations of different agents, for one choice of reads-from and modification order.
#[derive(Clone, Debug)]
pub(crate) struct InterThreadOrder<R> {
    pub release_sequence: Matrix<R>,
    pub hypothetical_sequence: Matrix<R>,
    pub synchronizes: Matrix<R>,
    /// One per [`PreExecution::masks`].
    pub inter_thread: Vec<Matrix<R>>,
    pub happens_before: Matrix<R>,
}

/// The pairs of `order` with nothing in between.
fn immediate<R: Row>(order: &Matrix<R>) -> Matrix<R> {
    let mut immediate = order.clone();
    immediate.subtract(&order.compose(&order.closure()));
    immediate
}

impl<R: Row> InterThreadOrder<R> {
    /// Evaluates *Release Sequence* to *Happens-Before*.
    pub fn new(
        program: &PreExecution<R>,
        reads_from: &Matrix<R>,
        modification: &Matrix<R>,
    ) -> InterThreadOrder<R> {
        let n = program.len();
        let PreExecution { read, write, atomic, fence, acquire, release, .. } = *program;
        let read_modify_write = read & write;

        let mut step = immediate(modification);
        step.restrict(!R::default(), read_modify_write);
        step.close();
        let sequence = step.reflexive();
        let release_sequence = sequence.between(release & atomic, !R::default());
        let hypothetical_sequence = sequence.between(write & atomic, !R::default());

        let mut synchronizes = Matrix::empty(n);
        let acquire_fence = acquire & fence;
        // `from`: the operation that heads a sequence, with the atomic write that does so. The reader may
        // acquire itself, or an acquire barrier after it in program order does.
        for head in (write & atomic).members() {
            let mut observed = R::default();
            for member in hypothetical_sequence.row(head).members() {
                observed |= reads_from.row(member) & program.mutually_ordered.row(member);
            }
            if observed.is_empty() {
                continue;
            }
            let mut targets = observed & acquire;
            for reader in observed.members() {
                targets |= program.access_then_semantics.row(reader) & acquire_fence;
            }
            if targets.is_empty() {
                continue;
            }
            if release.has(head) {
                *synchronizes.row_mut(head) |= targets;
            }
            for barrier in (release & fence).members() {
                if program.semantics_then_access.has(barrier, head) {
                    *synchronizes.row_mut(barrier) |= targets;
                }
            }
        }
        if !program.barrier.is_empty() {
            let mut released = R::default();
            for arrival in program.barrier.members() {
                for wait in program.barrier_order.row(arrival).members() {
                    released |= R::bit(wait) | program.program_order.row(wait);
                }
                released &= acquire_fence;
                if !released.is_empty() {
                    for barrier in (release & fence).members() {
                        if barrier == arrival || program.program_order.has(barrier, arrival) {
                            *synchronizes.row_mut(barrier) |= released;
                        }
                    }
                }
                released = R::default();
            }
        }
        synchronizes.intersect(&program.in_scope);

        let mut happens_before = program.program_order.clone();
        happens_before.unite(&program.system_synchronized);
        let mut inter_thread = Vec::with_capacity(program.masks.len());
        for mask in &program.masks {
            let mut order = program.system_synchronizes.clone();
            for a in 0..n {
                let mut row = order.row(a);
                if mask.semantics.has(a) {
                    row |= synchronizes.row(a) & mask.semantics;
                    if acquire.has(a) {
                        row |= program.program_order.row(a) & mask.members;
                    }
                }
                if mask.members.has(a) {
                    row |= program.program_order.row(a) & release & mask.semantics;
                }
                *order.row_mut(a) = row;
            }
            order.close();
            happens_before.unite(&order);
            inter_thread.push(order);
        }
        InterThreadOrder {
            release_sequence,
            hypothetical_sequence,
            synchronizes,
            inter_thread,
            happens_before,
        }
    }
}
