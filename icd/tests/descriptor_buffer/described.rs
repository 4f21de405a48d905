//! A device with descriptor buffers, and what its tests share.

use crate::common::{Vulkan, alone};
use ash::ext::descriptor_buffer::Device as Functions;
use ash::vk;
use vk::{AccessFlags2 as Access, DescriptorType as T, PipelineStageFlags2 as Stage};

pub const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;
pub const POINT: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
/// Bytes of a descriptor.
pub const SIZE: u64 = 32;

/// A buffer with an address, and its mapped memory.
pub struct Bytes {
    pub buffer: vk::Buffer,
    pub address: u64,
    pub memory: vk::DeviceMemory,
    pub mapped: *mut u8,
}

/// A device with descriptor buffers.
pub struct Described {
    pub v: Vulkan,
    pub functions: Functions,
}

impl std::ops::Deref for Described {
    type Target = Vulkan;

    fn deref(&self) -> &Vulkan {
        &self.v
    }
}

impl Described {
    pub fn new() -> Described {
        let mut described = vk::PhysicalDeviceDescriptorBufferFeaturesEXT::default()
            .descriptor_buffer(true)
            .descriptor_buffer_capture_replay(true)
            .descriptor_buffer_push_descriptors(true);
        let mut null = vk::PhysicalDeviceRobustness2FeaturesEXT::default().null_descriptor(true);
        let mut mutable =
            vk::PhysicalDeviceMutableDescriptorTypeFeaturesEXT::default().mutable_descriptor_type(true);
        let mut addresses = vk::PhysicalDeviceVulkan12Features::default()
            .buffer_device_address(true)
            .buffer_device_address_capture_replay(true)
            .descriptor_binding_variable_descriptor_count(true)
            .timeline_semaphore(true);
        let mut two =
            vk::PhysicalDeviceVulkan13Features::default().synchronization2(true).inline_uniform_block(true);
        let mut objects = vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
        mutable.p_next = (&raw mut objects).cast();
        null.p_next = (&raw mut mutable).cast();
        described.p_next = (&raw mut null).cast();
        addresses.p_next = (&raw mut described).cast();
        two.p_next = (&raw mut addresses).cast();
        let names = [
            ash::ext::descriptor_buffer::NAME,
            ash::khr::maintenance6::NAME,
            ash::khr::push_descriptor::NAME,
            ash::ext::robustness2::NAME,
            ash::ext::mutable_descriptor_type::NAME,
            ash::ext::shader_object::NAME,
        ];
        let v = Vulkan::with(&names, &mut two);
        let functions = Functions::new(&v.instance, &v.device);
        Described { v, functions }
    }

    /// A buffer for everything that these tests do, in memory of this type.
    pub fn bytes(&self, size: u64, memory_type: u32) -> Bytes {
        use vk::BufferUsageFlags as U;
        let usage = U::TRANSFER_SRC
            | U::TRANSFER_DST
            | U::UNIFORM_BUFFER
            | U::STORAGE_BUFFER
            | U::UNIFORM_TEXEL_BUFFER
            | U::STORAGE_TEXEL_BUFFER
            | U::INDIRECT_BUFFER
            | U::SHADER_DEVICE_ADDRESS
            | U::RESOURCE_DESCRIPTOR_BUFFER_EXT
            | U::SAMPLER_DESCRIPTOR_BUFFER_EXT;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: valid usage.
        unsafe {
            let buffer = self.device.create_buffer(&info, None).unwrap();
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let mut flags =
                vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(memory_type)
                .push_next(&mut flags);
            let memory = self.device.allocate_memory(&info, None).unwrap();
            self.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            let mapped = match memory_type {
                0 => std::ptr::null_mut(),
                _ => self
                    .device
                    .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                    .unwrap()
                    .cast(),
            };
            let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
            let address = self.device.get_buffer_device_address(&info);
            Bytes { buffer, address, memory, mapped }
        }
    }

    /// Writes a descriptor.
    pub fn put(&self, to: *mut u8, ty: T, data: vk::DescriptorDataEXT<'_>) {
        let info = vk::DescriptorGetInfoEXT { ty, data, ..Default::default() };
        // SAFETY: valid usage; there is room for a descriptor.
        unsafe { self.functions.get_descriptor(&info, std::slice::from_raw_parts_mut(to, SIZE as usize)) };
    }

    pub fn put_buffer(&self, to: *mut u8, ty: T, (address, range): (u64, u64), format: vk::Format) {
        let info = vk::DescriptorAddressInfoEXT::default().address(address).range(range).format(format);
        let data = match ty {
            T::UNIFORM_BUFFER => vk::DescriptorDataEXT { p_uniform_buffer: &raw const info },
            T::STORAGE_BUFFER => vk::DescriptorDataEXT { p_storage_buffer: &raw const info },
            T::UNIFORM_TEXEL_BUFFER => vk::DescriptorDataEXT { p_uniform_texel_buffer: &raw const info },
            _ => vk::DescriptorDataEXT { p_storage_texel_buffer: &raw const info },
        };
        self.put(to, ty, data);
    }

    pub fn put_image(&self, to: *mut u8, ty: T, view: vk::ImageView, sampler: vk::Sampler) {
        let layout = vk::ImageLayout::GENERAL;
        let info = vk::DescriptorImageInfo { sampler, image_view: view, image_layout: layout };
        let data = match ty {
            T::COMBINED_IMAGE_SAMPLER => vk::DescriptorDataEXT { p_combined_image_sampler: &raw const info },
            T::SAMPLED_IMAGE => vk::DescriptorDataEXT { p_sampled_image: &raw const info },
            _ => vk::DescriptorDataEXT { p_storage_image: &raw const info },
        };
        self.put(to, ty, data);
    }

    pub fn put_sampler(&self, to: *mut u8, sampler: vk::Sampler) {
        self.put(to, T::SAMPLER, vk::DescriptorDataEXT { p_sampler: &raw const sampler });
    }

    pub fn set_layout(
        &self,
        bindings: &[vk::DescriptorSetLayoutBinding<'_>],
        more: vk::DescriptorSetLayoutCreateFlags,
    ) -> vk::DescriptorSetLayout {
        let flags = vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT | more;
        let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(bindings);
        // SAFETY: valid usage.
        unsafe { self.device.create_descriptor_set_layout(&info, None).unwrap() }
    }

    pub fn pipeline(
        &self,
        code: &[u8],
        layouts: &[vk::DescriptorSetLayout],
    ) -> (vk::PipelineLayout, vk::Pipeline) {
        let push = [vk::PushConstantRange::default().size(16).stage_flags(COMPUTE)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(layouts).push_constant_ranges(&push);
        let words = ash::util::read_spv(&mut std::io::Cursor::new(code)).unwrap();
        // SAFETY: valid usage.
        unsafe {
            let layout = self.device.create_pipeline_layout(&info, None).unwrap();
            let module = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = self.device.create_shader_module(&module, None).unwrap();
            let stage =
                vk::PipelineShaderStageCreateInfo::default().stage(COMPUTE).module(module).name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default()
                .flags(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT)
                .stage(stage)
                .layout(layout)];
            let made = self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            (layout, made.unwrap()[0])
        }
    }

    pub fn sampler(&self) -> vk::Sampler {
        // SAFETY: valid usage.
        unsafe { self.device.create_sampler(&vk::SamplerCreateInfo::default(), None).unwrap() }
    }

    pub fn bind(&self, c: vk::CommandBuffer, address: u64) {
        let usage = vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT
            | vk::BufferUsageFlags::SAMPLER_DESCRIPTOR_BUFFER_EXT;
        let info = [vk::DescriptorBufferBindingInfoEXT::default().address(address).usage(usage)];
        // SAFETY: valid usage.
        unsafe { self.functions.cmd_bind_descriptor_buffers(c, &info) };
    }

    pub fn barrier(&self, c: vk::CommandBuffer, from: (Stage, Access), to: (Stage, Access)) {
        let barrier = [vk::MemoryBarrier2::default()
            .src_stage_mask(from.0)
            .src_access_mask(from.1)
            .dst_stage_mask(to.0)
            .dst_access_mask(to.1)];
        let info = vk::DependencyInfo::default().memory_barriers(&barrier);
        // SAFETY: valid usage.
        unsafe { self.device.cmd_pipeline_barrier2(c, &info) };
    }
}

pub fn binding(number: u32, kind: T, count: u32) -> vk::DescriptorSetLayoutBinding<'static> {
    vk::DescriptorSetLayoutBinding::default()
        .binding(number)
        .descriptor_type(kind)
        .descriptor_count(count)
        .stage_flags(COMPUTE)
}

pub const WROTE: (Stage, Access) = (Stage::COMPUTE_SHADER, Access::SHADER_STORAGE_WRITE);
pub const TO_HOST: (Stage, Access) = (Stage::HOST, Access::HOST_READ);
pub const COPIED: (Stage, Access) = (Stage::COPY, Access::TRANSFER_WRITE);
pub const DESCRIPTORS: (Stage, Access) = (Stage::COMPUTE_SHADER, Access::DESCRIPTOR_BUFFER_READ_EXT);

/// In both modes, in a process of its own, `body` without a finding.
pub fn clean(name: &str, body: fn()) {
    for mode in ["run", "check"] {
        let Some(text) = alone(name, &[("PELLUCID_MODE", mode)]) else { return body() };
        assert!(!text.contains("error[") && !text.contains("misuse"), "{mode}: {text}");
    }
}

/// A layout of one storage buffer and the pipeline of `spin.comp` with it.
pub fn spin(d: &Described) -> (vk::DescriptorSetLayout, vk::PipelineLayout, vk::Pipeline) {
    let set = d.set_layout(&[binding(0, T::STORAGE_BUFFER, 1)], Default::default());
    let (layout, pipeline) = d.pipeline(include_bytes!("../shaders/spin.spv"), &[set]);
    (set, layout, pipeline)
}

/// Records a dispatch that adds 0 + 1 + 2 to 32 words.
pub fn dispatch(d: &Described, c: vk::CommandBuffer, layout: vk::PipelineLayout, pipeline: vk::Pipeline) {
    // SAFETY: valid usage.
    unsafe {
        d.device.cmd_bind_pipeline(c, POINT, pipeline);
        d.device.cmd_push_constants(c, layout, COMPUTE, 0, &3u32.to_le_bytes());
        d.device.cmd_dispatch(c, 1, 1, 1);
    }
}
