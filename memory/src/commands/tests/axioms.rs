//! The tracker against the axioms: random programs of commands, with system-synchronizes-with written out
//! edge by edge, closed, and the device bullets of *Location-Ordered* evaluated on it literally. Nothing here
//! uses clocks.

use super::*;
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const RANGES: [Range; 2] =
    [Range { start: 0x1000, end: 0x1010 }, Range { start: 0x2000, end: 0x2010 }];

#[derive(Clone, Debug)]
pub(super) enum Node {
    Access { operation: usize, queue: u32, position: usize, stage: Stages, range: usize, operand: Operand },
    Available { queue: u32, position: usize, scopes: Vec<AccessScope>, limit: Option<usize> },
    Visible { queue: u32, position: usize, scopes: Option<Vec<AccessScope>>, second: Stages },
    Host,
}

#[derive(Clone, Debug)]
pub(super) enum Item {
    Operation {
        stage: Stages,
        nodes: Vec<usize>,
    },
    /// `second` is `None` for a submission, whose second scope is everything.
    Dependency {
        last: usize,
        second: Option<Stages>,
    },
}

/// A program as a graph, built beside the tracker from the same commands.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: BTreeSet<(usize, usize)>,
    queues: BTreeMap<u32, Vec<Item>>,
    host: Option<usize>,
    operations: usize,
}

impl Graph {
    pub(super) fn node(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }
    pub(super) fn items(&mut self, queue: u32) -> Vec<Item> {
        self.queues.entry(queue).or_default().clone()
    }
    pub(super) fn host_node(&mut self) -> usize {
        let n = self.node(Node::Host);
        if let Some(before) = self.host {
            self.edges.insert((before, n));
        }
        self.host = Some(n);
        n
    }
    /// Edges from a first scope to `to`; `None` is everything.
    fn first_scope(&mut self, queue: u32, stages: Option<Stages>, to: usize) {
        for item in self.items(queue) {
            match item {
                Item::Operation { stage, nodes } if stages.is_none_or(|s| s.contains(stage)) => {
                    self.edges.extend(nodes.into_iter().map(|n| (n, to)));
                }
                Item::Dependency { last, second } => {
                    let chains = match (stages, second) {
                        (None, _) | (_, None) => true,
                        (Some(a), Some(b)) => a.intersects(b),
                    };
                    if chains {
                        self.edges.insert((last, to));
                    }
                }
                Item::Operation { .. } => {}
            }
        }
    }
    pub(super) fn always(&mut self, queue: u32, to: usize) {
        for item in self.items(queue) {
            if let Item::Dependency { last, second: None } = item {
                self.edges.insert((last, to));
            }
        }
    }
    fn submit(&mut self, queue: u32) {
        let host = self.host_node();
        self.begin(queue, host);
    }
    /// A submission, which the host made at `host`, begins.
    pub(super) fn begin(&mut self, queue: u32, host: usize) {
        let position = self.items(queue).len();
        let v = self.node(Node::Visible { queue, position, scopes: None, second: Stages::DEVICE });
        self.edges.insert((host, v));
        self.always(queue, v);
        self.queues.entry(queue).or_default().push(Item::Dependency { last: v, second: None });
    }
    pub(super) fn dependency(
        &mut self,
        queue: u32,
        d: &Dependency,
        position: usize,
        record: bool,
    ) -> Vec<Item> {
        let a = self.node(Node::Available { queue, position, scopes: d.available.clone(), limit: None });
        self.first_scope(queue, Some(d.source.with_earlier()), a);
        self.host_scope(queue, d, a);
        self.visible_half(queue, d, position, a, record)
    }
    /// A first scope with the stage HOST holds all that the host did before what the queue has waited for.
    pub(super) fn host_scope(&mut self, queue: u32, d: &Dependency, to: usize) {
        if !d.source.contains(Stages::HOST) {
            return;
        }
        let mut before: BTreeSet<usize> = BTreeSet::new();
        let lasts = self.items(queue).into_iter().filter_map(|item| match item {
            Item::Dependency { last, .. } => Some(last),
            Item::Operation { .. } => None,
        });
        let mut next: Vec<usize> = lasts.collect();
        while let Some(node) = next.pop() {
            if before.insert(node) {
                next.extend(self.edges.iter().filter(|(_, b)| *b == node).map(|(a, _)| *a));
            }
        }
        let host = before.into_iter().filter(|node| matches!(self.nodes[*node], Node::Host)).max();
        self.edges.extend(host.map(|host| (host, to)));
    }
    /// From the availability operation on: transitions are between it and the visibility operation, and after
    /// what reaches all commands.
    pub(super) fn visible_half(
        &mut self,
        queue: u32,
        d: &Dependency,
        position: usize,
        a: usize,
        record: bool,
    ) -> Vec<Item> {
        let second = d.destination.with_later();
        let v = self.node(Node::Visible { queue, position, scopes: Some(d.visible.clone()), second });
        self.edges.insert((a, v));
        let before = self.items(queue);
        let mut items = Vec::new();
        for transition in &d.transitions {
            let nodes: Vec<usize> = transition
                .ranges
                .iter()
                .map(|r| {
                    let operand = Operand::fixed(Accesses::empty(), Accesses::TRANSITION);
                    let range = RANGES.iter().position(|known| known == r).expect("one of two");
                    let (operation, stage) = (self.operations, Stages::TRANSITION);
                    self.node(Node::Access { operation, queue, position, stage, range, operand })
                })
                .collect();
            self.operations += 1;
            for &n in &nodes {
                self.edges.extend([(a, n), (n, v)]);
                for item in &before {
                    if let Item::Dependency { last, second } = item
                        && second.is_none_or(|s| s.contains(Stages::TRANSITION))
                    {
                        self.edges.insert((*last, n));
                    }
                }
            }
            items.push(Item::Operation { stage: Stages::TRANSITION, nodes });
        }
        items.push(Item::Dependency { last: v, second: Some(second) });
        if record {
            self.queues.entry(queue).or_default().extend(items.iter().cloned());
        }
        items
    }
    /// Whatever stages a signal names, it follows the barriers to the host.
    pub(super) fn signal(&mut self, queue: u32, stages: Option<Stages>) -> usize {
        let position = self.items(queue).len();
        let scope = AccessScope::global(stages.unwrap_or(Stages::DEVICE), Accesses::MEMORY_WRITE);
        let a = self.node(Node::Available { queue, position, scopes: vec![scope], limit: None });
        self.first_scope(queue, stages.map(|stages| stages.with_earlier() | Stages::HOST), a);
        self.queues
            .entry(queue)
            .or_default()
            .push(Item::Dependency { last: a, second: Some(Stages::empty()) });
        a
    }
    pub(super) fn wait(&mut self, queue: u32, signal: usize, stages: Stages) {
        let position = self.items(queue).len();
        let scopes = vec![AccessScope::global(stages, Accesses::MEMORY_READ | Accesses::MEMORY_WRITE)];
        let v =
            self.node(Node::Visible { queue, position, scopes: Some(scopes), second: stages.with_later() });
        self.edges.insert((signal, v));
        self.always(queue, v);
        let second = Some(stages.with_later());
        self.queues.entry(queue).or_default().push(Item::Dependency { last: v, second });
    }
    pub(super) fn operation(&mut self, queue: u32, stage: Stages, accesses: &[(usize, Operand)]) {
        let items = self.items(queue);
        let position = items.len();
        let operation = self.operations;
        self.operations += 1;
        let mut nodes = Vec::new();
        for &(range, operand) in accesses {
            let n = self.node(Node::Access { operation, queue, position, stage, range, operand });
            for item in &items {
                if let Item::Dependency { last, second } = item
                    && second.is_none_or(|s| s.contains(stage))
                {
                    self.edges.insert((*last, n));
                }
            }
            nodes.push(n);
        }
        self.queues.entry(queue).or_default().push(Item::Operation { stage, nodes });
    }
    pub(super) fn closure(&self) -> Vec<Vec<bool>> {
        let n = self.nodes.len();
        let mut m = vec![vec![false; n]; n];
        for &(a, b) in &self.edges {
            m[a][b] = true;
        }
        for k in 0..n {
            let row = m[k].clone();
            for line in &mut m {
                if line[k] {
                    for (to, &reached) in row.iter().enumerate() {
                        line[to] |= reached;
                    }
                }
            }
        }
        m
    }
    fn writes(&self) -> BTreeSet<(usize, usize)> {
        let write = |n: &Node| match n {
            Node::Access { operation, range, operand, .. } if !operand.write.is_empty() => {
                Some((*operation, *range))
            }
            _ => None,
        };
        self.nodes.iter().filter_map(write).collect()
    }
    pub(super) fn includes(scopes: &[AccessScope], stage: Stages, access: Accesses, range: usize) -> bool {
        scopes.iter().any(|s| {
            s.stages.contains(stage)
                && s.accesses.contains(access)
                && s.ranges.as_ref().is_none_or(|r| r.contains(&RANGES[range]))
        })
    }
    /// Pairs of operations with the ranges on which they are not location-ordered.
    fn races(&self) -> Pairs {
        let hb = self.closure();
        let count = self.nodes.len();
        let mut out = BTreeSet::new();
        for w in 0..count {
            for y in 0..count {
                let (
                    Node::Access { operation: a, queue: wq, position: wp, stage: ws, range: wr, operand: wo },
                    Node::Access { operation: b, queue: yq, position: yp, stage: ys, range: yr, operand: yo },
                ) = (&self.nodes[w], &self.nodes[y])
                else {
                    continue;
                };
                if a >= b || wr != yr || (wo.write.is_empty() && yo.write.is_empty()) {
                    continue;
                }
                let transitions = [ws, ys].map(|&s| s == Stages::TRANSITION);
                let ordered = if wo.write.is_empty() {
                    hb[w][y]
                } else if transitions == [true; 2] && wq == yq {
                    // They execute in submission order.
                    true
                } else {
                    let available = |to: usize| {
                        if transitions[0] {
                            // Made available automatically.
                            return hb[w][to];
                        }
                        (0..count).any(|v| match &self.nodes[v] {
                            Node::Available { queue, position, scopes, limit } => {
                                queue == wq
                                    && wp < position
                                    && limit.is_none_or(|l| *wp < l)
                                    && hb[w][v]
                                    && hb[v][to]
                                    && Self::includes(scopes, *ws, wo.write, *wr)
                            }
                            _ => false,
                        })
                    };
                    let visible = (0..count).any(|v| match &self.nodes[v] {
                        Node::Visible { queue, position, scopes, second } => {
                            let holds = match scopes {
                                None => true,
                                Some(s) => {
                                    queue == yq
                                        && position < yp
                                        && second.contains(*ys)
                                        && Self::includes(s, *ys, yo.read, *yr)
                                }
                            };
                            holds && hb[v][y] && available(v)
                        }
                        _ => false,
                    });
                    (yo.write.is_empty() || available(y)) && (yo.read.is_empty() || visible)
                };
                if !ordered {
                    out.insert((*a, *b, *wr));
                }
            }
        }
        out
    }
}

pub(super) fn masks(c: &mut Random, first: bool) -> (Stages, Accesses) {
    let stages =
        [Stages::COMPUTE_SHADER, Stages::COPY, Stages::CLEAR, Stages::DRAW_INDIRECT, Stages::GRAPHICS];
    if c.below(10) < 4 {
        let accesses = if first || c.one_in(3) {
            Accesses::MEMORY_WRITE
        } else {
            Accesses::MEMORY_READ | Accesses::MEMORY_WRITE
        };
        return (Stages::DEVICE, accesses);
    }
    if c.one_in(12) {
        return (Stages::empty(), Accesses::empty());
    }
    let s = c.pick(&stages) | c.pick(&stages);
    let mut a = Accesses::empty();
    for access in s.supported().iter() {
        if !c.one_in(3) {
            a |= access;
        }
    }
    (s, a)
}

pub(super) fn dependency(c: &mut Random) -> Dependency {
    let (source, from) = masks(c, true);
    let (destination, to) = masks(c, false);
    let d = Dependency::memory(source, from, destination, to);
    let mut d = match c.below(6) {
        0 => d.on(&[c.pick(&RANGES)]),
        1 => Dependency::execution(source, destination),
        _ => d,
    };
    if c.one_in(3) {
        let ranges = if c.one_in(4) { RANGES.to_vec() } else { vec![c.pick(&RANGES)] };
        d.transitions.push(Transition { tag: 1, ranges, acquires: false });
    }
    d
}

/// Operation, operation, index of the range.
type Pairs = BTreeSet<(usize, usize, usize)>;

struct Outcome {
    /// What the tracker reported.
    found: Pairs,
    /// What the axioms do not order.
    races: Pairs,
    /// Operation and range of every write.
    writes: BTreeSet<(usize, usize)>,
    /// Operations that are transitions.
    transitions: BTreeSet<usize>,
}

/// One random program.
fn program(seed: u64) -> Outcome {
    let mut c = Random::new(seed);
    for _ in 0..4 {
        c.below(2);
    }
    let mut g = Graph::default();
    let mut t = Tracker::default();
    let mut found = BTreeSet::new();
    let queues = 1 + c.below(2) as u32;
    let mut semaphores: Vec<(usize, Payload)> = Vec::new();
    let mut fences: Vec<(usize, Payload)> = Vec::new();
    for _ in 0..2 + c.below(4) {
        let q = c.below(queues as usize) as u32;
        if !fences.is_empty() && c.one_in(3) {
            let (node, payload) = fences.remove(0);
            let h = g.host_node();
            g.edges.insert((node, h));
            t.host_wait(&payload);
        }
        g.submit(q);
        {
            let host = t.host_knowledge();
            t.submit(QueueId(q), &host);
        }
        if !semaphores.is_empty() && c.below(3) > 0 {
            let (node, payload) = semaphores.remove(0);
            let stages = if c.one_in(2) { Stages::DEVICE } else { masks(&mut c, false).0 };
            g.wait(q, node, stages);
            t.wait_semaphore(QueueId(q), &payload, stages);
        }
        for _ in 0..1 + c.below(4) {
            match c.below(8) {
                0..=2 => {
                    let d = dependency(&mut c);
                    let position = g.items(q).len();
                    g.dependency(q, &d, position, true);
                    note(&mut found, &t.barrier(QueueId(q), &d, 0));
                }
                3 => {
                    let two = [dependency(&mut c), dependency(&mut c)];
                    let position = g.items(q).len();
                    let items: Vec<Item> =
                        two.iter().flat_map(|d| g.dependency(q, d, position, false)).collect();
                    g.queues.entry(q).or_default().extend(items);
                    note(&mut found, &t.barriers(QueueId(q), &two, 0));
                }
                4 => {
                    let stages = masks(&mut c, true).0;
                    let position = g.items(q).len();
                    let first = g.node(Node::Host);
                    g.first_scope(q, Some(stages.with_earlier()), first);
                    let event = t.set_event(QueueId(q), stages);
                    g.queues
                        .entry(q)
                        .or_default()
                        .push(Item::Dependency { last: first, second: Some(Stages::empty()) });
                    if c.one_in(2) {
                        let operand = Operand::fixed(Accesses::empty(), Accesses::TRANSFER_WRITE);
                        step(&mut g, &mut t, &mut found, q, Stages::CLEAR, &[(c.below(2), operand)]);
                    }
                    let mut d = dependency(&mut c);
                    d.source |= stages;
                    let here = g.items(q).len();
                    let a = g.node(Node::Available {
                        queue: q,
                        position: here,
                        scopes: d.available.clone(),
                        limit: Some(position),
                    });
                    g.edges.insert((first, a));
                    g.always(q, a);
                    g.visible_half(q, &d, here, a, true);
                    note(&mut found, &t.wait_events(QueueId(q), &[&event], &d, 0));
                }
                5 => {
                    let operand = Operand::fixed(Accesses::empty(), Accesses::TRANSFER_WRITE);
                    step(&mut g, &mut t, &mut found, q, Stages::CLEAR, &[(c.below(2), operand)]);
                }
                6 => {
                    let from = c.below(2);
                    let accesses = [
                        (from, Operand::fixed(Accesses::TRANSFER_READ, Accesses::empty())),
                        (1 - from, Operand::fixed(Accesses::empty(), Accesses::TRANSFER_WRITE)),
                    ];
                    step(&mut g, &mut t, &mut found, q, Stages::COPY, &accesses);
                }
                _ => {
                    let reads = [Accesses::SHADER_STORAGE_READ, Accesses::UNIFORM_READ, Accesses::empty()];
                    let read = c.pick(&reads);
                    let write = if read == Accesses::SHADER_STORAGE_READ && c.one_in(3) || read.is_empty() {
                        Accesses::SHADER_STORAGE_WRITE
                    } else {
                        Accesses::empty()
                    };
                    let accesses = [(c.below(2), Operand::fixed(read, write))];
                    step(&mut g, &mut t, &mut found, q, Stages::COMPUTE_SHADER, &accesses);
                }
            }
        }
        if c.one_in(2) {
            let stages = if c.one_in(2) { None } else { Some(masks(&mut c, true).0) };
            let node = g.signal(q, stages);
            semaphores.push((node, t.signal_semaphore(QueueId(q), stages)));
        }
        if c.one_in(2) {
            let node = g.signal(q, None);
            fences.push((node, t.signal_fence(QueueId(q))));
        }
    }
    let transitions = g.nodes.iter().filter_map(|n| match n {
        Node::Access { operation, stage: Stages::TRANSITION, .. } => Some(*operation),
        _ => None,
    });
    Outcome { transitions: transitions.collect(), found, races: g.races(), writes: g.writes() }
}

fn step(
    g: &mut Graph,
    t: &mut Tracker,
    found: &mut Pairs,
    q: u32,
    stage: Stages,
    accesses: &[(usize, Operand)],
) {
    g.operation(q, stage, accesses);
    let op = t.begin(QueueId(q), stage, 0, None);
    for &(range, operand) in accesses {
        note(found, &t.access(op, RANGES[range], operand));
    }
}

fn note(found: &mut Pairs, hazards: &[Hazard]) {
    for h in hazards {
        for bytes in &h.bytes {
            let range = RANGES.iter().position(|r| r == bytes).expect("a whole range");
            found.insert((h.first.0 as usize, h.second.0 as usize, range));
        }
    }
}

#[test]
fn hazards_are_races_of_the_axioms_and_no_pair_is_ordered_that_they_do_not_order() {
    let (mut pairs, mut with_transitions) = (0, 0);
    let programs = std::env::var("PELLUCID_PROGRAMS").ok().and_then(|n| n.parse().ok());
    for seed in 0..programs.unwrap_or(4000) {
        let Outcome { found, races, writes, transitions } = program(seed);
        assert!(found.is_subset(&races), "seed {seed}: a false alarm: {:?}", found.difference(&races));
        // A superseded access is not compared again, and a later read of the same queue and stage stands for
        // an earlier one.
        for missed in races.difference(&found) {
            let (first, second, range) = *missed;
            let superseded = (first + 1..second).any(|between| writes.contains(&(between, range)));
            let stood_for = !writes.contains(&(first, range))
                && found.iter().any(|&(f, s, r)| f > first && s == second && r == range);
            assert!(superseded || stood_for, "seed {seed}: {missed:?} is a race and was not found");
        }
        pairs += races.len();
        with_transitions +=
            found.iter().filter(|(a, b, _)| transitions.contains(a) || transitions.contains(b)).count();
    }
    assert!(pairs > 5000, "the programs are too tame: {pairs} races");
    assert!(with_transitions > 2000, "the transitions are too tame: {with_transitions} hazards");
}
