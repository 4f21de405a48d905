//! Fixes: sets of edits of static instructions, tried cheapest first.
//!
//! A set is accepted if the edited slice orders the pair, has no race that the slice did not have, and is
//! consistent. Plain reads do not count for the last: in the edited program they return what they find then.
//! A new barrier is judged by itself, with the two accesses on its two sides in either order: which one came
//! first is the schedule's matter, and where the barrier can stand is the outline's.

use super::explain::Case;
use crate::access::Site;
use crate::finding::Edit;
use crate::model::{BarrierInstance, Event, EventId, Execution, Judgement, Race};
use crate::outline::{BarrierPlace, Gap, Outline};
use crate::scope::{Scope, Semantics, StorageClasses};
use std::collections::BTreeSet;

const MOST_CANDIDATES: usize = 16;
const MOST_EDITS: usize = 4;
/// Events squared times judgements: bounds the time that one search takes.
const EFFORT: usize = 600_000;
const LEAST_TRIALS: usize = 64;
const MOST_TRIALS: usize = 1500;

/// The slice as it is.
struct Now {
    races: BTreeSet<Race>,
    /// Consistent, plain reads aside. A slice that leaves out writes may not be.
    consistent: bool,
}

impl Case<'_> {
    /// The cheapest set of edits that orders the pair.
    pub(super) fn fix(&self, common: Scope) -> Vec<Edit> {
        let Some(now) = self.now() else { return Vec::new() };
        let operands = self.operand_edits(common);
        let mut candidates: Vec<Edit> = operands.iter().take(MOST_CANDIDATES - 4).cloned().collect();
        candidates.extend(self.new_instructions(common));
        candidates.truncate(MOST_CANDIDATES + 4);
        let mut sets: Vec<(u32, u32)> =
            sets(candidates.len()).map(|set| (cost(chosen(&candidates, set)), set)).collect();
        sets.sort_unstable();
        let events = self.slice.execution.events().len().max(1);
        let trials = (EFFORT / (events * events)).clamp(LEAST_TRIALS, MOST_TRIALS);
        let small = sets.into_iter().take(trials).find_map(|(cost, set)| {
            let edits: Vec<Edit> = chosen(&candidates, set).map(|(_, edit)| edit.clone()).collect();
            self.accepts(&edits, &now).then_some((cost, edits))
        });
        // Many edits of few instructions may be less than few edits of many.
        let many = match &small {
            Some((_, edits)) if edits.len() < MOST_EDITS => None,
            _ => self.all_but_what_is_not_needed(operands, &now),
        };
        match (small, many) {
            (Some((least, _)), Some(many)) if cost(many.iter().enumerate()) < least => many,
            (Some((_, small)), _) => small,
            (None, Some(many)) => many,
            (None, None) => self.cut().unwrap_or_default(),
        }
    }

    /// Instructions that read and write at once in the slice. Where one of them only reads, it is a
    /// compare-exchange that fails, which has semantics of its own.
    fn updating(&self) -> BTreeSet<Site> {
        let events = self.slice.execution.events().iter().zip(self.sites());
        events.filter(|(event, _)| event.atomic && event.read && event.write).map(|(_, site)| *site).collect()
    }

    fn now(&self) -> Option<Now> {
        let consistent = self.judge_edited(self.slice.execution.events(), &[], false);
        Some(Now {
            races: self.judge(&self.slice.execution)?.races().into_iter().collect(),
            consistent: consistent.is_some_and(|(judged, _)| judged.consistent()),
        })
    }

    /// Whether a fix that was found for another execution of the two instructions orders this one, too.
    pub fn fixed_by(&self, fix: &[Edit]) -> bool {
        let cut = fix.iter().any(|edit| matches!(edit, Edit::LaterDispatch { .. }));
        cut || self.now().is_some_and(|now| self.accepts(fix, &now))
    }

    /// What is needed of all edits of operands, if they do it together.
    fn all_but_what_is_not_needed(&self, mut edits: Vec<Edit>, now: &Now) -> Option<Vec<Edit>> {
        if !self.accepts(&edits, now) {
            return None;
        }
        // The instructions that matter least come last.
        for index in (0..edits.len()).rev() {
            let edit = edits.remove(index);
            if !self.accepts(&edits, now) {
                edits.insert(index, edit);
            }
        }
        Some(edits)
    }

    /// Two dispatches instead of one.
    fn cut(&self) -> Option<Vec<Edit>> {
        let (first, second) = (self.first.0, self.second.0);
        let apart = self.common_scope() > Scope::Workgroup;
        let plain = !first.atomic && !second.atomic;
        let outline = self.outline.filter(|outline| apart && plain && !outline.any_decides())?;
        if outline.partner(first.site) == Some(second.site) {
            return None;
        }
        let gap = outline.gap(first.site, second.site, Scope::Device)?;
        let Gap { before, after, place, .. } = gap;
        Some(vec![Edit::LaterDispatch { before, after, place }])
    }

    /// Edits of operands of the two accesses and of the synchronisation that there is.
    fn operand_edits(&self, common: Scope) -> Vec<Edit> {
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
        let updating = self.updating();
        let failed = |event: &Event, site: &Site| !event.write && event.atomic && updating.contains(site);
        // Where others say Device, so does a scope that reaches across workgroups.
        let device = common > Scope::Workgroup
            && self.slice.execution.events().iter().any(|event| event.scope == Scope::Device);
        // What a barrier of a subgroup does is no help to those who meet across subgroups.
        let apart = self.outline.is_some_and(|outline| !self.meet_in_subgroups(outline));
        let narrow =
            |event: &Event| event.barrier.is_some_and(|barrier| barrier.execution == Scope::Subgroup);
        let related =
            |event: &Event| event.agent.thread == self.first.1 || event.agent.thread == self.second.1;
        for own in [true, false] {
            for (event, site) in self.slice.execution.events().iter().zip(self.sites()) {
                if related(event) != own
                    || failed(event, site)
                    || (apart && narrow(event))
                    || !(event.fence || event.atomic || event.barrier.is_some())
                    || !seen.insert(*site)
                {
                    continue;
                }
                let semantics = &event.semantics;
                let fence = event.fence || event.barrier.is_some();
                let fixed = self.outline.is_some_and(|outline| outline.fixed_semantics());
                if fixed && !fence {
                    continue;
                }
                if event.scope < common {
                    add(Edit::Widen(*site, if device { Scope::Device } else { common }));
                }
                if !semantics.classes.contains(class) {
                    add(Edit::AddClasses(*site, class - semantics.classes));
                }
                if fixed {
                    continue;
                }
                let decides = self.outline.is_none_or(|outline| outline.decides(*site));
                if !semantics.release && (fence || event.write) {
                    let both = semantics.acquire;
                    add(if both { Edit::AcquireRelease(*site) } else { Edit::Release(*site) });
                }
                if !semantics.acquire && (fence || (event.read && decides)) {
                    let both = semantics.release;
                    add(if both { Edit::AcquireRelease(*site) } else { Edit::Acquire(*site) });
                }
                if !semantics.make_available && (fence || event.write) && first.write {
                    add(Edit::MakeAvailable(*site));
                }
                if !semantics.make_visible && (fence || event.read) && second.read {
                    add(Edit::MakeVisible(*site));
                }
            }
        }
        edits
    }

    /// Edits that bring instructions of another kind.
    fn new_instructions(&self, common: Scope) -> Vec<Edit> {
        let (first, second) = (self.first.0, self.second.0);
        let mut edits = Vec::new();
        if first.write && !first.atomic {
            edits.push(Edit::AvailableAccess(first.site, common));
        }
        if second.read && !second.atomic {
            edits.push(Edit::VisibleAccess(second.site, common));
        }
        let barrier = self.barrier(common);
        let separable = barrier.is_some();
        edits.extend(barrier);
        edits.extend(self.fences(common));
        let scope = common.max(Scope::Workgroup);
        let Some(outline) = self.outline else {
            for kind in [first, second] {
                let edit = Edit::MakeAtomic(kind.site, scope);
                if !kind.atomic && kind.size >= 4 && !edits.contains(&edit) {
                    edits.push(edit);
                }
            }
            return edits;
        };
        // The two are parts of one update, or two executions of one part.
        for (load, store) in [(first.site, second.site), (second.site, first.site)] {
            let (load, store) = match outline.partner(load) {
                Some(partner) if load == store && first.write => (partner, store),
                _ => (load, store),
            };
            if let Some(operation) = outline.update(load, store).filter(|_| !separable) {
                let edit = Edit::AtomicUpdate { load, store, operation, scope };
                if !edits.contains(&edit) {
                    edits.push(edit);
                }
            }
        }
        // Atomic accesses hide a race and mend it only if someone waits for the value, or if it does not
        // matter whose value stays.
        let waits = [first, second].iter().any(|kind| kind.read && outline.waits(kind.site));
        let same = first.site == second.site && outline.stores_constant(first.site);
        let both = [first, second].iter().all(|kind| kind.atomic || outline.scalar(kind.site));
        if (waits || same) && both {
            for kind in [first, second] {
                let edit = Edit::MakeAtomic(kind.site, scope);
                if !kind.atomic && !edits.contains(&edit) {
                    edits.push(edit);
                }
            }
        }
        edits
    }

    /// Fences by the two accesses, for atomics that pass a message from one to the other.
    fn fences(&self, common: Scope) -> Vec<Edit> {
        let (first, second) = (self.first.0, self.second.0);
        let events = self.slice.execution.events().iter().zip(self.sites()).zip(0..);
        let atomics = events.filter(|((event, _), index)| {
            event.atomic && *index != self.slice.first && *index != self.slice.second
        });
        let mut passing = StorageClasses::empty();
        let mut decided = false;
        for ((event, site), _) in atomics {
            passing |= event.storage_class;
            decided |= event.read && self.outline.is_none_or(|outline| outline.decides(*site));
        }
        if !decided {
            return Vec::new();
        }
        let classes = passing | first.class | second.class;
        vec![
            Edit::ReleaseFence { after: first.site, scope: common, classes },
            Edit::AcquireFence { before: second.site, scope: common, classes },
        ]
    }

    /// A barrier between the two, where one can stand.
    fn barrier(&self, common: Scope) -> Option<Edit> {
        if common > Scope::Workgroup {
            return None;
        }
        let (first, second) = (self.first.0, self.second.0);
        let classes = first.class | second.class;
        let Some(outline) = self.outline else {
            return (first.site != second.site).then_some(Edit::InsertBarrier {
                before: first.site,
                after: second.site,
                place: BarrierPlace::Between,
                scope: Scope::Workgroup,
                classes,
                early_return: false,
            });
        };
        let at = |scope| outline.gap(first.site, second.site, scope).map(|gap| (gap, scope));
        let all = at(Scope::Workgroup);
        let narrower = all.is_none_or(|(gap, _)| gap.early_return) && self.meet_in_subgroups(outline);
        let (gap, scope) = if narrower { at(Scope::Subgroup).or(all) } else { all }?;
        let Gap { before, after, place, early_return } = gap;
        Some(Edit::InsertBarrier { before, after, place, scope, classes, early_return })
    }

    /// Whether no two subgroups of a workgroup can meet at the two instructions as this pair does. That this
    /// pair is of one subgroup does not say so: it is the one that was seen first.
    fn meet_in_subgroups(&self, outline: &dyn Outline) -> bool {
        let ((first, by), second) = (self.first, self.second.0);
        let (subgroup, workgroup) = (self.topology.range(by, 0), self.topology.range(by, 1));
        subgroup.contains(&self.second.1)
            && (subgroup == workgroup || outline.one_subgroup(first.site, second.site))
    }

    fn accepts(&self, edits: &[Edit], now: &Now) -> bool {
        let Some(events) = self.edited(edits) else { return false };
        let barrier = edits.iter().find_map(|edit| match edit {
            Edit::InsertBarrier { scope, classes, .. } => Some((*scope, *classes)),
            _ => None,
        });
        if let Some((scope, classes)) = barrier {
            return self.separates(&events, scope, classes);
        }
        let Some((judged, moved)) = self.judge_edited(&events, edits, true) else { return false };
        let at = |event: EventId| moved[event as usize];
        // What those read is not known.
        let new_atomics =
            edits.iter().any(|edit| matches!(edit, Edit::MakeAtomic(..) | Edit::AtomicUpdate { .. }));
        let moved_race = |race: &Race| Race { first: at(race.first), second: at(race.second) };
        let known: BTreeSet<Race> = now.races.iter().map(moved_race).collect();
        let consistent =
            || self.judge_edited(&events, edits, false).is_some_and(|(judged, _)| judged.consistent());
        !judged.race(at(self.slice.first), at(self.slice.second))
            && judged.races().iter().all(|race| known.contains(race))
            && (!now.consistent || new_atomics || consistent())
    }

    /// Judges edited events, with the fences that edits insert; says where each event went. Without plain
    /// reads, those are fences that do nothing.
    fn judge_edited(
        &self,
        events: &[Event],
        edits: &[Edit],
        reads: bool,
    ) -> Option<(Judgement, Vec<EventId>)> {
        let mut execution = Execution::new();
        let mut moved = Vec::with_capacity(events.len());
        for (event, site) in events.iter().zip(self.sites()) {
            for edit in edits {
                if let Edit::AcquireFence { before, scope, classes } = edit
                    && before == site
                {
                    execution.push(Event::fence(event.agent, *scope, acquire(*classes)));
                }
            }
            let plain = event.read && !event.write && !event.atomic;
            moved.push(if plain && !reads {
                execution.push(Event::fence(event.agent, Scope::Invocation, Semantics::RELAXED))
            } else {
                execution.push(event.clone())
            });
            for edit in edits {
                if let Edit::ReleaseFence { after, scope, classes } = edit
                    && after == site
                {
                    execution.push(Event::fence(event.agent, *scope, release(*classes)));
                }
            }
        }
        if let Some(order) = &self.slice.modification {
            execution.modification_order(order.iter().map(|event| moved[*event as usize]).collect());
        }
        let (first, second) = (self.slice.first, self.slice.second);
        let of_pair = Some((first, second)).filter(|_| events[first as usize].write);
        for (write, read) in self.slice.reads_from.iter().copied().chain(of_pair) {
            let (from, to) = (&events[write as usize], &events[read as usize]);
            if from.write && to.read && to.atomic {
                execution.reads_from(moved[write as usize], moved[read as usize]);
            }
        }
        Some((execution.judge(&self.options).ok()?, moved))
    }

    /// Whether a barrier orders the two accesses as they are now, whichever is first.
    fn separates(&self, events: &[Event], scope: Scope, classes: StorageClasses) -> bool {
        let semantics = Semantics { acquire: true, make_visible: true, ..release(classes) };
        let instance = BarrierInstance { instance: 0, execution: scope, arrives: true, waits: true };
        let (a, b) = (&events[self.slice.first as usize], &events[self.slice.second as usize]);
        [(a, b), (b, a)].into_iter().all(|(before, after)| {
            let mut execution = Execution::new();
            let first = execution.push(before.clone());
            for agent in [before.agent, after.agent] {
                execution.push(Event::barrier(agent, instance, scope, semantics));
            }
            let second = execution.push(after.clone());
            if before.write && after.read {
                execution.reads_from(first, second);
            }
            execution.judge(&self.options).is_ok_and(|judged| !judged.race(first, second))
        })
    }

    /// The events of the slice with the edits applied; nothing if an edit makes no sense.
    fn edited(&self, edits: &[Edit]) -> Option<Vec<Event>> {
        let mut events: Vec<Event> = self.slice.execution.events().to_vec();
        let updating = self.updating();
        for edit in edits {
            let semantics = matches!(
                edit,
                Edit::MakeAvailable(_)
                    | Edit::MakeVisible(_)
                    | Edit::AddClasses(..)
                    | Edit::Acquire(_)
                    | Edit::Release(_)
                    | Edit::AcquireRelease(_)
            );
            let mut each = |sites: &[Site], change: &mut dyn FnMut(&mut Event)| {
                for (event, own) in events.iter_mut().zip(self.sites()) {
                    let fails = semantics && event.atomic && !event.write && updating.contains(own);
                    if sites.contains(own) && !fails {
                        change(event);
                    }
                }
            };
            match edit {
                Edit::NonPrivate(site) => each(&[*site], &mut |event| event.non_private = true),
                Edit::AvailableAccess(site, scope) => each(&[*site], &mut |event| {
                    event.available = event.write;
                    event.scope = event.scope.max(*scope);
                }),
                Edit::VisibleAccess(site, scope) => each(&[*site], &mut |event| {
                    event.visible = event.read;
                    event.scope = event.scope.max(*scope);
                }),
                Edit::MakeAvailable(site) => {
                    each(&[*site], &mut |event| event.semantics.make_available = true);
                }
                Edit::MakeVisible(site) => each(&[*site], &mut |event| event.semantics.make_visible = true),
                Edit::Widen(site, scope) => {
                    each(&[*site], &mut |event| event.scope = event.scope.max(*scope));
                }
                Edit::AddClasses(site, classes) => {
                    each(&[*site], &mut |event| event.semantics.classes |= *classes);
                }
                Edit::Acquire(site) => each(&[*site], &mut |event| event.semantics.acquire = true),
                Edit::Release(site) => each(&[*site], &mut |event| event.semantics.release = true),
                Edit::AcquireRelease(site) => each(&[*site], &mut |event| {
                    event.semantics.acquire = true;
                    event.semantics.release = true;
                }),
                Edit::MakeAtomic(site, scope) => each(&[*site], &mut |event| atomic(event, *scope)),
                Edit::AtomicUpdate { load, store, scope, .. } => {
                    each(&[*load, *store], &mut |event| atomic(event, *scope));
                }
                Edit::OneReference(site, other) => {
                    let reference = self.first.0.reference;
                    each(&[*site, *other], &mut |event| event.reference = reference);
                }
                Edit::InsertBarrier { .. }
                | Edit::ReleaseFence { .. }
                | Edit::AcquireFence { .. }
                | Edit::LaterDispatch { .. }
                | Edit::OneWriter(_) => {}
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
        Some(events)
    }
}

fn release(classes: StorageClasses) -> Semantics {
    Semantics { release: true, make_available: true, classes, ..Semantics::RELAXED }
}

fn acquire(classes: StorageClasses) -> Semantics {
    Semantics { acquire: true, make_visible: true, classes, ..Semantics::RELAXED }
}

fn atomic(event: &mut Event, scope: Scope) {
    event.atomic = true;
    event.scope = event.scope.max(scope);
}

/// Sets of 1 to [`MOST_EDITS`] of `count` candidates, at most 31, as bits.
fn sets(count: usize) -> impl Iterator<Item = u32> {
    let end = 1u32 << count;
    (1..=MOST_EDITS.min(count)).flat_map(move |size| {
        // The next larger number with as many bits.
        let next = |set: &u32| {
            let low = set & set.wrapping_neg();
            let carried = set + low;
            Some((((set ^ carried) >> 2) / low) | carried)
        };
        std::iter::successors(Some((1u32 << size) - 1), next).take_while(move |set| *set < end)
    })
}

fn chosen(candidates: &[Edit], set: u32) -> impl Iterator<Item = (usize, &Edit)> {
    candidates.iter().enumerate().filter(move |(index, _)| set >> index & 1 != 0)
}

/// Instructions touched count most, then edits; new instructions and atomics are a larger change than a
/// changed operand.
fn cost<'a>(edits: impl Iterator<Item = (usize, &'a Edit)>) -> u32 {
    let mut sites: BTreeSet<Site> = BTreeSet::new();
    let mut cost = 0;
    for (index, edit) in edits {
        let (site, own) = match edit {
            Edit::MakeAvailable(site) | Edit::MakeVisible(site) => (*site, 10),
            Edit::NonPrivate(site) => (*site, 10),
            Edit::AddClasses(site, _) | Edit::Widen(site, _) => (*site, 11),
            Edit::AvailableAccess(site, _) | Edit::VisibleAccess(site, _) => (*site, 12),
            Edit::Acquire(site) | Edit::Release(site) | Edit::AcquireRelease(site) => (*site, 13),
            Edit::OneReference(site, _) | Edit::OneWriter(site) => (*site, 14),
            Edit::AtomicUpdate { store, .. } => (*store, 110),
            Edit::ReleaseFence { after: site, .. } | Edit::AcquireFence { before: site, .. } => (*site, 70),
            Edit::InsertBarrier { before, place, early_return, .. } => {
                let barriers = if *place == BarrierPlace::BetweenAndLoopEnd { 100 } else { 80 };
                (*before, barriers + if *early_return { 15 } else { 0 })
            }
            Edit::MakeAtomic(site, _) => (*site, 120),
            Edit::LaterDispatch { before, .. } => (*before, 1000),
        };
        sites.insert(site);
        cost += own * 100 + index as u32;
    }
    cost + sites.len() as u32 * 3000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_set_is_there_once() {
        for count in 0..=10 {
            let mut found: Vec<u32> = sets(count).collect();
            found.sort_unstable();
            let all = (1..1u32 << count).filter(|set| set.count_ones() as usize <= MOST_EDITS);
            assert_eq!(found, all.collect::<Vec<u32>>());
        }
    }
}
