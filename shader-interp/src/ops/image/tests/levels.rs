//! Levels from derivatives, biases and limits, and anisotropy.

use super::*;

/// An image of one layer, or of six, whose texels are what `texel` makes of level, x and y.
fn levelled(
    size: u32,
    layers: u32,
    levels: u32,
    texel: impl Fn(u32, u32, u32) -> f32,
) -> (Bytes<false>, ImageView) {
    let mut texels = Vec::new();
    for _ in 0..layers {
        for level in 0..levels {
            let size = size >> level;
            texels.extend((0..size * size).map(|k| texel(level, k % size, k / size)));
        }
    }
    let mut memory = Bytes::<false>::new(texels.len() * 4);
    for (at, texel) in texels.iter().enumerate() {
        memory.set_word(4 * at, 4, u64::from(texel.to_bits()));
    }
    let view = image(memory.range(), info("R32_SFLOAT"), [size, size, 1], layers, levels, 1);
    (memory, view)
}

fn results(
    (memory, view): &mut (Bytes<false>, ImageView),
    sampler: Sampler,
    kind: OpKind,
    count: usize,
    floats: &[f32],
) -> Vec<f32> {
    let instruction = instruction(kind, count);
    let arguments: Vec<Lanes> = floats.iter().map(|argument| lanes(|_| argument.to_bits())).collect();
    let resources = one(Descriptor::ImageSampler(view.clone(), sampler));
    let out = run(&instruction, memory, &resources, 1 << 3, &arguments);
    out[..count].iter().map(|register| f32::from_bits(register.0[3])).collect()
}

/// Red at these coordinates, derivatives, and what else `sampling` says.
fn red(
    image: &mut (Bytes<false>, ImageView),
    sampler: Sampler,
    sampling: ImageSampling,
    floats: &[f32],
) -> f32 {
    let operand = ImageOperand { sampling, ..operand(ImageDim::D2, false, Scalar::F32) };
    results(image, sampler, OpKind::ImageSample { image: operand, access: ACCESS }, 4, floats)[0]
}

const DERIVATIVES: ImageSampling = ImageSampling {
    gather: None,
    reference: false,
    offsets: 0,
    derivatives: true,
    bias: false,
    min_lod: false,
};

#[test]
fn derivatives_biases_and_limits_choose_the_level() {
    let mut image = levelled(16, 1, 5, |level, _, _| level as f32);
    let mut at = |sampling: ImageSampling, rest: &[f32]| {
        let mut floats = vec![0.5, 0.5];
        floats.extend(rest);
        let smooth = Sampler { mip_linear: true, ..NEAREST };
        [NEAREST, smooth].map(|sampler| red(&mut image, sampler, sampling, &floats))
    };
    let bias = ImageSampling { bias: true, ..DERIVATIVES };
    let min_lod = ImageSampling { min_lod: true, ..DERIVATIVES };
    // Two texels along x, one along y.
    assert_eq!(at(DERIVATIVES, &[2.0 / 16.0, 0.0, 0.0, 1.0 / 16.0]), [1.0, 1.0]);
    // The lengths are those of the ellipse's axes: 3 and 4 make 5.
    let [_, smooth] = at(DERIVATIVES, &[0.0, 1.0 / 16.0, 3.0 / 16.0, 4.0 / 16.0]);
    assert!((smooth - 5f32.log2()).abs() < 1e-5, "{smooth}");
    assert_eq!(at(DERIVATIVES, &[0.0; 4]), [0.0, 0.0]);
    assert_eq!(at(DERIVATIVES, &[100.0, 0.0, 0.0, 0.0]), [4.0, 4.0]);
    assert_eq!(at(bias, &[2.0 / 16.0, 0.0, 0.0, 0.0, 1.5]), [2.0, 2.5]);
    assert_eq!(at(bias, &[2.0 / 16.0, 0.0, 0.0, 0.0, -100.0]), [0.0, 0.0]);
    assert_eq!(at(min_lod, &[2.0 / 16.0, 0.0, 0.0, 0.0, 2.25]), [2.0, 2.25]);
    let both = ImageSampling { min_lod: true, ..bias };
    assert_eq!(at(both, &[2.0 / 16.0, 0.0, 0.0, 0.0, 2.0, 0.5]), [3.0, 3.0]);
}

#[test]
fn queries_tell_the_level_and_the_unclamped_lod() {
    let mut image = levelled(16, 1, 3, |level, _, _| level as f32);
    let mut query = |sampler: Sampler, dx: f32| {
        let operand = ImageOperand { sampling: DERIVATIVES, ..operand(ImageDim::D2, false, Scalar::F32) };
        results(&mut image, sampler, OpKind::ImageQueryLod(operand), 2, &[0.5, 0.5, dx, 0.0, 0.0, 0.0])
    };
    let smooth = Sampler { mip_linear: true, ..NEAREST };
    assert_eq!(query(smooth, 4.0 / 16.0), [2.0, 2.0]);
    assert_eq!(query(smooth, 16.0 / 16.0), [2.0, 4.0]);
    assert_eq!(query(smooth, 0.5 / 16.0), [0.0, -1.0]);
    let lod = 3f32.log2();
    let found = query(smooth, 3.0 / 16.0);
    assert!(found.iter().all(|found| (found - lod).abs() < 1e-5), "{found:?}");
    assert_eq!(query(NEAREST, 3.0 / 16.0)[0], 2.0);
    assert_eq!(query(Sampler { lod_bias: 1.0, max_lod: 1.5, ..smooth }, 4.0 / 16.0), [1.5, 3.0]);
}

#[test]
fn directions_have_derivatives_on_their_face() {
    let mut cube = levelled(16, 6, 5, |level, _, _| level as f32);
    let mut lod = |direction: [f32; 3], change: [f32; 3]| {
        let operand = ImageOperand { sampling: DERIVATIVES, ..operand(ImageDim::Cube, false, Scalar::F32) };
        let floats = [direction, change, [0.0; 3]].concat();
        results(&mut cube, NEAREST, OpKind::ImageQueryLod(operand), 2, &floats)[1]
    };
    // The face is two wide: a step of 1/2 is a quarter of it, four texels.
    for axis in 0..3 {
        for sign in [1.0, -1.0] {
            let (mut direction, mut change) = ([0.0; 3], [0.0; 3]);
            (direction[axis], change[(axis + 1) % 3]) = (sign, 0.5);
            assert_eq!(lod(direction, change), 2.0, "{axis} {sign}");
            // Along the direction nothing changes, beside it as much as it leans.
            (change[(axis + 1) % 3], change[axis]) = (0.0, 0.5);
            assert_eq!(lod(direction, change), f32::NEG_INFINITY);
            direction[(axis + 2) % 3] = 0.5;
            assert_eq!(lod(direction, change), 1.0);
        }
    }
}

/// *Texel Anisotropic Filtering*, by isotropic samples of the level that it names.
#[test]
fn anisotropy_averages_along_the_longer_derivative() {
    let mut image = levelled(16, 1, 5, |level, x, y| (100 * level + x * x + 3 * y * y % 7) as f32);
    let (u, v) = (0.53, 0.41);
    let clamped = Sampler { address: [2; 3], ..LINEAR };
    for (along, across, most, samples, level) in [
        (8.0, 1.0, 16.0, 8, 0.0f32),
        (8.0, 1.0, 4.0, 4, 1.0),
        (6.0, 1.0, 4.0, 4, 1.5f32.log2()),
        (8.0, 0.0, 16.0, 16, -1.0),
        (5.0, 2.0, 16.0, 3, 1.0),
        (8.0, 8.0, 16.0, 1, 3.0),
        (8.0, 1.0, 1.0, 1, 3.0),
        (0.0, 0.0, 16.0, 1, -100.0),
        (8.0, 1.0, 64.0, 8, 0.0),
    ] {
        for y_is_longer in [false, true] {
            let step = along / 16.0;
            let (mut derivatives, direction) = ([step, 0.0, 0.0, across / 16.0], [step, 0.0]);
            let mut direction = direction;
            if y_is_longer {
                derivatives = [across / 16.0, 0.0, 0.0, step];
                direction = [0.0, step];
            }
            let sampler = Sampler { max_anisotropy: most, ..clamped };
            let floats = [&[u, v][..], &derivatives].concat();
            let found = red(&mut image, sampler, DERIVATIVES, &floats);
            let mut expected = 0.0;
            for i in 1..=samples {
                let shift = if samples == 1 { 0.0 } else { i as f32 / (samples + 1) as f32 - 0.5 };
                let at = [u + direction[0] * shift, v + direction[1] * shift, level];
                expected += red(&mut image, clamped, ImageSampling::default(), &at) / samples as f32;
            }
            assert!(
                (found - expected).abs() <= 1e-3 * expected.abs().max(1.0),
                "{along} {across} {most} {y_is_longer}: {found} and not {expected}"
            );
        }
    }
}
