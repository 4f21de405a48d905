//! Memory types and heaps are what they are said to be.

mod common;

use ash::vk;
use common::{Vulkan, alone};

type Flags = vk::MemoryPropertyFlags;

#[test]
fn a_host_cached_coherent_type_is_beside_the_others() {
    let v = Vulkan::new();
    // SAFETY: live handles.
    let types = unsafe { v.instance.get_physical_device_memory_properties(v.physical) };
    let wanted = Flags::HOST_VISIBLE | Flags::HOST_COHERENT | Flags::HOST_CACHED;
    let index = types.memory_types_as_slice().iter().position(|t| t.property_flags == wanted).unwrap();
    let (buffer, _, _) = v.buffer(64, 0);
    // SAFETY: live handles.
    let bits = unsafe { v.device.get_buffer_memory_requirements(buffer) }.memory_type_bits;
    assert_eq!(bits >> index & 1, 1);
}

#[test]
fn memory_that_is_too_small_is_refused() {
    let v = Vulkan::new();
    // SAFETY: live handles, but for what is refused.
    unsafe {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let info = vk::BufferCreateInfo::default().size(100).usage(usage);
        let buffer = v.device.create_buffer(&info, None).unwrap();
        let needs = v.device.get_buffer_memory_requirements(buffer).size;
        let memory = |size| {
            let info = vk::MemoryAllocateInfo::default().allocation_size(size);
            v.device.allocate_memory(&info, None).unwrap()
        };
        assert!(v.device.bind_buffer_memory(buffer, memory(100), 0).is_err());
        assert!(v.device.bind_buffer_memory(buffer, memory(needs), 64).is_err());
        v.device.bind_buffer_memory(buffer, memory(needs), 0).unwrap();
    }
}

#[test]
fn heaps_are_one_for_all_devices() {
    let (v, w) = (Vulkan::new(), Vulkan::new());
    // SAFETY: live handles.
    unsafe {
        let heap = v.instance.get_physical_device_memory_properties(v.physical).memory_heaps[1].size;
        let info = vk::MemoryAllocateInfo::default().allocation_size(heap / 3 * 2).memory_type_index(1);
        let first = v.device.allocate_memory(&info, None).unwrap();
        assert_eq!(w.device.allocate_memory(&info, None), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut all = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        w.instance.get_physical_device_memory_properties2(w.physical, &mut all);
        assert!(budget.heap_usage[1] >= heap / 3 * 2);
        v.device.free_memory(first, None);
        w.device.free_memory(w.device.allocate_memory(&info, None).unwrap(), None);
    }
}

/// Resident bytes of this process.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn an_invalidate_of_untouched_memory_costs_nothing() {
    for mode in ["run", "check"] {
        let name = "an_invalidate_of_untouched_memory_costs_nothing";
        if alone(name, &[("PELLUCID_MODE", mode)]).is_none() {
            let v = Vulkan::new();
            // SAFETY: live handles.
            let types = unsafe { v.instance.get_physical_device_memory_properties(v.physical) };
            let wanted =
                |flags: Flags| flags.contains(Flags::HOST_VISIBLE) && !flags.contains(Flags::HOST_COHERENT);
            let list = types.memory_types_as_slice();
            let index = list.iter().position(|t| wanted(t.property_flags)).unwrap() as u32;
            let info = vk::MemoryAllocateInfo::default().allocation_size(512 << 20).memory_type_index(index);
            // SAFETY: valid usage.
            unsafe {
                let memory = v.device.allocate_memory(&info, None).unwrap();
                v.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
                let before = resident();
                let range = [vk::MappedMemoryRange::default().memory(memory).size(vk::WHOLE_SIZE)];
                for _ in 0..4 {
                    v.device.invalidate_mapped_memory_ranges(&range).unwrap();
                    v.device.flush_mapped_memory_ranges(&range).unwrap();
                }
                assert!(resident() < before + (8 << 20), "{} bytes more", resident() - before);
            }
            return;
        }
    }
}

#[test]
fn an_image_needs_memory_of_its_size() {
    let v = Vulkan::new();
    // SAFETY: live handles, but for what is refused.
    unsafe {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D { width: 64, height: 64, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::STORAGE);
        let image = v.device.create_image(&info, None).unwrap();
        let needs = v.device.get_image_memory_requirements(image).size;
        let memory = |size| {
            let info = vk::MemoryAllocateInfo::default().allocation_size(size);
            v.device.allocate_memory(&info, None).unwrap()
        };
        assert!(v.device.bind_image_memory(image, memory(needs / 2), 0).is_err());
        assert!(v.device.bind_image_memory(image, memory(needs), 4096).is_err());
        v.device.bind_image_memory(image, memory(needs), 0).unwrap();
    }
}

#[test]
fn ranges_that_are_misaligned_or_outside_are_named() {
    let name = "ranges_that_are_misaligned_or_outside_are_named";
    if let Some(text) = alone(name, &[("PELLUCID_MODE", "check")]) {
        for call in ["vkFlushMappedMemoryRanges", "vkInvalidateMappedMemoryRanges"] {
            assert!(text.contains(&format!("{call}: range 4..68 is not in units of")), "{text}");
            assert!(
                text.contains(&format!("{call}: range 0..2048 goes over the mapped range 0..1024")),
                "{text}"
            );
        }
        assert_eq!(text.matches("range 0..8192 is not inside the mapped range 0..4096").count(), 2, "{text}");
        return;
    }
    let v = Vulkan::new();
    // SAFETY: live handles; the ranges are wrong on purpose.
    unsafe {
        let types = v.instance.get_physical_device_memory_properties(v.physical);
        let other = |t: &vk::MemoryType| {
            t.property_flags.contains(Flags::HOST_VISIBLE) && !t.property_flags.contains(Flags::HOST_COHERENT)
        };
        let index = types.memory_types_as_slice().iter().position(other).unwrap() as u32;
        let info = vk::MemoryAllocateInfo::default().allocation_size(4096).memory_type_index(index);
        let memory = v.device.allocate_memory(&info, None).unwrap();
        v.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
        let range =
            |offset, size| [vk::MappedMemoryRange::default().memory(memory).offset(offset).size(size)];
        v.device.flush_mapped_memory_ranges(&range(4, 64)).unwrap();
        v.device.invalidate_mapped_memory_ranges(&range(4, 64)).unwrap();
        assert!(v.device.flush_mapped_memory_ranges(&range(0, 8192)).is_err());
        assert!(v.device.invalidate_mapped_memory_ranges(&range(0, 8192)).is_err());
        v.device.unmap_memory(memory);
        v.device.map_memory(memory, 0, 1024, vk::MemoryMapFlags::empty()).unwrap();
        v.device.flush_mapped_memory_ranges(&range(0, 1024)).unwrap();
        v.device.flush_mapped_memory_ranges(&range(0, 2048)).unwrap();
        v.device.invalidate_mapped_memory_ranges(&range(0, 2048)).unwrap();
    }
}

#[test]
fn what_an_application_leaves_behind_is_free_again_when_its_device_ends() {
    let v = Vulkan::new();
    // SAFETY: valid usage, but for the objects that each device leaves behind.
    unsafe {
        let memory = v.instance.get_physical_device_memory_properties(v.physical);
        let size = memory.memory_heaps[memory.memory_types[0].heap_index as usize].size / 3;
        for _ in 0..8 {
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            let device = v.instance.create_device(v.physical, &info, None).unwrap();
            let info = vk::MemoryAllocateInfo::default().allocation_size(size);
            let memory = device.allocate_memory(&info, None).unwrap();
            let info = vk::BufferCreateInfo::default().size(64).usage(vk::BufferUsageFlags::TRANSFER_DST);
            let buffer = device.create_buffer(&info, None).unwrap();
            device.bind_buffer_memory(buffer, memory, 0).unwrap();
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).unwrap();
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()).unwrap();
            device.cmd_fill_buffer(commands[0], buffer, 0, 64, 1);
            device.end_command_buffer(commands[0]).unwrap();
            device.destroy_device(None);
        }
    }
}
