//! Well-known clients: how each tells its name, and the options by which it takes this device.
//!
//! A client that looks for what the device does not show often says nothing of it, and computes elsewhere or
//! not at all. Who created an instance and no device is told which options help.

use super::{Config, DeviceType, HostCoherence, Queues, SubgroupSizes, Surfaces};

/// A client, or several that ask for the same.
#[derive(Debug)]
pub struct Profile {
    /// Its name, for `--for`.
    pub name: &'static str,
    /// `pEngineName` or `pApplicationName` of its instances.
    pub engines: &'static [&'static str],
    /// Options and their values.
    pub options: &'static [(&'static str, &'static str)],
}

/// A graphics queue family.
const GRAPHICS: (&str, &str) = ("queues", "pretend-graphics");
/// One subgroup size: those who ask for one near the least that there is get slow ones.
const ONE_SIZE: (&str, &str) = ("subgroup-sizes", "one");
/// A version of the conformance suite that a driver of Vulkan 1.4 may have passed.
const CONFORMANT: (&str, &str) = ("conformance-version", "1.4.0.0");
/// The extensions of windows.
const SURFACES: (&str, &str) = ("surfaces", "pretend");
/// No memory that has to be invalidated.
const COHERENT: (&str, &str) = ("host-memory", "coherent");
/// Any type but CPU.
const DISCRETE: (&str, &str) = ("device-type", "discrete");

/// Names of [`PROFILES`], as help shows them.
pub const NAMES: &str = "wgpu|deno|burn|dawn|onnxruntime-webgpu|taichi|ggml|ncnn|slangpy|compushady";

/// All profiles.
pub const PROFILES: &[Profile] = &[
    Profile { name: "wgpu", engines: &["wgpu-hal"], options: &[CONFORMANT, GRAPHICS, ONE_SIZE] },
    Profile { name: "deno", engines: &[], options: &[CONFORMANT, GRAPHICS, ONE_SIZE] },
    Profile { name: "burn", engines: &[], options: &[CONFORMANT, GRAPHICS, ONE_SIZE] },
    Profile { name: "dawn", engines: &["Dawn"], options: &[GRAPHICS, ONE_SIZE] },
    Profile { name: "onnxruntime-webgpu", engines: &[], options: &[GRAPHICS, ONE_SIZE] },
    Profile { name: "taichi", engines: &["Taichi", "taichi"], options: &[GRAPHICS, COHERENT] },
    Profile { name: "ggml", engines: &["ggml-vulkan"], options: &[DISCRETE] },
    // Releases before 2023, which many packages bring.
    Profile { name: "ncnn", engines: &["ncnn"], options: &[GRAPHICS] },
    Profile { name: "slangpy", engines: &["slang", "slang-rhi"], options: &[GRAPHICS, SURFACES] },
    Profile { name: "compushady", engines: &["compushady"], options: &[GRAPHICS, SURFACES] },
];

/// The profile of that name.
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

/// What the options of profiles provide that clients refuse a device without, as advice names it.
fn provides(option: &str) -> Option<&'static str> {
    match option {
        "queues" => Some("a queue family with graphics"),
        "conformance-version" => Some("a conformanceVersion other than 0.0.0.0"),
        "device-type" => Some("a device type other than CPU"),
        "surfaces" => Some("the extensions of windows"),
        "host-memory" => Some("memory that is coherent"),
        _ => None,
    }
}

/// The options of `profile` that this configuration does not have yet.
fn missing<'a>(config: &Config, options: &'a [(&str, &str)]) -> Vec<&'a (&'a str, &'a str)> {
    let there = |name: &str| match name {
        "queues" => config.queues != Queues::Compute,
        "conformance-version" => config.conformance_version != [0; 4],
        "host-memory" => config.host_memory == HostCoherence::Coherent,
        "surfaces" => config.surfaces != Surfaces::None,
        "device-type" => config.device_type != DeviceType::Cpu,
        "subgroup-sizes" => config.subgroup_sizes != SubgroupSizes::All,
        _ => true,
    };
    options.iter().filter(|(name, _)| !there(name)).collect()
}

/// What may help a client that created an instance and no device, by the names that its instance has: what it
/// looks for, and the option. `None` if nothing is known that would.
pub fn advice(config: &Config, names: &[&str]) -> Option<String> {
    let known = PROFILES.iter().find(|profile| profile.engines.iter().any(|engine| names.contains(engine)));
    let options = known.map_or(&[CONFORMANT, GRAPHICS, DISCRETE, SURFACES][..], |profile| profile.options);
    let missing = missing(config, options);
    let wanted: Vec<&str> = missing.iter().filter_map(|(name, _)| provides(name)).collect();
    if wanted.is_empty() {
        return None;
    }
    let (who, wanted, help) = match known {
        Some(profile) => (profile.name.to_owned(), wanted.join(" and "), format!("--for {}", profile.name)),
        None => {
            let flags: Vec<String> =
                missing.iter().map(|(name, value)| format!("--{name} {value}")).collect();
            ("some programs".to_owned(), wanted.join(" or "), flags.join(", "))
        }
    };
    let verb = if known.is_some() { "looks" } else { "look" };
    Some(format!("{who} {verb} for {wanted}: try {help}"))
}

/// True if a profile knows one of these names of an instance.
pub fn is_known(names: &[&str]) -> bool {
    PROFILES.iter().any(|profile| profile.engines.iter().any(|engine| names.contains(engine)))
}

#[cfg(test)]
mod tests;
