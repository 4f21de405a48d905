//! The axiomatic engine beyond what litmus tests reach: host and device domains, split barriers, partly
//! overlapping accesses, widths.

use pellucid_memory::litmus::axioms::{Goal, Limits, search};
use pellucid_memory::litmus::program::{Comparison, Condition, Term};
use pellucid_memory::litmus::random;
use pellucid_memory::model::{
    Agent, BarrierInstance, ChainRule, Covers, Domain, DomainOperation, Event, EventId, Execution,
    Inconsistency, LocationSet, ModelError, ModelOptions, RelationName,
};
use pellucid_memory::scope::{Scope, Semantics, StorageClasses};
use strum::VariantArray as _;

const UNIFORM: StorageClasses = StorageClasses::UNIFORM;

fn release() -> Semantics {
    Semantics { release: true, classes: UNIFORM, make_available: true, ..Semantics::RELAXED }
}

fn acquire() -> Semantics {
    Semantics { acquire: true, classes: UNIFORM, make_visible: true, ..Semantics::RELAXED }
}

/// A chain of operations that system-synchronize in the order given.
struct Api {
    execution: Execution,
    last: Option<EventId>,
    agents: u32,
}

impl Api {
    fn new() -> Api {
        Api { execution: Execution::new(), last: None, agents: 0 }
    }

    fn then(&mut self, event: impl FnOnce(Agent, Agent) -> Event) -> EventId {
        self.agents += 1;
        let (device, host) = (Agent::alone(self.agents, false), Agent::alone(self.agents, true));
        let event = self.execution.push(event(device, host));
        if let Some(last) = self.last.replace(event) {
            self.execution.system_synchronizes(last, event);
        }
        event
    }

    fn domain(&mut self, operation: DomainOperation) -> EventId {
        self.then(|device, _| Event::domain(device, operation))
    }

    fn ordered(&self, a: EventId, b: EventId) -> bool {
        let judgement = self.execution.judge(&ModelOptions::default()).expect("a judgement");
        assert_eq!(judgement.race(a, b), !judgement.location_ordered(a, b));
        judgement.location_ordered(a, b)
    }
}

fn available(domain: Domain) -> DomainOperation {
    DomainOperation::Availability(domain, Covers::All)
}

fn visible(domain: Domain) -> DomainOperation {
    DomainOperation::Visibility(domain, Covers::All)
}

const X: LocationSet = LocationSet { first: 0, count: 1 };

/// Every subset of the steps between two accesses, and the one set that orders them: all of them.
fn needs_every_step(
    steps: &[DomainOperation],
    first: impl Fn(Agent, Agent) -> Event,
    second: impl Fn(Agent, Agent) -> Event,
) {
    for present in 0..1u32 << steps.len() {
        let mut api = Api::new();
        let a = api.then(&first);
        for (index, step) in steps.iter().enumerate() {
            if present >> index & 1 != 0 {
                api.domain(step.clone());
            }
        }
        let b = api.then(&second);
        assert_eq!(api.ordered(a, b), present + 1 == 1 << steps.len(), "steps {present:b}");
    }
}

#[test]
fn a_host_write_needs_flush_transfer_and_visibility_to_reach_the_device() {
    let steps = [
        available(Domain::Host),
        DomainOperation::Transfer(Domain::Host, Domain::Device),
        visible(Domain::Device),
    ];
    needs_every_step(
        &steps,
        |_, host| Event::write(host, X, 0, UNIFORM),
        |device, _| Event::read(device, X, 1, UNIFORM),
    );
    // A device write over it needs no visibility.
    needs_every_step(
        &steps[..2],
        |_, host| Event::write(host, X, 0, UNIFORM),
        |device, _| Event::write(device, X, 1, UNIFORM),
    );
}

#[test]
fn a_device_write_needs_availability_transfer_and_invalidate_to_reach_the_host() {
    let steps = [
        available(Domain::Device),
        DomainOperation::Transfer(Domain::Device, Domain::Host),
        visible(Domain::Host),
    ];
    needs_every_step(
        &steps,
        |device, _| Event::write(device, X, 0, UNIFORM),
        |_, host| Event::read(host, X, 1, UNIFORM),
    );
    needs_every_step(
        &steps[..2],
        |device, _| Event::write(device, X, 0, UNIFORM),
        |_, host| Event::write(host, X, 1, UNIFORM),
    );
}

#[test]
fn host_coherent_memory_drops_flush_and_invalidate_only() {
    let coherent_write =
        |_: Agent, host: Agent| Event { available: true, ..Event::write(host, X, 0, UNIFORM) };
    let coherent_read = |_: Agent, host: Agent| Event { visible: true, ..Event::read(host, X, 0, UNIFORM) };
    needs_every_step(
        &[DomainOperation::Transfer(Domain::Host, Domain::Device), visible(Domain::Device)],
        coherent_write,
        |device, _| Event::read(device, X, 1, UNIFORM),
    );
    needs_every_step(
        &[available(Domain::Device), DomainOperation::Transfer(Domain::Device, Domain::Host)],
        |device, _| Event::write(device, X, 1, UNIFORM),
        coherent_read,
    );
}

#[test]
fn availability_operations_include_what_they_cover() {
    for (covers, expected) in [
        (Covers::All, true),
        (Covers::Locations(vec![LocationSet { first: 0, count: 4 }]), true),
        (Covers::Locations(vec![LocationSet { first: 1, count: 4 }]), false),
        (Covers::Events(vec![0]), true),
        (Covers::Events(vec![2]), false),
    ] {
        let mut api = Api::new();
        let a = api.then(|device, _| Event::write(device, X, 0, UNIFORM));
        api.domain(DomainOperation::Availability(Domain::Device, covers.clone()));
        api.domain(visible(Domain::Device));
        let b = api.then(|device, _| Event::read(device, X, 1, UNIFORM));
        assert_eq!(api.ordered(a, b), expected, "{covers:?}");
    }
}

#[test]
fn a_read_first_needs_execution_order_only() {
    let mut api = Api::new();
    let a = api.then(|device, _| Event::read(device, X, 0, UNIFORM));
    api.then(|_, host| Event::other(host));
    let b = api.then(|_, host| Event::write(host, X, 1, UNIFORM));
    assert!(api.ordered(a, b));
}

#[test]
fn host_and_device_atomics_are_not_mutually_ordered() {
    let mut execution = Execution::new();
    for host in [false, true] {
        let write = Event::write(Agent::alone(u32::from(host), host), X, 0, UNIFORM);
        execution.push(write.atomic(Scope::Device, Semantics::RELAXED));
    }
    let judgement = execution.judge(&ModelOptions::default()).expect("a judgement");
    assert_eq!(judgement.relation(RelationName::MutuallyOrdered).count(), 0);
    assert_eq!(judgement.races().len(), 1);
}

/// Two invocations of one workgroup around a control barrier in two halves.
fn split(first: (bool, bool), second: (bool, bool)) -> bool {
    let mut execution = Execution::new();
    let agent = |thread| Agent::invocation(thread, thread, 0, 0);
    let half = |thread, (arrives, waits), semantics| {
        let barrier = BarrierInstance { instance: 0, execution: Scope::Workgroup, arrives, waits };
        Event::barrier(agent(thread), barrier, Scope::Workgroup, semantics)
    };
    let write = Event { non_private: true, ..Event::write(agent(0), X, 0, UNIFORM) };
    let read = Event { non_private: true, ..Event::read(agent(1), X, 0, UNIFORM) };
    let write = execution.push(write);
    execution.push(half(0, first, release()));
    execution.push(half(1, second, acquire()));
    let read = execution.push(read);
    execution.judge(&ModelOptions::default()).expect("a judgement").location_ordered(write, read)
}

#[test]
fn split_barriers_order_arrivals_before_waits() {
    assert!(split((true, false), (false, true)), "arrival before wait");
    assert!(split((true, true), (true, true)), "an ordinary barrier");
    assert!(!split((false, true), (true, false)), "nobody waits for a wait");
    assert!(!split((true, false), (true, false)), "an arrival does not wait");
}

/// A write of four locations, then by another invocation, synchronised, a read of the last two and the two
/// after them.
fn overlapping(available_at: Scope) -> (Execution, [EventId; 4]) {
    let mut execution = Execution::new();
    let set = |first, count| LocationSet { first, count };
    let (a, b) = (Agent::invocation(0, 0, 0, 0), Agent::invocation(1, 1, 1, 0));
    let wide = Event { available: true, scope: available_at, ..Event::write(a, set(0, 4), 0, UNIFORM) };
    let flag = |agent, read| {
        let access = if read {
            Event::read(agent, set(100, 1), 9, UNIFORM)
        } else {
            Event::write(agent, set(100, 1), 9, UNIFORM)
        };
        let semantics = if read { acquire() } else { release() };
        access.atomic(Scope::Device, Semantics { make_available: false, make_visible: false, ..semantics })
    };
    let wide = execution.push(wide);
    let released = execution.push(flag(a, false));
    let acquired = execution.push(flag(b, true));
    let read = Event { visible: true, scope: Scope::Device, ..Event::read(b, set(2, 4), 0, UNIFORM) };
    let read = execution.push(read);
    execution.reads_from(released, acquired);
    (execution, [wide, released, acquired, read])
}

#[test]
fn accesses_that_overlap_in_part_are_judged_per_location() {
    let (mut execution, [wide, _, _, read]) = overlapping(Scope::Device);
    let options = ModelOptions::default();
    // The two common locations must return the write; the initial value is not left.
    let judged = execution.judge(&options).expect("a judgement");
    assert!(judged.location_ordered(wide, read) && !judged.consistent());
    execution.reads_from_at(wide, read, LocationSet { first: 2, count: 1 });
    assert!(!execution.judge(&options).expect("a judgement").consistent());
    execution.reads_from_at(wide, read, LocationSet { first: 3, count: 1 });
    assert!(execution.judge(&options).expect("a judgement").consistent());

    // A write over one of the common locations that is not ordered races, and only that pair.
    let mut racing = execution.clone();
    let third = Agent::invocation(2, 2, 2, 0);
    let other = racing.push(Event::write(third, LocationSet { first: 3, count: 1 }, 0, UNIFORM));
    let judged = racing.judge(&options).expect("a judgement");
    assert!(judged.race(wide, other) && judged.race(read, other) && !judged.race(wide, read));

    // Availability that does not reach the reader's workgroup orders nothing.
    let (narrow, [wide, _, _, read]) = overlapping(Scope::Workgroup);
    assert!(narrow.judge(&options).expect("a judgement").race(wide, read));
}

#[test]
fn atomics_of_different_sizes_are_not_mutually_ordered() {
    let mut execution = Execution::new();
    for (thread, count) in [(0, 4), (1, 8)] {
        let write =
            Event::write(Agent::invocation(thread, 0, 0, 0), LocationSet { first: 0, count }, 0, UNIFORM);
        execution.push(write.atomic(Scope::Device, Semantics::RELAXED));
    }
    assert_eq!(execution.judge(&ModelOptions::default()).expect("a judgement").races().len(), 1);
}

/// Judging a small execution gives the same relations whatever unrelated events stand around it: all row
/// widths agree.
#[test]
fn all_widths_agree() {
    let always = Condition::Compare(Comparison::Equal, Term::Constant(0), Term::Constant(0));
    let limits = Limits { unroll: 1, candidates: 1000 };
    for seed in 0..60 {
        let program = random::program(seed, 12);
        for chain_rule in [ChainRule::Specification, ChainRule::Alloy] {
            let options = ModelOptions { chain_rule, ..ModelOptions::default() };
            let found = search(&program, &options, &limits, &Goal::State(&always, true));
            let Some(witness) = found.witness else { continue };
            let small = witness.execution.judge(&options).expect("a judgement");
            let n = witness.execution.events().len() as u32;
            for padding in [60, 120, 250] {
                let mut wide = witness.execution.clone();
                for index in 0..padding {
                    let agent = Agent::alone(1000 + index % 7, false);
                    wide.push(Event::write(agent, LocationSet::one(5000 + index), 77, UNIFORM));
                }
                let judged = wide.judge(&options).expect("a judgement");
                assert_eq!(judged.consistent(), small.consistent());
                for &name in RelationName::VARIANTS {
                    let (a, b) = (small.relation(name), judged.relation(name));
                    for pair in a.pairs() {
                        assert!(
                            b.contains(pair.0, pair.1),
                            "{name} {pair:?} of seed {seed} is lost in {padding}"
                        );
                    }
                    let same = b.pairs().filter(|(a, b)| *a < n && *b < n).count();
                    assert_eq!(same, a.count(), "{name} of seed {seed} grows in {padding}");
                }
            }
        }
    }
}

#[test]
fn inconsistent_executions_say_why() {
    let mut execution = Execution::new();
    let agent = Agent::invocation(0, 0, 0, 0);
    let write = execution.push(Event::write(agent, X, 0, UNIFORM));
    let read = execution.push(Event::read(agent, X, 0, UNIFORM));
    let judged = execution.judge(&ModelOptions::default()).expect("a judgement");
    let Some(Inconsistency::Cycle(cycle)) = judged.inconsistency() else { panic!("a cycle") };
    assert_eq!(cycle, [(write, RelationName::LocationOrdered, read), (read, RelationName::FromReads, write)]);
}

#[test]
fn what_is_no_execution_is_refused() {
    let agent = Agent::invocation(0, 0, 0, 0);
    let judge = |execution: &Execution| execution.judge(&ModelOptions::default()).map(|_| ());
    let mut execution = Execution::new();
    let read = execution.push(Event::read(agent, X, 0, UNIFORM));
    let elsewhere = execution.push(Event::write(agent, LocationSet::one(1), 1, UNIFORM));
    execution.reads_from(elsewhere, read);
    assert!(matches!(judge(&execution), Err(ModelError::ReadsFrom { .. })));
    let mut execution = Execution::new();
    execution.push(Event::read(agent, X, 0, StorageClasses::empty()));
    assert!(matches!(judge(&execution), Err(ModelError::Event { .. })));
    let mut execution = Execution::new();
    let write = execution.push(Event::write(agent, X, 0, UNIFORM));
    execution.system_synchronizes(write, 7);
    assert!(matches!(judge(&execution), Err(ModelError::NoSuchEvent { event: 7, .. })));
    let mut execution = Execution::new();
    for _ in 0..=pellucid_memory::model::MAX_EVENTS {
        execution.push(Event::other(agent));
    }
    assert!(matches!(judge(&execution), Err(ModelError::TooManyEvents(_))));
}
