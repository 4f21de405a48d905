//! Sparse buffers and images: what vkQueueBindSparse binds shows through, in both modes.
// What a test does in a process of its own is told apart by marks.
#![allow(clippy::print_stderr)]

mod common;

use ash::vk;
use common::{Spin, Vulkan, alone};

/// Bytes of a sparse block.
const BLOCK: u64 = 1 << 16;
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

fn memory(v: &Vulkan, size: u64) -> vk::DeviceMemory {
    let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(0);
    // SAFETY: valid usage.
    unsafe { v.device.allocate_memory(&info, None).unwrap() }
}

fn buffer(v: &Vulkan, size: u64, flags: vk::BufferCreateFlags) -> vk::Buffer {
    let flags = flags | vk::BufferCreateFlags::SPARSE_BINDING;
    let info = vk::BufferCreateInfo::default().size(size).usage(USAGE).flags(flags);
    // SAFETY: valid usage.
    unsafe { v.device.create_buffer(&info, None).unwrap() }
}

fn part(at: u64, size: u64, memory: vk::DeviceMemory, offset: u64) -> vk::SparseMemoryBind {
    vk::SparseMemoryBind { resource_offset: at, size, memory, memory_offset: offset, ..Default::default() }
}

/// Submits one set of bindings, and waits for it.
fn submit(v: &Vulkan, info: &vk::BindSparseInfo<'_>) -> Result<(), vk::Result> {
    // SAFETY: as valid as what is bound.
    unsafe {
        let fence = v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let done = v.device.queue_bind_sparse(v.queues[0], &[*info], fence);
        let done = done.and_then(|()| v.device.wait_for_fences(&[fence], true, u64::MAX));
        v.device.destroy_fence(fence, None);
        done
    }
}

fn bind(v: &Vulkan, buffer: vk::Buffer, parts: &[vk::SparseMemoryBind]) -> Result<(), vk::Result> {
    let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(buffer).binds(parts)];
    submit(v, &vk::BindSparseInfo::default().buffer_binds(&buffers))
}

fn barrier(v: &Vulkan, c: vk::CommandBuffer) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let memory = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
    let none = vk::DependencyFlags::empty();
    let host = vk::PipelineStageFlags::HOST;
    // SAFETY: valid usage.
    unsafe { v.device.cmd_pipeline_barrier(c, all, all | host, none, &memory, &[], &[]) };
}

/// The word at each of these places of a buffer.
fn words(v: &Vulkan, buffer: vk::Buffer, places: &[u64]) -> Vec<u32> {
    let (to, _, mapped) = v.buffer(256, 1);
    let copies: Vec<_> = (0u64..)
        .zip(places)
        .map(|(n, at)| vk::BufferCopy { src_offset: *at, dst_offset: 4 * n, size: 4 })
        .collect();
    v.run(v.record(|c| {
        // SAFETY: valid usage.
        unsafe { v.device.cmd_copy_buffer(c, buffer, to, &copies) };
        barrier(v, c);
    }));
    v.words(mapped, places.len())
}

fn fill(v: &Vulkan, buffer: vk::Buffer, parts: &[(u64, u64, u32)]) {
    v.run(v.record(|c| {
        // SAFETY: valid usage.
        parts
            .iter()
            .for_each(|(at, size, word)| unsafe { v.device.cmd_fill_buffer(c, buffer, *at, *size, *word) });
        barrier(v, c);
    }));
}

/// Runs a test in both modes, each in a process of its own, and hands back what each wrote.
fn in_both_modes(name: &str, body: impl FnOnce()) -> Option<[String; 2]> {
    let texts = ["run", "check"].map(|mode| alone(name, &[("PELLUCID_MODE", mode)]));
    let [Some(run), Some(check)] = texts else {
        body();
        return None;
    };
    Some([run, check])
}

#[test]
fn what_there_is_is_told() {
    let v = Vulkan::new();
    // SAFETY: live handles.
    unsafe {
        let features = v.instance.get_physical_device_features(v.physical);
        assert_eq!((features.sparse_binding, features.sparse_residency_buffer), (1, 1));
        assert_eq!((features.sparse_residency_image2_d, features.sparse_residency_image3_d), (1, 1));
        assert_eq!(features.sparse_residency4_samples, 0);
        let limits = v.instance.get_physical_device_properties(v.physical).limits;
        assert_eq!(limits.sparse_address_space_size, 1 << 40);
        for family in v.instance.get_physical_device_queue_family_properties(v.physical) {
            assert!(family.queue_flags.contains(vk::QueueFlags::SPARSE_BINDING));
        }
        let needs = v.device.get_buffer_memory_requirements(buffer(&v, 100, Default::default()));
        assert_eq!((needs.size, needs.alignment), (BLOCK, BLOCK));
        let memory = v.instance.get_physical_device_memory_properties(v.physical);
        let types = memory.memory_types_as_slice();
        for (n, of) in types.iter().enumerate().filter(|(n, _)| needs.memory_type_bits & (1 << n) != 0) {
            assert!(!of.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE), "type {n}");
        }
        let asked = |format, samples| {
            v.instance.get_physical_device_sparse_image_format_properties(
                v.physical,
                format,
                vk::ImageType::TYPE_2D,
                samples,
                vk::ImageUsageFlags::STORAGE,
                vk::ImageTiling::OPTIMAL,
            )
        };
        let known = asked(vk::Format::R32_UINT, vk::SampleCountFlags::TYPE_1);
        assert_eq!(known.len(), 1);
        assert_eq!(known[0].image_granularity, vk::Extent3D { width: 1024, height: 16, depth: 1 });
        assert!(asked(vk::Format::R32_UINT, vk::SampleCountFlags::TYPE_4).is_empty());
        assert!(asked(vk::Format::D32_SFLOAT, vk::SampleCountFlags::TYPE_1).is_empty());
    }
}

#[test]
fn buffers_show_what_is_bound() {
    let body = || {
        let v = Vulkan::new();
        let sparse = buffer(&v, 4 * BLOCK, vk::BufferCreateFlags::SPARSE_RESIDENCY);
        let (a, b) = (memory(&v, 2 * BLOCK), memory(&v, BLOCK));
        bind(&v, sparse, &[part(0, BLOCK, a, BLOCK), part(2 * BLOCK, BLOCK, b, 0)]).unwrap();
        fill(&v, sparse, &[(0, BLOCK, 5), (2 * BLOCK, BLOCK, 6)]);
        assert_eq!(words(&v, sparse, &[0, BLOCK - 4, 2 * BLOCK, 3 * BLOCK - 4]), [5, 5, 6, 6]);
        // What is bound moves, with what it holds.
        bind(&v, sparse, &[part(2 * BLOCK, BLOCK, vk::DeviceMemory::null(), 0)]).unwrap();
        bind(&v, sparse, &[part(3 * BLOCK, BLOCK, b, 0)]).unwrap();
        assert_eq!(words(&v, sparse, &[4, 3 * BLOCK]), [5, 6]);
        // Another buffer shows it when the first is gone.
        let other = buffer(&v, 2 * BLOCK, vk::BufferCreateFlags::empty());
        // SAFETY: nothing runs.
        unsafe { v.device.destroy_buffer(sparse, None) };
        bind(&v, other, &[part(0, 2 * BLOCK, a, 0)]).unwrap();
        fill(&v, other, &[(0, BLOCK, 7)]);
        assert_eq!(words(&v, other, &[0, BLOCK, 2 * BLOCK - 4]), [7, 5, 5]);
    };
    if let Some([_, check]) = in_both_modes("buffers_show_what_is_bound", body) {
        assert!(!check.contains("pellucid: error"), "{check}");
        assert!(!check.contains("hazard") && !check.contains("uninitialised"), "{check}");
    }
}

#[test]
fn shaders_reach_it_by_descriptor_and_by_address() {
    let body = || {
        let v = Vulkan::new();
        for by_address in [false, true] {
            let sparse = buffer(&v, 2 * BLOCK, vk::BufferCreateFlags::empty());
            let spin = Spin::new(&v, by_address);
            let (_, set) = spin.set(&v);
            spin.update(&v, set, sparse);
            // The descriptor and the address are older than the binding.
            bind(&v, sparse, &[part(0, 2 * BLOCK, memory(&v, 2 * BLOCK), 0)]).unwrap();
            fill(&v, sparse, &[(0, 2 * BLOCK, 0)]);
            v.run(v.record(|c| {
                spin.record(&v, c, set, sparse, 3);
                barrier(&v, c);
            }));
            assert_ne!(words(&v, sparse, &[0]), [0]);
        }
    };
    if let Some([_, check]) = in_both_modes("shaders_reach_it_by_descriptor_and_by_address", body) {
        assert!(!check.contains("hazard") && !check.contains("uninitialised"), "{check}");
    }
}

#[test]
fn what_nobody_has_written_is_uninitialised_where_it_is_bound() {
    let body = || {
        let v = Vulkan::new();
        let sparse = buffer(&v, BLOCK, vk::BufferCreateFlags::empty());
        bind(&v, sparse, &[part(0, BLOCK, memory(&v, BLOCK), 0)]).unwrap();
        let spin = Spin::new(&v, false);
        let (_, set) = spin.set(&v);
        spin.update(&v, set, sparse);
        v.run(v.record(|c| spin.record(&v, c, set, sparse, 1)));
    };
    if let Some([_, check]) =
        in_both_modes("what_nobody_has_written_is_uninitialised_where_it_is_bound", body)
    {
        assert!(check.contains("uninitialised-read"), "{check}");
    }
}

fn image(v: &Vulkan, extent: [u32; 3], levels: u32, flags: vk::ImageCreateFlags) -> vk::Image {
    let [width, height, depth] = extent;
    let deep = depth > 1;
    let info = vk::ImageCreateInfo::default()
        .flags(flags | vk::ImageCreateFlags::SPARSE_BINDING)
        .image_type(if deep { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D })
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(levels)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    // SAFETY: valid usage.
    unsafe { v.device.create_image(&info, None).unwrap() }
}

/// Copies words that say their place to all of level 0, and back.
fn round(v: &Vulkan, image: vk::Image, [width, height, depth]: [u32; 3]) -> (Vec<u32>, Vec<u32>) {
    let count = (width * height * depth) as usize;
    let (from, _, source) = v.buffer(4 * count as u64, 1);
    let (to, _, target) = v.buffer(4 * count as u64, 1);
    // SAFETY: mapped memory of so many words.
    (0..count).for_each(|n| unsafe { source.cast::<u32>().add(n).write(n as u32 + 1) });
    let aspect_mask = vk::ImageAspectFlags::COLOR;
    let layers = vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() };
    let region = [vk::BufferImageCopy::default().image_subresource(layers).image_extent(vk::Extent3D {
        width,
        height,
        depth,
    })];
    let whole =
        vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: 1, ..Default::default() };
    let general = vk::ImageLayout::GENERAL;
    let to_general = [vk::ImageMemoryBarrier::default()
        .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .new_layout(general)
        .image(image)
        .subresource_range(whole)];
    let (top, transfer) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
    v.run(v.record(|c| {
        // SAFETY: valid usage.
        unsafe {
            let none = vk::DependencyFlags::empty();
            v.device.cmd_pipeline_barrier(c, top, transfer, none, &[], &[], &to_general);
            v.device.cmd_copy_buffer_to_image(c, from, image, general, &region);
            barrier(v, c);
            v.device.cmd_copy_image_to_buffer(c, image, general, to, &region);
            barrier(v, c);
        }
    }));
    (v.words(source, count), v.words(target, count))
}

#[test]
fn images_are_bound_by_blocks() {
    let body = || {
        let v = Vulkan::new();
        for (extent, block) in [([2048, 20, 1], [1024, 16, 1]), ([1500, 6, 5], [1024, 4, 4])] {
            let image = image(&v, extent, 1, vk::ImageCreateFlags::SPARSE_RESIDENCY);
            // SAFETY: valid usage.
            let needs = unsafe { v.device.get_image_sparse_memory_requirements(image) };
            let [width, height, depth] = block;
            assert_eq!(needs.len(), 1);
            assert_eq!(needs[0].format_properties.image_granularity, vk::Extent3D { width, height, depth });
            assert_eq!((needs[0].image_mip_tail_first_lod, needs[0].image_mip_tail_size), (1, 0));
            let blocks: u32 = (0..3).map(|n| extent[n].div_ceil(block[n])).product();
            let memory = memory(&v, (u64::from(blocks) + 1) * BLOCK);
            let [width, height, depth] = extent;
            let whole = [vk::SparseImageMemoryBind::default()
                .subresource(vk::ImageSubresource {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    ..Default::default()
                })
                .extent(vk::Extent3D { width, height, depth })
                .memory(memory)
                .memory_offset(BLOCK)];
            let images = [vk::SparseImageMemoryBindInfo::default().image(image).binds(&whole)];
            submit(&v, &vk::BindSparseInfo::default().image_binds(&images)).unwrap();
            let (there, back) = round(&v, image, extent);
            assert_eq!(there, back, "{extent:?}");
            // The memory holds the block's rows one after the other.
            let shown = buffer(&v, (u64::from(blocks) + 1) * BLOCK, Default::default());
            // SAFETY: nothing runs.
            unsafe { v.device.destroy_image(image, None) };
            bind(&v, shown, &[part(0, (u64::from(blocks) + 1) * BLOCK, memory, 0)]).unwrap();
            let second = words(&v, shown, &[BLOCK, BLOCK + 4096, 2 * BLOCK]);
            assert_eq!(second, [1, extent[0] + 1, 1025]);
        }
    };
    if let Some([_, check]) = in_both_modes("images_are_bound_by_blocks", body) {
        assert!(!check.contains("hazard") && !check.contains("uninitialised"), "{check}");
    }
}

#[test]
fn images_are_bound_as_a_whole_and_by_their_mip_tail() {
    let body = || {
        let v = Vulkan::new();
        for flags in [vk::ImageCreateFlags::empty(), vk::ImageCreateFlags::SPARSE_RESIDENCY] {
            // Smaller than a block: all of it is the mip tail.
            let image = image(&v, [100, 9, 1], 3, flags);
            // SAFETY: valid usage.
            let (needs, sparse) = unsafe {
                let sparse = v.device.get_image_sparse_memory_requirements(image);
                (v.device.get_image_memory_requirements(image), sparse)
            };
            let tail = sparse.first().map(|s| (s.image_mip_tail_first_lod, s.image_mip_tail_offset));
            assert_eq!(tail, (!flags.is_empty()).then_some((0, 0)));
            let size = sparse.first().map_or(needs.size, |s| s.image_mip_tail_size);
            let parts = [part(0, size, memory(&v, size), 0)];
            let images = [vk::SparseImageOpaqueMemoryBindInfo::default().image(image).binds(&parts)];
            submit(&v, &vk::BindSparseInfo::default().image_opaque_binds(&images)).unwrap();
            let (there, back) = round(&v, image, [100, 9, 1]);
            assert_eq!(there, back);
        }
    };
    if let Some([_, check]) = in_both_modes("images_are_bound_as_a_whole_and_by_their_mip_tail", body) {
        assert!(!check.contains("hazard") && !check.contains("uninitialised"), "{check}");
    }
}

#[test]
fn whoever_shares_memory_has_to_say_so() {
    let body = || {
        let v = Vulkan::new();
        let aliased = vk::BufferCreateFlags::SPARSE_RESIDENCY | vk::BufferCreateFlags::SPARSE_ALIASED;
        let new = |flags| buffer(&v, 4 * BLOCK, flags | vk::BufferCreateFlags::SPARSE_RESIDENCY);
        let first = |offset, memory| part(0, BLOCK, memory, offset);
        // Moved within a resource, in one call: each byte ends at one place.
        let (a, m) = (new(Default::default()), memory(&v, 2 * BLOCK));
        bind(&v, a, &[first(0, m), part(BLOCK, BLOCK, m, BLOCK)]).unwrap();
        bind(&v, a, &[first(BLOCK, m), part(BLOCK, BLOCK, m, 0)]).unwrap();
        eprintln!("-- one resource");
        bind(&v, a, &[part(2 * BLOCK, BLOCK, m, 0)]).unwrap();
        let (b, c, n) = (new(aliased), new(aliased), memory(&v, BLOCK));
        eprintln!("-- both say so");
        bind(&v, b, &[first(0, n), part(BLOCK, BLOCK, n, 0)]).unwrap();
        bind(&v, c, &[first(0, n)]).unwrap();
        eprintln!("-- the first does not");
        let (d, o) = (new(Default::default()), memory(&v, BLOCK));
        bind(&v, d, &[first(0, o)]).unwrap();
        bind(&v, c, &[part(BLOCK, BLOCK, o, 0)]).unwrap();
        eprintln!("-- the second does not");
        bind(&v, d, &[part(BLOCK, BLOCK, n, 0)]).unwrap();
    };
    let name = "whoever_shares_memory_has_to_say_so";
    let Some(text) = alone(name, &[("PELLUCID_MODE", "run")]) else { return body() };
    let said = "is bound at two places there, and not both are of resources with SPARSE_ALIASED";
    let parts: Vec<_> = text.split("-- ").map(|part| part.matches(said).count() > 0).collect();
    assert_eq!(parts, [false, true, false, true, true], "{text}");
}

#[test]
fn semaphores_order_bindings() {
    let v = Vulkan::new();
    let sparse = buffer(&v, BLOCK, vk::BufferCreateFlags::empty());
    let parts = [part(0, BLOCK, memory(&v, BLOCK), 0)];
    let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(sparse).binds(&parts)];
    let (semaphore, values) = ([v.timeline().unwrap()], [[1], [2]]);
    let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
        .wait_semaphore_values(&values[0])
        .signal_semaphore_values(&values[1]);
    let info = vk::BindSparseInfo::default()
        .wait_semaphores(&semaphore)
        .signal_semaphores(&semaphore)
        .buffer_binds(&buffers)
        .push_next(&mut timeline);
    // SAFETY: valid usage.
    unsafe {
        v.device.queue_bind_sparse(v.queues[0], &[info], vk::Fence::null()).unwrap();
        let fence = v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let (to, _, mapped) = v.buffer(256, 1);
        let copy = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 4 }];
        let filled = v.record(|c| {
            v.device.cmd_fill_buffer(c, sparse, 0, 4, 9);
            barrier(&v, c);
            v.device.cmd_copy_buffer(c, sparse, to, &copy);
            barrier(&v, c);
        });
        v.submit_after(semaphore[0], 2, filled, fence).unwrap();
        assert!(!v.device.get_fence_status(fence).unwrap());
        v.device
            .signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(semaphore[0]).value(1))
            .unwrap();
        v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        assert_eq!(v.words(mapped, 1), [9]);
    }
}

#[test]
fn mistakes_are_named() {
    let body = || {
        let v = Vulkan::new();
        let (a, b) = (buffer(&v, 2 * BLOCK, Default::default()), buffer(&v, BLOCK, Default::default()));
        let one = memory(&v, 2 * BLOCK);
        let (_, visible, _) = v.buffer(2 * BLOCK, 1);
        for wrong in [
            part(0, BLOCK, visible, 0),
            part(4, BLOCK, one, 0),
            part(0, BLOCK, one, 4096),
            part(0, 3 * BLOCK, one, 0),
            part(0, 2 * BLOCK, one, BLOCK),
            part(0, 0, one, 0),
        ] {
            assert!(bind(&v, a, &[wrong]).is_err(), "{wrong:?}");
        }
        let (ordinary, ..) = v.buffer(BLOCK, 0);
        assert!(bind(&v, ordinary, &[part(0, BLOCK, one, 0)]).is_err());
        // SAFETY: the mistake is the test's subject.
        unsafe {
            assert!(v.device.bind_buffer_memory(a, one, 0).is_err());
            let info = vk::BufferCreateInfo::default()
                .size(BLOCK)
                .usage(USAGE)
                .flags(vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::SPARSE_ALIASED);
            assert!(v.device.create_buffer(&info, None).is_ok());
        }
        bind(&v, a, &[part(0, BLOCK, one, 0)]).unwrap();
        bind(&v, b, &[part(0, BLOCK, one, BLOCK)]).unwrap();
        eprintln!("-- twice");
        bind(&v, b, &[part(0, BLOCK, one, 0)]).unwrap();
        fill(&v, b, &[(0, BLOCK, 1)]);
        eprintln!("-- not whole");
        fill(&v, a, &[(0, 4, 1)]);
    };
    for (mode, text) in in_both_modes("mistakes_are_named", body).into_iter().flatten().enumerate() {
        let (before, after) = text.split_once("-- twice").unwrap();
        let said = "is bound at two places there, and not both are of resources with SPARSE_ALIASED";
        assert!(!before.contains(said) && after.contains(said), "{text}");
        let (before, after) = text.split_once("-- not whole").unwrap();
        let said = "is used before all of it is bound: bytes 65536..131072 are not";
        assert!(!before.contains(said) && after.contains(said) == (mode == 1), "{text}");
    }
}
