//! What whoever sees a signal knows from it.
//!
//! An object that submitted work uses may be destroyed once that work has completed, which the application
//! learns from a fence, a timeline semaphore, an idle queue, an event or a query. Whether the work has in
//! truth ended by then depends on threads; what the host was told depends on the application's calls alone.
//! So each signal carries what it tells, in the object that is signaled, and state and telling are read
//! together: what the application was told is what the driver takes it to know.

use crate::caps::queues::QUEUE_COUNT;
use pellucid_memory::commands::Payload;
use std::sync::Arc;

/// For each queue, the serial number up to which all submissions have completed, as far as somebody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completed([u64; QUEUE_COUNT as usize]);

impl Completed {
    /// Also knows what `other` knows.
    pub fn join(&mut self, other: Completed) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = (*mine).max(theirs);
        }
    }

    /// Also knows that the submissions of a queue up to `serial` have completed.
    pub fn reach(&mut self, queue: u32, serial: u64) {
        if let Some(mine) = self.0.get_mut(queue as usize) {
            *mine = (*mine).max(serial);
        }
    }

    /// Whether it knows all that `other` knows.
    pub fn knows(&self, other: Completed) -> bool {
        self.0.iter().zip(other.0).all(|(mine, theirs)| *mine >= theirs)
    }

    /// Whether submission `serial` of a queue has completed.
    pub fn covers(&self, queue: u32, serial: u64) -> bool {
        self.0.get(queue as usize).is_none_or(|reached| *reached >= serial)
    }
}

/// What a signal tells.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Which submissions have completed.
    pub completed: Completed,
    /// So many submissions of the device had ended with the one that tells it; 0 if the host does.
    pub order: u64,
    /// In check mode: which operations are ordered before whoever sees it.
    pub payload: Option<Arc<Payload>>,
}

impl Told {
    /// Tells what `other` does as well.
    pub fn join(&mut self, other: &Told) {
        self.completed.join(other.completed);
        self.order = self.order.max(other.order);
        match (&mut self.payload, &other.payload) {
            (Some(mine), Some(theirs)) => Arc::make_mut(mine).join(theirs),
            (mine @ None, theirs) => mine.clone_from(theirs),
            (Some(_), None) => {}
        }
    }
}
