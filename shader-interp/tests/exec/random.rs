//! Random structured programs: nested blocks, loops left and repeated from anywhere by some lanes, switches,
//! values carried out of loops.

use crate::reference::Invocation;
use crate::support::*;
use pellucid_memory::random::Random;
use pellucid_shader_interp::ir::*;
use smallvec::SmallVec;

#[derive(Clone, Default)]
struct Visible {
    words: Vec<Value>,
    floats: Vec<Value>,
    bools: Vec<Value>,
}

struct Generator {
    random: Random,
    builder: Builder,
    one: Value,
    seven: Value,
    zero: Value,
    slot: Value,
    next_slot: u32,
    /// Blocks that can be left from here, with the number of their results.
    blocks: Vec<(Label, usize)>,
    size: u32,
}

const SLOTS: u32 = 64;
const WORDS: [Alu; 13] = [
    Alu::IAdd,
    Alu::ISub,
    Alu::IMul,
    Alu::And,
    Alu::Or,
    Alu::Xor,
    Alu::ShiftLeft,
    Alu::ShiftRightLogical,
    Alu::ShiftRightArithmetic,
    Alu::UMin,
    Alu::SMax,
    Alu::UDiv,
    Alu::IAdd,
];
const TESTS: [Alu; 5] = [Alu::IEqual, Alu::INotEqual, Alu::ULess, Alu::SLess, Alu::SLessEqual];

impl Generator {
    fn word(&mut self, visible: &Visible) -> Value {
        visible.words[self.random.below(visible.words.len())]
    }

    fn float(&mut self, visible: &Visible) -> Value {
        visible.floats[self.random.below(visible.floats.len())]
    }

    fn bool(&mut self, visible: &Visible) -> Value {
        visible.bools[self.random.below(visible.bools.len())]
    }

    fn straight(&mut self, region: &mut Region, visible: &mut Visible, count: usize) {
        for _ in 0..count {
            match self.random.below(10) {
                0..4 => {
                    let alu = WORDS[self.random.below(WORDS.len())];
                    let arguments = [self.word(visible), self.word(visible)];
                    let value = self.builder.alu(region, alu, &arguments, Scalar::I32);
                    visible.words.push(value);
                }
                4 => {
                    let arguments = [self.bool(visible), self.word(visible), self.word(visible)];
                    let value = self.builder.alu(region, Alu::Select, &arguments, Scalar::I32);
                    visible.words.push(value);
                }
                5 | 6 => {
                    let alu = TESTS[self.random.below(TESTS.len())];
                    // Small numbers: tests that go both ways.
                    let seven = self.seven;
                    let (x, y) = (self.word(visible), self.word(visible));
                    let x = self.builder.alu(region, Alu::And, &[x, seven], Scalar::I32);
                    let y = self.builder.alu(region, Alu::And, &[y, seven], Scalar::I32);
                    let value = self.builder.alu(region, alu, &[x, y], Scalar::Bool);
                    visible.bools.push(value);
                }
                7 => {
                    let arguments = [self.bool(visible), self.bool(visible)];
                    let alu = [Alu::LogicalAnd, Alu::LogicalOr][self.random.below(2)];
                    let value = self.builder.alu(region, alu, &arguments, Scalar::Bool);
                    visible.bools.push(value);
                }
                8 => {
                    let alu = [Alu::FAdd, Alu::FSub, Alu::FMul][self.random.below(3)];
                    let arguments = [self.float(visible), self.float(visible)];
                    let value = self.builder.alu(region, alu, &arguments, Scalar::F32);
                    visible.floats.push(value);
                }
                _ => {
                    let address = self.word(visible);
                    let limit = self.builder.constant(region, 0xfc, Scalar::I32);
                    let offset = self.builder.alu(region, Alu::And, &[address, limit], Scalar::I32);
                    let value = self.builder.value(Scalar::I32);
                    region.push(Node::Op(Op {
                        kind: OpKind::Load { place: buffer(1, Some(offset), 0), access: plain(1) },
                        results: SmallVec::from_slice(&[value]),
                        arguments: SmallVec::new(),
                        site: pellucid_memory::access::Site(0),
                    }));
                    visible.words.push(value);
                }
            }
        }
    }

    /// Writes a value where the test can see it.
    fn observe(&mut self, region: &mut Region, visible: &Visible) {
        let value = self.word(visible);
        let immediate = 4 * (self.next_slot % SLOTS);
        self.next_slot += 1;
        store(region, buffer(0, Some(self.slot), immediate), &[value]);
    }

    fn region(&mut self, visible: &mut Visible, depth: usize) -> Region {
        let mut region = Region::new();
        for _ in 0..1 + self.random.below(3) {
            let count = 1 + self.random.below(4);
            self.straight(&mut region, visible, count);
            if self.size == 0 || depth == 0 {
                break;
            }
            self.size -= 1;
            match self.random.below(8) {
                0 | 1 => self.selection(&mut region, visible, depth),
                2 | 3 => self.block(&mut region, visible, depth),
                4 | 5 => self.repetition(&mut region, visible, depth),
                6 => self.switch(&mut region, visible, depth),
                _ => self.observe(&mut region, visible),
            }
        }
        region
    }

    /// Leaves one of the surrounding blocks, now and then.
    fn maybe_leave(&mut self, region: &mut Region, visible: &Visible) {
        if self.blocks.is_empty() || self.random.below(3) > 0 {
            if self.random.below(40) == 0 {
                region.push(Node::End);
            }
            return;
        }
        let (label, results) = self.blocks[self.random.below(self.blocks.len())];
        let arguments = (0..results).map(|_| self.word(visible)).collect();
        region.push(Node::Leave { label, arguments });
    }

    fn selection(&mut self, region: &mut Region, visible: &mut Visible, depth: usize) {
        let condition = self.bool(visible);
        let mut inner = visible.clone();
        let mut then = self.region(&mut inner, depth - 1);
        self.maybe_leave(&mut then, &inner);
        let mut otherwise = Region::new();
        if self.random.below(2) == 0 {
            let mut inner = visible.clone();
            otherwise = self.region(&mut inner, depth - 1);
            self.maybe_leave(&mut otherwise, &inner);
        }
        region.push(Node::If { condition, then, otherwise });
    }

    fn block(&mut self, region: &mut Region, visible: &mut Visible, depth: usize) {
        let label = self.builder.label();
        let results = self.random.below(3);
        self.blocks.push((label, results));
        let mut body = Region::new();
        // What is computed before any lane can leave is visible after the block.
        self.straight(&mut body, visible, 2);
        let mut inner = visible.clone();
        let rest = self.region(&mut inner, depth - 1);
        body.extend(rest);
        self.blocks.pop();
        if results > 0 || self.random.below(2) == 0 {
            let arguments = (0..results).map(|_| self.word(&inner)).collect();
            body.push(Node::Leave { label, arguments });
        }
        let results: SmallVec<[Value; 4]> = (0..results).map(|_| self.builder.value(Scalar::I32)).collect();
        visible.words.extend(results.iter().copied());
        region.push(Node::Block { label, results, body });
    }

    fn repetition(&mut self, region: &mut Region, visible: &mut Visible, depth: usize) {
        let (exit, label) = (self.builder.label(), self.builder.label());
        let counter = self.builder.value(Scalar::I32);
        let carried: Vec<Value> =
            (0..self.random.below(3)).map(|_| self.builder.value(Scalar::I32)).collect();
        let flag = self.builder.value(Scalar::Bool);
        let mut initial: SmallVec<[Value; 4]> = SmallVec::from_slice(&[self.zero]);
        initial.extend(carried.iter().map(|_| self.word(visible)));
        initial.push(self.bool(visible));
        let seven = self.seven;
        let limit = self.word(visible);
        // The number of rounds differs between lanes, or not.
        let limit = if self.random.below(3) == 0 {
            self.builder.constant(region, 3, Scalar::I32)
        } else {
            self.builder.alu(region, Alu::And, &[limit, seven], Scalar::I32)
        };
        let mut body = Region::new();
        // Parameters, and what every round computes first, are visible after the loop.
        visible.words.push(counter);
        visible.words.extend(&carried);
        visible.bools.push(flag);
        self.straight(&mut body, visible, 2);
        let mut inner = visible.clone();
        self.blocks.push((exit, 0));
        let goes_on = self.builder.alu(&mut body, Alu::ULess, &[counter, limit], Scalar::Bool);
        let late = self.random.below(2) == 0;
        let leave = |label| vec![Node::Leave { label, arguments: SmallVec::new() }];
        if !late {
            body.push(Node::If { condition: goes_on, then: Vec::new(), otherwise: leave(exit) });
        }
        let rest = self.region(&mut inner, depth - 1);
        body.extend(rest);
        let one = self.one;
        let next = self.builder.alu(&mut body, Alu::IAdd, &[counter, one], Scalar::I32);
        let again = |this: &mut Self| {
            let mut arguments: SmallVec<[Value; 4]> = SmallVec::from_slice(&[next]);
            arguments.extend(carried.iter().map(|_| this.word(&inner)));
            arguments.push(this.bool(&inner));
            Node::Repeat { label, arguments }
        };
        if late {
            let repeat = again(self);
            body.push(Node::If { condition: goes_on, then: vec![repeat], otherwise: leave(exit) });
        } else {
            if self.random.below(3) == 0 {
                let condition = self.bool(visible);
                let repeat = again(self);
                body.push(Node::If { condition, then: vec![repeat], otherwise: Vec::new() });
            }
            let repeat = again(self);
            body.push(repeat);
        }
        self.blocks.pop();
        let mut parameters: SmallVec<[Value; 4]> = SmallVec::from_slice(&[counter]);
        parameters.extend(carried.iter().copied());
        parameters.push(flag);
        region.push(Node::Block {
            label: exit,
            results: SmallVec::new(),
            body: vec![Node::Loop { label, parameters, initial, body }],
        });
    }

    fn switch(&mut self, region: &mut Region, visible: &mut Visible, depth: usize) {
        let seven = self.seven;
        let selector = self.word(visible);
        let selector = self.builder.alu(region, Alu::And, &[selector, seven], Scalar::I32);
        let merge = self.builder.label();
        let targets: Vec<Label> = (0..3).map(|_| self.builder.label()).collect();
        let mut body = vec![Node::Switch {
            selector,
            cases: vec![(1, targets[0]), (3, targets[1]), (4, targets[1])],
            default: targets[2],
        }];
        self.blocks.push((merge, 0));
        for target in targets {
            let mut inner = visible.clone();
            let mut case = self.region(&mut inner, depth - 1);
            case.push(Node::Leave { label: merge, arguments: SmallVec::new() });
            body = vec![Node::Block { label: target, results: SmallVec::new(), body }];
            body.extend(case);
        }
        self.blocks.pop();
        region.push(Node::Block { label: merge, results: SmallVec::new(), body });
    }
}

/// A random shader: input in buffer 1, `SLOTS` words of output for each invocation in buffer 0.
fn random_shader(seed: u64) -> Shader {
    let mut builder = Builder::default();
    let mut body = Region::new();
    let id = builder.builtin(&mut body, BuiltIn::GlobalInvocationId(0));
    let zero = builder.constant(&mut body, 0, Scalar::I32);
    let one = builder.constant(&mut body, 1, Scalar::I32);
    let seven = builder.constant(&mut body, 7, Scalar::I32);
    let stride = builder.constant(&mut body, u64::from(4 * SLOTS), Scalar::I32);
    let yes = builder.constant(&mut body, 1, Scalar::Bool);
    let slot = builder.alu(&mut body, Alu::IMul, &[id, stride], Scalar::I32);
    let odd = builder.alu(&mut body, Alu::And, &[id, one], Scalar::I32);
    let odd = builder.alu(&mut body, Alu::IEqual, &[odd, one], Scalar::Bool);
    let float = builder.op(&mut body, OpKind::Convert(Conversion::UToF), &[id], Scalar::F32);
    let mut visible =
        Visible { words: vec![id, zero, one, seven, id], floats: vec![float], bools: vec![yes, odd, odd] };
    let mut generator = Generator {
        random: Random::new(seed),
        builder,
        one,
        seven,
        zero,
        slot,
        next_slot: 0,
        blocks: Vec::new(),
        size: 24,
    };
    for _ in 0..3 {
        let region = generator.region(&mut visible, 4);
        body.extend(region);
        for _ in 0..4 {
            generator.observe(&mut body, &visible);
        }
    }
    for _ in 0..8 {
        let value = generator.word(&visible);
        let immediate = 4 * (generator.next_slot % SLOTS);
        generator.next_slot += 1;
        store(&mut body, buffer(0, Some(slot), immediate), &[value]);
    }
    let mut shader = shader(generator.builder.values, body, 2, 70);
    shader.local_size = [70, 1, 1];
    shader
}

/// The same output from the generated code, for several subgroup sizes, as from the reference.
#[test]
fn random_programs_mean_what_they_say() {
    let input: Vec<u32> = (0..64u32).map(|k| k.wrapping_mul(0x9e37_79b9) >> (k % 29)).collect();
    for seed in 1..=400 {
        let shader = random_shader(seed);
        let invocations = 2 * 70;
        let mut expected = vec![0u32; (invocations * SLOTS) as usize];
        for id in 0..invocations {
            Invocation::run(&shader, id, &input, &mut expected);
        }
        for size in [32, 8, 1] {
            let program = compile(shader.clone(), size);
            let mut buffers = [vec![0u32; expected.len()], input.clone()];
            let result = run(&program, &mut buffers, &[], [2, 1, 1]);
            assert_eq!(result, Ok(()), "seed {seed}, subgroups of {size}");
            if buffers[0] != expected {
                let k = (0..expected.len()).find(|k| buffers[0][*k] != expected[*k]).unwrap_or(0);
                panic!(
                    "seed {seed}, subgroups of {size}: invocation {} word {}: {} instead of {}\n{shader}\n{program}",
                    k as u32 / SLOTS,
                    k as u32 % SLOTS,
                    buffers[0][k],
                    expected[k]
                );
            }
        }
    }
}
