//! Sampling (*Sampling Operations*, in the order of the chapter): border replacement, depth comparison,
//! filtering, gathering, and LOD queries.
//!
//! Each texel that has a weight is an access of its own, made for all lanes together; a lane whose weight is
//! zero does not touch the texel, and reductions leave it out. Fractions keep the precision of
//! single-precision coordinates, and sums are made in double precision, so that equal texels give themselves
//! whatever their weights.

use super::address::Texels;
use super::footprint::{Footprint, Place, Position, Sampling, Shift, YES};
use super::level::{Levels, Wanted};
use super::{ImageInstruction, Operation, texel, view, ycbcr};
use crate::arrays::each;
use crate::interface::{Descriptor, Reduction};
use crate::ir::{ImageDim, ImageSampling};
use crate::math::format::Numeric;
use crate::math::single::n_clamp;
use crate::math::{canonical, double};
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, Mask, Trap};
use std::cell::Cell;

/// Executes a sampling instruction for lanes that share image and sampler.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(super) fn sample<M: LaneAccesses>(
    instruction: &ImageInstruction,
    memory: &mut M,
    texels: &Texels<'_>,
    image: &Descriptor,
    separate: Option<&Descriptor>,
    mask: Mask,
    arguments: &[&Lanes],
    out: &mut [Lanes],
) -> Result<(), Trap> {
    let sampler = match (separate, image) {
        (Some(Descriptor::Sampler(sampler) | Descriptor::ImageSampler(_, sampler)), _) => sampler,
        (None, Descriptor::ImageSampler(_, sampler)) => sampler,
        _ => {
            out.fill(Lanes::ZERO);
            return Ok(());
        }
    };
    let dim = instruction.image.dim;
    let axes = match dim {
        ImageDim::D1 | ImageDim::Buffer => 1,
        ImageDim::D2 | ImageDim::Cube => 2,
        ImageDim::D3 => 3,
    };
    let active = Lanes(each(|lane| 0u32.wrapping_sub((mask >> lane) & 1)));
    let (is_cube, unbound) = (dim == ImageDim::Cube, Cell::new(0));
    let work = Sampling { instruction, texels, sampler, axes, is_cube, active, unbound };
    filtered(&work, memory, image, mask, arguments, out)?;
    if instruction.image.sparse {
        instruction.tell_residency(work.unbound.get(), out);
    }
    Ok(())
}

/// The instruction's results but for its residency code.
#[inline(always)]
fn filtered<M: LaneAccesses>(
    work: &Sampling<'_>,
    memory: &mut M,
    image: &Descriptor,
    mask: Mask,
    arguments: &[&Lanes],
    out: &mut [Lanes],
) -> Result<(), Trap> {
    let (instruction, sampler) = (work.instruction, work.sampler);
    let variant = instruction.image.sampling;
    let next = work.after_coordinates();
    let reference = if variant.reference { arguments.get(next).copied() } else { None };
    let rest = arguments.get(next + variant.reference as usize..).unwrap_or(&[]);
    let (wanted, offsets) = wanted(rest, variant, work.coordinates());
    if let Some(view) = ycbcr::converted(image, sampler) {
        return ycbcr::sample(work, memory, view, mask, arguments, &wanted, out);
    }
    if variant.gather.is_some() {
        return work.gather(memory, &work.position(arguments, None), reference, offsets, out);
    }
    let scales = work.scales(arguments, &wanted);
    if instruction.operation == Operation::QueryLod {
        out.iter_mut().zip(work.query(&scales)).for_each(|(to, from)| *to = from);
        return Ok(());
    }
    let levels = work.levels(mask, &scales.lod, wanted.min_lod);
    let offsets = if variant.offsets == 0 { &[] } else { offsets };
    let mut sums = Sums::new(sampler.reduction);
    let most = (0..LANES).filter(|&lane| work.active.0[lane] != 0).map(|lane| scales.samples[lane]).max();
    for n in 0..most.unwrap_or(0) {
        let shift =
            wanted.derivatives.filter(|_| most > Some(1)).map(|along| Shift { along, n, scales: &scales });
        let position = work.position(arguments, shift.as_ref());
        let samples = &scales.samples;
        let part = each(|lane| if n < samples[lane] { 1.0 / f64::from(samples[lane]) } else { 0.0 });
        work.filter(memory, &position, reference, &levels, &part, offsets, &mut sums)?;
    }
    work.finish(reference.is_some(), &sums, out);
    Ok(())
}

/// What the arguments after the coordinates and the reference value are: the level, and the offsets.
fn wanted<'a>(
    mut rest: &'a [&'a Lanes],
    variant: ImageSampling,
    coordinates: usize,
) -> (Wanted<'a>, &'a [&'a Lanes]) {
    let mut take = |count: usize| {
        let (taken, left) = rest.split_at(count.min(rest.len()));
        rest = left;
        taken
    };
    let mut wanted = Wanted::default();
    if variant.derivatives {
        wanted.derivatives = Some([take(coordinates), take(coordinates)]);
    } else {
        wanted.lod = take(1).first().copied();
    }
    if variant.bias {
        wanted.bias = take(1).first().copied();
    }
    if variant.min_lod {
        wanted.min_lod = take(1).first().copied();
    }
    (wanted, rest)
}

/// What has become of components so far.
struct Sums {
    /// Their sum, weighted, or the least or greatest one.
    sums: [[f64; LANES]; 4],
    reduction: Reduction,
    /// The components of texels that are all that a lane takes, the nearest ones or of integers: they are
    /// passed on bit by bit. Means of floats are not, even of one texel: a signalling NaN becomes a quiet
    /// one.
    single: [Lanes; 4],
    /// [`YES`] in the lanes that have one.
    alone: Lanes,
}

impl Sums {
    /// No texel yet.
    fn new(reduction: Reduction) -> Sums {
        let none = match reduction {
            // Adding to it keeps the sign of a zero.
            Reduction::WeightedAverage => -0.0,
            Reduction::Min => f64::INFINITY,
            Reduction::Max => f64::NEG_INFINITY,
        };
        Sums { sums: [[none; LANES]; 4], reduction, single: [Lanes::ZERO; 4], alone: Lanes::ZERO }
    }

    /// Adds component `k` of a texel.
    #[inline(always)]
    fn add(&mut self, k: usize, texel: &Lanes, weights: &[f64; LANES]) {
        let sums = &mut self.sums[k];
        for lane in 0..LANES {
            let (sum, value, weight) = (sums[lane], f64::from(f32::from_bits(texel.0[lane])), weights[lane]);
            let new = match self.reduction {
                Reduction::WeightedAverage => sum + weight * value,
                Reduction::Min => double::n_min(sum, value),
                Reduction::Max => double::n_max(sum, value),
            };
            sums[lane] = if weight > 0.0 { new } else { sum };
        }
    }

    /// A texel of these weights may be all that lanes take: it is so far where it is `whole`.
    #[inline(always)]
    fn pass_on(&mut self, texel: &[Lanes; 4], weights: &[f64; LANES], whole: &Lanes) {
        let whole = &whole.0;
        for (single, component) in self.single.iter_mut().zip(texel) {
            *single = Lanes(each(|lane| if whole[lane] != 0 { component.0[lane] } else { single.0[lane] }));
        }
        let before = self.alone;
        self.alone = Lanes(each(|lane| if weights[lane] > 0.0 { whole[lane] } else { before.0[lane] }));
    }

    #[inline(always)]
    fn component(&self, k: usize) -> Lanes {
        // Which of several NaN a sum passes on depends on the order of its operands.
        let sum = |lane: usize| canonical(self.sums[k][lane] as f32).to_bits();
        Lanes(each(|lane| if self.alone.0[lane] != 0 { self.single[k].0[lane] } else { sum(lane) }))
    }
}

impl Sampling<'_> {
    /// *Texel Filtering* over all levels of one isotropic sample, of which each lane takes its part.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn filter<M: LaneAccesses>(
        &self,
        memory: &mut M,
        position: &Position,
        reference: Option<&Lanes>,
        levels: &Levels,
        part: &[f64; LANES],
        offset: &[&Lanes],
        sums: &mut Sums,
    ) -> Result<(), Trap> {
        let several = levels.rest.iter().any(|&rest| rest > 0.0);
        let below = |lane: usize| levels.high.0[lane] + u32::from(levels.rest[lane] > 0.0);
        for high in [true, false].into_iter().take(1 + usize::from(several)) {
            let level = if high { levels.high } else { Lanes(each(below)) };
            let footprint = self.footprint(position, &level, &levels.linear, offset);
            let mut share = levels.share(high);
            share.iter_mut().zip(part).for_each(|(share, part)| *share *= part);
            self.add(memory, &footprint, &share, reference, &levels.linear, sums)?;
        }
        Ok(())
    }

    /// The results that the sums make.
    #[inline(always)]
    fn finish(&self, reference: bool, sums: &Sums, out: &mut [Lanes]) {
        for (k, to) in out.iter_mut().enumerate().take(4) {
            *to = if reference {
                sums.component(0)
            } else {
                self.swizzle(k, |component| sums.component(component))
            };
        }
    }

    /// Whether the format has this component.
    #[inline(always)]
    fn has(&self, k: usize) -> bool {
        self.texels.info.fields[k].width > 0
    }

    /// *Component Swizzle*.
    #[inline(always)]
    fn swizzle(&self, k: usize, component: impl Fn(usize) -> Lanes) -> Lanes {
        let info = self.texels.info;
        match self.texels.swizzle[k] {
            1 => Lanes::ZERO,
            2 => Lanes([info.missing(3); LANES]),
            source => match (source as usize).clamp(3, 6) - 3 {
                source if self.has(source) => component(source),
                source => Lanes([info.missing(source); LANES]),
            },
        }
    }

    /// Adds what one level contributes to the active lanes that it has a share in; those of `linear` are
    /// filtered inside the level, the others take the nearest texel.
    #[inline(always)]
    fn add<M: LaneAccesses>(
        &self,
        memory: &mut M,
        footprint: &Footprint,
        share: &[f64; LANES],
        reference: Option<&Lanes>,
        linear: &Lanes,
        sums: &mut Sums,
    ) -> Result<(), Trap> {
        let single = footprint.fraction.iter().flatten().all(|&fraction| fraction == 0.0);
        let taps = if single { 1 } else { 1 << self.axes };
        let mut weights = [[0.0; LANES]; 8];
        for (tap, weights) in weights.iter_mut().enumerate().take(taps) {
            for lane in 0..LANES {
                weights[lane] = if self.active.0[lane] != 0 { share[lane] } else { 0.0 };
            }
            for (k, fraction) in
                footprint.fraction.iter().enumerate().take(if single { 0 } else { self.axes })
            {
                let upper = (tap >> k) & 1 == 1;
                for lane in 0..LANES {
                    let fraction = fraction[lane] as f64;
                    weights[lane] *= if upper { fraction } else { 1.0 - fraction };
                }
            }
        }
        if self.is_seamless() && !single {
            self.spread_corners(footprint, &mut weights);
        }
        let (steps, integer) = (self.steps(footprint, single), self.texels.info.numeric.is_integer());
        for (tap, weights) in weights.iter().enumerate().take(taps) {
            let mut place = self.place(footprint, &steps, tap);
            if self.is_seamless() && !single {
                self.cross_edges(footprint, tap, &mut place);
            }
            let wanted = Lanes(each(|lane| if weights[lane] > 0.0 { YES } else { 0 }));
            let Some(texel) = self.texel(memory, &place, &wanted, reference)? else { continue };
            // No closure: it would be a function of its own for the least that hosts have.
            for k in 0..4 {
                if self.has(k) {
                    sums.add(k, &texel[k], weights);
                }
            }
            let whole = |lane: usize| {
                let nearest = weights[lane] == 1.0 && linear.0[lane] == 0;
                if nearest || integer && weights[lane] > 0.0 { YES } else { 0 }
            };
            sums.pass_on(&texel, weights, &Lanes(each(whole)));
        }
        Ok(())
    }

    /// One texel for each of the lanes that are `wanted`: loaded, or the border color; compared with the
    /// reference value if there is one. `None` if no lane wants any.
    #[inline(always)]
    fn texel<M: LaneAccesses>(
        &self,
        memory: &mut M,
        place: &Place,
        wanted: &Lanes,
        reference: Option<&Lanes>,
    ) -> Result<Option<[Lanes; 4]>, Trap> {
        let (mut inside, mut border) = (0, 0);
        for lane in 0..LANES {
            let bit = wanted.0[lane] & (1 << lane);
            inside |= bit & place.exists.0[lane];
            border |= bit & !place.exists.0[lane];
        }
        if inside | border == 0 {
            return Ok(None);
        }
        let info = self.texels.info;
        let mut words = [Lanes::ZERO; 4];
        if inside != 0 {
            self.note_residency(self.texels, &place.offset, inside);
            let access = self.instruction.texel_access(info);
            let count = texel::word_count(info);
            let from = view(&self.texels.memory, &place.offset);
            memory.load(self.instruction.site, from, inside, &access, &mut words[..count])?;
        }
        let mut texel = [Lanes::ZERO; 4];
        if let Some(compression) = info.compression {
            texel::decode_blocks(info, compression, &words, &place.within, &mut texel);
        }
        // Components that the format lacks are the same in every texel, and in their mean.
        for k in 0..4 {
            if !self.has(k) {
                continue;
            }
            if info.compression.is_none() {
                texel::decode(info, &words, k, &mut texel[k]);
            }
            if border != 0 {
                // *Border Replacement*: only of components that the format has.
                let outside = self.sampler.border[k];
                for lane in 0..LANES {
                    let replaced = (border >> lane) & 1 == 1;
                    texel[k].0[lane] = if replaced { outside } else { texel[k].0[lane] };
                }
            }
        }
        if let Some(reference) = reference {
            self.compare(reference, &mut texel[0]);
        }
        Ok(Some(texel))
    }

    /// *Depth Compare Operation*.
    fn compare(&self, reference: &Lanes, depth: &mut Lanes) {
        let unorm = self.texels.info.numeric == Numeric::Unorm;
        for lane in 0..LANES {
            let given = f32::from_bits(reference.0[lane]);
            let given = if unorm { n_clamp(given, 0.0, 1.0) } else { given };
            let stored = f32::from_bits(depth.0[lane]);
            // VkCompareOp.
            let passes = match self.sampler.compare {
                Some(1) => given < stored,
                Some(2) => given == stored,
                Some(3) => given <= stored,
                Some(4) => given > stored,
                Some(5) => given != stored,
                Some(6) => given >= stored,
                Some(7) => true,
                _ => false,
            };
            depth.0[lane] = if passes { 1.0f32.to_bits() } else { 0 };
        }
    }

    /// *Texel Gathering*: one component of the four texels around the position, at level 0.
    fn gather<M: LaneAccesses>(
        &self,
        memory: &mut M,
        position: &Position,
        reference: Option<&Lanes>,
        offsets: &[&Lanes],
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let variant = self.instruction.image.sampling;
        let component = variant.gather.unwrap_or(0).min(3) as usize;
        // (i0, j1), (i1, j1), (i1, j0), (i0, j0): bit 0 of a tap is the step along i, bit 1 along j.
        for (n, around) in [2, 3, 1, 0].into_iter().enumerate() {
            let (tap, offset) = match variant.offsets {
                0 => (around, &[][..]),
                1 => (around, offsets),
                _ => (0, offsets.get(n * self.axes..).unwrap_or(&[])),
            };
            let footprint = self.footprint(position, &Lanes::ZERO, &Lanes([YES; LANES]), offset);
            let steps = self.steps(&footprint, false);
            let mut place = self.place(&footprint, &steps, tap);
            if self.is_seamless() {
                self.cross_edges(&footprint, tap, &mut place);
            }
            let Some(texel) = self.texel(memory, &place, &self.active, reference)? else { continue };
            if let Some(to) = out.get_mut(n) {
                *to = if reference.is_some() { texel[0] } else { self.swizzle(component, |k| texel[k]) };
            }
        }
        Ok(())
    }
}
