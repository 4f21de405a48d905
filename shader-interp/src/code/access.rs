//! Memory operations, barriers, subgroup operations and images.

use super::isa::Opcode;
use super::lower::{Generator, Immediate, Name, Result, not_implemented, words};
use super::plan::Offset;
use super::{ElementIndex, ImageEntry, MatrixEntry, MemoryEntry, NOTES, Pin, PrintEntry, Space};
use crate::ir::{GroupFold, GroupKind, ImageOperand, MatrixMulAdd, Op, OpKind, Place, Scalar, Value};
use crate::ops::image::ImageInstruction;
use pellucid_memory::access::{Access, AtomicOp};
use smallvec::SmallVec;

type Names = SmallVec<[Name; 8]>;

/// Whether the modelled mode stops before the access.
fn is_visible(access: &Access) -> bool {
    access.atomic.is_some() || access.available.is_some() || access.visible.is_some() || access.volatile
}

impl Generator<'_> {
    /// An operation that is not pure.
    pub(super) fn access(&mut self, op: &Op) -> Result<()> {
        match &op.kind {
            OpKind::Load { place, access } => self.load(op, place, access),
            OpKind::Store { place, access } => self.store(op, place, access),
            OpKind::Atomic { op: atomic, place, access } => self.atomic(op, *atomic, place, access),
            OpKind::BufferSize { binding, element } => {
                let (space, element) = self.buffer(*binding, *element)?;
                let result = self.fresh(1);
                let entry = MemoryEntry {
                    space,
                    result: result.encode(),
                    ..self.entry(op, &Access::plain(Default::default(), 4, 1))
                };
                self.memory(Opcode::BufferSize, entry, &[element, result])?;
                self.define(op.results[0], result)
            }
            OpKind::MemoryBarrier { scope, semantics } => self.memory_barrier(op.site, *scope, semantics),
            OpKind::ControlBarrier { execution, memory, semantics } => {
                self.control_barrier(op.site, *execution, *memory, semantics)
            }
            OpKind::Print(format) => {
                let mut touched = Names::new();
                for argument in &op.arguments {
                    let name = self.value(*argument)?;
                    touched.extend((0..words(self.scalar(*argument))).map(|word| name.part(word)));
                }
                let registers = touched.iter().map(|name| name.encode()).collect();
                self.out.prints.push(PrintEntry { site: op.site, format: *format, registers });
                self.emit_entry(Opcode::Print, &touched, self.out.prints.len() - 1)
            }
            OpKind::Note(id) => {
                let k = NOTES.iter().position(|note| note == id).unwrap_or(0) as u16;
                let operands = [self.value(op.arguments[0])?, Name::None, Name::None, Name::Literal(k)];
                self.emit_with(Opcode::NoteWhere, Name::None, &operands, Immediate::Number(op.site.0))
            }
            OpKind::NoteDiverging => {
                let element = self.value(op.arguments[0])?;
                self.emit_with(Opcode::NoteDiverging, Name::None, &[element], Immediate::Number(op.site.0))
            }
            OpKind::CheckDefined { whole } => {
                let shadow = self.value(op.arguments[0])?;
                let whole = Immediate::Number(u32::from(*whole));
                self.emit_with(Opcode::CheckDefined, Name::None, &[shadow], whole)
            }
            OpKind::ReadUndefined => {
                let name = self.compute(Opcode::ReadUndefined, 1, &[])?;
                self.define(op.results[0], name)
            }
            OpKind::StoreUndefined { component } => {
                let shadow = self.value(op.arguments[0])?;
                let component = Immediate::Number(u32::from(*component));
                self.emit_with(Opcode::StoreUndefined, Name::None, &[shadow], component)
            }
            OpKind::ReadClock(_) => {
                let name = self.compute(Opcode::ReadClock, 2, &[])?;
                self.define(op.results[0], name)
            }
            kind => match kind.image() {
                Some(image) => self.image(op, image),
                None => match kind {
                    OpKind::MatrixMulAdd(product) => self.matrix_mul_add(op, *product),
                    _ => self.subgroup(op),
                },
            },
        }
    }

    fn entry(&self, op: &Op, access: &Access) -> MemoryEntry {
        MemoryEntry {
            site: op.site,
            access: *access,
            space: Space::Push,
            offset: 0,
            shift: 0,
            immediate: 0,
            result: 0,
            values: SmallVec::new(),
            comparator: SmallVec::new(),
            atomic: None,
            visible: is_visible(access),
        }
    }

    /// A buffer descriptor, and the register of its element.
    fn buffer(&mut self, binding: u32, element: Option<Value>) -> Result<(Space, Name)> {
        let element = match element {
            None => 0,
            Some(value) => match self.plan.constants.get(&value) {
                Some(bits) => *bits as u32,
                None => {
                    let name = self.value(value)?;
                    return Ok((Space::Element { binding, element: name.encode() }, name));
                }
            },
        };
        Ok((Space::View(self.view_slot(binding, element)?), Name::None))
    }

    /// Fills in where the access goes; returns the registers it reads for that.
    fn locate(&mut self, entry: &mut MemoryEntry, place: &Place) -> Result<Names> {
        let mut touched = Names::new();
        let (offset, immediate) = match place {
            Place::Buffer { binding, element, offset, immediate } => {
                let (space, element) = self.buffer(*binding, *element)?;
                entry.space = space;
                touched.push(element);
                (*offset, *immediate)
            }
            Place::Physical { address, immediate } => {
                entry.space = Space::Physical;
                entry.immediate = *immediate;
                let address = self.value(*address)?;
                entry.offset = address.encode();
                touched.extend([address, address.part(1)]);
                return Ok(touched);
            }
            Place::Workgroup { object, offset, immediate } => {
                entry.space = Space::Workgroup(self.shader.workgroup[*object as usize].reference);
                (*offset, *immediate)
            }
            Place::Private { object, offset, immediate } => {
                let object = &self.shader.private[*object as usize];
                entry.space = Space::Private { start: object.offset, end: object.offset + object.size };
                (*offset, *immediate)
            }
            Place::PushConstant { offset, immediate } => {
                entry.space = Space::Push;
                (*offset, *immediate)
            }
        };
        let apart = match offset {
            None => Offset { base: None, shift: 0, immediate: 0 },
            Some(offset) => self.plan.offsets.get(&(offset, self.current_loop)).copied().unwrap_or(Offset {
                base: Some(offset),
                shift: 0,
                immediate: 0,
            }),
        };
        let base = match apart.base {
            Some(base) => self.value(base)?,
            None => self.constant(0),
        };
        entry.offset = base.encode();
        entry.shift = apart.shift;
        entry.immediate = apart.immediate.wrapping_add(immediate);
        touched.push(base);
        Ok(touched)
    }

    /// True if all lanes access the same bytes.
    fn same_place(&self, place: &Place) -> bool {
        let uniform = |v: &Option<Value>| v.is_none_or(|v| self.uniform(v));
        match place {
            Place::Buffer { element, offset, .. } => uniform(element) && uniform(offset),
            Place::Physical { address, .. } => self.uniform(*address),
            Place::Workgroup { offset, .. }
            | Place::PushConstant { offset, .. }
            | Place::Private { offset, .. } => uniform(offset),
        }
    }

    fn memory(&mut self, opcode: Opcode, entry: MemoryEntry, touched: &[Name]) -> Result<()> {
        self.out.memory.push(entry);
        let k = self.out.memory.len() - 1;
        self.emit_entry(opcode, touched, k)
    }

    /// A fast form: `register` is the value or the first result.
    fn fast(&mut self, opcode: Opcode, entry: MemoryEntry, register: Name, offset: Name) -> Result<()> {
        let view = match entry.space {
            Space::View(slot) => slot,
            _ => 0,
        };
        let (shift, immediate) = (entry.shift as u16, entry.immediate);
        self.out.memory.push(entry);
        let k = self.out.memory.len() as u16 - 1;
        let operands = [offset, Name::Literal(view), Name::Literal(shift), Name::Literal(k)];
        self.emit_with(opcode, register, &operands, Immediate::Number(immediate))?;
        // The operation reads and writes across lanes: nothing may share its registers.
        let position = 2 * (self.out.lines.len() as u32 - 1) + 1;
        self.touch(register, position);
        Ok(())
    }

    fn fast_entries_left(&self) -> bool {
        self.out.memory.len() < usize::from(u16::MAX)
    }

    fn load(&mut self, op: &Op, place: &Place, access: &Access) -> Result<()> {
        let components = op.results.len() as u16;
        let step = if access.size == 8 { 2 } else { 1 };
        if let Place::PushConstant { offset, immediate } = place
            && let Some(offset) =
                offset.map_or(Some(0), |v| self.plan.constants.get(&v).map(|bits| *bits as u32))
        {
            let start = offset.wrapping_add(*immediate);
            for (k, result) in op.results.iter().enumerate() {
                let at = start.wrapping_add(k as u32 * u32::from(access.size));
                let word = u32::from(access.size.min(4));
                let pins: SmallVec<[Pin; 2]> = (0..u32::from(step))
                    .map(|w| Pin::Push { offset: at.wrapping_add(4 * w), size: word })
                    .collect();
                let name = self.pin(&pins);
                self.define(*result, name)?;
            }
            return Ok(());
        }
        let mut entry = self.entry(op, access);
        let mut touched = self.locate(&mut entry, place)?;
        if let Space::Private { .. } = entry.space {
            return self.private(op, entry, touched[0], access);
        }
        let result = self.fresh(components * step);
        entry.result = result.encode();
        entry.access.components = components as u8;
        let offset = touched.last().copied().unwrap_or(Name::None);
        // Availability and visibility mean nothing in flat memory.
        let plain = !self.modelled && access.atomic.is_none() && access.size == 4 && self.fast_entries_left();
        let same = self.same_place(place)
            && (self.uniform(op.results[0]) && !self.modelled || matches!(entry.space, Space::Push));
        let opcode = match (entry.space, components) {
            (Space::View(_), 1) if plain && same => Some(Opcode::LoadViewUniform),
            (Space::View(_), 1) => Some(Opcode::LoadView),
            (Space::View(_), 2) => Some(Opcode::LoadView2),
            (Space::View(_), 3) => Some(Opcode::LoadView3),
            (Space::View(_), 4) => Some(Opcode::LoadView4),
            (Space::Workgroup(_), 1) => Some(Opcode::LoadWorkgroup),
            (Space::Workgroup(_), 2) => Some(Opcode::LoadWorkgroup2),
            (Space::Workgroup(_), 3) => Some(Opcode::LoadWorkgroup3),
            (Space::Workgroup(_), 4) => Some(Opcode::LoadWorkgroup4),
            _ => None,
        };
        match opcode {
            Some(opcode) if plain => self.fast(opcode, entry, result, offset)?,
            _ => {
                touched.push(result);
                let opcode = if same && !self.modelled { Opcode::LoadUniform } else { Opcode::Load };
                self.memory(opcode, entry, &touched)?;
            }
        }
        for (k, value) in op.results.iter().enumerate() {
            self.define(*value, result.part(k as u16 * step))?;
        }
        Ok(())
    }

    /// Loads and stores of private memory, a component of at most 4 bytes at a time.
    fn private(&mut self, op: &Op, entry: MemoryEntry, offset: Name, access: &Access) -> Result<()> {
        if !self.fast_entries_left() {
            return Err(crate::CompileError::Limit("more than 65535 accesses".into()));
        }
        let step = if access.size == 8 { 2 } else { 1 };
        let size = access.size.min(4);
        let load = matches!(op.kind, OpKind::Load { .. });
        let values = if load { &op.results[..] } else { &op.arguments[..] };
        for (k, value) in values.iter().enumerate() {
            let name = if load { self.fresh(step) } else { self.value(*value)? };
            for word in 0..step {
                let mut part = entry.clone();
                part.access.size = size;
                part.access.components = 1;
                part.immediate =
                    entry.immediate.wrapping_add(k as u32 * u32::from(access.size) + u32::from(word) * 4);
                let opcode = if load { Opcode::LoadPrivate } else { Opcode::StorePrivate };
                self.fast(opcode, part, name.part(word), offset)?;
            }
            if load {
                self.define(*value, name)?;
            }
        }
        Ok(())
    }

    fn store(&mut self, op: &Op, place: &Place, access: &Access) -> Result<()> {
        let mut entry = self.entry(op, access);
        let mut touched = self.locate(&mut entry, place)?;
        if let Space::Private { .. } = entry.space {
            return self.private(op, entry, touched[0], access);
        }
        let offset = touched.last().copied().unwrap_or(Name::None);
        entry.access.components = op.arguments.len() as u8;
        // Availability and visibility mean nothing in flat memory.
        let plain = !self.modelled && access.atomic.is_none() && access.size == 4 && self.fast_entries_left();
        if plain && op.arguments.len() == 1 {
            let value = self.value(op.arguments[0])?;
            match entry.space {
                Space::View(_) => return self.fast(Opcode::StoreView, entry, value, offset),
                Space::Workgroup(_) => return self.fast(Opcode::StoreWorkgroup, entry, value, offset),
                _ => {}
            }
        }
        for argument in &op.arguments {
            let name = self.value(*argument)?;
            for word in 0..words(self.scalar(*argument)) {
                entry.values.push(name.part(word).encode());
                touched.push(name.part(word));
            }
        }
        self.memory(Opcode::Store, entry, &touched)
    }

    fn atomic(&mut self, op: &Op, atomic: AtomicOp, place: &Place, access: &Access) -> Result<()> {
        let mut entry = self.entry(op, access);
        let mut touched = self.locate(&mut entry, place)?;
        if let Space::Private { .. } | Space::Push = entry.space {
            return not_implemented("atomics on private memory");
        }
        entry.atomic = Some(atomic);
        entry.access.components = 1;
        entry.access.result_used = self.plan.uses_results(op);
        for (k, argument) in op.arguments.iter().enumerate() {
            let name = self.value(*argument)?;
            for word in 0..words(self.scalar(*argument)) {
                let encoded = name.part(word).encode();
                if k == 0 {
                    entry.values.push(encoded)
                } else {
                    entry.comparator.push(encoded)
                }
                touched.push(name.part(word));
            }
        }
        let result = self.fresh(if access.size == 8 { 2 } else { 1 });
        entry.result = result.encode();
        touched.push(result);
        self.memory(Opcode::Atomic, entry, &touched)?;
        if let Some(value) = op.results.first() {
            self.define(*value, result)?;
        }
        Ok(())
    }

    fn image(&mut self, op: &Op, image: &ImageOperand) -> Result<()> {
        let Some(mut instruction) = ImageInstruction::of_kind(&op.kind, op.site, op.results.len()) else {
            return not_implemented(format!("{:?}", op.kind));
        };
        instruction.set_result_used(self.plan.uses_results(op));
        let mut touched = Names::new();
        let mut index = |this: &mut Self, element: Option<Value>| -> Result<ElementIndex> {
            Ok(match element {
                None => ElementIndex::Constant(0),
                Some(value) => match this.plan.constants.get(&value) {
                    Some(bits) => ElementIndex::Constant(*bits as u32),
                    None => {
                        let name = this.value(value)?;
                        touched.push(name);
                        ElementIndex::Register(name.encode())
                    }
                },
            })
        };
        let element = index(self, image.element)?;
        let sampler = match image.sampler {
            None => None,
            Some((_, element)) => Some(index(self, element)?),
        };
        let mut arguments = SmallVec::new();
        for argument in &op.arguments {
            let name = self.value(*argument)?;
            for word in 0..words(self.scalar(*argument)) {
                arguments.push(name.part(word).encode());
                touched.push(name.part(word));
            }
        }
        let count: u16 = op.results.iter().map(|v| words(self.scalar(*v))).sum();
        let result = if count > 0 { self.fresh(count) } else { Name::None };
        touched.push(result);
        let visible = match &op.kind {
            OpKind::ImageRead { access, .. }
            | OpKind::ImageWrite { access, .. }
            | OpKind::ImageFetch { access, .. } => is_visible(access),
            _ => instruction.is_atomic(),
        };
        self.out.images.push(ImageEntry {
            site: op.site,
            instruction,
            element,
            sampler,
            arguments,
            results: (result.encode(), u32::from(count)),
            visible,
        });
        let k = self.out.images.len() - 1;
        self.emit_entry(Opcode::Image, &touched, k)?;
        let mut part = 0;
        for value in &op.results {
            self.define(*value, result.part(part))?;
            part += words(self.scalar(*value));
        }
        Ok(())
    }

    fn matrix_mul_add(&mut self, op: &Op, product: MatrixMulAdd) -> Result<()> {
        let mut touched = Names::new();
        let mut operands = [Vec::new(), Vec::new(), Vec::new()];
        let mut arguments = op.arguments.iter();
        for (list, size) in operands.iter_mut().zip(product.sizes()) {
            for argument in arguments.by_ref().take(size / self.subgroup_size as usize) {
                let name = self.value(*argument)?;
                for word in 0..words(self.scalar(*argument)) {
                    list.push(name.part(word).encode());
                    touched.push(name.part(word));
                }
            }
        }
        let mut results = Vec::new();
        let mut names = Names::new();
        for result in &op.results {
            let scalar = self.scalar(*result);
            let name = self.fresh_for(scalar);
            results.extend((0..words(scalar)).map(|word| name.part(word).encode()));
            touched.extend((0..words(scalar)).map(|word| name.part(word)));
            names.push(name);
        }
        self.out.matrices.push(MatrixEntry { product, operands, results });
        self.emit_entry(Opcode::MatrixMulAdd, &touched, self.out.matrices.len() - 1)?;
        op.results.iter().zip(names).try_for_each(|(result, name)| self.define(*result, name))
    }

    fn subgroup(&mut self, op: &Op) -> Result<()> {
        let mut a = Names::new();
        for argument in &op.arguments {
            a.push(self.value(*argument)?);
        }
        let Some(&value) = op.results.first() else {
            return not_implemented(format!("{:?}", op.kind));
        };
        let scalar = self.scalar(value);
        let of = op.arguments.first().map_or(Scalar::I32, |v| self.scalar(*v));
        let number = |n: u32| Immediate::Number(n);
        let name = match &op.kind {
            OpKind::Elect => self.compute(Opcode::Elect, 0, &[])?,
            OpKind::VoteAll => self.compute(Opcode::VoteAll, 0, &a)?,
            OpKind::VoteAny => self.compute(Opcode::VoteAny, 0, &a)?,
            OpKind::VoteAllEqual => match of {
                Scalar::Bool => self.compute(Opcode::VoteEqualMask, 0, &a)?,
                Scalar::I64 | Scalar::F64 => self.compute(Opcode::VoteEqual64, 0, &a)?,
                Scalar::F32 => self.compute(Opcode::VoteEqualFloat, 0, &a)?,
                _ => self.compute(Opcode::VoteEqual, 0, &a)?,
            },
            OpKind::Ballot => {
                let words = self.compute(Opcode::Ballot, 4, &a)?;
                for (k, result) in op.results.iter().enumerate() {
                    self.define(*result, words.part(k as u16))?;
                }
                return Ok(());
            }
            OpKind::InverseBallot => self.compute(Opcode::InverseBallot, 0, &a[..1])?,
            OpKind::BallotBitExtract => self.compute(Opcode::BallotBitExtract, 0, &[a[0], a[4]])?,
            OpKind::BallotBitCount(kind) => {
                let dst = self.fresh(1);
                let kind = match kind {
                    GroupKind::Reduce => 0,
                    GroupKind::InclusiveScan => 1,
                    GroupKind::ExclusiveScan => 2,
                    GroupKind::Clustered(_) => return not_implemented("clustered ballot bit count"),
                };
                self.emit_with(Opcode::BallotBitCount, dst, &a[..1], number(kind))?;
                dst
            }
            OpKind::BallotFindLsb | OpKind::BallotFindMsb => {
                let dst = self.fresh(1);
                let highest = u32::from(op.kind == OpKind::BallotFindMsb);
                self.emit_with(Opcode::BallotFind, dst, &a[..1], number(highest))?;
                dst
            }
            OpKind::Broadcast | OpKind::Shuffle => self.permute(scalar, a[0], a[1], 0)?,
            OpKind::ShuffleXor => self.permute(scalar, a[0], a[1], 1)?,
            OpKind::ShuffleUp => self.permute(scalar, a[0], a[1], 2)?,
            OpKind::ShuffleDown => self.permute(scalar, a[0], a[1], 3)?,
            OpKind::QuadBroadcast => self.permute(scalar, a[0], a[1], 4)?,
            OpKind::Rotate(cluster) => {
                let cluster = if *cluster == 0 { 32 } else { *cluster };
                self.permute(scalar, a[0], a[1], 5 + cluster.trailing_zeros())?
            }
            OpKind::BroadcastFirst => self.through_lanes(scalar, a[0], &mut |this, from, to| {
                this.emit(Opcode::BroadcastFirst, to, &[from])
            })?,
            OpKind::QuadSwap(direction) => {
                let direction = *direction;
                self.through_lanes(scalar, a[0], &mut |this, from, to| {
                    this.emit_with(Opcode::QuadSwap, to, &[from], Immediate::Number(direction))
                })?
            }
            OpKind::Group(fold, kind) => self.group(*fold, *kind, scalar, a[0])?,
            kind => return not_implemented(format!("{kind:?}")),
        };
        self.define(value, name)
    }

    fn permute(&mut self, scalar: Scalar, value: Name, lane: Name, how: u32) -> Result<Name> {
        self.through_lanes(scalar, value, &mut |this, from, to| {
            this.emit_with(Opcode::Shuffle, to, &[from, lane], Immediate::Number(how))
        })
    }

    /// An operation that moves words between lanes, on a value of any type.
    fn through_lanes(
        &mut self,
        scalar: Scalar,
        value: Name,
        each: &mut dyn FnMut(&mut Self, Name, Name) -> Result<()>,
    ) -> Result<Name> {
        if scalar == Scalar::Bool {
            let lanes = self.compute(Opcode::MaskToLanes, 1, &[value])?;
            let moved = self.fresh(1);
            each(self, lanes, moved)?;
            return self.compute(Opcode::LanesToMask, 0, &[moved]);
        }
        let result = self.fresh_for(scalar);
        for word in 0..words(scalar) {
            each(self, value.part(word), result.part(word))?;
        }
        Ok(result)
    }

    fn group(&mut self, fold: GroupFold, kind: GroupKind, scalar: Scalar, value: Name) -> Result<Name> {
        self.out.groups.push((fold, kind, scalar));
        let k = self.out.groups.len() as u32 - 1;
        let opcode = match scalar {
            Scalar::Bool => Opcode::GroupMask,
            Scalar::I64 | Scalar::F64 => Opcode::Group64,
            _ => Opcode::Group,
        };
        let result = self.fresh_for(scalar);
        self.emit_with(opcode, result, &[value], Immediate::Number(k))?;
        Ok(result)
    }
}
