//! Where the driver's shared library is, and the manifest that leads the Vulkan loader to it.

use anyhow::{Context as _, bail};
use std::path::{Path, PathBuf};

/// The file name of the driver.
pub const LIBRARY: &str = "libvulkan_pellucid.so";

/// The file name of its manifest.
pub const MANIFEST: &str = "pellucid_icd.json";

const TEMPLATE: &str = include_str!("../../json/pellucid_icd.json");

/// The driver in `deps` beside this executable (where cargo puts it; a copy beside the executable may be of
/// an earlier build), beside it, or in `../lib`.
///
/// # Errors
/// It is in none of these places.
pub fn library() -> anyhow::Result<PathBuf> {
    let executable = std::env::current_exe().context("this executable's path")?;
    let executable = executable.canonicalize().unwrap_or(executable);
    let folder = executable.parent().context("this executable's folder")?;
    let candidates =
        [folder.join("deps").join(LIBRARY), folder.join(LIBRARY), folder.join("../lib").join(LIBRARY)];
    for candidate in &candidates {
        if candidate.is_file() {
            return candidate.canonicalize().with_context(|| candidate.display().to_string());
        }
    }
    let places: Vec<String> = candidates.iter().map(|c| c.display().to_string()).collect();
    bail!("the driver is not there; looked for {}", places.join(", "))
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

/// Writes the manifest into a folder, which is made if needed.
///
/// # Errors
/// The driver is not there, or the file cannot be written.
pub fn write_manifest(folder: &Path) -> anyhow::Result<PathBuf> {
    let text = manifest(&library()?)?;
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
        assert!(value["ICD"]["api_version"].as_str().unwrap().starts_with("1.3."));
    }
}
