//! What a modelled memory is asked to do, and what it is told of each dispatch.

use crate::agent::Placement;
use crate::aliases::SparseAliases;
use crate::device::MemoryRange;
use crate::history::ValuePolicy;
use crate::host::HostLines;
use crate::machine::Machine;
use crate::outline::Outline;
use crate::scope::StorageClasses;
use crate::unwritten::Unwritten;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of check mode: which values loads return, and how much is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Which values unsynchronised loads return.
    pub values: ValuePolicy,
    /// Whose caches they come from, with [`ValuePolicy::Caches`].
    pub machine: Machine,
    /// Decides where the policy leaves a choice.
    pub seed: u64,
    /// How often an agent may read the same old value before it gets a newer one.
    pub stale_budget: u32,
    /// `vulkanMemoryModelAvailabilityVisibilityChains`.
    pub chains: bool,
    /// Different findings that are kept.
    pub max_findings: usize,
    /// Notes which instructions read from which ones of other agents.
    pub communication: bool,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            values: ValuePolicy::Stale,
            machine: Machine::default(),
            seed: 0,
            stale_budget: 16,
            chains: true,
            max_findings: 256,
            communication: false,
        }
    }
}

/// One dispatch, as the detector needs it.
#[derive(Clone, Debug, Default)]
pub struct DispatchInfo {
    /// Its number, for findings.
    pub number: u32,
    /// `WorkgroupId` of the first workgroup.
    pub base: [u32; 3],
    /// Workgroups per dimension.
    pub groups: [u32; 3],
    /// Invocations of one workgroup, at least 1.
    pub workgroup_size: u32,
    /// Which lane each of them is.
    pub placement: Placement,
    /// The storage classes of each atomic, fence and barrier instruction of the shader. What is left out is
    /// noticed when it is executed, with less precision.
    pub semantics: Vec<StorageClasses>,
    /// Whether the shader has control barriers of subgroups.
    pub subgroup_barriers: bool,
    /// Control barriers of whole workgroups alone order accesses of different invocations. Where that is not
    /// said, more is remembered.
    pub barriers_alone: bool,
    /// No access of workgroup memory is private. Where that is not said, more is remembered.
    pub non_private_workgroup: bool,
    /// Live buffers with device addresses, sorted by address, not overlapping.
    pub addresses: Arc<Vec<MemoryRange>>,
    /// First byte and bytes of each workgroup variable, by its reference. Accesses through references beyond
    /// these may reach all of workgroup memory.
    pub variables: Vec<(u32, u32)>,
    /// Bytes of device memory that nothing has written; of what resources share, by their place in memory.
    pub unwritten: Unwritten,
    /// What the host's cache of the machine holds, with [`ValuePolicy::Caches`].
    pub host: Arc<HostLines>,
    /// The device memory that the dispatch may write: first bytes and those behind the last. `None`: any.
    pub written: Option<Vec<(u64, u64)>>,
    /// Which accesses outside of their object the device's features define.
    pub robust: Robustness,
    /// What it accesses may be bytes of sparse resources to which no memory is bound: these are zero, and
    /// nothing is written there.
    pub partly_bound: bool,
    /// Memory that sparse resources share, if it reaches any.
    pub aliases: Option<Arc<SparseAliases>>,
    /// The shader's text. Without it, fixes assume that a barrier can stand between any two instructions, and
    /// any access can be atomic.
    pub outline: Option<Arc<dyn Outline>>,
}

/// Features that define what accesses outside of their object do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robustness {
    /// robustBufferAccess: of the ranges of buffer descriptors, and of texel buffers.
    pub buffers: bool,
    /// robustImageAccess: of images.
    pub images: bool,
    /// nullDescriptor: of descriptors that are VK_NULL_HANDLE.
    pub null_descriptors: bool,
}
