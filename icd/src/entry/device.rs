//! VkDevice.

use crate::boundary::{Error, Outcome, entries};
use crate::caps::{Caps, QUEUE_COUNT, extensions, features, memory};
use crate::entry::destroy::device_ended;
use crate::entry::instance::Instance;
use crate::entry::physical_device::PhysicalDevice;
use crate::handle::{self, dispatchable_object};
use crate::queue::checked::CheckState;
use crate::queue::completion::Completion;
use crate::queue::hazards::Hazards;
use crate::queue::host::{self, HostMemory};
use crate::queue::told::Told;
use crate::queue::{Progress, Queue, Worker};
use crate::{ffi, forks, message};
use ash::vk;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::heap::Heap;
use pellucid_memory::unwritten::Unwritten;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

/// The memory of buffers with device addresses, sorted by address, not overlapping.
pub type AddressMap = Arc<Vec<MemoryRange>>;

/// A logical device.
pub struct Device {
    /// Its instance.
    pub instance: Arc<Instance>,
    /// What it claims.
    pub caps: Arc<Caps>,
    /// Memory heaps.
    pub heaps: [Arc<Heap>; 2],
    /// Extensions that the application enabled.
    pub extensions: Vec<String>,
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
    pub addresses: Mutex<BTreeMap<(u64, u64), Weak<crate::entry::buffer::Buffer>>>,
    address_cache: Mutex<Option<AddressMap>>,
    /// The modelled memory and what belongs to it, in check mode.
    pub checked: Option<Mutex<CheckState>>,
    /// Hazards between commands; there in check mode.
    pub hazards: Option<Arc<Hazards>>,
    /// The memory that the host can map; there in check mode.
    pub host: Option<HostMemory>,
    /// Which submissions the host knows to have completed.
    pub completion: Completion,
    /// In check mode: bytes of memory that only the device reaches and that no command has written.
    unwritten: Mutex<Unwritten>,
    /// Private data of objects that have no slot of their own: (slot, object type, handle) to value.
    pub private_data: Mutex<BTreeMap<(u64, i32, u64), u64>>,
    names: Mutex<BTreeMap<(i32, u64), String>>,
    lost: AtomicBool,
    /// Forks of the process before it was created.
    forks: u32,
    pool: OnceLock<Option<rayon::ThreadPool>>,
    workers: OnceLock<Vec<Arc<Worker>>>,
    queues: OnceLock<Vec<vk::Queue>>,
}

dispatchable_object!(Device, vk::Device);

impl Device {
    /// Loses the device: running work ends, waits return, everything else fails from here on.
    pub fn lose(&self, text: &str) {
        if !self.lost.swap(true, Ordering::SeqCst) {
            message::error(Some(&self.instance), &format!("device lost: {text}"));
        }
        self.stop.store(true, Ordering::SeqCst);
        self.progress.notify();
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

    /// The host saw a signal.
    pub fn host_saw(&self, told: &Told) {
        self.completion.host_saw(told.completed);
        if let (Some(hazards), Some(payload)) = (&self.hazards, &told.payload) {
            hazards.host_saw(payload);
        }
    }

    /// Host threads for shaders; `None` if one thread is all.
    pub fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.pool
            .get_or_init(|| {
                let threads = match self.instance.config.threads {
                    0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
                    n => n as usize,
                };
                if threads == 1 {
                    return None;
                }
                rayon::ThreadPoolBuilder::new()
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

    /// The queues.
    pub fn queues(&self) -> Vec<Arc<Queue>> {
        self.queues
            .get()
            .into_iter()
            .flatten()
            .filter_map(|q| handle::dispatchable::<Queue>(*q).ok())
            .collect()
    }

    fn names(&self) -> MutexGuard<'_, BTreeMap<(i32, u64), String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets or removes the debug name of an object.
    pub fn set_name(&self, kind: vk::ObjectType, handle: u64, name: Option<String>) {
        match name {
            Some(name) if !name.is_empty() => self.names().insert((kind.as_raw(), handle), name),
            _ => self.names().remove(&(kind.as_raw(), handle)),
        };
    }

    /// The debug name of an object, or "".
    pub fn name(&self, kind: vk::ObjectType, handle: u64) -> String {
        self.names().get(&(kind.as_raw(), handle)).cloned().unwrap_or_default()
    }

    /// In check mode: bytes of memory that only the device reaches and that no command has written.
    pub fn unwritten(&self) -> MutexGuard<'_, Unwritten> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where physical storage buffer pointers may point.
    pub fn address_map(&self) -> AddressMap {
        let mut cache = self.address_cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get_or_insert_with(|| Arc::new(crate::entry::buffer::address_map(self))).clone()
    }

    /// Forgets the address map, after a buffer with an address was bound or destroyed.
    pub fn addresses_changed(&self) {
        *self.address_cache.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn check_features(caps: &Caps, info: &vk::DeviceCreateInfo<'_>) -> Outcome<()> {
    let refused = |known: bool| -> Outcome<()> {
        if known { Ok(()) } else { Err(vk::Result::ERROR_FEATURE_NOT_PRESENT.into()) }
    };
    let v10 = features::bools_v10(&caps.features.v10);
    if let Some(asked) = ffi::optional(info.p_enabled_features) {
        refused(features::is_subset(features::bools_v10(asked), v10))?;
    }
    for structure in ffi::chain(info.p_next) {
        let p = std::ptr::from_ref(structure).cast();
        if structure.s_type == vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 {
            let asked = ffi::cast::<vk::PhysicalDeviceFeatures2<'_>>(p);
            refused(features::is_subset(features::bools_v10(&asked.features), v10))?;
        } else if let Some(row) = features::rows().find(|r| r.kind == structure.s_type) {
            refused(features::is_subset(ffi::bools(p, row.count), &(row.values)(&caps.features)))?;
        }
    }
    Ok(())
}

fn queue_count(info: &vk::DeviceCreateInfo<'_>) -> Outcome<u32> {
    let mut count = 0;
    for family in ffi::slice(info.p_queue_create_infos, info.queue_create_info_count) {
        if family.queue_family_index != 0 || family.queue_count > QUEUE_COUNT {
            return Err(Error::new(
                vk::Result::ERROR_INITIALIZATION_FAILED,
                format!("there is one queue family, 0, with {QUEUE_COUNT} queues"),
            ));
        }
        count = count.max(family.queue_count);
    }
    Ok(count)
}

entries! {
    /// vkCreateDevice.
    fn create_device(
        physical: vk::PhysicalDevice,
        info: *const vk::DeviceCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Device,
    ) -> vk::Result {
        let physical = handle::dispatchable::<PhysicalDevice>(physical)?;
        let instance = physical.instance().ok_or_else(|| Error::usage("the instance is destroyed"))?;
        let info = ffi::read(info)?;
        let mut names = Vec::new();
        for name in ffi::slice(info.pp_enabled_extension_names, info.enabled_extension_count) {
            let name = ffi::string(*name).unwrap_or_default();
            if !extensions::has(extensions::DEVICE, &name) {
                return Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT.into());
            }
            names.push(name);
        }
        let caps = physical.caps.clone();
        check_features(&caps, info)?;
        let count = queue_count(info)?;
        let heap = |index: usize| {
            Heap::new(memory::BASES[index], caps.heap_size)
                .map(Arc::new)
                .map_err(|e| Error::new(vk::Result::ERROR_INITIALIZATION_FAILED, e.to_string()))
        };
        let device = Arc::new(Device {
            heaps: [heap(0)?, heap(1)?],
            checked: CheckState::new(&instance.config).map(Mutex::new),
            hazards: instance.config.mode.modelled().then(Arc::default),
            host: instance.config.mode.modelled().then(HostMemory::default),
            completion: Completion::default(),
            unwritten: Mutex::default(),
            instance,
            caps,
            extensions: names,
            progress: Progress::default(),
            stop: AtomicBool::new(false),
            epoch: Instant::now(),
            allocations: AtomicU32::new(0),
            samplers: AtomicU32::new(0),
            dispatches: AtomicU32::new(0),
            addresses: Mutex::default(),
            address_cache: Mutex::default(),
            private_data: Mutex::default(),
            names: Mutex::default(),
            lost: AtomicBool::new(false),
            forks: forks::count(),
            pool: OnceLock::new(),
            workers: OnceLock::new(),
            queues: OnceLock::new(),
        });
        let (workers, queues) = crate::queue::create(&device, count);
        let _ = device.workers.set(workers);
        let handles = queues.into_iter().map(|queue| {
            let handle = handle::insert_dispatchable(queue.clone());
            let _ = queue.handle.set(handle);
            handle
        });
        let _ = device.queues.set(handles.collect());
        ffi::write(out, handle::insert_dispatchable(device))
    }

    /// vkDestroyDevice: work that has not ended is stopped, and the device's threads are joined.
    fn destroy_device(device: vk::Device, _allocator: *const vk::AllocationCallbacks<'_>) {
        let raw = vk::Handle::as_raw(device);
        let Some(device) = handle::take_dispatchable::<Device>(device)? else { return Ok(()) };
        if device.alive().is_ok() {
            host::synchronize(&device, "vkDestroyDevice");
            device_ended(&device, raw);
        }
        device.stop.store(true, Ordering::SeqCst);
        // In a forked child there is no thread to wait for.
        if device.forks == forks::count() {
            device.workers().iter().for_each(|worker| worker.join(&device));
        }
        for queue in device.queues.get().into_iter().flatten() {
            handle::take_dispatchable::<Queue>(*queue)?;
        }
        Ok(())
    }

    /// vkGetDeviceQueue.
    fn get_device_queue(device: vk::Device, family: u32, index: u32, out: *mut vk::Queue) {
        let device = handle::dispatchable::<Device>(device)?;
        let queue = device.queues.get().filter(|_| family == 0).and_then(|q| q.get(index as usize));
        ffi::write(out, queue.copied().unwrap_or_default())
    }

    /// vkGetDeviceQueue2: no queue has flags.
    fn get_device_queue2(device: vk::Device, info: *const vk::DeviceQueueInfo2<'_>, out: *mut vk::Queue) {
        let device = handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        let queue = device
            .queues
            .get()
            .filter(|_| info.queue_family_index == 0 && info.flags.is_empty())
            .and_then(|q| q.get(info.queue_index as usize));
        ffi::write(out, queue.copied().unwrap_or_default())
    }

    /// vkDeviceWaitIdle.
    fn device_wait_idle(device: vk::Device) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        device.alive()?;
        device.queues().iter().try_for_each(|queue| queue.wait_idle(&device))
    }

    /// vkGetDeviceGroupPeerMemoryFeatures: a group of one device has no peers.
    fn get_device_group_peer_memory_features(
        device: vk::Device,
        _heap: u32,
        _local: u32,
        _remote: u32,
        out: *mut vk::PeerMemoryFeatureFlags,
    ) {
        handle::dispatchable::<Device>(device)?;
        ffi::write(
            out,
            vk::PeerMemoryFeatureFlags::COPY_SRC
                | vk::PeerMemoryFeatureFlags::COPY_DST
                | vk::PeerMemoryFeatureFlags::GENERIC_SRC
                | vk::PeerMemoryFeatureFlags::GENERIC_DST,
        )
    }
}
