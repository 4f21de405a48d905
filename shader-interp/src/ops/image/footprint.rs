//! From sampling coordinates to texels: layer and face selection, scaling to a level, wrapping, bounds.

use super::ImageInstruction;
use super::address::Texels;
use super::cube;
use super::level::{self, Scales};
use super::not_resident;
use crate::arrays::{blend, each};
use crate::interface::Sampler;
use crate::math::convert::f32_to_i32;
use crate::math::format::block;
use crate::math::integer::s_mod;
use crate::math::single::{floor, n_clamp, round_even};
use pellucid_memory::system::{LANES, Lanes, Mask};
use std::cell::Cell;

/// All bits set in a lane: yes.
pub(super) const YES: u32 = u32::MAX;

/// A float for each lane.
pub(super) type Floats = [f32; LANES];

/// A sampling instruction at work, for lanes that share image and sampler.
pub(super) struct Sampling<'a> {
    pub instruction: &'a ImageInstruction,
    pub texels: &'a Texels<'a>,
    pub sampler: &'a Sampler,
    /// Coordinates that are filtered over.
    pub axes: usize,
    pub is_cube: bool,
    /// [`YES`] in active lanes.
    pub active: Lanes,
    /// Of instructions with a residency code: the lanes that accessed a texel to which no memory is bound.
    pub unbound: Cell<Mask>,
}

/// Coordinates before they are scaled to a level.
pub(super) struct Position {
    /// In [0, 1] over the image, or in texels.
    pub coordinates: [Floats; 3],
    /// Layer, with the face of a cube.
    layer: Lanes,
}

/// Where one of the samples of anisotropic filtering lies: the coordinates move along a derivative (*Texel
/// Anisotropic Filtering*).
pub(super) struct Shift<'a> {
    /// Along x and along y, one register for each coordinate.
    pub along: [&'a [&'a Lanes]; 2],
    /// Which of them, from 0.
    pub n: u32,
    pub scales: &'a Scales,
}

impl Shift<'_> {
    /// Moves coordinate `k` of the lanes that have several samples.
    fn of(&self, k: usize, coordinate: &mut Floats) {
        let [x, y] = self.along.map(|registers| registers.get(k).copied().unwrap_or(&Lanes::ZERO));
        for lane in (0..LANES).filter(|&lane| self.scales.samples[lane] > 1) {
            let along = if self.scales.along_y[lane] { y } else { x };
            let step = (self.n + 1) as f32 / (self.scales.samples[lane] + 1) as f32 - 0.5;
            coordinate[lane] += f32::from_bits(along.0[lane]) * step;
        }
    }
}

/// Texels of one level around the positions of all lanes.
pub(super) struct Footprint {
    /// Texels of the level along each axis.
    pub size: [Lanes; 3],
    /// Byte offset of the layer's first texel at the level.
    start: Lanes,
    /// Bytes from texel to texel, or from block to block, along each axis.
    pitch: [Lanes; 3],
    /// Lowest texel coordinates.
    pub base: [Lanes; 3],
    /// Weights of the texels after them.
    pub fraction: [Floats; 3],
    /// Level and layer.
    level: Lanes,
    pub layer: Lanes,
}

/// Texels of all lanes, or what one axis contributes to where they are.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Byte offsets; of the block, if the format is compressed.
    pub offset: Lanes,
    /// [`YES`] in lanes where it is not the border.
    pub exists: Lanes,
    /// Of compressed formats: which texel of the block ([`block::within`]).
    pub within: Lanes,
}

impl Place {
    const FIRST: Place = Place { offset: Lanes::ZERO, exists: Lanes([YES; LANES]), within: Lanes::ZERO };
}

/// Along each axis the lower and the upper texel of a footprint.
pub(super) struct Steps([[Place; 2]; 3]);

impl Sampling<'_> {
    /// Lanes access texels, of which some may be without memory.
    #[inline(always)]
    pub fn note_residency(&self, texels: &Texels<'_>, offset: &Lanes, mask: Mask) {
        if self.instruction.image.sparse {
            let unbound = not_resident(texels, offset, mask);
            self.unbound.set(self.unbound.get() | unbound);
        }
    }

    /// Coordinates without the layer.
    #[inline(always)]
    pub fn coordinates(&self) -> usize {
        level::derivative_axes(self.instruction.image.dim)
    }

    /// Coordinates with the layer: the number of the argument that follows.
    #[inline(always)]
    pub fn after_coordinates(&self) -> usize {
        self.coordinates() + self.instruction.image.arrayed as usize
    }

    /// Array layer selection and cube map face selection.
    #[inline(always)]
    pub fn position(&self, arguments: &[&Lanes], shift: Option<&Shift<'_>>) -> Position {
        let argument = |k: usize| arguments.get(k).copied().unwrap_or(&Lanes::ZERO);
        let mut coordinates = [[0.0; LANES]; 3];
        for (k, to) in coordinates.iter_mut().enumerate().take(self.coordinates()) {
            let from = argument(k);
            *to = each(|lane| f32::from_bits(from.0[lane]));
            if let Some(shift) = shift {
                shift.of(k, to);
            }
        }
        let mut layer = Lanes::ZERO;
        let faces = if self.is_cube { 6 } else { 1 };
        if self.instruction.image.arrayed {
            let last = (self.texels.layers / faces).saturating_sub(1);
            let wanted = argument(self.coordinates());
            for lane in 0..LANES {
                let whole = f32_to_i32(round_even(f32::from_bits(wanted.0[lane]))).max(0) as u32;
                layer.0[lane] = whole.min(last) * faces;
            }
        }
        if self.is_cube {
            let [x, y, z] = coordinates;
            for lane in 0..LANES {
                let (face, [s, t]) = cube::select_face([x[lane], y[lane], z[lane]]);
                layer.0[lane] += face;
                (coordinates[0][lane], coordinates[1][lane]) = (s, t);
            }
        }
        Position { coordinates, layer }
    }

    /// *(s,t,r,q,a) to (u,v,w,a) Transformation* and *(u,v,w,a) to (i,j,k,l,n) Transformation* at a level of
    /// each lane. `offset` has the integer offsets of the instruction, one register for each axis, or none.
    #[inline(always)]
    pub fn footprint(
        &self,
        position: &Position,
        level: &Lanes,
        linear: &Lanes,
        offset: &[&Lanes],
    ) -> Footprint {
        let mut footprint = Footprint {
            size: [Lanes([1; LANES]); 3],
            start: Lanes::ZERO,
            pitch: [Lanes::ZERO; 3],
            base: [Lanes::ZERO; 3],
            fraction: [[0.0; LANES]; 3],
            level: *level,
            layer: position.layer,
        };
        self.lay_out(&mut footprint);
        for k in 0..self.axes {
            let size = &footprint.size[k].0;
            let unnormalized = self.sampler.unnormalized;
            let scale: Floats =
                if unnormalized { [1.0; LANES] } else { each(|lane| size[lane] as i32 as f32) };
            let base = &mut footprint.base[k];
            let fraction = &mut footprint.fraction[k];
            for lane in 0..LANES {
                let shift = if linear.0[lane] != 0 { 0.5 } else { 0.0 };
                let u = position.coordinates[k][lane] * scale[lane] - shift;
                let whole = floor(u);
                base.0[lane] = f32_to_i32(whole) as u32;
                // Infinite coordinates have no fraction.
                let rest = n_clamp(u - whole, 0.0, 1.0);
                fraction[lane] = if linear.0[lane] != 0 { rest } else { 0.0 };
            }
            if let Some(offset) = offset.get(k) {
                for lane in 0..LANES {
                    base.0[lane] = base.0[lane].wrapping_add(offset.0[lane]);
                }
            }
        }
        footprint
    }

    /// Sizes, pitches and starts of the levels of a footprint. Most often all lanes have one level.
    #[inline(always)]
    fn lay_out(&self, footprint: &mut Footprint) {
        let mut left = Mask::MAX;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let alike = super::same_as(Some(&footprint.level), first);
            left &= !alike;
            let layout = self.texels.level(footprint.level.0[first]);
            if alike == Mask::MAX {
                footprint.size = layout.extent.map(|size| Lanes([size; LANES]));
                footprint.pitch = layout.pitch.map(|pitch| Lanes([pitch; LANES]));
                for lane in 0..LANES {
                    let layer = footprint.layer.0[lane].wrapping_mul(layout.layer_pitch);
                    footprint.start.0[lane] = layout.start.wrapping_add(layer);
                }
                return;
            }
            for k in 0..3 {
                let (size, pitch) = (&mut footprint.size[k].0, &mut footprint.pitch[k].0);
                *size = blend(alike, &[layout.extent[k]; LANES], size);
                *pitch = blend(alike, &[layout.pitch[k]; LANES], pitch);
            }
            let layer = &footprint.layer.0;
            let start = each(|lane| layout.start.wrapping_add(layer[lane].wrapping_mul(layout.layer_pitch)));
            footprint.start.0 = blend(alike, &start, &footprint.start.0);
        }
    }

    /// Whether texels beyond the edge of a face are those of the face next to it.
    #[inline(always)]
    pub fn is_seamless(&self) -> bool {
        self.is_cube && !self.sampler.non_seamless
    }

    /// Wraps the coordinates of a footprint; of its lowest texels only, if `single`.
    #[inline(always)]
    pub fn steps(&self, footprint: &Footprint, single: bool) -> Steps {
        let mut steps = [[Place::FIRST; 2]; 3];
        for k in 0..self.axes {
            // Cubes ignore the address mode.
            let mode = if self.is_seamless() { 2 } else { self.sampler.address[k] };
            for upper in 0..if single { 1 } else { 2 } {
                let (base, size, pitch) = (&footprint.base[k], &footprint.size[k], &footprint.pitch[k]);
                let (mut coordinate, exists) = wrap(mode, base, upper as u32, size);
                let place = &mut steps[k][upper];
                if self.texels.info.compression.is_some() {
                    let side = self.texels.info.block()[k];
                    for lane in 0..LANES {
                        let mut texel = [0; 3];
                        texel[k] = coordinate.0[lane];
                        place.within.0[lane] = block::within([texel[0], texel[1]]);
                        coordinate.0[lane] = texel[k] / side;
                    }
                }
                place.exists = exists;
                for lane in 0..LANES {
                    place.offset.0[lane] = coordinate.0[lane].wrapping_mul(pitch.0[lane]);
                }
            }
        }
        Steps(steps)
    }

    /// Texel `tap` of a footprint (bit `k`: the upper one along axis `k`).
    #[inline(always)]
    pub fn place(&self, footprint: &Footprint, steps: &Steps, tap: usize) -> Place {
        let mut place = Place { offset: footprint.start, ..Place::FIRST };
        let compressed = self.texels.info.compression.is_some();
        for (k, steps) in steps.0.iter().enumerate().take(self.axes) {
            let step = &steps[(tap >> k) & 1];
            for lane in 0..LANES {
                place.offset.0[lane] = place.offset.0[lane].wrapping_add(step.offset.0[lane]);
                place.exists.0[lane] &= step.exists.0[lane];
            }
            if compressed {
                for lane in 0..LANES {
                    place.within.0[lane] += step.within.0[lane];
                }
            }
        }
        place
    }

    /// *Cube Map Edge Handling*: a texel beyond a corner of the cube does not exist; it is the average of the
    /// other three.
    pub fn spread_corners(&self, footprint: &Footprint, weights: &mut [[f64; LANES]; 8]) {
        for lane in 0..LANES {
            let size = footprint.size[0].0[lane];
            for tap in 0..4 {
                let [x, y] = tap_coordinates(footprint, tap, lane);
                // Negative coordinates are large ones.
                if x >= size && y >= size {
                    let third = weights[tap][lane] / 3.0;
                    for (other, weights) in weights.iter_mut().enumerate().take(4) {
                        weights[lane] = if other == tap { 0.0 } else { weights[lane] + third };
                    }
                }
            }
        }
    }

    /// Moves the texels of a linear footprint that lie beyond an edge of their face to the face next to it.
    pub fn cross_edges(&self, footprint: &Footprint, tap: usize, place: &mut Place) {
        for lane in (0..LANES).filter(|&lane| self.active.0[lane] != 0) {
            let size = footprint.size[0].0[lane];
            let [x, y] = tap_coordinates(footprint, tap, lane);
            if x >= size || y >= size {
                let layer = footprint.layer.0[lane];
                let (face, x, y) = cube::across_edge(layer % 6, x as i32, y as i32, size as i32);
                let found = self.texels.locate(footprint.level.0[lane], [x, y, 0], layer - layer % 6 + face);
                place.offset.0[lane] = found.map_or(0, |at| at.offset);
                place.within.0[lane] = found.map_or(0, |at| at.within);
            }
        }
    }
}

/// The first two coordinates of texel `tap` of a lane's footprint.
fn tap_coordinates(footprint: &Footprint, tap: usize, lane: usize) -> [u32; 2] {
    [0, 1].map(|k| footprint.base[k].0[lane].wrapping_add((tap >> k) as u32 & 1))
}

/// *Wrapping Operation* for one coordinate of all lanes, `step` texels after `base`: the coordinate of a
/// texel, and [`YES`] if it is not the border. `mode` is a VkSamplerAddressMode.
#[inline(always)]
pub(super) fn wrap(mode: i32, base: &Lanes, step: u32, size: &Lanes) -> (Lanes, Lanes) {
    let mut wrapped = Lanes::ZERO;
    let mut inside = Lanes([YES; LANES]);
    let mut each = |f: &dyn Fn(i32, i32) -> i32| {
        for lane in 0..LANES {
            let i = base.0[lane].wrapping_add(step) as i32;
            wrapped.0[lane] = f(i, size.0[lane] as i32) as u32;
        }
    };
    let mirror = |n: i32| if n >= 0 { n } else { -1 - n };
    match mode {
        0 => wrapped = repeated(base, step, size, 1),
        1 => {
            wrapped = repeated(base, step, size, 2);
            for lane in 0..LANES {
                let (turn, size) = (wrapped.0[lane] as i32, size.0[lane] as i32);
                wrapped.0[lane] = ((size - 1) - mirror(turn - size)) as u32;
            }
        }
        2 => each(&|i, size| i.min(size - 1).max(0)),
        3 => {
            for lane in 0..LANES {
                let i = base.0[lane].wrapping_add(step);
                inside.0[lane] = if i < size.0[lane] { YES } else { 0 };
                wrapped.0[lane] = i;
            }
        }
        _ => each(&|i, size| mirror(i).min(size - 1)),
    }
    (wrapped, inside)
}

/// The coordinates `step` after `base`, modulo so many sizes.
#[inline(always)]
fn repeated(base: &Lanes, step: u32, size: &Lanes, times: u32) -> Lanes {
    let (mut turn, mut far) = (Lanes::ZERO, 0);
    // Most are less than a turn away: no division.
    for lane in 0..LANES {
        let i = base.0[lane].wrapping_add(step) as i32;
        let period = size.0[lane].wrapping_mul(times) as i32;
        let up = i.wrapping_add(if i < 0 { period } else { 0 });
        let near = up.wrapping_sub(if up >= period { period } else { 0 });
        far |= u32::from(near as u32 >= period as u32);
        turn.0[lane] = near as u32;
    }
    if far != 0 {
        for lane in 0..LANES {
            turn.0[lane] = s_mod::<32>(base.0[lane].wrapping_add(step), size.0[lane].wrapping_mul(times));
        }
    }
    turn
}
