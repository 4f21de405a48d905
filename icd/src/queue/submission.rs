//! One submission: what it waits for, what runs, what it signals.

use super::status::Standing;
use super::told::Told;
use super::{Host, Queue};
use crate::check::hazards::{Hazards, NamedSemaphore};
use crate::check::host_calls::HandedIn;
use crate::error::contain;
use crate::queue::fence::Fence;
use crate::queue::semaphore::Semaphore;
use ash::vk::{self, Handle as _};
use parking_lot::Mutex;
use pellucid_memory::commands::{Payload, Range};
use std::sync::Arc;

/// How submitted work uses an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The entry point that recorded the command, or that handed in the submission.
    pub command: &'static str,
    /// The command's place in the submission, from 1, as hazards count commands; `None` if the submission
    /// itself uses the object.
    pub index: Option<u32>,
}

/// What a submission does between its waits and its signals. It holds everything that it uses ([`HeldWork`]).
pub trait Work: Send + Sync {
    /// Runs it to its end, or until the device is lost. `labels` are the debug labels of the queue.
    ///
    /// # Errors
    /// The text of what loses the host.
    fn run(&self, queue: &Queue, labels: &[String]) -> Result<(), String>;

    /// It is part of a submission to a queue, by its number there.
    fn submit(&self, queue: u32, serial: u64);

    /// How it uses the object at `object`, if it does.
    fn use_of(&self, object: *const ()) -> Option<Use>;

    /// How it uses the object at `object`, whose handle has ended before it was submitted, if it does.
    fn use_of_ended(&self, object: *const ()) -> Option<Use>;

    /// Calls `each` with bytes of the memory at `object` that it may use; `all` are its addresses.
    fn bytes_used(&self, object: *const (), all: Range, each: &mut dyn FnMut(Range));

    /// In check mode, once it has run: the first access of it to some of these bytes by their address.
    fn access_of(&self, bytes: Range) -> Option<Use>;
}

/// A semaphore operation: the semaphore and, for a timeline, the value.
#[derive(Clone)]
pub struct SemaphoreOperation {
    pub semaphore: Arc<Semaphore>,
    /// What the application calls it.
    pub handle: vk::Semaphore,
    /// The value to wait for or to set.
    pub value: u64,
    /// The stages of the operation; `None` for a signal of vkQueueSubmit, which follows everything.
    pub stages: Option<vk::PipelineStageFlags2>,
}

impl SemaphoreOperation {
    /// As reports name it.
    fn named(&self) -> NamedSemaphore {
        let value = self.semaphore.timeline.then_some(self.value);
        NamedSemaphore { semaphore: self.handle.as_raw(), value, stages: self.stages }
    }

    /// True if this signal ends that wait.
    pub fn meets(&self, wait: &SemaphoreOperation) -> bool {
        Arc::ptr_eq(&self.semaphore, &wait.semaphore)
            && (!wait.semaphore.timeline || self.value >= wait.value)
    }
}

/// The work of a submission. What it holds (memory, addresses) has to be free again once the host knows that
/// the submission has completed, and queries about it go on until then: so it is held until it has begun and
/// is remembered no longer, and whoever runs it holds it for as long as it runs, before anything is signaled.
#[derive(Default)]
pub struct HeldWork(Mutex<Held>);

#[derive(Default)]
struct Held {
    work: Option<Arc<dyn Work>>,
    begun: bool,
    forgotten: bool,
}

impl From<Option<Arc<dyn Work>>> for HeldWork {
    fn from(work: Option<Arc<dyn Work>>) -> HeldWork {
        HeldWork(Mutex::new(Held { work, ..Held::default() }))
    }
}

impl HeldWork {
    /// The work, if there is any and it is held still.
    pub fn get(&self) -> Option<Arc<dyn Work>> {
        self.0.lock().work.clone()
    }

    /// The work, for the one who runs it.
    pub(super) fn begin(&self) -> Option<Arc<dyn Work>> {
        let mut held = self.0.lock();
        held.begun = true;
        if held.forgotten { held.work.take() } else { held.work.clone() }
    }

    /// Nobody will ask for it any more.
    fn forget(&self) {
        let mut held = self.0.lock();
        held.forgotten = true;
        let work = if held.begun { held.work.take() } else { None };
        drop(held);
        // What it alone holds ends here, outside the lock.
        drop(work);
    }
}

/// One VkSubmitInfo or VkBindSparseInfo, or the fence of a submission.
#[derive(Default)]
pub struct Submission {
    /// Where it was submitted.
    pub queue: Option<Arc<Queue>>,
    /// Its number on the queue, from 1.
    pub serial: u64,
    /// Semaphores to wait for.
    pub waits: Vec<SemaphoreOperation>,
    /// It is a VkBindSparseInfo.
    pub binds: bool,
    /// What runs, if anything does.
    pub work: HeldWork,
    /// Semaphores to signal.
    pub signals: Vec<SemaphoreOperation>,
    /// The fence to signal.
    pub fence: Option<Arc<Fence>>,
    /// Debug labels of the queue that were open.
    pub labels: Vec<String>,
    /// In check mode: what the host had seen when it submitted.
    pub host: Option<Box<(Payload, Option<HandedIn>)>>,
}

impl Submission {
    /// How it uses the object at `object`, if it does.
    pub fn use_of(&self, object: *const ()) -> Option<Use> {
        let semaphores =
            self.waits.iter().chain(&self.signals).map(|s| Arc::as_ptr(&s.semaphore).cast::<()>());
        let fence = self.fence.iter().map(|f| Arc::as_ptr(f).cast::<()>());
        if semaphores.chain(fence).any(|used| used == object) {
            return Some(Use { command: "vkQueueSubmit", index: None });
        }
        self.work.get().and_then(|work| work.use_of(object))
    }

    /// Calls `each` with bytes of the memory at `object` that it may use; `all` are its addresses.
    pub fn bytes_used(&self, object: *const (), all: Range, each: &mut dyn FnMut(Range)) {
        if let Some(work) = self.work.get() {
            work.bytes_used(object, all, each);
        }
    }

    /// The waits that have not ended.
    pub fn unmet(&self) -> impl Iterator<Item = &SemaphoreOperation> {
        self.waits.iter().filter(|w| !w.semaphore.is_reached(w.value))
    }

    /// True if it does not have to wait.
    pub fn is_ready(&self) -> bool {
        self.unmet().next().is_none()
    }

    /// It is handed in, in check mode: what it is to signal knows by whom.
    pub fn stand(&self, standing: Standing) {
        self.signals.iter().for_each(|signal| signal.semaphore.expect(signal.value, standing));
        if let Some(fence) = &self.fence {
            fence.expect(standing);
        }
    }

    /// The host knows that it has completed, or it is remembered no longer: nobody will ask for its work.
    pub fn forget(&self) {
        self.work.forget();
    }

    /// Runs it to the end. A lost device runs nothing, but still signals, so that nobody waits for ever.
    pub fn run(&self, host: &dyn Host) {
        let Some(queue) = &self.queue else { return };
        self.begin(host, queue.index);
        // It is let go before anything is signaled.
        if let Some(work) = self.work.begin()
            && !host.is_lost()
        {
            match contain(|| work.run(queue, &self.labels)) {
                Ok(Ok(())) => {}
                Ok(Err(text)) => host.lose(&text),
                Err(text) => host.lose(&format!("internal error: {text}")),
            }
        }
        self.end(host, queue.index);
        queue.retire(self.serial);
        host.progress().notify();
    }

    fn begin(&self, host: &dyn Host, queue: u32) {
        if let (Some(hazards), Some(host)) = (host.hazards(), &self.host) {
            let [waits, signals] = [&self.waits, &self.signals]
                .map(|list| list.iter().map(SemaphoreOperation::named).collect::<Vec<_>>());
            hazards.submit((queue, self.binds), host, &waits, &signals);
        }
        let mut known = Told::default();
        for wait in &self.waits {
            let outside = || {
                let told = host.outside();
                (told.completed, told.payload)
            };
            let (completed, payload) = wait.semaphore.waited(wait.value).unwrap_or_else(outside);
            known.completed.join(completed);
            if let Some(hazards) = host.hazards() {
                let payload = payload.unwrap_or_default();
                let stages = wait.stages.unwrap_or(vk::PipelineStageFlags2::ALL_COMMANDS);
                hazards.wait_semaphore(queue, &payload, (!self.binds).then_some(stages));
            }
        }
        host.completion().begin(queue, self.serial, known.completed);
    }

    fn end(&self, host: &dyn Host, queue: u32) {
        let (completed, order) = host.completion().end(queue, self.serial);
        let hazards = host.hazards();
        if let Some(hazards) = hazards.filter(|_| self.binds) {
            hazards.end_bindings(queue);
        }
        let carried = |hazards: &Hazards, stages| match self.binds {
            true => hazards.signal_bindings(queue),
            false => hazards.signal_semaphore(queue, stages),
        };
        for signal in &self.signals {
            let payload = hazards.map(|h| Arc::new(carried(h, signal.stages)));
            signal.semaphore.signal(signal.value, Told { completed, order, payload });
        }
        if let Some(fence) = &self.fence {
            let payload = hazards.map(|h| Arc::new(h.signal_fence(queue)));
            fence.signal(Told { completed, order, payload });
        }
    }
}
