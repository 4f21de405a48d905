//! The files of a crate use each other in few directions: a file can be read with what is below it.
//!
//! A file uses another one if it names a path into it that starts with `crate`, `super`, `self` or a module
//! of its own. A circle is a strongly connected component of more than one file. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files that a circle may have.
const LARGEST: usize = 9;

type Module = Vec<String>;
type Uses = BTreeMap<Module, BTreeSet<Module>>;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() && !["tests", "bin"].contains(&name.as_str()) {
            files(&path, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "main.rs" {
            found.push(path);
        }
    }
}

/// The module that a file is.
fn module(file: &Path) -> Module {
    let mut parts: Module =
        file.with_extension("").iter().map(|p| p.to_string_lossy().into_owned()).collect();
    parts.pop_if(|last| last == "mod" || last == "lib");
    parts
}

/// A file's words and signs, without comments, texts and the tests at its end.
fn tokens(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut out: Vec<String> = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '/' && rest.peek() == Some(&'/') {
            rest.by_ref().find(|c| *c == '\n');
        } else if c == '"' {
            while let Some(c) = rest.next().filter(|c| *c != '"') {
                if c == '\\' {
                    rest.next();
                }
            }
        } else if c == '\'' && rest.peek() == Some(&'"') {
            rest.next();
        } else if c.is_alphanumeric() || c == '_' {
            let mut word = String::from(c);
            while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(c);
            }
            out.push(word);
        } else if c == ':' && rest.next_if_eq(&':').is_some() {
            out.push("::".to_owned());
        } else if !c.is_whitespace() {
            out.push(c.to_string());
        }
    }
    out
}

/// The paths that begin at `at` after `before`, with all branches of a use tree, and where they end.
fn paths(tokens: &[String], mut at: usize, before: &[String], found: &mut Vec<Module>) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("{") if path.len() > before.len() || at == 0 || tokens[at - 1] == "use" => {
                at += 1;
                while tokens.get(at).is_some_and(|t| t != "}") {
                    at = if tokens[at] == "," { at + 1 } else { paths(tokens, at, &path, found) };
                }
                return at + 1;
            }
            Some(word) if word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '*') => {
                path.push(word.to_owned());
                at += 1;
            }
            _ => break,
        }
        if tokens.get(at).is_none_or(|t| t != "::") {
            break;
        }
        at += 1;
    }
    if tokens.get(at).is_some_and(|t| t == "as") {
        at += 2;
    }
    found.push(path);
    at.max(1)
}

fn uses(source: &Path) -> Uses {
    let mut list = Vec::new();
    files(source, &mut list);
    let relative = |file: &PathBuf| module(file.strip_prefix(source).expect("a file of the crate"));
    let modules: BTreeSet<Module> = list.iter().map(relative).collect();
    let mut uses = Uses::new();
    for file in &list {
        let this = relative(file);
        let tokens = tokens(&fs::read_to_string(file).expect("a source file"));
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let starts = at == 0 || tokens[at - 1] != "::";
            let rooted = starts && ["crate", "super", "self"].contains(&tokens[at].as_str());
            let path = rooted && tokens.get(at + 1).is_some_and(|t| t == "::");
            at = match (path, tokens[at].as_str()) {
                (true, _) => paths(&tokens, at, &[], &mut found),
                (_, "use") => paths(&tokens, at + 1, &[], &mut found),
                _ => at + 1,
            };
        }
        let used = uses.entry(this.clone()).or_default();
        for path in found {
            let mut names = path.iter().peekable();
            let mut base = this.clone();
            match names.peek().map(|n| n.as_str()) {
                Some("crate") => base.clear(),
                Some("super" | "self") => {}
                Some(first) if modules.contains(&[&this[..], &[first.to_owned()]].concat()) => {}
                _ => continue,
            }
            for name in names {
                match name.as_str() {
                    "crate" | "self" => continue,
                    "super" => drop(base.pop()),
                    _ => base.push(name.clone()),
                }
                if !modules.contains(&base) {
                    base.pop();
                    break;
                }
            }
            if base != this {
                used.insert(base);
            }
        }
    }
    uses
}

/// All that a module uses, and what those use.
fn reached(uses: &Uses, from: &Module) -> BTreeSet<Module> {
    let mut all = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        for used in uses.get(module).into_iter().flatten() {
            if all.insert(used.clone()) {
                next.push(used);
            }
        }
    }
    all
}

fn largest_circle(uses: &Uses) -> Vec<String> {
    let reach: BTreeMap<&Module, BTreeSet<Module>> = uses.keys().map(|m| (m, reached(uses, m))).collect();
    let circles = reach.iter().filter(|(m, all)| all.contains(**m)).map(|(m, all)| {
        let back = |other: &&Module| reach.get(other).is_some_and(|all| all.contains(*m));
        all.iter().filter(back).map(|m| m.join("::")).collect::<Vec<_>>()
    });
    circles.max_by_key(Vec::len).unwrap_or_default()
}

#[test]
fn the_files_of_each_crate_are_in_small_circles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["memory", "shader-interp", "icd", "cli", "cts-runner"] {
        let circle = largest_circle(&uses(&root.join(name).join("src")));
        assert!(circle.len() <= LARGEST, "{name}: a circle of {} files: {circle:#?}", circle.len());
    }
}

#[test]
fn a_circle_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("lib.rs", "mod a; mod b; mod c; // use crate::c;\npub use a::A;");
    write("a.rs", "use crate::{b::{self, D as E}, c::*};");
    write("b.rs", "fn f() -> u32 { super::c::f(\"crate::a::A\") }");
    write("c.rs", "pub fn f(_: &str) -> u32 { crate::a::A.0 }");
    let uses = uses(folder.path());
    assert_eq!(largest_circle(&uses), ["a", "b", "c"]);
}
