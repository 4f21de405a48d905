//! What the documents name is there: ids of findings, files, the driver's library; and what there is to name
//! is named.

use pellucid_memory::finding::FindingId;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All documents: their paths from the repository's root, and their texts.
fn documents() -> Vec<(PathBuf, String)> {
    let folders = [".", "docs", "tests/planted", "tests/model"];
    let mut found = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(repository().join(folder)).expect("a folder");
        for name in entries.map(|entry| entry.expect("an entry").file_name()) {
            let path = Path::new(folder).join(name);
            if path.extension().is_some_and(|end| end == "md") {
                let text = std::fs::read_to_string(repository().join(&path)).expect("a document");
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// What stands between backquotes on one line, outside of blocks.
fn quoted(text: &str) -> Vec<&str> {
    let mut block = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        block ^= fence;
        !block && !fence
    });
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

fn ids() -> BTreeSet<String> {
    let none = serde_json::from_value::<FindingId>("none".into()).expect_err("no id").to_string();
    let ids = none.split('`').skip(1).step_by(2).filter(|id| *id != "none").map(str::to_owned);
    let ids: BTreeSet<String> = ids.collect();
    assert!(ids.len() > 20, "{none}");
    ids
}

#[test]
fn every_id_of_a_finding_is_documented_and_every_documented_one_exists() {
    let ids = ids();
    let report = std::fs::read_to_string(repository().join("docs/report.md")).expect("docs/report.md");
    let listed: BTreeSet<&str> = quoted(&report).into_iter().filter(|word| ids.contains(*word)).collect();
    let missing: Vec<&String> = ids.iter().filter(|id| !listed.contains(id.as_str())).collect();
    assert!(missing.is_empty(), "docs/report.md does not name {missing:?}");
    // A property of litmus tests, which is no finding.
    let others = ["race-free"];
    for (path, text) in documents() {
        for word in quoted(&text) {
            let family = ["race-", "hazard-", "host-"].iter().any(|family| word.starts_with(family));
            let plain = word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            let known = ids.contains(word) || others.contains(&word);
            assert!(!family || !plain || known, "{}: there is no finding `{word}`", path.display());
        }
    }
}

#[test]
fn relative_links_lead_somewhere() {
    for (path, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.starts_with('#') {
                continue;
            }
            let target = link.split('#').next().unwrap_or_default();
            let folder = path.parent().unwrap_or(Path::new(""));
            assert!(repository().join(folder).join(target).exists(), "{}: {link}", path.display());
        }
    }
}

#[test]
fn files_that_are_named_are_there() {
    let roots =
        ["memory/", "shader-interp/", "icd/", "cli/", "cts-runner/", "tests/", "json/", "docs/", "fuzz/"];
    for (path, text) in documents().into_iter().filter(|(path, _)| !path.ends_with("CHANGELOG.md")) {
        for word in quoted(&text) {
            let plain = !word.contains(['<', '*', ' ', '$', '{']);
            if plain && roots.iter().any(|root| word.starts_with(root)) {
                let there =
                    [word.to_owned(), format!("{word}.rs")].iter().any(|w| repository().join(w).exists());
                assert!(there, "{}: {word} is not there", path.display());
            }
        }
    }
}

#[test]
fn the_drivers_library_has_its_name() {
    for (path, text) in documents() {
        for word in text.split(|c: char| c.is_whitespace() || "`/()\"".contains(c)) {
            let library = word.starts_with("lib") && word.contains("pellucid") && word.contains(".so");
            assert!(!library || word.starts_with("libvulkan_pellucid.so"), "{}: {word}", path.display());
        }
    }
}
