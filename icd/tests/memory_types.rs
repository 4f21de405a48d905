//! Memory types and heaps are what they are said to be.

mod common;

use ash::vk;
use common::Vulkan;

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
