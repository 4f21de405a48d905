//! Images, samplers and texel pointers. What samples is in [`super::sample`].

use super::lowerer::{Def, Handle, Lowerer, Texel};
use super::memory::MemoryOperands;
use super::pointer::{Base, Pointer};
use super::types::{ImageType, Type};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Conversion, ImageDim, ImageOperand, ImageSampling, OpKind, Scalar, Value};
use pellucid_memory::access::{Access, Site};
use pellucid_memory::finding::FindingId;
use pellucid_memory::scope::{Scope, StorageClasses};
use smallvec::SmallVec;
use spirv::Op;

/// Image operands (SPIR-V 3.14) that image instructions know.
#[derive(Default)]
pub(super) struct Operands {
    pub bias: Option<u32>,
    pub lod: Option<u32>,
    pub min_lod: Option<u32>,
    /// Derivatives in x and in y.
    pub gradients: Option<(u32, u32)>,
    pub offset: Option<u32>,
    /// One offset for each texel of a gather.
    pub offsets: Option<u32>,
    pub sample: Option<u32>,
    pub memory: MemoryOperands,
}

/// The operation of an OpImageSparse* instruction without its residency code; other operations as they are.
pub(super) fn dense(op: Op) -> Op {
    match op {
        Op::ImageSparseSampleImplicitLod => Op::ImageSampleImplicitLod,
        Op::ImageSparseSampleExplicitLod => Op::ImageSampleExplicitLod,
        Op::ImageSparseSampleDrefImplicitLod => Op::ImageSampleDrefImplicitLod,
        Op::ImageSparseSampleDrefExplicitLod => Op::ImageSampleDrefExplicitLod,
        Op::ImageSparseFetch => Op::ImageFetch,
        Op::ImageSparseGather => Op::ImageGather,
        Op::ImageSparseDrefGather => Op::ImageDrefGather,
        Op::ImageSparseRead => Op::ImageRead,
        other => other,
    }
}

/// True for the opcodes that [`Lowerer::op_image`] takes.
pub(crate) fn is_image(op: Op) -> bool {
    use Op::*;
    matches!(
        dense(op),
        SampledImage
            | Image
            | ImageTexelPointer
            | ImageRead
            | ImageWrite
            | ImageFetch
            | ImageSampleImplicitLod
            | ImageSampleExplicitLod
            | ImageSampleDrefImplicitLod
            | ImageSampleDrefExplicitLod
            | ImageSampleProjImplicitLod
            | ImageSampleProjExplicitLod
            | ImageSampleProjDrefImplicitLod
            | ImageSampleProjDrefExplicitLod
            | ImageGather
            | ImageDrefGather
            | ImageQuerySize
            | ImageQuerySizeLod
            | ImageQueryLod
            | ImageQueryLevels
            | ImageQuerySamples
            | ImageSparseTexelsResident
    )
}

impl Lowerer<'_> {
    /// OpLoad of an image, a sampler or both.
    pub fn load_handle(&mut self, i: &Instruction<'_>, pointer: &Pointer) -> Result<(), CompileError> {
        let Base::Resource { binding, element } = pointer.base else {
            return Err(i.invalid("is not of an image or sampler"));
        };
        if pointer.descriptor_array {
            return Err(i.refuse("of an array of descriptors"));
        }
        let none =
            ImageType { sampled_type: 0, dim: 1, arrayed: false, multisampled: false, sampled: 1, format: 0 };
        let (ty, sampler_only) = match self.types.get(pointer.pointee)?.kind {
            Type::Image(image) => (image, false),
            Type::SampledImage { image } => match self.types.get(image)?.kind {
                Type::Image(image) => (image, false),
                _ => return Err(i.invalid("is of a sampled image without image")),
            },
            Type::Sampler => (none, true),
            _ => return Err(i.invalid("is not of an image or sampler")),
        };
        let image = self.image_operand(i, binding, element, &ty)?;
        let handle = Handle {
            image,
            sampler_only,
            variable: pointer.variable,
            coherent: pointer.coherent,
            volatile: pointer.volatile,
        };
        self.defs[i.id(2)? as usize] = Def::Handle(self.handles.len() as u32);
        self.handles.push(handle);
        Ok(())
    }

    fn image_operand(
        &self,
        i: &Instruction<'_>,
        binding: u32,
        element: Option<Value>,
        ty: &ImageType,
    ) -> Result<ImageOperand, CompileError> {
        let dim = match ty.dim {
            0 => ImageDim::D1,
            1 => ImageDim::D2,
            2 => ImageDim::D3,
            3 => ImageDim::Cube,
            5 => ImageDim::Buffer,
            other => return Err(i.refuse(&format!("of an image of dimension {other}"))),
        };
        let (texel, signed) = if ty.sampled_type == 0 {
            (Scalar::F32, false)
        } else {
            match self.types.get(ty.sampled_type)?.kind {
                Type::Scalar {
                    scalar: scalar @ (Scalar::I32 | Scalar::F32 | Scalar::I64), signed, ..
                } => (scalar, signed),
                _ => {
                    return Err(i.refuse(
                        "of an image whose sampled type is neither 32 bits wide nor a 64-bit integer",
                    ));
                }
            }
        };
        let (arrayed, multisampled, format) = (ty.arrayed, ty.multisampled, ty.format);
        Ok(ImageOperand {
            binding,
            element,
            sampler: None,
            dim,
            arrayed,
            multisampled,
            texel,
            signed,
            format,
            sampling: ImageSampling::default(),
            sparse: false,
        })
    }

    /// The image or sampler that an operand names, as the instruction uses it.
    pub(super) fn handle(&self, i: &Instruction<'_>, index: usize) -> Result<Handle, CompileError> {
        match self.defs[i.id(index)? as usize] {
            Def::Handle(handle) => {
                let mut handle = self.handles[handle as usize];
                handle.image.sparse = dense(i.op) != i.op;
                Ok(handle)
            }
            _ => Err(i.invalid("has an operand that is no image")),
        }
    }

    /// All image instructions.
    pub fn op_image(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        match dense(i.op) {
            Op::SampledImage => {
                let (mut image, sampler) = (self.handle(i, 3)?, self.handle(i, 4)?);
                image.image.sampler = Some((sampler.image.binding, sampler.image.element));
                self.define_handle(i, image)
            }
            Op::Image => {
                let mut image = self.handle(i, 3)?;
                image.image.sampler = None;
                self.define_handle(i, image)
            }
            Op::ImageTexelPointer => self.texel_pointer(i),
            Op::ImageRead => self.image_read(i),
            Op::ImageWrite => self.image_write(i),
            Op::ImageFetch => self.image_fetch(i),
            Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageGather
            | Op::ImageDrefGather => self.image_sample(i),
            Op::ImageQuerySize | Op::ImageQuerySizeLod => {
                let handle = self.handle(i, 3)?;
                let lod = i.op == Op::ImageQuerySizeLod;
                let mut arguments = Vec::new();
                if lod {
                    arguments.push(self.int_operand(i, 4)?);
                }
                let site = self.site(i, handle.variable);
                let flat = self.types.get(i.id(1)?)?.flat as usize;
                let kind = OpKind::ImageQuerySize { image: handle.image, lod };
                let size = self.b.op(kind, &vec![Scalar::I32; flat], &arguments, site);
                self.set_integers(i, &size)
            }
            Op::ImageQueryLod => {
                self.check_quad(i, FindingId::ImplicitDerivativeDivergence)?;
                let handle = self.handle(i, 3)?;
                // The layer is no part of its coordinates.
                let image = ImageOperand { arrayed: false, ..handle.image };
                let mut arguments = self.coordinates(i, 4, &image, Scalar::F32)?;
                arguments.extend(self.coordinate_derivatives(i, &image, None, &arguments)?);
                let sampling = ImageSampling { derivatives: true, ..ImageSampling::default() };
                let kind = OpKind::ImageQueryLod(ImageOperand { sampling, ..image });
                let site = self.site(i, handle.variable);
                let found = self.b.op(kind, &[Scalar::F32; 2], &arguments, site);
                self.set(i, &found)
            }
            Op::ImageQueryLevels | Op::ImageQuerySamples => {
                let handle = self.handle(i, 3)?;
                let site = self.site(i, handle.variable);
                let levels = i.op == Op::ImageQueryLevels;
                let kind = if levels {
                    OpKind::ImageQueryLevels(handle.image)
                } else {
                    OpKind::ImageQuerySamples(handle.image)
                };
                let count = self.b.one(kind, Scalar::I32, &[], site);
                self.set_integers(i, &[count])
            }
            Op::ImageSparseTexelsResident => {
                let code = self.int_operand(i, 3)?;
                let resident = self.equals(code, 0);
                self.set(i, &[resident])
            }
            _ => Err(i.refuse("")),
        }
    }

    fn set_integers(&mut self, i: &Instruction<'_>, values: &[Value]) -> Result<(), CompileError> {
        let result = self.types.scalar(i.id(1)?)?;
        let values: Vec<Value> =
            values.iter().map(|&x| self.b.convert(Conversion::UConvert, result, x)).collect();
        self.set(i, &values)
    }

    fn define_handle(&mut self, i: &Instruction<'_>, handle: Handle) -> Result<(), CompileError> {
        self.defs[i.id(2)? as usize] = Def::Handle(self.handles.len() as u32);
        self.handles.push(handle);
        Ok(())
    }

    /// Coordinates as I32 or F32; their number must be what the image's dimensions ask.
    pub(super) fn coordinates(
        &mut self,
        i: &Instruction<'_>,
        index: usize,
        image: &ImageOperand,
        scalar: Scalar,
    ) -> Result<SmallVec<[Value; 4]>, CompileError> {
        let values = self.operand(i, index)?;
        let dims = match image.dim {
            ImageDim::D1 | ImageDim::Buffer => 1,
            ImageDim::D2 => 2,
            ImageDim::D3 => 3,
            // Storage cubes are addressed as arrays of faces.
            ImageDim::Cube => 3,
        };
        let count =
            dims + usize::from(image.arrayed && !(image.dim == ImageDim::Cube && scalar == Scalar::I32));
        if values.len() < count {
            return Err(i.invalid("has too few coordinates"));
        }
        let float = scalar == Scalar::F32;
        values[..count]
            .iter()
            .map(|&x| {
                let from = self.b.scalar(x);
                match (from, float) {
                    (Scalar::F32, true) | (Scalar::I32, false) => Ok(x),
                    (Scalar::F16, true) => Ok(self.b.convert(Conversion::FConvert, Scalar::F32, x)),
                    (Scalar::I32, true) => Ok(self.b.convert(Conversion::SToF, Scalar::F32, x)),
                    (Scalar::I8 | Scalar::I16 | Scalar::I64, false) => {
                        let signed = self.types.signed(self.type_of(i.id(index)?)?);
                        let how = if signed { Conversion::SConvert } else { Conversion::UConvert };
                        Ok(self.b.convert(how, Scalar::I32, x))
                    }
                    _ => Err(i.invalid("has coordinates of a type that it does not take")),
                }
            })
            .collect()
    }

    pub(super) fn image_operands(&self, i: &Instruction<'_>, at: usize) -> Result<Operands, CompileError> {
        let mut operands = Operands::default();
        let Some(&mask) = i.rest(at).first() else { return Ok(operands) };
        let mut next = at + 1;
        let mut take = || {
            next += 1;
            i.id(next - 1)
        };
        // All but what other extensions have: Bias, Lod, Grad, ConstOffset, Offset, ConstOffsets, Sample,
        // MinLod, texel availability and visibility, SignExtend, ZeroExtend, Nontemporal.
        const KNOWN: u32 = 0x7fff;
        if mask & !KNOWN != 0 {
            return Err(i.refuse(&format!("with image operands {mask:#x}")));
        }
        if mask & 0x1 != 0 {
            operands.bias = Some(take()?);
        }
        if mask & 0x2 != 0 {
            operands.lod = Some(take()?);
        }
        if mask & 0x4 != 0 {
            operands.gradients = Some((take()?, take()?));
        }
        if mask & 0x8 != 0 {
            operands.offset = Some(take()?);
        }
        if mask & 0x10 != 0 {
            operands.offset = Some(take()?);
        }
        if mask & 0x20 != 0 {
            operands.offsets = Some(take()?);
        }
        if mask & 0x40 != 0 {
            operands.sample = Some(take()?);
        }
        if mask & 0x80 != 0 {
            operands.min_lod = Some(take()?);
        }
        if mask & 0x100 != 0 {
            operands.memory.available = Some(self.scope(take()?)?);
        }
        if mask & 0x200 != 0 {
            operands.memory.visible = Some(self.scope(take()?)?);
        }
        operands.memory.non_private = mask & 0x700 != 0;
        operands.memory.volatile = mask & 0x800 != 0;
        Ok(operands)
    }

    pub(super) fn image_access(&self, handle: &Handle, operands: &Operands, write: bool) -> Access {
        let size = handle.image.texel.bytes() as u8;
        let mut access = Access::plain(StorageClasses::IMAGE, size, 4);
        access.read_as = self.bindings[handle.image.binding as usize].kind.read_as();
        let scope = (handle.coherent || handle.volatile).then_some(Scope::QueueFamily);
        self.declare(&mut access, &operands.memory, write, (scope, handle.volatile));
        access
    }

    /// The operation `kind` on `image`, and its results as the instruction's: as many of the four components
    /// of a texel as its type has, after the residency code where it has one.
    pub(super) fn texel(
        &mut self,
        i: &Instruction<'_>,
        kind: OpKind,
        image: &ImageOperand,
        arguments: &[Value],
        site: Site,
    ) -> Result<(), CompileError> {
        let mut results = SmallVec::<[Scalar; 5]>::from_elem(image.texel, 4);
        let mut ty = i.id(1)?;
        let mut out = Vec::with_capacity(5);
        let mut code = None;
        if image.sparse {
            let Type::Struct { members } = &self.types.get(ty)?.kind else {
                return Err(i.invalid("has a result that is no structure"));
            };
            let [first, second] = &members[..] else {
                return Err(i.invalid("has a result of other than two members"));
            };
            let of = self.types.get(first.ty)?;
            let integer = of.scalar.filter(|s| of.flat == 1 && *s != Scalar::Bool && !s.is_float());
            let integer = integer.ok_or_else(|| i.invalid("has a residency code that is no integer"))?;
            (code, ty) = (Some(integer), second.ty);
            results.push(Scalar::I32);
        }
        let info = self.types.get(ty)?;
        let count = info.flat as usize;
        let to = info.scalar.ok_or_else(|| i.invalid("has a texel of no type that texels have"))?;
        if count > 4 {
            return Err(i.invalid("has more than 4 components"));
        }
        let texel = self.b.op(kind, &results, arguments, site);
        if let Some(scalar) = code {
            out.push(self.b.convert(Conversion::UConvert, scalar, texel[4]));
        }
        for &x in &texel[..count] {
            out.push(match (image.texel, to) {
                (Scalar::F32, Scalar::F16) => self.b.convert(Conversion::FConvert, to, x),
                (Scalar::I32 | Scalar::I64, Scalar::I16 | Scalar::I8 | Scalar::I32 | Scalar::I64) => {
                    let how = if image.signed { Conversion::SConvert } else { Conversion::UConvert };
                    self.b.convert(how, to, x)
                }
                _ => x,
            });
        }
        self.set(i, &out)
    }

    fn sample(&mut self, operands: &Operands) -> Result<Option<Value>, CompileError> {
        let Some(id) = operands.sample else { return Ok(None) };
        let value = self.value(id)?;
        Ok(Some(self.int_value(value)))
    }

    fn image_read(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let handle = self.handle(i, 3)?;
        let operands = self.image_operands(i, 5)?;
        let mut arguments = self.coordinates(i, 4, &handle.image, Scalar::I32)?;
        arguments.extend(self.sample(&operands)?);
        let access = self.image_access(&handle, &operands, false);
        let site = self.site(i, handle.variable);
        let kind = OpKind::ImageRead { image: handle.image, access };
        self.texel(i, kind, &handle.image, &arguments, site)
    }

    fn image_write(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let handle = self.handle(i, 1)?;
        let operands = self.image_operands(i, 4)?;
        let mut arguments = self.coordinates(i, 2, &handle.image, Scalar::I32)?;
        arguments.extend(self.sample(&operands)?);
        let scalar = handle.image.texel;
        let texel = self.operand(i, 3)?;
        let signed = handle.image.signed;
        for k in 0..4 {
            let value = match texel.get(k) {
                None => self.b.constant(scalar, 0),
                Some(&x) => match (self.b.scalar(x), scalar) {
                    (from, to) if from == to => x,
                    (Scalar::F16, Scalar::F32) => self.b.convert(Conversion::FConvert, scalar, x),
                    (Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64, Scalar::I32 | Scalar::I64) => {
                        let how = if signed { Conversion::SConvert } else { Conversion::UConvert };
                        self.b.convert(how, scalar, x)
                    }
                    _ => return Err(i.invalid("has a texel of another type than the image's")),
                },
            };
            arguments.push(value);
        }
        let access = self.image_access(&handle, &operands, true);
        self.bindings[handle.image.binding as usize].written = true;
        let site = self.site(i, handle.variable);
        self.b.op(OpKind::ImageWrite { image: handle.image, access }, &[], &arguments, site);
        Ok(())
    }

    fn image_fetch(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let handle = self.handle(i, 3)?;
        let operands = self.image_operands(i, 5)?;
        let mut arguments = self.coordinates(i, 4, &handle.image, Scalar::I32)?;
        if let Some(offset) = operands.offset {
            let offset = self.values(offset)?;
            for (at, &by) in arguments.iter_mut().zip(&offset) {
                *at = self.b.add(*at, by);
            }
        }
        let last = match (self.sample(&operands)?, operands.lod) {
            (Some(sample), _) => sample,
            (None, Some(lod)) => {
                let lod = self.value(lod)?;
                self.int_value(lod)
            }
            (None, None) => self.b.int(0),
        };
        arguments.push(last);
        let access = self.image_access(&handle, &operands, false);
        let site = self.site(i, handle.variable);
        let kind = OpKind::ImageFetch { image: handle.image, access };
        self.texel(i, kind, &handle.image, &arguments, site)
    }

    /// OpImageTexelPointer: image pointer, coordinates, sample.
    fn texel_pointer(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let pointer = self.pointer(i.id(3)?)?;
        let (Base::Resource { binding, element }, Type::Image(ty)) =
            (pointer.base, self.types.get(pointer.pointee)?.kind.clone())
        else {
            return Err(i.invalid("is not of an image"));
        };
        let image = self.image_operand(i, binding, element, &ty)?;
        let mut coordinates = self.coordinates(i, 4, &image, Scalar::I32)?;
        if image.multisampled {
            coordinates.push(self.int_operand(i, 5)?);
        }
        let Type::Pointer { pointee: pointee @ 1.., .. } = self.types.get(i.id(1)?)?.kind else {
            return Err(i.invalid("is not of pointer type"));
        };
        let texel = self.texels.len() as u32;
        self.texels.push(Texel { image, coordinates });
        let pointer = Pointer { base: Base::Texel(texel), pointee, ..pointer };
        self.define_pointer(i.id(2)?, pointer);
        Ok(())
    }
}
