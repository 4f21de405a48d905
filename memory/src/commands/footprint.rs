//! What a dispatch touched, as few runs of bytes.

use super::comb::{Comb, Runs};
use super::range::Range;
use super::shadow::Operand;
use crate::agent::{AgentId, Numbering};
use std::collections::BTreeMap;

/// Collects accesses to words and joins neighbours that differ in nothing but the invocation: the first one
/// stands for the run. Runs at equal distances are a [`Comb`].
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    numbering: Option<Numbering>,
    /// By the access apart from its invocation: which of the open runs.
    slots: BTreeMap<Key, usize>,
    open: Vec<Open>,
    done: Vec<Comb>,
}

type Key = (u32, u32, u32, Option<u32>, bool, [u8; 3]);

fn key(operand: &Operand) -> Key {
    let scope = |s: Option<crate::scope::Scope>| s.map_or(0, |s| 1 + s as u8);
    (
        operand.read.bits(),
        operand.write.bits(),
        operand.shader.map_or(0, |(site, _)| site.0),
        operand.reference.map(|r| r.0),
        operand.non_private,
        [scope(operand.available), scope(operand.visible), scope(operand.atomic)],
    )
}

/// A run that others may join, and the comb that it may be a tooth of.
#[derive(Clone, Debug)]
struct Open {
    range: Range,
    agent: AgentId,
    operand: Operand,
    comb: Option<Comb>,
}

impl Open {
    /// The run is complete: the comb, if it is not a tooth of that.
    fn close(&mut self, numbering: Option<&Numbering>) -> Option<Comb> {
        let Open { range, agent, ref mut operand, ref mut comb } = *self;
        let alike = |comb: &Comb| numbering.is_some() || comb.operand == *operand;
        if comb.as_mut().is_some_and(|comb| alike(comb) && comb.extend(range, agent)) {
            return None;
        }
        if let (Some(numbering), Some((_, by))) = (numbering, &mut operand.shader) {
            *by = numbering.invocation(agent);
        }
        comb.replace(Comb::one(range, agent, *operand))
    }
}

impl Footprint {
    /// Nothing touched.
    pub fn new() -> Footprint {
        Footprint::default()
    }

    /// Nothing touched by agents with these numbers.
    pub(crate) fn of(numbering: Numbering) -> Footprint {
        Footprint { numbering: Some(numbering), ..Footprint::default() }
    }

    /// An access. Cheapest when addresses ascend.
    pub fn add(&mut self, range: Range, operand: Operand) {
        self.first_of(&mut None, (range, 0), operand);
    }

    /// An access by an agent with a number. Those with one `slot`, which is `None` before the first, differ
    /// in nothing but the agent.
    #[inline]
    pub(crate) fn add_to(
        &mut self,
        slot: &mut Option<usize>,
        (range, agent): (Range, AgentId),
        operand: impl FnOnce() -> Operand,
    ) {
        match *slot {
            Some(slot) => self.join(slot, (range, agent), None),
            None => self.first_of(slot, (range, agent), operand()),
        }
    }

    fn first_of(&mut self, slot: &mut Option<usize>, (range, agent): (Range, AgentId), operand: Operand) {
        let next = self.open.len();
        let known = *self.slots.entry(key(&operand)).or_insert(next);
        *slot = Some(known);
        if known == next {
            self.open.push(Open { range, agent, operand, comb: None });
        } else {
            self.join(known, (range, agent), Some(operand));
        }
    }

    #[inline]
    fn join(&mut self, slot: usize, (range, agent): (Range, AgentId), operand: Option<Operand>) {
        let open = &mut self.open[slot];
        if range.start <= open.range.end && range.end >= open.range.start {
            open.range.start = open.range.start.min(range.start);
            open.range.end = open.range.end.max(range.end);
        } else {
            self.done.extend(open.close(self.numbering.as_ref()));
            (open.range, open.agent) = (range, agent);
            open.operand = operand.unwrap_or(open.operand);
        }
    }

    /// The runs, by address; of runs that start together, reads come first.
    pub fn runs(mut self) -> Runs {
        for mut open in self.open {
            self.done.extend(open.close(self.numbering.as_ref()));
            self.done.extend(open.comb);
        }
        self.done.retain(|comb| comb.bytes.first.len() > 0);
        self.done.sort_by_key(|comb| (comb.bytes.first, key(&comb.operand)));
        Runs { parts: vec![self.done], numbering: self.numbering }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Site;
    use crate::agent::{Invocation, Placement};
    use crate::commands::Accesses;

    fn access(site: u32, local_index: u32) -> Operand {
        let by = Invocation { dispatch: 0, workgroup: [0; 3], subgroup: 0, local_index };
        Operand {
            shader: Some((Site(site), by)),
            ..Operand::fixed(Accesses::empty(), Accesses::SHADER_STORAGE_WRITE)
        }
    }

    #[test]
    fn neighbours_join_and_keep_the_first_invocation() {
        let mut f = Footprint::new();
        for i in 0..64 {
            f.add(Range::new(0x1000 + 4 * u64::from(i), 4), access(1 + i / 32, i));
        }
        f.add(Range::new(0x2000, 4), access(1, 64));
        let runs = f.runs();
        let told: Vec<_> =
            runs.iter().map(|(r, o)| (r.start, r.end, o.shader.map(|s| s.1.local_index))).collect();
        assert_eq!(told, [(0x1000, 0x1080, Some(0)), (0x1080, 0x1100, Some(32)), (0x2000, 0x2004, Some(64))]);
    }

    #[test]
    fn runs_at_equal_distances_are_one_comb_and_keep_their_invocations() {
        let placement = Placement::in_order(32);
        let numbering = Numbering { workgroup: 64, groups: [4, 1, 1], placement, ..Numbering::default() };
        let mut footprint = Footprint::of(numbering);
        let mut slots = [None; 2];
        for agent in 0..200 {
            for (site, member) in [(1, 0), (2, 16)] {
                let range = Range::new(0x1000 + 48 * u64::from(agent) + member, 8);
                footprint.add_to(&mut slots[site as usize - 1], (range, agent), || access(site, 0));
            }
        }
        let runs = footprint.runs();
        assert_eq!(runs.count(), 2);
        let told: Vec<_> = runs.iter().collect();
        for (place, (range, operand)) in told.into_iter().enumerate() {
            let (member, agent) = (place / 200, place as u32 % 200);
            let expected = (Site(1 + member as u32), numbering.invocation(agent));
            assert_eq!(operand.shader, Some(expected));
            assert_eq!(range.start, 0x1000 + 48 * u64::from(agent) + 16 * member as u64);
        }
    }
}
