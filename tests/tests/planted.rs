//! The corpus on the driver: every planted bug is found as its file says, every fixed twin is silent, and
//! equal seeds give equal bytes.

use pellucid_memory::finding::FindingId;
use pellucid_tests::corpus::{self, Case, Test, shaders};
use pellucid_tests::judge::{self, Options, Values};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_planted"))
}

fn name(test: &Test, case: &Case) -> String {
    format!("{} {}", test.name, case.name)
}

/// Cases with their tests, known gaps left out.
fn cases(tests: &[Test]) -> Vec<(&Test, &Case)> {
    let gaps: BTreeSet<String> = corpus::gaps().unwrap().into_iter().map(|g| g.case).collect();
    let all = tests.iter().flat_map(|t| t.cases.iter().map(move |c| (t, c)));
    all.filter(|(t, c)| !gaps.contains(&name(t, c))).collect()
}

/// Runs jobs on all cores; returns what went wrong, in the order of the jobs.
fn parallel<J: Sync>(jobs: &[J], work: impl Fn(&J) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(2, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((index, job)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
                {
                    let problems = work(job);
                    wrong.lock().unwrap().extend(problems.into_iter().map(|p| (index, p)));
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong.into_iter().map(|(_, problem)| problem).collect()
}

fn show(problems: &[String]) -> String {
    format!("{} problems:\n{}", problems.len(), problems.join("\n"))
}

fn run(test: &Test, case: &Case, options: &Options) -> Result<judge::Run, Vec<String>> {
    judge::run(program(), test, case, options).map_err(|e| vec![format!("{}: {e:#}", name(test, case))])
}

fn problems_of(test: &Test, case: &Case, options: &Options) -> Vec<String> {
    let run = match run(test, case, options) {
        Ok(run) => run,
        Err(problems) => return problems,
    };
    let which = format!("{} (seed {}, {})", name(test, case), options.seed, options.values.name());
    let lenient =
        Case { expected: Vec::new(), allowed: [&case.allowed[..], &case.expected].concat(), ..case.clone() };
    let case = if case.some_seeds { &lenient } else { case };
    judge::problems(test, case, &run).into_iter().map(|p| format!("{which}: {p}")).collect()
}

/// `0..4`, or what `PELLUCID_SEEDS` says.
fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("PELLUCID_SEEDS") else { return 0..4 };
    let (first, end) = text.split_once("..").expect("PELLUCID_SEEDS is A..B");
    first.parse().unwrap()..end.parse().unwrap()
}

#[test]
fn every_shader_was_built_from_its_source() {
    let tests = corpus::all().unwrap();
    let lock = shaders::lock().unwrap();
    let stale: Vec<String> = shaders::of(&tests)
        .values()
        .filter(|s| lock.get(&s.output) != Some(&s.hash().unwrap()) || !s.path().exists())
        .map(|s| s.output.clone())
        .collect();
    assert!(stale.is_empty(), "run `cargo run -p pellucid-tests --bin planted -- build` for {stale:?}");
}

#[test]
fn every_bug_has_a_fixed_twin_and_every_id_is_planted() {
    let tests = corpus::all().unwrap();
    let bugs: Vec<(&Test, &Case)> = cases(&tests).into_iter().filter(|(_, c)| !c.silent()).collect();
    for (test, _) in &bugs {
        assert!(test.cases.iter().any(Case::silent), "{} has no fixed twin", test.name);
    }
    assert!(bugs.len() >= 60, "{} planted bugs", bugs.len());
    let all = tests.iter().flat_map(|t| &t.cases);
    let planted: BTreeSet<&str> = all.flat_map(|c| c.expected.iter().map(|e| e.id.as_str())).collect();
    use FindingId::*;
    for id in [
        RaceUnordered,
        RacePrivate,
        RaceNotAvailable,
        RaceNotVisible,
        RaceScope,
        RaceStorageClass,
        RaceReference,
        RaceMixedScopeAtomics,
        HazardReadAfterWrite,
        HazardWriteAfterRead,
        HazardWriteAfterWrite,
        HazardReadRacingWrite,
        HazardWriteRacingWrite,
        HazardWriteRacingRead,
        HazardLayoutTransition,
        UninitialisedRead,
        OutOfBounds,
        FreedInUse,
        BarrierDivergence,
        Livelock,
    ] {
        assert!(planted.contains(id.name()), "no planted bug {}", id.name());
    }
}

#[test]
fn bugs_are_explained_as_expected() {
    let tests = corpus::all().unwrap();
    let bless = std::env::var_os("PELLUCID_BLESS").is_some();
    let problems = parallel(&tests, |test| {
        let mut text = String::new();
        let mut problems = Vec::new();
        for (_, case) in cases(std::slice::from_ref(test)).into_iter().filter(|(_, c)| !c.silent()) {
            match run(test, case, &Options::new(0, Values::Varied)) {
                Ok(run) => write!(text, "=== {}\n{}\n", case.name, run.text).unwrap(),
                Err(wrong) => problems.extend(wrong),
            }
        }
        let path = expected_path(test);
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        if bless && problems.is_empty() {
            match text.is_empty() {
                true => drop(std::fs::remove_file(&path)),
                false => std::fs::write(&path, &text).unwrap(),
            }
        } else if known != text {
            let differ = known.lines().zip(text.lines()).find(|(a, b)| a != b);
            let (old, new) = differ.unwrap_or(("(length)", "(length)"));
            problems.push(format!("{}: expected `{old}`, got `{new}` (PELLUCID_BLESS=1 accepts)", test.name));
        }
        problems
    });
    assert!(problems.is_empty(), "{}", show(&problems));
}

fn expected_path(test: &Test) -> PathBuf {
    corpus::root().join(format!("{}.expected", test.name))
}

#[test]
fn bugs_are_found_under_every_seed() {
    let tests = corpus::all().unwrap();
    let bugs: Vec<_> = cases(&tests).into_iter().filter(|(_, c)| !c.silent()).collect();
    let mut jobs: Vec<_> =
        bugs.iter().flat_map(|b| seeds().map(move |s| (*b, Options::new(s, Values::Varied)))).collect();
    jobs.extend(bugs.iter().map(|b| (*b, Options::new(1, Values::Latest))));
    jobs.extend(bugs.iter().map(|b| (*b, Options::new(1, Values::Seeded))));
    let problems = parallel(&jobs, |((test, case), options)| problems_of(test, case, options));
    assert!(problems.is_empty(), "{}", show(&problems));
}

#[test]
fn one_seed_finds_nearly_every_bug_and_sixteen_find_all() {
    let tests = corpus::all().unwrap();
    let bugs: Vec<_> = cases(&tests).into_iter().filter(|(_, c)| !c.silent()).collect();
    let late = parallel(&bugs, |(test, case)| {
        match judge::first_seed(program(), test, case, 16, Values::Varied).unwrap() {
            Some(0) => Vec::new(),
            Some(seed) => vec![format!("{} needs seed {seed}", name(test, case))],
            None => vec![format!("{} is not found", name(test, case))],
        }
    });
    assert!(!late.iter().any(|l| l.ends_with("not found")), "{}", show(&late));
    assert!(late.len() * 20 <= bugs.len(), "of {} bugs {}", bugs.len(), show(&late));
}

#[test]
fn fixed_twins_are_silent_under_every_seed_and_policy() {
    let tests = corpus::all().unwrap();
    let mut jobs = Vec::new();
    for twin in cases(&tests).into_iter().filter(|(_, c)| c.silent()) {
        for seed in seeds() {
            jobs.extend(Values::ALL[..5].iter().map(|values| (twin, Options::new(seed, *values))));
        }
    }
    let problems = parallel(&jobs, |((test, case), options)| problems_of(test, case, options));
    assert!(problems.is_empty(), "{}", show(&problems));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let tests = corpus::all().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let jobs = cases(&tests);
    let problems = parallel(&jobs, |(test, case)| {
        let options = |threads| Options { threads, ..Options::new(0, Values::Seeded) };
        let moved = Options { directory: Some(elsewhere.path().to_owned()), ..options(Some(8)) };
        let others = [options(Some(1)), options(Some(2)), options(Some(8)), moved];
        let Ok(first) = run(test, case, &options(None)) else { return vec![name(test, case)] };
        let same =
            |o: &Options| run(test, case, o).is_ok_and(|r| r.text == first.text && r.report == first.report);
        others.iter().filter(|o| !same(o)).map(|o| format!("{}: {o:?}", name(test, case))).collect()
    });
    assert!(problems.is_empty(), "{}", show(&problems));
}

#[test]
fn known_gaps_are_still_gaps() {
    let tests = corpus::all().unwrap();
    for gap in corpus::gaps().unwrap() {
        let all = tests.iter().flat_map(|t| t.cases.iter().map(move |c| (t, c)));
        let found = all.into_iter().find(|(t, c)| name(t, c) == gap.case);
        let (test, case) = found.unwrap_or_else(|| panic!("gaps.txt names no case: {}", gap.case));
        let problems = problems_of(test, case, &Options::new(0, Values::Varied));
        assert!(!problems.is_empty(), "{} passes now: take it out of gaps.txt", gap.case);
    }
}
