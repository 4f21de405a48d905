//! The formats, in the order of their VkFormat numbers.

use super::block::Compression;
use super::feature as f;
use super::{Aspect, Field, FormatInfo, Numeric};

/// Copies and clears.
const TRANSFER: u32 = f::TRANSFER_SRC | f::TRANSFER_DST;

// Uses by a compute shader, as the rows below name them.
/// Blits only.
const NOTHING: [u32; 2] = [0, 0];
/// Sampled, filtered, uniform texel buffers.
const FILTERED: [u32; 2] =
    [TRANSFER | f::SAMPLED_IMAGE | f::SAMPLED_IMAGE_FILTER_LINEAR, f::UNIFORM_TEXEL_BUFFER];
/// The same without filtering (integers).
const SAMPLED: [u32; 2] = [TRANSFER | f::SAMPLED_IMAGE, f::UNIFORM_TEXEL_BUFFER];
/// Sampled, filtered: depth, and compressed formats.
const FILTERED_IMAGE: [u32; 2] = [FILTERED[0], 0];
/// Sampled without filtering, no texel buffers: stencil.
const SAMPLED_IMAGE: [u32; 2] = [SAMPLED[0], 0];
/// Uniform texel buffers, no images.
const FETCHED: [u32; 2] = [0, f::UNIFORM_TEXEL_BUFFER];
/// Sampled, filtered, storage, texel buffers of both kinds.
const FILTERED_STORED: [u32; 2] =
    [FILTERED[0] | f::STORAGE_IMAGE, f::UNIFORM_TEXEL_BUFFER | f::STORAGE_TEXEL_BUFFER];
/// The same without filtering.
const STORED: [u32; 2] = [SAMPLED[0] | f::STORAGE_IMAGE, f::UNIFORM_TEXEL_BUFFER | f::STORAGE_TEXEL_BUFFER];
/// As [`STORED`], and with atomics.
const ATOMIC: [u32; 2] = [STORED[0] | f::STORAGE_IMAGE_ATOMIC, STORED[1] | f::STORAGE_TEXEL_BUFFER_ATOMIC];
/// And atomics, with filtering.
const FILTERED_ATOMIC: [u32; 2] = [ATOMIC[0] | f::SAMPLED_IMAGE_FILTER_LINEAR, ATOMIC[1]];

// Graphics features.
const NONE: u32 = 0;
const SOURCE: u32 = f::BLIT_SRC;
const BLITTED: u32 = f::BLIT_SRC | f::BLIT_DST;
const VERTEX: u32 = f::VERTEX_BUFFER;
const TARGET: u32 = BLITTED | f::COLOR_ATTACHMENT;
const BLENDED: u32 = TARGET | f::COLOR_ATTACHMENT_BLEND;
const DEPTH: u32 = BLITTED | f::DEPTH_STENCIL_ATTACHMENT;

/// A component at bit `offset`.
const fn at(offset: u8, width: u8) -> Field {
    Field { offset, width }
}

/// A component that the format lacks.
const NO: Field = at(0, 0);

/// `count` components of `width` bits each from red up.
const fn array(count: u8, width: u8) -> [Field; 4] {
    let mut fields = [NO; 4];
    let mut k = 0;
    while k < count {
        fields[k as usize] = at(k * width, width);
        k += 1;
    }
    fields
}

/// Blue, green, red of 8 bits.
const BGR8: [Field; 4] = [at(16, 8), at(8, 8), at(0, 8), NO];
/// Blue, green, red, alpha of 8 bits.
const BGRA8: [Field; 4] = [at(16, 8), at(8, 8), at(0, 8), at(24, 8)];

const fn row(
    format: i32,
    name: &'static str,
    texel_bytes: u8,
    numeric: Numeric,
    fields: [Field; 4],
    uses: [u32; 2],
    graphics_features: u32,
) -> FormatInfo {
    let mut components = 0;
    let mut k = 0;
    while k < 4 {
        if fields[k].width > 0 {
            components += 1;
        }
        k += 1;
    }
    FormatInfo {
        format,
        name,
        texel_bytes,
        compression: None,
        unit: match texel_bytes {
            _ if fields[0].width == 64 => 8,
            // Three components of 8 or 16 bits.
            3 => 1,
            6 => 2,
            1 | 2 => texel_bytes,
            _ => 4,
        },
        components,
        numeric,
        aspect: Aspect::Color,
        fields,
        image_features: uses[0],
        buffer_features: uses[1],
        graphics_features,
    }
}

const fn aspect(mut info: FormatInfo, aspect: Aspect) -> FormatInfo {
    info.aspect = aspect;
    info
}

const fn compressed(mut info: FormatInfo, compression: Compression) -> FormatInfo {
    info.compression = Some(compression);
    info
}

macro_rules! formats {
    ($($number:literal $name:ident $bytes:literal $numeric:ident $fields:expr, $uses:ident $graphics:expr;)*) => {
        &[$(row($number, concat!("VK_FORMAT_", stringify!($name)), $bytes, Numeric::$numeric, $fields, $uses, $graphics)),*]
    };
}

const COLOR: &[FormatInfo] = formats! {
    2 R4G4B4A4_UNORM_PACK16 2 Unorm [at(12, 4), at(8, 4), at(4, 4), at(0, 4)], FILTERED BLENDED;
    3 B4G4R4A4_UNORM_PACK16 2 Unorm [at(4, 4), at(8, 4), at(12, 4), at(0, 4)], FILTERED BLENDED;
    4 R5G6B5_UNORM_PACK16 2 Unorm [at(11, 5), at(5, 6), at(0, 5), NO], FILTERED BLENDED;
    5 B5G6R5_UNORM_PACK16 2 Unorm [at(0, 5), at(5, 6), at(11, 5), NO], FILTERED BLENDED;
    6 R5G5B5A1_UNORM_PACK16 2 Unorm [at(11, 5), at(6, 5), at(1, 5), at(0, 1)], FILTERED BLENDED;
    7 B5G5R5A1_UNORM_PACK16 2 Unorm [at(1, 5), at(6, 5), at(11, 5), at(0, 1)], FILTERED BLENDED;
    8 A1R5G5B5_UNORM_PACK16 2 Unorm [at(10, 5), at(5, 5), at(0, 5), at(15, 1)], FILTERED BLENDED;
    9 R8_UNORM 1 Unorm array(1, 8), FILTERED_STORED BLENDED | VERTEX;
    10 R8_SNORM 1 Snorm array(1, 8), FILTERED_STORED TARGET | VERTEX;
    11 R8_USCALED 1 Uscaled array(1, 8), NOTHING BLITTED;
    12 R8_SSCALED 1 Sscaled array(1, 8), NOTHING BLITTED;
    13 R8_UINT 1 Uint array(1, 8), STORED TARGET | VERTEX;
    14 R8_SINT 1 Sint array(1, 8), STORED TARGET | VERTEX;
    15 R8_SRGB 1 Srgb array(1, 8), FILTERED BLITTED;
    16 R8G8_UNORM 2 Unorm array(2, 8), FILTERED_STORED BLENDED | VERTEX;
    17 R8G8_SNORM 2 Snorm array(2, 8), FILTERED_STORED TARGET | VERTEX;
    18 R8G8_USCALED 2 Uscaled array(2, 8), NOTHING BLITTED;
    19 R8G8_SSCALED 2 Sscaled array(2, 8), NOTHING BLITTED;
    20 R8G8_UINT 2 Uint array(2, 8), STORED TARGET | VERTEX;
    21 R8G8_SINT 2 Sint array(2, 8), STORED TARGET | VERTEX;
    22 R8G8_SRGB 2 Srgb array(2, 8), FILTERED BLITTED;
    23 R8G8B8_UNORM 3 Unorm array(3, 8), FETCHED NONE;
    24 R8G8B8_SNORM 3 Snorm array(3, 8), FETCHED NONE;
    27 R8G8B8_UINT 3 Uint array(3, 8), FETCHED NONE;
    28 R8G8B8_SINT 3 Sint array(3, 8), FETCHED NONE;
    29 R8G8B8_SRGB 3 Srgb array(3, 8), FETCHED NONE;
    30 B8G8R8_UNORM 3 Unorm BGR8, FETCHED NONE;
    31 B8G8R8_SNORM 3 Snorm BGR8, FETCHED NONE;
    34 B8G8R8_UINT 3 Uint BGR8, FETCHED NONE;
    35 B8G8R8_SINT 3 Sint BGR8, FETCHED NONE;
    36 B8G8R8_SRGB 3 Srgb BGR8, FETCHED NONE;
    37 R8G8B8A8_UNORM 4 Unorm array(4, 8), FILTERED_STORED BLENDED | VERTEX;
    38 R8G8B8A8_SNORM 4 Snorm array(4, 8), FILTERED_STORED TARGET | VERTEX;
    39 R8G8B8A8_USCALED 4 Uscaled array(4, 8), NOTHING BLITTED;
    40 R8G8B8A8_SSCALED 4 Sscaled array(4, 8), NOTHING BLITTED;
    41 R8G8B8A8_UINT 4 Uint array(4, 8), STORED TARGET | VERTEX;
    42 R8G8B8A8_SINT 4 Sint array(4, 8), STORED TARGET | VERTEX;
    43 R8G8B8A8_SRGB 4 Srgb array(4, 8), FILTERED BLENDED;
    44 B8G8R8A8_UNORM 4 Unorm BGRA8, FILTERED_STORED BLENDED | VERTEX;
    45 B8G8R8A8_SNORM 4 Snorm BGRA8, FILTERED TARGET;
    46 B8G8R8A8_USCALED 4 Uscaled BGRA8, NOTHING BLITTED;
    47 B8G8R8A8_SSCALED 4 Sscaled BGRA8, NOTHING BLITTED;
    48 B8G8R8A8_UINT 4 Uint BGRA8, SAMPLED TARGET;
    49 B8G8R8A8_SINT 4 Sint BGRA8, SAMPLED TARGET;
    50 B8G8R8A8_SRGB 4 Srgb BGRA8, FILTERED BLENDED;
    51 A8B8G8R8_UNORM_PACK32 4 Unorm array(4, 8), FILTERED_STORED BLENDED | VERTEX;
    52 A8B8G8R8_SNORM_PACK32 4 Snorm array(4, 8), FILTERED_STORED TARGET | VERTEX;
    53 A8B8G8R8_USCALED_PACK32 4 Uscaled array(4, 8), NOTHING BLITTED;
    54 A8B8G8R8_SSCALED_PACK32 4 Sscaled array(4, 8), NOTHING BLITTED;
    55 A8B8G8R8_UINT_PACK32 4 Uint array(4, 8), STORED TARGET | VERTEX;
    56 A8B8G8R8_SINT_PACK32 4 Sint array(4, 8), STORED TARGET | VERTEX;
    57 A8B8G8R8_SRGB_PACK32 4 Srgb array(4, 8), FILTERED BLENDED;
    58 A2R10G10B10_UNORM_PACK32 4 Unorm [at(20, 10), at(10, 10), at(0, 10), at(30, 2)], FILTERED BLENDED;
    59 A2R10G10B10_SNORM_PACK32 4 Snorm [at(20, 10), at(10, 10), at(0, 10), at(30, 2)], FILTERED TARGET;
    60 A2R10G10B10_USCALED_PACK32 4 Uscaled [at(20, 10), at(10, 10), at(0, 10), at(30, 2)], NOTHING BLITTED;
    61 A2R10G10B10_SSCALED_PACK32 4 Sscaled [at(20, 10), at(10, 10), at(0, 10), at(30, 2)], NOTHING BLITTED;
    62 A2R10G10B10_UINT_PACK32 4 Uint [at(20, 10), at(10, 10), at(0, 10), at(30, 2)], SAMPLED TARGET;
    64 A2B10G10R10_UNORM_PACK32 4 Unorm [at(0, 10), at(10, 10), at(20, 10), at(30, 2)], FILTERED_STORED BLENDED | VERTEX;
    65 A2B10G10R10_SNORM_PACK32 4 Snorm [at(0, 10), at(10, 10), at(20, 10), at(30, 2)], FILTERED TARGET;
    66 A2B10G10R10_USCALED_PACK32 4 Uscaled [at(0, 10), at(10, 10), at(20, 10), at(30, 2)], NOTHING BLITTED;
    67 A2B10G10R10_SSCALED_PACK32 4 Sscaled [at(0, 10), at(10, 10), at(20, 10), at(30, 2)], NOTHING BLITTED;
    68 A2B10G10R10_UINT_PACK32 4 Uint [at(0, 10), at(10, 10), at(20, 10), at(30, 2)], STORED TARGET;
    70 R16_UNORM 2 Unorm array(1, 16), FILTERED_STORED BLENDED | VERTEX;
    71 R16_SNORM 2 Snorm array(1, 16), FILTERED_STORED TARGET | VERTEX;
    72 R16_USCALED 2 Uscaled array(1, 16), NOTHING BLITTED;
    73 R16_SSCALED 2 Sscaled array(1, 16), NOTHING BLITTED;
    74 R16_UINT 2 Uint array(1, 16), STORED TARGET | VERTEX;
    75 R16_SINT 2 Sint array(1, 16), STORED TARGET | VERTEX;
    76 R16_SFLOAT 2 Sfloat array(1, 16), FILTERED_STORED BLENDED | VERTEX;
    77 R16G16_UNORM 4 Unorm array(2, 16), FILTERED_STORED BLENDED | VERTEX;
    78 R16G16_SNORM 4 Snorm array(2, 16), FILTERED_STORED TARGET | VERTEX;
    79 R16G16_USCALED 4 Uscaled array(2, 16), NOTHING BLITTED;
    80 R16G16_SSCALED 4 Sscaled array(2, 16), NOTHING BLITTED;
    81 R16G16_UINT 4 Uint array(2, 16), STORED TARGET | VERTEX;
    82 R16G16_SINT 4 Sint array(2, 16), STORED TARGET | VERTEX;
    83 R16G16_SFLOAT 4 Sfloat array(2, 16), FILTERED_STORED BLENDED | VERTEX;
    84 R16G16B16_UNORM 6 Unorm array(3, 16), FETCHED NONE;
    85 R16G16B16_SNORM 6 Snorm array(3, 16), FETCHED NONE;
    88 R16G16B16_UINT 6 Uint array(3, 16), FETCHED NONE;
    89 R16G16B16_SINT 6 Sint array(3, 16), FETCHED NONE;
    90 R16G16B16_SFLOAT 6 Sfloat array(3, 16), FETCHED NONE;
    91 R16G16B16A16_UNORM 8 Unorm array(4, 16), FILTERED_STORED BLENDED | VERTEX;
    92 R16G16B16A16_SNORM 8 Snorm array(4, 16), FILTERED_STORED TARGET | VERTEX;
    93 R16G16B16A16_USCALED 8 Uscaled array(4, 16), NOTHING BLITTED;
    94 R16G16B16A16_SSCALED 8 Sscaled array(4, 16), NOTHING BLITTED;
    95 R16G16B16A16_UINT 8 Uint array(4, 16), STORED TARGET | VERTEX;
    96 R16G16B16A16_SINT 8 Sint array(4, 16), STORED TARGET | VERTEX;
    97 R16G16B16A16_SFLOAT 8 Sfloat array(4, 16), FILTERED_STORED BLENDED | VERTEX;
    98 R32_UINT 4 Uint array(1, 32), ATOMIC TARGET | VERTEX;
    99 R32_SINT 4 Sint array(1, 32), ATOMIC TARGET | VERTEX;
    100 R32_SFLOAT 4 Sfloat array(1, 32), FILTERED_ATOMIC BLENDED | VERTEX;
    101 R32G32_UINT 8 Uint array(2, 32), STORED TARGET | VERTEX;
    102 R32G32_SINT 8 Sint array(2, 32), STORED TARGET | VERTEX;
    103 R32G32_SFLOAT 8 Sfloat array(2, 32), FILTERED_STORED BLENDED | VERTEX;
    104 R32G32B32_UINT 12 Uint array(3, 32), SAMPLED TARGET | VERTEX;
    105 R32G32B32_SINT 12 Sint array(3, 32), SAMPLED TARGET | VERTEX;
    106 R32G32B32_SFLOAT 12 Sfloat array(3, 32), FILTERED BLENDED | VERTEX;
    107 R32G32B32A32_UINT 16 Uint array(4, 32), STORED TARGET | VERTEX;
    108 R32G32B32A32_SINT 16 Sint array(4, 32), STORED TARGET | VERTEX;
    109 R32G32B32A32_SFLOAT 16 Sfloat array(4, 32), FILTERED_STORED BLENDED | VERTEX;
    110 R64_UINT 8 Uint array(1, 64), ATOMIC BLITTED;
    111 R64_SINT 8 Sint array(1, 64), ATOMIC BLITTED;
    122 B10G11R11_UFLOAT_PACK32 4 Ufloat [at(0, 11), at(11, 11), at(22, 10), NO], FILTERED_STORED BLENDED;
    123 E5B9G9R9_UFLOAT_PACK32 4 SharedExponent [at(0, 9), at(9, 9), at(18, 9), NO], FILTERED SOURCE;
};

const DEPTH_STENCIL: &[FormatInfo] = formats! {
    124 D16_UNORM 2 Unorm array(1, 16), FILTERED_IMAGE DEPTH;
    125 X8_D24_UNORM_PACK32 4 Unorm array(1, 24), FILTERED_IMAGE DEPTH;
    126 D32_SFLOAT 4 Sfloat array(1, 32), FILTERED_IMAGE DEPTH;
    127 S8_UINT 1 Uint array(1, 8), SAMPLED_IMAGE DEPTH;
    129 D24_UNORM_S8_UINT 8 Unorm array(1, 24), FILTERED_IMAGE DEPTH;
    130 D32_SFLOAT_S8_UINT 8 Sfloat array(1, 32), FILTERED_IMAGE DEPTH;
};

const BC: &[FormatInfo] = formats! {
    131 BC1_RGB_UNORM_BLOCK 8 Unorm array(3, 8), FILTERED_IMAGE SOURCE;
    132 BC1_RGB_SRGB_BLOCK 8 Srgb array(3, 8), FILTERED_IMAGE SOURCE;
    133 BC1_RGBA_UNORM_BLOCK 8 Unorm array(4, 8), FILTERED_IMAGE SOURCE;
    134 BC1_RGBA_SRGB_BLOCK 8 Srgb array(4, 8), FILTERED_IMAGE SOURCE;
    135 BC2_UNORM_BLOCK 16 Unorm array(4, 8), FILTERED_IMAGE SOURCE;
    136 BC2_SRGB_BLOCK 16 Srgb array(4, 8), FILTERED_IMAGE SOURCE;
    137 BC3_UNORM_BLOCK 16 Unorm array(4, 8), FILTERED_IMAGE SOURCE;
    138 BC3_SRGB_BLOCK 16 Srgb array(4, 8), FILTERED_IMAGE SOURCE;
    139 BC4_UNORM_BLOCK 8 Unorm array(1, 8), FILTERED_IMAGE SOURCE;
    140 BC4_SNORM_BLOCK 8 Snorm array(1, 8), FILTERED_IMAGE SOURCE;
    141 BC5_UNORM_BLOCK 16 Unorm array(2, 8), FILTERED_IMAGE SOURCE;
    142 BC5_SNORM_BLOCK 16 Snorm array(2, 8), FILTERED_IMAGE SOURCE;
    143 BC6H_UFLOAT_BLOCK 16 Ufloat array(3, 16), FILTERED_IMAGE SOURCE;
    144 BC6H_SFLOAT_BLOCK 16 Sfloat array(3, 16), FILTERED_IMAGE SOURCE;
    145 BC7_UNORM_BLOCK 16 Unorm array(4, 8), FILTERED_IMAGE SOURCE;
    146 BC7_SRGB_BLOCK 16 Srgb array(4, 8), FILTERED_IMAGE SOURCE;
};

/// Values of 10 and 12 bits at the upper end of 16. Images of four of them require sampler Y'CbCr conversion:
/// what these can be used for is said there ([`super::ycbcr`]).
const PADDED: &[FormatInfo] = formats! {
    1000156007 R10X6_UNORM_PACK16 2 Unorm [at(6, 10), NO, NO, NO], FILTERED_STORED NONE;
    1000156008 R10X6G10X6_UNORM_2PACK16 4 Unorm [at(6, 10), at(22, 10), NO, NO], FILTERED_STORED NONE;
    1000156009 R10X6G10X6B10X6A10X6_UNORM_4PACK16 8 Unorm [at(6, 10), at(22, 10), at(38, 10), at(54, 10)], NOTHING NONE;
    1000156017 R12X4_UNORM_PACK16 2 Unorm [at(4, 12), NO, NO, NO], FILTERED_STORED NONE;
    1000156018 R12X4G12X4_UNORM_2PACK16 4 Unorm [at(4, 12), at(20, 12), NO, NO], FILTERED_STORED NONE;
    1000156019 R12X4G12X4B12X4A12X4_UNORM_4PACK16 8 Unorm [at(4, 12), at(20, 12), at(36, 12), at(52, 12)], NOTHING NONE;
};

const LATE: &[FormatInfo] = formats! {
    1000340000 A4R4G4B4_UNORM_PACK16 2 Unorm [at(8, 4), at(4, 4), at(0, 4), at(12, 4)], FILTERED BLENDED;
    1000340001 A4B4G4R4_UNORM_PACK16 2 Unorm [at(0, 4), at(4, 4), at(8, 4), at(12, 4)], FILTERED BLENDED;
    1000470000 A1B5G5R5_UNORM_PACK16 2 Unorm [at(0, 5), at(5, 5), at(10, 5), at(15, 1)], FILTERED BLENDED;
    1000470001 A8_UNORM 1 Unorm [NO, NO, NO, at(0, 8)], FILTERED TARGET;
};

/// How many formats there are.
const COUNT: usize = COLOR.len() + DEPTH_STENCIL.len() + BC.len() + PADDED.len() + LATE.len();

const ALL: [FormatInfo; COUNT] = {
    let mut all = [COLOR[0]; COUNT];
    let tables = [COLOR, DEPTH_STENCIL, BC, PADDED, LATE];
    let (mut n, mut table) = (0, 0);
    while table < tables.len() {
        let mut k = 0;
        while k < tables[table].len() {
            let info = tables[table][k];
            all[n] = match info.format {
                124..=126 => aspect(info, Aspect::Depth),
                127 => aspect(info, Aspect::Stencil),
                128..=130 => aspect(info, Aspect::DepthStencil),
                131..=134 => compressed(info, Compression::Bc1),
                135..=136 => compressed(info, Compression::Bc2),
                137..=138 => compressed(info, Compression::Bc3),
                139..=140 => compressed(info, Compression::Bc4),
                141..=142 => compressed(info, Compression::Bc5),
                143..=144 => compressed(info, Compression::Bc6h),
                145..=146 => compressed(info, Compression::Bc7),
                _ => info,
            };
            k += 1;
            n += 1;
        }
        table += 1;
    }
    all
};

/// All formats that are supported, by ascending VkFormat number.
pub static FORMATS: &[FormatInfo] = &ALL;

/// The places in [`FORMATS`] of the formats of Vulkan 1.0, by VkFormat number; of those that are not there a
/// place behind its end.
pub(super) static CORE: [u8; 185] = {
    let mut places = [u8::MAX; 185];
    let mut k = 0;
    while k < COUNT {
        let format = ALL[k].format as usize;
        if format < places.len() {
            places[format] = k as u8;
        }
        k += 1;
    }
    assert!(COUNT < u8::MAX as usize);
    places
};
