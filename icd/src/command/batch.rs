//! The command buffers of a submission, and what they reach.

use super::reach::Reach;
use super::state::State;
use super::{Recorded, replay};
use crate::check::calls;
use crate::device::Device;
use crate::queue::Queue;
use crate::queue::submission::{Use, Work};
use pellucid_memory::commands::Range;
use std::sync::{Arc, Weak};

/// The work of a submission.
pub struct Batch {
    device: Weak<Device>,
    commands: Vec<Arc<Recorded>>,
    reach: Arc<Reach>,
}

impl Batch {
    /// The work of a submission that is made now; `None` if there is none.
    pub fn of(device: &Arc<Device>, commands: Vec<Arc<Recorded>>) -> Option<Box<dyn Work>> {
        if commands.is_empty() {
            return None;
        }
        let reach = Arc::new(Reach::new(device, &commands));
        Some(Box::new(Batch { device: Arc::downgrade(device), commands, reach }))
    }
}

impl Work for Batch {
    fn run(&self, queue: &Queue, labels: &[String]) -> Result<(), String> {
        let Some(device) = self.device.upgrade() else { return Ok(()) };
        calls::before_work(&device)?;
        self.commands.iter().try_for_each(|recorded| {
            replay::run(&device, queue, &mut State::new(labels, self.reach.clone()), recorded)
        })
    }

    fn access_of(&self, bytes: Range) -> Option<Use> {
        self.reach.access_of(bytes)
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
