//! Objects whose handles have ended although something of the application's still mentions them: a recorded
//! command buffer or a descriptor. That is allowed as long as nothing is submitted that uses them.

use parking_lot::Mutex;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Weak;

/// How many are remembered.
const REMEMBERED: usize = 256;

/// An object whose handle has ended.
#[derive(Clone)]
pub struct Ended {
    /// The object, which stays as long as something mentions it.
    pub object: Weak<dyn Any + Send + Sync>,
    /// Its type, and its name or handle.
    pub called: String,
    /// The entry point that ended it.
    pub call: &'static str,
}

/// The ended objects of a device that are still mentioned.
#[derive(Default)]
pub struct EndedObjects(Mutex<VecDeque<Ended>>);

impl EndedObjects {
    /// An object's handle has ended.
    pub fn add(&self, ended: Ended) {
        let mut list = self.0.lock();
        list.retain(|one| one.object.strong_count() > 0);
        if list.len() == REMEMBERED {
            list.pop_front();
        }
        list.push_back(ended);
    }

    /// Those that are still mentioned, the oldest first.
    pub fn mentioned(&self) -> Vec<Ended> {
        let mut list = self.0.lock();
        if list.is_empty() {
            return Vec::new();
        }
        list.retain(|one| one.object.strong_count() > 0);
        list.iter().cloned().collect()
    }
}
