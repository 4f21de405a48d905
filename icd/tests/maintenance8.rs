//! VK_KHR_maintenance7 and 8, and VK_KHR_global_priority.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use std::ffi::c_void;
use vk::{AccessFlags2 as Access, PipelineStageFlags2 as Stage};

/// A structure of words behind a header.
#[repr(C)]
struct Words<const N: usize> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    words: [u32; N],
}

impl<const N: usize> Words<N> {
    fn new(s_type: i32) -> Words<N> {
        Words { s_type: vk::StructureType::from_raw(s_type), p_next: std::ptr::null_mut(), words: [9; N] }
    }
}

#[test]
fn what_they_offer_is_told() {
    let v = Vulkan::new();
    // SAFETY: complete structures.
    unsafe {
        for s_type in [1_000_562_000, 1_000_574_000] {
            let mut features = Words::<2>::new(s_type);
            let mut all =
                vk::PhysicalDeviceFeatures2 { p_next: (&raw mut features).cast(), ..Default::default() };
            v.instance.get_physical_device_features2(v.physical, &mut all);
            assert_eq!(features.words[0], 1);
        }
        let (mut limits, mut apis) = (Words::<8>::new(1_000_562_001), Words::<4>::new(1_000_562_002));
        limits.p_next = (&raw mut apis).cast();
        let mut all =
            vk::PhysicalDeviceProperties2 { p_next: (&raw mut limits).cast(), ..Default::default() };
        v.instance.get_physical_device_properties2(v.physical, &mut all);
        assert_eq!(limits.words, [0, 0, 64, 64, 128, 64, 64, 128]);
        assert_eq!(apis.words[0], 0);
        let mut priorities = vk::QueueFamilyGlobalPriorityPropertiesKHR::default();
        let mut families = vec![vk::QueueFamilyProperties2::default().push_next(&mut priorities)];
        v.instance.get_physical_device_queue_family_properties2(v.physical, &mut families);
        assert_eq!(priorities.priority_count, 1);
        assert_eq!(priorities.priorities[0], vk::QueueGlobalPriorityKHR::MEDIUM);
        type Priority = vk::QueueGlobalPriorityKHR;
        let (denied, failed) = (vk::Result::ERROR_NOT_PERMITTED_KHR, vk::Result::ERROR_INITIALIZATION_FAILED);
        // With the feature a priority that is not reported has to fail.
        for (priority, feature, refused) in [
            (Priority::LOW, false, None),
            (Priority::MEDIUM, false, None),
            (Priority::REALTIME, false, Some(&denied)),
            (Priority::LOW, true, Some(&failed)),
            (Priority::MEDIUM, true, None),
            (Priority::REALTIME, true, Some(&failed)),
        ] {
            let mut query =
                vk::PhysicalDeviceGlobalPriorityQueryFeaturesKHR::default().global_priority_query(feature);
            let mut priority =
                vk::DeviceQueueGlobalPriorityCreateInfoKHR::default().global_priority(priority);
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0]).push_next(&mut priority)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut query);
            let made = v.instance.create_device(v.physical, &info, None);
            assert_eq!(made.as_ref().err(), refused);
            made.into_iter().for_each(|device| device.destroy_device(None));
        }
    }
}

/// An image of 4 by 4 texels.
fn image(v: &Vulkan, format: vk::Format) -> vk::Image {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: 4, height: 4, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    v.image(&info, 0)
}

fn part(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() }
}

#[test]
fn one_aspect_is_copied_to_a_color_and_back() {
    for mode in ["run", "check"] {
        let Some(text) = alone("one_aspect_is_copied_to_a_color_and_back", &[("PELLUCID_MODE", mode)]) else {
            return copies();
        };
        assert!(!text.contains("error["), "{mode}: {text}");
    }
}

fn copies() {
    use vk::ImageAspectFlags as Aspect;
    let mut features = Words::<2>::new(1_000_574_000);
    features.words = [1, 0];
    let mut two = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    two.p_next = (&raw mut features).cast();
    let v = Vulkan::with(&[c"VK_KHR_maintenance8"], &mut two);
    let both = image(&v, vk::Format::D32_SFLOAT_S8_UINT);
    let colors = [vk::Format::R32_UINT, vk::Format::R8_UINT, vk::Format::R32_UINT, vk::Format::R8_UINT]
        .map(|format| image(&v, format));
    let [(words, _, seen), (bytes, _, seen_bytes)] = std::array::from_fn(|_| v.buffer(256, 1));
    let all = vk::Extent3D { width: 4, height: 4, depth: 1 };
    let range = |aspect_mask| vk::ImageSubresourceRange {
        aspect_mask,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let general = vk::ImageLayout::GENERAL;
    let barrier = |c, list: &[vk::ImageMemoryBarrier2<'_>], to: (Stage, Access)| {
        let memory = [vk::MemoryBarrier2::default()
            .src_stage_mask(Stage::ALL_TRANSFER)
            .src_access_mask(Access::TRANSFER_WRITE)
            .dst_stage_mask(to.0)
            .dst_access_mask(to.1)];
        let info = vk::DependencyInfo::default().memory_barriers(&memory).image_memory_barriers(list);
        // SAFETY: valid usage.
        unsafe { v.device.cmd_pipeline_barrier2(c, &info) };
    };
    let transfer = (Stage::ALL_TRANSFER, Access::TRANSFER_READ | Access::TRANSFER_WRITE);
    // SAFETY: valid usage.
    unsafe {
        v.run(v.record(|c| {
            let to_general = |image, aspects| {
                vk::ImageMemoryBarrier2::default()
                    .dst_stage_mask(transfer.0)
                    .dst_access_mask(transfer.1)
                    .new_layout(general)
                    .image(image)
                    .subresource_range(range(aspects))
            };
            let mut list: Vec<_> = colors.iter().map(|color| to_general(*color, Aspect::COLOR)).collect();
            list.push(to_general(both, Aspect::DEPTH | Aspect::STENCIL));
            barrier(c, &list, transfer);
            let color = |value| vk::ClearColorValue { uint32: [value, 0, 0, 0] };
            v.device.cmd_clear_color_image(
                c,
                colors[0],
                general,
                &color(0x3f00_0000),
                &[range(Aspect::COLOR)],
            );
            v.device.cmd_clear_color_image(c, colors[1], general, &color(0x5a), &[range(Aspect::COLOR)]);
            barrier(c, &[], transfer);
            let copy = |from, to, [a, b]: [Aspect; 2]| {
                let region = vk::ImageCopy {
                    src_subresource: part(a),
                    dst_subresource: part(b),
                    extent: all,
                    ..Default::default()
                };
                v.device.cmd_copy_image(c, from, general, to, general, &[region]);
            };
            copy(colors[0], both, [Aspect::COLOR, Aspect::DEPTH]);
            copy(colors[1], both, [Aspect::COLOR, Aspect::STENCIL]);
            barrier(c, &[], transfer);
            copy(both, colors[2], [Aspect::DEPTH, Aspect::COLOR]);
            copy(both, colors[3], [Aspect::STENCIL, Aspect::COLOR]);
            barrier(c, &[], transfer);
            let region = vk::BufferImageCopy {
                image_subresource: part(Aspect::COLOR),
                image_extent: all,
                ..Default::default()
            };
            v.device.cmd_copy_image_to_buffer(c, colors[2], general, words, &[region]);
            v.device.cmd_copy_image_to_buffer(c, colors[3], general, bytes, &[region]);
            barrier(c, &[], (Stage::HOST, Access::HOST_READ));
        }));
    }
    assert_eq!(v.words(seen, 16), [0x3f00_0000; 16]);
    assert_eq!(v.words(seen_bytes, 4), [0x5a5a_5a5a; 4]);
}

/// A fill on family 2, whose buffer family 0 acquires at its stage COPY, where it has waited; with the flag
/// that has the stages of a transfer count, or without.
fn transfer(counts: bool) {
    let mut features = Words::<2>::new(1_000_574_000);
    features.words = [1, 0];
    let mut two = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    two.p_next = (&raw mut features).cast();
    let v = Vulkan::with_families(3, &[c"VK_KHR_maintenance8"], &mut two);
    let [(from, ..), (to, ..)] = std::array::from_fn(|_| v.buffer(256, 1));
    let half = |c, (source, access): (Stage, Access), (stage, then): (Stage, Access)| {
        let barrier = [vk::BufferMemoryBarrier2::default()
            .src_stage_mask(source)
            .src_access_mask(access)
            .dst_stage_mask(stage)
            .dst_access_mask(then)
            .src_queue_family_index(2)
            .dst_queue_family_index(0)
            .buffer(from)
            .size(256)];
        let flags = vk::DependencyFlags::from_raw(if counts { 0x20 } else { 0 });
        let info = vk::DependencyInfo::default().dependency_flags(flags).buffer_memory_barriers(&barrier);
        // SAFETY: as below.
        unsafe { v.device.cmd_pipeline_barrier2(c, &info) };
    };
    // SAFETY: valid usage, but for the stage of the wait without the flag.
    unsafe {
        let record = |family, body: &dyn Fn(vk::CommandBuffer)| {
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
            let pool = v.device.create_command_pool(&info, None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = v.device.allocate_command_buffers(&info).unwrap()[0];
            v.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
            body(commands);
            v.device.end_command_buffer(commands).unwrap();
            [vk::CommandBufferSubmitInfo::default().command_buffer(commands)]
        };
        let filled = record(2, &|c| {
            v.device.cmd_fill_buffer(c, from, 0, 256, 7);
            half(c, (Stage::CLEAR, Access::TRANSFER_WRITE), (Stage::COPY, Access::NONE));
        });
        let copied = record(0, &|c| {
            half(c, (Stage::COPY, Access::NONE), (Stage::COPY, Access::TRANSFER_READ));
            v.device.cmd_copy_buffer(c, from, to, &[vk::BufferCopy::default().size(256)]);
        });
        let semaphore = v.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None).unwrap();
        let at = |stage| [vk::SemaphoreSubmitInfo::default().semaphore(semaphore).stage_mask(stage)];
        let signal = at(Stage::ALL_COMMANDS);
        let first = vk::SubmitInfo2::default().command_buffer_infos(&filled).signal_semaphore_infos(&signal);
        v.device.queue_submit2(v.queues[2], &[first], vk::Fence::null()).unwrap();
        let wait = at(Stage::COPY);
        let second = vk::SubmitInfo2::default().command_buffer_infos(&copied).wait_semaphore_infos(&wait);
        v.device.queue_submit2(v.queues[0], &[second], vk::Fence::null()).unwrap();
        v.device.device_wait_idle().unwrap();
    }
}

#[test]
fn stages_of_a_transfer_count_where_a_flag_says_so() {
    for (counts, case) in [(true, "1"), (false, "0")] {
        let variables = [("PELLUCID_MODE", "check"), ("TEST_CASE", case)];
        let Some(text) = alone("stages_of_a_transfer_count_where_a_flag_says_so", &variables) else {
            return transfer(std::env::var("TEST_CASE").as_deref() == Ok("1"));
        };
        assert_eq!(text.contains("error[hazard-"), !counts, "{text}");
        assert!(!text.contains("queue-family-ownership"), "{text}");
    }
}
