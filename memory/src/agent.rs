//! Agents: who accesses memory (Vulkan memory model, *Agent*).

use serde::{Deserialize, Serialize};

/// One shader invocation of one dispatch, by the numbers that the program can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Invocation {
    /// Linear index of the dispatch on its device, counted from 0 in submission order.
    pub dispatch: u32,
    /// `WorkgroupId`.
    pub workgroup: [u32; 3],
    /// `SubgroupId` within the workgroup.
    pub subgroup: u32,
    /// `LocalInvocationIndex` within the workgroup.
    pub local_index: u32,
}

/// The subgroup on whose behalf the interpreter is about to run.
///
/// Lane `i` is invocation `first_local_index + i` of the workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubgroupIdentity {
    /// Linear number of the workgroup in the dispatch: `x + y * groups.x + z * groups.x * groups.y`, without
    /// the base.
    pub workgroup: u32,
    /// `WorkgroupId` (with the base of vkCmdDispatchBase).
    pub workgroup_id: [u32; 3],
    /// `SubgroupId`.
    pub subgroup: u32,
    /// `LocalInvocationIndex` of lane 0.
    pub first_local_index: u32,
    /// Lanes that hold an invocation (partial subgroups are narrower than [`crate::system::LANES`]).
    pub lanes: u32,
}
