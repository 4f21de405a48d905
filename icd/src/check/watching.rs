//! What an execution is seen to do wrong: barriers that diverge, and waiting without end.

use super::info::Dispatch;
use super::last_turns;
use crate::config::Config;
use pellucid_memory::access::Site;
use pellucid_memory::agent::{Invocation, Placement, runs};
use pellucid_memory::finding::{Absence, AccessInfo, Fact, Finding, FindingId};
use pellucid_memory::random::nth;
use pellucid_memory::system::{LANES, Trap};
use pellucid_shader_interp::exec::modelled::{Absent, BarrierDivergence, Scheduler, Unit, Went};
use pellucid_shader_interp::exec::progress::ProgressScheduler;
use pellucid_shader_interp::exec::waiting::{self, Turn, Waiting};
use std::any::Any;
use std::sync::Arc;

/// The seeded scheduler of a progress model, which also keeps what the executor tells it.
pub struct Watching<'a> {
    inner: ProgressScheduler,
    dispatch: Dispatch<'a>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// How many of the findings were told before the dispatch's end, and how to.
    told: usize,
    /// Nobody is told of its livelocks.
    rehearses: bool,
    /// Tells findings before the dispatch's end.
    pub tell: Option<&'a Tell<'a>>,
    /// Is told of every execution that begins.
    pub begun: Option<&'a dyn Fn()>,
}

/// The state of a [`Watching`].
struct Watched {
    inner: ProgressScheduler,
    findings: Vec<Finding>,
    told: usize,
}

/// Reports findings; an error where they end the dispatch.
pub type Tell<'a> = dyn Fn(&[Finding]) -> Result<(), Trap> + 'a;

impl<'a> Watching<'a> {
    /// Watches a dispatch.
    pub fn new(config: &Config, dispatch: Dispatch<'a>) -> Watching<'a> {
        // Repeated submissions explore different schedules.
        let seed = nth(config.seed, u64::from(dispatch.number));
        Watching::under(ProgressScheduler::new(config.progress, seed), dispatch)
    }

    /// Watches a rehearsal of it, the `rehearsal`-th.
    pub fn of_rehearsal(config: &Config, dispatch: Dispatch<'a>, rehearsal: u32) -> Watching<'a> {
        let seed = nth(nth(config.seed, u64::from(dispatch.number)), u64::from(rehearsal));
        let even = rehearsal.is_multiple_of(2);
        let schedule = if even { ProgressScheduler::new } else { ProgressScheduler::steady };
        Watching { rehearses: true, ..Watching::under(schedule(config.progress, seed), dispatch) }
    }

    fn under(inner: ProgressScheduler, dispatch: Dispatch<'a>) -> Watching<'a> {
        Watching { inner, dispatch, findings: Vec::new(), told: 0, rehearses: false, tell: None, begun: None }
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
        let [x, y, _] = self.dispatch.grid.groups.map(|n| n.max(1));
        let id = [workgroup % x, workgroup / x % y, workgroup / x / y];
        let placement = self.dispatch.program.placement();
        Invocation {
            dispatch: self.dispatch.number,
            workgroup: [0, 1, 2].map(|i| id[i] + self.dispatch.grid.base[i]),
            subgroup,
            local_index: placement.local_index(placement.place(subgroup, lane)),
        }
    }

    fn note(&mut self, id: FindingId, accesses: Vec<AccessInfo>, facts: Vec<Fact>) {
        let same =
            |f: &Finding| f.id == id && f.accesses.iter().map(|a| a.site).eq(accesses.iter().map(|a| a.site));
        match self.findings.iter_mut().find(|f| same(f)) {
            Some(known) => known.count += 1,
            None => self.findings.push(Finding::once(id, accesses, facts)),
        }
    }
}

impl Scheduler for Watching<'_> {
    fn priority(&self, unit: &Unit) -> u64 {
        self.inner.priority(unit)
    }

    fn begin(&mut self) {
        self.begun.inspect(|begun| begun());
        self.findings.clear();
    }

    fn pick(&mut self, runnable: &[Unit]) -> usize {
        self.inner.pick(runnable)
    }

    fn state(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(Watched {
            inner: self.inner.clone(),
            findings: self.findings.clone(),
            told: self.told,
        }))
    }

    fn restore(&mut self, state: &dyn Any) {
        if let Some(state) = state.downcast_ref::<Watched>() {
            self.inner.clone_from(&state.inner);
            self.findings.clone_from(&state.findings);
            self.told = state.told;
        }
    }

    fn barrier_divergence(&mut self, found: &BarrierDivergence) {
        let Some(first) = found.absent.first() else { return };
        let site = match first.went {
            Went::Barrier(site) => site,
            Went::Ended | Went::Past => Site(0),
        };
        let by = self.invocation(found.workgroup, found.subgroup, found.mask.trailing_zeros());
        let missing = self.invocation(found.workgroup, first.subgroup, first.mask.trailing_zeros());
        let accesses = vec![AccessInfo::standing(found.site, by), AccessInfo::standing(site, missing)];
        let facts = absences(&found.absent, self.dispatch.program.placement());
        self.note(FindingId::BarrierDivergence, accesses, facts);
    }

    fn findings(&mut self, mut findings: Vec<Finding>) -> Result<(), Trap> {
        let Some(tell) = self.tell else { return Ok(()) };
        for own in &mut self.findings[self.told..] {
            findings.push(own.clone());
            own.count = 0;
        }
        self.told = self.findings.len();
        if findings.is_empty() { Ok(()) } else { tell(&findings) }
    }

    fn tells_livelocks(&self) -> bool {
        !self.rehearses
    }

    fn livelock(&mut self, waits: &[Waiting], outside: u64, turns: &[Turn]) {
        let by = |workgroup, subgroup, lane| self.invocation(workgroup, subgroup, lane);
        let facts = waiting::facts(waits, outside, by);
        let around = last_turns::around(turns, waits, self.dispatch.program, by);
        let Some(Fact::Waits(first)) = facts.first() else { return };
        let accesses = vec![first.access.clone()];
        let around = around.map(Box::new);
        self.findings.push(Finding { around, ..Finding::once(FindingId::Livelock, accesses, facts) });
    }
}

/// Where the absent invocations are, in runs of LocalInvocationIndex.
fn absences(absent: &[Absent], placement: Placement) -> Vec<Fact> {
    let why = |went: Went| match went {
        Went::Ended => Absence::Ended,
        Went::Past => Absence::Past,
        Went::Barrier(_) => Absence::OtherBarrier,
    };
    let mut facts = Vec::new();
    for absence in [Absence::Ended, Absence::Past, Absence::OtherBarrier] {
        let mut who = Vec::new();
        for entry in absent.iter().filter(|entry| why(entry.went) == absence) {
            let lanes = (0..LANES as u32).filter(|lane| entry.mask >> lane & 1 != 0);
            who.extend(lanes.map(|lane| placement.local_index(placement.place(entry.subgroup, lane))));
        }
        who.sort_unstable();
        if !who.is_empty() {
            facts.push(Fact::Absent(absence, runs(who)));
        }
    }
    facts
}
