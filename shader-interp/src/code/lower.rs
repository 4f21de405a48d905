//! From the tree to a line of instructions over virtual registers.

use super::isa::Opcode;
use super::plan::Plan;
use super::uniform::{LoopId, Uniformity};
use super::{BarrierEntry, ImageEntry, MatrixEntry, MemoryEntry, Pin, PrintEntry};
use crate::error::CompileError;
use crate::interface::CompileOptions;
use crate::ir::{GroupFold, GroupKind, Label, Scalar, Shader, Value, ValueName};
use pellucid_memory::access::Site;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An operand before registers are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// Nothing, or 0.
    None,
    /// Part `.1` of virtual register `.0`.
    Register(u32, u16),
    /// A park register.
    Park(u16),
    /// A number.
    Literal(u16),
}

impl Name {
    /// The register `n` after this one, in the same run.
    pub fn part(self, n: u16) -> Name {
        match self {
            Name::Register(register, part) => Name::Register(register, part + n),
            other => other,
        }
    }

    /// A number that stands for a register in tables until [`super::allocate`].
    pub fn encode(self) -> u32 {
        match self {
            Name::Register(register, part) => register << 8 | u32::from(part),
            _ => 0,
        }
    }
}

/// An immediate before labels are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Immediate {
    Number(u32),
    Label(u32),
}

/// An instruction before registers are assigned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub op: Opcode,
    pub dst: Name,
    pub a: Name,
    pub b: Name,
    pub c: Name,
    pub aux: Name,
    pub imm: Immediate,
}

/// A virtual register: a run of vector registers, or a mask register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Virtual {
    /// Vector registers; 0 for a mask register.
    pub run: u16,
    pub within: LoopId,
    /// First and last position of its life; position 2 i is before, 2 i + 1 after instruction i reads.
    pub start: u32,
    pub end: u32,
    /// Pinned at this register.
    pub pinned: Option<u32>,
    /// The loop over which it was stretched already.
    stretched: LoopId,
}

/// What [`lower`] makes.
#[derive(Default)]
pub(super) struct Lowered {
    pub lines: Vec<Line>,
    pub registers: Vec<Virtual>,
    /// Registers that live for all of a loop.
    pub stretches: Vec<(u32, LoopId)>,
    /// First and last line of each loop.
    pub loops: Vec<(u32, u32)>,
    pub labels: Vec<u32>,
    /// For debug information: the first line of each run of one site, and where named values are.
    pub sites: Vec<(u32, Site)>,
    pub named: Vec<(ValueName, Scalar, Named)>,
    /// Labels of joins that turned out not to be needed, and of those around them, inner ones first.
    pub no_joins: Vec<(u32, u32)>,
    pub pins: Vec<Pin>,
    pub parks: u16,
    pub memory: Vec<MemoryEntry>,
    pub barriers: Vec<BarrierEntry>,
    pub images: Vec<ImageEntry>,
    pub prints: Vec<PrintEntry>,
    pub matrices: Vec<MatrixEntry>,
    pub views: Vec<(u32, u32)>,
    /// Lines of back-edges with the label where parked lanes go on.
    pub back_edges: Vec<(u32, u32)>,
    pub workgroup_barriers: bool,
    pub groups: Vec<(GroupFold, GroupKind, Scalar)>,
    /// Copies `parameter = argument` at the end of a loop that may share a register: parameter, argument,
    /// loop.
    pub carried: Vec<(u32, u32, LoopId)>,
    /// Blocks that lanes may have left at a barrier: barrier, park, end.
    pub open_at_barrier: Vec<(u32, u16, u32)>,
}

pub(super) type Result<T> = std::result::Result<T, CompileError>;

pub(super) fn not_implemented<T>(what: impl Into<String>) -> Result<T> {
    Err(CompileError::NotImplemented(what.into()))
}

pub(super) struct BlockState {
    /// Where lanes that leave go on.
    pub end: u32,
    pub park: Option<u16>,
    pub park_uses: u32,
    pub results: SmallVec<[Name; 4]>,
}

pub(super) struct LoopState {
    pub head: u32,
    pub park: Option<u16>,
    pub parameters: SmallVec<[Name; 4]>,
}

pub(super) struct Generator<'a> {
    pub shader: &'a Shader,
    pub uniformity: &'a Uniformity,
    pub plan: &'a Plan,
    pub subgroup_size: u32,
    pub modelled: bool,
    pub debug: bool,
    pub out: Lowered,
    pub names: Vec<Name>,
    pub homes: Vec<Name>,
    pub current_loop: LoopId,
    pub next_if: usize,
    pub next_jump: usize,
    /// Joins that lanes with an empty mask go to, innermost last.
    pub pending: Vec<u32>,
    pub parks_in_use: u16,
    pub blocks: FxHashMap<Label, BlockState>,
    pub loops: FxHashMap<Label, LoopState>,
    pub pinned: FxHashMap<SmallVec<[Pin; 2]>, Name>,
    pub view_slots: FxHashMap<(u32, u32), u16>,
    pub next_pin: u32,
    pub truth: [Name; 2],
    /// The line after which a label was placed: the last line may not be taken back then.
    pub last_label: u32,
    /// Blocks with a park that are open: park, end.
    pub open_blocks: Vec<(u16, u32)>,
}

/// Lowers `shader`.
pub(super) fn lower(
    shader: &Shader,
    uniformity: &Uniformity,
    plan: &Plan,
    options: &CompileOptions,
) -> Result<Lowered> {
    let count = shader.values.len();
    let mut generator = Generator {
        shader,
        uniformity,
        plan,
        subgroup_size: options.subgroup_size,
        modelled: options.modelled,
        debug: options.debug,
        out: Lowered { loops: vec![(0, 0); uniformity.loops.len()], ..Lowered::default() },
        names: vec![Name::None; count],
        homes: vec![Name::None; count],
        current_loop: 0,
        next_if: 0,
        next_jump: 0,
        pending: Vec::new(),
        parks_in_use: 0,
        blocks: FxHashMap::default(),
        loops: FxHashMap::default(),
        pinned: FxHashMap::default(),
        view_slots: FxHashMap::default(),
        next_pin: 0,
        truth: [Name::None; 2],
        last_label: u32::MAX,
        open_blocks: Vec::new(),
    };
    for k in 0..2 {
        let register = generator.virtual_register(0);
        generator.out.registers[register as usize].pinned = Some(k);
        generator.truth[k as usize] = Name::Register(register, 0);
    }
    if options.debug {
        generator.out.sites.push((0, Site(0)));
    }
    let end = generator.label();
    generator.pending.push(end);
    generator.region(&shader.body)?;
    generator.place(end);
    generator.emit(Opcode::Done, Name::None, &[])?;
    for (label, outer) in generator.out.no_joins.drain(..).rev() {
        generator.out.labels[label as usize] = generator.out.labels[outer as usize];
    }
    generator.name_values();
    Ok(generator.out)
}

/// Where a named value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    Constant(u64),
    Register(u32, u16),
}

impl Generator<'_> {
    /// The lines that follow come from this instruction.
    pub fn at_site(&mut self, site: Site) {
        if self.debug && self.out.sites.last().is_none_or(|(_, last)| *last != site) {
            self.out.sites.push((self.here(), site));
        }
    }

    fn name_values(&mut self) {
        for name in &self.shader.names {
            let (k, scalar) = (name.value.0 as usize, self.scalar(name.value));
            if let Some(bits) = self.plan.constants.get(&name.value) {
                self.out.named.push((*name, scalar, Named::Constant(*bits)));
            }
            for register in [self.names[k], self.homes[k]] {
                if let Name::Register(register, part) = register {
                    self.out.named.push((*name, scalar, Named::Register(register, part)));
                }
            }
        }
    }

    pub fn scalar(&self, value: Value) -> Scalar {
        self.shader.values[value.0 as usize]
    }

    /// A new virtual register: a run of vector registers, or a mask (`run` 0).
    pub fn virtual_register(&mut self, run: u16) -> u32 {
        self.out.registers.push(Virtual {
            run,
            within: self.current_loop,
            start: u32::MAX,
            end: 0,
            pinned: None,
            stretched: u32::MAX,
        });
        self.out.registers.len() as u32 - 1
    }

    pub fn fresh(&mut self, run: u16) -> Name {
        Name::Register(self.virtual_register(run), 0)
    }

    /// A new register for a value of this type.
    pub fn fresh_for(&mut self, scalar: Scalar) -> Name {
        self.fresh(words(scalar))
    }

    /// A pinned run.
    pub fn pin(&mut self, pins: &[Pin]) -> Name {
        if let Some(name) = self.pinned.get(pins) {
            return *name;
        }
        let register = self.virtual_register(pins.len() as u16);
        self.out.registers[register as usize].pinned = Some(self.next_pin);
        self.next_pin += pins.len() as u32;
        self.out.pins.extend_from_slice(pins);
        let name = Name::Register(register, 0);
        self.pinned.insert(pins.iter().copied().collect(), name);
        name
    }

    pub fn constant(&mut self, bits: u32) -> Name {
        self.pin(&[Pin::Word(bits)])
    }

    pub fn constant_of(&mut self, scalar: Scalar, bits: u64) -> Name {
        match words(scalar) {
            0 => self.truth[usize::from(bits != 0)],
            1 => self.constant(bits as u32),
            _ => self.pin(&[Pin::Word(bits as u32), Pin::Word((bits >> 32) as u32)]),
        }
    }

    pub fn view_slot(&mut self, binding: u32, element: u32) -> Result<u16> {
        if let Some(slot) = self.view_slots.get(&(binding, element)) {
            return Ok(*slot);
        }
        let slot = u16::try_from(self.out.views.len())
            .map_err(|_| CompileError::Limit("more than 65536 descriptors named by constants".into()))?;
        self.out.views.push((binding, element));
        self.view_slots.insert((binding, element), slot);
        Ok(slot)
    }

    /// The register of a value as seen from here.
    pub fn value(&mut self, value: Value) -> Result<Name> {
        let k = value.0 as usize;
        if let Some(bits) = self.plan.constants.get(&value) {
            return Ok(self.constant_of(self.scalar(value), *bits));
        }
        let name = if self.uniformity.escaped(value, self.current_loop).is_some() {
            self.homes[k]
        } else {
            self.names[k]
        };
        if name == Name::None {
            return Err(CompileError::Invalid(format!("value {} is used before its definition", value.0)));
        }
        Ok(name)
    }

    pub fn uniform(&self, value: Value) -> bool {
        self.uniformity.uniform_at(value, self.current_loop)
    }

    /// Names a value, and copies it home if lanes carry it out of a loop.
    pub fn define(&mut self, value: Value, name: Name) -> Result<()> {
        self.names[value.0 as usize] = name;
        if let Some(holder) = self.uniformity.home[value.0 as usize] {
            let run = words(self.scalar(value));
            let home = match self.homes[value.0 as usize] {
                Name::Register(register, _) => register,
                _ => self.virtual_register(run),
            };
            self.out.registers[home as usize].within = holder;
            let home = Name::Register(home, 0);
            self.homes[value.0 as usize] = home;
            self.moves(&[(home, name, self.scalar(value))], true)?;
        }
        Ok(())
    }

    // ---- lines ----

    pub fn label(&mut self) -> u32 {
        self.out.labels.push(u32::MAX);
        self.out.labels.len() as u32 - 1
    }

    pub fn here(&self) -> u32 {
        self.out.lines.len() as u32
    }

    pub fn place(&mut self, label: u32) {
        self.out.labels[label as usize] = self.here();
        self.last_label = self.here();
    }

    /// Notes that a register is read or written here.
    pub fn touch(&mut self, name: Name, position: u32) {
        let Name::Register(register, _) = name else { return };
        let within = self.out.registers[register as usize].within;
        let mut outermost = None;
        let mut from = self.current_loop;
        if from != within {
            while from != 0 && !self.uniformity.encloses(from, within) {
                outermost = Some(from);
                from = self.uniformity.loops[from as usize].parent;
            }
        }
        let virtual_register = &mut self.out.registers[register as usize];
        virtual_register.start = virtual_register.start.min(position);
        virtual_register.end = virtual_register.end.max(position);
        if let Some(stretch) = outermost
            && virtual_register.stretched != stretch
            && virtual_register.pinned.is_none()
        {
            virtual_register.stretched = stretch;
            self.out.stretches.push((register, stretch));
        }
    }

    pub fn emit(&mut self, op: Opcode, dst: Name, operands: &[Name]) -> Result<()> {
        self.emit_with(op, dst, operands, Immediate::Number(0))
    }

    pub fn emit_with(&mut self, op: Opcode, dst: Name, operands: &[Name], imm: Immediate) -> Result<()> {
        let line = self.here();
        if line >= 1 << 30 {
            return Err(CompileError::Limit("more than 2^30 instructions".into()));
        }
        let late = u32::from(!op.lane_wise());
        let get = |k: usize| operands.get(k).copied().unwrap_or(Name::None);
        for operand in operands {
            self.touch(*operand, 2 * line + late);
        }
        self.touch(dst, 2 * line + 1);
        self.out.lines.push(Line { op, dst, a: get(0), b: get(1), c: get(2), aux: get(3), imm });
        Ok(())
    }

    /// An operation that reads and writes registers by a table.
    pub fn emit_entry(&mut self, op: Opcode, touched: &[Name], entry: usize) -> Result<()> {
        let position = 2 * self.here() + 1;
        for name in touched {
            self.touch(*name, position);
        }
        self.emit_with(op, Name::None, &[], Immediate::Number(entry as u32))
    }

    /// An operation with a new result.
    pub fn compute(&mut self, op: Opcode, run: u16, operands: &[Name]) -> Result<Name> {
        let dst = self.fresh(run);
        self.emit(op, dst, operands)?;
        Ok(dst)
    }

    /// Copies all `(to, from)` at once, under the running mask if `masked`.
    pub fn moves(&mut self, list: &[(Name, Name, Scalar)], masked: bool) -> Result<()> {
        let mut list: Vec<(Name, Name, bool)> = list
            .iter()
            .flat_map(|(to, from, scalar)| {
                (0..words(*scalar).max(1)).map(|k| (to.part(k), from.part(k), *scalar == Scalar::Bool))
            })
            .filter(|(to, from, _)| to != from)
            .collect();
        while !list.is_empty() {
            let free = list.iter().position(|(to, ..)| list.iter().all(|(_, from, _)| from != to));
            let k = match free {
                Some(k) => k,
                None => {
                    // A cycle: save one source.
                    let (_, from, mask) = list[0];
                    let saved = self.fresh(u16::from(!mask));
                    self.emit(if mask { Opcode::MaskMov } else { Opcode::Mov }, saved, &[from])?;
                    list.iter_mut().filter(|l| l.1 == from).for_each(|l| l.1 = saved);
                    continue;
                }
            };
            let (to, from, mask) = list.swap_remove(k);
            let op = match (mask, masked) {
                (false, false) => Opcode::Mov,
                (false, true) => Opcode::MovMasked,
                (true, false) => Opcode::MaskMov,
                (true, true) => Opcode::MaskMovMasked,
            };
            self.emit(op, to, &[from])?;
        }
        Ok(())
    }
}

/// Vector registers of a value; 0 for a mask.
pub(super) fn words(scalar: Scalar) -> u16 {
    match scalar {
        Scalar::Bool => 0,
        Scalar::I64 | Scalar::F64 => 2,
        _ => 1,
    }
}
