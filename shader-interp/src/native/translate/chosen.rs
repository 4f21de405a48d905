//! Image operations whose lanes choose among an array of descriptors: those that have chosen the same one run
//! together, in the order of their first lanes.

use super::*;
use crate::native::image::Choice;
use crate::native::operation::I_EQUAL;
use crate::native::registers::{BYTES, VECTORS};
use crate::ops::image::raster::Raster;

impl Translator<'_> {
    /// The operation of `row`, which is a line of its own; jumps to `other`, where it runs for all lanes, if
    /// one of them has chosen what the code was not made for.
    pub(super) fn chosen(&mut self, choice: Choice, image: &ImageAccess, row: usize, other: Label) {
        let [look, again, back, done] = std::array::from_fn(|_| self.asm().label());
        self.part.choice = Some(choice);
        self.asm().store(X86::Mov_rm32_r32, field(state::CHOOSES), RUNNING);
        // First all that have been chosen are looked at: what has run once must not run again.
        self.asm().bind(look);
        self.next_chosen(choice);
        let asm = self.asm();
        asm.put(Instruction::with1(X86::Not_rm32, Register::EAX));
        asm.registers(X86::And_r32_rm32, RUNNING, Register::EAX);
        self.find_chosen(choice, Some(back));
        self.part.unless_kind(image, back);
        let asm = self.asm();
        asm.registers(X86::Test_rm32_r32, RUNNING, RUNNING);
        asm.branch(X86::Jne_rel32_64, look);
        asm.load(X86::Mov_r32_rm32, RUNNING, field(state::CHOOSES));
        asm.bind(again);
        asm.store(X86::Mov_rm32_r32, field(state::WAITS), RUNNING);
        self.next_chosen(choice);
        self.asm().registers(X86::And_r32_rm32, RUNNING, Register::EAX);
        self.find_chosen(choice, None);
        self.each_part(row..row + 1, None, Some(image));
        self.part.choice = None;
        let asm = self.asm();
        asm.registers(X86::Mov_r32_rm32, Register::EAX, RUNNING);
        asm.load(X86::Mov_r32_rm32, RUNNING, field(state::WAITS));
        asm.registers(X86::Xor_r32_rm32, RUNNING, Register::EAX);
        asm.branch(X86::Jne_rel32_64, again);
        asm.load(X86::Mov_r32_rm32, RUNNING, field(state::CHOOSES));
        asm.branch(X86::Jmp_rel32_64, done);
        asm.bind(back);
        asm.load(X86::Mov_r32_rm32, RUNNING, field(state::CHOOSES));
        asm.branch(X86::Jmp_rel32_64, other);
        asm.bind(done);
    }

    /// The element that the first of the running lanes has chosen, to EDX, and the lanes that have the same
    /// one, running or not, to EAX.
    fn next_chosen(&mut self, choice: Choice) {
        let (left, right) = (Register::K1, Register::K2);
        let asm = self.asm();
        asm.registers(X86::Bsf_r32_rm32, Register::EAX, RUNNING);
        let at = i64::from(choice.register) * BYTES;
        let element = MemoryOperand::with_base_index_scale_displ_size(VECTORS, Register::RAX, 4, at, 1);
        asm.load(X86::Mov_r32_rm32, Register::EDX, element);
        asm.registers(X86::EVEX_Vpbroadcastd_zmm_k1z_r32, Register::ZMM0, Register::EDX);
        for (k, half) in [(left, 0), (right, BYTES / 2)] {
            let lanes = MemoryOperand::with_base_displ(VECTORS, at + half);
            let code = X86::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
            asm.put(Instruction::with4(code, k, Register::ZMM0, lanes, I_EQUAL));
        }
        asm.put(Instruction::with3(X86::VEX_Kunpckwd_kr_kr_kr, left, right, left));
        asm.registers(X86::VEX_Kmovd_r32_kr, Register::EAX, left);
    }

    /// The raster of the element in EDX becomes the chosen one; jumps to `back` if there is no such element.
    fn find_chosen(&mut self, choice: Choice, back: Option<Label>) {
        let bytes = size_of::<Raster<'_>>();
        let of_slot = |field: usize| {
            MemoryOperand::with_base_displ(Register::RAX, (choice.slot * bytes + field) as i64)
        };
        let asm = self.asm();
        asm.load(X86::Mov_r64_rm64, Register::RAX, field(state::RASTERS));
        if let Some(back) = back {
            asm.load(X86::Cmp_r32_rm32, Register::EDX, of_slot(Raster::EXTENT));
            asm.branch(X86::Jae_rel32_64, back);
        }
        asm.load(X86::Add_r32_rm32, Register::EDX, of_slot(Raster::START));
        asm.put(Instruction::with3(X86::Imul_r64_rm64_imm32, Register::RDX, Register::RDX, bytes as i32));
        asm.registers(X86::Add_r64_rm64, Register::RDX, Register::RAX);
        asm.store(X86::Mov_rm64_r64, field(state::CHOSEN), Register::RDX);
    }
}
