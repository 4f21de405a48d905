//! Texel formats: layouts, conversions, and the features that the specification requires.

use pellucid_shader_interp::math::format::{Aspect, FORMATS, FormatInfo, Numeric, feature, properties};

fn format(name: &str) -> &'static FormatInfo {
    let full = format!("VK_FORMAT_{name}");
    FORMATS.iter().find(|info| info.name == full).unwrap_or_else(|| panic!("{full} is not there"))
}

fn floats(info: &FormatInfo, bytes: &[u8]) -> [f32; 4] {
    info.decode(bytes, 0).map(f32::from_bits)
}

#[test]
fn the_table_is_sorted_and_consistent() {
    assert!(FORMATS.windows(2).all(|pair| pair[0].format < pair[1].format));
    for info in FORMATS {
        assert_eq!(properties(info.format), Some(info));
        assert_eq!(info.units() * info.unit, info.texel_bytes, "{}", info.name);
        let mut used = 0u128;
        for field in info.fields.iter().filter(|f| f.width > 0) {
            assert!(field.offset as u32 + field.width as u32 <= info.texel_bytes as u32 * 8, "{}", info.name);
            assert!(info.is_64_bit() || field.offset % 32 + field.width <= 32, "{}", info.name);
            let bits = ((1u128 << field.width) - 1) << field.offset;
            assert_eq!(used & bits, 0, "{}: components overlap", info.name);
            used |= bits;
        }
        let filtered = info.image_features & feature::SAMPLED_IMAGE_FILTER_LINEAR != 0;
        assert!(!(filtered && info.numeric.is_integer()), "{}", info.name);
        // What an image is sampled as, a texel buffer is fetched as, too.
        let fetched = info.buffer_features & feature::UNIFORM_TEXEL_BUFFER != 0;
        let sampled = info.image_features & feature::SAMPLED_IMAGE != 0;
        if info.aspect != Aspect::Color {
            assert_eq!(info.buffer_features, 0, "{}: texel buffer of depth or stencil", info.name);
        } else if info.compression.is_some() {
            assert_eq!(info.buffer_features, 0, "{}: texel buffer of a compressed format", info.name);
            let writes = feature::STORAGE_IMAGE | feature::BLIT_DST | feature::COLOR_ATTACHMENT;
            assert_eq!((info.image_features | info.graphics_features) & writes, 0, "{}", info.name);
        } else {
            assert!(fetched >= sampled, "{}", info.name);
        }
    }
    assert_eq!(properties(0), None);
}

#[test]
fn every_texel_of_a_small_format_survives_decoding_and_encoding() {
    for info in FORMATS.iter().filter(|info| info.texel_bytes <= 2) {
        for texel in 0..1u32 << (8 * info.texel_bytes) {
            let bytes = texel.to_le_bytes();
            let value = info.decode(&bytes, 0);
            let again = info.encode(value);
            assert_eq!(info.decode(&again, 0), value, "{} {texel:#x}", info.name);
            let two_ways = match info.numeric {
                Numeric::Snorm => true,
                Numeric::Sfloat => value.iter().any(|&v| f32::from_bits(v).is_nan()),
                _ => false,
            };
            if !two_ways {
                // Bits that the format does not use become 0.
                let used = info
                    .fields
                    .iter()
                    .fold(0, |used, field| used | (((1 << field.width) - 1) << field.offset));
                let again = u32::from_le_bytes(again[..4].try_into().unwrap());
                assert_eq!(again, texel & used, "{} {texel:#x}", info.name);
            }
        }
    }
}

#[test]
fn texels_of_large_formats_survive_too() {
    for info in FORMATS.iter().filter(|info| info.texel_bytes > 2 && info.compression.is_none()) {
        for k in 0..20_000u64 {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&k.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
            bytes[8..].copy_from_slice(&k.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).to_le_bytes());
            let value = info.decode(&bytes, 0);
            let decoded_again = info.decode(&info.encode(value), 0);
            assert_eq!(decoded_again, value, "{} {bytes:x?}", info.name);
        }
    }
}

#[test]
fn components_are_where_the_names_say() {
    assert_eq!(floats(format("R8G8B8A8_UNORM"), &[0, 255, 51, 102]), [0.0, 1.0, 0.2, 0.4]);
    assert_eq!(floats(format("B8G8R8A8_UNORM"), &[0, 255, 51, 102]), [0.2, 1.0, 0.0, 0.4]);
    assert_eq!(floats(format("R8_UNORM"), &[255]), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(format("R8_UINT").decode(&[200], 0), [200, 0, 0, 1]);
    assert_eq!(format("R8_SINT").decode(&[200], 0), [200u32.wrapping_sub(256), 0, 0, 1]);
    assert_eq!(floats(format("R8G8_SNORM"), &[0x80, 0x7f]), [-1.0, 1.0, 0.0, 1.0]);
    assert_eq!(format("R16G16_SINT").decode(&[0xff, 0xff, 1, 0], 0), [u32::MAX, 1, 0, 1]);
    assert_eq!(
        floats(format("R16G16B16A16_SFLOAT"), &[0, 0x3c, 0, 0xc0, 0, 0, 0, 0x7c]),
        [1.0, -2.0, 0.0, f32::INFINITY]
    );
    let word = |name: &str, word: u32| floats(format(name), &word.to_le_bytes());
    assert_eq!(word("R5G6B5_UNORM_PACK16", 0xf800), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(word("R5G6B5_UNORM_PACK16", 0x07e0), [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(word("R4G4B4A4_UNORM_PACK16", 0xf003), [1.0, 0.0, 0.0, 0.2]);
    assert_eq!(word("B4G4R4A4_UNORM_PACK16", 0xf003), [0.0, 0.0, 1.0, 0.2]);
    assert_eq!(word("A4R4G4B4_UNORM_PACK16", 0x3f00), [1.0, 0.0, 0.0, 0.2]);
    assert_eq!(word("A4B4G4R4_UNORM_PACK16", 0x3f00), [0.0, 0.0, 1.0, 0.2]);
    assert_eq!(word("R5G5B5A1_UNORM_PACK16", 0xf801), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(word("A1R5G5B5_UNORM_PACK16", 0x7c00), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(word("A2B10G10R10_UNORM_PACK32", 0xc000_03ff), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(format("A2B10G10R10_UINT_PACK32").decode(&0x8010_0402u32.to_le_bytes(), 0), [2, 1, 1, 2]);
    assert_eq!(word("A2R10G10B10_UNORM_PACK32", 0x3ff0_0000), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(word("B10G11R11_UFLOAT_PACK32", 0x3c0 | (0x400 << 11) | (0x1c0 << 22)), [1.0, 2.0, 0.5, 1.0]);
    // Shared exponent 16: fractions of 2^-8.
    assert_eq!(
        word("E5B9G9R9_UFLOAT_PACK32", (16 << 27) | (256 << 18) | (128 << 9) | 1),
        [1.0 / 256.0, 0.5, 1.0, 1.0]
    );
    assert_eq!(floats(format("D16_UNORM"), &[0xff, 0xff]), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(floats(format("X8_D24_UNORM_PACK32"), &[0xff, 0xff, 0xff, 0x55]), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(format("R64_UINT").decode(&[1, 0, 0, 0, 2, 0, 0, 0], 0), [1, 2, 0, 0]);
}

#[test]
fn srgb_follows_its_transfer_function() {
    let info = format("R8G8B8A8_SRGB");
    for byte in 0..=255u8 {
        let c = byte as f64 / 255.0;
        let linear = if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        let got = floats(info, &[byte, byte, byte, byte]);
        assert!((got[0] as f64 - linear).abs() < 1e-6);
        assert_eq!(got[3], byte as f32 / 255.0, "alpha is linear");
    }
}

#[test]
fn numbers_out_of_range_are_clamped() {
    let encode = |name: &str, c: [f32; 4]| {
        let info = format(name);
        info.encode(c.map(f32::to_bits))[..info.texel_bytes as usize].to_vec()
    };
    assert_eq!(encode("R8G8B8A8_UNORM", [-1.0, 2.0, f32::NAN, 0.5]), [0, 255, 0, 128]);
    assert_eq!(encode("R8G8_SNORM", [-3.0, 3.0, 0.0, 0.0]), [0x81, 0x7f]);
    assert_eq!(encode("R16_SFLOAT", [1e9, 0.0, 0.0, 0.0]), [0, 0x7c]);
    let word = |name: &str, c: [f32; 3]| {
        let bytes = encode(name, [c[0], c[1], c[2], 1.0]);
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    };
    assert_eq!(word("B10G11R11_UFLOAT_PACK32", [-1.0, f32::INFINITY, 1.0]), (0x7c0 << 11) | (0x1e0 << 22));
    assert_eq!(
        word("B10G11R11_UFLOAT_PACK32", [f32::from_bits(1), 1.0 / 16384.0, 1.9073486e-6]),
        (0x040 << 11) | (1 << 22)
    );
    assert_eq!(word("E5B9G9R9_UFLOAT_PACK32", [1e9, -1.0, 0.0]), (31 << 27) | 511);
    assert_eq!(word("E5B9G9R9_UFLOAT_PACK32", [1.0, 0.5, 0.25]), (16 << 27) | (64 << 18) | (128 << 9) | 256);
}

#[test]
fn required_formats_have_their_features() {
    let image = |names: &[&str], features: u32| {
        for name in names {
            let info = format(name);
            assert_eq!(info.image_features & features, features, "{name}");
        }
    };
    let buffer = |names: &[&str], features: u32| {
        for name in names {
            let info = format(name);
            assert_eq!(info.buffer_features & features, features, "{name}");
        }
    };
    let storage = [
        "R8G8B8A8_UNORM",
        "R8G8B8A8_SNORM",
        "R8G8B8A8_UINT",
        "R8G8B8A8_SINT",
        "R16G16B16A16_UINT",
        "R16G16B16A16_SINT",
        "R16G16B16A16_SFLOAT",
        "R32_UINT",
        "R32_SINT",
        "R32_SFLOAT",
        "R32G32_UINT",
        "R32G32_SINT",
        "R32G32_SFLOAT",
        "R32G32B32A32_UINT",
        "R32G32B32A32_SINT",
        "R32G32B32A32_SFLOAT",
    ];
    // shaderStorageImageExtendedFormats
    let extended = [
        "R16G16_SFLOAT",
        "B10G11R11_UFLOAT_PACK32",
        "R16_SFLOAT",
        "R16G16B16A16_UNORM",
        "A2B10G10R10_UNORM_PACK32",
        "R16G16_UNORM",
        "R8G8_UNORM",
        "R16_UNORM",
        "R8_UNORM",
        "R16G16B16A16_SNORM",
        "R16G16_SNORM",
        "R8G8_SNORM",
        "R16_SNORM",
        "R8_SNORM",
        "R16G16_SINT",
        "R8G8_SINT",
        "R16_SINT",
        "R8_SINT",
        "A2B10G10R10_UINT_PACK32",
        "R16G16_UINT",
        "R8G8_UINT",
        "R16_UINT",
        "R8_UINT",
    ];
    image(
        &storage,
        feature::STORAGE_IMAGE | feature::SAMPLED_IMAGE | feature::TRANSFER_SRC | feature::TRANSFER_DST,
    );
    image(&extended, feature::STORAGE_IMAGE);
    buffer(&storage, feature::STORAGE_TEXEL_BUFFER | feature::UNIFORM_TEXEL_BUFFER);
    buffer(
        &["A8B8G8R8_UNORM_PACK32", "A8B8G8R8_SNORM_PACK32", "A8B8G8R8_UINT_PACK32", "A8B8G8R8_SINT_PACK32"],
        feature::STORAGE_TEXEL_BUFFER | feature::UNIFORM_TEXEL_BUFFER,
    );
    buffer(
        &[
            "R8_UNORM",
            "R8_SNORM",
            "R8_UINT",
            "R8_SINT",
            "R8G8_UNORM",
            "R8G8_SNORM",
            "R8G8_UINT",
            "R8G8_SINT",
            "B8G8R8A8_UNORM",
            "A2B10G10R10_UNORM_PACK32",
            "A2B10G10R10_UINT_PACK32",
            "R16_UINT",
            "R16_SINT",
            "R16_SFLOAT",
            "R16G16_UINT",
            "R16G16_SINT",
            "R16G16_SFLOAT",
            "B10G11R11_UFLOAT_PACK32",
        ],
        feature::UNIFORM_TEXEL_BUFFER,
    );
    image(&["R32_UINT", "R32_SINT", "R32_SFLOAT", "R64_UINT", "R64_SINT"], feature::STORAGE_IMAGE_ATOMIC);
    buffer(&["R32_UINT", "R32_SINT", "R32_SFLOAT"], feature::STORAGE_TEXEL_BUFFER_ATOMIC);
    image(
        &[
            "B4G4R4A4_UNORM_PACK16",
            "R5G6B5_UNORM_PACK16",
            "A1R5G5B5_UNORM_PACK16",
            "R8_UNORM",
            "R8_SNORM",
            "R8G8_UNORM",
            "R8G8_SNORM",
            "R8G8B8A8_UNORM",
            "R8G8B8A8_SNORM",
            "R8G8B8A8_SRGB",
            "B8G8R8A8_UNORM",
            "B8G8R8A8_SRGB",
            "A8B8G8R8_UNORM_PACK32",
            "A8B8G8R8_SNORM_PACK32",
            "A8B8G8R8_SRGB_PACK32",
            "A2B10G10R10_UNORM_PACK32",
            "R16_SFLOAT",
            "R16G16_SFLOAT",
            "R16G16B16A16_SFLOAT",
            "B10G11R11_UFLOAT_PACK32",
            "E5B9G9R9_UFLOAT_PACK32",
        ],
        feature::SAMPLED_IMAGE | feature::SAMPLED_IMAGE_FILTER_LINEAR,
    );
    image(&["D16_UNORM", "D32_SFLOAT"], feature::SAMPLED_IMAGE);
}

/// The texels of a block as floats.
fn block(info: &FormatInfo, bytes: &[u8]) -> Vec<[f32; 4]> {
    (0..16).map(|within| info.decode(bytes, within).map(f32::from_bits)).collect()
}

#[test]
fn blocks_are_made_of_sixteen_texels() {
    // Red (31, 0, 0) before blue (0, 0, 31): two thirds and one third between them; indices 0 to 3.
    let bc1 = [0x00, 0xf8, 0x1f, 0x00, 0b1110_0100, 0, 0, 0];
    let (rgb, rgba) = (format("BC1_RGB_UNORM_BLOCK"), format("BC1_RGBA_UNORM_BLOCK"));
    let texels = block(rgb, &bc1);
    assert_eq!(texels[0], [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(texels[1], [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(texels[2], [170.0 / 255.0, 0.0, 85.0 / 255.0, 1.0]);
    assert_eq!(texels[3], [85.0 / 255.0, 0.0, 170.0 / 255.0, 1.0]);
    assert_eq!(texels[4..], [texels[0]; 12]);
    // The other way around: half, and black, which is transparent where there is an alpha.
    let bc1 = [0x1f, 0x00, 0x00, 0xf8, 0b1110_0100, 0, 0, 0];
    assert_eq!(block(rgb, &bc1)[3], [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(block(rgba, &bc1)[3], [0.0; 4]);
    assert!((block(rgb, &bc1)[2][0] - 0.5).abs() < 0.01);
    // Only red, green and blue of an sRGB format are encoded.
    let half = [0x88; 8].into_iter().chain([0x10, 0x84, 0x10, 0x84, 0, 0, 0, 0]).collect::<Vec<u8>>();
    let [red, .., alpha] = block(format("BC2_SRGB_BLOCK"), &half)[0];
    assert!((red - 0.2307).abs() < 1e-3 && (alpha - 8.0 / 15.0).abs() < 1e-6, "{red} {alpha}");
    // -127 and -128 are -1; 6 of 7 parts.
    let bc4 = [0x7f, 0x80, 0b1101_0001, 0, 0, 0, 0, 0];
    let texels = block(format("BC4_SNORM_BLOCK"), &bc4);
    assert_eq!((texels[0], texels[3]), ([-1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]));
    assert!((texels[1][0] - 5.0 / 7.0).abs() < 1e-6, "{:?}", texels[1]);
    let bc5 = [[255, 0, 0, 0, 0, 0, 0, 0], [0, 255, 0, 0, 0, 0, 0, 0]].concat();
    assert_eq!(block(format("BC5_UNORM_BLOCK"), &bc5)[15], [1.0, 0.0, 0.0, 1.0]);
}

/// Any bytes are a block; no number of a normalized format is outside of its range, and none is a NaN.
#[test]
fn every_block_decodes() {
    let mut state = 1u64;
    for info in FORMATS.iter().filter(|info| info.compression.is_some()) {
        let (low, high) = match info.numeric {
            Numeric::Snorm => (-1.0, 1.0),
            Numeric::Sfloat => (-65504.0, 65504.0),
            Numeric::Ufloat => (0.0, 65504.0),
            _ => (0.0, 1.0),
        };
        for turn in 0..4_000 {
            let mut bytes = [0u8; 16];
            for byte in &mut bytes {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                *byte = (state >> 56) as u8;
            }
            // All modes of BC6H and BC7, whose numbers lie in the first bits.
            bytes[0] = if turn % 2 == 0 { turn as u8 } else { 1 << (turn / 2 % 8) };
            for texel in block(info, &bytes) {
                assert!(
                    texel.iter().all(|c| (low..=high).contains(c)),
                    "{} {bytes:x?}: {texel:?}",
                    info.name
                );
            }
        }
    }
}
