//! The corpus by hand: `planted run FILE CASE` does what a case says in this process; `build` compiles the
//! shaders; `check` judges cases.

use anyhow::{Context, Result, bail};
use pellucid_tests::judge::{self, Options, Values};
use pellucid_tests::{corpus, host};
use std::io::Write;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(std::io::stdout(), "{error:#}");
            ExitCode::from(3)
        }
    }
}

fn command(arguments: &[String]) -> Result<bool> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut out = std::io::stdout();
    match words[..] {
        ["run", file, case] => {
            let test = corpus::load(&corpus::root().join(file))?;
            let case = test.case(case).with_context(|| format!("{file} has no case {case}"))?;
            // A lost device may have work that never ends: nothing waits for it.
            let device = ManuallyDrop::new(host::Device::open(&host::driver()?)?);
            host::run(&device, &test, case)?;
            Ok(true)
        }
        ["build", ref rest @ ..] => {
            let built = corpus::shaders::build(&corpus::all()?, rest.contains(&"--force"))?;
            writeln!(out, "{built} shaders built")?;
            Ok(true)
        }
        ["check", ref filters @ ..] => {
            let program = std::env::current_exe()?;
            let mut good = true;
            for test in corpus::all()? {
                for case in &test.cases {
                    let name = format!("{} {}", test.name, case.name);
                    if !filters.iter().all(|f| name.contains(f)) {
                        continue;
                    }
                    let run = judge::run(&program, &test, case, &Options::new(0, Values::Varied))?;
                    let problems = judge::problems(&test, case, &run);
                    if !filters.is_empty() {
                        writeln!(out, "{}{}", run.text, run.output)?;
                    }
                    let verdict = if problems.is_empty() { "ok " } else { "BAD" };
                    writeln!(out, "{verdict} {name} {}", problems.join("; "))?;
                    good &= problems.is_empty();
                }
            }
            Ok(good)
        }
        ["seeds", count, ref rest @ ..] => {
            let program = std::env::current_exe()?;
            let count = count.parse()?;
            // A policy by its name, or a machine by its.
            let named = |values: &Values| match values {
                Values::Caches(machine) => machine,
                other => other.name(),
            };
            let values = rest.first().and_then(|name| Values::ALL.into_iter().find(|v| named(v) == *name));
            let filters = &rest[usize::from(values.is_some())..];
            let values = values.unwrap_or(Values::Varied);
            let tests = corpus::all()?;
            let mut found = vec![0u32; count as usize];
            let mut never = 0;
            for (test, case) in tests.iter().flat_map(|t| t.cases.iter().map(move |c| (t, c))) {
                let name = format!("{} {}", test.name, case.name);
                if case.expected.is_empty() || !filters.iter().all(|f| name.contains(f)) {
                    continue;
                }
                match judge::first_seed(&program, test, case, count, values)? {
                    Some(seed) => {
                        found[seed as usize] += 1;
                        if seed > 0 {
                            writeln!(out, "{name}: seed {seed}")?;
                        }
                    }
                    None => {
                        never += 1;
                        writeln!(out, "{name}: none of {count} seeds")?;
                    }
                }
            }
            writeln!(out, "bugs by the first seed that finds them: {found:?}, never {never}")?;
            Ok(never == 0)
        }
        _ => bail!("planted run FILE CASE | build [--force] | check [FILTER]... | seeds COUNT [FILTER]..."),
    }
}
