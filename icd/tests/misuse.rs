//! Bad input: each mistake gives its error, and nothing crashes.

mod common;

use ash::vk;
use common::Vulkan;

#[test]
fn an_allocation_over_the_heap_is_out_of_device_memory() {
    let v = Vulkan::new();
    // SAFETY: live handles.
    unsafe {
        let heap = v.instance.get_physical_device_memory_properties(v.physical).memory_heaps[0].size;
        let info = vk::MemoryAllocateInfo::default().allocation_size(heap + 1).memory_type_index(0);
        let error = v.device.allocate_memory(&info, None).unwrap_err();
        assert_eq!(error, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    }
}

#[test]
fn arrays_are_null_only_where_nothing_is_counted() {
    let v = Vulkan::new();
    let (device, calls) = (v.device.handle(), v.device.fp_v1_0());
    // SAFETY: the calls are wrong on purpose; the driver promises errors for them.
    unsafe {
        for (count, success) in [(0, true), (1, false), (3, false)] {
            let reset = (calls.reset_fences)(device, count, std::ptr::null());
            let flushed = (calls.flush_mapped_memory_ranges)(device, count, std::ptr::null());
            let none = vk::Fence::null();
            let submitted = (calls.queue_submit)(v.queues[0], count, std::ptr::null(), none);
            let bound = (calls.queue_bind_sparse)(v.queues[0], count, std::ptr::null(), none);
            for code in [reset, flushed, submitted, bound] {
                assert_eq!(code == vk::Result::SUCCESS, success, "{count}: {code}");
            }
        }
        let commands = v.record(|c| {
            (calls.cmd_pipeline_barrier)(
                c,
                vk::PipelineStageFlags::TRANSFER,
                vk::PipelineStageFlags::TRANSFER,
                vk::DependencyFlags::empty(),
                0,
                std::ptr::null(),
                0,
                std::ptr::null(),
                0,
                std::ptr::null(),
            );
        });
        v.run(commands);
    }
}

#[test]
fn memory_that_cannot_be_mapped_is_not() {
    let v = Vulkan::new();
    let flags = vk::MemoryMapFlags::empty();
    // SAFETY: the calls are wrong on purpose; the driver promises errors for them.
    unsafe {
        let (_, local, _) = v.buffer(64, 0);
        let failed = Err(vk::Result::ERROR_MEMORY_MAP_FAILED);
        assert_eq!(v.device.map_memory(local, 0, vk::WHOLE_SIZE, flags), failed, "not host-visible");
        let (_, mapped, _) = v.buffer(64, 1);
        assert_eq!(v.device.map_memory(mapped, 0, vk::WHOLE_SIZE, flags), failed, "mapped twice");
        v.device.unmap_memory(mapped);
        assert_eq!(v.device.map_memory(mapped, 0, 1 << 20, flags), failed, "past the end");
        assert!(v.device.map_memory(mapped, 0, 64, flags).is_ok());
    }
}

#[test]
fn memory_is_mapped_by_a_structure_as_by_arguments() {
    let v = Vulkan::new();
    let map2 = ash::khr::map_memory2::Device::new(&v.instance, &v.device);
    // SAFETY: live handles; the second map and unmap are wrong on purpose.
    unsafe {
        let (_, memory, words) = v.buffer(64, 1);
        v.device.unmap_memory(memory);
        let info = vk::MemoryMapInfoKHR::default().memory(memory).offset(16).size(16);
        let mut start = std::ptr::null_mut();
        let map = map2.fp().map_memory2_khr;
        assert_eq!(map(v.device.handle(), &raw const info, &raw mut start), vk::Result::SUCCESS);
        assert_eq!(start.cast(), words.add(16));
        let again = map(v.device.handle(), &raw const info, &raw mut start);
        assert_eq!(again, vk::Result::ERROR_MEMORY_MAP_FAILED);
        let unmap = map2.fp().unmap_memory2_khr;
        let info = vk::MemoryUnmapInfoKHR::default().memory(memory);
        assert_eq!(unmap(v.device.handle(), &raw const info), vk::Result::SUCCESS);
        assert_eq!(unmap(v.device.handle(), &raw const info), vk::Result::ERROR_UNKNOWN);
    }
}

#[test]
fn stale_and_foreign_handles_are_errors() {
    let v = Vulkan::new();
    // SAFETY: the calls are wrong on purpose; the driver promises errors for them.
    unsafe {
        let fence = v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        v.device.destroy_fence(fence, None);
        assert_eq!(v.device.get_fence_status(fence), Err(vk::Result::ERROR_UNKNOWN));
        v.device.destroy_fence(fence, None);
        let (buffer, memory, _) = v.buffer(64, 1);
        let foreign = <vk::Fence as vk::Handle>::from_raw(vk::Handle::as_raw(buffer));
        assert_eq!(v.device.get_fence_status(foreign), Err(vk::Result::ERROR_UNKNOWN));
        assert!(v.device.bind_buffer_memory(buffer, memory, 0).is_err(), "bound twice");
    }
}

#[test]
fn a_command_on_a_destroyed_buffer_poisons_the_command_buffer() {
    let v = Vulkan::new();
    // SAFETY: the calls are wrong on purpose; the driver promises errors for them.
    unsafe {
        let (buffer, _, _) = v.buffer(64, 1);
        v.device.destroy_buffer(buffer, None);
        let commands = v.commands(vk::CommandBufferLevel::PRIMARY);
        v.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        v.device.cmd_fill_buffer(commands, buffer, 0, 64, 1);
        assert!(v.device.end_command_buffer(commands).is_err());
        let list = [commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&list)];
        assert!(v.device.queue_submit(v.queues[0], &submit, vk::Fence::null()).is_err());
        v.device.reset_command_buffer(commands, vk::CommandBufferResetFlags::empty()).unwrap();
        v.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        v.device.end_command_buffer(commands).unwrap();
        v.run(commands);
    }
}

#[test]
fn freed_memory_stays_readable_for_work_in_flight() {
    let v = Vulkan::new();
    // SAFETY: the memory is freed too early on purpose; the driver promises a report and no crash.
    unsafe {
        let (from, from_memory, words) = v.buffer(64, 1);
        let (to, _, result) = v.buffer(64, 1);
        words.cast::<u32>().write(77);
        let event = v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        let commands = v.record(|c| {
            let (host, transfer) = (vk::PipelineStageFlags::HOST, vk::PipelineStageFlags::TRANSFER);
            v.device.cmd_wait_events(c, &[event], host, transfer, &[], &[], &[]);
            v.device.cmd_copy_buffer(
                c,
                from,
                to,
                &[vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 64 }],
            );
        });
        let list = [commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&list)];
        v.device.queue_submit(v.queues[0], &submit, vk::Fence::null()).unwrap();
        v.device.free_memory(from_memory, None);
        v.device.destroy_buffer(from, None);
        v.device.set_event(event).unwrap();
        v.device.device_wait_idle().unwrap();
        assert_eq!(v.words(result, 1), [77]);
    }
}

#[test]
fn descriptor_pools_run_out_as_they_were_made() {
    let v = Vulkan::new();
    // SAFETY: live handles, complete structures.
    unsafe {
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(2)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layout = v.device.create_descriptor_set_layout(&info, None).unwrap();
        let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: 3 }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .flags(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET)
            .max_sets(2)
            .pool_sizes(&sizes);
        let pool = v.device.create_descriptor_pool(&info, None).unwrap();
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = v.device.allocate_descriptor_sets(&info).unwrap();
        let full = v.device.allocate_descriptor_sets(&info).unwrap_err();
        assert_eq!(full, vk::Result::ERROR_OUT_OF_POOL_MEMORY);
        v.device.free_descriptor_sets(pool, &set).unwrap();
        let again = v.device.allocate_descriptor_sets(&info).unwrap();
        v.device.reset_descriptor_pool(pool, vk::DescriptorPoolResetFlags::empty()).unwrap();
        assert_ne!(again, v.device.allocate_descriptor_sets(&info).unwrap());
    }
}

#[test]
fn invalid_shaders_are_refused() {
    let v = Vulkan::new();
    // SAFETY: the words are not SPIR-V on purpose; the driver promises an error for them.
    unsafe {
        let layout = v.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None).unwrap();
        let words = [0x0723_0203, 0x0001_0300, 0, 1, 0, 0xffff_ffff];
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let Ok(module) = v.device.create_shader_module(&info, None) else { return };
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let (pipelines, error) =
            v.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap_err();
        assert_eq!(pipelines, [vk::Pipeline::null()]);
        assert_eq!(error, vk::Result::ERROR_UNKNOWN);
    }
}

#[test]
fn drawing_is_refused_by_name_and_nothing_before_it() {
    let v = Vulkan::new();
    // SAFETY: valid usage but for the draw, for which the driver promises an error.
    unsafe {
        let subpasses = [vk::SubpassDescription::default()];
        let info = vk::RenderPassCreateInfo::default().subpasses(&subpasses);
        let pass = v.device.create_render_pass(&info, None).unwrap();
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).width(4).height(4).layers(1);
        let framebuffer = v.device.create_framebuffer(&info, None).unwrap();
        let layout = v.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None).unwrap();
        let info = [vk::GraphicsPipelineCreateInfo::default().layout(layout).render_pass(pass); 2];
        let pipelines = v.device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None).unwrap();
        assert_ne!(pipelines[0], pipelines[1]);
        let commands = v.commands(vk::CommandBufferLevel::PRIMARY);
        v.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        v.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipelines[0]);
        v.device.end_command_buffer(commands).unwrap();
        v.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        v.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipelines[1]);
        v.device.cmd_draw(commands, 3, 1, 0, 0);
        assert_eq!(v.device.end_command_buffer(commands), Err(vk::Result::ERROR_FEATURE_NOT_PRESENT));
        pipelines.iter().for_each(|pipeline| v.device.destroy_pipeline(*pipeline, None));
        v.device.destroy_framebuffer(framebuffer, None);
        v.device.destroy_render_pass(pass, None);
    }
}
