//! Findings of one dispatch: each static pair once, with what is missing.

use super::core::{Where, Who};
use crate::access::{AtomicOp, Reference, Site};
use crate::agent::Invocation;
use crate::finding::{AccessInfo, AccessKind, Fact, Finding, FindingId, Missing, Place};
use crate::race::{AgentId, Kind, Later, Nothing, Order, Record};
use crate::scope::Scope;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A conflicting pair that is not ordered.
pub(super) struct Sighting<'a> {
    pub earlier: Record,
    pub earlier_kind: Kind,
    pub returned: Option<u32>,
    pub newest: Option<u32>,
    pub admissible: &'a [u32],
}

/// Turns agent numbers into what the program can see.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbering {
    pub dispatch: u32,
    pub base: [u32; 3],
    pub groups: [u32; 3],
    pub workgroup: u32,
    pub subgroup: u32,
}

impl Numbering {
    pub fn invocation(&self, agent: AgentId) -> Invocation {
        let (group, local) = (agent / self.workgroup.max(1), agent % self.workgroup.max(1));
        let (x, y) = (self.groups[0].max(1), self.groups[1].max(1));
        Invocation {
            dispatch: self.dispatch,
            workgroup: [self.base[0] + group % x, self.base[1] + group / x % y, self.base[2] + group / x / y],
            subgroup: local / self.subgroup.max(1),
            local_index: local,
        }
    }
}

/// Collects findings.
#[derive(Default)]
pub(super) struct Report {
    pub numbering: Numbering,
    findings: Vec<Finding>,
    /// By the static pair (sites and references of both accesses), and by site for findings with one access.
    known: FxHashMap<(FindingId, u32, u32), usize>,
    races: FxHashMap<(u32, u32), usize>,
    most: usize,
    /// What each read-modify-write instruction does.
    pub operations: BTreeMap<Site, AtomicOp>,
}

pub(super) fn scope_of(level: u8) -> Scope {
    [Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device][level.min(3) as usize]
}

impl Report {
    /// Keeps at most `most` different findings.
    pub fn new(most: usize) -> Report {
        Report { most, ..Report::default() }
    }

    /// Forgets everything.
    pub fn take(&mut self) -> Vec<Finding> {
        self.known.clear();
        self.races.clear();
        std::mem::take(&mut self.findings)
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

    fn access(&self, agent: AgentId, kind: &Kind, place: &Where) -> AccessInfo {
        AccessInfo {
            site: kind.site,
            kind: match (kind.read, kind.write) {
                (true, true) => AccessKind::ReadModifyWrite(
                    self.operations.get(&kind.site).copied().unwrap_or(AtomicOp::Exchange),
                ),
                (false, true) => AccessKind::Write,
                _ => AccessKind::Read,
            },
            atomic: if kind.atomic { kind.level.map(scope_of) } else { None },
            by: self.numbering.invocation(agent),
            place: Place {
                class: kind.class,
                reference: Reference(kind.reference),
                address: place.address,
                offset: place.offset,
                size: place.size,
            },
            returned: None,
            newest: None,
            admissible: Vec::new(),
        }
    }

    fn single(&mut self, id: FindingId, who: Who, kind: &Kind, place: &Where) {
        let access = self.access(who.agent, kind, place);
        self.add((id, kind.site.0, kind.reference), || Finding {
            id,
            accesses: vec![access],
            facts: Vec::new(),
            missing: Vec::new(),
            fix: Vec::new(),
            count: 1,
        });
    }

    /// A read of bytes that nothing wrote.
    #[cold]
    pub fn undefined(&mut self, who: Who, kind: &Kind, place: &Where) {
        self.single(FindingId::UninitialisedRead, who, kind, place);
    }

    /// An access outside its view.
    #[cold]
    pub fn out_of_bounds(&mut self, who: Who, kind: &Kind, place: &Where) {
        self.single(FindingId::OutOfBounds, who, kind, place);
    }

    /// Whether a pair that the detector calls unordered is a race by the axioms.
    pub fn confirm(&mut self, _: &Order<'_>, _: &Record, _: &Kind, _: &Later<'_>) -> bool {
        true
    }

    /// A race.
    #[cold]
    pub fn race(&mut self, order: &Order<'_>, sighting: &Sighting<'_>, later: &Later<'_>, place: &Where) {
        let key = (sighting.earlier.kind, later.kind.site.0);
        if let Some(index) = self.races.get(&key) {
            if let Some(finding) = self.findings.get_mut(*index) {
                finding.count += 1;
            }
            return;
        }
        let (id, facts, missing) = diagnose(order, &sighting.earlier, &sighting.earlier_kind, later);
        let earlier = self.access(sighting.earlier.agent, &sighting.earlier_kind, place);
        let mut second = self.access(later.agent, later.kind, place);
        second.returned = sighting.returned.map(u64::from);
        second.newest = sighting.newest.map(u64::from);
        let mut admissible: Vec<u64> = sighting.admissible.iter().copied().map(u64::from).collect();
        admissible.sort_unstable();
        second.admissible = admissible;
        let pair = (id, sighting.earlier_kind.site.0, later.kind.site.0);
        let added = self.add(pair, || Finding {
            id,
            accesses: vec![earlier, second],
            facts,
            missing,
            fix: Vec::new(),
            count: 1,
        });
        if let Some(index) = added {
            self.races.insert(key, index);
        }
    }
}

/// The most specific clause that the pair misses, from what the detector knows.
fn diagnose(
    order: &Order<'_>,
    earlier: &Record,
    kind: &Kind,
    later: &Later<'_>,
) -> (FindingId, Vec<Fact>, Vec<Missing>) {
    let mut facts = Vec::new();
    let private: Vec<Missing> = [kind, later.kind]
        .iter()
        .filter(|kind| !kind.non_private)
        .map(|kind| Missing::NonPrivate(kind.site))
        .collect();
    if !private.is_empty() {
        return (FindingId::RacePrivate, facts, private);
    }
    if kind.write && kind.reference != later.kind.reference {
        return (FindingId::RaceReference, facts, vec![Missing::CommonReference]);
    }
    facts.push(Fact::SameReference);
    let before = order.before(earlier, kind, later);
    if kind.atomic && later.kind.atomic && !before {
        facts.push(Fact::BothAtomic);
        return (FindingId::RaceMixedScopeAtomics, facts, vec![Missing::MutualScope]);
    }
    let topology = order.agents.topology();
    let common = (0..4).find(|level| topology.same(earlier.agent, later.agent, *level)).unwrap_or(3);
    if before {
        if !order.available(earlier, kind, &Nothing, later) {
            return (FindingId::RaceNotAvailable, facts, vec![Missing::Availability(scope_of(common))]);
        }
        return (FindingId::RaceNotVisible, facts, vec![Missing::Visibility(scope_of(common))]);
    }
    (FindingId::RaceUnordered, facts, vec![Missing::HappensBefore])
}
