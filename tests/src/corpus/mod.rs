//! The corpus: test files, their cases and their shaders.
//!
//! A test file is a GLSL shader (`.comp`, directives after `//#`), SPIR-V assembly (`.spvasm`, after `;#`) or
//! a list of directives alone (`.test`). It has one or more *cases*: variants by preprocessor definitions and
//! commands. A case either expects findings (a planted bug) or silence (its fixed twin); every file has at
//! least one of each, except that files may consist of silent cases only.

mod directive;
mod parse;
pub mod shaders;
pub mod step;

pub use directive::{
    Binding, Case, Contents, Descriptor, Expected, Final, Gap, Resource, Shape, Test, Value,
};
pub use parse::{parse, value_bytes};
pub use step::Step;

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The folder of the corpus.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("planted")
}

/// All test files, by name.
///
/// # Errors
/// A file cannot be read, or has a directive that is not one.
pub fn all() -> Result<Vec<Test>> {
    let mut names = Vec::new();
    for family in std::fs::read_dir(root()).context("tests/planted")? {
        let family = family?.path();
        if !family.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&family)? {
            let file = file?.path();
            if matches!(file.extension().and_then(|e| e.to_str()), Some("comp" | "spvasm" | "test")) {
                names.push(file);
            }
        }
    }
    names.sort();
    names.iter().map(|path| load(path)).collect()
}

/// One test file.
///
/// # Errors
/// As [`all`].
pub fn load(path: &Path) -> Result<Test> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let relative = path.strip_prefix(root()).unwrap_or(path);
    parse(&relative.to_string_lossy(), &text).with_context(|| path.display().to_string())
}

/// Cases that do not pass yet, with the reason: `planted/gaps.txt`.
///
/// # Errors
/// The file cannot be read, or a line is not `NAME CASE: REASON`.
pub fn gaps() -> Result<Vec<Gap>> {
    let text = std::fs::read_to_string(root().join("gaps.txt")).context("planted/gaps.txt")?;
    let mut gaps = Vec::new();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let (which, reason) = line.split_once(": ").with_context(|| format!("gaps.txt: {line}"))?;
        gaps.push(Gap { case: which.trim().to_owned(), reason: reason.trim().to_owned() });
    }
    Ok(gaps)
}
