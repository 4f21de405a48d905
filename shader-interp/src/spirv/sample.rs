//! Instructions that sample and gather.

use super::derivative::Axis;
use super::image::dense;
use super::lowerer::Lowerer;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Conversion, ImageDim, ImageOperand, OpKind, Scalar, Value};
use pellucid_memory::finding::FindingId;
use smallvec::SmallVec;
use spirv::Op;

impl Lowerer<'_> {
    /// Sampling with an explicit or implicit level and gathering, with or without depth comparison and
    /// projection.
    pub fn image_sample(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let (mut handle, op) = (self.handle(i, 3)?, dense(i.op));
        let gather = matches!(op, Op::ImageGather | Op::ImageDrefGather);
        let projected = matches!(
            op,
            Op::ImageSampleProjImplicitLod
                | Op::ImageSampleProjExplicitLod
                | Op::ImageSampleProjDrefImplicitLod
                | Op::ImageSampleProjDrefExplicitLod
        );
        let reference = matches!(
            op,
            Op::ImageSampleDrefImplicitLod
                | Op::ImageSampleDrefExplicitLod
                | Op::ImageSampleProjDrefImplicitLod
                | Op::ImageSampleProjDrefExplicitLod
                | Op::ImageDrefGather
        );
        let implicit = matches!(
            op,
            Op::ImageSampleImplicitLod
                | Op::ImageSampleDrefImplicitLod
                | Op::ImageSampleProjImplicitLod
                | Op::ImageSampleProjDrefImplicitLod
        );
        if implicit {
            self.check_quad(i, FindingId::ImplicitDerivativeDivergence)?;
        }
        let operands = self.image_operands(i, if reference || gather { 6 } else { 5 })?;
        if operands.sample.is_some() {
            return Err(i.refuse("with a sample"));
        }
        if operands.bias.is_some() && !implicit {
            return Err(i.refuse("with a bias"));
        }
        let mut arguments = self.coordinates(i, 4, &handle.image, Scalar::F32)?;
        let axes = arguments.len() - usize::from(handle.image.arrayed);
        // Projection: the component after the coordinates divides them and the reference value.
        let divisor = if projected {
            let divisor =
                *self.operand(i, 4)?.get(arguments.len()).ok_or_else(|| i.invalid("has no divisor"))?;
            for coordinate in &mut arguments {
                *coordinate = self.b.alu(Alu::FDiv, Scalar::F32, &[*coordinate, divisor]);
            }
            Some(divisor)
        } else {
            None
        };
        let sampling = &mut handle.image.sampling;
        sampling.reference = reference;
        if reference {
            sampling.gather = gather.then_some(0);
            let value = self.scalar_operand(i, 5)?;
            arguments.push(match divisor {
                Some(divisor) => self.b.alu(Alu::FDiv, Scalar::F32, &[value, divisor]),
                None => value,
            });
        } else if gather {
            let component = self.int_operand(i, 5)?;
            let component =
                self.b.constant_bits(component).ok_or_else(|| i.refuse("with a variable component"))?;
            handle.image.sampling.gather = Some(component.min(3) as u8);
        }
        if gather {
            arguments.push(self.b.float(Scalar::F32, 0.0));
        } else {
            if let Some(lod) = operands.lod.filter(|_| !implicit) {
                let lod = self.value(lod)?;
                arguments.push(self.b.convert(Conversion::FConvert, Scalar::F32, lod));
            } else if implicit || operands.gradients.is_some() {
                handle.image.sampling.derivatives = true;
                let given = operands.gradients.filter(|_| !implicit);
                let coordinates = SmallVec::<[Value; 4]>::from_slice(&arguments[..axes]);
                arguments.extend(self.coordinate_derivatives(i, &handle.image, given, &coordinates)?);
            } else {
                return Err(i.invalid("has neither a level nor gradients"));
            }
            (handle.image.sampling.bias, handle.image.sampling.min_lod) =
                (operands.bias.is_some(), operands.min_lod.is_some());
            for id in [operands.bias, operands.min_lod].into_iter().flatten() {
                let value = self.value(id)?;
                arguments.push(self.b.convert(Conversion::FConvert, Scalar::F32, value));
            }
        }
        for (id, count) in [(operands.offset, 1), (operands.offsets, 4)] {
            let Some(id) = id else { continue };
            handle.image.sampling.offsets = count;
            for offset in self.values(id)? {
                arguments.push(self.int_value(offset));
            }
        }
        let access = self.image_access(&handle, &operands, false);
        let site = self.site(i, handle.variable);
        let kind = OpKind::ImageSample { image: handle.image, access };
        self.texel(i, kind, &handle.image, &arguments, site)
    }

    /// The derivatives of sampling coordinates without the layer, along x and then along y: those that the
    /// instruction gives, or those of the quad.
    pub fn coordinate_derivatives(
        &mut self,
        i: &Instruction<'_>,
        image: &ImageOperand,
        given: Option<(u32, u32)>,
        coordinates: &[Value],
    ) -> Result<Vec<Value>, CompileError> {
        let axes = match image.dim {
            ImageDim::D1 => 1,
            ImageDim::D2 => 2,
            ImageDim::D3 | ImageDim::Cube => 3,
            ImageDim::Buffer => return Err(i.invalid("samples a texel buffer")),
        };
        let site = self.site(i, 0);
        let mut derivatives = Vec::with_capacity(2 * axes);
        for (axis, k) in [(Axis::X, 0), (Axis::Y, 1)] {
            let Some(given) = given.map(|(x, y)| [x, y][k]) else {
                let coordinates = coordinates.iter().take(axes);
                derivatives.extend(coordinates.map(|&value| self.derivative(value, axis, false, site)));
                continue;
            };
            let given = self.values(given)?.to_vec();
            if given.len() < axes {
                return Err(i.invalid("has too few derivatives"));
            }
            let given = given.into_iter().take(axes);
            derivatives.extend(given.map(|value| self.b.convert(Conversion::FConvert, Scalar::F32, value)));
        }
        Ok(derivatives)
    }
}
