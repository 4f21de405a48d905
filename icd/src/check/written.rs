//! What commands and host copies have written.

use crate::device::Device;
use pellucid_memory::commands::{Operand, Range};

/// The bytes that a command wrote are initialised from now on.
pub fn note(device: &Device, runs: &[(Range, Operand)]) {
    if let Some(host) = &device.host {
        host.device_wrote(runs);
    }
    let mut unwritten = device.unwritten.lock();
    if unwritten.is_empty() {
        return;
    }
    let aliases = device.aliases();
    for (range, _) in runs.iter().filter(|(_, operand)| !operand.write.is_empty()) {
        for bytes in aliases.in_memory(&[*range]) {
            unwritten.write(bytes.start, bytes.end);
        }
    }
}
