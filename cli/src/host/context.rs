//! What every Vulkan program of this command needs: a driver, a device with a queue for compute, buffers that
//! the host reads and writes, and commands that it waits for.
//!
//! Every call follows the valid usage of the specification for a single thread that waits for its only
//! submission before it reads or destroys anything; that is the argument behind each unsafe block here.

use super::HostError;
use ash::{Device, Entry, Instance, vk};
use std::ffi::CStr;
use std::path::Path;

/// Says which call failed.
pub trait Named<T> {
    /// The value, or the error of `call`.
    ///
    /// # Errors
    /// The call failed.
    fn named(self, call: &'static str) -> Result<T, HostError>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, call: &'static str) -> Result<T, HostError> {
        self.map_err(|result| HostError::Vulkan { call, result })
    }
}

/// Loads a driver or a loader. The library stays loaded for the life of the process.
///
/// # Errors
/// It cannot be loaded, or is no Vulkan library.
pub fn load(path: &Path) -> Result<Entry, HostError> {
    let failed = |error: libloading::Error| HostError::Library(format!("{}: {error}", path.display()));
    // SAFETY: loading a Vulkan library runs its initialisers, which is what the caller asks for; both symbols
    // have the type of PFN_vkGetInstanceProcAddr, and the library is leaked, so the function pointer stays
    // valid.
    unsafe {
        let library: &'static libloading::Library =
            Box::leak(Box::new(libloading::Library::new(path).map_err(failed)?));
        let get = library
            .get::<vk::PFN_vkGetInstanceProcAddr>(b"vkGetInstanceProcAddr\0")
            .or_else(|_| library.get::<vk::PFN_vkGetInstanceProcAddr>(b"vk_icdGetInstanceProcAddr\0"))
            .map_err(failed)?;
        Ok(Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: *get }))
    }
}

/// The driver that is linked into this executable.
pub fn linked() -> Entry {
    let get_instance_proc_addr = vulkan_pellucid::vkGetInstanceProcAddr;
    // SAFETY: the function has the type of PFN_vkGetInstanceProcAddr and is there for ever.
    unsafe { Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) }
}

/// The first device of a driver, and its first queue family for compute.
pub struct Physical {
    /// An instance of version 1.3.
    pub instance: Instance,
    /// Its first device.
    pub device: vk::PhysicalDevice,
    family: u32,
}

impl Physical {
    /// Creates an instance and looks for its first device.
    ///
    /// # Errors
    /// A call fails, or there is no device that computes.
    pub fn first(entry: &Entry, application: &CStr) -> Result<Physical, HostError> {
        let application =
            vk::ApplicationInfo::default().application_name(application).api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: see the module's page.
        unsafe {
            let instance = entry.create_instance(&info, None).named("vkCreateInstance")?;
            let devices = instance.enumerate_physical_devices().named("vkEnumeratePhysicalDevices")?;
            let none = || HostError::Library("the driver shows no device".to_owned());
            let device = *devices.first().ok_or_else(none)?;
            let families = instance.get_physical_device_queue_family_properties(device);
            let family = families.iter().position(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let none = || HostError::Library("the device has no compute queue".to_owned());
            Ok(Physical { instance, device, family: family.ok_or_else(none)? as u32 })
        }
    }

    /// Creates a device as `info` says, with one queue.
    ///
    /// # Errors
    /// The call fails.
    pub fn create(self, info: vk::DeviceCreateInfo<'_>) -> Result<Context, HostError> {
        let Physical { instance, device: physical, family } = self;
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let info = info.queue_create_infos(&queues);
        // SAFETY: see the module's page.
        unsafe {
            let device = instance.create_device(physical, &info, None).named("vkCreateDevice")?;
            let queue = device.get_device_queue(family, 0);
            let memory = instance.get_physical_device_memory_properties(physical);
            let limits = instance.get_physical_device_properties(physical).limits;
            Ok(Context { instance, device, queue, family, memory, limits })
        }
    }
}

/// A device, its instance and its queue.
pub struct Context {
    instance: Instance,
    /// The logical device, with one queue.
    pub device: Device,
    queue: vk::Queue,
    family: u32,
    memory: vk::PhysicalDeviceMemoryProperties,
    /// What the device can do.
    pub limits: vk::PhysicalDeviceLimits,
}

impl Context {
    fn memory_type(&self, allowed: u32) -> Result<u32, HostError> {
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let types = self.memory.memory_types_as_slice();
        let fits =
            |(i, t): &(usize, &vk::MemoryType)| allowed >> i & 1 == 1 && t.property_flags.contains(wanted);
        let found = types.iter().enumerate().find(fits).map(|(i, _)| i as u32);
        found.ok_or_else(|| {
            HostError::Library("the device has no coherent memory type for buffers".to_owned())
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: everything made of the device has been destroyed; a lost device may be destroyed as well.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// A buffer with memory of its own, mapped.
pub struct Buffer {
    /// The VkBuffer, bound to memory of its own.
    pub buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    /// Where the host sees it.
    pub host: *mut u8,
    /// Bytes.
    pub size: usize,
}

impl Buffer {
    /// A buffer of `size` bytes.
    ///
    /// # Errors
    /// A call fails.
    pub fn new(context: &Context, size: usize, usage: vk::BufferUsageFlags) -> Result<Buffer, HostError> {
        let info = vk::BufferCreateInfo::default().size(size as u64).usage(usage);
        let device = &context.device;
        // SAFETY: see the module's page.
        unsafe {
            let buffer = device.create_buffer(&info, None).named("vkCreateBuffer")?;
            let needs = device.get_buffer_memory_requirements(buffer);
            let kind = context.memory_type(needs.memory_type_bits)?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = device.allocate_memory(&info, None).named("vkAllocateMemory")?;
            device.bind_buffer_memory(buffer, memory, 0).named("vkBindBufferMemory")?;
            let host = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
            Ok(Buffer { buffer, memory, host: host.named("vkMapMemory")?.cast(), size })
        }
    }

    /// Ends the buffer and its memory; no work may use them.
    pub fn destroy(&self, device: &Device) {
        // SAFETY: see the module's page.
        unsafe {
            device.destroy_buffer(self.buffer, None);
            device.free_memory(self.memory, None);
        }
    }
}

/// The layouts, pipeline and descriptors of a shader.
pub struct Bound {
    module: vk::ShaderModule,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    /// What the pipeline and the sets are of.
    pub layout: vk::PipelineLayout,
    /// The compute pipeline of the shader.
    pub pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    /// The descriptor sets, which hold nothing yet.
    pub sets: Vec<vk::DescriptorSet>,
}

impl Bound {
    /// Of the shader `words`, whose entry point `stage` names: for each set the bindings and what they are,
    /// and the bytes of its push constants.
    ///
    /// # Errors
    /// A call fails; the creation of the pipeline does if the shader needs something that the driver refuses.
    pub fn new(
        context: &Context,
        words: &[u32],
        stage: vk::PipelineShaderStageCreateInfo<'_>,
        bindings: &[Vec<(u32, vk::DescriptorType)>],
        push_size: u32,
    ) -> Result<Bound, HostError> {
        let device = &context.device;
        let compute = vk::ShaderStageFlags::COMPUTE;
        // SAFETY: see the module's page.
        unsafe {
            let info = vk::ShaderModuleCreateInfo::default().code(words);
            let module = device.create_shader_module(&info, None).named("vkCreateShaderModule")?;
            let mut set_layouts = Vec::new();
            for of_set in bindings {
                let one = vk::DescriptorSetLayoutBinding::default().descriptor_count(1).stage_flags(compute);
                let of_set: Vec<_> = of_set
                    .iter()
                    .map(|(binding, kind)| one.binding(*binding).descriptor_type(*kind))
                    .collect();
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&of_set);
                let layout = device.create_descriptor_set_layout(&info, None);
                set_layouts.push(layout.named("vkCreateDescriptorSetLayout")?);
            }
            let push = [vk::PushConstantRange { stage_flags: compute, offset: 0, size: push_size }];
            let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
            if push_size > 0 {
                info = info.push_constant_ranges(&push);
            }
            let layout = device.create_pipeline_layout(&info, None).named("vkCreatePipelineLayout")?;
            let stage = stage.stage(compute).module(module);
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let pipelines = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            let pipeline = pipelines.map_err(|(_, result)| result).named("vkCreateComputePipelines")?[0];
            let sizes: Vec<_> = bindings
                .iter()
                .flatten()
                .map(|(_, kind)| vk::DescriptorPoolSize { ty: *kind, descriptor_count: 1 })
                .collect();
            let most = bindings.len().max(1) as u32;
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(most).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None).named("vkCreateDescriptorPool")?;
            let info =
                vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layouts);
            let sets = if set_layouts.is_empty() {
                Vec::new()
            } else {
                device.allocate_descriptor_sets(&info).named("vkAllocateDescriptorSets")?
            };
            Ok(Bound { module, set_layouts, layout, pipeline, pool, sets })
        }
    }

    /// Ends the pipeline with all that it was made of; no work may use it.
    pub fn destroy(&self, device: &Device) {
        // SAFETY: see the module's page.
        unsafe {
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            for layout in &self.set_layouts {
                device.destroy_descriptor_set_layout(*layout, None);
            }
            device.destroy_shader_module(self.module, None);
        }
    }
}

/// A command buffer, and the fence by which the host waits for it.
pub struct Commands {
    pool: vk::CommandPool,
    /// The command buffer: initial at first and after it was waited for.
    pub buffer: vk::CommandBuffer,
    fence: vk::Fence,
}

impl Commands {
    /// An empty command buffer.
    ///
    /// # Errors
    /// A call fails.
    pub fn new(context: &Context) -> Result<Commands, HostError> {
        let device = &context.device;
        // SAFETY: see the module's page.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(context.family);
            let pool = device.create_command_pool(&info, None).named("vkCreateCommandPool")?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let buffer = device.allocate_command_buffers(&info).named("vkAllocateCommandBuffers")?[0];
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).named("vkCreateFence")?;
            Ok(Commands { pool, buffer, fence })
        }
    }

    /// Submits what was recorded, waits for its end, for `timeout` nanoseconds at most, and resets the
    /// command buffer.
    ///
    /// # Errors
    /// A call fails, or it takes longer.
    pub fn run(&self, context: &Context, timeout: u64) -> Result<(), HostError> {
        let device = &context.device;
        let submit = [vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&self.buffer))];
        // SAFETY: see the module's page.
        unsafe {
            device.queue_submit(context.queue, &submit, self.fence).named("vkQueueSubmit")?;
            device.wait_for_fences(&[self.fence], true, timeout).named("vkWaitForFences")?;
            device.reset_fences(&[self.fence]).named("vkResetFences")?;
            let keep = vk::CommandPoolResetFlags::empty();
            device.reset_command_pool(self.pool, keep).named("vkResetCommandPool")
        }
    }

    /// Ends the pool with its command buffers; none may be pending.
    pub fn destroy(&self, device: &Device) {
        // SAFETY: see the module's page.
        unsafe {
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.pool, None);
        }
    }
}
