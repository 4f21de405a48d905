//! Programs that take an image to be in a layout in which it is not, or its bytes for what they are not, each
//! beside its right twin: `wrong` says which of the two runs.

use crate::program::{Buffer, COHERENT, Program};
use ash::vk;
use vk::ImageLayout as Layout;

const SHADER: &[u8] = include_bytes!("paint.spv");
/// Memory that only the device reaches.
const DEVICE: u32 = 0;
/// Texels of a side.
const SIDE: u32 = 64;

/// An image of two mip levels and two layers in memory of its own, mapped where the host can.
struct Picture {
    image: vk::Image,
    memory: vk::DeviceMemory,
    size: u64,
}

/// Its memory is `memory`, or of this type.
fn picture(
    p: &Program,
    tiling: vk::ImageTiling,
    flags: vk::ImageCreateFlags,
    memory: Result<vk::DeviceMemory, u32>,
) -> Picture {
    let parts = if tiling == vk::ImageTiling::LINEAR { 1 } else { 2 };
    let transfer = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let storage = if tiling == vk::ImageTiling::LINEAR { transfer } else { vk::ImageUsageFlags::STORAGE };
    let info = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })
        .mip_levels(parts)
        .array_layers(parts)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(tiling)
        .usage(transfer | storage);
    // SAFETY: live handles, complete structures.
    unsafe {
        let image = p.v.device.create_image(&info, None).unwrap();
        let size = p.v.device.get_image_memory_requirements(image).size;
        let memory = memory.unwrap_or_else(|kind| {
            let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(kind);
            p.v.device.allocate_memory(&info, None).unwrap()
        });
        p.v.device.bind_image_memory(image, memory, 0).unwrap();
        p.v.name(image, "picture");
        Picture { image, memory, size }
    }
}

fn optimal(p: &Program) -> Picture {
    picture(p, vk::ImageTiling::OPTIMAL, vk::ImageCreateFlags::empty(), Err(DEVICE))
}

/// A buffer on all of an image's memory.
fn alias(p: &Program, picture: &Picture) -> Buffer {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let info = vk::BufferCreateInfo::default().size(picture.size).usage(usage);
    // SAFETY: live handles.
    unsafe {
        let buffer = p.v.device.create_buffer(&info, None).unwrap();
        p.v.device.bind_buffer_memory(buffer, picture.memory, 0).unwrap();
        Buffer { buffer, memory: picture.memory, mapped: std::ptr::null_mut(), size: picture.size }
    }
}

fn range(level: u32, levels: u32, layer: u32, layers: u32) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        base_mip_level: level,
        level_count: levels,
        base_array_layer: layer,
        layer_count: layers,
    }
}

fn whole() -> vk::ImageSubresourceRange {
    range(0, vk::REMAINING_MIP_LEVELS, 0, vk::REMAINING_ARRAY_LAYERS)
}

/// A barrier for everything, which takes subresources from one layout to another.
fn transition(
    p: &Program,
    c: vk::CommandBuffer,
    picture: &Picture,
    range: vk::ImageSubresourceRange,
    from: Layout,
    to: Layout,
) {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let barrier = vk::ImageMemoryBarrier::default()
        .src_access_mask(all)
        .dst_access_mask(all | vk::AccessFlags::HOST_READ)
        .old_layout(from)
        .new_layout(to)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(picture.image)
        .subresource_range(range);
    let (stage, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
    let to = stage | vk::PipelineStageFlags::HOST;
    // SAFETY: live handles.
    unsafe { p.v.device.cmd_pipeline_barrier(c, stage, to, none, &[], &[], &[barrier]) };
}

fn clear(
    p: &Program,
    c: vk::CommandBuffer,
    picture: &Picture,
    layout: Layout,
    range: vk::ImageSubresourceRange,
) {
    let color = vk::ClearColorValue { uint32: [7; 4] };
    // SAFETY: live handles.
    unsafe { p.v.device.cmd_clear_color_image(c, picture.image, layout, &color, &[range]) };
}

fn region(level: u32, layer: u32) -> [vk::BufferImageCopy; 1] {
    let side = SIDE >> level;
    [vk::BufferImageCopy::default()
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: level,
            base_array_layer: layer,
            layer_count: 1,
        })
        .image_extent(vk::Extent3D { width: side, height: side, depth: 1 })]
}

/// Copies the first level and layer to a buffer.
fn read_back(p: &Program, c: vk::CommandBuffer, picture: &Picture, layout: Layout) -> Buffer {
    let to = p.buffer("result", u64::from(4 * SIDE * SIDE), COHERENT);
    // SAFETY: live handles.
    unsafe { p.v.device.cmd_copy_image_to_buffer(c, picture.image, layout, to.buffer, &region(0, 0)) };
    to
}

const TO: Layout = Layout::TRANSFER_DST_OPTIMAL;
const FROM: Layout = Layout::TRANSFER_SRC_OPTIMAL;

pub fn never_transitioned(p: &Program, wrong: bool) {
    let picture = optimal(p);
    p.run(p.record(|c| {
        if !wrong {
            transition(p, c, &picture, whole(), Layout::UNDEFINED, TO);
        }
        clear(p, c, &picture, TO, whole());
    }));
}

pub fn read_in_the_layout_of_writes(p: &Program, wrong: bool) {
    let picture = optimal(p);
    p.run(p.record(|c| {
        transition(p, c, &picture, whole(), Layout::UNDEFINED, TO);
        clear(p, c, &picture, TO, whole());
        transition(p, c, &picture, whole(), TO, if wrong { Layout::GENERAL } else { FROM });
        read_back(p, c, &picture, FROM);
    }));
}

pub fn another_old_layout(p: &Program, wrong: bool) {
    let picture = optimal(p);
    p.run(p.record(|c| {
        transition(p, c, &picture, whole(), Layout::UNDEFINED, TO);
        clear(p, c, &picture, TO, whole());
        let old = if wrong { Layout::SHADER_READ_ONLY_OPTIMAL } else { TO };
        transition(p, c, &picture, whole(), old, FROM);
    }));
}

/// The second submission takes the image as the first one found it.
pub fn old_layout_of_the_frame_before(p: &Program, wrong: bool) {
    let picture = optimal(p);
    for frame in 0..2 {
        p.run(p.record(|c| {
            let first = if wrong { Layout::PREINITIALIZED } else { FROM };
            transition(p, c, &picture, whole(), if frame == 0 { Layout::UNDEFINED } else { first }, TO);
            clear(p, c, &picture, TO, whole());
            transition(p, c, &picture, whole(), TO, FROM);
        }));
    }
}

pub fn one_level_forgotten(p: &Program, wrong: bool) {
    let picture = optimal(p);
    p.run(p.record(|c| {
        let levels = if wrong { 1 } else { 2 };
        transition(p, c, &picture, range(0, levels, 0, 2), Layout::UNDEFINED, TO);
        clear(p, c, &picture, TO, range(1, 1, 0, 2));
    }));
}

pub fn one_layer_forgotten(p: &Program, wrong: bool) {
    let picture = optimal(p);
    p.run(p.record(|c| {
        let first = u32::from(wrong);
        transition(p, c, &picture, range(0, 2, first, 2 - first), Layout::UNDEFINED, TO);
        clear(p, c, &picture, TO, range(0, 1, 0, 2));
    }));
}

/// A transition by an event takes place where the event is waited for.
pub fn transition_by_an_event(p: &Program, wrong: bool) {
    let picture = optimal(p);
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: live handles.
    let event = unsafe { p.v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap() };
    p.run(p.record(|c| {
        let barrier = vk::ImageMemoryBarrier::default()
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .old_layout(Layout::UNDEFINED)
            .new_layout(TO)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(picture.image)
            .subresource_range(whole());
        // SAFETY: live handles.
        unsafe {
            p.v.device.cmd_set_event(c, event, all);
            if !wrong {
                p.v.device.cmd_wait_events(c, &[event], all, all, &[], &[], &[barrier]);
            }
        }
        clear(p, c, &picture, TO, whole());
    }));
}

/// A dispatch that writes the image; its descriptor says `layout`.
fn paint(p: &Program, c: vk::CommandBuffer, picture: &Picture, layout: Layout) {
    let device = &p.v.device;
    // SAFETY: live handles, complete structures; what is created here ends with the process.
    unsafe {
        let kind = vk::DescriptorType::STORAGE_IMAGE;
        let binding = vk::DescriptorSetLayoutBinding::default()
            .descriptor_count(1)
            .descriptor_type(kind)
            .stage_flags(vk::ShaderStageFlags::COMPUTE);
        let bindings = [binding];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layouts = [device.create_descriptor_set_layout(&info, None).unwrap()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        let pipelines = device.create_pipeline_layout(&info, None).unwrap();
        let words = ash::util::read_spv(&mut std::io::Cursor::new(SHADER)).unwrap();
        let pipeline = p.v.pipeline(&words, c"main", pipelines).unwrap();
        let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: 1 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None).unwrap();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = device.allocate_descriptor_sets(&info).unwrap()[0];
        let info = vk::ImageViewCreateInfo::default()
            .image(picture.image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R32_UINT)
            .subresource_range(range(0, 1, 0, 1));
        let view = device.create_image_view(&info, None).unwrap();
        let info = [vk::DescriptorImageInfo::default().image_view(view).image_layout(layout)];
        let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(kind).image_info(&info);
        device.update_descriptor_sets(&[write], &[]);
        let point = vk::PipelineBindPoint::COMPUTE;
        device.cmd_bind_pipeline(c, point, pipeline);
        device.cmd_bind_descriptor_sets(c, point, pipelines, 0, &[set], &[]);
        device.cmd_dispatch(c, SIDE / 8, SIDE / 8, 1);
    }
}

/// Only the subresource that the shader writes need be in the descriptor's layout.
pub fn descriptor_of_another_layout(p: &Program, wrong: bool) {
    let picture = optimal(p);
    p.run(p.record(|c| {
        transition(p, c, &picture, whole(), Layout::UNDEFINED, TO);
        if !wrong {
            transition(p, c, &picture, range(0, 1, 0, 1), TO, Layout::GENERAL);
        }
        paint(p, c, &picture, Layout::GENERAL);
    }));
}

/// The words of the image, looked at through a buffer on its memory.
pub fn read_through_a_buffer(p: &Program, wrong: bool) {
    let picture = optimal(p);
    let bytes = alias(p, &picture);
    let to = p.buffer("copy", picture.size, DEVICE);
    p.run(p.record(|c| {
        transition(p, c, &picture, whole(), Layout::UNDEFINED, Layout::GENERAL);
        paint(p, c, &picture, Layout::GENERAL);
        transition(p, c, &picture, whole(), Layout::GENERAL, FROM);
        if wrong {
            p.copy(c, &bytes, &to);
        } else {
            read_back(p, c, &picture, FROM);
            // What the buffer itself wrote is its own, whatever the image held.
            let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
            let everything = (vk::PipelineStageFlags::ALL_COMMANDS, all);
            p.barrier(c, everything, everything);
            p.fill(c, &bytes, 3);
            p.barrier(c, everything, everything);
            p.copy(c, &bytes, &to);
        }
    }));
}

/// A buffer on the image's memory is used in between: the image is to begin anew.
pub fn memory_used_in_turns(p: &Program, wrong: bool) {
    let picture = optimal(p);
    let bytes = alias(p, &picture);
    p.run(p.record(|c| {
        transition(p, c, &picture, whole(), Layout::UNDEFINED, TO);
        clear(p, c, &picture, TO, whole());
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let everything = (vk::PipelineStageFlags::ALL_COMMANDS, all);
        p.barrier(c, everything, everything);
        p.fill(c, &bytes, 3);
        transition(p, c, &picture, whole(), if wrong { TO } else { Layout::UNDEFINED }, FROM);
        p.barrier(c, everything, everything);
        if !wrong {
            transition(p, c, &picture, whole(), Layout::UNDEFINED, TO);
            clear(p, c, &picture, TO, whole());
        }
    }));
}

/// Two images that were created as aliases of each other see the same.
pub fn images_on_one_memory(p: &Program, wrong: bool) {
    let flags = if wrong { vk::ImageCreateFlags::empty() } else { vk::ImageCreateFlags::ALIAS };
    let first = picture(p, vk::ImageTiling::OPTIMAL, flags, Err(DEVICE));
    let second = picture(p, vk::ImageTiling::OPTIMAL, flags, Ok(first.memory));
    p.run(p.record(|c| {
        for picture in [&first, &second] {
            transition(p, c, picture, whole(), Layout::UNDEFINED, TO);
            clear(p, c, picture, TO, whole());
        }
        transition(p, c, &first, whole(), TO, FROM);
    }));
}

fn map(p: &Program, picture: &Picture) -> Buffer {
    // SAFETY: live handles; the memory is not mapped.
    let mapped = unsafe {
        p.v.device.map_memory(picture.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap()
    };
    Buffer { buffer: vk::Buffer::null(), memory: picture.memory, mapped: mapped.cast(), size: picture.size }
}

/// The host looks at an image that has linear tiling, in a layout that tells it nothing.
pub fn host_reads_a_linear_image(p: &Program, wrong: bool) {
    let picture = picture(p, vk::ImageTiling::LINEAR, vk::ImageCreateFlags::empty(), Err(COHERENT));
    let bytes = map(p, &picture);
    p.run(p.record(|c| {
        transition(p, c, &picture, whole(), Layout::UNDEFINED, TO);
        clear(p, c, &picture, TO, whole());
        transition(p, c, &picture, whole(), TO, if wrong { FROM } else { Layout::GENERAL });
    }));
    assert_eq!(bytes.get(0), 7);
    bytes.sum();
    // Looks at what the host did.
    p.run(p.record(|_| {}));
}

/// The host writes an image that has linear tiling; in another layout than GENERAL that leaves nothing.
pub fn host_writes_a_linear_image(p: &Program, wrong: bool) {
    let picture = picture(p, vk::ImageTiling::LINEAR, vk::ImageCreateFlags::empty(), Err(COHERENT));
    let bytes = map(p, &picture);
    let layout = if wrong { FROM } else { Layout::GENERAL };
    p.run(p.record(|c| transition(p, c, &picture, whole(), Layout::UNDEFINED, layout)));
    bytes.put_all(9);
    p.run(p.record(|c| {
        read_back(p, c, &picture, layout);
    }));
}

/// The same in memory of which the host writes much, while no work is pending.
pub fn host_writes_much_over_a_linear_image(p: &Program, wrong: bool) {
    let bytes = crate::large::large(p);
    let picture = picture(p, vk::ImageTiling::LINEAR, vk::ImageCreateFlags::empty(), Ok(bytes.memory));
    let layout = if wrong { FROM } else { Layout::GENERAL };
    p.run(p.record(|c| transition(p, c, &picture, whole(), Layout::UNDEFINED, layout)));
    bytes.put_all(9);
    p.run(p.record(|c| {
        read_back(p, c, &picture, layout);
    }));
}
