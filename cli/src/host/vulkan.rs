//! The Vulkan side: instance to fence, in the order in which an application does it. The one file of the
//! command with unsafe code for it.
//!
//! Every call follows the valid usage of the specification for a single thread that waits for its only
//! submission before it reads or destroys anything; that is the argument behind each unsafe block here.

use super::{BindingKind, Contents, HostError, HostProgram};
use ash::{Device, Entry, Instance, vk};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::ops::Range;
use std::path::Path;

trait Named<T> {
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

/// An instance, its first device and that device's compute queue.
struct Context {
    instance: Instance,
    device: Device,
    queue: vk::Queue,
    family: u32,
    memory: vk::PhysicalDeviceMemoryProperties,
    /// The limit maxBoundDescriptorSets.
    most_sets: u32,
}

impl Context {
    fn new(entry: &Entry) -> Result<Context, HostError> {
        let application = vk::ApplicationInfo::default()
            .application_name(c"pellucid exec")
            .api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: see the module's page.
        unsafe {
            let instance = entry.create_instance(&info, None).named("vkCreateInstance")?;
            let devices = instance.enumerate_physical_devices().named("vkEnumeratePhysicalDevices")?;
            let physical = *devices
                .first()
                .ok_or_else(|| HostError::Library("the driver shows no device".to_owned()))?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family = families.iter().position(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let family = family
                .ok_or_else(|| HostError::Library("the device has no compute queue".to_owned()))?
                as u32;
            let mut features11 = vk::PhysicalDeviceVulkan11Features::default();
            let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
            let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
            let mut features = vk::PhysicalDeviceFeatures2::default()
                .push_next(&mut features11)
                .push_next(&mut features12)
                .push_next(&mut features13);
            instance.get_physical_device_features2(physical, &mut features);
            // Accesses out of bounds are to be found.
            let features10 = features.features.robust_buffer_access(false);
            features13.robust_image_access = vk::FALSE;
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_features(&features10)
                .push_next(&mut features13);
            let device = instance.create_device(physical, &info, None).named("vkCreateDevice")?;
            let queue = device.get_device_queue(family, 0);
            let memory = instance.get_physical_device_memory_properties(physical);
            let limits = instance.get_physical_device_properties(physical).limits;
            let most_sets = limits.max_bound_descriptor_sets;
            Ok(Context { instance, device, queue, family, memory, most_sets })
        }
    }

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
struct Buffer {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    host: *mut u8,
    size: usize,
}

impl Buffer {
    fn new(context: &Context, contents: &[u8]) -> Result<Buffer, HostError> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::UNIFORM_BUFFER;
        let info = vk::BufferCreateInfo::default().size(contents.len() as u64).usage(usage);
        let device = &context.device;
        // SAFETY: see the module's page; the mapping covers `contents.len()` bytes and nothing else writes to
        // it yet.
        unsafe {
            let buffer = device.create_buffer(&info, None).named("vkCreateBuffer")?;
            let needs = device.get_buffer_memory_requirements(buffer);
            let kind = context.memory_type(needs.memory_type_bits)?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = device.allocate_memory(&info, None).named("vkAllocateMemory")?;
            device.bind_buffer_memory(buffer, memory, 0).named("vkBindBufferMemory")?;
            let host = device
                .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .named("vkMapMemory")?;
            std::ptr::copy_nonoverlapping(contents.as_ptr(), host.cast(), contents.len());
            Ok(Buffer { buffer, memory, host: host.cast(), size: contents.len() })
        }
    }

    fn read(&self) -> Result<Vec<u8>, HostError> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(self.size).map_err(|_| {
            HostError::Program(format!("there is no memory for the {} bytes of a buffer", self.size))
        })?;
        // SAFETY: the memory is mapped for `size` bytes and the device is idle.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(self.host, self.size) });
        Ok(bytes)
    }
}

/// The layouts, pipeline and descriptors of a program.
struct Bound {
    module: vk::ShaderModule,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    sets: Vec<vk::DescriptorSet>,
}

type Bindings = BTreeMap<(u32, u32), BindingKind>;

fn descriptor_type(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BindingKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
    }
}

/// Bytes of the push constant range.
fn push_size(program: &HostProgram) -> u32 {
    program.push_constants.iter().map(|(offset, bytes)| offset + bytes.len() as u32).max().unwrap_or(0)
}

impl Bound {
    fn new(device: &Device, program: &HostProgram, bindings: &Bindings) -> Result<Bound, HostError> {
        let set_count = bindings.keys().map(|(set, _)| set + 1).max().unwrap_or(0);
        let entry = CString::new(program.entry.as_str())
            .map_err(|_| HostError::Program("bad entry point".to_owned()))?;
        let (mut entries, mut data) = (Vec::new(), Vec::new());
        for (id, bytes) in &program.specialization {
            entries.push(vk::SpecializationMapEntry {
                constant_id: *id,
                offset: data.len() as u32,
                size: bytes.len(),
            });
            data.extend_from_slice(bytes);
        }
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        // SAFETY: see the module's page.
        unsafe {
            let info = vk::ShaderModuleCreateInfo::default().code(&program.words);
            let module = device.create_shader_module(&info, None).named("vkCreateShaderModule")?;
            let mut set_layouts = Vec::new();
            for set in 0..set_count {
                let of_set: Vec<_> = bindings
                    .iter()
                    .filter(|((s, _), _)| *s == set)
                    .map(|((_, binding), kind)| {
                        vk::DescriptorSetLayoutBinding::default()
                            .binding(*binding)
                            .descriptor_type(descriptor_type(*kind))
                            .descriptor_count(1)
                            .stage_flags(vk::ShaderStageFlags::COMPUTE)
                    })
                    .collect();
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&of_set);
                set_layouts.push(
                    device.create_descriptor_set_layout(&info, None).named("vkCreateDescriptorSetLayout")?,
                );
            }
            let push = [vk::PushConstantRange {
                stage_flags: vk::ShaderStageFlags::COMPUTE,
                offset: 0,
                size: push_size(program),
            }];
            let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
            if !program.push_constants.is_empty() {
                info = info.push_constant_ranges(&push);
            }
            let layout = device.create_pipeline_layout(&info, None).named("vkCreatePipelineLayout")?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&entry)
                .specialization_info(&specialization);
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let pipelines = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            let pipeline = pipelines.map_err(|(_, result)| result).named("vkCreateComputePipelines")?[0];
            let count =
                |kind| vk::DescriptorPoolSize { ty: kind, descriptor_count: bindings.len().max(1) as u32 };
            let sizes =
                [count(vk::DescriptorType::STORAGE_BUFFER), count(vk::DescriptorType::UNIFORM_BUFFER)];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(set_count.max(1)).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None).named("vkCreateDescriptorPool")?;
            let sets = if set_layouts.is_empty() {
                Vec::new()
            } else {
                let info =
                    vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layouts);
                device.allocate_descriptor_sets(&info).named("vkAllocateDescriptorSets")?
            };
            Ok(Bound { module, set_layouts, layout, pipeline, pool, sets })
        }
    }

    fn write(&self, device: &Device, bindings: &Bindings, buffer_of: impl Fn(u32, u32) -> vk::Buffer) {
        for ((set, binding), kind) in bindings {
            let info = [vk::DescriptorBufferInfo {
                buffer: buffer_of(*set, *binding),
                offset: 0,
                range: vk::WHOLE_SIZE,
            }];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(self.sets[*set as usize])
                .dst_binding(*binding)
                .descriptor_type(descriptor_type(*kind))
                .buffer_info(&info);
            // SAFETY: see the module's page.
            unsafe { device.update_descriptor_sets(&[write], &[]) };
        }
    }

    fn destroy(&self, device: &Device) {
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

/// Dispatches recorded before they are submitted: a command buffer holds every one of them.
const RECORDED: u32 = 4096;

/// Records, submits and waits.
fn dispatch(context: &Context, bound: &Bound, program: &HostProgram) -> Result<(), HostError> {
    let device = &context.device;
    // SAFETY: see the module's page.
    unsafe {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(context.family);
        let pool = device.create_command_pool(&info, None).named("vkCreateCommandPool")?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info).named("vkAllocateCommandBuffers")?[0];
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).named("vkCreateFence")?;
        let all = 0..program.repeat.max(1);
        let mut done = Ok(());
        for first in all.clone().step_by(RECORDED as usize) {
            let repetitions = first..all.end.min(first.saturating_add(RECORDED));
            done = record(device, commands, bound, program, repetitions, all.end).and_then(|()| {
                let submit = [vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&commands))];
                device.queue_submit(context.queue, &submit, fence).named("vkQueueSubmit")?;
                device.wait_for_fences(&[fence], true, u64::MAX).named("vkWaitForFences")?;
                device.reset_fences(&[fence]).named("vkResetFences")?;
                let keep = vk::CommandPoolResetFlags::empty();
                device.reset_command_pool(pool, keep).named("vkResetCommandPool")
            });
            if done.is_err() {
                break;
            }
        }
        device.destroy_fence(fence, None);
        device.destroy_command_pool(pool, None);
        done
    }
}

/// Records some of the `all` repetitions of a program's dispatch.
///
/// # Safety
/// The command buffer is in its initial state, and `bound` lives until it has been executed.
unsafe fn record(
    device: &Device,
    commands: vk::CommandBuffer,
    bound: &Bound,
    program: &HostProgram,
    repetitions: Range<u32>,
    all: u32,
) -> Result<(), HostError> {
    let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
    let none = vk::DependencyFlags::empty();
    let written = vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::SHADER_WRITE);
    // SAFETY: what the caller promises, and the module's page.
    unsafe {
        let begin = vk::CommandBufferBeginInfo::default();
        device.begin_command_buffer(commands, &begin).named("vkBeginCommandBuffer")?;
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, bound.pipeline);
        if !bound.sets.is_empty() {
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_descriptor_sets(commands, point, bound.layout, 0, &bound.sets, &[]);
        }
        for (offset, bytes) in &program.push_constants {
            let stages = vk::ShaderStageFlags::COMPUTE;
            device.cmd_push_constants(commands, bound.layout, stages, *offset, bytes);
        }
        let last = repetitions.end == all;
        for repetition in repetitions {
            if repetition > 0 {
                let access = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
                let barrier = [written.dst_access_mask(access)];
                device.cmd_pipeline_barrier(commands, compute, compute, none, &barrier, &[], &[]);
            }
            let [x, y, z] = program.groups;
            device.cmd_dispatch(commands, x, y, z);
        }
        if last {
            let barrier = [written.dst_access_mask(vk::AccessFlags::HOST_READ)];
            let host = vk::PipelineStageFlags::HOST;
            device.cmd_pipeline_barrier(commands, compute, host, none, &barrier, &[], &[]);
        }
        device.end_command_buffer(commands).named("vkEndCommandBuffer")
    }
}

/// What `with` makes of a device.
///
/// # Errors
/// There is none.
pub fn with_device<T>(entry: &Entry, with: impl FnOnce(vk::Device) -> T) -> Result<T, HostError> {
    let context = Context::new(entry)?;
    Ok(with(context.device.handle()))
}

/// Runs a program whose buffers fit `bindings`.
///
/// # Errors
/// A call fails.
pub fn run(
    entry: &Entry,
    program: &HostProgram,
    bindings: &Bindings,
) -> Result<BTreeMap<(u32, u32), Vec<u8>>, HostError> {
    let context = Context::new(entry)?;
    if let Some((set, binding)) = bindings.keys().find(|(set, _)| *set >= context.most_sets) {
        return Err(HostError::Program(format!(
            "the shader's buffer {set}:{binding} is in a set beyond the device's {} (maxBoundDescriptorSets)",
            context.most_sets
        )));
    }
    let mut buffers: BTreeMap<(u32, u32), Buffer> = BTreeMap::new();
    let mut aliases: BTreeMap<(u32, u32), (u32, u32)> = BTreeMap::new();
    for (key, contents) in &program.buffers {
        match contents {
            Contents::Bytes(bytes) => {
                buffers.insert(*key, Buffer::new(&context, bytes)?);
            }
            Contents::Alias { set, binding } => {
                aliases.insert(*key, (*set, *binding));
            }
        }
    }
    let bound = Bound::new(&context.device, program, bindings);
    let done = bound.and_then(|bound| {
        bound.write(&context.device, bindings, |set, binding| {
            let key = aliases.get(&(set, binding)).copied().unwrap_or((set, binding));
            buffers.get(&key).map_or(vk::Buffer::null(), |b| b.buffer)
        });
        let done = dispatch(&context, &bound, program);
        bound.destroy(&context.device);
        done
    });
    let contents = buffers.iter().map(|(key, buffer)| Ok((*key, buffer.read()?))).collect();
    for buffer in buffers.values() {
        // SAFETY: see the module's page.
        unsafe {
            context.device.destroy_buffer(buffer.buffer, None);
            context.device.free_memory(buffer.memory, None);
        }
    }
    done.and(contents)
}
