//! Litmus tests by the axioms and by the machine: our own suite, the suites beside the repository, and random
//! programs.

// What was skipped, and the totals of random programs, are for whoever reads the output of the tests.
#![allow(clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pellucid_memory::litmus::assertion;
use pellucid_memory::litmus::axioms::{self, Goal, Limits};
use pellucid_memory::litmus::expect::{self, Checked};
use pellucid_memory::litmus::program::{Instruction, LitmusProgram};
use pellucid_memory::litmus::random::{self, Comparisons};
use pellucid_memory::litmus::run::{self, By, Property, Settings};
use pellucid_memory::litmus::{Test, herd, machine, text};
use pellucid_memory::model::{ChainRule, ModelOptions, ReadModifyWrite};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A directory beside the repository; tests that need it say that they were skipped.
fn shared(name: &str, test: &str) -> Option<PathBuf> {
    let path = repository().join("../shared/litmus").join(name);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped {test}: {} is not there", path.display());
    None
}

fn check(directory: &Path, settings: &Settings) -> Vec<Checked> {
    let files = expect::tests_below(directory).expect("the directory can be read");
    let csv = std::fs::read_to_string(directory.join("expected.csv")).expect("expectations");
    let mut rows = expect::expectations("expected.csv", &csv, directory, &files).expect("expectations");
    let tests = expect::load_all(&files);
    rows.extend(expect::own_expectations(
        &files
            .iter()
            .filter(|file| file.extension().is_some_and(|e| e == "test"))
            .cloned()
            .collect::<Vec<_>>(),
        &tests,
        &[],
        true,
    ));
    expect::check(&rows, &tests, settings, 2)
}

fn unexpected(checked: &[Checked]) -> Vec<String> {
    checked.iter().filter(|line| !line.as_expected()).map(Checked::line).collect()
}

#[test]
fn every_row_of_our_own_suite_is_as_expected() {
    let checked = check(&repository().join("tests/litmus"), &Settings::default());
    assert!(checked.len() >= 120, "{} rows", checked.len());
    assert_eq!(unexpected(&checked), Vec::<String>::new());
}

#[test]
fn every_test_of_our_own_suite_has_an_expectation_and_says_what_it_pins_down() {
    let directory = repository().join("tests/litmus");
    let csv = std::fs::read_to_string(directory.join("expected.csv")).expect("expectations");
    for file in expect::tests_below(&directory).expect("the directory can be read") {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        assert!(csv.contains(&format!("\n{name},")), "{name} has no expectation");
        let text = std::fs::read_to_string(&file).expect("the test");
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("(* ")), "{name} has no header");
        assert!(run::load(&file).is_ok(), "{name} cannot be read");
    }
}

/// The machine executes in program order: it cannot take a value that a later store of the same thread leads
/// to.
#[test]
fn the_machine_answers_our_own_suite_as_expected_but_for_load_buffering() {
    let settings = Settings { by: By::Machine, ..Settings::default() };
    let checked = check(&repository().join("tests/litmus"), &settings);
    let differing: Vec<String> = checked
        .iter()
        .filter(|line| !line.as_expected())
        .map(|line| line.expectation.file.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    assert_eq!(differing, ["load-buffering.litmus"]);
}

#[test]
fn all_assertions_of_the_khronos_tests_hold_with_both_chain_rules() {
    let Some(directory) = shared("khronos", "all_assertions_of_the_khronos_tests_hold_with_both_chain_rules")
    else {
        return;
    };
    let files = expect::tests_below(&directory).expect("the directory can be read");
    for chain_rule in [ChainRule::Specification, ChainRule::Alloy] {
        for read_modify_write in [ReadModifyWrite::Literal, ReadModifyWrite::ByHalves] {
            let mut held = 0;
            for file in &files {
                let Test::Khronos(test) = run::load(file).expect("a test") else { panic!("another format") };
                for asserted in &test.assertions {
                    let options = ModelOptions { chains: true, chain_rule, read_modify_write };
                    let answer =
                        assertion::decide(&test, asserted, &options, &Limits::default()).expect("an answer");
                    let line = format!("{}:{}: {}", file.display(), asserted.line, asserted.text);
                    assert_eq!(answer.witness.is_some(), asserted.satisfiable, "{chain_rule:?} {line}");
                    held += 1;
                }
            }
            assert_eq!(held, 172);
        }
    }
}

#[test]
fn every_row_of_the_shared_herd_expectations_is_as_expected() {
    let Some(directory) = shared("herd", "every_row_of_the_shared_herd_expectations_is_as_expected") else {
        return;
    };
    for by in [By::Axioms, By::Machine] {
        for chain_rule in [ChainRule::Specification, ChainRule::Alloy] {
            let mut settings = Settings { by, ..Settings::default() };
            settings.options.chain_rule = chain_rule;
            let checked = check(&directory, &settings);
            assert!(checked.len() >= 43);
            assert_eq!(unexpected(&checked), Vec::<String>::new(), "{by:?} {chain_rule:?}");
        }
    }
}

fn compare(programs: std::ops::Range<u64>, events: usize, candidates: u64) -> Comparisons {
    let limits = Limits { unroll: 4, candidates };
    let mut all = Comparisons::default();
    for seed in programs {
        let options = ModelOptions { chains: seed % 4 != 0, ..ModelOptions::default() };
        all.merge(random::compare(seed, events, &options, &limits));
    }
    all
}

fn holds(all: &Comparisons) {
    eprintln!("{}", all.line());
    for (seed, outcome) in &all.forbidden {
        eprintln!("seed {seed} outcome {outcome:?}");
    }
    assert_eq!(all.forbidden, Vec::new());
    assert!(all.skipped * 50 <= all.programs, "too many programs hit a bound");
    // What is missing in race-free programs is load buffering and nothing else.
    assert_eq!(all.missing.get("race-free and in program order"), None);
}

/// Counted for what was reached and not for how much: large programs have too many outcomes that race.
fn without_coverage(of: Comparisons) -> Comparisons {
    Comparisons { allowed: 0, reached: 0, skipped: 0, missing: BTreeMap::new(), ..of }
}

#[test]
fn the_machine_never_reaches_what_the_axioms_forbid() {
    let mut all = compare(0..1400, 6, 100_000);
    all.merge(compare(10_000..10_400, 8, 100_000));
    all.merge(compare(20_000..20_080, 9, 100_000));
    all.merge(without_coverage(compare(30_000..30_120, 14, 4_000)));
    holds(&all);
    assert!(all.reached * 10 >= all.allowed * 8, "the machine reaches four fifths of what is allowed");
}

#[test]
#[ignore = "nightly: 100,000 programs take minutes in a release build (`cargo test --release -p pellucid-memory -- --ignored`)"]
fn the_machine_never_reaches_what_the_axioms_forbid_nightly() {
    let mut all = compare(100_000..180_000, 6, 100_000);
    all.merge(compare(200_000..215_000, 8, 100_000));
    all.merge(without_coverage(compare(300_000..305_000, 14, 50_000)));
    holds(&all);
}

/// A program printed and read back is the same program.
#[test]
fn printed_programs_read_back() {
    for seed in 0..300 {
        let program = random::program(seed, 12);
        let printed = text::program(&program);
        let back = herd::read("printed", &printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(text::program(&back), printed);
        let code =
            |program: &LitmusProgram| program.threads.iter().map(|t| t.code.clone()).collect::<Vec<_>>();
        assert_eq!(code(&back), code(&program), "{printed}");
    }
}

/// Unsupported chains only ever forbid less: every outcome with chains is one without.
#[test]
fn chains_only_take_outcomes_away() {
    let limits = Limits { unroll: 4, candidates: 50_000 };
    for seed in 0..200 {
        let program = random::program(seed, 7);
        let outcomes = |chains| {
            let options = ModelOptions { chains, ..ModelOptions::default() };
            axioms::search(&program, &options, &limits, &Goal::Outcomes)
        };
        let (with, without) = (outcomes(true), outcomes(false));
        if with.complete && without.complete {
            assert!(with.outcomes.is_subset(&without.outcomes), "seed {seed}");
        }
    }
}

/// Answers do not depend on how many threads decide, nor on anything else that is not in the test.
#[test]
fn answers_are_the_same_every_time() {
    let program = random::program(77, 8);
    let search = || {
        let found = machine::search(&program, &ModelOptions::default(), &Limits::default(), &Goal::Race);
        found.witness.map(|witness| format!("{:?}{:?}", witness.reads_from, witness.races))
    };
    let first = search();
    assert!((0..3).all(|_| search() == first));
}

#[test]
fn syntax_errors_name_the_place_and_what_was_expected() {
    let cases: BTreeMap<&str, &str> = BTreeMap::from([
        ("C test\n{ }\n", "t.litmus:1:1: expected `VULKAN`, the language of the test, found `C`"),
        ("VULKAN t\n{ x=; }", "t.litmus:2:5: expected an integer constant of at most 64 bits, found `;`"),
        ("VULKAN t\n{ x 0; }", "t.litmus:2:5: expected `=` or `aliases`, found `0`"),
        ("VULKAN t\n{ x=0; }\nP0@sg 0,wg 0 ;", "t.litmus:3:14: expected `,`, found `;`"),
        (
            "VULKAN t\n{ x=0; }\nP0@sg 0,wg 0,qf 0;\n st.sc0 x, ;",
            "t.litmus:4:12: expected a register or an integer constant, found `;`",
        ),
        (
            "VULKAN t\n{ x=0; }\nP0@sg 0,wg 0,qf 0;\n st.atom.sc0 x, 1 ;",
            "t.litmus:4:2: expected a scope (.sg, .wg, .qf, .dv) on an atomic, found `st`",
        ),
        (
            "VULKAN t\n{ x=0; }\nP0@sg 0,wg 0,qf 0;\n goto LC7 ;\nexists (P0:r0 == 1)",
            "t.litmus:4:7: expected a label of this thread, found `LC7`",
        ),
        (
            "VULKAN t\n{ x=0; }\nP0@sg 0,wg 0,qf 0;\n ld.sc0 r0, x ;\nexists (P0:r0 1)",
            "t.litmus:5:15: expected a comparison: =, ==, !=, <, <=, > or >=, found `1`",
        ),
        (
            "VULKAN t\n{ x=0; }\nP0@sg 0,wg 0,qf 0;\n ld.sc0 r0, x | ld.sc0 r0, x ;\n",
            "t.litmus:4:17: expected at most 1 columns, one for each thread, found `ld`",
        ),
        (
            "VULKAN t\n{ x=0; }\nP0@sg 0,wg 0,qf 0;\n ld.sc0 r0, x ;\nexists (P1:r0 == 1)",
            "t.litmus:5:9: expected a thread of this test, found `P1`",
        ),
        (
            "VULKAN t\n{ }\nP0@sg 0,wg 0,qf 0;\n A: ;\n A: ;\n",
            "t.litmus:5:2: expected a label that this thread does not have yet, found `A`",
        ),
        ("", "t.litmus:1:1: expected `VULKAN`, the language of the test, found the end of the file"),
    ]);
    for (source, message) in cases {
        let error = run::parse("t.litmus", source).expect_err(source);
        assert_eq!(error.to_string(), message);
    }
    let cases: BTreeMap<&str, &str> = BTreeMap::from([
        ("NEWTHREAD\nst.sc0 x = a", "t.test:2:12: expected an integer value, found `a`"),
        (
            "NEWTHREAD\ncbar.scopewg",
            "t.test:2:13: expected the number of the control barrier's instance, found the end of the line",
        ),
        (
            "NEWTHREAD\nld.sc0 x = 1 2",
            "t.test:2:15: expected one value: only a read-modify-write has a second one, found `2`",
        ),
        ("st.sc0 x\nSLOC x zz", "t.test:2:8: expected a variable of this test, found `zz`"),
        ("st.sc0 x\nSATISFIABLE (consistent[X]", "t.test:2:27: expected `)`, found the end of the file"),
        ("SSW 1", "t.test:1:6: expected the number of a thread, found the end of the line"),
        (
            "NEWTHREAD\nst.sc0 x\nSATISFIABLE #dr",
            "t.test:3:16: expected a comparison: =, !=, <, =<, <=, > or >=, found the end of the file",
        ),
        (
            "NEWTHREAD\nst.sc0 x\nSATISFIABLE no X.nothing",
            "t.test:3:18: expected a set or relation of the execution (such as locord, hb, rf, dr, W, R), found `nothing`",
        ),
    ]);
    for (source, message) in cases {
        let error = run::parse("t.test", source).expect_err(source);
        assert_eq!(error.to_string(), message);
    }
    let error = run::parse("t.test", "NEWTHREAD\nfoo.sc0 x").expect_err("an unknown token");
    assert!(error.to_string().starts_with("t.test:2:1: expected an instruction's token"), "{error}");
}

fn outcome(source: &str, settings: &Settings) -> Option<bool> {
    let test = run::parse("t.litmus", source).unwrap_or_else(|error| panic!("{error}"));
    run::run(&test, Property::Outcome, settings).expect("an answer").holds
}

/// Conditions, loops, branches, arithmetic, addresses and value cycles.
#[test]
fn programs_mean_what_the_format_says() {
    let one = |init: &str, code: &str, ask: &str| {
        let rows: String = code.lines().map(|line| format!(" {} ;\n", line.trim())).collect();
        format!("VULKAN t\n{{ {init} }}\nP0@sg 0,wg 0,qf 0 ;\n{rows}{ask}")
    };
    let sum = "LC0:\nadd r1, r1, r0\nsub r0, r0, 1\nbgt r0, 0, LC0";
    let cases = [
        (one("P0:r0=4;", sum, "forall (P0:r1 == 10)"), true),
        (
            one(
                "P0:r0=-3; P0:r2=5;",
                "mul r1, r0, r2\ndiv r3, r1, 2",
                "exists (P0:r1 == -15 /\\ P0:r3 = -7)",
            ),
            true,
        ),
        (
            one(
                "P0:r0=6;",
                "and r1, r0, 3\nor r2, r0, 9\nxor r3, r0, 15",
                "forall (P0:r1 == 2 /\\ P0:r2 == 15 /\\ P0:r3 == 9)",
            ),
            true,
        ),
        (one("x=7; y=x;", "ld.sc0 r0, y", "forall (P0:r0 == 7)"), true),
        (one("x=7; y aliases x;", "st.sc0 x, 9\nld.sc0 r0, y", "exists (P0:r0 == 7)"), true),
        (one("x=7; P0:r0=x; P0:r1=&x;", "st.sc0 x, r1", "exists (P0:r0 == x /\\ [x] == x)"), true),
        (one("x=0x10;", "ld.sc0 r0, x", "~exists (P0:r0 != 16)"), true),
        (one("x=1;", "ld.sc0 r0, x", "exists (not (P0:r0 == 1) \\/ P0:r0 >= 1 /\\ P0:r0 < 2)"), true),
        (one("x=1;", "ld.sc0 r0, x\nbeq r0, 1, LC1\nst.sc0 x, 5\nLC1:", "exists (x == 5)"), false),
        (
            one(
                "x=1;",
                "ld.sc0 r0, x\nst.sc0 x, 5",
                "locations [x; P0:r0] final (x[0] == 5 /\\ 0:r0 <= 1) with tso: ~exists;",
            ),
            true,
        ),
    ];
    for by in [By::Axioms, By::Machine] {
        for (source, expected) in &cases {
            let settings =
                Settings { by, limits: Limits { unroll: 8, ..Limits::default() }, ..Settings::default() };
            assert_eq!(outcome(source, &settings), Some(*expected), "{by:?} {source}");
        }
    }
    let thin_air = "VULKAN t\n{ x=0; y=0; }\nP0@sg 0,wg 0,qf 0 | P1@sg 0,wg 0,qf 0 ;\n ld.atom.wg.sc0 r0, x | ld.atom.wg.sc0 r0, y ;\n \
                    st.atom.wg.sc0 y, r0 | st.atom.wg.sc0 x, r0 ;\nexists (P0:r0 == 42)";
    assert_eq!(outcome(thin_air, &Settings::default()), Some(true));
    assert_eq!(outcome(thin_air, &Settings { by: By::Machine, ..Settings::default() }), Some(false));
}

/// A search that hits its bound says so instead of answering.
#[test]
fn a_bound_is_not_an_answer() {
    let settings = Settings { limits: Limits { candidates: 3, ..Limits::default() }, ..Settings::default() };
    let program = random::program(3, 14);
    let found = axioms::search(&program, &ModelOptions::default(), &settings.limits, &Goal::Outcomes);
    assert!(!found.complete);
    assert!(program.threads.iter().flat_map(|t| &t.code).any(|i| matches!(i, Instruction::Load(..))));
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    let test =
        run::parse("t.litmus", "VULKAN t\n{ x=0; }\nP0@sg 0,wg 0,qf 0;\n ld.sc0 r0, x ;\n").expect("a test");
    let vulkan = Settings { by: By::Vulkan, ..Settings::default() };
    let refused = run::run(&test, Property::RaceFree, &vulkan).expect_err("not there");
    assert_eq!(refused.to_string(), "not implemented in Pellucid: litmus --by vulkan");
    let asked = run::run(&test, Property::Outcome, &Settings::default()).expect_err("no question");
    assert!(asked.to_string().contains("no outcome to check"));
}
