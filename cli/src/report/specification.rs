//! What the Vulkan specification says about findings, in short, and where it says so.

use vulkan_pellucid::report::note::{FixKind, NoteKind};

/// What is said, and the section.
pub type Said = (&'static str, &'static str);

/// A command's access.
pub const DEPENDENCIES: Said = (
    "Commands may overlap and be reordered. A dependency orders them by the stages and accesses that both of its scopes name, for the memory that it covers.",
    "Synchronization and Cache Control: Execution and Memory Dependencies",
);

const BINDINGS: Said = (
    "A sparse binding is a queue operation, and no command: its place among submissions orders it with nothing, on its own queue neither. It follows the semaphores that its batch waits for and what the host knew, and is followed by those who wait for what the batch signals.",
    "Sparse Resources: Binding Resource Memory; Sparse Memory Binding Functions",
);

/// A call of the host.
pub const HOST: Said = (
    "What the host has written before it hands in work is visible to that work, if the memory is coherent or was flushed. What the device has done is known to the host only when it has waited: for a fence, a timeline semaphore, an event, or until a queue or the device is idle.",
    "Synchronization and Cache Control: Host Write Ordering Guarantees; Fences; Wait Idle Operations",
);

/// To availability.
pub const AVAILABLE: Said = (
    "An availability operation makes the writes that happen before it available to a memory domain: that of its scope, or all the device's. Only from there can they be made visible to others.",
    "Memory Model: Availability and Visibility",
);

/// What the caches of a machine are in the model's terms.
pub const CACHES: Said = (
    "The model knows no caches, but what they do: an availability operation writes back what a cache holds, so that others can get it; a visibility operation drops what a cache has kept, so that the next read gets what is there. What neither has reached, a read may or may not return.",
    "Memory Model: Availability and Visibility",
);

/// To visibility.
pub const VISIBLE: Said = (
    "A visibility operation makes what is available in a memory domain visible to the agent that performs it, through its references. Before that a read may return an older value.",
    "Memory Model: Availability and Visibility",
);

/// A control barrier of a shader.
pub const CONTROL_BARRIER: Said = (
    "A control barrier waits until all invocations of its execution scope have arrived. Memory it orders only as its memory semantics say: acquire and release make it synchronize with the others, for the storage classes and the scope that it names; without MakeAvailable and MakeVisible it makes nothing available or visible.",
    "Memory Model: Barriers; Synchronizes-With; Availability and Visibility Semantics",
);

/// A memory barrier of a shader.
pub const MEMORY_BARRIER: Said = (
    "A memory barrier orders its own agent's accesses around it, as its memory semantics say. It synchronizes with another one only through an atomic between them that reads what the other side wrote.",
    "Memory Model: Barriers; Synchronizes-With",
);

/// A barrier between commands.
pub const PIPELINE_BARRIER: Said = (
    "A pipeline barrier has two halves: what is in its first scope (srcStageMask, srcAccessMask) happens before, and is made available to, what is in its second (dstStageMask, dstAccessMask), where it is made visible. A stage or access that a mask does not name, or memory that no memory barrier covers, is not ordered by it.",
    "Synchronization and Cache Control: Pipeline Barriers; Access Scopes",
);

const HAPPENS_BEFORE: Said = (
    "One operation happens before another if program order, synchronizes-with and dependencies between commands lead from the one to the other. That alone makes no write available or visible.",
    "Memory Model: Happens-Before",
);

const LOCATION_ORDERED: Said = (
    "Two accesses to a location, of which one is a write and not both are atomic, are a data race unless one is location-ordered before the other: it happens before it, and is available and visible to it as far as the two need that.",
    "Memory Model: Location-Ordered; Data Race",
);

const REFERENCE: Said = (
    "Availability and visibility hold for a reference: a variable, a descriptor or a physical pointer. Accesses to the same memory through another one need an operation for it, too.",
    "Memory Model: Reference",
);

const SCOPE: Said = (
    "Two operations synchronize, and availability and visibility reach the other agent, only where each of the two is inside the scope that the other one names.",
    "Memory Model: Scope",
);

const SEMANTICS: Said = (
    "The memory semantics of a barrier or atomic order accesses to the storage classes that they name, and to no others.",
    "Memory Model: Memory Semantics",
);

const PRIVATE: Said = (
    "An access that is not non-private takes no part in availability and visibility: nothing orders it against other agents.",
    "Memory Model: Private vs. Non-Private",
);

const ATOMICS: Said = (
    "Atomics that are mutually ordered do not race: each one's scope includes the other's agent, and they access the same location through the same reference.",
    "Memory Model: Scoped Modification Order",
);

/// An invocation that waits.
pub const PROGRESS: Said = (
    "An invocation that waits for another one needs a guarantee that the other one makes progress. Where nobody can change what all wait for, the dispatch never ends.",
    "Shaders: Shader Execution; the progress models of docs/checks.md",
);

const HOST_ACCESS: Said = (
    "What the device writes reaches the host by a memory dependency to the host and a wait; memory that is not coherent is flushed and invalidated as well.",
    "Synchronization and Cache Control: Host Write Ordering Guarantees; Memory Allocation: Host Access to Device Memory Objects",
);

/// A lane of a picture.
pub const AGENT: Said = (
    "An agent is what performs memory operations: an invocation, a command, the host.",
    "Memory Model: Agent",
);

/// The rule that a finding of this id is about, and the section of the specification that has it.
pub fn of_finding(id: &str) -> Option<Said> {
    Some(match id {
        "race-not-available" => AVAILABLE,
        "race-not-visible" => VISIBLE,
        "race-scope" => SCOPE,
        "race-storage-class" => SEMANTICS,
        "race-reference" => REFERENCE,
        "race-private" => PRIVATE,
        "livelock" | "barrier-divergence" => PROGRESS,
        id if id.starts_with("race-") => LOCATION_ORDERED,
        "hazard-sparse-binding" => BINDINGS,
        id if id.starts_with("hazard-") => DEPENDENCIES,
        id if id.starts_with("host-") => HOST_ACCESS,
        _ => return None,
    })
}

/// To a note: what was right, or what is missing. Other notes have nothing to be explained.
pub fn of_note(kind: NoteKind) -> Option<Said> {
    use NoteKind::*;
    Some(match kind {
        HappensBefore | MissingHappensBefore => HAPPENS_BEFORE,
        MadeAvailable | MissingAvailability => AVAILABLE,
        MadeVisible | MissingVisibility => VISIBLE,
        SameReference | MissingReference => REFERENCE,
        BothAtomic | MissingMutualScope => ATOMICS,
        MissingNonPrivate => PRIVATE,
        MissingScope => SCOPE,
        MissingStorageClass => SEMANTICS,
        MissingExecutionDependency | MissingMemoryDependency => DEPENDENCIES,
        MissingHostDependency | MissingFlush | MissingInvalidate => HOST_ACCESS,
        MissingCompletion => HOST,
        ClosestPair => HAPPENS_BEFORE,
        SameValue => LOCATION_ORDERED,
        Caches => CACHES,
        Waits | MoreWait | Absent => PROGRESS,
        Access | Place | Bounds | PushConstants | Values | MemoryModel | Caller | Layout | Owner | Call
        | Rule | Objects | Rehearsal => return None,
    })
}

/// To a line of help: what it changes.
pub fn of_fix(kind: FixKind) -> Option<Said> {
    use FixKind::*;
    Some(match kind {
        Availability => AVAILABLE,
        Visibility => VISIBLE,
        Scope => SCOPE,
        StorageClasses => SEMANTICS,
        Synchronization => HAPPENS_BEFORE,
        NonPrivate => PRIVATE,
        ControlBarrier => CONTROL_BARRIER,
        MemoryBarrier => MEMORY_BARRIER,
        LaterDispatch | PipelineBarrier => PIPELINE_BARRIER,
        Atomic => ATOMICS,
        OneWriter => LOCATION_ORDERED,
        OneReference => REFERENCE,
        Semaphore => DEPENDENCIES,
        Flush | Invalidate => HOST_ACCESS,
        Wait => HOST,
        Coherent | Signal | Layout | Ownership | ValidUsage => return None,
    })
}

/// To an access: whether it writes, and is an atomic.
pub fn of_access(writes: bool, atomic: bool) -> Said {
    match (writes, atomic) {
        (_, true) => ATOMICS,
        (true, false) => (
            "A write is seen by its own agent at once, and by others for certain only when it is available and visible to them.",
            "Memory Model: Availability and Visibility",
        ),
        (false, false) => (
            "A read returns a write that is visible to it, or races with one; what an ordered, newer write hides it does not return.",
            "Memory Model: Visible-To",
        ),
    }
}
