//! Objects that come back as they were captured.

use crate::common::alone;
use crate::described::*;
use ash::vk;

#[test]
fn captured_objects_come_back() {
    for mode in ["run", "check"] {
        let Some(_) = alone("captured::captured_objects_come_back", &[("PELLUCID_MODE", mode)]) else {
            return captured();
        };
    }
}

fn captured() {
    let d = Described::new();
    let flag = vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;
    let invalid = vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;
    let descriptor = |sampler| {
        let mut bytes = [0u8; SIZE as usize];
        d.put_sampler(bytes.as_mut_ptr(), sampler);
        bytes
    };
    // SAFETY: valid usage, but for what is created twice, for which the driver promises an error.
    unsafe {
        let first = d.device.create_sampler(&vk::SamplerCreateInfo::default().flags(flag), None).unwrap();
        let info = vk::SamplerCaptureDescriptorDataInfoEXT::default().sampler(first);
        let mut data = [0u8; 8];
        d.functions.get_sampler_opaque_capture_descriptor_data(&info, &mut data).unwrap();
        let before = descriptor(first);
        d.device.destroy_sampler(first, None);
        assert_ne!(descriptor(d.sampler()), before);
        let opaque = vk::OpaqueCaptureDescriptorDataCreateInfoEXT {
            opaque_capture_descriptor_data: data.as_ptr().cast(),
            ..Default::default()
        };
        let mut info = vk::SamplerCreateInfo::default().flags(flag);
        info.p_next = (&raw const opaque).cast();
        let again = d.device.create_sampler(&info, None).unwrap();
        assert_eq!(descriptor(again), before);
        assert_eq!(d.device.create_sampler(&info, None), Err(invalid));

        let allocate = |address: u64| {
            let mut replayed =
                vk::MemoryOpaqueCaptureAddressAllocateInfo::default().opaque_capture_address(address);
            let flags = vk::MemoryAllocateFlags::DEVICE_ADDRESS
                | vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(1 << 16)
                .push_next(&mut flags)
                .push_next(&mut replayed);
            let memory = d.device.allocate_memory(&info, None)?;
            let info = vk::DeviceMemoryOpaqueCaptureAddressInfo::default().memory(memory);
            Ok((memory, d.device.get_device_memory_opaque_capture_address(&info)))
        };
        let (memory, address) = allocate(0).unwrap();
        assert_eq!(allocate(address).map(|_| ()), Err(invalid));
        d.device.free_memory(memory, None);
        d.bytes(4096, 0);
        assert_eq!(allocate(address).map(|(_, again)| again), Ok(address));

        // A sparse buffer has an address of its own, which no memory brings along.
        let flags = vk::BufferCreateFlags::SPARSE_BINDING
            | vk::BufferCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let mut info = vk::BufferCreateInfo::default().size(4096).usage(usage).flags(flags);
        let address = |buffer| {
            let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
            d.device.get_buffer_device_address(&info)
        };
        let [_, second] = [(); 2].map(|()| d.device.create_buffer(&info, None).unwrap());
        let of_second = vk::BufferCaptureDescriptorDataInfoEXT::default().buffer(second);
        d.functions.get_buffer_opaque_capture_descriptor_data(&of_second, &mut data).unwrap();
        let before = address(second);
        let opaque = vk::OpaqueCaptureDescriptorDataCreateInfoEXT {
            opaque_capture_descriptor_data: data.as_ptr().cast(),
            ..Default::default()
        };
        info.p_next = (&raw const opaque).cast();
        assert_eq!(d.device.create_buffer(&info, None), Err(invalid), "it is there");
        d.device.destroy_buffer(second, None);
        assert_eq!(address(d.device.create_buffer(&info, None).unwrap()), before);

        // Who has seen the binding complete can free its memory for good.
        info.p_next = std::ptr::null();
        let fence = d.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        for _ in 0..30 {
            let ((memory, address), buffer) =
                (allocate(0).unwrap(), d.device.create_buffer(&info, None).unwrap());
            let parts = [vk::SparseMemoryBind { size: 1 << 16, memory, ..Default::default() }];
            let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(buffer).binds(&parts)];
            let binds = [vk::BindSparseInfo::default().buffer_binds(&buffers)];
            d.device.queue_bind_sparse(d.queues[0], &binds, fence).unwrap();
            d.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            d.device.reset_fences(&[fence]).unwrap();
            d.device.destroy_buffer(buffer, None);
            d.device.free_memory(memory, None);
            let (again, there) = allocate(address).unwrap();
            assert_eq!(there, address);
            d.device.free_memory(again, None);
        }
    }
}
