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
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions};
use std::sync::atomic::{AtomicU32, Ordering};

/// Invocations of a dispatch that is rehearsed, at most.
const MOST_INVOCATIONS: u64 = 1024;
/// Dispatches of one pipeline that are rehearsed.
const MOST_DISPATCHES: u32 = 4;
/// Turns of loops of a subgroup after which a rehearsal is given up.
const MOST_TURNS: u64 = 4096;

/// The policies of rehearsals, in turn; every other one has a steady schedule.
const POLICIES: [ValuePolicy; 4] =
    [ValuePolicy::Latest, ValuePolicy::Seeded, ValuePolicy::Latest, ValuePolicy::Varied];

/// Rehearses a dispatch if it is worth it; what was found, each pair of instructions once. `rehearsed` counts
/// the dispatches of its pipeline that were.
pub(super) fn rehearse(
    device: &Device,
    memory: &mut CheckedMemory,
    dispatch: Dispatch<'_>,
    rehearsed: &AtomicU32,
) -> Vec<Finding> {
    let Dispatch { program, grid, resources, .. } = dispatch;
    let config = &device.instance.config;
    let size: u64 = program.shader.local_size.iter().map(|n| u64::from(*n)).product();
    let invocations = grid.groups.iter().fold(size, |all, n| all.saturating_mul(u64::from(*n)));
    let decides = program.outline.as_ref().is_some_and(|outline| outline.any_decides());
    if config.mode != Mode::Check
        || config.rehearsals == 0
        || config.values != ValuePolicy::Varied
        || !decides
        || invocations > MOST_INVOCATIONS
        || rehearsed.fetch_add(1, Ordering::Relaxed) >= MOST_DISPATCHES
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

/// Whether two findings are of one kind, between the same instructions.
pub(super) fn same(a: &Finding, b: &Finding) -> bool {
    let sites = |finding: &Finding| {
        let mut sites: Vec<Site> = finding.accesses.iter().map(|access| access.site).collect();
        sites.sort();
        sites
    };
    a.id == b.id && sites(a) == sites(b)
}
