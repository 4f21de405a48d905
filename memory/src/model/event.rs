//! Events: the operations of one recorded execution (Vulkan memory model, *Agent* to *Memory Semantics*).

use crate::access::AccessFlags;
use crate::scope::{Scope, Semantics, StorageClasses};

/// Index of an event within its [`super::Execution`].
pub type EventId = u32;

/// One memory location, or one group of locations that every event accesses either wholly or not at all.
pub type Location = u32;

/// A reference: equal numbers are the same reference (*Reference*).
pub type ReferenceId = u32;

/// Who executes an operation, with the scope instances that the agent belongs to.
///
/// Instance numbers are compared across the whole execution: subgroup 0 of workgroup 1 needs another number
/// than subgroup 0 of workgroup 0. An agent that is not a shader invocation (a host thread, a fixed-function
/// stage) takes instance numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Agent {
    /// The invocation, host thread or queue operation. Equal numbers are the same agent.
    pub thread: u32,
    /// The subgroup instance.
    pub subgroup: u32,
    /// The workgroup instance.
    pub workgroup: u32,
    /// The queue family instance.
    pub queue_family: u32,
    /// Whether the agent executes on the host.
    pub host: bool,
}

impl Agent {
    /// A shader invocation with its scope instances.
    pub fn invocation(thread: u32, subgroup: u32, workgroup: u32, queue_family: u32) -> Agent {
        Agent { thread, subgroup, workgroup, queue_family, host: false }
    }

    /// An agent that shares no scope instance with others: a host thread or a fixed-function stage. `thread`
    /// must be unused as an instance number.
    pub fn alone(thread: u32, host: bool) -> Agent {
        Agent { thread, subgroup: thread, workgroup: thread, queue_family: thread, host }
    }
}

/// The set of memory locations that an access reads or writes: `first .. first + count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationSet {
    /// The first location.
    pub first: Location,
    /// How many; at least 1.
    pub count: u32,
}

impl LocationSet {
    /// One location.
    pub fn one(first: Location) -> LocationSet {
        LocationSet { first, count: 1 }
    }

    /// Whether the two sets share a location.
    pub fn overlaps(self, other: LocationSet) -> bool {
        self.first < other.end() && other.first < self.end()
    }

    /// The location after the last one.
    pub fn end(self) -> u32 {
        self.first.saturating_add(self.count)
    }
}

/// Membership in a dynamic instance of a control barrier.
///
/// An ordinary control barrier both arrives and waits. A split barrier's arrival only arrives and its wait
/// only waits. A member of a quorum barrier that was not among the arrivals that released it waits only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierInstance {
    /// Equal numbers are the same dynamic instance.
    pub instance: u32,
    /// The execution scope.
    pub execution: Scope,
    /// Others may wait for this operation.
    pub arrives: bool,
    /// This operation waits for others.
    pub waits: bool,
}

/// A memory domain that only API-level operations reach (*Availability and Visibility*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Accessible by all agents of the device.
    Device,
    /// Accessible by host agents.
    Host,
}

/// Which accesses an API-level availability or visibility operation includes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Covers {
    /// Of every kind, on all memory.
    #[default]
    All,
    /// Those whose locations lie within one of these sets.
    Locations(Vec<LocationSet>),
    /// Exactly these accesses: how stage and access masks are expressed.
    Events(Vec<EventId>),
}

/// An API-level availability, visibility or memory domain operation (*Availability, Visibility, and Domain
/// Operations*).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DomainOperation {
    /// Makes the writes that it covers available to the domain (`avdevice` in litmus tests).
    Availability(Domain, Covers),
    /// Makes what is available in the domain visible to the accesses that it covers (`visdevice`).
    Visibility(Domain, Covers),
    /// Makes what is available in the first domain available in the second.
    Transfer(Domain, Domain),
}

/// One operation. Start from [`Event::read`] and its siblings and set what differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who executes it. Events of one agent are in program order by their index.
    pub agent: Agent,
    /// It reads memory.
    pub read: bool,
    /// It writes memory. A read-modify-write is one event that does both.
    pub write: bool,
    /// It is a memory barrier (a control barrier with acquire or release is one too).
    pub fence: bool,
    /// It is an atomic operation.
    pub atomic: bool,
    /// It is a control barrier.
    pub barrier: Option<BarrierInstance>,
    /// It is an API-level availability, visibility or domain operation.
    pub domain: Option<DomainOperation>,
    /// The locations accessed; `None` for what does not access memory.
    pub locations: Option<LocationSet>,
    /// The reference used; meaningless without `locations`.
    pub reference: ReferenceId,
    /// The storage class accessed: exactly one bit for an access, empty otherwise.
    pub storage_class: StorageClasses,
    /// Acquire, release, the storage classes in the semantics, MakeAvailable and MakeVisible.
    pub semantics: Semantics,
    /// The scope of the atomic, of the barrier, or of the per-instruction availability or visibility.
    pub scope: Scope,
    /// MakePointerAvailable / MakeTexelAvailable. Implied for atomic writes. On the host: the write is its
    /// own availability operation (host-coherent memory).
    pub available: bool,
    /// MakePointerVisible / MakeTexelVisible. Implied for atomic reads. On the host: the read is its own
    /// visibility operation.
    pub visible: bool,
    /// NonPrivatePointer / NonPrivateTexel. Implied for atomics and by `available` and `visible`.
    pub non_private: bool,
}

impl Event {
    fn blank(agent: Agent) -> Event {
        Event {
            agent,
            read: false,
            write: false,
            fence: false,
            atomic: false,
            barrier: None,
            domain: None,
            locations: None,
            reference: 0,
            storage_class: StorageClasses::empty(),
            semantics: Semantics::RELAXED,
            scope: Scope::Invocation,
            available: false,
            visible: false,
            non_private: false,
        }
    }

    fn access(agent: Agent, locations: LocationSet, reference: ReferenceId, class: StorageClasses) -> Event {
        Event { locations: Some(locations), reference, storage_class: class, ..Event::blank(agent) }
    }

    /// A private, non-atomic read.
    pub fn read(
        agent: Agent,
        locations: LocationSet,
        reference: ReferenceId,
        class: StorageClasses,
    ) -> Event {
        Event { read: true, ..Event::access(agent, locations, reference, class) }
    }

    /// A private, non-atomic write.
    pub fn write(
        agent: Agent,
        locations: LocationSet,
        reference: ReferenceId,
        class: StorageClasses,
    ) -> Event {
        Event { write: true, ..Event::access(agent, locations, reference, class) }
    }

    /// Turns an access into an atomic operation with this scope and these semantics.
    #[must_use]
    pub fn atomic(mut self, scope: Scope, semantics: Semantics) -> Event {
        self.atomic = true;
        self.scope = scope;
        self.semantics = semantics;
        self
    }

    /// A memory barrier.
    pub fn fence(agent: Agent, scope: Scope, semantics: Semantics) -> Event {
        Event { fence: true, scope, semantics, ..Event::blank(agent) }
    }

    /// A control barrier, which is a memory barrier too if its semantics acquire or release.
    pub fn barrier(agent: Agent, barrier: BarrierInstance, scope: Scope, semantics: Semantics) -> Event {
        Event { barrier: Some(barrier), scope, semantics, ..Event::blank(agent) }.normalised()
    }

    /// An API-level availability, visibility or domain operation.
    pub fn domain(agent: Agent, operation: DomainOperation) -> Event {
        Event { domain: Some(operation), ..Event::blank(agent) }
    }

    /// An operation without effect on memory (an API call, a queue operation that accesses nothing): it only
    /// carries system-synchronizes-with.
    pub fn other(agent: Agent) -> Event {
        Event::blank(agent)
    }

    /// Adds what the flags imply: those of an access ([`AccessFlags::with_implied`]), and that a control
    /// barrier which acquires or releases is a memory barrier, too.
    pub(crate) fn normalised(&self) -> Event {
        let Event { read, write, atomic, available, visible, non_private, semantics, .. } = *self;
        let flags = AccessFlags { available, visible, non_private }.with_implied(read, write, atomic);
        Event {
            available: flags.available,
            visible: flags.visible,
            non_private: flags.non_private,
            fence: self.fence || (self.barrier.is_some() && (semantics.acquire || semantics.release)),
            ..self.clone()
        }
    }
}
