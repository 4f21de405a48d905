//! A program as a SPIR-V module.
//!
//! Binding 0 gets the results, `GLOBALS + 1` words of each invocation; binding 1 is the input; binding 2
//! holds a word of each invocation's own.

use super::program::*;
use spirv::Op;

const VOID: u32 = 1;
const UINT: u32 = 2;
const BOOL: u32 = 3;
const MAIN_TYPE: u32 = 4;
const FUNCTION_TYPE: u32 = 5;
const ARRAY: u32 = 6;
const BLOCK: u32 = 7;
const BLOCK_POINTER: u32 = 8;
const WORD_POINTER: u32 = 9;
const PRIVATE_POINTER: u32 = 10;
const FUNCTION_POINTER: u32 = 11;
const VECTOR: u32 = 12;
const VECTOR_POINTER: u32 = 13;
const ID: u32 = 14;
const BUFFERS: u32 = 15; // 3
const TRACE: u32 = 18;
const GLOBAL: u32 = 19; // GLOBALS
const FUNCTION: u32 = 30; // FUNCTIONS
const FREE: u32 = 40;

/// Invocations of a workgroup.
pub const LOCAL_SIZE: u32 = 40;

struct Emitter<'a> {
    program: &'a Program,
    next: u32,
    constants: Vec<(u32, u32)>,
    code: Vec<u32>,
    /// A block is open.
    open: bool,
    /// Of the function: its variables, the loops' counters and limits.
    locals: [u32; LOCALS],
    counters: Vec<[u32; 2]>,
    is_entry: bool,
}

#[derive(Clone, Copy, Default)]
struct Targets {
    breaks: u32,
    loop_breaks: u32,
    continues: u32,
}

pub fn put(code: &mut Vec<u32>, op: Op, operands: &[u32]) {
    code.push((operands.len() as u32 + 1) << 16 | op as u32);
    code.extend_from_slice(operands);
}

pub fn text(code: &mut Vec<u32>, op: Op, before: &[u32], name: &str, after: &[u32]) {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize(name.len() / 4 * 4 + 4, 0);
    let mut operands = before.to_vec();
    operands.extend(bytes.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)));
    operands.extend_from_slice(after);
    put(code, op, &operands);
}

/// The words of a module.
pub fn module(program: &Program) -> Vec<u32> {
    let mut emitter = Emitter {
        program,
        next: FREE,
        constants: Vec::new(),
        code: Vec::new(),
        open: false,
        locals: [0; LOCALS],
        counters: Vec::new(),
        is_entry: true,
    };
    for k in 0..program.len() {
        emitter.function(k);
    }
    let mut words = vec![0x0723_0203, 0x0001_0500, 0, 0, 0];
    let out = &mut words;
    put(out, Op::Capability, &[1]);
    put(out, Op::Capability, &[5345]);
    put(out, Op::MemoryModel, &[0, 3]);
    let interface: Vec<u32> = [ID, TRACE].into_iter().chain(BUFFERS..BUFFERS + 3).collect();
    let globals = GLOBAL..GLOBAL + GLOBALS as u32;
    let interface: Vec<u32> = interface.into_iter().chain(globals.clone()).collect();
    text(out, Op::EntryPoint, &[5, FUNCTION], "main", &interface);
    put(out, Op::ExecutionMode, &[FUNCTION, 17, LOCAL_SIZE, 1, 1]);
    put(out, Op::Decorate, &[ID, 11, 28]);
    put(out, Op::Decorate, &[ARRAY, 6, 4]);
    put(out, Op::Decorate, &[BLOCK, 2]);
    put(out, Op::MemberDecorate, &[BLOCK, 0, 35, 0]);
    for k in 0..3 {
        put(out, Op::Decorate, &[BUFFERS + k, 34, 0]);
        put(out, Op::Decorate, &[BUFFERS + k, 33, k]);
    }
    put(out, Op::TypeVoid, &[VOID]);
    put(out, Op::TypeInt, &[UINT, 32, 0]);
    put(out, Op::TypeBool, &[BOOL]);
    put(out, Op::TypeFunction, &[MAIN_TYPE, VOID]);
    put(out, Op::TypeFunction, &[FUNCTION_TYPE, UINT, UINT]);
    put(out, Op::TypeRuntimeArray, &[ARRAY, UINT]);
    put(out, Op::TypeStruct, &[BLOCK, ARRAY]);
    put(out, Op::TypePointer, &[BLOCK_POINTER, 12, BLOCK]);
    put(out, Op::TypePointer, &[WORD_POINTER, 12, UINT]);
    put(out, Op::TypePointer, &[PRIVATE_POINTER, 6, UINT]);
    put(out, Op::TypePointer, &[FUNCTION_POINTER, 7, UINT]);
    put(out, Op::TypeVector, &[VECTOR, UINT, 3]);
    put(out, Op::TypePointer, &[VECTOR_POINTER, 1, VECTOR]);
    for (value, id) in &emitter.constants {
        put(out, Op::Constant, &[UINT, *id, *value]);
    }
    put(out, Op::Variable, &[VECTOR_POINTER, ID, 1]);
    for k in 0..3 {
        put(out, Op::Variable, &[BLOCK_POINTER, BUFFERS + k, 12]);
    }
    for k in [TRACE].into_iter().chain(globals) {
        put(out, Op::Variable, &[PRIVATE_POINTER, k, 6]);
    }
    words.extend_from_slice(&emitter.code);
    words[3] = emitter.next;
    words
}

impl Emitter<'_> {
    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn put(&mut self, op: Op, operands: &[u32]) {
        put(&mut self.code, op, operands);
    }

    /// An instruction with a result.
    fn result(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.fresh();
        let all: Vec<u32> = [ty, id].into_iter().chain(operands.iter().copied()).collect();
        self.put(op, &all);
        id
    }

    fn constant(&mut self, value: u32) -> u32 {
        if let Some((_, id)) = self.constants.iter().find(|(known, _)| *known == value) {
            return *id;
        }
        let id = self.fresh();
        self.constants.push((value, id));
        id
    }

    fn label(&mut self, label: u32) {
        self.put(Op::Label, &[label]);
        self.open = true;
    }

    /// Ends the block, if one is open.
    fn branch(&mut self, to: u32) {
        if self.open {
            self.put(Op::Branch, &[to]);
            self.open = false;
        }
    }

    fn function(&mut self, number: usize) {
        let program = self.program;
        self.is_entry = number == 0;
        let (result, ty) = if number == 0 { (VOID, MAIN_TYPE) } else { (UINT, FUNCTION_TYPE) };
        self.put(Op::Function, &[result, FUNCTION + number as u32, 0, ty]);
        let argument =
            if number > 0 { self.result(Op::FunctionParameter, UINT, &[]) } else { self.constant(0) };
        let label = self.fresh();
        self.label(label);
        self.locals = std::array::from_fn(|_| self.result(Op::Variable, FUNCTION_POINTER, &[7]));
        let pair =
            |this: &mut Self| std::array::from_fn(|_| this.result(Op::Variable, FUNCTION_POINTER, &[7]));
        self.counters = (0..program[number].loops).map(|_| pair(self)).collect();
        let zero = self.constant(0);
        self.put(Op::Store, &[self.locals[0], argument]);
        self.put(Op::Store, &[self.locals[1], zero]);
        if number == 0 {
            self.put(Op::Store, &[TRACE, zero]);
            for k in 0..GLOBALS as u32 {
                let value = self.expr(&Expr::Input(Box::new(Expr::Binary(
                    Binary::Add,
                    Box::new(Expr::Id),
                    Box::new(Expr::Constant(k)),
                ))));
                self.put(Op::Store, &[GLOBAL + k, value]);
            }
        }
        self.statements(&program[number].body, Targets::default());
        if self.open {
            self.leave(&Expr::Read(Var::Local(1)));
        }
        self.put(Op::FunctionEnd, &[]);
    }

    /// Returns; the entry point writes its results first.
    fn leave(&mut self, value: &Expr) {
        if self.is_entry {
            let words = self.constant(GLOBALS as u32 + 1);
            let id = self.expr(&Expr::Id);
            let first = self.result(Op::IMul, UINT, &[id, words]);
            for k in 0..=GLOBALS as u32 {
                let variable = if k == GLOBALS as u32 { TRACE } else { GLOBAL + k };
                let value = self.result(Op::Load, UINT, &[variable]);
                let offset = self.constant(k);
                let at = self.result(Op::IAdd, UINT, &[first, offset]);
                let to = self.word(0, at);
                self.put(Op::Store, &[to, value]);
            }
            self.put(Op::Return, &[]);
        } else {
            let value = self.expr(value);
            self.put(Op::ReturnValue, &[value]);
        }
        self.open = false;
    }

    fn word(&mut self, buffer: u32, index: u32) -> u32 {
        let zero = self.constant(0);
        self.result(Op::AccessChain, WORD_POINTER, &[BUFFERS + buffer, zero, index])
    }

    fn variable(&self, var: Var) -> u32 {
        match var {
            Var::Global(k) => GLOBAL + k as u32,
            Var::Local(k) => self.locals[k],
        }
    }

    fn expr(&mut self, expr: &Expr) -> u32 {
        match expr {
            Expr::Constant(value) => self.constant(*value),
            Expr::Id => {
                let vector = self.result(Op::Load, VECTOR, &[ID]);
                self.result(Op::CompositeExtract, UINT, &[vector, 0])
            }
            Expr::Read(var) => self.result(Op::Load, UINT, &[self.variable(*var)]),
            Expr::Input(at) => {
                let at = self.expr(at);
                let mask = self.constant(INPUTS as u32 - 1);
                let at = self.result(Op::BitwiseAnd, UINT, &[at, mask]);
                let from = self.word(1, at);
                self.result(Op::Load, UINT, &[from])
            }
            Expr::Binary(op, x, y) => {
                let x = self.expr(x);
                let mut y = self.expr(y);
                let op = match op {
                    Binary::Add => Op::IAdd,
                    Binary::Sub => Op::ISub,
                    Binary::Mul => Op::IMul,
                    Binary::And => Op::BitwiseAnd,
                    Binary::Xor => Op::BitwiseXor,
                    Binary::ShiftRight => {
                        let mask = self.constant(31);
                        y = self.result(Op::BitwiseAnd, UINT, &[y, mask]);
                        Op::ShiftRightLogical
                    }
                };
                self.result(op, UINT, &[x, y])
            }
        }
    }

    fn set(&mut self, var: Var, value: u32) {
        self.put(Op::Store, &[self.variable(var), value]);
    }

    fn statements(&mut self, list: &[Statement], targets: Targets) {
        for statement in list {
            if self.open {
                self.statement(statement, targets);
            }
        }
    }

    fn statement(&mut self, statement: &Statement, targets: Targets) {
        match statement {
            Statement::Set(var, expr) => {
                let value = self.expr(expr);
                self.set(*var, value);
            }
            Statement::Trace(expr) => {
                let factor = self.constant(31);
                let before = self.result(Op::Load, UINT, &[TRACE]);
                let product = self.result(Op::IMul, UINT, &[before, factor]);
                let value = self.expr(expr);
                let sum = self.result(Op::IAdd, UINT, &[product, value]);
                self.put(Op::Store, &[TRACE, sum]);
            }
            Statement::Atomic(var, expr) => {
                let value = self.expr(expr);
                let id = self.expr(&Expr::Id);
                let to = self.word(2, id);
                let (scope, none) = (self.constant(5), self.constant(0));
                let before = self.result(Op::AtomicIAdd, UINT, &[to, scope, none, value]);
                self.set(*var, before);
            }
            Statement::If((test, x, y), then, otherwise) => {
                let op = match test {
                    Test::Equal => Op::IEqual,
                    Test::NotEqual => Op::INotEqual,
                    Test::Less => Op::ULessThan,
                };
                let (x, y) = (self.expr(x), self.expr(y));
                let condition = self.result(op, BOOL, &[x, y]);
                let (yes, merge) = (self.fresh(), self.fresh());
                let no = if otherwise.is_empty() { merge } else { self.fresh() };
                self.put(Op::SelectionMerge, &[merge, 0]);
                self.put(Op::BranchConditional, &[condition, yes, no]);
                let mut reached = otherwise.is_empty();
                for (label, arm) in [(yes, then), (no, otherwise)].into_iter().filter(|arm| arm.0 != merge) {
                    self.label(label);
                    self.statements(arm, targets);
                    reached |= self.open;
                    self.branch(merge);
                }
                self.merge(merge, reached);
            }
            Statement::Loop { at, number, limit, body, next } => {
                self.repetition(*at, *number, limit, body, next);
            }
            Statement::Switch { selector, cases } => {
                let selector = self.expr(selector);
                let merge = self.fresh();
                let labels: Vec<u32> = cases.iter().map(|_| self.fresh()).collect();
                let default = cases.iter().position(|case| case.default).map_or(merge, |k| labels[k]);
                let mut operands = vec![selector, default];
                for (case, label) in cases.iter().zip(&labels) {
                    operands.extend(case.literals.iter().flat_map(|literal| [*literal, *label]));
                }
                self.put(Op::SelectionMerge, &[merge, 0]);
                self.put(Op::Switch, &operands);
                for (k, case) in cases.iter().enumerate() {
                    self.label(labels[k]);
                    self.statements(&case.body, Targets { breaks: merge, ..targets });
                    let next = if case.falls { labels.get(k + 1) } else { None };
                    self.branch(*next.unwrap_or(&merge));
                }
                self.label(merge);
            }
            Statement::Break => self.branch(targets.breaks),
            Statement::LoopBreak => self.branch(targets.loop_breaks),
            Statement::Continue => self.branch(targets.continues),
            Statement::Return(expr) => self.leave(expr),
            Statement::Call(var, function, argument) => {
                let argument = self.expr(argument);
                let value = self.result(Op::FunctionCall, UINT, &[FUNCTION + *function as u32, argument]);
                self.set(*var, value);
            }
            Statement::Barrier => {
                let (workgroup, semantics) = (self.constant(2), self.constant(0x108));
                self.put(Op::ControlBarrier, &[workgroup, workgroup, semantics]);
            }
        }
    }

    /// Goes on in a merge block, or says that nothing gets there.
    fn merge(&mut self, label: u32, reached: bool) {
        self.label(label);
        if !reached {
            self.put(Op::Unreachable, &[]);
            self.open = false;
        }
    }

    fn goes_on(&mut self, number: usize) -> u32 {
        let [counter, limit] = self.counters[number];
        let counter = self.result(Op::Load, UINT, &[counter]);
        let limit = self.result(Op::Load, UINT, &[limit]);
        self.result(Op::ULessThan, BOOL, &[counter, limit])
    }

    fn repetition(
        &mut self,
        at: TestAt,
        number: usize,
        limit: &Expr,
        body: &[Statement],
        next: &[Statement],
    ) {
        let [counter, limit_variable] = self.counters[number];
        let limit = self.expr(limit);
        let (zero, one) = (self.constant(0), self.constant(1));
        self.put(Op::Store, &[counter, zero]);
        self.put(Op::Store, &[limit_variable, limit]);
        let [header, first, turn, merge] = std::array::from_fn(|_| self.fresh());
        self.branch(header);
        self.label(header);
        if at == TestAt::Header {
            let condition = self.goes_on(number);
            self.put(Op::LoopMerge, &[merge, turn, 0]);
            self.put(Op::BranchConditional, &[condition, first, merge]);
        } else {
            self.put(Op::LoopMerge, &[merge, turn, 0]);
            self.put(Op::Branch, &[first]);
        }
        self.label(first);
        if at == TestAt::Body {
            let condition = self.goes_on(number);
            let (inside, out) = (self.fresh(), self.fresh());
            self.put(Op::SelectionMerge, &[inside, 0]);
            self.put(Op::BranchConditional, &[condition, inside, out]);
            self.label(out);
            self.branch(merge);
            self.label(inside);
        }
        self.statements(body, Targets { breaks: merge, loop_breaks: merge, continues: turn });
        self.branch(turn);
        self.label(turn);
        self.statements(next, Targets::default());
        let before = self.result(Op::Load, UINT, &[counter]);
        let after = self.result(Op::IAdd, UINT, &[before, one]);
        self.put(Op::Store, &[counter, after]);
        if at == TestAt::BackEdge {
            let condition = self.goes_on(number);
            self.put(Op::BranchConditional, &[condition, header, merge]);
        } else {
            self.put(Op::Branch, &[header]);
        }
        self.label(merge);
    }
}
