//! How a run is repeated: the line that findings end with, and what a report file keeps for `pellucid
//! replay`.

use crate::config::{Config, Mode, OptionKind, find};
use pellucid_memory::explore::Choices;
use std::collections::BTreeMap;

/// Options that change what a program does, and so belong to a replay line.
const REPLAYED: [&str; 25] = [
    "steps",
    "outcomes",
    "values",
    "machine",
    "progress",
    "shaders",
    "subgroup-size",
    "subgroup-sizes",
    "workgroup-memory",
    "storage-memory",
    "max-workgroup-invocations",
    "device-type",
    "no-chains",
    "stale-budget",
    "rehearsals",
    "queues",
    "surfaces",
    "api-version",
    "host-memory",
    "conformance-version",
    "for",
    "watchdog",
    "spins",
    "notes",
    "validation",
];

/// Options that name places or say how findings are shown. They decide no finding, so a report file does not
/// repeat them: its bytes are the same wherever and on however many threads it was written. Rules of
/// suppression are kept as such.
const PRESENTATION: [&str; 9] = [
    "report",
    "exitcode",
    "max-reports",
    "suppressions",
    "threads",
    "tier",
    "summary",
    "command",
    "communication",
];

/// The options of a run that decide what is found, by name, as they were given.
pub fn decisive(config: &Config) -> BTreeMap<&'static str, String> {
    let decisive = config.given.iter().filter(|(name, _)| !PRESENTATION.contains(name));
    decisive.map(|(name, value)| (*name, value.clone())).collect()
}

/// The command line of the program: the one that `pellucid run` was given, else this process's.
pub fn command(config: &Config) -> String {
    config.command.clone().unwrap_or_else(|| {
        let words: Vec<String> = std::env::args_os().map(|a| quote(&a.to_string_lossy())).collect();
        words.join(" ")
    })
}

/// The command that shows the run's findings again.
pub fn line(config: &Config) -> String {
    let explored = (config.mode == Mode::Explore).then_some("--mode explore");
    line_with(config, explored.map(str::to_owned))
}

/// The command that makes one execution of an explored dispatch again.
pub fn line_of(config: &Config, dispatch: u32, choices: &Choices) -> String {
    line_with(config, Some(format!("--mode explore --replay {}", quote(&format!("{dispatch}:{choices}")))))
}

fn line_with(config: &Config, explored: Option<String>) -> String {
    let mut line = explored.unwrap_or_else(|| format!("--seed {}", config.seed));
    for name in REPLAYED {
        match config.given.get(name) {
            Some(value) if find(name).is_some_and(|spec| spec.kind == OptionKind::Switch) => {
                if matches!(value.as_str(), "1" | "true") {
                    line.push_str(&format!(" --{name}"));
                }
            }
            Some(value) => line.push_str(&format!(" --{name} {}", quote(value))),
            None => {}
        }
    }
    let command = command(config);
    match command.strip_prefix("pellucid exec ") {
        Some(arguments) => format!("pellucid exec {line} {arguments}"),
        None => format!("pellucid run {line} -- {command}"),
    }
}

/// A word as a shell reads it.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The words of a line of [`quote`]d words; `None` if it is none.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests;
