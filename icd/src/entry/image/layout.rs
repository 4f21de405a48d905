//! Where the texels of an image are in its memory.

use crate::caps::BIND_ALIGNMENT;
use pellucid_shader_interp::math::format::FormatInfo;

/// One mip level's layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MipLevel {
    /// Texels.
    pub extent: [u32; 3],
    /// Texel blocks: what rows and slices are made of. Texels, unless the format is compressed.
    pub blocks: [u32; 3],
    /// First byte, from the layer's first.
    pub offset: u64,
    /// Bytes of a row of blocks.
    pub row: u64,
    /// Bytes of a depth slice.
    pub slice: u64,
}

impl MipLevel {
    /// Bytes of the level in one layer.
    pub fn size(&self) -> u64 {
        self.slice * u64::from(self.blocks[2])
    }
}

/// The layout of an image in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Levels, the largest first.
    pub levels: Vec<MipLevel>,
    /// Bytes of a texel block, all samples.
    pub texel: u64,
    /// Texels of a block along each axis: one, unless the format is compressed.
    pub block: [u32; 3],
    /// Bytes from one layer to the next.
    pub layer: u64,
    /// Bytes of the image.
    pub size: u64,
}

impl Layout {
    /// Lays out an image of blocks of this size, with at least so many bytes before each row: 0, or a
    /// multiple of 64. The format says how many bytes a block has.
    pub fn new(
        extent: [u32; 3],
        levels: u32,
        layers: u32,
        samples: u32,
        (format, block): (&FormatInfo, [u32; 3]),
        gap: u64,
    ) -> Layout {
        let texel = u64::from(format.texel_bytes) * u64::from(samples);
        // Texels stay multiples of their size apart.
        let between = if gap == 0 { 0 } else { gap.next_multiple_of(texel) };
        let mut offset = gap;
        let levels = (0..levels)
            .map(|n| {
                let extent = extent.map(|e| (e >> n).max(1));
                let blocks = std::array::from_fn(|k| extent[k].div_ceil(block[k]));
                let row = u64::from(blocks[0]) * texel + between;
                let slice = row * u64::from(blocks[1]);
                let level = MipLevel { extent, blocks, offset, row, slice };
                offset = (offset + level.size()).next_multiple_of(BIND_ALIGNMENT);
                level
            })
            .collect();
        Layout { levels, texel, block, layer: offset, size: offset * u64::from(layers) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::formats;
    use ash::vk;

    #[test]
    fn levels_follow_each_other_without_overlap() {
        let format = |number| formats::info(number).unwrap();
        let texel = format(vk::Format::R32_UINT);
        let layout = Layout::new([5, 3, 1], 3, 2, 1, (texel, texel.block()), 0);
        let level = |extent, blocks, offset, row, slice| MipLevel { extent, blocks, offset, row, slice };
        assert_eq!(layout.levels[0], level([5, 3, 1], [5, 3, 1], 0, 20, 60));
        assert_eq!(layout.levels[1], level([2, 1, 1], [2, 1, 1], 64, 8, 8));
        assert_eq!(layout.levels[2].offset, 128);
        assert_eq!((layout.layer, layout.size), (192, 384));
        // Rows of blocks; the blocks at the edge are whole.
        let block = format(vk::Format::BC7_UNORM_BLOCK);
        let layout = Layout::new([9, 5, 2], 2, 1, 1, (block, block.block()), 0);
        assert_eq!(layout.levels[0], level([9, 5, 2], [3, 2, 2], 0, 48, 96));
        assert_eq!(layout.levels[1], level([4, 2, 1], [1, 1, 1], 192, 16, 16));
    }
}
