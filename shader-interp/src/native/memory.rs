//! Accesses to memory: for 16 lanes loads, stores and read-modify-writes of views, of workgroup memory and
//! of private memory; for 8 lanes the most usual loads and stores ([`narrow`]).
//!
//! Lanes that follow one another in memory are served by whole vectors, lanes that are all at one place by
//! one load; which of them it is, the code finds out each time. Other loads are gathered, other stores done
//! lane by lane in ascending order, and so are read-modify-writes, with locked instructions where other
//! threads may reach the bytes. What is out of bounds reads zero and writes nothing. The rule of
//! `pellucid_memory::raw` says why these are accesses that others may race with.
//!
//! Accesses keep their order within a part of the lanes; the first part is ahead of the second within a line,
//! which no barrier is in: different invocations have no order there.

mod load;
pub(super) mod modify;
mod narrow;
mod private;
mod store;

use super::assembler::Label;
use super::operation::*;
use super::registers::{Part, RUNNING_MASK, STATE, Source, VIEWS};
use super::state;
use crate::code::{Code, Inst, Opcode, Space};
use iced_x86::{Code as X86, Instruction, MemoryOperand, Register};
use pellucid_memory::access::{AtomicOp, Reference};
use pellucid_memory::system::MemoryView;
use smallvec::SmallVec;

/// The first byte that an access may go to, and how many there are.
pub(super) const HOST: Register = Register::R8;
pub(super) const SIZE: Register = Register::R9;

/// Vector registers.
type Words = SmallVec<[u16; 8]>;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Load,
    /// One load for all lanes: of the first active lane.
    LoadUniform,
    Store,
    Modify(AtomicOp),
}

/// An access that has an encoding.
pub(super) struct Access {
    does: Does,
    space: Space,
    offset: u16,
    shift: u32,
    immediate: u32,
    /// Bytes of a component.
    size: u32,
    /// Each component's accesses have to be single ones.
    atomic: bool,
    /// Results of loads and read-modify-writes, values of stores; of 8 bytes low words, then high words.
    words: Words,
    /// Operands of read-modify-writes.
    value: Option<u16>,
    comparator: Option<u16>,
    /// Its number in the program's table.
    number: usize,
}

impl Access {
    /// The access that `inst` makes, if it has an encoding in this form.
    pub fn encoded(code: &Code, inst: &Inst, form: Form) -> bool {
        Access::of(code, inst).is_some_and(|access| form == Form::Avx512 || access.is_narrow())
    }

    /// Whether `inst` accesses private memory, and not outside of its variable in all lanes.
    pub fn is_of_private(code: &Code, inst: &Inst) -> bool {
        let known = || Access::of(code, inst).is_some_and(|access| access.is_outside(code) != Some(true));
        matches!(inst.op, Opcode::LoadPrivate | Opcode::StorePrivate) && known()
    }

    /// Whether the code has to ask first where its lanes access: it may be something that only the
    /// interpreter does. In modelled code it tells of accesses outside of private variables.
    pub fn asks(&self, code: &Code) -> bool {
        let private = matches!(self.space, Space::Private { .. });
        self.is_physical() || code.modelled && private && self.is_outside(code).is_none()
    }

    /// The access that `inst` makes, if it has an encoding for 16 lanes.
    pub fn of(code: &Code, inst: &Inst) -> Option<Access> {
        use Opcode::*;
        let (does, count) = match inst.op {
            LoadView | LoadWorkgroup | LoadPrivate => (Does::Load, 1),
            LoadView2 | LoadWorkgroup2 => (Does::Load, 2),
            LoadView3 | LoadWorkgroup3 => (Does::Load, 3),
            LoadView4 | LoadWorkgroup4 => (Does::Load, 4),
            LoadViewUniform => (Does::LoadUniform, 1),
            StoreView | StoreWorkgroup | StorePrivate => (Does::Store, 1),
            Load | LoadUniform | Store | Atomic => return Access::of_entry(code, inst),
            _ => return None,
        };
        let (space, size) = match inst.op {
            LoadPrivate | StorePrivate => {
                let entry = code.memory.get(inst.aux as usize)?;
                (entry.space, entry.access.size.min(4).into())
            }
            LoadView | LoadView2 | LoadView3 | LoadView4 | LoadViewUniform | StoreView => {
                (Space::View(inst.b), 4)
            }
            _ => (Space::Workgroup(Reference(0)), 4),
        };
        Some(Access {
            does,
            space,
            offset: inst.a,
            shift: u32::from(inst.c) & 31,
            immediate: inst.imm,
            size,
            atomic: false,
            words: (inst.dst..inst.dst + count).collect(),
            value: None,
            comparator: None,
            number: 0,
        })
    }

    /// An access to texels of so many bytes: 1, 2, 4, 8 or 16.
    pub fn of_texels(bytes: u32) -> Access {
        Access {
            does: Does::Load,
            space: Space::View(0),
            offset: 0,
            shift: 0,
            immediate: 0,
            size: bytes.min(4),
            atomic: false,
            words: (0..bytes.div_ceil(4) as u16).collect(),
            value: None,
            comparator: None,
            number: 0,
        }
    }

    fn of_entry(code: &Code, inst: &Inst) -> Option<Access> {
        let entry = code.memory.get(inst.imm as usize)?;
        let access = &entry.access;
        let (size, components) = (u32::from(access.size), u16::from(access.components));
        let register = |register: &u32| *register as u16;
        let results = |count: u16| (entry.result as u16..entry.result as u16 + count).collect();
        let atomic = access.atomic.is_some();
        let words = components * if size == 8 { 2 } else { 1 };
        let (does, words): (_, Words) = match inst.op {
            Opcode::Load => (Does::Load, results(words)),
            Opcode::LoadUniform => (Does::LoadUniform, results(words)),
            Opcode::Store => (Does::Store, entry.values.iter().map(register).collect()),
            _ => match entry.atomic? {
                op if op.is_float() => return None,
                op => (Does::Modify(op), results(1)),
            },
        };
        let modifies = matches!(does, Does::Modify(_));
        let plain = match entry.space {
            Space::View(_) | Space::Workgroup(_) => true,
            // What is added fits into the host's instructions.
            Space::Physical => entry.shift == 0 && entry.immediate < 1 << 30,
            _ => false,
        };
        if !plain || words.len() > 8 || (atomic || modifies) && (size != 4 || words.len() != 1) {
            return None;
        }
        Some(Access {
            does,
            space: entry.space,
            offset: entry.offset as u16,
            shift: entry.shift & 31,
            immediate: entry.immediate,
            size,
            atomic,
            words,
            value: modifies.then(|| entry.values.first().map(register)).flatten(),
            comparator: modifies.then(|| entry.comparator.first().map(register)).flatten(),
            number: inst.imm as usize,
        })
    }

    /// Calls `each` with the vector registers: whether it is read, whether it is written.
    pub fn registers(&self, mut each: impl FnMut(u16, bool, bool)) {
        each(self.offset, true, false);
        if self.is_physical() {
            each(self.offset + 1, true, false);
        }
        self.value.into_iter().chain(self.comparator).for_each(|register| each(register, true, false));
        let stores = self.does == Does::Store;
        self.words.iter().for_each(|register| each(*register, stores, !stores));
    }

    /// Whether it, which is that of `inst`, only loads, and nobody may wait for what it loads.
    pub fn only_loads(&self, code: &Code, inst: &Inst) -> bool {
        let listed = matches!(inst.op, Opcode::Load | Opcode::LoadUniform);
        let entry = code.memory.get(if listed { inst.imm as usize } else { inst.aux as usize });
        let awaited = |access: &pellucid_memory::access::Access| {
            access.volatile || access.visible.is_some() && !self.is_near()
        };
        let loads = matches!(self.does, Does::Load | Does::LoadUniform) && !self.atomic;
        loads && entry.is_some_and(|entry| !awaited(&entry.access))
    }

    /// Whether each lane accesses one word.
    fn is_word(&self) -> bool {
        self.size == 4 && self.words.len() == 1 && !self.atomic
    }

    /// Whether its memory is in the caches.
    fn is_near(&self) -> bool {
        matches!(self.space, Space::Workgroup(_) | Space::Private { .. })
    }

    /// Whether it is by physical addresses: in a line of its own, which [`Part::unless_reached`] begins.
    pub fn is_physical(&self) -> bool {
        self.space == Space::Physical
    }

    /// Bytes of all components.
    fn bytes(&self) -> u32 {
        match self.size {
            8 => 4 * self.words.len() as u32,
            size => size * self.words.len() as u32,
        }
    }

    /// The words of each component, and what the offset behind it is, in bytes.
    fn components(&self) -> impl Iterator<Item = (std::ops::Range<usize>, u32)> + use<> {
        let (size, words) = (self.size, if self.size == 8 { 2 } else { 1 });
        (0..self.words.len() / words).map(move |k| (k * words..(k + 1) * words, (k as u32 + 1) * size))
    }

    /// The distance of lanes that one vector serves together, if such there are.
    fn stride(&self) -> Option<Constant> {
        let steps = match (self.size, self.words.len()) {
            _ if self.atomic => return None,
            (1, 1) => Constant::Steps1,
            (2, 1) => Constant::Steps2,
            (4, 1) => Constant::Steps4,
            (4 | 8, 2) => Constant::Steps8,
            (4 | 8, 4) => Constant::Steps16,
            _ => return None,
        };
        Some(steps)
    }
}

/// A word so far behind RAX, in every lane.
pub(super) fn spread_at(displacement: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ_bcst_seg(Register::RAX, displacement as i64, true, Register::None)
}

/// Memory at `HOST` plus RAX.
fn at(displacement: u32) -> MemoryOperand {
    based(HOST, Register::RAX, displacement)
}

fn based(base: Register, index: Register, displacement: u32) -> MemoryOperand {
    MemoryOperand::with_base_index_scale_displ_size(base, index, 1, displacement.into(), 1)
}

/// The word of the lane whose number is in RDI.
fn lane(field: usize) -> MemoryOperand {
    MemoryOperand::with_base_index_scale_displ_size(STATE, Register::RDI, 4, field as i64, 1)
}

fn field(offset: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(STATE, offset as i64)
}

impl Part<'_> {
    /// The lanes of this part load, store or modify.
    pub fn access(&mut self, access: &Access) {
        if self.form == Form::Avx2 {
            return self.narrow_access(access);
        }
        match (access.space, access.does) {
            (Space::Private { .. }, Does::Store) => self.store_private(access),
            (Space::Private { .. }, _) => self.load_private(access),
            (_, Does::Load | Does::LoadUniform) => self.load(access),
            (_, Does::Store) => self.store(access),
            (_, Does::Modify(op)) => self.modify(access, op),
        }
    }

    /// The low part of a host register.
    fn low(&self, k: u8) -> Register {
        Register::XMM0 + u32::from(k)
    }

    pub(super) fn masked(&mut self, condition: u8, instruction: Result<Instruction, iced_x86::IcedError>) {
        self.asm.put(instruction.map(|mut instruction| {
            instruction.set_op_mask(Register::K0 + u32::from(condition));
            instruction
        }));
    }

    pub(super) fn masked_zero(
        &mut self,
        condition: u8,
        instruction: Result<Instruction, iced_x86::IcedError>,
    ) {
        let zeroing = instruction.map(|mut instruction| {
            instruction.set_zeroing_masking(true);
            instruction
        });
        self.masked(condition, zeroing);
    }

    pub(super) fn general(&mut self, code: X86, number: u32, to: Register) {
        self.asm.immediate(code, to, number as i32);
    }

    /// A field of the buffer that an access by physical addresses was to last; RAX is where all are.
    fn reached(&mut self, access: &Access, of: usize) -> usize {
        self.asm.load(X86::Mov_r64_rm64, Register::RAX, field(state::REACHED));
        access.number * size_of::<MemoryView<'_>>() + of
    }

    /// Jumps if not all running lanes of an access by physical addresses are in the buffer where they were
    /// last.
    pub fn unless_reached(&mut self, access: &Access, other: Label) {
        let registers = [access.offset, access.offset + 1];
        for part in 0..self.form.parts() {
            self.begin_line(part);
            self.begin_row(&registers.into_iter().map(|register| (register, u32::MAX)).collect());
            let running = self.condition(RUNNING_MASK);
            let [low, high] = registers.map(|register| self.read(register));
            let (t, u) = (self.temporary(), self.temporary());
            let (borrow, far) = (self.host_mask_but(running), self.host_mask_but(running));
            let address = self.reached(access, MemoryView::ADDRESS);
            let word = |k: usize| spread_at(address + k * size_of::<u32>());
            let [wide_t, wide_u, wide_low, wide_high] = [t, u, low, high].map(|k| self.host(k));
            let less = X86::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
            self.asm.put(Instruction::with3(SUB.0, wide_t, wide_low, word(0)));
            let to = Register::K0 + u32::from(borrow);
            self.masked(running, Instruction::with4(less, to, wide_low, word(0), I_LESS));
            self.asm.put(Instruction::with3(SUB.0, wide_u, wide_high, word(1)));
            let ones = self.constant(Constant::Ones);
            self.masked(borrow, Instruction::with3(ADD.0, wide_u, wide_u, ones));
            let to = Register::K0 + u32::from(far);
            let set = X86::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32;
            self.masked(running, Instruction::with3(set, to, wide_u, wide_u));
            self.if_any(far, other);
            self.locate(access);
            self.last_inside(access.immediate + access.bytes(), other);
            self.spread_general(u, Register::EDX);
            self.compare_under(running, far, t, u, I_MORE, false);
            self.if_any(far, other);
            self.end_row();
            self.end_line();
        }
    }

    /// The access's memory, to `HOST` and `SIZE`.
    fn locate(&mut self, access: &Access) {
        let (base, start) = match access.space {
            Space::View(slot) => (VIEWS, usize::from(slot) * size_of::<MemoryView<'_>>()),
            Space::Physical => (Register::RAX, self.reached(access, 0)),
            _ => {
                self.asm.load(X86::Mov_r64_rm64, Register::RAX, field(state::WORKGROUP));
                (Register::RAX, 0)
            }
        };
        let of = |field: usize| MemoryOperand::with_base_displ(base, (start + field) as i64);
        self.asm.load(X86::Mov_r64_rm64, HOST, of(MemoryView::HOST));
        self.asm.load(X86::Mov_r64_rm64, SIZE, of(MemoryView::SIZE));
    }

    /// RAX is `immediate` behind the word of the first lane of `k`.
    fn first(&mut self, k: u8, shift: u32, immediate: u32) {
        let from = self.low(k);
        let code = match self.form {
            Form::Avx2 => X86::VEX_Vmovd_rm32_xmm,
            Form::Avx512 => X86::EVEX_Vmovd_rm32_xmm,
        };
        self.asm.registers(code, Register::EAX, from);
        if shift > 0 {
            self.general(X86::Shl_rm32_imm8, shift, Register::EAX);
        }
        if immediate > 0 {
            self.general(X86::Add_rm32_imm32, immediate, Register::EAX);
        }
    }

    pub(super) fn spread_general(&mut self, to: u8, from: Register) {
        let (to, low) = (self.host(to), self.low(to));
        match self.form {
            Form::Avx2 => {
                self.asm.registers(X86::VEX_Vmovd_xmm_rm32, low, from);
                self.asm.registers(X86::VEX_Vpbroadcastd_ymm_xmmm32, to, low);
            }
            Form::Avx512 => self.asm.registers(X86::EVEX_Vpbroadcastd_zmm_k1z_r32, to, from),
        }
    }

    /// The offsets of the lanes.
    fn add_immediate(&mut self, offsets: u8, t: u8, immediate: u32) {
        if immediate > 0 {
            self.general(X86::Mov_r32_imm32, immediate, Register::EAX);
            self.spread_general(t, Register::EAX);
            self.binary(ADD, offsets, offsets, Source::Host(t));
        }
    }

    pub(super) fn zero_register(&mut self, k: u8) {
        self.binary(XOR, k, k, Source::Host(k));
    }

    /// Jumps if a condition holds in any lane.
    pub(super) fn if_any(&mut self, condition: u8, to: Label) {
        let k = Register::K0 + u32::from(condition);
        self.asm.registers(X86::VEX_Kortestw_kr_kr, k, k);
        self.jump(X86::Jne_rel32_64, to);
    }

    fn jump(&mut self, code: X86, to: Label) {
        self.asm.branch(code, to);
    }

    /// Jumps where the bytes from RAX on are not all in bounds.
    fn unless_inside(&mut self, bytes: u32, to: Label) {
        let end = MemoryOperand::with_base_displ(Register::RAX, bytes.into());
        self.asm.load(X86::Lea_r64_m, Register::RDX, end);
        self.asm.registers(X86::Cmp_r64_rm64, Register::RDX, SIZE);
        self.jump(X86::Ja_rel32_64, to);
    }

    /// The last offset of something in bounds, to EDX; jumps if there is none.
    fn last_inside(&mut self, bytes: u32, none: Label) {
        self.asm.registers(X86::Mov_r64_rm64, Register::RDX, SIZE);
        self.general(X86::Sub_rm64_imm32, bytes, Register::RDX);
        self.jump(X86::Jb_rel32_64, none);
    }

    /// Jumps if the words of `k` are not all equal to the first, which `t` holds then, where `condition`
    /// holds.
    fn unless_equal(&mut self, k: u8, t: u8, condition: u8, differs: u8, to: Label) {
        let (spread, first) = (self.host(t), self.low(k));
        self.asm.registers(X86::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, spread, first);
        self.compare_under(condition, differs, k, t, I_NOT_EQUAL, true);
        self.if_any(differs, to);
    }

    pub(super) fn compare_under(
        &mut self,
        condition: u8,
        to: u8,
        x: u8,
        y: u8,
        predicate: u32,
        signed: bool,
    ) {
        let code = match signed {
            true => X86::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
            false => X86::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
        };
        let to = Register::K0 + u32::from(to);
        let instruction = Instruction::with4(code, to, self.host(x), self.host(y), predicate);
        self.masked(condition, instruction);
    }

    /// Offsets times the access's power of two, in `t`, of which nothing else knows.
    fn scaled(&mut self, access: &Access, t: u8) {
        let x = self.read(access.offset);
        if access.is_physical() {
            let address = spread_at(self.reached(access, MemoryView::ADDRESS));
            let (to, low) = (self.host(t), self.host(x));
            return self.asm.put(Instruction::with3(SUB.0, to, low, address));
        }
        match access.shift {
            0 => self.unary(LOAD, t, Source::Host(x)),
            shift => self.by(SHL_BY, t, x, shift),
        }
    }

    /// The offset of a load, if it is known when the code is made. If it is not, the offsets are in `t`,
    /// scaled; those of a load of one place for all lanes, in the register that `first` is given, it keeps
    /// for later.
    fn offsets(&mut self, access: &Access, t: u8, first: impl FnOnce(&mut Self, u8)) -> Option<u32> {
        let known = self.known(access.offset).filter(|_| !access.is_physical());
        let known = known.map(|word| (word << access.shift).wrapping_add(access.immediate));
        match known {
            Some(_) => {}
            None if access.does == Does::LoadUniform && !access.is_physical() => {
                let x = self.read(access.offset);
                first(self, x);
            }
            None if access.does == Does::LoadUniform => {
                self.scaled(access, t);
                first(self, t);
            }
            None => self.scaled(access, t),
        }
        known
    }

    /// For each lane where `condition` holds, in ascending order, with its number in RDI.
    fn each_lane(&mut self, condition: u8, body: impl FnOnce(&mut Self)) {
        let (again, none) = (self.asm.label(), self.asm.label());
        self.bits(condition, Register::ESI);
        self.asm.registers(X86::Test_rm32_r32, Register::ESI, Register::ESI);
        self.jump(X86::Je_rel32_64, none);
        self.asm.bind(again);
        self.asm.registers(X86::Tzcnt_r32_rm32, Register::EDI, Register::ESI);
        body(self);
        self.asm.registers(X86::VEX_Blsr_r32_rm32, Register::ESI, Register::ESI);
        self.jump(X86::Jne_rel32_64, again);
        self.asm.bind(none);
    }
}

/// Bytes that are fetched into the caches ahead of consecutive loads: those of the subgroups that come next.
const AHEAD: u32 = 512;

/// 8 words.
const HALF: X86 = X86::EVEX_Vmovdqu32_ymm_k1z_ymmm256;
const KEEP_HALF: X86 = X86::EVEX_Vmovdqu32_ymmm256_k1z_ymm;
/// 16 words.
const WHOLE: X86 = X86::EVEX_Vmovdqu32_zmm_k1z_zmmm512;
const KEEP: X86 = X86::EVEX_Vmovdqu32_zmmm512_k1z_zmm;
/// Words, or pairs of them, of two registers.
const PERMUTE: X86 = X86::EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32;
const PERMUTE_PAIRS: X86 = X86::EVEX_Vpermt2q_zmm_k1z_zmm_zmmm512b64;
const HALVES: X86 = X86::EVEX_Vshufi64x2_zmm_k1z_zmm_zmmm512b64_imm8;
pub(super) const ALIGN: X86 = X86::EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8;
