//! Who uses the driver: the instances and devices of this process, and what is said of instances on which no
//! device was created, and of devices that got no work.
//!
//! A client that does not find what it looks for hides that behind words of its own, or computes elsewhere.

use super::session::Session;
use crate::config::Config;
use crate::config::profiles;
use std::collections::BTreeSet;

/// Parts of the file names of libraries by which a process may compute elsewhere.
const ELSEWHERE: [&str; 9] = [
    "libvulkan_",
    "libvk_swiftshader",
    "libEGL",
    "libGLX",
    "libgallium",
    "_dri.so",
    "libOpenCL",
    "libcuda.so",
    "libze_loader",
];

/// The instances and devices of a process.
#[derive(Default)]
pub struct Clients {
    /// `pEngineName` and `pApplicationName` of all instances.
    names: BTreeSet<String>,
    instances: u64,
    /// Devices that were created.
    pub devices: u64,
    /// One of their queues got work.
    pub submitted: bool,
}

impl Clients {
    /// vkCreateInstance.
    pub fn instance(&mut self, names: [String; 2]) {
        self.instances += 1;
        self.names.extend(names.into_iter().filter(|name| !name.is_empty()));
    }

    fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// What is said if there are instances and no devices, or devices without work. `ended`: the process is
    /// about to end, so what it has loaded is what it used.
    pub fn advice(&self, config: &Config, ended: bool) -> Option<String> {
        if self.instances == 0 || self.submitted || self.devices > 0 && !ended {
            return None;
        }
        let who = match self.names().as_slice() {
            [] => "the program".to_owned(),
            names => format!("the program ({})", names.join(", ")),
        };
        let mut text = match self.devices {
            0 => format!("{who} created a VkInstance and no VkDevice on this driver"),
            _ => format!("{who} created a VkDevice and submitted nothing to its queues"),
        };
        let others = if ended { loaded_elsewhere() } else { BTreeSet::new() };
        if !others.is_empty() {
            let others: Vec<String> = others.into_iter().collect();
            text.push_str(&format!("; it may have used another one: it has loaded {}", others.join(", ")));
        }
        if let Some(advice) = profiles::advice(config, &self.names()) {
            text.push_str(&format!("; {advice}"));
        }
        Some(text)
    }

    /// The same for a process that nobody but its user watches: of clients that are known, where the user has
    /// pointed the loader somewhere.
    pub fn unwatched_advice(&self, config: &Config) -> Option<String> {
        let pointed = ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"].iter().any(|v| std::env::var_os(v).is_some());
        let known = pointed && self.devices == 0 && profiles::is_known(&self.names());
        self.advice(config, true).filter(|_| known)
    }
}

impl Session {
    /// An instance was created, by an engine and an application of these names.
    pub fn instance_created(&self, names: [String; 2]) {
        let mut state = self.state.lock();
        state.clients.instance(names);
        self.summarise(&mut state, false);
    }

    /// A device was created.
    pub fn device_created(&self) {
        let mut state = self.state.lock();
        state.clients.devices += 1;
        self.summarise(&mut state, false);
    }

    /// A queue got its first work.
    pub fn submitted(&self) {
        let mut state = self.state.lock();
        if !std::mem::replace(&mut state.clients.submitted, true) {
            self.summarise(&mut state, false);
        }
    }
}

/// The file names of other drivers that this process has loaded.
fn loaded_elsewhere() -> BTreeSet<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let files = maps.lines().filter_map(|line| line.rsplit_once('/').map(|(_, file)| file));
    files
        .filter(|file| ELSEWHERE.iter().any(|part| file.contains(part)) && !file.contains("pellucid"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_without_devices_are_told_of() {
        let mut clients = Clients::default();
        let config = Config::default();
        assert_eq!(clients.advice(&config, false), None);
        clients.instance(["wgpu-hal".into(), String::new()]);
        let text = clients.advice(&config, false).unwrap();
        assert!(text.starts_with(
            "the program (wgpu-hal) created a VkInstance and no VkDevice on this driver; wgpu looks"
        ));
        assert!(text.ends_with("try --for wgpu"), "{text}");
        clients.devices += 1;
        assert_eq!(clients.advice(&config, false), None);
        let text = clients.advice(&config, true).unwrap();
        assert!(
            text.starts_with("the program (wgpu-hal) created a VkDevice and submitted nothing to its queues")
        );
        assert_eq!(clients.unwatched_advice(&config), None);
        clients.submitted = true;
        assert_eq!(clients.advice(&config, true), None);
    }
}
