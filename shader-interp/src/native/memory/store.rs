//! Stores of lanes.

use super::super::assembler::Label;
use super::super::operation::{Constant, LOAD, SUB, UPPER};
use super::super::registers::{Part, RUNNING_MASK, Source};
use super::super::state;
use super::load::ROW;
use super::{Access, I_LESS_EQUAL, KEEP, KEEP_HALF, PERMUTE, PERMUTE_PAIRS, SIZE, at, field, lane};
use iced_x86::{Code as X86, Instruction, Register};
use smallvec::SmallVec;

/// 16 words at an address that is a multiple of their size, past the caches.
const STREAM: X86 = X86::EVEX_Vmovntdq_m512_zmm;

impl Part<'_> {
    pub(super) fn store(&mut self, access: &Access) {
        let running = self.condition(RUNNING_MASK);
        let (t, u, v, w) = (self.temporary(), self.temporary(), self.temporary(), self.temporary());
        self.scaled(access, t);
        let values: SmallVec<[u8; 8]> = access.words.iter().map(|register| self.read(*register)).collect();
        let k = self.host_mask_but(running);
        self.locate(access);
        self.store_lanes(access, &values, [t, u, v, w], (running, k));
    }

    /// The lanes where the first condition holds store to the offsets in the first register. The others, and
    /// the second condition, are for its use.
    pub(in crate::native) fn store_lanes(
        &mut self,
        access: &Access,
        values: &[u8],
        [t, u, v, w]: [u8; 4],
        (running, k): (u8, u8),
    ) {
        let (done, general, other) = (self.asm.label(), self.asm.label(), self.asm.label());
        if let Some(steps) = access.stride() {
            self.binary(SUB, u, t, Source::Constant(steps));
            let apart = if access.is_word() { other } else { general };
            self.unless_equal(u, v, running, k, apart);
            self.first(u, 0, access.immediate);
            self.unless_inside(16 * access.bytes(), general);
            let part = self.asm.label();
            let all = Register::K0 + u32::from(running);
            self.asm.registers(X86::VEX_Kortestw_kr_kr, all, all);
            let single = access.size == 4 && values.len() == 1;
            self.jump(X86::Jae_rel32_64, if single { part } else { general });
            let stored = self.asm.label();
            if self.code.streams() && access.size == 4 && !access.is_near() {
                let keeps = self.asm.label();
                self.asm.load(X86::Cmp_r64_rm64, SIZE, field(state::STREAMS));
                self.asm.branch(X86::Jb_rel32_64, keeps);
                self.asm.load(X86::Lea_r64_m, Register::RDX, at(0));
                self.asm.put(Instruction::with2(X86::Test_rm32_imm32, Register::EDX, 63));
                self.asm.branch(X86::Jne_rel32_64, keeps);
                self.store_block(access, values, [u, v, w], STREAM);
                self.asm.branch(X86::Jmp_rel32_64, stored);
                self.asm.bind(keeps);
            }
            self.store_block(access, values, [u, v, w], KEEP);
            self.asm.bind(stored);
            if single {
                self.jump(X86::Jmp_rel32_64, done);
                self.asm.bind(part);
                let instruction = Instruction::with2(KEEP, at(0), self.host(values[0]));
                self.masked(running, instruction);
            }
            self.jump(X86::Jmp_rel32_64, done);
            if access.is_word() {
                self.asm.bind(other);
                self.store_rows(access, values[0], [u, v], (running, k), (general, done));
            }
            self.asm.bind(general);
        }
        self.add_immediate(t, u, access.immediate);
        let offsets = self.host(t);
        self.asm.store(KEEP, field(state::OFFSETS), offsets);
        for (words, end) in access.components() {
            self.last_inside(end, done);
            self.spread_general(u, Register::EDX);
            self.compare_under(running, k, t, u, I_LESS_EQUAL, false);
            for (n, word) in words.enumerate() {
                let value = self.host(values[word]);
                self.asm.store(KEEP, field(state::VALUES), value);
                self.each_lane(k, |part| {
                    part.asm.load(X86::Mov_r32_rm32, Register::EAX, lane(state::OFFSETS));
                    part.asm.load(X86::Mov_r32_rm32, Register::EDX, lane(state::VALUES));
                    let (code, from) = match access.size {
                        1 => (X86::Mov_rm8_r8, Register::DL),
                        2 => (X86::Mov_rm16_r16, Register::DX),
                        _ => (X86::Mov_rm32_r32, Register::EDX),
                    };
                    part.asm.store(code, at(end - access.size + 4 * n as u32), from);
                });
            }
        }
        self.asm.bind(done);
    }

    /// Two rows of eight consecutive lanes, all of them, as [`Part::load_rows`] has them.
    fn store_rows(
        &mut self,
        access: &Access,
        value: u8,
        [u, v]: [u8; 2],
        (running, k): (u8, u8),
        (none, done): (Label, Label),
    ) {
        let all = Register::K0 + u32::from(running);
        self.asm.registers(X86::VEX_Kortestw_kr_kr, all, all);
        self.jump(X86::Jae_rel32_64, none);
        self.unless_rows(u, v, (running, k), none);
        let [wide, half, kept] = [self.host(value), self.half_register(value), self.half_register(v)];
        // Both rows are in bounds before the first one is stored.
        self.asm.registers(LOAD.0, self.host(v), self.host(u));
        self.upper_row(v, access.immediate);
        self.unless_inside(ROW, none);
        self.first(u, 0, access.immediate);
        self.unless_inside(ROW, none);
        self.asm.store(KEEP_HALF, at(0), half);
        self.first(v, 0, access.immediate.wrapping_add(ROW));
        self.asm.put(Instruction::with3(UPPER, kept, wide, 1u32));
        self.asm.store(KEEP_HALF, at(0), kept);
        self.jump(X86::Jmp_rel32_64, done);
    }

    /// Consecutive lanes, all of them, from RAX on; words by this instruction.
    fn store_block(&mut self, access: &Access, values: &[u8], [u, v, w]: [u8; 3], keep: X86) {
        let first = self.host(values[0]);
        let narrow = Register::YMM0 + u32::from(v);
        match (access.size, values) {
            (1, _) => self.asm.store(X86::EVEX_Vpmovdb_xmmm128_k1z_zmm, at(0), first),
            (2, _) => {
                self.asm.registers(X86::EVEX_Vpmovdw_ymmm256_k1z_zmm, narrow, first);
                self.asm.store(X86::EVEX_Vmovdqu32_ymmm256_k1z_ymm, at(0), narrow);
            }
            (_, [_]) => self.asm.store(keep, at(0), first),
            (_, [low, high]) => {
                for (n, lanes) in [Constant::PairsLow, Constant::PairsHigh].into_iter().enumerate() {
                    self.interleave(v, *low, *high, (PERMUTE, lanes), u);
                    self.asm.store(keep, at(64 * n as u32), self.host(v));
                }
            }
            (_, [a, b, c, d]) => {
                for (n, half) in [Constant::PairsLow, Constant::PairsHigh].into_iter().enumerate() {
                    for (m, quarter) in [Constant::QuadsLow, Constant::QuadsHigh].into_iter().enumerate() {
                        self.interleave(v, *a, *b, (PERMUTE, half), u);
                        self.interleave(w, *c, *d, (PERMUTE, half), u);
                        self.interleave(v, v, w, (PERMUTE_PAIRS, quarter), u);
                        self.asm.store(keep, at(128 * n as u32 + 64 * m as u32), self.host(v));
                    }
                }
            }
            _ => {}
        }
    }

    /// `to` has words of `x` and `y` by the numbers of `lanes`, which `u` holds then.
    fn interleave(&mut self, to: u8, x: u8, y: u8, (code, lanes): (X86, Constant), u: u8) {
        if to != x {
            self.unary(LOAD, to, Source::Host(x));
        }
        self.unary(LOAD, u, Source::Constant(lanes));
        let (to, lanes, y) = (self.host(to), self.host(u), self.host(y));
        self.asm.put(Instruction::with3(code, to, lanes, y));
    }
}
