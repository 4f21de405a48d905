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

/// Which lane of which subgroup each invocation of a workgroup is.
///
/// The *places* of a workgroup are its lanes, subgroup after subgroup: place `p` is lane `p % subgroup_size`
/// of subgroup `p / subgroup_size`. Nobody else says which invocation is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Lanes of a subgroup, at least 1.
    pub subgroup_size: u32,
    /// With DerivativeGroupQuadsKHR: width and height of the workgroup, both even. Four places in a row, from
    /// a multiple of four, are a quad of neighbours in x and y then (*Quad* scope); otherwise they are four
    /// neighbours in LocalInvocationIndex.
    pub quads: Option<[u32; 2]>,
}

impl Default for Placement {
    fn default() -> Placement {
        Placement::in_order(1)
    }
}

impl Placement {
    /// Invocations in the order of their LocalInvocationIndex.
    pub const fn in_order(subgroup_size: u32) -> Placement {
        Placement { subgroup_size, quads: None }
    }

    /// The place of a lane.
    #[inline]
    pub fn place(self, subgroup: u32, lane: u32) -> u32 {
        subgroup.wrapping_mul(self.subgroup_size).wrapping_add(lane)
    }

    /// Subgroup and lane of a place.
    #[inline]
    pub fn lane(self, place: u32) -> (u32, u32) {
        let size = self.subgroup_size.max(1);
        (place / size, place % size)
    }

    /// `LocalInvocationIndex` of the invocation at a place.
    #[inline]
    pub fn local_index(self, place: u32) -> u32 {
        let Some([width, height]) = self.quads else { return place };
        let (quad, x, y) = (place / 4, place % 2, place / 2 % 2);
        // Rows of quads are two rows of invocations; no quad crosses from one z to the next.
        let across = (width / 2).max(1);
        let down = (height / 2).max(1);
        let (left, top, z) = (quad % across * 2, quad / across % down * 2, quad / across / down);
        left + x + (top + y + z * height) * width
    }

    /// The place of the invocation with this `LocalInvocationIndex`: the inverse of
    /// [`Placement::local_index`].
    #[inline]
    pub fn place_of(self, local_index: u32) -> u32 {
        let Some([width, height]) = self.quads else { return local_index };
        let (width, height) = (width.max(2), height.max(2));
        let (x, y, z) = (local_index % width, local_index / width % height, local_index / width / height);
        let quad = x / 2 + (y / 2 + z * (height / 2)) * (width / 2);
        quad * 4 + y % 2 * 2 + x % 2
    }
}

/// Numbers in ascending order as runs of consecutive ones, each with its first and its last.
pub fn runs(numbers: impl IntoIterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

/// The subgroup on whose behalf the interpreter is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubgroupIdentity {
    /// Linear number of the workgroup in the dispatch: `x + y * groups.x + z * groups.x * groups.y`, without
    /// the base.
    pub workgroup: u32,
    /// `WorkgroupId` (with the base of vkCmdDispatchBase).
    pub workgroup_id: [u32; 3],
    /// `SubgroupId`.
    pub subgroup: u32,
    /// Lanes that hold an invocation (partial subgroups are narrower than [`crate::system::LANES`]).
    pub lanes: u32,
    /// Which invocations they are.
    pub placement: Placement,
}

impl SubgroupIdentity {
    /// `LocalInvocationIndex` of a lane.
    #[inline]
    pub fn local_index(&self, lane: u32) -> u32 {
        self.placement.local_index(self.placement.place(self.subgroup, lane))
    }

    /// A lane's invocation, of a dispatch by its number.
    pub fn invocation(&self, dispatch: u32, lane: u32) -> Invocation {
        let SubgroupIdentity { workgroup_id: workgroup, subgroup, .. } = *self;
        Invocation { dispatch, workgroup, subgroup, local_index: self.local_index(lane) }
    }

    /// `LocalInvocationIndex` of the lanes of a mask, ascending.
    pub fn local_indices(&self, mask: u32) -> Vec<u32> {
        let lanes = (0..u32::BITS).filter(|lane| mask >> lane & 1 != 0);
        let mut indices: Vec<u32> = lanes.map(|lane| self.local_index(lane)).collect();
        indices.sort_unstable();
        indices
    }

    /// The lane of an invocation of the workgroup, if the subgroup has it.
    pub fn lane(&self, local_index: u32) -> Option<u32> {
        let (subgroup, lane) = self.placement.lane(self.placement.place_of(local_index));
        (subgroup == self.subgroup && lane < self.lanes).then_some(lane)
    }
}

/// An agent of the execution under observation: a dense number, so that the members of a scope instance are
/// consecutive.
pub type AgentId = u32;

/// Agents at equal steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgentSteps {
    pub first: AgentId,
    pub step: AgentId,
}

impl AgentSteps {
    /// One agent.
    pub fn one(first: AgentId) -> AgentSteps {
        AgentSteps { first, step: 0 }
    }

    pub fn at(self, index: u32) -> AgentId {
        self.first.wrapping_add(self.step.wrapping_mul(index))
    }

    /// The first `count`, with this one behind them, if that is at an equal step; a second one says which.
    pub fn with(self, count: u32, agent: AgentId) -> Option<AgentSteps> {
        let step = if count == 1 { agent.wrapping_sub(self.first) } else { self.step };
        let with = AgentSteps { step, ..self };
        (with.at(count) == agent).then_some(with)
    }
}

/// Turns agent numbers into what the program can see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbering {
    pub dispatch: u32,
    pub base: [u32; 3],
    pub groups: [u32; 3],
    /// Invocations of a workgroup.
    pub workgroup: u32,
    pub placement: Placement,
}

impl Numbering {
    pub fn invocation(&self, agent: AgentId) -> Invocation {
        let (group, place) = (agent / self.workgroup.max(1), agent % self.workgroup.max(1));
        let (x, y) = (self.groups[0].max(1), self.groups[1].max(1));
        Invocation {
            dispatch: self.dispatch,
            workgroup: [self.base[0] + group % x, self.base[1] + group / x % y, self.base[2] + group / x / y],
            subgroup: self.placement.lane(place).0,
            local_index: self.placement.local_index(place),
        }
    }
}

#[cfg(test)]
mod tests;
