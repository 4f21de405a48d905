//! VK_KHR_maintenance10.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use std::ffi::c_void;
use vk::{AccessFlags2 as Access, ImageAspectFlags as Aspect, PipelineStageFlags2 as Stage};

const FORMAT: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// A structure of the extension: a header and up to four words.
#[repr(C)]
struct Words<const KIND: i32> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    words: [u32; 4],
}

impl<const KIND: i32> Words<KIND> {
    fn new(words: [u32; 4]) -> Words<KIND> {
        Words { s_type: vk::StructureType::from_raw(KIND), p_next: std::ptr::null_mut(), words }
    }
}

// SAFETY: the structure begins with sType and pNext.
unsafe impl<const KIND: i32> vk::TaggedStructure for Words<KIND> {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(KIND);
}

type Features = Words<1_000_630_000>;
type Properties = Words<1_000_630_001>;
type AttachmentFlags = Words<1_000_630_002>;
type Modes = Words<1_000_630_004>;

// SAFETY: these are the structures that they extend.
unsafe impl vk::ExtendsDeviceCreateInfo for Features {}
// SAFETY: the same.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Features {}
// SAFETY: the same.
unsafe impl vk::ExtendsPhysicalDeviceProperties2 for Properties {}

fn vulkan() -> Vulkan {
    let mut thirteen =
        vk::PhysicalDeviceVulkan13Features::default().synchronization2(true).dynamic_rendering(true);
    let mut features = Features::new([1, 0, 0, 0]);
    features.p_next = (&raw mut thirteen).cast();
    Vulkan::with(&[c"VK_KHR_maintenance10"], &mut features)
}

#[test]
fn what_it_offers_is_told() {
    let v = Vulkan::new();
    // SAFETY: live handles, complete structures.
    unsafe {
        let mut features = Features::new([9, 0, 0, 0]);
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
        v.instance.get_physical_device_features2(v.physical, &mut all);
        assert_eq!(features.words[0], 1);
        let mut properties = Properties::new([9, 9, 9, 0]);
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        v.instance.get_physical_device_properties2(v.physical, &mut all);
        assert_eq!(properties.words[..3], [1, 1, 0]);
        let copied = |format| {
            let mut three = vk::FormatProperties3::default();
            let mut all = vk::FormatProperties2::default().push_next(&mut three);
            v.instance.get_physical_device_format_properties2(v.physical, format, &mut all);
            three.optimal_tiling_features.as_raw() >> 52 & 15
        };
        let formats = [FORMAT, vk::Format::D16_UNORM, vk::Format::S8_UINT, vk::Format::R8_UNORM];
        assert_eq!(formats.map(copied), [15, 3, 12, 0]);
    }
}

fn layers(aspect: Aspect) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask: aspect, layer_count: 1, ..Default::default() }
}

fn image(v: &Vulkan, samples: vk::SampleCountFlags) -> vk::Image {
    use vk::ImageUsageFlags as U;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(FORMAT)
        .extent(vk::Extent3D { width: 4, height: 1, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(samples)
        .usage(U::TRANSFER_SRC | U::TRANSFER_DST | U::DEPTH_STENCIL_ATTACHMENT);
    v.image(&info, 0)
}

/// A resolve of two texels, with these modes for depth and stencil.
fn resolve(v: &Vulkan, c: vk::CommandBuffer, (from, to): (vk::Image, vk::Image), modes: [u32; 2]) {
    let both = Aspect::DEPTH | Aspect::STENCIL;
    let region = [vk::ImageResolve2::default()
        .src_subresource(layers(both))
        .dst_subresource(layers(both))
        .dst_offset(vk::Offset3D { x: 1, y: 0, z: 0 })
        .extent(vk::Extent3D { width: 2, height: 1, depth: 1 })];
    let modes = Modes::new([0, modes[0], modes[1], 0]);
    let mut info = vk::ResolveImageInfo2::default()
        .src_image(from)
        .src_image_layout(GENERAL)
        .dst_image(to)
        .dst_image_layout(GENERAL)
        .regions(&region);
    info.p_next = (&raw const modes).cast();
    // SAFETY: valid usage, but for modes that are refused.
    unsafe { v.device.cmd_resolve_image2(c, &info) };
}

#[test]
fn depth_and_stencil_are_resolved_to_sample_zero() {
    for mode in ["run", "check"] {
        let name = "depth_and_stencil_are_resolved_to_sample_zero";
        let Some(text) = alone(name, &[("PELLUCID_MODE", mode)]) else { return resolved() };
        assert!(!text.contains("error["), "{mode}: {text}");
    }
}

fn resolved() {
    let v = vulkan();
    let (many, one) = (image(&v, vk::SampleCountFlags::TYPE_4), image(&v, vk::SampleCountFlags::TYPE_1));
    let (buffer, _, seen) = v.buffer(256, 1);
    let whole = vk::ImageSubresourceRange {
        aspect_mask: Aspect::DEPTH | Aspect::STENCIL,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    // SAFETY: valid usage.
    unsafe {
        v.run(v.record(|c| {
            let wait = || {
                let barrier = [vk::MemoryBarrier2::default()
                    .src_stage_mask(Stage::ALL_COMMANDS)
                    .src_access_mask(Access::MEMORY_WRITE)
                    .dst_stage_mask(Stage::ALL_COMMANDS | Stage::HOST)
                    .dst_access_mask(Access::MEMORY_READ | Access::MEMORY_WRITE | Access::HOST_READ)];
                let info = vk::DependencyInfo::default().memory_barriers(&barrier);
                v.device.cmd_pipeline_barrier2(c, &info);
            };
            for (image, depth, stencil) in [(many, 0.25, 7), (one, 1.0, 1)] {
                let barrier = [vk::ImageMemoryBarrier2::default()
                    .dst_stage_mask(Stage::CLEAR)
                    .dst_access_mask(Access::TRANSFER_WRITE)
                    .new_layout(GENERAL)
                    .image(image)
                    .subresource_range(whole)];
                let info = vk::DependencyInfo::default().image_memory_barriers(&barrier);
                v.device.cmd_pipeline_barrier2(c, &info);
                let value = vk::ClearDepthStencilValue { depth, stencil };
                v.device.cmd_clear_depth_stencil_image(c, image, GENERAL, &value, &[whole]);
            }
            wait();
            let zero = vk::ResolveModeFlags::SAMPLE_ZERO.as_raw();
            resolve(&v, c, (many, one), [zero, zero]);
            wait();
            for (aspect, at) in [(Aspect::DEPTH, 0), (Aspect::STENCIL, 64)] {
                let region = [vk::BufferImageCopy {
                    buffer_offset: at,
                    image_subresource: layers(aspect),
                    image_extent: vk::Extent3D { width: 4, height: 1, depth: 1 },
                    ..Default::default()
                }];
                v.device.cmd_copy_image_to_buffer(c, one, GENERAL, buffer, &region);
            }
            wait();
        }));
        let depth = v.words(seen, 4).into_iter().map(f32::from_bits).collect::<Vec<_>>();
        assert_eq!(depth, [1.0, 0.25, 0.25, 1.0]);
        assert_eq!(v.words(seen.add(64), 1)[0].to_le_bytes(), [1, 7, 7, 1]);
    }
}

/// Whether a command buffer with this is refused.
fn refused(v: &Vulkan, body: impl FnOnce(vk::CommandBuffer)) -> bool {
    let c = v.commands(vk::CommandBufferLevel::PRIMARY);
    // SAFETY: valid usage, but for what `body` does, for which the driver promises an error.
    unsafe {
        v.device.begin_command_buffer(c, &vk::CommandBufferBeginInfo::default()).unwrap();
        body(c);
        v.device.end_command_buffer(c).is_err()
    }
}

#[test]
fn modes_and_flags_that_are_not_there_are_refused() {
    let v = vulkan();
    let images = (image(&v, vk::SampleCountFlags::TYPE_4), image(&v, vk::SampleCountFlags::TYPE_1));
    let (zero, mean) = (vk::ResolveModeFlags::SAMPLE_ZERO.as_raw(), vk::ResolveModeFlags::AVERAGE.as_raw());
    for (modes, wrong) in [([zero, zero], false), ([mean, zero], true), ([zero, 0], true)] {
        assert_eq!(refused(&v, |c| resolve(&v, c, images, modes)), wrong, "{modes:?}");
    }
    let region = vk::ImageResolve {
        src_subresource: layers(Aspect::DEPTH),
        dst_subresource: layers(Aspect::DEPTH),
        extent: vk::Extent3D { width: 1, height: 1, depth: 1 },
        ..Default::default()
    };
    // SAFETY: what is refused is what the test is about.
    unsafe {
        let old = |c| v.device.cmd_resolve_image(c, images.0, GENERAL, images.1, GENERAL, &[region]);
        assert!(refused(&v, old));
        let name = c"vkCmdEndRendering2KHR".as_ptr();
        let found = v.instance.get_device_proc_addr(v.device.handle(), name).unwrap();
        let end: unsafe extern "system" fn(vk::CommandBuffer, *const c_void) = std::mem::transmute(found);
        for flags in [0, 1, 2, 4] {
            let with_flags = AttachmentFlags::new([flags, 0, 0, 0]);
            let p_next = (&raw const with_flags).cast();
            let attachment = vk::RenderingAttachmentInfo { p_next, ..Default::default() };
            let attachments = [attachment];
            let area = vk::Rect2D { extent: vk::Extent2D { width: 1, height: 1 }, ..Default::default() };
            let info =
                vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&attachments);
            let wrong = refused(&v, |c| {
                v.device.cmd_begin_rendering(c, &info);
                end(c, std::ptr::null());
            });
            assert_eq!(wrong, flags != 0, "{flags}");
        }
    }
}
