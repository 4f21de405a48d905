//! What the targets share: the driver in this process.

use pellucid_test_host::{Vulkan, linked};
use std::mem::ManuallyDrop;

/// A device of the driver in this mode, with little patience. A device that was lost may have work that never
/// ends: drop it by hand.
pub fn device(mode: &str) -> ManuallyDrop<Vulkan> {
    for (name, value) in
        [("MODE", mode), ("WATCHDOG", "2000"), ("THREADS", "1"), ("MAX_REPORTS", "1"), ("EXITCODE", "0")]
    {
        // SAFETY: the targets have one thread of their own, and the driver reads its variables in
        // vkCreateInstance alone.
        unsafe { std::env::set_var(format!("PELLUCID_{name}"), value) };
    }
    // SAFETY: the function is the driver's.
    let entry = unsafe { linked(vulkan_pellucid::vkGetInstanceProcAddr) };
    ManuallyDrop::new(Vulkan::new(entry).expect("a device"))
}
