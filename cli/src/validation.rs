//! The Khronos validation layer for `pellucid run --validation`: where it is installed, and what makes the
//! Vulkan loader put it over the driver, with the driver's own layer above it, which hears its messages.

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The layer's name.
const LAYER: &str = "VK_LAYER_KHRONOS_validation";

/// The name of the layer that hears it.
const LISTENER: &str = "VK_LAYER_PELLUCID_listener";

/// The folders and files in which the loader looks for layers, in its order.
fn places(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let list = |name: &str, default: &str| {
        let value = variable(name).filter(|value| !value.is_empty()).unwrap_or_else(|| default.into());
        std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect::<Vec<_>>()
    };
    let given = list("VK_LAYER_PATH", "");
    if !given.is_empty() {
        return given;
    }
    let home = variable("HOME").map(PathBuf::from);
    let below = |folder: &str| home.iter().map(|home| home.join(folder)).collect::<Vec<_>>();
    let own =
        |name: &str, default: &str| variable(name).map_or_else(|| below(default), |value| vec![value.into()]);
    let folders = [
        own("XDG_CONFIG_HOME", ".config"),
        list("XDG_CONFIG_DIRS", "/etc/xdg"),
        vec!["/etc".into(), "/usr/local/etc".into()],
        own("XDG_DATA_HOME", ".local/share"),
        list("XDG_DATA_DIRS", "/usr/local/share:/usr/share"),
    ];
    let folders = folders.concat().into_iter().map(|folder| folder.join("vulkan/explicit_layer.d"));
    list("VK_ADD_LAYER_PATH", "").into_iter().chain(folders).collect()
}

/// Whether a manifest is the validation layer's.
fn describes(manifest: &Path) -> bool {
    let text = std::fs::read_to_string(manifest).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let more = manifest["layers"].as_array().into_iter().flatten();
    [&manifest["layer"]].into_iter().chain(more).any(|layer| layer["name"] == LAYER)
}

fn is_there(place: &Path) -> bool {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    describes(place)
        || entries.filter(|path| path.extension() == Some(OsStr::new("json"))).any(|p| describes(&p))
}

/// The variables for a program's environment. Writes a manifest into `folder` for the driver at `library`.
///
/// # Errors
/// The layer is not installed, or the manifest cannot be written.
pub fn variables(folder: &Path, library: &Path) -> anyhow::Result<BTreeMap<&'static str, OsString>> {
    let places = places(|name| std::env::var_os(name));
    if !places.iter().any(|place| is_there(place)) {
        let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        bail!(
            "--validation: {LAYER} is not installed (Debian has it in vulkan-validationlayers); looked in {}",
            places.join(", ")
        );
    }
    let folder = folder.join("layers");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let manifest = json!({
        "file_format_version": "1.1.2",
        "layer": {
            "name": LISTENER,
            "type": "GLOBAL",
            "library_path": library,
            "api_version": "1.4.0",
            "implementation_version": "1",
            "description": "Hears the validation layer for Pellucid",
        },
    });
    let path = folder.join("VkLayer_pellucid_listener.json");
    std::fs::write(&path, manifest.to_string()).with_context(|| path.display().to_string())?;
    let places = std::env::join_paths([folder].into_iter().chain(places))?;
    let mut layers = OsString::from(format!("{LISTENER}:{LAYER}"));
    if let Some(more) = std::env::var_os("VK_INSTANCE_LAYERS").filter(|more| !more.is_empty()) {
        layers.push(":");
        layers.push(more);
    }
    Ok(BTreeMap::from([("VK_LAYER_PATH", places), ("VK_INSTANCE_LAYERS", layers)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_looked_for_where_the_loader_does() {
        let of = |set: &[(&str, &str)]| {
            let set: BTreeMap<&str, &str> = set.iter().copied().collect();
            let places = places(|name| set.get(name).map(OsString::from));
            places.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(&[("VK_LAYER_PATH", "/a:/b/x.json"), ("HOME", "/h")]), "/a /b/x.json");
        let places = of(&[("HOME", "/h"), ("XDG_DATA_DIRS", "/d"), ("VK_ADD_LAYER_PATH", "/more")]);
        assert!(places.starts_with("/more /h/.config/vulkan/explicit_layer.d /etc/xdg/vulkan"), "{places}");
        assert!(
            places.ends_with(" /h/.local/share/vulkan/explicit_layer.d /d/vulkan/explicit_layer.d"),
            "{places}"
        );
    }
}
