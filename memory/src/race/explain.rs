//! Why a pair races, and what would order it.
//!
//! The slice of the pair is judged by the axioms; then each clause of *Location-Ordered* is granted in turn (non-private, one reference,
//! availability, all storage classes, the widest scope), and the first one that helps names what is missing. Fixes are sets of edits of
//! static instructions, tried cheapest first: a set is accepted if the edited slice is consistent, orders the pair and has no race that the
//! slice did not have.

use super::order::Kind;
use super::slice::Slice;
use super::topology::{AgentId, Topology};
use crate::access::Site;
use crate::finding::{Edit, Fact, FindingId, Missing};
use crate::model::{BarrierInstance, Event, EventId, Execution, Judgement, ModelOptions, RelationName};
use crate::scope::{Scope, Semantics, StorageClasses};
use std::collections::BTreeSet;

/// What is said about a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Which kind of race.
    pub id: FindingId,
    /// What was right.
    pub facts: Vec<Fact>,
    /// What is missing.
    pub missing: Vec<Missing>,
    /// The smallest fix found; empty if none was.
    pub fix: Vec<Edit>,
}

const MOST_CANDIDATES: usize = 16;
const MOST_EDITS: usize = 4;
/// Events squared times judgements: bounds the time that one search takes.
const EFFORT: usize = 600_000;
const LEAST_TRIALS: usize = 64;
const MOST_TRIALS: usize = 1500;

/// A pair on its slice.
pub struct Case<'a> {
    /// The slice.
    pub slice: &'a Slice,
    /// The model's options.
    pub options: ModelOptions,
    /// The earlier access and its agent.
    pub first: (&'a Kind, AgentId),
    /// The later access and its agent.
    pub second: (&'a Kind, AgentId),
    /// Who shares which instance.
    pub topology: &'a Topology,
}

impl Case<'_> {
    /// Whether the axioms order the pair, or call it mutually ordered. A slice that cannot be judged says no.
    pub fn ordered(&self) -> bool {
        self.judge(&self.slice.execution, Vec::new())
            .is_some_and(|judged| !judged.races(self.slice.first, self.slice.second))
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
        } else if first.atomic && second.atomic && first.size == second.size {
            (FindingId::RaceMixedScopeAtomics, vec![Missing::MutualScope])
        } else {
            self.synchronization(common)
        };
        if id == FindingId::RaceUnordered
            && let Some((release, acquire)) = self.closest()
        {
            facts.push(Fact::ClosestPair(release, acquire));
        }
        Explanation { id, facts, missing, fix: self.fix(common) }
    }

    fn common_scope(&self) -> Scope {
        let common = (0..4).find(|level| self.topology.same(self.first.1, self.second.1, *level));
        match common {
            Some(0) => Scope::Subgroup,
            Some(1) => Scope::Workgroup,
            Some(2) => Scope::QueueFamily,
            _ => Scope::Device,
        }
    }

    fn judge(&self, execution: &Execution, extra: Vec<(EventId, EventId)>) -> Option<Judged> {
        let mut execution = execution.clone();
        let mut pairs: Vec<(EventId, EventId)> = self.slice.reads_from.clone();
        pairs.extend(extra);
        for (write, read) in pairs {
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
        execution.judge(&self.options).ok().map(Judged)
    }

    fn sites(&self) -> &[Site] {
        &self.slice.sites
    }

    fn happens_before(&self, execution: &Execution, facts: &mut Vec<Fact>) -> bool {
        let Some(judged) = self.judge(execution, Vec::new()) else { return false };
        if !judged.0.happens_before(self.slice.first, self.slice.second) {
            return false;
        }
        let synchronizes = judged.0.relation(RelationName::SynchronizesWith);
        let (first, second) = (self.slice.first, self.slice.second);
        let mut sites = Vec::new();
        for (release, acquire) in synchronizes.pairs() {
            let from = release == first || judged.0.happens_before(first, release);
            let to = acquire == second || judged.0.happens_before(acquire, second);
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

    /// Availability operations of the writer after the write, and visibility operations of the reader before the read.
    fn operations(&self, facts: &mut Vec<Fact>, common: Scope) {
        let class = self.first.0.class;
        for (event, site) in self.slice.execution.events().iter().zip(self.sites()) {
            let covers = event.semantics.classes.contains(class) && event.scope >= common;
            if event.agent.thread == self.first.1
                && event.semantics.make_available
                && covers
                && self.first.0.write
            {
                let fact = Fact::MadeAvailable(*site, event.scope);
                if !facts.contains(&fact) {
                    facts.push(fact);
                }
            }
            if event.agent.thread == self.second.1
                && event.semantics.make_visible
                && covers
                && self.second.0.read
            {
                let fact = Fact::MadeVisible(*site, event.scope);
                if !facts.contains(&fact) {
                    facts.push(fact);
                }
            }
        }
        let (first, second) = (self.first.0, self.second.0);
        if first.available && !first.atomic {
            facts.push(Fact::MadeAvailable(
                first.site,
                self.slice.execution.events()[self.slice.first as usize].scope,
            ));
        }
        if second.visible && !second.atomic {
            facts.push(Fact::MadeVisible(
                second.site,
                self.slice.execution.events()[self.slice.second as usize].scope,
            ));
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
            self.judge(&execution, Vec::new())
                .is_some_and(|judged| !judged.races(self.slice.first, self.slice.second))
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
            self.judge(&execution, Vec::new())
                .is_some_and(|judged| judged.0.happens_before(self.slice.first, self.slice.second))
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

    fn candidates(&self, common: Scope) -> Vec<Edit> {
        let (first, second) = (self.first.0, self.second.0);
        let class = first.class | second.class;
        let mut edits: Vec<Edit> = Vec::new();
        let mut add = |edit: Edit| {
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        };
        for kind in [first, second] {
            if !kind.non_private {
                add(Edit::NonPrivate(kind.site));
            }
        }
        if first.reference != second.reference {
            add(Edit::OneReference(first.site, second.site));
        }
        let mut seen: BTreeSet<Site> = BTreeSet::new();
        let related =
            |event: &Event| event.agent.thread == self.first.1 || event.agent.thread == self.second.1;
        for own in [true, false] {
            for (event, site) in self.slice.execution.events().iter().zip(self.sites()) {
                if related(event) != own
                    || !(event.fence || event.atomic || event.barrier.is_some())
                    || !seen.insert(*site)
                {
                    continue;
                }
                let semantics = &event.semantics;
                let fence = event.fence || event.barrier.is_some();
                if event.scope < common {
                    add(Edit::Widen(*site, common));
                }
                if !semantics.classes.contains(class) {
                    add(Edit::AddClasses(*site, class - semantics.classes));
                }
                if !semantics.release && (fence || event.write) {
                    add(Edit::Release(*site));
                }
                if !semantics.acquire && (fence || event.read) {
                    add(Edit::Acquire(*site));
                }
                if !semantics.make_available && (fence || event.write) && first.write {
                    add(Edit::MakeAvailable(*site));
                }
                if !semantics.make_visible && (fence || event.read) && second.read {
                    add(Edit::MakeVisible(*site));
                }
            }
        }
        edits.truncate(MOST_CANDIDATES - 4);
        if first.write && !first.atomic {
            edits.push(Edit::AvailableAccess(first.site, common));
        }
        if second.read && !second.atomic {
            edits.push(Edit::VisibleAccess(second.site, common));
        }
        if common <= Scope::Workgroup && first.site != second.site {
            edits.push(Edit::InsertBarrier(first.site, second.site, class));
        }
        for kind in [first, second] {
            let edit = Edit::MakeAtomic(kind.site, common.max(Scope::Workgroup));
            if !kind.atomic && kind.size >= 4 && !edits.contains(&edit) {
                edits.push(edit);
            }
        }
        edits
    }

    /// The cheapest set of edits that orders the pair.
    fn fix(&self, common: Scope) -> Vec<Edit> {
        let candidates = self.candidates(common);
        let Some(now) = self.judge(&self.slice.execution, Vec::new()) else { return Vec::new() };
        let races_now: BTreeSet<(EventId, EventId)> = now.pairs();
        let mut sets: Vec<(u32, u32)> = Vec::new();
        for set in 1u32..1 << candidates.len() {
            if set.count_ones() as usize <= MOST_EDITS {
                sets.push((cost(&candidates, set), set));
            }
        }
        sets.sort_unstable();
        let events = self.slice.execution.events().len().max(1);
        let trials = (EFFORT / (events * events)).clamp(LEAST_TRIALS, MOST_TRIALS);
        for (_, set) in sets.into_iter().take(trials) {
            let edits: Vec<Edit> = candidates
                .iter()
                .enumerate()
                .filter(|(index, _)| set >> index & 1 != 0)
                .map(|(_, edit)| edit.clone())
                .collect();
            if self.accepts(&edits, &races_now) {
                return edits;
            }
        }
        Vec::new()
    }

    fn accepts(&self, edits: &[Edit], races_now: &BTreeSet<(EventId, EventId)>) -> bool {
        let Some((execution, moved)) = self.edited(edits) else { return false };
        let at = |event: EventId| moved[event as usize];
        let (first, second) = (at(self.slice.first), at(self.slice.second));
        let mut edited = execution;
        for (write, read) in &self.slice.reads_from {
            edited.reads_from(at(*write), at(*read));
        }
        let events = edited.events();
        if events[first as usize].write && events[second as usize].read {
            edited.reads_from(first, second);
        }
        let Ok(judged) = edited.judge(&self.options).map(Judged) else { return false };
        if judged.races(first, second) || !judged.0.consistent() {
            return false;
        }
        let known: BTreeSet<(EventId, EventId)> = races_now.iter().map(|(a, b)| (at(*a), at(*b))).collect();
        judged.pairs().is_subset(&known)
    }

    /// The slice with the edits applied, and where each event went; nothing if an edit makes no sense.
    fn edited(&self, edits: &[Edit]) -> Option<(Execution, Vec<EventId>)> {
        let mut events: Vec<Event> = self.slice.execution.events().to_vec();
        let mut barrier = None;
        for edit in edits {
            let each = |site: Site, change: &mut dyn FnMut(&mut Event), events: &mut Vec<Event>| {
                for (event, own) in events.iter_mut().zip(self.sites()) {
                    if *own == site {
                        change(event);
                    }
                }
            };
            match edit {
                Edit::NonPrivate(site) => each(*site, &mut |event| event.non_private = true, &mut events),
                Edit::AvailableAccess(site, scope) => each(
                    *site,
                    &mut |event| {
                        event.available = event.write;
                        event.scope = event.scope.max(*scope);
                    },
                    &mut events,
                ),
                Edit::VisibleAccess(site, scope) => each(
                    *site,
                    &mut |event| {
                        event.visible = event.read;
                        event.scope = event.scope.max(*scope);
                    },
                    &mut events,
                ),
                Edit::MakeAvailable(site) => {
                    each(*site, &mut |event| event.semantics.make_available = true, &mut events)
                }
                Edit::MakeVisible(site) => {
                    each(*site, &mut |event| event.semantics.make_visible = true, &mut events)
                }
                Edit::Widen(site, scope) => {
                    each(*site, &mut |event| event.scope = event.scope.max(*scope), &mut events)
                }
                Edit::AddClasses(site, classes) => {
                    each(*site, &mut |event| event.semantics.classes |= *classes, &mut events);
                }
                Edit::Acquire(site) => each(*site, &mut |event| event.semantics.acquire = true, &mut events),
                Edit::Release(site) => each(*site, &mut |event| event.semantics.release = true, &mut events),
                Edit::InsertBarrier(_, _, classes) => barrier = Some(*classes),
                Edit::MakeAtomic(site, scope) => each(
                    *site,
                    &mut |event| {
                        event.atomic = true;
                        event.scope = event.scope.max(*scope);
                    },
                    &mut events,
                ),
                Edit::OneReference(site, other) => {
                    let reference = self.first.0.reference;
                    for site in [site, other] {
                        each(*site, &mut |event| event.reference = reference, &mut events);
                    }
                }
            }
        }
        for event in &mut events {
            let semantics = &event.semantics;
            let valid = (!semantics.make_visible || semantics.acquire)
                && (!semantics.make_available || semantics.release);
            if !valid {
                return None;
            }
            let access = event.read || event.write;
            if access && ((semantics.acquire && !event.read) || (semantics.release && !event.write)) {
                return None;
            }
            event.fence |= event.barrier.is_some() && (semantics.acquire || semantics.release);
        }
        let mut execution = Execution::new();
        let mut moved = Vec::with_capacity(events.len());
        for (index, event) in events.iter().enumerate() {
            // The barrier stands directly before the later access; the earlier one's agent is past its access then.
            if index as EventId == self.slice.second
                && let Some(classes) = barrier
            {
                for agent in [self.first.1, self.second.1] {
                    let like = events.iter().find(|event| event.agent.thread == agent)?;
                    let instance = BarrierInstance {
                        instance: u32::MAX,
                        execution: Scope::Workgroup,
                        arrives: true,
                        waits: true,
                    };
                    let semantics = Semantics {
                        acquire: true,
                        release: true,
                        classes,
                        make_available: true,
                        make_visible: true,
                        volatile: false,
                    };
                    execution.push(Event::barrier(like.agent, instance, Scope::Workgroup, semantics));
                }
            }
            moved.push(execution.push(event.clone()));
        }
        Some((execution, moved))
    }
}

struct Judged(Judgement);

impl Judged {
    fn races(&self, first: EventId, second: EventId) -> bool {
        self.0.race(first, second)
    }

    fn pairs(&self) -> BTreeSet<(EventId, EventId)> {
        self.0.races().iter().map(|race| (race.first.min(race.second), race.first.max(race.second))).collect()
    }
}

/// Instructions touched count most, then edits; new instructions and atomics are a larger change than a changed operand.
fn cost(candidates: &[Edit], set: u32) -> u32 {
    let mut sites: BTreeSet<Site> = BTreeSet::new();
    let mut cost = 0;
    for (index, edit) in candidates.iter().enumerate().filter(|(index, _)| set >> index & 1 != 0) {
        let (site, own) = match edit {
            Edit::MakeAvailable(site) | Edit::MakeVisible(site) => (*site, 10),
            Edit::NonPrivate(site) => (*site, 10),
            Edit::AddClasses(site, _) | Edit::Widen(site, _) => (*site, 11),
            Edit::AvailableAccess(site, _) | Edit::VisibleAccess(site, _) => (*site, 12),
            Edit::Acquire(site) | Edit::Release(site) => (*site, 13),
            Edit::OneReference(site, _) => (*site, 14),
            Edit::InsertBarrier(site, _, _) => (*site, 80),
            Edit::MakeAtomic(site, _) => (*site, 120),
        };
        sites.insert(site);
        cost += own * 100 + index as u32;
    }
    cost + sites.len() as u32 * 3000
}
