//! Machine code from the functions of [`crate::math::wide`]: they are called with expressions in place of
//! numbers, and what they compute is written down for eight lanes, then for the other eight. The interpreter
//! calls the same functions, so that the bits are the same.

use super::doubles::{ADD_DOUBLES, DIV_DOUBLES, MUL_DOUBLES, SUB_DOUBLES, WIDEN};
use super::functions::spread;
use super::*;
use crate::math::single::exponential::pow_wide;
use crate::math::single::hyperbolic::*;
use crate::math::single::trigonometric::{acos_wide, asin_wide, atan_wide, atan2_wide, tan_wide};
use crate::math::single::{exponent_wide, ldexp_wide, significand_wide};
use crate::math::wide::{Wide, Word};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Sub};

/// The rows that are such functions.
const FUNCTIONS: [Opcode; 15] = [
    Opcode::Pow,
    Opcode::Tan,
    Opcode::Asin,
    Opcode::Acos,
    Opcode::Atan,
    Opcode::Atan2,
    Opcode::Sinh,
    Opcode::Cosh,
    Opcode::Tanh,
    Opcode::Asinh,
    Opcode::Acosh,
    Opcode::Atanh,
    Opcode::Ldexp,
    Opcode::FrexpSignificand,
    Opcode::FrexpExponent,
];

/// Whether a row is such a function.
pub(super) fn is_function(op: Opcode) -> bool {
    FUNCTIONS.contains(&op)
}

/// The constants of all functions: bits of doubles.
pub(super) fn constants() -> Vec<u64> {
    let mut all = Vec::new();
    for op in FUNCTIONS {
        let graph = Graph::default();
        let _ = graph.of(op);
        for node in graph.0.into_inner() {
            let words = match node {
                Node::Constant(word) | Node::With(_, _, word) | Node::Has(_, word) => Some(word),
                _ => None,
            };
            all.extend(words.filter(|word| !all.contains(word)));
        }
    }
    all
}

/// A step, which names others by their numbers.
#[derive(Clone, Copy)]
enum Node {
    /// An operand of the instruction, in double precision or sign-extended by this conversion.
    Input(usize, X86),
    Constant(u64),
    /// `code(a)`.
    One(X86, usize),
    /// `code(a, b)`.
    Two(X86, usize, usize),
    /// `code(a, word)`.
    With(X86, usize, u64),
    /// `code(a, number of bits)`.
    Shift(X86, usize, u32),
    /// A condition: both compare so.
    Compare(u32, usize, usize),
    /// A condition: one of these bits is set.
    Has(usize, u64),
    /// A condition of two conditions.
    Join(X86, usize, usize),
    /// By a condition, this one or that.
    Choose(usize, usize, usize),
}

impl Node {
    /// The steps that it needs. Constants may be read where they lie as the last operand.
    fn operands(self) -> impl Iterator<Item = usize> {
        let (a, b, c) = match self {
            Node::Input(..) | Node::Constant(_) => (None, None, None),
            Node::One(_, a) | Node::With(_, a, _) | Node::Shift(_, a, _) | Node::Has(a, _) => {
                (Some(a), None, None)
            }
            Node::Two(_, a, b) | Node::Compare(_, a, b) | Node::Join(_, a, b) => (Some(a), Some(b), None),
            Node::Choose(condition, yes, no) => (Some(condition), Some(yes), Some(no)),
        };
        [a, b, c].into_iter().flatten()
    }

    fn is_condition(self) -> bool {
        matches!(self, Node::Compare(..) | Node::Has(..) | Node::Join(..))
    }
}

/// A function's steps, in order.
#[derive(Default)]
struct Graph(RefCell<Vec<Node>>);

/// What a function gives, and whether it is an integer.
struct Value {
    number: usize,
    integer: bool,
}

impl Graph {
    fn push(&self, node: Node) -> usize {
        let mut nodes = self.0.borrow_mut();
        if let Node::Constant(word) = node {
            let there = nodes.iter().position(|other| matches!(other, Node::Constant(w) if *w == word));
            if let Some(number) = there {
                return number;
            }
        }
        nodes.push(node);
        nodes.len() - 1
    }

    /// Writes down the function that a row is; `None` if it is none.
    fn of(&self, op: Opcode) -> Option<Value> {
        let input = |k: usize| Expression { graph: self, number: self.push(Node::Input(k, WIDEN)) };
        let x = input(0);
        let value = match op {
            Opcode::Pow => pow_wide(x, input(1)),
            Opcode::Tan => tan_wide(x),
            Opcode::Asin => asin_wide(x),
            Opcode::Acos => acos_wide(x),
            Opcode::Atan => atan_wide(x),
            Opcode::Atan2 => atan2_wide(x, input(1)),
            Opcode::Sinh => sinh_wide(x),
            Opcode::Cosh => cosh_wide(x),
            Opcode::Tanh => tanh_wide(x),
            Opcode::Asinh => asinh_wide(x),
            Opcode::Acosh => acosh_wide(x),
            Opcode::Atanh => atanh_wide(x),
            Opcode::Ldexp => {
                let number = self.push(Node::Input(1, X86::EVEX_Vpmovsxdq_zmm_k1z_ymmm256));
                ldexp_wide(x, Bits(Expression { graph: self, number }))
            }
            Opcode::FrexpSignificand => significand_wide(x),
            Opcode::FrexpExponent => {
                return Some(Value { number: exponent_wide(x).0.number, integer: true });
            }
            _ => return None,
        };
        Some(Value { number: value.number, integer: false })
    }
}

/// A number that a step computes.
#[derive(Clone, Copy)]
struct Expression<'a> {
    graph: &'a Graph,
    number: usize,
}

/// The same, of its bits.
#[derive(Clone, Copy)]
struct Bits<'a>(Expression<'a>);

/// The same, of a condition.
#[derive(Clone, Copy)]
struct Condition<'a>(Expression<'a>);

impl<'a> Expression<'a> {
    fn then(self, node: Node) -> Expression<'a> {
        Expression { graph: self.graph, number: self.graph.push(node) }
    }

    fn two(self, code: X86, other: Expression<'a>) -> Expression<'a> {
        self.then(Node::Two(code, self.number, other.number))
    }

    fn with(self, code: X86, word: u64) -> Expression<'a> {
        self.then(Node::With(code, self.number, word))
    }

    fn compare(self, predicate: u32, other: Expression<'a>) -> Condition<'a> {
        Condition(self.then(Node::Compare(predicate, self.number, other.number)))
    }
}

macro_rules! arithmetic {
    ($($operator:ident $name:ident $code:ident;)*) => {
        $(
            impl<'a> $operator for Expression<'a> {
                type Output = Expression<'a>;
                fn $name(self, other: Expression<'a>) -> Expression<'a> {
                    self.two($code, other)
                }
            }
            impl<'a> $operator<f64> for Expression<'a> {
                type Output = Expression<'a>;
                fn $name(self, x: f64) -> Expression<'a> {
                    self.with($code, x.to_bits())
                }
            }
        )*
    };
}
arithmetic! {
    Add add ADD_DOUBLES;
    Sub sub SUB_DOUBLES;
    Mul mul MUL_DOUBLES;
    Div div DIV_DOUBLES;
}

impl<'a> BitAnd for Condition<'a> {
    type Output = Condition<'a>;
    fn bitand(self, other: Condition<'a>) -> Condition<'a> {
        Condition(self.0.then(Node::Join(X86::VEX_Kandw_kr_kr_kr, self.0.number, other.0.number)))
    }
}

impl<'a> BitOr for Condition<'a> {
    type Output = Condition<'a>;
    fn bitor(self, other: Condition<'a>) -> Condition<'a> {
        Condition(self.0.then(Node::Join(X86::VEX_Korw_kr_kr_kr, self.0.number, other.0.number)))
    }
}

impl<'a> Wide for Expression<'a> {
    type Condition = Condition<'a>;
    type Word = Bits<'a>;

    fn constant(self, x: f64) -> Self {
        self.then(Node::Constant(x.to_bits()))
    }
    fn word(self) -> Bits<'a> {
        Bits(self)
    }
    fn root(self) -> Self {
        self.then(Node::One(X86::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er, self.number))
    }
    fn less(self, than: Self) -> Condition<'a> {
        self.compare(LESS, than)
    }
    fn no_less(self, than: Self) -> Condition<'a> {
        self.compare(GREATER_EQUAL, than)
    }
    fn equals(self, other: Self) -> Condition<'a> {
        self.compare(EQUAL, other)
    }
    fn unordered(self, other: Self) -> Condition<'a> {
        self.compare(UNORDERED, other)
    }
    fn choose(condition: Condition<'a>, yes: Self, no: Self) -> Self {
        yes.then(Node::Choose(condition.0.number, yes.number, no.number))
    }
}

impl<'a> Word for Bits<'a> {
    type Wide = Expression<'a>;
    type Condition = Condition<'a>;

    fn wide(self) -> Expression<'a> {
        self.0
    }
    fn and(self, mask: u64) -> Self {
        Bits(self.0.with(X86::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64, mask))
    }
    fn or(self, bits: u64) -> Self {
        Bits(self.0.with(X86::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64, bits))
    }
    fn or_word(self, bits: Self) -> Self {
        Bits(self.0.two(X86::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64, bits.0))
    }
    fn flip(self, bits: u64) -> Self {
        Bits(self.0.with(X86::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64, bits))
    }
    fn plus(self, number: u64) -> Self {
        Bits(self.0.with(X86::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64, number))
    }
    fn left(self, by: u32) -> Self {
        Bits(self.0.then(Node::Shift(X86::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8, self.0.number, by)))
    }
    fn right(self, by: u32) -> Self {
        Bits(self.0.then(Node::Shift(X86::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8, self.0.number, by)))
    }
    fn within(self, least: i64, most: i64) -> Self {
        let bound = self.0.with(X86::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64, least.cast_unsigned());
        Bits(bound.with(X86::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64, most.cast_unsigned()))
    }
    fn has(self, bits: u64) -> Condition<'a> {
        Condition(self.0.then(Node::Has(self.0.number, bits)))
    }
    fn choose(condition: Condition<'a>, yes: Self, no: Self) -> Self {
        Bits(Expression::choose(condition, yes.0, no.0))
    }
}

/// Registers of the host that steps have, vectors or masks.
struct Registers {
    /// Of each step, where it has one.
    of: Vec<Option<u8>>,
    /// Of the steps that are no longer needed.
    free: Vec<u8>,
    free_masks: Vec<u8>,
    masks: usize,
}

impl Part<'_> {
    /// A row that is a function.
    pub(super) fn function(&mut self, inst: &Inst) {
        let graph = Graph::default();
        let Some(result) = graph.of(inst.op) else { return };
        let nodes = graph.0.into_inner();
        let inputs = [self.read(inst.a), if needs_input(&nodes, 1) { self.read(inst.b) } else { 0 }];
        let mut last = vec![0; nodes.len()];
        for (number, node) in nodes.iter().enumerate() {
            node.operands().for_each(|k| last[k] = number);
        }
        last[result.number] = nodes.len();
        let count = nodes.len();
        let mut registers =
            Registers { of: vec![None; count], free: Vec::new(), free_masks: Vec::new(), masks: 0 };
        let halves = [0, 1].map(|half| {
            registers.of.fill(None);
            for number in 0..count {
                if last[number] > 0 && !matches!(nodes[number], Node::Constant(_)) {
                    self.step(&nodes, number, &last, (inputs, half), &mut registers);
                }
            }
            registers.of[result.number].unwrap_or(0)
        });
        if result.integer {
            self.cut_both(halves);
            self.set(inst.dst, halves[0]);
        } else {
            self.narrow_both(halves);
            self.canonical(inst.dst, halves[0]);
        }
    }

    fn step(
        &mut self,
        nodes: &[Node],
        number: usize,
        last: &[usize],
        (inputs, half): ([u8; 2], usize),
        registers: &mut Registers,
    ) {
        let node = nodes[number];
        if let Node::Input(k, code) = node {
            let to = self.register_of(registers);
            self.widen_half_of(code, to, inputs[k], half);
            registers.of[number] = Some(to);
            return;
        }
        // Constants that are no last operand come to registers.
        let first = match node {
            Node::Choose(_, _, no) => Some(no),
            other => other.operands().next(),
        };
        if let Some(k) = first
            && let (Node::Constant(word), None) = (nodes[k], registers.of[k])
        {
            let to = self.register_of(registers);
            self.spread_double_bits(to, word);
            registers.of[k] = Some(to);
        }
        let of = registers.of.clone();
        for k in node.operands() {
            if last[k] == number
                && let Some(register) = registers.of[k].take()
            {
                let free =
                    if nodes[k].is_condition() { &mut registers.free_masks } else { &mut registers.free };
                free.push(register);
            }
        }
        let to = if node.is_condition() { self.mask_of(registers) } else { self.register_of(registers) };
        registers.of[number] = Some(to);
        self.put_step(nodes, node, to, &of);
    }

    /// The instruction of a step, with its operands' registers.
    fn put_step(&mut self, nodes: &[Node], node: Node, to: u8, of: &[Option<u8>]) {
        let register = |k: usize| of[k].unwrap_or(0);
        let (wide, mask) = (self.host(to), Register::K0 + u32::from(to));
        match node {
            Node::One(code, a) => {
                let a = self.host(register(a));
                self.asm.registers(code, wide, a);
            }
            Node::Shift(code, a, by) => {
                let a = self.host(register(a));
                self.asm.put(Instruction::with3(code, wide, a, by));
            }
            Node::With(code, a, word) => {
                let (a, place) = (self.host(register(a)), self.place_of_double(word));
                self.asm.put(spread(Instruction::with3(code, wide, a, place)));
            }
            Node::Has(a, word) => {
                let (a, place) = (self.host(register(a)), self.place_of_double(word));
                let code = X86::EVEX_Vptestmq_kr_k1_zmm_zmmm512b64;
                self.asm.put(spread(Instruction::with3(code, mask, a, place)));
            }
            Node::Two(code, a, b) => {
                let a = self.host(register(a));
                match (nodes[b], of[b]) {
                    (Node::Constant(word), None) => {
                        let place = self.place_of_double(word);
                        self.asm.put(spread(Instruction::with3(code, wide, a, place)));
                    }
                    _ => {
                        let b = self.host(register(b));
                        self.asm.put(Instruction::with3(code, wide, a, b));
                    }
                }
            }
            Node::Compare(predicate, a, b) => {
                let (a, code) = (self.host(register(a)), X86::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae);
                match (nodes[b], of[b]) {
                    (Node::Constant(word), None) => {
                        let place = self.place_of_double(word);
                        self.asm.put(spread(Instruction::with4(code, mask, a, place, predicate)));
                    }
                    _ => {
                        let b = self.host(register(b));
                        self.asm.put(Instruction::with4(code, mask, a, b, predicate));
                    }
                }
            }
            Node::Join(code, a, b) => {
                let [a, b] = [a, b].map(|k| Register::K0 + u32::from(register(k)));
                self.asm.put(Instruction::with3(code, mask, a, b));
            }
            Node::Choose(condition, yes, no) => {
                let (code, no) = (X86::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64, self.host(register(no)));
                let instruction = match (nodes[yes], of[yes]) {
                    (Node::Constant(word), None) => {
                        let place = self.place_of_double(word);
                        spread(Instruction::with3(code, wide, no, place))
                    }
                    _ => Instruction::with3(code, wide, no, self.host(register(yes))),
                };
                self.masked(register(condition), instruction);
            }
            Node::Input(..) | Node::Constant(_) => {}
        }
    }

    fn register_of(&mut self, registers: &mut Registers) -> u8 {
        registers.free.pop().unwrap_or_else(|| self.temporary())
    }

    fn mask_of(&mut self, registers: &mut Registers) -> u8 {
        registers.free_masks.pop().unwrap_or_else(|| {
            registers.masks += 1;
            if registers.masks > 7 {
                // There is no such instruction: the code would be wrong, so that there is none.
                self.asm.put(Ok(Instruction::default()));
            }
            self.host_mask()
        })
    }

    /// Two times eight integers as words of 32 bits, all in the first register.
    fn cut_both(&mut self, x: [u8; 2]) {
        self.join_halves(X86::EVEX_Vpmovqd_ymmm256_k1z_zmm, x);
    }
}

/// Whether an operand of the instruction takes part.
fn needs_input(nodes: &[Node], input: usize) -> bool {
    nodes.iter().any(|node| matches!(node, Node::Input(k, _) if *k == input))
}
