//! Rehearsals: before a small dispatch in which atomics decide something, other executions of it, whose
//! stores nobody sees. What one schedule, or one choice of values, hides is found by another.

use super::info::{Dispatch, check_info, options};
use super::watching::Watching;
use crate::config::Mode;
use crate::device::Device;
use pellucid_memory::access::Site;
use pellucid_memory::checked::CheckedMemory;
use pellucid_memory::finding::{Fact, Finding, FindingId, Severity};
use pellucid_memory::history::ValuePolicy;
use pellucid_memory::outline::Outline as _;
use pellucid_shader_interp::Program;
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

/// Invocations of a dispatch that is rehearsed, at most.
const MOST_INVOCATIONS: u64 = 1024;
/// Invocations of a dispatch that is executed again to follow what its loads read, at most.
const MOST_FOLLOWED: u64 = 1 << 18;
/// Dispatches of one pipeline that are rehearsed.
const MOST_DISPATCHES: u32 = 4;
/// Turns of loops of a subgroup after which a rehearsal is given up.
const MOST_TURNS: u64 = 4096;

/// The policies of rehearsals, in turn; every other one has a steady schedule.
const POLICIES: [ValuePolicy; 4] =
    [ValuePolicy::Latest, ValuePolicy::Seeded, ValuePolicy::Latest, ValuePolicy::Varied];

/// What a pipeline has for rehearsals of its dispatches.
#[derive(Clone, Copy)]
pub struct Rehearsals<'a> {
    /// Counts its dispatches that were rehearsed.
    pub rehearsed: &'a AtomicU32,
    /// Its program that follows what loads read (`follow_loads`), if it compiles.
    pub following: &'a dyn Fn() -> Option<&'a Program>,
}

/// Rehearses a dispatch if it is worth it; what was found, each pair of instructions once.
pub(super) fn rehearse(
    device: &Device,
    memory: &mut CheckedMemory,
    dispatch: Dispatch<'_>,
    rehearsals: Rehearsals<'_>,
) -> Vec<Finding> {
    let Dispatch { program, grid, resources, .. } = dispatch;
    let config = &device.instance.config;
    let decides = program.outline.as_ref().is_some_and(|outline| outline.any_decides());
    if config.mode != Mode::Check
        || config.rehearsals == 0
        || config.values != ValuePolicy::Varied
        || !decides
        || invocations(&dispatch) > MOST_INVOCATIONS
        || rehearsals.rehearsed.fetch_add(1, Ordering::Relaxed) >= MOST_DISPATCHES
    {
        return Vec::new();
    }
    let mut found: Vec<Finding> = Vec::new();
    for k in 1..=config.rehearsals {
        memory.rehearse(Some((k, POLICIES[(k as usize - 1) % POLICIES.len()])));
        memory.begin_dispatch(check_info(device, dispatch));
        let mut scheduler = Watching::of_rehearsal(config, dispatch, k);
        let options = ModelledOptions {
            watchdog: Some(MOST_TURNS),
            own_turns: true,
            spins: Some(MOST_TURNS),
            ..options(device)
        };
        // How it ends does not matter: the execution that counts tells of traps, and waits for itself.
        let _ = modelled::dispatch(program, grid, resources, memory, &mut scheduler, &options);
        let mut here = memory.end_dispatch();
        here.extend(scheduler.rest().filter(|finding| finding.id != FindingId::Livelock));
        for mut finding in here.into_iter().filter(|finding| finding.id.severity() != Severity::Note) {
            if !found.iter().any(|other| same(other, &finding)) {
                finding.facts.push(Fact::Rehearsal(k));
                found.push(finding);
            }
        }
    }
    memory.rehearse(None);
    found
}

fn invocations(dispatch: &Dispatch<'_>) -> u64 {
    let size: u64 = dispatch.program.shader.local_size.iter().map(|n| u64::from(*n)).product();
    dispatch.grid.groups.iter().fold(size, |all, n| all.saturating_mul(u64::from(*n)))
}

/// Whether two findings are of one kind, between the same instructions.
pub(super) fn same(a: &Finding, b: &Finding) -> bool {
    let sites = |finding: &Finding| {
        let mut sites: Vec<Site> = finding.accesses.iter().map(|access| access.site).collect();
        sites.sort();
        sites
    };
    a.id == b.id && sites(a) == sites(b)
}

/// Leaves out the findings that tell of plain loads which read what nothing wrote, where the shader does not
/// use what they read: neither stores it, nor branches on it, nor has it for an address. A rehearsal with the
/// dispatch's own seed shows it. It runs after the dispatch, so that few dispatches need it; where the memory
/// that they leave has it read something else, the finding stays.
pub(super) fn leave_out_unused(
    device: &Device,
    memory: &mut CheckedMemory,
    dispatch: Dispatch<'_>,
    rehearsals: Rehearsals<'_>,
    findings: &mut Vec<Finding>,
) {
    if !findings.iter().any(Finding::is_uninitialised_load) || invocations(&dispatch) > MOST_FOLLOWED {
        return;
    }
    let Some(program) = (rehearsals.following)() else { return };
    memory.follow_loads(&program.shader.followed_loads);
    let dispatch = Dispatch { program, ..dispatch };
    memory.begin_dispatch(check_info(device, dispatch));
    let mut scheduler = Watching::new(&device.instance.config, dispatch);
    let outcome = modelled::dispatch(
        program,
        dispatch.grid,
        dispatch.resources,
        memory,
        &mut scheduler,
        &options(device),
    );
    let rehearsed = memory.end_dispatch();
    memory.take_communications();
    let followed = memory.followed_loads();
    let tells = |finding: &&Finding| finding.id == FindingId::UninitialisedRead;
    let sites = |finding: &Finding| finding.accesses.iter().map(|access| access.site).collect::<Vec<_>>();
    let used: BTreeSet<Site> = rehearsed.iter().filter(tells).flat_map(sites).collect();
    if outcome.is_ok() {
        let unused = followed.unused(used);
        findings.retain(|finding| {
            !finding.is_uninitialised_load() || !sites(finding).iter().any(|site| unused.contains(site))
        });
    }
}
