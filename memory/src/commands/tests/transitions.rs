//! Image layout transitions: what they follow, and what follows them.

use super::*;

#[test]
fn a_transition_follows_what_its_barrier_makes_available() {
    Program::new().transition(NO, NONE, CS, SR).dispatch(read()).ordered();
    Program::new().dispatch(write()).transition(CS, SW, CP, TR).copy_from().ordered();
    let h = Program::new().dispatch(write()).transition(NO, NONE, CP, TR).gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 200, source: CS, available: SW, ..Default::default() }));
    let h = Program::new().dispatch(write()).transition(CS, NONE, CP, TR).gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 200, available: SW, ..Default::default() }));
    assert!(h.executed);
    // After a read, execution is enough.
    Program::new().dispatch(read()).transition(CS, NONE, CP, TR).ordered();
    let h = Program::new().dispatch(read()).transition(CP, TR, CP, TR).gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 200, source: CS, ..Default::default() }));
}

#[test]
fn accesses_follow_a_transition_through_its_second_scope() {
    let h = Program::new().transition(NO, NONE, CS, NONE).dispatch(read()).gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 200, visible: SR, ..Default::default() }));
    assert!(h.executed);
    // Its write is available of itself, and a write asks for no more.
    Program::new().transition(NO, NONE, CS, NONE).dispatch(write()).ordered();
    let h = Program::new().transition(NO, NONE, CP, TR).dispatch(write()).gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 200, destination: CS, ..Default::default() }));
    let h = Program::new()
        .transition(NO, NONE, CL, NONE)
        .execution(CP, CS)
        .dispatch(write())
        .gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 200, destination: CS, ..Default::default() }));
    Program::new().transition(NO, NONE, CL, NONE).barrier(CL, NONE, CS, SR).dispatch(read()).ordered();
    Program::new().transition(NO, NONE, NO, NONE).fence_wait().submit(0).dispatch(read()).ordered();
    Program::new().transition(NO, NONE, NO, NONE).submit(0).dispatch(read()).gives(HazardLayoutTransition);
}

#[test]
fn transitions_chain_by_stages_and_follow_each_other_on_their_queue() {
    Program::new()
        .dispatch(write())
        .execution(CS, CL)
        .barrier(CS, SW, CP, NONE)
        .transition(CP, NONE, CP, TR)
        .copy_from()
        .ordered();
    let h = Program::new()
        .dispatch(write())
        .barrier(CS, SW, CL, NONE)
        .transition(CP, NONE, CP, TR)
        .gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 200, source: CL, ..Default::default() }));
    let h = Program::new()
        .dispatch(write())
        .barrier(CS, NONE, CP, NONE)
        .transition(CP, NONE, CP, TR)
        .gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 100, available: SW, ..Default::default() }));
    Program::new().transition(NO, NONE, CL, TW).transition(NO, NONE, CP, TR).copy_from().ordered();
    // What follows one transition does not follow those of other bytes before it.
    let mut other = Dependency::memory(NO, NONE, CS, SR).on(&[B]);
    other.transitions.push(Transition { tag: 51, ranges: vec![B], acquires: false });
    let mut p = Program::new().transition(NO, NONE, CP, TR);
    assert_eq!(p.t.barrier(QueueId(0), &other, 201), Vec::new());
    p.on(0, CS, B, read().operand).dispatch(read()).gives(HazardLayoutTransition);
}

#[test]
fn scopes_of_all_commands_hold_transitions() {
    Program::new().transition(NO, NONE, NO, NONE).barrier(ALL, NONE, CS, SR).dispatch(read()).ordered();
    Program::new().dispatch(write()).barrier(CS, SW, ALL, NONE).transition(NO, NONE, CP, TR).ordered();
}

#[test]
fn a_transition_after_a_semaphore_wait_names_a_stage_of_the_wait() {
    let on_1 = |source| {
        let mut d = Dependency::memory(source, NONE, CP, TR).on(&[A]);
        d.transitions.push(Transition { tag: 52, ranges: vec![A], acquires: false });
        d
    };
    let mut p = Program::new().dispatch(write()).semaphore(None, CP);
    assert_eq!(p.t.barrier(QueueId(1), &on_1(CP), 202), Vec::new());
    let mut p = Program::new().dispatch(write()).semaphore(None, ALL);
    assert_eq!(p.t.barrier(QueueId(1), &on_1(NO), 202), Vec::new());
    let mut p = Program::new().dispatch(write()).semaphore(None, CP);
    p.found.extend(p.t.barrier(QueueId(1), &on_1(NO), 202));
    let h = p.gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Extend(BarrierGap { tag: 202, source: CP, ..Default::default() }));
    let mut p = Program::new().dispatch(write()).submit(1);
    p.found.extend(p.t.barrier(QueueId(1), &on_1(CP), 202));
    let h = p.gives(HazardLayoutTransition);
    assert_eq!(h.fix, Fix::Semaphore { from: QueueId(0), to: QueueId(1), stage: Stages::TRANSITION });
}
