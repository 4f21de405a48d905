//! Samplers that take the least or the greatest of the texels around a place
//! (VkSamplerReductionModeCreateInfo), beside the formulas of *Texel Filtering*.

mod common;

use ash::vk;
use common::Vulkan;
use pellucid_memory::random::Random;

/// Texels along each axis of an image of one float each.
const SIDE: u32 = 8;
const PLACES: usize = 256;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

fn filtered(places: &[[f32; 2]], texels: &[f32], reduction: vk::SamplerReductionMode) -> Vec<[f32; 4]> {
    let v = Vulkan::new();
    // SAFETY: valid usage.
    unsafe {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R32_SFLOAT)
            .extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
        let image = v.image(&info, 0);
        let whole = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R32_SFLOAT)
            .subresource_range(whole);
        let view = v.device.create_image_view(&info, None).unwrap();
        let mut mode = vk::SamplerReductionModeCreateInfo::default().reduction_mode(reduction);
        let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .address_mode_u(edge)
            .address_mode_v(edge)
            .push_next(&mut mode);
        let sampler = v.device.create_sampler(&info, None).unwrap();
        let types = [
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            vk::DescriptorType::STORAGE_BUFFER,
            vk::DescriptorType::STORAGE_BUFFER,
        ];
        let (layout, set) = v.descriptors(&types, 0).unwrap();
        let code: &[u8] = include_bytes!("shaders/sample.spv");
        let code = ash::util::read_spv(&mut std::io::Cursor::new(code)).unwrap();
        let pipeline = v.pipeline(&code, c"main", layout).unwrap();
        let (from, _, source) = v.buffer(4 * texels.len() as u64, 1);
        let (at, _, asked) = v.buffer(8 * places.len() as u64, 1);
        let (to, _, results) = v.buffer(16 * places.len() as u64, 1);
        source.cast::<f32>().copy_from_nonoverlapping(texels.as_ptr(), texels.len());
        asked.cast::<[f32; 2]>().copy_from_nonoverlapping(places.as_ptr(), places.len());
        let image_info =
            [vk::DescriptorImageInfo::default().sampler(sampler).image_view(view).image_layout(GENERAL)];
        let buffers =
            [at, to].map(|buffer| [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }]);
        let write = |n: usize| {
            vk::WriteDescriptorSet::default().dst_set(set).dst_binding(n as u32).descriptor_type(types[n])
        };
        let writes = [
            write(0).image_info(&image_info),
            write(1).buffer_info(&buffers[0]),
            write(2).buffer_info(&buffers[1]),
        ];
        v.device.update_descriptor_sets(&writes, &[]);
        v.run(v.record(|c| {
            let all = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
            let none = vk::DependencyFlags::empty();
            let (write, read) = (vk::AccessFlags::MEMORY_WRITE, vk::AccessFlags::MEMORY_READ);
            let memory = [vk::MemoryBarrier::default().src_access_mask(write).dst_access_mask(read | write)];
            let general = [vk::ImageMemoryBarrier::default()
                .dst_access_mask(write)
                .new_layout(GENERAL)
                .image(image)
                .subresource_range(whole)];
            v.device.cmd_pipeline_barrier(c, all, all, none, &[], &[], &general);
            let region = [vk::BufferImageCopy::default()
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    layer_count: 1,
                    ..Default::default()
                })
                .image_extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })];
            v.device.cmd_copy_buffer_to_image(c, from, image, GENERAL, &region);
            v.device.cmd_pipeline_barrier(c, all, all, none, &memory, &[], &[]);
            v.device.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipeline);
            v.device.cmd_bind_descriptor_sets(c, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
            v.device.cmd_dispatch(c, places.len().div_ceil(64) as u32, 1, 1);
            v.device.cmd_pipeline_barrier(c, all, all, none, &memory, &[], &[]);
        }));
        let words = v.words(results, 4 * places.len());
        words.as_chunks::<4>().0.iter().map(|texel| texel.map(f32::from_bits)).collect()
    }
}

#[test]
fn the_least_and_the_greatest_texel_with_a_weight_is_what_is_sampled() {
    let mut random = Random::new(7);
    let texels: Vec<f32> = (0..SIDE * SIDE).map(|_| random.below(2001u32) as f32 - 1000.0).collect();
    // Also places on texels, whose neighbours have no weight along one axis or both.
    let places: Vec<[f32; 2]> =
        (0..PLACES).map(|_| [(); 2].map(|()| (random.below(41u32) as f32 - 4.0) / 32.0)).collect();
    let around = |at: f32| {
        let texel = at * SIDE as f32 - 0.5;
        let (first, fraction) = (texel.floor() as i32, texel - texel.floor());
        let last = if fraction > 0.0 { first + 1 } else { first };
        (first..=last).map(|texel| texel.clamp(0, SIDE as i32 - 1) as u32)
    };
    for mode in [vk::SamplerReductionMode::MIN, vk::SamplerReductionMode::MAX] {
        let reduce = if mode == vk::SamplerReductionMode::MIN { f32::min } else { f32::max };
        let expected = places.iter().map(|[x, y]| {
            let texel = |(x, y): (u32, u32)| texels[(y * SIDE + x) as usize];
            let all = around(*y).flat_map(|y| around(*x).map(move |x| (x, y)));
            [all.map(texel).reduce(reduce).unwrap(), 0.0, 0.0, 1.0]
        });
        assert_eq!(filtered(&places, &texels, mode), expected.collect::<Vec<_>>(), "{mode:?}");
    }
}

#[test]
fn a_sampler_that_compares_has_no_other_reduction() {
    let v = Vulkan::new();
    for (compares, reduction, made) in [
        (vk::TRUE, vk::SamplerReductionMode::WEIGHTED_AVERAGE, true),
        (vk::TRUE, vk::SamplerReductionMode::MAX, false),
        (vk::FALSE, vk::SamplerReductionMode::MAX, true),
        (vk::FALSE, vk::SamplerReductionMode::from_raw(1_000_521_000), false),
    ] {
        let mut mode = vk::SamplerReductionModeCreateInfo::default().reduction_mode(reduction);
        let info = vk::SamplerCreateInfo::default().compare_enable(compares == vk::TRUE).push_next(&mut mode);
        // SAFETY: the mistake is the test's subject.
        assert_eq!(unsafe { v.device.create_sampler(&info, None) }.is_ok(), made, "{reduction:?}");
    }
}
