//! Cubes: the face that a direction hits, and the texels around it, of which some may be on other faces. The
//! order of all operations is that of [`crate::ops::image`]'s `cube` and `footprint`.

use super::mean::Scale;
use super::*;

/// The most host registers that stepping over an edge takes for itself.
const ACROSS: usize = 8;

impl Part<'_> {
    /// Where the texels around all lanes' directions are; at these levels, if they are not known.
    pub(super) fn footprint_on_faces(&mut self, access: &SampleAccess, level: Option<u8>) -> Footprint {
        let linear = access.filter.linear;
        let kept = self.keep(|part| {
            let places: [u8; 4] = std::array::from_fn(|_| part.temporary());
            let fractions: [u8; 2] = std::array::from_fn(|_| part.temporary());
            let corner = part.temporary();
            part.fill_footprint(access, level, places, fractions, corner);
            let ([a, b, c, d], [s, t]) = (places, fractions);
            [a, b, c, d, s, t, corner]
        });
        let [a, b, c, d, s, t, corner] = kept;
        if !linear {
            kept[1..].iter().for_each(|k| self.free(*k));
            let offsets = Offsets::Each(SmallVec::from_slice(&[a]));
            return Footprint { fractions: SmallVec::new(), offsets, corner: None };
        }
        let offsets = Offsets::Each(SmallVec::from_slice(&[a, b, c, d]));
        Footprint { fractions: SmallVec::from_slice(&[s, t]), offsets, corner: Some(corner) }
    }

    fn fill_footprint(
        &mut self,
        access: &SampleAccess,
        level: Option<u8>,
        places: [u8; 4],
        fractions: [u8; 2],
        corner: u8,
    ) {
        let [face, base_s, base_t] = self.keep(|part| {
            let direction = [0, 1, 2].map(|k| part.read(access.at[k]));
            part.select_face(direction)
        });
        let (origin, last) = (self.temporary(), self.temporary());
        self.for_a_while(|part| {
            let (t, u) = (part.temporary(), part.temporary());
            part.rasters();
            part.layer(access, level, origin, t);
            for (k, base) in [base_s, base_t].into_iter().enumerate() {
                part.unary(LOAD, u, Source::Host(base));
                part.position(access, (k, level), u, [base, fractions[k], t]);
            }
            part.extent(access.slot, (0, level), last);
            part.binary(ADD, last, last, Source::Constant(Constant::Ones));
            part.unary(LOAD, corner, Source::Constant(Constant::Ones));
        });
        self.for_a_while(|part| {
            let [high_s, high_t, low_s, low_t, start] = std::array::from_fn(|_| part.temporary());
            part.unary(LOAD, start, Source::Host(face));
            part.faces_in_bytes(access, start, origin);
            for (k, low, high, base) in [(0, low_s, high_s, base_s), (1, low_t, high_t, base_t)] {
                part.unary(LOAD, low, Source::Host(base));
                part.binary(SUB, high, base, Source::Constant(Constant::Ones));
                for to in [low, high] {
                    part.clamp_to(to, last);
                    part.in_bytes(access, (k, level), to);
                }
            }
            for (number, place) in places.into_iter().enumerate().take(access.texels()) {
                part.binary(ADD, place, start, Source::Host([low_s, high_s][number & 1]));
                part.binary(ADD, place, place, Source::Host([low_t, high_t][number >> 1]));
            }
        });
        if access.filter.linear {
            self.cross_edges(access, level, places, [face, base_s, base_t, origin, last], corner);
        }
    }

    /// `to` limited to 0 to `last`; it is an integer.
    fn clamp_to(&mut self, to: u8, last: u8) {
        self.binary(S_MIN, to, to, Source::Host(last));
        self.for_a_while(|part| {
            let zero = part.zero();
            part.binary(S_MAX, to, to, Source::Host(zero));
        });
    }

    /// Numbers of faces become byte offsets, those of their cubes added.
    fn faces_in_bytes(&mut self, access: &SampleAccess, to: u8, origin: u8) {
        self.rasters();
        let pitch = self.raster_word(access.slot, Raster::PITCH + 2 * size_of::<u32>());
        let wide = self.host(to);
        self.asm.put(Instruction::with3(MUL.0, wide, wide, pitch));
        self.binary(ADD, to, to, Source::Host(origin));
    }

    /// *Cube Map Edge Handling*: texels beyond an edge of their face are those of the face next to it. What
    /// is beyond two is noted.
    fn cross_edges(
        &mut self,
        access: &SampleAccess,
        level: Option<u8>,
        places: [u8; 4],
        [face, base_s, base_t, origin, last]: [u8; 5],
        corner: u8,
    ) {
        // What is taken behind the jump has nothing in it that would have to be stored first.
        self.for_a_while(|part| {
            (0..ACROSS).for_each(|_| _ = part.temporary());
        });
        let inside = self.asm.label();
        let [k, l] = [base_s, base_t].map(|base| self.compare(false, I_NOT_LESS, base, Source::Host(last)));
        let [k, l] = [k, l].map(|k| Register::K0 + u32::from(k));
        self.asm.registers(X86::VEX_Kortestw_kr_kr, k, l);
        self.asm.branch(X86::Je_rel32_64, inside);
        for (number, place) in places.into_iter().enumerate() {
            self.for_a_while(|part| {
                let [there, s, t] = part.keep(|part| {
                    let direction = part.keep(|part| {
                        let along = [(base_s, number & 1), (base_t, number >> 1)].map(|(base, upper)| {
                            let to = part.temporary();
                            part.along_face(to, base, upper == 1, last);
                            to
                        });
                        part.direction(face, along)
                    });
                    part.select_face(direction)
                });
                part.for_a_while(|part| {
                    let size = part.temporary();
                    part.size_of_face(size, last);
                    for to in [s, t] {
                        part.binary(F_MUL, to, to, Source::Host(size));
                    }
                });
                for to in [s, t] {
                    part.for_a_while(|part| {
                        let whole = part.temporary();
                        part.by(F_ROUND, whole, to, DOWN);
                        part.integers_of(whole, to);
                    });
                    part.clamp_to(to, last);
                }
                part.faces_in_bytes(access, there, origin);
                part.in_bytes(access, (0, level), s);
                part.in_bytes(access, (1, level), t);
                part.binary(ADD, there, there, Source::Host(s));
                part.binary(ADD, there, there, Source::Host(t));
                // The texels that are beyond.
                let beyond = [(base_s, number & 1), (base_t, number >> 1)].map(|(base, upper)| {
                    if upper == 1 {
                        part.binary(SUB, s, base, Source::Constant(Constant::Ones));
                    } else {
                        part.unary(LOAD, s, Source::Host(base));
                    }
                    part.compare(false, I_MORE, s, Source::Host(last))
                });
                let [to, from, corners] = [place, there, corner].map(|k| part.host(k));
                for k in beyond {
                    part.masked(k, Instruction::with2(LOAD.0, to, from));
                }
                part.spread_bits(s, number as u32);
                let [k, l] = beyond.map(|k| Register::K0 + u32::from(k));
                part.asm.put(Instruction::with3(X86::VEX_Kandw_kr_kr_kr, k, k, l));
                let from = part.host(s);
                part.masked(beyond[0], Instruction::with2(LOAD.0, corners, from));
            });
        }
        self.asm.bind(inside);
    }

    /// Texels along an edge, a float.
    fn size_of_face(&mut self, to: u8, last: u8) {
        self.binary(SUB, to, last, Source::Constant(Constant::Ones));
        self.unary(F_FROM_S, to, Source::Host(to));
    }

    /// Where the middle of a texel is along a face, from -1 to 1; of the one behind `base`, if it is the
    /// `upper` one.
    fn along_face(&mut self, to: u8, base: u8, upper: bool, last: u8) {
        self.binary(ADD, to, base, Source::Host(base));
        for _ in 0..if upper { 3 } else { 1 } {
            self.binary(SUB, to, to, Source::Constant(Constant::Ones));
        }
        self.unary(F_FROM_S, to, Source::Host(to));
        self.for_a_while(|part| {
            let size = part.temporary();
            part.size_of_face(size, last);
            part.binary(F_DIV, to, to, Source::Host(size));
        });
        self.with_float(F_SUB, to, to, 1.0);
    }

    /// The direction of a point of a face.
    fn direction(&mut self, face: u8, [s, t]: [u8; 2]) -> [u8; 3] {
        let [x, y, z, c] = std::array::from_fn(|_| self.temporary());
        self.unary(LOAD, x, Source::Host(s));
        self.binary(XOR, y, t, Source::Constant(Constant::Sign));
        self.unary(LOAD, z, Source::Host(s));
        // Of each face, the axis through it, and what else is not as above: an axis, whence, and a sign.
        let faces = [
            (x, Some((z, s, true))),
            (x, None),
            (y, Some((z, t, false))),
            (y, Some((z, t, true))),
            (z, None),
            (z, Some((x, s, true))),
        ];
        let (one, sign) = (self.constant(Constant::FloatOne), self.constant(Constant::Sign));
        for (number, (axis, other)) in faces.into_iter().enumerate() {
            self.spread_bits(c, number as u32);
            let here = self.compare(false, I_EQUAL, face, Source::Host(c));
            if let Some((to, from, negative)) = other {
                let [to, from] = [to, from].map(|k| self.host(k));
                match negative {
                    true => self.masked(here, Instruction::with3(XOR.0, to, from, sign)),
                    false => self.masked(here, Instruction::with2(LOAD.0, to, from)),
                }
            }
            let axis = self.host(axis);
            self.masked(here, Instruction::with2(LOAD.0, axis, one));
            if number % 2 == 1 {
                self.masked(here, Instruction::with3(XOR.0, axis, axis, sign));
            }
        }
        self.free(c);
        [x, y, z]
    }

    /// By the magnitudes of a direction, the lanes whose major axis is y, or z: that comes first.
    fn major_axis(&mut self, [ax, ay, az]: [u8; 3]) -> [u8; 2] {
        let along_y = self.compare_floats(GREATER_EQUAL, ay, Source::Host(ax));
        let first = self.compare_floats(GREATER_EQUAL, az, Source::Host(ax));
        let along_z = self.compare_floats(GREATER_EQUAL, az, Source::Host(ay));
        let [k, l] = [first, along_z].map(|k| Register::K0 + u32::from(k));
        self.asm.put(Instruction::with3(X86::VEX_Kandw_kr_kr_kr, l, k, l));
        [along_y, along_z]
    }

    /// *Cube Map Face Selection* and *Cube Map Coordinate Transformation*: the face that a direction hits,
    /// and where, from 0 to 1.
    fn select_face(&mut self, [x, y, z]: [u8; 3]) -> [u8; 3] {
        let [face, s, t, major, c] = std::array::from_fn(|_| self.temporary());
        let [ax, ay, az] = [(x, face), (y, s), (z, t)].map(|(k, to)| {
            self.binary(AND, to, k, Source::Constant(Constant::Magnitude));
            to
        });
        let [along_y, along_z] = self.major_axis([ax, ay, az]);
        self.choose(major, along_y, Source::Host(ay), ax);
        self.choose(major, along_z, Source::Host(az), major);
        let (sign, one) = (self.constant(Constant::Sign), self.constant(Constant::One));
        let [wide_x, wide_y, wide_z, wide_face, wide_s, wide_t, wide_c] =
            [x, y, z, face, s, t, c].map(|k| self.host(k));
        let below = |part: &mut Self, of: u8, under: Option<u8>| {
            part.zero_register(c);
            let k = part.host_mask();
            let to = Register::K0 + u32::from(k);
            let of = part.host(of);
            let compare = Instruction::with4(F_COMPARE.0, to, of, wide_c, NOT_GREATER_EQUAL);
            match under {
                Some(under) => part.masked(under, compare),
                None => part.asm.put(compare),
            }
            k
        };
        // Along x.
        let negative = below(self, x, None);
        self.binary(XOR, s, z, Source::Constant(Constant::Sign));
        self.masked(negative, Instruction::with2(LOAD.0, wide_s, wide_z));
        self.binary(XOR, t, y, Source::Constant(Constant::Sign));
        self.zero_register(face);
        self.masked(negative, Instruction::with2(LOAD.0, wide_face, one));
        // Along y.
        let negative = below(self, y, Some(along_y));
        self.masked(along_y, Instruction::with2(LOAD.0, wide_s, wide_x));
        self.masked(along_y, Instruction::with2(LOAD.0, wide_t, wide_z));
        self.masked(negative, Instruction::with3(XOR.0, wide_t, wide_z, sign));
        self.spread_bits(c, 2);
        self.masked(along_y, Instruction::with2(LOAD.0, wide_face, wide_c));
        self.masked(negative, Instruction::with3(ADD.0, wide_face, wide_c, one));
        // Along z.
        let negative = below(self, z, Some(along_z));
        self.masked(along_z, Instruction::with2(LOAD.0, wide_s, wide_x));
        self.masked(negative, Instruction::with3(XOR.0, wide_s, wide_x, sign));
        self.masked(along_z, Instruction::with3(XOR.0, wide_t, wide_y, sign));
        self.spread_bits(c, 4);
        self.masked(along_z, Instruction::with2(LOAD.0, wide_face, wide_c));
        self.masked(negative, Instruction::with3(ADD.0, wide_face, wide_c, one));
        for to in [s, t] {
            self.binary(F_DIV, to, to, Source::Host(major));
            self.with_float(F_MUL, to, to, 0.5);
            self.with_float(F_ADD, to, to, 0.5);
        }
        self.free(major);
        self.free(c);
        [face, s, t]
    }

    /// *Cube Map Derivative Transformation*, but for the signs: how fast the place on the face changes where
    /// the direction does so fast.
    pub(super) fn along_faces(&mut self, access: &SampleAccess, change: [u8; 3]) -> [u8; 2] {
        self.keep(|part| {
            let direction = [0, 1, 2].map(|k| part.read(access.at[k]));
            // What is across the face, and along it: of z, else of y, else of x.
            let [across, first, second, faster, along_first, along_second] =
                std::array::from_fn(|_| part.temporary());
            let [ax, ay, az] = [0, 1, 2].map(|k| {
                let to = [first, second, across][k];
                part.binary(AND, to, direction[k], Source::Constant(Constant::Magnitude));
                to
            });
            let [along_y, along_z] = part.major_axis([ax, ay, az]);
            let chosen =
                [(direction, [across, first, second]), (change, [faster, along_first, along_second])];
            for ([x, y, z], [across, first, second]) in chosen {
                part.choose(across, along_y, Source::Host(y), x);
                part.choose(across, along_z, Source::Host(z), across);
                part.choose(first, along_y, Source::Host(x), z);
                part.choose(first, along_z, Source::Host(x), first);
                part.choose(second, along_y, Source::Host(z), y);
                part.choose(second, along_z, Source::Host(y), second);
            }
            for (at, along) in [(first, along_first), (second, along_second)] {
                part.binary(F_MUL, along, across, Source::Host(along));
                part.binary(F_MUL, at, at, Source::Host(faster));
                part.binary(F_SUB, along, along, Source::Host(at));
            }
            part.binary(F_MUL, across, across, Source::Host(across));
            for along in [along_first, along_second] {
                part.binary(F_DIV, along, along, Source::Host(across));
                part.with_float(F_MUL, along, along, 0.5);
            }
            [along_first, along_second]
        })
    }

    /// Of lanes at a corner: a third of the weight of the texel that there is not, else 0; `value` is for its
    /// use.
    pub(super) fn thirds(&mut self, scale: &Scale<'_>, corner: u8, weights: [u8; 2], value: u8) -> [u8; 2] {
        let thirds = [self.temporary(), self.temporary()];
        let none = self.asm.label();
        thirds.iter().for_each(|third| self.zero_register(*third));
        let (any, corners) = (self.host_mask(), self.host(corner));
        let k = Register::K0 + u32::from(any);
        let ones = self.constant(Constant::Ones);
        let code = X86::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8;
        self.asm.put(Instruction::with4(code, k, corners, ones, I_NOT_EQUAL));
        self.asm.registers(X86::VEX_Kortestw_kr_kr, k, k);
        self.asm.branch(X86::Je_rel32_64, none);
        for number in 0..4 {
            self.weigh(scale, number, weights);
            self.spread_bits(value, number as u32);
            let [here, upper] = self.halves_where(corner, value);
            self.spread_double(value, 3.0);
            for ((third, weight), k) in thirds.into_iter().zip(weights).zip([here, upper]) {
                let [third, weight, three] = [third, weight, value].map(|k| self.host(k));
                self.masked(k, Instruction::with3(DIV_DOUBLES, third, weight, three));
            }
        }
        self.asm.bind(none);
        thirds
    }

    /// Masks of the lower and of the upper lanes where two registers are equal.
    fn halves_where(&mut self, x: u8, y: u8) -> [u8; 2] {
        let lower = self.compare(false, I_EQUAL, x, Source::Host(y));
        let upper = self.host_mask();
        let [k, l] = [lower, upper].map(|k| Register::K0 + u32::from(k));
        self.asm.put(Instruction::with3(X86::VEX_Kshiftrw_kr_kr_imm8, l, k, 8u32));
        [lower, upper]
    }

    /// Texel `number` gets its share of the one that there is not, which gets no weight; `t` is for its use.
    pub(super) fn spread_thirds(
        &mut self,
        number: usize,
        weights: [u8; 2],
        corner: u8,
        thirds: [u8; 2],
        t: u8,
    ) {
        self.spread_bits(t, number as u32);
        let halves = self.halves_where(corner, t);
        for ((weight, third), k) in weights.into_iter().zip(thirds).zip(halves) {
            self.double(ADD_DOUBLES, weight, weight, third);
            let wide = self.host(weight);
            self.masked(k, Instruction::with3(X86::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64, wide, wide, wide));
        }
    }
}
