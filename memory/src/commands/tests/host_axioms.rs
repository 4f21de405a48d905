//! The host's side of the tracker against the axioms: random programs of host and device operations (writes
//! and reads of coherent and other memory, flushes, invalidates, submissions that execute later, events and
//! timeline semaphores that the host signals, waits), each judged by the model itself ([`crate::model`]) with
//! the operations of the host and the device domain written out event by event. Nothing here uses clocks.
//!
//! Half of the time the host's writes are not told where [`Tracker::kept_from_host`] says that they need not
//! be, and no work is handed in that has not been executed.
//!
//! What is found has to be a race of the model, or a read of what an invalidate made undefined. What the
//! model calls a race and is not found has to be one of these, and no other:
//!
//! - an access between the two took the place of the earlier one in the tracker's records;
//! - the host declared a read by an invalidate, and the device overwrote the bytes later: such reads are
//!   judged when they are declared;
//! - the device overwrites what the host wrote before and never flushed: nobody reads those bytes;
//! - an invalidate came after the device's write was executed, but before the host was told so: the host has
//!   the new bytes.

use super::axioms::{Graph, Node, RANGES, dependency, masks};
use super::*;
use crate::model::{
    self, Covers, Domain, DomainOperation, Event, EventId, Execution, LocationSet, ModelOptions,
};
use crate::random::Random;
use crate::scope::StorageClasses;
use std::collections::BTreeMap;

const X: LocationSet = LocationSet { first: 0, count: 1 };

/// What a node of the host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Write(usize),
    Read(usize),
    Flush(usize),
    Invalidate(usize),
    /// An event or a semaphore.
    Signal,
}

/// An access to one of the ranges, in the order of execution.
#[derive(Clone, Copy, Debug)]
struct Access {
    node: usize,
    range: usize,
    by: By,
    read: bool,
    write: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// `discards`: what the host wrote before is undefined from then on, and no flush makes it available.
    Host {
        invalidates: bool,
        discards: bool,
        unseen: bool,
    },
    Device {
        operation: u64,
        queue: u32,
        stage: Stages,
    },
}

/// What was found: an access of the host by its place among all accesses, an operation, whether that writes.
type Found = BTreeMap<(usize, u64, bool), FindingId>;

struct Run {
    g: Graph,
    t: Tracker,
    steps: BTreeMap<usize, Step>,
    accesses: Vec<Access>,
    found: Found,
    coherent: [bool; 2],
    /// The host wrote the range and did not flush it.
    unflushed: [bool; 2],
    /// The device wrote the range and the host did not invalidate it.
    unseen: [bool; 2],
    /// Writes of the host that were not told.
    left: u64,
}

impl Run {
    fn host(&mut self, step: Step) -> usize {
        let node = self.g.host_node();
        self.steps.insert(node, step);
        node
    }

    /// An access of the host, which [`Run::note`] refers to by what this returns.
    fn host_access(&mut self, node: usize, range: usize, write: bool, by: By) -> u64 {
        self.accesses.push(Access { node, range, by, read: !write, write });
        self.accesses.len() as u64 - 1
    }

    fn note(&mut self, found: &[HostHazard]) {
        for hazard in found {
            let writes = !hazard.operand.write.is_empty();
            self.found.insert((hazard.tag as usize, hazard.operation.0, writes), hazard.id);
        }
    }

    /// The host does something; `pending`: work is handed in that has not been executed.
    fn act(&mut self, c: &mut Random, pending: bool) {
        let range = c.below(2);
        let runs = [RANGES[range]];
        let (coherent, unseen) = (self.coherent[range], self.unseen[range]);
        let by = By::Host { invalidates: false, discards: false, unseen };
        match c.below(if coherent { 4 } else { 7 }) {
            0 | 1 => {
                let node = self.host(Step::Write(range));
                let tag = self.host_access(node, range, true, by);
                (self.unflushed[range], self.unseen[range]) = (!coherent, false);
                let mut left = coherent && !pending && c.one_in(2);
                self.t.kept_from_host(RANGES[range], |_| left = false);
                self.left += u64::from(left);
                let found = if left { Vec::new() } else { self.t.host_wrote(&runs, coherent, tag) };
                self.note(&found);
            }
            2 | 3 => {
                let node = self.host(Step::Read(range));
                let tag = self.host_access(node, range, false, by);
                let found = self.t.host_read(&[(runs[0], unseen)], tag);
                self.note(&found);
            }
            4 | 5 => {
                self.host(Step::Flush(range));
                self.unflushed[range] = false;
                self.t.host_flushed(&runs);
            }
            _ => {
                let node = self.host(Step::Invalidate(range));
                let discards = self.unflushed[range];
                let by = By::Host { invalidates: true, discards, unseen };
                let tag = self.host_access(node, range, false, by);
                if discards {
                    self.t.host_discarded(&runs);
                }
                if unseen {
                    let found = self.t.host_invalidated(&runs, tag);
                    self.note(&found);
                }
                (self.unflushed[range], self.unseen[range]) = (false, false);
            }
        }
    }

    fn operation(&mut self, q: u32, stage: Stages, accesses: &[(usize, Operand)]) {
        let first = self.g.nodes.len();
        self.g.operation(q, stage, accesses);
        let id = self.t.begin(QueueId(q), stage, 0, None);
        for (k, &(range, operand)) in accesses.iter().enumerate() {
            self.t.access(id, RANGES[range], operand);
            let found = self.t.access_after_host(id, RANGES[range], operand);
            self.note(&found);
            let (read, write) = (!operand.read.is_empty(), !operand.write.is_empty());
            let by = By::Device { operation: id.0, queue: q, stage };
            self.accesses.push(Access { node: first + k, range, by, read, write });
            if write {
                (self.unseen[range], self.unflushed[range]) = (!self.coherent[range], false);
            }
        }
    }

    fn command(&mut self, c: &mut Random, q: u32, events: &mut Vec<(usize, EventToken)>) {
        let (none, to, from) = (Accesses::empty(), Accesses::TRANSFER_WRITE, Accesses::TRANSFER_READ);
        match c.below(6) {
            0 | 1 => {
                let d = host_dependency(c);
                let position = self.g.items(q).len();
                self.g.dependency(q, &d, position, true);
                self.t.barrier(QueueId(q), &d, 0);
            }
            2 if !events.is_empty() => {
                let (node, event) = events.remove(0);
                let d = host_dependency(c);
                let position = self.g.items(q).len();
                let scopes = d.available.clone();
                // What a queue made available before is not the event's: its first scope is of the host.
                let a = self.g.node(Node::Available { queue: q, position, scopes, limit: Some(0) });
                if d.source.contains(Stages::HOST) {
                    self.g.edges.insert((node, a));
                }
                self.g.host_scope(q, &d, a);
                self.g.always(q, a);
                self.g.visible_half(q, &d, position, a, true);
                self.t.wait_events(QueueId(q), &[&event], &d, 0);
            }
            3 => self.operation(q, Stages::CLEAR, &[(c.below(2), Operand::fixed(none, to))]),
            4 => {
                let range = c.below(2);
                let accesses = [(range, Operand::fixed(from, none)), (1 - range, Operand::fixed(none, to))];
                self.operation(q, Stages::COPY, &accesses);
            }
            _ => {
                let (read, write) = (Accesses::SHADER_STORAGE_READ, Accesses::SHADER_STORAGE_WRITE);
                let range = c.below(2);
                let both = [(range, Operand::fixed(read, none)), (range, Operand::fixed(none, write))];
                let accesses = [&both[..1], &both[1..], &both][c.below(3)];
                self.operation(q, Stages::COMPUTE_SHADER, accesses);
            }
        }
    }

    /// The program as the model takes it, as far as it concerns one range; and the events of each node, the
    /// first and the last.
    fn execution(&self, range: usize) -> (Execution, Vec<(EventId, EventId)>) {
        let (mut execution, mut events) = (Execution::new(), Vec::new());
        let host = model::Agent::alone(u32::MAX, true);
        let reference = |device: bool| u32::from(device);
        let class = StorageClasses::UNIFORM;
        // Nodes that cover later ones come first: their events are numbered below.
        let mut numbers = Vec::new();
        let mut next = 0;
        for node in 0..self.g.nodes.len() {
            numbers.push(next);
            next += self.expand(node, range).len() as EventId;
        }
        for node in 0..self.g.nodes.len() {
            let device = model::Agent::alone(node as u32, false);
            for part in self.expand(node, range) {
                let event = match part {
                    Part::Other => Event::other(device),
                    Part::Domain(operation) => {
                        let of_host = matches!(
                            &operation,
                            DomainOperation::Availability(Domain::Host, _)
                                | DomainOperation::Visibility(Domain::Host, _)
                                | DomainOperation::Transfer(Domain::Host, _)
                        );
                        let by = if of_host && self.steps.contains_key(&node) { host } else { device };
                        Event::domain(by, number(operation, &numbers))
                    }
                    Part::Device(read, write) => {
                        Event { write, read, ..Event::read(device, X, reference(true), class) }
                    }
                    Part::Host(write) => {
                        let coherent = self.coherent[range];
                        let event = Event::read(host, X, reference(false), class);
                        let (available, visible) = (coherent && write, coherent && !write);
                        Event { write, read: !write, available, visible, ..event }
                    }
                };
                execution.push(event);
            }
            let (first, end) = (numbers[node], execution.events().len() as EventId);
            (first..end - 1).for_each(|event| execution.system_synchronizes(event, event + 1));
            events.push((first, end - 1));
        }
        for (a, b) in &self.g.edges {
            execution.system_synchronizes(events[*a].1, events[*b].0);
        }
        (execution, events)
    }

    /// The events of a node, one after the other. Covered events are nodes still.
    fn expand(&self, node: usize, range: usize) -> Vec<Part> {
        use DomainOperation::{Availability, Transfer, Visibility};
        let nodes = self.g.nodes.iter().enumerate();
        let covered = |holds: &dyn Fn(u32, usize, Stages, &Operand) -> bool| {
            let all = nodes.clone().filter_map(|(index, node)| match node {
                Node::Access { queue, position, stage, range: r, operand, .. }
                    if *r == range && holds(*queue, *position, *stage, operand) =>
                {
                    Some(index as EventId)
                }
                _ => None,
            });
            Covers::Events(all.collect())
        };
        match &self.g.nodes[node] {
            Node::Access { range: r, operand, .. } if *r == range => {
                vec![Part::Device(!operand.read.is_empty(), !operand.write.is_empty())]
            }
            Node::Access { .. } => vec![Part::Other],
            Node::Available { queue, position, scopes, limit } => {
                let writes = covered(&|q, at, stage, operand| {
                    q == *queue
                        && at < *position
                        && limit.is_none_or(|limit| at < limit)
                        && Graph::includes(scopes, stage, operand.write, range)
                        && !operand.write.is_empty()
                });
                let mut parts = vec![Part::Domain(Availability(Domain::Device, writes))];
                if Graph::includes(scopes, Stages::HOST, Accesses::HOST_WRITE, range) {
                    parts.push(Part::Domain(Transfer(Domain::Host, Domain::Device)));
                }
                parts
            }
            // A submission.
            Node::Visible { scopes: None, .. } => vec![
                Part::Domain(Transfer(Domain::Host, Domain::Device)),
                Part::Domain(Visibility(Domain::Device, Covers::All)),
            ],
            Node::Visible { queue, position, scopes: Some(scopes), second } => {
                let reads = covered(&|q, at, stage, operand| {
                    q == *queue
                        && at > *position
                        && second.contains(stage)
                        && Graph::includes(scopes, stage, operand.read, range)
                        && !operand.read.is_empty()
                });
                let mut parts = vec![Part::Domain(Visibility(Domain::Device, reads))];
                let to_host = [Accesses::HOST_READ, Accesses::HOST_WRITE]
                    .into_iter()
                    .any(|access| Graph::includes(scopes, Stages::HOST, access, range));
                if to_host {
                    parts.push(Part::Domain(Transfer(Domain::Device, Domain::Host)));
                }
                parts
            }
            Node::Host => match self.steps.get(&node) {
                Some(Step::Write(r)) if *r == range => vec![Part::Host(true)],
                Some(Step::Read(r)) if *r == range => vec![Part::Host(false)],
                Some(Step::Flush(r)) if *r == range => {
                    vec![Part::Domain(Availability(Domain::Host, Covers::All))]
                }
                // Who invalidates is about to read.
                Some(Step::Invalidate(r)) if *r == range => {
                    vec![Part::Domain(Visibility(Domain::Host, Covers::All)), Part::Host(false)]
                }
                _ => vec![Part::Other],
            },
        }
    }

    /// Compares what was found with the model's races; returns how many of those there are.
    fn judge(&self, seed: u64) -> usize {
        let mut races = 0;
        let happens_before = self.g.closure();
        for range in 0..2 {
            let (execution, events) = self.execution(range);
            let judgement = execution.judge(&ModelOptions::default()).expect("a well-formed execution");
            let here = |(_, access): &(usize, &Access)| access.range == range;
            let accesses: Vec<(usize, &Access)> = self.accesses.iter().enumerate().filter(here).collect();
            for (k, (first_at, first)) in accesses.iter().enumerate() {
                for (l, (second_at, second)) in accesses.iter().enumerate().skip(k + 1) {
                    let (host, operation) = match (first.by, second.by) {
                        (By::Host { .. }, By::Device { operation, .. }) => {
                            (*first_at, (operation, second.write))
                        }
                        (By::Device { operation, .. }, By::Host { .. }) => {
                            (*second_at, (operation, first.write))
                        }
                        _ => continue,
                    };
                    // The last event of an invalidate is the read that it declares.
                    let race = judgement.race(events[first.node].1, events[second.node].1);
                    let found = self.found.get(&(host, operation.0, operation.1)).copied();
                    let told = || format!("seed {seed}: {first:?} {second:?} {found:?}");
                    let between = || accesses[k + 1..l].iter().map(|(_, access)| *access);
                    let discards = |a: &Access| matches!(a.by, By::Host { discards: true, .. });
                    let of_host = first.write && matches!(first.by, By::Host { .. });
                    let race = race || (of_host && between().any(discards));
                    assert!(race || found.is_none(), "{}: a false alarm", told());
                    races += usize::from(race);
                    let executed = happens_before[first.node][second.node];
                    if let Some(id) = found {
                        assert_eq!(id == FindingId::HostInFlight, !executed, "{}", told());
                    } else if race {
                        let between = between();
                        assert!(self.excused(first, second, executed, between), "{}: missed", told());
                    }
                }
            }
        }
        races
    }

    /// Whether a race that was not found is one that the page above names.
    fn excused<'a>(
        &self,
        first: &Access,
        second: &Access,
        executed: bool,
        mut between: impl Iterator<Item = &'a Access>,
    ) -> bool {
        let superseded = |other: &Access| match (first.by, other.by) {
            (By::Host { .. }, By::Host { .. }) => first.write == other.write,
            (_, By::Host { .. }) => false,
            (By::Device { queue, stage, .. }, By::Device { queue: q, stage: s, .. }) if !first.write => {
                other.write || (queue, stage) == (q, s)
            }
            (_, By::Device { .. }) => other.write,
        };
        match (first.by, second.by) {
            _ if between.any(superseded) => true,
            (By::Host { invalidates, .. }, _) => invalidates || (executed && !second.read),
            (_, By::Host { invalidates: true, unseen, .. }) => !executed || !unseen,
            (_, By::Host { unseen, .. }) => executed && second.read && !unseen && !self.coherent[first.range],
            _ => false,
        }
    }
}

enum Part {
    Other,
    /// A read, a write.
    Device(bool, bool),
    /// A write; else a read.
    Host(bool),
    Domain(DomainOperation),
}

/// The operation with events in place of nodes.
fn number(operation: DomainOperation, numbers: &[EventId]) -> DomainOperation {
    let events = |covers| match covers {
        Covers::Events(nodes) => Covers::Events(nodes.iter().map(|node| numbers[*node as usize]).collect()),
        other => other,
    };
    match operation {
        DomainOperation::Availability(domain, covers) => {
            DomainOperation::Availability(domain, events(covers))
        }
        DomainOperation::Visibility(domain, covers) => DomainOperation::Visibility(domain, events(covers)),
        other => other,
    }
}

/// A dependency without transitions, often one to the host.
fn host_dependency(c: &mut Random) -> Dependency {
    let mut d = Dependency { transitions: Vec::new(), ..dependency(c) };
    if c.one_in(2) {
        d.source |= Stages::HOST;
        let access = c.pick(&[Accesses::HOST_WRITE, Accesses::HOST_WRITE, Accesses::empty()]);
        for scope in &mut d.available {
            scope.stages |= Stages::HOST;
            scope.accesses |= access;
        }
    }
    if c.one_in(2) {
        d.destination |= Stages::HOST;
        let access = c.pick(&[Accesses::HOST_READ, Accesses::HOST_WRITE, Accesses::empty()]);
        for scope in &mut d.visible {
            scope.stages |= Stages::HOST;
            scope.accesses |= access;
        }
    }
    d
}

fn program(seed: u64) -> Run {
    let mut c = Random::new(seed);
    for _ in 0..4 {
        c.below(2);
    }
    let mut run = Run {
        g: Graph::default(),
        t: Tracker::default(),
        steps: BTreeMap::new(),
        accesses: Vec::new(),
        found: Found::new(),
        coherent: [c.one_in(2), c.one_in(2)],
        unflushed: [false; 2],
        unseen: [false; 2],
        left: 0,
    };
    let queues = 1 + c.below(2);
    let mut submitted: Vec<Vec<(usize, Payload)>> = vec![Vec::new(); queues];
    let (mut told, mut semaphores) = (Vec::new(), Vec::new());
    let mut events = Vec::new();
    for _ in 0..8 + c.below(16) {
        let q = c.below(queues);
        let pending = submitted.iter().any(|list| !list.is_empty());
        match c.below(13) {
            0..=3 => run.act(&mut c, pending),
            4 | 5 => submitted[q].push((run.g.host_node(), run.t.host_knowledge())),
            6 if c.one_in(2) => events.push((run.host(Step::Signal), run.t.host_event())),
            6 => semaphores.push((run.host(Step::Signal), run.t.host_knowledge())),
            7..=9 if !told.is_empty() => {
                let (signal, payload): (usize, Payload) = told.remove(0);
                let host = run.g.host_node();
                run.g.edges.insert((signal, host));
                run.t.host_wait(&payload);
            }
            _ if !submitted[q].is_empty() => {
                let (host, payload) = submitted[q].remove(0);
                let q = q as u32;
                run.g.begin(q, host);
                run.t.submit(QueueId(q), &payload);
                if !semaphores.is_empty() && c.one_in(2) {
                    let (signal, payload) = semaphores.remove(0);
                    let stages = if c.one_in(2) { Stages::DEVICE } else { masks(&mut c, false).0 };
                    run.g.wait(q, signal, stages);
                    run.t.wait_semaphore(QueueId(q), &payload, stages);
                }
                (0..1 + c.below(4)).for_each(|_| run.command(&mut c, q, &mut events));
                let stages = if c.below(3) > 0 { None } else { Some(masks(&mut c, true).0) };
                let signal = (run.g.signal(q, stages), run.t.signal_semaphore(QueueId(q), stages));
                if c.one_in(4) {
                    semaphores.push(signal.clone());
                }
                told.push(signal);
            }
            _ => run.act(&mut c, pending),
        }
    }
    run
}

#[test]
fn what_is_found_between_host_and_device_are_races_of_the_model_and_none_is_missed() {
    let programs: Option<u64> = std::env::var("PELLUCID_PROGRAMS").ok().and_then(|n| n.parse().ok());
    let (mut races, mut left, mut found) = (0, 0, BTreeMap::new());
    for seed in 0..programs.unwrap_or(3000) {
        let run = program(seed);
        races += run.judge(seed);
        left += run.left;
        run.found.values().for_each(|id| *found.entry(id.name()).or_insert(0) += 1);
    }
    assert!(
        races > 3000 && left > 1000 && found.len() == 4 && found.values().all(|n| *n > 100),
        "too tame: {races} {left} {found:?}"
    );
}
