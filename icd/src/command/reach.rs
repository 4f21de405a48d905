//! What a submission reaches.

use super::Recorded;
use crate::addresses::{AddressMap, join};
use crate::described::Numbered;
use crate::device::Device;
use crate::entry::descriptor_set::{DescriptorSet, Slot};
use crate::entry::image_view::ImageView;
use crate::queue::submission::Use;
use parking_lot::Mutex;
use pellucid_memory::commands::Range;
use smallvec::SmallVec;
use std::sync::Arc;

/// What the dispatches of a submission reach through descriptors and addresses, as it was at the submission.
/// It stays until the submission has ended, whatever the application updates, destroys or frees.
#[derive(Default)]
pub struct Reach {
    /// The descriptors of each set, sorted by the set's place in memory: the command buffers keep the sets
    /// there.
    sets: SmallVec<[(usize, Arc<Vec<Slot>>); 4]>,
    addresses: AddressMap,
    /// How often the addresses had changed.
    changes: u64,
    /// What descriptors in memory may name, if its dispatches read some.
    described: Arc<Numbered>,
    /// In check mode: what its dispatches have accessed by address, and which.
    accessed: Mutex<Vec<(Range, Use)>>,
}

/// Descriptors of a submission from which on nobody looks through them: it counts as using all memory.
const MANY: usize = 1 << 12;

fn key(set: &Arc<DescriptorSet>) -> usize {
    Arc::as_ptr(set).addr()
}

impl Reach {
    /// What a submission of these commands reaches that is made now.
    pub fn new(device: &Device, commands: &[Arc<Recorded>]) -> Reach {
        let sets = commands.iter().flat_map(|recorded| &recorded.sets);
        let changes = device.addresses.changes();
        let addresses = match commands.iter().any(|recorded| recorded.by_address) {
            true => device.addresses.all(),
            false => AddressMap::default(),
        };
        let described = match commands.iter().any(|recorded| recorded.described) {
            true => device.described.all(),
            false => Arc::default(),
        };
        let mut sets: SmallVec<[_; 4]> = sets.map(|set| (key(set), set.slots())).collect();
        if commands.len() > 1 {
            sets.sort_by_key(|(key, _)| *key);
        }
        Reach { sets, addresses, changes, described, accessed: Mutex::default() }
    }

    /// The descriptors of a set that the submission's commands bind.
    pub fn slots(&self, set: &Arc<DescriptorSet>) -> &[Slot] {
        let found = self.sets.binary_search_by_key(&key(set), |(key, _)| *key);
        found.map_or(&[], |at| &self.sets[at].1)
    }

    /// What descriptors in memory may name.
    pub fn described(&self) -> &Arc<Numbered> {
        &self.described
    }

    /// Where physical storage buffer pointers may point.
    pub fn addresses(&self) -> &AddressMap {
        &self.addresses
    }

    /// The same with the buffers that were made since, if any were.
    pub fn later_addresses(&self, device: &Device) -> Option<AddressMap> {
        if device.addresses.changes() == self.changes {
            return None;
        }
        let now = device.addresses.all();
        Some(Arc::new(join(self.addresses.iter().chain(now.iter()).cloned().collect())))
    }

    /// Where physical storage buffer pointers may point by now.
    pub fn addresses_now(&self, device: &Device) -> AddressMap {
        self.later_addresses(device).unwrap_or_else(|| self.addresses.clone())
    }

    /// Calls `each` with bytes of the memory at `object` that descriptors are of; `all` are its addresses.
    pub fn bytes_used(&self, object: *const (), all: Range, each: &mut dyn FnMut(Range)) {
        let slots = || self.sets.iter().flat_map(|(_, slots)| slots.iter());
        if slots().nth(MANY).is_some()
            || self.described.shows(MANY, |view: &ImageView| view.image.is_or_uses(object))
        {
            return each(all);
        }
        slots().filter_map(|slot| slot.bytes_used(object, all)).for_each(each);
    }

    /// A dispatch has accessed these bytes by their address.
    pub fn access(&self, bytes: Range, by: Use) {
        self.accessed.lock().push((bytes, by));
    }

    /// The first dispatch that has accessed some of these bytes by their address.
    pub fn access_of(&self, bytes: Range) -> Option<Use> {
        let accessed = self.accessed.lock();
        accessed.iter().find(|(b, _)| b.meets(bytes)).map(|(_, by)| *by)
    }
}
