//! Loads and stores of words, for 8 lanes: of views and of workgroup memory, up to four words a lane.
//!
//! As for 16 lanes, but that conditions are vector registers; of several words a lane each is gathered. What
//! is not here ([`Access::is_narrow`]) are calls of the interpreter.

use super::*;

/// 8 words.
const WHOLE: X86 = X86::VEX_Vmovdqu_ymm_ymmm256;
const KEEP: X86 = X86::VEX_Vmovdqu_ymmm256_ymm;
const SPREAD: X86 = X86::VEX_Vpbroadcastd_ymm_xmmm32;

impl Access {
    /// Whether the access has an encoding for 8 lanes.
    pub(super) fn is_narrow(&self) -> bool {
        let shared = matches!(self.space, Space::View(_) | Space::Workgroup(_));
        let does = !matches!(self.does, Does::Modify(_));
        shared && does && !self.atomic && self.size == 4 && self.words.len() <= 4
    }
}

impl Part<'_> {
    pub(super) fn narrow_access(&mut self, access: &Access) {
        match access.does {
            Does::Store => self.narrow_store(access),
            _ => self.narrow_load(access),
        }
    }

    fn with_two(&mut self, code: X86, to: u8, a: u8, b: u8) {
        let (to, a, b) = (self.host(to), self.host(a), self.host(b));
        self.asm.put(Instruction::with3(code, to, a, b));
    }

    /// Jumps if the words of `k` are not all equal to the first where `condition` holds; `t` is for its use.
    fn narrow_unless_equal(&mut self, k: u8, t: u8, condition: u8, to: Label) {
        let (spread, first) = (self.host(t), self.low(k));
        self.asm.registers(SPREAD, spread, first);
        self.with_two(X86::VEX_Vpcmpeqd_ymm_ymm_ymmm256, t, t, k);
        self.with_two(X86::VEX_Vpandn_ymm_ymm_ymmm256, t, t, condition);
        self.asm.registers(X86::VEX_Vptest_ymm_ymmm256, spread, spread);
        self.jump(X86::Jne_rel32_64, to);
    }

    fn narrow_load(&mut self, access: &Access) {
        // What may make code of its own comes before the first jump.
        let running = self.condition(RUNNING_MASK);
        let (t, u) = (self.temporary(), self.temporary());
        let uniform = access.does == Does::LoadUniform;
        let known = self.offsets(access, t, |machine, x| {
            let offsets = machine.host(x);
            machine.asm.store(KEEP, field(state::OFFSETS), offsets);
        });
        let results: SmallVec<[u8; 8]> = access.words.iter().map(|_| self.temporary()).collect();
        let done = self.asm.label();
        self.locate(access);
        if uniform || known.is_some() {
            results.iter().for_each(|k| self.zero_register(*k));
            match known {
                Some(offset) => self.general(X86::Mov_r32_imm32, offset, Register::EAX),
                None => {
                    // That of the first active lane, if there is one.
                    self.bits(running, Register::EDI);
                    self.asm.registers(X86::Tzcnt_r32_rm32, Register::EDI, Register::EDI);
                    self.jump(X86::Jb_rel32_64, done);
                    self.asm.load(X86::Mov_r32_rm32, Register::EAX, lane(state::OFFSETS));
                    if access.shift > 0 {
                        self.general(X86::Shl_rm32_imm8, access.shift, Register::EAX);
                    }
                    if access.immediate > 0 {
                        self.general(X86::Add_rm32_imm32, access.immediate, Register::EAX);
                    }
                }
            }
            for (words, end) in access.components() {
                self.unless_inside(end, done);
                self.narrow_spread(end, results[words.start]);
            }
        } else {
            self.narrow_load_lanes(access, &results, (t, u), running, done);
        }
        self.asm.bind(done);
        for (register, k) in access.words.iter().zip(results) {
            self.set(*register, k);
        }
    }

    /// Loads the word that ends `end` bytes behind RAX for all lanes.
    fn narrow_spread(&mut self, end: u32, result: u8) {
        let to = self.host(result);
        self.asm.load(SPREAD, to, at(end - 4));
    }

    fn narrow_load_lanes(
        &mut self,
        access: &Access,
        results: &[u8],
        (t, u): (u8, u8),
        running: u8,
        done: Label,
    ) {
        let (other, general) = (self.asm.label(), self.asm.label());
        if let &[result] = results {
            self.binary(SUB, u, t, Source::Constant(Constant::Steps4));
            self.narrow_unless_equal(u, result, running, other);
            self.first(u, 0, access.immediate);
            self.unless_inside(32, general);
            let to = self.host(result);
            self.asm.load(WHOLE, to, at(0));
            self.jump(X86::Jmp_rel32_64, done);
            self.asm.bind(other);
        }
        self.narrow_unless_equal(t, u, running, general);
        self.first(t, 0, access.immediate);
        self.unless_inside(access.bytes(), general);
        for (words, end) in access.components() {
            self.narrow_spread(end, results[words.start]);
        }
        self.jump(X86::Jmp_rel32_64, done);
        self.asm.bind(general);
        results.iter().for_each(|k| self.zero_register(*k));
        self.add_immediate(t, u, access.immediate);
        // Indices are signed: from the middle of 4 GiB on.
        self.binary(XOR, t, t, Source::Constant(Constant::Sign));
        self.general(X86::Mov_r32_imm32, 1 << 31, Register::EAX);
        self.asm.registers(X86::Add_r64_rm64, HOST, Register::RAX);
        for (words, end) in access.components() {
            self.last_inside(end, done);
            self.asm.registers(X86::Add_r32_rm32, Register::EDX, Register::EAX);
            self.spread_general(u, Register::EDX);
            // The lanes that run and are in bounds.
            self.with_two(X86::VEX_Vpcmpgtd_ymm_ymm_ymmm256, u, t, u);
            self.with_two(X86::VEX_Vpandn_ymm_ymm_ymmm256, u, u, running);
            let (to, from, lanes) = (self.host(results[words.start]), self.host(t), self.host(u));
            let from = based(HOST, from, end - 4);
            self.asm.put(Instruction::with3(X86::VEX_Vpgatherdd_ymm_vm32y_ymm, to, from, lanes));
        }
    }

    fn narrow_store(&mut self, access: &Access) {
        let running = self.condition(RUNNING_MASK);
        let (t, u, v) = (self.temporary(), self.temporary(), self.temporary());
        self.scaled(access, t);
        let values: SmallVec<[u8; 8]> = access.words.iter().map(|register| self.read(*register)).collect();
        let (done, general) = (self.asm.label(), self.asm.label());
        self.locate(access);
        if let &[value] = &values[..] {
            let part = self.asm.label();
            self.binary(SUB, u, t, Source::Constant(Constant::Steps4));
            self.narrow_unless_equal(u, v, running, general);
            self.first(u, 0, access.immediate);
            self.unless_inside(32, general);
            self.bits(running, Register::EDX);
            self.general(X86::Cmp_rm32_imm32, 0xff, Register::EDX);
            self.jump(X86::Jne_rel32_64, part);
            let (lanes, value) = (self.host(running), self.host(value));
            self.asm.store(KEEP, at(0), value);
            self.jump(X86::Jmp_rel32_64, done);
            self.asm.bind(part);
            self.asm.put(Instruction::with3(X86::VEX_Vpmaskmovd_m256_ymm_ymm, at(0), lanes, value));
            self.jump(X86::Jmp_rel32_64, done);
            self.asm.bind(general);
        }
        self.add_immediate(t, u, access.immediate);
        let offsets = self.host(t);
        self.asm.store(KEEP, field(state::OFFSETS), offsets);
        for (words, end) in access.components() {
            self.last_inside(end, done);
            self.spread_general(u, Register::EDX);
            // The lanes that run and are in bounds.
            self.binary(U_MIN, u, u, Source::Host(t));
            self.with_two(X86::VEX_Vpcmpeqd_ymm_ymm_ymmm256, u, u, t);
            self.with_two(X86::VEX_Vpand_ymm_ymm_ymmm256, u, u, running);
            let value = self.host(values[words.start]);
            self.asm.store(KEEP, field(state::VALUES), value);
            self.each_lane(u, |part| {
                part.asm.load(X86::Mov_r32_rm32, Register::EAX, lane(state::OFFSETS));
                part.asm.load(X86::Mov_r32_rm32, Register::EDX, lane(state::VALUES));
                part.asm.store(X86::Mov_rm32_r32, at(end - 4), Register::EDX);
            });
        }
        self.asm.bind(done);
    }
}
