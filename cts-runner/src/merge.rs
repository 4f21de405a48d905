//! Puts the results of shards together, and proves that nothing is missing or there twice.

use crate::error::Error;
use crate::journal::CaseResult;
use crate::record::{Folder, RunInfo, to_json};
use crate::select::digest;
use crate::shard::Shard;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The results folders in and below `roots`, sorted by path. A folder with `run.json` is not searched
/// further.
///
/// # Errors
/// A folder cannot be read.
pub fn find(roots: &[PathBuf]) -> Result<Vec<Folder>, Error> {
    let mut found = BTreeSet::new();
    let mut open: Vec<PathBuf> = roots.to_vec();
    while let Some(path) = open.pop() {
        if Folder(path.clone()).is_begun() {
            found.insert(path);
            continue;
        }
        for entry in fs::read_dir(&path).map_err(Error::io(&path))? {
            let entry = entry.map_err(Error::io(&path))?.path();
            if entry.is_dir() {
                open.push(entry);
            }
        }
    }
    Ok(found.into_iter().map(Folder).collect())
}

/// Merges `folders`, variant by variant, into folders at `into`: into itself where there is one variant
/// without options, else into a folder per variant. Returns the folders made.
///
/// # Errors
/// No folders; folders of different selections; a shard that is missing or there twice; a case without a
/// result or with two; what cannot be read or written.
pub fn merge(folders: &[Folder], into: &Path) -> Result<Vec<Folder>, Error> {
    let mut variants: BTreeMap<String, Vec<(RunInfo, &Folder)>> = BTreeMap::new();
    for folder in folders {
        let info = folder.info()?;
        variants.entry(info.variant.clone()).or_default().push((info, folder));
    }
    if variants.is_empty() {
        return Err(Error::usage("no results folder found (one has a run.json)"));
    }
    let mut made = Vec::new();
    for (variant, mut parts) in variants {
        parts.sort_by_key(|(info, _)| info.shard);
        let whole = check_shards(&parts)?;
        let mut cases = Vec::new();
        let mut results: BTreeMap<String, CaseResult> = BTreeMap::new();
        let mut notes = String::new();
        for (info, folder) in &parts {
            let named =
                |what: String| Error::usage(format!("shard {} ({}): {what}", info.shard, folder.0.display()));
            let own = folder.cases()?;
            let mut held = folder.results()?;
            let missing: Vec<&String> = own.iter().filter(|name| !held.contains_key(*name)).collect();
            if let Some(first) = missing.first() {
                return Err(named(format!("{} cases have no result, first {first}", missing.len())));
            }
            for name in own {
                let Some(result) = held.remove(&name) else { continue };
                if results.insert(name.clone(), result).is_some() {
                    return Err(named(format!("{name} is also in another shard")));
                }
                cases.push(name);
            }
            if let Some(name) = held.keys().next() {
                return Err(named(format!("a result of {name}, which is not in cases.txt")));
            }
            notes.push_str(&fs::read_to_string(folder.file("notes.txt")).unwrap_or_default());
        }
        if cases.len() != whole.selected || digest(cases.iter().map(String::as_str)) != whole.digest {
            return Err(Error::usage(format!(
                "{} cases in the shards, not the {} that were selected",
                cases.len(),
                whole.selected
            )));
        }
        let folder = Folder(if variant.is_empty() { into.to_path_buf() } else { into.join(&variant) });
        if folder.is_begun() {
            return Err(Error::usage(format!("{} holds results already", folder.0.display())));
        }
        fs::create_dir_all(&folder.0).map_err(Error::io(&folder.0))?;
        cases.sort();
        let mut lines = String::new();
        for result in results.values() {
            lines.push_str(
                &serde_json::to_string(result).map_err(|error| Error::io(folder.journal())(error.into()))?,
            );
            lines.push('\n');
        }
        folder.write("journal.jsonl", &lines)?;
        folder.write("notes.txt", &notes)?;
        folder.write("cases.txt", &(cases.join("\n") + "\n"))?;
        folder.write("run.json", &to_json(&whole))?;
        for (_, part) in &parts {
            copy_logs(&part.file("logs"), &folder.file("logs"))?;
        }
        made.push(folder);
    }
    Ok(made)
}

/// What the parts are parts of.
fn check_shards(parts: &[(RunInfo, &Folder)]) -> Result<RunInfo, Error> {
    let Some((first, _)) = parts.first() else { return Err(Error::usage("no shards")) };
    for (info, folder) in parts {
        let same = RunInfo { shard: info.shard, ..first.clone() };
        if *info != same || info.shard.count != first.shard.count {
            return Err(Error::usage(format!(
                "{} is of another run than shard {}: another selection, title, driver or number of shards",
                folder.0.display(),
                first.shard
            )));
        }
    }
    for index in 1..=first.shard.count {
        let count = parts.iter().filter(|(info, _)| info.shard.index == index).count();
        if count != 1 {
            let shard = Shard { index, count: first.shard.count };
            let what = if count == 0 { "is missing" } else { "is there twice" };
            return Err(Error::usage(format!("shard {shard} {what}")));
        }
    }
    Ok(RunInfo { shard: Shard::WHOLE, ..first.clone() })
}

fn copy_logs(from: &Path, to: &Path) -> Result<(), Error> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    fs::create_dir_all(to).map_err(Error::io(to))?;
    for entry in entries {
        let entry = entry.map_err(Error::io(from))?;
        fs::copy(entry.path(), to.join(entry.file_name())).map_err(Error::io(entry.path()))?;
    }
    Ok(())
}
