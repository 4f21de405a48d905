//! The command buffers of a submission, and what they reach.

use super::dispatch::State;
use super::{Recorded, replay};
use crate::entry::buffer::join;
use crate::entry::descriptor_set::{DescriptorSet, Slot};
use crate::entry::device::{AddressMap, Device};
use crate::queue::Queue;
use crate::queue::submission::{Use, Work};
use std::collections::HashMap;
use std::sync::Arc;

/// What the dispatches of a submission reach through descriptors and addresses, as it was at the submission.
/// It stays until the submission has ended, whatever the application updates, destroys or frees.
#[derive(Default)]
pub struct Reach {
    /// The descriptors of each set, by the set's place in memory: the command buffers keep the sets there.
    sets: HashMap<usize, Arc<Vec<Slot>>>,
    addresses: AddressMap,
}

fn key(set: &Arc<DescriptorSet>) -> usize {
    Arc::as_ptr(set).addr()
}

impl Reach {
    fn new(device: &Device, commands: &[Arc<Recorded>]) -> Reach {
        let sets = commands.iter().flat_map(|recorded| &recorded.sets);
        let addresses = match commands.iter().any(|recorded| recorded.dispatches) {
            true => device.address_map(),
            false => AddressMap::default(),
        };
        Reach { sets: sets.map(|set| (key(set), set.slots())).collect(), addresses }
    }

    /// The descriptors of a set.
    pub fn slots(&self, set: &Arc<DescriptorSet>) -> Arc<Vec<Slot>> {
        self.sets.get(&key(set)).cloned().unwrap_or_else(|| set.slots())
    }

    /// Where physical storage buffer pointers may point: also to buffers that were made since.
    pub fn addresses(&self, device: &Device) -> AddressMap {
        let now = device.address_map();
        if Arc::ptr_eq(&now, &self.addresses) {
            return now;
        }
        Arc::new(join(self.addresses.iter().chain(now.iter()).cloned().collect()))
    }
}

/// The work of a submission.
pub struct Batch {
    commands: Vec<Arc<Recorded>>,
    reach: Arc<Reach>,
}

impl Batch {
    /// The work of a submission that is made now; `None` if there is none.
    pub fn of(device: &Device, commands: Vec<Arc<Recorded>>) -> Option<Box<dyn Work>> {
        if commands.is_empty() {
            return None;
        }
        let reach = Arc::new(Reach::new(device, &commands));
        Some(Box::new(Batch { commands, reach }))
    }
}

impl Work for Batch {
    fn run(&self, device: &Arc<Device>, queue: &Queue, labels: &[String]) -> Result<(), String> {
        self.commands.iter().try_for_each(|recorded| {
            replay::run(device, queue, &mut State::new(labels, self.reach.clone()), recorded)
        })
    }

    fn use_of(&self, object: *const ()) -> Option<Use> {
        let mut counted = 0;
        self.commands.iter().find_map(|recorded| {
            if Arc::as_ptr(recorded).cast::<()>() == object {
                return Some(Use { command: "vkQueueSubmit", index: None });
            }
            recorded.use_of(object, &self.reach, &mut counted)
        })
    }
}
