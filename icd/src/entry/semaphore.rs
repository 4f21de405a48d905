//! VkSemaphore, binary and timeline.

use crate::boundary::{Error, Outcome, entries};
use crate::entry::destroy::destroy;
use crate::entry::device::Device;
use crate::entry::kind;
use crate::ffi;
use crate::handle::{self, object};
use crate::queue::completion::{Completed, ToldByValue};
use crate::queue::progress::deadline;
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A semaphore: a binary one counts 0 or 1.
pub struct Semaphore {
    timeline: bool,
    value: AtomicU64,
    told: ToldByValue,
}

object!(Semaphore, vk::Semaphore, kind::SEMAPHORE);

impl Semaphore {
    /// True if a wait for `value` (ignored by a binary semaphore) would end at once.
    pub fn is_reached(&self, value: u64) -> bool {
        self.value.load(Ordering::SeqCst) >= if self.timeline { value } else { 1 }
    }

    /// The value of an operation on it: 0 for a binary semaphore.
    pub fn counted(&self, value: u64) -> u64 {
        if self.timeline { value } else { 0 }
    }

    /// A signal of this value tells this from now on.
    pub fn tell(&self, value: u64, completed: Completed) {
        self.told.put(self.counted(value), completed);
    }

    /// What it tells once it has reached `value`.
    pub fn told(&self, value: u64) -> Completed {
        self.told.get(self.counted(value))
    }

    /// What its value tells the host.
    fn saw(self: &Arc<Self>, device: &Device) {
        device.completion.host_saw(self.told(self.value.load(Ordering::SeqCst)));
        if let Some(hazards) = &device.hazards {
            hazards.host_saw_semaphore(Arc::as_ptr(self) as usize, self.value.load(Ordering::SeqCst));
        }
    }

    /// A queue's wait has ended: a binary semaphore is unsignaled by it.
    pub fn consume(&self) {
        if !self.timeline {
            self.value.store(0, Ordering::SeqCst);
        }
    }

    /// Signals it. The caller notifies the device's progress.
    pub fn signal(&self, value: u64) {
        self.value.fetch_max(if self.timeline { value } else { 1 }, Ordering::SeqCst);
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
        let semaphore = match ffi::find::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next) {
            Some(t) if t.semaphore_type == vk::SemaphoreType::TIMELINE => {
                Semaphore { timeline: true, value: AtomicU64::new(t.initial_value), told: ToldByValue::default() }
            }
            _ => Semaphore { timeline: false, value: AtomicU64::new(0), told: ToldByValue::default() },
        };
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
        semaphore.saw(&device);
        ffi::write(out, semaphore.value.load(Ordering::SeqCst))
    }

    /// vkWaitSemaphores.
    fn wait_semaphores(device: vk::Device, info: *const vk::SemaphoreWaitInfo<'_>, timeout: u64) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        let values = ffi::slice(info.p_values, info.semaphore_count);
        let waits = ffi::slice(info.p_semaphores, info.semaphore_count)
            .iter()
            .zip(values)
            .map(|(s, v)| Ok((timeline(*s)?, *v)))
            .collect::<Outcome<Vec<_>>>()?;
        let any = info.flags.contains(vk::SemaphoreWaitFlags::ANY);
        let reached = || {
            let mut each = waits.iter().map(|(s, v)| s.is_reached(*v));
            if any { each.any(|r| r) } else { each.all(|r| r) }
        };
        device.progress.wait(deadline(timeout), || device.is_lost() || reached());
        device.alive()?;
        waits.iter().filter(|(s, v)| s.is_reached(*v)).for_each(|(s, _)| s.saw(&device));
        Ok(if reached() { vk::Result::SUCCESS } else { vk::Result::TIMEOUT })
    }

    /// vkSignalSemaphore.
    fn signal_semaphore(device: vk::Device, info: *const vk::SemaphoreSignalInfo<'_>) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        let semaphore = timeline(info.semaphore)?;
        if semaphore.value.load(Ordering::SeqCst) >= info.value {
            return Err(Error::usage("the value of a timeline semaphore only increases"));
        }
        if let Some(hazards) = &device.hazards {
            hazards.host_signal(Arc::as_ptr(&semaphore) as usize, info.value);
        }
        semaphore.tell(info.value, device.completion.host());
        semaphore.signal(info.value);
        device.progress.notify();
        Ok(())
    }
}
