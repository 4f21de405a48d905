//! One submission: what it waits for, what runs, what it signals.

use super::Queue;
use crate::boundary::contain;
use crate::command::Recorded;
use crate::command::replay;
use crate::command::uses::Use;
use crate::entry::device::Device;
use crate::entry::fence::Fence;
use crate::entry::semaphore::Semaphore;
use ash::vk;
use pellucid_memory::commands::Payload;
use std::sync::Arc;

/// An object's identity, as long as it lives.
fn address<T>(object: &Arc<T>) -> usize {
    Arc::as_ptr(object) as usize
}

/// A semaphore operation: the semaphore and, for a timeline, the value.
#[derive(Clone)]
pub struct SemaphoreOperation {
    /// The semaphore.
    pub semaphore: Arc<Semaphore>,
    /// The value to wait for or to set.
    pub value: u64,
    /// The stages of the operation; `None` for a signal of vkQueueSubmit, which follows everything.
    pub stages: Option<vk::PipelineStageFlags2>,
}

/// One VkSubmitInfo, or the fence of a submission.
#[derive(Default)]
pub struct Submission {
    /// Where it was submitted.
    pub queue: Option<Arc<Queue>>,
    /// Its number on the queue, from 1.
    pub serial: u64,
    /// Semaphores to wait for.
    pub waits: Vec<SemaphoreOperation>,
    /// Command buffers, in order.
    pub commands: Vec<Arc<Recorded>>,
    /// Semaphores to signal.
    pub signals: Vec<SemaphoreOperation>,
    /// The fence to signal.
    pub fence: Option<Arc<Fence>>,
    /// Debug labels of the queue that were open.
    pub labels: Vec<String>,
    /// In check mode: what the host had seen when it submitted.
    pub host: Option<Payload>,
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
        let mut counted = 0;
        self.commands.iter().find_map(|recorded| {
            if Arc::as_ptr(recorded).cast::<()>() == object {
                return Some(Use { command: "vkQueueSubmit", index: None });
            }
            recorded.use_of(object, &mut counted)
        })
    }

    /// True if it does not have to wait.
    pub fn is_ready(&self) -> bool {
        self.waits.iter().all(|w| w.semaphore.is_reached(w.value))
    }

    /// Runs it to the end. A lost device runs nothing, but still signals, so that nobody waits for ever.
    pub fn run(&self, device: &Arc<Device>) {
        let index = self.queue.as_ref().map(|q| q.index);
        let hazards = device.hazards.as_ref().zip(index);
        if let Some(queue) = index {
            device.completion.begin(queue, self.serial, &self.waits);
        }
        if let (Some((hazards, queue)), Some(host)) = (hazards, &self.host) {
            hazards.submit(queue, host);
        }
        for wait in &self.waits {
            wait.semaphore.consume();
            if let Some((hazards, queue)) = hazards {
                let stages = wait.stages.unwrap_or(vk::PipelineStageFlags2::ALL_COMMANDS);
                hazards.wait_semaphore(
                    queue,
                    address(&wait.semaphore),
                    wait.semaphore.counted(wait.value),
                    stages,
                );
            }
        }
        if let Some(queue) = &self.queue {
            for recorded in &self.commands {
                if !device.is_lost() {
                    match contain(|| replay::run(device, queue, &self.labels, recorded)) {
                        Ok(Ok(())) => {}
                        Ok(Err(text)) => device.lose(&text),
                        Err(text) => device.lose(&format!("internal error: {text}")),
                    }
                }
            }
        }
        let told = index.map(|queue| device.completion.end(queue, self.serial)).unwrap_or_default();
        for signal in &self.signals {
            if let Some((hazards, queue)) = hazards {
                let value = signal.semaphore.counted(signal.value);
                hazards.signal_semaphore(queue, address(&signal.semaphore), value, signal.stages);
            }
            signal.semaphore.tell(signal.value, told);
            signal.semaphore.signal(signal.value);
        }
        if let Some(fence) = &self.fence {
            if let Some((hazards, queue)) = hazards {
                hazards.signal_fence(queue, address(fence));
            }
            fence.told.put(told);
            fence.signal();
        }
        if let Some(queue) = &self.queue {
            queue.retire(self.serial);
        }
        device.progress.notify();
    }
}
