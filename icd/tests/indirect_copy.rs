//! Copies whose parameters are read in memory when they execute.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use std::ffi::{CStr, c_void};
use vk::{AccessFlags2 as Access, Handle as _, PipelineStageFlags2 as Stage};

const COPY_INDIRECT: Stage = Stage::from_raw(1 << 46);

/// VkPhysicalDeviceCopyMemoryIndirectFeaturesKHR.
#[repr(C)]
struct Features {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    memory: vk::Bool32,
    image: vk::Bool32,
}

/// VkCopyMemoryIndirectInfoKHR, and VkCopyMemoryToImageIndirectInfoKHR.
#[repr(C)]
struct Info<const N: usize, T> {
    s_type: vk::StructureType,
    p_next: *const c_void,
    flags: [u32; N],
    count: u32,
    range: [u64; 3],
    more: T,
}

type CopyMemory = unsafe extern "system" fn(vk::CommandBuffer, *const Info<2, ()>);
type CopyToImage = unsafe extern "system" fn(
    vk::CommandBuffer,
    *const Info<1, (vk::Image, vk::ImageLayout, *const vk::ImageSubresourceLayers)>,
);

fn device() -> Vulkan {
    let mut features = Features {
        s_type: vk::StructureType::from_raw(1_000_549_000),
        p_next: std::ptr::null_mut(),
        memory: 1,
        image: 1,
    };
    let mut addresses = vk::PhysicalDeviceVulkan12Features::default().buffer_device_address(true);
    addresses.p_next = std::ptr::from_mut(&mut features).cast();
    let mut two = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    two.p_next = std::ptr::from_mut(&mut addresses).cast();
    Vulkan::with(&[c"VK_KHR_copy_memory_indirect"], &mut two)
}

/// A function of the device.
///
/// # Safety
/// It has this type.
unsafe fn function<T: Copy>(v: &Vulkan, name: &CStr) -> T {
    // SAFETY: the contract; both are pointers to functions.
    unsafe {
        let found = v.instance.get_device_proc_addr(v.device.handle(), name.as_ptr()).unwrap();
        std::mem::transmute_copy(&found)
    }
}

fn address(v: &Vulkan, buffer: vk::Buffer) -> u64 {
    // SAFETY: valid usage.
    unsafe { v.device.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer)) }
}

fn barrier(v: &Vulkan, c: vk::CommandBuffer, from: (Stage, Access), to: (Stage, Access)) {
    let barrier = [vk::MemoryBarrier2::default()
        .src_stage_mask(from.0)
        .src_access_mask(from.1)
        .dst_stage_mask(to.0)
        .dst_access_mask(to.1)];
    // SAFETY: valid usage.
    unsafe { v.device.cmd_pipeline_barrier2(c, &vk::DependencyInfo::default().memory_barriers(&barrier)) };
}

const TO_HOST: (Stage, Access) = (Stage::HOST, Access::HOST_READ);
const WROTE: (Stage, Access) = (Stage::ALL_TRANSFER, Access::TRANSFER_WRITE);

/// Two copies of 8 bytes each, with parameters that the host wrote or, before a barrier to `to`, the device.
fn copies(to: Option<(Stage, Access)>) {
    let v = device();
    let [(from, _, source), (target, _, seen), (parameters, _, told)] =
        std::array::from_fn(|_| v.buffer(256, 1));
    let (a, b) = (address(&v, from), address(&v, target));
    let mut bytes = [0u64; 8];
    bytes[..3].copy_from_slice(&[a, b + 8, 8]);
    bytes[4..7].copy_from_slice(&[a + 16, b, 8]);
    // SAFETY: valid usage, but for what a case leaves out; nothing runs while the host writes.
    unsafe {
        let copy: CopyMemory = function(&v, c"vkCmdCopyMemoryIndirectKHR");
        source.cast::<u32>().copy_from([1u32, 2, 3, 4, 5, 6].as_ptr(), 6);
        if to.is_none() {
            told.cast::<u64>().copy_from(bytes.as_ptr(), 8);
        }
        v.run(v.record(|c| {
            if let Some(to) = to {
                v.device.cmd_update_buffer(
                    c,
                    parameters,
                    0,
                    std::slice::from_raw_parts(bytes.as_ptr().cast(), 64),
                );
                barrier(&v, c, (Stage::CLEAR, Access::TRANSFER_WRITE), to);
            }
            let info = Info {
                s_type: vk::StructureType::from_raw(1_000_549_002),
                p_next: std::ptr::null(),
                flags: [0, 0],
                count: 2,
                range: [address(&v, parameters), 64, 32],
                more: (),
            };
            copy(c, &info);
            barrier(&v, c, WROTE, TO_HOST);
        }));
    }
    assert_eq!(v.words(seen, 4), [5, 6, 1, 2]);
}

#[test]
fn copies_are_what_memory_says() {
    const PARAMETERS: Access = Access::INDIRECT_COMMAND_READ;
    let cases = [None, Some((COPY_INDIRECT, PARAMETERS)), Some((Stage::COPY, Access::TRANSFER_READ))];
    for mode in ["run", "check"] {
        for (case, to) in cases.iter().enumerate() {
            let number = case.to_string();
            let variables = [("PELLUCID_MODE", mode), ("TEST_CASE", number.as_str())];
            let Some(text) = alone("copies_are_what_memory_says", &variables) else {
                return copies(cases[std::env::var("TEST_CASE").unwrap().parse::<usize>().unwrap()]);
            };
            let found = text.contains("error[hazard-read-after-write]");
            assert_eq!(found, mode == "check" && case == 2, "{mode}, {to:?}: {text}");
            assert_eq!(text.contains("error["), found, "{mode}, {to:?}: {text}");
        }
    }
}

#[test]
fn images_are_copied_to_slice_by_slice() {
    for mode in ["run", "check"] {
        let Some(text) = alone("images_are_copied_to_slice_by_slice", &[("PELLUCID_MODE", mode)]) else {
            return to_image();
        };
        assert!(!text.contains("error["), "{mode}: {text}");
    }
}

/// 2 by 2 texels of slice 1 of an image with three slices.
fn to_image() {
    let v = device();
    let [(from, _, source), (target, _, seen), (parameters, _, told)] =
        std::array::from_fn(|_| v.buffer(256, 1));
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_3D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width: 2, height: 2, depth: 3 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    let part = vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: 0,
        base_array_layer: 1,
        layer_count: 1,
    };
    let all = vk::ImageSubresourceLayers { base_array_layer: 0, ..part };
    // SAFETY: valid usage; nothing runs while the host writes.
    unsafe {
        let image = v.image(&info, 0);
        let copy: CopyToImage = function(&v, c"vkCmdCopyMemoryToImageIndirectKHR");
        source.cast::<u32>().copy_from([1u32, 2, 3, 4].as_ptr(), 4);
        told.cast::<u64>().write(address(&v, from));
        let words = [0u32, 0, 1, 0, 1, 1, 0, 0, 0, 2, 2, 1];
        told.cast::<u32>().add(2).copy_from(words.as_ptr(), words.len());
        let named = [part];
        v.run(v.record(|c| {
            let to_general = [vk::ImageMemoryBarrier2::default()
                .dst_stage_mask(Stage::ALL_TRANSFER)
                .dst_access_mask(Access::TRANSFER_WRITE)
                .old_layout(vk::ImageLayout::UNDEFINED)
                .new_layout(vk::ImageLayout::GENERAL)
                .image(image)
                .subresource_range(vk::ImageSubresourceRange {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    level_count: 1,
                    layer_count: 1,
                    ..Default::default()
                })];
            v.device
                .cmd_pipeline_barrier2(c, &vk::DependencyInfo::default().image_memory_barriers(&to_general));
            let info = Info {
                s_type: vk::StructureType::from_raw(1_000_549_003),
                p_next: std::ptr::null(),
                flags: [0],
                count: 1,
                range: [address(&v, parameters), 56, 56],
                more: (image, vk::ImageLayout::GENERAL, named.as_ptr()),
            };
            copy(c, &info);
            barrier(&v, c, WROTE, (Stage::COPY, Access::TRANSFER_READ));
            let region = vk::BufferImageCopy {
                image_subresource: all,
                image_offset: vk::Offset3D { x: 0, y: 0, z: 1 },
                image_extent: vk::Extent3D { width: 2, height: 2, depth: 1 },
                ..Default::default()
            };
            v.device.cmd_copy_image_to_buffer(c, image, vk::ImageLayout::GENERAL, target, &[region]);
            barrier(&v, c, WROTE, TO_HOST);
        }));
        assert_ne!(image.as_raw(), 0);
    }
    assert_eq!(v.words(seen, 4), [1, 2, 3, 4]);
}
