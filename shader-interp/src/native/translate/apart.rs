//! Loops that clusters of the lanes run one after the other, each with its values in host registers.
//!
//! As in SPIR-V (*Group and Subgroup Instructions*) a cluster is so many invocations that follow one another.
//! With 16 registers few values of all four parts fit at once. A loop in which nothing crosses lanes or
//! changes memory can be run by some parts up to its end, and then by the next ones: their values stay in
//! registers meanwhile.
//!
//! What the interpreter would leave behind is the same: all lanes are at one instruction after one number of
//! turns, and the lanes that do not run hold what the instructions gave them, too. A cluster that has no
//! running lane left, or whose test tells it to leave, therefore stops only if no other one has come farther;
//! else it goes on, as its lanes do in the interpreter. *How far* is what is left of the fuel, and within a
//! turn which of the loop's exits it is: a number that is the less, the farther. The clusters take turns
//! until all stand at the place of the farthest. That is the first place at which each of them may leave:
//! none goes on from a place where it may while no other is beyond it.

use super::super::assembler::{Assembler, Label};
use super::super::memory::Access;
use super::super::registers::{FUEL, Part, RUNNING, TESTED};
use super::super::state;
use super::regions::Region;
use super::turn::Turn;
use super::{Exit, LINE, Translator, Treatment, field};
use crate::code::Opcode;
use crate::code::isa::AfterTest;
use iced_x86::{Code as X86, Instruction, Register};
use std::ops::Range;

/// Such a loop.
pub(super) struct Apart {
    pub(super) rows: Range<usize>,
    /// The vector registers that stay in host registers.
    pinned: Vec<u16>,
    /// Those that it writes.
    written: Vec<u16>,
    /// Parts that run together.
    together: usize,
}

/// What the loop is left for.
#[derive(Clone, Copy)]
enum Way {
    /// The instruction of this number.
    To(usize),
    /// The end of the fuel, at this one.
    Spent(usize),
}

/// Most exits: what tells the place of one within a turn is added as a signed byte ([`order`]).
const EXITS: usize = 100;

/// Where a cluster leaves.
struct Stop {
    label: Label,
    /// Where it goes on if others have come farther.
    on: Label,
    exit: usize,
}

impl Translator<'_> {
    /// The innermost loops that clusters of lanes can run by themselves: all instructions have encodings and
    /// none changes memory, and lanes leave it for good.
    pub(super) fn find_apart(&mut self, loops: &[Range<usize>]) {
        let code = self.code();
        let mut trial = Part::new(Assembler::new(Vec::new()), self.part.form, self.part.code, Vec::new());
        for rows in loops {
            let exits =
                rows.clone().map(|row| self.ways(rows, row)).try_fold(0, |sum, ways| Some(sum + ways?));
            if exits.is_none_or(|exits| exits > EXITS) {
                continue;
            }
            if self.is_entered(rows) {
                continue;
            }
            let turn = Turn::of(&mut trial, &code[rows.clone()]);
            let (rows, together) = (rows.clone(), turn.together());
            let registers = turn.registers(together);
            let pinned = registers.iter().map(|(register, _)| *register).collect();
            let written = registers.iter().filter(|(_, used)| used.written).map(|(k, _)| *k).collect();
            if together == self.part.form.parts() {
                let again = self.asm().label();
                self.regions.push(Region { rows, pinned, written, again });
            } else {
                self.aparts.push(Apart { rows, pinned, written, together });
            }
        }
    }

    /// The number of exits of a loop that an instruction is; `None` if clusters cannot run it by themselves.
    fn ways(&self, rows: &Range<usize>, row: usize) -> Option<usize> {
        let inst = &self.code()[row];
        let to = inst.imm as usize;
        match self.kinds[row] {
            Treatment::Interpreted => None,
            Treatment::Lanes => {
                let loads = Access::of(self.part.code, inst)
                    .is_none_or(|access| access.only_loads(self.part.code, inst));
                (loads && inst.op != Opcode::Image).then_some(0)
            }
            Treatment::Control => match (inst.op.test(), inst.op) {
                // The only back-edge, behind which nothing of the loop follows.
                (Some((_, AfterTest::Repeat)), _) | (None, Opcode::Repeat) if row + 1 == rows.end => {
                    (to == rows.start).then_some(2)
                }
                (Some((_, AfterTest::Repeat)), _) => None,
                (Some(_), _) | (None, Opcode::Split | Opcode::SplitNot | Opcode::JumpUnless) => {
                    (!rows.contains(&to)).then_some(1)
                }
                _ => None,
            },
        }
    }

    /// The loop that an instruction is in.
    pub(super) fn apart(&self, row: usize) -> Option<usize> {
        self.aparts.iter().position(|apart| apart.rows.contains(&row))
    }

    /// Whether an instruction is the loop's first.
    pub(super) fn is_start(&self, apart: usize, row: usize) -> bool {
        self.aparts[apart].rows.start == row
    }

    /// The code of a loop, for each cluster.
    pub(super) fn run_apart(&mut self, index: usize) {
        let Apart { rows, pinned, written, together } = &self.aparts[index];
        let (rows, pinned, written, together) = (rows.clone(), pinned.clone(), written.clone(), *together);
        let parts = self.part.form.parts();
        let clusters: Vec<Range<usize>> =
            (0..parts / together).map(|k| k * together..(k + 1) * together).collect();
        let labels: Vec<[Label; 3]> = clusters.iter().map(|_| [(); 3].map(|()| self.asm().label())).collect();
        let (scan, entry) = (self.asm().label(), self.labels[&rows.start]);
        self.asm().bind(entry);
        for (k, cluster) in clusters.iter().enumerate() {
            let lanes = 32 / parts;
            let bits = u32::MAX >> (32 - lanes * together) << (lanes * cluster.start);
            let asm = self.asm();
            asm.registers(X86::Mov_r32_rm32, Register::EAX, RUNNING);
            asm.put(Instruction::with2(X86::And_EAX_imm32, Register::EAX, bits as i32));
            asm.store(X86::Mov_rm32_r32, field(state::cluster_mask(k)), Register::EAX);
            asm.store(X86::Mov_rm32_r32, field(state::cluster_fuel(k)), FUEL);
            asm.put(Instruction::with2(X86::Mov_rm64_imm32, field(state::cluster_place(k)), -1i32));
        }
        // A cluster that has not begun stands at -1, and no exit is as near as -2.
        self.asm().put(Instruction::with2(X86::Mov_rm64_imm32, field(state::FARTHEST), -2i32));
        let mut ways = Vec::new();
        for (k, cluster) in clusters.iter().enumerate() {
            let [resume, first, leave] = labels[k];
            self.asm().bind(resume);
            self.part.pin_parts(cluster.clone(), pinned.clone());
            self.part.load_pinned();
            let asm = self.asm();
            asm.load(X86::Mov_r32_rm32, RUNNING, field(state::cluster_mask(k)));
            asm.load(X86::Mov_r32_rm32, FUEL, field(state::cluster_fuel(k)));
            asm.put(Instruction::with2(X86::Cmp_rm64_imm8, field(state::cluster_place(k)), -1i32));
            asm.branch(X86::Je_rel32_64, first);
            asm.put(Instruction::with1(X86::Jmp_rm64, field(state::cluster_resume(k))));
            asm.bind(first);
            ways.clear();
            let stops = self.turns(&rows, first, &mut ways);
            for stop in stops {
                let asm = self.asm();
                asm.bind(stop.label);
                asm.registers(X86::Mov_r32_rm32, Register::EAX, FUEL);
                asm.immediate(X86::Shl_rm64_imm8, Register::RAX, 8);
                asm.immediate(X86::Add_rm64_imm8, Register::RAX, order(stop.exit));
                asm.load(X86::Cmp_r64_rm64, Register::RAX, field(state::FARTHEST));
                asm.branch(X86::Ja_rel32_64, stop.on);
                asm.store(X86::Mov_rm64_r64, field(state::FARTHEST), Register::RAX);
                asm.address(Register::RDX, stop.on);
                asm.store(X86::Mov_rm64_r64, field(state::cluster_resume(k)), Register::RDX);
                asm.branch(X86::Jmp_rel32_64, leave);
            }
            self.asm().bind(leave);
            self.part.store_pinned(&pinned, |register| written.contains(&register));
            let asm = self.asm();
            asm.store(X86::Mov_rm32_r32, field(state::cluster_mask(k)), RUNNING);
            asm.store(X86::Mov_rm32_r32, field(state::cluster_fuel(k)), FUEL);
            asm.store(X86::Mov_rm64_r64, field(state::cluster_place(k)), Register::RAX);
            if k + 1 < clusters.len() {
                asm.branch(X86::Jmp_rel32_64, scan);
            }
        }
        self.part.pin(Vec::new());
        let asm = self.asm();
        asm.bind(scan);
        asm.load(X86::Mov_r64_rm64, Register::RAX, field(state::FARTHEST));
        for (k, [resume, ..]) in labels.iter().enumerate() {
            asm.load(X86::Cmp_r64_rm64, Register::RAX, field(state::cluster_place(k)));
            asm.branch(X86::Jne_rel32_64, *resume);
        }
        // All stand at one exit, after as many turns.
        asm.load(X86::Mov_r32_rm32, RUNNING, field(state::cluster_mask(0)));
        for k in 1..clusters.len() {
            asm.load(X86::Or_r32_rm32, RUNNING, field(state::cluster_mask(k)));
        }
        asm.load(X86::Mov_r32_rm32, FUEL, field(state::cluster_fuel(0)));
        for (exit, way) in ways.iter().enumerate() {
            let label = self.way_out(*way);
            if exit + 1 < ways.len() {
                self.asm().put(Instruction::with2(X86::Cmp_AL_imm8, Register::AL, order(exit)));
            }
            let code = if exit + 1 < ways.len() { X86::Je_rel32_64 } else { X86::Jmp_rel32_64 };
            self.asm().branch(code, label);
        }
    }

    /// Where all lanes go on.
    fn way_out(&mut self, way: Way) -> Label {
        match way {
            Way::To(row) => self.labels[&row],
            Way::Spent(row) => {
                let label = self.asm().label();
                self.exits.push((label, Exit::Stop(None, row, state::OUT_OF_FUEL)));
                label
            }
        }
    }

    /// The turns of the cluster at hand.
    fn turns(&mut self, rows: &Range<usize>, first: Label, ways: &mut Vec<Way>) -> Vec<Stop> {
        let mut stops = Vec::new();
        let mut row = rows.start;
        while row < rows.end {
            // As elsewhere the parts' code stays near each other.
            let limit = rows.end.min(row + LINE);
            let control = (row..limit).find(|row| self.kinds[*row] == Treatment::Control);
            let end = control.unwrap_or(limit);
            self.each_part(row..end, control, None);
            if let Some(control) = control {
                self.leave_or_turn(rows, control, first, ways, &mut stops);
            }
            row = end + usize::from(control.is_some());
        }
        stops
    }

    /// What a control instruction of the loop does with the cluster's lanes, of which [`TESTED`] tells.
    fn leave_or_turn(
        &mut self,
        rows: &Range<usize>,
        row: usize,
        first: Label,
        ways: &mut Vec<Way>,
        stops: &mut Vec<Stop>,
    ) {
        let inst = &self.code()[row];
        let mut stop = |this: &mut Self, way: Way, on: Label| {
            let label = this.asm().label();
            stops.push(Stop { label, on, exit: ways.len() });
            ways.push(way);
            label
        };
        let on = self.asm().label();
        let after = inst.op.test().map(|(_, after)| after);
        match (after, inst.op) {
            (Some(AfterTest::Repeat), _) | (None, Opcode::Repeat) => {
                if after.is_some() {
                    let leaves = stop(self, Way::To(rows.end), on);
                    self.asm().registers(X86::Test_rm32_r32, TESTED, RUNNING);
                    self.asm().branch(X86::Je_rel32_64, leaves);
                    self.asm().bind(on);
                }
                // Nothing is farther than the end of the fuel, of which there is some at the beginning.
                let spent = stop(self, Way::Spent(row), first);
                self.asm().put(Instruction::with2(X86::Sub_rm32_imm8, FUEL, 1));
                self.asm().branch(X86::Je_rel32_64, spent);
                self.asm().branch(X86::Jmp_rel32_64, first);
            }
            (Some(AfterTest::Jump), _) | (None, Opcode::JumpUnless) => {
                let leaves = stop(self, Way::To(inst.imm as usize), on);
                self.asm().registers(X86::Test_rm32_r32, TESTED, RUNNING);
                self.asm().branch(X86::Je_rel32_64, leaves);
                self.asm().bind(on);
            }
            _ => {
                let leaves = stop(self, Way::To(inst.imm as usize), on);
                self.split(inst);
                self.asm().branch(X86::Je_rel32_64, leaves);
                self.asm().bind(on);
            }
        }
    }
}

/// What tells an exit from earlier ones of the same turn, which have more.
fn order(exit: usize) -> i32 {
    (EXITS - exit) as i32
}
