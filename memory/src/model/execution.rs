//! Building a recorded execution and having it judged.

use super::MAX_EVENTS;
use super::event::{Covers, DomainOperation, Event, EventId, LocationSet};
use super::judgement::{Judgement, Relations};
use super::matrix::{Matrix, Row, Wide};
use super::options::ModelOptions;
use super::pre_execution::PreExecution;
use super::verdict::{Candidate, Verdict};

/// Why an execution cannot be judged: it is not a well-formed execution of the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// More events than the engine takes.
    #[error("an execution of {0} events: the axiomatic engine takes {MAX_EVENTS}")]
    TooManyEvents(usize),
    /// A pair names an event that does not exist.
    #[error("{relation} names event {event}, the execution has {events}")]
    NoSuchEvent {
        /// The relation that names it.
        relation: &'static str,
        /// The event named.
        event: EventId,
        /// How many there are.
        events: usize,
    },
    /// Reads-from must lead from a write to a read of a common location.
    #[error("event {read} cannot read from event {write}: {why}")]
    ReadsFrom {
        /// The write that is read from.
        write: EventId,
        /// The read that cannot have its value.
        read: EventId,
        /// What is wrong.
        why: &'static str,
    },
    /// A flag that has no meaning on this kind of event.
    #[error("event {event}: {why}")]
    Event {
        /// The event that no instruction can make.
        event: EventId,
        /// What is wrong.
        why: &'static str,
    },
}

/// A recorded execution: events, who read from whom, and the order of atomic writes.
///
/// ```
/// use pellucid_memory::model::{Agent, Event, Execution, LocationSet, ModelOptions};
/// use pellucid_memory::scope::StorageClasses;
///
/// let mut execution = Execution::new();
/// let x = LocationSet::one(0);
/// let write = execution.push(Event::write(Agent::invocation(0, 0, 0, 0), x, 0, StorageClasses::UNIFORM));
/// let read = execution.push(Event::read(Agent::invocation(1, 0, 0, 0), x, 0, StorageClasses::UNIFORM));
/// execution.reads_from(write, read);
/// let judgement = execution.judge(&ModelOptions::default())?;
/// assert!(judgement.consistent());
/// assert_eq!(judgement.races().len(), 1);
/// # Ok::<(), pellucid_memory::model::ModelError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Execution {
    events: Vec<Event>,
    system_synchronizes: Vec<(EventId, EventId)>,
    reads_from: Vec<(EventId, EventId, Option<LocationSet>)>,
    modification: Option<Vec<EventId>>,
}

impl Execution {
    /// An execution without events.
    pub fn new() -> Execution {
        Execution::default()
    }

    /// Appends an event. Events of one agent must be appended in program order.
    pub fn push(&mut self, event: Event) -> EventId {
        self.events.push(event);
        (self.events.len() - 1) as EventId
    }

    /// The events, by index.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// To correct an event after appending it.
    pub fn event_mut(&mut self, event: EventId) -> Option<&mut Event> {
        self.events.get_mut(event as usize)
    }

    /// The first operation system-synchronizes-with the second (a direct pair; the engine closes the
    /// relation).
    pub fn system_synchronizes(&mut self, first: EventId, second: EventId) {
        self.system_synchronizes.push((first, second));
    }

    /// `read` returns what `write` wrote, at every location that both access. A read at a location without a
    /// reads-from returns the initial value there.
    pub fn reads_from(&mut self, write: EventId, read: EventId) {
        self.reads_from.push((write, read, None));
    }

    /// `read` returns what `write` wrote at these locations only.
    pub fn reads_from_at(&mut self, write: EventId, read: EventId, locations: LocationSet) {
        self.reads_from.push((write, read, Some(locations)));
    }

    /// The order of all atomic writes, from which scoped modification order is taken. Without it, the order
    /// of the events is used.
    pub fn modification_order(&mut self, writes: Vec<EventId>) {
        self.modification = Some(writes);
    }

    /// Evaluates every relation.
    pub fn judge(&self, options: &ModelOptions) -> Result<Judgement, ModelError> {
        self.validate()?;
        let judged = match self.events.len() {
            0..=64 => self.judge_with::<u64>(options),
            65..=128 => self.judge_with::<Wide<2>>(options),
            129..=256 => self.judge_with::<Wide<4>>(options),
            257..=512 => self.judge_with::<Wide<8>>(options),
            _ => self.judge_with::<Wide<16>>(options),
        };
        Ok(Judgement::new(judged, self.events.len()))
    }

    fn judge_with<R: Row + Send + Sync + 'static>(
        &self,
        options: &ModelOptions,
    ) -> Box<dyn Relations + Send + Sync> {
        let (program, candidate) = self.prepare::<R>(options);
        let verdict = Verdict::new(&program, &candidate);
        Box::new((program, candidate, verdict))
    }

    pub(crate) fn prepare<R: Row>(&self, options: &ModelOptions) -> (PreExecution<R>, Candidate<R>) {
        let n = self.events.len();
        let mut synchronizes = Matrix::empty(n);
        for (a, b) in &self.system_synchronizes {
            synchronizes.add(*a as usize, *b as usize);
        }
        let events = self.events.iter().map(Event::normalised).collect();
        let places: Vec<u32> =
            self.reads_from.iter().filter_map(|(_, _, at)| *at).flat_map(|at| [at.first, at.end()]).collect();
        let program = PreExecution::<R>::divided(events, synchronizes, *options, &places);
        let mut candidate = Candidate::undecided(&program);
        let mut place = vec![usize::MAX; n];
        match &self.modification {
            None => place.iter_mut().enumerate().for_each(|(index, place)| *place = index),
            Some(order) => {
                order.iter().enumerate().for_each(|(index, event)| place[*event as usize] = index);
            }
        }
        let atomic_writes = program.atomic & program.write;
        for a in atomic_writes.members() {
            for b in (program.mutually_ordered.row(a) & atomic_writes).members() {
                if (place[a], a) < (place[b], b) {
                    candidate.modification.add(a, b);
                }
            }
        }
        if program.undivided {
            candidate.initial[0] = program.read;
            for (write, read, _) in &self.reads_from {
                candidate.reads_from[0].add(*write as usize, *read as usize);
                candidate.initial[0] &= !R::bit(*read as usize);
            }
        } else {
            for (index, cell) in program.cells.iter().enumerate() {
                candidate.initial[index] = cell.accesses & program.read;
                for (write, read, at) in &self.reads_from {
                    let (w, r) = (*write as usize, *read as usize);
                    let here = at.is_none_or(|at| at.first <= cell.first && cell.first < at.end());
                    if here && cell.accesses.has(w) && cell.accesses.has(r) {
                        candidate.reads_from[index].add(w, r);
                        candidate.initial[index] &= !R::bit(r);
                    }
                }
            }
        }
        (program, candidate)
    }

    fn validate(&self) -> Result<(), ModelError> {
        let events = self.events.len();
        if events > MAX_EVENTS {
            return Err(ModelError::TooManyEvents(events));
        }
        let known = |relation, event: EventId| match self.events.get(event as usize) {
            Some(_) => Ok(()),
            None => Err(ModelError::NoSuchEvent { relation, event, events }),
        };
        for (a, b) in &self.system_synchronizes {
            known("system-synchronizes-with", *a)?;
            known("system-synchronizes-with", *b)?;
        }
        for event in self.modification.iter().flatten() {
            known("scoped modification order", *event)?;
        }
        for (write, read, _) in &self.reads_from {
            known("reads-from", *write)?;
            known("reads-from", *read)?;
            let (w, r) = (&self.events[*write as usize], &self.events[*read as usize]);
            let why = match (w.locations, r.locations) {
                _ if !w.write => "the first is not a write",
                _ if !r.read => "the second is not a read",
                (Some(a), Some(b)) if a.overlaps(b) => continue,
                _ => "they access no common location",
            };
            return Err(ModelError::ReadsFrom { write: *write, read: *read, why });
        }
        for (index, event) in self.events.iter().enumerate() {
            if let Some(why) = malformed(event) {
                return Err(ModelError::Event { event: index as EventId, why });
            }
            let (DomainOperation::Availability(_, Covers::Events(covered))
            | DomainOperation::Visibility(_, Covers::Events(covered))) = (match &event.domain {
                Some(operation) => operation,
                None => continue,
            })
            else {
                continue;
            };
            for covered in covered {
                known("the accesses that a domain operation includes", *covered)?;
            }
        }
        Ok(())
    }
}

fn malformed(event: &Event) -> Option<&'static str> {
    let access = event.read || event.write;
    if access != event.locations.is_some() {
        return Some("an access has locations, and only an access has");
    }
    if event.locations.is_some_and(|set| set.count == 0) {
        return Some("an access of no location");
    }
    if access && (event.fence || event.barrier.is_some() || event.domain.is_some()) {
        return Some("an access is neither a barrier nor a domain operation");
    }
    if access && event.storage_class.bits().count_ones() != 1 {
        return Some("an access has exactly one storage class");
    }
    if event.read && event.write && !event.atomic {
        return Some("a read-modify-write is atomic");
    }
    if event.atomic && !access {
        return Some("an atomic operation reads or writes");
    }
    let barrier = event.fence || event.barrier.is_some();
    if event.semantics.acquire && !(barrier || (event.atomic && event.read)) {
        return Some("acquire is for atomic reads and barriers");
    }
    if event.semantics.release && !(barrier || (event.atomic && event.write)) {
        return Some("release is for atomic writes and barriers");
    }
    None
}
