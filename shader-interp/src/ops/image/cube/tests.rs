//! Neighbours across the edges of a cube.

use super::*;

#[test]
fn texels_across_an_edge_are_neighbours_in_space() {
    for size in [1, 2, 3, 8, 64, 4096] {
        // The middle of a texel on the surface of the cube.
        let middle = |face: u32, x: i32, y: i32| {
            let along = |c: i32| (2 * c + 1) as f32 / size as f32 - 1.0;
            direction(face, along(x), along(y))
        };
        for face in 0..6 {
            for k in (0..size).step_by(1 + size as usize / 50) {
                for (beyond, inside) in [
                    ([-1, k], [0, k]),
                    ([size, k], [size - 1, k]),
                    ([k, -1], [k, 0]),
                    ([k, size], [k, size - 1]),
                ] {
                    let (other, x, y) = across_edge(face, beyond[0], beyond[1], size);
                    assert_ne!(other, face);
                    let (a, b) = (middle(face, inside[0], inside[1]), middle(other, x as i32, y as i32));
                    let distance = (0..3).map(|k| (a[k] - b[k]).abs()).sum::<f32>();
                    // Half a texel along each of two axes.
                    assert!(
                        distance <= 2.001 / size as f32,
                        "{face} {beyond:?} -> {other} {x} {y} of {size}"
                    );
                }
            }
        }
    }
}
