//! One part of the lanes through a straight line of instructions: which value is in which host register.
//!
//! Values are loaded where they are first needed and stored at the end of the line, each once. A register
//! that is wanted for another value is taken from the one whose next use is farthest.

use super::assembler::Assembler;
use super::image::{self, Choice};
use super::memory::Access;
use super::operation::{Constant, Form, LOAD, Operation, STORE};
use crate::code::{Code, Inst, Opcode, OperandKind};
use crate::ops::image::kind::Kind;
use iced_x86::{Code as X86, Instruction, MemoryOperand, Register};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// Host registers that hold the same all the time.
pub(super) const VECTORS: Register = Register::RBX;
pub(super) const MASKS: Register = Register::R12;
pub(super) const STATE: Register = Register::R13;
pub(super) const VIEWS: Register = Register::RBP;
pub(super) const RUNNING: Register = Register::R14D;
pub(super) const FUEL: Register = Register::R15D;
/// The result of a fused test, part by part.
pub(super) const TESTED: Register = Register::ECX;

/// Bytes of a vector register.
pub(super) const BYTES: i64 = 128;
/// No host register.
const NOWHERE: u8 = u8::MAX;
/// No further use.
const NEVER: u32 = u32::MAX;
/// The running mask, where a mask register is asked for.
pub(super) const RUNNING_MASK: u32 = 1 << 16;

/// The vector registers of an instruction, each once: whether it is read, whether it is written.
pub(super) type Operands = SmallVec<[(u16, bool, bool); 8]>;

/// The vector registers of `inst`, which is one of `code`.
pub(super) fn vector_operands(code: &Code, inst: &Inst) -> Operands {
    let mut operands = Operands::new();
    let mut add = |register: u16, reads: bool, writes: bool| match operands
        .iter_mut()
        .find(|operand| operand.0 == register)
    {
        Some(operand) => (operand.1, operand.2) = (operand.1 || reads, operand.2 || writes),
        None => operands.push((register, reads, writes)),
    };
    if let Some(access) = Access::of(code, inst) {
        access.registers(add);
        return operands;
    }
    image::registers(code, inst, &mut add);
    // Lanes that do not run stay.
    let reads_result = inst.op == Opcode::MovMasked;
    let fields = [inst.dst, inst.a, inst.b, inst.c, inst.aux];
    for (n, (kind, field)) in inst.op.shape().into_iter().zip(fields).enumerate() {
        if let OperandKind::Vector(run) = kind {
            (field..field + run).for_each(|register| add(register, n > 0 || reads_result, n == 0));
        }
    }
    operands
}

/// Of each instruction of a line, its vector registers with their next use behind it: twice the number of
/// the instruction, one more if that writes without reading.
pub(super) type NextUses = Vec<Uses>;

/// Those of one instruction.
pub(super) type Uses = SmallVec<[(u16, u32); 8]>;

/// The next uses of a line of instructions.
pub(super) fn next_uses(line: &[Operands]) -> NextUses {
    let mut upcoming: FxHashMap<u16, u32> = FxHashMap::default();
    let mut uses: NextUses = vec![SmallVec::new(); line.len()];
    for (k, operands) in line.iter().enumerate().rev() {
        for (register, reads, _) in operands {
            let here = 2 * k as u32 + u32::from(!reads);
            uses[k].push((*register, upcoming.insert(*register, here).unwrap_or(NEVER)));
        }
    }
    uses
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    Vector(u16),
    /// 8 lanes: a mask register's bits, spread.
    Mask(u32),
}

#[derive(Clone, Copy)]
struct Content {
    holds: Holds,
    /// The register file has another value.
    dirty: bool,
    next: u32,
}

const EMPTY: Content = Content { holds: Holds::Nothing, dirty: false, next: NEVER };

/// Where an operand is.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Host(u8),
    File(u16),
    Constant(Constant),
}

/// The code of a program, and what is in the host's registers.
pub(super) struct Part<'a> {
    pub asm: Assembler,
    pub form: Form,
    pub code: &'a Code,
    /// The kinds that its images are expected to be of (`Raster::kind`).
    pub images: Vec<Kind>,
    /// How lanes choose the image of the instruction that code is made for now, if they do.
    pub choice: Option<Choice>,
    /// The lanes that instructions are made for now.
    pub part: usize,
    place: Vec<u8>,
    held: [Content; 32],
    /// Registers from here on hold values for a whole region.
    scratch: u8,
    /// Registers that the instruction at hand uses.
    locked: u32,
    /// The most host registers that one instruction has used since this was set to 0.
    pub most: u32,
    uses: Uses,
    /// 16 lanes: what the mask registers of the host hold.
    masks: [Option<u32>; 8],
    next_mask: u8,
    /// Vector registers that are in host registers for the whole region.
    pub pinned: Vec<u16>,
    /// The parts whose pinned registers are.
    together: Range<usize>,
    /// Vector registers that an instruction reads.
    pub reads: Vec<bool>,
}

impl<'a> Part<'a> {
    pub fn new(asm: Assembler, form: Form, code: &'a Code, images: Vec<Kind>) -> Part<'a> {
        Part {
            asm,
            form,
            code,
            images,
            choice: None,
            part: 0,
            place: vec![NOWHERE; code.vectors as usize],
            held: [EMPTY; 32],
            scratch: form.registers(),
            locked: 0,
            most: 0,
            uses: Uses::new(),
            masks: [None; 8],
            next_mask: 0,
            pinned: Vec::new(),
            together: 0..form.parts(),
            reads: {
                let mut reads = vec![false; code.vectors as usize];
                for inst in &code.code {
                    for (register, reading, _) in vector_operands(code, inst) {
                        reads[register as usize] |= reading;
                    }
                    code.listed_reads(inst, |register| reads[register as usize] = true);
                }
                reads
            },
        }
    }

    /// The host's register of a number.
    pub fn host(&self, k: u8) -> Register {
        match self.form {
            Form::Avx2 => Register::YMM0 + u32::from(k),
            Form::Avx512 => Register::ZMM0 + u32::from(k),
        }
    }

    pub fn instruction(&self, operation: Operation) -> X86 {
        match self.form {
            Form::Avx2 => operation.1,
            Form::Avx512 => operation.0,
        }
    }

    /// A vector register's part in the file.
    pub fn file(&self, register: u16) -> MemoryOperand {
        let bytes = BYTES / self.form.parts() as i64;
        MemoryOperand::with_base_displ(VECTORS, i64::from(register) * BYTES + self.part as i64 * bytes)
    }

    /// Where a constant stands before the code.
    pub fn constant(&self, constant: Constant) -> MemoryOperand {
        MemoryOperand::with_base_displ(Register::RIP, constant.place())
    }

    /// A mask register's part in the file: 16 or 8 bits.
    pub fn mask_file(&self, mask: u16) -> MemoryOperand {
        let bytes = 4 / self.form.parts() as i64;
        MemoryOperand::with_base_displ(MASKS, i64::from(mask) * 4 + self.part as i64 * bytes)
    }

    /// What a pinned register holds in every lane, if that is a constant.
    pub fn known(&self, register: u16) -> Option<u32> {
        self.code.constant(register.into())
    }

    /// Values of `registers` stay in the host's registers from here on, in those of the highest numbers.
    pub fn pin(&mut self, registers: Vec<u16>) {
        self.pin_parts(0..self.form.parts(), registers);
    }

    /// The same of some parts alone, which run together.
    pub fn pin_parts(&mut self, parts: Range<usize>, registers: Vec<u16>) {
        self.scratch = self.form.registers() - (registers.len() * parts.len()) as u8;
        (self.pinned, self.together) = (registers, parts);
    }

    /// The parts that run together.
    pub fn together(&self) -> Range<usize> {
        self.together.clone()
    }

    /// The host register of a pinned register of this index.
    pub fn pinned_at(&self, index: usize, part: usize) -> u8 {
        let place = index * self.together.len() + part - self.together.start;
        self.form.registers() - 1 - place as u8
    }

    /// Loads all pinned registers.
    pub fn load_pinned(&mut self) {
        for part in self.together() {
            self.part = part;
            for (index, register) in self.pinned.clone().into_iter().enumerate() {
                let (to, from) = (self.host(self.pinned_at(index, part)), self.file(register));
                self.asm.load(self.instruction(LOAD), to, from);
            }
        }
    }

    /// Stores those of `registers`, which are pinned, that `written` holds for.
    pub fn store_pinned(&mut self, registers: &[u16], written: impl Fn(u16) -> bool) {
        for part in self.together() {
            self.part = part;
            for (index, register) in registers.iter().enumerate().filter(|(_, register)| written(**register))
            {
                let (to, from) = (self.file(*register), self.host(self.pinned_at(index, part)));
                self.asm.store(self.instruction(STORE), to, from);
            }
        }
    }

    /// Begins a line of instructions for the lanes of `part`.
    pub fn begin_line(&mut self, part: usize) {
        self.part = part;
        self.held = [EMPTY; 32];
        self.masks = [None; 8];
        for (index, register) in self.pinned.clone().into_iter().enumerate() {
            self.place[register as usize] = self.pinned_at(index, part);
        }
    }

    /// Stores what the line has written.
    pub fn end_line(&mut self) {
        for k in 0..self.scratch {
            self.evict(k, true);
        }
        for index in 0..self.pinned.len() {
            self.place[self.pinned[index] as usize] = NOWHERE;
        }
    }

    pub fn begin_row(&mut self, uses: &Uses) {
        self.locked = 0;
        self.uses.clone_from(uses);
    }

    pub fn end_row(&mut self) {
        for (register, next) in std::mem::take(&mut self.uses) {
            let k = self.place[register as usize];
            if k < self.scratch {
                self.held[k as usize].next = next;
            }
        }
        self.locked = 0;
    }

    /// Of the host registers that `body` takes, those that it returns stay taken.
    pub fn keep<const N: usize>(&mut self, body: impl FnOnce(&mut Self) -> [u8; N]) -> [u8; N] {
        let locked = self.locked;
        let kept = body(self);
        self.locked = kept.iter().fold(locked, |locked, k| locked | 1 << k);
        kept
    }

    /// A host register that the instruction at hand has taken is free again.
    pub fn free(&mut self, k: u8) {
        self.locked &= !(1 << k);
    }

    /// Host registers that `body` takes are free again.
    pub fn for_a_while(&mut self, body: impl FnOnce(&mut Self)) {
        self.keep(|part| {
            body(part);
            []
        });
    }

    fn next_use(&self, register: u16) -> u32 {
        self.uses.iter().find(|(other, _)| *other == register).map_or(NEVER, |(_, next)| *next)
    }

    /// Takes the register from what it holds.
    fn evict(&mut self, k: u8, line_ends: bool) {
        let content = std::mem::replace(&mut self.held[k as usize], EMPTY);
        if let Holds::Vector(register) = content.holds {
            self.place[register as usize] = NOWHERE;
            let overwritten = content.next != NEVER && content.next % 2 == 1 && !line_ends;
            if content.dirty && !overwritten {
                let (to, from) = (self.file(register), self.host(k));
                self.asm.store(self.instruction(STORE), to, from);
            }
        }
    }

    /// A register for the instruction at hand.
    pub fn temporary(&mut self) -> u8 {
        let free = |k: &u8| self.locked >> k & 1 == 0;
        let value = |k: &u8| {
            let content = &self.held[*k as usize];
            match content.holds {
                Holds::Nothing => (2, 0),
                // Written before it is read, or neither.
                Holds::Vector(_) if content.next % 2 == 1 => (1, u32::from(!content.dirty)),
                _ => (0, content.next),
            }
        };
        let Some(k) = (0..self.scratch).filter(free).max_by_key(value) else {
            // There is no such instruction: the code would be wrong, so that there is none.
            self.asm.put(Ok(Instruction::default()));
            return 0;
        };
        self.evict(k, false);
        self.locked |= 1 << k;
        self.most = self.most.max(self.locked.count_ones());
        k
    }

    /// The register that holds a vector register.
    pub fn read(&mut self, register: u16) -> u8 {
        let k = self.place[register as usize];
        if k != NOWHERE {
            self.locked |= 1 << k;
            return k;
        }
        let k = self.temporary();
        let (to, from) = (self.host(k), self.file(register));
        self.asm.load(self.instruction(LOAD), to, from);
        self.held[k as usize] =
            Content { holds: Holds::Vector(register), dirty: false, next: self.next_use(register) };
        self.place[register as usize] = k;
        k
    }

    /// A vector register as the last operand: in the file if this is its only use.
    pub fn operand(&mut self, register: u16) -> Source {
        let here = self.place[register as usize] != NOWHERE;
        if here || self.next_use(register).is_multiple_of(2) {
            Source::Host(self.read(register))
        } else {
            Source::File(register)
        }
    }

    /// The register for an instruction's result, whose last host instruction writes it; then
    /// [`Part::written`] is called.
    pub fn result(&mut self, register: u16) -> u8 {
        self.pinned_to(register).unwrap_or_else(|| self.temporary())
    }

    /// The host register that holds a vector register for the whole region.
    pub fn pinned_to(&self, register: u16) -> Option<u8> {
        let k = self.place[register as usize];
        (k != NOWHERE && k >= self.scratch).then_some(k)
    }

    /// A vector register is in `k` now.
    pub fn written(&mut self, register: u16, k: u8) {
        if k >= self.scratch {
            return;
        }
        let before = self.place[register as usize];
        if before != NOWHERE {
            self.held[before as usize] = EMPTY;
        }
        self.held[k as usize] =
            Content { holds: Holds::Vector(register), dirty: true, next: self.next_use(register) };
        self.place[register as usize] = k;
    }

    /// `to = operation(source)`.
    pub fn unary(&mut self, operation: Operation, to: u8, from: Source) {
        let (code, to) = (self.instruction(operation), self.host(to));
        let instruction = match from {
            Source::Host(k) => Instruction::with2(code, to, self.host(k)),
            Source::File(register) => Instruction::with2(code, to, self.file(register)),
            Source::Constant(constant) => Instruction::with2(code, to, self.constant(constant)),
        };
        self.asm.put(instruction);
    }

    /// `to = operation(a, b)`.
    pub fn binary(&mut self, operation: Operation, to: u8, a: u8, b: Source) {
        let (code, to, a) = (self.instruction(operation), self.host(to), self.host(a));
        let instruction = match b {
            Source::Host(k) => Instruction::with3(code, to, a, self.host(k)),
            Source::File(register) => Instruction::with3(code, to, a, self.file(register)),
            Source::Constant(constant) => Instruction::with3(code, to, a, self.constant(constant)),
        };
        self.asm.put(instruction);
    }

    /// `to = operation(from, number)`.
    pub fn by(&mut self, operation: Operation, to: u8, from: u8, number: u32) {
        let (code, to, from) = (self.instruction(operation), self.host(to), self.host(from));
        self.asm.put(Instruction::with3(code, to, from, number as i32));
    }

    /// 16 lanes: a mask register of the host.
    pub fn host_mask(&mut self) -> u8 {
        self.next_mask = self.next_mask % 7 + 1;
        self.masks[self.next_mask as usize] = None;
        self.next_mask
    }

    /// Another one than `taken`.
    pub fn host_mask_but(&mut self, taken: u8) -> u8 {
        if self.next_mask % 7 + 1 == taken {
            self.next_mask = taken;
        }
        self.host_mask()
    }

    /// The mask register `mask`, or [`RUNNING_MASK`], as a condition: of the host's mask registers (16
    /// lanes), or a vector register with all bits of the lanes set.
    pub fn condition(&mut self, mask: u32) -> u8 {
        if let Some(k) = self.held_mask(mask) {
            return k;
        }
        match self.form {
            Form::Avx512 => {
                let k = self.host_mask();
                let to = Register::K0 + u32::from(k);
                if mask == RUNNING_MASK {
                    let from = if self.part == 0 { RUNNING } else { Register::EAX };
                    if self.part > 0 {
                        self.asm.registers(X86::Mov_r32_rm32, Register::EAX, RUNNING);
                        self.asm.immediate(X86::Shr_rm32_imm8, Register::EAX, 16);
                    }
                    self.asm.registers(X86::VEX_Kmovw_kr_r32, to, from);
                } else {
                    let from = self.mask_file(mask as u16);
                    self.asm.load(X86::VEX_Kmovw_kr_km16, to, from);
                }
                self.masks[k as usize] = Some(mask);
                k
            }
            Form::Avx2 => {
                let k = self.temporary();
                let (to, low) = (self.host(k), Register::XMM0 + u32::from(k));
                if mask == RUNNING_MASK {
                    self.asm.registers(X86::VEX_Vmovd_xmm_rm32, low, RUNNING);
                } else {
                    self.asm.load(X86::Movzx_r32_rm8, Register::EAX, self.mask_file(mask as u16));
                    self.asm.registers(X86::VEX_Vmovd_xmm_rm32, low, Register::EAX);
                }
                self.asm.registers(X86::VEX_Vpbroadcastd_ymm_xmmm32, to, low);
                let part = if mask == RUNNING_MASK { self.part } else { 0 };
                let bits = self.constant(Constant::lanes(part));
                self.asm.put(Instruction::with3(X86::VEX_Vpand_ymm_ymm_ymmm256, to, to, bits));
                self.asm.put(Instruction::with3(X86::VEX_Vpcmpeqd_ymm_ymm_ymmm256, to, to, bits));
                self.hold_mask(mask, k);
                k
            }
        }
    }

    fn hold_mask(&mut self, mask: u32, k: u8) {
        self.held[k as usize] = Content { holds: Holds::Mask(mask), dirty: false, next: 1 << 30 };
    }

    /// What the host's registers hold of a mask register is old.
    pub fn forget_mask(&mut self, mask: u16) {
        for held in &mut self.masks {
            if *held == Some(u32::from(mask)) {
                *held = None;
            }
        }
        for held in &mut self.held {
            if held.holds == Holds::Mask(u32::from(mask)) {
                *held = EMPTY;
            }
        }
    }

    /// The part's bits of a condition, to a register of 32 bits.
    pub fn bits(&mut self, condition: u8, to: Register) {
        match self.form {
            Form::Avx512 => {
                self.asm.registers(X86::VEX_Kmovw_r32_kr, to, Register::K0 + u32::from(condition));
            }
            Form::Avx2 => {
                let from = self.host(condition);
                self.asm.registers(X86::VEX_Vmovmskps_r32_ymm, to, from);
            }
        }
    }

    /// The part's bits of a mask register of the program, to a register of 32 bits.
    pub fn bits_of_mask(&mut self, mask: u16, to: Register) {
        match self.held_mask(mask.into()) {
            Some(k) => self.bits(k, to),
            None => {
                let code = if self.form == Form::Avx2 { X86::Movzx_r32_rm8 } else { X86::Movzx_r32_rm16 };
                let from = self.mask_file(mask);
                self.asm.load(code, to, from);
            }
        }
    }

    /// Where a register of the host holds the mask register `mask`, or [`RUNNING_MASK`], as a condition.
    pub fn held_mask(&mut self, mask: u32) -> Option<u8> {
        if self.form == Form::Avx512 {
            return self.masks.iter().position(|held| *held == Some(mask)).map(|k| k as u8);
        }
        let k = self.held.iter().position(|held| held.holds == Holds::Mask(mask))?;
        self.locked |= 1 << k;
        Some(k as u8)
    }

    /// A condition becomes a mask register.
    pub fn set_mask(&mut self, mask: u16, condition: u8) {
        self.forget_mask(mask);
        let to = self.mask_file(mask);
        match self.form {
            Form::Avx512 => {
                self.asm.store(X86::VEX_Kmovw_m16_kr, to, Register::K0 + u32::from(condition));
                self.masks[condition as usize] = Some(mask.into());
            }
            Form::Avx2 => {
                self.bits(condition, Register::EAX);
                self.asm.store(X86::Mov_rm8_r8, to, Register::AL);
                self.hold_mask(mask.into(), condition);
            }
        }
    }

    /// `to` is `yes` where the condition holds, else `no`.
    pub fn choose(&mut self, to: u8, condition: u8, yes: Source, no: u8) {
        let (to, no) = (self.host(to), self.host(no));
        match self.form {
            Form::Avx512 => {
                let code = X86::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32;
                let instruction = match yes {
                    Source::Host(k) => Instruction::with3(code, to, no, self.host(k)),
                    Source::File(register) => Instruction::with3(code, to, no, self.file(register)),
                    Source::Constant(constant) => Instruction::with3(code, to, no, self.constant(constant)),
                };
                self.asm.put(instruction.map(|mut instruction| {
                    instruction.set_op_mask(Register::K0 + u32::from(condition));
                    instruction
                }));
            }
            Form::Avx2 => {
                let (code, condition) = (X86::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, self.host(condition));
                self.asm.put(match yes {
                    Source::Host(k) => Instruction::with4(code, to, no, self.host(k), condition),
                    Source::File(register) => {
                        Instruction::with4(code, to, no, self.file(register), condition)
                    }
                    Source::Constant(constant) => {
                        Instruction::with4(code, to, no, self.constant(constant), condition)
                    }
                });
            }
        }
    }
}
