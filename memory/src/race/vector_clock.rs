//! Vector clocks: up to which time each agent is known, as shared interval maps.

pub use super::span_tree::Time;
use super::span_tree::{Node, Span, merge, time_in};
use super::topology::AgentId;
use std::ops::Range;
use std::sync::Arc;

/// For every agent the time up to which something is known about it; 0 where nothing is.
///
/// Agents that share a workgroup have consecutive numbers and, after a barrier, equal times, so a clock is
/// a sorted list of spans of agents. More than one are the leaves of a tree over the agents. Copies share it,
/// and clocks that grow from each other share the nodes in which they are alike: what a long chain of
/// synchronisation passes on costs what is new.
#[derive(Clone, Debug, Default)]
pub struct VectorClock(Known);

#[derive(Clone, Debug, Default)]
enum Known {
    #[default]
    Nothing,
    One(Span),
    Many(Arc<Node>),
}

impl PartialEq for VectorClock {
    fn eq(&self, other: &VectorClock) -> bool {
        self.includes(other) && other.includes(self)
    }
}

impl VectorClock {
    /// Whether nothing is known.
    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self.0, Known::Nothing)
    }

    /// Up to when `agent` is known.
    #[inline]
    pub fn get(&self, agent: AgentId) -> Time {
        match &self.0 {
            Known::Nothing => 0,
            Known::One(only) => {
                if only.first <= agent && agent < only.end {
                    only.time
                } else {
                    0
                }
            }
            Known::Many(node) => time_in(node, agent),
        }
    }

    /// Takes in what `other` knows.
    pub fn join(&mut self, other: &VectorClock) {
        match (&self.0, &other.0) {
            (_, Known::Nothing) => {}
            (Known::Nothing, _) => self.0 = other.0.clone(),
            (_, Known::One(span)) => self.join_range(span.first..span.end, span.time),
            (Known::One(span), Known::Many(_)) => {
                let span = *span;
                self.0 = other.0.clone();
                self.join_range(span.first..span.end, span.time);
            }
            (Known::Many(ours), Known::Many(theirs)) => {
                let merged = merge(ours, theirs);
                if !Arc::ptr_eq(&merged, ours) {
                    self.0 = Known::Many(merged);
                }
            }
        }
    }

    /// Takes in that all of `agents` are known up to `time`.
    pub fn join_range(&mut self, agents: Range<AgentId>, time: Time) {
        if time == 0 || agents.is_empty() {
            return;
        }
        let span = Span { first: agents.start, end: agents.end, time };
        match &self.0 {
            Known::Nothing => self.0 = Known::One(span),
            Known::One(own) if own.covers(&span) => {}
            Known::One(own) if span.covers(own) => self.0 = Known::One(span),
            Known::One(own) if own.time == time && own.first <= span.end && span.first <= own.end => {
                let (first, end) = (own.first.min(span.first), own.end.max(span.end));
                self.0 = Known::One(Span { first, end, time });
            }
            Known::One(own) => self.0 = Known::Many(merge(&Node::of(own), &Node::of(&span))),
            Known::Many(node) if node.covers_span(&span) => {}
            Known::Many(node) => self.0 = Known::Many(merge(node, &Node::of(&span))),
        }
    }

    /// What is known about `agents` only.
    #[must_use]
    pub fn within(&self, agents: &Range<AgentId>) -> VectorClock {
        VectorClock(match &self.0 {
            Known::Nothing => Known::Nothing,
            Known::One(span) => {
                let (first, end) = (span.first.max(agents.start), span.end.min(agents.end));
                if first < end { Known::One(Span { first, end, ..*span }) } else { Known::Nothing }
            }
            Known::Many(_) if agents.is_empty() => Known::Nothing,
            Known::Many(node) => {
                let mut inside = node.within(agents);
                while let Some([only]) = inside.as_ref().map(|node| node.nodes()) {
                    inside = Some(only.clone());
                }
                match inside.map(|node| (node.only_span(), node)) {
                    None => Known::Nothing,
                    Some((Some(span), _)) => Known::One(span),
                    Some((None, node)) => Known::Many(node),
                }
            }
        })
    }

    /// Whether everything that `other` knows is known here.
    pub fn includes(&self, other: &VectorClock) -> bool {
        match (&self.0, &other.0) {
            (_, Known::Nothing) => true,
            (Known::Nothing, _) => false,
            (Known::One(own), Known::One(span)) => own.covers(span),
            (Known::One(own), Known::Many(node)) => node.is_covered_by(own),
            (Known::Many(node), Known::One(span)) => node.covers_span(span),
            (Known::Many(ours), Known::Many(theirs)) => ours.covers(theirs),
        }
    }
}

#[cfg(test)]
mod tests;
