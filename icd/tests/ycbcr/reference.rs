//! Formats of several planes and packed blocks, and what sampling them gives, by the specification's
//! formulas.

use super::*;

/// Where luma (G) and chroma (B, R) lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A plane each.
    Three,
    /// A plane of luma, and one of blue and red.
    Two,
    /// Four values for two texels: of which components.
    Packed([usize; 4]),
    /// Four values for each texel.
    Whole,
}

/// A format: where its values lie, luma texels to a chroma texel, and bits of a value.
#[derive(Clone, Copy, Debug)]
pub struct Of(pub F, pub Kind, pub [u32; 2], pub u32);

/// The component that a value of a packed block is: red 0, luma 1 (and 4 for the second texel's), blue 2.
pub const GBGR: Kind = Kind::Packed([1, 2, 4, 0]);
const BGRG: Kind = Kind::Packed([2, 1, 0, 4]);

pub const FORMATS: [Of; 14] = [
    Of(F::G8_B8_R8_3PLANE_420_UNORM, Kind::Three, [2, 2], 8),
    Of(F::G8_B8R8_2PLANE_420_UNORM, Kind::Two, [2, 2], 8),
    Of(F::G8_B8_R8_3PLANE_422_UNORM, Kind::Three, [2, 1], 8),
    Of(F::G8_B8R8_2PLANE_422_UNORM, Kind::Two, [2, 1], 8),
    Of(F::G8_B8_R8_3PLANE_444_UNORM, Kind::Three, [1, 1], 8),
    Of(F::G8_B8R8_2PLANE_444_UNORM, Kind::Two, [1, 1], 8),
    Of(F::G8B8G8R8_422_UNORM, GBGR, [2, 1], 8),
    Of(F::B8G8R8G8_422_UNORM, BGRG, [2, 1], 8),
    Of(F::G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, Kind::Two, [2, 2], 10),
    Of(F::G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16, Kind::Three, [2, 2], 12),
    Of(F::G16_B16R16_2PLANE_422_UNORM, Kind::Two, [2, 1], 16),
    Of(F::B12X4G12X4R12X4G12X4_422_UNORM_4PACK16, BGRG, [2, 1], 12),
    Of(F::G16B16G16R16_422_UNORM, GBGR, [2, 1], 16),
    Of(F::R10X6G10X6B10X6A10X6_UNORM_4PACK16, Kind::Whole, [1, 1], 10),
];

/// The value of a component (red to alpha) at a place, of luma or of chroma.
pub fn value(bits: u32, component: usize, x: u32, y: u32) -> u32 {
    let mixed = (x * 0x9e37 + y * 0x79b9 + component as u32 * 0x3c6e + 7).wrapping_mul(0x85eb_ca6b);
    (mixed >> 9) % (1 << bits)
}

impl Of {
    pub fn planes(&self) -> usize {
        match self.1 {
            Kind::Three => 3,
            Kind::Two => 2,
            Kind::Packed(_) | Kind::Whole => 1,
        }
    }

    pub fn extent(&self, plane: usize) -> vk::Extent3D {
        let [x, y] = if plane == 0 { [1, 1] } else { self.2 };
        vk::Extent3D { width: WIDTH / x, height: HEIGHT / y, depth: 1 }
    }

    pub fn aspect(&self, plane: usize) -> A {
        if self.planes() == 1 { A::COLOR } else { PLANES[plane] }
    }

    /// The bytes of a plane, rows tightly packed.
    pub fn bytes(&self, plane: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let vk::Extent3D { width, height, .. } = self.extent(plane);
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let values: Vec<u32> = match (self.1, plane) {
                (Kind::Whole, _) => (0..4).map(|k| value(self.3, k, x, y)).collect(),
                (Kind::Packed(_), _) if x % 2 == 1 => Vec::new(),
                (Kind::Packed(places), _) => {
                    let at = |k: usize| match k {
                        1 => value(self.3, 1, x, y),
                        4 => value(self.3, 1, x + 1, y),
                        k => value(self.3, k, x / 2, y),
                    };
                    places.map(at).to_vec()
                }
                (_, 0) => vec![value(self.3, 1, x, y)],
                (Kind::Two, _) => vec![value(self.3, 2, x, y), value(self.3, 0, x, y)],
                (Kind::Three, plane) => vec![value(self.3, if plane == 1 { 2 } else { 0 }, x, y)],
            };
            for value in values {
                match self.3 {
                    8 => bytes.push(value as u8),
                    bits => bytes.extend(((value << (16 - bits)) as u16).to_le_bytes()),
                }
            }
        }
        bytes
    }
}

/// A sampler and its conversion.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    pub model: vk::SamplerYcbcrModelConversion,
    pub narrow: bool,
    pub midpoint: [bool; 2],
    pub chroma_linear: bool,
    pub linear: bool,
    pub explicit: bool,
}

/// The texel that sampling at a place gives, by the formulas.
pub fn sampled(of: Of, s: Sampling, at: [f64; 2]) -> [f64; 4] {
    let largest = f64::from((1u32 << of.3) - 1);
    let size = [WIDTH as i32, HEIGHT as i32];
    let component = |k: usize, [x, y]: [i32; 2]| {
        let sub = if k == 1 || k == 3 { [1, 1] } else { of.2.map(|s| s as i32) };
        let [x, y] = [(x, 0), (y, 1)].map(|(c, k)| c.clamp(0, size[k] / sub[k] - 1) as u32);
        f64::from(value(of.3, k, x, y)) / largest
    };
    let chroma = |k: usize, at: [i32; 2]| {
        let along = |axis: usize| -> [(i32, f64); 2] {
            let (i, halved) = (at[axis], of.2[axis] == 2);
            match (halved, s.chroma_linear, s.midpoint[axis], i % 2 == 0) {
                (false, ..) => [(i, 1.0), (i, 0.0)],
                (true, false, ..) => [(i / 2, 1.0), (i / 2, 0.0)],
                (true, true, false, true) => [(i / 2, 1.0), (i / 2, 0.0)],
                (true, true, false, false) => [(i / 2, 0.5), (i / 2 + 1, 0.5)],
                (true, true, true, true) => [(i / 2 - 1, 0.25), (i / 2, 0.75)],
                (true, true, true, false) => [(i / 2, 0.75), (i / 2 + 1, 0.25)],
            }
        };
        let (x, y) = (along(0), along(1));
        let all = x.iter().flat_map(|x| y.iter().map(move |y| (x.1 * y.1, [x.0, y.0])));
        all.map(|(weight, at)| weight * component(k, at)).sum::<f64>()
    };
    let uv = [0, 1].map(|k| at[k] * f64::from(size[k]));
    // Where the coordinates lie in the chroma.
    let implicit = |k: usize| {
        let along = |axis: usize| -> [(i32, f64); 2] {
            let cosited = if s.midpoint[axis] { 0.0 } else { 0.5 };
            let u = if of.2[axis] == 2 { 0.5 * (uv[axis] + cosited) } else { uv[axis] };
            match s.chroma_linear {
                false => [(u.floor() as i32, 1.0), (0, 0.0)],
                true => {
                    let low = (u - 0.5).floor();
                    [(low as i32, 1.0 - (u - 0.5 - low)), (low as i32 + 1, u - 0.5 - low)]
                }
            }
        };
        let (x, y) = (along(0), along(1));
        let all = x.iter().flat_map(|x| y.iter().map(move |y| (x.1 * y.1, [x.0, y.0])));
        all.map(|(weight, at)| weight * component(k, at)).sum::<f64>()
    };
    let texel = |at: [i32; 2]| {
        let at = [0, 1].map(|k| at[k].clamp(0, size[k] - 1));
        let alpha = if of.1 == Kind::Whole { component(3, at) } else { 1.0 };
        [chroma(0, at), component(1, at), chroma(2, at), alpha]
    };
    let [mut r, g, mut b, alpha] = if s.linear {
        let low = uv.map(|c| (c - 0.5).floor());
        let part = [0, 1].map(|k| uv[k] - 0.5 - low[k]);
        let mut sum = [0.0; 4];
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let weight = [(dx, 0), (dy, 1)].map(|(d, k)| if d == 1 { part[k] } else { 1.0 - part[k] });
            let values = texel([low[0] as i32 + dx, low[1] as i32 + dy]);
            (0..4).for_each(|k| sum[k] += weight[0] * weight[1] * values[k]);
        }
        sum
    } else {
        texel(uv.map(|c| c.floor() as i32))
    };
    if !s.explicit && of.2 != [1, 1] {
        (r, b) = (implicit(0), implicit(2));
    }
    use vk::SamplerYcbcrModelConversion as M;
    if s.model == M::RGB_IDENTITY {
        return [r, g, b, alpha];
    }
    let half = f64::from(1u32 << (of.3 - 1));
    let unit = f64::from(1u32 << (of.3 - 8));
    let (y, cb, cr) = if s.narrow {
        let of = |c: f64| (c * largest - 128.0 * unit) / (224.0 * unit);
        ((g * largest - 16.0 * unit) / (219.0 * unit), of(b), of(r))
    } else {
        (g, b - half / largest, r - half / largest)
    };
    // The matrices that the Khronos Data Format Specification gives in numbers.
    let [rv, gu, gv, bu] = match s.model {
        M::YCBCR_709 => [1.5748, 0.13397432 / 0.7152, 0.33480248 / 0.7152, 1.8556],
        M::YCBCR_601 => [1.402, 0.202008 / 0.587, 0.419198 / 0.587, 1.772],
        M::YCBCR_2020 => [1.4746, 0.11156702 / 0.6780, 0.38737742 / 0.6780, 1.8814],
        _ => return [cr, y, cb, alpha],
    };
    [y + rv * cr, y - gu * cb - gv * cr, y + bu * cb, alpha]
}
