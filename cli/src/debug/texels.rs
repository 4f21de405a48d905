//! Images and texel buffers as variables: texels by their coordinates, in the components of their format.
//!
//! What is shown is what memory holds: a view's swizzle is left out, and a sampler Y'CbCr conversion. Of an
//! image that has chroma by itself a texel is its luma (y), with the red (x) and blue (z) that it shares.

use super::types::ImageType;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::finding::Texel;
use pellucid_memory::raw;
use pellucid_shader_interp::interface::{Descriptor, ImageView};
use pellucid_shader_interp::math::format::{self, FormatInfo, Numeric, block};
use vulkan_pellucid::report::element::Element;
use vulkan_pellucid::report::texel::{DescriptorImage, Layers};

/// The texels of a descriptor.
#[derive(Clone, Debug)]
pub struct Texels {
    image: DescriptorImage,
    /// All their bytes.
    pub memory: MemoryRange,
    /// Their format; that of luma, if there is chroma by itself.
    pub info: &'static FormatInfo,
    /// Blue and red, in one plane or in two.
    chroma: Vec<Texels>,
}

/// Where a texel lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its first byte, or that of its block.
    pub offset: u64,
    /// Of compressed formats: which texel of the block.
    within: u32,
    /// Offsets in the planes of chroma.
    chroma: [u64; 2],
}

/// Names of components.
const NAMES: [&str; 4] = ["x", "y", "z", "w"];

impl Texels {
    /// What a variable of this type shows of a descriptor; `None` if that has no texels.
    pub fn of(descriptor: &Descriptor, ty: ImageType) -> Option<Texels> {
        let (image, memory, number) = match descriptor {
            Descriptor::TexelBuffer(memory, number, _) if ty.buffer => {
                (DescriptorImage::of_buffer(descriptor)?, memory, *number)
            }
            Descriptor::Image(view) | Descriptor::ImageSampler(view, _) if !ty.buffer => {
                return Texels::of_view(view, ty);
            }
            _ => return None,
        };
        let info = format::properties(number)?;
        Some(Texels { image, memory: memory.clone(), info, chroma: Vec::new() })
    }

    fn of_view(view: &ImageView, ty: ImageType) -> Option<Texels> {
        let luma = format::ycbcr(view.format).map_or(view.format, |of| of.luma());
        Some(Texels {
            image: DescriptorImage::of_view(view, ty.axes, ty.layers),
            memory: view.memory.clone(),
            info: format::properties(luma)?,
            chroma: view.chroma.iter().map(|plane| Texels::of_view(plane, ty)).collect::<Option<_>>()?,
        })
    }

    /// Numbers that name a texel: coordinates, layer, sample; and the level, which may be left out.
    fn numbers(&self) -> (usize, bool, bool, bool) {
        let (layer, sample) = (self.image.layers != Layers::None, self.image.samples > 1);
        (self.image.extent.len(), layer, sample, self.image.level_count() > 1)
    }

    /// Where a texel lies.
    ///
    /// # Errors
    /// There is none of these numbers.
    pub fn at(&self, numbers: &[u64]) -> Result<Place, String> {
        let (axes, layer, sample, levels) = self.numbers();
        let number = |number: &u64| i32::try_from(*number).unwrap_or(i32::MAX);
        let all: Vec<i32> = numbers.iter().map(number).collect();
        let needed = axes + usize::from(layer) + usize::from(sample);
        if all.len() < needed || all.len() > needed + usize::from(levels) {
            return Err(format!("a texel is named by {}: {} were given", self.wanted(), all.len()));
        }
        let texel = Texel {
            coordinates: all[..axes].to_vec(),
            layer: layer.then(|| all[axes]),
            sample: sample.then(|| all[axes + usize::from(layer)]),
            level: all.get(needed).copied().unwrap_or(0),
        };
        let number = |axis: usize| all.get(axis).filter(|_| axis < axes).map_or(0, |n| n.cast_unsigned());
        let within = block::within([number(0), number(1)]);
        let mut chroma = [0; 2];
        for (to, plane) in chroma.iter_mut().zip(&self.chroma) {
            let mut shared = texel.clone();
            for (k, coordinate) in shared.coordinates.iter_mut().enumerate() {
                *coordinate /= (self.image.extent[k] / plane.image.extent[k].max(1)).max(1).cast_signed();
            }
            *to = plane.image.offset_of(&shared).unwrap_or(0);
        }
        self.image.offset_of(&texel).map(|offset| Place { offset, within, chroma }).ok_or_else(|| {
            let name = vulkan_pellucid::report::texel::name(&texel, self.image.layers);
            format!("there is no {name}: {}", self.image.bounds(&texel))
        })
    }

    /// "x, y, layer".
    fn wanted(&self) -> String {
        let (axes, layer, sample, levels) = self.numbers();
        let mut names: Vec<&str> = NAMES[..axes].to_vec();
        names.extend(layer.then_some("layer"));
        names.extend(sample.then_some("sample"));
        let level = if levels { ", and the level if it is not 0" } else { "" };
        format!("{}{level}", names.join(", "))
    }

    /// Texels of level 0, samples one by one.
    pub fn count(&self) -> usize {
        let all = self.image.extent.iter().chain([&self.image.layer_count, &self.image.samples]);
        all.map(|n| *n as usize).product()
    }

    /// The numbers of the `k`-th of them: the first coordinate runs fastest.
    pub fn name(&self, k: usize) -> Vec<u64> {
        let (_, layer, sample, _) = self.numbers();
        let mut sizes: Vec<usize> = self.image.extent.iter().map(|n| *n as usize).collect();
        sizes.extend(layer.then_some(self.image.layer_count as usize));
        sizes.extend(sample.then_some(self.image.samples as usize));
        let mut rest = k;
        let mut numbers = Vec::new();
        for size in sizes {
            numbers.push((rest % size.max(1)) as u64);
            rest /= size.max(1);
        }
        numbers
    }

    /// The type of a texel of one component that is kept as it is.
    pub fn element(&self) -> Option<Element> {
        Element::of_format(self.image.format)
    }

    /// What the image is, in words.
    pub fn describe(&self) -> String {
        let texel = Texel { coordinates: vec![0], layer: None, sample: None, level: 0 };
        self.image.bounds(&texel)
    }

    /// Components that a texel has.
    pub fn components(&self) -> usize {
        if self.chroma.is_empty() { usize::from(self.info.components) } else { 3 }
    }

    /// The bytes of a component within its texel: the first, and how many.
    ///
    /// # Errors
    /// They hold others as well.
    pub fn bytes_of(&self, component: usize) -> Result<(u64, u64), String> {
        let field = self.info.fields[component];
        let whole = self.chroma.is_empty() && field.offset.is_multiple_of(8) && field.width.is_multiple_of(8);
        if !whole || self.info.compression.is_some() || self.info.numeric == Numeric::SharedExponent {
            let name = self.image.format;
            return Err(format!(
                "not implemented in Pellucid: who wrote one component of {name}, which has no bytes of its own"
            ));
        }
        Ok((u64::from(field.offset / 8), u64::from(field.width / 8)))
    }

    /// A texel, or a component of it, as memory holds it.
    pub fn show(&self, at: Place, component: Option<usize>) -> Option<String> {
        let words = self.words(at.offset)?;
        let chroma = match self.chroma.as_slice() {
            [] => return Some(text(self.info, words, at.within, component)),
            planes => planes.iter().zip(at.chroma).map(|(plane, at)| {
                let words = plane.words(at)?;
                Some(plane.info.decode_words(words))
            }),
        };
        let chroma: Vec<[u32; 4]> = chroma.collect::<Option<_>>()?;
        let [blue, red] = match chroma.as_slice() {
            [both] => [both[0], both[1]],
            [blue, red, ..] => [blue[0], red[0]],
            [] => return None,
        };
        let all =
            [red, self.info.decode_words(words)[0], blue].map(|bits| Element::F32.show(u64::from(bits)));
        Some(match component {
            Some(k) => all.get(k)?.clone(),
            None => format!("({})", all.join(", ")),
        })
    }

    /// The words of the texel or block at an offset.
    fn words(&self, offset: u64) -> Option<[u32; 4]> {
        let mut bytes = vec![0; usize::from(self.info.texel_bytes)];
        raw::read(&self.memory.view(), offset, &mut bytes).then_some(())?;
        let mut words = [0u32; 4];
        for (k, byte) in bytes.iter().enumerate() {
            words[k / 4] |= u32::from(*byte) << (8 * (k % 4));
        }
        Some(words)
    }
}

/// `x` for the first one.
pub fn component_name(component: usize) -> &'static str {
    NAMES.get(component).copied().unwrap_or("")
}

/// What the components of a texel are when they are read.
pub fn element_of(info: &FormatInfo) -> Element {
    match (info.is_64_bit(), info.numeric) {
        (true, Numeric::Sint) => Element::I64,
        (true, _) => Element::U64,
        (false, Numeric::Uint) => Element::U32,
        (false, Numeric::Sint) => Element::I32,
        (false, _) => Element::F32,
    }
}

/// The components of a texel of these words, which is not compressed, as bits of [`element_of`].
pub fn components(info: &FormatInfo, words: [u32; 4]) -> Vec<u64> {
    if info.is_64_bit() {
        return vec![u64::from(words[0]) | u64::from(words[1]) << 32];
    }
    let values = info.decode_texel(words, 0).map(u64::from);
    match info.components {
        1 => vec![values[(0..4).find(|k| info.fields[*k].width > 0).unwrap_or(0)]],
        count => values[..usize::from(count)].to_vec(),
    }
}

/// The words of a texel whose first byte is at `start`, from aligned words of memory by their addresses.
pub fn words_from(start: u64, held: impl Iterator<Item = (u64, u32)>) -> [u32; 4] {
    let mut words = [0u32; 4];
    for (address, word) in held {
        for (byte, at) in word.to_le_bytes().into_iter().zip(address..) {
            if let Some(k) = at.checked_sub(start).filter(|k| *k < 16) {
                words[k as usize / 4] |= u32::from(byte) << (8 * (k % 4));
            }
        }
    }
    words
}

/// A texel of these words, or one component of it; of a compressed format the one that is `within` the block.
pub fn text(info: &FormatInfo, words: [u32; 4], within: u32, component: Option<usize>) -> String {
    let element = element_of(info);
    if info.is_64_bit() {
        return element.show(u64::from(words[0]) | u64::from(words[1]) << 32);
    }
    let values = info.decode_texel(words, within);
    let shown = |k: usize| element.show(u64::from(values[k]));
    match (component, info.components) {
        (Some(k), _) => shown(k),
        (None, 1) => shown((0..4).find(|k| info.fields[*k].width > 0).unwrap_or(0)),
        (None, count) => {
            let all: Vec<String> = (0..usize::from(count)).map(shown).collect();
            format!("({})", all.join(", "))
        }
    }
}
