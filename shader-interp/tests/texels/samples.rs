//! Sampling and gathers in both tiers: the same bits.

use super::*;

/// Sizes of the images that are sampled, in the order of their bindings; of the case where powers of two are
/// asked for.
const SAMPLED: [([u32; 3], u32); 5] =
    [([32, 1, 1], 1), ([16, 1, 1], 5), ([32, 8, 1], 1), ([8, 16, 1], 3), ([8, 4, 16], 1)];

/// Words that are also sensible texels: halves, bytes and floats near 1, a few of them infinite, zero or NaN.
pub fn texel_words(random: &mut Random, info: &FormatInfo, count: u32) -> Vec<u32> {
    let float = |random: &mut Random| match random.below(20u32) {
        0 => 0x8000_0000,
        1 => 0x7f80_0000,
        2 => 0xffc0_1234,
        3 => 0,
        _ => (random.below(4000u32) as f32 / 999.0 - 2.0).to_bits(),
    };
    let half = |random: &mut Random| match random.below(20u32) {
        0 => 0x8000,
        1 => 0x7c00,
        2 => 0xfe12,
        _ => 0x3000 + random.below(0x1000u32) + (random.below(2u32) << 15),
    };
    (0..count)
        .map(|_| match info.fields[0].width {
            32 => float(random),
            16 => half(random) | half(random) << 16,
            _ => random.bits() as u32,
        })
        .collect()
}

/// A view with so many levels, one behind the other in each layer.
fn levelled(view: ImageView, levels: u32, info: &FormatInfo, random: &mut Random) -> ImageView {
    let mut view = ImageView { levels, ..view };
    let mut end = 0;
    for level in 0..levels as usize {
        let [x, y, z] = view.extent.map(|size| (size >> level).max(1));
        let row = x * u32::from(info.texel_bytes) + 16;
        let slice = row * y + 16;
        view.level_offsets[level] = end + 32;
        (view.level_row_pitch[level], view.level_slice_pitch[level]) = (row, slice);
        end += slice * z + 48;
    }
    (view.layer_pitch, view.row_pitch) = (end, view.level_row_pitch[0]);
    view.slice_pitch = view.level_slice_pitch[0];
    view.memory = store(texel_words(random, info, (end * view.layers + 32).div_ceil(4)));
    view
}

/// What a dispatch has seen in images that it samples: their sizes and formats in the order of their
/// bindings; one texel more along each axis, if they are `uneven`, and so many levels.
fn run_samples(
    program: &Program,
    images: &[(([u32; 3], u32), &FormatInfo)],
    sampler: &Sampler,
    (uneven, levels): (u32, u32),
    tier: Tier,
    seed: u64,
) -> Vec<u32> {
    let mut random = Random::new(seed);
    let mut coordinate = |k: u32| match random.below(30u32) {
        0 => random.pick(&[f32::NAN, f32::INFINITY, -f32::INFINITY, 3e9, -3e9, 1e38, -0.0, 1e-30, -1e-9]),
        1..=4 => random.below(4000u32) as f32 / 500.0 - 4.0,
        5..=9 => random.below(33u32) as f32 / 32.0,
        // Texels that follow one another, as most programs have them.
        10..=19 => (k % 32) as f32 / 32.0 + 1.0 / 64.0,
        _ => random.below(1000u32) as f32 / 999.0,
    };
    let places: Vec<u32> = (0..4 * 32 * 8u32).map(|k| coordinate(k / 4).to_bits()).collect();
    let seen = store(vec![0; 4 * 16 * 32 * 8]);
    let buffers = [store(places), seen.clone()];
    let mut descriptor = |set: u32, binding: u32| {
        if set == 0 {
            return Descriptor::Buffer(buffers[binding as usize].clone());
        }
        let (([x, y, z], layers), info) = images[binding as usize];
        let extent = [x + uneven, if y > 1 { y + uneven } else { 1 }, if z > 1 { z + uneven } else { 1 }];
        let view = apart(extent, layers, info, |count| texel_words(&mut random, info, count));
        let mut view = ImageView { swizzle: swizzle(info), ..view };
        if levels > 1 {
            view = levelled(view, levels, info, &mut random);
        }
        Descriptor::ImageSampler(view, *sampler)
    };
    launch(program, tier, |set, binding| vec![descriptor(set, binding)]);
    seen.words()
}

/// Which call of a shader saw a word, and where.
fn call(at: usize) -> String {
    format!("call {}, component {}, place {}", at / 4 % 16, at % 4, at / 64)
}

#[test]
fn samples_are_the_same_in_both_tiers() {
    let words = words(include_bytes!("../shaders/texel_samples.spv"));
    let names = [
        "R8G8B8A8_UNORM",
        "R8_UNORM",
        "R16G16_SNORM",
        "R16G16B16A16_SFLOAT",
        "R32_SFLOAT",
        "R32G32B32A32_SFLOAT",
        "B8G8R8A8_SRGB",
        "B10G11R11_UFLOAT_PACK32",
    ];
    for (n, name) in names.into_iter().enumerate() {
        let info = format(name);
        for case in 0..20u32 {
            let [linear, uneven] = [case % 2 == 0, case % 5 == 4 || case % 4 == 3];
            let address = [0, 1, 2].map(|k| [0, 1, 2, 4, 3][((case / 2 + k * n as u32) % 5) as usize]);
            let one = 1f32.to_bits();
            let borders = [[0; 4], [0, 0, 0, one], [one; 4], [one, 0, one, 0x3f00_0000]];
            let border = borders[(case / 3 % 4) as usize];
            let sampler = Sampler { mag_linear: linear, min_linear: linear, address, border, ..SAMPLER };
            // Its machine code is made for images and samplers of this kind, but for the last seeds.
            let program = compile(&words, &CompileOptions::default()).expect("the shader compiles");
            for seed in 0..4 {
                let turned = Sampler { address: [2; 3], ..sampler };
                let sampler = if seed == 3 { &turned } else { &sampler };
                let images = SAMPLED.map(|size| (size, info));
                let run = |tier| run_samples(&program, &images, sampler, (uneven.into(), 1), tier, seed);
                let [should, is] = [Tier::Interpreter, Tier::Compiled].map(run);
                assert_compiled(&program);
                assert_same(&should, &is, |at| format!("{name}, {address:?}, {linear}: {}", call(at)));
            }
        }
    }
}

#[test]
fn comparisons_reductions_and_coordinates_in_texels_are_the_same_in_both_tiers() {
    let words = words(include_bytes!("../shaders/texel_compares.spv"));
    let sizes = [([32, 8, 1], 1), ([16, 16, 1], 1), ([32, 1, 1], 1), ([8, 16, 1], 3)];
    let (mut passed, mut failed) = (0, 0);
    for (n, depth) in ["D32_SFLOAT", "D16_UNORM", "X8_D24_UNORM_PACK32"].map(format).into_iter().enumerate() {
        let colors = ["R8G8B8A8_UNORM", "R32G32_SFLOAT", "R16G16B16A16_SFLOAT"].map(format)[n];
        let images = [0, 1, 2, 3].map(|k| (sizes[k], if k == 1 { colors } else { depth }));
        for case in 0..32u32 {
            let one = 1f32.to_bits();
            let reductions = [Reduction::WeightedAverage, Reduction::Min, Reduction::Max];
            let sampler = Sampler {
                mag_linear: case % 2 == 0,
                min_linear: case % 2 == 0,
                address: [0, 1, 2].map(|k| ((case / 2 + k) % 5) as i32),
                border: [[0; 4], [one; 4]][(case / 8 % 2) as usize],
                compare: Some((case % 8) as i32),
                reduction: reductions[(case / 3 % 3) as usize],
                unnormalized: case % 7 == 5,
                ..SAMPLER
            };
            let program = compile(&words, &CompileOptions::default()).expect("the shader compiles");
            for seed in 0..3 {
                let run = |tier| run_samples(&program, &images, &sampler, (case / 16, 1), tier, seed);
                let [should, is] = [Tier::Interpreter, Tier::Compiled].map(run);
                assert_compiled(&program);
                passed += should.iter().step_by(64).filter(|word| **word == one).count();
                failed += should.iter().step_by(64).filter(|word| **word == 0).count();
                assert_same(&should, &is, |at| format!("{}, {sampler:?}: {}", depth.name, call(at)));
            }
        }
    }
    assert!(passed > 1000 && failed > 1000, "{passed} passed, {failed} failed");
}

#[test]
fn levels_are_the_same_in_both_tiers() {
    let words = words(include_bytes!("../shaders/texel_levels.spv"));
    let names = ["R8G8B8A8_UNORM", "R32G32B32A32_SFLOAT", "R16G16_SFLOAT", "R16G16_SNORM", "B8G8R8A8_SRGB"];
    for (n, name) in names.into_iter().enumerate() {
        let info = format(name);
        for case in 0..36u32 {
            let linear = case % 2 == 0;
            let address = [0, 1, 2].map(|k| ((case / 2 + k) % 5) as i32);
            let reductions = [Reduction::WeightedAverage, Reduction::Min, Reduction::Max];
            let sampler = Sampler {
                mag_linear: linear != (case % 9 == 8),
                min_linear: linear,
                mip_linear: case / 2 % 2 == 0,
                address,
                border: [[0; 4], [1f32.to_bits(); 4]][(case / 4 % 2) as usize],
                lod_bias: [0.0, 0.75, -20.0][(case / 3 % 3) as usize],
                min_lod: [0.0, 1.5, f32::NAN][(case / 5 % 3) as usize],
                max_lod: [1000.0, 2.25][(case / 7 % 2) as usize],
                reduction: reductions[if case % 5 == 4 { (case / 5 % 3) as usize } else { 0 }],
                max_anisotropy: if case % 11 == 10 { 4.0 } else { 1.0 },
                ..SAMPLER
            };
            let program = compile(&words, &CompileOptions::default()).expect("the shader compiles");
            for seed in 0..3 {
                // Sizes that are no powers of two, and a single level, in code for others.
                let levels = if seed == 2 { 1 } else { 1 + (case + n as u32) % 5 };
                let images = SAMPLED.map(|size| (size, info));
                let run = |tier| run_samples(&program, &images, &sampler, (case / 18, levels), tier, seed);
                let [should, is] = [Tier::Interpreter, Tier::Compiled].map(run);
                assert_compiled(&program);
                assert!(should.iter().any(|word| *word != 0), "the shader has seen nothing");
                assert_same(&should, &is, |at| format!("{name}, {sampler:?}, {levels} levels: {}", call(at)));
            }
        }
    }
}

#[test]
fn cubes_are_the_same_in_both_tiers() {
    let words = words(include_bytes!("../shaders/texel_cubes.spv"));
    let names = ["R8G8B8A8_UNORM", "R32G32B32A32_SFLOAT", "R16G16_SFLOAT", "R16G16_SNORM", "B8G8R8A8_SRGB"];
    for (n, colors) in names.map(format).into_iter().enumerate() {
        for case in 0..24u32 {
            let depths = format(["D32_SFLOAT", "D16_UNORM"][case as usize % 2]);
            let reductions = [Reduction::WeightedAverage, Reduction::Min, Reduction::Max];
            let sampler = Sampler {
                mag_linear: case % 4 != 3,
                min_linear: case % 4 != 3,
                mip_linear: case / 2 % 2 == 0,
                address: [0, 1, 2].map(|k| ((case / 2 + k) % 5) as i32),
                lod_bias: [0.0, 0.75][(case / 3 % 2) as usize],
                max_lod: 1000.0,
                compare: Some((case % 8) as i32),
                reduction: reductions[if case % 5 == 4 { (case / 5 % 3) as usize } else { 0 }],
                non_seamless: case % 12 == 10,
                ..SAMPLER
            };
            let program = compile(&words, &CompileOptions::default()).expect("the shader compiles");
            for seed in 0..3 {
                let size = 8 + (case % 3) * 7;
                let sizes = [([size, size, 1], 6), ([4, 4, 1], 18), ([1 + case % 2; 3], 6), ([2, 2, 1], 12)];
                let images = [0, 1, 2, 3].map(|k| {
                    let ([x, y, _], layers) = sizes[k];
                    (([x, y, 1], layers), if k == 3 { depths } else { colors })
                });
                let levels = if seed == 2 { 1 } else { 1 + (case + n as u32) % 4 };
                let run = |tier| run_samples(&program, &images, &sampler, (0, levels), tier, seed);
                let [should, is] = [Tier::Interpreter, Tier::Compiled].map(run);
                assert_compiled(&program);
                assert!(should.iter().any(|word| *word != 0), "the shader has seen nothing");
                assert_same(&should, &is, |at| {
                    format!("{}, {sampler:?}, {levels} levels: {}", colors.name, call(at))
                });
            }
        }
    }
}
