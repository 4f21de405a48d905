//! Exhaustive exploration against the axioms: litmus tests and random programs that are one dispatch have
//! the same outcomes, and race exactly where the axioms find a race. Load buffering is the exception: what
//! is missing is what the axioms reach by no execution in program order, and, where writes race and the
//! exploration calls itself incomplete for it, outcomes of the race. Every outcome's replay repeats it.

#![allow(clippy::print_stdout)]

use pellucid::vulkan::explored::{Outcome, explored, one_dispatch};
use pellucid_memory::explore::{Bounds, Limit};
use pellucid_memory::litmus::axioms::{self, Goal, Limits};
use pellucid_memory::litmus::program::LitmusProgram;
use pellucid_memory::litmus::{Test, random, run};
use pellucid_memory::model::ModelOptions;
use pellucid_shader_interp::exec::explore::Which;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

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

    fn compare(&mut self, name: &str, test: &LitmusProgram, chains: bool) {
        let limits = &self.limits.clone();
        let lowered = match one_dispatch(test) {
            Ok(lowered) => lowered,
            Err(refused) => return drop(self.refused.insert(name.to_owned(), refused.0)),
        };
        let options = ModelOptions { chains, ..ModelOptions::default() };
        let search = |goal| axioms::search(test, &options, limits, &goal);
        let explore = |which| explored(test, &lowered, chains, self.bounds, which).expect("it compiles");
        let explored = explore(Which::All);
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
        if explored.racing > 0 && race.witness.is_none() {
            wrong.push("a race that is none".to_owned());
        }
        if explored.racing == 0 && explored.blocked == 0 && in_order.witness.is_some() {
            wrong.push("no race found".to_owned());
        }
        if !explored.failed.is_empty() {
            wrong.push(format!("failed: {:?}", explored.failed));
        }
        for (state, outcome) in &explored.outcomes {
            let again = explore(Which::Only(&outcome.choices));
            let only = Outcome { executions: (1, 0), ..outcome.clone() };
            if again.outcomes != BTreeMap::from([(state.clone(), only)]) {
                wrong.push(format!("{} does not repeat {state:?}: {:?}", outcome.choices, again.outcomes));
            }
        }
        if explored.stuck {
            self.stuck.insert(name.to_owned());
        }
        self.compared += 1;
        self.outcomes += explored.outcomes.len();
        self.executions += explored.totals.executions;
        self.repeated += explored.totals.repeated;
        self.racing += usize::from(explored.racing > 0);
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

/// A release that executes first comes last in modification order: the updates in front of it do not carry it
/// on, so that the last load still races with it, and may read what its own thread wrote.
const BEHIND: &str = "VULKAN behind
{ x=0; y=0; P1:r0=0; P1:r1=0; P1:r2=0; P1:r3=0; }
 P0@sg 0, wg 0, qf 0            | P1@sg 1, wg 0, qf 0                                   ;
 st.atom.rel.wg.sc1.semsc1 y, 1 | ld.nonpriv.sc1 r0, x                                  ;
 st.nonpriv.sc1 x, 4            | rmw.atom.acq_rel.qf.sc1.semsc1.semav.semvis r1, y, 2  ;
                                | rmw.atom.acq_rel.dv.sc1.semsc1.semav.semvis r2, y, 3  ;
                                | ld.vis.dv.sc1 r3, y                                   ;
";

#[test]
fn what_enters_in_front_is_judged_where_it_is() {
    let Ok(Test::Herd(program)) = run::parse("behind.litmus", BEHIND) else { panic!("a program") };
    let mut tally = Tally::new(Bounds::default(), Limits::default().candidates);
    for chains in [true, false] {
        tally.compare("behind", &program, chains);
    }
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert_eq!((tally.compared, tally.outcomes, tally.missed), (2, 16, 0));
}
