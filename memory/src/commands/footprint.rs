//! What a dispatch touched, as few runs of bytes.

use super::comb::{Comb, Runs};
use super::places::Gathered;
use super::range::Range;
use super::shadow::Operand;
use crate::agent::{AgentId, Numbering};
use std::collections::BTreeMap;

/// Collects accesses to words and joins neighbours that differ in nothing but the invocation: the first one
/// stands for the run. Those of one kind are few [`Comb`]s.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    numbering: Option<Numbering>,
    /// By the access apart from its invocation: which of the slots.
    keys: BTreeMap<Key, usize>,
    slots: Vec<Slot>,
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

/// What one kind of access touched.
#[derive(Clone, Debug)]
struct Slot {
    /// The first of them.
    operand: Operand,
    gathered: Gathered,
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

    /// An access of a fixed-function command. Cheapest when addresses ascend.
    pub fn add(&mut self, range: Range, operand: Operand) {
        self.add_to(&mut None, (range, 0), || operand);
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
        let of = *slot.get_or_insert_with(|| self.slot(operand()));
        self.slots[of].gathered.add(range, agent);
    }

    /// The slot of a kind of access, which may be a new one.
    fn slot(&mut self, operand: Operand) -> usize {
        let next = self.slots.len();
        let known = *self.keys.entry(key(&operand)).or_insert(next);
        if known == next {
            self.slots.push(Slot { operand, gathered: Gathered::default() });
        }
        known
    }

    /// The runs, by address; of runs that start together, reads come first.
    pub fn runs(self) -> Runs {
        let numbering = self.numbering;
        let combs = self.slots.into_iter().flat_map(|Slot { operand, gathered }| {
            gathered.finish().map(move |places| {
                let mut operand = operand;
                if let (Some(numbering), Some((_, by))) = (numbering, &mut operand.shader) {
                    *by = numbering.invocation(places.at(0).1);
                }
                Comb { places, operand }
            })
        });
        let mut combs: Vec<Comb> = combs.collect();
        combs.sort_by_cached_key(|comb| (!comb.is_scattered(), comb.places.at(0).0, key(&comb.operand)));
        Runs { parts: vec![combs], numbering }
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
        let numbering = Numbering { workgroup: 128, groups: [1; 3], ..Numbering::default() };
        let mut f = Footprint::of(numbering);
        for i in 0..64 {
            let range = Range::new(0x1000 + 4 * u64::from(i), 4);
            f.add_to(&mut None, (range, i), || access(1 + i / 32, i));
        }
        f.add_to(&mut None, (Range::new(0x2000, 4), 64), || access(1, 64));
        let runs = f.runs();
        let told: Vec<_> =
            runs.iter().map(|(r, o)| (r.start, r.end, o.shader.map(|s| s.1.local_index))).collect();
        assert_eq!(told, [(0x1000, 0x1080, Some(0)), (0x1080, 0x1100, Some(32)), (0x2000, 0x2004, Some(64))]);
    }

    #[test]
    fn runs_without_a_pattern_are_one_comb_and_keep_their_invocations() {
        let numbering = Numbering { workgroup: 64, groups: [4, 1, 1], ..Numbering::default() };
        let mut footprint = Footprint::of(numbering);
        let mut slot = None;
        // Every second word of a row; rows alternate; and some of it again, in another order.
        let place = |k: u64| Range::new(0x1000 + 8 * k + k / 5 % 2 * 4, 4);
        for agent in (0..200).chain([77, 3]) {
            footprint.add_to(&mut slot, (place(agent.into()), agent), || access(1, 0));
        }
        let runs = footprint.runs();
        assert_eq!(runs.count(), 1);
        // The end of one row touches the beginning of the next.
        let mut expected: Vec<(Range, u32)> = Vec::new();
        for agent in 0..200 {
            match expected.last_mut() {
                Some((last, _)) if last.end == place(agent.into()).start => last.end += 4,
                _ => expected.push((place(agent.into()), agent)),
            }
        }
        let told: Vec<_> = runs.iter().map(|(range, operand)| (range, operand.shader)).collect();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(range, agent)| (range, Some((Site(1), numbering.invocation(agent)))))
            .collect();
        assert_eq!(told, expected);
        let comb = runs.combs().next().expect("one comb");
        for bytes in (0x0ff0..0x1100).flat_map(|start| (1..12).map(move |size| Range::new(start, size))) {
            let met: Vec<_> = runs.meeting(comb, bytes).map(|(run, _)| run).collect();
            let all = comb.ranges().filter(|run| run.meets(bytes)).map(|run| run.cut(bytes));
            assert_eq!(met, all.collect::<Vec<_>>());
        }
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
