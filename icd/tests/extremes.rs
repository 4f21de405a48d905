//! Counts, offsets and extents that cannot be: an error at once, no abort, and the device goes on. And a
//! device in a process that did not make it.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use std::time::{Duration, Instant};

fn limit_memory(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: a complete structure.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

#[test]
fn counts_that_need_too_much_memory_are_out_of_memory() {
    if alone("counts_that_need_too_much_memory_are_out_of_memory", &[]).is_some() {
        return;
    }
    let v = Vulkan::new();
    limit_memory(8 << 30);
    let d = &v.device;
    let kind = vk::DescriptorType::STORAGE_BUFFER;
    let layout_of = |counts: &[u32], kind, variable: bool| {
        let bindings: Vec<_> = (0..)
            .zip(counts)
            .map(|(number, count)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(number)
                    .descriptor_type(kind)
                    .descriptor_count(*count)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let flags = match variable {
            true => vec![vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT; counts.len()],
            false => Vec::new(),
        };
        let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut flags);
        // SAFETY: a complete structure.
        unsafe { d.create_descriptor_set_layout(&info, None) }
    };
    let sizes = [
        vk::DescriptorPoolSize { ty: kind, descriptor_count: u32::MAX },
        vk::DescriptorPoolSize { ty: vk::DescriptorType::INLINE_UNIFORM_BLOCK, descriptor_count: u32::MAX },
    ];
    let mut inline =
        vk::DescriptorPoolInlineUniformBlockCreateInfo::default().max_inline_uniform_block_bindings(u32::MAX);
    let info = vk::DescriptorPoolCreateInfo::default().max_sets(u32::MAX).pool_sizes(&sizes);
    // SAFETY: live handles and complete structures; the counts are what the test is about.
    unsafe {
        let pool = d.create_descriptor_pool(&info.push_next(&mut inline), None).unwrap();
        let allocate = |layout, count, variable: &[u32]| {
            let layouts = vec![layout; count];
            let mut variable =
                vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(variable);
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts)
                .push_next(&mut variable);
            d.allocate_descriptor_sets(&info).map(|sets| sets.len())
        };
        let out = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP);
        assert_eq!(d.create_query_pool(&info.query_count(u32::MAX), None), Err(out));
        let large = layout_of(&[u32::MAX], kind, false).unwrap();
        assert_eq!(allocate(large, 1, &[]), Err(out));
        let variable = layout_of(&[u32::MAX], kind, true).unwrap();
        assert_eq!(allocate(variable, 1, &[u32::MAX]), Err(out));
        assert_eq!(allocate(variable, 1, &[3]), Ok(1));
        assert_eq!(layout_of(&[u32::MAX, 1], kind, false), Err(out));
        let block = layout_of(&[u32::MAX - 15], vk::DescriptorType::INLINE_UNIFORM_BLOCK, false).unwrap();
        assert!(matches!(allocate(block, 1, &[]), Ok(1) | Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY)));
        let small = layout_of(&[1], kind, false).unwrap();
        assert_eq!(allocate(small, 50_000_000, &[]), Err(out));
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let one = d.create_descriptor_pool(&info, None).unwrap();
        let layouts = [small; 2];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(one).set_layouts(&layouts);
        assert_eq!(d.allocate_descriptor_sets(&info), Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY));
        let info = vk::CommandBufferAllocateInfo::default().command_pool(v.pool);
        assert_eq!(d.allocate_command_buffers(&info.command_buffer_count(50_000_000)), Err(out));
        v.run(v.record(|_| ()));
    }
}

#[test]
fn set_numbers_past_the_layout_are_refused() {
    let v = Vulkan::new();
    // SAFETY: live handles; the set number is what the test is about.
    unsafe {
        let layout = v.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None).unwrap();
        let info = vk::DescriptorSetLayoutCreateInfo::default();
        let layouts = [v.device.create_descriptor_set_layout(&info, None).unwrap()];
        let pool = v
            .device
            .create_descriptor_pool(&vk::DescriptorPoolCreateInfo::default().max_sets(1), None)
            .unwrap();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = v.device.allocate_descriptor_sets(&info).unwrap();
        let c = v.commands(vk::CommandBufferLevel::PRIMARY);
        v.device.begin_command_buffer(c, &vk::CommandBufferBeginInfo::default()).unwrap();
        let point = vk::PipelineBindPoint::COMPUTE;
        v.device.cmd_bind_descriptor_sets(c, point, layout, u32::MAX - 1, &set, &[]);
        assert_eq!(v.device.end_command_buffer(c), Err(vk::Result::ERROR_UNKNOWN));
    }
}

fn image(v: &Vulkan, samples: vk::SampleCountFlags) -> vk::Image {
    let extent = vk::Extent3D { width: 16, height: 16, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(extent)
        .mip_levels(1)
        .array_layers(2)
        .samples(samples)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    v.image(&info, 1)
}

#[test]
fn regions_far_outside_are_refused_at_once() {
    for mode in ["run", "check"] {
        if alone("regions_far_outside_are_refused_at_once", &[("PELLUCID_MODE", mode)]).is_none() {
            return regions();
        }
    }
}

fn regions() {
    let v = Vulkan::new();
    let d = &v.device;
    let samples = vk::SampleCountFlags::TYPE_1;
    let (a, b) = (image(&v, samples), image(&v, samples));
    let (buffer, _, bytes) = v.buffer(1 << 16, 1);
    let layers = |base, count| vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: 0,
        base_array_layer: base,
        layer_count: count,
    };
    let at = |x: i32, y: i32, z: i32| vk::Offset3D { x, y, z };
    let box_of = |width: u32, height: u32, depth: u32| vk::Extent3D { width, height, depth };
    let layout = vk::ImageLayout::GENERAL;
    let (most, least) = (i32::MAX, i32::MIN);
    let far =
        [at(most, most, most), at(least, least, least), at(0, most, 1), at(most, 16, 1), at(16, 16, most)];
    let sides = [box_of(u32::MAX, u32::MAX, u32::MAX), box_of(1, u32::MAX, 1), box_of(16, 1, u32::MAX)];
    let some = [layers(0, u32::MAX - 1), layers(u32::MAX, 2), layers(1, 2), layers(u32::MAX - 1, u32::MAX)];
    let quick = |what: &str, record: &dyn Fn(vk::CommandBuffer)| {
        let start = Instant::now();
        let c = v.commands(vk::CommandBufferLevel::PRIMARY);
        // SAFETY: valid usage, but for what `record` does.
        unsafe {
            d.begin_command_buffer(c, &vk::CommandBufferBeginInfo::default()).unwrap();
            record(c);
            // Some mistakes are found here, others when the command runs.
            if d.end_command_buffer(c).is_ok() {
                v.run(c);
            }
        }
        assert!(start.elapsed() < Duration::from_secs(1), "{what}: {:?}", start.elapsed());
    };
    let (near, one) = ([at(0, 0, 0), at(16, 16, 1)], layers(0, 1));
    let blit = |s: vk::ImageSubresourceLayers, from: [vk::Offset3D; 2], to: [vk::Offset3D; 2]| {
        let region =
            [vk::ImageBlit { src_subresource: s, src_offsets: from, dst_subresource: s, dst_offsets: to }];
        quick("blit", &|c| {
            // SAFETY: live handles; the regions are what the test is about. So below.
            unsafe { d.cmd_blit_image(c, a, layout, b, layout, &region, vk::Filter::NEAREST) };
        });
    };
    for corner in far {
        blit(one, near, [at(0, 0, 0), corner]);
        blit(one, [corner, at(0, 0, 0)], near);
        blit(one, [corner, at(0, 0, 0)], [at(0, 0, 0), corner]);
    }
    for s in some {
        blit(s, near, near);
    }
    let each = |s: vk::ImageSubresourceLayers, offset: vk::Offset3D, extent: vk::Extent3D| {
        let copy = [vk::ImageCopy {
            src_subresource: s,
            src_offset: offset,
            dst_subresource: s,
            dst_offset: offset,
            extent,
        }];
        // SAFETY: see above.
        quick("copy", &|c| unsafe { d.cmd_copy_image(c, a, layout, b, layout, &copy) });
        let resolve = [vk::ImageResolve {
            src_subresource: s,
            src_offset: offset,
            dst_subresource: s,
            dst_offset: offset,
            extent,
        }];
        // SAFETY: see above.
        quick("resolve", &|c| unsafe { d.cmd_resolve_image(c, a, layout, b, layout, &resolve) });
        for (start, row) in [(0, 0), (u64::MAX - 3, u32::MAX), (8, u32::MAX)] {
            let region = [vk::BufferImageCopy {
                buffer_offset: start,
                buffer_row_length: row,
                buffer_image_height: row,
                image_subresource: s,
                image_offset: offset,
                image_extent: extent,
            }];
            // SAFETY: see above.
            quick("to an image", &|c| unsafe { d.cmd_copy_buffer_to_image(c, buffer, a, layout, &region) });
            // SAFETY: see above.
            quick("to a buffer", &|c| unsafe { d.cmd_copy_image_to_buffer(c, a, layout, buffer, &region) });
        }
    };
    far.into_iter().for_each(|corner| each(one, corner, box_of(16, 16, 1)));
    sides.into_iter().for_each(|side| each(one, at(0, 0, 0), side));
    some.into_iter().for_each(|s| each(s, at(0, 0, 0), box_of(16, 16, 1)));
    for (src_offset, dst_offset, size) in [
        (u64::MAX, 0, 4),
        (0, u64::MAX - 3, 8),
        (0, 0, u64::MAX),
        (1 << 63, 1 << 63, 1 << 63),
        (8, 0, 1 << 16),
    ] {
        let region = [vk::BufferCopy { src_offset, dst_offset, size }];
        // SAFETY: see above.
        quick("buffers", &|c| unsafe { d.cmd_copy_buffer(c, buffer, buffer, &region) });
        let barrier = [vk::BufferMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ)
            .buffer(buffer)
            .offset(src_offset)
            .size(size)];
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: see above.
        quick("barrier", &|c| unsafe {
            d.cmd_pipeline_barrier(c, all, all, vk::DependencyFlags::empty(), &[], &barrier, &[]);
        });
    }
    assert_eq!(v.words(bytes, 1 << 14), vec![0; 1 << 14], "nothing was copied");
}

#[test]
fn a_forked_child_is_told_that_the_device_is_not_its_own() {
    if let Some(text) = alone("a_forked_child_is_told_that_the_device_is_not_its_own", &[]) {
        assert_eq!(text.matches("forked from the one that created").count(), 2, "{text}");
        return;
    }
    let v = Vulkan::new();
    let list = [v.record(|_| ())];
    v.run(list[0]);
    // SAFETY: the children call the driver, which is what the test is about, and end.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            v.device.destroy_device(None);
            libc::_exit(0);
        }
        assert_eq!(libc::waitpid(child, std::ptr::null_mut(), 0), child);
        let child = libc::fork();
        if child == 0 {
            let lost = vk::Result::ERROR_DEVICE_LOST;
            let info = [vk::SubmitInfo::default().command_buffers(&list)];
            let submitted = v.device.queue_submit(v.queues[0], &info, vk::Fence::null());
            let fence = v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            let waited = v.device.wait_for_fences(&[fence], true, u64::MAX);
            let idle = v.device.device_wait_idle();
            let all = [submitted, waited, idle];
            v.device.destroy_device(None);
            libc::_exit(if all == [Err(lost); 3] { 42 } else { 1 });
        }
        let (start, mut status) = (Instant::now(), 0);
        while libc::waitpid(child, &raw mut status, libc::WNOHANG) == 0 {
            if start.elapsed() > Duration::from_secs(20) {
                libc::kill(child, libc::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 42, "status {status:#x}");
    }
    v.run(list[0]);
}
