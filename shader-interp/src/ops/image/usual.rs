//! The usual case of sampling, for all lanes at once: two-dimensional images, perhaps arrayed, in flat
//! memory, whose texels are filtered by their weights at levels that all lanes have in common.
//!
//! What is here gives the bits that [`super::sample`] gives. It differs in what it need not ask: coordinates,
//! weights and texels of the whole footprint are arrays over lanes, and texels of no weight are loaded, too.

use super::address::Texels;
use super::footprint::{Floats, Sampling, wrap};
use super::{ImageInstruction, Operation, texel, view, ycbcr};
use crate::code::{ElementIndex, ImageEntry};
use crate::interface::{Descriptor, Reduction, Resources, Sampler};
use crate::ir::{ImageDim, ImageOperand, Scalar};
use crate::math::canonical;
use crate::math::convert::f32_to_i32;
use crate::math::format::Numeric;
use crate::math::single::{floor, round_even};
use crate::math::{half, pack};
use crate::ops::group::common;
use pellucid_memory::access::Access;
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, Mask, Trap};
use std::cell::Cell;

/// Whether a sampling instruction with this operand may be of the case; image, sampler and levels decide the
/// rest.
pub(super) fn may_be(operation: Operation, image: &ImageOperand) -> bool {
    let how = &image.sampling;
    let plain = !image.multisampled && !image.sparse && image.texel == Scalar::F32;
    let single = how.names_level() && !how.reference && how.offsets <= 1;
    operation == Operation::Sample && image.dim == ImageDim::D2 && plain && single
}

/// Weights of a texel of each lane, or sums of what they weigh.
type Weights = [f64; LANES];

/// The lower and the upper texels of all lanes along one axis.
struct Axis {
    /// What they add to byte offsets.
    offset: [Lanes; 2],
    /// All bits set where it is not the border, if there may be any.
    exists: [Lanes; 2],
    /// The weight of the upper texel.
    fraction: Floats,
}

impl Axis {
    const NONE: Axis = Axis { offset: [Lanes::ZERO; 2], exists: [Lanes::ZERO; 2], fraction: [0.0; LANES] };
}

/// The words of the four texels of a footprint (bit 0 of their number: the upper one along x, bit 1: along
/// y), and the lanes in which they are the border.
struct Square<const WORDS: usize> {
    words: [[Lanes; WORDS]; 4],
    outside: [Mask; 4],
}

impl<const WORDS: usize> Square<WORDS> {
    const NONE: Square<WORDS> = Square { words: [[Lanes::ZERO; WORDS]; 4], outside: [0; 4] };
}

/// An instruction of the case at work.
struct Usual<'a> {
    instruction: &'a ImageInstruction,
    sampler: &'a Sampler,
    texels: &'a Texels<'a>,
    access: Access,
    mask: Mask,
    /// The registers of x and y, of the layer, and of offsets.
    at: [&'a Lanes; 2],
    layer: Option<&'a Lanes>,
    shift: [Option<&'a Lanes>; 2],
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
    if M::MODELLED || !instruction.usual || mask == 0 {
        return None;
    }
    let (image, sampler) = descriptors(entry, resources, vectors, mask)?;
    let Ok(Some(texels)) = instruction.texels(image) else { return None };
    let plain = sampler.reduction == Reduction::WeightedAverage && !sampler.unnormalized;
    let info = texels.info;
    if !plain || info.numeric.is_integer() || info.compression.is_some() || info.is_64_bit() {
        return None;
    }
    if ycbcr::converted(image, sampler).is_some() {
        return None;
    }
    // x, y, the layer if there is one, the level, and the offset if there is one.
    let (layered, shifted) = (instruction.image.arrayed, instruction.image.sampling.offsets > 0);
    let after = 2 + usize::from(layered);
    let count = after + 1 + if shifted { 2 } else { 0 };
    let registers = entry.arguments.as_slice();
    if registers.len() < count {
        return None;
    }
    let at = [argument(registers, vectors, 0), argument(registers, vectors, 1)];
    let layer = if layered { Some(argument(registers, vectors, 2)) } else { None };
    let lod = argument(registers, vectors, after);
    let mut shift = [None; 2];
    if shifted {
        shift =
            [Some(argument(registers, vectors, after + 1)), Some(argument(registers, vectors, after + 2))];
    }
    let gathered = instruction.image.sampling.gather.map(|k| k.min(3) as usize);
    let results = (entry.results.1 as usize).min(4);
    let access = instruction.texel_access(info);
    let work = Usual { instruction, sampler, texels: &texels, access, mask, at, layer, shift };
    let mut out = [Lanes::ZERO; 4];
    let level = if gathered.is_some() { (0, 0.0, true) } else { work.levels(lod)? };
    let done = match texel::word_count(info) {
        1 => work.run::<M, 1>(memory, level, gathered, &mut out[..results]),
        _ => work.run::<M, 4>(memory, level, gathered, &mut out[..results]),
    };
    if let Err(trap) = done {
        return Some(Err(trap));
    }
    let start = entry.results.0 as usize;
    for (to, from) in vectors.iter_mut().skip(start).take(results).zip(&out) {
        *to = *from;
    }
    Some(Ok(false))
}

#[inline(always)]
fn argument<'a>(registers: &[u32], vectors: &'a [Lanes], k: usize) -> &'a Lanes {
    &vectors[registers[k] as usize]
}

/// The image and the sampler that an instruction uses, if all lanes use the same.
fn descriptors<'a>(
    entry: &ImageEntry,
    resources: &'a Resources,
    vectors: &[Lanes],
    mask: Mask,
) -> Option<(&'a Descriptor, &'a Sampler)> {
    let of = |binding: u32, element: ElementIndex| {
        let element = match element {
            ElementIndex::Constant(element) => element,
            ElementIndex::Register(register) => common(&vectors[register as usize], mask)?,
        };
        resources.bindings.get(binding as usize)?.get(element as usize)
    };
    let image = of(entry.instruction.image.binding, entry.element)?;
    let sampler = match entry.instruction.image.sampler {
        Some((binding, _)) => of(binding, entry.sampler?)?,
        None => image,
    };
    match (image, sampler) {
        (
            Descriptor::Image(_) | Descriptor::ImageSampler(..),
            Descriptor::Sampler(sampler) | Descriptor::ImageSampler(_, sampler),
        ) => Some((image, sampler)),
        _ => None,
    }
}

/// Where a component of a result comes from.
enum Source {
    /// The texels' component of this number.
    Component(usize),
    /// Of no texel: this word, whatever they are.
    Word(u32),
}

/// *Component Swizzle*.
#[inline(always)]
fn source(texels: &Texels<'_>, k: usize) -> Source {
    let info = texels.info;
    match texels.swizzle[k] {
        1 => Source::Word(0),
        2 => Source::Word(info.missing(3)),
        from => match (from as usize).clamp(3, 6) - 3 {
            from if info.fields[from].width > 0 => Source::Component(from),
            from => Source::Word(info.missing(from)),
        },
    }
}

/// What all lanes read: the level or of two the finer, the share of the one below it, and whether filtering
/// inside a level is linear.
type Level = (u32, f32, bool);

impl Usual<'_> {
    /// The level of all active lanes; `None` if they differ.
    #[inline(always)]
    fn levels(&self, lod: &Lanes) -> Option<Level> {
        let lod = common(lod, self.mask)?;
        let (instruction, texels, sampler) = (self.instruction, self.texels, self.sampler);
        let (axes, is_cube, active, unbound) = (2, false, Lanes::ZERO, Cell::new(0));
        let of = Sampling { instruction, texels, sampler, axes, is_cube, active, unbound };
        Some(of.level_of(f32::from_bits(lod)))
    }

    /// The instruction with texels of at most so many words.
    #[inline(always)]
    fn run<M: LaneAccesses, const WORDS: usize>(
        &self,
        memory: &mut M,
        level: Level,
        gathered: Option<usize>,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        match gathered {
            Some(component) => self.gather::<M, WORDS>(memory, component, out),
            None if level.1 > 0.0 => self.filter::<M, WORDS, true>(memory, level, out),
            None => self.filter::<M, WORDS, false>(memory, level, out),
        }
    }

    /// Where the texels around all lanes' coordinates are at a level.
    #[inline(always)]
    fn axes(&self, level: u32, linear: bool, axes: &mut [Axis; 2]) {
        let layout = self.texels.level(level);
        for (k, axis) in axes.iter_mut().enumerate() {
            self.axis(k, layout.extent[k], layout.pitch[k], linear, axis);
        }
        let last = self.texels.layers.saturating_sub(1);
        for offset in &mut axes[1].offset {
            for lane in 0..LANES {
                offset.0[lane] = offset.0[lane].wrapping_add(layout.start);
            }
            if let Some(layer) = self.layer {
                for lane in 0..LANES {
                    let whole = f32_to_i32(round_even(f32::from_bits(layer.0[lane]))).max(0) as u32;
                    let layer = whole.min(last).wrapping_mul(layout.layer_pitch);
                    offset.0[lane] = offset.0[lane].wrapping_add(layer);
                }
            }
        }
    }

    #[inline(always)]
    fn axis(&self, k: usize, size: u32, pitch: u32, linear: bool, axis: &mut Axis) {
        let (scale, half) = (size as i32 as f32, if linear { 0.5 } else { 0.0 });
        let (mut at, mut base) = ([0.0; LANES], Lanes::ZERO);
        for lane in 0..LANES {
            at[lane] = f32::from_bits(self.at[k].0[lane]) * scale - half;
        }
        whole_and_rest(&at, &mut base, &mut axis.fraction);
        if !linear {
            axis.fraction = [0.0; LANES];
        }
        if let Some(shift) = self.shift[k] {
            for lane in 0..LANES {
                base.0[lane] = base.0[lane].wrapping_add(shift.0[lane]);
            }
        }
        let mode = self.sampler.address[k];
        for upper in 0..if linear { 2 } else { 1 } {
            let (coordinate, exists) = wrap(mode, &base, upper as u32, &Lanes([size; LANES]));
            for lane in 0..LANES {
                axis.offset[upper].0[lane] = coordinate.0[lane].wrapping_mul(pitch);
            }
            if self.has_border() {
                axis.exists[upper] = exists;
            }
        }
    }

    /// Whether texels may be the border.
    #[inline(always)]
    fn has_border(&self) -> bool {
        self.sampler.address[0] == 3 || self.sampler.address[1] == 3
    }

    /// Loads texel `tap` of a footprint.
    #[inline(always)]
    fn load<M: LaneAccesses, const WORDS: usize>(
        &self,
        memory: &mut M,
        [x, y]: &[Axis; 2],
        tap: usize,
        square: &mut Square<WORDS>,
    ) -> Result<(), Trap> {
        let (i, j) = (tap & 1, tap >> 1);
        let mut offset = Lanes::ZERO;
        for lane in 0..LANES {
            offset.0[lane] = x.offset[i].0[lane].wrapping_add(y.offset[j].0[lane]);
        }
        let mut outside = 0;
        if self.has_border() {
            for lane in 0..LANES {
                outside |= !(x.exists[i].0[lane] & y.exists[j].0[lane]) & 1 << lane;
            }
        }
        square.outside[tap] = outside;
        let inside = self.mask & !outside;
        if inside == 0 {
            square.words[tap] = [Lanes::ZERO; WORDS];
            return Ok(());
        }
        let count = texel::word_count(self.texels.info).min(WORDS);
        let from = view(&self.texels.memory, &offset);
        memory.load(self.instruction.site, from, inside, &self.access, &mut square.words[tap][..count])
    }

    /// A component of texel `tap`: decoded, or of the border.
    #[inline(always)]
    fn component<const WORDS: usize>(&self, square: &Square<WORDS>, tap: usize, k: usize) -> Lanes {
        let (mut words, mut component) = ([Lanes::ZERO; 4], Lanes::ZERO);
        words[..WORDS].copy_from_slice(&square.words[tap]);
        texel::decode(self.texels.info, &words, k, &mut component);
        if square.outside[tap] != 0 {
            // *Border Replacement*.
            for lane in 0..LANES {
                let replaced = (square.outside[tap] >> lane) & 1 == 1;
                component.0[lane] = if replaced { self.sampler.border[k] } else { component.0[lane] };
            }
        }
        component
    }

    /// *Texel Filtering* over one level, or over two if `MIXED`.
    #[inline(always)]
    fn filter<M: LaneAccesses, const WORDS: usize, const MIXED: bool>(
        &self,
        memory: &mut M,
        (high, rest, linear): Level,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let mut sums = [[-0.0; LANES]; 4];
        let mut square = Square::<WORDS>::NONE;
        // Texels that have a weight in some lane, and the last of them.
        let (mut count, mut last) = (0, 0);
        for below in 0..1 + u32::from(MIXED) {
            let share = if below == 0 { 1.0 - f64::from(rest) } else { f64::from(rest) };
            let mut axes = [Axis::NONE; 2];
            self.axes(high + below, linear, &mut axes);
            let mut weights = [[0.0; LANES]; 4];
            for (tap, weights) in weights.iter_mut().enumerate().take(if linear { 4 } else { 1 }) {
                let [x, y] = &axes;
                weigh(weights, share, self.mask, (&x.fraction, tap & 1), (&y.fraction, tap >> 1));
                if is_some(weights) {
                    self.load(memory, &axes, tap, &mut square)?;
                    (count, last) = (count + 1, tap);
                }
            }
            let whole = !linear && count == 1 && !MIXED && is_whole(&weights[last], self.mask);
            let single = whole.then_some(last);
            for (k, to) in out.iter_mut().enumerate() {
                *to = match (source(self.texels, k), single) {
                    (Source::Word(word), _) => Lanes([word; LANES]),
                    // The only texel, of full weight, is passed on bit by bit.
                    (Source::Component(source), Some(tap)) => self.component(&square, tap, source),
                    (Source::Component(source), _) => {
                        self.mix(&square, source, &weights, &mut sums[k], MIXED)
                    }
                };
            }
        }
        Ok(())
    }

    /// The mean of a component of four texels, those that have a weight; of what was in `sums` too, if
    /// `more`, where it is left.
    #[inline(always)]
    fn mix<const WORDS: usize>(
        &self,
        square: &Square<WORDS>,
        k: usize,
        weights: &[Weights; 4],
        sums: &mut Weights,
        more: bool,
    ) -> Lanes {
        let field = self.texels.info.fields[k];
        let (word, shift) = (usize::from(field.offset) / 32 % WORDS, u32::from(field.offset) % 32);
        let [a, b, c, d] = &square.words;
        let words = [&a[word], &b[word], &c[word], &d[word]];
        // The usual formats as they are.
        match (self.texels.info.numeric, field.width) {
            _ if square.outside != [0; 4] => {}
            (Numeric::Unorm, 8) => return add(sums, weights, words, more, Byte(shift)),
            (Numeric::Sfloat, 32) => return add(sums, weights, words, more, Single),
            (Numeric::Sfloat, 16) => return add(sums, weights, words, more, Half(shift)),
            _ => {}
        }
        let [a, b] = [self.component(square, 0, k), self.component(square, 1, k)];
        let [c, d] = [self.component(square, 2, k), self.component(square, 3, k)];
        add(sums, weights, [&a, &b, &c, &d], more, Single)
    }

    /// *Texel Gathering*: one component of the four texels around the position, at level 0.
    #[inline(always)]
    fn gather<M: LaneAccesses, const WORDS: usize>(
        &self,
        memory: &mut M,
        component: usize,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let source = match source(self.texels, component) {
            Source::Component(source) => source,
            Source::Word(word) => {
                out.fill(Lanes([word; LANES]));
                return Ok(());
            }
        };
        let (mut axes, mut square) = ([Axis::NONE; 2], Square::<WORDS>::NONE);
        self.axes(0, true, &mut axes);
        // (i0, j1), (i1, j1), (i1, j0), (i0, j0).
        for (to, tap) in out.iter_mut().zip([2, 3, 1, 0]) {
            self.load(memory, &axes, tap, &mut square)?;
            *to = self.component(&square, tap, source);
        }
        Ok(())
    }
}

/// The integers at or below the coordinates, and what is left of them, from 0 to 1.
#[inline(always)]
fn whole_and_rest(at: &Floats, base: &mut Lanes, rest: &mut Floats) {
    /// Less than its half added to it, the integers are the lowest bits.
    const INTEGERS: f32 = 12_582_912.0;
    let mut far = 0;
    for lane in 0..LANES {
        let u = at[lane];
        far |= u32::from(u.abs().to_bits() >= 4_000_000.0f32.to_bits());
        let rounded = u + INTEGERS;
        let (bits, near) = (rounded.to_bits().wrapping_sub(INTEGERS.to_bits()), rounded - INTEGERS);
        let above = near > u;
        base.0[lane] = bits.wrapping_sub(u32::from(above));
        let left = u - (near - if above { 1.0 } else { 0.0 });
        rest[lane] = if left > 0.0 { left } else { 0.0 };
    }
    if far != 0 {
        for lane in 0..LANES {
            let whole = floor(at[lane]);
            base.0[lane] = f32_to_i32(whole) as u32;
            // Infinite coordinates have no fraction.
            let left = at[lane] - whole;
            rest[lane] = if left > 0.0 { left } else { 0.0 };
        }
    }
}

/// The weights of a texel: of its level, and along both axes of the upper texel or the lower one.
#[inline(always)]
fn weigh(
    weights: &mut Weights,
    share: f64,
    mask: Mask,
    (x, upper_x): (&Floats, usize),
    (y, upper_y): (&Floats, usize),
) {
    for lane in 0..LANES {
        let (x, y) = (f64::from(x[lane]), f64::from(y[lane]));
        let along_x = if upper_x == 0 { 1.0 - x } else { x };
        let along_y = if upper_y == 0 { 1.0 - y } else { y };
        let weight = share * along_x * along_y;
        weights[lane] = if mask >> lane & 1 == 1 { weight } else { 0.0 };
    }
}

/// Whether some lane has a weight.
#[inline(always)]
fn is_some(weights: &Weights) -> bool {
    let mut some = 0;
    for lane in 0..LANES {
        some |= u64::from(weights[lane] > 0.0);
    }
    some != 0
}

/// Whether all active lanes have a weight of 1.
#[inline(always)]
fn is_whole(weights: &Weights, mask: Mask) -> bool {
    let mut part = 0;
    for lane in 0..LANES {
        part |= u64::from(weights[lane] != 1.0) & u64::from(mask >> lane & 1);
    }
    part == 0
}

/// How a word has a component. A trait, whose function is inlined where the loop over lanes is; a closure
/// would be a function of its own for the least that hosts have.
trait Decode: Copy {
    /// The component.
    fn decode(self, word: u32) -> f32;
}

/// An unsigned normalized byte, so many bits from the lowest one.
#[derive(Clone, Copy)]
struct Byte(u32);
/// A float of 16 bits, the same.
#[derive(Clone, Copy)]
struct Half(u32);
/// A float of 32 bits.
#[derive(Clone, Copy)]
struct Single;

impl Decode for Byte {
    #[inline(always)]
    fn decode(self, word: u32) -> f32 {
        pack::from_unorm_byte(word >> (self.0 & 31) & 0xff)
    }
}

impl Decode for Half {
    #[inline(always)]
    fn decode(self, word: u32) -> f32 {
        half::to_f32(word >> (self.0 & 31) & 0xffff)
    }
}

impl Decode for Single {
    #[inline(always)]
    fn decode(self, word: u32) -> f32 {
        f32::from_bits(word)
    }
}

/// Adds a component of four texels, those that have a weight, to nothing, or to `sums` if `more`; the sums as
/// floats.
#[inline(always)]
fn add(
    sums: &mut Weights,
    weights: &[Weights; 4],
    texels: [&Lanes; 4],
    more: bool,
    how: impl Decode,
) -> Lanes {
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        // Adding to it keeps the sign of a zero.
        let start = if more { sums[lane] } else { -0.0 };
        let sum = with(start, weights[0][lane], how.decode(texels[0].0[lane]));
        let sum = with(sum, weights[1][lane], how.decode(texels[1].0[lane]));
        let sum = with(sum, weights[2][lane], how.decode(texels[2].0[lane]));
        let sum = with(sum, weights[3][lane], how.decode(texels[3].0[lane]));
        if more {
            sums[lane] = sum;
        }
        out.0[lane] = canonical(sum as f32).to_bits();
    }
    out
}

/// A sum with what a texel adds, if it has a weight.
#[inline(always)]
fn with(sum: f64, weight: f64, value: f32) -> f64 {
    let more = sum + weight * f64::from(value);
    if weight > 0.0 { more } else { sum }
}
