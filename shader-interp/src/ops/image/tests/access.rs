//! Reads, writes, fetches, atomics and queries.

use super::*;
use crate::math::format::{FORMATS, feature};
use crate::ops::image::texel;

#[test]
fn lanes_are_converted_like_single_texels() {
    for info in FORMATS.iter().filter(|info| !info.is_64_bit() && info.compression.is_none()) {
        for round in 0..20u64 {
            let words: [Lanes; 4] = std::array::from_fn(|k| {
                lanes(|lane| {
                    let number = (round * 4 + k as u64) * LANES as u64 + lane as u64 + 1;
                    let bits = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 31) as u32;
                    if info.texel_bytes < 4 { bits & ((1 << (8 * info.texel_bytes)) - 1) } else { bits }
                })
            });
            let mut components = [Lanes::ZERO; 4];
            for k in 0..4 {
                texel::decode(info, &words, k, &mut components[k]);
            }
            let mut encoded = [Lanes::ZERO; 4];
            texel::encode(info, &components.each_ref(), &mut encoded);
            for lane in 0..LANES {
                let texel = words.map(|word| word.0[lane]);
                let expected = info.decode_words(texel);
                assert_eq!(components.map(|c| c.0[lane]), expected, "{}", info.name);
                assert_eq!(encoded.map(|c| c.0[lane]), info.encode_words(expected), "{}", info.name);
            }
        }
    }
}

/// Shapes: dimensionality, arrayed, extent, layers, samples.
const SHAPES: &[(ImageDim, bool, [u32; 3], u32, u32)] = &[
    (ImageDim::D1, false, [32, 1, 1], 1, 1),
    (ImageDim::D1, true, [8, 1, 1], 4, 1),
    (ImageDim::D2, false, [8, 4, 1], 1, 1),
    (ImageDim::D2, true, [4, 2, 1], 4, 1),
    (ImageDim::D2, false, [4, 2, 1], 1, 4),
    (ImageDim::D2, true, [2, 2, 1], 2, 4),
    (ImageDim::D3, false, [4, 4, 2], 1, 1),
    (ImageDim::Cube, false, [2, 2, 1], 6, 1),
    (ImageDim::Cube, true, [1, 2, 1], 12, 1),
    (ImageDim::Buffer, false, [32, 1, 1], 1, 1),
];

/// Coordinates of texel `n` of a shape, in the order of storage image instructions, and its place among all
/// texels.
fn coordinates(shape: &(ImageDim, bool, [u32; 3], u32, u32), n: u32) -> Vec<u32> {
    let &(dim, arrayed, extent, layers, samples) = shape;
    let axes = match dim {
        ImageDim::D1 | ImageDim::Buffer => 1,
        ImageDim::D2 | ImageDim::Cube => 2,
        ImageDim::D3 => 3,
    };
    // Samples are innermost in memory, layers outermost.
    let (mut rest, sample) = (n / samples, n % samples);
    let mut all = Vec::new();
    for size in extent.iter().take(axes) {
        all.push(rest % size);
        rest /= size;
    }
    if arrayed || dim == ImageDim::Cube {
        all.push(rest % layers);
    }
    if samples > 1 {
        all.push(sample);
    }
    all
}

fn descriptor(
    memory: MemoryRange,
    info: &FormatInfo,
    shape: &(ImageDim, bool, [u32; 3], u32, u32),
) -> Descriptor {
    let &(dim, _, extent, layers, samples) = shape;
    if dim == ImageDim::Buffer {
        return Descriptor::TexelBuffer(memory, info.format, extent[0]);
    }
    Descriptor::Image(image(memory, info, extent, layers, 1, samples))
}

#[test]
fn what_is_written_is_read_in_every_shape_and_storage_format() {
    for shape in SHAPES {
        let &(dim, arrayed, extent, layers, samples) = shape;
        let total = extent.iter().product::<u32>() * layers * samples;
        for info in FORMATS.iter().filter(|info| info.image_features & feature::STORAGE_IMAGE != 0) {
            let mut memory = Bytes::<false>::new((total * info.texel_bytes as u32) as usize);
            let resources = one(descriptor(memory.range(), info, shape));
            let texel = if info.is_64_bit() { Scalar::I64 } else { Scalar::I32 };
            let image = ImageOperand { multisampled: samples > 1, ..operand(dim, arrayed, texel) };
            let count = coordinates(shape, 0).len();
            let place: Vec<Lanes> =
                (0..count).map(|k| lanes(|lane| coordinates(shape, lane as u32 % total)[k])).collect();
            // A texel's bytes are its number.
            let texel_of = |lane: usize| {
                let mut bytes = [0u8; 16];
                bytes[0] = lane as u8 + 1;
                bytes[info.texel_bytes as usize - 1] ^= 0x20;
                info.decode(&bytes, 0)
            };
            let mut arguments = place.clone();
            for k in 0..4 {
                if info.is_64_bit() {
                    arguments.push(lanes(|lane| if k == 0 { texel_of(lane)[0] } else { 0 }));
                    arguments.push(lanes(|lane| if k == 0 { texel_of(lane)[1] } else { 0 }));
                } else {
                    arguments.push(lanes(|lane| texel_of(lane)[k]));
                }
            }
            let mask = if total >= 32 { Mask::MAX } else { (1 << total) - 1 };
            let write = instruction(OpKind::ImageWrite { image, access: ACCESS }, 0);
            run(&write, &mut memory, &resources, mask, &arguments);
            for lane in 0..total.min(32) as usize {
                let at = lane * info.texel_bytes as usize;
                let expected = info.encode(texel_of(lane));
                let bytes = &memory.bytes[at..at + info.texel_bytes as usize];
                assert_eq!(bytes, &expected[..bytes.len()], "{} {shape:?} texel {lane}", info.name);
            }
            let read = instruction(OpKind::ImageRead { image, access: ACCESS }, 4);
            let out = run(&read, &mut memory, &resources, mask, &place);
            for lane in 0..total.min(32) as usize {
                let expected = texel_of(lane);
                if info.is_64_bit() {
                    let got: Vec<u32> = out.iter().map(|register| register.0[lane]).collect();
                    assert_eq!(got, [expected[0], expected[1], 0, 0, 0, 0, 1, 0], "{} {shape:?}", info.name);
                } else {
                    let got = [out[0].0[lane], out[1].0[lane], out[2].0[lane], out[3].0[lane]];
                    assert_eq!(got, expected, "{} {shape:?}", info.name);
                }
            }
        }
    }
}

#[test]
fn every_texel_buffer_is_fetched_as_its_texels_decode() {
    let fetched = |info: &&FormatInfo| info.buffer_features & feature::UNIFORM_TEXEL_BUFFER != 0;
    for info in FORMATS.iter().filter(fetched).filter(|info| !info.is_64_bit()) {
        let texel = usize::from(info.texel_bytes);
        let mut memory = Bytes::<false>::new(32 * texel);
        for (at, byte) in memory.bytes.iter_mut().enumerate() {
            *byte = ((at as u32 + 3).wrapping_mul(0x9e37_79b9) >> 24) as u8;
        }
        let resources = one(Descriptor::TexelBuffer(memory.range(), info.format, 31));
        let image = operand(ImageDim::Buffer, false, Scalar::F32);
        let fetch = instruction(OpKind::ImageFetch { image, access: ACCESS }, 4);
        let out = run(&fetch, &mut memory, &resources, Mask::MAX, &[lanes(|lane| lane as u32)]);
        for lane in 0..LANES {
            let expected = match lane {
                31 => std::array::from_fn(|k| if info.fields[k].width > 0 { 0 } else { info.missing(k) }),
                _ => info.decode(&memory.bytes[lane * texel..][..texel], 0),
            };
            for k in 0..4 {
                assert_eq!(out[k].0[lane], expected[k], "{} lane {lane} component {k}", info.name);
            }
        }
    }
}

#[test]
fn a_texel_is_one_access_of_its_words() {
    let expected = [
        ("R8_UNORM", 1, 1),
        ("R8G8B8A8_UNORM", 4, 1),
        ("R16G16B16A16_SFLOAT", 4, 2),
        ("R32G32B32A32_UINT", 4, 4),
        ("R64_UINT", 8, 1),
    ];
    for (name, size, components) in expected {
        let mut memory = Bytes::<false>::new(512);
        let view = image(memory.range(), info(name), [32, 1, 1], 1, 1, 1);
        let image = operand(ImageDim::D1, false, if name == "R64_UINT" { Scalar::I64 } else { Scalar::F32 });
        let access = Access { non_private: true, visible: Some(Scope::Device), ..ACCESS };
        let read = instruction(OpKind::ImageRead { image, access }, 4);
        run(&read, &mut memory, &one(Descriptor::Image(view)), Mask::MAX, &[lanes(|lane| lane as u32)]);
        let (seen, mask, _) = memory.accesses[0];
        assert_eq!((seen.size, seen.components, memory.accesses.len()), (size, components, 1), "{name}");
        assert_eq!((seen.non_private, seen.visible, mask), (true, Some(Scope::Device), Mask::MAX));
    }
}

#[test]
fn out_of_bounds_reads_are_zero_and_writes_nothing() {
    let mut memory = Bytes::<false>::new(64);
    memory.bytes.fill(0x11);
    let r8 = info("R8_UINT");
    let resources = one(Descriptor::Image(image(memory.range(), r8, [4, 4, 1], 1, 1, 1)));
    let image = operand(ImageDim::D2, false, Scalar::I32);
    // x from -8 to 23: 4 lanes are inside.
    let place = [lanes(|lane| (lane as i32 - 8) as u32), lanes(|_| 1)];
    let read = instruction(OpKind::ImageRead { image, access: ACCESS }, 4);
    let out = run(&read, &mut memory, &resources, Mask::MAX, &place);
    for lane in 0..LANES {
        let expected = if (8..12).contains(&lane) { 0x11 } else { 0 };
        assert_eq!(out.iter().map(|r| r.0[lane]).collect::<Vec<_>>(), [expected, 0, 0, 1]);
    }
    let write = instruction(OpKind::ImageWrite { image, access: ACCESS }, 0);
    let value = lanes(|lane| lane as u32);
    let arguments = [place[0], place[1], value, value, value, value];
    run(&write, &mut memory, &resources, Mask::MAX, &arguments);
    let changed: Vec<usize> = (0..64).filter(|&at| memory.bytes[at] != 0x11).collect();
    assert_eq!(changed, [4, 5, 6, 7]);
    assert_eq!(memory.bytes[4..8], [8, 9, 10, 11]);
    assert!(memory.accesses.iter().all(|(_, mask, _)| *mask == 0x0f00));
}

#[test]
fn the_modelled_memory_hears_of_out_of_bounds_texels() {
    let mut memory = Bytes::<true>::new(64);
    memory.bytes.fill(0x11);
    let resources = one(Descriptor::Image(image(memory.range(), info("R8_UINT"), [4, 4, 1], 1, 1, 1)));
    let image = operand(ImageDim::D2, false, Scalar::I32);
    let place = [lanes(|lane| lane as u32), lanes(|_| 3)];
    let read = instruction(OpKind::ImageRead { image, access: ACCESS }, 4);
    let out = run(&read, &mut memory, &resources, 0xff, &place);
    assert_eq!(out[0].0[..8], [0x11, 0x11, 0x11, 0x11, 0, 0, 0, 0]);
    assert_eq!((memory.accesses[0].1, memory.accesses[0].2), (0x0f, 0));
    let [(mask, texel, kind)] = memory.told.as_slice() else { panic!("{:?}", memory.told) };
    assert_eq!((*mask, *kind), (0xf0, AccessKind::Read));
    assert_eq!(*texel, Texel { coordinates: vec![4, 3], layer: None, sample: None, level: 0 });
}

#[test]
fn texels_that_do_not_exist_are_named_by_all_their_numbers() {
    let r32 = info("R32_UINT");
    let atomic = Access { atomic: Some(Scope::Device), non_private: true, ..ACCESS };
    let named = |operation: &ImageInstruction, descriptor: Descriptor, arguments: &[u32]| {
        let mut memory = Bytes::<true>::new(4096);
        let arguments: Vec<Lanes> = arguments.iter().map(|word| lanes(|_| *word)).collect();
        run(operation, &mut memory, &one(descriptor), 2, &arguments);
        assert!(memory.accesses.is_empty());
        let [(2, texel, kind)] = memory.told.as_slice() else { panic!("{:?}", memory.told) };
        (texel.clone(), *kind)
    };
    let memory = || Bytes::<true>::new(4096).range();
    let view = |extent, layers, levels, samples| {
        Descriptor::Image(image(memory(), r32, extent, layers, levels, samples))
    };
    let texel = |coordinates: &[i32], layer, sample, level| Texel {
        coordinates: coordinates.to_vec(),
        layer,
        sample,
        level,
    };
    let read = |image| instruction(OpKind::ImageRead { image, access: ACCESS }, 4);
    let write = |image| instruction(OpKind::ImageWrite { image, access: ACCESS }, 0);
    let fetch = |image| instruction(OpKind::ImageFetch { image, access: ACCESS }, 4);
    let add = |image| instruction(OpKind::ImageAtomic { op: AtomicOp::IAdd, image, access: atomic }, 1);
    let load = |image| instruction(OpKind::ImageAtomicLoad { image, access: atomic }, 1);
    let store = |image| instruction(OpKind::ImageAtomicStore { image, access: atomic }, 0);
    let of = |dim, arrayed| operand(dim, arrayed, Scalar::I32);
    let many = |dim, arrayed| ImageOperand { multisampled: true, ..of(dim, arrayed) };
    let minus = u32::MAX;
    let (reads, writes) = (AccessKind::Read, AccessKind::Write);
    let adds = AccessKind::ReadModifyWrite(AtomicOp::IAdd);
    let (d1, d2, d3, cube) = (ImageDim::D1, ImageDim::D2, ImageDim::D3, ImageDim::Cube);
    let buffer = Descriptor::TexelBuffer(memory(), r32.format, 16);
    for (operation, descriptor, arguments, expected) in [
        (read(of(d1, false)), view([8, 1, 1], 1, 1, 1), vec![8], (texel(&[8], None, None, 0), reads)),
        (read(of(d1, true)), view([8, 1, 1], 2, 1, 1), vec![7, 2], (texel(&[7], Some(2), None, 0), reads)),
        (
            write(of(d2, false)),
            view([8, 4, 1], 1, 1, 1),
            vec![0, minus, 5],
            (texel(&[0, -1], None, None, 0), writes),
        ),
        (
            add(of(d2, true)),
            view([8, 4, 1], 3, 1, 1),
            vec![1, 2, 3, 5],
            (texel(&[1, 2], Some(3), None, 0), adds),
        ),
        (
            load(of(d3, false)),
            view([4, 4, 4], 1, 1, 1),
            vec![1, 2, 4],
            (texel(&[1, 2, 4], None, None, 0), reads),
        ),
        (
            store(of(cube, false)),
            view([4, 4, 1], 6, 1, 1),
            vec![1, 2, 6, 9],
            (texel(&[1, 2], Some(6), None, 0), writes),
        ),
        (
            read(many(d2, false)),
            view([4, 4, 1], 1, 1, 4),
            vec![1, 2, 4],
            (texel(&[1, 2], None, Some(4), 0), reads),
        ),
        (
            read(many(d2, true)),
            view([4, 4, 1], 2, 1, 4),
            vec![4, 2, 1, 3],
            (texel(&[4, 2], Some(1), Some(3), 0), reads),
        ),
        (
            fetch(of(d2, false)),
            view([4, 4, 1], 1, 2, 1),
            vec![2, 0, 1],
            (texel(&[2, 0], None, None, 1), reads),
        ),
        (
            fetch(of(d2, true)),
            view([4, 4, 1], 2, 2, 1),
            vec![0, 0, 1, 2],
            (texel(&[0, 0], Some(1), None, 2), reads),
        ),
        (add(of(ImageDim::Buffer, false)), buffer, vec![16, 1], (texel(&[16], None, None, 0), adds)),
        (read(of(d3, false)), Descriptor::Missing, vec![1, 2, 3], (texel(&[1, 2, 3], None, None, 0), reads)),
    ] {
        assert_eq!(named(&operation, descriptor, &arguments), expected);
    }
}

#[test]
fn null_descriptors_read_zero() {
    let mut memory = Bytes::<false>::new(4);
    let image = operand(ImageDim::D2, false, Scalar::F32);
    let read = instruction(OpKind::ImageRead { image, access: ACCESS }, 4);
    let size = instruction(OpKind::ImageQuerySize { image, lod: false }, 2);
    let sample = instruction(OpKind::ImageSample { image, access: ACCESS }, 4);
    let write = instruction(OpKind::ImageWrite { image, access: ACCESS }, 0);
    let arguments = [Lanes::ZERO; 6];
    for resources in [one(Descriptor::Missing), Resources::default()] {
        for instruction in [&read, &size, &sample, &write] {
            let out = run(instruction, &mut memory, &resources, 1, &arguments);
            assert!(out.iter().all(|register| *register == Lanes::ZERO));
        }
    }
    assert!(memory.accesses.is_empty());
}

#[test]
fn lanes_may_use_different_descriptors() {
    let mut memory = Bytes::<false>::new(16);
    memory.bytes.copy_from_slice(&std::array::from_fn::<u8, 16, _>(|k| k as u8 + 100));
    let r8 = info("R8_UINT");
    let element_of = |k: u64| Descriptor::TexelBuffer(memory.range_at(4 * k, 4), r8.format, 4);
    let resources = Resources { bindings: vec![(0..4).map(element_of).collect()], ..Resources::default() };
    let image = ImageOperand { element: Some(Value(0)), ..operand(ImageDim::Buffer, false, Scalar::I32) };
    let read = instruction(OpKind::ImageRead { image, access: ACCESS }, 4);
    // Element 4 does not exist.
    let element = lanes(|lane| lane as u32 % 5);
    let texel = lanes(|lane| lane as u32 % 4);
    let mut out = vec![Lanes::ZERO; 4];
    read.execute(&mut memory, &resources, 0x0fff_ffff, Some(&element), None, &[&texel], &mut out)
        .expect("nothing traps");
    for lane in 0..28 {
        let (element, texel) = (lane % 5, lane % 4);
        let expected = if element == 4 { [0, 0] } else { [100 + (element * 4 + texel) as u32, 1] };
        assert_eq!([out[0].0[lane], out[3].0[lane]], expected);
    }
    assert_eq!(memory.accesses.len(), 4);
}

#[test]
fn atomics_act_on_texels() {
    for (name, texel, words) in [("R32_UINT", Scalar::I32, 1), ("R64_UINT", Scalar::I64, 2)] {
        let mut memory = Bytes::<false>::new(64);
        let resources = one(Descriptor::Image(image(memory.range(), info(name), [2, 2, 1], 1, 1, 1)));
        let image = operand(ImageDim::D2, false, texel);
        let place = [lanes(|lane| lane as u32 % 3), lanes(|_| 1)];
        let atomic = Access { atomic: Some(Scope::Device), non_private: true, ..ACCESS };
        let add = instruction(OpKind::ImageAtomic { op: AtomicOp::IAdd, image, access: atomic }, 1);
        assert!(add.is_atomic());
        let value = lanes(|_| 5);
        let mut arguments = place.to_vec();
        arguments.extend([value, Lanes::ZERO]);
        let out = run(&add, &mut memory, &resources, 0b111_111, &arguments);
        assert_eq!(out.len(), words);
        // Lanes 2 and 5 are out of bounds.
        assert_eq!(out[0].0[..6], [0, 0, 0, 5, 5, 0], "{name}");
        let load = instruction(OpKind::ImageAtomicLoad { image, access: atomic }, 1);
        let out = run(&load, &mut memory, &resources, 0b111, &place);
        assert_eq!(out[0].0[..3], [10, 10, 0], "{name}");
        let exchange =
            instruction(OpKind::ImageAtomic { op: AtomicOp::CompareExchange, image, access: atomic }, 1);
        let mut arguments = place.to_vec();
        let comparator = lanes(|lane| if lane == 0 { 10 } else { 11 });
        arguments.push(lanes(|_| 77));
        arguments.extend(std::iter::repeat_n(Lanes::ZERO, words - 1));
        arguments.push(comparator);
        arguments.extend(std::iter::repeat_n(Lanes::ZERO, words - 1));
        run(&exchange, &mut memory, &resources, 0b11, &arguments);
        let out = run(&load, &mut memory, &resources, 0b11, &place);
        assert_eq!(out[0].0[..2], [77, 10], "{name}");
        let store = instruction(OpKind::ImageAtomicStore { image, access: atomic }, 0);
        let mut arguments = place.to_vec();
        arguments.extend(vec![lanes(|lane| 40 + lane as u32); words]);
        run(&store, &mut memory, &resources, 0b11, &arguments);
        let out = run(&load, &mut memory, &resources, 0b11, &place);
        assert_eq!(out[words - 1].0[..2], [40, 41], "{name}");
        assert!(memory.accesses.iter().all(|(access, ..)| access.atomic == Some(Scope::Device)));
    }
    let mut memory = Bytes::<false>::new(64);
    let resources = one(Descriptor::Image(image(memory.range(), info("R8_UINT"), [2, 2, 1], 1, 1, 1)));
    let access = Access { atomic: Some(Scope::Device), ..ACCESS };
    let image = operand(ImageDim::D2, false, Scalar::I32);
    let add = instruction(OpKind::ImageAtomic { op: AtomicOp::IAdd, image, access }, 1);
    let arguments = [&Lanes::ZERO, &Lanes::ZERO, &Lanes::ZERO];
    let refused = add.execute(&mut memory, &resources, 1, None, None, &arguments, &mut [Lanes::ZERO]);
    assert_eq!(refused, Err(Trap::NotImplemented("atomic operation on a texel of VK_FORMAT_R8_UINT".into())));
}

#[test]
fn fetches_take_levels_and_samples() {
    let r8 = info("R8_UINT");
    let mut memory = Bytes::<false>::new(3 * 21);
    for (at, byte) in memory.bytes.iter_mut().enumerate() {
        *byte = at as u8;
    }
    // Levels of 4x4, 2x2 and 1x1 texels: 21 bytes a layer.
    let resources = one(Descriptor::Image(image(memory.range(), r8, [4, 4, 1], 3, 3, 1)));
    let operand = operand(ImageDim::D2, true, Scalar::I32);
    let fetch = instruction(OpKind::ImageFetch { image: operand, access: ACCESS }, 4);
    let arguments = [
        lanes(|lane| [3, 1, 0, 1, 0][lane % 5]),
        lanes(|lane| [2, 1, 0, 0, 0][lane % 5]),
        lanes(|lane| [0, 1, 2, 2, 0][lane % 5]),
        lanes(|lane| [0, 1, 2, 2, 3][lane % 5]),
    ];
    let out = run(&fetch, &mut memory, &resources, 0b11111, &arguments);
    assert_eq!(out[0].0[..5], [11, 21 + 16 + 3, 42 + 20, 0, 0]);
    assert_eq!(out[3].0[..5], [1; 5]);

    let multisampled = ImageOperand { arrayed: false, multisampled: true, ..operand };
    let resources = one(Descriptor::Image(image(memory.range(), r8, [2, 2, 1], 1, 1, 4)));
    let fetch = instruction(OpKind::ImageFetch { image: multisampled, access: ACCESS }, 4);
    let arguments = [lanes(|lane| lane as u32 % 2), lanes(|_| 1), lanes(|lane| lane as u32 % 5)];
    let out = run(&fetch, &mut memory, &resources, 0b11111, &arguments);
    assert_eq!(out[0].0[..5], [8, 13, 10, 15, 0]);
}

#[test]
fn swizzles_apply_to_what_is_read() {
    let mut memory = Bytes::<false>::new(4);
    memory.bytes.copy_from_slice(&[10, 20, 30, 40]);
    let mut view = image(memory.range(), info("R8G8B8A8_UINT"), [1, 1, 1], 1, 1, 1);
    view.swizzle = [6, 1, 2, 3];
    let image = operand(ImageDim::D2, false, Scalar::I32);
    let fetch = instruction(OpKind::ImageFetch { image, access: ACCESS }, 4);
    let out = run(&fetch, &mut memory, &one(Descriptor::Image(view)), 1, &[Lanes::ZERO, Lanes::ZERO]);
    assert_eq!(out.iter().map(|r| r.0[0]).collect::<Vec<_>>(), [40, 0, 1, 10]);
}

#[test]
fn queries_answer_sizes() {
    let mut memory = Bytes::<false>::new(4096);
    let r8 = info("R8_UINT");
    let ask =
        |memory: &mut Bytes<false>, descriptor: Descriptor, dim, arrayed, level: Option<u32>, results| {
            let kind =
                OpKind::ImageQuerySize { image: operand(dim, arrayed, Scalar::I32), lod: level.is_some() };
            let arguments: Vec<Lanes> = level.map(|level| lanes(|_| level)).into_iter().collect();
            let out = run(&instruction(kind, results), memory, &one(descriptor), 1, &arguments);
            out.iter().map(|register| register.0[0]).collect::<Vec<_>>()
        };
    let view = memory.range();
    let d2 = Descriptor::Image(image(view.clone(), r8, [13, 6, 1], 5, 3, 1));
    assert_eq!(ask(&mut memory, d2.clone(), ImageDim::D2, true, Some(1), 3), [6, 3, 5]);
    assert_eq!(ask(&mut memory, d2.clone(), ImageDim::D2, true, None, 3), [13, 6, 5]);
    assert_eq!(ask(&mut memory, d2.clone(), ImageDim::D2, true, Some(2), 3), [3, 1, 5]);
    let d3 = Descriptor::Image(image(view.clone(), r8, [4, 5, 6], 1, 1, 1));
    assert_eq!(ask(&mut memory, d3, ImageDim::D3, false, None, 3), [4, 5, 6]);
    let cube = Descriptor::Image(image(view.clone(), r8, [4, 4, 1], 12, 1, 1));
    assert_eq!(ask(&mut memory, cube.clone(), ImageDim::Cube, true, None, 3), [4, 4, 2]);
    let buffer = Descriptor::TexelBuffer(view.clone(), r8.format, 77);
    assert_eq!(ask(&mut memory, buffer, ImageDim::Buffer, false, None, 1), [77]);
    let levels = instruction(OpKind::ImageQueryLevels(operand(ImageDim::D2, true, Scalar::I32)), 1);
    assert_eq!(run(&levels, &mut memory, &one(d2.clone()), 1, &[])[0].0[0], 3);
    let many = Descriptor::Image(image(view.clone(), r8, [4, 4, 1], 1, 1, 8));
    let samples = instruction(OpKind::ImageQuerySamples(operand(ImageDim::D2, false, Scalar::I32)), 1);
    assert_eq!(run(&samples, &mut memory, &one(many), 1, &[])[0].0[0], 8);
}

#[test]
fn atomics_of_lanes_with_different_descriptors_keep_their_results() {
    for (format, texel) in [("R32_UINT", Scalar::I32), ("R64_UINT", Scalar::I64)] {
        let format = info(format);
        let (size, words) =
            (if texel == Scalar::I64 { 8 } else { 4 }, if texel == Scalar::I64 { 2 } else { 1 });
        let mut memory = Bytes::<false>::new(3 * size);
        for k in 0..3 {
            memory.set_word(k * size, size as u8, 100 * k as u64);
        }
        let element_of =
            |k: usize| Descriptor::TexelBuffer(memory.range_at((k * size) as u64, size), format.format, 1);
        let resources =
            Resources { bindings: vec![(0..3).map(element_of).collect()], ..Resources::default() };
        let image = ImageOperand { element: Some(Value(0)), ..operand(ImageDim::Buffer, false, texel) };
        let add = instruction(OpKind::ImageAtomic { op: AtomicOp::IAdd, image, access: ACCESS }, 1);
        let element = lanes(|lane| lane as u32 % 3);
        let one = [Lanes([1; LANES]), Lanes::ZERO];
        let arguments: Vec<&Lanes> = [&Lanes::ZERO].into_iter().chain(&one[..words]).collect();
        let mut out = [Lanes::ZERO; 2];
        add.execute(
            &mut memory,
            &resources,
            0xffff_fff0,
            Some(&element),
            None,
            &arguments,
            &mut out[..words],
        )
        .expect("nothing traps");
        for lane in 4..32u32 {
            let before = (4..lane).filter(|other| other % 3 == lane % 3).count() as u32;
            assert_eq!(out[0].0[lane as usize], 100 * (lane % 3) + before, "lane {lane}");
        }
    }
}
