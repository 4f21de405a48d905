//! VK_EXT_host_image_copy: the host copies to and from images, and check mode knows.

mod common;

use ash::vk;
use common::{Vulkan, alone};

const LAYERS: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const EXTENT: vk::Extent3D = vk::Extent3D { width: 4, height: 4, depth: 1 };

/// A device with the extension, an image in layout GENERAL that the host has filled, and a buffer.
struct Filled {
    device: ash::Device,
    host: ash::ext::host_image_copy::Device,
    queue: vk::Queue,
    commands: vk::CommandBuffer,
    image: vk::Image,
    mapped: *const u32,
}

impl Filled {
    /// # Safety
    /// The instance outlives what is returned.
    unsafe fn new(v: &Vulkan) -> Filled {
        // SAFETY: valid usage.
        unsafe {
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let names = [ash::ext::host_image_copy::NAME.as_ptr()];
            let mut feature = vk::PhysicalDeviceHostImageCopyFeaturesEXT::default().host_image_copy(true);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut feature);
            let device = v.instance.create_device(v.physical, &info, None).unwrap();
            let host = ash::ext::host_image_copy::Device::new(&v.instance, &device);
            let info = vk::ImageCreateInfo::default()
                .image_type(vk::ImageType::TYPE_2D)
                .format(vk::Format::R32_UINT)
                .extent(EXTENT)
                .mip_levels(1)
                .array_layers(1)
                .samples(vk::SampleCountFlags::TYPE_1)
                .tiling(vk::ImageTiling::OPTIMAL)
                .usage(vk::ImageUsageFlags::HOST_TRANSFER_EXT | vk::ImageUsageFlags::TRANSFER_SRC);
            let image = device.create_image(&info, None).unwrap();
            let size = device.get_image_memory_requirements(image).size;
            let info = vk::MemoryAllocateInfo::default().allocation_size(size);
            let memory = device.allocate_memory(&info, None).unwrap();
            device.bind_image_memory(image, memory, 0).unwrap();
            let range = vk::ImageSubresourceRange::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .level_count(1)
                .layer_count(1);
            let transition = vk::HostImageLayoutTransitionInfoEXT::default()
                .image(image)
                .new_layout(GENERAL)
                .subresource_range(range);
            host.transition_image_layout(&[transition]).unwrap();
            let info = vk::BufferCreateInfo::default().size(64).usage(vk::BufferUsageFlags::TRANSFER_DST);
            let buffer = device.create_buffer(&info, None).unwrap();
            let info = vk::MemoryAllocateInfo::default().allocation_size(64).memory_type_index(1);
            let memory = device.allocate_memory(&info, None).unwrap();
            device.bind_buffer_memory(buffer, memory, 0).unwrap();
            let mapped = device.map_memory(memory, 0, 64, vk::MemoryMapFlags::empty()).unwrap().cast();
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).unwrap()[0];
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
            let region = vk::BufferImageCopy::default().image_subresource(LAYERS).image_extent(EXTENT);
            device.cmd_copy_image_to_buffer(commands, image, GENERAL, buffer, &[region]);
            let barrier = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ)];
            let (from, to) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
            let none = vk::DependencyFlags::empty();
            device.cmd_pipeline_barrier(commands, from, to, none, &barrier, &[], &[]);
            device.end_command_buffer(commands).unwrap();
            let queue = device.get_device_queue(0, 0);
            let filled = Filled { device, host, queue, commands, image, mapped };
            filled.fill(1);
            filled
        }
    }

    /// The host copies `first`, `first + 1`, ... to the image, from rows of five words.
    fn fill(&self, first: u32) {
        let words: Vec<u32> =
            (0..20).map(|n| if n % 5 == 4 { 0 } else { first + n / 5 * 4 + n % 5 }).collect();
        let region = [vk::MemoryToImageCopyEXT {
            p_host_pointer: words.as_ptr().cast(),
            memory_row_length: 5,
            image_subresource: LAYERS,
            image_extent: EXTENT,
            ..Default::default()
        }];
        let info = vk::CopyMemoryToImageInfoEXT::default()
            .dst_image(self.image)
            .dst_image_layout(GENERAL)
            .regions(&region);
        // SAFETY: the words are as many as the region takes.
        unsafe { self.host.copy_memory_to_image(&info).unwrap() };
    }

    /// What the host reads from the image.
    fn read(&self) -> Vec<u32> {
        let mut words = vec![0u32; 16];
        let region = [vk::ImageToMemoryCopyEXT {
            p_host_pointer: words.as_mut_ptr().cast(),
            image_subresource: LAYERS,
            image_extent: EXTENT,
            ..Default::default()
        }];
        let info = vk::CopyImageToMemoryInfoEXT::default()
            .src_image(self.image)
            .src_image_layout(GENERAL)
            .regions(&region);
        // SAFETY: the words are as many as the region gives.
        unsafe { self.host.copy_image_to_memory(&info).unwrap() };
        words
    }

    fn submit(&self) {
        let commands = [self.commands];
        let info = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: valid usage.
        unsafe { self.device.queue_submit(self.queue, &info, vk::Fence::null()).unwrap() };
    }
}

#[test]
fn the_host_copies_images_among_the_work_of_the_device() {
    let name = "the_host_copies_images_among_the_work_of_the_device";
    for (mode, late, finding) in [("run", "0", false), ("check", "0", false), ("check", "1", true)] {
        let Some(text) = alone(name, &[("PELLUCID_MODE", mode), ("TEST_LATE", late)]) else {
            let v = Vulkan::new();
            // SAFETY: valid usage, but for a copy to an image that pending work reads.
            unsafe {
                let filled = Filled::new(&v);
                assert_eq!(filled.read(), (1..17).collect::<Vec<u32>>());
                filled.submit();
                if std::env::var("TEST_LATE").as_deref() == Ok("1") {
                    filled.fill(100);
                }
                filled.device.device_wait_idle().unwrap();
                if std::env::var("TEST_LATE").as_deref() == Ok("0") {
                    let words = std::slice::from_raw_parts(filled.mapped, 16);
                    assert_eq!(words, (1..17).collect::<Vec<u32>>());
                    filled.fill(100);
                    assert_eq!(filled.read()[15], 115);
                }
                filled.device.destroy_device(None);
            }
            return;
        };
        assert_eq!(text.contains("host-"), finding, "{mode}, {late}: {text}");
        assert_eq!(text.contains("error["), finding, "{mode}, {late}: {text}");
    }
}
