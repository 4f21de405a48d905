//! Who shares which scope instance with whom.

pub use crate::agent::AgentId;
use std::ops::Range;

/// A level of scope instances: subgroup 0, workgroup 1, queue family 2, device 3.
pub type Level = u8;

/// The scope instances of all agents. Instances are nested, and each is a range of agent numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// One dispatch: workgroup `w` has the agents `w * workgroup .. (w + 1) * workgroup`; within it,
    /// subgroups of `subgroup` agents (the last one may be narrower).
    Dispatch {
        /// Invocations of one workgroup.
        workgroup: u32,
        /// Invocations of one subgroup.
        subgroup: u32,
        /// Invocations of the dispatch.
        agents: u32,
    },
    /// Listed instance by instance: per agent its subgroup, workgroup and queue family as agent ranges.
    Listed(Vec<[Range<AgentId>; 3]>),
}

impl Topology {
    /// From instance numbers `(subgroup, workgroup, queue family)` per agent. `None` unless the members of
    /// every instance are consecutive and instances are nested.
    pub fn listed(agents: &[[u32; 3]]) -> Option<Topology> {
        let mut ranges = Vec::with_capacity(agents.len());
        for (index, instances) in agents.iter().enumerate() {
            let mut own: [Range<AgentId>; 3] = [0..0, 0..0, 0..0];
            for level in 0..3 {
                let member = |agent: &[u32; 3]| agent[level] == instances[level];
                let first = agents.iter().position(member).unwrap_or(index);
                let count = agents.iter().filter(|agent| member(agent)).count();
                if !agents[first..first + count].iter().all(member) {
                    return None;
                }
                own[level] = first as u32..(first + count) as u32;
            }
            if own[0].start < own[1].start
                || own[0].end > own[1].end
                || own[1].start < own[2].start
                || own[1].end > own[2].end
            {
                return None;
            }
            ranges.push(own);
        }
        Some(Topology::Listed(ranges))
    }

    /// How many agents.
    pub fn agents(&self) -> u32 {
        match self {
            Topology::Dispatch { agents, .. } => *agents,
            Topology::Listed(ranges) => ranges.len() as u32,
        }
    }

    /// The agents of the instance at `level` that `agent` belongs to.
    #[inline]
    pub fn range(&self, agent: AgentId, level: Level) -> Range<AgentId> {
        match self {
            Topology::Dispatch { workgroup, subgroup, agents } => match level {
                0 => {
                    let base = agent - agent % workgroup;
                    let first = base + (agent - base) / subgroup * subgroup;
                    first..(first + subgroup).min(base + workgroup)
                }
                1 => {
                    let base = agent - agent % workgroup;
                    base..base + workgroup
                }
                _ => 0..*agents,
            },
            Topology::Listed(ranges) => match level {
                0..=2 => ranges[agent as usize][level as usize].clone(),
                _ => 0..ranges.len() as u32,
            },
        }
    }

    /// Whether the two agents share the instance at `level`.
    #[inline]
    pub fn same(&self, a: AgentId, b: AgentId, level: Level) -> bool {
        match self {
            Topology::Dispatch { workgroup, .. } if level == 1 => a / workgroup == b / workgroup,
            Topology::Dispatch { .. } if level >= 2 => true,
            _ => self.range(b, level).contains(&a),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatch_instances_are_ranges() {
        let topology = Topology::Dispatch { workgroup: 40, subgroup: 32, agents: 120 };
        assert_eq!(topology.range(75, 0), 72..80);
        assert_eq!(topology.range(41, 0), 40..72);
        assert_eq!(topology.range(41, 1), 40..80);
        assert_eq!(topology.range(41, 3), 0..120);
        assert!(topology.same(40, 71, 0) && !topology.same(71, 72, 0) && topology.same(71, 72, 1));
    }

    #[test]
    fn instances_that_are_not_nested_ranges_are_refused() {
        assert!(Topology::listed(&[[0, 0, 0], [1, 0, 0], [0, 0, 0]]).is_none());
        assert!(Topology::listed(&[[0, 0, 0], [0, 1, 0]]).is_none());
        let listed = Topology::listed(&[[0, 0, 0], [0, 0, 0], [1, 1, 0]]).unwrap();
        assert_eq!(listed.range(1, 0), 0..2);
        assert!(!listed.same(1, 2, 1) && listed.same(1, 2, 2));
    }
}
