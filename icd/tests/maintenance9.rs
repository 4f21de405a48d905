//! VK_KHR_maintenance9.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use std::ffi::c_void;
use vk::{AccessFlags2 as Access, PipelineStageFlags2 as Stage};

/// VK_DEPENDENCY_ASYMMETRIC_EVENT_BIT_KHR.
const ASYMMETRIC: vk::DependencyFlags = vk::DependencyFlags::from_raw(0x40);

/// A structure of the extension: a header and up to two words.
#[repr(C)]
struct Words<const KIND: i32> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    words: [u32; 2],
}

impl<const KIND: i32> Words<KIND> {
    fn new(words: [u32; 2]) -> Words<KIND> {
        Words { s_type: vk::StructureType::from_raw(KIND), p_next: std::ptr::null_mut(), words }
    }
}

// SAFETY: the structure begins with sType and pNext.
unsafe impl<const KIND: i32> vk::TaggedStructure for Words<KIND> {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(KIND);
}

type Features = Words<1_000_584_000>;
type Properties = Words<1_000_584_001>;
type Transfer = Words<1_000_584_002>;

// SAFETY: these are the structures that they extend.
unsafe impl vk::ExtendsDeviceCreateInfo for Features {}
// SAFETY: the same.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Features {}
// SAFETY: the same.
unsafe impl vk::ExtendsPhysicalDeviceProperties2 for Properties {}

fn vulkan(enabled: bool) -> Vulkan {
    let mut thirteen = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    let mut features = Features::new([enabled.into(), 0]);
    features.p_next = (&raw mut thirteen).cast();
    Vulkan::with(&[c"VK_KHR_maintenance9"], &mut features)
}

#[test]
fn what_it_offers_is_told() {
    let v = Vulkan::new();
    // SAFETY: live handles, complete structures.
    unsafe {
        let mut features = Features::new([9, 0]);
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
        v.instance.get_physical_device_features2(v.physical, &mut all);
        assert_eq!(features.words[0], 1);
        let mut properties = Properties::new([9, 9]);
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        v.instance.get_physical_device_properties2(v.physical, &mut all);
        assert_eq!(properties.words, [1, 0]);
        let mut transfer = Transfer::new([9, 0]);
        let mut family =
            [vk::QueueFamilyProperties2 { p_next: (&raw mut transfer).cast(), ..Default::default() }];
        v.instance.get_physical_device_queue_family_properties2(v.physical, &mut family);
        assert_eq!(transfer.words[0], 0b111);
    }
}

#[test]
fn a_device_without_queues_makes_pipelines() {
    let v = Vulkan::new();
    let mut features = Features::new([1, 0]);
    let names = [c"VK_KHR_maintenance9".as_ptr()];
    let info = vk::DeviceCreateInfo::default().enabled_extension_names(&names).push_next(&mut features);
    let code = include_bytes!("shaders/spin.spv");
    let words = ash::util::read_spv(&mut std::io::Cursor::new(code)).unwrap();
    // SAFETY: valid usage.
    unsafe {
        let device = v.instance.create_device(v.physical, &info, None).unwrap();
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
        let sets = [device.create_descriptor_set_layout(&info, None).unwrap()];
        let push = [vk::PushConstantRange::default().size(16).stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
        let layout = device.create_pipeline_layout(&info, None).unwrap();
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = device.create_shader_module(&info, None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let cache = device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None).unwrap();
        let pipeline = device.create_compute_pipelines(cache, &info, None).unwrap()[0];
        device.destroy_pipeline(pipeline, None);
        assert!(device.get_pipeline_cache_data(cache).unwrap().len() >= 32);
        device.device_wait_idle().unwrap();
        device.destroy_device(None);
    }
}

fn memory(from: (Stage, Access), to: (Stage, Access)) -> vk::MemoryBarrier2<'static> {
    vk::MemoryBarrier2::default()
        .src_stage_mask(from.0)
        .src_access_mask(from.1)
        .dst_stage_mask(to.0)
        .dst_access_mask(to.1)
}

/// Fills a buffer, copies another, and waits for an event that was set behind both, so that the copy may be
/// copied on and the first be filled again. `asymmetric`: the barriers are known to the wait alone; `late`:
/// the copy stands behind the event.
fn events(asymmetric: bool, late: bool) {
    let v = vulkan(true);
    let [(first, ..), (second, ..), (third, ..), (filled, ..)] = std::array::from_fn(|_| v.buffer(64, 1));
    let (fill, copy, none) = (Stage::CLEAR, Stage::COPY, (Stage::NONE, Access::NONE));
    let whole = [vk::BufferCopy::default().size(64)];
    let waited = [
        memory((copy, Access::TRANSFER_WRITE), (copy, Access::TRANSFER_READ)),
        memory((fill, Access::TRANSFER_WRITE), (fill, Access::TRANSFER_WRITE)),
    ];
    let told = [memory((fill | copy, Access::NONE), none)];
    let flags = if asymmetric { ASYMMETRIC } else { vk::DependencyFlags::empty() };
    let set = vk::DependencyInfo::default().dependency_flags(flags).memory_barriers(if asymmetric {
        &told
    } else {
        &waited
    });
    let wait = vk::DependencyInfo::default().dependency_flags(flags).memory_barriers(&waited);
    let between = [memory((fill, Access::TRANSFER_WRITE), (copy, Access::TRANSFER_READ))];
    let between = vk::DependencyInfo::default().memory_barriers(&between);
    // SAFETY: valid usage, but for the late copy.
    unsafe {
        let event = v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        v.run(v.record(|c| {
            v.device.cmd_fill_buffer(c, first, 0, 64, 7);
            v.device.cmd_fill_buffer(c, filled, 0, 64, 7);
            v.device.cmd_pipeline_barrier2(c, &between);
            if late {
                v.device.cmd_set_event2(c, event, &set);
            }
            v.device.cmd_copy_buffer(c, first, second, &whole);
            if !late {
                v.device.cmd_set_event2(c, event, &set);
            }
            v.device.cmd_wait_events2(c, &[event], &[wait]);
            v.device.cmd_copy_buffer(c, second, third, &whole);
            v.device.cmd_fill_buffer(c, filled, 0, 32, 8);
        }));
    }
}

#[test]
fn barriers_of_an_event_take_their_stages_of_it() {
    let name = "barriers_of_an_event_take_their_stages_of_it";
    for (case, findings) in [(0, false), (1, false), (2, true), (3, true)] {
        let variables = [("PELLUCID_MODE", "check"), ("TEST_CASE", &format!("{case}"))];
        let Some(text) = alone(name, &variables) else {
            let case: u32 = std::env::var("TEST_CASE").unwrap().parse().unwrap();
            return events(case % 2 == 1, case > 1);
        };
        assert_eq!(text.contains("error["), findings, "{case}: {text}");
    }
}

#[test]
fn queries_can_be_created_reset() {
    let v = vulkan(true);
    // VK_QUERY_POOL_CREATE_RESET_BIT_KHR.
    let info = vk::QueryPoolCreateInfo::default()
        .flags(vk::QueryPoolCreateFlags::from_raw(1))
        .query_type(vk::QueryType::TIMESTAMP)
        .query_count(2);
    // SAFETY: valid usage.
    unsafe {
        let pool = v.device.create_query_pool(&info, None).unwrap();
        v.run(v.record(|c| v.device.cmd_write_timestamp2(c, Stage::ALL_COMMANDS, pool, 1)));
        let mut read = [[7u64; 2]; 2];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        let result = v.device.get_query_pool_results(pool, 0, &mut read, flags);
        assert_eq!(result, Err(vk::Result::NOT_READY));
        assert_eq!((read[0], read[1][1]), ([7, 0], 1));
    }
}

/// Clears a 3D image, and brings its depth slices 2 and 3 alone to another layout while the others are copied
/// from; then these are.
fn slices() {
    let v = vulkan(true);
    let (buffer, ..) = v.buffer(4 * 4 * 4 * 4, 1);
    let aspect_mask = vk::ImageAspectFlags::COLOR;
    let (general, source) = (vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    let all = (Stage::ALL_COMMANDS, Access::MEMORY_READ | Access::MEMORY_WRITE);
    // SAFETY: valid usage.
    unsafe {
        let info = vk::ImageCreateInfo::default()
            .flags(vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE)
            .image_type(vk::ImageType::TYPE_3D)
            .format(vk::Format::R32_UINT)
            .extent(vk::Extent3D { width: 4, height: 4, depth: 4 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let image = v.image(&info, 0);
        let part = |first, count| vk::ImageSubresourceRange {
            aspect_mask,
            level_count: 1,
            base_array_layer: first,
            layer_count: count,
            ..Default::default()
        };
        let change = |c, range, from, to, access: Access| {
            let barrier = [vk::ImageMemoryBarrier2::default()
                .src_stage_mask(all.0)
                .src_access_mask(access)
                .dst_stage_mask(all.0)
                .dst_access_mask(all.1)
                .old_layout(from)
                .new_layout(to)
                .image(image)
                .subresource_range(range)];
            v.device.cmd_pipeline_barrier2(c, &vk::DependencyInfo::default().image_memory_barriers(&barrier));
        };
        let out = |z: i32| {
            [vk::BufferImageCopy::default()
                .buffer_offset(z as u64 * 64)
                .image_offset(vk::Offset3D { x: 0, y: 0, z })
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask,
                    layer_count: 1,
                    ..Default::default()
                })
                .image_extent(vk::Extent3D { width: 4, height: 4, depth: 2 })]
        };
        let whole = part(0, vk::REMAINING_ARRAY_LAYERS);
        v.run(v.record(|c| {
            change(c, whole, vk::ImageLayout::UNDEFINED, general, Access::NONE);
            v.device.cmd_clear_color_image(c, image, general, &Default::default(), &[part(0, 1)]);
            change(c, part(0, 2), general, source, all.1);
            change(c, part(2, 2), general, general, all.1);
            v.device.cmd_copy_image_to_buffer(c, image, source, buffer, &out(0));
            change(c, part(2, 2), general, source, Access::NONE);
            v.device.cmd_copy_image_to_buffer(c, image, source, buffer, &out(2));
        }));
    }
}

#[test]
fn barriers_are_for_the_depth_slices_they_name() {
    let name = "barriers_are_for_the_depth_slices_they_name";
    if let Some(text) = alone(name, &[("PELLUCID_MODE", "check")]) {
        assert!(!text.contains("error[") && !text.contains("warning["), "{text}");
        return;
    }
    slices();
}
