//! What render passes and dynamic rendering write without drawing anything.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use vk::ImageAspectFlags as Aspects;
use vk::ImageLayout as Layout;

const SIDE: u32 = 4;
const COLOR: vk::Format = vk::Format::R8G8B8A8_UINT;

/// An image of four by four texels and two layers in device memory, and a view of all of it.
struct Picture {
    image: vk::Image,
    view: vk::ImageView,
    aspects: Aspects,
}

fn picture(v: &Vulkan, format: vk::Format, samples: vk::SampleCountFlags) -> Picture {
    let (aspects, usage) = match format {
        vk::Format::D32_SFLOAT_S8_UINT => {
            (Aspects::DEPTH | Aspects::STENCIL, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT)
        }
        _ => (Aspects::COLOR, vk::ImageUsageFlags::COLOR_ATTACHMENT),
    };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })
        .mip_levels(1)
        .array_layers(2)
        .samples(samples)
        .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    // SAFETY: live handles, complete structures.
    unsafe {
        let image = v.image(&info, 0);
        v.name(image, "picture");
        let range = vk::ImageSubresourceRange {
            aspect_mask: aspects,
            level_count: 1,
            layer_count: 2,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
            .format(format)
            .subresource_range(range);
        Picture { image, view: v.device.create_image_view(&info, None).unwrap(), aspects }
    }
}

fn single(v: &Vulkan, format: vk::Format) -> Picture {
    picture(v, format, vk::SampleCountFlags::TYPE_1)
}

/// A barrier between transfers and attachments that takes an image from one layout to another.
fn barrier(v: &Vulkan, c: vk::CommandBuffer, of: &Picture, from: Layout, to: Layout) {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let range = vk::ImageSubresourceRange {
        aspect_mask: of.aspects,
        level_count: 1,
        layer_count: 2,
        ..Default::default()
    };
    let barrier = vk::ImageMemoryBarrier::default()
        .src_access_mask(all)
        .dst_access_mask(all)
        .old_layout(from)
        .new_layout(to)
        .image(of.image)
        .subresource_range(range);
    let (stage, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
    // SAFETY: live handles.
    unsafe { v.device.cmd_pipeline_barrier(c, stage, stage, none, &[], &[], &[barrier]) };
}

/// Fills with `word` and takes the image to `layout`.
fn prepare(v: &Vulkan, c: vk::CommandBuffer, of: &Picture, word: u32, layout: Layout) {
    barrier(v, c, of, Layout::UNDEFINED, Layout::TRANSFER_DST_OPTIMAL);
    let range = vk::ImageSubresourceRange {
        aspect_mask: of.aspects,
        level_count: 1,
        layer_count: 2,
        ..Default::default()
    };
    // SAFETY: live handles.
    unsafe {
        if of.aspects == Aspects::COLOR {
            let color = vk::ClearColorValue { uint32: [word; 4] };
            let to = Layout::TRANSFER_DST_OPTIMAL;
            v.device.cmd_clear_color_image(c, of.image, to, &color, &[range]);
        } else {
            let value = vk::ClearDepthStencilValue { depth: 0.25, stencil: word };
            let to = Layout::TRANSFER_DST_OPTIMAL;
            v.device.cmd_clear_depth_stencil_image(c, of.image, to, &value, &[range]);
        }
    }
    barrier(v, c, of, Layout::TRANSFER_DST_OPTIMAL, layout);
}

/// Copies an aspect of both layers, from layout TRANSFER_SRC_OPTIMAL.
fn copy(v: &Vulkan, c: vk::CommandBuffer, of: &Picture, aspect: Aspects, to: vk::Buffer) {
    let part =
        vk::ImageSubresourceLayers { aspect_mask: aspect, mip_level: 0, base_array_layer: 0, layer_count: 2 };
    let extent = vk::Extent3D { width: SIDE, height: SIDE, depth: 1 };
    let region = [vk::BufferImageCopy::default().image_subresource(part).image_extent(extent)];
    // SAFETY: live handles.
    unsafe { v.device.cmd_copy_image_to_buffer(c, of.image, Layout::TRANSFER_SRC_OPTIMAL, to, &region) };
    let barrier = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    let (from, host) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
    // SAFETY: live handles.
    unsafe { v.device.cmd_pipeline_barrier(c, from, host, Default::default(), &barrier, &[], &[]) };
}

fn area(x: i32, y: i32, width: u32, height: u32) -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D { x, y }, extent: vk::Extent2D { width, height } }
}

fn color(word: u32) -> vk::ClearValue {
    vk::ClearValue { color: vk::ClearColorValue { uint32: [word; 4] } }
}

fn depth(depth: f32, stencil: u32) -> vk::ClearValue {
    vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil } }
}

fn attachment(format: vk::Format, load: vk::AttachmentLoadOp, from: Layout) -> vk::AttachmentDescription {
    vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(vk::AttachmentLoadOp::LOAD)
        .stencil_store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(from)
        .final_layout(Layout::TRANSFER_SRC_OPTIMAL)
}

/// Dependencies with everything before and after the render pass.
fn external(subpasses: u32) -> Vec<vk::SubpassDependency> {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let one = |from: u32, to: u32| vk::SubpassDependency {
        src_subpass: from,
        dst_subpass: to,
        src_stage_mask: vk::PipelineStageFlags::ALL_COMMANDS,
        dst_stage_mask: vk::PipelineStageFlags::ALL_COMMANDS,
        src_access_mask: all,
        dst_access_mask: all,
        dependency_flags: vk::DependencyFlags::empty(),
    };
    (0..subpasses)
        .flat_map(|s| [one(vk::SUBPASS_EXTERNAL, s), one(s, vk::SUBPASS_EXTERNAL)])
        .chain((1..subpasses).map(|s| one(s - 1, s)))
        .collect()
}

/// A render pass and its framebuffer of two layers.
fn pass(
    v: &Vulkan,
    info: &vk::RenderPassCreateInfo<'_>,
    views: &[vk::ImageView],
) -> (vk::RenderPass, vk::Framebuffer) {
    // SAFETY: live handles, complete structures.
    unsafe {
        let pass = v.device.create_render_pass(info, None).unwrap();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(views)
            .width(SIDE)
            .height(SIDE)
            .layers(2);
        (pass, v.device.create_framebuffer(&info, None).unwrap())
    }
}

/// The words of both layers: `inside` in the area, `outside` elsewhere.
fn expected(part: vk::Rect2D, layers: &[bool; 2], inside: u32, outside: u32) -> Vec<u32> {
    let in_part = |x: i32, y: i32| {
        let (x, y) = (x - part.offset.x, y - part.offset.y);
        x >= 0 && y >= 0 && x < part.extent.width as i32 && y < part.extent.height as i32
    };
    let side = SIDE as i32;
    let each = layers.iter().flat_map(|layer| (0..side * side).map(move |i| (*layer, i % side, i / side)));
    each.map(|(layer, x, y)| if layer && in_part(x, y) { inside } else { outside }).collect()
}

/// Whether this test runs in check mode in a process of its own, beside run mode in this one.
fn in_both_modes(name: &str, test: fn()) {
    match alone(name, &[("PELLUCID_MODE", "check")]) {
        Some(text) => {
            assert!(!text.contains("error[") && !text.contains("warning["), "{text}");
            test();
        }
        None => test(),
    }
}

#[test]
fn load_operations_clear_the_render_area_of_all_layers() {
    in_both_modes("load_operations_clear_the_render_area_of_all_layers", || {
        let v = Vulkan::new();
        let of = single(&v, COLOR);
        let list = [attachment(COLOR, vk::AttachmentLoadOp::CLEAR, Layout::GENERAL)];
        let to = [vk::AttachmentReference { attachment: 0, layout: Layout::COLOR_ATTACHMENT_OPTIMAL }];
        let subpasses = [vk::SubpassDescription::default().color_attachments(&to)];
        let dependencies = external(1);
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&list)
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        let (pass, framebuffer) = pass(&v, &info, &[of.view]);
        let (buffer, _, words) = v.buffer(128, 1);
        let part = area(1, 2, 3, 1);
        let clears = [color(7)];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(part)
            .clear_values(&clears);
        // SAFETY: live handles.
        v.run(v.record(|c| unsafe {
            prepare(&v, c, &of, 1, Layout::GENERAL);
            v.device.cmd_begin_render_pass(c, &begin, vk::SubpassContents::INLINE);
            v.device.cmd_end_render_pass(c);
            copy(&v, c, &of, Aspects::COLOR, buffer);
        }));
        assert_eq!(v.words(words, 32), expected(part, &[true; 2], 0x0707_0707, 0x0101_0101));
    });
}

/// A render pass of two subpasses: color in the first, depth and stencil in the second. The depth aspect is
/// cleared where it is loaded, stencil and color by vkCmdClearAttachments, color in a secondary command
/// buffer.
fn two_subpasses() {
    let v = Vulkan::new();
    let (of, test) = (single(&v, COLOR), single(&v, vk::Format::D32_SFLOAT_S8_UINT));
    let list = [
        attachment(COLOR, vk::AttachmentLoadOp::LOAD, Layout::COLOR_ATTACHMENT_OPTIMAL),
        attachment(vk::Format::D32_SFLOAT_S8_UINT, vk::AttachmentLoadOp::CLEAR, Layout::GENERAL),
    ];
    let unused = vk::AttachmentReference {
        attachment: vk::ATTACHMENT_UNUSED,
        layout: Layout::COLOR_ATTACHMENT_OPTIMAL,
    };
    let to = [unused, vk::AttachmentReference { attachment: 0, layout: Layout::COLOR_ATTACHMENT_OPTIMAL }];
    let tested = vk::AttachmentReference { attachment: 1, layout: Layout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL };
    let subpasses = [
        vk::SubpassDescription::default().color_attachments(&to),
        vk::SubpassDescription::default().depth_stencil_attachment(&tested),
    ];
    let dependencies = external(2);
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&list)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let (pass, framebuffer) = pass(&v, &info, &[of.view, test.view]);
    let (colors, _, words) = v.buffer(128, 1);
    let (depths, _, floats) = v.buffer(128, 1);
    let (stencils, _, bytes) = v.buffer(128, 1);
    let whole = area(0, 0, SIDE, SIDE);
    let (inner, clears) = (area(2, 1, 2, 2), [color(0), depth(0.5, 9)]);
    let begin = vk::RenderPassBeginInfo::default()
        .render_pass(pass)
        .framebuffer(framebuffer)
        .render_area(whole)
        .clear_values(&clears);
    let rect = [vk::ClearRect { rect: inner, base_array_layer: 1, layer_count: 1 }];
    let clear = |aspects, index, value| vk::ClearAttachment {
        aspect_mask: aspects,
        color_attachment: index,
        clear_value: value,
    };
    // SAFETY: live handles; a render pass is inherited.
    let secondary = unsafe {
        let secondary = v.commands(vk::CommandBufferLevel::SECONDARY);
        let inherited = vk::CommandBufferInheritanceInfo::default().render_pass(pass);
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
            .inheritance_info(&inherited);
        v.device.begin_command_buffer(secondary, &info).unwrap();
        let list = [clear(Aspects::COLOR, 0, color(8)), clear(Aspects::COLOR, 1, color(9))];
        v.device.cmd_clear_attachments(secondary, &list, &rect);
        v.device.end_command_buffer(secondary).unwrap();
        secondary
    };
    // SAFETY: live handles.
    v.run(v.record(|c| unsafe {
        prepare(&v, c, &of, 1, Layout::COLOR_ATTACHMENT_OPTIMAL);
        prepare(&v, c, &test, 3, Layout::GENERAL);
        v.device.cmd_begin_render_pass(c, &begin, vk::SubpassContents::SECONDARY_COMMAND_BUFFERS);
        v.device.cmd_execute_commands(c, &[secondary]);
        v.device.cmd_next_subpass(c, vk::SubpassContents::INLINE);
        v.device.cmd_clear_attachments(c, &[clear(Aspects::STENCIL, 0, depth(0.0, 0x104))], &rect);
        v.device.cmd_end_render_pass(c);
        copy(&v, c, &of, Aspects::COLOR, colors);
        copy(&v, c, &test, Aspects::DEPTH, depths);
        copy(&v, c, &test, Aspects::STENCIL, stencils);
    }));
    assert_eq!(v.words(words, 32), expected(inner, &[false, true], 0x0909_0909, 0x0101_0101));
    assert_eq!(v.words(floats, 32), [0.5f32.to_bits(); 32]);
    let stencil: Vec<u32> = v.words(bytes, 8).iter().flat_map(|w| w.to_le_bytes()).map(u32::from).collect();
    assert_eq!(stencil, expected(inner, &[false, true], 4, 3));
}

#[test]
fn subpasses_clear_what_they_are_the_first_to_use() {
    in_both_modes("subpasses_clear_what_they_are_the_first_to_use", two_subpasses);
}

/// A multisampled image is cleared and resolved; the means of equal samples are they themselves.
fn resolves() {
    let v = Vulkan::new();
    let format = vk::Format::R8G8B8A8_UNORM;
    let (many, of) = (picture(&v, format, vk::SampleCountFlags::TYPE_4), single(&v, format));
    let (buffer, _, words) = v.buffer(128, 1);
    let whole = area(0, 0, SIDE, SIDE);
    let value = vk::ClearValue { color: vk::ClearColorValue { float32: [1.0, 0.0, 2.0, 0.2] } };
    let colors = [vk::RenderingAttachmentInfo::default()
        .image_view(many.view)
        .image_layout(Layout::COLOR_ATTACHMENT_OPTIMAL)
        .resolve_mode(vk::ResolveModeFlags::AVERAGE)
        .resolve_image_view(of.view)
        .resolve_image_layout(Layout::COLOR_ATTACHMENT_OPTIMAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::DONT_CARE)
        .clear_value(value)];
    let begin = vk::RenderingInfo::default().render_area(whole).layer_count(1).color_attachments(&colors);
    // SAFETY: live handles.
    v.run(v.record(|c| unsafe {
        barrier(&v, c, &many, Layout::UNDEFINED, Layout::COLOR_ATTACHMENT_OPTIMAL);
        prepare(&v, c, &of, 0, Layout::COLOR_ATTACHMENT_OPTIMAL);
        v.device.cmd_begin_rendering(c, &begin);
        v.device.cmd_end_rendering(c);
        barrier(&v, c, &of, Layout::COLOR_ATTACHMENT_OPTIMAL, Layout::TRANSFER_SRC_OPTIMAL);
        copy(&v, c, &of, Aspects::COLOR, buffer);
    }));
    assert_eq!(v.words(words, 32), expected(whole, &[true, false], 0x33ff_00ff, 0));
}

#[test]
fn samples_are_resolved_at_the_end() {
    in_both_modes("samples_are_resolved_at_the_end", resolves);
}

/// The views of a multiview subpass are layers, and vkCmdClearAttachments clears all of them.
fn views() {
    let v = Vulkan::new();
    let of = single(&v, COLOR);
    let (buffer, _, words) = v.buffer(128, 1);
    let whole = area(0, 0, SIDE, SIDE);
    let (list, mask) = ([attachment(COLOR, vk::AttachmentLoadOp::LOAD, Layout::GENERAL)], [2u32]);
    let to = [vk::AttachmentReference { attachment: 0, layout: Layout::GENERAL }];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&to)];
    let dependencies = external(1);
    let mut multiview = vk::RenderPassMultiviewCreateInfo::default().view_masks(&mask);
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&list)
        .subpasses(&subpasses)
        .dependencies(&dependencies)
        .push_next(&mut multiview);
    let (pass, framebuffer) = pass(&v, &info, &[of.view]);
    let begin =
        vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer).render_area(whole);
    let clear =
        [vk::ClearAttachment { aspect_mask: Aspects::COLOR, color_attachment: 0, clear_value: color(5) }];
    let rect = [vk::ClearRect { rect: whole, base_array_layer: 0, layer_count: 1 }];
    // SAFETY: live handles.
    v.run(v.record(|c| unsafe {
        prepare(&v, c, &of, 1, Layout::GENERAL);
        v.device.cmd_begin_render_pass(c, &begin, vk::SubpassContents::INLINE);
        v.device.cmd_clear_attachments(c, &clear, &rect);
        v.device.cmd_end_render_pass(c);
        copy(&v, c, &of, Aspects::COLOR, buffer);
    }));
    assert_eq!(v.words(words, 32), expected(whole, &[false, true], 0x0505_0505, 0x0101_0101));
}

#[test]
fn views_are_layers() {
    in_both_modes("views_are_layers", views);
}

/// Clears an image by vkCmdBeginRendering and copies it: what is between the two is the caller's.
fn rendered(layout: Layout, between: impl Fn(&Vulkan, vk::CommandBuffer, &Picture)) {
    let v = Vulkan::new();
    let of = single(&v, COLOR);
    let (buffer, ..) = v.buffer(128, 1);
    let colors = [vk::RenderingAttachmentInfo::default()
        .image_view(of.view)
        .image_layout(layout)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(color(5))];
    let whole = area(0, 0, SIDE, SIDE);
    let begin = vk::RenderingInfo::default().render_area(whole).layer_count(2).color_attachments(&colors);
    // SAFETY: live handles.
    v.run(v.record(|c| unsafe {
        barrier(&v, c, &of, Layout::UNDEFINED, Layout::COLOR_ATTACHMENT_OPTIMAL);
        v.device.cmd_begin_rendering(c, &begin);
        v.device.cmd_end_rendering(c);
        between(&v, c, &of);
        copy(&v, c, &of, Aspects::COLOR, buffer);
    }));
}

/// An image barrier after rendering, to transfers.
fn after(
    v: &Vulkan,
    c: vk::CommandBuffer,
    of: &Picture,
    from: vk::PipelineStageFlags,
    access: vk::AccessFlags,
) {
    let range = vk::ImageSubresourceRange {
        aspect_mask: of.aspects,
        level_count: 1,
        layer_count: 2,
        ..Default::default()
    };
    let barrier = vk::ImageMemoryBarrier::default()
        .src_access_mask(access)
        .dst_access_mask(vk::AccessFlags::TRANSFER_READ)
        .old_layout(Layout::COLOR_ATTACHMENT_OPTIMAL)
        .new_layout(Layout::TRANSFER_SRC_OPTIMAL)
        .image(of.image)
        .subresource_range(range);
    let to = vk::PipelineStageFlags::TRANSFER;
    // SAFETY: live handles.
    unsafe { v.device.cmd_pipeline_barrier(c, from, to, Default::default(), &[], &[], &[barrier]) };
}

/// Check mode knows the accesses of attachments by their stages, and their layouts.
#[test]
fn attachments_are_accesses_of_the_model() {
    use vk::{AccessFlags as A, PipelineStageFlags as S};
    const WHICH: &str = "RENDER_WHICH";
    let right = Layout::COLOR_ATTACHMENT_OPTIMAL;
    for (which, told) in [
        ("right", ""),
        ("stage", "error[hazard-layout-transition]"),
        ("access", "error[hazard-layout-transition]"),
        ("layout", "error[image-layout]"),
    ] {
        let name = "attachments_are_accesses_of_the_model";
        let Some(text) = alone(name, &[("PELLUCID_MODE", "check"), (WHICH, which)]) else {
            return match std::env::var(WHICH).as_deref() {
                Ok("right") => rendered(right, |v, c, of| {
                    after(v, c, of, S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
                }),
                Ok("stage") => rendered(right, |v, c, of| {
                    after(v, c, of, S::EARLY_FRAGMENT_TESTS, A::DEPTH_STENCIL_ATTACHMENT_WRITE);
                }),
                Ok("access") => rendered(right, |v, c, of| {
                    after(v, c, of, S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_READ);
                }),
                _ => rendered(Layout::GENERAL, |v, c, of| {
                    after(v, c, of, S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
                }),
            };
        };
        if told.is_empty() {
            assert!(!text.contains("error[") && !text.contains("warning["), "{text}");
        } else {
            assert!(text.contains(told) && text.contains("Rendering (command"), "{which}: {text}");
        }
    }
}
