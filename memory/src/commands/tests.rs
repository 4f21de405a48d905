//! Tiny programs with their verdicts. `a` is 16 bytes at 0x1000, `b` 16 bytes at 0x2000.

mod axioms;
mod bindings;
mod host;
mod host_axioms;
mod transitions;

use super::*;
use crate::access::{Reference, Site};
use crate::agent::Invocation;
use crate::finding::FindingId::{self, *};
use crate::scope::Scope;

impl Dependency {
    /// An execution dependency alone.
    pub fn execution(source: Stages, destination: Stages) -> Dependency {
        Dependency {
            source,
            destination,
            available: Vec::new(),
            visible: Vec::new(),
            transitions: Vec::new(),
        }
    }

    /// A global memory barrier.
    pub fn memory(source: Stages, from: Accesses, destination: Stages, to: Accesses) -> Dependency {
        let scope = |stages, accesses| vec![AccessScope::global(stages, accesses)];
        let (available, visible) = (scope(source, from), scope(destination, to));
        Dependency { source, destination, available, visible, transitions: Vec::new() }
    }

    /// Restricts both access scopes to these bytes (a buffer or image memory barrier).
    pub fn on(mut self, ranges: &[Range]) -> Dependency {
        for scope in self.available.iter_mut().chain(&mut self.visible) {
            scope.ranges = Some(ranges.to_vec());
        }
        self
    }
}

impl Tracker {
    /// vkCmdWaitEvents for all that its events carry.
    pub fn wait_events(
        &mut self,
        queue: QueueId,
        events: &[&EventToken],
        dependency: &Dependency,
        tag: u64,
    ) -> Vec<Hazard> {
        self.wait_each(queue, &[(events, dependency)], tag)
    }

    /// A pipeline barrier's dependency: the hazards of its transitions. `tag` names the command to
    /// explanations.
    pub fn barrier(&mut self, queue: QueueId, dependency: &Dependency, tag: u64) -> Vec<Hazard> {
        self.barriers(queue, std::slice::from_ref(dependency), tag)
    }
}

const A: Range = Range { start: 0x1000, end: 0x1010 };
const B: Range = Range { start: 0x2000, end: 0x2010 };
const CS: Stages = Stages::COMPUTE_SHADER;
const CP: Stages = Stages::COPY;
const CL: Stages = Stages::CLEAR;
const DI: Stages = Stages::DRAW_INDIRECT;
const ALL: Stages = Stages::DEVICE;
const NO: Stages = Stages::empty();
const SR: Accesses = Accesses::SHADER_STORAGE_READ;
const SW: Accesses = Accesses::SHADER_STORAGE_WRITE;
const UR: Accesses = Accesses::UNIFORM_READ;
const TR: Accesses = Accesses::TRANSFER_READ;
const TW: Accesses = Accesses::TRANSFER_WRITE;
const IR: Accesses = Accesses::INDIRECT_COMMAND_READ;
const MR: Accesses = Accesses::MEMORY_READ;
const MW: Accesses = Accesses::MEMORY_WRITE;
const NONE: Accesses = Accesses::empty();

/// A program under construction: every step returns the hazards of its accesses.
struct Program {
    t: Tracker,
    found: Vec<Hazard>,
}

#[derive(Clone, Copy)]
struct Shader {
    operand: Operand,
}

fn shader(read: Accesses, write: Accesses) -> Shader {
    let by = Invocation { dispatch: 0, workgroup: [0; 3], subgroup: 0, local_index: 0 };
    Shader {
        operand: Operand {
            shader: Some((Site(1), by)),
            reference: Some(Reference(1)),
            ..Operand::fixed(read, write)
        },
    }
}

impl Shader {
    fn coherent(mut self) -> Shader {
        self.operand.non_private = true;
        self.operand.available = (!self.operand.write.is_empty()).then_some(Scope::Device);
        self.operand.visible = (!self.operand.read.is_empty()).then_some(Scope::Device);
        self
    }
    fn atomic(self, scope: Scope) -> Shader {
        let mut s = self.coherent();
        s.operand.atomic = Some(scope);
        s.operand.available = s.operand.available.map(|_| scope);
        s.operand.visible = s.operand.visible.map(|_| scope);
        s
    }
    fn through(mut self, reference: u32) -> Shader {
        self.operand.reference = Some(Reference(reference));
        self
    }
}

impl Program {
    fn new() -> Program {
        let mut p = Program { t: Tracker::default(), found: Vec::new() };
        {
            let host = p.t.host_knowledge();
            p.t.submit(QueueId(0), &host);
        }
        p
    }
    fn on(mut self, q: u32, stage: Stages, range: Range, operand: Operand) -> Program {
        let op = self.t.begin(QueueId(q), stage, 7, None);
        self.found.extend(self.t.access(op, range, operand));
        self
    }
    fn dispatch(self, s: Shader) -> Program {
        self.on(0, CS, A, s.operand)
    }
    fn fill(self) -> Program {
        self.on(0, CL, A, Operand::fixed(NONE, TW))
    }
    fn copy_from(mut self) -> Program {
        let op = self.t.begin(QueueId(0), CP, 8, None);
        self.found.extend(self.t.access(op, A, Operand::fixed(TR, NONE)));
        self.found.extend(self.t.access(op, B, Operand::fixed(NONE, TW)));
        self
    }
    fn indirect(mut self, range: Range) -> Program {
        let parameters = self.t.begin(QueueId(0), DI, 9, None);
        self.found.extend(self.t.access(parameters, range, Operand::fixed(IR, NONE)));
        let invocations = self.t.begin(QueueId(0), CS, 9, Some(parameters));
        self.found.extend(self.t.access(invocations, B, shader(SR, NONE).operand));
        self
    }
    fn barrier(mut self, s: Stages, sa: Accesses, d: Stages, da: Accesses) -> Program {
        self.t.barrier(QueueId(0), &Dependency::memory(s, sa, d, da), 100);
        self
    }
    fn barrier_on(mut self, s: Stages, sa: Accesses, d: Stages, da: Accesses, r: Range) -> Program {
        self.t.barrier(QueueId(0), &Dependency::memory(s, sa, d, da).on(&[r]), 100);
        self
    }
    /// A barrier that performs a transition of `a`.
    fn transition(mut self, s: Stages, sa: Accesses, d: Stages, da: Accesses) -> Program {
        let mut dependency = Dependency::memory(s, sa, d, da).on(&[A]);
        dependency.transitions.push(Transition { tag: 50, ranges: vec![A], acquires: false });
        self.found.extend(self.t.barrier(QueueId(0), &dependency, 200));
        self
    }
    fn execution(mut self, s: Stages, d: Stages) -> Program {
        self.t.barrier(QueueId(0), &Dependency::execution(s, d), 100);
        self
    }
    fn submit(mut self, q: u32) -> Program {
        {
            let host = self.t.host_knowledge();
            self.t.submit(QueueId(q), &host);
        }
        self
    }
    fn fence_wait(mut self) -> Program {
        let p = self.t.signal_fence(QueueId(0));
        self.t.host_wait(&p);
        self
    }
    fn semaphore(mut self, signal: Option<Stages>, wait: Stages) -> Program {
        let p = self.t.signal_semaphore(QueueId(0), signal);
        {
            let host = self.t.host_knowledge();
            self.t.submit(QueueId(1), &host);
        }
        self.t.wait_semaphore(QueueId(1), &p, wait);
        self
    }
    #[track_caller]
    fn ordered(self) {
        assert_eq!(self.found, Vec::new());
    }
    #[track_caller]
    fn gives(self, id: FindingId) -> Hazard {
        assert_eq!(self.found.iter().map(|h| h.id).collect::<Vec<_>>(), vec![id]);
        self.found.into_iter().next().expect("one hazard")
    }
}

fn write() -> Shader {
    shader(NONE, SW)
}
fn read() -> Shader {
    shader(SR, NONE)
}

#[test]
fn two_fills_need_availability_between_them() {
    let h = Program::new().fill().fill().gives(HazardWriteAfterWrite);
    assert_eq!(h.fix, Fix::Insert { source: CL, available: TW, destination: CL, visible: TW });
    let h = Program::new().fill().execution(CL, CL).fill().gives(HazardWriteAfterWrite);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 100, available: TW, ..Default::default() }));
    Program::new().fill().barrier(CL, TW, CL, NONE).fill().ordered();
}

#[test]
fn a_hazard_tells_the_barriers_between_its_commands_and_what_each_lacks() {
    let p = Program::new().barrier(ALL, MW, ALL, MR).fill().barrier_on(CL, TW, CS, SR, B);
    let h = p.execution(CL, CS).barrier(CL, TW, CS, UR).dispatch(read()).gives(HazardReadAfterWrite);
    let told: Vec<_> = h.barriers.iter().map(|b| (b.source, b.available, b.visible, b.covers)).collect();
    assert_eq!(
        told,
        [(CL, TW, SR, Some(false)), (CL, NONE, NONE, None), (CL, TW, UR, Some(true))],
        "the one before the fill is none of them"
    );
    assert_eq!(h.barriers[0].lacks, None, "it is for other memory");
    let lacks = h.barriers[2].lacks.as_ref().expect("it could order them");
    assert_eq!(*lacks, BarrierGap { tag: 100, visible: SR, ..Default::default() });
}

#[test]
fn strict_mode_asks_for_visibility_between_writes() {
    let mut p = Program::new();
    p.t.strict_write_after_write = true;
    p.fill().barrier(CL, TW, CL, NONE).fill().gives(HazardWriteAfterWrite);
}

#[test]
fn a_write_after_a_read_needs_execution_only() {
    Program::new().copy_from().execution(CP, CL).fill().ordered();
    let h = Program::new().copy_from().fill().gives(HazardWriteAfterRead);
    assert_eq!(h.fix, Fix::Insert { source: CP, available: NONE, destination: CL, visible: NONE });
}

#[test]
fn a_write_after_reads_is_found_where_its_operation_has_read_as_well() {
    let in_place = |mut p: Program| {
        let op = p.t.begin(QueueId(0), CS, 7, None);
        let mut runs = Runs::default();
        runs.push(A, read().operand);
        runs.push(A, write().operand);
        p.found.extend(p.t.accesses(op, &runs).0);
        p
    };
    in_place(Program::new().dispatch(read())).gives(HazardWriteAfterRead);
    in_place(Program::new().dispatch(read()).execution(CS, CS)).ordered();
    in_place(in_place(Program::new()).barrier(CS, SW, CS, SR)).ordered();
}

#[test]
fn a_fill_is_the_clear_stage() {
    let h = Program::new().fill().barrier(CP, TW, CS, SR).dispatch(read()).gives(HazardReadAfterWrite);
    // The access is in its mask.
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 100, source: CL, ..Default::default() }));
    Program::new().fill().barrier(Stages::ALL_TRANSFER, TW, CS, SR).dispatch(read()).ordered();
}

#[test]
fn a_barrier_whose_masks_have_the_accesses_lacks_stages_alone() {
    let p = Program::new().dispatch(write()).barrier(CL, SW, CS, SR).dispatch(read());
    let h = p.gives(HazardReadAfterWrite);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 100, source: CS, ..Default::default() }));
    let p = Program::new().dispatch(write()).barrier(CS, SW, CL, SR).dispatch(read());
    let h = p.gives(HazardReadAfterWrite);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 100, destination: CS, ..Default::default() }));
}

#[test]
fn uniform_reads_are_an_access_of_their_own() {
    let h = Program::new()
        .dispatch(write())
        .barrier(CS, SW, CS, SR)
        .dispatch(shader(UR, NONE))
        .gives(HazardReadAfterWrite);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 100, visible: UR, ..Default::default() }));
}

#[test]
fn availability_and_visibility_may_be_in_two_barriers() {
    Program::new()
        .dispatch(write())
        .barrier(CS, SW, CP, NONE)
        .barrier(CP, NONE, CP, TR)
        .copy_from()
        .ordered();
}

#[test]
fn empty_scopes_do_not_chain() {
    Program::new()
        .dispatch(write())
        .barrier(CS, SW, NO, NONE)
        .barrier(NO, NONE, CP, TR)
        .copy_from()
        .gives(HazardReadAfterWrite);
}

#[test]
fn ordered_in_time_is_not_visible() {
    let h = Program::new()
        .dispatch(write())
        .barrier(CS, SW, CP, TR)
        .execution(CP, CS)
        .dispatch(read())
        .gives(HazardReadAfterWrite);
    assert!(h.executed);
}

#[test]
fn coherent_accesses_need_execution_and_one_reference() {
    Program::new().dispatch(write().coherent()).execution(CS, CS).dispatch(read().coherent()).ordered();
    Program::new()
        .dispatch(write().coherent())
        .execution(CS, CS)
        .dispatch(read().coherent().through(2))
        .gives(HazardReadAfterWrite);
    Program::new().dispatch(write().coherent()).execution(CS, CP).copy_from().gives(HazardReadAfterWrite);
}

#[test]
fn a_full_barrier_orders_private_accesses_through_other_references() {
    Program::new().dispatch(write()).barrier(ALL, MW, ALL, MR | MW).dispatch(read().through(2)).ordered();
    Program::new()
        .barrier(ALL, MW, ALL, MR | MW)
        .dispatch(write())
        .dispatch(read())
        .gives(HazardReadAfterWrite);
}

#[test]
fn a_fence_wait_and_a_submission_order_and_a_submission_alone_does_not() {
    Program::new().dispatch(write()).fence_wait().submit(0).dispatch(read()).ordered();
    Program::new().dispatch(write()).submit(0).dispatch(read()).gives(HazardReadAfterWrite);
}

#[test]
fn semaphores_order_queues_within_their_stages() {
    let reads = read().operand;
    Program::new().dispatch(write()).semaphore(None, ALL).on(1, CS, A, reads).ordered();
    Program::new().dispatch(write()).semaphore(None, ALL).on(1, CS, A, read().through(2).operand).ordered();
    let h = Program::new().dispatch(write()).submit(1).on(1, CS, A, reads).gives(HazardReadRacingWrite);
    assert_eq!(h.fix, Fix::Semaphore { from: QueueId(0), to: QueueId(1), stage: CS });
    Program::new()
        .dispatch(write())
        .semaphore(Some(CL), ALL)
        .on(1, CS, A, reads)
        .gives(HazardReadRacingWrite);
    Program::new().dispatch(write()).semaphore(None, CP).on(1, CS, A, reads).gives(HazardReadRacingWrite);
    let mut p = Program::new().dispatch(write()).semaphore(None, CP);
    p.t.barrier(QueueId(1), &Dependency::execution(CP, CS), 3);
    p.on(1, CS, A, reads).gives(HazardReadAfterWrite);
}

#[test]
fn a_write_on_another_queue_races_with_a_read() {
    Program::new().dispatch(read()).submit(1).on(1, CS, A, write().operand).gives(HazardWriteRacingRead);
    Program::new().dispatch(write()).submit(1).on(1, CS, A, write().operand).gives(HazardWriteRacingWrite);
}

#[test]
fn atomics_of_two_dispatches_are_mutually_ordered_at_device_scope_only() {
    let rmw = shader(SR, SW);
    Program::new().dispatch(rmw.atomic(Scope::Device)).dispatch(rmw.atomic(Scope::Device)).ordered();
    Program::new()
        .dispatch(rmw.atomic(Scope::Workgroup))
        .execution(CS, CS)
        .dispatch(rmw.atomic(Scope::Workgroup))
        .gives(HazardReadAfterWrite);
    Program::new()
        .dispatch(rmw.atomic(Scope::Device))
        .execution(CS, CS)
        .dispatch(read())
        .gives(HazardReadAfterWrite);
}

#[test]
fn queue_family_scope_ends_with_the_family() {
    let rmw = |scope| shader(SR, SW).atomic(scope);
    let run = |scope, family| {
        let mut program = Program::new().dispatch(rmw(scope)).submit(1);
        program.t.family(QueueId(1), family);
        program.on(1, CS, A, rmw(scope).operand)
    };
    run(Scope::QueueFamily, 0).ordered();
    run(Scope::QueueFamily, 1).gives(HazardReadRacingWrite);
    run(Scope::Device, 1).ordered();
}

#[test]
fn barriers_hold_for_their_bytes() {
    let h = Program::new()
        .dispatch(write())
        .barrier_on(CS, SW, CS, SR, B)
        .dispatch(read())
        .gives(HazardReadAfterWrite);
    assert!(matches!(h.fix, Fix::Insert { .. }), "a barrier on `b` is not for `a`: {:?}", h.fix);
    Program::new().dispatch(write()).barrier_on(CS, SW, CS, SR, A).dispatch(read()).ordered();
    let half = Range { start: 0x1008, end: 0x1010 };
    let h = Program::new()
        .dispatch(write())
        .barrier_on(CS, SW, CS, SR, half)
        .dispatch(read())
        .gives(HazardReadAfterWrite);
    assert_eq!(h.bytes, vec![Range { start: 0x1000, end: 0x1008 }]);
    assert!(matches!(h.fix, Fix::Insert { .. }), "nobody knows that the barrier is on `a`");
    let mut p = Program::new().dispatch(write());
    let mut of_a = Dependency::memory(CS, SW, CS, SR).on(&[half]);
    of_a.available.iter_mut().chain(&mut of_a.visible).for_each(|scope| scope.resource = Some(A));
    p.t.barrier(QueueId(0), &of_a, 100);
    let h = p.dispatch(read()).gives(HazardReadAfterWrite);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 100, range: true, ..Default::default() }));
}

/// Waits of queue 1 and signals of queue 0.
fn of(value: Option<u64>, stages: Option<Stages>) -> SemaphoreUse {
    SemaphoreUse { semaphore: 7, value, stages }
}

#[test]
fn a_semaphore_that_is_there_is_changed_and_not_joined_by_another() {
    let gap = |value, wait_stages, signal_stages| {
        let (waits, signals) = (QueueId(1), QueueId(0));
        Fix::ExtendSemaphore(SemaphoreGap { semaphore: 7, waits, signals, value, wait_stages, signal_stages })
    };
    // The wait names another stage; the signal follows another stage; the wait is for a smaller value.
    for (waits, signals, carried, expected) in [
        (of(None, Some(CP)), of(None, None), None, gap(None, CS, NO)),
        (of(None, Some(ALL)), of(None, Some(CL)), Some(CL), gap(None, NO, CS)),
        (of(Some(4), Some(ALL)), of(Some(5), None), Some(NO), gap(Some((4, 5)), NO, NO)),
        (of(Some(4), Some(CP)), of(Some(5), None), Some(NO), gap(Some((4, 5)), CS, NO)),
    ] {
        let mut p = Program::new();
        p.t.semaphores(QueueId(0), vec![], vec![signals]);
        let mut p = p.dispatch(write());
        let payload = p.t.signal_semaphore(QueueId(0), carried);
        let mut p = p.submit(1);
        p.t.semaphores(QueueId(1), vec![waits.clone()], vec![]);
        p.t.wait_semaphore(QueueId(1), &payload, waits.stages.unwrap());
        let h = p.on(1, CS, A, read().operand).gives(HazardReadRacingWrite);
        assert_eq!(h.fix, expected, "{waits:?}");
    }
}

#[test]
fn a_reader_that_waits_for_too_small_a_value_is_told_to_wait_for_the_writers() {
    let mut p = Program::new().submit(1);
    p.t.semaphores(QueueId(1), vec![of(Some(4), Some(ALL))], vec![]);
    let mut p = p.on(1, CS, A, read().operand);
    p.t.semaphores(QueueId(0), vec![], vec![of(Some(5), None)]);
    let h = p.dispatch(write()).gives(HazardWriteRacingRead);
    let (waits, signals) = (QueueId(1), QueueId(0));
    let (wait_stages, signal_stages) = (NO, NO);
    let value = Some((4, 5));
    let gap = SemaphoreGap { semaphore: 7, waits, signals, value, wait_stages, signal_stages };
    assert_eq!(h.fix, Fix::ExtendSemaphore(gap));
}

#[test]
fn findings_that_one_barrier_mends_ask_for_one_barrier() {
    let (a, b) = (write().operand, shader(NONE, SW).through(2).operand);
    let writes = |t: &mut Tracker| {
        let op = t.begin(QueueId(0), CS, 1, None);
        t.access(op, A, a);
        t.access(op, B, b);
    };
    let mut t = Program::new().t;
    writes(&mut t);
    let op = t.begin(QueueId(0), CS, 2, None);
    let mut found = t.access(op, A, read().operand);
    found.extend(t.access(op, B, shader(UR, NONE).operand));
    t.join_fixes(&mut found);
    let both = Fix::Insert { source: CS, available: SW, destination: CS, visible: SR | UR };
    assert_eq!(found.iter().map(|h| h.fix.clone()).collect::<Vec<_>>(), [both.clone(), both]);
    // A later reader of what the first command wrote: that barrier, with what it lacks.
    let op = t.begin(QueueId(0), CP, 3, None);
    let mut found = t.access(op, A, Operand::fixed(TR, NONE));
    t.join_fixes(&mut found);
    let more = Fix::Insert { source: CS, available: SW, destination: CS | CP, visible: SR | UR | TR };
    assert_eq!(found[0].fix, more);
    // What was written behind it is another matter.
    writes(&mut t);
    let op = t.begin(QueueId(0), CP, 4, None);
    let mut found = t.access(op, B, Operand::fixed(TR, NONE));
    t.join_fixes(&mut found);
    let other = Fix::Insert { source: CS, available: SW, destination: CP, visible: TR };
    assert_eq!(found.last().map(|h| h.fix.clone()), Some(other));
    // A barrier that is there gains all that they lack.
    let mut t = Program::new().t;
    writes(&mut t);
    t.barrier(QueueId(0), &Dependency::memory(CS, SW, CS, NONE), 9);
    let op = t.begin(QueueId(0), CS, 2, None);
    let mut found = t.access(op, A, read().operand);
    found.extend(t.access(op, B, shader(UR, NONE).operand));
    t.join_fixes(&mut found);
    let both = Fix::Extend(BarrierGap { tag: 9, visible: SR | UR, ..Default::default() });
    assert_eq!(found.iter().map(|h| h.fix.clone()).collect::<Vec<_>>(), [both.clone(), both]);
}

#[test]
fn two_memory_barriers_join_in_one_sync1_command_and_not_in_sync2() {
    let scope = AccessScope::global;
    let joined = Dependency {
        source: CS,
        destination: CP,
        available: vec![scope(CS, SW), scope(CS, NONE)],
        visible: vec![scope(CP, NONE), scope(CP, TR)],
        transitions: Vec::new(),
    };
    let mut p = Program::new().dispatch(write());
    p.t.barrier(QueueId(0), &joined, 1);
    p.copy_from().ordered();
    let mut p = Program::new().dispatch(write());
    let separate = [Dependency::memory(CS, SW, CP, NONE), Dependency::memory(CS, NONE, CP, TR)];
    p.t.barriers(QueueId(0), &separate, 1);
    p.copy_from().gives(HazardReadAfterWrite);
}

#[test]
fn events_cover_what_precedes_their_set() {
    let wait = Dependency::memory(CS, SW, CS, SR);
    let mut p = Program::new().dispatch(write());
    let e = p.t.set_event(QueueId(0), CS);
    p.t.wait_events(QueueId(0), &[&e], &wait, 2);
    p.dispatch(read()).ordered();
    let mut p = Program::new();
    let e = p.t.set_event(QueueId(0), CS);
    p = p.dispatch(write());
    p.t.wait_events(QueueId(0), &[&e], &wait, 2);
    p.dispatch(read()).gives(HazardReadAfterWrite);
}

#[test]
fn indirect_parameters_are_read_in_their_own_stage() {
    Program::new().fill().barrier(CL, TW, CS, SR).indirect(A).gives(HazardReadAfterWrite);
    Program::new().fill().barrier(CL, TW, DI, IR).indirect(A).ordered();
    // Later stages wait for DRAW_INDIRECT but do not see.
    Program::new().fill().barrier(CL, TW, DI, IR).dispatch(read()).gives(HazardReadAfterWrite);
    Program::new().dispatch(read()).execution(DI, CL).fill().gives(HazardWriteAfterRead);
    // A source scope takes in the logically earlier stage.
    Program::new().indirect(A).execution(CS, CL).fill().ordered();
}

#[test]
fn runs_of_bytes_are_cut_and_joined() {
    let mut p = Program::new();
    let op = p.t.begin(QueueId(0), CS, 0, None);
    for i in 0..64u64 {
        let h = p.t.access(op, Range::new(0x1000 + 4 * (i * 37 % 64), 4), write().operand);
        assert_eq!(h, Vec::new());
    }
    let h = {
        let op = p.t.begin(QueueId(0), CP, 0, None);
        p.t.access(op, Range::new(0xff0, 0x200), Operand::fixed(TR, NONE))
    };
    assert_eq!(h.len(), 1);
    assert_eq!(h[0].bytes, vec![Range::new(0x1000, 0x100)]);
}

#[test]
fn freed_memory_is_forgotten() {
    let mut p = Program::new().fill();
    p.t.forget(A);
    p.fill().ordered();
}

#[test]
fn copies_may_overlap_themselves_only_within_one_operation() {
    let mut p = Program::new();
    let op = p.t.begin(QueueId(0), CP, 8, None);
    p.found.extend(p.t.access(op, A, Operand::fixed(TR, NONE)));
    p.found.extend(p.t.access(op, A, Operand::fixed(NONE, TW)));
    p.ordered();
}
