//! The common case of images in one step: two dimensions, one layer and sample, flat memory. The interpreter
//! does texels of one 32-bit component so, machine code more formats.

use super::address::to_mask;
use super::{ImageInstruction, Operation, clear_outside};
use crate::code::{ElementIndex, ImageEntry};
use crate::interface::{Descriptor, ImageView, Resources};
use crate::ir::{ImageDim, ImageOperand, Scalar};
use crate::math::format;
use pellucid_memory::access::{Access, AtomicOp};
use pellucid_memory::system::{LANES, Lanes, Mask, MemorySystem, MemoryView, Pointers, Trap};
use std::mem::offset_of;

const R32_UINT: i32 = 98;
const R32_SINT: i32 = 99;
const R32_SFLOAT: i32 = 100;

/// Whether instructions with this operand may be of the case; the view decides the rest.
pub(super) fn may_be(image: &ImageOperand) -> bool {
    let plain = !image.arrayed && !image.multisampled && !image.sparse;
    image.dim == ImageDim::D2 && plain && image.texel != Scalar::I64
}

/// The view, and what its texels' alpha is: one.
fn view<'a>(entry: &ImageEntry, resources: &'a Resources) -> Option<(&'a ImageView, u32)> {
    let view = image(entry, resources)?;
    let one = match view.format {
        R32_UINT | R32_SINT => 1,
        R32_SFLOAT => 1f32.to_bits(),
        _ => return None,
    };
    (view.sample_pitch == 4).then_some((view, one))
}

/// What machine code knows of the image of an instruction, where it finds it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane<'a> {
    memory: MemoryView<'a>,
    /// The VkFormat of its texels; 0 if the image is not of the case.
    pub format: i32,
    /// Byte offset of the first texel, and bytes from row to row.
    start: u32,
    pitch: u32,
    width: u32,
    height: u32,
}

impl<'a> Plane<'a> {
    /// Where its fields are.
    pub const MEMORY: usize = offset_of!(Plane<'static>, memory);
    pub const FORMAT: usize = offset_of!(Plane<'static>, format);
    pub const START: usize = offset_of!(Plane<'static>, start);
    pub const PITCH: usize = offset_of!(Plane<'static>, pitch);
    pub const WIDTH: usize = offset_of!(Plane<'static>, width);
    pub const HEIGHT: usize = offset_of!(Plane<'static>, height);

    const NONE: Plane<'static> =
        Plane { memory: MemoryView::NULL, format: 0, start: 0, pitch: 0, width: 0, height: 0 };

    /// The image of `entry`.
    pub fn of(entry: &ImageEntry, resources: &'a Resources) -> Plane<'a> {
        let whole = |view: &ImageView| {
            let info = format::properties(view.format);
            info.is_some_and(|info| u32::from(info.texel_bytes) == view.sample_pitch)
        };
        match image(entry, resources) {
            Some(view) if entry.instruction.planar && whole(view) => Plane {
                memory: view.memory.view(),
                format: view.format,
                start: view.level_offsets[0],
                pitch: view.level_row_pitch[0],
                width: view.extent[0],
                height: view.extent[1],
            },
            _ => Plane::NONE,
        }
    }
}

/// What an instruction of the case does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texel {
    /// Reads the texel at x and y.
    Read,
    /// Reads the texel at x and y of the level that a third argument names.
    ReadLevel,
    /// Writes the texel at x and y.
    Write,
}

impl ImageInstruction {
    /// What the instruction does, if it may be of the case and is neither atomic nor a query.
    pub(crate) fn texel(&self) -> Option<Texel> {
        match self.operation {
            _ if !self.planar => None,
            Operation::Read => Some(Texel::Read),
            Operation::Fetch => Some(Texel::ReadLevel),
            Operation::Write => Some(Texel::Write),
            _ => None,
        }
    }
}

/// The view that an instruction uses, if all its components are those of the texels.
fn image<'a>(entry: &ImageEntry, resources: &'a Resources) -> Option<&'a ImageView> {
    let ElementIndex::Constant(element) = entry.element else { return None };
    let array = resources.bindings.get(entry.instruction.image.binding as usize)?;
    let (Descriptor::Image(view) | Descriptor::ImageSampler(view, _)) = array.get(element as usize)? else {
        return None;
    };
    (view.samples <= 1 && view.swizzle == [3, 4, 5, 6]).then_some(view)
}

/// Runs the operation of `entry` on the registers of a strand, like [`super::entry::execute`]; `None` if it
/// is not of the case.
#[inline(always)]
pub(super) fn execute<M: MemorySystem>(
    entry: &ImageEntry,
    resources: &Resources,
    vectors: &mut [Lanes],
    mask: Mask,
    memory: &mut M,
) -> Option<Result<bool, Trap>> {
    let instruction = &entry.instruction;
    if M::MODELLED || !instruction.planar || mask == 0 {
        return None;
    }
    let operands = match instruction.operation {
        Operation::Read | Operation::AtomicLoad => 0,
        Operation::Write | Operation::AtomicStore => 1,
        Operation::Atomic(AtomicOp::CompareExchange) => 2,
        Operation::Atomic(_) => 1,
        _ => return None,
    };
    let (view, one) = view(entry, resources)?;
    let &[x, y, ref values @ ..] = entry.arguments.as_slice() else { return None };
    if values.len() < operands {
        return None;
    }
    let (offset, inside) = address(view, &vectors[x as usize], &vectors[y as usize]);
    let word = match access(instruction, view, &offset, inside, values, vectors, mask, memory) {
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

/// Byte offsets of texels of level 0, and the lanes whose texels exist.
#[inline(always)]
fn address(view: &ImageView, x: &Lanes, y: &Lanes) -> (Lanes, Mask) {
    let (start, row, [width, height, _]) = (view.level_offsets[0], view.level_row_pitch[0], view.extent);
    let (mut offset, mut inside) = (Lanes::ZERO, Lanes::ZERO);
    for lane in 0..LANES {
        let (x, y) = (x.0[lane], y.0[lane]);
        offset.0[lane] = start.wrapping_add(x.wrapping_mul(4)).wrapping_add(y.wrapping_mul(row));
        let there = [x < width, y < height].map(|there| if there { u32::MAX } else { 0 });
        inside.0[lane] = there[0] & there[1];
    }
    (offset, to_mask(&inside))
}

/// The access itself; what it read, if it reads.
#[inline(always)]
fn access<M: MemorySystem>(
    instruction: &ImageInstruction,
    view: &ImageView,
    offset: &Lanes,
    inside: Mask,
    values: &[u32],
    vectors: &[Lanes],
    mask: Mask,
    memory: &mut M,
) -> Result<Option<Lanes>, Trap> {
    let access = Access { size: 4, components: 1, ..instruction.access };
    let texels = Pointers::View { view: &view.memory.view(), offset, immediate: 0 };
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
