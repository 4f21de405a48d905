//! The usual case of sampling against the general one, bit by bit: random images, samplers and coordinates.

use super::*;
use crate::ops::image::usual;
use pellucid_memory::random::Random;

const FORMATS: [&str; 14] = [
    "R8_UNORM",
    "R8G8_UNORM",
    "R8G8B8A8_UNORM",
    "B8G8R8A8_UNORM",
    "R8G8B8A8_SRGB",
    "R8G8B8A8_SNORM",
    "R16_SFLOAT",
    "R16G16B16A16_SFLOAT",
    "R32_SFLOAT",
    "R32G32_SFLOAT",
    "R32G32B32A32_SFLOAT",
    "A2B10G10R10_UNORM_PACK32",
    "R16G16_UNORM",
    "D32_SFLOAT",
];

/// A coordinate: most near the image, some where arithmetic ends.
fn coordinate(random: &mut Random, size: u32) -> f32 {
    let near = |x: u32| x as f32 / 1000.0;
    match random.below(12u32) {
        0 => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0][random.below(6u32) as usize],
        1 => f32::from_bits(random.bits() as u32),
        2 => near(random.below(2000u32)) * 1.0e6 - 1.0e9,
        // Centres of texels and the edges between them.
        3 | 4 => (random.below(4 * size) as f32 * 0.5 - size as f32 * 0.5) / size as f32,
        5 => -1.0e-10,
        6 | 7 => near(random.below(9000u32)) - 4.0,
        _ => near(random.below(1200u32)) - 0.1,
    }
}

fn sampler(random: &mut Random) -> Sampler {
    let below = |random: &mut Random, n: u32| random.below(n) as i32;
    Sampler {
        mag_linear: random.chance(70),
        min_linear: random.chance(70),
        mip_linear: random.chance(30),
        address: std::array::from_fn(|_| below(random, 5)),
        lod_bias: [0.0, 0.0, 0.5, -3.0][random.below(4u32) as usize],
        max_lod: if random.chance(80) { 1000.0 } else { 1.0 },
        border: [0, 1.0f32.to_bits(), f32::NAN.to_bits() | 5, 0x8000_0000],
        ..LINEAR
    }
}

#[test]
fn the_usual_case_does_what_the_general_one_does() {
    let mut random = Random::new(0);
    for round in 0..6000 {
        let info = info(FORMATS[round % FORMATS.len()]);
        let extent = [random.below(9u32) + 1, random.below(9u32) + 1, 1];
        let (layers, levels) = (random.below(3u32) + 1, random.below(3u32) + 1);
        let arrayed = random.chance(40);
        let mut view = image(Bytes::<false>::new(4).range(), info, extent, layers, levels, 1);
        let size = (view.layer_pitch * layers) as usize;
        let mut memories = [Bytes::<false>::new(size), Bytes::<false>::new(size)];
        // Bits that are NaN, infinite or denormal as floats, too.
        let special = random.chance(50);
        let bytes: Vec<u8> = (0..size)
            .map(|k| match random.below(8u32) {
                0 if special => [0xff, 0x7f, 0x80, 0x7c][random.below(4u32) as usize],
                1 if special => 0,
                _ if k % 4 == 3 => 0x3f,
                _ => random.bits() as u8,
            })
            .collect();
        memories.iter_mut().for_each(|memory| memory.bytes.copy_from_slice(&bytes));
        view.memory = memories[0].range();
        if random.chance(30) {
            view.swizzle = std::array::from_fn(|_| random.below(6u32) as u8 + 1);
        }
        let mut operand = operand(ImageDim::D2, arrayed, Scalar::F32);
        operand.sampling.offsets = u8::from(random.chance(30));
        operand.sampling.gather = random.chance(30).then(|| random.below(4u32) as u8);
        let kind = OpKind::ImageSample { image: operand, access: ACCESS };
        let results = if operand.sampling.gather.is_some() { 4 } else { 1 + random.below(4u32) as usize };
        let general = instruction(kind, results);
        let resources = one(Descriptor::ImageSampler(view, sampler(&mut random)));
        let mask =
            if random.chance(50) { Mask::MAX } else { random.bits() as u32 | 1 << random.below(32u32) };
        let together = random.chance(30);
        let mut vectors: Vec<Lanes> = Vec::new();
        for k in 0..2 {
            let first = coordinate(&mut random, extent[k]);
            let step = 1.0 / extent[k] as f32;
            vectors.push(lanes(|lane| match together {
                true => (first + lane as f32 * step).to_bits(),
                false => coordinate(&mut random, extent[k]).to_bits(),
            }));
        }
        if arrayed {
            vectors.push(lanes(|_| (random.below(40u32) as f32 / 10.0 - 0.5).to_bits()));
        }
        let lod = [0.0, 0.0, 0.4, 1.0, 1.5, -2.0, 7.0, f32::NAN][random.below(8u32) as usize];
        vectors.push(lanes(|_| lod.to_bits()));
        for _ in 0..2 * operand.sampling.offsets {
            let shift = random.below(16u32).wrapping_sub(8);
            vectors.push(lanes(|_| shift));
        }
        let expected = run(&general, &mut memories[0], &resources, mask, &vectors);
        let count = vectors.len();
        vectors.resize(count + results, Lanes([7; LANES]));
        let entry = entry(general, count, results);
        let done = usual::execute(&entry, &resources, &mut vectors, mask, &mut memories[1]);
        let changed = done.expect("it is of the case").expect("nothing traps");
        assert!(!changed, "round {round}");
        for (k, expected) in expected.iter().enumerate() {
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                let found = vectors[count + k].0[lane];
                assert_eq!(found, expected.0[lane], "round {round}, {}, result {k}, lane {lane}", info.name);
            }
        }
    }
}

#[test]
fn lanes_of_different_levels_are_the_general_case() {
    let memory = Bytes::<false>::new(16 * 4 + 4 * 4);
    let view = image(memory.range(), info("R32_SFLOAT"), [4, 4, 1], 1, 2, 1);
    let resources = one(Descriptor::ImageSampler(view, LINEAR));
    let operand = operand(ImageDim::D2, false, Scalar::F32);
    let instruction = instruction(OpKind::ImageSample { image: operand, access: ACCESS }, 4);
    let entry = entry(instruction, 3, 4);
    let mut vectors = vec![Lanes::ZERO; 7];
    vectors[2] = lanes(|lane| (lane as f32).to_bits());
    let mut memory = memory;
    assert!(usual::execute(&entry, &resources, &mut vectors, 6, &mut memory).is_none());
    assert!(usual::execute(&entry, &resources, &mut vectors, 4, &mut memory).is_some());
}
