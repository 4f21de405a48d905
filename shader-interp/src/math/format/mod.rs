//! Texel formats: what each VkFormat that Pellucid supports looks like in memory, and what it may be used
//! for.
//!
//! A texel is read and written as `units()` consecutive words of `unit` bytes, least significant byte first;
//! no component crosses a 32-bit boundary. Components that a format lacks read as (0, 0, 0, 1) (*Conversion
//! to RGBA*). Signed and unsigned normalized values, floats and sRGB follow *Fixed-Point Data Conversions*
//! and *Floating-Point Format Conversions* of the Vulkan specification. Of a compressed format the block of
//! texels takes the place of the texel ([`block`]). What requires sampler Y'CbCr conversion has a table of
//! its own ([`ycbcr`](mod@ycbcr)), by the formats of its planes.

pub mod block;
mod codec;
mod table;
pub mod ycbcr;

use block::Compression;
pub(crate) use codec::srgb_bytes;
pub use table::FORMATS;
pub use ycbcr::ycbcr;

/// Format features, with the numbers of VkFormatFeatureFlagBits.
#[allow(missing_docs)]
pub mod feature {
    pub const SAMPLED_IMAGE: u32 = 0x1;
    pub const STORAGE_IMAGE: u32 = 0x2;
    pub const STORAGE_IMAGE_ATOMIC: u32 = 0x4;
    pub const UNIFORM_TEXEL_BUFFER: u32 = 0x8;
    pub const STORAGE_TEXEL_BUFFER: u32 = 0x10;
    pub const STORAGE_TEXEL_BUFFER_ATOMIC: u32 = 0x20;
    pub const VERTEX_BUFFER: u32 = 0x40;
    pub const COLOR_ATTACHMENT: u32 = 0x80;
    pub const COLOR_ATTACHMENT_BLEND: u32 = 0x100;
    pub const DEPTH_STENCIL_ATTACHMENT: u32 = 0x200;
    pub const BLIT_SRC: u32 = 0x400;
    pub const BLIT_DST: u32 = 0x800;
    pub const SAMPLED_IMAGE_FILTER_LINEAR: u32 = 0x1000;
    pub const TRANSFER_SRC: u32 = 0x4000;
    pub const TRANSFER_DST: u32 = 0x8000;
    pub const SAMPLED_IMAGE_FILTER_MINMAX: u32 = 0x1_0000;
    pub const MIDPOINT_CHROMA_SAMPLES: u32 = 0x2_0000;
    pub const YCBCR_CONVERSION_LINEAR_FILTER: u32 = 0x4_0000;
    pub const YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER: u32 = 0x8_0000;
    pub const YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT: u32 = 0x10_0000;
    pub const YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE: u32 = 0x20_0000;
    pub const DISJOINT: u32 = 0x40_0000;
    pub const COSITED_CHROMA_SAMPLES: u32 = 0x80_0000;
}

/// How the bits of a component are a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numeric {
    /// An integer over the largest one, in [0, 1].
    Unorm,
    /// A signed integer over the largest one, in [-1, 1].
    Snorm,
    /// An unsigned integer.
    Uint,
    /// A signed integer.
    Sint,
    /// An unsigned integer, whose value is a float.
    Uscaled,
    /// A signed integer, whose value is a float.
    Sscaled,
    /// An IEEE 754 float of 16 or 32 bits.
    Sfloat,
    /// A float without sign, 5 bits of exponent and 5 or 6 of fraction.
    Ufloat,
    /// 9 bits of fraction for each component and one exponent for all (E5B9G9R9).
    SharedExponent,
    /// Unorm, with red, green and blue encoded by the sRGB transfer function.
    Srgb,
}

impl Numeric {
    /// Texels are integers in shaders.
    pub fn is_integer(self) -> bool {
        matches!(self, Numeric::Uint | Numeric::Sint)
    }
}

/// The aspect that a format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Aspect {
    Color,
    Depth,
    Stencil,
    /// Both: a word of depth, and the stencil value in the lowest byte of the next one. The fields are
    /// those of depth.
    DepthStencil,
}

/// Where a component lies: its lowest bit, counted from the texel's first byte, and its bits (0: the format
/// lacks it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Lowest bit.
    pub offset: u8,
    /// Bits.
    pub width: u8,
}

/// One VkFormat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// The VkFormat number.
    pub format: i32,
    /// Its name, such as `VK_FORMAT_R8_UNORM`.
    pub name: &'static str,
    /// Bytes of one texel; of one texel block, if the format is compressed (*texel block size*).
    pub texel_bytes: u8,
    /// How the texels of a block become its bytes, if the format is compressed.
    pub compression: Option<Compression>,
    /// Bytes of the words that a texel is read and written in: 1, 2, 4 or 8.
    pub unit: u8,
    /// Components that it has, 1 to 4.
    pub components: u8,
    /// What its components are.
    pub numeric: Numeric,
    /// Colour, depth or stencil.
    pub aspect: Aspect,
    /// Red, green, blue, alpha (depth and stencil: red). Those of a compressed format say no more than which
    /// components there are.
    pub fields: [Field; 4],
    /// Features of images that a compute shader or a transfer can use ([`feature`]).
    pub image_features: u32,
    /// Features of texel buffers.
    pub buffer_features: u32,
    /// Features of graphics: blits, and what *Required Format Support* asks of every device: attachments and
    /// vertex buffers.
    pub graphics_features: u32,
}

impl FormatInfo {
    /// Words of [`FormatInfo::unit`] bytes in a texel.
    pub fn units(&self) -> u8 {
        self.texel_bytes / self.unit
    }

    /// It has a depth aspect.
    pub fn has_depth(&self) -> bool {
        matches!(self.aspect, Aspect::Depth | Aspect::DepthStencil)
    }

    /// Whether a texel has a stencil value, alone or beside depth.
    pub fn has_stencil(&self) -> bool {
        matches!(self.aspect, Aspect::Stencil | Aspect::DepthStencil)
    }

    /// Components are 64 bits wide.
    pub fn is_64_bit(&self) -> bool {
        self.unit == 8
    }
}

/// What is known of a VkFormat; `None` if Pellucid does not support it.
pub fn properties(format: i32) -> Option<&'static FormatInfo> {
    // Those of Vulkan 1.0 by a table: accesses ask.
    match usize::try_from(format).ok().and_then(|format| table::CORE.get(format)) {
        Some(index) => FORMATS.get(usize::from(*index)),
        None => FORMATS.binary_search_by_key(&format, |info| info.format).ok().map(|index| &FORMATS[index]),
    }
}
