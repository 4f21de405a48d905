//! Scopes, storage-class masks and memory semantics (SPIR-V 3.27 *Scope*, 3.25 *Memory Semantics*; Vulkan
//! memory model, *Scope* and *Storage Class*).

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

/// A memory or execution scope, ordered from narrow to wide.
///
/// `CrossDevice` and `ShaderCallKHR` are not supported by Vulkan compute and have no value here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// The invocation itself: no other agent is in scope.
    Invocation,
    /// All invocations of one subgroup.
    Subgroup,
    /// All invocations of one (local) workgroup.
    Workgroup,
    /// All agents of queues of one queue family.
    QueueFamily,
    /// All agents of the device.
    Device,
}

impl Scope {
    /// The scope of a [`Scope::level`]; invocation scope has none.
    pub fn of_level(level: Option<u8>) -> Scope {
        match level {
            None => Scope::Invocation,
            Some(0) => Scope::Subgroup,
            Some(1) => Scope::Workgroup,
            Some(2) => Scope::QueueFamily,
            Some(_) => Scope::Device,
        }
    }

    /// The level of the scope in the model's scope instances: subgroup 0, workgroup 1, queue family 2, device
    /// 3; `None` for [`Scope::Invocation`].
    pub fn level(self) -> Option<usize> {
        match self {
            Scope::Invocation => None,
            Scope::Subgroup => Some(0),
            Scope::Workgroup => Some(1),
            Scope::QueueFamily => Some(2),
            Scope::Device => Some(3),
        }
    }
}

bitflags! {
    /// A set of storage classes, as memory semantics name them. One location belongs to exactly one class.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
    pub struct StorageClasses: u8 {
        /// `UniformMemory` (0x40): Uniform, StorageBuffer and PhysicalStorageBuffer storage classes; litmus
        /// `sc0`.
        const UNIFORM = 1;
        /// `WorkgroupMemory` (0x100); litmus `sc1`.
        const WORKGROUP = 2;
        /// `ImageMemory` (0x800): Image storage class and images accessed through UniformConstant variables.
        const IMAGE = 4;
        /// `OutputMemory` (0x1000).
        const OUTPUT = 8;
    }
}

/// The memory semantics of one static instruction (an atomic, a memory barrier or a control barrier).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Semantics {
    /// Acquire, or the acquire half of AcquireRelease.
    pub acquire: bool,
    /// Release, or the release half of AcquireRelease.
    pub release: bool,
    /// The storage classes that the semantics name.
    pub classes: StorageClasses,
    /// `MakeAvailable` (0x2000).
    pub make_available: bool,
    /// `MakeVisible` (0x4000).
    pub make_visible: bool,
    /// `Volatile` (0x8000), atomics only.
    pub volatile: bool,
}

impl Semantics {
    /// Relaxed: no ordering, no class.
    pub const RELAXED: Semantics = Semantics {
        acquire: false,
        release: false,
        classes: StorageClasses::empty(),
        make_available: false,
        make_visible: false,
        volatile: false,
    };
}
