//! Exhaustive exploration against the axioms: litmus tests and random programs that are one dispatch have the
//! same outcomes, and race exactly where the axioms find a race. Load buffering is the exception: what is
//! missing is what the axioms reach by no execution in program order, and, where a race was found and the
//! exploration calls itself incomplete for it, outcomes of the race. Every outcome's replay repeats it.

#![allow(clippy::print_stdout)]

use pellucid::vulkan::layout::{STRIDE, Shape};
use pellucid::vulkan::lower::{Lowered, lower};
use pellucid_memory::access::Reference;
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::device::MemoryRange;
use pellucid_memory::explore::{Bounds, Choices, Limit, Totals};
use pellucid_memory::finding::FindingId;
use pellucid_memory::litmus::axioms::{self, Goal, Limits};
use pellucid_memory::litmus::program::{Program, Term};
use pellucid_memory::litmus::{Test, random, run};
use pellucid_memory::model::ModelOptions;
use pellucid_memory::raw;
use pellucid_memory::scope::StorageClasses;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::exec::explore::{Execution, ExploreOptions, Which, explore};
use pellucid_shader_interp::exec::modelled::SeededScheduler;
use pellucid_shader_interp::interface::{Descriptor, Grid, Resources};
use pellucid_shader_interp::{CompileOptions, compile};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Whatever the device, invocations are explored one by one.
const SHAPE: Shape = Shape { smallest: 1, largest: 32, fine: false, stagger: false, alone: true };

/// Our tests with outcomes in which a load takes what a later store leads to: in `load-buffering` another
/// thread's; in the others a private access reads what its own thread writes later by another reference, or
/// what a thread writes that waited for it.
const LOAD_BUFFERING: [&str; 3] =
    ["alias-private-read-then-write", "load-buffering", "private-write-after-read"];

/// Our tests that are not one dispatch of one queue.
const REFUSED: [(&str, &str); 7] = [
    ("private-system-read-first", "with several dispatches"),
    ("private-system-write-first", "with several dispatches"),
    ("quorum-barrier", "with named or quorum barriers"),
    ("quorum-barrier-hang", "with named or quorum barriers"),
    ("reference-device-domain", "with several dispatches"),
    ("reference-shader-only", "with several dispatches"),
    ("scope-queue-family", "with several queue families"),
];

/// What is found of a test's threads that would wait for ever, or of invocations that are none of its
/// threads.
const NO_RACES: [FindingId; 2] = [FindingId::BarrierDivergence, FindingId::Livelock];

/// What exploration saw.
#[derive(Debug, Default)]
struct Explored {
    /// With the choices of an execution that ends so, and whether something was found in it.
    outcomes: BTreeMap<Vec<i64>, (Choices, bool)>,
    racing: bool,
    /// In some execution a thread of the test would wait for ever.
    blocked: bool,
    /// Some execution is a livelock.
    stuck: bool,
    failed: BTreeSet<String>,
    totals: Totals,
}

fn semantics(program: &pellucid_shader_interp::Program) -> Vec<StorageClasses> {
    let atomics = program.memory.iter().filter(|m| m.access.atomic.is_some());
    atomics
        .flat_map(|m| [m.access.semantics.classes, m.access.unequal.classes])
        .chain(program.barriers.iter().map(|b| b.semantics.classes))
        .filter(|c| !c.is_empty())
        .collect()
}

fn explored(test: &Program, lowered: &Lowered, chains: bool, bounds: Bounds, which: Which<'_>) -> Explored {
    let options = CompileOptions {
        entry_point: "main".into(),
        specialization: BTreeMap::new(),
        subgroup_size: lowered.subgroup_size,
        modelled: true,
        push_unset: false,
        notes: false,
        debug: false,
        keep_variables: false,
    };
    let program = compile(&lowered.words, &options).expect("a lowered test compiles");
    let step = STRIDE as usize / 4;
    let mut data = vec![0; test.initial.len().max(1) * step];
    let results = vec![0; lowered.words_per_thread() * test.threads.len().max(1)];
    for (location, value) in test.initial.iter().enumerate() {
        data[location * step] = *value as u32;
    }
    let memory =
        |words: &[u32], address| MemoryRange::of_words(words, address, Reference(0)).expect("memory");
    let (results, data) = (memory(&results, 0x10_0000), memory(&data, 0x20_0000));
    let bindings = program.shader.bindings.iter().enumerate().map(|(index, binding)| {
        let reference = Reference((index as u32) << 16);
        let Some(resource) = lowered.resources.iter().find(|r| r.binding == binding.binding) else {
            return vec![Descriptor::Buffer(results.through(reference))];
        };
        let offset = u64::from(resource.location) * STRIDE;
        let range = MemoryRange::of(&data.view().part(offset, 4).through(reference)).expect("a part");
        // VK_FORMAT_R32_UINT.
        vec![if resource.texel { Descriptor::TexelBuffer(range, 98, 1) } else { Descriptor::Buffer(range) }]
    });
    let resources =
        Resources { bindings: bindings.collect(), push_constants: vec![0; 8], ..Resources::default() };
    let groups = [lowered.groups, 1, 1];
    let info = DispatchInfo {
        groups,
        workgroup_size: lowered.local_size,
        subgroup_size: lowered.subgroup_size,
        semantics: semantics(&program),
        ..DispatchInfo::default()
    };
    let mut found = Explored::default();
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
    let mut each = |execution: Execution, _: &mut SeededScheduler| {
        if let Err(trap) = &execution.outcome {
            match trap {
                Trap::Livelock => found.stuck = true,
                trap => drop(found.failed.insert(trap.to_string())),
            }
        } else if !lowered.barriers_agree(&results.words()) {
            found.blocked = true;
        } else if test.filter.as_ref().is_none_or(|filter| filter.evaluate(&value) == Some(true)) {
            let racing = execution.findings.iter().any(|finding| !NO_RACES.contains(&finding.id));
            found.racing |= racing;
            let state = test.observables().into_iter().map(|term| value(term).unwrap_or(0)).collect();
            found.outcomes.entry(state).or_insert((execution.choices, racing));
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
    found
}

/// Sums over tests.
#[derive(Debug, Default)]
struct Tally {
    /// Bounds of the two searches.
    bounds: Bounds,
    limits: Limits,
    compared: usize,
    outcomes: usize,
    executions: u64,
    repeated: u64,
    racing: usize,
    /// With outcomes that only load buffering leads to, and how many.
    buffering: BTreeSet<String>,
    buffered: usize,
    /// With outcomes that only races lead to, and how many.
    raced: BTreeSet<String>,
    missed: usize,
    refused: BTreeMap<String, String>,
    /// With a livelock.
    stuck: BTreeSet<String>,
    /// Where one of the two searches hit a bound.
    unbounded: Vec<String>,
    wrong: Vec<String>,
}

impl Tally {
    fn new(bounds: Bounds, candidates: u64) -> Tally {
        Tally { bounds, limits: Limits { candidates, ..Limits::default() }, ..Tally::default() }
    }

    fn compare(&mut self, name: &str, test: &Program, chains: bool) {
        let limits = &self.limits.clone();
        let lowered = match lower(test, SHAPE) {
            Ok(lowered) if lowered.phases.len() > 1 => {
                return drop(self.refused.insert(name.to_owned(), "with several dispatches".to_owned()));
            }
            Ok(lowered) => lowered,
            Err(refused) => return drop(self.refused.insert(name.to_owned(), refused.0)),
        };
        let options = ModelOptions { chains, ..ModelOptions::default() };
        let search = |goal| axioms::search(test, &options, limits, &goal);
        let explored = explored(test, &lowered, chains, self.bounds, Which::All);
        let allowed = search(Goal::Outcomes);
        let [race, in_order] = [Goal::Race, Goal::RaceInOrder].map(search);
        let limits_hit = explored.totals.limits.iter().any(|limit| *limit != Limit::Races);
        if !allowed.complete || !race.complete || !in_order.complete || limits_hit {
            return self.unbounded.push(format!("{name} chains={chains}: {:?}", explored.totals));
        }
        let mut wrong = Vec::new();
        for state in explored.outcomes.keys().filter(|state| !allowed.outcomes.contains(*state)) {
            wrong.push(format!("forbidden outcome {state:?}"));
        }
        for state in allowed.outcomes.iter().filter(|state| !explored.outcomes.contains_key(*state)) {
            let condition = random::exactly(&test.observables(), state).expect("something to observe");
            let in_order = axioms::search(test, &options, limits, &Goal::StateInOrder(&condition));
            if in_order.witness.is_some() && explored.totals.limits.contains(&Limit::Races) {
                self.raced.insert(name.to_owned());
                self.missed += 1;
            } else if in_order.witness.is_some() || !in_order.complete {
                wrong.push(format!("missing outcome {state:?}"));
            } else {
                self.buffering.insert(name.to_owned());
                self.buffered += 1;
            }
        }
        if explored.racing && race.witness.is_none() {
            wrong.push("a race that is none".to_owned());
        }
        if !explored.racing && !explored.blocked && in_order.witness.is_some() {
            wrong.push("no race found".to_owned());
        }
        if !explored.failed.is_empty() {
            wrong.push(format!("failed: {:?}", explored.failed));
        }
        for (state, (choices, racing)) in &explored.outcomes {
            let again = self::explored(test, &lowered, chains, self.bounds, Which::Only(choices));
            if again.outcomes != BTreeMap::from([(state.clone(), (choices.clone(), *racing))]) {
                wrong.push(format!("{choices} does not repeat {state:?}: {:?}", again.outcomes));
            }
        }
        if explored.stuck {
            self.stuck.insert(name.to_owned());
        }
        self.compared += 1;
        self.outcomes += explored.outcomes.len();
        self.executions += explored.totals.executions;
        self.repeated += explored.totals.repeated;
        self.racing += usize::from(explored.racing);
        if !wrong.is_empty() {
            self.wrong.push(format!("{name} chains={chains}: {}", wrong.join("; ")));
        }
    }

    fn print(&self, start: Instant) {
        println!(
            "{} compared in {:.1} s: {} outcomes, {} executions and {} repeats, {} racing; {} outcomes of {} tests need load buffering, {} of \
             {} races; refused: {:?}; bounds hit: {:?}",
            self.compared,
            start.elapsed().as_secs_f64(),
            self.outcomes,
            self.executions,
            self.repeated,
            self.racing,
            self.buffered,
            self.buffering.len(),
            self.missed,
            self.raced.len(),
            self.refused,
            self.unbounded
        );
    }
}

/// Compares every `.litmus` file of a folder, with and without chains.
fn compare_all(folder: &Path, mut tally: Tally) -> Tally {
    let files = std::fs::read_dir(folder).expect("the tests").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "litmus")).collect();
    files.sort();
    let start = Instant::now();
    for path in files {
        let Test::Herd(program) = run::load(&path).expect("a test") else { continue };
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        for chains in [true, false] {
            tally.compare(&name, &program, chains);
        }
    }
    tally.print(start);
    tally
}

#[test]
fn exploration_and_axioms_agree_on_our_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/litmus");
    let tally = compare_all(&folder, Tally::new(Bounds::default(), Limits::default().candidates));
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert!(tally.unbounded.is_empty(), "{}", tally.unbounded.join("\n"));
    let refused = REFUSED.map(|(name, why)| (name.to_owned(), why.to_owned()));
    assert_eq!(tally.refused, BTreeMap::from(refused));
    assert_eq!(tally.raced, BTreeSet::new());
    assert_eq!(tally.stuck, BTreeSet::new());
    assert_eq!(tally.buffering, BTreeSet::from(LOAD_BUFFERING.map(str::to_owned)));
}

#[test]
fn exploration_and_axioms_agree_on_the_tests_of_the_dartagnan_verifier() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/litmus/herd");
    if !folder.is_dir() {
        println!("skipped: ../shared/litmus/herd is not there");
        return;
    }
    let tally = compare_all(&folder, Tally::new(Bounds { executions: 4_000, steps: 300 }, 100_000));
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert_eq!(tally.raced, BTreeSet::new());
    // Threads that wait for each other.
    assert_eq!(tally.stuck, BTreeSet::from(["cbar-2".to_owned()]));
    // Two threads that may exchange for ever.
    assert_eq!(tally.unbounded.len(), 2, "{:?}", tally.unbounded);
}

#[test]
fn exploration_and_axioms_agree_on_random_programs() {
    let count = std::env::var("PELLUCID_TEST_EXECUTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let mut tally = Tally::new(Bounds::default(), 100_000);
    let start = Instant::now();
    for seed in 0..count {
        let program = random::program(seed, 7);
        if program.observables().is_empty() {
            continue;
        }
        tally.compare(&format!("random {seed}"), &program, seed % 4 != 0);
    }
    let refused: BTreeSet<String> = tally.refused.values().cloned().collect();
    tally.refused = refused.into_iter().map(|why| (why, String::new())).collect();
    tally.print(start);
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert!(tally.compared as u64 * 4 >= count, "{}", tally.compared);
}
