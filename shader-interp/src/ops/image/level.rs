//! Which levels lanes read (*Scale Factor Operation*, *LOD Operation* and *Image Level(s) Selection*), and
//! how many samples along which derivative anisotropy asks for.

use super::footprint::{Floats, Sampling, YES};
use crate::arrays::each;
use crate::interface::Sampler;
use crate::ir::ImageDim;
use crate::math::convert::f32_to_i32;
use crate::math::single::{ceil, floor, log2, n_clamp};
use pellucid_memory::system::{LANES, Lanes, Mask};

/// `maxSamplerLodBias` of every device that Pellucid shows.
pub(crate) const MAX_LOD_BIAS: f32 = 16.0;
/// `maxSamplerAnisotropy`.
const MAX_ANISOTROPY: f32 = 16.0;

/// Where a sampling instruction says which level it wants.
#[derive(Clone, Copy, Default)]
pub(super) struct Wanted<'a> {
    /// Lod: the base of the LOD itself. Without it, and without derivatives, that is 0.
    pub lod: Option<&'a Lanes>,
    /// The derivatives of the coordinates along x and along y, one register for each coordinate.
    pub derivatives: Option<[&'a [&'a Lanes]; 2]>,
    /// Added to the LOD, as the sampler's bias is (Bias).
    pub bias: Option<&'a Lanes>,
    /// The LOD is at least this (MinLod).
    pub min_lod: Option<&'a Lanes>,
}

/// The LODs of all lanes, and their samples.
pub(super) struct Scales {
    /// After the bias.
    pub lod: Floats,
    /// Isotropic samples that are averaged, at least 1 in active lanes.
    pub samples: [u32; LANES],
    /// The derivative along which they lie is that along y, not x.
    pub along_y: [bool; LANES],
}

/// The levels that lanes read, and their shares.
pub(super) struct Levels {
    /// The level, or of two the finer.
    pub high: Lanes,
    /// The share of the level below it.
    pub rest: Floats,
    /// [`YES`] for linear filtering inside a level.
    pub linear: Lanes,
}

impl Levels {
    /// The shares of the finer levels, or of those below them.
    #[inline(always)]
    pub fn share(&self, high: bool) -> [f64; LANES] {
        let rest = |lane: usize| f64::from(self.rest[lane]);
        each(|lane| if high { 1.0 - rest(lane) } else { rest(lane) })
    }
}

#[inline(always)]
fn float(register: &Lanes, lane: usize) -> f32 {
    f32::from_bits(register.0[lane])
}

impl Sampling<'_> {
    /// *Scale Factor Operation*, and *LOD Operation* but for its clamp.
    #[inline(always)]
    pub fn scales(&self, coordinates: &[&Lanes], wanted: &Wanted<'_>) -> Scales {
        let mut scales = Scales { lod: [0.0; LANES], samples: [1; LANES], along_y: [false; LANES] };
        if let Some(lod) = wanted.lod {
            scales.lod = each(|lane| float(lod, lane));
        }
        if let Some(derivatives) = wanted.derivatives {
            for lane in (0..LANES).filter(|&lane| self.active.0[lane] != 0) {
                self.scale(lane, coordinates, derivatives, &mut scales);
            }
        }
        for lane in 0..LANES {
            let bias = self.sampler.lod_bias + wanted.bias.map_or(0.0, |bias| float(bias, lane));
            scales.lod[lane] += n_clamp(bias, -MAX_LOD_BIAS, MAX_LOD_BIAS);
        }
        scales
    }

    /// *Scale Factor Operation* of one lane. The scale factors are those of the ellipse that a step in x and
    /// one in y span: their lengths in texels of the base level.
    fn scale(&self, lane: usize, coordinates: &[&Lanes], along: [&[&Lanes]; 2], scales: &mut Scales) {
        let extent = self.texels.extent(0);
        let [x, y] = along.map(|registers| {
            let of = |registers: &[&Lanes]| {
                let mut values = [0.0; 3];
                for (value, register) in values.iter_mut().zip(registers) {
                    *value = float(register, lane);
                }
                values
            };
            let mut change = of(registers);
            if self.is_cube {
                change = face_derivatives(of(coordinates), change);
            }
            (0..self.axes).fold(0.0f32, |sum, k| {
                let texels = change[k] * extent[k] as f32;
                sum + texels * texels
            })
        });
        // Squares: f32::max leaves out what is no number.
        let (longer, shorter) = (x.max(y), x.min(y));
        scales.lod[lane] = 0.5 * log2(longer);
        scales.along_y[lane] = y >= x;
        let most = n_clamp(self.sampler.max_anisotropy, 1.0, MAX_ANISOTROPY);
        if most > 1.0 && longer > 0.0 && !self.texels.info.numeric.is_integer() {
            let ratio = n_clamp((longer / shorter).sqrt(), 1.0, most);
            scales.lod[lane] -= log2(ratio);
            scales.samples[lane] = f32_to_i32(ceil(ratio)) as u32;
        }
    }

    /// What [`Sampling::levels`] says of a lane whose Lod operand is this, without anything added.
    #[inline(always)]
    pub fn level_of(&self, lod: f32) -> (u32, f32, bool) {
        self.level(lod + sampler_bias(self.sampler), 0.0)
    }

    /// *LOD Operation*'s clamp and *Image Level(s) Selection* for one lane: the level or the finer of two,
    /// the share of the level below it, and whether filtering inside a level is linear.
    #[inline(always)]
    fn level(&self, lod: f32, min_lod: f32) -> (u32, f32, bool) {
        let sampler = self.sampler;
        let lod = n_clamp(lod, sampler.min_lod.max(min_lod), sampler.max_lod);
        let linear = if lod <= 0.0 { sampler.mag_linear } else { sampler.min_linear };
        // Integer texels are never filtered.
        let linear = linear && !self.texels.info.numeric.is_integer();
        let (high, rest) = self.selected(lod);
        (high, rest, linear)
    }

    /// *Image Level(s) Selection* for a LOD: the level or the finer of two, and the share of the level below.
    #[inline(always)]
    fn selected(&self, lod: f32) -> (u32, f32) {
        if self.sampler.unnormalized {
            return (0, 0.0);
        }
        let last_level = (self.texels.levels() - 1) as f32;
        let level = n_clamp(lod, 0.0, last_level);
        if self.sampler.mip_linear {
            (f32_to_i32(floor(level)) as u32, level - floor(level))
        } else {
            (f32_to_i32(n_clamp(ceil(level + 0.5) - 1.0, 0.0, last_level)) as u32, 0.0)
        }
    }

    /// The levels of all lanes, for LODs after the bias.
    #[inline(always)]
    pub fn levels(&self, mask: Mask, lod: &Floats, min_lod: Option<&Lanes>) -> Levels {
        let of_lane = |lane: usize| self.level(lod[lane], min_lod.map_or(0.0, |least| float(least, lane)));
        let yes = |linear: bool| if linear { YES } else { 0 };
        let first = mask.trailing_zeros() as usize;
        let (high, rest, linear) = of_lane(first);
        let mut levels =
            Levels { high: Lanes([high; LANES]), rest: [rest; LANES], linear: Lanes([yes(linear); LANES]) };
        let alike = super::same_as(Some(&Lanes(each(|lane| lod[lane].to_bits()))), first);
        if mask & !(alike & super::same_as(min_lod, first)) != 0 {
            for lane in 0..LANES {
                let (high, rest, linear) = of_lane(lane);
                (levels.high.0[lane], levels.rest[lane], levels.linear.0[lane]) = (high, rest, yes(linear));
            }
        }
        levels
    }

    /// *LOD Query*: the level, with the share of the one below it, relative to the view's first level; and
    /// the LOD before its clamp.
    pub fn query(&self, scales: &Scales) -> [Lanes; 2] {
        let level = |lod: f32| {
            let (high, rest) = self.selected(n_clamp(lod, self.sampler.min_lod, self.sampler.max_lod));
            (high as f32 + rest).to_bits()
        };
        [Lanes(scales.lod.map(level)), Lanes(scales.lod.map(f32::to_bits))]
    }
}

/// A sampler's bias, where the instruction has none.
#[inline(always)]
pub(super) fn sampler_bias(sampler: &Sampler) -> f32 {
    n_clamp(sampler.lod_bias + 0.0, -MAX_LOD_BIAS, MAX_LOD_BIAS)
}

/// *Cube Map Derivative Transformation*, but for the signs: how fast the place on the face changes that a
/// direction hits, along both axes of the face.
fn face_derivatives([x, y, z]: [f32; 3], [dx, dy, dz]: [f32; 3]) -> [f32; 3] {
    let ([ax, ay, az], [u, v, r], [du, dv, dr]) = ([x.abs(), y.abs(), z.abs()], [x, y, z], [dx, dy, dz]);
    // The major axis is the last one.
    let ([u, v, r], [du, dv, dr]) = if az >= ax && az >= ay {
        ([u, v, r], [du, dv, dr])
    } else if ay >= ax {
        ([u, r, v], [du, dr, dv])
    } else {
        ([r, v, u], [dr, dv, du])
    };
    let along = |s: f32, ds: f32| (r * ds - s * dr) / (r * r) * 0.5;
    [along(u, du), along(v, dv), 0.0]
}

/// Dimensions over which derivatives are taken; of cube maps those of the direction.
pub(super) fn derivative_axes(dim: ImageDim) -> usize {
    match dim {
        ImageDim::D1 | ImageDim::Buffer => 1,
        ImageDim::D2 => 2,
        ImageDim::D3 | ImageDim::Cube => 3,
    }
}
