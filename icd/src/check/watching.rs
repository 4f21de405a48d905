//! What an execution is seen to do wrong: barriers that diverge, and waiting without end.

use crate::config::Config;
use pellucid_memory::access::{Reference, Site};
use pellucid_memory::agent::Invocation;
use pellucid_memory::finding::{
    Absence, AccessInfo, AccessKind, Fact, Finding, FindingId, Place, Wait, WaitReason,
};
use pellucid_memory::scope::StorageClasses;
use pellucid_memory::system::{LANES, Trap};
use pellucid_shader_interp::Program;
use pellucid_shader_interp::exec::modelled::{Absent, BarrierDivergence, Scheduler, Unit, Went};
use pellucid_shader_interp::exec::progress::ProgressScheduler;
use pellucid_shader_interp::exec::waiting::{Reason, Waiting};
use pellucid_shader_interp::interface::Grid;
use std::collections::BTreeMap;

/// The seed of one dispatch's schedule: repeated submissions explore different schedules.
fn schedule_seed(seed: u64, number: u32) -> u64 {
    // The finalizer of SplitMix64.
    let mut x = seed.wrapping_add((u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The seeded scheduler of a progress model, which also keeps what the executor tells it.
pub struct Watching<'a> {
    inner: ProgressScheduler,
    program: &'a Program,
    grid: &'a Grid,
    number: u32,
    /// What was found.
    pub findings: Vec<Finding>,
    /// How many of the findings were told before the dispatch's end, and how to.
    told: usize,
    /// Tells findings before the dispatch's end.
    pub tell: Option<&'a Tell<'a>>,
}

/// Reports findings; an error where they end the dispatch.
pub type Tell<'a> = dyn Fn(&[Finding]) -> Result<(), Trap> + 'a;

impl<'a> Watching<'a> {
    /// Watches a dispatch.
    pub fn new(config: &Config, program: &'a Program, grid: &'a Grid, number: u32) -> Watching<'a> {
        let inner = ProgressScheduler::new(config.progress, schedule_seed(config.seed, number));
        Watching { inner, program, grid, number, findings: Vec::new(), told: 0, tell: None }
    }

    /// What is left to tell.
    pub fn rest(self) -> impl Iterator<Item = Finding> {
        let told = self.told;
        let findings = self.findings.into_iter().enumerate();
        findings.filter(move |(k, finding)| *k >= told || finding.count > 0).map(|(_, finding)| finding)
    }
}

impl Watching<'_> {
    fn invocation(&self, workgroup: u32, subgroup: u32, lane: u32) -> Invocation {
        let [x, y, _] = self.grid.groups.map(|n| n.max(1));
        let id = [workgroup % x, workgroup / x % y, workgroup / x / y];
        Invocation {
            dispatch: self.number,
            workgroup: [0, 1, 2].map(|i| id[i] + self.grid.base[i]),
            subgroup,
            local_index: subgroup * self.program.subgroup_size + lane,
        }
    }

    fn stopped_at(&self, site: Site, by: Invocation) -> AccessInfo {
        AccessInfo {
            site,
            kind: AccessKind::Read,
            atomic: None,
            by,
            place: Place {
                class: StorageClasses::empty(),
                reference: Reference(u32::MAX),
                address: 0,
                offset: 0,
                size: 0,
            },
            texel: None,
            returned: None,
            newest: None,
            admissible: Vec::new(),
        }
    }

    fn note(&mut self, id: FindingId, accesses: Vec<AccessInfo>, facts: Vec<Fact>) {
        let same =
            |f: &Finding| f.id == id && f.accesses.iter().map(|a| a.site).eq(accesses.iter().map(|a| a.site));
        match self.findings.iter_mut().find(|f| same(f)) {
            Some(known) => known.count += 1,
            None => self.findings.push(Finding {
                id,
                accesses,
                facts,
                missing: Vec::new(),
                fix: Vec::new(),
                count: 1,
            }),
        }
    }
}

impl Scheduler for Watching<'_> {
    fn priority(&self, unit: &Unit) -> u64 {
        self.inner.priority(unit)
    }

    fn begin(&mut self) {
        self.findings.clear();
    }

    fn pick(&mut self, runnable: &[Unit]) -> usize {
        self.inner.pick(runnable)
    }

    fn barrier_divergence(&mut self, found: &BarrierDivergence) {
        let Some(first) = found.absent.first() else { return };
        let site = match first.went {
            Went::Barrier(site) => site,
            Went::Ended | Went::Past => Site(0),
        };
        let by = self.invocation(found.workgroup, found.subgroup, found.mask.trailing_zeros());
        let missing = self.invocation(found.workgroup, first.subgroup, first.mask.trailing_zeros());
        let accesses = vec![self.stopped_at(found.site, by), self.stopped_at(site, missing)];
        let facts = absences(&found.absent, self.program.subgroup_size);
        self.note(FindingId::BarrierDivergence, accesses, facts);
    }

    fn judged(&mut self, mut findings: Vec<Finding>) -> Result<(), Trap> {
        let Some(tell) = self.tell else { return Ok(()) };
        for own in &mut self.findings[self.told..] {
            findings.push(own.clone());
            own.count = 0;
        }
        self.told = self.findings.len();
        if findings.is_empty() { Ok(()) } else { tell(&findings) }
    }

    fn livelock(&mut self, waiting: &[Waiting], outside: u64) {
        // One of each place comes first: who is to end the others' waiting may wait at another.
        let mut places: BTreeMap<(WaitReason, Site), u32> = BTreeMap::new();
        let mut waits: Vec<Wait> = Vec::new();
        let mut turns: Vec<u32> = Vec::new();
        for wait in waiting.iter().map(|w| self.wait(w)) {
            let turn = places.entry((wait.reason, wait.access.site)).or_default();
            *turn += 1;
            turns.push(*turn);
            waits.push(wait);
        }
        let mut order: Vec<usize> = (0..waits.len()).collect();
        order.sort_by_key(|k| (waits[*k].reason, turns[*k]));
        let waits: Vec<Wait> = order.into_iter().map(|k| waits[k].clone()).collect();
        let Some(first) = waits.first() else { return };
        let mut finding = Finding {
            id: FindingId::Livelock,
            accesses: vec![first.access.clone()],
            facts: Vec::new(),
            missing: Vec::new(),
            fix: Vec::new(),
            count: 1,
        };
        let more = waits.len().saturating_sub(WAITS) as u64;
        finding.facts.extend(waits.into_iter().take(WAITS).map(Fact::Waits));
        if more + outside > 0 {
            finding.facts.push(Fact::MoreWait(more, outside));
        }
        self.findings.push(finding);
    }
}

/// Waits that a finding tells one by one.
const WAITS: usize = 8;

impl Watching<'_> {
    fn wait(&self, waiting: &Waiting) -> Wait {
        let Waiting { unit, lanes, reason } = *waiting;
        // Who repeats a loop are the running lanes; the parked ones wait for those.
        let lanes = if matches!(reason, Reason::Repeats(_)) { unit.mask } else { lanes };
        let first = lanes.trailing_zeros().min(31);
        let mut access = self.stopped_at(unit.next, self.invocation(unit.workgroup, unit.subgroup, first));
        let reason = match reason {
            Reason::Repeats(operand) => {
                if let Some(operand) = operand {
                    access.kind = operand.kind;
                    access.atomic = operand.atomic;
                    access.place = operand.place;
                }
                WaitReason::Repeats
            }
            Reason::Barrier => WaitReason::Barrier,
            Reason::Starved => WaitReason::Starved,
            Reason::NotStarted => WaitReason::NotStarted,
        };
        Wait { access, lanes: lanes >> first, reason }
    }
}

/// Where the absent invocations are, in runs of LocalInvocationIndex.
fn absences(absent: &[Absent], subgroup_size: u32) -> Vec<Fact> {
    let why = |went: Went| match went {
        Went::Ended => Absence::Ended,
        Went::Past => Absence::Past,
        Went::Barrier(_) => Absence::OtherBarrier,
    };
    let mut facts = Vec::new();
    for absence in [Absence::Ended, Absence::Past, Absence::OtherBarrier] {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for entry in absent.iter().filter(|entry| why(entry.went) == absence) {
            for lane in (0..LANES as u32).filter(|lane| entry.mask >> lane & 1 != 0) {
                let index = entry.subgroup * subgroup_size + lane;
                match runs.last_mut() {
                    Some((_, last)) if *last + 1 == index => *last = index,
                    _ => runs.push((index, index)),
                }
            }
        }
        if !runs.is_empty() {
            facts.push(Fact::Absent(absence, runs));
        }
    }
    facts
}
