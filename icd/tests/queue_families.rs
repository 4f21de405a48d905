//! Queue families: what each lets be recorded, and who owns what its queues write.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use vk::{AccessFlags2 as Access, ImageLayout as Layout, PipelineStageFlags2 as Stage, QueueFlags as Flags};

const IGNORED: u32 = vk::QUEUE_FAMILY_IGNORED;

/// A device with a queue of each family.
fn device() -> Vulkan {
    Vulkan::with_families(3, &[], &mut vk::PhysicalDeviceVulkan13Features::default().synchronization2(true))
}

#[test]
fn families_are_what_they_say() {
    let v = device();
    // SAFETY: valid usage, but for the queues that are not there.
    unsafe {
        let families = v.instance.get_physical_device_queue_family_properties(v.physical);
        let flags: Vec<_> = families.iter().map(|family| family.queue_flags).collect();
        let transfer = Flags::TRANSFER | Flags::SPARSE_BINDING;
        let both = Flags::COMPUTE | transfer;
        assert_eq!(flags, [both, both, transfer]);
        assert!(families.iter().all(|f| f.queue_count > 0 && f.timestamp_valid_bits == 64));
        let mut more = vec![vk::QueueFamilyProperties2::default(); families.len()];
        v.instance.get_physical_device_queue_family_properties2(v.physical, &mut more);
        let same = |(one, two): (&vk::QueueFamilyProperties, &vk::QueueFamilyProperties2<'_>)| {
            let two = &two.queue_family_properties;
            (one.queue_flags, one.queue_count) == (two.queue_flags, two.queue_count)
        };
        assert!(families.iter().zip(&more).all(same));
        let handles: std::collections::BTreeSet<_> = v.queues.iter().copied().collect();
        assert!(handles.len() == 3 && !handles.contains(&vk::Queue::null()));
        assert_eq!(v.device.get_device_queue(1, 1), vk::Queue::null(), "it was not asked for");
        assert_eq!(v.device.get_device_queue(3, 0), vk::Queue::null());
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(3).queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let refused = v.instance.create_device(v.physical, &info, None).err();
        assert_eq!(refused, Some(vk::Result::ERROR_INITIALIZATION_FAILED));
    }
}

/// Records a command buffer of a queue family.
fn record(
    v: &Vulkan,
    family: u32,
    body: impl FnOnce(vk::CommandBuffer),
) -> Result<vk::CommandBuffer, vk::Result> {
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
    // SAFETY: valid usage up to what `body` does; the pool ends with the device.
    unsafe {
        let pool = v.device.create_command_pool(&info, None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let buffer = v.device.allocate_command_buffers(&info)?[0];
        v.device.begin_command_buffer(buffer, &vk::CommandBufferBeginInfo::default())?;
        body(buffer);
        v.device.end_command_buffer(buffer)?;
        Ok(buffer)
    }
}

#[test]
fn a_transfer_queue_refuses_what_it_cannot_do() {
    let Some(text) = alone("a_transfer_queue_refuses_what_it_cannot_do", &[]) else {
        let v = device();
        let (buffer, ..) = v.buffer(256, 0);
        // SAFETY: valid usage but for the family's capabilities.
        unsafe {
            let event = v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
            assert!(record(&v, 2, |c| v.device.cmd_dispatch(c, 1, 1, 1)).is_err());
            assert!(
                record(&v, 2, |c| v.device.cmd_set_event(c, event, vk::PipelineStageFlags::TRANSFER))
                    .is_err()
            );
            assert!(
                record(&v, 1, |c| v.device.cmd_set_event(c, event, vk::PipelineStageFlags::TRANSFER)).is_ok()
            );
            assert!(record(&v, 2, |c| v.device.cmd_fill_buffer(c, buffer, 0, 256, 1)).is_ok());
            let barrier = [vk::MemoryBarrier2::default().src_stage_mask(Stage::COMPUTE_SHADER)];
            let info = vk::DependencyInfo::default().memory_barriers(&barrier);
            assert!(record(&v, 2, |c| v.device.cmd_pipeline_barrier2(c, &info)).is_ok());
            let wrong = record(&v, 0, |_| ()).unwrap();
            v.device
                .queue_submit(
                    v.queues[2],
                    &[vk::SubmitInfo::default().command_buffers(&[wrong])],
                    vk::Fence::null(),
                )
                .unwrap();
            v.device.device_wait_idle().unwrap();
        }
        return;
    };
    for told in [
        "vkCmdDispatch: queue family 2 supports TRANSFER | SPARSE_BINDING, and the command needs COMPUTE",
        "vkCmdSetEvent: queue family 2 supports TRANSFER | SPARSE_BINDING, and the command needs GRAPHICS | COMPUTE",
        "vkCmdPipelineBarrier2: queue family 2 supports TRANSFER | SPARSE_BINDING, and its queues have no stage COMPUTE_SHADER",
        "is of queue family 0, the queue of queue family 2",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

/// The half of a transfer from family 2 to family 0 that a command buffer of `family` has, of `size` bytes.
fn transfer(
    (v, family): (&Vulkan, u32),
    (buffer, size): (vk::Buffer, u64),
    (from, to): (u32, u32),
    c: vk::CommandBuffer,
) {
    let (stage, access) = match family == from {
        true => (Stage::CLEAR, Access::TRANSFER_WRITE),
        false => (Stage::NONE, Access::NONE),
    };
    let barrier = [vk::BufferMemoryBarrier2::default()
        .src_stage_mask(stage)
        .src_access_mask(access)
        .dst_stage_mask(if family == from { Stage::NONE } else { Stage::COPY })
        .dst_access_mask(if family == from { Access::NONE } else { Access::TRANSFER_READ })
        .src_queue_family_index(from)
        .dst_queue_family_index(to)
        .buffer(buffer)
        .size(size)];
    let info = vk::DependencyInfo::default().buffer_memory_barriers(&barrier);
    // SAFETY: as the callers say.
    unsafe { v.device.cmd_pipeline_barrier2(c, &info) };
}

/// Submits one after the other, each to the queue of its family, with a semaphore in between.
fn submit(v: &Vulkan, list: &[(u32, vk::CommandBuffer)]) {
    submit_at(v, list, Stage::ALL_COMMANDS);
}

/// The same, whose waits are at these stages.
fn submit_at(v: &Vulkan, list: &[(u32, vk::CommandBuffer)], stages: Stage) {
    let mut before: Option<vk::Semaphore> = None;
    for (family, commands) in list {
        // SAFETY: valid usage.
        unsafe {
            let semaphore = v.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None).unwrap();
            let of = |stages| move |s| vk::SemaphoreSubmitInfo::default().semaphore(s).stage_mask(stages);
            let waits: Vec<_> = before.into_iter().map(of(stages)).collect();
            let signals = [of(Stage::ALL_COMMANDS)(semaphore)];
            let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(*commands)];
            let info = vk::SubmitInfo2::default()
                .wait_semaphore_infos(&waits)
                .command_buffer_infos(&commands)
                .signal_semaphore_infos(&signals);
            v.device.queue_submit2(v.queues[*family as usize], &[info], vk::Fence::null()).unwrap();
            before = Some(semaphore);
        }
    }
    // SAFETY: valid usage.
    unsafe { v.device.device_wait_idle().unwrap() };
}

fn shared(v: &Vulkan, families: &[u32]) -> vk::Buffer {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let mode = if families.is_empty() { vk::SharingMode::EXCLUSIVE } else { vk::SharingMode::CONCURRENT };
    let info = vk::BufferCreateInfo::default()
        .size(256)
        .usage(usage)
        .sharing_mode(mode)
        .queue_family_indices(families);
    // SAFETY: valid usage.
    unsafe {
        let buffer = v.device.create_buffer(&info, None).unwrap();
        let needs = v.device.get_buffer_memory_requirements(buffer);
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(0);
        let memory = v.device.allocate_memory(&info, None).unwrap();
        v.device.bind_buffer_memory(buffer, memory, 0).unwrap();
        buffer
    }
}

/// What a case does between a fill on family 2 and a copy on family 0.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// It releases to this family.
    release: Option<u32>,
    /// It acquires so many bytes.
    acquire: Option<u64>,
    /// Family 2 fills again between the two.
    again: bool,
    /// The families that share the buffer; none: it is exclusive.
    shared: &'static [u32],
    /// maintenance9 is enabled.
    nine: bool,
    /// What the finding says; none if it is right.
    told: Option<&'static str>,
}

const RIGHT: Case =
    Case { release: Some(0), acquire: Some(256), again: false, shared: &[], nine: false, told: None };
const CASES: [Case; 11] = [
    RIGHT,
    Case {
        release: None,
        acquire: None,
        told: Some("queue family 2 owns it since vkCmdFillBuffer"),
        ..RIGHT
    },
    Case {
        acquire: None,
        told: Some("released it to queue family 0, and no acquire operation followed"),
        ..RIGHT
    },
    Case {
        release: Some(vk::QUEUE_FAMILY_EXTERNAL),
        acquire: None,
        told: Some("acquire it from VK_QUEUE_FAMILY_EXTERNAL by a barrier"),
        ..RIGHT
    },
    Case { release: None, told: Some("no release operation before it matches"), ..RIGHT },
    Case { release: Some(1), told: Some("releases it from queue family 2 to queue family 1"), ..RIGHT },
    Case { acquire: Some(128), told: Some("releases it with another range"), ..RIGHT },
    Case { again: true, told: Some("has written it since it was released"), ..RIGHT },
    Case { release: None, acquire: None, shared: &[0, 2], ..RIGHT },
    Case {
        release: None,
        acquire: None,
        shared: &[0, 1],
        told: Some("is not among the pQueueFamilyIndices"),
        ..RIGHT
    },
    Case { release: None, acquire: None, nine: true, ..RIGHT },
];

fn fill_and_copy(case: Case) {
    let mut nine = Nine { maintenance9: case.nine.into(), ..Nine::default() };
    let mut features = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    if case.nine {
        features.p_next = std::ptr::from_mut(&mut nine).cast();
    }
    let extensions: &[_] = if case.nine { &[c"VK_KHR_maintenance9"] } else { &[] };
    let v = Vulkan::with_families(3, extensions, &mut features);
    let (from, to) = (shared(&v, case.shared), shared(&v, &[]));
    // SAFETY: valid usage, but for what a case leaves out.
    unsafe {
        let filled = record(&v, 2, |c| {
            v.device.cmd_fill_buffer(c, from, 0, 256, 7);
            if let Some(to) = case.release {
                transfer((&v, 2), (from, 256), (2, to), c);
            }
            if case.again {
                let all = [vk::MemoryBarrier2::default()
                    .src_stage_mask(Stage::ALL_COMMANDS)
                    .src_access_mask(Access::MEMORY_WRITE)
                    .dst_stage_mask(Stage::ALL_COMMANDS)
                    .dst_access_mask(Access::MEMORY_WRITE)];
                v.device.cmd_pipeline_barrier2(c, &vk::DependencyInfo::default().memory_barriers(&all));
                v.device.cmd_fill_buffer(c, from, 0, 256, 8);
            }
        });
        let copied = record(&v, 0, |c| {
            if let Some(size) = case.acquire {
                transfer((&v, 0), (from, size), (2, 0), c);
            }
            let copied = vk::BufferCopy { size: case.acquire.unwrap_or(256), ..Default::default() };
            v.device.cmd_copy_buffer(c, from, to, &[copied]);
        });
        submit(&v, &[(2, filled.unwrap()), (0, copied.unwrap())]);
    }
}

/// VkPhysicalDeviceMaintenance9FeaturesKHR.
#[repr(C)]
struct Nine {
    s_type: vk::StructureType,
    p_next: *mut std::ffi::c_void,
    maintenance9: vk::Bool32,
}

impl Default for Nine {
    fn default() -> Nine {
        Nine {
            s_type: vk::StructureType::from_raw(1_000_584_000),
            p_next: std::ptr::null_mut(),
            maintenance9: 0,
        }
    }
}

/// Runs each case of a test in check mode, in a process of its own: what it wrote to standard error.
fn each(name: &str, count: usize, run: impl Fn(usize)) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for index in 0..count {
        match alone(name, &[("PELLUCID_MODE", "check"), ("TEST_CASE", &index.to_string())]) {
            Some(text) => texts.push(text),
            None => {
                run(std::env::var("TEST_CASE").unwrap().parse().unwrap());
                return None;
            }
        }
    }
    Some(texts)
}

/// A buffer that nobody released is a warning.
fn judge(texts: &[String], told: impl Iterator<Item = Option<&'static str>>, buffers: bool) {
    for ((number, text), told) in texts.iter().enumerate().zip(told) {
        match told {
            Some(told) => {
                let warns = buffers && told.contains("owns it since");
                let (id, findings) = match warns {
                    true => ("warning[queue-family-not-released]", "pellucid: 0 findings"),
                    false => ("error[queue-family-ownership]", "pellucid: 1 finding"),
                };
                assert!(text.contains(id), "case {number}: {text}");
                assert!(text.contains(told), "case {number}: {told}: {text}");
                assert_eq!(text.matches("[queue-family").count(), 1, "case {number}: {text}");
                assert!(text.contains(findings), "case {number}: {text}");
            }
            None => {
                assert!(text.contains("pellucid: 0 findings"), "case {number}: {text}");
                assert!(!text.contains("[queue-family"), "case {number}: {text}");
            }
        }
    }
}

#[test]
fn buffers_change_owners_by_release_and_acquire() {
    let run = |case: usize| fill_and_copy(CASES[case]);
    let Some(texts) = each("buffers_change_owners_by_release_and_acquire", CASES.len(), run) else { return };
    judge(&texts, CASES.iter().map(|case| case.told), true);
}

/// Neither half of a transfer is in a stage, and only ALL_COMMANDS holds it: 7.7.4, of the acquire operation.
#[test]
fn an_acquire_operation_follows_a_wait_at_all_commands() {
    const STAGES: [Stage; 2] = [Stage::ALL_COMMANDS, Stage::COPY];
    let name = "an_acquire_operation_follows_a_wait_at_all_commands";
    let run = |case: usize| {
        let v = device();
        let (from, to) = (shared(&v, &[]), shared(&v, &[]));
        // SAFETY: valid usage, but for what a case waits at.
        unsafe {
            let filled = record(&v, 2, |c| {
                v.device.cmd_fill_buffer(c, from, 0, 256, 7);
                transfer((&v, 2), (from, 256), (2, 0), c);
            });
            let copied = record(&v, 0, |c| {
                transfer((&v, 0), (from, 256), (2, 0), c);
                v.device.cmd_copy_buffer(c, from, to, &[vk::BufferCopy { size: 256, ..Default::default() }]);
            });
            submit_at(&v, &[(2, filled.unwrap()), (0, copied.unwrap())], STAGES[case]);
        }
    };
    let Some(texts) = each(name, STAGES.len(), run) else { return };
    assert!(texts[0].contains("pellucid: 0 findings"), "{}", texts[0]);
    let text = &texts[1];
    assert!(text.contains("error[hazard-layout-transition]"), "{text}");
    assert!(text.contains("add ALL_COMMANDS to the stages that wait for the semaphore"), "{text}");
}

/// The layouts of a transition.
type Layouts = (Layout, Layout);

/// An image is cleared on family 1, and copied from on family 2, with a layout transition between the two: by
/// both halves, by these layouts; by none of them; by the first alone.
fn clear_and_copy((release, acquire): (Option<Layouts>, Option<Layouts>)) {
    let v = device();
    let (to, ..) = v.buffer(256, 0);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width: 8, height: 8, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let barrier = |c, image, families: (u32, u32), layouts: (Layout, Layout)| {
        let barrier = [vk::ImageMemoryBarrier2::default()
            .src_stage_mask(Stage::ALL_COMMANDS)
            .src_access_mask(Access::MEMORY_WRITE)
            .dst_stage_mask(Stage::ALL_COMMANDS)
            .dst_access_mask(Access::MEMORY_READ | Access::MEMORY_WRITE)
            .old_layout(layouts.0)
            .new_layout(layouts.1)
            .src_queue_family_index(families.0)
            .dst_queue_family_index(families.1)
            .image(image)
            .subresource_range(range)];
        // SAFETY: as below.
        unsafe {
            v.device.cmd_pipeline_barrier2(c, &vk::DependencyInfo::default().image_memory_barriers(&barrier))
        };
    };
    // SAFETY: valid usage, but for what a case leaves out.
    unsafe {
        let image = v.image(&info, 0);
        let cleared = record(&v, 1, |c| {
            barrier(c, image, (IGNORED, IGNORED), (Layout::UNDEFINED, Layout::TRANSFER_DST_OPTIMAL));
            let color = vk::ClearColorValue { uint32: [7; 4] };
            v.device.cmd_clear_color_image(c, image, Layout::TRANSFER_DST_OPTIMAL, &color, &[range]);
            if let Some(layouts) = release {
                barrier(c, image, (1, 2), layouts);
            }
        });
        let copied = record(&v, 2, |c| {
            match acquire {
                Some(layouts) => barrier(c, image, (1, 2), layouts),
                None => barrier(c, image, (IGNORED, IGNORED), LAYOUTS),
            }
            let region = vk::BufferImageCopy {
                image_subresource: vk::ImageSubresourceLayers {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    layer_count: 1,
                    ..Default::default()
                },
                image_extent: vk::Extent3D { width: 8, height: 8, depth: 1 },
                ..Default::default()
            };
            v.device.cmd_copy_image_to_buffer(c, image, Layout::TRANSFER_SRC_OPTIMAL, to, &[region]);
        });
        submit(&v, &[(1, cleared.unwrap()), (2, copied.unwrap())]);
    }
}

const LAYOUTS: Layouts = (Layout::TRANSFER_DST_OPTIMAL, Layout::TRANSFER_SRC_OPTIMAL);

#[test]
fn images_change_owners_and_layouts_once() {
    let general = (Layout::GENERAL, Layout::TRANSFER_SRC_OPTIMAL);
    let cases = [(Some(LAYOUTS), Some(LAYOUTS)), (None, None), (Some(LAYOUTS), Some(general))];
    let run = |case: usize| clear_and_copy(cases[case]);
    let Some(texts) = each("images_change_owners_and_layouts_once", cases.len(), run) else { return };
    let told = [
        None,
        Some("queue family 1 owns it since vkCmdClearColorImage"),
        Some("releases it from TRANSFER_DST_OPTIMAL to TRANSFER_SRC_OPTIMAL"),
    ];
    judge(&texts, told.into_iter(), false);
}
