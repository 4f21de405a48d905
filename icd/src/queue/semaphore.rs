//! Semaphores: whether they are signaled, and what that tells.

use super::Host;
use super::shared::{Payloads, SharedKind};
use super::status::{Standing, StatusQuery, settle};
use super::told::{Completed, Told};
use crate::error::Outcome;
use crate::handle::{kind, object};
use parking_lot::Mutex;
use pellucid_memory::commands::Payload;
use pellucid_memory::shared::SharedWord;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// How many values of a timeline semaphore are told apart.
const VALUES: usize = 64;

/// A semaphore: a binary one counts 0 or 1.
pub struct Semaphore {
    /// It counts; a binary semaphore does not.
    pub timeline: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    value: u64,
    /// What each value tells that was signaled; of a binary semaphore that is 1.
    told: BTreeMap<u64, Told>,
    /// Timeline: who is to signal a value, or has, as far as the application was not told.
    by: BTreeMap<u64, Standing>,
    /// How many submissions there had been when the application last asked.
    asked: u64,
    /// The highest value that the application was told.
    told_of: u64,
    /// Payloads that are shared: where there is one, it is the payload.
    shared: Payloads,
}

impl State {
    /// How far it has come.
    fn reached(&self) -> u64 {
        self.shared.current().map_or(self.value, SharedWord::get)
    }

    /// What a value tells that the semaphore has had.
    fn up_to(&self, value: u64) -> Told {
        let mut known = Told::default();
        self.told.range(..=value).for_each(|(_, told)| known.join(told));
        known
    }

    /// What told that the semaphore reached `value`.
    fn reached_by(&self, value: u64) -> Told {
        self.told.range(value..).next().map(|(_, told)| told.clone()).unwrap_or_default()
    }
}

object!(Semaphore, vk::Semaphore, kind::SEMAPHORE);

impl Semaphore {
    /// A new semaphore.
    pub fn new(timeline: bool, value: u64) -> Semaphore {
        let told = BTreeMap::from([(value, Told::default())]);
        Semaphore { timeline, state: Mutex::new(State { value, told, told_of: value, ..State::default() }) }
    }

    /// One whose payload can be exported.
    pub fn exportable(timeline: bool, value: u64) -> Semaphore {
        let semaphore = Semaphore::new(timeline, value);
        semaphore.state.lock().shared = Payloads::exportable();
        semaphore
    }

    fn kind(&self) -> SharedKind {
        if self.timeline { SharedKind::Timeline } else { SharedKind::Binary }
    }

    /// vkGetSemaphoreFdKHR.
    ///
    /// # Errors
    /// It was not created to be exported, or the operating system refuses.
    pub fn export(&self) -> Outcome<i32> {
        let mut state = self.state.lock();
        let value = state.value;
        state.shared.export(self.kind(), value)
    }

    /// vkImportSemaphoreFdKHR.
    ///
    /// # Errors
    /// The descriptor is not of such a semaphore.
    pub fn import(&self, descriptor: BorrowedFd<'_>, temporary: bool) -> Outcome<()> {
        self.state.lock().shared.import(self.kind(), descriptor, temporary)
    }

    /// Others may signal it.
    pub fn is_shared(&self) -> bool {
        self.state.lock().shared.current().is_some()
    }

    /// The value that an operation is about.
    fn counted(&self, value: u64) -> u64 {
        if self.timeline { value } else { 1 }
    }

    /// True if a wait for `value` (ignored by a binary semaphore) would end at once.
    pub fn is_reached(&self, value: u64) -> bool {
        self.state.lock().reached() >= self.counted(value)
    }

    /// The end of a queue's wait, which unsignals a binary semaphore: what has completed, and what is ordered
    /// before the wait. `None` where somebody else may have signaled it.
    pub fn waited(&self, value: u64) -> Option<(Completed, Option<Arc<Payload>>)> {
        let value = self.counted(value);
        let mut state = self.state.lock();
        if let Some(word) = state.shared.current() {
            if !self.timeline {
                word.set(0);
            }
            state.shared.restore();
            return None;
        }
        if !self.timeline {
            state.value = 0;
        }
        let by = state.reached_by(value);
        let mut completed = by.completed;
        completed.join(state.up_to(value).completed);
        Some((completed, by.payload))
    }

    /// Signals it. The caller notifies the device's progress.
    pub fn signal(&self, value: u64, told: Told) {
        let value = self.counted(value);
        let mut state = self.state.lock();
        if let Some(word) = state.shared.current() {
            word.raise(value);
            return;
        }
        state.value = state.value.max(value);
        state.told.insert(value, told);
        while state.told.len() > VALUES {
            // What the oldest told is told by the next: whoever sees a value has seen the lower ones.
            let Some((_, oldest)) = state.told.pop_first() else { break };
            if let Some(mut next) = state.told.first_entry() {
                next.get_mut().join(&oldest);
            }
        }
    }

    /// A submission that is to signal `value` was handed in.
    pub fn expect(&self, value: u64, by: Standing) {
        if self.timeline {
            let mut state = self.state.lock();
            state.by.insert(value, by);
            if state.by.len() > VALUES {
                state.by.pop_first();
            }
        }
    }

    /// How far it has come in truth, whoever knows.
    pub fn value(&self) -> u64 {
        self.state.lock().reached()
    }

    /// The value that an application is told that asks, and what it tells; see [`super::status`].
    pub fn ask(&self, host: &dyn Host) -> (u64, Told) {
        let mut state = self.state.lock();
        if let Some(value) = state.shared.current().map(SharedWord::get) {
            drop(state);
            return (value, host.outside());
        }
        if host.hazards().is_none() {
            return (state.value, state.up_to(state.value));
        }
        let query = StatusQuery::new(host, &mut state.asked);
        let reached =
            state.by.iter().rev().find(|(_, by)| query.tells_of(**by)).map_or(0, |(value, _)| *value);
        state.by = state.by.split_off(&(reached + 1));
        drop(state);
        settle(host, || self.is_reached(reached));
        let mut state = self.state.lock();
        let known = host.completion().host();
        let tells = |(value, told): &(&u64, &Told)| **value <= reached || known.knows(told.completed);
        let value = state.told.range(..=state.value).rev().find(tells).map_or(0, |(value, _)| *value);
        let value = value.max(state.told_of);
        state.told_of = value;
        (value, state.up_to(value))
    }

    /// The application is told that it reached `value`.
    pub fn tell(&self, value: u64) {
        let mut state = self.state.lock();
        state.told_of = state.told_of.max(value);
    }

    /// What the host knows that saw it reach `value`, if it has.
    pub fn saw(&self, host: &dyn Host, value: u64) -> Option<Told> {
        let state = self.state.lock();
        if state.reached() < value {
            return None;
        }
        if state.shared.current().is_some() {
            drop(state);
            return Some(host.outside());
        }
        let mut told = state.up_to(value);
        told.join(&state.reached_by(value));
        Some(told)
    }
}
