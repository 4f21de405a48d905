//! The common case of texels in one step: those of one level of an image with one sample, or of a texel
//! buffer, in flat memory. The interpreter does texels of one 32-bit component so, machine code more formats,
//! and it samples.

use super::address::{Shape, Texels, along, to_mask};
use super::footprint::Sampling;
use super::{ImageInstruction, Operation, clear_outside, ycbcr};
use crate::code::{ElementIndex, ImageEntry, Program};
use crate::interface::{Descriptor, Reduction, Resources, Sampler};
use crate::ir::{ImageDim, ImageOperand, ImageSampling, Scalar};
use crate::math::format::FormatInfo;
use pellucid_memory::access::{Access, AtomicOp};
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, Mask, MemoryView, Pointers, Trap};
use std::cell::Cell;
use std::mem::offset_of;

const R32_UINT: i32 = 98;
const R32_SINT: i32 = 99;
const R32_SFLOAT: i32 = 100;

/// Whether instructions with this operand may be of the case; the descriptor decides the rest.
pub(super) fn may_be(image: &ImageOperand) -> bool {
    !image.multisampled && !image.sparse && image.texel != Scalar::I64
}

/// What machine code knows of the texels that an instruction reaches, where it finds it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raster<'a> {
    memory: MemoryView<'a>,
    /// What code is made for.
    pub kind: Kind,
    /// Byte offset of the first texel.
    start: u32,
    /// Texels along each coordinate of the instruction, of which the last may be the layer.
    extent: [u32; 3],
    /// Bytes from texel to texel along each coordinate: along the first, those of a texel.
    pitch: [u32; 3],
}

impl<'a> Raster<'a> {
    /// Where its fields are.
    pub const MEMORY: usize = offset_of!(Raster<'static>, memory);
    pub const KIND: usize = offset_of!(Raster<'static>, kind);
    pub const START: usize = offset_of!(Raster<'static>, start);
    pub const EXTENT: usize = offset_of!(Raster<'static>, extent);
    pub const PITCH: usize = offset_of!(Raster<'static>, pitch);

    const NONE: Raster<'static> =
        Raster { memory: MemoryView::NULL, kind: Kind::NONE, start: 0, extent: [0; 3], pitch: [0; 3] };

    /// The texels that the instruction of `entry` reaches.
    pub fn of(program: &Program, entry: &ImageEntry, resources: &'a Resources) -> Raster<'a> {
        let raster = match entry.instruction.operation {
            Operation::Sample => Raster::sampled(program, entry, resources),
            Operation::Fetch => Raster::fetched(program, entry, resources),
            _ => Raster::found(entry, resources),
        };
        raster.unwrap_or(Raster::NONE)
    }

    fn found(entry: &ImageEntry, resources: &'a Resources) -> Option<Raster<'a>> {
        let image = descriptor(resources, entry.instruction.image.binding, entry.element)?;
        Raster::of_level(&texels(&entry.instruction, image)?, 0)
    }

    /// What a fetch reaches, if the level that it names is known before.
    fn fetched(program: &Program, entry: &ImageEntry, resources: &'a Resources) -> Option<Raster<'a>> {
        let image = descriptor(resources, entry.instruction.image.binding, entry.element)?;
        let texels = texels(&entry.instruction, image)?;
        let level = match entry.arguments.get(entry.instruction.coordinates()) {
            Some(register) => program.constant(*register).filter(|level| *level < texels.levels())?,
            None => 0,
        };
        Raster::of_level(&texels, level)
    }

    /// What a sampling instruction reaches whose lanes all read one level, known before.
    fn sampled(program: &Program, entry: &ImageEntry, resources: &'a Resources) -> Option<Raster<'a>> {
        let instruction = &entry.instruction;
        let how = &instruction.image.sampling;
        if !how.names_level() || instruction.image.dim == ImageDim::Cube {
            return None;
        }
        let image = descriptor(resources, instruction.image.binding, entry.element)?;
        let sampler = match instruction.image.sampler {
            Some((binding, _)) => descriptor(resources, binding, entry.sampler?)?,
            None => image,
        };
        let (Descriptor::Sampler(sampler) | Descriptor::ImageSampler(_, sampler)) = sampler else {
            return None;
        };
        let texels = texels(instruction, image)?;
        if ycbcr::converted(image, sampler).is_some() {
            return None;
        }
        let axes = instruction.coordinates() - usize::from(instruction.image.arrayed);
        let (level, linear) = match how.gather {
            Some(_) => (0, true),
            None => level(program, entry, &texels, sampler, axes)?,
        };
        let raster = Raster::of_level(&texels, level)?;
        let mut wrap = [2; 3];
        for (k, wrap) in wrap.iter_mut().enumerate().take(axes) {
            *wrap = u8::try_from(sampler.address[k]).ok()?;
            match *wrap {
                _ if raster.extent[k] >= 1 << 24 => return None,
                0 | 1 if !raster.extent[k].is_power_of_two() => *wrap += Filter::OF_ANY_SIZE,
                0..=4 => {}
                _ => return None,
            }
        }
        let mut border = Border::None;
        if wrap.contains(&Filter::TO_BORDER) {
            border = Border::of(sampler.border, texels.info)?;
            if raster.memory.size() >= Filter::AWAY.into() {
                return None;
            }
        }
        let compare = how.reference.then(|| sampler.compare.map_or(0, |op| op as u8 & 7));
        let (unnormalized, reduction) = (sampler.unnormalized, sampler.reduction);
        let kind = raster.kind.with(Filter { linear, wrap, border, unnormalized, reduction, compare })?;
        Some(Raster { kind, ..raster })
    }

    fn of_level(texels: &Texels<'a>, level: u32) -> Option<Raster<'a>> {
        let (info, steps) = (texels.info, texels.steps(level));
        let whole = steps.pitch[0] == u32::from(info.texel_bytes) && texels.samples() == 1;
        (whole && info.compression.is_none()).then_some(Raster {
            memory: texels.memory,
            kind: Kind::new(info.format, texels.swizzle),
            start: steps.start,
            extent: steps.extent,
            pitch: steps.pitch,
        })
    }

    /// Byte offsets of texels with these coordinates, and the lanes whose texels exist.
    #[inline(always)]
    fn address(&self, coordinates: &[u32], vectors: &[Lanes]) -> (Lanes, Mask) {
        let (mut offset, mut inside) = (Lanes([self.start; LANES]), Lanes([u32::MAX; LANES]));
        for (k, register) in coordinates.iter().enumerate().take(3) {
            let coordinate = &vectors[*register as usize];
            along(coordinate, self.extent[k], self.pitch[k], &mut offset, &mut inside);
        }
        (offset, to_mask(&inside))
    }
}

/// The level that a sampling instruction reads, if it is one and known before, and whether it filters
/// linearly.
fn level(
    program: &Program,
    entry: &ImageEntry,
    texels: &Texels<'_>,
    sampler: &Sampler,
    axes: usize,
) -> Option<(u32, bool)> {
    let instruction = &entry.instruction;
    let reference = usize::from(instruction.image.sampling.reference);
    let lod = *entry.arguments.get(instruction.coordinates() + reference)?;
    let lod = program.constant(lod)?;
    let (active, unbound) = (Lanes::ZERO, Cell::new(0));
    let of = Sampling { instruction, texels, sampler, axes, is_cube: false, active, unbound };
    let (level, rest, linear) = of.level_of(f32::from_bits(lod));
    (rest == 0.0).then_some((level, linear))
}

/// The texels of an image, if it may be of the case.
fn texels<'a>(instruction: &ImageInstruction, image: &'a Descriptor) -> Option<Texels<'a>> {
    if instruction.raster { instruction.texels(image).ok()? } else { None }
}

/// The descriptor that all lanes use, if it is known before.
fn descriptor(resources: &Resources, binding: u32, element: ElementIndex) -> Option<&Descriptor> {
    let ElementIndex::Constant(element) = element else { return None };
    resources.bindings.get(binding as usize)?.get(element as usize)
}

/// What code is made for: the VkFormat of the texels, above it how a sampling instruction filters them
/// ([`Filter`]), and in the upper word the view's component swizzle, as its difference from the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Kind(u64);

impl Kind {
    /// Texels that are not of the case.
    pub const NONE: Kind = Kind(0);

    const IDENTITY: u32 = u32::from_le_bytes([3, 4, 5, 6]);

    fn new(format: i32, swizzle: [u8; 4]) -> Kind {
        let swizzle = u32::from_le_bytes(swizzle) ^ Kind::IDENTITY;
        Kind(u64::from(format as u32) | u64::from(swizzle) << 32)
    }

    /// The same for an instruction that samples so; `None` if there is no room for the format.
    fn with(self, filter: Filter) -> Option<Kind> {
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
    fn of(color: [u32; 4], info: &FormatInfo) -> Option<Border> {
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

/// How a sampling instruction of the case filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    /// The mean of the texels around a position, or the nearest.
    pub linear: bool,
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
        let compare = self.compare.map_or(0, |op| 1 | (i32::from(op) << 1));
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
        let filter = Filter { linear: bits & 1 != 0, wrap, border, unnormalized, reduction, compare };
        (bits & 2 != 0).then_some((filter, format))
    }
}

/// What an instruction of the case does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texel {
    /// Reads the texel at the coordinates.
    Read,
    /// Reads the texel at the coordinates of the level that another argument may name.
    ReadLevel,
    /// Writes the texel at the coordinates.
    Write,
    /// Reads and writes the texel at the coordinates, one word, atomically.
    Modify(AtomicOp),
}

impl ImageInstruction {
    /// How many of its arguments are coordinates, the layer included.
    pub(crate) fn coordinates(&self) -> usize {
        Shape::of(self.image.dim, self.image.arrayed, self.image.multisampled).coordinates()
    }

    /// What of a sampling instruction machine code has to know, if it is one: axes, a layer, and how it
    /// samples.
    pub(crate) fn sampling(&self) -> Option<(usize, bool, &ImageSampling)> {
        let arrayed = self.image.arrayed;
        let axes = self.coordinates() - usize::from(arrayed);
        (self.operation == Operation::Sample).then_some((axes, arrayed, &self.image.sampling))
    }

    /// Whether it asks for the size of an image, of cubes excepted.
    pub(crate) fn asks_size(&self) -> bool {
        matches!(self.operation, Operation::QuerySize { .. }) && self.image.dim != ImageDim::Cube
    }

    /// What the instruction does, if it may be of the case and is no query.
    pub(crate) fn texel(&self) -> Option<Texel> {
        match self.operation {
            _ if !self.raster => None,
            Operation::Read => Some(Texel::Read),
            Operation::Fetch => Some(Texel::ReadLevel),
            Operation::Write => Some(Texel::Write),
            Operation::Atomic(op) => Some(Texel::Modify(op)),
            _ => None,
        }
    }
}

/// Runs the operation of `entry` on the registers of a strand, like [`super::entry::execute`]; `None` if it
/// is not of the case.
#[inline(always)]
pub(super) fn execute<M: LaneAccesses>(
    entry: &ImageEntry,
    resources: &Resources,
    vectors: &mut [Lanes],
    mask: Mask,
    memory: &mut M,
) -> Option<Result<bool, Trap>> {
    let instruction = &entry.instruction;
    if M::MODELLED || !instruction.raster || mask == 0 {
        return None;
    }
    let operands = match instruction.operation {
        Operation::Read | Operation::AtomicLoad => 0,
        Operation::Write | Operation::AtomicStore => 1,
        Operation::Atomic(AtomicOp::CompareExchange) => 2,
        Operation::Atomic(_) => 1,
        _ => return None,
    };
    let raster = Raster::found(entry, resources)?;
    let one = match raster.kind.texels() {
        _ if !raster.kind.is_identity() => return None,
        R32_UINT | R32_SINT => 1,
        R32_SFLOAT => 1f32.to_bits(),
        _ => return None,
    };
    let (coordinates, values) = entry.arguments.split_at_checked(instruction.coordinates())?;
    if values.len() < operands {
        return None;
    }
    let (offset, inside) = raster.address(coordinates, vectors);
    let word = match access(instruction, &raster.memory, &offset, inside, values, vectors, mask, memory) {
        Ok(Some(word)) => word,
        Ok(None) => return Some(Ok(true)),
        Err(trap) => return Some(Err(trap)),
    };
    let (start, results) = (entry.results.0 as usize, entry.results.1 as usize);
    for (k, to) in vectors.iter_mut().skip(start).take(results).enumerate() {
        *to = match k {
            0 => word,
            3 => Lanes([one; LANES]),
            _ => Lanes::ZERO,
        };
    }
    Some(Ok(matches!(instruction.operation, Operation::Atomic(_))))
}

/// The access itself; what it read, if it reads.
#[inline(always)]
fn access<M: LaneAccesses>(
    instruction: &ImageInstruction,
    memory_view: &MemoryView<'_>,
    offset: &Lanes,
    inside: Mask,
    values: &[u32],
    vectors: &[Lanes],
    mask: Mask,
    memory: &mut M,
) -> Result<Option<Lanes>, Trap> {
    let access = Access { size: 4, components: 1, ..instruction.access };
    let texels = Pointers::View { view: memory_view, offset, immediate: 0 };
    let active = mask & inside;
    let value = |k: usize| std::slice::from_ref(&vectors[values[k] as usize]);
    let mut word = [Lanes::ZERO];
    match instruction.operation {
        Operation::Write | Operation::AtomicStore => {
            if active != 0 {
                memory.store(instruction.site, texels, active, &access, value(0))?;
            }
            return Ok(None);
        }
        _ if active == 0 => return Ok(Some(Lanes::ZERO)),
        Operation::Atomic(op) => {
            let comparator = (op == AtomicOp::CompareExchange).then(|| value(1));
            memory.read_modify_write(
                instruction.site,
                op,
                texels,
                active,
                &access,
                value(0),
                comparator,
                &mut word,
            )?;
        }
        _ => memory.load(instruction.site, texels, active, &access, &mut word)?,
    }
    if mask & !inside != 0 {
        clear_outside(&mut word, inside);
    }
    Ok(Some(word[0]))
}
