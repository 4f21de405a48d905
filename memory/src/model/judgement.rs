//! The public result: relations by name, consistency and races.

use std::fmt;
use std::str::FromStr;

use super::event::EventId;
use super::location::{alloy_chains, alloy_includes, available, visible};
use super::matrix::{Matrix, Row};
use super::pre_execution::{LEVELS, PreExecution};
use super::relation::Relation;
use super::verdict::{Candidate, Verdict};
use strum::{Display, IntoStaticStr, VariantArray};

/// The relations of the specification's memory model, by its names, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum RelationName {
    /// *Program-Order*: pairs of one agent.
    ProgramOrder,
    /// Accesses to overlapping sets of memory locations.
    SameLocation,
    /// *Reference*: both access memory through the same reference.
    SameReference,
    /// Each in the instance of the other's memory scope.
    InScope,
    /// *Atomic Operation*: mutually-ordered.
    MutuallyOrdered,
    /// *System-Synchronizes-With*, direct pairs.
    SystemSynchronizesWith,
    /// Arrivals of a control barrier before the waits of the same instance.
    ControlBarrier,
    /// *Reads-from*: a write and who reads its value.
    ReadsFrom,
    /// *From-reads*: a read and the writes after the one that it reads from.
    FromReads,
    /// *Scoped Modification Order*: of mutually-ordered atomic writes.
    ScopedModificationOrder,
    /// *Release Sequence*: its head before each member.
    ReleaseSequence,
    /// The same, headed by any atomic write.
    HypotheticalReleaseSequence,
    /// *Synchronizes-With*: releases and what acquires them.
    SynchronizesWith,
    /// *Inter-Thread-Happens-Before*, for some set of storage classes.
    InterThreadHappensBefore,
    /// *Happens-Before*: by program order or between agents.
    HappensBefore,
    /// Which operations an availability or visibility operation includes.
    Includes,
    /// Availability chains that end in the subgroup instance domain, first element before last.
    #[strum(serialize = "availability-chain-subgroup")]
    AvailableSubgroup,
    /// ... the workgroup instance domain.
    #[strum(serialize = "availability-chain-workgroup")]
    AvailableWorkgroup,
    /// ... the queue family instance domain.
    #[strum(serialize = "availability-chain-queue-family")]
    AvailableQueueFamily,
    /// ... the shader domain.
    #[strum(serialize = "availability-chain-shader")]
    AvailableShader,
    /// Visibility chains from the subgroup instance domain, first element before last.
    #[strum(serialize = "visibility-chain-subgroup")]
    VisibleSubgroup,
    /// ... the workgroup instance domain.
    #[strum(serialize = "visibility-chain-workgroup")]
    VisibleWorkgroup,
    /// ... the queue family instance domain.
    #[strum(serialize = "visibility-chain-queue-family")]
    VisibleQueueFamily,
    /// ... the shader domain.
    #[strum(serialize = "visibility-chain-shader")]
    VisibleShader,
    /// *Location-Ordered*, for every common location.
    LocationOrdered,
    /// *Data Race*, both directions.
    DataRace,
    /// *Visible-To*: a write and the reads that it is visible to.
    VisibleTo,
}

impl RelationName {
    /// The specification's name, as the command line spells it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A name that no relation has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no relation is called `{0}`; the relations are {names}", names = RelationName::VARIANTS.iter().map(|of| of.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownRelation(pub String);

impl FromStr for RelationName {
    type Err = UnknownRelation;

    fn from_str(name: &str) -> Result<RelationName, UnknownRelation> {
        RelationName::VARIANTS
            .iter()
            .copied()
            .find(|relation| relation.name() == name)
            .ok_or_else(|| UnknownRelation(name.to_owned()))
    }
}

/// A data race: two operations without a location-ordered relation at some common location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Race {
    /// The event with the lower index.
    pub first: EventId,
    /// The other access: of the two one at least writes.
    pub second: EventId,
}

/// Why the specification does not allow an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inconsistency {
    /// *Acyclicity*: a cycle through location-ordered, scoped modification order, reads-from and from-reads,
    /// in order.
    Cycle(Vec<(EventId, RelationName, EventId)>),
    /// *Visible-To*: a plain read returns a write that another write, location-ordered between them, shadows.
    Shadowed {
        /// The shadowed write.
        write: EventId,
        /// The read that takes its value from it.
        read: EventId,
    },
}

/// Every relation of the model for one execution.
pub struct Judgement {
    judged: Box<dyn Relations + Send + Sync>,
    events: usize,
}

impl fmt::Debug for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judgement")
            .field("events", &self.events)
            .field("consistent", &self.consistent())
            .field("races", &self.races())
            .finish()
    }
}

impl Judgement {
    pub(super) fn new(judged: Box<dyn Relations + Send + Sync>, events: usize) -> Judgement {
        Judgement { judged, events }
    }

    /// The pairs of a relation of the execution that was judged.
    pub fn relation(&self, name: RelationName) -> Relation {
        self.judged.relation(name)
    }

    /// Whether the first is location-ordered before the second at every common location.
    pub fn location_ordered(&self, first: EventId, second: EventId) -> bool {
        self.judged.ordered(first as usize, second as usize)
    }

    /// Whether the first happens before the second.
    pub fn happens_before(&self, first: EventId, second: EventId) -> bool {
        self.judged.happens_before(first as usize, second as usize)
    }

    /// For a device's write: by level of scope (subgroup to device) an operation that makes it available to
    /// the agent's instance of that scope.
    pub fn available(&self, write: EventId) -> [Option<EventId>; LEVELS] {
        self.judged.available(write as usize)
    }

    /// For a device's read: by level of scope an operation by which what is available in the agent's instance
    /// of that scope becomes visible to it.
    pub fn visible(&self, read: EventId) -> [Option<EventId>; LEVELS] {
        self.judged.visible(read as usize)
    }

    /// Whether the two race.
    pub fn race(&self, first: EventId, second: EventId) -> bool {
        self.relation(RelationName::DataRace).contains(first, second)
    }

    /// Every data race, by its first event.
    pub fn races(&self) -> Vec<Race> {
        self.relation(RelationName::DataRace)
            .pairs()
            .filter(|(a, b)| a < b)
            .map(|(first, second)| Race { first, second })
            .collect()
    }

    /// Whether the specification allows the execution.
    pub fn consistent(&self) -> bool {
        self.judged.consistent()
    }

    /// What makes the execution inconsistent, if it is.
    pub fn inconsistency(&self) -> Option<Inconsistency> {
        self.judged.inconsistency()
    }
}

/// The relations of a judged execution, in some row width.
pub(super) trait Relations {
    fn relation(&self, name: RelationName) -> Relation;
    fn ordered(&self, first: usize, second: usize) -> bool;
    fn happens_before(&self, first: usize, second: usize) -> bool;
    fn available(&self, write: usize) -> [Option<EventId>; LEVELS];
    fn visible(&self, read: usize) -> [Option<EventId>; LEVELS];
    fn consistent(&self) -> bool;
    fn inconsistency(&self) -> Option<Inconsistency>;
}

fn public<R: Row>(matrix: &Matrix<R>) -> Relation {
    let mut relation = Relation::new(matrix.len());
    for a in 0..matrix.len() {
        relation.set_row(a, matrix.row(a).words());
    }
    relation
}

/// The relation `name` of a candidate and its verdict.
pub(crate) fn relation<R: Row>(
    program: &PreExecution<R>,
    candidate: &Candidate<R>,
    verdict: &Verdict<R>,
    name: RelationName,
) -> Relation {
    let chain = |level: usize, visible: bool| {
        let includes = alloy_includes(program, &program.overlap);
        let chains = alloy_chains(program, &verdict.order.happens_before, &includes);
        public(if visible { &chains.visible[level] } else { &chains.available[level] })
    };
    match name {
        RelationName::ProgramOrder => public(&program.program_order),
        RelationName::SameLocation => public(&program.overlap),
        RelationName::SameReference => public(&program.same_reference),
        RelationName::InScope => public(&program.in_scope),
        RelationName::MutuallyOrdered => public(&program.mutually_ordered),
        RelationName::SystemSynchronizesWith => public(&program.system_synchronizes),
        RelationName::ControlBarrier => public(&program.barrier_order),
        RelationName::ReadsFrom => public(&candidate.reads_from_anywhere(program)),
        RelationName::FromReads => public(&verdict.from_reads),
        RelationName::ScopedModificationOrder => public(&candidate.modification),
        RelationName::ReleaseSequence => public(&verdict.order.release_sequence),
        RelationName::HypotheticalReleaseSequence => public(&verdict.order.hypothetical_sequence),
        RelationName::SynchronizesWith => public(&verdict.order.synchronizes),
        RelationName::InterThreadHappensBefore => {
            let mut union = program.system_synchronized.clone();
            verdict.order.inter_thread.iter().for_each(|order| union.unite(order));
            public(&union)
        }
        RelationName::HappensBefore => public(&verdict.order.happens_before),
        RelationName::Includes => public(&alloy_includes(program, &program.overlap)),
        RelationName::AvailableSubgroup => chain(0, false),
        RelationName::AvailableWorkgroup => chain(1, false),
        RelationName::AvailableQueueFamily => chain(2, false),
        RelationName::AvailableShader => chain(3, false),
        RelationName::VisibleSubgroup => chain(0, true),
        RelationName::VisibleWorkgroup => chain(1, true),
        RelationName::VisibleQueueFamily => chain(2, true),
        RelationName::VisibleShader => chain(3, true),
        RelationName::LocationOrdered => public(&verdict.location_ordered),
        RelationName::DataRace => public(&verdict.races(program)),
        RelationName::VisibleTo => public(&verdict.visible_to(program)),
    }
}

impl<R: Row> Relations for (PreExecution<R>, Candidate<R>, Verdict<R>) {
    fn relation(&self, name: RelationName) -> Relation {
        relation(&self.0, &self.1, &self.2, name)
    }

    fn ordered(&self, first: usize, second: usize) -> bool {
        let n = self.0.len();
        first < n && second < n && self.2.location_ordered.has(first, second)
    }

    fn happens_before(&self, first: usize, second: usize) -> bool {
        let n = self.0.len();
        first < n && second < n && self.2.order.happens_before.has(first, second)
    }

    fn available(&self, write: usize) -> [Option<EventId>; LEVELS] {
        if write < self.0.len() {
            available(&self.0, &self.2.order.happens_before, write)
        } else {
            [None; LEVELS]
        }
    }

    fn visible(&self, read: usize) -> [Option<EventId>; LEVELS] {
        if read < self.0.len() {
            visible(&self.0, &self.2.order.happens_before, read)
        } else {
            [None; LEVELS]
        }
    }

    fn consistent(&self) -> bool {
        self.2.consistent()
    }

    fn inconsistency(&self) -> Option<Inconsistency> {
        let (program, candidate, verdict) = self;
        if let Some(cell) = verdict.cycle {
            return Some(Inconsistency::Cycle(cycle(program, candidate, verdict, cell)));
        }
        let (write, read) = verdict.shadowed?;
        Some(Inconsistency::Shadowed { write: write as EventId, read: read as EventId })
    }
}

/// A shortest cycle through the four relations at one cell.
fn cycle<R: Row>(
    program: &PreExecution<R>,
    candidate: &Candidate<R>,
    verdict: &Verdict<R>,
    cell: usize,
) -> Vec<(EventId, RelationName, EventId)> {
    let ordered = if program.undivided { &verdict.location_ordered } else { &verdict.per_cell[cell] };
    let relations = [
        (RelationName::LocationOrdered, ordered),
        (RelationName::ReadsFrom, &candidate.reads_from[cell]),
        (RelationName::FromReads, &verdict.from_reads),
        (RelationName::ScopedModificationOrder, &candidate.modification),
    ];
    let n = program.len();
    let step = |a: usize| {
        let mut row = R::default();
        relations.iter().for_each(|(_, relation)| row |= relation.row(a));
        row
    };
    let mut best: Vec<usize> = Vec::new();
    for start in 0..n {
        // Breadth-first search for the way back to `start`.
        let mut parent = vec![usize::MAX; n];
        let mut queue = std::collections::VecDeque::from([start]);
        'search: while let Some(a) = queue.pop_front() {
            for b in step(a).members() {
                if b == start {
                    let mut path = vec![a];
                    while *path.last().unwrap_or(&start) != start {
                        path.push(parent[path[path.len() - 1]]);
                    }
                    path.reverse();
                    if best.is_empty() || path.len() < best.len() {
                        best = path;
                    }
                    break 'search;
                }
                if parent[b] == usize::MAX {
                    parent[b] = a;
                    queue.push_back(b);
                }
            }
        }
    }
    (0..best.len())
        .map(|index| {
            let (a, b) = (best[index], best[(index + 1) % best.len()]);
            let name = relations
                .iter()
                .find(|(_, relation)| relation.has(a, b))
                .map_or(RelationName::LocationOrdered, |(name, _)| *name);
            (a as EventId, name, b as EventId)
        })
        .collect()
}
