//! A bug, its finding, its fix, and the clean run after it.
//!
//! The program is a process of its own that loads the driver and sums squares with a shader; the first
//! shader's barrier orders, but makes nothing available or visible.

use crate::options::DriverOptions;
use crate::run::{self, Job};
use anyhow::Context as _;
use std::path::Path;

const BUG: (&str, &str, &[u8]) =
    ("reduce.comp", include_str!("demo/reduce.comp"), include_bytes!("demo/reduce.spv"));
const FIXED: (&str, &str, &[u8]) =
    ("reduce_fixed.comp", include_str!("demo/reduce_fixed.comp"), include_bytes!("demo/reduce_fixed.spv"));

/// The sum that the shader should compute: of the squares of 0 to 63.
const EXPECTED: u32 = 85_344;

/// What `pellucid exec` gets beside the shader.
const ARGUMENTS: [&str; 10] = [
    "--groups",
    "1",
    "--buffer",
    "0:0=u32x64=iota",
    "--buffer",
    "0:1=u32x64",
    "--buffer",
    "0:2=u32x1",
    "--dump",
    "0:2",
];

/// The command that does the same in the repository's root.
fn shown(name: &str) -> String {
    let shader = name.replace(".comp", ".spv");
    format!("pellucid exec cli/src/demo/{shader} {}", ARGUMENTS.join(" "))
}

/// Runs both shaders in check mode. The status is 0 if the first has a finding and the second has none.
///
/// # Errors
/// The driver is not there or a program cannot be started.
pub fn run() -> anyhow::Result<u8> {
    let folder = tempfile::tempdir().context("a temporary folder")?;
    println!(
        "A workgroup adds up the squares of 0 to 63: each invocation writes one to a buffer, all wait, the first reads them.\n"
    );
    print!("{}", numbered(BUG.1, 11..25));
    println!("\n$ {}\n", shown(BUG.0));
    let bug = program(folder.path(), BUG)?;
    println!("exit status {}\n", bug.status);
    println!("The fix, at the barrier:\n");
    print!("{}", difference(BUG.1, FIXED.1));
    println!("\n$ {}\n", shown(FIXED.0));
    let fixed = program(folder.path(), FIXED)?;
    println!("exit status {}, and the sum is the right one: {EXPECTED}.", fixed.status);
    let found = bug.total["findings"].as_u64().unwrap_or(0) > 0;
    let clean = fixed.status == 0 && fixed.total["findings"] == 0;
    if !(found && clean) {
        eprintln!("pellucid: the demonstration did not go as it should");
    }
    Ok(u8::from(!(found && clean)))
}

fn program(folder: &Path, (name, _, binary): (&str, &str, &[u8])) -> anyhow::Result<run::Outcome> {
    let shader = folder.join(name).with_extension("spv");
    std::fs::write(&shader, binary)?;
    let mut command =
        vec![std::env::current_exe()?.into_os_string(), "exec-here".into(), shader.into_os_string()];
    command.extend(ARGUMENTS.map(Into::into));
    let job = Job { options: DriverOptions::default(), command, shown: Some(shown(name)) };
    let outcome = run::one(&job)?;
    eprintln!("{}", run::total(&outcome));
    Ok(outcome)
}

/// Lines of a source with their numbers, from 1.
fn numbered(source: &str, lines: std::ops::Range<usize>) -> String {
    let chosen = source.lines().enumerate().map(|(i, line)| (i + 1, line)).filter(|(n, _)| lines.contains(n));
    chosen.map(|(n, line)| format!("{n:4} | {line}\n")).collect()
}

/// The lines in which two sources of equal length differ.
fn difference(before: &str, after: &str) -> String {
    let pairs = before
        .lines()
        .zip(after.lines())
        .filter(|(old, new)| old != new && !old.trim_start().starts_with("//"));
    pairs.map(|(old, new)| format!("    - {}\n    + {}\n", old.trim_start(), new.trim_start())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_shaders_differ_in_the_barrier_alone() {
        let expected = "    - gl_SemanticsAcquireRelease);\n    + gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);\n";
        assert_eq!(difference(BUG.1, FIXED.1), expected);
    }

    #[test]
    fn the_expected_sum_is_right() {
        assert_eq!(EXPECTED, (0..64u32).map(|i| i * i).sum::<u32>());
    }
}
