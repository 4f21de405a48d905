//! Texels of images and texel buffers: which one lies at an offset, and what they are called.

use pellucid_memory::finding::Texel;
use pellucid_shader_interp::interface::{Descriptor, ImageView};
use pellucid_shader_interp::math::format::{self, FormatInfo};
use serde::{Deserialize, Serialize};

/// What array layers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layers {
    /// There are none.
    None,
    /// Layers of an array.
    Array,
    /// Faces of a cube.
    Faces,
    /// Faces of an array of cubes.
    Cubes,
}

/// The image or texel buffer of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescriptorImage {
    /// `R32_UINT`, or "" for a format without a name.
    pub format: &'static str,
    /// It is a texel buffer.
    #[serde(skip)]
    pub buffer: bool,
    /// Texels along each axis at level 0: one to three axes.
    pub extent: Vec<u32>,
    /// How the layers are named.
    pub layers: Layers,
    /// Layers or faces, 1 if there are none.
    pub layer_count: u32,
    /// Samples of a texel.
    pub samples: u32,
    #[serde(skip)]
    sample_pitch: u64,
    /// Texels of a block along each axis, if the format is compressed.
    #[serde(skip)]
    block: [u32; 3],
    /// Bytes from one array layer to the next.
    #[serde(skip)]
    layer_pitch: u64,
    #[serde(rename = "level_count", serialize_with = "count")]
    levels: Vec<Level>,
    /// Of an image that requires sampler Y'CbCr conversion: where the first byte of each plane of chroma
    /// lies, from that of luma, and the plane.
    #[serde(skip)]
    chroma: Vec<(u64, DescriptorImage)>,
}

fn count<S: serde::Serializer>(levels: &[Level], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(levels.len() as u64)
}

/// Where the texels of a mip level lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    offset: u64,
    row: u64,
    slice: u64,
}

impl DescriptorImage {
    /// The image that a descriptor shows, with this many axes.
    pub fn of_view(view: &ImageView, axes: usize, layers: Layers) -> DescriptorImage {
        let converted = format::ycbcr(view.format);
        let info = format::properties(converted.map_or(view.format, |of| of.luma()));
        let name = converted.map(|of| of.name).or(info.map(|info| info.name));
        let chroma = |plane: &ImageView| {
            let at = plane.memory.address().wrapping_sub(view.memory.address());
            (at, DescriptorImage::of_view(plane, axes, layers))
        };
        let count = (view.levels as usize).clamp(1, 16);
        let level = |k: usize| Level {
            offset: u64::from(view.level_offsets[k]),
            row: u64::from(view.level_row_pitch[k]),
            slice: u64::from(view.level_slice_pitch[k]),
        };
        DescriptorImage {
            format: name.map_or("", short),
            buffer: false,
            extent: view.extent[..axes.clamp(1, 3)].to_vec(),
            layers,
            layer_count: view.layers,
            samples: view.samples.max(1),
            sample_pitch: u64::from(view.sample_pitch),
            block: info.map_or([1; 3], FormatInfo::block),
            layer_pitch: u64::from(view.layer_pitch),
            levels: (0..count).map(level).collect(),
            chroma: view.chroma.iter().map(chroma).collect(),
        }
    }

    /// The texels of a texel buffer; `None` for other descriptors.
    pub fn of_buffer(descriptor: &Descriptor) -> Option<DescriptorImage> {
        let Descriptor::TexelBuffer(_, number, count) = *descriptor else { return None };
        let info = format::properties(number);
        Some(DescriptorImage {
            format: info.map_or("", |info| short(info.name)),
            buffer: true,
            extent: vec![count],
            layers: Layers::None,
            layer_count: 1,
            samples: 1,
            sample_pitch: info.map_or(0, |info| u64::from(info.texel_bytes)),
            block: [1; 3],
            layer_pitch: 0,
            levels: vec![Level { offset: 0, row: 0, slice: 0 }],
            chroma: Vec::new(),
        })
    }

    fn extent_at(&self, level: usize) -> Vec<u32> {
        let shift = level.min(31);
        self.extent.iter().map(|size| if self.buffer { *size } else { (size >> shift).max(1) }).collect()
    }

    /// The texel that holds the byte at `offset` of the descriptor's memory; the first of a compressed block,
    /// and of those that share a chroma value.
    pub fn texel_at(&self, offset: u64) -> Option<Texel> {
        let of_plane = |(at, plane): &(u64, DescriptorImage)| {
            let mut texel = plane.own_texel_at(offset.wrapping_sub(*at))?;
            for (axis, coordinate) in texel.coordinates.iter_mut().enumerate() {
                *coordinate *= (self.extent[axis] / plane.extent[axis].max(1)).cast_signed();
            }
            Some(texel)
        };
        self.own_texel_at(offset).or_else(|| self.chroma.iter().find_map(of_plane))
    }

    /// The same of its first plane.
    fn own_texel_at(&self, offset: u64) -> Option<Texel> {
        let step = self.sample_pitch * u64::from(self.samples);
        let (layer, within) = match self.layer_pitch {
            0 => (0, offset),
            pitch => (offset / pitch, offset % pitch),
        };
        let level = self.levels.iter().rposition(|level| level.offset <= within)?;
        let at = self.levels[level];
        let mut rest = within - at.offset;
        let extent = self.extent_at(level);
        let mut coordinates = vec![0u64; extent.len()];
        for (axis, pitch) in [(2, at.slice), (1, at.row), (0, step)] {
            if let Some(coordinate) = coordinates.get_mut(axis) {
                *coordinate = rest.checked_div(pitch)? * u64::from(self.block[axis]);
                rest %= pitch;
            }
        }
        let inside = coordinates.iter().zip(&extent).all(|(c, size)| c < &u64::from(*size));
        let sample = rest.checked_div(self.sample_pitch)?;
        let signed = |number: u64| i32::try_from(number).ok();
        (inside && layer < u64::from(self.layer_count) && sample < u64::from(self.samples)).then_some(())?;
        Some(Texel {
            coordinates: coordinates.into_iter().map(signed).collect::<Option<_>>()?,
            layer: if self.layers == Layers::None { None } else { signed(layer) },
            sample: if self.samples > 1 { signed(sample) } else { None },
            level: signed(level as u64)?,
        })
    }

    /// The offset of the first byte of a texel, or of its compressed block, in the descriptor's memory, if
    /// there is such a texel.
    pub fn offset_of(&self, texel: &Texel) -> Option<u64> {
        let number = |number: i32| u64::try_from(number).ok();
        let level = usize::try_from(texel.level).ok()?;
        let at = self.levels.get(level)?;
        let extent = self.extent_at(level);
        let coordinates: Vec<u64> = texel.coordinates.iter().map(|c| number(*c)).collect::<Option<_>>()?;
        let inside = coordinates.iter().zip(&extent).all(|(c, size)| c < &u64::from(*size));
        let (layer, sample) = (number(texel.layer.unwrap_or(0))?, number(texel.sample.unwrap_or(0))?);
        let exists = inside
            && coordinates.len() == extent.len()
            && layer < u64::from(self.layer_count)
            && sample < u64::from(self.samples);
        let pitches = [self.sample_pitch * u64::from(self.samples), at.row, at.slice];
        let blocks = coordinates.iter().zip(self.block).map(|(c, block)| c / u64::from(block));
        let within: u64 = blocks.zip(pitches).map(|(c, pitch)| c * pitch).sum();
        exists.then(|| layer * self.layer_pitch + at.offset + within + sample * self.sample_pitch)
    }

    /// Mip levels.
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// What an image has, as far as a texel that is not in it asks for it: `the image has 64x64 texels and 4
    /// layers (R32_UINT)`.
    pub fn bounds(&self, texel: &Texel) -> String {
        let what = if self.buffer { "texel buffer" } else { "image" };
        let format = if self.format.is_empty() { String::new() } else { format!(" ({})", self.format) };
        let plural = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        let sizes = |extent: Vec<u32>| -> String {
            let sizes: Vec<String> = extent.iter().map(u32::to_string).collect();
            let one = extent.iter().all(|size| *size == 1);
            format!("{} {}", sizes.join("x"), if one { "texel" } else { "texels" })
        };
        let level = usize::try_from(texel.level).ok().filter(|level| *level < self.levels.len());
        let mut parts = match level {
            Some(0) => vec![sizes(self.extent.clone())],
            Some(level) => {
                vec![format!(
                    "{}, {} at level {level}",
                    sizes(self.extent.clone()),
                    sizes(self.extent_at(level))
                )]
            }
            None => vec![sizes(self.extent.clone()), plural(self.levels.len(), "level")],
        };
        match self.layers {
            Layers::None => {}
            Layers::Array => parts.push(plural(self.layer_count as usize, "layer")),
            Layers::Faces => parts.push(plural(self.layer_count as usize, "face")),
            Layers::Cubes => parts.push(plural(self.layer_count as usize / 6, "cube")),
        }
        if self.samples > 1 {
            parts.push(plural(self.samples as usize, "sample"));
        }
        let last = parts.pop().unwrap_or_default();
        let all = if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) };
        format!("the {what} has {all}{format}")
    }
}

/// A texel in words. Layers are those of an array where it is not known what they are.
pub fn name(texel: &Texel, layers: Layers) -> String {
    let mut text = match texel.coordinates.as_slice() {
        [only] => format!("texel {only}"),
        all => {
            let all: Vec<String> = all.iter().map(i32::to_string).collect();
            format!("texel ({})", all.join(", "))
        }
    };
    if let Some(sample) = texel.sample {
        text = format!("sample {sample} of {text}");
    }
    match (texel.layer, layers) {
        (None, _) => {}
        (Some(layer), Layers::Faces) => text.push_str(&format!(" of face {layer}")),
        (Some(layer), Layers::Cubes) if layer >= 0 => {
            text.push_str(&format!(" of layer {layer} (face {} of cube {})", layer % 6, layer / 6));
        }
        (Some(layer), _) => text.push_str(&format!(" of layer {layer}")),
    }
    if texel.level != 0 {
        text.push_str(&format!(" at level {}", texel.level));
    }
    text
}

fn short(name: &'static str) -> &'static str {
    name.strip_prefix("VK_FORMAT_").unwrap_or(name)
}

#[cfg(test)]
mod tests;
