//! Sampling with sampler Y'CbCr conversion: *Chroma Reconstruction* and *Sampler Y'CbCr Conversion*.
//!
//! Luma is filtered as any texel is. Chroma of less resolution is filtered by the chroma filter where the
//! coordinates lie between its own values (*Implicit Reconstruction*), or reconstructed where luma texels lie
//! and then filtered with them (*Explicit Reconstruction*). What that gives is converted. A luma value, and
//! each chroma value that has a weight, is an access of its own to the plane that has it.

use super::address::Texels;
use super::footprint::{Footprint, Position, Sampling};
use super::level::Wanted;
use super::{Operation, texel, view};
use crate::interface::{Descriptor, ImageView, Sampler, SamplerYcbcrConversion};
use crate::math::convert::f32_to_i32;
use crate::math::format::ycbcr;
use crate::math::single::n_clamp;
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, Mask, Trap};
use smallvec::SmallVec;

/// A number for each lane.
type Numbers = [f64; LANES];

/// Red, green, blue and alpha of all lanes.
type Colors = [Numbers; 4];

/// VkSamplerYcbcrModelConversion.
mod model {
    pub const RGB_IDENTITY: i32 = 0;
    pub const YCBCR_709: i32 = 2;
    pub const YCBCR_601: i32 = 3;
    pub const YCBCR_2020: i32 = 4;
}

/// The view, if sampling it with this sampler is for [`sample`]: the sampler has a conversion, or the view
/// requires one.
pub(super) fn converted<'a>(image: &'a Descriptor, sampler: &Sampler) -> Option<&'a ImageView> {
    let (Descriptor::Image(view) | Descriptor::ImageSampler(view, _)) = image else { return None };
    (sampler.conversion.is_some() || ycbcr(view.format).is_some()).then_some(view)
}

/// Executes a sampling instruction for lanes that share image and sampler.
#[inline(never)]
pub(super) fn sample<M: LaneAccesses>(
    work: &Sampling<'_>,
    memory: &mut M,
    view: &ImageView,
    mask: Mask,
    arguments: &[&Lanes],
    wanted: &Wanted<'_>,
    out: &mut [Lanes],
) -> Result<(), Trap> {
    let instruction = work.instruction;
    let variant = instruction.image.sampling;
    let Some(conversion) = work.sampler.conversion else {
        let name = ycbcr(view.format).map_or("", |of| of.name);
        let what = "which requires sampler Y'CbCr conversion, without one";
        return Err(Trap::NotImplemented(format!("sampling an image of {name}, {what}")));
    };
    let plain = variant.gather.is_none() && !variant.reference && variant.offsets == 0;
    if !plain || instruction.operation == Operation::QueryLod || work.axes != 2 || work.is_cube {
        let what = "image instructions with sampler Y'CbCr conversion other than sampling of 2D images";
        return Err(Trap::NotImplemented(what.into()));
    }
    let planes = Planes::of(work, view)?;
    let scales = work.scales(arguments, wanted);
    let levels = work.levels(mask, &scales.lod, wanted.min_lod);
    let position = work.position(arguments, None);
    let footprint = work.footprint(&position, &Lanes::ZERO, &levels.linear, &[]);
    let texel = planes.filtered(work, memory, &conversion, &position, &footprint)?;
    let bits = work.texels.info.fields.iter().map(|field| field.width).max().unwrap_or(8);
    for (to, from) in out.iter_mut().zip(convert(&conversion, bits, &texel)) {
        *to = Lanes(from.map(|number| (number as f32).to_bits()));
    }
    Ok(())
}

/// The planes of an image.
struct Planes<'a> {
    luma: &'a Texels<'a>,
    /// As [`ImageView::chroma`].
    chroma: SmallVec<[Texels<'a>; 2]>,
}

/// Texel coordinates of all lanes along x and y, and their layers.
type Place<'a> = (&'a [[i32; LANES]; 2], &'a Lanes);

/// Between which two values chroma lies along one axis, of all lanes.
struct Along {
    first: [i32; LANES],
    /// The weight of the second one.
    fraction: Numbers,
}

impl<'a> Planes<'a> {
    fn of(work: &'a Sampling<'_>, view: &'a ImageView) -> Result<Planes<'a>, Trap> {
        let image = &work.instruction.image;
        let texels = |plane: &'a ImageView| {
            let info = work.instruction.known(plane.format)?;
            Ok(Texels::of_image(info, plane, image.dim, image.arrayed, false))
        };
        let chroma = view.chroma.iter().map(texels).collect::<Result<_, Trap>>()?;
        Ok(Planes { luma: work.texels, chroma })
    }

    /// Whether a plane of chroma has less values than there are texels, along x and y.
    fn halved(&self, plane: &Texels<'_>) -> [bool; 2] {
        let (luma, chroma) = (self.luma.extent(0), plane.extent(0));
        [0, 1].map(|k| chroma[k] < luma[k])
    }

    /// *Texel Filtering* of level 0.
    fn filtered<M: LaneAccesses>(
        &self,
        work: &Sampling<'_>,
        memory: &mut M,
        conversion: &SamplerYcbcrConversion,
        position: &Position,
        footprint: &Footprint,
    ) -> Result<Colors, Trap> {
        let reduced = self.chroma.iter().any(|plane| self.halved(plane).contains(&true));
        let implicit = reduced && !conversion.explicit;
        let mut sums = [[0.0; LANES]; 4];
        for tap in 0..4 {
            let mut weights = [0.0; LANES];
            let mut at = [[0i32; LANES]; 2];
            for lane in (0..LANES).filter(|&lane| work.active.0[lane] != 0) {
                weights[lane] = 1.0;
                for k in 0..2 {
                    let upper = tap >> k & 1;
                    let fraction = f64::from(footprint.fraction[k][lane]);
                    weights[lane] *= if upper == 1 { fraction } else { 1.0 - fraction };
                    // The address mode is VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE.
                    let (base, size) = (footprint.base[k].0[lane] as i32, footprint.size[k].0[lane] as i32);
                    at[k][lane] = base.saturating_add(upper).clamp(0, size - 1);
                }
            }
            if weights.iter().all(|weight| *weight == 0.0) {
                continue;
            }
            let place = (&at, &footprint.layer);
            let mut texel = load(work, memory, self.luma, place, &weights)?;
            if !implicit && !self.chroma.is_empty() {
                texel = self.joined(&texel, |plane| {
                    let halved = self.halved(plane);
                    let along = [0, 1].map(|k| explicit(&at[k], halved[k], conversion, k));
                    between(work, memory, plane, &along, place.1, &weights)
                })?;
            }
            add(&mut sums, &texel, &weights);
        }
        if !implicit {
            return Ok(sums);
        }
        let active = work.active.0.map(|active| if active != 0 { 1.0 } else { 0.0 });
        self.joined(&sums, |plane| {
            let halved = self.halved(plane);
            let along = [0, 1].map(|k| {
                let size = footprint.size[k].0.map(|size| size as f32);
                let u = std::array::from_fn(|lane| position.coordinates[k][lane] * size[lane]);
                implicit_along(&u, halved[k], conversion, k)
            });
            between(work, memory, plane, &along, &footprint.layer, &active)
        })
    }

    /// Luma, the only component of its plane, and the values that `chroma` gives of the others.
    fn joined(
        &self,
        luma: &Colors,
        mut chroma: impl FnMut(&Texels<'_>) -> Result<Colors, Trap>,
    ) -> Result<Colors, Trap> {
        let mut texel = [[1.0; LANES]; 4];
        texel[1] = luma[0];
        for (k, plane) in self.chroma.iter().enumerate() {
            let values = chroma(plane)?;
            match (self.chroma.len(), k) {
                (1, _) => [texel[2], texel[0], ..] = values,
                (_, 0) => texel[2] = values[0],
                _ => texel[0] = values[0],
            }
        }
        Ok(texel)
    }
}

/// Adds weighted values.
fn add(sums: &mut Colors, values: &Colors, weights: &Numbers) {
    for (sum, values) in sums.iter_mut().zip(values) {
        for lane in 0..LANES {
            sum[lane] += weights[lane] * values[lane];
        }
    }
}

/// The mean of the values of a plane of chroma between which lanes with a weight lie.
fn between<M: LaneAccesses>(
    work: &Sampling<'_>,
    memory: &mut M,
    plane: &Texels<'_>,
    along: &[Along; 2],
    layer: &Lanes,
    weights: &Numbers,
) -> Result<Colors, Trap> {
    let size = plane.extent(0);
    let mut sums = [[0.0; LANES]; 4];
    for tap in 0..4 {
        let mut shares = [0.0; LANES];
        let mut at = [[0i32; LANES]; 2];
        for lane in (0..LANES).filter(|&lane| weights[lane] != 0.0) {
            shares[lane] = 1.0;
            for k in 0..2 {
                let upper = tap >> k & 1;
                let fraction = along[k].fraction[lane];
                shares[lane] *= if upper == 1 { fraction } else { 1.0 - fraction };
                at[k][lane] = along[k].first[lane].saturating_add(upper).clamp(0, size[k] as i32 - 1);
            }
        }
        if shares.iter().any(|share| *share != 0.0) {
            let values = load(work, memory, plane, (&at, layer), &shares)?;
            add(&mut sums, &values, &shares);
        }
    }
    Ok(sums)
}

/// *Explicit Reconstruction* along axis `k`: where the chroma of luma texels lies.
fn explicit(at: &[i32; LANES], halved: bool, conversion: &SamplerYcbcrConversion, k: usize) -> Along {
    let mut along = Along { first: *at, fraction: [0.0; LANES] };
    for lane in (0..LANES).filter(|_| halved) {
        if !conversion.linear {
            along.first[lane] = at[lane] >> 1;
            continue;
        }
        // 0.5 * i, or 0.5 * (i - 0.5).
        let position = 0.5 * f64::from(at[lane]) - if conversion.midpoint[k] { 0.25 } else { 0.0 };
        along.first[lane] = position.floor() as i32;
        along.fraction[lane] = position - position.floor();
    }
    along
}

/// *Implicit Reconstruction* along axis `k`: where unnormalized coordinates of luma lie in the chroma.
fn implicit_along(u: &[f32; LANES], halved: bool, conversion: &SamplerYcbcrConversion, k: usize) -> Along {
    let mut along = Along { first: [0; LANES], fraction: [0.0; LANES] };
    for lane in 0..LANES {
        let cosited = if conversion.midpoint[k] { 0.0 } else { 0.5 };
        let u = if halved { 0.5 * (u[lane] + cosited) } else { u[lane] };
        let u = if conversion.linear { u - 0.5 } else { u };
        along.first[lane] = f32_to_i32(u.floor());
        if conversion.linear {
            along.fraction[lane] = f64::from(n_clamp(u - u.floor(), 0.0, 1.0));
        }
    }
    along
}

/// The components of the texels of a plane at a place of each lane that has a weight; zeros in the others.
fn load<M: LaneAccesses>(
    work: &Sampling<'_>,
    memory: &mut M,
    plane: &Texels<'_>,
    (at, layer): Place<'_>,
    weights: &Numbers,
) -> Result<Colors, Trap> {
    let layout = plane.level(0);
    let (mut offset, mut wanted) = (Lanes::ZERO, 0);
    for lane in (0..LANES).filter(|&lane| weights[lane] != 0.0) {
        wanted |= 1 << lane;
        let [x, y] = [0, 1].map(|k| (at[k][lane] as u32).wrapping_mul(layout.pitch[k]));
        let layer = layer.0[lane].wrapping_mul(layout.layer_pitch);
        offset.0[lane] = layout.start.wrapping_add(layer).wrapping_add(x).wrapping_add(y);
    }
    let mut words = [Lanes::ZERO; 4];
    work.note_residency(plane, &offset, wanted);
    let access = work.instruction.texel_access(plane.info);
    let count = texel::word_count(plane.info);
    memory.load(work.instruction.site, view(&plane.memory, &offset), wanted, &access, &mut words[..count])?;
    let mut colors = [[0.0; LANES]; 4];
    for (k, to) in colors.iter_mut().enumerate() {
        let mut component = Lanes::ZERO;
        texel::decode(plane.info, &words, k, &mut component);
        for lane in (0..LANES).filter(|&lane| weights[lane] != 0.0) {
            to[lane] = f64::from(f32::from_bits(component.0[lane]));
        }
    }
    Ok(colors)
}

/// *Sampler Y'CbCr Conversion*: component swizzle, range expansion and model conversion of components of so
/// many bits.
fn convert(conversion: &SamplerYcbcrConversion, bits: u8, texel: &Colors) -> Colors {
    let mut colors: Colors = std::array::from_fn(|k| match conversion.swizzle[k] {
        1 => [0.0; LANES],
        2 => [1.0; LANES],
        component => texel[usize::from(component).clamp(3, 6) - 3],
    });
    if conversion.model == model::RGB_IDENTITY {
        return colors;
    }
    let largest = f64::from((1u32 << bits) - 1);
    let unit = f64::from(1u32 << (bits - 8));
    for lane in 0..LANES {
        let [red, luma, blue] = [0, 1, 2].map(|k| colors[k][lane] * largest);
        let (y, [cb, cr]) = match conversion.narrow {
            true => {
                let chroma = [blue, red].map(|value| (value - 128.0 * unit) / (224.0 * unit));
                ((luma - 16.0 * unit) / (219.0 * unit), chroma)
            }
            false => (luma / largest, [blue, red].map(|value| (value - 128.0 * unit) / largest)),
        };
        let [r, g, b] = rgb(conversion.model, [y, cb, cr]);
        (colors[0][lane], colors[1][lane], colors[2][lane]) = (r, g, b);
    }
    colors
}

/// Red, green and blue (Khronos Data Format Specification, *BT.709*, *BT.601* and *BT.2020 Y'CbCr
/// conversion*); for another model red difference, luma and blue difference as they are.
fn rgb(model: i32, [y, cb, cr]: [f64; 3]) -> [f64; 3] {
    // What red and blue contribute to luma.
    let (kr, kb) = match model {
        model::YCBCR_709 => (0.2126, 0.0722),
        model::YCBCR_601 => (0.299, 0.114),
        model::YCBCR_2020 => (0.2627, 0.0593),
        _ => return [cr, y, cb],
    };
    let (red, blue) = (y + 2.0 * (1.0 - kr) * cr, y + 2.0 * (1.0 - kb) * cb);
    // Luma is the sum of all three contributions.
    [red, (y - kr * red - kb * blue) / (1.0 - kr - kb), blue]
}
