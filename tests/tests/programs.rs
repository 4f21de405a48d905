//! Planted bugs, each with its fixed twin: see `pellucid_tests::program` for the format.
#![allow(clippy::print_stderr)]

use anyhow::{Context as _, bail, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use pellucid_tests::process::{self, Printed};
use pellucid_tests::program::Program;
use std::path::Path;

const HOST: &str = env!("CARGO_BIN_EXE_shader-host");

/// Seeds under which a twin has to be silent, besides the value policies.
const SEEDS: [&str; 4] = ["0", "1", "2", "63"];

fn main() -> anyhow::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut trials = Vec::new();
    for program in Program::all(&folder)? {
        let ignored = program.ignored.is_some();
        let (bug, twin, same) = (program.clone(), program.clone(), program);
        let trial = |what: &str, name: &str, run: Box<dyn FnOnce() -> anyhow::Result<()> + Send>| {
            let run = move || run().map_err(|error| Failed::from(format!("{error:#}")));
            Trial::test(format!("{name}::{what}"), run).with_ignored_flag(ignored)
        };
        let name = bug.name.clone();
        trials.push(trial("is_found", &name, Box::new(move || is_found(&bug))));
        trials.push(trial("twin_is_silent", &name, Box::new(move || twin_is_silent(&twin))));
        trials.push(trial("is_the_same_everywhere", &name, Box::new(move || is_the_same_everywhere(&same))));
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(2));
    libtest_mimic::run(&arguments, trials).exit()
}

fn run(program: &Program, fixed: bool, more: &[(&str, &str)], directory: &Path) -> anyhow::Result<Printed> {
    let mut arguments = vec![program.binary(fixed).to_string_lossy().into_owned()];
    arguments.extend(program.exec.iter().cloned());
    let command = format!("pellucid exec {} {}", program.name, program.exec.join(" "));
    let mut variables = vec![("PELLUCID_MODE", "check"), ("PELLUCID_COMMAND", command.as_str())];
    variables.extend(program.options.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    variables.extend(more);
    Ok(process::run(Path::new(HOST), &arguments, &variables, directory)?)
}

/// The ids of the findings in a report, in order.
fn ids(report: &str) -> Vec<&str> {
    let heads = report.lines().filter_map(|line| line.strip_prefix("error["));
    heads.filter_map(|line| line.split(']').next()).collect()
}

fn is_found(program: &Program) -> anyhow::Result<()> {
    let printed = run(program, false, &[], &program.folder)?;
    let found = ids(&printed.stderr);
    ensure!(
        found.first() == Some(&program.finds.as_str()),
        "expected {} first, found {found:?}; status {:?}\n{}",
        program.finds,
        printed.status,
        printed.stderr
    );
    for name in &program.names {
        ensure!(printed.stderr.contains(name.as_str()), "the report does not say \"{name}\":\n{}", printed.stderr);
    }
    expect_test::expect_file![program.expected()].assert_eq(&printed.stderr);
    Ok(())
}

fn twin_is_silent(program: &Program) -> anyhow::Result<()> {
    let policies = ["latest", "stale", "seeded"].map(|values| ("0", values));
    for (seed, values) in SEEDS.map(|seed| (seed, "seeded")).into_iter().chain(policies) {
        let options = [("PELLUCID_SEED", seed), ("PELLUCID_VALUES", values)];
        let printed = run(program, true, &options, &program.folder)?;
        if !ids(&printed.stderr).is_empty() || printed.status != Some(0) {
            bail!("seed {seed}, values {values}: status {:?}\n{}", printed.status, printed.stderr);
        }
        let total = format!("pellucid: 0 findings, 0 suppressed, seed {seed}, 1 dispatch checked\n");
        ensure!(printed.stderr == total, "seed {seed}, values {values}: {}", printed.stderr);
    }
    Ok(())
}

fn is_the_same_everywhere(program: &Program) -> anyhow::Result<()> {
    let elsewhere = tempfile::tempdir().context("a temporary folder")?;
    for seed in ["0", "7"] {
        let with = |threads: &str, directory: &Path| {
            run(program, false, &[("PELLUCID_SEED", seed), ("PELLUCID_THREADS", threads)], directory)
        };
        let first = with("1", &program.folder)?;
        ensure!(!ids(&first.stderr).is_empty(), "seed {seed}: nothing is found\n{}", first.stderr);
        for (threads, directory) in [("2", program.folder.as_path()), ("8", &program.folder), ("1", elsewhere.path())] {
            let again = with(threads, directory)?;
            ensure!(again == first, "seed {seed}, {threads} threads:\n{}\nwas\n{}", again.stderr, first.stderr);
        }
    }
    Ok(())
}
