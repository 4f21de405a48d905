//! How code is divided: into loops whose values stay in host registers, and into lines.

use super::super::across::is_across;
use super::super::assembler::Label;
use super::super::image::ImageAccess;
use super::super::memory::Access;
use super::super::registers::vector_operands;
use super::super::rows::{is_long, needs_many};
use super::{LINE, Translator, Treatment, target};
use crate::code::{Inst, Opcode};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;

/// Host registers that a line needs for itself in a region.
const SCRATCH: u8 = 8;
/// The same, if one of its instructions needs many.
const MUCH_SCRATCH: u8 = 12;

/// A loop whose instructions all have encodings.
pub(super) struct Region {
    pub(super) rows: Range<usize>,
    /// The vector registers that stay in host registers.
    pub(super) pinned: Vec<u16>,
    /// Those that it writes.
    pub(super) written: Vec<u16>,
    /// Its first instruction, reached from inside.
    pub(super) again: Label,
}

/// The loops: from the target of a back-edge to the last one to it.
pub(super) fn loops(code: &[Inst]) -> Vec<Range<usize>> {
    let mut ends: FxHashMap<usize, usize> = FxHashMap::default();
    for (row, inst) in code.iter().enumerate() {
        if let Some(to) = target(inst).filter(|to| *to <= row) {
            let end = ends.entry(to).or_insert(row);
            *end = row.max(*end);
        }
    }
    let mut loops: Vec<Range<usize>> = ends.into_iter().map(|(start, end)| start..end + 1).collect();
    loops.sort_by_key(|rows| (rows.start, usize::MAX - rows.end));
    loops
}

impl Translator<'_> {
    /// The outermost loops all of whose instructions have encodings, which nothing enters but at their
    /// first.
    pub(super) fn find_regions(&mut self, loops: &[Range<usize>], depth: impl Fn(usize) -> u32) {
        let code = self.code();
        for rows in loops {
            let inside = self.regions.iter().any(|region| region.rows.contains(&rows.start));
            let encoded = self.kinds[rows.clone()].iter().all(|kind| *kind != Treatment::Interpreted);
            let stops = code[rows.clone()].iter().any(|inst| inst.op == Opcode::ControlBarrier);
            let large = code[rows.clone()].iter().any(|inst| {
                let image = ImageAccess::of(self.part.code, &self.part.images, inst);
                image.is_some_and(|image| image.is_large(self.part.code))
            });
            if inside || !encoded || stops || large || self.is_entered(rows) {
                continue;
            }
            let mut weights: FxHashMap<u16, (u64, bool)> = FxHashMap::default();
            let mut much = false;
            for row in rows.clone() {
                let inst = &code[row];
                much |= needs_many(inst.op) || Access::of(self.part.code, inst).is_some();
                much |= inst.op == Opcode::Image || is_across(self.part.code, inst);
                for (register, _, writes) in vector_operands(self.part.code, inst) {
                    // Shifts by a constant do not read it.
                    let weight = weights.entry(register).or_default();
                    weight.0 += 8u64.pow(depth(row));
                    weight.1 |= writes;
                }
            }
            let mut order: Vec<(u16, u64)> = weights.iter().map(|(k, weight)| (*k, weight.0)).collect();
            order.sort_by_key(|(register, weight)| (u64::MAX - weight, *register));
            let form = self.part.form;
            let scratch = if much { MUCH_SCRATCH } else { SCRATCH };
            let most = usize::from(form.registers() - scratch) / form.parts();
            let pinned: Vec<u16> = order.iter().map(|(register, _)| *register).take(most).collect();
            let written = pinned.iter().copied().filter(|register| weights[register].1).collect();
            let again = self.asm().label();
            self.regions.push(Region { rows: rows.clone(), pinned, written, again });
        }
    }

    /// Whether something jumps into a loop, but to its first instruction.
    pub(super) fn is_entered(&self, rows: &Range<usize>) -> bool {
        self.code().iter().enumerate().any(|(row, inst)| {
            !rows.contains(&row) && target(inst).is_some_and(|to| to > rows.start && rows.contains(&to))
        })
    }

    /// The region that an instruction is in.
    pub(super) fn region(&self, row: usize) -> Option<usize> {
        self.regions.iter().position(|region| region.rows.contains(&row))
    }

    /// Labels where lines begin.
    pub(super) fn find_lines(&mut self) {
        let code = self.code();
        let mut begins = vec![false; code.len()];
        begins[0] = true;
        for (row, inst) in code.iter().enumerate() {
            if let Some(to) = target(inst) {
                begins[to] = true;
            }
            let follows = self.kinds.get(row + 1);
            let ends = self.kinds[row] == Treatment::Control
                || follows.is_some_and(|next| {
                    (*next == Treatment::Interpreted) != (self.kinds[row] == Treatment::Interpreted)
                });
            let lanes = self.kinds[row] == Treatment::Lanes;
            let access = || Access::of(self.part.code, inst);
            // Which memory it is, the code finds out first: it may be the interpreter's.
            let asks = lanes
                && (inst.op == Opcode::Image || access().is_some_and(|access| access.asks(self.part.code)));
            let alone = asks || lanes && is_across(self.part.code, inst);
            begins[row] |= alone;
            if (ends || alone) && row + 1 < code.len() {
                begins[row + 1] = true;
            }
            let region = self.region(row);
            if asks
                && region.is_some_and(|region| self.regions[region].rows.start != row + 1)
                && self.region(row + 1) == region
            {
                let label = self.asm().label();
                self.pads.push((row + 1, label));
            }
        }
        if self.part.code.modelled {
            // The interpreter may come to the beginning of each loop.
            let starts =
                code.iter().enumerate().filter_map(|(row, inst)| target(inst).filter(|to| *to <= row));
            for row in starts.collect::<BTreeSet<usize>>() {
                if self.region(row).is_some_and(|region| self.regions[region].rows.start != row) {
                    let label = self.asm().label();
                    self.pads.push((row, label));
                }
            }
        }
        self.cut_lines(&mut begins);
        for row in (0..code.len()).filter(|row| begins[*row]) {
            let label = self.asm().label();
            self.labels.insert(row, label);
        }
    }

    /// Begins further lines in those that are long: the parts of the lanes depend on nothing of each other,
    /// so that the processor works on several at once, but only where they are near each other in the code.
    fn cut_lines(&self, begins: &mut [bool]) {
        let mut length = 0;
        for (row, inst) in self.code().iter().enumerate() {
            let weight = if is_long(inst.op) { LINE } else { 1 };
            if begins[row] {
                length = 0;
            } else if self.kinds[row] == Treatment::Lanes && length + weight > LINE {
                begins[row] = true;
                length = 0;
            }
            length += weight;
        }
    }
}
