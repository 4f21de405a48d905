//! VkDevice as an object: what its queues, commands and reports share.

use crate::addresses::Addresses;
use crate::boundary::Origin;
use crate::caps::{Caps, memory, queues};
use crate::check::hazards::Hazards;
use crate::check::host::MappableMemory;
use crate::check::state::CheckState;
use crate::described::Described;
use crate::ended::EndedObjects;
use crate::entry::instance::Instance;
use crate::error::{Error, Outcome};
use crate::handle::{self, DeviceNumber, dispatchable_object};
use crate::queue::completion::Completion;
use crate::queue::shared::Watcher;
use crate::queue::submission::SemaphoreOperation;
use crate::queue::told::Told;
use crate::queue::{self, Host, Progress, Queue, Submission, Worker};
use crate::{forks, report};
use ash::vk;
use parking_lot::Mutex;
use pellucid_memory::access::Reference;
use pellucid_memory::aliases::SparseAliases;
use pellucid_memory::checked::Robustness;
use pellucid_memory::commands::Payload;
use pellucid_memory::device::Allocation;
use pellucid_memory::heap::{Heap, HeapError};
use pellucid_memory::unwritten::Unwritten;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

/// How many names of ended objects are kept: findings may still be about them.
const ENDED_NAMES: usize = 1024;

/// Debug names, by object type and handle.
#[derive(Default)]
struct Names {
    live: BTreeMap<(i32, u64), String>,
    /// Those of `live` whose objects have ended, the oldest first.
    ended: VecDeque<(i32, u64)>,
}

/// The memory of a sparse resource, and which resource it is: its VkObjectType and handle.
pub type SparseMemory = (Weak<Allocation>, (vk::ObjectType, u64));

/// What of the features that an application enables changes what its device does.
#[derive(Default)]
pub struct Enabled {
    /// What accesses outside of their object are defined to do.
    pub robust: Robustness,
    /// Barriers take depth slices as layers.
    pub maintenance9: bool,
    /// descriptorBufferImageLayoutIgnored.
    pub layouts_ignored: bool,
    /// A global priority that a queue family does not report is refused.
    pub global_priority_query: bool,
}

/// A logical device.
pub struct Device {
    /// Its number, by which handles know that they are of it.
    pub number: DeviceNumber,
    /// How many devices the process created before it: numbers are used again.
    pub ordinal: u64,
    pub instance: Arc<Instance>,
    /// What it claims.
    pub caps: Arc<Caps>,
    /// Memory heaps.
    pub heaps: [Arc<Heap>; 2],
    /// The addresses of sparse resources; made for the first.
    sparse: OnceLock<Arc<Heap>>,
    /// In check mode: the memory of sparse resources that have to be bound as a whole.
    pub sparse_whole: Mutex<Vec<SparseMemory>>,
    /// Extensions that the application enabled.
    pub extensions: Vec<String>,
    /// Which accesses outside of their object the features define that the application enabled.
    pub robust: Robustness,
    /// Barriers take depth slices as layers (VK_KHR_maintenance9).
    pub slices: bool,
    /// Descriptors in memory name no image layouts (descriptorBufferImageLayoutIgnored).
    pub layouts_ignored: bool,
    /// Wakes whoever waits for anything that happens on this device.
    pub progress: Progress,
    /// Ends running shaders when the device is destroyed or lost.
    pub stop: AtomicBool,
    /// When the device was created: timestamps count from here.
    pub epoch: Instant,
    /// Live memory allocations.
    pub allocations: AtomicU32,
    /// Live samplers.
    pub samplers: AtomicU32,
    /// Dispatches so far, in submission order: the numbers of findings.
    pub dispatches: AtomicU32,
    /// Live buffers with device addresses.
    pub addresses: Addresses,
    /// Live image views and samplers that descriptors in memory may name.
    pub described: Described,
    /// The modelled memory and what belongs to it, in check mode.
    pub checked: Option<Mutex<CheckState>>,
    /// Hazards between commands; there in check mode.
    pub hazards: Option<Arc<Hazards>>,
    /// The memory that the host can map; there in check mode.
    pub host: Option<MappableMemory>,
    /// Which submissions the host knows to have completed.
    pub completion: Completion,
    /// In check mode: bytes of memory that only the device reaches and that no command has written.
    pub unwritten: Mutex<Unwritten>,
    /// Objects whose handles have ended and that something still mentions.
    pub ended: EndedObjects,
    /// Private data: (object type, handle, slot) to value.
    pub private_data: Mutex<BTreeMap<(i32, u64, u64), u64>>,
    names: Mutex<Names>,
    lost: AtomicBool,
    /// Why it is lost.
    fault: OnceLock<String>,
    /// Forks of the process before it was created.
    forks: u32,
    pool: OnceLock<Option<rayon_core::ThreadPool>>,
    workers: OnceLock<Vec<Arc<Worker>>>,
    queues: OnceLock<Vec<vk::Queue>>,
    watcher: Watcher,
}

dispatchable_object!(Device, vk::Device, |device| device.number);

impl Device {
    /// A new device with the queues of these numbers, and its handles.
    ///
    /// # Errors
    /// The operating system gives no memory files.
    pub fn create(
        instance: Arc<Instance>,
        caps: Arc<Caps>,
        extensions: Vec<String>,
        enabled: Enabled,
        numbers: &[u32],
    ) -> Outcome<Arc<Device>> {
        let modelled = instance.config.mode.modelled();
        let heap = |index: usize| {
            Heap::new(memory::BASES[index], caps.heap_size)
                .map(Arc::new)
                .map_err(|e| Error::new(vk::Result::ERROR_INITIALIZATION_FAILED, e.to_string()))
        };
        let families = numbers.iter().map(|number| queues::place(*number).0);
        let several = families.clone().min() != families.max();
        let number = handle::new_device();
        static CREATED: AtomicU64 = AtomicU64::new(0);
        let device = Arc::new(Device {
            number,
            ordinal: CREATED.fetch_add(1, Ordering::Relaxed),
            heaps: [heap(0)?, heap(1)?],
            sparse: OnceLock::new(),
            sparse_whole: Mutex::default(),
            checked: CheckState::new(&instance.config).map(Mutex::new),
            hazards: modelled.then(|| Arc::new(Hazards::new(several))),
            host: instance.config.mode.modelled().then(MappableMemory::default),
            completion: Completion::default(),
            unwritten: Mutex::default(),
            instance,
            caps,
            extensions,
            robust: enabled.robust,
            slices: enabled.maintenance9,
            layouts_ignored: enabled.layouts_ignored,
            progress: Progress::default(),
            stop: AtomicBool::new(false),
            epoch: Instant::now(),
            allocations: AtomicU32::new(0),
            samplers: AtomicU32::new(0),
            dispatches: AtomicU32::new(0),
            addresses: Addresses::default(),
            described: Described::default(),
            ended: EndedObjects::default(),
            private_data: Mutex::default(),
            names: Mutex::default(),
            lost: AtomicBool::new(false),
            fault: OnceLock::new(),
            forks: forks::count(),
            pool: OnceLock::new(),
            workers: OnceLock::new(),
            queues: OnceLock::new(),
            watcher: Watcher::default(),
        });
        let host: Arc<dyn Host> = device.clone();
        let (workers, queues) = queue::create(&host, number, modelled, numbers);
        let _ = device.workers.set(workers);
        let handles = queues.into_iter().map(|queue| {
            let handle = handle::insert_dispatchable(queue.clone());
            let _ = queue.handle.set(handle);
            handle
        });
        let _ = device.queues.set(handles.collect());
        Ok(device)
    }

    /// The addresses of sparse resources.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn sparse_addresses(&self) -> Result<&Arc<Heap>, HeapError> {
        if self.sparse.get().is_none() {
            // Another thread may have been first: then its addresses stay.
            let addresses = Heap::new(memory::SPARSE_BASE, memory::SPARSE_ADDRESS_SPACE)?;
            let _ = self.sparse.set(Arc::new(addresses));
        }
        self.sparse.get().ok_or(HeapError::OutOfMemory { asked: 0, left: 0 })
    }

    /// Memory that sparse resources share, in check mode.
    pub fn aliases(&self) -> Arc<SparseAliases> {
        self.hazards.as_ref().map(|hazards| hazards.aliases()).unwrap_or_default()
    }

    /// It shares payloads of semaphores and fences from now on.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn share(self: &Arc<Self>) -> Outcome<()> {
        let device = Arc::downgrade(self);
        self.watcher.start(move || {
            device.upgrade().is_some_and(|device| {
                device.progress.notify();
                true
            })
        })
    }

    /// The device of a queue, while it lives.
    pub fn of(queue: &Queue) -> Option<Arc<Device>> {
        queue.host()?.any().downcast().ok()
    }

    /// Ends the work that has not ended, and the device's threads.
    ///
    /// # Errors
    /// A queue's handle is not live.
    pub fn end(&self) -> Outcome<()> {
        // In a forked child there is no thread to wait for.
        let here = self.forks == forks::count();
        if here && !self.is_lost() {
            self.instance.session.never_ran(&self.stuck());
        }
        self.stop.store(true, Ordering::SeqCst);
        if here {
            self.watcher.end();
            self.workers.get().into_iter().flatten().for_each(|worker| worker.join(self));
        }
        for queue in self.queue_handles() {
            handle::take_dispatchable::<Queue>(*queue)?;
        }
        Ok(())
    }

    /// What submitted work waits for that nothing that is submitted signals, and that therefore never runs.
    pub fn stuck(&self) -> Vec<String> {
        let all: Vec<(Arc<Submission>, bool)> =
            self.workers().iter().flat_map(|worker| worker.submissions()).collect();
        let stuck = queue::stuck(&all);
        let mut texts = Vec::new();
        for queue in self.queues() {
            let of_queue = |s: &&Arc<Submission>| s.queue.as_ref().is_some_and(|q| q.index == queue.index);
            let mut waiting = stuck.iter().filter(of_queue);
            let named = self.queue_called(&queue);
            if let Some(events) = queue.blocked.lock().as_ref() {
                texts.push(format!("vkCmdWaitEvents on {named} waits for {events}, which nothing has set"));
                continue;
            }
            let Some(first) = waiting.next() else { continue };
            let unmet: Vec<String> = first.unmet().map(|wait| self.describe(wait)).collect();
            let behind = match waiting.count() {
                0 => String::new(),
                1 => "; another submission waits behind it".to_owned(),
                n => format!("; {n} more submissions wait behind it"),
            };
            let for_what = if unmet.is_empty() {
                "for work of the queue that never ended".into()
            } else {
                unmet.join(", and ")
            };
            texts.push(format!("submission {} on {named} waits {for_what}{behind}", first.serial));
        }
        texts
    }

    fn describe(&self, wait: &SemaphoreOperation) -> String {
        let raw = vk::Handle::as_raw(wait.handle);
        let called = match self.name(vk::ObjectType::SEMAPHORE, raw).as_str() {
            "" => format!("VkSemaphore {raw:#x}"),
            name => format!("VkSemaphore \"{name}\""),
        };
        match wait.semaphore.timeline {
            true => format!("for {called} to reach {}; it is at {}", wait.value, wait.semaphore.value()),
            false => format!("for {called}, which nothing signals"),
        }
    }

    pub fn queue_handles(&self) -> &[vk::Queue] {
        self.queues.get().map_or(&[], Vec::as_slice)
    }

    /// A queue's debug name, or "".
    pub fn queue_name(&self, queue: &Queue) -> String {
        self.name(vk::ObjectType::QUEUE, queue.handle.get().map_or(0, |h| vk::Handle::as_raw(*h)))
    }

    /// What a sentence calls a queue: its debug name, or its place.
    pub fn queue_called(&self, queue: &Queue) -> String {
        match self.queue_name(queue).as_str() {
            "" => queues::called(queue.index),
            name => format!("queue \"{name}\""),
        }
    }

    /// Loses the device: running work ends, waits return, everything else fails from here on.
    pub fn lose(&self, text: &str) {
        // Who sees that it is lost is told why.
        let first = self.fault.set(text.to_owned()).is_ok();
        self.lost.store(true, Ordering::SeqCst);
        if first {
            self.instance.say(&format!("device lost: {text}"));
            self.instance.session.lost(text);
        }
        self.stop.store(true, Ordering::SeqCst);
        self.progress.notify();
    }

    /// Why the device is lost, once it is.
    pub fn fault(&self) -> Option<&str> {
        self.is_lost().then(|| self.fault.get().map_or("", String::as_str))
    }

    /// True once the device is lost.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// # Errors
    /// VK_ERROR_DEVICE_LOST once the device is lost, and in a process that is not the one that made it: the
    /// threads that would do the work are not there.
    pub fn alive(&self) -> Outcome<()> {
        if self.forks != forks::count() {
            if !self.lost.swap(true, Ordering::SeqCst) {
                let text = "device lost: this process was forked from the one that created the VkDevice, and its \
                            threads are not here; a child has to create an instance and a device of its own";
                return Err(Error::new(vk::Result::ERROR_DEVICE_LOST, text));
            }
        } else if !self.is_lost() {
            return Ok(());
        }
        Err(vk::Result::ERROR_DEVICE_LOST.into())
    }

    /// What a command of a queue tells that sets an event or makes a query available. For the lifetime of
    /// objects all of the submission counts as completed, which can only hide a mistake.
    pub fn told(&self, queue: u32, payload: Option<Payload>) -> Told {
        Told { completed: self.completion.now(queue), order: 0, payload: payload.map(Arc::new) }
    }

    /// The host saw a signal.
    pub fn host_saw(&self, told: &Told) {
        self.completion.host_saw(told.completed);
        if let (Some(hazards), Some(payload)) = (&self.hazards, &told.payload) {
            hazards.host_saw(payload);
        }
    }

    /// Host threads for shaders; `None` if one thread is all.
    pub fn pool(&self) -> Option<&rayon_core::ThreadPool> {
        self.pool
            .get_or_init(|| {
                let threads = match self.instance.config.threads {
                    0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
                    n => n as usize,
                };
                if threads == 1 {
                    return None;
                }
                rayon_core::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .thread_name(|i| format!("pellucid-{i}"))
                    .build()
                    .ok()
            })
            .as_ref()
    }

    /// The workers of the queues.
    pub fn workers(&self) -> &[Arc<Worker>] {
        self.workers.get().map_or(&[], Vec::as_slice)
    }

    pub fn queues(&self) -> Vec<Arc<Queue>> {
        self.queues
            .get()
            .into_iter()
            .flatten()
            .filter_map(|q| handle::dispatchable::<Queue>(*q).ok())
            .collect()
    }

    /// Sets or removes the debug name of an object.
    pub fn set_name(&self, kind: vk::ObjectType, handle: u64, name: Option<String>) {
        match name {
            Some(name) if !name.is_empty() => self.names.lock().live.insert((kind.as_raw(), handle), name),
            _ => self.names.lock().live.remove(&(kind.as_raw(), handle)),
        };
    }

    /// A command that the application's mistake made impossible: said, not run, and the device goes on.
    pub fn skipped(&self, what: &str, outcome: Outcome<()>) {
        let Err(error) = outcome else { return };
        let Some(text) = &error.message else { return };
        let text = format!("{what}: {text}");
        if error.is_misuse() {
            self.instance.misuse(&text);
        } else {
            self.instance.say(&text);
        }
    }

    /// Descriptors may be in memory: VK_EXT_descriptor_buffer is enabled.
    pub fn describes(&self) -> bool {
        self.extensions.iter().any(|name| name == "VK_EXT_descriptor_buffer")
    }

    /// A handle has ended: its private data go, and its name, but if reports may still be about it, the last
    /// so many of which keep their names.
    pub fn handle_ended(&self, kind: vk::ObjectType, handle: u64, named: bool) {
        if let Some(hazards) = &self.hazards
            && [vk::ObjectType::BUFFER, vk::ObjectType::IMAGE].contains(&kind)
        {
            hazards.destroyed(kind, handle);
        }
        let mut data = self.private_data.lock();
        if !data.is_empty() {
            let of = (kind.as_raw(), handle);
            let slots: Vec<_> =
                data.range((of.0, of.1, 0)..=(of.0, of.1, u64::MAX)).map(|(k, _)| *k).collect();
            data.retain(|key, _| !slots.contains(key));
        }
        drop(data);
        let mut names = self.names.lock();
        let key = (kind.as_raw(), handle);
        if !named {
            names.live.remove(&key);
        } else if names.live.contains_key(&key) {
            names.ended.push_back(key);
            if names.ended.len() > ENDED_NAMES
                && let Some(oldest) = names.ended.pop_front()
            {
                names.live.remove(&oldest);
            }
        }
    }

    /// The debug name of an object, or "".
    pub fn name(&self, kind: vk::ObjectType, handle: u64) -> String {
        self.names.lock().live.get(&(kind.as_raw(), handle)).cloned().unwrap_or_default()
    }

    /// An object as reports name it, beside all descriptors.
    pub fn object(&self, kind: vk::ObjectType, what: &str, handle: u64) -> report::Object {
        report::Object {
            reference: Reference(u32::MAX),
            what: what.to_owned(),
            handle,
            object_type: kind.as_raw(),
            name: self.name(kind, handle),
            address: 0,
            texels: None,
        }
    }
}

impl Host for Device {
    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn completion(&self) -> &Completion {
        &self.completion
    }

    fn hazards(&self) -> Option<&Hazards> {
        self.hazards.as_deref()
    }

    fn lose(&self, text: &str) {
        Device::lose(self, text);
    }

    fn is_lost(&self) -> bool {
        Device::is_lost(self)
    }

    fn rests(&self) -> bool {
        self.workers().iter().all(|worker| worker.rests())
    }

    fn tells_at_once(&self) -> bool {
        self.instance.config.seed % 2 == 1
    }

    fn note_stuck(&self) {
        self.instance.session.note_stuck(self.stuck());
    }

    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Origin for vk::Device {
    fn say(self, text: &str) {
        match handle::dispatchable::<Device>(self) {
            Ok(device) => device.instance.say(text),
            Err(_) => report::say(text),
        }
    }

    fn lose(self, text: &str) {
        match handle::dispatchable::<Device>(self) {
            Ok(device) => device.lose(text),
            Err(_) => report::say(text),
        }
    }
}

impl Origin for vk::Queue {
    fn say(self, text: &str) {
        match handle::dispatchable::<Queue>(self).ok().and_then(|queue| Device::of(&queue)) {
            Some(device) => device.instance.say(text),
            None => report::say(text),
        }
    }

    fn lose(self, text: &str) {
        match handle::dispatchable::<Queue>(self).ok().and_then(|queue| Device::of(&queue)) {
            Some(device) => device.lose(text),
            None => report::say(text),
        }
    }
}
