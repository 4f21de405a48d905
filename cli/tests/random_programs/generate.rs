//! Random programs are made of idioms with faults, and of noise: pure noise is hardly ever free of races.

use super::program::{Condition, How, Index, Node, Op, Place, Program, Through, Turns, WORDS, Width};
use pellucid_memory::access::AtomicOp;
use pellucid_memory::random::Random;
use pellucid_memory::scope::{Scope, Semantics, StorageClasses};

mod noise;

const SCOPES: [Scope; 4] = [Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device];

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    // Groups, invocations, subgroup size; few are wide: every barrier of theirs is many events.
    let shapes: &[(u32, u32, u32)] = match random.below(100) {
        0..6 => &[(1, 32, 32), (1, 40, 32), (2, 32, 32)],
        6..20 => &[(1, 8, 8), (2, 8, 4), (1, 16, 8), (1, 12, 8), (2, 5, 4)],
        _ => &[
            (1, 2, 2),
            (1, 2, 1),
            (2, 1, 1),
            (2, 2, 2),
            (1, 4, 2),
            (2, 2, 1),
            (2, 3, 2),
            (3, 1, 1),
            (1, 4, 4),
        ],
    };
    let (groups, local, subgroup) = random.pick(shapes);
    let zeroed = random.chance(70);
    let mut made = Program { groups, local, subgroup, zeroed, body: Vec::new() };
    let faults = random.pick(&[0, 0, 0, 0, 0, 3, 8, 20]);
    let single = (faults == 0 && random.chance(65)).then(|| random.below(20));
    let mut generator = Generator { random, groups, local, faults, single, phase: 0 };
    made.body = generator.body();
    made
}

struct Generator {
    random: Random,
    groups: u32,
    local: u32,
    /// How likely each part of an idiom is wrong, in percent.
    faults: u32,
    /// Decisions until the only one that is wrong.
    single: Option<u32>,
    /// Idioms so far: each has places of its own.
    phase: u32,
}

/// The storage class of what an access goes through.
fn class(through: Through) -> StorageClasses {
    match through {
        Through::Texels | Through::Image => StorageClasses::IMAGE,
        Through::Shared | Through::SharedLongs => StorageClasses::WORKGROUP,
        _ => StorageClasses::UNIFORM,
    }
}

fn word(through: Through) -> Width {
    match through {
        Through::Bytes => Width::Byte,
        Through::Longs | Through::SharedLongs => Width::Long,
        _ => Width::Word,
    }
}

impl Generator {
    fn agents(&self) -> u32 {
        self.groups * self.local
    }

    fn wide(&self) -> bool {
        self.agents() > 16
    }

    fn body(&mut self) -> Vec<Node> {
        let mut body = Vec::new();
        if self.random.chance(12) {
            return self.noise(true, if self.wide() { 4 } else { 9 }, 2);
        }
        let most = if self.wide() { 1 } else { 2 };
        for _ in 0..1 + self.random.below(most) {
            let idiom = match self.random.below(100) {
                0..34 => self.message(),
                34..64 => self.exchange(),
                64..78 => self.counter(),
                _ => self.chain(),
            };
            body.extend(idiom);
            self.phase += 1;
            if self.fault() {
                body.extend(self.noise(true, 2, 1));
            }
        }
        body
    }

    fn fault(&mut self) -> bool {
        if let Some(left) = &mut self.single {
            *left = left.wrapping_sub(1);
            return *left == u32::MAX;
        }
        let faults = self.faults;
        self.random.chance(faults)
    }

    fn scope(&mut self) -> Scope {
        if self.random.chance(3) { Scope::Invocation } else { self.random.pick(&SCOPES) }
    }

    /// A scope that may be too narrow.
    fn narrow(&mut self) -> Scope {
        self.random.pick(&[Scope::Invocation, Scope::Subgroup, Scope::Subgroup, Scope::Workgroup])
    }

    /// A scope that two invocations share, or, rarely, any.
    fn common(&mut self, a: u32, b: u32) -> Scope {
        if self.fault() {
            return self.narrow();
        }
        let wide = [Scope::QueueFamily, Scope::Device];
        if a / self.local == b / self.local && self.random.chance(70) {
            Scope::Workgroup
        } else {
            self.random.pick(&wide)
        }
    }

    fn classes(&mut self, needed: StorageClasses) -> StorageClasses {
        if self.fault() {
            return StorageClasses::from_bits_truncate(1 + self.random.below(7) as u8);
        }
        match self.random.below(4) {
            0 => StorageClasses::UNIFORM | StorageClasses::WORKGROUP | StorageClasses::IMAGE,
            1 => needed | StorageClasses::from_bits_truncate(self.random.below(8) as u8),
            _ => needed,
        }
    }

    fn semantics(&mut self, acquire: bool, release: bool, needed: StorageClasses) -> Semantics {
        let acquire = acquire && !self.fault();
        let release = release && !self.fault();
        if !acquire && !release {
            return Semantics::RELAXED;
        }
        let make = [release && !self.fault(), acquire && !self.fault()];
        Semantics {
            acquire,
            release,
            classes: self.classes(needed),
            make_available: make[0],
            make_visible: make[1],
            volatile: false,
        }
    }

    /// Random semantics for an operation that may do these.
    fn any_semantics(&mut self, read: bool, write: bool, always: bool) -> Semantics {
        let mut acquire = read && self.random.chance(50);
        let mut release = write && self.random.chance(50);
        if always && !acquire && !release {
            (acquire, release) = if read { (true, write && self.random.chance(50)) } else { (false, true) };
        }
        if !acquire && !release {
            return Semantics::RELAXED;
        }
        Semantics {
            acquire,
            release,
            classes: StorageClasses::from_bits_truncate(self.random.pick(&[1, 1, 1, 3, 2, 4, 5, 7])),
            make_available: release && self.random.chance(65),
            make_visible: acquire && self.random.chance(65),
            volatile: false,
        }
    }

    fn how(&mut self, scope: Scope, alone: bool) -> How {
        if self.fault() {
            return How { non_private: self.random.chance(50), scope: None };
        }
        // Now and then an access of the next kind: with an operation of its own.
        How { non_private: true, scope: (alone || self.random.chance(15)).then_some(scope) }
    }

    fn through(&mut self, same_workgroup: bool) -> Through {
        use Through::*;
        if same_workgroup && self.random.chance(45) {
            return self.random.pick(&[Shared, Shared, SharedLongs]);
        }
        self.random.pick(&[Words, Words, Words, Alias, Bytes, Longs, Physical, Physical, Texels, Image])
    }

    /// The width of a plain access.
    fn width(&mut self, through: Through) -> Width {
        use Width::*;
        match through {
            Through::Physical => self.random.pick(&[Byte, Short, Word, Word, Long, Pair]),
            _ => word(through),
        }
    }

    fn other(&mut self, through: Through) -> Through {
        use Through::*;
        if !self.fault() {
            return through;
        }
        match through {
            Words | Alias | Bytes | Longs | Physical => {
                self.random.pick(&[Words, Alias, Bytes, Longs, Physical])
            }
            Texels | Image => self.random.pick(&[Texels, Image]),
            Shared | SharedLongs => through,
        }
    }

    fn atomic(&mut self, through: Through) -> Place {
        let width = if through == Through::Bytes { Width::Word } else { word(through) };
        let through = if through == Through::Bytes { Through::Words } else { through };
        Place { through, width, index: Index::Constant(0) }
    }

    /// Two invocations that communicate.
    fn two(&mut self) -> (u32, u32) {
        let agents = self.agents();
        let a = self.random.below(agents);
        let b = if agents > 1 { (a + 1 + self.random.below(agents - 1)) % agents } else { a };
        (a, b)
    }

    /// An element of this idiom's own, by its number: eight words each.
    fn element(&self, width: Width, number: u32) -> u32 {
        ((self.phase % 4) * 32 + 128) / width.bytes() + number
    }

    fn flag_place(&mut self, same_workgroup: bool) -> Place {
        let through = loop {
            let through = self.through(same_workgroup);
            if through != Through::Bytes {
                break through;
            }
        };
        let mut flag = self.atomic(through);
        flag.index = Index::Constant(self.element(flag.width, 24 / flag.width.bytes()));
        flag
    }

    /// The releasing side: a write of the flag that what comes before is released by.
    fn signal(&mut self, flag: Place, scope: Scope, data: StorageClasses) -> Vec<Node> {
        let own = class(flag.through);
        let mut nodes = Vec::new();
        let mut semantics = self.semantics(false, true, data);
        if self.random.chance(35) {
            if semantics != Semantics::RELAXED {
                if !self.fault() {
                    semantics.classes |= own;
                }
                nodes.push(Node::Op(Op::Fence(scope, semantics)));
            }
            semantics = Semantics::RELAXED;
        }
        let op = if self.random.chance(60) {
            Op::AtomicStore(flag, scope, semantics)
        } else {
            let op = self.random.pick(&[AtomicOp::Exchange, AtomicOp::IAdd, AtomicOp::Or, AtomicOp::UMax]);
            Op::Update(flag, scope, semantics, op, Semantics::RELAXED)
        };
        nodes.push(Node::Op(op));
        nodes
    }

    /// The acquiring side: what comes after it only if the flag was seen.
    fn wait(&mut self, flag: Place, scope: Scope, data: StorageClasses, mut then: Vec<Node>) -> Vec<Node> {
        let own = class(flag.through);
        let mut semantics = self.semantics(true, false, data);
        let mut fence = None;
        if self.random.chance(35) {
            if semantics != Semantics::RELAXED {
                if !self.fault() {
                    semantics.classes |= own;
                }
                fence = Some(Node::Op(Op::Fence(scope, semantics)));
            }
            semantics = Semantics::RELAXED;
        }
        let look = if self.random.chance(75) {
            Op::AtomicLoad(flag, scope, semantics)
        } else {
            let failed = if self.random.chance(70) { semantics } else { Semantics::RELAXED };
            Op::Update(flag, scope, semantics, AtomicOp::CompareExchange, failed)
        };
        if let Some(fence) = fence {
            then.insert(0, fence);
        }
        let turns = 1 + self.random.below(3);
        let mut nodes = if turns == 1 {
            vec![Node::Op(look)]
        } else {
            vec![Node::Loop(Turns::Until(turns), vec![Node::Op(look)])]
        };
        if self.fault() {
            nodes.extend(then);
        } else {
            nodes.push(Node::If(Condition::Loaded, then, Vec::new()));
        }
        nodes
    }

    fn by(&mut self, agent: u32, nodes: Vec<Node>) -> Node {
        Node::If(Condition::Is(agent), nodes, Vec::new())
    }

    /// One writes, tells another, which reads or writes.
    fn message(&mut self) -> Vec<Node> {
        let (a, b) = self.two();
        let same = a / self.local == b / self.local;
        let through = self.through(same);
        let width = self.width(through);
        let count = 1 + self.random.below(2);
        let flag = self.flag_place(same);
        let scope = self.common(a, b);
        let own = self.random.chance(20);
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        for number in 0..count {
            let index = Index::Constant(self.element(width, number));
            let how = self.how(scope, own);
            let place = Place { through, width, index };
            writes.push(Node::Op(if self.random.chance(80) {
                Op::Store(place, how)
            } else {
                Op::Load(place, how)
            }));
            if self.random.chance(8) {
                let how = self.how(scope, !own);
                writes.push(Node::Op(Op::Store(place, how)));
            }
            let mut place = Place { through: self.other(through), width, index };
            if place.through != through {
                place.width = word(place.through);
                place.index = Index::Constant(self.element(place.width, number));
            }
            let how = self.how(scope, own);
            reads.push(Node::Op(if self.random.chance(75) {
                Op::Load(place, how)
            } else {
                Op::Store(place, how)
            }));
            if self.random.chance(10) {
                let how = self.how(scope, own);
                reads.push(Node::Op(Op::Load(place, how)));
            }
        }
        let data = class(through);
        let signal_scope = if self.fault() { self.narrow() } else { scope };
        writes.extend(self.signal(flag, signal_scope, data));
        let reads = self.wait(flag, scope, data, reads);
        let (first, second) = (self.by(a, writes), self.by(b, reads));
        match self.random.below(4) {
            0 => vec![Node::If(Condition::Is(a), vec![first], vec![second])],
            1 => vec![second, first],
            _ => vec![first, second],
        }
    }

    /// A message that a third one passes on.
    fn chain(&mut self) -> Vec<Node> {
        let (a, b) = self.two();
        let agents = self.agents();
        let c = self.random.below(agents);
        let same = [a, b, c].iter().all(|x| x / self.local == a / self.local);
        let through = self.through(same);
        let width = self.width(through);
        let place = Place { through, width, index: Index::Constant(self.element(width, 0)) };
        let data = class(through);
        let mut flags = [self.flag_place(same), self.flag_place(same)];
        if let Index::Constant(index) = &mut flags[1].index {
            *index -= 8 / flags[1].width.bytes();
        }
        let scopes = [self.common(a, b), self.common(b, c)];
        let whole = self.common(a, c);
        let how = self.how(whole, false);
        let mut first = vec![Node::Op(Op::Store(place, how))];
        first.extend(self.signal(flags[0], scopes[0], data));
        let mut pass = self.signal(flags[1], scopes[1], data);
        if self.random.chance(30) {
            let how = self.how(whole, false);
            pass.insert(
                0,
                Node::Op(if self.random.chance(50) { Op::Load(place, how) } else { Op::Store(place, how) }),
            );
        }
        let second = self.wait(flags[0], scopes[0], data, pass);
        let how = self.how(whole, false);
        let read =
            vec![Node::Op(if self.random.chance(80) { Op::Load(place, how) } else { Op::Store(place, how) })];
        let third = self.wait(flags[1], scopes[1], data, read);
        vec![self.by(a, first), self.by(b, second), self.by(c, third)]
    }

    /// All write their own elements, meet at a barrier, and read the next one's.
    fn exchange(&mut self) -> Vec<Node> {
        let through = self.through(true);
        let width = if through == Through::Physical {
            self.random.pick(&[Width::Word, Width::Pair, Width::Short])
        } else {
            word(through)
        };
        let together = self.random.chance(15);
        let count = self.local.next_power_of_two().min(WORDS * 4 / width.bytes());
        // Of several workgroups each has elements of its own only in workgroup memory.
        let own = matches!(through, Through::Shared | Through::SharedLongs);
        let alone = self.groups > 1 && !own;
        let (data, scope) = (class(through), Scope::Workgroup);
        let place = |shift| Place { through, width, index: Index::Local(shift, count) };
        let turns = if self.random.chance(25) { 2 } else { 1 };
        let mut nodes = Vec::new();
        let some = self.wide() && self.random.chance(50);
        let lanes = self.random.pick(&[0x5555_5555, 3, 0x8000_0001, 0xff]);
        let few = |nodes: Vec<Node>| {
            if some { vec![Node::If(Condition::Lanes(lanes), nodes, Vec::new())] } else { nodes }
        };
        for phase in 0..2 {
            let how = self.how(scope, false);
            let shift = self.random.below(3) * phase;
            let op = if phase == 0 || self.random.chance(30) {
                Op::Store(place(shift), how)
            } else {
                Op::Load(place(shift), how)
            };
            let mut part = few(vec![Node::Op(op)]);
            if self.random.chance(10) {
                let how = self.how(scope, false);
                part.extend(few(vec![Node::Op(Op::Load(place(shift), how))]));
            }
            nodes.extend(part);
            if phase == 0 || turns > 1 {
                let at = if self.fault() { self.narrow() } else { scope };
                let semantics = self.semantics(true, true, data);
                nodes.push(if together {
                    Node::Op(Op::Together(at, semantics))
                } else {
                    Node::Barrier(at, semantics)
                });
            }
        }
        if turns > 1 {
            nodes = vec![Node::Loop(Turns::All(turns), nodes)];
        }
        if alone && !self.fault() {
            let group = self.random.below(self.groups);
            nodes = vec![Node::If(Condition::Workgroup(group), nodes, Vec::new())];
        }
        nodes
    }

    /// All write, then count; the last one to count reads what all wrote.
    fn counter(&mut self) -> Vec<Node> {
        let same = self.groups == 1;
        let through = self.through(same);
        let through = if matches!(through, Through::Shared | Through::SharedLongs) && !same {
            Through::Words
        } else {
            through
        };
        let width = word(through);
        let counter = self.flag_place(same);
        let all = self.agents().min(4);
        let scope = if same && self.random.chance(60) {
            Scope::Workgroup
        } else {
            self.random.pick(&[Scope::QueueFamily, Scope::Device])
        };
        let base = self.element(width, 0);
        let data = class(through);
        let how = self.how(scope, false);
        let index = |shift| Index::Global(base + shift, WORDS * 4 / width.bytes());
        let write = Node::Op(Op::Store(Place { through, width, index: index(0) }, how));
        let own = self.fault();
        let at = if own { self.narrow() } else { scope };
        let semantics = self.semantics(true, true, data);
        let count = Op::Count(counter, at, semantics);
        let mut last = Vec::new();
        for agent in 0..all.min(3) {
            let how = self.how(scope, false);
            last.push(Node::Op(Op::Load(
                Place { through, width, index: Index::Constant(base + agent) },
                how,
            )));
        }
        let body = vec![write, Node::Op(count), Node::If(Condition::Equal(all - 1), last, Vec::new())];
        if all == self.agents() {
            return body;
        }
        let mut nodes = body;
        // The first four invocations of the dispatch.
        nodes = vec![Node::If(Condition::Lanes(0xf), nodes, Vec::new())];
        vec![Node::If(Condition::Workgroup(0), nodes, Vec::new())]
    }
}
