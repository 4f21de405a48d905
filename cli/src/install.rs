//! The manifest where the Vulkan loader looks for it, and the exports that point the loader at it.

use crate::driver::{self, home_or};
use anyhow::Context as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use vulkan_pellucid::report::replay::quote;

/// The folders of manifests and of a driver that the command carries: the user's (XDG_DATA_HOME), or the
/// system's.
fn folders(system: bool) -> anyhow::Result<(PathBuf, PathBuf)> {
    if system {
        return Ok(("/etc/vulkan/icd.d".into(), "/usr/local/lib/pellucid".into()));
    }
    let data = home_or("XDG_DATA_HOME", ".local/share")?;
    Ok((data.join("vulkan/icd.d"), data.join("pellucid")))
}

/// `pellucid install`: writes the manifest, and a driver that the command carries, and says where.
///
/// # Errors
/// The driver is not there, or a file cannot be written.
pub fn install(system: bool) -> anyhow::Result<()> {
    let (manifests, libraries) = folders(system)?;
    let library = driver::library_or_in(|| Ok(libraries))?;
    println!("installed {}", driver::write_manifest(&library, &manifests)?.display());
    println!("it points at {}", library.display());
    Ok(())
}

/// `pellucid uninstall`: removes what `install` wrote; the user's, and what other commands keep in the cache.
///
/// # Errors
/// A file cannot be removed.
pub fn uninstall(system: bool) -> anyhow::Result<()> {
    let (manifests, libraries) = folders(system)?;
    let manifest = manifests.join(driver::MANIFEST);
    if !remove(&manifest)? {
        println!("{} is not there", manifest.display());
    }
    remove(&libraries.join(driver::LIBRARY))?;
    // Others may keep files there: only what is empty goes.
    drop(std::fs::remove_dir(&libraries));
    if !system {
        for folder in manifests.ancestors().take(2) {
            drop(std::fs::remove_dir(folder));
        }
        let cache = driver::cache()?;
        remove(&cache.join(driver::LIBRARY))?;
        remove(&cache.join(driver::MANIFEST))?;
        drop(std::fs::remove_dir(&cache));
    }
    Ok(())
}

fn remove(path: &Path) -> anyhow::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => println!("removed {}", path.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    }
    Ok(true)
}

/// `pellucid env`: prints exports for a shell.
///
/// # Errors
/// The driver is not there, or the cache folder cannot be written.
pub fn env() -> anyhow::Result<()> {
    let path = driver::write_manifest(&driver::library()?, &driver::cache()?)?;
    let path = quote(&path.to_string_lossy());
    println!("export VK_ICD_FILENAMES={path}");
    println!("export VK_DRIVER_FILES={path}");
    Ok(())
}
