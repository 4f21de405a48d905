//! The detector against the axioms on random programs, through the whole interpreter.
//!
//! Each program is SPIR-V; the interpreter runs it in check mode under a seeded schedule, once with each
//! value policy. What it asked memory for and what it was answered is an execution of the memory model, which
//! the axioms judge whole:
//!
//! - the execution is consistent: the model allows every value that was read;
//! - each race that check mode reports is one;
//! - each race of the execution is reported, or another access explains why it is not: no order was claimed
//!   that is not there;
//! - without a race, each plain read returned the newest value; without atomics, memory is the same in the
//!   end, whatever the schedule and policy, and in plain mode.
//!
//! `PELLUCID_TEST_EXECUTIONS` says how many programs (100000 take some minutes), `PELLUCID_TEST_FIRST` with
//! which seed to begin.

#![allow(clippy::print_stdout)]

mod generate;
mod judge;
mod program;
mod recorder;
mod run;
mod shader;

use judge::Counts;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

#[derive(Default)]
struct Tally {
    counts: Counts,
    /// Programs without races and atomics, of which the final memory was compared.
    same: u64,
    wrong: Vec<String>,
}

#[test]
fn random_programs_are_judged_by_the_axioms() {
    let (first, programs) = (number("PELLUCID_TEST_FIRST", 0), number("PELLUCID_TEST_EXECUTIONS", 2_000));
    let (next, tally) = (AtomicU64::new(first), Mutex::new(Tally::default()));
    let start = Instant::now();
    let work = || {
        let mut own = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + programs {
                break;
            }
            match run::compare(seed) {
                Ok((counts, same)) => {
                    own.counts.add(&counts);
                    own.same += u64::from(same);
                }
                Err(wrong) => own.wrong.push(format!("seed {seed}: {wrong}")),
            }
        }
        let mut all = tally.lock().expect("no thread panics");
        all.counts.add(&own.counts);
        all.same += own.same;
        all.wrong.append(&mut own.wrong);
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(16));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let mut tally = tally.into_inner().expect("no thread panics");
    tally.wrong.sort();
    let c = &tally.counts;
    println!(
        "{programs} programs in {:.1} s: {c:#?}\nthe final memory of {} was compared",
        start.elapsed().as_secs_f64(),
        tally.same
    );
    for wrong in tally.wrong.iter().take(100) {
        println!("{}", wrong.lines().next().unwrap_or_default());
    }
    let shown = tally.wrong.len().min(3);
    assert!(tally.wrong.is_empty(), "{} are wrong:\n{}", tally.wrong.len(), tally.wrong[..shown].join("\n"));
    assert!(c.racing * 4 > c.executions && (c.executions - c.racing) * 4 > c.executions, "{c:?}");
    assert!(c.stale > 0 && c.silent * 20 <= c.racing && tally.same * 20 > programs, "{c:?}");
}

/// A sample of the programs is valid SPIR-V, as SPIRV-Tools sees it.
#[test]
fn random_programs_are_valid() {
    let mut validator = std::process::Command::new("spirv-val");
    if validator.arg("--version").output().is_err() {
        return pellucid_test_host::skipped("spirv-val (Debian: spirv-tools)");
    }
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 0..64 {
        let words = run::words(&generate::program(seed));
        let path = folder.path().join(format!("{seed}.spv"));
        std::fs::write(&path, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
            .expect("a file");
        let mut validator = std::process::Command::new("spirv-val");
        let output =
            validator.args(["--target-env", "vulkan1.2", "--uniform-buffer-standard-layout"]).arg(&path);
        let output = output.output().expect("spirv-val runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "seed {seed}: {said}\n{}", shader::text(&generate::program(seed)));
    }
}
