//! VkSemaphore, binary and timeline.

use crate::boundary::{Error, Outcome, entries};
use crate::entry::destroy::destroy;
use crate::entry::device::Device;
use crate::entry::kind;
use crate::ffi;
use crate::handle::{self, object};
use crate::queue::host;
use crate::queue::progress::deadline;
use crate::queue::told::{Completed, Told};
use ash::vk;
use pellucid_memory::commands::Payload;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many values of a timeline semaphore are told apart.
const VALUES: usize = 64;

/// A semaphore: a binary one counts 0 or 1.
pub struct Semaphore {
    timeline: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    value: u64,
    /// What each value tells that was signaled; of a binary semaphore that is 1.
    told: BTreeMap<u64, Told>,
}

impl State {
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
    fn new(timeline: bool, value: u64) -> Semaphore {
        let told = BTreeMap::from([(value, Told::default())]);
        Semaphore { timeline, state: Mutex::new(State { value, told }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value that an operation is about.
    fn counted(&self, value: u64) -> u64 {
        if self.timeline { value } else { 1 }
    }

    /// True if a wait for `value` (ignored by a binary semaphore) would end at once.
    pub fn is_reached(&self, value: u64) -> bool {
        self.state().value >= self.counted(value)
    }

    /// The end of a queue's wait, which unsignals a binary semaphore: what has completed, and what is ordered
    /// before the wait.
    pub fn waited(&self, value: u64) -> (Completed, Option<Arc<Payload>>) {
        let value = self.counted(value);
        let mut state = self.state();
        if !self.timeline {
            state.value = 0;
        }
        let by = state.reached_by(value);
        let mut completed = by.completed;
        completed.join(state.up_to(value).completed);
        (completed, by.payload)
    }

    /// Signals it. The caller notifies the device's progress.
    pub fn signal(&self, value: u64, told: Told) {
        let value = self.counted(value);
        let mut state = self.state();
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

    /// What the host knows that saw it reach `value`, if it has.
    fn saw(&self, value: u64) -> Option<Told> {
        let state = self.state();
        if state.value < value {
            return None;
        }
        let mut told = state.up_to(value);
        told.join(&state.reached_by(value));
        Some(told)
    }
}

fn timeline(semaphore: vk::Semaphore) -> Outcome<Arc<Semaphore>> {
    let semaphore = handle::get::<Semaphore>(semaphore)?;
    if semaphore.timeline {
        Ok(semaphore)
    } else {
        Err(Error::usage("the semaphore is not a timeline semaphore"))
    }
}

entries! {
    /// vkCreateSemaphore.
    fn create_semaphore(
        device: vk::Device,
        info: *const vk::SemaphoreCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Semaphore,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        let kind = ffi::find::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next);
        let timeline = kind.filter(|t| t.semaphore_type == vk::SemaphoreType::TIMELINE);
        let semaphore = Semaphore::new(timeline.is_some(), timeline.map_or(0, |t| t.initial_value));
        ffi::write(out, handle::insert(Arc::new(semaphore)))
    }

    /// vkDestroySemaphore.
    fn destroy_semaphore(
        device: vk::Device,
        semaphore: vk::Semaphore,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<Semaphore>(device, semaphore, "vkDestroySemaphore")?;
        Ok(())
    }

    /// vkGetSemaphoreCounterValue.
    fn get_semaphore_counter_value(device: vk::Device, semaphore: vk::Semaphore, out: *mut u64) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let semaphore = timeline(semaphore)?;
        device.alive()?;
        let state = semaphore.state();
        let (value, told) = (state.value, state.up_to(state.value));
        drop(state);
        host::synchronize(&device, "vkGetSemaphoreCounterValue");
        device.host_saw(&told);
        ffi::write(out, value)
    }

    /// vkWaitSemaphores.
    fn wait_semaphores(device: vk::Device, info: *const vk::SemaphoreWaitInfo<'_>, timeout: u64) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        device.alive()?;
        let info = ffi::read(info)?;
        let values = ffi::slice(info.p_values, info.semaphore_count);
        let waits = ffi::slice(info.p_semaphores, info.semaphore_count)
            .iter()
            .zip(values)
            .map(|(s, v)| Ok((timeline(*s)?, *v)))
            .collect::<Outcome<Vec<_>>>()?;
        let any = info.flags.contains(vk::SemaphoreWaitFlags::ANY);
        // What the wait saw last is what the application is told, and no more.
        let mut seen: Vec<Option<Told>> = Vec::new();
        let reached = device.progress.wait(deadline(timeout), || {
            seen = waits.iter().map(|(s, v)| s.saw(*v)).collect();
            let mut each = seen.iter().map(Option::is_some);
            device.is_lost() || if any { each.any(|s| s) } else { each.all(|s| s) }
        });
        device.alive()?;
        if !reached {
            return Ok(vk::Result::TIMEOUT);
        }
        host::synchronize(&device, "vkWaitSemaphores");
        seen.iter().flatten().for_each(|told| device.host_saw(told));
        Ok(vk::Result::SUCCESS)
    }

    /// vkSignalSemaphore.
    fn signal_semaphore(device: vk::Device, info: *const vk::SemaphoreSignalInfo<'_>) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        let semaphore = timeline(info.semaphore)?;
        if semaphore.is_reached(info.value) {
            return Err(Error::usage("the value of a timeline semaphore only increases"));
        }
        host::synchronize(&device, "vkSignalSemaphore");
        let payload = device.hazards.as_ref().map(|h| Arc::new(h.host()));
        semaphore.signal(info.value, Told { completed: device.completion.host(), payload });
        device.progress.notify();
        Ok(())
    }
}
