//! Buffers and images of a case, with their initial contents.

use super::Device;
use crate::corpus::{Case, Contents, Resource, Shape, value_bytes};
use anyhow::{Context, Result, bail};
use ash::vk;
use std::collections::BTreeMap;

/// One buffer or image.
pub struct Object {
    /// The buffer, or the null handle.
    pub buffer: vk::Buffer,
    /// The image and its view, or null handles.
    pub image: vk::Image,
    /// See `image`.
    pub view: vk::ImageView,
    /// Bound to it alone, from offset 0.
    pub memory: vk::DeviceMemory,
    /// Bytes.
    pub size: u64,
    /// Device address of a buffer.
    pub address: u64,
    /// Of an image.
    pub extent: vk::Extent3D,
    ty: String,
}

/// All resources of a case by name.
pub struct Resources(pub BTreeMap<String, Object>);

const BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

fn bytes_of(resource: &Resource, count: u64, ty: &str) -> Result<Vec<u8>> {
    let zero = value_bytes(ty, "0").with_context(|| format!("no type {ty}"))?;
    let mut all = Vec::new();
    for index in 0..count as usize {
        let value = match &resource.contents {
            Contents::Undefined | Contents::Zero => zero.clone(),
            Contents::Iota => value_bytes(ty, &index.to_string()).context("iota")?,
            Contents::Values(values) => {
                let text = &values[index % values.len()];
                value_bytes(ty, text).with_context(|| format!("{text} is no {ty}"))?
            }
        };
        all.extend(value);
    }
    Ok(all)
}

/// Format, and bytes and type of a texel's components.
fn image_format(name: &str) -> Result<(vk::Format, u64, &'static str)> {
    Ok(match name {
        "r32ui" => (vk::Format::R32_UINT, 4, "u32"),
        "r32f" => (vk::Format::R32_SFLOAT, 4, "f32"),
        "rgba32ui" => (vk::Format::R32G32B32A32_UINT, 16, "u32"),
        other => bail!("no image format {other}"),
    })
}

impl Resources {
    /// Creates them.
    ///
    /// # Errors
    /// A Vulkan call fails, or contents are none of the type.
    pub fn create(device: &Device, case: &Case) -> Result<Resources> {
        let mut all = BTreeMap::new();
        for resource in &case.resources {
            let object = match &resource.shape {
                Shape::Buffer { count, ty } => buffer(device, resource, *count, ty)?,
                Shape::Image { format, width, height, depth } => {
                    image(device, resource, format, [*width, *height], *depth)?
                }
            };
            all.insert(resource.name.clone(), object);
        }
        Ok(Resources(all))
    }

    /// The resource of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, name: &str) -> Result<&Object> {
        self.0.get(name).with_context(|| format!("no resource {name}"))
    }

    /// Component type and bytes, once the device is idle.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn read(&self, device: &Device, name: &str) -> Result<(String, Vec<u8>)> {
        let object = self.get(name)?;
        let staging = raw_buffer(
            device,
            object.size,
            vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT,
        )?;
        once(device, |d, c| {
            barrier(
                d,
                c,
                (vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::MEMORY_WRITE),
                (
                    vk::PipelineStageFlags2::ALL_COMMANDS,
                    vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE,
                ),
            );
            // SAFETY: both resources are live and as large as the copy.
            unsafe {
                if object.image == vk::Image::null() {
                    let copy = [vk::BufferCopy::default().size(object.size)];
                    d.cmd_copy_buffer(c, object.buffer, staging.buffer, &copy);
                } else {
                    let copy = [whole(object.extent)];
                    d.cmd_copy_image_to_buffer(
                        c,
                        object.image,
                        vk::ImageLayout::GENERAL,
                        staging.buffer,
                        &copy,
                    );
                }
            }
            barrier(
                d,
                c,
                (vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::TRANSFER_WRITE),
                (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ),
            );
        })?;
        let mut bytes = vec![0; object.size as usize];
        // SAFETY: the memory is host-visible, not mapped yet, and holds `size` bytes.
        unsafe {
            let at = device.device.map_memory(staging.memory, 0, vk::WHOLE_SIZE, Default::default())?;
            std::ptr::copy_nonoverlapping(at.cast::<u8>(), bytes.as_mut_ptr(), bytes.len());
            device.device.unmap_memory(staging.memory);
        }
        Ok((object.ty.clone(), bytes))
    }
}

fn raw_buffer(device: &Device, size: u64, wanted: vk::MemoryPropertyFlags) -> Result<Object> {
    let d = &device.device;
    let info = vk::BufferCreateInfo::default().size(size).usage(BUFFER_USAGE);
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    // SAFETY: every handle is created here from this device.
    unsafe {
        let buffer = d.create_buffer(&info, None)?;
        let needs = d.get_buffer_memory_requirements(buffer);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(device.memory_type(needs.memory_type_bits, wanted)?)
            .push_next(&mut flags);
        let memory = d.allocate_memory(&info, None).context("vkAllocateMemory")?;
        d.bind_buffer_memory(buffer, memory, 0)?;
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        let address = d.get_buffer_device_address(&info);
        Ok(Object {
            buffer,
            image: vk::Image::null(),
            view: vk::ImageView::null(),
            memory,
            size,
            address,
            extent: vk::Extent3D::default(),
            ty: "u32".to_owned(),
        })
    }
}

fn buffer(device: &Device, resource: &Resource, count: u64, ty: &str) -> Result<Object> {
    let bytes = bytes_of(resource, count, ty)?;
    let wanted = match resource.contents {
        Contents::Undefined => vk::MemoryPropertyFlags::DEVICE_LOCAL,
        _ => vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT,
    };
    let mut object = raw_buffer(device, bytes.len() as u64, wanted)?;
    object.ty = ty.to_owned();
    device.name(object.buffer, &resource.name);
    if resource.contents != Contents::Undefined {
        // SAFETY: the memory is host-visible, not mapped yet, and holds `size` bytes.
        unsafe {
            let at = device.device.map_memory(object.memory, 0, vk::WHOLE_SIZE, Default::default())?;
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.cast::<u8>(), bytes.len());
            device.device.unmap_memory(object.memory);
        }
    }
    Ok(object)
}

/// All of an image.
pub const COLOUR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

/// The region of all texels.
pub fn whole(extent: vk::Extent3D) -> vk::BufferImageCopy {
    let layers =
        vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
    vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent)
}

fn image(
    device: &Device,
    resource: &Resource,
    format: &str,
    [width, height]: [u32; 2],
    depth: Option<u32>,
) -> Result<Object> {
    let d = &device.device;
    let (vk_format, texel, ty) = image_format(format)?;
    let extent = vk::Extent3D { width, height, depth: depth.unwrap_or(1) };
    let (image_type, view_type) = match depth {
        Some(_) => (vk::ImageType::TYPE_3D, vk::ImageViewType::TYPE_3D),
        None => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D),
    };
    let usage =
        vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let info = vk::ImageCreateInfo::default()
        .image_type(image_type)
        .format(vk_format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    let size = texel * u64::from(width) * u64::from(height) * u64::from(extent.depth);
    let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let staging = raw_buffer(device, size, host)?;
    let bytes = bytes_of(resource, size / 4, ty)?;
    // SAFETY: every handle is created here from this device; the mapping holds `size` bytes.
    let (image, memory, view) = unsafe {
        let at = d.map_memory(staging.memory, 0, vk::WHOLE_SIZE, Default::default())?;
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.cast::<u8>(), bytes.len());
        d.unmap_memory(staging.memory);
        let image = d.create_image(&info, None)?;
        let needs = d.get_image_memory_requirements(image);
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(device.memory_type(needs.memory_type_bits, local)?);
        let memory = d.allocate_memory(&info, None)?;
        d.bind_image_memory(image, memory, 0)?;
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(view_type)
            .format(vk_format)
            .subresource_range(COLOUR);
        (image, memory, d.create_image_view(&info, None)?)
    };
    device.name(image, &resource.name);
    device.name(view, &resource.name);
    once(device, |d, c| {
        let transition = [vk::ImageMemoryBarrier2::default()
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
            .new_layout(vk::ImageLayout::GENERAL)
            .image(image)
            .subresource_range(COLOUR)];
        // SAFETY: the image and the staging buffer are live and as large as the copy.
        unsafe {
            d.cmd_pipeline_barrier2(c, &vk::DependencyInfo::default().image_memory_barriers(&transition));
            if resource.contents != Contents::Undefined {
                let copy = [whole(extent)];
                d.cmd_copy_buffer_to_image(c, staging.buffer, image, vk::ImageLayout::GENERAL, &copy);
            }
        }
    })?;
    Ok(Object {
        buffer: vk::Buffer::null(),
        image,
        view,
        memory,
        size,
        address: 0,
        extent,
        ty: ty.to_owned(),
    })
}

type Half = (vk::PipelineStageFlags2, vk::AccessFlags2);

fn barrier(d: &ash::Device, c: vk::CommandBuffer, source: Half, destination: Half) {
    let memory = [vk::MemoryBarrier2::default()
        .src_stage_mask(source.0)
        .src_access_mask(source.1)
        .dst_stage_mask(destination.0)
        .dst_access_mask(destination.1)];
    // SAFETY: the command buffer is being recorded.
    unsafe { d.cmd_pipeline_barrier2(c, &vk::DependencyInfo::default().memory_barriers(&memory)) }
}

/// Records, submits and waits for a command buffer of its own.
fn once(device: &Device, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
    let d = &device.device;
    // SAFETY: every handle is created here from this device, and is idle when it is destroyed.
    unsafe {
        let pool = d.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let command = d.allocate_command_buffers(&info)?[0];
        d.begin_command_buffer(command, &vk::CommandBufferBeginInfo::default())?;
        record(d, command);
        d.end_command_buffer(command)?;
        let fence = d.create_fence(&vk::FenceCreateInfo::default(), None)?;
        let commands = [command];
        let submit = vk::SubmitInfo::default().command_buffers(&commands);
        d.queue_submit(device.queues[0], &[submit], fence)?;
        d.wait_for_fences(&[fence], true, 60_000_000_000)?;
        d.destroy_fence(fence, None);
        d.destroy_command_pool(pool, None);
    }
    Ok(())
}
