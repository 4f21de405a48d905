//! VkEvent.

use crate::boundary::{creates, destroys, entries};
use crate::check::calls;
use crate::device::Device;
use crate::handle::{self, kind, object};
use crate::queue::status;
use crate::queue::told::Told;
use ash::vk;
use parking_lot::Mutex;
use pellucid_memory::commands::EventToken;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub struct Event {
    state: Mutex<State>,
    handle: AtomicU64,
}

#[derive(Default)]
struct State {
    set: bool,
    /// What it tells a host that sees it set.
    told: Told,
    /// In check mode: what it carries to the commands that wait for it.
    tokens: Arc<[EventToken]>,
}

object!(Event, vk::Event, kind::EVENT);

impl Event {
    /// Sets it, unless it is set (then vkSetEvent and vkCmdSetEvent2 have no effect). The caller notifies the
    /// device's progress.
    pub fn set(&self, told: Told, tokens: Vec<EventToken>) {
        let mut state = self.state.lock();
        if !state.set {
            *state = State { set: true, told, tokens: tokens.into() };
        }
    }

    /// Resets it. The caller notifies the device's progress.
    pub fn reset(&self) {
        *self.state.lock() = State::default();
    }

    /// True if set.
    pub fn is_set(&self) -> bool {
        self.state.lock().set
    }

    /// What the application calls it.
    pub fn handle(&self) -> u64 {
        self.handle.load(Ordering::Relaxed)
    }

    /// What it carries to the commands that wait for it.
    pub fn tokens(&self) -> Arc<[EventToken]> {
        self.state.lock().tokens.clone()
    }
}

creates! {
    fn create_event(_device, _info: vk::EventCreateInfo<'_>) -> vk::Event {
        let event = Arc::new(Event::default());
        let handle = handle::insert(event.clone());
        event.handle.store(vk::Handle::as_raw(handle), Ordering::Relaxed);
        Ok(handle)
    }
}

destroys! {
    fn destroy_event(Event) as "vkDestroyEvent";
}

entries! {
    fn get_event_status(device: Arc<Device>, event: Arc<Event>) -> vk::Result {
        device.alive()?;
        status::settle_all(&*device);
        let state = event.state.lock();
        let (set, told) = (state.set, state.told.clone());
        drop(state);
        if set {
            calls::synchronize(&device, "vkGetEventStatus");
            device.host_saw(&told);
        }
        Ok(if set { vk::Result::EVENT_SET } else { vk::Result::EVENT_RESET })
    }

    fn set_event(device: Arc<Device>, event: vk::Event) -> vk::Result {
        calls::synchronize(&device, "vkSetEvent");
        let token = device.hazards.as_ref().map(|hazards| hazards.host_event());
        let told = Told { completed: device.completion.host(), ..Told::default() };
        handle::get::<Event>(event)?.set(told, token.into_iter().collect());
        device.progress.notify();
        Ok(())
    }

    fn reset_event(device: Arc<Device>, event: Arc<Event>) -> vk::Result {
        event.reset();
        device.progress.notify();
        Ok(())
    }
}
