//! Where the driver's shared library is, and the manifest that leads the Vulkan loader to it.
//!
//! `cargo install` installs executables alone: so this one carries the driver in a section of its file
//! (`build.rs`), and writes it out where none lies beside it. Packages remove the section.

use anyhow::{Context as _, bail};
use object::{Object as _, ObjectSection as _, ReadCache};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The file name of the driver.
pub const LIBRARY: &str = "libvulkan_pellucid.so";

/// The file name of its manifest.
pub const MANIFEST: &str = "pellucid_icd.json";

const TEMPLATE: &str = include_str!("../../json/pellucid_icd.json");

/// The section of this executable's file with the driver.
const SECTION: &str = ".pellucid_driver";

/// A folder of the user, which a variable of the XDG Base Directory Specification names, or below HOME.
///
/// # Errors
/// Neither variable is set.
pub fn home_or(variable: &str, below_home: &str) -> anyhow::Result<PathBuf> {
    match std::env::var_os(variable).filter(|value| Path::new(value).is_absolute()) {
        Some(folder) => Ok(folder.into()),
        None => Ok(Path::new(&std::env::var_os("HOME").context("HOME is not set")?).join(below_home)),
    }
}

/// Where files are kept that can be made again.
///
/// # Errors
/// Neither XDG_CACHE_HOME nor HOME is set.
pub fn cache() -> anyhow::Result<PathBuf> {
    Ok(home_or("XDG_CACHE_HOME", ".cache")?.join("pellucid"))
}

/// The driver that lies beside this executable, or the one that it carries, written into the cache.
///
/// # Errors
/// There is neither, or the cache cannot be written.
pub fn library() -> anyhow::Result<PathBuf> {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    let found = library_or_in(cache)?;
    Ok(FOUND.get_or_init(|| found).clone())
}

/// The driver in `deps` beside this executable (where cargo puts it; a copy beside the executable may be of
/// an earlier build), beside it, or in `../lib`; or else the one that the executable carries, which is
/// written into `folder` if it is not there yet.
///
/// # Errors
/// There is none, or the folder cannot be written.
pub fn library_or_in(folder: impl FnOnce() -> anyhow::Result<PathBuf>) -> anyhow::Result<PathBuf> {
    let executable = std::env::current_exe().context("this executable's path")?;
    let executable = executable.canonicalize().unwrap_or(executable);
    let beside = executable.parent().context("this executable's folder")?;
    let candidates =
        [beside.join("deps").join(LIBRARY), beside.join(LIBRARY), beside.join("../lib").join(LIBRARY)];
    for candidate in &candidates {
        if candidate.is_file() {
            return candidate.canonicalize().with_context(|| candidate.display().to_string());
        }
    }
    let file = File::open(&executable).with_context(|| executable.display().to_string())?;
    if let Some(section) = carried(&file).context("the driver that this executable carries")? {
        let folder = folder()?;
        return write_out(&file, section, &folder).with_context(|| folder.display().to_string());
    }
    let places: Vec<String> = candidates.iter().map(|c| c.display().to_string()).collect();
    bail!("the driver is not there, and this executable carries none; looked for {}", places.join(", "))
}

fn read(file: &File, (at, length): (u64, u64)) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, at).map(|()| bytes)
}

/// Where an executable's [`SECTION`] begins, and its bytes.
fn carried(executable: &File) -> object::Result<Option<(u64, u64)>> {
    let read = ReadCache::new(executable);
    let section = object::File::parse(&read)?.section_by_name(SECTION).and_then(|one| one.file_range());
    Ok(section)
}

/// Writes the driver into a folder, which is made if needed; processes that use an earlier one keep it. It
/// gets the executable's time, by which it is known again.
fn write_out(executable: &File, section: (u64, u64), folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join(LIBRARY);
    let built = executable.metadata()?.modified()?;
    let same =
        |there: std::fs::Metadata| Ok::<_, io::Error>(there.len() == section.1 && there.modified()? == built);
    if std::fs::metadata(&path).and_then(same).unwrap_or(false) {
        return Ok(path);
    }
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&read(executable, section)?)?;
    let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(everyone)?;
    file.as_file().set_modified(built)?;
    file.persist(&path)?;
    Ok(path)
}

/// The manifest's text for a driver at `library`.
///
/// # Errors
/// The path is not text.
pub fn manifest(library: &Path) -> anyhow::Result<String> {
    let mut manifest: serde_json::Value = serde_json::from_str(TEMPLATE).context("the manifest template")?;
    let path = library.to_str().context("the driver's path is not valid text")?;
    manifest["ICD"]["library_path"] = path.into();
    Ok(serde_json::to_string_pretty(&manifest)? + "\n")
}

/// Writes the manifest of a driver into a folder, which is made if needed.
///
/// # Errors
/// The file cannot be written.
pub fn write_manifest(library: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let text = manifest(library)?;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(MANIFEST);
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_the_library_and_the_api_version() {
        let text = manifest(Path::new("/opt/x/libvulkan_pellucid.so")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["ICD"]["library_path"], "/opt/x/libvulkan_pellucid.so");
        assert!(value["ICD"]["api_version"].as_str().unwrap().starts_with("1.4."));
    }
}
