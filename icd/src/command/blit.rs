//! Blits and resolves: texels that change size, format or sample count on the way.

use super::copy::Touched;
use crate::caps::formats;
use crate::entry::image::Image;
use crate::error::{Error, Outcome};
use ash::vk;
use pellucid_memory::device::Allocation;
use pellucid_shader_interp::math::format::{FormatInfo, Numeric, block};

fn outside() -> Error {
    Error::usage("a region is not inside its image")
}

/// One level, layer and aspect of an image, texel by texel.
struct Plane<'a> {
    memory: &'a Allocation,
    format: &'static FormatInfo,
    start: u64,
    pitch: [u64; 3],
    extent: [u32; 3],
    samples: u32,
    /// Bytes from sample to sample.
    sample_pitch: u64,
}

impl<'a> Plane<'a> {
    fn new(image: &'a Image, level: u32, layer: u32, aspect: vk::ImageAspectFlags) -> Outcome<Plane<'a>> {
        let (memory, base) = image.memory()?;
        let (skip, format) = image.seen_as(image.format, aspect);
        let format = formats::info(format).ok_or_else(outside)?;
        let level = image.layout.levels.get(level as usize).ok_or_else(outside)?;
        if layer >= image.layers {
            return Err(outside());
        }
        Ok(Plane {
            memory: memory.bytes(),
            format,
            start: base + level.offset + u64::from(layer) * image.layout.layer + skip,
            pitch: [image.layout.texel, level.row, level.slice],
            extent: level.extent,
            samples: image.samples,
            sample_pitch: image.layout.texel / u64::from(image.samples),
        })
    }

    /// The corners of a region, which are inside the level.
    fn corners(&self, offsets: [vk::Offset3D; 2]) -> Outcome<[[i32; 3]; 2]> {
        let corners = offsets.map(|o| [o.x, o.y, o.z]);
        let inside = |c: &[i32; 3]| (0..3).all(|i| u32::try_from(c[i]).is_ok_and(|c| c <= self.extent[i]));
        if corners.iter().all(inside) { Ok(corners) } else { Err(outside()) }
    }

    /// In check mode: the texels of a box are read or written. A filter reads no texel outside its box but
    /// the edge's.
    fn touch(&self, touched: &mut Touched<'_>, from: [i32; 3], to: [i32; 3], write: bool) {
        let Some(transfer) = touched else { return };
        let low = [0, 1, 2].map(|i| i64::from(from[i].min(to[i])));
        let high = [0, 1, 2].map(|i| i64::from(from[i].max(to[i])));
        let block = self.format.block().map(i64::from);
        // Whole blocks.
        let [low, high]: [[i64; 3]; 2] = [
            std::array::from_fn(|i| low[i] / block[i]),
            std::array::from_fn(|i| (high[i] + block[i] - 1) / block[i]),
        ];
        let bytes = (high[0] - low[0]).cast_unsigned() * self.pitch[0];
        let mut touched = |address, bytes| {
            if write { transfer.write(address, bytes) } else { transfer.read(address, bytes) }
        };
        let texel = u64::from(self.format.texel_bytes);
        for z in low[2]..high[2] {
            for y in low[1]..high[1] {
                let first = [low[0] * block[0], y * block[1], z * block[2]];
                let address = self.memory.address() + self.offset(first, 0);
                if texel == self.sample_pitch {
                    touched(address, bytes);
                    continue;
                }
                // The other aspect's bytes lie between.
                (0..bytes).step_by(self.sample_pitch as usize).for_each(|at| touched(address + at, texel));
            }
        }
    }

    /// Coordinates clamped to the edge.
    fn clamped(&self, at: [i64; 3]) -> [u32; 3] {
        std::array::from_fn(|i| at[i].clamp(0, i64::from(self.extent[i]) - 1) as u32)
    }

    fn offset(&self, at: [i64; 3], sample: u32) -> u64 {
        let (at, block) = (self.clamped(at), self.format.block());
        let place: u64 = (0..3).map(|i| u64::from(at[i] / block[i]) * self.pitch[i]).sum();
        self.start + place + u64::from(sample) * self.sample_pitch
    }

    /// A texel; coordinates outside are clamped to the edge.
    fn load(&self, at: [i64; 3], sample: u32) -> [u32; 4] {
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..usize::from(self.format.texel_bytes)];
        self.memory.read(self.offset(at, sample), bytes);
        let [x, y, _] = self.clamped(at);
        self.format.decode(bytes, block::within([x, y]))
    }

    fn store(&self, at: [i64; 3], value: [u32; 4]) -> Outcome<()> {
        let inside = (0..3).all(|i| (0..i64::from(self.extent[i])).contains(&at[i]));
        let bytes = self.format.encode(value);
        let texel = &bytes[..usize::from(self.format.texel_bytes)];
        if inside && self.memory.write(self.offset(at, 0), texel) { Ok(()) } else { Err(outside()) }
    }
}

/// A texel of the source at unnormalized coordinates, filtered.
fn sample(plane: &Plane<'_>, at: [f32; 3], linear: bool) -> [u32; 4] {
    if !linear || plane.format.numeric.is_integer() {
        return plane.load(at.map(|c| c.floor() as i64), 0);
    }
    let base = at.map(|c| (c - 0.5).floor());
    let weight = [0, 1, 2].map(|i| if plane.extent[i] == 1 { 0.0 } else { at[i] - 0.5 - base[i] });
    let mut sum = [0f32; 4];
    for corner in 0..8u32 {
        let bit = |i: usize| corner >> i & 1;
        let share: f32 = (0..3).map(|i| if bit(i) == 1 { weight[i] } else { 1.0 - weight[i] }).product();
        if share == 0.0 {
            continue;
        }
        let texel = plane.load([0, 1, 2].map(|i| base[i] as i64 + i64::from(bit(i))), 0);
        for (s, t) in sum.iter_mut().zip(texel) {
            *s += share * f32::from_bits(t);
        }
    }
    sum.map(f32::to_bits)
}

/// vkCmdBlitImage.
///
/// # Errors
/// An image is not bound, a region is not inside, or the formats cannot be converted into each other.
pub fn blit(
    from: &Image,
    to: &Image,
    regions: &[vk::ImageBlit],
    filter: vk::Filter,
    mut touched: Touched<'_>,
) -> Outcome<()> {
    for region in regions {
        let (s, d) = (region.src_subresource, region.dst_subresource);
        let parts =
            (0..layers(s, d, from, to)?).flat_map(|layer| aspects(s.aspect_mask).map(move |a| (layer, a)));
        for (layer, aspect) in parts {
            let source = Plane::new(from, s.mip_level, s.base_array_layer + layer, aspect)?;
            let target = Plane::new(to, d.mip_level, d.base_array_layer + layer, aspect)?;
            if target.format.compression.is_some() {
                return Err(Error::usage(format!("a blit to an image of {}", target.format.name)));
            }
            if source.format.numeric.is_integer() != target.format.numeric.is_integer() {
                return Err(Error::usage("a blit between integers and other numbers"));
            }
            let (read, write) = (source.corners(region.src_offsets)?, target.corners(region.dst_offsets)?);
            source.touch(&mut touched, read[0], read[1], false);
            target.touch(&mut touched, write[0], write[1], true);
            blit_plane(&source, &target, read, write, filter == vk::Filter::LINEAR)?;
        }
    }
    Ok(())
}

/// One aspect after the other.
fn aspects(all: vk::ImageAspectFlags) -> impl Iterator<Item = vk::ImageAspectFlags> {
    use vk::ImageAspectFlags as A;
    [A::COLOR, A::DEPTH, A::STENCIL].into_iter().filter(move |aspect| all.contains(*aspect))
}

/// The layers of a region, which are inside both images.
fn layers(
    s: vk::ImageSubresourceLayers,
    d: vk::ImageSubresourceLayers,
    from: &Image,
    to: &Image,
) -> Outcome<u32> {
    if let Some(of) = [from, to].into_iter().find_map(|image| formats::ycbcr(image.format)) {
        return Err(Error::usage(format!("a blit or a resolve of an image of {}", of.name)));
    }
    let count = match s.layer_count {
        vk::REMAINING_ARRAY_LAYERS => from.layers.saturating_sub(s.base_array_layer),
        count => count,
    };
    let inside = |base: u32, image: &Image| base.checked_add(count).is_some_and(|end| end <= image.layers);
    if inside(s.base_array_layer, from) && inside(d.base_array_layer, to) {
        Ok(count)
    } else {
        Err(outside())
    }
}

/// Component `k` of a texel of integers.
fn integer(texel: [u32; 4], plane: &Plane<'_>, k: usize) -> i128 {
    let signed = plane.format.numeric == Numeric::Sint;
    if !plane.format.is_64_bit() {
        return if signed { texel[k].cast_signed().into() } else { texel[k].into() };
    }
    // Two words of red.
    let red = u64::from(texel[0]) | u64::from(texel[1]) << 32;
    match k {
        0 if signed => red.cast_signed().into(),
        0 => red.into(),
        3 => 1,
        _ => 0,
    }
}

/// Integers, clamped to what the target's format can hold (Vulkan 1.3, 19.5 *Image Copies With Scaling*).
fn clamped(texel: [u32; 4], source: &Plane<'_>, target: &Plane<'_>) -> [u32; 4] {
    if !target.format.numeric.is_integer() {
        return texel;
    }
    let signed = target.format.numeric == Numeric::Sint;
    let held = |k: usize, bits: u32| {
        let (low, high) =
            if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        integer(texel, source, k).clamp(low, high)
    };
    if target.format.is_64_bit() {
        let red = held(0, 64);
        return [red as u32, (red >> 32) as u32, 0, 0];
    }
    std::array::from_fn(|k| match u32::from(target.format.fields[k].width).min(32) {
        0 => texel[k],
        bits => held(k, bits) as u32,
    })
}

fn blit_plane(
    source: &Plane<'_>,
    target: &Plane<'_>,
    s: [[i32; 3]; 2],
    d: [[i32; 3]; 2],
    linear: bool,
) -> Outcome<()> {
    let scale = [0, 1, 2].map(|i| (s[1][i] - s[0][i]) as f32 / (d[1][i] - d[0][i]) as f32);
    let span = [0, 1, 2].map(|i| d[0][i].min(d[1][i])..d[0][i].max(d[1][i]));
    for z in span[2].clone() {
        for y in span[1].clone() {
            for x in span[0].clone() {
                let to = [x, y, z];
                let at = [0, 1, 2].map(|i| (to[i] as f32 + 0.5 - d[0][i] as f32) * scale[i] + s[0][i] as f32);
                target.store(to.map(i64::from), clamped(sample(source, at, linear), source, target))?;
            }
        }
    }
    Ok(())
}

const ASPECTS: [vk::ImageAspectFlags; 3] =
    [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL];

/// vkCmdResolveImage and vkCmdResolveImage2: the mean of the samples; sample 0 of integers, depth and
/// stencil.
///
/// # Errors
/// An image is not bound, or a region is not inside.
pub fn resolve(
    from: &Image,
    to: &Image,
    regions: &[vk::ImageResolve],
    mut touched: Touched<'_>,
) -> Outcome<()> {
    for region in regions {
        let (s, d, e) = (region.src_subresource, region.dst_subresource, region.extent);
        let aspects = ASPECTS.into_iter().filter(|aspect| s.aspect_mask.contains(*aspect));
        let count = layers(s, d, from, to)?;
        for (aspect, layer) in aspects.flat_map(|aspect| (0..count).map(move |layer| (aspect, layer))) {
            let source = Plane::new(from, s.mip_level, s.base_array_layer + layer, aspect)?;
            let target = Plane::new(to, d.mip_level, d.base_array_layer + layer, aspect)?;
            let size = |extent: u32| i32::try_from(extent).map_err(|_| outside());
            let (width, height) = (size(e.width)?, size(e.height)?);
            let end = |o: vk::Offset3D| vk::Offset3D {
                x: o.x.saturating_add(width),
                y: o.y.saturating_add(height),
                z: o.z.saturating_add(1),
            };
            let [a, b] = source.corners([region.src_offset, end(region.src_offset)])?;
            let [c, f] = target.corners([region.dst_offset, end(region.dst_offset)])?;
            source.touch(&mut touched, a, b, false);
            target.touch(&mut touched, c, f, true);
            for y in 0..height {
                for x in 0..width {
                    let at = |o: vk::Offset3D| [o.x + x, o.y + y, o.z].map(i64::from);
                    let at_source = at(region.src_offset);
                    let value = match aspect {
                        vk::ImageAspectFlags::COLOR => mean(&source, at_source),
                        _ => source.load(at_source, 0),
                    };
                    target.store(at(region.dst_offset), value)?;
                }
            }
        }
    }
    Ok(())
}

fn mean(plane: &Plane<'_>, at: [i64; 3]) -> [u32; 4] {
    if plane.format.numeric.is_integer() {
        return plane.load(at, 0);
    }
    let mut sum = [0f32; 4];
    for sample in 0..plane.samples {
        for (s, t) in sum.iter_mut().zip(plane.load(at, sample)) {
            *s += f32::from_bits(t);
        }
    }
    sum.map(|s| (s / plane.samples as f32).to_bits())
}
