//! What shaders are told of memory that is not bound (`shaderResourceResidency`), and what there is then
//! (`residencyNonResidentStrict`): zero, whatever is written.
// What a test does in a process of its own is told apart by marks.
#![allow(clippy::print_stderr)]

mod common;

use ash::vk;
use common::{Vulkan, alone};

/// Bytes of a sparse block.
const BLOCK: u64 = 1 << 16;
/// Two sparse image blocks of 1024 times 16 texels side by side.
const EXTENT: vk::Extent3D = vk::Extent3D { width: 2048, height: 16, depth: 1 };
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const TYPES: [vk::DescriptorType; 5] = [
    vk::DescriptorType::STORAGE_IMAGE,
    vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
    vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
    vk::DescriptorType::STORAGE_BUFFER,
    vk::DescriptorType::STORAGE_BUFFER,
];

/// What `residency.comp` and `residency_read.comp` use: an image and a buffer, of each of which the first
/// half is bound.
struct Halves {
    image: vk::Image,
    words: vk::Buffer,
    pipelines: [vk::Pipeline; 2],
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

fn memory(v: &Vulkan) -> vk::DeviceMemory {
    let info = vk::MemoryAllocateInfo::default().allocation_size(BLOCK).memory_type_index(0);
    // SAFETY: valid usage.
    unsafe { v.device.allocate_memory(&info, None).unwrap() }
}

impl Halves {
    fn new(v: &Vulkan, results: vk::Buffer) -> Halves {
        // SAFETY: valid usage.
        unsafe {
            let info = vk::ImageCreateInfo::default()
                .flags(vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::SPARSE_RESIDENCY)
                .image_type(vk::ImageType::TYPE_2D)
                .format(vk::Format::R32_SFLOAT)
                .extent(EXTENT)
                .mip_levels(1)
                .array_layers(1)
                .samples(vk::SampleCountFlags::TYPE_1)
                .usage(
                    vk::ImageUsageFlags::STORAGE
                        | vk::ImageUsageFlags::SAMPLED
                        | vk::ImageUsageFlags::TRANSFER_SRC
                        | vk::ImageUsageFlags::TRANSFER_DST,
                );
            let image = v.device.create_image(&info, None).unwrap();
            let info = vk::BufferCreateInfo::default()
                .flags(vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::SPARSE_RESIDENCY)
                .size(2 * BLOCK)
                .usage(
                    vk::BufferUsageFlags::STORAGE_BUFFER
                        | vk::BufferUsageFlags::TRANSFER_SRC
                        | vk::BufferUsageFlags::TRANSFER_DST,
                );
            let words = v.device.create_buffer(&info, None).unwrap();
            let blocks = [vk::SparseImageMemoryBind::default()
                .subresource(vk::ImageSubresource { aspect_mask: COLOR, ..Default::default() })
                .extent(vk::Extent3D { width: 1024, ..EXTENT })
                .memory(memory(v))];
            let images = [vk::SparseImageMemoryBindInfo::default().image(image).binds(&blocks)];
            let parts = [vk::SparseMemoryBind { size: BLOCK, memory: memory(v), ..Default::default() }];
            let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(words).binds(&parts)];
            let info = vk::BindSparseInfo::default().image_binds(&images).buffer_binds(&buffers);
            let fence = v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            v.device.queue_bind_sparse(v.queues[0], &[info], fence).unwrap();
            v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();

            let (layout, set) = v.descriptors(&TYPES, 0).unwrap();
            let codes: [&[u8]; 2] =
                [include_bytes!("shaders/residency.spv"), include_bytes!("shaders/residency_read.spv")];
            let pipelines = codes.map(|code| {
                let code = ash::util::read_spv(&mut std::io::Cursor::new(code)).unwrap();
                v.pipeline(&code, c"main", layout).unwrap()
            });
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(vk::Format::R32_SFLOAT)
                .subresource_range(whole());
            let view = v.device.create_image_view(&info, None).unwrap();
            let sampler = |filter| {
                let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
                let info = vk::SamplerCreateInfo::default()
                    .mag_filter(filter)
                    .min_filter(filter)
                    .address_mode_u(edge)
                    .address_mode_v(edge);
                v.device.create_sampler(&info, None).unwrap()
            };
            let bound = |sampler| {
                [vk::DescriptorImageInfo::default().sampler(sampler).image_view(view).image_layout(GENERAL)]
            };
            let images = [
                bound(vk::Sampler::null()),
                bound(sampler(vk::Filter::NEAREST)),
                bound(sampler(vk::Filter::LINEAR)),
            ];
            let buffers = [words, results]
                .map(|buffer| [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }]);
            let writes: Vec<_> = (0..5)
                .map(|n| {
                    let write = vk::WriteDescriptorSet::default()
                        .dst_set(set)
                        .dst_binding(n as u32)
                        .descriptor_type(TYPES[n]);
                    if n < 3 { write.image_info(&images[n]) } else { write.buffer_info(&buffers[n - 3]) }
                })
                .collect();
            v.device.update_descriptor_sets(&writes, &[]);
            Halves { image, words, pipelines, layout, set }
        }
    }
}

fn whole() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange { aspect_mask: COLOR, level_count: 1, layer_count: 1, ..Default::default() }
}

fn barrier(v: &Vulkan, c: vk::CommandBuffer, image: vk::Image, from: vk::ImageLayout) {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let memory = [vk::MemoryBarrier::default().src_access_mask(all).dst_access_mask(all)];
    let image = [vk::ImageMemoryBarrier::default()
        .src_access_mask(all)
        .dst_access_mask(all)
        .old_layout(from)
        .new_layout(GENERAL)
        .image(image)
        .subresource_range(whole())];
    let stages = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
    // SAFETY: valid usage.
    unsafe { v.device.cmd_pipeline_barrier(c, stages, stages, Default::default(), &memory, &[], &image) };
}

/// Texel x of the first rows of the image.
fn texel(x: u32) -> f32 {
    if x < 1024 { x as f32 } else { 0.0 }
}

fn body() {
    let v = Vulkan::robust();
    let count = (EXTENT.width * EXTENT.height) as usize;
    let (results, _, told) = v.buffer(15 * 32 * 4, 1);
    let (from, _, source) = v.buffer(4 * count as u64, 1);
    let (to, _, target) = v.buffer(4 * count as u64, 1);
    let (copied, _, copies) = v.buffer(2 * BLOCK, 1);
    // SAFETY: mapped memory of so many words.
    (0..count).for_each(|n| unsafe { source.cast::<f32>().add(n).write((n % 2048) as f32) });
    let halves = Halves::new(&v, results);
    let layers = vk::ImageSubresourceLayers { aspect_mask: COLOR, layer_count: 1, ..Default::default() };
    let region = [vk::BufferImageCopy::default().image_subresource(layers).image_extent(EXTENT)];
    let point = vk::PipelineBindPoint::COMPUTE;
    v.run(v.record(|c| {
        // SAFETY: valid usage.
        unsafe {
            barrier(&v, c, halves.image, vk::ImageLayout::UNDEFINED);
            v.device.cmd_copy_buffer_to_image(c, from, halves.image, GENERAL, &region);
            v.device.cmd_fill_buffer(c, halves.words, 0, vk::WHOLE_SIZE, 7);
            barrier(&v, c, halves.image, GENERAL);
            v.device.cmd_bind_descriptor_sets(c, point, halves.layout, 0, &[halves.set], &[]);
            // The second one writes nothing of which a part is not bound, so that it may be machine code.
            for pipeline in halves.pipelines {
                v.device.cmd_bind_pipeline(c, point, pipeline);
                v.device.cmd_dispatch(c, 1, 1, 1);
                barrier(&v, c, halves.image, GENERAL);
            }
            v.device.cmd_copy_image_to_buffer(c, halves.image, GENERAL, to, &region);
            let all = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 2 * BLOCK }];
            v.device.cmd_copy_buffer(c, halves.words, copied, &all);
            barrier(&v, c, halves.image, GENERAL);
        }
    }));
    let told = v.words(told, 15 * 32);
    for n in 0..32u32 {
        let (x, other) = (1008 + n, 31 - n);
        let here = x < 1024;
        // Texels out of bounds are none that memory could be missing for.
        let codes = [here, true, here, x + 4 < 1024, here, here, x + 1 < 1024, x + 1 < 1024];
        let resident = (0..8).fold(0, |all, n| all | u32::from(codes[n]) << n);
        let t = texel(x);
        let read = [t, 0.0, t, texel(x + 4), t, t, (t + texel(x + 1)) / 2.0, t].map(f32::to_bits);
        let written = if 1008 + other < 1024 { other + 1 } else { 0 };
        let mut expected = vec![resident];
        expected.extend(read);
        expected.extend([written, (other + 1) << 16, 0]);
        assert_eq!(told[12 * n as usize..][..12], expected[..], "invocation {n}");
        let resident = u32::from(here) | u32::from(x + 1 < 1024) << 1;
        let expected = [resident, t.to_bits(), texel(x + 1).to_bits()];
        assert_eq!(told[12 * 32 + 3 * n as usize..][..3], expected, "invocation {n} of the second one");
    }
    let back = v.words(target, count);
    for (n, word) in back.into_iter().enumerate() {
        let (x, y) = (n as u32 % 2048, n / 2048);
        let expected = if y == 3 && (1008..1024).contains(&x) { (x - 1007) as f32 } else { texel(x) };
        assert_eq!(f32::from_bits(word), expected, "texel ({x}, {y})");
    }
    let words = v.words(copies, 2 * BLOCK as usize / 4);
    let expected = |n: u32| {
        if n < 32 {
            n + 1
        } else if n < 16384 {
            7
        } else {
            0
        }
    };
    assert!(words.iter().zip(0..).all(|(word, n)| *word == expected(n)));
}

#[test]
fn shaders_know_what_is_resident_and_nothing_else_is_there() {
    let name = "shaders_know_what_is_resident_and_nothing_else_is_there";
    for (mode, tier) in [("run", "interpreter"), ("run", "compiled"), ("check", "auto")] {
        let Some(text) = alone(name, &[("PELLUCID_MODE", mode), ("PELLUCID_TIER", tier)]) else {
            return body();
        };
        assert!(!text.contains("error[") && !text.contains("warning["), "{mode} {tier}: {text}");
    }
}

#[test]
fn dispatches_that_reach_what_is_not_bound_are_not_captured() {
    let name = "dispatches_that_reach_what_is_not_bound_are_not_captured";
    if std::env::var_os("PELLUCID_CAPTURE").is_some() {
        return body();
    }
    // One that writes there, and one that asks.
    for dispatch in 0..2 {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("held"), "").unwrap();
        let wanted = format!("{dispatch}:{}", folder.path().display());
        alone(name, &[("PELLUCID_MODE", "check"), ("PELLUCID_CAPTURE", &wanted)]).unwrap();
        let captured = std::fs::read(folder.path().join("capture")).unwrap();
        let text = String::from_utf8_lossy(&captured);
        let refused = "not implemented in Pellucid: capturing a dispatch that reaches sparse resources that are \
                       partly bound";
        assert!(text.contains(refused), "{text}");
    }
}

#[test]
fn it_is_told_what_there_is() {
    let v = Vulkan::new();
    // SAFETY: live handles.
    unsafe {
        let features = v.instance.get_physical_device_features(v.physical);
        assert_eq!(features.shader_resource_residency, 1);
        let properties = v.instance.get_physical_device_properties(v.physical);
        assert_eq!(properties.sparse_properties.residency_non_resident_strict, 1);
    }
}
