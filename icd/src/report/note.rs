//! The lines that are told beneath a finding, each with what it is about. The kind is what decides; the text
//! is for people alone.

use pellucid_memory::finding::{Edit, Fact, Missing};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// A line beneath a finding: a note, or, with [`FixKind`], a line of help.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note<K = NoteKind> {
    /// What it is about.
    pub kind: K,
    /// It, as people read it.
    pub text: String,
}

impl<K> Note<K> {
    /// The line of this kind.
    pub fn new(kind: K, text: impl Into<String>) -> Note<K> {
        Note { kind, text: text.into() }
    }
}

/// What is said beneath a finding's source lines, in the order in which it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Places, what was right, what is missing, values.
    pub notes: Vec<Note>,
    /// The smallest fix.
    pub help: Vec<Note<FixKind>>,
}

/// What a note is about; reports name it in kebab case (`docs/report.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum NoteKind {
    /// Who accesses, uses or ends what.
    Access,
    /// Where the bytes are.
    Place,
    /// How far the object reaches that an access missed.
    Bounds,
    /// Which push constants were set.
    PushConstants,
    /// The values that the model allows.
    Values,
    /// What the caches of a machine held.
    Caches,
    /// By which memory model the shader was judged.
    MemoryModel,
    /// Which function of the program called.
    Caller,
    /// The layout that an image is in.
    Layout,
    /// The queue family that owns a resource, or what became of it since it was released.
    Owner,
    /// What is wrong with a call, or what submitted work waits for.
    Call,
    /// A rule of the specification, as the validation layer quotes it.
    Rule,
    /// Objects by their names.
    Objects,
    /// [`Fact::HappensBefore`]
    HappensBefore,
    /// [`Fact::MadeAvailable`]
    MadeAvailable,
    /// [`Fact::MadeVisible`]
    MadeVisible,
    /// [`Fact::SameReference`]
    SameReference,
    /// [`Fact::BothAtomic`]
    BothAtomic,
    /// [`Fact::ClosestPair`]
    ClosestPair,
    /// [`Fact::Waits`]
    Waits,
    /// [`Fact::MoreWait`]
    MoreWait,
    /// [`Fact::Absent`]
    Absent,
    /// [`Fact::SameValue`]
    SameValue,
    /// [`Fact::Rehearsal`]
    Rehearsal,
    /// [`Missing::HappensBefore`]
    MissingHappensBefore,
    /// [`Missing::NonPrivate`]
    MissingNonPrivate,
    /// [`Missing::Availability`]
    MissingAvailability,
    /// [`Missing::Visibility`]
    MissingVisibility,
    /// [`Missing::WiderScope`]
    MissingScope,
    /// [`Missing::StorageClass`]
    MissingStorageClass,
    /// [`Missing::CommonReference`]
    MissingReference,
    /// [`Missing::MutualScope`]
    MissingMutualScope,
    /// Nothing makes one command happen before another.
    MissingExecutionDependency,
    /// The commands are ordered, and their memory is not.
    MissingMemoryDependency,
    /// No dependency makes memory available between the host and the device.
    MissingHostDependency,
    /// Nothing makes available to the device what the host wrote to memory that is not coherent.
    MissingFlush,
    /// Nothing makes visible to the host what is in memory that is not coherent.
    MissingInvalidate,
    /// Nothing has told the host that the work has completed.
    MissingCompletion,
}

impl NoteKind {
    /// Whether the note names what is missing.
    pub fn is_missing(self) -> bool {
        use NoteKind::*;
        match self {
            MissingHappensBefore
            | MissingNonPrivate
            | MissingAvailability
            | MissingVisibility
            | MissingScope
            | MissingStorageClass
            | MissingReference
            | MissingMutualScope
            | MissingExecutionDependency
            | MissingMemoryDependency
            | MissingHostDependency
            | MissingFlush
            | MissingInvalidate
            | MissingCompletion => true,
            Access | Place | Bounds | PushConstants | Values | Caches | MemoryModel | Caller | Layout
            | Owner | Call | Rule | Objects | HappensBefore | MadeAvailable | MadeVisible | SameReference
            | BothAtomic | ClosestPair | Waits | MoreWait | Absent | SameValue | Rehearsal => false,
        }
    }
}

impl From<&Fact> for NoteKind {
    fn from(fact: &Fact) -> NoteKind {
        match fact {
            Fact::HappensBefore(_) => NoteKind::HappensBefore,
            Fact::MadeAvailable(..) => NoteKind::MadeAvailable,
            Fact::MadeVisible(..) => NoteKind::MadeVisible,
            Fact::SameReference => NoteKind::SameReference,
            Fact::BothAtomic => NoteKind::BothAtomic,
            Fact::ClosestPair(..) => NoteKind::ClosestPair,
            Fact::Waits(_) => NoteKind::Waits,
            Fact::MoreWait(..) => NoteKind::MoreWait,
            Fact::Bounds(..) => NoteKind::Bounds,
            Fact::Absent(..) => NoteKind::Absent,
            Fact::SameValue => NoteKind::SameValue,
            Fact::Rehearsal(_) => NoteKind::Rehearsal,
        }
    }
}

impl From<&Missing> for NoteKind {
    fn from(missing: &Missing) -> NoteKind {
        match missing {
            Missing::HappensBefore => NoteKind::MissingHappensBefore,
            Missing::NonPrivate(_) => NoteKind::MissingNonPrivate,
            Missing::Availability(_) => NoteKind::MissingAvailability,
            Missing::Visibility(_) => NoteKind::MissingVisibility,
            Missing::WiderScope(..) => NoteKind::MissingScope,
            Missing::StorageClass(..) => NoteKind::MissingStorageClass,
            Missing::CommonReference => NoteKind::MissingReference,
            Missing::MutualScope => NoteKind::MissingMutualScope,
        }
    }
}

/// What a line of help changes; reports name it in kebab case (`docs/report.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FixKind {
    /// An instruction makes available, whatever else it gains.
    Availability,
    /// An instruction makes visible.
    Visibility,
    /// An instruction names a wider scope.
    Scope,
    /// The semantics of an instruction name more storage classes.
    StorageClasses,
    /// An instruction acquires or releases.
    Synchronization,
    /// An access becomes non-private.
    NonPrivate,
    /// What is accessed is declared coherent.
    Coherent,
    /// A control barrier is inserted.
    ControlBarrier,
    /// A memory barrier is inserted.
    MemoryBarrier,
    /// The dispatch is divided.
    LaterDispatch,
    /// Accesses become atomic.
    Atomic,
    /// One invocation alone writes.
    OneWriter,
    /// One reference reaches the location.
    OneReference,
    /// A barrier between commands is inserted or extended.
    PipelineBarrier,
    /// A semaphore orders queues, or one that is there orders more.
    Semaphore,
    /// The host flushes.
    Flush,
    /// The host invalidates.
    Invalidate,
    /// The host waits for the work.
    Wait,
    /// What pending work waits for is signaled.
    Signal,
    /// The layout of an image, or what is said of it.
    Layout,
    /// A resource is released and acquired, or shared.
    Ownership,
    /// A call keeps the rules of valid usage.
    ValidUsage,
}

impl From<&Edit> for FixKind {
    fn from(edit: &Edit) -> FixKind {
        match edit {
            Edit::MakeAvailable(_) | Edit::AvailableAccess(..) => FixKind::Availability,
            Edit::MakeVisible(_) | Edit::VisibleAccess(..) => FixKind::Visibility,
            Edit::Widen(..) => FixKind::Scope,
            Edit::AddClasses(..) => FixKind::StorageClasses,
            Edit::Acquire(_) | Edit::Release(_) | Edit::AcquireRelease(_) => FixKind::Synchronization,
            Edit::NonPrivate(_) => FixKind::NonPrivate,
            Edit::InsertBarrier { .. } => FixKind::ControlBarrier,
            Edit::ReleaseFence { .. } | Edit::AcquireFence { .. } => FixKind::MemoryBarrier,
            Edit::LaterDispatch { .. } => FixKind::LaterDispatch,
            Edit::AtomicUpdate { .. } | Edit::MakeAtomic(..) => FixKind::Atomic,
            Edit::OneReference(..) => FixKind::OneReference,
            Edit::OneWriter(_) => FixKind::OneWriter,
        }
    }
}
