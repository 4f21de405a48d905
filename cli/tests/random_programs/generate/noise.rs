//! Noise: operations, branches and loops without a purpose.

use super::super::program::{Condition, How, Index, Node, Op, Place, Through, Turns, Width};
use super::Generator;
use pellucid_memory::access::AtomicOp;
use pellucid_memory::scope::{Scope, Semantics};

impl Generator {
    /// Anything, anywhere, at a few places.
    pub(super) fn noise(&mut self, uniform: bool, count: u32, depth: u32) -> Vec<Node> {
        let mut nodes = Vec::new();
        let count = 1 + self.random.below(count);
        for _ in 0..count {
            let dice = self.random.below(100);
            let node = if dice < 10 && uniform {
                let scope = if self.random.chance(70) { Scope::Workgroup } else { self.scope() };
                let (acquire, release) =
                    self.random.pick(&[(true, true), (true, true), (true, false), (false, true)]);
                let semantics = if self.random.chance(10) {
                    Semantics::RELAXED
                } else {
                    self.any_semantics(acquire, release, true)
                };
                Node::Barrier(scope, semantics)
            } else if dice < 30 && depth > 0 {
                let condition = self.condition();
                let then = self.noise(false, 3, depth - 1);
                let otherwise =
                    if self.random.chance(40) { self.noise(false, 2, depth - 1) } else { Vec::new() };
                Node::If(condition, then, otherwise)
            } else if dice < 36 && depth > 0 {
                let turns = self.random.pick(&[Turns::All(2), Turns::Divergent(1), Turns::Until(2)]);
                let uniform = uniform && matches!(turns, Turns::All(_));
                Node::Loop(turns, self.noise(uniform, 2, depth - 1))
            } else {
                let op = self.op();
                if self.agents() > 4 && self.random.chance(if self.wide() { 95 } else { 60 }) {
                    let condition = if self.random.chance(70) { self.single() } else { self.condition() };
                    Node::If(condition, vec![Node::Op(op)], Vec::new())
                } else {
                    Node::Op(op)
                }
            };
            nodes.push(node);
        }
        nodes
    }

    pub(super) fn single(&mut self) -> Condition {
        let agents = self.agents();
        Condition::Is(self.random.below(agents))
    }

    pub(super) fn condition(&mut self) -> Condition {
        match self.random.below(6) {
            0 => Condition::Lanes(self.random.pick(&[1, 2, 3, 0x11, 0x5555_5555])),
            1 => Condition::Workgroup(self.random.below(self.groups)),
            2 => Condition::Bit(self.random.below(4)),
            3 => Condition::Loaded,
            _ => self.single(),
        }
    }

    pub(super) fn index(&mut self, width: Width) -> Index {
        let most = (16 / width.bytes()).max(2);
        match self.random.below(10) {
            0..6 => Index::Constant(self.random.below(most.min(4))),
            6..8 => Index::Local(self.random.below(2), most.min(4)),
            8 => Index::Global(self.random.below(2), most.min(8)),
            _ => Index::Loaded(2),
        }
    }

    pub(super) fn op(&mut self) -> Op {
        let through = self.through(true);
        let dice = self.random.below(100);
        if dice < 45 {
            let width = self.width(through);
            let place = Place { through, width, index: self.index(width) };
            let how = match self.random.below(10) {
                0..3 => How { non_private: true, scope: Some(self.scope()) },
                3..8 => How { non_private: true, scope: None },
                _ => How { non_private: false, scope: None },
            };
            return if self.random.chance(50) { Op::Load(place, how) } else { Op::Store(place, how) };
        }
        let scope = self.scope();
        if dice < 55 {
            let (acquire, release) = self.random.pick(&[(true, true), (true, false), (false, true)]);
            return Op::Fence(scope, self.any_semantics(acquire, release, true));
        }
        if dice < 60 {
            let semantics = if self.random.chance(20) {
                Semantics::RELAXED
            } else {
                self.any_semantics(true, true, true)
            };
            return Op::Together(scope, semantics);
        }
        let mut place = self.atomic(through);
        if place.through == Through::Physical && self.random.chance(40) {
            place.width = Width::Long;
        }
        place.index = self.index(place.width);
        match self.random.below(3) {
            0 => Op::AtomicLoad(place, scope, self.any_semantics(true, false, false)),
            1 => Op::AtomicStore(place, scope, self.any_semantics(false, true, false)),
            _ => {
                use AtomicOp::*;
                let op = self.random.pick(&[
                    Exchange,
                    Exchange,
                    CompareExchange,
                    CompareExchange,
                    IAdd,
                    IAdd,
                    ISub,
                    SMin,
                    UMin,
                    SMax,
                    UMax,
                    And,
                    Or,
                    Xor,
                ]);
                let semantics = self.any_semantics(true, true, false);
                let mut failed = self.any_semantics(true, false, false);
                if op != CompareExchange {
                    failed = Semantics::RELAXED;
                }
                Op::Update(place, scope, semantics, op, failed)
            }
        }
    }
}
