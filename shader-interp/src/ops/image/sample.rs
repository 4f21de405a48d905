//! OpImageSampleExplicitLod (*Sampling Operations*, in the order of the chapter): level selection, coordinates to texels, wrapping, border
//! replacement, filtering.
//!
//! Each texel that has a weight is an access of its own; a lane whose weight is zero does not touch the texel. Fractions keep the precision
//! of single-precision coordinates.

use super::address::Texels;
use super::{ImageInstruction, texel, view};
use crate::interface::{Descriptor, Sampler};
use crate::ir::ImageDim;
use crate::math::convert::f32_to_i32;
use crate::math::single::{ceil, floor, n_clamp, round_even};
use pellucid_memory::system::{LANES, Lanes, Mask, MemorySystem, Trap};

/// `maxSamplerLodBias` of every device that Pellucid shows.
const MAX_LOD_BIAS: f32 = 16.0;

/// What one level contributes to a lane.
#[derive(Clone, Copy, Default)]
struct Footprint {
    /// Level.
    level: u32,
    /// Layer, with the face of a cube.
    layer: u32,
    /// Lowest texel coordinates.
    base: [i32; 3],
    /// Weights of the texels next to them.
    fraction: [f32; 3],
    /// The level's share.
    share: f64,
    /// Linear filtering: base and fraction count.
    linear: bool,
}

/// Where a texel is found.
enum Found {
    /// At this byte offset.
    At(u32),
    /// Out of bounds: the border color.
    Border,
}

/// Sums of the weighted components.
struct Sums {
    /// In double precision, so that equal texels give themselves whatever their weights.
    components: [[f64; LANES]; 4],
    /// Integer texels are not weighted.
    integers: [Lanes; 4],
}

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
    let work = Sampling { instruction, texels, sampler };
    let (high, low) = work.levels(mask, arguments);
    let mut sums = Sums { components: [[0.0; LANES]; 4], integers: [Lanes::ZERO; 4] };
    work.add(memory, mask, &high, &mut sums)?;
    if (0..LANES).any(|lane| (mask >> lane) & 1 == 1 && low[lane].share > 0.0) {
        work.add(memory, mask, &low, &mut sums)?;
    }
    let integer = texels.info.numeric.is_integer();
    for (k, to) in out.iter_mut().enumerate().take(4) {
        *to = match texels.swizzle[k] {
            1 => Lanes::ZERO,
            2 => Lanes([texels.info.missing(3); LANES]),
            component => {
                let component = (component as usize).clamp(3, 6) - 3;
                if integer {
                    sums.integers[component]
                } else {
                    Lanes(sums.components[component].map(|sum| (sum as f32).to_bits()))
                }
            }
        };
    }
    Ok(())
}

struct Sampling<'a> {
    instruction: &'a ImageInstruction,
    texels: &'a Texels<'a>,
    sampler: &'a Sampler,
}

impl Sampling<'_> {
    /// Coordinates that are filtered over.
    fn axes(&self) -> usize {
        match self.instruction.image.dim {
            ImageDim::D1 | ImageDim::Buffer => 1,
            ImageDim::D2 | ImageDim::Cube => 2,
            ImageDim::D3 => 3,
        }
    }

    fn is_cube(&self) -> bool {
        self.instruction.image.dim == ImageDim::Cube
    }

    /// *LOD Operation* and *Image Level(s) Selection*: the two levels of every lane with their shares.
    fn levels(&self, mask: Mask, arguments: &[&Lanes]) -> ([Footprint; LANES], [Footprint; LANES]) {
        let mut high = [Footprint::default(); LANES];
        let mut low = high;
        let last_level = (self.texels.levels() - 1) as f32;
        let coordinates = if self.is_cube() { 3 } else { self.axes() };
        let arrayed = self.instruction.image.arrayed;
        let lod_argument = coordinates + arrayed as usize;
        for lane in (0..LANES).filter(|lane| (mask >> lane) & 1 == 1) {
            let argument = |k: usize| arguments.get(k).map_or(0.0, |lanes| f32::from_bits(lanes.0[lane]));
            let lod = argument(lod_argument) + self.sampler.lod_bias.clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS);
            let lod = n_clamp(lod, self.sampler.min_lod, self.sampler.max_lod);
            let linear = if lod <= 0.0 { self.sampler.mag_linear } else { self.sampler.min_linear };
            let level = n_clamp(lod, 0.0, last_level);
            let (first, rest) = if self.sampler.unnormalized {
                (0.0, 0.0)
            } else if self.sampler.mip_linear {
                (floor(level), level - floor(level))
            } else {
                (n_clamp(ceil(level + 0.5) - 1.0, 0.0, last_level), 0.0)
            };
            let position = std::array::from_fn(|k| if k < coordinates { argument(k) } else { 0.0 });
            let layer = if arrayed { argument(coordinates) } else { 0.0 };
            let first = f32_to_i32(first) as u32;
            high[lane] = self.footprint(position, layer, first, 1.0 - rest as f64, linear);
            if rest > 0.0 {
                low[lane] = self.footprint(position, layer, first + 1, rest as f64, linear);
            }
        }
        (high, low)
    }

    /// The texels of one level around a position.
    fn footprint(&self, position: [f32; 3], layer: f32, level: u32, share: f64, linear: bool) -> Footprint {
        let extent = self.texels.extent(level);
        let (face, position) = if self.is_cube() { select_face(position) } else { (0, position) };
        let layer = {
            let faces = if self.is_cube() { 6 } else { 1 };
            let last = (self.texels.layers / faces).saturating_sub(1);
            let wanted = f32_to_i32(round_even(layer)).max(0) as u32;
            wanted.min(last) * faces + face
        };
        let mut footprint = Footprint { level, layer, share, linear, ..Footprint::default() };
        for k in 0..self.axes() {
            let scale = if self.sampler.unnormalized { 1.0 } else { extent[k] as f32 };
            let u = position[k] * scale - if linear { 0.5 } else { 0.0 };
            let whole = floor(u);
            footprint.base[k] = f32_to_i32(whole);
            let fraction = u - whole;
            footprint.fraction[k] = if linear & (fraction > 0.0) & (fraction < 1.0) { fraction } else { 0.0 };
        }
        footprint
    }

    /// Adds what one level contributes to the lanes of `mask` that it has a share in.
    fn add<M: MemorySystem>(
        &self,
        memory: &mut M,
        mask: Mask,
        footprints: &[Footprint; LANES],
        sums: &mut Sums,
    ) -> Result<(), Trap> {
        let axes = self.axes();
        let active = |lane: &usize| (mask >> lane) & 1 == 1 && footprints[*lane].share > 0.0;
        let mut weights = [[0.0f64; LANES]; 8];
        let mut taps = 1;
        for lane in (0..LANES).filter(active) {
            let lane_weights = self.weights(&footprints[lane], axes);
            for (tap, weight) in lane_weights.into_iter().enumerate() {
                weights[tap][lane] = weight;
                taps = if weight > 0.0 { taps.max(tap + 1) } else { taps };
            }
        }
        let access = self.instruction.texel_access(self.texels.info);
        let count = texel::word_count(self.texels.info);
        for (tap, weights) in weights.iter().enumerate().take(taps) {
            let mut offset = Lanes::ZERO;
            let (mut inside, mut border) = (0, 0);
            for lane in (0..LANES).filter(active).filter(|&lane| weights[lane] > 0.0) {
                match self.find(&footprints[lane], tap) {
                    Found::At(at) => {
                        offset.0[lane] = at;
                        inside |= 1 << lane;
                    }
                    Found::Border => border |= 1 << lane,
                }
            }
            let mut words = [Lanes::ZERO; 4];
            if inside != 0 {
                let from = view(&self.texels.memory, &offset);
                memory.load(self.instruction.site, from, inside, &access, &mut words[..count])?;
            }
            self.accumulate(&words, weights, inside, border, sums);
        }
        Ok(())
    }

    /// Adds one texel of each lane of `inside`, and the border color in the lanes of `border`.
    fn accumulate(
        &self,
        words: &[Lanes; 4],
        weights: &[f64; LANES],
        inside: Mask,
        border: Mask,
        sums: &mut Sums,
    ) {
        let info = self.texels.info;
        let mut value = Lanes::ZERO;
        for k in 0..4 {
            texel::decode(info, words, k, &mut value);
            let outside = if info.fields[k].width > 0 { self.sampler.border[k] } else { info.missing(k) };
            for lane in 0..LANES {
                if ((inside | border) >> lane) & 1 == 1 {
                    let bits = if (border >> lane) & 1 == 1 { outside } else { value.0[lane] };
                    sums.components[k][lane] += weights[lane] * f32::from_bits(bits) as f64;
                    sums.integers[k].0[lane] = bits;
                }
            }
        }
    }

    /// The weight of each texel of a footprint: bit `k` of its number is the step along axis `k`.
    fn weights(&self, footprint: &Footprint, axes: usize) -> [f64; 8] {
        let mut weights = [0.0; 8];
        if !footprint.linear || self.texels.info.numeric.is_integer() {
            weights[0] = footprint.share;
            return weights;
        }
        for (tap, weight) in weights.iter_mut().enumerate().take(1 << axes) {
            *weight = footprint.share;
            for k in 0..axes {
                let fraction = footprint.fraction[k] as f64;
                *weight *= if (tap >> k) & 1 == 1 { fraction } else { 1.0 - fraction };
            }
        }
        if self.is_cube() {
            self.spread_corner(footprint, &mut weights);
        }
        weights
    }

    /// *Cube Map Edge Handling*: a texel beyond a corner of the cube does not exist; it is the average of the other three.
    fn spread_corner(&self, footprint: &Footprint, weights: &mut [f64; 8]) {
        let size = self.texels.extent(footprint.level)[0] as i32;
        let beyond = |c: i32| c < 0 || c >= size;
        for tap in 0..4 {
            let x = footprint.base[0].wrapping_add(tap & 1);
            let y = footprint.base[1].wrapping_add(tap >> 1);
            if beyond(x) && beyond(y) {
                let third = weights[tap as usize] / 3.0;
                for (other, weight) in weights.iter_mut().enumerate().take(4) {
                    *weight = if other == tap as usize { 0.0 } else { *weight + third };
                }
                return;
            }
        }
    }

    /// *Wrapping Operation* and bounds: where texel `tap` of a footprint lies.
    fn find(&self, footprint: &Footprint, tap: usize) -> Found {
        let extent = self.texels.extent(footprint.level);
        let mut texel = [0; 3];
        for k in 0..self.axes() {
            texel[k] = footprint.base[k].wrapping_add(((tap >> k) & 1) as i32);
        }
        let mut layer = footprint.layer;
        if self.is_cube() {
            let size = extent[0] as i32;
            let beyond = |c: i32| c < 0 || c >= size;
            if footprint.linear && (beyond(texel[0]) || beyond(texel[1])) {
                let (face, x, y) = across_edge(layer % 6, texel[0], texel[1], size);
                layer = layer - layer % 6 + face;
                (texel[0], texel[1]) = (x, y);
            }
            texel[0] = texel[0].clamp(0, size - 1);
            texel[1] = texel[1].clamp(0, size - 1);
        } else {
            for k in 0..self.axes() {
                texel[k] = wrap(self.sampler.address[k], texel[k], extent[k] as i32);
            }
        }
        match self.texels.texel_offset(footprint.level, texel.map(|c| c as u32), layer) {
            Some(at) => Found::At(at),
            None => Found::Border,
        }
    }
}

/// *Wrapping Operation* for one coordinate; `mode` is a VkSamplerAddressMode. Clamped to the border it gives -1 or `size`.
fn wrap(mode: i32, i: i32, size: i32) -> i32 {
    let mirror = |n: i64| if n >= 0 { n } else { -(1 + n) };
    let (i, size) = (i as i64, size as i64);
    let wrapped = match mode {
        0 => i.rem_euclid(size),
        1 => (size - 1) - mirror(i.rem_euclid(2 * size) - size),
        2 => i.clamp(0, size - 1),
        3 => i.clamp(-1, size),
        _ => mirror(i).clamp(0, size - 1),
    };
    wrapped as i32
}

/// *Cube Map Face Selection* and *Cube Map Coordinate Transformation*: the face that a direction hits, and where, in [0, 1].
fn select_face(r: [f32; 3]) -> (u32, [f32; 3]) {
    let [x, y, z] = r;
    let a = r.map(f32::abs);
    let (face, s, t, major) = if a[2] >= a[0] && a[2] >= a[1] {
        if z >= 0.0 { (4, x, -y, a[2]) } else { (5, -x, -y, a[2]) }
    } else if a[1] >= a[0] {
        if y >= 0.0 { (2, x, z, a[1]) } else { (3, x, -z, a[1]) }
    } else if x >= 0.0 {
        (0, -z, -y, a[0])
    } else {
        (1, z, -y, a[0])
    };
    (face, [0.5 * (s / major) + 0.5, 0.5 * (t / major) + 0.5, 0.0])
}

/// The texel of the neighbouring face that adjoins texel (x, y), one step beyond the edge of `face`: the direction of its middle, were the
/// face larger, hits that texel.
fn across_edge(face: u32, x: i32, y: i32, size: i32) -> (u32, i32, i32) {
    let along = |c: i32| ((2 * c as i64 + 1) as f32) / size as f32 - 1.0;
    let (s, t) = (along(x), along(y));
    let direction = match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    };
    let (face, [s, t, _]) = select_face(direction);
    (face, f32_to_i32(floor(s * size as f32)), f32_to_i32(floor(t * size as f32)))
}
