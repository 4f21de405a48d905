//! What the programs of the table have in common: a device, buffers in mapped memory, and commands.

use crate::common::Vulkan;
use ash::vk;
use std::cell::Cell;

pub const ALL: u64 = vk::WHOLE_SIZE;
/// Two pages: reads are seen by the page.
pub const PAGES: u64 = 8192;

/// Memory that only the device reaches.
pub const DEVICE: u32 = 0;
/// The driver's other memory types, by what a program looks for.
pub const COHERENT: u32 = 1;
pub const CACHED: u32 = 3;

const SHADER: &[u8] = include_bytes!("count.spv");

/// A buffer that fills an allocation of its own, mapped.
#[derive(Clone, Copy)]
pub struct Buffer {
    pub buffer: vk::Buffer,
    pub memory: vk::DeviceMemory,
    pub mapped: *mut u8,
    pub size: u64,
}

impl Buffer {
    pub fn put(&self, offset: u64, bytes: &[u8]) {
        assert!(offset + bytes.len() as u64 <= self.size);
        // SAFETY: inside the mapping, which lives as long as the memory. The device may write it meanwhile:
        // some programs of the table are wrong in just that way.
        unsafe { std::ptr::copy(bytes.as_ptr(), self.mapped.add(offset as usize), bytes.len()) };
    }

    /// Fills it with a word.
    pub fn put_all(&self, word: u32) {
        self.put(0, &word.to_le_bytes().repeat(self.size as usize / 4));
    }

    /// The word at an offset.
    pub fn get(&self, offset: u64) -> u32 {
        assert!(offset + 4 <= self.size);
        // SAFETY: as for `put`.
        unsafe { self.mapped.add(offset as usize).cast::<u32>().read_volatile() }
    }

    /// The sum of its words: a read of all of it.
    pub fn sum(&self) -> u32 {
        (0..self.size).step_by(4).fold(0, |sum, at| sum.wrapping_add(self.get(at)))
    }

    fn range(&self, offset: u64, size: u64) -> [vk::MappedMemoryRange<'static>; 1] {
        [vk::MappedMemoryRange::default().memory(self.memory).offset(offset).size(size)]
    }
}

/// A device, and what the programs do with it. Valid usage of Vulkan is what the table is about: each program
/// says for itself.
pub struct Program {
    pub v: Vulkan,
    pub named: ash::ext::debug_utils::Device,
    /// Of the last [`Program::count`].
    set: Cell<vk::DescriptorSet>,
}

impl Program {
    pub fn new() -> Program {
        let v = Vulkan::new();
        let named = ash::ext::debug_utils::Device::new(&v.instance, &v.device);
        Program { v, named, set: Cell::default() }
    }

    /// A buffer of a name.
    pub fn buffer(&self, name: &str, size: u64, memory_type: u32) -> Buffer {
        let (buffer, memory, mapped) = self.v.buffer(size, memory_type);
        self.call(buffer, name);
        Buffer { buffer, memory, mapped, size }
    }

    fn call(&self, buffer: vk::Buffer, name: &str) {
        let text = std::ffi::CString::new(name).unwrap();
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(buffer).object_name(&text);
        // SAFETY: live handles.
        unsafe { self.named.set_debug_utils_object_name(&info).unwrap() };
    }

    /// The same that is not mapped.
    pub fn unmapped(&self, name: &str, size: u64, memory_type: u32) -> Buffer {
        let device = &self.v.device;
        let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let memory = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(memory_type);
        // SAFETY: live handles, complete structures.
        unsafe {
            let buffer = device.create_buffer(&info, None).unwrap();
            let memory = device.allocate_memory(&memory, None).unwrap();
            device.bind_buffer_memory(buffer, memory, 0).unwrap();
            self.call(buffer, name);
            Buffer { buffer, memory, mapped: std::ptr::null_mut(), size }
        }
    }

    /// Maps bytes of memory.
    pub fn map(&self, b: &Buffer, offset: u64, size: u64) {
        // SAFETY: live handles.
        unsafe { self.v.device.map_memory(b.memory, offset, size, vk::MemoryMapFlags::empty()).unwrap() };
    }

    pub fn flush(&self, b: &Buffer, offset: u64, size: u64) {
        // SAFETY: the memory is mapped.
        unsafe { self.v.device.flush_mapped_memory_ranges(&b.range(offset, size)).unwrap() };
    }

    pub fn invalidate(&self, b: &Buffer, offset: u64, size: u64) {
        // SAFETY: the memory is mapped.
        unsafe { self.v.device.invalidate_mapped_memory_ranges(&b.range(offset, size)).unwrap() };
    }

    pub fn fill(&self, c: vk::CommandBuffer, b: &Buffer, word: u32) {
        // SAFETY: live handles.
        unsafe { self.v.device.cmd_fill_buffer(c, b.buffer, 0, vk::WHOLE_SIZE, word) };
    }

    /// Copies all of `from`, or as much as fits.
    pub fn copy(&self, c: vk::CommandBuffer, from: &Buffer, to: &Buffer) {
        let size = from.size.min(to.size);
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size }];
        // SAFETY: live handles.
        unsafe { self.v.device.cmd_copy_buffer(c, from.buffer, to.buffer, &region) };
    }

    pub fn barrier(
        &self,
        c: vk::CommandBuffer,
        (from, wrote): (vk::PipelineStageFlags, vk::AccessFlags),
        (to, reads): (vk::PipelineStageFlags, vk::AccessFlags),
    ) {
        let barrier = [vk::MemoryBarrier::default().src_access_mask(wrote).dst_access_mask(reads)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: live handles.
        unsafe { self.v.device.cmd_pipeline_barrier(c, from, to, none, &barrier, &[], &[]) };
    }

    /// What transfers and shaders wrote, the host may read after the fence.
    pub fn to_host(&self, c: vk::CommandBuffer) {
        let from = vk::PipelineStageFlags::TRANSFER | vk::PipelineStageFlags::COMPUTE_SHADER;
        let wrote = vk::AccessFlags::TRANSFER_WRITE | vk::AccessFlags::SHADER_WRITE;
        self.barrier(c, (from, wrote), (vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ));
    }

    pub fn record(&self, body: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        self.v.record(body)
    }

    pub fn submit(&self, commands: vk::CommandBuffer) -> vk::Fence {
        let commands = [commands];
        let info = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: live handles.
        unsafe {
            let fence = self.v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            self.v.device.queue_submit(self.v.queues[0], &info, fence).unwrap();
            fence
        }
    }

    pub fn wait(&self, fence: vk::Fence) {
        // SAFETY: live handles.
        unsafe {
            self.v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            self.v.device.destroy_fence(fence, None);
        }
    }

    /// Submits and waits.
    pub fn run(&self, commands: vk::CommandBuffer) {
        self.wait(self.submit(commands));
    }

    /// Puts a buffer into the set of the last [`Program::count`].
    pub fn put_in_set(&self, binding: u32, b: &Buffer) {
        let range = [vk::DescriptorBufferInfo::default().buffer(b.buffer).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.set.get())
            .dst_binding(binding)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&range);
        // SAFETY: live handles.
        unsafe { self.v.device.update_descriptor_sets(&[write], &[]) };
    }

    /// Commands that add up 64 words of `steps` in `counter`.
    pub fn count(&self, counter: &Buffer, steps: &Buffer) -> vk::CommandBuffer {
        self.count_by(counter, steps, None)
    }

    /// The same with the size of the dispatch in a buffer.
    pub fn count_by(&self, counter: &Buffer, steps: &Buffer, indirect: Option<&Buffer>) -> vk::CommandBuffer {
        self.count_behind(counter, steps, indirect, |_| ())
    }

    /// The same behind other commands.
    pub fn count_behind(
        &self,
        counter: &Buffer,
        steps: &Buffer,
        indirect: Option<&Buffer>,
        before: impl FnOnce(vk::CommandBuffer),
    ) -> vk::CommandBuffer {
        let device = &self.v.device;
        // SAFETY: live handles, complete structures; what is created here ends with the process.
        unsafe {
            let binding = |k| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(k)
                    .descriptor_count(1)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            };
            let bindings = [binding(0), binding(1)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layouts = [device.create_descriptor_set_layout(&info, None).unwrap()];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            let layout = device.create_pipeline_layout(&info, None).unwrap();
            let words = ash::util::read_spv(&mut std::io::Cursor::new(SHADER)).unwrap();
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(device.create_shader_module(&info, None).unwrap())
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage)];
            let pipeline =
                device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
            let sizes =
                [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 2 }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&info).unwrap()[0];
            self.set.set(set);
            self.put_in_set(0, counter);
            self.put_in_set(1, steps);
            self.record(|c| {
                before(c);
                device.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipeline);
                device.cmd_bind_descriptor_sets(c, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
                match indirect {
                    Some(sizes) => device.cmd_dispatch_indirect(c, sizes.buffer, 0),
                    None => device.cmd_dispatch(c, 1, 1, 1),
                }
                self.to_host(c);
            })
        }
    }
}
