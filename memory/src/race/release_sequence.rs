//! The releases that an atomic write passes on, and what an acquire that reads it takes in.
//!
//! A release sequence may be as long as the dispatch has workgroups (a counter that all of them increment).
//! What it says to an agent is the join of its releases. Nearly all of that is the same for everyone, and is
//! gathered once, each time from what was gathered for the predecessor. Only releases by the agent's own
//! workgroup say more to it (availability in the workgroup's or the subgroup's instance), and these are
//! looked for no further back than where the workgroup made its first one, nor behind what the agent itself
//! has taken in before ([`TakenIn`]). Beyond the first one of any running workgroup the list is replaced by
//! what was gathered from it.

use super::agents::{Agents, Operation};
#[cfg(debug_assertions)]
use super::clocks::Keyed;
use super::clocks::{AgentRanges, Clocks, Release, intersect};
use super::topology::{AgentId, Level, Topology};
use crate::scope::StorageClasses;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Links behind the newest one that keep what was gathered for them.
const GATHERED: usize = 32;

/// Every so many links it is tried to shorten a list.
const SHORTEN: u32 = 128;

/// The releases that head the release sequences of one atomic write, newest first: a list that shares its
/// tail with its predecessor's.
#[derive(Clone, Debug, Default)]
pub struct ReleaseSequence(pub(super) Option<Arc<SequenceLink>>);

/// Numbers chains; only equality of numbers is ever used.
static CHAINS: AtomicU64 = AtomicU64::new(0);

/// One link of [`ReleaseSequence`].
#[derive(Debug)]
pub(super) struct SequenceLink {
    pub release: Release,
    pub rest: ReleaseSequence,
    /// When it was published, among all releases of the dispatch.
    pub sequence: u64,
    /// All releases of the list have one level, of the queue family or wider, and one set of classes.
    pub uniform: bool,
    /// The widest level and all classes of the releases of the list.
    widest: Level,
    classes: StorageClasses,
    /// Who made the release had taken in the rest of the list.
    pub caught_up: bool,
    /// Links in the list.
    pub links: u32,
    /// What the list says to an agent of a workgroup that made none of its releases, once somebody has asked
    /// for it.
    pub gathered: Mutex<Option<Arc<Clocks>>>,
    /// Links of one chain are numbered; a link that is not the first to follow its predecessor starts another
    /// chain.
    pub chain: u64,
    pub length: u32,
    followed: AtomicBool,
}

impl ReleaseSequence {
    /// Whether no release precedes.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn push(&mut self, release: Release, sequence: u64, caught_up: bool) {
        let rest = ReleaseSequence(self.0.take());
        let (chain, length) = match &rest.0 {
            Some(node) if !node.followed.swap(true, Ordering::Relaxed) => (node.chain, node.length + 1),
            _ => (CHAINS.fetch_add(1, Ordering::Relaxed), 1),
        };
        let uniform = release.level >= 2
            && rest.0.as_ref().is_none_or(|node| {
                node.uniform && node.release.level == release.level && node.release.classes == release.classes
            });
        let links = 1 + rest.0.as_ref().map_or(0, |node| node.links);
        let widest = rest.0.as_ref().map_or(release.level, |node| node.widest.max(release.level));
        let classes = rest.0.as_ref().map_or(release.classes, |node| node.classes | release.classes);
        if let Some(old) = rest.nodes().nth(GATHERED) {
            old.gathered.lock().take();
        }
        self.0 = Some(Arc::new(SequenceLink {
            release,
            rest,
            sequence,
            uniform,
            widest,
            classes,
            caught_up,
            links,
            gathered: Mutex::new(None),
            chain,
            length,
            followed: AtomicBool::new(false),
        }));
    }

    /// Whether nobody can take in more of the list than by an acquire of these semantics.
    pub(super) fn exhausted_by(&self, operation: &Operation) -> bool {
        self.0.as_ref().is_none_or(|node| {
            operation.level >= Some(node.widest) && operation.semantics.classes.contains(node.classes)
        })
    }

    /// The links, newest first.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &SequenceLink> {
        std::iter::successors(self.0.as_deref(), |node| node.rest.0.as_deref())
    }

    /// The same list with all that was published before `sequence` replaced by one release that says as much
    /// to everyone to whom only that matters: the clocks `gathered` of the first link that is replaced.
    /// Nothing is replaced if that is not worth while.
    pub(super) fn shortened(
        &self,
        sequence: u64,
        gather: impl FnOnce(&ReleaseSequence) -> Arc<Clocks>,
    ) -> Option<ReleaseSequence> {
        let mut kept: Vec<&SequenceLink> = Vec::new();
        let mut rest = self;
        while let Some(node) = rest.0.as_deref().filter(|node| node.sequence >= sequence) {
            kept.push(node);
            rest = &node.rest;
        }
        let old = rest.0.as_deref()?;
        if old.links < 2 || (old.links as usize) < kept.len() {
            return None;
        }
        let mut list = ReleaseSequence(Some(Arc::new(SequenceLink {
            release: Release {
                agents: AgentRanges::from_slice(&[(0, AgentId::MAX)]),
                time: 0,
                clocks: gather(rest),
                ..old.release.clone()
            },
            rest: ReleaseSequence::default(),
            links: 1,
            caught_up: false,
            gathered: Mutex::new(None),
            followed: AtomicBool::new(true),
            ..*old
        })));
        for (index, node) in kept.iter().enumerate().rev() {
            let links = 1 + list.0.as_ref().map_or(0, |node| node.links);
            list = ReleaseSequence(Some(Arc::new(SequenceLink {
                release: node.release.clone(),
                rest: list,
                links,
                gathered: Mutex::new(node.gathered.lock().clone()),
                followed: AtomicBool::new(index != 0 || node.followed.load(Ordering::Relaxed)),
                ..**node
            })));
        }
        Some(list)
    }

    /// Whether `other` is known to be a tail of this list.
    pub(super) fn ends_with(&self, other: &ReleaseSequence) -> bool {
        match (&self.0, &other.0) {
            (_, None) => true,
            (Some(ours), Some(theirs)) => ours.chain == theirs.chain && ours.length >= theirs.length,
            (None, Some(_)) => false,
        }
    }
}

impl Drop for SequenceLink {
    // A release sequence may have millions of links: free them without recursion.
    fn drop(&mut self) {
        let mut next = self.rest.0.take();
        while let Some(node) = next {
            match Arc::try_unwrap(node) {
                Ok(mut node) => next = node.rest.0.take(),
                Err(_) => break,
            }
        }
    }
}

/// How an agent acquired: the classes and the level of the operation.
type By = (AgentId, StorageClasses, Option<Level>);

/// Which lists the agents of the running workgroups have taken in, by workgroup: the last few of each agent,
/// by their chains and lengths. What an agent knows never shrinks, so they need not be taken in again.
#[derive(Clone, Debug, Default)]
pub(super) struct TakenIn(FxHashMap<u32, FxHashMap<By, Lists>>);

/// Chains, and how much of each.
type Lists = SmallVec<[(u64, u32); 1]>;

/// Lists of one agent that are remembered.
const TAKEN_IN: usize = 8;

impl TakenIn {
    /// Notes that an agent of a workgroup has taken in a list by an acquire of these semantics.
    pub fn note(
        &mut self,
        block: u32,
        agent: AgentId,
        release_sequence: &ReleaseSequence,
        operation: &Operation,
    ) {
        let Some(newest) = release_sequence.0.as_deref() else { return };
        let by = (agent, operation.semantics.classes, operation.level);
        let lists = self.0.entry(block).or_default().entry(by).or_default();
        match lists.iter_mut().find(|(chain, _)| *chain == newest.chain) {
            Some((_, length)) => *length = newest.length.max(*length),
            None => {
                if lists.len() == TAKEN_IN {
                    lists.remove(0);
                }
                lists.push((newest.chain, newest.length));
            }
        }
    }

    /// Whether an agent has taken in the list that begins with this link.
    fn knows(&self, block: u32, by: &By, node: &SequenceLink) -> bool {
        let lists = self.0.get(&block).and_then(|agents| agents.get(by));
        lists.is_some_and(|lists| lists.iter().any(|(c, length)| *c == node.chain && *length >= node.length))
    }

    /// The agents of a workgroup have ended.
    pub fn close(&mut self, block: u32) {
        self.0.remove(&block);
    }

    /// There is more to take in from everything.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl Agents {
    /// Whether `agent` has taken in the list that begins with this link by an acquire of these semantics.
    pub(super) fn has_taken_in(&self, agent: AgentId, node: &SequenceLink, operation: &Operation) -> bool {
        let by = (agent, operation.semantics.classes, operation.level);
        self.taken_in.knows(self.blocks.block(agent), &by, node)
    }

    /// `agent` takes in the releases of a list by an acquire of these semantics.
    pub(super) fn join_release_sequence(
        &self,
        agent: AgentId,
        clocks: &mut Clocks,
        release_sequence: &ReleaseSequence,
        operation: &Operation,
    ) {
        let Some(newest) = release_sequence.0.as_deref() else { return };
        let dispatch = matches!(self.topology(), Topology::Dispatch { .. });
        if !(dispatch && newest.uniform && newest.links > 1 && operation.level >= Some(2)) {
            let news = release_sequence.nodes().take_while(|node| !self.has_taken_in(agent, node, operation));
            return news.for_each(|node| self.join(agent, clocks, &node.release, operation));
        }
        #[cfg(debug_assertions)]
        let by_walking = {
            let mut clocks = clocks.clone();
            release_sequence.nodes().for_each(|node| self.join(agent, &mut clocks, &node.release, operation));
            clocks
        };
        self.join_gathered(agent, clocks, release_sequence, &newest.release, operation);
        #[cfg(debug_assertions)]
        assert!(
            agree(clocks, &by_walking),
            "what was gathered is what the list says: {clocks:?}\n{by_walking:?}"
        );
    }

    fn join_gathered(
        &self,
        agent: AgentId,
        clocks: &mut Clocks,
        release_sequence: &ReleaseSequence,
        newest: &Release,
        operation: &Operation,
    ) {
        let gathered = Release {
            agents: AgentRanges::from_slice(&[(0, AgentId::MAX)]),
            time: 0,
            clocks: self.gathered(release_sequence),
            ..newest.clone()
        };
        self.join(agent, clocks, &gathered, operation);
        let Some(since) = self.published_since(agent) else { return };
        let (workgroup, subgroup) = (self.topology().range(agent, 1), self.topology().range(agent, 0));
        for node in release_sequence.nodes().take_while(|node| node.sequence >= since) {
            if self.has_taken_in(agent, node, operation) {
                break;
            }
            if intersect(&node.release.agents, &workgroup).is_empty() {
                continue;
            }
            self.join(agent, clocks, &node.release, operation);
            // Whoever shares the subgroup has taken in all that the agent could take in from the rest.
            if node.caught_up && !intersect(&node.release.agents, &subgroup).is_empty() {
                break;
            }
        }
    }

    /// The join of the releases of a uniform list, for agents of other workgroups.
    fn gathered(&self, release_sequence: &ReleaseSequence) -> Arc<Clocks> {
        let mut nodes: Vec<&SequenceLink> = Vec::new();
        let mut clocks = Clocks::default();
        for node in release_sequence.nodes() {
            if let Some(known) = &*node.gathered.lock() {
                if nodes.is_empty() {
                    return known.clone();
                }
                clocks = (**known).clone();
                break;
            }
            nodes.push(node);
        }
        for node in nodes.iter().rev() {
            self.gather(&mut clocks, &node.release);
        }
        let clocks = Arc::new(clocks);
        if let Some(newest) = nodes.first() {
            *newest.gathered.lock() = Some(clocks.clone());
        }
        clocks
    }

    /// Replaces what of a list no running workgroup has to look at.
    pub(super) fn shorten(&self, release_sequence: &mut ReleaseSequence) {
        let dispatch = matches!(self.topology(), Topology::Dispatch { .. });
        if let Some(newest) = release_sequence.0.as_deref()
            && dispatch
            && newest.uniform
            && newest.links.is_multiple_of(SHORTEN)
            && let Some(shorter) =
                release_sequence.shortened(self.oldest_published(), |rest| self.gathered(rest))
        {
            *release_sequence = shorter;
        }
    }
}

/// Whether what was gathered says what the list says. (The list may say more of writes with an own
/// availability that none had when the release was made: that is empty.)
#[cfg(debug_assertions)]
fn agree(gathered: &Clocks, by_walking: &Clocks) -> bool {
    gathered.masks.len() == by_walking.masks.len()
        && gathered.masks.iter().zip(&by_walking.masks).all(|(ours, theirs)| {
            let within = |ours: &Keyed, theirs: &Keyed| {
                ours.iter().all(|(key, clock)| theirs.get(key).is_some_and(|known| known.includes(clock)))
            };
            ours.before == theirs.before
                && within(&ours.available, &theirs.available)
                && within(&ours.imported, &theirs.imported)
        })
}
