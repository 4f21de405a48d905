//! A shader with image operations of every kind, run on flat memory, against what its texels must be.

use pellucid_memory::access::Reference;
use pellucid_memory::agent::Placement;
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::device::MemoryRange;
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions, SeededScheduler};
use pellucid_shader_interp::exec::plain::{PlainOptions, dispatch};
use pellucid_shader_interp::interface::{Descriptor, Grid, ImageView, Reduction, Resources, Sampler};
use pellucid_shader_interp::math::format::properties;
use pellucid_shader_interp::{CompileOptions, compile};

/// Bytes that a descriptor shows to the shader.
fn store(words: impl IntoIterator<Item = u32>) -> MemoryRange {
    let words: Vec<u32> = words.into_iter().collect();
    MemoryRange::of_words(&words, 0x1_0000, Reference(0)).expect("memory")
}

/// A view of a tightly packed single-level image.
fn image(memory: &MemoryRange, format: i32, extent: [u32; 3], layers: u32) -> ImageView {
    let texel = properties(format).expect("a supported format").texel_bytes as u32;
    let row_pitch = extent[0] * texel;
    let slice_pitch = row_pitch * extent[1];
    ImageView {
        memory: memory.clone(),
        extent,
        layers,
        format,
        row_pitch,
        slice_pitch,
        layer_pitch: slice_pitch * extent[2],
        levels: 1,
        level_offsets: [0; 16],
        level_row_pitch: [row_pitch; 16],
        level_slice_pitch: [slice_pitch; 16],
        samples: 1,
        sample_pitch: texel,
        swizzle: [3, 4, 5, 6],
        chroma: Vec::new(),
    }
}

const NEAREST: Sampler = Sampler {
    mag_linear: false,
    min_linear: false,
    mip_linear: false,
    address: [2; 3],
    lod_bias: 0.0,
    min_lod: 0.0,
    max_lod: 0.25,
    border: [0; 4],
    unnormalized: false,
    non_seamless: false,
    compare: None,
    reduction: Reduction::WeightedAverage,
    conversion: None,
    max_anisotropy: 1.0,
};

const LINEAR: Sampler = Sampler { mag_linear: true, min_linear: true, ..NEAREST };

const R8G8B8A8_UNORM: i32 = 37;
const R16_SFLOAT: i32 = 76;
const R32_UINT: i32 = 98;
const R32_SINT: i32 = 99;
const R32_SFLOAT: i32 = 100;
const R32G32_SFLOAT: i32 = 103;

#[test]
fn every_kind_of_image_operation_works_together() {
    let words: Vec<u32> = include_bytes!("shaders/images.spv")
        .chunks(4)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("whole words")))
        .collect();
    let options = CompileOptions::default();
    let program = compile(&words, &options).expect("the shader compiles");

    let seen = store([0; 32 * 9]);
    let colors_before: Vec<u32> = (0..32).map(|i| 0x0403_0201u32.wrapping_mul(i)).collect();
    let colors = store(colors_before.iter().copied());
    let counters = store([0; 4 * 2]);
    let height = |i: usize| (i * i) as f32;
    let filtered = store((0..32).map(|i| height(i).to_bits()));
    let volume = store((0..64).map(|i| (i - 20) as u32));
    let plain = store((0..64).map(|i| (i as f32).to_bits()));
    let lines = [store([0; 8]), store([0; 4])];

    // Levels of 16, 4 and 1 texels.
    let of_level = |k: usize| [10.0f32, 20.0, 30.0][usize::from(k >= 16) + usize::from(k >= 20)];
    let levels = store((0..21).map(|k| of_level(k).to_bits()));

    // By binding number; the program's bindings may be in another order.
    let mut levelled = image(&levels, R32_SFLOAT, [4, 4, 1], 1);
    levelled.levels = 3;
    levelled.level_offsets[..3].copy_from_slice(&[0, 64, 80]);
    levelled.level_row_pitch[..3].copy_from_slice(&[16, 8, 4]);
    levelled.level_slice_pitch[..3].copy_from_slice(&[64, 16, 4]);
    let descriptors: [Vec<Descriptor>; 9] = [
        vec![Descriptor::Buffer(seen.clone())],
        vec![Descriptor::Image(image(&colors, R8G8B8A8_UNORM, [8, 4, 1], 1))],
        // 4 x 2 texels, one layer: the second layer is out of bounds.
        vec![Descriptor::Image(image(&counters, R32_UINT, [4, 2, 1], 1))],
        vec![Descriptor::ImageSampler(image(&filtered, R32_SFLOAT, [8, 4, 1], 1), LINEAR)],
        vec![Descriptor::Image(image(&volume, R32_SINT, [4, 4, 4], 1))],
        vec![Descriptor::Image(image(&plain, R32G32_SFLOAT, [8, 4, 1], 1))],
        vec![Descriptor::Sampler(NEAREST), Descriptor::Sampler(LINEAR)],
        vec![
            Descriptor::TexelBuffer(lines[0].clone(), R16_SFLOAT, 16),
            Descriptor::TexelBuffer(lines[1].clone(), R16_SFLOAT, 8),
        ],
        vec![Descriptor::ImageSampler(levelled, Sampler { max_lod: 1000.0, ..NEAREST })],
    ];
    let bindings = program.shader.bindings.iter().map(|b| descriptors[b.binding as usize].clone()).collect();
    let resources = Resources { bindings, ..Resources::default() };
    // The second line, the counters and the first line, the colors, what was seen: all are at one address.
    let written = [16, 32, 128, 32 * 36].map(|size| (0x1_0000, 0x1_0000 + size));
    let modelled = compile(&words, &CompileOptions { modelled: true, ..options }).expect("the same");
    assert_eq!(resources.written_by(&modelled), Some(written.to_vec()));
    let grid = Grid { base: [0; 3], groups: [1; 3] };
    dispatch(&program, &grid, &resources, &PlainOptions::default()).expect("nothing traps");

    let swapped: Vec<u32> = colors_before
        .iter()
        .map(|color| {
            let [r, g, b, a] = color.to_le_bytes();
            u32::from_le_bytes([b, g, r, a])
        })
        .collect();
    assert_eq!(colors.words(), swapped);

    let seen = seen.words();
    let mut counted = [0u32; 8];
    let clamped = |x: i32, y: i32| height((x.clamp(0, 7) + 8 * y.clamp(0, 3)) as usize);
    for i in 0..32usize {
        let of = |k: usize| seen[9 * i + k];
        let (x, y) = (i as i32 % 8, i as i32 / 8);
        assert_eq!(of(0), colors_before[i], "color of {i}");
        let inside = i < 28;
        let counter = &mut counted[(i % 8) / 2 + 4 * (i / 16)];
        // Lanes add in ascending order.
        assert_eq!(of(1), if inside { *counter } else { 0 }, "counter of {i}");
        *counter += if inside { i as u32 } else { 0 };
        assert_eq!(of(2), 421, "size");
        // A quarter of a texel right and down of its middle.
        let linear = 0.75 * (0.75 * clamped(x, y) + 0.25 * clamped(x + 1, y))
            + 0.25 * (0.75 * clamped(x, y + 1) + 0.25 * clamped(x + 1, y + 1));
        let got = f32::from_bits(of(3));
        assert!((got - linear).abs() <= 1e-3, "filtered {got} of {i}, not {linear}");
        let texel = i % 4 + 4 * (i / 4 % 4) + 16 * (i / 16);
        assert_eq!(of(4) as i32, texel as i32 - 20, "volume of {i}");
        // Green of texel n is 2 n + 1. The corner of a texel: linear filtering takes the mean of four.
        let green = |x: i32, y: i32| (2 * (x.clamp(0, 7) + 8 * y.clamp(0, 3)) + 1) as f32;
        let expected = if i % 2 == 0 {
            green(x, y)
        } else {
            (green(x - 1, y - 1) + green(x, y - 1) + green(x - 1, y) + green(x, y)) / 4.0
        };
        assert_eq!(f32::from_bits(of(5)), expected, "separate sampler of {i}");
        // Around the middle of a texel the footprint starts at the texel itself.
        let gathered = clamped(x, y + 1)
            + 10.0 * clamped(x + 1, y + 1)
            + 100.0 * clamped(x + 1, y)
            + 1000.0 * clamped(x, y);
        assert_eq!(of(6), gathered as u32, "gathered by {i}");
        let exists = i % 2 == 0 || i / 2 < 8;
        assert_eq!(f32::from_bits(of(8)), [10.0, 20.0, 30.0, 30.0][i % 4], "level of {i}");
        assert_eq!(of(7), 8000 + if exists { 2 * i as u32 + 1 } else { 0 }, "texel buffer of {i}");
    }
    assert_eq!(counters.words(), counted);
}

#[test]
fn atomics_through_an_image_index_that_differs_between_lanes_go_lane_by_lane() {
    let words: Vec<u32> = include_bytes!("shaders/image_array.spv")
        .chunks(4)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("whole words")))
        .collect();
    // 4 x 3 texels of image k.
    let texels = |k: u32| {
        let mut words: Vec<u32> = (0..12).map(|at| 5000 * (k + 1) + at).collect();
        (words[1], words[3 + 4 * k as usize]) = (1000 + k, 20);
        words
    };
    let mut expected: Vec<Vec<u32>> = (0..3).map(texels).collect();
    let mut results = vec![[0u32; 4]; 32];
    for i in 16..32u32 {
        let k = i % 3;
        let (words, row) = (&mut expected[k as usize], 3 + 4 * k as usize);
        results[i as usize] = [words[0], words[1], words[2], words[row]];
        words[1] = if words[1] == 1000 + k { i } else { words[1] };
        (words[0], words[2], words[row]) = (words[0] + i, i, words[row].max(i));
    }
    for modelled in [false, true] {
        let options = CompileOptions { modelled, ..CompileOptions::default() };
        let program = compile(&words, &options).expect("the shader compiles");
        let seen = store([0; 32 * 4]);
        let images: Vec<MemoryRange> = (0..3).map(|k| store(texels(k))).collect();
        let views = images.iter().map(|memory| Descriptor::Image(image(memory, R32_UINT, [4, 3, 1], 1)));
        let descriptors = [vec![Descriptor::Buffer(seen.clone())], views.collect()];
        let bindings =
            program.shader.bindings.iter().map(|b| descriptors[b.binding as usize].clone()).collect();
        let resources = Resources { bindings, ..Resources::default() };
        let grid = Grid { base: [0; 3], groups: [1; 3] };
        if modelled {
            let mut memory = CheckedMemory::new(CheckOptions::default());
            memory.begin_dispatch(DispatchInfo {
                groups: grid.groups,
                workgroup_size: program.shader.local_size.iter().product(),
                placement: Placement::in_order(program.subgroup_size),
                ..DispatchInfo::default()
            });
            let options = ModelledOptions::default();
            modelled::dispatch(
                &program,
                &grid,
                &resources,
                &mut memory,
                &mut SeededScheduler::new(0),
                &options,
            )
        } else {
            dispatch(&program, &grid, &resources, &PlainOptions::default())
        }
        .expect("nothing traps");
        assert_eq!(seen.words(), results.concat(), "modelled: {modelled}");
        assert_eq!(images.iter().map(MemoryRange::words).collect::<Vec<_>>(), expected);
    }
}
