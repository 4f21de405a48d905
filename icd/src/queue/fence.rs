//! Fences: whether they are signaled, and what that tells.

use super::Host;
use super::shared::{Payloads, SharedKind};
use super::status::{Standing, StatusQuery, settle};
use super::told::Told;
use crate::error::Outcome;
use crate::handle::{kind, object};
use parking_lot::Mutex;
use std::os::fd::BorrowedFd;

/// Signaled or not, and who is to signal it.
pub struct Fence(Mutex<State>);

struct State {
    /// What it tells whoever sees it signaled, if it is.
    told: Option<Told>,
    /// Who is to signal it, or has.
    by: Option<Standing>,
    /// How many submissions there had been when the application last asked.
    asked: u64,
    /// Payloads that are shared: where there is one, it is the payload.
    shared: Payloads,
}

impl State {
    fn is_signaled(&self) -> bool {
        self.shared.current().map_or(self.told.is_some(), |word| word.get() != 0)
    }
}

object!(Fence, vk::Fence, kind::FENCE);

impl Fence {
    /// A new fence.
    pub fn new(signaled: bool) -> Fence {
        let told = signaled.then(Told::default);
        Fence(Mutex::new(State { told, by: None, asked: 0, shared: Payloads::default() }))
    }

    /// One whose payload can be exported.
    pub fn exportable(signaled: bool) -> Fence {
        let fence = Fence::new(signaled);
        fence.0.lock().shared = Payloads::exportable();
        fence
    }

    /// vkGetFenceFdKHR.
    ///
    /// # Errors
    /// It was not created to be exported, or the operating system refuses.
    pub fn export(&self) -> Outcome<i32> {
        let mut state = self.0.lock();
        let signaled = state.told.is_some();
        state.shared.export(SharedKind::Fence, signaled.into())
    }

    /// vkImportFenceFdKHR.
    ///
    /// # Errors
    /// The descriptor is not of a fence.
    pub fn import(&self, descriptor: BorrowedFd<'_>, temporary: bool) -> Outcome<()> {
        self.0.lock().shared.import(SharedKind::Fence, descriptor, temporary)
    }

    /// Signals it. The caller notifies the device's progress.
    pub fn signal(&self, told: Told) {
        let mut state = self.0.lock();
        match state.shared.current() {
            Some(word) => word.set(1),
            None => state.told = Some(told),
        }
    }

    /// A submission that is to signal it was handed in.
    pub fn expect(&self, by: Standing) {
        self.0.lock().by = Some(by);
    }

    /// Unsignals it, once its own payload is there again.
    pub fn reset(&self) {
        let mut state = self.0.lock();
        let mut shared = std::mem::take(&mut state.shared);
        shared.restore();
        if let Some(word) = shared.current() {
            word.set(0);
        }
        *state = State { told: None, by: None, asked: 0, shared };
    }

    /// What it tells, if it is signaled.
    pub fn told(&self, host: &dyn Host) -> Option<Told> {
        let state = self.0.lock();
        if state.shared.current().is_none() {
            return state.told.clone();
        }
        let signaled = state.is_signaled();
        drop(state);
        signaled.then(|| host.outside())
    }

    /// What it tells an application that asks, if it is signaled as far as that may be told; see
    /// [`super::status`].
    pub fn ask(&self, host: &dyn Host) -> Option<Told> {
        let mut state = self.0.lock();
        if host.hazards().is_some() && state.shared.current().is_none() {
            let query = StatusQuery::new(host, &mut state.asked);
            let Some(by) = state.by else { return state.told.clone() };
            drop(state);
            if !query.tells_of(by) {
                return None;
            }
            settle(host, || self.is_signaled());
        } else {
            drop(state);
        }
        self.told(host)
    }

    /// True if signaled.
    pub fn is_signaled(&self) -> bool {
        self.0.lock().is_signaled()
    }
}
