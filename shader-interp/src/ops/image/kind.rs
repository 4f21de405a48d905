//! What machine code for image operations is made for: formats, swizzles, how sampling instructions filter.

use crate::interface::Reduction;
use crate::math::format::FormatInfo;

/// What code is made for: the VkFormat of the texels, above it how a sampling instruction filters them
/// ([`Filter`]), and in the upper word the view's component swizzle, as its difference from the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Kind(u64);

impl Kind {
    /// Texels that are not of the case.
    pub const NONE: Kind = Kind(0);

    const IDENTITY: u32 = u32::from_le_bytes([3, 4, 5, 6]);

    pub fn new(format: i32, swizzle: [u8; 4]) -> Kind {
        let swizzle = u32::from_le_bytes(swizzle) ^ Kind::IDENTITY;
        Kind(u64::from(format as u32) | u64::from(swizzle) << 32)
    }

    /// The same for an instruction that samples so; `None` if there is no room for the format.
    pub fn with(self, filter: Filter) -> Option<Kind> {
        let format = self.texels();
        let fits = 0 < format && format < Filter::FORMATS;
        fits.then_some(Kind(self.0 | u64::from(filter.bits() as u32)))
    }

    /// The number that code compares.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The format, with the filter's bits above it.
    pub fn texels(self) -> i32 {
        self.0 as i32
    }

    /// Whether the view's components are the format's.
    pub fn is_identity(self) -> bool {
        self.0 >> 32 == 0
    }

    /// Result `k` of a read of such texels.
    pub fn component(self, info: &FormatInfo, k: usize) -> Component {
        let swizzle = ((self.0 >> 32) as u32 ^ Kind::IDENTITY).to_le_bytes();
        match swizzle[k] {
            1 => Component::Constant(0),
            2 => Component::Constant(info.missing(3)),
            source => Component::of(info, usize::from(source).clamp(3, 6) - 3),
        }
    }
}

/// What is read as a component of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    /// The format's component of this number.
    Of(usize),
    Constant(u32),
}

impl Component {
    /// Component `k` of a format, or what stands for it where the format lacks it.
    pub fn of(info: &FormatInfo, k: usize) -> Component {
        if info.fields[k].width > 0 { Component::Of(k) } else { Component::Constant(info.missing(k)) }
    }
}

/// VkBorderColor, floats and integers alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Border {
    /// Transparent black, or nothing asks for it.
    None,
    OpaqueBlack,
    OpaqueWhite,
}

impl Border {
    const ALL: [Border; 3] = [Border::None, Border::OpaqueBlack, Border::OpaqueWhite];

    /// The border that has these components; `None` if it is a custom one.
    pub fn of(color: [u32; 4], info: &FormatInfo) -> Option<Border> {
        Border::ALL.into_iter().find(|border| border.color(info) == color)
    }

    /// The components.
    pub fn color(self, info: &FormatInfo) -> [u32; 4] {
        let one = if info.numeric.is_integer() { 1 } else { 1f32.to_bits() };
        match self {
            Border::None => [0; 4],
            Border::OpaqueBlack => [0, 0, 0, one],
            Border::OpaqueWhite => [one; 4],
        }
    }
}

/// Which levels lanes read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levels {
    /// One, known before.
    Known,
    /// Each the nearest one to its LOD.
    Nearest,
    /// Each the two around its LOD.
    Linear,
}

impl Levels {
    const ALL: [Levels; 3] = [Levels::Known, Levels::Nearest, Levels::Linear];
}

/// How a sampling instruction of the case filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    /// The mean of the texels around a position, or the nearest.
    pub linear: bool,
    pub levels: Levels,
    /// VkSamplerAddressMode along each axis: 0 and 1 of a power of two of texels, 2 to 4;
    /// [`Filter::OF_ANY_SIZE`] and more is 0 and 1 of another number of texels.
    pub wrap: [u8; 3],
    /// What is around the image.
    pub border: Border,
    /// Coordinates count texels.
    pub unnormalized: bool,
    pub reduction: Reduction,
    /// VkCompareOp, of instructions that compare with a reference value.
    pub compare: Option<u8>,
}

impl Filter {
    /// Formats have smaller numbers.
    const FORMATS: i32 = 1 << Filter::ABOVE;
    /// Where the bits of the filter begin.
    const ABOVE: u32 = 9;
    /// VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER.
    pub const TO_BORDER: u8 = 3;
    /// What is added to modes that repeat an image.
    pub const OF_ANY_SIZE: u8 = 5;
    /// No offset of a texel in an image with a border is as great.
    pub const AWAY: u32 = 1 << 30;

    fn bits(self) -> i32 {
        let [x, y, z] = self.wrap.map(i32::from);
        let reduction = match self.reduction {
            Reduction::WeightedAverage => 0,
            Reduction::Min => 1,
            Reduction::Max => 2,
        };
        let compare = self.compare.map_or(0, |op| 1 | (i32::from(op) << 1)) | ((self.levels as i32) << 4);
        let bits = i32::from(self.linear) | 2 | (x << 2) | (y << 5) | (z << 8) | ((self.border as i32) << 11);
        (bits | (i32::from(self.unnormalized) << 13) | (reduction << 14) | (compare << 16)) << Filter::ABOVE
    }

    /// The filter and the format of a kind.
    pub fn of(kind: Kind) -> Option<(Filter, i32)> {
        let (bits, format) = (kind.texels() >> Filter::ABOVE, kind.texels() & (Filter::FORMATS - 1));
        let wrap = [2, 5, 8].map(|at| (bits >> at & 7) as u8);
        let border = *Border::ALL.get((bits >> 11 & 3) as usize)?;
        let reduction = match bits >> 14 & 3 {
            0 => Reduction::WeightedAverage,
            1 => Reduction::Min,
            _ => Reduction::Max,
        };
        let compare = (bits >> 16 & 1 != 0).then_some((bits >> 17 & 7) as u8);
        let unnormalized = bits >> 13 & 1 != 0;
        let levels = *Levels::ALL.get((bits >> 20 & 3) as usize)?;
        let linear = bits & 1 != 0;
        let filter = Filter { linear, levels, wrap, border, unnormalized, reduction, compare };
        (bits & 2 != 0).then_some((filter, format))
    }
}
