//! VkEvent.

use crate::boundary::entries;
use crate::entry::destroy::destroy;
use crate::entry::device::Device;
use crate::entry::kind;
use crate::ffi;
use crate::handle::{self, object};
use crate::queue::completion::Told;
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An event.
#[derive(Default)]
pub struct Event {
    set: AtomicBool,
    /// What it tells a host that sees it set.
    pub told: Told,
}

object!(Event, vk::Event, kind::EVENT);

impl Event {
    /// Sets or resets it. The caller notifies the device's progress.
    pub fn put(&self, set: bool) {
        self.set.store(set, Ordering::SeqCst);
    }

    /// True if set.
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::SeqCst)
    }
}

entries! {
    /// vkCreateEvent.
    fn create_event(
        device: vk::Device,
        _info: *const vk::EventCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Event,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        ffi::write(out, handle::insert(Arc::new(Event::default())))
    }

    /// vkDestroyEvent.
    fn destroy_event(device: vk::Device, event: vk::Event, _allocator: *const vk::AllocationCallbacks<'_>) {
        destroy::<Event>(device, event, "vkDestroyEvent")?;
        Ok(())
    }

    /// vkGetEventStatus.
    fn get_event_status(device: vk::Device, event: vk::Event) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let event = handle::get::<Event>(event)?;
        device.alive()?;
        if event.is_set() {
            device.completion.host_saw(event.told.get());
        }
        Ok(if event.is_set() { vk::Result::EVENT_SET } else { vk::Result::EVENT_RESET })
    }

    /// vkSetEvent.
    fn set_event(device: vk::Device, event: vk::Event) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        handle::get::<Event>(event)?.put(true);
        device.progress.notify();
        Ok(())
    }

    /// vkResetEvent.
    fn reset_event(device: vk::Device, event: vk::Event) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        handle::get::<Event>(event)?.put(false);
        device.progress.notify();
        Ok(())
    }
}
