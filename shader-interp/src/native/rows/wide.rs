//! Machine code from the functions of [`crate::math::wide`]: their steps ([`super::graph`]) are written down
//! for eight lanes, then for the other eight. The interpreter calls the same functions, so that the bits are
//! the same.

use super::functions::spread;
use super::graph::{Graph, Node};
use super::*;

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
        let nodes = graph.steps();
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
            self.join_halves(X86::EVEX_Vpmovqd_ymmm256_k1z_zmm, halves);
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
}

/// Whether an operand of the instruction takes part.
fn needs_input(nodes: &[Node], input: usize) -> bool {
    nodes.iter().any(|node| matches!(node, Node::Input(k, _) if *k == input))
}
