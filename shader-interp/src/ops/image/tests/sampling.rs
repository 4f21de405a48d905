//! Sampling with explicit level of detail.

use super::*;

/// A float image of these texels, one after the other, all levels and layers.
fn float_image(extent: [u32; 3], layers: u32, levels: u32, texels: &[f32]) -> (Bytes<false>, ImageView) {
    let mut memory = Bytes::<false>::new(texels.len() * 4);
    for (at, texel) in texels.iter().enumerate() {
        memory.set_word(4 * at, 4, texel.to_bits() as u64);
    }
    let view = image(memory.range(), info("R32_SFLOAT"), extent, layers, levels, 1);
    assert_eq!(view.layer_pitch * layers, texels.len() as u32 * 4);
    (memory, view)
}

/// Red of a sample at these coordinates.
fn sample(
    (memory, view): &mut (Bytes<false>, ImageView),
    dim: ImageDim,
    arrayed: bool,
    sampler: Sampler,
    arguments: &[f32],
) -> f32 {
    let image = operand(dim, arrayed, Scalar::F32);
    let sample = instruction(OpKind::ImageSample { image, access: ACCESS }, 4);
    let arguments: Vec<Lanes> = arguments.iter().map(|argument| lanes(|_| argument.to_bits())).collect();
    let out = run(&sample, memory, &one(Descriptor::ImageSampler(view.clone(), sampler)), 1 << 7, &arguments);
    assert_eq!(f32::from_bits(out[3].0[7]), 1.0, "alpha");
    f32::from_bits(out[0].0[7])
}

#[test]
fn nearest_takes_the_texel_that_holds_the_coordinate() {
    let mut image = float_image([4, 2, 1], 1, 1, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    for n in 0..8 {
        let (x, y) = (n % 4, n / 4);
        let at = [(x as f32 + 0.3) / 4.0, (y as f32 + 0.9) / 2.0, 0.0];
        assert_eq!(sample(&mut image, ImageDim::D2, false, NEAREST, &at), n as f32);
    }
}

#[test]
fn address_modes_wrap_as_specified() {
    let mut image = float_image([4, 1, 1], 1, 1, &[0.0, 1.0, 2.0, 3.0]);
    let border = 9.0f32.to_bits();
    // Texels -6 to 9.
    let expected: [[i32; 16]; 5] = [
        [2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1],
        [2, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3],
        [9, 9, 9, 9, 9, 9, 0, 1, 2, 3, 9, 9, 9, 9, 9, 9],
        [3, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3],
    ];
    for (mode, row) in expected.iter().enumerate() {
        let sampler = Sampler { address: [mode as i32; 3], border: [border; 4], ..NEAREST };
        for (k, texel) in row.iter().enumerate() {
            let at = (k as f32 - 6.0 + 0.5) / 4.0;
            assert_eq!(
                sample(&mut image, ImageDim::D1, false, sampler, &[at, 0.0]),
                *texel as f32,
                "mode {mode} at {k}"
            );
        }
    }
}

#[test]
fn linear_filtering_weighs_neighbours() {
    let mut image = float_image([2, 2, 1], 1, 1, &[0.0, 4.0, 8.0, 16.0]);
    let clamp = Sampler { address: [2; 3], ..LINEAR };
    let d2 =
        |image: &mut _, sampler, x: f32, y: f32| sample(image, ImageDim::D2, false, sampler, &[x, y, 0.0]);
    assert_eq!(d2(&mut image, clamp, 0.5, 0.5), 7.0);
    assert_eq!(d2(&mut image, clamp, 0.25, 0.25), 0.0);
    assert_eq!(d2(&mut image, clamp, 0.375, 0.25), 1.0);
    assert_eq!(d2(&mut image, clamp, 0.0, 0.0), 0.0);
    assert_eq!(d2(&mut image, clamp, 0.75, 0.625), 4.0 + 0.75 * 12.0);
    // Repeated, the texel to the left of the first is the last of the row.
    assert_eq!(d2(&mut image, LINEAR, 0.0, 0.25), 2.0);
    let border = Sampler { address: [3; 3], border: [10.0f32.to_bits(); 4], ..LINEAR };
    assert_eq!(d2(&mut image, border, 0.0, 0.25), 5.0);
    let mut volume = float_image([2, 2, 2], 1, 1, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(sample(&mut volume, ImageDim::D3, false, clamp, &[0.5, 0.5, 0.5, 0.0]), 3.5);
    assert_eq!(sample(&mut volume, ImageDim::D3, false, clamp, &[0.25, 0.5, 0.75, 0.0]), 5.0);
}

#[test]
fn reductions_take_the_least_or_greatest_of_what_has_a_weight() {
    let mut image = float_image([2, 2, 1], 1, 1, &[0.0, 4.0, 8.0, -16.0]);
    let border = [10.0f32.to_bits(); 4];
    let [least, greatest] = [Reduction::Min, Reduction::Max].map(|reduction| Sampler {
        address: [3; 3],
        border,
        reduction,
        ..LINEAR
    });
    let d2 =
        |image: &mut _, sampler, x: f32, y: f32| sample(image, ImageDim::D2, false, sampler, &[x, y, 0.0]);
    // All four; two of a row; one, whose neighbours have no weight; one and the border.
    assert_eq!([least, greatest].map(|s| d2(&mut image, s, 0.5, 0.6)), [-16.0, 8.0]);
    assert_eq!([least, greatest].map(|s| d2(&mut image, s, 0.5, 0.25)), [0.0, 4.0]);
    assert_eq!([least, greatest].map(|s| d2(&mut image, s, 0.75, 0.25)), [4.0, 4.0]);
    assert_eq!([least, greatest].map(|s| d2(&mut image, s, 0.1, 0.25)), [0.0, 10.0]);
    // Nearest: one texel.
    let nearest = |s: Sampler| Sampler { mag_linear: false, min_linear: false, ..s };
    assert_eq!([least, greatest].map(|s| d2(&mut image, nearest(s), 0.4, 0.6)), [8.0, 8.0]);
    // Between levels of 4, 2 and 1 texels.
    let mut levels = float_image([4, 1, 1], 1, 3, &[1.0, 9.0, 3.0, 4.0, 20.0, 7.0, 30.0]);
    let at = |image: &mut _, s: Sampler, lod: f32| {
        sample(image, ImageDim::D1, false, Sampler { mip_linear: true, address: [2; 3], ..s }, &[0.5, lod])
    };
    assert_eq!([least, greatest].map(|s| at(&mut levels, s, 0.0)), [3.0, 9.0]);
    assert_eq!([least, greatest].map(|s| at(&mut levels, s, 0.5)), [3.0, 20.0]);
    assert_eq!([least, greatest].map(|s| at(&mut levels, s, 1.5)), [7.0, 30.0]);
}

#[test]
fn texels_without_weight_are_not_touched() {
    let mut image = float_image([4, 4, 1], 1, 1, &[1.0; 16]);
    sample(&mut image, ImageDim::D2, false, LINEAR, &[0.125, 0.125, 0.0]);
    assert_eq!(image.0.accesses.len(), 1);
    sample(&mut image, ImageDim::D2, false, LINEAR, &[0.2, 0.125, 0.0]);
    assert_eq!(image.0.accesses.len(), 3);
    // A NaN next door does not matter.
    image.0.set_word(4, 4, f32::NAN.to_bits() as u64);
    assert_eq!(sample(&mut image, ImageDim::D2, false, LINEAR, &[0.125, 0.125, 0.0]), 1.0);
}

#[test]
fn levels_are_selected_and_blended() {
    // 4, 2 and 1 texels with values 10, 20, 30.
    let mut image = float_image([4, 1, 1], 1, 3, &[10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 30.0]);
    let at = |image: &mut _, sampler, lod: f32| sample(image, ImageDim::D1, false, sampler, &[0.6, lod]);
    for (lod, nearest, linear) in [
        (-3.0, 10.0, 10.0),
        (0.0, 10.0, 10.0),
        (0.25, 10.0, 12.5),
        (0.5, 10.0, 15.0),
        (0.75, 20.0, 17.5),
        (1.5, 20.0, 25.0),
        (2.0, 30.0, 30.0),
        (9.0, 30.0, 30.0),
    ] {
        assert_eq!(at(&mut image, NEAREST, lod), nearest, "lod {lod}");
        assert_eq!(at(&mut image, Sampler { mip_linear: true, ..LINEAR }, lod), linear, "lod {lod}");
    }
    let biased = Sampler { lod_bias: 1.0, ..NEAREST };
    assert_eq!(at(&mut image, biased, 0.0), 20.0);
    let limited = Sampler { max_lod: 0.25, ..NEAREST };
    assert_eq!(at(&mut image, limited, 2.0), 10.0);
    let raised = Sampler { min_lod: 2.0, ..NEAREST };
    assert_eq!(at(&mut image, raised, 0.0), 30.0);
}

#[test]
fn magnification_and_minification_have_their_own_filter() {
    let mut image = float_image([2, 1, 1], 1, 2, &[0.0, 8.0, 5.0]);
    let sampler = Sampler { mag_linear: true, min_linear: false, address: [2; 3], ..LINEAR };
    assert_eq!(sample(&mut image, ImageDim::D1, false, sampler, &[0.4375, 0.0]), 3.0);
    assert_eq!(sample(&mut image, ImageDim::D1, false, sampler, &[0.4375, 0.25]), 0.0);
}

#[test]
fn layers_are_rounded_and_clamped() {
    let mut image = float_image([1, 1, 1], 4, 1, &[0.0, 1.0, 2.0, 3.0]);
    for (layer, expected) in [(-5.0, 0.0), (0.5, 0.0), (1.5, 2.0), (2.4, 2.0), (9.0, 3.0)] {
        assert_eq!(sample(&mut image, ImageDim::D2, true, NEAREST, &[0.5, 0.5, layer, 0.0]), expected);
    }
}

#[test]
fn unnormalized_coordinates_count_texels() {
    let mut image = float_image([4, 1, 1], 1, 1, &[0.0, 1.0, 2.0, 3.0]);
    let sampler = Sampler { unnormalized: true, address: [2; 3], ..LINEAR };
    assert_eq!(sample(&mut image, ImageDim::D1, false, sampler, &[2.0, 0.0]), 1.5);
    assert_eq!(
        sample(&mut image, ImageDim::D1, false, Sampler { mag_linear: false, ..sampler }, &[2.0, 0.0]),
        2.0
    );
}

#[test]
fn directions_select_faces_of_a_cube() {
    let faces: Vec<f32> = (0..12).map(|face| face as f32).collect();
    let mut image = float_image([1, 1, 1], 12, 1, &faces);
    let axes = [
        [1.0, 0.1, 0.2],
        [-1.0, 0.1, 0.2],
        [0.1, 1.0, 0.2],
        [0.1, -1.0, 0.2],
        [0.1, 0.2, 1.0],
        [0.1, 0.2, -1.0],
    ];
    for (face, [x, y, z]) in axes.into_iter().enumerate() {
        assert_eq!(sample(&mut image, ImageDim::Cube, false, NEAREST, &[x, y, z, 0.0]), face as f32);
        assert_eq!(
            sample(&mut image, ImageDim::Cube, true, NEAREST, &[x, y, z, 1.0, 0.0]),
            face as f32 + 6.0
        );
    }
    // The face's own coordinates: +X has s = -z, t = -y.
    let texels: Vec<f32> = (0..24).map(|texel| texel as f32).collect();
    let mut image = float_image([2, 2, 1], 6, 1, &texels);
    assert_eq!(sample(&mut image, ImageDim::Cube, false, NEAREST, &[1.0, 0.5, 0.5, 0.0]), 0.0);
    assert_eq!(sample(&mut image, ImageDim::Cube, false, NEAREST, &[1.0, 0.5, -0.5, 0.0]), 1.0);
    assert_eq!(sample(&mut image, ImageDim::Cube, false, NEAREST, &[1.0, -0.5, 0.5, 0.0]), 2.0);
}

#[test]
fn cube_edges_have_no_seam() {
    // Texels whose value is the direction of their middle, linearly: a seamless lookup is close to it
    // everywhere.
    let size = 8u32;
    let mut texels = Vec::new();
    let value = |r: [f32; 3]| {
        let length = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
        (r[0] + 2.0 * r[1] - 3.0 * r[2]) / length
    };
    for face in 0..6 {
        for y in 0..size {
            for x in 0..size {
                let s = (2 * x + 1) as f32 / size as f32 - 1.0;
                let t = (2 * y + 1) as f32 / size as f32 - 1.0;
                texels.push(value(match face {
                    0 => [1.0, -t, -s],
                    1 => [-1.0, -t, s],
                    2 => [s, 1.0, t],
                    3 => [s, -1.0, -t],
                    4 => [s, -t, 1.0],
                    _ => [-s, -t, -1.0],
                }));
            }
        }
    }
    let mut image = float_image([size, size, 1], 6, 1, &texels);
    for k in 0..4000u64 {
        let part =
            |n: u64| ((k * 3 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 23) as f32 - 1.0;
        let mut r = [part(0), part(1), part(2)];
        // Every other direction close to an edge or a corner.
        if k % 2 == 0 {
            r[1] = r[0] * (1.0 + part(1) * 0.05) * part(1).signum();
        }
        if k % 4 == 0 {
            r[2] = r[0] * (1.0 + part(2) * 0.05) * part(2).signum();
        }
        let got = sample(&mut image, ImageDim::Cube, false, LINEAR, &[r[0], r[1], r[2], 0.0]);
        assert!((got - value(r)).abs() < 0.2, "{r:?}: {got}, not {}", value(r));
    }
    let mut one_color = float_image([2, 2, 1], 6, 1, &[0.75; 24]);
    let corner = sample(&mut one_color, ImageDim::Cube, false, LINEAR, &[1.0, 0.999, 0.998, 0.0]);
    assert_eq!(corner, 0.75);
}

#[test]
fn a_face_of_a_cube_is_an_image_of_its_own_where_the_sampler_says_so() {
    let texels: Vec<f32> = (0..54).map(|texel| (texel * texel % 17) as f32).collect();
    let mut cube = float_image([3, 3, 1], 6, 1, &texels);
    let mut face = float_image([3, 3, 1], 1, 1, &texels[..9]);
    for mode in 0..4 {
        for smooth in [NEAREST, LINEAR] {
            let sampler =
                Sampler { address: [mode; 3], border: [100f32.to_bits(); 4], non_seamless: true, ..smooth };
            for k in 0..100 {
                let [s, t] = [k % 10, k / 10].map(|k| (k as f32 + 0.5) / 10.0);
                // +X: s goes along -z, t along -y.
                let r = [1.0, 1.0 - 2.0 * t, 1.0 - 2.0 * s];
                let got = sample(&mut cube, ImageDim::Cube, false, sampler, &[r[0], r[1], r[2], 0.0]);
                let [s, t] = [r[2], r[1]].map(|axis| 0.5 * (-axis + 1.0));
                let expected = sample(&mut face, ImageDim::D2, false, sampler, &[s, t, 0.0]);
                assert_eq!(got, expected, "address mode {mode}, {s}, {t}");
            }
        }
    }
}

#[test]
fn the_border_is_swizzled_as_texels_are() {
    let memory = Bytes::<false>::new(16);
    let mut view = image(memory.range(), info("R32G32B32A32_SFLOAT"), [1, 1, 1], 1, 1, 1);
    view.swizzle = [6, 3, 2, 4];
    let sampler = Sampler { address: [3; 3], border: [0.25f32, 0.5, 0.75, 1.0].map(f32::to_bits), ..NEAREST };
    let out = variant(&mut (memory, view), sampler, ImageSampling::default(), &[5.0, 0.5, 0.0], &[]);
    // A, R, one, and G of the border.
    assert_eq!(out, [1.0, 0.25, 1.0, 0.5]);
}

#[test]
fn separate_samplers_and_integers() {
    let mut memory = Bytes::<false>::new(4);
    memory.bytes.copy_from_slice(&[1, 2, 3, 200]);
    let view = image(memory.range(), info("R8_SINT"), [4, 1, 1], 1, 1, 1);
    let image =
        ImageOperand { sampler: Some((1, None)), signed: true, ..operand(ImageDim::D1, false, Scalar::I32) };
    let border = [7, 7, 7, 7];
    let sampler = Descriptor::Sampler(Sampler { address: [3; 3], border, ..NEAREST });
    let resources =
        Resources { bindings: vec![vec![Descriptor::Image(view)], vec![sampler]], ..Resources::default() };
    let sample = instruction(OpKind::ImageSample { image, access: ACCESS }, 4);
    let at = lanes(|lane| ((lane as f32 + 0.5) / 4.0).to_bits());
    let out = run(&sample, &mut memory, &resources, 0b11111, &[at, Lanes::ZERO]);
    assert_eq!(out[0].0[..5].iter().map(|&x| x as i32).collect::<Vec<_>>(), [1, 2, 3, -56, 7]);
    assert_eq!([out[1].0[4], out[3].0[4]], [0, 1], "the format has red only");
}

/// Results of a sampling variant on red in all four components, for one lane.
fn variant(
    (memory, view): &mut (Bytes<false>, ImageView),
    sampler: Sampler,
    sampling: ImageSampling,
    floats: &[f32],
    offsets: &[i32],
) -> [f32; 4] {
    let image = ImageOperand { sampling, ..operand(ImageDim::D2, false, Scalar::F32) };
    let sample = instruction(OpKind::ImageSample { image, access: ACCESS }, 4);
    let mut arguments: Vec<Lanes> = floats.iter().map(|argument| lanes(|_| argument.to_bits())).collect();
    arguments.extend(offsets.iter().map(|&offset| lanes(|_| offset as u32)));
    let out = run(&sample, memory, &one(Descriptor::ImageSampler(view.clone(), sampler)), 1 << 3, &arguments);
    std::array::from_fn(|k| f32::from_bits(out[k].0[3]))
}

#[test]
fn offsets_move_by_texels() {
    let texels: Vec<f32> = (0..16).map(|texel| texel as f32).collect();
    let mut image = float_image([4, 4, 1], 1, 1, &texels);
    let moved = ImageSampling { offsets: 1, ..ImageSampling::default() };
    let at = [0.375, 0.375, 0.0];
    assert_eq!(variant(&mut image, NEAREST, moved, &at, &[0, 0])[0], 5.0);
    assert_eq!(variant(&mut image, NEAREST, moved, &at, &[1, 2])[0], 14.0);
    assert_eq!(variant(&mut image, NEAREST, moved, &at, &[-2, 0])[0], 7.0, "repeated");
    let at = [0.5, 0.375, 0.0];
    assert_eq!(variant(&mut image, LINEAR, moved, &at, &[0, 1])[0], 9.5);
}

#[test]
fn gathers_take_four_texels() {
    let texels: Vec<f32> = (0..16).map(|texel| texel as f32).collect();
    let mut image = float_image([4, 4, 1], 1, 1, &texels);
    let gather = ImageSampling { gather: Some(0), ..ImageSampling::default() };
    let at = [0.5, 0.5, 0.0];
    assert_eq!(variant(&mut image, NEAREST, gather, &at, &[]), [9.0, 10.0, 6.0, 5.0]);
    let alpha = ImageSampling { gather: Some(3), ..gather };
    assert_eq!(variant(&mut image, NEAREST, alpha, &at, &[]), [1.0; 4]);
    let moved = ImageSampling { offsets: 1, ..gather };
    assert_eq!(variant(&mut image, NEAREST, moved, &at, &[1, 0]), [10.0, 11.0, 7.0, 6.0]);
    let each = ImageSampling { offsets: 4, ..gather };
    assert_eq!(variant(&mut image, NEAREST, each, &at, &[0, 0, 1, 1, -1, 0, 0, 2]), [5.0, 10.0, 4.0, 13.0]);
}

#[test]
fn depths_are_compared_before_filtering() {
    let mut image = float_image([2, 2, 1], 1, 1, &[0.1, 0.4, 0.6, 0.9]);
    let reference = ImageSampling { reference: true, ..ImageSampling::default() };
    let clamp = |compare| Sampler { compare: Some(compare), address: [2; 3], ..LINEAR };
    // The reference is less than three of four texels.
    assert_eq!(variant(&mut image, clamp(1), reference, &[0.5, 0.5, 0.3, 0.0], &[]), [0.75; 4]);
    assert_eq!(variant(&mut image, clamp(4), reference, &[0.5, 0.5, 0.3, 0.0], &[]), [0.25; 4]);
    assert_eq!(variant(&mut image, clamp(3), reference, &[0.25, 0.25, 0.1, 0.0], &[]), [1.0; 4]);
    assert_eq!(variant(&mut image, clamp(7), reference, &[0.5, 0.5, 9.0, 0.0], &[]), [1.0; 4]);
    assert_eq!(variant(&mut image, clamp(0), reference, &[0.5, 0.5, 0.0, 0.0], &[]), [0.0; 4]);
    let gather = ImageSampling { gather: Some(0), ..reference };
    assert_eq!(variant(&mut image, clamp(1), gather, &[0.5, 0.5, 0.5, 0.0], &[]), [1.0, 1.0, 0.0, 0.0]);
}

/// A compressed image of bytes without order, and the same texels in floats.
fn compressed_and_not(
    compressed: &FormatInfo,
    extent: [u32; 3],
    layers: u32,
    levels: u32,
) -> [(Bytes<false>, ImageView); 2] {
    let floats = info("R32G32B32A32_SFLOAT");
    let pair = [compressed, floats].map(|info| {
        let mut memory = Bytes::<false>::new(1 << 16);
        for at in 0..memory.bytes.len() / 4 {
            memory.set_word(4 * at, 4, (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32);
        }
        let view = image(memory.range(), info, extent, layers, levels, 1);
        (memory, view)
    });
    let [(from, blocks), (mut to, plain)] = pair;
    for level in 0..levels as usize {
        let [width, height, depth] = extent.map(|size| (size >> level).max(1));
        for (layer, z) in (0..layers).flat_map(|layer| (0..depth).map(move |z| (layer, z))) {
            for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                let place = |view: &ImageView, x: u32, y: u32, bytes: u8| {
                    view.level_offsets[level]
                        + layer * view.layer_pitch
                        + z * view.level_slice_pitch[level]
                        + y * view.level_row_pitch[level]
                        + x * u32::from(bytes)
                };
                let at = place(&blocks, x / 4, y / 4, compressed.texel_bytes) as usize;
                let block = &from.bytes[at..at + usize::from(compressed.texel_bytes)];
                let texel = compressed.decode(block, y % 4 * 4 + x % 4);
                let at = place(&plain, x, y, floats.texel_bytes) as usize;
                for (k, word) in texel.into_iter().enumerate() {
                    to.set_word(at + 4 * k, 4, u64::from(word));
                }
            }
        }
    }
    [(from, blocks), (to, plain)]
}

/// Extents that no block divides, levels that are less than a block, layers, depth, faces.
#[test]
fn a_compressed_image_is_sampled_as_the_image_of_its_texels_is() {
    let coordinate = |n: usize, axis: usize| {
        let spread = (n * 37 + axis * 11) % 64;
        spread as f32 / 20.0 - 1.1
    };
    let kinds = [
        (ImageDim::D2, false, [11, 7, 1], 1),
        (ImageDim::D2, true, [11, 7, 1], 3),
        (ImageDim::D3, false, [6, 9, 5], 1),
        (ImageDim::Cube, false, [7, 7, 1], 6),
    ];
    let border = 0.25f32.to_bits();
    for info in format::FORMATS.iter().filter(|info| info.compression.is_some()) {
        for (dim, arrayed, extent, layers) in kinds {
            let mut pair = compressed_and_not(info, extent, layers, 3);
            for mode in 0..5 {
                for linear in [false, true] {
                    let sampler = Sampler {
                        mag_linear: linear,
                        min_linear: linear,
                        mip_linear: linear,
                        address: [mode; 3],
                        border: [border; 4],
                        max_lod: 4.0,
                        ..NEAREST
                    };
                    let image = operand(dim, arrayed, Scalar::F32);
                    let sample = instruction(OpKind::ImageSample { image, access: ACCESS }, 4);
                    let mut arguments: Vec<Lanes> =
                        (0..4).map(|k| lanes(|lane| coordinate(lane, k).to_bits())).collect();
                    arguments.truncate(if dim == ImageDim::D2 && !arrayed { 2 } else { 3 });
                    arguments.push(lanes(|lane| (lane as f32 / 10.0).to_bits()));
                    let [compressed, plain] = pair.each_mut().map(|(memory, view)| {
                        let resources = one(Descriptor::ImageSampler(view.clone(), sampler));
                        run(&sample, memory, &resources, Mask::MAX, &arguments)
                    });
                    // A border has no alpha where the format lacks it.
                    let components = if mode == 3 { usize::from(info.components) } else { 4 };
                    let what = (info.name, dim, mode, linear);
                    assert_eq!(compressed[..components], plain[..components], "{what:?}");
                }
            }
            if dim == ImageDim::Cube {
                continue;
            }
            let image = operand(dim, arrayed, Scalar::F32);
            let fetch = instruction(OpKind::ImageFetch { image, access: ACCESS }, 4);
            let mut arguments: Vec<Lanes> = (0..3).map(|k| lanes(|lane| (lane as u32 * 5 + k) % 8)).collect();
            arguments.truncate(if dim == ImageDim::D2 && !arrayed { 2 } else { 3 });
            arguments.push(lanes(|lane| lane as u32 % 3));
            let [compressed, plain] = pair.each_mut().map(|(memory, view)| {
                run(&fetch, memory, &one(Descriptor::Image(view.clone())), Mask::MAX, &arguments)
            });
            let exists = |lane: usize| plain[3].0[lane] != 0 || info.components == 4;
            for lane in (0..LANES).filter(|lane| exists(*lane)) {
                for k in 0..4 {
                    assert_eq!(compressed[k].0[lane], plain[k].0[lane], "{} {dim:?} {lane} {k}", info.name);
                }
            }
        }
    }
}
