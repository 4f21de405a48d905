//! Fences: whether they are signaled, and what that tells.

use super::Host;
use super::status::{Standing, StatusQuery, settle};
use super::told::Told;
use crate::handle::{kind, object};
use ash::vk;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Signaled or not, and who is to signal it.
pub struct Fence(Mutex<State>);

struct State {
    /// What it tells whoever sees it signaled, if it is.
    told: Option<Told>,
    /// Who is to signal it, or has.
    by: Option<Standing>,
    /// How many submissions there had been when the application last asked.
    asked: u64,
}

object!(Fence, vk::Fence, kind::FENCE);

impl Fence {
    /// A new fence.
    pub fn new(signaled: bool) -> Fence {
        Fence(Mutex::new(State { told: signaled.then(Told::default), by: None, asked: 0 }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals it. The caller notifies the device's progress.
    pub fn signal(&self, told: Told) {
        self.state().told = Some(told);
    }

    /// A submission that is to signal it was handed in.
    pub fn expect(&self, by: Standing) {
        self.state().by = Some(by);
    }

    /// Unsignals it.
    pub fn reset(&self) {
        *self.state() = State { told: None, by: None, asked: 0 };
    }

    /// What it tells, if it is signaled.
    pub fn told(&self) -> Option<Told> {
        self.state().told.clone()
    }

    /// What it tells an application that asks, if it is signaled as far as that may be told; see
    /// [`super::status`].
    pub fn ask(&self, host: &dyn Host) -> Option<Told> {
        if host.hazards().is_some() {
            let mut state = self.state();
            let query = StatusQuery::new(host, &mut state.asked);
            let Some(by) = state.by else { return state.told.clone() };
            drop(state);
            if !query.tells_of(by) {
                return None;
            }
            settle(host, || self.is_signaled());
        }
        self.told()
    }

    /// True if signaled.
    pub fn is_signaled(&self) -> bool {
        self.state().told.is_some()
    }
}
