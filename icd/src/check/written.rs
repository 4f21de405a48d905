//! What commands and host copies have written.

use crate::device::Device;
use pellucid_memory::commands::Runs;

/// The bytes that a command wrote are initialised from now on.
pub fn note(device: &Device, runs: &Runs) {
    let written = runs.bytes(|operand| !operand.write.is_empty());
    if let Some(host) = &device.host {
        host.device_wrote(&written);
    }
    let mut unwritten = device.unwritten.lock();
    if unwritten.is_empty() {
        return;
    }
    let aliases = device.aliases();
    for range in written.ranges() {
        for bytes in aliases.in_memory(&[range]) {
            unwritten.write(bytes.start, bytes.end);
        }
    }
}
