//! SPIR-V binaries through the driver: front end, code generator, and a run of one workgroup in run mode and
//! in check mode, with four storage buffers and little patience.
#![no_main]

use ash::vk;
use libfuzzer_sys::fuzz_target;
use pellucid_fuzz::device;
use pellucid_test_host::{COHERENT, Vulkan};
use std::cell::RefCell;
use std::mem::ManuallyDrop;

const BUFFERS: u32 = 4;
const BYTES: u64 = 256;

/// What a shader runs with.
struct Host {
    vulkan: ManuallyDrop<Vulkan>,
    mode: &'static str,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    buffers: Vec<vk::Buffer>,
}

impl Host {
    fn new(mode: &'static str) -> Host {
        let vulkan = device(mode);
        let d = &vulkan.device;
        let bindings: Vec<_> = (0..BUFFERS)
            .map(|binding| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        // SAFETY: valid usage.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layouts = [d.create_descriptor_set_layout(&info, None).expect("a layout")];
            let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(64)];
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = d.create_pipeline_layout(&info, None).expect("a layout");
            let sizes = [vk::DescriptorPoolSize::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(BUFFERS)];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = d.create_descriptor_pool(&info, None).expect("a pool");
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = d.allocate_descriptor_sets(&info).expect("a set")[0];
            let kind = vulkan.memory_type(!0, COHERENT).expect("memory");
            let buffers: Vec<_> =
                (0..BUFFERS).map(|_| vulkan.buffer(BYTES, kind).expect("a buffer").0).collect();
            for (binding, buffer) in buffers.iter().enumerate() {
                let info = [vk::DescriptorBufferInfo::default().buffer(*buffer).range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding as u32)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&info);
                d.update_descriptor_sets(&[write], &[]);
            }
            Host { mode, layout, set, buffers, vulkan }
        }
    }

    /// False where the device is lost.
    fn run(&self, words: &[u32]) -> bool {
        let Ok(pipeline) = self.vulkan.pipeline(words, c"main", self.layout) else { return true };
        let d = &self.vulkan.device;
        // SAFETY: valid usage, but for what the shader does.
        unsafe {
            let commands = self.vulkan.record(|c| {
                for buffer in &self.buffers {
                    d.cmd_fill_buffer(c, *buffer, 0, BYTES, 3);
                }
                let all = vk::PipelineStageFlags::ALL_COMMANDS;
                let barrier = [vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                    .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
                d.cmd_pipeline_barrier(c, all, all, vk::DependencyFlags::empty(), &barrier, &[], &[]);
                let point = vk::PipelineBindPoint::COMPUTE;
                d.cmd_bind_pipeline(c, point, pipeline);
                d.cmd_bind_descriptor_sets(c, point, self.layout, 0, &[self.set], &[]);
                d.cmd_push_constants(c, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &[1; 64]);
                d.cmd_dispatch(c, 1, 1, 1);
            });
            let Ok(commands) = commands else { return false };
            let ended = self.vulkan.run(commands).is_ok();
            if ended {
                d.free_command_buffers(self.vulkan.pool, &[commands]);
                d.destroy_pipeline(pipeline, None);
            }
            ended
        }
    }
}

thread_local! {
    static HOSTS: RefCell<[Host; 2]> = RefCell::new([Host::new("run"), Host::new("check")]);
}

fuzz_target!(|bytes: &[u8]| {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    HOSTS.with_borrow_mut(|hosts| {
        for host in hosts {
            if !host.run(&words) {
                // SAFETY: the device is lost, and nothing of it is used again.
                unsafe { ManuallyDrop::drop(&mut host.vulkan) };
                *host = Host::new(host.mode);
            }
        }
    });
});
