//! Reads, fetches and writes of texels in both tiers, for every format of a storage image: the same bytes.

use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::random::Random;
use pellucid_shader_interp::exec::plain::{PlainOptions, dispatch};
use pellucid_shader_interp::interface::{Descriptor, Grid, ImageView, Reduction, Resources, Sampler};
use pellucid_shader_interp::math::format::{FORMATS, FormatInfo, Numeric, feature};
use pellucid_shader_interp::tier::Tier;
use pellucid_shader_interp::{CompileOptions, Program, compile};

/// Invocations times turns of the shader's loop.
const TEXELS: usize = 256;
const WIDTH: u32 = 60;
const HEIGHT: u32 = 7;

fn program(info: &FormatInfo) -> Program {
    let code: &[u8] = match info.numeric {
        Numeric::Uint => include_bytes!("shaders/texels_u.spv"),
        Numeric::Sint => include_bytes!("shaders/texels_i.spv"),
        _ => include_bytes!("shaders/texels_f.spv"),
    };
    let words: Vec<u32> = code.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let options = CompileOptions::default();
    compile(&words, &options).expect("the shader compiles")
}

fn store(words: impl IntoIterator<Item = u32>) -> MemoryRange {
    let words: Vec<u32> = words.into_iter().collect();
    MemoryRange::of_words(&words, 0x1_0000, Reference(0)).expect("memory")
}

/// The component swizzle of views of a format that are sampled or fetched from: none, BGRA, grey of red, and
/// any.
fn swizzle(info: &FormatInfo) -> [u8; 4] {
    [[3, 4, 5, 6], [5, 4, 3, 6], [3, 3, 3, 2], [1, 6, 2, 4]][info.format as usize % 4]
}

/// A view whose first texel is not its memory's first, and whose rows have bytes between them.
fn image(memory: &MemoryRange, info: &FormatInfo) -> ImageView {
    let pitch = WIDTH * u32::from(info.texel_bytes) + 16;
    ImageView {
        memory: memory.clone(),
        extent: [WIDTH, HEIGHT, 1],
        layers: 1,
        format: info.format,
        row_pitch: pitch,
        slice_pitch: pitch * HEIGHT,
        layer_pitch: pitch * HEIGHT,
        levels: 1,
        level_offsets: [32; 16],
        level_row_pitch: [pitch; 16],
        level_slice_pitch: [pitch * HEIGHT; 16],
        samples: 1,
        sample_pitch: info.texel_bytes.into(),
        swizzle: [3, 4, 5, 6],
        chroma: Vec::new(),
    }
}

const SAMPLER: Sampler = Sampler {
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

/// The lanes' texels for each turn of the loop: in a row, in two, in four, anywhere and outside, all one.
fn places(random: &mut Random) -> Vec<u32> {
    let mut places = Vec::new();
    for _ in 0..TEXELS / 32 {
        let [x, y] = [random.below(WIDTH + 8) as i32 - 4, random.below(HEIGHT + 2) as i32 - 1];
        let shape = random.below(5u32);
        for lane in 0..32 {
            let [x, y] = match shape {
                0 => [x + lane, y],
                1 => [x + lane % 16, y + lane / 16],
                2 => [x + lane % 8, y + lane / 8],
                3 => [random.below(2 * WIDTH) as i32 - 20, random.below(2 * HEIGHT) as i32 - 3],
                _ => [x, y],
            };
            places.extend([x as u32, y as u32]);
        }
    }
    places
}

/// Words of components: numbers near [-1, 1], integers of all sizes, any bits.
fn values(random: &mut Random) -> Vec<u32> {
    let value = |_| match random.below(5u32) {
        0 => (random.below(4000u32) as f32 / 1000.0 - 2.0).to_bits(),
        1 => random.below(300u32),
        2 => random.pick(&[0x7fc0_0001, 0xffff_ffff, 0x7f80_0000, 0xff80_0000, 0x8000_0000, 0x3f80_0000]),
        3 => (random.below(70_000u32) as f32 - 100.0).to_bits(),
        _ => random.bits() as u32,
    };
    (0..4 * TEXELS).map(value).collect()
}

/// What a dispatch leaves in the image that it writes, and what it has seen.
fn run(program: &Program, info: &FormatInfo, tier: Tier, seed: u64) -> [Vec<u32>; 2] {
    let mut random = Random::new(seed);
    let words = 12 + HEIGHT as usize * (WIDTH as usize * usize::from(info.texel_bytes) + 16) / 4;
    let any = |random: &mut Random| store((0..words).map(|_| random.bits() as u32).collect::<Vec<_>>());
    let (from, to) = (any(&mut random), any(&mut random));
    let seen = store(vec![0; 8 * TEXELS]);
    let descriptors = [
        Descriptor::Image(image(&from, info)),
        Descriptor::Image(image(&to, info)),
        Descriptor::ImageSampler(ImageView { swizzle: swizzle(info), ..image(&from, info) }, SAMPLER),
        Descriptor::Buffer(store(places(&mut random))),
        Descriptor::Buffer(store(values(&mut random))),
        Descriptor::Buffer(seen.clone()),
    ];
    let bindings = &program.shader.bindings;
    let bindings = bindings.iter().map(|b| vec![descriptors[b.binding as usize].clone()]).collect();
    let resources = Resources { bindings, ..Resources::default() };
    let grid = Grid { base: [0; 3], groups: [1; 3] };
    let options = PlainOptions { tier, ..PlainOptions::default() };
    dispatch(program, &grid, &resources, &options).expect("nothing traps");
    [to.words(), seen.words()]
}

#[test]
fn texels_are_the_same_in_both_tiers() {
    let storage = |info: &&FormatInfo| info.image_features & feature::STORAGE_IMAGE != 0 && !info.is_64_bit();
    let formats: Vec<&FormatInfo> = FORMATS.iter().filter(storage).collect();
    assert!(formats.len() > 30);
    for (n, info) in formats.iter().enumerate() {
        // Compiled for images of its format, then used with others of the same kind of components.
        let program = program(info);
        let integer = |other: &FormatInfo| match other.numeric {
            Numeric::Uint => 1,
            Numeric::Sint => 2,
            _ => 0,
        };
        let others = formats.iter().cycle().skip(n).take(formats.len());
        let alike = others.filter(|other| integer(other) == integer(info)).take(3);
        for (seed, other) in alike.flat_map(|other| (0..4).map(move |seed| (seed, other))) {
            let [should, is] =
                [Tier::Interpreter, Tier::Compiled].map(|tier| run(&program, other, tier, seed));
            for (k, what) in ["written", "seen"].into_iter().enumerate() {
                let differ = (0..should[k].len()).find(|at| should[k][*at] != is[k][*at]);
                if let Some(at) = differ {
                    let (is, should) = (is[k][at], should[k][at]);
                    panic!(
                        "{} in code for {}: {what} {at}: {is:08x}, not {should:08x}",
                        other.name, info.name
                    );
                }
            }
        }
    }
}

/// Sizes along the coordinates of the shader's images, in the order of their bindings; the view's layers.
const SHAPES: [([u32; 3], u32); 7] = [
    ([60, 1, 1], 1),
    ([60, 1, 1], 7),
    ([60, 7, 1], 1),
    ([60, 7, 1], 5),
    ([60, 7, 5], 1),
    ([9, 9, 1], 6),
    ([60, 1, 1], 1),
];

/// A view whose rows, slices and layers have bytes between them, of so many words that `fill` gives.
fn apart(extent: [u32; 3], layers: u32, info: &FormatInfo, fill: impl FnOnce(u32) -> Vec<u32>) -> ImageView {
    let row = extent[0] * u32::from(info.texel_bytes) + 16;
    let slice = row * extent[1] + 32;
    let layer = slice * extent[2] + 64;
    let memory = store(fill((layer * layers + 32).div_ceil(4)));
    ImageView {
        extent,
        layers,
        row_pitch: row,
        slice_pitch: slice,
        layer_pitch: layer,
        level_row_pitch: [row; 16],
        level_slice_pitch: [slice; 16],
        ..image(&memory, info)
    }
}

/// A descriptor of shape `k`.
fn shaped(k: usize, info: &FormatInfo, random: &mut Random) -> (Descriptor, MemoryRange) {
    let (extent, layers) = SHAPES[k];
    let mut any = |count| (0..count).map(|_| random.bits() as u32).collect();
    if k == 6 {
        let memory = store(any(extent[0] * u32::from(info.texel_bytes) / 4));
        return (Descriptor::TexelBuffer(memory.clone(), info.format, extent[0]), memory);
    }
    let view = ImageView { levels: 2, ..apart(extent, layers, info, any) };
    let memory = view.memory.clone();
    (Descriptor::ImageSampler(view, SAMPLER), memory)
}

/// What a dispatch leaves in images of all shapes, and what it has seen.
fn run_shapes(program: &Program, info: &FormatInfo, tier: Tier, seed: u64) -> Vec<Vec<u32>> {
    let mut random = Random::new(seed);
    let word = FORMATS.iter().find(|info| info.name == "VK_FORMAT_R32_UINT").expect("the format of atomics");
    let mut place = |shape: u32, lane: u32, base: [u32; 3]| match shape {
        // In a row, in rows, in slices, all one, anywhere and outside.
        0 => [base[0] + lane, base[1], base[2], 0],
        1 => [base[0] + lane % 8, base[1] + lane / 8, base[2], 0],
        2 => [base[0], base[1] + lane % 8, base[2] + lane / 8, 0],
        3 => [base[0], base[1], base[2], 0],
        _ => [random.below(66u32), random.below(9u32), random.below(7u32), 0].map(|at| at.wrapping_sub(1)),
    };
    let places: Vec<u32> = (0..8u32)
        .flat_map(|turn| (0..32).map(move |lane| (turn, lane)))
        .flat_map(|(turn, lane)| place((turn + seed as u32) % 5, lane, [3 * turn, turn % 4, turn % 3]))
        .collect();
    let seen = store(vec![0; 4 * 32 * 8]);
    let buffers = [
        store(places),
        store((0..4 * 32 * 8).map(|_| random.bits() as u32).collect::<Vec<_>>()),
        seen.clone(),
    ];
    let mut written = vec![seen];
    let mut descriptor = |set: u32, binding: u32| {
        let Some(kind) = set.checked_sub(1) else {
            return Descriptor::Buffer(buffers[binding as usize].clone());
        };
        let (descriptor, memory) = shaped(binding as usize, if kind == 2 { word } else { info }, &mut random);
        written.push(memory);
        descriptor
    };
    let bindings = program.shader.bindings.iter().map(|b| vec![descriptor(b.set, b.binding)]).collect();
    let resources = Resources { bindings, ..Resources::default() };
    let options = PlainOptions { tier, ..PlainOptions::default() };
    dispatch(program, &Grid { base: [0; 3], groups: [1; 3] }, &resources, &options).expect("nothing traps");
    written.iter().map(MemoryRange::words).collect()
}

#[test]
fn texels_of_all_shapes_are_the_same_in_both_tiers() {
    let code: &[u8] = include_bytes!("shaders/texel_shapes.spv");
    let words: Vec<u32> = code.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    for name in ["R32_UINT", "R8_UINT", "R8G8B8A8_UINT", "R16G16_UINT", "R32G32B32A32_UINT"] {
        let info =
            FORMATS.iter().find(|info| info.name.strip_prefix("VK_FORMAT_") == Some(name)).expect("a format");
        // Its machine code is made for images of this format.
        let program = compile(&words, &CompileOptions::default()).expect("the shader compiles");
        for seed in 0..20 {
            let [should, is] =
                [Tier::Interpreter, Tier::Compiled].map(|tier| run_shapes(&program, info, tier, seed));
            assert!(should[0].iter().any(|word| *word != 0), "the shader has seen nothing");
            for (k, (should, is)) in should.iter().zip(&is).enumerate() {
                let differ = (0..should.len()).find(|at| should[*at] != is[*at]);
                assert_eq!(differ, None, "{name}, seed {seed}: first difference in memory {k}");
            }
        }
    }
}

/// Sizes of the images that are sampled, in the order of their bindings; of the case where powers of two are
/// asked for.
const SAMPLED: [([u32; 3], u32); 5] =
    [([32, 1, 1], 1), ([16, 1, 1], 5), ([32, 8, 1], 1), ([8, 16, 1], 3), ([8, 4, 16], 1)];

/// Words that are also sensible texels: halves, bytes and floats near 1, a few of them infinite, zero or NaN.
fn texel_words(random: &mut Random, info: &FormatInfo, count: u32) -> Vec<u32> {
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

/// What a dispatch has seen in images that it samples: their sizes and formats in the order of their
/// bindings.
fn run_samples(
    program: &Program,
    images: &[(([u32; 3], u32), &FormatInfo)],
    sampler: &Sampler,
    uneven: u32,
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
        let view = ImageView { swizzle: swizzle(info), ..view };
        Descriptor::ImageSampler(view, *sampler)
    };
    let bindings = program.shader.bindings.iter().map(|b| vec![descriptor(b.set, b.binding)]).collect();
    let resources = Resources { bindings, ..Resources::default() };
    let options = PlainOptions { tier, ..PlainOptions::default() };
    dispatch(program, &Grid { base: [0; 3], groups: [1; 3] }, &resources, &options).expect("nothing traps");
    seen.words()
}

#[test]
fn samples_are_the_same_in_both_tiers() {
    let code: &[u8] = include_bytes!("shaders/texel_samples.spv");
    let words: Vec<u32> = code.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
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
        let info = FORMATS.iter().find(|info| info.name.strip_prefix("VK_FORMAT_") == Some(name));
        let info = info.expect("a format");
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
                let run = |tier| run_samples(&program, &images, sampler, uneven.into(), tier, seed);
                let [should, is] = [Tier::Interpreter, Tier::Compiled].map(run);
                if let Some(at) = (0..should.len()).find(|at| should[*at] != is[*at]) {
                    let (call, place) = (at / 4 % 16, at / 64);
                    let (is, should) = (is[at], should[at]);
                    panic!(
                        "{name}, {address:?}, {linear}: call {call}, place {place}: {is:08x}, not {should:08x}"
                    );
                }
            }
        }
    }
}

#[test]
fn comparisons_reductions_and_coordinates_in_texels_are_the_same_in_both_tiers() {
    let code: &[u8] = include_bytes!("shaders/texel_compares.spv");
    let words: Vec<u32> = code.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let format = |name: &str| {
        let named = |info: &&FormatInfo| info.name.strip_prefix("VK_FORMAT_") == Some(name);
        FORMATS.iter().find(named).expect("a format")
    };
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
                let run = |tier| run_samples(&program, &images, &sampler, case / 16, tier, seed);
                let [should, is] = [Tier::Interpreter, Tier::Compiled].map(run);
                passed += should.iter().step_by(64).filter(|word| **word == one).count();
                failed += should.iter().step_by(64).filter(|word| **word == 0).count();
                if let Some(at) = (0..should.len()).find(|at| should[*at] != is[*at]) {
                    let (is, should) = (is[at], should[at]);
                    panic!("{}, {sampler:?}: call {}: {is:08x}, not {should:08x}", depth.name, at % 64);
                }
            }
        }
    }
    assert!(passed > 1000 && failed > 1000, "{passed} passed, {failed} failed");
}
