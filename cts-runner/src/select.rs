//! Which cases to run, in which order: list files, patterns, an even sample.

use crate::error::Error;
use crate::pattern::Wildcard;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The six bytes that an .xz file starts with.
const XZ_MAGIC: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];

/// Reads a text file, unpacked where it is an .xz file (told by its first bytes, not by its name).
///
/// # Errors
/// The file cannot be read, its compressed stream is damaged, or it is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = fs::read(path).map_err(Error::io(path))?;
    let format = |what: String| Error::Format { path: path.to_path_buf(), line: 0, what };
    let bytes = if bytes.starts_with(XZ_MAGIC) {
        let mut text = Vec::new();
        lzma_rs::xz_decompress(&mut bytes.as_slice(), &mut text)
            .map_err(|error| format(format!("not a sound .xz file: {error}")))?;
        text
    } else {
        bytes
    };
    String::from_utf8(bytes).map_err(|error| format(error.to_string()))
}

/// The names in a list file: one a line, `#` starts a comment line.
///
/// # Errors
/// As [`read_text`].
pub fn read_list(path: &Path) -> Result<Vec<String>, Error> {
    let text = read_text(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_string).collect())
}

/// What narrows a list of names.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// A name must match one of these; with none of them, every name is in.
    pub include: Vec<Wildcard>,
    /// A name must match none of these.
    pub exclude: Vec<Wildcard>,
    /// At most so many names, evenly spread over those that remain.
    pub sample: Option<usize>,
}

/// Narrows `names`: drops repetitions (the first stays), then includes, excludes, samples.
///
/// # Errors
/// A pattern of `include` that matches nothing, or an empty selection: either is a mistake of the caller.
pub fn select(names: Vec<String>, filter: &Filter) -> Result<Vec<String>, Error> {
    let mut seen = BTreeSet::new();
    let mut used = vec![false; filter.include.len()];
    let mut selected = Vec::new();
    for name in names {
        if !seen.insert(name.clone()) {
            continue;
        }
        let mut included = filter.include.is_empty();
        for (pattern, used) in filter.include.iter().zip(&mut used) {
            if pattern.matches(&name) {
                included = true;
                *used = true;
            }
        }
        if included && !filter.exclude.iter().any(|pattern| pattern.matches(&name)) {
            selected.push(name);
        }
    }
    if let Some(index) = used.iter().position(|used| !used) {
        return Err(Error::usage(format!(
            "no case matches the pattern '{}'",
            filter.include[index].as_str()
        )));
    }
    if let Some(count) = filter.sample {
        selected = sample(selected, count);
    }
    if selected.is_empty() {
        return Err(Error::usage("no case is selected"));
    }
    Ok(selected)
}

/// `count` of `names`, evenly spread, in their order; all of them where there are no more than `count`.
pub fn sample(names: Vec<String>, count: usize) -> Vec<String> {
    let length = names.len();
    if count >= length {
        return names;
    }
    let mut taken = 0;
    let chosen = names.into_iter().enumerate().filter(|&(index, _)| {
        let take = taken < count && index == taken * length / count;
        taken += usize::from(take);
        take
    });
    chosen.map(|(_, name)| name).collect()
}

/// A digest (FNV-1a, 64 bits) of a *set* of names, in hexadecimal: equal for equal sets, whatever their
/// order.
pub fn digest<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let sorted: BTreeSet<&str> = names.into_iter().collect();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in sorted.into_iter().flat_map(|name| name.bytes().chain([b'\n'])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests;
