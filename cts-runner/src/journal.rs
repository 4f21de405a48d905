//! The journal of a run: one line per finished case, appended as the case finishes.
//!
//! A line is a JSON object. A run that is killed leaves at most one line unended, which counts as not
//! written. Each line goes out in one write and is not synchronised to the disk: it outlives the runner, not
//! the machine.

use crate::error::Error;
use crate::status::Status;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The final result of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case.
    pub name: String,
    /// How it ended.
    pub status: Status,
    /// How long it ran, in microseconds; of the last try.
    pub micros: u64,
    /// How often it ran: more than 1 where it failed and was tried again.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub tries: u32,
    /// What the suite said of it, or the runner.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

fn once() -> u32 {
    1
}

fn is_once(tries: &u32) -> bool {
    *tries == 1
}

/// A journal open for appending.
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal at `path` and returns what it holds already. A last line that was not ended is cut
    /// off.
    ///
    /// The journal stays locked while it is open, where the file system has locks: two runs into one folder
    /// would each run every case.
    ///
    /// # Errors
    /// Another process has the journal open; the file cannot be read or written; a line of it is not of this
    /// format.
    pub fn open(path: &Path) -> Result<(Journal, Vec<CaseResult>), Error> {
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(Error::io(path))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Error::usage(format!("{}: another run is writing it", path.display())));
        }
        let (results, sound) = read_sound(path)?;
        file.set_len(sound).map_err(Error::io(path))?;
        Ok((Journal { file, path: path.to_path_buf() }, results))
    }

    /// Appends one result.
    ///
    /// # Errors
    /// The line cannot be written.
    pub fn append(&mut self, result: &CaseResult) -> Result<(), Error> {
        let mut line = serde_json::to_vec(result).map_err(|error| Error::io(&self.path)(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(Error::io(&self.path))
    }
}

/// The results in the journal at `path`, but for a last line that was not ended.
///
/// # Errors
/// The file cannot be read, or a line of it is not of this format.
pub fn read(path: &Path) -> Result<Vec<CaseResult>, Error> {
    Ok(read_sound(path)?.0)
}

fn read_sound(path: &Path) -> Result<(Vec<CaseResult>, u64), Error> {
    let bytes = std::fs::read(path).map_err(Error::io(path))?;
    let sound = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let lines = bytes[..sound].split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).enumerate();
    let mut results = Vec::new();
    for (index, line) in lines {
        let result = serde_json::from_slice(line).map_err(|error| Error::Format {
            path: path.to_path_buf(),
            line: index + 1,
            what: error.to_string(),
        })?;
        results.push(result);
    }
    Ok((results, sound as u64))
}

#[cfg(test)]
mod tests;
