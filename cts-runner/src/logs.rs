//! Keeps what the suite logged about the cases that did not pass, and only that.

use crate::error::Error;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The file of the log of the case `name` in `folder`. A name longer than a file name can be is cut and
/// marked with a digest of the whole.
pub fn path_of(folder: &Path, name: &str) -> PathBuf {
    const LIMIT: usize = 200;
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    if plain.len() <= LIMIT {
        return folder.join(format!("{plain}.qpa"));
    }
    folder.join(format!("{}~{}.qpa", &plain[..LIMIT], crate::select::digest([name])))
}

/// Copies from the suite's log at `log` the sections of the cases in `names`, each to its file in `folder`. A
/// section ends where the log does when the process died in it.
///
/// # Errors
/// A file cannot be read or written. A log that is not there is no error: the process died before it wrote
/// one.
pub fn extract(log: &Path, names: &BTreeSet<&str>, folder: &Path) -> Result<(), Error> {
    let Ok(file) = File::open(log) else { return Ok(()) };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut open: Option<(PathBuf, BufWriter<File>)> = None;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(Error::io(log))? == 0 {
            break;
        }
        if let Some(name) = line.strip_prefix(b"#beginTestCaseResult ") {
            let name = String::from_utf8_lossy(name);
            open = None;
            if let Some(name) = names.get(name.trim()) {
                fs::create_dir_all(folder).map_err(Error::io(folder))?;
                let path = path_of(folder, name);
                let file = File::create(&path).map_err(Error::io(&path))?;
                open = Some((path, BufWriter::new(file)));
            }
        }
        if let Some((path, writer)) = &mut open {
            writer.write_all(&line).map_err(Error::io(&*path))?;
        }
        if line.starts_with(b"#endTestCaseResult") || line.starts_with(b"#terminateTestCaseResult") {
            open = None;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
