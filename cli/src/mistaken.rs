//! What is said of a word that a command does not take: where it belongs, and how the line is written.

use crate::source::is_shader;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use vulkan_pellucid::report::replay::quote;

/// A word in the place of a program that is none.
#[derive(Debug, thiserror::Error)]
#[error("unexpected argument '{0}' found")]
pub struct Unexpected(pub String);

/// Whether a program may be named so. What begins with a hyphen is an option that is not known.
///
/// # Errors
/// It may not.
pub fn program(word: Option<&std::ffi::OsString>) -> Result<(), Unexpected> {
    let word = word.map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    if word.starts_with('-') { Err(Unexpected(word)) } else { Ok(()) }
}

/// The word that an error is about, if it is about one that was not expected.
pub fn word(error: &anyhow::Error) -> Option<String> {
    if let Some(Unexpected(word)) = error.downcast_ref() {
        return Some(word.clone());
    }
    error.downcast_ref().and_then(unexpected)
}

/// The same of an error of the command line's parser.
pub fn unexpected(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => Some(word.clone()),
        _ => None,
    }
}

/// An error of the parser, without the tips that are for other words than this: a name that hardly resembles
/// it, or that it may be a value, which no file begins like.
pub fn without_far_tips(mut error: clap::Error) -> clap::Error {
    let begins = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.get(..4).unwrap_or(word).to_owned()),
        _ => None,
    };
    if error.kind() == ErrorKind::UnknownArgument {
        let (word, tip) = (begins(ContextKind::InvalidArg), begins(ContextKind::SuggestedArg));
        if tip.is_some() && tip != word {
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::Usage);
        }
        error.remove(ContextKind::Suggested);
    }
    error
}

/// A word without the value that may be joined to it: `--seed` of `--seed=3`, `-D` of `-DN=4`.
fn option(word: &str) -> &str {
    match word.strip_prefix("--") {
        Some(_) => word.split('=').next().unwrap_or(word),
        None => word.char_indices().nth(2).map_or(word, |(at, _)| &word[..at]),
    }
}

/// Whether this is an option of a command; and whether its value is the next word.
fn takes(command: &Command, word: &str) -> Option<bool> {
    let name = option(word);
    let of = command.get_arguments().find(|of| match name.strip_prefix("--") {
        Some(long) => of.get_long() == Some(long),
        None => name
            .strip_prefix('-')
            .is_some_and(|short| of.get_short().map(String::from).as_deref() == Some(short)),
    })?;
    Some(of.get_action().takes_values() && name == word)
}

/// The words of a command that has options of its own and then a shader with options of `shader`, in this
/// order; nothing, where there is a word that is neither.
fn ordered(command: &Command, shader: &Command, words: &[String]) -> Option<Vec<String>> {
    let (mut own, mut subject, mut rest) = (Vec::new(), None, Vec::new());
    let mut words = words.iter().filter(|word| *word != "--");
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            if subject.replace(word.clone()).is_some() {
                return None;
            }
            continue;
        }
        let (to, separate) = match takes(command, word) {
            Some(separate) => (&mut own, separate),
            None => (&mut rest, takes(shader, word)?),
        };
        to.push(word.clone());
        if separate {
            to.push(words.next()?.clone());
        }
    }
    own.push(subject?);
    own.extend(rest);
    Some(own)
}

/// How a line is written, if that is known.
fn line(name: &str, words: Option<Vec<String>>) -> String {
    let words: Option<Vec<String>> = words.map(|words| words.iter().map(|word| quote(word)).collect());
    words.map(|words| format!(": pellucid {name} {}", words.join(" "))).unwrap_or_default()
}

/// Where a word belongs that stands among the `words` of a command, and that the command does not take there.
/// `shader`: what may follow a shader that the command takes; nothing for commands that take none.
pub fn advice(
    whole: &Command,
    name: &str,
    shader: Option<&Command>,
    words: &[String],
    word: &str,
) -> Option<String> {
    let option = option(word);
    let known = whole.find_subcommand(name);
    if let (Some(command), Some(shader)) = (known, shader) {
        let written = line(name, ordered(command, shader, words));
        if takes(command, word).is_some() {
            return Some(format!("options of {name}, such as {option}, come before the shader{written}"));
        }
        if takes(shader, word).is_some() && words.iter().any(|word| is_shader(word)) {
            return Some(format!("options of a shader, such as {option}, follow it{written}"));
        }
    }
    if known.is_some_and(|command| takes(command, word).is_some()) && words.iter().any(|word| word == "--") {
        return Some(format!("options of {name}, such as {option}, come before `--`"));
    }
    let mut takers: Vec<String> = whole
        .get_subcommands()
        .filter(|of| !of.is_hide_set() && of.get_name() != name && takes(of, word).is_some())
        .map(|of| format!("pellucid {}", of.get_name()))
        .collect();
    let last = takers.pop();
    let takers = last.map(|last| match takers.is_empty() {
        true => last,
        false => format!("{} and {last}", takers.join(", ")),
    });
    match (takers, known) {
        (Some(takers), Some(_)) => Some(format!("{option} is an option of {takers}, not of {name}")),
        (Some(takers), None) => Some(format!("{option} is an option of {takers}, and follows the command")),
        (None, Some(command)) if takes(command, &format!("-{word}")).is_some() => {
            Some(format!("options of more than a letter have two hyphens: -{word}"))
        }
        _ => None,
    }
}

/// What to say where a program is followed by an option of the command, which is the program's there; `--`
/// before the program says that this is meant. `words` are all of the command.
pub fn swallowed(command: &Command, words: &[String], program: usize) -> Option<String> {
    let at = words.len().checked_sub(program)?;
    if at.checked_sub(1).is_some_and(|before| words[before] == "--") || is_shader(words.get(at)?) {
        return None;
    }
    let found =
        words[at + 1..].iter().position(|word| word.starts_with("--") && takes(command, word).is_some())?;
    let (found, name) = (at + 1 + found, command.get_name());
    let count = if takes(command, &words[found]) == Some(true) { 2 } else { 1 };
    let end = words.len().min(found + count);
    let moved =
        [&words[..at], &words[found..end], &["--".to_owned()], &words[at..found], &words[end..]].concat();
    Some(format!(
        "{}, behind the program, is passed on to it; options of {name} come before{}",
        option(&words[found]),
        line(name, Some(moved))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, ArgAction};

    fn command(name: &'static str, flags: &[&'static str], values: &[&'static str]) -> Command {
        let flags = flags.iter().map(|flag| Arg::new(*flag).long(*flag).action(ArgAction::SetTrue));
        let values = values.iter().map(|value| Arg::new(*value).long(*value));
        Command::new(name).args(flags).args(values)
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_word_is_said_to_belong_elsewhere() {
        let exec = command("exec", &["numeric"], &["groups", "buffer"]).arg(Arg::new("define").short('D'));
        let whole = Command::new("pellucid")
            .subcommand(command("hunt", &["quiet"], &["runs", "report"]))
            .subcommand(command("run", &[], &["report"]))
            .subcommand(exec.clone());
        let said = |name: &str, shader: bool, line: &str, word: &str| {
            let shader = shader.then_some(&exec);
            advice(&whole, name, shader, &words(line), word).unwrap_or_default()
        };
        assert_eq!(
            said("hunt", true, "a.spv --groups 2 --runs 8 --buffer 0:0=u32x1=file:b.spv --quiet", "--runs"),
            "options of hunt, such as --runs, come before the shader: pellucid hunt --runs 8 --quiet a.spv \
             --groups 2 --buffer 0:0=u32x1=file:b.spv"
        );
        assert_eq!(
            said("hunt", true, "-DN=4 --report=x a.comp", "-DN=4"),
            "options of a shader, such as -D, follow it: pellucid hunt --report=x a.comp -DN=4"
        );
        assert_eq!(
            said("hunt", true, "a.spv --what --runs 8", "--runs"),
            "options of hunt, such as --runs, come before the shader"
        );
        assert_eq!(
            said("run", false, "--groups 4 a.spv", "--groups"),
            "--groups is an option of pellucid exec, not of run"
        );
        assert_eq!(
            said("--report", false, "x run a", "--report"),
            "--report is an option of pellucid hunt and pellucid run, and follows the command"
        );
        assert_eq!(
            said("run", false, "-report x a", "-report"),
            "options of more than a letter have two hyphens: --report"
        );
        assert_eq!(said("run", false, "--what a", "--what"), "");
        assert_eq!(
            said("exec", false, "-- a.spv --groups 2", "--groups"),
            "options of exec, such as --groups, come before `--`"
        );
    }

    #[test]
    fn tips_are_for_words_that_begin_alike() {
        let of = |word: &'static str| {
            let command = command("exec", &[], &["report", "stale-budget"]).arg(Arg::new("file"));
            let error = command.try_get_matches_from(["exec", "a.spv", word]).unwrap_err();
            without_far_tips(error).to_string()
        };
        assert!(of("--reprot").contains("tip: a similar argument exists: '--report'"), "{}", of("--reprot"));
        for word in ["--budgets", "--x"] {
            let said = of(word);
            assert!(said.contains(word) && !said.contains("tip") && !said.contains("stale"), "{said}");
        }
    }

    #[test]
    fn what_a_program_gets_is_said_unless_it_is_meant() {
        let run = command("run", &[], &["report", "seed"]);
        let said = |line: &str, program: usize| swallowed(&run, &words(line), program).unwrap_or_default();
        assert_eq!(
            said("--seed 3 ./app x --report r.json y", 5),
            "--report, behind the program, is passed on to it; options of run come before: pellucid run \
             --seed 3 --report r.json -- ./app x y"
        );
        assert_eq!(said("--seed 3 -- ./app --report r.json", 3), "");
        assert_eq!(said("./app --small", 2), "");
        assert_eq!(said("a.spv --report x", 3), "");
    }
}
