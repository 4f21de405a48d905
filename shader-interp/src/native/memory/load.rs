//! Loads of lanes.

use super::super::assembler::Label;
use super::super::operation::{Constant, JOIN, LOAD, SHL_BY, SHR, SHR_BY, SUB, U_MIN, UPPER, XOR};
use super::super::registers::{Part, RUNNING_MASK, Source};
use super::super::state;
use super::{
    AHEAD, Access, Does, HALF, HALVES, HOST, I_LESS_EQUAL, I_MORE, I_NOT_EQUAL, KEEP, PERMUTE, SIZE, WHOLE,
    Words, at, based, field, lane,
};
use iced_x86::{Code as X86, Instruction, Register};
use smallvec::SmallVec;

/// Bytes of eight words.
pub(super) const ROW: u32 = 32;

impl Access {
    /// The same of words of 32 bits, if components of fewer make up one, two or four.
    fn of_words(&self) -> Option<Access> {
        let count = match self.bytes() {
            _ if self.size >= 4 || self.atomic || self.words.len() == 1 => return None,
            bytes @ (4 | 8 | 16) => bytes as u16 / 4,
            _ => return None,
        };
        let words: Words = (0..count).collect();
        Some(Access { size: 4, words, value: None, comparator: None, ..*self })
    }
}

/// Lanes that load.
#[derive(Clone, Copy)]
struct Loading<'a> {
    access: &'a Access,
    results: &'a [u8],
    /// Offsets, and what is for its use.
    t: u8,
    u: u8,
    /// The condition of lanes that load, and one for its use.
    running: u8,
    k: u8,
}

impl Part<'_> {
    /// Loads a component of all lanes from RAX on, `end` bytes from there.
    fn load_spread(&mut self, size: u32, end: u32, results: &[u8]) {
        for (n, result) in results.iter().enumerate() {
            let (from, to) = (at(end - size + 4 * n as u32), self.host(*result));
            let narrow = match size {
                1 => X86::Movzx_r32_rm8,
                2 => X86::Movzx_r32_rm16,
                _ => {
                    self.asm.load(X86::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, to, from);
                    continue;
                }
            };
            self.asm.load(narrow, Register::EDX, from);
            self.asm.registers(X86::EVEX_Vpbroadcastd_zmm_k1z_r32, to, Register::EDX);
        }
    }

    pub(super) fn load(&mut self, access: &Access) {
        // What may make code of its own comes before the first jump.
        let running = self.condition(RUNNING_MASK);
        let (t, u) = (self.temporary(), self.temporary());
        let uniform = access.does == Does::LoadUniform;
        let known = self.offsets(access, t, |machine, x| {
            let (to, from) = (machine.host(u), machine.host(x));
            let first = Instruction::with2(X86::EVEX_Vpcompressd_zmmm512_k1z_zmm, to, from);
            machine.masked_zero(running, first);
        });
        let results: SmallVec<[u8; 8]> = access.words.iter().map(|_| self.temporary()).collect();
        let k = self.host_mask_but(running);
        let done = self.asm.label();
        self.locate(access);
        if uniform || known.is_some() {
            match known {
                Some(offset) => self.general(X86::Mov_r32_imm32, offset, Register::EAX),
                None => self.first(u, access.shift, access.immediate),
            }
            results.iter().for_each(|k| self.zero_register(*k));
            for (words, end) in access.components() {
                self.unless_inside(end, done);
                self.load_spread(access.size, end, &results[words]);
            }
        } else {
            self.load_lanes(access, &results, (t, u), (running, k), done);
        }
        self.asm.bind(done);
        for (register, k) in access.words.iter().zip(results) {
            self.set(*register, k);
        }
    }

    /// The lanes where the first condition holds load from the offsets in `t`; other lanes hold anything
    /// then. Jumps to `done` or ends. `u` and the second condition are for its use.
    pub(in crate::native) fn load_lanes(
        &mut self,
        access: &Access,
        results: &[u8],
        (t, u): (u8, u8),
        (running, k): (u8, u8),
        done: Label,
    ) {
        let all = Loading { access, results, t, u, running, k };
        let Some(of_words) = access.of_words() else { return self.load_together(all, None, done) };
        let (loaded, beyond) = (self.asm.label(), self.asm.label());
        let words = &results[..of_words.words.len()];
        self.load_together(Loading { access: &of_words, results: words, ..all }, Some(beyond), loaded);
        self.asm.bind(loaded);
        // The last ones first: no word is overwritten that has parts still.
        let (bits, parts) = (8 * access.size, 4 / access.size as usize);
        for k in (0..results.len()).rev() {
            let part = (k % parts) as u32;
            self.by(SHL_BY, results[k], words[k / parts], 32 - bits * (part + 1));
            self.by(SHR_BY, results[k], results[k], 32 - bits);
        }
        self.jump(X86::Jmp_rel32_64, done);
        self.asm.bind(beyond);
        self.load_apart(all, done);
    }

    /// Lanes that follow one another, or are at one place, together. Jumps to `beyond`, if that is given,
    /// where an access is not in bounds as a whole.
    fn load_together(&mut self, all: Loading<'_>, beyond: Option<Label>, done: Label) {
        let Loading { access, results, t, u, running, k } = all;
        let (other, general) = (self.asm.label(), self.asm.label());
        if let Some(steps) = access.stride() {
            self.binary(SUB, u, t, Source::Constant(steps));
            self.unless_equal(u, results[0], running, k, other);
            self.first(u, 0, access.immediate);
            self.unless_inside(16 * access.bytes(), general);
            if !access.is_near() {
                self.asm.put(Instruction::with1(X86::Prefetcht0_m8, at(AHEAD)));
            }
            self.load_block(access, results, t, u);
            self.jump(X86::Jmp_rel32_64, done);
            self.asm.bind(other);
            if access.is_word() {
                self.load_rows(all, done);
            }
        }
        self.unless_equal(t, u, running, k, general);
        self.first(t, 0, access.immediate);
        self.unless_inside(access.bytes(), general);
        for (words, end) in access.components() {
            self.load_spread(access.size, end, &results[words]);
        }
        self.jump(X86::Jmp_rel32_64, done);
        self.asm.bind(general);
        if let Some(beyond) = beyond {
            self.unless_all_inside(all, beyond);
        }
        self.load_apart(all, done);
    }

    /// Jumps if some lane's access is not in bounds as a whole.
    fn unless_all_inside(&mut self, all: Loading<'_>, beyond: Label) {
        let Loading { access, t, u, running, k, .. } = all;
        let end = access.immediate.saturating_add(access.bytes());
        if end > i32::MAX as u32 {
            return self.jump(X86::Jmp_rel32_64, beyond);
        }
        self.last_inside(end, beyond);
        self.spread_general(u, Register::EDX);
        self.compare_under(running, k, t, u, I_MORE, false);
        self.if_any(k, beyond);
    }

    /// Each lane from its own place.
    fn load_apart(&mut self, all: Loading<'_>, done: Label) {
        let Loading { access, results, t, u, .. } = all;
        results.iter().for_each(|k| self.zero_register(*k));
        self.add_immediate(t, u, access.immediate);
        if access.atomic {
            self.load_each(all, done);
        } else if access.size < 4 {
            self.gather_parts(all, done);
        } else {
            self.gather(all, done);
        }
    }

    /// Two rows of eight consecutive lanes, as those of workgroups that are eight invocations wide, of which
    /// `u` has the offsets less the distances of lanes; goes on behind this where they are none, or not in
    /// bounds.
    fn load_rows(&mut self, all: Loading<'_>, done: Label) {
        let Loading { access, results, u, running, k, .. } = all;
        let (none, result) = (self.asm.label(), results[0]);
        let [wide, half, first] = [self.host(result), self.half_register(result), self.half_register(u)];
        self.unless_rows(u, result, (running, k), none);
        self.first(result, 0, access.immediate);
        self.unless_inside(ROW, none);
        self.asm.load(HALF, half, at(0));
        self.upper_row(u, access.immediate);
        self.unless_inside(ROW, none);
        self.asm.load(HALF, first, at(0));
        self.asm.put(Instruction::with4(JOIN, wide, wide, first, 1u32));
        self.jump(X86::Jmp_rel32_64, done);
        self.asm.bind(none);
    }

    /// Jumps if the words of `u` are not equal in each half where the first condition holds; `to` has them
    /// then.
    pub(super) fn unless_rows(&mut self, u: u8, to: u8, (running, k): (u8, u8), none: Label) {
        let [low, upper] = [self.low(u), self.low(to)];
        let [wide, half_of_to, source] = [self.host(to), self.half_register(to), self.host(u)];
        // The first word of the upper half, eight times, above that of the lower one.
        self.asm.put(Instruction::with3(UPPER, half_of_to, source, 1u32));
        self.asm.registers(X86::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, wide, upper);
        let rest = self.host_mask_but(running);
        let lower = Register::K0 + u32::from(rest);
        self.general(X86::Mov_r32_imm32, 0xff, Register::EDX);
        self.asm.registers(X86::VEX_Kmovw_kr_r32, lower, Register::EDX);
        self.masked(rest, Instruction::with2(X86::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, wide, low));
        self.compare_under(running, k, u, to, I_NOT_EQUAL, true);
        self.if_any(k, none);
    }

    /// RAX is where the first lane of the upper half accesses a word, of which `u` has the offset less the
    /// distance of the lane from the first one; changes `u`.
    pub(super) fn upper_row(&mut self, u: u8, immediate: u32) {
        let [half, source] = [self.half_register(u), self.host(u)];
        self.asm.put(Instruction::with3(UPPER, half, source, 1u32));
        self.first(u, 0, immediate.wrapping_add(ROW));
    }

    /// Consecutive lanes, from RAX on, all in bounds.
    fn load_block(&mut self, access: &Access, results: &[u8], t: u8, u: u8) {
        let first = self.host(results[0]);
        match (access.size, results) {
            (1, _) => self.asm.load(X86::EVEX_Vpmovzxbd_zmm_k1z_xmmm128, first, at(0)),
            (2, _) => self.asm.load(X86::EVEX_Vpmovzxwd_zmm_k1z_ymmm256, first, at(0)),
            (_, [_]) => self.asm.load(WHOLE, first, at(0)),
            (_, [low, high]) => {
                for (to, lanes) in [(low, Constant::Even), (high, Constant::Odd)] {
                    self.asm.load(WHOLE, self.host(*to), at(0));
                    self.unary(LOAD, u, Source::Constant(lanes));
                    let (to, lanes) = (self.host(*to), self.host(u));
                    self.asm.put(Instruction::with3(PERMUTE, to, lanes, at(64)));
                }
            }
            (_, [a, b, c, d]) => {
                // Two of the four words of eight lanes each, then of all lanes.
                for (x, y, z, lanes) in [(a, b, t, Constant::Fourths01), (c, d, t, Constant::Fourths23)] {
                    self.unary(LOAD, u, Source::Constant(lanes));
                    let (x, y, z, lanes) = (self.host(*x), self.host(*y), self.host(z), self.host(u));
                    self.asm.load(WHOLE, y, at(0));
                    self.asm.put(Instruction::with3(PERMUTE, y, lanes, at(64)));
                    self.asm.load(WHOLE, z, at(128));
                    self.asm.put(Instruction::with3(PERMUTE, z, lanes, at(192)));
                    self.asm.put(Instruction::with4(HALVES, x, y, z, 0x44u32));
                    self.asm.put(Instruction::with4(HALVES, y, y, z, 0xeeu32));
                }
            }
            _ => {}
        }
    }

    fn gather(&mut self, all: Loading<'_>, done: Label) {
        let Loading { access, results, t, u, running, k } = all;
        // Indices are signed: from the middle of 4 GiB on.
        self.binary(XOR, t, t, Source::Constant(Constant::Sign));
        self.general(X86::Mov_r32_imm32, 1 << 31, Register::EAX);
        self.asm.registers(X86::Add_r64_rm64, HOST, Register::RAX);
        for (words, end) in access.components() {
            self.last_inside(end, done);
            self.asm.registers(X86::Add_r32_rm32, Register::EDX, Register::EAX);
            self.spread_general(u, Register::EDX);
            for (n, word) in words.enumerate() {
                self.compare_under(running, k, t, u, I_LESS_EQUAL, true);
                let (from, to) = (self.host(t), self.host(results[word]));
                let from = based(HOST, from, end - access.size + 4 * n as u32);
                self.masked(k, Instruction::with2(X86::EVEX_Vpgatherdd_zmm_k1_vm32z, to, from));
            }
        }
    }

    /// Components of less than a word, out of the word from their first byte on, or out of the last one.
    fn gather_parts(&mut self, all: Loading<'_>, done: Label) {
        let Loading { access, results, t, u, running, k } = all;
        let (small, bits) = (self.asm.label(), 8 * access.size);
        self.asm.put(Instruction::with2(X86::Cmp_rm64_imm8, SIZE, 4));
        self.jump(X86::Jb_rel32_64, small);
        for (words, end) in access.components() {
            let (to, start) = (results[words.start], end - access.size);
            // The next result's register, and behind the last one that of the offsets.
            let word = results.get(words.end).copied().unwrap_or(t);
            self.last_inside(end, done);
            self.spread_general(u, Register::EDX);
            self.compare_under(running, k, t, u, I_LESS_EQUAL, false);
            self.last_inside(4, done);
            self.spread_general(to, Register::EDX);
            self.unary(LOAD, u, Source::Host(t));
            self.add_immediate(u, word, start);
            self.binary(U_MIN, to, to, Source::Host(u));
            self.binary(SUB, u, u, Source::Host(to));
            self.by(SHL_BY, u, u, 3);
            // Indices are signed: from the middle of 4 GiB on.
            self.binary(XOR, to, to, Source::Constant(Constant::Sign));
            self.general(X86::Mov_r32_imm32, 1 << 31, Register::EAX);
            self.asm.registers(X86::Add_r64_rm64, Register::RAX, HOST);
            self.zero_register(word);
            let (from, loaded) = (based(Register::RAX, self.host(to), 0), self.host(word));
            self.masked(k, Instruction::with2(X86::EVEX_Vpgatherdd_zmm_k1_vm32z, loaded, from));
            self.binary(SHR, to, word, Source::Host(u));
            self.by(SHL_BY, to, to, 32 - bits);
            self.by(SHR_BY, to, to, 32 - bits);
        }
        self.jump(X86::Jmp_rel32_64, done);
        self.asm.bind(small);
        self.load_each(all, done);
    }

    /// Loads of active lanes, one after the other.
    fn load_each(&mut self, all: Loading<'_>, done: Label) {
        let Loading { access, results, t, u, running, k } = all;
        let offsets = self.host(t);
        self.asm.store(KEEP, field(state::OFFSETS), offsets);
        for (words, end) in access.components() {
            self.last_inside(end, done);
            self.spread_general(u, Register::EDX);
            self.compare_under(running, k, t, u, I_LESS_EQUAL, false);
            let result = self.host(results[words.start]);
            self.asm.store(KEEP, field(state::RESULTS), result);
            self.each_lane(k, |part| {
                let load = match access.size {
                    1 => X86::Movzx_r32_rm8,
                    2 => X86::Movzx_r32_rm16,
                    _ => X86::Mov_r32_rm32,
                };
                part.asm.load(X86::Mov_r32_rm32, Register::EAX, lane(state::OFFSETS));
                part.asm.load(load, Register::EDX, at(end - access.size));
                part.asm.store(X86::Mov_rm32_r32, lane(state::RESULTS), Register::EDX);
            });
            self.asm.load(WHOLE, result, field(state::RESULTS));
        }
    }
}
