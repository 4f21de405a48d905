//! The modelled memory of a device.

use crate::config::Config;
use pellucid_memory::checked::{CheckOptions, CheckedMemory};

/// The modelled memory of a device.
pub struct CheckState {
    pub memory: CheckedMemory,
}

impl CheckState {
    /// The state of a new device; `None` outside check mode.
    pub fn new(config: &Config) -> Option<CheckState> {
        if !config.mode.modelled() {
            return None;
        }
        let options = CheckOptions {
            values: config.values,
            machine: config.machine,
            seed: config.seed,
            stale_budget: config.stale_budget,
            chains: config.chains,
            communication: config.communication,
            ..CheckOptions::default()
        };
        Some(CheckState { memory: CheckedMemory::new(options) })
    }
}
