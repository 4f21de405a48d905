//! Branches that invocations of one subgroup alone take, by what their conditions compare.
//!
//! A barrier of the subgroup orders what happens in such a branch in every workgroup, whatever the addresses.
//! Elsewhere nothing in the text says that the other subgroups do not meet at them.

use crate::ir::{Alu, BuiltIn, DerivativeGroup, Op, OpKind, Shader, Value};
use rustc_hash::FxHashMap;

/// What conditions are made of.
#[derive(Default)]
pub(super) struct Alone<'a> {
    defined: FxHashMap<Value, &'a Op>,
    subgroup_size: u64,
    /// Subgroups are runs of LocalInvocationIndex.
    in_order: bool,
    /// LocalInvocationId.x is LocalInvocationIndex.
    in_one_row: bool,
}

impl<'a> Alone<'a> {
    /// For subgroups of this many invocations.
    pub fn new(shader: &Shader, subgroup_size: u32) -> Alone<'a> {
        let [_, height, depth] = shader.local_size;
        Alone {
            defined: FxHashMap::default(),
            subgroup_size: u64::from(subgroup_size),
            in_order: shader.derivative_group != Some(DerivativeGroup::Quads),
            in_one_row: height == 1 && depth == 1,
        }
    }

    /// An operation, in the order of the text: conditions come after what they are made of.
    pub fn define(&mut self, op: &'a Op) {
        self.defined.extend(op.results.iter().map(|result| (*result, op)));
    }

    /// Whether all invocations of a workgroup for which the condition is `holds` are of one subgroup; where
    /// that is not known: `false`.
    pub fn takes(&self, condition: Value, holds: bool) -> bool {
        let Some(Op { kind: OpKind::Alu(alu), arguments, .. }) = self.defined.get(&condition) else {
            return false;
        };
        match (alu, holds, arguments[..].first().zip(arguments.get(1))) {
            (Alu::LogicalNot, ..) => self.takes(arguments[0], !holds),
            (Alu::LogicalAnd, true, Some((a, b))) | (Alu::LogicalOr, false, Some((a, b))) => {
                self.takes(*a, holds) || self.takes(*b, holds)
            }
            (Alu::IEqual, true, Some((a, b))) | (Alu::INotEqual, false, Some((a, b))) => {
                self.is_one(*a, *b) || self.is_one(*b, *a)
            }
            (Alu::ULess | Alu::SLess, true, Some((a, b))) => self.are_below(*a, *b, 0),
            (Alu::ULessEqual | Alu::SLessEqual, true, Some((a, b))) => self.are_below(*a, *b, 1),
            (Alu::ULess | Alu::SLess, false, Some((a, b))) => self.are_below(*b, *a, 1),
            (Alu::ULessEqual | Alu::SLessEqual, false, Some((a, b))) => self.are_below(*b, *a, 0),
            _ => false,
        }
    }

    /// Whether those whose `number` is this constant are of one subgroup.
    fn is_one(&self, number: Value, constant: Value) -> bool {
        self.constant(constant).is_some()
            && match self.built_in(number) {
                Some(BuiltIn::LocalInvocationIndex | BuiltIn::SubgroupId) => true,
                Some(BuiltIn::LocalInvocationId(0)) => self.in_one_row,
                _ => false,
            }
    }

    /// Whether those whose `number` is below `end` + `more` are of one subgroup. Numbers of invocations are
    /// small: their order is the same with a sign and without one.
    fn are_below(&self, number: Value, end: Value, more: u64) -> bool {
        let Some(end) = self.constant(end).filter(|end| *end < 1 << 31) else { return false };
        match self.built_in(number) {
            Some(BuiltIn::SubgroupId) => end + more <= 1,
            Some(BuiltIn::LocalInvocationIndex) => self.in_order && end + more <= self.subgroup_size,
            Some(BuiltIn::LocalInvocationId(0)) => {
                self.in_order && self.in_one_row && end + more <= self.subgroup_size
            }
            _ => false,
        }
    }

    fn built_in(&self, value: Value) -> Option<BuiltIn> {
        match self.defined.get(&value)?.kind {
            OpKind::BuiltIn(built_in) => Some(built_in),
            _ => None,
        }
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match self.defined.get(&value)?.kind {
            OpKind::Constant(bits) => Some(bits),
            OpKind::BuiltIn(BuiltIn::SubgroupSize) => Some(self.subgroup_size),
            _ => None,
        }
    }
}
