//! Times of many agents, as spans of agents in a tree whose parts are shared.

use super::topology::AgentId;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A point in an agent's program: it advances at releases, availability and visibility operations and at
/// barriers. 0 is before everything.
pub type Time = u32;

/// Agents that are known up to one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub first: AgentId,
    pub end: AgentId,
    pub time: Time,
}

/// Agents of a leaf, as a power of two.
pub(super) const LEAF: u32 = 9;
/// Children of a branch, as a power of two.
pub(super) const FAN: u32 = 3;

/// What is known about the agents `number << bits ..`, at least about one.
#[derive(Debug)]
pub(super) struct Node {
    /// 0: a leaf; else one more than its children's.
    level: u32,
    number: u32,
    /// Its own number among all nodes; only equality of such numbers is ever used.
    id: u64,
    /// Nodes that are known to say nothing more: long chains of synchronisation compare the same old nodes
    /// again and again.
    covered: [AtomicU64; 4],
    parts: Parts,
}

#[derive(Debug)]
enum Parts {
    Spans(Spans),
    /// Ascending by their numbers.
    Nodes(Nodes),
}

type Spans = SmallVec<[Span; 4]>;
type Nodes = SmallVec<[Arc<Node>; 1 << FAN]>;

static NODES: AtomicU64 = AtomicU64::new(1);

/// The number of the node of a level that is about an agent.
fn number_of(agent: AgentId, level: u32) -> u32 {
    (u64::from(agent) >> (LEAF + FAN * level)) as u32
}

impl Span {
    /// The part of it in the node of this level and number.
    fn in_node(&self, level: u32, number: u32) -> Span {
        let bits = LEAF + FAN * level;
        let (first, end) = (u64::from(number) << bits, (u64::from(number) + 1) << bits);
        Span {
            first: self.first.max(first.min(AgentId::MAX.into()) as AgentId),
            end: self.end.min(end.min(AgentId::MAX.into()) as AgentId),
            time: self.time,
        }
    }

    /// Whether this says everything that the other does.
    pub fn covers(&self, other: &Span) -> bool {
        self.first <= other.first && other.end <= self.end && other.time <= self.time
    }

    /// The numbers of the nodes of a level that it is about.
    fn numbers(&self, level: u32) -> std::ops::RangeInclusive<u32> {
        number_of(self.first, level)..=number_of(self.end - 1, level)
    }
}

impl Node {
    fn new(level: u32, number: u32, parts: Parts) -> Arc<Node> {
        let id = NODES.fetch_add(1, Ordering::Relaxed);
        Arc::new(Node { level, number, id, covered: Default::default(), parts })
    }

    /// The smallest node that holds the span.
    pub fn of(span: &Span) -> Arc<Node> {
        let mut level = 0;
        while span.numbers(level).count() > 1 {
            level += 1;
        }
        Node::part(span, level)
    }

    /// The node of a level that holds the span.
    fn part(span: &Span, level: u32) -> Arc<Node> {
        let parts = match level.checked_sub(1) {
            None => Parts::Spans(SmallVec::from_slice(&[*span])),
            Some(below) => Parts::Nodes(
                span.numbers(below).map(|number| Node::part(&span.in_node(below, number), below)).collect(),
            ),
        };
        Node::new(level, number_of(span.first, level), parts)
    }

    /// The node of a level above that holds this one and nothing else.
    fn lifted(self: &Arc<Node>, level: u32) -> Arc<Node> {
        let mut node = self.clone();
        while node.level < level {
            let number = node.number >> FAN;
            node = Node::new(node.level + 1, number, Parts::Nodes(std::iter::once(node).collect()));
        }
        node
    }

    /// The number of the node of a level, not below its own, that holds this one.
    fn number_at(&self, level: u32) -> u32 {
        self.number.checked_shr(FAN * (level - self.level)).unwrap_or(0)
    }

    pub fn nodes(&self) -> &[Arc<Node>] {
        match &self.parts {
            Parts::Nodes(nodes) => nodes,
            Parts::Spans(_) => &[],
        }
    }

    /// Its span, if it has no other and no children.
    pub fn only_span(&self) -> Option<Span> {
        match &self.parts {
            Parts::Spans(spans) if spans.len() == 1 => Some(spans[0]),
            _ => None,
        }
    }

    fn child(&self, number: u32) -> Option<&Arc<Node>> {
        self.nodes().iter().find(|node| node.number == number)
    }

    /// Whether the other is known to say nothing more.
    fn knows(&self, other: &Node) -> bool {
        self.id == other.id || self.covered.iter().any(|id| id.load(Ordering::Relaxed) == other.id)
    }

    fn remember(&self, other: &Node) {
        self.covered[other.id as usize % 4].store(other.id, Ordering::Relaxed);
    }

    /// Whether this says everything that the other does.
    pub fn covers(&self, other: &Node) -> bool {
        if self.knows(other) {
            return true;
        }
        let yes = match (&self.parts, &other.parts) {
            _ if self.level < other.level => match other.nodes() {
                [only] => self.covers(only),
                _ => false,
            },
            _ if other.number_at(self.level) != self.number => false,
            (Parts::Spans(ours), Parts::Spans(theirs)) => covers(ours, theirs),
            (Parts::Nodes(_), Parts::Nodes(theirs)) if self.level == other.level => {
                // What is new is usually about the agents that came last.
                theirs.iter().rev().all(|node| self.child(node.number).is_some_and(|own| own.covers(node)))
            }
            _ => self.child(other.number_at(self.level - 1)).is_some_and(|own| own.covers(other)),
        };
        if yes {
            self.remember(other);
        }
        yes
    }

    /// The same of one span.
    pub fn covers_span(&self, span: &Span) -> bool {
        if span.numbers(self.level) != (self.number..=self.number) {
            return false;
        }
        match &self.parts {
            Parts::Spans(spans) => covers(spans, std::slice::from_ref(span)),
            Parts::Nodes(_) => {
                let below = self.level - 1;
                span.numbers(below).all(|number| {
                    self.child(number).is_some_and(|node| node.covers_span(&span.in_node(below, number)))
                })
            }
        }
    }

    /// Whether one span says all that it does.
    pub fn is_covered_by(&self, span: &Span) -> bool {
        match &self.parts {
            Parts::Spans(spans) => covers(std::slice::from_ref(span), spans),
            Parts::Nodes(nodes) => nodes.iter().all(|node| node.is_covered_by(span)),
        }
    }

    /// The first agent that it is about, and the one behind the last.
    fn ends(&self) -> (AgentId, AgentId) {
        let (mut first, mut last) = (self, self);
        while let Some(node) = first.nodes().first() {
            first = node;
        }
        while let Some(node) = last.nodes().last() {
            last = node;
        }
        let ends = |node: &Node| match &node.parts {
            Parts::Spans(spans) => {
                spans.first().zip(spans.last()).map(|(first, last)| (first.first, last.end))
            }
            Parts::Nodes(_) => None,
        };
        (ends(first).map_or(0, |(first, _)| first), ends(last).map_or(0, |(_, end)| end))
    }

    /// What it says about `agents` only, if anything.
    pub fn within(self: &Arc<Node>, agents: &Range<AgentId>) -> Option<Arc<Node>> {
        let whole = Span { first: agents.start, end: agents.end, time: 0 };
        let (first, end) = self.ends();
        if agents.start <= first && end <= agents.end {
            return Some(self.clone());
        }
        let parts = match &self.parts {
            Parts::Spans(spans) => Parts::Spans(cut(spans, agents)),
            Parts::Nodes(nodes) => {
                let inside = nodes.iter().filter(|node| whole.numbers(node.level).contains(&node.number));
                Parts::Nodes(inside.filter_map(|node| node.within(agents)).collect())
            }
        };
        let empty = match &parts {
            Parts::Spans(spans) => spans.is_empty(),
            Parts::Nodes(nodes) => nodes.is_empty(),
        };
        (!empty).then(|| Node::new(self.level, self.number, parts))
    }

    /// This node, which holds the other's agents and more, and what the other one says.
    fn with(self: &Arc<Node>, other: &Arc<Node>) -> Arc<Node> {
        let below = self.level - 1;
        let number = other.number_at(below);
        let mut nodes: Nodes = self.nodes().iter().cloned().collect();
        let at = nodes.partition_point(|node| node.number < number);
        match nodes.get_mut(at) {
            Some(node) if node.number == number => {
                let merged = merge(node, other);
                if Arc::ptr_eq(&merged, node) {
                    return self.clone();
                }
                *node = merged;
            }
            _ => nodes.insert(at, other.lifted(below)),
        }
        Node::new(self.level, self.number, Parts::Nodes(nodes))
    }
}

/// What both say; one of the two, if it says everything.
pub(super) fn merge(ours: &Arc<Node>, theirs: &Arc<Node>) -> Arc<Node> {
    if ours.knows(theirs) {
        return ours.clone();
    }
    if theirs.knows(ours) {
        return theirs.clone();
    }
    let mut level = ours.level.max(theirs.level);
    if ours.number_at(level) != theirs.number_at(level) {
        while ours.number_at(level + 1) != theirs.number_at(level + 1) {
            level += 1;
        }
        let mut nodes: Nodes = [ours.lifted(level), theirs.lifted(level)].into_iter().collect();
        nodes.sort_unstable_by_key(|node| node.number);
        return Node::new(level + 1, ours.number_at(level + 1), Parts::Nodes(nodes));
    }
    match (&ours.parts, &theirs.parts) {
        (Parts::Spans(a), Parts::Spans(b)) => {
            if ours.covers(theirs) {
                ours.clone()
            } else if theirs.covers(ours) {
                theirs.clone()
            } else {
                Node::new(0, ours.number, Parts::Spans(merge_spans(a, b)))
            }
        }
        (Parts::Nodes(a), Parts::Nodes(b)) if ours.level == theirs.level => {
            let nodes = merge_nodes(a, b);
            let are = |known: &Nodes| {
                nodes.len() == known.len() && nodes.iter().zip(known).all(|(a, b)| Arc::ptr_eq(a, b))
            };
            if are(a) {
                ours.remember(theirs);
                ours.clone()
            } else if are(b) {
                theirs.remember(ours);
                theirs.clone()
            } else {
                Node::new(level, ours.number, Parts::Nodes(nodes))
            }
        }
        _ if ours.level > theirs.level => ours.with(theirs),
        _ => theirs.with(ours),
    }
}

fn merge_nodes(a: &[Arc<Node>], b: &[Arc<Node>]) -> Nodes {
    let mut merged = Nodes::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        merged.push(match x.number.cmp(&y.number) {
            std::cmp::Ordering::Less => x.clone(),
            std::cmp::Ordering::Greater => y.clone(),
            std::cmp::Ordering::Equal => merge(x, y),
        });
        i += usize::from(x.number <= y.number);
        j += usize::from(y.number <= x.number);
    }
    merged.extend(a[i..].iter().chain(&b[j..]).cloned());
    merged
}

/// Up to when the node knows an agent.
pub(super) fn time_in(mut node: &Node, agent: AgentId) -> Time {
    loop {
        let spans = match &node.parts {
            Parts::Spans(spans) => spans,
            Parts::Nodes(_) => match node.child(number_of(agent, node.level - 1)) {
                Some(child) => {
                    node = child;
                    continue;
                }
                None => return 0,
            },
        };
        let after = spans.partition_point(|span| span.first <= agent);
        return match spans[..after].last() {
            Some(span) if agent < span.end => span.time,
            _ => 0,
        };
    }
}

fn cut(spans: &[Span], agents: &Range<AgentId>) -> Spans {
    let from = spans.partition_point(|span| span.end <= agents.start);
    spans[from..]
        .iter()
        .take_while(|span| span.first < agents.end)
        .map(|span| Span {
            first: span.first.max(agents.start),
            end: span.end.min(agents.end),
            time: span.time,
        })
        .collect()
}

/// How many spans both begin with: long lists differ in their last ones. Compares several at a time.
fn common(ours: &[Span], theirs: &[Span]) -> usize {
    const BLOCK: usize = 8;
    let differ = |(a, b): (&Span, &Span)| (a.first ^ b.first) | (a.end ^ b.end) | (a.time ^ b.time);
    let alike = |(a, b): &(&[Span; BLOCK], &[Span; BLOCK])| {
        a.iter().zip(*b).map(differ).fold(0, |all, differ| all | differ) == 0
    };
    let blocks = ours.as_chunks().0.iter().zip(theirs.as_chunks().0).take_while(alike).count();
    let same = BLOCK * blocks;
    same + ours[same..].iter().zip(&theirs[same..]).take_while(|(a, b)| a == b).count()
}

fn covers(ours: &[Span], theirs: &[Span]) -> bool {
    let same = common(ours, theirs);
    let (ours, theirs) = (&ours[same..], &theirs[same..]);
    let Some(first) = theirs.first() else { return true };
    let mut index = ours.partition_point(|span| span.end <= first.first);
    for span in theirs {
        let mut from = span.first;
        while from < span.end {
            while index < ours.len() && ours[index].end <= from {
                index += 1;
            }
            match ours.get(index) {
                Some(own) if own.first <= from && own.time >= span.time => from = own.end,
                _ => return false,
            }
        }
    }
    true
}

fn push(spans: &mut Spans, first: AgentId, end: AgentId, time: Time) {
    if time == 0 || first >= end {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.end == first && last.time == time => last.end = end,
        _ => spans.push(Span { first, end, time }),
    }
}

fn merge_spans(a: &[Span], b: &[Span]) -> Spans {
    let same = common(a, b);
    let mut merged = Spans::with_capacity(a.len().max(b.len()) + 4);
    merged.extend_from_slice(&a[..same]);
    let (mut i, mut j) = (same, same);
    let mut at = merged.last().map_or(0, |span| span.end);
    while i < a.len() || j < b.len() {
        let x = a.get(i);
        let y = b.get(j);
        let time = |span: Option<&Span>| span.filter(|span| span.first <= at).map_or(0, |span| span.time);
        let edge = |span: Option<&Span>| {
            span.map_or(AgentId::MAX, |span| if span.first > at { span.first } else { span.end })
        };
        let next = edge(x).min(edge(y));
        push(&mut merged, at, next, time(x).max(time(y)));
        at = next;
        if x.is_some_and(|span| span.end <= at) {
            i += 1;
        }
        if y.is_some_and(|span| span.end <= at) {
            j += 1;
        }
    }
    merged
}
