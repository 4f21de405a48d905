//! The common case of storage images in one step: two dimensions, one 32-bit component a texel, one sample,
//! flat memory.

use super::address::to_mask;
use super::{ImageInstruction, Operation, clear_outside};
use crate::code::{ElementIndex, ImageEntry};
use crate::interface::{Descriptor, ImageView, Resources};
use crate::ir::{ImageDim, ImageOperand, Scalar};
use pellucid_memory::access::{Access, AtomicOp};
use pellucid_memory::system::{LANES, Lanes, Mask, MemorySystem, Pointers, Trap};

const R32_UINT: i32 = 98;
const R32_SINT: i32 = 99;
const R32_SFLOAT: i32 = 100;

/// Whether instructions with this operand may be of the case; the view decides the rest.
pub(super) fn may_be(image: &ImageOperand) -> bool {
    image.dim == ImageDim::D2 && !image.arrayed && !image.multisampled && image.texel != Scalar::I64
}

/// The view, and what its texels' alpha is: one.
fn view<'a>(entry: &ImageEntry, resources: &'a Resources) -> Option<(&'a ImageView, u32)> {
    let ElementIndex::Constant(element) = entry.element else { return None };
    let array = resources.bindings.get(entry.instruction.image.binding as usize)?;
    let Descriptor::Image(view) = array.get(element as usize)? else { return None };
    let one = match view.format {
        R32_UINT | R32_SINT => 1,
        R32_SFLOAT => 1f32.to_bits(),
        _ => return None,
    };
    (view.samples <= 1 && view.swizzle == [3, 4, 5, 6]).then_some((view, one))
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
