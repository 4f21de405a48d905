//! Random sequences of Vulkan calls, in run mode and in check mode: two bytes choose a call and the objects
//! that it takes, which may have been destroyed, or be none.
#![no_main]

use ash::vk;
use libfuzzer_sys::fuzz_target;
use pellucid_fuzz::device;
use pellucid_test_host::Vulkan;
use std::mem::ManuallyDrop;

const SHADER: &[u8] = include_bytes!("../../cli/tests/compute/saxpy.spv");

/// Handles that were made; destroyed ones stay.
#[derive(Default)]
struct Objects {
    buffers: Vec<vk::Buffer>,
    memories: Vec<vk::DeviceMemory>,
    fences: Vec<vk::Fence>,
    semaphores: Vec<vk::Semaphore>,
    events: Vec<vk::Event>,
    pools: Vec<vk::QueryPool>,
    layouts: Vec<vk::DescriptorSetLayout>,
    descriptor_pools: Vec<vk::DescriptorPool>,
    sets: Vec<vk::DescriptorSet>,
    pipeline_layouts: Vec<vk::PipelineLayout>,
    pipelines: Vec<vk::Pipeline>,
    views: Vec<vk::BufferView>,
}

fn pick<T: vk::Handle + Copy>(from: &[T], by: u8) -> T {
    from.get(by as usize % (from.len() + 1)).copied().unwrap_or(T::from_raw(0))
}

/// Makes one call; an error that is not a lost device is an answer as any other.
///
/// # Safety
/// None of the calls is checked for valid usage: a driver has to take that for handles that are not
/// dispatchable.
unsafe fn call(
    v: &Vulkan,
    o: &mut Objects,
    c: vk::CommandBuffer,
    recording: &mut bool,
    op: u8,
    by: u8,
) -> bool {
    let d = &v.device;
    let size = [1, 4, 64, 4096, 1 << 20, u64::MAX / 2][by as usize % 6];
    // SAFETY: what the caller promises.
    unsafe {
        match op % 36 {
            0 => {
                let usage = vk::BufferUsageFlags::from_raw(0x3ff & !(0x40 | 0x80));
                let info = vk::BufferCreateInfo::default().size(size).usage(usage);
                o.buffers.extend(d.create_buffer(&info, None));
            }
            1 => {
                let info = vk::MemoryAllocateInfo::default().allocation_size(size.min(1 << 20));
                o.memories.extend(d.allocate_memory(&info.memory_type_index(u32::from(by) % 5), None));
            }
            2 => drop(d.bind_buffer_memory(
                pick(&o.buffers, by),
                pick(&o.memories, by / 3),
                u64::from(by) * 16,
            )),
            3 => drop(d.map_memory(pick(&o.memories, by), 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())),
            4 => d.unmap_memory(pick(&o.memories, by)),
            5 => d.destroy_buffer(pick(&o.buffers, by), None),
            6 => d.free_memory(pick(&o.memories, by), None),
            7 => o.fences.extend(d.create_fence(&vk::FenceCreateInfo::default(), None)),
            8 => d.destroy_fence(pick(&o.fences, by), None),
            9 => o.semaphores.extend(d.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)),
            10 => d.destroy_semaphore(pick(&o.semaphores, by), None),
            11 => o.events.extend(d.create_event(&vk::EventCreateInfo::default(), None)),
            12 => d.destroy_event(pick(&o.events, by), None),
            13 => {
                let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP);
                o.pools.extend(d.create_query_pool(&info.query_count(u32::from(by) + 1), None));
            }
            14 => d.destroy_query_pool(pick(&o.pools, by), None),
            15 => {
                let kind = [vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::STORAGE_TEXEL_BUFFER];
                let bindings: Vec<_> = (0..3)
                    .map(|binding| {
                        vk::DescriptorSetLayoutBinding::default()
                            .binding(binding)
                            .descriptor_type(kind[usize::from(by & 1)])
                            .descriptor_count(u32::from(by) % 3)
                            .stage_flags(vk::ShaderStageFlags::COMPUTE)
                    })
                    .collect();
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
                o.layouts.extend(d.create_descriptor_set_layout(&info, None));
            }
            16 => d.destroy_descriptor_set_layout(pick(&o.layouts, by), None),
            17 => {
                let sizes = [vk::DescriptorPoolSize::default()
                    .ty(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(u32::from(by))];
                let info = vk::DescriptorPoolCreateInfo::default().max_sets(4).pool_sizes(&sizes);
                o.descriptor_pools.extend(d.create_descriptor_pool(&info, None));
            }
            18 => d.destroy_descriptor_pool(pick(&o.descriptor_pools, by), None),
            19 => {
                let layouts = [pick(&o.layouts, by)];
                let pool = pick(&o.descriptor_pools, by / 2);
                let info =
                    vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
                o.sets.extend(d.allocate_descriptor_sets(&info).unwrap_or_default());
            }
            20 => {
                let info = [vk::DescriptorBufferInfo::default()
                    .buffer(pick(&o.buffers, by))
                    .offset(u64::from(by / 64))
                    .range(if by & 1 == 0 { vk::WHOLE_SIZE } else { u64::from(by) })];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(pick(&o.sets, by / 2))
                    .dst_binding(u32::from(by) % 4)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&info);
                d.update_descriptor_sets(&[write], &[]);
            }
            21 => {
                let layouts = [pick(&o.layouts, by)];
                let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
                o.pipeline_layouts.extend(d.create_pipeline_layout(&info, None));
            }
            22 => d.destroy_pipeline_layout(pick(&o.pipeline_layouts, by), None),
            23 => {
                let words: Vec<u32> =
                    SHADER.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
                o.pipelines.extend(v.pipeline(&words, c"main", pick(&o.pipeline_layouts, by)));
            }
            24 => d.destroy_pipeline(pick(&o.pipelines, by), None),
            25 => {
                let info = vk::BufferViewCreateInfo::default().buffer(pick(&o.buffers, by));
                let info = info.format(vk::Format::R32_UINT).range(size);
                o.views.extend(d.create_buffer_view(&info, None));
            }
            26 => d.destroy_buffer_view(pick(&o.views, by), None),
            27 if *recording => {
                *recording = false;
                let done = d.end_command_buffer(c).and_then(|()| v.run(c));
                let _ = d.reset_command_buffer(c, vk::CommandBufferResetFlags::empty());
                return done != Err(vk::Result::ERROR_DEVICE_LOST);
            }
            27 => drop(d.queue_wait_idle(v.queues[0])),
            _ if !*recording => {
                *recording = d.begin_command_buffer(c, &vk::CommandBufferBeginInfo::default()).is_ok();
            }
            28 => d.cmd_fill_buffer(c, pick(&o.buffers, by), u64::from(by & 0xc), size, 7),
            29 => {
                let region = [vk::BufferCopy::default().size(size).dst_offset(u64::from(by))];
                d.cmd_copy_buffer(c, pick(&o.buffers, by), pick(&o.buffers, by / 5), &region);
            }
            30 => d.cmd_update_buffer(c, pick(&o.buffers, by), u64::from(by & 0xfc), &[by; 64]),
            31 => d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pick(&o.pipelines, by)),
            32 => {
                let layout = pick(&o.pipeline_layouts, by);
                let sets = [pick(&o.sets, by / 2)];
                let point = vk::PipelineBindPoint::COMPUTE;
                d.cmd_bind_descriptor_sets(c, point, layout, u32::from(by) % 3, &sets, &[]);
            }
            33 if by & 1 == 0 => d.cmd_dispatch(c, u32::from(by) % 5, 1, 1),
            33 => d.cmd_dispatch_indirect(c, pick(&o.buffers, by), u64::from(by & 0xfc)),
            34 => {
                let all = vk::PipelineStageFlags::ALL_COMMANDS;
                match by % 3 {
                    0 => d.cmd_set_event(c, pick(&o.events, by), all),
                    1 => d.cmd_reset_event(c, pick(&o.events, by), all),
                    _ => d.cmd_pipeline_barrier(c, all, all, vk::DependencyFlags::empty(), &[], &[], &[]),
                }
            }
            _ => match by % 3 {
                0 => d.cmd_reset_query_pool(c, pick(&o.pools, by), 0, u32::from(by)),
                1 => d.cmd_write_timestamp(
                    c,
                    vk::PipelineStageFlags::ALL_COMMANDS,
                    pick(&o.pools, by),
                    u32::from(by),
                ),
                _ => {
                    let flags = vk::QueryResultFlags::TYPE_64;
                    let (pool, to) = (pick(&o.pools, by), pick(&o.buffers, by / 3));
                    d.cmd_copy_query_pool_results(c, pool, 0, u32::from(by), to, 0, 8, flags);
                }
            },
        }
    }
    true
}

fuzz_target!(|bytes: &[u8]| {
    let Some((mode, bytes)) = bytes.split_first() else { return };
    let mut v = device(if mode & 1 == 0 { "run" } else { "check" });
    let Ok(c) = v.commands(vk::CommandBufferLevel::PRIMARY) else { return };
    let (mut objects, mut recording) = (Objects::default(), false);
    for pair in bytes.chunks_exact(2).take(200) {
        // SAFETY: what is not valid usage is what is tested.
        if !unsafe { call(&v, &mut objects, c, &mut recording, pair[0], pair[1]) } {
            break;
        }
    }
    // What is left would be there as long as the process, which has so many files and mappings only.
    // SAFETY: handles that were made; nothing of the device is used again.
    unsafe {
        let _ = v.device.device_wait_idle();
        objects.descriptor_pools.iter().for_each(|pool| v.device.destroy_descriptor_pool(*pool, None));
        objects.views.iter().for_each(|view| v.device.destroy_buffer_view(*view, None));
        objects.buffers.iter().for_each(|buffer| v.device.destroy_buffer(*buffer, None));
        objects.memories.iter().for_each(|memory| v.device.free_memory(*memory, None));
        ManuallyDrop::drop(&mut v);
    }
});
