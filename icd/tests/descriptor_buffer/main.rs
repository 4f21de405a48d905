//! VK_EXT_descriptor_buffer: descriptors in memory.

mod captured;
#[path = "../common/mod.rs"]
mod common;
mod described;

use ash::vk;
use common::alone;
use described::*;
use vk::{AccessFlags2 as Access, DescriptorType as T, PipelineStageFlags2 as Stage};

#[test]
fn properties_say_what_layouts_are() {
    let d = Described::new();
    let mut properties = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
    let bindings = [
        binding(0, T::STORAGE_BUFFER, 3),
        binding(4, T::INLINE_UNIFORM_BLOCK, 20),
        binding(2, T::SAMPLER, 1),
        binding(7, T::COMBINED_IMAGE_SAMPLER, 2),
    ];
    let layout = d.set_layout(&bindings, Default::default());
    // SAFETY: valid usage.
    unsafe {
        d.instance.get_physical_device_properties2(d.physical, &mut all);
        assert_eq!(properties.storage_buffer_descriptor_size as u64, SIZE);
        assert_eq!(properties.combined_image_sampler_descriptor_size as u64, SIZE);
        let at = |n| d.functions.get_descriptor_set_layout_binding_offset(layout, n);
        assert_eq!([at(0), at(2), at(4), at(7)], [0, 96, 128, 160]);
        assert_eq!(d.functions.get_descriptor_set_layout_size(layout), 224);
    }
}

#[test]
fn every_type_of_descriptor_is_read_in_memory() {
    clean("every_type_of_descriptor_is_read_in_memory", every_type);
}

fn every_type() {
    let d = Described::new();
    let sampler = d.sampler();
    let bindings = [
        binding(0, T::STORAGE_BUFFER, 2),
        binding(1, T::UNIFORM_BUFFER, 1),
        binding(2, T::INLINE_UNIFORM_BLOCK, 16),
        binding(3, T::STORAGE_TEXEL_BUFFER, 1),
        binding(4, T::UNIFORM_TEXEL_BUFFER, 1),
        binding(5, T::STORAGE_IMAGE, 1),
        binding(6, T::SAMPLED_IMAGE, 1),
        binding(7, T::COMBINED_IMAGE_SAMPLER, 1),
        binding(8, T::SAMPLER, 1),
    ];
    let first = d.set_layout(&bindings, Default::default());
    let immutable = [sampler];
    let embedded = [binding(0, T::SAMPLER, 1).immutable_samplers(&immutable)];
    let second = d.set_layout(&embedded, vk::DescriptorSetLayoutCreateFlags::EMBEDDED_IMMUTABLE_SAMPLERS_EXT);
    let (layout, pipeline) = d.pipeline(include_bytes!("../shaders/described.spv"), &[first, second]);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width: 2, height: 2, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(
            vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::SAMPLED,
        );
    let image = d.image(&info, 0);
    let whole = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .subresource_range(whole);
    let (input, output, table) = (d.bytes(256, 1), d.bytes(512, 1), d.bytes(1024, 1));
    // SAFETY: valid usage; nothing runs while the host writes.
    unsafe {
        let view = d.device.create_image_view(&info, None).unwrap();
        let values: Vec<u32> = (100..164).collect();
        input.mapped.cast::<u32>().copy_from(values.as_ptr(), values.len());
        // The set is not at the buffer's first byte.
        let at = |n| {
            let offset = d.functions.get_descriptor_set_layout_binding_offset(first, n);
            table.mapped.add(64 + offset as usize)
        };
        let (none, texels) = (vk::Format::UNDEFINED, vk::Format::R32_UINT);
        d.put_buffer(at(0), T::STORAGE_BUFFER, (output.address, 64), none);
        d.put_buffer(at(0).add(SIZE as usize), T::STORAGE_BUFFER, (output.address + 256, 64), none);
        d.put_buffer(at(1), T::UNIFORM_BUFFER, (input.address + 16, 16), none);
        at(2).cast::<u32>().copy_from([1u32, 2, 3, 4].as_ptr(), 4);
        d.put_buffer(at(3), T::STORAGE_TEXEL_BUFFER, (input.address + 32, 32), texels);
        d.put_buffer(at(4), T::UNIFORM_TEXEL_BUFFER, (input.address + 64, 32), texels);
        d.put_image(at(5), T::STORAGE_IMAGE, view, vk::Sampler::null());
        d.put_image(at(6), T::SAMPLED_IMAGE, view, vk::Sampler::null());
        d.put_image(at(7), T::COMBINED_IMAGE_SAMPLER, view, sampler);
        d.put_sampler(at(8), sampler);
        d.run(d.record(|c| {
            let change = |from, to, before: (Stage, Access), after: (Stage, Access)| {
                let barrier = [vk::ImageMemoryBarrier2::default()
                    .src_stage_mask(before.0)
                    .src_access_mask(before.1)
                    .dst_stage_mask(after.0)
                    .dst_access_mask(after.1)
                    .old_layout(from)
                    .new_layout(to)
                    .image(image)
                    .subresource_range(whole)];
                let info = vk::DependencyInfo::default().image_memory_barriers(&barrier);
                d.device.cmd_pipeline_barrier2(c, &info);
            };
            let (undefined, general) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL);
            change(undefined, general, (Stage::NONE, Access::NONE), COPIED);
            let region = vk::BufferImageCopy {
                buffer_offset: 128,
                image_subresource: vk::ImageSubresourceLayers {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    layer_count: 1,
                    ..Default::default()
                },
                image_extent: vk::Extent3D { width: 2, height: 2, depth: 1 },
                ..Default::default()
            };
            d.device.cmd_copy_buffer_to_image(c, input.buffer, image, general, &[region]);
            change(general, general, COPIED, (Stage::COMPUTE_SHADER, Access::SHADER_READ));
            d.bind(c, table.address);
            d.functions.cmd_set_descriptor_buffer_offsets(c, POINT, layout, 0, &[0], &[64]);
            d.functions.cmd_bind_descriptor_buffer_embedded_samplers(c, POINT, layout, 1);
            d.device.cmd_bind_pipeline(c, POINT, pipeline);
            d.device.cmd_dispatch(c, 1, 1, 1);
            d.barrier(c, WROTE, TO_HOST);
        }));
        assert_eq!(d.words(output.mapped, 5), [104, 3, 109, 118, 133]);
        assert_eq!(d.words(output.mapped.add(256), 3), [133, 134, 135]);
    }
}

#[test]
fn the_device_writes_descriptors() {
    const CASES: [Option<(Stage, Access)>; 4] = [
        Some(DESCRIPTORS),
        Some((Stage::ALL_COMMANDS, Access::MEMORY_READ)),
        Some((Stage::COMPUTE_SHADER, Access::UNIFORM_READ)),
        None,
    ];
    for mode in ["run", "check"] {
        for (case, to) in CASES.iter().enumerate() {
            let number = case.to_string();
            let variables = [("PELLUCID_MODE", mode), ("TEST_CASE", number.as_str())];
            let Some(text) = alone("the_device_writes_descriptors", &variables) else {
                return copied(CASES[std::env::var("TEST_CASE").unwrap().parse::<usize>().unwrap()]);
            };
            let found = mode == "check" && case >= 2;
            assert_eq!(text.contains("error[hazard-read-after-write]"), found, "{mode}, {to:?}: {text}");
            assert_eq!(text.contains("error["), found, "{mode}, {to:?}: {text}");
            assert_eq!(text.contains("DESCRIPTOR_BUFFER_READ_EXT"), found, "{mode}, {to:?}: {text}");
        }
    }
}

/// Two dispatches, with descriptors of two buffers that a copy brings, one after the other, to one place.
fn copied(to: Option<(Stage, Access)>) {
    let d = Described::new();
    let (_, layout, pipeline) = spin(&d);
    let (one, two, staging, table) = (d.bytes(128, 1), d.bytes(128, 1), d.bytes(64, 1), d.bytes(64, 0));
    // SAFETY: valid usage, but for what a case leaves out; nothing runs while the host writes.
    unsafe {
        one.mapped.write_bytes(0, 128);
        two.mapped.write_bytes(0, 128);
        let none = vk::Format::UNDEFINED;
        d.put_buffer(staging.mapped, T::STORAGE_BUFFER, (one.address, 128), none);
        d.put_buffer(staging.mapped.add(32), T::STORAGE_BUFFER, (two.address, 128), none);
        d.run(d.record(|c| {
            d.bind(c, table.address);
            d.functions.cmd_set_descriptor_buffer_offsets(c, POINT, layout, 0, &[0], &[0]);
            for from in [0, 32] {
                let region = vk::BufferCopy { src_offset: from, dst_offset: 0, size: SIZE };
                d.device.cmd_copy_buffer(c, staging.buffer, table.buffer, &[region]);
                if let Some(to) = to {
                    d.barrier(c, COPIED, to);
                }
                dispatch(&d, c, layout, pipeline);
                d.barrier(c, (Stage::COMPUTE_SHADER, Access::NONE), (Stage::COPY, Access::NONE));
            }
            d.barrier(c, WROTE, TO_HOST);
        }));
        assert_eq!(d.words(one.mapped, 32), [3; 32]);
        assert_eq!(d.words(two.mapped, 32), [3; 32]);
    }
}

#[test]
fn a_copy_over_descriptors_waits_for_the_dispatch() {
    for ordered in ["1", "0"] {
        let variables = [("PELLUCID_MODE", "check"), ("TEST_CASE", ordered)];
        let Some(text) = alone("a_copy_over_descriptors_waits_for_the_dispatch", &variables) else {
            let d = Described::new();
            let (_, layout, pipeline) = spin(&d);
            let (words, table) = (d.bytes(128, 1), d.bytes(64, 1));
            let ordered = std::env::var("TEST_CASE").unwrap() == "1";
            // SAFETY: valid usage, but for the barrier that a case leaves out.
            unsafe {
                words.mapped.write_bytes(0, 128);
                let bytes = (words.address, 128);
                d.put_buffer(table.mapped, T::STORAGE_BUFFER, bytes, vk::Format::UNDEFINED);
                d.run(d.record(|c| {
                    d.bind(c, table.address);
                    d.functions.cmd_set_descriptor_buffer_offsets(c, POINT, layout, 0, &[0], &[0]);
                    dispatch(&d, c, layout, pipeline);
                    if ordered {
                        let (reads, writes) = (Stage::COMPUTE_SHADER, Stage::CLEAR);
                        d.barrier(c, (reads, Access::NONE), (writes, Access::NONE));
                    }
                    d.device.cmd_fill_buffer(c, table.buffer, 0, SIZE, 0);
                }));
            }
            return;
        };
        assert_eq!(text.contains("error[hazard-write-after-read]"), ordered == "0", "{text}");
    }
}

#[test]
fn bytes_that_are_no_descriptor_are_told_of() {
    const CASES: [(&str, &str); 5] = [
        ("garbage", "its bytes are no descriptor"),
        ("unbound", "no buffer with a device address holds its bytes"),
        ("ended", "and no buffer is there"),
        ("other", "its descriptor is of another type"),
        ("null", ""),
    ];
    for mode in ["run", "check"] {
        for (case, says) in CASES {
            let variables = [("PELLUCID_MODE", mode), ("TEST_CASE", case)];
            let Some(text) = alone("bytes_that_are_no_descriptor_are_told_of", &variables) else {
                return wrong(&std::env::var("TEST_CASE").unwrap());
            };
            assert!(text.contains(says), "{mode}, {case}: {text}");
            assert_eq!(text.contains("vkCmdDispatch: set 0, binding 0"), !says.is_empty(), "{mode}: {text}");
            // Check mode also finds the accesses.
            assert_eq!(text.contains("error["), mode == "check" && case != "null", "{mode}, {case}: {text}");
        }
    }
}

/// A dispatch through what is wrong with the only descriptor.
fn wrong(case: &str) {
    let d = Described::new();
    let (_, layout, pipeline) = spin(&d);
    let (words, table) = (d.bytes(128, 1), d.bytes(64, 1));
    let none = vk::Format::UNDEFINED;
    // SAFETY: valid usage, but for what a case is about, for which the driver promises a message.
    unsafe {
        words.mapped.write_bytes(0, 128);
        let bytes = (words.address, 128);
        match case {
            "garbage" => table.mapped.write_bytes(0xcc, 64),
            "other" => {
                d.put_buffer(table.mapped, T::UNIFORM_TEXEL_BUFFER, bytes, vk::Format::R32_UINT);
            }
            "null" => d.put(
                table.mapped,
                T::STORAGE_BUFFER,
                vk::DescriptorDataEXT { p_storage_buffer: std::ptr::null() },
            ),
            _ => d.put_buffer(table.mapped, T::STORAGE_BUFFER, bytes, none),
        }
        let address = if case == "unbound" { 1 << 40 } else { table.address };
        let commands = d.record(|c| {
            d.bind(c, address);
            d.functions.cmd_set_descriptor_buffer_offsets(c, POINT, layout, 0, &[0], &[0]);
            dispatch(&d, c, layout, pipeline);
            d.barrier(c, WROTE, TO_HOST);
        });
        if case == "ended" {
            d.device.destroy_buffer(words.buffer, None);
            d.device.free_memory(words.memory, None);
        }
        d.run(commands);
        if case != "ended" {
            assert_eq!(d.words(words.mapped, 32), [0; 32]);
        }
    }
}

#[test]
fn views_that_end_early_are_told_of() {
    for (case, says) in [("before", "names a VkSampler that is destroyed"), ("pending", "freed-in-use")] {
        let variables = [("PELLUCID_MODE", "check"), ("TEST_CASE", case)];
        let Some(text) = alone("views_that_end_early_are_told_of", &variables) else {
            return early(&std::env::var("TEST_CASE").unwrap());
        };
        assert!(text.contains(says), "{case}: {text}");
        assert_eq!(text.contains("freed-in-use"), case == "pending", "{case}: {text}");
    }
}

/// A sampler ends before the submission or while that is pending, which waits for the host.
fn early(case: &str) {
    let d = Described::new();
    let sampler = d.sampler();
    let bindings =
        [binding(0, T::STORAGE_BUFFER, 1), binding(1, T::SAMPLED_IMAGE, 1), binding(2, T::SAMPLER, 1)];
    let set = d.set_layout(&bindings, Default::default());
    let (layout, pipeline) = d.pipeline(include_bytes!("../shaders/sampled.spv"), &[set]);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width: 2, height: 2, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::SAMPLED);
    let image = d.image(&info, 0);
    let whole = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .subresource_range(whole);
    let (output, table) = (d.bytes(64, 1), d.bytes(128, 1));
    // SAFETY: valid usage, but for the sampler that ends early, of which the driver promises to tell.
    unsafe {
        let view = d.device.create_image_view(&info, None).unwrap();
        d.put_buffer(table.mapped, T::STORAGE_BUFFER, (output.address, 64), vk::Format::UNDEFINED);
        d.put_image(table.mapped.add(32), T::SAMPLED_IMAGE, view, vk::Sampler::null());
        d.put_sampler(table.mapped.add(64), sampler);
        let commands = d.record(|c| {
            let barrier = [vk::ImageMemoryBarrier2::default()
                .dst_stage_mask(COPIED.0)
                .dst_access_mask(COPIED.1)
                .new_layout(vk::ImageLayout::GENERAL)
                .image(image)
                .subresource_range(whole)];
            let to_general = vk::DependencyInfo::default().image_memory_barriers(&barrier);
            d.device.cmd_pipeline_barrier2(c, &to_general);
            let colour = vk::ClearColorValue { uint32: [7; 4] };
            d.device.cmd_clear_color_image(c, image, vk::ImageLayout::GENERAL, &colour, &[whole]);
            d.barrier(
                c,
                (Stage::CLEAR, Access::TRANSFER_WRITE),
                (Stage::COMPUTE_SHADER, Access::SHADER_SAMPLED_READ),
            );
            d.bind(c, table.address);
            d.functions.cmd_set_descriptor_buffer_offsets(c, POINT, layout, 0, &[0], &[0]);
            d.device.cmd_bind_pipeline(c, POINT, pipeline);
            d.device.cmd_dispatch(c, 1, 1, 1);
            d.barrier(c, WROTE, TO_HOST);
        });
        if case == "before" {
            d.device.destroy_sampler(sampler, None);
            d.run(commands);
            return;
        }
        let (gate, fence) =
            (d.timeline().unwrap(), d.device.create_fence(&Default::default(), None).unwrap());
        d.submit_after(gate, 1, commands, fence).unwrap();
        d.device.destroy_sampler(sampler, None);
        let signal = vk::SemaphoreSignalInfo::default().semaphore(gate).value(1);
        d.device.signal_semaphore(&signal).unwrap();
        d.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        // What the submission names stays until its end.
        assert_eq!(d.words(output.mapped, 1), [7]);
    }
}

#[test]
fn pushed_descriptors_stand_beside_those_in_memory() {
    clean("pushed_descriptors_stand_beside_those_in_memory", pushed);
}

fn pushed() {
    let d = Described::new();
    let push = ash::khr::push_descriptor::Device::new(&d.instance, &d.device);
    let flags = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
    let set = d.set_layout(&[binding(0, T::STORAGE_BUFFER, 1)], flags);
    let in_memory = d.set_layout(&[binding(0, T::STORAGE_BUFFER, 1)], Default::default());
    let (layout, pipeline) = d.pipeline(include_bytes!("../shaders/spin.spv"), &[set, in_memory]);
    let (words, table) = (d.bytes(128, 1), d.bytes(64, 1));
    // SAFETY: valid usage; nothing runs while the host writes.
    unsafe {
        words.mapped.write_bytes(0, 128);
        d.run(d.record(|c| {
            let info = [vk::DescriptorBufferInfo::default().buffer(words.buffer).range(128)];
            let write =
                [vk::WriteDescriptorSet::default().descriptor_type(T::STORAGE_BUFFER).buffer_info(&info)];
            push.cmd_push_descriptor_set(c, POINT, layout, 0, &write);
            d.bind(c, table.address);
            d.functions.cmd_set_descriptor_buffer_offsets(c, POINT, layout, 1, &[0], &[0]);
            dispatch(&d, c, layout, pipeline);
            d.barrier(c, WROTE, TO_HOST);
        }));
        assert_eq!(d.words(words.mapped, 32), [3; 32]);
    }
}

#[test]
fn commands_of_maintenance6_do_the_same() {
    clean("commands_of_maintenance6_do_the_same", with_maintenance6);
}

fn with_maintenance6() {
    let d = Described::new();
    let six = ash::khr::maintenance6::Device::new(&d.instance, &d.device);
    let (_, layout, pipeline) = spin(&d);
    let (words, table) = (d.bytes(128, 1), d.bytes(64, 1));
    // SAFETY: valid usage; nothing runs while the host writes.
    unsafe {
        words.mapped.write_bytes(0, 128);
        let bytes = (words.address, 128);
        d.put_buffer(table.mapped.add(32), T::STORAGE_BUFFER, bytes, vk::Format::UNDEFINED);
        d.run(d.record(|c| {
            d.bind(c, table.address);
            let (indices, offsets) = ([0], [32]);
            let info = vk::SetDescriptorBufferOffsetsInfoEXT::default()
                .stage_flags(COMPUTE)
                .layout(layout)
                .buffer_indices(&indices)
                .offsets(&offsets);
            let info = vk::SetDescriptorBufferOffsetsInfoEXT { set_count: 1, ..info };
            (six.fp().cmd_set_descriptor_buffer_offsets2_ext)(c, &raw const info);
            dispatch(&d, c, layout, pipeline);
            d.barrier(c, WROTE, TO_HOST);
        }));
        assert_eq!(d.words(words.mapped, 32), [3; 32]);
    }
}

#[test]
fn the_host_flushes_the_descriptors_that_it_wrote() {
    for flushed in ["1", "0"] {
        let variables = [("PELLUCID_MODE", "check"), ("TEST_CASE", flushed)];
        let Some(text) = alone("the_host_flushes_the_descriptors_that_it_wrote", &variables) else {
            let d = Described::new();
            let (_, layout, pipeline) = spin(&d);
            // Memory type 3 is not coherent.
            let (words, table) = (d.bytes(128, 1), d.bytes(64, 3));
            // SAFETY: valid usage, but for the flush that a case leaves out.
            unsafe {
                words.mapped.write_bytes(0, 128);
                let bytes = (words.address, 128);
                d.put_buffer(table.mapped, T::STORAGE_BUFFER, bytes, vk::Format::UNDEFINED);
                if std::env::var("TEST_CASE").unwrap() == "1" {
                    let range = vk::MappedMemoryRange::default().memory(table.memory).size(vk::WHOLE_SIZE);
                    d.device.flush_mapped_memory_ranges(&[range]).unwrap();
                }
                d.run(d.record(|c| {
                    d.bind(c, table.address);
                    d.functions.cmd_set_descriptor_buffer_offsets(c, POINT, layout, 0, &[0], &[0]);
                    dispatch(&d, c, layout, pipeline);
                    d.barrier(c, WROTE, TO_HOST);
                }));
            }
            return;
        };
        assert_eq!(text.contains("error["), flushed == "0", "{text}");
    }
}

#[test]
fn a_shader_object_reads_descriptors_in_memory() {
    clean("a_shader_object_reads_descriptors_in_memory", with_shader_object);
}

fn with_shader_object() {
    let d = Described::new();
    let objects = ash::ext::shader_object::Device::new(&d.instance, &d.device);
    let set = d.set_layout(&[binding(0, T::STORAGE_BUFFER, 1)], Default::default());
    let (layout, _) = d.pipeline(include_bytes!("../shaders/spin.spv"), &[set]);
    let (words, table, groups) = (d.bytes(128, 1), d.bytes(64, 1), d.bytes(64, 1));
    let push = [vk::PushConstantRange::default().size(16).stage_flags(COMPUTE)];
    let code = ash::util::read_spv(&mut std::io::Cursor::new(include_bytes!("../shaders/spin.spv"))).unwrap();
    // SAFETY: valid usage; nothing runs while the host writes.
    unsafe {
        let sets = [set];
        let bytes = std::slice::from_raw_parts(code.as_ptr().cast::<u8>(), code.len() * 4);
        let info = vk::ShaderCreateInfoEXT::default()
            .stage(COMPUTE)
            .code_type(vk::ShaderCodeTypeEXT::SPIRV)
            .code(bytes)
            .name(c"main")
            .set_layouts(&sets)
            .push_constant_ranges(&push);
        let shader = objects.create_shaders(&[info], None).unwrap()[0];
        words.mapped.write_bytes(0, 128);
        groups.mapped.cast::<u32>().copy_from([1u32, 1, 1].as_ptr(), 3);
        d.put_buffer(table.mapped, T::STORAGE_BUFFER, (words.address, 128), vk::Format::UNDEFINED);
        d.run(d.record(|c| {
            d.bind(c, table.address);
            d.functions.cmd_set_descriptor_buffer_offsets(c, POINT, layout, 0, &[0], &[0]);
            objects.cmd_bind_shaders(c, &[COMPUTE], &[shader]);
            d.device.cmd_push_constants(c, layout, COMPUTE, 0, &3u32.to_le_bytes());
            d.device.cmd_dispatch_indirect(c, groups.buffer, 0);
            d.barrier(c, WROTE, TO_HOST);
        }));
        assert_eq!(d.words(words.mapped, 32), [3; 32]);
    }
}
