//! Patterns over case names: the suite's wildcards, and files of regular expressions.

use crate::error::Error;
use regex::RegexSet;
use std::fs;
use std::path::Path;

/// A wildcard pattern of the suite's `-n` option: `*` stands for any text (dots included), `?` for one
/// character.
#[derive(Clone, Debug)]
pub struct Wildcard(String);

impl Wildcard {
    /// Takes the pattern as written.
    pub fn new(pattern: &str) -> Wildcard {
        Wildcard(pattern.to_string())
    }

    /// The patterns of one option value: the suite separates several by commas.
    pub fn list(values: &[String]) -> Vec<Wildcard> {
        let parts = values.iter().flat_map(|value| value.split(','));
        parts.map(str::trim).filter(|part| !part.is_empty()).map(Wildcard::new).collect()
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern covers the whole of `name`.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // Where to go on after a mismatch: behind the last `*`, one character of the name later.
        let mut back: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    back = Some((p + 1, n));
                    p += 1;
                }
                Some(&c) if c == b'?' || c == name[n] => {
                    p += 1;
                    n += 1;
                }
                _ => match back {
                    Some((after, at)) => {
                        back = Some((after, at + 1));
                        p = after;
                        n = at + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&c| c == b'*')
    }
}

/// The regular expressions of skip and flake files, in deqp-runner's format: one a line, `#` starts a comment
/// line, and an expression matches anywhere in a name unless it is anchored.
#[derive(Clone, Debug)]
pub struct Expressions {
    set: RegexSet,
}

impl Default for Expressions {
    fn default() -> Expressions {
        Expressions { set: RegexSet::empty() }
    }
}

impl Expressions {
    /// Reads every file of `paths`.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is no regular expression.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Expressions, Error> {
        let mut lines = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let text = fs::read_to_string(path).map_err(Error::io(path))?;
            for (index, line) in text.lines().enumerate() {
                let line = line.trim();
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                if let Err(error) = regex::Regex::new(line) {
                    return Err(Error::Format {
                        path: path.to_path_buf(),
                        line: index + 1,
                        what: error.to_string(),
                    });
                }
                lines.push(line.to_string());
            }
        }
        let set = RegexSet::new(&lines).map_err(|error| Error::usage(error.to_string()))?;
        Ok(Expressions { set })
    }

    /// Whether any expression matches somewhere in `name`.
    pub fn matches(&self, name: &str) -> bool {
        self.set.is_match(name)
    }
}

#[cfg(test)]
mod tests;
