//! Findings of one dispatch: each static pair once, with what is missing.

use super::Robustness;
use super::conflicts::{Where, Who};
use super::rehearsal::FollowedLoads;
use super::shown::Shown;
use crate::access::{AtomicOp, Reference, Site};
use crate::agent::Numbering;
use crate::around::Around;
use crate::finding::{AccessInfo, AccessKind, Edit, Fact, Finding, FindingId, Place};
use crate::history::Loaded;
use crate::machine::Cached;
use crate::model::{Event, ModelOptions};
use crate::outline::Outline;
use crate::race::{AgentId, Case, Clocks, Explanation, Later, Order, Pair, StaticAccess, Trace, Within};
use crate::scope::{Scope, StorageClasses};
use crate::system::Notice;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a judgement of the axioms needs.
pub(super) struct AxiomContext<'a> {
    pub trace: &'a Trace,
    pub kinds: &'a [StaticAccess],
    pub order: Order<'a>,
    /// Of the later access's agent.
    pub clocks: &'a Clocks,
    pub options: ModelOptions,
}

/// How often the fix of a finding is tried on one more occurrence: after 1, 2, 4 and so on.
const MOST_LOOKS: u32 = 11;
/// Occurrences from which on nothing more is looked at in those of one invocation.
const ENOUGH: u64 = 1 << MOST_LOOKS;

/// What an access outside of its object is.
fn outside(defined: bool) -> FindingId {
    if defined { FindingId::OutOfBoundsRobust } else { FindingId::OutOfBounds }
}

/// What an access does that reads, writes or both.
fn access_kind((reads, writes): (bool, bool), operation: Option<AtomicOp>) -> AccessKind {
    match (reads, writes) {
        (true, true) => AccessKind::ReadModifyWrite(operation.unwrap_or(AtomicOp::Exchange)),
        (false, true) => AccessKind::Write,
        _ => AccessKind::Read,
    }
}

/// Collects findings.
#[derive(Clone, Default)]
pub(super) struct Report {
    pub numbering: Numbering,
    findings: Vec<Finding>,
    /// Which of them were handed out.
    handed: Vec<bool>,
    /// By the static pair (sites and references of both accesses), and by site for findings with one access.
    known: FxHashMap<(FindingId, u32, u32), usize>,
    /// Of one invocation and of two apart.
    races: FxHashMap<(u32, u32, Within), usize>,
    sites: FxHashMap<(Site, Site, Within), usize>,
    /// By finding: the accesses of some occurrence are not two writes of one value.
    differs: Vec<bool>,
    /// By finding: how often its fix was tried on one more occurrence.
    looks: Vec<u32>,
    /// The findings whose accesses were told last by reads, in that order; whoever tells more of a read takes
    /// those that it added.
    pub of_read: Vec<usize>,
    most: usize,
    /// Explanations of earlier executions of an exploration, and of this one.
    explained: FxHashMap<(Site, Site, Within), Explanation>,
    fresh: Vec<((Site, Site, Within), Explanation)>,
    /// What accesses outside of their object are defined.
    pub robust: Robustness,
    /// Where what resources share is in them.
    pub shown: Shown,
    /// What each read-modify-write instruction does.
    pub operations: BTreeMap<Site, AtomicOp>,
    /// The shader's text.
    pub outline: Option<Arc<dyn Outline>>,
    /// In a rehearsal: the loads that are followed.
    pub followed: Option<Box<FollowedLoads>>,
}

impl Report {
    /// Keeps at most `most` different findings.
    pub fn new(most: usize) -> Report {
        Report { most, ..Report::default() }
    }

    /// The findings so far.
    pub fn found(&self) -> &[Finding] {
        &self.findings
    }

    /// Forgets everything.
    pub fn take(&mut self) -> Vec<Finding> {
        self.shown = Shown::default();
        self.known.clear();
        self.races.clear();
        self.sites.clear();
        self.tell_same_values();
        self.differs.clear();
        self.looks.clear();
        self.of_read.clear();
        let handed = std::mem::take(&mut self.handed);
        let findings = std::mem::take(&mut self.findings).into_iter().enumerate();
        findings
            .filter(|(k, finding)| handed.get(*k) != Some(&true) || finding.count > 0)
            .map(|(_, finding)| finding)
            .collect()
    }

    /// The findings since the last call, but for those of which only the end shows whether all occurrences
    /// were writes of the value that was there, or whether what was read is used. Their occurrences are
    /// counted from nothing again.
    pub fn new_findings(&mut self) -> Vec<Finding> {
        self.handed.resize(self.findings.len(), false);
        let mut fresh = Vec::new();
        for (index, (finding, handed)) in self.findings.iter_mut().zip(&mut self.handed).enumerate() {
            let is_open = finding.accesses.is_empty()
                || finding.is_uninitialised_load()
                || self.differs.get(index) == Some(&false);
            if !*handed && !is_open {
                *handed = true;
                fresh.push(finding.clone());
                finding.count = 0;
            }
        }
        fresh
    }

    /// Says of which findings all occurrences were writes of the value that was there: one writer is enough.
    /// Where a read races with such a write, the value may come from there: an update that was lost.
    fn tell_same_values(&mut self) {
        let sites = |finding: &Finding| finding.accesses.iter().map(|access| access.site).collect::<Vec<_>>();
        let reads =
            |finding: &Finding| finding.accesses.iter().any(|access| access.kind != AccessKind::Write);
        let read: Vec<Site> = self.findings.iter().filter(|finding| reads(finding)).flat_map(sites).collect();
        for (finding, _) in self.findings.iter_mut().zip(&self.differs).filter(|(_, differs)| !**differs) {
            if let [first, second] = sites(finding)[..]
                && !read.contains(&first)
                && !read.contains(&second)
            {
                finding.facts.push(Fact::SameValue);
                if first == second {
                    finding.fix = vec![Edit::OneWriter(first)];
                }
            }
        }
    }

    /// Keeps (or forgets) the explanations of the present execution for the next ones.
    pub fn keep_explanations(&mut self, keep: bool) {
        let fresh = std::mem::take(&mut self.fresh);
        if keep {
            self.explained.extend(fresh);
        }
    }

    fn add(&mut self, key: (FindingId, u32, u32), finding: impl FnOnce() -> Finding) -> Option<usize> {
        if let Some(index) = self.known.get(&key) {
            self.findings[*index].count += 1;
            return Some(*index);
        }
        if self.findings.len() >= self.most {
            return None;
        }
        let index = self.findings.len();
        self.findings.push(finding());
        self.known.insert(key, index);
        Some(index)
    }

    fn access(&self, agent: AgentId, kind: &StaticAccess, place: &Where) -> AccessInfo {
        let (address, offset) =
            self.shown.place(kind, place.address).unwrap_or((place.address, place.offset));
        AccessInfo {
            kind: access_kind((kind.read, kind.write), self.operations.get(&kind.site).copied()),
            atomic: kind.level.filter(|_| kind.atomic).map(|level| Scope::of_level(Some(level))),
            place: Place {
                class: kind.class,
                reference: Reference(kind.variable),
                address,
                offset,
                size: place.size,
            },
            ..AccessInfo::standing(kind.site, self.numbering.invocation(agent))
        }
    }

    fn single(&mut self, id: FindingId, access: AccessInfo, facts: Vec<Fact>) {
        let key = (id, access.site.0, access.place.reference.0);
        self.add(key, || Finding::once(id, vec![access], facts));
    }

    /// A read of bytes that nothing wrote.
    #[cold]
    pub fn undefined(&mut self, who: Who, kind: &StaticAccess, place: &Where) {
        if self.follows(kind.site, who.agent, place.component) {
            return;
        }
        let access = self.access(who.agent, kind, place);
        self.single(FindingId::UninitialisedRead, access, Vec::new());
    }

    /// An access outside its view of `bytes` bytes.
    #[cold]
    pub fn out_of_bounds(&mut self, who: Who, kind: &StaticAccess, place: &Where, bytes: u64) {
        if self.reads_zero(Reference(kind.reference)) {
            return;
        }
        let access = self.access(who.agent, kind, place);
        let descriptor =
            kind.class == StorageClasses::UNIFORM && access.place.reference != Reference::PHYSICAL;
        let id = outside(descriptor && self.robust.buffers);
        self.single(id, access, vec![Fact::Bounds(kind.class, bytes)]);
    }

    /// Whether accesses through this reference are through null descriptors: they read zero, write nothing.
    fn reads_zero(&self, reference: Reference) -> bool {
        self.robust.null_descriptors && reference == Reference::NULL_DESCRIPTOR
    }

    /// What the interpreter found about lane `lane`, which is `agent`.
    #[cold]
    pub fn notice(&mut self, at: Site, agent: AgentId, lane: usize, notice: &Notice<'_>) {
        let class = StorageClasses::empty();
        let standing = AccessInfo::standing(at, self.numbering.invocation(agent));
        let access = |kind: AccessKind, offset: u32, bytes: u8| {
            let (offset, size) = (u64::from(offset), u32::from(bytes));
            let place = Place { offset, size, ..standing.place };
            AccessInfo { kind, place, ..standing.clone() }
        };
        match *notice {
            Notice::OutsideImage { view, .. } if self.reads_zero(view.reference) => {}
            Notice::OutsideImage { view, texels, bytes, kind, atomic } => {
                let mut access =
                    AccessInfo { atomic, texel: Some(texels.of(lane)), ..access(kind, 0, bytes) };
                (access.place.class, access.place.reference) = (StorageClasses::IMAGE, view.reference);
                access.place.address = view.address;
                let nothing = (view.size() == 0).then_some(Fact::Bounds(StorageClasses::IMAGE, 0));
                // A write is discarded, whatever is enabled.
                let robust = if texels.buffer { self.robust.buffers } else { self.robust.images };
                let id = outside(nothing.is_none() && (robust || kind == AccessKind::Write));
                self.single(id, access, nothing.into_iter().collect());
            }
            Notice::Noted(id) => self.single(id, access(AccessKind::Read, 0, 0), Vec::new()),
            Notice::Undefined { variable, offset, bytes } => {
                let mut access = access(AccessKind::Read, offset.0[lane], bytes);
                access.place.reference = Reference(variable);
                self.single(FindingId::UninitialisedRead, access, Vec::new());
            }
            Notice::OutOfBounds { offset, bytes, size, write } => {
                let kind = if write { AccessKind::Write } else { AccessKind::Read };
                let access = access(kind, offset.0[lane], bytes);
                self.single(FindingId::OutOfBounds, access, vec![Fact::Bounds(class, u64::from(size))]);
            }
        }
    }

    /// Judges a pair that the detector calls unordered: whether it is a race. Unless `exploring`, a static
    /// pair that is known to race is not judged again.
    #[cold]
    pub fn confirm(&mut self, axioms: &AxiomContext<'_>, pair: &Pair<'_>, exploring: bool) -> bool {
        let within = self.within(pair);
        let key = (pair.earlier.kind, pair.later.kind, within);
        let known = self.races.get(&key).copied();
        let again = known.filter(|index| self.looks_again(*index));
        if known.is_some() && !exploring && again.is_none() {
            return true;
        }
        let topology = axioms.order.agents.topology();
        let outline = self.outline.as_deref().map(|outline| outline as &dyn Outline);
        let slice = axioms.trace.slice(topology, axioms.kinds, pair, outline);
        let later = Later { agent: pair.later.agent, clocks: axioms.clocks, kind: pair.later_kind };
        let case = Case {
            slice: &slice,
            options: axioms.options,
            first: (pair.earlier_kind, pair.earlier.agent),
            second: (pair.later_kind, pair.later.agent),
            topology,
            outline,
            known: axioms.order.known(&pair.earlier, pair.earlier_kind, &later),
        };
        if case.ordered() {
            return false;
        }
        if let Some(index) = again
            && slice.complete
            && !case.fixed_by(&self.findings[index].fix)
        {
            let Explanation { id, facts, missing, fix } = case.explain();
            let around = self.around(&case);
            let finding = &mut self.findings[index];
            if finding.id == id {
                // The accesses are those of this occurrence, which follows.
                (finding.facts, finding.missing, finding.fix) = (facts, missing, fix);
                finding.accesses.clear();
                finding.around = around;
            }
        }
        if known.is_some() {
            return true;
        }
        let (first, second) = (pair.earlier_kind, pair.later_kind);
        // One explanation for all references of one pair of instructions.
        let sites = (first.site, second.site, within);
        let known = self.sites.get(&sites).copied();
        let index = match known {
            Some(index) => index,
            None if self.findings.len() >= self.most => usize::MAX,
            None => {
                let explanation = match self.explained.get(&sites) {
                    Some(explanation) => explanation.clone(),
                    None => case.explain(),
                };
                if exploring && !self.explained.contains_key(&sites) {
                    self.fresh.push((sites, explanation.clone()));
                }
                let Explanation { id, facts, missing, fix } = explanation;
                let (accesses, around) = (Vec::new(), self.around(&case));
                self.findings.push(Finding { id, accesses, facts, missing, fix, count: 0, around });
                self.sites.insert(sites, self.findings.len() - 1);
                self.findings.len() - 1
            }
        };
        self.races.insert(key, index);
        true
    }

    fn within(&self, pair: &Pair<'_>) -> Within {
        let (first, second) = (pair.earlier.agent, pair.later.agent);
        let of = |agent| {
            let by = self.numbering.invocation(agent);
            (by.workgroup, by.subgroup)
        };
        Within::of((pair.earlier_kind, first), (pair.later_kind, second), || of(first) == of(second))
    }

    /// The execution around a race.
    fn around(&self, case: &Case<'_>) -> Option<Box<Around>> {
        let kind = |event: &Event, id: u32| {
            let site = case.slice.sites[id as usize];
            access_kind((event.read, event.write), self.operations.get(&site).copied())
        };
        case.around(|agent| self.numbering.invocation(agent), kind).map(Box::new)
    }

    /// Whether the fix of a finding is tried on one more occurrence: what orders invocations of one subgroup
    /// may not order others.
    fn looks_again(&mut self, index: usize) -> bool {
        let Some(finding) = self.findings.get(index) else { return false };
        if self.looks.len() <= index {
            self.looks.resize(index + 1, 0);
        }
        let looks = &mut self.looks[index];
        // Occurrences that are counted without being judged may have passed a power of two by.
        let due = self.handed.get(index) != Some(&true)
            && !finding.fix.is_empty()
            && *looks < MOST_LOOKS
            && finding.count >= 1 << *looks;
        *looks += u32::from(due);
        due
    }

    /// Races of one invocation by accesses of these kinds occurred so often.
    pub fn occurred(&mut self, (earlier, later): (u32, u32), times: u64) {
        let index = self.races.get(&(earlier, later, Within::Invocation));
        if let Some(finding) = index.and_then(|index| self.findings.get_mut(*index)) {
            finding.count += times;
        }
    }

    /// Whether further occurrences of this race of one invocation, of which the later access only writes, say
    /// nothing more.
    pub fn is_told(&self, pair: &Pair<'_>) -> bool {
        let own = pair.earlier.agent == pair.later.agent && !pair.later_kind.read && !pair.later_kind.atomic;
        let index = own.then(|| self.races.get(&(pair.earlier.kind, pair.later.kind, Within::Invocation)));
        let finding = index.flatten().and_then(|index| self.findings.get(*index));
        finding.is_some_and(|finding| finding.count >= ENOUGH)
    }

    /// A race that is confirmed. `same`: the later access stores the values that are there.
    #[cold]
    pub fn race(&mut self, pair: &Pair<'_>, seen: Option<&Loaded>, newest: u32, place: &Where, same: bool) {
        let within = self.within(pair);
        let Some(index) = self.races.get(&(pair.earlier.kind, pair.later.kind, within)).copied() else {
            return;
        };
        if self.differs.len() <= index {
            self.differs.resize(index + 1, true);
        }
        let Some(finding) = self.findings.get_mut(index) else { return };
        finding.count += 1;
        let first = finding.accesses.is_empty();
        let same = same && within == Within::Dispatch && !pair.earlier_kind.read && pair.earlier_kind.write;
        self.differs[index] = !same || !first && self.differs[index];
        if !first {
            return;
        }
        let earlier = self.access(pair.earlier.agent, pair.earlier_kind, place);
        let mut later = self.access(pair.later.agent, pair.later_kind, place);
        if let Some(loaded) = seen {
            let bits = |word: u32| component_bits(word, place);
            later.returned = Some(bits(loaded.value));
            later.newest = Some(bits(newest));
            later.admissible = loaded.admissible.iter().copied().map(bits).collect();
            later.admissible.sort_unstable();
            later.half = (place.size == 8).then_some(u8::from(place.word != place.address));
        }
        self.findings[index].accesses = vec![earlier, later];
        self.of_read.push(index);
    }

    /// The reads of [`Report::of_read`] from this number on were of 8 bytes: what they got, and what is
    /// newest.
    #[cold]
    pub fn tell_both(&mut self, first: usize, value: u64, newest: u64) {
        for index in self.of_read.drain(first..) {
            let Some(later) = self.findings[index].accesses.last_mut() else { continue };
            let Some(half) = later.half.take() else { continue };
            let shift = 32 * u32::from(half & 1);
            let others = value & !(u64::from(u32::MAX) << shift);
            (later.returned, later.newest) = (Some(value), Some(newest));
            // Which values of the other four bytes go with these is not known; those that it got do, and what
            // is newest goes together.
            let part = |whole: u64| whole >> shift & u64::from(u32::MAX);
            for admissible in &mut later.admissible {
                let known = [value, newest].into_iter().find(|whole| part(*whole) == *admissible);
                *admissible = known.unwrap_or(*admissible << shift | others);
            }
            later.admissible.sort_unstable();
        }
    }

    /// What the caches held of these bytes when the read of [`Report::of_read`] was made.
    pub fn tell_caches(&mut self, cached: &Cached, bytes: u8, place: &Where) {
        let bits = |word: u32| component_bits(word, place) as u32;
        for index in std::mem::take(&mut self.of_read) {
            let mut cached = Cached { coherent: bits(cached.coherent), ..cached.clone() };
            cached.copies.retain(|copy| copy.held & bytes == bytes);
            for copy in &mut cached.copies {
                (copy.value, copy.dirty) = (bits(copy.value), copy.dirty & bytes);
            }
            if let Some(later) = self.findings[index].accesses.last_mut() {
                later.caches = Some(Box::new(cached));
            }
        }
    }
}

/// Of the word, the bytes of the component; of a component of 8 bytes one of its words.
fn component_bits(word: u32, place: &Where) -> u64 {
    match place.size {
        1 | 2 => (u64::from(word) >> (8 * (place.address & 3))) & ((1 << (8 * place.size)) - 1),
        _ => u64::from(word),
    }
}
