//! A Vulkan program for tests: a device of a driver with all the features that it has but robustness, and the
//! few steps that every test takes with it. The driver is linked in, or loaded by its path, without the
//! Vulkan loader.
//!
//! The methods follow the valid usage of the specification for a single thread that waits for each of its
//! submissions; what a test does besides, it does through [`Vulkan::device`].

use anyhow::{Context as _, Result};
use ash::vk;
use std::ffi::{CStr, CString};
use std::path::Path;

/// Extensions that are enabled where the device has them.
const EXTENSIONS: [&CStr; 6] = [
    c"VK_EXT_shader_atomic_float",
    c"VK_KHR_workgroup_memory_explicit_layout",
    c"VK_EXT_shader_image_atomic_int64",
    c"VK_EXT_scalar_block_layout",
    c"VK_KHR_push_descriptor",
    c"VK_KHR_map_memory2",
];

/// Most queues of a device.
const QUEUES: u32 = 4;

/// Memory that the host sees without flushing.
pub const COHERENT: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw() | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

/// An instance and a device of a driver.
pub struct Vulkan {
    /// Functions without an instance.
    pub entry: ash::Entry,
    /// Functions of the instance.
    pub instance: ash::Instance,
    /// The first physical device.
    pub physical: vk::PhysicalDevice,
    /// Functions of the device.
    pub device: ash::Device,
    /// Of family 0, four at most.
    pub queues: Vec<vk::Queue>,
    /// Of family 0; its command buffers may be reset one by one.
    pub pool: vk::CommandPool,
    /// Names and labels, where the driver has VK_EXT_debug_utils.
    pub debug: Option<ash::ext::debug_utils::Device>,
    memory: vk::PhysicalDeviceMemoryProperties,
    _library: Option<libloading::Library>,
}

/// The functions of a driver that is linked into this process.
///
/// # Safety
/// The function follows the specification of vkGetInstanceProcAddr.
pub unsafe fn linked(get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr) -> ash::Entry {
    // SAFETY: what the caller promises.
    unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) }
}

fn has(list: &[vk::ExtensionProperties], name: &CStr) -> bool {
    list.iter().any(|e| e.extension_name_as_c_str() == Ok(name))
}

impl Vulkan {
    /// Loads a driver, or a loader, and creates a device.
    ///
    /// # Errors
    /// The library cannot be loaded, or a Vulkan call fails.
    pub fn open(library: &Path) -> Result<Vulkan> {
        // SAFETY: the library is a Vulkan driver or loader; loading it runs nothing that depends on this
        // process.
        let library = unsafe { libloading::Library::new(library) }
            .with_context(|| format!("cannot load {}", library.display()))?;
        // SAFETY: vkGetInstanceProcAddr has this signature everywhere, and `Vulkan` keeps the library loaded.
        let entry = unsafe {
            let names = [&b"vkGetInstanceProcAddr\0"[..], b"vk_icdGetInstanceProcAddr\0"];
            let get = library.get(names[0]).or_else(|_| library.get(names[1]))?;
            linked(*get)
        };
        let mut vulkan = Vulkan::new(entry)?;
        vulkan._library = Some(library);
        Ok(vulkan)
    }

    /// Creates an instance and a device.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn new(entry: ash::Entry) -> Result<Vulkan> {
        Vulkan::with_robustness(entry, false)
    }

    /// The same, with or without robustBufferAccess, robustImageAccess and, if it is there, nullDescriptor.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn with_robustness(entry: ash::Entry, robust: bool) -> Result<Vulkan> {
        Vulkan::of_version(entry, robust, vk::API_VERSION_1_3)
    }

    /// The same, of an instance that asks for this version of Vulkan, 1.3 or newer.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn of_version(entry: ash::Entry, robust: bool, version: u32) -> Result<Vulkan> {
        let application = vk::ApplicationInfo::default().api_version(version);
        // SAFETY: all structures outlive the calls, and the handles are live; the chain of features is filled
        // by the driver and given back to it.
        unsafe {
            let known = entry.enumerate_instance_extension_properties(None)?;
            let named = has(&known, ash::ext::debug_utils::NAME);
            let names: Vec<_> = named.then_some(ash::ext::debug_utils::NAME.as_ptr()).into_iter().collect();
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_extension_names(&names);
            let instance = entry.create_instance(&info, None).context("vkCreateInstance")?;
            let physical =
                *instance.enumerate_physical_devices()?.first().context("the driver shows no device")?;
            let known = instance.enumerate_device_extension_properties(physical)?;
            let mut names: Vec<_> = EXTENSIONS.into_iter().filter(|e| has(&known, e)).collect();
            let mut two = vk::PhysicalDeviceRobustness2FeaturesEXT::default().null_descriptor(true);
            let null = robust && has(&known, ash::ext::robustness2::NAME);
            names.extend(null.then_some(ash::ext::robustness2::NAME));
            let mut features11 = vk::PhysicalDeviceVulkan11Features::default();
            let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
            let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
            let mut floats = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default();
            let mut layouts = vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR::default();
            let mut features =
                vk::PhysicalDeviceFeatures2::default().push_next(&mut features11).push_next(&mut features12);
            if names.contains(&EXTENSIONS[0]) {
                features = features.push_next(&mut floats);
            }
            if names.contains(&EXTENSIONS[1]) {
                features = features.push_next(&mut layouts);
            }
            features = features.push_next(&mut features13);
            instance.get_physical_device_features2(physical, &mut features);
            let features10 = features.features.robust_buffer_access(robust);
            features13.robust_image_access = robust.into();
            let families = instance.get_physical_device_queue_family_properties(physical);
            let count = families.first().context("no queue family")?.queue_count.min(QUEUES);
            let priorities = [1.0; QUEUES as usize];
            let queues = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(0)
                .queue_priorities(&priorities[..count as usize])];
            let names: Vec<_> = names.iter().map(|n| n.as_ptr()).collect();
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .enabled_features(&features10)
                .push_next(&mut features13);
            let info = if null { info.push_next(&mut two) } else { info };
            let device = instance.create_device(physical, &info, None).context("vkCreateDevice")?;
            let queues = (0..count).map(|i| device.get_device_queue(0, i)).collect();
            let info =
                vk::CommandPoolCreateInfo::default().flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let pool = device.create_command_pool(&info, None).context("vkCreateCommandPool")?;
            let memory = instance.get_physical_device_memory_properties(physical);
            let debug = named.then(|| ash::ext::debug_utils::Device::new(&instance, &device));
            Ok(Vulkan { entry, instance, physical, device, queues, pool, debug, memory, _library: None })
        }
    }

    /// The first memory type of these, that has `wanted`.
    ///
    /// # Errors
    /// There is none.
    pub fn memory_type(&self, bits: u32, wanted: vk::MemoryPropertyFlags) -> Result<u32> {
        let types = self.memory.memory_types_as_slice();
        let fits =
            |(i, t): &(usize, &vk::MemoryType)| bits & (1 << i) != 0 && t.property_flags.contains(wanted);
        let found = types.iter().enumerate().find(fits).map(|(i, _)| i as u32);
        found.with_context(|| format!("no memory type {wanted:?}"))
    }

    /// Gives an object its debug-utils name.
    pub fn name(&self, handle: impl vk::Handle, name: &str) {
        let Some(debug) = &self.debug else { return };
        let name = CString::new(name).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
        // SAFETY: the object is live and belongs to this device. A name that is not kept is no reason to
        // fail.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }

    /// A buffer for transfers, shaders and indirect commands, bound to memory of this type of its own; mapped
    /// where the host sees it, null elsewhere.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn buffer(&self, size: u64, memory_type: u32) -> Result<(vk::Buffer, vk::DeviceMemory, *mut u8)> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        let flags = self.memory.memory_types[memory_type as usize].property_flags;
        // SAFETY: valid usage.
        unsafe {
            let buffer = self.device.create_buffer(&info, None)?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let mut address =
                vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(memory_type)
                .push_next(&mut address);
            let memory = self.device.allocate_memory(&info, None)?;
            self.device.bind_buffer_memory(buffer, memory, 0)?;
            let whole = (memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
            let mapped = match flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
                true => self.device.map_memory(whole.0, whole.1, whole.2, whole.3)?.cast(),
                false => std::ptr::null_mut(),
            };
            Ok((buffer, memory, mapped))
        }
    }

    /// An image, bound to memory of this type of its own.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn image(&self, info: &vk::ImageCreateInfo<'_>, memory_type: u32) -> Result<vk::Image> {
        // SAFETY: valid usage, as far as `info` is.
        unsafe {
            let image = self.device.create_image(info, None)?;
            let size = self.device.get_image_memory_requirements(image).size;
            let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(memory_type);
            let memory = self.device.allocate_memory(&info, None)?;
            self.device.bind_image_memory(image, memory, 0)?;
            Ok(image)
        }
    }

    /// A set with a binding of each of these types, from 0 on, and the layout of compute pipelines that have
    /// it as set 0, and so many bytes of push constants.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn descriptors(
        &self,
        types: &[vk::DescriptorType],
        push: u32,
    ) -> Result<(vk::PipelineLayout, vk::DescriptorSet), vk::Result> {
        let stage_flags = vk::ShaderStageFlags::COMPUTE;
        let binding = |(n, ty): (u32, &vk::DescriptorType)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(n)
                .descriptor_type(*ty)
                .descriptor_count(1)
                .stage_flags(stage_flags)
        };
        let bindings: Vec<_> = (0..).zip(types).map(binding).collect();
        let sizes: Vec<_> =
            types.iter().map(|&ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 }).collect();
        let range = [vk::PushConstantRange { stage_flags, offset: 0, size: push }];
        // SAFETY: valid usage.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let sets = [self.device.create_descriptor_set_layout(&info, None)?];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&sets)
                .push_constant_ranges(if push > 0 { &range } else { &[] });
            let layout = self.device.create_pipeline_layout(&info, None)?;
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = self.device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&sets);
            Ok((layout, self.device.allocate_descriptor_sets(&info)?[0]))
        }
    }

    /// A compute pipeline of these words.
    ///
    /// # Errors
    /// The driver refuses the module or the pipeline.
    pub fn pipeline(
        &self,
        words: &[u32],
        entry: &CStr,
        layout: vk::PipelineLayout,
    ) -> Result<vk::Pipeline, vk::Result> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words may be bad on purpose; everything else is valid usage.
        unsafe {
            let module = self.device.create_shader_module(&info, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default();
            let stage = stage.stage(vk::ShaderStageFlags::COMPUTE).module(module).name(entry);
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let made = self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            self.device.destroy_shader_module(module, None);
            made.map(|pipelines| pipelines[0]).map_err(|(_, result)| result)
        }
    }

    /// A command buffer.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn commands(&self, level: vk::CommandBufferLevel) -> Result<vk::CommandBuffer, vk::Result> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(level)
            .command_buffer_count(1);
        // SAFETY: valid usage.
        unsafe { Ok(self.device.allocate_command_buffers(&info)?[0]) }
    }

    /// Records a primary command buffer, which may be submitted while it is pending.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn record(&self, body: impl FnOnce(vk::CommandBuffer)) -> Result<vk::CommandBuffer, vk::Result> {
        let buffer = self.commands(vk::CommandBufferLevel::PRIMARY)?;
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        // SAFETY: valid usage up to what `body` does.
        unsafe {
            self.device.begin_command_buffer(buffer, &info)?;
            body(buffer);
            self.device.end_command_buffer(buffer)?;
        }
        Ok(buffer)
    }

    /// Submits to the first queue and waits.
    ///
    /// # Errors
    /// A Vulkan call fails, or the device is lost.
    pub fn run(&self, buffer: vk::CommandBuffer) -> Result<(), vk::Result> {
        let buffers = [buffer];
        let info = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: valid usage; the fence is destroyed when nothing waits for it.
        unsafe {
            let fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let done = self.device.queue_submit(self.queues[0], &info, fence);
            let done = done.and_then(|()| self.device.wait_for_fences(&[fence], true, u64::MAX));
            self.device.destroy_fence(fence, None);
            done
        }
    }

    /// A timeline semaphore at 0.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn timeline(&self) -> Result<vk::Semaphore, vk::Result> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: valid usage.
        unsafe { self.device.create_semaphore(&info, None) }
    }

    /// Submits to the first queue: transfers that wait for a timeline semaphore to reach a value.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn submit_after(
        &self,
        semaphore: vk::Semaphore,
        value: u64,
        buffer: vk::CommandBuffer,
        fence: vk::Fence,
    ) -> Result<(), vk::Result> {
        let (buffers, semaphores, values) = ([buffer], [semaphore], [value]);
        let stages = [vk::PipelineStageFlags::TRANSFER];
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&values);
        let info = vk::SubmitInfo::default()
            .command_buffers(&buffers)
            .wait_semaphores(&semaphores)
            .wait_dst_stage_mask(&stages)
            .push_next(&mut timeline);
        // SAFETY: valid usage.
        unsafe { self.device.queue_submit(self.queues[0], &[info], fence) }
    }

    /// The words of mapped memory.
    pub fn words(&self, mapped: *mut u8, count: usize) -> Vec<u32> {
        // SAFETY: the memory is mapped, that long, and nothing runs.
        unsafe { std::slice::from_raw_parts(mapped.cast::<u32>(), count).to_vec() }
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: nothing runs any more; a driver has to take what a test leaves behind.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// Says that a test needs something that is not installed.
///
/// # Panics
/// `NOTHING_SKIPPED` is set: the environment claims that all is there.
#[allow(clippy::print_stderr)]
pub fn skipped(missing: &str) {
    assert!(std::env::var_os("NOTHING_SKIPPED").is_none(), "not installed: {missing}");
    eprintln!("skipped: {missing} is not installed");
}
