//! The command buffers of a submission, and what they reach.

use super::reach::Reach;
use super::state::State;
use super::{Recorded, replay};
use crate::check::calls;
use crate::device::Device;
use crate::queue::Queue;
use crate::queue::submission::{Use, Work};
use pellucid_memory::commands::Range;
use smallvec::SmallVec;
use std::sync::{Arc, Weak};

/// The work of a submission.
pub struct Batch {
    device: Weak<Device>,
    commands: SmallVec<[Arc<Recorded>; 1]>,
    reach: Reach,
}

impl Batch {
    /// The work of a submission that is made now; `None` if there is none.
    pub fn of(device: &Arc<Device>, commands: SmallVec<[Arc<Recorded>; 1]>) -> Option<Arc<dyn Work>> {
        if commands.is_empty() {
            return None;
        }
        let reach = Reach::new(device, &commands);
        Some(Arc::new(Batch { device: Arc::downgrade(device), commands, reach }))
    }
}

impl Work for Batch {
    fn run(&self, queue: &Queue, labels: &[String]) -> Result<(), String> {
        let Some(device) = self.device.upgrade() else { return Ok(()) };
        if self.commands.iter().any(|recorded| recorded.accesses) {
            calls::before_work(&device);
        }
        let run = |recorded: &Arc<Recorded>| {
            if let Some(hazards) = &device.hazards {
                hazards.command_buffer(queue.index);
            }
            replay::run(&device, queue, &mut State::new(labels, &self.reach), recorded)
        };
        self.commands.iter().try_for_each(run).inspect_err(|_| calls::tell(&device))
    }

    fn submit(&self, queue: u32, serial: u64) {
        self.commands.iter().for_each(|recorded| recorded.submit(queue, serial));
    }

    fn bytes_used(&self, object: *const (), all: Range, each: &mut dyn FnMut(Range)) {
        self.commands.iter().for_each(|recorded| recorded.bytes_used(object, all, &self.reach, each));
        self.reach.bytes_used(object, all, each);
        if self.commands.iter().any(|recorded| recorded.by_address) {
            match self.device.upgrade() {
                Some(device) => self
                    .reach
                    .addresses_now(&device)
                    .iter()
                    .for_each(|b| each(Range::new(b.address(), b.size()))),
                None => each(all),
            }
        }
    }

    fn access_of(&self, bytes: Range) -> Option<Use> {
        self.reach.access_of(bytes)
    }

    fn use_of_ended(&self, object: *const ()) -> Option<Use> {
        let mut counted = 0;
        self.commands.iter().find_map(|recorded| recorded.use_of_ended(object, &self.reach, &mut counted))
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
