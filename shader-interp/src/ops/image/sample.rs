//! OpImageSampleExplicitLod (*Sampling Operations*, in the order of the chapter): level selection, coordinates to texels, wrapping, border
//! replacement, filtering.
//!
//! Each texel that has a weight is an access of its own, made for all lanes together; a lane whose weight is zero does not touch the texel.
//! Fractions keep the precision of single-precision coordinates, and sums are made in double precision, so that equal texels give
//! themselves whatever their weights.

use super::address::Texels;
use super::cube;
use super::{ImageInstruction, texel, view};
use crate::interface::{Descriptor, Sampler};
use crate::ir::ImageDim;
use crate::math::convert::f32_to_i32;
use crate::math::integer::s_mod;
use crate::math::single::{ceil, floor, n_clamp, round_even};
use pellucid_memory::system::{LANES, Lanes, Mask, MemorySystem, Trap};

/// `maxSamplerLodBias` of every device that Pellucid shows.
const MAX_LOD_BIAS: f32 = 16.0;

/// All bits set in a lane: yes.
const YES: u32 = u32::MAX;

/// A float for each lane.
type Floats = [f32; LANES];

/// Executes a sampling instruction for lanes that share image and sampler.
#[allow(clippy::too_many_arguments)]
pub(super) fn sample<M: MemorySystem>(
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
    let active = Lanes(std::array::from_fn(|lane| 0u32.wrapping_sub((mask >> lane) & 1)));
    let work = Sampling { instruction, texels, sampler, axes, is_cube: dim == ImageDim::Cube, active };
    let levels = work.levels(mask, arguments);
    let position = work.position(arguments);

    let mut sums = Sums::default();
    let high = work.footprint(&position, &levels.high, &levels.linear);
    work.add(memory, &high, &levels.share(true), &mut sums)?;
    if levels.rest.iter().any(|&rest| rest > 0.0) {
        let low = Lanes(std::array::from_fn(|lane| levels.high.0[lane] + u32::from(levels.rest[lane] > 0.0)));
        let low = work.footprint(&position, &low, &levels.linear);
        work.add(memory, &low, &levels.share(false), &mut sums)?;
    }
    for (k, to) in out.iter_mut().enumerate().take(4) {
        *to = match texels.swizzle[k] {
            1 => Lanes::ZERO,
            2 => Lanes([texels.info.missing(3); LANES]),
            component => sums.component((component as usize).clamp(3, 6) - 3),
        };
    }
    Ok(())
}

/// The levels that lanes read, and their shares.
struct Levels {
    /// The level, or of two the finer.
    high: Lanes,
    /// The share of the level below it.
    rest: Floats,
    /// [`YES`] for linear filtering inside a level.
    linear: Lanes,
}

impl Levels {
    fn share(&self, high: bool) -> [f64; LANES] {
        self.rest.map(|rest| if high { 1.0 - rest as f64 } else { rest as f64 })
    }
}

/// Coordinates before they are scaled to a level.
struct Position {
    /// In [0, 1] over the image, or in texels.
    coordinates: [Floats; 3],
    /// Layer, with the face of a cube.
    layer: Lanes,
}

/// Texels of one level around the positions of all lanes.
struct Footprint {
    /// Texels of the level along each axis.
    size: [Lanes; 3],
    /// Byte offset of the layer's first texel at the level.
    start: Lanes,
    /// Bytes from texel to texel along each axis.
    pitch: [Lanes; 3],
    /// Lowest texel coordinates.
    base: [Lanes; 3],
    /// Weights of the texels after them.
    fraction: [Floats; 3],
    /// Level and layer, for texels beyond an edge of a cube.
    level: Lanes,
    layer: Lanes,
}

/// Weighted components so far.
struct Sums {
    /// Sums.
    sums: [[f64; LANES]; 4],
    /// The only texel's components, if there was but one, of full weight: they are passed on bit by bit.
    single: Option<[Lanes; 4]>,
    /// Texels added.
    count: usize,
}

impl Default for Sums {
    fn default() -> Sums {
        Sums { sums: [[0.0; LANES]; 4], single: None, count: 0 }
    }
}

impl Sums {
    fn component(&self, k: usize) -> Lanes {
        match &self.single {
            Some(texel) if self.count == 1 => texel[k],
            _ => Lanes(self.sums[k].map(|sum| (sum as f32).to_bits())),
        }
    }
}

struct Sampling<'a> {
    instruction: &'a ImageInstruction,
    texels: &'a Texels<'a>,
    sampler: &'a Sampler,
    /// Coordinates that are filtered over.
    axes: usize,
    is_cube: bool,
    /// [`YES`] in active lanes.
    active: Lanes,
}

impl Sampling<'_> {
    /// Coordinates without the layer.
    fn coordinates(&self) -> usize {
        if self.is_cube { 3 } else { self.axes }
    }

    /// *LOD Operation* and *Image Level(s) Selection* for one lane: the level or the finer of two, the share of the level below it, and
    /// whether filtering inside a level is linear.
    fn level(&self, lod: f32) -> (u32, f32, bool) {
        let sampler = self.sampler;
        let last_level = (self.texels.levels() - 1) as f32;
        let lod = lod + sampler.lod_bias.clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS);
        let lod = n_clamp(lod, sampler.min_lod, sampler.max_lod);
        let linear = if lod <= 0.0 { sampler.mag_linear } else { sampler.min_linear };
        // Integer texels are never filtered.
        let linear = linear && !self.texels.info.numeric.is_integer();
        if sampler.unnormalized {
            return (0, 0.0, linear);
        }
        let level = n_clamp(lod, 0.0, last_level);
        if sampler.mip_linear {
            (f32_to_i32(floor(level)) as u32, level - floor(level), linear)
        } else {
            (f32_to_i32(n_clamp(ceil(level + 0.5) - 1.0, 0.0, last_level)) as u32, 0.0, linear)
        }
    }

    /// The levels of all lanes.
    fn levels(&self, mask: Mask, arguments: &[&Lanes]) -> Levels {
        let lod = arguments.get(self.coordinates() + self.instruction.image.arrayed as usize).copied();
        let of_lane = |lane: usize| self.level(lod.map_or(0.0, |lod| f32::from_bits(lod.0[lane])));
        let yes = |linear: bool| if linear { YES } else { 0 };
        let first = mask.trailing_zeros() as usize;
        let (high, rest, linear) = of_lane(first);
        let mut levels =
            Levels { high: Lanes([high; LANES]), rest: [rest; LANES], linear: Lanes([yes(linear); LANES]) };
        let others = mask & !super::same_as(lod, first);
        for lane in (0..LANES).filter(|lane| (others >> lane) & 1 == 1) {
            let (high, rest, linear) = of_lane(lane);
            (levels.high.0[lane], levels.rest[lane], levels.linear.0[lane]) = (high, rest, yes(linear));
        }
        levels
    }

    /// Array layer selection and cube map face selection.
    fn position(&self, arguments: &[&Lanes]) -> Position {
        let argument = |k: usize| arguments.get(k).map_or([0.0; LANES], |lanes| lanes.0.map(f32::from_bits));
        let mut coordinates = [[0.0; LANES]; 3];
        for (k, to) in coordinates.iter_mut().enumerate().take(self.coordinates()) {
            *to = argument(k);
        }
        let mut layer = Lanes::ZERO;
        let faces = if self.is_cube { 6 } else { 1 };
        if self.instruction.image.arrayed {
            let last = (self.texels.layers / faces).saturating_sub(1);
            let wanted = argument(self.coordinates());
            for lane in 0..LANES {
                let whole = f32_to_i32(round_even(wanted[lane])).max(0) as u32;
                layer.0[lane] = whole.min(last) * faces;
            }
        }
        if self.is_cube {
            for lane in 0..LANES {
                let direction = coordinates.map(|axis| axis[lane]);
                let (face, [s, t]) = cube::select_face(direction);
                layer.0[lane] += face;
                (coordinates[0][lane], coordinates[1][lane]) = (s, t);
            }
        }
        Position { coordinates, layer }
    }

    /// *(s,t,r,q,a) to (u,v,w,a) Transformation* and *(u,v,w,a) to (i,j,k,l,n) Transformation* at a level of each lane.
    fn footprint(&self, position: &Position, level: &Lanes, linear: &Lanes) -> Footprint {
        let mut footprint = Footprint {
            size: [Lanes([1; LANES]); 3],
            start: Lanes::ZERO,
            pitch: [Lanes::ZERO; 3],
            base: [Lanes::ZERO; 3],
            fraction: [[0.0; LANES]; 3],
            level: *level,
            layer: position.layer,
        };
        self.lay_out(&mut footprint);
        for k in 0..self.axes {
            let size = &footprint.size[k].0;
            let unnormalized = self.sampler.unnormalized;
            let scale = if unnormalized { [1.0; LANES] } else { size.map(|size| size as i32 as f32) };
            let base = &mut footprint.base[k];
            let fraction = &mut footprint.fraction[k];
            for lane in 0..LANES {
                let shift = if linear.0[lane] != 0 { 0.5 } else { 0.0 };
                let u = position.coordinates[k][lane] * scale[lane] - shift;
                let whole = floor(u);
                base.0[lane] = f32_to_i32(whole) as u32;
                // Infinite coordinates have no fraction.
                let rest = n_clamp(u - whole, 0.0, 1.0);
                fraction[lane] = if linear.0[lane] != 0 { rest } else { 0.0 };
            }
        }
        footprint
    }

    /// Sizes, pitches and starts of the levels of a footprint. Most often all lanes have one level, and one layer.
    fn lay_out(&self, footprint: &mut Footprint) {
        let mut left = Mask::MAX;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let alike = super::same_as(Some(&footprint.level), first);
            left &= !alike;
            let layout = self.texels.level(footprint.level.0[first]);
            if alike == Mask::MAX {
                footprint.size = layout.extent.map(|size| Lanes([size; LANES]));
                footprint.pitch = layout.pitch.map(|pitch| Lanes([pitch; LANES]));
                for lane in 0..LANES {
                    let layer = footprint.layer.0[lane].wrapping_mul(layout.layer_pitch);
                    footprint.start.0[lane] = layout.start.wrapping_add(layer);
                }
                return;
            }
            for lane in (0..LANES).filter(|lane| (alike >> lane) & 1 == 1) {
                for k in 0..3 {
                    footprint.size[k].0[lane] = layout.extent[k];
                    footprint.pitch[k].0[lane] = layout.pitch[k];
                }
                let layer = footprint.layer.0[lane].wrapping_mul(layout.layer_pitch);
                footprint.start.0[lane] = layout.start.wrapping_add(layer);
            }
        }
    }

    /// Adds what one level contributes to the active lanes that it has a share in.
    fn add<M: MemorySystem>(
        &self,
        memory: &mut M,
        footprint: &Footprint,
        share: &[f64; LANES],
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
        let cube_edges = self.is_cube && !single;
        if cube_edges {
            self.spread_corners(footprint, &mut weights);
        }
        // Along each axis the lower and the upper texel: byte offset, and YES if it is one.
        let mut steps = [[(Lanes::ZERO, Lanes([YES; LANES])); 2]; 3];
        for k in 0..self.axes {
            let mode = if self.is_cube { 2 } else { self.sampler.address[k] };
            for upper in 0..if single { 1 } else { 2 } {
                steps[k][upper] =
                    wrap(mode, &footprint.base[k], upper as u32, &footprint.size[k], &footprint.pitch[k]);
            }
        }
        let access = self.instruction.texel_access(self.texels.info);
        let count = texel::word_count(self.texels.info);
        for (tap, weights) in weights.iter().enumerate().take(taps) {
            let mut offset = footprint.start;
            let mut exists = Lanes([YES; LANES]);
            for (k, steps) in steps.iter().enumerate().take(self.axes) {
                let (step, inside) = &steps[(tap >> k) & 1];
                for lane in 0..LANES {
                    offset.0[lane] = offset.0[lane].wrapping_add(step.0[lane]);
                    exists.0[lane] &= inside.0[lane];
                }
            }
            if cube_edges {
                self.cross_edges(footprint, tap, weights, &mut offset);
            }
            let (mut inside, mut border) = (0, 0);
            for lane in 0..LANES {
                let bit = if weights[lane] > 0.0 { 1 << lane } else { 0 };
                inside |= bit & exists.0[lane];
                border |= bit & !exists.0[lane];
            }
            if inside | border == 0 {
                continue;
            }
            let mut words = [Lanes::ZERO; 4];
            if inside != 0 {
                let from = view(&self.texels.memory, &offset);
                memory.load(self.instruction.site, from, inside, &access, &mut words[..count])?;
            }
            self.accumulate(&words, weights, border, sums);
        }
        Ok(())
    }

    /// Adds one texel of each lane that has a weight: the one loaded, or the border color.
    fn accumulate(&self, words: &[Lanes; 4], weights: &[f64; LANES], border: Mask, sums: &mut Sums) {
        let info = self.texels.info;
        let whole = (0..LANES).all(|lane| weights[lane] == 1.0 || self.active.0[lane] == 0);
        let mut texel = [Lanes::ZERO; 4];
        for k in 0..4 {
            texel::decode(info, words, k, &mut texel[k]);
            if border != 0 {
                // *Border Replacement*: only of components that the format has.
                let outside = if info.fields[k].width > 0 { self.sampler.border[k] } else { info.missing(k) };
                for lane in 0..LANES {
                    let replaced = (border >> lane) & 1 == 1;
                    texel[k].0[lane] = if replaced { outside } else { texel[k].0[lane] };
                }
            }
            for lane in 0..LANES {
                let term = weights[lane] * f32::from_bits(texel[k].0[lane]) as f64;
                sums.sums[k][lane] += if weights[lane] > 0.0 { term } else { 0.0 };
            }
        }
        // Integer texels are never filtered, so their bits are always passed on.
        sums.count += 1;
        sums.single = (whole || info.numeric.is_integer()).then_some(texel);
    }

    /// *Cube Map Edge Handling*: a texel beyond a corner of the cube does not exist; it is the average of the other three.
    fn spread_corners(&self, footprint: &Footprint, weights: &mut [[f64; LANES]; 8]) {
        for lane in 0..LANES {
            let size = footprint.size[0].0[lane];
            for tap in 0..4 {
                let [x, y] = tap_coordinates(footprint, tap, lane);
                // Negative coordinates are large ones.
                if x >= size && y >= size {
                    let third = weights[tap][lane] / 3.0;
                    for (other, weights) in weights.iter_mut().enumerate().take(4) {
                        weights[lane] = if other == tap { 0.0 } else { weights[lane] + third };
                    }
                }
            }
        }
    }

    /// Moves the texels of a linear footprint that lie beyond an edge of their face to the face next to it.
    fn cross_edges(&self, footprint: &Footprint, tap: usize, weights: &[f64; LANES], offset: &mut Lanes) {
        for lane in 0..LANES {
            let size = footprint.size[0].0[lane];
            let [x, y] = tap_coordinates(footprint, tap, lane);
            if weights[lane] > 0.0 && (x >= size || y >= size) {
                let layer = footprint.layer.0[lane];
                let (face, x, y) = cube::across_edge(layer % 6, x as i32, y as i32, size as i32);
                let place =
                    self.texels.texel_offset(footprint.level.0[lane], [x, y, 0], layer - layer % 6 + face);
                offset.0[lane] = place.unwrap_or(0);
            }
        }
    }
}

/// The first two coordinates of texel `tap` of a lane's footprint.
fn tap_coordinates(footprint: &Footprint, tap: usize, lane: usize) -> [u32; 2] {
    [0, 1].map(|k| footprint.base[k].0[lane].wrapping_add((tap >> k) as u32 & 1))
}

/// *Wrapping Operation* for one coordinate of all lanes, `step` texels after `base`: its byte offset, and [`YES`] if it is not the border.
/// `mode` is a VkSamplerAddressMode.
fn wrap(mode: i32, base: &Lanes, step: u32, size: &Lanes, pitch: &Lanes) -> (Lanes, Lanes) {
    let mut offset = Lanes::ZERO;
    let mut inside = Lanes([YES; LANES]);
    let mut each = |f: &dyn Fn(i32, i32) -> i32| {
        for lane in 0..LANES {
            let i = base.0[lane].wrapping_add(step) as i32;
            let wrapped = f(i, size.0[lane] as i32) as u32;
            offset.0[lane] = wrapped.wrapping_mul(pitch.0[lane]);
        }
    };
    let mirror = |n: i32| if n >= 0 { n } else { -1 - n };
    match mode {
        0 => each(&|i, size| s_mod::<32>(i as u32, size as u32) as i32),
        1 => each(&|i, size| {
            let turn = s_mod::<32>(i as u32, 2 * size as u32) as i32;
            (size - 1) - mirror(turn - size)
        }),
        2 => each(&|i, size| i.min(size - 1).max(0)),
        3 => {
            for lane in 0..LANES {
                let i = base.0[lane].wrapping_add(step);
                inside.0[lane] = if i < size.0[lane] { YES } else { 0 };
                offset.0[lane] = i.wrapping_mul(pitch.0[lane]);
            }
        }
        _ => each(&|i, size| mirror(i).min(size - 1)),
    }
    (offset, inside)
}
