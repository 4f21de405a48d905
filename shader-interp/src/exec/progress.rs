//! Schedules under progress models weaker than fair ones: the units that the model guarantees nothing to stop
//! running after a while.
//!
//! The models are those of the litmus tests ([`ProgressModel`]), at each level: workgroups of the dispatch,
//! subgroups of the workgroup, strands of the subgroup. A group that is not guaranteed progress gets an
//! allowance by the seed, often none, and then runs no more until it is guaranteed progress, or nothing else
//! can run. So a program that needs more than the model gives stops making progress under some seed; one that
//! does not is not disturbed.

use super::scheduler::{Scheduler, SeededScheduler, Unit};
use pellucid_memory::progress::ProgressModel;
use pellucid_memory::random::mix;
use std::collections::BTreeMap;

/// A scheduler that gives each unit no more progress than a model guarantees, as the seed says.
#[derive(Clone, Debug)]
pub struct ProgressScheduler {
    model: ProgressModel,
    seed: u64,
    chosen: SeededScheduler,
    /// Turns of each group that has had one.
    turns: BTreeMap<Group, u64>,
    allowed: Vec<usize>,
    units: Vec<Unit>,
}

/// A workgroup, subgroup or strand: what it is part of, and its number there.
type Group = [u32; 3];

/// Stands for "all" in a [`Group`].
const ALL: u32 = u32::MAX;

/// Turns that a group gets without a guarantee.
const ALLOWANCES: [u64; 10] = [0, 0, 0, 1, 2, 4, 8, 32, 128, 1024];

impl ProgressScheduler {
    /// The schedule of `seed` under `model`.
    pub fn new(model: ProgressModel, seed: u64) -> ProgressScheduler {
        ProgressScheduler {
            model,
            seed,
            chosen: SeededScheduler::new(seed),
            turns: BTreeMap::new(),
            allowed: Vec::new(),
            units: Vec::new(),
        }
    }

    /// The same with steady priorities, see [`SeededScheduler::steady`].
    pub fn steady(model: ProgressModel, seed: u64) -> ProgressScheduler {
        ProgressScheduler { chosen: SeededScheduler::steady(seed), ..ProgressScheduler::new(model, seed) }
    }

    fn started(&self, group: Group) -> bool {
        self.turns.contains_key(&group)
    }

    /// Whether a group after this one, in the same whole, has started.
    fn later_started(&self, group: Group, level: usize) -> bool {
        let (mut from, mut to) = (group, group);
        from[level + 1..].fill(0);
        to[level..].fill(ALL);
        self.turns
            .range(from..=to)
            .any(|(other, _)| other[level] != ALL && other[level + 1..].iter().all(|n| *n == ALL))
    }

    fn guaranteed(&self, group: Group, level: usize, first: bool) -> bool {
        // The lanes of a strand started with its subgroup.
        let started = level == 2 || self.started(group);
        match self.model {
            ProgressModel::Fair => true,
            ProgressModel::Obe => started,
            ProgressModel::Lobe => started || self.later_started(group, level),
            ProgressModel::Hsa => first,
            ProgressModel::HsaObe => first || started,
        }
    }

    fn allowance(&self, group: Group) -> u64 {
        let [a, b, c] = group.map(u64::from);
        let drawn = mix(self.seed ^ mix(a << 32 ^ mix(b << 32 | c)));
        ALLOWANCES[(drawn % ALLOWANCES.len() as u64) as usize]
    }

    /// Adds to `allowed` those of `units`, all of one group and sorted, that may run.
    fn allow(&mut self, runnable: &[Unit], units: std::ops::Range<usize>, level: usize) {
        if level == 3 {
            self.allowed.extend(units);
            return;
        }
        let group = |k: usize| {
            let unit = &runnable[k];
            let mut group = [unit.workgroup, unit.subgroup, unit.mask.trailing_zeros()];
            group[level + 1..].fill(ALL);
            group
        };
        let mut parts: Vec<(Group, std::ops::Range<usize>)> = Vec::new();
        for k in units {
            match parts.last_mut() {
                Some((last, part)) if *last == group(k) => part.end = k + 1,
                _ => parts.push((group(k), k..k + 1)),
            }
        }
        parts.sort_by_key(|(group, _)| *group);
        let runs = |(n, (group, _)): (usize, &(Group, std::ops::Range<usize>))| {
            let turns = self.turns.get(group).copied().unwrap_or(0);
            self.guaranteed(*group, level, n == 0) || turns < self.allowance(*group)
        };
        let mut running: Vec<bool> = parts.iter().enumerate().map(runs).collect();
        if !running.contains(&true) {
            // Something of a whole that makes progress does.
            let least = (0..parts.len()).min_by_key(|k| mix(self.seed ^ mix(u64::from(parts[*k].0[level]))));
            running[least.unwrap_or(0)] = true;
        }
        for ((_, part), _) in parts.into_iter().zip(running).filter(|(_, runs)| *runs) {
            self.allow(runnable, part, level + 1);
        }
    }
}

impl Scheduler for ProgressScheduler {
    fn priority(&self, unit: &Unit) -> u64 {
        self.chosen.priority(unit)
    }

    fn pick(&mut self, runnable: &[Unit]) -> usize {
        if self.model == ProgressModel::Fair {
            return self.chosen.pick(runnable);
        }
        self.allowed.clear();
        self.allow(runnable, 0..runnable.len(), 0);
        self.allowed.sort_unstable();
        self.units.clear();
        self.units.extend(self.allowed.iter().map(|k| runnable[*k]));
        let k = self.allowed[self.chosen.pick(&self.units) % self.allowed.len()];
        let unit = &runnable[k];
        let lane = unit.mask.trailing_zeros();
        for group in [
            [unit.workgroup, ALL, ALL],
            [unit.workgroup, unit.subgroup, ALL],
            [unit.workgroup, unit.subgroup, lane],
        ] {
            *self.turns.entry(group).or_default() += 1;
        }
        k
    }
}

#[cfg(test)]
mod tests;
