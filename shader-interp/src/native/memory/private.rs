//! Private memory, which has a register for each word.

use super::*;

/// Where a component is whose offset is known when the code is made.
enum Known {
    /// Outside of its variable.
    Outside,
    /// In the word at this byte of the part's private memory, that many bits from its lowest one.
    At(u32, u32),
}

impl Access {
    fn known(&self, offset: u32) -> Known {
        let Space::Private { start, end } = self.space else { return Known::Outside };
        let at = (offset << self.shift).wrapping_add(self.immediate);
        match at >= start && at < end && end - at >= self.size {
            true => Known::At((at & !3) << 5, 8 * (at & 3)),
            false => Known::Outside,
        }
    }

    /// Whether it is outside of its variable, if the offset is one that is known when the code is made.
    pub(super) fn is_outside(&self, code: &Code) -> Option<bool> {
        let offset = code.constant(self.offset.into())?;
        Some(matches!(self.known(offset), Known::Outside))
    }
}

impl Part<'_> {
    /// Jumps if running lanes access private memory outside of their variable.
    pub fn unless_inside_variable(&mut self, access: &Access, other: Label) {
        let Space::Private { start, end } = access.space else { return };
        for part in 0..self.form.parts() {
            self.begin_line(part);
            self.begin_row(&[(access.offset, u32::MAX)].into_iter().collect());
            let running = self.condition(RUNNING_MASK);
            let (t, u, far) = (self.temporary(), self.temporary(), self.host_mask_but(running));
            self.scaled(access, t);
            self.add_immediate(t, u, access.immediate.wrapping_sub(start));
            self.general(X86::Mov_r32_imm32, (end - start).saturating_sub(access.size), Register::EAX);
            self.spread_general(u, Register::EAX);
            self.compare_under(running, far, t, u, I_MORE, false);
            self.if_any(far, other);
            self.end_row();
            self.end_line();
        }
    }

    /// Private memory, which has a register for each word: the place in it of the word of a component that
    /// all lanes are at, to RAX, and how many bits of it are before one of less than 4 bytes, to EDX; jumps
    /// where they are not.
    pub(super) fn private_word(
        &mut self,
        access: &Access,
        (t, u): (u8, u8),
        (running, k): (u8, u8),
        other: Label,
    ) {
        let Space::Private { start, end } = access.space else { return };
        if end.saturating_sub(start) < access.size {
            return self.jump(X86::Jmp_rel32_64, other);
        }
        self.unless_equal(t, u, running, k, other);
        self.first(t, 0, access.immediate);
        let before = MemoryOperand::with_base_displ(Register::RAX, -i64::from(start));
        self.asm.load(X86::Lea_r32_m, Register::EDX, before);
        self.general(X86::Cmp_rm32_imm32, end - start - access.size, Register::EDX);
        self.jump(X86::Ja_rel32_64, other);
        if access.size == 4 {
            self.general(X86::Test_rm32_imm32, 3, Register::EAX);
            self.jump(X86::Jne_rel32_64, other);
        } else {
            self.asm.registers(X86::Mov_r32_rm32, Register::EDX, Register::EAX);
            self.general(X86::And_rm32_imm32, 3, Register::EDX);
            self.general(X86::Shl_rm32_imm8, 3, Register::EDX);
            self.general(X86::And_rm32_imm32, !3, Register::EAX);
        }
        self.general(X86::Shl_rm64_imm8, 5, Register::RAX);
    }

    /// The lanes' own words of private memory: which lanes have one, in `k`, and where, in `t`; how many bits
    /// of it are before their component, in `u`.
    pub(super) fn private_words(&mut self, access: &Access, (t, u, v): (u8, u8, u8), k: u8) {
        let Space::Private { start, end } = access.space else { return };
        self.add_immediate(t, u, access.immediate);
        self.general(X86::Mov_r32_imm32, start, Register::EAX);
        self.spread_general(u, Register::EAX);
        self.binary(SUB, u, t, Source::Host(u));
        self.general(X86::Mov_r32_imm32, end - start - access.size, Register::EAX);
        self.spread_general(v, Register::EAX);
        self.compare_under(k, k, u, v, I_LESS_EQUAL, false);
        self.binary(AND, u, t, Source::Constant(Constant::Three));
        self.binary(SUB, t, t, Source::Host(u));
        self.by(SHL_BY, u, u, 3);
        self.by(SHL_BY, t, t, 5);
        self.binary(ADD, t, t, Source::Constant(Constant::Steps4));
    }

    /// Bytes of private memory before this part's.
    pub(super) fn private_part(&self) -> u32 {
        64 * self.part as u32
    }

    fn ones_of(&mut self, size: u32, to: u8) {
        self.general(X86::Mov_r32_imm32, u32::MAX >> (32 - 8 * size), Register::EAX);
        self.spread_general(to, Register::EAX);
    }

    /// The component of `access` in the words `r`, `bits` from their lowest one.
    fn cut(&mut self, access: &Access, r: u8, bits: u32) {
        if access.size < 4 || bits > 0 {
            let above = (32 - 8 * access.size).saturating_sub(bits);
            self.by(SHL_BY, r, r, above);
            self.by(SHR_BY, r, r, above + bits);
        }
    }

    /// `r` with the bits of `u` where `ones` has some: `r ^ ((r ^ u) & ones)`.
    fn merge(&mut self, r: u8, u: u8, ones: u8) {
        self.binary(XOR, u, u, Source::Host(r));
        self.binary(AND, u, u, Source::Host(ones));
        self.binary(XOR, r, r, Source::Host(u));
    }

    fn known_place(&mut self, word: u32) -> MemoryOperand {
        self.asm.load(X86::Mov_r64_rm64, HOST, field(state::PRIVATE));
        MemoryOperand::with_base_displ(HOST, i64::from(word) + i64::from(self.private_part()))
    }

    fn load_known(&mut self, access: &Access, known: Known) {
        let r = self.temporary();
        match known {
            Known::Outside => self.zero_register(r),
            Known::At(word, bits) => {
                let (place, result) = (self.known_place(word), self.host(r));
                self.asm.load(WHOLE, result, place);
                self.cut(access, r, bits);
            }
        }
        self.set(access.words[0], r);
    }

    fn store_known(&mut self, access: &Access, known: Known) {
        let Known::At(word, bits) = known else { return };
        let running = self.condition(RUNNING_MASK);
        let (u, v, r) = (self.temporary(), self.temporary(), self.temporary());
        let value = self.read(access.words[0]);
        let place = self.known_place(word);
        let (mut from, old) = (self.host(value), self.host(r));
        if access.size < 4 || bits > 0 {
            self.asm.load(WHOLE, old, place);
            self.ones_of(access.size, v);
            self.by(SHL_BY, v, v, bits);
            self.by(SHL_BY, u, value, bits);
            self.merge(r, u, v);
            from = old;
        }
        self.masked(running, Instruction::with2(KEEP, place, from));
    }

    pub(super) fn load_private(&mut self, access: &Access) {
        let Space::Private { start, end } = access.space else { return };
        if let Some(offset) = self.known(access.offset) {
            return self.load_known(access, access.known(offset));
        }
        let running = self.condition(RUNNING_MASK);
        let (t, u, v, r) = (self.temporary(), self.temporary(), self.temporary(), self.temporary());
        self.scaled(access, t);
        let k = self.host_mask_but(running);
        let (done, cut, other) = (self.asm.label(), self.asm.label(), self.asm.label());
        self.asm.load(X86::Mov_r64_rm64, HOST, field(state::PRIVATE));
        self.private_word(access, (t, u), (running, k), other);
        let result = self.host(r);
        let whole = at(self.private_part());
        self.asm.load(WHOLE, result, whole);
        if access.size < 4 {
            self.spread_general(u, Register::EDX);
            self.jump(X86::Jmp_rel32_64, cut);
        } else {
            self.jump(X86::Jmp_rel32_64, done);
        }
        self.asm.bind(other);
        self.zero_register(r);
        if end.saturating_sub(start) >= access.size {
            let running = Register::K0 + u32::from(running);
            self.asm.registers(X86::VEX_Kmovw_kr_km16, Register::K0 + u32::from(k), running);
            self.private_words(access, (t, u, v), k);
            let from = based(HOST, self.host(t), self.private_part());
            self.masked(k, Instruction::with2(X86::EVEX_Vpgatherdd_zmm_k1_vm32z, result, from));
        } else {
            self.zero_register(u);
        }
        self.asm.bind(cut);
        self.binary(SHR, r, r, Source::Host(u));
        self.ones_of(access.size, u);
        self.binary(AND, r, r, Source::Host(u));
        self.asm.bind(done);
        self.set(access.words[0], r);
    }

    pub(super) fn store_private(&mut self, access: &Access) {
        let Space::Private { start, end } = access.space else { return };
        if let Some(offset) = self.known(access.offset) {
            return self.store_known(access, access.known(offset));
        }
        let running = self.condition(RUNNING_MASK);
        let (t, u, v, r) = (self.temporary(), self.temporary(), self.temporary(), self.temporary());
        self.scaled(access, t);
        let value = self.read(access.words[0]);
        let (k, k2) = (self.host_mask_but(running), self.host_mask_but(running));
        let (done, other) = (self.asm.label(), self.asm.label());
        self.asm.load(X86::Mov_r64_rm64, HOST, field(state::PRIVATE));
        if access.size < 4 {
            self.ones_of(access.size, v);
        }
        self.private_word(access, (t, u), (running, k), other);
        let (whole, old) = (at(self.private_part()), self.host(r));
        let mut from = self.host(value);
        if access.size < 4 {
            self.asm.load(WHOLE, old, whole);
            self.spread_general(u, Register::EDX);
            self.binary(SHL, v, v, Source::Host(u));
            self.binary(SHL, u, value, Source::Host(u));
            self.merge(r, u, v);
            from = old;
        }
        self.masked(running, Instruction::with2(KEEP, whole, from));
        self.jump(X86::Jmp_rel32_64, done);
        self.asm.bind(other);
        if end.saturating_sub(start) >= access.size {
            let (mine, second) = (Register::K0 + u32::from(k), Register::K0 + u32::from(k2));
            self.asm.registers(X86::VEX_Kmovw_kr_km16, mine, Register::K0 + u32::from(running));
            self.private_words(access, (t, u, v), k);
            self.asm.registers(X86::VEX_Kmovw_kr_km16, second, mine);
            let place = based(HOST, self.host(t), self.private_part());
            self.zero_register(r);
            self.masked(k2, Instruction::with2(X86::EVEX_Vpgatherdd_zmm_k1_vm32z, old, place));
            // The other bits stay.
            self.ones_of(access.size, v);
            self.binary(SHL, v, v, Source::Host(u));
            self.binary(SHL, u, value, Source::Host(u));
            self.merge(r, u, v);
            self.masked(k, Instruction::with2(X86::EVEX_Vpscatterdd_vm32z_k1_zmm, place, old));
        }
        self.asm.bind(done);
    }
}
