//! Transcendental functions of 16 lanes: the steps of [`crate::math::single`], in its order and with its
//! constants, so that the bits are the same.

use super::bits::PATTERNS;
use super::*;
use crate::math::format;
use crate::math::pack::BYTE_PARTS;
use crate::math::single::exponential::constants as c;
use crate::math::single::trigonometric as t;
use crate::ops::image::kind::Filter;
use crate::ops::image::level::MAX_LOD_BIAS;
use iced_x86::{IcedError, MemoryOperand};
use smallvec::{SmallVec, smallvec};
use std::sync::OnceLock;

/// What becomes of a logarithm by the kind of its operand: NaN, signalling NaN, 0, 1, -infinity, infinity,
/// below 0, above 0, four bits each. 0 leaves it, 1 takes the operand, 4 is -infinity.
const ZERO_AND_INFINITY: u32 = 0x0010_0400;
/// 1 - 2^-50.
pub(super) const BELOW_ONE: f64 = 1.0 - 1.0 / (1u64 << 50) as f64;

/// Single words of constants, which instructions spread to all lanes: doubles first.
const DOUBLES: [f64; 11] = [
    t::TWO_OVER_PI,
    t::PI_HALVES[0],
    t::PI_HALVES[1],
    t::PI_HALVES[2],
    t::SHIFT,
    1.0,
    f64::NAN,
    BELOW_ONE,
    f64::INFINITY,
    f64::NEG_INFINITY,
    3.0,
];

/// These, and then the constants of the functions that are computed with doubles: their bits.
fn doubles() -> &'static [u64] {
    static ALL: OnceLock<Vec<u64>> = OnceLock::new();
    ALL.get_or_init(|| DOUBLES.into_iter().map(f64::to_bits).chain(super::graph::constants()).collect())
}

fn words() -> impl Iterator<Item = u32> {
    let floats = [
        &[0.0, 0.5, 1.0, f32::INFINITY, f32::NEG_INFINITY, c::SHIFT, c::LOG2_E, c::LN_2_NEAR, t::LIMIT][..],
        &[c::NORMAL, c::UP, c::UP_BITS, 2.0, 3.0, MAX_LOD_BIAS, -MAX_LOD_BIAS],
        &c::LN_2,
        &c::LOG2_E_PARTS,
        &c::EXP_RANGE,
        &c::EXP2_RANGE,
        &c::EXP,
        &c::EXP2,
        &c::LOG,
        &t::SINE,
        &t::COSINE,
    ];
    let parts = BYTE_PARTS.map(f32::to_bits);
    let bits = [c::SQRT_HALF, c::FRACTION, c::HIGH_BITS, 2, ZERO_AND_INFINITY, Filter::AWAY];
    floats.into_iter().flatten().map(|x| x.to_bits()).chain(bits).chain(PATTERNS).chain(parts)
}

/// The constants of functions, behind [`Constant::table`]; the linear values of bytes in sRGB are the last.
pub fn table() -> Vec<u8> {
    let doubles = doubles().iter().flat_map(|word| word.to_le_bytes());
    let linear = format::srgb_bytes().iter().map(|x| x.to_bits());
    doubles.chain(words().chain(linear).flat_map(u32::to_le_bytes)).collect()
}

/// An instruction whose last operand is one word of memory for all lanes.
pub(super) fn spread(instruction: Result<Instruction, IcedError>) -> Result<Instruction, IcedError> {
    instruction.map(|mut instruction| {
        instruction.set_is_broadcast(true);
        instruction
    })
}

fn behind_constants(bytes: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RIP, Constant::END + bytes as i64)
}

impl Part<'_> {
    /// Where a word stands; one that is missing makes code that cannot be encoded.
    fn place_of(&mut self, word: u32) -> MemoryOperand {
        let index = words().position(|other| other == word);
        if index.is_none() {
            self.asm.put(Ok(Instruction::default()));
        }
        behind_constants(8 * doubles().len() + 4 * index.unwrap_or(0))
    }

    /// `to = operation(a, word)`.
    pub(in crate::native) fn with_word(&mut self, operation: Operation, to: u8, a: u8, word: u32) {
        let place = self.place_of(word);
        let (code, to, a) = (self.instruction(operation), self.host(to), self.host(a));
        self.asm.put(spread(Instruction::with3(code, to, a, place)));
    }

    pub(in crate::native) fn with_float(&mut self, operation: Operation, to: u8, a: u8, number: f32) {
        self.with_word(operation, to, a, number.to_bits());
    }

    /// `to = number` in all lanes.
    pub(in crate::native) fn spread_float(&mut self, to: u8, number: f32) {
        self.spread_word(to, number.to_bits());
    }

    pub(in crate::native) fn spread_word(&mut self, to: u8, word: u32) {
        let place = self.place_of(word);
        let to = self.host(to);
        self.asm.load(X86::EVEX_Vbroadcastss_zmm_k1z_xmmm32, to, place);
    }

    /// `to = to * y` and `to = to + y`, or another operation.
    fn by_register(&mut self, operation: Operation, to: u8, y: u8) {
        self.binary(operation, to, to, Source::Host(y));
    }

    /// The linear values of bytes in sRGB, which are in `to`; `t` is for its use.
    pub(in crate::native) fn linear_of_srgb(&mut self, to: u8, t: u8) {
        let (all, linear) = (self.host_mask(), self.host(t));
        let k = Register::K0 + u32::from(all);
        self.asm.put(Instruction::with3(X86::VEX_Kxnorw_kr_kr_kr, k, k, k));
        let table = behind_constants(8 * doubles().len() + 4 * words().count());
        self.asm.load(X86::Lea_r64_m, Register::RDX, table);
        let from = MemoryOperand::with_base_index_scale(Register::RDX, self.host(to), 4);
        self.masked(all, Instruction::with2(X86::EVEX_Vpgatherdd_zmm_k1_vm32z, linear, from));
        self.unary(LOAD, to, Source::Host(t));
    }

    /// `to = number` in eight lanes.
    pub(in crate::native) fn spread_double(&mut self, to: u8, number: f64) {
        self.spread_double_bits(to, number.to_bits());
    }

    /// The same, of the number that has these bits.
    pub(super) fn spread_double_bits(&mut self, to: u8, word: u64) {
        let (to, place) = (self.host(to), self.place_of_double(word));
        self.asm.load(X86::EVEX_Vbroadcastsd_zmm_k1z_xmmm64, to, place);
    }

    /// Where a double stands; one that is missing makes code that cannot be encoded.
    pub(super) fn place_of_double(&mut self, word: u64) -> MemoryOperand {
        let index = doubles().iter().position(|other| *other == word);
        if index.is_none() {
            self.asm.put(Ok(Instruction::default()));
        }
        behind_constants(8 * index.unwrap_or(0))
    }

    fn compare_float(&mut self, predicate: u32, x: u8, number: f32) -> u8 {
        let (k, place) = (self.host_mask(), self.place_of(number.to_bits()));
        let (code, x) = (self.instruction(F_COMPARE), self.host(x));
        self.asm.put(spread(Instruction::with4(code, Register::K0 + u32::from(k), x, place, predicate)));
        k
    }

    /// Estrin's scheme with the powers x, x^2, x^4 and so on, in one of the `free` registers, or a new one.
    fn estrin(&mut self, powers: &[u8], coefficients: &[f32], free: &mut SmallVec<[u8; 4]>) -> u8 {
        let half = coefficients.len().next_power_of_two() / 2;
        let power = powers.get(half.trailing_zeros() as usize).copied().unwrap_or(0);
        match *coefficients {
            [] => 0,
            [first, second] => {
                let to = free.pop().unwrap_or_else(|| self.temporary());
                self.with_float(F_MUL, to, power, second);
                self.with_float(F_ADD, to, to, first);
                to
            }
            [only] => {
                let to = free.pop().unwrap_or_else(|| self.temporary());
                self.spread_float(to, only);
                to
            }
            _ => {
                let (low, high) = coefficients.split_at(half);
                let (low, high) = (self.estrin(powers, low, free), self.estrin(powers, high, free));
                self.by_register(F_MUL, high, power);
                self.by_register(F_ADD, low, high);
                free.push(high);
                low
            }
        }
    }

    /// `x` within a range, in a new register; and a free one.
    fn within(&mut self, x: u8, [low, high]: [f32; 2]) -> (u8, u8) {
        let (t, u) = (self.temporary(), self.temporary());
        self.spread_float(t, high);
        self.by_register(F_MIN, t, x);
        self.spread_float(u, low);
        self.binary(F_MAX, u, u, Source::Host(t));
        (u, t)
    }

    /// `x 2^n` of the integers in `n`.
    fn scale(&mut self, x: u8, n: u8) {
        let [x, n] = [x, n].map(|k| self.host(k));
        self.asm.put(Instruction::with3(X86::EVEX_Vscalefps_zmm_k1z_zmm_zmmm512b32_er, x, x, n));
    }

    pub(super) fn exp(&mut self, inst: &Inst) {
        let x = self.read(inst.a);
        let ((r, free), n, z, z2) =
            (self.within(x, c::EXP_RANGE), self.temporary(), self.temporary(), self.temporary());
        self.with_float(F_MUL, n, r, c::LOG2_E);
        self.with_float(F_ADD, n, n, c::SHIFT);
        self.with_float(F_SUB, n, n, c::SHIFT);
        for part in c::LN_2 {
            self.with_float(F_MUL, z, n, part);
            self.by_register(F_SUB, r, z);
        }
        self.binary(F_MUL, z, r, Source::Host(r));
        self.binary(F_MUL, z2, z, Source::Host(z));
        let u = self.estrin(&[r, z, z2], &c::EXP, &mut smallvec![free]);
        self.by_register(F_MUL, u, z);
        self.power(inst.dst, r, u, n, [z, z2]);
    }

    /// `1 + first + rest` times `2^n`, to the result.
    fn power(&mut self, to: u16, first: u8, rest: u8, n: u8, [sum, lost]: [u8; 2]) {
        self.with_float(F_ADD, sum, first, 1.0);
        self.with_float(F_SUB, lost, sum, 1.0);
        self.by_register(F_SUB, first, lost);
        self.by_register(F_ADD, rest, first);
        self.by_register(F_ADD, sum, rest);
        self.scale(sum, n);
        self.canonical(to, sum);
    }

    pub(super) fn exp2(&mut self, inst: &Inst) {
        let x = self.read(inst.a);
        let ((r, free), n, z, z2) =
            (self.within(x, c::EXP2_RANGE), self.temporary(), self.temporary(), self.temporary());
        self.with_float(F_ADD, n, r, c::SHIFT);
        self.with_float(F_SUB, n, n, c::SHIFT);
        self.by_register(F_SUB, r, n);
        self.binary(F_MUL, z, r, Source::Host(r));
        self.binary(F_MUL, z2, z, Source::Host(z));
        let u = self.estrin(&[r, z, z2], &c::EXP2, &mut smallvec![free]);
        self.by_register(F_MUL, u, z);
        self.with_float(F_MUL, r, r, c::LN_2_NEAR);
        self.power(inst.dst, r, u, n, [z, z2]);
    }

    /// The exponent, the fraction, and the rest of the logarithm, of `x`; and a free register.
    fn parts_of_log(&mut self, x: u8) -> (u8, u8, u8, u8) {
        let (f, k, z, z2) = (self.temporary(), self.temporary(), self.temporary(), self.temporary());
        let small = self.compare_float(LESS, x, c::NORMAL);
        self.with_float(F_MUL, f, x, c::UP);
        self.choose(f, small, Source::Host(f), x);
        self.with_word(SUB, f, f, c::SQRT_HALF);
        self.by(SAR_BY, k, f, 23);
        self.unary(F_FROM_S, k, Source::Host(k));
        self.with_float(F_SUB, z, k, c::UP_BITS);
        self.choose(k, small, Source::Host(z), k);
        self.with_word(AND, f, f, c::FRACTION);
        self.with_word(ADD, f, f, c::SQRT_HALF);
        self.with_float(F_SUB, f, f, 1.0);
        self.binary(F_MUL, z, f, Source::Host(f));
        self.binary(F_MUL, z2, z, Source::Host(z));
        let p = self.estrin(&[f, z, z2], &c::LOG, &mut SmallVec::new());
        self.by_register(F_MUL, p, f);
        self.with_float(F_SUB, p, p, 0.5);
        self.by_register(F_MUL, p, z);
        (k, f, p, z)
    }

    /// The logarithm `r` of `x`, right at the edges.
    fn edges(&mut self, x: u8, r: u8, t: u8) -> u8 {
        let inside = self.compare_float(GREATER_EQUAL, x, 0.0);
        self.spread_word(t, ZERO_AND_INFINITY);
        let [result, operand, table] = [r, x, t].map(|k| self.host(k));
        let code = X86::EVEX_Vfixupimmps_zmm_k1z_zmm_zmmm512b32_imm8_sae;
        self.asm.put(Instruction::with4(code, result, operand, table, 0u32));
        self.unary(LOAD, t, Source::Constant(Constant::Nan));
        self.choose(r, inside, Source::Host(r), t);
        r
    }

    pub(super) fn log(&mut self, inst: &Inst) {
        let x = self.read(inst.a);
        let (k, f, p, t) = self.parts_of_log(x);
        self.with_float(F_MUL, t, k, c::LN_2[1]);
        self.by_register(F_ADD, p, t);
        self.by_register(F_ADD, p, f);
        self.with_float(F_MUL, t, k, c::LN_2[0]);
        self.by_register(F_ADD, p, t);
        let log = self.edges(x, p, t);
        self.set(inst.dst, log);
    }

    pub(super) fn log2(&mut self, inst: &Inst) {
        let x = self.read(inst.a);
        let log = self.log2_of(x);
        self.set(inst.dst, log);
    }

    /// The logarithm of `x` to base 2.
    pub(in crate::native) fn log2_of(&mut self, x: u8) -> u8 {
        let (k, f, p, high) = self.parts_of_log(x);
        self.binary(F_ADD, high, f, Source::Host(p));
        self.with_word(AND, high, high, c::HIGH_BITS);
        self.by_register(F_SUB, f, high);
        self.by_register(F_ADD, p, f);
        // f is low + high now, and p low.
        self.binary(F_ADD, f, p, Source::Host(high));
        let [first, second] = c::LOG2_E_PARTS;
        self.with_float(F_MUL, f, f, second);
        self.with_float(F_MUL, p, p, first);
        self.by_register(F_ADD, f, p);
        self.with_float(F_MUL, high, high, first);
        self.by_register(F_ADD, f, high);
        self.by_register(F_ADD, f, k);
        self.edges(x, f, p)
    }

    /// `to = operation(a, double)` in eight lanes.
    fn with_double(&mut self, code: X86, to: u8, a: u8, index: usize) {
        let [to, a] = [to, a].map(|k| self.host(k));
        self.asm.put(spread(Instruction::with3(code, to, a, behind_constants(8 * index))));
    }

    /// Reduces the angles of eight lanes, which are the lower half of `x`: the nearest floats, the rest, and
    /// the quadrants, to the lower halves of three registers; two more are needed.
    fn reduce(&mut self, x: u8, [near, rest, n]: [u8; 3], d: u8, m: u8) {
        let (mul, sub) =
            (X86::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er, X86::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er);
        let add = X86::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er;
        let (widen, narrow) =
            (X86::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae, X86::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er);
        let [half_x, half_near, half_rest, half_n] = [x, near, rest, n].map(|k| self.half_register(k));
        let [wide_d, wide_m, wide_n, wide_rest] = [d, m, n, rest].map(|k| self.host(k));
        self.asm.registers(widen, wide_d, half_x);
        self.with_double(mul, n, d, 0);
        self.with_double(add, n, n, 4);
        self.with_double(sub, n, n, 4);
        for part in 1..4 {
            self.with_double(mul, m, n, part);
            self.asm.put(Instruction::with3(sub, wide_d, wide_d, wide_m));
        }
        self.asm.registers(X86::EVEX_Vcvtpd2dq_ymm_k1z_zmmm512b64_er, half_n, wide_n);
        self.asm.registers(narrow, half_near, wide_d);
        self.asm.registers(widen, wide_rest, half_near);
        self.asm.put(Instruction::with3(sub, wide_d, wide_d, wide_rest));
        self.asm.registers(narrow, half_rest, wide_d);
    }

    /// The sine, or the cosine.
    pub(super) fn circle(&mut self, inst: &Inst, cosine: bool) {
        let x = self.read(inst.a);
        let [t, near, rest, n, d, m, u, v] = std::array::from_fn(|_| self.temporary());
        self.binary(AND, t, x, Source::Constant(Constant::Magnitude));
        let beyond = self.compare_float(MORE_THAN, t, t::LIMIT);
        self.with_float(F_MUL, t, x, 0.0);
        self.choose(t, beyond, Source::Host(t), x);
        self.reduce(t, [near, rest, n], d, m);
        let [wide_t, half_t] = [self.host(t), self.half_register(t)];
        self.asm.put(Instruction::with3(UPPER, half_t, wide_t, 1u32));
        let upper = [u, v, t];
        // The upper half's quadrants go where its angles were, which are read first.
        self.reduce(t, upper, d, m);
        for (lower, upper) in [near, rest, n].into_iter().zip(upper) {
            let (to, from) = (self.host(lower), self.half_register(upper));
            self.asm.put(Instruction::with4(JOIN, to, to, from, 1u32));
        }
        let z = t;
        self.binary(F_MUL, z, near, Source::Host(near));
        // Cosines: the most, what it has lost, and the smaller terms.
        let (z2, mut free) = (v, smallvec![d, m]);
        self.binary(F_MUL, z2, z, Source::Host(z));
        let cosines = self.estrin(&[z, z2], &t::COSINE, &mut free);
        let sines = self.estrin(&[z, z2], &t::SINE, &mut free);
        self.by_register(F_MUL, cosines, z2);
        let (u, m, d) = (cosines, u, free.pop().unwrap_or(d));
        self.binary(F_MUL, v, near, Source::Host(rest));
        self.by_register(F_SUB, u, v);
        let most = m;
        self.with_float(F_MUL, v, z, 0.5);
        self.spread_float(most, 1.0);
        self.binary(F_SUB, d, most, Source::Host(v));
        self.by_register(F_SUB, most, d);
        self.by_register(F_SUB, most, v);
        self.by_register(F_ADD, u, most);
        let most = d;
        // Sines.
        let v = sines;
        self.by_register(F_MUL, z, near);
        self.by_register(F_MUL, v, z);
        self.by_register(F_ADD, v, rest);
        let odd = self.host_mask();
        let one = self.constant(Constant::One);
        let (quadrants, k) = (self.host(n), Register::K0 + u32::from(odd));
        self.asm.put(Instruction::with3(X86::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, k, quadrants, one));
        if cosine {
            self.choose(near, odd, Source::Host(near), most);
            self.choose(v, odd, Source::Host(v), u);
            // One quadrant on: the sign changes with the second and the third.
            self.binary(AND, u, n, Source::Constant(Constant::One));
            self.by_register(ADD, n, u);
        } else {
            self.choose(near, odd, Source::Host(most), near);
            self.choose(v, odd, Source::Host(u), v);
        }
        self.by_register(F_ADD, v, near);
        // The magnitude of v, the sign of near, and the other sign in the lower half of the circle.
        self.binary(AND, v, v, Source::Constant(Constant::Magnitude));
        self.binary(AND, near, near, Source::Constant(Constant::Sign));
        self.with_word(AND, n, n, 2);
        self.by(SHL_BY, n, n, 30);
        self.by_register(XOR, near, n);
        self.by_register(OR, v, near);
        self.canonical(inst.dst, v);
    }
}
