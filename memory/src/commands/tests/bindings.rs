//! Sparse bindings: what they follow, and what follows them.

use super::super::clock::Batches;
use super::*;

const ALL_OF_IT: Range = Range { start: 0x1000, end: 0x3000 };

impl Program {
    /// `a` and `b` lie in a sparse resource.
    fn sparse() -> Program {
        let mut p = Program::new();
        p.t.sparse(ALL_OF_IT);
        p
    }

    /// A batch that waits for these signals and binds memory to `a`.
    fn batch(&mut self, queue: u32, waits: &[&Payload], memory: Option<u64>) {
        let (queue, host) = (QueueId(queue), self.t.host_knowledge());
        self.t.submit_bindings(queue, &host);
        waits.iter().for_each(|payload| self.t.wait_to_bind(queue, payload));
        self.t.begin_bindings(queue, 300);
        let found = self.t.bind(queue, &[(A, memory)]);
        self.found.extend(found);
        self.t.end_bindings(queue);
    }

    /// The same: what it signals.
    fn bind_after(&mut self, queue: u32, waits: &[&Payload], memory: Option<u64>) -> Payload {
        self.batch(queue, waits, memory);
        self.t.signal_bindings(QueueId(queue))
    }

    fn bind(mut self) -> Program {
        self.batch(0, &[], Some(0x9000));
        self
    }

    fn used(mut self, queue: u32, stage: Stages, range: Range, operand: Operand) -> Program {
        let operation = self.t.begin(QueueId(queue), stage, 7, None);
        self.found.extend(self.t.uses(operation, &Runs::from_iter([(range, operand)])));
        self
    }

    fn read(self, range: Range) -> Program {
        self.used(0, CS, range, read().operand)
    }

    fn wait(mut self, queue: u32, payload: &Payload, stages: Stages) -> Program {
        self = self.submit(queue);
        self.t.wait_semaphore(QueueId(queue), payload, stages);
        self
    }

    fn signal(&mut self, stages: Option<Stages>) -> Payload {
        self.t.signal_semaphore(QueueId(0), stages)
    }
}

#[test]
fn submission_order_does_not_order_bindings() {
    let h = Program::sparse().bind().submit(0).read(A).gives(HazardSparseBinding);
    assert_eq!(h.fix, Fix::Semaphore { from: QueueId(0), to: QueueId(0), stage: CS });
    assert_eq!((h.first_at.1, h.second_at.1, h.bytes), (Stages::SPARSE_BINDING, CS, vec![A]));
    let h = Program::sparse().read(A).bind().gives(HazardSparseBinding);
    assert_eq!(h.second_at.1, Stages::SPARSE_BINDING);
    // One semaphore mends all uses on the queue: they are told once.
    Program::sparse().bind().submit(0).read(A).read(A).gives(HazardSparseBinding);
    // Neither does a barrier, and a semaphore that the batch does not signal.
    Program::sparse().bind().submit(0).barrier(ALL, MW, ALL, MR | MW).read(A).gives(HazardSparseBinding);
    Program::sparse().bind().semaphore(None, ALL).used(1, CS, A, read().operand).gives(HazardSparseBinding);
    // Other bytes of the resource may be used meanwhile.
    Program::sparse().read(B).bind().submit(0).read(B).ordered();
}

#[test]
fn semaphores_order_bindings() {
    let mut p = Program::sparse().read(A);
    let done = p.signal(None);
    let bound = p.bind_after(0, &[&done], Some(0x9000));
    p.wait(0, &bound, ALL).read(A).submit(0).read(A).ordered();
    // At the stages of the wait alone, and what follows those.
    let mut p = Program::sparse();
    let bound = p.bind_after(0, &[], Some(0x9000));
    p.wait(0, &bound, CP).read(A).gives(HazardSparseBinding);
    let mut p = Program::sparse();
    let bound = p.bind_after(0, &[], Some(0x9000));
    p.wait(0, &bound, CP).execution(CP, CS).read(A).ordered();
    // A signal that does not follow the use.
    let mut p = Program::sparse().read(A);
    let done = p.signal(Some(CP));
    p.bind_after(0, &[&done], Some(0x9000));
    p.gives(HazardSparseBinding);
    // On another queue, through the batch of a third.
    let mut p = Program::sparse().read(A);
    let done = p.signal(None);
    let bound = p.bind_after(2, &[&done], None);
    p.wait(1, &bound, ALL).used(1, CP, A, Operand::fixed(TR, NONE)).ordered();
}

#[test]
fn what_a_batch_signals_follows_nothing_else_on_its_queue() {
    let mut p = Program::sparse().dispatch(write());
    let bound = p.bind_after(0, &[], Some(0x9000));
    p.wait(1, &bound, ALL).on(1, CS, A, read().operand).gives(HazardReadRacingWrite);
    // What comes later does not follow what the batch waited for.
    let mut p = Program::sparse().dispatch(write());
    let done = p.signal(None);
    p.bind_after(1, &[&done], Some(0x9000));
    p.submit(1).on(1, CS, A, read().operand).gives(HazardReadRacingWrite);
}

#[test]
fn signals_follow_those_of_batches_before_them() {
    let mut p = Program::sparse();
    p.bind_after(0, &[], Some(0x9000));
    p.semaphore(None, ALL).used(1, CS, A, read().operand).ordered();
}

#[test]
fn the_host_orders_bindings() {
    Program::sparse().bind().fence_wait().submit(0).read(A).fence_wait().bind().ordered();
    Program::sparse().bind().fence_wait().read(A).gives(HazardSparseBinding);
    // By a batch's semaphore, as vkWaitSemaphores has it.
    let mut p = Program::sparse();
    let bound = p.bind_after(1, &[], Some(0x9000));
    p.t.host_wait(&bound);
    p.submit(0).read(A).ordered();
}

#[test]
fn batches_of_the_same_bytes_have_an_order_unless_they_bind_the_same() {
    let mut p = Program::sparse();
    p.bind_after(0, &[], Some(0x9000));
    p.bind_after(0, &[], Some(0x9000));
    p.bind_after(0, &[], Some(0xa000));
    let h = p.gives(HazardSparseBinding);
    assert_eq!((h.first_at.1, h.second_at.1), (Stages::SPARSE_BINDING, Stages::SPARSE_BINDING));
    let mut p = Program::sparse();
    let first = p.bind_after(0, &[], Some(0x9000));
    let second = p.bind_after(1, &[&first], None);
    p.bind_after(0, &[&second], Some(0xa000));
    p.ordered();
    // They complete in any order: one that is known says nothing of those before it.
    let mut p = Program::sparse();
    p.bind_after(0, &[], Some(0x9000));
    p.t.submit_bindings(QueueId(0), &Payload::default());
    p.t.begin_bindings(QueueId(0), 301);
    assert_eq!(p.t.bind(QueueId(0), &[(B, Some(0x9000))]), []);
    p.t.end_bindings(QueueId(0));
    let bound = p.t.signal_bindings(QueueId(0));
    p.wait(1, &bound, ALL).used(1, CS, ALL_OF_IT, read().operand).gives(HazardSparseBinding);
}

#[test]
fn transitions_follow_bindings_and_are_followed_where_memory_was_bound() {
    Program::sparse().transition(NO, NONE, ALL, MR | MW).bind().ordered();
    let bound = || Program::sparse().bind().fence_wait().submit(0);
    bound().transition(NO, NONE, ALL, MR | MW).bind().gives(HazardSparseBinding);
    bound().transition(NO, NONE, ALL, MR | MW).fence_wait().bind().ordered();
    Program::sparse().bind().submit(0).transition(NO, NONE, ALL, MR | MW).gives(HazardSparseBinding);
    let mut p = bound().transition(NO, NONE, CP, TR);
    // It happens before what its barrier is for.
    let done = p.signal(Some(CP));
    p.bind_after(0, &[&done], None);
    p.ordered();
}

#[test]
fn a_semaphore_that_is_there_is_extended() {
    let one = |stages| SemaphoreUse { semaphore: 5, value: None, stages };
    let mut p = Program::sparse();
    p.t.semaphores(QueueId(0), vec![], vec![one(None)]);
    let bound = p.bind_after(0, &[], Some(0x9000));
    p.t.semaphores(QueueId(0), vec![one(Some(CP))], vec![]);
    let h = p.wait(0, &bound, CP).read(A).gives(HazardSparseBinding);
    let Fix::ExtendSemaphore(gap) = h.fix else { panic!("{h:?}") };
    assert_eq!((gap.semaphore, gap.wait_stages, gap.signal_stages), (5, CS, NO));
}

#[test]
fn batches_are_known_one_by_one() {
    let mut known = Batches::default();
    known.add(3);
    assert_eq!([1, 2, 3, 4].map(|number| known.holds(number)), [false, false, true, false]);
    let mut more = Batches::default();
    more.add(1);
    more.join(&known);
    assert_eq!([1, 2, 3].map(|number| more.holds(number)), [true, false, true]);
    more.add(2);
    assert!(more.holds(2) && !more.holds(4));
    // Where too many are missing the oldest count as known.
    (10..1000).step_by(2).for_each(|number| more.add(number));
    assert!(more.holds(11) && !more.holds(997));
}
