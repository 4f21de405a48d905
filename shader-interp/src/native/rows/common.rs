//! What many rows have in common: operands in, one or two host instructions, the result out.

use super::*;

impl Part<'_> {
    /// The last host instruction of a row.
    pub(super) fn last(&mut self, to: u16, operation: Operation, a: u8, b: Source) {
        let k = self.result(to);
        self.binary(operation, k, a, b);
        self.written(to, k);
    }

    /// The same; the second operand is a vector register.
    pub(super) fn finish(&mut self, to: u16, operation: Operation, a: u8, b: u16) {
        let b = self.operand(b);
        self.last(to, operation, a, b);
    }

    /// A vector register is what the temporary register `k` holds.
    pub fn set(&mut self, to: u16, k: u8) {
        let result = self.pinned_to(to).unwrap_or(k);
        if result != k {
            self.unary(LOAD, result, Source::Host(k));
        }
        self.written(to, result);
    }

    pub(super) fn mov(&mut self, inst: &Inst) {
        let x = self.operand(inst.a);
        let k = self.result(inst.dst);
        self.unary(LOAD, k, x);
        self.written(inst.dst, k);
    }

    pub(super) fn simple(&mut self, inst: &Inst, operation: Operation) {
        let x = self.read(inst.a);
        self.finish(inst.dst, operation, x, inst.b);
    }

    pub(super) fn alone(&mut self, inst: &Inst, operation: Operation) {
        let x = self.operand(inst.a);
        let k = self.result(inst.dst);
        self.unary(operation, k, x);
        self.written(inst.dst, k);
    }

    pub(super) fn with(&mut self, inst: &Inst, operation: Operation, constant: Constant) {
        let x = self.read(inst.a);
        self.last(inst.dst, operation, x, Source::Constant(constant));
    }

    /// `second(first(a, b), c)`.
    pub(super) fn chain(&mut self, inst: &Inst, first: Operation, second: Operation) {
        let (x, y, t) = (self.read(inst.a), self.operand(inst.b), self.temporary());
        self.binary(first, t, x, y);
        self.finish(inst.dst, second, t, inst.c);
    }

    /// A chain of two logical operations; 16 lanes: one instruction with this truth table.
    pub(super) fn three(&mut self, inst: &Inst, (first, second): (Operation, Operation), table: u32) {
        if self.form == Form::Avx2 {
            return self.chain(inst, first, second);
        }
        let (x, y, z) = (self.read(inst.a), self.read(inst.b), self.read(inst.c));
        let mut k = self.result(inst.dst);
        if k == y || k == z {
            k = self.temporary();
        }
        if k != x {
            self.unary(LOAD, k, Source::Host(x));
        }
        let (to, y, z) = (self.host(k), self.host(y), self.host(z));
        let code = X86::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8;
        self.asm.put(Instruction::with4(code, to, y, z, table));
        self.set(inst.dst, k);
    }

    pub(super) fn product(&mut self, a: u16, b: u16) -> u8 {
        let (x, y, t) = (self.read(a), self.operand(b), self.temporary());
        self.binary(F_MUL, t, x, y);
        t
    }

    pub(in crate::native) fn zero(&mut self) -> u8 {
        let t = self.temporary();
        self.binary(XOR, t, t, Source::Host(t));
        t
    }

    pub(super) fn constant_register(&mut self, constant: Constant) -> u8 {
        let t = self.temporary();
        self.unary(LOAD, t, Source::Constant(constant));
        t
    }

    pub(super) fn select(&mut self, condition: u32, to: u16, yes: u16, no: u16) {
        let condition = self.condition(condition);
        let (yes, no) = (self.operand(yes), self.read(no));
        let k = self.result(to);
        self.choose(k, condition, yes, no);
        self.written(to, k);
    }

    pub(super) fn spread(&mut self, inst: &Inst, yes: Constant) {
        let (condition, zero) = (self.condition(inst.a.into()), self.zero());
        let k = self.result(inst.dst);
        self.choose(k, condition, Source::Constant(yes), zero);
        self.written(inst.dst, k);
    }

    pub(super) fn compare_with(&mut self, code: X86, to: Register, x: u8, y: Source, predicate: u32) {
        let x = self.host(x);
        self.asm.put(match y {
            Source::Host(k) => Instruction::with4(code, to, x, self.host(k), predicate),
            Source::File(register) => Instruction::with4(code, to, x, self.file(register), predicate),
            Source::Constant(constant) => Instruction::with4(code, to, x, self.constant(constant), predicate),
        });
    }
}
