//! The common case of texels in one step: those of one level of an image with one sample, or of a texel
//! buffer, in flat memory. The interpreter does texels of one 32-bit component so, machine code more formats,
//! and it samples.

use super::address::{Shape, Texels, along, to_mask};
use super::footprint::Sampling;
use super::kind::{Border, Filter, Kind, Levels};
use super::level::sampler_bias;
use super::{ImageInstruction, Operation, clear_outside, ycbcr};
use crate::code::{ElementIndex, ImageEntry, Program};
use crate::interface::{Descriptor, ImageView, Reduction, Resources, Sampler};
use crate::ir::{ImageDim, ImageOperand, ImageSampling, Scalar};
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
    /// Where lanes choose levels: how many there are, and how a LOD becomes one.
    levels: u32,
    lods: Lods,
    /// The view with these levels; what is above is of the first one then.
    view: Option<&'a ImageView>,
}

/// *LOD Operation* and *Image Level(s) Selection* of a sampler and an image.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Lods {
    /// Added to LODs: what is limited already, but for an instruction with a bias of its own.
    bias: f32,
    min: f32,
    max: f32,
    /// The number of the last level.
    last: f32,
}

impl<'a> Raster<'a> {
    /// Where its fields are.
    pub const MEMORY: usize = offset_of!(Raster<'static>, memory);
    pub const KIND: usize = offset_of!(Raster<'static>, kind);
    pub const START: usize = offset_of!(Raster<'static>, start);
    pub const EXTENT: usize = offset_of!(Raster<'static>, extent);
    pub const PITCH: usize = offset_of!(Raster<'static>, pitch);
    pub const LEVELS: usize = offset_of!(Raster<'static>, levels);
    pub const BIAS: usize = offset_of!(Raster<'static>, lods.bias);
    pub const LEAST: usize = offset_of!(Raster<'static>, lods.min);
    pub const MOST: usize = offset_of!(Raster<'static>, lods.max);
    pub const LAST: usize = offset_of!(Raster<'static>, lods.last);
    pub const VIEW: usize = offset_of!(Raster<'static>, view);
    /// Where the view has the starts of its levels, and their pitches along the second and the third axis.
    pub const STARTS: usize = offset_of!(ImageView, level_offsets);
    pub const PITCHES: [usize; 2] =
        [offset_of!(ImageView, level_row_pitch), offset_of!(ImageView, level_slice_pitch)];

    /// The most descriptors of an array of which machine code chooses.
    const CHOSEN_FROM: usize = 256;

    const NONE: Raster<'static> = Raster {
        memory: MemoryView::NULL,
        kind: Kind::NONE,
        start: 0,
        extent: [0; 3],
        pitch: [0; 3],
        levels: 1,
        lods: Lods { bias: 0.0, min: 0.0, max: 0.0, last: 0.0 },
        view: None,
    };

    /// A raster for each image operation of a program, in their order; behind them those of arrays of
    /// descriptors of which operations choose elements. The raster of such an operation tells by its `start`
    /// which is the first of them and by its `extent` how many there are, and has the kind of one of them.
    pub fn all(program: &Program, resources: &'a Resources) -> Vec<Raster<'a>> {
        let fixed = |entry: &ImageEntry| match entry.is_fixed() {
            true => Raster::of(program, entry, 0, resources),
            // Also where more are chosen from than code does: there are none then.
            false => Raster::NONE,
        };
        let mut all: Vec<Raster<'a>> = program.images.iter().map(fixed).collect();
        for (slot, entry) in program.images.iter().enumerate() {
            let Some((_, binding)) = entry.choice() else { continue };
            let count = resources.bindings.get(binding as usize).map_or(0, Vec::len);
            if count > Raster::CHOSEN_FROM {
                continue;
            }
            let first = all.len();
            all.extend((0..count as u32).map(|element| Raster::of(program, entry, element, resources)));
            let kinds = all[first..].iter().map(|raster| raster.kind);
            let kind = kinds.into_iter().find(|kind| *kind != Kind::NONE).unwrap_or(Kind::NONE);
            all[slot] = Raster { kind, start: first as u32, extent: [count as u32, 0, 0], ..Raster::NONE };
        }
        all
    }

    /// The texels that the instruction of `entry` reaches, of this element of an array if it chooses one.
    fn of(program: &Program, entry: &ImageEntry, element: u32, resources: &'a Resources) -> Raster<'a> {
        let find = Find { program, entry, element, resources };
        let raster = match entry.instruction.operation {
            Operation::Sample => Raster::sampled(&find),
            Operation::Fetch => Raster::fetched(&find),
            _ => find.texels().and_then(|texels| Raster::of_level(&texels, 0)),
        };
        raster.unwrap_or(Raster::NONE)
    }

    /// The texels that all lanes reach.
    fn found(entry: &ImageEntry, resources: &'a Resources) -> Option<Raster<'a>> {
        let ElementIndex::Constant(element) = entry.element else { return None };
        let binding = resources.bindings.get(entry.instruction.image.binding as usize)?;
        Raster::of_level(&texels(&entry.instruction, binding.get(element as usize)?)?, 0)
    }

    /// What a fetch reaches, if the level that it names is known before.
    fn fetched(find: &Find<'a, '_>) -> Option<Raster<'a>> {
        let texels = find.texels()?;
        let Some(register) = find.entry.arguments.get(find.entry.instruction.coordinates()) else {
            return Raster::of_level(&texels, 0);
        };
        if let Some(level) = find.program.constant(*register) {
            return Raster::of_level(&texels, Some(level).filter(|level| *level < texels.levels())?);
        }
        let (view, levels) = (Some(texels.view()?), texels.levels());
        Some(Raster { view, levels, ..Raster::of_level(&texels, 0)? })
    }

    /// What a sampling instruction reaches.
    fn sampled(find: &Find<'a, '_>) -> Option<Raster<'a>> {
        let instruction = &find.entry.instruction;
        let how = &instruction.image.sampling;
        if how.gather.is_some() && !how.names_level() {
            return None;
        }
        let (image, texels) = (find.image()?, find.texels()?);
        let sampler = match instruction.image.sampler {
            Some((binding, _)) => find.descriptor(binding, find.entry.sampler?)?,
            None => image,
        };
        let (Descriptor::Sampler(sampler) | Descriptor::ImageSampler(_, sampler)) = sampler else {
            return None;
        };
        if ycbcr::converted(image, sampler).is_some() {
            return None;
        }
        // Faces have two.
        let axes = if instruction.is_cube() {
            2
        } else {
            instruction.coordinates() - usize::from(instruction.image.arrayed)
        };
        let (mut raster, levels, linear);
        match (how.gather, known_level(find, &texels, sampler, axes)) {
            (Some(_), _) => (raster, levels, linear) = (Raster::of_level(&texels, 0)?, Levels::Known, true),
            (None, Some((level, filters))) => {
                (raster, levels, linear) = (Raster::of_level(&texels, level)?, Levels::Known, filters);
            }
            (None, None) => {
                (levels, linear) = chosen_levels(instruction, &texels, sampler)?;
                raster = Raster::of_level(&texels, 0)?;
                raster.view = Some(texels.view()?);
                raster.lods = Lods {
                    bias: if how.bias { sampler.lod_bias } else { sampler_bias(sampler) },
                    min: if how.min_lod { sampler.min_lod } else { sampler.min_lod.max(0.0) },
                    max: sampler.max_lod,
                    last: (texels.levels() - 1) as f32,
                };
            }
        }
        let mut wrap = [2; 3];
        if instruction.is_cube() {
            if sampler.non_seamless
                || !texels.layers.is_multiple_of(6)
                || raster.extent[0] != raster.extent[1]
            {
                return None;
            }
            raster.extent[2] = texels.layers / 6;
        }
        // Cubes ignore the address mode.
        let wrapped = if instruction.is_cube() { 0 } else { axes };
        for (k, wrap) in wrap.iter_mut().enumerate().take(wrapped) {
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
        let kind =
            raster.kind.with(Filter { linear, levels, wrap, border, unnormalized, reduction, compare })?;
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
            ..Raster::NONE
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
fn known_level(
    find: &Find<'_, '_>,
    texels: &Texels<'_>,
    sampler: &Sampler,
    axes: usize,
) -> Option<(u32, bool)> {
    let Find { program, entry, .. } = *find;
    let instruction = &entry.instruction;
    let how = &instruction.image.sampling;
    let only = texels.levels() == 1 || sampler.unnormalized;
    if only && sampler.mag_linear == sampler.min_linear && is_isotropic(how, sampler) {
        return Some((0, sampler.mag_linear && !texels.info.numeric.is_integer()));
    }
    let (coordinates, arrayed, _) = instruction.sampling()?;
    let lod = coordinates + usize::from(arrayed) + usize::from(how.reference);
    let lod = *entry.arguments.get(lod)?;
    let lod = program.constant(lod).filter(|_| how.names_level())?;
    let (active, unbound) = (Lanes::ZERO, Cell::new(0));
    let of = Sampling { instruction, texels, sampler, axes, is_cube: false, active, unbound };
    let (level, rest, linear) = of.level_of(f32::from_bits(lod));
    (rest == 0.0).then_some((level, linear))
}

/// How lanes choose levels, if machine code does that, and whether filtering inside a level is linear.
fn chosen_levels(
    instruction: &ImageInstruction,
    texels: &Texels<'_>,
    sampler: &Sampler,
) -> Option<(Levels, bool)> {
    let integer = texels.info.numeric.is_integer();
    let (linear, several) = (sampler.mag_linear && !integer, sampler.mip_linear);
    let alike = sampler.mag_linear == sampler.min_linear || integer;
    let mean = sampler.reduction == Reduction::WeightedAverage && !integer;
    let fits = alike && (linear || !several || mean);
    let levels = if several { Levels::Linear } else { Levels::Nearest };
    (fits && is_isotropic(&instruction.image.sampling, sampler)).then_some((levels, linear))
}

/// Whether a texel is taken once of each level.
fn is_isotropic(how: &ImageSampling, sampler: &Sampler) -> bool {
    !how.derivatives || sampler.max_anisotropy <= 1.0
}

/// An image operation whose texels are looked for.
struct Find<'a, 'b> {
    program: &'b Program,
    entry: &'b ImageEntry,
    /// The element of an array of descriptors, if the operation chooses one.
    element: u32,
    resources: &'a Resources,
}

impl<'a> Find<'a, '_> {
    fn descriptor(&self, binding: u32, element: ElementIndex) -> Option<&'a Descriptor> {
        let element = match element {
            ElementIndex::Constant(element) => element,
            ElementIndex::Register(_) => self.element,
        };
        self.resources.bindings.get(binding as usize)?.get(element as usize)
    }

    fn image(&self) -> Option<&'a Descriptor> {
        self.descriptor(self.entry.instruction.image.binding, self.entry.element)
    }

    /// The texels of the image, if it may be of the case.
    fn texels(&self) -> Option<Texels<'a>> {
        texels(&self.entry.instruction, self.image()?)
    }
}

/// The texels of an image, if it may be of the case.
fn texels<'a>(instruction: &ImageInstruction, image: &'a Descriptor) -> Option<Texels<'a>> {
    if instruction.raster { instruction.texels(image).ok()? } else { None }
}

impl ImageEntry {
    /// Whether its image and sampler are known before.
    fn is_fixed(&self) -> bool {
        let mut elements = [Some(self.element), self.sampler].into_iter().flatten();
        elements.all(|element| matches!(element, ElementIndex::Constant(_)))
    }

    /// The register whose lanes choose the image or the sampler among an array of descriptors, if one does,
    /// and does so alone; the array's binding.
    pub(crate) fn choice(&self) -> Option<(u32, u32)> {
        let image = self.instruction.image;
        match (self.element, self.sampler) {
            (ElementIndex::Register(register), None | Some(ElementIndex::Constant(_))) => {
                Some((register, image.binding))
            }
            (ElementIndex::Register(register), Some(ElementIndex::Register(other))) if register == other => {
                Some((register, image.binding))
            }
            (ElementIndex::Constant(_), Some(ElementIndex::Register(register))) => {
                Some((register, image.sampler?.0))
            }
            _ => None,
        }
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

    /// How many of its coordinates are not the layer.
    pub(crate) fn axes(&self) -> usize {
        Shape::of(self.image.dim, self.image.arrayed, self.image.multisampled).axes()
    }

    /// Whether coordinates are directions.
    pub(crate) fn is_cube(&self) -> bool {
        self.image.dim == ImageDim::Cube
    }

    /// What of a sampling instruction machine code has to know, if it is one: coordinates without the layer,
    /// the layer, and how it samples.
    pub(crate) fn sampling(&self) -> Option<(usize, bool, &ImageSampling)> {
        let arrayed = self.image.arrayed;
        let cubes = self.is_cube() && arrayed;
        let axes = self.coordinates() + usize::from(cubes) - usize::from(arrayed);
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
