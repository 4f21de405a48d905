//! The manifest where the Vulkan loader looks for it, and the exports that point the loader at it.

use crate::driver;
use anyhow::Context as _;
use std::path::{Path, PathBuf};
use vulkan_pellucid::report::replay::quote;

fn home_or(variable: &str, below_home: &str) -> anyhow::Result<PathBuf> {
    match std::env::var_os(variable).filter(|value| Path::new(value).is_absolute()) {
        Some(folder) => Ok(folder.into()),
        None => Ok(Path::new(&std::env::var_os("HOME").context("HOME is not set")?).join(below_home)),
    }
}

/// The folder of manifests: the user's (XDG_DATA_HOME), or the system's.
fn folder(system: bool) -> anyhow::Result<PathBuf> {
    let base = if system { PathBuf::from("/etc") } else { home_or("XDG_DATA_HOME", ".local/share")? };
    Ok(base.join("vulkan/icd.d"))
}

/// `pellucid install`: writes the manifest and says where.
///
/// # Errors
/// The driver is not there, or the file cannot be written.
pub fn install(system: bool) -> anyhow::Result<()> {
    let path = driver::write_manifest(&folder(system)?)?;
    println!("installed {}", path.display());
    println!("it points at {}", driver::library()?.display());
    Ok(())
}

/// `pellucid uninstall`: removes what `install` wrote.
///
/// # Errors
/// The file cannot be removed.
pub fn uninstall(system: bool) -> anyhow::Result<()> {
    let path = folder(system)?.join(driver::MANIFEST);
    match std::fs::remove_file(&path) {
        Ok(()) => println!("removed {}", path.display()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("{} is not there", path.display())
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    }
    Ok(())
}

/// `pellucid env`: prints exports for a shell.
///
/// # Errors
/// The driver is not there, or the cache folder cannot be written.
pub fn env() -> anyhow::Result<()> {
    let path = driver::write_manifest(&home_or("XDG_CACHE_HOME", ".cache")?.join("pellucid"))?;
    let path = quote(&path.to_string_lossy());
    println!("export VK_ICD_FILENAMES={path}");
    println!("export VK_DRIVER_FILES={path}");
    Ok(())
}
