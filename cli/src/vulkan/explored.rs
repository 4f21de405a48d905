//! `pellucid litmus --by explore`: every execution of a test that is one dispatch, on the memory of check
//! mode.
//!
//! The lowered test runs in the interpreter, invocation by invocation; every schedule, every value that a
//! load may return and every place that a store may take is a choice, and all are made. So what is judged
//! here is what check mode executes: its histories, its vector clocks and its findings. Executions follow
//! the order of the program; load buffering is not among them.

use super::Refused;
use super::batch::Race;
use super::layout::{STRIDE, Shape};
use super::lower::{Lowered, lower};
use super::sample::{NoSample, Sample};
use pellucid_memory::access::{Reference, Site};
use pellucid_memory::agent::Placement;
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::device::MemoryRange;
use pellucid_memory::explore::{Bounds, Choices, Limit, Totals};
use pellucid_memory::finding::{Finding, FindingId};
use pellucid_memory::litmus::program::{LitmusProgram, Term};
use pellucid_memory::raw;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::exec::explore::{Execution, ExploreOptions, Which, explore};
use pellucid_shader_interp::exec::modelled::SeededScheduler;
use pellucid_shader_interp::interface::{Descriptor, Grid, Resources};
use pellucid_shader_interp::{CompileError, CompileOptions, compile};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use vulkan_pellucid::report::words;

/// Invocations are explored one by one, whatever the subgroup.
const SHAPE: Shape = Shape { smallest: 1, largest: 32, fine: false, stagger: false, alone: true };

/// VK_FORMAT_R32_UINT.
const TEXEL_FORMAT: i32 = 98;

/// Where the results and the locations of a test are, as device addresses.
const RESULTS: u64 = 0x10_0000;
const LOCATIONS: u64 = 0x20_0000;

/// What is found of a test's threads that would wait for ever, or of invocations that are none of its
/// threads.
const NO_RACES: [FindingId; 2] = [FindingId::BarrierDivergence, FindingId::Livelock];

/// The executions that end in one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How many, and the number of the first.
    pub executions: (u64, u64),
    /// What makes the first happen again.
    pub choices: Choices,
    /// A race was found in the first.
    pub racing: bool,
}

/// What an exploration saw.
#[derive(Debug, Default)]
pub struct Explored {
    /// By the values of [`LitmusProgram::observables`].
    pub outcomes: BTreeMap<Vec<i64>, Outcome>,
    /// Executions that the filter leaves out.
    pub filtered: u64,
    /// Executions in which a thread of the test would wait for ever at a control barrier.
    pub blocked: u64,
    /// Executions with a race, among those that end in an outcome.
    pub racing: u64,
    /// The first of these races.
    pub race: Option<Race>,
    /// Some execution is a livelock.
    pub stuck: bool,
    /// What else ended executions.
    pub failed: BTreeSet<String>,
    /// Numbers and limits.
    pub totals: Totals,
}

/// A test as one dispatch.
///
/// # Errors
/// [`Refused`] names what has no counterpart in one.
pub fn one_dispatch(test: &LitmusProgram) -> Result<Lowered, Refused> {
    let lowered = lower(test, SHAPE)?;
    if lowered.phases.len() > 1 {
        return Err(Refused("with several dispatches".to_owned()));
    }
    Ok(lowered)
}

/// Explores a test.
///
/// # Errors
/// [`NoSample::Refused`] as [`one_dispatch`]; [`NoSample::Failed`] where executions end otherwise than tests
/// do.
pub fn sample(test: &LitmusProgram, chains: bool, bounds: Bounds) -> Result<Sample, NoSample> {
    let lowered = one_dispatch(test)?;
    let explored = explored(test, &lowered, chains, bounds, Which::All)
        .map_err(|error| NoSample::Failed(error.to_string()))?;
    if let Some(trap) = explored.failed.first() {
        return Err(NoSample::Failed(trap.clone()));
    }
    let limits: Vec<&str> = explored.totals.limits.iter().map(|limit| limit.name()).collect();
    if explored.stuck {
        return Err(NoSample::Failed(Trap::Livelock.to_string()));
    }
    let seen = explored.outcomes.into_iter().map(|(state, outcome)| (state, outcome.executions));
    Ok(Sample {
        device: "the memory of check mode".to_owned(),
        asked: bounds.executions,
        runs: explored.totals.executions,
        filtered: explored.filtered,
        blocked: explored.blocked,
        seen: seen.collect(),
        racy: Some(explored.racing),
        race: explored.race,
        stopped: (!limits.is_empty()).then(|| limits.join(", ")),
        all_states: explored.totals.complete(),
        all_races: explored.blocked == 0 && explored.totals.limits.iter().all(|limit| *limit == Limit::Races),
        ..Sample::default()
    })
}

/// Follows executions of a lowered test that is one dispatch.
///
/// # Errors
/// The shader does not compile.
pub fn explored(
    test: &LitmusProgram,
    lowered: &Lowered,
    chains: bool,
    bounds: Bounds,
    which: Which<'_>,
) -> Result<Explored, CompileError> {
    let options =
        CompileOptions { subgroup_size: lowered.subgroup_size, modelled: true, ..CompileOptions::default() };
    let program = compile(&lowered.words, &options)?;
    let step = STRIDE as usize / 4;
    let mut data = vec![0; test.initial.len().max(1) * step];
    let results = vec![0; lowered.words_per_thread() * test.threads.len().max(1)];
    for (location, value) in test.initial.iter().enumerate() {
        data[location * step] = *value as u32;
    }
    let mut found = Explored::default();
    let (Ok(results), Ok(data)) = (
        MemoryRange::of_words(&results, RESULTS, Reference(0)),
        MemoryRange::of_words(&data, LOCATIONS, Reference(0)),
    ) else {
        found.failed.insert("no memory for the test".to_owned());
        return Ok(found);
    };
    let bindings = program.shader.bindings.iter().enumerate().map(|(index, binding)| {
        let reference = Reference((index as u32) << 16);
        let Some(resource) = lowered.resources.iter().find(|r| r.binding == binding.binding) else {
            return vec![Descriptor::Buffer(results.through(reference))];
        };
        let offset = u64::from(resource.location) * STRIDE;
        let Some(range) = MemoryRange::of(&data.view().part(offset, 4).through(reference)) else {
            return Vec::new();
        };
        vec![if resource.texel {
            Descriptor::TexelBuffer(range, TEXEL_FORMAT, 1)
        } else {
            Descriptor::Buffer(range)
        }]
    });
    let resources =
        Resources { bindings: bindings.collect(), push_constants: vec![0; 8], ..Resources::default() };
    let groups = [lowered.groups, 1, 1];
    let info = DispatchInfo {
        groups,
        workgroup_size: lowered.local_size,
        placement: Placement::in_order(lowered.subgroup_size),
        semantics: program.semantics(),
        subgroup_barriers: program.has_subgroup_barriers(),
        barriers_alone: program.barriers_alone(),
        non_private_workgroup: program.has_no_private_workgroup(),
        ..DispatchInfo::default()
    };
    let word = |range: &MemoryRange, k: u64| {
        raw::load(&range.view(), 4 * k, 4, Ordering::Relaxed).unwrap_or(0) as u32
    };
    let value = |term: Term| {
        let word = match term {
            Term::Constant(value) => return Some(value),
            Term::Register(thread, register) => {
                word(&results, (thread * lowered.words_per_thread() + register) as u64)
            }
            Term::Memory(location) => word(&data, u64::from(location) * step as u64),
        };
        Some(i64::from(word.cast_signed()))
    };
    let line = |site: Site| {
        let source = program.shader.sites.get(site.0 as usize).and_then(|site| site.source);
        source.and_then(|at| lowered.lines.line(at.line)).unwrap_or("?").to_owned()
    };
    let race = |number: u64, finding: &Finding| Race {
        run: number,
        id: finding.id.name().to_owned(),
        title: words::title(finding.id).to_owned(),
        accesses: finding.accesses.iter().map(|access| line(access.site)).collect(),
    };
    let mut number = 0;
    let mut each = |execution: Execution, _: &mut SeededScheduler| {
        let this = number;
        number += 1;
        if let Err(trap) = &execution.outcome {
            match trap {
                Trap::Livelock => found.stuck = true,
                trap => drop(found.failed.insert(trap.to_string())),
            }
        } else if !lowered.barriers_agree(&results.words()) {
            found.blocked += 1;
        } else if test.filter.as_ref().is_some_and(|filter| filter.evaluate(&value) != Some(true)) {
            found.filtered += 1;
        } else {
            let racing = execution.findings.iter().find(|finding| !NO_RACES.contains(&finding.id));
            if let Some(finding) = racing {
                found.racing += 1;
                found.race.get_or_insert_with(|| race(this, finding));
            }
            let state = test.observables().into_iter().map(|term| value(term).unwrap_or(0)).collect();
            let outcome = found.outcomes.entry(state).or_insert_with(|| Outcome {
                executions: (0, this),
                choices: execution.choices,
                racing: racing.is_some(),
            });
            outcome.executions.0 += 1;
        }
        ControlFlow::Continue(())
    };
    let totals = explore(
        &program,
        &Grid { base: [0; 3], groups },
        &resources,
        &mut CheckedMemory::new(CheckOptions { chains, ..CheckOptions::default() }),
        &info,
        &mut SeededScheduler::new(0),
        &ExploreOptions { bounds, which, ..ExploreOptions::default() },
        &mut each,
    );
    match totals {
        Ok(totals) => found.totals = totals,
        Err(Trap::Livelock) => found.stuck = true,
        Err(trap) => drop(found.failed.insert(trap.to_string())),
    }
    Ok(found)
}
