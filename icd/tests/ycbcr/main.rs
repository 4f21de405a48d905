//! Sampler Y'CbCr conversion and multi-planar formats: copies of planes, disjoint memory, views of planes,
//! and sampling, held against the formulas of *Chroma Reconstruction* and *Sampler Y'CbCr Conversion*.

#[path = "../common/mod.rs"]
mod common;
mod reference;

use ash::vk;
use common::{Vulkan, alone};
use reference::{FORMATS, Of, Sampling, sampled};
use vk::Format as F;
use vk::ImageAspectFlags as A;

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const WIDTH: u32 = 8;
const HEIGHT: u32 = 6;
const PLANES: [A; 3] = [A::PLANE_0, A::PLANE_1, A::PLANE_2];

fn image_info(of: Of, flags: vk::ImageCreateFlags) -> vk::ImageCreateInfo<'static> {
    use vk::ImageUsageFlags as U;
    vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(vk::ImageType::TYPE_2D)
        .format(of.0)
        .extent(vk::Extent3D { width: WIDTH, height: HEIGHT, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(U::SAMPLED | U::TRANSFER_SRC | U::TRANSFER_DST)
}

/// A disjoint image, each of whose planes has memory of its own.
fn disjoint(v: &Vulkan, of: Of) -> vk::Image {
    // SAFETY: complete structures.
    unsafe {
        let image =
            v.device.create_image(&image_info(of, vk::ImageCreateFlags::DISJOINT), None).expect("an image");
        for aspect in &PLANES[..of.planes()] {
            let mut plane = vk::ImagePlaneMemoryRequirementsInfo::default().plane_aspect(*aspect);
            let info = vk::ImageMemoryRequirementsInfo2::default().image(image).push_next(&mut plane);
            let mut needs = vk::MemoryRequirements2::default();
            v.device.get_image_memory_requirements2(&info, &mut needs);
            let size = needs.memory_requirements.size;
            assert!(size > 0 && size < 2048, "{size}");
            let memory_type = v
                .memory_type(
                    needs.memory_requirements.memory_type_bits,
                    vk::MemoryPropertyFlags::DEVICE_LOCAL,
                )
                .expect("a memory type");
            let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(memory_type);
            let memory = v.device.allocate_memory(&info, None).expect("memory");
            let mut plane = vk::BindImagePlaneMemoryInfo::default().plane_aspect(*aspect);
            let bind = vk::BindImageMemoryInfo::default().image(image).memory(memory).push_next(&mut plane);
            v.device.bind_image_memory2(&[bind]).expect("a plane is bound");
        }
        image
    }
}

fn layers(aspect_mask: A) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() }
}

fn range(aspect_mask: A) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: 1, ..Default::default() }
}

fn barrier(v: &Vulkan, c: vk::CommandBuffer, image: vk::Image, aspects: A, from: vk::ImageLayout) {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let barrier = vk::ImageMemoryBarrier::default()
        .src_access_mask(all)
        .dst_access_mask(all)
        .old_layout(from)
        .new_layout(GENERAL)
        .image(image)
        .subresource_range(range(aspects));
    let stage = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: live handles, complete structures.
    unsafe { v.device.cmd_pipeline_barrier(c, stage, stage, Default::default(), &[], &[], &[barrier]) };
}

fn to_host(v: &Vulkan, c: vk::CommandBuffer) {
    let host = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    let (from, to) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::HOST);
    // SAFETY: live handles, complete structures.
    unsafe { v.device.cmd_pipeline_barrier(c, from, to, Default::default(), &host, &[], &[]) };
}

/// A buffer with these bytes.
fn filled(v: &Vulkan, bytes: &[u8]) -> vk::Buffer {
    let (buffer, _, at) = v.buffer(bytes.len().max(4) as u64, 1);
    // SAFETY: mapped memory of so many bytes.
    unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    buffer
}

fn regions(of: Of, plane: usize) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default().image_subresource(layers(of.aspect(plane))).image_extent(of.extent(plane))
}

/// An image with the values of [`value`].
fn uploaded(v: &Vulkan, of: Of, image: vk::Image) {
    let buffers: Vec<_> = (0..of.planes()).map(|plane| filled(v, &of.bytes(plane))).collect();
    v.run(v.record(|c| {
        barrier(v, c, image, A::COLOR, vk::ImageLayout::UNDEFINED);
        for (plane, buffer) in buffers.iter().enumerate() {
            // SAFETY: live handles, complete structures.
            unsafe { v.device.cmd_copy_buffer_to_image(c, *buffer, image, GENERAL, &[regions(of, plane)]) };
        }
        barrier(v, c, image, A::COLOR, GENERAL);
    }));
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// What a shader does with an image, and with two buffers if there are any.
struct Dispatch<'a> {
    code: &'a [u8],
    kind: vk::DescriptorType,
    view: vk::ImageView,
    sampler: vk::Sampler,
    immutable: bool,
    buffers: &'a [vk::Buffer],
    groups: u32,
}

impl<'a> Dispatch<'a> {
    /// Samples at so many places, which the first buffer holds; texels come to the second.
    fn sampling(
        (sampler, view): (vk::Sampler, vk::ImageView),
        buffers: &'a [vk::Buffer],
        places: usize,
    ) -> Dispatch<'a> {
        Dispatch {
            code: include_bytes!("../shaders/sample.spv"),
            kind: vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            view,
            sampler,
            immutable: true,
            buffers,
            groups: places.div_ceil(64) as u32,
        }
    }

    fn record(&self, v: &Vulkan, c: vk::CommandBuffer) {
        let samplers = [self.sampler];
        let stages = vk::ShaderStageFlags::COMPUTE;
        // SAFETY: live handles, complete structures.
        unsafe {
            let mut bindings = vec![
                vk::DescriptorSetLayoutBinding::default()
                    .descriptor_type(self.kind)
                    .descriptor_count(1)
                    .stage_flags(stages),
            ];
            if self.immutable {
                bindings[0] = bindings[0].immutable_samplers(&samplers);
            }
            let buffer = vk::DescriptorType::STORAGE_BUFFER;
            bindings.extend((1..).zip(self.buffers).map(|(k, _)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(k)
                    .descriptor_type(buffer)
                    .descriptor_count(1)
                    .stage_flags(stages)
            }));
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let sets = [v.device.create_descriptor_set_layout(&info, None).unwrap()];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = v.device.create_pipeline_layout(&info, None).unwrap();
            let pipeline = v.pipeline(&words(self.code), c"main", layout).unwrap();
            let sizes = [self.kind, buffer].map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 4 });
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = v.device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&sets);
            let set = v.device.allocate_descriptor_sets(&info).unwrap();
            let image = [vk::DescriptorImageInfo::default()
                .image_view(self.view)
                .image_layout(GENERAL)
                .sampler(if self.immutable { vk::Sampler::null() } else { self.sampler })];
            let buffers: Vec<_> = self
                .buffers
                .iter()
                .map(|b| [vk::DescriptorBufferInfo::default().buffer(*b).range(vk::WHOLE_SIZE)])
                .collect();
            let write = vk::WriteDescriptorSet::default().dst_set(set[0]);
            let mut writes = vec![write.descriptor_type(self.kind).image_info(&image)];
            writes.extend(
                (1..)
                    .zip(&buffers)
                    .map(|(k, info)| write.dst_binding(k).descriptor_type(buffer).buffer_info(info)),
            );
            v.device.update_descriptor_sets(&writes, &[]);
            let point = vk::PipelineBindPoint::COMPUTE;
            v.device.cmd_bind_pipeline(c, point, pipeline);
            v.device.cmd_bind_descriptor_sets(c, point, layout, 0, &set, &[]);
            v.device.cmd_dispatch(c, self.groups, 1, 1);
        }
    }
}

/// A sampler with a conversion, and a view with the same one.
fn converting(v: &Vulkan, of: Of, s: Sampling, image: vk::Image) -> (vk::Sampler, vk::ImageView) {
    let filter = |linear| if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
    let offset =
        |midpoint| if midpoint { vk::ChromaLocation::MIDPOINT } else { vk::ChromaLocation::COSITED_EVEN };
    let range_of = if s.narrow { vk::SamplerYcbcrRange::ITU_NARROW } else { vk::SamplerYcbcrRange::ITU_FULL };
    // SAFETY: complete structures.
    unsafe {
        let info = vk::SamplerYcbcrConversionCreateInfo::default()
            .format(of.0)
            .ycbcr_model(s.model)
            .ycbcr_range(range_of)
            .x_chroma_offset(offset(s.midpoint[0]))
            .y_chroma_offset(offset(s.midpoint[1]))
            .chroma_filter(filter(s.chroma_linear))
            .force_explicit_reconstruction(s.explicit);
        let conversion = v.device.create_sampler_ycbcr_conversion(&info, None).expect("a conversion");
        let mut with = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let clamp = vk::SamplerAddressMode::CLAMP_TO_EDGE;
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter(s.linear))
            .min_filter(filter(s.linear))
            .address_mode_u(clamp)
            .address_mode_v(clamp)
            .address_mode_w(clamp)
            .push_next(&mut with);
        let sampler = v.device.create_sampler(&info, None).expect("a sampler");
        let mut with = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(of.0)
            .subresource_range(range(A::COLOR))
            .push_next(&mut with);
        let view = v.device.create_image_view(&info, None).expect("a view");
        v.device.destroy_sampler_ycbcr_conversion(conversion, None);
        (sampler, view)
    }
}

/// The centers of all texels, and places between them and beyond the edges.
fn places() -> Vec<[f32; 2]> {
    let center = |at: u32, size: u32| (at as f32 + 0.5) / size as f32;
    let mut all: Vec<[f32; 2]> =
        (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| [center(x, WIDTH), center(y, HEIGHT)])).collect();
    all.extend((0..80).map(|n| [(n * 37 % 101) as f32 / 97.0 - 0.02, (n * 53 % 89) as f32 / 85.0 - 0.02]));
    all
}

fn bytes_of(places: &[[f32; 2]]) -> Vec<u8> {
    places.iter().flatten().flat_map(|c| c.to_le_bytes()).collect()
}

/// Samples an image everywhere and compares.
fn compare(v: &Vulkan, of: Of, s: Sampling, image: vk::Image) {
    let places = places();
    let (texels, _, result) = v.buffer(places.len() as u64 * 16, 1);
    let buffers = [filled(v, &bytes_of(&places)), texels];
    let dispatch = Dispatch::sampling(converting(v, of, s, image), &buffers, places.len());
    v.run(v.record(|c| {
        dispatch.record(v, c);
        to_host(v, c);
    }));
    let got = v.words(result, places.len() * 4);
    for (place, got) in places.iter().zip(got.chunks(4)) {
        // Where a coordinate is a whole number of values, rounding decides which one is nearest.
        let undecided = [(0, WIDTH), (1, HEIGHT)].into_iter().any(|(k, size)| {
            let u = place[k] * size as f32;
            let cosited = if s.midpoint[k] { 0.0 } else { 0.5 };
            let chroma = if of.2[k] == 2 { 0.5 * (u + cosited) } else { u };
            let whole = |c: f32| (c - c.round()).abs() < 1e-3;
            !s.linear && whole(u) || !s.chroma_linear && !s.explicit && whole(chroma)
        });
        if undecided {
            continue;
        }
        let expected = sampled(of, s, place.map(f64::from));
        for (got, expected) in got.iter().zip(expected) {
            let got = f64::from(f32::from_bits(*got));
            assert!((got - expected).abs() < 5e-5, "{of:?} {s:?} at {place:?}: {got}, not {expected}");
        }
    }
}

/// All formats, models, ranges, filters and places of chroma, by turns.
fn sampling(v: &Vulkan) {
    use vk::SamplerYcbcrModelConversion as M;
    let models = [M::RGB_IDENTITY, M::YCBCR_IDENTITY, M::YCBCR_709, M::YCBCR_601, M::YCBCR_2020];
    for (n, of) in FORMATS.into_iter().enumerate() {
        let image = match of.planes() > 1 && n % 2 == 0 {
            true => disjoint(v, of),
            false => v.image(&image_info(of, vk::ImageCreateFlags::empty()), 0),
        };
        uploaded(v, of, image);
        for k in 0..20 {
            let s = Sampling {
                model: models[(n + k) % 5],
                narrow: (n + k / 5) % 2 == 0,
                midpoint: [k % 2 == 0 || of.2 == [1, 1], k % 3 == 0 || of.2 == [1, 1]],
                chroma_linear: k % 4 != 0,
                linear: k % 10 >= 5,
                explicit: k < 10,
            };
            compare(v, of, s, image);
        }
    }
}

#[test]
fn sampling_reconstructs_chroma_and_converts() {
    sampling(&Vulkan::new());
}

/// The same in check mode, which finds nothing: each plane was written before.
#[test]
fn sampling_is_clean_in_check_mode() {
    if let Some(text) = alone("sampling_is_clean_in_check_mode", &[("PELLUCID_MODE", "check")]) {
        assert!(!text.contains("error[") && !text.contains("warning["), "{text}");
        return;
    }
    sampling(&Vulkan::new());
}

/// Planes go from buffers to images, to images of compatible formats and back, and to buffers.
#[test]
fn planes_are_copied() {
    let v = Vulkan::new();
    for of in FORMATS {
        let image = v.image(&image_info(of, vk::ImageCreateFlags::empty()), 0);
        let again = match of.planes() {
            1 => v.image(&image_info(of, vk::ImageCreateFlags::empty()), 0),
            _ => disjoint(&v, of),
        };
        uploaded(&v, of, image);
        for plane in 0..of.planes() {
            let bytes = of.bytes(plane);
            let extent = of.extent(plane);
            let texel = bytes.len() as u32 / (extent.width * extent.height);
            let (buffer, _, result) = v.buffer(bytes.len() as u64, 1);
            let through = match texel {
                _ if of.planes() == 1 => of.0,
                1 => F::R8_UNORM,
                2 => F::R16_UINT,
                _ => F::R32_UINT,
            };
            let info = vk::ImageCreateInfo { format: through, extent, ..image_info(of, Default::default()) };
            let between = v.image(&info, 0);
            let copy = |from, to| vk::ImageCopy {
                src_subresource: layers(from),
                dst_subresource: layers(to),
                extent,
                ..Default::default()
            };
            let aspect = of.aspect(plane);
            v.run(v.record(|c| {
                barrier(&v, c, between, A::COLOR, vk::ImageLayout::UNDEFINED);
                barrier(&v, c, again, aspect, vk::ImageLayout::UNDEFINED);
                // SAFETY: live handles, complete structures.
                unsafe {
                    let copies = [copy(aspect, A::COLOR), copy(A::COLOR, aspect)];
                    v.device.cmd_copy_image(c, image, GENERAL, between, GENERAL, &copies[..1]);
                    barrier(&v, c, between, A::COLOR, GENERAL);
                    v.device.cmd_copy_image(c, between, GENERAL, again, GENERAL, &copies[1..]);
                    barrier(&v, c, again, aspect, GENERAL);
                    v.device.cmd_copy_image_to_buffer(c, again, GENERAL, buffer, &[regions(of, plane)]);
                }
                to_host(&v, c);
            }));
            let got: Vec<u8> =
                v.words(result, bytes.len().div_ceil(4)).iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(got[..bytes.len()], bytes, "{of:?}, plane {plane}");
        }
    }
}

/// Planes of a linear image lie where the subresource layouts of their aspects say.
#[test]
fn planes_have_layouts() {
    let v = Vulkan::new();
    for of in FORMATS.into_iter().filter(|of| of.planes() > 1) {
        let info = image_info(of, vk::ImageCreateFlags::empty()).tiling(vk::ImageTiling::LINEAR);
        let image = v.image(&info, 1);
        let mut end = 0;
        for plane in 0..of.planes() {
            let sub = vk::ImageSubresource { aspect_mask: of.aspect(plane), ..Default::default() };
            // SAFETY: a live image with linear tiling.
            let layout = unsafe { v.device.get_image_subresource_layout(image, sub) };
            let extent = of.extent(plane);
            let row = of.bytes(plane).len() as u64 / u64::from(extent.height);
            assert!(layout.offset >= end && layout.row_pitch >= row, "{of:?}: {layout:?}");
            assert!(layout.size >= row * u64::from(extent.height), "{of:?}: {layout:?}");
            end = layout.offset + layout.size;
        }
        // SAFETY: a live image.
        let needs = unsafe { v.device.get_image_memory_requirements(image) };
        assert!(end <= needs.size, "{of:?}: {end} of {needs:?}");
    }
}

/// A plane seen as an image of its own: a shader inverts it in place.
fn inverted_plane(v: &Vulkan, disjoint_planes: bool) -> Vec<u8> {
    let of = FORMATS[1];
    let mut flags = vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
    flags |= if disjoint_planes { vk::ImageCreateFlags::ALIAS } else { Default::default() };
    let info = image_info(of, flags).usage(vk::ImageUsageFlags::STORAGE | image_info(of, flags).usage);
    let image = v.image(&info, 0);
    uploaded(v, of, image);
    let bytes = of.bytes(1);
    let (buffer, _, result) = v.buffer(bytes.len() as u64, 1);
    let mut usage = vk::ImageViewUsageCreateInfo::default().usage(vk::ImageUsageFlags::STORAGE);
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(F::R8G8_UNORM)
        .subresource_range(range(A::PLANE_1))
        .push_next(&mut usage);
    // SAFETY: complete structures.
    let view = unsafe { v.device.create_image_view(&info, None).expect("a view") };
    let dispatch = Dispatch {
        code: include_bytes!("../shaders/invert.spv"),
        kind: vk::DescriptorType::STORAGE_IMAGE,
        view,
        sampler: vk::Sampler::null(),
        immutable: false,
        buffers: &[],
        groups: 1,
    };
    v.run(v.record(|c| {
        dispatch.record(v, c);
        barrier(v, c, image, A::COLOR, GENERAL);
        // SAFETY: live handles, complete structures.
        unsafe { v.device.cmd_copy_image_to_buffer(c, image, GENERAL, buffer, &[regions(of, 1)]) };
        to_host(v, c);
    }));
    v.words(result, bytes.len() / 4).iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn shaders_store_to_planes() {
    let name = "shaders_store_to_planes";
    if let Some(text) = alone(name, &[("PELLUCID_MODE", "check")]) {
        assert!(!text.contains("error[") && !text.contains("warning["), "{text}");
    }
    let v = Vulkan::new();
    let expected: Vec<u8> = FORMATS[1].bytes(1).iter().map(|byte| 255 - byte).collect();
    assert_eq!(inverted_plane(&v, false), expected);
    assert_eq!(inverted_plane(&v, true), expected);
}

/// Copies into plane 1 while nothing orders the sampling after them, with plane 0 in order; and the layouts
/// of a disjoint image, of which one plane alone was brought to GENERAL.
fn unordered(v: &Vulkan, forget_layout: bool) {
    let of = FORMATS[0];
    let s = Sampling {
        model: vk::SamplerYcbcrModelConversion::YCBCR_709,
        narrow: true,
        midpoint: [true; 2],
        chroma_linear: true,
        linear: true,
        explicit: false,
    };
    let image = disjoint(v, of);
    let (texels, _, _) = v.buffer(64 * 16, 1);
    let buffers = [filled(v, &bytes_of(&places()[..64])), texels];
    let dispatch = Dispatch::sampling(converting(v, of, s, image), &buffers, 64);
    let planes: Vec<_> = (0..3).map(|plane| filled(v, &of.bytes(plane))).collect();
    v.run(v.record(|c| {
        let known = if forget_layout { A::PLANE_0 | A::PLANE_2 } else { A::COLOR };
        barrier(v, c, image, known, vk::ImageLayout::UNDEFINED);
        for (plane, from) in planes.iter().enumerate().filter(|(k, _)| !forget_layout || *k != 1) {
            // SAFETY: live handles, complete structures.
            unsafe { v.device.cmd_copy_buffer_to_image(c, *from, image, GENERAL, &[regions(of, plane)]) };
        }
        barrier(v, c, image, A::PLANE_0 | A::PLANE_2, GENERAL);
        dispatch.record(v, c);
    }));
}

#[test]
fn a_plane_that_no_barrier_names_is_a_hazard() {
    let name = "a_plane_that_no_barrier_names_is_a_hazard";
    let Some(text) = alone(name, &[("PELLUCID_MODE", "check")]) else {
        return unordered(&Vulkan::new(), false);
    };
    assert_eq!(text.matches("error[").count(), 1, "{text}");
    assert!(text.contains("vkCmdCopyBufferToImage") && text.contains("vkCmdDispatch"), "{text}");
}

#[test]
fn a_plane_in_another_layout_is_named() {
    let name = "a_plane_in_another_layout_is_named";
    let Some(text) = alone(name, &[("PELLUCID_MODE", "check")]) else {
        return unordered(&Vulkan::new(), true);
    };
    assert!(text.contains("plane 1, mip level 0, array layer 0"), "{text}");
    assert!(!text.contains("plane 0, ") && !text.contains("plane 2, "), "{text}");
}

/// What the rules of valid usage forbid is refused in words.
#[test]
fn what_conversions_need_is_asked_for() {
    let name = "what_conversions_need_is_asked_for";
    let Some(text) = alone(name, &[]) else {
        let v = Vulkan::new();
        let of = FORMATS[0];
        let s = Sampling {
            model: vk::SamplerYcbcrModelConversion::YCBCR_601,
            narrow: false,
            midpoint: [true; 2],
            chroma_linear: false,
            linear: false,
            explicit: false,
        };
        let image = v.image(&image_info(of, Default::default()), 0);
        let (buffer, _, _) = v.buffer(64, 1);
        let buffers = [buffer, buffer];
        let with = Dispatch::sampling(converting(&v, of, s, image), &buffers, 0);
        let dispatch = Dispatch { immutable: false, ..with };
        // The descriptor is refused.
        v.record(|c| dispatch.record(&v, c));
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(of.0)
            .subresource_range(range(A::COLOR));
        let odd = vk::ImageCreateInfo {
            extent: vk::Extent3D { width: 7, height: 6, depth: 1 },
            ..image_info(of, Default::default())
        };
        let wrong = vk::SamplerYcbcrConversionCreateInfo::default().format(F::R8G8B8A8_UNORM);
        // SAFETY: live handles; that these are wrong is what is tested.
        unsafe {
            assert!(v.device.create_image_view(&info, None).is_err());
            assert!(v.device.create_image(&odd, None).is_err());
            assert!(v.device.create_sampler_ycbcr_conversion(&wrong, None).is_err());
        }
        return;
    };
    for expected in [
        "a sampler that enables sampler Y'CbCr conversion, and is no immutable sampler",
        "without VkSamplerYcbcrConversionInfo",
        "no multiples of what its chroma is reduced by",
        "has no sampler Y'CbCr conversion",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// What formats and images say of themselves.
#[test]
fn formats_tell_their_features() {
    let v = Vulkan::new();
    for of in FORMATS {
        let mut ycbcr = vk::SamplerYcbcrConversionImageFormatProperties::default();
        let mut out = vk::ImageFormatProperties2::default().push_next(&mut ycbcr);
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(of.0)
            .ty(vk::ImageType::TYPE_2D)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(vk::ImageUsageFlags::SAMPLED);
        // SAFETY: live handles, complete structures.
        let features = unsafe {
            v.instance
                .get_physical_device_image_format_properties2(v.physical, &info, &mut out)
                .expect("known");
            v.instance.get_physical_device_format_properties(v.physical, of.0).optimal_tiling_features
        };
        assert_eq!(out.image_format_properties.max_mip_levels, 1);
        assert!(ycbcr.combined_image_sampler_descriptor_count >= 1);
        use vk::FormatFeatureFlags as X;
        assert!(features.contains(X::SAMPLED_IMAGE | X::MIDPOINT_CHROMA_SAMPLES | X::TRANSFER_DST), "{of:?}");
        assert_eq!(features.contains(X::DISJOINT), of.planes() > 1, "{of:?}");
        assert_eq!(features.contains(X::COSITED_CHROMA_SAMPLES), of.2 != [1, 1], "{of:?}");
        let blit = X::BLIT_SRC | X::BLIT_DST | X::STORAGE_IMAGE | X::COLOR_ATTACHMENT;
        assert!(!features.intersects(blit), "{of:?}");
    }
}
