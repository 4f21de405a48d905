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
mod tests;
