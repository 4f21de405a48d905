//! VkDevice.

use crate::boundary::entries;
use crate::caps::{Caps, extensions, features, queues};
use crate::check::calls;
use crate::command::pass::{Framebuffer, RenderPass};
use crate::device::{Device, Enabled};
use crate::entry::buffer::Buffer;
use crate::entry::buffer_view::BufferView;
use crate::entry::command_pool::{self, CommandPool};
use crate::entry::descriptor_layout::DescriptorSetLayout;
use crate::entry::descriptor_pool::DescriptorPool;
use crate::entry::descriptor_set::DescriptorSet;
use crate::entry::descriptor_template::DescriptorUpdateTemplate;
use crate::entry::destroy::device_ended;
use crate::entry::event::Event;
use crate::entry::graphics;
use crate::entry::image::Image;
use crate::entry::image_view::ImageView;
use crate::entry::memory::DeviceMemory;
use crate::entry::physical_device::PhysicalDevice;
use crate::entry::pipeline::Pipeline;
use crate::entry::pipeline_cache::PipelineCache;
use crate::entry::pipeline_layout::PipelineLayout;
use crate::entry::private_data::PrivateDataSlot;
use crate::entry::query::QueryPool;
use crate::entry::sampler::{Sampler, YcbcrConversion};
use crate::entry::shader::ShaderModule;
use crate::entry::shader_object::ShaderObject;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use crate::queue::fence::Fence;
use crate::queue::semaphore::Semaphore;
use crate::report::Session;
use ash::vk;
use parking_lot::Mutex;
use pellucid_memory::checked::Robustness;
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

/// Checks that the features that are asked for are there.
///
/// # Safety
/// `info` is the application's.
unsafe fn check_features(caps: &Caps, info: &vk::DeviceCreateInfo<'_>) -> Outcome<Enabled> {
    let mut enabled = Enabled::default();
    let robust = &mut enabled.robust;
    let refused = |member: &str| -> Outcome<()> {
        let text = format!("the feature {} is not there", features::header_name(member));
        Err(Error::new(vk::Result::ERROR_FEATURE_NOT_PRESENT, text))
    };
    let check_v10 = |asked: &vk::PhysicalDeviceFeatures, robust: &mut Robustness| {
        robust.buffers |= asked.robust_buffer_access == vk::TRUE;
        let there = features::bools_v10(&caps.features.v10);
        match features::first_refused(features::bools_v10(asked), there) {
            Some(n) => refused(features::names_v10().get(n).map_or("", String::as_str)),
            None => Ok(()),
        }
    };
    // SAFETY: the contract.
    unsafe {
        if let Some(asked) = ffi::optional(info.p_enabled_features) {
            check_v10(asked, robust)?;
        }
        for link in ffi::chain(info.p_next) {
            if let Some(asked) = link.read::<vk::PhysicalDeviceFeatures2<'_>>() {
                check_v10(&asked.features, robust)?;
            } else if let Some(row) = caps.features.rows().find(|r| r.kind == link.kind) {
                let there = (row.values)(&caps.features);
                let asked = link.bools(row.members.len());
                if let Some(n) = features::first_refused(asked, &there) {
                    refused(row.members[n])?;
                }
                let on = |name: &str| {
                    row.members.iter().zip(asked).any(|(m, on)| m.starts_with(name) && *on == vk::TRUE)
                };
                robust.buffers |= on("robust_buffer_access");
                robust.images |= on("robust_image_access");
                robust.null_descriptors |= on("null_descriptor");
                enabled.maintenance9 |= on("maintenance9");
                enabled.layouts_ignored |= on("descriptor_buffer_image_layout_ignored");
                enabled.global_priority_query |= on("global_priority_query");
            }
        }
        Ok(enabled)
    }
}

/// The numbers of the queues that are asked for, ascending. With the feature globalPriorityQuery
/// (`priorities_asked`) a global priority that the queue family does not report is refused
/// (*VkDeviceQueueGlobalPriorityCreateInfo*), without it one that is higher.
///
/// # Safety
/// The chains are the application's.
unsafe fn queue_numbers(
    families: &[vk::DeviceQueueCreateInfo<'_>],
    priorities_asked: bool,
) -> Outcome<Vec<u32>> {
    let mut numbers = BTreeSet::new();
    for asked in families {
        let (family, most) = (asked.queue_family_index, queues::count(asked.queue_family_index));
        if !asked.flags.is_empty() {
            return Err(Error::not_implemented(&format!("queues with the flags {:?}", asked.flags)));
        }
        if asked.queue_count > most {
            let text = match most {
                0 => format!("there is no queue family {family}"),
                _ => format!(
                    "queue family {family} has {most} queues, and {} are asked for",
                    asked.queue_count
                ),
            };
            return Err(Error::new(vk::Result::ERROR_INITIALIZATION_FAILED, text));
        }
        // SAFETY: the contract.
        let priority = unsafe { ffi::find::<vk::DeviceQueueGlobalPriorityCreateInfoKHR<'_>>(asked.p_next) };
        let refused = |p: &vk::QueueGlobalPriorityKHR| {
            *p > queues::PRIORITY || (priorities_asked && *p != queues::PRIORITY)
        };
        if let Some(other) = priority.map(|p| p.global_priority).filter(refused) {
            let text = format!(
                "queues of queue family {family} have the global priority {:?}, not {other:?}",
                queues::PRIORITY
            );
            let result = match priorities_asked {
                true => vk::Result::ERROR_INITIALIZATION_FAILED,
                false => vk::Result::ERROR_NOT_PERMITTED_KHR,
            };
            return Err(Error::new(result, text));
        }
        numbers.extend((0..asked.queue_count).filter_map(|index| queues::number(family, index)));
    }
    Ok(numbers.into_iter().collect())
}

/// A queue of a device by its family and index; null where the device has none.
fn queue_of(device: &Device, family: u32, index: u32) -> vk::Queue {
    let number = queues::number(family, index);
    let queue = device.queues().into_iter().find(|queue| Some(queue.index) == number);
    queue.and_then(|queue| queue.handle.get().copied()).unwrap_or_default()
}

/// The devices of this process.
static LIVE: Mutex<Vec<Weak<Device>>> = Mutex::new(Vec::new());

/// The process ends: tells what the host did since its last call, and what the submitted work of its devices
/// waits for in vain.
fn at_end(session: &Session) {
    let live = std::mem::take(&mut *LIVE.lock());
    for device in live.iter().filter_map(Weak::upgrade).filter(|device| device.alive().is_ok()) {
        device.instance.end_messengers();
        calls::ended(&device);
        session.never_ran(&device.stuck());
    }
}

/// Takes note of a device for the end of the process.
fn add_live(device: &Arc<Device>) {
    let mut live = LIVE.lock();
    live.retain(|one| one.strong_count() > 0);
    live.push(Arc::downgrade(device));
    device.instance.session.at_end(at_end);
}

/// Ends the handles of what the application did not destroy, so that its memory is free again.
fn release(device: &Arc<Device>) {
    device.described.clear();
    let live = LIVE.lock().clone();
    let mut others = live.iter().filter_map(Weak::upgrade).filter(|one| !Arc::ptr_eq(one, device));
    if others.any(|one| one.number == device.number) {
        return;
    }
    fn of<T: handle::Object>(device: &Device) -> Vec<Arc<T>> {
        T::table().remove_of(device.number)
    }
    of::<CommandPool>(device).iter().for_each(|pool| command_pool::leave(pool));
    macro_rules! drop_all {
        ($($object:ty),*) => { $( drop(of::<$object>(device)); )* };
    }
    drop_all!(
        DescriptorPool,
        DescriptorSet,
        DescriptorSetLayout,
        DescriptorUpdateTemplate,
        Pipeline,
        graphics::GraphicsPipeline,
        PipelineCache,
        PipelineLayout,
        ShaderObject,
        ShaderModule,
        Framebuffer,
        RenderPass,
        BufferView,
        ImageView,
        Buffer,
        Image,
        Sampler,
        YcbcrConversion,
        QueryPool,
        Event,
        Fence,
        Semaphore,
        PrivateDataSlot,
        DeviceMemory
    );
}

entries! {
    fn create_device(
        physical: Arc<PhysicalDevice>,
        info: *const vk::DeviceCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Device,
    ) -> vk::Result {
        let instance = physical.instance().ok_or_else(|| Error::usage("the instance is destroyed"))?;
        let info = ffi::read(info)?;
        let caps = physical.caps.clone();
        let known = extensions::device(caps.surfaces);
        let (names, count) = (info.pp_enabled_extension_names, info.enabled_extension_count);
        let names = extensions::enabled(&known, names, count)?;
        let enabled = check_features(&caps, info)?;
        let queues = queue_numbers(
            ffi::slice(info.p_queue_create_infos, info.queue_create_info_count),
            enabled.global_priority_query,
        )?;
        let session = instance.session;
        let device = Device::create(instance, caps, names, enabled, &queues)?;
        add_live(&device);
        session.device_created();
        ffi::write(out, handle::insert_dispatchable(device))
    }

    /// vkDestroyDevice: work that has not ended is stopped, and the device's threads are joined.
    fn destroy_device(device: vk::Device, _allocator: *const vk::AllocationCallbacks<'_>) {
        let raw = vk::Handle::as_raw(device);
        let Some(device) = handle::take_dispatchable::<Device>(device)? else { return Ok(()) };
        let alive = device.alive();
        if alive.is_ok() {
            calls::synchronize(&device, "vkDestroyDevice");
            device_ended(&device, raw);
        }
        let ended = device.end();
        release(&device);
        ended.and(alive)
    }

    fn get_device_queue(device: Arc<Device>, family: u32, index: u32, out: *mut vk::Queue) {
        ffi::write(out, queue_of(&device, family, index))
    }

    /// vkGetDeviceQueue2: no queue has flags.
    fn get_device_queue2(device: Arc<Device>, info: &vk::DeviceQueueInfo2<'_>, out: *mut vk::Queue) {
        let queue = match info.flags.is_empty() {
            true => queue_of(&device, info.queue_family_index, info.queue_index),
            false => vk::Queue::null(),
        };
        ffi::write(out, queue)
    }

    /// vkGetCalibratedTimestampsKHR.
    fn get_calibrated_timestamps(
        device: Arc<Device>,
        count: u32,
        infos: *const vk::CalibratedTimestampInfoKHR<'_>,
        out: *mut u64,
        deviation: *mut u64,
    ) -> vk::Result {
        let clock = |clock: libc::clockid_t| {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::clock_gettime(clock, &raw mut time);
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
        };
        let now = || device.epoch.elapsed().as_nanos() as u64;
        let start = now();
        for (info, slot) in ffi::slice(infos, count).iter().zip(ffi::slice_mut(out, count)) {
            *slot = match info.time_domain {
                vk::TimeDomainKHR::DEVICE => now(),
                vk::TimeDomainKHR::CLOCK_MONOTONIC => clock(libc::CLOCK_MONOTONIC),
                vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW => clock(libc::CLOCK_MONOTONIC_RAW),
                other => return Err(Error::usage(format!("the time domain {other:?}"))),
            };
        }
        ffi::write(deviation, (now() - start).max(1))
    }

    /// vkGetDeviceFaultInfoEXT: why the device was lost, in words; no addresses, nothing of a vendor.
    fn get_device_fault_info(
        device: Arc<Device>,
        counts: *mut vk::DeviceFaultCountsEXT<'_>,
        info: *mut vk::DeviceFaultInfoEXT<'_>,
    ) -> vk::Result {
        let Some(why) = device.fault() else { return Err(Error::usage("the device is not lost")) };
        let counts = ffi::read_mut(counts)?;
        (counts.address_info_count, counts.vendor_info_count, counts.vendor_binary_size) = (0, 0, 0);
        if !info.is_null() {
            ffi::put_string(&mut ffi::read_mut(info)?.description, why);
        }
        Ok(())
    }

    fn device_wait_idle(device: Arc<Device>) -> vk::Result {
        device.alive()?;
        let synchronize = || calls::waited(&device, "vkDeviceWaitIdle");
        device.queues().iter().for_each(|queue| queue.wait_idle(&*device, synchronize));
        device.alive()
    }

    /// vkGetDeviceGroupPeerMemoryFeatures: a group of one device has no peers.
    fn get_device_group_peer_memory_features(
        _device: Arc<Device>,
        _heap: u32,
        _local: u32,
        _remote: u32,
        out: *mut vk::PeerMemoryFeatureFlags,
    ) {
        ffi::write(
            out,
            vk::PeerMemoryFeatureFlags::COPY_SRC
                | vk::PeerMemoryFeatureFlags::COPY_DST
                | vk::PeerMemoryFeatureFlags::GENERIC_SRC
                | vk::PeerMemoryFeatureFlags::GENERIC_DST,
        )
    }
}
