//! Reads, fetches and writes of texels in both tiers, for every format of a storage image: the same bytes.

mod arrays;
mod samples;

use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::random::Random;
use pellucid_shader_interp::exec::plain::{PlainOptions, dispatch};
use pellucid_shader_interp::interface::{Descriptor, Grid, ImageView, Reduction, Resources, Sampler};
use pellucid_shader_interp::math::format::{FORMATS, FormatInfo, Numeric, feature};
use pellucid_shader_interp::tier::{Tier, is_compiled};
use pellucid_shader_interp::{CompileOptions, Program, compile};

/// Invocations times turns of the shader's loop.
const TEXELS: usize = 256;
const WIDTH: u32 = 60;
const HEIGHT: u32 = 7;

fn program(info: &FormatInfo) -> Program {
    let code: &[u8] = match info.numeric {
        Numeric::Uint => include_bytes!("../shaders/texels_u.spv"),
        Numeric::Sint => include_bytes!("../shaders/texels_i.spv"),
        _ => include_bytes!("../shaders/texels_f.spv"),
    };
    compile(&words(code), &CompileOptions::default()).expect("the shader compiles")
}

/// An encoding that failed would leave all to the interpreter, which gives the same bits.
fn assert_compiled(program: &Program) {
    #[cfg(target_arch = "x86_64")]
    assert!(is_compiled(program) || !std::arch::is_x86_feature_detected!("avx2"), "no machine code");
    #[cfg(not(target_arch = "x86_64"))]
    assert!(!is_compiled(program));
}

/// The words of a module.
fn words(code: &[u8]) -> Vec<u32> {
    code.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The format of this name, without what all names begin with.
fn format(name: &str) -> &'static FormatInfo {
    let named = |info: &&FormatInfo| info.name.strip_prefix("VK_FORMAT_") == Some(name);
    FORMATS.iter().find(named).expect("a format")
}

/// Dispatches one workgroup; `descriptors` gives those of a set's binding.
fn launch(program: &Program, tier: Tier, mut descriptors: impl FnMut(u32, u32) -> Vec<Descriptor>) {
    let bindings = program.shader.bindings.iter().map(|b| descriptors(b.set, b.binding)).collect();
    let resources = Resources { bindings, ..Resources::default() };
    let options = PlainOptions { tier, ..PlainOptions::default() };
    dispatch(program, &Grid { base: [0; 3], groups: [1; 3] }, &resources, &options).expect("nothing traps");
}

/// Both tiers give the same words; `place` says where a word is.
fn assert_same(should: &[u32], is: &[u32], place: impl FnOnce(usize) -> String) {
    if let Some(at) = (0..should.len()).find(|at| should[*at] != is[*at]) {
        panic!("{}: {:08x}, not {:08x}", place(at), is[at], should[at]);
    }
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
    launch(program, tier, |_, binding| vec![descriptors[binding as usize].clone()]);
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
            assert_compiled(&program);
            for (k, what) in ["written", "seen"].into_iter().enumerate() {
                assert_same(&should[k], &is[k], |at| {
                    format!("{} in code for {}: {what} {at}", other.name, info.name)
                });
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
    let word = format("R32_UINT");
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
    launch(program, tier, |set, binding| vec![descriptor(set, binding)]);
    written.iter().map(MemoryRange::words).collect()
}

#[test]
fn texels_of_all_shapes_are_the_same_in_both_tiers() {
    let words = words(include_bytes!("../shaders/texel_shapes.spv"));
    for name in ["R32_UINT", "R8_UINT", "R8G8B8A8_UINT", "R16G16_UINT", "R32G32B32A32_UINT"] {
        let info = format(name);
        // Its machine code is made for images of this format.
        let program = compile(&words, &CompileOptions::default()).expect("the shader compiles");
        for seed in 0..20 {
            let [should, is] =
                [Tier::Interpreter, Tier::Compiled].map(|tier| run_shapes(&program, info, tier, seed));
            assert_compiled(&program);
            assert!(should[0].iter().any(|word| *word != 0), "the shader has seen nothing");
            for (k, (should, is)) in should.iter().zip(&is).enumerate() {
                assert_same(should, is, |at| format!("{name}, seed {seed}: memory {k}, word {at}"));
            }
        }
    }
}
