//! What a candidate execution's events fix by themselves, before reads-from and modification order are
//! chosen: program order, scope instances, same-location and same-reference relations, mutually-ordered
//! atomics, and which operations an availability or visibility operation includes.

use super::event::{Covers, Domain, DomainOperation, Event, LocationSet};
use super::matrix::{Matrix, Row};
use super::options::ModelOptions;
use crate::scope::Scope;

/// The number of scope levels with a memory domain: subgroup, workgroup, queue family, device.
pub(crate) const LEVELS: usize = 4;

/// One set of storage classes that inter-thread-happens-before is closed over.
#[derive(Clone, Debug)]
pub(crate) struct ClassMask<R> {
    /// The storage classes, as bits.
    pub mask: u8,
    /// Operations with all of the mask in their semantics.
    pub semantics: R,
    /// Those, and the operations on memory in a class of the mask.
    pub members: R,
}

/// A maximal set of locations that no access divides.
#[derive(Clone, Debug)]
pub(crate) struct Cell<R> {
    /// Its first location, for reports.
    pub first: u32,
    /// The accesses that include it.
    pub accesses: R,
}

/// The API-level operations, by what they do.
#[derive(Clone, Debug, Default)]
pub(crate) struct DomainSets<R> {
    pub available_device: R,
    pub available_host: R,
    pub visible_device: R,
    pub visible_host: R,
    pub device_to_host: R,
    pub host_to_device: R,
}

/// An execution before reads-from and scoped modification order are chosen: its events, and the relations and
/// sets that follow from these alone.
#[derive(Clone, Debug)]
pub(crate) struct PreExecution<R> {
    pub events: Vec<Event>,
    pub options: ModelOptions,
    pub read: R,
    pub write: R,
    pub atomic: R,
    pub fence: R,
    pub acquire: R,
    pub release: R,
    pub barrier: R,
    pub non_private: R,
    pub host: R,
    pub device: R,
    /// Sources and targets to which the read rules (write rules) alone apply: see [`super::ReadModifyWrite`].
    pub pure_read: R,
    pub pure_write: R,
    pub program_order: Matrix<R>,
    pub same_agent: Matrix<R>,
    /// Same scope instance, by level; the widest one relates device agents to device agents and host agents
    /// to host agents.
    pub same_instance: [Matrix<R>; LEVELS],
    pub system_synchronizes: Matrix<R>,
    /// Its transitive closure.
    pub system_synchronized: Matrix<R>,
    pub overlap: Matrix<R>,
    pub same_reference: Matrix<R>,
    pub in_scope: Matrix<R>,
    pub mutually_ordered: Matrix<R>,
    /// Control barrier arrivals before the waits of the same instance, within the execution scope.
    pub barrier_order: Matrix<R>,
    pub masks: Vec<ClassMask<R>>,
    /// Program order from an access to an operation with its class in the semantics.
    pub access_then_semantics: Matrix<R>,
    /// Program order from an operation to an access whose class its semantics hold.
    pub semantics_then_access: Matrix<R>,
    /// Operations that make available to (visible from) the domain of a level, by level.
    pub available_at: [R; LEVELS],
    pub visible_at: [R; LEVELS],
    pub cells: Vec<Cell<R>>,
    /// Every access lies within one cell, so that same-location is an equivalence and one pass judges all
    /// locations.
    pub undivided: bool,
    pub domain: DomainSets<R>,
    /// For an availability or visibility domain operation: the accesses that it includes.
    pub covered: Matrix<R>,
}

/// The scope level of an event: -1 for Invocation.
pub(crate) fn level(scope: Scope) -> i8 {
    scope.level().map_or(-1, |level| level as i8)
}

fn within(cover: &LocationSet, access: &LocationSet) -> bool {
    cover.first <= access.first && access.end() <= cover.end()
}

fn covers(covers: &Covers, index: usize, event: &Event) -> bool {
    let Some(locations) = event.locations else { return false };
    match covers {
        Covers::All => true,
        Covers::Locations(sets) => sets.iter().any(|set| within(set, &locations)),
        Covers::Events(events) => events.contains(&(index as u32)),
    }
}

impl<R: Row> PreExecution<R> {
    /// Prepares the events. `system_synchronizes` holds direct pairs.
    pub fn new(events: Vec<Event>, system_synchronizes: Matrix<R>, options: ModelOptions) -> PreExecution<R> {
        PreExecution::divided(events, system_synchronizes, options, &[])
    }

    /// The same, with the locations divided at these places, too.
    pub fn divided(
        events: Vec<Event>,
        system_synchronizes: Matrix<R>,
        options: ModelOptions,
        places: &[u32],
    ) -> PreExecution<R> {
        let n = events.len();
        let set = |belongs: &dyn Fn(&Event) -> bool| {
            let mut row = R::default();
            for (index, event) in events.iter().enumerate() {
                if belongs(event) {
                    row |= R::bit(index);
                }
            }
            row
        };
        // Relations that follow from equal keys are built from the key classes, not pair by pair.
        let same = |key: &dyn Fn(&Event) -> Option<u64>| {
            let mut groups: Vec<(u64, R)> = Vec::new();
            let mut group_of = vec![usize::MAX; n];
            for (index, event) in events.iter().enumerate() {
                let Some(key) = key(event) else { continue };
                let group = groups.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                    groups.push((key, R::default()));
                    groups.len() - 1
                });
                groups[group].1 |= R::bit(index);
                group_of[index] = group;
            }
            let mut matrix = Matrix::empty(n);
            for (index, group) in group_of.iter().enumerate() {
                if *group != usize::MAX {
                    *matrix.row_mut(index) = groups[*group].1;
                }
            }
            matrix
        };

        let same_agent = same(&|e| Some(u64::from(e.agent.thread) | u64::from(e.agent.host) << 32));
        let mut program_order = same_agent.clone();
        let mut earlier = R::default();
        for index in 0..n {
            earlier |= R::bit(index);
            *program_order.row_mut(index) &= !earlier;
        }
        let same_instance = [
            same(&|e| (!e.agent.host).then_some(u64::from(e.agent.subgroup))),
            same(&|e| (!e.agent.host).then_some(u64::from(e.agent.workgroup))),
            same(&|e| (!e.agent.host).then_some(u64::from(e.agent.queue_family))),
            same(&|e| Some(u64::from(e.agent.host))),
        ];
        let undivided_key =
            |e: &Event| e.locations.map(|set| u64::from(set.first) | u64::from(set.count) << 32);
        let same_set = same(&undivided_key);
        let (cells, undivided) = cells(&events, places);
        let overlap = if undivided {
            same_set.clone()
        } else {
            Matrix::from_fn(n, |a, b| match (events[a].locations, events[b].locations) {
                (Some(a), Some(b)) => a.overlaps(b),
                _ => false,
            })
        };
        let same_reference = same(&|e| e.locations.map(|_| u64::from(e.reference)));

        let scoped = set(&|e| e.atomic || e.fence || e.barrier.is_some());
        let mut in_scope = Matrix::empty(n);
        for a in scoped.members() {
            let own = level(events[a].scope);
            let mut row = R::default();
            for b in scoped.members() {
                let narrow = own.min(level(events[b].scope));
                let together = match narrow {
                    0.. => same_instance[narrow as usize].has(a, b),
                    _ => same_agent.has(a, b),
                };
                if together {
                    row |= R::bit(b);
                }
            }
            *in_scope.row_mut(a) = row;
        }

        let atomic = set(&|e| e.atomic);
        let mut mutually_ordered = in_scope.between(atomic, atomic);
        mutually_ordered.intersect(&same_set);
        mutually_ordered.intersect(&same_reference);
        for a in atomic.members() {
            *mutually_ordered.row_mut(a) &= !R::bit(a);
        }

        let barrier = set(&|e| e.barrier.is_some());
        let mut barrier_order = Matrix::empty(n);
        for a in barrier.members() {
            for b in barrier.members() {
                let (Some(from), Some(to)) = (events[a].barrier, events[b].barrier) else { continue };
                let together = match level(from.execution) {
                    level @ 0.. => same_instance[level as usize].has(a, b),
                    _ => same_agent.has(a, b),
                };
                if a != b
                    && from.instance == to.instance
                    && from.execution == to.execution
                    && from.arrives
                    && to.waits
                    && together
                {
                    barrier_order.add(a, b);
                }
            }
        }

        let masks = class_masks(&events, &set);
        let mut access_then_semantics = program_order.clone();
        let mut semantics_then_access = program_order.clone();
        let by_class: Vec<(R, R)> = (0..8)
            .map(|class| {
                (
                    set(&|e| e.storage_class.bits() >> class & 1 != 0),
                    set(&|e| e.semantics.classes.bits() >> class & 1 != 0),
                )
            })
            .collect();
        for (index, event) in events.iter().enumerate() {
            let (mut accesses, mut semantics) = (R::default(), R::default());
            for (class, (in_class, in_semantics)) in by_class.iter().enumerate() {
                if event.storage_class.bits() >> class & 1 != 0 {
                    semantics |= *in_semantics;
                }
                if event.semantics.classes.bits() >> class & 1 != 0 {
                    accesses |= *in_class;
                }
            }
            *access_then_semantics.row_mut(index) &= semantics;
            *semantics_then_access.row_mut(index) &= accesses;
        }

        let at_level = |makes: &dyn Fn(&Event) -> bool, wide: i8| {
            set(&|e| !e.agent.host && makes(e) && level(e.scope) >= wide)
        };
        let available = |e: &Event| e.available || e.semantics.make_available;
        let visible = |e: &Event| e.visible || e.semantics.make_visible;
        let available_at = std::array::from_fn(|wide| at_level(&available, wide as i8));
        let visible_at = std::array::from_fn(|wide| at_level(&visible, wide as i8));

        let domain_set =
            |wanted: &dyn Fn(&DomainOperation) -> bool| set(&|e| e.domain.as_ref().is_some_and(wanted));
        use DomainOperation::{Availability, Transfer, Visibility};
        let domain = DomainSets {
            available_device: domain_set(&|o| matches!(o, Availability(Domain::Device, _))),
            available_host: domain_set(&|o| matches!(o, Availability(Domain::Host, _))),
            visible_device: domain_set(&|o| matches!(o, Visibility(Domain::Device, _))),
            visible_host: domain_set(&|o| matches!(o, Visibility(Domain::Host, _))),
            device_to_host: domain_set(&|o| matches!(o, Transfer(Domain::Device, Domain::Host))),
            host_to_device: domain_set(&|o| matches!(o, Transfer(Domain::Host, Domain::Device))),
        };
        let mut covered = Matrix::empty(n);
        for (operation, event) in events.iter().enumerate() {
            if let Some(Availability(_, cover) | Visibility(_, cover)) = &event.domain {
                for (index, access) in events.iter().enumerate() {
                    if covers(cover, index, access) {
                        covered.add(operation, index);
                    }
                }
            }
        }

        let read = set(&|e| e.read);
        let write = set(&|e| e.write);
        let by_halves = options.read_modify_write == super::ReadModifyWrite::ByHalves;
        PreExecution {
            options,
            read,
            write,
            atomic,
            fence: set(&|e| e.fence),
            acquire: set(&|e| e.semantics.acquire),
            release: set(&|e| e.semantics.release),
            barrier,
            non_private: set(&|e| e.non_private),
            host: set(&|e| e.agent.host && e.locations.is_some()),
            device: set(&|e| !e.agent.host && e.locations.is_some()),
            pure_read: if by_halves { read & !write } else { read },
            pure_write: if by_halves { write & !read } else { write },
            program_order,
            same_agent,
            same_instance,
            system_synchronized: system_synchronizes.closure(),
            system_synchronizes,
            overlap,
            same_reference,
            in_scope,
            mutually_ordered,
            barrier_order,
            masks,
            access_then_semantics,
            semantics_then_access,
            available_at,
            visible_at,
            cells,
            undivided,
            domain,
            covered,
            events,
        }
    }

    /// How many events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// The accesses that an event's semantics or per-instruction operation can include, for a write of this
    /// class at the locations and reference that `at` (row of same-reference and same-location) names:
    /// availability operations.
    pub fn including_available(&self, class: u8, at: R) -> R {
        self.including(class, at, |e| e.semantics.make_available, |e| e.available)
    }

    /// The same for visibility operations.
    pub fn including_visible(&self, class: u8, at: R) -> R {
        self.including(class, at, |e| e.semantics.make_visible, |e| e.visible)
    }

    fn including(&self, class: u8, at: R, bulk: fn(&Event) -> bool, own: fn(&Event) -> bool) -> R {
        let mut row = R::default();
        for (index, event) in self.events.iter().enumerate() {
            if (bulk(event) && event.semantics.classes.bits() & class != 0) || (own(event) && at.has(index)) {
                row |= R::bit(index);
            }
        }
        row
    }
}

/// Makes the set of the events for which something holds.
type SetOf<'a, R> = dyn Fn(&dyn Fn(&Event) -> bool) -> R + 'a;

/// The intersection closure of the semantics that occur.
fn class_masks<R: Row>(events: &[Event], set: &SetOf<'_, R>) -> Vec<ClassMask<R>> {
    let mut present = [false; 256];
    let mut masks: Vec<u8> = Vec::new();
    for event in events {
        let mask = event.semantics.classes.bits();
        if mask != 0 && !present[mask as usize] {
            present[mask as usize] = true;
            masks.push(mask);
        }
    }
    let mut next = 0;
    while next < masks.len() {
        for other in 0..next {
            let both = masks[next] & masks[other];
            if both != 0 && !present[both as usize] {
                present[both as usize] = true;
                masks.push(both);
            }
        }
        next += 1;
    }
    masks.sort_unstable();
    masks
        .into_iter()
        .map(|mask| {
            let semantics = set(&|e| e.semantics.classes.bits() & mask == mask);
            let accesses = set(&|e| e.storage_class.bits() & mask != 0);
            ClassMask { mask, semantics, members: semantics | accesses }
        })
        .collect()
}

/// Divides the accessed locations at every boundary of an access and at `places`.
fn cells<R: Row>(events: &[Event], places: &[u32]) -> (Vec<Cell<R>>, bool) {
    let mut bounds: Vec<u32> = events
        .iter()
        .filter_map(|e| e.locations)
        .flat_map(|set| [set.first, set.end()])
        .chain(places.iter().copied())
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut cells: Vec<Cell<R>> = Vec::new();
    for pair in bounds.windows(2) {
        let mut accesses = R::default();
        for (index, event) in events.iter().enumerate() {
            if event.locations.is_some_and(|set| set.first <= pair[0] && pair[1] <= set.end()) {
                accesses |= R::bit(index);
            }
        }
        if !accesses.is_empty() {
            cells.push(Cell { first: pair[0], accesses });
        }
    }
    let mut seen = R::default();
    let mut undivided = true;
    for cell in &cells {
        undivided &= (seen & cell.accesses).is_empty();
        seen |= cell.accesses;
    }
    (cells, undivided)
}
