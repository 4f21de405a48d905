//! Levels of partly resident images: their blocks and their tails.

use super::*;

#[test]
fn levels_are_made_of_pages_until_they_are_smaller_than_a_block() {
    let format = formats::info(vk::Format::R8G8B8A8_UNORM).unwrap();
    let block = formats::sparse_block(format, vk::ImageType::TYPE_2D).unwrap();
    assert_eq!(block, [1024, 16, 1]);
    let (layout, blocks) = partly_resident([3000, 40, 1], 3, 2, format, block);
    assert_eq!((layout.levels[0].row, layout.levels[0].slice), (12288, 12288 * 48));
    assert_eq!((layout.levels[1].offset, layout.levels[1].row), (9 * SPARSE_BLOCK, 8192));
    // 1,500 times 20 texels are a level, 750 times 10 are the tail.
    assert_eq!((blocks.tail, blocks.tail_offset, blocks.tail_size), (2, 13 * SPARSE_BLOCK, SPARSE_BLOCK));
    assert_eq!((layout.layer, layout.size), (14 * SPARSE_BLOCK, 28 * SPARSE_BLOCK));
    assert_eq!(layout.levels[2].row, 3000);
}

#[test]
fn all_of_an_image_can_be_bound() {
    let format = formats::info(vk::Format::R32_UINT).unwrap();
    for (ty, extent) in [
        (vk::ImageType::TYPE_2D, [3000, 40, 1]),
        (vk::ImageType::TYPE_2D, [1024, 17, 1]),
        (vk::ImageType::TYPE_3D, [1500, 6, 5]),
    ] {
        let block = formats::sparse_block(format, ty).unwrap();
        let (layout, blocks) = partly_resident(extent, 3, 1, format, block);
        let mut bound = vec![(blocks.tail_offset..blocks.tail_offset + blocks.tail_size, 0)];
        for level in 0..blocks.tail {
            let [width, height, depth] = layout.levels[level as usize].extent;
            let bind = vk::SparseImageMemoryBind {
                subresource: vk::ImageSubresource { mip_level: level, ..Default::default() },
                extent: vk::Extent3D { width, height, depth },
                ..Default::default()
            };
            bound.extend(blocks.rows(&layout, &bind).unwrap().0);
        }
        bound.sort_by_key(|(range, _)| range.start);
        let bytes = bound.iter().try_fold(0, |at, (range, _)| (range.start == at).then_some(range.end));
        assert_eq!(bytes, Some(layout.size), "{extent:?}");
    }
}

#[test]
fn blocks_at_the_edge_are_whole() {
    let format = formats::info(vk::Format::R32_UINT).unwrap();
    let block = formats::sparse_block(format, vk::ImageType::TYPE_2D).unwrap();
    let (layout, blocks) = partly_resident([2048, 20, 1], 1, 1, format, block);
    let mut bind = vk::SparseImageMemoryBind {
        offset: vk::Offset3D { x: 1024, y: 0, z: 0 },
        extent: vk::Extent3D { width: 1024, height: 20, depth: 1 },
        memory_offset: SPARSE_BLOCK,
        ..Default::default()
    };
    let (rows, whole) = blocks.rows(&layout, &bind).unwrap();
    assert_eq!((rows.len(), whole), (32, true));
    assert_eq!(rows[0], (4096..8192, SPARSE_BLOCK));
    assert_eq!(rows[15], (15 * 8192 + 4096..16 * 8192, SPARSE_BLOCK + 15 * SPARSE_ROW));
    assert_eq!(rows[16], (16 * 8192 + 4096..17 * 8192, 2 * SPARSE_BLOCK));
    assert_eq!(rows[31], (31 * 8192 + 4096..32 * 8192, 2 * SPARSE_BLOCK + 15 * SPARSE_ROW));
    assert_eq!(layout.size, 4 * SPARSE_BLOCK);
    bind.extent.height = 17;
    assert!(!blocks.rows(&layout, &bind).unwrap().1, "no block and not the edge");
    (bind.extent.height, bind.offset.x) = (20, 512);
    assert!(blocks.rows(&layout, &bind).is_err());
    (bind.offset.x, bind.subresource.mip_level) = (0, 1);
    assert!(blocks.rows(&layout, &bind).is_err());
}
