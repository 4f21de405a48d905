//! A device on the driver's own symbols: no loader, nothing installed.
#![allow(dead_code)]

use ash::vk;

/// An instance and a device with all queues and the usual features.
pub struct Vulkan {
    pub entry: ash::Entry,
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    pub device: ash::Device,
    pub queues: Vec<vk::Queue>,
    pub pool: vk::CommandPool,
}

pub fn entry() -> ash::Entry {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_pellucid::vkGetInstanceProcAddr };
    // SAFETY: the function is the driver's, which follows the specification of vkGetInstanceProcAddr.
    unsafe { ash::Entry::from_static_fn(functions) }
}

impl Vulkan {
    pub fn new() -> Vulkan {
        let entry = entry();
        // SAFETY: valid usage of Vulkan throughout: handles are live, structures are complete.
        unsafe {
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let extensions = [c"VK_EXT_debug_utils".as_ptr()];
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_extension_names(&extensions);
            let instance = entry.create_instance(&info, None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let priorities = [1.0; 4];
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&priorities)];
            let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
                .timeline_semaphore(true)
                .buffer_device_address(true)
                .host_query_reset(true);
            let mut v13 = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
            let extensions = [c"VK_KHR_push_descriptor".as_ptr()];
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .push_next(&mut v12)
                .push_next(&mut v13);
            let device = instance.create_device(physical, &info, None).unwrap();
            let queues = (0..4).map(|i| device.get_device_queue(0, i)).collect();
            let pool_info =
                vk::CommandPoolCreateInfo::default().flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let pool = device.create_command_pool(&pool_info, None).unwrap();
            Vulkan { entry, instance, physical, device, queues, pool }
        }
    }

    /// A bound buffer in memory of the given type, mapped if that is host-visible.
    pub fn buffer(&self, size: u64, memory_type: u32) -> (vk::Buffer, vk::DeviceMemory, *mut u8) {
        // SAFETY: as in `new`.
        unsafe {
            let usage = vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST
                | vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::INDIRECT_BUFFER;
            let buffer =
                self.device.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None);
            let buffer = buffer.unwrap();
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let info =
                vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(memory_type);
            let memory = self.device.allocate_memory(&info, None).unwrap();
            self.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            let visible = [1, 2, 3].contains(&memory_type);
            let mapped = if visible {
                self.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap().cast()
            } else {
                std::ptr::null_mut()
            };
            (buffer, memory, mapped)
        }
    }

    pub fn commands(&self, level: vk::CommandBufferLevel) -> vk::CommandBuffer {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(level)
            .command_buffer_count(1);
        // SAFETY: as in `new`.
        unsafe { self.device.allocate_command_buffers(&info).unwrap()[0] }
    }

    /// Records a primary command buffer.
    pub fn record(&self, body: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        let buffer = self.commands(vk::CommandBufferLevel::PRIMARY);
        // SAFETY: as in `new`.
        unsafe {
            self.device.begin_command_buffer(buffer, &vk::CommandBufferBeginInfo::default()).unwrap();
            body(buffer);
            self.device.end_command_buffer(buffer).unwrap();
        }
        buffer
    }

    /// Submits and waits.
    pub fn run(&self, buffer: vk::CommandBuffer) {
        let buffers = [buffer];
        let info = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: as in `new`.
        unsafe {
            let fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            self.device.queue_submit(self.queues[0], &info, fence).unwrap();
            self.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            self.device.destroy_fence(fence, None);
        }
    }

    /// The words of mapped memory.
    pub fn words(&self, mapped: *mut u8, count: usize) -> Vec<u32> {
        // SAFETY: the memory is mapped, that long, and nothing runs.
        unsafe { std::slice::from_raw_parts(mapped.cast::<u32>(), count).to_vec() }
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: as in `new`; tests do not mind objects that they leave behind.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
