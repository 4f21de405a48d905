//! Runs lowered litmus tests on the driver through its Vulkan entry points.

use super::layout::STRIDE;
use super::lower::Lowered;
use super::phases::Phase;
use crate::host::vulkan::load;
use anyhow::{Context, Result, anyhow, bail};
use ash::vk;
use std::path::Path;

/// A device of a driver, loaded without a loader.
pub struct Device {
    /// `VkPhysicalDeviceProperties::deviceName`.
    pub name: String,
    /// `minSubgroupSize` and `maxSubgroupSize`; both the one size there is where it cannot be chosen.
    pub subgroup_sizes: (u32, u32),
    sizes_can_be_chosen: bool,
    instance: ash::Instance,
    device: ash::Device,
    queue: vk::Queue,
    family: u32,
    host_memory: u32,
}

/// One test, ready to be run again and again.
pub struct Prepared<'a> {
    device: &'a Device,
    lowered: &'a Lowered,
    locations: usize,
    words: u32,
    data: Buffer,
    results: Buffer,
    views: Vec<vk::BufferView>,
    set_layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    layout: vk::PipelineLayout,
    module: vk::ShaderModule,
    pipeline: vk::Pipeline,
    commands: vk::CommandPool,
    command: vk::CommandBuffer,
    fence: vk::Fence,
}

struct Buffer {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *mut u32,
    words: usize,
}

/// What a run left behind.
pub struct Final {
    /// The result words: [`Lowered::words_per_thread`] for each thread.
    pub results: Vec<u32>,
    /// By location.
    pub memory: Vec<u32>,
}

impl Device {
    /// Loads a driver's library and creates a device with the features that litmus tests use.
    ///
    /// # Errors
    /// The library cannot be loaded, a Vulkan call fails, or the device lacks a feature.
    pub fn open(library: &Path, chains: bool) -> Result<Device> {
        let entry = load(library)?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the structures are valid for the call.
        let instance = unsafe { entry.create_instance(&info, None) }.context("vkCreateInstance")?;
        // SAFETY: the instance is live.
        let physical = unsafe { instance.enumerate_physical_devices() }?
            .into_iter()
            .next()
            .ok_or_else(|| anyhow!("the driver shows no device"))?;
        let seen = Capabilities::of(&instance, physical)?;
        seen.check(chains)?;
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(seen.family)
            .queue_priorities(&priorities)];
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default()
            .vulkan_memory_model(true)
            .vulkan_memory_model_device_scope(true)
            .vulkan_memory_model_availability_visibility_chains(chains);
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default()
            .subgroup_size_control(seen.sizes_can_be_chosen)
            .compute_full_subgroups(true)
            .shader_zero_initialize_workgroup_memory(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut features12)
            .push_next(&mut features13);
        // SAFETY: the structures are valid for the call.
        let device = unsafe { instance.create_device(physical, &info, None) }.context("vkCreateDevice")?;
        // SAFETY: one queue of the family was asked for.
        let queue = unsafe { device.get_device_queue(seen.family, 0) };
        // SAFETY: the physical device belongs to the instance.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let host_memory = memory
            .memory_types_as_slice()
            .iter()
            .position(|t| t.property_flags.contains(wanted))
            .ok_or_else(|| anyhow!("no host-coherent memory"))? as u32;
        Ok(Device {
            name: seen.name,
            subgroup_sizes: seen.subgroup_sizes,
            sizes_can_be_chosen: seen.sizes_can_be_chosen,
            instance,
            device,
            queue,
            family: seen.family,
            host_memory,
        })
    }

    fn buffer(&self, words: usize, usage: vk::BufferUsageFlags) -> Result<Buffer> {
        let size = 4 * words as u64;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: all objects belong to this device; the memory is mapped once and unmapped when it is freed.
        unsafe {
            let buffer = self.device.create_buffer(&info, None)?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(self.host_memory);
            let memory = self.device.allocate_memory(&info, None)?;
            self.device.bind_buffer_memory(buffer, memory, 0)?;
            let mapped =
                self.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast();
            Ok(Buffer { buffer, memory, mapped, words })
        }
    }

    /// Creates the pipeline, descriptors and buffers of a test with `threads` threads and `locations`
    /// locations.
    ///
    /// # Errors
    /// A Vulkan call fails; pipeline creation does where the shader needs something that the driver refuses.
    pub fn prepare<'a>(
        &'a self,
        lowered: &'a Lowered,
        threads: usize,
        locations: usize,
    ) -> Result<Prepared<'a>> {
        let d = &self.device;
        let words = (lowered.words_per_thread() * threads).max(1) as u32;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER;
        let data = self.buffer(locations.max(1) * (STRIDE as usize / 4), usage)?;
        let results = self.buffer(words as usize, usage)?;
        let kind = |texel| {
            if texel { vk::DescriptorType::STORAGE_TEXEL_BUFFER } else { vk::DescriptorType::STORAGE_BUFFER }
        };
        let mut bindings = vec![(0, false)];
        bindings.extend(lowered.resources.iter().map(|r| (r.binding, r.texel)));
        let bindings: Vec<_> = bindings
            .into_iter()
            .map(|(binding, texel)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(kind(texel))
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        // SAFETY: every handle is created here from this device, and every structure outlives its call.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = d.create_descriptor_set_layout(&info, None)?;
            let count = bindings.len() as u32;
            let sizes = [false, true]
                .map(|texel| vk::DescriptorPoolSize::default().ty(kind(texel)).descriptor_count(count));
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = d.create_descriptor_pool(&info, None)?;
            let layouts = [set_layout];
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = d.allocate_descriptor_sets(&info)?[0];
            let mut views = Vec::new();
            let whole = [vk::DescriptorBufferInfo::default().buffer(results.buffer).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .descriptor_type(kind(false))
                .buffer_info(&whole);
            d.update_descriptor_sets(&[write], &[]);
            for r in &lowered.resources {
                let offset = u64::from(r.location) * STRIDE;
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(r.binding)
                    .descriptor_type(kind(r.texel));
                if r.texel {
                    let info = vk::BufferViewCreateInfo::default()
                        .buffer(data.buffer)
                        .format(vk::Format::R32_UINT)
                        .offset(offset)
                        .range(4);
                    let view = [d.create_buffer_view(&info, None)?];
                    views.push(view[0]);
                    d.update_descriptor_sets(&[write.texel_buffer_view(&view)], &[]);
                } else {
                    let info =
                        [vk::DescriptorBufferInfo::default().buffer(data.buffer).offset(offset).range(4)];
                    d.update_descriptor_sets(&[write.buffer_info(&info)], &[]);
                }
            }
            let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(8)];
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = d.create_pipeline_layout(&info, None)?;
            let module =
                d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&lowered.words), None)?;
            let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo {
                required_subgroup_size: lowered.subgroup_size,
                ..Default::default()
            };
            let mut stage = vk::PipelineShaderStageCreateInfo::default()
                .flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS)
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            if self.sizes_can_be_chosen {
                stage = stage.push_next(&mut size);
            }
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
            let pipeline = d
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
                .map_err(|(_, e)| anyhow!("vkCreateComputePipelines: {e}"))?[0];
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(self.family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let commands = d.create_command_pool(&info, None)?;
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(commands).command_buffer_count(1);
            let command = d.allocate_command_buffers(&info)?[0];
            let fence = d.create_fence(&vk::FenceCreateInfo::default(), None)?;
            Ok(Prepared {
                device: self,
                lowered,
                locations,
                words,
                data,
                results,
                views,
                set_layout,
                pool,
                set,
                layout,
                module,
                pipeline,
                commands,
                command,
                fence,
            })
        }
    }
}

/// What a physical device has of what litmus tests need.
struct Capabilities {
    name: String,
    family: u32,
    subgroup_sizes: (u32, u32),
    sizes_can_be_chosen: bool,
    features: Vec<(&'static str, bool)>,
    chains: bool,
}

impl Capabilities {
    fn of(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Result<Capabilities> {
        let mut vulkan11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut vulkan13 = vk::PhysicalDeviceVulkan13Properties::default();
        let mut properties =
            vk::PhysicalDeviceProperties2::default().push_next(&mut vulkan11).push_next(&mut vulkan13);
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut features12).push_next(&mut features13);
        // SAFETY: the physical device belongs to the instance; structures that the device does not know stay
        // as they are.
        let families = unsafe {
            instance.get_physical_device_properties2(physical, &mut properties);
            instance.get_physical_device_features2(physical, &mut features);
            instance.get_physical_device_queue_family_properties(physical)
        };
        let family = families
            .iter()
            .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .ok_or_else(|| anyhow!("the device has no compute queue"))? as u32;
        let name = properties.properties.device_name_as_c_str().unwrap_or(c"?");
        let name = name.to_string_lossy().into_owned();
        let sizes_can_be_chosen = features13.subgroup_size_control == vk::TRUE
            && vulkan13.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
        let one = vulkan11.subgroup_size.max(1);
        Ok(Capabilities {
            name,
            family,
            subgroup_sizes: if sizes_can_be_chosen {
                (vulkan13.min_subgroup_size, vulkan13.max_subgroup_size)
            } else {
                (one, one)
            },
            sizes_can_be_chosen,
            features: [
                ("vulkanMemoryModel", features12.vulkan_memory_model),
                ("vulkanMemoryModelDeviceScope", features12.vulkan_memory_model_device_scope),
                ("computeFullSubgroups", features13.compute_full_subgroups),
                ("shaderZeroInitializeWorkgroupMemory", features13.shader_zero_initialize_workgroup_memory),
            ]
            .map(|(name, there)| (name, there == vk::TRUE))
            .to_vec(),
            chains: features12.vulkan_memory_model_availability_visibility_chains == vk::TRUE,
        })
    }

    fn check(&self, chains: bool) -> Result<()> {
        if let Some((feature, _)) = self.features.iter().find(|(_, there)| !there) {
            bail!("{} does not have the feature {feature}", self.name);
        }
        if chains && !self.chains {
            bail!("{} has no availability and visibility chains; ask for --model no-chains", self.name);
        }
        Ok(())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: everything created from the device was destroyed by `Prepared`, which borrows it.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

impl Prepared<'_> {
    fn record(&self, salt: u32) -> Result<()> {
        let (d, c) = (&self.device.device, self.command);
        // SAFETY: the command buffer is not pending; all handles are live.
        unsafe {
            d.begin_command_buffer(c, &vk::CommandBufferBeginInfo::default())?;
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            d.cmd_bind_descriptor_sets(c, vk::PipelineBindPoint::COMPUTE, self.layout, 0, &[self.set], &[]);
            for (index, phase) in self.lowered.phases.iter().enumerate() {
                let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
                let barrier = vk::MemoryBarrier::default();
                let barrier = match phase {
                    Phase::First | Phase::Execution => barrier,
                    Phase::Available => barrier.src_access_mask(vk::AccessFlags::SHADER_WRITE),
                    Phase::Visible => barrier.dst_access_mask(vk::AccessFlags::SHADER_READ),
                    Phase::Memory => barrier
                        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                        .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE),
                };
                if *phase != Phase::First {
                    let none = vk::DependencyFlags::empty();
                    d.cmd_pipeline_barrier(c, compute, compute, none, &[barrier], &[], &[]);
                }
                let constants = u64::from(salt) << 32 | index as u64;
                let stage = vk::ShaderStageFlags::COMPUTE;
                d.cmd_push_constants(c, self.layout, stage, 0, &constants.to_le_bytes());
                d.cmd_dispatch(c, self.lowered.groups, 1, 1);
            }
            let to_host = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ)];
            d.cmd_pipeline_barrier(
                c,
                vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &to_host,
                &[],
                &[],
            );
            d.end_command_buffer(c)?;
        }
        Ok(())
    }

    /// Runs the test once from these initial values (missing ones are 0); `salt` decides where threads pause,
    /// if they do.
    ///
    /// # Errors
    /// The submission fails, the device is lost, or it does not finish within a minute.
    pub fn run(&self, initial: &[i64], salt: u32) -> Result<Final> {
        let d = &self.device.device;
        self.record(salt)?;
        let step = STRIDE as usize / 4;
        for word in 0..self.data.words {
            let location = word / step;
            let value = if word % step == 0 { initial.get(location).copied().unwrap_or(0) as u32 } else { 0 };
            self.data.write(word, value);
        }
        for word in 0..self.results.words {
            self.results.write(word, 0);
        }
        // SAFETY: the fence is unsignalled, the command buffer recorded and not pending.
        unsafe {
            let commands = [self.command];
            let submit = vk::SubmitInfo::default().command_buffers(&commands);
            d.queue_submit(self.device.queue, &[submit], self.fence).context("vkQueueSubmit")?;
            d.wait_for_fences(&[self.fence], true, 60_000_000_000).context("vkWaitForFences")?;
            d.reset_fences(&[self.fence])?;
        }
        Ok(Final {
            results: (0..self.words as usize).map(|w| self.results.read(w)).collect(),
            memory: (0..self.locations).map(|l| self.data.read(l * step)).collect(),
        })
    }
}

impl Buffer {
    fn write(&self, word: usize, value: u32) {
        assert!(word < self.words);
        // SAFETY: the mapping holds `words` words and no submission is pending.
        unsafe { self.mapped.add(word).write_volatile(value) }
    }

    fn read(&self, word: usize) -> u32 {
        assert!(word < self.words);
        // SAFETY: as for write.
        unsafe { self.mapped.add(word).read_volatile() }
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        let d = &self.device.device;
        // SAFETY: the queue is idle after the wait, and nothing else holds these handles.
        unsafe {
            let _ = d.device_wait_idle();
            d.destroy_fence(self.fence, None);
            d.destroy_command_pool(self.commands, None);
            d.destroy_pipeline(self.pipeline, None);
            d.destroy_shader_module(self.module, None);
            d.destroy_pipeline_layout(self.layout, None);
            d.destroy_descriptor_pool(self.pool, None);
            d.destroy_descriptor_set_layout(self.set_layout, None);
            for &view in &self.views {
                d.destroy_buffer_view(view, None);
            }
            for buffer in [&self.data, &self.results] {
                d.destroy_buffer(buffer.buffer, None);
                d.free_memory(buffer.memory, None);
            }
        }
    }
}
