//! The table against what the formats' names say.

use super::*;
use crate::math::format::properties;

/// What a format's name says of its planes is what the table says.
#[test]
fn names_tell_the_planes() {
    for of in FORMATS {
        let name = of.name;
        assert_eq!(ycbcr(of.format), Some(of));
        let planes = match () {
            () if name.contains("_3PLANE") => 3,
            () if name.contains("_2PLANE") => 2,
            () => 1,
        };
        assert_eq!(of.planes.len(), planes, "{name}");
        let subsampling = match () {
            () if name.contains("_420") => [2, 2],
            () if name.contains("_422") => [2, 1],
            () => [1, 1],
        };
        assert_eq!(of.subsampling, subsampling, "{name}");
        let width: u8 = [16, 12, 10, 8]
            .into_iter()
            .find(|width| name.contains(&format!("G{width}")))
            .expect("a width in the name");
        for plane in of.planes {
            let info = properties(*plane).expect("a known format");
            assert!(info.fields.iter().all(|field| [0, width].contains(&field.width)), "{name}");
            // The other bits are the low ones.
            let low = if width == 8 { 8 } else { 16 };
            for (k, field) in info.fields.iter().enumerate().filter(|(_, field)| field.width > 0) {
                assert_eq!(u32::from(field.offset), k as u32 * low + low - u32::from(width), "{name}");
            }
        }
        if let Some(packed) = of.packed {
            let block = properties(of.planes[0]).expect("a known format");
            assert_eq!(u32::from(block.texel_bytes), 4 * packed.bytes, "{name}");
            let letters: Vec<char> = name.chars().filter(|c| "GBR".contains(*c)).collect();
            let at = |wanted: char| letters[1..].iter().position(|c| *c == wanted).map(|at| at as u32);
            // The first letter of all is in "FORMAT".
            assert_eq!(packed.places.map(Some), ['G', 'B', 'R'].map(at), "{name}");
        }
    }
    assert!(FORMATS.is_sorted_by_key(|of| of.format));
}
