//! VkPhysicalDevice: what it says of itself.

use crate::boundary::{Origin, entries};
use crate::caps::later::QueueFamilyOwnershipTransferPropertiesKHR;
use crate::caps::{Caps, extensions, features, matrices, memory, properties, queues};
use crate::entry::instance::Instance;
use crate::ffi;
use crate::handle::{self, dispatchable_object};
use crate::report;
use ash::vk;
use std::ffi::c_char;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

pub struct PhysicalDevice {
    instance: Weak<Instance>,
    /// What it claims.
    pub caps: Arc<Caps>,
}

dispatchable_object!(PhysicalDevice, vk::PhysicalDevice, |_| 0);

impl PhysicalDevice {
    /// The physical device of an instance.
    pub fn new(instance: Weak<Instance>, caps: Arc<Caps>) -> PhysicalDevice {
        PhysicalDevice { instance, caps }
    }

    /// Its instance, while that lives.
    pub fn instance(&self) -> Option<Arc<Instance>> {
        self.instance.upgrade()
    }
}

impl Origin for vk::PhysicalDevice {
    fn say(self, text: &str) {
        match handle::dispatchable::<PhysicalDevice>(self).ok().and_then(|p| p.instance()) {
            Some(instance) => instance.say(text),
            None => report::say(text),
        }
    }
}

entries! {
    fn get_physical_device_features(device: Arc<PhysicalDevice>, out: *mut vk::PhysicalDeviceFeatures) {
        ffi::write(out, device.caps.features.v10)
    }

    fn get_physical_device_features2(device: Arc<PhysicalDevice>, out: &mut vk::PhysicalDeviceFeatures2<'_>) {
        out.features = device.caps.features.v10;
        features::fill_chain(&device.caps.features, ffi::chain_mut(out.p_next));
        Ok(())
    }

    fn get_physical_device_properties(device: Arc<PhysicalDevice>, out: *mut vk::PhysicalDeviceProperties) {
        ffi::write(out, device.caps.properties())
    }

    fn get_physical_device_properties2(
        device: Arc<PhysicalDevice>,
        out: &mut vk::PhysicalDeviceProperties2<'_>,
    ) {
        out.properties = device.caps.properties();
        device.caps.fill_properties(ffi::chain_mut(out.p_next));
        Ok(())
    }

    fn get_physical_device_queue_family_properties(
        device: Arc<PhysicalDevice>,
        count: *mut u32,
        out: *mut vk::QueueFamilyProperties,
    ) {
        let _ = ffi::enumerate(&queues::properties(device.caps.pretend_graphics), count, out)?;
        Ok(())
    }

    fn get_physical_device_queue_family_properties2(
        device: Arc<PhysicalDevice>,
        count: *mut u32,
        out: *mut vk::QueueFamilyProperties2<'_>,
    ) {
        let all = queues::properties(device.caps.pretend_graphics);
        if out.is_null() {
            return ffi::write(count, all.len() as u32);
        }
        let room = (*ffi::read(count)?).min(all.len() as u32);
        for (out, family) in ffi::slice_mut(out, room).iter_mut().zip(all) {
            out.queue_family_properties = family;
            if let Some(priorities) = ffi::find_mut::<vk::QueueFamilyGlobalPriorityPropertiesKHR<'_>>(out.p_next) {
                priorities.priority_count = 1;
                priorities.priorities[0] = queues::PRIORITY;
            }
            if let Some(transfer) = ffi::find_mut::<QueueFamilyOwnershipTransferPropertiesKHR>(out.p_next) {
                transfer.optimal_image_transfer_to_queue_families = (1 << all.len()) - 1;
            }
        }
        ffi::write(count, room)
    }

    fn get_physical_device_memory_properties(
        device: Arc<PhysicalDevice>,
        out: *mut vk::PhysicalDeviceMemoryProperties,
    ) {
        let caps = &device.caps;
        ffi::write(out, memory::properties(caps.heap_size, caps.coherent))
    }

    /// vkGetPhysicalDeviceMemoryProperties2, with VK_EXT_memory_budget.
    fn get_physical_device_memory_properties2(
        device: Arc<PhysicalDevice>,
        out: &mut vk::PhysicalDeviceMemoryProperties2<'_>,
    ) {
        out.memory_properties = memory::properties(device.caps.heap_size, device.caps.coherent);
        if let Some(budget) = ffi::find_mut::<vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_>>(out.p_next) {
            budget.heap_budget = [0; vk::MAX_MEMORY_HEAPS];
            budget.heap_usage = [0; vk::MAX_MEMORY_HEAPS];
            for (heap, usage) in memory::USAGE.iter().enumerate() {
                budget.heap_budget[heap] = device.caps.heap_size;
                budget.heap_usage[heap] = usage.load(Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// vkGetPhysicalDeviceCalibrateableTimeDomainsKHR.
    fn get_physical_device_calibrateable_time_domains(
        _device: Arc<PhysicalDevice>,
        count: *mut u32,
        out: *mut vk::TimeDomainKHR,
    ) -> vk::Result {
        use vk::TimeDomainKHR as Domain;
        ffi::enumerate(&[Domain::DEVICE, Domain::CLOCK_MONOTONIC, Domain::CLOCK_MONOTONIC_RAW], count, out)
    }

    /// vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR.
    fn get_physical_device_cooperative_matrix_properties(
        _device: Arc<PhysicalDevice>,
        count: *mut u32,
        out: *mut vk::CooperativeMatrixPropertiesKHR<'_>,
    ) -> vk::Result {
        let products = matrices::products();
        ffi::enumerate_with(products.len(), count, out, |n, slot| {
            let next = slot.p_next;
            *slot = vk::CooperativeMatrixPropertiesKHR { p_next: next, ..products[n] };
        })
    }

    fn enumerate_device_extension_properties(
        device: Arc<PhysicalDevice>,
        layer: *const c_char,
        count: *mut u32,
        out: *mut vk::ExtensionProperties,
    ) -> vk::Result {
        let caps = &device.caps;
        if !layer.is_null() {
            return Err(vk::Result::ERROR_LAYER_NOT_PRESENT.into());
        }
        ffi::enumerate(&extensions::properties(&extensions::device(caps.surfaces)), count, out)
    }

    fn enumerate_device_layer_properties(
        _device: Arc<PhysicalDevice>,
        count: *mut u32,
        out: *mut vk::LayerProperties,
    ) -> vk::Result {
        ffi::enumerate(&[], count, out)
    }

    /// vkGetPhysicalDeviceToolProperties: in check mode the driver itself is a validation tool.
    fn get_physical_device_tool_properties(
        device: Arc<PhysicalDevice>,
        count: *mut u32,
        out: *mut vk::PhysicalDeviceToolProperties<'_>,
    ) -> vk::Result {
        let checking = device.instance().is_some_and(|i| i.config.mode.modelled());
        let available = u32::from(checking);
        if out.is_null() {
            ffi::write(count, available)?;
            return Ok(vk::Result::SUCCESS);
        }
        if available == 0 || *ffi::read(count)? == 0 {
            ffi::write(count, 0)?;
            return Ok(if available == 0 { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE });
        }
        let tool = ffi::read_mut(out)?;
        ffi::put_string(&mut tool.name, properties::DRIVER_NAME);
        ffi::put_string(&mut tool.version, env!("CARGO_PKG_VERSION"));
        tool.purposes = vk::ToolPurposeFlags::VALIDATION;
        ffi::put_string(&mut tool.description, "Checks shaders against the Vulkan memory model");
        ffi::put_string(&mut tool.layer, "");
        ffi::write(count, 1)?;
        Ok(vk::Result::SUCCESS)
    }
}
