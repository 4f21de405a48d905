//! Formats whose colour images *require sampler Y'CbCr conversion*: green is luma, blue and red are chroma,
//! which may be of half the resolution along x (`_422`) or along x and y (`_420`), in planes of their own or
//! between the luma values of two texels.

/// One VkFormat of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ycbcr {
    /// The VkFormat number.
    pub format: i32,
    /// Its name, such as `VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM`.
    pub name: &'static str,
    /// The format that each plane is compatible with (*Compatible Formats of Planes of Multi-Planar
    /// Formats*). Of a format with one plane it is one whose texel is as large as a texel block.
    pub planes: &'static [i32],
    /// Luma texels to one chroma texel along x and y.
    pub subsampling: [u32; 2],
    /// Where luma and chroma lie in the texel block, if they share one.
    pub packed: Option<Packed>,
}

/// A texel block of two texels: two luma values and one pair of chroma values, all of them alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The format of one value.
    pub value: i32,
    /// Bytes of one value.
    pub bytes: u32,
    /// Which of the four values is the first luma value (the second one lies two further), blue, and red.
    pub places: [u32; 3],
}

impl Ycbcr {
    /// Texels of a block of the first plane along each axis.
    pub fn block(&self) -> [u32; 3] {
        if self.packed.is_some() { [self.subsampling[0], self.subsampling[1], 1] } else { [1; 3] }
    }

    /// Texels of plane `k` of an image with so many texels.
    pub fn plane_extent(&self, k: usize, [width, height, depth]: [u32; 3]) -> [u32; 3] {
        match k {
            0 => [width, height, depth],
            _ => [width / self.subsampling[0], height / self.subsampling[1], depth],
        }
    }

    /// The format of luma values.
    pub fn luma(&self) -> i32 {
        self.packed.map_or(self.planes[0], |packed| packed.value)
    }
}

/// The format, if it requires sampler Y'CbCr conversion.
#[inline]
pub fn ycbcr(format: i32) -> Option<&'static Ycbcr> {
    // Those of Vulkan 1.0 do not: the usual answer is a quick one.
    if format < FIRST {
        return None;
    }
    FORMATS.iter().find(|of| of.format == format)
}

/// One value of each width: the formats of one value, of two, and of four.
struct Width([i32; 3]);

const W8: Width = Width([9, 16, 37]);
const W10: Width = Width([1_000_156_007, 1_000_156_008, 1_000_156_009]);
const W12: Width = Width([1_000_156_017, 1_000_156_018, 1_000_156_019]);
const W16: Width = Width([70, 77, 91]);

/// Planes of luma, blue and red.
macro_rules! three {
    ($width:ident) => {
        (&[$width.0[0], $width.0[0], $width.0[0]], None)
    };
}

/// A plane of luma, and one of blue and red.
macro_rules! two {
    ($width:ident) => {
        (&[$width.0[0], $width.0[1]], None)
    };
}

/// Luma, blue and red in one block.
macro_rules! block {
    ($width:ident, $bytes:literal, $places:expr) => {
        (&[$width.0[2]], Some(Packed { value: $width.0[0], bytes: $bytes, places: $places }))
    };
}

/// Red, green, blue and alpha of one texel.
macro_rules! whole {
    ($width:ident) => {
        (&[$width.0[2]], None)
    };
}

/// The places of values in a block: luma, blue, luma, red; and blue, luma, red, luma.
const GBGR: [u32; 3] = [0, 1, 3];
const BGRG: [u32; 3] = [1, 0, 2];

const S444: [u32; 2] = [1, 1];
const S422: [u32; 2] = [2, 1];
const S420: [u32; 2] = [2, 2];

macro_rules! formats {
    ($($number:literal $name:ident $subsampling:ident $planes:expr;)*) => {
        &[$({
            let (planes, packed): (&'static [i32], Option<Packed>) = $planes;
            let name = concat!("VK_FORMAT_", stringify!($name));
            Ycbcr { format: $number, name, planes, subsampling: $subsampling, packed }
        }),*]
    };
}

/// The least of their VkFormat numbers.
const FIRST: i32 = 1_000_156_000;

/// All of them, by ascending VkFormat number.
pub static FORMATS: &[Ycbcr] = formats! {
    1000156000 G8B8G8R8_422_UNORM S422 block!(W8, 1, GBGR);
    1000156001 B8G8R8G8_422_UNORM S422 block!(W8, 1, BGRG);
    1000156002 G8_B8_R8_3PLANE_420_UNORM S420 three!(W8);
    1000156003 G8_B8R8_2PLANE_420_UNORM S420 two!(W8);
    1000156004 G8_B8_R8_3PLANE_422_UNORM S422 three!(W8);
    1000156005 G8_B8R8_2PLANE_422_UNORM S422 two!(W8);
    1000156006 G8_B8_R8_3PLANE_444_UNORM S444 three!(W8);
    1000156009 R10X6G10X6B10X6A10X6_UNORM_4PACK16 S444 whole!(W10);
    1000156010 G10X6B10X6G10X6R10X6_422_UNORM_4PACK16 S422 block!(W10, 2, GBGR);
    1000156011 B10X6G10X6R10X6G10X6_422_UNORM_4PACK16 S422 block!(W10, 2, BGRG);
    1000156012 G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16 S420 three!(W10);
    1000156013 G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16 S420 two!(W10);
    1000156014 G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16 S422 three!(W10);
    1000156015 G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16 S422 two!(W10);
    1000156016 G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16 S444 three!(W10);
    1000156019 R12X4G12X4B12X4A12X4_UNORM_4PACK16 S444 whole!(W12);
    1000156020 G12X4B12X4G12X4R12X4_422_UNORM_4PACK16 S422 block!(W12, 2, GBGR);
    1000156021 B12X4G12X4R12X4G12X4_422_UNORM_4PACK16 S422 block!(W12, 2, BGRG);
    1000156022 G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16 S420 three!(W12);
    1000156023 G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16 S420 two!(W12);
    1000156024 G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16 S422 three!(W12);
    1000156025 G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16 S422 two!(W12);
    1000156026 G12X4_B12X4_R12X4_3PLANE_444_UNORM_3PACK16 S444 three!(W12);
    1000156027 G16B16G16R16_422_UNORM S422 block!(W16, 2, GBGR);
    1000156028 B16G16R16G16_422_UNORM S422 block!(W16, 2, BGRG);
    1000156029 G16_B16_R16_3PLANE_420_UNORM S420 three!(W16);
    1000156030 G16_B16R16_2PLANE_420_UNORM S420 two!(W16);
    1000156031 G16_B16_R16_3PLANE_422_UNORM S422 three!(W16);
    1000156032 G16_B16R16_2PLANE_422_UNORM S422 two!(W16);
    1000156033 G16_B16_R16_3PLANE_444_UNORM S444 three!(W16);
    1000330000 G8_B8R8_2PLANE_444_UNORM S444 two!(W8);
    1000330001 G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16 S444 two!(W10);
    1000330002 G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16 S444 two!(W12);
    1000330003 G16_B16R16_2PLANE_444_UNORM S444 two!(W16);
};

#[cfg(test)]
mod tests;
