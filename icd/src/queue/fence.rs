//! Fences: whether they are signaled, and what that tells.

use super::told::Told;
use crate::handle::{kind, object};
use ash::vk;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A fence: what it tells whoever sees it signaled, if it is.
pub struct Fence(Mutex<Option<Told>>);

object!(Fence, vk::Fence, kind::FENCE);

impl Fence {
    /// A new fence.
    pub fn new(signaled: bool) -> Fence {
        Fence(Mutex::new(signaled.then(Told::default)))
    }

    /// What it tells, if it is signaled.
    pub fn state(&self) -> MutexGuard<'_, Option<Told>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals it. The caller notifies the device's progress.
    pub fn signal(&self, told: Told) {
        *self.state() = Some(told);
    }

    /// True if signaled.
    pub fn is_signaled(&self) -> bool {
        self.state().is_some()
    }
}
