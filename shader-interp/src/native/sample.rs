//! Sampling and gathers, for 16 lanes, in the formats whose conversions are a few instructions. Which level
//! lanes read is known when the code is made, or [`levels`] finds it.
//!
//! The order of all operations is that of [`crate::ops::image`], so that the bits are the same: weights are
//! products in double precision, sums of weighted texels begin with the first.

mod cube;
mod levels;
mod mean;

use super::image::is_read;
use super::memory::Access;
use super::operation::*;
use super::registers::{Part, RUNNING_MASK, Source};
use crate::code::{Code, Inst, Opcode};
use crate::interface::Reduction;
use crate::math::format::{self, FormatInfo, Numeric};
use crate::ops::image::kind::{Component, Filter, Kind, Levels};
use crate::ops::image::raster::Raster;
use iced_x86::{Code as X86, Instruction, Register};
use levels::Wanted;
use smallvec::SmallVec;

/// A sampling instruction that has an encoding.
pub(super) struct SampleAccess {
    /// Its number in [`Code::images`].
    pub slot: usize,
    /// What the code is made for.
    pub kind: Kind,
    filter: Filter,
    info: &'static FormatInfo,
    /// Whether the image is a cube, or several, whose coordinates are directions.
    cube: bool,
    /// The registers of coordinates, of the layer, of the reference value, and of offsets: one for each axis,
    /// or for each axis of each texel that is gathered.
    at: SmallVec<[u16; 3]>,
    layer: Option<u16>,
    reference: Option<u16>,
    shift: SmallVec<[u16; 3]>,
    wanted: Wanted,
    gather: Option<usize>,
    /// The first result, and how many there are.
    results: (u16, usize),
    /// The words of a texel of the border.
    border: [u32; 4],
}

/// The texels of a footprint.
struct Footprint {
    /// Along each axis, the weights of the upper ones.
    fractions: SmallVec<[u8; 3]>,
    offsets: Offsets,
    /// Of cubes that are filtered linearly: the number of the texel that there is not, or -1.
    corner: Option<u8>,
}

/// Byte offsets of the texels of a footprint.
enum Offsets {
    /// What the lower and the upper ones along each axis add.
    Along(SmallVec<[[u8; 2]; 3]>),
    /// Of cubes, whose footprints reach over edges: those of each.
    Each(SmallVec<[u8; 4]>),
}

impl SampleAccess {
    /// What `inst` does, if it has an encoding for images and samplers of these kinds.
    pub fn of(code: &Code, kinds: &[Kind], inst: &Inst) -> Option<SampleAccess> {
        if inst.op != Opcode::Image {
            return None;
        }
        let slot = inst.imm as usize;
        let entry = code.images.get(slot)?;
        let (axes, layered, how) = entry.instruction.sampling()?;
        let cube = entry.instruction.is_cube();
        let kind = *kinds.get(slot)?;
        let (filter, number) = Filter::of(kind)?;
        let info = format::properties(number)?;
        if !is_read(info) || filter.linear && info.numeric.is_integer() {
            return None;
        }
        let register = |k: usize| entry.arguments.get(k).map(|register| *register as u16);
        let registers =
            |from: usize, count: usize| (from..from + count).map(register).collect::<Option<SmallVec<_>>>();
        let after = axes + usize::from(layered);
        let level = after + usize::from(how.reference);
        let (wanted, after_level) = Wanted::of(how, axes, level, register)?;
        Some(SampleAccess {
            slot,
            kind,
            filter,
            info,
            cube,
            at: registers(0, axes)?,
            layer: if layered { Some(register(axes)?) } else { None },
            reference: if how.reference { Some(register(after)?) } else { None },
            shift: registers(after_level, axes * usize::from(how.offsets))?,
            wanted,
            gather: how.gather.map(|k| usize::from(k.min(3))),
            results: (entry.results.0 as u16, (entry.results.1 as usize).min(4)),
            border: info.encode_words(filter.border.color(info)),
        })
    }

    /// What result or gathered component `k` is; comparisons are of the first one.
    fn component(&self, k: usize) -> Component {
        if self.reference.is_some() { Component::of(self.info, 0) } else { self.kind.component(self.info, k) }
    }

    /// Texels of a footprint on a face.
    fn texels(&self) -> usize {
        if self.filter.linear { 4 } else { 1 }
    }

    /// Whether each texel that is gathered has offsets of its own.
    fn has_own_offsets(&self) -> bool {
        self.shift.len() > self.at.len()
    }

    /// Whether texels may be the border.
    fn has_border(&self) -> bool {
        self.filter.wrap.contains(&Filter::TO_BORDER)
    }
}

impl Part<'_> {
    /// The lanes of this part sample.
    pub fn sample(&mut self, access: &SampleAccess) {
        let reference = access.reference.map(|register| self.reference(access, register));
        match access.gather {
            Some(component) => self.gather_texels(access, component, reference),
            None if access.filter.linear => self.mean(access, reference),
            None => self.nearest(access, reference),
        }
    }

    /// Two registers for use, and one for each word of a texel.
    fn for_texels(&mut self, access: &SampleAccess) -> ((u8, u8), SmallVec<[u8; 4]>) {
        let count = usize::from(access.info.texel_bytes).div_ceil(4);
        let tu = (self.temporary(), self.temporary());
        (tu, (0..count).map(|_| self.temporary()).collect())
    }

    /// *Texel Gathering*.
    fn gather_texels(&mut self, access: &SampleAccess, component: usize, reference: Option<u8>) {
        let ((t, u), words) = self.for_texels(access);
        let result = |k: usize| access.results.0 + k as u16;
        if access.has_own_offsets() {
            for k in 0..access.results.1 {
                self.for_a_while(|part| {
                    let footprint = part.footprint(access, k, None);
                    part.tap(access, &footprint, 0, &words, (t, u));
                    part.component(access, component, &words, (t, u), (result(k), reference));
                });
            }
            return;
        }
        let footprint = self.footprint(access, 0, None);
        // (i0, j1), (i1, j1), (i1, j0), (i0, j0).
        for (k, number) in [2, 3, 1, 0].into_iter().enumerate().take(access.results.1) {
            self.tap(access, &footprint, number, &words, (t, u));
            self.component(access, component, &words, (t, u), (result(k), reference));
        }
    }

    /// The texel at the position, of two levels the mean.
    fn nearest(&mut self, access: &SampleAccess, reference: Option<u8>) {
        let level = self.level(access);
        let ((t, u), words) = self.for_texels(access);
        self.for_a_while(|part| {
            let footprint = part.footprint(access, 0, level.map(|level| level.high));
            part.tap(access, &footprint, 0, &words, (t, u));
        });
        let results = (0..access.results.1).map(|k| (k, access.results.0 + k as u16));
        let Some((level, rest)) = level.and_then(|level| Some((level, level.rest?))) else {
            return results.for_each(|(k, to)| {
                self.component(access, k, &words, (t, u), (to, reference));
            });
        };
        let lower: SmallVec<[u8; 4]> = words.iter().map(|_| self.temporary()).collect();
        self.for_a_while(|part| {
            part.step_below(level);
            let footprint = part.footprint(access, 0, Some(level.high));
            part.tap(access, &footprint, 0, &lower, (t, u));
        });
        for (k, to) in results {
            self.for_a_while(|part| part.between(access, k, [&words, &lower], rest, (t, u), (to, reference)));
        }
    }

    /// The reference value, of a format with depths from 0 to 1 limited to these.
    fn reference(&mut self, access: &SampleAccess, register: u16) -> u8 {
        let given = self.read(register);
        if access.info.numeric != Numeric::Unorm {
            return given;
        }
        let [limited] = self.keep(|part| {
            let (zero, one) = (part.temporary(), part.temporary());
            part.zero_register(zero);
            let t = part.bound(given, zero, F_MAX, AND);
            part.unary(LOAD, one, Source::Constant(Constant::FloatOne));
            [part.bound(t, one, F_MIN, OR)]
        });
        limited
    }

    /// *Depth Compare Operation*: 1 or 0 in place of a depth.
    fn compared(&mut self, access: &SampleAccess, reference: u8, depth: u8) {
        let predicate = match access.filter.compare {
            Some(1) => LESS,
            Some(2) => EQUAL,
            Some(3) => LESS_EQUAL,
            Some(4) => MORE_THAN,
            Some(5) => NOT_EQUAL,
            Some(6) => GREATER_EQUAL,
            Some(7) => return self.unary(LOAD, depth, Source::Constant(Constant::FloatOne)),
            _ => return self.zero_register(depth),
        };
        let passes = self.compare_floats(predicate, reference, Source::Host(depth));
        let one = Instruction::with2(LOAD.0, self.host(depth), self.constant(Constant::FloatOne));
        self.masked_zero(passes, one);
    }

    /// Where the texels around all lanes' coordinates are, those of the offsets of number `set`; at these
    /// levels, if they are not known.
    fn footprint(&mut self, access: &SampleAccess, set: usize, level: Option<u8>) -> Footprint {
        if access.cube {
            return self.footprint_on_faces(access, level);
        }
        let count = if access.filter.linear { 2 } else { 1 };
        let (mut fractions, mut offsets) = (SmallVec::new(), SmallVec::new());
        for (k, register) in access.at.iter().enumerate() {
            let [low, high, fraction] = self.keep(|part| {
                let [low, high, fraction, t, u] = std::array::from_fn(|_| part.temporary());
                let at = part.read(*register);
                part.rasters();
                part.position(access, (k, level), at, [low, fraction, t]);
                if let Some(shift) = access.shift.get(set * access.at.len() + k) {
                    let shift = part.read(*shift);
                    part.binary(ADD, low, low, Source::Host(shift));
                }
                part.binary(SUB, high, low, Source::Constant(Constant::Ones));
                for to in [low, high].into_iter().take(count) {
                    part.wrap(access, (k, level), to, [t, u]);
                    if access.filter.wrap[k] == Filter::TO_BORDER {
                        let outside = part.compare(false, I_NOT_LESS, to, Source::Host(t));
                        part.in_bytes(access, (k, level), to);
                        part.spread_word(u, Filter::AWAY);
                        part.choose(to, outside, Source::Host(u), to);
                    } else {
                        part.in_bytes(access, (k, level), to);
                    }
                }
                if k == 0 {
                    part.layer(access, level, t, u);
                    for to in [low, high].into_iter().take(count) {
                        part.binary(ADD, to, to, Source::Host(t));
                    }
                }
                [low, high, fraction]
            });
            fractions.push(fraction);
            offsets.push([low, high]);
        }
        Footprint { fractions, offsets: Offsets::Along(offsets), corner: None }
    }

    /// The number of the texel at or below each lane's position, and what is left: from 0 to 1.
    fn position(
        &mut self,
        access: &SampleAccess,
        (k, level): (usize, Option<u8>),
        at: u8,
        [base, rest, t]: [u8; 3],
    ) {
        if access.filter.unnormalized {
            self.unary(LOAD, rest, Source::Host(at));
        } else {
            self.extent(access.slot, (k, level), rest);
            self.unary(F_FROM_S, rest, Source::Host(rest));
            self.binary(F_MUL, rest, at, Source::Host(rest));
        }
        if access.filter.linear {
            self.with_float(F_SUB, rest, rest, 0.5);
        }
        self.by(F_ROUND, t, rest, DOWN);
        self.binary(F_SUB, rest, rest, Source::Host(t));
        self.integers_of(t, base);
        // Infinite coordinates have no fraction.
        self.zero_register(t);
        self.binary(F_MAX, rest, rest, Source::Host(t));
    }

    /// *Wrapping Operation*; leaves the number of texels in `size` where the border is around them.
    fn wrap(&mut self, access: &SampleAccess, (k, level): (usize, Option<u8>), to: u8, [size, u]: [u8; 2]) {
        self.extent(access.slot, (k, level), size);
        let mode = access.filter.wrap[k];
        let of_any_size = mode >= Filter::OF_ANY_SIZE;
        match if of_any_size { mode - Filter::OF_ANY_SIZE } else { mode } {
            0 if of_any_size => self.turn(to, size, u),
            0 => {
                self.binary(ADD, size, size, Source::Constant(Constant::Ones));
                self.binary(AND, to, to, Source::Host(size));
            }
            1 => {
                // A turn is there and back.
                self.binary(ADD, u, size, Source::Host(size));
                if of_any_size {
                    self.for_a_while(|part| {
                        let t = part.temporary();
                        part.turn(to, u, t);
                    });
                } else {
                    self.binary(ADD, u, u, Source::Constant(Constant::Ones));
                    self.binary(AND, to, to, Source::Host(u));
                }
                self.binary(SUB, to, to, Source::Host(size));
                self.mirror(to, u);
                self.binary(ADD, size, size, Source::Constant(Constant::Ones));
                self.binary(SUB, to, size, Source::Host(to));
            }
            2 => {
                self.binary(ADD, size, size, Source::Constant(Constant::Ones));
                self.binary(S_MIN, to, to, Source::Host(size));
                self.zero_register(size);
                self.binary(S_MAX, to, to, Source::Host(size));
            }
            Filter::TO_BORDER => {}
            _ => {
                self.binary(ADD, size, size, Source::Constant(Constant::Ones));
                self.mirror(to, u);
                self.binary(S_MIN, to, to, Source::Host(size));
            }
        }
    }

    /// `to` modulo `period`; `t` is for its use.
    fn turn(&mut self, to: u8, period: u8, t: u8) {
        self.for_a_while(|part| {
            let halves = [part.temporary(), part.temporary()];
            let near = part.asm.label();
            let [wide, turn] = [to, period].map(|k| part.host(k));
            // Most are less than a turn away: no division.
            part.zero_register(t);
            let below = part.compare(true, I_LESS, to, Source::Host(t));
            part.masked(below, Instruction::with3(ADD.0, wide, wide, turn));
            let above = part.compare(true, I_NOT_LESS, to, Source::Host(period));
            part.masked(above, Instruction::with3(SUB.0, wide, wide, turn));
            let far = part.compare(false, I_NOT_LESS, to, Source::Host(period));
            let far = Register::K0 + u32::from(far);
            part.asm.registers(X86::VEX_Kortestw_kr_kr, far, far);
            part.asm.branch(X86::Je_rel32_64, near);
            for (half, quotient) in halves.into_iter().enumerate() {
                part.widen_half_of(X86::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er, quotient, to, half);
                part.widen_half_of(X86::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er, t, period, half);
                part.double(DIV_DOUBLES, quotient, quotient, t);
                part.round_doubles(quotient, quotient, DOWN);
            }
            part.join_halves(X86::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae, halves);
            part.binary(MUL, halves[0], halves[0], Source::Host(period));
            part.binary(SUB, to, to, Source::Host(halves[0]));
            part.asm.bind(near);
        });
    }

    /// -1 - n in place of n below 0.
    fn mirror(&mut self, to: u8, u: u8) {
        self.by(SAR_BY, u, to, 31);
        self.binary(XOR, to, to, Source::Host(u));
    }

    /// What a coordinate adds to byte offsets.
    fn in_bytes(&mut self, access: &SampleAccess, (k, level): (usize, Option<u8>), to: u8) {
        if k == 0 {
            return self.by(SHL_BY, to, to, access.info.texel_bytes.trailing_zeros());
        }
        if let Some(level) = level.filter(|_| k < access.at.len()) {
            return self.for_a_while(|part| {
                let pitch = part.temporary();
                part.of_level(access.slot, Raster::PITCHES[k - 1], level, pitch);
                part.binary(MUL, to, to, Source::Host(pitch));
            });
        }
        let pitch = self.raster_word(access.slot, Raster::PITCH + k * size_of::<u32>());
        let to = self.host(to);
        self.asm.put(Instruction::with3(MUL.0, to, to, pitch));
    }

    /// The byte offsets of the lanes' layers, in `t`.
    fn layer(&mut self, access: &SampleAccess, level: Option<u8>, t: u8, u: u8) {
        match level {
            Some(level) => self.of_level(access.slot, Raster::STARTS, level, t),
            None => self.spread_field(access.slot, Raster::START, t),
        }
        let Some(register) = access.layer else { return };
        // Of cubes the extent counts cubes, and the pitch is that of faces.
        let k = if access.cube { 2 } else { access.at.len() };
        self.for_a_while(|part| {
            let (layer, last) = (part.temporary(), part.temporary());
            let wanted = part.read(register);
            part.by(F_ROUND, u, wanted, TO_EVEN);
            part.integers_of(u, layer);
            part.zero_register(u);
            part.binary(S_MAX, layer, layer, Source::Host(u));
            part.spread_field(access.slot, Raster::EXTENT + k * size_of::<u32>(), last);
            part.binary(ADD, last, last, Source::Constant(Constant::Ones));
            part.binary(U_MIN, layer, layer, Source::Host(last));
            part.in_bytes(access, (k, level.filter(|_| !access.cube)), layer);
            if access.cube {
                part.by(SHL_BY, layer, layer, 1);
                part.binary(ADD, t, t, Source::Host(layer));
                part.by(SHL_BY, layer, layer, 1);
            }
            part.binary(ADD, t, t, Source::Host(layer));
        });
    }

    /// Where texel `number` of all lanes' footprints is, to `t`.
    fn place_of_tap(&mut self, footprint: &Footprint, number: usize, t: u8) {
        match &footprint.offsets {
            Offsets::Each(places) => self.unary(LOAD, t, Source::Host(places[number])),
            Offsets::Along(axes) => {
                for (k, offsets) in axes.iter().enumerate() {
                    let offset = offsets[number >> k & 1];
                    match k {
                        0 => self.unary(LOAD, t, Source::Host(offset)),
                        _ => self.binary(ADD, t, t, Source::Host(offset)),
                    }
                }
            }
        }
    }

    /// Loads texel `number` of all lanes' footprints.
    fn tap(
        &mut self,
        access: &SampleAccess,
        footprint: &Footprint,
        number: usize,
        words: &[u8],
        (t, u): (u8, u8),
    ) {
        self.place_of_tap(footprint, number, t);
        let mut inside = self.condition(RUNNING_MASK);
        if access.has_border() {
            let there = self.host_mask_but(inside);
            self.spread_word(u, Filter::AWAY);
            self.compare_under(inside, there, t, u, I_LESS, false);
            inside = there;
        }
        let (k, done) = (self.host_mask_but(inside), self.asm.label());
        self.rasters();
        self.raster_memory(access.slot);
        let texels = Access::of_texels(access.info.texel_bytes.into());
        self.load_lanes(&texels, words, (t, u), (inside, k), done);
        self.asm.bind(done);
        if access.has_border() {
            // *Border Replacement*.
            self.place_of_tap(footprint, number, t);
            self.spread_word(u, Filter::AWAY);
            let outside = self.compare(false, I_NOT_LESS, t, Source::Host(u));
            for (word, border) in words.iter().zip(access.border) {
                self.spread_bits(u, border);
                self.choose(*word, outside, Source::Host(u), *word);
            }
        }
    }

    /// Component `k` of texels with these words, compared if there is a reference value, becomes a vector
    /// register.
    fn component(
        &mut self,
        access: &SampleAccess,
        k: usize,
        words: &[u8],
        tu: (u8, u8),
        (to, reference): (u16, Option<u8>),
    ) {
        if self.reads[usize::from(to)] {
            self.for_a_while(|part| {
                let value = part.temporary();
                part.decode(access.info, access.component(k), words, value, tu, &mut None);
                if let Some(reference) = reference {
                    part.compared(access, reference, value);
                }
                part.set(to, value);
            });
        }
    }
}
