//! Why a pair races, and what would order it.
//!
//! The slice of the pair is judged by the axioms; then each clause of *Location-Ordered* is granted in turn
//! (non-private, one reference, availability, all storage classes, the widest scope), and the first one that
//! helps names what is missing.

use super::order::{Known, StaticAccess};
use super::slice::Slice;
use super::topology::{AgentId, Topology};
use crate::access::Site;
use crate::finding::{Edit, Fact, FindingId, Missing};
use crate::model::{Event, EventId, Execution, Judgement, ModelOptions, RelationName};
use crate::outline::Outline;
use crate::scope::{Scope, StorageClasses};
use std::collections::BTreeSet;

/// What is said about a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Which kind of race.
    pub id: FindingId,
    /// What was right.
    pub facts: Vec<Fact>,
    /// The elements of location order without which the pair is a race.
    pub missing: Vec<Missing>,
    /// The smallest fix found; empty if none was.
    pub fix: Vec<Edit>,
}

/// Who makes the two accesses of a race, as far as kinds of races depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Within {
    /// One invocation makes both.
    Invocation,
    /// Invocations of one subgroup, to which a load of a cooperative matrix and a later store were dealt.
    Subgroup,
    /// Any others of the dispatch.
    Dispatch,
}

impl Within {
    /// Of two accesses, and whether one subgroup makes both.
    pub fn of(
        (first, by): (&StaticAccess, AgentId),
        (second, later): (&StaticAccess, AgentId),
        one_subgroup: impl FnOnce() -> bool,
    ) -> Within {
        let in_place = first.dealt && second.dealt && !first.write && second.write;
        match by == later {
            true => Within::Invocation,
            false if in_place && one_subgroup() => Within::Subgroup,
            false => Within::Dispatch,
        }
    }
}

/// A pair on its slice.
pub struct Case<'a> {
    /// The part of the execution that could order them.
    pub slice: &'a Slice,
    /// The model's options.
    pub options: ModelOptions,
    /// The earlier access and its agent.
    pub first: (&'a StaticAccess, AgentId),
    /// The later access and its agent.
    pub second: (&'a StaticAccess, AgentId),
    /// Who shares which instance.
    pub topology: &'a Topology,
    /// The shader's text.
    pub outline: Option<&'a dyn Outline>,
    /// What the clocks know, which forget nothing that a slice has no room for.
    pub known: Known,
}

impl Case<'_> {
    /// Whether the axioms order the pair, or call it mutually ordered. A slice that cannot be judged says no.
    pub fn ordered(&self) -> bool {
        self.judge(&self.slice.execution)
            .is_some_and(|judged| !judged.race(self.slice.first, self.slice.second))
    }

    /// Finds what is missing and how to fix it.
    pub fn explain(&self) -> Explanation {
        let (first, second) = (self.first.0, self.second.0);
        let common = self.common_scope();
        let mut facts = Vec::new();
        if first.reference == second.reference {
            facts.push(Fact::SameReference);
        }
        if first.atomic && second.atomic {
            facts.push(Fact::BothAtomic);
        }
        let before = self.happens_before(&self.slice.execution, &mut facts);
        self.operations(&mut facts, common);
        let private: BTreeSet<Site> =
            [first, second].iter().filter(|kind| !kind.non_private).map(|kind| kind.site).collect();
        let (id, missing) = if !private.is_empty() {
            (FindingId::RacePrivate, private.into_iter().map(Missing::NonPrivate).collect())
        } else if first.write && first.reference != second.reference {
            (FindingId::RaceReference, vec![Missing::CommonReference])
        } else if before {
            self.availability(common)
        } else if self.known.before {
            self.known_availability(common)
        } else if first.atomic && second.atomic && first.size == second.size {
            (FindingId::RaceMixedScopeAtomics, vec![Missing::MutualScope])
        } else {
            self.synchronization(common)
        };
        let fix = self.fix(common);
        // Synchronisation that is too narrow and does not acquire or release either: what the fix adds is
        // what is missing.
        let adds = |wanted: fn(&Edit) -> bool| fix.iter().any(wanted);
        let other = match id {
            FindingId::RaceScope => !adds(|edit| matches!(edit, Edit::Widen(..))),
            FindingId::RaceStorageClass => !adds(|edit| matches!(edit, Edit::AddClasses(..))),
            _ => false,
        };
        let (id, missing) = if other
            && adds(|edit| matches!(edit, Edit::Acquire(_) | Edit::Release(_) | Edit::AcquireRelease(_)))
        {
            (FindingId::RaceUnordered, vec![Missing::HappensBefore])
        } else {
            (id, missing)
        };
        if id == FindingId::RaceUnordered
            && let Some((release, acquire)) = self.closest()
        {
            facts.push(Fact::ClosestPair(release, acquire));
        }
        let id = match self.within() {
            Within::Invocation => FindingId::RaceSameInvocation,
            Within::Subgroup => FindingId::RaceSameSubgroup,
            Within::Dispatch => id,
        };
        Explanation { id, facts, missing, fix }
    }

    fn within(&self) -> Within {
        let same = |level| self.topology.same(self.first.1, self.second.1, level);
        Within::of(self.first, self.second, || same(0))
    }

    pub(super) fn common_scope(&self) -> Scope {
        let common = (0..4).find(|level| self.topology.same(self.first.1, self.second.1, *level));
        Scope::of_level(common.or(Some(3)))
    }

    pub(super) fn judge(&self, execution: &Execution) -> Option<Judgement> {
        let mut execution = execution.clone();
        for (write, read) in self.slice.reads_from.iter().copied() {
            let overlap = match (
                &execution.events()[write as usize].locations,
                &execution.events()[read as usize].locations,
            ) {
                (Some(a), Some(b)) => a.overlaps(*b),
                _ => false,
            };
            if overlap && execution.events()[write as usize].write && execution.events()[read as usize].read {
                execution.reads_from(write, read);
            }
        }
        execution.judge(&self.options).ok()
    }

    pub(super) fn sites(&self) -> &[Site] {
        &self.slice.sites
    }

    fn happens_before(&self, execution: &Execution, facts: &mut Vec<Fact>) -> bool {
        let Some(judged) = self.judge(execution) else { return false };
        if !judged.happens_before(self.slice.first, self.slice.second) {
            return false;
        }
        let synchronizes = judged.relation(RelationName::SynchronizesWith);
        let (first, second) = (self.slice.first, self.slice.second);
        let mut sites = Vec::new();
        for (release, acquire) in synchronizes.pairs() {
            let from = release == first || judged.happens_before(first, release);
            let to = acquire == second || judged.happens_before(acquire, second);
            if from && to {
                for event in [release, acquire] {
                    let site = self.sites()[event as usize];
                    if !sites.contains(&site) {
                        sites.push(site);
                    }
                }
            }
            if sites.len() >= 6 {
                break;
            }
        }
        facts.push(Fact::HappensBefore(sites));
        true
    }

    /// Availability operations of the writer after the write, and visibility operations of the reader before
    /// the read.
    fn operations(&self, facts: &mut Vec<Fact>, common: Scope) {
        let ((first, writer), (second, reader)) = (self.first, self.second);
        let events = self.slice.execution.events();
        let mut tell = |fact: Fact| {
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        };
        for (event, site) in events.iter().zip(self.sites()) {
            if !event.semantics.classes.contains(first.class) || event.scope < common {
                continue;
            }
            if event.agent.thread == writer && event.semantics.make_available && first.write {
                tell(Fact::MadeAvailable(*site, event.scope));
            }
            if event.agent.thread == reader && event.semantics.make_visible && second.read {
                tell(Fact::MadeVisible(*site, event.scope));
            }
        }
        if first.available && !first.atomic {
            facts.push(Fact::MadeAvailable(first.site, events[self.slice.first as usize].scope));
        }
        if second.visible && !second.atomic {
            facts.push(Fact::MadeVisible(second.site, events[self.slice.second as usize].scope));
        }
    }

    /// With happens-before there: is it availability or visibility that is missing?
    fn availability(&self, common: Scope) -> (FindingId, Vec<Missing>) {
        let granted = |available: bool, visible: bool| {
            let mut execution = self.slice.execution.clone();
            if available && let Some(event) = execution.event_mut(self.slice.first) {
                event.available = true;
                event.scope = event.scope.max(common);
            }
            if visible && let Some(event) = execution.event_mut(self.slice.second) {
                event.visible = true;
                event.scope = event.scope.max(common);
            }
            self.judge(&execution).is_some_and(|judged| !judged.race(self.slice.first, self.slice.second))
        };
        let mut missing = Vec::new();
        let visible = self.second.0.read && granted(false, true);
        if !visible {
            missing.push(Missing::Availability(common));
        }
        if self.second.0.read && !granted(true, false) {
            missing.push(Missing::Visibility(common));
        }
        let id = if visible { FindingId::RaceNotVisible } else { FindingId::RaceNotAvailable };
        (id, missing)
    }

    /// The same where the slice does not show what orders the two: that a visibility operation is missing,
    /// too, is not known then.
    fn known_availability(&self, common: Scope) -> (FindingId, Vec<Missing>) {
        match self.second.0.read && self.known.available {
            true => (FindingId::RaceNotVisible, vec![Missing::Visibility(common)]),
            false => (FindingId::RaceNotAvailable, vec![Missing::Availability(common)]),
        }
    }

    /// Without happens-before: would all storage classes, or the widest scope, give it?
    fn synchronization(&self, common: Scope) -> (FindingId, Vec<Missing>) {
        let class = self.first.0.class | self.second.0.class;
        let synchronising: BTreeSet<Site> = self
            .slice
            .execution
            .events()
            .iter()
            .zip(self.sites())
            .filter(|(event, _)| event.semantics.acquire || event.semantics.release)
            .map(|(_, site)| *site)
            .collect();
        let helps = |sites: &BTreeSet<Site>, change: &dyn Fn(&mut Event)| {
            let mut execution = self.slice.execution.clone();
            for (index, site) in self.sites().iter().enumerate() {
                if sites.contains(site)
                    && let Some(event) = execution.event_mut(index as EventId)
                {
                    change(event);
                }
            }
            self.judge(&execution)
                .is_some_and(|judged| judged.happens_before(self.slice.first, self.slice.second))
        };
        let classes = |event: &mut Event| {
            event.semantics.classes = StorageClasses::all();
        };
        let widest = |event: &mut Event| {
            if event.semantics.acquire || event.semantics.release || event.atomic {
                event.scope = Scope::Device;
            }
        };
        let narrow: BTreeSet<Site> = self
            .slice
            .execution
            .events()
            .iter()
            .zip(self.sites())
            .filter(|(event, _)| event.scope < common && (event.atomic || event.fence))
            .map(|(_, site)| *site)
            .collect();
        // Leave out what does not matter, instruction by instruction.
        let least = |mut sites: BTreeSet<Site>, change: &dyn Fn(&mut Event)| {
            for site in sites.clone() {
                sites.remove(&site);
                if !helps(&sites, change) {
                    sites.insert(site);
                }
            }
            sites
        };
        if helps(&synchronising, &classes) {
            let sites = least(synchronising, &classes);
            return (
                FindingId::RaceStorageClass,
                sites.into_iter().map(|site| Missing::StorageClass(site, class)).collect(),
            );
        }
        if helps(&narrow, &widest) {
            let sites = least(narrow, &widest);
            return (
                FindingId::RaceScope,
                sites.into_iter().map(|site| Missing::WiderScope(site, common)).collect(),
            );
        }
        let both = |event: &mut Event| {
            classes(event);
            widest(event);
        };
        let all: BTreeSet<Site> = synchronising.union(&narrow).copied().collect();
        if helps(&all, &both) {
            let mut missing: Vec<Missing> = Vec::new();
            for site in least(all, &both) {
                missing.push(Missing::WiderScope(site, common));
                missing.push(Missing::StorageClass(site, class));
            }
            return (FindingId::RaceScope, missing);
        }
        (FindingId::RaceUnordered, vec![Missing::HappensBefore])
    }

    /// The first release of the first agent after its access and the last acquire of the second.
    fn closest(&self) -> Option<(Site, Site)> {
        let events = || self.slice.execution.events().iter().zip(self.sites()).enumerate();
        let release = events()
            .find(|(index, (event, _))| {
                *index as EventId > self.slice.first
                    && event.agent.thread == self.first.1
                    && event.semantics.release
            })
            .map(|(_, (_, site))| *site)?;
        let acquire = events()
            .rfind(|(_, (event, _))| event.agent.thread == self.second.1 && event.semantics.acquire)
            .map(|(_, (_, site))| *site)?;
        Some((release, acquire))
    }
}
