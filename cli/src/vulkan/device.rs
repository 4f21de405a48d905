//! Runs lowered litmus tests on the driver through its Vulkan entry points.

use super::layout::STRIDE;
use super::lower::Lowered;
use super::phases::Phase;
use crate::host::context::{Bound, Buffer, Commands, Context, Physical, load};
use anyhow::{Result, bail};
use ash::vk;
use std::path::Path;

/// A device of a driver, loaded without a loader.
pub struct Device {
    /// `VkPhysicalDeviceProperties::deviceName`.
    pub name: String,
    /// `minSubgroupSize` and `maxSubgroupSize`; both the one size there is where it cannot be chosen.
    pub subgroup_sizes: (u32, u32),
    sizes_can_be_chosen: bool,
    context: Context,
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
    bound: Bound,
    commands: Commands,
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
        let physical = Physical::first(&load(library)?, c"pellucid litmus")?;
        let seen = Capabilities::of(&physical);
        seen.check(chains)?;
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default()
            .vulkan_memory_model(true)
            .vulkan_memory_model_device_scope(true)
            .vulkan_memory_model_availability_visibility_chains(chains);
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default()
            .subgroup_size_control(seen.sizes_can_be_chosen)
            .compute_full_subgroups(true)
            .shader_zero_initialize_workgroup_memory(true);
        let info = vk::DeviceCreateInfo::default().push_next(&mut features12).push_next(&mut features13);
        Ok(Device {
            name: seen.name,
            subgroup_sizes: seen.subgroup_sizes,
            sizes_can_be_chosen: seen.sizes_can_be_chosen,
            context: physical.create(info)?,
        })
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
        let d = &self.context.device;
        let words = (lowered.words_per_thread() * threads).max(1) as u32;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER;
        let data = Buffer::new(&self.context, locations.max(1) * STRIDE as usize, usage)?;
        let results = Buffer::new(&self.context, 4 * words as usize, usage)?;
        let kind = |texel| {
            if texel { vk::DescriptorType::STORAGE_TEXEL_BUFFER } else { vk::DescriptorType::STORAGE_BUFFER }
        };
        let mut bindings = vec![(0, kind(false))];
        bindings.extend(lowered.resources.iter().map(|r| (r.binding, kind(r.texel))));
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo {
            required_subgroup_size: lowered.subgroup_size,
            ..Default::default()
        };
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS)
            .name(c"main");
        if self.sizes_can_be_chosen {
            stage = stage.push_next(&mut size);
        }
        let bound = Bound::new(&self.context, &lowered.words, stage, &[bindings], 8)?;
        let set = bound.sets[0];
        let mut views = Vec::new();
        // SAFETY: every handle is created here from this device, and every structure outlives its call.
        unsafe {
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
        }
        let commands = Commands::new(&self.context)?;
        Ok(Prepared { device: self, lowered, locations, words, data, results, views, bound, commands })
    }
}

/// What a physical device has of what litmus tests need.
struct Capabilities {
    name: String,
    subgroup_sizes: (u32, u32),
    sizes_can_be_chosen: bool,
    features: Vec<(&'static str, bool)>,
    chains: bool,
}

impl Capabilities {
    fn of(physical: &Physical) -> Capabilities {
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
        unsafe {
            physical.instance.get_physical_device_properties2(physical.device, &mut properties);
            physical.instance.get_physical_device_features2(physical.device, &mut features);
        }
        let name = properties.properties.device_name_as_c_str().unwrap_or(c"?");
        let name = name.to_string_lossy().into_owned();
        let sizes_can_be_chosen = features13.subgroup_size_control == vk::TRUE
            && vulkan13.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
        let one = vulkan11.subgroup_size.max(1);
        Capabilities {
            name,
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
        }
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

impl Prepared<'_> {
    fn record(&self, salt: u32) -> Result<()> {
        let (d, c) = (&self.device.context.device, self.commands.buffer);
        // SAFETY: the command buffer is not pending; all handles are live.
        unsafe {
            d.begin_command_buffer(c, &vk::CommandBufferBeginInfo::default())?;
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, self.bound.pipeline);
            let (layout, sets) = (self.bound.layout, &self.bound.sets);
            d.cmd_bind_descriptor_sets(c, vk::PipelineBindPoint::COMPUTE, layout, 0, sets, &[]);
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
                d.cmd_push_constants(c, layout, stage, 0, &constants.to_le_bytes());
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
        self.record(salt)?;
        let step = STRIDE as usize / 4;
        for word in 0..self.data.size / 4 {
            let location = word / step;
            let value = if word % step == 0 { initial.get(location).copied().unwrap_or(0) as u32 } else { 0 };
            write(&self.data, word, value);
        }
        for word in 0..self.words as usize {
            write(&self.results, word, 0);
        }
        self.commands.run(&self.device.context, 60_000_000_000)?;
        Ok(Final {
            results: (0..self.words as usize).map(|w| read(&self.results, w)).collect(),
            memory: (0..self.locations).map(|l| read(&self.data, l * step)).collect(),
        })
    }
}

fn write(buffer: &Buffer, word: usize, value: u32) {
    assert!(word < buffer.size / 4);
    // SAFETY: the mapping holds `size` bytes from the start of a page and no submission is pending.
    unsafe { buffer.host.cast::<u32>().add(word).write_volatile(value) }
}

fn read(buffer: &Buffer, word: usize) -> u32 {
    assert!(word < buffer.size / 4);
    // SAFETY: as for write.
    unsafe { buffer.host.cast::<u32>().add(word).read_volatile() }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        let d = &self.device.context.device;
        // SAFETY: the queue is idle after the wait, and nothing else holds these handles.
        unsafe {
            let _ = d.device_wait_idle();
            self.commands.destroy(d);
            self.bound.destroy(d);
            for &view in &self.views {
                d.destroy_buffer_view(view, None);
            }
            self.data.destroy(d);
            self.results.destroy(d);
        }
    }
}
