//! What a submission reaches.

use super::Recorded;
use crate::addresses::{AddressMap, join};
use crate::device::Device;
use crate::entry::descriptor_set::{DescriptorSet, Slot};
use crate::queue::submission::Use;
use pellucid_memory::commands::Range;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the dispatches of a submission reach through descriptors and addresses, as it was at the submission.
/// It stays until the submission has ended, whatever the application updates, destroys or frees.
#[derive(Default)]
pub struct Reach {
    /// The descriptors of each set, by the set's place in memory: the command buffers keep the sets there.
    sets: HashMap<usize, Arc<Vec<Slot>>>,
    addresses: AddressMap,
    /// In check mode: what its dispatches have accessed by address, and which.
    accessed: Mutex<Vec<(Range, Use)>>,
}

fn key(set: &Arc<DescriptorSet>) -> usize {
    Arc::as_ptr(set).addr()
}

impl Reach {
    /// What a submission of these commands reaches that is made now.
    pub fn new(device: &Device, commands: &[Arc<Recorded>]) -> Reach {
        let sets = commands.iter().flat_map(|recorded| &recorded.sets);
        let addresses = match commands.iter().any(|recorded| recorded.dispatches) {
            true => device.addresses.all(),
            false => AddressMap::default(),
        };
        let sets = sets.map(|set| (key(set), set.slots())).collect();
        Reach { sets, addresses, accessed: Mutex::default() }
    }

    /// The descriptors of a set.
    pub fn slots(&self, set: &Arc<DescriptorSet>) -> Arc<Vec<Slot>> {
        self.sets.get(&key(set)).cloned().unwrap_or_else(|| set.slots())
    }

    /// Where physical storage buffer pointers may point: also to buffers that were made since.
    pub fn addresses(&self, device: &Device) -> AddressMap {
        let now = device.addresses.all();
        if Arc::ptr_eq(&now, &self.addresses) {
            return now;
        }
        Arc::new(join(self.addresses.iter().chain(now.iter()).cloned().collect()))
    }

    fn accessed(&self) -> MutexGuard<'_, Vec<(Range, Use)>> {
        self.accessed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A dispatch has accessed these bytes by their address.
    pub fn access(&self, bytes: Range, by: Use) {
        self.accessed().push((bytes, by));
    }

    /// The first dispatch that has accessed some of these bytes by their address.
    pub fn access_of(&self, bytes: Range) -> Option<Use> {
        let accessed = self.accessed();
        accessed.iter().find(|(b, _)| b.start < bytes.end && bytes.start < b.end).map(|(_, by)| *by)
    }
}
