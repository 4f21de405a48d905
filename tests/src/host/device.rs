//! Where the driver is.

use anyhow::{Context, Result};
use std::path::PathBuf;

/// Where the driver's library is: what `PLANTED_LIBRARY` names, else the one that was built with this
/// executable.
///
/// # Errors
/// There is none.
pub fn driver() -> Result<PathBuf> {
    if let Some(library) = std::env::var_os("PLANTED_LIBRARY") {
        return Ok(library.into());
    }
    let executable = std::env::current_exe()?;
    let folder = executable.parent().context("no folder")?;
    let name = "libvulkan_pellucid.so";
    let candidates = [folder.join("deps").join(name), folder.join(name)];
    let newest = candidates.iter().filter_map(|c| Some((c.metadata().ok()?.modified().ok()?, c))).max();
    newest.map(|(_, path)| path.clone()).with_context(|| format!("{name} is not in {}", folder.display()))
}
