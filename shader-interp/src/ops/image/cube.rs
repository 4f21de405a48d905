//! Cube maps: from directions to faces, and from face to face.

use crate::math::convert::f32_to_i32;
use crate::math::single::floor;

/// *Cube Map Face Selection* and *Cube Map Coordinate Transformation*: the face that a direction hits, and
/// where, in [0, 1].
#[inline(always)]
pub(super) fn select_face(r: [f32; 3]) -> (u32, [f32; 2]) {
    let [x, y, z] = r;
    let [ax, ay, az] = [x.abs(), y.abs(), z.abs()];
    // Choices of values, no branches: lanes are computed together.
    let (along_z, along_y) = ((az >= ax) & (az >= ay), ay >= ax);
    let choose = |of_z: f32, of_y: f32, of_x: f32| {
        let other = if along_y { of_y } else { of_x };
        if along_z { of_z } else { other }
    };
    let major = choose(az, ay, ax);
    let s = choose(if z >= 0.0 { x } else { -x }, x, if x >= 0.0 { -z } else { z });
    let t = choose(-y, if y >= 0.0 { z } else { -z }, -y);
    let first = if along_z {
        4
    } else if along_y {
        2
    } else {
        0
    };
    let face = first + if choose(z, y, x) >= 0.0 { 0 } else { 1 };
    (face, [0.5 * (s / major) + 0.5, 0.5 * (t / major) + 0.5])
}

/// The direction of point (s, t) of a face, in [-1, 1] inside the face.
pub(super) fn direction(face: u32, s: f32, t: f32) -> [f32; 3] {
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// The face and texel that adjoin texel (x, y), one step beyond the edge of `face`: the direction of its
/// middle, were the face larger, hits that texel.
pub(super) fn across_edge(face: u32, x: i32, y: i32, size: i32) -> (u32, u32, u32) {
    let along = |c: i32| ((2 * c as i64 + 1) as f32) / size as f32 - 1.0;
    let (face, place) = select_face(direction(face, along(x), along(y)));
    let [x, y] = place.map(|c| f32_to_i32(floor(c * size as f32)).clamp(0, size - 1) as u32);
    (face, x, y)
}

#[cfg(test)]
mod tests;
