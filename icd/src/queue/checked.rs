//! Check mode: dispatches over the modelled memory, and what its detector found.

use crate::command::dispatch::Named;
use crate::config::{Config, Mode};
use crate::entry::device::Device;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::Program;
use pellucid_shader_interp::interface::{Grid, Resources};
use std::sync::Arc;

/// The modelled memory of a device.
pub struct CheckState {}

impl CheckState {
    /// The state of a new device; `None` outside check mode.
    pub fn new(config: &Config) -> Option<CheckState> {
        (config.mode == Mode::Check).then_some(CheckState {})
    }
}

/// Runs a dispatch over the modelled memory.
///
/// # Errors
/// The trap that ended it.
pub fn dispatch(
    _device: &Arc<Device>,
    _program: &Program,
    _grid: &Grid,
    _resources: &Resources,
    _named: &dyn Fn() -> Named,
) -> Result<(), Trap> {
    Err(Trap::NotImplemented("check mode in the driver".into()))
}
