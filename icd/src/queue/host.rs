//! The host's side of the device's memory, in check mode: which allocations the host can see, and what
//! commands write to them.

use crate::entry::memory::DeviceMemory;
use crate::report::say;
use pellucid_memory::commands::{Operand, Range};
use pellucid_memory::host;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

/// The memory of a device that the host can map.
#[derive(Default)]
pub struct HostMemory {
    /// By device address.
    memories: Mutex<BTreeMap<u64, Weak<DeviceMemory>>>,
}

impl HostMemory {
    fn memories(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<DeviceMemory>>> {
        self.memories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host can map this memory.
    pub fn allocated(&self, memory: &Arc<DeviceMemory>) {
        static SAID: Once = Once::new();
        if let Some(error) = host::refusal() {
            SAID.call_once(|| {
                say(&format!(
                    "the kernel does not track writes (userfaultfd: {error}): host writes are found by comparing all bytes"
                ));
            });
        }
        let mut memories = self.memories();
        memories.retain(|_, memory| memory.strong_count() > 0);
        memories.insert(memory.bytes().address(), Arc::downgrade(memory));
    }

    /// A command has written what these runs say.
    pub fn device_wrote(&self, runs: &[(Range, Operand)]) {
        let memories = self.memories();
        for (range, _) in runs.iter().filter(|(_, operand)| !operand.write.is_empty()) {
            let Some((address, memory)) = memories.range(..=range.start).next_back() else { continue };
            if let Some(memory) = memory.upgrade().filter(|m| range.start - address < m.bytes().size()) {
                memory.bytes().device_wrote(&(range.start - address..range.end - address));
            }
        }
    }

    /// Something that does not say what it writes has run.
    pub fn device_wrote_somewhere(&self) {
        let memories: Vec<_> = self.memories().values().filter_map(Weak::upgrade).collect();
        memories.iter().for_each(|memory| memory.bytes().device_wrote_somewhere());
    }
}
