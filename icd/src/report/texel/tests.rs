//! Offsets in views by hand, and the texels that lie there.

use super::*;
use pellucid_memory::device::MemoryRange;

const R32_UINT: i32 = 98;

/// Levels and layers one after the other, as the driver lays images out.
fn view(extent: [u32; 3], layers: u32, levels: u32, samples: u32) -> ImageView {
    let mut view = ImageView {
        memory: MemoryRange::NULL,
        extent,
        layers,
        format: R32_UINT,
        row_pitch: 0,
        slice_pitch: 0,
        layer_pitch: 0,
        levels,
        level_offsets: [0; 16],
        level_row_pitch: [0; 16],
        level_slice_pitch: [0; 16],
        samples,
        sample_pitch: 4,
        swizzle: [3, 4, 5, 6],
        chroma: Vec::new(),
    };
    let mut offset = 0;
    for k in 0..levels as usize {
        let size = extent.map(|size| (size >> k).max(1));
        view.level_offsets[k] = offset;
        view.level_row_pitch[k] = size[0] * 4 * samples;
        view.level_slice_pitch[k] = view.level_row_pitch[k] * size[1];
        offset = (offset + view.level_slice_pitch[k] * size[2]).next_multiple_of(64);
    }
    view.layer_pitch = offset;
    view
}

/// Every texel of an image is found where the layout puts it, and nothing is found between texels.
fn all(view: &ImageView, axes: usize, layers: Layers) {
    let image = DescriptorImage::of_view(view, axes, layers);
    let mut known = 0;
    for layer in 0..view.layers {
        for level in 0..view.levels as usize {
            let [width, height, depth] = view.extent.map(|size| (size >> level).max(1));
            for (z, y, x) in
                (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (z, y, x))))
            {
                for sample in 0..view.samples {
                    let offset = layer * view.layer_pitch
                        + view.level_offsets[level]
                        + z * view.level_slice_pitch[level]
                        + y * view.level_row_pitch[level]
                        + (x * view.samples + sample) * 4;
                    let expected = Texel {
                        coordinates: [x, y, z][..axes].iter().map(|c| *c as i32).collect(),
                        layer: (layers != Layers::None).then_some(layer as i32),
                        sample: (view.samples > 1).then_some(sample as i32),
                        level: level as i32,
                    };
                    assert_eq!(image.offset_of(&expected), Some(u64::from(offset)));
                    for byte in 0..4 {
                        assert_eq!(image.texel_at(u64::from(offset + byte)), Some(expected.clone()));
                    }
                    known += 4;
                }
            }
        }
    }
    let bytes = u64::from(view.layer_pitch * view.layers);
    assert_eq!((0..bytes + 256).filter(|at| image.texel_at(*at).is_some()).count(), known);
}

#[test]
fn offsets_are_texels() {
    all(&view([5, 1, 1], 1, 3, 1), 1, Layers::None);
    all(&view([5, 1, 1], 3, 1, 1), 1, Layers::Array);
    all(&view([5, 3, 1], 1, 3, 1), 2, Layers::None);
    all(&view([5, 3, 1], 4, 2, 1), 2, Layers::Array);
    all(&view([5, 3, 1], 2, 1, 4), 2, Layers::Array);
    all(&view([5, 3, 1], 1, 1, 8), 2, Layers::None);
    all(&view([4, 4, 1], 12, 3, 1), 2, Layers::Cubes);
    all(&view([5, 3, 7], 1, 3, 1), 3, Layers::None);
    let buffer =
        DescriptorImage::of_buffer(&Descriptor::TexelBuffer(MemoryRange::NULL, R32_UINT, 7)).unwrap();
    assert_eq!(buffer.texel_at(25).unwrap().coordinates, [6]);
    assert_eq!(buffer.texel_at(28), None);
    let texel = |k| Texel { coordinates: vec![k], layer: None, sample: None, level: 0 };
    assert_eq!((buffer.offset_of(&texel(6)), buffer.offset_of(&texel(7))), (Some(24), None));
    assert_eq!(buffer.offset_of(&texel(-1)), None);
}

#[test]
fn texels_have_names() {
    let texel = |coordinates: &[i32], layer, sample, level| Texel {
        coordinates: coordinates.to_vec(),
        layer,
        sample,
        level,
    };
    let told = |image: &DescriptorImage, texel: &Texel| (name(texel, image.layers), image.bounds(texel));
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let image = DescriptorImage::of_view(&view([64, 64, 1], 1, 1, 1), 2, Layers::None);
    assert_eq!(
        told(&image, &texel(&[12, -700], None, None, 0)),
        pair("texel (12, -700)", "the image has 64x64 texels (R32_UINT)")
    );
    let image = DescriptorImage::of_view(&view([64, 1, 1], 1, 3, 1), 1, Layers::None);
    assert_eq!(
        told(&image, &texel(&[20], None, None, 2)),
        pair("texel 20 at level 2", "the image has 64 texels, 16 texels at level 2 (R32_UINT)")
    );
    assert_eq!(
        told(&image, &texel(&[20], None, None, 3)),
        pair("texel 20 at level 3", "the image has 64 texels and 3 levels (R32_UINT)")
    );
    let image = DescriptorImage::of_view(&view([8, 8, 1], 5, 1, 4), 2, Layers::Array);
    assert_eq!(
        told(&image, &texel(&[1, 2], Some(5), Some(3), 0)),
        pair(
            "sample 3 of texel (1, 2) of layer 5",
            "the image has 8x8 texels, 5 layers and 4 samples (R32_UINT)"
        )
    );
    let image = DescriptorImage::of_view(&view([8, 8, 1], 6, 1, 1), 2, Layers::Faces);
    assert_eq!(
        told(&image, &texel(&[1, 2], Some(6), None, 0)),
        pair("texel (1, 2) of face 6", "the image has 8x8 texels and 6 faces (R32_UINT)")
    );
    let image = DescriptorImage::of_view(&view([8, 8, 1], 12, 1, 1), 2, Layers::Cubes);
    assert_eq!(
        told(&image, &texel(&[8, 2], Some(7), None, 0)),
        pair("texel (8, 2) of layer 7 (face 1 of cube 1)", "the image has 8x8 texels and 2 cubes (R32_UINT)")
    );
    let buffer =
        DescriptorImage::of_buffer(&Descriptor::TexelBuffer(MemoryRange::NULL, R32_UINT, 7)).unwrap();
    assert_eq!(
        told(&buffer, &texel(&[7], None, None, 0)),
        pair("texel 7", "the texel buffer has 7 texels (R32_UINT)")
    );
}
