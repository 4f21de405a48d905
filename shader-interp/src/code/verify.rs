//! The verifier: after it, registers, tables and jump targets may be used unchecked, and nothing but joins
//! and jumps runs while no lane does.

use super::isa::{Inst, Opcode, OperandKind};
use super::{Code, ElementIndex, Space};
use crate::error::CompileError;
use crate::ir::MAX_PRIVATE;
use std::any::Any;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};

/// A compiled entry point: code that the verifier has accepted, and that nobody can change any more. Shared
/// between threads. Only this runs.
#[derive(Clone, Debug)]
pub struct Program {
    code: Code,
    /// What its executors keep of it, for all of its clones.
    kept: Arc<OnceLock<Box<dyn Any + Send + Sync>>>,
}

impl Program {
    /// Verifies `code`.
    ///
    /// # Errors
    /// [`CompileError::Invalid`] names the first instruction that is wrong: a mistake in the code generator.
    pub fn new(code: Code) -> Result<Program, CompileError> {
        verify(&code)?;
        Ok(Program { code, kept: Arc::default() })
    }

    /// What its executors keep of it, made when it is first asked for; `None` if that was another type.
    pub(crate) fn kept<T: Any + Send + Sync>(&self, make: impl FnOnce(&Program) -> T) -> Option<&T> {
        self.kept.get_or_init(|| Box::new(make(self))).downcast_ref()
    }

    /// Its instructions with [`Opcode::Native`] in place of those for which `marks` holds.
    pub(crate) fn marked(&self, marks: impl Fn(usize) -> bool) -> Marked {
        let native = Inst { op: Opcode::Native, dst: 0, a: 0, b: 0, c: 0, aux: 0, imm: 0 };
        let marked = |(k, inst): (usize, &Inst)| if marks(k) { native } else { *inst };
        Marked {
            code: self.code.code.iter().enumerate().map(marked).collect(),
            of: Arc::downgrade(&self.kept),
        }
    }
}

/// The instructions of a program, some of which are marks: as sound to run as the program's own.
#[derive(Debug)]
pub(crate) struct Marked {
    code: Box<[Inst]>,
    of: Weak<OnceLock<Box<dyn Any + Send + Sync>>>,
}

impl Marked {
    /// The instructions, if they are those of `program`.
    #[inline(always)]
    pub fn code(&self, program: &Program) -> Option<&[Inst]> {
        (self.of.as_ptr() == Arc::as_ptr(&program.kept)).then_some(&self.code)
    }

    /// Whether instruction `k` is a mark.
    #[inline(always)]
    pub fn is_mark(&self, k: u32) -> bool {
        self.code.get(k as usize).is_some_and(|inst| inst.op == Opcode::Native)
    }
}

impl Deref for Program {
    type Target = Code;

    #[inline(always)]
    fn deref(&self) -> &Code {
        &self.code
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.code.fmt(f)
    }
}

/// Checks every operand of `program` against its tables.
fn verify(program: &Code) -> Result<(), CompileError> {
    let fail = |k: usize, what: &str| {
        let inst = program.code.get(k).map(ToString::to_string).unwrap_or_default();
        Err(CompileError::Invalid(format!("generated code: {what} at instruction {k}: {inst}")))
    };
    if program.pins.len() > program.vectors as usize || program.parks + 2 > program.masks {
        return fail(0, "register counts");
    }
    let vectors = |start: u32, run: u32| u64::from(start) + u64::from(run) <= u64::from(program.vectors);
    let pinned = program.pins.len() as u32;
    for (k, inst) in program.code.iter().enumerate() {
        let fields =
            [inst.dst.into(), inst.a.into(), inst.b.into(), inst.c.into(), inst.aux.into(), inst.imm];
        for (n, (kind, field)) in inst.op.shape().into_iter().zip(fields).enumerate() {
            let good = match kind {
                OperandKind::None | OperandKind::Literal => true,
                OperandKind::Vector(run) => {
                    vectors(field, run.into()) && (n > 0 || field >= pinned || reads_first(inst.op))
                }
                OperandKind::Mask => field < program.masks,
                OperandKind::View => (field as usize) < program.views.len(),
                OperandKind::Memory => (field as usize) < program.memory.len(),
                OperandKind::Barrier => (field as usize) < program.barriers.len(),
                OperandKind::Image => (field as usize) < program.images.len(),
                OperandKind::Print => (field as usize) < program.prints.len(),
                OperandKind::Matrix => (field as usize) < program.matrices.len(),
                OperandKind::Target => (field as usize) < program.code.len(),
            };
            if !good {
                return fail(k, "an operand out of range");
            }
        }
    }
    if program.code.last().is_none_or(|inst| inst.op != Opcode::Done) {
        return fail(program.code.len(), "no end");
    }
    if let Some(k) = program.code.iter().position(|inst| inst.op == Opcode::Native) {
        return fail(k, "a mark");
    }
    for (k, inst) in program.code.iter().enumerate() {
        let on = inst.op == Opcode::RepeatJoin && !finds_join(&program.code, k + 1);
        if on || inst.op.empties() && !finds_join(&program.code, inst.imm as usize) {
            return fail(k, "no lanes go on to no join");
        }
    }
    for (edge, join) in &program.back_edges {
        if !finds_join(&program.code, *join as usize) {
            return fail(*edge as usize, "parked lanes go on to no join");
        }
    }
    for entry in &program.memory {
        let words = if entry.access.size == 8 { 2 } else { 1 };
        let run = u32::from(entry.access.components) * words;
        let pair = if entry.space == Space::Physical { 2 } else { 1 };
        let element = match entry.space {
            Space::Element { element, .. } => element,
            _ => 0,
        };
        let listed = entry.values.iter().chain(&entry.comparator).all(|v| vectors(*v, 1));
        let binding = match entry.space {
            Space::Element { binding, .. } => (binding as usize) < program.shader.bindings.len(),
            Space::View(slot) => (slot as usize) < program.views.len(),
            // Machine code takes the bounds from here, and addresses all lanes with signed offsets.
            Space::Private { start, end } => {
                start <= end && end <= program.shader.private_bytes.min(MAX_PRIVATE)
            }
            _ => true,
        };
        // `result` is meaningless for stores; the executor does not use it there.
        let result = !entry.values.is_empty() && entry.atomic.is_none()
            || entry.result == 0
            || vectors(entry.result, run);
        if !(vectors(entry.offset, pair) && vectors(element, 1) && listed && binding && result) {
            return fail(program.code.len(), "an access out of range");
        }
        if !matches!(entry.access.size, 1 | 2 | 4 | 8) || entry.access.components > 16 || entry.shift > 31 {
            return fail(program.code.len(), "a malformed access");
        }
    }
    for entry in &program.images {
        let index = |element: ElementIndex| match element {
            ElementIndex::Constant(_) => true,
            ElementIndex::Register(register) => vectors(register, 1),
        };
        if !(entry.arguments.iter().all(|v| vectors(*v, 1))
            && vectors(entry.results.0, entry.results.1)
            && index(entry.element)
            && entry.sampler.is_none_or(index))
        {
            return fail(program.code.len(), "an image operation out of range");
        }
    }
    if !program.prints.iter().flat_map(|entry| &entry.registers).all(|v| vectors(*v, 1)) {
        return fail(program.code.len(), "a printed value out of range");
    }
    for entry in &program.matrices {
        let [a, b, c, result] = entry.product.scalars().map(|scalar| if scalar.bytes() == 8 { 2 } else { 1 });
        let [of_a, of_b, of_c] = entry.product.sizes();
        let lists = entry.operands.iter().chain([&entry.results]);
        let sizes = [(of_a, a), (of_b, b), (of_c, c), (of_c, result)];
        let whole = lists.zip(sizes).all(|(list, (size, words))| {
            size > 0 && list.len() / words * program.subgroup_size as usize == size && list.len() % words == 0
        });
        if !whole
            || !entry.operands.iter().flatten().all(|v| vectors(*v, 1))
            || !entry.results.iter().all(|v| vectors(*v, 1) && *v >= pinned)
        {
            return fail(program.code.len(), "a product of matrices out of range");
        }
    }
    Ok(())
}

/// Whether an empty mask that comes to instruction `k` finds a join or the end.
fn finds_join(code: &[Inst], mut k: usize) -> bool {
    for _ in 0..code.len() {
        match code.get(k) {
            Some(inst) if inst.op == Opcode::Jump => k = inst.imm as usize,
            inst => return inst.is_some_and(|inst| inst.op.awaits_lanes()),
        }
    }
    false
}

/// The first field is read, not written.
pub(crate) fn reads_first(op: Opcode) -> bool {
    matches!(op, Opcode::StoreView | Opcode::StoreWorkgroup | Opcode::StorePrivate)
}
