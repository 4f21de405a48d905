//! Vector clocks: up to which time each agent is known, as shared interval maps.

use super::topology::AgentId;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A point in an agent's program: it advances at releases, availability and visibility operations and at
/// barriers. 0 is before everything.
pub type Time = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    first: AgentId,
    end: AgentId,
    time: Time,
}

/// Agents of one chunk.
const CHUNK: AgentId = 1 << 12;

/// The spans among the agents `number * CHUNK ..`, at least one.
#[derive(Debug)]
struct Chunk {
    number: u32,
    spans: SmallVec<[Span; 1]>,
    /// Its own number among all chunks; only equality of such numbers is ever used.
    id: u64,
    /// Chunks that are known to say nothing more: long chains of synchronisation compare the same old chunks
    /// again and again.
    covered: [AtomicU64; 4],
}

static CHUNKS: AtomicU64 = AtomicU64::new(1);

impl Chunk {
    fn new(number: u32, spans: SmallVec<[Span; 1]>) -> Arc<Chunk> {
        let id = CHUNKS.fetch_add(1, Ordering::Relaxed);
        Arc::new(Chunk { number, spans, id, covered: Default::default() })
    }

    fn covers(&self, other: &Chunk) -> bool {
        if self.id == other.id || self.covered.iter().any(|id| id.load(Ordering::Relaxed) == other.id) {
            return true;
        }
        let yes = covers(&self.spans, &other.spans);
        if yes && other.spans.len() > 4 {
            self.covered[other.id as usize % 4].store(other.id, Ordering::Relaxed);
        }
        yes
    }
}

/// For every agent the time up to which something is known about it; 0 where nothing is.
///
/// Agents that share a workgroup have consecutive numbers and, after a barrier, equal times, so a clock is
/// a sorted list of spans of agents. Copies share it, and clocks that grow from each other share the chunks
/// in which they are alike: what a long chain of synchronisation passes on costs what is new.
#[derive(Clone, Debug, Default)]
pub struct VectorClock(Option<Arc<[Arc<Chunk>]>>);

impl PartialEq for VectorClock {
    fn eq(&self, other: &VectorClock) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                Arc::ptr_eq(a, b)
                    || (a.len() == b.len()
                        && a.iter()
                            .zip(&b[..])
                            .all(|(a, b)| a.id == b.id || (a.number == b.number && a.spans == b.spans)))
            }
            _ => false,
        }
    }
}

impl VectorClock {
    /// Whether nothing is known.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Up to when `agent` is known.
    #[inline]
    pub fn get(&self, agent: AgentId) -> Time {
        let Some(chunks) = &self.0 else { return 0 };
        let number = agent / CHUNK;
        let chunk = match &chunks[..] {
            [only] => only,
            chunks => match chunks.binary_search_by_key(&number, |chunk| chunk.number) {
                Ok(index) => &chunks[index],
                Err(_) => return 0,
            },
        };
        let spans = &chunk.spans;
        if let [only] = spans[..] {
            return if only.first <= agent && agent < only.end { only.time } else { 0 };
        }
        let after = spans.partition_point(|span| span.first <= agent);
        match spans[..after].last() {
            Some(span) if agent < span.end => span.time,
            _ => 0,
        }
    }

    /// Takes in what `other` knows.
    pub fn join(&mut self, other: &VectorClock) {
        let Some(theirs) = &other.0 else { return };
        let Some(ours) = &self.0 else {
            self.0 = Some(theirs.clone());
            return;
        };
        if !Arc::ptr_eq(ours, theirs) && !all_covered(ours, theirs) {
            let merged = merge_chunks(ours, theirs);
            let same =
                merged.len() == theirs.len() && merged.iter().zip(&theirs[..]).all(|(a, b)| a.id == b.id);
            self.0 = Some(if same { theirs.clone() } else { merged.into() });
        }
    }

    /// Takes in that all of `agents` are known up to `time`.
    pub fn join_range(&mut self, agents: Range<AgentId>, time: Time) {
        if time == 0 || agents.is_empty() {
            return;
        }
        let chunks: SmallVec<[Arc<Chunk>; 1]> = (agents.start / CHUNK..=(agents.end - 1) / CHUNK)
            .map(|number| {
                let first = agents.start.max(number * CHUNK);
                let end = agents.end.min(number.saturating_add(1).saturating_mul(CHUNK));
                Chunk::new(number, SmallVec::from_buf([Span { first, end, time }]))
            })
            .collect();
        match &self.0 {
            None => self.0 = Some(chunks[..].into()),
            Some(ours) if all_covered(ours, &chunks) => {}
            Some(ours) => self.0 = Some(merge_chunks(ours, &chunks).into()),
        }
    }

    /// What is known about `agents` only.
    #[must_use]
    pub fn within(&self, agents: &Range<AgentId>) -> VectorClock {
        let Some(chunks) = &self.0 else { return VectorClock(None) };
        let inside = |chunk: &Arc<Chunk>| {
            chunk.spans.first().is_none_or(|span| agents.start <= span.first)
                && chunk.spans.last().is_none_or(|span| span.end <= agents.end)
        };
        if chunks.first().is_none_or(inside) && chunks.last().is_none_or(inside) {
            return self.clone();
        }
        let from = chunks.partition_point(|chunk| chunk.number < agents.start / CHUNK);
        let kept: Vec<Arc<Chunk>> = chunks[from..]
            .iter()
            .take_while(|chunk| chunk.number.saturating_mul(CHUNK) < agents.end)
            .filter_map(|chunk| {
                if inside(chunk) {
                    return Some(chunk.clone());
                }
                let spans = cut(&chunk.spans, agents);
                (!spans.is_empty()).then(|| Chunk::new(chunk.number, spans))
            })
            .collect();
        VectorClock(if kept.is_empty() { None } else { Some(kept.into()) })
    }

    /// Whether everything that `other` knows is known here.
    pub fn includes(&self, other: &VectorClock) -> bool {
        match (&self.0, &other.0) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs) || all_covered(ours, theirs),
        }
    }
}

fn cut(spans: &[Span], agents: &Range<AgentId>) -> SmallVec<[Span; 1]> {
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

/// How many chunks both share at their beginnings.
fn shared(ours: &[Arc<Chunk>], theirs: &[Arc<Chunk>]) -> usize {
    ours.iter().zip(theirs).take_while(|(a, b)| Arc::ptr_eq(a, b)).count()
}

fn all_covered(ours: &[Arc<Chunk>], theirs: &[Arc<Chunk>]) -> bool {
    let same = shared(ours, theirs);
    let mut own = &ours[same..];
    // What is new is usually about the agents that came last.
    theirs[same..].iter().rev().all(|chunk| {
        while let [rest @ .., last] = own
            && last.number > chunk.number
        {
            own = rest;
        }
        own.last().is_some_and(|own| own.number == chunk.number && own.covers(chunk))
    })
}

fn merge_chunks(ours: &[Arc<Chunk>], theirs: &[Arc<Chunk>]) -> Vec<Arc<Chunk>> {
    let mut merged = Vec::with_capacity(ours.len().max(theirs.len()) + 1);
    let same = shared(ours, theirs);
    merged.extend_from_slice(&ours[..same]);
    let (mut i, mut j) = (same, same);
    while let (Some(a), Some(b)) = (ours.get(i), theirs.get(j)) {
        let chunk = match a.number.cmp(&b.number) {
            std::cmp::Ordering::Less => a.clone(),
            std::cmp::Ordering::Greater => b.clone(),
            _ if a.covers(b) => a.clone(),
            _ if b.covers(a) => b.clone(),
            _ => Chunk::new(a.number, merge(&a.spans, &b.spans)),
        };
        i += usize::from(a.number <= b.number);
        j += usize::from(b.number <= a.number);
        merged.push(chunk);
    }
    merged.extend_from_slice(&ours[i..]);
    merged.extend_from_slice(&theirs[j..]);
    merged
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

fn push(spans: &mut SmallVec<[Span; 1]>, first: AgentId, end: AgentId, time: Time) {
    if time == 0 || first >= end {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.end == first && last.time == time => last.end = end,
        _ => spans.push(Span { first, end, time }),
    }
}

fn merge(a: &[Span], b: &[Span]) -> SmallVec<[Span; 1]> {
    let same = common(a, b);
    let mut merged: SmallVec<[Span; 1]> = SmallVec::with_capacity(a.len().max(b.len()) + 4);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn spans_behave_like_a_table_of_maxima() {
        for base in [0, CHUNK - 20, CHUNK - 7] {
            compare_with_a_table(base);
        }
    }

    /// Of 40 agents from `base`.
    fn compare_with_a_table(base: AgentId) {
        let mut random = Random::new(7);
        for _ in 0..2000 {
            let mut table = [[0u32; 40]; 2];
            let mut clocks = [VectorClock::default(), VectorClock::default()];
            for _ in 0..6 {
                let which = random.below(2);
                let first = random.below(38);
                let end = first + 1 + random.below(39 - first);
                let time = random.below(4);
                clocks[which].join_range(base + first..base + end, time);
                for slot in &mut table[which][first as usize..end as usize] {
                    *slot = time.max(*slot);
                }
            }
            let [a, b] = &clocks;
            let includes = (0..40).all(|i| table[0][i] >= table[1][i]);
            assert_eq!(a.includes(b), includes);
            let mut joined = a.clone();
            joined.join(b);
            let cut = joined.within(&(base + 5..base + 20));
            for i in 0..40 {
                assert_eq!(a.get(base + i as u32), table[0][i]);
                let both = table[0][i].max(table[1][i]);
                assert_eq!(joined.get(base + i as u32), both);
                assert_eq!(cut.get(base + i as u32), if (5..20).contains(&i) { both } else { 0 });
            }
        }
    }

    #[test]
    fn neighbours_with_equal_times_are_one_span() {
        let mut clock = VectorClock::default();
        for agent in 0..64 {
            clock.join_range(agent..agent + 1, 3);
        }
        let chunks = clock.0.as_ref().unwrap();
        assert_eq!((chunks.len(), chunks[0].spans.len()), (1, 1));
    }
}
