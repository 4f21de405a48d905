//! Rows of mask registers.

use super::super::operation::{Form, Operation};
use super::super::registers::{Part, Source};
use crate::code::Inst;
use iced_x86::{Code as X86, Register};

impl Part<'_> {
    /// EAX becomes a part of a mask register.
    pub(super) fn mask_result(&mut self, mask: u16) {
        self.forget_mask(mask);
        let to = self.mask_file(mask);
        match self.form {
            Form::Avx2 => self.asm.store(X86::Mov_rm8_r8, to, Register::AL),
            Form::Avx512 => self.asm.store(X86::Mov_rm16_r16, to, Register::AX),
        }
    }

    pub(super) fn mask_pair(&mut self, inst: &Inst, (code, vectors): (X86, Operation)) {
        if self.form == Form::Avx2
            && let (Some(x), Some(y)) = (self.held_mask(inst.a.into()), self.held_mask(inst.b.into()))
        {
            let t = self.temporary();
            self.binary(vectors, t, x, Source::Host(y));
            return self.set_mask(inst.dst, t);
        }
        self.bits_of_mask(inst.a, Register::EAX);
        self.bits_of_mask(inst.b, Register::EDX);
        self.asm.registers(code, Register::EAX, Register::EDX);
        self.mask_result(inst.dst);
    }
}
