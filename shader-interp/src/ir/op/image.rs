//! The image that an operation uses, and how it samples it.

use super::super::module::{Scalar, Value};
use super::OpKind;

/// Image dimensions of an image operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ImageDim {
    D1,
    D2,
    D3,
    Cube,
    Buffer,
}

/// The image that an operation uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageOperand {
    /// Index into `Shader::bindings`.
    pub binding: u32,
    /// Array element; `None` is 0.
    pub element: Option<Value>,
    /// Separate sampler for sampling: binding and element.
    pub sampler: Option<(u32, Option<Value>)>,
    /// 1D, 2D, 3D, cube or buffer.
    pub dim: ImageDim,
    /// Arrayed: one more coordinate, the layer.
    pub arrayed: bool,
    /// One more operand, the sample.
    pub multisampled: bool,
    /// Sampled type: component type of texels (I32, F32, I64; signed or not is the format's matter).
    pub texel: Scalar,
    /// The image's Sampled Type is a signed integer.
    pub signed: bool,
    /// `vkFormat`-independent SPIR-V Image Format as its number; 0 is Unknown.
    pub format: u32,
    /// What a sampling instruction does besides filtering.
    pub sampling: ImageSampling,
    /// Of OpImageSparse*: one more result after the texel, the residency code (I32). It is 0 where memory is
    /// bound to all texels that are accessed.
    pub sparse: bool,
}

/// Variants of [`OpKind::ImageSample`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageSampling {
    /// OpImageGather and OpImageDrefGather: this component (0 to 3) of four texels of the base level. The lod
    /// argument is there and unused.
    pub gather: Option<u8>,
    /// OpImage*Dref*: compare the texels' depth with a reference value. Without `gather` all four results are
    /// the same.
    pub reference: bool,
    /// Integer offsets: 0 none, 1 one for each axis (Offset, ConstOffset), 4 one for each axis of each texel
    /// of a gather (ConstOffsets).
    pub offsets: u8,
    /// Derivatives of the coordinates (without the layer), those along x and then those along y, in place of
    /// the lod argument.
    pub derivatives: bool,
    /// Bias: one more argument after the lod or the derivatives.
    pub bias: bool,
    /// MinLod: one more after that.
    pub min_lod: bool,
}

impl ImageSampling {
    /// Whether its level is that of the lod argument, or the base level of a gather, and of nothing else.
    pub fn names_level(&self) -> bool {
        !(self.derivatives || self.bias || self.min_lod)
    }
}

/// The operand of an image operation.
macro_rules! image_operand {
    ($kind:expr) => {
        match $kind {
            OpKind::ImageRead { image, .. }
            | OpKind::ImageWrite { image, .. }
            | OpKind::ImageAtomic { image, .. }
            | OpKind::ImageAtomicLoad { image, .. }
            | OpKind::ImageAtomicStore { image, .. }
            | OpKind::ImageFetch { image, .. }
            | OpKind::ImageSample { image, .. }
            | OpKind::ImageQuerySize { image, .. }
            | OpKind::ImageQueryLevels(image)
            | OpKind::ImageQueryLod(image)
            | OpKind::ImageQuerySamples(image) => Some(image),
            _ => None,
        }
    };
}

impl OpKind {
    /// The operand of an image operation.
    pub fn image(&self) -> Option<&ImageOperand> {
        image_operand!(self)
    }

    /// The same, to change it.
    pub fn image_mut(&mut self) -> Option<&mut ImageOperand> {
        image_operand!(self)
    }
}
