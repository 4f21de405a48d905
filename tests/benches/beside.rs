//! Kernels as other people write them, on Pellucid and on lavapipe: `cargo bench -p pellucid-tests --bench
//! beside [CASE...]`, with another driver's library instead of lavapipe's in `BESIDE`.
//!
//! Each case runs on both drivers in turn; the results are compared, and the best and the median of the times
//! from the submission to the fence are printed, with how many times as fast Pellucid is.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use ash::vk;
use pellucid_memory::random::Random;
use pellucid_test_host::{COHERENT, Vulkan, linked};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;
/// Width and height of the image.
const SIDE: u32 = 1024;

/// What a buffer holds at first.
#[derive(Clone, Copy)]
enum Fill {
    /// Any words.
    Words,
    /// Floats between -1 and 1.
    Floats,
    /// The same in 16 bits.
    Halves,
    /// The twiddle factors of a transform of so many points.
    Factors(usize),
    /// A hash table of pairs, in which each second key stands.
    Table,
    Zero,
}

/// A kernel, its buffers from binding 0 on (the first is the result) with their words, and its workgroups.
struct Case {
    name: &'static str,
    shader: &'static [u8],
    buffers: &'static [(Fill, usize)],
    groups: [u32; 2],
    /// Results are floats, and may differ by this share of 1 plus their size.
    tolerance: Option<f32>,
    /// The feature that it needs.
    needs: fn(&vk::PhysicalDeviceFeatures, &vk::PhysicalDeviceVulkan12Features<'_>) -> bool,
}

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("shaders/", $name, ".spv"))
    };
}

const CASES: [Case; 14] = [
    Case {
        name: "fft",
        shader: shader!("fft"),
        buffers: &[(Fill::Zero, 1 << 21), (Fill::Floats, 1 << 21), (Fill::Factors(4096), 4096)],
        groups: [256, 1],
        tolerance: Some(1e-3),
        needs: |_, _| true,
    },
    Case {
        name: "radix",
        shader: shader!("radix"),
        buffers: &[(Fill::Zero, 1 << 20), (Fill::Words, 1 << 20)],
        groups: [1024, 1],
        tolerance: None,
        needs: |_, _| true,
    },
    Case {
        name: "convolution",
        shader: shader!("convolution"),
        buffers: &[(Fill::Zero, 1 << 20), (Fill::Floats, 1 << 20)],
        groups: [SIDE / 16, SIDE / 16],
        tolerance: Some(1e-4),
        needs: |_, _| true,
    },
    Case {
        name: "resample",
        shader: shader!("resample"),
        buffers: &[(Fill::Zero, 1 << 20), (Fill::Floats, 1 << 20)],
        groups: [SIDE / 16, SIDE / 16],
        tolerance: Some(1e-2),
        needs: |_, _| true,
    },
    Case {
        name: "lanes",
        shader: shader!("lanes"),
        buffers: &[(Fill::Zero, 1 << 10), (Fill::Words, 1 << 20)],
        groups: [256, 1],
        tolerance: None,
        needs: |_, _| true,
    },
    Case {
        name: "doubles",
        shader: shader!("doubles"),
        buffers: &[(Fill::Zero, 1 << 17)],
        groups: [512, 1],
        tolerance: None,
        needs: |features, _| features.shader_float64 != 0,
    },
    Case {
        name: "bits",
        shader: shader!("bits"),
        buffers: &[(Fill::Zero, 1 << 16), (Fill::Words, 1 << 16)],
        groups: [512, 1],
        tolerance: None,
        needs: |_, _| true,
    },
    Case {
        name: "softmax",
        shader: shader!("softmax"),
        buffers: &[(Fill::Zero, 1 << 20), (Fill::Floats, 1 << 20)],
        groups: [1024, 1],
        tolerance: Some(1e-4),
        needs: |_, _| true,
    },
    Case {
        name: "sparse",
        shader: shader!("sparse"),
        buffers: &[
            (Fill::Zero, 1 << 16),
            (Fill::Words, 24 << 16),
            (Fill::Floats, 24 << 16),
            (Fill::Floats, 1 << 16),
        ],
        groups: [512, 1],
        tolerance: Some(1e-4),
        needs: |_, _| true,
    },
    Case {
        name: "carlo",
        shader: shader!("carlo"),
        buffers: &[(Fill::Zero, 1 << 16)],
        groups: [512, 1],
        tolerance: Some(1e-2),
        needs: |_, _| true,
    },
    Case {
        name: "join",
        shader: shader!("join"),
        buffers: &[(Fill::Zero, 1 << 20), (Fill::Words, 1 << 20), (Fill::Table, 1 << 19)],
        groups: [4096, 1],
        tolerance: None,
        needs: |_, _| true,
    },
    Case {
        name: "wide",
        shader: shader!("wide"),
        buffers: &[(Fill::Zero, 1 << 17)],
        groups: [512, 1],
        tolerance: None,
        needs: |features, _| features.shader_int64 != 0,
    },
    Case {
        name: "halves",
        shader: shader!("halves"),
        buffers: &[(Fill::Zero, 1 << 10), (Fill::Halves, 1 << 19), (Fill::Halves, 1 << 9)],
        groups: [16, 1],
        tolerance: Some(2e-2),
        needs: |_, features| features.shader_float16 != 0,
    },
    Case {
        name: "scan",
        shader: shader!("scan"),
        buffers: &[(Fill::Zero, 1 << 20), (Fill::Words, 1 << 20)],
        groups: [1024, 1],
        tolerance: None,
        needs: |_, _| true,
    },
];

/// A float between -1 and 1 as one of 16 bits.
fn half(value: f32) -> u32 {
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 255) as i32 - 112;
    if exponent <= 0 {
        bits >> 16 & 0x8000
    } else {
        bits >> 16 & 0x8000 | (exponent as u32) << 10 | bits >> 13 & 0x3ff
    }
}

fn filled(fill: Fill, words: usize) -> Vec<u32> {
    let mut random = Random::new(7);
    let mut any = move || random.bits() as u32;
    let float = |word: u32| word as f32 / 2_147_483_648.0 - 1.0;
    match fill {
        Fill::Zero => vec![0; words],
        Fill::Words => (0..words).map(|_| any()).collect(),
        Fill::Floats => (0..words).map(|_| float(any()).to_bits()).collect(),
        Fill::Halves => (0..words).map(|_| half(float(any())) | half(float(any())) << 16).collect(),
        Fill::Factors(points) => (0..points / 2)
            .flat_map(|k| {
                let (sin, cos) = (-std::f64::consts::TAU * k as f64 / points as f64).sin_cos();
                [(cos as f32).to_bits(), (sin as f32).to_bits()]
            })
            .collect(),
        Fill::Table => {
            let mut table = vec![u32::MAX; words];
            let places = words / 2;
            for _ in 0..places / 2 {
                let key = any() & 0xf_ffff;
                let mut at = (key.wrapping_mul(2_654_435_761) >> 14) as usize;
                while table[2 * at] != u32::MAX && table[2 * at] != key {
                    at = (at + 1) % places;
                }
                (table[2 * at], table[2 * at + 1]) = (key, key ^ 0x5555);
            }
            table
        }
    }
}

/// A case on a driver, ready to run.
struct Ready<'a> {
    v: &'a Vulkan,
    commands: vk::CommandBuffer,
    result: (*mut u8, usize),
}

impl<'a> Ready<'a> {
    fn new(v: &'a Vulkan, case: &Case) -> Ready<'a> {
        let coherent = v.memory_type(u32::MAX, COHERENT).unwrap();
        let mut first = (std::ptr::null_mut(), 0);
        let mut buffers = Vec::new();
        for (k, (fill, words)) in case.buffers.iter().enumerate() {
            let (buffer, _, mapped) = v.buffer(4 * *words as u64, coherent).unwrap();
            let values = filled(*fill, *words);
            // SAFETY: the mapping has that many words, and no work is pending.
            unsafe { mapped.cast::<u32>().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
            if k == 0 {
                first = (mapped, *words);
            }
            buffers.push(buffer);
        }
        let compute = vk::ShaderStageFlags::COMPUTE;
        let binding = |index: u32, kind| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(index)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(compute)
        };
        let (storage, image) = (vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::STORAGE_IMAGE);
        let mut bindings: Vec<_> = (0..4).map(|index| binding(index, storage)).collect();
        let sampled = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        bindings.extend([binding(4, image), binding(5, sampled)]);
        let size = |ty, descriptor_count| vk::DescriptorPoolSize { ty, descriptor_count };
        // SAFETY: valid usage of live handles; what is made lives as long as the device.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = [v.device.create_descriptor_set_layout(&info, None).unwrap()];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layout);
            let layout = v.device.create_pipeline_layout(&info, None).unwrap();
            let words: Vec<u32> =
                case.shader.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
            let pipeline = v.pipeline(&words, c"main", layout).unwrap();
            let sizes = [size(storage, 4), size(image, 1), size(sampled, 1)];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = v.device.create_descriptor_pool(&info, None).unwrap();
            let info =
                vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layout);
            let set = v.device.allocate_descriptor_sets(&info).unwrap()[0];
            for (k, buffer) in buffers.iter().enumerate() {
                let info = [vk::DescriptorBufferInfo::default().buffer(*buffer).range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(k as u32);
                v.device.update_descriptor_sets(&[write.descriptor_type(storage).buffer_info(&info)], &[]);
            }
            let images = [("convolution", 4, image), ("resample", 5, sampled)];
            for (_, index, kind) in images.into_iter().filter(|(name, ..)| *name == case.name) {
                let clamped = vk::SamplerAddressMode::CLAMP_TO_EDGE;
                let info = vk::SamplerCreateInfo::default()
                    .mag_filter(vk::Filter::LINEAR)
                    .min_filter(vk::Filter::LINEAR)
                    .address_mode_u(clamped)
                    .address_mode_v(clamped);
                let info = [vk::DescriptorImageInfo::default()
                    .sampler(v.device.create_sampler(&info, None).unwrap())
                    .image_view(source(v, buffers[1]))
                    .image_layout(vk::ImageLayout::GENERAL)];
                let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(index);
                v.device.update_descriptor_sets(&[write.descriptor_type(kind).image_info(&info)], &[]);
            }
            let commands = v
                .record(|c| {
                    let point = vk::PipelineBindPoint::COMPUTE;
                    v.device.cmd_bind_pipeline(c, point, pipeline);
                    v.device.cmd_bind_descriptor_sets(c, point, layout, 0, &[set], &[]);
                    v.device.cmd_dispatch(c, case.groups[0], case.groups[1], 1);
                    let barrier = [vk::MemoryBarrier::default()
                        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                        .dst_access_mask(vk::AccessFlags::HOST_READ)];
                    let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::HOST);
                    v.device.cmd_pipeline_barrier(c, from, to, Default::default(), &barrier, &[], &[]);
                })
                .unwrap();
            Ready { v, commands, result: first }
        }
    }

    fn time(&self) -> Duration {
        let start = Instant::now();
        self.v.run(self.commands).unwrap();
        start.elapsed()
    }

    fn words(&self) -> Vec<u32> {
        self.v.words(self.result.0, self.result.1)
    }
}

/// An image of floats out of a buffer.
fn source(v: &Vulkan, from: vk::Buffer) -> vk::ImageView {
    let format = vk::Format::R32_SFLOAT;
    let extent = vk::Extent3D { width: SIDE, height: SIDE, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(
            vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
        );
    // SAFETY: valid usage; what is made lives as long as the device.
    unsafe {
        let image = v.device.create_image(&info, None).unwrap();
        let needs = v.device.get_image_memory_requirements(image);
        let index = v.memory_type(needs.memory_type_bits, vk::MemoryPropertyFlags::empty()).unwrap();
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        let memory = v.device.allocate_memory(&info, None).unwrap();
        v.device.bind_image_memory(image, memory, 0).unwrap();
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .level_count(1)
            .layer_count(1);
        let to = vk::ImageMemoryBarrier::default()
            .image(image)
            .new_layout(vk::ImageLayout::GENERAL)
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .subresource_range(range);
        let copied = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_READ);
        let layers =
            vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let region = vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent);
        let (top, transfer) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
        let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
        let commands = v
            .record(|c| {
                v.device.cmd_pipeline_barrier(c, top, transfer, Default::default(), &[], &[], &[to]);
                v.device.cmd_copy_buffer_to_image(c, from, image, vk::ImageLayout::GENERAL, &[region]);
                v.device.cmd_pipeline_barrier(c, transfer, compute, Default::default(), &[copied], &[], &[]);
            })
            .unwrap();
        v.run(commands).unwrap();
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        v.device.create_image_view(&info, None).unwrap()
    }
}

/// How many results differ.
fn wrong(case: &Case, one: &[u32], other: &[u32]) -> usize {
    let differ = |(one, other): &(&u32, &u32)| match case.tolerance {
        None => one != other,
        Some(share) => {
            let (one, other) = (f32::from_bits(**one), f32::from_bits(**other));
            (one - other).abs() > share * (1.0 + other.abs()) || one.is_nan() || other.is_nan()
        }
    };
    one.iter().zip(other).filter(differ).count()
}

/// The library that lavapipe's manifest names.
fn lavapipe() -> Option<PathBuf> {
    let folder = std::fs::read_dir("/usr/share/vulkan/icd.d").ok()?;
    let manifest = folder.flatten().map(|f| f.path()).find(|f| f.to_string_lossy().contains("lvp_icd"))?;
    let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(manifest).ok()?).ok()?;
    Some(manifest["ICD"]["library_path"].as_str()?.into())
}

fn suits(v: &Vulkan, case: &Case) -> bool {
    let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut features12);
    // SAFETY: live handles; the chain outlives the call.
    unsafe { v.instance.get_physical_device_features2(v.physical, &mut features) };
    let features10 = features.features;
    (case.needs)(&features10, &features12)
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let Some(library) = std::env::var_os("BESIDE").map(PathBuf::from).or_else(lavapipe) else {
        return println!("there is no lavapipe (Debian's mesa-vulkan-drivers), and BESIDE names no driver");
    };
    // SAFETY: the function is the driver's, which follows the specification of vkGetInstanceProcAddr.
    let own = Vulkan::new(unsafe { linked(vulkan_pellucid::vkGetInstanceProcAddr) }).unwrap();
    let other = Vulkan::open(&library).unwrap();
    println!(
        "{:12} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7}",
        "ms", "best", "median", "other's", "median", "times", "median"
    );
    for case in CASES.iter().filter(|case| named.is_empty() || named.iter().any(|name| name == case.name)) {
        if !suits(&own, case) || !suits(&other, case) {
            println!("{:12} a driver lacks the feature", case.name);
            continue;
        }
        let ready = [Ready::new(&own, case), Ready::new(&other, case)];
        let mut times = [Vec::new(), Vec::new()];
        // The first round is for compilers.
        for round in 0..=ROUNDS {
            for (ready, times) in ready.iter().zip(&mut times) {
                let time = ready.time();
                times.extend((round > 0).then_some(time));
            }
        }
        let wrong = wrong(case, &ready[0].words(), &ready[1].words());
        let [own, other] = times.map(|mut times| {
            times.sort_unstable();
            [times[0], times[ROUNDS / 2]].map(|time| time.as_secs_f64() * 1e3)
        });
        let verdict = if wrong == 0 { String::new() } else { format!("  {wrong} RESULTS DIFFER") };
        println!(
            "{:12} {:9.3} {:9.3} {:9.3} {:9.3} {:7.2} {:7.2}{verdict}",
            case.name,
            own[0],
            own[1],
            other[0],
            other[1],
            other[0] / own[0],
            other[1] / own[1]
        );
    }
}
