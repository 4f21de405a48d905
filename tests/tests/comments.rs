//! Comments end where code does, and none only repeats the name that it stands before.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Columns of a line.
const COLUMNS: usize = 110;

/// The repository's files of these kinds, but for what is built.
fn files(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && (!name.starts_with('.') || name == ".ci") {
            files(&path, ends, found);
        } else if ends.iter().any(|end| name.ends_with(end)) && path.is_file() {
            found.push(path);
        }
    }
}

fn texts(ends: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), ends, &mut found);
    assert!(found.len() > 3, "{found:?}");
    let read = |path: PathBuf| std::fs::read_to_string(&path).ok().map(|text| (path, text));
    found.into_iter().filter_map(read).collect()
}

#[test]
fn lines_of_comments_are_not_longer_than_those_of_code() {
    let mut long = Vec::new();
    for (ends, sign) in [(&["rs", ".c"][..], "//"), (&[".sh", "toml", "run"][..], "#")] {
        for (path, text) in texts(ends) {
            for (number, line) in (1..).zip(text.lines()) {
                if line.trim_start().starts_with(sign) && line.chars().count() > COLUMNS {
                    long.push(format!("{}:{number}", path.display()));
                }
            }
        }
    }
    assert!(long.is_empty(), "over {COLUMNS} columns: {long:#?}");
}

/// The words of a text or of a name, in small letters and without the `s` of several.
fn words(text: &str) -> BTreeSet<String> {
    let (mut words, mut small) = (vec![String::new()], false);
    for c in text.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && small {
            words.push(String::new());
        }
        small = c.is_lowercase();
        words.last_mut().expect("a word").extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
    }
    let singular = words.into_iter().map(|word| word.trim_end_matches('s').to_owned());
    let said = singular
        .filter(|word| !["", "a", "an", "the", "of", "it", "i", "for", "in"].contains(&word.as_str()));
    said.collect()
}

/// The name that a line of code declares.
fn declared(line: &str) -> &str {
    let keywords =
        ["pub", "const", "unsafe", "fn", "struct", "enum", "type", "trait", "static", "mod", "mut"];
    let mut parts = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty());
    let mut scope = false;
    parts
        .find(|part| {
            let skip = keywords.contains(part) || scope && ["crate", "super"].contains(part);
            scope = *part == "pub";
            !skip
        })
        .unwrap_or_default()
}

/// Words that ask or point, and say nothing of what they stand before; without the `s` of several, as `words`
/// gives them.
const POINTING: &[&str] = &[
    "a", "and", "are", "at", "by", "did", "do", "doe", "from", "how", "i", "into", "it", "kind", "on", "one",
    "other", "that", "their", "them", "these", "they", "thi", "those", "through", "to", "what", "where",
    "which", "who", "whom", "whose", "why",
];

#[test]
fn no_comment_only_repeats_a_name() {
    let mut empty = Vec::new();
    for (path, text) in texts(&["rs"]) {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("/// ")) {
            let alone = |at: usize| !lines.get(at).is_some_and(|other| other.starts_with("///"));
            let code = lines[number + 1..].iter().find(|next| !next.starts_with("#["));
            if alone(number.wrapping_sub(1)) && alone(number + 1) && !line.contains('`') {
                let name = words(declared(code.unwrap_or(&"")));
                let mut says = words(line).into_iter().filter(|word| !POINTING.contains(&word.as_str()));
                if says.all(|word| name.contains(&word)) {
                    empty.push(format!("{}:{}: {line}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(empty.is_empty(), "say what, in which unit, and why: {empty:#?}");
}
