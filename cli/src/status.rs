//! The exit status of what the caller got wrong: arguments that are not understood, and files that are named
//! and cannot be read, whichever command reads them.

use pellucid_memory::input;
use std::io;
use std::path::Path;

/// The exit status of a usage error, as clap's, and of a file that cannot be read.
pub const USAGE: u8 = 2;

/// An error that is the caller's.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
struct Usage(anyhow::Error);

/// A file that is named and cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}")]
struct Unreadable {
    file: String,
    source: io::Error,
}

/// Makes an error the caller's.
///
/// # Errors
/// As `result`.
pub fn usage<T>(result: anyhow::Result<T>) -> anyhow::Result<T> {
    // The parser's errors are the caller's in any case.
    result.map_err(|error| if error.is::<clap::Error>() { error } else { Usage(error).into() })
}

/// The exit status of a command that ends with this error.
pub fn of(error: &anyhow::Error) -> u8 {
    let callers = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<Usage>() || cause.is::<Unreadable>() || cause.is::<clap::Error>()
    };
    if error.chain().any(callers) { USAGE } else { 1 }
}

/// What was made of a file that is named; an error names it.
///
/// # Errors
/// The file cannot be read.
pub fn readable<T>(path: &Path, made: io::Result<T>) -> anyhow::Result<T> {
    made.map_err(|source| Unreadable { file: path.display().to_string(), source }.into())
}

/// The bytes of a file that is named, at most `most` of them.
///
/// # Errors
/// It cannot be read, or is longer.
pub fn bytes(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    readable(path, input::bytes(path, most))
}

/// The text of a file that is named.
///
/// # Errors
/// It cannot be read, is longer than [`input::MOST_BYTES`], or is no UTF-8.
pub fn text(path: &Path) -> anyhow::Result<String> {
    readable(path, input::text(path))
}
