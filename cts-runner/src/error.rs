//! Why the runner could not do its work. Nothing here is about a case's result.

use std::io;
use std::path::{Path, PathBuf};

/// An error of use or of the surroundings: exit status [`crate::exit::INFRASTRUCTURE`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line or the environment asks for something that cannot be.
    #[error("{0}")]
    Usage(String),
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was being read or written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file's contents are not of its format.
    #[error("{}:{line}: {what}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1; 0 where the format has no lines.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// The suite's binary could not be started, or ends again and again before its first case.
    #[error("{0}")]
    Suite(String),
}

impl Error {
    /// For `map_err` on an input or output of `path`.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        let path = path.as_ref().to_path_buf();
        move |source| Error::Io { path, source }
    }

    /// A [`Error::Usage`] with `text`.
    pub fn usage(text: impl Into<String>) -> Error {
        Error::Usage(text.into())
    }
}
