//! A device on the driver's own symbols: no loader, nothing installed.
#![allow(dead_code)]

use ash::vk;
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

/// Ids of the messages with an id of their own, in order.
pub type Ids = Mutex<Vec<String>>;

unsafe extern "system" fn collect(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the driver hands over a complete structure; `user` is the list that outlives the messenger.
    unsafe {
        let data = &*data;
        if !data.p_message_id_name.is_null() {
            let id = CStr::from_ptr(data.p_message_id_name).to_string_lossy().into_owned();
            (*user.cast::<Ids>()).lock().unwrap().push(id);
        }
    }
    vk::FALSE
}

/// Findings are shown once for each kind of mistake in a process, and the mode is a process's: runs the test
/// `name` in a process of its own with these variables and hands back what that wrote to standard error.
/// `None` in that process.
pub fn alone(name: &str, variables: &[(&str, &str)]) -> Option<String> {
    const MARK: &str = "TEST_ALONE";
    if std::env::var_os(MARK).is_some() {
        return None;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture"]).env(MARK, "1").envs(variables.iter().copied());
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name} with {variables:?}: {}: {text}", output.status);
    Some(text)
}

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

    /// The ids of the findings from now on.
    pub fn listen(&self) -> &'static Ids {
        let ids: &'static Ids = Box::leak(Box::default());
        let messages = ash::ext::debug_utils::Instance::new(&self.entry, &self.instance);
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(collect))
            .user_data(std::ptr::from_ref(ids).cast_mut().cast());
        // SAFETY: valid usage; the messenger ends with the process.
        unsafe { messages.create_debug_utils_messenger(&info, None).unwrap() };
        ids
    }

    /// A bound buffer in memory of the given type, mapped if that is host-visible.
    pub fn buffer(&self, size: u64, memory_type: u32) -> (vk::Buffer, vk::DeviceMemory, *mut u8) {
        // SAFETY: as in `new`.
        unsafe {
            let usage = vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST
                | vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::INDIRECT_BUFFER
                | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
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

/// A compute pipeline that works for a while on 32 words of a buffer: of set 0, binding 0, or behind an
/// address in the push constants.
pub struct Spin {
    pub layout: vk::PipelineLayout,
    pub set_layout: vk::DescriptorSetLayout,
    pub pipeline: vk::Pipeline,
    by_address: bool,
}

impl Spin {
    pub fn new(v: &Vulkan, by_address: bool) -> Spin {
        let code: &[u8] = match by_address {
            true => include_bytes!("../shaders/spin_address.spv"),
            false => include_bytes!("../shaders/spin.spv"),
        };
        // SAFETY: valid usage.
        unsafe {
            let bindings = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = v.device.create_descriptor_set_layout(&info, None).unwrap();
            let push = [vk::PushConstantRange::default().size(16).stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let layouts = [set_layout];
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = v.device.create_pipeline_layout(&info, None).unwrap();
            let words = ash::util::read_spv(&mut std::io::Cursor::new(code)).unwrap();
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = v.device.create_shader_module(&info, None).unwrap();
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage)];
            let pipeline =
                v.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
            v.device.destroy_shader_module(module, None);
            Spin { layout, set_layout, pipeline, by_address }
        }
    }

    /// A pool with one set.
    pub fn set(&self, v: &Vulkan) -> (vk::DescriptorPool, vk::DescriptorSet) {
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 1 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let layouts = [self.set_layout];
        // SAFETY: valid usage.
        unsafe {
            let pool = v.device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            (pool, v.device.allocate_descriptor_sets(&info).unwrap()[0])
        }
    }

    pub fn update(&self, v: &Vulkan, set: vk::DescriptorSet, buffer: vk::Buffer) {
        let info = [vk::DescriptorBufferInfo::default().buffer(buffer).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&info);
        // SAFETY: live handles.
        unsafe { v.device.update_descriptor_sets(&[write], &[]) };
    }

    /// Records a dispatch on a buffer: that of `set`, or the one behind its address.
    pub fn record(
        &self,
        v: &Vulkan,
        c: vk::CommandBuffer,
        set: vk::DescriptorSet,
        buffer: vk::Buffer,
        rounds: u32,
    ) {
        let point = vk::PipelineBindPoint::COMPUTE;
        let mut push = rounds.to_le_bytes().to_vec();
        // SAFETY: valid usage.
        unsafe {
            if self.by_address {
                let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
                push = v.device.get_buffer_device_address(&info).to_le_bytes().to_vec();
                push.extend(rounds.to_le_bytes());
            } else {
                v.device.cmd_bind_descriptor_sets(c, point, self.layout, 0, &[set], &[]);
            }
            v.device.cmd_bind_pipeline(c, point, self.pipeline);
            v.device.cmd_push_constants(c, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
            v.device.cmd_dispatch(c, 1, 1, 1);
        }
    }
}
