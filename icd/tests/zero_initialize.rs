//! VK_EXT_zero_initialize_device_memory.

mod common;

use ash::vk;
use common::{Spin, Vulkan, alone};
use std::ffi::c_void;
use vk::ImageLayout as Layout;

/// VK_MEMORY_ALLOCATE_ZERO_INITIALIZE_BIT_EXT.
const ZERO_INITIALIZE: vk::MemoryAllocateFlags = vk::MemoryAllocateFlags::from_raw(8);
/// VK_IMAGE_LAYOUT_ZERO_INITIALIZED_EXT.
const ZERO_INITIALIZED: Layout = Layout::from_raw(1_000_620_000);

/// VkPhysicalDeviceZeroInitializeDeviceMemoryFeaturesEXT.
#[repr(C)]
struct Features {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    enabled: vk::Bool32,
}

// SAFETY: the structure begins with sType and pNext.
unsafe impl vk::TaggedStructure for Features {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(1_000_620_000);
}
// SAFETY: these are the structures that it extends.
unsafe impl vk::ExtendsDeviceCreateInfo for Features {}
// SAFETY: the same.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Features {}

impl Features {
    fn new(enabled: vk::Bool32) -> Features {
        let s_type = <Features as vk::TaggedStructure>::STRUCTURE_TYPE;
        Features { s_type, p_next: std::ptr::null_mut(), enabled }
    }
}

fn vulkan() -> Vulkan {
    Vulkan::with(&[c"VK_EXT_zero_initialize_device_memory"], &mut Features::new(1))
}

/// Memory that only the device reaches.
fn memory(v: &Vulkan, size: u64, flags: vk::MemoryAllocateFlags) -> vk::DeviceMemory {
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
    let info =
        vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(0).push_next(&mut flags);
    // SAFETY: a live device, complete structures.
    unsafe { v.device.allocate_memory(&info, None).unwrap() }
}

#[test]
fn the_feature_is_told() {
    let v = Vulkan::new();
    let mut features = Features::new(9);
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
    // SAFETY: live handles, complete structures.
    unsafe { v.instance.get_physical_device_features2(v.physical, &mut all) };
    assert_eq!(features.enabled, 1);
}

/// A shader adds to words that nobody has written.
fn adds(flags: vk::MemoryAllocateFlags) {
    let v = vulkan();
    let spin = Spin::new(&v, false);
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let info = vk::BufferCreateInfo::default().size(4096).usage(usage);
    // SAFETY: valid usage.
    unsafe {
        let buffer = v.device.create_buffer(&info, None).unwrap();
        v.device.bind_buffer_memory(buffer, memory(&v, 4096, flags), 0).unwrap();
        let (_, set) = spin.set(&v);
        spin.update(&v, set, buffer);
        v.run(v.record(|c| spin.record(&v, c, set, buffer, 1)));
    }
}

#[test]
fn such_memory_is_initialised() {
    for (case, flags) in [("zeroed", ZERO_INITIALIZE), ("plain", vk::MemoryAllocateFlags::empty())] {
        let variables = [("PELLUCID_MODE", "check"), ("TEST_CASE", case)];
        let Some(text) = alone("such_memory_is_initialised", &variables) else {
            if std::env::var("TEST_CASE").as_deref() == Ok(case) {
                return adds(flags);
            }
            continue;
        };
        assert_eq!(text.contains("uninit"), case == "plain", "{case}: {text}");
    }
}

/// An image in its first layout is taken to be in `from`, and copied to a buffer, which is zero.
fn transition(initial: Layout, from: Layout) {
    let v = vulkan();
    let (buffer, _, mapped) = v.buffer(256, 1);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width: 8, height: 8, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC)
        .initial_layout(initial);
    let aspect_mask = vk::ImageAspectFlags::COLOR;
    let whole =
        vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: 1, ..Default::default() };
    let part = vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() };
    let region = [vk::BufferImageCopy::default().image_subresource(part).image_extent(info.extent)];
    let (top, transfer) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
    let host = vk::PipelineStageFlags::HOST;
    // SAFETY: valid usage, but for the wrong layout.
    unsafe {
        std::ptr::write_bytes(mapped, 7, 256);
        let image = v.device.create_image(&info, None).unwrap();
        let size = v.device.get_image_memory_requirements(image).size;
        v.device.bind_image_memory(image, memory(&v, size, ZERO_INITIALIZE), 0).unwrap();
        let barrier = [vk::ImageMemoryBarrier::default()
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)
            .old_layout(from)
            .new_layout(Layout::TRANSFER_SRC_OPTIMAL)
            .image(image)
            .subresource_range(whole)];
        let seen = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let none = vk::DependencyFlags::empty();
        v.run(v.record(|c| {
            v.device.cmd_pipeline_barrier(c, top, transfer, none, &[], &[], &barrier);
            v.device.cmd_copy_image_to_buffer(c, image, Layout::TRANSFER_SRC_OPTIMAL, buffer, &region);
            v.device.cmd_pipeline_barrier(c, transfer, host, none, &seen, &[], &[]);
        }));
        assert_eq!(std::slice::from_raw_parts(mapped, 256), [0; 256]);
    }
}

#[test]
fn images_begin_zeroed_and_leave_that_layout() {
    let cases = [(ZERO_INITIALIZED, ZERO_INITIALIZED), (Layout::UNDEFINED, ZERO_INITIALIZED)];
    for (k, (initial, from)) in cases.into_iter().enumerate() {
        let case = k.to_string();
        let variables = [("PELLUCID_MODE", "check"), ("TEST_CASE", case.as_str())];
        let Some(text) = alone("images_begin_zeroed_and_leave_that_layout", &variables) else {
            if std::env::var("TEST_CASE").as_deref() == Ok(case.as_str()) {
                return transition(initial, from);
            }
            continue;
        };
        assert_eq!(text.contains("ZERO_INITIALIZED_EXT"), k == 1, "{text}");
        assert_eq!(text.contains("error["), k == 1, "{text}");
    }
}
