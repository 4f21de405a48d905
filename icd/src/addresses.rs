//! Where physical storage buffer pointers may point.

use parking_lot::Mutex;
use pellucid_memory::commands::Range;
use pellucid_memory::device::MemoryRange;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory of buffers with device addresses, sorted by address, not overlapping.
pub type AddressMap = Arc<Vec<MemoryRange>>;

/// Buffers by address and handle.
type Buffers = BTreeMap<(u64, u64), MemoryRange>;

/// The live buffers of a device that have addresses.
#[derive(Default)]
pub struct Addresses {
    live: Mutex<Buffers>,
    map: Mutex<Option<AddressMap>>,
    /// How often the map has changed.
    changes: AtomicU64,
}

/// The union of ranges, sorted by address.
pub fn join(mut ranges: Vec<MemoryRange>) -> Vec<MemoryRange> {
    ranges.sort_by_key(MemoryRange::address);
    let mut map: Vec<MemoryRange> = Vec::new();
    for range in ranges {
        if !map.last_mut().is_some_and(|last| last.join(&range)) {
            map.push(range);
        }
    }
    map
}

impl Addresses {
    fn changed(&self) {
        *self.map.lock() = None;
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// How often what [`Addresses::all`] says has changed.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// A buffer has an address now.
    pub fn add(&self, handle: u64, range: MemoryRange) {
        self.live.lock().insert((range.address(), handle), range);
        self.changed();
    }

    /// A buffer has ended.
    pub fn remove(&self, handle: u64, address: u64) {
        self.live.lock().remove(&(address, handle));
        self.changed();
    }

    /// The handle of the buffer that shows these bytes, if it is one.
    pub fn only(&self, bytes: Range) -> Option<u64> {
        let live = self.live.lock();
        let holds = |range: &MemoryRange| {
            range.address() <= bytes.start && bytes.end <= range.address() + range.size()
        };
        let mut all = live.iter().filter(|(_, range)| holds(range)).map(|((_, handle), _)| *handle);
        all.next().filter(|_| all.next().is_none())
    }

    /// The memory of every live buffer that has an address, joined where buffers overlap or touch.
    pub fn all(&self) -> AddressMap {
        let mut map = self.map.lock();
        let joined =
            || Arc::new(join(self.live.lock().values().filter(|range| range.size() > 0).cloned().collect()));
        map.get_or_insert_with(joined).clone()
    }
}
