//! The steps of the functions of [`crate::math::wide`]: they are called with expressions in place of
//! numbers.

use super::super::operation::*;
use crate::code::Opcode;
use crate::math::single::exponential::pow_wide;
use crate::math::single::hyperbolic::*;
use crate::math::single::trigonometric::{acos_wide, asin_wide, atan_wide, atan2_wide, tan_wide};
use crate::math::single::{exponent_wide, ldexp_wide, significand_wide};
use crate::math::wide::{Wide, Word};
use iced_x86::Code as X86;
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
pub(super) enum Node {
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
    pub fn operands(self) -> impl Iterator<Item = usize> {
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

    pub fn is_condition(self) -> bool {
        matches!(self, Node::Compare(..) | Node::Has(..) | Node::Join(..))
    }
}

/// A function's steps, in order.
#[derive(Default)]
pub(super) struct Graph(RefCell<Vec<Node>>);

/// What a function gives, and whether it is an integer.
pub(super) struct Value {
    pub number: usize,
    pub integer: bool,
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

    /// What was written down, in order.
    pub fn steps(self) -> Vec<Node> {
        self.0.into_inner()
    }

    /// Writes down the function that a row is; `None` if it is none.
    pub fn of(&self, op: Opcode) -> Option<Value> {
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
