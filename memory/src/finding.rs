//! Findings as typed data. Text, JSON and debug-utils messages are made of them elsewhere, in one place each.

use crate::access::{AtomicOp, Reference, Site};
use crate::agent::Invocation;
use crate::around::Around;
use crate::machine::Cached;
use crate::outline::BarrierPlace;
use crate::scope::{Scope, StorageClasses};
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

/// The stable identity of a kind of finding.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[allow(missing_docs)]
pub enum FindingId {
    RaceUnordered,
    RacePrivate,
    RaceNotAvailable,
    RaceNotVisible,
    RaceScope,
    RaceStorageClass,
    RaceReference,
    RaceMixedScopeAtomics,
    RaceSameInvocation,
    RaceSameSubgroup,
    HazardReadAfterWrite,
    HazardWriteAfterRead,
    HazardWriteAfterWrite,
    HazardReadRacingWrite,
    HazardWriteRacingWrite,
    HazardWriteRacingRead,
    HazardLayoutTransition,
    HazardSparseBinding,
    HostNotFlushed,
    HostNotInvalidated,
    HostNoBarrier,
    HostInFlight,
    ImageLayout,
    QueueFamilyOwnership,
    QueueFamilyNotReleased,
    UninitialisedRead,
    OutOfBounds,
    OutOfBoundsRobust,
    FreedInUse,
    ApiMisuse,
    NeverRan,
    BarrierDivergence,
    CooperativeMatrixDivergence,
    DerivativeDivergence,
    Livelock,
    DivideByZero,
    ShiftOutOfRange,
    NonUniformIndex,
    ConversionOutOfRange,
    ImplicitDerivativeDivergence,
}

impl FindingId {
    /// How bad it is.
    pub fn severity(self) -> Severity {
        use FindingId::*;
        match self {
            HostNoBarrier | RaceSameInvocation | RaceSameSubgroup | QueueFamilyNotReleased => {
                Severity::Warning
            }
            DivideByZero
            | ShiftOutOfRange
            | NonUniformIndex
            | ConversionOutOfRange
            | ImplicitDerivativeDivergence
            | OutOfBoundsRobust => Severity::Note,
            _ => Severity::Error,
        }
    }

    /// The identifier that users see, suppress and search for.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How bad a finding is, by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Severity {
    /// What it tells is defined, or undesired in few programs only: told to those who ask for notes.
    Note,
    /// Undefined by the letter of the specification, and harmless on most devices: always told, and counted
    /// with the notes.
    Warning,
    /// A mistake.
    Error,
}

impl Severity {
    /// As reports call it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Whether an access read, wrote or did both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic instruction that may do both.
    ReadModifyWrite(AtomicOp),
}

/// Where an access went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Storage class.
    pub class: StorageClasses,
    /// The reference of the specification's *Reference* relation that the access went through.
    pub reference: Reference,
    /// Device address of the first byte, or byte offset into workgroup memory.
    pub address: u64,
    /// Bytes from the start of the view, where there is one.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
}

/// A texel, as an instruction names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Texel {
    /// One coordinate for each of the image's axes.
    pub coordinates: Vec<i32>,
    /// The array layer or cube face, where the image has them.
    pub layer: Option<i32>,
    /// The sample, of a multisampled image.
    pub sample: Option<i32>,
    /// The mip level.
    pub level: i32,
}

/// One access of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AccessInfo {
    /// The static instruction.
    pub site: Site,
    /// Read, write or both.
    pub kind: AccessKind,
    /// The scope of an atomic access.
    pub atomic: Option<Scope>,
    /// The invocation that made it.
    pub by: Invocation,
    /// The memory that it accessed.
    pub place: Place,
    /// The texel that it named, where that is not in the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texel: Option<Texel>,
    /// The value that a read returned.
    pub returned: Option<u64>,
    /// The newest value at the time of a read.
    pub newest: Option<u64>,
    /// All values that the model allowed the read to return, ascending, at most 16.
    pub admissible: Vec<u64>,
    /// Of an access of 8 bytes through caches: which 4 of them these values are, 0 for the lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half: Option<u8>,
    /// Of a read through the caches of a machine: those that then held the bytes. Values are as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caches: Option<Box<Cached>>,
}

impl AccessInfo {
    /// An invocation that stands at an instruction; what that accesses is not known.
    pub fn standing(site: Site, by: Invocation) -> AccessInfo {
        AccessInfo {
            site,
            kind: AccessKind::Read,
            atomic: None,
            by,
            place: Place {
                class: StorageClasses::empty(),
                reference: Reference(u32::MAX),
                address: 0,
                offset: 0,
                size: 0,
            },
            texel: None,
            returned: None,
            newest: None,
            admissible: Vec::new(),
            half: None,
            caches: None,
        }
    }
}

/// Some invocations of a subgroup that make no progress.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wait {
    /// By the first of them: where it stands, and the place that it looks at, of size 0 where it is not
    /// known.
    pub access: AccessInfo,
    /// Which: runs of LocalInvocationIndex, each with its first and its last.
    pub invocations: Vec<(u32, u32)>,
    /// What keeps them from making progress.
    pub reason: WaitReason,
    /// Where they repeat an access of a place: who wrote there last, of this dispatch.
    #[serde(default)]
    pub wrote: Option<Invocation>,
}

/// Why invocations make no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitReason {
    /// They repeat the access, and what they read does not change.
    Repeats,
    /// They have taken as many turns of loops as the watchdog allows.
    Turns,
    /// They have arrived at a control barrier, and others of the workgroup have not.
    Barrier,
    /// They could go on, but nothing guarantees that they are scheduled.
    Starved,
    /// So could they, and they have not started.
    NotStarted,
}

/// What was right between the two accesses, or who waits for what.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// (1) happens before (2) through these synchronising instructions (release side first).
    HappensBefore(Vec<Site>),
    /// The write was made available to this scope by the instruction.
    MadeAvailable(Site, Scope),
    /// Memory was made visible at this scope by the instruction.
    MadeVisible(Site, Scope),
    /// The two accesses use the same reference.
    SameReference,
    /// Both accesses are atomic, but not in each other's scope.
    BothAtomic,
    /// The closest release and acquire that did not synchronise.
    ClosestPair(Site, Site),
    /// Of a livelock: some of those that wait.
    Waits(Box<Wait>),
    /// Of a livelock: so many more subgroups wait, and so many workgroups have not started.
    MoreWait(u64, u64),
    /// Bytes of the object of this class that an access missed.
    Bounds(StorageClasses, u64),
    /// Runs of invocations (first and last LocalInvocationIndex) that do not reach a barrier, and why.
    Absent(Absence, Vec<(u32, u32)>),
    /// Both are writes, and all that met wrote what was there.
    SameValue,
    /// Only this rehearsal of the dispatch (the first is 1) showed it.
    Rehearsal(u32),
}

/// Why an invocation does not reach a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Absence {
    /// It has returned from the shader, or was terminated.
    Ended,
    /// It took another path, which goes on behind the barrier.
    Past,
    /// It waits at another barrier.
    OtherBarrier,
}

/// What the model asks for and the program does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// No happens-before path at all.
    HappensBefore,
    /// The access at this site is private.
    NonPrivate(Site),
    /// No availability operation covers the write (at this scope).
    Availability(Scope),
    /// No visibility operation covers the read (at this scope).
    Visibility(Scope),
    /// The scope of this instruction is too narrow; at least this one is needed.
    WiderScope(Site, Scope),
    /// The semantics of this instruction lack these classes.
    StorageClass(Site, StorageClasses),
    /// Different references reach the location.
    CommonReference,
    /// The atomics are not in each other's scope.
    MutualScope,
}

/// One edit of a static instruction; a fix is a set of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// Add NonPrivatePointer / NonPrivateTexel to the access.
    NonPrivate(Site),
    /// Add MakePointerAvailable at the scope (implies non-private).
    AvailableAccess(Site, Scope),
    /// Add MakePointerVisible at the scope (implies non-private).
    VisibleAccess(Site, Scope),
    /// Add MakeAvailable to the semantics.
    MakeAvailable(Site),
    /// Add MakeVisible to the semantics.
    MakeVisible(Site),
    /// Widen the memory scope.
    Widen(Site, Scope),
    /// Add storage classes to the semantics.
    AddClasses(Site, StorageClasses),
    /// Add acquire semantics.
    Acquire(Site),
    /// Add release semantics.
    Release(Site),
    /// Acquire and release, where there is one of the two.
    AcquireRelease(Site),
    /// Insert a control barrier, acquire-release with these classes, making available and visible.
    InsertBarrier {
        /// The access that comes first in the shader.
        before: Site,
        /// The access that comes later in the shader.
        after: Site,
        /// Where it goes.
        place: BarrierPlace,
        /// Execution and memory scope: Workgroup or Subgroup.
        scope: Scope,
        /// Storage classes.
        classes: StorageClasses,
        /// A return before it becomes a condition, so that all invocations of the workgroup come to it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        early_return: bool,
    },
    /// Insert a memory barrier right after the access: release with these classes, making available.
    ReleaseFence {
        /// The access.
        after: Site,
        /// Memory scope.
        scope: Scope,
        /// Storage classes.
        classes: StorageClasses,
    },
    /// Insert a memory barrier right before the access: acquire with these classes, making visible.
    AcquireFence {
        /// The access.
        before: Site,
        /// Memory scope.
        scope: Scope,
        /// Storage classes.
        classes: StorageClasses,
    },
    /// Replace the load and the store of an update by one read-modify-write.
    AtomicUpdate {
        /// Reads the value before the update.
        load: Site,
        /// Writes the value after it.
        store: Site,
        /// The read-modify-write that does the same.
        operation: AtomicOp,
        /// The smallest scope that holds all who access the location.
        scope: Scope,
    },
    /// Cut the dispatch in two, with a dependency in between: nothing in a shader orders whole workgroups.
    LaterDispatch {
        /// The access that comes first in the shader.
        before: Site,
        /// The one that goes to a later dispatch.
        after: Site,
        /// Where to cut.
        place: BarrierPlace,
    },
    /// Make the access atomic at this scope.
    MakeAtomic(Site, Scope),
    /// Reach the location through one reference in both places.
    OneReference(Site, Site),
    /// Let one invocation alone write each location.
    OneWriter(Site),
}

/// One finding. Equal findings (same id, same sites) are counted, not repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The kind of mistake.
    pub id: FindingId,
    /// The accesses, the earlier one first: two for races, one for the other checks.
    pub accesses: Vec<AccessInfo>,
    /// What was right.
    pub facts: Vec<Fact>,
    /// The elements of an order of the accesses that are not there.
    pub missing: Vec<Missing>,
    /// The smallest fix, verified by judging the edited slice again; empty when none was found.
    pub fix: Vec<Edit>,
    /// How often it occurred.
    pub count: u64,
    /// Of a race: the execution around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<Box<Around>>,
}

impl Finding {
    /// Whether it tells of a plain load, of memory that invocations share, that reads what nothing wrote.
    pub fn is_uninitialised_load(&self) -> bool {
        let plain = |access: &AccessInfo| {
            access.kind == AccessKind::Read && access.atomic.is_none() && !access.place.class.is_empty()
        };
        self.id == FindingId::UninitialisedRead && self.accesses.iter().all(plain)
    }

    /// One occurrence of what has no order of accesses to it.
    pub fn once(id: FindingId, accesses: Vec<AccessInfo>, facts: Vec<Fact>) -> Finding {
        Finding { id, accesses, facts, missing: Vec::new(), fix: Vec::new(), count: 1, around: None }
    }
}
