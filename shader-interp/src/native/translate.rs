//! From instructions to machine code.
//!
//! Instructions that have an encoding become host code, line by line: a line runs from one that something
//! jumps to, to one that jumps, and its lanes are computed part after part, as nothing in it crosses lanes.
//! All other instructions are handed to the interpreter, as many in a row as there are.
//!
//! **The files are the interface.** Between lines, and wherever the interpreter goes on, the register file
//! and the mask file hold what the interpreter would have there. Inside a *region*, a loop all of whose
//! instructions have encodings, the vector registers that it uses most stay in host registers from line to
//! line; whatever leaves it stores them. With 8 lanes such loops are those of [`apart`], whose clusters of
//! lanes may stand at different turns inside.

mod apart;
mod chosen;
mod marks;
mod regions;
mod turn;

use self::apart::Apart;
use self::marks::marks;
use self::regions::{Region, loops};
use super::across::is_across;
use super::assembler::{Assembler, Label};
use super::image::ImageAccess;
use super::memory::Access;
use super::operation::{Constant, Form};
use super::registers::{
    FUEL, MASKS, Part, RUNNING, STATE, TESTED, VECTORS, VIEWS, next_uses, vector_operands,
};
use super::rows::{function_table, has_encoding, is_wide_alone, test_has_encoding};
use super::state;
use crate::code::isa::AfterTest;
use crate::code::{Code, Inst, Opcode, OperandKind};
use crate::ops::image::kind::Kind;
use iced_x86::{Code as X86, IcedError, Instruction, MemoryOperand, Register};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Machine code of a program.
pub(super) struct Translation {
    /// Constants, then code.
    pub bytes: Vec<u8>,
    /// Where the function begins that enters at a place in the code.
    pub enter: u32,
    /// For each instruction that can be entered its place in `bytes`; 0 for the others.
    pub entries: Vec<u32>,
    /// Of modelled code: where the interpreter goes over to machine code.
    pub marks: Vec<bool>,
}

/// What is done with an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Part of a line.
    Lanes,
    /// The end of a line.
    Control,
    /// Handed to the interpreter.
    Interpreted,
}

pub(super) fn kind(code: &Code, images: &[Kind], inst: &Inst, form: Form) -> Treatment {
    use Opcode::*;
    match inst.op {
        Jump | JumpIf | JumpUnless | Split | SplitNot | Park | Join | Repeat | RepeatJoin => {
            Treatment::Control
        }
        ControlBarrier | MemoryBarrier if !code.modelled => Treatment::Control,
        Done => Treatment::Control,
        op if is_wide_alone(op) && form != Form::Avx512 => Treatment::Interpreted,
        op => match op.test() {
            Some((test, after)) if test_has_encoding(test) => match after {
                AfterTest::Set => Treatment::Lanes,
                _ => Treatment::Control,
            },
            None if has_encoding(op) => Treatment::Lanes,
            _ if code.modelled && !Access::is_of_private(code, inst) => Treatment::Interpreted,
            None if Access::encoded(code, inst, form) => Treatment::Lanes,
            None if form == Form::Avx512
                && (is_across(code, inst) || ImageAccess::of(code, images, inst).is_some()) =>
            {
                Treatment::Lanes
            }
            _ => Treatment::Interpreted,
        },
    }
}

/// Whether an instruction branches by what lanes have: a test, or a mask register.
fn decides(inst: &Inst) -> bool {
    use Opcode::*;
    let fused = inst.op.test().is_some_and(|(_, after)| after != AfterTest::Set);
    fused || matches!(inst.op, Split | SplitNot | JumpIf | JumpUnless)
}

fn target(inst: &Inst) -> Option<usize> {
    (inst.op.shape()[5] == OperandKind::Target).then_some(inst.imm as usize)
}

/// A way out of the straight code.
enum Exit {
    /// Leaves a region for an instruction outside of it.
    Region(usize, usize),
    /// The strand stops in a region, or outside of one, and goes on at an instruction.
    Stop(Option<usize>, usize, u32),
    /// The interpreter runs an instruction of a region, or outside of one.
    Interpreted(Option<usize>, usize),
}

struct Translator<'a> {
    part: Part<'a>,
    kinds: Vec<Treatment>,
    /// The lines' first instructions.
    labels: FxHashMap<usize, Label>,
    regions: Vec<Region>,
    aparts: Vec<Apart>,
    /// Where instructions of a region are entered that follow one which the interpreter may have run, or that
    /// it comes to by a jump back.
    pads: Vec<(usize, Label)>,
    exits: Vec<(Label, Exit)>,
    ended: Label,
    epilogue: Label,
}

/// Most instructions of a line: one of the long ones ([`is_long`]), or so many others.
const LINE: usize = 64;

/// Instructions with encodings that make up for one call of the interpreter.
const CALL: u64 = 4;

/// The machine code of `code`; `None` if so little of it has encodings that it is not worth while.
pub(super) fn translate(
    code: &Code,
    images: Vec<Kind>,
    form: Form,
    always: bool,
) -> Result<Option<Translation>, IcedError> {
    let kinds: Vec<Treatment> = code.code.iter().map(|inst| kind(code, &images, inst, form)).collect();
    let loops = loops(&code.code);
    let depth = |row: usize| loops.iter().filter(|rows| rows.contains(&row)).count().min(6) as u32;
    // How often an instruction runs, by the loops that it is in.
    let often = |row: usize| 8u64.pow(depth(row));
    let interpreted = |row: usize| kinds[row] == Treatment::Interpreted;
    let encoded: u64 = (0..kinds.len()).filter(|row| !interpreted(*row)).map(often).sum();
    let begins = |row: &usize| interpreted(*row) && (*row == 0 || !interpreted(*row - 1));
    let calls: u64 = (0..kinds.len()).filter(begins).map(often).sum();
    let marks = if code.modelled { marks(code, &kinds, &loops) } else { Vec::new() };
    let worth = if code.modelled { marks.contains(&true) } else { encoded >= CALL * calls };
    if !always && !worth {
        return Ok(None);
    }
    let constants = Constant::table().into_iter().chain(function_table());
    let mut asm = Assembler::new(constants.collect());
    let (ended, epilogue) = (asm.label(), asm.label());
    let mut translator = Translator {
        labels: FxHashMap::default(),
        regions: Vec::new(),
        aparts: Vec::new(),
        pads: Vec::new(),
        exits: Vec::new(),
        ended,
        epilogue,
        part: Part::new(asm, form, code, images),
        kinds,
    };
    match form {
        Form::Avx2 => translator.find_apart(&loops),
        Form::Avx512 => translator.find_regions(&loops, depth),
    }
    translator.find_lines();
    let enter = translator.frame();
    for row in 0..code.code.len() {
        match translator.apart(row) {
            Some(apart) if translator.is_start(apart, row) => translator.run_apart(apart),
            Some(_) => {}
            None if translator.labels.contains_key(&row) => translator.line(row),
            None => {}
        }
    }
    translator.exits();
    let entries = (0..code.code.len()).map(|row| translator.entry(row)).collect();
    let bytes = translator.part.asm.finish()?;
    Ok(bytes.map(|bytes| Translation { bytes, enter, entries, marks }))
}

impl<'a> Translator<'a> {
    fn code(&self) -> &'a [Inst] {
        &self.part.code.code
    }

    fn asm(&mut self) -> &mut Assembler {
        &mut self.part.asm
    }

    /// The code's place for an instruction that the interpreter may enter it at.
    fn entry(&self, row: usize) -> u32 {
        if let Some((_, pad)) = self.pads.iter().find(|(entered, _)| *entered == row) {
            return self.part.asm.place(*pad).unwrap_or(0) as u32;
        }
        let inside = self.region(row).is_some_and(|region| self.regions[region].rows.start != row);
        let label = self.labels.get(&row).filter(|_| !inside);
        label.and_then(|label| self.part.asm.place(*label)).unwrap_or(0) as u32
    }

    /// The function `(state, place)`, which goes on at the place, and what ends it.
    fn frame(&mut self) -> u32 {
        const SAVED: [Register; 6] =
            [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
        let (ended, epilogue) = (self.ended, self.epilogue);
        let asm = self.asm();
        let enter = asm.position() as u32;
        for register in SAVED {
            asm.put(Instruction::with1(X86::Push_r64, register));
        }
        // Seven words on the stack: calls need an even number.
        asm.put(Instruction::with1(X86::Push_r64, Register::RAX));
        asm.registers(X86::Mov_r64_rm64, STATE, Register::RDI);
        asm.load(X86::Mov_r64_rm64, VECTORS, field(state::VECTORS));
        asm.load(X86::Mov_r64_rm64, MASKS, field(state::MASKS));
        asm.load(X86::Mov_r64_rm64, VIEWS, field(state::VIEWS));
        asm.load(X86::Mov_r32_rm32, RUNNING, field(state::MASK));
        asm.load(X86::Mov_r32_rm32, FUEL, field(state::FUEL));
        asm.put(Instruction::with1(X86::Jmp_rm64, Register::RSI));
        asm.bind(ended);
        asm.registers(X86::Xor_r32_rm32, Register::EAX, Register::EAX);
        asm.bind(epilogue);
        asm.put(Ok(Instruction::with(X86::VEX_Vzeroupper)));
        asm.put(Instruction::with1(X86::Pop_r64, Register::RDX));
        for register in SAVED.into_iter().rev() {
            asm.put(Instruction::with1(X86::Pop_r64, register));
        }
        asm.put(Ok(Instruction::with(X86::Retnq)));
        enter
    }

    /// The line that begins at `row`.
    fn line(&mut self, row: usize) {
        let label = self.labels[&row];
        let region = self.region(row);
        match region {
            Some(region) => {
                if self.regions[region].rows.start == row {
                    self.asm().bind(label);
                    let (again, pinned) = (self.regions[region].again, self.regions[region].pinned.clone());
                    self.part.pin(pinned);
                    self.part.load_pinned();
                    self.asm().bind(again);
                } else {
                    self.asm().bind(label);
                }
            }
            None => {
                self.part.pin(Vec::new());
                self.asm().bind(label);
            }
        }
        let code = self.code();
        let mut end = row;
        while self.kinds[end] == self.kinds[row]
            && self.kinds[end] != Treatment::Control
            && end + 1 < code.len()
            && !(end + 1 > row && self.kinds[row] == Treatment::Lanes && self.labels.contains_key(&(end + 1)))
        {
            end += 1;
        }
        if self.kinds[row] == Treatment::Interpreted {
            let end = if self.kinds[end] == Treatment::Interpreted { end + 1 } else { end };
            return self.interpreted(row..end);
        }
        if is_across(self.part.code, &code[row]) {
            self.part.across(&code[row]);
            return self.leave_at(region, row + 1);
        }
        // `end` is the last instruction of the line: one that jumps, or one before which another begins.
        let control = (self.kinds[end] == Treatment::Control).then_some(end);
        let lanes = row..if control.is_some() { end } else { end + 1 };
        let image = ImageAccess::of(self.part.code, &self.part.images, &code[row]);
        if let Some(image) = &image {
            let other = self.asm().label();
            self.exits.push((other, Exit::Interpreted(region, row)));
            if let Some(choice) = image.choice(self.part.code) {
                self.chosen(choice, image, row, other);
                return self.leave_at(region, row + 1);
            }
            self.part.unless_kind(image, other);
        }
        if let Some(access) =
            Access::of(self.part.code, &code[row]).filter(|access| access.asks(self.part.code))
        {
            let other = self.asm().label();
            self.exits.push((other, Exit::Interpreted(region, row)));
            match access.is_physical() {
                true => self.part.unless_reached(&access, other),
                false => self.part.unless_inside_variable(&access, other),
            }
        }
        self.each_part(lanes, control, image.as_ref());
        if let Some(control) = control {
            self.control(control);
        }
        self.leave_at(region, end + 1);
    }

    /// What follows in the code follows here; the end of a region is where it is left.
    fn leave_at(&mut self, region: Option<usize>, next: usize) {
        if let Some(region) = region
            && self.regions[region].rows.end == next
        {
            self.store_region(region);
            self.part.pin(Vec::new());
        }
    }

    /// The instructions `rows` and what decides the branch of `control` behind them, for the parts that run
    /// together, one after the other.
    fn each_part(&mut self, rows: Range<usize>, control: Option<usize>, image: Option<&ImageAccess>) {
        let code = self.code();
        let decides = control.filter(|row| decides(&code[*row]));
        let of = |row: usize| vector_operands(self.part.code, &code[row]);
        let operands: Vec<_> = rows.clone().chain(decides).map(of).collect();
        if operands.is_empty() {
            return;
        }
        let uses = next_uses(&operands);
        for part in self.part.together() {
            self.part.begin_line(part);
            for (row, uses) in rows.clone().chain(decides).zip(&uses) {
                self.part.begin_row(uses);
                match decides {
                    Some(control) if control == row => self.decide(&code[row]),
                    _ => self.part.lanes(&code[row], image),
                }
                self.part.end_row();
            }
            self.part.end_line();
        }
    }

    /// What decides the branch of `inst` for the lanes of the part at hand joins what does for those that run
    /// together with it, in [`TESTED`].
    fn decide(&mut self, inst: &Inst) {
        let part = self.part.part;
        let first = part == self.part.together().start;
        let to = if first { TESTED } else { Register::EAX };
        match inst.op.test() {
            Some((test, _)) => {
                let condition = self.part.test(test, inst);
                self.part.bits(condition, to);
            }
            None => self.part.bits_of_mask(inst.a, to),
        }
        let lanes = 32 / self.part.form.parts();
        if part > 0 {
            self.asm().immediate(X86::Shl_rm32_imm8, to, (part * lanes) as i32);
        }
        if !first {
            self.asm().registers(X86::Or_r32_rm32, TESTED, Register::EAX);
        }
    }

    fn store_region(&mut self, region: usize) {
        let Region { pinned, written, .. } = &self.regions[region];
        let (pinned, written) = (pinned.clone(), written.clone());
        self.part.store_pinned(&pinned, |register| written.contains(&register));
    }

    /// A jump from `row` to `to`.
    fn jump(&mut self, code: X86, row: usize, to: usize) {
        let label = match self.region(row) {
            Some(region) if self.region(to) == Some(region) => match &self.regions[region] {
                region if region.rows.start == to => region.again,
                _ => self.labels[&to],
            },
            Some(region) => {
                let label = self.asm().label();
                self.exits.push((label, Exit::Region(region, to)));
                label
            }
            None => self.labels[&to],
        };
        self.asm().branch(code, label);
    }

    /// A turn of a loop: the fuel is less, and where it is spent, the instruction has not run.
    fn turn(&mut self, row: usize) {
        let label = self.asm().label();
        self.exits.push((label, Exit::Stop(self.region(row), row, state::OUT_OF_FUEL)));
        self.asm().put(Instruction::with2(X86::Sub_rm32_imm8, FUEL, 1));
        self.asm().branch(X86::Je_rel32_64, label);
    }

    /// A control instruction; of those that decide by lanes [`TESTED`] tells.
    fn control(&mut self, row: usize) {
        let inst = &self.code()[row];
        let (to, after) = (inst.imm as usize, inst.op.test().map(|(_, after)| after));
        let mask = |k: u16| MemoryOperand::with_base_displ(MASKS, i64::from(k) * 4);
        match (after, inst.op) {
            (Some(AfterTest::Jump), _) => {
                self.asm().registers(X86::Test_rm32_r32, TESTED, RUNNING);
                self.jump(X86::Je_rel32_64, row, to);
            }
            (Some(AfterTest::Repeat), _) => {
                let on = self.asm().label();
                self.asm().registers(X86::Test_rm32_r32, TESTED, RUNNING);
                self.asm().branch(X86::Je_rel32_64, on);
                self.turn(row);
                self.jump(X86::Jmp_rel32_64, row, to);
                self.asm().bind(on);
            }
            (Some(_), _) | (_, Opcode::Split | Opcode::SplitNot) => {
                self.split(inst);
                self.jump(X86::Je_rel32_64, row, to);
            }
            // Accesses of a host thread keep their order, as far as barriers order them, by themselves.
            (_, Opcode::ControlBarrier) if self.part.code.barriers[to].is_workgroup() => {
                let label = self.asm().label();
                self.exits.push((label, Exit::Stop(self.region(row), row + 1, state::AT_BARRIER)));
                let number = Instruction::with2(X86::Mov_rm32_imm32, field(state::BARRIER), to as i32);
                self.asm().put(number);
                self.asm().put(Instruction::with2(X86::Cmp_rm32_imm8, field(state::ALONE), 0));
                self.asm().branch(X86::Je_rel32_64, label);
            }
            (_, Opcode::Done) => {
                let label = self.asm().label();
                self.exits.push((label, Exit::Stop(self.region(row), row, state::DONE)));
                self.asm().branch(X86::Jmp_rel32_64, label);
            }
            (_, Opcode::Jump) => self.jump(X86::Jmp_rel32_64, row, to),
            (_, Opcode::JumpIf | Opcode::JumpUnless) => {
                self.asm().registers(X86::Test_rm32_r32, TESTED, RUNNING);
                let code = if inst.op == Opcode::JumpIf { X86::Jne_rel32_64 } else { X86::Je_rel32_64 };
                self.jump(code, row, to);
            }
            (_, Opcode::Park) => {
                self.asm().store(X86::Or_rm32_r32, mask(inst.dst), RUNNING);
                self.asm().registers(X86::Xor_r32_rm32, RUNNING, RUNNING);
                self.jump(X86::Jmp_rel32_64, row, to);
            }
            (_, Opcode::Join) => {
                self.take(inst.dst);
                self.jump(X86::Je_rel32_64, row, to);
            }
            (_, Opcode::Repeat) => {
                self.turn(row);
                self.jump(X86::Jmp_rel32_64, row, to);
            }
            // Spent fuel leaves it as if all lanes had come here and none had been parked.
            (_, Opcode::RepeatJoin) => {
                let on = self.asm().label();
                self.take(inst.dst);
                self.asm().branch(X86::Je_rel32_64, on);
                self.turn(row);
                self.jump(X86::Jmp_rel32_64, row, to);
                self.asm().bind(on);
            }
            _ => {}
        }
    }

    /// The running lanes where the test fails are parked; the flags tell whether any is left.
    fn split(&mut self, inst: &Inst) {
        let park = MemoryOperand::with_base_displ(MASKS, i64::from(inst.dst) * 4);
        let asm = self.asm();
        if inst.op == Opcode::SplitNot {
            asm.put(Instruction::with1(X86::Not_rm32, TESTED));
        }
        asm.registers(X86::Mov_r32_rm32, Register::EAX, RUNNING);
        asm.registers(X86::And_r32_rm32, RUNNING, TESTED);
        // The lanes of before but those that are left.
        asm.registers(X86::Xor_r32_rm32, Register::EAX, RUNNING);
        asm.store(X86::Or_rm32_r32, park, Register::EAX);
        asm.registers(X86::Test_rm32_r32, RUNNING, RUNNING);
    }

    /// The parked lanes run, too; the flags tell whether any does.
    fn take(&mut self, park: u16) {
        let park = MemoryOperand::with_base_displ(MASKS, i64::from(park) * 4);
        let asm = self.asm();
        asm.load(X86::Or_r32_rm32, RUNNING, park);
        asm.put(Instruction::with2(X86::Mov_rm32_imm32, park, 0));
        asm.registers(X86::Test_rm32_r32, RUNNING, RUNNING);
    }

    /// Instructions that the interpreter runs: in modelled code by itself, else it is called.
    fn interpreted(&mut self, rows: Range<usize>) {
        if self.part.code.modelled {
            return self.stop(rows.start, state::LEFT);
        }
        let ended = self.ended;
        let asm = self.asm();
        asm.store(X86::Mov_rm32_r32, field(state::MASK), RUNNING);
        asm.store(X86::Mov_rm32_r32, field(state::FUEL), FUEL);
        asm.put(Ok(Instruction::with(X86::VEX_Vzeroupper)));
        asm.registers(X86::Mov_r64_rm64, Register::RDI, STATE);
        asm.immediate(X86::Mov_r32_imm32, Register::ESI, rows.start as i32);
        asm.immediate(X86::Mov_r32_imm32, Register::EDX, rows.end as i32);
        asm.put(Instruction::with1(X86::Call_rm64, field(state::ROWS)));
        asm.registers(X86::Test_rm64_r64, Register::RAX, Register::RAX);
        asm.branch(X86::Je_rel32_64, ended);
        asm.load(X86::Mov_r32_rm32, RUNNING, field(state::MASK));
        asm.load(X86::Mov_r32_rm32, FUEL, field(state::FUEL));
        asm.put(Instruction::with1(X86::Jmp_rm64, Register::RAX));
    }

    /// The strand stops, and goes on at an instruction.
    fn stop(&mut self, row: usize, how: u32) {
        let epilogue = self.epilogue;
        let asm = self.asm();
        asm.put(Instruction::with2(X86::Mov_rm32_imm32, field(state::PC), row as i32));
        asm.store(X86::Mov_rm32_r32, field(state::MASK), RUNNING);
        asm.store(X86::Mov_rm32_r32, field(state::FUEL), FUEL);
        asm.immediate(X86::Mov_r32_imm32, Register::EAX, how as i32);
        asm.branch(X86::Jmp_rel32_64, epilogue);
    }

    /// The ways out, behind everything else.
    fn exits(&mut self) {
        for (label, exit) in std::mem::take(&mut self.exits) {
            self.asm().bind(label);
            let region = match exit {
                Exit::Region(region, _) => Some(region),
                Exit::Stop(region, ..) | Exit::Interpreted(region, _) => region,
            };
            if let Some(region) = region {
                let pinned = self.regions[region].pinned.clone();
                self.part.pin(pinned);
                self.store_region(region);
            }
            match exit {
                Exit::Region(_, to) => {
                    let to = self.labels[&to];
                    self.asm().branch(X86::Jmp_rel32_64, to);
                }
                Exit::Interpreted(_, row) => self.interpreted(row..row + 1),
                Exit::Stop(_, row, how) => self.stop(row, how),
            }
        }
        for (row, pad) in self.pads.clone() {
            let Some(region) = self.region(row) else { continue };
            self.asm().bind(pad);
            let (pinned, on) = (self.regions[region].pinned.clone(), self.labels[&row]);
            self.part.pin(pinned);
            self.part.load_pinned();
            self.asm().branch(X86::Jmp_rel32_64, on);
        }
    }
}

/// A field of the state.
fn field(offset: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(STATE, offset as i64)
}
