//! Workgroup barriers that some invocations never reach.
//!
//! OpControlBarrier with execution scope Workgroup asks that all invocations of the workgroup execute the
//! same dynamic instance of it. An invocation that has ended, or that took another path, does not. The
//! dispatch goes on as if the absent invocations were not there.

use super::strand::Strand;
use crate::code::Program;
use pellucid_memory::access::Site;
use pellucid_memory::agent::SubgroupIdentity;
use pellucid_memory::system::Mask;

/// A barrier that was not reached by all invocations of the workgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierDivergence {
    /// The barrier.
    pub site: Site,
    /// Linear workgroup number.
    pub workgroup: u32,
    /// A subgroup of which lanes reached it.
    pub subgroup: u32,
    /// Those lanes.
    pub mask: Mask,
    /// Who did not: one or more entries, by subgroup.
    pub absent: Vec<Absent>,
}

/// Lanes that did not reach a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent {
    /// Number of the subgroup that they belong to.
    pub subgroup: u32,
    /// The lanes.
    pub mask: Mask,
    /// Where they are instead.
    pub went: Went,
}

/// Where an invocation is that did not reach a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    /// It has returned from the shader, or was terminated.
    Ended,
    /// It took another path and waits behind the barrier for the others of its subgroup.
    Past,
    /// It waits at this barrier.
    Barrier(Site),
}

/// Lanes of a strand that were parked when they returned, as barrier `barrier` knows them.
fn returned(program: &Program, barrier: u32, strand: &Strand) -> Mask {
    let parks = &program.barriers[barrier as usize].returned;
    parks.iter().fold(0, |lanes, park| lanes | strand.masks[*park as usize])
}

/// What is wrong when a strand arrives at a barrier: lanes of it went past.
pub(super) fn on_arrival(
    program: &Program,
    workgroup: u32,
    subgroup: u32,
    barrier: u32,
    strand: &Strand,
) -> Option<BarrierDivergence> {
    let past = strand.live & !strand.mask & !returned(program, barrier, strand);
    (past != 0).then(|| BarrierDivergence {
        site: program.barriers[barrier as usize].site,
        workgroup,
        subgroup,
        mask: strand.mask,
        absent: vec![Absent { subgroup, mask: past, went: Went::Past }],
    })
}

/// What is wrong when a barrier completes: invocations have ended, or wait at another barrier. `subgroups`
/// gives for each subgroup its strands with the barriers that they stand at.
pub(super) fn on_completion<'a, S>(
    program: &Program,
    workgroup: u32,
    subgroups: impl Iterator<Item = (&'a SubgroupIdentity, S)>,
) -> Option<BarrierDivergence>
where
    S: Iterator<Item = (&'a Strand, u32)>,
{
    let mut first: Option<(Site, u32, Mask)> = None;
    let mut absent = Vec::new();
    for (identity, strands) in subgroups {
        let subgroup = identity.subgroup;
        let mut ended = Mask::MAX >> (32 - identity.lanes);
        for (strand, barrier) in strands {
            let site = program.barriers[barrier as usize].site;
            ended &= !strand.live | returned(program, barrier, strand);
            let (known, ..) = *first.get_or_insert((site, subgroup, strand.mask));
            if known != site {
                absent.push(Absent { subgroup, mask: strand.mask, went: Went::Barrier(site) });
            }
        }
        if ended != 0 {
            absent.push(Absent { subgroup, mask: ended, went: Went::Ended });
        }
    }
    let (site, subgroup, mask) = first?;
    (!absent.is_empty()).then_some(BarrierDivergence { site, workgroup, subgroup, mask, absent })
}
