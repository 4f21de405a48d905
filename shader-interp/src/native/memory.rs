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
/// Predicates of comparisons of integers.
const LESS_EQUAL: u32 = 2;
const NOT_EQUAL: u32 = 4;

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
}

impl Access {
    /// The access that `inst` makes, if it has an encoding in this form.
    pub fn encoded(code: &Code, inst: &Inst, form: Form) -> bool {
        Access::of(code, inst).is_some_and(|access| form == Form::Avx512 || access.is_narrow())
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
        let plain = matches!(entry.space, Space::View(_) | Space::Workgroup(_));
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
        })
    }

    /// Calls `each` with the vector registers: whether it is read, whether it is written.
    pub fn registers(&self, mut each: impl FnMut(u16, bool, bool)) {
        each(self.offset, true, false);
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

    /// Whether its memory is in the caches.
    fn is_near(&self) -> bool {
        !matches!(self.space, Space::View(_))
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

    /// The access's memory, to `HOST` and `SIZE`.
    fn locate(&mut self, space: Space) {
        let (base, start) = match space {
            Space::View(slot) => (VIEWS, usize::from(slot) * size_of::<MemoryView<'_>>()),
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
        self.compare_under(condition, differs, k, t, NOT_EQUAL, true);
        let differs = Register::K0 + u32::from(differs);
        self.asm.registers(X86::VEX_Kortestw_kr_kr, differs, differs);
        self.jump(X86::Jne_rel32_64, to);
    }

    fn compare_under(&mut self, condition: u8, to: u8, x: u8, y: u8, predicate: u32, signed: bool) {
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
        match access.shift {
            0 => self.unary(LOAD, t, Source::Host(x)),
            shift => self.by(SHL_BY, t, x, shift),
        }
    }

    /// The offset of a load, if it is known when the code is made. If it is not, the offsets are in `t`,
    /// scaled; those of a load of one place for all lanes, in the register that `first` is given, it keeps
    /// for later.
    fn offsets(&mut self, access: &Access, t: u8, first: impl FnOnce(&mut Self, u8)) -> Option<u32> {
        let known =
            self.known(access.offset).map(|word| (word << access.shift).wrapping_add(access.immediate));
        match known {
            Some(_) => {}
            None if access.does == Does::LoadUniform => {
                let x = self.read(access.offset);
                first(self, x);
            }
            None => self.scaled(access, t),
        }
        known
    }

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

    fn load(&mut self, access: &Access) {
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
        self.locate(access.space);
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
    pub(super) fn load_lanes(
        &mut self,
        access: &Access,
        results: &[u8],
        (t, u): (u8, u8),
        (running, k): (u8, u8),
        done: Label,
    ) {
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
        }
        self.unless_equal(t, u, running, k, general);
        self.first(t, 0, access.immediate);
        self.unless_inside(access.bytes(), general);
        for (words, end) in access.components() {
            self.load_spread(access.size, end, &results[words]);
        }
        self.jump(X86::Jmp_rel32_64, done);
        self.asm.bind(general);
        results.iter().for_each(|k| self.zero_register(*k));
        self.add_immediate(t, u, access.immediate);
        if access.size < 4 || access.atomic {
            self.load_each(access, results, (t, u), (running, k), done);
        } else {
            self.gather(access, results, (t, u), (running, k), done);
        }
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

    fn gather(
        &mut self,
        access: &Access,
        results: &[u8],
        (t, u): (u8, u8),
        (running, k): (u8, u8),
        done: Label,
    ) {
        // Indices are signed: from the middle of 4 GiB on.
        self.binary(XOR, t, t, Source::Constant(Constant::Sign));
        self.general(X86::Mov_r32_imm32, 1 << 31, Register::EAX);
        self.asm.registers(X86::Add_r64_rm64, HOST, Register::RAX);
        for (words, end) in access.components() {
            self.last_inside(end, done);
            self.asm.registers(X86::Add_r32_rm32, Register::EDX, Register::EAX);
            self.spread_general(u, Register::EDX);
            for (n, word) in words.enumerate() {
                self.compare_under(running, k, t, u, LESS_EQUAL, true);
                let (from, to) = (self.host(t), self.host(results[word]));
                let from = based(HOST, from, end - access.size + 4 * n as u32);
                self.masked(k, Instruction::with2(X86::EVEX_Vpgatherdd_zmm_k1_vm32z, to, from));
            }
        }
    }

    /// Loads of active lanes, one after the other.
    fn load_each(
        &mut self,
        access: &Access,
        results: &[u8],
        (t, u): (u8, u8),
        (running, k): (u8, u8),
        done: Label,
    ) {
        let offsets = self.host(t);
        self.asm.store(KEEP, field(state::OFFSETS), offsets);
        for (words, end) in access.components() {
            self.last_inside(end, done);
            self.spread_general(u, Register::EDX);
            self.compare_under(running, k, t, u, LESS_EQUAL, false);
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

/// 16 words.
const WHOLE: X86 = X86::EVEX_Vmovdqu32_zmm_k1z_zmmm512;
const KEEP: X86 = X86::EVEX_Vmovdqu32_zmmm512_k1z_zmm;
/// Words, or pairs of them, of two registers.
const PERMUTE: X86 = X86::EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32;
const PERMUTE_PAIRS: X86 = X86::EVEX_Vpermt2q_zmm_k1z_zmm_zmmm512b64;
const HALVES: X86 = X86::EVEX_Vshufi64x2_zmm_k1z_zmm_zmmm512b64_imm8;
pub(super) const ALIGN: X86 = X86::EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8;
