//! Where texels lie: integer coordinates to byte offsets. Of compressed formats what lies there is the block
//! with the texel.

use crate::interface::ImageView;
use crate::ir::ImageDim;
use crate::math::format::{FormatInfo, block};
use pellucid_memory::device::MemoryRange;
use pellucid_memory::system::{self, LANES, Lanes, Mask, MemoryView};

/// The texels that a descriptor reaches.
#[derive(Clone, Debug)]
pub(super) struct Texels<'a> {
    /// Their format.
    pub info: &'static FormatInfo,
    /// All their bytes.
    pub memory: MemoryView<'a>,
    /// Layers; 1 if the image is not arrayed, six for each cube.
    pub layers: u32,
    /// Where components come from: 1 zero, 2 one, 3 to 6 red to alpha.
    pub swizzle: [u8; 4],
    /// How coordinates are to be understood.
    pub shape: Shape,
    /// The view, unless it is a texel buffer.
    view: Option<&'a ImageView>,
    /// Texels at level 0.
    extent: [u32; 3],
}

/// Which coordinates there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// 1 to 3.
    axes: usize,
    /// A layer follows (cube: the face or six times the cube and the face).
    layer: bool,
    /// A sample follows.
    sample: bool,
    /// Of a texel buffer.
    buffer: bool,
}

impl Shape {
    /// The coordinates of an instruction with this dimensionality.
    pub fn of(dim: ImageDim, arrayed: bool, multisampled: bool) -> Shape {
        let axes = match dim {
            ImageDim::D1 | ImageDim::Buffer => 1,
            ImageDim::D2 | ImageDim::Cube => 2,
            ImageDim::D3 => 3,
        };
        Shape {
            axes,
            layer: arrayed || dim == ImageDim::Cube,
            sample: multisampled,
            buffer: dim == ImageDim::Buffer,
        }
    }

    /// How many coordinates there are without the layer.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// How many coordinates there are, the layer included.
    pub fn coordinates(&self) -> usize {
        self.axes + usize::from(self.layer)
    }

    /// The texels that the arguments of an instruction name; `fetch`: one that may name a level.
    pub fn named<'b>(&self, arguments: &'b [&'b Lanes], fetch: bool) -> system::Texels<'b> {
        let Shape { axes, layer, sample, buffer } = *self;
        let last = arguments.get(self.coordinates()).copied();
        system::Texels {
            coordinates: arguments.get(..axes).unwrap_or(arguments),
            layer: if layer { arguments.get(axes).copied() } else { None },
            sample: last.filter(|_| sample),
            level: last.filter(|_| fetch && !sample),
            buffer,
        }
    }
}

/// How the texels of one level lie.
pub(super) struct LevelLayout {
    /// Texels along each axis.
    pub extent: [u32; 3],
    /// Byte offset of the first texel.
    pub start: u32,
    /// Bytes from texel to texel, or from block to block, along each axis.
    pub pitch: [u32; 3],
    /// Bytes from layer to layer.
    pub layer_pitch: u32,
}

/// How the texels of one level lie by the coordinates of an instruction, of which the last may be the layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// Byte offset of the first texel.
    pub start: u32,
    /// Texels along each coordinate; one along those that there are not.
    pub extent: [u32; 3],
    /// Bytes from texel to texel along each coordinate.
    pub pitch: [u32; 3],
}

/// Byte offsets, and the lanes whose texels exist.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    pub offset: Lanes,
    pub inside: Mask,
    /// Of compressed formats: which texel of the block ([`block::within`]).
    pub within: Lanes,
}

/// Where one texel is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    /// Byte offset of its first sample, or of its block.
    pub offset: u32,
    /// Which texel of the block.
    pub within: u32,
}

impl<'a> Texels<'a> {
    /// A texel buffer of `count` texels.
    pub fn of_buffer(info: &'static FormatInfo, memory: &'a MemoryRange, count: u32) -> Texels<'a> {
        let whole = memory.size() / info.texel_bytes as u64;
        Texels {
            info,
            memory: memory.view(),
            layers: 1,
            swizzle: [3, 4, 5, 6],
            shape: Shape::of(ImageDim::Buffer, false, false),
            view: None,
            extent: [count.min(whole.min(u32::MAX as u64) as u32), 1, 1],
        }
    }

    /// An image through a view, as an instruction with this dimensionality sees it.
    pub fn of_image(
        info: &'static FormatInfo,
        view: &'a ImageView,
        dim: ImageDim,
        arrayed: bool,
        multisampled: bool,
    ) -> Texels<'a> {
        let shape = Shape::of(dim, arrayed, multisampled);
        Texels {
            info,
            memory: view.memory.view(),
            layers: if shape.layer { view.layers } else { 1 },
            swizzle: view.swizzle,
            shape,
            view: Some(view),
            extent: view.extent,
        }
    }

    /// The view, unless it is a texel buffer.
    pub fn view(&self) -> Option<&'a ImageView> {
        self.view
    }

    /// Mip levels.
    pub fn levels(&self) -> u32 {
        self.view.map_or(1, |view| view.levels.clamp(1, 16))
    }

    /// Samples of a texel.
    pub fn samples(&self) -> u32 {
        self.view.map_or(1, |view| view.samples.max(1))
    }

    /// Bytes from sample to sample.
    fn sample_pitch(&self) -> u32 {
        self.view.map_or(self.info.texel_bytes.into(), |view| view.sample_pitch)
    }

    /// Texels of a level along each axis.
    pub fn extent(&self, level: u32) -> [u32; 3] {
        self.extent.map(|size| (size >> level.min(31)).max(1.min(size)))
    }

    /// Coordinates, layer and sample: what precedes the other arguments of a storage image instruction.
    pub fn storage_coordinates(&self) -> usize {
        self.shape.coordinates() + usize::from(self.shape.sample)
    }

    /// Addresses of OpImageRead, OpImageWrite and OpImageTexelPointer: coordinates, layer, sample.
    pub fn storage(&self, arguments: &[&Lanes]) -> Addresses {
        let sample = self.shape.sample.then(|| arguments.get(self.shape.coordinates()));
        self.at_level(0, arguments, sample.flatten().copied())
    }

    /// Addresses of OpImageFetch: coordinates, layer, then sample or level, if there is one.
    pub fn fetch(&self, arguments: &[&Lanes]) -> Addresses {
        let last = arguments.get(self.shape.coordinates()).copied();
        if self.shape.sample {
            return self.at_level(0, arguments, last);
        }
        match last {
            Some(lod) if lod.0.iter().any(|&level| level != lod.0[0]) => self.levelled(arguments, lod),
            Some(lod) if lod.0[0] >= self.levels() => {
                Addresses { offset: Lanes::ZERO, inside: 0, within: Lanes::ZERO }
            }
            _ => self.at_level(last.map_or(0, |lod| lod.0[0]), arguments, None),
        }
    }

    /// Addresses at one level, which there is.
    fn at_level(&self, level: u32, arguments: &[&Lanes], sample: Option<&Lanes>) -> Addresses {
        if self.info.compression.is_some() {
            return self.levelled(arguments, &Lanes([level; LANES]));
        }
        let steps = self.steps(level);
        let mut offset = Lanes([steps.start; LANES]);
        let mut inside = Lanes([u32::MAX; LANES]);
        for (k, coordinate) in arguments.iter().enumerate().take(self.shape.coordinates()) {
            along(coordinate, steps.extent[k], steps.pitch[k], &mut offset, &mut inside);
        }
        if let Some(sample) = sample {
            along(sample, self.samples(), self.sample_pitch(), &mut offset, &mut inside);
        }
        Addresses { offset, inside: to_mask(&inside), within: Lanes::ZERO }
    }

    /// How the texels of a level lie.
    pub fn steps(&self, level: u32) -> Steps {
        let layout = self.level(level);
        let (mut extent, mut pitch) = ([1; 3], [0; 3]);
        let axes = self.shape.axes;
        extent[..axes].copy_from_slice(&layout.extent[..axes]);
        pitch[..axes].copy_from_slice(&layout.pitch[..axes]);
        if self.shape.layer && axes < 3 {
            (extent[axes], pitch[axes]) = (self.layers, layout.layer_pitch);
        }
        Steps { start: layout.start, extent, pitch }
    }

    /// Addresses where each lane has a level of its own.
    fn levelled(&self, arguments: &[&Lanes], lod: &Lanes) -> Addresses {
        let mut offset = Lanes::ZERO;
        let mut inside = Lanes::ZERO;
        let mut within = Lanes::ZERO;
        for lane in 0..LANES {
            let mut texel = [0; 3];
            for k in 0..self.shape.axes {
                texel[k] = arguments[k].0[lane];
            }
            let layer = if self.shape.layer { arguments[self.shape.axes].0[lane] } else { 0 };
            if let Some(at) = self.locate(lod.0[lane], texel, layer) {
                (offset.0[lane], within.0[lane]) = (at.offset, at.within);
                inside.0[lane] = u32::MAX;
            }
        }
        Addresses { offset, inside: to_mask(&inside), within }
    }

    /// How the texels of one level lie; of the last level, if there is no such level.
    pub fn level(&self, level: u32) -> LevelLayout {
        let level = level.min(self.levels() - 1);
        let extent = self.extent(level);
        let step = self.sample_pitch() * self.samples();
        let Some(view) = self.view else {
            return LevelLayout { extent, start: 0, pitch: [step, 0, 0], layer_pitch: 0 };
        };
        let k = level as usize;
        LevelLayout {
            extent,
            start: view.level_offsets[k],
            pitch: [step, view.level_row_pitch[k], view.level_slice_pitch[k]],
            layer_pitch: view.layer_pitch,
        }
    }

    /// Where a texel is, if it exists.
    pub fn locate(&self, level: u32, mut texel: [u32; 3], layer: u32) -> Option<Location> {
        let extent = self.extent(level);
        let exists = (0..3).all(|k| texel[k] < extent[k]) && layer < self.layers && level < self.levels();
        if !exists {
            return None;
        }
        let mut within = 0;
        if self.info.compression.is_some() {
            within = block::within([texel[0], texel[1]]);
            let block = self.info.block();
            texel = std::array::from_fn(|k| texel[k] / block[k]);
        }
        let x = texel[0].wrapping_mul(self.sample_pitch() * self.samples());
        let offset = self.view.map_or(x, |view| {
            let k = level as usize;
            view.level_offsets[k]
                .wrapping_add(x)
                .wrapping_add(texel[1].wrapping_mul(view.level_row_pitch[k]))
                .wrapping_add(texel[2].wrapping_mul(view.level_slice_pitch[k]))
                .wrapping_add(layer.wrapping_mul(view.layer_pitch))
        });
        Some(Location { offset, within })
    }
}

/// Adds what a coordinate adds to byte offsets; clears the words of `inside` where there is no such texel.
#[inline(always)]
pub(super) fn along(coordinate: &Lanes, extent: u32, pitch: u32, offset: &mut Lanes, inside: &mut Lanes) {
    for lane in 0..LANES {
        let c = coordinate.0[lane];
        inside.0[lane] &= if c < extent { u32::MAX } else { 0 };
        offset.0[lane] = offset.0[lane].wrapping_add(c.wrapping_mul(pitch));
    }
}

/// The lanes whose words are all ones; the others are zero.
#[inline(always)]
pub(super) fn to_mask(lanes: &Lanes) -> Mask {
    (0..LANES).fold(0, |mask, lane| mask | (lanes.0[lane] & (1 << lane)))
}
